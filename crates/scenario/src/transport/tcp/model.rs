//! The settings of TCP.

use std::borrow::Cow;
use std::sync::OnceLock;

use roamsim_engine::Span;
use roamsim_protocols::tcp;
pub use roamsim_protocols::tcp::Variant as TcpVariant;
use roamsim_protocols::tcp::congestion::keys::Own;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use crate::transport::own::{self, WithOwn};
use crate::units;

/// The settings of TCP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, remote = "Self")]
#[schemars(transform = own::add_keys)]
pub struct Tcp {
    /// A preset that replaces the defaults below. Other keys take precedence; if a key is turned off, the
    /// preset leaves out settings that need it. Left out: the defaults below.
    pub stack: Option<TcpStack>,
    /// Loss detection, recovery and congestion control together. Default: NewReno, the standard for a TCP
    /// without SACK (RFC 6582).
    #[serde(with = "variant_name")]
    #[schemars(with = "VariantNames")]
    pub variant: TcpVariant,
    /// Replaces the variant's congestion control. With `sack` or `cubic`: `reno`, or another variant that
    /// repairs by SACK. Only from the command line or the API: a Python class (`FILE.py:CLASS`) for `reno`,
    /// `newreno`, `sack` or `cubic`, whose recovery it keeps. Left out: the variant's.
    pub congestion_control: Option<String>,
    /// Maximum segment size. Left out: the path's smallest MTU less the IP and TCP headers (RFC 9293 section
    /// 3.7.1).
    #[serde(rename = "mss", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub mss_bytes: Option<u64>,
    /// The first congestion window, in segments. Left out: by `initial_window_rules`.
    #[serde(rename = "initial_window")]
    pub initial_window_segments: Option<u32>,
    /// How large the first congestion window is without `initial_window`. Default: RFC 6928.
    pub initial_window_rules: TcpInitialWindowRules,
    /// The receiver's buffer: the largest window that it offers. Left out: 6 MiB (the maximum of Linux's
    /// `tcp_rmem`), or 65535 bytes without window scaling (RFC 9293 section 3.1).
    #[serde(rename = "receive_window", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub receive_window_bytes: Option<u64>,
    /// The window that a receiver offers at first. It then follows the octets of each round trip, up to
    /// `receive_window` (dynamic right-sizing, Fisk and Feng 2001; Linux). Left out: `receive_window`.
    #[serde(rename = "initial_receive_window", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub initial_receive_window_bytes: Option<u64>,
    /// The sender's buffer of unacknowledged data. When it is full, the application waits until a third is
    /// free (Linux). Left out: no limit, as in the published studies.
    #[serde(rename = "send_buffer", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub send_buffer_bytes: Option<u64>,
    /// The sender's buffer at first. It then follows the congestion window, up to `send_buffer` (Linux,
    /// `tcp_wmem`). Left out: `send_buffer`.
    #[serde(rename = "initial_send_buffer", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub initial_send_buffer_bytes: Option<u64>,
    /// Whether windows above 65535 bytes can be offered. Default: yes (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Lower bound of the retransmission timeout. Default: RFC 6298 section 2.4.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub min_rto: Span,
    /// How the retransmission timeout follows the round trip. Default: RFC 6298.
    pub rto_rules: TcpRtoRules,
    /// Upper bound of the retransmission timeout, backed off or not. Default: the smallest bound that RFC
    /// 6298 section 2.5 allows.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub max_rto: Span,
    /// The retransmission timeout before the first RTT measurement; `max_rto` bounds it. Default: RFC 6298
    /// section 2.1.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub initial_rto: Span,
    /// The granularity G of the retransmission timer. Default chosen: 1 ms, well below the 100 ms that RFC
    /// 6298 section 4 asks for.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub clock_granularity: Span,
    /// Whether acknowledgements wait for a second segment. Default: yes (RFC 9293 section 3.8.6.3).
    pub delayed_ack: bool,
    /// How long a delayed acknowledgement waits, 40 to 500 ms. Default chosen: 200 ms, the classical BSD
    /// timer; RFC 9293 section 3.8.6.3 wants less than 0.5 s.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub delayed_ack_timeout: Span,
    /// Whether the delay follows the times between segments, from 40 ms up to `delayed_ack_timeout`, as in
    /// Linux 6.12. Default: no.
    pub delayed_ack_adapts: bool,
    /// Segments acknowledged at once at the start, and after a pause longer than the retransmission timeout.
    /// An end that answers with data has none. Default: 0. Linux has 16.
    pub quick_acks: u32,
    /// Whether duplicate acknowledgements from the fourth on wait for 5 % of the round trip, a millisecond at
    /// most, so that one answers several segments, as in Linux 6.12. It needs SACK. Default: no (RFC 5681
    /// section 4.2).
    pub compressed_acks: bool,
    /// Full-sized segments for each delayed acknowledgement, 1 or more. Default: RFC 5681 section 4.2. With
    /// more than the window holds, an acknowledgement waits for data or its timeout.
    pub delayed_ack_count: u32,
    /// How much data ends the delay of an acknowledgement. Default: `delayed_ack_count` segments.
    pub delayed_ack_rules: TcpDelayedAckRules,
    /// Whether data carries a due acknowledgement. Default: yes (RFC 9293 section 3.8.6.3). With false, which
    /// needs `delayed_ack = false`, each acknowledgement goes at once and alone, ahead of data.
    pub piggyback_acks: bool,
    /// Whether each direction is a connection of its own, like ns-2's one-way agents `Agent/TCP` and
    /// `Agent/TCPSink` (ns Manual, "TCP Agents"). Data then never acknowledges. Handshake and close stay
    /// TCP's. Default: no (RFC 9293).
    pub one_way_connections: bool,
    /// Nagle's algorithm: a short segment waits until all data is acknowledged. Default: on (RFC 9293 section
    /// 3.7.4).
    pub nagle: bool,
    /// The rules of Nagle's algorithm. Default: RFC 896.
    pub nagle_rules: TcpNagleRules,
    /// How many duplicate acknowledgements start fast retransmit. Default: RFC 5681 section 3.2.
    pub dup_ack_threshold: u32,
    /// Whether Reno may fast retransmit twice in a window. Default: yes (RFC 5681). With false it waits for
    /// an acknowledgement beyond the data sent before the last loss (Floyd 1994, RFC 6582's `recover`), as
    /// other variants do. Only with `variant = "reno"`.
    pub successive_fast_retransmits: bool,
    /// Whether the first duplicate acknowledgements send new data. Default: yes (RFC 3042). Tahoe is older
    /// and never does.
    pub limited_transmit: bool,
    /// Whether SACK is offered (RFC 2018). Left out: yes for variants that repair by it. Without SACK these
    /// recover as NewReno; BBR needs it. Other variants may send SACK, but ignore it.
    pub sack: Option<bool>,
    /// The most SACK blocks in a segment, 1 to 4. Left out: 4, or 3 beside timestamps (RFC 2018 section 3).
    pub max_sack_blocks: Option<u32>,
    /// The timestamps option (RFC 7323 section 3). Default chosen: off, so that a header has 20 bytes.
    pub timestamps: bool,
    /// Whether an unused window grows or shrinks. Default: `half` (RFC 7661 section 4.2). Not with BBR.
    pub window_validation: TcpWindowValidation,
    /// Whether sending restarts from the initial window after an idle time longer than the retransmission
    /// timeout. Default: yes (RFC 5681 section 4.1). BBR never does.
    pub restart_after_idle: bool,
    /// Retransmissions of a segment before the connection is given up. Left out: no limit, as in the
    /// published studies.
    pub max_retransmissions: Option<u32>,
    /// How long data or a SYN may stay without progress before the connection is given up (the user timeout
    /// of RFC 9293 section 3.8.3 and RFC 5482; `TCP_USER_TIMEOUT` of Linux). Left out: none, as in Linux.
    #[serde(with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub user_timeout: Option<Span>,
    /// The user timeout of the end that opens, in place of `user_timeout`. An option tells it to the peer,
    /// which adapts its own (ADV_UTO of RFC 5482). Whole seconds, above 32767 s whole minutes. Left out: no
    /// option (RFC 5482 section 3).
    #[serde(with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub advertised_user_timeout: Option<Span>,
    /// Whether an end adapts its user timeout to its peer's, with `advertised_user_timeout` (CHANGEABLE).
    /// Default: yes (RFC 5482 section 3).
    pub user_timeout_changeable: bool,
    /// The shortest user timeout to which an end adapts, with `advertised_user_timeout` (L_LIMIT). Default:
    /// RFC 5482 section 3.1, from RFC 1122 section 4.2.3.5.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub user_timeout_lower_limit: Span,
    /// The longest user timeout to which an end adapts, with `advertised_user_timeout` (U_LIMIT). Default
    /// chosen: the longest that the option can tell, 32767 minutes.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub user_timeout_upper_limit: Span,
    /// Keep-alive: an idle end probes its peer and gives up without an answer. Default: off (RFC 9293 section
    /// 3.8.4, MUST-25).
    pub keep_alive: bool,
    /// With `keep_alive`: silence of the peer before the first probe. Default: RFC 9293 section 3.8.4,
    /// MUST-28, and Linux.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub keep_alive_time: Span,
    /// With `keep_alive`: time between two probes. Default: Linux, `tcp_keepalive_intvl`.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub keep_alive_interval: Span,
    /// With `keep_alive`: unanswered probes before the connection is given up. Default: Linux,
    /// `tcp_keepalive_probes`.
    pub keep_alive_probes: u32,
    /// TCP Fast Open at both ends (RFC 7413): the SYN carries data to a server that has given a cookie
    /// before. Default chosen: off. Linux has it off at servers (`net.ipv4.tcp_fastopen` is 1), and at
    /// clients an application asks for it.
    pub fast_open: bool,
    /// The client's knowledge of the server at first, with `fast_open`. Default chosen: none.
    pub fast_open_cookie: TcpFastOpenCookie,
    /// The slow start threshold at the start. Left out: as high as possible (RFC 5681 section 3.1).
    #[serde(rename = "initial_ssthresh", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub initial_ssthresh_bytes: Option<u64>,
    /// L of appropriate byte counting (RFC 3465): the most segments that an acknowledgement counts in slow
    /// start. Default: RFC 5681 section 3.1, equation 2. 2 doubles the window each round trip in spite of
    /// delayed acknowledgements; RFC 3465 section 2.3 allows no more. After a timeout it is 1 (RFC 3465),
    /// except with `growth_rules = "linux"`.
    pub byte_counting_limit: u32,
    /// Keys of single congestion controls, which their files declare.
    #[serde(skip)]
    pub own: Own,
    /// RACK (RFC 8985): a segment or retransmission is lost if a later one has arrived and a round trip plus
    /// a reordering window have passed. It needs a variant that repairs by SACK. Left out: off (chosen, as in
    /// the publications), except BBR and `prague`, which always have it.
    pub rack: Option<bool>,
    /// The rules of RACK's reordering window and timer, with `rack`. Default: RFC 8985.
    pub rack_rules: TcpRackRules,
    /// Tail loss probes, with `rack`: a segment sent two round trips after the last one repairs a lost tail
    /// without a timeout (TLP, RFC 8985 section 7). Default: off.
    pub tail_loss_probe: bool,
    /// When a probe goes at the latest, with `tail_loss_probe`. Default: RFC 8985.
    pub loss_probe_rules: TcpLossProbeRules,
    /// Proportional rate reduction: during a repair the window follows the delivered octets, down to ssthresh
    /// (RFC 9937). With or without SACK; not with `tahoe`, `reno`, `vegas`, `bbr` and `bbr1`. Default: off.
    pub prr: bool,
    /// F-RTO, with `rack`: after a timeout new data goes first, and a needless timeout is undone (RFC 5682).
    /// Default: off.
    pub frto: bool,
    /// With `rack`: whether a lost retransmission reduces the window again, once per window of data (RFC 5681
    /// section 4.3). Not with BBR. Default: no, as in Linux.
    pub reduce_after_lost_retransmission: bool,
    /// Undoes a needless reduction, with `rack`. The proof is a D-SACK for each retransmission (RFC 3708), or
    /// a timestamp of the original (RFC 3522). Default: off.
    pub undo: bool,
    /// When an old timestamp undoes, with `undo`. Default: RFC 3522.
    pub undo_rules: TcpUndoRules,
    /// Which octets let the window grow; those of Linux need `rack`. Default: RFC 5681.
    pub growth_rules: TcpGrowthRules,
    /// HyStart: the first slow start, or by Linux's rules any, ends when the round trip grows. Not with
    /// `vegas` and BBR. Default: off.
    pub hystart: bool,
    /// The rules of `hystart`. Default: HyStart++ (RFC 9406).
    pub hystart_rules: TcpHystartRules,
    /// Pacing spreads a window over the round trip: at twice its rate in slow start, then at 1.2 times, as
    /// Linux does. Bursts have two segments or a millisecond of data. Left out: off, except BBR and
    /// `prague`, which always pace at rates of their own.
    pub pacing: Option<bool>,
    /// Explicit Congestion Notification (RFC 3168): both ends offer it, and queues with `ecn = true` mark
    /// instead of drop. Default chosen: off, as queues do not mark by default.
    pub ecn: bool,
    /// With `ecn`: the smallest window that marks leave, 1 or 2 segments. With 1, a mark at one segment has
    /// new data wait for the retransmission timeout (RFC 9438 section 4.6, RFC 3168 section 6.1.2). Default:
    /// 2, as in Linux.
    pub ecn_min_window: u32,
    /// With `ecn` and `prr`: whether a mark reduces the window by PRR, over a round trip (RFC 9937 section
    /// 4). Not with `prague`. Default: no, at once (RFC 3168 section 6.1.2).
    pub prr_for_ecn: bool,
    /// Accurate feedback of marks, if both ends offer it: the receiver counts packets and bytes (AccECN, RFC
    /// 9768). It needs `ecn`. Default: off, as in Linux 6.12, which does not have it.
    pub accurate_ecn: bool,
    /// Whether data goes as ECT(1), the identifier of L4S (RFC 9331 section 4.1), for queues such as
    /// `dualpi2`. It needs a control that marks reduce by their share (section 4.3), such as `prague`.
    /// Default: no, RFC 8257 uses ECT(0).
    pub l4s: bool,
    /// With `ecn`: whether a mark reduces the window less than a loss, to 0.8 of the flight (`cubic`: 0.85).
    /// Default: no (RFC 8511 is experimental).
    pub abe: bool,
    /// Maximum segment lifetime: the end that closes first stays twice as long in TIME-WAIT. Default: RFC
    /// 9293 section 3.4.2.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub msl: Span,
    /// The time in which at most `challenge_ack_limit` challenge ACKs are sent. Default: RFC 5961 section 7.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub challenge_ack_interval: Span,
    /// Challenge ACKs (answers to segments that may be forged) in that time. Default: RFC 5961 section 7.
    pub challenge_ack_limit: u32,
}

