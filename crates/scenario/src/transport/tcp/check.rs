//! Settings of TCP.

use roamsim_engine::Span;
use roamsim_protocols::tcp::UserTimeout;
use roamsim_protocols::tcp::congestion::{CUBIC_RULES, LINUX_RULES, RENO_RULES};

use super::control;
use super::model::{Tcp, TcpVariant};
use crate::access::Network;
use crate::report::{Report, Step, join};
use crate::topology::Topology;
use crate::transport::own;
use crate::units::time_text;

/// The most bytes of TCP options in a segment (RFC 9293 section 3.1: data offset of 15 words).
const MAX_TCP_OPTION_BYTES: u64 = 40;

/// The largest window that window scaling can express (RFC 7323 section 2.3).
const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// Checks the settings at `at`; `ends` are the transport's nodes where a route between them exists.
pub(crate) fn check(
    at: &[Step],
    tcp: &Tcp,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    check_timers(at, tcp, report);
    check_liveness(at, tcp, report);
    check_advertised_user_timeout(at, tcp, report);
    check_acknowledgements(at, tcp, report);
    check_nagle(at, tcp, report);
    check_windows(at, tcp, report);
    check_send_buffer(at, tcp, report);
    check_fast_open(at, tcp, report);
    check_own(at, tcp, report);
    check_parts(at, tcp, report);
    check_refused(at, tcp, report);
    control::check(at, tcp, report);
    let header_bytes = Tcp::HEADER_BYTES + network.general.ip.header_bytes();
    let least_bytes = header_bytes + MAX_TCP_OPTION_BYTES + 1;
    let too_small = |bytes| ends.and_then(|ends| topology.too_small_mtu(ends, bytes));
    if let Some(mtu_bytes) = too_small(least_bytes) {
        // An MTU that IP does not allow was reported where it stands.
        if mtu_bytes >= network.general.ip.minimum_mtu_bytes() {
            let message =
                format!("TCP needs packets of {least_bytes} B, and the path carries {mtu_bytes} B at most");
            report.add(at, message, "raise the `mtu` of the links");
        }
    } else if let Some(mss_bytes) = tcp.mss_bytes {
        let steps = join(at, ["mss"]);
        let packet_bytes = mss_bytes.saturating_add(header_bytes);
        if mss_bytes <= MAX_TCP_OPTION_BYTES {
            let help = "write 41B or more, or leave `mss` out";
            report.add(&steps, "TCP options alone can take 40 B of a segment", help);
        } else if let Some(mtu_bytes) = too_small(packet_bytes) {
            let message = format!(
                "a full segment makes an IP packet of {packet_bytes} B, and the path carries {mtu_bytes} B at most"
            );
            let help = format!(
                "write \"{}B\" or less, or leave `mss` out to have it follow the path",
                mtu_bytes - header_bytes
            );
            report.add(&steps, message, help);
        }
    }
}

fn check_timers(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    if tcp.max_rto == Span::ZERO {
        report.add(&join(at, ["max_rto"]), "`max_rto` must be above zero", "write for example \"60s\"");
    } else if tcp.max_rto < tcp.min_rto {
        // Point at the one that the user wrote.
        let key = if report.is_set(&join(at, ["max_rto"])) { "max_rto" } else { "min_rto" };
        let message =
            format!("`max_rto`, {}, is below `min_rto`, {}", time_text(tcp.max_rto), time_text(tcp.min_rto));
        report.add(
            &join(at, [key]),
            message,
            "the upper bound of the timeout may not be below the lower one",
        );
    }
    if tcp.initial_rto == Span::ZERO {
        report.add(
            &join(at, ["initial_rto"]),
            "`initial_rto` must be above zero",
            "write for example \"1s\"",
        );
    } else if tcp.initial_rto > tcp.max_rto
        && tcp.stack.is_none()
        && report.is_set(&join(at, ["initial_rto"]))
    {
        let message = format!("`initial_rto` is above `max_rto`, {}", time_text(tcp.max_rto));
        report.add(&join(at, ["initial_rto"]), message, "leave it out: `max_rto` bounds it anyway");
    }
    for (key, time, message) in [
        ("msl", tcp.msl, "this time must be above zero"),
        ("challenge_ack_interval", tcp.challenge_ack_interval, "this time must be above zero"),
    ] {
        if time == Span::ZERO {
            report.add(&join(at, [key]), message, "write a time above zero, or leave it out");
        }
    }
    if !(Span::from_ms(40)..=Span::from_ms(500)).contains(&tcp.delayed_ack_timeout) {
        let help = "write a time from \"40ms\" to \"500ms\", or set delayed_ack = false";
        report.add(
            &join(at, ["delayed_ack_timeout"]),
            "an acknowledgement is delayed by 40 ms to 500 ms (RFC 9293 section 3.8.6.3)",
            help,
        );
    }
}

