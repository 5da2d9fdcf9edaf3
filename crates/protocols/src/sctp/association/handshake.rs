//! The four-way handshake (RFC 9260 5.1): what INIT and INIT ACK tell, the cookie, and which paths there are
//! then.

use roamsim_engine::{Stream, Time};

use super::{Association, State};
use crate::machine::Address;
use crate::sctp::address;
use crate::sctp::chunk::{Chunk, Init, Parameter};
use crate::sctp::cookie::Cookie;
use crate::sctp::event::Event;
use crate::sctp::path::Path;
use crate::sctp::paths::MOST_PEER_ADDRESSES;
use crate::sctp::receiver::Receiver;
use crate::sctp::wire::{ASCONF, ASCONF_ACK, FORWARD_TSN};

/// Error cause (RFC 9260 3.3.10.3).
pub(super) const STALE_COOKIE: u16 = 3;

impl Association {
    /// INIT or INIT ACK of this end. Addresses are told if there are several (RFC 9260 5.1.2).
    pub(super) fn init(&self, cookie: Option<&Cookie>) -> Box<Init> {
        let mut parameters = Vec::new();
        parameters
            .extend(cookie.map(|cookie| Parameter { kind: Parameter::STATE_COOKIE, value: cookie.encode() }));
        let locals = &self.paths.locals;
        if locals.len() > 1 {
            parameters
                .extend(locals.iter().map(|&local| address::to_parameter(self.config.address_form, local)));
        }
        if self.config.partial_reliability {
            parameters.push(Parameter { kind: Parameter::FORWARD_TSN_SUPPORTED, value: Vec::new() });
        }
        let mut value = Vec::new();
        if self.config.dynamic_addresses {
            value.extend([ASCONF, ASCONF_ACK]);
        }
        // As Linux: in both ways, for there are peers that read one of them.
        if self.config.partial_reliability {
            value.push(FORWARD_TSN);
        }
        if !value.is_empty() {
            parameters.push(Parameter { kind: Parameter::SUPPORTED_EXTENSIONS, value });
        }
        Box::new(Init {
            initiate_tag: self.tag,
            a_rwnd_bytes: self.config.receive_window_bytes,
            outbound_streams: self.config.outbound_streams,
            inbound_streams: self.config.inbound_streams,
            initial_tsn: self.initial_tsn,
            parameters,
        })
    }

    /// INIT ACK with a cookie that holds all that is known: nothing is kept (RFC 9260 5.1.3, 5.2.1).
    pub(super) fn answer_init(&mut self, now: Time, path: Path, init: &Init) {
        if self.state == State::Closed && !self.listening {
            let abort = Chunk::Abort { reflected_tag: false, causes: Vec::new() };
            self.reply(path, init.initiate_tag, abort);
            return;
        }
        let cookie = Cookie {
            tag: self.tag,
            peer_tag: init.initiate_tag,
            peer_initial_tsn: init.initial_tsn,
            peer_rwnd_bytes: init.a_rwnd_bytes,
            peer_inbound_streams: init.inbound_streams,
            peer_takes_asconf: takes_asconf(init),
            peer_takes_forward_tsn: takes_forward_tsn(init),
            made_at: now,
            peer_addresses: self.addresses_of(init, path.remote),
        };
        let init_ack = Chunk::InitAck(self.init(Some(&cookie)));
        self.reply(path, init.initiate_tag, init_ack);
    }

    pub(super) fn take_init_ack(&mut self, path: Path, init: &Init) {
        let cookie = init.parameters.iter().find(|p| p.kind == Parameter::STATE_COOKIE);
        let Some(cookie) = cookie.filter(|_| init.initiate_tag != 0) else { return };
        self.cookie = cookie.value.clone();
        self.peer_tag = init.initiate_tag;
        self.peer_takes_asconf = takes_asconf(init);
        self.sender.partial = self.config.partial_reliability && takes_forward_tsn(init);
        self.take_init(init.initial_tsn, init.a_rwnd_bytes, init.inbound_streams);
        self.take_addresses(path, &self.addresses_of(init, path.remote));
        self.enter(State::CookieEchoed);
    }

