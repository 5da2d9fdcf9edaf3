//! Classes of packets by their Differentiated Services Codepoint (RFC 2474), each with a queue of its own:
//! what disciplines by class share.

use super::fifo::Fifo;
use super::{Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;

/// The most classes.
pub const MOST_CLASSES: usize = 8;

/// The class of each codepoint, by the classes' order. The last class is of all that no other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// By codepoint.
    of: [u8; 64],
    /// How many.
    count: u8,
}

impl Classes {
    /// One class, of all packets.
    pub const fn one() -> Classes {
        Classes { of: [0; 64], count: 1 }
    }

    /// These codepoints have a class of their own, before that of all others; false where one has another
    /// already, or there are too many classes.
    #[must_use]
    pub fn add(&mut self, codepoints: &[u8]) -> bool {
        let (rest, class) = (self.count - 1, self.count);
        let free = |&codepoint: &u8| self.of.get(usize::from(codepoint)) == Some(&rest);
        if usize::from(class) >= MOST_CLASSES || !codepoints.iter().all(free) {
            return false;
        }
        let mut of = self.of.map(|of| if of == rest { class } else { of });
        codepoints.iter().for_each(|&codepoint| of[usize::from(codepoint)] = rest);
        *self = Classes { of, count: class + 1 };
        true
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// That of a codepoint.
    pub fn class_of(&self, dscp: u8) -> usize {
        usize::from(self.of[usize::from(dscp)])
    }

    /// That of a packet.
    fn class(&self, packet: &Packet) -> usize {
        self.class_of(packet.traffic_class.dscp())
    }
}

/// A queue for each class.
#[derive(Debug)]
pub(super) struct ClassQueues {
    limit: QueueLimit,
    classes: Classes,
    queues: Vec<Fifo>,
}

impl ClassQueues {
    /// Empty queues, each with this limit.
    pub fn new(limit: QueueLimit, classes: Classes) -> ClassQueues {
        let queues = (0..classes.count()).map(|_| Fifo::default()).collect();
        ClassQueues { limit, classes, queues }
    }

    /// Takes a packet, or gives it back and says why; returns its class.
    pub fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<usize, (Packet, DropReason)> {
        let class = self.classes.class(&waiting.packet);
        let Length { packets, bytes } = self.queues[class].length();
        if !idle && !self.limit.admits(packets, bytes, waiting.packet.size_bytes) {
            return Err((waiting.packet, DropReason::QueueFull));
        }
        self.queues[class].push(waiting);
        Ok(class)
    }

    /// The queue of a class.
    pub fn of(&mut self, class: usize) -> &mut Fifo {
        &mut self.queues[class]
    }

    /// Takes out what waits from an attachment, class by class.
    pub fn withdraw(&mut self, from: Attachment) -> Vec<Waiting> {
        self.queues.iter_mut().flat_map(|queue| queue.withdraw(from)).collect()
    }

    /// The queues, in the order of the classes.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Fifo> {
        self.queues.iter_mut()
    }

    pub fn length(&self) -> Length {
        self.queues.iter().fold(Length::default(), |sum, queue| {
            let Length { packets, bytes } = queue.length();
            Length { packets: sum.packets + packets, bytes: sum.bytes + bytes }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_class_is_of_all_that_no_other_has() {
        let mut classes = Classes::one();
        assert!(classes.add(&[46, 40]) && classes.add(&[34]));
        assert_eq!(classes.count(), 3);
        assert_eq!([46, 40, 34, 0, 63].map(|codepoint: usize| classes.of[codepoint]), [0, 0, 1, 2, 2]);
        let before = classes;
        assert!(!classes.add(&[10, 46]) && !classes.add(&[64]));
        assert_eq!(classes, before);
        assert!((1..=5).all(|codepoint| classes.add(&[codepoint])) && !classes.add(&[6]));
    }
}
