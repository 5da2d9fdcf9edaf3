//! Recovery with RACK-TLP (RFC 8985): it retransmits the transmissions that are marked as lost.
//!
//! Every transmission is kept ([`Sent`]). RACK and the retransmission timer mark them as lost. Marked ones
//! are retransmitted ahead of new data while the flight leaves room in the window. After a timeout nothing
//! goes back: the first segment and all old ones are lost, and time or arrivals decide about the others
//! (RFC 8985 6.3). SACK information survives a timeout (RFC 2018 section 8 allows to forget it; no receiver
//! here reneges).
//!
//! The recovery ends when all data outstanding at its start is acknowledged. With [`Prr`] the window
//! follows the arrivals meanwhile; without it the window is ssthresh as in RFC 6675. A lost retransmission
//! may start it again, with another reduction.

use roamsim_engine::{Span, Time};

use super::{Hole, LossRecovery, Outstanding, Progress, Prr, Response, Settings};
use crate::ranges::Range;
use crate::tcp::congestion::Controller;
use crate::tcp::detection::{Conditions, RackDetection};
use crate::tcp::repeat::Reason;
use crate::tcp::sent::{RateSample, Record, Sent};

/// What is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::tcp) enum Repair {
    #[default]
    None,
    /// A loss that acknowledgements told of.
    Fast,
    /// Behind a timeout.
    Timeout,
}

/// F-RTO (RFC 5682 section 3.1): how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::tcp) enum Frto {
    #[default]
    Off,
    /// The timer has expired, and the first segment goes again.
    First,
    /// An acknowledgement has moved SND.UNA: new data goes ahead of what is marked.
    NewData,
}

/// A loss probe in the network (RFC 8985 section 7).
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Probe {
    /// TLP.end_seq: one above the highest octet sent when it went.
    pub(in crate::tcp) end: u64,
    /// What was in flight then.
    pub(in crate::tcp) flight_bytes: u64,
    /// It repeated octets, from here on.
    pub(in crate::tcp) repeats: Option<Range>,
}

/// What a reduction answers of what ECN reports (RFC 3168 section 6.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Answered {
    /// This end has slowed down, and has not said so yet.
    pub(in crate::tcp) cwr_due: bool,
    /// One above the highest octet sent before it.
    pub(in crate::tcp) up_to: u64,
    /// It was because of marks, and no loss has been answered since.
    pub(in crate::tcp) by_echo: bool,
}

/// What a reduction can be taken back by.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Undo {
    /// The congestion control before it, unless a mark has been reported since: the reduction stays then.
    pub(in crate::tcp) congestion: Option<Controller>,
    /// What the one before it answers.
    pub(in crate::tcp) answered: Answered,
    /// The reduction was for what was outstanding from here on.
    pub(in crate::tcp) from: u64,
    /// Octets that were sent again and whose duplicates have not been reported.
    pub(in crate::tcp) unconfirmed_bytes: u64,
    /// The timestamp of the first retransmission.
    pub(in crate::tcp) first_timestamp: Option<u32>,
    /// When everything up to here is acknowledged it is too late.
    pub(in crate::tcp) until: u64,
}

/// The state of the recovery, and of the detection that marks for it.
#[derive(Clone, Debug)]
#[repr(C, align(64))] // what every segment needs lies together
pub struct Rack {
    pub(in crate::tcp) repair: Repair,
    /// One retransmission is due whatever is in flight.
    first_due: bool,
    reduces_in_proportion: bool,
    /// No retransmission before the next acknowledgement or timeout.
    pub(in crate::tcp) holds_repeats: bool,
    pub(in crate::tcp) frto: Frto,
    pub(in crate::tcp) probe_due: bool,
    /// SND.UNA behind the acknowledgement before.
    pub(in crate::tcp) una_before: u64,
    pub(in crate::tcp) undo: Option<Box<Undo>>,
    /// What the acknowledgement under way reports as arrived twice.
    pub(in crate::tcp) duplicate: Option<Range>,
    /// One above the highest octet sent when the repair began.
    pub(in crate::tcp) recover: u64,
    /// When the window was last reduced for a loss.
    pub(in crate::tcp) reduced_at: Time,
    pub(in crate::tcp) sent: Sent,
    pub(in crate::tcp) detection: RackDetection,
    /// The probe under way.
    pub(in crate::tcp) probe: Option<Probe>,
    prr: Option<Prr>,
    threshold_segments: u64,
    /// The last sample of the rate of delivery.
    pub(in crate::tcp) rate: RateSample,
    /// The timestamp of the first retransmission of the last repair that could be undone.
    retrans_stamp: Option<u32>,
    /// Measurements of the round trip so far, when the last probe went.
    pub(in crate::tcp) probe_samples: u64,
}

