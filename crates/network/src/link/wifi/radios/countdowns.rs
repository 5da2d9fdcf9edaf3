//! Countdowns that pass the same slots: of radios that share an ear, and go on at the same instant when the
//! medium falls idle.
//!
//! They are kept in the order in which they will be over, with one count of slots for all of them. When the
//! medium becomes busy the count goes on for all at once: only those are looked at whose countdown is over,
//! and those that join. So a frame costs what happens at it, not those who wait.
//!
//! A radio stands apart, and is reckoned by itself, from the instant on at which its countdown may go on at
//! another time than that of the others, or at which it has something new to send: when it has sent, or is
//! excepted from the NAV. It joins the others when the medium becomes busy the next time.

use crate::link::wifi::Cell;
use crate::link::wifi::config::Freezing;
use crate::link::wifi::radios::radio::Attempt;
use roamsim_engine::Time;
use std::collections::BTreeSet;

/// The radios that are listed: those that count together, and those that stand apart.
#[derive(Debug, Default)]
pub(in crate::link::wifi) struct Countdowns {
    /// Slots that those have passed who count together, whenever they joined.
    passed: u64,
    /// Those without anything to send and those with it: at which of these slots the countdown is over, and
    /// the radio.
    together: [BTreeSet<(u64, usize)>; 2],
    /// By radio, the same of those who count together.
    over_at: Vec<Option<u64>>,
    pub apart: Vec<usize>,
}

impl Countdowns {
    pub fn new(radios: usize) -> Countdowns {
        Countdowns { over_at: vec![None; radios], ..Countdowns::default() }
    }

    /// Takes a radio out of those who count together: the slots that it has left.
    fn leave(&mut self, number: usize) -> Option<u32> {
        let over_at = self.over_at.get_mut(number)?.take()?;
        self.together.iter_mut().any(|all| all.remove(&(over_at, number)));
        Some(self.left(over_at))
    }

    fn left(&self, over_at: u64) -> u32 {
        over_at.saturating_sub(self.passed) as u32
    }
}

impl Cell {
    /// A radio is reckoned by itself until the medium becomes busy the next time.
    #[inline]
    pub(in crate::link::wifi) fn stand_apart(&mut self, number: usize) {
        if let Some(countdowns) = &self.countdowns
            && countdowns.over_at[number].is_some()
        {
            self.part(number);
        }
    }

    #[inline(never)]
    fn part(&mut self, number: usize) {
        if let Some(countdowns) = &mut self.countdowns
            && let Some(left) = countdowns.leave(number)
        {
            countdowns.apart.push(number);
            self.radios[number].own.backoff_slots = Some(left);
        }
    }

    /// When those who count together go on, if the medium stays idle: as [`Cell::resumes`] has it of single
    /// ones.
    fn resume_together(&self) -> Time {
        let ear = &self.ears[0];
        let time = ear.idle_since + ear.ifs;
        if ear.nav > ear.idle_since { time.max(ear.nav + self.config.timing.difs) } else { time }
    }

    /// When the first of those who count together may send, if the medium stays idle.
    pub(in crate::link::wifi) fn access_together(&self, countdowns: &Countdowns) -> Option<Time> {
        let &(over_at, _) = countdowns.together[1].first()?;
        let left = u64::from(countdowns.left(over_at));
        (self.ears[0].heard == 0).then(|| self.resume_together() + self.config.timing.slot * left)
    }

    /// Those whose countdown is over by now, and who have something to send, in the order of the list.
    pub(in crate::link::wifi) fn over_by(&mut self, now: Time, over: &mut Vec<usize>) {
        let Some(countdowns) = &self.countdowns else { return };
        let is_over = |&number: &usize| self.access_time(number).is_some_and(|time| time <= now);
        over.extend(countdowns.apart.iter().copied().filter(is_over));
        while let Some(countdowns) = &self.countdowns
            && self.access_together(countdowns).is_some_and(|time| time <= now)
            && let Some(&(_, number)) = countdowns.together[1].first()
        {
            self.stand_apart(number);
            over.push(number);
        }
        over.sort_unstable_by_key(|&number| self.radios[number].listed_at);
    }

