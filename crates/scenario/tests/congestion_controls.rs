//! Every row of the table of congestion controls, over TCP and over QUIC: scenarios name it, runs have it,
//! and errors and reference list it. No test here names a control, so a new row is tested as it stands.

use crate::outcome::{self, integers, texts};
use crate::refusal;
use roamsim_protocols::tcp::Variant;
use roamsim_protocols::tcp::congestion::Kind;
use roamsim_protocols::tcp::congestion::keys::{Choice, Key, Own, Value};
use roamsim_scenario::run::Options;
use roamsim_scenario::schema_pages;
use roamsim_scenario::transport::quic::model::QuicCongestionControl;
use std::collections::BTreeSet;

const GOOD: &str = r#"
[scenario]
name = "controls"
duration = "60s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "10Mb/s"
delay = "20ms"
loss = { model = "bernoulli", probability = 0.01 }
[[flow]]
name = "f"
from = "a"
to = "b"
transport = "TRANSPORT"
application = { kind = "transfer", size = "500kB" }
"#;

/// The rows that users name. Classes in Python are behind the other one.
fn named() -> impl Iterator<Item = Kind> {
    Kind::ALL.iter().copied().filter(|kind| kind.about().is_some())
}

/// What runs call the sender of a transfer with such settings, which is complete.
fn sender(transport: &str) -> String {
    let text = GOOD.replace("\"TRANSPORT\"", &format!("{{ {transport} }}"));
    let outcome = outcome::of(&text, &[], Options { seed: 1, ..Options::default() });
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [500_000], "{transport}");
    assert!(integers(&outcome, "flows", "retransmissions")[0] > 0, "{transport}");
    texts(&outcome, "flows", "variant").iter().next().expect("a flow").to_owned()
}

/// The ways to name a control over TCP: by a variant, by `congestion_control`, or by a key of another
/// control. Each with the variant that has it.
fn ways(kind: Kind) -> Vec<(String, &'static str)> {
    let mut ways = Vec::new();
    for variant in Variant::ALL.iter().filter(|variant| variant.congestion() == kind) {
        ways.push((format!("variant = \"{variant}\""), variant.name()));
        if variant.permits_sack() {
            ways.push((
                format!("variant = \"sack\", congestion_control = \"{}\"", kind.name()),
                variant.name(),
            ));
        }
    }
    if let Some(Choice { instead_of, key, value }) = kind.chosen_by() {
        ways.push((format!("variant = \"{instead_of}\", {} = {}", key.name, key.text(value)), instead_of));
    }
    ways
}

fn ecn(kind: Kind) -> &'static str {
    if kind.counts_marks() { ", ecn = true" } else { "" }
}

#[test]
fn every_control_runs_over_tcp() {
    for kind in named() {
        let ways = ways(kind);
        assert!(!ways.is_empty(), "no scenario names {kind:?} over TCP");
        for (way, variant) in ways {
            assert_eq!(sender(&format!("protocol = \"tcp\", {way}{}", ecn(kind))), variant, "{way}");
        }
    }
}

#[test]
fn every_control_runs_over_quic() {
    for kind in named() {
        let transport = format!("protocol = \"quic\", congestion_control = \"{}\"{}", kind.name(), ecn(kind));
        assert_eq!(sender(&transport), kind.name());
    }
}

/// The words of the help for such a key.
fn listed(transport: &str) -> BTreeSet<String> {
    let report = refusal::report_on(GOOD, "\"TRANSPORT\"", &format!("{{ {transport} }}"));
    let (_, help) = report.split_once("help: ").expect("a help");
    help.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).map(str::to_owned).collect()
}

