//! The exchange of frames about a packet, from its first frame to its acknowledgement, and what follows where
//! an answer fails to come (clauses 9.2.5.3, 9.2.5.7, 9.2.8); bursts of fragments (clauses 9.1.4, 9.2.5.6),
//! transmission opportunities (clause 9.9.1.4), and what goes before frames that stations of 802.11b do not
//! understand (clause 9.13).

use super::agenda::Step;
use super::capture::log::{begin_record, hearers};
use super::capture::record::AirFrame;
use super::cell::Cell;
use super::config::{CellConfig, Mechanism};
use super::index::RadioIndex;
use super::loss::Of;
use super::medium::air::Hearing;
use super::medium::frame::{Frame, Heard, Kind};
use super::medium::{EarIndex, SHARED_EAR};
use super::phy::HEADER_BYTES;
use super::radios::airtime::FrameTime;
use super::radios::radio::{ALL, AT_WORK, Attempt, Head, Job};
use crate::drops::DropReason;
use roamsim_engine::{Span, Time};

/// Frames on the air.
impl Cell {
    /// Puts a frame on the air.
    pub(super) fn send(&mut self, now: Time, kind: Kind, from: RadioIndex, to: RadioIndex) {
        let initiator = if matches!(kind, Kind::Cts | Kind::Ack) { to } else { from };
        let FrameTime { rate_bps, airtime, reserves } = self.frame_time(kind, initiator);
        let end = now + airtime;
        let reserved = end + reserves;
        let number = self.medium.frames;
        self.medium.frames += 1;
        let mut heard_by = Vec::new();
        match self.medium.hearing {
            Hearing::All => self.hear(now, SHARED_EAR, number, kind),
            Hearing::Given(_) | Hearing::Placed(_) => heard_by = self.hear_each(now, (number, kind, from)),
        }
        let sender = &mut self.radios[from];
        sender.sent = (now, end);
        sender.sent_data = matches!(kind, Kind::Data | Kind::Management);
        sender.answers = false;
        self.radios.stand_apart(from);
        let mut frame = Frame {
            number,
            kind,
            from,
            to,
            rate_bps,
            begin: now,
            end,
            failed: Vec::new(),
            reserved,
            record: None,
            heard_by,
        };
        if self.log.is_some() {
            let channel = self.medium.channels[from];
            frame.record = begin_record(&self.config, &mut self.radios[from], channel, &frame);
        }
        if self.rates.is_some() && kind == Kind::Data {
            self.note_rate(now, from);
        }
        self.medium.on_air.push(frame);
        self.agenda.put(end, Step::End(number));
    }

    /// The rate of a frame in an exchange of this initiator, its airtime, and how long it reserves the
    /// medium.
    #[inline]
    pub(super) fn frame_time(&mut self, kind: Kind, initiator: RadioIndex) -> FrameTime {
        self.frame_times.of(&self.config, kind, self.radios[initiator].own.head.as_ref())
    }

    /// The begin of a frame where each has an ear of its own; returned is who hears it.
    #[inline(never)]
    fn hear_each(&mut self, now: Time, (number, kind, from): (u64, Kind, RadioIndex)) -> Vec<Heard> {
        let heard_by = self.medium.heard_by(from, now);
        let received = self.medium.received(now, (number, kind, from), &heard_by);
        for &(radio, _) in &heard_by {
            self.hear(now, self.medium.ear_of(radio), number, kind);
        }
        for (radio, receiving, disturbed) in received.unwrap_or_default() {
            let ear = self.medium.ear_mut(radio);
            (ear.receiving, ear.disturbed) = (receiving, disturbed);
        }
        heard_by
    }

    /// An ear hears the begin of a frame; if it has heard nothing before, the countdowns stop of those whose
    /// ear it is.
    pub(super) fn hear(&mut self, now: Time, ear: EarIndex, frame: u64, kind: Kind) {
        if self.medium.at(ear).heard == 0 {
            self.medium.ear_changes(now, ear);
            self.radios.freeze(now, ear, &mut self.medium);
        }
        self.medium.hear(now, ear, frame, kind);
    }

