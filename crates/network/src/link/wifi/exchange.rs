//! The exchange of frames about a packet, from its first frame to its acknowledgement, and what follows where
//! an answer fails to come (clauses 9.2.5.3, 9.2.5.7, 9.2.8); bursts of fragments (clauses 9.1.4, 9.2.5.6),
//! transmission opportunities (clause 9.9.1.4), and what goes before frames that stations of 802.11b do not
//! understand (clause 9.13).

use super::config::{CellConfig, Mechanism};
use super::loss::Of;
use super::medium::{Frame, Kind};
use super::phy::{ACK_BYTES, CTS_BYTES, FRAME_OVERHEAD_BYTES, HEADER_BYTES, RTS_BYTES};
use super::radios::radio::{ALL, Attempt, Head, Job};
use super::{Cell, DropReason, Heard, Way};
use crate::link::Attachment;
use crate::packet::Packet;
use crate::queue::Waiting;
use roamsim_engine::{Span, Time};

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// A frame ends.
    End(u64),
    /// A radio answers another one, SIFS after its RTS or data.
    Cts(usize, usize),
    Ack(usize, usize),
    /// A radio sends the data that a CTS allowed.
    Data(usize),
    /// A radio goes on in its transmission opportunity.
    Continue(usize),
    /// A radio sends the next fragment of its packet.
    Fragment(usize),
    /// No answer has come for a radio.
    Timeout(usize),
    /// Time for a cell's beacon.
    Beacon(usize),
    /// A radio that wants to leave its channel may be free.
    Free,
    /// A station's timer, by the radio and the timer's number.
    Station(usize, u64),
}

/// A frame in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameTime {
    pub rate_bps: u64,
    pub airtime: Span,
    /// How long its duration field reserves the medium behind it.
    pub reserves: Span,
}

/// The last one of each kind, with octets and rate of the frame of data that it is about.
pub(super) type FrameTimes = [Option<((u32, u64), FrameTime)>; 6];

impl Cell {
    /// A radio begins a frame exchange.
    pub(super) fn begin(&mut self, now: Time, number: usize) {
        self.begin_or_continue(now, number, false);
    }

