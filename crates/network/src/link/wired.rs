//! One direction of a point-to-point link: a drop-tail queue, a transmitter, and a delay.
//!
//! Everything about a packet is known when it is enqueued: the transmitter serves in order, so its start of
//! service, its departure and its arrival follow by arithmetic (see
//! [`transmitter`](crate::queue::transmitter)). A packet therefore costs one event, its arrival; one that
//! will be lost costs none, though it takes its place in the queue and its time on the transmitter. Packets
//! that arrive at one instant have one event. Among simultaneous events an arrival has the place of the
//! arrival before it on its wire.
//!
//! Link events: where an outage begins the link is down, where it ends it is up again; each costs an event.
//!
//! Not modelled: bit errors that leave a packet in place, reordering, a rate that changes.

use super::flight::{Flights, Place};
pub use super::outages::Outage;
use super::outages::Outages;
use super::{Attachment, Link, LinkStats, Sender};
use crate::alarm::Moment;
use crate::drops::{DropReason, Dropped};
use crate::ends::Onward;
use crate::link::indication::Indication;
use crate::link::loss::Loss;
use crate::packet::Packet;
use crate::queue::QueueLimit;
use crate::queue::transmitter::{Ahead, Backlog, Clock, Served};
use roamsim_engine::{Span, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};

/// What describes one direction.
#[derive(Clone, Debug)]
pub struct WireConfig {
    /// Bits per second.
    pub rate_bps: u64,
    /// Propagation, one way.
    pub delay: Span,
    /// Those waiting, not the one in service.
    pub queue: QueueLimit,
    /// The largest packet.
    pub mtu_bytes: u32,
    /// In order of time, without overlap.
    pub outages: Vec<Outage>,
}

/// One direction of a point-to-point link, from attachment 0 to attachment 1: one line of the cache, which is
/// all that a packet needs that does not wait.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Wire {
    /// Packets on it; one that will be lost is not.
    flying: u32,
    /// Those of them that arrive at one instant with the one before them.
    joined: u32,
    clock: Clock,
    delay: Span,
    rest: Box<Rest>,
    /// The place of the last packet.
    last: u32,
    /// Whether there are `faults`.
    is_faulty: bool,
}

/// What a packet needs that waits, is lost, or is of another length than the one before it.
#[derive(Debug)]
struct Rest {
    backlog: Backlog,
    stats: Booked,
    rate_bps: u64,
    mtu_bytes: u32,
    faults: Option<Box<Faults>>,
}

/// What it has done, less what the clock has served since its last length. A wire marks nothing, and what it
/// delivers follows from what flies.
#[derive(Clone, Copy, Debug, Default)]
struct Booked {
    sent_packets: u64,
    sent_bytes: u64,
    dropped_packets: u64,
    busy: Span,
    waiting: Span,
    max_waiting_packets: u64,
}

impl Booked {
    /// A packet waits so long, and so many do now.
    #[inline(always)]
    fn waits(&mut self, waiting: Span, waiting_packets: usize) {
        self.waiting += waiting;
        self.max_waiting_packets = self.max_waiting_packets.max(waiting_packets as u64);
    }

    /// Packets have had their time on the transmitter.
    fn add_served(&mut self, served: Served) {
        self.sent_packets += served.packets;
        self.sent_bytes += served.bytes;
        self.busy += served.busy;
    }
}

/// What drops packets that have had their time on the transmitter.
#[derive(Debug)]
struct Faults {
    loss: Option<Loss>,
    outages: Outages,
    /// Packets that it has dropped.
    lost_packets: u64,
    /// When the last of them would have been sent, unless another packet has been at that time.
    lost_at: Option<Time>,
}