impl<'de> Deserialize<'de> for Tcp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Tcp, D::Error> {
        static NAMES: OnceLock<Vec<&str>> = OnceLock::new();
        let mut own = Own::default();
        // The derived function.
        let tcp = Tcp::deserialize(WithOwn { inner: from, own: &mut own, names: &NAMES })?;
        Ok(Tcp { own, ..tcp })
    }
}

impl Default for Tcp {
    // The values are the machine's, each with its source there; the fields' documentation, where users read
    // it, says the source as well.
    fn default() -> Tcp {
        let machine = tcp::Config::default();
        Tcp {
            stack: None,
            variant: TcpVariant::NEW_RENO,
            congestion_control: None,
            mss_bytes: None,
            initial_window_segments: None,
            initial_window_rules: TcpInitialWindowRules::Rfc6928,
            receive_window_bytes: None,
            initial_receive_window_bytes: None,
            send_buffer_bytes: machine.send_buffer_bytes,
            initial_send_buffer_bytes: machine.initial_send_buffer_bytes,
            window_scaling: machine.window_scaling,
            min_rto: machine.min_rto,
            rto_rules: TcpRtoRules::Rfc6298,
            max_rto: machine.max_rto,
            initial_rto: machine.initial_rto,
            clock_granularity: machine.clock_granularity,
            delayed_ack: true,
            delayed_ack_timeout: machine.delayed_ack.unwrap_or_default(),
            delayed_ack_adapts: machine.delayed_ack_adapts,
            quick_acks: machine.quick_acks,
            compressed_acks: machine.compressed_acks,
            delayed_ack_count: machine.delayed_ack_count,
            delayed_ack_rules: TcpDelayedAckRules::Rfc,
            piggyback_acks: machine.piggyback_acks,
            one_way_connections: machine.one_way_connections,
            nagle: machine.nagle,
            nagle_rules: TcpNagleRules::Rfc,
            dup_ack_threshold: machine.dup_ack_threshold,
            successive_fast_retransmits: machine.successive_fast_retransmits,
            limited_transmit: machine.limited_transmit,
            sack: machine.sack,
            max_sack_blocks: machine.max_sack_blocks,
            timestamps: machine.timestamps,
            window_validation: TcpWindowValidation::Half,
            restart_after_idle: machine.restart_after_idle,
            max_retransmissions: machine.max_retransmissions,
            user_timeout: machine.user_timeout,
            advertised_user_timeout: None,
            user_timeout_changeable: true,
            user_timeout_lower_limit: Span::from_secs(100),
            user_timeout_upper_limit: tcp::UserTimeout::MOST,
            keep_alive: false,
            keep_alive_time: Span::from_secs(7200),
            keep_alive_interval: Span::from_secs(75),
            keep_alive_probes: 9,
            fast_open: false,
            fast_open_cookie: TcpFastOpenCookie::Requested,
            initial_ssthresh_bytes: machine.initial_ssthresh_bytes,
            byte_counting_limit: machine.byte_counting_limit,
            own: machine.own,
            rack: None,
            rack_rules: TcpRackRules::Rfc8985,
            tail_loss_probe: machine.tail_loss_probe,
            loss_probe_rules: TcpLossProbeRules::Rfc8985,
            prr: machine.prr,
            frto: machine.frto,
            reduce_after_lost_retransmission: machine.reduce_after_lost_retransmission,
            undo: machine.undo,
            undo_rules: TcpUndoRules::Rfc3522,
            growth_rules: TcpGrowthRules::Rfc5681,
            hystart: machine.hystart,
            hystart_rules: TcpHystartRules::Rfc9406,
            pacing: None,
            ecn: machine.ecn,
            ecn_min_window: machine.ecn_min_window,
            prr_for_ecn: machine.prr_for_ecn,
            accurate_ecn: machine.accurate_ecn,
            l4s: machine.l4s,
            abe: machine.abe,
            msl: machine.msl,
            challenge_ack_interval: machine.challenge_ack_interval,
            challenge_ack_limit: machine.challenge_ack_limit,
        }
    }
}

