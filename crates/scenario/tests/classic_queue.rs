//! Prague where the queue may be a classic one: beside CUBIC in one queue with ECN, through DualPI2, over a
//! path whose bottleneck moves, and where jitter or a longer path looks like a classic queue.

use crate::outcome::{self, floats, texts};
use roamsim_scenario::run::{Options, Outcome, Trace};

/// Two downloads of 100 s. The second wire adds nothing but jitter, where a test says so.
const BESIDE_CUBIC: &str = r#"
[scenario]
name = "Prague beside CUBIC"
duration = "100s"
warm_up = "20s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "router"
[[node]]
name = "client"
[[link]]
name = "line"
between = ["server", "router"]
rate = "50Mb/s"
delay = "9ms"
queue = { discipline = "codel", ecn = true }
[[link]]
name = "radio"
between = ["router", "client"]
rate = "1Gb/s"
delay = "1ms"
[[flow]]
name = "prague"
from = "server"
to = "client"
transport = { protocol = "tcp", variant = "prague", ecn = true, accurate_ecn = true, l4s = true, mss = "1460B" }
application = { kind = "bulk" }
[[flow]]
name = "cubic"
from = "server"
to = "client"
transport = { protocol = "tcp", variant = "cubic", ecn = true, mss = "1460B" }
application = { kind = "bulk", start = "1s" }
"#;

const QUEUE: &str = "link.line.queue";
const KEY: &str = "flow.prague.transport.classic_queue";

fn outcome(text: &str, overrides: &[(&str, &str)]) -> Outcome {
    let trace = Trace { states: true, ..Trace::default() };
    outcome::of(text, overrides, Options { seed: 1, trace, ..Options::default() })
}

/// Megabits a second of Prague and of CUBIC.
fn rates_mbps(outcome: &Outcome) -> (f64, f64) {
    let rates = floats(outcome, "flows", "goodput_bps");
    (rates[0] / 1e6, rates[1] / 1e6)
}

/// Instants and states of Prague's sender.
fn states(outcome: &Outcome) -> Vec<(f64, String)> {
    let (names, from) = (texts(outcome, "states", "name"), texts(outcome, "states", "from"));
    let (times, states) = (floats(outcome, "states", "time_s"), texts(outcome, "states", "state"));
    (0..states.len())
        .filter(|&row| &names[row] == "prague" && &from[row] == "server")
        .map(|row| (times[row], states[row].to_string()))
        .collect()
}

/// The share of the time in a state, up to `end_s`.
fn share(outcome: &Outcome, state: &str, end_s: f64) -> f64 {
    let rows = states(outcome);
    let ends = rows.iter().skip(1).map(|row| row.0).chain([end_s]);
    let spans = rows.iter().zip(ends).filter(|((_, name), _)| name == state);
    spans.map(|((begin, _), end)| end - begin).sum::<f64>() / end_s
}

#[test]
fn in_a_classic_queue_prague_starves_cubic_unless_it_falls_back() {
    // codel 46 and 3 Mb/s, pie 40 and 7, red 45 and 3; with the fallback 25 and 23, 27 and 22, 25 and 17.
    for discipline in ["codel", "pie", "red"] {
        let queue = format!("{{ discipline = \"{discipline}\", ecn = true }}");
        let run = |key: &[(&str, &str)]| outcome(BESIDE_CUBIC, &[&[(QUEUE, queue.as_str())], key].concat());
        let (prague, cubic) = rates_mbps(&run(&[]));
        assert!(prague > 4.0 * cubic, "{discipline}: {prague} and {cubic} Mb/s");
        // To watch changes nothing.
        let monitored = run(&[(KEY, "monitor")]);
        assert_eq!(rates_mbps(&monitored), (prague, cubic), "{discipline}");
        let fallen_back = run(&[(KEY, "fall_back")]);
        let (prague, cubic) = rates_mbps(&fallen_back);
        assert!((0.5..2.0).contains(&(prague / cubic)), "{discipline}: {prague} and {cubic} Mb/s");
        assert!(prague + cubic > 0.8 * 50.0, "{discipline}: {prague} and {cubic} Mb/s");
        for outcome in [monitored, fallen_back] {
            let classic = share(&outcome, "classic", 100.0);
            assert!(classic > 0.9, "{discipline}: {classic}");
        }
    }
}

/// Prague over QUIC in the place of Prague over TCP.
const OVER_QUIC: (&str, &str) = (
    "flow.prague.transport",
    "{ protocol = \"quic\", client = \"to\", congestion_control = \"prague\", ecn = true, l4s = true }",
);

#[test]
fn over_quic_it_falls_back_in_a_classic_queue_and_not_in_dualpi2() {
    // codel 44 and 4 Mb/s, with the fallback 25 and 23; dualpi2 27 and 21 both ways.
    let run =
        |queue: &str, key: &str| rates_mbps(&outcome(BESIDE_CUBIC, &[OVER_QUIC, (QUEUE, queue), (KEY, key)]));
    let (prague, cubic) = run("{ discipline = \"codel\", ecn = true }", "ignore");
    assert!(prague > 4.0 * cubic, "{prague} and {cubic} Mb/s");
    let (prague, cubic) = run("{ discipline = \"codel\", ecn = true }", "fall_back");
    assert!((0.67..1.5).contains(&(prague / cubic)), "{prague} and {cubic} Mb/s");
    assert!(prague + cubic > 0.9 * 50.0, "{prague} and {cubic} Mb/s");
    let dualpi2 = "{ discipline = \"dualpi2\" }";
    assert_eq!(run(dualpi2, "fall_back"), run(dualpi2, "ignore"));
}

