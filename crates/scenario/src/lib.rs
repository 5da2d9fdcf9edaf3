//! The declarative scenario: reading, validating, building a world from it, running it.

mod build;
mod decode;
mod diagnostics;
pub mod model;
mod overrides;
mod parse;
mod results;
pub mod run;
mod suggest;
pub mod table;
mod tree;
pub mod units;
mod validate;

pub use diagnostics::{Diagnostics, Problem};
pub use model::scenario::Scenario;
pub use parse::Format;
pub fn schema() -> serde_json::Value { serde_json::Value::Null }
pub fn template() -> &'static str { "" }