fn check_liveness(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    if tcp.user_timeout == Some(Span::ZERO) {
        let help = "write a time above zero, or leave it out for no limit";
        report.add(&join(at, ["user_timeout"]), "this time must be above zero", help);
    }
    let times = [("keep_alive_time", tcp.keep_alive_time), ("keep_alive_interval", tcp.keep_alive_interval)];
    for (key, time) in times {
        if time == Span::ZERO {
            let help = "write a time above zero, or leave it out";
            report.add(&join(at, [key]), "this time must be above zero", help);
        }
    }
    if tcp.keep_alive_probes == 0 {
        let message = "without a probe nobody could answer, and the connection would end";
        report.add(&join(at, ["keep_alive_probes"]), message, "write 1 or more; Linux has 9");
    }
    for key in ["keep_alive_time", "keep_alive_interval", "keep_alive_probes"] {
        let steps = join(at, [key]);
        // A stack has them for those that switch it on.
        if !tcp.keep_alive && tcp.stack.is_none() && report.is_set(&steps) {
            let message = format!("`{key}` has no effect without `keep_alive`");
            report.add(&steps, message, "write keep_alive = true beside it, or leave it out");
        }
    }
}

fn check_advertised_user_timeout(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    let (lower, upper) = (tcp.user_timeout_lower_limit, tcp.user_timeout_upper_limit);
    let steps = join(at, ["advertised_user_timeout"]);
    let Some(advertised) = tcp.advertised_user_timeout else {
        for key in ["user_timeout_changeable", "user_timeout_lower_limit", "user_timeout_upper_limit"] {
            let steps = join(at, [key]);
            if report.is_set(&steps) {
                let message = format!("`{key}` has no effect without `advertised_user_timeout`");
                report.add(
                    &steps,
                    message,
                    "write advertised_user_timeout = \"10min\" beside it, or leave it out",
                );
            }
        }
        return;
    };
    if UserTimeout::of(advertised).time() != advertised {
        let message = "the option tells whole seconds up to 32767 s, and whole minutes up to 32767 min (RFC 5482 \
                       section 3.3)";
        report.add(&steps, message, "write for example \"600s\"");
    } else if lower > upper {
        let message = format!(
            "`user_timeout_lower_limit`, {}, is above `user_timeout_upper_limit`, {}",
            time_text(lower),
            time_text(upper)
        );
        // Point at the one that the user wrote.
        let written = join(at, ["user_timeout_upper_limit"]);
        let steps = if report.is_set(&written) { written } else { join(at, ["user_timeout_lower_limit"]) };
        report.add(&steps, message, "the upper limit may not be below the lower one");
    } else if advertised < lower || advertised > upper {
        let (word, key, limit) = match advertised < lower {
            true => ("below", "user_timeout_lower_limit", lower),
            false => ("above", "user_timeout_upper_limit", upper),
        };
        let message = format!(
            "`advertised_user_timeout`, {}, is {word} `{key}`, {}",
            time_text(advertised),
            time_text(limit)
        );
        report.add(&steps, message, "write a time between the limits, or move the limit");
    }
}

fn check_fast_open(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    let cookie = join(at, ["fast_open_cookie"]);
    if !tcp.fast_open && report.is_set(&cookie) {
        let message = "`fast_open_cookie` has no effect without `fast_open`";
        report.add(&cookie, message, "write fast_open = true beside it, or leave it out");
    }
    if tcp.fast_open && tcp.one_way_connections {
        let message = "ns-2's one-way agents send no data before their handshake";
        report.add(&join(at, ["fast_open"]), message, "leave one of the two out");
    }
}

