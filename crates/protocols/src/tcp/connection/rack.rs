//! RACK-TLP (RFC 8985) on a connection: what an acknowledgement means once all that it tells of is known,
//! loss probes, and reductions that prove needless.
//!
//! - A loss probe goes two round trips behind the last new data or acknowledgement (section 7): new data if
//!   there is any, otherwise the last segment again. With one segment in flight the peer's delay of
//!   acknowledgements is added. Chosen: 200 ms for it, as Linux has. None goes before a round trip has been
//!   measured since the last one. The rules of Linux ask for no measurement, and bound the time by the first
//!   segment (`tcp_schedule_loss_probe` of Linux 6.12).
//! - F-RTO (RFC 5682 section 3.1): behind the first retransmission of a timeout new data goes, and a segment
//!   sent once that arrives then tells that the timeout was needless.
//! - A repair is needless also when each of its retransmissions is reported as a duplicate (D-SACK, RFC
//!   3708), or when an acknowledgement echoes a timestamp from before the first of them (Eifel, RFC 3522).
//!   What was marked as lost is then in flight. The congestion control is as it was (RFC 9438 4.9; RFC 4015
//!   section 3 is more careful), unless a mark has been reported since. By the rules of Linux a timestamp
//!   undoes a fast repair only while no retransmission is in flight. Otherwise its acknowledgement triggers
//!   no retransmission (`tcp_try_undo_partial` of Linux 6.12).

use roamsim_engine::{Span, Time};

use super::next::Next;
use super::sender::Sender;
use super::timers::Timer;
use super::{Connection, Extended, State};
use crate::ranges::Range;
use crate::tcp::config::{GrowthRules, LossProbeRules, RackRules, RtoRules, UndoRules};
use crate::tcp::congestion::{Cause, Delivery};
use crate::tcp::recovery::{Frto, LossRecovery, Probe, Rack, Recovery, Repair, Undo};
use crate::tcp::repeat::{Proof, Reason};
use crate::tcp::segment::Segment;
use crate::tcp::sent::Record;
use crate::tcp::sequence::{from_wire, to_wire};

/// What a peer may delay an acknowledgement by: TLP.max_ack_delay.
const MAX_ACK_DELAY: Span = Span::from_ms(200);

/// TCP_TIMEOUT_MIN_US.
const LINUX_MARGIN: Span = Span::from_ms(2);

/// The probe's timeout before the first measurement (RFC 8985 7.2).
const PROBE_WITHOUT_RTT: Span = Span::from_secs(1);

impl Sender {
    /// The congestion control hears of what the acknowledgement under way delivers, where it takes samples.
    #[inline]
    fn deliver(&mut self, now: Time, rtt: Option<Span>) {
        let Recovery::Rack(rack) = &mut self.recovery else { return };
        if let Some(sample) = rack.measure_rate() {
            let says_nothing = self.congestion.on_delivery(
                #[inline(always)]
                || Delivery {
                    now,
                    sample,
                    rtt,
                    newly_acked_bytes: rack.sent.heard.delivered,
                    delivered_bytes: rack.sent.delivered_bytes(),
                    in_flight_bytes: rack.sent.in_flight_bytes(),
                    recovering: rack.is_recovering(),
                },
            );
            if says_nothing {
                rack.sent.on_app_limited();
            }
        }
        rack.sent.heard = Default::default();
    }

    /// It hears of what has been taken as lost.
    fn tell_losses(&mut self, now: Time) {
        let Recovery::Rack(rack) = &mut self.recovery else { return };
        if rack.sent.has_losses() {
            let losses = rack.sent.take_losses();
            let (in_flight, delivered) = (rack.sent.in_flight_bytes(), rack.sent.delivered_bytes());
            self.congestion.on_losses(&losses, in_flight, delivered, now);
        }
    }
}

impl Connection {
    #[inline]
    pub(super) fn rack(&mut self) -> Option<&mut Rack> {
        match &mut self.sender.recovery {
            Recovery::Rack(rack) => Some(rack),
            _ => None,
        }
    }

