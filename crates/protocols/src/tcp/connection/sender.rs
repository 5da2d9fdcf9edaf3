//! The sending direction: acknowledgements received, and what they make of its state.

use roamsim_engine::Time;

use super::extras::{Ending, Extras};
use super::timers::Timer;
use super::{Connection, Extended, Pending};
use crate::tcp::config::Config;
use crate::tcp::congestion::{self, Ack, Cause, Controller};
use crate::tcp::detection::Detection;
use crate::tcp::recovery::{Outstanding, Progress, Recovery, Response};
use crate::tcp::repeat::Reason;
use crate::tcp::rtt::RttEstimator;
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::sent::Sent;
use crate::tcp::sequence::from_wire;
use roamsim_engine::Span;

/// The sending direction. Offsets count from the SYN: octet n of the stream is n + 1, the FIN written + 1.
#[derive(Clone, Debug)]
#[repr(C)] // what every segment needs comes first; ahead of it what one that arrives at a receiver needs
pub(super) struct Sender {
    pub(super) iss: u32,
    pub(super) snd_wnd_shift: u8,
    pub(super) fin_queued: bool,
    pub(super) probe_due: bool,
    /// Slow start after a loss: it counts one segment an ACK, as one ACK may tell of many that had arrived
    /// before (RFC 3465 2.3).
    pub(super) slow_start_after_loss: bool,
    pub(super) snd_una: u64,
    /// Next offset to send; goes back after a timeout.
    pub(super) snd_nxt: u64,
    /// One above the highest offset ever sent within the peer's window.
    pub(super) snd_max: u64,
    /// Octets the application has written.
    pub(super) written: u64,
    pub(super) snd_wnd: u64,
    snd_wl1: u64,
    snd_wl2: u64,
    pub(super) max_snd_wnd: u64,
    pub(super) extras: Option<Box<Extras>>,
    pub(super) recovery: Recovery,
    pub(super) smss: u64,
    pub(super) detection: Detection,
    /// The segment that is timed ends here; 0 when none is.
    timed_end: u64,
    pub(super) last_sent_at: Time,
    /// The round trip under way ends when this offset is acknowledged.
    round_end: u64,
    /// The largest flight in this round trip, and in the one before.
    pub(super) flight_peak: u64,
    pub(super) flight_peak_before: u64,
    /// One above the octet or FIN that a probe has sent beyond it, and that the peer need not have taken.
    pub(super) probe_end: u64,
    /// Octets of the flight that limited transmit has let go.
    limited_transmit_bytes: u64,
    /// Timeouts since an ACK last moved SND.UNA, or probes since any ACK.
    pub(super) retries: u32,
    /// Probes of the window since data last went.
    pub(super) probes: u32,
    pub(super) congestion: Controller,
    pub(super) rtt: RttEstimator,
    timed_at: Time,
    /// Why data that is sent again last was.
    pub(super) repeats_for: Reason,
    /// Why everything outstanding is sent anew, where it is.
    pub(super) goes_back_for: Reason,
    /// What the ends have agreed on, options included.
    pub(super) agreed_mss: u32,
    /// What the path carries, options included; `u32::MAX` as long as that is not known.
    pub(super) path_mss: u32,
}

impl Sender {
    pub(super) fn new(config: &Config, iss: u32) -> Sender {
        Sender {
            iss,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            probe_end: 0,
            snd_wnd: 0,
            snd_wl1: 0,
            snd_wl2: 0,
            max_snd_wnd: 0,
            snd_wnd_shift: 0,
            fin_queued: false,
            probe_due: false,
            written: 0,
            smss: u64::from(config.mss_bytes.max(1)),
            agreed_mss: config.mss_bytes.max(1),
            path_mss: u32::MAX,
            timed_end: 0,
            timed_at: Time::ZERO,
            last_sent_at: Time::ZERO,
            round_end: 0,
            flight_peak: 0,
            flight_peak_before: 0,
            limited_transmit_bytes: 0,
            slow_start_after_loss: false,
            retries: 0,
            probes: 0,
            repeats_for: Reason::default(),
            goes_back_for: Reason::default(),
            rtt: RttEstimator::new(&config.rtt_bounds()),
            detection: Detection::new(config.detection(), &config.detection_settings()),
            recovery: Recovery::new(config.recovery(), &config.recovery_settings()),
            extras: Extras::new(config),
            congestion: Controller::new(config.congestion_control(), &config.congestion_settings()),
        }
    }