impl Tcp {
    /// Bytes of a TCP header without options (RFC 9293 section 3.1).
    pub const HEADER_BYTES: u64 = tcp::segment::HEADER_BYTES as u64;

    /// The receiver's buffer: as set, or its default, which depends on window scaling.
    pub fn receive_window_bytes(&self) -> u64 {
        let scaled = u64::from(tcp::Config::default().receive_window_bytes);
        self.receive_window_bytes.unwrap_or(if self.window_scaling { scaled } else { u64::from(u16::MAX) })
    }
}

/// A preset of TCP. `roamsim explain --preset linux` prints its settings with their sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = super::stack::print_in_full)]
pub enum TcpStack {
    /// TCP of the comparisons of the 1990s:
    Classic,
    /// TCP of Linux 6.12 (LTS) with its default settings:
    Linux,
    /// TCP of today's standards track, with every mechanism that is modelled:
    Rfc,
}

/// How large the first congestion window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpInitialWindowRules {
    /// min(10 MSS, max(2 MSS, 14600 bytes)), and one segment after two lost SYNs (RFC 6928 section 2,
    /// experimental).
    Rfc6928,
    /// Four segments up to 1095 bytes, three up to 2190 bytes, otherwise two, and one segment after a lost
    /// SYN (RFC 5681 section 3.1).
    Rfc5681,
}