    /// Octets are sent, again if `repeated`.
    #[inline(never)]
    pub(super) fn note_transmission(&mut self, now: Time, start: u64, end: u64, repeated: bool) {
        let timestamp = self.extended.has(Extended::TIMESTAMPS).then(|| self.timestamp_clock(now));
        let sender = &mut self.sender;
        let cwnd_bytes = sender.congestion.cwnd_bytes();
        sender.recovery.on_sent(end - start);
        if let Recovery::Rack(rack) = &mut sender.recovery {
            rack.note_sent(Range { start, end }, now, repeated, timestamp);
            // Nothing more is there to send, and there would be room for it.
            if sender.snd_nxt > sender.written && rack.sent.in_flight_bytes() < cwnd_bytes {
                rack.sent.on_app_limited();
            }
            sender.congestion.on_sent(rack.sent.in_flight_bytes());
        }
        let sender = &mut self.sender;
        if sender.extras.as_ref().is_some_and(|extras| extras.looks_at_departures) {
            self.note_departure(now, end, end - start, repeated);
        }
        if self.extended.has(Extended::LIVENESS) {
            self.note_waiting(now);
        }
        let sender = &mut self.sender;
        let own = sender.extras.as_mut().and_then(|extras| extras.hystart.as_mut());
        if let Some(sent) = own.and_then(|first| first.sent.as_mut()) {
            sent.on_sent(start, end, now, repeated);
        }
        if let Some(at) = sender.pace(now, end - start) {
            self.timers.start(Timer::Pacing, at);
        }
        self.schedule_probe(now, true);
    }

    /// The blocks of a segment that acknowledges up to `ack`; true when they tell of anything new. The first
    /// may report octets that arrived twice: below the acknowledgement, or within the second (RFC 2883
    /// section 4).
    pub(super) fn take_blocks_by_time(&mut self, now: Time, segment: &Segment, ack: u64) -> bool {
        let (iss, snd_una, snd_max) = (self.sender.iss, self.sender.snd_una, self.sender.snd_max);
        let floor = ack.max(snd_una);
        let octets_of = |(left, right): (u32, u32)| {
            let (start, end) = (from_wire(iss, left, floor)?, from_wire(iss, right, floor)?);
            (start < end && end <= snd_max).then_some(Range { start, end })
        };
        let blocks = segment.options.sack.as_slice();
        let Some(rack) = self.rack() else { return false };
        let [first, second] = [0, 1].map(|place| blocks.get(place).copied().and_then(octets_of));
        rack.duplicate =
            first.filter(|first| first.end <= ack || second.is_some_and(|second| second.holds(*first)));
        rack.sent.on_blocks(blocks, |block| octets_of(block).filter(|octets| floor < octets.start), now)
    }

    /// Everything that the segment acknowledges is taken.
    #[inline]
    pub(super) fn finish_ack(&mut self, now: Time, segment: &Segment, echoes: bool) {
        // The common case is data that arrives at a receiver.
        if let Recovery::Rack(rack) = &self.sender.recovery
            && rack.is_told_nothing(self.sender.snd_una)
            && !self.timers.runs(Timer::Reordering)
        {
            return;
        }
        self.finish_told_ack(now, segment, echoes);
    }

