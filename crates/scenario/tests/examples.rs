//! Every example and the template by the parser, and what the schema says of every key.

use std::fs;
use std::path::{Path, PathBuf};

use roamsim_scenario::access::wire::model::{LossModel, Transitions};
use roamsim_scenario::application::model::{Application, Pace};
use roamsim_scenario::transport::Transport;
use roamsim_scenario::transport::tcp::model::{Tcp, TcpVariant};
use roamsim_scenario::{Format, Scenario, schema, schema_pages, template};
use serde_json::{Value, json};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The examples by name, sorted.
fn examples() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(workspace().join("examples"))
        .expect("the folder of examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a readable example");
            (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    all.sort();
    all
}

fn parse(name: &str, text: &str) -> Scenario {
    // Beside the files that it names.
    let path = workspace().join("examples").join(name);
    let path = path.to_str().expect("UTF-8");
    Scenario::parse(text, path, Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn example(name: &str) -> Scenario {
    let (name, text) = examples().into_iter().find(|(n, _)| n == name).expect("this example");
    parse(&name, &text)
}

#[test]
fn every_example_and_the_template_are_the_same_written_as_json() {
    let mut all = examples();
    assert!(all.len() >= 9, "examples are missing: {all:?}");
    all.push(("template.toml".into(), template().into()));
    for (name, text) in all {
        let scenario = parse(&name, &text);
        // The same tree as JSON is the same scenario.
        let again = Scenario::parse(&scenario.written_json(), "json", Format::Json, &[]);
        // But for warnings, which say where.
        let mut again = again.expect("valid as JSON");
        again.warnings.clone_from(&scenario.warnings);
        assert_eq!(again, scenario, "{name}");
        let again = Scenario::parse(&scenario.canonical_json(), "json", Format::Json, &[]);
        assert_eq!(again.expect("valid as JSON").canonical_json(), scenario.canonical_json(), "{name}");
    }
}

/// Every object in the schema's definitions with properties, by way of its variants.
fn objects<'a>(definition: &'a Value, found: &mut Vec<&'a Value>) {
    if definition.get("properties").is_some() {
        found.push(definition);
    }
    for variant in definition["oneOf"].as_array().into_iter().flatten() {
        objects(variant, found);
    }
}

#[test]
fn every_key_is_described_and_every_default_names_its_source() {
    let schema = schema();
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        assert!(definition["description"].is_string(), "{name} has no description");
        let mut all = Vec::new();
        objects(definition, &mut all);
        for object in all {
            for (key, property) in object["properties"].as_object().expect("properties") {
                let text = property["description"].as_str().unwrap_or_default();
                // A tag and the keys of a queue are described with their variant.
                if property.get("const").is_some() || name == "Queue" {
                    continue;
                }
                assert!(!text.is_empty(), "{name}.{key} has no description");
                let zero = property["default"] == json!("0s");
                assert!(
                    property.get("default").is_none() || zero || text.contains("Default"),
                    "{name}.{key} has a default without a source: {text}"
                );
            }
        }
    }
}

#[test]
fn defaults_in_the_schema_are_those_of_the_parser() {
    // Writing out a default changes nothing.
    let (_, text) = examples().into_iter().find(|(n, _)| n == "wifi-signalling.toml").expect("the example");
    let schema = schema();
    let plain = parse("plain", &text);
    let tcp = &schema["$defs"]["Transport"]["oneOf"][1];
    assert_eq!(tcp["properties"]["protocol"]["const"], "tcp");
    let mut tried = 0;
    for (place, object) in [
        ("signalling.requests.transport", tcp),
        ("signalling.requests", &schema["$defs"]["Signalling"]),
        ("link.core", &schema["$defs"]["Link"]),
        ("link.core.loss", &schema["$defs"]["Loss"]["oneOf"][0]),
        ("wifi.cell", &schema["$defs"]["Wifi"]),
        ("scenario", &schema["$defs"]["General"]),
    ] {
        let tree: Value = serde_json::from_str(&plain.canonical_json()).expect("JSON");
        for (key, property) in object["properties"].as_object().expect("properties") {
            let Some(default) = property.get("default") else { continue };
            let path = format!("{place}.{key}");
            let value = match default {
                Value::String(text) => text.clone(),
                Value::Object(_) => "{ packets = 100 }".into(),
                other => other.to_string(),
            };
            // Keys that the example sets itself say nothing about defaults.
            let own = match place {
                "signalling.requests.transport" => &tree["signalling"][0]["transport"][key],
                "signalling.requests" => &tree["signalling"][0][key],
                "link.core.loss" => &tree["link"][1]["loss"][key],
                "link.core" => &tree["link"][1][key],
                "wifi.cell" => &tree["wifi"][0][key],
                _ => &tree["scenario"][key],
            };
            if !own.is_null() {
                continue;
            }
            // A setting is refused where what it sets is not there, as here delayed ACKs, probes and a radio.
            let refused = ["delayed_ack_timeout", "fast_open_cookie", "channel"];
            let needs_more = ["keep_alive_", "user_timeout_"].iter().any(|start| key.starts_with(start));
            if refused.contains(&key.as_str()) || needs_more {
                continue;
            }
            let set = Scenario::parse(&text, "set", Format::Toml, &[(path.clone(), value)]);
            let set = set.unwrap_or_else(|e| panic!("{e}"));
            assert_ne!(set.canonical_json(), plain.canonical_json(), "{path} was not set");
            assert_eq!(
                (&set.links, &set.wifi, &set.signalling),
                (&plain.links, &plain.wifi, &plain.signalling),
                "{path}"
            );
            tried += 1;
        }
    }
    assert!(tried >= 15, "{tried}");
}

