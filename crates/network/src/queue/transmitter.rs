//! A transmitter that serves in order at a fixed rate, and the drop-tail queue before it, by arithmetic.
//!
//! All about a packet is known when it comes: it is served when those before it have been, so what waits is
//! the number of starts of service that lie ahead. This is [`DropTail`](super::drop_tail::DropTail) without
//! events and without packets, and does the same; a test holds the two together.

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

/// Packets of one length, one served right behind the other, that wait, or have begun to be served since this
/// was last looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Run<Of> {
    /// When the first of them is served.
    start: Time,
    /// How long each takes.
    transmission: Span,
    bytes: u32,
    of: Of,
    packets: u64,
}

impl<Of> Run<Of> {
    /// How many of them have begun to be served by `now`.
    fn begun(&self, now: Time) -> u64 {
        if self.start > now {
            return 0;
        }
        let behind_first = (now - self.start).as_ns().checked_div(self.transmission.as_ns());
        behind_first.map_or(self.packets, |behind_first| behind_first.saturating_add(1).min(self.packets))
    }
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

/// When a transmitter is free, and its time over packets of one length, as most are.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // without a gap, for a wire, which keeps it in its one line of the cache
pub(crate) struct Clock {
    busy_until: Time,
    /// What a packet of `bytes` takes.
    transmission: Span,
    bytes: u32,
    /// How many of them it has served since it learned that.
    served: u32,
}

/// What a transmitter has served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// Packets.
    pub packets: u64,
    /// Their octets.
    pub bytes: u64,
    /// Their time.
    pub busy: Span,
}

impl Clock {
    /// Whether it knows the time of a packet of so many octets, and has a place for it in its count.
    #[inline(always)]
    pub fn knows(&self, bytes: u32) -> bool {
        self.bytes == bytes && self.served < u32::MAX
    }

    /// Learns the time of packets of so many octets; returned is what it has served before, to be counted
    /// elsewhere from now on.
    pub fn learn(&mut self, bytes: u32, rate_bps: u64) -> Served {
        let served = self.served();
        self.transmission = Span::of_transmission(u64::from(bytes), rate_bps);
        self.bytes = bytes;
        self.served = 0;
        served
    }

    /// What it has served since it learned the length of the last.
    pub fn served(&self) -> Served {
        let packets = u64::from(self.served);
        Served { packets, bytes: packets * u64::from(self.bytes), busy: self.transmission * packets }
    }

    /// What a packet of the length that it knows takes.
    #[inline(always)]
    pub fn transmission(&self) -> Span {
        self.transmission
    }

    /// When it has sent what it was given.
    #[inline(always)]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Serves a packet of the length that it knows; returns when its last bit has been sent.
    #[inline(always)]
    pub fn serve(&mut self, start: Time) -> Time {
        self.busy_until = start + self.transmission;
        self.served += 1;
        self.busy_until
    }
}

/// What waits before a transmitter. `Of` tells whose packets are whose, where several senders share it.
#[derive(Clone, Debug)]
pub(crate) struct Backlog<Of = ()> {
    /// Those that wait (and some that no longer do), in order: mostly packets of one length, which need no
    /// memory elsewhere. Where the first run has no packets, there is none behind it.
    first: Run<Of>,
    behind: VecDeque<Run<Of>>,
    /// What of them is in `behind`.
    packets_behind: u64,
    bytes_behind: u64,
    limit: QueueLimit,
    in_service: Of,
}

impl<Of: Copy + Default + PartialEq> Backlog<Of> {
    /// Nothing waits.
    pub fn new(limit: QueueLimit) -> Backlog<Of> {
        Backlog {
            first: Run::default(),
            behind: VecDeque::new(),
            packets_behind: 0,
            bytes_behind: 0,
            limit,
            in_service: Of::default(),
        }
    }