    /// [`Connection::finish_ack`] of an acknowledgement that tells something new, or leaves something to do.
    #[inline(never)]
    fn finish_told_ack(&mut self, now: Time, segment: &Segment, echoes: bool) {
        let tick = self.timestamp_tick();
        let echo = segment
            .options
            .timestamps
            .filter(|_| self.extended.has(Extended::TIMESTAMPS))
            .map(|stamps| stamps.echo_reply);
        let sender = &mut self.sender;
        let at = sender.outstanding();
        match &mut sender.recovery {
            Recovery::Sack(sack) => sack.follow(&at, sender.congestion.ssthresh_bytes()),
            Recovery::NewRenoPrr(repair) => repair.follow(&at, sender.congestion.ssthresh_bytes()),
            _ => {}
        }
        let Recovery::Rack(rack) = &mut sender.recovery else {
            sender.count_for_mark();
            return;
        };
        rack.sent.on_ack(at.snd_una, now);
        let una_before = std::mem::replace(&mut rack.una_before, at.snd_una).min(at.snd_una);
        let acked = at.snd_una - una_before;
        let duplicate = rack.duplicate.take();
        match self.config.rack_rules {
            RackRules::Rfc8985 if duplicate.is_some() => {
                rack.detection.on_duplicate_report(at.snd_una, at.snd_nxt);
            }
            RackRules::Rfc8985 => {}
            RackRules::Linux => rack.follow_duplicate_reports(duplicate),
        }
        rack.detection.on_delivered(&rack.sent, now, |at| Rack::predates(at, echo, tick));
        let mut was_fast = false;
        let ends = rack.is_recovering() && at.snd_una >= rack.recover;
        if ends {
            was_fast = rack.repair == Repair::Fast;
            rack.stop();
            if let Some(undo) = &mut rack.undo {
                undo.until = at.snd_max;
            }
            if was_fast {
                sender.end_recovery(sender.congestion.ssthresh_bytes());
            }
        }
        if acked == 0 {
            self.measure_by_blocks(now);
        }
        let proof = self.needless_by(duplicate, acked, echo);
        if proof == Some(Proof::Timestamp) {
            self.learn_reordering(una_before);
        }
        let waits = proof == Some(Proof::Timestamp) && self.undo_waits();
        if let Some(proof) = proof.filter(|_| !waits) {
            self.undo(proof);
        } else if ends && let Some(rack) = self.rack() {
            rack.detection.on_repaired();
        }
        self.judge_timeout(acked);
        self.judge_probe(now, duplicate, acked, segment);
        if waits {
            self.hold_repeats();
        } else {
            self.mark_losses(now);
        }
        let sender = &mut self.sender;
        let at = sender.outstanding();
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        rack.follow(&at, sender.congestion.ssthresh_bytes(), acked > 0);
        let rtt = rack.sent.heard.newest_original.map(|(at, _)| now.since(at));
        // What comes behind a later acknowledgement (`tcp_ack` of Linux).
        let is_old = segment.ack != to_wire(sender.iss, at.snd_una);
        let (is_repairing, probes_tail) = (rack.repair == Repair::Fast, rack.probes_tail());
        let (delivered, reorders) =
            (rack.sent.heard.delivered, rack.reorders_beyond_threshold(at.smss_bytes));
        sender.deliver(now, rtt);
        match self.config.growth_rules {
            GrowthRules::Rfc5681 if acked > 0 => {
                let may_grow = !is_repairing && !was_fast && !echoes;
                sender.grow_behind_ack(now, acked, &self.config, rtt, may_grow);
            }
            // `tcp_may_raise_cwnd`. Any acknowledgement measures the round trip, which may end slow start.
            GrowthRules::Linux if acked > 0 || delivered > 0 && !is_old => {
                let may_grow = (acked > 0 || reorders) && !is_repairing && !echoes;
                sender.grow_by_delivered(now, delivered, &self.config, rtt, may_grow);
            }
            _ => sender.count_for_mark(),
        }
        if acked > 0 {
            sender.count_round(at.snd_una);
        }
        if acked > 0 || !probes_tail {
            self.schedule_probe(now, false);
        }
    }

    /// By Linux's rules a selective acknowledgement measures the round trip. It restarts the timer if what it
    /// tells of was sent before the first segment last was: the time for that one is not over.
    fn measure_by_blocks(&mut self, now: Time) {
        if self.config.rto_rules != RtoRules::Linux {
            return;
        }
        let snd_una = self.sender.snd_una;
        let Recovery::Rack(rack) = &self.sender.recovery else { return };
        let Some((at, _)) = rack.sent.heard.newest_original else { return };
        let is_older = rack.sent.first().is_some_and(|first| at < first.at);
        self.take_round_trip(now.since(at), 1, snd_una);
        if is_older && self.timers.runs(Timer::Retransmission) {
            self.restart_timer(now);
        }
    }

    /// The same of an acknowledgement on a steady connection, of which nothing is left to find out. The round
    /// trip that it measures: `rtt`, unless transmissions are kept.
    #[inline(never)]
    pub(super) fn finish_steady_ack(&mut self, now: Time, rtt: Option<Span>) -> Option<Span> {
        let sender = &mut self.sender;
        let snd_una = sender.snd_una;
        if let Recovery::Sack(sack) = &mut sender.recovery {
            sack.follow_undisturbed(snd_una);
        }
        let Recovery::Rack(rack) = &mut sender.recovery else { return rtt };
        rack.una_before = snd_una;
        rack.sent.on_ack(snd_una, now);
        rack.detection.on_delivered(&rack.sent, now, |_| false);
        if rack.detection.has_duplicate {
            rack.follow_duplicate_reports(None);
        }
        let rtt = rack.sent.heard.newest_original.map(|(at, _)| now.since(at));
        sender.deliver(now, rtt);
        rtt
    }

    /// What is taken as lost may only be late: the acknowledgement marks nothing and triggers no
    /// retransmission (`tcp_try_undo_partial` of Linux, behind which the timer is one for the RTO).
    #[cold]
    fn hold_repeats(&mut self) {
        if let Some(rack) = self.rack() {
            rack.holds_repeats = true;
        }
        self.timers.stop(Timer::Reordering);
    }

