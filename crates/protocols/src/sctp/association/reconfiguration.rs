//! Changing addresses while the association is up (RFC 5061): ASCONF and ASCONF ACK, one outstanding, timer
//! T4.
//!
//! A change of several parts is one ASCONF. The receiver answers for each part, or with nothing when it made
//! all. An address added is probed before data goes there (RFC 9260 5.4); if the ASCONF itself left from it
//! and was answered, this end's path has proven itself. From an address that is to be deleted nothing leaves
//! any more, though packets to it are taken until the answer (5.3 F5), but for the request itself where
//! nothing else can be used; if the peer refuses, its paths are probed anew. A HEARTBEAT to an address that
//! is being added is answered at once, where 5.3 F1 has everything but ASCONFs wait for the ASCONF ACK. Not
//! modelled: wildcard addresses, and the authentication that RFC 5061 asks for.

use std::collections::VecDeque;

use roamsim_engine::{Span, Time};

use super::Association;
use crate::machine::{Address, Context};
use crate::sctp::address;
use crate::sctp::chunk::{Asconf, AsconfAck, Chunk, Chunks, Packet, Parameter};
use crate::sctp::event::{Change, Event};
use crate::sctp::path::{Path, PathState};
use crate::sctp::paths::MOST_PEER_ADDRESSES;

/// Error causes (RFC 9260 3.3.10.5, RFC 5061 4.3.1 to 4.3.5).
const UNRESOLVABLE_ADDRESS: u16 = 5;
const DELETE_LAST: u16 = 0x00A0;
const RESOURCE_SHORTAGE: u16 = 0x00A1;
const DELETE_SOURCE: u16 = 0x00A2;
const ILLEGAL_ASCONF_ACK: u16 = 0x00A3;
const NO_AUTHORIZATION: u16 = 0x00A4;

/// An ASCONF that is not answered.
#[derive(Clone, Debug)]
struct Request {
    changes: Vec<Change>,
    asconf: Asconf,
    path: Path,
    due: bool,
    /// T4.
    at: Option<Time>,
    repeats: u32,
}

/// What an association knows of changes.
#[derive(Clone, Debug)]
pub(super) struct Reconfiguration {
    queue: VecDeque<(Vec<Change>, Address)>,
    request: Option<Request>,
    /// The serial number of this end's next ASCONF.
    next_serial: u32,
    /// The serial number of the peer's last ASCONF.
    pub(super) peer_serial: u32,
    /// The answer to it.
    answer: Option<AsconfAck>,
}

impl Reconfiguration {
    /// Serial numbers start with the initial TSN (RFC 5061 5.1 A2).
    pub(super) fn new(initial_tsn: u32) -> Reconfiguration {
        Reconfiguration {
            queue: VecDeque::new(),
            request: None,
            next_serial: initial_tsn,
            peer_serial: 0,
            answer: None,
        }
    }

    /// Whether an ASCONF is to be sent now.
    pub(super) fn is_due(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.due)
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.request.as_ref().and_then(|request| request.at)
    }

    pub(super) fn stop(&mut self) {
        self.request = None;
        self.queue.clear();
    }

    /// Whether the peer has been asked to delete this address of this end.
    pub(super) fn is_leaving(&self, local: Address) -> bool {
        self.request.as_ref().is_some_and(|request| request.changes.contains(&Change::Delete(local)))
    }
}

impl Asconf {
    /// The changes that it asks for, in their order; what is no such parameter, or has no address, is left
    /// out.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        self.parameters.iter().filter_map(|parameter| {
            let address = address::from_octets(parameter.value.get(4..)?)?;
            match parameter.kind {
                Parameter::ADD_ADDRESS => Some(Change::Add(address)),
                Parameter::DELETE_ADDRESS => Some(Change::Delete(address)),
                Parameter::SET_PRIMARY => Some(Change::SetPrimary(address)),
                _ => None,
            }
        })
    }
}

