//! What a packet says that came in (RFC 9260 8.4, 8.5 and the chunks' own sections).

use roamsim_engine::Time;

use super::handshake::STALE_COOKIE;
use super::{Association, State};
use crate::machine::Context;
use crate::sctp::address;
use crate::sctp::chunk::{Chunk, Packet, Sack};
use crate::sctp::event::Event;
use crate::sctp::path::Path;
use crate::sctp::wire;

/// Error cause (RFC 9260 3.3.10.9).
const NO_USER_DATA: u16 = 9;

impl Association {
    /// What a packet says that came in: `path.local` is the address it was sent to, `path.remote` where it
    /// came from.
    pub fn handle_packet(&mut self, cx: &mut Context<'_>, path: Path, packet: &Packet) {
        self.stats.packets_received += 1;
        self.sender.new_event();
        if !self.is_ordinary(path, packet) && !self.admits(path, packet) {
            return;
        }
        let mut with_data = false;
        for chunk in &packet.chunks {
            match chunk {
                Chunk::Data(data) if self.state.receives_data() => {
                    if data.payload_bytes == 0 {
                        let value = data.tsn.to_be_bytes().to_vec();
                        self.abort_for(Association::cause(NO_USER_DATA, value));
                        return;
                    }
                    with_data = true;
                    self.receiver.take(data, data.stream < self.config.inbound_streams, &mut self.events);
                }
                Chunk::Sack(sack) if self.state.sends_data() => {
                    self.take_acknowledgement(cx.now, sack.cumulative_tsn_ack, Some(sack));
                }
                Chunk::ForwardTsn(forward)
                    if self.config.partial_reliability && self.state.receives_data() =>
                {
                    with_data = true;
                    self.receiver.forward(forward, self.config.inbound_streams, &mut self.events);
                }
                _ => self.handle_control(cx, path, chunk),
            }
        }
        if with_data && self.state.receives_data() {
            self.sack_path = Some(path).filter(|path| !self.reconfiguration.is_leaving(path.local));
            self.receiver.packet_ends(cx.now);
            if self.state == State::ShutdownSent {
                // RFC 9260 9.2: data still arrives; SACK and SHUTDOWN at once.
                self.receiver.sack_due = true;
                self.control_due = true;
            }
        }
        self.finish_shutdown();
    }

    /// What the octets of a packet say; those that are no packet are counted by reason, and change nothing
    /// else.
    pub fn handle_octets(&mut self, cx: &mut Context<'_>, path: Path, octets: &[u8]) {
        match wire::decode(octets, true) {
            Ok((packet, _)) => self.handle_packet(cx, path, &packet),
            Err(error) => {
                self.stats.packets_received += 1;
                self.stats.refused.count(error);
            }
        }
    }

    /// One DATA or SACK chunk with the association's tag from an address of the peer's, as nearly all packets
    /// are.
    fn is_ordinary(&self, path: Path, packet: &Packet) -> bool {
        matches!(packet.chunks[..], [Chunk::Data(_) | Chunk::Sack(_)])
            && packet.verification_tag == self.tag
            && self.paths.remotes.contains(&path.remote)
    }

    /// Verification tags (RFC 9260 8.5), addresses, and what is answered without an association (8.4). What
    /// is refused is counted.
    #[cold]
    fn admits(&mut self, path: Path, packet: &Packet) -> bool {
        let tag = packet.verification_tag;
        let known = self.paths.remotes.contains(&path.remote);
        let own = tag == self.tag;
        let refused = &mut self.stats.refused;
        let (admitted, reason) = match &packet.chunks[..] {
            [] => (false, &mut refused.empty),
            [Chunk::Init(init)] => (tag == 0 && init.initiate_tag != 0, &mut refused.init),
            chunks if chunks.iter().any(|chunk| matches!(chunk, Chunk::Init(_))) => {
                (false, &mut refused.init)
            }
            [
                Chunk::Abort { reflected_tag: true, .. } | Chunk::ShutdownComplete { reflected_tag: true },
                ..,
            ] => (self.peer_tag != 0 && tag == self.peer_tag, &mut refused.verification_tag),
            [Chunk::ShutdownAck, ..] if self.state == State::Closed => (false, &mut refused.closed),
            _ if !own => (false, &mut refused.verification_tag),
            // These tell of addresses.
            [Chunk::InitAck(_) | Chunk::CookieEcho(_), ..] => (true, &mut refused.address),
            [Chunk::Asconf(asconf), ..] if !known => {
                let told = address::from_parameter(&asconf.address);
                (told.is_some_and(|address| self.paths.remotes.contains(&address)), &mut refused.address)
            }
            _ => (known, &mut refused.address),
        };
        *reason += u64::from(!admitted);
        if let ([Chunk::ShutdownAck, ..], State::Closed) = (&packet.chunks[..], self.state) {
            self.reply(path, tag, Chunk::ShutdownComplete { reflected_tag: true });
        }
        admitted
    }

