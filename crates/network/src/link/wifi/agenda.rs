//! The steps that lie ahead in a medium, ordered by time, then by insertion.
//!
//! Frame exchanges have few steps, soon due: a sorted list. Stations have many timers, and replaced timers
//! stay: a heap. A collision of many stations fills the list; further steps go to the heap.

use super::index::{CellIndex, RadioIndex};
use roamsim_engine::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A frame ends.
    End(u64),
    /// A radio answers another one, SIFS after its RTS or data.
    Cts(RadioIndex, RadioIndex),
    Ack(RadioIndex, RadioIndex),
    /// A radio sends the data that a CTS allowed.
    Data(RadioIndex),
    /// A radio goes on in its transmission opportunity.
    Continue(RadioIndex),
    /// A radio sends the next fragment of its packet.
    Fragment(RadioIndex),
    /// No answer has come for a radio.
    Timeout(RadioIndex),
    /// Time for a cell's beacon.
    Beacon(CellIndex),
    /// A radio that wants to leave its channel may be free.
    Free,
    /// A station's timer, by the radio and the timer's number.
    Station(RadioIndex, u64),
}

/// Steps in the sorted list at most. Our choice: an insertion moves at most this many.
const LISTED: usize = 32;

/// Steps, each with its number by insertion.
#[derive(Debug, Default)]
pub struct Agenda {
    /// Steps of exchanges, the next one last: a new step is nearly always among the next.
    steps: Vec<(Time, u64, Step)>,
    /// Timers of stations, and steps of exchanges that found the list full.
    heap: BinaryHeap<Reverse<(Time, u64, Step)>>,
    put: u64,
}

impl Agenda {
    /// Puts a step there, behind all of its instant.
    pub fn put(&mut self, at: Time, step: Step) {
        self.put += 1;
        if self.steps.is_empty() && !matches!(step, Step::Station(..)) {
            return self.steps.push((at, self.put, step));
        }
        if self.steps.len() >= LISTED || matches!(step, Step::Station(..)) {
            return self.heap.push(Reverse((at, self.put, step)));
        }
        let later = self.steps.iter().rposition(|&(other, ..)| other > at);
        self.steps.insert(later.map_or(0, |later| later + 1), (at, self.put, step));
    }

    /// Whether nothing lies ahead.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.heap.is_empty()
    }

    /// When the next one is due.
    #[inline(always)]
    pub fn next(&self) -> Option<Time> {
        let step = self.steps.last().map(|&(at, ..)| at);
        match self.heap.peek() {
            Some(&Reverse((at, ..))) => Some(step.map_or(at, |step| step.min(at))),
            None => step,
        }
    }

    /// Takes the next one that is due by now.
    #[inline(always)]
    pub fn take_due(&mut self, now: Time) -> Option<Step> {
        if let Some(&Reverse((at, put, step))) = self.heap.peek()
            && at <= now
            && self.steps.last().is_none_or(|&(step_at, step_put, _)| (at, put) < (step_at, step_put))
        {
            self.heap.pop();
            return Some(step);
        }
        self.steps.pop_if(|&mut (at, ..)| at <= now).map(|(.., step)| step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_of_time_and_then_of_being_put_there() {
        let mut agenda = Agenda::default();
        let at = Time::from_ns;
        // Steps of exchanges, and of stations.
        let step = |number: u64| {
            if number.is_multiple_of(2) { Step::End(number) } else { Step::Station(RadioIndex(1), number) }
        };
        for (number, ns) in [(0, 5), (1, 3), (2, 5), (3, 9), (4, 3), (5, 5), (6, 1), (7, 3), (8, 5)] {
            agenda.put(at(ns), step(number));
        }
        assert_eq!((agenda.next(), agenda.take_due(at(0))), (Some(at(1)), None));
        let due: Vec<Step> = std::iter::from_fn(|| agenda.take_due(at(5))).collect();
        assert_eq!(due, [6, 1, 4, 7, 0, 2, 5, 8].map(step));
        assert_eq!((agenda.next(), agenda.take_due(at(8))), (Some(at(9)), None));
        assert_eq!((agenda.take_due(at(9)), agenda.next()), (Some(step(3)), None));
    }

    #[test]
    fn more_steps_than_the_list_holds_come_in_the_same_order() {
        let mut agenda = Agenda::default();
        let at = |number: u64| Time::from_ns(number * 5 % 7);
        (0..200).for_each(|number| agenda.put(at(number), Step::End(number)));
        let mut in_order: Vec<u64> = (0..200).collect();
        in_order.sort_by_key(|&number| at(number));
        let due = std::iter::from_fn(|| agenda.take_due(Time::MAX));
        assert!(due.eq(in_order.into_iter().map(Step::End)));
        assert!(agenda.is_empty());
    }
}
