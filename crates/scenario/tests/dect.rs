//! DECT accesses in scenarios: what is refused, and the closed forms of docs/models/dect.md with TCP on top.

use crate::refusal;
use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};

const GOOD: &str = r#"[scenario]
name = "example"
duration = "60s"
ip = "ipv4"

[[node]]
name = "mobile"
[[node]]
name = "gateway"

[[dect]]
name = "air"
terminal = "mobile"
gateway = "gateway"
warm_up = "10s"
radio_fixed_parts = 3
carriers = 10
connection = { target_bearers = 10, minimum_bearers = 1, modification_threshold = 4 }

[dect.errors]
good_to_bad = 0.02
bursts = [{ start = "20s", duration = "1s", factor = 10 }]

[dect.procedures]
bearer_handover_timer_frames = 300
setup_attempts = 10

[dect.dlc]
service = "lu2"
window_fragments = 63
discard_timer_frames = 20

[[dect.terminals]]
type = "p32"
offered_erlang = 105
mean_duration = "120s"

[[flow]]
name = "up"
from = "mobile"
to = "gateway"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "512B", interval = "50ms" }
"#;

reports! {
    more_bearers_than_channels: "target_bearers = 10" => "target_bearers = 121";
    more_fixed_bearers_than_channels: "carriers = 10" => "carriers = 2\nfixed_bearers = 25";
    fixed_bearers_beside_a_connection: "carriers = 10" => "carriers = 10\nfixed_bearers = 10";
    minimum_above_target: "minimum_bearers = 1" => "minimum_bearers = 11";
    threshold_above_target: "modification_threshold = 4" => "modification_threshold = 11";
    dect_probability_above_one: "good_to_bad = 0.02" => "good_to_bad = 2";
    bit_error_ratio_above_one: "good_to_bad = 0.02" => "good_to_bad = 0.02\nber_factor = 1000";
    bit_error_ratio_above_one_in_a_burst: "factor = 10 }]" => "factor = 1000 }]";
    more_bearers_than_slot_pairs: "setup_attempts = 10" => "setup_attempts = 10\ntransceivers = \"one_per_slot_pair\"\n[dect.data_terminals]\ntarget_bearers = 13\n[[dect.terminals]]\ntype = \"data\"\noffered_erlang = 1";
    timer_of_zero_frames: "bearer_handover_timer_frames = 300" => "bearer_handover_timer_frames = 0";
    dlc_timer_of_zero_frames: "discard_timer_frames = 20" => "discard_timer_frames = 0";
    no_attempts: "setup_attempts = 10" => "setup_attempts = 0";
    no_radio_fixed_part: "radio_fixed_parts = 3" => "radio_fixed_parts = 0";
    eleven_carriers: "carriers = 10" => "carriers = 11";
    unknown_terminal_type: "type = \"p32\"" => "type = \"p23\"";
    negative_traffic: "offered_erlang = 105" => "offered_erlang = -1";
    calls_without_duration: "mean_duration = \"120s\"" => "mean_duration = \"0s\"";
    durations_twice: "mean_duration = \"120s\"" => "mean_duration = \"120s\"\ndurations = [{ weight = 1, duration = \"60s\" }]";
    terminals_twice: "[[dect.terminals]]" => "[[dect.terminals]]\ntype = \"p32\"\noffered_erlang = 1\n[[dect.terminals]]";
    the_terminal_is_its_gateway: "gateway = \"gateway\"" => "gateway = \"mobile\"";
    warm_up_after_the_end: "warm_up = \"10s\"" => "warm_up = \"60s\"";
    window_too_wide: "window_fragments = 63" => "window_fragments = 128";
    mtu_above_window: "carriers = 10" => "carriers = 10\nmtu = \"1826B\"";
    default_mtu_above_window: "window_fragments = 63" => "window_fragments = 50";
    burst_after_the_end: "start = \"20s\"" => "start = \"60s\"";
    burst_in_no_frame_before_the_end: "start = \"20s\"" => "start = \"59.995s\"";
    load_factor_makes_too_much_traffic: "carriers = 10" => "carriers = 10\nload_factor = 1000";
    load_factor_out_of_range: "carriers = 10" => "carriers = 10\nload_factor = 1001";
    overlapping_bursts: "factor = 10 }]" => "factor = 10 }, { start = \"20.5s\", duration = \"1s\", factor = 2 }]";
    burst_between_frames: "duration = \"1s\"" => "duration = \"0s\"";
    lu1_with_settings_of_lu2: "service = \"lu2\"" => "service = \"lu1\"";
    unknown_service: "service = \"lu2\"" => "service = \"lu3\"";
}

