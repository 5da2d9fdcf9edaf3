//! The DECT MAC of a cluster: terminals of several types compete for the channels of its RFPs.
//!
//! Modelled, after Baiocchi, Cautelier, Di Benedetto, Poscetti, Simeoni ("Performance of TCP/IP data transfer
//! over the DECT radio interface") and ETS 300 175-3: the states and procedures of mobile terminals (set-up,
//! bearer handover, connection handover, connection modification) with their timers and attempts; channel
//! lists with misperceptions; half, full and double slots; the competition for channels. Inter-cell
//! interference enters only through the channel lists.
//!
//! Not modelled: the paging and broadcast channels, the exchange of messages by which a bearer is set up (an
//! attempt succeeds or fails in its frame), slot drift, and interference as such.
//!
//! The order of work in a frame:
//! 1. What has come by then: calls, moves of the user's bearers between good and bad, handover needs, cell
//!    changes.
//! 2. Every terminal in a procedure: completion, then the timer's expiry, then the next state (`procedures`).
//! 3. Every terminal that is in a procedure now: its list is made if it is due, and with permission a channel
//!    is picked (`attempts`).
//! 4. All picks are resolved together.
//! 5. Successful ones are applied. What is released here can be taken from the next frame.
//!
//! Only terminals with something to do in a frame are visited: each has one frame at which it is next, in a
//! calendar, and whatever happens with a fixed probability in every frame is drawn as a geometric number of
//! frames without it.

mod arrivals;
mod attempts;
mod bearer;
mod channel_list;
pub mod config;
mod pick;
mod procedures;
mod random;
pub mod resource;
pub mod state;
pub mod stats;
#[cfg(test)]
mod tests;
mod trace;
mod user;

pub use bearer::{BearerId, Quality};
pub use config::{MacConfig, TerminalType};
pub use resource::Channel;
pub use state::MacState;
pub use stats::{MacStats, Occupancy, ProcedureStats, TypeStats};
pub use user::{UserBearer, UserEvent};

use super::geometric::Geometric;
use arrivals::Arrivals;
use config::UserAllocation;
use pick::Pick;
use random::Streams;
use resource::{RadioResource, SlotFormat, UnitSet};
use roamsim_engine::Stream;
use state::Terminal;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use trace::Trace;
use user::{QualityLaw, UserView};

/// The place of the user in the list of terminals.
const USER: usize = 0;

/// How many bits of an entry in the calendar are a terminal's place. The others hold the frames of 348 years,
/// more than a run may last.
const PLACE_BITS: u32 = 24;
/// The frame of what is never due.
const NEVER: u64 = u64::MAX >> PLACE_BITS;

/// The MAC of a cluster of RFPs and of all terminals in it.
pub struct Mac {
    config: MacConfig,
    /// The frame that was run last, and the earliest one with work.
    frame: u64,
    next_at: u64,
    radio: RadioResource,
    /// All channels of an RFP, by [`SlotFormat`].
    channels: [UnitSet; 3],
    /// The user, then those in calls; the places of ended calls are used again.
    terminals: Vec<Terminal>,
    vacant: Vec<u32>,
    /// When each terminal but the user is next, in order of frame and place: both in one number.
    calendar: BinaryHeap<Reverse<u64>>,
    user_next_at: u64,
    user_quality_next_at: u64,
    arrivals: Arrivals,
    calls: [u64; 5],
    bearers_set_up: u64,
    streams: Streams,
    permission: Geometric,
    quality_law: QualityLaw,
    user: UserView,
    counter: stats::Counter,
    occupancy: Option<Vec<Occupancy>>,
    trace: Trace,
    /// Work of the present frame, kept for their memory.
    due: Vec<usize>,
    picks: Vec<Pick>,
}