/// How the retransmission timeout follows the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpRtoRules {
    /// max(minimum, SRTT + 4 RTTVAR). Several samples a round trip weigh less (RFC 7323 section 4.2).
    Rfc6298,
    /// Linux 6.12: SRTT + max(minimum, the largest variation of a round trip), each sample in full. With
    /// `rack` selective acknowledgements measure too.
    Linux,
}

/// When a tail loss probe goes at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpLossProbeRules {
    /// When the retransmission timer would expire (RFC 8985 section 7.2).
    Rfc8985,
    /// Linux 6.12: behind new data also a timeout after the first unacknowledged segment was sent. With a
    /// full queue that is some 200 ms after the last segment.
    Linux,
}

/// When a timestamp from before a recovery's first retransmission undoes the reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpUndoRules {
    /// At once (RFC 3522 section 3.2).
    Rfc3522,
    /// Linux 6.12: while no retransmission is in flight, or at the end of the recovery. Otherwise such an ACK
    /// triggers no retransmission.
    Linux,
}

/// Rules of RACK's reordering window and timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpRackRules {
    /// D-SACKs, once per round, which ends when SND.UNA passes the SND.NXT of its start (RFC 8985 section
    /// 6.2).
    Rfc8985,
    /// Linux 6.12: D-SACKs, once something has arrived that was sent since the last widening. With `undo` a
    /// recovery that a timestamp proves needless shows reordering, too. RACK's timer is 2 ms late.
    Linux,
}

