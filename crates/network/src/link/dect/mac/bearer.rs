//! The number of a bearer, and its state good or bad.

/// A bearer, from its set-up or handover to its release: never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BearerId(pub u64);

/// The two states of a bearer; both directions share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Few bit errors.
    Good,
    /// Many bit errors.
    Bad,
}

/// Where a bearer's chain stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct BearerQuality {
    pub now: Quality,
    /// The next frame in which the chain moves or a handover need arises.
    pub next_at: u64,
}

impl BearerQuality {
    /// Of a bearer of the background, whose errors matter to nobody.
    pub const UNOBSERVED: BearerQuality = BearerQuality { now: Quality::Good, next_at: u64::MAX };
}
