//! The settings of a connection, each default with its source.

use roamsim_engine::Span;

use super::congestion;
use super::congestion::keys::Own;
use super::fast_open::FirstCookie;
use super::rtt::Bounds;
use super::user_timeout::UserTimeoutOption;
use super::variant::Variant;
use super::{detection, recovery};

/// The MSS of a peer over IPv4 that announces none: 576 octets less 40 of headers (RFC 9293 3.7.1, MUST-15).
pub const DEFAULT_MSS_IPV4_BYTES: u32 = 536;

/// The MSS of a peer over IPv6 that announces none: 1280 octets less 60 of headers (RFC 9293 3.7.1, MUST-15).
pub const DEFAULT_MSS_IPV6_BYTES: u32 = 1220;

/// The congestion window at the start of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// min(10 SMSS, max(2 SMSS, 14600 bytes)): RFC 6928 section 2.
    Rfc6928,
    /// Two to four segments: RFC 5681 3.1.
    Rfc5681,
    /// So many segments of SMSS bytes; at least one.
    Segments(u32),
}

impl InitialWindow {
    /// The window in bytes for segments of `smss_bytes`.
    pub fn bytes(self, smss_bytes: u64) -> u64 {
        match self {
            InitialWindow::Rfc6928 => (10 * smss_bytes).min((2 * smss_bytes).max(14_600)),
            InitialWindow::Rfc5681 => match smss_bytes {
                2191.. => 2 * smss_bytes,
                1096.. => 3 * smss_bytes,
                _ => 4 * smss_bytes,
            },
            InitialWindow::Segments(n) => u64::from(n.max(1)) * smss_bytes,
        }
    }

    /// How many SYNs may be lost before the window is one segment: none by RFC 5681 3.1, one by RFC 6928
    /// section 2.
    pub(super) fn spare_syns(self) -> u32 {
        u32::from(self != InitialWindow::Rfc5681)
    }
}

/// How the retransmission timeout follows the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRules {
    /// RFC 6298; with timestamps RFC 7323 4.2.
    Rfc6298,
    /// As in Linux: the minimum bounds what is added to SRTT, every sample counts in full, and with RACK
    /// selective acknowledgements measure, and restart the timer while the first segment may have arrived.
    Linux,
}

/// When a loss probe goes at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossProbeRules {
    /// When the retransmission timer would expire (RFC 8985 7.2), which acknowledgements of new data restart
    /// (RFC 6298 5.3).
    Rfc8985,
    /// As in Linux: once data goes behind such an acknowledgement, an RTO behind the sending of the first
    /// segment. With several segments in flight the two round trips have 2 ms more.
    Linux,
}

/// When a timestamp from before the first retransmission of a recovery takes the reduction back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoRules {
    /// At once (RFC 3522 3.2).
    Rfc3522,
    /// As in Linux: during a fast recovery only while no retransmission is in flight. Retransmissions in
    /// flight from before it count as its own.
    Linux,
}

/// What widens the window of RACK for reordering, and when its timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackRules {
    /// Reports of duplicates, once in a round. It ends when SND.UNA passes the SND.NXT of its start (RFC 8985
    /// 6.2). Reordering is seen by octets that were sent once.
    Rfc8985,
    /// As in Linux: a round ends when something is delivered that was sent in it. Reordering is seen by
    /// timestamps that prove a fast recovery needless, too. The timer is 2 ms late (TCP_TIMEOUT_MIN_US).
    Linux,
}

/// Which octets let the window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthRules {
    /// Those that a cumulative acknowledgement is the first to cover (RFC 5681 3.1).
    Rfc5681,
    /// As in Linux: those that an acknowledgement is the first to tell of, in either way, outside of fast
    /// recovery. One without new cumulatively acknowledged octets counts where the path reorders by more than
    /// `dup_ack_threshold` segments.
    Linux,
}

/// How slow start ends before a loss: the first one, or by Linux's rules any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HystartRules {
    /// HyStart++ (RFC 9406).
    PlusPlus,
    /// Trains of acknowledgements and the round trip, as in Linux (Ha and Rhee 2011).
    Linux,
}

