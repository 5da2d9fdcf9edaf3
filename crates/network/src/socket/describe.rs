//! What packets carry, in words and in octets, for packet stories and captures.

use super::{ChunkLog, TcpSocket};
use crate::handover::mobile_ip::describe_registration;
use crate::packet::{AppMessage, Message, RedirectionMessage};
use crate::recorder::Detail;
use roamsim_protocols::sctp::{self, Asconf, Change, Chunk, Data, Parameter, Sack};
use roamsim_protocols::tcp::Segment;
use roamsim_protocols::{Address, IpAddresses, mih};
use std::ops::Range;

/// A message in words.
pub(super) fn describe(message: &Message) -> String {
    match message {
        Message::Application(message) => format!("message {} ({} B)", message.sequence, message.bytes),
        Message::Http(http) => {
            let AppMessage { sequence, bytes, .. } = http.message;
            let start = http.head.split(|&octet| octet == b'\r').next().unwrap_or_default();
            let number = match sequence {
                AppMessage::UNASKED => String::new(),
                sequence => format!(" {sequence}"),
            };
            format!("message{number} ({bytes} B): {}", String::from_utf8_lossy(start))
        }
        Message::NoHttp => "no HTTP".to_owned(),
        Message::Mih(pdu) => describe_mih(pdu),
        Message::MobileIp(message) => describe_registration(message),
        Message::Redirection(RedirectionMessage::Update { .. }) => "redirect".to_owned(),
        Message::Redirection(RedirectionMessage::Acknowledgement { .. }) => {
            "redirect acknowledged".to_owned()
        }
    }
}

/// A MIH message in words: "MIH_Link_Going_Down.indication tid 7 ACK-Req".
fn describe_mih(pdu: &mih::Message) -> String {
    let mut text = format!("{} tid {}", pdu.mid, pdu.tid);
    if pdu.is_acknowledgement() {
        text = format!("ACK of {text}");
    } else if pdu.ack_rsp {
        text += " ACK-Rsp";
    }
    if pdu.ack_req {
        text += " ACK-Req";
    }
    text
}

/// A part of a message's octets. An application's are a pattern by offset, so that a part costs its own
/// length only.
pub(crate) fn octets(message: &Message, part: Range<u64>) -> Vec<u8> {
    let whole = match message {
        Message::Application(_) => return pattern(part),
        Message::Http(http) => {
            let head = http.head.len() as u64;
            let [from, to] = [part.start, part.end].map(|at| at.min(head));
            let body = part.start.max(head) - head..part.end.max(head) - head;
            return [http.head[from as usize..to as usize].to_vec(), pattern(body)].concat();
        }
        Message::Mih(pdu) => pdu.encode(),
        Message::MobileIp(message) => message.encode(),
        Message::NoHttp | Message::Redirection(_) => Vec::new(),
    };
    let end = (part.end as usize).min(whole.len());
    whole[(part.start as usize).min(end)..end].to_vec()
}

/// Octets of a stream or message without contents of its own.
pub(crate) fn pattern(part: Range<u64>) -> Vec<u8> {
    part.map(|at| at as u8).collect()
}

/// A segment in words, with the messages that it carries wholly or in part, and its payload's octets when
/// they are wanted. Octets of a stream without messages are a pattern by offset.
pub(super) fn tcp_detail(socket: &TcpSocket, segment: &Segment, capturing: bool) -> Detail {
    let start = socket.connection.payload_offset(segment);
    let end = start + u64::from(segment.payload_bytes);
    let mut carried = Vec::new();
    let mut payload: Vec<u8> = match capturing {
        true => pattern(start..end),
        false => Vec::new(),
    };
    if end > start {
        for record in socket.unacknowledged_from(start) {
            let record_start = record.at - u64::from(record.message.bytes());
            if record_start >= end {
                break;
            }
            let part = if record_start < start || record.at > end { "part of " } else { "" };
            carried.push(format!("{part}{}", describe(&record.message)));
            if capturing {
                let (from, to) = (start.max(record_start), end.min(record.at));
                let octets = octets(&record.message, from - record_start..to - record_start);
                payload[(from - start) as usize..(to - start) as usize].copy_from_slice(&octets);
            }
        }
    }
    let transfer = socket.transfer().map_or_else(String::new, |number| format!("transfer {number}: "));
    let description = match carried.as_slice() {
        [] => format!("{transfer}{segment}"),
        carried => format!("{transfer}{segment} [{}]", carried.join("; ")),
    };
    Detail { description, payload, parts: Vec::new() }
}

/// An SCTP packet in words, with the messages that its chunks carry wholly or in part, and their octets when
/// they are wanted. Octets of a stream without messages are a pattern by their place in it.
pub(super) fn sctp_detail(
    log: &ChunkLog,
    packet: &sctp::Packet,
    addresses: &IpAddresses,
    capturing: bool,
) -> Detail {
    let described = packet.chunks.iter().map(|chunk| describe_chunk(log, chunk, addresses));
    let description = described.collect::<Vec<_>>().join("; ");
    let payload = if capturing { user_data(log, packet) } else { Vec::new() };
    Detail { description, payload, parts: Vec::new() }
}

