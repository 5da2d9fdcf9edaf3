//! What bounds TCP's rate and bursts besides losses, as a scenario shows it: windows, buffers and idle times;
//! and how often a receiver acknowledges.

use crate::outcome::{self, down_a_pipe, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome, Trace};

/// A flow for 20 s over 100 Mb/s and 50 ms each way without losses.
fn flow(transport: &str, application: &str, trace: Trace) -> Outcome {
    down_a_pipe("20s", "rate = \"100Mb/s\"\ndelay = \"50ms\"", transport, application, trace)
}

#[test]
fn a_buffer_at_either_end_bounds_the_rate_to_a_window_for_each_round_trip() {
    let of = |transport: &str| {
        let outcome = flow(transport, "kind = \"bulk\"", Trace::default());
        (floats(&outcome, "flows", "goodput_bps")[0], floats(&outcome, "send_buffers", "limited_s")[0])
    };
    // 64 KiB in each 100.1 ms.
    let bound = 65536.0 * 8.0 / 0.1001;
    let (reader, limited) = of("stack = \"linux\", receive_window = \"64KiB\"");
    assert!((0.94 * bound..bound).contains(&reader), "{reader}");
    assert_eq!(limited, 0.0);
    let (writer, limited) = of("stack = \"linux\", send_buffer = \"64KiB\"");
    assert!((0.92 * bound..bound).contains(&writer), "{writer}");
    assert!(limited > 18.0, "{limited}");
    // Both tune themselves: the path is the limit, 988 of 1060 octets of it.
    let (tuned, _) = of("stack = \"linux\"");
    assert!((0.92 * 93.2e6..93.2e6).contains(&tuned), "{tuned}");
}

#[test]
fn an_idle_time_leaves_what_window_validation_says() {
    // 20 Mb/s for a second, then five seconds of silence: how many segments leave in the first round trip of
    // the second burst? The application has 250 of them.
    let burst = |transport: &str| {
        let application =
            "kind = \"on_off\", rate = \"20Mb/s\", on = \"1s\", off = \"5s\", packet_size = \"988B\"";
        let outcome = flow(transport, application, Trace { segments: true, ..Trace::default() });
        let (at, events) = (floats(&outcome, "segments", "time_s"), texts(&outcome, "segments", "event"));
        (0..at.len()).filter(|&row| &events[row] == "sent" && (6.0..6.099).contains(&at[row])).count()
    };
    // Halved for each of 16 timeouts of 0.3 s, down to the initial window of ten.
    assert_eq!(burst("stack = \"linux\""), 10);
    // RFC 5681's initial window of a segment of 988 octets.
    assert_eq!(burst("stack = \"rfc\""), 4);
    for keeps in [
        "stack = \"linux\", restart_after_idle = false",
        "stack = \"linux\", window_validation = \"rfc7661\"",
    ] {
        assert!((249..=251).contains(&burst(keeps)), "{keeps}");
    }
}

#[test]
fn a_receiver_acknowledges_sixteen_segments_at_once_then_every_second() {
    // The phone sends a SYN-ACK, a FIN, and acknowledgements of 102 segments, or 100 without timestamps.
    for (transport, acknowledgements) in [
        ("stack = \"linux\"", 16 + (102 - 16) / 2),
        ("stack = \"linux\", quick_acks = 0", 102 / 2),
        ("stack = \"rfc\"", 102 / 2),
        ("variant = \"sack\", delayed_ack = false", 100),
    ] {
        let outcome = flow(transport, "kind = \"transfer\", size = \"100kB\"", Trace::default());
        let from = texts(&outcome, "links", "from");
        let phone = (0..2).find(|&row| &from[row] == "phone").expect("its row");
        assert_eq!(integers(&outcome, "links", "sent_packets")[phone], acknowledgements + 2, "{transport}");
    }
}

#[test]
fn an_idle_connection_ends_when_probes_find_nobody() {
    // A request at 0 s is answered by 0.25 s, and the link is cut from then on. Probes after 5, 7 and 9 s of
    // silence; the connection fails after another 2 s, at 11.2 s.
    let text = |duration: &str| {
        format!(
            r#"
[scenario]
name = "idle"
duration = "{duration}"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "pipe"
between = ["server", "phone"]
rate = "100Mb/s"
delay = "50ms"
outages = [{{ start = "1s", duration = "100s" }}]
[[flow]]
name = "f"
from = "phone"
to = "server"
application = {{ kind = "request_response", request_size = "100B", response_size = "100B", think_time = "50s" }}
[flow.transport]
protocol = "tcp"
stack = "linux"
keep_alive = true
keep_alive_time = "5s"
keep_alive_interval = "2s"
keep_alive_probes = 3
"#
        )
    };
    let ending = |duration: &str| {
        let outcome = outcome::of(&text(duration), &[], Options { seed: 1, ..Options::default() });
        texts(&outcome, "flows", "connection")[0].to_owned()
    };
    assert_eq!(ending("11.1s"), "still open");
    assert_eq!(ending("11.4s"), "keep-alive unanswered");
}
