//! SCTP associations that follow the addresses of their node, by requests (RFC 5061).
//!
//! One ASCONF after another brings an association to the addresses that a handover scheme names. A request
//! adds the addresses that the association lacks, asks for data at the preferred one, and deletes those that
//! can no longer be used. It leaves from a usable address that the peer knows, preferably the preferred one;
//! without such an address, from one that it adds. While it is unanswered, there is no other. If its source
//! is lost, it leaves from another.
//!
//! Before an association is up, there is nobody to ask. Its opener waits for an address of its own, uses the
//! usable ones, and knows those of its peer. An INIT under way begins anew when an address that it names is
//! lost. Not modelled: how the opener finds its peer's addresses (DNS, SIP, Mobile IP); and a loss of
//! addresses between INIT ACK and COOKIE ACK. Then the association is given up after Max.Init.Retransmits,
//! unless the address comes back.

use super::{Work, World};
use crate::selection::Scheme;
use crate::socket::{Follows, SocketId};
use crate::topology::NodeId;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::sctp::{Change, Event, Path, State};

impl World {
    /// Has the socket that will have this number follow the addresses of its node, if that is a station that
    /// tells them.
    pub(super) fn follow(&mut self, number: u32, node: NodeId) -> Option<Follows> {
        let station = self.mobile_station(node, Scheme::MobileSctp)?;
        self.handovers.stations[station as usize].followers.push(SocketId::Sctp(number));
        Some(Follows { station, opening: false, primary: None })
    }

    /// The addresses at which the peer of a socket looks for it: those that can be used, or while there is
    /// none, where it is known to be at other times.
    fn known_addresses(&self, number: u32) -> Vec<Address> {
        let usable = self.usable_addresses(SocketId::Sctp(number));
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
        let local = self.usable_addresses(SocketId::Sctp(number));
        if let Some(follows) = &mut self.sctp[number as usize].follows {
            follows.opening = local.is_empty();
        }
        let remote = self.known_addresses(peer);
        self.readdress(number, &local, &remote);
        self.readdress(peer, &remote, &local);
        !local.is_empty()
    }

    pub(super) fn readdress(&mut self, number: u32, local: &[Address], remote: &[Address]) -> bool {
        let socket = &mut self.sctp[number as usize];
        socket.association.readdress(&mut socket.random, local, remote)
    }

    /// An association is up, one of its paths has been confirmed, or the peer has answered a request.
    pub(super) fn on_address_event(&mut self, number: u32) {
        let id = SocketId::Sctp(number);
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
                Change::Delete(address) if self.usable_addresses(id).contains(&address) => {}
                _ => return,
            },
            _ => {}
        }
        self.work.push_back(Work::Addresses(id));
    }

    /// Brings an association a step closer to its node's addresses.
    pub(super) fn follow_by_requests(&mut self, now: Time, number: u32) {
        let socket = &self.sctp[number as usize];
        let Some(follows) = socket.follows else { return };
        let usable = self.usable_addresses(SocketId::Sctp(number));
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
}
