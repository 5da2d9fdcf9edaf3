//! DECT accesses.

use roamsim_engine::{Span, Time};

use super::build::first_frame;
use super::model::{Connection, Dect, Dlc, Lu2, TerminalType, Terminals, Transceivers};
use crate::access::Context;
use crate::access::mtu::{MAX_MTU_BYTES, check_mtu};
use crate::access::queue::check_queue;
use crate::general::IpVersion;
use crate::report::{At, Report, Step, join};
use crate::timing::{check_start, check_warm_up};
use crate::units;
use roamsim_network::link::dect::FRAME;

/// Slot pairs of a carrier (ETS 300 175-2 clause 4.2.1): duplex channels of a full slot.
const SLOT_PAIRS: u32 = 12;
/// ETS 300 175-2 clause 4.1.1.
const MAX_CARRIERS: u32 = 10;
/// More radio fixed parts than a table of 240 units each is meant for; chosen.
const MAX_RADIO_FIXED_PARTS: u32 = 100;
/// What the receiver of LU2 can hold.
const MAX_WINDOW_FRAGMENTS: u32 = 127;
/// Octets of a fragment, and of the frame checksum.
const FRAGMENT_BYTES: u64 = 29;
const CHECKSUM_BYTES: u64 = 2;
/// Timers and lists beyond this are switched off, and counters of frames do not overflow.
const MAX_FRAMES: u64 = 1_000_000_000;
/// Chosen: traffic beyond this fills the memory with calls that are all blocked.
const MAX_ERLANG: f64 = 100_000.0;
/// Chosen, as that.
const MAX_LOAD_FACTOR: f64 = 1000.0;

pub(super) fn check(access: &Dect, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    let &Context { network, names, .. } = context;
    names.resolve(&access.terminal, &join(at, ["terminal"]), report);
    names.resolve(&access.gateway, &join(at, ["gateway"]), report);
    if access.terminal == access.gateway {
        let message = format!("\"{}\" is the terminal of this access", access.terminal);
        let help = "name a node that is not the terminal";
        report.add(&join(at, ["gateway"]), message, help);
    }
    let channels = check_radio(at, access, report);
    check_connection(at, access, channels, report);
    check_terminals(at, access, report);
    check_unused(at, access, report);
    check_errors(at, access, network.duration(), report);
    check_handovers(at, access, report);
    check_procedures(at, access, report);
    check_warm_up(at, access.warm_up, network.duration(), report);
    check_mtu(at, access.mtu_bytes, MAX_MTU_BYTES, network.general.ip, report);
    if let Some(queue) = access.queue {
        check_queue(at, queue, context.traffic, report);
    }
    if let Dlc::Lu2(lu2) = &access.dlc {
        check_lu2(at, lu2, report);
        check_window(at, access, lu2, network.general.ip, report);
    }
}

/// Checks the radio fixed parts; returns the full-slot channels of one.
fn check_radio(at: &[Step], access: &Dect, report: &mut Report<'_>) -> u32 {
    if !(1..=MAX_RADIO_FIXED_PARTS).contains(&access.radio_fixed_parts) {
        let message = match access.radio_fixed_parts {
            0 => "without a radio fixed part nobody can be reached".to_owned(),
            _ => format!("a cluster has {MAX_RADIO_FIXED_PARTS} radio fixed parts at most"),
        };
        let help = format!("write a number from 1 to {MAX_RADIO_FIXED_PARTS}");
        report.add(&join(at, ["radio_fixed_parts"]), message, help);
    }
    if !(1..=MAX_CARRIERS).contains(&access.carriers) {
        let message = format!("DECT has {MAX_CARRIERS} carriers (ETS 300 175-2 clause 4.1.1)");
        report.add(&join(at, ["carriers"]), message, "write a number from 1 to 10");
    }
    access.carriers.clamp(1, MAX_CARRIERS) * SLOT_PAIRS
}