    /// The handshake is complete: the SYN is acknowledged and the peer offers `snd_wnd`.
    /// With Fast Open data may have gone before.
    pub(super) fn established(&mut self, now: Time, config: &Config, snd_wnd: u64, is_open_early: bool) {
        self.snd_una = 1;
        self.snd_nxt = self.snd_nxt.max(1);
        self.snd_wnd = snd_wnd;
        self.max_snd_wnd = self.max_snd_wnd.max(snd_wnd);
        self.last_sent_at = now;
        let syns_lost = self.retries > config.initial_window.spare_syns();
        let initial = if syns_lost { self.smss } else { config.initial_window.bytes(self.smss) };
        if !is_open_early || syns_lost {
            self.congestion.start(self.smss, initial);
        }
        if self.retries > 0 {
            self.rtt.restart_after_lost_syn(&config.rtt_bounds());
        }
        self.retries = 0;
    }

    /// The peer does not take SACK: RFC 6582 is for that, with PRR if asked for, and Reno's window where the
    /// own one needs samples.
    pub(super) fn do_without_sack(&mut self, config: &Config) {
        if self.recovery.takes_blocks() {
            self.recovery = Recovery::new(config.recovery_without_sack(), &config.recovery_settings());
            if config.takes_samples() {
                self.congestion = Controller::new(congestion::Kind::Reno, &config.congestion_settings());
            }
            if let Some(first) = self.extras.as_mut().and_then(|extras| extras.hystart.as_mut()) {
                first.sent = Some(Sent::default());
            }
        }
    }

    /// Takes the SACK blocks of a segment that acknowledges up to `ack`. True when they tell of octets not
    /// told of before: a duplicate ACK in the sense of RFC 6675 section 2. A block at or below the cumulative
    /// ACK tells of a duplicate (RFC 2883) and is passed over, as is one above what was sent.
    #[cold]
    fn take_blocks(&mut self, segment: &Segment, ack: u64) -> bool {
        let floor = ack.max(self.snd_una);
        let mut new = false;
        for &(left, right) in segment.options.sack.as_slice() {
            let edges = (from_wire(self.iss, left, floor), from_wire(self.iss, right, floor));
            if let (Some(start), Some(end)) = edges
                && floor < start
                && start < end
                && end <= self.snd_max
            {
                new |= self.recovery.on_block(start, end);
            }
        }
        new
    }

    /// Stream offset up to which the peer has acknowledged.
    #[inline]
    pub(super) fn acknowledged(&self) -> u64 {
        self.snd_una.saturating_sub(1).min(self.written)
    }

    /// One above the highest offset ever sent, probes of the window included.
    #[inline]
    pub(super) fn highest_sent(&self) -> u64 {
        self.snd_max.max(self.probe_end)
    }

    /// The offset of a segment that takes no sequence space. SND.NXT goes back after a timeout and would then
    /// lie below the peer's window, so it is the highest sent; unless the peer has drawn its right edge back,
    /// beyond which nothing is acceptable (RFC 9293 3.4): then it is SND.NXT, or the edge, at which whatever
    /// lies below has arrived before it. By less than a step of the scaled field it draws back without
    /// meaning it, and accepts what it has offered (RFC 7323 2.4).
    #[inline]
    pub(super) fn offset_without_data(&self) -> u64 {
        let edge = self.snd_una + self.snd_wnd;
        if self.snd_max <= edge {
            return self.snd_max;
        }
        let drawn_back = (self.snd_max - edge) >> self.snd_wnd_shift > 0;
        // The window of a connection that is not established is not known.
        if drawn_back && self.snd_una > 0 { edge.min(self.snd_nxt) } else { self.snd_max }
    }

    #[inline]
    pub(super) fn flight(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// Octets that may be in flight by recovery and congestion control.
    #[inline]
    pub(super) fn send_window(&self) -> u64 {
        self.recovery.send_window(self.congestion.cwnd_bytes(), self.smss)
    }

    /// Octets that count against that window, of a recovery that takes SACK blocks.
    #[inline(never)]
    pub(super) fn pipe_bytes(&self) -> u64 {
        self.recovery.pipe_bytes(&self.outstanding())
    }

    /// What is sent anew goes on where such a recovery has it go on: how many octets at most.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_to_anew(&mut self) -> u64 {
        let at = self.outstanding();
        let anew = self.recovery.next_to_send_anew(&at);
        self.snd_nxt = anew.start;
        self.smss.min(anew.end.saturating_sub(anew.start))
    }

