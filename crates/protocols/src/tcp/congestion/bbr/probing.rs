//! What acknowledgements and losses make of the state: the updates of sections 5.3 and 5.5, and the window.

use roamsim_engine::Time;

use super::model::share;
use super::state::{AckPhase, State};
use super::{
    BETA, Bbr, DRAIN_ROUNDS, Delivery, LOSS_THRESH, Lost, MIN_PIPE_SEGMENTS, MOST_RENO_ROUNDS, NONE,
    PROBE_RTT_DURATION, STARTUP_FULL_LOSS_COUNT,
};
use crate::tcp::proportion::product;

/// InflightAtLoss (5.5.10.2): where the share of losses crosses LossThresh, if that is within the lost
/// transmission.
pub(super) fn inflight_at_loss(lost: &Lost) -> u64 {
    let bytes = lost.end - lost.start;
    let before = lost.in_flight_at_sent.saturating_sub(bytes);
    let lost_before = lost.lost_since_sent.saturating_sub(bytes);
    let prefix = share(before, LOSS_THRESH).saturating_sub(lost_before);
    let prefix = u128::from(prefix) * 100 / u128::from(100 - LOSS_THRESH);
    before + prefix as u64
}

impl Bbr {
    pub(super) fn tell_threshold(&mut self) {
        self.ssthresh_bytes = if self.model.full_bw_reached { self.cwnd_bytes } else { u64::MAX };
    }

    /// SaveCwnd (5.6.4.4).
    pub(super) fn save_cwnd(&mut self) {
        let model = &mut self.model;
        model.prior_cwnd = if !model.recovering && model.state != State::ProbeRtt {
            self.cwnd_bytes
        } else {
            model.prior_cwnd.max(self.cwnd_bytes)
        };
    }

