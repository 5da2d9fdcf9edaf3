//! Data received and acknowledgements sent.
//!
//! Acknowledgements are delayed by RFC 9293 3.8.6.3 and RFC 5681 4.2: at least every second full-sized
//! segment (or another number), at once when a segment is out of order or fills a gap. Data that is sent
//! meanwhile carries them. The window offered moves by RFC 9293 3.8.6.2.2, in steps of at least a segment or
//! half the buffer.

use roamsim_engine::{Span, Time};

use super::{Connection, Extended, Pending, State, Timer};
use crate::ranges::{Insertion, Range, Ranges};
use crate::tcp::block_report::BlockReport;
use crate::tcp::config::Config;
use crate::tcp::segment::{Flags, SackBlocks, Segment};

/// How urgent an acknowledgement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Acknowledgement {
    /// None is due, or it is delayed.
    None,
    /// Due now; a data segment may carry it, unless the settings forbid that.
    Now,
    /// Due now, in a segment of its own: a duplicate ACK carries no data (RFC 5681 section 2).
    Alone,
}

/// The receiving direction.
#[derive(Clone, Debug)]
#[repr(C)] // what every segment needs comes first
pub(super) struct Receiver {
    pub(super) irs: u32,
    pub(super) acknowledgement: Acknowledgement,
    reading: bool,
    /// By how many bits the window field is shifted.
    shift: u8,
    /// Both ends scale their windows.
    pub(super) scaled: bool,
    /// Next offset expected: the peer's SYN is 0.
    pub(super) rcv_nxt: u64,
    /// Right edge of the widest window offered; what lies below it is accepted.
    pub(super) rcv_adv: u64,
    /// Size of the buffer.
    buffer: u64,
    /// The least step by which the window opens.
    step: u64,
    /// Octets received in order since the last acknowledgement, options of their segments included, so that a
    /// segment shortened by options counts as full-sized.
    owed: u64,
    /// With so many octets owed an acknowledgement goes at once.
    most_owed: u64,
    /// Last.ACK.sent of RFC 7323.
    pub(super) last_ack_sent: u64,
    /// Offset of the peer's FIN, `u64::MAX` while it is not known.
    fin_at: u64,
    /// TS.Recent of RFC 7323.
    pub(super) ts_recent: u32,
    /// The application has closed and reads no more.
    pub(super) abandoned: bool,
    /// How urgent an acknowledgement is that waits for no data: only `Alone`, or by the settings any.
    alone_from: Acknowledgement,
    /// What SACK blocks tell of; `None` unless both ends have permitted SACK.
    pub(super) report: Option<Box<BlockReport>>,
    /// What has arrived beyond a gap, a FIN as an octet behind the last one.
    pub(super) reassembly: Ranges,
    /// Octets of the stream the application has taken, while it does not take what arrives at once.
    taken: u64,
    /// When TS.Recent was taken.
    pub(super) ts_recent_at: Time,
    /// Since when answers to refused segments are counted, and how many there were.
    challenges_since: Time,
    challenges: u32,
}

impl Receiver {
    pub(super) fn new(config: &Config) -> Receiver {
        let most = config.receive_window_bytes.max(1);
        let buffer =
            u64::from(config.initial_receive_window_bytes.map_or(most, |first| first.clamp(1, most)));
        Receiver {
            irs: 0,
            rcv_nxt: 0,
            rcv_adv: 0,
            buffer,
            taken: 0,
            reading: true,
            abandoned: false,
            alone_from: match config.acks_go_alone() {
                true => Acknowledgement::Now,
                false => Acknowledgement::Alone,
            },
            acknowledgement: Acknowledgement::None,
            scaled: false,
            shift: 0,
            owed: 0,
            step: 1,
            most_owed: 0,
            reassembly: Ranges::default(),
            report: None,
            fin_at: u64::MAX,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            last_ack_sent: 0,
            challenges_since: Time::ZERO,
            challenges: 0,
        }
    }

    /// The peer's SYN with sequence number `irs` has arrived.
    pub(super) fn synchronize(&mut self, irs: u32) {
        self.irs = irs;
        self.rcv_nxt = 1;
        self.rcv_adv = self.rcv_adv.max(1 + self.buffer.min(u64::from(u16::MAX)));
    }

    /// Whether an acknowledgement is due in a segment of its own.
    #[inline]
    pub(super) fn acknowledges_alone(&self) -> bool {
        self.acknowledgement >= self.alone_from
    }

