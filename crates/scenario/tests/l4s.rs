//! L4S, as a scenario states it: DCTCP and Prague through DualPI2, alone, beside each other, and beside a
//! classic sender.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};

fn outcome(text: &str, overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(text, overrides, Options { seed: 1, ..Options::default() })
}

const DOWNLOADS: &str = r#"
[scenario]
name = "downloads through DualPI2"
duration = "40s"
warm_up = "10s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = "50Mb/s"
delay = "10ms"
queue = { discipline = "dualpi2" }
[[flow]]
name = "scalable"
from = "a"
to = "b"
transport = { protocol = "tcp", variant = "dctcp", ecn = true, l4s = true, mss = "1460B" }
application = { kind = "bulk" }
"#;

fn classic(variant: &str, ecn: bool) -> String {
    format!(
        "[[flow]]\nname = \"classic\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"tcp\", variant = \"{variant}\", ecn = {ecn}, mss = \"1460B\" }}\n\
         application = {{ kind = \"bulk\", start = \"1s\" }}\n"
    )
}

/// Mean waits by flow at the line, towards the receiver.
fn waits_s(outcome: &Outcome) -> Vec<(String, f64)> {
    let (flows, means) = (texts(outcome, "queues", "flow"), floats(outcome, "queues", "mean_wait_s"));
    let from = texts(outcome, "queues", "from");
    (0..means.len())
        .filter(|&row| &from[row] == "a")
        .map(|row| (flows[row].to_string(), means[row]))
        .collect()
}

#[test]
fn dctcp_alone_has_the_window_and_the_marks_of_its_closed_form() {
    // Alizadeh et al. 2010, section 3.3: a step at K packets, N = 1 flow, W* = C RTT + K. 50 Mb/s are 4167
    // packets of 1500 octets a second; 20 ms are 83 packets, 4 ms are K = 16.7, so W* = 100. From alpha^2 (1
    // - alpha / 4) = (2 W* + 1) / (W* + 1)^2, alpha = 0.143, and so is the share of marked packets. The queue
    // swings down from K + 1 by (W* + 1) alpha / 2 = 7.2 packets.
    for (accurate, agreed) in [("false", "yes"), ("true", "accurate")] {
        let sets = [
            ("link.line.queue.step_threshold", "4ms"),
            ("flow.scalable.transport.delayed_ack", "false"),
            ("flow.scalable.transport.accurate_ecn", accurate),
        ];
        let outcome = outcome(DOWNLOADS, &sets);
        let sent = integers(&outcome, "flows", "segments_sent")[0];
        let marked = integers(&outcome, "ecn", "marked_packets")[0];
        let share = marked as f64 / sent as f64;
        let goodput_bps = floats(&outcome, "flows", "goodput_bps")[0];
        let waits = waits_s(&outcome);
        assert!((0.9 * 0.143..1.1 * 0.143).contains(&share), "{share}");
        // 1460 of 1500 octets are payload.
        assert!(goodput_bps > 0.995 * 50e6 * 1460.0 / 1500.0, "{goodput_bps}");
        // Midway, 14.1 packets are 3.4 ms.
        assert!((0.9 * 3.4e-3..1.1 * 3.4e-3).contains(&waits[0].1), "{waits:?}");
        assert_eq!(integers(&outcome, "flows", "retransmissions")[0], 0);
        assert_eq!(&texts(&outcome, "ecn", "agreed")[0], agreed);
    }
}

#[test]
fn a_classic_sender_and_a_scalable_one_share_the_line_within_a_factor_of_two() {
    // RFC 9332 section 2.1: k = 2 has both send alike over equal round trips; and the L4S queue stays short.
    for (variant, ecn) in [("newreno", false), ("newreno", true), ("cubic", true), ("cubic", false)] {
        let outcome =
            outcome(&(DOWNLOADS.to_owned() + &classic(variant, ecn)), &[("scenario.duration", "100s")]);
        let rates = floats(&outcome, "flows", "goodput_bps");
        let waits = waits_s(&outcome);
        let ratio = rates[0] / rates[1];
        assert!((0.5..2.0).contains(&ratio), "{variant}: {rates:?}");
        assert!(rates[0] + rates[1] > 0.93 * 50e6 * 1460.0 / 1500.0, "{variant}: {rates:?}");
        assert!(waits[0].1 < 2e-3 && (8e-3..22e-3).contains(&waits[1].1), "{variant}: {waits:?}");
    }
}

