//! What only connections have that ask for more than the parts of their variant: a pacer, HyStart, Linux's
//! acknowledging and timeout, a window that tunes itself, Minshall's rule, keep-alive and user timeout,
//! accurate feedback of marks, PRR for marks, a send buffer, Fast Open.

use roamsim_engine::{Span, Time};

use super::fast_open::FastOpen;
use crate::tcp::accurate_ecn::{AccurateEcn, Codepoint};
use crate::tcp::ack_compression::AckCompression;
use crate::tcp::ack_delay::AckDelay;
use crate::tcp::config::{Config, HystartRules, RtoRules, WindowValidation};
use crate::tcp::congestion::{AckTrain, HyStart};
use crate::tcp::pacing::Pacer;
use crate::tcp::pipe_ack::PipeAck;
use crate::tcp::received_mss::ReceivedMss;
use crate::tcp::recovery::{self, Prr};
use crate::tcp::repeat::Proof;
use crate::tcp::rtt::LinuxVariation;
use crate::tcp::send_buffer::SendBuffer;
use crate::tcp::sent::Sent;
use crate::tcp::window_tuning::WindowTuning;

/// The extras of a connection.
#[derive(Clone, Debug)]
#[repr(C, align(64))] // what every segment needs lies in one line of the cache
pub(super) struct Extras {
    pub(super) pacer: Option<Pacer>,
    /// HyStart, as long as it has a say.
    pub(super) hystart: Option<Box<SlowStartEnd>>,
    /// Linux's validation of the congestion window.
    pub(super) validation: Option<Box<Validation>>,
    /// RFC 7661's.
    pub(super) pipe_ack: Option<Box<PipeAck>>,
    /// The pacer spreads a window over the round trip where the congestion control has no rate.
    pub(super) paces_windows: bool,
    /// Segments that go count beyond transmissions and pacing.
    pub(super) looks_at_departures: bool,
    /// More than one received segment is acknowledged at once.
    pub(super) acks_beyond_one_segment: bool,
    /// Of the packet of the segment that is handled, where feedback of marks may be accurate.
    pub(super) codepoint: Codepoint,
    /// How often in a row a mark has had new data wait.
    pub(super) mark_waits: u32,
    /// Accurate feedback of marks, once agreed on.
    pub(super) accurate_ecn: Option<Box<AccurateEcn>>,
    /// What the sending end holds at most.
    pub(super) send_buffer: Option<Box<SendBuffer>>,
    /// The window comes down for a mark.
    pub(super) mark_reduction: Option<Box<MarkReduction>>,
    pub(super) fast_open: Option<Box<FastOpen>>,
    /// Keep-alive and user timeout.
    pub(super) liveness: Option<Box<Liveness>>,
    /// What the timeout adds to SRTT, by Linux's rules.
    pub(super) variation: Option<LinuxVariation>,
    /// Where the last short segment of new data ends, by Minshall's rule.
    pub(super) short_end: Option<u64>,
    /// When data is acknowledged, by Linux's rules.
    pub(super) ack_delay: Option<AckDelay>,
    /// When out-of-order data is acknowledged, by Linux's rules.
    pub(super) ack_compression: Option<AckCompression>,
    /// The peer's full segments, where data that arrives is looked at.
    pub(super) received_mss: ReceivedMss,
    pub(super) window_tuning: Option<WindowTuning>,
    pub(super) tail_loss_probes: u64,
    pub(super) undone_reductions: u64,
    /// What proved the last of them needless, and from where on it was outstanding, until that is taken.
    pub(super) undone_by: Option<(Proof, u64)>,
}

/// How much of the congestion window is in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validation {
    /// When it was last in use, or went down.
    pub(super) unused_since: Time,
    /// The largest flight since.
    pub(super) used_bytes: u64,
    /// How often it was halved for the idle time since then.
    pub(super) halvings: u64,
    pub(super) halved_since: Time,
    /// Whether a segment has filled it within this round trip, or else the largest flight in it.
    is_filled: bool,
    most_bytes: u64,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
}

impl Validation {
    /// A segment has gone, with which `flight_bytes` are outstanding, up to `snd_nxt`.
    pub(super) fn on_sent(&mut self, fills: bool, flight_bytes: u64, snd_una: u64, snd_nxt: u64) {
        let is_more = !self.is_filled && flight_bytes > self.most_bytes;
        if fills || is_more || snd_una >= self.round_end {
            self.is_filled = fills;
            self.most_bytes = flight_bytes;
            self.round_end = snd_nxt;
        }
    }

    /// Whether the window is in use: it was filled, or in slow start more than half of it.
    pub(super) fn is_in_use(&self, cwnd_bytes: u64, ssthresh_bytes: u64) -> bool {
        self.is_filled || cwnd_bytes < ssthresh_bytes && cwnd_bytes < self.most_bytes.saturating_mul(2)
    }
}

