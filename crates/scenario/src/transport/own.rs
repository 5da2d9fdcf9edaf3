//! Keys of single congestion controls: read, described and checked by what the files of the controls declare.
//!
//! They stand among the keys of TCP and of QUIC, and a scenario does not show the difference.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use roamsim_protocols::tcp::congestion::Kind;
use roamsim_protocols::tcp::congestion::keys::{Key, Own, Value};
use serde::de::{DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::{Value as Json, json};

use crate::report::{Report, Step, join};

/// Every declared key, with its control.
fn declared() -> impl Iterator<Item = (Kind, &'static Key)> {
    Kind::ALL.iter().flat_map(|kind| kind.keys().iter().map(|key| (*kind, key)))
}

fn at_place(name: &str) -> Vec<&'static Key> {
    declared().map(|(_, key)| key).filter(|key| key.place() == name).collect()
}

/// The words behind a key, or the keys of a table, by its name.
static LISTS: LazyLock<BTreeMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut lists = BTreeMap::<_, Vec<_>>::new();
    for (_, key) in declared() {
        let list = lists.entry(key.place()).or_default();
        match key.value {
            Value::Word { words, .. } => list.extend(words.iter().map(|(word, _)| *word)),
            _ => list.push(key.name),
        }
    }
    lists
});

/// Whatever reads the keys of a transport, with these keys among them.
pub(super) struct WithOwn<'o, T> {
    pub(super) inner: T,
    pub(super) own: &'o mut Own,
    /// All keys of the transport.
    pub(super) names: &'static OnceLock<Vec<&'static str>>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for WithOwn<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let WithOwn { inner, own, names } = self;
        let keys = names.get_or_init(|| keys.iter().chain(LISTS.keys()).copied().collect());
        inner.deserialize_struct(name, keys, WithOwn { inner: visitor, own, names })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for WithOwn<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let WithOwn { inner, own, names } = self;
        inner.visit_map(WithOwn { inner: map, own, names })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithOwn<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(name) = self.inner.next_key::<&'de str>()? {
            let keys = at_place(name);
            if keys.is_empty() {
                return seed.deserialize(name.into_deserializer()).map(Some);
            }
            self.inner.next_value_seed(Place { keys, own: self.own })?;
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

/// What stands at a place: the value of a key, or a table.
struct Place<'o> {
    keys: Vec<&'static Key>,
    own: &'o mut Own,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        match self.keys[..] {
            [key] if key.table.is_none() => {
                self.own.set(key, One(key).deserialize(from)?);
                Ok(())
            }
            _ => from.deserialize_struct("", &LISTS[self.keys[0].place()], self),
        }
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<&'de str>()? {
            let key = self.keys.iter().find(|key| key.name == name);
            let key = key.ok_or_else(|| A::Error::unknown_field(name, &LISTS[self.keys[0].place()]))?;
            self.own.set(key, map.next_value_seed(One(key))?);
        }
        Ok(())
    }
}

/// The value of a key.
struct One(&'static Key);

impl<'de> DeserializeSeed<'de> for One {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u32, D::Error> {
        match self.0.value {
            Value::Switch { .. } => bool::deserialize(from).map(u32::from),
            Value::Number { .. } => u32::deserialize(from),
            Value::Word { .. } => from.deserialize_enum("", &LISTS[self.0.name], self),
        }
    }
}

impl<'de> Visitor<'de> for One {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<u32, A::Error> {
        let (word, rest) = data.variant::<String>()?;
        rest.unit_variant()?;
        let words = &LISTS[self.0.name];
        let number = words.iter().position(|known| **known == word);
        number.map(|number| number as u32).ok_or_else(|| A::Error::unknown_variant(&word, words))
    }
}

/// Refuses keys that do not act on the control in force, and values that do not go together.
///
/// Messages call that control `with`; their help writes another one by the key `instead`.
pub(super) fn check(
    at: &[Step],
    own: &Own,
    in_force: Option<Kind>,
    with: &str,
    instead: Option<&str>,
    report: &mut Report<'_>,
) {
    let mut told = Vec::new();
    for (kind, key) in declared() {
        let acts = in_force.is_some_and(|control| control.heeds(kind, key));
        if own.get(key).is_none() || acts || told.contains(&key.place()) {
            continue;
        }
        told.push(key.place());
        let off = if key.value == (Value::Switch { default: true }) { " = false" } else { "" };
        let help = match instead {
            Some(instead) => format!("leave it out, or write {instead} = \"{}\"", kind.name()),
            None => "leave it out".to_owned(),
        };
        report.add(
            &join(at, [key.place()]),
            format!("`{}{off}` has no effect with {with}", key.place()),
            help,
        );
    }
    if let Some(fault) = in_force.and_then(|kind| kind.fault(own)) {
        let at = fault.key.table.map_or(at.to_vec(), |table| join(at, [table.name]));
        report.add(&join(&at, [fault.key.name]), fault.message, fault.help);
    }
}

/// Adds the keys to the schema of a transport.
pub(crate) fn add_keys(schema: &mut schemars::Schema) {
    let Some(Json::Object(properties)) = schema.get_mut("properties") else { return };
    for (_, key) in declared() {
        let described = match key.table {
            Some(table) => json!({ "description": table.about, "$ref": reference(key) }),
            None => described(key),
        };
        properties.entry(key.place()).or_insert(described);
    }
}

/// Their types, by name.
pub(crate) fn types() -> BTreeMap<String, Json> {
    let mut types = BTreeMap::new();
    for (_, key) in declared() {
        if let Value::Word { about, words } = key.value {
            let one_of: Vec<_> = words
                .iter()
                .map(|(word, about)| json!({ "type": "string", "const": word, "description": about }))
                .collect();
            types.insert(type_name(key), json!({ "oneOf": one_of, "description": about }));
        }
        if let Some(table) = key.table {
            let table = types.entry(type_name(key)).or_insert_with(|| {
                json!({
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {},
                    "description": table.about_keys,
                })
            });
            table["properties"][key.name] = described(key);
        }
    }
    types
}

fn described(key: &Key) -> Json {
    match key.value {
        Value::Switch { default } => {
            json!({ "type": "boolean", "default": default, "description": key.about })
        }
        Value::Number { default } => {
            json!({ "type": "integer", "default": default, "minimum": 0, "description": key.about })
        }
        Value::Word { words, .. } => {
            json!({ "$ref": reference(key), "description": key.about, "default": words[0].0 })
        }
    }
}

fn reference(key: &Key) -> String {
    format!("#/$defs/{}", type_name(key))
}

/// The name of the type of a table, or of a key with words.
fn type_name(key: &Key) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    key.place().split('_').map(capital).collect()
}