    /// Marks what is lost by now; a repair begins, and a timer runs for what may be.
    pub(super) fn mark_losses(&mut self, now: Time) {
        let margin = match self.config.rack_rules {
            RackRules::Rfc8985 => Span::ZERO,
            RackRules::Linux => LINUX_MARGIN,
        };
        let sender = &mut self.sender;
        let (at, srtt) = (sender.outstanding(), sender.rtt.srtt());
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        rack.holds_repeats = false;
        let conditions = rack.conditions(srtt, at.smss_bytes);
        let wait_to = rack.detection.mark_lost(&mut rack.sent, now, &conditions);
        let begins = rack.sent.has_lost() && rack.repair == Repair::None;
        let repeat_at = rack.sent.heard.lost_repeat_at.take();
        self.timers.start(Timer::Reordering, wait_to.map_or(Time::MAX, |at| at + margin));
        sender.tell_losses(now);
        if begins {
            self.begin_repair(now);
        } else if repeat_at.is_some() && self.config.reduce_after_lost_retransmission {
            self.reduce_again(now, repeat_at);
        }
    }

    /// A retransmission that was sent then is lost during a repair: another congestion event, unless the
    /// window has been reduced since (RFC 5681 4.3, RFC 8985 9.3). The repair begins anew, for PRR too (RFC
    /// 9937 6.1). A window of two segments is the least that a loss leaves.
    #[cold]
    fn reduce_again(&mut self, now: Time, repeat_at: Option<Time>) {
        let sender = &mut self.sender;
        let (at, cwnd_bytes) = (sender.outstanding(), sender.congestion.cwnd_bytes());
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        if repeat_at < Some(rack.reduced_at) || cwnd_bytes <= 2 * at.smss_bytes {
            return;
        }
        rack.begin(&at, now);
        // What SACK has told of is outstanding beside the window.
        let flight_bytes = at.flight_bytes().min(cwnd_bytes);
        sender.reduce(Cause::FastRetransmit { flight_bytes }, false, now);
        self.ecn.on_reduction(at.snd_max);
    }

    /// A loss that acknowledgements have told of is repaired.
    fn begin_repair(&mut self, now: Time) {
        let sender = &mut self.sender;
        let marked = sender.end_mark_reduction();
        let at = sender.outstanding();
        let flight_bytes = sender.counted_flight(&at);
        let saved = self.config.undo.then(|| sender.congestion.clone());
        let keeps_stamp = self.config.undo_rules == UndoRules::Linux;
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        rack.begin(&at, now);
        rack.begin_undo(saved, self.ecn.answered(), at.snd_una, keeps_stamp);
        (rack.probe, rack.probe_due) = (None, false);
        if !self.ecn.has_answered(at.snd_una) {
            sender.reduce(Cause::FastRetransmit { flight_bytes }, true, now);
            self.ecn.on_reduction(at.snd_max);
        } else if let Some(marked) = marked {
            rack.carry_on(marked.prr);
        }
        self.timers.start(Timer::Retransmission, now + sender.rtt.rto());
        self.timers.stop(Timer::LossProbe);
        self.stats.fast_retransmits += 1;
    }

    /// The retransmission timer expired, and the congestion control is about to be told.
    pub(super) fn time_out_by_time(&mut self, now: Time) {
        let keeps = self.config.undo || self.config.frto;
        let frto = self.config.frto;
        let sender = &mut self.sender;
        let (at, srtt) = (sender.outstanding(), sender.rtt.srtt());
        let repeated = sender.retries > 1;
        let saved = keeps.then(|| sender.congestion.clone());
        let keeps_stamp = self.config.undo_rules == UndoRules::Linux;
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        let conditions = rack.conditions(srtt, at.smss_bytes);
        rack.detection.mark_lost_at_timeout(&mut rack.sent, now, &conditions);
        rack.sent.heard = Default::default();
        rack.holds_repeats = false;
        rack.reduced_at = now;
        // RFC 5682 3.1, step 1: not where a repair is under way already.
        let was_repairing = rack.is_recovering();
        rack.frto = if frto && !was_repairing { Frto::First } else { Frto::Off };
        if !repeated && !was_repairing {
            rack.begin_undo(saved, self.ecn.answered(), at.snd_una, keeps_stamp);
        }
        self.sender.tell_losses(now);
        self.timers.stop(Timer::Reordering);
        self.timers.stop(Timer::LossProbe);
    }

