//! A transmitter that serves in order at a fixed rate, and the drop-tail queue before it, by arithmetic.
//!
//! All about a packet is known when it comes: it is served when those before it have been, so what waits is the number
//! of starts of service that lie ahead. This is [`DropTail`](super::drop_tail::DropTail) without events and without
//! packets, and does the same; a test holds the two together.

use super::QueueLimit;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// A packet's time on a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When its first bit is sent.
    pub start: Time,
    /// How long it takes.
    pub transmission: Span,
    /// When its last bit has been sent.
    pub end: Time,
}

/// A packet that waits, or has begun to be served since this was last looked at.
#[derive(Clone, Copy, Debug)]
struct Booking<Of> {
    start: Time,
    bytes: u32,
    of: Of,
}

/// What lies ahead of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Packets that wait.
    pub packets: usize,
    /// The waiting that is left to them, in sum.
    pub waiting: Span,
    /// The time on the transmitter of all that have not left, as far as it lies ahead.
    pub busy: Span,
}

/// The transmitter. `Of` tells whose packets are whose, where several senders share it.
#[derive(Clone, Debug)]
#[repr(C)] // what a packet needs that does not wait lies behind the first line of the cache of a wire, and together
pub struct Transmitter<Of = ()> {
    /// Those that wait (and some that no longer do), in order.
    waiting: VecDeque<Booking<Of>>,
    busy_until: Time,
    /// The length of the last packet and its time on the transmitter: most packets are of one length.
    last_transmission: (u32, Span),
    in_service: Of,
    rate_bps: u64,
    limit: QueueLimit,
    waiting_bytes: u64,
}

impl<Of: Copy + Default> Transmitter<Of> {
    /// An idle transmitter.
    pub fn new(rate_bps: u64, limit: QueueLimit) -> Transmitter<Of> {
        Transmitter {
            waiting: VecDeque::new(),
            busy_until: Time::ZERO,
            last_transmission: (0, Span::ZERO),
            in_service: Of::default(),
            rate_bps,
            limit,
            waiting_bytes: 0,
        }
    }

    /// Gives a packet that comes at `now` its time; `None` when the queue is full.
    #[inline(always)]
    pub fn book(&mut self, now: Time, bytes: u32, of: Of) -> Option<Service> {
        let start = if self.busy_until > now {
            self.advance(now);
            if !self.limit.admits(self.waiting.len(), self.waiting_bytes, bytes) {
                return None;
            }
            self.waiting.push_back(Booking { start: self.busy_until, bytes, of });
            self.waiting_bytes += u64::from(bytes);
            self.busy_until
        } else {
            if size_of::<Of>() > 0 {
                // Those that no longer wait are not to be taken for the one in service.
                self.advance(now);
                self.in_service = of;
            }
            now
        };
        if self.last_transmission.0 != bytes {
            self.last_transmission = (bytes, Span::of_transmission(u64::from(bytes), self.rate_bps));
        }
        let transmission = self.last_transmission.1;
        self.busy_until = start + transmission;
        Some(Service { start, transmission, end: self.busy_until })
    }

    /// Forgets those whose service has begun.
    #[inline]
    fn advance(&mut self, now: Time) {
        while let Some(&Booking { start, bytes, of }) = self.waiting.front() {
            if start > now {
                break;
            }
            self.waiting_bytes -= u64::from(bytes);
            self.in_service = of;
            self.waiting.pop_front();
        }
    }

    /// How many wait, just after a packet was booked.
    #[inline]
    pub fn waiting_packets(&self) -> usize {
        self.waiting.len()
    }

