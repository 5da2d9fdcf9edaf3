//! The declarative scenario: reading, validating, building a world from it, running it.

pub mod access;
pub mod application;
mod build;
mod builder;
mod decode;
mod diagnostics;
mod digested;
pub mod distribution;
pub mod dscp;
pub mod estimate;
mod excerpt;
mod files;
pub mod flow;
pub mod general;
pub mod handover;
mod logs;
pub mod mih_handover;
pub mod mobile_ip;
pub mod names;
pub mod node;
mod overrides;
mod packed;
mod parse;
mod phase;
mod printable;
mod reference;
mod repeat;
mod report;
mod results;
pub mod run;
pub mod scenario;
mod schema;
pub mod selection;
pub mod signalling;
mod stories;
mod suggest;
pub mod table;
mod timing;
mod topology;
mod traces;
pub mod transport;
mod tree;
pub mod units;
mod validate;

pub use diagnostics::{Diagnostics, Problem};
pub use files::{Folder, decode};
pub use parse::Format;
pub use phase::Meeting;
pub use reference::schema_pages;
pub use scenario::Scenario;
pub use schema::schema;

/// A commented scenario to start from.
pub fn template() -> &'static str {
    include_str!("template.toml")
}

/// The presets of TCP by name, as TOML with a source beside each setting.
pub const TCP_STACKS: &[(&str, &str)] = &transport::tcp::stack::STACKS;

/// What other congestion controls change of a preset: the variant, the keys that are left out, and the
/// setting that it has instead.
pub fn tcp_stack_exceptions(name: &str) -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    transport::tcp::stack::exceptions(name)
}
