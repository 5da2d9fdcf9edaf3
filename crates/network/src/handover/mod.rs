//! Handovers: how stations find their cell, and what a mobility scheme does when they change it.
//!
//! Links report link events (`link/indication.rs`). Machines take these events and return actions. The
//! parts shared by all schemes, and one file per scheme:
//! - [`association`]: the cell that a station is associated with. Link layer, the same for all schemes.
//! - [`record`]: the counters of a handover, a row of the result table `handovers`.
//! - this file: cells and stations as schemes see them, their events (`Cue`), and their `Action`s.
//! - [`bridged`]: all base stations are one bridged network, routes follow the association at once.
//! - [`mobile_ip`]: Mobile IPv4, over the network layer alone; link events are ignored.
//! - [`mih`]: an address in each cell; MIH users redirect flows, by `redirection`.
//! - [`mobile_sctp`]: an address in each cell; link events say which are usable and which is preferred.
//!
//! To add a scheme: a variant of [`Scheme`] with its name, its arm in `Handovers::react`, and a file here
//! with its `react`, which may only read the station's place; in `scenario/src/handover/`, its name for the
//! key `handover` and its needs of cells. Besides actions a scheme may use `Network::broadcast` (to all
//! stations in reach of a base station, by the broadcast interface [`CellPlace::broadcast`]) and
//! `Network::send_by` (by a given interface). Broadcasts end in `World::receive_broadcast`, with their
//! interface of arrival. A scheme's own packets must not count as packets of a flow: see
//! `Packet::is_of_a_flow`.
//!
//! Transports know nothing of handovers. A scheme that leaves the rest to transports names the usable
//! addresses of a station ([`StationPlace::usable`]) and announces them. The world passes them to its
//! sockets (`world/addresses.rs`), and SCTP associations send requests to their peers
//! (`world/reconfiguration.rs`).

pub mod association;
pub mod bridged;
pub mod mih;
pub mod mobile_ip;
pub mod mobile_sctp;
pub mod record;
pub(crate) mod redirection;

use self::association::{Association, Change};
use self::mobile_sctp::PrimaryChange;
use self::record::Handover;
use crate::ends::SocketId;
use crate::link::Link;
use crate::link::indication::{Indication, LinkEvent, Quality};
use crate::network::Network;
use crate::topology::{LinkId, NodeId};
use roamsim_engine::Time;
use roamsim_protocols::Address;
use std::collections::{BTreeMap, BTreeSet};

/// What a station's addresses do when it changes its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// They all follow the association at once.
    Bridged,
    /// Each stays in its cell; a transport that knows several addresses may use them.
    Multihomed,
    /// Each stays in its cell, and can be used while that is heard; transports are told which can and which
    /// is preferred.
    MobileSctp(PrimaryChange),
    /// The same for clients of QUIC, which migrate to the preferred address (RFC 9000 section 9).
    Migration(PrimaryChange),
    /// Mobile IPv4: the home address follows by registration and tunnel, the others stay in their cells.
    MobileIp,
    /// Each stays in its cell; flows begin in this one, a place among [`StationPlace::cells`], and are
    /// redirected when MIH users say so.
    Mih(u32),
    /// Each stays in its cell; a selection says which of the node's interfaces is used
    /// ([`crate::selection`]). Then the node is a station for each of its radios.
    Selected,
}

impl Scheme {
    /// Whether transports are told which addresses can be used, and which is preferred.
    pub(crate) fn tells_transports(self) -> bool {
        matches!(self, Scheme::MobileSctp(_) | Scheme::Migration(_))
    }

    /// Its name in the table of handovers.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Bridged => "bridged",
            Scheme::Multihomed => "multihomed",
            Scheme::MobileSctp(_) => "mobile_sctp",
            Scheme::Migration(_) => "migration",
            Scheme::MobileIp => "mobile_ip",
            Scheme::Mih(_) => "mih",
            Scheme::Selected => "selected",
        }
    }
}