    pub(super) fn outstanding(&self) -> Outstanding {
        Outstanding {
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            snd_max: self.snd_max,
            smss_bytes: self.smss,
        }
    }

    /// Whether nothing is sent anew or probed.
    #[inline]
    pub(super) fn is_new_and_unprobed(&self) -> bool {
        self.snd_nxt == self.snd_max && self.probe_end <= self.snd_max && !self.probe_due && self.probes == 0
    }

    /// Whether nothing is repaired, sent anew or probed, and nothing has told of a loss since the last ACK.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        self.recovery.is_undisturbed()
            && self.detection.is_undisturbed()
            && !self.slow_start_after_loss
            && self.limited_transmit_bytes == 0
            && self.retries == 0
            && self.is_new_and_unprobed()
    }

    /// Whether a segment offers the window that is known.
    #[inline]
    pub(super) fn offers_the_same(&self, segment: &Segment) -> bool {
        u64::from(segment.window) << self.snd_wnd_shift == self.snd_wnd
    }

    /// Whether a segment that starts at `seq` and acknowledges nothing new may move the window.
    #[inline]
    pub(super) fn is_window_news(&self, seq: u64) -> bool {
        self.snd_wl1 <= seq
    }

    /// Takes the window of a segment that starts at `seq` and acknowledges up to `ack`.
    #[inline]
    pub(super) fn take_window(&mut self, segment: &Segment, seq: u64, ack: u64) {
        self.snd_wnd = u64::from(segment.window) << self.snd_wnd_shift;
        self.snd_wl1 = self.snd_wl1.max(seq);
        self.snd_wl2 = ack;
        self.max_snd_wnd = self.max_snd_wnd.max(self.snd_wnd);
    }

    /// Times the segment that ends at `end`, unless another is timed.
    #[inline]
    pub(super) fn time_segment(&mut self, end: u64, now: Time) {
        if self.timed_end == 0 {
            self.timed_end = end;
            self.timed_at = now;
        }
    }

    /// Karn's algorithm: after a retransmission an ACK measures nothing.
    #[inline]
    pub(super) fn stop_timing(&mut self) {
        self.timed_end = 0;
    }

    /// The time since the timed segment was sent, when `ack` covers it.
    #[inline]
    pub(super) fn end_timing(&mut self, now: Time, ack: u64) -> Option<Span> {
        if self.timed_end == 0 || ack < self.timed_end {
            return None;
        }
        self.timed_end = 0;
        Some(now.since(self.timed_at))
    }

    /// The congestion control takes an ACK for so many new octets.
    #[inline(always)]
    pub(super) fn grow_window(
        &mut self,
        now: Time,
        acked: u64,
        most_segments: u64,
        rtt: Option<Span>,
        may_grow: bool,
    ) {
        if self.extras.as_ref().is_some_and(|extras| extras.grows_otherwise()) {
            self.grow_otherwise(now, acked, most_segments, rtt, may_grow);
        } else {
            self.grow_any_window(now, acked, most_segments, rtt, may_grow, self.in_use_bytes());
        }
    }

    /// The largest flight in this and the last round trip.
    #[inline(always)]
    pub(super) fn in_use_bytes(&self) -> u64 {
        self.flight_peak.max(self.flight_peak_before)
    }

    #[inline(always)]
    pub(super) fn grow_any_window(
        &mut self,
        now: Time,
        acked: u64,
        most_segments: u64,
        rtt: Option<Span>,
        may_grow: bool,
        in_use_bytes: u64,
    ) {
        let Sender { congestion, rtt: estimator, snd_una, snd_nxt, .. } = self;
        congestion.on_ack(
            #[inline(always)]
            || Ack {
                bytes: acked,
                may_grow,
                most_segments,
                in_use_bytes,
                now,
                srtt: estimator.srtt(),
                rtt,
                snd_una: *snd_una,
                snd_nxt: *snd_nxt,
            },
        );
    }

    /// The same where a loss may have preceded it.
    pub(super) fn grow_behind_ack(
        &mut self,
        now: Time,
        acked: u64,
        config: &Config,
        rtt: Option<Span>,
        may_grow: bool,
    ) {
        self.slow_start_after_loss &= self.congestion.cwnd_bytes() < self.congestion.ssthresh_bytes();
        let most_segments = match self.slow_start_after_loss {
            true => 1,
            false => u64::from(config.byte_counting_limit),
        };
        self.grow_window(now, acked, most_segments, rtt, may_grow);
    }

    /// The same by the rules of Linux: an acknowledgement newly delivers so many octets, and all count.
    pub(super) fn grow_by_delivered(
        &mut self,
        now: Time,
        delivered: u64,
        config: &Config,
        rtt: Option<Span>,
        may_grow: bool,
    ) {
        self.slow_start_after_loss &= self.congestion.cwnd_bytes() < self.congestion.ssthresh_bytes();
        self.grow_window(now, delivered, u64::from(config.byte_counting_limit), rtt, may_grow);
    }

    /// An ACK up to here may end the round trip under way.
    #[inline]
    pub(super) fn count_round(&mut self, ack: u64) {
        if ack >= self.round_end {
            self.round_end = self.snd_max;
            self.flight_peak_before = self.flight_peak;
            self.flight_peak = self.flight();
        }
    }

    /// Data goes in the regular order, so many octets of it beyond the congestion window.
    #[inline]
    pub(super) fn let_go(&mut self, limited_transmit_bytes: u64) {
        self.probe_due = false;
        self.probes = 0;
        self.limited_transmit_bytes += limited_transmit_bytes;
    }

    /// Something has just been sent.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Time) {
        self.last_sent_at = now;
        self.flight_peak = self.flight_peak.max(self.flight());
    }

    /// FlightSize as a reduction takes it: what limited transmit sent does not count (RFC 5681 3.2, step 2),
    /// and equation 4 is an upper bound (3.1, 3.2). Behind a timeout what SACK has told of is outstanding
    /// beside the window: it does not raise it.
    #[cold]
    pub(super) fn counted_flight(&self, at: &Outstanding) -> u64 {
        let flight_bytes = at.flight_bytes().saturating_sub(self.limited_transmit_bytes);
        let beside_the_window = self.recovery.takes_blocks() && !self.recovery.is_recovering();
        if beside_the_window { flight_bytes.min(self.congestion.cwnd_bytes()) } else { flight_bytes }
    }

    /// The retransmission timer expired: everything in flight is taken as lost and sent anew in slow start.
    /// ssthresh stays if a mark that `is_answered` has told of the same congestion.
    pub(super) fn go_back(&mut self, now: Time, is_answered: bool) {
        let at = self.outstanding();
        let cause = Cause::Timeout {
            flight_bytes: self.counted_flight(&at),
            repeated: self.retries > 1 || is_answered,
            repairing: self.recovery.is_recovering(),
        };
        self.congestion.on_congestion(cause, now);
        self.forget_pipe_ack();
        if let Some(Ending::Linux(train)) = self.hystart_end() {
            train.on_timeout(now, at.snd_nxt);
        }
        self.recovery.on_timeout(&at);
        self.detection.on_timeout(now);
        if matches!(self.recovery, Recovery::Rack(_)) {
            self.begin_anew();
        } else {
            self.send_anew(Reason::Timeout);
        }
    }

    /// Everything in flight is taken as lost for this reason: sending starts anew at SND.UNA.
    fn send_anew(&mut self, reason: Reason) {
        self.goes_back_for = reason;
        self.snd_nxt = self.snd_una;
        self.begin_anew();
    }

    /// Slow start behind a loss begins.
    fn begin_anew(&mut self) {
        self.slow_start_after_loss = true;
        self.limited_transmit_bytes = 0;
        self.stop_timing();
    }
}

