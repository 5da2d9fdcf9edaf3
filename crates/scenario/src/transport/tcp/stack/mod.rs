//! Presets of TCP: named sets of settings that a scenario's own settings are laid over.
//!
//! A preset fills in the keys that a transport leaves out, before the scenario is decoded: the rest of the
//! program sees plain settings. Settings that need what the scenario's own turn off are left out. So each
//! mechanism is switched off by its key alone. To change a preset, change its file; `roamsim schema` prints
//! its settings, `roamsim explain --preset` also their sources.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::diagnostics::Problems;
use crate::tree::{New, Node, Table, Tree, Value};

/// The presets by name, as TOML with a source beside each setting. Their first lines say what they are.
pub const STACKS: [(&str, &str); 3] = [
    ("classic", include_str!("classic.toml")),
    ("linux", include_str!("linux.toml")),
    ("rfc", include_str!("rfc.toml")),
];

/// The settings of a preset, in its order: key, value and source.
fn settings(name: &str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let text = STACKS.iter().find(|(stack, _)| *stack == name).map_or("", |(_, text)| text);
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (setting, source) = line.split_once('#').unwrap_or((line, ""));
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        (key.trim(), value.trim(), source.trim())
    })
}

/// Fills in the settings of the presets that transports name. A name that is no preset's is for decoding to
/// refuse.
pub(crate) fn apply(tree: &mut Tree) {
    let mut named = Vec::new();
    let sections =
        tree.root().inner().filter(|entry| matches!(entry.key(), "flow" | "signalling" | "handover"));
    for element in sections.filter_map(Node::list).flatten().filter_map(Node::table) {
        let transports =
            element.entries().filter(|entry| matches!(entry.key(), "transport" | "transport_between_pos"));
        // Of other protocols, decoding refuses the key.
        named.extend(transports.filter(|transport| stack(*transport).is_some()).map(Node::number));
    }
    let mut read = BTreeMap::new();
    for transport in named {
        let Some((stack, name)) = stack(tree.node(transport)) else { continue };
        // What is wrong with a setting of the preset beside one of the scenario's is shown where the preset
        // is named.
        let (place, name) = (stack.place(), name.to_owned());
        let settings: &Vec<New> = read.entry(name).or_insert_with_key(|name| built(tree, name));
        let Some(own) = tree.node(transport).table() else { continue };
        let filled_in = settings.iter().filter(|setting| {
            own.entries().all(|entry| !entry.has_key_of(setting)) && !is_ruled_out(tree.key_of(setting), own)
        });
        let filled_in: Vec<_> = filled_in.map(|setting| setting.all_at(place)).collect();
        tree.add(transport, filled_in);
    }
}

/// The preset that a transport names, and where.
fn stack(transport: Node<'_>) -> Option<(Node<'_>, &str)> {
    let transport = transport.table()?;
    let stack = transport.get("stack")?;
    let is_tcp = transport.get("protocol").and_then(Node::text) == Some("tcp");
    Some((stack, stack.text().filter(|_| is_tcp)?))
}

/// The settings of a preset as entries, with their keys.
fn built(tree: &mut Tree, name: &str) -> Vec<New> {
    let text = STACKS.iter().find(|(stack, _)| *stack == name).map_or("", |(_, text)| text);
    let table = tree.read_toml(text, 0, &mut Problems::default());
    table.map(|table| tree.entries_of(table)).unwrap_or_default()
}

/// Whether a setting of a preset needs what the transport's own settings turn off or replace.
fn is_ruled_out(key: &str, own: Table<'_>) -> bool {
    let is_off = |key: &str| matches!(own.get(key).map(Node::value), Some(Value::Boolean(false)));
    let text = |key: &str| own.get(key).and_then(Node::text).unwrap_or_default();
    let variant = text("variant");
    let has_bbr = variant == "bbr" || text("congestion_control") == "bbr";
    let without_sack = is_off("sack") || matches!(variant, "tahoe" | "reno" | "newreno" | "vegas");
    match key {
        "sack" => without_sack,
        "rack" => without_sack && !has_bbr,
        "tail_loss_probe" | "frto" | "undo" => (without_sack || is_off("rack")) && !has_bbr,
        "prr" => without_sack || has_bbr,
        "hystart" => variant == "vegas" || has_bbr,
        "hystart_rules" => variant == "vegas" || has_bbr || is_off("hystart"),
        "window_validation" => has_bbr,
        "nagle_rules" => is_off("nagle"),
        "cubic_rules" => {
            !matches!(variant, "" | "cubic") || !matches!(text("congestion_control"), "" | "cubic")
        }
        // A class in Python counts by itself.
        "byte_counting_limit" => has_bbr || text("congestion_control").contains('@'),
        "ecn" => has_bbr,
        "limited_transmit" => variant == "tahoe",
        "delayed_ack_rules" => is_off("delayed_ack") || own.get("delayed_ack_count").is_some(),
        "delayed_ack_count" => is_off("delayed_ack") || text("delayed_ack_rules") == "linux",
        "delayed_ack_timeout" | "delayed_ack_adapts" | "quick_acks" => is_off("delayed_ack"),
        "receive_window" => is_off("window_scaling"),
        // As with SO_RCVBUF, a size that is set does not tune itself.
        "initial_receive_window" => is_off("window_scaling") || own.get("receive_window").is_some(),
        _ => false,
    }
}

/// Prints each preset's settings behind what the model says of it.
pub(crate) fn print_in_full(schema: &mut schemars::Schema) {
    let Some(Json::Array(variants)) = schema.get_mut("oneOf") else { return };
    for variant in variants {
        let name = variant["const"].as_str().unwrap_or_default();
        let mut description = variant["description"].as_str().unwrap_or_default().to_owned();
        for (key, value, _) in settings(name) {
            let _ = write!(description, " `{key} = {value}`;");
        }
        description.pop();
        variant["description"] = json!(format!("{description}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_a_preset_has_a_source_and_is_read_as_it_stands() {
        for (name, text) in STACKS {
            assert!(text.starts_with("# "), "{name}");
            let mut tree = Tree::default();
            assert_eq!(built(&mut tree, name).len(), settings(name).count(), "{name}");
            for (key, value, source) in settings(name) {
                assert!(source.len() > 5 && !key.is_empty() && !value.is_empty(), "{name}: {key}");
            }
        }
    }
}