fn check_connection(at: &[Step], access: &Dect, channels: u32, report: &mut Report<'_>) {
    let (channels, has) = match access.procedures.transceivers {
        Transceivers::OnePerSlotPair if channels > SLOT_PAIRS => (
            SLOT_PAIRS,
            format!("a frame has {SLOT_PAIRS} slot pairs, and `transceivers` allows one bearer in each"),
        ),
        _ => (channels, format!("a radio fixed part has {channels} duplex channels of a full slot")),
    };
    if let Some(bearers) = access.fixed_bearers {
        let steps = join(at, ["fixed_bearers"]);
        if !(1..=channels).contains(&bearers) {
            let message = format!("{bearers} bearers are not possible: {has}");
            report.add(&steps, message, format!("write a number from 1 to {channels}"));
        }
        if report.is_set(&join(at, ["connection"])) {
            let message = "`connection` has no effect beside `fixed_bearers`";
            let help = "leave one of the two out";
            report.add_related(&join(at, ["connection"]), message, help, (&steps, "no procedure applies"));
        }
    }
    let Connection { target_bearers, minimum_bearers, modification_threshold } = access.connection;
    let tables = [
        ("connection", target_bearers, minimum_bearers),
        ("data_terminals", access.data_terminals.target_bearers, access.data_terminals.minimum_bearers),
    ];
    for (table, target, minimum) in tables {
        if !(1..=channels).contains(&target) {
            let message = format!("a target of {target} bearers is not possible: {has}");
            let help = format!("write a number from 1 to {channels}");
            report.add(&join(at, [table, "target_bearers"]), message, help);
        } else if !(1..=target).contains(&minimum) {
            let message = format!("the minimum of {minimum} bearers is above the target of {target}");
            let help = format!("write a number from 1 to {target}");
            report.add(&join(at, [table, "minimum_bearers"]), message, help);
        }
    }
    if modification_threshold > target_bearers {
        let message = format!(
            "the threshold of {modification_threshold} bearers is above the target of {target_bearers}: the \
             connection would be modified without end"
        );
        let help = format!("write a number from 0 (never) to {target_bearers}");
        report.add(&join(at, ["connection", "modification_threshold"]), message, help);
    }
}

/// Refuses settings of others that are not there.
fn check_unused(at: &[Step], access: &Dect, report: &mut Report<'_>) {
    let data = |terminals: &Terminals| terminals.terminal_type == TerminalType::Data;
    let unused = [
        (
            join(at, ["data_terminals"]),
            !access.terminals.iter().any(data),
            "there are no other terminals of type `data`",
            "add an entry to `terminals` with type = \"data\", or leave this out; `connection` is the terminal's own",
        ),
        (
            join(at, ["handovers", "other_terminals_interval"]),
            access.terminals.is_empty(),
            "without `terminals` there are no other terminals",
            "add an entry to `terminals`, or leave this out",
        ),
        (
            join(at, ["handovers", "cell_time"]),
            access.radio_fixed_parts == 1,
            "with one radio fixed part there is no other cell to go to",
            "write `radio_fixed_parts` of 2 or more, or leave this out",
        ),
    ];
    for (steps, is_unused, message, help) in unused {
        if is_unused && report.is_set(&steps) {
            report.add(&steps, message, help);
        }
    }
    check_unused_procedures(at, access, report);
}

