//! From the tree to the model: a serde deserializer that knows where every key and value stands.
//!
//! Four conventions make the derived grammar read as users write it:
//! - An enum whose serde name is `tag:KEY` is a table in which KEY names the variant and the other keys are
//!   the variant's. `tag:KEY=VARIANT` gives the variant that is meant when KEY is left out; there a plain
//!   value instead of a table stands for that variant's first key. (serde's own internally tagged enums
//!   buffer the table, and lose where its values stand.)
//! - An enum whose serde name is [`ONE_KEY`] is a table with exactly one key, the variant.
//! - A struct whose serde name is [`PLAIN_OR_TABLE`] is a table, or a plain value, which stands for its first
//!   key.
//! - [`OneOrMany`] takes a table, or a plain value, as a list of one.
//!
//! All unknown keys are reported in one pass. A wrong value ends serde's walk, so the walk is repeated with
//! that value taken as left out, until nothing new is wrong: users see all their mistakes at once.

mod error;
mod one_or_many;
pub(crate) mod schema;
mod sharing;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use roamsim_protocols::tcp::congestion;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use self::error::{At, Error, Kind, of_kind};
pub(crate) use self::one_or_many::OneOrMany;
pub(crate) use self::sharing::{Sharing, share, sharing};
use crate::diagnostics::{Place, Problem, Problems};
use crate::suggest::{alternatives, nearest, nearest_key};
use crate::tree::{Node, Nodes, Table, Value};

/// The serde name of a struct for whose first key a plain value may stand.
const PLAIN_OR_TABLE: &str = "plain value or table";

/// The serde name of an enum that is a table with exactly one key.
const ONE_KEY: &str = "one key";

/// Keys that mean something in some tables only, and which those are.
const ELSEWHERE: [(&str, &str); 2] = [
    (
        "ecn",
        "only queues of `red`, `codel`, `fq_codel` and `pie` mark packets, and only TCP and QUIC answer marks",
    ),
    ("profile", "presets of TCP have the key `stack`"),
];

/// Where a key means something. Keys of congestion controls do so over TCP and QUIC.
fn elsewhere(key: &str) -> Option<String> {
    let declares = |control: &&congestion::Kind| control.keys().iter().any(|own| own.place() == key);
    let listed = ELSEWHERE.iter().find(|(other, _)| *other == key).map(|(_, belongs)| (*belongs).to_owned());
    listed.or_else(|| {
        let control = congestion::Kind::ALL.iter().find(declares)?;
        Some(format!("only `{}` over TCP or QUIC has this key", control.name()))
    })
}

/// Which other kinds of a table have a key that this one has not: by the key that names the kind, the kind
/// if it is written, the keys of this kind, and the unknown key.
type OtherKinds = fn(tag: &str, kind: Option<&str>, keys: &[&str], unknown: &str) -> Vec<String>;

/// Decodes the tree. What is wrong goes to `problems`, and then there is no value.
///
/// Where values are `copies` of each other, which have the same place, what is wrong with all is told once.
pub(crate) fn decode<'de, T: Deserialize<'de>>(
    root: Node<'de>,
    copies: bool,
    other_kinds: OtherKinds,
    problems: &mut Problems,
) -> Option<T> {
    let state = State {
        copies,
        other_kinds,
        found: RefCell::default(),
        broken: RefCell::default(),
        broken_places: RefCell::default(),
        searched: RefCell::default(),
    };
    let mut value = None;
    while value.is_none() && state.found.borrow().len() < Problems::MAX {
        match T::deserialize(NodeDeserializer {
            node: root,
            path: &Path::Root,
            tags: Vec::new(),
            state: &state,
        }) {
            Ok(decoded) => value = Some(decoded),
            Err(error) => {
                let fault = *error.0;
                let Some(at) = fault.at else {
                    // Cannot happen: every deserializer of ours gives its errors a place. Better said than
                    // hidden.
                    state.found.borrow_mut().push(Problem::new(fault.message));
                    break;
                };
                if !matches!(fault.kind, Kind::Consequence) {
                    let problem =
                        Problem::new(fault.message).at(at.node.place()).path(at.path).help_if(fault.help);
                    state.found.borrow_mut().push(problem);
                }
                // An error that comes back although its value counts as left out would come back forever.
                if at.node == root || state.is_broken(at.node) {
                    break;
                }
                state.add_broken(at.node);
            }
        }
    }
    let found = state.found.into_inner();
    let clean = found.is_empty();
    found.into_iter().for_each(|problem| problems.add(problem));
    value.filter(|_| clean)
}