    /// A frame ends.
    pub(super) fn end(&mut self, now: Time, number: u64) {
        let on_air = &mut self.medium.on_air;
        let Some(place) = on_air.iter().position(|frame| frame.number == number) else { return };
        let mut frame = on_air.swap_remove(place);
        let record = frame.record.take();
        if let Some(sinr) = self.medium.hearing.sinr() {
            self.medium.decide(now, &self.config, &mut frame, sinr);
        }
        if frame.kind == Kind::Management || frame.to == ALL {
            return self.end_of_management(now, &frame, record);
        }
        let record = record.map(|record| self.record_hearers(now, record, &frame));
        let mut understood = frame.heard_by.is_empty() && self.end_at(now, SHARED_EAR, &frame, true);
        for &heard in &frame.heard_by {
            let strong = self.medium.hearing.is_strong(heard, &frame, now);
            let ear = self.medium.ear_of(heard.0);
            understood |= self.end_at(now, ear, &frame, strong) && heard.0 == frame.to;
        }
        if understood && self.associations.losses.is_some() {
            understood = !self.loses_attempt(now, &frame);
        }
        if let (Some(record), Some(log)) = (record, &mut self.log) {
            log.end(*record, understood);
        }
        let sender = &mut self.radios[frame.from];
        let airtime = now - sender.sent.0;
        let to_self = frame.kind == Kind::CtsToSelf;
        sender.time.sent(frame.kind, airtime, understood || to_self);
        if understood && !to_self && self.rates.is_some() {
            let heard = frame.heard_by.iter().find(|&&(radio, _)| radio == frame.to);
            heard.into_iter().for_each(|&heard| self.hear_signal(now, heard, frame.from));
        }
        self.follow(now, &frame, understood);
    }

    /// The end of a frame of which the power counts, or of one that is for all.
    #[inline(never)]
    fn end_of_management(&mut self, now: Time, frame: &Frame, record: Option<Box<AirFrame>>) {
        if let Some(record) = record {
            let record = self.record_hearers(now, record, frame);
            if let Some(log) = &mut self.log {
                log.end(*record, true);
            }
        }
        let mut hearers = Vec::new();
        if frame.heard_by.is_empty() {
            self.end_at(now, SHARED_EAR, frame, true);
        }
        for &heard in &frame.heard_by {
            let strong = self.medium.hearing.is_strong(heard, frame, now);
            if self.end_at(now, self.medium.ear_of(heard.0), frame, strong) {
                hearers.push(heard);
            }
        }
        let to_all = frame.to == ALL;
        hearers.retain(|&(radio, _)| to_all || radio == frame.to);
        if self.rates.is_some() {
            hearers.iter().for_each(|&heard| self.hear_signal(now, heard, frame.from));
        }
        let sender = &mut self.radios[frame.from];
        let airtime = now - sender.sent.0;
        sender.time.sent(frame.kind, airtime, to_all || !hearers.is_empty());
        match hearers.first() {
            _ if to_all => self.broadcast_ends(now, frame, &hearers),
            Some(&heard) => self.management_understood(now, frame, heard),
            None => self.follow(now, frame, false),
        }
    }

    #[inline(never)]
    fn record_hearers(&self, now: Time, mut record: Box<AirFrame>, frame: &Frame) -> Box<AirFrame> {
        record.heard = hearers(now, &self.medium, self.radios.len(), frame);
        record
    }

    /// What rate control learns from a frame that a radio has understood.
    #[inline(never)]
    fn hear_signal(&mut self, now: Time, heard: Heard, from: RadioIndex) {
        let signal_dbm = self.medium.hearing.signal_dbm(heard, from, now);
        if let (Some(rates), Some(signal_dbm)) = (&mut self.rates, signal_dbm) {
            rates.hears(heard.0, from, signal_dbm);
        }
    }

    /// A frame ends at an ear; whether it is understood there. Countdowns of those who do not heed its NAV
    /// are their own.
    fn end_at(&mut self, now: Time, ear: EarIndex, frame: &Frame, strong: bool) -> bool {
        let (understood, reserves) = self.medium.end_at(now, ear, frame, strong);
        if reserves {
            self.radios.stand_apart(frame.from);
            self.radios.stand_apart(frame.to);
        }
        understood
    }

