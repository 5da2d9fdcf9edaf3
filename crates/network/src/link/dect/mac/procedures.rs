//! The states of a terminal and how it goes from one to the next (step 2 of a frame).

use super::bearer::{BearerId, BearerQuality};
use super::config::{MacConfig, TerminalType, UserAllocation};
use super::random::exponential;
use super::resource::{Channel, SlotFormat};
use super::state::{Bearer, Goal, MacState, Terminal, first_frame_at};
use super::stats::Occupancy;
use super::{Mac, USER};

impl Mac {
    /// A call comes at `time` (in frames): its terminal enters Call_Setup.
    pub(super) fn begin_call(&mut self, kind: TerminalType, time: f64) -> usize {
        let place = match self.vacant.pop() {
            Some(place) => place as usize,
            None => {
                self.terminals.push(Terminal::idle(kind));
                self.terminals.len() - 1
            }
        };
        let duration = self.config.traffic[kind as usize].duration.sample(&mut self.streams.duration);
        let terminal = &mut self.terminals[place];
        terminal.kind = kind;
        terminal.ends_at = first_frame_at(time + duration);
        terminal.entered = self.frame;
        self.place_in_cell(place, time);
        self.enter(place, MacState::CallSetup);
        place
    }

    /// Puts a terminal into a cell, any with equal probability, at `time`.
    pub(super) fn place_in_cell(&mut self, place: usize, time: f64) {
        let terminal = &mut self.terminals[place];
        terminal.cell = self.streams.cell.below(u64::from(self.config.rfps)) as u8;
        terminal.leave_cell_at(time + dwell(&self.config, &mut self.streams.cell));
    }

    /// Follows a terminal through the cells up to the present frame; true if it is not in the cell of its
    /// RFP.
    fn has_changed_cell(&mut self, place: usize) -> bool {
        let terminal = &mut self.terminals[place];
        while terminal.cell_change_at <= self.frame {
            let other = self.streams.cell.below(u64::from(self.config.rfps - 1)) as u8;
            terminal.cell = other + u8::from(other >= terminal.cell);
            let time = terminal.leaves_cell_at + dwell(&self.config, &mut self.streams.cell);
            terminal.leave_cell_at(time);
        }
        terminal.cell != terminal.rfp
    }

    /// Step 2 for one terminal.
    pub(super) fn advance_state(&mut self, place: usize) {
        let frame = self.frame;
        let terminal = &self.terminals[place];
        match terminal.state {
            MacState::IdleLocked => {
                debug_assert_eq!(place, USER);
                if terminal.ends_at > frame {
                    self.enter(place, MacState::CallSetup);
                }
            }
            MacState::Blocked | MacState::Dropped => {
                if frame > terminal.entered {
                    self.release_where(place, |_| true);
                    let goes_on = place == USER && self.terminals[USER].ends_at > frame;
                    self.enter(place, if goes_on { MacState::CallSetup } else { MacState::IdleLocked });
                }
            }
            MacState::ActiveLocked => self.leave_active(place),
            _ if terminal.goal == Goal::Done => {
                self.enter(place, MacState::ActiveLocked);
                self.leave_active(place);
            }
            _ if frame >= terminal.expires_at => self.expire(place),
            MacState::CallSetup => {
                // A cell change before the first bearer just locks the terminal to another RFP.
                if terminal.bearers.is_empty() && self.has_changed_cell(place) {
                    let terminal = &mut self.terminals[place];
                    terminal.rfp = terminal.cell;
                    terminal.list_is_old = true;
                }
            }
            MacState::BearerHandover | MacState::ConnectionHandover | MacState::ConnectionModification => {}
        }
    }

    /// What an active terminal has to do, the most urgent first.
    fn leave_active(&mut self, place: usize) {
        let frame = self.frame;
        if self.terminals[place].ends_at <= frame {
            self.release_where(place, |_| true);
            self.enter(place, MacState::IdleLocked);
            return;
        }
        if self.has_changed_cell(place) {
            self.enter(place, MacState::ConnectionHandover);
            return;
        }
        let terminal = &self.terminals[place];
        if terminal.next_handover_need().is_some_and(|(since, _)| since <= frame) {
            self.enter(place, MacState::BearerHandover);
        } else if place == USER
            && let UserAllocation::Procedures { modification_threshold, .. } = self.config.user
            && terminal.bearers.len() < modification_threshold as usize
        {
            self.enter(place, MacState::ConnectionModification);
        }
    }