/// What the repeated walks share.
struct State<'de> {
    found: RefCell<Vec<Problem>>,
    /// Values already reported, taken as left out.
    broken: RefCell<Vec<Node<'de>>>,
    /// Whether values with the same place are copies of each other, and the places of those reported.
    copies: bool,
    other_kinds: OtherKinds,
    broken_places: RefCell<BTreeSet<Place>>,
    /// Tables whose unknown keys were reported, and what these keys probably meant.
    searched: RefCell<Vec<(Table<'de>, Vec<&'static str>)>>,
}

impl<'de> State<'de> {
    fn add_broken(&self, node: Node<'de>) {
        self.broken.borrow_mut().push(node);
        if let Some(place) = node.place().filter(|_| self.copies) {
            self.broken_places.borrow_mut().insert(place);
        }
    }

    fn is_broken(&self, node: Node<'_>) -> bool {
        let by_place =
            self.copies && node.place().is_some_and(|place| self.broken_places.borrow().contains(&place));
        by_place || self.broken.borrow().contains(&node)
    }

    /// Whether the absence of `key` follows from a problem already reported.
    fn explains_absence(&self, table: Table<'_>, key: &str) -> bool {
        let meant = |(t, meant): &(Table<'_>, Vec<&str>)| *t == table && meant.contains(&key);
        table.get(key).is_some_and(|node| self.is_broken(node)) || self.searched.borrow().iter().any(meant)
    }
}

/// The way from the root, for messages.
enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Element(&'a Path<'a>, usize, Option<&'a str>),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = match self {
            Path::Root => return Ok(()),
            Path::Key(parent, _) | Path::Element(parent, ..) => *parent,
        };
        if !matches!(parent, Path::Root) {
            write!(f, "{parent}.")?;
        }
        match self {
            Path::Root => Ok(()),
            Path::Key(_, key) => write_step(f, key),
            Path::Element(_, _, Some(name)) => write_step(f, name),
            Path::Element(_, index, None) => write!(f, "{index}"),
        }
    }
}

/// A step of a path as an override would write it: quoted where it holds nothing, or a character that
/// means something in paths.
pub(crate) fn write_step(f: &mut impl fmt::Write, step: &str) -> fmt::Result {
    if step.is_empty() || step.contains(['.', '=', '"', '+', '*']) {
        write!(f, "\"{step}\"")
    } else {
        f.write_str(step)
    }
}

/// One value of the tree, on its way into the model.
struct NodeDeserializer<'de, 's> {
    node: Node<'de>,
    path: &'s Path<'s>,
    /// Keys of this table that named a variant and are used up.
    tags: Vec<&'static str>,
    state: &'s State<'de>,
}