    /// Whether a data frame that has ended, and would be understood, is lost.
    #[inline(never)]
    fn loses_attempt(&mut self, now: Time, frame: &Frame) -> bool {
        if frame.kind != Kind::Data {
            return false;
        }
        // What the receiver has already comes again for want of an acknowledgement.
        let Some(Head { job: Job::Packet { from, packet: Some(packet) }, .. }) =
            &self.radios[frame.from].own.head
        else {
            return false;
        };
        self.associations.loses(now, *from, packet, Of::Attempts)
    }
}

/// The rates of data frames, where they adapt.
impl Cell {
    /// The highest rate of what a radio has in hand, and whom it is for; `None` where that has no choice.
    fn highest_rate(&self, number: RadioIndex) -> Option<(RadioIndex, u64)> {
        let head = self.radios[number].own.head.as_ref()?;
        head.from().filter(|_| head.to != ALL).map(|from| (head.to, self.associations.way(from).rate_bps))
    }

    #[inline(never)]
    fn choose_rate(&mut self, now: Time, number: RadioIndex) {
        let Some((to, most_bps)) = self.highest_rate(number) else { return };
        if let (Some(rates), Some(head)) = (&mut self.rates, &mut self.radios[number].own.head) {
            let CellConfig { short_retry_limit, long_retry_limit, .. } = self.config;
            let long = head.bytes > self.config.rts_threshold_bytes;
            let limit = if long { long_retry_limit } else { short_retry_limit };
            let tries = (head.short_retries + head.long_retries, limit);
            head.rate_bps = rates.choose_bps(now, (number, to), tries, most_bps, &mut head.chain);
        }
    }

    /// A radio sends a data frame: for who keeps the rates over time.
    #[inline(never)]
    fn note_rate(&mut self, now: Time, number: RadioIndex) {
        if let (Some(rates), Some(head)) = (&mut self.rates, &self.radios[number].own.head)
            && let Some(from) = head.from().filter(|_| head.to != ALL)
        {
            rates.goes(now, from, head.rate_bps);
        }
    }

    /// An exchange of a radio was answered, or was not.
    #[inline(never)]
    fn judge_rate(&mut self, number: RadioIndex, answered: bool) {
        let Some((to, most_bps)) = self.highest_rate(number) else { return };
        if let (Some(rates), Some(head)) = (&mut self.rates, &self.radios[number].own.head) {
            rates.ends(number, to, (head.rate_bps, most_bps), answered);
        }
    }
}

/// Frame exchanges.
impl Cell {
    /// A radio begins a frame exchange.
    pub(super) fn begin(&mut self, now: Time, number: RadioIndex) {
        self.begin_or_continue(now, number, false);
    }

    /// The same, or goes on with the next fragment of a packet, which the one before has announced.
    pub(super) fn begin_or_continue(&mut self, now: Time, number: RadioIndex, announced: bool) {
        if self.rates.is_some() && !announced {
            self.choose_rate(now, number);
        }
        if let Some(log) = &mut self.log {
            log.number_frame(number, self.radios[number].own.head.as_mut());
        }
        let radio = &mut self.radios[number];
        let Some(head) = &mut radio.own.head else { return };
        let (to, bytes) = (head.to, head.bytes);
        if !std::mem::replace(&mut head.begun, true)
            && let Job::Packet { from, packet: Some(packet) } = &head.job
        {
            let stats = &mut self.stats[from.0 as usize];
            stats.sent_packets += 1;
            stats.sent_bytes += u64::from(packet.size_bytes);
        }
        let with_rts = to != ALL && bytes > self.config.rts_threshold_bytes;
        let kind = match self.config.protection.map(|protection| protection.mechanism) {
            _ if announced => head.kind(),
            _ if with_rts => Kind::Rts,
            Some(Mechanism::RtsCts) if to != ALL => Kind::Rts,
            Some(_) => Kind::CtsToSelf,
            None => head.kind(),
        };
        if to != ALL {
            let contended = now - radio.own.contends_since;
            for (attempts, contention) in [
                (&mut radio.time.attempts, &mut radio.time.contention),
                (&mut radio.own.time.attempts, &mut radio.own.time.contention),
            ] {
                *attempts += 1;
                *contention += contended;
            }
        }
        self.send(now, kind, number, if kind == Kind::CtsToSelf { number } else { to });
    }

