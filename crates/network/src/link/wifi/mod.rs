//! The 802.11 medium: the distributed coordination function (IEEE Std 802.11-2007 clause 9.2) between access
//! points and any number of stations.
//!
//! One machine is one access point and its stations, or several where they share a channel or a station;
//! `layout` says who is attached where. Stations talk with access points alone. An access point has one queue
//! and one countdown for all of its stations.
//!
//! Modelled: physical and virtual carrier sense (NAV); DIFS, EIFS, SIFS; back-off in slots that freezes while
//! the medium is busy, before frames and after them; collisions; ACK, RTS and CTS; the contention window, and
//! the short and the long retry limit; the four access categories of EDCA; fragments; protection of 802.11g;
//! duplicates, which are acknowledged and dropped; stations that do not hear each other; broadcasts;
//! channels; beacons, scanning, authentication and association, as frames on the medium.
//!
//! A file a subject: [`phy`] has the airtimes, `medium` what is on the air and who hears it, `contention` who
//! gets the medium next, `countdowns` those that count together, `undisturbed` who has the medium for
//! himself, `edca` the categories of packets, `exchange` the frames about a packet, [`rate_control`] their
//! rates, [`record`] what captures tell of them, `radio` the queue and the countdown of each, `management`
//! the frames of the MAC's own, `station` what a station hears of its cells, `scan` how it finds access
//! points, `joining` how it becomes associated, `association` what handovers ask.
//!
//! A radio hears what its [`Ear`] hears. Where all hear each other, one ear serves all: its cost is that of
//! what is on the air, not of those who listen. A countdown is arithmetic; stations that have nothing to send
//! are not looked at.
//!
//! Not modelled: propagation (50 m take 0.17 us) and the time that carrier sense takes, so that a slot is one
//! only if two begin at the same nanosecond; bit errors; power saving; interference between channels.

mod account;
mod agenda;
mod capture;
mod config;
mod exchange;
pub mod loss;
pub mod management;
mod medium;
pub mod phy;
mod radios;
mod stations;
mod undisturbed;

pub use self::account::{CategoryTime, MediumTime, RadioTime};
use self::agenda::Agenda;
use self::capture::listening::Listener;
pub use self::capture::record;
use self::capture::record::AirLog;
pub use self::config::{BeaconConfig, Bss, CellConfig, Freezing, Mechanism, Protection, Scan, StationConfig};
use self::exchange::{FrameTimes, Step};
use self::loss::Losses;
pub use self::medium::air::RadioConfig;
use self::medium::air::{Air, Heard, Hearing};
pub use self::medium::interference::CaptureConfig;
pub use self::medium::shadowing;
pub use self::medium::sinr::SinrConfig;
use self::medium::{Ear, Frame};
use self::radios::countdowns::Countdowns;
pub use self::radios::edca::{CATEGORIES, Category, Edca};
use self::radios::radio::{Attempt, Function, Radio};
pub use self::radios::rate_control;
use self::radios::rate_control::Rates;
pub use self::radios::rate_control::{RateAttempts, RateChange};
use self::radios::turns::{Turns, Watched};
use self::stations::layout::{CellPlace, Layout, Member, Way};
use self::stations::station::Station;
use self::undisturbed::Undisturbed;
use super::frames::Frames;
use super::indication::Indication;
use super::phase::{PhaseRow, Phases};
use super::stations::Stations;
use super::{Attachment, Carrier, DropReason, Dropped, Link, LinkStats, Sender};
use crate::mobility::Trajectory;
use crate::packet::{Packet, PacketId};
use crate::queue::Queue;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::collections::{BTreeMap, VecDeque};

/// The access point's number among the radios; the stations follow.
const ACCESS_POINT: usize = 0;

/// A radio's name in those of random streams.
fn radio_name(number: usize) -> String {
    match number {
        ACCESS_POINT => "access point".to_owned(),
        1 => "station".to_owned(),
        more => format!("station/{}", more - 1),
    }
}