    /// The timer of the procedure has expired.
    fn expire(&mut self, place: usize) {
        let terminal = &self.terminals[place];
        let kind = terminal.kind;
        match (terminal.state, terminal.goal) {
            (MacState::BearerHandover, _) => {
                // The bearer to be handed over is the one with the oldest need still.
                if let Some((_, needing)) = terminal.next_handover_need() {
                    let id = terminal.bearers[needing].id;
                    let lost = self.release_where(place, |bearer| bearer.id == id);
                    self.counter.lost(kind, MacState::BearerHandover, lost);
                }
            }
            (MacState::ConnectionHandover, _) => {
                let rfp = terminal.rfp;
                let lost = self.release_where(place, |bearer| bearer.channel.rfp != rfp);
                self.counter.lost(kind, MacState::ConnectionHandover, lost);
                self.counter.of(kind).connection_handovers_with_loss += u64::from(lost > 0);
            }
            _ => {}
        }
        let terminal = &self.terminals[place];
        if terminal.bearers.len() < self.config.bearer_counts(kind).minimum as usize {
            let set_up = terminal.state == MacState::CallSetup;
            self.enter(place, if set_up { MacState::Blocked } else { MacState::Dropped });
        } else {
            self.enter(place, MacState::ActiveLocked);
            self.leave_active(place);
        }
    }

    /// A terminal goes into a state.
    fn enter(&mut self, place: usize, state: MacState) {
        let frame = self.frame;
        if matches!(state, MacState::CallSetup) {
            // The cell in which the terminal is by now, and the RFP of that cell.
            self.has_changed_cell(place);
            let terminal = &mut self.terminals[place];
            self.calls[terminal.kind as usize] += 1;
            terminal.call = self.calls[terminal.kind as usize];
            terminal.call_began = frame;
            terminal.rfp = terminal.cell;
        }
        let timers = self.config.timers;
        let terminal = &mut self.terminals[place];
        let bearers = terminal.bearers.len();
        if self.trace.is_on() {
            let names = (terminal.state.name(), state.name());
            self.trace.line(frame, terminal, format_args!("{} -> {}, N = {bearers}", names.0, names.1));
        }
        self.counter.transition(terminal.kind, terminal.state, terminal.entered, state, frame);
        terminal.state = state;
        terminal.entered = frame;
        let timer = match state {
            MacState::IdleLocked => {
                if place != USER {
                    self.vacant.push(place as u32);
                }
                return;
            }
            MacState::ActiveLocked => return,
            MacState::Blocked | MacState::Dropped => {
                self.counter.call_fails(terminal.kind, terminal.call_began, state);
                return;
            }
            MacState::CallSetup => {
                terminal.goal = Goal::Add;
                timers.call_setup_frames
            }
            MacState::BearerHandover => {
                terminal.goal = terminal.next_handover_need().map_or(Goal::Done, |(_, b)| Goal::Replace(b));
                timers.bearer_handover_frames
            }
            MacState::ConnectionHandover => {
                terminal.rfp = terminal.cell;
                terminal.goal = if bearers == 0 { Goal::Done } else { Goal::Replace(0) };
                timers.connection_handover_frames
            }
            MacState::ConnectionModification => {
                terminal.goal = Goal::Add;
                timers.connection_modification_frames
            }
        };
        if state == MacState::ConnectionHandover {
            self.counter.of(terminal.kind).bearers_in_connection_handover += bearers as u64;
        }
        terminal.expires_at = frame.saturating_add(timer);
        terminal.attempts = 0;
        terminal.attempt_at =
            frame.saturating_add(self.permission.trials_without(&mut self.streams.permission));
        terminal.list_is_old = true;
        if terminal.goal != Goal::Done && self.attempt_limit(place) == 0 {
            self.terminals[place].goal = Goal::GivenUp;
        }
    }

