//! Associations that follow the addresses of their node (RFC 5061, as mobile SCTP uses it).
//!
//! A handover scheme says which addresses of a station can be used and which it prefers. An association that
//! follows them is brought to that state by one ASCONF after another: it adds the addresses that it lacks,
//! asks for data at the preferred one, and deletes those that can be used no more, all that is to be done in
//! one request. The request leaves from an address that the peer knows, if one of those can be used, the
//! preferred one first; otherwise from one that it adds. While it is not answered, nothing else is asked for;
//! if its source is lost, it leaves from another.
//!
//! Before an association is up there is nobody to ask: who opens it does so from the addresses that can be
//! used then, and knows those of its peer (how it finds them out, by DNS, SIP or Mobile IP, is not modelled).
//! It waits for an address of its own. An INIT under way begins anew when an address that it names is lost.
//! Not modelled: the same between INIT ACK and COOKIE ACK; such an association is given up after
//! Max.Init.Retransmits unless the address comes back.

use super::{Work, World};
use crate::handover::Scheme;
use crate::socket::{Follows, SctpSocket, SocketId};
use crate::topology::NodeId;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::sctp::{Change, Event, Path, State};

impl World {
    /// The number of a node among the stations, if its transports are told of its addresses.
    pub(super) fn mobile_station(&self, node: NodeId) -> Option<u32> {
        let told = |scheme| matches!(scheme, Scheme::MobileSctp(_));
        let station = self.handovers.station_of(node)?;
        Some(station).filter(|&station| told(self.handovers.stations[station as usize].scheme))
    }

    /// Has the SCTP socket that will have this number follow the addresses of its node, if that is a station
    /// that tells them.
    pub(super) fn follow(&mut self, number: u32, node: NodeId) -> Option<Follows> {
        let station = self.mobile_station(node)?;
        self.handovers.stations[station as usize].followers.push(SocketId::Sctp(number));
        Some(Follows { station, opening: false, primary: None })
    }

    /// The addresses of a socket's node that can be used now, the preferred one first: behind those in cells,
    /// those of other links that are not down.
    fn usable_addresses(&self, number: u32) -> Vec<Address> {
        let socket = &self.sctp[number as usize];
        let peer = self.sctp[socket.peer as usize].node;
        self.usable_at(socket.node, peer, socket.follows.map(|follows| follows.station))
    }

    /// The addresses of a node that can be used now towards a peer, where the node is a station that tells
    /// them, with those of its cells.
    fn usable_at(&self, node: NodeId, peer: NodeId, station: Option<u32>) -> Vec<Address> {
        let mut all = self.network.topology.addresses_for(node, peer);
        if let Some(station) = station {
            let in_cell = |address| self.handovers.number_of(address).is_some();
            all.retain(|&address| !in_cell(address) && !self.handovers.is_down(address));
            all.splice(..0, self.handovers.stations[station as usize].usable());
        }
        all
    }

    /// The addresses at which the peer of a socket looks for it: those that can be used, or while there is
    /// none, where it is known to be at other times.
    fn known_addresses(&self, number: u32) -> Vec<Address> {
        let usable = self.usable_addresses(number);
        if !usable.is_empty() {
            return usable;
        }
        let socket = &self.sctp[number as usize];
        let peer = self.sctp[socket.peer as usize].node;
        self.network.topology.address_for(socket.node, peer).into_iter().collect()
    }

    /// Gives both ends of an association that is about to open the addresses that can be used now. False
    /// without any at this end: it will open when there is one.
    pub(super) fn find_addresses(&mut self, number: u32) -> bool {
        let peer = self.sctp[number as usize].peer;
        if self.sctp[number as usize].follows.is_none() && self.sctp[peer as usize].follows.is_none() {
            return true;
        }
        let local = self.usable_addresses(number);
        if let Some(follows) = &mut self.sctp[number as usize].follows {
            follows.opening = local.is_empty();
        }
        let remote = self.known_addresses(peer);
        self.readdress(number, &local, &remote);
        self.readdress(peer, &remote, &local);
        !local.is_empty()
    }

    fn readdress(&mut self, number: u32, local: &[Address], remote: &[Address]) -> bool {
        let socket = &mut self.sctp[number as usize];
        socket.association.readdress(&mut socket.random, local, remote)
    }

    /// Has the associations follow of all stations whose usable addresses have changed.
    pub(super) fn announce_addresses(&mut self) {
        while let Some(station) = self.handovers.take_announced() {
            let followers = &self.handovers.stations[station as usize].followers;
            self.work.extend(followers.iter().copied().map(Work::Addresses));
        }
    }

    /// Counts an ASCONF among the requests of a handover.
    pub(super) fn count_request(&mut self, id: SocketId) {
        if let SocketId::Sctp(number) = id
            && let Some(follows) = self.sctp[number as usize].follows
        {
            self.handovers.requested(follows.station);
        }
    }