#[test]
fn settings_of_what_is_not_there_are_refused() {
    let cases = [
        (
            "[dect.procedures]",
            "[dect.data_terminals]\ntarget_bearers = 5\n[dect.procedures]",
            "there are no other terminals of type `data`",
        ),
        (
            "radio_fixed_parts = 3",
            "radio_fixed_parts = 1\nhandovers = { cell_time = \"5s\" }",
            "there is no other cell to go to",
        ),
    ];
    for (good, bad, said) in cases {
        let report = refusal::report_on(GOOD, good, bad);
        assert!(report.contains(said), "{report}");
    }
    let alone = GOOD
        .replace("[[dect.terminals]]\ntype = \"p32\"\noffered_erlang = 105\nmean_duration = \"120s\"\n", "");
    let handovers = "radio_fixed_parts = 3\nhandovers = { other_terminals_interval = \"5s\" }";
    let report = refusal::report_on(&alone, "radio_fixed_parts = 3", handovers);
    assert!(report.contains("without `terminals` there are no other terminals"), "{report}");
    // Ten bearers that nothing touches: of the settings of GOOD, two of procedures are left without effect,
    // and any more.
    let connection = "connection = { target_bearers = 10, minimum_bearers = 1, modification_threshold = 4 }";
    let fixed = alone.replace(connection, "fixed_bearers = 10");
    let others =
        "[dect.channel_list]\nidle_seen_quiet = 0.9\n[dect.handovers]\nneed_bad = 0.1\ncell_time = \"1h\"\n";
    let said = "no procedure applies";
    for (text, count) in
        [(fixed.clone(), 2), (fixed.replace("[dect.dlc]", &format!("{others}[dect.dlc]")), 5)]
    {
        let report = refusal::refuse(&text);
        assert_eq!(report.matches(said).count(), count, "{report}");
    }
    // They are those of other terminals, where there are any.
    let text = GOOD.replace(connection, "fixed_bearers = 10");
    assert!(Scenario::parse(&text, "dect", Format::Toml, &[]).is_ok());
}

fn outcome(text: &str, trace: Trace) -> Outcome {
    let scenario = Scenario::parse(text, "dect", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("it runs")
}

/// A column of a table as numbers.
fn column(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.name == table).expect("the table");
    match &table.columns.iter().find(|c| c.name == column).expect("the column").values {
        Values::Float(values) => values.clone(),
        Values::Integer(values) => values.iter().map(|&value| value as f64).collect(),
        Values::Text(_) => panic!("numbers were expected"),
    }
}

/// Two TCP transfers without end, one each way, over ten bearers for ever; `errors` and `dlc` are inline
/// tables.
fn saturated(seconds: u32, errors: &str, dlc: &str) -> String {
    let flow = |from, to| {
        format!(
            r#"
[[flow]]
name = "from {from}"
from = "{from}"
to = "{to}"
transport = {{ protocol = "tcp", variant = "reno", mss = "512B", delayed_ack = false, receive_window = "16KiB", window_scaling = false, min_rto = "2s", initial_rto = "3s" }}
application = {{ kind = "bulk" }}
"#
        )
    };
    format!(
        r#"
[scenario]
name = "saturated"
duration = "{seconds}s"
ip = "ipv4"
[[node]]
name = "mobile"
[[node]]
name = "gateway"
[[dect]]
name = "air"
terminal = "mobile"
gateway = "gateway"
fixed_bearers = 10
errors = {errors}
dlc = {dlc}
{}{}"#,
        flow("mobile", "gateway"),
        flow("gateway", "mobile")
    )
}

/// Delivered segments of 512 octets a second, of each direction.
fn segments_per_s(outcome: &Outcome) -> Vec<f64> {
    column(outcome, "flows", "goodput_bps").iter().map(|bps| bps / 8.0 / 512.0).collect()
}

#[test]
fn without_errors_both_directions_share_the_bearers_with_acknowledgements() {
    // 1000 fragments a second each way; a segment takes 20, and the acknowledgement that the other direction
    // sends for it takes 2 of the same queue: 1000 / 22 = 45.4545 segments a second. Slow start up to 32
    // segments and what is under way at the end cost less than 2 s of 2000: 0.1 %.
    let outcome =
        outcome(&saturated(2000, "{ ber_good = 0, ber_bad = 0 }", "{ service = \"lu2\" }"), Trace::default());
    for rate in segments_per_s(&outcome) {
        assert!((rate - 45.4545).abs() < 0.046, "{rate}");
    }
    assert_eq!(column(&outcome, "dect", "mean_bearers"), [10.0]);
    assert_eq!(column(&outcome, "dect", "retransmission_requests_up"), [0.0]);
    let ratio = column(&outcome, "dect", "received_per_bearer_frame_up")[0];
    assert!((ratio - 1.0).abs() < 0.001, "{ratio}");
}