/// When a window that is not used grows, and whether it shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// It grows while half of it is in use, by the largest flight of two round trips, and does not shrink but
    /// by `restart_after_idle`.
    Half,
    /// RFC 7661: by what was acknowledged in a round trip of the last second. It keeps an unused window for
    /// five minutes, whatever `restart_after_idle` says.
    Rfc7661,
    /// It grows while all of it is in use, in slow start half of it. With `restart_after_idle` it shrinks:
    /// each RTO of an idle time halves it, down to the initial window. An RTO in which it was not in use
    /// takes it half the way to the flight. ssthresh keeps three quarters of it (Linux, RFC 2861).
    Linux,
}

/// How much data ends the delay of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAckRules {
    /// `delayed_ack_count` full-sized segments, options included (RFC 5681 4.2).
    Rfc,
    /// More octets than the received MSS, as in Linux: a full segment and any other.
    Linux,
}

/// When Nagle's algorithm lets a short segment go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NagleRules {
    /// When all data is acknowledged (RFC 896).
    Rfc,
    /// When all short segments are, as in Linux (draft-minshall-nagle).
    Minshall,
}

/// When an end that hears nothing probes its peer (RFC 9293 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Without a segment for so long the first probe goes. RFC 1122 4.2.3.6: not less than two hours by
    /// default.
    pub idle: Span,
    /// The time between probes.
    pub interval: Span,
    /// After so many without an answer the connection is given up.
    pub probes: u32,
}