    /// Whether the next segment has SACK blocks to carry.
    #[inline]
    pub(super) fn has_blocks_to_tell(&self) -> bool {
        self.report.as_ref().is_some_and(|report| !self.reassembly.is_empty() || report.has_duplicate())
    }

    /// Octets of the stream that have arrived in order.
    #[inline]
    pub(super) fn stream_offset(&self) -> u64 {
        // rcv_nxt counts the SYN, and the FIN once that has arrived.
        self.rcv_nxt.min(self.fin_at).saturating_sub(1)
    }

    /// The shift that this end offers: the least by which the field can say all of the buffer (RFC 7323 2.3).
    pub(super) fn offered_shift(most_bytes: u32) -> u8 {
        let mut shift = 0;
        while shift < 14 && most_bytes >> shift > u32::from(u16::MAX) {
            shift += 1;
        }
        shift
    }

    /// Whether both ends scale their windows.
    pub(super) fn set_scaled(&mut self, scaled: bool, most_bytes: u32) {
        self.scaled = scaled;
        self.shift = if scaled { Receiver::offered_shift(most_bytes) } else { 0 };
    }

    /// Payload and options of a full-sized segment from now on: the smaller of both ends' MSS, or what the
    /// path carries, taken to be the same in both directions.
    pub(super) fn set_full_sized(&mut self, bytes: u64, config: &Config) {
        self.set_buffer(self.buffer, bytes);
        self.most_owed = match config.delayed_ack {
            // By the received MSS, where data that arrives is looked at.
            Some(_) if config.acks_beyond_one_segment() => u64::MAX,
            Some(_) => u64::from(config.delayed_ack_count) * bytes,
            None => 0,
        };
    }

    /// Whether what has arrived is in order and nothing is missing, nor told of by SACK.
    #[inline]
    pub(super) fn is_in_order(&self) -> bool {
        self.reassembly.is_empty() && !self.has_blocks_to_tell() && self.takes_more()
    }

    /// Whether a segment has a timestamp that is not older than the last one (RFC 7323 5.3).
    #[inline]
    pub(super) fn expects_timestamp(&self, segment: &Segment) -> bool {
        segment.options.timestamps.is_some_and(|stamps| stamps.value.wrapping_sub(self.ts_recent) as i32 >= 0)
    }

    /// Whether neither the peer's FIN is known nor the application has closed.
    #[inline]
    pub(super) fn takes_more(&self) -> bool {
        self.fin_at == u64::MAX && !self.abandoned
    }

    /// Size of the buffer.
    pub(super) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// The buffer has this size from now on, and a full-sized segment that one, options included.
    pub(super) fn set_buffer(&mut self, bytes: u64, full_sized: u64) {
        self.buffer = bytes;
        self.step = (bytes / 2).min(full_sized).max(1);
    }

    /// The window that a segment would offer now.
    pub(super) fn window(&self) -> u64 {
        self.opening().unwrap_or(self.left())
    }

    /// Offset up to which the application has taken the stream.
    pub(super) fn taken_offset(&self) -> u64 {
        self.rcv_nxt.saturating_sub(self.unread())
    }

    /// Octets that have arrived in order and that the application has not taken.
    #[inline]
    fn unread(&self) -> u64 {
        if self.reading { 0 } else { self.stream_offset().saturating_sub(self.taken) }
    }

    /// What there is room for in the buffer, as far as the window field can say it.
    #[inline]
    fn free(&self) -> u64 {
        self.buffer.saturating_sub(self.unread()).min(u64::from(u16::MAX) << self.shift)
    }

    /// What is left of the widest window offered.
    #[inline]
    fn left(&self) -> u64 {
        self.rcv_adv - self.rcv_nxt
    }

    /// The window with everything free offered, where that is worth it; `None` where the step is too small, a
    /// silly window.
    #[inline]
    fn opening(&self) -> Option<u64> {
        let free = self.free();
        (free >= self.left() + self.step).then_some(free)
    }

    /// The window field for a segment that is sent now.
    ///
    /// Where a shift rounds down, the edge the peer computes may lie below one offered before, by less than
    /// 2^shift octets (RFC 7323 2.4); what was offered is still accepted.
    #[inline(always)]
    pub(super) fn advertise(&mut self) -> u16 {
        let window = match self.opening() {
            Some(window) => {
                self.rcv_adv = self.rcv_adv.max(self.rcv_nxt + self.told(window));
                window
            }
            None => self.left(),
        };
        self.field(window)
    }

    /// The window field of the last acknowledgement, as seen from its number.
    pub(super) fn last_window(&self) -> u16 {
        self.field(self.rcv_adv.saturating_sub(self.last_ack_sent))
    }

