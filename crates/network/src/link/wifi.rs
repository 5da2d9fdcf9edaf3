//! An 802.11b cell: the distributed coordination function (IEEE Std 802.11-2007 clause 9) with the HR/DSSS
//! physical layer (clause 18), for one station and its access point.
//!
//! Attachment 0 is the access point, attachment 1 the station. Modelled: DIFS, random backoff before and after
//! every frame, PLCP preamble and header, MAC header, FCS and LLC/SNAP, SIFS and ACK, a drop-tail queue at each
//! end, both ends sharing one medium.
//!
//! Not modelled: collisions (when both ends count down to the same slot, the access point goes first and the
//! station next), bit errors and retransmissions, RTS/CTS, fragmentation, rate adaptation, beacons, association,
//! power saving, propagation (50 m take 0.17 us).

use super::{Attachment, DropReason, Dropped, Link, LinkStats, QueueLimit, Sender};
use crate::packet::Packet;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

/// The slot time of HR/DSSS (clause 18.3.3, table 18-3).
pub const SLOT: Span = Span::from_us(20);
/// The short interframe space of HR/DSSS (table 18-3).
pub const SIFS: Span = Span::from_us(10);
/// SIFS and two slots (clause 9.2.10).
pub const DIFS: Span = Span::from_us(50);
/// The smallest contention window of HR/DSSS (table 18-3), in slots.
pub const CW_MIN: u32 = 31;
/// Data frame overhead: 24 octets of MAC header, 4 of FCS (clause 7.1.2), 8 of LLC/SNAP (RFC 1042).
pub const FRAME_OVERHEAD_BYTES: u32 = 36;
/// An ACK frame (clause 7.2.1.3).
pub const ACK_BYTES: u32 = 14;

/// PLCP preamble and header (clause 18.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 144 us of preamble and 48 us of header, at 1 Mb/s.
    Long,
    /// 72 us of preamble at 1 Mb/s and 24 us of header at 2 Mb/s.
    Short,
}

impl Preamble {
    fn duration(self) -> Span {
        match self {
            Preamble::Long => Span::from_us(192),
            Preamble::Short => Span::from_us(96),
        }
    }
}

/// What describes a cell.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// Data rate: 1, 2, 5.5 or 11 Mb/s.
    pub rate_bps: u64,
    /// The rate of ACK frames.
    pub basic_rate_bps: u64,
    /// PLCP format of every frame.
    pub preamble: Preamble,
    /// The contention window, in slots.
    pub cw_min: u32,
    /// The queue of each end: those waiting, not the one in service.
    pub queue: QueueLimit,
    /// The largest packet.
    pub mtu_bytes: u32,
}

/// One end's queue and its right to the medium.
#[derive(Clone, Debug)]
struct Station {
    /// Arrival and packet; the first is next.
    queue: VecDeque<(Time, Packet)>,
    queue_bytes: u64,
    /// Slots still to count down, from DIFS after the medium fell idle.
    backoff_slots: u32,
    /// Since when the head of the queue contends, or will have when the own frame on the air is done.
    contends_since: Time,
    random: Stream,
    stats: LinkStats,
}

/// A frame exchange on the medium.
#[derive(Clone, Debug)]
struct Exchange {
    from: usize,
    packet: Option<Packet>,
    data_end: Time,
    end: Time,
}

/// The cell.
#[derive(Clone, Debug)]
pub struct Cell {
    config: CellConfig,
    stations: [Station; 2],
    exchange: Option<Exchange>,
    idle_since: Time,
    arrived: Option<(Attachment, Packet)>,
}

impl Cell {
    /// A silent cell; `stream(purpose)` gives the random streams of its ends.
    pub fn new(config: CellConfig, stream: impl Fn(&str) -> Stream) -> Cell {
        let station = |name: &str| Station {
            queue: VecDeque::new(),
            queue_bytes: 0,
            backoff_slots: 0,
            contends_since: Time::ZERO,
            random: stream(name),
            stats: LinkStats::default(),
        };
        Cell {
            config,
            stations: [station("access point/backoff"), station("station/backoff")],
            exchange: None,
            idle_since: Time::ZERO,
            arrived: None,
        }
    }

    /// Airtime of a frame of `bytes` at `rate_bps`, with preamble and PLCP header.
    fn airtime(&self, bytes: u32, rate_bps: u64) -> Span {
        self.config.preamble.duration() + Span::of_transmission(u64::from(bytes), rate_bps)
    }

    /// When this end may start its next frame if the medium stays idle until then.
    fn access_time(&self, station: usize) -> Option<Time> {
        let end = &self.stations[station];
        let &(ready, _) = end.queue.front()?;
        // Clause 9.2.5.1: at once when the medium has been idle for DIFS and no backoff is pending; a frame that
        // comes later than the countdown's end finds it so.
        let countdown_end = self.idle_since + DIFS + SLOT * u64::from(end.backoff_slots);
        Some(ready.max(countdown_end))
    }