/// Refuses settings of the MAC's procedures where no connection goes through any.
fn check_unused_procedures(at: &[Step], access: &Dect, report: &mut Report<'_>) {
    if access.fixed_bearers.is_none() || !access.terminals.is_empty() {
        return;
    }
    let of_procedures = [
        "call_setup_timer_frames",
        "bearer_handover_timer_frames",
        "connection_handover_timer_frames",
        "connection_modification_timer_frames",
        "attempt_permission",
        "setup_attempts",
        "multibearer_handover_attempts",
        "single_bearer_handover_attempts",
        "data_during_setup",
    ];
    let tables = [join(at, ["channel_list"]), join(at, ["handovers", "need_good"])];
    let handovers = ["need_bad", "need_factor", "cell_time"].map(|key| join(at, ["handovers", key]));
    let procedures = of_procedures.map(|key| join(at, ["procedures", key]));
    let fixed = join(at, ["fixed_bearers"]);
    for steps in tables.into_iter().chain(handovers).chain(procedures) {
        if report.is_set(&steps) {
            let message = "this has no effect beside `fixed_bearers`: no connection is set up or handed over";
            let help = "leave it out, add other terminals (`terminals`), or leave `fixed_bearers` out";
            report.add_related(&steps, message, help, (&fixed, "no procedure applies"));
        }
    }
}

fn check_terminals(at: &[Step], access: &Dect, report: &mut Report<'_>) {
    for (j, terminals) in access.terminals.iter().enumerate() {
        let mut steps = join(at, ["terminals"]);
        steps.push(At(j));
        let same = |other: &Terminals| other.terminal_type == terminals.terminal_type;
        if let Some(first) = access.terminals[..j].iter().position(same) {
            let mut other = join(at, ["terminals"]);
            other.push(At(first));
            let help = "write one entry a type, with all of its traffic";
            let message = "two entries have the same type";
            report.add_related(&join(&steps, ["type"]), message, help, (&other, "the first"));
        }
        let offered = join(&steps, ["offered_erlang"]);
        check_positive_or_zero(&offered, terminals.offered_erlang, MAX_ERLANG, "erlang", report);
        let product = terminals.offered_erlang * access.load_factor;
        if product > MAX_ERLANG
            && terminals.offered_erlang <= MAX_ERLANG
            && access.load_factor <= MAX_LOAD_FACTOR
        {
            let message = format!(
                "the factor makes {product} erlang of {} erlang; at most {MAX_ERLANG} are possible",
                terminals.offered_erlang
            );
            let help = "make the factor smaller, or offer less";
            report.add_related(&join(at, ["load_factor"]), message, help, (&offered, "times the factor"));
        }
        if terminals.mean_duration == Some(Span::ZERO) {
            let help = "write a time above zero";
            report.add(&join(&steps, ["mean_duration"]), "a call has to last some time", help);
        }
        if terminals.mean_duration.is_some() && !terminals.durations.is_empty() {
            let message = "`mean_duration` and `durations` exclude each other";
            report.add(&join(&steps, ["durations"]), message, "write one of them");
        }
        for (k, length) in terminals.durations.iter().enumerate() {
            let mut steps = join(&steps, ["durations"]);
            steps.push(At(k));
            if !(length.weight > 0.0 && length.weight.is_finite()) {
                let help = "write a number above zero, or leave the duration out";
                report.add(&join(&steps, ["weight"]), "this duration is never drawn", help);
            }
            if length.duration == Span::ZERO {
                let help = "write a time above zero";
                report.add(&join(&steps, ["duration"]), "a call has to last some time", help);
            }
        }
    }
    check_positive_or_zero(&join(at, ["load_factor"]), access.load_factor, MAX_LOAD_FACTOR, "", report);
    let steps = join(at, ["load_factor"]);
    if access.terminals.is_empty() && report.is_set(&steps) {
        let help = "add an entry to `terminals`, or leave `load_factor` out";
        report.add(&steps, "without `terminals` there is no traffic to multiply", help);
    }
}

fn check_positive_or_zero(at: &[Step], value: f64, max: f64, unit: &str, report: &mut Report<'_>) {
    if !(0.0..=max).contains(&value) {
        let range = format!("from 0 to {max} {unit}");
        report.add(at, format!("{value} is out of range"), format!("write a number {}", range.trim_end()));
    }
}

