//! BBR version 1, as hosts run it: Cardwell et al., "BBR: Congestion-Based Congestion Control" (ACM Queue
//! 14(5), 2016) and draft-cardwell-iccrg-bbr-congestion-control-00 (2017), with the rules of Linux 6.12
//! (`tcp_bbr`). Names are the draft's; constants are those of Linux.
//!
//! The control keeps a model of the path: `max_bw`, the highest rate of delivery of ten rounds, and
//! `min_rtt`, the smallest round trip of ten seconds. It sends at a multiple of the rate, and keeps two of
//! their products in flight, whatever is lost.
//!
//! | state | pacing gain | cwnd gain | until |
//! |---|---|---|---|
//! | Startup | 2.89 | 2.89 | three rounds without a quarter more |
//! | Drain | 0.34 | 2.89 | the flight is the product |
//! | ProbeBW, first phase | 1.25 | 2 | behind a `min_rtt`, 1.25 products are in flight or something is lost |
//! | ProbeBW, second phase | 0.75 | 2 | a `min_rtt` has passed, or the flight is the product |
//! | ProbeBW, six more phases | 1 | 2 | a `min_rtt` each |
//! | ProbeRTT | 1 | four segments | 200 ms and one round |
//!
//! From Linux come the [long-term rate](policer), the room for acknowledgements that come together, and the
//! window in recoveries: one round of packet conservation, and the window from before at the end.
//!
//! Not modelled: data that waits for its pacer below TCP, which Linux leaves out of the flight that ends a
//! phase. Here it waits in TCP. `max_bw` is the exact maximum; Linux's filter keeps three
//! candidates. Linux takes no round trip of a single short segment for an older one of ten seconds. What the
//! timer for reordered segments takes as lost counts with the next acknowledgement, in Linux with none.
//! A silence behind the peer's closed window counts as one of the application.

mod policer;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use roamsim_engine::{Span, Stream, Time};

use super::keys::Refusal;
use super::{Ack, Cause, CongestionControl, Delivery, Settings, bbr};
use crate::tcp::proportion::{product, proportion, rate};
use crate::tcp::sent::Lost;
use policer::{Policer, Seen};

/// Gains are in 256ths.
const UNIT: u64 = 256;
/// Of Startup: 2 / ln 2.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Of Drain.
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Of the phases of ProbeBW.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Of the window in ProbeBW.
const CWND_GAIN: u64 = 2 * UNIT;
/// Hundredths by which the rate stays below the model.
const PACING_MARGIN: u64 = 1;
/// Rounds in which a rate counts behind its own.
const MAX_BW_ROUNDS: u64 = 10;
/// Growth that tells of more to come, in 256ths, and rounds without it that fill the pipe.
const FULL_BW_GROWTH: u64 = UNIT * 5 / 4;
const FULL_BW_ROUNDS: u32 = 3;
const MIN_RTT_FILTER: Span = Span::from_secs(10);
const PROBE_RTT_DURATION: Span = Span::from_ms(200);
/// The smallest window in segments.
const MIN_PIPE_SEGMENTS: u64 = 4;
/// The smallest burst has two segments from this rate on, and one below.
const TWO_SEGMENTS_FROM_BYTES_PER_S: u64 = 150_000;
/// The largest burst: 64 KiB less the largest header.
const MOST_BURST_BYTES: u64 = 65_536 - 1 - 320;
const MOST_BURST_SEGMENTS: u64 = 127;
/// Octets beyond the rate are the most of five to ten rounds, and of no more than this time.
const EXTRA_ACKED_ROUNDS: u32 = 5;
const EXTRA_ACKED_TIME: Span = Span::from_ms(100);
/// They are counted anew after so many segments.
const EXTRA_ACKED_SEGMENTS: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    Fast,
    Timeout,
}