    /// The end that gets the medium next, and when.
    fn next_access(&self) -> Option<(Time, usize)> {
        (0..2).filter_map(|station| Some((self.access_time(station)?, station))).min()
    }

    fn begin(&mut self, station: usize, now: Time) {
        // The other end freezes its countdown at the slots that have not passed (clause 9.2.5.2).
        let slots_passed =
            (now.since(self.idle_since + DIFS).as_ns() / SLOT.as_ns()).min(u64::from(u32::MAX));
        let other = &mut self.stations[1 - station];
        other.backoff_slots = other.backoff_slots.saturating_sub(slots_passed as u32);

        let Some((ready, packet)) = self.stations[station].queue.pop_front() else { return };
        let data = self.airtime(packet.size_bytes + FRAME_OVERHEAD_BYTES, self.config.rate_bps);
        let ack = self.airtime(ACK_BYTES, self.config.basic_rate_bps);
        let data_end = now + data;
        let cw_min = u64::from(self.config.cw_min);
        let end = &mut self.stations[station];
        end.queue_bytes -= u64::from(packet.size_bytes);
        end.stats.waiting += end.contends_since - ready;
        end.stats.busy += data + SIFS + ack;
        end.stats.sent_packets += 1;
        end.stats.sent_bytes += u64::from(packet.size_bytes);
        // Clause 9.2.5.2: a backoff follows every transmission, even when nothing is queued behind it.
        end.backoff_slots = end.random.below(cw_min + 1) as u32;
        self.exchange =
            Some(Exchange { from: station, packet: Some(packet), data_end, end: data_end + SIFS + ack });
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        match &self.exchange {
            Some(exchange) if exchange.packet.is_some() => Some(exchange.data_end),
            Some(exchange) => Some(exchange.end),
            None => self.next_access().map(|(time, _)| time),
        }
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        if let Some(exchange) = &mut self.exchange {
            if now >= exchange.data_end
                && let Some(packet) = exchange.packet.take()
            {
                self.stations[exchange.from].stats.delivered_packets += 1;
                self.arrived = Some((Attachment(1 - exchange.from as u32), packet));
            }
            if now < exchange.end {
                return;
            }
            self.idle_since = exchange.end;
            self.stations[exchange.from].contends_since = exchange.end;
            self.exchange = None;
        }
        if let Some((time, station)) = self.next_access()
            && time <= now
        {
            self.begin(station, now);
        }
    }
}

