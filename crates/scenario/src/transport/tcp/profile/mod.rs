//! Profiles: named sets of TCP settings that a scenario's own settings are laid over.
//!
//! A profile fills in the keys that a transport leaves out, before the scenario is decoded: the rest of the program
//! sees plain settings. To change one, change its file; `roamsim schema` prints it as it stands there.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::diagnostics::Problems;
use crate::tree::{self, Entry, Node, Table, Value};

/// The profiles by name, as TOML with a source beside each setting.
const PROFILES: [(&str, &str); 2] =
    [("classic", include_str!("classic.toml")), ("modern", include_str!("modern.toml"))];

/// Fills in the settings of the profiles that transports name. A name that is no profile's is for decoding to refuse.
pub(crate) fn apply(root: &mut Node) {
    let Value::Table(root) = &mut root.value else { return };
    for section in
        root.entries.iter_mut().filter(|entry| matches!(&*entry.key, "flow" | "signalling" | "handover"))
    {
        let Value::List(elements) = &mut section.node.value else { continue };
        for element in elements {
            let Value::Table(element) = &mut element.value else { continue };
            for entry in &mut element.entries {
                if let ("transport" | "transport_between_pos", Value::Table(transport)) =
                    (&*entry.key, &mut entry.node.value)
                {
                    fill_in(transport);
                }
            }
        }
    }
}

fn fill_in(transport: &mut Table) {
    // Of other protocols, decoding refuses the key.
    if transport.get("protocol").and_then(Node::text) != Some("tcp") {
        return;
    }
    let Some(profile) = transport.get("profile") else { return };
    let Some(name) = profile.text() else { return };
    // What is wrong with a setting of the profile beside one of the scenario's is shown where the profile is named.
    let place = profile.place;
    for Entry { key, node, .. } in settings(name) {
        if transport.get(&key).is_none() {
            let node = Node { place, ..node };
            transport.entries.push(Entry { key, key_place: place, node });
        }
    }
}

fn settings(name: &str) -> Vec<Entry> {
    let text = PROFILES.iter().find(|(profile, _)| *profile == name).map_or("", |(_, text)| text);
    match tree::from_toml(text, 0, &mut Problems::default()).map(|root| root.value) {
        Some(Value::Table(table)) => table.entries,
        _ => Vec::new(),
    }
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
            assert!(!settings(name).is_empty(), "{name}");
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                assert!(line.split_once("# ").is_some_and(|(_, source)| source.len() > 5), "{name}: {line}");
            }
        }
    }
}
