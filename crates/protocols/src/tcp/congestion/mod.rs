//! Congestion control: how the window grows with acknowledgements, what a loss makes of it, and how fast it
//! is sent.
//!
//! A congestion control is a file here that implements [`CongestionControl`], and a row of the table below.
//! No other code names it: variants of TCP, QUIC, presets, checks and the reference of scenarios follow from
//! what the file declares. Inflation of the window by duplicate ACKs belongs to [`super::recovery`].

mod ack_train;
mod classic_queue;
mod cubic_curve;
mod hystart;
pub mod keys;
mod linux_growth;

pub(super) use ack_train::AckTrain;
pub use cubic::{CUBIC_RULES, FAST_CONVERGENCE};
pub use given::{Law, LawMaker, Occasion, Orders, Sample};
pub(super) use hystart::HyStart;
pub use keys::LINUX_RULES;
pub use reno::RENO_RULES;
pub use vegas::{ALPHA, BETA, GAMMA, VegasThresholds};

use roamsim_engine::{Span, Stream, Time};

use super::parts::kinds;
use super::sent::{Lost, RateSample};
use keys::{Choice, Fault, Key, Own, Refusal, Reserved};

/// What made the sender slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A loss that arriving ACKs told of: the window is halved, or what the law does instead.
    FastRetransmit {
        /// Octets in flight, those sent by limited transmit not counted.
        flight_bytes: u64,
    },
    /// A queue has marked packets (RFC 3168 section 6.1.2): as by a loss that arriving ACKs told of, or by
    /// less (RFC 8511); nothing is repaired.
    EcnEcho {
        /// Octets in flight.
        flight_bytes: u64,
    },
    /// A loss that arriving ACKs told of, after which everything is sent anew: the window restarts at one
    /// segment.
    GoBack {
        /// Octets that were in flight.
        flight_bytes: u64,
    },
    /// The retransmission timer expired: the window restarts at one segment.
    Timeout {
        /// Octets in flight when it expired.
        flight_bytes: u64,
        /// The same octets had been repeated by the timer already.
        repeated: bool,
        /// A loss was being repaired. What was sent for duplicate ACKs took the place of octets that had left
        /// the network, and is in `flight_bytes`: ssthresh is not raised by it.
        repairing: bool,
    },
    /// Nothing was sent for longer than the RTO: the window restarts at the initial window at most.
    Idle {
        /// The restart window RW of RFC 5681 4.1.
        restart_window_bytes: u64,
        /// ssthresh is at least this (RFC 2861).
        least_ssthresh_bytes: u64,
    },
}

impl Cause {
    /// Octets in flight by then; none behind an idle time.
    pub(in crate::tcp) fn flight_bytes(self) -> u64 {
        match self {
            Cause::FastRetransmit { flight_bytes }
            | Cause::EcnEcho { flight_bytes }
            | Cause::GoBack { flight_bytes }
            | Cause::Timeout { flight_bytes, .. } => flight_bytes,
            Cause::Idle { .. } => 0,
        }
    }
}

/// An acknowledgement of new data, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Octets it acknowledges for the first time.
    pub bytes: u64,
    /// Whether the window may grow by it: no loss is being repaired, and the peer does not tell of marks.
    pub may_grow: bool,
    /// How many segments' worth of them slow start counts at most: L of RFC 3465; one by RFC 5681 3.1,
    /// equation 2.
    pub most_segments: u64,
    /// The largest flight in this and the last round trip: how much of the window is in use.
    pub in_use_bytes: u64,
    /// When it arrived.
    pub now: Time,
    /// The smoothed round-trip time, this ACK's measurement included; `None` before the first.
    pub srtt: Option<Span>,
    /// The round-trip time it measures to the nanosecond, where send times are kept.
    pub rtt: Option<Span>,
    /// Oldest octet not acknowledged, after it.
    pub snd_una: u64,
    /// Next octet to send.
    pub snd_nxt: u64,
}

impl Default for Ack {
    fn default() -> Ack {
        Ack {
            bytes: 0,
            may_grow: true,
            most_segments: 1,
            in_use_bytes: 0,
            now: Time::ZERO,
            srtt: None,
            rtt: None,
            snd_una: 0,
            snd_nxt: 0,
        }
    }
}

/// What an acknowledgement tells of octets that it is the first to tell of, in either way, to a control that
/// takes samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// When it arrived.
    pub now: Time,
    /// Its sample of the rate of delivery.
    pub sample: RateSample,
    /// The round trip of the newest transmission that it tells of, if that was sent once.
    pub rtt: Option<Span>,
    /// Octets that it is the first to tell of.
    pub newly_acked_bytes: u64,
    /// Octets delivered so far.
    pub delivered_bytes: u64,
    /// Octets that are neither delivered nor lost.
    pub in_flight_bytes: u64,
    /// Losses are being repaired.
    pub recovering: bool,
}