/// The settings of one end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Detection, recovery and congestion control. Default NewReno (chosen: the newest of those without
    /// SACK).
    pub variant: Variant,
    /// The congestion control in place of the variant's. Default `None`.
    pub law: Option<congestion::LawMaker>,
    /// The MSS this end announces and keeps to, in bytes, options not subtracted (RFC 9293 3.7.1). Default
    /// 1440: Ethernet's 1500 less 40 of IPv6 and 20 of TCP.
    pub mss_bytes: u32,
    /// The MSS of a peer that announces none, in bytes. Default [`DEFAULT_MSS_IPV6_BYTES`], as `mss_bytes` is
    /// for IPv6.
    pub default_mss_bytes: u32,
    /// The congestion window after the handshake. Default RFC 6928.
    pub initial_window: InitialWindow,
    /// Size of the receive buffer, hence the largest window offered. Default 6 MiB (Linux, `tcp_rmem`
    /// maximum).
    pub receive_window_bytes: u32,
    /// The window at the start, which then follows what arrives in a round trip, up to `receive_window_bytes`
    /// (dynamic right-sizing, Fisk and Feng 2001). Default `None`: the window is that large at once.
    pub initial_receive_window_bytes: Option<u32>,
    /// Octets that the sending end holds until they are acknowledged; more waits in the application. Default
    /// `None`: any number.
    pub send_buffer_bytes: Option<u64>,
    /// The send buffer at the start, which then follows the congestion window up to `send_buffer_bytes`, as
    /// in Linux. Default `None`: it has that size at once.
    pub initial_send_buffer_bytes: Option<u64>,
    /// Offers window scaling, RFC 7323 section 2. Default on.
    pub window_scaling: bool,
    /// Smallest retransmission timeout. Default 1 s (RFC 6298 2.4).
    pub min_rto: Span,
    /// How the timeout follows the round trip. Default RFC 6298.
    pub rto_rules: RtoRules,
    /// Largest retransmission timeout, which backing off does not pass. Default 60 s (RFC 6298 2.5).
    pub max_rto: Span,
    /// Timeout before the first measurement. Default 1 s (RFC 6298 2.1). Not above `max_rto`.
    pub initial_rto: Span,
    /// Tick of the clock that measures round-trip times, G of RFC 6298: a measurement is rounded up to whole
    /// ticks. Default 1 ms (RFC 6298 section 4: finer than 100 ms does somewhat better; chosen, as Linux).
    pub clock_granularity: Span,
    /// How long an acknowledgement may be delayed; `None` acknowledges every segment at once. Default 200 ms
    /// (chosen, as 4.4BSD; below the 0.5 s of RFC 9293 3.8.6.3).
    pub delayed_ack: Option<Span>,
    /// Full-sized segments of which the last has a delayed acknowledgement sent. Default 2 (RFC 5681 4.2: at
    /// least every second one); at least one. With more than a window holds, acknowledgements wait for data
    /// or for the delay.
    pub delayed_ack_count: u32,
    /// How much data ends the delay. Default that count.
    pub delayed_ack_rules: DelayedAckRules,
    /// The delay follows the times between segments, from 40 ms up to `delayed_ack`, as in Linux. Default
    /// off.
    pub delayed_ack_adapts: bool,
    /// How many segments are acknowledged at once when data begins to arrive, and again after a pause. Linux
    /// has 16. Default 0.
    pub quick_acks: u32,
    /// Duplicate ACKs from the fourth on wait for a millisecond at most and answer several segments, as in
    /// Linux. Needs SACK. Default off (RFC 5681 4.2).
    pub compressed_acks: bool,
    /// Data carries an acknowledgement that is due, so that none goes alone where there is something to send.
    /// Default on (RFC 9293 3.8.6.3: fewer segments when acknowledgement and data go together). Off: each
    /// goes alone and ahead of data, which tells the same number (the immediate pure ACK of studies of TCP
    /// with data in both directions).
    pub piggyback_acks: bool,
    /// Each direction is a connection of its own, as with the one-way agents of ns-2 (`Agent/TCP` and
    /// `Agent/TCPSink`): data acknowledges nothing, offers no window, carries no SACK block and echoes no
    /// mark; segments without data do, and a FIN. Data repeats the number of the last acknowledgement, and
    /// the peer ignores it. Both ends need the same setting. Default off.
    pub one_way_connections: bool,
    /// Nagle's algorithm. Default on (RFC 9293 3.7.4, SHOULD).
    pub nagle: bool,
    /// Its rules. Default RFC 896.
    pub nagle_rules: NagleRules,
    /// Duplicate ACKs that tell of a loss. Default 3 (RFC 5681 3.2).
    pub dup_ack_threshold: u32,
    /// One new segment for each of the first two duplicate ACKs. Default on (RFC 3042). Tahoe is older and
    /// does without.
    pub limited_transmit: bool,
    /// Offers selective acknowledgements (RFC 2018). Default `None`: as [`Variant::permits_sack`] says.
    /// Variants that do not need them then send them and learn nothing from them.
    pub sack: Option<bool>,
    /// The most SACK blocks in a segment. Default `None`: as many as there is room for.
    pub max_sack_blocks: Option<u32>,
    /// Offers timestamps, RFC 7323 section 3. Default off (chosen: 12 bytes a segment are a scenario's
    /// choice).
    pub timestamps: bool,
    /// Retransmissions of one segment by timeout after which the connection is given up (R2 of RFC 9293
    /// 3.8.3). Default `None`: never.
    pub max_retransmissions: Option<u32>,
    /// How many segments' worth of octets slow start counts of an ACK at most: L of appropriate byte
    /// counting, at least 1. Default 1 (RFC 5681 3.1, equation 2); RFC 3465 2.3 allows 2, and 1 in slow start
    /// after a timeout, as here but for the growth of Linux.
    pub byte_counting_limit: u32,
    /// Slow-start threshold at the start; `None` is arbitrarily high (RFC 5681 3.1), the default.
    pub initial_ssthresh_bytes: Option<u64>,
    /// When a window that is not used grows, and whether it shrinks. Default [`WindowValidation::Half`].
    pub window_validation: WindowValidation,
    /// After an idle time longer than the RTO, sending restarts with at most the initial window. Default on
    /// (RFC 5681 4.1, SHOULD).
    pub restart_after_idle: bool,
    /// Keys that belong to a congestion control. Its file has their defaults.
    pub own: Own,
    /// Losses are told by time: RACK (RFC 8985 section 6), over the transmissions that are kept. Needs SACK.
    /// Default off (chosen: the variants are those of the publications).
    pub rack: bool,
    /// The rules of `rack` for its window and timer. Default RFC 8985.
    pub rack_rules: RackRules,
    /// Loss probes (RFC 8985 section 7). Needs `rack`. Default off.
    pub tail_loss_probe: bool,
    /// The rules of `tail_loss_probe`. Default RFC 8985.
    pub loss_probe_rules: LossProbeRules,
    /// Proportional rate reduction (RFC 9937), with SACK or without; Tahoe, Reno and Vegas have none. Default
    /// off.
    pub prr: bool,
    /// F-RTO (RFC 5682): needless timeouts are found and taken back. Needs `rack`. Default off.
    pub frto: bool,
    /// A retransmission that RACK finds lost reduces the window once more (RFC 5681 4.3). Needs `rack`.
    /// Default off, as in Linux.
    pub reduce_after_lost_retransmission: bool,
    /// Reductions that D-SACK (RFC 3708) or timestamps (RFC 3522) prove to be needless are taken back. Needs
    /// `rack`. Default off.
    pub undo: bool,
    /// The rules of `undo` by timestamps. Default RFC 3522.
    pub undo_rules: UndoRules,
    /// What lets the window grow. Those of Linux need `rack`. Default RFC 5681.
    pub growth_rules: GrowthRules,
    /// Slow start ends by `hystart_rules`. Default off.
    pub hystart: bool,
    /// The rules of `hystart`. Default HyStart++ (RFC 9406).
    pub hystart_rules: HystartRules,
    /// Data is spread over the round trip, at the congestion control's rate or by Linux's ratios. Default
    /// off.
    pub pacing: bool,
    /// Offers Explicit Congestion Notification (RFC 3168). Default off (chosen: queues mark only where a
    /// scenario says so).
    pub ecn: bool,
    /// The smallest window that a mark leaves, in segments. With one, a mark at that window has new data wait
    /// for the RTO (RFC 9438 4.6, RFC 3168 6.1.2). Default 2, as in Linux.
    pub ecn_min_window: u32,
    /// A mark reduces the window by PRR, over a round trip (RFC 9937 section 4). Needs `prr` and `ecn`.
    /// Default off (RFC 3168 6.1.2: at once).
    pub prr_for_ecn: bool,
    /// Feedback of marks is accurate, if the peer agrees (AccECN, RFC 9768). Needs `ecn`. Default off.
    pub accurate_ecn: bool,
    /// Data goes as ECT(1), the identifier of L4S (RFC 9331 section 4.1), in place of ECT(0). Default off.
    pub l4s: bool,
    /// A mark of ECN reduces the window by less than a loss: to 0.8 of the flight, with CUBIC 0.85
    /// (Alternative Backoff with ECN, RFC 8511). Default off (experimental there). Vegas shrinks by a quarter
    /// either way.
    pub abe: bool,
    /// Reno may begin another fast retransmit within a window that has been repaired. Default on (RFC 5681,
    /// which has no guard). Off: after a repair or a timeout, duplicate ACKs tell of no loss until an ACK
    /// covers more than was sent before (Floyd, "TCP and Successive Fast Retransmits", 1994; `recover` of RFC
    /// 6582). Tahoe, NewReno and SACK always do without, and Vegas has a rule of its own.
    pub successive_fast_retransmits: bool,
    /// Keep-alive (RFC 9293 3.8.4). Default off (MUST-25).
    pub keep_alive: Option<KeepAlive>,
    /// How long data, or a SYN, may be without progress before the connection is given up (RFC 9293 3.8.3,
    /// RFC 5482). Default `None`: `max_retransmissions` alone.
    pub user_timeout: Option<Span>,
    /// The option that tells the peer of the user timeout (RFC 5482). Default `None` (RFC 5482 section 3:
    /// ENABLED defaults to false).
    pub user_timeout_option: Option<UserTimeoutOption>,
    /// Fast Open (RFC 7413), and what a client knows of its server at first. Default `None` (an extension
    /// that applications ask for; Linux has it on at clients that do, and off at servers).
    pub fast_open: Option<FirstCookie>,
    /// In each such time, counted from its first one, at most `challenge_ack_limit` challenge ACKs are sent:
    /// answers to refused segments without data, to SYN and to RST. Default 5 s and 10 (RFC 5961 section 7).
    pub challenge_ack_interval: Span,
    /// How many that are.
    pub challenge_ack_limit: u32,
    /// Maximum segment lifetime; TIME-WAIT lasts twice as long. Default 2 minutes (RFC 9293 3.4.2).
    pub msl: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            variant: Variant::NEW_RENO,
            law: None,
            mss_bytes: 1440,
            default_mss_bytes: DEFAULT_MSS_IPV6_BYTES,
            initial_window: InitialWindow::Rfc6928,
            receive_window_bytes: 6 * 1024 * 1024,
            initial_receive_window_bytes: None,
            send_buffer_bytes: None,
            initial_send_buffer_bytes: None,
            window_scaling: true,
            min_rto: Span::from_secs(1),
            rto_rules: RtoRules::Rfc6298,
            max_rto: Span::from_secs(60),
            initial_rto: Span::from_secs(1),
            clock_granularity: Span::from_ms(1),
            delayed_ack: Some(Span::from_ms(200)),
            delayed_ack_count: 2,
            delayed_ack_rules: DelayedAckRules::Rfc,
            delayed_ack_adapts: false,
            quick_acks: 0,
            compressed_acks: false,
            piggyback_acks: true,
            one_way_connections: false,
            nagle: true,
            nagle_rules: NagleRules::Rfc,
            dup_ack_threshold: 3,
            limited_transmit: true,
            sack: None,
            max_sack_blocks: None,
            timestamps: false,
            max_retransmissions: None,
            byte_counting_limit: 1,
            initial_ssthresh_bytes: None,
            window_validation: WindowValidation::Half,
            restart_after_idle: true,
            own: Own::default(),
            rack: false,
            tail_loss_probe: false,
            loss_probe_rules: LossProbeRules::Rfc8985,
            rack_rules: RackRules::Rfc8985,
            undo_rules: UndoRules::Rfc3522,
            growth_rules: GrowthRules::Rfc5681,
            prr: false,
            frto: false,
            reduce_after_lost_retransmission: false,
            undo: false,
            hystart: false,
            hystart_rules: HystartRules::PlusPlus,
            pacing: false,
            ecn: false,
            ecn_min_window: 2,
            prr_for_ecn: false,
            accurate_ecn: false,
            l4s: false,
            abe: false,
            successive_fast_retransmits: true,
            keep_alive: None,
            user_timeout: None,
            user_timeout_option: None,
            fast_open: None,
            challenge_ack_interval: Span::from_secs(5),
            challenge_ack_limit: 10,
            msl: Span::from_secs(120),
        }
    }
}

