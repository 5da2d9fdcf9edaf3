//! A whole message: the fixed header of 8 octets, source and destination, and the service's TLVs.
//!
//! Not modelled: MIH fragments. RFC 5677 section 6.1 forbids them over TCP and together with IP fragments; a
//! fragment that arrives is read as far as its header and refused.

use std::sync::Arc;

use super::error::DecodeError;
use super::identity::MihfId;
use super::message_id::MessageId;
use super::octets::{Count, Reader, Sink, length_octets};
use super::tlv::{DESTINATION_MIHF_ID, SOURCE_MIHF_ID, Tlv, VendorSpecific};

/// The fixed header's size.
pub const HEADER_BYTES: usize = 8;
/// The largest message: the header and a payload whose length 16 bits can tell.
pub const MAX_MESSAGE_BYTES: usize = HEADER_BYTES + u16::MAX as usize;
/// The version of the protocol: 1 in IEEE 802.21-2008.
pub const VERSION: u8 = 1;

const ACK_REQ: u8 = 0x08;
const ACK_RSP: u8 = 0x04;
const UIR: u8 = 0x02;
const MORE_FRAGMENTS: u8 = 0x01;
const TRANSACTION_ID_MASK: u16 = 0x0fff;

/// The fixed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// 4 bits.
    pub version: u8,
    /// ACK-Req: the receiver is asked to acknowledge.
    pub ack_req: bool,
    /// ACK-Rsp: the message acknowledges.
    pub ack_rsp: bool,
    /// UIR: an information request without authentication.
    pub uir: bool,
    /// M: further fragments follow.
    pub more_fragments: bool,
    /// FN, 7 bits.
    pub fragment_number: u8,
    /// MID.
    pub mid: MessageId,
    /// Transaction ID, 12 bits.
    pub tid: u16,
    /// The octets behind the header.
    pub payload_bytes: u16,
}

impl Header {
    /// Writes the 8 octets; reserved bits are zero.
    pub fn write(&self, sink: &mut impl Sink) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        sink.put_u8(
            self.version << 4
                | flag(self.ack_req, ACK_REQ)
                | flag(self.ack_rsp, ACK_RSP)
                | flag(self.uir, UIR)
                | flag(self.more_fragments, MORE_FRAGMENTS),
        );
        sink.put_u8(self.fragment_number << 1);
        sink.put_u16(self.mid.0);
        sink.put_u16(self.tid & TRANSACTION_ID_MASK);
        sink.put_u16(self.payload_bytes);
    }

    /// Reads the first 8 octets. Reserved bits are ignored; the version is not judged.
    pub fn decode(octets: &[u8]) -> Result<Header, DecodeError> {
        let Some((head, _)) = octets.split_first_chunk::<HEADER_BYTES>() else {
            return Err(DecodeError::Truncated { available: octets.len() });
        };
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        Ok(Header {
            version: head[0] >> 4,
            ack_req: head[0] & ACK_REQ != 0,
            ack_rsp: head[0] & ACK_RSP != 0,
            uir: head[0] & UIR != 0,
            more_fragments: head[0] & MORE_FRAGMENTS != 0,
            fragment_number: head[1] >> 1,
            mid: MessageId(word(2)),
            tid: word(4) & TRANSACTION_ID_MASK,
            payload_bytes: word(6),
        })
    }

    /// The octets of the whole message, header included.
    pub fn message_bytes(&self) -> usize {
        HEADER_BYTES + usize::from(self.payload_bytes)
    }
}

/// A message. The TLVs are shared: a retransmission, and the same content sent again, cost no copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// MID.
    pub mid: MessageId,
    /// Transaction ID, 12 bits.
    pub tid: u16,
    /// ACK-Req: the receiver is asked to acknowledge.
    pub ack_req: bool,
    /// ACK-Rsp: the message acknowledges the one with the same MID and transaction ID, or, in a response, the
    /// request.
    pub ack_rsp: bool,
    /// UIR: an information request without authentication.
    pub uir: bool,
    /// Source MIHF ID.
    pub source: MihfId,
    /// Destination MIHF ID.
    pub destination: MihfId,
    /// The service's TLVs, in their order.
    pub tlvs: Arc<[Tlv]>,
}

