//! Trying channels: lists, picks, and what becomes of them (steps 3 to 5 of a frame).

use super::Mac;
use super::config::Transceivers;
use super::resource::{Channel, SlotFormat, UnitSet};
use super::state::{Goal, MacState, Terminal};

/// A channel that a terminal tries in this frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    place: usize,
    channel: Channel,
    outcome: Outcome,
}

/// What becomes of a pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Success,
    /// A unit of it is occupied.
    Occupied,
    /// Another pick of this frame shares a unit of it.
    Collision,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Success => "idle",
            Outcome::Occupied => "occupied",
            Outcome::Collision => "collision",
        }
    }
}

impl Mac {
    /// Step 3 for one terminal: makes its list if that is due, and picks a channel if it has permission.
    pub(super) fn try_channel(&mut self, place: usize) {
        let frame = self.frame;
        let terminal = &mut self.terminals[place];
        if !terminal.searches() {
            return;
        }
        let format = SlotFormat::of(terminal.kind);
        let refresh_frames = self.config.channel_list.refresh_frames.max(1);
        let refresh_is_due = || (frame - terminal.list.made_at()).is_multiple_of(refresh_frames);
        if terminal.list_is_old || frame > terminal.list.made_at() && refresh_is_due() {
            let reserved = format.touched(self.radio.occupied(terminal.rfp));
            terminal.list.make(frame, self.channels[format as usize], reserved);
            terminal.list_is_old = false;
        }
        if frame < terminal.attempt_at {
            return;
        }
        terminal.attempt_at =
            (frame + 1).saturating_add(self.permission.frames_without(&mut self.streams.permission));
        let forbidden = match self.config.transceivers {
            Transceivers::Unlimited => UnitSet::EMPTY,
            Transceivers::OnePerSlotPair => {
                let used = terminal.bearers.iter().map(|bearer| bearer.channel.slot_pair_units());
                format.touched(used.fold(UnitSet::EMPTY, UnitSet::union))
            }
        };
        let picked = terminal.list.pick(
            &self.config.channel_list,
            forbidden,
            &mut self.streams.perception,
            &mut self.streams.choice,
        );
        if let Some(first_unit) = picked {
            terminal.attempts += 1;
            let channel = Channel { rfp: terminal.rfp, first_unit: first_unit as u8, format };
            self.picks.push(Pick { place, channel, outcome: Outcome::Success });
        }
    }

    /// Steps 4 and 5.
    pub(super) fn resolve_picks(&mut self) {
        let mut picks = std::mem::take(&mut self.picks);
        for i in 0..picks.len() {
            let channel = picks[i].channel;
            let shares = |other: &Pick| {
                other.channel.rfp == channel.rfp && other.channel.units().intersects(channel.units())
            };
            picks[i].outcome = if self.radio.occupied(channel.rfp).intersects(channel.units()) {
                Outcome::Occupied
            } else if picks[..i].iter().chain(&picks[i + 1..]).any(shares) {
                Outcome::Collision
            } else {
                Outcome::Success
            };
        }
        for pick in &picks {
            let terminal = &self.terminals[pick.place];
            self.trace.line(
                self.frame,
                terminal,
                format_args!("tries {}: {}", pick.channel, pick.outcome.name()),
            );
            let counts = self.counter.of(terminal.kind);
            counts.attempts += 1;
            match pick.outcome {
                Outcome::Success => self.succeed(*pick),
                Outcome::Occupied => {
                    counts.attempts_occupied += 1;
                    self.fail(pick.place);
                }
                Outcome::Collision => {
                    counts.attempts_collided += 1;
                    self.fail(pick.place);
                }
            }
        }
        picks.clear();
        self.picks = picks;
    }

    /// The channel is the terminal's.
    fn succeed(&mut self, pick: Pick) {
        let place = pick.place;
        let bearer = self.new_bearer(place, pick.channel);
        self.terminals[place].attempts = 0;
        match self.terminals[place].goal {
            Goal::Replace(which) => {
                let old = std::mem::replace(&mut self.terminals[place].bearers[which], bearer);
                self.release(place, old);
                self.end_single_handover(place, which, Goal::Done);
            }
            _ => {
                let terminal = &mut self.terminals[place];
                terminal.bearers.push(bearer);
                if terminal.bearers.len() >= self.config.bearer_counts(terminal.kind).target as usize {
                    terminal.goal = Goal::Done;
                }
            }
        }
    }

    /// The channel was not to be had.
    fn fail(&mut self, place: usize) {
        let limits = self.config.attempts;
        let terminal = &mut self.terminals[place];
        let limit = match terminal.goal {
            Goal::Replace(_) if terminal.kind.is_multibearer() => limits.handover_multibearer,
            Goal::Replace(_) => limits.handover_single_bearer,
            _ => limits.setup,
        };
        if terminal.attempts < limit {
            return;
        }
        match terminal.goal {
            Goal::Replace(which) => self.end_single_handover(place, which, Goal::GivenUp),
            _ => terminal.goal = Goal::GivenUp,
        }
    }

    /// The handover of one bearer has ended: in a connection handover the next bearer follows, with a list of
    /// its own.
    fn end_single_handover(&mut self, place: usize, which: usize, outcome: Goal) {
        let terminal = &mut self.terminals[place];
        if terminal.state != MacState::ConnectionHandover {
            terminal.goal = outcome;
            return;
        }
        terminal.attempts = 0;
        let rfp = terminal.rfp;
        terminal.goal = if which + 1 < terminal.bearers.len() {
            terminal.list_is_old = true;
            Goal::Replace(which + 1)
        } else if terminal.bearers.iter().all(|bearer| bearer.channel.rfp == rfp) {
            Goal::Done
        } else {
            Goal::GivenUp
        };
    }

    /// The next frame at which a terminal that searches makes the list it will use, or uses it.
    #[inline]
    pub(super) fn next_search_at(&self, terminal: &Terminal) -> u64 {
        let refresh_frames = self.config.channel_list.refresh_frames.max(1);
        let made_at = terminal.list.last_made_before(terminal.attempt_at, refresh_frames);
        if made_at > terminal.list.made_at() { made_at } else { terminal.attempt_at }
    }
}
