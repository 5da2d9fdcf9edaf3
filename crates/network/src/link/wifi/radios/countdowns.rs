//! Countdowns that pass the same slots: those of radios that share an ear and resume at the same instant
//! when the medium becomes idle.
//!
//! They are kept in the order of their ends, with one count of slots for all. When the medium becomes busy,
//! that count advances for all at once; only countdowns that are over, and new ones, are visited. So the
//! cost of a frame does not depend on the number of waiting radios.
//!
//! A radio leaves this group when its countdown may resume at another time: it has sent, has a new frame to
//! send, or is excepted from the NAV. It then has its own countdown, and joins again when the medium next
//! becomes busy.

use crate::link::wifi::index::{ByRadio, RadioIndex};
use std::collections::BTreeSet;

/// The radios that are listed: those that count together, and those that stand apart.
#[derive(Debug, Default)]
pub struct Countdowns {
    /// Slots that those have passed who count together, whenever they joined.
    passed: u64,
    /// Those without anything to send and those with it: at which of these slots the countdown is over, and
    /// the radio.
    together: [BTreeSet<(u64, RadioIndex)>; 2],
    /// By radio, the same of those who count together.
    over_at: ByRadio<Option<u64>>,
    pub apart: Vec<RadioIndex>,
}

impl Countdowns {
    pub fn new(radios: usize) -> Countdowns {
        Countdowns { over_at: vec![None; radios].into(), ..Countdowns::default() }
    }

    /// Whether a radio counts together with others.
    #[inline(always)]
    pub fn has(&self, number: RadioIndex) -> bool {
        self.over_at[number].is_some()
    }

    /// Takes a radio out of those who count together: the slots that it has left.
    pub fn leave(&mut self, number: RadioIndex) -> Option<u32> {
        let over_at = self.over_at.get_mut(number)?.take()?;
        self.together.iter_mut().any(|all| all.remove(&(over_at, number)));
        Some(self.left(over_at))
    }

    fn left(&self, over_at: u64) -> u32 {
        over_at.saturating_sub(self.passed) as u32
    }

    /// A radio joins those who count together, with so many slots left.
    pub fn join(&mut self, number: RadioIndex, left: u32, has_something: bool) {
        let over_at = self.passed + u64::from(left);
        self.over_at[number] = Some(over_at);
        self.together[usize::from(has_something)].insert((over_at, number));
    }

    /// Of those who have something to send, the first whose countdown will be over, and the slots that it has
    /// left.
    pub fn first(&self) -> Option<(RadioIndex, u32)> {
        self.together[1].first().map(|&(over_at, number)| (number, self.left(over_at)))
    }

    /// So many slots pass for all. Whose countdown is over leaves, and is told of, with whether it has
    /// something to send: first those who have not.
    pub fn pass(&mut self, slots: u64, mut is_over: impl FnMut(RadioIndex, bool)) {
        let by = self.passed + slots;
        for has_something in [false, true] {
            let all = &mut self.together[usize::from(has_something)];
            while let Some(&(over_at, number)) = all.first()
                && over_at <= by
            {
                all.pop_first();
                self.over_at[number] = None;
                is_over(number, has_something);
            }
        }
        self.passed = by;
    }

    /// A busy period counts as a slot.
    pub fn count_busy_period(&mut self) {
        self.passed += 1;
    }

    /// The slots that a radio has left that counts together with others.
    #[cfg(test)]
    pub fn slots(&self, number: RadioIndex) -> Option<u32> {
        self.over_at[number].map(|over_at| self.left(over_at))
    }
}

#[cfg(test)]
mod tests {
    use crate::link::testing::{datagram, stream};
    use crate::link::wifi::tests::config;
    use crate::link::wifi::tests::prelude::*;
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
                let from = Attachment(from % cell.associations.ways.len() as u32);
                let _ = cell.enqueue(cx, from, datagram(40 + 97 * (now.as_ns() / 1000 % 13) as u32));
            } else {
                cell.handle_timeout(cx);
            }
            for frame in cell.medium.on_air.iter().filter(|frame| frame.number >= seen) {
                frames.push(format!("{now:?} {:?} {}>{}", frame.kind, frame.from.0, frame.to.0));
            }
            seen = cell.medium.frames;
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
            alone.radios.countdowns = None;
            prop_assert_eq!(run(together, &packets), run(alone, &packets));
        }
    }
}