#[test]
fn over_a_short_round_trip_the_fallback_grows_as_reno() {
    // 5 ms of propagation and 5 ms of CoDel's target: as over 25 ms it would grow by 0.16 segments a round.
    let sets = [("link.line.delay", "1500us"), (KEY, "fall_back")];
    let (prague, cubic) = rates_mbps(&outcome(BESIDE_CUBIC, &sets));
    assert!((0.67..1.5).contains(&(prague / cubic)), "{prague} and {cubic} Mb/s");
}

#[test]
fn through_dualpi2_prague_stays_scalable() {
    // Alone and beside CUBIC over 60 s; 3 to 101 ms of propagation.
    for (rate, delay) in [("20Mb/s", "9ms"), ("50Mb/s", "500us"), ("50Mb/s", "49ms"), ("100Mb/s", "9ms")] {
        for start in ["1s", "59s"] {
            let sets = [
                ("scenario.duration", "60s"),
                (QUEUE, "{ discipline = \"dualpi2\" }"),
                ("link.line.rate", rate),
                ("link.line.delay", delay),
                ("flow.cubic.application.start", start),
                (KEY, "fall_back"),
            ];
            let outcome = outcome(BESIDE_CUBIC, &sets);
            let names: Vec<_> = states(&outcome).into_iter().map(|(_, name)| name).collect();
            let case = format!("{rate}, {delay}, CUBIC from {start}");
            if rate == "20Mb/s" {
                // The two packets that the step spares take 1.2 ms. Beside CUBIC: for 0.9 s.
                assert!(share(&outcome, "classic", 60.0) < 0.03, "{case}: {names:?}");
            } else {
                assert_eq!(names, ["slow_start", "scalable"], "{case}");
            }
        }
    }
}

#[test]
fn the_response_follows_the_bottleneck_from_a_classic_queue_to_dualpi2_and_back() {
    let sets = [
        ("scenario.duration", "90s"),
        ("scenario.warm_up", "0s"),
        (
            "link.line.rate",
            "{ steps = [{ at = \"0s\", rate = \"50Mb/s\" }, { at = \"30s\", rate = \"200Mb/s\" }, \
             { at = \"60s\", rate = \"50Mb/s\" }] }",
        ),
        ("link.radio.rate", "100Mb/s"),
        ("link.radio.queue", "{ discipline = \"dualpi2\" }"),
        ("flow.cubic.application.start", "89s"),
        (KEY, "fall_back"),
    ];
    let states = states(&outcome(BESIDE_CUBIC, &sets));
    let first = |name: &str, from_s: f64| {
        let row = states.iter().find(|(time, state)| *time > from_s && state == name);
        row.unwrap_or_else(|| panic!("{name} after {from_s} s: {states:?}")).0
    };
    assert!(first("classic", 0.0) < 3.0, "{states:?}");
    assert!((31.0..34.0).contains(&first("scalable", 30.0)), "{states:?}");
    assert!((60.0..62.0).contains(&first("classic", 33.0)), "{states:?}");
}

#[test]
fn jitter_of_a_millisecond_looks_like_a_classic_queue() {
    // A false positive, as the report has them: beside CUBIC through DualPI2 Prague falls from 30 to 7 Mb/s.
    let run = |mean: &str, key: &str| {
        let jitter = format!(
            "{{ constant = \"1ms\", jitter = {{ distribution = \"exponential\", mean = \"{mean}\" }} }}"
        );
        let sets = [
            ("scenario.duration", "60s"),
            (QUEUE, "{ discipline = \"dualpi2\" }"),
            ("link.radio.delay", jitter.as_str()),
            (KEY, key),
        ];
        let outcome = outcome(BESIDE_CUBIC, &sets);
        (rates_mbps(&outcome), share(&outcome, "classic", 60.0))
    };
    let (_, half) = run("500us", "fall_back");
    assert_eq!(half, 0.0);
    let ((monitored, _), seen) = run("1ms", "monitor");
    let ((prague, cubic), _) = run("1ms", "fall_back");
    assert!(seen > 0.9, "{seen}");
    assert!(monitored > 25.0 && prague < 10.0 && cubic > 35.0, "{monitored}, then {prague} and {cubic} Mb/s");
}

#[test]
fn a_longer_path_looks_like_a_classic_queue() {
    // The smallest round trip stays that of the shorter path: 20 ms, and 40 ms from 30 s on.
    let sets = [
        ("scenario.duration", "60s"),
        (QUEUE, "{ discipline = \"dualpi2\" }"),
        (
            "link.line.delay",
            "{ steps = [{ at = \"0s\", delay = \"9ms\" }, { at = \"30s\", delay = \"19ms\" }] }",
        ),
        (KEY, "monitor"),
    ];
    let states = states(&outcome(BESIDE_CUBIC, &sets));
    let (last_s, last) = states.last().expect("states");
    assert!(last == "classic" && (30.0..31.0).contains(last_s), "{states:?}");
    assert!(states.iter().all(|(time, name)| *time > 30.0 || name != "classic"), "{states:?}");
}