    pub(super) fn take_cookie(&mut self, now: Time, random: &mut Stream, path: Path, octets: &[u8]) {
        let Some(cookie) = Cookie::decode(octets).filter(|cookie| cookie.tag == self.tag) else { return };
        if self.peer_pinned && cookie.peer_addresses != [path.remote] {
            return;
        }
        match self.state {
            State::Closed if !self.listening => {}
            State::Closed | State::CookieWait | State::CookieEchoed => {
                let stale = now.since(cookie.made_at).saturating_sub(self.config.cookie_life);
                if stale.as_ns() > 0 {
                    // RFC 9260 3.3.10.3: how long it has been stale, in microseconds.
                    let staleness = u32::try_from(stale.as_ns() / 1000).unwrap_or(u32::MAX);
                    let causes = Association::cause(STALE_COOKIE, staleness.to_be_bytes().to_vec());
                    self.reply(path, cookie.peer_tag, Chunk::Error(causes));
                    return;
                }
                self.peer_tag = cookie.peer_tag;
                self.peer_takes_asconf = cookie.peer_takes_asconf;
                self.sender.partial = self.config.partial_reliability && cookie.peer_takes_forward_tsn;
                self.take_init(cookie.peer_initial_tsn, cookie.peer_rwnd_bytes, cookie.peer_inbound_streams);
                self.take_addresses(path, &cookie.peer_addresses);
                self.reply(path, self.peer_tag, Chunk::CookieAck);
                self.establish(now, random);
            }
            // Its COOKIE ACK was lost (RFC 9260 5.2.4 D).
            _ if cookie.peer_tag == self.peer_tag => self.reply(path, self.peer_tag, Chunk::CookieAck),
            _ => {}
        }
    }

    /// Where the packet came from, then the addresses that it tells (RFC 9260 5.1.2), as many as a peer may
    /// have.
    fn addresses_of(&self, init: &Init, source: Address) -> Vec<Address> {
        let mut addresses = vec![source];
        if self.peer_pinned {
            return addresses;
        }
        for told in init.parameters.iter().filter_map(address::from_parameter) {
            if !addresses.contains(&told) && addresses.len() < MOST_PEER_ADDRESSES {
                addresses.push(told);
            }
        }
        addresses
    }

    fn take_init(&mut self, initial_tsn: u32, rwnd_bytes: u32, streams: u16) {
        self.receiver = Receiver::new(&self.config, initial_tsn);
        self.reconfiguration.peer_serial = initial_tsn.wrapping_sub(1);
        self.sender.peer_rwnd = u64::from(rwnd_bytes);
        self.stats.messages_dropped += self.sender.limit_streams(streams);
    }

    /// The peer's addresses are these and no others. The path of the handshake is confirmed and the primary
    /// one.
    fn take_addresses(&mut self, path: Path, peer: &[Address]) {
        let gone: Vec<Address> = self.paths.remotes.iter().copied().filter(|r| !peer.contains(r)).collect();
        for remote in gone {
            self.paths.remove_remote(remote);
        }
        self.paths.add_local(&self.config, path.local);
        for &remote in peer {
            self.paths.add_remote(&self.config, remote);
        }
        if let Some(place) = self.paths.place_of(path) {
            self.paths.set_primary(place);
            self.paths.all[place].confirmed = true;
            self.control_path = place;
        }
        let window = self.sender.peer_rwnd;
        // RFC 9260 7.2.1: ssthresh may be the peer's window.
        self.paths.all.iter_mut().for_each(|state| state.ssthresh = window);
    }

    pub(super) fn establish(&mut self, now: Time, random: &mut Stream) {
        self.state = State::Established;
        self.listening = false;
        self.control_due = false;
        self.control_at = None;
        self.control_repeats = 0;
        self.events.push_back(Event::Established);
        self.start_heartbeats(now, random);
    }

    /// A state whose chunk T1 or T2 repeats.
    pub(super) fn enter(&mut self, state: State) {
        self.state = state;
        self.control_due = true;
        self.control_repeats = 0;
    }
}

fn takes_asconf(init: &Init) -> bool {
    init.parameters.iter().any(|parameter| {
        parameter.kind == Parameter::SUPPORTED_EXTENSIONS
            && parameter.value.contains(&ASCONF)
            && parameter.value.contains(&ASCONF_ACK)
    })
}

/// Told by the parameter of RFC 3758 3.1, or in the list of RFC 5061 4.2.7.
fn takes_forward_tsn(init: &Init) -> bool {
    init.parameters.iter().any(|parameter| {
        parameter.kind == Parameter::FORWARD_TSN_SUPPORTED
            || parameter.kind == Parameter::SUPPORTED_EXTENSIONS && parameter.value.contains(&FORWARD_TSN)
    })
}
