//! An abstract radio cell: a base station and its stations, each at a place that is a function of time.
//!
//! Attachments are those of every link with stations (see [`super::stations`]). A packet that the base
//! station sends by sub-interface i goes to station i alone, so the attachment that a packet comes from says
//! where it goes.
//!
//! Full duplex: the base station has one transmitter and one queue for all that it sends, each station has
//! its own. A packet takes its transmission time at the cell's rate and then the propagation delay: the
//! distance between the two at the instant of the last bit, over the speed of light, or a given constant.
//! Whether it survives is decided for the same distance (see [`coverage`]). As on a wire, all of this is
//! known when the packet is queued.
//!
//! Draws: the n-th packet of a direction (to one station, from one station, broadcasts to one station,
//! beacons to one station) meets the n-th draw of that direction's stream, wherever the station is then.
//!
//! Broadcasts do not come through [`Carrier::enqueue`] but through [`Stations::broadcast`], because their
//! copies have to enter the network's account: use `Network::broadcast`. Only stations in reach get a copy.
//!
//! Beacons and the link events that come of them: [`beacons`].
//!
//! Not modelled: contention (each transmitter has a channel of its own), interference between cells, frames
//! and their overhead, retransmission by the link, power.

pub mod beacons;
pub mod coverage;
mod sending;

use self::beacons::{BeaconConfig, Beacons, Hearing};
use self::coverage::Coverage;
use self::sending::{Managed, Sending};
use super::indication::{Indication, LinkEvent};
use super::stations::account::{Path, Toward};
use super::stations::confidence::Confidence;
use super::stations::{BroadcastCopy, Stations};
use super::{Attachment, Carrier, Link, LinkStats, Sender};
use crate::drops::{DropReason, Dropped};
use crate::mobility::Trajectory;
use crate::packet::{Packet, PacketId};
use crate::queue::transmitter::Transmitter;
use crate::queue::{Queue, QueueLimit, Rule};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The speed of light in vacuum, in metres a second (exact: SI Brochure, 9th edition, section 2.2).
pub const SPEED_OF_LIGHT_M_PER_S: f64 = 299_792_458.0;

/// The base station's broadcast interface.
pub const BROADCAST: Attachment = Attachment(0);

/// What describes a cell.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// Bits per second of every transmitter.
    pub rate_bps: u64,
    /// Propagation; `None`: by distance, at the speed of light.
    pub delay: Option<Span>,
    /// The queue of every transmitter: those waiting, not the one in service.
    pub queue: QueueLimit,
    /// The discipline of the queues. Under another than drop-tail what is for all does not wait in them: it
    /// is sent behind the packet in service, and as much of it waits as a queue has room for.
    pub rule: Rule,
    /// The largest packet.
    pub mtu_bytes: u32,
    /// What is lost at which distance.
    pub coverage: Coverage,
    /// How the base station makes itself known.
    pub beacons: BeaconConfig,
}

/// One station in the cell.
#[derive(Debug)]
struct Station {
    trajectory: Trajectory,
    uplink: Sending,
    path: Path,
    hearing: Hearing,
    confidence: Confidence,
    /// Its radio here is off.
    off: bool,
    downlink_draws: Stream,
    uplink_draws: Stream,
    broadcast_draws: Stream,
    beacon_draws: Stream,
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    base_station: Trajectory,
    downlink: Sending,
    stations: Vec<Station>,
    beacons: Beacons,
    /// In the air: by arrival, and then in the order of sending.
    flying: BTreeMap<(Time, u64), (Attachment, Packet)>,
    sent: u64,
    /// What was on its way to a radio, or from one, that was switched off; what managed queues have dropped,
    /// or was lost once it was sent: until it is told.
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// By attachment.
    stats: Vec<LinkStats>,
}

/// A packet's fate in the air.
enum Fate {
    Arrives(Time),
    Lost(DropReason),
}

