//! Service flows of stations: which packets go by which, and what each asks for (IEEE Std 802.16-2004 clauses
//! 5.2, 6.3.14).
//!
//! A station has one service flow each way for everything, and others for classes of packets, by their DSCP;
//! both directions of one have the same scheduling service. Bandwidth is asked for and granted by service
//! flow; management messages go with the first one.

use super::account::StationStats;
use super::config::{CellConfig, FlowConfig, Service};
use super::connection::Connection;
use super::contention::Contention;
use super::management::{Direction, Message};
use super::{Attachment, Cell};
use crate::queue::Rule;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{Stream, Time};

/// A service flow, both ways, and what the base station holds for it.
///
/// Where a hundred take turns, nothing of one is in the first cache any more when its turn comes again: what
/// a turn asks for lies together, in as few lines as it has room in. It has an odd number of lines, so that
/// those of all do not fall on a few sets of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct ServiceFlow {
    pub station: u32,
    /// Whether what is lost of it is sent again.
    pub arq: bool,
    /// Whether its queues may drop what they have taken.
    manages: bool,
    /// Bursts granted to it on request: [`ServiceFlow::stats`] has it among the rest.
    pub grants: u64,
    /// What the base station knows that it wants, in octets.
    pub requested_bytes: u64,
    /// Where there are polls or codes: the frame behind the last one with a grant for it, 0 where there is
    /// none.
    pub granted_until: u64,
    pub contention: Contention,
    /// How it gets its bursts, as it was admitted.
    pub service: Service,
    pub draws: Stream,
    /// But for grants.
    pub account: StationStats,
    /// When the unsolicited burst comes that it waits for, or when it looks for one.
    pub unsolicited: Option<Time>,
    /// When the step that looks at timers of ARQ comes.
    pub arq_timer: Option<Time>,
    /// Its place among those with unsolicited bursts.
    pub unsolicited_place: usize,
    pub uplink: Connection,
    pub downlink: Connection,
}

impl ServiceFlow {
    pub fn new(
        cell: &CellConfig,
        (down, up): (Attachment, Attachment),
        own: &FlowConfig,
        draws: impl Fn(&str) -> Stream,
    ) -> ServiceFlow {
        let arq = cell.arq.filter(|_| own.arq);
        let queue = |purpose| cell.rule.discipline(cell.queue, draws(purpose));
        ServiceFlow {
            station: own.station,
            arq: arq.is_some(),
            manages: cell.rule != Rule::DropTail,
            grants: 0,
            requested_bytes: 0,
            granted_until: 0,
            contention: Contention::new(),
            service: own.service,
            draws: draws("requests"),
            account: StationStats::default(),
            unsolicited: None,
            arq_timer: None,
            unsolicited_place: 0,
            uplink: Connection::new(up, queue("uplink queue"), own.packing, arq),
            downlink: Connection::new(down, queue("downlink queue"), own.packing, arq),
        }
    }

    /// What it did, and what was done for it.
    pub fn stats(&self) -> StationStats {
        StationStats { grants: self.grants, ..self.account }
    }
}

/// How a service flow was added to a station by DSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// When.
    pub at: Time,
    /// Its number in the cell.
    pub flow: u32,
    /// What was asked for; what is refused is served best effort.
    pub service: Service,
    /// Whether there was room for it.
    pub admitted: bool,
}

/// What unsolicited bursts take of a frame.
#[derive(Clone, Copy, Debug)]
struct Taken {
    bursts: u32,
    units: u32,
}

/// What they have to leave, as it is never cut: messages, and blocks of ARQ.
#[derive(Clone, Copy, Debug)]
struct Left {
    uplink_units: u32,
    downlink_units: u32,
}

impl Cell {
    /// Which service flows of a station are added as they are, and which best effort, as there is no room for
    /// more unsolicited bursts: beside those of all others there has to be some for a message of who enters,
    /// and in the maps for one burst more.
    pub(super) fn admit(&mut self, now: Time, station: u32) {
        if self.is_registered(station) {
            return;
        }
        let left = self.to_be_left();
        let mut taken = self.taken(now);
        for flow in self.flows_of(station) {
            let service = self.flows[flow as usize].service;
            let with = self.with_one_more(now, taken, left, flow, service);
            if let Some(with) = with {
                taken = with;
            } else {
                self.settle(now);
                let own = &mut self.flows[flow as usize];
                own.service = Service::BestEffort;
                own.account.refused_connections += 1;
            }
            self.additions.push(Addition { at: now, flow, service, admitted: with.is_some() });
        }
    }