/// BBR version 1: window and rate, and the model behind them.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law
pub struct Bbr1 {
    cwnd_bytes: u64,
    /// Arbitrarily high in Startup; the product at its end from there on.
    ssthresh_bytes: u64,
    model: Box<Model>,
}

#[derive(Clone, Debug)]
struct Model {
    state: State,
    /// The phase of ProbeBW, and when it began.
    cycle_index: usize,
    cycle_stamp: Time,
    smss_bytes: u64,
    initial_cwnd_bytes: u64,
    pacing_rate: u64,
    /// A round trip has set the pacing rate.
    has_round_trip: bool,
    in_flight: u64,
    delivered: u64,
    /// When the last of them were, or sending began behind a silence.
    delivered_at: Time,
    /// Octets lost so far, and those of them that came since the last acknowledgement.
    lost: u64,
    just_lost: u64,
    // Rounds.
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    /// Rates and their rounds that may still become the highest, falling.
    rates: VecDeque<(u64, u64)>,
    policer: Policer,
    min_rtt: Span,
    min_rtt_stamp: Time,
    // Startup.
    full_bw: u64,
    full_bw_count: u32,
    full_bw_reached: bool,
    // ProbeRTT.
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    // Recoveries.
    /// What was repaired at the last acknowledgement, and by the last congestion that was told.
    repair: Repair,
    cause: Repair,
    packet_conservation: bool,
    prior_cwnd: u64,
    // Acknowledgements that come together.
    /// The largest excess of two spans of rounds, which alternate.
    extra_acked: [u64; 2],
    extra_acked_turn: usize,
    extra_acked_rounds: u32,
    ack_epoch_stamp: Time,
    ack_epoch_bytes: u64,
    random: Stream,
}

impl Model {
    fn max_bw(&self) -> u64 {
        self.rates.front().map_or(0, |&(rate, _)| rate)
    }

    fn bw(&self) -> u64 {
        self.policer.bw().unwrap_or_else(|| self.max_bw())
    }