impl Cell {
    /// A silent cell of a base station and its stations; `stream(station, purpose)` gives the random streams.
    pub fn new(
        config: CellConfig,
        base_station: Trajectory,
        stations: Vec<Trajectory>,
        stream: impl Fn(usize, &str) -> Stream,
    ) -> Cell {
        let attachments = 1 + 2 * stations.len();
        // Of the base station's sub-interfaces, or of a station; the random numbers are those of the queue.
        let sending = |of: Range<usize>, random: Stream| match config.rule {
            Rule::DropTail => Sending::Booked(Transmitter::new(config.rate_bps, config.queue)),
            rule => {
                let discipline = rule.discipline(config.queue, random);
                Sending::Managed(Managed::new(
                    config.rate_bps,
                    discipline,
                    config.queue,
                    of.start as u32..of.end as u32,
                ))
            }
        };
        let count = stations.len();
        let station = |(number, trajectory)| Station {
            trajectory,
            uplink: sending(1 + count + number..2 + count + number, stream(number, "uplink queue")),
            path: Path::default(),
            hearing: Hearing::default(),
            confidence: Confidence::default(),
            off: false,
            downlink_draws: stream(number, "downlink"),
            uplink_draws: stream(number, "uplink"),
            broadcast_draws: stream(number, "broadcast"),
            beacon_draws: stream(number, "beacon"),
        };
        Cell {
            beacons: Beacons::new(config.beacons),
            base_station,
            // The first station's name stands for the base station's queue.
            downlink: sending(1..1 + count.max(1), stream(0, "downlink queue")),
            stations: stations.into_iter().enumerate().map(station).collect(),
            config,
            flying: BTreeMap::new(),
            sent: 0,
            dropped: VecDeque::new(),
            stats: vec![LinkStats::default(); attachments],
        }
    }

    /// How many stations the cell has.
    pub fn station_count(&self) -> u32 {
        self.stations.len() as u32
    }

    /// A station's own place.
    pub fn station_interface(&self, station: u32) -> Attachment {
        Attachment(1 + self.station_count() + station)
    }

    /// The distance between base station and station, in metres.
    pub fn distance_m(&self, station: u32, at: Time) -> f64 {
        self.stations[station as usize].trajectory.distance_m(at, self.base_station.position(at))
    }

    /// Whether a station is within the cell's radius.
    pub fn in_reach(&self, station: u32, at: Time) -> bool {
        self.distance_m(station, at) <= self.config.coverage.radius_m()
    }

    fn sending(&self, from: Attachment) -> &Sending {
        match from.0.checked_sub(1 + self.station_count()) {
            None => &self.downlink,
            Some(station) => &self.stations[station as usize].uplink,
        }
    }

    /// Gives a packet its time on the transmitter of an attachment, without a queue under another discipline
    /// than drop-tail; returns its departure.
    fn book(&mut self, now: Time, from: Attachment, bytes: u32) -> Result<Time, Dropped> {
        let sending = match from.0.checked_sub(1 + self.station_count()) {
            None => &mut self.downlink,
            Some(station) => &mut self.stations[station as usize].uplink,
        };
        let stats = &mut self.stats[from.0 as usize];
        let reason = if bytes > self.config.mtu_bytes {
            DropReason::TooLarge
        } else {
            match sending {
                Sending::Managed(managed) => match managed.interject(now, from, bytes, &mut self.stats) {
                    Some(departure) => return Ok(departure),
                    None => DropReason::QueueFull,
                },
                Sending::Booked(transmitter) => match transmitter.book(now, bytes, from) {
                    Some(service) => {
                        stats.booked(now, service, bytes, || transmitter.ahead(now, |of| of == from).packets);
                        return Ok(service.end);
                    }
                    None => DropReason::QueueFull,
                },
            }
        };
        self.stats[from.0 as usize].dropped_packets += 1;
        Err(Dropped { reason, at: now })
    }

    /// The transmitter of an attachment, where its queue is under another discipline than drop-tail, and all
    /// accounts.
    fn managed(&mut self, from: Attachment) -> Option<(&mut Managed, &mut [LinkStats])> {
        let sending = match from.0.checked_sub(1 + self.station_count()) {
            None => &mut self.downlink,
            Some(station) => &mut self.stations[station as usize].uplink,
        };
        match sending {
            Sending::Booked(_) => None,
            Sending::Managed(managed) => Some((managed, &mut self.stats)),
        }
    }

    /// Takes a packet into a managed queue, and sends what can be sent.
    fn enqueue_managed(&mut self, now: Time, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        self.serve(now, from);
        let too_large = packet.size_bytes > self.config.mtu_bytes;
        let refused = match self.managed(from) {
            _ if too_large => Some((packet, DropReason::TooLarge)),
            None => None,
            Some((managed, _)) => managed.enqueue(now, from, packet).err(),
        };
        if let Some((packet, reason)) = refused {
            let dropped = Dropped { reason, at: now };
            self.stats[from.0 as usize].dropped_packets += 1;
            self.note_lost(from, &packet, dropped);
            return Err(dropped);
        }
        self.serve(now, from);
        Ok(())
    }

