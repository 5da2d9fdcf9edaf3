//! Every row of the table of congestion controls, over TCP and over QUIC: scenarios name it, runs have it,
//! and errors and reference list it. No test here names a control, so a new row is tested as it stands.

use crate::outcome::{self, integers, texts};
use crate::refusal;
use roamsim_protocols::tcp::Variant;
use roamsim_protocols::tcp::congestion::Kind;
use roamsim_protocols::tcp::congestion::keys::Choice;
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

/// Over QUIC a control has the defaults of its keys.
#[test]
fn errors_name_the_control_of_a_key_that_quic_does_not_have() {
    for kind in Kind::ALL {
        for key in kind.keys() {
            let words = listed(&format!("protocol = \"quic\", {} = 1", key.place()));
            assert!(words.contains(kind.name()) && words.contains("TCP"), "{}: {words:?}", key.place());
        }
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