    fn pacing_gain(&self) -> u64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => DRAIN_GAIN,
            State::ProbeBw if self.policer.bw().is_none() => CYCLE[self.cycle_index],
            State::ProbeBw | State::ProbeRtt => UNIT,
        }
    }

    fn cwnd_gain(&self) -> u64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw => CWND_GAIN,
            State::ProbeRtt => UNIT,
        }
    }

    /// What a rate times a gain sends, in octets a second.
    fn paced(bw: u64, gain: u64) -> u64 {
        proportion(proportion(bw, gain, UNIT), 100 - PACING_MARGIN, 100).max(1)
    }

    /// The initial window in a round trip.
    fn init_pacing_rate(&mut self, cwnd_bytes: u64, rtt: Span) {
        self.pacing_rate = Model::paced(rate(cwnd_bytes, rtt), HIGH_GAIN);
    }

    fn set_pacing_rate(&mut self, cwnd_bytes: u64, rtt: Option<Span>, gain: u64) {
        if let Some(rtt) = rtt.filter(|_| !self.has_round_trip) {
            self.has_round_trip = true;
            self.init_pacing_rate(cwnd_bytes, rtt);
        }
        let rate = Model::paced(self.bw(), gain);
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// What goes at once, in segments.
    fn burst_segments(&self) -> u64 {
        let least = if self.pacing_rate < TWO_SEGMENTS_FROM_BYTES_PER_S { 1 } else { 2 };
        let bytes = (self.pacing_rate >> 10).min(MOST_BURST_BYTES);
        (bytes / self.smss_bytes).max(least).min(MOST_BURST_SEGMENTS)
    }

    /// A multiple of what a rate sends in `min_rtt`, in whole segments; without a round trip the initial
    /// window.
    fn bdp_bytes(&self, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == Span::MAX {
            return self.initial_cwnd_bytes;
        }
        let bytes = proportion(product(bw, self.min_rtt), gain, UNIT);
        bytes.div_ceil(self.smss_bytes).saturating_mul(self.smss_bytes)
    }

    /// With room for what waits at both ends: three bursts, up to an even number of segments.
    fn quantized(&self, bytes: u64) -> u64 {
        let segments = (bytes / self.smss_bytes).saturating_add(3 * self.burst_segments());
        let probes = self.state == State::ProbeBw && self.cycle_index == 0;
        (segments.saturating_add(1) & !1)
            .saturating_add(if probes { 2 } else { 0 })
            .saturating_mul(self.smss_bytes)
    }

    /// A multiple of what a rate keeps in flight.
    fn inflight(&self, bw: u64, gain: u64) -> u64 {
        self.quantized(self.bdp_bytes(bw, gain))
    }

    fn advance_cycle_phase(&mut self, now: Time) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.cycle_stamp = now;
    }

    /// ProbeBW begins with any phase but the second.
    fn start_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cycle_index = CYCLE.len() - 1 - self.random.below(CYCLE.len() as u64 - 1) as usize;
        self.advance_cycle_phase(now);
    }

    fn seen(&self, now: Time, has_losses: bool, app_limited: bool) -> Seen {
        Seen {
            now,
            delivered: self.delivered,
            lost: self.lost,
            has_losses,
            app_limited,
            round_start: self.round_start,
            probes_bw: self.state == State::ProbeBw,
        }
    }

    /// The rounds, the long-term rate, and the highest rate.
    fn update_bw(&mut self, delivery: &Delivery, lost: u64) {
        let sample = &delivery.sample;
        self.round_start = false;
        if sample.interval == Span::ZERO {
            return;
        }
        if sample.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = self.delivered;
            self.round_count += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        let seen = self.seen(delivery.now, lost > 0, sample.app_limited);
        if self.policer.take(seen) {
            self.start_probe_bw(delivery.now);
        }
        let rate = sample.rate_bytes_per_s();
        if !sample.app_limited || rate >= self.max_bw() {
            self.note_rate(rate);
        }
    }

    /// A rate of this round counts for ten more.
    fn note_rate(&mut self, rate: u64) {
        let round = self.round_count;
        while self.rates.back().is_some_and(|&(older, _)| older <= rate) {
            self.rates.pop_back();
        }
        if self.rates.back().is_none_or(|&(_, of)| of != round) {
            self.rates.push_back((rate, round));
        }
        while self.rates.front().is_some_and(|&(_, of)| round - of > MAX_BW_ROUNDS) {
            self.rates.pop_front();
        }
    }

    /// What comes beyond the rate, when acknowledgements come together.
    fn update_ack_aggregation(&mut self, delivery: &Delivery, cwnd_bytes: u64) {
        let acked = delivery.newly_acked_bytes;
        if acked == 0 || delivery.sample.interval == Span::ZERO {
            return;
        }
        if self.round_start {
            self.extra_acked_rounds += 1;
            if self.extra_acked_rounds >= EXTRA_ACKED_ROUNDS {
                self.extra_acked_rounds = 0;
                self.extra_acked_turn = 1 - self.extra_acked_turn;
                self.extra_acked[self.extra_acked_turn] = 0;
            }
        }
        let epoch = delivery.now.since(self.ack_epoch_stamp);
        let mut expected = product(self.bw(), epoch);
        let is_long = self.ack_epoch_bytes + acked >= EXTRA_ACKED_SEGMENTS * self.smss_bytes;
        if self.ack_epoch_bytes <= expected || is_long {
            (self.ack_epoch_bytes, self.ack_epoch_stamp) = (0, delivery.now);
            expected = 0;
        }
        self.ack_epoch_bytes += acked;
        let extra = (self.ack_epoch_bytes - expected).min(cwnd_bytes);
        let most = &mut self.extra_acked[self.extra_acked_turn];
        *most = extra.max(*most);
    }

    /// The same, of which the window has room for.
    fn aggregated_bytes(&self) -> u64 {
        if !self.full_bw_reached {
            return 0;
        }
        let most = product(self.bw(), EXTRA_ACKED_TIME);
        self.extra_acked[0].max(self.extra_acked[1]).min(most)
    }

    /// Whether a phase of ProbeBW is over.
    fn is_next_cycle_phase(&self, delivery: &Delivery, lost: u64) -> bool {
        let is_full_length = delivery.now.since(self.cycle_stamp) > self.min_rtt;
        let gain = self.pacing_gain();
        if gain == UNIT {
            return is_full_length;
        }
        // Before this acknowledgement.
        let in_flight = delivery.in_flight_bytes + delivery.newly_acked_bytes + lost;
        if gain > UNIT {
            is_full_length && (lost > 0 || in_flight >= self.inflight(self.max_bw(), gain))
        } else {
            is_full_length || in_flight <= self.inflight(self.max_bw(), UNIT)
        }
    }

    fn check_full_bw_reached(&mut self, app_limited: bool) {
        if self.full_bw_reached || !self.round_start || app_limited {
            return;
        }
        if self.max_bw() >= proportion(self.full_bw, FULL_BW_GROWTH, UNIT) {
            (self.full_bw, self.full_bw_count) = (self.max_bw(), 0);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_reached = self.full_bw_count >= FULL_BW_ROUNDS;
    }
}