    /// Sends what the managed queue of an attachment has for its transmitter.
    fn serve(&mut self, now: Time, of: Attachment) {
        while let Some((from, packet, departure)) =
            self.managed(of).and_then(|(managed, stats)| managed.next(now, stats))
        {
            let (kept, outcome) = (packet.clone(), self.depart(from, packet, departure));
            if let Err(dropped) = outcome {
                self.note_lost(from, &kept, dropped);
                self.dropped.push_back((from, kept, dropped));
            }
        }
        while let Some((waiting, reason)) =
            self.managed(of).and_then(|(managed, _)| managed.queue.poll_drop(now))
        {
            let dropped = Dropped { reason, at: now };
            self.stats[waiting.from.0 as usize].dropped_packets += 1;
            self.note_lost(waiting.from, &waiting.packet, dropped);
            self.dropped.push_back((waiting.from, waiting.packet, dropped));
        }
    }

    /// What waits in the managed queue of an attachment, to or from a radio that is off now, is dropped.
    #[cold]
    fn withdraw(&mut self, now: Time, from: Attachment) {
        let waiting = self.managed(from).map_or(Vec::new(), |(managed, _)| managed.queue.withdraw(now, from));
        for packet in waiting {
            let dropped = Dropped { reason: DropReason::NotAssociated, at: now };
            self.stats[from.0 as usize].dropped_packets += 1;
            self.note_lost(from, &packet, dropped);
            self.dropped.push_back((from, packet, dropped));
        }
    }

    /// What becomes of a packet whose last bit is sent at `departure`.
    #[inline(always)] // Managed queues call it too, and would have it stand apart from those that book.
    fn depart(&mut self, from: Attachment, packet: Packet, departure: Time) -> Result<(), Dropped> {
        let (station, toward) = self.direction(from);
        let distance_m = self.distance_m(station, departure);
        let to = match toward {
            Toward::Station => self.station_interface(station),
            Toward::BaseStation => self.sub_interface(station),
        };
        let here = &mut self.stations[station as usize];
        let draws = match toward {
            Toward::Station => &mut here.downlink_draws,
            Toward::BaseStation => &mut here.uplink_draws,
        };
        let off = here.off;
        match fate(&self.config, draws, distance_m, departure, packet.size_bytes) {
            Fate::Arrives(_) if off => {
                self.stats[from.0 as usize].dropped_packets += 1;
                Err(Dropped { reason: DropReason::NotAssociated, at: departure })
            }
            Fate::Arrives(arrival) => {
                self.fly(arrival, to, packet);
                Ok(())
            }
            Fate::Lost(reason) => {
                self.stats[from.0 as usize].dropped_packets += 1;
                Err(Dropped { reason, at: departure })
            }
        }
    }

    /// Notes a loss for the account of the station's path.
    fn note_lost(&mut self, from: Attachment, packet: &Packet, dropped: Dropped) {
        if packet.is_of_a_flow() {
            let (station, toward) = self.direction(from);
            self.stations[station as usize].path.lost(dropped, toward, packet.carried());
        }
    }

    fn fly(&mut self, arrival: Time, to: Attachment, packet: Packet) {
        self.flying.insert((arrival, self.sent), (to, packet));
        self.sent += 1;
    }

    /// Who sends to an attachment, other than to all.
    fn sender_to(&self, to: Attachment) -> Attachment {
        match self.direction(to) {
            (station, Toward::BaseStation) => self.sub_interface(station),
            (station, Toward::Station) => self.station_interface(station),
        }
    }

    /// Where the account has a packet on its way to an attachment: at who sends it, which for copies of the
    /// base station's broadcasts is [`BROADCAST`].
    fn counted_at(&self, to: Attachment, packet: &Packet) -> Attachment {
        let sender = self.sender_to(to);
        match self.direction(sender) {
            (_, Toward::Station) if packet.is_broadcast() => BROADCAST,
            _ => sender,
        }
    }

    /// The station of an attachment other than [`BROADCAST`], and which way packets from it go.
    fn direction(&self, from: Attachment) -> (u32, Toward) {
        match (from.0 - 1).checked_sub(self.station_count()) {
            None => (from.0 - 1, Toward::Station),
            Some(station) => (station, Toward::BaseStation),
        }
    }
}

