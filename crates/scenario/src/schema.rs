//! The JSON Schema of a scenario: every key with its description, unit, default and the default's source.
//!
//! It is derived from the types of the keys, which [`crate::decode::schema`] helps. What holds for all of
//! them is added here: that keys are left out rather than null, and that elements may be repeated.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::decode::schema::drop_null;
use crate::scenario::Scenario;
use crate::transport::own;

/// The JSON Schema (draft 2020-12) of a scenario, the same for TOML and JSON.
pub fn schema() -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Scenario>().to_value();
    for (name, described) in own::types() {
        schema["$defs"][name] = described;
    }
    tidy(&mut schema);
    add_count(&mut schema);
    schema
}

/// Which other kinds of a table have a key: by the key that names the kind, the kind if it is written, the
/// keys of this kind, and the unknown key.
pub(crate) fn other_kinds(tag: &str, kind: Option<&str>, keys: &[&str], unknown: &str) -> Vec<String> {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    let tables = SCHEMA.get_or_init(schema)["$defs"].as_object().into_iter().flatten();
    let fits = |(name, has): &(&str, BTreeSet<&str>)| {
        kind.is_none_or(|kind| kind == *name) && keys.iter().all(|key| has.contains(key))
    };
    let found = tables.filter_map(|(_, table)| {
        let kinds = kinds_of(table, tag);
        // Of tables that have all these keys the one with the fewest others.
        let others = kinds.iter().filter(|kind| fits(kind)).map(|(_, has)| has.len()).min()?;
        Some((others, kinds))
    });
    let (_, kinds) = found.min_by_key(|(others, _)| *others).unwrap_or_default();
    kinds.into_iter().filter(|(_, has)| has.contains(unknown)).map(|(name, _)| name.to_owned()).collect()
}

/// The kinds of a table that a key names, each with its keys.
fn kinds_of<'a>(table: &'a Value, tag: &str) -> Vec<(&'a str, BTreeSet<&'a str>)> {
    let mut kinds: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for variant in table["oneOf"].as_array().into_iter().flatten() {
        let Some(name) = variant["properties"][tag]["const"].as_str() else { continue };
        let keys = variant["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        match kinds.iter_mut().find(|(other, _)| *other == name) {
            Some((_, has)) => has.extend(keys),
            None => kinds.push((name, keys.collect())),
        }
    }
    kinds
}

/// Elements of the sections may be repeated, which happens before they are decoded (see `repeat`).
fn add_count(schema: &mut Value) {
    let sections: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, section)| {
            section["items"]["$ref"].as_str()?.strip_prefix("#/$defs/").map(str::to_owned)
        })
        .collect();
    for name in sections {
        schema["$defs"][name]["properties"]["count"] = json!({
            "type": "integer",
            "minimum": 0,
            "maximum": crate::repeat::MAX_COUNT,
            "description": crate::repeat::COUNT,
        });
    }
}

fn tidy(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(tidy),
        Value::Object(schema) => {
            schema.values_mut().for_each(tidy);
            drop_null(schema);
            spread_nested_variants(schema);
            // A default is serialized as the number that it is decoded to.
            if schema.get("$ref") == Some(&json!("#/$defs/Power"))
                && let Some(dbm) = schema.get("default").and_then(Value::as_f64)
            {
                schema.insert("default".into(), json!(format!("{dbm}dBm")));
            }
            // The width of an integer is Rust's affair; `minimum` stays.
            if schema.get("type") == Some(&json!("integer")) {
                schema.remove("format");
            }
            if let Some(Value::String(text)) = schema.get_mut("description") {
                *text = one_line(text);
            }
        }
        _ => {}
    }
}

/// Descriptions come with the line breaks of the source code.
fn one_line(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

/// Variants with variants of their own become variants of the whole, each with all its keys.
fn spread_nested_variants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get_mut("oneOf") else { return };
    let mut spread = Vec::new();
    for variant in variants.drain(..) {
        let (Some(Value::Array(inner)), Some(Value::Object(outer))) =
            (variant.get("oneOf").cloned(), variant.get("properties").cloned())
        else {
            spread.push(variant);
            continue;
        };
        for mut one in inner {
            if let Some(Value::Object(properties)) = one.get_mut("properties") {
                let own = std::mem::replace(properties, outer.clone());
                properties.extend(own);
            }
            if let Some(Value::Array(required)) = one.get_mut("required") {
                required.splice(0..0, variant["required"].as_array().into_iter().flatten().cloned());
            }
            let texts = [&variant, &one].map(|s| s["description"].as_str().unwrap_or_default().to_owned());
            one["description"] = json!(texts.join(" "));
            one["additionalProperties"] = json!(false);
            spread.push(one);
        }
    }
    *variants = spread;
}