    /// The next frame at which a terminal has something to do.
    pub(super) fn next_at(&self, place: usize) -> u64 {
        let terminal = &self.terminals[place];
        let next_frame = self.frame + 1;
        match terminal.state {
            MacState::IdleLocked => u64::MAX,
            MacState::Blocked | MacState::Dropped => next_frame,
            MacState::ActiveLocked => {
                let need = terminal.next_handover_need().map_or(u64::MAX, |(at, _)| at);
                terminal.ends_at.min(terminal.cell_change_at).min(need).max(next_frame)
            }
            _ if terminal.goal == Goal::Done => next_frame,
            _ => {
                let mut at = terminal.expires_at;
                if terminal.searches() {
                    if terminal.list_is_old {
                        return next_frame;
                    }
                    at = at.min(self.next_search_at(terminal));
                }
                if terminal.state == MacState::CallSetup && terminal.bearers.is_empty() {
                    at = at.min(terminal.cell_change_at);
                }
                at.max(next_frame)
            }
        }
    }

    /// Gives a terminal a bearer on a channel that is idle.
    pub(super) fn new_bearer(
        &mut self,
        place: usize,
        channel: Channel,
        replaces: Option<BearerId>,
    ) -> Bearer {
        let frame = self.frame;
        self.radio.reserve(channel);
        let kind = self.terminals[place].kind;
        self.counter.bearer(kind, channel, frame, 1);
        self.bearers_set_up += 1;
        let user = place == USER;
        let (needs_handover_at, quality) = if user {
            (u64::MAX, self.quality_law.start(frame, &mut self.streams.quality))
        } else {
            let mean = self.config.handover_need_mean_frames / self.config.handover_need_factor;
            let after = exponential(mean, &mut self.streams.handover_need);
            (frame.saturating_add(first_frame_at(after)), BearerQuality::UNOBSERVED)
        };
        Bearer {
            id: BearerId(self.bearers_set_up),
            replaces,
            channel,
            since: frame,
            needs_handover_at,
            quality,
        }
    }

    /// Takes a bearer's channel back.
    pub(super) fn release(&mut self, place: usize, bearer: Bearer) {
        self.radio.release(bearer.channel);
        let kind = self.terminals[place].kind;
        self.counter.bearer(kind, bearer.channel, self.frame, -1);
        if let Some(log) = &mut self.occupancy {
            log.push(Occupancy {
                channel: bearer.channel,
                kind,
                from_frame: bearer.since,
                until_frame: self.frame,
            });
        }
    }

    /// Releases the bearers that `which` says; how many.
    fn release_where(&mut self, place: usize, which: impl Fn(&Bearer) -> bool) -> u64 {
        let mut bearers = std::mem::take(&mut self.terminals[place].bearers);
        let before = bearers.len();
        bearers.retain(|bearer| {
            let goes = which(bearer);
            if goes {
                self.release(place, *bearer);
            }
            !goes
        });
        let released = before - bearers.len();
        self.terminals[place].bearers = bearers;
        released as u64
    }

    /// The user has so many bearers at RFP 0 from the beginning, and keeps them.
    pub(super) fn fix_user_bearers(&mut self, bearers: u32) {
        let channels = SlotFormat::Full.channels(self.config.carriers);
        for n in 0..bearers.min(channels.len()) {
            let channel = Channel { rfp: 0, first_unit: channels.nth(n) as u8, format: SlotFormat::Full };
            let bearer = self.new_bearer(USER, channel, None);
            self.terminals[USER].bearers.push(bearer);
        }
        self.terminals[USER].state = MacState::ActiveLocked;
        self.show_user_bearers();
        self.user_next_at = u64::MAX;
    }
}

/// The time that a terminal stays in a cell.
fn dwell(config: &MacConfig, random: &mut roamsim_engine::Stream) -> f64 {
    if config.rfps > 1 { exponential(config.cell_dwell_mean_frames, random) } else { f64::INFINITY }
}