impl Faults {
    /// Why a packet is lost whose last bit is sent at `departure`, if it is.
    #[inline(always)]
    fn take(&mut self, departure: Time, packet: &Packet) -> Option<DropReason> {
        // The draw comes first, so that an outage does not shift the numbering of the packets.
        let lost = self.loss.as_mut().is_some_and(|loss| loss.takes(departure, packet));
        let cut = self.outages.cover(departure);
        self.lost_packets += u64::from(lost || cut);
        if cut {
            return Some(DropReason::Outage);
        }
        lost.then_some(DropReason::Loss)
    }
}

impl Wire {
    /// Where all of it comes from.
    pub(crate) const SENDER: Attachment = Attachment(0);
    /// Where all of it arrives.
    pub(crate) const RECEIVER: Attachment = Attachment(1);

    /// An idle direction.
    pub fn new(config: WireConfig, loss: Option<Loss>) -> Wire {
        let WireConfig { rate_bps, delay, queue, mtu_bytes, outages } = config;
        let is_faulty = loss.is_some() || !outages.is_empty();
        Wire {
            flying: 0,
            joined: 0,
            clock: Clock::default(),
            delay,
            rest: Box::new(Rest {
                backlog: Backlog::new(queue),
                stats: Booked::default(),
                rate_bps,
                mtu_bytes,
                faults: is_faulty.then(|| {
                    Box::new(Faults { loss, outages: Outages::new(outages), lost_packets: 0, lost_at: None })
                }),
            }),
            last: 0,
            is_faulty,
        }
    }

    #[cold]
    fn dropped(&mut self, reason: DropReason, at: Time) -> Result<Time, Dropped> {
        self.rest.stats.dropped_packets += 1;
        Err(Dropped { reason, at })
    }

    /// Learns how long packets of so many octets take; false of such as are too large.
    #[inline(never)]
    fn learn(&mut self, bytes: u32) -> bool {
        let fits = bytes <= self.rest.mtu_bytes;
        if fits {
            let before = self.clock.learn(bytes, self.rest.rate_bps);
            self.rest.stats.add_served(before);
        }
        fits
    }

    /// Gives a packet its place in the queue and its time on the transmitter; returns when it will have been
    /// sent.
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &Packet) -> Result<Time, Dropped> {
        let bytes = packet.size_bytes;
        // What it knows is not too large.
        if !self.clock.knows(bytes) && !self.learn(bytes) {
            return self.dropped(DropReason::TooLarge, now);
        }
        let mut start = now;
        if self.clock.busy_until() > now {
            start = self.clock.busy_until();
            let Rest { backlog, stats, .. } = &mut *self.rest;
            if !backlog.admit(now, start, (bytes, self.clock.transmission()), ()) {
                return self.dropped(DropReason::QueueFull, now);
            }
            stats.waits(start - now, backlog.waiting_packets());
        }
        let busy_until = self.clock.busy_until();
        let departure = self.clock.serve(start);
        if self.is_faulty
            && let Some(faults) = &mut self.rest.faults
            && let Some(reason) = faults.take(departure, packet)
        {
            if departure > busy_until {
                faults.lost_at = Some(departure);
            }
            return self.dropped(reason, departure);
        }
        Ok(departure)
    }

    /// Takes a packet, which has its place already, onto the wire of this number; it goes on so from its end.
    /// A packet that is dropped stays in its place, which is given back.
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        moment: &mut Moment<'_>,
        flights: &mut Flights,
        wire: u32,
        (place, onward): (Place, Onward),
    ) -> Result<(), (Place, Dropped)> {
        let busy_until = self.clock.busy_until();
        match self.admit(moment.now, flights.packet(&place)) {
            Ok(departure) => {
                let number = flights.depart(place, wire, onward);
                let is_alone = self.flying == 0;
                self.flying += 1;
                if departure == busy_until && self.joins(departure) && !is_alone {
                    flights.join(self.last, number);
                    self.joined += 1;
                } else {
                    moment.push_landing(departure + self.delay, number, is_alone);
                }
                self.last = number;
                Ok(())
            }
            Err(dropped) => Err((place, dropped)),
        }
    }

    /// Whether a packet that takes no time arrives with the last one: not where that was lost.
    #[cold]
    fn joins(&mut self, departure: Time) -> bool {
        let lost_at = self.rest.faults.as_mut().and_then(|faults| faults.lost_at.take());
        lost_at != Some(departure)
    }

    /// What it did; of those that had their time on the transmitter, who is neither lost nor on the way has
    /// been delivered.
    fn account(&self) -> LinkStats {
        let mut stats = self.rest.stats;
        stats.add_served(self.clock.served());
        let lost = self.rest.faults.as_ref().map_or(0, |faults| faults.lost_packets);
        let gone = lost + u64::from(self.flying);
        let Booked { sent_packets, sent_bytes, dropped_packets, busy, waiting, max_waiting_packets } = stats;
        LinkStats {
            sent_packets,
            sent_bytes,
            delivered_packets: sent_packets - gone,
            dropped_packets,
            busy,
            waiting,
            max_waiting_packets,
            marked_packets: 0,
        }
    }

    fn ahead(&self, now: Time) -> Ahead {
        self.rest.backlog.ahead(now, self.clock.busy_until(), |()| true)
    }

    /// A packet has come to its end; whether others may have come with it.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> bool {
        self.flying -= 1;
        self.joined > 0
    }

    /// The same of one that has come with the one before it.
    pub(crate) fn take_joined(&mut self) {
        self.flying -= 1;
        self.joined -= 1;
    }
}

