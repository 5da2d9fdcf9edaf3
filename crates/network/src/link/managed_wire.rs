//! One direction of a point-to-point link, as [`Wire`](super::wired::Wire), whose queue is under any
//! discipline, whose rate or delay changes, that delivers packets twice, that is switched off and on, or
//! whose sender hears a signal from the other end.
//!
//! Who is next, and who is dropped, is decided when the transmitter is free, so that a packet that waits
//! costs an event more. At a constant rate and delay, under drop-tail, it does what a wire does; a test holds
//! the two together.

use super::delay::Delay;
use super::outages::{Outage, Outages};
use super::pace::Pace;
use super::series::Series;
use super::{Attachment, Carrier, Link, LinkStats, Receptions, Sender};
use crate::drops::{DropReason, Dropped};
use crate::link::indication::{Indication, LinkEvent, Quality};
use crate::link::loss::Loss;
use crate::packet::Packet;
use crate::queue::{AnyDiscipline, Queue};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

const SENDER: Attachment = Attachment(0);
const RECEIVER: Attachment = Attachment(1);

/// What describes one direction.
#[derive(Debug)]
pub struct ManagedWireConfig {
    /// Of the transmitter.
    pub pace: Pace,
    /// Behind it.
    pub delay: Delay,
    /// Before it.
    pub queue: AnyDiscipline,
    /// The largest packet.
    pub mtu_bytes: u32,
    /// In order of time, without overlap.
    pub outages: Vec<Outage>,
    /// Of packets that have been sent.
    pub loss: Option<Loss>,
    /// The probability that a packet arrives twice, and what draws it.
    pub duplicate: Option<(f64, Stream)>,
    /// The strength of the signal that the sender hears, in dBm.
    pub signal_dbm: Option<Series<f64>>,
}

/// A signal, which is reported when it changes.
#[derive(Debug)]
struct Signal {
    series_dbm: Series<f64>,
    /// When it is reported next; never, if it changes no more.
    next: Time,
}

/// What changes on a path when something happens elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// The bit rate, per second.
    RateBps(u64),
    /// The delay.
    Delay(Span),
    /// The probability of a loss.
    Loss {
        /// Which of the link's losses, in the order in which it was given them. A wire has one.
        number: usize,
        /// What it is from now on.
        probability: f64,
    },
    /// The strength of the signal that the sender hears, in dBm.
    SignalDbm(f64),
}

/// One direction of a point-to-point link, from attachment 0 to attachment 1.
#[derive(Debug)]
pub struct ManagedWire {
    pace: Pace,
    delay: Delay,
    mtu_bytes: u32,
    outages: Outages,
    loss: Option<Loss>,
    duplicate: Option<(f64, Stream)>,
    signal: Option<Box<Signal>>,
    /// What was delivered last is a copy of the packet that comes next.
    copied: bool,
    queue: Queue,
    /// When the last bit of the packet in service has left.
    busy_until: Time,
    /// From when on the next packet can be taken.
    free: Time,
    /// Packets on their way, and when each arrives, in order of that.
    flying: VecDeque<(Time, Packet)>,
    latest_arrival: Time,
    /// Those that will not arrive, or were dropped while they waited, until they are told.
    dropped: VecDeque<(Packet, Dropped)>,
    /// Lost ones that have come to the receiver, and when the others will.
    in_error: u64,
    errors_on_the_way: Vec<Time>,
    stats: LinkStats,
}

impl ManagedWire {
    /// An idle direction.
    pub fn new(config: ManagedWireConfig) -> ManagedWire {
        let ManagedWireConfig { pace, delay, queue, mtu_bytes, outages, loss, duplicate, signal_dbm } =
            config;
        let signal = signal_dbm.map(|series_dbm| Box::new(Signal { series_dbm, next: Time::ZERO }));
        ManagedWire {
            pace,
            delay,
            mtu_bytes,
            outages: Outages::new(outages),
            loss,
            duplicate,
            signal,
            copied: false,
            queue: Queue::new(queue, 0..1),
            busy_until: Time::ZERO,
            free: Time::ZERO,
            flying: VecDeque::new(),
            latest_arrival: Time::ZERO,
            dropped: VecDeque::new(),
            in_error: 0,
            errors_on_the_way: Vec::new(),
            stats: LinkStats::default(),
        }
    }

