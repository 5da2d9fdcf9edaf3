//! Settings of SCTP.

use roamsim_engine::Span;

use super::model::{Sctp, SctpRules};
use crate::access::{Entry, Network};
use crate::names::report_unknown;
use crate::node::model::Node;
use crate::report::{Report, Step, join};
use crate::topology::Topology;
use crate::units::time_text;

/// The smallest packet, without the IP header: an INIT ACK with its cookie.
const MIN_PACKET_BYTES: u64 = 128;

/// The largest packet that IP carries.
const MAX_PACKET_BYTES: u64 = 65_535;

/// The smallest window that may be offered (RFC 9260 section 3.3.2).
const MIN_WINDOW_BYTES: u64 = 1500;

/// What the machine counts to.
const MAX_MISSING_REPORTS: u32 = 255;

/// Checks the settings at `at`; `ends` are the transport's nodes where a route between them exists.
pub(crate) fn check(
    at: &[Step],
    sctp: &Sctp,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    check_timers(at, sctp, report);
    check_sacks(at, sctp, report);
    check_windows(at, sctp, report);
    check_failures(at, sctp, report);
    check_reliability(at, sctp, report);
    if sctp.streams == 0 {
        let help = "write 1 or more; without `streams` there is one";
        report.add(&join(at, ["streams"]), "an association needs a stream to send on", help);
    }
    if sctp.message_size_bytes == Some(0) {
        let help = "write a size of 1 B or more, or leave it out";
        report.add(&join(at, ["message_size"]), "a message of 0 B sends nothing", help);
    }
    if sctp.dynamic_addresses
        && let Some(ends) = ends
    {
        check_dynamic_addresses(&join(at, ["dynamic_addresses"]), ends, network, topology, report);
    }
    check_primary_path(&join(at, ["primary_path"]), sctp, ends, network, report);
    let header_bytes = network.general.ip.header_bytes();
    let least_bytes = header_bytes + MIN_PACKET_BYTES;
    let steps = join(at, ["mtu"]);
    if let Some(mtu_bytes) = sctp.mtu_bytes {
        if mtu_bytes < least_bytes || mtu_bytes > MAX_PACKET_BYTES {
            let message = format!(
                "an association needs packets of {least_bytes} B (for its state cookie) to {MAX_PACKET_BYTES} B"
            );
            let help =
                format!("write \"{least_bytes}B\" or more, or leave `mtu` out to have it follow the path");
            report.add(&steps, message, help);
        } else if let Some(path_bytes) =
            ends.and_then(|ends| too_small_mtu(ends, mtu_bytes, network, topology))
        {
            let message =
                format!("packets of {mtu_bytes} B do not pass: the path carries {path_bytes} B at most");
            let help =
                format!("write \"{path_bytes}B\" or less, or leave `mtu` out to have it follow the path");
            report.add(&steps, message, help);
        }
    } else if let Some(path_bytes) = ends.and_then(|ends| too_small_mtu(ends, least_bytes, network, topology))
    {
        let message =
            format!("SCTP needs packets of {least_bytes} B, and the path carries {path_bytes} B at most");
        report.add(at, message, "raise the `mtu` of the links");
    }
}

/// Checks that the primary path is named by an address that one of the ends has among others.
fn check_primary_path(
    steps: &[Step],
    sctp: &Sctp,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    report: &mut Report<'_>,
) {
    let Some(name) = &sctp.primary_path else { return };
    let names: Vec<&str> = network.accesses().map(|entry| entry.access.name()).collect();
    let Some(entry) = network.access(name) else {
        return report_unknown("link", name, names.into_iter(), steps, report);
    };
    if sctp.dynamic_addresses {
        let message = "with `dynamic_addresses` the station says which of its addresses it prefers";
        return report.add(steps, message, "leave it out, and write `change_primary_at` in its [[node]]");
    }
    let Some((from, to)) = ends else { return };
    let nodes = [from, to].map(|node| &network.nodes[node]);
    let at_it =
        |node: &&Node| entry.access.pairs().iter().any(|pair| pair.nodes.contains(&node.name.as_str()));
    let message = match nodes.into_iter().find(at_it) {
        None => format!("neither \"{}\" nor \"{}\" is at \"{name}\"", nodes[0].name, nodes[1].name),
        Some(_) if nodes.into_iter().filter(at_it).any(|node| node.multihomed) => return,
        Some(node) => {
            let message = format!("\"{}\" has one address, and with it one path", node.name);
            let help = format!("write in [[node]] \"{}\": multihomed = true; or leave it out", node.name);
            return report.add(steps, message, help);
        }
    };
    let own = |entry: &Entry<'_>| {
        let pairs = entry.access.pairs();
        nodes
            .iter()
            .any(|node| node.multihomed && pairs.iter().any(|pair| pair.nodes.contains(&node.name.as_str())))
    };
    let own: Vec<_> =
        network.accesses().filter(own).map(|entry| format!("\"{}\"", entry.access.name())).collect();
    let help = match own.is_empty() {
        true => "leave it out: without a `multihomed` end there is one path".to_owned(),
        false => format!("write {}, or leave it out", own.join(" or ")),
    };
    report.add(steps, message, help);
}