impl Association {
    /// Asks the peer for changes of this end's addresses, in one ASCONF that leaves from `source`: an address
    /// of this end, or one that is added hereby. Requests wait for the answer to those before them;
    /// [`Event::Reconfigured`] tells what became of each change.
    ///
    /// False, and nothing is asked, while the association is not up, if either end takes no ASCONF, without
    /// changes, or if a change makes no sense: adding what is there, deleting what is not, `source` or the
    /// last address.
    pub fn reconfigure(&mut self, changes: &[Change], source: Address) -> bool {
        let possible = self.state.is_up()
            && self.peer_takes_asconf
            && self.config.dynamic_addresses
            && !changes.is_empty()
            && self.makes_sense(changes, source);
        if possible {
            self.reconfiguration.queue.push_back((changes.to_vec(), source));
            self.next_request();
        }
        possible
    }

    /// Where the request that is not answered leaves from, if there is one.
    pub fn request_source(&self) -> Option<Address> {
        self.reconfiguration.request.as_ref().map(|request| request.path.local)
    }

    /// Sends the request that is not answered once more and at once, and all copies of it and what waits
    /// behind it, from another address of this end, because packets from the one before do not get through.
    /// The peer finds the association by the address within (RFC 5061 4.1.1). It may be an address that the
    /// request deletes: a peer that has deleted it repeats its answer, another one refuses (4.3.4). False,
    /// and nothing changes, without such a request or if one that waits behind it deletes that address.
    pub fn request_from(&mut self, source: Address) -> bool {
        let Some(request) = &mut self.reconfiguration.request else { return false };
        if self.reconfiguration.queue.iter().any(|(changes, _)| changes.contains(&Change::Delete(source))) {
            return false;
        }
        request.path.local = source;
        request.due = true;
        self.reconfiguration.queue.iter_mut().for_each(|(_, from)| *from = source);
        true
    }

    fn makes_sense(&self, changes: &[Change], source: Address) -> bool {
        let mut locals = self.paths.locals.clone();
        let open = self.reconfiguration.request.iter().flat_map(|request| &request.changes);
        let queued = self.reconfiguration.queue.iter().flat_map(|(changes, _)| changes);
        let before = open.chain(queued).map(|&change| (change, false));
        for (change, judged) in before.chain(changes.iter().map(|&change| (change, true))) {
            let there = locals.contains(&change.address());
            match change {
                Change::Add(address) if !there => locals.push(address),
                Change::Delete(address) if there && (!judged || address != source && locals.len() > 1) => {
                    locals.retain(|&other| other != address);
                }
                Change::SetPrimary(_) if there => {}
                _ if judged => return false,
                _ => {}
            }
        }
        locals.contains(&source)
    }

    /// The next in the queue becomes the one that is asked for.
    fn next_request(&mut self) {
        if self.reconfiguration.request.is_some() {
            return;
        }
        let Some((changes, source)) = self.reconfiguration.queue.pop_front() else { return };
        let Some(current) = self.sending_path() else { return };
        let form = self.config.address_form;
        let parameters = (0u32..).zip(&changes).map(|(number, change)| {
            let mut value = number.to_be_bytes().to_vec();
            value.extend(address::octets(&address::to_parameter(form, change.address())));
            Parameter { kind: change.kind(), value }
        });
        // By this the peer finds the association, also when it has made the change and its answer was lost.
        let locals = &self.paths.locals;
        let lasting = locals.iter().find(|&&local| !changes.contains(&Change::Delete(local)));
        let asconf = Asconf {
            serial: self.reconfiguration.next_serial,
            address: address::to_parameter(form, *lasting.unwrap_or(&locals[0])),
            parameters: parameters.collect(),
        };
        self.reconfiguration.next_serial = self.reconfiguration.next_serial.wrapping_add(1);
        let path = Path { local: source, remote: current.remote };
        for change in &changes {
            if let Change::Delete(local) = change {
                self.send_no_more_from(*local);
            }
        }
        self.reconfiguration.request =
            Some(Request { changes, asconf, path, due: true, at: None, repeats: 0 });
    }

    /// An address is to be deleted: from now on it is no source (RFC 5061 5.3 F5), and what was in flight
    /// from it is sent again.
    fn send_no_more_from(&mut self, local: Address) {
        let of_it = |state: &PathState| !state.removed && state.path.local == local;
        let places: Vec<usize> =
            self.paths.all.iter().enumerate().filter(|(_, state)| of_it(state)).map(|(at, _)| at).collect();
        let primary = self.paths.primary();
        for &place in &places {
            self.paths.all[place].confirmed = false;
            self.paths.all[place].stop();
        }
        if places.contains(&primary) {
            self.paths.set_primary(self.paths.alternate(primary));
        }
        self.leave(&places, primary);
    }

