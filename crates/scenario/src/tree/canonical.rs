//! The tree as JSON with sorted keys and without spaces.

use std::io::{self, Write};

use super::arena::{Node, Value};

impl Node<'_> {
    /// It as JSON.
    pub fn canonical_json(self) -> String {
        let mut json = Vec::new();
        // Memory takes all that is written to it.
        self.write_json(&mut json).ok();
        String::from_utf8(json).unwrap_or_default()
    }

    /// Scalars as serde_json writes them; a number that JSON has no word for is null. (Its own tree of a
    /// thousand flows takes twice as long to make and drop as all of this.)
    pub fn write_json(self, json: &mut impl Write) -> io::Result<()> {
        match self.value() {
            Value::Text(_) | Value::Date => serde_json::to_writer(json, self.letters())?,
            Value::Integer(number) => serde_json::to_writer(json, &number)?,
            Value::Float(number) => serde_json::to_writer(json, &number)?,
            Value::Boolean(yes) => serde_json::to_writer(json, &yes)?,
            Value::List(list) => {
                json.write_all(b"[")?;
                for (place, node) in list.enumerate() {
                    if place > 0 {
                        json.write_all(b",")?;
                    }
                    node.write_json(json)?;
                }
                json.write_all(b"]")?;
            }
            Value::Table(table) => {
                let mut sorted: Vec<_> = table.entries().collect();
                sorted.sort_by_key(|entry| entry.key());
                json.write_all(b"{")?;
                for (place, entry) in sorted.into_iter().enumerate() {
                    if place > 0 {
                        json.write_all(b",")?;
                    }
                    serde_json::to_writer(&mut *json, entry.key())?;
                    json.write_all(b":")?;
                    entry.write_json(json)?;
                }
                json.write_all(b"}")?;
            }
        }
        Ok(())
    }
}