impl Message {
    /// Whether this is nothing but an acknowledgement: ACK-Rsp, and no service TLV.
    pub fn is_acknowledgement(&self) -> bool {
        self.ack_rsp && self.tlvs.is_empty()
    }

    fn write_payload(&self, sink: &mut impl Sink) {
        for (tlv_type, id) in [(SOURCE_MIHF_ID, &self.source), (DESTINATION_MIHF_ID, &self.destination)] {
            let name_bytes = id.as_str().len();
            sink.put_u8(tlv_type);
            sink.put_length(length_octets(name_bytes) + name_bytes);
            id.write(sink);
        }
        for tlv in self.tlvs.iter() {
            tlv.write(sink);
        }
    }

    /// The octets of the whole message.
    pub fn encoded_bytes(&self) -> usize {
        let mut count = Count(HEADER_BYTES);
        self.write_payload(&mut count);
        count.0
    }

    /// The message's octets. A payload beyond 65535 octets has no encoding; its length field is then 65535.
    pub fn encode(&self) -> Vec<u8> {
        let bytes = self.encoded_bytes();
        let mut octets = Vec::with_capacity(bytes);
        let header = Header {
            version: VERSION,
            ack_req: self.ack_req,
            ack_rsp: self.ack_rsp,
            uir: self.uir,
            more_fragments: false,
            fragment_number: 0,
            mid: self.mid,
            tid: self.tid,
            payload_bytes: u16::try_from(bytes - HEADER_BYTES).unwrap_or(u16::MAX),
        };
        header.write(&mut octets);
        self.write_payload(&mut octets);
        octets
    }

    /// Reads one message that fills `octets`.
    pub fn decode(octets: &[u8]) -> Result<Message, DecodeError> {
        let header = Header::decode(octets)?;
        if header.version != VERSION {
            return Err(DecodeError::UnknownVersion(header.version));
        }
        let announced = header.message_bytes();
        if announced > octets.len() {
            return Err(DecodeError::LengthBeyondPacket { announced, available: octets.len() });
        }
        if announced < octets.len() {
            return Err(DecodeError::TrailingOctets { octets: octets.len() - announced });
        }
        let Some(description) = header.mid.describe() else {
            return Err(DecodeError::UnknownMessage(header.mid));
        };
        if header.more_fragments || header.fragment_number > 0 {
            return Err(DecodeError::Fragment { number: header.fragment_number });
        }
        let mut payload = &octets[HEADER_BYTES..];
        let source = decode_mihf_id(&mut payload, SOURCE_MIHF_ID)?;
        let destination = decode_mihf_id(&mut payload, DESTINATION_MIHF_ID)?;
        let mut tlvs = Vec::new();
        while let Some((tlv_type, value)) = next_tlv(&mut payload)? {
            tlvs.push(Tlv::decode(tlv_type, value)?);
        }
        if !(header.ack_rsp && tlvs.is_empty()) {
            for &tlv_type in description.mandatory {
                if !tlvs.iter().any(|tlv| tlv.tlv_type() == tlv_type) {
                    return Err(DecodeError::MissingTlv { tlv_type });
                }
            }
        }
        Ok(Message {
            mid: header.mid,
            tid: header.tid,
            ack_req: header.ack_req,
            ack_rsp: header.ack_rsp,
            uir: header.uir,
            source,
            destination,
            tlvs: Arc::from(tlvs),
        })
    }
}

/// Splits the next TLV off: its type and value; `None` at the end.
fn next_tlv<'a>(payload: &mut &'a [u8]) -> Result<Option<(u8, &'a [u8])>, DecodeError> {
    let Some((&tlv_type, rest)) = payload.split_first() else {
        return Ok(None);
    };
    let mut reader = Reader::new(rest, tlv_type);
    let value = reader
        .length()
        .and_then(|length| reader.take(length))
        .map_err(|_| DecodeError::BadTlvLength { tlv_type })?;
    *payload = &rest[rest.len() - reader.remaining()..];
    Ok(Some((tlv_type, value)))
}