impl LossRecovery for Rack {
    const NAME: &str = "rack";
    const TAKES_BLOCKS: bool = true;
    const TAKES_PRR: bool = true;

    fn new(settings: &Settings) -> Rack {
        let mut sent = Sent::default();
        if settings.keeps_losses {
            sent.keep_losses();
        }
        Rack {
            sent,
            detection: RackDetection::default(),
            repair: Repair::None,
            first_due: false,
            recover: 0,
            reduced_at: Time::ZERO,
            threshold_segments: u64::from(settings.dup_ack_threshold.max(1)),
            reduces_in_proportion: settings.prr,
            holds_repeats: false,
            prr: None,
            frto: Frto::Off,
            probe: None,
            probe_due: false,
            probe_samples: 0,
            undo: None,
            retrans_stamp: None,
            rate: RateSample::default(),
            una_before: 1,
            duplicate: None,
        }
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.repair != Repair::None
    }

    #[inline]
    fn is_undisturbed(&self) -> bool {
        self.probes_tail() && !self.probe_due && self.undo.is_none()
    }

    #[inline]
    fn is_busy(&self) -> bool {
        self.is_recovering() || self.probe_due
    }

    fn limited_transmit_bytes(&self, _duplicates: u64, _smss_bytes: u64) -> u64 {
        self.sent.sacked_bytes()
    }

    /// What detection has to say it says by marks.
    fn on_loss(&mut self, _at: &Outstanding, _duplicates: u32) -> Response {
        Response::None
    }

    /// The congestion control is told once everything that the acknowledgement tells of is known.
    #[inline]
    fn on_ack(&mut self, _at: &Outstanding, _acked_bytes: u64, _ssthresh_bytes: u64) -> Progress {
        Progress::Deferred
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        self.repair = Repair::Timeout;
        self.recover = at.snd_max;
        self.first_due = true;
        self.prr = None;
        (self.probe, self.probe_due) = (None, false);
    }

    fn next_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        let Range { start, end } = self.sent.first_lost()?;
        let fits = self.sent.in_flight_bytes() + at.smss_bytes.min(end - start)
            <= self.send_window(cwnd_bytes, at.smss_bytes);
        let goes = self.first_due || fits && self.frto != Frto::NewData;
        (goes && !self.holds_repeats).then_some(Hole { start, end })
    }

    fn on_retransmitted(&mut self, _start: u64, end: u64) {
        self.first_due = false;
        self.sent.repaired_to(end);
    }

    #[inline]
    fn on_sent(&mut self, bytes: u64) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(bytes);
        }
    }

    #[inline]
    fn send_window(&self, cwnd_bytes: u64, _smss_bytes: u64) -> u64 {
        self.prr.as_ref().map_or(cwnd_bytes, Prr::cwnd_bytes)
    }

    #[inline]
    fn pipe_bytes(&self, at: &Outstanding) -> u64 {
        if self.is_recovering() { self.sent.in_flight_bytes() } else { at.flight_bytes() }
    }
}

impl Rack {
    /// Whether a loss probe may be due: all that is outstanding is in flight, and none is under way (RFC 8985
    /// 7.2).
    #[inline]
    pub(in crate::tcp) fn probes_tail(&self) -> bool {
        self.repair == Repair::None && self.sent.is_plain() && self.probe.is_none()
    }

    /// Whether the acknowledgement up to `snd_una` tells nothing new, and the last one left nothing to do.
    #[inline]
    pub(in crate::tcp) fn is_told_nothing(&self, snd_una: u64) -> bool {
        snd_una == self.una_before
            && self.sent.heard.delivered == 0
            && self.duplicate.is_none()
            && self.probes_tail()
            && !self.detection.may_mark(&self.sent)
    }

    /// Why the first octets that are marked are taken as lost.
    pub(in crate::tcp) fn why_lost(&self) -> Reason {
        if self.sent.first_lost_is_by_timeout() { Reason::Timeout } else { Reason::Rack }
    }