impl Config {
    /// Whether selective acknowledgements are offered.
    pub fn permits_sack(&self) -> bool {
        self.sack.unwrap_or(self.variant.permits_sack())
    }

    /// The congestion control.
    pub(super) fn congestion_control(&self) -> congestion::Kind {
        match self.law {
            Some(_) => congestion::Kind::Given,
            None => self.variant.congestion().in_force(&self.own),
        }
    }

    /// The recovery towards a peer that takes SACK if need be.
    pub(super) fn recovery(&self) -> recovery::Kind {
        match self.variant.recovery() {
            recovery::Kind::Sack if self.rack => recovery::Kind::Rack,
            recovery::Kind::NewReno => self.recovery_without_sack(),
            kind => kind,
        }
    }

    /// That of such a variant towards another peer.
    pub(super) fn recovery_without_sack(&self) -> recovery::Kind {
        if self.prr { recovery::Kind::NewRenoPrr } else { recovery::Kind::NewReno }
    }

    /// Whether a connection has parts beside those of its variant.
    pub(super) fn has_extras(&self) -> bool {
        let recovery = self.recovery();
        let reduces = self.prr && matches!(recovery, recovery::Kind::Sack | recovery::Kind::NewRenoPrr);
        let acknowledges = self.delayed_ack_adapts || self.quick_acks > 0 || self.compressed_acks;
        let receives = acknowledges || self.acks_beyond_one_segment();
        recovery == recovery::Kind::Rack
            || reduces
            || self.hystart
            || self.may_pace()
            || receives
            || self.initial_receive_window_bytes.is_some()
            || self.window_validation != WindowValidation::Half
            || self.has_minshall()
            || self.keep_alive.is_some()
            || self.user_timeout.is_some()
            || self.rto_rules == RtoRules::Linux
            || self.accurate_ecn
            || self.marks_leave_one_segment()
            || self.send_buffer_bytes.is_some()
            || self.fast_open.is_some()
            || self.user_timeout_option.is_some()
    }