impl Bbr1 {
    /// The window to come back to.
    fn save_cwnd(&mut self) {
        let model = &mut *self.model;
        let is_good = model.repair == Repair::None && model.state != State::ProbeRtt;
        model.prior_cwnd = if is_good { self.cwnd_bytes } else { model.prior_cwnd.max(self.cwnd_bytes) };
    }

    fn check_drain(&mut self, now: Time) {
        let model = &mut *self.model;
        if model.state == State::Startup && model.full_bw_reached {
            model.state = State::Drain;
            self.ssthresh_bytes = model.inflight(model.max_bw(), UNIT);
        }
        if model.state == State::Drain && model.in_flight <= model.inflight(model.max_bw(), UNIT) {
            model.start_probe_bw(now);
        }
    }

    /// True in ProbeRTT, with its end.
    fn update_min_rtt(&mut self, delivery: &Delivery) -> bool {
        let now = delivery.now;
        let model = &mut *self.model;
        let is_expired = now > model.min_rtt_stamp + MIN_RTT_FILTER;
        if let Some(rtt) = delivery.rtt.filter(|&rtt| rtt < model.min_rtt || is_expired) {
            (model.min_rtt, model.min_rtt_stamp) = (rtt, now);
        }
        if is_expired && !model.idle_restart && model.state != State::ProbeRtt {
            // In this order an older window stays, if it was wider.
            (model.state, model.probe_rtt_done_stamp) = (State::ProbeRtt, None);
            self.save_cwnd();
        }
        let model = &mut *self.model;
        let probes_rtt = model.state == State::ProbeRtt;
        if probes_rtt {
            if model.probe_rtt_done_stamp.is_some() {
                model.probe_rtt_round_done |= model.round_start;
                if model.probe_rtt_round_done {
                    self.check_probe_rtt_done(now);
                }
            } else if model.in_flight <= MIN_PIPE_SEGMENTS * model.smss_bytes {
                model.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
                model.probe_rtt_round_done = false;
                model.next_round_delivered = model.delivered;
            }
        }
        self.model.idle_restart &= delivery.sample.delivered_bytes == 0;
        probes_rtt
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.model.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.cwnd_bytes = self.cwnd_bytes.max(self.model.prior_cwnd);
        let model = &mut *self.model;
        model.min_rtt_stamp = now;
        if model.full_bw_reached {
            model.start_probe_bw(now);
        } else {
            model.state = State::Startup;
        }
    }

