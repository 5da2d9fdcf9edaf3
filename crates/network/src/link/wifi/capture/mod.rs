//! Captures of what was on the air.

pub(super) mod listening;
mod octets;
pub mod record;