/// The medium.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    /// First those of the access points, in the order of the cells.
    radios: Watched<Radio>,
    cells: Vec<CellPlace>,
    members: Vec<Member>,
    /// By attachment.
    ways: Vec<Way>,
    /// By radio, the channel that it is on.
    channels: Vec<u8>,
    /// By radio: those that find their access point.
    stations: Vec<Option<Station>>,
    /// Whether any is one, or any cell has beacons.
    has_paths: bool,
    ears: Watched<Ear>,
    hearing: Hearing,
    /// Radios that count down, or have something to send.
    listed: Vec<usize>,
    /// The same where all share one ear and one function each, so that most of them count together.
    countdowns: Option<Box<Countdowns>>,
    /// When each may send, where each has an ear of its own.
    turns: Option<Box<Turns>>,
    /// Stations that want to leave their channels.
    departing: Vec<usize>,
    phases: Phases,
    on_air: Vec<Frame>,
    frames: u64,
    frame_times: FrameTimes,
    agenda: Agenda,
    /// When the next radio gets the medium, unless the agenda comes first.
    next_access: Option<Time>,
    /// Those who get it now.
    winners: Vec<usize>,
    /// The shortest space before contention.
    least_ifs: Span,
    /// The radio that nobody disturbs, where that may be and there is one: it has nothing on the air then,
    /// nor on the agenda.
    undisturbed: Option<Undisturbed>,
    may_be_undisturbed: bool,
    /// Categories of radios whose countdowns were over together with that of a higher one.
    collided: Vec<(usize, usize)>,
    arrived: VecDeque<(Attachment, Packet)>,
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    indications: VecDeque<(Time, Indication)>,
    /// Of each broadcast in a queue, by its first copy: the copies and the members that they are for.
    copies: BTreeMap<PacketId, Vec<(PacketId, u32)>>,
    /// By attachment, what was sent.
    stats: Vec<LinkStats>,
    /// By channel, radios that have something to send.
    contenders: Vec<usize>,
    /// Where rates are not fixed.
    rates: Option<Box<Rates>>,
    /// For a capture of frames.
    log: Option<Box<AirLog>>,
    /// Who captures frames.
    listener: Option<Box<Listener>>,
    /// Losses beside the radio.
    losses: Option<Box<Losses>>,
    /// Frames that are over and may have interfered with one that is not; kept where that counts.
    past: Vec<Frame>,
}

/// A medium of several access points.
pub struct Ess {
    /// The access points, each with its stations.
    pub bsses: Vec<Bss>,
    /// By station: how it finds its access point; `None` for one of a cell without beacons.
    pub stations: Vec<Option<StationConfig>>,
    /// What radios hear of each other.
    pub radio: RadioConfig,
    /// Where they are: access points, then stations.
    pub places: Vec<Trajectory>,
}