/// The slow-start threshold, and the most that stays of the window, where a mark of ECN reduces both to so
/// much: two segments at least, or one of the window where marks may leave that (RFC 9438 4.6, RFC 3168
/// 6.1.2).
fn left_by_mark(left_bytes: u64, smss_bytes: u64, marks_leave_one_segment: bool) -> (u64, u64) {
    let ssthresh_bytes = left_bytes.max(2 * smss_bytes);
    let most_bytes = if marks_leave_one_segment { left_bytes.max(smss_bytes) } else { ssthresh_bytes };
    (ssthresh_bytes, most_bytes)
}

/// The settings that a congestion control may need; [`Config`](super::Config) says what each means.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Slow-start threshold at the start; `None` is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
    /// Keys of a control itself.
    pub own: Own,
    /// A mark of ECN reduces the window by less than a loss (RFC 8511).
    pub abe: bool,
    /// A mark of ECN may leave a window of one segment (RFC 9438 4.6) instead of two.
    pub marks_leave_one_segment: bool,
    /// Makes the law that comes from outside.
    pub law: Option<LawMaker>,
}

/// A congestion control. It owns `cwnd` and `ssthresh`, and hears of everything that may move them, in
/// recovery too.
pub trait CongestionControl {
    /// Its name.
    const NAME: &'static str;

    /// What it is, for users who name it without a variant, as over QUIC; `None` where no scenario names it.
    /// Without a full stop.
    const ABOUT: Option<&'static str>;

    /// What the variant of its name is, for users, if it brings one ([`Variant`](super::Variant)).
    const VARIANT: Option<&'static str> = None;

    /// The keys of a scenario that are its own.
    const KEYS: &'static [Key] = &[];

    /// The key by which it takes the place of another control over TCP.
    const CHOSEN_BY: Option<Choice> = None;

    /// Such a key with the value that changes nothing but the trace `states`.
    const ONLY_TRACED: Option<(&'static Key, u32)> = None;

    /// What is wrong with their values together.
    fn fault(_own: &Own) -> Option<Fault>
    where
        Self: Sized,
    {
        None
    }

    /// The keys of TCP that it does not go with.
    const REFUSES: &'static [Refusal] = &[];

    /// The keys of TCP that presets have for it alone.
    const RESERVES: &'static [Reserved] = &[];

    /// Whether it works on samples of the rate of delivery. Then transmissions are kept and data is paced.
    const TAKES_SAMPLES: bool = false;

    /// Whether it counts the octets that were marked. Then the receiver echoes the marks one by one (RFC 8257
    /// section 3.2).
    const COUNTS_MARKS: bool = false;

    /// Whether it follows single packets: by `snd_una` and `snd_nxt`, or in `on_sent`, `on_losses` and
    /// `on_delivery`. TCP tells all of them anyway. QUIC does so by records of packets, which a control
    /// without this does not need.
    const FOLLOWS_PACKETS: bool = true;

    /// One that waits for [`CongestionControl::start`].
    fn new(settings: &Settings) -> Self;

    /// Segment size and initial window are known: the handshake is complete.
    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64);

    /// Segments are of this size from now on; the window stays as it is.
    fn set_smss(&mut self, bytes: u64);

    /// The congestion window in bytes, without inflation.
    fn cwnd_bytes(&self) -> u64;

    /// The slow-start threshold in bytes, `u64::MAX` while it is arbitrarily high.
    fn ssthresh_bytes(&self) -> u64;

    /// New data was acknowledged.
    fn on_ack(&mut self, ack: &Ack);

    /// The sender must slow down.
    fn on_congestion(&mut self, cause: Cause);

    /// The same, with the time.
    #[inline]
    fn on_congestion_at(&mut self, cause: Cause, _now: Time) {
        self.on_congestion(cause);
    }

    /// So many octets are acknowledged, up to `snd_una`, and the peer says whether they were marked. It comes
    /// before [`CongestionControl::on_ack`] and the reduction for the same acknowledgement.
    fn on_acked_marks(&mut self, _acked_bytes: u64, _marked: bool, _snd_una: u64, _snd_nxt: u64) {}

    /// Recovery has ended and leaves a window of `cwnd_bytes`.
    fn on_recovered(&mut self, cwnd_bytes: u64);

    /// What has happened since was needless: the state is as it was `before` (RFC 9438 4.9), unless the
    /// window has grown beyond that one.
    fn undo(&mut self, before: Self)
    where
        Self: Sized,
    {
        if before.cwnd_bytes() >= self.cwnd_bytes() {
            *self = before;
        }
    }

