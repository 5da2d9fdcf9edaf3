//! Loss detection and recovery of TCP as a scenario shows them, with times worked out by hand.
//!
//! The path has 50 ms each way. At 100 Mb/s a full segment of 988 octets, 1060 in its packet, takes 84.8 us.
//! An acknowledgement of 72 octets takes 5.8 us, with a SACK block 6.7 us. Data leaves after the handshake,
//! at 100.0 ms.

use crate::outcome::{down_a_pipe, floats, integers, texts};
use roamsim_scenario::run::{Outcome, Trace};

/// A flow for 40 s over the path, with these settings of TCP, application, and further keys of the link.
fn flow(transport: &str, application: &str, link: &str) -> Outcome {
    down_a_pipe("40s", link, transport, application, Trace { segments: true, ..Trace::default() })
}

/// 100 Mb/s, on which these segments are lost.
fn losing(segments: &str) -> String {
    format!(
        "rate = \"100Mb/s\"\ndelay = \"50ms\"\nloss = {{ from = \"server\", model = \"list\", segments = {segments} }}"
    )
}

/// Each retransmission, and each probe of new data: its reason, and when it left in tenths of a millisecond.
fn repeats(outcome: &Outcome) -> Vec<(String, u64)> {
    let (at, reasons) = (floats(outcome, "segments", "time_s"), texts(outcome, "segments", "reason"));
    let events = texts(outcome, "segments", "event");
    (0..at.len())
        .filter(|&row| !reasons[row].is_empty() && &events[row] != "undone")
        .map(|row| (reasons[row].to_owned(), (at[row] * 1e4).round() as u64))
        .collect()
}

fn of(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|&(reason, at)| (reason.to_owned(), at)).collect()
}

#[test]
fn rack_waits_for_three_segments_or_a_quarter_of_the_round_trip() {
    // Segment 15 is the fifth of the second flight, which leaves back to back from 200.104 ms on. The
    // SACK of the third one behind it, 18, comes at 200.104 + 8 x 0.0848 + 100.006 ms.
    let third = flow("stack = \"linux\"", "kind = \"transfer\", size = \"100kB\"", &losing("[15]"));
    assert_eq!(repeats(&third), of(&[("rack", 3008)]));
    // Two segments behind the lost one: a quarter of 100.2 ms behind the round trip, and 2 ms of Linux's
    // timer.
    let early = flow("stack = \"linux\"", "kind = \"transfer\", size = \"2964B\"", &losing("[1]"));
    assert_eq!(repeats(&early), of(&[("rack", 2273)]));
    // Without RACK the segment and the FIN behind the lost one are too few: the timer expires after a second.
    let timer = flow("variant = \"sack\"", "kind = \"transfer\", size = \"2000B\"", &losing("[1]"));
    assert_eq!(repeats(&timer), of(&[("timeout", 11000)]));
}

#[test]
fn the_fin_tells_of_a_lost_tail() {
    // Ten segments and a FIN leave at once. The last one or two segments are lost, and the SACK of the FIN
    // tells RACK of them: again a quarter of the round trip later. The SACK of the first retransmission tells
    // of the second loss. Nothing waits for a probe, which is due at 402 ms, or for the timer. Linux's timer
    // of RACK is 2 ms late.
    for (stack, late) in [("linux", 20), ("rfc", 0)] {
        let stack = format!("stack = \"{stack}\", initial_window = 10");
        let ten = "kind = \"transfer\", size = \"9880B\"";
        let one = flow(&stack, ten, &losing("[10]"));
        assert_eq!(repeats(&one), of(&[("rack", 2259 + late)]), "{stack}");
        let completion_s = 0.2760 + late as f64 * 1e-4;
        assert!((floats(&one, "flows", "completion_time_s")[0] - completion_s).abs() < 1e-4, "{stack}");
        let two = flow(&stack, ten, &losing("[9, 10]"));
        assert_eq!(repeats(&two), of(&[("rack", 2259 + late), ("rack", 3260 + late)]), "{stack}");
    }
}

#[test]
fn probes_and_timeouts_leave_at_their_times_in_an_outage() {
    // A message at 0 s and one at 10 s, into an outage from 9 to 19 s.
    let at = |transport: &str| {
        let link = "rate = \"100Mb/s\"\ndelay = \"50ms\"\noutages = [{ start = \"9s\", duration = \"10s\" }]";
        let application = "kind = \"cbr\", packet_size = \"500B\", interval = \"10s\", stop = \"15s\"";
        repeats(&flow(transport, application, link))
    };
    let waits = ["loss_probe", "timeout", "timeout", "timeout", "timeout", "timeout"];
    let row = |times: &[u64], from: usize| {
        of(&waits[from..].iter().copied().zip(times.iter().copied()).collect::<Vec<_>>())
    };
    // The first segment is acknowledged at once: RTO 100 + 200 ms, before the probe's 400 ms.
    assert_eq!(at("stack = \"linux\""), row(&[103000, 106000, 112000, 124000, 148000, 196000], 0));
    // It is acknowledged after 200 ms: SRTT 300 ms, the probe after 2 x 300 + 200 ms, RTO 1 s.
    assert_eq!(at("stack = \"rfc\""), row(&[108000, 118000, 138000, 178000, 258000], 0));
    assert_eq!(at("variant = \"newreno\""), row(&[110000, 130000, 170000, 250000], 1));
}

