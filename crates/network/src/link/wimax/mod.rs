//! IEEE Std 802.16-2004, WirelessMAN-OFDM, and 802.16e-2005, WirelessMAN-OFDMA: a base station and its
//! stations, point to multipoint, with time division duplex.
//!
//! A frame is a downlink and an uplink subframe. The base station schedules both at the begin of the frame,
//! and its maps say who may send when. Frame n begins at n times the frame duration. Downlink bursts take
//! the packets that have arrived by then. An uplink burst takes the packets that its station holds when the
//! burst begins. A packet arrives at the end of the symbol that has its last octet.
//!
//! Attachments: the base station has a sub-interface per station, and the stations follow. In a cell that
//! stations enter, the base station's broadcast interface comes first.
//!
//! Modelled: symbols, preambles, FCH and maps; burst profiles, with one downlink burst for all stations of
//! a profile; MAC PDUs with header and CRC, fragmentation, packing, ARQ; best effort connections, which
//! contend for request opportunities and then piggyback requests; unsolicited grants; polls of rtPS and
//! nrtPS. Services are served by rank, UGS before rtPS, nrtPS and best effort; within a service round
//! robin, by packets on the downlink and by symbols on the uplink.
//!
//! Bursts are understood by a radius, or by signal over noise (`radio`). Then burst profiles may adapt
//! (`adaptation`), and thresholds or a table of block errors (`block_errors`) decide.
//!
//! A file per subject: [`phy`] has symbols and the layout of a frame, [`pusc`] slots, [`pdu`] sizes,
//! `connection` packets and their PDUs, `arq` their blocks, `agenda` what is due when, `contention`
//! requests, `opportunities` who makes one when, `codes` those of OFDMA, `schedule` and `frame` the content
//! of a frame, `backlog` for whom, `uplink` bursts and requests of stations; `management` messages, `entry`
//! the station's part of network entry, `admission` the base station's, `joining` and `ranging` both in the
//! cell, `scanning` stations on other channels, `reach` who hears whom, `reports` link events,
//! `association` requests of handovers, `carriage` the cell as a link.
//!
//! A frame is computed only if the base station has something to send or to grant. In other frames requests
//! and unsolicited bursts are steps of their own, and the rest costs nothing.
//!
//! Not modelled: propagation (500 m take 1.7 us, which ranging evens out), the time that stations need to
//! read a map, header suppression, encryption, subchannels of OFDM, several connections of a station each
//! way, FDD, mesh.

mod account;
mod adaptation;
mod admission;
mod agenda;
mod arq;
mod association;
mod backlog;
mod block_errors;
mod carriage;
mod codes;
mod config;
mod connection;
mod contention;
mod entry;
mod frame;
mod joining;
pub mod layout;
mod management;
mod opportunities;
pub mod pdu;
pub mod phy;
pub mod pusc;
mod radio;
mod ranging;
mod reach;
mod reports;
mod scanning;
mod schedule;
mod service_flow;
mod uplink;

pub use self::account::{CellTime, StationStats};
pub use self::adaptation::ProfileChange;
pub use self::arq::{Acknowledgement, ArqConfig, ArqStats, MOST_BLOCK_BYTES, MOST_WINDOW_BLOCKS};
pub use self::block_errors::BlockErrors;
use self::config::RANKS;
pub use self::config::{CellConfig, CellEntry, FlowConfig, Service, StationConfig};
pub use self::contention::ContentionConfig;
pub use self::entry::{EntryConfig, Timers};
pub use self::management::{Direction, LONGEST_FROM_STATION_BYTES, Message, Sfid, longest_to_station_bytes};
pub use self::radio::{Adaptation, RadioConfig, thresholds_db};
pub use self::scanning::ScanConfig;
pub use self::service_flow::Addition;