    /// The window towards its target, or amid losses.
    fn set_cwnd(&mut self, delivery: &Delivery, lost: u64) {
        let acked = delivery.newly_acked_bytes;
        if acked > 0 && !self.conserves_packets(delivery, lost) {
            let model = &*self.model;
            let bdp = model.bdp_bytes(model.bw(), model.cwnd_gain());
            let target = model.quantized(bdp.saturating_add(model.aggregated_bytes()));
            if model.full_bw_reached {
                self.cwnd_bytes = (self.cwnd_bytes + acked).min(target);
            } else if self.cwnd_bytes < target || model.delivered < model.initial_cwnd_bytes {
                self.cwnd_bytes += acked;
            }
            self.cwnd_bytes = self.cwnd_bytes.max(MIN_PIPE_SEGMENTS * model.smss_bytes);
        }
        if self.model.state == State::ProbeRtt {
            self.cwnd_bytes = self.cwnd_bytes.min(MIN_PIPE_SEGMENTS * self.model.smss_bytes);
        }
    }

    /// The window less what is lost; at the end of a repair the one from before. True in the first round of a
    /// fast one, which sends as much as arrives.
    fn conserves_packets(&mut self, delivery: &Delivery, lost: u64) -> bool {
        let model = &mut *self.model;
        if lost > 0 {
            self.cwnd_bytes = self.cwnd_bytes.saturating_sub(lost).max(model.smss_bytes);
        }
        let repair = if delivery.recovering { model.cause } else { Repair::None };
        let before = std::mem::replace(&mut model.repair, repair);
        // Linux counts packets, short ones too.
        let conserved = (model.in_flight + delivery.newly_acked_bytes).max(model.smss_bytes);
        if repair == Repair::Fast && before != Repair::Fast {
            model.packet_conservation = true;
            model.next_round_delivered = model.delivered;
            self.cwnd_bytes = conserved;
        } else if before != Repair::None && repair == Repair::None {
            self.cwnd_bytes = self.cwnd_bytes.max(model.prior_cwnd);
            model.packet_conservation = false;
        }
        if model.packet_conservation {
            self.cwnd_bytes = self.cwnd_bytes.max(conserved);
        }
        model.packet_conservation
    }
}

impl CongestionControl for Bbr1 {
    const NAME: &str = "bbr1";
    const ABOUT: Option<&str> = Some("BBR version 1 (Linux's `bbr`)");
    const VARIANT: Option<&str> = Some(
        "A rate and a window from a model of the path, with RACK and pacing (BBR version 1: `bbr` of Linux 6.12).",
    );
    const REFUSES: &[Refusal] = bbr::REFUSES;
    const TAKES_SAMPLES: bool = true;

    fn new(_settings: &Settings) -> Bbr1 {
        let model = Model {
            state: State::Startup,
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            smss_bytes: 1,
            initial_cwnd_bytes: 1,
            pacing_rate: 1,
            has_round_trip: false,
            in_flight: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            lost: 0,
            just_lost: 0,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            rates: VecDeque::new(),
            policer: Policer::default(),
            min_rtt: Span::MAX,
            min_rtt_stamp: Time::ZERO,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_reached: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            repair: Repair::None,
            cause: Repair::None,
            packet_conservation: false,
            prior_cwnd: 0,
            extra_acked: [0; 2],
            extra_acked_turn: 0,
            extra_acked_rounds: 0,
            ack_epoch_stamp: Time::ZERO,
            ack_epoch_bytes: 0,
            random: Stream::new(0, 0, "bbr1"),
        };
        Bbr1 { cwnd_bytes: 1, ssthresh_bytes: u64::MAX, model: Box::new(model) }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.cwnd_bytes = initial_window_bytes.max(smss_bytes);
        self.model.smss_bytes = smss_bytes;
        self.model.initial_cwnd_bytes = self.cwnd_bytes;
        // Before the first round trip: as if it took a millisecond.
        self.model.init_pacing_rate(self.cwnd_bytes, Span::from_ms(1));
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
        let model = &mut *self.model;
        (model.min_rtt_stamp, model.ack_epoch_stamp, model.delivered_at) = (now, now, now);
        if let Some(rtt) = rtt {
            model.min_rtt = rtt;
            model.has_round_trip = true;
            model.init_pacing_rate(self.cwnd_bytes, rtt);
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            Cause::FastRetransmit { .. } | Cause::EcnEcho { .. } => {
                self.save_cwnd();
                self.model.cause = Repair::Fast;
            }
            // It ends a round, and tells the search for a policer of a loss, as if with the last delivery.
            Cause::Timeout { .. } | Cause::GoBack { .. } => {
                self.save_cwnd();
                let model = &mut *self.model;
                (model.repair, model.cause) = (Repair::Timeout, Repair::Timeout);
                (model.full_bw, model.round_start) = (0, true);
                // What the timer has taken as lost is no news of the next acknowledgement.
                model.just_lost = 0;
                let at = model.delivered_at;
                if model.policer.take(model.seen(at, true, false)) {
                    model.start_probe_bw(at);
                }
                self.cwnd_bytes = model.in_flight + model.smss_bytes;
            }
            // The window stays; the model bounds it.
            Cause::Idle { .. } => {}
        }
    }

