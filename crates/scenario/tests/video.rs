//! Video from end to end: frames from traces and films over a wire, counted where they arrive.

use crate::outcome::{floats, integers};
use roamsim_scenario::run::{Options, Outcome, run};
use roamsim_scenario::{Format, Scenario};

/// A wire of 1 Mb/s and 10 ms, with `link` in its table, and one flow over UDP in IPv4.
fn scenario(link: &str, application: &str) -> String {
    format!(
        "[scenario]\nname = \"video\"\nduration = \"2s\"\nip = \"ipv4\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"wire\"\nbetween = [\"a\", \"b\"]\nrate = \"1Mb/s\"\ndelay = \"10ms\"\n{link}\n\
         [[flow]]\nname = \"film\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
         application = {{ kind = \"video\", packet_size = \"972B\", {application} }}\n"
    )
}

fn parsed(text: &str) -> Scenario {
    let scenario = Scenario::parse(text, "scenario.toml", Format::Toml, &[]);
    scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)))
}

fn outcome(link: &str, application: &str) -> Outcome {
    run(&parsed(&scenario(link, application)), Options::default()).expect("the run succeeds")
}

/// Frames with a deadline in the run, complete, in time, decodable.
fn counts(outcome: &Outcome) -> [u64; 4] {
    ["frames", "complete_frames", "frames_in_time", "decodable_frames"]
        .map(|column| integers(outcome, "video", column)[0])
}

const TRACE: &str = "trace = \"tests/files/film.txt\"";

/// I of 1944 B, P B B P B B of 972, 100, 100, 972, 100 and 100 B, 40 ms apart.
#[test]
fn a_trace_is_sent_frame_by_frame() {
    let outcome = outcome("", TRACE);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [4288]);
    assert_eq!(floats(&outcome, "flows", "sent_packets"), [8.0]);
    assert_eq!(counts(&outcome), [7, 7, 7, 7]);
    // 972 B and 28 B of headers take 8 ms, 128 B 1.024 ms; the I frame has two packets, one behind the other.
    // Mean of 26, 18, 11.024, 11.024, 18, 11.024, 11.024 ms: 106.096 / 7.
    let mean_s = floats(&outcome, "video", "mean_frame_delay_s")[0];
    assert!((mean_s - 0.106_096 / 7.0).abs() < 1e-12, "{mean_s}");
    // Transit times: 18, 26, 18, 11.024, 11.024, 18, 11.024, 11.024 ms. RFC 3550, A.8, J += (|D| - J) / 16:
    // 0.5, 0.96875, 1.34420..., with D = 8, 8, 6.976, 0, 6.976, 6.976, 0 ms.
    let jitter_ms = [8.0, 8.0, 6.976, 0.0, 6.976, 6.976, 0.0].iter().fold(0.0, |j, d| j + (d - j) / 16.0);
    assert!((floats(&outcome, "flows", "jitter_s")[0] * 1e3 - jitter_ms).abs() < 1e-9);
}

#[test]
fn a_lost_packet_spoils_what_is_decoded_from_its_frame() {
    // The third packet is the first P frame: both B frames behind it need it, and the second P frame, and its
    // B frames.
    let outcome = outcome("loss = { from = \"a\", model = \"list\", segments = [3] }", TRACE);
    assert_eq!(counts(&outcome), [7, 6, 6, 1]);
    assert_eq!(integers(&outcome, "video", "lost_frames"), [1]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [1.0]);
    assert_eq!(floats(&outcome, "flows", "loss_ratio"), [0.125]);
}

#[test]
fn a_frame_that_is_late_is_not_in_time() {
    // Only the I frame takes more than 20 ms.
    let outcome = outcome("", &format!("{TRACE}, playout_delay = \"20ms\""));
    assert_eq!(counts(&outcome), [7, 7, 6, 0]);
}

#[test]
fn a_queue_drops_the_end_of_a_burst() {
    // Three packets at once: one is being sent, one waits, the third is dropped. Spread, they come 13.3 ms
    // apart.
    let trace = "content = \"2916\\n0\\n972\"";
    let queue = "queue = { packets = 1 }";
    assert_eq!(counts(&outcome(queue, trace)), [2, 1, 1, 1]);
    assert_eq!(counts(&outcome(queue, &format!("{trace}, spread = true"))), [2, 2, 2, 2]);
}

#[test]
fn a_terse_trace_takes_its_times_and_types_from_keys() {
    let keys = "content = \"500\\n500\\n500\", repeat = true, frame_interval = \"100ms\", group_of_pictures = \"IPP\"";
    // 20 frames from 0 to 1.9 s; the deadline of the last, 150 ms later, is behind the end.
    let whole = outcome("", keys);
    assert_eq!(
        (floats(&whole, "flows", "sent_packets"), counts(&whole)),
        ([20.0].as_slice(), [19, 19, 19, 19])
    );
    // Without the second frame, the third of its group is no use.
    let lossy = outcome("loss = { from = \"a\", model = \"list\", segments = [2] }", keys);
    assert_eq!(counts(&lossy), [19, 18, 18, 17]);
}

#[test]
fn the_canonical_scenario_needs_no_file() {
    let from_file = parsed(&scenario("", TRACE));
    let json = from_file.canonical_json();
    assert!(json.contains("1 I 0 1944\\n2 P 120 972") && !json.contains("film.txt"), "{json}");
    let again = Scenario::parse(&json, "elsewhere", Format::Json, &[]).expect("valid");
    let counts_of = |scenario| counts(&run(scenario, Options::default()).expect("the run succeeds"));
    assert_eq!(counts_of(&again), counts_of(&from_file));
}

#[test]
fn both_directions_of_a_flow_have_films_of_their_own() {
    let text =
        scenario("", "film = \"lecture_room_cam\"").replace("[[flow]]", "[[flow]]\nbidirectional = true");
    let outcome = run(&parsed(&text), Options::default()).expect("the run succeeds");
    let frames = integers(&outcome, "video", "frames");
    assert!(frames.len() == 2 && frames.iter().all(|&frames| frames > 5), "{frames:?}");
    let bytes = integers(&outcome, "flows", "delivered_bytes");
    assert_ne!(bytes[0], bytes[1]);
}
