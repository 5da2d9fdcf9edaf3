//! How a station becomes associated with an access point, and leaves it (clause 11.3).
//!
//! Who is above (`handover/association.rs`) chooses. Joining is authentication (open system, two frames) and
//! association (two frames), each request at most `attempts` times; after the last one the cell is lost.
//!
//! The access point that a station leaves hears of it when the station is associated with another one, by the
//! distribution system and at once; until then it tries to reach it.

use crate::link::indication::{LinkDownReason, LinkEvent};
use crate::link::wifi::Cell;
use crate::link::wifi::management::Management;
use crate::link::wifi::stations::station::State;
use roamsim_engine::Time;

impl Cell {
    /// Asks for authentication, or for association.
    pub(in crate::link::wifi) fn ask(
        &mut self,
        now: Time,
        radio: usize,
        to: u32,
        authenticated: bool,
        asked: u32,
    ) {
        let Some(station) = self.station(radio) else { return };
        let again = station.registered.is_some();
        let until = now + station.config.failure_timeout;
        self.set_state(now, radio, State::Joining { to, authenticated, asked: asked + 1 });
        let what = match authenticated {
            false => Management::Authentication,
            true => Management::AssociationRequest { again },
        };
        self.push_management(now, radio, what, self.members[to as usize].cell);
        self.set_timer(radio, until);
    }

    /// The access point of a cell has answered a station's request for authentication.
    pub(in crate::link::wifi) fn is_authenticated(&mut self, now: Time, radio: usize, cell: usize) {
        let Some(station) = self.station(radio) else { return };
        if let State::Joining { to, authenticated: false, .. } = station.state
            && self.members[to as usize].cell == cell
        {
            self.ask(now, radio, to, true, 0);
        }
    }

    /// The access point of a cell has answered a station's request for association.
    pub(in crate::link::wifi) fn is_associated(&mut self, now: Time, radio: usize, cell: usize) {
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let State::Joining { to, authenticated: true, .. } = station.state else { return };
        if self.members[to as usize].cell != cell {
            return;
        }
        station.state = State::Associated;
        station.associated = Some(to);
        station.listed = true;
        if let Some(before) = station.registered.replace(to) {
            // What it did until now it did as that member.
            let time = std::mem::take(&mut self.radios[radio].time);
            let before = &mut self.members[before as usize];
            before.time = before.time.and(&time);
        }
        station.heard_own = now;
        station.going_down = false;
        let watched = now + self.time_to_lose(radio);
        self.note_phase(now, radio);
        self.radios[radio].blocked = false;
        self.indicate(now, to, LinkEvent::Up);
        self.set_timer(radio, watched);
        self.resume(now, radio);
    }

    /// An access point hears from a station that they are not associated; by now they may be, when the frame
    /// had to wait.
    pub(in crate::link::wifi) fn is_disassociated(&mut self, radio: usize, cell: usize) {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let listed = station.registered.filter(|&member| members[member as usize].cell == cell);
        if listed.is_some() && station.associated != listed {
            station.listed = false;
        }
    }

    /// Nobody answers: the cell is lost, and others are looked for.
    pub(in crate::link::wifi) fn fail_to_join(&mut self, now: Time, radio: usize, to: u32) {
        if let Some(station) = self.station_mut(radio) {
            station.forget(to);
        }
        self.indicate(now, to, LinkEvent::Lost);
        self.begin_scan(now, radio);
    }

    /// A station is to join a cell.
    pub(in crate::link::wifi) fn join(&mut self, now: Time, member: u32) {
        let radio = self.members[member as usize].radio;
        let Some(station) = self.station_mut(radio) else { return };
        if station.associated == Some(member) {
            return;
        }
        station.associated = None;
        station.state = State::Joining { to: member, authenticated: false, asked: 0 };
        // Whatever its timer was for.
        station.timer += 1;
        self.note_phase(now, radio);
        self.depart(now, radio);
        self.plan();
    }

    /// A station gives a cell up.
    pub(in crate::link::wifi) fn give_up_cell(&mut self, now: Time, member: u32) -> Option<LinkEvent> {
        let radio = self.members[member as usize].radio;
        let station = self.station_mut(radio)?;
        let joins = matches!(station.state, State::Joining { to, .. } if to == member);
        let up = station.associated == Some(member);
        if !joins && !up {
            return None;
        }
        station.associated = None;
        station.going_down = false;
        station.state = State::Waiting;
        let next = now + station.config.scan_interval;
        self.note_phase(now, radio);
        self.set_timer(radio, next);
        self.depart(now, radio);
        up.then_some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT))
    }
}
