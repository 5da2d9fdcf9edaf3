//! Handovers: how stations find their cell, and what a mobility scheme does when they change it.
//!
//! The room has three parts that every scheme shares and one file a scheme:
//! - [`association`]: which cell a station is associated with, by the beacons that it hears. Link layer, the same for
//!   all schemes. It gives indications: link up, going down, down (the events of IEEE Std 802.21-2008 table 5).
//! - [`record`]: the account of a handover, which becomes a row of the result table `handovers`.
//! - this file: cells and stations as schemes see them, and the choice of the scheme.
//! - [`bridged`]: all base stations are one bridged network, routes follow the association at once.
//! - [`mobile_ip`]: Mobile IPv4, over the network layer alone; the link layer's indications are ignored.
//! - [`mobile_sctp`]: an address in each cell; the link layer's indications say which can be used and which is preferred.
//!
//! To add a scheme: a variant of [`Scheme`] and a file here whose `indication` reacts to the link layer (or ignores it)
//! and calls [`Handovers::left`], [`Handovers::begin`] and [`Handovers::complete`] when the station has lost its old
//! path, has decided for a new one, and may use it. The tools: `Topology::redirect` (where packets to an address go),
//! `Topology::set_egress` (how a station sends), `Network::broadcast` (to all stations in reach of a base station, by
//! the broadcast interface [`CellPlace::broadcast`]), `Network::send_by` (by a given interface). Broadcasts end in
//! `World::receive_broadcast`, with the interface that they came in at. What a scheme sends for itself must not count as a packet
//! of a flow: see `Packet::is_of_a_flow`. Transports know nothing of all this. A scheme that leaves the rest to transports
//! says which addresses a station can use ([`StationPlace::usable`]) and notes the station in [`Handovers::announced`]: the
//! world tells the associations that follow their node's addresses (`world/addresses.rs`).

pub mod association;
pub mod bridged;
pub mod mobile_ip;
pub mod mobile_sctp;
pub mod record;

use self::association::{Association, Indication};
use self::mobile_sctp::PrimaryChange;
use self::record::Handover;
use crate::network::Network;
use crate::topology::{LinkId, NodeId};
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// What a station's addresses do when it changes its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// They all follow the association at once.
    Bridged,
    /// Each stays in its cell; a transport that knows several addresses may use them.
    Multihomed,
    /// Each stays in its cell, and can be used while that is heard; transports are told which can and which is preferred.
    MobileSctp(PrimaryChange),
    /// Mobile IPv4: the home address follows by registration and tunnel, the others stay in their cells.
    MobileIp,
}

impl Scheme {
    /// Its name in the table of handovers.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Bridged => "bridged",
            Scheme::Multihomed => "multihomed",
            Scheme::MobileSctp(_) => "mobile_sctp",
            Scheme::MobileIp => "mobile_ip",
        }
    }
}

/// A cell in the network.
#[derive(Clone, Debug)]
pub struct CellPlace {
    /// Its name in the scenario.
    pub name: String,
    /// Its link.
    pub link: LinkId,
    /// The node that is its base station.
    pub base_station: NodeId,
    /// The base station's broadcast interface.
    pub broadcast: Address,
    /// The time between two beacons; the first comes at the start of the run plus `first_beacon`.
    pub beacon_period: Span,
    /// When the first beacon comes.
    pub first_beacon: Time,
    /// Its stations in the order of the cell: numbers of [`Handovers::stations`], and the place of the cell in
    /// [`StationPlace::cells`].
    pub stations: Vec<(u32, usize)>,
}

/// A station's membership in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The cell: a number of [`Handovers::cells`].
    pub cell: u32,
    /// The station's number in the cell.
    pub number: u32,
    /// The station's interface there.
    pub interface: Address,
}

/// A station in the network.
#[derive(Clone, Debug)]
pub struct StationPlace {
    /// The node.
    pub node: NodeId,
    /// The scheme that it uses.
    pub scheme: Scheme,
    /// The cells that it may be in, in the order of the scenario.
    pub cells: Vec<Membership>,
    /// Which of them it is associated with.
    pub association: Association,
    /// The place among `cells` of the one that its packets went through last.
    current: Option<usize>,
    /// Since when.
    taken_at: Time,
    /// When it found out that it had lost it.
    left_at: Option<Time>,
    /// Its handover that is still watched: a number of [`Handovers::records`].
    open: Option<usize>,
    /// What its old path has carried is in there.
    old_taken: bool,
    /// Whether it is among [`Handovers::announced`].
    announced: bool,
    /// The SCTP sockets that follow its addresses.
    pub(crate) followers: Vec<u32>,
}