/// What a scheme hears of a station. Cells are places among [`StationPlace::cells`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cue {
    /// A link event of one of its cells.
    Link(usize, LinkEvent),
    /// Of the cells that it uses at a time, this one is the nearest now.
    Nearest(usize),
}

/// What a scheme does about it. Cells are places among [`StationPlace::cells`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Packets to one address go where those to another go.
    Redirect {
        /// The one.
        address: Address,
        /// The other.
        to: Address,
    },
    /// The station sends everything by this interface, or nothing at all.
    Egress(Option<Address>),
    /// It has lost its old path.
    Left,
    /// It has decided for the path through this cell.
    Begin(usize),
    /// It has asked for that path: a request has left.
    Requested,
    /// It may use that path.
    Complete,
    /// It comes back to this cell.
    CloseOldPath(usize),
    /// Its transports are to be told of its addresses.
    Announce,
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
}

/// A station's membership in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The cell: a number of [`Handovers::cells`].
    pub cell: u32,
    /// The station's number on the link, with the base station of the cell.
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
    /// Of which of them the link is up.
    connected: Vec<bool>,
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
    /// The cell that it is associated with lets it listen to others now.
    scans: bool,
    /// The sockets that follow its addresses.
    pub(crate) followers: Vec<SocketId>,
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
            connected: vec![false; cells.len()],
            cells,
            association,
            current: None,
            taken_at: Time::ZERO,
            left_at: None,
            open: None,
            old_taken: false,
            announced: false,
            scans: false,
            followers: Vec::new(),
        }
    }
}

impl StationPlace {
    /// The addresses in cells that it hears, the one that it prefers first, then by their order in the
    /// scenario.
    pub fn usable(&self) -> impl Iterator<Item = Address> {
        let heard = |&cell: &usize| self.association.hears(cell);
        let preferred = self.current.filter(heard);
        let others = (0..self.cells.len()).filter(move |&cell| Some(cell) != preferred).filter(heard);
        preferred.into_iter().chain(others).map(|cell| self.cells[cell].interface)
    }

    /// When it lost the path that it uses, and nothing has followed, though MIH users were to hand it over.
    pub(crate) fn failed_at(&self) -> Option<Time> {
        self.left_at.filter(|_| matches!(self.scheme, Scheme::Mih(_)))
    }

    /// Whether it is connected in a cell, a place among `cells`, and uses it: where MIH users redirect its
    /// traffic, once that goes there.
    pub(crate) fn uses(&self, cell: usize) -> bool {
        self.connected[cell] && (!matches!(self.scheme, Scheme::Mih(_)) || self.current == Some(cell))
    }
}

/// Cells, stations, and the handovers so far.
#[derive(Clone, Debug, Default)]
pub struct Handovers {
    /// In the order of the scenario.
    pub cells: Vec<CellPlace>,
    /// In the order of the scenario.
    pub stations: Vec<StationPlace>,
    /// Changes of cells in the order of their beginnings, and among them losses of a link that nothing
    /// followed.
    pub records: Vec<Handover>,
    /// Stations whose usable addresses have changed, for the world to tell their transports.
    announced: Vec<u32>,
    /// Links that stations listen to again, or associate with, or not any more, for the world to wake.
    changed: Vec<LinkId>,
    /// By the interface of a base station to a station, its cell.
    cell_of: BTreeMap<Address, u32>,
    /// By the number of an interface that is a station's: the station, and the place of the cell among its
    /// own.
    station_at: Vec<Option<(u32, usize)>>,
    station_of: BTreeMap<NodeId, u32>,
    /// Interfaces to links that are no cells and have told that they are down.
    down: BTreeSet<Address>,
}

impl Handovers {
    /// Adds a cell whose base station has these interfaces to its stations; returns its number.
    pub fn add_cell(&mut self, cell: CellPlace, interfaces: &[Address]) -> u32 {
        let number = self.cells.len() as u32;
        self.cell_of.extend(interfaces.iter().map(|&interface| (interface, number)));
        self.cells.push(cell);
        number
    }