fn check_acknowledgements(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    if tcp.challenge_ack_limit == 0 {
        let message = "without challenge ACKs a peer that has lost its connection is never answered";
        report.add(&join(at, ["challenge_ack_limit"]), message, "write 1 or more; RFC 5961 has 10");
    }
    let has_rules = tcp.delayed_ack_rules != Tcp::default().delayed_ack_rules;
    let count = join(at, ["delayed_ack_count"]);
    if tcp.delayed_ack_count == 0 {
        let help = "write 1 or more; RFC 5681 has 2";
        report.add(&count, "a delayed acknowledgement is for at least one segment", help);
    } else if !tcp.delayed_ack && tcp.delayed_ack_count != Tcp::default().delayed_ack_count {
        let help = "leave one of the two out";
        report.add(&count, "`delayed_ack_count` has no effect with `delayed_ack = false`", help);
    } else if has_rules && report.is_set(&count) {
        let message = "`delayed_ack_count` has no effect with `delayed_ack_rules = \"linux\"`";
        report.add(&count, message, "leave one of the two out");
    }
    for (key, set) in [
        ("delayed_ack_adapts", tcp.delayed_ack_adapts),
        ("quick_acks", tcp.quick_acks > 0),
        ("delayed_ack_rules", has_rules),
    ] {
        if set && !tcp.delayed_ack {
            let message = format!("`{key}` has no effect with `delayed_ack = false`");
            report.add(&join(at, [key]), message, "leave one of the two out");
        }
    }
    let timeout = join(at, ["delayed_ack_timeout"]);
    // A stack has one for those that delay.
    if !tcp.delayed_ack && tcp.stack.is_none() && report.is_set(&timeout) {
        let help = "leave one of the two out";
        report.add(&timeout, "with `delayed_ack = false` no acknowledgement is delayed", help);
    }
    if tcp.one_way_connections && report.is_set(&join(at, ["piggyback_acks"])) {
        report.add(
            &join(at, ["piggyback_acks"]),
            "with `one_way_connections` no data carries an acknowledgement anyway",
            "leave one of the two out",
        );
    } else if tcp.delayed_ack && !tcp.piggyback_acks {
        report.add(
            &join(at, ["piggyback_acks"]),
            "a delayed acknowledgement waits for data to ride on, which `piggyback_acks = false` forbids",
            "write delayed_ack = false beside it, or leave `piggyback_acks` out",
        );
    }
}

fn check_nagle(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    if !tcp.nagle && tcp.nagle_rules != Tcp::default().nagle_rules {
        let message = "`nagle_rules` has no effect with `nagle = false`";
        report.add(&join(at, ["nagle_rules"]), message, "leave one of the two out");
    }
}