    /// The round trip has grown in slow start: ssthresh is the window (RFC 9406).
    fn leave_slow_start(&mut self) {}

    /// Octets a second at which data goes, where the control has a rate of its own.
    #[inline]
    fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
        None
    }

    /// Sending goes on after a time with nothing in flight; data last went at `_last_sent_at`.
    fn on_idle_end(&mut self, _now: Time, _last_sent_at: Time) {}

    /// What it draws comes from this stream.
    fn set_random(&mut self, _random: &Stream) {}

    /// The handshake is complete, and has measured `rtt` if it could.
    fn on_handshake(&mut self, _now: Time, _rtt: Option<Span>) {}

    /// A segment goes, with which so many octets are in flight.
    #[inline]
    fn on_sent(&mut self, _in_flight_bytes: u64) {}

    /// Transmissions are taken as lost, which leaves so many octets in flight; so many have been delivered.
    fn on_losses(&mut self, _losses: &[Lost], _in_flight_bytes: u64, _delivered_bytes: u64, _now: Time) {}

    /// Octets are delivered. True when what is in flight now says nothing of the path's rate.
    #[inline]
    fn on_delivery(&mut self, _delivery: &Delivery) -> bool {
        false
    }

    /// The state it is in, for traces, where it has states of its own.
    fn state_name(&self) -> Option<&'static str> {
        None
    }
}

/// Does something with a control that only the table knows by type.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<C: CongestionControl + Clone + Send + Sync + 'static>(self) -> Self::Output;
}

