//! The reference pages of all keys, written from the schema: one a table, and one of the types that tables
//! share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use serde_json::Value;

use crate::repeat::COUNT;
use crate::schema::schema;

const HEAD: &str = include_str!("reference.md");
const END: &str = include_str!("reference_end.md");

/// The page of types that several tables have.
const SHARED: &str = "types";

/// The reference pages in Markdown, each with its path in the folder of references.
pub fn schema_pages() -> Vec<(String, String)> {
    let schema = schema();
    let defs = &schema["$defs"];
    let tables: Vec<Table<'_>> = entries(&schema["properties"]).map(|entry| Table::of(entry, defs)).collect();
    // Where each type is described, and all in the order in which tables ask for them.
    let mut pages = BTreeMap::new();
    let mut types = Vec::new();
    for table in &tables {
        for name in reached(table.name, defs) {
            types.push(name);
            pages.entry(name).and_modify(|page| *page = SHARED).or_insert(table.key);
        }
    }
    for table in &tables {
        pages.insert(table.name, table.key);
        types.retain(|&name| name != table.name);
    }
    let inline = inline(&schema, defs);
    let mut written = vec![("scenario.md".to_owned(), index(&tables))];
    for table in &tables {
        let mut page = Page { text: String::new(), here: table.key, pages: &pages, defs, inline: &inline };
        let definition = &defs[table.name];
        let _ = write!(page.text, "# `{}`\n\n{}\n", table.heading, table.describe(definition));
        page.keys(definition);
        page.types(&types);
        written.push((format!("scenario/{}.md", table.key), with_standard_once(table.key, page.text)));
    }
    let mut page = Page {
        text: "# Types of several tables\n".to_owned(),
        here: SHARED,
        pages: &pages,
        defs,
        inline: &inline,
    };
    // In the order of the alphabet, as nothing else brings a reader to one.
    types.sort_unstable();
    types.dedup();
    page.quantities(&types);
    page.types(&types);
    written.push((format!("scenario/{SHARED}.md"), page.text));
    written
}

/// The standard by which a table's keys are defined.
const STANDARDS: [(&str, &str); 2] = [("wifi", "IEEE 802.11-2007"), ("wimax", "IEEE Std 802.16-2004")];

/// A page that names its standard once, and then only sections, clauses and tables.
fn with_standard_once(key: &str, page: String) -> String {
    let Some((_, standard)) = STANDARDS.iter().find(|(of, _)| *of == key) else { return page };
    let short = ["section", "clause", "table", "annex"]
        .iter()
        .fold(page, |text, part| text.replace(&format!("{standard} {part}"), part));
    let note = format!("Sections, clauses, tables and annexes without a document are of {standard}.");
    short.replacen("\n\n| key |", &format!("\n\n{note}\n\n| key |"), 1)
}

/// A table of the scenario: `[scenario]`, or one of many `[[node]]`.
struct Table<'a> {
    key: &'a str,
    heading: String,
    /// The type of its keys.
    name: &'a str,
    /// Its first sentence.
    about: &'a str,
}

impl<'a> Table<'a> {
    fn of((key, property): (&'a String, &'a Value), defs: &'a Value) -> Self {
        let (heading, target) = match property.get("items") {
            Some(items) => (format!("[[{key}]]"), items),
            None => (format!("[{key}]"), property),
        };
        let name = reference(target).unwrap_or_default();
        let about = text(&defs[name]).lines().next().unwrap_or_default();
        let about = about.strip_prefix(&format!("A `{heading}`: ")).unwrap_or(about);
        Self { key, heading, name, about: about.split_once(". ").map_or(about, |(first, _)| first) }
    }