#[test]
fn the_loop_of_acknowledgements_limits_the_window() {
    // 63 fragments in every 8 frames of 10 bearers: 7.875 a frame, 787.5 / 22 = 35.795 segments a second.
    let dlc = "{ service = \"lu2\", acknowledgement_delay_frames = 8 }";
    let outcome = outcome(&saturated(2000, "{ ber_good = 0, ber_bad = 0 }", dlc), Trace::default());
    for rate in segments_per_s(&outcome) {
        assert!((rate - 35.795).abs() < 0.036, "{rate}");
    }
}

#[test]
fn messages_and_time_series_are_recorded() {
    let mut trace = Trace::default();
    ["bearers", "dlc_queue", "backlog", "occupancy", "messages"]
        .iter()
        .for_each(|kind| assert!(trace.add(kind)));
    let outcome = outcome(GOOD, trace);
    // A message a 50 ms from 0 on: 552 octets in 20 fragments.
    let generated = column(&outcome, "messages", "generated_s");
    let delivered = column(&outcome, "messages", "delivered_s");
    assert!(generated.len() > 1100, "{}", generated.len());
    assert!(generated.iter().zip(&delivered).all(|(from, to)| to - from > 0.0099));
    let columns = &outcome.tables.iter().find(|table| table.name == "samples").expect("samples").columns;
    let text = |number: usize| match &columns[number].values {
        Values::Text(values) => values,
        _ => panic!("column {number} is text"),
    };
    let recorded = |quantity: &str, from: &str, to: &str| {
        let wanted = [(1, "dect"), (2, "air"), (3, from), (4, to), (5, quantity)];
        (0..text(1).len()).any(|row| wanted.iter().all(|&(number, word)| &text(number)[row] == word))
    };
    assert!(recorded("bearers", "mobile", "gateway"));
    assert!(recorded("dlc_queue", "mobile", "gateway") && recorded("dlc_queue", "gateway", "mobile"));
    assert!(!recorded("bearers", "gateway", "mobile"));
    assert!(column(&outcome, "samples", "time_s").is_sorted());
    // The terminal's bearers and the telephones' are in the log, none longer than the run.
    let until = column(&outcome, "dect_occupancy", "until_s");
    let from = column(&outcome, "dect_occupancy", "from_s");
    assert!(from.iter().zip(&until).all(|(from, until)| from < until && *until <= 60.0));
    assert!(from.len() > 50, "{}", from.len());
}

/// The longest time between two acknowledgements that reach the terminal's sender, from 20 s on, in frames.
fn longest_silence(text: &str) -> f64 {
    let mut trace = Trace::default();
    assert!(trace.add("segments"));
    let outcome = outcome(text, trace);
    let table = outcome.tables.iter().find(|table| table.name == "segments").expect("segments");
    let words = |name: &str| match &table.columns.iter().find(|column| column.name == name).unwrap().values {
        Values::Text(words) => words.to_vec(),
        _ => panic!("{name} is no text"),
    };
    let (flows, events) = (words("name"), words("event"));
    let times: Vec<f64> = column(&outcome, "segments", "time_s")
        .into_iter()
        .zip(flows.iter().zip(&events))
        .filter(|&(time, (flow, event))| flow == "from mobile" && event == "acknowledged" && time >= 20.0)
        .map(|(time, _)| time)
        .collect();
    assert!(times.len() > 1000, "{}", times.len());
    times.windows(2).map(|two| (two[1] - two[0]) * 100.0).fold(0.0, f64::max)
}

#[test]
fn the_order_of_two_windows_in_the_queues_lasts() {
    // Each of the 64 segments that two windows of 32 have under way becomes an acknowledgement at one end
    // and, when that arrives, a segment again, and the queues keep their order: whoever is behind whom stays
    // there. Without errors a cycle over ten bearers is 32 * 22 / 10 = 70.4 frames. Slow start puts a
    // window's segments next to each other. All 32 segments of the one pass while all of the other do, then
    // all acknowledgements: none of these for 32 * 20 / 10 = 64 frames, and until the first is through.
    let errors = "{ ber_good = 0, ber_bad = 0 }";
    let bunched = saturated(60, errors, "{ service = \"lu2\" }");
    let silence = longest_silence(&bunched);
    assert!((64.0..=66.0).contains(&silence), "{silence}");
    // Where segments are let in one by one as they are generated, at 1.05 times of what passes, those of the
    // two ends are mixed: one of the own takes 2 frames, and only a few of the other end's stand together.
    let mixed = bunched.replace(
        "{ kind = \"bulk\" }",
        "{ kind = \"poisson\", packet_size = \"512B\", mean_interval = \"21ms\" }",
    );
    let silence = longest_silence(&mixed);
    assert!(silence < 16.0, "{silence}");
}