use self::agenda::{Agenda, Due};
use self::arq::Content;
use self::backlog::Backlog;
use self::block_errors::{Fates, Reception};
use self::connection::Connection;
use self::frame::Bursts;
use self::joining::Joining;
use self::layout::UnitTimes;
use self::opportunities::Opportunities;
use self::phy::BurstProfile;
use self::radio::Reaches;
use self::schedule::Deal;
use self::service_flow::ServiceFlow;
use super::indication::Indication;
use super::phase::Phases;
use super::{Attachment, DropReason, Dropped, LinkStats};
use crate::packet::{Packet, PacketId};
use crate::queue::Rule;
use crate::queue::drop_tail::DropTail;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The base station's broadcast interface, where stations enter.
const BROADCAST: Attachment = Attachment(0);

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A frame begins.
    Frame(u64),
    /// A request opportunity begins.
    Opportunity(u64),
    /// An unsolicited burst begins that a service flow waits for, or a frame in which one may.
    Unsolicited(u32),
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
    /// A scan interval of a station begins, or has ended.
    Scan(u32),
    /// T44 of a station may have expired, or a scan may be due.
    ScanTimer(u32),
    /// A PDU of a connection with ARQ has come.
    Transfer(u64),
    /// A timer of ARQ of a service flow may have expired.
    Arq(u32),
}

/// An uplink burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Burst {
    /// Of this service flow.
    flow: u32,
    frame: u64,
    /// Its first unit, among those of the uplink subframe.
    first_unit: u32,
    /// Its units, preamble included.
    units: u32,
    /// What the map told of it.
    profile: BurstProfile,
    cause: Cause,
}

/// Why an uplink burst is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// It was asked for.
    Request,
    /// It comes due by itself: an unsolicited grant, or a poll.
    Interval,
    /// Who has sent a code of OFDMA is to ask for bandwidth in it.
    Code,
}

/// A station, and what the base station holds for it.
#[derive(Debug)]
#[repr(C, align(64))] // what each burst asks for is in the first line of the cache
struct Station {
    /// Its burst profiles as they are now.
    config: StationConfig,
    /// Where it enters the network.
    joining: Option<Box<Joining>>,
    /// Classes of packets, a bit a DSCP, and the service flow of each.
    classes: Vec<(u64, u32)>,
    /// What it gets of bursts in the frame that begins at this instant.
    understands: Option<(Time, Reception)>,
    /// Blocks of bursts to it, of those from it, and of messages to it.
    blocks: [Fates; 3],
    block_draws: Stream,
}

/// The number of these among [`Station::blocks`].
const TO_STATION: usize = 0;
const FROM_STATION: usize = 1;
const MESSAGES: usize = 2;

impl Station {
    /// Why a PDU in these blocks of a burst is lost.
    fn lost(
        &mut self,
        of: usize,
        burst: Time,
        blocks: (u32, u32),
        reception: Reception,
    ) -> Option<DropReason> {
        self.blocks[of].lost(burst, blocks, reception, &mut self.block_draws)
    }
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    times: UnitTimes,
    stations: Vec<Station>,
    /// The first of each station, in their order, and then those of classes.
    flows: Vec<ServiceFlow>,
    additions: Vec<Addition>,
    /// Service flows with unsolicited grants, and then those that are polled.
    unsolicited: Vec<u32>,
    /// A frame, and its unsolicited bursts, as its map tells of them whatever changes meanwhile.
    told: Option<(u64, Vec<Burst>)>,
    backlog: Backlog,
    /// Whose turn it is on the downlink, and on the uplink, by rank.
    turns: [[u32; RANKS]; 2],
    agenda: Agenda,
    /// The first attachment of a station.
    first: u32,
    /// Which service flow uses which opportunity for a request.
    requests: Opportunities,
    /// The request opportunity that was asked for last, and the instants behind which it is the first: from
    /// one on, before its own.
    next_request: (Range<Time>, u64),
    /// Codes that were heard: service flows that get a burst for their request, and stations for their
    /// RNG-REQ.
    codes: codes::Heard,
    /// The downlink bursts of the frame that is worked out, and the uplink bursts that it grants; empty
    /// between.
    bursts: Bursts,
    deal: Deal,
    /// By opportunity, which station uses it for ranging.
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
    flying: VecDeque<Flying>,
    arrived: VecDeque<(Attachment, Packet)>,
    /// PDUs of connections with ARQ, by number: service flow, and the direction of the connection that they
    /// are about.
    transfers: BTreeMap<u64, (u32, Direction, Box<Content>)>,
    transfers_begun: u64,
    indications: VecDeque<(Time, Indication)>,
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// By attachment.
    stats: Vec<LinkStats>,
    time: CellTime,
    /// How far burst profiles reach, to stations and from them, where there is a radio.
    reaches: Option<[Reaches; 2]>,
    profile_changes: Vec<ProfileChange>,
    /// Stations with scan intervals that are not over.
    scanning: Vec<u32>,
    phases: Phases,
}

