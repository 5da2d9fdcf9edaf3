//! IEEE Std 802.16-2004, WirelessMAN-OFDM: a base station and its stations, point to multipoint, by time division.
//!
//! A frame is a downlink and an uplink subframe. The base station schedules both at its begin: it tells by the maps who may
//! send when. Frame n begins at n times the frame duration. What has come by then goes into its downlink bursts; an uplink
//! burst takes what its station holds when it begins. A packet arrives at the end of the symbol that has its last octet.
//!
//! Attachments: the base station has a sub-interface a station, the stations follow.
//!
//! Modelled: symbols, preambles, FCH and maps; burst profiles, with a burst for all stations of one profile on the downlink; MAC
//! PDUs with header and CRC, fragmentation; best effort connections, which contend for request opportunities and then ask with
//! their data; unsolicited grants; round robin, by packets on the downlink and by symbols on the uplink.
//!
//! A file a subject: [`phy`] has symbols and the layout of a frame, [`pdu`] sizes, `connection` packets and their PDUs,
//! `contention` requests, `schedule` and `frame` what is in a frame, `uplink` bursts and requests of stations.
//!
//! A frame is worked out if the base station has something to send or to grant; requests and unsolicited bursts in other frames
//! are steps of their own, and the rest costs nothing.
//!
//! Not modelled: propagation (500 m take 1.7 us, which ranging evens out), the time that stations need to read a map, packing,
//! ARQ, header suppression, encryption, subchannels, several connections of a station each way, FDD, mesh.

mod account;
mod config;
mod connection;
mod contention;
mod frame;
pub mod pdu;
pub mod phy;
mod schedule;
mod uplink;

pub use self::account::{CellTime, StationStats};
pub use self::config::{CellConfig, Service, StationConfig};
pub use self::contention::ContentionConfig;

use self::connection::Connection;
use self::contention::Contention;
use super::{Attachment, DropReason, Dropped, Link, LinkStats, Sender};
use crate::packet::Packet;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A frame begins.
    Frame(u64),
    /// A request opportunity begins.
    Opportunity(u64),
    /// An uplink burst begins.
    Burst(Burst),
    /// T16 of a station may have expired.
    Timer(u32),
}

/// An uplink burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Burst {
    station: u32,
    frame: u64,
    /// Its preamble, among the symbols of the uplink subframe.
    first_symbol: u32,
    /// Its symbols, preamble included.
    symbols: u32,
}

/// A station, and what the base station holds for it.
#[derive(Debug)]
struct Station {
    config: StationConfig,
    downlink: Connection,
    uplink: Connection,
    contention: Contention,
    draws: Stream,
    /// When the step that looks at T16 comes.
    timer: Option<Time>,
    /// What the base station knows that it wants, in octets.
    requested_bytes: u64,
    stats: StationStats,
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    stations: Vec<Station>,
    /// Stations with unsolicited grants.
    unsolicited: Vec<u32>,
    /// Whose turn it is on the downlink, and on the uplink.
    turns: [u32; 2],
    agenda: BinaryHeap<Reverse<(Time, u64, Step)>>,
    steps: u64,
    /// By opportunity, who uses it.
    requests: BTreeMap<u64, Vec<u32>>,
    /// The first frame that has not been worked out or left out.
    next_frame: u64,
    /// Whether a frame is to be worked out.
    frame_pending: bool,
    /// On their way, in order of arrival.
    flying: VecDeque<(Time, Attachment, Packet)>,
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// By attachment.
    stats: Vec<LinkStats>,
    time: CellTime,
}