fn check_errors(at: &[Step], access: &Dect, duration: Span, report: &mut Report<'_>) {
    let errors = &access.errors;
    check_positive_or_zero(&join(at, ["errors", "ber_factor"]), errors.ber_factor, 1e6, "", report);
    let is_probability = |steps: &[Step], factor: f64, report: &mut Report<'_>| {
        for (key, ber) in [("ber_good", errors.ber_good), ("ber_bad", errors.ber_bad)] {
            let product = ber * errors.ber_factor * factor;
            if product > 1.0 && errors.ber_factor <= 1e6 && factor <= 1e6 {
                let message = format!("`{key}` times its factors is {product:.3}, not a probability");
                report.add(steps, message, "make one of the factors smaller");
                return false;
            }
        }
        true
    };
    let without_burst = is_probability(&join(at, ["errors", "ber_factor"]), 1.0, report);
    let mut ends: Vec<(u64, u64, usize)> = Vec::new();
    for (j, burst) in errors.bursts.iter().enumerate() {
        let mut steps = join(at, ["errors", "bursts"]);
        steps.push(At(j));
        if without_burst {
            is_probability(&join(&steps, ["factor"]), burst.factor, report);
        }
        check_positive_or_zero(&join(&steps, ["factor"]), burst.factor, 1e6, "", report);
        let end = burst.start + burst.duration;
        let (from, until) = (first_frame(burst.start), first_frame(end));
        if from == until {
            let help = "frames begin every 10 ms; write a longer time";
            report.add(&join(&steps, ["duration"]), "no frame begins in this burst", help);
        }
        if burst.start.since(Time::ZERO) < duration && FRAME * from >= duration {
            let message = format!(
                "no frame begins between this and the end of the run after {}",
                units::time_text(duration)
            );
            let help = "frames begin every 10 ms; start earlier, or give the scenario a longer `duration`";
            report.add(&join(&steps, ["start"]), message, help);
        } else {
            check_start(&join(&steps, ["start"]), burst.start, duration, report);
        }
        if let Some(&(.., first)) = ends.iter().find(|other| from < other.1 && other.0 < until) {
            let mut other = join(at, ["errors", "bursts"]);
            other.push(At(first));
            let help = "let one end before the next begins";
            report.add_related(&steps, "two bursts overlap", help, (&other, "the first"));
        }
        ends.push((from, until, j));
    }
}

fn check_handovers(at: &[Step], access: &Dect, report: &mut Report<'_>) {
    let handovers = &access.handovers;
    let times = [
        ("other_terminals_interval", handovers.other_terminals_interval),
        ("cell_time", handovers.cell_time),
    ];
    for (key, time) in times {
        if time < Span::from_ms(10) {
            let message = "this is shorter than a frame of 10 ms";
            let help = "write \"10ms\" or more; a very long time, such as \"100000h\", means never";
            report.add(&join(at, ["handovers", key]), message, help);
        }
    }
    let steps = join(at, ["handovers", "need_factor"]);
    check_positive_or_zero(&steps, handovers.need_factor, 1e6, "", report);
    for (key, need) in [("need_good", handovers.need_good), ("need_bad", handovers.need_bad)] {
        if need * handovers.need_factor > 1.0 && handovers.need_factor <= 1e6 {
            let message =
                format!("{need} times the `need_factor` of {} is not a probability", handovers.need_factor);
            report.add(&join(at, ["handovers", key]), message, "make one of the two smaller");
        }
    }
}

