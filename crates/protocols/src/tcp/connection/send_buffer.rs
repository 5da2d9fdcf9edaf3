//! The send buffer: what the sending end holds, sent or not, until it is acknowledged. More waits in the
//! application, which is blocked in its write.
//!
//! By Linux 6.12 (net/core/stream.c, net/ipv4/tcp_input.c):
//! - A blocked application writes again when a third of the buffer is free (`sk_stream_min_wspace`). It fills
//!   the unit of offload that it begins, beyond the size of the buffer if need be: whole segments within 64
//!   KiB and half of the largest window of the peer (`tcp_xmit_size_goal`).
//! - With a size at the start the buffer follows the congestion window (`tcp_sndbuf_expand`): twice the
//!   memory of its segments, of ten at least. It grows while the window has room and the application waits.
//! - A close waits until everything is in the buffer.
//!
//! Chosen: octets of data count. Linux counts memory, which offload keeps within some per cent of the data.

use roamsim_engine::Time;

use super::sender::Sender;
use super::{Connection, MAX_STREAM_BYTES, State};
use crate::tcp::send_buffer::SendBuffer;

/// The most data of a unit: `GSO_LEGACY_MAX_SIZE`, less one and `MAX_TCP_HEADER`.
const UNIT_BYTES: u64 = 65_536 - 1 - 320;

impl Sender {
    #[inline]
    pub(super) fn send_buffer(&self) -> Option<&SendBuffer> {
        self.extras.as_ref()?.send_buffer.as_deref()
    }

    /// Takes what there is room for from the application.
    fn fill(&mut self, room_bytes: u64) {
        let acknowledged = self.acknowledged();
        let segments = UNIT_BYTES.min(self.max_snd_wnd / 2) / self.smss;
        let unit_bytes = segments.max(1) * self.smss;
        let Some(buffer) = self.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut()) else {
            return;
        };
        debug_assert!(acknowledged <= self.written && self.written <= buffer.written);
        self.written = buffer.written.min(self.written + room_bytes.div_ceil(unit_bytes) * unit_bytes);
    }

    /// Room in octets.
    fn room_bytes(&self) -> u64 {
        let held_bytes = self.written - self.acknowledged();
        self.send_buffer().map_or(0, |buffer| buffer.size_bytes.saturating_sub(held_bytes))
    }

    /// Data has gone: whether the buffer is the limit from now on.
    pub(super) fn note_send_buffer(&mut self, now: Time) {
        let has_window = self.flight() + self.smss <= self.congestion.cwnd_bytes();
        let (written, all_sent) = (self.written, self.snd_nxt > self.written);
        let Some(buffer) = self.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut()) else {
            return;
        };
        if all_sent && has_window && written < buffer.written && buffer.limited_since == Time::MAX {
            buffer.limited_since = now;
        }
    }
}

impl Connection {
    /// The application writes so much.
    #[cold]
    pub(super) fn write_to_buffer(&mut self, bytes: u64) {
        let sender = &mut self.sender;
        let Some(buffer) = sender.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut()) else {
            return;
        };
        if buffer.closes {
            return;
        }
        let waits = sender.written < buffer.written;
        buffer.written = buffer.written.saturating_add(bytes).min(MAX_STREAM_BYTES);
        if !waits {
            let room_bytes = sender.room_bytes();
            sender.fill(room_bytes);
        }
    }

    /// Something may have been acknowledged, or the window may have grown: the application goes on if there
    /// is room.
    #[inline]
    pub(super) fn fill_send_buffer(&mut self, now: Time) {
        if self.sender.send_buffer().is_some_and(|buffer| buffer.written > self.sender.written) {
            self.fill_waiting(now);
        }
    }

    #[inline(never)]
    fn fill_waiting(&mut self, now: Time) {
        let sender = &mut self.sender;
        let (flight, cwnd) = (sender.flight(), sender.congestion.cwnd_bytes());
        let segments = (cwnd / sender.smss).max(u64::from(self.config.dup_ack_threshold) + 1);
        let mss = u64::from(sender.agreed_mss);
        if let Some(buffer) = sender.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut())
            && flight < cwnd
        {
            buffer.follow(segments, mss);
        }
        let (room_bytes, held_bytes) = (sender.room_bytes(), sender.written - sender.acknowledged());
        if room_bytes == 0 || room_bytes < held_bytes / 2 {
            return;
        }
        sender.fill(room_bytes);
        let written = sender.written;
        let Some(buffer) = sender.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut()) else {
            return;
        };
        if buffer.limited_since != Time::MAX {
            buffer.limited += now.since(buffer.limited_since);
            buffer.limited_since = Time::MAX;
        }
        if written == buffer.written && std::mem::take(&mut buffer.closes) {
            self.close();
        }
    }

    /// Counts the time for which the buffer has been the limit up to now: at the end of what is measured, and
    /// of the connection.
    pub fn settle_send_buffer(&mut self, now: Time) {
        let ended = self.state == State::Closed;
        let buffer = self.sender.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut());
        if let Some(buffer) = buffer.filter(|buffer| buffer.limited_since != Time::MAX) {
            buffer.limited += now.since(buffer.limited_since);
            buffer.limited_since = if ended { Time::MAX } else { now };
        }
    }

    /// Whether a close has to wait for data to find room, in a state that sends data.
    #[inline]
    pub(super) fn close_waits_for_room(&mut self) -> bool {
        let written = self.sender.written;
        let buffer = self.sender.extras.as_mut().and_then(|extras| extras.send_buffer.as_mut());
        let Some(buffer) = buffer.filter(|buffer| buffer.written > written) else { return false };
        buffer.closes = matches!(self.state, State::SynReceived | State::Established | State::CloseWait);
        buffer.closes
    }
}