impl Cell {
    /// A silent cell; `stream(station, purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(usize, &str) -> Stream) -> Cell {
        let count = config.stations.len() as u32;
        let station = |(number, &own): (u32, &StationConfig)| Station {
            config: own,
            downlink: Connection::new(Attachment(number), config.queue),
            uplink: Connection::new(Attachment(count + number), config.queue),
            contention: Contention::new(config.contention),
            draws: stream(number as usize, "requests"),
            timer: None,
            requested_bytes: 0,
            stats: StationStats::default(),
        };
        let is_unsolicited = |station: &u32| {
            matches!(config.stations[*station as usize].service, Service::UnsolicitedGrant { .. })
        };
        Cell {
            stations: (0..).zip(&config.stations).map(station).collect(),
            unsolicited: (0..count).filter(is_unsolicited).collect(),
            turns: [0; 2],
            agenda: BinaryHeap::new(),
            steps: 0,
            requests: BTreeMap::new(),
            next_frame: 0,
            frame_pending: false,
            flying: VecDeque::new(),
            dropped: VecDeque::new(),
            stats: vec![LinkStats::default(); 2 * count as usize],
            time: CellTime::default(),
            config,
        }
    }

    /// How many stations it has.
    pub fn station_count(&self) -> u32 {
        self.stations.len() as u32
    }

    /// The base station's sub-interface to a station, and the station's own.
    pub fn attachments_of(&self, station: u32) -> (Attachment, Attachment) {
        (Attachment(station), Attachment(self.station_count() + station))
    }

    /// What the symbols of its frames were used for; up to the end once the run is over.
    pub fn time(&self) -> CellTime {
        self.time
    }

    /// What describes it.
    pub fn config(&self) -> &CellConfig {
        &self.config
    }

    /// What a station did.
    pub fn station_stats(&self, station: u32) -> StationStats {
        self.stations[station as usize].stats
    }

    /// The station of an attachment, and whether it is the station's own.
    fn station_at(&self, at: Attachment) -> (usize, bool) {
        match at.0.checked_sub(self.station_count()) {
            None => (at.0 as usize, false),
            Some(station) => (station as usize, true),
        }
    }

    fn connection(&self, from: Attachment) -> &Connection {
        match self.station_at(from) {
            (station, false) => &self.stations[station].downlink,
            (station, true) => &self.stations[station].uplink,
        }
    }

    fn at(&mut self, time: Time, step: Step) {
        self.agenda.push(Reverse((time, self.steps, step)));
        self.steps += 1;
    }

    fn frame_start(&self, frame: u64) -> Time {
        Time::ZERO + self.config.layout.duration * frame
    }

    /// The frame in which an instant lies.
    fn frame_of(&self, now: Time) -> u64 {
        now.as_ns() / self.config.layout.duration.as_ns()
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        let arrival = self.flying.front().map(|(at, ..)| *at);
        let step = self.agenda.peek().map(|Reverse((at, ..))| *at);
        [arrival, step].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        while let Some(&Reverse((at, _, step))) = self.agenda.peek()
            && at <= now
        {
            self.agenda.pop();
            match step {
                Step::Frame(frame) => self.work_out(now, frame),
                Step::Opportunity(opportunity) => self.request(now, opportunity),
                Step::Burst(burst) => self.send_burst(now, burst),
                Step::Timer(station) => self.timer_expires(now, station),
            }
        }
    }
}

impl Link for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        let (station, of_station) = self.station_at(from);
        let own = &mut self.stations[station];
        let connection = if of_station { &mut own.uplink } else { &mut own.downlink };
        let taken = match packet.size_bytes > self.config.mtu_bytes {
            true => Err(DropReason::TooLarge),
            false => connection.enqueue(now, from, packet),
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        if of_station {
            self.wants_to_send(now, station as u32);
        } else {
            self.want_frame(now);
        }
        Ok(())
    }

    fn poll_delivery(&mut self, now: Time) -> Option<(Attachment, Packet)> {
        let (_, to, packet) = self.flying.pop_front_if(|(at, ..)| *at <= now)?;
        let (down, up) = self.attachments_of(self.station_at(to).0 as u32);
        let from = if to == up { down } else { up };
        self.stats[from.0 as usize].delivered_packets += 1;
        Some((to, packet))
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn finish(&mut self, end: Time) {
        self.leave_out_until(self.frame_of(end) + 1);
    }

    fn link_type(&self) -> LinkType {
        LinkType::IEEE_802_16
    }

    fn packets_inside(&self) -> u64 {
        let held = |station: &Station| station.downlink.packets() + station.uplink.packets();
        let held: usize = self.stations.iter().map(held).sum();
        (held + self.flying.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let queue = self.connection(from).queue();
        LinkStats {
            waiting: queue.waited(from, now),
            max_waiting_packets: queue.max_packets(from) as u64,
            ..self.stats[from.0 as usize]
        }
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        self.connection(from).queue().waiting_packets(from)
    }

    fn senders(&self) -> Vec<Sender> {
        let both = |(down, up)| [(down, up), (up, down)];
        let pairs = (0..self.station_count()).map(|station| self.attachments_of(station)).flat_map(both);
        pairs.map(|(from, to)| Sender { from, to: Some(to) }).collect()
    }
}

#[cfg(test)]
mod tests;
