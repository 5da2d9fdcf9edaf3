//! An SCTP packet on the wire (RFC 9260 section 3), with its CRC32c (appendix A).
//!
//! Padding is sent as zeros and not read; it may be missing behind the last chunk. Reserved bits are sent as
//! zeros and not read. Chunks of other types are kept as octets, so that the receiver can act by their type's
//! upper bits.

use std::fmt;

use crc::{CRC_32_ISCSI, Crc, Table};

use super::chunk::{Asconf, AsconfAck, Chunk, Chunks, Data, ForwardTsn, Init, Packet, Parameter, Sack};

/// Slices by 16 octets.
const CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

const DATA: u8 = 0;
const INIT: u8 = 1;
const INIT_ACK: u8 = 2;
const SACK: u8 = 3;
const HEARTBEAT: u8 = 4;
const HEARTBEAT_ACK: u8 = 5;
const ABORT: u8 = 6;
const SHUTDOWN: u8 = 7;
const SHUTDOWN_ACK: u8 = 8;
const ERROR: u8 = 9;
const COOKIE_ECHO: u8 = 10;
const COOKIE_ACK: u8 = 11;
const SHUTDOWN_COMPLETE: u8 = 14;
/// RFC 5061 4.1.
pub(super) const ASCONF: u8 = 0xC1;
pub(super) const ASCONF_ACK: u8 = 0x80;
/// RFC 3758 3.2.
pub(super) const FORWARD_TSN: u8 = 0xC0;

const ENDING: u8 = 0x01;
const BEGINNING: u8 = 0x02;
const UNORDERED: u8 = 0x04;
const IMMEDIATE: u8 = 0x08;
const REFLECTED_TAG: u8 = 0x01;

/// Why octets are no SCTP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer octets than the common header needs.
    Truncated {
        /// Octets there are.
        have: usize,
    },
    /// The checksum does not fit.
    Checksum {
        /// The CRC32c in the header.
        found: u32,
        /// What it should be.
        expected: u32,
    },
    /// A chunk's length is too small for its type, or runs past the packet.
    ChunkLength {
        /// The chunk's type.
        kind: u8,
        /// Where the chunk starts, in octets from the packet's start.
        at: usize,
    },
    /// A parameter's or error cause's length is below 4 or runs past its chunk.
    ParameterLength {
        /// The type of the chunk.
        kind: u8,
        /// Where the chunk starts, in octets from the packet's start.
        at: usize,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated { have } => {
                write!(f, "SCTP common header truncated: {have} octets of 12")
            }
            DecodeError::Checksum { found, expected } => {
                write!(f, "SCTP checksum {found:#010x}, expected {expected:#010x}")
            }
            DecodeError::ChunkLength { kind, at } => {
                write!(f, "SCTP chunk of type {kind} at octet {at} has an impossible length")
            }
            DecodeError::ParameterLength { kind, at } => {
                write!(
                    f,
                    "a parameter in the SCTP chunk of type {kind} at octet {at} has an impossible length"
                )
            }
        }
    }
}

impl std::error::Error for DecodeError {}

impl DecodeError {
    /// The name under which packets refused for it are counted.
    pub fn reason(&self) -> &'static str {
        match self {
            DecodeError::Truncated { .. } => "truncated",
            DecodeError::Checksum { .. } => "checksum",
            DecodeError::ChunkLength { .. } => "chunk_length",
            DecodeError::ParameterLength { .. } => "parameter_length",
        }
    }
}

/// Appends the packet to `out`. `payload` holds the user data of its DATA chunks, one behind the other; where
/// it is too short, zeros are sent.
///
/// A chunk longer than its 16-bit length field can tell, which no association sends, is cut off there.
pub fn encode(packet: &Packet, payload: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(packet.source_port.to_be_bytes());
    out.extend(packet.destination_port.to_be_bytes());
    out.extend(packet.verification_tag.to_be_bytes());
    out.extend([0; 4]);
    let mut payload = payload;
    for chunk in &packet.chunks {
        let at = out.len();
        encode_chunk(chunk, &mut payload, out);
        out.truncate(at + usize::from(u16::MAX));
        let length = (out.len() - at) as u16;
        out[at + 2..at + 4].copy_from_slice(&length.to_be_bytes());
        pad(at, out);
    }
    // The remainder goes out with its least significant octet first (RFC 9260 appendix A).
    let checksum = CRC32C.checksum(&out[start..]).to_le_bytes();
    out[start + 8..start + 12].copy_from_slice(&checksum);
}

