//! BBR version 3: draft-ietf-ccwg-bbr-06, July 2026. Names and constants are the draft's; `BBR.` is left out.
//!
//! The control keeps a model of the path: `max_bw` (section 5.5.2), the highest rate of delivery of two
//! probing cycles; `min_rtt` (5.5.7), the smallest round trip of ten seconds; and bounds that losses set. It
//! sends at a multiple of the rate and keeps a multiple of their product in flight. The states of section 5.3
//! choose the multiples:
//!
//! | state | pacing gain | cwnd gain | until |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | three rounds without a quarter more, or a round with many losses |
//! | Drain | 0.5 | 2 | the flight is the product, or four rounds have passed |
//! | ProbeBW_DOWN | 0.9 | 2 | the flight is the product, and 0.85 of `inflight_longterm` |
//! | ProbeBW_CRUISE | 1 | 2 | 2 to 3 s since DOWN, or a round for each segment of the product, 63 at most |
//! | ProbeBW_REFILL | 1 | 2 | one round |
//! | ProbeBW_UP | 1.25 | 2.25 | no more rate, losses above 2 %, or caution after such losses |
//! | ProbeRTT | 1 | 0.5 | 200 ms and one round |
//!
//! Losses while it probes bound the flight for good (`inflight_longterm`, 5.5.10.2). Other losses bound rate
//! and flight until the next probe (`bw_shortterm` and `inflight_shortterm`, 5.5.10.3).
//!
//! Chosen: the first round trip sets the first pacing rate where the handshake measured none (as Linux). A
//! slot of the `max_bw` filter without samples does not push the older one out (as Linux). Marks of ECN count
//! as losses of a round (section 3.7 leaves the response open). What is restored after a needless recovery is
//! saved where the recovery begins, as section 5.5.11 says; by the pseudocode a loss behind the one that ends
//! ProbeBW_UP saves again, and forgets that state. Towards a peer without SACK the connection
//! recovers as NewReno, with Reno's window.

mod model;
mod probing;
mod state;
#[cfg(test)]
pub(super) mod tests;

use roamsim_engine::{Span, Stream, Time};

use super::keys::Refusal;
use super::{Ack, Cause, CongestionControl, Delivery, Settings};
use crate::tcp::sent::Lost;
use model::{Model, share};
use probing::inflight_at_loss;
use state::AckPhase;
pub use state::State;

/// Gains and shares in hundredths: StartupPacingGain (section 2.5).
const STARTUP_PACING_GAIN: u64 = 277;
/// DrainPacingGain (2.5).
const DRAIN_PACING_GAIN: u64 = 50;
/// The gains of the ProbeBW states (5.6.1).
const PROBE_DOWN_PACING_GAIN: u64 = 90;
const PROBE_UP_PACING_GAIN: u64 = 125;
const PROBE_UP_CWND_GAIN: u64 = 225;
/// DefaultCwndGain (2.6).
const DEFAULT_CWND_GAIN: u64 = 200;
/// ProbeRTTCwndGain (2.16.2).
const PROBE_RTT_CWND_GAIN: u64 = 50;
/// PacingMarginPercent (2.5).
const PACING_MARGIN: u64 = 1;
/// LossThresh (2.8).
const LOSS_THRESH: u64 = 2;
/// Beta (2.8).
const BETA: u64 = 70;
/// Headroom (2.8).
const HEADROOM: u64 = 15;
/// MinPipeCwnd in segments (2.8).
const MIN_PIPE_SEGMENTS: u64 = 4;
/// ExtraAckedFilterLen in rounds (2.12).
const EXTRA_ACKED_FILTER_ROUNDS: usize = 10;
/// BBRStartupFullLossCnt (5.3.1.3).
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// Rounds without growth that fill the pipe (5.3.1.2), and what growth is.
const FULL_BW_ROUNDS: u32 = 3;
const FULL_BW_GROWTH: u64 = 125;
/// MinRTTFilterLen, ProbeRTTInterval and ProbeRTTDuration (2.16).
const MIN_RTT_FILTER: Span = Span::from_secs(10);
const PROBE_RTT_INTERVAL: Span = Span::from_secs(5);
const PROBE_RTT_DURATION: Span = Span::from_ms(200);
/// Rounds in Drain at most (5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// The bound of T_reno in rounds (5.3.3.8.3).
const MOST_RENO_ROUNDS: u64 = 63;
/// The largest send quantum (5.6.3).
const MOST_QUANTUM_BYTES: u64 = 65_536;

/// Infinity of the draft.
const NONE: u64 = u64::MAX;