    /// What follows a management frame that its receiver has understood, with the power at which it came.
    pub(super) fn management_understood(&mut self, now: Time, frame: &Frame, heard: Heard) {
        let &Frame { from, to, .. } = frame;
        self.answer(now, Step::Ack(to, from), to);
        self.management_arrives(now, from, heard);
    }

    /// What follows another frame that its receiver has understood, or any that it has not.
    pub(super) fn follow(&mut self, now: Time, frame: &Frame, understood: bool) {
        let timing = self.config.timing;
        let &Frame { from, to, .. } = frame;
        match (frame.kind, understood) {
            (Kind::Rts, true) if self.may_answer(now, frame) => self.answer(now, Step::Cts(to, from), to),
            (Kind::CtsToSelf, _) => self.agenda.put(now + timing.sifs, Step::Data(from)),
            (Kind::Rts, _) => self.agenda.put(now + self.waits_for_cts(from), Step::Timeout(from)),
            (Kind::Data | Kind::Management, false) => {
                self.agenda.put(now + self.waits_for_ack(from), Step::Timeout(from));
            }
            (Kind::Cts, true) => self.agenda.put(now + timing.sifs, Step::Data(to)),
            (Kind::Data, true) => {
                self.deliver(now, from);
                if self.ack_is_certain(frame) {
                    return self.send(now + timing.sifs, Kind::Ack, to, from);
                }
                self.answer(now, Step::Ack(to, from), to);
            }
            (Kind::Management, true) => {}
            (Kind::Ack, true) => self.succeed(now, to),
            // An answer that began in time is waited for to its end.
            (Kind::Cts | Kind::Ack, false) => {
                let waits = match frame.kind {
                    Kind::Cts => self.waits_for_cts(to),
                    _ => self.waits_for_ack(to),
                };
                let timeout = self.radios[to].sent.1 + waits;
                self.agenda.put(timeout.max(now), Step::Timeout(to));
            }
        }
    }

    /// Whether nobody can do anything between a frame that has just ended and the ACK to it: all hear both,
    /// and nothing else goes on. The ACK is put on the air at once then, SIFS ahead of its time, and costs no
    /// wake-up of its own. What comes to be sent meanwhile finds the medium busy, as it would have found it
    /// reserved.
    fn ack_is_certain(&self, frame: &Frame) -> bool {
        frame.heard_by.is_empty() && self.medium.on_air.is_empty() && self.agenda.is_empty()
    }

    /// From the end of what a radio sends to the time when no ACK to it will come any more.
    fn waits_for_ack(&self, number: RadioIndex) -> Span {
        self.config.waits_for_ack(self.radios[number].own.head.as_ref())
    }

    /// The same of an RTS and the CTS to it.
    fn waits_for_cts(&self, number: RadioIndex) -> Span {
        self.config.waits_for_cts(self.radios[number].own.head.as_ref())
    }

    /// A radio answers after SIFS.
    fn answer(&mut self, now: Time, step: Step, radio: RadioIndex) {
        self.radios[radio].answers = true;
        self.agenda.put(now + self.config.timing.sifs, step);
    }

    /// Whether the receiver of an RTS finds the medium unreserved (clause 9.2.5.7).
    pub(super) fn may_answer(&self, now: Time, rts: &Frame) -> bool {
        let ear = self.medium.ear(rts.to);
        ear.nav <= now || ear.reserved_by.contains(&rts.to)
    }

    /// A radio's packet was acknowledged.
    pub(super) fn succeed(&mut self, now: Time, number: RadioIndex) {
        if self.rates.is_some() {
            self.judge_rate(number, true);
        }
        self.account(now, number);
        if self.radios[number].own.head.as_ref().is_some_and(|head| head.rest_bytes > 0) {
            return self.next_fragment(now, number);
        }
        if self.radios[number].own.access.txop_limit > Span::ZERO {
            return self.succeed_in_txop(now, number);
        }
        self.next_packet(now, number);
    }