    /// Has a packet that comes at `now` wait until `start`, when all before it have been served, and then
    /// take so long; false when the queue is full.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, start: Time, (bytes, transmission): (u32, Span), of: Of) -> bool {
        self.advance(now);
        let waiting_bytes = self.first.packets * u64::from(self.first.bytes) + self.bytes_behind;
        let admits = self.limit.admits(self.waiting_packets(), waiting_bytes, bytes);
        if admits {
            if self.first.packets == 0 {
                self.first = Run { start, transmission, bytes, of, packets: 1 };
            } else if self.packets_behind == 0 && self.first.bytes == bytes && self.first.of == of {
                self.first.packets += 1;
            } else {
                self.push(Run { start, transmission, bytes, of, packets: 1 });
            }
        }
        admits
    }

    /// Has a packet wait that is not like all others that do.
    #[inline(never)]
    fn push(&mut self, one: Run<Of>) {
        self.packets_behind += 1;
        self.bytes_behind += u64::from(one.bytes);
        match self.behind.back_mut() {
            Some(last) if last.bytes == one.bytes && last.of == one.of => last.packets += 1,
            _ => self.behind.push_back(one),
        }
    }

    /// Forgets those whose service has begun.
    #[inline]
    fn advance(&mut self, now: Time) {
        while self.first.packets > 0 && self.first.start <= now {
            let first = &mut self.first;
            self.in_service = first.of;
            first.start += first.transmission;
            first.packets -= 1;
            if first.packets == 0 && self.packets_behind > 0 {
                self.go_on();
            }
        }
    }

    /// Goes on to the next run behind the first, of which no packet waits any more.
    #[inline(never)]
    fn go_on(&mut self) {
        if let Some(next) = self.behind.pop_front() {
            self.packets_behind -= next.packets;
            self.bytes_behind -= next.packets * u64::from(next.bytes);
            self.first = next;
        }
    }

    /// How many wait, just after one was admitted.
    #[inline]
    pub fn waiting_packets(&self) -> usize {
        (self.first.packets + self.packets_behind) as usize
    }

    /// How many wait at an instant, after which nothing was admitted yet. Only those are looked at whose
    /// service has begun since the last was.
    pub fn waiting_at(&self, now: Time) -> usize {
        let runs = std::iter::once(&self.first).chain(&self.behind);
        let begun: u64 = runs.map(|run| run.begun(now)).take_while(|&begun| begun > 0).sum();
        (self.first.packets + self.packets_behind - begun) as usize
    }

    /// What lies ahead of `now`, of those that `is_of` names, before a transmitter that is busy until then.
    pub fn ahead(&self, now: Time, busy_until: Time, is_of: impl Fn(Of) -> bool) -> Ahead {
        let mut ahead = Ahead { packets: 0, waiting: Span::ZERO, busy: Span::ZERO };
        // When the one in service has been served.
        let mut end = None;
        let mut in_service = self.in_service;
        for run in std::iter::once(&self.first).chain(&self.behind) {
            let begun = run.begun(now);
            let waiting = run.packets - begun;
            if begun > 0 {
                in_service = run.of;
            }
            if waiting == 0 {
                continue;
            }
            let start = run.start + run.transmission * begun;
            end.get_or_insert(start);
            if is_of(run.of) {
                ahead.packets += waiting as usize;
                ahead.waiting += (start - now) * waiting + run.transmission * (waiting * (waiting - 1) / 2);
                ahead.busy += run.transmission * waiting;
            }
        }
        if is_of(in_service) {
            ahead.busy += end.unwrap_or(busy_until).since(now);
        }
        ahead
    }
}

/// The transmitter, and what waits before it.
#[derive(Clone, Debug)]
pub struct Transmitter<Of> {
    clock: Clock,
    backlog: Backlog<Of>,
    rate_bps: u64,
}

impl<Of: Copy + Default + PartialEq> Transmitter<Of> {
    /// An idle transmitter.
    pub fn new(rate_bps: u64, limit: QueueLimit) -> Transmitter<Of> {
        Transmitter { clock: Clock::default(), backlog: Backlog::new(limit), rate_bps }
    }