/// What no version of BBR goes with.
pub(super) const REFUSES: &[Refusal] = &[
    Refusal { key: "sack", message: "BBR measures the path by SACK", help: "leave it out" },
    Refusal {
        key: "prr",
        message: "BBR sets its own window during recovery",
        help: "leave it out or write false",
    },
    Refusal {
        key: "reduce_after_lost_retransmission",
        message: "BBR counts every lost transmission",
        help: "leave it out or write false",
    },
    Refusal { key: "hystart", message: "BBR has no slow start", help: "leave it out or write false" },
    Refusal {
        key: "window_validation",
        message: "BBR bounds an unused window by itself",
        help: "leave it out",
    },
    Refusal {
        key: "restart_after_idle",
        message: "BBR goes on behind an idle time at its rate",
        help: "leave it out",
    },
    Refusal { key: "ecn", message: "BBR has no response to ECN marks", help: "leave it out or write false" },
    Refusal { key: "initial_ssthresh", message: "BBR has no slow start threshold", help: "leave it out" },
    Refusal {
        key: "byte_counting_limit",
        message: "BBR counts every acknowledged octet",
        help: "leave it out",
    },
    Refusal {
        key: "growth_rules",
        message: "BBR's window follows the rate of delivery",
        help: "leave it out",
    },
];

/// BBR: window and rate, and the model behind them.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law
pub struct Bbr {
    cwnd_bytes: u64,
    /// BBR has none: arbitrarily high in Startup, cwnd from there on.
    ssthresh_bytes: u64,
    model: Box<Model>,
}

impl CongestionControl for Bbr {
    const NAME: &str = "bbr";
    const ABOUT: Option<&str> = Some("BBR version 3 (draft-ietf-ccwg-bbr-06)");
    const VARIANT: Option<&str> = Some(
        "A rate and a window from a model of the path, with RACK and pacing (BBR version 3, draft-ietf-ccwg-bbr-06).",
    );
    const REFUSES: &[Refusal] = REFUSES;
    const TAKES_SAMPLES: bool = true;

    fn new(_settings: &Settings) -> Bbr {
        let model = Model {
            smss_bytes: 1,
            initial_cwnd_bytes: 1,
            random: Stream::new(0, 0, "bbr"),
            state: State::Startup,
            pacing_rate: 0,
            paced_for: None,
            has_round_trip: false,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            drain_start_round: 0,
            idle_restart: false,
            max_bw_filter: [0; 2],
            max_bw: 0,
            bw_shortterm: NONE,
            bw: 0,
            bdp: 1,
            inflight_longterm: NONE,
            inflight_shortterm: NONE,
            bw_latest: 0,
            inflight_latest: 0,
            extra_acked_interval_start: Time::ZERO,
            extra_acked_delivered: 0,
            extra_acked_filter: [0; _],
            extra_acked: 0,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0,
            full_bw_count: 0,
            is_loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_ranges: 0,
            lost_end: 0,
            recovering: false,
            prior_cwnd: 0,
            undo_state: None,
            undo_bw_shortterm: 0,
            undo_inflight_shortterm: 0,
            undo_inflight_longterm: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: NONE,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Span::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            filled_window: [false; 2],
            min_rtt: Span::MAX,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: Span::MAX,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            tx_in_flight: 0,
            lost: 0,
            in_flight: 0,
            delivered: 0,
        };
        Bbr { cwnd_bytes: 1, ssthresh_bytes: u64::MAX, model: Box::new(model) }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.cwnd_bytes = initial_window_bytes.max(smss_bytes);
        self.model.smss_bytes = smss_bytes;
        self.model.initial_cwnd_bytes = self.cwnd_bytes;
        self.model.update_bdp();
        // InitPacingRate without a round trip: a millisecond for it.
        self.model.start_pacing(share(self.cwnd_bytes.saturating_mul(1000), STARTUP_PACING_GAIN));
    }

    fn set_random(&mut self, random: &Stream) {
        self.model.random = random.clone();
    }

    fn set_smss(&mut self, bytes: u64) {
        self.model.smss_bytes = bytes;
    }