fn check_procedures(at: &[Step], access: &Dect, report: &mut Report<'_>) {
    let p = &access.procedures;
    let frames = [
        ("procedures", "call_setup_timer_frames", p.call_setup_timer_frames),
        ("procedures", "bearer_handover_timer_frames", p.bearer_handover_timer_frames),
        ("procedures", "connection_handover_timer_frames", p.connection_handover_timer_frames),
        ("procedures", "connection_modification_timer_frames", p.connection_modification_timer_frames),
        ("channel_list", "refresh_frames", access.channel_list.refresh_frames),
    ];
    for (table, key, frames) in frames {
        check_frames(&join(at, [table, key]), frames, report);
    }
    let attempts = [
        ("setup_attempts", p.setup_attempts),
        ("multibearer_handover_attempts", p.multibearer_handover_attempts),
        ("single_bearer_handover_attempts", p.single_bearer_handover_attempts),
    ];
    for (key, attempts) in attempts {
        if attempts == 0 {
            let message = "without an attempt no bearer is ever set up";
            report.add(&join(at, ["procedures", key]), message, "write 1 or more");
        }
    }
    if p.attempt_permission == 0.0 {
        let steps = join(at, ["procedures", "attempt_permission"]);
        report.add(&steps, "no channel would ever be tried", "write a probability above zero");
    }
}

/// Checks a timer in frames.
fn check_frames(at: &[Step], frames: u64, report: &mut Report<'_>) {
    if !(1..=MAX_FRAMES).contains(&frames) {
        let message = match frames {
            0 => "a timer of zero frames expires before anything can happen".to_owned(),
            _ => format!("a timer has {MAX_FRAMES} frames at most"),
        };
        report.add(at, message, format!("write a number of frames (10 ms each) from 1 to {MAX_FRAMES}"));
    }
}

fn check_lu2(at: &[Step], lu2: &Lu2, report: &mut Report<'_>) {
    let timers = [
        ("retransmission_timer_frames", lu2.retransmission_timer_frames),
        ("discard_timer_frames", lu2.discard_timer_frames),
        ("acknowledgement_delay_frames", lu2.acknowledgement_delay_frames),
    ];
    for (key, frames) in timers {
        check_frames(&join(at, ["dlc", key]), u64::from(frames), report);
    }
    if lu2.max_attempts == 0 {
        let message = "without an attempt nothing is ever sent";
        report.add(&join(at, ["dlc", "max_attempts"]), message, "write 1 or more");
    }
}

/// Checks that the fragments of a packet fit into LU2's window, and it into the receiver's memory.
fn check_window(at: &[Step], access: &Dect, lu2: &Lu2, ip: IpVersion, report: &mut Report<'_>) {
    let fragments = |packet_bytes: u64| (packet_bytes + CHECKSUM_BYTES).div_ceil(FRAGMENT_BYTES);
    let window = join(at, ["dlc", "window_fragments"]);
    // The smallest packet that IP must be able to send has to fit.
    let least = fragments(ip.minimum_mtu_bytes()) as u32;
    if !(least..=MAX_WINDOW_FRAGMENTS).contains(&lu2.window_fragments) {
        let message =
            format!("a window has {least} (for the smallest MTU of IP) to {MAX_WINDOW_FRAGMENTS} fragments");
        let help = format!("write a number from {least} to {MAX_WINDOW_FRAGMENTS}; the default is 63");
        report.add(&window, message, help);
        return;
    }
    let (needed, mtu_bytes) = (fragments(access.mtu_bytes), access.mtu_bytes);
    if needed <= u64::from(lu2.window_fragments) || mtu_bytes > MAX_MTU_BYTES {
        return;
    }
    let largest = u64::from(lu2.window_fragments) * FRAGMENT_BYTES - CHECKSUM_BYTES;
    let message = format!(
        "a packet of the MTU of {mtu_bytes} B takes {needed} fragments, and the window has {}",
        lu2.window_fragments
    );
    let widen = if needed <= u64::from(MAX_WINDOW_FRAGMENTS) {
        format!(", or a window of {needed} or more")
    } else {
        String::new()
    };
    let help = format!("write an MTU of \"{largest}B\" or less{widen}");
    let mtu = join(at, ["mtu"]);
    match (report.is_set(&mtu), report.is_set(&window)) {
        (true, true) => report.add_related(&mtu, message, help, (&window, "the window")),
        (true, false) => report.add(&mtu, message, help),
        (false, _) => report.add(&window, message, help),
    }
}