/// The table: from each row the module, a place in both enums, and the arms of every hook.
macro_rules! congestion_controls {
    ($($file:ident::$type:ident,)*) => {
        $(
            mod $file;
            pub use $file::$type;
        )*

        kinds! {
            /// The congestion controls by name.
            $($type,)*
        }

        $(const _: () = assert!(
            $type::FOLLOWS_PACKETS || !$type::TAKES_SAMPLES && !$type::COUNTS_MARKS,
            "samples and marks are of single packets",
        );)*

        impl Kind {
            /// Does something with the control of this name.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Kind::$type => visitor.visit::<$type>(),)*
                }
            }

            /// What it is, for users, without a full stop; `None` where no scenario names it.
            pub const fn about(self) -> Option<&'static str> {
                match self {
                    $(Kind::$type => $type::ABOUT,)*
                }
            }

            /// The key by which it takes the place of another control over TCP.
            pub const fn chosen_by(self) -> Option<Choice> {
                match self {
                    $(Kind::$type => $type::CHOSEN_BY,)*
                }
            }

            /// The keys of TCP that presets have for it alone.
            pub const fn reserves(self) -> &'static [Reserved] {
                match self {
                    $(Kind::$type => $type::RESERVES,)*
                }
            }

            /// The keys of a scenario that are its own.
            pub const fn keys(self) -> &'static [Key] {
                match self {
                    $(Kind::$type => $type::KEYS,)*
                }
            }

            /// Such a key with the value that changes nothing but the trace `states`.
            pub const fn only_traced(self) -> Option<(&'static Key, u32)> {
                match self {
                    $(Kind::$type => $type::ONLY_TRACED,)*
                }
            }

            /// What is wrong with their values together.
            pub fn fault(self, own: &Own) -> Option<Fault> {
                match self {
                    $(Kind::$type => $type::fault(own),)*
                }
            }

            /// The keys of TCP that it does not go with.
            pub const fn refuses(self) -> &'static [Refusal] {
                match self {
                    $(Kind::$type => $type::REFUSES,)*
                }
            }

            /// Whether it works on samples of the rate of delivery.
            pub const fn takes_samples(self) -> bool {
                match self {
                    $(Kind::$type => $type::TAKES_SAMPLES,)*
                }
            }

            /// Whether it counts the octets that were marked.
            pub const fn counts_marks(self) -> bool {
                match self {
                    $(Kind::$type => $type::COUNTS_MARKS,)*
                }
            }
        }

        /// The congestion control of a connection.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $(#[doc = concat!("[`", stringify!($type), "`](struct@", stringify!($type), ").")] $type($type),)*
        }

        impl Controller {
            pub(super) fn new(kind: Kind, settings: &Settings) -> Controller {
                match kind {
                    $(Kind::$type => Controller::$type($type::new(settings)),)*
                }
            }

            /// The congestion window in bytes, without inflation.
            #[inline]
            pub fn cwnd_bytes(&self) -> u64 {
                match self {
                    $(Controller::$type(control) => control.cwnd_bytes(),)*
                }
            }

            /// The slow-start threshold in bytes, `u64::MAX` while it is arbitrarily high.
            #[inline]
            pub fn ssthresh_bytes(&self) -> u64 {
                match self {
                    $(Controller::$type(control) => control.ssthresh_bytes(),)*
                }
            }

            pub(super) fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
                match self {
                    $(Controller::$type(control) => control.start(smss_bytes, initial_window_bytes),)*
                }
            }

            pub(super) fn set_smss(&mut self, bytes: u64) {
                match self {
                    $(Controller::$type(control) => control.set_smss(bytes),)*
                }
            }

            /// The ACK is made in each arm: what a control does not ask for is not made for it.
            #[inline(always)]
            pub(super) fn on_ack(&mut self, ack: impl FnOnce() -> Ack) {
                match self {
                    $(Controller::$type(control) => control.on_ack(&ack()),)*
                }
            }

            pub(super) fn on_congestion(&mut self, cause: Cause, now: Time) {
                match self {
                    $(Controller::$type(control) => control.on_congestion_at(cause, now),)*
                }
            }

            pub(super) fn on_acked_marks(
                &mut self,
                acked_bytes: u64,
                marked: bool,
                snd_una: u64,
                snd_nxt: u64,
            ) {
                match self {
                    $(Controller::$type(control) => {
                        control.on_acked_marks(acked_bytes, marked, snd_una, snd_nxt);
                    })*
                }
            }

            pub(super) fn on_recovered(&mut self, cwnd_bytes: u64) {
                match self {
                    $(Controller::$type(control) => control.on_recovered(cwnd_bytes),)*
                }
            }

            /// A reduction since `before` was needless.
            pub(super) fn undo(&mut self, before: Controller, smss_bytes: u64) {
                match (&mut *self, before) {
                    $((Controller::$type(control), Controller::$type(before)) => control.undo(before),)*
                    _ => {}
                }
                self.set_smss(smss_bytes);
            }

            pub(super) fn leave_slow_start(&mut self) {
                match self {
                    $(Controller::$type(control) => control.leave_slow_start(),)*
                }
            }

            pub(super) fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
                match self {
                    $(Controller::$type(control) => control.pacing_rate_bytes_per_s(),)*
                }
            }

            pub(super) fn on_idle_end(&mut self, now: Time, last_sent_at: Time) {
                match self {
                    $(Controller::$type(control) => control.on_idle_end(now, last_sent_at),)*
                }
            }

            pub(super) fn set_random(&mut self, random: &Stream) {
                match self {
                    $(Controller::$type(control) => control.set_random(random),)*
                }
            }

            pub(super) fn on_handshake(&mut self, now: Time, rtt: Option<Span>) {
                match self {
                    $(Controller::$type(control) => control.on_handshake(now, rtt),)*
                }
            }

            #[inline]
            pub(super) fn on_sent(&mut self, in_flight_bytes: u64) {
                match self {
                    $(Controller::$type(control) => control.on_sent(in_flight_bytes),)*
                }
            }

            pub(super) fn on_losses(
                &mut self,
                losses: &[Lost],
                in_flight_bytes: u64,
                delivered_bytes: u64,
                now: Time,
            ) {
                match self {
                    $(Controller::$type(control) => {
                        control.on_losses(losses, in_flight_bytes, delivered_bytes, now);
                    })*
                }
            }

            /// The delivery is made in each arm, as the ACK is.
            #[inline(always)]
            pub(super) fn on_delivery(&mut self, delivery: impl FnOnce() -> Delivery) -> bool {
                match self {
                    $(Controller::$type(control) => control.on_delivery(&delivery()),)*
                }
            }

            /// The state it is in, for traces, where it has states of its own.
            pub fn state_name(&self) -> Option<&'static str> {
                match self {
                    $(Controller::$type(control) => control.state_name(),)*
                }
            }
        }
    };
}

impl Kind {
    /// The control that the values of keys put in its place, or itself.
    pub fn in_force(self, own: &Own) -> Kind {
        let is_chosen =
            |choice: Choice| choice.instead_of == self.name() && own.value(choice.key) == choice.value;
        Kind::ALL.iter().copied().find(|kind| kind.chosen_by().is_some_and(is_chosen)).unwrap_or(self)
    }

    /// Whether it acts on a key of `other`: its own, and those of the control whose place it takes.
    pub fn heeds(self, other: Kind, key: &Key) -> bool {
        let takes_place = |choice: Choice| choice.instead_of == other.name() && choice.key != key;
        self == other || self.chosen_by().is_some_and(takes_place)
    }
}

// `cargo fmt` does not see these modules; `make lint` names their files to rustfmt.
congestion_controls! {
    reno::Reno,
    reno_linux::RenoLinux,
    vegas::Vegas,
    cubic::Cubic,
    cubic_linux::CubicLinux,
    bbr::Bbr,
    bbr1::Bbr1,
    dctcp::Dctcp,
    prague::Prague,
    given::Given,
}