    /// Gives a packet that comes at `now` its time; `None` when the queue is full.
    #[inline(always)]
    pub fn book(&mut self, now: Time, bytes: u32, of: Of) -> Option<Service> {
        if !self.clock.knows(bytes) {
            // Who shares it counts for himself.
            self.clock.learn(bytes, self.rate_bps);
        }
        let mut start = now;
        if self.clock.busy_until > now {
            start = self.clock.busy_until;
            if !self.backlog.admit(now, start, (bytes, self.clock.transmission), of) {
                return None;
            }
        } else {
            // Those that no longer wait are not to be taken for the one in service.
            self.backlog.advance(now);
            self.backlog.in_service = of;
        }
        let end = self.clock.serve(start);
        Some(Service { start, transmission: self.clock.transmission, end })
    }

    /// What lies ahead of `now`, of those that `is_of` names.
    pub fn ahead(&self, now: Time, is_of: impl Fn(Of) -> bool) -> Ahead {
        self.backlog.ahead(now, self.clock.busy_until, is_of)
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
        /// The arithmetic lets in whom the discipline lets in, and serves them at the same instants; both
        /// wait as long.
        #[test]
        fn the_arithmetic_is_that_of_drop_tail(
            packets in proptest::collection::vec((0u64..3000, prop_oneof![1u32..1500, Just(1000)]), 1..200),
            limit in prop_oneof![
                (1u32..6).prop_map(QueueLimit::Packets),
                (500u64..4000).prop_map(QueueLimit::Bytes),
            ],
        ) {
            // 8 Mb/s: an octet a microsecond, against pauses of 1.5 ms in the mean.
            let rate_bps = 8_000_000;
            let queue = Queue::new(DropTail::new(Some(limit)), 0..1);
            let mut steps = StepByStep { queue, rate_bps, busy_until: Time::ZERO, services: Vec::new() };
            let mut transmitter: Transmitter<()> = Transmitter::new(rate_bps, limit);
            let mut foreseen = Vec::new();
            let mut now = Time::ZERO;
            let (mut waited, mut busy, mut most) = (Span::ZERO, Span::ZERO, 0);
            for (id, &(pause_us, bytes)) in packets.iter().enumerate() {
                now += Span::from_us(pause_us);
                // Before the arithmetic has gone on to now, too.
                steps.serve(now);
                prop_assert_eq!(transmitter.ahead(now, |()| true).packets, steps.queue.length().packets);
                prop_assert_eq!(transmitter.backlog.waiting_at(now), steps.queue.length().packets);
                let service = transmitter.book(now, bytes, ());
                let taken = steps.arrive(now, Packet { id: PacketId(id as u64), ..datagram(bytes) });
                prop_assert_eq!(service.is_some(), taken);
                if let Some(service) = service {
                    foreseen.push((id as u64, service));
                    waited += service.start - now;
                    busy += service.end - service.start;
                    most = most.max(transmitter.backlog.waiting_packets());
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
    fn a_full_count_is_handed_over_and_begun_anew() {
        let mut clock = Clock { bytes: 1000, served: u32::MAX - 1, ..Clock::default() };
        assert!(clock.knows(1000) && !clock.knows(999));
        clock.serve(Time::ZERO);
        assert!(!clock.knows(1000));
        // 8 Mb/s: an octet a microsecond, from now on.
        let served = clock.learn(1000, 8_000_000);
        let packets = u64::from(u32::MAX);
        assert_eq!(served, Served { packets, bytes: 1000 * packets, busy: Span::ZERO });
        assert_eq!(clock.serve(Time::ZERO), Time::ZERO + Span::from_ms(1));
        assert_eq!(clock.served(), Served { packets: 1, bytes: 1000, busy: Span::from_ms(1) });
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
