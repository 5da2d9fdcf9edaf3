//! Presets of TCP: named sets of settings that a scenario's own settings are laid over.
//!
//! A preset fills in the keys that a transport leaves out, before the scenario is decoded: the rest of the
//! program sees plain settings. Settings that need what the scenario's own turn off are left out. So each
//! mechanism is switched off by its key alone, and another congestion control leaves out what is not its own.
//! To change a preset, change its file; `roamsim schema` prints its settings, `roamsim explain --preset` also
//! their sources, and what other congestion controls change.

use std::collections::BTreeMap;
use std::fmt::Write;

use roamsim_protocols::tcp::Variant;
use roamsim_protocols::tcp::congestion::Kind;
use serde_json::{Value as Json, json};

use crate::diagnostics::Problems;
use crate::tree::{New, Node, Table, Tree, Value, from_toml};

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
        let settings: &Vec<New> = read.entry(name.clone()).or_insert_with_key(|name| built(tree, name));
        let Some(own) = tree.node(transport).table() else { continue };
        let filled_in = settings.iter().filter(|setting| {
            own.entries().all(|entry| !entry.has_key_of(setting))
                && !is_ruled_out(&name, tree.key_of(setting), own)
        });
        let mut filled_in: Vec<_> = filled_in.map(|setting| setting.all_at(place)).collect();
        if counts_marks(own) && own.get("ecn").is_none() {
            filled_in.push(tree.under("ecn", place, New::boolean(true)).at(place));
        }
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

/// Whether transports with such settings of their own have this congestion control.
fn has_control(own: Table<'_>, control: &str) -> bool {
    ["variant", "congestion_control"].iter().any(|key| own.get(key).and_then(Node::text) == Some(control))
}

/// Whether transports with such settings of their own reduce their window by the share of marks.
fn counts_marks(own: Table<'_>) -> bool {
    Variant::ALL
        .iter()
        .any(|variant| variant.counts_marks() && has_control(own, variant.congestion_control()))
}

/// Whether its congestion control has a pacing rate of its own.
fn always_paces(own: Table<'_>) -> bool {
    Variant::ALL
        .iter()
        .any(|variant| variant.takes_samples() && has_control(own, variant.congestion_control()))
}

/// Whether a preset has this key for some congestion controls alone, and transports with such settings of
/// their own have none of them.
fn is_of_others(stack: &str, key: &str, own: Table<'_>) -> bool {
    let is_of = |control: &Kind| {
        let declares = control.keys().iter().any(|declared| declared.place() == key);
        let reserved = control.reserves().iter().filter(|reserved| reserved.preset == stack);
        declares || reserved.flat_map(|reserved| reserved.keys).any(|reserved| *reserved == key)
    };
    let mut others = Kind::ALL.iter().filter(|control| is_of(control)).peekable();
    others.peek().is_some() && !others.any(|control| is_control(stack, *control, own))
}

/// Whether transports with such settings of their own have this congestion control, and name no other one.
fn is_control(stack: &str, control: Kind, own: Table<'_>) -> bool {
    let text = |key: &str| own.get(key).and_then(Node::text).unwrap_or_default();
    let (variant, named) = (text("variant"), text("congestion_control"));
    let variant = if variant.is_empty() && named.is_empty() { preset_variant(stack) } else { variant };
    let has_it = |variant: Variant| variant.congestion() == control;
    (variant.is_empty() || variant.parse().is_ok_and(has_it)) && (named.is_empty() || named == control.name())
}

/// Whether the settings choose the congestion control of Linux, which leaves two segments at a mark.
fn has_linux_rules(own: Table<'_>) -> bool {
    ["cubic_rules", "reno_rules"].iter().any(|key| own.get(key).and_then(Node::text) == Some("linux"))
}

/// Whether the congestion control of transports with such settings of their own does not go with a key.
fn refuses(own: Table<'_>, key: &str) -> bool {
    Variant::ALL.iter().map(|variant| variant.congestion()).any(|control| {
        has_control(own, control.name()) && control.refuses().iter().any(|refusal| refusal.key == key)
    })
}

