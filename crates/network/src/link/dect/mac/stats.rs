//! What is counted of the MAC: states, transitions, calls, attempts, bearers and channels.

use super::config::TerminalType;
use super::pick::Outcome;
use super::resource::Channel;
use super::state::MacState;

const STATES: usize = MacState::ALL.len();
const PROCEDURES: usize = MacState::PROCEDURES.len();
const TYPES: usize = TerminalType::ALL.len();

/// What the terminals of one type tried in one procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcedureStats {
    /// Channels tried.
    pub attempts: u64,
    /// Those that were occupied.
    pub attempts_occupied: u64,
    /// Those that were idle, and tried by another terminal in the same frame.
    pub attempts_collided: u64,
    /// Bearers to be set up or handed over for which a channel was tried.
    pub bearers_tried: u64,
    /// Those for which a second one was. A bearer whose first one was tried before the measurement began is
    /// in neither.
    pub bearers_tried_again: u64,
    /// Bearers that were set up or handed over.
    pub bearers_obtained: u64,
    /// Bearers released at the timer because they were not handed over.
    pub bearers_lost: u64,
}

/// Counts of one type of terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeStats {
    /// Frames spent in each state, in the order of [`MacState::ALL`], summed over terminals; idle ones of the
    /// background are not counted, because their pool is unlimited.
    pub frames_in_state: [u64; STATES],
    /// Transitions: `[from][to]`.
    pub transitions: [[u64; STATES]; STATES],
    /// Calls that were blocked, of those that began since the measurement did.
    pub blocked: u64,
    /// Calls that were dropped, of the same.
    pub dropped: u64,
    /// What each procedure tried, in the order of [`MacState::PROCEDURES`].
    pub procedures: [ProcedureStats; PROCEDURES],
    /// Bearers of terminals at the beginning of connection handovers.
    pub bearers_in_connection_handover: u64,
    /// Connection handovers in which any bearer was lost.
    pub connection_handovers_with_loss: u64,
    /// Sum over frames of the number of bearers, those not yet carrying data included.
    pub bearer_frames: u64,
}

impl TypeStats {
    /// Transitions into a state, from any.
    pub fn entries(&self, state: MacState) -> u64 {
        self.transitions.iter().map(|from| from[state as usize]).sum()
    }

    /// What was tried in a procedure; nothing in any other state.
    pub fn procedure(&self, state: MacState) -> ProcedureStats {
        place(state).map(|place| self.procedures[place]).unwrap_or_default()
    }

    /// A count of all procedures together.
    pub fn in_all_procedures(&self, count: fn(&ProcedureStats) -> u64) -> u64 {
        self.procedures.iter().map(count).sum()
    }

    /// Calls that began.
    pub fn calls(&self) -> u64 {
        self.entries(MacState::CallSetup)
    }

    /// Calls blocked among those that began; not a number if there was none.
    pub fn blocking(&self) -> f64 {
        self.entries(MacState::Blocked) as f64 / self.calls() as f64
    }

    /// Calls dropped among those that were set up; not a number if there was none.
    pub fn dropping(&self) -> f64 {
        let set_up = self.transitions[MacState::CallSetup as usize][MacState::ActiveLocked as usize];
        self.entries(MacState::Dropped) as f64 / set_up as f64
    }

    /// Bearer handovers that failed among those that began; not a number if there was none.
    pub fn bearer_handover_failure(&self) -> f64 {
        self.procedure(MacState::BearerHandover).bearers_lost as f64
            / self.entries(MacState::BearerHandover) as f64
    }

    /// Bearers lost among those to be handed over in connection handovers; not a number if there was none.
    pub fn connection_handover_loss(&self) -> f64 {
        let lost = self.procedure(MacState::ConnectionHandover).bearers_lost;
        lost as f64 / self.bearers_in_connection_handover as f64
    }
}

/// The place of a procedure in [`MacState::PROCEDURES`].
fn place(state: MacState) -> Option<usize> {
    MacState::PROCEDURES.iter().position(|&procedure| procedure == state)
}

/// All counts since the measurement began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MacStats {
    /// The first frame measured.
    pub from_frame: u64,
    /// The frame before which the measurement ends.
    pub until_frame: u64,
    /// By type, in the order of [`TerminalType::ALL`].
    pub types: [TypeStats; TYPES],
    /// Sum over frames of the occupied units, by RFP.
    pub unit_frames: Vec<u64>,
    /// Frames by number of the user's bearers that could carry data.
    pub frames_by_user_bearers: Vec<u64>,
}

impl MacStats {
    /// Of one type.
    pub fn of(&self, kind: TerminalType) -> &TypeStats {
        &self.types[kind as usize]
    }

    /// Frames measured.
    pub fn frames(&self) -> u64 {
        self.until_frame - self.from_frame
    }

    /// Time mean of the number of the user's bearers that could carry data.
    pub fn mean_user_bearers(&self) -> f64 {
        let sum: u64 =
            self.frames_by_user_bearers.iter().zip(0..).map(|(frames, n): (_, u64)| frames * n).sum();
        sum as f64 / self.frames() as f64
    }
}

/// A channel in use by one terminal, from a frame to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Which.
    pub channel: Channel,
    /// By whom.
    pub kind: TerminalType,
    /// The frame in which it was set up.
    pub from_frame: u64,
    /// The frame in which it was released, or the end of the log.
    pub until_frame: u64,
}