    /// Whether what was delivered last is a copy, a packet of its own, of the one that comes next, at the
    /// same instant.
    pub fn delivered_a_copy(&self) -> bool {
        self.copied
    }

    /// From now on the path is different. The packet in service is sent as it was begun.
    pub fn change(&mut self, now: Time, change: Change) {
        self.serve(now);
        match change {
            Change::Delay(delay) => self.delay.series.begin(now, delay),
            Change::Loss { probability, .. } => {
                if let Some(loss) = &mut self.loss {
                    loss.begin(now, probability);
                }
            }
            Change::RateBps(rate_bps) => {
                if let Pace::Rate(series) = &mut self.pace {
                    series.begin(now, rate_bps);
                    self.free = self.pace.rest(now.max(self.busy_until));
                    self.serve(now);
                }
            }
            Change::SignalDbm(dbm) => {
                if let Some(signal) = &mut self.signal {
                    signal.series_dbm.begin(now, dbm);
                    signal.next = now;
                }
            }
        }
    }

    /// Serves whoever can be served by `now`.
    fn serve(&mut self, now: Time) {
        while self.free <= now && self.serve_next(self.free) {}
        if self.free <= now {
            self.free = self.pace.rest(now);
        }
        while let Some((waiting, reason)) = self.queue.poll_drop(now) {
            self.stats.dropped_packets += 1;
            self.dropped.push_back((waiting.packet, Dropped { reason, at: now }));
        }
    }

    /// Sends the next packet from `start` on; false if there is none.
    fn serve_next(&mut self, start: Time) -> bool {
        let Some(packet) = self.queue.dequeue(start).map(|waiting| waiting.packet) else { return false };
        let (departure, free) = self.pace.send(start, packet.size_bytes);
        (self.busy_until, self.free) = (departure, free);
        self.stats.busy += departure - start;
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(packet.size_bytes);
        // The draw comes first, so that an outage does not shift the numbering of the packets.
        let lost = self.loss.as_mut().is_some_and(|loss| loss.takes(departure, &packet));
        let reason = if self.outages.cover(departure) {
            DropReason::Outage
        } else if lost {
            self.note_error(start, departure);
            DropReason::Loss
        } else {
            let arrival = self.delay.arrival(departure, self.latest_arrival);
            self.latest_arrival = self.latest_arrival.max(arrival);
            let place = self.flying.partition_point(|&(other, _)| other <= arrival);
            self.flying.insert(place, (arrival, packet));
            return true;
        };
        self.stats.dropped_packets += 1;
        self.dropped.push_back((packet, Dropped { reason, at: departure }));
        true
    }

    /// A packet that leaves at `departure` is lost, as the receiver finds out when it has come. It takes no
    /// time that is drawn.
    #[cold]
    fn note_error(&mut self, now: Time, departure: Time) {
        let on_the_way = self.errors_on_the_way.len();
        self.errors_on_the_way.retain(|arrival| *arrival > now);
        self.in_error += (on_the_way - self.errors_on_the_way.len()) as u64;
        self.errors_on_the_way.push(departure + self.delay.series.at(departure));
    }

    fn refused(&mut self, reason: DropReason, at: Time) -> Result<(), Dropped> {
        self.stats.dropped_packets += 1;
        Err(Dropped { reason, at })
    }
}

impl Machine for ManagedWire {
    fn poll_timeout(&self) -> Option<Time> {
        let told = self.dropped.iter().map(|(_, dropped)| dropped.at).min();
        let free = (self.queue.length().packets > 0 && self.free < Time::MAX).then_some(self.free);
        let arrival = self.flying.front().map(|(arrival, _)| *arrival);
        [told, free, arrival].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.serve(cx.now);
    }
}

impl Carrier for ManagedWire {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        if packet.size_bytes > self.mtu_bytes {
            return self.refused(DropReason::TooLarge, now);
        }
        self.serve(now);
        let idle = self.free <= now;
        if let Err((_, reason)) = self.queue.enqueue(now, from, packet, idle) {
            return self.refused(reason, now);
        }
        if idle {
            self.serve_next(now);
        }
        self.serve(now);
        Ok(())
    }

    fn poll_delivery(&mut self, now: Time) -> Option<(Attachment, Packet)> {
        let (_, packet) = self.flying.front().filter(|(arrival, _)| *arrival <= now)?;
        self.stats.delivered_packets += 1;
        // A draw for each packet, none for its copy.
        let copies = |(probability, random): &mut (f64, Stream)| random.bernoulli(*probability);
        self.copied = !self.copied && self.duplicate.as_mut().is_some_and(copies);
        if self.copied {
            return Some((RECEIVER, packet.clone()));
        }
        self.flying.pop_front().map(|(_, packet)| (RECEIVER, packet))
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front().map(|(packet, dropped)| (SENDER, packet, dropped))
    }

    fn may_have_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }
}