#[test]
fn errors_list_every_control() {
    let quic = listed("protocol = \"quic\", congestion_control = \"nonesuch\"");
    let by_key = listed("protocol = \"tcp\", congestion_control = \"nonesuch\"");
    let variants = listed("protocol = \"tcp\", variant = \"nonesuch\"");
    for kind in named() {
        assert!(quic.contains(kind.name()), "{kind:?}: {quic:?}");
        match kind.chosen_by() {
            Some(Choice { key, value, .. }) => {
                let words = listed(&format!("protocol = \"tcp\", {} = \"nonesuch\"", key.name));
                assert!(words.contains(key.text(value).trim_matches('"')), "{kind:?}: {words:?}");
            }
            None => {
                let is_listed = by_key.contains(kind.name()) || variants.contains(kind.name());
                assert!(is_listed, "{kind:?}: {by_key:?}, {variants:?}");
            }
        }
    }
}

/// Every key that a named control declares.
fn declared() -> impl Iterator<Item = (Kind, &'static Key)> {
    named().flat_map(|kind| kind.keys().iter().map(move |key| (kind, key)))
}

/// A key with a value, as a setting.
fn written(key: &Key, value: u32) -> String {
    let setting = format!("{} = {}", key.name, key.text(value));
    key.table.map_or(setting.clone(), |table| format!("{} = {{ {setting} }}", table.name))
}

/// Every value of a key but its default; of a number one far above it, where that goes with the other keys.
fn others(kind: Kind, key: &Key) -> Vec<u32> {
    let fits = |value: &u32| kind.fault(&Own::default().with(key, *value)).is_none();
    match key.value {
        Value::Switch { default } => vec![u32::from(!default)],
        Value::Number { default } => {
            vec![[100, 1].map(|more| default + more).into_iter().find(fits).expect("a value")]
        }
        Value::Word { words, .. } => (1..words.len() as u32).collect(),
    }
}

/// The packets of a download of 20 s through a classic queue that marks, with a few losses.
fn packets(transport: &str) -> u64 {
    let text = GOOD
        .replace("\"TRANSPORT\"", &format!("{{ {transport} }}"))
        .replace("0.01 }", "0.001 }\nqueue = { discipline = \"codel\", ecn = true }")
        .replace("\"transfer\", size = \"500kB\"", "\"bulk\"");
    let options = Options { seed: 1, fingerprints: true, ..Options::default() };
    let outcome = outcome::of(&text, &[("scenario.duration", "20s")], options);
    outcome.fingerprints.expect("asked for").packets
}

fn over_quic(kind: Kind) -> String {
    format!("protocol = \"quic\", congestion_control = \"{}\"{}", kind.name(), ecn(kind))
}

#[test]
fn keys_of_a_control_act_over_quic() {
    for (kind, key) in declared() {
        let transport = over_quic(kind);
        let by_default = packets(&transport);
        assert_eq!(packets(&format!("{transport}, {}", written(key, key.default()))), by_default, "{key:?}");
        for value in others(kind, key).into_iter().filter(|value| kind.only_traced() != Some((key, *value))) {
            let setting = written(key, value);
            assert_ne!(packets(&format!("{transport}, {setting}")), by_default, "{setting}");
        }
    }
}

/// What takes the place of another control by a key has a name of its own over QUIC.
#[test]
fn a_control_that_is_chosen_by_a_key_is_the_same_by_its_name() {
    for kind in named() {
        let Some(Choice { instead_of, key, value }) = kind.chosen_by() else { continue };
        let other = named().find(|other| other.name() == instead_of).expect("a control");
        let by_key = packets(&format!("{}, {}", over_quic(other), written(key, value)));
        assert_eq!(by_key, packets(&over_quic(kind)), "{kind:?}");
        // It heeds the keys of the other, but for this one.
        let refused = report(&format!("{}, {}", over_quic(kind), written(key, value)));
        assert!(refused.contains("has no effect with"), "{refused}");
        for own in other.keys().iter().filter(|own| *own != key) {
            let own = written(own, others(other, own)[0]);
            let by_key = packets(&format!("{}, {}, {own}", over_quic(other), written(key, value)));
            assert_eq!(by_key, packets(&format!("{}, {own}", over_quic(kind))), "{kind:?}, {own}");
            assert_ne!(by_key, packets(&over_quic(kind)), "{kind:?}, {own}");
        }
    }
}

