//! Trying channels: lists, picks, and what becomes of them (steps 3 to 5 of a frame).

use super::Mac;
use super::config::Transceivers;
use super::pick::{Outcome, Pick};
use super::resource::{Channel, SlotFormat, UnitSet};
use super::state::{Goal, MacState, Terminal};

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
            (frame + 1).saturating_add(self.permission.trials_without(&mut self.streams.permission));
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
            if terminal.attempts == 1 {
                terminal.first_attempt_at = frame;
            }
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
            if self.trace.is_on() {
                let what = format_args!("tries {}: {}", pick.channel, pick.outcome.name());
                self.trace.line(self.frame, terminal, what);
            }
            let attempt = (terminal.attempts, terminal.first_attempt_at);
            self.counter.attempt(terminal.kind, terminal.state, attempt, pick.outcome);
            match pick.outcome {
                Outcome::Success => self.succeed(*pick),
                Outcome::Occupied | Outcome::Collision => self.fail(pick.place),
            }
        }
        picks.clear();
        self.picks = picks;
    }

    /// The channel is the terminal's.
    fn succeed(&mut self, pick: Pick) {
        let place = pick.place;
        self.terminals[place].attempts = 0;
        match self.terminals[place].goal {
            Goal::Replace(which) => {
                let old = self.terminals[place].bearers[which];
                let bearer = self.new_bearer(place, pick.channel, Some(old.id));
                self.terminals[place].bearers[which] = bearer;
                self.release(place, old);
                self.end_single_handover(place, which, Goal::Done);
            }
            _ => {
                let bearer = self.new_bearer(place, pick.channel, None);
                let terminal = &mut self.terminals[place];
                terminal.bearers.push(bearer);
                if terminal.bearers.len() >= self.config.bearer_counts(terminal.kind).target as usize {
                    terminal.goal = Goal::Done;
                }
            }
        }
    }

    /// How often a terminal may try for the present bearer.
    pub(super) fn attempt_limit(&self, place: usize) -> u32 {
        let limits = self.config.attempts;
        let terminal = &self.terminals[place];
        match terminal.goal {
            Goal::Replace(_) if terminal.kind.is_multibearer() => limits.handover_multibearer,
            Goal::Replace(_) => limits.handover_single_bearer,
            _ => limits.setup,
        }
    }

    /// The channel was not to be had.
    fn fail(&mut self, place: usize) {
        let limit = self.attempt_limit(place);
        let terminal = &mut self.terminals[place];
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

#[cfg(test)]
mod tests {
    use super::super::config::{MacConfig, TerminalType, UserAllocation};
    use super::super::resource::unit;
    use super::*;
    use roamsim_engine::Stream;

    /// A MAC with terminals of these types in Call_Setup.
    fn mac(kinds: &[TerminalType]) -> Mac {
        let config = MacConfig { user: UserAllocation::Fixed { bearers: 0 }, ..MacConfig::default() };
        let mut mac = Mac::new(config, |purpose| Stream::new(1, 0, purpose));
        for &kind in kinds {
            mac.begin_call(kind, 0.0);
        }
        mac
    }

    /// Resolves these picks of terminals 1, 2, ... in one frame; how many bearers each then has.
    fn resolve(mac: &mut Mac, picks: &[(u8, u32)]) -> Vec<usize> {
        for (n, &(rfp, first_unit)) in picks.iter().enumerate() {
            let format = SlotFormat::of(mac.terminals[n + 1].kind);
            let channel = Channel { rfp, first_unit: first_unit as u8, format };
            mac.picks.push(Pick { place: n + 1, channel, outcome: Outcome::Success });
        }
        mac.resolve_picks();
        mac.terminals[1..].iter().map(|terminal| terminal.bearers.len()).collect()
    }

    #[test]
    fn two_picks_of_one_channel_both_fail() {
        let mut mac = mac(&[TerminalType::P32, TerminalType::P32]);
        assert_eq!(resolve(&mut mac, &[(0, 20), (0, 20)]), [0, 0]);
        let setup = mac.counter.of(TerminalType::P32).procedure(MacState::CallSetup);
        assert_eq!(setup.attempts_collided, 2);
        assert!(mac.radio.occupied(0).is_empty());
    }

    #[test]
    fn the_tables_of_two_rfps_are_independent() {
        let mut mac = mac(&[TerminalType::P32, TerminalType::P32]);
        assert_eq!(resolve(&mut mac, &[(0, 20), (1, 20)]), [1, 1]);
    }

    #[test]
    fn a_shared_half_slot_is_a_collision() {
        // The two half slots at the ends of a double slot do not touch each other, and fail with it.
        let mut mac = mac(&[TerminalType::P08j, TerminalType::P80, TerminalType::P08j, TerminalType::P08j]);
        let first = unit(2, 4, 0);
        assert_eq!(
            resolve(&mut mac, &[(0, first), (0, first), (0, first + 3), (0, first + 4)]),
            [0, 0, 0, 1]
        );
    }

    #[test]
    fn an_occupied_channel_fails_by_itself() {
        let mut mac = mac(&[TerminalType::P32, TerminalType::P08j]);
        assert_eq!(resolve(&mut mac, &[(0, 20), (0, 50)]), [1, 1]);
        mac.begin_call(TerminalType::P32, 0.0);
        // A full slot whose second half is taken, at carrier 2 pair 1: units 50 and 51.
        mac.picks.push(Pick {
            place: 3,
            channel: Channel { rfp: 0, first_unit: 50, format: SlotFormat::Full },
            outcome: Outcome::Success,
        });
        mac.resolve_picks();
        assert!(mac.terminals[3].bearers.is_empty());
        let setup = mac.counter.of(TerminalType::P32).procedure(MacState::CallSetup);
        assert_eq!(setup.attempts_occupied, 1);
    }

    #[test]
    fn a_channel_given_back_in_a_handover_can_be_taken_from_the_next_frame() {
        let mut mac = mac(&[TerminalType::P32, TerminalType::P32]);
        assert_eq!(resolve(&mut mac, &[(0, 20)]), [1, 0]);
        mac.terminals[1].state = MacState::BearerHandover;
        mac.terminals[1].goal = Goal::Replace(0);
        assert_eq!(resolve(&mut mac, &[(0, 22), (0, 20)]), [1, 0]);
        assert_eq!(mac.terminals[1].bearers[0].channel.first_unit, 22);
        mac.terminals[1].goal = Goal::Done;
        mac.picks.push(Pick {
            place: 2,
            channel: Channel { rfp: 0, first_unit: 20, format: SlotFormat::Full },
            outcome: Outcome::Success,
        });
        mac.resolve_picks();
        assert_eq!(mac.terminals[2].bearers.len(), 1);
    }
}
