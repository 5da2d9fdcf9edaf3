//! Captures of what was on the air.

pub mod listening;
pub mod log;
pub mod octets;
pub mod record;