fn check_windows(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    if tcp.initial_window_segments == Some(0) {
        let help = "write 1 or more, or leave it out for RFC 6928's";
        report.add(&join(at, ["initial_window"]), "a window of zero segments never sends", help);
    }
    let rules = join(at, ["initial_window_rules"]);
    if tcp.initial_window_segments.is_some() && report.is_set(&rules) {
        let message = "`initial_window_rules` has no effect beside `initial_window`";
        report.add(&rules, message, "leave one of the two out");
    }
    if tcp.dup_ack_threshold == 0 {
        let help = "write 1 or more; RFC 5681 has 3";
        report.add(
            &join(at, ["dup_ack_threshold"]),
            "fast retransmit needs at least one duplicate acknowledgement",
            help,
        );
    }
    if !tcp.successive_fast_retransmits && tcp.variant != TcpVariant::RENO {
        report.add(
            &join(at, ["successive_fast_retransmits"]),
            "`successive_fast_retransmits = false` is a rule for Reno, and this is not `variant = \"reno\"`",
            "leave it out or write true: `vegas` has a rule of its own, the others never repair a window twice",
        );
    }
    let limited_transmit = join(at, ["limited_transmit"]);
    if tcp.variant == TcpVariant::TAHOE
        && tcp.limited_transmit
        && tcp.stack.is_none()
        && report.is_set(&limited_transmit)
    {
        let help = "leave it out or write false, or choose a variant with fast recovery";
        report.add(&limited_transmit, "Tahoe is older than limited transmit and does without", help);
    }
    if tcp.accurate_ecn && !tcp.ecn {
        let help = "write ecn = true as well, or leave it out";
        report.add(&join(at, ["accurate_ecn"]), "without ECN there are no marks to report", help);
    }
    if tcp.accurate_ecn && tcp.one_way_connections {
        let message = "data of one-way connections has no acknowledgement that could count marks";
        report.add(&join(at, ["accurate_ecn"]), message, "leave one of the two out");
    }
    if tcp.abe && !tcp.ecn {
        let help = "write ecn = true as well, or leave it out";
        report.add(&join(at, ["abe"]), "without ECN there are no marks that reduce the window", help);
    }
    check_marked_window(at, tcp, report);
    // A stack has it for those that switch ECN on.
    if tcp.prr_for_ecn && !tcp.ecn && tcp.stack.is_none() {
        let help = "write ecn = true as well, or leave it out";
        report.add(&join(at, ["prr_for_ecn"]), "without ECN there are no marks that reduce the window", help);
    }
    if tcp.prr_for_ecn && !tcp.prr {
        let help = "write prr = true as well, or leave it out";
        report.add(&join(at, ["prr_for_ecn"]), "`prr_for_ecn` extends `prr` to marks, which is off", help);
    }
    if tcp.variant.counts_marks() && !tcp.ecn {
        let help = "write ecn = true as well, and a queue that marks, such as `dualpi2`";
        let message = format!("`{}` reduces its window by marks, and ECN is off", tcp.variant);
        report.add(&join(at, ["variant"]), message, help);
    }
    if tcp.l4s && !tcp.variant.counts_marks() {
        let message = format!(
            "`l4s` promises a window that falls by the share of marks (RFC 9331 section 4.3); that of `{}` does not",
            tcp.variant
        );
        let help = format!("write variant = {}, or leave it out", control::counting_marks());
        report.add(&join(at, ["l4s"]), message, help);
    }
    if tcp.abe && tcp.variant.counts_marks() {
        let message = format!("`abe` has no effect with `{}`: the share of marks decides", tcp.variant);
        report.add(&join(at, ["abe"]), message, "leave it out");
    }
    if tcp.max_sack_blocks.is_some_and(|blocks| !(1..=4).contains(&blocks)) {
        let help = "write 1 to 4, set sack = false, or leave it out";
        report.add(
            &join(at, ["max_sack_blocks"]),
            "a segment has room for 1 to 4 SACK blocks (RFC 2018)",
            help,
        );
    }
    if tcp.sack == Some(false) && tcp.max_sack_blocks.is_some() {
        let help = "leave one of the two out";
        report.add(&join(at, ["max_sack_blocks"]), "without SACK there are no SACK blocks", help);
    } else if tcp.sack.is_none()
        && tcp.max_sack_blocks.is_some_and(|blocks| (1..=3).contains(&blocks))
        && !tcp.variant.permits_sack()
    {
        let message = format!(
            "there are no SACK blocks, because {} offers SACK only with sack = true",
            variant_text(tcp)
        );
        let help = "write sack = true beside it, or leave `max_sack_blocks` out";
        report.add(&join(at, ["max_sack_blocks"]), message, help);
    } else if tcp.timestamps && tcp.max_sack_blocks == Some(4) {
        let help = "write 3 or less, or leave it out for as many as fit";
        report.add(
            &join(at, ["max_sack_blocks"]),
            "with timestamps a segment has room for 3 SACK blocks",
            help,
        );
    }
    if let Some(window_bytes) = tcp.receive_window_bytes {
        let max_bytes = if tcp.window_scaling { MAX_WINDOW_BYTES } else { 65_535 };
        let steps = join(at, ["receive_window"]);
        if window_bytes == 0 {
            report.add(&steps, "a receive window of zero accepts nothing", "write a size above zero");
        } else if window_bytes > max_bytes {
            let (message, help) = match tcp.window_scaling {
                true => {
                    ("window scaling reaches up to 1 GiB (RFC 7323 section 2.3)", "write \"1GiB\" or less")
                }
                false => (
                    "without window scaling a window has 65535 B at most (RFC 9293 section 3.1)",
                    "write \"65535B\" or less, or set window_scaling = true",
                ),
            };
            report.add(&steps, message, help);
        }
    }
    if let Some(first_bytes) = tcp.initial_receive_window_bytes {
        let steps = join(at, ["initial_receive_window"]);
        let most_bytes = tcp.receive_window_bytes();
        if first_bytes == 0 {
            report.add(&steps, "a receive window of zero accepts nothing", "write a size above zero");
        } else if first_bytes > most_bytes {
            let message =
                format!("the first window is above `receive_window`, {most_bytes} B, up to which it grows");
            report.add(&steps, message, "write a smaller size, or raise `receive_window`");
        } else if tcp.window_scaling && first_bytes < window_step_bytes(most_bytes) {
            let step_bytes = window_step_bytes(most_bytes);
            let message = format!(
                "beside `receive_window`, {most_bytes} B, windows are offered in steps of {step_bytes} B (RFC 7323 \
                 section 2.3), and this one is less"
            );
            let help = format!("write \"{step_bytes}B\" or more, or lower `receive_window`");
            report.add(&steps, message, help);
        }
    }
    if tcp.byte_counting_limit == 0 {
        report.add(
            &join(at, ["byte_counting_limit"]),
            "with a limit of 0 slow start never opens the window",
            "write 1, as RFC 5681 has it, 2, as RFC 3465 recommends, or more",
        );
    }
    if tcp.initial_ssthresh_bytes == Some(0) {
        let help = "write a size above zero, or leave it out";
        report.add(&join(at, ["initial_ssthresh"]), "a slow start threshold must be above zero", help);
    }
}

