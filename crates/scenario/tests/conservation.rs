//! Packets are conserved in any scenario. Every run checks it and fails when they are not: these tests draw
//! the scenarios.

use proptest::prelude::*;
use roamsim_scenario::run::{Options, run};
use roamsim_scenario::{Format, Scenario};

fn application(kind: u8) -> &'static str {
    match kind {
        0 => r#"{ kind = "bulk", stop = "3s" }"#,
        1 => r#"{ kind = "transfer", size = "200kB", start = "100ms" }"#,
        2 => r#"{ kind = "cbr", packet_size = "300B", rate = "700kb/s" }"#,
        3 => r#"{ kind = "poisson", packet_size = "80B", mean_interval = "3ms" }"#,
        4 => {
            r#"{ kind = "request_response", request_size = "100B", response_size = "1200B", think_time = "5ms", processing_time = "10ms" }"#
        }
        _ => {
            r#"{ kind = "on_off", packet_size = "500B", rate = "2Mb/s", on = { distribution = "exponential", mean = "50ms" }, off = "30ms" }"#
        }
    }
}

fn transport(kind: u8, protocol: u8) -> &'static str {
    match (protocol, kind % 2) {
        (0, _) if kind >= 2 => r#"{ protocol = "udp" }"#,
        (1, 0) => r#"{ protocol = "sctp", streams = 3, ordered = false, rto_min = "200ms" }"#,
        (1, _) => r#"{ protocol = "sctp", rules = "rfc2960", mtu = "600B", sack_frequency = 1 }"#,
        (_, 0) => r#"{ protocol = "tcp", variant = "reno", mss = "700B" }"#,
        (_, _) => r#"{ protocol = "tcp", variant = "newreno", min_rto = "200ms", timestamps = true }"#,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn packets_are_conserved(
        rate_kbps in 50u32..20_000,
        delay_us in 0u32..60_000,
        queue in 1u32..60,
        loss in 0.0f64..0.6,
        outage_ms in 1u32..1500,
        wifi in any::<bool>(),
        flows in proptest::collection::vec((0u8..6, 0u8..3, any::<bool>()), 1..5),
        signalling_over in 0usize..3,
        seed in any::<u64>(),
    ) {
        let mut text = format!(r#"
[scenario]
name = "drawn"
duration = "5s"
[[node]]
name = "mn"
[[node]]
name = "router"
[[node]]
name = "host"
[[link]]
name = "wire"
between = ["router", "host"]
rate = "{rate_kbps}kb/s"
delay = "{delay_us}us"
queue = {{ packets = {queue} }}
loss = {{ model = "bernoulli", probability = {loss}, start = "1s" }}
outages = [{{ start = "2s", duration = "{outage_ms}ms" }}]
"#);
        text += match wifi {
            true => "[[wifi]]\nname = \"cell\"\naccess_point = \"router\"\nstations = [\"mn\"]\nqueue = { packets = 5 }\n",
            false => "[[link]]\nname = \"access\"\nbetween = [\"mn\", \"router\"]\nrate = \"5Mb/s\"\ndelay = \"1ms\"\n",
        };
        for (number, &(kind, protocol, up)) in flows.iter().enumerate() {
            let (from, to) = if up { ("mn", "host") } else { ("host", "mn") };
            text += &format!(
                "[[flow]]\nname = \"f{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {}\napplication = {}\n",
                transport(kind, protocol),
                application(kind),
            );
        }
        let over = ["udp", "tcp", "sctp"][signalling_over];
        text += &format!(
            "[[signalling]]\nname = \"s\"\nkind = \"request\"\nfrom = \"host\"\nto = \"mn\"\n\
             transport = {{ protocol = \"{over}\" }}\nmessage_size = \"200B\"\ninterval = \"20ms\"\n\
             processing_time = \"5ms\"\nacknowledgement = {{ timeout = \"50ms\" }}\nstart = \"500ms\"\n"
        );
        let scenario = Scenario::parse(&text, "drawn", Format::Toml, &[]);
        let scenario = scenario.map_err(|diagnostics| TestCaseError::fail(diagnostics.render(false)))?;
        let outcome = run(&scenario, Options { seed, ..Options::default() });
        let outcome = outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(outcome.events > 100);
    }
}