    /// Its description; the heading above has its name.
    fn describe(&self, definition: &Value) -> String {
        let about = text(definition);
        let about = about.strip_prefix(&format!("A `{}`: ", self.heading)).unwrap_or(about);
        let (first, rest) = about.split_at(about.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    }
}

/// The types that a type asks for, nearest first, each once.
fn reached<'a>(name: &'a str, defs: &'a Value) -> Vec<&'a str> {
    fn asked<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(map) => {
                found.extend(reference(value));
                map.values().for_each(|value| asked(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| asked(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    asked(&defs[name], &mut found);
    let mut next = 0;
    while next < found.len() {
        if found[..next].contains(&found[next]) {
            found.remove(next);
        } else {
            asked(&defs[found[next]], &mut found);
            next += 1;
        }
    }
    found
}

/// The page that leads to all others.
fn index(tables: &[Table<'_>]) -> String {
    let mut page = format!("{HEAD}\n| table | |\n|---|---|\n");
    for Table { key, heading, about, .. } in tables {
        let _ = writeln!(page, "| [`{heading}`](scenario/{key}.md) | {} |", about.trim_end_matches('.'));
    }
    page.push_str("\n```{toctree}\n:hidden:\n\n");
    for key in tables.iter().map(|table| table.key).chain([SHARED]) {
        let _ = writeln!(page, "scenario/{key}");
    }
    page + "```\n" + END
}

/// A page so far. Writing to a string cannot fail, so results of `write!` are not looked at.
struct Page<'a> {
    text: String,
    here: &'a str,
    /// Where each type is described.
    pages: &'a BTreeMap<&'a str, &'a str>,
    defs: &'a Value,
    /// The types that the row of a key describes.
    inline: &'a BTreeSet<&'a str>,
}

impl Page<'_> {
    /// The table of all values with units, one a row.
    fn quantities(&mut self, types: &[&str]) {
        self.text.push_str("\n## Quantities\n\n| type | value | example |\n|---|---|---|\n");
        for name in types.iter().filter(|name| is_quantity(&self.defs[name])) {
            let definition = &self.defs[name];
            let example = definition["examples"].get(0).map(|value| format!("`{}`", toml(value)));
            let about = text(definition).trim_end_matches('.');
            let _ = writeln!(self.text, "| {name} | {about} | {} |", example.unwrap_or_default());
        }
    }

    /// The types that are described here.
    fn types(&mut self, types: &[&str]) {
        let mut own: Vec<&str> = Vec::new();
        for &name in types {
            let here = self.pages.get(name) == Some(&self.here);
            let elsewhere = is_quantity(&self.defs[name]) || self.inline.contains(name);
            if here && !own.contains(&name) && !elsewhere {
                own.push(name);
            }
        }
        for name in own {
            let _ = write!(self.text, "\n## {name}\n\n{}\n", text(&self.defs[name]));
            self.definition(&self.defs[name]);
        }
    }

    fn definition(&mut self, definition: &Value) {
        let Some(variants) = definition["oneOf"].as_array() else {
            if let Some(example) = definition["examples"].get(0) {
                let _ = write!(self.text, "\nExample: `{}`\n", toml(example));
            }
            // Words that say by themselves what they mean.
            for word in definition["enum"].as_array().into_iter().flatten() {
                let first = definition["enum"].get(0) == Some(word);
                let _ = writeln!(self.text, "{}- `{}`", if first { "\n" } else { "" }, toml(word));
            }
            self.keys(definition);
            return;
        };
        // Words, and perhaps another text beside them.
        let is_word = |variant: &Value| variant.get("const").is_some();
        if variants.iter().any(is_word) && variants.iter().all(|v| v.get("properties").is_none()) {
            self.text.push('\n');
            for variant in variants {
                // A preset's settings are many; `roamsim explain --preset` prints them.
                let about = text(variant);
                let about = about.split_once(": `variant = ").map_or(about, |(head, _)| head);
                let about = about.trim_end_matches('.');
                let what = match variant.get("const") {
                    Some(word) => format!("`{}`", toml(word)),
                    None => format!("another {}", self.kind(variant)),
                };
                let _ = writeln!(self.text, "- {what}: {about}.");
            }
            return;
        }
        let shared = shared(variants);
        if !shared.is_empty() {
            self.text.push_str("\nKeys of several kinds:\n");
            self.table(&shared);
        }
        for variant in variants {
            if variant.get("properties").is_none() {
                let kind = self.kind(variant);
                let _ = write!(self.text, "\n**{kind}.** {}\n", text(variant));
                continue;
            }
            let tags: Vec<String> = entries(&variant["properties"])
                .filter_map(|(key, property)| Some(format!("{key} = {}", toml(property.get("const")?))))
                .collect();
            // A table beside a plain value has no name of its own.
            if !tags.is_empty() {
                let _ = write!(self.text, "\n### `{}`\n", tags.join(", "));
            }
            let _ = write!(self.text, "\n{}\n", text(variant));
            let (above, own): (Vec<_>, Vec<_>) = keys(variant).partition(|key| shared.contains(key));
            self.table(&own);
            if !above.is_empty() {
                let names: Vec<String> = above.iter().map(|key| format!("`{}`", key.name)).collect();
                let also = if own.is_empty() { "Keys" } else { "Also" };
                let _ = write!(self.text, "\n{also}: {}.\n", names.join(", "));
            }
        }
    }

    fn keys(&mut self, definition: &Value) {
        self.table(&keys_of(definition));
    }

    fn table(&mut self, keys: &[Key<'_>]) {
        if keys.is_empty() {
            return;
        }
        self.text.push_str("\n| key | default | |\n|---|---|---|\n");
        self.rows("", keys);
    }

    /// Rows of a table, and those of the small tables in it; names begin with the path of the table.
    fn rows(&mut self, path: &str, keys: &[Key<'_>]) {
        for Key { name, property, required } in keys {
            let (mut about, default) = match text(property) {
                COUNT => ("[Copies](../scenario.md#copies) of the element.".into(), String::new()),
                about => (without_default(about), default(property, about)),
            };
            let default = if *required { "required" } else { &default };
            let inner =
                asked_for(property).filter(|name| self.inline.contains(name)).map(|name| &self.defs[name]);
            let kind = match inner {
                Some(words) if words.get("properties").is_none() => {
                    about = format!("{about} {}", in_line(words)).trim_start().into();
                    if property.get("items").is_some() { "list of choices".into() } else { "choice".into() }
                }
                Some(_) if property.get("items").is_some() => "list of tables".into(),
                Some(_) => "table".into(),
                None => self.kind(property),
            };
            let (about, default) = (about.replace('|', "\\|"), default.replace('|', "\\|"));
            let _ = writeln!(self.text, "| `{path}{name}`: {kind} | {default} | {about} |");
            if let Some(table) = inner.filter(|inner| inner.get("properties").is_some()) {
                self.rows(&format!("{path}{name}."), &keys_of(table));
            }
        }
    }

    /// The type of a key, with a link to its description.
    fn kind(&self, property: &Value) -> String {
        if let Some(name) = reference(property) {
            if is_quantity(&self.defs[name]) {
                let page = if self.here == SHARED { "" } else { "types.md" };
                return format!("[{name}]({page}#quantities)");
            }
            let at = name.to_lowercase();
            return match self.pages.get(name) {
                Some(&page) if page != self.here => format!("[{name}]({page}.md#{at})"),
                _ => format!("[{name}](#{at})"),
            };
        }
        if let Some(any) = property["anyOf"].as_array() {
            return any.iter().map(|one| self.kind(one)).collect::<Vec<_>>().join(" or ");
        }
        match property["type"].as_str() {
            Some("array") => match property.get("minItems").and_then(Value::as_u64) {
                Some(count) => {
                    let one = property.get("items").unwrap_or(&property["prefixItems"][0]);
                    format!("list of {count} {}s", self.kind(one))
                }
                None => format!("list of {}", self.kind(&property["items"])),
            },
            // A list's type is in the plural: "list of 2 integers".
            Some(name) => name.into(),
            None => String::new(),
        }
    }
}

/// A key of a table, but for the tags that name a variant.
#[derive(Clone, Copy, PartialEq)]
struct Key<'a> {
    name: &'a str,
    property: &'a Value,
    required: bool,
}

fn keys_of(definition: &Value) -> Vec<Key<'_>> {
    keys(definition).collect()
}

fn keys(definition: &Value) -> impl Iterator<Item = Key<'_>> {
    let required = definition["required"].as_array();
    entries(&definition["properties"]).filter(|(_, p)| p.get("const").is_none()).map(
        move |(name, property)| Key {
            name,
            property,
            required: required.is_some_and(|keys| keys.iter().any(|key| key == name)),
        },
    )
}

/// A description up to this length is repeated in each variant.
const SHORT_BYTES: usize = 30;

/// The keys that several variants have in the same words, in the order of the first; of each name one.
fn shared(variants: &[Value]) -> Vec<Key<'_>> {
    let all: Vec<_> = variants.iter().flat_map(keys).collect();
    let mut shared = Vec::new();
    for key in &all {
        let common = all.iter().filter(|other| *other == key).count() > 1;
        let is_new = shared.iter().all(|other: &Key<'_>| other.name != key.name);
        if common && is_new && text(key.property).len() > SHORT_BYTES {
            shared.push(*key);
        }
    }
    shared
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

fn text(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// The type that a key has, or the elements of its list.
fn asked_for(property: &Value) -> Option<&str> {
    reference(property).or_else(|| reference(property.get("items")?))
}

/// The types that one key alone asks for and that are small enough for its row: a few words, or a table of a
/// few keys.
fn inline<'a>(schema: &'a Value, defs: &'a Value) -> BTreeSet<&'a str> {
    fn count<'a>(value: &'a Value, all: &mut BTreeMap<&'a str, usize>, of_keys: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(map) => {
                if let Some(name) = reference(value) {
                    *all.entry(name).or_default() += 1;
                }
                of_keys.extend(entries(&value["properties"]).filter_map(|(_, property)| asked_for(property)));
                map.values().for_each(|value| count(value, all, of_keys));
            }
            Value::Array(list) => list.iter().for_each(|value| count(value, all, of_keys)),
            _ => {}
        }
    }
    let (mut all, mut of_keys) = (BTreeMap::new(), BTreeSet::new());
    count(schema, &mut all, &mut of_keys);
    of_keys.retain(|name| all[name] == 1 && is_small(&defs[name]));
    of_keys
}

/// Whether a type is a few words with short descriptions, or a table of a few keys whose own description says
/// little.
fn is_small(definition: &Value) -> bool {
    const MOST_BYTES: usize = 300;
    const MOST_KEYS: usize = 4;
    const LITTLE_BYTES: usize = 70;
    let about = text(definition);
    if about.len() > LITTLE_BYTES || about.contains(['(', ':', ';']) {
        return false;
    }
    if let Some(words) = words(definition) {
        return words.iter().map(|(word, about)| word.len() + about.len()).sum::<usize>() <= MOST_BYTES;
    }
    let is_table = definition.get("oneOf").is_none();
    is_table && (1..=MOST_KEYS).contains(&entries(&definition["properties"]).count())
}

/// The words of a type that is a choice of words, each with its description.
fn words(definition: &Value) -> Option<Vec<(String, &str)>> {
    if let Some(words) = definition["enum"].as_array() {
        return Some(words.iter().map(|word| (toml(word), "")).collect());
    }
    let words = definition["oneOf"].as_array()?;
    words.iter().map(|word| Some((toml(word.get("const")?), text(word)))).collect()
}

/// A choice of words within a cell: a sentence each, or a list if they have no descriptions.
fn in_line(definition: &Value) -> String {
    let words = words(definition).unwrap_or_default();
    if words.iter().all(|(_, about)| about.is_empty()) {
        return words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ") + ".";
    }
    words.iter().map(|(word, about)| format!("`{word}`: {about}")).collect::<Vec<_>>().join(" ")
}

/// Words before the default of a key in its description.
const DEFAULTS: [&str; 3] = ["Default: ", "Default chosen: ", "Left out: "];

/// The sentence of a description that gives its default: its place, and the words before the default.
fn default_sentence(about: &str) -> Option<(Range<usize>, &'static str)> {
    let (start, words) = DEFAULTS.iter().filter_map(|words| Some((about.find(words)?, *words))).min()?;
    let rest = &about[start..];
    let end = rest.match_indices(". ").map(|(at, _)| at + 1).find(|&at| {
        // Not behind the initial of a name.
        let last = rest[..at - 1].rsplit([' ', '(']).next().unwrap_or_default();
        !(last.len() == 1 && last.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    Some((start..start + end.unwrap_or(rest.len()), words))
}

/// A description without the sentence of its default.
fn without_default(about: &str) -> String {
    match default_sentence(about) {
        Some((place, _)) => {
            format!("{}{}", &about[..place.start], about[place.end..].trim_start()).trim_end().into()
        }
        None => about.into(),
    }
}

/// The default of a key, and its source.
fn default(property: &Value, about: &str) -> String {
    let value = property.get("default").map(toml);
    let source = default_sentence(about).map(|(place, words)| {
        let text = about[place][words.len()..].trim_end_matches('.');
        let source = value.as_deref().map_or(text, |value| without_value(text, value));
        match (words, source) {
            ("Default chosen: ", "") => "chosen".into(),
            ("Default chosen: ", source) => format!("chosen: {source}"),
            (_, source) => source.to_owned(),
        }
    });
    match (value, source.filter(|source| !source.is_empty())) {
        (Some(value), Some(source)) => format!("`{value}`; {source}"),
        (Some(value), None) => format!("`{value}`"),
        (None, Some(source)) => source,
        (None, None) => String::new(),
    }
}

/// The source of a default whose value is written before it, without a repetition of this value.
fn without_value<'a>(text: &'a str, value: &str) -> &'a str {
    let bare = value.trim_matches('"');
    let spaced = bare
        .find(|c: char| c.is_ascii_alphabetic())
        .map(|unit| format!("{} {}", &bare[..unit], &bare[unit..]));
    let mut words = vec![bare.to_owned(), format!("`{bare}`"), format!("`{value}`")];
    words.extend(spaced);
    match value {
        "true" => words.extend(["yes".to_owned(), "on".to_owned()]),
        "false" => words.extend(["no".to_owned(), "off".to_owned()]),
        _ => {}
    }
    for word in words {
        let Some(rest) = text.strip_prefix(word.as_str()) else { continue };
        if rest.is_empty() {
            return rest;
        }
        if let Some(rest) = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(": ")) {
            return rest;
        }
        if let Some(rest) = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')) {
            return rest;
        }
    }
    text
}

/// Whether a type is a value with a unit, which a row of a table describes.
fn is_quantity(definition: &Value) -> bool {
    const LONGEST_BYTES: usize = 120;
    ["properties", "oneOf", "anyOf", "enum"].iter().all(|key| definition.get(key).is_none())
        && text(definition).len() <= LONGEST_BYTES
}

/// A default as TOML writes it.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cells(property: &Value, about: &str) -> (String, String) {
        (default(property, about), without_default(about))
    }

    #[test]
    fn a_default_stands_beside_its_source() {
        let about = "Lower bound of the timeout. Default: RFC 6298 section 2.4. Linux has 200 ms.";
        let both =
            ("`\"1s\"`; RFC 6298 section 2.4".into(), "Lower bound of the timeout. Linux has 200 ms.".into());
        assert_eq!(cells(&json!({ "default": "1s" }), about), both);
        // The sentence does not end behind an initial.
        let about = "Its law. Default: R. Jain, 1984. Its unit is one.";
        assert_eq!(
            cells(&json!({ "default": 1 }), about),
            ("`1`; R. Jain, 1984".into(), "Its law. Its unit is one.".into())
        );
    }

    #[test]
    fn a_value_is_not_repeated_by_its_source() {
        let of = |value: Value, about: &str| default(&json!({ "default": value }), about);
        assert_eq!(of(json!(true), "Default: yes (RFC 7323 section 2)."), "`true`; RFC 7323 section 2");
        assert_eq!(of(json!(false), "Default chosen: no, as in ns-2."), "`false`; chosen: as in ns-2");
        assert_eq!(of(json!("5ms"), "Default chosen: 5 ms, a frame."), "`\"5ms\"`; chosen: a frame");
        assert_eq!(of(json!(0.5), "Default chosen: 0.5."), "`0.5`; chosen");
        assert_eq!(of(json!(10), "Default: 100 in ns-2."), "`10`; 100 in ns-2");
    }

    #[test]
    fn a_small_type_of_one_key_is_described_in_its_row() {
        let schema = json!({ "properties": {
            "mode": { "description": "How.", "$ref": "#/$defs/Mode" },
            "cut": { "items": { "$ref": "#/$defs/Outage" }, "description": "When." },
            "one": { "$ref": "#/$defs/Shared" }, "two": { "$ref": "#/$defs/Shared" },
        } });
        let defs = json!({
            "Mode": { "oneOf": [{ "const": "a", "description": "At once." }, { "const": "b", "description": "Never." }] },
            "Outage": { "description": "An outage.", "properties": { "start": { "type": "string" } } },
            "Shared": { "description": "A table.", "properties": { "x": { "type": "string" } } },
        });
        let inline = inline(&schema, &defs);
        assert_eq!(inline, BTreeSet::from(["Mode", "Outage"]));
        let pages = BTreeMap::new();
        let mut page = Page { text: String::new(), here: "", pages: &pages, defs: &defs, inline: &inline };
        page.keys(&schema);
        assert!(
            page.text.contains("| `mode`: choice |  | How. `\"a\"`: At once. `\"b\"`: Never. |"),
            "{}",
            page.text
        );
        assert!(
            page.text.contains("| `cut`: list of tables |  | When. |\n| `cut.start`: string |"),
            "{}",
            page.text
        );
    }

    #[test]
    fn a_key_without_a_value_has_what_is_taken_in_its_place() {
        assert_eq!(
            cells(&json!({}), "The queue. Left out: no limit."),
            ("no limit".into(), "The queue.".into())
        );
        assert_eq!(cells(&json!({}), "The queue."), (String::new(), "The queue.".into()));
    }
}
