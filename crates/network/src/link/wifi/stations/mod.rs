//! Stations: the cells that they hear, how they find and join them, and packets between them.

mod association;
mod joining;
pub(super) mod layout;
mod scan;
pub(super) mod station;
