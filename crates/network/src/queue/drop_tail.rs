//! Drop-tail: first come, first served; who comes when the queue is full is dropped.

use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use roamsim_engine::Time;
use std::collections::VecDeque;

/// A drop-tail queue of packets or octets.
#[derive(Debug)]
pub struct DropTail {
    limit: Option<QueueLimit>,
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl DropTail {
    /// An empty queue; without a limit it takes all that comes.
    pub fn new(limit: Option<QueueLimit>) -> DropTail {
        DropTail { limit, waiting: VecDeque::new(), bytes: 0 }
    }
}

impl Discipline for DropTail {
    fn enqueue(&mut self, waiting: Waiting) -> Result<(), (Waiting, DropReason)> {
        let bytes = waiting.packet.size_bytes;
        if self.limit.is_some_and(|limit| !limit.admits(self.waiting.len(), self.bytes, bytes)) {
            return Err((waiting, DropReason::QueueFull));
        }
        self.bytes += u64::from(bytes);
        self.waiting.push_back(waiting);
        Ok(())
    }

    fn dequeue(&mut self, _now: Time) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.bytes -= u64::from(next.packet.size_bytes);
        Some(next)
    }

    fn length(&self) -> Length {
        Length { packets: self.waiting.len(), bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;
    use crate::packet::{Packet, PacketId};
    use crate::testing::datagram;
    use roamsim_engine::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn packet(id: u64, bytes: u32) -> Packet {
        Packet { id: PacketId(id), ..datagram(bytes) }
    }

    fn enqueue(queue: &mut Queue, now: Time, packet: Packet) -> Result<(), (u64, DropReason)> {
        queue.enqueue(now, packet).map_err(|(packet, reason)| (packet.id.0, reason))
    }

    #[test]
    fn packets_leave_in_order_and_their_waiting_is_summed_up() {
        let mut queue = Queue::new(DropTail::new(Some(QueueLimit::Packets(2))));
        assert_eq!(enqueue(&mut queue, at(0), packet(0, 100)), Ok(()));
        assert_eq!(enqueue(&mut queue, at(1), packet(1, 200)), Ok(()));
        assert_eq!(enqueue(&mut queue, at(2), packet(2, 50)), Err((2, DropReason::QueueFull)));
        assert_eq!(queue.length(), Length { packets: 2, bytes: 300 });
        assert_eq!(queue.dequeue(at(4)).map(|packet| packet.id.0), Some(0));
        assert_eq!(queue.length(), Length { packets: 1, bytes: 200 });
        // 4 ms of the first, and 10 - 1 of the second, which still waits at 10 ms.
        assert_eq!(queue.waited(at(10)), Span::from_ms(13));
        assert_eq!(queue.dequeue(at(11)).map(|packet| packet.id.0), Some(1));
        assert_eq!(queue.dequeue(at(12)).map(|packet| packet.id), None);
        // 4 + 10 ms, whenever it is asked for.
        assert_eq!((queue.waited(at(11)), queue.waited(at(99))), (Span::from_ms(14), Span::from_ms(14)));
        assert_eq!(queue.max_packets(), 2);
    }

    #[test]
    fn a_limit_of_octets_takes_what_fits_and_none_takes_all() {
        let mut queue = Queue::new(DropTail::new(Some(QueueLimit::Bytes(300))));
        assert_eq!(enqueue(&mut queue, at(0), packet(0, 200)), Ok(()));
        assert_eq!(enqueue(&mut queue, at(0), packet(1, 101)), Err((1, DropReason::QueueFull)));
        assert_eq!(enqueue(&mut queue, at(0), packet(2, 100)), Ok(()));
        let mut queue = Queue::new(DropTail::new(None));
        assert!((0..1000).all(|id| enqueue(&mut queue, at(0), packet(id, 1500)).is_ok()));
    }
}
