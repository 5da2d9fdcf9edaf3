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
//! as losses of a round (section 3.7 leaves the response open). Towards a peer without SACK the connection
//! recovers as NewReno, with Reno's window.

use std::collections::VecDeque;

use roamsim_engine::{Span, Stream, Time};

use super::{Ack, Cause, CongestionControl, Delivery, Settings};
use crate::tcp::sent::Lost;

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
const EXTRA_ACKED_FILTER_ROUNDS: u64 = 10;
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
    const fn pacing_gain(self) -> u64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::ProbeBwDown => PROBE_DOWN_PACING_GAIN,
            State::ProbeBwUp => PROBE_UP_PACING_GAIN,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 100,
        }
    }

    const fn cwnd_gain(self) -> u64 {
        match self {
            State::ProbeBwUp => PROBE_UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => DEFAULT_CWND_GAIN,
        }
    }

    /// IsInAProbeBWState.
    const fn probes_bw(self) -> bool {
        matches!(self, State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// IsProbingBW: it accelerates.
    const fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }
}

/// What acknowledgements mean to the probing (2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR: window and rate, and the model behind them.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law
pub struct Bbr {
    cwnd_bytes: u64,
    /// BBR has none: arbitrarily high in Startup, cwnd from there on.
    ssthresh_bytes: u64,
    model: Box<Model>,
}

/// The state of the draft's sections 2.5 to 2.16.
#[derive(Clone, Debug)]
struct Model {
    smss_bytes: u64,
    initial_cwnd_bytes: u64,
    random: Stream,
    state: State,
    pacing_rate: u64,
    /// A round trip has set the pacing rate.
    has_round_trip: bool,
    // Rounds.
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    drain_start_round: u64,
    idle_restart: bool,
    // Rate and volume.
    /// Of the cycle before, and of this one.
    max_bw_filter: [u64; 2],
    max_bw: u64,
    bw_shortterm: u64,
    bw: u64,
    inflight_longterm: u64,
    inflight_shortterm: u64,
    bw_latest: u64,
    inflight_latest: u64,
    // Aggregation.
    extra_acked_interval_start: Time,
    extra_acked_delivered: u64,
    /// Rounds and amounts, the amounts falling.
    extra_acked_filter: VecDeque<(u64, u64)>,
    extra_acked: u64,
    // The full pipe.
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: u64,
    full_bw_count: u32,
    // Losses.
    is_loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    /// Discontiguous ranges lost in the loss round, and where the last one ends.
    loss_ranges: u32,
    lost_end: u64,
    recovering: bool,
    prior_cwnd: u64,
    undo_state: Option<State>,
    undo_bw_shortterm: u64,
    undo_inflight_shortterm: u64,
    undo_inflight_longterm: u64,
    // Probing for bandwidth.
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Span,
    cycle_stamp: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    /// The window was filled in this round, and in the one before.
    filled_window: [bool; 2],
    // Round trips.
    min_rtt: Span,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Span,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    /// Of the transmission that the acknowledgement under way tells of, or of a lost one (2.3).
    tx_in_flight: u64,
    lost: u64,
    in_flight: u64,
    delivered: u64,
}

/// `bytes` times so many hundredths.
fn share(bytes: u64, hundredths: u64) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(hundredths) / 100).unwrap_or(u64::MAX)
}

impl CongestionControl for Bbr {
    const TAKES_SAMPLES: bool = true;