impl Machine for Wire {
    /// Nothing is due: a run is woken for each packet by itself.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn handle_timeout(&mut self, _cx: &mut Context<'_>) {}
}

impl Link for Wire {
    fn next_indication(&self) -> Option<Time> {
        self.rest.faults.as_ref()?.outages.next().map(|(at, _)| at)
    }

    fn poll_indication(&mut self, now: Time) -> Option<Indication> {
        self.rest.faults.as_mut()?.outages.poll(now)
    }

    fn link_type(&self) -> LinkType {
        LinkType::ETHERNET
    }

    fn packets_inside(&self) -> u64 {
        u64::from(self.flying)
    }

    fn stats(&self, _from: Attachment, now: Time) -> LinkStats {
        self.account().up_to_now(self.ahead(now))
    }

    fn forget_longest(&mut self, now: Time) {
        self.rest.stats.max_waiting_packets = self.waiting_packets(Attachment(0), now) as u64;
    }

    fn booked_stats(&self, _from: Attachment, _now: Time) -> LinkStats {
        self.account()
    }

    fn waiting_packets(&self, _from: Attachment, now: Time) -> usize {
        self.rest.backlog.waiting_at(now)
    }

    /// One direction: its sender and its receiver.
    fn senders(&self) -> Vec<Sender> {
        vec![Sender { from: Wire::SENDER, to: Some(Wire::RECEIVER) }]
    }
}

/// A wire by itself, for tests, here and of what does the same.
#[cfg(test)]
pub(super) mod flown {
    use super::*;
    use crate::event::Wake;
    use crate::link::flight::Landed;
    use roamsim_engine::EventQueue;
    use std::ops::{Deref, DerefMut};

    /// A wire, the packets on it, and what wakes a run for them.
    pub(crate) struct Flown {
        wire: Wire,
        flights: Flights,
        queue: EventQueue<Wake>,
        /// The place of what has come with the packet before.
        with: u32,
    }

    impl Deref for Flown {
        type Target = Wire;

        fn deref(&self) -> &Wire {
            &self.wire
        }
    }

    impl DerefMut for Flown {
        fn deref_mut(&mut self) -> &mut Wire {
            &mut self.wire
        }
    }

    impl Flown {
        pub(crate) fn new(wire: Wire) -> Flown {
            Flown { wire, flights: Flights::default(), queue: EventQueue::new(), with: Landed::ALONE }
        }