/// The user data of a packet's chunks.
pub(super) fn user_data(log: &ChunkLog, packet: &sctp::Packet) -> Vec<u8> {
    let mut payload = Vec::new();
    for data in packet.data() {
        let Some(chunk) = log.get(data.tsn) else {
            // A late copy of what was acknowledged and is forgotten: its receiver drops it.
            payload.resize(payload.len() + usize::from(data.payload_bytes), 0);
            continue;
        };
        match &chunk.message {
            Some((message, from)) => {
                let from = *from;
                payload.extend(octets(message, from..from + u64::from(data.payload_bytes)));
            }
            None => payload.extend(pattern(chunk.octets.clone())),
        }
    }
    payload
}

fn describe_chunk(log: &ChunkLog, chunk: &Chunk, addresses: &IpAddresses) -> String {
    match chunk {
        Chunk::Data(data) => describe_data(log, data),
        Chunk::Init(init) => format!("INIT tag {} TSN {}", init.initiate_tag, init.initial_tsn),
        Chunk::InitAck(init) => format!("INIT ACK tag {} TSN {}", init.initiate_tag, init.initial_tsn),
        Chunk::Sack(sack) => describe_sack(sack),
        Chunk::Heartbeat(_) => "HEARTBEAT".to_owned(),
        Chunk::HeartbeatAck(_) => "HEARTBEAT ACK".to_owned(),
        Chunk::Abort { .. } => "ABORT".to_owned(),
        Chunk::Shutdown { cumulative_tsn_ack } => format!("SHUTDOWN up to {cumulative_tsn_ack}"),
        Chunk::ShutdownAck => "SHUTDOWN ACK".to_owned(),
        Chunk::Error(_) => "ERROR".to_owned(),
        Chunk::CookieEcho(_) => "COOKIE ECHO".to_owned(),
        Chunk::CookieAck => "COOKIE ACK".to_owned(),
        Chunk::ShutdownComplete { .. } => "SHUTDOWN COMPLETE".to_owned(),
        Chunk::ForwardTsn(forward) => format!("FORWARD TSN {}", forward.cumulative_tsn),
        Chunk::Asconf(asconf) => describe_asconf(asconf, addresses),
        Chunk::AsconfAck(ack) => format!("ASCONF ACK {}", ack.serial),
        Chunk::Other { kind, .. } => format!("chunk of type {kind}"),
    }
}

/// "ASCONF 7 add 10.0.0.9 primary 10.0.0.9 delete 10.0.0.4".
fn describe_asconf(asconf: &Asconf, addresses: &IpAddresses) -> String {
    let text = |address: Address| match asconf.address.kind {
        Parameter::IPV4_ADDRESS => addresses.v4(address).to_string(),
        _ => addresses.v6(address).to_string(),
    };
    asconf.changes().fold(format!("ASCONF {}", asconf.serial), |told, change| match change {
        Change::Add(address) => told + " add " + &text(address),
        Change::SetPrimary(address) => told + " primary " + &text(address),
        Change::Delete(address) => told + " delete " + &text(address),
    })
}

fn describe_data(log: &ChunkLog, data: &Data) -> String {
    let mut text = format!("DATA TSN {} stream {}", data.tsn, data.stream);
    match data.unordered {
        true => text += " unordered",
        false => text += &format!(" SSN {}", data.ssn),
    }
    text += &format!(" ({} B)", data.payload_bytes);
    if let Some((message, _)) = log.get(data.tsn).and_then(|chunk| chunk.message.as_ref()) {
        let part = if data.beginning && data.ending { "" } else { "part of " };
        text += &format!(" [{part}{}]", describe(message));
    }
    text
}

fn describe_sack(sack: &Sack) -> String {
    let mut text = format!("SACK up to {} rwnd {}", sack.cumulative_tsn_ack, sack.a_rwnd_bytes);
    let tsn = |offset: u16| sack.cumulative_tsn_ack.wrapping_add(u32::from(offset));
    for &(first, last) in sack.gaps() {
        text += &format!(" gap {}-{}", tsn(first), tsn(last));
    }
    for duplicate in sack.duplicates() {
        text += &format!(" duplicate {duplicate}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::HttpMessage;
    use roamsim_engine::Time;

    #[test]
    fn a_part_of_a_message_costs_its_own_length() {
        let message =
            Message::Application(AppMessage { sequence: 0, bytes: u32::MAX, generated: Time::ZERO });
        // 4,000,000,000 mod 256 is 0; the whole message would be 4 GiB.
        assert_eq!(octets(&message, 4_000_000_000..4_000_000_003), [0, 1, 2]);
    }

    #[test]
    fn a_head_stands_before_its_body() {
        let message = AppMessage { sequence: 3, bytes: 10, generated: Time::ZERO };
        let message = Message::Http(HttpMessage { message, head: b"GET\r\n".to_vec() }.into());
        assert_eq!(octets(&message, 0..10), b"GET\r\n\x00\x01\x02\x03\x04");
        assert_eq!(octets(&message, 3..6), b"\r\n\x00");
        assert_eq!((octets(&message, 0..2), octets(&message, 8..10)), (b"GE".to_vec(), vec![3, 4]));
        assert_eq!(describe(&message), "message 3 (10 B): GET");
    }
}