impl Link for ManagedWire {
    /// What has been begun is sent.
    fn turn(&mut self, now: Time, on: bool) -> bool {
        self.serve(now);
        self.outages.switch(now, on);
        true
    }

    fn next_indication(&self) -> Option<Time> {
        let report = self.signal.as_ref().map(|signal| signal.next).filter(|&next| next < Time::MAX);
        self.outages.next().map(|(at, _)| at).into_iter().chain(report).min()
    }

    fn poll_indication(&mut self, now: Time) -> Option<Indication> {
        // Before the link comes up, so that its signal is known then.
        if let Some(signal) = &mut self.signal
            && signal.next <= now
        {
            let (dbm, until) = signal.series_dbm.stretch(signal.next);
            signal.next = until;
            let event = LinkEvent::ParametersReport { quality: Quality::Signal(dbm) };
            return Some(Indication { at: SENDER, event });
        }
        self.outages.poll(now)
    }

    fn link_type(&self) -> LinkType {
        LinkType::ETHERNET
    }

    fn packets_inside(&self) -> u64 {
        (self.queue.length().packets + self.flying.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let busy = match &self.pace {
            Pace::Rate(_) => self.stats.busy.saturating_sub(self.busy_until.since(now)),
            // Packets take no time where they leave at opportunities; the share of these that they take
            // stands for it.
            Pace::Opportunities(opportunities) => {
                Span::from_secs_f64(now.as_secs_f64() * opportunities.share_used(now))
            }
        };
        LinkStats {
            busy,
            waiting: self.queue.waited(from, now),
            max_waiting_packets: self.queue.max_packets(from) as u64,
            marked_packets: self.queue.marked_packets(from),
            ..self.stats
        }
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        self.queue.waiting_packets(from)
    }

    fn forget_longest(&mut self, _now: Time) {
        self.queue.forget_longest();
    }

    fn queues(&self, _from: Attachment) -> Vec<&Queue> {
        vec![&self.queue]
    }

    fn receptions(&self, at: Attachment, now: Time) -> Option<Receptions> {
        let arrived = self.errors_on_the_way.iter().filter(|arrival| **arrival <= now).count();
        let in_error = self.in_error + arrived as u64;
        (at == RECEIVER).then(|| Receptions { frames: self.stats.delivered_packets + in_error, in_error })
    }

    /// One direction: its sender and its receiver.
    fn senders(&self) -> Vec<Sender> {
        vec![Sender { from: SENDER, to: Some(RECEIVER) }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnyLink;
    use super::super::pace::Opportunities;
    use super::super::series::Series;
    use super::super::wired::flown::Flown;
    use super::super::wired::{Wire, WireConfig};
    use super::*;
    use crate::distribution::Distribution;
    use crate::link::loss::LossModel;
    use crate::packet::PacketId;
    use crate::queue::drop_tail::DropTail;
    use crate::queue::{QueueLimit, Rule, codel};
    use crate::testing::{datagram, stream};
    use proptest::prelude::*;

    /// 1000 octets take 1 ms; 5 ms of delay.
    fn config(queue: AnyDiscipline) -> ManagedWireConfig {
        ManagedWireConfig {
            pace: Pace::Rate(Series::constant(8_000_000)),
            delay: constant_delay(5),
            queue,
            mtu_bytes: 1500,
            outages: vec![],
            loss: None,
            duplicate: None,
            signal_dbm: None,
        }
    }

    fn constant_delay(ms: u64) -> Delay {
        Delay { series: Series::constant(Span::from_ms(ms)), jitter: None, reordering: false }
    }

    fn managed_wire(config: ManagedWireConfig) -> AnyLink {
        AnyLink::ManagedWire(Box::new(ManagedWire::new(config)))
    }

    fn unlimited() -> AnyDiscipline {
        DropTail::new(None).into()
    }

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Which packets arrived when, which were dropped, and the account at the end.
    type Fate = (Vec<(u64, Time)>, Vec<(u64, Dropped)>, LinkStats);

    /// What becomes of packets of these lengths that come after these pauses, in microseconds.
    fn fate(mut link: AnyLink, packets: &[(u64, u32)]) -> Fate {
        let mut random = stream("wire");
        let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
        let mut comes = Time::ZERO;
        let mut packets = (0..).zip(packets).map(|(id, &(pause_us, bytes))| {
            comes += Span::from_us(pause_us);
            (comes, Packet { id: PacketId(id), ..datagram(bytes) })
        });
        let mut next = packets.next();
        loop {
            let due = link.poll_timeout().unwrap_or(Time::MAX);
            if let Some((now, packet)) = next.take_if(|(now, _)| *now < due) {
                let id = packet.id.0;
                let cx = &mut Context { now, random: &mut random };
                let (taken, _) = link.enqueue(cx, SENDER, packet);
                dropped.extend(taken.err().map(|dropped| (id, dropped)));
                next = packets.next();
            } else if due < Time::MAX {
                link.handle_timeout(&mut Context { now: due, random: &mut random });
                let told = std::iter::from_fn(|| link.poll_drop());
                dropped.extend(told.map(|(_, packet, dropped)| (packet.id.0, dropped)));
                let come = std::iter::from_fn(|| link.take(due).ok());
                arrived.extend(come.map(|(_, packet)| (packet.id.0, due)));
            } else {
                break;
            }
        }
        dropped.sort_by_key(|(id, _)| *id);
        (arrived, dropped, link.stats(SENDER, at_us(10_000_000)))
    }

    /// The same of packets on a wire.
    fn fate_on(wire: &mut Flown, packets: &[(u64, u32)]) -> Fate {
        let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
        let mut now = Time::ZERO;
        for (id, &(pause_us, bytes)) in (0..).zip(packets) {
            now += Span::from_us(pause_us);
            let packet = Packet { id: PacketId(id), ..datagram(bytes) };
            take_all(wire, now, &mut arrived);
            dropped.extend(wire.put(now, packet).err().map(|dropped| (id, dropped)));
        }
        take_all(wire, Time::MAX, &mut arrived);
        (arrived, dropped, wire.stats(SENDER, at_us(10_000_000)))
    }

    fn take_all(wire: &mut Flown, until: Time, arrived: &mut Vec<(u64, Time)>) {
        while let Some(due) = wire.next().filter(|&due| due <= until)
            && let Some((packet, _)) = wire.take(due)
        {
            arrived.push((packet.id.0, due));
        }
    }

    proptest! {
        #[test]
        fn under_drop_tail_it_is_a_wire(
            packets in proptest::collection::vec((0u64..3000, 1u32..1600), 1..200),
            limit in prop_oneof![
                (1u32..6).prop_map(QueueLimit::Packets),
                (500u64..4000).prop_map(QueueLimit::Bytes),
            ],
            cut_us in 0u64..100_000,
        ) {
            let outages = vec![Outage { start: at_us(cut_us), end: at_us(cut_us + 5000) }];
            let loss = || Loss::new(LossModel::Bernoulli { probability: 0.2 }, Time::ZERO, stream);
            let wire = WireConfig {
                rate_bps: 8_000_000,
                delay: Span::from_ms(5),
                queue: limit,
                mtu_bytes: 1500,
                outages: outages.clone(),
            };
            let managed = ManagedWireConfig {
                outages,
                loss: Some(loss()),
                ..config(Rule::DropTail.discipline(limit, stream("queue")))
            };
            let mut wire = Flown::new(Wire::new(wire, Some(loss())));
            prop_assert_eq!(fate(managed_wire(managed), &packets), fate_on(&mut wire, &packets));
        }
    }

    #[test]
    fn what_codel_drops_leaves_its_place_at_once() {
        let settings = codel::Settings {
            target: Span::from_ms(5),
            interval: Span::from_ms(20),
            mtu_bytes: 1500,
            ecn: false,
        };
        let wire = || {
            let rule = Rule::Codel(settings);
            managed_wire(config(rule.discipline(QueueLimit::Packets(100), stream("queue"))))
        };
        // Forty at once: number n is sent at n ms; from 5 on they wait too long, at 25 number 25 is dropped
        // and 26 sent, at 25 + 20 the next would be.
        let (arrived, dropped, stats) = fate(wire(), &[(0, 1000); 40]);
        let gone = Dropped { reason: DropReason::QueueManagement, at: at_us(25_000) };
        assert_eq!(dropped, [(25, gone)]);
        assert_eq!((arrived[24], arrived[25]), ((24, at_us(30_000)), (26, at_us(31_000))));
        assert_eq!((stats.sent_packets, stats.dropped_packets, stats.busy), (39, 1, Span::from_ms(39)));
        // Up to 25 each its number in milliseconds, then one less: 325 + (25 + ... + 38).
        assert_eq!(stats.waiting, Span::from_ms(325 + 441));
        assert_eq!(stats.max_waiting_packets, 39);
    }

    /// When each packet arrived, in microseconds, in order of the packets.
    fn arrivals_us(config: ManagedWireConfig, packets: &[(u64, u32)]) -> Vec<u64> {
        let (mut arrived, dropped, _) = fate(managed_wire(config), packets);
        assert_eq!(dropped, []);
        arrived.sort_unstable_by_key(|(id, _)| *id);
        arrived.iter().map(|(_, at)| at.as_ns() / 1000).collect()
    }

    fn at_opportunities(schedule_ms: &[u32]) -> ManagedWireConfig {
        let opportunities = Opportunities::new(schedule_ms.into()).expect("a schedule");
        ManagedWireConfig {
            pace: Pace::Opportunities(opportunities),
            delay: constant_delay(0),
            ..config(unlimited())
        }
    }

    #[test]
    fn a_recorded_path_delivers_each_packet_at_the_instant_of_its_opportunity() {
        let path = || at_opportunities(&[3, 4, 4, 7, 12]);
        // A packet leaves at the next opportunity behind its arrival; one that comes at the instant of an
        // opportunity is too late for it, as the second is for that of 3 ms: it leaves at 4 ms with its whole
        // 1504 octets. The third comes at 4 ms, too late for both: 7 ms.
        assert_eq!(arrivals_us(path(), &[(2500, 1500), (500, 1500), (1000, 1500)]), [3000, 4000, 7000]);
        // Three of 500 + 4 octets: 1512. The last 8 of the third go at 4 ms; the fourth, which comes at 3.5
        // ms, has the rest of that opportunity.
        let small = [(0, 500), (0, 500), (0, 500), (3500, 1492)];
        assert_eq!(arrivals_us(path(), &small), [3000, 3000, 4000, 4000]);
        // What nobody waits for is lost: the second comes at 3.1 ms, when 1004 octets of the opportunity of 3
        // ms were left.
        assert_eq!(arrivals_us(path(), &[(0, 496), (3100, 100)]), [3000, 4000]);
        // The trace begins again at its last line, 12 ms: 15, 16, 16, 19, 24, and so on.
        let seven = [(11_000, 1500); 1].into_iter().chain([(0, 1500); 6]).collect::<Vec<_>>();
        assert_eq!(arrivals_us(path(), &seven), [12_000, 15_000, 16_000, 16_000, 19_000, 24_000, 27_000]);
    }

    #[test]
    fn a_recorded_path_has_its_packets_wait_and_its_use_in_octets() {
        let (arrived, _, stats) = fate(managed_wire(at_opportunities(&[10])), &[(0, 1500); 3]);
        assert_eq!(arrived.len(), 3);
        // 10, 20 and 30 ms of waiting.
        assert_eq!((stats.waiting, stats.max_waiting_packets), (Span::from_ms(60), 3));
        // By 10 s three of a thousand.
        assert_eq!(stats.busy, Span::from_ms(30));
    }

    #[test]
    fn a_recorded_path_drops_what_has_no_room_in_a_queue_that_has_an_end() {
        let two = DropTail::new(Some(QueueLimit::Packets(2))).into();
        let config = ManagedWireConfig { queue: two, ..at_opportunities(&[10]) };
        // Nothing is in service before an opportunity: the third finds two that wait.
        let (arrived, dropped, _) = fate(managed_wire(config), &[(0, 1500); 3]);
        assert_eq!((arrived.len(), dropped.len()), (2, 1));
        assert_eq!(dropped[0], (2, Dropped { reason: DropReason::QueueFull, at: Time::ZERO }));
    }

    #[test]
    fn a_rate_that_changes_is_that_of_the_bits_not_of_the_packets() {
        // 8 Mb/s up to 2.5 ms, 1.6 Mb/s up to 7.5 ms, nothing up to 20 ms, then 8 Mb/s.
        let steps = [(0, 8_000_000), (2500, 1_600_000), (7500, 0), (20_000, 8_000_000)];
        let series = Series::new(steps.map(|(us, bps)| (at_us(us), bps)).to_vec(), None).expect("steps");
        let config = || ManagedWireConfig { pace: Pace::Rate(series.clone()), ..config(unlimited()) };
        // Packets of 8000 bits: at 1, 2, then half in 0.5 ms and half in 2.5 ms: 5 ms; the fourth half in 2.5
        // ms, up to 7.5 ms, and the rest from 20 ms on: 20.5 ms; the fifth a millisecond later. 5 ms of
        // delay.
        let five = [(0, 1000); 5];
        assert_eq!(arrivals_us(config(), &five), [6000, 7000, 10_000, 25_500, 26_500]);
        // Who comes to an empty link without a rate waits for it.
        assert_eq!(arrivals_us(config(), &[(8000, 1000)]), [26_000]);
    }

    #[test]
    fn a_path_changes_when_it_is_told_to() {
        let mut link = ManagedWire::new(config(unlimited()));
        let mut random = stream("wire");
        let mut arrivals = Vec::new();
        let mut enqueue = |link: &mut ManagedWire, ms: u64| {
            let now = at_us(1000 * ms);
            let packet = datagram(1000);
            assert_eq!(link.enqueue(&mut Context { now, random: &mut random }, SENDER, packet), Ok(()));
        };
        enqueue(&mut link, 0);
        link.change(at_us(500), Change::RateBps(0));
        enqueue(&mut link, 1);
        // The first was begun and is sent; the second waits.
        assert_eq!(link.poll_timeout(), Some(at_us(6000)));
        link.change(at_us(2000), Change::Delay(Span::from_ms(1)));
        link.change(at_us(3000), Change::RateBps(4_000_000));
        enqueue(&mut link, 3);
        for _ in 0..5 {
            let Some(now) = link.poll_timeout() else { break };
            link.handle_timeout(&mut Context { now, random: &mut stream("wire") });
            arrivals.extend(std::iter::from_fn(|| link.poll_delivery(now)).map(|_| now.as_ns() / 1000));
        }
        // From 3 ms on 2 ms a packet: 5 and 7 ms, and 1 ms of delay.
        assert_eq!(arrivals, [6000, 6000, 8000]);
    }

    #[test]
    fn jitter_keeps_the_order_unless_packets_may_overtake_others() {
        let arrivals = |reordering| {
            let jitter = (Distribution::Uniform { min: 0, max: 20_000_000 }, stream("jitter"));
            let delay = Delay { jitter: Some(jitter), reordering, ..constant_delay(5) };
            arrivals_us(ManagedWireConfig { delay, ..config(unlimited()) }, &[(1000, 100); 500])
        };
        let (kept, free) = (arrivals(false), arrivals(true));
        assert!(kept.is_sorted() && !free.is_sorted());
        // Sent at n ms and 0.1 ms, and 5 to 25 ms later; in the mean 15 ms, with a standard error of 20 /
        // sqrt(12 x 500) = 0.26 ms.
        let taken = |arrivals: &[u64]| {
            let taken = (1..).zip(arrivals).map(|(n, us)| us - 1000 * n - 100);
            taken.collect::<Vec<u64>>()
        };
        assert!(taken(&free).iter().all(|us| (5000..=25_000).contains(us)));
        let mean_us = taken(&free).iter().sum::<u64>() as f64 / 500.0;
        assert!((mean_us - 15_000.0).abs() < 900.0, "{mean_us}");
        // With the order kept each arrives with the latest before it, or as drawn.
        let latest = free.iter().scan(0, |latest, &us| {
            *latest = us.max(*latest);
            Some(*latest)
        });
        assert_eq!(kept, latest.collect::<Vec<u64>>());
    }

    #[test]
    fn a_packet_that_arrives_twice_does_so_at_one_instant_and_takes_no_more_of_the_transmitter() {
        let config = |probability| ManagedWireConfig {
            duplicate: Some((probability, stream("duplicate"))),
            ..config(unlimited())
        };
        let (arrived, dropped, stats) = fate(managed_wire(config(1.0)), &[(0, 1000); 2]);
        assert_eq!(arrived, [(0, at_us(6000)), (0, at_us(6000)), (1, at_us(7000)), (1, at_us(7000))]);
        assert_eq!((dropped.len(), stats.sent_packets, stats.delivered_packets), (0, 2, 4));
        assert_eq!(stats.busy, Span::from_ms(2));
        // A fifth of 1000, with a standard deviation of sqrt(1000 x 0.2 x 0.8) = 12.6.
        let (arrived, ..) = fate(managed_wire(config(0.2)), &[(1000, 1000); 1000]);
        assert!((1150..=1250).contains(&arrived.len()), "{}", arrived.len());
    }

    #[test]
    fn a_lost_packet_is_an_error_when_it_has_come() {
        // 1000 octets at 8 Mb/s are sent in 1 ms, and travel 5 ms: they come at 6, 7 and 8 ms, the second in
        // error.
        let counted = LossModel::List { segments: vec![2], association: None };
        let loss = Some(Loss::new(counted, Time::ZERO, stream));
        let mut wire = managed_wire(ManagedWireConfig { loss, ..config(unlimited()) });
        let mut random = stream("wire");
        for id in 0..3 {
            let cx = &mut Context { now: Time::ZERO, random: &mut random };
            let packet = Packet { id: PacketId(id), ..datagram(1000) };
            assert_eq!(wire.enqueue(cx, SENDER, packet).0, Ok(()));
        }
        let mut came = Vec::new();
        for us in [2_000, 6_000, 6_999, 7_000, 8_000] {
            wire.handle_timeout(&mut Context { now: at_us(us), random: &mut random });
            while wire.take(at_us(us)).is_ok() {}
            let Receptions { frames, in_error } = wire.receptions(RECEIVER, at_us(us)).expect("a receiver");
            came.push((frames, in_error));
        }
        assert_eq!(came, [(0, 0), (1, 0), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(wire.receptions(SENDER, at_us(8_000)), None);
    }

    #[test]
    fn a_delay_that_falls_keeps_the_order_too() {
        let steps = vec![(Time::ZERO, Span::from_ms(50)), (at_us(2500), Span::from_ms(10))];
        let config = |reordering| {
            let series = Series::new(steps.clone(), None).expect("steps");
            ManagedWireConfig { delay: Delay { series, jitter: None, reordering }, ..config(unlimited()) }
        };
        let four = [(0, 1000); 4];
        assert_eq!(arrivals_us(config(true), &four), [51_000, 52_000, 13_000, 14_000]);
        assert_eq!(arrivals_us(config(false), &four), [51_000, 52_000, 52_000, 52_000]);
    }

    #[test]
    fn a_signal_is_reported_when_it_changes_and_before_the_link_comes_up() {
        let at = |ms: u64| at_us(ms * 1000);
        let steps = vec![(at(0), -70.0), (at(10), -80.0), (at(20), -75.0)];
        let series = Series::new(steps, Some(Span::from_ms(30))).expect("steps");
        let outages = vec![Outage { start: at(15), end: at(20) }];
        let signals = ManagedWireConfig { signal_dbm: Some(series), outages, ..config(unlimited()) };
        let mut wire = ManagedWire::new(signals);
        let mut told = Vec::new();
        while let Some(due) = wire.next_indication().filter(|&due| due <= at(30)) {
            let event = wire.poll_indication(due).expect("due").event;
            told.push((due.as_ns() / 1_000_000, event));
        }
        let report = |dbm| LinkEvent::ParametersReport { quality: Quality::Signal(dbm) };
        let down = LinkEvent::Down(crate::link::indication::LinkDownReason::PACKET_TIMEOUT);
        let expected = [
            (0, report(-70.0)),
            (10, report(-80.0)),
            (15, down),
            (20, report(-75.0)),
            (20, LinkEvent::Up),
            (30, report(-70.0)),
        ];
        assert_eq!(told, expected);
        let signal_dbm = Some(Series::constant(-70.0));
        let mut wire = ManagedWire::new(ManagedWireConfig { signal_dbm, ..config(unlimited()) });
        let at_first = wire.poll_indication(at(0)).map(|told| told.event);
        assert_eq!((at_first, wire.next_indication()), (Some(report(-70.0)), None));
        wire.change(at(25), Change::SignalDbm(-60.0));
        assert_eq!(wire.next_indication(), Some(at(25)));
        assert_eq!(wire.poll_indication(at(25)).map(|told| told.event), Some(report(-60.0)));
    }
}