    /// The field that says a window.
    #[inline]
    fn field(&self, window: u64) -> u16 {
        (window >> self.shift).min(u64::from(u16::MAX)) as u16
    }

    /// What the peer makes of the field that says a window.
    #[inline]
    fn told(&self, window: u64) -> u64 {
        u64::from(self.field(window)) << self.shift
    }

    /// The window field of a SYN, which is never scaled (RFC 7323 2.2).
    pub(super) fn advertise_on_syn(&mut self) -> u16 {
        let window = self.buffer.saturating_sub(self.unread()).min(u64::from(u16::MAX));
        if self.rcv_nxt > 0 {
            self.rcv_adv = self.rcv_adv.max(self.rcv_nxt + window);
        }
        window as u16
    }

    /// An acknowledgement of everything up to `rcv_nxt` is on its way.
    #[inline]
    pub(super) fn acknowledged(&mut self) {
        self.acknowledgement = Acknowledgement::None;
        self.owed = 0;
        self.last_ack_sent = self.rcv_nxt;
    }

    /// Whether the application takes what arrives at once.
    #[inline]
    pub(super) fn is_reading(&self) -> bool {
        self.reading
    }

    /// From now on the application takes what arrives at once, or not; what has arrived stays as it is.
    pub(super) fn set_reading(&mut self, reading: bool) {
        self.taken = self.stream_offset() - self.unread();
        self.reading = reading;
    }

    /// Whether there is data that the application has not taken, in order or beyond a gap.
    pub(super) fn holds_unread(&self) -> bool {
        self.unread() > 0 || self.reassembly.first().is_some_and(|first| first.start < self.fin_at)
    }

    /// The application takes octets. True when the peer is to be told at once: the window has opened by a
    /// step, by as much again as the peer has left of it, and the field can say so. A peer that has more left
    /// hears of it with the next acknowledgement (chosen, as Linux: a reader of small pieces would undo the
    /// delay of acknowledgements).
    pub(super) fn read(&mut self, bytes: u64) -> bool {
        self.taken = self.taken.saturating_add(bytes).min(self.stream_offset());
        self.opening().is_some_and(|window| self.told(window) >= (2 * self.left()).max(1))
    }

    /// A segment is refused, or tells nothing new: its sender is told where this end stands. Answers to
    /// segments without data, and to SYN and RST, are bounded (RFC 5961 7), lest two ends answer each other's
    /// answers for ever; data is answered always, as its sender repeats it until it hears of it.
    #[cold]
    pub(super) fn answer_refused(&mut self, now: Time, segment: &Segment, config: &Config) {
        if segment.sequence_length() == 0 || segment.flags.intersects(Flags::SYN | Flags::RST) {
            if self.challenges == 0 || now.since(self.challenges_since) >= config.challenge_ack_interval {
                (self.challenges_since, self.challenges) = (now, 0);
            }
            if self.challenges >= config.challenge_ack_limit {
                return;
            }
            self.challenges += 1;
        }
        self.acknowledgement = Acknowledgement::Alone;
    }
}

impl Connection {
    /// The blocks that a segment of `payload_bytes` has room for: in the header, and within the MSS beside
    /// its data.
    #[cold]
    pub(super) fn sack_blocks(&mut self, payload_bytes: u32) -> SackBlocks {
        let mut most = SackBlocks::that_fit(self.option_bytes());
        if let Some(blocks) = self.config.max_sack_blocks {
            most = most.min(blocks as usize);
        }
        if payload_bytes > 0 {
            let room = self.sender.smss.saturating_sub(u64::from(payload_bytes) + 4) / 8;
            most = most.min(usize::try_from(room).unwrap_or(most));
        }
        let receiver = &mut self.receiver;
        let Some(report) = &mut receiver.report else { return SackBlocks::default() };
        report.take(receiver.irs, most)
    }

