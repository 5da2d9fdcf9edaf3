//! Profiles: named sets of TCP settings that a scenario's own settings are laid over.
//!
//! A profile fills in the keys that a transport leaves out, before the scenario is decoded: the rest of the
//! program sees plain settings. To change one, change its file; `roamsim schema` prints it as it stands
//! there.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::diagnostics::Problems;
use crate::tree::{New, Node, Tree};

/// The profiles by name, as TOML with a source beside each setting.
const PROFILES: [(&str, &str); 3] = [
    ("classic", include_str!("classic.toml")),
    ("modern", include_str!("modern.toml")),
    ("rfc", include_str!("rfc.toml")),
];

/// Fills in the settings of the profiles that transports name. A name that is no profile's is for decoding to
/// refuse.
pub(crate) fn apply(tree: &mut Tree) {
    let mut named = Vec::new();
    let sections =
        tree.root().inner().filter(|entry| matches!(entry.key(), "flow" | "signalling" | "handover"));
    for element in sections.filter_map(Node::list).flatten().filter_map(Node::table) {
        let transports =
            element.entries().filter(|entry| matches!(entry.key(), "transport" | "transport_between_pos"));
        // Of other protocols, decoding refuses the key.
        named.extend(transports.filter(|transport| profile(*transport).is_some()).map(Node::number));
    }
    let mut read = BTreeMap::new();
    for transport in named {
        let Some((profile, name)) = profile(tree.node(transport)) else { continue };
        // What is wrong with a setting of the profile beside one of the scenario's is shown where the profile
        // is named.
        let (place, name) = (profile.place(), name.to_owned());
        let settings: &Vec<New> = read.entry(name).or_insert_with_key(|name| settings(tree, name));
        let own = tree.node(transport).inner();
        let left_out = settings.iter().filter(|setting| own.clone().all(|entry| !entry.has_key_of(setting)));
        let left_out: Vec<_> = left_out.map(|setting| setting.all_at(place)).collect();
        tree.add(transport, left_out);
    }
}

/// The profile that a transport names, and where.
fn profile(transport: Node<'_>) -> Option<(Node<'_>, &str)> {
    let transport = transport.table()?;
    let profile = transport.get("profile")?;
    let is_tcp = transport.get("protocol").and_then(Node::text) == Some("tcp");
    Some((profile, profile.text().filter(|_| is_tcp)?))
}

/// The settings of a profile, with their keys.
fn settings(tree: &mut Tree, name: &str) -> Vec<New> {
    let text = PROFILES.iter().find(|(profile, _)| *profile == name).map_or("", |(_, text)| text);
    let table = tree.read_toml(text, 0, &mut Problems::default());
    table.map(|table| tree.entries_of(table)).unwrap_or_default()
}

/// Prints each profile's settings behind what the model says of it.
pub(crate) fn print_in_full(schema: &mut schemars::Schema) {
    let Some(Json::Array(variants)) = schema.get_mut("oneOf") else { return };
    for variant in variants {
        let Some(text) = variant["const"].as_str().and_then(|name| PROFILES.iter().find(|p| p.0 == name))
        else {
            continue;
        };
        let mut description = variant["description"].as_str().unwrap_or_default().to_owned();
        for line in text.1.lines().filter(|line| !line.starts_with('#')) {
            let (setting, source) = line.split_once('#').unwrap_or((line, ""));
            let _ = write!(description, " `{}` ({});", setting.trim(), source.trim());
        }
        description.pop();
        variant["description"] = json!(format!("{description}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_a_profile_has_a_source() {
        for (name, text) in PROFILES {
            assert!(!settings(&mut Tree::default(), name).is_empty(), "{name}");
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                assert!(line.split_once("# ").is_some_and(|(_, source)| source.len() > 5), "{name}: {line}");
            }
        }
    }
}