/// Which octets let the window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpGrowthRules {
    /// Those that an ACK acknowledges in order (RFC 5681 section 3.1).
    Rfc5681,
    /// Linux 6.12: those that an ACK is the first to tell of, by SACK too, but none during a fast recovery.
    /// ACKs that do not advance count if the path reorders by more than `dup_ack_threshold` segments.
    Linux,
}

/// How much data ends the delay of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpDelayedAckRules {
    /// `delayed_ack_count` full-sized segments, options included (RFC 5681 section 4.2).
    Rfc,
    /// More octets than a full segment of the peer, as in Linux 6.12: a full segment and any other.
    Linux,
}

/// What a client of TCP Fast Open knows of its server at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpFastOpenCookie {
    /// Nothing: the first connection requests a cookie, and later ones carry data on the SYN.
    Requested,
    /// Cookie and MSS, from connections before the run.
    Known,
    /// A cookie that the server refuses, as after a change of its key or of the client's address. The SYN-ACK
    /// brings the valid one.
    Stale,
}

/// When Nagle's algorithm lets a short segment go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpNagleRules {
    /// When all data is acknowledged (RFC 896).
    Rfc,
    /// When all short segments are acknowledged (draft-minshall-nagle), as in Linux 6.12.
    Minshall,
}

/// How slow start ends before a loss: the first one, or by Linux's rules any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpHystartRules {
    /// HyStart++: the round trip of one round against that of the round before (RFC 9406).
    Rfc9406,
    /// Linux 6.12: a train of acknowledgements as long as half the round trip, or a longer round trip (Ha and
    /// Rhee 2011). It acts in any slow start until it has ended one.
    Linux,
}