    fn new(_settings: &Settings) -> Bbr {
        let model = Model {
            smss_bytes: 1,
            initial_cwnd_bytes: 1,
            random: Stream::new(0, 0, "bbr"),
            state: State::Startup,
            pacing_rate: 0,
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
            inflight_longterm: NONE,
            inflight_shortterm: NONE,
            bw_latest: 0,
            inflight_latest: 0,
            extra_acked_interval_start: Time::ZERO,
            extra_acked_delivered: 0,
            extra_acked_filter: VecDeque::new(),
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
        // InitPacingRate without a round trip: a millisecond for it.
        self.model.pacing_rate = share(self.cwnd_bytes.saturating_mul(1000), STARTUP_PACING_GAIN);
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
                self.save_state_upon_loss();
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
    fn on_idle_end(&mut self, now: Time) {
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
        model.bw = model.max_bw.min(model.bw_shortterm);
        model.set_pacing_rate(model.state.pacing_gain());
        self.set_cwnd(delivery.newly_acked_bytes);
        self.tell_threshold();
        app_limited
    }
}

/// InflightAtLoss (5.5.10.2): where the share of losses crosses LossThresh, if that is within the lost
/// transmission.
fn inflight_at_loss(lost: &Lost) -> u64 {
    let bytes = lost.end - lost.start;
    let before = lost.in_flight_at_sent.saturating_sub(bytes);
    let lost_before = lost.lost_since_sent.saturating_sub(bytes);
    let prefix = share(before, LOSS_THRESH).saturating_sub(lost_before);
    let prefix = u128::from(prefix) * 100 / u128::from(100 - LOSS_THRESH);
    before + prefix as u64
}

impl Bbr {
    fn tell_threshold(&mut self) {
        self.ssthresh_bytes = if self.model.full_bw_reached { self.cwnd_bytes } else { u64::MAX };
    }

    /// SaveCwnd (5.6.4.4).
    fn save_cwnd(&mut self) {
        let model = &mut self.model;
        model.prior_cwnd = if !model.recovering && model.state != State::ProbeRtt {
            self.cwnd_bytes
        } else {
            model.prior_cwnd.max(self.cwnd_bytes)
        };
    }

    /// RestoreCwnd (5.6.4.4).
    fn restore_cwnd(&mut self) {
        self.cwnd_bytes = self.cwnd_bytes.max(self.model.prior_cwnd);
    }

    /// SaveStateUponLoss (5.5.11.1).
    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        let model = &mut self.model;
        model.undo_state = None;
        model.undo_bw_shortterm = model.bw_shortterm;
        model.undo_inflight_shortterm = model.inflight_shortterm;
        model.undo_inflight_longterm = model.inflight_longterm;
    }

    /// NoteLoss (5.5.10.2).
    fn note_loss(&mut self) {
        if !self.model.is_loss_in_round {
            self.model.loss_round_delivered = self.model.delivered;
            self.save_state_upon_loss();
        }
        self.model.is_loss_in_round = true;
    }

    /// TargetInflight (5.3.3.8.3).
    fn target_inflight(&self) -> u64 {
        self.model.bdp_multiple(self.model.bw, 100).min(self.cwnd_bytes)
    }

    /// HandleInflightTooHigh (5.5.10.2).
    fn handle_inflight_too_high(&mut self, app_limited: bool, now: Time) {
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
    fn update_congestion_signals(&mut self, delivery: &Delivery, rate: u64) {
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
    fn update_ack_aggregation(&mut self, delivery: &Delivery) {
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
        let rounds = if model.full_bw_reached { EXTRA_ACKED_FILTER_ROUNDS } else { 1 };
        let (filter, round) = (&mut model.extra_acked_filter, model.round_count);
        while filter.front().is_some_and(|&(at, _)| at + rounds < round) {
            filter.pop_front();
        }
        while filter.back().is_some_and(|&(_, amount)| amount <= extra) {
            filter.pop_back();
        }
        filter.push_back((round, extra));
        model.extra_acked = filter[0].1;
    }

    /// CheckStartupDone and CheckStartupHighLoss (5.3.1).
    fn check_startup_done(&mut self, delivery: &Delivery) {
        let model = &mut *self.model;
        if model.state == State::Startup && !model.full_bw_reached {
            let many = model.loss_ranges >= STARTUP_FULL_LOSS_COUNT;
            if model.loss_round_start && delivery.recovering && many && model.is_inflight_too_high() {
                model.undo_state = Some(State::Startup);
                (model.full_bw_reached, model.full_bw_now) = (true, true);
                model.inflight_longterm = model.bdp_multiple(model.bw, 100).max(model.inflight_latest);
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
    fn check_drain_done(&mut self, now: Time) {
        let model = &mut *self.model;
        if model.in_flight <= model.inflight(model.bw, 100)
            || model.round_count > model.drain_start_round + DRAIN_ROUNDS
        {
            model.start_probe_bw_down(now);
        }
    }

    /// UpdateProbeBWCyclePhase (5.3.3.9).
    fn update_probe_bw_cycle_phase(&mut self, delivery: &Delivery, rate: u64) {
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
        let is_time_to_probe = self.is_time_to_probe_bw(delivery.now);
        match self.model.state {
            State::ProbeBwDown | State::ProbeBwCruise if is_time_to_probe => {
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
    fn is_time_to_probe_bw(&self, now: Time) -> bool {
        let model = &self.model;
        let reno_rounds = (self.target_inflight() / model.smss_bytes.max(1)).min(MOST_RENO_ROUNDS);
        now > model.cycle_stamp + model.bw_probe_wait || model.rounds_since_probe_up >= reno_rounds
    }

    /// StartProbeBW_UP (5.3.3.9).
    fn start_probe_bw_up(&mut self, rate: u64) {
        let model = &mut *self.model;
        model.ack_phase = AckPhase::ProbeStarting;
        model.start_round();
        model.reset_full_bw();
        model.full_bw = rate;
        model.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// C.is_cwnd_limited.
    fn is_cwnd_limited(&self) -> bool {
        self.model.filled_window[0] || self.model.filled_window[1]
    }

    /// IsTimeToGoDown (5.3.3.9).
    fn is_time_to_go_down(&mut self, rate: u64) -> bool {
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
    fn raise_inflight_longterm_slope(&mut self) {
        let model = &mut *self.model;
        let growth = 1u64 << model.bw_probe_up_rounds;
        model.bw_probe_up_rounds = (model.bw_probe_up_rounds + 1).min(30);
        model.probe_up_acked_per_inc = (self.cwnd_bytes / growth).max(model.smss_bytes).max(1);
    }

    /// ProbeInflightLongtermUpward (5.3.3.9).
    fn probe_inflight_longterm_upward(&mut self, newly_acked: u64) {
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
    fn adapt_long_term_model(&mut self, delivery: &Delivery) -> bool {
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
    fn check_probe_rtt(&mut self, delivery: &Delivery) -> bool {
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
    fn handle_probe_rtt(&mut self, now: Time) {
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
    fn check_probe_rtt_done(&mut self, now: Time) {
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
    fn set_cwnd(&mut self, newly_acked: u64) {
        let model = &*self.model;
        let least = MIN_PIPE_SEGMENTS * model.smss_bytes;
        let max_inflight = model.quantized(
            model.bdp_multiple(model.bw, model.state.cwnd_gain()).saturating_add(model.extra_acked),
        );
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

/// What a rate in octets a second sends in a time.
fn product(rate: u64, time: Span) -> u64 {
    let bytes = u128::from(rate) * u128::from(time.as_ns()) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Model {
    /// InitPacingRate (5.6.2).
    fn init_pacing_rate(&mut self, rtt: Span) {
        self.has_round_trip = true;
        let ns = u128::from(rtt.as_ns().max(1));
        let nominal = u128::from(self.initial_cwnd_bytes) * 1_000_000_000 / ns;
        self.pacing_rate = share(u64::try_from(nominal).unwrap_or(u64::MAX), STARTUP_PACING_GAIN).max(1);
    }

    /// SetPacingRateWithGain (5.6.2).
    fn set_pacing_rate(&mut self, gain: u64) {
        let rate = share(share(self.bw, gain), 100 - PACING_MARGIN);
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate.max(1);
        }
    }

    /// BDPMultiple (5.6.4.2).
    fn bdp_multiple(&self, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == Span::MAX {
            return self.initial_cwnd_bytes;
        }
        share(product(bw, self.min_rtt), gain)
    }

    /// QuantizationBudget (5.6.4.2) with the send quantum of section 5.6.3.
    fn quantized(&self, bytes: u64) -> u64 {
        let quantum = (self.pacing_rate / 1000).min(MOST_QUANTUM_BYTES).max(2 * self.smss_bytes);
        let cap = bytes.max(3 * quantum).max(MIN_PIPE_SEGMENTS * self.smss_bytes);
        if self.state == State::ProbeBwUp { cap.saturating_add(2 * self.smss_bytes) } else { cap }
    }

    /// Inflight (5.6.4.2).
    fn inflight(&self, bw: u64, gain: u64) -> u64 {
        self.quantized(self.bdp_multiple(bw, gain))
    }

    /// InflightWithHeadroom (5.3.3.9).
    fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == NONE {
            return NONE;
        }
        let headroom = share(self.inflight_longterm, HEADROOM).max(self.smss_bytes);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE_SEGMENTS * self.smss_bytes)
    }

    /// ProbeRTTCwnd (5.6.4.5).
    fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.bw, PROBE_RTT_CWND_GAIN).max(MIN_PIPE_SEGMENTS * self.smss_bytes)
    }

    /// IsInflightTooHigh (5.5.10.2).
    fn is_inflight_too_high(&self) -> bool {
        u128::from(self.lost) * 100 > u128::from(self.tx_in_flight) * u128::from(LOSS_THRESH)
    }

    /// IsTimeToCruise (5.3.3.9).
    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.inflight_with_headroom() && self.in_flight <= self.inflight(self.max_bw, 100)
    }

    /// StartRound (5.5.1).
    fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// ResetFullBW (5.3.1.2).
    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    /// ResetShortTermModel (5.5.10.3).
    fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (NONE, NONE);
    }

    /// UpdateLatestDeliverySignals (5.5.10.3).
    fn update_latest_delivery_signals(&mut self, delivery: &Delivery, rate: u64) {
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(delivery.sample.delivered_bytes);
        self.loss_round_start = delivery.sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// UpdateMaxBw (5.5.5) and UpdateRound (5.5.1).
    fn update_max_bw(&mut self, delivery: &Delivery, rate: u64) {
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
    fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[1] > 0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0];
            self.max_bw = self.max_bw_filter[0];
        }
    }

    /// CheckFullBWReached (5.3.1.2).
    fn check_full_bw_reached(&mut self, delivery: &Delivery, rate: u64) {
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
    fn start_probe_bw_down(&mut self, now: Time) {
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
    fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// UpdateMinRTT (5.3.4.3).
    fn update_min_rtt(&mut self, delivery: &Delivery) {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::{CubicRules, VegasThresholds};
    use crate::tcp::sent::RateSample;

    const SMSS: u64 = 1000;
    const RTT: Span = Span::from_ms(100);

    /// A control of segments of 1000 octets that has seen a handshake of 100 ms at 0 s.
    fn control() -> Bbr {
        let mut bbr = Bbr::new(&Settings {
            initial_ssthresh_bytes: None,
            vegas: VegasThresholds::default(),
            cubic_rules: CubicRules::Rfc9438,
            fast_convergence: true,
            abe: false,
            law: None,
        });
        bbr.start(SMSS, 10 * SMSS);
        bbr.on_handshake(Time::ZERO, Some(RTT));
        bbr
    }

    /// Rounds of 100 ms, of one acknowledgement each.
    struct Path {
        bbr: Bbr,
        now: Time,
        delivered: u64,
    }

    impl Path {
        fn new() -> Path {
            Path { bbr: control(), now: Time::ZERO, delivered: 0 }
        }

        /// A round that delivers so many octets, and leaves so many in flight; `edit` changes the rest.
        fn round_with(&mut self, bytes: u64, in_flight: u64, edit: impl FnOnce(&mut Delivery)) {
            let prior_delivered = self.delivered;
            self.now += RTT;
            self.delivered += bytes;
            let mut delivery = Delivery {
                now: self.now,
                sample: RateSample {
                    delivered_bytes: bytes,
                    interval: RTT,
                    prior_delivered,
                    in_flight_at_sent: bytes,
                    ..RateSample::default()
                },
                rtt: Some(RTT),
                newly_acked_bytes: bytes,
                delivered_bytes: self.delivered,
                in_flight_bytes: in_flight,
                recovering: false,
            };
            edit(&mut delivery);
            self.bbr.on_delivery(&delivery);
        }

        fn round(&mut self, bytes: u64, in_flight: u64) {
            self.round_with(bytes, in_flight, |_| {});
        }

        fn state(&self) -> State {
            self.bbr.model.state
        }

        /// Rounds of 100,000 octets until a state begins; their number.
        fn until(&mut self, state: State, in_flight: u64) -> usize {
            let mut rounds = 0;
            while self.state() != state {
                self.round(100_000, in_flight);
                rounds += 1;
                assert!(rounds < 100, "{:?} in place of {state:?}", self.state());
            }
            rounds
        }

        /// In ProbeBW_CRUISE with 100,000 octets in a round: 1 MB/s.
        fn cruising() -> Path {
            let mut path = Path::new();
            [10_000, 20_000, 40_000, 80_000, 100_000].iter().for_each(|bytes| path.round(*bytes, 2 * bytes));
            (0..4).for_each(|_| path.round(100_000, 200_000));
            assert_eq!(path.state(), State::Drain);
            path.round(100_000, 90_000);
            assert_eq!(path.state(), State::ProbeBwCruise);
            path
        }

        /// Behind as many rounds as it takes, in ProbeBW_UP.
        fn probing() -> Path {
            let mut path = Path::cruising();
            path.until(State::ProbeBwUp, 100_000);
            path
        }
    }

    #[test]
    fn startup_doubles_and_ends_after_three_rounds_without_a_quarter_more() {
        let mut path = Path::new();
        // 10,000 octets in 100 ms, times 2.77.
        assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(277_000));
        // 100,000 octets a second: 2.77 of 0.99 of it are less than that, which stays until the pipe is full.
        path.round(10_000, 20_000);
        assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(277_000));
        path.round(20_000, 40_000);
        assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(548_460));
        // 1.25 of it is growth; 1.24 is not, and counts against the last that was.
        path.round(25_000, 50_000);
        path.round(31_000, 60_000);
        path.round(31_000, 60_000);
        assert_eq!((path.state(), path.bbr.model.full_bw_count), (State::Startup, 2));
        assert_eq!(path.bbr.ssthresh_bytes(), u64::MAX);
        path.round(31_000, 60_000);
        assert_eq!(path.state(), State::Drain);
        // 310,000 * 0.99, halved.
        assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(153_450));
        assert_eq!(path.bbr.ssthresh_bytes(), path.bbr.cwnd_bytes());
    }

    #[test]
    fn rounds_that_the_application_limits_do_not_end_startup() {
        let mut path = Path::new();
        for _ in 0..10 {
            path.round_with(10_000, 10_000, |delivery| delivery.sample.app_limited = true);
        }
        assert_eq!(path.state(), State::Startup);
    }

    #[test]
    fn drain_ends_with_the_product_in_flight_or_in_the_fourth_round() {
        let drained = |in_flight: u64| {
            let mut path = Path::new();
            (0..4).for_each(|_| path.round(100_000, 200_000));
            assert_eq!(path.state(), State::Drain);
            (1..10)
                .find(|_| {
                    path.round(100_000, in_flight);
                    path.state() != State::Drain
                })
                .map(|rounds| (rounds, path.state()))
        };
        // What is in flight lets DOWN end at once as well.
        assert_eq!(drained(100_000), Some((1, State::ProbeBwCruise)));
        assert_eq!(drained(100_001), Some((4, State::ProbeBwDown)));
    }

    #[test]
    fn a_startup_with_six_lost_ranges_above_two_per_cent_ends() {
        let lossy = |ranges: u64, lost: u64| {
            let mut path = Path::new();
            path.round(50_000, 100_000);
            let losses: Vec<Lost> = (0..ranges)
                .map(|i| Lost { start: 4000 * i + 1, end: 4000 * i + 1001, ..Lost::default() })
                .collect();
            path.bbr.on_losses(&losses, 80_000, path.delivered, path.now);
            path.round_with(100_000, 80_000, |delivery| {
                delivery.recovering = true;
                delivery.sample.lost_since_sent = lost;
            });
            (path.state(), path.bbr.model.inflight_longterm)
        };
        assert_eq!(lossy(6, 2001).0, State::Drain);
        // The larger of the product, 50,000 before this round, and what was delivered.
        assert_eq!(lossy(6, 2001).1, 100_000);
        assert_eq!(lossy(5, 2001).0, State::Startup);
        assert_eq!(lossy(6, 2000).0, State::Startup);
    }

    #[test]
    fn a_loss_while_cruising_takes_the_rate_down_to_what_arrives_but_not_below_seven_tenths() {
        for (arrives, bw) in [(95_000, 950_000), (60_000, 700_000)] {
            let mut path = Path::cruising();
            // The rates of the round before count until a loss round has ended.
            path.round(arrives, 90_000);
            let lost = Lost { start: 1, end: 1001, ..Lost::default() };
            path.bbr.on_losses(&[lost], 90_000, path.delivered, path.now);
            path.round(arrives, 90_000);
            assert_eq!(path.bbr.model.bw, bw);
            assert_eq!(path.bbr.model.inflight_longterm, NONE);
        }
    }

    #[test]
    fn probing_raises_rate_and_window_and_ends_where_the_rate_does_not_grow() {
        let mut path = Path::probing();
        // 1,000,000 * 1.25 * 0.99; 2.25 products, aggregation of a round, and two segments.
        assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(1_237_500));
        let gained = path.bbr.model.quantized(225_000 + path.bbr.model.extra_acked);
        assert_eq!(gained, 227_000 + path.bbr.model.extra_acked);
        for _ in 0..2 {
            path.round(100_000, 125_000);
            assert_eq!(path.state(), State::ProbeBwUp);
        }
        path.round(100_000, 125_000);
        assert_eq!(path.state(), State::ProbeBwDown);
        assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(891_000));
    }

    #[test]
    fn losses_above_two_per_cent_while_probing_bound_the_flight_and_caution_follows() {
        let mut path = Path::probing();
        let lost = |lost_since_sent| Lost {
            start: 1,
            end: 1001,
            in_flight_at_sent: 120_000,
            lost_since_sent,
            app_limited: false,
        };
        path.bbr.on_losses(&[lost(2400)], 110_000, path.delivered, path.now);
        assert_eq!((path.state(), path.bbr.model.inflight_longterm), (State::ProbeBwUp, NONE));
        path.bbr.on_losses(&[lost(2401)], 110_000, path.delivered, path.now);
        // 119,000 before it, of which 1401 were lost: (2380 - 1401) / 0.98 more cross the threshold.
        assert_eq!((path.state(), path.bbr.model.inflight_longterm), (State::ProbeBwDown, 119_998));
        assert!(path.bbr.model.prev_probe_too_high);
        // Headroom: 0.85 of it while cruising.
        path.round(100_000, 95_000);
        assert_eq!((path.state(), path.bbr.cwnd_bytes()), (State::ProbeBwCruise, 101_999));
        // The next probe stops where the flight reaches the bound, and another follows at once.
        path.bbr.model.probe_rtt_min_stamp = path.now;
        path.until(State::ProbeBwUp, 100_000);
        path.round(100_000, 119_998);
        assert_eq!(path.state(), State::ProbeBwDown);
        path.round(100_000, 119_998);
        assert_eq!(path.state(), State::ProbeBwRefill);
    }

    #[test]
    fn the_bound_on_the_flight_is_raised_by_one_two_and_four_segments() {
        let mut path = Path::probing();
        path.bbr.model.inflight_longterm = 100_000;
        path.bbr.cwnd_bytes = 100_000;
        path.bbr.model.probe_up_acked_per_inc = 100_000;
        for bound in [101_000, 103_000, 107_000] {
            path.bbr.on_sent(path.bbr.cwnd_bytes);
            // The acknowledgements of a round that do not raise the bound tell that it limits the rate.
            path.bbr.model.full_bw_count = 0;
            let in_use = path.bbr.cwnd_bytes;
            // A window is acknowledged: as many octets as it takes for each segment of growth.
            path.round_with(100_000, in_use - 1, |delivery| delivery.newly_acked_bytes = in_use);
            assert_eq!((path.state(), path.bbr.model.inflight_longterm), (State::ProbeBwUp, bound));
        }
    }

    #[test]
    fn a_needless_recovery_gives_window_and_probe_back() {
        let mut path = Path::probing();
        let (cwnd, before) = (path.bbr.cwnd_bytes(), path.bbr.clone());
        let lost = Lost {
            start: 1,
            end: 1001,
            in_flight_at_sent: 20_000,
            lost_since_sent: 1000,
            app_limited: false,
        };
        path.bbr.on_losses(&[lost], 110_000, path.delivered, path.now);
        path.bbr.on_congestion(Cause::FastRetransmit { flight_bytes: 110_000 });
        path.round_with(50_000, 20_000, |delivery| delivery.recovering = true);
        assert!(path.bbr.cwnd_bytes() < cwnd && path.state() != State::ProbeBwUp);
        path.bbr.undo(before);
        assert_eq!((path.bbr.cwnd_bytes(), path.bbr.model.inflight_longterm), (cwnd, NONE));
        assert_eq!(path.state(), State::ProbeBwRefill);
    }

    #[test]
    fn a_timeout_leaves_room_for_a_segment_and_its_end_gives_the_window_back() {
        let mut path = Path::cruising();
        let lost = Lost { start: 1, end: 80_001, ..Lost::default() };
        path.bbr.on_losses(&[lost], 10_000, path.delivered, path.now);
        path.bbr.on_congestion(Cause::Timeout { flight_bytes: 90_000, repeated: false, repairing: false });
        assert_eq!(path.bbr.cwnd_bytes(), 11_000);
        path.round_with(2000, 10_000, |delivery| delivery.recovering = true);
        assert_eq!(path.bbr.cwnd_bytes(), 13_000);
        path.round(2000, 10_000);
        // The window of before, bounded by what was delivered in the round of the loss: inflight_shortterm.
        assert_eq!(path.bbr.cwnd_bytes(), 100_000);
    }

    #[test]
    fn the_smallest_round_trip_of_ten_seconds_counts() {
        let mut path = Path::cruising();
        path.round_with(100_000, 90_000, |delivery| delivery.rtt = Some(Span::from_ms(90)));
        assert_eq!(path.bbr.model.min_rtt, Span::from_ms(90));
        let since = path.now;
        for _ in 0..100 {
            assert!(path.now <= since + MIN_RTT_FILTER);
            assert_eq!(path.bbr.model.min_rtt, Span::from_ms(90));
            path.round(100_000, 90_000);
        }
        path.round(100_000, 90_000);
        assert_eq!(path.bbr.model.min_rtt, Span::from_ms(100));
    }
}
