//! A whole message: the fixed header of 8 octets, source and destination, and the service's TLVs.
//!
//! Not modelled: MIH fragments. RFC 5677 section 6.1 forbids them over TCP and together with IP fragments; a
//! fragment that arrives is read as far as its header and refused.

use super::error::DecodeError;
use super::identity::MihfId;
use super::message_id::MessageId;
use super::octets::{Reader, Sink, length_octets};
use super::tlv::{DESTINATION_MIHF_ID, SOURCE_MIHF_ID, Tlv, VendorSpecific};
use super::tlvs::Tlvs;

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

/// A message.
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
    pub tlvs: Tlvs,
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
    #[inline]
    pub fn encoded_bytes(&self) -> usize {
        let names = name_tlv_bytes(&self.source) + name_tlv_bytes(&self.destination);
        HEADER_BYTES + names + self.tlvs.encoded_bytes()
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
            tlvs: Tlvs::from(tlvs),
        })
    }
}

/// The octets of the TLV of a name.
#[inline]
fn name_tlv_bytes(id: &MihfId) -> usize {
    let name_bytes = id.as_str().len();
    let value_bytes = length_octets(name_bytes) + name_bytes;
    1 + length_octets(value_bytes) + value_bytes
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
/// 1 to 4 octets cannot be filled: a vendor TLV takes 5, which is what they become. 131 and 387 octets fall
/// between two encodings of a length, and take two TLVs.
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

/// `tlvs`, with padding behind them such that a message between these MIHFs takes `size_bytes` octets; for a
/// message that is that large already, `tlvs` as they are. Larger sizes than [`MAX_MESSAGE_BYTES`] are cut to
/// it.
pub fn padded(tlvs: Tlvs, source: &MihfId, destination: &MihfId, size_bytes: u32) -> Tlvs {
    let names = name_tlv_bytes(source) + name_tlv_bytes(destination);
    let bytes = HEADER_BYTES + names + tlvs.encoded_bytes();
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

    use super::super::link::{
        LinkAddress, LinkGoingDownReason, LinkId, LinkTupleId, LinkType, RegisterRequestCode,
        TargetNetworkInfo,
    };

    /// 15 and 16 characters.
    const MN: &str = "mn1.example.org";
    const POS: &str = "pos1.example.org";
    const MN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const AP_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

    fn message(mid: MessageId, tlvs: Vec<Tlv>) -> Message {
        Message {
            mid,
            tid: 0x123,
            ack_req: true,
            ack_rsp: false,
            uir: false,
            source: MihfId::new(MN).unwrap(),
            destination: MihfId::new(POS).unwrap(),
            tlvs: Tlvs::from(tlvs),
        }
    }

    fn link() -> LinkId {
        LinkId { link_type: LinkType::IEEE_802_11, address: LinkAddress::Mac(MN_MAC) }
    }

    /// Source 2 + 1 + 15 and destination 2 + 1 + 16 octets.
    fn names() -> Vec<u8> {
        [&[1, 16, 15], MN.as_bytes(), &[2, 17, 16], POS.as_bytes()].concat()
    }

    #[test]
    fn a_link_going_down_indication_has_its_76_octets() {
        let indication = message(
            MessageId::LINK_GOING_DOWN_INDICATION,
            vec![
                Tlv::LinkIdentifier(LinkTupleId::of_macs(LinkType::IEEE_802_11, MN_MAC, AP_MAC)),
                Tlv::TimeInterval(9000),
                Tlv::LinkGoingDownReason(LinkGoingDownReason::LINK_PARAMETER_DEGRADING),
            ],
        );
        let octets = [
            // Version 1, ACK-Req; FN 0; MID; transaction ID; 76 - 8 = 68 octets follow.
            &[0x18, 0x00, 0x2c, 0x06, 0x01, 0x23, 0x00, 68][..],
            &names(),
            // TLV 13, 22 octets: 802.11; a MAC (selector 0, family 6, 6 octets); a PoA is there; its MAC.
            &[13, 22, 19, 0, 0, 6, 6, 2, 0, 0, 0, 0, 1, 1, 0, 0, 6, 6, 2, 0, 0, 0, 0, 9],
            // 9000 ms = 0x2328; reason 1.
            &[21, 2, 0x23, 0x28, 22, 1, 1],
        ]
        .concat();
        assert_eq!(octets.len(), 76);
        assert_eq!(indication.encode(), octets);
        assert_eq!(indication.encoded_bytes(), 76);
        assert_eq!(Message::decode(&octets), Ok(indication));
    }

    #[test]
    fn a_register_request_has_its_62_octets() {
        let request = message(
            MessageId::REGISTER_REQUEST,
            vec![
                Tlv::LinkIdentifierList(vec![link()]),
                Tlv::RegisterRequestCode(RegisterRequestCode::REGISTRATION),
            ],
        );
        let octets = [
            &[0x18, 0x00, 0x14, 0x02, 0x01, 0x23, 0x00, 54][..],
            &names(),
            // A list of one LINK_ID of 11 octets: 12; code 0.
            &[25, 12, 1, 19, 0, 0, 6, 6, 2, 0, 0, 0, 0, 1, 11, 1, 0],
        ]
        .concat();
        assert_eq!(octets.len(), 62);
        assert_eq!(request.encode(), octets);
        assert_eq!(Message::decode(&octets), Ok(request));
    }

    #[test]
    fn a_handover_commit_has_its_61_octets_and_its_ack_45() {
        let commit = message(
            MessageId::MN_HO_COMMIT_REQUEST,
            vec![
                Tlv::LinkType(LinkType::IEEE_802_16),
                Tlv::TargetNetworkInfo(TargetNetworkInfo::PointOfAttachment(LinkAddress::Mac(AP_MAC))),
            ],
        );
        let octets = commit.encode();
        assert_eq!(octets.len(), 61);
        assert_eq!(octets[45..], [4, 1, 27, 55, 11, 1, 0, 0, 6, 6, 2, 0, 0, 0, 0, 9]);
        let ack = Message {
            ack_req: false,
            ack_rsp: true,
            source: commit.destination.clone(),
            destination: commit.source.clone(),
            tlvs: Tlvs::from([]),
            ..commit
        };
        let octets = ack.encode();
        assert_eq!(octets.len(), 45);
        // ACK-Rsp alone; the same MID and transaction ID.
        assert_eq!(octets[..8], [0x14, 0x00, 0x34, 0x07, 0x01, 0x23, 0x00, 37]);
        assert_eq!(Message::decode(&octets), Ok(ack));
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        let good = message(
            MessageId::EVENT_SUBSCRIBE_REQUEST,
            vec![
                Tlv::LinkIdentifier(LinkTupleId { link: link(), point_of_attachment: None }),
                Tlv::EventList(super::super::link::EventList::LINK_UP),
            ],
        )
        .encode();
        assert!(Message::decode(&good).is_ok());
        let changed = |at: usize, value: u8| {
            let mut octets = good.clone();
            octets[at] = value;
            Message::decode(&octets)
        };
        assert_eq!(Message::decode(&good[..7]), Err(DecodeError::Truncated { available: 7 }));
        assert_eq!(Message::decode(&[]), Err(DecodeError::Truncated { available: 0 }));
        assert_eq!(changed(0, 0x28), Err(DecodeError::UnknownVersion(2)));
        let announced = good.len();
        assert_eq!(
            Message::decode(&good[..announced - 1]),
            Err(DecodeError::LengthBeyondPacket { announced, available: announced - 1 })
        );
        assert_eq!(
            Message::decode(&[good.as_slice(), &[0]].concat()),
            Err(DecodeError::TrailingOctets { octets: 1 })
        );
        assert_eq!(changed(3, 0x99), Err(DecodeError::UnknownMessage(MessageId(0x1499))));
        // M, and FN 3 in the upper 7 bits.
        assert_eq!(changed(0, 0x19), Err(DecodeError::Fragment { number: 0 }));
        assert_eq!(changed(1, 0x06), Err(DecodeError::Fragment { number: 3 }));
        // The event list's TLV takes the last 6 octets: its type, its length 4.
        assert_eq!(changed(announced - 6, 77), Err(DecodeError::MissingTlv { tlv_type: 5 }));
        assert_eq!(changed(announced - 5, 5), Err(DecodeError::BadTlvLength { tlv_type: 5 }));
        // The LINK_TUPLE_ID's last octet, the CHOICE of a PoA, in front of that.
        assert_eq!(changed(announced - 7, 9), Err(DecodeError::BadValue { tlv_type: 13 }));
        // Source and destination must come first: type octets at 8 and 8 + 18.
        assert_eq!(changed(8, 2), Err(DecodeError::MissingTlv { tlv_type: 1 }));
        assert_eq!(changed(26, 1), Err(DecodeError::MissingTlv { tlv_type: 2 }));
    }

    #[test]
    fn a_message_gets_the_size_asked_for() {
        let (mn, pos) = (MihfId::new(MN).unwrap(), MihfId::new(POS).unwrap());
        // 45 octets of header and names, 3 of the status: 48.
        let status = Tlvs::from([Tlv::Status(super::super::link::Status::SUCCESS)]);
        let size = |asked| {
            let tlvs = padded(status.clone(), &mn, &pos, asked);
            Message { tlvs, ..message(MessageId::LINK_ACTIONS_RESPONSE, Vec::new()) }.encoded_bytes()
        };
        assert_eq!(size(20), 48);
        assert_eq!(size(48), 48);
        assert_eq!(size(50), 53);
        assert_eq!(size(53), 53);
        assert_eq!(size(200), 200);
        assert_eq!(size(48 + 131), 48 + 131);
        assert_eq!(size(u32::MAX), MAX_MESSAGE_BYTES);
    }
}