#[test]
fn the_committed_reference_pages_are_the_generated_ones() {
    let folder = workspace().join("docs/reference");
    let pages = schema_pages();
    for (name, generated) in &pages {
        let page = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            page == *generated,
            "docs/reference/{name} is old: run `cargo run -p roamsim-scenario --example write_reference`"
        );
        // The name that decoding goes by, `tag:kind`, is none for a reader.
        assert!(!page.contains("tag:"), "{name}: a type of the model has no name of its own in the schema");
    }
    // The index, a page a table, and one of the types that tables share; no page of a table that is gone.
    assert_eq!(fs::read_dir(folder.join("scenario")).expect("the folder").count() + 1, pages.len());
    let whole: String = pages.iter().map(|(_, page)| page.as_str()).collect();
    for name in schema()["$defs"].as_object().expect("definitions").keys() {
        let heading = format!("\n## {name}\n");
        assert!(whole.matches(&heading).count() <= 1, "{name} is described twice");
    }
    // Words without an explanation of their own stand there too, and those beside another text.
    assert!(whole.contains("- `\"n2n_ho_commit_request\"`"), "no words of MessageKind");
    assert!(whole.contains("- `\"cheapest\"`: The lowest price"), "no words of SelectionPolicy");
    for section in whole.split("\n## ") {
        let mut labels: Vec<&str> = section.lines().filter(|line| line.starts_with("**")).collect();
        labels.iter_mut().for_each(|label| *label = label.split(".**").next().unwrap_or_default());
        let distinct: std::collections::BTreeSet<_> = labels.iter().collect();
        assert_eq!(labels.len(), distinct.len(), "a label tells no alternatives apart: {labels:?}");
    }
}

#[test]
fn values_arrive_in_base_units() {
    let tcp = example("one-tcp-flow.toml");
    assert_eq!(tcp.general.duration.as_ns(), 300_000_000_000);
    let link = &tcp.links[0];
    assert_eq!((link.rate[0].constant_bps, link.mtu_bytes), (Some(10_000_000), 1500));
    assert_eq!(link.delay[0].constant.map(|delay| delay.as_ns()), Some(20_000_000));
    assert_eq!(link.loss[0].from.as_deref(), Some("server"));
    assert_eq!(link.loss[0].start.as_ns(), 5_000_000_000);
    assert_eq!(link.loss[0].model, LossModel::Bernoulli { probability: 0.01 });
    let Transport::Tcp(transport) = &*tcp.flows[0].transport else { panic!("TCP was written") };
    assert_eq!(transport.variant, TcpVariant::NEW_RENO);
    assert_eq!((transport.mss_bytes, transport.delayed_ack), (Some(1000), false));
    // What was left out has the documented defaults: RFC 6298 and 6 MiB.
    assert_eq!(transport.max_rto.as_ns(), 60_000_000_000);
    assert_eq!(transport.receive_window_bytes(), 6_291_456);
    assert_eq!(Tcp { window_scaling: false, ..Tcp::default() }.receive_window_bytes(), 65_535);

    let voice = example("voice-over-bursty-loss.toml");
    let LossModel::GilbertElliott { transitions, loss_good, loss_bad } = voice.links[0].loss[1].model else {
        panic!("Gilbert-Elliott was written")
    };
    let Transitions::PerTime { mean_good, mean_bad } = transitions else { panic!("per time was written") };
    assert_eq!((mean_good.as_ns(), mean_bad.as_ns()), (2_000_000_000, 80_000_000));
    assert_eq!((loss_good, loss_bad), (0.001, 0.5));
    let Application::Cbr(up) = &voice.flows[0].application else { panic!("CBR was written") };
    let Application::Cbr(down) = &voice.flows[1].application else { panic!("CBR was written") };
    assert_eq!(up.pace(), Pace::Interval(roamsim_engine::Span::from_ms(20)));
    assert_eq!(down.pace(), Pace::RateBps(68_800));
}
