//! What a radio hears: carrier sense, physical and virtual (clauses 9.2.1, 9.2.5.4).

use super::account::Use;
use super::frame::Kind;
use crate::link::wifi::index::{CellIndex, RadioIndex};
use roamsim_engine::{Span, Time};

/// What those who hear the same hear.
#[derive(Clone, Debug)]
pub struct Ear {
    /// The cell whose access point it is of, which keeps the account of the medium.
    pub account: Option<CellIndex>,
    /// Frames on the air.
    pub heard: u32,
    /// Since when the medium is busy, or was the last time.
    pub busy_since: Time,
    /// Since when it is idle, if it is.
    pub idle_since: Time,
    /// The space before contention, after what was heard last.
    pub ifs: Span,
    /// The frame that is received, and whether another one disturbs it.
    pub receiving: Option<(u64, Kind)>,
    pub disturbed: bool,
    /// Somebody may be about to send without a countdown: answers concern them as other frames do.
    pub undecided: bool,
    /// Until when others have reserved the medium (the NAV, clause 9.2.5.4), and who they are.
    pub nav: Time,
    pub reserved_by: [RadioIndex; 2],
}

impl Ear {
    /// One that has heard nothing.
    pub fn new(account: Option<CellIndex>, ifs: Span) -> Ear {
        Ear {
            account,
            heard: 0,
            busy_since: Time::ZERO,
            idle_since: Time::ZERO,
            ifs,
            receiving: None,
            disturbed: false,
            undecided: true,
            nav: Time::ZERO,
            reserved_by: [RadioIndex(0); 2],
        }
    }

    /// What the medium is used for, where so many radios have something to send.
    #[inline(always)]
    pub fn use_of_medium(&self, contenders: usize) -> Use {
        match self.receiving {
            _ if self.heard == 0 && contenders == 0 => Use::Idle,
            _ if self.heard == 0 => Use::Backoff,
            Some((_, kind)) if !self.disturbed => Use::Frame(kind),
            _ => Use::Collision,
        }
    }
}

/// What a radio receives after a frame has begun, and whether that is disturbed.
pub type Reception = (RadioIndex, Option<(u64, Kind)>, bool);
