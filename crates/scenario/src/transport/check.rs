//! What is wrong with a transport, and with what an application hands to it.

use super::quic::model::{Quic, QuicMessages};
use super::{Transport, quic, sctp, tcp, udp};
use crate::access::Network;
use crate::distribution::model::SizeDistribution;
use crate::report::{Report, Step, join};
use crate::topology::Topology;

/// Checks the transport at `at`; `ends` are its nodes where a route between them exists.
pub(crate) fn check(
    at: &[Step],
    transport: &Transport,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    match transport {
        Transport::Udp(settings) => udp::check(at, settings, report),
        Transport::Tcp(tcp) => tcp::check::check(at, tcp, ends, network, topology, report),
        Transport::Sctp(sctp) => sctp::check::check(at, sctp, ends, network, topology, report),
        Transport::Quic(quic) => quic::check::check(at, quic, ends, network, topology, report),
    }
}

/// Checks the transport of an application that has messages of its own.
pub(crate) fn check_messages(at: &[Step], transport: &Transport, report: &mut Report<'_>) {
    if let Transport::Sctp(sctp) = transport
        && sctp.message_size_bytes.is_some()
    {
        report.add(
            &join(at, ["message_size"]),
            "`message_size` cuts a stream into messages, and this application already has messages",
            "leave `message_size` out, or use the application \"bulk\" or \"transfer\"",
        );
    }
}

/// Checks the transport of an application that writes a stream without messages.
pub(crate) fn check_stream(at: &[Step], transport: &Transport, report: &mut Report<'_>) {
    let steps = join(at, ["messages"]);
    if matches!(transport, Transport::Quic(quic) if quic.messages != QuicMessages::StreamEach) {
        let message = "`messages` has no effect, because this application writes a stream without messages";
        report.add(&steps, message, "leave it out, or use an application with messages, such as \"cbr\"");
    }
    if let Transport::Sctp(sctp) = transport {
        sctp::check::check_stream(at, sctp, report);
    }
}

/// Checks the size of messages of which each goes in one datagram.
pub(crate) fn check_message_size(
    steps: &[Step],
    size: &SizeDistribution,
    transport: &Transport,
    network: &Network<'_>,
    report: &mut Report<'_>,
) {
    match transport {
        Transport::Udp(_) => udp::check_datagram(steps, size.max_bytes(), network, report),
        Transport::Quic(quic) if quic.messages == QuicMessages::Datagrams => {
            let (least, most) = (Quic::MIN_DATAGRAM_FRAME_BYTES, Quic::MAX_DATAGRAM_FRAME_BYTES);
            if size.min_bytes() < least || size.max_bytes() > most {
                let message = format!("a message in a DATAGRAM frame has {least} to {most} B here");
                let help =
                    format!("write \"{most}B\" or less, or messages = \"stream_each\" in the transport");
                report.add(steps, message, help);
            }
        }
        Transport::Tcp(_) | Transport::Sctp(_) | Transport::Quic(_) => {}
    }
}