impl StationPlace {
    /// A station that has heard nothing yet.
    pub fn new(
        node: NodeId,
        scheme: Scheme,
        cells: Vec<Membership>,
        association: Association,
    ) -> StationPlace {
        StationPlace {
            node,
            scheme,
            cells,
            association,
            current: None,
            taken_at: Time::ZERO,
            left_at: None,
            open: None,
            old_taken: false,
            announced: false,
            followers: Vec::new(),
        }
    }
}

impl StationPlace {
    /// The addresses in cells that it hears, the one that it prefers first, then by their order in the scenario.
    pub fn usable(&self) -> Vec<Address> {
        let heard = |&cell: &usize| self.association.missed(cell).is_some();
        let preferred = self.current.filter(heard);
        let others = (0..self.cells.len()).filter(|&cell| Some(cell) != preferred).filter(heard);
        preferred.into_iter().chain(others).map(|cell| self.cells[cell].interface).collect()
    }
}

/// Cells, stations, and the handovers so far.
#[derive(Clone, Debug, Default)]
pub struct Handovers {
    /// In the order of the scenario.
    pub cells: Vec<CellPlace>,
    /// In the order of the scenario.
    pub stations: Vec<StationPlace>,
    /// In the order of their beginnings.
    pub records: Vec<Handover>,
    /// Stations whose usable addresses have changed, for the world to tell their transports.
    announced: Vec<u32>,
    cell_of: BTreeMap<LinkId, u32>,
    station_of: BTreeMap<NodeId, u32>,
}

impl Handovers {
    /// Adds a cell; returns its number.
    pub fn add_cell(&mut self, cell: CellPlace) -> u32 {
        let number = self.cells.len() as u32;
        self.cell_of.insert(cell.link, number);
        self.cells.push(cell);
        number
    }

    /// Adds a station; returns its number.
    pub fn add_station(&mut self, station: StationPlace) -> u32 {
        let number = self.stations.len() as u32;
        self.station_of.insert(station.node, number);
        self.stations.push(station);
        number
    }

    /// The cell that is this link.
    pub fn cell_of(&self, link: LinkId) -> Option<u32> {
        self.cell_of.get(&link).copied()
    }

    /// The number of a node among the stations.
    pub fn station_of(&self, node: NodeId) -> Option<u32> {
        self.station_of.get(&node).copied()
    }

    /// The station that is this node.
    pub fn station(&self, node: NodeId) -> Option<&StationPlace> {
        self.stations.get(self.station_of(node)? as usize)
    }

    /// The transports of a station are to be told of its addresses.
    fn announce(&mut self, station: u32) {
        if !std::mem::replace(&mut self.stations[station as usize].announced, true) {
            self.announced.push(station);
        }
    }

    /// The next station whose transports are to be told of its addresses.
    pub(crate) fn take_announced(&mut self) -> Option<u32> {
        let station = self.announced.pop()?;
        self.stations[station as usize].announced = false;
        Some(station)
    }

    /// A cell beacons: who hears it, and what follows.
    pub(crate) fn beacon(&mut self, network: &mut Network, now: Time, cell: u32) {
        let place = &self.cells[cell as usize];
        let (link, count) = (place.link, place.stations.len());
        for number in 0..count {
            let (station, membership) = self.cells[cell as usize].stations[number];
            let heard = network.stations_mut(link).and_then(|stations| stations.beacon(number as u32, now));
            let indications = self.stations[station as usize].association.beacon(membership, heard);
            for indication in indications {
                self.indicate(network, now, station, indication);
            }
        }
    }

    /// The link layer of a station indicates something to the scheme.
    fn indicate(&mut self, network: &mut Network, now: Time, station: u32, indication: Indication) {
        match self.stations[station as usize].scheme {
            Scheme::Bridged => bridged::indication(self, network, now, station, indication),
            Scheme::MobileSctp(rule) => {
                mobile_sctp::indication(self, network, now, station, rule, indication)
            }
            Scheme::Multihomed | Scheme::MobileIp => {}
        }
    }
}