fn check_send_buffer(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    for (key, bytes) in
        [("send_buffer", tcp.send_buffer_bytes), ("initial_send_buffer", tcp.initial_send_buffer_bytes)]
    {
        if bytes == Some(0) {
            let help = "write a size above zero, or leave it out for no limit";
            report.add(&join(at, [key]), "a send buffer of zero holds nothing", help);
        }
    }
    let first = join(at, ["initial_send_buffer"]);
    match (tcp.initial_send_buffer_bytes, tcp.send_buffer_bytes) {
        (Some(_), None) => {
            let message = "without `send_buffer` nothing limits the buffer";
            report.add(&first, message, "write send_buffer = \"4MiB\" beside it, or leave it out");
        }
        (Some(first_bytes), Some(most_bytes)) if first_bytes > most_bytes => {
            let message =
                format!("the first buffer is above `send_buffer`, {most_bytes} B, up to which it grows");
            report.add(&first, message, "write a smaller size, or raise `send_buffer`");
        }
        _ => {}
    }
}

/// The step of the window field by which it can offer so much.
fn window_step_bytes(most_bytes: u64) -> u64 {
    let shift = (0..14).find(|shift| most_bytes >> shift <= 65_535).unwrap_or(14);
    1 << shift
}

/// Parts that need another.
fn check_parts(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    let learns = tcp.variant.permits_sack() && tcp.sack != Some(false);
    if tcp.rack == Some(true) && !learns && !tcp.variant.takes_samples() {
        let (message, help) = match tcp.sack {
            Some(false) => (
                "`rack` needs SACK, which `sack = false` turns off".to_owned(),
                "remove `sack = false` or `rack`".to_owned(),
            ),
            _ => (
                format!("`rack` needs SACK, which {} does without", variant_text(tcp)),
                format!(
                    "choose a variant with SACK ({}), or leave it out",
                    control::repairing_by_sack("rack")
                ),
            ),
        };
        report.add(&join(at, ["rack"]), message, help);
    }
    if tcp.prr && !tcp.variant.takes_prr() {
        let message =
            format!("`prr` needs the repair of NewReno or SACK, and {} has another", variant_text(tcp));
        let help = format!(
            "choose \"newreno\" or a variant with SACK ({}), or leave it out",
            control::repairing_by_sack("prr")
        );
        report.add(&join(at, ["prr"]), message, help);
    }
    for (key, set) in [
        ("tail_loss_probe", tcp.tail_loss_probe),
        ("frto", tcp.frto),
        ("reduce_after_lost_retransmission", tcp.reduce_after_lost_retransmission),
        ("undo", tcp.undo),
        ("rack_rules", tcp.rack_rules != Tcp::default().rack_rules),
        ("growth_rules", tcp.growth_rules != Tcp::default().growth_rules),
    ] {
        if set && tcp.rack != Some(true) && !tcp.variant.takes_samples() {
            let message = format!("`{key}` needs the records of `rack`");
            report.add(&join(at, [key]), message, "write rack = true beside it, or leave it out");
        }
    }
    for (key, value, does) in [("rack", tcp.rack, "detects losses by time"), ("pacing", tcp.pacing, "paces")]
    {
        if value == Some(false) && tcp.variant.takes_samples() {
            let message = format!("`{}` always {does}", tcp.variant);
            report.add(&join(at, [key]), message, "leave it out, or choose another variant");
        }
    }
    if tcp.compressed_acks && !tcp.sack.unwrap_or(tcp.variant.permits_sack()) {
        let message = "without SACK a duplicate acknowledgement says nothing of several segments";
        report.add(&join(at, ["compressed_acks"]), message, "write sack = true beside it, or leave it out");
    }
    if !tcp.tail_loss_probe && tcp.loss_probe_rules != Tcp::default().loss_probe_rules {
        let message = "without `tail_loss_probe` its rules have no effect";
        let help = "write tail_loss_probe = true beside it, or leave it out";
        report.add(&join(at, ["loss_probe_rules"]), message, help);
    }
    if !tcp.undo && tcp.undo_rules != Tcp::default().undo_rules {
        let message = "without `undo` its rules have no effect";
        report.add(&join(at, ["undo_rules"]), message, "write undo = true beside it, or leave it out");
    }
    if !tcp.hystart && tcp.hystart_rules != Tcp::default().hystart_rules {
        let message = "without `hystart` its rules have no effect";
        report.add(&join(at, ["hystart_rules"]), message, "write hystart = true beside it, or leave it out");
    }
}