/// What becomes of a packet that leaves at `departure` over `distance_m`. Draws once.
fn fate(config: &CellConfig, draws: &mut Stream, distance_m: f64, departure: Time, bytes: u32) -> Fate {
    let probability = config.coverage.loss_probability(distance_m, bytes);
    // The draw comes in any case, so that a stay out of reach does not shift the numbering of the packets.
    let lost = draws.bernoulli(probability.unwrap_or(1.0));
    match probability {
        None => Fate::Lost(DropReason::OutOfReach),
        Some(_) if lost => Fate::Lost(DropReason::Loss),
        Some(_) => {
            let by_distance = || Span::from_secs_f64(distance_m / SPEED_OF_LIGHT_M_PER_S);
            Fate::Arrives(departure + config.delay.unwrap_or_else(by_distance))
        }
    }
}

impl Stations for Cell {
    fn sub_interface(&self, station: u32) -> Attachment {
        Attachment(1 + station)
    }

    fn broadcast_interface(&self, _station: u32) -> Attachment {
        BROADCAST
    }

    fn reach_m(&self) -> Option<f64> {
        Some(self.config.coverage.radius_m())
    }

    fn associate(&mut self, _now: Time, station: u32) -> Option<LinkEvent> {
        self.stations[station as usize].hearing.associate()
    }

    fn leave(&mut self, _now: Time, station: u32) -> Option<LinkEvent> {
        self.stations[station as usize].hearing.leave()
    }

    fn await_confidence(&mut self, station: u32, percent: u8) {
        self.stations[station as usize].confidence.await_percent(percent);
    }

    /// What was queued or in the air for it, or from it, is dropped.
    fn switch(&mut self, now: Time, station: u32, on: bool) {
        self.stations[station as usize].off = !on;
        if on {
            return;
        }
        let ends = [self.station_interface(station), self.sub_interface(station)];
        // Packets are taken out of the air one by one at one place alone, `poll_delivery`, so that it goes
        // inline.
        let (lost, flying) =
            std::mem::take(&mut self.flying).into_iter().partition(|(_, (to, _))| ends.contains(to));
        self.flying = flying;
        for (to, packet) in BTreeMap::into_values(lost) {
            let from = self.counted_at(to, &packet);
            self.stats[from.0 as usize].dropped_packets += 1;
            let dropped = Dropped { reason: DropReason::NotAssociated, at: now };
            if from != BROADCAST {
                let (_, toward) = self.direction(from);
                self.stations[station as usize].path.lost(dropped, toward, packet.carried());
            }
            self.dropped.push_back((from, packet, dropped));
        }
        ends.into_iter().for_each(|from| self.withdraw(now, from));
    }

    fn broadcast(
        &mut self,
        now: Time,
        _from: Attachment,
        packet: &Packet,
        next_id: u64,
    ) -> Result<Vec<BroadcastCopy>, Dropped> {
        let departure = self.book(now, BROADCAST, packet.size_bytes)?;
        let mut copies = Vec::new();
        for station in 0..self.station_count() {
            let distance_m = self.distance_m(station, departure);
            let draws = &mut self.stations[station as usize].broadcast_draws;
            let id = match copies.len() as u64 {
                0 => packet.id,
                more => PacketId(next_id + more - 1),
            };
            match fate(&self.config, draws, distance_m, departure, packet.size_bytes) {
                Fate::Arrives(_) if self.stations[station as usize].off => {}
                Fate::Arrives(arrival) => {
                    self.fly(arrival, self.station_interface(station), Packet { id, ..packet.clone() });
                    copies.push((id, None));
                }
                Fate::Lost(DropReason::Loss) => {
                    self.stats[BROADCAST.0 as usize].dropped_packets += 1;
                    copies.push((id, Some(Dropped { reason: DropReason::Loss, at: departure })));
                }
                Fate::Lost(_) => {}
            }
        }
        if copies.is_empty() {
            self.stats[BROADCAST.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason: DropReason::OutOfReach, at: departure });
        }
        Ok(copies)
    }

    fn path(&self, station: u32) -> &Path {
        &self.stations[station as usize].path
    }

    fn path_mut(&mut self, station: u32) -> &mut Path {
        &mut self.stations[station as usize].path
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        let arrival = self.flying.first_key_value().map(|(&(arrival, _), _)| arrival);
        let told = self.dropped.iter().map(|(.., dropped)| dropped.at).min();
        if self.config.rule == Rule::DropTail {
            return arrival.into_iter().chain(told).min();
        }
        let uplinks = self.stations.iter().map(|station| &station.uplink);
        let wakes = uplinks.chain([&self.downlink]).filter_map(|sending| match sending {
            Sending::Booked(_) => None,
            Sending::Managed(managed) => managed.wakes(),
        });
        arrival.into_iter().chain(told).chain(wakes).min()
    }

    /// Serves managed queues; arrivals are taken with `poll_delivery`.
    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        if self.config.rule != Rule::DropTail {
            self.serve(cx.now, self.sub_interface(0));
            for station in 0..self.station_count() {
                self.serve(cx.now, self.station_interface(station));
            }
        }
    }
}

