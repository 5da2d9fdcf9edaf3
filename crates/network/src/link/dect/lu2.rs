//! LU2, the frame relay service of the DLC's user plane (ETS 300 175-4 clause 11.3), one direction: fragments
//! numbered consecutively, a window, reassembly in order, go-back-N on request of the receiver, and a timer
//! after which an incomplete DLC frame is dropped.
//!
//! Both ends are in one place: what the receiver knows at the end of a frame, the sender knows so many frames
//! later. Acknowledgements ride in the header of three octets of the other direction's fragments, cost
//! nothing and are never lost.
//!
//! Not modelled: sequence numbers modulo 512, checksums that do not find an error, acknowledgements that wait
//! for a fragment to ride in.

use super::frames::FrameQueue;
use crate::drops::DropReason;
use crate::packet::Packet;
use roamsim_engine::Time;
use std::collections::VecDeque;
use std::ops::Range;

/// Octets of a DLC frame in a fragment: 4 subfields of 8, less 3 of header.
pub const FRAGMENT_BYTES: u32 = 29;
/// The widest window that the receiver's memory holds.
pub const MAX_WINDOW_FRAGMENTS: u32 = 127;

/// What the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// All fragments before the next expected one.
    Fragments,
    /// All fragments before the oldest incomplete DLC frame.
    Frames,
}

/// Whether the receiver's timers run while there is no bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimersWithoutBearers {
    /// They stand still.
    Stopped,
    /// They run.
    Running,
}

/// The settings of LU2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lu2Config {
    /// Fragments that may be unacknowledged. 63: the paper.
    pub window_fragments: u32,
    /// T1: frames from the last progress of an incomplete reassembly to the request for retransmission. 10:
    /// the paper.
    pub retransmission_timer_frames: u32,
    /// T2: frames from the request to the drop of the oldest DLC frame. 20: the paper.
    pub discard_timer_frames: u32,
    /// Chosen: the fragments, because the paper does not say it.
    pub acknowledgement: Acknowledgement,
    /// Frames from what the receiver knows to what the sender knows. 1: chosen, the shortest there is.
    pub acknowledgement_delay_frames: u32,
    /// Stopped: chosen, because nothing can arrive.
    pub timers_without_bearers: TimersWithoutBearers,
}

impl Default for Lu2Config {
    fn default() -> Lu2Config {
        Lu2Config {
            window_fragments: 63,
            retransmission_timer_frames: 10,
            discard_timer_frames: 20,
            acknowledgement: Acknowledgement::Fragments,
            acknowledgement_delay_frames: 1,
            timers_without_bearers: TimersWithoutBearers::Stopped,
        }
    }
}

/// Counts of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lu2Stats {
    /// Fragments sent for the first time.
    pub fragments: u64,
    /// Fragments sent again.
    pub fragments_repeated: u64,
    /// Fragments received that the receiver had already.
    pub duplicates: u64,
    /// Requests for retransmission: expiries of T1.
    pub retransmission_requests: u64,
    /// DLC frames dropped: expiries of T2.
    pub frames_dropped: u64,
    /// DLC frames delivered.
    pub frames_delivered: u64,
}

/// The receiver's timer of an incomplete reassembly, with the frames left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Off,
    Retransmission(u32),
    Discard(u32),
}

/// What the receiver tells the sender.
#[derive(Clone, Copy, Debug)]
struct Report {
    known_in_frame: u64,
    acknowledged: u64,
    /// From which fragment on retransmission is requested, or [`NO_REQUEST`].
    go_back_to: u64,
}

const NO_REQUEST: u64 = u64::MAX;
/// Stands where no report is on its way: it never becomes known.
const NO_REPORT: Report = Report { known_in_frame: u64::MAX, acknowledged: 0, go_back_to: NO_REQUEST };

/// A packet that was dropped, and why.
pub type Lost = (Packet, DropReason);

