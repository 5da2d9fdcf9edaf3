//! What leaves next (RFC 9260 6.1, 6.10): answers, control chunks, HEARTBEATs, then SACK and DATA.

use roamsim_engine::Time;

use super::{Association, State};
use crate::machine::Context;
use crate::sctp::chunk::{COMMON_HEADER_BYTES, Chunk, Chunks, Packet, padded};
use crate::sctp::path::Path;

impl Association {
    /// The next packet to send and the path it takes, if there is one now.
    pub fn poll_transmit(&mut self, cx: &mut Context<'_>) -> Option<(Path, Packet)> {
        self.sender.sent_again.clear();
        self.sender.sent_probe = false;
        let next = if self.replies.is_empty() { self.next_packet(cx) } else { self.replies.pop_front() };
        self.stats.packets_sent += u64::from(next.is_some());
        next
    }

    fn next_packet(&mut self, cx: &mut Context<'_>) -> Option<(Path, Packet)> {
        self.finish_shutdown();
        if self.state == State::Closed {
            return None;
        }
        if self.control_due {
            return Some(self.control(cx));
        }
        let sends_data = self.state.sends_data();
        if sends_data {
            self.sender.abandon_due(cx.now, &mut self.paths, &mut self.stats);
            // What was given up may have been the last of a shutdown.
            self.finish_shutdown();
        }
        if sends_data && let Some(heartbeat) = self.next_heartbeat(cx) {
            return Some(heartbeat);
        }
        if self.reconfiguration.is_due() {
            return self.asconf(cx);
        }
        let data_on = if sends_data { self.sender.next_path(&self.paths) } else { None };
        if sends_data
            && let Some(place) = self.sender.forward_path(&self.paths).filter(|&place| data_on != Some(place))
        {
            return Some(self.forward(cx.now, place));
        }
        let due = self.receiver.sack_due || self.receiver.sack_at.is_some();
        if data_on.is_none() && !due { None } else { self.sack_and_data(cx.now, data_on, due) }
    }

    /// A packet with the SACK that is `due`, with DATA on the path at the place `data_on`, or with both.
    #[inline(never)] // what has nothing to send, every second time, need not pay for it
    fn sack_and_data(&mut self, now: Time, data_on: Option<usize>, due: bool) -> Option<(Path, Packet)> {
        let data_path = data_on.map(|place| self.paths.all[place].path);
        let mut chunks = Chunks::new();
        let mut room = self.config.packet_bytes.saturating_sub(COMMON_HEADER_BYTES);
        let back = if due { self.sack_path.or_else(|| self.sending_path()) } else { None };
        // A delayed SACK goes with data on its way, if the packet holds both (RFC 9260 6.1).
        let with_data = self.receiver.sack_at.is_some()
            && data_on.is_some()
            && back == data_path
            && self.receiver.sack_bytes() + self.sender.next_chunk_bytes() <= room;
        if (self.receiver.sack_due || with_data) && self.state.receives_data() {
            let sack = Chunk::Sack(self.receiver.sack());
            room = room.saturating_sub(padded(sack.bytes()));
            chunks.push(sack);
            // It travels with data only where it has to go anyway.
            if let Some(path) = back.filter(|&path| Some(path) != data_path) {
                return Some((path, self.packet(self.peer_tag, chunks)));
            }
        }
        let (place, path) = data_on.zip(data_path)?;
        if chunks.is_empty() && self.sender.forward_path(&self.paths) == Some(place) {
            let forward = self.sender.forward(now, place, room, &mut self.paths, &mut self.stats);
            let forward = Chunk::ForwardTsn(Box::new(forward));
            room = room.saturating_sub(forward.bytes());
            chunks.push(forward);
        }
        self.sender.fill(now, place, room, &mut self.paths, &mut chunks, &mut self.stats);
        if chunks.is_empty() { None } else { Some((path, self.packet(self.peer_tag, chunks))) }
    }

    /// A FORWARD TSN without data.
    #[cold]
    fn forward(&mut self, now: Time, place: usize) -> (Path, Packet) {
        let room = self.config.packet_bytes.saturating_sub(COMMON_HEADER_BYTES);
        let forward = self.sender.forward(now, place, room, &mut self.paths, &mut self.stats);
        let chunks = Chunks::from_buf([Chunk::ForwardTsn(Box::new(forward))]);
        (self.paths.all[place].path, self.packet(self.peer_tag, chunks))
    }

    /// The chunk that the state repeats; a SACK that is due goes with a SHUTDOWN.
    #[cold]
    fn control(&mut self, cx: &mut Context<'_>) -> (Path, Packet) {
        self.control_due = false;
        let state = &self.paths.all[self.control_path];
        self.control_at = Some(cx.now + state.rtt.rto());
        let path = state.path;
        let mut chunks = Chunks::new();
        if self.receiver.sack_due && self.state.receives_data() {
            chunks.push(Chunk::Sack(self.receiver.sack()));
        }
        chunks.push(match self.state {
            State::CookieWait => Chunk::Init(self.init(None)),
            State::CookieEchoed => Chunk::CookieEcho(self.cookie.clone()),
            State::ShutdownSent => Chunk::Shutdown { cumulative_tsn_ack: self.receiver.cumulative_tsn() },
            _ => Chunk::ShutdownAck,
        });
        let tag = if self.state == State::CookieWait { 0 } else { self.peer_tag };
        (path, self.packet(tag, chunks))
    }
}