impl Mac {
    /// Before frame 0: no calls, and a user who begins to set up his connection in frame 0. `stream(purpose)`
    /// gives the random streams.
    pub fn new(config: MacConfig, stream: impl Fn(&str) -> Stream) -> Mac {
        let mut mac = Mac {
            frame: 0,
            next_at: 0,
            radio: RadioResource::new(config.rfps),
            channels: [SlotFormat::Half, SlotFormat::Full, SlotFormat::Double]
                .map(|format| format.channels(config.carriers)),
            terminals: vec![Terminal::idle(TerminalType::User)],
            vacant: Vec::new(),
            calendar: BinaryHeap::new(),
            user_next_at: 0,
            user_quality_next_at: u64::MAX,
            arrivals: Arrivals::new(&config, &stream),
            calls: [0; 5],
            bearers_set_up: 0,
            streams: Streams::new(&stream),
            permission: Geometric::new(config.attempt_permission),
            quality_law: QualityLaw::new(
                config.quality,
                match config.user {
                    UserAllocation::Procedures { .. } => config.handover_need_factor,
                    UserAllocation::Fixed { .. } => 0.0,
                },
            ),
            user: UserView::default(),
            counter: stats::Counter::new(config.rfps),
            occupancy: None,
            trace: Trace::default(),
            due: Vec::new(),
            picks: Vec::new(),
            config,
        };
        if let UserAllocation::Fixed { bearers } = mac.config.user {
            mac.fix_user_bearers(bearers);
        } else {
            mac.place_in_cell(USER, 0.0);
        }
        mac.find_next_frame();
        mac
    }

    /// The earliest frame with work; those before it need not be run.
    #[inline]
    pub fn next_frame(&self) -> u64 {
        self.next_at
    }

    fn find_next_frame(&mut self) {
        let terminals = self.calendar.peek().map(|&Reverse(entry)| entry >> PLACE_BITS);
        let terminals = terminals.filter(|&frame| frame < NEVER).unwrap_or(u64::MAX);
        let users = self.user_next_at.min(self.user_quality_next_at);
        self.next_at = terminals.min(users).min(self.arrivals.next_at());
    }

    /// Does all work of `frame`. Frames come in ascending order, and none with work may be left out.
    pub fn run_frame(&mut self, frame: u64) {
        if frame < self.next_at {
            return;
        }
        debug_assert!(frame == self.next_at, "work of frame {} was left out", self.next_at);
        self.frame = frame;
        self.due.clear();
        // 1
        let user_needs_handover = frame >= self.user_quality_next_at && self.advance_user_quality();
        if frame >= self.user_next_at || user_needs_handover {
            self.due.push(USER);
        }
        let later = (frame + 1) << PLACE_BITS;
        while let Some(&Reverse(entry)) = self.calendar.peek()
            && entry < later
        {
            self.calendar.pop();
            self.due.push((entry % (1 << PLACE_BITS)) as usize);
        }
        while let Some((kind, time)) = self.arrivals.take(frame) {
            let place = self.begin_call(kind, time);
            self.due.push(place);
        }
        if !self.due.is_empty() {
            self.work_on_due();
        }
        self.find_next_frame();
    }

    /// Steps 2 to 5 for all terminals that have anything to do.
    fn work_on_due(&mut self) {
        let due = std::mem::take(&mut self.due);
        // 2
        due.iter().for_each(|&place| self.advance_state(place));
        // 3
        due.iter().for_each(|&place| self.try_channel(place));
        // 4 and 5
        if !self.picks.is_empty() {
            self.resolve_picks();
        }
        due.iter().for_each(|&place| self.schedule(place));
        if due.first() == Some(&USER) {
            self.show_user_bearers();
        }
        self.due = due;
    }

    /// From this frame on the user's radio is off, or on again. Off, his connection is released as at the end
    /// of a call, when no procedure runs any more, and none is set up. Whether it can be: without procedures
    /// bearers are there for ever.
    pub fn switch(&mut self, frame: u64, on: bool) -> bool {
        let can = matches!(self.config.user, UserAllocation::Procedures { .. });
        if can {
            self.terminals[USER].ends_at = if on { u64::MAX } else { frame };
            self.user_next_at = self.user_next_at.min(frame);
            self.next_at = self.next_at.min(frame);
        }
        can
    }

