//! IEEE Std 802.16-2004, WirelessMAN-OFDM: a base station and its stations, point to multipoint, by time division.
//!
//! A frame is a downlink and an uplink subframe. The base station schedules both at its begin: it tells by the maps who may
//! send when. Frame n begins at n times the frame duration. What has come by then goes into its downlink bursts; an uplink
//! burst takes what its station holds when it begins. A packet arrives at the end of the symbol that has its last octet.
//!
//! Attachments: the base station has a sub-interface a station, the stations follow. In a cell that stations enter, the base station's
//! broadcast interface comes first.
//!
//! Modelled: symbols, preambles, FCH and maps; burst profiles, with a burst for all stations of one profile on the downlink; MAC
//! PDUs with header and CRC, fragmentation; best effort connections, which contend for request opportunities and then ask with
//! their data; unsolicited grants; polls, of rtPS and nrtPS; by rank of the service, UGS before rtPS, nrtPS and best effort, round robin by
//! packets on the downlink and by symbols on the uplink.
//!
//! Which bursts are understood goes by a radius, or by signal over noise (`radio`), by which burst profiles may adapt (`adaptation`).
//!
//! A file a subject: [`phy`] has symbols and the layout of a frame, [`pdu`] sizes, `connection` packets and their PDUs,
//! `contention` requests, `schedule` and `frame` what is in a frame, `uplink` bursts and requests of stations; `management` messages,
//! `entry` the station's part of network entry, `admission` the base station's, `joining` both in the cell, `association` what handovers
//! ask.
//!
//! A frame is worked out if the base station has something to send or to grant; requests and unsolicited bursts in other frames
//! are steps of their own, and the rest costs nothing.
//!
//! Not modelled: propagation (500 m take 1.7 us, which ranging evens out), the time that stations need to read a map, packing,
//! ARQ, header suppression, encryption, subchannels, several connections of a station each way, FDD, mesh.

mod account;
mod adaptation;
mod admission;
mod association;
mod config;
mod connection;
mod contention;
mod entry;
mod frame;
mod joining;
mod management;
pub mod pdu;
pub mod phy;
mod radio;
mod schedule;
mod uplink;

pub use self::account::{CellTime, StationStats};
pub use self::adaptation::ProfileChange;
use self::config::RANKS;
pub use self::config::{CellConfig, CellEntry, Service, StationConfig};
pub use self::contention::ContentionConfig;
pub use self::entry::{EntryConfig, Timers};
pub use self::management::{Flow, LONGEST_FROM_STATION_BYTES, LONGEST_TO_STATION_BYTES, Message};
pub use self::radio::{Adaptation, RadioConfig, THRESHOLDS_DB};

use self::connection::Connection;
use self::contention::Contention;
use self::joining::Joining;
use self::phy::BurstProfile;
use self::radio::Reaches;
use super::indication::Indication;
use super::stations::Stations;
use super::stations::account::{Lost, Toward};
use super::{Attachment, DropReason, Dropped, Link, LinkStats, Sender};
use crate::packet::{Packet, PacketId};
use roamsim_engine::{Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// The base station's broadcast interface, where stations enter.
const BROADCAST: Attachment = Attachment(0);

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A frame begins.
    Frame(u64),
    /// A request opportunity begins.
    Opportunity(u64),
    /// An uplink burst begins that was asked for.
    Burst(Burst),
    /// An unsolicited burst begins that a station waits for, or a frame in which one may.
    Unsolicited(u32),
    /// T16 of a station may have expired.
    Timer(u32),
    /// A timer of a station's entry may have expired.
    Entry(u32),
    /// A timer of the base station for a station may have expired.
    Admission(u32),
    /// A frame begins while a station listens.
    Preamble(u32),
    /// A station hears maps and descriptors.
    Maps(u32),
    /// A ranging opportunity begins.
    Ranging(u64),
    /// The base station hears a message of a station.
    Heard(u32, Message),
    /// A message comes to a station.
    Told(u32, Message),
    /// A report of a station's link is due.
    Report(u32),
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
    /// What the map told of it.
    profile: BurstProfile,
    /// It was not asked for.
    unsolicited: bool,
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
    /// When the unsolicited burst comes that it waits for, or when it looks for one.
    unsolicited: Option<Time>,
    /// What the base station knows that it wants, in octets.
    requested_bytes: u64,
    /// The last frame with a grant for it.
    granted: Option<u64>,
    /// Why bursts to it are lost in the frame that begins at this instant.
    understands: Option<(Time, Option<DropReason>)>,
    /// Where it enters the network.
    joining: Option<Box<Joining>>,
    stats: StationStats,
}

impl Station {
    /// The octets of its management messages.
    fn messages_bytes(&self) -> u64 {
        let messages = self.joining.iter().flat_map(|joining| &joining.from_station);
        messages.map(|message| u64::from(message.bytes())).sum()
    }