impl Connection {
    /// The acknowledgement field and window of a segment. False when the segment goes no further.
    #[inline]
    pub(super) fn acknowledge(&mut self, now: Time, segment: &Segment, seq: u64, ack: Option<u64>) -> bool {
        let snd_una = self.sender.snd_una;
        let believed = self.take_acknowledgement(now, segment, seq, ack);
        if believed && self.extended.has(Extended::LIVENESS) {
            self.note_progress(now);
        }
        if believed && self.sender.is_tracked() {
            let echoes = self.echoes_marks(segment, self.sender.snd_una);
            self.finish_ack(now, segment, echoes);
            if self.sender.snd_una > snd_una {
                self.fill_send_buffer(now);
            }
        }
        believed
    }

    #[inline]
    fn take_acknowledgement(&mut self, now: Time, segment: &Segment, seq: u64, ack: Option<u64>) -> bool {
        let sender = &mut self.sender;
        let ack = match ack {
            // RFC 5961 5.2: what is older than any window, or was never sent, is not believed.
            Some(ack) if ack <= sender.highest_sent() && ack + sender.max_snd_wnd >= sender.snd_una => ack,
            _ => {
                self.challenge(now, segment);
                return false;
            }
        };
        let tells_of_more = sender.recovery.takes_blocks()
            && !segment.options.sack.is_empty()
            && match sender.recovery {
                Recovery::Rack(_) => self.take_blocks_by_time(now, segment, ack),
                _ => sender.take_blocks(segment, ack),
            };
        let sender = &mut self.sender;
        if ack < sender.snd_una {
            if tells_of_more {
                self.duplicate_ack(now);
            }
            return true;
        }
        // RFC 5681 section 2; a probe of the window is not outstanding data of its kind.
        let duplicate = !sender.recovery.takes_blocks()
            && ack == sender.snd_una
            && segment.payload_bytes == 0
            && sender.offers_the_same(segment)
            && self.timers.runs(Timer::Retransmission)
            && !segment.flags.intersects(Flags::SYN | Flags::FIN);
        // RFC 9293 3.10.7.4, fifth; and what acknowledges more than anything before is newer than all of it
        // (as Linux): data that is repeated has an old sequence number, and with the old window the edge
        // would move where none was offered.
        if !segment.flags.contains(Flags::SYN)
            && (ack > sender.snd_una
                || sender.snd_wl1 < seq
                || (sender.snd_wl1 == seq && sender.snd_wl2 <= ack))
        {
            sender.take_window(segment, seq, ack);
        }
        if ack > sender.snd_una {
            self.new_ack(now, segment, ack);
        } else if duplicate {
            self.duplicate_ack(now);
            return true;
        } else if self.timers.runs(Timer::Persist) {
            sender.retries = 0;
        }
        // With SACK, also one that acknowledges new data, carries data or moves the window (RFC 6675 section
        // 2).
        if tells_of_more {
            self.duplicate_ack(now);
        }
        true
    }