impl Carrier for Cell {
    /// Takes a packet from a station or from a sub-interface of the base station.
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        if let Sending::Managed(_) = self.sending(from) {
            return self.enqueue_managed(cx.now, from, packet);
        }
        let (station, toward) = self.direction(from);
        let carried = packet.carried();
        let booked = self.book(cx.now, from, packet.size_bytes);
        let outcome = booked.and_then(|departure| self.depart(from, packet, departure));
        if let Err(dropped) = outcome {
            self.stations[station as usize].path.lost(dropped, toward, carried);
        }
        outcome
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn may_have_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn poll_delivery(&mut self, now: Time) -> Option<(Attachment, Packet)> {
        let first = self.flying.first_entry().filter(|entry| entry.key().0 <= now)?;
        let (to, packet) = first.remove();
        let (station, toward) = self.direction(self.sender_to(to));
        let from = self.counted_at(to, &packet);
        self.stats[from.0 as usize].delivered_packets += 1;
        if packet.is_of_a_flow() {
            self.stations[station as usize].path.arrived(now, toward);
        }
        Some((to, packet))
    }
}

impl Link for Cell {
    fn link_type(&self) -> LinkType {
        LinkType::WIRELESS_OTHER
    }

    fn next_indication(&self) -> Option<Time> {
        Some(self.next_beacon())
    }

    fn poll_indication(&mut self, now: Time) -> Option<Indication> {
        self.poll_beacons(now)
    }

    fn packets_inside(&self) -> u64 {
        let uplinks = self.stations.iter().map(|station| &station.uplink);
        let waiting = uplinks.chain([&self.downlink]).map(|sending| match sending {
            // A packet that waits is known to fly, or is gone.
            Sending::Booked(_) => 0,
            Sending::Managed(managed) => managed.queue.length().packets,
        });
        (self.flying.len() + self.dropped.len() + waiting.sum::<usize>()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let stats = self.stats[from.0 as usize];
        match self.sending(from) {
            Sending::Booked(transmitter) => stats.up_to_now(transmitter.ahead(now, |of| of == from)),
            Sending::Managed(managed) => managed.stats(from, now, stats),
        }
    }

    fn booked_stats(&self, from: Attachment, now: Time) -> LinkStats {
        let stats = self.stats[from.0 as usize];
        match self.sending(from) {
            Sending::Booked(_) => stats,
            Sending::Managed(managed) => managed.stats(from, now, stats),
        }
    }

    fn waiting_packets(&self, from: Attachment, now: Time) -> usize {
        match self.sending(from) {
            Sending::Booked(transmitter) => transmitter.ahead(now, |of| of == from).packets,
            // What is for all does not wait.
            Sending::Managed(_) if from == BROADCAST => 0,
            Sending::Managed(managed) => managed.queue.waiting_packets(from),
        }
    }

    fn forget_longest(&mut self, now: Time) {
        for Sender { from, .. } in self.senders() {
            self.stats[from.0 as usize].max_waiting_packets = self.waiting_packets(from, now) as u64;
        }
        let uplinks = self.stations.iter_mut().map(|station| &mut station.uplink);
        for sending in std::iter::once(&mut self.downlink).chain(uplinks) {
            if let Sending::Managed(managed) = sending {
                managed.queue.forget_longest();
            }
        }
    }

    fn queues(&self, from: Attachment) -> Vec<&Queue> {
        match self.sending(from) {
            // What is for all does not wait in it.
            Sending::Managed(managed) if from != BROADCAST => vec![&managed.queue],
            _ => Vec::new(),
        }
    }

    fn senders(&self) -> Vec<Sender> {
        let pairs = (0..self.station_count()).map(|n| (self.sub_interface(n), self.station_interface(n)));
        let both = pairs.flat_map(|(down, up)| [(down, Some(up)), (up, Some(down))]);
        let broadcasts = self.stats[BROADCAST.0 as usize].sent_packets > 0;
        both.chain(broadcasts.then_some((BROADCAST, None))).map(|(from, to)| Sender { from, to }).collect()
    }

    fn is_broadcast(&self, from: Attachment) -> bool {
        from == BROADCAST
    }

    fn stations(&self) -> Option<&dyn Stations> {
        Some(self)
    }

    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
