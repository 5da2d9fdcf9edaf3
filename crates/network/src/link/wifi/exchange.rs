//! The exchange of frames about a packet, from its first frame to its acknowledgement, and what follows where an answer fails
//! to come (clauses 9.2.5.3, 9.2.5.7, 9.2.8).

use super::loss::Of;
use super::medium::{Frame, Kind};
use super::phy::{ACK_BYTES, CTS_BYTES, FRAME_OVERHEAD_BYTES, RTS_BYTES};
use super::radio::{ALL, Attempt, Head, Job};
use super::{Cell, DropReason, Heard, Way};
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
    /// No answer has come for a radio.
    Timeout(usize),
    /// Time for a cell's beacon.
    Beacon(usize),
    /// A radio that wants to leave its channel may be free.
    Free,
    /// A station's timer, by the radio and the timer's number.
    Station(usize, u64),
}

impl Cell {
    /// A radio begins a frame exchange.
    pub(super) fn begin(&mut self, now: Time, number: usize) {
        if self.rates.is_some() {
            self.choose_rate(number);
        }
        if self.log.is_some() {
            self.number_frame(number);
        }
        let radio = &mut self.radios[number];
        let Some(head) = &mut radio.head else { return };
        let (to, bytes) = (head.to, head.bytes);
        let first = head.short_retries == 0 && head.long_retries == 0;
        if !std::mem::replace(&mut head.begun, true)
            && let Job::Packet { from, packet: Some(packet) } = &head.job
        {
            let stats = &mut self.stats[from.0 as usize];
            stats.sent_packets += 1;
            stats.sent_bytes += u64::from(packet.size_bytes);
        }
        let contended_since = if first { radio.contends_since } else { radio.not_before };
        let kind = if to != ALL && bytes > self.config.rts_threshold_bytes { Kind::Rts } else { head.kind() };
        radio.time.attempts += u64::from(to != ALL);
        radio.time.contention += now - contended_since;
        self.send(now, kind, number, to);
    }

    /// The highest rate of what a radio has in hand, and whom it is for; `None` where that has no choice.
    fn highest_rate(&self, number: usize) -> Option<(usize, u64)> {
        let head = self.radios[number].head.as_ref()?;
        head.from().filter(|_| head.to != ALL).map(|from| (head.to, self.ways[from.0 as usize].rate_bps))
    }

    #[inline(never)]
    fn choose_rate(&mut self, number: usize) {
        let Some((to, most_bps)) = self.highest_rate(number) else { return };
        if let (Some(rates), Some(head)) = (&self.rates, &mut self.radios[number].head) {
            head.rate_bps = rates.choose_bps(number, to, most_bps);
        }
    }

    /// An exchange of a radio was answered, or was not.
    #[inline(never)]
    fn judge_rate(&mut self, number: usize, answered: bool) {
        let Some((to, most_bps)) = self.highest_rate(number) else { return };
        if let (Some(rates), Some(head)) = (&mut self.rates, &self.radios[number].head) {
            rates.ends(number, to, (head.rate_bps, most_bps), answered);
        }
    }

    /// The rate of a frame, in the exchange of what one of two radios has in hand.
    pub(super) fn frame_rate_bps(&self, kind: Kind, initiator: usize) -> u64 {
        let rate_bps = self.radios[initiator].head.as_ref().map_or(0, |head| head.rate_bps);
        match kind {
            Kind::Data | Kind::Management => rate_bps,
            Kind::Rts | Kind::Cts | Kind::Ack => self.config.control_rate_bps(rate_bps),
        }
    }

