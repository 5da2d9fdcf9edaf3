//! What packets carry, in words and in octets, for packet stories and captures.

use crate::packet::{Icmp, Message};
use crate::recorder::Detail;
use crate::socket::TcpSocket;
use roamsim_protocols::tcp::Segment;
use roamsim_protocols::{mih, mobile_ip};

/// A message in words.
pub(super) fn describe(message: &Message) -> String {
    match message {
        Message::Application(message) => format!("message {} ({} B)", message.sequence, message.bytes),
        Message::Mih(pdu) => describe_mih(pdu),
        Message::MobileIp(message) => describe_registration(message),
    }
}

/// A message of agent discovery in words: "agent advertisement 7 for 3 s".
pub(super) fn describe_icmp(icmp: &Icmp) -> String {
    match icmp {
        Icmp::AgentAdvertisement(advertisement) => {
            format!("agent advertisement {} for {} s", advertisement.sequence, advertisement.lifetime_s)
        }
        Icmp::AgentSolicitation => "agent solicitation".to_owned(),
    }
}

/// A registration message in words: "registration request of 10.0.0.9 at 10.0.0.4 for 300 s".
pub(super) fn describe_registration(message: &mobile_ip::Message) -> String {
    match message {
        mobile_ip::Message::Request(request) => format!(
            "registration request of {} at {} for {} s",
            request.home_address, request.care_of_address, request.lifetime_s
        ),
        mobile_ip::Message::Reply(reply) => {
            format!("registration reply to {}: {} for {} s", reply.home_address, reply.code, reply.lifetime_s)
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

/// A message's octets. An application's are a pattern.
pub(super) fn octets(message: &Message) -> Vec<u8> {
    match message {
        Message::Application(message) => (0..message.bytes).map(|at| at as u8).collect(),
        Message::Mih(pdu) => pdu.encode(),
        Message::MobileIp(message) => message.encode(),
    }
}

/// A segment in words, with the messages that it carries wholly or in part, and its payload's octets when they are
/// wanted. Octets of a stream without messages are a pattern by offset.
pub(super) fn tcp_detail(socket: &TcpSocket, segment: &Segment, capturing: bool) -> Detail {
    let start = socket.connection.payload_offset(segment);
    let end = start + u64::from(segment.payload_bytes);
    let mut carried = Vec::new();
    let mut payload: Vec<u8> = match capturing {
        true => (start..end).map(|at| at as u8).collect(),
        false => Vec::new(),
    };
    if end > start {
        for record in &socket.unacknowledged {
            let record_start = record.end - u64::from(record.message.bytes());
            if record.end <= start || record_start >= end {
                continue;
            }
            let part = if record_start < start || record.end > end { "part of " } else { "" };
            carried.push(format!("{part}{}", describe(&record.message)));
            if capturing {
                let octets = octets(&record.message);
                let from = start.max(record_start);
                let to = end.min(record.end);
                payload[(from - start) as usize..(to - start) as usize]
                    .copy_from_slice(&octets[(from - record_start) as usize..(to - record_start) as usize]);
            }
        }
    }
    let description = match carried.as_slice() {
        [] => segment.to_string(),
        carried => format!("{segment} [{}]", carried.join("; ")),
    };
    Detail { description, payload, part: None }
}
