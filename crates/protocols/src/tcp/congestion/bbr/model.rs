//! The model of the path (sections 2.5 to 2.16): its rate, its round trip, and the bounds that losses set.

use roamsim_engine::{Span, Stream, Time};

use super::state::{AckPhase, State};
use super::{
    Delivery, EXTRA_ACKED_FILTER_ROUNDS, FULL_BW_GROWTH, FULL_BW_ROUNDS, HEADROOM, LOSS_THRESH,
    MIN_PIPE_SEGMENTS, MIN_RTT_FILTER, MOST_QUANTUM_BYTES, NONE, PACING_MARGIN, PROBE_RTT_CWND_GAIN,
    PROBE_RTT_INTERVAL, STARTUP_PACING_GAIN,
};
use crate::tcp::proportion::{product, proportion, rate};

/// The state of the draft's sections 2.5 to 2.16.
#[derive(Clone, Debug)]
#[repr(C, align(64))] // what every acknowledgement needs lies together
pub(super) struct Model {
    pub(super) state: State,
    pub(super) ack_phase: AckPhase,
    /// The pipe.
    pub(super) full_bw_reached: bool,
    pub(super) full_bw_now: bool,
    /// A round trip has set the pacing rate.
    pub(super) has_round_trip: bool,
    pub(super) round_start: bool,
    pub(super) idle_restart: bool,
    pub(super) is_loss_in_round: bool,
    pub(super) loss_round_start: bool,
    pub(super) recovering: bool,
    pub(super) is_bw_probe_sample: bool,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
    pub(super) probe_rtt_expired: bool,
    /// The window was filled in this round, and in the one before.
    pub(super) filled_window: [bool; 2],
    pub(super) smss_bytes: u64,
    pub(super) pacing_rate: u64,
    pub(super) in_flight: u64,
    pub(super) delivered: u64,
    /// Of the transmission that the acknowledgement under way tells of, or of a lost one (2.3).
    pub(super) tx_in_flight: u64,
    pub(super) lost: u64,
    // Rounds.
    pub(super) next_round_delivered: u64,
    pub(super) loss_round_delivered: u64,
    // Rate and volume.
    /// Of the cycle before, and of this one.
    pub(super) max_bw_filter: [u64; 2],
    pub(super) max_bw: u64,
    pub(super) bw_shortterm: u64,
    pub(super) bw: u64,
    /// Of `bw`; the initial window before the first round trip.
    pub(super) bdp: u64,
    pub(super) inflight_longterm: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) bw_latest: u64,
    pub(super) inflight_latest: u64,
    /// The rate and the gain that the pacing rate was last computed from, and whether the pipe was full by
    /// then.
    pub(super) paced_for: Option<(u64, u64, bool)>,
    // Aggregation.
    pub(super) extra_acked_interval_start: Time,
    pub(super) extra_acked_delivered: u64,
    pub(super) extra_acked: u64,
    // Round trips.
    pub(super) min_rtt: Span,
    pub(super) min_rtt_stamp: Time,
    pub(super) probe_rtt_min_delay: Span,
    pub(super) probe_rtt_min_stamp: Time,
    // Probing for bandwidth.
    pub(super) cycle_stamp: Time,
    pub(super) bw_probe_wait: Span,
    pub(super) rounds_since_probe_up: u64,
    pub(super) bw_probe_up_acked: u64,
    pub(super) probe_up_acked_per_inc: u64,
    pub(super) bw_probe_up_rounds: u32,
    // What follows is asked for once in a round trip, and amid losses.
    /// Discontiguous ranges lost in the loss round, and where the last one ends.
    pub(super) loss_ranges: u32,
    pub(super) lost_end: u64,
    /// The largest amount of this round and of those before.
    pub(super) extra_acked_filter: [u64; 1 + EXTRA_ACKED_FILTER_ROUNDS],
    pub(super) full_bw: u64,
    pub(super) full_bw_count: u32,
    pub(super) round_count: u64,
    pub(super) drain_start_round: u64,
    pub(super) initial_cwnd_bytes: u64,
    pub(super) prior_cwnd: u64,
    pub(super) undo_state: Option<State>,
    pub(super) undo_bw_shortterm: u64,
    pub(super) undo_inflight_shortterm: u64,
    pub(super) undo_inflight_longterm: u64,
    pub(super) probe_rtt_done_stamp: Option<Time>,
    pub(super) probe_rtt_round_done: bool,
    pub(super) random: Stream,
}

/// `bytes` times so many hundredths.
pub(super) fn share(bytes: u64, hundredths: u64) -> u64 {
    proportion(bytes, hundredths, 100)
}

impl Model {
    /// InitPacingRate (5.6.2).
    pub(super) fn init_pacing_rate(&mut self, rtt: Span) {
        self.has_round_trip = true;
        let nominal = rate(self.initial_cwnd_bytes, rtt);
        self.start_pacing(share(nominal, STARTUP_PACING_GAIN).max(1));
    }

    /// A pacing rate that does not follow from `bw`.
    pub(super) fn start_pacing(&mut self, rate: u64) {
        (self.pacing_rate, self.paced_for) = (rate, None);
    }