    /// The ASCONF that is to be sent.
    #[cold]
    pub(super) fn asconf(&mut self, cx: &Context<'_>) -> Option<(Path, Packet)> {
        let request = self.reconfiguration.request.as_mut()?;
        request.due = false;
        let place = self.paths.place_of(request.path);
        let rto = match place {
            Some(place) => self.paths.all[place].rtt.rto(),
            // No path yet: as if one began, doubled with each copy.
            None => self.config.initial_rto().saturating_mul(1 << request.repeats.min(20)),
        };
        request.at = Some(cx.now + rto.min(self.config.rto_max).max(Span::from_ns(1)));
        let (path, chunk) = (request.path, Chunk::Asconf(Box::new(request.asconf.clone())));
        Some((path, self.packet(self.peer_tag, Chunks::from_buf([chunk]))))
    }

    /// T4 has expired: the same ASCONF again, to another address of the peer if there is one (RFC 5061 5.1 B1
    /// to B5).
    pub(super) fn expire_asconf(&mut self) {
        let remotes = &self.paths.remotes;
        let Some(request) = &mut self.reconfiguration.request else { return };
        request.at = None;
        request.due = true;
        request.repeats += 1;
        let place = self.paths.all.iter().position(|state| state.path == request.path && !state.removed);
        let next = remotes.iter().position(|&remote| remote == request.path.remote).map_or(0, |at| at + 1);
        if let Some(&remote) = remotes.get(next % remotes.len().max(1)) {
            request.path.remote = remote;
        }
        self.errors += 1;
        match place {
            Some(place) => {
                self.paths.all[place].errors += 1;
                self.paths.all[place].rtt.back_off();
                self.judge(place);
            }
            None => self.judge_association(),
        }
    }

    /// The peer asks for changes of its addresses (RFC 5061 5.2).
    pub(super) fn take_asconf(&mut self, cx: &mut Context<'_>, path: Path, asconf: &Asconf) {
        if !self.config.dynamic_addresses {
            return;
        }
        if asconf.serial == self.reconfiguration.peer_serial.wrapping_add(1) {
            self.reconfiguration.peer_serial = asconf.serial;
            let mut parameters = Vec::new();
            let mut refused = false;
            for request in &asconf.parameters {
                let Some((number, cause)) = self.change_for_peer(cx, path, request) else { continue };
                let mut value = number.to_be_bytes().to_vec();
                let kind = match cause {
                    Some(cause) => {
                        refused = true;
                        let cause = Parameter { kind: cause, value: address::octets(request) };
                        value.extend(address::octets(&cause));
                        Parameter::ERROR_CAUSE_INDICATION
                    }
                    None => Parameter::SUCCESS_INDICATION,
                };
                parameters.push(Parameter { kind, value });
            }
            if !refused {
                parameters.clear();
            }
            self.reconfiguration.answer = Some(AsconfAck { serial: asconf.serial, parameters });
        }
        let answer = self.reconfiguration.answer.as_ref().filter(|answer| answer.serial == asconf.serial);
        if let Some(answer) = answer.cloned() {
            self.reply(path, self.peer_tag, Chunk::AsconfAck(Box::new(answer)));
        }
    }

