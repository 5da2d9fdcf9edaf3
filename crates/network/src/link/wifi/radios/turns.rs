//! When each radio may send, in order, where many have an ear of their own: a frame costs those who hear it,
//! not all who have something to send.
//!
//! A radio's time depends on the radio and its ear alone. Both are [watched](crate::link::wifi::watched):
//! whoever may change one has it worked out anew when it is next looked at who comes first.

use crate::link::wifi::index::{ByRadio, RadioIndex};
use roamsim_engine::Time;
use std::collections::BTreeSet;

/// The radios that have something to send, by when they may.
#[derive(Debug)]
pub struct Turns {
    in_order: BTreeSet<(Time, RadioIndex)>,
    /// By radio.
    times: ByRadio<Option<Time>>,
}

impl Turns {
    pub fn new(radios: usize) -> Turns {
        Turns { in_order: BTreeSet::new(), times: vec![None; radios].into() }
    }

    /// From now on a radio may send then, or has nothing to send.
    pub fn set(&mut self, radio: RadioIndex, time: Option<Time>) {
        let before = std::mem::replace(&mut self.times[radio], time);
        if before != time {
            before.map(|before| self.in_order.remove(&(before, radio)));
            time.map(|time| self.in_order.insert((time, radio)));
        }
    }

    /// When the first of them may send.
    pub fn first(&self) -> Option<Time> {
        self.in_order.first().map(|&(time, _)| time)
    }

    /// Those that may send by now.
    pub fn due_by(&self, now: Time) -> impl Iterator<Item = RadioIndex> + '_ {
        self.in_order.iter().take_while(move |&&(time, _)| time <= now).map(|&(_, radio)| radio)
    }
}
