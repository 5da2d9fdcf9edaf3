//! Link events in the world: they go to handovers first, then to paths that change, then to the users of
//! MIH functions.
//!
//! If a signalling entry is driven by link events, the MIHF of its origin registers the links of its node
//! with the responder, whose user subscribes to the events of each. From then on the MIHF gets the
//! indications of its links (MIH_LINK_SAP) and sends the user an indication of each event.

use super::World;
use crate::alarm::Moment;
use crate::link::Link;
use crate::link::indication::LinkEvent;
use crate::recorder::LinkEventRow;
use crate::signalling::{Kind, SignallingConfig, heard_by_mihf, link_address};
use crate::topology::LinkId;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::mih::wire::link::{EventList, LinkId as MihLinkId, LinkTupleId};

impl World {
    /// A link may have link events.
    pub(super) fn handle_indications(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        if !self.network.indications_fire(now, number) {
            return false;
        }
        while let Some(indication) = self.network.poll_indication(now, number) {
            self.handovers.on_link_event(&mut self.network, now, LinkId(number), indication);
            self.tell_listeners(moment);
        }
        self.network.rearm(number, moment);
        self.network.arm_indications(moment, number);
        while let Some(LinkId(other)) = self.handovers.take_changed() {
            self.network.rearm(other, moment);
            self.network.arm_indications(moment, other);
        }
        self.announce_addresses();
        true
    }

    /// Finds the signalling entries that link events drive.
    pub(super) fn find_link_event_users(&mut self) {
        for (number, signalling) in (0..).zip(&self.signalling) {
            if signalling.config.kind == Kind::LinkEvents {
                let node = self.mih_nodes[signalling.origin.mihf as usize].node;
                self.link_event_users.entry(node).or_default().push(number);
            }
        }
    }

    /// What links have indicated changes the paths that do so, and is told to the MIHFs of their nodes
    /// (MIH_LINK_SAP), for the entries that want to know.
    pub(super) fn tell_listeners(&mut self, moment: &mut Moment<'_>) {
        let now = moment.now;
        while let Some((link, indication)) = self.network.indicated.pop_front() {
            self.change_paths(moment, link, indication);
            if let Some(signals) = &mut self.signals {
                let at = self.network.address_of(link, indication.at);
                signals.take(LinkEventRow { time: now, at, event: indication.event });
            }
            if !self.mih_handovers.is_empty() {
                let interface = self.network.address_of(link, indication.at);
                self.tell_handover_users(now, interface, indication.event);
            }
            let interface = self.network.address_of(link, indication.at);
            if !self.selections.is_empty() {
                self.tell_selection(moment, interface, indication.event);
            }
            let node = self.network.topology.owner(interface);
            for at in 0..self.link_event_users.get(&node).map_or(0, Vec::len) {
                self.tell_peer(now, self.link_event_users[&node][at], interface, indication.event);
            }
        }
    }

    /// The MIHF of an entry's origin hears of an event of a link of its node, and tells its peer if that
    /// wants to know.
    pub(super) fn tell_peer(&mut self, now: Time, number: u32, interface: Address, event: LinkEvent) {
        let (link, _) = self.network.topology.attachment(interface);
        let reach_m = self.network.stations(link).and_then(|stations| stations.reach_m());
        let Some(heard) = heard_by_mihf(event, reach_m.unwrap_or(f64::INFINITY)) else { return };
        let signalling = &mut self.signalling[number as usize];
        let SignallingConfig { start, stop, confidence_percent, .. } = signalling.config;
        if now < start || now >= stop || !event.is_for(confidence_percent) {
            return;
        }
        let (origin, bytes) = (signalling.origin, signalling.message_bytes());
        let tuple = self.mih_link_tuple(interface);
        let begun =
            self.on_mihf(now, origin, |mihf, cx, session| mihf.link_event(cx, session, &tuple, heard, bytes));
        if let Some(transaction) = begun {
            self.signalling[number as usize].begin(now, transaction);
        }
    }