    /// RFC 5682 3.1, steps 2 and 3.
    fn judge_timeout(&mut self, acked: u64) {
        let sender = &mut self.sender;
        let has_new_data =
            sender.snd_nxt < 1 + sender.written && sender.snd_nxt < sender.snd_una + sender.snd_wnd;
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        if rack.repair != Repair::Timeout || rack.frto == Frto::Off {
            return;
        }
        if rack.tells_of_original() {
            return self.undo(Proof::Frto);
        }
        rack.frto = match rack.frto {
            Frto::First if acked > 0 && has_new_data => Frto::NewData,
            Frto::First if acked == 0 => Frto::First,
            _ => Frto::Off,
        };
    }

    /// What proves the last reduction needless, if the acknowledgement does.
    fn needless_by(&mut self, duplicate: Option<Range>, acked: u64, echo: Option<u32>) -> Option<Proof> {
        let undoes = self.config.undo;
        let snd_una = self.sender.snd_una;
        let rack = self.rack()?;
        let recovering = rack.is_recovering();
        let undo = rack.undo.as_mut()?;
        if !recovering && snd_una > undo.until {
            rack.undo = None;
            return None;
        }
        if !undoes {
            return None;
        }
        let had_retransmitted = undo.unconfirmed_bytes > 0;
        if let Some(duplicate) = duplicate.filter(|duplicate| duplicate.start >= undo.from) {
            undo.unconfirmed_bytes = undo.unconfirmed_bytes.saturating_sub(duplicate.bytes());
        }
        let all_needless = had_retransmitted && undo.unconfirmed_bytes == 0;
        let echoes_before = acked > 0
            && matches!((undo.first_timestamp, echo), (Some(first), Some(echo)) if (echo.wrapping_sub(first) as i32) < 0);
        if echoes_before { Some(Proof::Timestamp) } else { all_needless.then_some(Proof::DuplicateReports) }
    }

    /// By the rules of Linux a timestamp that proves a fast recovery needless shows reordering, too: the
    /// segment at `una_before` was late (`tcp_try_undo_partial`).
    fn learn_reordering(&mut self, una_before: u64) {
        let is_linux = self.config.rack_rules == RackRules::Linux;
        if let Some(rack) = self.rack().filter(|rack| is_linux && rack.repair == Repair::Fast) {
            rack.detection.on_reordered(rack.sent.forward_ack().saturating_sub(una_before));
        }
    }

    /// Whether a timestamp does not undo a repair yet, by the rules of Linux: a retransmission is in flight.
    fn undo_waits(&mut self) -> bool {
        let is_linux = self.config.undo_rules == UndoRules::Linux;
        is_linux
            && self
                .rack()
                .is_some_and(|rack| rack.repair == Repair::Fast && rack.sent.repeated_in_flight_bytes() > 0)
    }

    /// The reduction was needless, unless a mark has asked for one as well: it stays then (RFC 4015 section 3
    /// for the acknowledgement that proves it; `tcp_fastretrans_alert` of Linux for any before it).
    fn undo(&mut self, proof: Proof) {
        let sender = &mut self.sender;
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        let Some(undo) = rack.undo.take() else { return };
        let was_fast = rack.repair == Repair::Fast;
        if rack.is_recovering() {
            rack.sent.unmark_lost();
            rack.stop();
        }
        let Undo { congestion, answered, from, .. } = *undo;
        let Some(before) = congestion else {
            if was_fast {
                sender.end_recovery(sender.congestion.ssthresh_bytes());
            }
            return self.ecn.answer_losses();
        };
        self.ecn.undo_reduction(answered);
        sender.congestion.undo(before, sender.smss);
        sender.slow_start_after_loss = false;
        if let Some(extras) = &mut sender.extras {
            extras.undone_reductions += 1;
            extras.undone_by = Some((proof, from));
        }
    }