/// Checks that one of the ends has addresses that come and go.
fn check_dynamic_addresses(
    steps: &[Step],
    (from, to): (usize, usize),
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    let station = |&node: &usize| topology.accesses_as_station(node) > 0;
    let stations: Vec<_> = [from, to].into_iter().filter(station).collect();
    if [from, to].into_iter().any(|node| network.nodes[node].selects) {
        return;
    }
    let multihomed = |node: &usize| network.nodes[*node].multihomed;
    if stations.iter().any(|node| multihomed(node) && topology.accesses(*node) > 1) {
        return;
    }
    let name = |node: usize| &network.nodes[node].name;
    let (message, help) = match stations.iter().copied().find(multihomed).or(stations.first().copied()) {
        Some(node) if multihomed(&node) => (
            format!("\"{}\" is in one cell and has no other link: its only address stays", name(node)),
            "put it into a second cell, or leave `dynamic_addresses` out".to_owned(),
        ),
        Some(node) => (
            format!("\"{}\" has one address, which goes with it from cell to cell", name(node)),
            format!(
                "write in [[node]] \"{}\": multihomed = true; or leave `dynamic_addresses` out",
                name(node)
            ),
        ),
        None => (
            format!(
                "neither \"{}\" nor \"{}\" is a station of a cell: their addresses stay",
                name(from),
                name(to)
            ),
            "leave `dynamic_addresses` out".to_owned(),
        ),
    };
    report.add(steps, message, help);
}

/// As [`Topology::too_small_mtu`]; the paths of a multihomed end may use any link.
fn too_small_mtu(
    ends: (usize, usize),
    needed_bytes: u64,
    network: &Network<'_>,
    topology: &Topology,
) -> Option<u64> {
    if [ends.0, ends.1].iter().any(|&node| network.nodes[node].multihomed) {
        return Some(topology.smallest_mtu()).filter(|&mtu_bytes| mtu_bytes < needed_bytes);
    }
    topology.too_small_mtu(ends, needed_bytes)
}

fn check_timers(at: &[Step], sctp: &Sctp, report: &mut Report<'_>) {
    if sctp.rto_max == Span::ZERO {
        report.add(&join(at, ["rto_max"]), "`rto_max` must be above zero", "write for example \"60s\"");
    } else if sctp.rto_max < sctp.rto_min {
        // Point at the one that the user wrote.
        let key = if report.is_set(&join(at, ["rto_max"])) { "rto_max" } else { "rto_min" };
        let message = format!(
            "`rto_max`, {}, is below `rto_min`, {}",
            time_text(sctp.rto_max),
            time_text(sctp.rto_min)
        );
        report.add(
            &join(at, [key]),
            message,
            "the upper bound of the timeout may not be below the lower one",
        );
    }
    match sctp.rto_initial {
        Some(Span::ZERO) => {
            let steps = join(at, ["rto_initial"]);
            report.add(&steps, "`rto_initial` must be above zero", "write for example \"1s\"");
        }
        Some(initial) if initial > sctp.rto_max => {
            let message = format!("`rto_initial` is above `rto_max`, {}", time_text(sctp.rto_max));
            report.add(&join(at, ["rto_initial"]), message, "leave it out: `rto_max` bounds it anyway");
        }
        _ => {}
    }
    if sctp.heartbeat_interval == Span::ZERO {
        let help = "write heartbeats = false for none, or a time above zero";
        report.add(&join(at, ["heartbeat_interval"]), "HEARTBEATs without time between them", help);
    } else if !sctp.heartbeats && report.is_set(&join(at, ["heartbeat_interval"])) {
        let help = "leave one of the two out";
        report.add(&join(at, ["heartbeat_interval"]), "without HEARTBEATs there is no interval", help);
    }
    if sctp.valid_cookie_life == Span::ZERO {
        let help = "write for example \"60s\", RFC 9260's";
        report.add(
            &join(at, ["valid_cookie_life"]),
            "a cookie that is never valid opens no association",
            help,
        );
    }
}

/// Checks what a stream of octets cannot have.
pub(crate) fn check_stream(at: &[Step], sctp: &Sctp, report: &mut Report<'_>) {
    for (key, is_set) in [
        ("max_lifetime", sctp.max_lifetime.is_some()),
        ("max_retransmissions", sctp.max_retransmissions.is_some()),
    ] {
        if is_set {
            let message = "a stream that loses a message is never complete";
            let help = "leave it out, or send messages, for example kind = \"cbr\" or \"video\"";
            report.add(&join(at, [key]), message, help);
        }
    }
}