    /// The payload and FIN of an acceptable segment that starts at `seq`.
    #[inline]
    pub(super) fn receive(&mut self, now: Time, segment: &Segment, seq: u64) {
        let receiver = &mut self.receiver;
        let mut end = seq + u64::from(segment.payload_bytes);
        let mut fin = segment.flags.contains(Flags::FIN);
        // What lies beyond the window is cut off, and a FIN with it.
        if end + u64::from(fin) > receiver.rcv_adv {
            fin = false;
            end = end.min(receiver.rcv_adv);
        }
        if fin {
            receiver.fin_at = receiver.fin_at.min(end.max(receiver.rcv_nxt));
        }
        let end = end.min(receiver.fin_at);
        let before = receiver.rcv_nxt;
        if receiver.abandoned && end > seq.max(before) {
            self.stats.segments_refused += 1;
            return self.lose_data();
        }
        if segment.payload_bytes > 0 {
            self.stats.data_segments_received += 1;
        }
        if seq > before {
            // Beyond a gap: a duplicate ACK at once, unless such are compressed. SACK tells of a FIN, too.
            let octets = Range { start: seq, end: end + u64::from(fin) };
            let may_wait = self.extended.has(Extended::ARRIVALS) && segment.payload_bytes > 0;
            if !(may_wait && self.compresses_ack(now, octets)) {
                self.receiver.acknowledgement = Acknowledgement::Alone;
            }
            if segment.payload_bytes > 0 || fin {
                self.receive_beyond_gap(octets);
            }
            return;
        }
        if end > before {
            if let Some(report) = &mut receiver.report {
                report.duplicate(Range { start: seq, end: before });
            }
            receiver.rcv_nxt = end;
            let mut at_once = false;
            if !receiver.reassembly.is_empty() {
                // Nothing counts beyond a FIN, whatever a confused peer has sent there before.
                let next = receiver.reassembly.advance(end);
                if let Some(report) = &mut receiver.report {
                    report.advance(next);
                }
                receiver.rcv_nxt = next.min(receiver.fin_at);
                at_once = true;
            }
            let new_bytes = receiver.rcv_nxt - before;
            at_once |= self.extended.has(Extended::ARRIVALS) && self.note_arrival(now, segment);
            self.owe_acknowledgement(now, new_bytes, at_once);
        } else {
            // A probe of a closed window, by an octet or by a FIN, or what is cut off as it lies beyond.
            receiver.acknowledgement = receiver.acknowledgement.max(Acknowledgement::Now);
        }
        let receiver = &mut self.receiver;
        if receiver.rcv_nxt == receiver.fin_at {
            receiver.rcv_nxt += 1;
            receiver.acknowledgement = receiver.acknowledgement.max(Acknowledgement::Now);
            self.fin_received(now);
        }
    }

    /// So many new octets of the stream have arrived in order; they are acknowledged now, or later.
    #[inline(always)]
    pub(super) fn owe_acknowledgement(&mut self, now: Time, new_bytes: u64, at_once: bool) {
        self.pending.set(Pending::RECEIVED);
        let option_bytes = u64::from(self.option_bytes());
        let receiver = &mut self.receiver;
        receiver.owed += new_bytes + option_bytes;
        if at_once || receiver.owed >= receiver.most_owed {
            receiver.acknowledgement = receiver.acknowledgement.max(Acknowledgement::Now);
        } else if !self.timers.runs(Timer::DelayedAck) {
            let adapted = if self.extended.has(Extended::ARRIVALS) { self.adapted_ack_delay() } else { None };
            let delay = adapted.or(self.config.delayed_ack).unwrap_or(Span::ZERO);
            self.timers.start(Timer::DelayedAck, now + delay);
        }
    }

    /// Octets beyond a gap; none may be left of them within the window.
    pub(super) fn receive_beyond_gap(&mut self, octets: Range) {
        let Receiver { reassembly, report, .. } = &mut self.receiver;
        if octets.start >= octets.end {
            self.stats.duplicate_segments_received += 1;
            return;
        }
        if let Some(report) = report
            && let Some(again) = reassembly.first_overlap(octets)
        {
            report.duplicate(again);
        }
        let block = match reassembly.insert(octets, |_| ()) {
            Insertion::New { range, .. } => {
                self.stats.out_of_order_segments_received += 1;
                range
            }
            Insertion::Known(range) => {
                self.stats.duplicate_segments_received += 1;
                range
            }
        };
        if let Some(report) = report {
            report.arrived(block);
        }
    }

    /// A segment that holds nothing new: it is acknowledged at once, as the last acknowledgement may be lost.
    pub(super) fn receive_duplicate(&mut self, now: Time, segment: &Segment, seq: u64) {
        self.receiver.answer_refused(now, segment, &self.config);
        let fin = segment.flags.contains(Flags::FIN);
        if let Some(report) = &mut self.receiver.report {
            report.duplicate(Range {
                start: seq,
                end: seq + u64::from(segment.payload_bytes) + u64::from(fin),
            });
        }
        if segment.payload_bytes > 0 {
            self.stats.data_segments_received += 1;
            self.stats.duplicate_segments_received += 1;
        }
        // The peer repeats its FIN: the time of TIME-WAIT starts anew (RFC 9293 3.10.7.4, eighth).
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
            self.become_time_wait(now);
        }
    }
}