    /// What lies ahead of `now`, of those that `is_of` names.
    pub fn ahead(&self, now: Time, is_of: impl Fn(Of) -> bool) -> Ahead {
        let mut ahead = Ahead { packets: 0, waiting: Span::ZERO, busy: Span::ZERO };
        let mut end = self.busy_until;
        let mut in_service = self.in_service;
        for booking in self.waiting.iter().rev() {
            if booking.start <= now {
                in_service = booking.of;
                break;
            }
            if is_of(booking.of) {
                ahead.packets += 1;
                ahead.waiting += booking.start - now;
                ahead.busy += end - booking.start;
            }
            end = booking.start;
        }
        if is_of(in_service) {
            ahead.busy += end.since(now);
        }
        ahead
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::super::drop_tail::DropTail;
    use super::*;
    use crate::packet::{Packet, PacketId};
    use crate::testing::datagram;
    use crate::topology::Attachment;
    use proptest::prelude::*;

    const A: Attachment = Attachment(0);

    /// A transmitter that takes packets out of a queue when it is free, step by step.
    struct StepByStep {
        queue: Queue,
        rate_bps: u64,
        busy_until: Time,
        /// By packet.
        services: Vec<(u64, Service)>,
    }

    impl StepByStep {
        /// Serves whoever can be served by `now`.
        fn serve(&mut self, now: Time) {
            while self.busy_until <= now
                && let Some(next) = self.queue.dequeue(self.busy_until)
            {
                self.send(self.busy_until, &next.packet);
            }
        }

        fn send(&mut self, start: Time, packet: &Packet) {
            let end = start + Span::of_transmission(u64::from(packet.size_bytes), self.rate_bps);
            self.services.push((packet.id.0, Service { start, transmission: end - start, end }));
            self.busy_until = end;
        }

        fn arrive(&mut self, now: Time, packet: Packet) -> bool {
            self.serve(now);
            let idle = self.busy_until <= now;
            let taken = self.queue.enqueue(now, A, packet, idle).is_ok();
            if idle && let Some(next) = self.queue.dequeue(now) {
                self.send(now, &next.packet);
            }
            taken
        }
    }

    proptest! {
        /// The arithmetic lets in whom the discipline lets in, and serves them at the same instants; both wait as long.
        #[test]
        fn the_arithmetic_is_that_of_drop_tail(
            packets in proptest::collection::vec((0u64..3000, 1u32..1500), 1..200),
            limit in prop_oneof![
                (1u32..6).prop_map(QueueLimit::Packets),
                (500u64..4000).prop_map(QueueLimit::Bytes),
            ],
        ) {
            // 8 Mb/s: an octet a microsecond, against pauses of 1.5 ms in the mean.
            let rate_bps = 8_000_000;
            let queue = Queue::new(DropTail::new(Some(limit)), 0..1);
            let mut steps = StepByStep { queue, rate_bps, busy_until: Time::ZERO, services: Vec::new() };
            let mut transmitter = Transmitter::new(rate_bps, limit);
            let mut foreseen = Vec::new();
            let mut now = Time::ZERO;
            let (mut waited, mut busy, mut most) = (Span::ZERO, Span::ZERO, 0);
            for (id, &(pause_us, bytes)) in packets.iter().enumerate() {
                now += Span::from_us(pause_us);
                let service = transmitter.book(now, bytes, ());
                let taken = steps.arrive(now, Packet { id: PacketId(id as u64), ..datagram(bytes) });
                prop_assert_eq!(service.is_some(), taken);
                if let Some(service) = service {
                    foreseen.push((id as u64, service));
                    waited += service.start - now;
                    busy += service.end - service.start;
                    most = most.max(transmitter.waiting_packets());
                }
                let ahead = transmitter.ahead(now, |()| true);
                prop_assert_eq!(ahead.packets, steps.queue.length().packets);
                prop_assert_eq!(waited.saturating_sub(ahead.waiting), steps.queue.waited(A, now));
                let sent_ns: u64 = steps
                    .services
                    .iter()
                    .map(|(_, service)| (service.end.min(now) - service.start).as_ns())
                    .sum();
                prop_assert_eq!(busy.saturating_sub(ahead.busy).as_ns(), sent_ns);
            }
            steps.serve(Time::MAX);
            prop_assert_eq!(foreseen, steps.services);
            prop_assert_eq!(most, steps.queue.max_packets(A));
        }
    }

    #[test]
    fn each_sender_has_what_lies_ahead_of_its_own() {
        // 1000 octets take 1 ms.
        let mut transmitter = Transmitter::new(8_000_000, QueueLimit::Packets(10));
        let at = |us| Time::ZERO + Span::from_us(us);
        for (us, of) in [(0, 'a'), (0, 'b'), (500, 'a'), (500, 'b')] {
            transmitter.book(at(us), 1000, of).expect("room");
        }
        // a from 0 to 1 and 2 to 3 ms, b from 1 to 2 and 3 to 4.
        let us = Span::from_us;
        let ahead = |us, of| transmitter.ahead(at(us), |other| other == of);
        assert_eq!(ahead(500, 'a'), Ahead { packets: 1, waiting: us(1500), busy: us(1500) });
        assert_eq!(ahead(500, 'b'), Ahead { packets: 2, waiting: us(500 + 2500), busy: us(2000) });
        assert_eq!(ahead(2250, 'a'), Ahead { packets: 0, waiting: us(0), busy: us(750) });
        assert_eq!(ahead(2250, 'b'), Ahead { packets: 1, waiting: us(750), busy: us(1000) });
        // Silence, and then a alone, though b was the last that waited.
        transmitter.book(at(9000), 1000, 'a').expect("room");
        assert_eq!(transmitter.ahead(at(9250), |of| of == 'a').busy, us(750));
        assert_eq!(transmitter.ahead(at(9250), |of| of == 'b').busy, us(0));
    }
}
