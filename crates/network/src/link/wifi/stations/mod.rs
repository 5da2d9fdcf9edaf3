//! Stations: the cells that they hear, how they find and join them, and who is associated with whom.
//!
//! [`layout`] has cells, members and ways, [`station`] what a station knows, [`signals`] what it hears of its
//! cells, [`scan`] how it finds access points, [`joining`] how it becomes associated. They have no radio:
//! whatever a station needs its radio for is a [`Wish`].

mod joining;
pub mod layout;
mod scan;
mod signals;
pub mod station;

use self::layout::{CellPlace, MemberIndex, Members, Way};
use self::station::{State, Station};
use super::agenda::{Agenda, Step};
use super::index::{ByCell, ByRadio, CellIndex, RadioIndex};
use super::loss::{Losses, Of};
use super::management::Management;
use super::radios::radio::ALL;
use crate::drops::{DropReason, Dropped};
use crate::link::Attachment;
use crate::link::indication::{Indication, LinkEvent};
use crate::link::phase::{Phase, Phases};
use crate::packet::Packet;
use roamsim_engine::Time;
use std::collections::VecDeque;

/// What a station needs its radio for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Nothing,
    /// To leave its channel when its frame exchange is over.
    Depart,
    /// To go on with its packets.
    Resume,
    /// To send a management frame.
    Send(Management, RadioIndex),
}

/// Cells and stations, and who is associated with whom.
#[derive(Debug)]
pub struct Associations {
    pub cells: ByCell<CellPlace>,
    pub members: Members,
    /// By attachment.
    pub ways: Vec<Way>,
    /// By radio: those that find their access point.
    pub stations: ByRadio<Option<Station>>,
    /// Whether any is one, or any cell has beacons.
    pub has_paths: bool,
    pub phases: Phases,
    pub indications: VecDeque<(Time, Indication)>,
    /// Losses beside the radio.
    pub losses: Option<Box<Losses>>,
}

impl Associations {
    /// Nobody is associated.
    pub fn new(
        cells: ByCell<CellPlace>,
        members: Members,
        ways: Vec<Way>,
        stations: ByRadio<Option<Station>>,
    ) -> Associations {
        Associations {
            has_paths: stations.iter().any(Option::is_some)
                || cells.iter().any(|cell| cell.beacons.is_some()),
            cells,
            members,
            ways,
            stations,
            phases: Phases::default(),
            indications: VecDeque::new(),
            losses: None,
        }
    }

    /// The way of packets from an attachment.
    #[inline(always)]
    pub fn way(&self, from: Attachment) -> &Way {
        &self.ways[from.0 as usize]
    }

    /// The cell of an access point's radio.
    pub fn cell_of(&self, radio: RadioIndex) -> Option<CellIndex> {
        radio.cell(self.cells.len())
    }

    pub fn station(&self, radio: RadioIndex) -> Option<&Station> {
        self.stations.get(radio)?.as_ref()
    }

    pub fn station_mut(&mut self, radio: RadioIndex) -> Option<&mut Station> {
        self.stations.get_mut(radio)?.as_mut()
    }

    fn set_timer(&mut self, radio: RadioIndex, at: Time, agenda: &mut Agenda) {
        let Some(station) = self.station_mut(radio) else { return };
        station.timer += 1;
        agenda.put(at, Step::Station(radio, station.timer));
    }

    /// A link event of a station in one of its cells.
    pub fn indicate(&mut self, now: Time, member: MemberIndex, event: LinkEvent) {
        let at = self.members[member].up;
        if let Some(losses) = &mut self.losses {
            losses.hear(member, event);
        }
        self.indications.push_back((now, Indication { at, event }));
    }

    fn set_state(&mut self, now: Time, radio: RadioIndex, state: State) {
        if let Some(station) = self.station_mut(radio) {
            station.state = state;
        }
        self.note_phase(now, radio);
    }

    /// The state of a station is another one: what its radio does is logged.
    fn note_phase(&mut self, now: Time, radio: RadioIndex) {
        let Some(station) = self.station(radio) else { return };
        let up = |member: MemberIndex| self.members[member].up;
        let phase = match station.state {
            State::Waiting | State::Associated => None,
            State::Scanning(..) => {
                station.members.first().map(|&first| (Phase::Scanning, up(first), station.members.len() > 1))
            }
            State::Joining { to, authenticated: false, .. } => Some((Phase::Authentication, up(to), false)),
            State::Joining { to, authenticated: true, .. } => Some((Phase::Association, up(to), false)),
        };
        self.phases.enter(now, radio.0, phase);
    }

    /// Whether a packet from an attachment, or an attempt at it, is lost beside the radio.
    pub fn loses(&mut self, now: Time, from: Attachment, packet: &Packet, of: Of) -> bool {
        let member = self.ways[from.0 as usize].member;
        self.losses.as_mut().is_some_and(|losses| losses.take(now, from, member, packet, of))
    }

    /// Whether a packet may leave its attachment: for all that its sender knows, the two ends are associated.
    pub fn may_go(&self, from: Attachment) -> bool {
        self.is_associated_by(from, |way, radio| way.to == radio)
    }

    /// Whether what has left it may arrive: the same for all that its receiver knows.
    pub fn may_arrive(&self, from: Attachment) -> bool {
        self.is_associated_by(from, |way, radio| way.to != radio)
    }

    /// Whether two ends are associated, as one of them knows it: the access point, or the station.
    fn is_associated_by(&self, from: Attachment, access_point: impl Fn(&Way, RadioIndex) -> bool) -> bool {
        let way = self.way(from);
        if !self.has_paths || way.to == ALL {
            return true;
        }
        let radio = self.members[way.member].radio;
        let Some(station) = self.station(radio) else { return true };
        station.on_list_of(access_point(way, radio)) == Some(way.member)
    }

    /// Whether an access point has a member's station on its list.
    pub fn has_on_list(&self, member: MemberIndex) -> bool {
        let station = self.stations[self.members[member].radio].as_ref();
        station.is_none_or(|station| station.on_list_of(true) == Some(member))
    }

    /// The path that a packet was on hears of its arrival.
    pub fn arrives(&mut self, now: Time, from: Attachment, packet: &Packet) {
        if self.has_paths && packet.is_of_a_flow() {
            let way = self.ways[from.0 as usize];
            self.members[way.member].path.arrived(now, way.toward);
        }
    }

    /// The path that a packet was on hears of its loss.
    pub fn is_lost(&mut self, at: Time, from: Attachment, packet: &Packet, reason: DropReason) {
        if self.has_paths && packet.is_of_a_flow() {
            let (way, dropped) = (self.ways[from.0 as usize], Dropped { reason, at });
            self.members[way.member].path.lost(dropped, way.toward, packet.carried());
        }
    }
}
