//! `--set PATH=VALUE`: what can be set, and that it is set.

use roamsim_engine::{Span, Time};
use roamsim_scenario::access::queue::{Limit, Queue};
use roamsim_scenario::access::wire::model::LossModel;
use roamsim_scenario::distribution::model::TimeDistribution;
use roamsim_scenario::dscp::Dscp;
use roamsim_scenario::transport::Transport;
use roamsim_scenario::transport::tcp::model::TcpVariant;
use roamsim_scenario::{Diagnostics, Format, Scenario};

const TEXT: &str = r#"
[scenario]
name = "overrides"
duration = "10s"
[[node]]
name = "a"
[[node]]
name = "b.c"
[[link]]
name = "path"
between = ["a", "b.c"]
rate = "10Mb/s"
delay = "10ms"
loss = [{ from = "a", model = "bernoulli", probability = 0.1 }, { from = "b.c", model = "bernoulli", probability = 0.2 }]
[[flow]]
name = "1"
from = "a"
to = "b.c"
transport = { protocol = "tcp" }
application = { kind = "bulk" }
[[flow]]
name = "0"
from = "b.c"
to = "a"
transport = { protocol = "udp" }
application = { kind = "request_response", request_size = "100B", response_size = "100B", think_time = "1s" }
"#;

fn set(overrides: &[(&str, &str)]) -> Result<Scenario, Diagnostics> {
    let overrides: Vec<_> = overrides.iter().map(|(p, v)| (p.to_string(), v.to_string())).collect();
    Scenario::parse(TEXT, "scenario.toml", Format::Toml, &overrides)
}