impl<'de, 's> NodeDeserializer<'de, 's> {
    /// Gives an error this value as its place, unless it has one from further in.
    fn place<T>(&self, result: Result<T, Error<'de>>) -> Result<T, Error<'de>> {
        result.map_err(|mut error| {
            if error.0.at.is_none() {
                if let Kind::Missing(key) = error.0.kind
                    && self.node.table().is_some_and(|table| self.state.explains_absence(table, key))
                {
                    error.0.kind = Kind::Consequence;
                }
                error.0.at = Some(At { node: self.node, path: self.path.to_string() });
            }
            error
        })
    }

    fn visit_table<V: Visitor<'de>>(
        &self,
        table: Table<'de>,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error<'de>> {
        self.report_unknown_keys(table, keys);
        let access = TableAccess { rest: table.entries(), keys, value: None, of: self };
        visitor.visit_map(access)
    }

    fn report_unknown_keys(&self, table: Table<'de>, keys: &'static [&'static str]) {
        let known = |key: &str| keys.contains(&key) || self.tags.contains(&key);
        if table.entries().all(|e| known(e.key()))
            || self.state.searched.borrow().iter().any(|(t, _)| *t == table)
        {
            return;
        }
        let first = table.entries().find(|e| !known(e.key())).and_then(Node::key_place);
        if self.state.copies
            && let Some(place) = first
            && !self.state.broken_places.borrow_mut().insert(place)
        {
            return;
        }
        // Rather a key that is still free than one that stands beside it. Looked up once: tables may be
        // large.
        let free: Vec<_> = keys.iter().copied().filter(|key| table.get(key).is_none()).collect();
        let mut meanings = Vec::new();
        for entry in table.entries().filter(|e| !known(e.key())) {
            if self.state.found.borrow().len() >= Problems::MAX {
                break;
            }
            let meant = nearest_key(entry.key(), free.iter().copied())
                .or_else(|| nearest_key(entry.key(), keys.iter().copied()));
            let list = alternatives(self.tags.iter().chain(keys).copied());
            let belongs = elsewhere(entry.key()).or_else(|| self.of_another_kind(table, keys, entry.key()));
            let help = match (meant, belongs) {
                (Some(meant), _) => format!("did you mean `{meant}`? The keys here: {list}"),
                (None, Some(belongs)) => format!("{belongs}; the keys here: {list}"),
                (None, None) => format!("the keys here: {list}"),
            };
            meanings.extend(meant);
            let problem = Problem::new(format!("unknown key `{}`", entry.key()))
                .at(entry.key_place())
                .path(self.path.to_string())
                .help(help);
            self.state.found.borrow_mut().push(problem);
        }
        self.state.searched.borrow_mut().push((table, meanings));
    }

    /// Which kinds of this table have a key, in words.
    fn of_another_kind(&self, table: Table<'de>, keys: &[&str], unknown: &str) -> Option<String> {
        self.tags.iter().find_map(|tag| {
            let kinds = (self.state.other_kinds)(tag, table.get(tag).and_then(Node::text), keys, unknown);
            let named: Vec<&str> = kinds.iter().map(String::as_str).collect();
            (!named.is_empty()).then(|| format!("`{unknown}` goes with {tag} = {}", quoted(&named)))
        })
    }

    /// Which variant a table's tag names, and where the tag stands.
    fn variant(
        &self,
        table: Table<'de>,
        tag: &'static str,
        default: Option<&'static str>,
        variants: &'static [&'static str],
    ) -> Result<&'static str, Error<'de>> {
        let written = table.get(tag);
        // What a variant needs that nobody has written is no problem of this table.
        if written.is_some_and(|node| self.state.is_broken(node)) {
            return Err(Error::consequence());
        }
        let Some(node) = written else {
            return default.ok_or_else(|| {
                let missing: Error<'de> = de::Error::missing_field(tag);
                missing.help(format!("`{tag}` may be {}", quoted(variants)))
            });
        };
        let at =
            NodeDeserializer { node, path: &Path::Key(self.path, tag), tags: Vec::new(), state: self.state };
        at.place(match node.text() {
            Some(text) => choose(text, tag, variants),
            None => Err(Error::new(format!("`{tag}` is a string, not {}", node.noun()))
                .help(format!("it may be {}", quoted(variants)))),
        })
    }

    fn enum_access(
        &self,
        name: &'static str,
        variants: &'static [&'static str],
    ) -> Result<Choice<'de, '_>, Error<'de>> {
        if let Some(tag) = name.strip_prefix("tag:") {
            let (tag, default) =
                tag.split_once('=').map_or((tag, None), |(tag, default)| (tag, Some(default)));
            return match (self.node.value(), default) {
                (Value::Table(table), default) => {
                    let variant = self.variant(table, tag, default, variants)?;
                    let mut tags = self.tags.clone();
                    tags.push(tag);
                    Ok(Choice { variant, content: Content::Tagged(table, tags), of: self })
                }
                (Value::List(_), _) | (_, None) => Err(self.no_table(tag, variants)),
                (_, Some(default)) => Ok(Choice { variant: default, content: Content::Shorthand, of: self }),
            };
        }
        if name == ONE_KEY {
            return self.one_key(variants);
        }
        match self.node.text() {
            Some(text) => {
                let key = match self.path {
                    Path::Key(_, key) => key,
                    _ => "value",
                };
                let variant = choose(text, key, variants)?;
                Ok(Choice { variant, content: Content::None, of: self })
            }
            None => Err(Error::new(of_kind(self.node.noun(), "a string"))
                .help(format!("it may be {}", quoted(variants)))),
        }
    }

    /// The variant of a table with exactly one key.
    fn one_key(&self, variants: &'static [&'static str]) -> Result<Choice<'de, '_>, Error<'de>> {
        let list = alternatives(variants.iter().copied());
        let help = format!("write {{ {} = ... }}; the key may be {list}", variants[0]);
        let Some(table) = self.node.table() else {
            return Err(Error::new(of_kind(self.node.noun(), "a table")).help(help));
        };
        self.report_unknown_keys(table, variants);
        let known: Vec<Node<'_>> = table.entries().filter(|e| variants.contains(&e.key())).collect();
        match known[..] {
            [entry] if self.state.is_broken(entry) => Err(Error::consequence()),
            [entry] => {
                let variant = choose(entry.key(), "key", variants)?;
                Ok(Choice { variant, content: Content::Key(entry), of: self })
            }
            [] if table.entries().any(|e| !self.tags.contains(&e.key())) => Err(Error::consequence()),
            [] if !self.tags.is_empty() => {
                let tag = table.entries().find(|entry| self.tags.contains(&entry.key()));
                let written = tag.and_then(|tag| Some((tag.key(), tag.text()?)));
                Err(match written {
                    None => Error::new(format!("{list} is missing")).help(help),
                    // --set or --vary may have changed the tag alone, in a table without this key.
                    Some((tag, text)) => Error::new(format!("{tag} = \"{text}\" needs {list}")).help(format!(
                        "write the whole table, {{ {tag} = \"{text}\", {} = ... }}, by --set and --vary too",
                        variants[0]
                    )),
                })
            }
            [] => Err(Error::new("this table is empty").help(help)),
            _ => Err(Error::new(format!("only one of the keys {list} may stand here")).help(help)),
        }
    }

    /// A table with a tag is needed and something else stands there.
    fn no_table(&self, tag: &str, variants: &[&str]) -> Error<'de> {
        let error = Error::new(of_kind(self.node.noun(), "a table"));
        let variant = self.node.text().filter(|text| variants.contains(text)).unwrap_or(variants[0]);
        error.help(format!("write {{ {tag} = \"{variant}\", ... }}; `{tag}` may be {}", quoted(variants)))
    }
}