    /// For how many stations with the service flows of this one there is room beside those that are
    /// registered and those that are to come; for one that is registered there is what it was given. `None`:
    /// for all, as it has no unsolicited bursts.
    pub(super) fn places_for(&self, now: Time, station: u32, to_come: &[u32]) -> Option<u32> {
        let asked = |flow: u32| self.config.flow(flow).service;
        let flows: Vec<u32> =
            self.flows_of(station).filter(|&flow| asked(flow).interval().is_some()).collect();
        if flows.is_empty() {
            return None;
        }
        let here = self.is_registered(station);
        if here && flows.iter().any(|&flow| self.flows[flow as usize].service != asked(flow)) {
            return Some(0);
        }
        let left = self.to_be_left();
        let mut taken = self.taken(now);
        for flow in
            to_come.iter().filter(|&&other| !self.is_registered(other)).flat_map(|&o| self.flows_of(o))
        {
            taken = self.with_one_more(now, taken, left, flow, asked(flow)).unwrap_or(taken);
        }
        let mut places = u32::from(here);
        let one_more = |taken| {
            flows
                .iter()
                .try_fold(taken, |taken, &flow| self.with_one_more(now, taken, left, flow, asked(flow)))
        };
        while let Some(with) = one_more(taken) {
            taken = with;
            places += 1;
        }
        Some(places)
    }

    fn is_registered(&self, station: u32) -> bool {
        let joining = &self.stations[station as usize].joining;
        joining.as_ref().is_some_and(|joining| joining.admission.is_registered())
    }

    /// By the service flows of all that are registered.
    fn taken(&self, now: Time) -> Taken {
        let mut taken = Taken { bursts: 0, units: 0 };
        for &flow in &self.unsolicited {
            let own = &self.flows[flow as usize];
            if self.is_registered(own.station) && own.service.interval().is_some() {
                taken.bursts += 1;
                taken.units += self.unsolicited_units(now, flow, own.service);
            }
        }
        taken
    }

    /// With the burst profile that its station has; of one that is to come, that which it would enter with
    /// now.
    fn unsolicited_units(&self, now: Time, flow: u32, service: Service) -> u32 {
        let station = self.flows[flow as usize].station;
        let to_come = !self.is_registered(station);
        let adapted = to_come.then(|| self.other_profile(now, station, Direction::Uplink)).flatten();
        let profile = adapted.unwrap_or(self.stations[station as usize].config.uplink);
        service.most_unsolicited_units(&self.config.layout, profile)
    }

    fn to_be_left(&self) -> Left {
        let unit = self.config.layout.unit();
        let whole = self.flows.iter().map(|own| {
            let config = &self.stations[own.station as usize].config;
            let block = match own.least_block_bytes() {
                0 => 0,
                bytes => unit.preamble() + unit.burst_units(config.uplink, bytes),
            };
            let data = unit.burst_units(config.downlink, own.downlink.least_pdu_bytes());
            (config.message_units(unit).max(block), data)
        });
        let (uplink_units, downlink_units) =
            whole.fold((0, 0), |(message, data), (up, down)| (message.max(up), data.max(down)));
        Left { uplink_units, downlink_units }
    }

    /// What is taken with one service flow more, if there is room for it.
    fn with_one_more(
        &self,
        now: Time,
        taken: Taken,
        left: Left,
        flow: u32,
        service: Service,
    ) -> Option<Taken> {
        if service.interval().is_none() {
            return Some(taken);
        }
        let profiles = self.config.layout.unit().profiles().len() as u32;
        let with = Taken {
            bursts: taken.bursts + 1,
            units: taken.units + self.unsolicited_units(now, flow, service),
        };
        let fits = with.units + left.uplink_units <= self.config.least_uplink_room()
            && self.config.least_downlink_room(profiles, with.bursts + 1) >= left.downlink_units;
        fits.then_some(with)
    }

    /// How many service flows it has: the first of each station, in their order, and then those of classes.
    pub fn flow_count(&self) -> u32 {
        self.flows.len() as u32
    }

    /// What describes a service flow.
    pub fn flow_config(&self, flow: u32) -> FlowConfig {
        self.config.flow(flow)
    }

    /// What a service flow did.
    pub fn flow_stats(&self, flow: u32) -> StationStats {
        self.flows[flow as usize].stats()
    }

    /// How service flows were added, in order.
    pub fn additions(&self) -> &[Addition] {
        &self.additions
    }

    /// The service flows of a station, the first one before the others.
    pub(super) fn flows_of(&self, station: u32) -> impl Iterator<Item = u32> + use<> {
        let others: Vec<u32> =
            self.stations[station as usize].classes.iter().map(|(_, flow)| *flow).collect();
        std::iter::once(station).chain(others)
    }

    /// Whether any station has service flows for classes.
    pub(super) fn has_classes(&self) -> bool {
        self.flow_count() > self.station_count()
    }

    /// The service flow for packets of a class.
    pub(super) fn flow_for(&self, station: u32, class: TrafficClass) -> u32 {
        if !self.has_classes() {
            return station;
        }
        let of_class = |&&(dscps, _): &&(u64, u32)| dscps >> class.dscp() & 1 != 0;
        self.stations[station as usize].classes.iter().find(of_class).map_or(station, |(_, flow)| *flow)
    }