    #[cold]
    fn handle_control(&mut self, cx: &mut Context<'_>, path: Path, chunk: &Chunk) {
        match (chunk, self.state) {
            (Chunk::Init(init), State::Closed | State::CookieWait | State::CookieEchoed) => {
                self.answer_init(cx.now, path, init);
            }
            (Chunk::InitAck(init), State::CookieWait) => self.take_init_ack(path, init),
            (Chunk::CookieEcho(octets), _) => self.take_cookie(cx.now, cx.random, path, octets),
            (Chunk::CookieAck, State::CookieEchoed) => self.establish(cx.now, cx.random),
            (Chunk::Error(causes), State::CookieEchoed) if causes.iter().any(|c| c.kind == STALE_COOKIE) => {
                self.enter(State::CookieWait);
            }
            // RFC 5061 5.3 F5: from an address that is being deleted nothing leaves, and no ABORT to it
            // counts.
            (Chunk::Heartbeat(_) | Chunk::Abort { .. }, _) if self.reconfiguration.is_leaving(path.local) => {
            }
            (Chunk::Heartbeat(information), state) if state != State::Closed && self.peer_tag != 0 => {
                self.reply(path, self.peer_tag, Chunk::HeartbeatAck(information.clone()));
            }
            (Chunk::HeartbeatAck(information), state) if state != State::Closed => {
                self.take_heartbeat_ack(cx, information);
            }
            (Chunk::Asconf(asconf), state) if state.is_up() => {
                self.take_asconf(cx, path, asconf);
            }
            (Chunk::AsconfAck(ack), state) if state.is_up() => {
                self.take_asconf_ack(cx, path, ack);
            }
            (Chunk::Shutdown { cumulative_tsn_ack }, _) => {
                self.take_shutdown(cx.now, path, *cumulative_tsn_ack);
            }
            (Chunk::ShutdownAck, State::ShutdownSent | State::ShutdownAckSent) => {
                self.reply(path, self.peer_tag, Chunk::ShutdownComplete { reflected_tag: false });
                self.end(Event::Closed);
            }
            (Chunk::ShutdownComplete { .. }, State::ShutdownAckSent) => self.end(Event::Closed),
            (Chunk::Abort { .. }, state) if state != State::Closed => self.end(Event::Aborted),
            // Closed, and no COOKIE ECHO: what comes late is not answered. In other states: out of place.
            _ => {}
        }
    }

    /// A SACK, or a SHUTDOWN.
    pub(super) fn take_acknowledgement(&mut self, now: Time, cumulative_tsn_ack: u32, sack: Option<&Sack>) {
        let told = (cumulative_tsn_ack, sack);
        let Some(progress) = self.sender.acknowledge(now, told, &mut self.paths, &mut self.stats) else {
            return;
        };
        // RFC 9260 8.1, 8.2; a peer that holds its window closed is there (6.1 A).
        let window_closed = sack.is_some_and(|sack| sack.a_rwnd_bytes == 0);
        if progress.is_any() || window_closed {
            self.errors = 0;
        }
        // RFC 7829 3.2: a path that has failed, potentially or for good, is so until something is
        // acknowledged that was sent there alone.
        let is_strict = self.config.potentially_failed_retransmissions.is_some();
        for state in &mut self.paths.all {
            let heard = match is_strict && (state.potentially_failed || !state.active) {
                true => state.newly_here_alone,
                false => state.newly > 0 || window_closed && state.outstanding_bytes > 0,
            };
            if heard && !state.removed && state.answered() {
                self.events.push_back(Event::PathUp(state.path));
            }
        }
    }
}