/// The variant of that name.
fn choose<'de>(text: &str, key: &str, variants: &'static [&'static str]) -> Result<&'static str, Error<'de>> {
    if let Some(variant) = variants.iter().find(|v| **v == text) {
        return Ok(variant);
    }
    let list = quoted(variants);
    let help = match nearest(text, variants.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"? It may be {list}"),
        None => format!("it may be {list}"),
    };
    Err(Error::new(format!("unknown `{key}` \"{text}\"")).help(help))
}

fn quoted(variants: &[&str]) -> String {
    alternatives(variants.iter().copied()).replace('`', "\"")
}

impl<'de> Deserializer<'de> for NodeDeserializer<'de, '_> {
    type Error = Error<'de>;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error<'de>> {
        self.place(match self.node.value() {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(yes) => visitor.visit_bool(yes),
            Value::Date => Err(de::Error::invalid_type(Unexpected::Other("a date"), &visitor)),
            Value::List(_) => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
            Value::Table(_) => Err(de::Error::invalid_type(Unexpected::Map, &visitor)),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error<'de>> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error<'de>> {
        if name == one_or_many::NAME {
            return match self.node.value() {
                Value::List(_) => self.deserialize_seq(visitor),
                _ => visitor.visit_seq(ListAccess { rest: self.node.alone(), index: None, of: &self }),
            };
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error<'de>> {
        match self.node.value() {
            Value::List(list) => {
                let result = visitor.visit_seq(ListAccess { rest: list.clone(), index: Some(0), of: &self });
                let broken = list.into_iter().any(|node| self.state.is_broken(node));
                self.place(result.map_err(|error| match error.0.at {
                    None if broken => Error::consequence(),
                    _ => error,
                }))
            }
            Value::Table(_) if matches!(self.path, Path::Key(Path::Root, _)) => {
                let key = self.path;
                let error = Error::new(format!("`{key}` is a list of tables, not a table"));
                self.place(Err(error.help(format!("write `[[{key}]]` in double brackets before each"))))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error<'de>> {
        match self.node.list() {
            // serde's arrays stop reading when they are full.
            Some(list) if list.len() > length => {
                self.place(Err(de::Error::invalid_length(list.len(), &visitor)))
            }
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error<'de>> {
        match self.node.value() {
            Value::Table(table) => self.place(self.visit_table(table, keys, visitor)),
            _ if name == PLAIN_OR_TABLE => {
                self.place(visitor.visit_map(ShorthandAccess { key: keys.first().copied(), of: &self }))
            }
            _ => {
                let error = Error::new(of_kind(self.node.noun(), "a table"));
                self.place(Err(
                    error.help(format!("the keys of the table: {}", alternatives(keys.iter().copied())))
                ))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error<'de>> {
        self.place(self.enum_access(name, variants).and_then(|choice| visitor.visit_enum(choice)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple_struct map identifier ignored_any
    }
}

/// The elements of a list that are not broken.
struct ListAccess<'de, 'a> {
    rest: Nodes<'de>,
    /// `None` when the list is one table, whose path is that of the list.
    index: Option<usize>,
    of: &'a NodeDeserializer<'de, 'a>,
}

impl<'de> SeqAccess<'de> for ListAccess<'de, '_> {
    type Error = Error<'de>;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error<'de>> {
        for node in self.rest.by_ref() {
            let index = self.index;
            self.index = index.map(|i| i + 1);
            if self.index.is_some() && self.of.state.is_broken(node) {
                continue;
            }
            let element;
            let path = match index {
                Some(index) => {
                    element = Path::Element(self.of.path, index, node.name());
                    &element
                }
                None => self.of.path,
            };
            return seed
                .deserialize(NodeDeserializer { node, path, tags: Vec::new(), state: self.of.state })
                .map(Some);
        }
        Ok(None)
    }
}

/// The known keys of a table whose values are not broken.
struct TableAccess<'de, 'a, 's> {
    rest: Nodes<'de>,
    keys: &'static [&'static str],
    value: Option<Node<'de>>,
    of: &'a NodeDeserializer<'de, 's>,
}

impl<'de> MapAccess<'de> for TableAccess<'de, '_, '_> {
    type Error = Error<'de>;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error<'de>> {
        let (keys, state) = (self.keys, self.of.state);
        let usable = |e: &Node<'de>| keys.contains(&e.key()) && !state.is_broken(*e);
        self.value = self.rest.by_ref().find(usable);
        self.value.map(|entry| seed.deserialize(BorrowedStrDeserializer::new(entry.key()))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error<'de>> {
        let entry = self.value.take().ok_or_else(|| Error::new("a value was asked for before its key"))?;
        let path = &Path::Key(self.of.path, entry.key());
        seed.deserialize(NodeDeserializer { node: entry, path, tags: Vec::new(), state: self.of.state })
    }
}

/// A variant that was named, and what it holds.
struct Choice<'de, 'a> {
    variant: &'static str,
    content: Content<'de>,
    of: &'a NodeDeserializer<'de, 'a>,
}

enum Content<'de> {
    /// Nothing: the name is all.
    None,
    /// The other keys of the table that the tag stands in, and the tags used up so far.
    Tagged(Table<'de>, Vec<&'static str>),
    /// The plain value itself, for the variant's first key.
    Shorthand,
    /// The value of the key that is the variant's name.
    Key(Node<'de>),
}

impl<'de, 'a> EnumAccess<'de> for Choice<'de, 'a> {
    type Error = Error<'de>;
    type Variant = Choice<'de, 'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error<'de>> {
        let name: StrDeserializer<'_, Error<'de>> = self.variant.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de, '_> {
    type Error = Error<'de>;

    fn unit_variant(self) -> Result<(), Error<'de>> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error<'de>> {
        let NodeDeserializer { node, path, state, .. } = *self.of;
        match self.content {
            Content::Tagged(_, tags) => seed.deserialize(NodeDeserializer { node, path, tags, state }),
            Content::Key(node) => {
                let path = &Path::Key(path, self.variant);
                seed.deserialize(NodeDeserializer { node, path, tags: Vec::new(), state })
            }
            // Of an enum behind the tag: it says itself what it needs.
            Content::Shorthand => seed.deserialize(NodeDeserializer { node, path, tags: Vec::new(), state }),
            Content::None => Err(Error::new("a table is needed here")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error<'de>> {
        Err(Error::new("a table is needed here"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error<'de>> {
        let NodeDeserializer { node, path, state, .. } = *self.of;
        match self.content {
            Content::Tagged(table, tags) => {
                NodeDeserializer { node, path, tags, state }.visit_table(table, keys, visitor)
            }
            Content::Shorthand => {
                visitor.visit_map(ShorthandAccess { key: keys.first().copied(), of: self.of })
            }
            Content::None | Content::Key(_) => Err(Error::new("a table is needed here")),
        }
    }
}

/// A plain value as a table with one key.
struct ShorthandAccess<'de, 'a> {
    key: Option<&'static str>,
    of: &'a NodeDeserializer<'de, 'a>,
}

impl<'de> MapAccess<'de> for ShorthandAccess<'de, '_> {
    type Error = Error<'de>;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error<'de>> {
        self.key.take().map(|key| seed.deserialize(BorrowedStrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error<'de>> {
        let NodeDeserializer { node, path, state, .. } = *self.of;
        seed.deserialize(NodeDeserializer { node, path, tags: Vec::new(), state })
    }
}
