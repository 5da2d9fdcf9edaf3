//! How a station becomes associated with an access point, and leaves it (clause 11.3).
//!
//! Who is above (`handover/association.rs`) chooses. Joining is authentication (open system, two frames) and
//! association (two frames), each request at most `attempts` times; after the last one the cell is lost.
//!
//! The access point that a station leaves hears of it when the station is associated with another one, by the
//! distribution system and at once; until then it tries to reach it.

use super::layout::MemberIndex;
use super::station::State;
use super::{Associations, Wish};
use crate::link::indication::LinkEvent;
use crate::link::wifi::agenda::Agenda;
use crate::link::wifi::index::RadioIndex;
use crate::link::wifi::management::Management;
use crate::link::wifi::radios::account::RadioTime;
use roamsim_engine::Time;

impl Associations {
    /// Asks for authentication, or for association.
    pub(super) fn ask(
        &mut self,
        now: Time,
        radio: RadioIndex,
        (to, authenticated, asked): (MemberIndex, bool, u32),
        agenda: &mut Agenda,
    ) -> Wish {
        let Some(station) = self.station(radio) else { return Wish::Nothing };
        let again = station.registered.is_some();
        let until = now + station.config.failure_timeout;
        self.set_state(now, radio, State::Joining { to, authenticated, asked: asked + 1 });
        let what = match authenticated {
            false => Management::Authentication,
            true => Management::AssociationRequest { again },
        };
        self.set_timer(radio, until, agenda);
        Wish::Send(what, self.members[to].cell.access_point())
    }

    /// An access point has answered a station's request for authentication.
    pub fn is_authenticated(
        &mut self,
        now: Time,
        radio: RadioIndex,
        access_point: RadioIndex,
        agenda: &mut Agenda,
    ) -> Wish {
        let Some(station) = self.station(radio) else { return Wish::Nothing };
        if let State::Joining { to, authenticated: false, .. } = station.state
            && self.members[to].cell.access_point() == access_point
        {
            return self.ask(now, radio, (to, true, 0), agenda);
        }
        Wish::Nothing
    }

    /// An access point has answered a station's request for association. What the radio did until
    /// now it did as the member that the station was.
    pub fn is_associated(
        &mut self,
        now: Time,
        radio: RadioIndex,
        access_point: RadioIndex,
        time: &mut RadioTime,
        agenda: &mut Agenda,
    ) -> Wish {
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else {
            return Wish::Nothing;
        };
        let State::Joining { to, authenticated: true, .. } = station.state else { return Wish::Nothing };
        if self.members[to].cell.access_point() != access_point {
            return Wish::Nothing;
        }
        station.state = State::Associated;
        station.associated = Some(to);
        station.listed = true;
        if let Some(before) = station.registered.replace(to) {
            let time = std::mem::take(time);
            let before = &mut self.members[before];
            before.time = before.time.and(&time);
        }
        station.heard_own = now;
        station.going_down = false;
        let watched = now + self.time_to_lose(radio);
        self.note_phase(now, radio);
        self.indicate(now, to, LinkEvent::Up);
        self.set_timer(radio, watched, agenda);
        Wish::Resume
    }

    /// An access point hears from a station that they are not associated; by now they may be, when the frame
    /// had to wait.
    pub fn is_disassociated(&mut self, radio: RadioIndex, access_point: RadioIndex) {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let listed = station.registered.filter(|&member| members[member].cell.access_point() == access_point);
        if listed.is_some() && station.associated != listed {
            station.listed = false;
        }
    }

    /// Nobody answers: the cell is lost, and others are looked for.
    pub(super) fn fail_to_join(&mut self, now: Time, radio: RadioIndex, to: MemberIndex) -> Wish {
        if let Some(station) = self.station_mut(radio) {
            station.forget(to);
        }
        self.indicate(now, to, LinkEvent::Lost);
        self.begin_scan(now, radio)
    }

    /// A station is to join a cell.
    pub fn join(&mut self, now: Time, member: MemberIndex) -> Wish {
        let radio = self.members[member].radio;
        let Some(station) = self.station_mut(radio).filter(|station| station.associated != Some(member))
        else {
            return Wish::Nothing;
        };
        station.associated = None;
        station.state = State::Joining { to: member, authenticated: false, asked: 0 };
        // Whatever its timer was for.
        station.timer += 1;
        self.note_phase(now, radio);
        Wish::Depart
    }

    /// A station gives a cell up that it joins, or is associated with; whether it is the latter.
    pub fn give_up_cell(&mut self, now: Time, member: MemberIndex, agenda: &mut Agenda) -> Option<bool> {
        let radio = self.members[member].radio;
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
        self.set_timer(radio, next, agenda);
        Some(up)
    }
}