impl Link for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        let bytes = packet.size_bytes;
        let cw_min = u64::from(self.config.cw_min);
        let busy = self.exchange.is_some();
        let own = self.exchange.as_ref().is_some_and(|exchange| exchange.from == from.0 as usize);
        let idle_since = self.idle_since;
        let waiting = self.waiting_packets(from, now);
        let end = &mut self.stations[from.0 as usize];
        let first = end.queue.is_empty();
        // What is in service while it contends is at the head of the queue, and does not count as waiting.
        let in_service = end.queue.front().filter(|_| waiting < end.queue.len());
        let waiting_bytes =
            end.queue_bytes - in_service.map_or(0, |(_, packet)| u64::from(packet.size_bytes));
        let reason = if bytes > self.config.mtu_bytes {
            Some(DropReason::TooLarge)
        } else if (busy || !first) && !self.config.queue.admits(waiting, waiting_bytes, bytes) {
            Some(DropReason::QueueFull)
        } else {
            None
        };
        if let Some(reason) = reason {
            end.stats.dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        if first && busy && !own && end.backoff_slots == 0 {
            // Clause 9.2.5.1: a medium found busy means a backoff; after the own frame one is pending anyway.
            end.backoff_slots = end.random.below(cw_min + 1) as u32;
        } else if first && !busy && end.backoff_slots > 0 {
            // Slots counted down in silence before the frame came need not be counted again.
            let countdown_end = idle_since + DIFS + SLOT * u64::from(end.backoff_slots);
            if countdown_end <= now {
                end.backoff_slots = 0;
            }
        }
        if first && !own {
            end.contends_since = now;
        }
        end.queue.push_back((now, packet));
        end.queue_bytes += u64::from(bytes);
        let waiting = self.waiting_packets(from, now) as u64;
        let stats = &mut self.stations[from.0 as usize].stats;
        stats.max_waiting_packets = stats.max_waiting_packets.max(waiting);
        Ok(())
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.take()
    }

    fn packets_inside(&self) -> u64 {
        let on_air = self.exchange.as_ref().is_some_and(|exchange| exchange.packet.is_some());
        self.stations.iter().map(|end| end.queue.len() as u64).sum::<u64>()
            + u64::from(on_air)
            + u64::from(self.arrived.is_some())
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let end = &self.stations[from.0 as usize];
        let mut stats = end.stats;
        let waiting = self.waiting_packets(from, now);
        for (place, &(since, _)) in end.queue.iter().rev().enumerate() {
            // The first of the queue waits no longer once it contends.
            stats.waiting += if place < waiting { now - since } else { end.contends_since - since };
        }
        if let Some(exchange) = &self.exchange
            && exchange.from == from.0 as usize
        {
            stats.busy = stats.busy.saturating_sub(exchange.end - now);
        }
        stats
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        // The first of the queue is in service while it contends; otherwise the one on the air is.
        let on_air = self.exchange.as_ref().is_some_and(|exchange| exchange.from == from.0 as usize);
        self.stations[from.0 as usize].queue.len().saturating_sub(usize::from(!on_air))
    }

    fn senders(&self) -> Vec<Sender> {
        Sender::both()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::testing::{datagram, stream};

    fn cell(queue_packets: u32) -> Cell {
        let config = CellConfig {
            rate_bps: 11_000_000,
            basic_rate_bps: 2_000_000,
            preamble: Preamble::Long,
            cw_min: CW_MIN,
            queue: QueueLimit::Packets(queue_packets),
            mtu_bytes: 1500,
        };
        Cell::new(config, stream)
    }

    const STATION: Attachment = Attachment(1);
    const ACCESS_POINT: Attachment = Attachment(0);

    fn enqueue(cell: &mut Cell, now: Time, from: Attachment, bytes: u32) -> Result<(), Dropped> {
        cell.enqueue(&mut Context { now, random: &mut stream("cell") }, from, datagram(bytes))
    }

    /// Runs until nothing is left or `until`; returns arrivals.
    fn drain(cell: &mut Cell, until: Time) -> Vec<(Time, Attachment)> {
        let mut arrivals = Vec::new();
        while let Some(now) = cell.poll_timeout().filter(|&now| now <= until) {
            cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
            while let Some((to, _)) = cell.poll_delivery(now) {
                arrivals.push((now, to));
            }
        }
        arrivals
    }

    #[test]
    fn a_frame_on_a_silent_medium_goes_at_once() {
        let mut cell = cell(10);
        let start = Time::ZERO + Span::from_ms(1);
        assert_eq!(enqueue(&mut cell, start, STATION, 248), Ok(()));
        // 192 us and (248 + 36) * 8 = 2272 bits at 11 Mb/s: 206.545 us.
        let arrival = start + Span::from_ns(192_000 + 206_545);
        assert_eq!(drain(&mut cell, Time::MAX), [(arrival, ACCESS_POINT)]);
        // SIFS, then the ACK: 192 us and 112 bits at 2 Mb/s, 56 us.
        assert_eq!(cell.idle_since, arrival + Span::from_us(10 + 192 + 56));
    }

    #[test]
    fn a_saturated_station_spends_a_mean_backoff_of_half_the_window_on_each_frame() {
        let mut cell = cell(20_000);
        let n = 20_000;
        (0..n).for_each(|_| assert_eq!(enqueue(&mut cell, Time::ZERO, STATION, 1500), Ok(())));
        let arrivals = drain(&mut cell, Time::MAX);
        let mean_us = (arrivals[n - 1].0 - arrivals[0].0).as_secs_f64() * 1e6 / (n - 1) as f64;
        // DIFS 50 + 15.5 slots of 20 = 310 + 192 + 1536 * 8 / 11 = 1117.09 + SIFS 10 + ACK 248: 1927.09 us.
        // The backoff's standard deviation is 9.23 slots = 185 us: 1.3 us for the mean of 20,000.
        assert!((mean_us - 1927.09).abs() < 4.0, "{mean_us}");
    }

    #[test]
    fn two_saturated_ends_share_the_medium() {
        let mut cell = cell(5000);
        for _ in 0..4000 {
            assert_eq!(enqueue(&mut cell, Time::ZERO, STATION, 1000), Ok(()));
            assert_eq!(enqueue(&mut cell, Time::ZERO, ACCESS_POINT, 1000), Ok(()));
        }
        let arrivals = drain(&mut cell, Time::ZERO + Span::from_secs(4));
        let to_station = arrivals.iter().filter(|(_, to)| *to == STATION).count() as f64;
        let share = to_station / arrivals.len() as f64;
        assert!((0.45..0.55).contains(&share), "{share} of {}", arrivals.len());
        assert_eq!(cell.packets_inside() + arrivals.len() as u64, 8000);
    }

    #[test]
    fn the_queue_counts_those_waiting_not_the_one_in_service() {
        let mut cell = cell(1);
        let outcomes: Vec<_> = (0..3).map(|_| enqueue(&mut cell, Time::ZERO, STATION, 500)).collect();
        let full = Err(Dropped { reason: DropReason::QueueFull, at: Time::ZERO });
        assert_eq!(outcomes, [Ok(()), Ok(()), full]);

        let mut cell = self::cell(1);
        cell.config.queue = QueueLimit::Bytes(500);
        let outcomes: Vec<_> = (0..3).map(|_| enqueue(&mut cell, Time::ZERO, STATION, 500)).collect();
        assert_eq!(outcomes, [Ok(()), Ok(()), full]);
    }
}