/// Zeros up to a multiple of 4 octets from `start`.
fn pad(start: usize, out: &mut Vec<u8>) {
    let bytes = (out.len() - start).next_multiple_of(4);
    out.resize(start + bytes, 0);
}

/// The chunk without padding, its length still zero.
fn encode_chunk(chunk: &Chunk, payload: &mut &[u8], out: &mut Vec<u8>) {
    let mut header = |kind: u8, flags: u8| out.extend([kind, flags, 0, 0]);
    match chunk {
        Chunk::Data(data) => {
            let flag = |set: bool, bit: u8| if set { bit } else { 0 };
            header(
                DATA,
                flag(data.ending, ENDING)
                    | flag(data.beginning, BEGINNING)
                    | flag(data.unordered, UNORDERED)
                    | flag(data.immediate, IMMEDIATE),
            );
            out.extend(data.tsn.to_be_bytes());
            out.extend(data.stream.to_be_bytes());
            out.extend(data.ssn.to_be_bytes());
            out.extend(data.protocol.to_be_bytes());
            let wanted = usize::from(data.payload_bytes);
            let (own, rest) = payload.split_at(wanted.min(payload.len()));
            out.extend(own);
            out.resize(out.len() + wanted - own.len(), 0);
            *payload = rest;
        }
        Chunk::Init(init) => {
            header(INIT, 0);
            encode_init(init, out);
        }
        Chunk::InitAck(init) => {
            header(INIT_ACK, 0);
            encode_init(init, out);
        }
        Chunk::Sack(sack) => {
            header(SACK, 0);
            out.extend(sack.cumulative_tsn_ack.to_be_bytes());
            out.extend(sack.a_rwnd_bytes.to_be_bytes());
            out.extend((sack.gaps().len() as u16).to_be_bytes());
            out.extend((sack.duplicates().len() as u16).to_be_bytes());
            for (first, last) in sack.gaps() {
                out.extend(first.to_be_bytes());
                out.extend(last.to_be_bytes());
            }
            for tsn in sack.duplicates() {
                out.extend(tsn.to_be_bytes());
            }
        }
        Chunk::Heartbeat(parameters) => {
            header(HEARTBEAT, 0);
            encode_parameters(parameters, out);
        }
        Chunk::HeartbeatAck(parameters) => {
            header(HEARTBEAT_ACK, 0);
            encode_parameters(parameters, out);
        }
        Chunk::Abort { reflected_tag, causes } => {
            header(ABORT, u8::from(*reflected_tag));
            encode_parameters(causes, out);
        }
        Chunk::Shutdown { cumulative_tsn_ack } => {
            header(SHUTDOWN, 0);
            out.extend(cumulative_tsn_ack.to_be_bytes());
        }
        Chunk::ShutdownAck => header(SHUTDOWN_ACK, 0),
        Chunk::Error(causes) => {
            header(ERROR, 0);
            encode_parameters(causes, out);
        }
        Chunk::CookieEcho(cookie) => {
            header(COOKIE_ECHO, 0);
            out.extend(cookie);
        }
        Chunk::CookieAck => header(COOKIE_ACK, 0),
        Chunk::ShutdownComplete { reflected_tag } => header(SHUTDOWN_COMPLETE, u8::from(*reflected_tag)),
        Chunk::Asconf(asconf) => {
            header(ASCONF, 0);
            out.extend(asconf.serial.to_be_bytes());
            let start = out.len();
            encode_parameters(std::slice::from_ref(&asconf.address), out);
            pad(start, out);
            encode_parameters(&asconf.parameters, out);
        }
        Chunk::AsconfAck(ack) => {
            header(ASCONF_ACK, 0);
            out.extend(ack.serial.to_be_bytes());
            encode_parameters(&ack.parameters, out);
        }
        Chunk::ForwardTsn(forward) => {
            header(FORWARD_TSN, 0);
            out.extend(forward.cumulative_tsn.to_be_bytes());
            for (stream, ssn) in &forward.streams {
                out.extend(stream.to_be_bytes());
                out.extend(ssn.to_be_bytes());
            }
        }
        Chunk::Other { kind, flags, value } => {
            header(*kind, *flags);
            out.extend(value);
        }
    }
}

