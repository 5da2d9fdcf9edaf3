//! TCP Fast Open (RFC 7413): data on a SYN, to a server that has given a cookie before.
//!
//! - A client without a cookie asks for one on its SYN, and keeps it with the server's MSS (4.1.3, 4.2.1).
//!   With a cookie its SYN carries that and the first data, as much as the kept MSS allows beside the
//!   options.
//! - A server that takes the cookie has the data delivered at once, acknowledges it on the SYN-ACK, and sends
//!   before the handshake is complete, within the initial window (4.2.2). With another cookie, or a request,
//!   the SYN-ACK brings the one that it takes, and acknowledges the SYN alone.
//! - Data that the SYN-ACK does not acknowledge goes again at once. A SYN is repeated without data and option
//!   (as in Linux: a middlebox may drop them), a SYN-ACK as it was, without data.
//!
//! A server that sends before the handshake is complete stays in SYN-RECEIVED, with SND.UNA behind its SYN.
//!
//! Not modelled: data on a SYN-ACK, clients that remember servers without Fast Open (4.1.3.1), a limit of
//! pending requests (5.1), changes of the server's key within a run.

use roamsim_engine::Time;

use super::receiver::Acknowledgement;
use super::timers::Timer;
use super::{Connection, Pending, State};
use crate::tcp::config::Config;
use crate::tcp::fast_open::{Cookie, KnownServer};
use crate::tcp::repeat::Reason;
use crate::tcp::segment::{Flags, OPTIONS_BYTES, Options, Segment};

/// What an end knows and does of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastOpen {
    /// The cookie that this end gives to its peer, and takes from it.
    own: Option<Cookie>,
    /// What it knows of its peer from earlier connections.
    known: Option<KnownServer>,
    /// What is to be kept for later ones.
    learned: Option<KnownServer>,
    /// What goes on the SYN-ACK.
    answer: Option<Cookie>,
    /// The SYN was taken with its cookie, and the handshake is not complete.
    is_open_early: bool,
    /// Octets on the SYN, until that is acknowledged.
    syn_bytes: u32,
    /// The SYN asked for a cookie; it carried data; the SYN-ACK acknowledged some of it.
    pub(super) requested: bool,
    pub(super) data_sent: bool,
    pub(super) data_taken: bool,
}

impl FastOpen {
    /// That of a connection which asks for it.
    pub(super) fn new(config: &Config) -> Option<Box<FastOpen>> {
        config.fast_open.is_some().then(Box::default)
    }
}

impl Connection {
    fn fast_open(&mut self) -> Option<&mut FastOpen> {
        self.sender.extras.as_mut()?.fast_open.as_deref_mut()
    }

    /// The cookie that this end, if it listens, gives to its peer and takes from it (RFC 7413 4.1.2: by the
    /// peer's address). Without a call it has none, and takes no data on a SYN. Without effect on a
    /// connection without Fast Open.
    pub fn set_own_cookie(&mut self, cookie: Cookie) {
        if let Some(fast_open) = self.fast_open() {
            fast_open.own = Some(cookie);
        }
    }

    /// What this end, if it opens, knows of its peer from earlier connections.
    pub fn set_known_server(&mut self, known: KnownServer) {
        if let Some(fast_open) = self.fast_open() {
            fast_open.known = Some(known);
        }
    }

    /// What is to be kept of the peer for later connections to it, unless it was taken before.
    pub fn take_learned_server(&mut self) -> Option<KnownServer> {
        self.fast_open()?.learned.take()
    }

    /// Whether data goes in this state: behind a SYN that was taken with its cookie, also in SYN-RECEIVED.
    #[inline]
    pub(super) fn sends_data(&self) -> bool {
        self.state.sends_data() || self.is_open_early()
    }

    /// Whether the handshake is not complete, and data goes and has been taken all the same.
    #[inline]
    pub(super) fn is_open_early(&self) -> bool {
        let fast_open = self.sender.extras.as_ref().and_then(|extras| extras.fast_open.as_ref());
        self.state == State::SynReceived && fast_open.is_some_and(|fast_open| fast_open.is_open_early)
    }

