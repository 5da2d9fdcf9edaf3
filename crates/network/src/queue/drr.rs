//! Deficit round robin by class (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin",
//! IEEE/ACM Transactions on Networking 4(3), 1996): classes with anything to send take turns, and in each a
//! class may send its quantum of octets and what it has left of the turns before; a class that has nothing
//! more to send leaves none.
//!
//! Each class has the limit of the queue for itself; within a class, first come, first served.

use super::classes::{ClassQueues, Classes, MOST_CLASSES};
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::Time;
use std::collections::VecDeque;

/// What deficit round robin goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The classes.
    pub classes: Classes,
    /// By class, the octets that it may send in a turn.
    pub quanta_bytes: [u32; MOST_CLASSES],
}

/// Queues of classes in turn.
#[derive(Debug)]
pub struct Drr {
    settings: Settings,
    queues: ClassQueues,
    /// Those with anything to send, in the order of their turns.
    active: VecDeque<usize>,
    deficits_bytes: [u64; MOST_CLASSES],
    /// Whether the first of them has got its quantum of this turn.
    begun: bool,
}

impl Drr {
    /// Empty queues.
    pub fn new(limit: QueueLimit, settings: Settings) -> Drr {
        Drr {
            settings,
            queues: ClassQueues::new(limit, settings.classes),
            active: VecDeque::new(),
            deficits_bytes: [0; MOST_CLASSES],
            begun: false,
        }
    }
}

impl Discipline for Drr {
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        let class = self.queues.enqueue(waiting, idle)?;
        if !self.active.contains(&class) {
            self.active.push_back(class);
            self.deficits_bytes[class] = 0;
        }
        Ok(())
    }

    fn dequeue(&mut self, _now: Time) -> Option<Waiting> {
        loop {
            let class = *self.active.front()?;
            if !self.begun {
                self.deficits_bytes[class] += u64::from(self.settings.quanta_bytes[class]);
                self.begun = true;
            }
            let queue = self.queues.of(class);
            let bytes = u64::from(queue.first()?.packet.size_bytes);
            if bytes > self.deficits_bytes[class] {
                self.active.rotate_left(1);
                self.begun = false;
                continue;
            }
            self.deficits_bytes[class] -= bytes;
            let next = queue.pop();
            if queue.first().is_none() {
                self.active.pop_front();
                self.begun = false;
            }
            return next;
        }
    }

    fn withdraw(&mut self, _now: Time, from: Attachment) -> Vec<Waiting> {
        let gone = self.queues.withdraw(from);
        let first = self.active.front().copied();
        self.active.retain(|&class| self.queues.of(class).first().is_some());
        self.begun &= self.active.front().copied() == first;
        gone
    }

    fn length(&self) -> Length {
        self.queues.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::datagram;
    use crate::traffic_class::TrafficClass;

    /// The first class of 1000 octets a turn, the other of 500.
    fn drr() -> Drr {
        let mut classes = Classes::one();
        assert!(classes.add(&[46]));
        let mut quanta_bytes = [0; MOST_CLASSES];
        quanta_bytes[..2].copy_from_slice(&[1000, 500]);
        Drr::new(QueueLimit::Packets(1000), Settings { classes, quanta_bytes })
    }

    fn take(queue: &mut Drr, id: u64, codepoint: u8, bytes: u32) {
        let packet =
            Packet { id: PacketId(id), traffic_class: TrafficClass::of_dscp(codepoint), ..datagram(bytes) };
        let waiting = Waiting { since: Time::ZERO, from: Attachment(0), packet, marked: false };
        assert!(queue.enqueue(waiting, false).is_ok());
    }

    fn order(queue: &mut Drr) -> Vec<u64> {
        std::iter::from_fn(|| queue.dequeue(Time::ZERO)).map(|next| next.packet.id.0).collect()
    }

    #[test]
    fn a_turn_is_a_quantum_and_what_was_left_of_the_turns_before() {
        let mut queue = drr();
        (0..5).for_each(|id| take(&mut queue, id, 46, 600));
        (10..13).for_each(|id| take(&mut queue, id, 0, 400));
        // 1000 for one of 600, 400 left; 500 for one of 400, 100 left; 1400 for two of 600, 200 left; 600 for
        // one, 200 left; 1200 for two, then nothing more; 700 for the last.
        assert_eq!(order(&mut queue), [0, 10, 1, 2, 11, 3, 4, 12]);
    }

    #[test]
    fn what_takes_several_turns_is_waited_for_and_who_comes_again_begins_with_nothing() {
        let mut queue = drr();
        take(&mut queue, 0, 0, 1400);
        take(&mut queue, 1, 46, 900);
        take(&mut queue, 2, 46, 900);
        // 500; 1000 for one, 100 left; 1000; 1100 for the other; 1500.
        assert_eq!(order(&mut queue), [1, 2, 0]);
        // Nothing is left of before: 1000 are too few for 1001.
        take(&mut queue, 3, 46, 1001);
        take(&mut queue, 4, 0, 500);
        assert_eq!(order(&mut queue), [4, 3]);
    }
}