/// One direction of LU2.
#[derive(Clone, Debug)]
pub struct Lu2 {
    config: Lu2Config,
    /// The sender's: next to send, and one above the highest ever sent.
    next: u64,
    highest: u64,
    /// The window's end in the present frame: so many fragments above what is acknowledged.
    window_end: u64,
    /// The receiver's: next expected; bit i tells that fragment `expected + i` is held.
    expected: u64,
    held: u128,
    advanced: bool,
    timer: Timer,
    /// What is on its way to the sender: mostly one, so the oldest has a place of its own.
    oldest_report: Report,
    reports: VecDeque<Report>,
    /// The last acknowledgement reported.
    reported: u64,
    pub(super) stats: Lu2Stats,
}

impl Lu2 {
    /// Nothing sent yet.
    pub fn new(config: Lu2Config) -> Lu2 {
        Lu2 {
            config,
            next: 0,
            highest: 0,
            window_end: u64::from(config.window_fragments),
            expected: 0,
            held: 0,
            advanced: false,
            timer: Timer::Off,
            oldest_report: NO_REPORT,
            reports: VecDeque::new(),
            reported: 0,
            stats: Lu2Stats::default(),
        }
    }

    /// A frame begins: the sender learns what has become known. What it may send stays the same throughout
    /// the frame.
    #[inline]
    pub fn begin_frame(&mut self, frame: u64) {
        while self.oldest_report.known_in_frame <= frame {
            let Report { acknowledged, go_back_to, .. } = self.oldest_report;
            if go_back_to != NO_REQUEST {
                self.next = go_back_to;
            }
            // What is acknowledged is not sent again.
            self.next = self.next.max(acknowledged);
            self.window_end = acknowledged + u64::from(self.config.window_fragments);
            self.oldest_report.known_in_frame = u64::MAX;
            if !self.reports.is_empty() {
                self.oldest_report = self.next_report();
            }
        }
    }

    #[cold]
    fn next_report(&mut self) -> Report {
        self.reports.pop_front().unwrap_or(NO_REPORT)
    }

    /// Whether the window lets a fragment go; `waiting` tells whether packets wait elsewhere to begin.
    #[inline]
    pub fn has_fragment(&self, queue: &FrameQueue, waiting: bool) -> bool {
        self.next < self.window_end && (waiting || self.next < queue.available())
    }

    /// The next fragments for so many idle bearers at `now`, as far as the window lets them go; `packet`
    /// gives the packets that wait elsewhere.
    #[inline]
    pub fn next_fragments(
        &mut self,
        queue: &mut FrameQueue,
        idle: u64,
        now: Time,
        packet: impl FnMut() -> Option<Packet>,
    ) -> Range<u64> {
        let first = self.next;
        let end = queue.fill((first + idle).min(self.window_end), now, packet);
        if end <= first {
            return first..first;
        }
        self.next = end;
        if first >= self.highest {
            self.stats.fragments += end - first;
            self.highest = end;
        } else {
            let new = end.saturating_sub(self.highest);
            self.stats.fragments += new;
            self.stats.fragments_repeated += end - first - new;
            self.highest = self.highest.max(end);
        }
        first..end
    }

    /// So many fragments from `first` on have arrived, all of them.
    #[inline]
    pub fn receive_all(&mut self, first: u64, count: u64) {
        if first == self.expected && self.held == 0 {
            self.expected += count;
            self.advanced = true;
        } else {
            self.receive(first, !(u128::MAX << count));
        }
    }

    /// One fragment has arrived.
    #[inline]
    pub fn receive_one(&mut self, fragment: u64) {
        if fragment == self.expected {
            self.advanced = true;
            if self.held == 0 {
                self.expected += 1;
                return;
            }
            self.held |= 1;
            self.take_held();
        } else {
            self.receive(fragment, 1);
        }
    }

    /// Fragments have arrived: `first + i` where bit i of `arrived` is set.
    #[inline]
    pub fn receive(&mut self, first: u64, mut arrived: u128) {
        if first < self.expected {
            let before = (self.expected - first).min(127);
            self.stats.duplicates += u64::from((arrived & !(u128::MAX << before)).count_ones());
            arrived >>= before;
        }
        let bits = arrived << first.saturating_sub(self.expected);
        if self.held & bits != 0 {
            self.stats.duplicates += u64::from((self.held & bits).count_ones());
        }
        self.held |= bits;
        if bits & 1 != 0 {
            self.advanced = true;
            self.take_held();
        }
    }