    /// What the window for reordering depends on.
    pub(in crate::tcp) fn conditions(&self, srtt: Option<Span>, smss_bytes: u64) -> Conditions {
        Conditions {
            repairing: self.is_recovering(),
            threshold_reached: self.sent.sacked_bytes() >= self.threshold_segments * smss_bytes,
            srtt: srtt.unwrap_or(Span::MAX),
        }
    }

    /// Whether a report of a duplicate is of what the loss probe under way has repeated.
    fn is_of_probe(&self, duplicate: Range) -> bool {
        let repeats = self.probe.and_then(|probe| probe.repeats);
        repeats.is_some_and(|repeats| repeats.end == duplicate.end && repeats.start <= duplicate.start)
    }

    /// By the rules of Linux the acknowledgement under way widens the window for reordering if it reports a
    /// `duplicate`, or one before it did. Neither counts on a path that has not been seen to reorder before
    /// it, nor where a loss probe has repeated the octets: RACK did not take them as lost (`tcp_dsack_seen`).
    pub(in crate::tcp) fn follow_duplicate_reports(&mut self, duplicate: Option<Range>) {
        let duplicate = self.detection.has_seen_reordering()
            && duplicate.is_some_and(|duplicate| !self.is_of_probe(duplicate));
        let prior = self.sent.heard.newest.map(|newest| newest.prior_delivered());
        self.detection.follow_duplicate_reports(duplicate, prior, self.sent.delivered_bytes());
    }

    /// Whether the path reorders by more segments than duplicate ACKs that tell of a loss.
    pub(in crate::tcp) fn reorders_beyond_threshold(&self, smss_bytes: u64) -> bool {
        self.detection.most_reordered_bytes > self.threshold_segments * smss_bytes
    }

    /// Octets are sent, and again if `repeated`, by a segment with this timestamp.
    pub(in crate::tcp) fn note_sent(
        &mut self,
        octets: Range,
        now: Time,
        repeated: bool,
        timestamp: Option<u32>,
    ) {
        self.sent.on_sent(octets.start, octets.end, now, repeated);
        if repeated && let Some(undo) = &mut self.undo {
            undo.unconfirmed_bytes += octets.bytes();
            undo.first_timestamp = undo.first_timestamp.or(timestamp);
            self.retrans_stamp = undo.first_timestamp;
        }
    }

    /// A reduction begins, which can be undone if there is a controller `before` it. Duplicates of what is in
    /// flight again, and of a loss probe, may be reported yet (`tcp_init_undo` of Linux). With `keeps_stamp`
    /// retransmissions from before are its first ones (`tcp_retrans_stamp_cleanup`).
    pub(in crate::tcp) fn begin_undo(
        &mut self,
        before: Option<Controller>,
        answered: Answered,
        from: u64,
        keeps_stamp: bool,
    ) {
        self.undo = None;
        if before.is_none() {
            return;
        }
        let probed = self.probe.and_then(|probe| probe.repeats).filter(|probed| probed.end > from);
        let repeated_bytes = self.sent.repeated_in_flight_bytes();
        let goes_on =
            keeps_stamp && (repeated_bytes > 0 || self.sent.first().is_some_and(Record::is_repeated));
        self.undo = Some(Box::new(Undo {
            congestion: before,
            answered,
            from,
            unconfirmed_bytes: repeated_bytes + probed.map_or(0, |probed| probed.bytes()),
            first_timestamp: self.retrans_stamp.filter(|_| goes_on),
            until: u64::MAX,
        }));
    }

    /// Takes the sample of the acknowledgement under way, if it has any; one without an interval is not kept.
    pub(in crate::tcp) fn measure_rate(&mut self) -> Option<RateSample> {
        let least = self.detection.min_rtt.get().unwrap_or(Span::ZERO);
        let sample = self.sent.rate_sample(least);
        if let Some(rate) = sample.filter(|rate| rate.interval > Span::ZERO) {
            self.rate = rate;
        }
        sample
    }

    /// Recovery begins: acknowledgements told of a loss, or that a retransmission was lost.
    pub(in crate::tcp) fn begin(&mut self, at: &Outstanding, now: Time) {
        self.repair = Repair::Fast;
        self.recover = at.snd_max;
        self.reduced_at = now;
        self.first_due = true;
        self.frto = Frto::Off;
        if self.reduces_in_proportion {
            let outstanding = at.flight_bytes() - self.sent.sacked_bytes();
            let first_bytes = self.sent.in_flight_bytes() + at.smss_bytes;
            self.prr = Some(Prr::begin(outstanding + self.sent.heard.delivered, first_bytes));
        }
    }