    /// The user's bearers that carry data in the present frame.
    #[inline]
    pub fn user_bearers(&self) -> &[UserBearer] {
        &self.user.carrying
    }

    /// What happened to [`Mac::user_bearers`], in order.
    #[inline]
    pub fn poll_user_event(&mut self) -> Option<UserEvent> {
        self.user.events.pop_front()
    }

    /// The state of the user's MAC.
    pub fn user_state(&self) -> MacState {
        self.terminals[USER].state
    }

    /// Begins the measurement anew: what happened before `frame` is not counted.
    pub fn restart_measurement(&mut self, frame: u64) {
        self.counter.settle(frame);
        self.counter.restart(frame);
    }

    /// All counts up to the beginning of `frame`, which must be later than any frame that was run.
    pub fn stats(&mut self, frame: u64) -> MacStats {
        self.counter.settle(frame);
        let mut counter = self.counter.clone();
        for terminal in &self.terminals {
            if terminal.state != MacState::IdleLocked {
                counter.still_in(terminal.kind, terminal.state, terminal.entered, frame);
            }
        }
        counter.stats
    }

    /// Begins to log which channel is in use by whom.
    pub fn keep_occupancy(&mut self) {
        self.occupancy.get_or_insert_default();
    }

    /// The log up to `frame`, in order of release; what is in use still comes last, by RFP and unit.
    pub fn occupancy(&self, frame: u64) -> Vec<Occupancy> {
        let Some(ended) = &self.occupancy else { return Vec::new() };
        let mut all = ended.clone();
        for terminal in &self.terminals {
            all.extend(terminal.bearers.iter().map(|bearer| Occupancy {
                channel: bearer.channel,
                kind: terminal.kind,
                from_frame: bearer.since,
                until_frame: frame,
            }));
        }
        all[ended.len()..].sort_by_key(|o| (o.channel.rfp, o.channel.first_unit));
        all
    }

    /// Begins a readable account of what happens.
    pub fn keep_trace(&mut self) {
        self.trace.text.get_or_insert_default();
    }

    /// The account so far.
    pub fn trace(&self) -> &str {
        self.trace.text.as_deref().unwrap_or_default()
    }

    /// Moves those chains of the user's bearers that are due; true if one came to need a handover.
    fn advance_user_quality(&mut self) -> bool {
        let frame = self.frame;
        let mut needs = false;
        let mut next_at = u64::MAX;
        for (place, bearer) in self.terminals[USER].bearers.iter_mut().enumerate() {
            if bearer.quality.next_at <= frame {
                if self.quality_law.advance(bearer, frame, &mut self.streams.quality) {
                    debug_assert!(
                        self.user.carrying.get(place).is_none_or(|carrying| carrying.id == bearer.id)
                    );
                    self.user.quality_changed(place, bearer.quality.now);
                }
                needs |= bearer.needs_handover_at == frame;
            }
            next_at = next_at.min(bearer.quality.next_at);
        }
        self.user_quality_next_at = next_at;
        needs
    }

    /// Tells the user plane which bearers carry data.
    fn show_user_bearers(&mut self) {
        let user = &self.terminals[USER];
        let carries = match user.state {
            MacState::Blocked | MacState::Dropped | MacState::IdleLocked => false,
            MacState::CallSetup => self.config.carry_data_in_setup,
            _ => true,
        };
        let bearers = if carries { user.bearers.as_slice() } else { &[] };
        self.user.set(bearers);
        self.counter.user_bearers(bearers.len(), self.frame);
        let next = user.bearers.iter().map(|bearer| bearer.quality.next_at).min();
        self.user_quality_next_at = next.unwrap_or(u64::MAX);
    }

    /// Enters a terminal into the calendar.
    fn schedule(&mut self, place: usize) {
        let next_at = self.next_at(place);
        if place == USER {
            self.user_next_at = next_at;
        } else if self.terminals[place].state != MacState::IdleLocked {
            debug_assert!(place < 1 << PLACE_BITS, "no place for terminal {place}");
            self.calendar.push(Reverse(next_at.min(NEVER) << PLACE_BITS | place as u64));
        }
    }
}