    /// Whether marks reduce the window by PRR.
    pub(super) fn reduces_for_marks(&self) -> bool {
        self.ecn && self.prr && self.prr_for_ecn && self.variant.takes_prr()
    }

    /// Whether marks reduce the window to one segment.
    pub(super) fn marks_leave_one_segment(&self) -> bool {
        self.ecn && self.ecn_min_window < 2
    }

    /// Whether more than one received segment is acknowledged at once.
    pub(super) fn acks_beyond_one_segment(&self) -> bool {
        self.delayed_ack.is_some() && self.delayed_ack_rules == DelayedAckRules::Linux
    }

    /// Whether short segments wait for short ones alone.
    pub(super) fn has_minshall(&self) -> bool {
        self.nagle && self.nagle_rules == NagleRules::Minshall
    }

    /// Whether the congestion control works on samples of the rate of delivery.
    pub(super) fn takes_samples(&self) -> bool {
        self.congestion_control().takes_samples()
    }

    /// Whether the receiver echoes each mark (RFC 8257 section 3.2), for a congestion control that counts
    /// them.
    pub(super) fn echoes_exactly(&self) -> bool {
        self.congestion_control().counts_marks()
    }

    /// Whether there is a pacer: a law from outside may ask for a rate at any time.
    pub(super) fn may_pace(&self) -> bool {
        self.paces() || self.law.is_some()
    }

