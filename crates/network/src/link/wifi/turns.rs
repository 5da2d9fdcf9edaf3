//! When each radio may send, in order, where each has an ear of its own: a frame costs those who hear it, not all who have something to
//! send.
//!
//! Whoever changes what a radio's time depends on - its ear, its countdown, what it sends - says so ([`Cell::turn_changes`]); it is
//! worked out anew when it is next looked at who comes first.

use super::Cell;
use roamsim_engine::Time;
use std::collections::BTreeSet;

/// The radios that have something to send, by when they may.
#[derive(Debug)]
pub(super) struct Turns {
    in_order: BTreeSet<(Time, usize)>,
    /// By radio.
    times: Vec<Option<Time>>,
    /// Those whose time may have changed.
    changed: Vec<usize>,
    has_changed: Vec<bool>,
}

impl Turns {
    pub fn new(radios: usize) -> Turns {
        Turns {
            in_order: BTreeSet::new(),
            times: vec![None; radios],
            changed: Vec::new(),
            has_changed: vec![false; radios],
        }
    }

    fn set(&mut self, radio: usize, time: Option<Time>) {
        let before = std::mem::replace(&mut self.times[radio], time);
        if before != time {
            before.map(|before| self.in_order.remove(&(before, radio)));
            time.map(|time| self.in_order.insert((time, radio)));
        }
    }
}

impl Cell {
    /// What decides when a radio may send changes, or its ear. Where all share one ear that is for others to know.
    #[inline(always)]
    pub(super) fn turn_changes(&mut self, radio: usize) {
        if let Some(turns) = &mut self.turns
            && self.radios[radio].listed_at.is_some()
            && !std::mem::replace(&mut turns.has_changed[radio], true)
        {
            turns.changed.push(radio);
        }
    }

    /// When the first radio may send.
    pub(super) fn first_turn(&mut self) -> Option<Time> {
        let mut turns = self.turns.take()?;
        while let Some(radio) = turns.changed.pop() {
            turns.has_changed[radio] = false;
            let listed = self.radios[radio].listed_at.is_some();
            turns.set(radio, self.access_time(radio).filter(|_| listed));
        }
        let first = turns.in_order.first().map(|&(time, _)| time);
        debug_assert_eq!(first, self.listed.iter().filter_map(|&number| self.access_time(number)).min());
        self.turns = Some(turns);
        first
    }

    /// Those whose turn it is, in the order of the list.
    pub(super) fn due_by(&mut self, now: Time, due: &mut Vec<usize>) {
        self.first_turn();
        let Some(turns) = &self.turns else { return };
        due.extend(turns.in_order.iter().take_while(|&&(time, _)| time <= now).map(|&(_, radio)| radio));
        due.sort_unstable_by_key(|&radio| self.radios[radio].listed_at);
    }
}