fn check_reliability(at: &[Step], sctp: &Sctp, report: &mut Report<'_>) {
    if sctp.max_lifetime == Some(Span::ZERO) {
        let help = "write for example \"200ms\", or leave it out";
        report.add(&join(at, ["max_lifetime"]), "a message without a lifetime is never sent", help);
    }
    if sctp.max_lifetime.is_some() && sctp.max_retransmissions.is_some() {
        let message = "a message has one policy, a lifetime or a number of retransmissions (RFC 7496)";
        report.add(&join(at, ["max_retransmissions"]), message, "leave one of the two out");
    }
}

fn check_failures(at: &[Step], sctp: &Sctp, report: &mut Report<'_>) {
    let steps = join(at, ["potentially_failed_max_retrans"]);
    let potentially_failed = sctp.potentially_failed_max_retrans;
    if potentially_failed.is_some_and(|most| most >= sctp.path_max_retrans) {
        let message = format!(
            "a path is inactive after `path_max_retrans`, {}: it is never potentially failed",
            sctp.path_max_retrans
        );
        report.add(&steps, message, "write less than `path_max_retrans`; RFC 7829 recommends 0");
    }
    let steps = join(at, ["primary_switchover_max_retrans"]);
    let Some(switchover) = sctp.primary_switchover_max_retrans else { return };
    if sctp.dynamic_addresses {
        let message = "with `dynamic_addresses` the primary path follows the node's preferred address";
        report.add(&steps, message, "leave one of the two out");
    } else if potentially_failed.is_some_and(|most| switchover < most) {
        let message = "the primary path switches over before it is potentially failed";
        let help = "write `potentially_failed_max_retrans` or more (RFC 7829 section 5)";
        report.add(&steps, message, help);
    }
}

fn check_sacks(at: &[Step], sctp: &Sctp, report: &mut Report<'_>) {
    if sctp.sack_delay > Span::from_ms(500) {
        report.add(
            &join(at, ["sack_delay"]),
            "a SACK may wait for 500 ms at most (RFC 9260 section 6.2)",
            "write \"500ms\" or less",
        );
    }
    if sctp.sack_frequency_packets == 0 {
        report.add(
            &join(at, ["sack_frequency"]),
            "a SACK acknowledges at least one packet",
            "write 1 for a SACK a packet, 2 for RFC 9260's, or more",
        );
    }
    if sctp.sack_frequency_packets == 1 && report.is_set(&join(at, ["sack_delay"])) {
        let message =
            "with `sack_frequency = 1` every packet is acknowledged at once, and no SACK is delayed";
        report.add(&join(at, ["sack_delay"]), message, "leave one of the two out");
    }
    if sctp.max_gap_ack_blocks == Some(0) {
        report.add(
            &join(at, ["max_gap_ack_blocks"]),
            "a SACK without gap ack blocks would never report a loss",
            "write 1 or more, or leave it out for as many as a packet holds",
        );
    }
    if sctp.fast_retransmit_in_recovery && sctp.rules == SctpRules::Rfc2960 {
        report.add(
            &join(at, ["fast_retransmit_in_recovery"]),
            "RFC 2960 has no fast recovery: every SACK that finds chunks lost retransmits one packet of them at once",
            "leave it out, or take rules = \"rfc9260\"",
        );
    }
    if sctp.missing_reports.is_some_and(|reports| !(1..=MAX_MISSING_REPORTS).contains(&reports)) {
        report.add(
            &join(at, ["missing_reports"]),
            "fast retransmit needs at least one missing report, and counts up to 255",
            "write 1 to 255; RFC 9260 has 3",
        );
    }
}

fn check_windows(at: &[Step], sctp: &Sctp, report: &mut Report<'_>) {
    if sctp.initial_window_packets == Some(0) {
        let help = "write 1 or more, or leave it out for RFC 9260's";
        report.add(&join(at, ["initial_window"]), "a window of zero packets never sends", help);
    }
    if sctp.max_burst_packets == 0 {
        let help = "write 1 or more; RFC 9260 has 4";
        report.add(&join(at, ["max_burst"]), "a burst of zero packets never sends", help);
    }
    let steps = join(at, ["receive_window"]);
    if sctp.receive_window_bytes < MIN_WINDOW_BYTES {
        let message = format!("a receive window has {MIN_WINDOW_BYTES} B at least (RFC 9260 section 3.3.2)");
        report.add(&steps, message, format!("write \"{MIN_WINDOW_BYTES}B\" or more"));
    } else if sctp.receive_window_bytes > u64::from(u32::MAX) {
        let message = "a receive window has 32 bits (RFC 9260 section 3.3.4)";
        report.add(&steps, message, "write less than \"4GiB\"");
    }
}
