//! One direction of a point-to-point link, as [`Wire`](super::wired::Wire), whose queue is under any discipline.
//!
//! Who is next, and who is dropped, is decided when the transmitter is free, so that a packet that waits costs an event more.
//! Under drop-tail it does what a wire does; a test holds the two together.

use super::outages::Outages;
use super::wired::WireConfig;
use super::{Attachment, Link, LinkStats, Sender};
use crate::drops::{DropReason, Dropped};
use crate::link::indication::Indication;
use crate::link::loss::Loss;
use crate::packet::Packet;
use crate::queue::{Queue, Rule};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

const SENDER: Attachment = Attachment(0);
const RECEIVER: Attachment = Attachment(1);

/// One direction of a point-to-point link, from attachment 0 to attachment 1.
#[derive(Debug)]
pub struct ManagedWire {
    rate_bps: u64,
    delay: Span,
    mtu_bytes: u32,
    outages: Outages,
    loss: Option<Loss>,
    queue: Queue,
    busy_until: Time,
    /// Packets on their way, and when each arrives, in order.
    flying: VecDeque<(Time, Packet)>,
    /// Those that will not arrive, or were dropped while they waited, until they are told.
    dropped: VecDeque<(Packet, Dropped)>,
    stats: LinkStats,
}

impl ManagedWire {
    /// An idle direction; the random numbers are those of the queue.
    pub fn new(config: WireConfig, rule: Rule, loss: Option<Loss>, random: Stream) -> ManagedWire {
        let WireConfig { rate_bps, delay, queue, mtu_bytes, outages } = config;
        ManagedWire {
            rate_bps,
            delay,
            mtu_bytes,
            outages: Outages::new(outages),
            loss,
            queue: Queue::under(rule.discipline(queue, random), 0..1),
            busy_until: Time::ZERO,
            flying: VecDeque::new(),
            dropped: VecDeque::new(),
            stats: LinkStats::default(),
        }
    }

    /// Serves whoever can be served by `now`.
    fn serve(&mut self, now: Time) {
        while self.busy_until <= now && self.serve_next(self.busy_until) {}
        while let Some((waiting, reason)) = self.queue.poll_drop(now) {
            self.stats.dropped_packets += 1;
            self.dropped.push_back((waiting.packet, Dropped { reason, at: now }));
        }
    }

    /// Sends the next packet from `start` on; false if there is none.
    fn serve_next(&mut self, start: Time) -> bool {
        let Some(packet) = self.queue.dequeue(start).map(|waiting| waiting.packet) else { return false };
        let transmission = Span::of_transmission(u64::from(packet.size_bytes), self.rate_bps);
        let departure = start + transmission;
        self.busy_until = departure;
        self.stats.busy += transmission;
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(packet.size_bytes);
        // The draw comes first, so that an outage does not shift the numbering of the packets.
        let lost = self.loss.as_mut().is_some_and(|loss| loss.takes(departure, &packet));
        let reason = if self.outages.cover(departure) {
            DropReason::Outage
        } else if lost {
            DropReason::Loss
        } else {
            self.flying.push_back((departure + self.delay, packet));
            return true;
        };
        self.stats.dropped_packets += 1;
        self.dropped.push_back((packet, Dropped { reason, at: departure }));
        true
    }

    fn refused(&mut self, reason: DropReason, at: Time) -> Result<(), Dropped> {
        self.stats.dropped_packets += 1;
        Err(Dropped { reason, at })
    }
}

impl Machine for ManagedWire {
    fn poll_timeout(&self) -> Option<Time> {
        let told = self.dropped.iter().map(|(_, dropped)| dropped.at).min();
        let free = (self.queue.length().packets > 0).then_some(self.busy_until);
        let arrival = self.flying.front().map(|(arrival, _)| *arrival);
        [told, free, arrival].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.serve(cx.now);
    }
}

