//! Channels that terminals try, and what becomes of that.

use super::resource::Channel;

/// A channel that a terminal tries in this frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub place: usize,
    pub channel: Channel,
    pub outcome: Outcome,
}

/// What becomes of a pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    /// A unit of it is occupied.
    Occupied,
    /// Another pick of this frame shares a unit of it.
    Collision,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Success => "idle",
            Outcome::Occupied => "occupied",
            Outcome::Collision => "collision",
        }
    }
}