#[test]
fn a_pause_costs_one_retransmission_where_a_timeout_is_undone() {
    let pause = "rate = [{ from = \"phone\", constant = \"10Mb/s\" }, { from = \"server\", constant = \"10Mb/s\", \
        steps = [{ at = \"2s\", rate = \"0b/s\" }, { at = \"2700ms\", rate = \"10Mb/s\" }] }]\ndelay = \"50ms\"";
    let bulk = "kind = \"bulk\", stop = \"4s\"";
    for (settings, proof) in [("", "timestamp"), (", frto = false", "timestamp"), (", undo = false", "frto")]
    {
        let outcome = flow(&format!("stack = \"linux\"{settings}"), bulk, pause);
        let count = |name| integers(&outcome, "flows", name)[0];
        assert_eq!((count("timeouts"), count("retransmissions")), (1, 1), "{settings}");
        let (events, reasons) = (texts(&outcome, "segments", "event"), texts(&outcome, "segments", "reason"));
        let proofs: Vec<_> =
            (0..events.len()).filter(|&row| &events[row] == "undone").map(|row| &reasons[row]).collect();
        assert_eq!(proofs, [proof], "{settings}");
    }
    // Without both the whole flight goes again.
    let neither = flow("stack = \"linux\", frto = false, undo = false", bulk, pause);
    assert!(integers(&neither, "flows", "retransmissions")[0] > 200);
}

#[test]
fn limited_transmit_saves_a_small_window_from_the_timer() {
    // Three segments, the first is lost. The first duplicate ACK changes the window and does not count; the
    // second sends a segment, whose ACK another one, whose ACK is the third duplicate: at 200 + 100 + 100 ms.
    let of_three = |limited: bool| {
        let transport = format!(
            "variant = \"newreno\", initial_window = 3, delayed_ack = false, limited_transmit = {limited}"
        );
        repeats(&flow(&transport, "kind = \"transfer\", size = \"20kB\"", &losing("[1]")))
    };
    assert_eq!(of_three(true), of(&[("duplicate_acks", 4004)]));
    assert_eq!(of_three(false), of(&[("timeout", 11000)]));
}

#[test]
fn without_timestamps_only_duplicates_prove_a_repair_needless() {
    // Packets are late by up to 60 ms, longer than the window of a quarter of the round trip.
    let link = "rate = \"10Mb/s\"\ndelay = [{ from = \"phone\", constant = \"20ms\" }, { from = \"server\", \
        constant = \"20ms\", jitter = { distribution = \"uniform\", min = \"0s\", max = \"60ms\" }, reordering = true }]";
    let outcome = flow("stack = \"linux\", timestamps = false", "kind = \"bulk\", stop = \"10s\"", link);
    let (events, reasons) = (texts(&outcome, "segments", "event"), texts(&outcome, "segments", "reason"));
    let proofs: Vec<_> =
        (0..events.len()).filter(|&row| &events[row] == "undone").map(|row| &reasons[row]).collect();
    assert!(proofs.len() > 2 && proofs.iter().all(|proof| *proof == "dsack"), "{proofs:?}");
}

#[test]
fn marks_keep_the_queue_short_where_packets_are_reordered() {
    // Most acknowledgements carry blocks. Were what they tell of in flight, the window would grow with each
    // mark: 0.2 s in the queue, and 6 Mb/s.
    let link = "rate = \"10Mb/s\"\ndelay = [{ from = \"phone\", constant = \"20ms\" }, { from = \"server\", \
        constant = \"20ms\", jitter = { distribution = \"uniform\", min = \"0s\", max = \"30ms\" }, reordering = true }]\n\
        queue = { discipline = \"codel\", packets = 1000, ecn = true }";
    for control in ["cubic", "dctcp"] {
        let transport = format!("stack = \"linux\", ecn = true, variant = \"{control}\"");
        let outcome = flow(&transport, "kind = \"bulk\", stop = \"30s\"", link);
        let goodput_bps = floats(&outcome, "flows", "goodput_bps")[0];
        let waits = floats(&outcome, "queues", "mean_wait_s");
        let wait_s = waits.iter().copied().fold(0.0, f64::max);
        assert!(goodput_bps > 8e6 && wait_s < 0.02, "{control}: {goodput_bps} b/s, {wait_s} s");
    }
}