    /// One change the peer asks for: its correlation number, and the cause if it is refused. `None` for what
    /// is no such parameter.
    fn change_for_peer(
        &mut self,
        cx: &mut Context<'_>,
        path: Path,
        request: &Parameter,
    ) -> Option<(u32, Option<u16>)> {
        let (number, rest) = request.value.split_first_chunk::<4>()?;
        let number = u32::from_be_bytes(*number);
        let Some(address) = address::from_octets(rest) else {
            return Some((number, Some(UNRESOLVABLE_ADDRESS)));
        };
        let known = self.paths.remotes.contains(&address);
        let cause = match request.kind {
            Parameter::ADD_ADDRESS if !known && self.peer_pinned => Some(NO_AUTHORIZATION),
            Parameter::ADD_ADDRESS if !known && self.paths.remotes.len() >= MOST_PEER_ADDRESSES => {
                Some(RESOURCE_SHORTAGE)
            }
            Parameter::ADD_ADDRESS => {
                if !known {
                    self.paths.add_remote(&self.config, address);
                    self.events.push_back(Event::PeerAddressAdded(address));
                    self.start_heartbeats(cx.now, cx.random);
                }
                None
            }
            Parameter::DELETE_ADDRESS if !known => Some(UNRESOLVABLE_ADDRESS),
            Parameter::DELETE_ADDRESS if self.paths.remotes.len() == 1 => Some(DELETE_LAST),
            Parameter::DELETE_ADDRESS if address == path.remote => Some(DELETE_SOURCE),
            Parameter::DELETE_ADDRESS => {
                let primary = self.paths.primary();
                let gone = self.paths.remove_remote(address);
                self.events.push_back(Event::PeerAddressDeleted(address));
                self.leave(&gone, primary);
                None
            }
            Parameter::SET_PRIMARY if !known => Some(UNRESOLVABLE_ADDRESS),
            Parameter::SET_PRIMARY => {
                let to_it = self.paths.present().filter(|(_, state)| state.path.remote == address);
                let best = to_it.min_by_key(|(place, state)| (state.path.local != path.local, *place));
                if let Some(place) = best.map(|(place, _)| place) {
                    self.change_primary(place);
                }
                None
            }
            _ => return None,
        };
        Some((number, cause))
    }

    /// The paths at these places are no more: what was in flight there is lost, and the primary path may have
    /// moved.
    fn leave(&mut self, gone: &[usize], primary_before: usize) {
        for &place in gone {
            self.sender.leave_path(place, &mut self.paths);
        }
        let current = self.paths.current();
        if gone.contains(&self.control_path) {
            self.control_path = current;
        }
        if gone.iter().any(|&place| Some(self.paths.all[place].path) == self.sack_path) {
            self.sack_path = None;
        }
        let primary = self.paths.primary();
        if primary != primary_before {
            self.events.push_back(Event::PrimaryChanged(self.paths.all[primary].path));
        }
    }

    /// The peer has answered (RFC 5061 5.1).
    pub(super) fn take_asconf_ack(&mut self, cx: &mut Context<'_>, path: Path, ack: &AsconfAck) {
        let ahead = ack.serial.wrapping_sub(self.reconfiguration.next_serial) as i32;
        if ahead >= 0 {
            self.abort_for(Association::cause(ILLEGAL_ASCONF_ACK, Vec::new()));
            return;
        }
        let answered = self.reconfiguration.request.take_if(|request| request.asconf.serial == ack.serial);
        let Some(request) = answered else { return };
        self.errors = 0;
        let told = |kind: u16| {
            let numbers = ack.parameters.iter().filter(move |parameter| parameter.kind == kind);
            let number =
                |parameter: &Parameter| parameter.value.first_chunk::<4>().map(|n| u32::from_be_bytes(*n));
            numbers.filter_map(number).collect::<Vec<_>>()
        };
        let refused = told(Parameter::ERROR_CAUSE_INDICATION);
        let made = told(Parameter::SUCCESS_INDICATION);
        let first_refused = refused.iter().copied().min().unwrap_or(u32::MAX);
        for (number, &change) in (0u32..).zip(&request.changes) {
            // RFC 5061 5.1 A7: what nothing is said of was made if it stands before the first that was
            // refused.
            let accepted = !refused.contains(&number) && (made.contains(&number) || number < first_refused);
            if accepted {
                self.make_change(cx, path, change);
            } else if let Change::Delete(_) = change {
                self.start_heartbeats(cx.now, cx.random);
            }
            self.events.push_back(Event::Reconfigured { change, accepted });
        }
        self.next_request();
    }

    fn make_change(&mut self, cx: &mut Context<'_>, path: Path, change: Change) {
        match change {
            Change::Add(local) => {
                self.paths.add_local(&self.config, local);
                if path.local == local
                    && let Some(place) = self.paths.place_of(path)
                {
                    self.paths.all[place].confirmed = true;
                    self.events.push_back(Event::PathUp(path));
                }
                self.start_heartbeats(cx.now, cx.random);
            }
            Change::Delete(local) => {
                let primary = self.paths.primary();
                let gone = self.paths.remove_local(local);
                self.leave(&gone, primary);
            }
            Change::SetPrimary(_) => {}
        }
    }
}