    /// Whether data is paced: a control that works on samples has a rate of its own.
    pub(super) fn paces(&self) -> bool {
        self.pacing || self.takes_samples()
    }

    /// The loss detection.
    pub(super) fn detection(&self) -> detection::Kind {
        self.variant.detection()
    }

    /// What the retransmission timer is told.
    #[inline]
    pub(super) fn rtt_bounds(&self) -> Bounds {
        let (min_rto, least) = match self.rto_rules {
            RtoRules::Rfc6298 => (self.min_rto, Span::ZERO),
            RtoRules::Linux => (Span::ZERO, self.min_rto),
        };
        Bounds {
            initial: self.initial_rto.min(self.max_rto),
            min_rto,
            min_margin: least.max(self.clock_granularity),
            max_rto: self.max_rto,
            granularity: self.clock_granularity,
        }
    }

    /// What the congestion control is told.
    pub(super) fn congestion_settings(&self) -> congestion::Settings {
        congestion::Settings {
            initial_ssthresh_bytes: self.initial_ssthresh_bytes,
            own: self.own.clone(),
            abe: self.abe,
            marks_leave_one_segment: self.marks_leave_one_segment(),
            law: self.law.clone(),
        }
    }

    /// What the detection is told.
    pub(super) fn detection_settings(&self) -> detection::Settings {
        detection::Settings { dup_ack_threshold: self.dup_ack_threshold, bounds: self.rtt_bounds() }
    }

    /// What the recovery is told.
    pub(super) fn recovery_settings(&self) -> recovery::Settings {
        recovery::Settings {
            dup_ack_threshold: self.dup_ack_threshold,
            successive_fast_retransmits: self.successive_fast_retransmits,
            prr: self.prr,
            keeps_losses: self.takes_samples(),
        }
    }

    /// Whether every acknowledgement goes in a segment of its own, ahead of data.
    #[inline]
    pub(super) fn acks_go_alone(&self) -> bool {
        !self.piggyback_acks || self.one_way_connections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A class in Python is behind the last one.
    #[test]
    fn every_congestion_control_is_of_a_configuration() {
        for kind in congestion::Kind::ALL {
            let own = kind.chosen_by().map(|choice| Own::default().with(choice.key, choice.value));
            let mut configs = Variant::ALL
                .map(|variant| Config { variant, own: own.clone().unwrap_or_default(), ..Config::default() })
                .into_iter();
            let has_it = configs.any(|config| config.congestion_control() == *kind);
            assert_eq!(has_it, kind.about().is_some(), "{kind:?}");
        }
    }

    #[test]
    fn initial_window_of_rfc_5681() {
        let bytes = |smss_bytes| InitialWindow::Rfc5681.bytes(smss_bytes);
        assert_eq!([536, 1095].map(bytes), [2144, 4380]);
        assert_eq!([1096, 2190].map(bytes), [3288, 6570]);
        assert_eq!([2191, 8960].map(bytes), [4382, 17_920]);
    }

    #[test]
    fn initial_window_of_rfc_6928() {
        // 10 x 1000 = 10000 < 14600.
        assert_eq!(InitialWindow::Rfc6928.bytes(1000), 10_000);
        // 10 x 1460 = 14600, the same as the middle bound.
        assert_eq!(InitialWindow::Rfc6928.bytes(1460), 14_600);
        // 10 x 4000 = 40000; max(8000, 14600) = 14600.
        assert_eq!(InitialWindow::Rfc6928.bytes(4000), 14_600);
        // 10 x 8960 = 89600; max(17920, 14600) = 17920.
        assert_eq!(InitialWindow::Rfc6928.bytes(8960), 17_920);
        assert_eq!(InitialWindow::Segments(2).bytes(1280), 2560);
    }
}