#[test]
fn without_the_identifier_a_scalable_sender_waits_with_the_classic_ones() {
    let outcome = outcome(DOWNLOADS, &[("flow.scalable.transport.l4s", "false")]);
    // ECT(0): its target is 15 ms.
    let waits = waits_s(&outcome);
    assert!((8e-3..22e-3).contains(&waits[0].1), "{waits:?}");
}

/// Prague as its reference implementation has it, with accurate feedback.
const PRAGUE: [(&str, &str); 2] =
    [("flow.scalable.transport.variant", "prague"), ("flow.scalable.transport.accurate_ecn", "true")];

#[test]
fn prague_and_a_classic_sender_share_the_line_within_a_factor_of_two() {
    for (variant, ecn) in [("newreno", false), ("newreno", true), ("cubic", true), ("cubic", false)] {
        let sets = [&PRAGUE[..], &[("scenario.duration", "100s")]].concat();
        let outcome = outcome(&(DOWNLOADS.to_owned() + &classic(variant, ecn)), &sets);
        let rates = floats(&outcome, "flows", "goodput_bps");
        let waits = waits_s(&outcome);
        let ratio = rates[0] / rates[1];
        assert!((0.5..2.0).contains(&ratio), "{variant}: {rates:?}");
        assert!(rates[0] + rates[1] > 0.93 * 50e6 * 1460.0 / 1500.0, "{variant}: {rates:?}");
        assert!(waits[0].1 < 1e-3 && (8e-3..22e-3).contains(&waits[1].1), "{variant}: {waits:?}");
    }
}

#[test]
fn prague_alone_fills_a_line_on_which_a_packet_takes_longer_than_the_step() {
    // A packet of 1500 octets takes 1.2 ms at 10 Mb/s, the step is at 1 ms. Without the least length of the
    // L4S queue every packet that waits for another one is marked.
    let goodput_bps = |rate: &str, least: &str| {
        let line = [("link.line.rate", rate), ("link.line.queue.step_min_packets", least)];
        floats(&outcome(DOWNLOADS, &[&PRAGUE[..], &line].concat()), "flows", "goodput_bps")[0]
    };
    for (rate, bps) in [("4Mb/s", 4e6), ("10Mb/s", 10e6), ("20Mb/s", 20e6)] {
        let share = goodput_bps(rate, "2") / (bps * 1460.0 / 1500.0);
        assert!(share > 0.95, "{rate}: {share}");
    }
    assert!(goodput_bps("10Mb/s", "0") < 5e6);
}

/// Two downloads by Prague, of which the second has a path of its own length to the bottleneck.
const TWO_LENGTHS: &str = r#"
[scenario]
name = "two lengths"
duration = "60s"
warm_up = "20s"
ip = "ipv4"
[[node]]
name = "near"
[[node]]
name = "far"
[[node]]
name = "router"
[[node]]
name = "b"
[[link]]
name = "short"
between = ["near", "router"]
rate = "1Gb/s"
delay = "1ms"
[[link]]
name = "long"
between = ["far", "router"]
rate = "1Gb/s"
delay = "8ms"
[[link]]
name = "line"
between = ["router", "b"]
rate = "50Mb/s"
delay = "1ms"
queue = { discipline = "dualpi2" }
[[flow]]
name = "near"
from = "near"
to = "b"
transport = { protocol = "tcp", variant = "prague", ecn = true, accurate_ecn = true, l4s = true, mss = "1460B" }
application = { kind = "bulk" }
[[flow]]
name = "far"
from = "far"
to = "b"
transport = { protocol = "tcp", variant = "prague", ecn = true, accurate_ecn = true, l4s = true, mss = "1460B" }
application = { kind = "bulk" }
"#;

#[test]
fn prague_has_similar_rates_over_round_trips_of_4_and_18_ms_and_dctcp_has_not() {
    let ratio = |sets: &[(&str, &str)]| {
        let outcome = outcome(TWO_LENGTHS, sets);
        let rates = floats(&outcome, "flows", "goodput_bps");
        rates[0] / rates[1]
    };
    let alike = ratio(&[]);
    assert!((0.67..1.5).contains(&alike), "{alike}");
    let dctcp = ratio(&[("flow.near.transport.variant", "dctcp"), ("flow.far.transport.variant", "dctcp")]);
    assert!(dctcp > 10.0, "{dctcp}");
}
