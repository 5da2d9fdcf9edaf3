//! What is wrong with a transport, and with what an application hands to it.

use super::quic::model::{Quic, QuicMessages};
use super::{Transport, Udp, quic, sctp, tcp};
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
        Transport::Udp(_) => {}
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
            "`message_size` cuts a stream without messages, and here are messages with sizes of their own",
            "leave `message_size` out, or use the application \"bulk\" or \"transfer\"",
        );
    }
}

/// Checks the transport of an application that writes a stream without messages.
pub(crate) fn check_stream(at: &[Step], transport: &Transport, report: &mut Report<'_>) {
    let steps = join(at, ["messages"]);
    if matches!(transport, Transport::Quic(quic) if quic.messages != QuicMessages::StreamEach) {
        let message = "`messages` says how messages travel, and here is a stream without";
        report.add(&steps, message, "leave it out, or use an application with messages, such as \"cbr\"");
    }
    if let Transport::Sctp(sctp) = transport {
        sctp::check::check_stream(at, sctp, report);
    }
}

/// Checks the size of messages of which each goes in one packet.
pub(crate) fn check_message_size(
    steps: &[Step],
    size: &SizeDistribution,
    transport: &Transport,
    ends: Option<(usize, usize)>,
    (network, topology): (&Network<'_>, &Topology),
    report: &mut Report<'_>,
) {
    match transport {
        Transport::Udp(_) => check_datagram(steps, size.max_bytes(), ends, network, topology, report),
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

/// A datagram that does not fit into a packet of its path.
pub(crate) struct TooLarge {
    pub packet_bytes: u64,
    /// Of UDP and IP, in the packet.
    pub header_bytes: u64,
    /// The most that the path carries.
    pub mtu_bytes: u64,
}

/// Whether payload of that size does not fit into one packet over UDP. An MTU that IP does not allow was
/// reported where it stands.
pub(crate) fn too_large_datagram(
    payload_bytes: u64,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    topology: &Topology,
) -> Option<TooLarge> {
    let header_bytes = Udp::HEADER_BYTES + network.general.ip.header_bytes();
    let packet_bytes = payload_bytes.saturating_add(header_bytes);
    let mtu_bytes = topology.too_small_mtu(ends?, packet_bytes)?;
    (mtu_bytes >= network.general.ip.minimum_mtu_bytes()).then_some(TooLarge {
        packet_bytes,
        header_bytes,
        mtu_bytes,
    })
}

/// Checks that payload of that size fits into one packet over UDP, where nothing is fragmented.
pub(crate) fn check_datagram(
    steps: &[Step],
    payload_bytes: u64,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    if let Some(TooLarge { packet_bytes, header_bytes, mtu_bytes }) =
        too_large_datagram(payload_bytes, ends, network, topology)
    {
        let message = format!(
            "this makes an IP packet of {packet_bytes} B, and the path carries {mtu_bytes} B at most"
        );
        let help = format!(
            "nothing is fragmented: write \"{}B\" or less, raise the `mtu` of the links, or use TCP or SCTP",
            mtu_bytes.saturating_sub(header_bytes)
        );
        report.add(steps, message, help);
    }
}