    /// Moves the expected fragment past all that are held.
    #[inline]
    fn take_held(&mut self) {
        let run = self.held.trailing_ones();
        self.expected += u64::from(run);
        self.held = self.held.checked_shr(run).unwrap_or(0);
    }

    /// Something was received beyond the expected fragment, or the current DLC frame is partly received.
    #[inline]
    fn incomplete(&self, queue: &FrameQueue) -> bool {
        self.held != 0 || queue.passed() < self.expected
    }

    /// A frame ends: DLC frames that are complete are delivered, timers move, the receiver reports. `bearers`
    /// tells whether there is any.
    #[inline]
    pub fn end_frame(&mut self, queue: &mut FrameQueue, frame: u64, bearers: bool, lost: impl FnMut(Lost)) {
        let advanced = std::mem::take(&mut self.advanced);
        if advanced {
            self.deliver(queue);
        }
        let mut request = NO_REQUEST;
        if !self.incomplete(queue) {
            self.timer = Timer::Off;
        } else if advanced || self.timer == Timer::Off {
            self.timer = Timer::Retransmission(self.config.retransmission_timer_frames);
        } else {
            request = self.run_timer(queue, bearers, lost);
        }
        let acknowledged = match self.config.acknowledgement {
            Acknowledgement::Fragments => self.expected,
            Acknowledgement::Frames => queue.passed(),
        };
        if acknowledged != self.reported || request != NO_REQUEST {
            self.reported = acknowledged;
            let known_in_frame = frame + u64::from(self.config.acknowledgement_delay_frames);
            let report = Report { known_in_frame, acknowledged, go_back_to: request };
            if self.oldest_report.known_in_frame == u64::MAX {
                self.oldest_report = report;
            } else {
                self.reports.push_back(report);
            }
        }
    }

    #[inline]
    fn deliver(&mut self, queue: &mut FrameQueue) {
        while queue.oldest_end() <= self.expected {
            self.stats.frames_delivered += 1;
            queue.complete();
        }
    }

    /// Moves the timer, which runs, by a frame without progress; returns the fragment from which
    /// retransmission is requested, or [`NO_REQUEST`].
    #[inline(never)]
    fn run_timer(&mut self, queue: &mut FrameQueue, bearers: bool, mut lost: impl FnMut(Lost)) -> u64 {
        if !bearers && self.config.timers_without_bearers == TimersWithoutBearers::Stopped {
            return NO_REQUEST;
        }
        match self.timer {
            Timer::Retransmission(left) if left > 1 => self.timer = Timer::Retransmission(left - 1),
            Timer::Discard(left) if left > 1 => self.timer = Timer::Discard(left - 1),
            Timer::Retransmission(_) => {
                self.timer = Timer::Discard(self.config.discard_timer_frames);
                self.stats.retransmission_requests += 1;
                return self.expected;
            }
            Timer::Discard(_) => {
                self.drop_oldest(queue, &mut lost);
                self.timer = match self.incomplete(queue) {
                    true => Timer::Retransmission(self.config.retransmission_timer_frames),
                    false => Timer::Off,
                };
            }
            Timer::Off => {}
        }
        NO_REQUEST
    }

    #[cold]
    fn drop_oldest(&mut self, queue: &mut FrameQueue, lost: &mut impl FnMut(Lost)) {
        let Some(packet) = queue.give_up() else { return };
        let end = queue.passed();
        let passed = (end - self.expected) as u32;
        self.expected = end;
        self.held = self.held.checked_shr(passed).unwrap_or(0);
        self.stats.frames_dropped += 1;
        lost((packet, DropReason::Incomplete));
        self.take_held();
        self.deliver(queue);
    }

    /// Whether something happens with time alone: news on its way to the sender, or a timer that runs.
    #[inline]
    pub fn has_pending(&self, bearers: bool) -> bool {
        let runs = bearers || self.config.timers_without_bearers == TimersWithoutBearers::Running;
        self.oldest_report.known_in_frame != u64::MAX || (self.timer != Timer::Off && runs)
    }