    /// RestoreCwnd (5.6.4.4).
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd_bytes = self.cwnd_bytes.max(self.model.prior_cwnd);
    }

    /// SaveStateUponLoss (5.5.11.1).
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.model.save_undo();
    }

    /// NoteLoss (5.5.10.2).
    pub(super) fn note_loss(&mut self) {
        if !self.model.is_loss_in_round {
            self.model.loss_round_delivered = self.model.delivered;
            self.save_cwnd();
        }
        self.model.is_loss_in_round = true;
    }

    /// TargetInflight (5.3.3.8.3).
    pub(super) fn target_inflight(&self) -> u64 {
        self.model.bdp.min(self.cwnd_bytes)
    }

    /// HandleInflightTooHigh (5.5.10.2).
    pub(super) fn handle_inflight_too_high(&mut self, app_limited: bool, now: Time) {
        let least = share(self.target_inflight(), BETA);
        let model = &mut *self.model;
        model.prev_probe_too_high = true;
        model.is_bw_probe_sample = false;
        if !app_limited {
            model.inflight_longterm = model.tx_in_flight.max(least);
        }
        if model.state == State::ProbeBwUp {
            model.undo_state = Some(State::ProbeBwUp);
            model.start_probe_bw_down(now);
        }
    }

    /// UpdateCongestionSignals and AdaptLowerBoundsFromCongestion (5.5.10.3).
    pub(super) fn update_congestion_signals(&mut self, delivery: &Delivery, rate: u64) {
        self.model.update_max_bw(delivery, rate);
        let model = &mut *self.model;
        if !model.loss_round_start {
            return;
        }
        if model.is_loss_in_round && !model.state.accelerates() {
            if model.bw_shortterm == NONE {
                model.bw_shortterm = model.max_bw;
            }
            if model.inflight_shortterm == NONE {
                model.inflight_shortterm = self.cwnd_bytes;
            }
            model.bw_shortterm = model.bw_latest.max(share(model.bw_shortterm, BETA));
            model.inflight_shortterm = model.inflight_latest.max(share(model.inflight_shortterm, BETA));
        }
        model.is_loss_in_round = false;
    }

    /// UpdateACKAggregation (5.5.9).
    pub(super) fn update_ack_aggregation(&mut self, delivery: &Delivery) {
        let model = &mut *self.model;
        let interval = delivery.now.since(model.extra_acked_interval_start);
        let mut expected = product(model.bw, interval);
        if model.extra_acked_delivered <= expected {
            model.extra_acked_delivered = 0;
            model.extra_acked_interval_start = delivery.now;
            expected = 0;
        }
        model.extra_acked_delivered += delivery.newly_acked_bytes;
        let extra = (model.extra_acked_delivered - expected).min(self.cwnd_bytes);
        if model.round_start {
            model.extra_acked_filter.rotate_right(1);
            model.extra_acked_filter[0] = 0;
            model.bound_extra_acked_filter();
        }
        model.extra_acked_filter[0] = model.extra_acked_filter[0].max(extra);
        model.extra_acked = model.extra_acked.max(extra);
    }

    /// CheckStartupDone and CheckStartupHighLoss (5.3.1).
    pub(super) fn check_startup_done(&mut self, delivery: &Delivery) {
        let model = &mut *self.model;
        if model.state == State::Startup && !model.full_bw_reached {
            let many = model.loss_ranges >= STARTUP_FULL_LOSS_COUNT;
            if model.loss_round_start && delivery.recovering && many && model.is_inflight_too_high() {
                model.undo_state = Some(State::Startup);
                (model.full_bw_reached, model.full_bw_now) = (true, true);
                model.inflight_longterm = model.bdp.max(model.inflight_latest);
            }
        }
        if model.loss_round_start {
            model.loss_ranges = 0;
        }
        if model.state == State::Startup && model.full_bw_reached {
            model.state = State::Drain;
            model.drain_start_round = model.round_count;
        }
    }

    /// CheckDrainDone (5.3.2).
    pub(super) fn check_drain_done(&mut self, now: Time) {
        let model = &mut *self.model;
        if model.in_flight <= model.quantized(model.bdp)
            || model.round_count > model.drain_start_round + DRAIN_ROUNDS
        {
            model.start_probe_bw_down(now);
        }
    }

    /// UpdateProbeBWCyclePhase (5.3.3.9).
    pub(super) fn update_probe_bw_cycle_phase(&mut self, delivery: &Delivery, rate: u64) {
        if !self.model.full_bw_reached
            || self.adapt_long_term_model(delivery)
            || !self.model.state.probes_bw()
        {
            return;
        }
        if self.model.state == State::ProbeBwUp {
            if self.is_time_to_go_down(rate) {
                self.model.prev_probe_too_high = false;
                self.model.start_probe_bw_down(delivery.now);
            }
            return;
        }
        match self.model.state {
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe_bw(delivery.now) => {
                self.model.start_probe_bw_refill();
            }
            State::ProbeBwDown if self.model.is_time_to_cruise() => {
                self.model.state = State::ProbeBwCruise;
            }
            State::ProbeBwRefill if self.model.round_start => {
                self.model.is_bw_probe_sample = true;
                self.start_probe_bw_up(rate);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW and IsRenoCoexistenceProbeTime (5.3.3.8.3).
    pub(super) fn is_time_to_probe_bw(&self, now: Time) -> bool {
        let model = &self.model;
        let rounds = model.rounds_since_probe_up;
        now > model.cycle_stamp + model.bw_probe_wait
            || rounds >= MOST_RENO_ROUNDS
            // As many rounds as the target has whole segments.
            || (rounds + 1) * model.smss_bytes > self.target_inflight()
    }

    /// StartProbeBW_UP (5.3.3.9).
    pub(super) fn start_probe_bw_up(&mut self, rate: u64) {
        let model = &mut *self.model;
        model.ack_phase = AckPhase::ProbeStarting;
        model.start_round();
        model.reset_full_bw();
        model.full_bw = rate;
        model.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// C.is_cwnd_limited.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.model.filled_window[0] || self.model.filled_window[1]
    }

    /// IsTimeToGoDown (5.3.3.9).
    pub(super) fn is_time_to_go_down(&mut self, rate: u64) -> bool {
        let bounded = self.is_cwnd_limited() && self.cwnd_bytes >= self.model.inflight_longterm;
        let model = &mut *self.model;
        if model.prev_probe_too_high && model.in_flight >= model.inflight_longterm {
            model.prev_probe_precautionary = true;
            return true;
        }
        if bounded {
            model.reset_full_bw();
            model.full_bw = rate;
            return false;
        }
        model.full_bw_now
    }

    /// RaiseInflightLongtermSlope (5.3.3.9).
    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let model = &mut *self.model;
        let growth = 1u64 << model.bw_probe_up_rounds;
        model.bw_probe_up_rounds = (model.bw_probe_up_rounds + 1).min(30);
        model.probe_up_acked_per_inc = (self.cwnd_bytes / growth).max(model.smss_bytes).max(1);
    }

    /// ProbeInflightLongtermUpward (5.3.3.9).
    pub(super) fn probe_inflight_longterm_upward(&mut self, newly_acked: u64) {
        if !self.is_cwnd_limited() || self.cwnd_bytes < self.model.inflight_longterm {
            return;
        }
        let model = &mut *self.model;
        model.bw_probe_up_acked += newly_acked;
        let steps = model.bw_probe_up_acked / model.probe_up_acked_per_inc;
        model.bw_probe_up_acked %= model.probe_up_acked_per_inc;
        model.inflight_longterm += steps * model.smss_bytes;
        if model.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// AdaptLongTermModel (5.3.3.9); true when a state has begun.
    pub(super) fn adapt_long_term_model(&mut self, delivery: &Delivery) -> bool {
        let model = &mut *self.model;
        if model.ack_phase == AckPhase::ProbeStarting && model.round_start {
            model.ack_phase = AckPhase::ProbeFeedback;
        }
        if model.ack_phase == AckPhase::ProbeStopping && model.round_start {
            model.is_bw_probe_sample = false;
            model.ack_phase = AckPhase::Init;
            if model.state.probes_bw() {
                if !delivery.sample.app_limited {
                    model.advance_max_bw_filter();
                }
                if model.prev_probe_precautionary && !model.prev_probe_too_high {
                    model.start_probe_bw_refill();
                    return true;
                }
            }
        }
        if model.is_inflight_too_high() || model.inflight_longterm == NONE {
            return false;
        }
        model.inflight_longterm = model.inflight_longterm.max(model.tx_in_flight);
        if model.state == State::ProbeBwUp {
            self.probe_inflight_longterm_upward(delivery.newly_acked_bytes);
        }
        false
    }

    /// CheckProbeRTT (5.3.4.3); true when what is in flight says nothing of the rate.
    pub(super) fn check_probe_rtt(&mut self, delivery: &Delivery) -> bool {
        let now = delivery.now;
        if self.model.state != State::ProbeRtt && self.model.probe_rtt_expired && !self.model.idle_restart {
            self.save_cwnd();
            let model = &mut *self.model;
            model.state = State::ProbeRtt;
            model.probe_rtt_done_stamp = None;
            model.ack_phase = AckPhase::ProbeStopping;
            model.start_round();
        }
        let probes = self.model.state == State::ProbeRtt;
        if probes {
            self.handle_probe_rtt(now);
        }
        if delivery.sample.delivered_bytes > 0 {
            self.model.idle_restart = false;
        }
        probes
    }

    /// HandleProbeRTT (5.3.4.3).
    pub(super) fn handle_probe_rtt(&mut self, now: Time) {
        let model = &mut *self.model;
        if model.probe_rtt_done_stamp.is_none() {
            if model.in_flight <= model.probe_rtt_cwnd() {
                model.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
                model.probe_rtt_round_done = false;
                model.start_round();
            }
            return;
        }
        model.probe_rtt_round_done |= model.round_start;
        if model.probe_rtt_round_done {
            self.check_probe_rtt_done(now);
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT (5.3.4.3, 5.3.4.4).
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.model.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.restore_cwnd();
        let model = &mut *self.model;
        model.probe_rtt_min_stamp = now;
        model.reset_short_term_model();
        if model.full_bw_reached {
            model.start_probe_bw_down(now);
            model.state = State::ProbeBwCruise;
        } else {
            model.state = State::Startup;
        }
    }

    /// SetCwnd (5.6.4.6), BoundCwndForProbeRTT and BoundCwndForModel (5.6.4.7).
    pub(super) fn set_cwnd(&mut self, newly_acked: u64) {
        let model = &*self.model;
        let least = MIN_PIPE_SEGMENTS * model.smss_bytes;
        let max_inflight =
            model.quantized(model.bdp_multiple(model.state.cwnd_gain()).saturating_add(model.extra_acked));
        let mut cwnd = self.cwnd_bytes;
        if model.full_bw_reached {
            cwnd = (cwnd + newly_acked).min(max_inflight);
        } else if cwnd < max_inflight || model.delivered < model.initial_cwnd_bytes {
            cwnd += newly_acked;
        }
        cwnd = cwnd.max(least);
        if model.state == State::ProbeRtt {
            cwnd = cwnd.min(model.probe_rtt_cwnd());
        }
        let cap = match model.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => model.inflight_longterm,
            State::ProbeRtt | State::ProbeBwCruise => model.inflight_with_headroom(),
            State::Startup | State::Drain => NONE,
        };
        self.cwnd_bytes = cwnd.min(cap.min(model.inflight_shortterm).max(least));
    }
}
