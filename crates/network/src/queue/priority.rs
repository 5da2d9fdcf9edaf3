//! Strict priority by class: whoever is of the first class with anything to send is next; within a class,
//! first come, first served.
//!
//! Each class has the limit of the queue for itself. Not modelled: a rate above which a class loses its
//! priority.

use super::classes::{ClassQueues, Classes};
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::Time;

/// Queues of classes, the first before the others.
#[derive(Debug)]
pub struct Priority {
    queues: ClassQueues,
}

impl Priority {
    /// Empty queues.
    pub fn new(limit: QueueLimit, classes: Classes) -> Priority {
        Priority { queues: ClassQueues::new(limit, classes) }
    }
}

impl Discipline for Priority {
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        self.queues.enqueue(waiting, idle).map(|_| ())
    }

    fn dequeue(&mut self, _now: Time) -> Option<Waiting> {
        self.queues.all().find_map(|queue| queue.pop())
    }

    fn withdraw(&mut self, _now: Time, from: Attachment) -> Vec<Waiting> {
        self.queues.withdraw(from)
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

    #[test]
    fn the_first_class_with_anything_to_send_is_next() {
        let mut classes = Classes::one();
        assert!(classes.add(&[46]) && classes.add(&[34]));
        let mut queue = Priority::new(QueueLimit::Packets(2), classes);
        let take = |queue: &mut Priority, id: u64, codepoint: u8| {
            let traffic_class = TrafficClass::of_dscp(codepoint);
            let packet = Packet { id: PacketId(id), traffic_class, ..datagram(100) };
            let waiting = Waiting { since: Time::ZERO, from: Attachment(0), packet, marked: false };
            queue.enqueue(waiting, false).map_err(|(_, reason)| reason)
        };
        for (id, codepoint) in [(0, 0), (1, 34), (2, 46), (3, 8), (4, 46)] {
            assert_eq!(take(&mut queue, id, codepoint), Ok(()));
        }
        // Each class has its own room; best effort and 8 share one.
        assert_eq!(take(&mut queue, 5, 0), Err(DropReason::QueueFull));
        assert_eq!(take(&mut queue, 6, 34), Ok(()));
        assert_eq!(queue.length(), Length { packets: 6, bytes: 600 });
        let order: Vec<u64> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO)).map(|next| next.packet.id.0).collect();
        assert_eq!(order, [2, 4, 1, 6, 0, 3]);
    }
}