    /// A user waits for Link_Going_Down of the station that has this interface, if one has, with this
    /// confidence, in percent.
    pub fn await_confidence(&mut self, interface: Address, percent: u8) {
        let (link, _) = self.network.topology.attachment(interface);
        if let Some(station) = self.handovers.number_of(interface)
            && let Some(stations) = self.network.stations_mut(link)
        {
            stations.await_confidence(station, percent);
        }
    }

    /// What messages call the link of an interface, with its point of attachment where it is a station's.
    pub fn mih_link_tuple(&self, interface: Address) -> LinkTupleId {
        let (link, _) = self.network.topology.attachment(interface);
        let station = self.handovers.number_of(interface);
        let point =
            self.network.stations(link).zip(station).map(|(stations, station)| {
                self.network.address_of(link, stations.broadcast_interface(station))
            });
        LinkTupleId { link: self.mih_link(interface), point_of_attachment: point.map(link_address) }
    }

    /// The same for any interface that has another end: a wire's is its point of attachment.
    pub fn mih_network(&self, interface: Address) -> LinkTupleId {
        let mut link = self.mih_link_tuple(interface);
        let topology = &self.network.topology;
        let (own, owner) = (topology.interface(interface), topology.owner(interface));
        let is_other_end = |&&number: &&u32| {
            let other = topology.interface(Address(number));
            other.name == own.name && other.neighbour == owner
        };
        let other_end = topology.node(own.neighbour).interfaces.iter().find(is_other_end);
        link.point_of_attachment =
            link.point_of_attachment.or_else(|| other_end.map(|&number| link_address(Address(number))));
        link
    }

    /// What messages call the link of an interface.
    pub(super) fn mih_link(&self, interface: Address) -> MihLinkId {
        let (link, _) = self.network.topology.attachment(interface);
        MihLinkId { link_type: self.network.link(link).link_type(), address: link_address(interface) }
    }

    /// The origin's MIHF registers the links of its node with the responder.
    pub(super) fn register_links(&mut self, now: Time, number: u32) {
        let origin = self.signalling[number as usize].origin;
        let topology = &self.network.topology;
        let node = self.mih_nodes[origin.mihf as usize].node;
        let interfaces = topology.node(node).interfaces.iter().map(|&number| Address(number));
        // Not the broadcast interface of a base station, which leads to nobody.
        let leads_away = |&interface: &Address| topology.interface(interface).neighbour != node;
        let links = interfaces.filter(leads_away).map(|interface| self.mih_link(interface)).collect();
        self.on_mihf(now, origin, |mihf, cx, session| mihf.register(cx, session, links));
    }

    /// The responder's user subscribes to the events of links that the origin's MIHF has registered. A link
    /// may come again: a registration that was not answered is made anew.
    pub(super) fn subscribe_to_links(&mut self, now: Time, number: u32, links: Vec<MihLinkId>) {
        let signalling = &self.signalling[number as usize];
        if signalling.config.kind != Kind::LinkEvents {
            return;
        }
        let (responder, events) = (signalling.responder, signalling.config.events);
        for link in links {
            let signalling = &mut self.signalling[number as usize];
            if signalling.subscribed.contains(&link) {
                continue;
            }
            signalling.subscribed.push(link.clone());
            let thresholds = &self.signalling[number as usize].config.thresholds;
            let has_some = thresholds.iter().any(|one| self.mih_link(one.link) == link);
            // Thresholds are for reports.
            let events = if has_some { events.union(EventList::LINK_PARAMETERS_REPORT) } else { events };
            let tuple = LinkTupleId { link, point_of_attachment: None };
            self.on_mihf(now, responder, |mihf, cx, session| {
                mihf.subscribe(cx, session, tuple.clone(), events);
            });
            self.configure_thresholds(now, number, tuple);
        }
    }
}