    #[inline]
    pub(super) fn new_ack(&mut self, now: Time, segment: &Segment, ack: u64) {
        self.take_echo(now, segment, ack);
        let sender = &mut self.sender;
        let acked = ack - sender.snd_una;
        sender.snd_una = ack;
        sender.snd_nxt = sender.snd_nxt.max(ack);
        // The octet of a probe counts once it is taken.
        sender.snd_max = sender.snd_max.max(ack);
        sender.retries = 0;
        sender.limited_transmit_bytes = 0;
        self.pending.set(Pending::ACKNOWLEDGED);
        let heard = sender.detection.on_new_ack(ack, now);
        let at = sender.outstanding();
        let echoes = self.ecn.agreed && self.echoes_marks(segment, ack);
        let sender = &mut self.sender;
        let progress = sender.recovery.on_ack(&at, acked, sender.congestion.ssthresh_bytes());
        // The window grows by what was in use until now, so a deferred acknowledgement counts the round
        // behind that.
        let is_deferred = matches!(progress, Progress::Deferred);
        let restart_timer = match progress {
            Progress::Normal if echoes => {
                sender.follow_mark_reduction();
                true
            }
            Progress::Normal => {
                sender.grow_behind_ack(now, acked, &self.config, heard.rtt, true);
                true
            }
            Progress::Partial { restart_timer } => restart_timer,
            Progress::Deferred => true,
            Progress::Recovered { cwnd_bytes } => {
                sender.end_recovery(cwnd_bytes);
                true
            }
        };
        if !is_deferred {
            sender.count_round(ack);
        }
        if sender.snd_una == sender.snd_max || restart_timer && !self.timers.runs(Timer::Persist) {
            self.restart_timer(now);
        }
        let sender = &self.sender;
        if sender.fin_queued && sender.snd_una == sender.written + 2 {
            self.fin_acknowledged(now);
        }
        if heard.overdue {
            self.answer_loss(now);
        }
    }

    /// RFC 3168 6.1.2: an acknowledgement that tells of congestion does not have the window grow. Behind a
    /// timeout, which has answered it, nothing new goes that could say CWR until all is repeated.
    fn echoes_marks(&self, segment: &Segment, ack: u64) -> bool {
        let is_answered = self.sender.slow_start_after_loss && self.ecn.is_of_before_reduction(ack);
        self.ecn.agreed && segment.flags.contains(Flags::ECE) && !is_answered
    }