fn decode_mihf_id(payload: &mut &[u8], tlv_type: u8) -> Result<MihfId, DecodeError> {
    match next_tlv(payload)? {
        Some((found, value)) if found == tlv_type => {
            let mut reader = Reader::new(value, tlv_type);
            let id = MihfId::read(&mut reader)?;
            if reader.remaining() > 0 {
                return Err(reader.bad_value());
            }
            Ok(id)
        }
        _ => Err(DecodeError::MissingTlv { tlv_type }),
    }
}

/// The OUI of padding TLVs: a locally administered one, so that it is no vendor's.
pub const PADDING_OUI: [u8; 3] = [0x02, 0x00, 0x00];

/// The smallest vendor TLV: type, length, OUI.
const SMALLEST_PADDING_BYTES: usize = 5;

/// TLVs that fill `missing_bytes` octets with zeros in vendor TLVs.
///
/// 1 to 4 octets cannot be filled: a vendor TLV takes 5, which is what they become. 131 and 387 octets fall between
/// two encodings of a length, and take two TLVs.
pub fn padding(missing_bytes: usize) -> Vec<Tlv> {
    let tlv = |bytes: usize| {
        // The filler's size such that type, length, OUI and filler take `bytes`, if there is one.
        (1..=4).find_map(|length_bytes| {
            let value_bytes = bytes.checked_sub(1 + length_bytes)?;
            let filler_bytes = value_bytes.checked_sub(PADDING_OUI.len())?;
            (length_octets(value_bytes) == length_bytes)
                .then(|| Tlv::VendorSpecific(VendorSpecific::zeros(PADDING_OUI, filler_bytes as u32)))
        })
    };
    let bytes = match missing_bytes {
        0 => return Vec::new(),
        missing => missing.clamp(SMALLEST_PADDING_BYTES, MAX_MESSAGE_BYTES),
    };
    match tlv(bytes) {
        Some(tlv) => vec![tlv],
        None => {
            [SMALLEST_PADDING_BYTES, bytes - SMALLEST_PADDING_BYTES].into_iter().filter_map(tlv).collect()
        }
    }
}

/// `tlvs`, with padding behind them such that a message between these MIHFs takes `size_bytes` octets; without a
/// size, or for a message that is that large already, `tlvs` as they are. Larger sizes than
/// [`MAX_MESSAGE_BYTES`] are cut to it.
pub fn padded(
    tlvs: Arc<[Tlv]>,
    source: &MihfId,
    destination: &MihfId,
    size_bytes: Option<u32>,
) -> Arc<[Tlv]> {
    let Some(size_bytes) = size_bytes else { return tlvs };
    let name_tlv_bytes = |id: &MihfId| {
        let name_bytes = id.as_str().len();
        let value_bytes = length_octets(name_bytes) + name_bytes;
        1 + length_octets(value_bytes) + value_bytes
    };
    let content_bytes: usize = tlvs.iter().map(Tlv::encoded_bytes).sum();
    let bytes = HEADER_BYTES + name_tlv_bytes(source) + name_tlv_bytes(destination) + content_bytes;
    match (size_bytes as usize).min(MAX_MESSAGE_BYTES).checked_sub(bytes) {
        None | Some(0) => tlvs,
        Some(missing_bytes) => tlvs.iter().cloned().chain(padding(missing_bytes)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_fills_every_size_from_five_octets_on() {
        for missing in 5..1500 {
            let filled: usize = padding(missing).iter().map(Tlv::encoded_bytes).sum();
            assert_eq!(filled, missing);
        }
        for missing in 1..5 {
            assert_eq!(padding(missing).iter().map(Tlv::encoded_bytes).sum::<usize>(), 5);
        }
        assert!(padding(0).is_empty());
        // 131 = 5 + 126: a value of 128 octets takes 130, one of 129 takes 132.
        assert_eq!(padding(131).len(), 2);
        assert_eq!(padding(387).len(), 2);
        assert_eq!(padding(60_000).iter().map(Tlv::encoded_bytes).sum::<usize>(), 60_000);
    }
}
