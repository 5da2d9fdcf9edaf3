//! The states of the probing (section 5.3), and their gains.

use super::{
    DEFAULT_CWND_GAIN, DRAIN_PACING_GAIN, PROBE_DOWN_PACING_GAIN, PROBE_RTT_CWND_GAIN, PROBE_UP_CWND_GAIN,
    PROBE_UP_PACING_GAIN, STARTUP_PACING_GAIN,
};

/// The states of section 5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Doubles the rate each round (5.3.1).
    Startup,
    /// Empties the queue that Startup has left (5.3.2).
    Drain,
    /// Sends slower than the path (5.3.3.1).
    ProbeBwDown,
    /// Sends as fast as the path (5.3.3.2).
    ProbeBwCruise,
    /// Fills the pipe before it probes (5.3.3.3).
    ProbeBwRefill,
    /// Probes for bandwidth (5.3.3.4).
    ProbeBwUp,
    /// Probes for the round trip (5.3.4).
    ProbeRtt,
}

impl State {
    /// The name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBwDown => "probe_bw_down",
            State::ProbeBwCruise => "probe_bw_cruise",
            State::ProbeBwRefill => "probe_bw_refill",
            State::ProbeBwUp => "probe_bw_up",
            State::ProbeRtt => "probe_rtt",
        }
    }

    /// The gains of section 5.6.1.
    pub(super) const fn pacing_gain(self) -> u64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::ProbeBwDown => PROBE_DOWN_PACING_GAIN,
            State::ProbeBwUp => PROBE_UP_PACING_GAIN,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 100,
        }
    }

    pub(super) const fn cwnd_gain(self) -> u64 {
        match self {
            State::ProbeBwUp => PROBE_UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => DEFAULT_CWND_GAIN,
        }
    }

    /// IsInAProbeBWState.
    pub(super) const fn probes_bw(self) -> bool {
        matches!(self, State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// IsProbingBW: it accelerates.
    pub(super) const fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }
}

/// What acknowledgements mean to the probing (2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}