    /// The timer runs anew for what is in flight, or stops where nothing is (RFC 6298 5.2 and 5.3).
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time) {
        let sender = &self.sender;
        if sender.snd_una == sender.snd_max {
            self.timers.stop(Timer::Retransmission);
        } else {
            self.timers.start(Timer::Retransmission, now + sender.rtt.rto());
        }
    }

    /// An ACK up to `ack` may measure the round trip.
    #[inline(always)]
    pub(super) fn take_echo(&mut self, now: Time, segment: &Segment, ack: u64) {
        if !self.extended.has(Extended::TIMESTAMPS) {
            // One a round trip.
            if let Some(elapsed) = self.sender.end_timing(now, ack) {
                self.take_round_trip(elapsed, 1, ack);
            }
        } else {
            self.take_timestamp_echo(now, segment, ack);
        }
    }

    /// An ACK up to `ack` echoes a timestamp, and measures the round trip by it.
    #[inline(never)]
    pub(super) fn take_timestamp_echo(&mut self, now: Time, segment: &Segment, ack: u64) {
        let Some(elapsed) = self.echoed_round_trip(now, segment) else { return };
        // RFC 7323 4.2: every second segment measures.
        let samples = self.sender.flight().div_ceil(2 * self.sender.smss);
        let bounds = self.config.rtt_bounds();
        if self.sender.extras.is_some() || self.timestamp_tick() != bounds.granularity {
            return self.take_round_trip(elapsed, samples, ack);
        }
        self.stats.rtt_samples += 1;
        self.sender.rtt.sample_of_ticks(&bounds, elapsed, samples);
    }

    /// A round trip has been measured, one of so many in a round, by an acknowledgement up to `ack`.
    #[inline(never)]
    pub(super) fn take_round_trip(&mut self, elapsed: Span, samples: u64, ack: u64) {
        self.stats.rtt_samples += 1;
        let (sender, bounds) = (&mut self.sender, self.config.rtt_bounds());
        match sender.extras.as_mut().and_then(|extras| extras.variation.as_mut()) {
            None => sender.rtt.sample(&bounds, elapsed, samples),
            Some(variation) => {
                sender.rtt.sample_as_linux(&bounds, variation, elapsed, (ack, sender.snd_nxt));
            }
        }
    }

    pub(super) fn duplicate_ack(&mut self, now: Time) {
        self.stats.duplicate_acks_received += 1;
        let sender = &mut self.sender;
        let at = sender.outstanding();
        if matches!(sender.recovery, Recovery::Rack(_)) {
            // What it tells of is told by marks.
        } else if sender.recovery.is_recovering() {
            sender.recovery.on_duplicate(&at);
            if sender.detection.is_lost_again(now) {
                self.answer_loss(now);
            }
        } else if sender.detection.on_duplicate(now) || sender.recovery.tells_of_loss(&at) {
            self.answer_loss(now);
        }
    }

    /// The segment at SND.UNA is taken as lost.
    #[cold]
    pub(super) fn answer_loss(&mut self, now: Time) {
        let sender = &mut self.sender;
        let at = sender.outstanding();
        let flight_bytes = sender.counted_flight(&at);
        match sender.recovery.on_loss(&at, sender.detection.duplicates()) {
            Response::None => return,
            Response::Repair => {
                let marked = sender.end_mark_reduction();
                if sender.detection.on_repair(now) && !self.ecn.has_answered(at.snd_una) {
                    sender.reduce(Cause::FastRetransmit { flight_bytes }, true, now);
                    self.ecn.on_reduction(at.snd_max);
                } else if let Some(marked) = marked {
                    sender.recovery.carry_on(marked.prr);
                }
            }
            Response::GoBack => {
                sender.congestion.on_congestion(Cause::GoBack { flight_bytes }, now);
                sender.forget_pipe_ack();
                self.ecn.on_reduction(at.snd_max);
                sender.send_anew(Reason::DuplicateAcks);
            }
        }
        // The segment sent anew is the oldest in flight now, and has an RTO of its own to be acknowledged in:
        // as 4.4BSD and Linux do; RFC 6298 5 leaves the timer running, RFC 6675 6 allows either.
        self.timers.start(Timer::Retransmission, now + sender.rtt.rto());
        self.stats.fast_retransmits += 1;
    }
}