        pub(crate) fn put(&mut self, now: Time, packet: Packet) -> Result<(), Dropped> {
            let place = self.flights.add(packet);
            let moment = &mut Moment::new(now, &mut self.queue);
            let taken = self.wire.put(moment, &mut self.flights, 0, (place, Onward::BY_ROUTES));
            taken.map_err(|(place, dropped)| {
                drop(self.flights.unload(place));
                dropped
            })
        }

        /// When the next packet arrives.
        pub(crate) fn next(&self) -> Option<Time> {
            self.queue.next_time()
        }

        /// The next packet that has arrived by `now`, and whether a run is woken for it or for one before it.
        pub(crate) fn take(&mut self, now: Time) -> Option<(Packet, bool)> {
            let is_woken = self.with == Landed::ALONE;
            if is_woken {
                self.queue.end_at(now);
                self.with = self.queue.pop()?.1.landing()?;
            }
            let landed = self.flights.land(self.with);
            if is_woken {
                self.wire.take();
            } else {
                self.wire.take_joined();
            }
            self.with = landed.with;
            Some((self.flights.unload(landed.place).take(), is_woken))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::flown::Flown;
    use super::*;
    use crate::link::indication::{LinkDownReason, LinkEvent};
    use crate::link::loss::LossModel;
    use crate::testing::{datagram, stream};

    /// 1000 octets take 1 ms at 8 Mb/s; 5 ms of delay.
    fn wire(packets: u32, loss: Option<f64>, outages: Vec<Outage>) -> Flown {
        let config = WireConfig {
            rate_bps: 8_000_000,
            delay: Span::from_ms(5),
            queue: QueueLimit::Packets(packets),
            mtu_bytes: 1500,
            outages,
        };
        let loss =
            loss.map(|probability| Loss::new(LossModel::Bernoulli { probability }, Time::ZERO, stream));
        Flown::new(Wire::new(config, loss))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn enqueue(wire: &mut Flown, now: Time, bytes: u32) -> Result<(), Dropped> {
        wire.put(now, datagram(bytes))
    }

    fn arrivals_ms(wire: &mut Flown) -> Vec<u64> {
        let mut times = Vec::new();
        while let Some(now) = wire.next() {
            while wire.take(now).is_some() {
                times.push(now.as_ns() / 1_000_000);
            }
        }
        times
    }

    #[test]
    fn an_outage_is_indicated_where_it_begins_and_where_it_ends() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let outages = vec![Outage { start: at(10), end: at(20) }, Outage { start: at(20), end: at(25) }];
        let mut wire = wire(2, None, outages);
        let mut found = Vec::new();
        while let Some(due) = wire.next_indication() {
            assert_eq!(wire.poll_indication(Time::from_ns(due.as_ns() - 1)), None);
            let Indication { at, event } = wire.poll_indication(due).expect("due");
            assert_eq!(at, Attachment(0));
            found.push((due.as_ns() / 1_000_000, event));
        }
        let down = LinkEvent::Down(LinkDownReason::PACKET_TIMEOUT);
        assert_eq!(found, [(10, down), (20, LinkEvent::Up), (20, down), (25, LinkEvent::Up)]);
    }

    #[test]
    fn packets_are_served_in_order_one_after_the_other() {
        let mut wire = wire(10, None, vec![]);
        (0..3).for_each(|_| assert_eq!(enqueue(&mut wire, at(10), 1000), Ok(())));
        assert_eq!(enqueue(&mut wire, at(20), 500), Ok(()));
        // 10 + 1 + 5, then a millisecond each; 20 + 0.5 + 5.
        assert_eq!(arrivals_ms(&mut wire), [16, 17, 18, 25]);
    }

    #[test]
    fn packets_keep_their_order_where_their_places_are_used_again_and_become_more() {
        let mut wire = wire(20, None, vec![]);
        (0..3).for_each(|_| assert_eq!(enqueue(&mut wire, at(0), 1000), Ok(())));
        // There at 6, 7 and 8 ms; two are taken.
        assert!(wire.take(at(7)).is_some() && wire.take(at(7)).is_some());
        assert!(wire.take(at(7)).is_none());
        // One millisecond each from 7 ms on, and 5 ms of delay.
        (0..8).for_each(|_| assert_eq!(enqueue(&mut wire, at(7), 1000), Ok(())));
        assert_eq!(wire.packets_inside(), 9);
        assert_eq!(arrivals_ms(&mut wire), [8, 13, 14, 15, 16, 17, 18, 19, 20]);
    }

    #[test]
    fn the_queue_counts_those_waiting_not_the_one_in_service() {
        let mut wire = wire(2, None, vec![]);
        let full = Err(Dropped { reason: DropReason::QueueFull, at: at(0) });
        let outcomes: Vec<_> = (0..4).map(|_| enqueue(&mut wire, at(0), 1000)).collect();
        assert_eq!(outcomes, [Ok(()), Ok(()), Ok(()), full]);
        // At 1 ms the second enters service: one place is free.
        assert_eq!(enqueue(&mut wire, at(1), 1000), Ok(()));
        assert_eq!(wire.waiting_packets(Attachment(0), at(1)), 2);
        let stats = wire.stats(Attachment(0), at(4));
        // Waits: 0 + 1 + 2 + 2 ms; four transmissions of 1 ms.
        assert_eq!((stats.waiting, stats.busy), (Span::from_ms(5), Span::from_ms(4)));
        assert_eq!((stats.max_waiting_packets, stats.dropped_packets), (2, 1));
    }

    #[test]
    fn statistics_leave_out_what_lies_after_the_end() {
        let mut wire = wire(10, None, vec![]);
        (0..3).for_each(|_| assert_eq!(enqueue(&mut wire, at(0), 1000), Ok(())));
        // Up to 1.5 ms: the second waited 1 ms, the third 1.5 ms; the transmitter was busy throughout.
        let stats = wire.stats(Attachment(0), Time::from_ns(1_500_000));
        assert_eq!((stats.waiting.as_ns(), stats.busy.as_ns()), (2_500_000, 1_500_000));
    }

    #[test]
    fn an_outage_takes_what_is_sent_in_it() {
        let outage = Outage { start: at(2), end: at(4) };
        let mut wire = wire(10, None, vec![outage]);
        // Last bits are sent at 1, 2, 3, 4 ms; the second and the third fall into [2, 4).
        let outcomes: Vec<_> = (0..4).map(|_| enqueue(&mut wire, at(0), 1000)).collect();
        let out = |ms| Err(Dropped { reason: DropReason::Outage, at: at(ms) });
        assert_eq!(outcomes, [Ok(()), out(2), out(3), Ok(())]);
        let account = |wire: &Flown| {
            let stats = wire.stats(Attachment(0), at(9));
            (stats.sent_packets, stats.dropped_packets, stats.delivered_packets)
        };
        assert_eq!(account(&wire), (4, 2, 0));
        assert_eq!(arrivals_ms(&mut wire), [6, 9]);
        assert_eq!(account(&wire), (4, 2, 2));
    }

    #[test]
    fn a_lost_packet_takes_its_time_on_the_transmitter_and_no_event() {
        let mut wire = wire(10, Some(1.0), vec![]);
        assert_eq!(enqueue(&mut wire, at(0), 1000), Err(Dropped { reason: DropReason::Loss, at: at(1) }));
        assert_eq!(enqueue(&mut wire, at(0), 1000), Err(Dropped { reason: DropReason::Loss, at: at(2) }));
        assert_eq!(wire.next(), None);
        assert_eq!(wire.packets_inside(), 0);
    }

    #[test]
    fn packets_that_arrive_at_one_instant_wake_a_run_once() {
        let lost = |segments| Loss::new(LossModel::List { segments, association: None }, Time::ZERO, stream);
        // The packets that arrive, and whether each wakes a run.
        let woken = |bytes: [u32; 4], segments| {
            let config = WireConfig {
                rate_bps: 100_000_000_000_000,
                delay: Span::from_ms(5),
                queue: QueueLimit::Packets(10),
                mtu_bytes: 60_000,
                outages: vec![],
            };
            let mut wire = Flown::new(Wire::new(config, Some(lost(segments))));
            for bytes in bytes {
                // An error is a packet on the list of losses.
                let _ = wire.put(at(1), datagram(bytes));
            }
            let mut woken = Vec::new();
            while let Some((packet, is_woken)) = wire.take(at(7)) {
                woken.push((packet.size_bytes, is_woken));
            }
            assert_eq!(wire.packets_inside(), 0);
            woken
        };
        // At 100 Tb/s 1000 octets take no nanosecond, and 50,000 take four.
        let four = [(1000, true), (1000, false), (50_000, true), (1000, false)];
        assert_eq!(woken([1000, 1000, 50_000, 1000], vec![]), four);
        // What comes behind a long packet that is lost does not come with one that arrives.
        assert_eq!(woken([1000, 50_000, 1000, 1000], vec![2]), [(1000, true), (1000, true), (1000, false)]);
        // Nor does it where that was the first, whether or not the next is lost as well.
        assert_eq!(woken([50_000, 1000, 1000, 1000], vec![1]), [(1000, true), (1000, false), (1000, false)]);
        assert_eq!(woken([50_000, 1000, 1000, 1000], vec![1, 2]), [(1000, true), (1000, false)]);
    }

    #[test]
    fn a_packet_that_takes_no_time_does_not_come_with_one_of_an_earlier_instant() {
        let counted = LossModel::List { segments: vec![2], association: None };
        let config = WireConfig {
            rate_bps: 100_000_000_000_000,
            delay: Span::from_ms(5),
            queue: QueueLimit::Packets(10),
            mtu_bytes: 1500,
            outages: vec![],
        };
        let mut wire = Flown::new(Wire::new(config, Some(Loss::new(counted, Time::ZERO, stream))));
        // The first flies when the second is lost and the third follows, 2 ms later.
        for (ms, taken) in [(1, true), (3, false), (3, true)] {
            assert_eq!(wire.put(at(ms), datagram(1000)).is_ok(), taken);
        }
        assert_eq!(arrivals_ms(&mut wire), [6, 8]);
    }

    #[test]
    fn packets_of_all_lengths_are_in_the_account() {
        let mut wire = wire(10, None, vec![]);
        for bytes in [1000, 1000, 500, 1000] {
            assert_eq!(enqueue(&mut wire, at(0), bytes), Ok(()));
        }
        // Sent at 1, 2, 2.5 and 3.5 ms; the first two are there by 7 ms.
        assert!(wire.take(at(7)).is_some() && wire.take(at(7)).is_some() && wire.take(at(7)).is_none());
        let stats = wire.stats(Attachment(0), at(7));
        assert_eq!((stats.sent_packets, stats.sent_bytes, stats.delivered_packets), (4, 3500, 2));
        assert_eq!(stats.busy, Span::from_us(3500));
    }

    #[test]
    fn a_wire_is_a_line_of_the_cache() {
        assert_eq!((size_of::<Wire>(), size_of::<crate::link::AnyLink>()), (64, 64));
    }

    #[test]
    fn what_exceeds_the_mtu_is_dropped() {
        let mut wire = wire(10, None, vec![]);
        assert_eq!(enqueue(&mut wire, at(3), 1501), Err(Dropped { reason: DropReason::TooLarge, at: at(3) }));
        assert_eq!(enqueue(&mut wire, at(3), 1500), Ok(()));
    }
}
