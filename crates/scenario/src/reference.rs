//! The reference pages of all keys, written from the schema: one a table, and one of the types that tables
//! share.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

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
    let mut written = vec![("scenario.md".to_owned(), index(&tables, &pages))];
    for table in &tables {
        let mut page = Page { text: String::new(), here: table.key, pages: &pages };
        let definition = &defs[table.name];
        let _ = write!(page.text, "# `{}`\n\n{}\n", table.heading, text(definition));
        page.keys(definition);
        page.types(&types, defs);
        written.push((format!("scenario/{}.md", table.key), page.text));
    }
    let mut page = Page { text: "# Types of several tables\n".to_owned(), here: SHARED, pages: &pages };
    // In the order of the alphabet, as nothing else brings a reader to one.
    types.sort_unstable();
    types.dedup();
    page.types(&types, defs);
    written.push((format!("scenario/{SHARED}.md"), page.text));
    written
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
fn index(tables: &[Table<'_>], pages: &BTreeMap<&str, &str>) -> String {
    let mut page = format!("{HEAD}\n| table | |\n|---|---|\n");
    for Table { key, heading, about, .. } in tables {
        let _ = writeln!(page, "| [`{heading}`](scenario/{key}.md) | {} |", about.trim_end_matches('.'));
    }
    page.push_str("\n## Types\n\n| | |\n|---|---|\n");
    let mut letters: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, at) in pages.iter().filter(|(name, _)| tables.iter().all(|table| table.name != **name)) {
        let link = format!("[{name}](scenario/{at}.md#{})", name.to_lowercase());
        letters.entry(&name[..1]).or_default().push(link);
    }
    for (letter, links) in letters {
        let _ = writeln!(page, "| {letter} | {} |", links.join(", "));
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
}

impl Page<'_> {
    /// The types that are described here, behind a list of them.
    fn types(&mut self, types: &[&str], defs: &Value) {
        let mut own: Vec<&str> = Vec::new();
        for &name in types {
            if self.pages.get(name) == Some(&self.here) && !own.contains(&name) {
                own.push(name);
            }
        }
        if own.is_empty() {
            return;
        }
        let links: Vec<String> =
            own.iter().map(|name| format!("[{name}](#{})", name.to_lowercase())).collect();
        let _ = write!(self.text, "\nTypes on this page: {}.\n", links.join(";\n"));
        for name in own {
            let _ = write!(self.text, "\n## {name}\n\n{}\n", text(&defs[name]));
            self.definition(&defs[name]);
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
            if definition.get("properties").is_some() {
                self.keys(definition);
            }
            return;
        };
        if variants.iter().all(|v| v.get("const").is_some()) {
            self.text.push('\n');
            for variant in variants {
                let _ = writeln!(self.text, "- `{}`: {}", toml(&variant["const"]), text(variant));
            }
            return;
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
            let heading = match &tags[..] {
                [] => entries(&variant["properties"])
                    .map(|(key, _)| key.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
                tags => tags.join(", "),
            };
            let _ = write!(self.text, "\n### `{heading}`\n\n{}\n", text(variant));
            self.keys(variant);
        }
    }

    /// A table of the keys, without the tags that name a variant.
    fn keys(&mut self, definition: &Value) {
        let properties: Vec<_> =
            entries(&definition["properties"]).filter(|(_, p)| p.get("const").is_none()).collect();
        if properties.is_empty() {
            return;
        }
        self.text.push_str("\n| key | type | default | |\n|---|---|---|---|\n");
        for (key, property) in properties {
            let kind = self.kind(property);
            let required = definition["required"].as_array().is_some_and(|r| r.iter().any(|k| k == key));
            let default = match property.get("default") {
                _ if required => "required".into(),
                Some(default) => format!("`{}`", toml(default)),
                None => String::new(),
            };
            let _ = writeln!(
                self.text,
                "| `{key}` | {kind} | {default} | {} |",
                text(property).replace('|', "\\|")
            );
        }
    }

    /// The type of a key, with a link to its description.
    fn kind(&self, property: &Value) -> String {
        if let Some(name) = reference(property) {
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
                Some(count) => format!("list of {count} {}s", self.kind(&property["items"])),
                None => format!("list of {}", self.kind(&property["items"])),
            },
            Some("integer") => "whole number".into(),
            Some(name) => name.into(),
            None => String::new(),
        }
    }
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