    /// The octets of the PDUs that it would send.
    fn backlog_bytes(&self) -> u64 {
        self.uplink.backlog_bytes() + self.messages_bytes()
    }

    /// Those that it asks for by contention, in which data of UGS and rtPS have no part.
    fn contended_bytes(&self) -> u64 {
        if self.config.service.contends() { self.backlog_bytes() } else { self.messages_bytes() }
    }

    /// Those that it asks for with a burst that it was granted: data of UGS are never asked for.
    fn piggybacked_bytes(&self) -> u64 {
        match self.config.service {
            Service::UnsolicitedGrant { .. } => self.messages_bytes(),
            _ => self.backlog_bytes(),
        }
    }

    /// Its next management message, of at most so many octets.
    fn next_message(&mut self, room_bytes: u32) -> Option<Message> {
        let waiting = &mut self.joining.as_mut()?.from_station;
        waiting.pop_front_if(|message| message.bytes() <= room_bytes)
    }
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    stations: Vec<Station>,
    /// Stations with unsolicited grants, and then those that are polled.
    unsolicited: Vec<u32>,
    /// The last frame in which something changed, and its unsolicited bursts, of which its map had told before.
    told: Option<(u64, Vec<Burst>)>,
    /// Whose turn it is on the downlink, and on the uplink, by rank.
    turns: [[u32; RANKS]; 2],
    agenda: BinaryHeap<Reverse<(Time, u64, Step)>>,
    steps: u64,
    /// The first attachment of a station.
    first: u32,
    /// By opportunity, who uses it, for requests and for ranging.
    requests: BTreeMap<u64, Vec<u32>>,
    ranging: BTreeMap<u64, Vec<u32>>,
    /// What the base station sends to all.
    broadcasts: Connection,
    /// Of each broadcast, by its first copy: the copies and the stations that they are for.
    copies: BTreeMap<PacketId, Vec<(PacketId, u32)>>,
    /// The first frame that has not been worked out or left out.
    next_frame: u64,
    /// Whether a frame is to be worked out.
    frame_pending: bool,
    /// On their way, in order of arrival.
    flying: VecDeque<(Time, Attachment, Packet, Option<DropReason>)>,
    arrived: VecDeque<(Attachment, Packet)>,
    indications: VecDeque<(Time, Indication)>,
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// By attachment.
    stats: Vec<LinkStats>,
    time: CellTime,
    /// How far burst profiles reach, to stations and from them, where there is a radio.
    reaches: Option<[Reaches; 2]>,
    profile_changes: Vec<ProfileChange>,
}