    /// The option of a SYN, the first one if it is not repeated, or of a SYN-ACK; how much data goes with it.
    pub(super) fn add_fast_open(&mut self, options: &mut Options, first: bool) -> u32 {
        let answers = self.state == State::SynReceived;
        let Some(&FastOpen { answer, known, .. }) = self.fast_open().map(|fast_open| &*fast_open) else {
            return 0;
        };
        let cookie = match known {
            _ if answers => answer,
            _ if !first => None,
            Some(known) => Some(known.cookie),
            None => Some(Cookie::REQUEST),
        };
        let fits = |cookie: &Cookie| options.bytes() + cookie.option_bytes() <= OPTIONS_BYTES;
        let Some(cookie) = cookie.filter(fits) else { return 0 };
        options.sack.set_fast_open(cookie);
        if answers {
            return 0;
        }
        let most = self.config.mss_bytes.min(self.sender.path_mss);
        let most = known.map_or(0, |known| known.mss_bytes.min(most).saturating_sub(options.bytes()));
        let bytes = u64::from(most).min(self.sender.written) as u32;
        if let Some(fast_open) = self.fast_open() {
            fast_open.syn_bytes = bytes;
            fast_open.requested = cookie.is_request();
            fast_open.data_sent = bytes > 0;
        }
        if bytes > 0 {
            self.sender.snd_nxt += u64::from(bytes);
            self.sender.snd_max += u64::from(bytes);
            self.stats.control_segments_sent -= 1;
            self.stats.data_segments_sent += 1;
            self.stats.bytes_sent += u64::from(bytes);
        }
        bytes
    }

    /// A SYN has arrived at an end that listens.
    pub(super) fn take_fast_open(&mut self, now: Time, segment: &Segment) {
        let Some(fast_open) = self.fast_open() else { return };
        let (Some(own), Some(cookie)) = (fast_open.own, segment.options.sack.fast_open()) else { return };
        if cookie != own {
            fast_open.answer = Some(own);
            return;
        }
        fast_open.is_open_early = true;
        // A window on a SYN is never scaled (RFC 7323 2.2).
        self.sender.established(now, &self.config, u64::from(segment.window), false);
        if segment.payload_bytes > 0 {
            // A FIN, which no end here sends so early, is repeated.
            let data = Segment {
                seq: segment.seq.wrapping_add(1),
                flags: Flags::ACK | Flags::PSH,
                options: Options { timestamps: segment.options.timestamps, ..Options::default() },
                ..segment.clone()
            };
            self.receive(now, &data, 1);
            // The SYN-ACK acknowledges it.
            self.receiver.acknowledgement = Acknowledgement::None;
            self.timers.stop(Timer::DelayedAck);
        }
    }

    /// The SYN-ACK of the peer has arrived: what is to be kept for later connections.
    pub(super) fn learn_server(&mut self, segment: &Segment) {
        let default_mss_bytes = self.config.default_mss_bytes;
        let Some(fast_open) = self.fast_open() else { return };
        let mss_bytes = segment.options.mss.map_or(default_mss_bytes, u32::from);
        let given = segment.options.sack.fast_open().filter(|cookie| !cookie.is_request());
        let cookie = given.or(fast_open.known.map(|known| known.cookie));
        let learned = cookie.map(|cookie| KnownServer { cookie, mss_bytes });
        fast_open.learned = learned.filter(|learned| fast_open.known != Some(*learned));
    }

    /// This end's SYN is acknowledged, up to `ack`: its data was taken up to there, and the rest goes again.
    /// By then the SYN may have been `repeated`.
    pub(super) fn settle_syn_data(&mut self, ack: u64, repeated: bool) {
        let Some(fast_open) = self.fast_open().filter(|fast_open| fast_open.syn_bytes > 0) else { return };
        let bytes = u64::from(std::mem::take(&mut fast_open.syn_bytes));
        let taken = (ack - 1).min(bytes);
        fast_open.data_taken = taken > 0;
        let sender = &mut self.sender;
        (sender.snd_una, sender.snd_nxt, sender.snd_max) = (1 + taken, 1 + taken, 1 + taken);
        if taken > 0 {
            self.pending.set(Pending::ACKNOWLEDGED);
        }
        if taken < bytes {
            let reason = if repeated { Reason::Timeout } else { Reason::DuplicateAcks };
            self.sender.repeats_for = reason;
            self.stats.retransmissions += 1;
            self.stats.data_retransmissions_for[reason as usize] += 1;
            self.stats.bytes_retransmitted += bytes - taken;
        }
    }

    /// The handshake is complete, or the connection is gone. Whether data went before.
    pub(super) fn end_early_opening(&mut self) -> bool {
        self.fast_open().is_some_and(|fast_open| std::mem::take(&mut fast_open.is_open_early))
    }

    /// The handshake is complete, and data may be under way from before: its timer runs from now on (as in
    /// Linux; until now that of the SYN-ACK ran).
    pub(super) fn go_on_from_early(&mut self, now: Time) {
        if self.sender.snd_una < self.sender.snd_max {
            self.timers.start(Timer::Retransmission, now + self.sender.rtt.rto());
            self.note_waiting(now);
            self.schedule_probe(now, true);
        }
    }

    /// The connection listens again, in place of `before`.
    pub(super) fn inherit_cookie(&mut self, before: &mut Connection) {
        if let Some(cookie) = before.fast_open().and_then(|fast_open| fast_open.own) {
            self.set_own_cookie(cookie);
        }
    }
}
