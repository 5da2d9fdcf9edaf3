//! The reference page of all keys, written from the schema.

use std::fmt::Write;

use serde_json::Value;

use crate::schema::schema;

const HEAD: &str = "\
# Scenario reference

All keys of a scenario. This page is written from `roamsim schema`; to change it, change the documentation of the
types (`model.rs` and `model/` in `crates/scenario/src`) and run the command at its end.

A scenario is TOML (or, in Python, a dictionary of the same shape). Quantities are strings with a unit: `\"10ms\"`,
`\"11Mb/s\"`, `\"200B\"`. Unknown keys are errors. A key without \"required\" may be left out; its default, and where that
comes from, stand beside it.

An element whose `name` holds `{i}` stands for many: `[[node]] name = \"client-{i}\", count = 3` is `client-0`, `client-1` and
`client-2`, and in every other string of the element `{i}` becomes the same number, also in quantities (`delay = \"{i}ms\"`).
What refers to repeated elements is repeated with them (`from = \"client-{i}\"` in a flow `up-{i}`); in a list of names of an
element that is there once, `\"client-{i}\"` stands for all. `--vary \"node.client-{i}.count=1,10,100\"` asks for any number.

## Files

Keys such as `file`, `trace` and `mahimahi` name a file, by a path relative to the folder of the scenario. The scenario keeps what the
file says, so that results need no file.

- A file lies in the scenario's folder or below it. An absolute path, a `..` or a link that leads out is refused, since a scenario may
  come from someone else and results keep what its files say. `--allow-files-outside`, in Python `allow_files_outside=True`, reads it
  all the same. A file that you name yourself, by `--set`, `--vary` or `set=`, is read wherever it lies; its path is relative to the
  same folder. Text, dictionaries and standard input have the current folder. A study runs its own code, so its scenarios may name any
  file.
- A file is text in UTF-8, or in UTF-16 behind a byte order mark, and may be compressed by gzip. A byte order mark is no part of its
  first line. The scenario file itself may be stored in the same ways.
- Columns stand between commas, semicolons or white space, as they are or in quotation marks.
- The first line may be a heading. It names each column by words that begin with a letter, `time_s,rate_mbps`, and holds no number.
- Any other line that cannot be read is an error, with its file and line.
";

const FOOT: &str = "
---
Written by `cargo run -p roamsim-scenario --example write_reference`.
";

/// The reference page in Markdown.
pub fn schema_markdown() -> String {
    let schema = schema();
    let mut page = Page { text: HEAD.to_owned(), defs: &schema["$defs"], open: Vec::new(), done: Vec::new() };
    for (key, property) in entries(&schema["properties"]) {
        let (heading, target) = match property.get("items") {
            Some(items) => (format!("[[{key}]]"), items),
            None => (format!("[{key}]"), property),
        };
        let name = reference(target).unwrap_or_default();
        page.done.push(name.to_owned());
        let definition = &schema["$defs"][name];
        let _ = write!(page.text, "\n## `{heading}`\n\n{}\n", text(definition));
        page.keys(definition);
    }
    page.text.push_str("\n# Types\n");
    let mut next = 0;
    while let Some(name) = page.open.get(next).cloned() {
        next += 1;
        let definition = &schema["$defs"][&name];
        let _ = write!(page.text, "\n## {name}\n\n{}\n", text(definition));
        page.definition(definition);
    }
    page.text.push_str(FOOT);
    page.text
}

/// The page so far. Writing to a string cannot fail, so results of `write!` are not looked at.
struct Page<'a> {
    text: String,
    defs: &'a Value,
    /// Types that are referred to, in the order of the page.
    open: Vec<String>,
    /// Types that are sections of their own.
    done: Vec<String>,
}

impl Page<'_> {
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
    fn kind(&mut self, property: &Value) -> String {
        if let Some(name) = reference(property) {
            if self.defs.get(name).is_some() && !self.done.iter().any(|d| d == name) {
                self.done.push(name.to_owned());
                self.open.push(name.to_owned());
            }
            return format!("[{name}](#{})", name.to_lowercase());
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
