//! The declarative scenario: reading, validating, building a world from it, running it.

mod decode;
pub mod model;
pub mod units;

pub use model::scenario::Scenario;