fn encode_init(init: &Init, out: &mut Vec<u8>) {
    out.extend(init.initiate_tag.to_be_bytes());
    out.extend(init.a_rwnd_bytes.to_be_bytes());
    out.extend(init.outbound_streams.to_be_bytes());
    out.extend(init.inbound_streams.to_be_bytes());
    out.extend(init.initial_tsn.to_be_bytes());
    encode_parameters(&init.parameters, out);
}

fn encode_parameters(parameters: &[Parameter], out: &mut Vec<u8>) {
    let start = out.len();
    for parameter in parameters {
        pad(start, out);
        out.extend(parameter.kind.to_be_bytes());
        out.extend((parameter.bytes() as u16).to_be_bytes());
        out.extend(&parameter.value);
    }
}

/// The packet in `octets`, and the user data of its DATA chunks, one behind the other.
///
/// With `verify` the checksum must fit; without, it is not looked at.
pub fn decode(octets: &[u8], verify: bool) -> Result<(Packet, Vec<u8>), DecodeError> {
    let Some((header, _)) = octets.split_first_chunk::<12>() else {
        return Err(DecodeError::Truncated { have: octets.len() });
    };
    if verify {
        let found = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let mut digest = CRC32C.digest();
        digest.update(&octets[..8]);
        digest.update(&[0; 4]);
        digest.update(&octets[12..]);
        let expected = digest.finalize();
        if found != expected {
            return Err(DecodeError::Checksum { found, expected });
        }
    }
    let mut packet = Packet {
        source_port: u16_at(header, 0),
        destination_port: u16_at(header, 2),
        verification_tag: u32_at(header, 4),
        chunks: Chunks::new(),
    };
    let mut payload = Vec::new();
    let mut at = 12;
    while at < octets.len() {
        let kind = octets[at];
        let wrong = DecodeError::ChunkLength { kind, at };
        let Some(&[_, flags, high, low]) = octets[at..].first_chunk::<4>() else { return Err(wrong) };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let Some(value) = octets.get(at + 4..at + length) else { return Err(wrong) };
        packet.chunks.push(decode_chunk(kind, flags, value, at, &mut payload)?);
        at += length.next_multiple_of(4);
    }
    Ok((packet, payload))
}