    /// SetPacingRateWithGain (5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: u64) {
        let paced_for = Some((self.bw, gain, self.full_bw_reached));
        if self.paced_for == paced_for {
            return;
        }
        self.paced_for = paced_for;
        let rate = share(share(self.bw, gain), 100 - PACING_MARGIN);
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate.max(1);
        }
    }

    /// What a rate sends in `min_rtt`.
    fn bdp_of(&self, bw: u64) -> u64 {
        if self.min_rtt == Span::MAX { self.initial_cwnd_bytes } else { product(bw, self.min_rtt) }
    }

    /// BoundBWForModel (5.5.10.3).
    pub(super) fn set_bw(&mut self) {
        let bw = self.max_bw.min(self.bw_shortterm);
        if bw != self.bw {
            self.bw = bw;
            self.update_bdp();
        }
    }

    /// `bw` or `min_rtt` has changed.
    pub(super) fn update_bdp(&mut self) {
        self.bdp = self.bdp_of(self.bw);
    }

    /// BDPMultiple (5.6.4.2).
    pub(super) fn bdp_multiple(&self, gain: u64) -> u64 {
        if self.min_rtt == Span::MAX { self.initial_cwnd_bytes } else { share(self.bdp, gain) }
    }

    /// QuantizationBudget (5.6.4.2) with the send quantum of section 5.6.3, three of which hold MinPipeCwnd.
    pub(super) fn quantized(&self, bytes: u64) -> u64 {
        let quantum = (self.pacing_rate / 1000).min(MOST_QUANTUM_BYTES).max(2 * self.smss_bytes);
        let cap = bytes.max(3 * quantum);
        if self.state == State::ProbeBwUp { cap.saturating_add(2 * self.smss_bytes) } else { cap }
    }

    /// Inflight (5.6.4.2) without a gain.
    pub(super) fn inflight(&self, bw: u64) -> u64 {
        self.quantized(self.bdp_of(bw))
    }

    /// InflightWithHeadroom (5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == NONE {
            return NONE;
        }
        let headroom = share(self.inflight_longterm, HEADROOM).max(self.smss_bytes);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE_SEGMENTS * self.smss_bytes)
    }

    /// ProbeRTTCwnd (5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(PROBE_RTT_CWND_GAIN).max(MIN_PIPE_SEGMENTS * self.smss_bytes)
    }

    /// IsInflightTooHigh (5.5.10.2).
    pub(super) fn is_inflight_too_high(&self) -> bool {
        self.lost > 0 && u128::from(self.lost) * 100 > u128::from(self.tx_in_flight) * u128::from(LOSS_THRESH)
    }

    /// What SaveStateUponLoss (5.5.11.1) saves beside the window.
    pub(super) fn save_undo(&mut self) {
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    /// IsTimeToCruise (5.3.3.9).
    pub(super) fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.inflight_with_headroom() && self.in_flight <= self.inflight(self.max_bw)
    }

    /// The filter of UpdateACKAggregation keeps ten rounds before this one, or one before the pipe is full.
    pub(super) fn bound_extra_acked_filter(&mut self) {
        let rounds = if self.full_bw_reached { EXTRA_ACKED_FILTER_ROUNDS } else { 1 };
        self.extra_acked_filter[1 + rounds..].fill(0);
        self.extra_acked = self.extra_acked_filter.into_iter().fold(0, u64::max);
    }

    /// StartRound (5.5.1).
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// ResetFullBW (5.3.1.2).
    pub(super) fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    /// ResetShortTermModel (5.5.10.3).
    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (NONE, NONE);
    }

    /// UpdateLatestDeliverySignals (5.5.10.3).
    pub(super) fn update_latest_delivery_signals(&mut self, delivery: &Delivery, rate: u64) {
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(delivery.sample.delivered_bytes);
        self.loss_round_start = delivery.sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// UpdateMaxBw (5.5.5) and UpdateRound (5.5.1).
    pub(super) fn update_max_bw(&mut self, delivery: &Delivery, rate: u64) {
        self.round_start = delivery.sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
        if rate > 0 && (rate >= self.max_bw || !delivery.sample.app_limited) {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(rate);
            self.max_bw = self.max_bw_filter[0].max(self.max_bw_filter[1]);
        }
    }

    /// AdvanceMaxBwFilter (5.5.6).
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[1] > 0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0];
            self.max_bw = self.max_bw_filter[0];
        }
    }

    /// CheckFullBWReached (5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self, delivery: &Delivery, rate: u64) {
        if self.full_bw_now || !self.round_start || delivery.sample.app_limited {
            return;
        }
        if u128::from(rate) * 100 >= u128::from(self.full_bw) * u128::from(FULL_BW_GROWTH) {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// StartProbeBW_DOWN and PickProbeWait (5.3.3.9, 5.3.3.8.3).
    pub(super) fn start_probe_bw_down(&mut self, now: Time) {
        (self.is_loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0, 0);
        self.probe_up_acked_per_inc = NONE;
        self.rounds_since_probe_up = self.random.below(2);
        self.bw_probe_wait = Span::from_secs(2) + Span::from_ns(self.random.below(1_000_000_001));
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// StartProbeBW_REFILL (5.3.3.9).
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// UpdateMinRTT (5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, delivery: &Delivery) {
        let now = delivery.now;
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = delivery.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, now);
        }
        let min_rtt_expired = now > self.min_rtt_stamp + MIN_RTT_FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
            self.update_bdp();
        }
    }
}