fn check_marked_window(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    let steps = join(at, ["ecn_min_window"]);
    let mut refuse = |message: &str, help: &str| report.add(&steps, message, help);
    if tcp.ecn_min_window == Tcp::default().ecn_min_window {
        return;
    }
    if !(1..=2).contains(&tcp.ecn_min_window) {
        refuse("marks leave a window of one segment or of two", "write 1 or 2, or leave it out for 2");
    } else if !tcp.ecn && tcp.stack.is_none() {
        // A stack has it for those that switch ECN on.
        let help = "write ecn = true as well, or leave it out";
        refuse("without ECN there are no marks that reduce the window", help);
    } else if tcp.variant.counts_marks() {
        let message =
            format!("`ecn_min_window` has no effect with `{}`: the share of marks decides", tcp.variant);
        refuse(&message, "leave it out");
    } else if let Some(rules) =
        [CUBIC_RULES, RENO_RULES].iter().find(|rules| tcp.own.get(rules) == Some(LINUX_RULES))
    {
        let message = format!(
            "`ecn_min_window` has no effect with `{} = \"linux\"`, which leaves two segments",
            rules.name
        );
        refuse(&message, "leave one of the two out");
    }
}

/// Keys that the congestion control does not go with, as its file declares.
fn check_refused(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    for refusal in tcp.variant.congestion().refuses() {
        if differs(tcp, refusal.key) == Some(true) {
            report.add(&join(at, [refusal.key]), refusal.message, refusal.help);
        }
    }
}

/// Whether a key that a control may refuse differs from its default; `None` for other keys.
fn differs(tcp: &Tcp, key: &str) -> Option<bool> {
    let defaults = Tcp::default();
    Some(match key {
        "sack" => tcp.sack == Some(false),
        "prr" => tcp.prr,
        "reduce_after_lost_retransmission" => tcp.reduce_after_lost_retransmission,
        "hystart" => tcp.hystart,
        "window_validation" => tcp.window_validation != defaults.window_validation,
        "restart_after_idle" => tcp.restart_after_idle != defaults.restart_after_idle,
        "ecn" => tcp.ecn,
        "ecn_min_window" => tcp.ecn_min_window != defaults.ecn_min_window,
        "prr_for_ecn" => tcp.prr_for_ecn,
        "abe" => tcp.abe,
        "initial_ssthresh" => tcp.initial_ssthresh_bytes.is_some(),
        "byte_counting_limit" => tcp.byte_counting_limit != defaults.byte_counting_limit,
        "growth_rules" => tcp.growth_rules != defaults.growth_rules,
        _ => return None,
    })
}

/// The setting of the variant, for messages.
fn variant_text(tcp: &Tcp) -> String {
    format!("variant = \"{}\"", tcp.variant)
}

/// Keys that belong to one congestion control act on that one alone.
fn check_own(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    match control::law(tcp) {
        Some(_) => own::check(at, &tcp.own, None, "a class in Python", None, report),
        None => {
            let in_force = Some(tcp.variant.congestion());
            own::check(at, &tcp.own, in_force, &variant_text(tcp), Some("variant"), report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_a_control_refuses_is_known() {
        for variant in TcpVariant::ALL {
            for refusal in variant.congestion().refuses() {
                assert_eq!(differs(&Tcp::default(), refusal.key), Some(false), "{}", refusal.key);
            }
        }
    }
}
