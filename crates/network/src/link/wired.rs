//! One direction of a point-to-point link: a drop-tail queue, a transmitter, and a delay.
//!
//! Everything about a packet is known when it is enqueued: the transmitter serves in order, so its start of
//! service, its departure and its arrival follow by arithmetic. A packet therefore costs one event, its arrival;
//! one that will be lost costs none, though it takes its place in the queue and its time on the transmitter.
//!
//! Not modelled: bit errors that leave a packet in place, reordering, a rate that changes.

use super::{Attachment, DropReason, Dropped, Link, LinkStats, QueueLimit};
use crate::link::loss::Loss;
use crate::packet::Packet;
use roamsim_engine::{Span, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

/// A half-open interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its first instant.
    pub start: Time,
    /// The first instant after it.
    pub end: Time,
}

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

/// One direction of a point-to-point link, from attachment 0 to attachment 1.
#[derive(Clone, Debug)]
pub struct Wire {
    config: WireConfig,
    loss: Option<Loss>,
    busy_until: Time,
    /// Start of service and length of those that wait (and of some that no longer do).
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    /// Arrival and packet, in order. A packet that will be lost is not here.
    flying: VecDeque<(Time, Packet)>,
    stats: LinkStats,
}

impl Wire {
    /// An idle direction.
    pub fn new(config: WireConfig, loss: Option<Loss>) -> Wire {
        Wire {
            config,
            loss,
            busy_until: Time::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            flying: VecDeque::new(),
            stats: LinkStats::default(),
        }
    }

    /// Forgets those whose service has begun.
    #[inline]
    fn advance(&mut self, now: Time) {
        while let Some(&(start, bytes)) = self.waiting.front() {
            if start > now {
                break;
            }
            self.waiting_bytes -= u64::from(bytes);
            self.waiting.pop_front();
        }
    }

    #[inline]
    fn dropped(&mut self, reason: DropReason, at: Time) -> Result<(), Dropped> {
        self.stats.dropped_packets += 1;
        Err(Dropped { reason, at })
    }
}

impl Machine for Wire {
    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        self.flying.front().map(|&(arrival, _)| arrival)
    }

    /// Nothing to do: arrivals are taken with `poll_delivery`.
    fn handle_timeout(&mut self, _cx: &mut Context<'_>) {}
}

impl Link for Wire {
    #[inline]
    fn enqueue(&mut self, cx: &mut Context<'_>, _from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        let bytes = packet.size_bytes;
        if bytes > self.config.mtu_bytes {
            return self.dropped(DropReason::TooLarge, now);
        }
        let start = if self.busy_until > now {
            self.advance(now);
            if !self.config.queue.admits(self.waiting.len(), self.waiting_bytes, bytes) {
                return self.dropped(DropReason::QueueFull, now);
            }
            self.waiting.push_back((self.busy_until, bytes));
            self.waiting_bytes += u64::from(bytes);
            self.stats.max_waiting_packets = self.stats.max_waiting_packets.max(self.waiting.len() as u64);
            self.stats.waiting += self.busy_until - now;
            self.busy_until
        } else {
            now
        };
        let transmission = Span::of_transmission(u64::from(bytes), self.config.rate_bps);
        let departure = start + transmission;
        self.busy_until = departure;
        self.stats.busy += transmission;
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(bytes);
        // The draw comes first, so that an outage does not shift the numbering of the draws.
        let lost = self.loss.as_mut().is_some_and(|loss| loss.takes(departure));
        if self.config.outages.iter().any(|outage| outage.start <= departure && departure < outage.end) {
            return self.dropped(DropReason::Outage, departure);
        }
        if lost {
            return self.dropped(DropReason::Loss, departure);
        }
        self.flying.push_back((departure + self.config.delay, packet));
        Ok(())
    }

    #[inline]
    fn poll_delivery(&mut self, now: Time) -> Option<(Attachment, Packet)> {
        if self.flying.front()?.0 > now {
            return None;
        }
        let (_, packet) = self.flying.pop_front()?;
        self.stats.delivered_packets += 1;
        Some((Attachment(1), packet))
    }

    fn packets_inside(&self) -> u64 {
        self.flying.len() as u64
    }

    fn stats(&self, _from: Attachment, now: Time) -> LinkStats {
        // Waiting and transmission were booked ahead: take back what lies after `now`.
        let waits_after: u64 =
            self.waiting.iter().map(|&(start, _)| start.since(now).as_ns()).fold(0, u64::saturating_add);
        LinkStats {
            busy: self.stats.busy.saturating_sub(self.busy_until - now),
            waiting: self.stats.waiting.saturating_sub(Span::from_ns(waits_after)),
            ..self.stats
        }
    }

    fn waiting_packets(&self, _from: Attachment, now: Time) -> usize {
        self.waiting.iter().filter(|&&(start, _)| start > now).count()
    }
}