/// The window comes down for a mark, by PRR.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkReduction {
    pub(super) prr: Prr,
    /// SND.MAX when the mark was reported.
    pub(super) until: u64,
    /// Octets delivered that it has counted, and SND.UNA then.
    pub(super) delivered_bytes: u64,
    pub(super) snd_una: u64,
    /// The window at its end.
    pub(super) target_bytes: u64,
}

/// Why a connection was given up, where it was not for too many retransmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// All keep-alive probes went unanswered (RFC 9293 3.8.4).
    KeepAlive,
    /// Data was not acknowledged within the user timeout (RFC 9293 3.10.8).
    UserTimeout,
}

/// What a connection knows of its peer's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Liveness {
    /// When an acceptable segment last arrived.
    pub(super) heard_at: Time,
    /// Keep-alive probes sent since then.
    pub(super) probes: u32,
    /// The acknowledgement that is due is a probe.
    pub(super) probe_due: bool,
    pub(super) probes_sent: u64,
    /// Since when data waits for its acknowledgement; `Time::MAX` when none does.
    pub(super) waits_since: Time,
    /// SND.UNA by then.
    pub(super) acknowledged: u64,
    /// The user timeout in force.
    pub(super) user_timeout: Option<Span>,
    /// The peer is to be told of it, in the next segment with room.
    pub(super) tells_timeout: bool,
    pub(super) given_up: Option<GivenUp>,
}

impl Liveness {
    /// That of a connection which asks for it.
    pub(super) fn new(config: &Config) -> Option<Box<Liveness>> {
        let times_out = config.user_timeout.is_some() || config.user_timeout_option.is_some();
        (config.keep_alive.is_some() || times_out).then(|| {
            Box::new(Liveness {
                heard_at: Time::ZERO,
                probes: 0,
                probe_due: false,
                probes_sent: 0,
                waits_since: Time::MAX,
                acknowledged: 0,
                user_timeout: config.user_timeout,
                tells_timeout: false,
                given_up: None,
            })
        })
    }
}

/// What ends slow start.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    PlusPlus(HyStart),
    Linux(AckTrain),
}

/// HyStart.
#[derive(Clone, Debug)]
pub(super) struct SlowStartEnd {
    pub(super) ending: Ending,
    /// The threshold that the first slow start goes to.
    pub(super) ssthresh_bytes: u64,
    /// Its own record of transmissions, where the recovery keeps none.
    pub(super) sent: Option<Sent>,
}

impl SlowStartEnd {
    fn new(config: &Config) -> SlowStartEnd {
        SlowStartEnd {
            ending: match config.hystart_rules {
                HystartRules::PlusPlus => Ending::PlusPlus(HyStart::new(config.paces())),
                HystartRules::Linux => Ending::Linux(AckTrain::new(config.paces())),
            },
            ssthresh_bytes: config.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            sent: (config.recovery() != recovery::Kind::Rack).then(Sent::default),
        }
    }
}

impl Extras {
    /// Those of a connection with such settings, if it has any.
    pub(super) fn new(config: &Config) -> Option<Box<Extras>> {
        config.has_extras().then(|| {
            let ack_delay = AckDelay::new(config);
            let validation = (config.window_validation == WindowValidation::Linux)
                .then(|| Box::new(Validation::default()));
            let pipe_ack = (config.window_validation == WindowValidation::Rfc7661).then(Box::default);
            let short_end = config.has_minshall().then_some(0);
            let send_buffer = SendBuffer::new(config);
            let looks_at_departures = ack_delay.is_some()
                || validation.is_some()
                || pipe_ack.is_some()
                || short_end.is_some()
                || send_buffer.is_some();
            Box::new(Extras {
                pacer: config.may_pace().then(Pacer::default),
                hystart: config.hystart.then(|| Box::new(SlowStartEnd::new(config))),
                validation,
                pipe_ack,
                paces_windows: config.paces(),
                looks_at_departures,
                acks_beyond_one_segment: config.acks_beyond_one_segment(),
                codepoint: Codepoint::NotCapable,
                mark_waits: 0,
                accurate_ecn: None,
                send_buffer,
                fast_open: FastOpen::new(config),
                liveness: Liveness::new(config),
                variation: (config.rto_rules == RtoRules::Linux).then(LinuxVariation::default),
                short_end,
                ack_delay,
                ack_compression: config.compressed_acks.then(AckCompression::default),
                received_mss: ReceivedMss::default(),
                window_tuning: WindowTuning::new(config),
                mark_reduction: None,
                tail_loss_probes: 0,
                undone_reductions: 0,
                undone_by: None,
            })
        })
    }

    /// Whether the window grows by more than the congestion control.
    #[inline]
    pub(super) fn grows_otherwise(&self) -> bool {
        self.hystart.is_some()
            || self.validation.is_some()
            || self.pipe_ack.is_some()
            || self.mark_reduction.is_some()
    }

    /// Whether data that arrives counts beyond the stream.
    pub(super) fn looks_at_arrivals(&self) -> bool {
        self.ack_delay.is_some()
            || self.ack_compression.is_some()
            || self.window_tuning.is_some()
            || self.acks_beyond_one_segment
    }
}
