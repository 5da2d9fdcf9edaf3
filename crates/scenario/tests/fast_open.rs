//! TCP Fast Open: what it saves where connections are opened, by hand.

use crate::outcome::{self, floats, integers};
use roamsim_scenario::run::{Options, Outcome, Trace};

/// 8 Mb/s, an octet a microsecond, and 10 ms each way.
fn scenario(application: &str, settings: &str) -> String {
    format!(
        r#"
[scenario]
name = "fast-open"
duration = "5s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = "8Mb/s"
delay = "10ms"
[[flow]]
name = "f"
from = "a"
to = "b"
transport = {{ protocol = "tcp", variant = "newreno", mss = "1000B"{settings} }}
application = {{ {application} }}
"#
    )
}

fn outcome(application: &str, settings: &str) -> Outcome {
    let options =
        Options { seed: 1, trace: Trace { messages: true, ..Trace::default() }, ..Options::default() };
    outcome::of(&scenario(application, settings), &[], options)
}

/// Connections that asked for a cookie, that had data on the SYN, and of which the server took it.
fn counts(outcome: &Outcome) -> [u64; 3] {
    ["cookie_requests", "data_on_syn", "data_taken"].map(|name| integers(outcome, "fast_open", name)[0])
}

const TRANSFERS: &str = "kind = \"transfers\", content = \"0 1000\\n1 500\\n2 2980\"";

/// From the arrival of each transfer to its last octet.
fn times(outcome: &Outcome) -> Vec<f64> {
    let [generated, delivered] = ["generated_s", "delivered_s"].map(|name| floats(outcome, "messages", name));
    generated.iter().zip(delivered).map(|(a, b)| b - a).collect()
}

fn assert_times(outcome: &Outcome, expected: [f64; 3]) {
    let times = times(outcome);
    for (time, expected) in times.iter().zip(expected) {
        assert!((time - expected).abs() < 1e-9, "{times:?}");
    }
    assert_eq!(times.len(), 3);
}

/// The first asks for a cookie: SYN 20 + 20 + 4 + 4 + 4 = 52 octets, SYN-ACK 40 + 8 + 12 = 60, data 1040, 10
/// ms each: 31.152 ms.
///
/// The second has its data on the SYN: 40 + 8 + 12 + 500 = 560 octets and 10 ms: 10.56 ms.
///
/// The third has 1000 - 20 = 980 octets there, a packet of 1040. The SYN-ACK has 48 octets, and two segments
/// of 1040 follow: 1.04 + 10 + 0.048 + 10 + 2.08 + 10 = 33.168 ms.
#[test]
fn later_connections_save_the_handshake() {
    let outcome = outcome(TRANSFERS, ", fast_open = true");
    assert_times(&outcome, [0.031_152, 0.010_56, 0.033_168]);
    assert_eq!(counts(&outcome), [1, 2, 2]);
    assert_eq!(integers(&outcome, "flows", "retransmissions")[0], 0);
    assert_eq!(integers(&outcome, "flows", "segments_sent")[0], 1 + 1 + 3);
}

/// SYN and SYN-ACK of 48 octets: 20.096 ms before 540, 1040 or 3100 octets.
#[test]
fn without_it_each_waits_for_its_handshake() {
    let outcome = outcome(TRANSFERS, "");
    assert_times(&outcome, [0.031_136, 0.030_636, 0.033_196]);
    assert!(outcome.tables.iter().all(|table| table.name != "fast_open"));
}

/// All three as the second and third above; the first has 980 octets on the SYN and 20 behind the handshake:
/// 1.04 + 10 + 0.048 + 10 + 0.06 + 10 ms.
#[test]
fn a_cookie_from_before_the_run_serves_the_first_connection_too() {
    let outcome = outcome(TRANSFERS, ", fast_open = true, fast_open_cookie = \"known\"");
    assert_times(&outcome, [0.031_148, 0.010_56, 0.033_168]);
    assert_eq!(counts(&outcome), [0, 3, 3]);
}

/// The first SYN carries 980 octets in vain, and the SYN-ACK a cookie: 1.04 + 10 + 0.06 + 10 + 1.04 + 10 ms.
#[test]
fn a_stale_cookie_costs_the_data_of_one_syn() {
    let outcome = outcome(TRANSFERS, ", fast_open = true, fast_open_cookie = \"stale\"");
    assert_times(&outcome, [0.032_14, 0.010_56, 0.033_168]);
    assert_eq!(counts(&outcome), [0, 3, 2]);
    assert_eq!(integers(&outcome, "flows", "retransmissions")[0], 1);
}

/// A request of 100 octets, an answer of 800. With its cookie the request goes on the SYN, 40 + 20 + 100 =
/// 160 octets. The answer, 840, follows the SYN-ACK, 48: 20 ms and 160 + 48 + 840 us.
///
/// Without, the handshake takes 20.096 ms, and request and answer 140 and 840 octets.
#[test]
fn a_server_answers_before_the_handshake_is_complete() {
    let asks = "kind = \"request_response\", request_size = \"100B\", response_size = \"800B\", think_time = \"60s\"";
    let delay = |settings| floats(&outcome(asks, settings), "flows", "mean_delay_s")[0];
    let with = delay(", fast_open = true, fast_open_cookie = \"known\"");
    assert!((with - 0.021_048).abs() < 1e-9, "{with}");
    let without = delay("");
    assert!((without - 0.041_076).abs() < 1e-9, "{without}");
}

/// Flows of a node to the same server share what they know of it.
#[test]
fn a_second_flow_to_the_server_knows_its_cookie() {
    let second = "[[flow]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\n\
        transport = { protocol = \"tcp\", mss = \"1000B\", fast_open = true }\n\
        application = { kind = \"transfer\", size = \"500B\", start = \"4s\" }\n";
    let text = scenario(TRANSFERS, ", fast_open = true") + second;
    let outcome = outcome::of(&text, &[], Options { seed: 1, ..Options::default() });
    assert_eq!(integers(&outcome, "fast_open", "cookie_requests").to_vec(), [1, 0]);
    let completion_s = floats(&outcome, "flows", "completion_time_s")[1];
    assert!((completion_s - 0.010_56).abs() < 1e-9, "{completion_s}");
}