impl Link for ManagedWire {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        if packet.size_bytes > self.mtu_bytes {
            return self.refused(DropReason::TooLarge, now);
        }
        self.serve(now);
        let idle = self.busy_until <= now;
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
        self.flying.front().filter(|(arrival, _)| *arrival <= now)?;
        let (_, packet) = self.flying.pop_front()?;
        self.stats.delivered_packets += 1;
        Some((RECEIVER, packet))
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front().map(|(packet, dropped)| (SENDER, packet, dropped))
    }

    fn next_indication(&self) -> Option<Time> {
        self.outages.next().map(|(at, _)| at)
    }

    fn poll_indication(&mut self, now: Time) -> Option<Indication> {
        self.outages.poll(now)
    }

    fn link_type(&self) -> LinkType {
        LinkType::ETHERNET
    }

    fn packets_inside(&self) -> u64 {
        (self.queue.length().packets + self.flying.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        LinkStats {
            busy: self.stats.busy.saturating_sub(self.busy_until.since(now)),
            waiting: self.queue.waited(from, now),
            max_waiting_packets: self.queue.max_packets(from) as u64,
            marked_packets: self.queue.marked_packets(from),
            ..self.stats
        }
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        self.queue.waiting_packets(from)
    }

    /// One direction: its sender and its receiver.
    fn senders(&self) -> Vec<Sender> {
        vec![Sender { from: SENDER, to: Some(RECEIVER) }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::outages::Outage;
    use super::super::wired::Wire;
    use super::*;
    use crate::link::loss::LossModel;
    use crate::packet::PacketId;
    use crate::queue::{QueueLimit, codel};
    use crate::testing::{datagram, stream};
    use proptest::prelude::*;

    /// 1000 octets take 1 ms; 5 ms of delay.
    fn config(queue: QueueLimit, outages: Vec<Outage>) -> WireConfig {
        let delay = Span::from_ms(5);
        WireConfig { rate_bps: 8_000_000, delay, queue, mtu_bytes: 1500, outages }
    }

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Which packets arrived when, which were dropped, and the account at the end.
    type Fate = (Vec<(u64, Time)>, Vec<(u64, Dropped)>, LinkStats);

    /// What becomes of packets of these lengths that come after these pauses, in microseconds.
    fn fate(mut link: impl Link, packets: &[(u64, u32)]) -> Fate {
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
                let taken = link.enqueue(&mut Context { now, random: &mut random }, SENDER, packet);
                dropped.extend(taken.err().map(|dropped| (id, dropped)));
                next = packets.next();
            } else if due < Time::MAX {
                link.handle_timeout(&mut Context { now: due, random: &mut random });
                let told = std::iter::from_fn(|| link.poll_drop());
                dropped.extend(told.map(|(_, packet, dropped)| (packet.id.0, dropped)));
                let come = std::iter::from_fn(|| link.poll_delivery(due));
                arrived.extend(come.map(|(_, packet)| (packet.id.0, due)));
            } else {
                break;
            }
        }
        dropped.sort_by_key(|(id, _)| *id);
        (arrived, dropped, link.stats(SENDER, at_us(10_000_000)))
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
            let config = config(limit, outages);
            let managed = ManagedWire::new(config.clone(), Rule::DropTail, Some(loss()), stream("queue"));
            prop_assert_eq!(fate(managed, &packets), fate(Wire::new(config, Some(loss())), &packets));
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
            let config = config(QueueLimit::Packets(100), vec![]);
            ManagedWire::new(config, Rule::Codel(settings), None, stream("queue"))
        };
        // Forty at once: number n is sent at n ms; from 5 on they wait too long, at 25 number 25 is dropped and 26 sent, at
        // 25 + 20 the next would be.
        let (arrived, dropped, stats) = fate(wire(), &[(0, 1000); 40]);
        let gone = Dropped { reason: DropReason::QueueManagement, at: at_us(25_000) };
        assert_eq!(dropped, [(25, gone)]);
        assert_eq!((arrived[24], arrived[25]), ((24, at_us(30_000)), (26, at_us(31_000))));
        assert_eq!((stats.sent_packets, stats.dropped_packets, stats.busy), (39, 1, Span::from_ms(39)));
        // Up to 25 each its number in milliseconds, then one less: 325 + (25 + ... + 38).
        assert_eq!(stats.waiting, Span::from_ms(325 + 441));
        assert_eq!(stats.max_waiting_packets, 39);
    }
}