    /// The end of a repair is heard of with the acknowledgement that brings it.
    fn on_recovered(&mut self, _cwnd_bytes: u64) {}

    /// The window comes back with the end of the repair. The pipe may be fuller than it seemed.
    fn undo(&mut self, _before: Bbr1) {
        let model = &mut *self.model;
        (model.full_bw, model.full_bw_count) = (0, 0);
        model.policer.forget();
    }

    #[inline]
    fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
        Some(self.model.pacing_rate)
    }

    fn state_name(&self) -> Option<&'static str> {
        Some(match self.model.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw => match self.model.pacing_gain() {
                UNIT => "probe_bw_cruise",
                gain if gain > UNIT => "probe_bw_up",
                _ => "probe_bw_down",
            },
            State::ProbeRtt => "probe_rtt",
        })
    }

    /// It goes on at the rate of the path, which leaves no queue.
    fn on_idle_end(&mut self, now: Time, _last_sent_at: Time) {
        let model = &mut *self.model;
        (model.idle_restart, model.delivered_at) = (true, now);
        (model.ack_epoch_stamp, model.ack_epoch_bytes) = (now, 0);
        match model.state {
            State::ProbeBw => model.set_pacing_rate(self.cwnd_bytes, None, UNIT),
            State::ProbeRtt => self.check_probe_rtt_done(now),
            State::Startup | State::Drain => {}
        }
    }

    fn on_losses(&mut self, losses: &[Lost], in_flight_bytes: u64, delivered_bytes: u64, _now: Time) {
        let model = &mut *self.model;
        (model.in_flight, model.delivered) = (in_flight_bytes, delivered_bytes);
        let lost: u64 = losses.iter().map(|lost| lost.end - lost.start).sum();
        model.lost += lost;
        model.just_lost += lost;
    }

    fn on_delivery(&mut self, delivery: &Delivery) -> bool {
        let now = delivery.now;
        let model = &mut *self.model;
        (model.in_flight, model.delivered) = (delivery.in_flight_bytes, delivery.delivered_bytes);
        model.delivered_at = now;
        let lost = std::mem::take(&mut model.just_lost);
        model.update_bw(delivery, lost);
        model.update_ack_aggregation(delivery, self.cwnd_bytes);
        if model.state == State::ProbeBw && model.is_next_cycle_phase(delivery, lost) {
            model.advance_cycle_phase(now);
        }
        model.check_full_bw_reached(delivery.sample.app_limited);
        self.check_drain(now);
        let probes_rtt = self.update_min_rtt(delivery);
        let model = &mut *self.model;
        model.set_pacing_rate(self.cwnd_bytes, delivery.rtt, model.pacing_gain());
        self.set_cwnd(delivery, lost);
        probes_rtt
    }
}
