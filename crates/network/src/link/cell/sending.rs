//! A transmitter of a cell and what waits before it: drop-tail by arithmetic, or a queue under any
//! discipline, packet by packet.

use crate::drops::DropReason;
use crate::link::{Attachment, LinkStats};
use crate::packet::Packet;
use crate::queue::transmitter::Transmitter;
use crate::queue::{AnyDiscipline, Queue, QueueLimit};
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// A transmitter.
#[derive(Debug)]
pub(super) enum Sending {
    /// All about a packet is known when it comes.
    Booked(Transmitter<Attachment>),
    /// Who is next is decided when the transmitter is free.
    Managed(Managed),
}

/// A transmitter and its queue.
#[derive(Debug)]
pub(super) struct Managed {
    rate_bps: u64,
    pub queue: Queue,
    /// What is for all and waits, which has a room of its own: when each begins, and its octets.
    for_all: VecDeque<(Time, u32)>,
    limit: QueueLimit,
    busy_until: Time,
    in_service: Attachment,
}

impl Managed {
    /// An idle transmitter of these attachments.
    pub fn new(
        rate_bps: u64,
        discipline: AnyDiscipline,
        limit: QueueLimit,
        of: impl IntoIterator<Item = u32>,
    ) -> Managed {
        let queue = Queue::new(discipline, of);
        let for_all = VecDeque::new();
        Managed { rate_bps, queue, for_all, limit, busy_until: Time::ZERO, in_service: Attachment(0) }
    }

    /// Takes a packet, or gives it back and says why. What can be sent is taken with [`Managed::next`].
    pub fn enqueue(
        &mut self,
        now: Time,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), (Packet, DropReason)> {
        let idle = self.busy_until <= now;
        self.queue.enqueue(now, from, packet, idle)
    }

    /// The next packet, where the transmitter is free at `now`, and when its last bit is sent. Where packets
    /// wait it is asked as soon as it is.
    pub fn next(&mut self, now: Time, stats: &mut [LinkStats]) -> Option<(Attachment, Packet, Time)> {
        if self.busy_until > now {
            return None;
        }
        let next = self.queue.dequeue(now)?;
        let departure = self.occupy(now, next.from, next.packet.size_bytes, stats);
        Some((next.from, next.packet, departure))
    }

    /// What is for all goes behind the packet in service, before those that wait in the queue; returns when
    /// its last bit is sent, or `None` where as many of its kind wait already as the queue has room for.
    pub fn interject(
        &mut self,
        now: Time,
        from: Attachment,
        bytes: u32,
        stats: &mut [LinkStats],
    ) -> Option<Time> {
        while self.for_all.pop_front_if(|(start, _)| *start <= now).is_some() {}
        if self.busy_until > now {
            let waiting_bytes = self.for_all.iter().map(|&(_, bytes)| u64::from(bytes)).sum();
            if !self.limit.admits(self.for_all.len(), waiting_bytes, bytes) {
                return None;
            }
            self.for_all.push_back((self.busy_until, bytes));
        }
        Some(self.occupy(self.busy_until.max(now), from, bytes, stats))
    }

    fn occupy(&mut self, start: Time, from: Attachment, bytes: u32, stats: &mut [LinkStats]) -> Time {
        let transmission = Span::of_transmission(u64::from(bytes), self.rate_bps);
        (self.busy_until, self.in_service) = (start + transmission, from);
        let stats = &mut stats[from.0 as usize];
        stats.busy += transmission;
        stats.sent_packets += 1;
        stats.sent_bytes += u64::from(bytes);
        self.busy_until
    }

    /// When the next packet is taken; `None` where none waits.
    pub fn wakes(&self) -> Option<Time> {
        (self.queue.length().packets > 0).then_some(self.busy_until)
    }

    /// What an attachment has sent and what has waited, up to `now`.
    pub fn stats(&self, from: Attachment, now: Time, stats: LinkStats) -> LinkStats {
        let ahead = if self.in_service == from { self.busy_until.since(now) } else { Span::ZERO };
        // What is for all does not wait.
        if from == super::BROADCAST {
            return LinkStats { busy: stats.busy.saturating_sub(ahead), ..stats };
        }
        LinkStats {
            busy: stats.busy.saturating_sub(ahead),
            waiting: self.queue.waited(from, now),
            max_waiting_packets: self.queue.max_packets(from) as u64,
            marked_packets: self.queue.marked_packets(from),
            ..stats
        }
    }
}
