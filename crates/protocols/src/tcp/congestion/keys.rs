//! Keys of a scenario that belong to one congestion control.
//!
//! Its file declares them ([`CongestionControl::KEYS`](super::CongestionControl::KEYS)), with what users read
//! about them. Whoever reads scenarios learns of them by [`Kind::keys`](super::Kind::keys).

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The table in which it stands, if it has one of its own.
    pub table: Option<&'static Table>,
    /// Its name.
    pub name: &'static str,
    /// What it means, with the source of its default.
    pub about: &'static str,
    /// What may stand behind it.
    pub value: Value,
}

/// A table of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// What its keys are.
    pub about_keys: &'static str,
}

/// What may stand behind a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Switch {
        /// If it is left out.
        default: bool,
    },
    /// A whole number.
    Number {
        /// If it is left out.
        default: u32,
    },
    /// A word. The first one is the default.
    Word {
        /// What they are about.
        about: &'static str,
        /// Each with what it means.
        words: &'static [(&'static str, &'static str)],
    },
}

/// What a scenario says by such keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own(Vec<(&'static str, &'static str, u32)>);

/// What is wrong with the values of several keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key that is to change.
    pub key: &'static Key,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// A key of TCP that a control does not go with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name. Other values than its default are refused; of `sack` only `false`.
    pub key: &'static str,
    /// Why.
    pub message: &'static str,
    /// What to do.
    pub help: &'static str,
}

/// The value of a key that puts a control in the place of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name of the control that declares the key.
    pub instead_of: &'static str,
    /// The key.
    pub key: &'static Key,
    /// Its value, as [`Key::default`] has it.
    pub value: u32,
}

/// The value of a key whose second word is "linux", as those of the rules of a control are.
pub const LINUX_RULES: u32 = 1;

/// Keys of TCP that a preset has for one control alone: transports with another one are without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The name of the preset.
    pub preset: &'static str,
    /// The names of the keys.
    pub keys: &'static [&'static str],
}

impl Key {
    /// What stands among the keys of TCP: its table, or the key.
    pub fn place(&self) -> &'static str {
        self.table.map_or(self.name, |table| table.name)
    }

    /// The name of its table; empty without one.
    pub fn table_name(&self) -> &'static str {
        self.table.map_or("", |table| table.name)
    }

    /// A value as it stands in a scenario.
    pub fn text(&self, value: u32) -> String {
        match self.value {
            Value::Switch { .. } => (value != 0).to_string(),
            Value::Number { .. } => value.to_string(),
            Value::Word { words, .. } => format!("\"{}\"", words[value as usize].0),
        }
    }

    /// Its value if it is left out: a number, 1 for `true`, or the number of a word.
    pub fn default(&self) -> u32 {
        match self.value {
            Value::Switch { default } => u32::from(default),
            Value::Number { default } => default,
            Value::Word { .. } => 0,
        }
    }
}

impl Own {
    /// The same with this value.
    #[must_use]
    pub fn with(mut self, key: &Key, value: u32) -> Own {
        self.set(key, value);
        self
    }

    /// Sets a value, as [`Key::default`] has it. Outside of a table a default that is written out is nothing.
    pub fn set(&mut self, key: &Key, value: u32) {
        let place = (key.table_name(), key.name);
        let at = self.0.binary_search_by_key(&place, |(table, name, _)| (*table, *name));
        match (at, key.table.is_none() && value == key.default()) {
            (Ok(at), true) => drop(self.0.remove(at)),
            (Ok(at), false) => self.0[at].2 = value,
            (Err(_), true) => {}
            (Err(at), false) => self.0.insert(at, (place.0, place.1, value)),
        }
    }

    /// The value, if it is set.
    pub fn get(&self, key: &Key) -> Option<u32> {
        self.0
            .iter()
            .find(|(table, name, _)| (*table, *name) == (key.table_name(), key.name))
            .map(|set| set.2)
    }

    /// The value in force.
    pub fn value(&self, key: &Key) -> u32 {
        self.get(key).unwrap_or_else(|| key.default())
    }

    /// Whether a switch is on.
    pub fn is_on(&self, key: &Key) -> bool {
        self.value(key) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table { name: "table", about: "", about_keys: "" };
    const SWITCH: Key =
        Key { table: None, name: "switch", about: "", value: Value::Switch { default: true } };
    const INNER: Key =
        Key { table: Some(&TABLE), name: "switch", about: "", value: Value::Number { default: 7 } };

    #[test]
    fn keys_have_their_defaults_and_tables_keep_what_is_written() {
        let own = Own::default();
        assert_eq!((own.is_on(&SWITCH), own.value(&INNER), own.get(&INNER)), (true, 7, None));
        let own = own.with(&SWITCH, 0).with(&INNER, 7);
        assert_eq!((own.is_on(&SWITCH), own.value(&INNER), own.get(&INNER)), (false, 7, Some(7)));
        // A default that is written out changes nothing.
        assert_eq!(Own::default().with(&SWITCH, 0).with(&SWITCH, 1), Own::default());
    }
}