    /// The medium becomes busy: countdowns stop.
    pub(in crate::link::wifi) fn freeze_together(&mut self, now: Time) {
        let resumed = self.resume_together();
        let Some(mut countdowns) = self.countdowns.take() else { return };
        let (mut done, mut decided) = (Vec::new(), Vec::new());
        if resumed <= now {
            let passed = now.since(resumed).as_ns() / self.config.timing.slot.as_ns();
            let by = countdowns.passed + passed;
            for has_something in [false, true] {
                let all = &mut countdowns.together[usize::from(has_something)];
                while let Some(&(over_at, number)) = all.first()
                    && over_at <= by
                {
                    all.pop_first();
                    countdowns.over_at[number] = None;
                    self.radios[number].own.backoff_slots = None;
                    if has_something { &mut decided } else { &mut done }.push(number);
                }
            }
            countdowns.passed = by;
        }
        if self.config.freezing == Freezing::CountsBusyPeriods {
            countdowns.passed += 1;
        }
        let (reserved, reserved_by) = (self.ears[0].nav > now, self.ears[0].reserved_by);
        let mut place = 0;
        while let Some(&number) = countdowns.apart.get(place) {
            if self.radios[number].attempt != Attempt::None {
                place += 1;
                continue;
            }
            let stays = self.freeze_own(now, number);
            let function = &self.radios[number].own;
            match function.backoff_slots.filter(|_| stays) {
                Some(_) if reserved && reserved_by.contains(&number) => {
                    place += 1;
                    continue;
                }
                Some(left) => {
                    let over_at = countdowns.passed + u64::from(left);
                    countdowns.over_at[number] = Some(over_at);
                    countdowns.together[usize::from(function.head.is_some())].insert((over_at, number));
                }
                None if stays => {
                    place += 1;
                    continue;
                }
                None => done.push(number),
            }
            countdowns.apart.swap_remove(place);
        }
        countdowns.apart.extend(decided);
        self.countdowns = Some(countdowns);
        self.unlist(done);
    }

    /// Takes radios out of the list, in its order: the last of it moves up to each place that falls free.
    fn unlist(&mut self, mut done: Vec<usize>) {
        while let Some(next) = (0..done.len()).min_by_key(|&next| self.radios[done[next]].listed_at) {
            let number = done.swap_remove(next);
            self.unlist_one(number);
        }
    }

    /// Takes a radio out of the list.
    pub(in crate::link::wifi) fn unlist_one(&mut self, number: usize) {
        let Some(place) = self.radios[number].listed_at.take() else { return };
        self.listed.swap_remove(place);
        if let Some(&moved) = self.listed.get(place) {
            self.radios[moved].listed_at = Some(place);
        }
    }
}

#[cfg(test)]
impl Cell {
    /// The slots that a radio has left.
    pub(in crate::link::wifi) fn slots(&self, number: usize) -> Option<u32> {
        let together = self
            .countdowns
            .as_ref()
            .and_then(|countdowns| countdowns.over_at[number].map(|over_at| countdowns.left(over_at)));
        together.or(self.radios[number].own.backoff_slots)
    }

    /// Gives a radio another countdown.
    pub(in crate::link::wifi) fn set_slots(&mut self, number: usize, slots: Option<u32>) {
        self.stand_apart(number);
        self.radios[number].own.backoff_slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use crate::link::testing::{datagram, stream};
    use crate::link::wifi::tests::config;
    use crate::link::wifi::*;
    use proptest::prelude::*;
    use roamsim_engine::Span;

    /// What happens in a cell of so many stations to which these packets come (in microseconds, from whom):
    /// what is on the air, and who delivers and drops.
    fn run(mut cell: Cell, packets: &[(u64, u32)]) -> (Vec<String>, Vec<(Time, u32)>) {
        let (mut frames, mut ends, mut seen) = (Vec::new(), Vec::new(), 0);
        let mut packets = packets.to_vec();
        packets.sort_unstable();
        let mut packets = packets.into_iter().peekable();
        loop {
            let due = cell.poll_timeout();
            let comes = packets.peek().map(|&(at_us, _)| Time::ZERO + Span::from_us(at_us));
            let Some(now) = due.into_iter().chain(comes).min() else { break };
            let mut unused = stream("cell");
            let cx = &mut Context { now, random: &mut unused };
            if comes == Some(now) {
                let (_, from) = packets.next().expect("one comes");
                let from = Attachment(from % cell.ways.len() as u32);
                let _ = cell.enqueue(cx, from, datagram(40 + 97 * (now.as_ns() / 1000 % 13) as u32));
            } else {
                cell.handle_timeout(cx);
            }
            for frame in cell.on_air.iter().filter(|frame| frame.number >= seen) {
                frames.push(format!("{now:?} {:?} {}>{}", frame.kind, frame.from, frame.to));
            }
            seen = cell.frames;
            ends.extend(std::iter::from_fn(|| cell.poll_delivery(now)).map(|(to, _)| (now, to.0)));
            ends.extend(std::iter::from_fn(|| cell.poll_drop()).map(|(from, ..)| (now, 1000 + from.0)));
        }
        (frames, ends)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn those_who_count_together_count_as_each_does_alone(
            stations in 1_usize..12,
            cw_min in prop::sample::select(vec![0_u32, 1, 3, 7, 31]),
            rts_threshold_bytes in prop::sample::select(vec![0_u32, 500, 2347]),
            counts_busy_periods in any::<bool>(),
            packets in prop::collection::vec((0_u64..60_000, 0_u32..24), 0..150),
        ) {
            let freezing =
                if counts_busy_periods { Freezing::CountsBusyPeriods } else { Freezing::Standard };
            let config = CellConfig { cw_min, cw_max: 63, rts_threshold_bytes, freezing, ..config(stations) };
            let together = Cell::new(config.clone(), stream);
            let mut alone = Cell::new(config, stream);
            alone.countdowns = None;
            prop_assert_eq!(run(together, &packets), run(alone, &packets));
        }
    }
}
