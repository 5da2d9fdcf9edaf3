//! The declarative scenario: reading, validating, building a world from it, running it.

mod decode;
mod diagnostics;
pub mod model;
mod overrides;
mod parse;
mod suggest;
mod tree;
pub mod units;
mod validate;

pub use diagnostics::{Diagnostics, Problem};
pub use model::scenario::Scenario;
pub use parse::Format;
