//! What the derives of types of keys cannot say in the schema: which tag has a default, and where a plain
//! value stands for a table.

use serde_json::{Map, Value, json};

/// A key that is not set is left out: `null` is neither a type nor a default.
pub(crate) fn drop_null(schema: &mut Map<String, Value>) {
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
