//! The JSON Schema of a scenario: every key with its description, unit, default and the default's source.
//!
//! It is derived from the model types. What serde's derive cannot say is added here: that keys are left out
//! rather than null, which tag has a default, and where a plain value stands for a table.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::Scenario;

/// The JSON Schema (draft 2020-12) of a scenario, the same for TOML and JSON.
pub fn schema() -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Scenario>().to_value();
    tidy(&mut schema);
    add_count(&mut schema);
    schema
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

/// A key that is not set is left out: `null` is neither a type nor a default.
fn drop_null(schema: &mut Map<String, Value>) {
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            schema.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|s| s != &json!({ "type": "null" }));
        if let [Value::Object(one)] = &any[..] {
            let one = one.clone();
            schema.remove("anyOf");
            schema.extend(one);
        }
    }
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

/// For an enum with a default variant: its tag may be left out. The first variant is the default.
pub(crate) fn first_variant_is_default(schema: &mut schemars::Schema) {
    let Some(first) = schema.get_mut("oneOf").and_then(|variants| variants.get_mut(0)) else { return };
    let Some(Value::Object(properties)) = first.get_mut("properties") else { return };
    let tag = properties
        .iter_mut()
        .find_map(|(key, property)| Some((key, property.get("const")?.clone(), property)));
    if let Some((key, name, property)) = tag {
        let key = key.clone();
        property["default"] = name;
        if let Some(Value::Array(required)) = first.get_mut("required") {
            required.retain(|k| *k != key);
        }
    }
}

/// For a table for whose first key a plain value may stand alone.
pub(crate) fn plain_value_is_first_key(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    let first = object.get("properties").and_then(Value::as_object).and_then(|keys| keys.values().next());
    let Some(mut plain) = first.cloned() else { return };
    drop_null_of(&mut plain);
    plain["description"] = json!("A plain value: the constant.");
    let description = object.remove("description");
    let mut table = std::mem::take(object);
    table.insert("description".into(), json!("A table."));
    object.insert("oneOf".into(), json!([plain, table]));
    object.extend(description.map(|text| ("description".into(), text)));
}

fn drop_null_of(schema: &mut Value) {
    if let Value::Object(schema) = schema {
        drop_null(schema);
    }
}

/// For a distribution: the value of the first variant may stand alone.
pub(crate) fn plain_value_is_constant(schema: &mut schemars::Schema) {
    first_variant_is_default(schema);
    if let Some(Value::Array(variants)) = schema.get_mut("oneOf")
        && let Some(mut plain) =
            variants.first().and_then(|constant| constant["properties"].get("value")).cloned()
    {
        plain["description"] = json!("A plain value: the constant.");
        variants.insert(0, plain);
    }
}