fn ok(overrides: &[(&str, &str)]) -> Scenario {
    set(overrides).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_value_is_set_by_name_and_by_index() {
    assert_eq!(ok(&[("link.path.rate", "2Mb/s")]).links[0].rate[0].constant_bps, Some(2_000_000));
    assert_eq!(ok(&[("link.0.rate", "\"2Mb/s\"")]).links[0].rate[0].constant_bps, Some(2_000_000));
    let losses = ok(&[("link.path.loss.1.probability", "0.5")]).links[0].loss.clone();
    assert_eq!(losses[0].model, LossModel::Bernoulli { probability: 0.1 });
    assert_eq!(losses[1].model, LossModel::Bernoulli { probability: 0.5 });
    // A whole number is a probability as well.
    let losses = ok(&[("link.path.loss.1.probability", "0")]).links[0].loss.clone();
    assert_eq!(losses[1].model, LossModel::Bernoulli { probability: 0.0 });
}

#[test]
fn a_name_goes_before_an_index() {
    // The second flow is called "0", the first "1".
    let scenario = ok(&[("flow.1.application.start", "3s"), ("flow.0.application.start", "4s")]);
    assert_eq!(
        scenario.flows[0].application.start(),
        TimeDistribution::Constant { value: Span::from_secs(3) }
    );
    assert_eq!(
        scenario.flows[1].application.start(),
        TimeDistribution::Constant { value: Span::from_secs(4) }
    );
}

#[test]
fn keys_that_the_file_leaves_out_can_be_set() {
    let scenario = ok(&[
        ("scenario.ip", "ipv4"),
        ("link.path.queue.bytes", "64kB"),
        ("flow.1.transport.variant", "reno"),
        ("flow.1.transport.nagle", "false"),
        ("flow.1.transport.initial_window", "4"),
    ]);
    assert_eq!(scenario.links[0].queue, Some(Queue::DropTail(Limit::Bytes(64_000))));
    // What only begins like a list or a string is a text.
    for name in ["[draft] t", "\"A\" t", "'s-Gravenhage", "{x} t"] {
        assert_eq!(ok(&[("scenario.name", name)]).general.name, name);
    }
    let Transport::Tcp(tcp) = &*scenario.flows[0].transport else { panic!("TCP was written") };
    assert_eq!((tcp.variant, tcp.nagle, tcp.initial_window_segments), (TcpVariant::RENO, false, Some(4)));
}

#[test]
fn tables_and_lists_can_be_set_as_a_whole() {
    let scenario = ok(&[
        ("flow.0.application.think_time", "{ distribution = \"exponential\", mean = \"2s\" }"),
        ("link.path.outages", "[{ start = \"1s\", duration = \"1s\" }]"),
        ("link.path.loss", "{ model = \"bernoulli\", probability = 1 }"),
        // Later ones see what earlier ones set.
        ("link.path.outages.0.start", "5s"),
        ("link.path.loss.probability", "0.25"),
    ]);
    let json = scenario.canonical_json();
    assert!(json.contains(r#""think_time":{"distribution":"exponential","mean":"2s"}"#), "{json}");
    assert_eq!(scenario.links[0].outages[0].start, Time::ZERO + Span::from_secs(5));
    assert_eq!(scenario.links[0].loss[0].model, LossModel::Bernoulli { probability: 0.25 });
    let scenario = ok(&[("flow.0.application.processing_time", "20ms")]);
    let roamsim_scenario::application::model::Application::RequestResponse(app) =
        &scenario.flows[1].application
    else {
        panic!("request_response was written")
    };
    assert_eq!(app.processing_time, TimeDistribution::Constant { value: Span::from_ms(20) });
}

#[test]
fn one_value_is_set_at_several_places() {
    let marked = |path: &str| {
        let scenario = ok(&[(path, "ef")]);
        scenario.flows.iter().map(|flow| flow.dscp != Dscp::default()).collect::<Vec<_>>()
    };
    assert_eq!(marked("flow.*.dscp"), [true, true]);
    assert_eq!(marked("flow.1*.dscp"), [true, false]);
    assert_eq!(marked("flow.1.dscp+flow.0.dscp"), [true, true]);
    // A pattern may stand where a list of elements without names is.
    let losses = ok(&[("link.pa*h.loss.*.probability", "0.5")]).links[0].loss.clone();
    assert!(losses.iter().all(|loss| loss.model == LossModel::Bernoulli { probability: 0.5 }));
    let told = set(&[("flow.2*.dscp", "ef")]).expect_err("no such flow").render(false);
    assert!(told.contains("`flow` has no element whose name matches `2*`"), "{told}");
    // In quotes both are letters.
    let told = set(&[("flow.\"1+0\".dscp", "ef")]).expect_err("no such flow").render(false);
    assert!(told.contains("has no element `1+0`"), "{told}");
    let told = set(&[("flow.\"*\".dscp", "ef")]).expect_err("no such flow").render(false);
    assert!(told.contains("has no element `*`"), "{told}");
}

#[test]
fn patterns_name_copies_and_their_pattern() {
    let text = TEXT.replace("name = \"1\"", "name = \"copy{i}\"\ncount = 3");
    let marked = |path: &str| {
        let overrides = [(path.to_owned(), "ef".to_owned())];
        let scenario = Scenario::parse(&text, "scenario.toml", Format::Toml, &overrides).expect("valid");
        scenario.flows.iter().map(|flow| flow.dscp != Dscp::default()).collect::<Vec<_>>()
    };
    assert_eq!(marked("flow.copy*.dscp"), [true, true, true, false]);
    assert_eq!(marked("flow.copy1.dscp+flow.0.dscp"), [false, true, false, true]);
}

#[test]
fn a_name_with_a_dot_is_quoted_and_dates_are_text() {
    let scenario = ok(&[("scenario.name", "2026-01-01"), ("node.\"b.c\".name", "b.c")]);
    assert_eq!(scenario.general.name, "2026-01-01");
    assert_eq!(scenario.nodes[1].name, "b.c");
}

#[test]
fn the_canonical_text_follows_the_values_and_not_the_notation() {
    assert_eq!(
        ok(&[("link.path.rate", "10Mb/s")]).canonical_json(),
        ok(&[]).canonical_json(),
        "setting what is there changes nothing"
    );
    assert_ne!(ok(&[("link.path.rate", "11Mb/s")]).canonical_json(), ok(&[]).canonical_json());
}

#[test]
fn bad_paths_are_refused() {
    for (path, value, expected) in [
        ("link.pth.rate", "1Mb/s", "did you mean `path`"),
        ("link.7.rate", "1Mb/s", "has no element `7`"),
        ("node.b.c.name", "d", "Its elements: `a` or `\"b.c\"`, or their numbers from 0"),
        ("link.path.loss", "{ model = \"bernoulli\"", "this table has no closing `}`"),
        ("link.path.between", "[\"a\",", "this list has no closing `]`"),
        ("link.path.rate.fast", "1", "is a string, so nothing can be set inside it"),
        ("link..rate", "1Mb/s", "a key is missing here"),
        ("", "1", "a key is missing here"),
        ("link.path.", "1", "a key is missing here"),
        ("node.\"b.c.name", "x", "never closed"),
        ("node.\"b.c\"name", "x", "a dot is missing"),
        ("link.path.bandwith", "1Mb/s", "did you mean `rate`"),
        ("lnk.path.rate", "1Mb/s", "did you mean `link`"),
        ("link.path.delay", "10", "`10` has no unit"),
        ("link.path.loss.0.probability", "1.5", "1.5 is not a probability"),
        ("link.path.between.1", "c", "there is no node \"c\""),
    ] {
        let report = set(&[(path, value)]).expect_err(path).to_string();
        assert!(report.contains(expected), "{path}={value}:\n{report}");
        assert!(report.contains(&format!("{path}={value}")), "the override is not shown:\n{report}");
        assert!(report.contains("[--set:1:"), "{report}");
    }
}