/// The report on such a transport.
fn report(transport: &str) -> String {
    refusal::report_on(GOOD, "\"TRANSPORT\"", &format!("{{ {transport} }}")).replace("\n  │ ", " ")
}

#[test]
fn keys_of_other_controls_are_refused_over_quic() {
    for (kind, key) in declared() {
        for other in QuicCongestionControl::all() {
            let is_heeded = named().any(|named| named.name() == other.name() && named.heeds(kind, key));
            if is_heeded {
                continue;
            }
            let marks = named().any(|named| named.name() == other.name() && named.counts_marks());
            let report = report(&format!(
                "protocol = \"quic\", congestion_control = \"{}\"{}, {}",
                other.name(),
                if marks { ", ecn = true" } else { "" },
                written(key, others(kind, key)[0])
            ));
            let why = format!("has no effect with congestion_control = \"{}\"", other.name());
            let instead = format!("write congestion_control = \"{}\"", kind.name());
            assert!(report.contains(&why) && report.contains(&instead), "{report}");
            assert!(report.contains(&format!("flow.f.transport.{}", key.place())), "{report}");
        }
    }
}

#[test]
fn what_only_a_trace_shows_is_refused_over_quic() {
    for kind in named() {
        let Some((key, value)) = kind.only_traced() else { continue };
        let setting = written(key, value);
        let report = report(&format!("{}, {setting}", over_quic(kind)));
        assert!(report.contains(&format!("`{setting}` shows only in the trace `states`")), "{report}");
    }
}

/// Values that do not go together are refused as over TCP.
#[test]
fn faults_of_keys_are_told_over_quic() {
    for kind in named() {
        let zero = |key: &&Key| kind.fault(&Own::default().with(key, 0)).is_some();
        for key in kind.keys().iter().filter(zero) {
            let fault = kind.fault(&Own::default().with(key, 0)).expect("as filtered");
            let report = report(&format!("{}, {}", over_quic(kind), written(key, 0)));
            assert!(report.contains(&fault.message), "{report}");
        }
    }
}

#[test]
fn errors_name_the_control_of_a_key_that_a_transport_does_not_have() {
    for (kind, key) in declared() {
        let words = listed(&format!("protocol = \"sctp\", {} = 1", key.place()));
        let all = [kind.name(), "TCP", "QUIC"];
        assert!(all.iter().all(|word| words.contains(*word)), "{}: {words:?}", key.place());
    }
}

#[test]
fn the_reference_lists_every_control() {
    let pages = schema_pages();
    let types = &pages.iter().find(|(name, _)| name.ends_with("types.md")).expect("the page of types").1;
    let section = |name: &str| types.split("\n## ").find(|section| section.starts_with(name)).expect(name);
    let (quic, variants) = (section("QuicCongestionControl\n"), section("TcpVariant\n"));
    for kind in named() {
        let about = format!("- `\"{}\"`: {}", kind.name(), kind.about().expect("users name it"));
        assert!(quic.contains(&about), "{about}");
        let is_variant = Variant::ALL.iter().any(|variant| variant.congestion() == kind);
        assert!(
            is_variant || kind.chosen_by().is_some_and(|choice| types.contains(choice.key.name)),
            "{kind:?}"
        );
    }
    for variant in Variant::ALL {
        assert!(variants.contains(&format!("- `\"{variant}\"`: {}", variant.describe())), "{variant}");
    }
}

/// The library's control over QUIC has a name beside those of the table.
#[test]
fn no_two_controls_have_one_name() {
    let names: Vec<_> = QuicCongestionControl::all().map(QuicCongestionControl::name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    assert_eq!(names.len(), named().count() + 1);
}
