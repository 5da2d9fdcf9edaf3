//! The scenario as written: a tree of tables, lists and values in which every key and value knows its place
//! in the text. TOML, JSON and overrides all end here.
//!
//! Values from JSON have no place, only a path: JSON comes from programs, whose authors see no text. A `null`
//! in a JSON object leaves its key out.
//!
//! While a large scenario is read this is most of its memory. So values lie one behind the other, 16 octets
//! each, those of a list or a table together, and all texts in one piece. What others are put in place of
//! stays there, and nothing leads to it any more.

mod arena;
mod brackets;
mod canonical;
mod json;
mod mistakes;
mod toml;

pub(crate) use self::arena::{MAX_BYTES, MAX_DEPTH, New, Node, Nodes, Table, Tree, Value};
pub(crate) use self::json::from_json;
pub(crate) use self::toml::from_toml;