    /// An association is up, one of its paths has been confirmed, or the peer has answered a request.
    pub(super) fn on_address_event(&mut self, id: SocketId) {
        let SocketId::Sctp(number) = id else { return };
        let Some(event) = self.sctp[number as usize].address_event.take() else { return };
        if event == Event::Established {
            self.work.push_back(Work::Socket(id));
        }
        let socket = &mut self.sctp[number as usize];
        let Some(follows) = &mut socket.follows else { return };
        match event {
            Event::Established => {
                follows.primary = socket.association.primary().map(|primary| primary.path.local);
            }
            Event::Reconfigured { change: Change::SetPrimary(address), accepted: true } => {
                follows.primary = Some(address);
            }
            // What the peer refused is not asked for again before something changes. That an address stays
            // which can be used again is such a change.
            Event::Reconfigured { change, accepted: false } => match change {
                Change::Delete(address) if self.usable_addresses(number).contains(&address) => {}
                _ => return,
            },
            _ => {}
        }
        self.work.push_back(Work::Addresses(id));
    }

    /// Tells a socket of its node's addresses.
    pub(super) fn follow_addresses(&mut self, now: Time, id: SocketId) {
        match id {
            SocketId::Sctp(number) => self.follow_by_requests(now, number),
            SocketId::Open(number) => {
                let socket = &self.open[number as usize];
                let peer = self.open[socket.peer as usize].node;
                let usable = self.usable_at(socket.node, peer, socket.station);
                self.open[number as usize].on_addresses(now, &usable);
                self.work.push_back(Work::Socket(id));
                if let Some(station) = self.open[number as usize].station {
                    self.complete_handover(now, station);
                }
            }
            SocketId::Tcp(_) | SocketId::Udp(_) => {}
        }
    }

    /// Brings an association a step closer to its node's addresses.
    fn follow_by_requests(&mut self, now: Time, number: u32) {
        let socket = &self.sctp[number as usize];
        let Some(follows) = socket.follows else { return };
        let usable = self.usable_addresses(number);
        match socket.association.state() {
            // An end that has nothing but lost addresses has nobody to tell.
            _ if usable.is_empty() => {}
            State::Closed if follows.opening => self.open(SocketId::Sctp(number)),
            State::Closed | State::CookieWait => self.begin_anew(number, &usable),
            state if state.is_up() => {
                self.reconfigure(number, &usable);
                self.complete_handover(now, follows.station);
            }
            _ => {}
        }
    }

    /// The addresses of an end that listens or whose INIT is under way have changed.
    fn begin_anew(&mut self, number: u32, usable: &[Address]) {
        let peer = self.sctp[number as usize].peer;
        let lost = |told: &[Address]| told.iter().any(|address| !usable.contains(address));
        let [socket, other] = [number, peer].map(|number| &self.sctp[number as usize].association);
        let (begins, is_sought) = (socket.state() == State::CookieWait, other.state() == State::CookieWait);
        if other.state() == State::CookieEchoed {
            // What the INIT ACK has told is as it is until the association is up.
            return;
        }
        let remote = self.known_addresses(peer);
        // During the handshake nothing is added: the peer has been told, or is about to be told, of what
        // there was.
        if !(begins || is_sought) || lost(socket.local_addresses()) {
            // The opener's addresses come in its INIT.
            self.readdress(number, usable, &remote);
            self.work.push_back(Work::Socket(SocketId::Sctp(number)));
        }
        let other = &self.sctp[peer as usize].association;
        if is_sought && lost(other.remote_addresses()) {
            self.readdress(peer, &remote, usable);
            self.work.push_back(Work::Socket(SocketId::Sctp(peer)));
        }
    }

    /// Asks for what an association that is up lacks.
    fn reconfigure(&mut self, number: u32, usable: &[Address]) {
        let socket = &mut self.sctp[number as usize];
        let association = &mut socket.association;
        let told = socket.follows.and_then(|follows| follows.primary);
        let Some(primary) = association.primary() else { return };
        let preferred = usable[0];
        if primary.path.local != preferred {
            // Not before the path is confirmed.
            association.set_primary(Path { local: preferred, remote: primary.path.remote });
        }
        let known = association.local_addresses();
        let source = usable.iter().find(|address| known.contains(address)).copied().unwrap_or(preferred);
        match association.request_source() {
            Some(asked_from) if !usable.contains(&asked_from) => {
                association.request_from(source);
            }
            Some(_) => {}
            None => {
                let adds = usable.iter().filter(|address| !known.contains(address)).copied().map(Change::Add);
                let prefers = (told != Some(preferred)).then_some(Change::SetPrimary(preferred));
                let deletes =
                    known.iter().filter(|address| !usable.contains(address)).copied().map(Change::Delete);
                let changes: Vec<Change> = adds.chain(prefers).chain(deletes).collect();
                association.reconfigure(&changes, source);
            }
        }
        self.work.push_back(Work::Socket(SocketId::Sctp(number)));
    }

    /// A handover is complete when the peers of all associations that are up send to the preferred address.
    fn complete_handover(&mut self, now: Time, station: u32) {
        let place = &self.handovers.stations[station as usize];
        let Some(preferred) = place.usable().next() else { return };
        let settled = |&id: &SocketId| {
            // An endpoint of another crate has heard of it, and does what it likes.
            let SocketId::Sctp(number) = id else { return true };
            let SctpSocket { association, follows, .. } = &self.sctp[number as usize];
            !association.state().is_up() || follows.is_some_and(|follows| follows.primary == Some(preferred))
        };
        if place.followers.iter().all(settled) {
            self.handovers.complete(now, station);
        }
    }
}