    /// The same, or goes on with the next fragment of a packet, which the one before has announced.
    fn begin_or_continue(&mut self, now: Time, number: usize, announced: bool) {
        if self.rates.is_some() && !announced {
            self.choose_rate(now, number);
        }
        if self.log.is_some() {
            self.number_frame(number);
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

    /// Whether what a radio has in hand is for all.
    fn is_for_all(&self, number: usize) -> bool {
        self.radios[number].own.head.as_ref().is_some_and(|head| head.to == ALL)
    }

    /// The highest rate of what a radio has in hand, and whom it is for; `None` where that has no choice.
    fn highest_rate(&self, number: usize) -> Option<(usize, u64)> {
        let head = self.radios[number].own.head.as_ref()?;
        head.from().filter(|_| head.to != ALL).map(|from| (head.to, self.ways[from.0 as usize].rate_bps))
    }

    #[inline(never)]
    fn choose_rate(&mut self, now: Time, number: usize) {
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
    pub(super) fn note_rate(&mut self, now: Time, number: usize) {
        if let (Some(rates), Some(head)) = (&mut self.rates, &self.radios[number].own.head)
            && let Some(from) = head.from().filter(|_| head.to != ALL)
        {
            rates.goes(now, from, head.rate_bps);
        }
    }

    /// An exchange of a radio was answered, or was not.
    #[inline(never)]
    fn judge_rate(&mut self, number: usize, answered: bool) {
        let Some((to, most_bps)) = self.highest_rate(number) else { return };
        if let (Some(rates), Some(head)) = (&mut self.rates, &self.radios[number].own.head) {
            rates.ends(number, to, (head.rate_bps, most_bps), answered);
        }
    }

    /// The rate of a frame between two radios, its airtime, and how long it reserves the medium behind it.
    /// What was worked out last is kept: most frames of data are of one length and one rate.
    #[inline]
    pub(super) fn frame_time(&mut self, kind: Kind, from: usize, to: usize) -> FrameTime {
        let initiator = if matches!(kind, Kind::Cts | Kind::Ack) { to } else { from };
        let head = self.radios[initiator].own.head.as_ref();
        // What is for all, or follows in fragments, reserves another time.
        let Some(head) = head.filter(|head| head.rest_bytes == 0 && head.to != ALL) else {
            return self.work_out_frame_time(kind, (from, to), initiator);
        };
        let of = (head.bytes, head.rate_bps);
        if let Some((known, time)) = self.frame_times[kind as usize]
            && known == of
        {
            return time;
        }
        let time = self.work_out_frame_time(kind, (from, to), initiator);
        self.frame_times[kind as usize] = Some((of, time));
        time
    }

    #[inline(never)]
    fn work_out_frame_time(&self, kind: Kind, (from, to): (usize, usize), initiator: usize) -> FrameTime {
        let sifs = self.config.timing.sifs;
        let then = |kind: Kind| sifs + self.airtime(kind, initiator);
        let reserves = match kind {
            Kind::Rts => then(Kind::Cts) + then(Kind::Data) + then(Kind::Ack),
            Kind::Cts => then(Kind::Data) + then(Kind::Ack),
            Kind::CtsToSelf if self.is_for_all(from) => then(Kind::Data),
            Kind::CtsToSelf => then(Kind::Data) + then(Kind::Ack),
            Kind::Data | Kind::Management if to != ALL => {
                then(Kind::Ack) + self.next_fragment_time(initiator)
            }
            Kind::Ack => self.next_fragment_time(initiator),
            Kind::Data | Kind::Management => Span::ZERO,
        };
        let rate_bps = self.frame_rate_bps(kind, initiator);
        FrameTime { rate_bps, airtime: self.airtime(kind, initiator), reserves }
    }

    /// The rate of a frame, in the exchange of what one of two radios has in hand.
    fn frame_rate_bps(&self, kind: Kind, initiator: usize) -> u64 {
        let rate_bps = self.radios[initiator].own.head.as_ref().map_or(0, |head| head.rate_bps);
        match kind {
            Kind::Data | Kind::Management => rate_bps,
            Kind::CtsToSelf => self.config.protection.map_or(rate_bps, |protection| protection.rate_bps),
            Kind::Rts | Kind::Cts if self.config.protection.is_some() => {
                self.frame_rate_bps(Kind::CtsToSelf, initiator)
            }
            Kind::Rts | Kind::Cts | Kind::Ack => self.config.control_rate_bps(rate_bps),
        }
    }

    /// The airtime of a frame between two radios, in the exchange of what one of them has in hand.
    fn airtime(&self, kind: Kind, initiator: usize) -> Span {
        let Some(head) = &self.radios[initiator].own.head else { return Span::ZERO };
        let control_rate_bps = self.config.control_rate_bps(head.rate_bps);
        match kind {
            Kind::Data | Kind::Management => self.config.format.airtime(head.bytes, head.rate_bps),
            Kind::Rts | Kind::Cts | Kind::CtsToSelf if self.config.protection.is_some() => {
                self.config.protection_time(kind)
            }
            Kind::CtsToSelf => Span::ZERO,
            Kind::Rts => self.config.format.airtime(RTS_BYTES, control_rate_bps),
            Kind::Cts => self.config.format.airtime(CTS_BYTES, control_rate_bps),
            Kind::Ack => self.config.format.airtime(ACK_BYTES, control_rate_bps),
        }
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
            (Kind::CtsToSelf, _) => self.at(now + timing.sifs, Step::Data(from)),
            (Kind::Rts, _) => self.at(now + self.cts_timeout(from), Step::Timeout(from)),
            (Kind::Data | Kind::Management, false) => {
                self.at(now + self.ack_timeout(from), Step::Timeout(from));
            }
            (Kind::Cts, true) => self.at(now + timing.sifs, Step::Data(to)),
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
                    Kind::Cts => self.cts_timeout(to),
                    _ => self.ack_timeout(to),
                };
                let timeout = self.radios[to].sent.1 + waits;
                self.at(timeout.max(now), Step::Timeout(to));
            }
        }
    }

    /// Whether nobody can do anything between a frame that has just ended and the ACK to it: all hear both,
    /// and nothing else goes on. The ACK is put on the air at once then, SIFS ahead of its time, and costs no
    /// wake-up of its own. What comes to be sent meanwhile finds the medium busy, as it would have found it
    /// reserved.
    fn ack_is_certain(&self, frame: &Frame) -> bool {
        frame.heard_by.is_empty() && self.on_air.is_empty() && self.agenda.is_empty()
    }

    /// From the end of what a radio sends to the time when no ACK to it will come any more.
    fn ack_timeout(&self, number: usize) -> Span {
        self.config.ack_timeout(self.frame_rate_bps(Kind::Data, number))
    }

    /// The same of an RTS and the CTS to it.
    fn cts_timeout(&self, number: usize) -> Span {
        self.config.cts_timeout(self.frame_rate_bps(Kind::Data, number))
    }

    /// A radio answers after SIFS.
    fn answer(&mut self, now: Time, step: Step, radio: usize) {
        self.radios[radio].answers = true;
        self.at(now + self.config.timing.sifs, step);
    }