impl Cell {
    /// A silent cell in which all hear each other; `stream(purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(&str) -> Stream) -> Cell {
        Cell::alone(config, Hearing::All, stream)
    }

    /// A silent cell in which radio `i` hears radio `j` where `hears[i][j]`: the access point is the first,
    /// the stations follow.
    pub fn with_hidden(
        config: CellConfig,
        mut hears: Vec<Vec<bool>>,
        stream: impl Fn(&str) -> Stream,
    ) -> Cell {
        for (radio, heard) in hears.iter_mut().enumerate() {
            // Its own frames keep a radio as busy as those of others.
            heard[radio] = true;
        }
        Cell::alone(config, Hearing::Given(hears), stream)
    }

    /// A silent cell whose radios hear each other as their places let them: that of the access point is the
    /// first, those of the stations follow. What arrives decides about carrier sense when a frame begins, and
    /// about its reception when it ends.
    pub fn with_places(
        config: CellConfig,
        radio: RadioConfig,
        places: Vec<Trajectory>,
        stream: impl Fn(&str) -> Stream,
    ) -> Cell {
        let draws = |purpose: &str, of: usize| stream(&format!("{}/{purpose}", radio_name(of)));
        let air = Air::new(radio, places, draws);
        Cell::alone(config, Hearing::Placed(Box::new(air)), stream)
    }

    /// One cell without beacons.
    fn alone(config: CellConfig, hearing: Hearing, stream: impl Fn(&str) -> Stream) -> Cell {
        let stations = config.rates_bps.len();
        let bss = Bss { channel: 0, stations: (0..stations).collect(), beacons: None };
        let of_radio = |number, purpose: &str| stream(&format!("{}/{purpose}", radio_name(number)));
        Cell::build(config, &[bss], (0..stations).map(|_| None).collect(), hearing, of_radio)
    }

    /// A silent medium of several access points, or of one with beacons; `stream(radio, purpose)` gives the
    /// random streams.
    pub fn with_access_points(config: CellConfig, ess: Ess, stream: impl Fn(usize, &str) -> Stream) -> Cell {
        let Ess { bsses, stations, radio, places } = ess;
        let air = Air::new(radio, places, |purpose, of| stream(of, purpose));
        Cell::build(config, &bsses, stations, Hearing::Placed(Box::new(air)), stream)
    }

    fn build(
        config: CellConfig,
        bsses: &[Bss],
        stations: Vec<Option<StationConfig>>,
        hearing: Hearing,
        stream: impl Fn(usize, &str) -> Stream,
    ) -> Cell {
        let Layout { cells, members, ways, mut channels, attachments } =
            Layout::new(&config, bsses, stations.len());
        let shared = matches!(hearing, Hearing::All);
        let accesses = [false, true].map(|access_point| config.accesses(access_point));
        let radios: Vec<Radio> = attachments
            .iter()
            .enumerate()
            .filter_map(|(number, of)| {
                let ear = if shared { 0 } else { number };
                let accesses = &accesses[usize::from(number < cells.len())];
                let queue = |category| {
                    let random = stream(number, &format!("queue of {category}"));
                    Queue::new(config.rule.discipline(config.queue, random), of.iter().copied())
                };
                Radio::new(ear, accesses, queue, stream(number, "backoff"))
            })
            .collect();
        let least_ifs =
            accesses.iter().flatten().map(|access| access.ifs).min().unwrap_or(config.timing.difs);
        let ears = if shared { 1 } else { radios.len() };
        let account = |ear: usize| (ear < cells.len()).then_some(ear);
        let mut members_of: Vec<Vec<u32>> = vec![Vec::new(); radios.len()];
        for (number, member) in (0..).zip(&members) {
            members_of[member.radio].push(number);
        }
        let stations: Vec<Option<Station>> = bsses
            .iter()
            .map(|_| None)
            .chain(stations)
            .enumerate()
            .map(|(radio, config)| {
                config.map(|config| Station::new(config, std::mem::take(&mut members_of[radio])))
            })
            .collect();
        for (channel, station) in channels.iter_mut().zip(&stations) {
            *channel = station.as_ref().map_or(*channel, Station::first_channel);
        }
        let most = cells.iter().zip(&channels).map(|(_, &channel)| channel);
        let most = most.chain(stations.iter().flatten().flat_map(|station| station.channels())).max();
        let in_turns = !shared && !radios::turns::are_few(radios.len());
        let mut cell = Cell {
            ears: Watched::new(
                (0..ears).map(|ear| Ear::new(account(ear), config.timing.difs)).collect(),
                in_turns,
            ),
            hearing,
            listed: Vec::new(),
            countdowns: (shared && config.edca.is_none()).then(|| Box::new(Countdowns::new(radios.len()))),
            turns: in_turns.then(|| Box::new(Turns::new(radios.len()))),
            departing: Vec::new(),
            phases: Phases::default(),
            on_air: Vec::new(),
            frames: 0,
            frame_times: FrameTimes::default(),
            agenda: Agenda::default(),
            winners: Vec::new(),
            next_access: None,
            least_ifs,
            undisturbed: None,
            may_be_undisturbed: false,
            collided: Vec::new(),
            arrived: VecDeque::new(),
            dropped: VecDeque::new(),
            indications: VecDeque::new(),
            copies: BTreeMap::new(),
            stats: vec![LinkStats::default(); ways.len()],
            contenders: vec![0; usize::from(most.unwrap_or_default()) + 1],
            log: None,
            listener: None,
            losses: None,
            past: Vec::new(),
            rates: config.rate_control.as_ref().map(|(control, rates_bps)| {
                let rates: Vec<_> =
                    rates_bps.iter().map(|&bps| (bps, config.usual_exchange_time(bps))).collect();
                let random = (0..stations.len()).map(|radio| stream(radio, "rates")).collect();
                Box::new(Rates::new(control, &rates, config.backoff(), bsses.len(), random))
            }),
            has_paths: stations.iter().any(Option::is_some) || bsses.iter().any(|bss| bss.beacons.is_some()),
            stations,
            radios: Watched::new(radios, in_turns),
            cells,
            members,
            ways,
            channels,
            config,
        };
        cell.may_be_undisturbed = cell.has_undisturbed();
        cell.start_stations();
        cell
    }

    /// What has arrived next, and where.
    #[inline(always)]
    pub(super) fn first_arrived(&self) -> Option<(Attachment, &Packet)> {
        self.arrived.front().map(|(at, packet)| (*at, packet))
    }

    /// What has arrived, in order.
    #[inline(always)]
    pub(super) fn arrived(&mut self) -> &mut VecDeque<(Attachment, Packet)> {
        &mut self.arrived
    }

    /// How many cells it has.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// How many stations the first cell has.
    #[cfg(test)]
    fn station_count(&self) -> usize {
        self.cells[0].members.len()
    }

    /// The access point's sub-interface to a station of the first cell, and the station's interface.
    #[cfg(test)]
    fn attachments_of(&self, station: u32) -> (Attachment, Attachment) {
        let member = &self.members[station as usize];
        (member.down, member.up)
    }

    /// Takes a packet into the queue before a radio: that of its category.
    #[inline(always)]
    fn take_packet(&mut self, now: Time, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let number = self.ways[from.0 as usize].from;
        if self.config.edca.is_none() {
            return self.take_into_own_queue(now, number, from, packet);
        }
        self.take_by_category(now, number, from, packet)
    }

    #[inline(never)]
    fn take_by_category(
        &mut self,
        now: Time,
        number: usize,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let place = self.radios[number].place_of(radios::edca::category(packet.traffic_class));
        self.radios[number].turn_to(place);
        let taken = self.take_into_own_queue(now, number, from, packet);
        self.radios[number].turn_to(place);
        let waiting = self.waiting_packets(from, now) as u64;
        let most = &mut self.stats[from.0 as usize].max_waiting_packets;
        *most = waiting.max(*most);
        taken
    }

    #[inline(always)]
    fn take_into_own_queue(
        &mut self,
        now: Time,
        number: usize,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let radio = &mut self.radios[number];
        let idle = radio.own.head.is_none() && !radio.blocked;
        let taken = match packet.size_bytes > self.config.mtu_bytes {
            true => Err(DropReason::TooLarge),
            false => radio.own.queue.enqueue(now, from, packet, idle).map_err(|(_, reason)| reason),
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        if idle {
            self.resume_own(now, number);
            self.plan_with(number);
        }
        self.take_drops(now, number);
        Ok(())
    }

    #[inline]
    fn at(&mut self, time: Time, step: Step) {
        self.agenda.put(time, step);
    }

    /// Those begin who get the medium now, of whom each knows nothing of the others, nor of what else happens
    /// at this instant.
    #[inline(never)]
    fn handle_access(&mut self, now: Time) {
        let mut winners = std::mem::take(&mut self.winners);
        self.choose_winners(now, &mut winners);
        self.take_due(now);
        for number in winners.drain(..) {
            self.begin(now, number);
        }
        self.winners = winners;
        self.collide_inside();
    }

    #[inline(never)]
    fn take_due(&mut self, now: Time) {
        while let Some(step) = self.agenda.take_due(now) {
            self.take(now, step);
        }
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        if let Some(undisturbed) = &self.undisturbed {
            return Some(undisturbed.until);
        }
        match (self.agenda.next(), self.next_access) {
            (Some(step), Some(access)) => Some(step.min(access)),
            (step, access) => step.or(access),
        }
    }

    #[inline(always)]
    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        if self.undisturbed.is_some() {
            return self.go_on_undisturbed(now);
        }
        if self.next_access.is_some_and(|time| time <= now) {
            self.handle_access(now);
        } else {
            self.take_due(now);
        }
        if !self.departing.is_empty() {
            self.let_depart(now);
        }
        self.plan();
        if self.may_be_undisturbed && self.listed.len() == 1 {
            self.find_undisturbed(now);
        }
    }
}