impl Cell {
    /// A silent cell; `stream(station, purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(usize, &str) -> Stream) -> Cell {
        let count = config.stations.len() as u32;
        let first = u32::from(config.entry.is_some());
        let station = |(number, &own): (u32, &StationConfig)| Station {
            config: own,
            classes: (count..)
                .zip(&config.flows)
                .filter(|(_, of)| of.station == number)
                .map(|(flow, of)| (of.dscps, flow))
                .collect(),
            understands: None,
            blocks: Default::default(),
            block_draws: stream(number as usize, "block errors"),
            joining: config.entry.as_ref().map(|entry| {
                let of_classes = config.flows.iter().filter(|of| of.station == number).count() as u32;
                Box::new(Joining::new(entry, 1 + of_classes, stream(number as usize, "entry")))
            }),
        };
        let flow_count = count + config.flows.len() as u32;
        let flow = |flow: u32| {
            let own = config.flow(flow);
            let down = Attachment(first + own.station);
            let up = Attachment(first + count + own.station);
            let draws = |purpose: &str| match flow < count {
                true => stream(own.station as usize, purpose),
                false => stream(own.station as usize, &format!("{purpose}/{flow}")),
            };
            ServiceFlow::new(&config, (down, up), &own, draws)
        };
        let service = |flow: &u32| config.flow(*flow).service;
        let mut unsolicited: Vec<u32> =
            (0..flow_count).filter(|flow| service(flow).interval().is_some()).collect();
        unsolicited.sort_by_key(|flow| service(flow).rank());
        let mut cell = Cell {
            stations: (0..).zip(&config.stations).map(station).collect(),
            flows: (0..flow_count).map(flow).collect(),
            additions: Vec::new(),
            unsolicited,
            told: None,
            backlog: Backlog::new(flow_count as usize),
            turns: [[0; RANKS]; 2],
            agenda: Agenda::new(),
            first,
            requests: Opportunities::default(),
            next_request: (Time::ZERO..Time::ZERO, 0),
            codes: codes::Heard::default(),
            bursts: Bursts::default(),
            deal: Deal::default(),
            ranging: BTreeMap::new(),
            broadcasts: Connection::new(BROADCAST, DropTail::new(Some(config.queue)).into(), false, None),
            copies: BTreeMap::new(),
            next_frame: 0,
            frame_pending: false,
            flying: VecDeque::new(),
            arrived: VecDeque::new(),
            transfers: BTreeMap::new(),
            transfers_begun: 0,
            indications: VecDeque::new(),
            dropped: VecDeque::new(),
            stats: vec![LinkStats::default(); (first + 2 * count) as usize],
            time: CellTime::default(),
            reaches: (config.entry.as_ref().and_then(|entry| entry.radio.as_ref()))
                .map(|radio| [false, true].map(|uplink| Reaches::new(radio, &config.layout, uplink))),
            profile_changes: Vec::new(),
            scanning: Vec::new(),
            phases: Phases::default(),
            times: UnitTimes::new(&config.layout),
            config,
        };
        for (place, &flow) in cell.unsolicited.iter().enumerate() {
            cell.flows[flow as usize].unsolicited_place = place;
        }
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
        let mut sum = StationStats::default();
        self.flows_of(station).for_each(|flow| sum.add(&self.flows[flow as usize].stats()));
        sum
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

    /// The connections with packets from an attachment.
    fn connections(&self, from: Attachment) -> impl Iterator<Item = &Connection> {
        let own = (!self.is_for_all(from)).then(|| self.station_at(from));
        let flows = own.into_iter().flat_map(|(station, of_station)| {
            let classes = self.stations[station].classes.iter().map(|(_, flow)| *flow);
            let flows = std::iter::once(station as u32).chain(classes).map(|flow| &self.flows[flow as usize]);
            flows.map(move |own| if of_station { &own.uplink } else { &own.downlink })
        });
        own.is_none().then_some(&self.broadcasts).into_iter().chain(flows)
    }

