//! UDP datagrams larger than a packet of their path: fragments, reassembly, losses.

use crate::outcome::{self, floats, integers};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

/// Messages of 5000 octets every 100 ms over 1 Mb/s and 20 ms, for 900 s, and 100 s more.
const MESSAGES: &str = r#"
[scenario]
name = "fragments"
duration = "1000s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Mb/s"
delay = "20ms"
loss = { model = "bernoulli", probability = 0.0 }
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "5000B", interval = "100ms", stop = "900s" }
"#;

fn outcome(overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(MESSAGES, overrides, Options::default())
}

fn only(outcome: &Outcome, column: &str) -> f64 {
    let [value] = floats(outcome, "flows", column) else { panic!("one flow") };
    *value
}

#[test]
fn a_message_arrives_with_its_last_fragment() {
    // IPv4: packets of 1500, 1500, 1500 and 588 octets, 40.704 ms at 1 Mb/s.
    // IPv6: of 1496, 1496, 1496 and 712, each with 8 octets more of header, 41.6 ms.
    for (ip, delay_s) in [("\"ipv4\"", 0.060_704), ("\"ipv6\"", 0.061_6)] {
        let outcome = outcome(&[("scenario.ip", ip)]);
        assert!((only(&outcome, "mean_delay_s") - delay_s).abs() < 1e-12, "{ip}");
        assert_eq!(only(&outcome, "delivered_packets"), 9000.0, "{ip}");
        assert_eq!(only(&outcome, "lost_packets"), 0.0, "{ip}");
        assert_eq!(integers(&outcome, "fragmentation", "fragmented_datagrams"), [9000], "{ip}");
        assert_eq!(integers(&outcome, "fragmentation", "reassembly_timeouts"), [0], "{ip}");
    }
}

#[test]
fn a_message_that_fits_is_not_cut() {
    // 1500 octets less 28 of headers.
    let fits = outcome(&[("flow.0.application.packet_size", "\"1472B\"")]);
    assert!(fits.tables.iter().all(|table| table.name != "fragmentation"));
    let exceeds = outcome(&[("flow.0.application.packet_size", "\"1473B\"")]);
    assert_eq!(integers(&exceeds, "fragmentation", "fragmented_datagrams"), [9000]);
}

#[test]
fn a_message_is_lost_with_any_of_its_fragments() {
    let p = 0.3_f64;
    let outcome = outcome(&[("link.path.loss.probability", "0.3")]);
    let (sent, delivered) = (only(&outcome, "sent_packets"), only(&outcome, "delivered_packets"));
    // Four fragments, three standard errors.
    let within = |count: f64, share: f64| {
        let error = (sent * share * (1.0 - share)).sqrt();
        assert!((count - sent * share).abs() < 3.0 * error, "{count} of {sent}, and {share} are expected");
    };
    let all_four = |share: f64| share * share * share * share;
    within(delivered, all_four(1.0 - p));
    assert_eq!(only(&outcome, "lost_packets"), sent - delivered);
    // The receiver gives up those of which something arrived.
    let [timeouts] = integers(&outcome, "fragmentation", "reassembly_timeouts") else { panic!("one sender") };
    within(sent - delivered - *timeouts as f64, all_four(p));
}

#[test]
fn fragments_that_are_too_far_apart_do_not_meet() {
    // The first fragment arrives 32 ms after it began to be sent, the last 28.704 ms later.
    for (timeout, delivered) in [("\"28ms\"", 0.0), ("\"29ms\"", 9000.0)] {
        let outcome = outcome(&[("flow.0.transport.reassembly_timeout", timeout)]);
        assert_eq!(only(&outcome, "delivered_packets"), delivered, "{timeout}");
        // What is given up is lost, once, though its fragments are given up one by one.
        assert_eq!(only(&outcome, "lost_packets"), only(&outcome, "sent_packets") - delivered, "{timeout}");
    }
}

#[test]
fn a_datagram_has_the_size_that_ip_carries() {
    // 65,535 octets, less the headers of UDP and, with IPv4 alone, of IP.
    for (ip, most_bytes) in [("\"ipv4\"", 65_507), ("\"ipv6\"", 65_527)] {
        let parse = |bytes: u32| {
            let size = ("flow.0.application.packet_size".to_owned(), format!("\"{bytes}B\""));
            Scenario::parse(
                MESSAGES,
                "s.toml",
                Format::Toml,
                &[("scenario.ip".to_owned(), ip.to_owned()), size],
            )
        };
        assert!(parse(most_bytes).is_ok());
        let refusal = parse(most_bytes + 1).expect_err("too large").render(false);
        assert!(refusal.contains(&format!("carries at most {most_bytes} B")), "{refusal}");
    }
}