    /// A loss probe is due two round trips from now, unless something else is known to happen before (RFC
    /// 8985 7.2). Data `sends` it, or else an acknowledgement does.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Time, sends: bool) {
        if !self.config.tail_loss_probe {
            return;
        }
        let sender = &self.sender;
        let Recovery::Rack(rack) = &sender.recovery else { return };
        // The timer of a SYN-ACK behind which data goes is no timer of data.
        let runs =
            rack.probes_tail() && self.timers.runs(Timer::Retransmission) && self.state != State::SynReceived;
        let at = if runs {
            let is_linux = self.config.loss_probe_rules == LossProbeRules::Linux;
            let wait = match sender.rtt.srtt() {
                None => PROBE_WITHOUT_RTT,
                Some(srtt) if sender.flight() <= sender.smss => srtt.saturating_mul(2) + MAX_ACK_DELAY,
                Some(srtt) if is_linux => srtt.saturating_mul(2) + LINUX_MARGIN,
                Some(srtt) => srtt.saturating_mul(2),
            };
            let at = (now + wait).min(self.timers.at(Timer::Retransmission));
            match rack.sent.first() {
                Some(first) if is_linux && sends => {
                    let latest = first.at + sender.rtt.rto();
                    // What is over does not bound.
                    if latest > now { at.min(latest) } else { at }
                }
                _ => at,
            }
        } else {
            Time::MAX
        };
        self.timers.start(Timer::LossProbe, at);
    }

    /// The probe's time has come, and the retransmission timer starts anew. The probe goes next if a round
    /// trip has been measured since the last one: it may itself prevent measurements (RFC 8985 7.3).
    pub(super) fn probe_timeout(&mut self, now: Time) {
        let (rto, samples) = (self.sender.rtt.rto(), self.stats.rtt_samples);
        let is_linux = self.config.loss_probe_rules == LossProbeRules::Linux;
        let Some(rack) = self.rack() else { return };
        if rack.probes_tail() && rack.sent.first().is_some() {
            rack.probe_due = is_linux || samples > rack.probe_samples;
            self.timers.start(Timer::Retransmission, now + rto);
        }
    }

    /// The loss probe that is due goes (RFC 8985 7.3).
    #[cold]
    pub(super) fn send_probe(&mut self, now: Time) -> Next {
        let sender = &mut self.sender;
        let flight_bytes = sender.flight();
        let Recovery::Rack(rack) = &mut sender.recovery else { return Next::Nothing };
        rack.probe_due = false;
        let Some(last) = rack.sent.last().map(Record::octets) else {
            return Next::Nothing;
        };
        let queued = (1 + sender.written).saturating_sub(sender.snd_nxt);
        let room = (sender.snd_una + sender.snd_wnd).saturating_sub(sender.snd_nxt);
        let new = queued.min(sender.smss).min(room);
        let (start, length, fin) = if new > 0 {
            (sender.snd_nxt, new, sender.fin_queued && new == queued && room > new)
        } else {
            let fin = sender.fin_queued && last.end > 1 + sender.written;
            let data_end = last.end - u64::from(fin);
            let start = last.start.max(data_end.saturating_sub(sender.smss)).min(data_end);
            (start, data_end - start, fin)
        };
        self.sender.repeats_for = Reason::LossProbe;
        let next = self.send(now, start, length, fin);
        let end = self.sender.snd_max;
        let repeats = (new == 0).then_some(Range { start, end: start + length + u64::from(fin) });
        let samples = self.stats.rtt_samples;
        if let Some(rack) = self.rack() {
            rack.probe = Some(Probe { end, flight_bytes, repeats });
            if repeats.is_some() {
                rack.sent.on_probe_repeated(start);
            }
            rack.probe_samples = samples;
        }
        self.timers.stop(Timer::LossProbe);
        if let Some(extras) = &mut self.sender.extras {
            extras.tail_loss_probes += 1;
        }
        next
    }

    /// What an acknowledgement tells of the probe (RFC 8985 7.4): where it has repaired a loss by itself,
    /// that counts.
    fn judge_probe(&mut self, now: Time, duplicate: Option<Range>, acked: u64, segment: &Segment) {
        let sender = &mut self.sender;
        let at = sender.outstanding();
        let Recovery::Rack(rack) = &mut sender.recovery else { return };
        let Some(probe) = rack.probe.filter(|probe| at.snd_una >= probe.end) else { return };
        let Some(repeats) = probe.repeats else {
            rack.probe = None;
            return;
        };
        if duplicate.is_some_and(|duplicate| duplicate.end == repeats.end) {
            rack.probe = None;
        } else if at.snd_una > probe.end {
            rack.probe = None;
            let flight_bytes = probe.flight_bytes;
            if !self.ecn.has_answered(at.snd_una) {
                sender.reduce(Cause::FastRetransmit { flight_bytes }, false, now);
                self.ecn.on_reduction(at.snd_max);
            }
        } else if acked == 0 && segment.options.sack.is_empty() && segment.payload_bytes == 0 {
            rack.probe = None;
        }
    }
}
