//! The largest packet of a link: its default and its check.

use crate::general::IpVersion;
use crate::report::{Report, Step, join};

/// The largest packet that the length fields of IPv4 and IPv6 are used for here (RFC 791 section 3.1).
pub(crate) const MAX_MTU_BYTES: u64 = 65_535;

/// Ethernet's (RFC 894; RFC 2464 section 2).
pub(crate) fn default_mtu_bytes() -> u64 {
    1500
}

/// Checks an MTU against what IP demands and what the link can carry.
pub(crate) fn check_mtu(at: &[Step], mtu_bytes: u64, max_bytes: u64, ip: IpVersion, report: &mut Report<'_>) {
    let min_bytes = ip.minimum_mtu_bytes();
    if (min_bytes..=max_bytes).contains(&mtu_bytes) {
        return;
    }
    let (version, source) = match ip {
        IpVersion::Ipv6 => ("IPv6", "RFC 8200 section 5"),
        IpVersion::Ipv4 => ("IPv4", "RFC 791 section 3.2"),
    };
    let message = if mtu_bytes < min_bytes {
        format!("{version} needs an MTU of {min_bytes} B or more ({source})")
    } else {
        format!("the MTU of this link can be {max_bytes} B at most")
    };
    let help = format!("write an MTU from \"{min_bytes}B\" to \"{max_bytes}B\"");
    report.add(&join(at, ["mtu"]), message, help);
}