    #[inline]
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    #[inline]
    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }

    /// Everything that an acknowledgement tells comes in [`CongestionControl::on_delivery`].
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_handshake(&mut self, now: Time, rtt: Option<Span>) {
        let model = &mut self.model;
        (model.min_rtt_stamp, model.probe_rtt_min_stamp) = (now, now);
        model.extra_acked_interval_start = now;
        if let Some(rtt) = rtt {
            model.min_rtt = rtt;
            model.update_bdp();
            model.init_pacing_rate(rtt);
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            // OnEnterFastRecovery (5.6.4.4), and a loss that a probe has repaired. The losses themselves may
            // have ended a state already, which is to be undone with the repair.
            Cause::FastRetransmit { .. } | Cause::EcnEcho { .. } => {
                if self.model.undo_state.is_none() {
                    self.note_loss();
                    self.save_state_upon_loss();
                }
            }
            // OnEnterRTO (5.6.4.4). A recovery that goes back has nothing in flight.
            Cause::Timeout { .. } | Cause::GoBack { .. } => {
                self.save_cwnd();
                if !self.model.recovering && self.model.undo_state.is_none() {
                    self.model.save_undo();
                }
                self.cwnd_bytes = self.model.in_flight + self.model.smss_bytes;
                self.model.recovering = true;
            }
            // Section 5.4.2: the window stays.
            Cause::Idle { .. } => {}
        }
    }

    /// The end of a repair is heard of with the acknowledgement that brings it.
    fn on_recovered(&mut self, _cwnd_bytes: u64) {}

    /// HandleSpuriousLossDetection (5.5.11.2).
    fn undo(&mut self, _before: Bbr) {
        self.restore_cwnd();
        let model = &mut *self.model;
        model.is_loss_in_round = false;
        model.recovering = false;
        model.reset_full_bw();
        model.bw_shortterm = model.bw_shortterm.max(model.undo_bw_shortterm);
        model.inflight_shortterm = model.inflight_shortterm.max(model.undo_inflight_shortterm);
        model.inflight_longterm = model.inflight_longterm.max(model.undo_inflight_longterm);
        match model.undo_state.take() {
            Some(State::Startup) if model.state != State::Startup => {
                model.full_bw_reached = false;
                model.bound_extra_acked_filter();
                if model.state != State::ProbeRtt {
                    model.state = State::Startup;
                }
            }
            Some(State::ProbeBwUp) if !matches!(model.state, State::ProbeBwUp | State::ProbeRtt) => {
                model.start_probe_bw_refill();
            }
            _ => {}
        }
        self.tell_threshold();
    }

    #[inline]
    fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
        Some(self.model.pacing_rate)
    }

    fn state_name(&self) -> Option<&'static str> {
        Some(self.model.state.name())
    }

    /// HandleRestartFromIdle (5.4.1).
    fn on_idle_end(&mut self, now: Time, _last_sent_at: Time) {
        self.model.idle_restart = true;
        self.model.extra_acked_interval_start = now;
        if self.model.state.probes_bw() {
            self.model.set_pacing_rate(100);
        } else if self.model.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    fn on_sent(&mut self, in_flight_bytes: u64) {
        // C.is_cwnd_limited (2.2): no further segment fits.
        self.model.filled_window[0] |= in_flight_bytes + self.model.smss_bytes > self.cwnd_bytes;
    }

    /// HandleLostPacket of each (5.5.10.2).
    fn on_losses(&mut self, losses: &[Lost], in_flight_bytes: u64, delivered_bytes: u64, now: Time) {
        self.model.in_flight = in_flight_bytes;
        self.model.delivered = delivered_bytes;
        if !self.model.recovering {
            // A recovery begins with them.
            self.model.save_undo();
        }
        for lost in losses {
            self.note_loss();
            let model = &mut *self.model;
            model.loss_ranges += u32::from(lost.start != model.lost_end);
            model.lost_end = lost.end;
            if !model.is_bw_probe_sample {
                continue;
            }
            model.tx_in_flight = lost.in_flight_at_sent;
            model.lost = lost.lost_since_sent;
            if model.is_inflight_too_high() {
                model.tx_in_flight = inflight_at_loss(lost);
                self.handle_inflight_too_high(lost.app_limited, now);
            }
        }
    }

    /// UpdateOnACK (5.2.3).
    fn on_delivery(&mut self, delivery: &Delivery) -> bool {
        let was_recovering = std::mem::replace(&mut self.model.recovering, delivery.recovering);
        if was_recovering && !delivery.recovering {
            self.restore_cwnd();
        }
        let model = &mut *self.model;
        model.in_flight = delivery.in_flight_bytes;
        model.delivered = delivery.delivered_bytes;
        model.tx_in_flight = delivery.sample.in_flight_at_sent;
        model.lost = delivery.sample.lost_since_sent;
        if let Some(rtt) = delivery.rtt.filter(|_| !model.has_round_trip) {
            model.init_pacing_rate(rtt);
        }
        let rate = delivery.sample.rate_bytes_per_s();
        model.update_latest_delivery_signals(delivery, rate);
        self.update_congestion_signals(delivery, rate);
        self.update_ack_aggregation(delivery);
        self.model.check_full_bw_reached(delivery, rate);
        self.check_startup_done(delivery);
        if self.model.state == State::Drain {
            self.check_drain_done(delivery.now);
        }
        self.update_probe_bw_cycle_phase(delivery, rate);
        self.model.update_min_rtt(delivery);
        let app_limited = self.check_probe_rtt(delivery);
        let model = &mut *self.model;
        if model.loss_round_start {
            // AdvanceLatestDeliverySignals (5.5.10.3).
            model.bw_latest = rate;
            model.inflight_latest = delivery.sample.delivered_bytes;
        }
        if model.round_start {
            model.filled_window = [false, model.filled_window[0]];
        }
        model.set_bw();
        model.set_pacing_rate(model.state.pacing_gain());
        self.set_cwnd(delivery.newly_acked_bytes);
        self.tell_threshold();
        app_limited
    }
}