fn decode_chunk(
    kind: u8,
    flags: u8,
    value: &[u8],
    at: usize,
    payload: &mut Vec<u8>,
) -> Result<Chunk, DecodeError> {
    let wrong = DecodeError::ChunkLength { kind, at };
    let parameters =
        |octets: &[u8]| decode_parameters(octets).ok_or(DecodeError::ParameterLength { kind, at });
    let init = |value: &[u8]| {
        let (fixed, rest) = value.split_at_checked(16).ok_or(wrong)?;
        Ok(Box::new(Init {
            initiate_tag: u32_at(fixed, 0),
            a_rwnd_bytes: u32_at(fixed, 4),
            outbound_streams: u16_at(fixed, 8),
            inbound_streams: u16_at(fixed, 10),
            initial_tsn: u32_at(fixed, 12),
            parameters: parameters(rest)?,
        }))
    };
    let empty = |chunk: Chunk| if value.is_empty() { Ok(chunk) } else { Err(wrong) };
    match kind {
        DATA => {
            let (fixed, user_data) = value.split_at_checked(12).ok_or(wrong)?;
            payload.extend(user_data);
            Ok(Chunk::Data(Data {
                tsn: u32_at(fixed, 0),
                stream: u16_at(fixed, 4),
                ssn: u16_at(fixed, 6),
                protocol: u32_at(fixed, 8),
                unordered: flags & UNORDERED != 0,
                beginning: flags & BEGINNING != 0,
                ending: flags & ENDING != 0,
                immediate: flags & IMMEDIATE != 0,
                payload_bytes: user_data.len() as u16,
            }))
        }
        INIT => Ok(Chunk::Init(init(value)?)),
        INIT_ACK => Ok(Chunk::InitAck(init(value)?)),
        SACK => {
            let (fixed, rest) = value.split_at_checked(12).ok_or(wrong)?;
            let gaps = usize::from(u16_at(fixed, 8));
            let duplicates = usize::from(u16_at(fixed, 10));
            if rest.len() != 4 * (gaps + duplicates) {
                return Err(wrong);
            }
            let (gaps, duplicates) = rest.split_at(4 * gaps);
            let gaps: Vec<_> =
                gaps.chunks_exact(4).map(|block| (u16_at(block, 0), u16_at(block, 2))).collect();
            let duplicates = duplicates.chunks_exact(4).map(|tsn| u32_at(tsn, 0)).collect();
            Ok(Chunk::Sack(Sack::new(u32_at(fixed, 0), u32_at(fixed, 4), &gaps, duplicates)))
        }
        HEARTBEAT => Ok(Chunk::Heartbeat(parameters(value)?)),
        HEARTBEAT_ACK => Ok(Chunk::HeartbeatAck(parameters(value)?)),
        ABORT => Ok(Chunk::Abort { reflected_tag: flags & REFLECTED_TAG != 0, causes: parameters(value)? }),
        SHUTDOWN if value.len() == 4 => Ok(Chunk::Shutdown { cumulative_tsn_ack: u32_at(value, 0) }),
        SHUTDOWN => Err(wrong),
        SHUTDOWN_ACK => empty(Chunk::ShutdownAck),
        ERROR => Ok(Chunk::Error(parameters(value)?)),
        COOKIE_ECHO => Ok(Chunk::CookieEcho(value.to_vec())),
        COOKIE_ACK => empty(Chunk::CookieAck),
        SHUTDOWN_COMPLETE => empty(Chunk::ShutdownComplete { reflected_tag: flags & REFLECTED_TAG != 0 }),
        ASCONF => {
            let (serial, rest) = value.split_first_chunk::<4>().ok_or(wrong)?;
            let mut parameters = parameters(rest)?;
            if parameters.is_empty() {
                return Err(wrong);
            }
            let address = parameters.remove(0);
            let serial = u32::from_be_bytes(*serial);
            Ok(Chunk::Asconf(Box::new(Asconf { serial, address, parameters })))
        }
        ASCONF_ACK => {
            let (serial, rest) = value.split_first_chunk::<4>().ok_or(wrong)?;
            let serial = u32::from_be_bytes(*serial);
            Ok(Chunk::AsconfAck(Box::new(AsconfAck { serial, parameters: parameters(rest)? })))
        }
        FORWARD_TSN => {
            let (cumulative, rest) = value.split_first_chunk::<4>().ok_or(wrong)?;
            if !rest.len().is_multiple_of(4) {
                return Err(wrong);
            }
            let streams = rest.chunks_exact(4).map(|pair| (u16_at(pair, 0), u16_at(pair, 2))).collect();
            Ok(Chunk::ForwardTsn(Box::new(ForwardTsn {
                cumulative_tsn: u32::from_be_bytes(*cumulative),
                streams,
            })))
        }
        _ => Ok(Chunk::Other { kind, flags, value: value.to_vec() }),
    }
}

/// `None` when a length is impossible.
fn decode_parameters(mut octets: &[u8]) -> Option<Vec<Parameter>> {
    let mut parameters = Vec::new();
    while !octets.is_empty() {
        let header = octets.first_chunk::<4>()?;
        let length = usize::from(u16_at(header, 2));
        let value = octets.get(4..length)?;
        parameters.push(Parameter { kind: u16_at(header, 0), value: value.to_vec() });
        octets = octets.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Some(parameters)
}

/// The callers have seen that the octets are there.
fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}