    /// The airtime of a frame between two radios, in the exchange of what one of them has in hand.
    pub(super) fn airtime(&self, kind: Kind, initiator: usize) -> Span {
        let Some(head) = &self.radios[initiator].head else { return Span::ZERO };
        let control_rate_bps = self.config.control_rate_bps(head.rate_bps);
        match kind {
            Kind::Data | Kind::Management => self.config.format.airtime(head.bytes, head.rate_bps),
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
            (Kind::Rts | Kind::Data | Kind::Management, false) | (Kind::Rts, true) => {
                self.at(now + timing.response_timeout, Step::Timeout(from));
            }
            (Kind::Cts, true) => self.at(now + timing.sifs, Step::Data(to)),
            (Kind::Data, true) => {
                self.deliver(now, from);
                self.answer(now, Step::Ack(to, from), to);
            }
            (Kind::Management, true) => {}
            (Kind::Ack, true) => self.succeed(now, to),
            // An answer that began in time is waited for to its end.
            (Kind::Cts | Kind::Ack, false) => {
                let timeout = self.radios[to].sent.1 + timing.response_timeout;
                self.at(timeout.max(now), Step::Timeout(to));
            }
        }
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
    pub(super) fn deliver(&mut self, now: Time, sender: usize) {
        let Some(Head { job: Job::Packet { from, packet }, .. }) = &mut self.radios[sender].head else {
            return;
        };
        let from = *from;
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
        self.next_packet(now, number);
    }

    /// No answer has come.
    pub(super) fn fail(&mut self, now: Time, number: usize) {
        self.radios[number].time.failed_attempts += 1;
        if self.rates.is_some() {
            self.judge_rate(number, false);
        }
        let sent_until = self.radios[number].sent.1;
        self.account(sent_until, number);
        let radio = &mut self.radios[number];
        radio.not_before = now;
        let Some(head) = &mut radio.head else { return };
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
        radio.cw = (2 * radio.cw + 1).min(self.config.cw_max);
        radio.draw_backoff();
    }

    /// A radio's packet is given up; the receiver may have it all the same.
    pub(super) fn give_up(&mut self, now: Time, number: usize) {
        if let Some(Head { job: Job::Packet { from, packet }, .. }) = &mut self.radios[number].head
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
        if let (Attempt::Since(begin), Some(from)) = (radio.attempt, radio.head.as_ref().and_then(Head::from))
        {
            self.stats[from.0 as usize].busy += until - begin;
        }
        radio.attempt = Attempt::None;
    }

    /// A radio's packet is dealt with. A back-off follows, even when nothing is queued behind it (clause 9.2.5.2).
    pub(super) fn next_packet(&mut self, now: Time, number: usize) {
        self.radios[number].cw = self.config.cw_min;
        self.next_head(now, number);
        if self.radios[number].head.is_none() {
            self.contender(now, number, false);
        }
        let radio = &mut self.radios[number];
        radio.contends_since = now;
        radio.draw_backoff();
    }

    /// A radio turns to what it sends next, if there is anything.
    pub(super) fn next_head(&mut self, now: Time, number: usize) {
        if self.has_paths {
            return self.next_of_station(now, number);
        }
        let next = self.radios[number].queue.dequeue(now);
        let ways = &self.ways;
        self.radios[number].head = next.map(|Waiting { from, packet, .. }| {
            let Way { to, rate_bps, .. } = ways[from.0 as usize];
            let bytes = packet.size_bytes + FRAME_OVERHEAD_BYTES;
            Head::new(to, bytes, rate_bps, Job::Packet { from, packet: Some(packet) })
        });
        self.take_drops(now, number);
    }

    /// The same where stations find their access points: management frames go first, and packets wait while a station is away.
    #[inline(never)]
    fn next_of_station(&mut self, now: Time, number: usize) {
        if !self.radios[number].management.is_empty() {
            self.radios[number].head = self.management_head(number);
            return;
        }
        self.radios[number].head = None;
        while !self.radios[number].blocked && self.radios[number].head.is_none() {
            let radio = &mut self.radios[number];
            let parked = radio.parked.take();
            let ways = &self.ways;
            let next = parked.or_else(|| {
                let Waiting { from, packet, .. } = radio.queue.dequeue(now)?;
                let Way { to, rate_bps, .. } = ways[from.0 as usize];
                let bytes = packet.size_bytes + FRAME_OVERHEAD_BYTES;
                Some(Head::new(to, bytes, rate_bps, Job::Packet { from, packet: Some(packet) }))
            });
            self.take_drops(now, number);
            match next {
                Some(Head { job: Job::Packet { from, packet: Some(packet) }, .. }) if !self.may_go(from) => {
                    self.drop_packet(now, from, packet, DropReason::NotAssociated);
                }
                Some(head) => {
                    // Its window is as wide as its attempts have left it.
                    let radio = &mut self.radios[number];
                    for _ in 0..head.short_retries + head.long_retries {
                        radio.cw = (2 * radio.cw + 1).min(self.config.cw_max);
                    }
                    radio.head = Some(head);
                }
                None => return,
            }
        }
    }

    /// What a queue has dropped of what it had taken.
    pub(super) fn take_drops(&mut self, now: Time, number: usize) {
        while let Some((Waiting { from, packet, .. }, reason)) = self.radios[number].queue.poll_drop(now) {
            self.drop_packet(now, from, packet, reason);
        }
    }

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
                if let Some(head) = &self.radios[from].head {
                    self.send(now, head.kind(), from, head.to);
                }
            }
            Step::Timeout(number) => self.fail(now, number),
            Step::Beacon(cell) => self.beacon_due(now, cell),
            Step::Free => {}
            Step::Station(number, timer) => self.station_timer(now, number, timer),
        }
    }
}
