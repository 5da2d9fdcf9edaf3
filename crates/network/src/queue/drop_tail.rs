//! Drop-tail: first come, first served; who comes when the queue is full is dropped.

use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::Time;

/// A drop-tail queue of packets or octets.
#[derive(Debug)]
pub struct DropTail {
    limit: Option<QueueLimit>,
    queue: Fifo,
}

impl DropTail {
    /// An empty queue; without a limit it takes all that comes.
    pub fn new(limit: Option<QueueLimit>) -> DropTail {
        DropTail { limit, queue: Fifo::default() }
    }
}

impl Discipline for DropTail {
    #[inline]
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        let Length { packets, bytes } = self.queue.length();
        let refuses = |limit: QueueLimit| !limit.admits(packets, bytes, waiting.packet.size_bytes);
        if !idle && self.limit.is_some_and(refuses) {
            return Err((waiting.packet, DropReason::QueueFull));
        }
        self.queue.push(waiting);
        Ok(())
    }

    #[inline]
    fn dequeue(&mut self, _now: Time) -> Option<Waiting> {
        self.queue.pop()
    }

    fn withdraw(&mut self, _now: Time, from: Attachment) -> Vec<Waiting> {
        self.queue.withdraw(from)
    }

    fn length(&self) -> Length {
        self.queue.length()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::datagram;
    use roamsim_engine::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn packet(id: u64, bytes: u32) -> Packet {
        Packet { id: PacketId(id), ..datagram(bytes) }
    }

    const A: Attachment = Attachment(7);
    const B: Attachment = Attachment(8);

    fn enqueue(queue: &mut Queue, now: Time, packet: Packet) -> Result<(), (u64, DropReason)> {
        enqueue_from(queue, now, A, packet)
    }

    fn enqueue_from(
        queue: &mut Queue,
        now: Time,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), (u64, DropReason)> {
        queue.enqueue(now, from, packet, false).map_err(|(packet, reason)| (packet.id.0, reason))
    }

    #[test]
    fn packets_leave_in_order_and_their_waiting_is_summed_up() {
        let mut queue = Queue::new(DropTail::new(Some(QueueLimit::Packets(2))), 7..8);
        assert_eq!(enqueue(&mut queue, at(0), packet(0, 100)), Ok(()));
        assert_eq!(enqueue(&mut queue, at(1), packet(1, 200)), Ok(()));
        assert_eq!(enqueue(&mut queue, at(2), packet(2, 50)), Err((2, DropReason::QueueFull)));
        assert_eq!(queue.length(), Length { packets: 2, bytes: 300 });
        assert_eq!(queue.dequeue(at(4)).map(|next| next.packet.id.0), Some(0));
        assert_eq!(queue.length(), Length { packets: 1, bytes: 200 });
        // 4 ms of the first, and 10 - 1 of the second, which still waits at 10 ms.
        assert_eq!(queue.waited(A, at(10)), Span::from_ms(13));
        assert_eq!(queue.dequeue(at(11)).map(|next| next.packet.id.0), Some(1));
        assert_eq!(queue.dequeue(at(12)).map(|next| next.packet.id), None);
        // 4 + 10 ms, whenever it is asked for.
        assert_eq!(
            (queue.waited(A, at(11)), queue.waited(A, at(99))),
            (Span::from_ms(14), Span::from_ms(14))
        );
        assert_eq!(queue.max_packets(A), 2);
    }

    #[test]
    fn a_limit_of_octets_takes_what_fits_and_none_takes_all() {
        let mut queue = Queue::new(DropTail::new(Some(QueueLimit::Bytes(300))), 7..8);
        assert_eq!(enqueue(&mut queue, at(0), packet(0, 200)), Ok(()));
        assert_eq!(enqueue(&mut queue, at(0), packet(1, 101)), Err((1, DropReason::QueueFull)));
        assert_eq!(enqueue(&mut queue, at(0), packet(2, 100)), Ok(()));
        let mut queue = Queue::new(DropTail::new(None), 7..8);
        assert!((0..1000).all(|id| enqueue(&mut queue, at(0), packet(id, 1500)).is_ok()));
    }

    #[test]
    fn who_shares_a_queue_has_an_account_of_its_own() {
        let mut queue = Queue::new(DropTail::new(Some(QueueLimit::Packets(2))), 7..9);
        assert_eq!(enqueue_from(&mut queue, at(0), A, packet(0, 100)), Ok(()));
        assert_eq!(enqueue_from(&mut queue, at(1), B, packet(1, 100)), Ok(()));
        assert_eq!(enqueue_from(&mut queue, at(1), B, packet(2, 100)), Err((2, DropReason::QueueFull)));
        assert_eq!((queue.waiting_packets(A), queue.waiting_packets(B)), (1, 1));
        assert_eq!(queue.dequeue(at(3)).map(|next| next.from), Some(A));
        assert_eq!((queue.waited(A, at(5)), queue.waited(B, at(5))), (Span::from_ms(3), Span::from_ms(4)));
        assert_eq!((queue.max_packets(A), queue.max_packets(B)), (1, 1));
    }

    #[test]
    fn attachments_far_from_each_other_share_a_queue_of_two_accounts() {
        let (near, far) = (Attachment(7), Attachment(4_000_000_000));
        let mut queue = Queue::new(DropTail::new(None), [near.0, 9, far.0]);
        for (from, packets) in [(far, 2), (near, 1), (Attachment(9), 3)] {
            for id in 0..packets {
                assert_eq!(enqueue_from(&mut queue, at(0), from, packet(id, 100)), Ok(()));
            }
            assert_eq!(queue.waiting_packets(from), packets as usize);
        }
        assert_eq!(queue.dequeue(at(3)).map(|next| next.from), Some(far));
        assert_eq!(
            (queue.waited(far, at(5)), queue.waited(near, at(5))),
            (Span::from_ms(8), Span::from_ms(5))
        );
        assert_eq!(queue.others.len(), 2);
    }

    #[test]
    fn what_comes_to_an_idle_transmitter_does_not_wait_whatever_its_length() {
        let mut queue = Queue::new(DropTail::new(Some(QueueLimit::Bytes(50))), 7..8);
        assert_eq!(queue.enqueue(at(0), A, packet(0, 100), true).map_err(|(_, reason)| reason), Ok(()));
        assert_eq!(queue.dequeue(at(0)).map(|next| next.packet.id.0), Some(0));
        assert_eq!((queue.max_packets(A), queue.waited(A, at(9))), (0, Span::ZERO));
        assert_eq!(enqueue(&mut queue, at(0), packet(1, 100)), Err((1, DropReason::QueueFull)));
    }
}