/// The counts, and what is needed to keep them.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub stats: MacStats,
    /// Bearers of each type and units of each RFP at present, and the frame up to which each was summed.
    bearers: [(u64, u64); TYPES],
    units: Vec<(u64, u64)>,
    user_bearers: (usize, u64),
}

impl Counter {
    pub fn new(rfps: u32) -> Counter {
        Counter {
            stats: MacStats { unit_frames: vec![0; rfps as usize], ..MacStats::default() },
            bearers: [(0, 0); TYPES],
            units: vec![(0, 0); rfps as usize],
            user_bearers: (0, 0),
        }
    }

    #[inline]
    pub fn of(&mut self, kind: TerminalType) -> &mut TypeStats {
        &mut self.stats.types[kind as usize]
    }

    /// A channel was tried in a procedure, the `attempt`-th for this bearer, the first in frame `first_at`.
    pub fn attempt(
        &mut self,
        kind: TerminalType,
        state: MacState,
        (attempt, first_at): (u32, u64),
        outcome: Outcome,
    ) {
        let Some(place) = place(state) else { return };
        let measured_from = self.stats.from_frame;
        let counts = &mut self.of(kind).procedures[place];
        counts.attempts += 1;
        match attempt {
            1 => counts.bearers_tried += 1,
            2 => counts.bearers_tried_again += u64::from(first_at >= measured_from),
            _ => {}
        }
        match outcome {
            Outcome::Success => counts.bearers_obtained += 1,
            Outcome::Occupied => counts.attempts_occupied += 1,
            Outcome::Collision => counts.attempts_collided += 1,
        }
    }

    /// So many bearers were released at a procedure's timer.
    pub fn lost(&mut self, kind: TerminalType, state: MacState, bearers: u64) {
        if let Some(place) = place(state) {
            self.of(kind).procedures[place].bearers_lost += bearers;
        }
    }

    /// Frames since `since` that are measured.
    #[inline]
    fn measured(&self, since: u64, frame: u64) -> u64 {
        frame - since.max(self.stats.from_frame).min(frame)
    }

    /// A terminal leaves a state.
    pub fn transition(&mut self, kind: TerminalType, from: MacState, entered: u64, to: MacState, frame: u64) {
        let spent = self.measured(entered, frame);
        let stats = self.of(kind);
        stats.transitions[from as usize][to as usize] += 1;
        stats.frames_in_state[from as usize] += spent;
    }

    /// A call that began in a frame goes into Blocked or Dropped.
    pub fn call_fails(&mut self, kind: TerminalType, began: u64, state: MacState) {
        let measured = u64::from(began >= self.stats.from_frame);
        let stats = self.of(kind);
        match state {
            MacState::Blocked => stats.blocked += measured,
            MacState::Dropped => stats.dropped += measured,
            _ => {}
        }
    }

    /// A terminal is in a state still, at the end of the measurement.
    pub fn still_in(&mut self, kind: TerminalType, state: MacState, entered: u64, frame: u64) {
        self.of(kind).frames_in_state[state as usize] += self.measured(entered, frame);
    }

    /// A bearer comes (`+1`) or goes (`-1`).
    #[inline]
    pub fn bearer(&mut self, kind: TerminalType, channel: Channel, frame: u64, change: i64) {
        let measured_from = self.stats.from_frame;
        let settle = |(count, since): &mut (u64, u64), by: i64| {
            let sum = *count * (frame - (*since).max(measured_from).min(frame));
            *since = frame;
            *count = count.wrapping_add_signed(by);
            sum
        };
        self.stats.types[kind as usize].bearer_frames += settle(&mut self.bearers[kind as usize], change);
        let rfp = usize::from(channel.rfp);
        let units = change * i64::from(channel.format.width());
        self.stats.unit_frames[rfp] += settle(&mut self.units[rfp], units);
    }

    /// So many of the user's bearers can carry data from `frame` on.
    pub fn user_bearers(&mut self, count: usize, frame: u64) {
        let (before, since) = std::mem::replace(&mut self.user_bearers, (count, frame));
        let measured = self.measured(since, frame);
        let frames = &mut self.stats.frames_by_user_bearers;
        if frames.len() <= before {
            frames.resize(before + 1, 0);
        }
        frames[before] += measured;
    }

    /// Everything counted so far is forgotten.
    pub fn restart(&mut self, frame: u64) {
        let rfps = self.units.len();
        self.stats = MacStats { from_frame: frame, unit_frames: vec![0; rfps], ..MacStats::default() };
    }

    /// All sums up to `frame`.
    pub fn settle(&mut self, frame: u64) {
        let measured_from = self.stats.from_frame;
        let rest = |(count, since): (u64, u64)| count * (frame - since.max(measured_from).min(frame));
        for (stats, &bearers) in self.stats.types.iter_mut().zip(&self.bearers) {
            stats.bearer_frames += rest(bearers);
        }
        for (sum, &units) in self.stats.unit_frames.iter_mut().zip(&self.units) {
            *sum += rest(units);
        }
        self.bearers.iter_mut().chain(&mut self.units).for_each(|(_, since)| *since = frame);
        self.user_bearers(self.user_bearers.0, frame);
        self.stats.until_frame = frame;
    }
}
