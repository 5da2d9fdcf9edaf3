//! A mobile terminal and the states of its MAC.

use super::bearer::{BearerId, BearerQuality};
use super::channel_list::ChannelList;
use super::config::TerminalType;
use super::resource::Channel;

/// The states of the paper's diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacState {
    /// Listens to its RFP and has no connection.
    IdleLocked,
    /// Sets up the first bearers of a call.
    CallSetup,
    /// The set-up failed: for one frame.
    Blocked,
    /// Has a connection, and nothing is to be done about it.
    ActiveLocked,
    /// Replaces one bearer by another at the same RFP.
    BearerHandover,
    /// Replaces all bearers by others at the RFP of a new cell.
    ConnectionHandover,
    /// Sets up further bearers of a connection.
    ConnectionModification,
    /// The connection was lost: for one frame.
    Dropped,
}

impl MacState {
    /// Every state, in the order of their declaration.
    pub const ALL: [MacState; 8] = [
        MacState::IdleLocked,
        MacState::CallSetup,
        MacState::Blocked,
        MacState::ActiveLocked,
        MacState::BearerHandover,
        MacState::ConnectionHandover,
        MacState::ConnectionModification,
        MacState::Dropped,
    ];

    /// Those in which channels are tried.
    pub const PROCEDURES: [MacState; 4] = [
        MacState::CallSetup,
        MacState::BearerHandover,
        MacState::ConnectionHandover,
        MacState::ConnectionModification,
    ];

    /// Every arrow of the state diagram, from and to; which of them a terminal can take depends on its type.
    /// The background goes to rest after Blocked, Dropped and the end of a call; the user's call has no end,
    /// and begins anew after Blocked and Dropped. Connection_Mod is the user's alone.
    pub const DIAGRAM: [(MacState, MacState); 16] = [
        (MacState::IdleLocked, MacState::CallSetup),
        (MacState::CallSetup, MacState::Blocked),
        (MacState::CallSetup, MacState::ActiveLocked),
        (MacState::Blocked, MacState::IdleLocked),
        (MacState::Blocked, MacState::CallSetup),
        (MacState::ActiveLocked, MacState::IdleLocked),
        (MacState::ActiveLocked, MacState::BearerHandover),
        (MacState::ActiveLocked, MacState::ConnectionHandover),
        (MacState::ActiveLocked, MacState::ConnectionModification),
        (MacState::BearerHandover, MacState::ActiveLocked),
        (MacState::BearerHandover, MacState::Dropped),
        (MacState::ConnectionHandover, MacState::ActiveLocked),
        (MacState::ConnectionHandover, MacState::Dropped),
        (MacState::ConnectionModification, MacState::ActiveLocked),
        (MacState::Dropped, MacState::IdleLocked),
        (MacState::Dropped, MacState::CallSetup),
    ];

    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            MacState::IdleLocked => "Idle_Locked",
            MacState::CallSetup => "Call_Setup",
            MacState::Blocked => "Blocked",
            MacState::ActiveLocked => "Active_Locked",
            MacState::BearerHandover => "Bearer_HO",
            MacState::ConnectionHandover => "Connection_HO",
            MacState::ConnectionModification => "Connection_Mod",
            MacState::Dropped => "Dropped",
        }
    }

    /// Whether channels are tried in it.
    pub fn is_procedure(self) -> bool {
        Self::PROCEDURES.contains(&self)
    }
}

/// What a terminal in a procedure tries channels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// One more bearer.
    Add,
    /// Another channel for the bearer at this place.
    Replace(usize),
    /// Nothing more: its attempts are used up, and the timer runs.
    GivenUp,
    /// Nothing more: the procedure is complete.
    Done,
}

/// A duplex channel in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bearer {
    pub id: BearerId,
    /// The bearer whose place it took in a handover.
    pub replaces: Option<BearerId>,
    pub channel: Channel,
    /// The frame in which it was set up.
    pub since: u64,
    /// From this frame on it needs a handover.
    pub needs_handover_at: u64,
    /// Its error state; followed for the user's bearers alone.
    pub quality: BearerQuality,
}

/// A mobile terminal in a call. Those that are idle are not kept: their pool is unlimited.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    pub kind: TerminalType,
    /// The call's number within its type, from 1.
    pub call: u64,
    pub state: MacState,
    /// The frame in which the state was entered.
    pub entered: u64,
    /// The RFP to which it is locked.
    pub rfp: u8,
    /// The cell in which it is, the time in frames at which it leaves it, and the first frame at which that
    /// is due.
    pub cell: u8,
    pub leaves_cell_at: f64,
    pub cell_change_at: u64,
    /// The frame from which the call is over.
    pub ends_at: u64,
    pub bearers: Vec<Bearer>,
    /// Of the procedure in which it is: when it is given up, what for channels are tried, how often one was
    /// tried for the present bearer, and the next frame with permission.
    pub expires_at: u64,
    pub goal: Goal,
    pub attempts: u32,
    pub attempt_at: u64,
    /// The frame in which a channel was tried for the present bearer first.
    pub first_attempt_at: u64,
    /// The frame in which the call began.
    pub call_began: u64,
    pub list: ChannelList,
    /// The list is to be made in this frame, or the next.
    pub list_is_old: bool,
}

impl Terminal {
    /// An idle one.
    pub fn idle(kind: TerminalType) -> Terminal {
        Terminal {
            kind,
            call: 0,
            state: MacState::IdleLocked,
            entered: 0,
            rfp: 0,
            cell: 0,
            leaves_cell_at: f64::INFINITY,
            cell_change_at: u64::MAX,
            ends_at: u64::MAX,
            bearers: Vec::new(),
            expires_at: u64::MAX,
            goal: Goal::Done,
            attempts: 0,
            attempt_at: u64::MAX,
            first_attempt_at: 0,
            call_began: 0,
            list: ChannelList::empty(),
            list_is_old: false,
        }
    }

    /// It leaves its cell at a time in frames.
    #[inline]
    pub fn leave_cell_at(&mut self, time: f64) {
        self.leaves_cell_at = time;
        self.cell_change_at = first_frame_at(time);
    }

    /// The bearer that needs a handover for the longest time, by `frame`, and since when; if none does, the
    /// one that will be the first.
    #[inline]
    pub fn next_handover_need(&self) -> Option<(u64, usize)> {
        self.bearers.iter().enumerate().map(|(place, bearer)| (bearer.needs_handover_at, place)).min()
    }

    /// Whether it tries channels.
    #[inline]
    pub fn searches(&self) -> bool {
        self.state.is_procedure() && matches!(self.goal, Goal::Add | Goal::Replace(_))
    }
}

/// The first frame that begins at or after a time in frames.
#[inline]
pub(super) fn first_frame_at(time: f64) -> u64 {
    libm::ceil(time) as u64
}