    /// Adds a station; returns its number.
    pub fn add_station(&mut self, station: StationPlace) -> u32 {
        let number = self.stations.len() as u32;
        self.station_of.insert(station.node, number);
        for (place, membership) in station.cells.iter().enumerate() {
            let interface = membership.interface.0 as usize;
            self.station_at.resize(self.station_at.len().max(interface + 1), None);
            self.station_at[interface] = Some((number, place));
        }
        self.stations.push(station);
        number
    }

    /// The cell in which a base station has this interface to a station.
    pub fn cell_of(&self, interface: Address) -> Option<u32> {
        self.cell_of.get(&interface).copied()
    }

    fn station_at(&self, interface: Address) -> Option<(u32, usize)> {
        self.station_at.get(interface.0 as usize).copied().flatten()
    }

    /// The number on its link of the station that has this interface.
    pub(crate) fn number_of(&self, interface: Address) -> Option<u32> {
        let (station, place) = self.station_at(interface)?;
        Some(self.stations[station as usize].cells[place].number)
    }

    /// How good the cell is in which a station has this interface, as it heard it last.
    pub(crate) fn quality_at(&self, interface: Address) -> Option<Quality> {
        let (station, place) = self.station_at(interface)?;
        self.stations[station as usize].association.quality(place)
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
    pub(crate) fn announce(&mut self, station: u32) {
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

    /// A link indicates something to one of its stations: the station's association hears it, then its
    /// scheme, which does something about it; what the association does is another link event.
    pub(crate) fn on_link_event(
        &mut self,
        network: &mut Network,
        now: Time,
        link: LinkId,
        indication: Indication,
    ) {
        network.indicate(now, link, indication);
        let interface = network.address_of(link, indication.at);
        let event = indication.event;
        let Some((station, place)) = self.station_at(interface) else {
            return self.on_event_of_another_link(network, interface, event);
        };
        let own = &mut self.stations[station as usize];
        let before = own.association.current();
        let changes = own.association.on_link_event(place, event);
        if matches!(event, LinkEvent::ScanBegun | LinkEvent::ScanEnded) || own.association.current() != before
        {
            own.scans = event == LinkEvent::ScanBegun;
            self.tune(network, now, station);
        }
        self.react(network, now, station, Cue::Link(place, event));
        changes.into_iter().for_each(|change| self.change(network, now, station, change));
    }

    /// A station has one radio for the cells of a kind that it is in one at a time: it listens to others than
    /// its own where it has none, and while that lets it.
    fn tune(&mut self, network: &mut Network, now: Time, station: u32) {
        let StationPlace { cells, association, scans, .. } = &self.stations[station as usize];
        if !association.uses_one() || cells.len() < 2 {
            return;
        }
        let link_of = |place: usize| self.cells[cells[place].cell as usize].link;
        let kind_of = |network: &Network, place: usize| network.link(link_of(place)).link_type();
        let own = association.current();
        for (place, membership) in cells.iter().enumerate() {
            let busy =
                own.is_some_and(|own| own != place && kind_of(network, own) == kind_of(network, place));
            let link = link_of(place);
            let listens = !busy || *scans;
            let stations = network.stations_mut(link);
            if stations.is_some_and(|stations| stations.listen(now, membership.number, listens)) {
                self.changed.push(link);
            }
        }
    }

    /// The next link that has something to do since a station listens to it again, or not any more.
    pub(crate) fn take_changed(&mut self) -> Option<LinkId> {
        self.changed.pop()
    }

    /// A station's association changes: its link is told, and what that indicates at once its scheme hears.
    fn change(&mut self, network: &mut Network, now: Time, station: u32, change: Change) {
        let (place, takes) = match change {
            Change::Nearest(place) => return self.react(network, now, station, Cue::Nearest(place)),
            Change::Associate(place) => (place, true),
            Change::Leave(place) => (place, false),
        };
        let Membership { cell, number, interface } = self.stations[station as usize].cells[place];
        let link = self.cells[cell as usize].link;
        let at = network.topology.attachment(interface).1;
        let Some(stations) = network.stations_mut(link) else { return };
        let event = if takes { stations.associate(now, number) } else { stations.leave(now, number) };
        if let Some(event) = event {
            network.indicate(now, link, Indication { at, event });
            self.react(network, now, station, Cue::Link(place, event));
        }
    }

    /// The station with this interface, if it uses all of its cells, and the cell's place among them.
    pub(crate) fn member_of_all(&self, interface: Address) -> Option<(u32, usize)> {
        let (station, place) = self.station_at(interface)?;
        (!self.stations[station as usize].association.uses_one()).then_some((station, place))
    }

    /// Link_Action.request at a station's link of a cell: power up, or disconnect. Returns the link, if it
    /// has something to do.
    pub fn permit(
        &mut self,
        network: &mut Network,
        now: Time,
        station: u32,
        place: usize,
        permitted: bool,
    ) -> Option<LinkId> {
        let change = self.stations[station as usize].association.permit(place, permitted);
        let Membership { cell, number, .. } = self.stations[station as usize].cells[place];
        let link = self.cells[cell as usize].link;
        network.stations_mut(link)?.switch(now, number, permitted);
        if let Some(change) = change {
            self.change(network, now, station, change);
        }
        Some(link)
    }

    /// A link that is no cell goes down or comes up: of a station whose transports follow its addresses, one
    /// more cannot be used, or can again.
    fn on_event_of_another_link(&mut self, network: &Network, interface: Address, event: LinkEvent) {
        let changes = match event {
            LinkEvent::Down(_) => self.down.insert(interface),
            LinkEvent::Up => self.down.remove(&interface),
            _ => false,
        };
        if changes
            && let Some(station) = self.station_of(network.topology.owner(interface))
            && self.stations[station as usize].scheme.tells_transports()
        {
            self.announce(station);
        }
    }

    /// Whether the link of an interface, other than a cell's, has told that it is down.
    pub(crate) fn is_down(&self, interface: Address) -> bool {
        self.down.contains(&interface)
    }

    /// Something has happened to a station: its scheme does something about it.
    fn react(&mut self, network: &mut Network, now: Time, station: u32, cue: Cue) {
        let place = &mut self.stations[station as usize];
        match cue {
            Cue::Link(cell, LinkEvent::Up) => place.connected[cell] = true,
            Cue::Link(cell, LinkEvent::Down(_)) => place.connected[cell] = false,
            Cue::Link(..) | Cue::Nearest(_) => {}
        }
        let actions = match place.scheme {
            Scheme::Bridged => bridged::react(place, cue),
            Scheme::MobileSctp(rule) | Scheme::Migration(rule) => mobile_sctp::react(rule, place, cue),
            Scheme::Mih(first) => mih::react(first, place, cue),
            Scheme::Multihomed | Scheme::MobileIp | Scheme::Selected => return,
        };
        actions.into_iter().for_each(|action| self.perform(network, now, station, action));
    }

    /// Does what a station's scheme says.
    pub(crate) fn perform(&mut self, network: &mut Network, now: Time, station: u32, action: Action) {
        match action {
            Action::Redirect { address, to } => network.topology.redirect(address, to),
            Action::Egress(interface) => {
                network.topology.set_egress(self.stations[station as usize].node, interface);
            }
            Action::Left => self.left(now, station),
            Action::Begin(place) => self.begin(network, now, station, place),
            Action::Requested => self.requested(station),
            Action::Complete => self.complete(now, station),
            Action::CloseOldPath(place) => self.close_old_path(network, station, place),
            Action::Announce => self.announce(station),
        }
    }
}