    /// Fragments of packets that have begun, or may, and not received in order.
    pub fn backlog_fragments(&self, queue: &FrameQueue) -> u64 {
        queue.available() - self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::datagram;
    use proptest::prelude::*;

    /// One direction over `bearers` bearers without errors, except that `lost(frame, fragment)` takes some.
    struct Rig {
        lu2: Lu2,
        queue: FrameQueue,
        waiting: VecDeque<Packet>,
        frame: u64,
        delivered: Vec<(u64, u32)>,
        dropped: Vec<(u64, u32)>,
        sent: Vec<(u64, u64)>,
    }

    impl Rig {
        fn new(config: Lu2Config, packets: &[u32]) -> Rig {
            let waiting = packets.iter().map(|&bytes| datagram(bytes)).collect();
            Rig {
                lu2: Lu2::new(config),
                queue: FrameQueue::new(FRAGMENT_BYTES),
                waiting,
                frame: 0,
                delivered: Vec::new(),
                dropped: Vec::new(),
                sent: Vec::new(),
            }
        }

        fn run(&mut self, frames: u64, bearers: u32, lost: impl Fn(u64, u64) -> bool) {
            for _ in 0..frames {
                let frame = self.frame;
                self.lu2.begin_frame(frame);
                let waiting = &mut self.waiting;
                let next = || waiting.pop_front();
                let idle = u64::from(bearers);
                for fragment in self.lu2.next_fragments(&mut self.queue, idle, Time::ZERO, next) {
                    self.sent.push((frame, fragment));
                    if !lost(frame, fragment) {
                        self.lu2.receive(fragment, 1);
                    }
                }
                let dropped = &mut self.dropped;
                self.lu2.end_frame(&mut self.queue, frame, bearers > 0, |(packet, _)| {
                    dropped.push((frame, packet.size_bytes));
                });
                while let Some(packet) = self.queue.take() {
                    self.delivered.push((frame, packet.size_bytes));
                }
                self.frame += 1;
            }
        }
    }

    #[test]
    fn a_lost_fragment_is_requested_after_t1() {
        let mut rig = Rig::new(Lu2Config::default(), &[552, 40]);
        // 20 fragments in frames 0 and 1, the acknowledgement's 2 in frame 2; fragment 3 is lost in frame 0.
        rig.run(40, 10, |frame, fragment| frame == 0 && fragment == 3);
        // Frame 0 advances to 3: T1 starts, ends in frame 10; known in frame 11, when 3 and what follows are
        // sent again, up to 12; 13 to 21 in frame 12, so both are complete in frame 11.
        assert_eq!(rig.lu2.stats.retransmission_requests, 1);
        assert_eq!(rig.delivered, [(11, 552), (11, 40)]);
        let again: Vec<u64> = rig.sent.iter().filter(|(frame, _)| *frame == 11).map(|&(_, k)| k).collect();
        assert_eq!(again, (3..13).collect::<Vec<_>>());
        // In frame 12 all 22 are known to be received: nothing more is sent.
        assert_eq!(rig.sent.last(), Some(&(11, 12)));
        assert_eq!(rig.lu2.stats.fragments_repeated, 10);
        assert!(!rig.lu2.has_pending(true) && !rig.lu2.has_fragment(&rig.queue, false));
    }

    #[test]
    fn a_frame_that_stays_incomplete_is_dropped_after_t1_and_t2() {
        let mut rig = Rig::new(Lu2Config::default(), &[552, 40]);
        rig.run(60, 10, |_, fragment| fragment == 3);
        // T1 from frame 0 to 10, T2 to frame 30; the second frame was held.
        assert_eq!((rig.dropped, rig.delivered), (vec![(30, 552)], vec![(30, 40)]));
        assert_eq!(rig.lu2.stats.retransmission_requests, 1);
        assert_eq!(rig.lu2.stats.frames_dropped, 1);
        assert_eq!(rig.lu2.backlog_fragments(&rig.queue), 0);
    }

    #[test]
    fn timers_stand_still_without_bearers() {
        for (timers, dropped_in) in [
            (TimersWithoutBearers::Stopped, 130),
            // T1 and T2 end in frames 10 and 30, bearers or not.
            (TimersWithoutBearers::Running, 30),
        ] {
            let config = Lu2Config { timers_without_bearers: timers, ..Lu2Config::default() };
            let mut rig = Rig::new(config, &[552, 40]);
            rig.run(5, 10, |_, fragment| fragment == 3);
            rig.run(100, 0, |_, _| true);
            rig.run(100, 10, |_, fragment| fragment == 3);
            assert_eq!(rig.dropped, [(dropped_in, 552)]);
        }
    }

    #[test]
    fn acknowledging_whole_frames_holds_the_window_back() {
        // 30 bearers, a window of 63, 1450 / 29 = 50 fragments a DLC frame. 60 are sent in frames 0 and 1;
        // that the first 50 have arrived is known in frame 2, so the window ends at 113: 30 in frame 2 and 23
        // in frame 3. The next whole frame is known in frame 4. By fragments there is always room.
        let sent_in_frame = |acknowledgement, frame| {
            let config = Lu2Config { acknowledgement, ..Lu2Config::default() };
            let mut rig = Rig::new(config, &[1448; 10]);
            rig.run(10, 30, |_, _| false);
            rig.sent.iter().filter(|sent| sent.0 == frame).count()
        };
        assert_eq!([2, 3, 4].map(|f| sent_in_frame(Acknowledgement::Frames, f)), [30, 23, 30]);
        assert_eq!([2, 3, 4].map(|f| sent_in_frame(Acknowledgement::Fragments, f)), [30, 30, 30]);
    }

    #[test]
    fn the_window_limits_to_window_over_loop() {
        // Without errors, n bearers and a loop of d frames: min(n d, 63) fragments in every d frames, as long
        // as the sender is silent for fewer than the 10 frames of T1: d - ceil(63 / n) < 10.
        for (bearers, delay) in
            [(10, 1), (10, 6), (10, 7), (10, 16), (40, 5), (12, 5), (1, 63), (1, 64), (2, 40)]
        {
            let config = Lu2Config { acknowledgement_delay_frames: delay, ..Lu2Config::default() };
            let mut rig = Rig::new(config, &[552; 1000]);
            rig.run(u64::from(delay) * 20, bearers, |_, _| false);
            for turn in 0..20 {
                let (from, until) = (turn * u64::from(delay), (turn + 1) * u64::from(delay));
                let sent = rig.sent.iter().filter(|sent| (from..until).contains(&sent.0)).count();
                assert_eq!(sent as u32, (bearers * delay).min(63), "{bearers} bearers, loop {delay}");
            }
            assert_eq!(rig.lu2.stats.retransmission_requests, 0);
        }
        // One more frame of loop, and T1 takes the silence for a loss.
        let config = Lu2Config { acknowledgement_delay_frames: 17, ..Lu2Config::default() };
        let mut rig = Rig::new(config, &[552; 1000]);
        rig.run(340, 10, |_, _| false);
        assert!(rig.lu2.stats.retransmission_requests > 0);
    }

    proptest! {
        /// The bearers of a frame work side by side: it does not matter that what arrives is received at
        /// once.
        #[test]
        fn fragments_received_at_once_or_one_by_one_come_to_the_same(
            groups in proptest::collection::vec((0u64..64, any::<u64>(), any::<u64>()), 1..40),
        ) {
            let mut at_once = Lu2::new(Lu2Config::default());
            let mut singly = at_once.clone();
            for (place, some, most) in groups {
                // From ten before the expected fragment, so that some come twice.
                let first = (at_once.expected + place).saturating_sub(10);
                let arrived = u128::from(some | most);
                at_once.receive(first, arrived);
                (0..64).filter(|i| arrived >> i & 1 == 1).for_each(|i| singly.receive_one(first + i));
                prop_assert_eq!((at_once.expected, at_once.held), (singly.expected, singly.held));
                prop_assert_eq!((at_once.stats, at_once.advanced), (singly.stats, singly.advanced));
            }
        }
    }
}