    /// The same with a transmission opportunity, in which the next frame follows after SIFS if its exchange
    /// fits (clause 9.9.1.4).
    #[inline(never)]
    fn succeed_in_txop(&mut self, now: Time, number: RadioIndex) {
        self.take_next(now, number);
        if self.rates.is_some() {
            self.choose_rate(now, number);
        }
        let begins = now + self.config.timing.sifs;
        let radio = &self.radios[number];
        if let Some(head) = &radio.own.head
            && begins + self.config.exchange_time(head) <= radio.txop_until
        {
            let radio = &mut self.radios[number];
            radio.attempt = Attempt::Since(now);
            radio.own.contends_since = begins;
            return self.agenda.put(begins, Step::Continue(number));
        }
        self.back_off(now, number);
    }

    /// A fragment was acknowledged, and another one follows SIFS behind (clause 9.1.4). Attempts are counted
    /// for each (clause 9.2.5.3).
    #[inline(never)]
    fn next_fragment(&mut self, now: Time, number: RadioIndex) {
        let begins = now + self.config.timing.sifs;
        let most_bytes = self.config.fragmentation_threshold_bytes - HEADER_BYTES;
        let radio = &mut self.radios[number];
        radio.own.cw = radio.own.access.cw_min;
        let Some(head) = &mut radio.own.head else { return };
        let bytes = head.rest_bytes.min(most_bytes);
        head.bytes = bytes + HEADER_BYTES;
        head.rest_bytes -= bytes;
        head.fragment += 1;
        head.numbered = head.numbered.map(|(sequence, _)| (sequence, false));
        (head.short_retries, head.long_retries) = (0, 0);
        radio.attempt = Attempt::Since(now);
        radio.own.contends_since = begins;
        self.agenda.put(begins, Step::Fragment(number));
    }

    /// No answer has come.
    pub(super) fn fail(&mut self, now: Time, number: RadioIndex) {
        self.radios[number].time.failed_attempts += 1;
        self.radios[number].own.time.failed_attempts += 1;
        if self.rates.is_some() {
            self.judge_rate(number, false);
        }
        let sent_until = self.radios[number].sent.1;
        self.account(sent_until, number);
        let radio = &mut self.radios[number];
        radio.not_before = now;
        let Some(head) = &mut radio.own.head else { return };
        // Clause 9.2.5.3: after an RTS without answer the short limit counts as well.
        let long = head.bytes > self.config.rts_threshold_bytes;
        let (retries, limit) = match long && radio.sent_data {
            true => (&mut head.long_retries, self.config.long_retry_limit),
            false => (&mut head.short_retries, self.config.short_retry_limit),
        };
        *retries += 1;
        if *retries >= limit {
            return self.give_up(now, number);
        }
        radio.own.widen();
        radio.own.contends_since = now;
        radio.draw_backoff(AT_WORK);
    }

    /// A radio's packet is given up; the receiver may have it all the same.
    pub(super) fn give_up(&mut self, now: Time, number: RadioIndex) {
        if let Some(Head { job: Job::Packet { from, packet }, .. }) = &mut self.radios[number].own.head
            && let Some(packet) = packet.take()
        {
            let from = *from;
            self.drop_packet(now, from, packet, DropReason::RetryLimit);
        }
        self.next_packet(now, number);
    }

    /// A frame exchange is over: what of it was on the air counts as busy.
    pub(super) fn account(&mut self, until: Time, number: RadioIndex) {
        let radio = &mut self.radios[number];
        if let (Attempt::Since(begin), Some(from)) =
            (radio.attempt, radio.own.head.as_ref().and_then(Head::from))
        {
            self.stats[from.0 as usize].busy += until - begin;
        }
        radio.attempt = Attempt::None;
    }

    /// A radio's packet is dealt with. A back-off follows, even when nothing is queued behind it (clause
    /// 9.2.5.2).
    pub(super) fn next_packet(&mut self, now: Time, number: RadioIndex) {
        self.take_next(now, number);
        self.back_off(now, number);
    }

    /// A radio turns to its next packet, with the smallest window.
    fn take_next(&mut self, now: Time, number: RadioIndex) {
        let function = &mut self.radios[number].own;
        function.cw = function.access.cw_min;
        self.next_head(now, number, AT_WORK);
        if self.radios[number].own.head.is_none() {
            self.medium.contender(now, number, false);
        }
    }

    /// A radio contends from now on.
    pub(super) fn back_off(&mut self, now: Time, number: RadioIndex) {
        let radio = &mut self.radios[number];
        radio.own.contends_since = now;
        radio.draw_backoff(AT_WORK);
    }
}