    /// A repair has begun amid a reduction, which has counted what was delivered before the acknowledgement
    /// under way. The first retransmission goes.
    pub(in crate::tcp) fn carry_on(&mut self, prr: Prr) {
        self.prr = self.prr.map(|begun| prr.with_window_of(&begun));
    }

    /// The window follows what the acknowledgement under way has told of.
    pub(in crate::tcp) fn follow(&mut self, at: &Outstanding, ssthresh_bytes: u64, moved: bool) {
        let (heard, pipe) = (self.sent.heard, self.sent.in_flight_bytes());
        if let Some(prr) = &mut self.prr {
            prr.on_ack(heard.delivered, pipe, ssthresh_bytes, at.smss_bytes, moved && heard.lost == 0);
        }
    }

    /// The repair under way is over.
    pub(in crate::tcp) fn stop(&mut self) {
        self.repair = Repair::None;
        (self.first_due, self.prr, self.frto) = (false, None, Frto::Off);
        if self.retrans_stamp.is_some() && self.sent.repeated_in_flight_bytes() == 0 {
            self.retrans_stamp = None;
        }
    }

    /// Whether octets that were sent once have arrived behind a timeout, of those sent before it (RFC 5682
    /// 3.1, step 3b).
    pub(in crate::tcp) fn tells_of_original(&self) -> bool {
        self.sent.heard.first_original_end.is_some_and(|end| end <= self.recover)
    }

    /// Whether a timestamp echoes what was sent before this time. Its ticks are so long.
    pub(in crate::tcp) fn predates(at: Time, echo: Option<u32>, tick: Span) -> bool {
        let sent = (at.as_ns() / tick.as_ns()) as u32;
        echo.is_some_and(|echo| (echo.wrapping_sub(sent) as i32) < 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Config;
    use crate::tcp::congestion::Kind;

    #[test]
    fn a_repair_amid_retransmissions_counts_them_as_its_own() {
        let config = Config::default();
        let mut rack = Rack::new(&config.recovery_settings());
        let congestion = Controller::new(Kind::Reno, &config.congestion_settings());
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let octets = |start| Range { start, end: start + 1000 };
        let begun = |rack: &mut Rack, from, keeps_stamp| {
            rack.begin_undo(Some(congestion.clone()), Answered::default(), from, keeps_stamp);
            let undo = rack.undo.as_ref().expect("begun");
            (undo.first_timestamp, undo.unconfirmed_bytes)
        };
        for start in [1, 1001, 2001, 3001] {
            rack.note_sent(octets(start), ms(0), false, Some(100));
        }
        assert_eq!(begun(&mut rack, 1, true), (None, 0));
        rack.note_sent(octets(1), ms(5), true, Some(105));
        rack.note_sent(octets(1001), ms(6), true, Some(106));
        assert_eq!(begun(&mut rack, 1, false), (None, 2000));
        assert_eq!(begun(&mut rack, 1, true), (Some(105), 2000));
        rack.sent.on_ack(1001, ms(9));
        assert_eq!(begun(&mut rack, 1001, true), (Some(105), 1000));
        // A loss probe is reported as a duplicate, too, but is no retransmission of a repair.
        rack.note_sent(octets(3001), ms(9), true, Some(109));
        rack.sent.on_probe_repeated(3001);
        rack.probe = Some(Probe { end: 4001, flight_bytes: 3000, repeats: Some(octets(3001)) });
        assert!(rack.is_of_probe(octets(3001)) && !rack.is_of_probe(octets(1)));
        rack.sent.on_ack(2001, ms(10));
        assert_eq!(begun(&mut rack, 2001, true), (None, 1000));
        // One from before the reduction has nothing to do with it.
        assert_eq!(begun(&mut rack, 4001, true), (None, 0));
        // A repair that ends with nothing in flight again leaves no timestamp to the next one.
        rack.sent.on_ack(3001, ms(11));
        assert_eq!(begun(&mut rack, 3001, true), (Some(105), 1000));
        rack.stop();
        assert_eq!(begun(&mut rack, 3001, true), (None, 1000));
    }
}