impl Carrier for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        if !self.has_paths {
            if self.undisturbed.is_some() {
                self.disturb_from(from);
            }
            return self.take_packet(now, from, packet);
        }
        self.enqueue_of_station(now, from, packet)
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.pop_front()
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn may_have_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn may_have_arrived(&self, _now: Time) -> bool {
        !self.arrived.is_empty()
    }
}

impl Link for Cell {
    fn finish(&mut self, end: Time) {
        self.disturb();
        for cell in 0..self.cells.len() {
            self.cells[cell].medium.take_back(end);
            self.medium_passes(end, cell);
        }
    }

    fn phases(&self) -> &[PhaseRow] {
        self.phases.rows()
    }

    fn link_type(&self) -> LinkType {
        LinkType::IEEE_802_11
    }

    fn packets_inside(&self) -> u64 {
        let held = |radio: &Radio| {
            let of = |function: &Function| {
                let heads = [&function.head, &function.parked].into_iter().flatten();
                function.queue.length().packets + heads.filter(|head| head.holds_packet()).count()
            };
            radio.functions().map(of).sum::<usize>()
        };
        let held: usize = self.radios.iter().map(held).sum();
        // A broadcast is one packet in its queue.
        let more: usize = self.copies.values().map(|copies| copies.len() - 1).sum();
        (held + more + self.arrived.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let number = self.ways[from.0 as usize].from;
        let radio = &self.radios[number];
        let mut stats = self.stats[from.0 as usize];
        for Function { queue, .. } in radio.functions() {
            stats.waiting += queue.waited(from, now);
            // With EDCA it is what waited at a time in all of its categories.
            stats.max_waiting_packets = stats.max_waiting_packets.max(queue.max_packets(from) as u64);
            stats.marked_packets += queue.marked_packets(from);
        }
        if let (Attempt::Since(begin), Some(head)) = (radio.attempt, &radio.own.head)
            && head.from() == Some(from)
        {
            stats.busy += now - begin;
        }
        stats
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        let number = self.ways[from.0 as usize].from;
        self.radios[number].functions().map(|function| function.queue.waiting_packets(from)).sum()
    }

    fn forget_longest(&mut self, now: Time) {
        for Sender { from, .. } in self.senders() {
            self.stats[from.0 as usize].max_waiting_packets = self.waiting_packets(from, now) as u64;
        }
        for number in 0..self.radios.len() {
            let radio = &mut self.radios[number];
            std::iter::once(&mut radio.own)
                .chain(&mut radio.others)
                .for_each(|own| own.queue.forget_longest());
        }
    }

    fn queues(&self, from: Attachment) -> Vec<&Queue> {
        let number = self.ways[from.0 as usize].from;
        self.radios[number].functions().map(|function| &function.queue).collect()
    }

    fn senders(&self) -> Vec<Sender> {
        let of_cell = |cell: &CellPlace| {
            let members = &self.members[cell.members.start as usize..cell.members.end as usize];
            let both = members.iter().flat_map(|member| [(member.down, member.up), (member.up, member.down)]);
            let both: Vec<_> = both.map(|(from, to)| Sender { from, to: Some(to) }).collect();
            let sent = |from: &Attachment| self.stats[from.0 as usize].sent_packets > 0;
            both.into_iter().chain(cell.broadcast().filter(sent).map(|from| Sender { from, to: None }))
        };
        self.cells.iter().flat_map(of_cell).collect()
    }

    fn is_broadcast(&self, from: Attachment) -> bool {
        self.ways[from.0 as usize].to == radios::radio::ALL
    }

    fn next_indication(&self) -> Option<Time> {
        self.indications.front().map(|(at, _)| *at)
    }

    fn poll_indication(&mut self, _now: Time) -> Option<Indication> {
        self.indications.pop_front().map(|(_, indication)| indication)
    }

    fn stations(&self) -> Option<&dyn Stations> {
        self.has_paths.then_some(self as &dyn Stations)
    }

    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        if self.has_paths { Some(self) } else { None }
    }

    fn frames_mut(&mut self) -> Option<&mut dyn Frames> {
        Some(self)
    }
}

#[cfg(test)]
pub(crate) mod tests;