    /// What the queues of a service flow have dropped of what they had taken ends here.
    pub(super) fn drop_by_queues(&mut self, now: Time, flow: u32) {
        if !self.flows[flow as usize].manages {
            return;
        }
        let own = |cell: &mut Cell| {
            let own = &mut cell.flows[flow as usize];
            own.downlink.poll_drop(now).or_else(|| own.uplink.poll_drop(now))
        };
        while let Some((waiting, reason)) = own(self) {
            self.drop_packet(now, waiting.from, waiting.packet, reason);
        }
    }

    /// Whether it is the first one of its station.
    fn is_first(&self, flow: u32) -> bool {
        flow < self.station_count()
    }

    /// Whether it asks for bandwidth for messages of a station that enters.
    pub(super) fn enters(&self, flow: u32) -> bool {
        self.is_first(flow) && self.joining(flow).is_some_and(|joining| !joining.admission.is_complete())
    }

    /// What a service flow waits for may have changed.
    pub(super) fn note(&mut self, flow: u32) {
        let own = &self.flows[flow as usize];
        let profile = self.stations[own.station as usize].config.downlink;
        let waits = !self.is_left_alone(own.station) && !own.downlink_is_empty();
        self.backlog.note_downlink(flow, waits.then_some((own.service.rank(), profile)));
        self.note_request(flow);
    }

    /// What the base station knows of what it wants may have changed, and nothing else of it.
    pub(super) fn note_request(&mut self, flow: u32) {
        let own = &self.flows[flow as usize];
        // Who enters has a message to send, and goes first.
        let rank = if self.enters(flow) { 0 } else { own.service.rank() };
        let waits = own.requested_bytes > 0 && !self.is_left_alone(own.station);
        self.backlog.note_uplink(flow, waits.then_some(rank));
    }

    /// The same of all of a station, and of messages to it.
    pub(super) fn note_station(&mut self, station: u32) {
        for flow in self.flows_of(station) {
            self.note(flow);
        }
        let joining = &self.stations[station as usize].joining;
        let waits = joining.as_ref().is_some_and(|joining| !joining.to_station.is_empty());
        let waits = waits && !self.is_left_alone(station);
        self.backlog.messages.set(station, waits);
    }

    /// The octets of the management messages that go with a service flow.
    fn messages_bytes(&self, flow: u32) -> u64 {
        if !self.is_first(flow) {
            return 0;
        }
        let Some(joining) = self.joining(flow) else { return 0 };
        joining.from_station.iter().map(|message| u64::from(message.bytes())).sum()
    }

    /// Whether it has any PDUs to send.
    pub(super) fn has_backlog(&self, flow: u32) -> bool {
        let own = &self.flows[flow as usize];
        (!own.arq && !own.uplink.is_empty()) || self.backlog_bytes(flow) > 0
    }

    /// The octets of the PDUs that it would send.
    pub(super) fn backlog_bytes(&self, flow: u32) -> u64 {
        let own = &self.flows[flow as usize];
        let data_bytes = own.uplink.backlog_bytes();
        if !own.arq && self.config.entry.is_none() {
            return data_bytes;
        }
        data_bytes + own.downlink.answer_bytes() + self.messages_bytes(flow)
    }

    /// Those that it asks for by contention, in which data of UGS and rtPS have no part.
    pub(super) fn contended_bytes(&self, flow: u32) -> u64 {
        let contends = self.flows[flow as usize].service.contends();
        if contends { self.backlog_bytes(flow) } else { self.messages_bytes(flow) }
    }

    /// Whether there are any of them.
    pub(super) fn has_something_to_contend_for(&self, flow: u32) -> bool {
        let contends = self.flows[flow as usize].service.contends();
        if contends { self.has_backlog(flow) } else { self.messages_bytes(flow) > 0 }
    }

    /// Those that it asks for with a burst that it was granted: data of UGS are never asked for.
    pub(super) fn piggybacked_bytes(&self, flow: u32) -> u64 {
        match self.flows[flow as usize].service {
            Service::UnsolicitedGrant { .. } => self.messages_bytes(flow),
            _ => self.backlog_bytes(flow),
        }
    }

    /// Whether there are any of them.
    pub(super) fn has_something_to_piggyback(&self, flow: u32) -> bool {
        match self.flows[flow as usize].service {
            Service::UnsolicitedGrant { .. } => self.messages_bytes(flow) > 0,
            _ => self.has_backlog(flow),
        }
    }

    /// The next management message that goes with it, of at most so many octets.
    pub(super) fn next_message(&mut self, flow: u32, room_bytes: u32) -> Option<Message> {
        if !self.is_first(flow) {
            return None;
        }
        let waiting = &mut self.joining_mut(flow)?.from_station;
        waiting.pop_front_if(|message| message.bytes() <= room_bytes)
    }
}
