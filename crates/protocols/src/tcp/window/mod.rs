//! The window law: how the congestion window grows with acknowledgements and what a loss makes of it.
//!
//! The law owns `cwnd` and `ssthresh`. Growth during recovery (inflation by duplicate ACKs) is not its business,
//! it belongs to [`super::recovery`]. To add a law: a file here with its state and hooks, a variant of
//! [`WindowLaw`], an arm in each hook.

mod cubic;
mod reno;
mod vegas;

pub use cubic::Cubic;
pub use reno::Reno;
pub use vegas::Vegas;

use roamsim_engine::{Span, Time};

/// What made the sender slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A loss that arriving ACKs told of: the window is halved, or what the law does instead.
    FastRetransmit {
        /// Octets in flight, those sent by limited transmit not counted.
        flight_bytes: u64,
    },
    /// A queue has marked packets (RFC 3168 section 6.1.2): as by a loss that arriving ACKs told of, or by less (RFC 8511); nothing is
    /// repaired.
    EcnEcho {
        /// Octets in flight.
        flight_bytes: u64,
    },
    /// A loss that arriving ACKs told of, after which everything is sent anew: the window restarts at one segment.
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
        /// A loss was being repaired. What was sent for duplicate ACKs took the place of octets that had left the network, and is
        /// in `flight_bytes`: ssthresh is not raised by it.
        repairing: bool,
    },
    /// Nothing was sent for longer than the RTO: the window restarts at the initial window at most.
    Idle {
        /// The restart window RW of RFC 5681 4.1.
        restart_window_bytes: u64,
    },
}

/// An ACK for new data outside of recovery.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Octets it acknowledges for the first time.
    pub bytes: u64,
    /// How many segments' worth of them slow start counts at most: L of RFC 3465; one by RFC 5681 3.1, equation 2.
    pub most_segments: u64,
    /// The largest flight in this and the last round trip: how much of the window is in use.
    pub in_use_bytes: u64,
    /// When it arrived.
    pub now: Time,
    /// The smoothed round-trip time, this ACK's measurement included; `None` before the first.
    pub srtt: Option<Span>,
    /// The round-trip time it measures to the nanosecond, where detection keeps send times.
    pub rtt: Option<Span>,
    /// Oldest octet not acknowledged, after it.
    pub snd_una: u64,
    /// Next octet to send.
    pub snd_nxt: u64,
}

impl Default for Acked {
    fn default() -> Acked {
        Acked {
            bytes: 0,
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

/// The window law of a connection.
#[derive(Clone, Debug)]
pub enum WindowLaw {
    /// Additive increase, halving: RFC 5681.
    Reno(Reno),
    /// By the round-trip time: Brakmo and Peterson 1995.
    Vegas(Vegas),
    /// A cubic of the time since the last reduction: RFC 9438.
    Cubic(Cubic),
}

impl WindowLaw {
    /// The congestion window in bytes, without inflation.
    #[inline]
    pub fn cwnd_bytes(&self) -> u64 {
        match self {
            WindowLaw::Reno(law) => law.cwnd_bytes(),
            WindowLaw::Vegas(law) => law.cwnd_bytes(),
            WindowLaw::Cubic(law) => law.cwnd_bytes(),
        }
    }

    /// The slow-start threshold in bytes, `u64::MAX` while it is arbitrarily high.
    #[inline]
    pub fn ssthresh_bytes(&self) -> u64 {
        match self {
            WindowLaw::Reno(law) => law.ssthresh_bytes(),
            WindowLaw::Vegas(law) => law.ssthresh_bytes(),
            WindowLaw::Cubic(law) => law.ssthresh_bytes(),
        }
    }

    /// Segment size and initial window are known: the handshake is complete.
    pub(super) fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        match self {
            WindowLaw::Reno(law) => law.start(smss_bytes, initial_window_bytes),
            WindowLaw::Vegas(law) => law.start(smss_bytes, initial_window_bytes),
            WindowLaw::Cubic(law) => law.start(smss_bytes, initial_window_bytes),
        }
    }

    /// Segments are of this size from now on; the window stays as it is.
    pub(super) fn set_smss(&mut self, bytes: u64) {
        match self {
            WindowLaw::Reno(law) => law.set_smss(bytes),
            WindowLaw::Vegas(law) => law.set_smss(bytes),
            WindowLaw::Cubic(law) => law.set_smss(bytes),
        }
    }

    /// New data was acknowledged outside of recovery. What Reno does not ask for of that is made for the others alone.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, acked: impl FnOnce() -> Acked) {
        match self {
            WindowLaw::Reno(law) => law.on_ack(&acked()),
            WindowLaw::Vegas(law) => law.on_ack(&acked()),
            WindowLaw::Cubic(law) => law.on_ack(&acked()),
        }
    }

    /// The sender must slow down.
    pub(super) fn on_congestion(&mut self, cause: Cause) {
        match self {
            WindowLaw::Reno(law) => law.on_congestion(cause),
            WindowLaw::Vegas(law) => law.on_congestion(cause),
            WindowLaw::Cubic(law) => law.on_congestion(cause),
        }
    }

    /// Sending goes on after a time with nothing in flight.
    pub(super) fn on_idle_end(&mut self, now: Time) {
        match self {
            WindowLaw::Reno(_) | WindowLaw::Vegas(_) => {}
            WindowLaw::Cubic(law) => law.on_idle_end(now),
        }
    }

    /// Recovery has ended and leaves a window of `cwnd_bytes`.
    pub(super) fn on_recovered(&mut self, cwnd_bytes: u64) {
        match self {
            WindowLaw::Reno(law) => law.on_recovered(cwnd_bytes),
            WindowLaw::Vegas(law) => law.on_recovered(cwnd_bytes),
            WindowLaw::Cubic(law) => law.on_recovered(cwnd_bytes),
        }
    }
}