/// Whether a setting of a preset needs what the transport's own settings turn off or replace.
fn is_ruled_out(stack: &str, key: &str, own: Table<'_>) -> bool {
    let is_off = |key: &str| matches!(own.get(key).map(Node::value), Some(Value::Boolean(false)));
    let text = |key: &str| own.get(key).and_then(Node::text).unwrap_or_default();
    let variant = text("variant");
    let refuses = |key: &str| refuses(own, key);
    let named = variant.parse::<Variant>();
    let without_sack = is_off("sack") || named.as_ref().is_ok_and(|named| !named.permits_sack());
    match key {
        _ if is_of_others(stack, key, own) => true,
        "sack" => without_sack,
        // A control that refuses to do without SACK is checked beside it.
        "rack" => without_sack && !refuses("sack"),
        "rack_rules" | "tail_loss_probe" | "frto" | "undo" => {
            (without_sack || is_off("rack")) && !refuses("sack")
        }
        "growth_rules" => {
            refuses(key) || text("congestion_control").contains('@') || without_sack || is_off("rack")
        }
        "undo_rules" => is_off("undo") || (without_sack || is_off("rack")) && !refuses("sack"),
        "reduce_after_lost_retransmission" => {
            refuses(key) || (without_sack || is_off("rack")) && !refuses("sack")
        }
        "ecn_min_window" => refuses(key) || counts_marks(own) || has_linux_rules(own),
        "initial_window" => own.get("initial_window_rules").is_some(),
        "initial_window_rules" => own.get("initial_window").is_some(),
        "loss_probe_rules" => {
            is_off("tail_loss_probe") || (without_sack || is_off("rack")) && !refuses("sack")
        }
        "compressed_acks" => without_sack,
        "prr" => named.is_ok_and(|named| !named.takes_prr()) || refuses(key),
        "prr_for_ecn" => {
            named.is_ok_and(|named| !named.takes_prr())
                || is_off("prr")
                || refuses("prr")
                || refuses(key)
                || text("congestion_control").contains('@')
        }
        "pacing" => always_paces(own),
        "hystart" | "window_validation" | "restart_after_idle" => refuses(key),
        "hystart_rules" => refuses("hystart") || is_off("hystart"),
        "nagle_rules" => is_off("nagle"),
        // A class in Python counts by itself.
        "byte_counting_limit" => refuses(key) || text("congestion_control").contains('@'),
        "ecn" => refuses(key) || counts_marks(own),
        "limited_transmit" => variant == "tahoe",
        "delayed_ack_rules" => is_off("delayed_ack") || own.get("delayed_ack_count").is_some(),
        "delayed_ack_count" => is_off("delayed_ack") || text("delayed_ack_rules") == "linux",
        "delayed_ack_timeout" | "delayed_ack_adapts" | "quick_acks" => is_off("delayed_ack"),
        "receive_window" => is_off("window_scaling"),
        // As with SO_RCVBUF, a size that is set does not tune itself.
        "initial_receive_window" => is_off("window_scaling") || own.get("receive_window").is_some(),
        // As with SO_SNDBUF.
        "initial_send_buffer" => own.get("send_buffer").is_some(),
        _ => false,
    }
}

/// What other congestion controls change of a preset: each with the keys that it leaves out, and the setting
/// that it has instead.
pub fn exceptions(name: &str) -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    let of = |control: &'static str| {
        let text = format!("variant = \"{control}\"");
        let tree = from_toml(&text, 0, &mut Problems::default())?;
        let own = tree.root().table()?;
        let keys: Vec<_> = settings(name)
            .map(|(key, ..)| key)
            .filter(|key| *key != "variant" && is_ruled_out(name, key, own))
            .collect();
        let instead = if counts_marks(own) { "ecn = true" } else { "" };
        Some((control, keys, instead))
    };
    // What the preset has for other controls than its own is no exception of theirs.
    let of_others = of(preset_variant(name)).map(|(_, keys, _)| keys).unwrap_or_default();
    let without = |(control, mut keys, instead): (_, Vec<&'static str>, _)| {
        keys.retain(|key| !of_others.contains(key));
        (control, keys, instead)
    };
    let all = Variant::NAMES.iter().filter_map(|control| of(control)).map(without);
    all.filter(|(_, keys, _)| !keys.is_empty()).collect()
}

/// The variant of a preset.
fn preset_variant(name: &str) -> &'static str {
    settings(name).find(|(key, ..)| *key == "variant").map_or("", |(_, value, _)| value.trim_matches('"'))
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
    fn a_preset_leaves_out_what_is_not_of_the_congestion_control() {
        let of = |stack: &str, control: &str| {
            let found = exceptions(stack).into_iter().find(|(name, ..)| *name == control);
            found.map(|(_, keys, instead)| (keys, instead)).unwrap_or_default()
        };
        let of_cubic = vec!["cubic_rules", "hystart", "hystart_rules"];
        assert_eq!(of("linux", "cubic"), (vec![], ""));
        assert_eq!(of("linux", "sack"), (of_cubic.clone(), ""));
        assert_eq!(of("linux", "dctcp"), ([&of_cubic[..], &["ecn"]].concat(), "ecn = true"));
        assert_eq!(
            of("linux", "prague"),
            (
                vec![
                    "cubic_rules",
                    "growth_rules",
                    "hystart",
                    "hystart_rules",
                    "pacing",
                    "ecn",
                    "prr_for_ecn"
                ],
                "ecn = true"
            )
        );
        let of_bbr = of("linux", "bbr").0;
        assert!(["prr", "hystart", "pacing", "window_validation"].iter().all(|key| of_bbr.contains(key)));
        // HyStart++ is for any slow start (RFC 9406).
        assert_eq!(of("rfc", "sack").0, ["cubic_rules", "fast_convergence"]);
    }

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