/// Whether an unused congestion window grows or shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TcpWindowValidation {
    /// It grows while half of it is in use, by the largest flight of two round trips, and shrinks by
    /// `restart_after_idle` alone.
    Half,
    /// RFC 7661: it grows while half of it was acknowledged within one round trip of the last second. An
    /// unused window is kept for five minutes, whatever `restart_after_idle` says, and then halved. A loss in
    /// that time halves the part in use.
    Rfc7661,
    /// Linux 6.12: it grows while all of it is in use, in slow start half of it. With `restart_after_idle`
    /// each retransmission timeout of an idle time halves it. After each timeout in which it was not fully
    /// used, it shrinks halfway to the octets in flight (RFC 2861).
    Linux,
}

/// The schema of a variant: what the machine's table says.
struct VariantNames;

impl JsonSchema for VariantNames {
    fn schema_name() -> Cow<'static, str> {
        "TcpVariant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one_of: Vec<_> = TcpVariant::ALL
            .iter()
            .map(|variant| {
                json!({ "type": "string", "const": variant.name(), "description": variant.describe() })
            })
            .collect();
        json_schema!({
            "oneOf": one_of,
            "description": "A named triple of loss detection, recovery and congestion control.",
        })
    }
}

/// A variant by its name.
mod variant_name {
    use std::fmt;

    use serde::de::{EnumAccess, Error, VariantAccess, Visitor};
    use serde::{Deserializer, Serializer};

    use super::TcpVariant;

    pub(super) fn serialize<S: Serializer>(variant: &TcpVariant, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(variant.name())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<TcpVariant, D::Error> {
        from.deserialize_enum("TcpVariant", &TcpVariant::NAMES, Named)
    }

    struct Named;

    impl<'a> Visitor<'a> for Named {
        type Value = TcpVariant;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("the name of a variant")
        }

        fn visit_enum<A: EnumAccess<'a>>(self, data: A) -> Result<TcpVariant, A::Error> {
            let (name, rest) = data.variant::<String>()?;
            rest.unit_variant()?;
            name.parse().map_err(|_| A::Error::unknown_variant(&name, &TcpVariant::NAMES))
        }
    }
}