impl Cell {
    /// A silent cell; `stream(station, purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(usize, &str) -> Stream) -> Cell {
        let count = config.stations.len() as u32;
        let first = u32::from(config.entry.is_some());
        let station = |(number, &own): (u32, &StationConfig)| Station {
            config: own,
            downlink: Connection::new(Attachment(first + number), config.queue),
            uplink: Connection::new(Attachment(first + count + number), config.queue),
            contention: Contention::new(config.contention),
            draws: stream(number as usize, "requests"),
            timer: None,
            unsolicited: None,
            requested_bytes: 0,
            granted: None,
            understands: None,
            joining: (config.entry.as_ref())
                .map(|entry| Box::new(Joining::new(entry, stream(number as usize, "entry")))),
            stats: StationStats::default(),
        };
        let service = |station: &u32| config.stations[*station as usize].service;
        let mut unsolicited: Vec<u32> =
            (0..count).filter(|station| service(station).interval().is_some()).collect();
        unsolicited.sort_by_key(|station| service(station).rank());
        let mut cell = Cell {
            stations: (0..).zip(&config.stations).map(station).collect(),
            unsolicited,
            told: None,
            turns: [[0; RANKS]; 2],
            agenda: BinaryHeap::new(),
            steps: 0,
            first,
            requests: BTreeMap::new(),
            ranging: BTreeMap::new(),
            broadcasts: Connection::new(BROADCAST, config.queue),
            copies: BTreeMap::new(),
            next_frame: 0,
            frame_pending: false,
            flying: VecDeque::new(),
            arrived: VecDeque::new(),
            indications: VecDeque::new(),
            dropped: VecDeque::new(),
            stats: vec![LinkStats::default(); (first + 2 * count) as usize],
            time: CellTime::default(),
            reaches: (config.entry.as_ref().and_then(|entry| entry.radio.as_ref()))
                .map(|radio| [false, true].map(|uplink| Reaches::new(radio, config.layout.clock, uplink))),
            profile_changes: Vec::new(),
            config,
        };
        cell.start_stations();
        cell
    }

    /// How many stations it has.
    pub fn station_count(&self) -> u32 {
        self.stations.len() as u32
    }

    /// The base station's sub-interface to a station, and the station's own.
    pub fn attachments_of(&self, station: u32) -> (Attachment, Attachment) {
        let down = self.first + station;
        (Attachment(down), Attachment(down + self.station_count()))
    }

    /// What the symbols of its frames were used for; up to the end once the run is over.
    pub fn time(&self) -> CellTime {
        self.time
    }

    /// What describes it.
    pub fn config(&self) -> &CellConfig {
        &self.config
    }

    /// How burst profiles changed, in order.
    pub fn profile_changes(&self) -> &[ProfileChange] {
        &self.profile_changes
    }

    /// What a station did.
    pub fn station_stats(&self, station: u32) -> StationStats {
        self.stations[station as usize].stats
    }

    /// The station of an attachment other than that for broadcasts, and whether it is the station's own.
    fn station_at(&self, at: Attachment) -> (usize, bool) {
        let number = (at.0 - self.first) as usize;
        match number.checked_sub(self.stations.len()) {
            None => (number, false),
            Some(station) => (station, true),
        }
    }

    /// Whether an attachment is that for broadcasts.
    fn is_for_all(&self, at: Attachment) -> bool {
        at.0 < self.first
    }

    fn connection(&self, from: Attachment) -> &Connection {
        if self.is_for_all(from) {
            return &self.broadcasts;
        }
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
        while let Some((_, to, packet, lost)) = self.flying.pop_front_if(|(at, ..)| *at <= now) {
            self.arrives(now, to, packet, lost);
        }
        while let Some(&Reverse((at, _, step))) = self.agenda.peek()
            && at <= now
        {
            self.agenda.pop();
            match step {
                Step::Frame(frame) => self.work_out(now, frame),
                Step::Opportunity(opportunity) => self.request(now, opportunity),
                Step::Burst(burst) => self.send_burst(now, burst),
                Step::Unsolicited(station) => self.unsolicited_burst(now, station),
                Step::Timer(station) => self.timer_expires(now, station),
                Step::Entry(station) => self.entry_timer(now, station),
                Step::Admission(station) => self.admission_timer(now, station),
                Step::Preamble(station) => self.hear_preamble(now, station),
                Step::Maps(station) => self.hear_maps(now, station),
                Step::Ranging(opportunity) => self.range(now, opportunity),
                Step::Heard(station, message) => self.hear(now, station, message),
                Step::Told(station, message) => self.hear_told(now, station, message),
                Step::Report(station) => self.report(now, station),
            }
        }
    }
}

impl Link for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        let (station, of_station) = self.station_at(from);
        let served = self.is_served(station as u32);
        let toward = if of_station { Toward::BaseStation } else { Toward::Station };
        let (of_a_flow, data) = (packet.is_of_a_flow(), packet.carries_data());
        let own = &mut self.stations[station];
        let connection = if of_station { &mut own.uplink } else { &mut own.downlink };
        let taken = match packet.size_bytes > self.config.mtu_bytes {
            true => Err(DropReason::TooLarge),
            false if !served => Err(DropReason::NotAssociated),
            false => connection.enqueue(now, from, packet),
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            if of_a_flow && let Some(path) = self.path_of(from) {
                path.lost(Lost { at: now, reason, toward, data });
            }
            return Err(Dropped { reason, at: now });
        }
        if of_station {
            self.wants_to_send(now, station as u32);
        } else {
            self.want_frame(now);
        }
        Ok(())
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.pop_front()
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
        // A broadcast is one packet in its queue, and on its way.
        let more: usize = self.copies.values().map(|copies| copies.len() - 1).sum();
        let on_way = self.flying.len() + self.arrived.len() + self.dropped.len();
        (held + self.broadcasts.packets() + more + on_way) as u64
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
        let both = pairs.map(|(from, to)| Sender { from, to: Some(to) });
        let broadcasts = self.first > 0 && self.stats[BROADCAST.0 as usize].sent_packets > 0;
        both.chain(broadcasts.then_some(Sender { from: BROADCAST, to: None })).collect()
    }

    fn is_broadcast(&self, from: Attachment) -> bool {
        self.is_for_all(from)
    }

    fn next_indication(&self) -> Option<Time> {
        self.indications.front().map(|(at, _)| *at)
    }

    fn poll_indication(&mut self, _now: Time) -> Option<Indication> {
        self.indications.pop_front().map(|(_, indication)| indication)
    }

    fn stations(&self) -> Option<&dyn Stations> {
        self.config.entry.is_some().then_some(self as &dyn Stations)
    }

    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        if self.config.entry.is_some() { Some(self) } else { None }
    }
}

#[cfg(test)]
mod entry_tests;
#[cfg(test)]
mod joining_tests;
#[cfg(test)]
mod services;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod theory;