    /// Whether the receiver of an RTS finds the medium unreserved (clause 9.2.5.7).
    pub(super) fn may_answer(&self, now: Time, rts: &Frame) -> bool {
        let ear = &self.ears[self.radios[rts.to].ear];
        ear.nav <= now || ear.reserved_by.contains(&rts.to)
    }

    /// The receiver has a radio's packet, unless it had it before.
    #[inline(always)]
    pub(super) fn deliver(&mut self, now: Time, sender: usize) {
        let Some(Head { job: Job::Packet { from, packet }, rest_bytes, .. }) =
            &mut self.radios[sender].own.head
        else {
            return;
        };
        let from = *from;
        if *rest_bytes > 0 {
            return;
        }
        if let Some(packet) = packet.take() {
            if !self.may_arrive(from) {
                return self.arrives_from_a_stranger(now, from, packet);
            }
            if self.losses.is_some() && self.loses(now, from, &packet, Of::Packets) {
                return self.drop_packet(now, from, packet, DropReason::Loss);
            }
            self.stats[from.0 as usize].delivered_packets += 1;
            self.arrives(now, from, &packet);
            self.arrived.push_back((self.ways[from.0 as usize].opposite, packet));
        }
    }

    /// A radio's packet was acknowledged.
    pub(super) fn succeed(&mut self, now: Time, number: usize) {
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
    fn succeed_in_txop(&mut self, now: Time, number: usize) {
        self.take_next(now, number);
        if self.rates.is_some() {
            self.choose_rate(now, number);
        }
        let begins = now + self.config.timing.sifs;
        let radio = &self.radios[number];
        if let Some(head) = &radio.own.head
            && begins + self.exchange_time(number, head) <= radio.txop_until
        {
            let radio = &mut self.radios[number];
            radio.attempt = Attempt::Since(now);
            radio.own.contends_since = begins;
            return self.at(begins, Step::Continue(number));
        }
        self.back_off(now, number);
    }

    /// A fragment was acknowledged, and another one follows SIFS behind (clause 9.1.4). Attempts are counted
    /// for each (clause 9.2.5.3).
    #[inline(never)]
    fn next_fragment(&mut self, now: Time, number: usize) {
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
        self.at(begins, Step::Fragment(number));
    }

    /// What the next fragment takes of what a radio sends, with SIFS before it, behind it and its ACK: an
    /// ACK, and the fragment before it, reserve the medium for it too (clause 9.2.5.6).
    fn next_fragment_time(&self, number: usize) -> Span {
        let Some(head) = &self.radios[number].own.head else { return Span::ZERO };
        if head.rest_bytes == 0 {
            return Span::ZERO;
        }
        let most_bytes = self.config.fragmentation_threshold_bytes - HEADER_BYTES;
        let bytes = head.rest_bytes.min(most_bytes) + HEADER_BYTES;
        let sifs = self.config.timing.sifs;
        sifs + self.config.format.airtime(bytes, head.rate_bps) + sifs + self.airtime(Kind::Ack, number)
    }

    /// A packet in hand, or its first fragment.
    fn head_of(&self, from: Attachment, packet: Packet) -> Head {
        let Way { to, rate_bps, .. } = self.ways[from.0 as usize];
        let bytes = packet.size_bytes + FRAME_OVERHEAD_BYTES;
        let mut head = Head::new(to, bytes, rate_bps, Job::Packet { from, packet: Some(packet) });
        let most_bytes = self.config.fragmentation_threshold_bytes;
        if bytes > most_bytes && to != ALL {
            head.rest_bytes = bytes - most_bytes;
            head.bytes = most_bytes;
        }
        head
    }

    /// How long the exchange takes of what a radio has in hand.
    fn exchange_time(&self, number: usize, head: &Head) -> Span {
        let sifs = self.config.timing.sifs;
        let of = |kind: Kind| self.airtime(kind, number);
        let with_rts = head.to != ALL && head.bytes > self.config.rts_threshold_bytes;
        let before = match self.config.protection.map(|protection| protection.mechanism) {
            Some(Mechanism::CtsToSelf) if !with_rts => of(Kind::CtsToSelf) + sifs,
            Some(Mechanism::RtsCts) if head.to == ALL => of(Kind::CtsToSelf) + sifs,
            None if !with_rts => Span::ZERO,
            _ => of(Kind::Rts) + sifs + of(Kind::Cts) + sifs,
        };
        let answer = if head.to == ALL { Span::ZERO } else { sifs + of(Kind::Ack) };
        let mut rest_bytes = head.rest_bytes;
        let mut fragments = Span::ZERO;
        while rest_bytes > 0 {
            let bytes = rest_bytes.min(self.config.fragmentation_threshold_bytes - HEADER_BYTES);
            fragments += sifs + self.config.format.airtime(bytes + HEADER_BYTES, head.rate_bps) + answer;
            rest_bytes -= bytes;
        }
        before + of(head.kind()) + answer + fragments
    }

    /// No answer has come.
    pub(super) fn fail(&mut self, now: Time, number: usize) {
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
        radio.draw_backoff();
    }

    /// A radio's packet is given up; the receiver may have it all the same.
    pub(super) fn give_up(&mut self, now: Time, number: usize) {
        if let Some(Head { job: Job::Packet { from, packet }, .. }) = &mut self.radios[number].own.head
            && let Some(packet) = packet.take()
        {
            let from = *from;
            self.drop_packet(now, from, packet, DropReason::RetryLimit);
        }
        self.next_packet(now, number);
    }

    /// A frame exchange is over: what of it was on the air counts as busy.
    pub(super) fn account(&mut self, until: Time, number: usize) {
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
    pub(super) fn next_packet(&mut self, now: Time, number: usize) {
        self.take_next(now, number);
        self.back_off(now, number);
    }

    /// A radio turns to its next packet, with the smallest window.
    fn take_next(&mut self, now: Time, number: usize) {
        let function = &mut self.radios[number].own;
        function.cw = function.access.cw_min;
        self.next_head(now, number);
        if self.radios[number].own.head.is_none() {
            self.contender(now, number, false);
        }
    }

    /// A radio contends from now on.
    pub(super) fn back_off(&mut self, now: Time, number: usize) {
        let radio = &mut self.radios[number];
        radio.own.contends_since = now;
        radio.draw_backoff();
    }

    /// A radio turns to what it sends next, if there is anything.
    #[inline]
    pub(super) fn next_head(&mut self, now: Time, number: usize) {
        if self.has_paths {
            return self.next_of_station(now, number);
        }
        let next = self.radios[number].own.queue.dequeue(now);
        self.radios[number].own.head = next.map(|Waiting { from, packet, .. }| self.head_of(from, packet));
        self.take_drops(now, number);
    }

    /// The same where stations find their access points: management frames go first, and packets wait while a
    /// station is away.
    #[inline(never)]
    fn next_of_station(&mut self, now: Time, number: usize) {
        let radio = &self.radios[number];
        let highest = radio.own.category == radio.others.len();
        if highest && !radio.management.is_empty() {
            self.radios[number].own.head = self.management_head(number);
            return;
        }
        self.radios[number].own.head = None;
        while !self.radios[number].blocked && self.radios[number].own.head.is_none() {
            let radio = &mut self.radios[number];
            let parked = radio.own.parked.take();
            let next = match parked {
                Some(head) => Some(head),
                None => {
                    let next = radio.own.queue.dequeue(now);
                    next.map(|Waiting { from, packet, .. }| self.head_of(from, packet))
                }
            };
            self.take_drops(now, number);
            match next {
                Some(Head { job: Job::Packet { from, packet: Some(packet) }, .. }) if !self.may_go(from) => {
                    self.drop_packet(now, from, packet, DropReason::NotAssociated);
                }
                Some(head) => {
                    // Its window is as wide as its attempts have left it.
                    let radio = &mut self.radios[number];
                    for _ in 0..head.short_retries + head.long_retries {
                        radio.own.widen();
                    }
                    radio.own.head = Some(head);
                }
                None => return,
            }
        }
    }

    /// What a queue has dropped of what it had taken.
    #[inline]
    pub(super) fn take_drops(&mut self, now: Time, number: usize) {
        if self.radios[number].own.queue.may_have_dropped() {
            self.take_drops_of_queue(now, number);
        }
    }

    #[inline(never)]
    fn take_drops_of_queue(&mut self, now: Time, number: usize) {
        while let Some((Waiting { from, packet, .. }, reason)) = self.radios[number].own.queue.poll_drop(now)
        {
            self.drop_packet(now, from, packet, reason);
        }
    }

    #[inline(always)]
    pub(super) fn take(&mut self, now: Time, step: Step) {
        match step {
            Step::End(frame) => self.end(now, frame),
            Step::Cts(from, to) => {
                self.send(now, Kind::Cts, from, to);
                let radio = &mut self.radios[from];
                radio.invites_until = radio.sent.1 + self.config.timing.sifs + Span::from_ns(1);
            }
            Step::Ack(from, to) => self.send(now, Kind::Ack, from, to),
            Step::Data(from) => {
                if let Some(head) = &self.radios[from].own.head {
                    self.send(now, head.kind(), from, head.to);
                }
            }
            Step::Continue(number) => self.begin(now, number),
            Step::Fragment(number) => self.begin_or_continue(now, number, true),
            Step::Timeout(number) => self.fail(now, number),
            Step::Beacon(cell) => self.beacon_due(now, cell),
            Step::Free => {}
            Step::Station(number, timer) => self.station_timer(now, number, timer),
        }
    }
}
