//! The settings of UDP, and of the IP below it that fragments its datagrams.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Network;
use crate::general::IpVersion;
use crate::report::{Report, Step, join};
use crate::units;

/// The settings of UDP. A datagram that exceeds a packet of its path leaves in fragments (RFC 791 section
/// 3.2, RFC 8200 section 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Udp {
    /// How long the receiver keeps a datagram whose fragments are incomplete. Default: RFC 8200 section 4.5,
    /// and the lower limit of RFC 1122 section 3.3.2.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub reassembly_timeout: Span,
}

impl Default for Udp {
    fn default() -> Udp {
        Udp { reassembly_timeout: Span::from_secs(60) }
    }
}

impl Udp {
    /// Bytes of a UDP header (RFC 768).
    pub const HEADER_BYTES: u64 = 8;
    /// The largest datagram, header included, that IP carries in fragments: a packet of IPv4 has at most
    /// 65,535 octets, header included (RFC 791 section 3.1); behind the header of IPv6 are as many (RFC 8200
    /// section 3).
    const MAX_IP_BYTES: u64 = 65_535;
}

/// Checks the settings at `at`.
pub(super) fn check(at: &[Step], udp: &Udp, report: &mut Report<'_>) {
    if udp.reassembly_timeout == Span::ZERO {
        let message = "without time for reassembly no fragmented datagram arrives";
        report.add(&join(at, ["reassembly_timeout"]), message, "write for example \"60s\", or leave it out");
    }
}

/// Checks that a message of that size fits into a datagram.
pub(crate) fn check_datagram(
    steps: &[Step],
    message_bytes: u64,
    network: &Network<'_>,
    report: &mut Report<'_>,
) {
    let header_bytes = match network.general.ip {
        IpVersion::Ipv4 => network.general.ip.header_bytes() + Udp::HEADER_BYTES,
        IpVersion::Ipv6 => Udp::HEADER_BYTES,
    };
    let most_bytes = Udp::MAX_IP_BYTES - header_bytes;
    if message_bytes > most_bytes {
        let message = format!("a UDP datagram carries at most {most_bytes} B, not {message_bytes} B");
        report.add(steps, message, format!("write \"{most_bytes}B\" or less, or use TCP or SCTP"));
    }
}