    fn at(&mut self, time: Time, step: Step) {
        self.agenda.put_step(time, step);
    }

    /// A burst is granted.
    fn grant(&mut self, burst: Burst) {
        self.agenda.put_burst(self.burst_time(&burst), burst);
    }

    /// A burst that was asked for begins. Not in line: what it needs of registers is no burden of wake-ups
    /// for arrivals alone.
    #[inline(never)]
    fn take_burst(&mut self, now: Time, burst: Burst) {
        match burst.cause {
            Cause::Code => self.answer_code(now, burst),
            Cause::Request | Cause::Interval => self.send_burst(now, burst),
        }
    }

    /// A step of data in a cell whose stations are there.
    #[inline(never)]
    fn take_step(&mut self, now: Time, step: Step) {
        match step {
            Step::Frame(frame) => self.work_out(now, frame),
            Step::Opportunity(opportunity) => self.request(now, opportunity),
            Step::Unsolicited(flow) => self.unsolicited_burst(now, flow),
            other => self.take_other_step(now, other),
        }
    }

    /// One of network entry, scans, reports or ARQ.
    #[cold]
    fn take_other_step(&mut self, now: Time, step: Step) {
        match step {
            Step::Frame(_) | Step::Opportunity(_) | Step::Unsolicited(_) => {}
            Step::Entry(station) => self.entry_timer(now, station),
            Step::Admission(station) => self.admission_timer(now, station),
            Step::Preamble(station) => self.hear_preamble(now, station),
            Step::Maps(station) => self.hear_maps(now, station),
            Step::Ranging(opportunity) => self.range(now, opportunity),
            Step::Heard(station, message) => self.hear(now, station, message),
            Step::Told(station, message) => self.hear_told(now, station, message),
            Step::Report(station) => self.report(now, station),
            Step::Scan(station) => self.scan_step(now, station),
            Step::ScanTimer(station) => self.scan_timer(now, station),
            Step::Transfer(number) => self.transfer_ends(now, number),
            Step::Arq(flow) => self.arq_timer(now, flow),
        }
    }

    fn frame_start(&self, frame: u64) -> Time {
        Time::ZERO + self.config.layout.duration * frame
    }

    /// The frame in which an instant lies.
    fn frame_of(&self, now: Time) -> u64 {
        now.as_ns() / self.config.layout.duration.as_ns()
    }
}

/// A packet on its way: until when, to where, and why it is lost.
type Flying = (Time, Attachment, Packet, Option<DropReason>);

/// A packet is on its way. Those in symbols arrive one behind the other.
#[inline]
fn fly(flying: &mut VecDeque<Flying>, packet: Flying) {
    if flying.back().is_none_or(|(last, ..)| *last <= packet.0) {
        return flying.push_back(packet);
    }
    fly_before(flying, packet);
}

/// It arrives before others.
#[cold]
fn fly_before(flying: &mut VecDeque<Flying>, packet: Flying) {
    let behind = flying.partition_point(|(other, ..)| *other <= packet.0);
    flying.insert(behind, packet);
}

/// The earlier of two instants, where there are any.
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        let arrival = self.flying.front().map(|(at, ..)| *at);
        let next = earlier(arrival, self.agenda.next());
        // A queue may drop when it takes a packet, whenever that comes.
        match self.config.rule {
            Rule::DropTail => next,
            _ => earlier(next, self.dropped.front().map(|(.., dropped)| dropped.at)),
        }
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        while let Some((_, to, packet, lost)) = self.flying.pop_front_if(|(at, ..)| *at <= now) {
            self.arrives(now, to, packet, lost);
        }
        while let Some(due) = self.agenda.due(now) {
            match due {
                Due::Burst => {
                    if let Some(burst) = self.agenda.take_burst() {
                        self.take_burst(now, burst);
                    }
                }
                Due::Timer => {
                    if let Some(flow) = self.agenda.take_timer() {
                        self.timer_expires(now, flow);
                    }
                }
                Due::Step => {
                    if let Some(step) = self.agenda.take_step() {
                        self.take_step(now, step);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
