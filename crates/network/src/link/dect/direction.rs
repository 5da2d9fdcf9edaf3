//! One direction of the user's data: packets that arrive, the service of the DLC, and the packets on the
//! bearers.

pub use super::ip_channels::{IpConfig, UnfinishedPackets};

use super::FRAME;
use super::bearers::Bearers;
use super::errors::{B_FIELD_BITS, ErrorConfig, ErrorProcess, SUBFIELD_BITS};
use super::frames::FrameQueue;
use super::ip_channel::{AFields, IpStats};
use super::ip_channels::IpChannels;
use super::lu1::{self, Lu1, Lu1Stats};
use super::lu2::{self, Lost, Lu2, Lu2Config, Lu2Stats};
use crate::link::{LinkStats, Receptions};
use crate::packet::Packet;
use crate::queue::{AnyDiscipline, Queue, Waiting};
use crate::topology::Attachment;
use roamsim_engine::{Stream, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// What carries IP packets over the bearers.
#[derive(Clone, Debug)]
pub enum Service {
    /// LU2 over the Ip channel.
    Lu2(Lu2Config),
    /// LU1 over the In channel.
    Lu1,
}

#[derive(Clone, Debug)]
enum Dlc {
    Lu2(Lu2),
    Lu1(Lu1),
}

/// Counts of one direction of the user plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionStats {
    /// Of the Ip channels; nothing over LU1.
    pub ip: IpStats,
    /// Of the DLC.
    pub dlc: DlcStats,
}

/// Counts of the DLC's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DlcStats {
    /// Of LU2.
    Lu2(Lu2Stats),
    /// Of LU1.
    Lu1(Lu1Stats),
}

/// Whose packets a direction's queue holds: one end's alone, whichever that is.
const SENDER: Attachment = Attachment(0);

/// A queue before the DLC that has been asked for, with a rule or a limit: its packets come to the DLC when
/// they begin to be sent. Without one they wait in the DLC itself.
#[derive(Debug)]
struct Before {
    /// What has come and waits for the beginning of a frame, when it joins the queue: a frame is worked out
    /// at its end, and what comes in it meets the queue as the frame leaves it.
    arrivals: VecDeque<(Time, Packet)>,
    queue: Queue,
    /// The fragments that the packets in the queue will make.
    fragments: u64,
}

/// When in a frame a packet is dropped: of both directions, those that are earlier come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Packets join the queue.
    Joining,
    /// Packets leave the queue.
    Beginning,
    /// The DLC's timers.
    Ending,
}

/// One direction.
#[derive(Debug)]
pub(super) struct Direction {
    before: Option<Box<Before>>,
    /// The first frame that begins when the oldest packet is there that has not joined the others yet.
    next_arrival_frame: u64,
    /// The next frame has something to do, arrivals apart.
    busy: bool,
    dlc: Dlc,
    /// The packets that have begun to be sent, and without a queue before the DLC those that wait.
    frames: FrameQueue,
    /// Over LU2.
    channels: IpChannels,
    /// Of the subfields, or over LU1 of the B fields.
    errors: ErrorProcess,
    /// Packets dropped in the present frame.
    pub lost: Vec<(Stage, Lost)>,
    /// What had come when the measurement began.
    before_measurement: Receptions,
    pub link: LinkStats,
}

/// The first frame that begins at or after an instant.
#[inline]
fn frame_from(at: Time) -> u64 {
    at.as_ns().div_ceil(FRAME.as_ns())
}

impl Direction {
    /// Over a service; `queue` before it, or whatever comes waits, first come, first served.
    pub fn new(
        service: &Service,
        queue: Option<AnyDiscipline>,
        ip_config: IpConfig,
        errors: &ErrorConfig,
        random: Stream,
    ) -> Direction {
        let (dlc, fragment_bytes, unit_bits) = match service {
            Service::Lu2(config) => (Dlc::Lu2(Lu2::new(*config)), lu2::FRAGMENT_BYTES, SUBFIELD_BITS),
            Service::Lu1 => (Dlc::Lu1(Lu1::new()), lu1::FRAGMENT_BYTES, B_FIELD_BITS),
        };
        let before = queue.map(|queue| {
            let queue = Queue::new(queue, SENDER.0..SENDER.0 + 1);
            Box::new(Before { arrivals: VecDeque::new(), queue, fragments: 0 })
        });
        Direction {
            before,
            next_arrival_frame: u64::MAX,
            busy: false,
            dlc,
            frames: FrameQueue::new(fragment_bytes),
            channels: IpChannels::new(ip_config),
            errors: ErrorProcess::new(errors, unit_bits, random),
            lost: Vec::new(),
            before_measurement: Receptions::default(),
            link: LinkStats::default(),
        }
    }

    /// A packet has come from the node.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: Packet) {
        match &mut self.before {
            None => self.frames.arrive(now, packet),
            Some(before) => before.arrivals.push_back((now, packet)),
        }
        if self.next_arrival_frame == u64::MAX {
            self.next_arrival_frame = frame_from(now);
        }
        self.link.max_waiting_packets = self.link.max_waiting_packets.max(self.waiting_packets() as u64);
    }

    /// The first frame that begins when the oldest arrival is there.
    #[inline]
    pub fn next_arrival_frame(&self) -> u64 {
        self.next_arrival_frame
    }

    /// Whether the next frame has anything to do, arrivals apart.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Goes to a frame, whether it has anything to do in it or not.
    #[inline]
    pub fn advance(&mut self, frame: u64) {
        self.errors.advance(frame);
    }

    /// A frame that begins at `start` and has anything to do: how many bearers were used. `a_fields` has an
    /// entry a bearer, or none if all A fields arrive.
    #[inline]
    pub fn run_frame(&mut self, frame: u64, start: Time, bearers: &Bearers, a_fields: &[AFields]) -> u64 {
        if self.next_arrival_frame <= frame {
            let next = match &mut self.before {
                None => self.frames.join(start),
                Some(_) => self.join_queue(start),
            };
            self.next_arrival_frame = next.map_or(u64::MAX, frame_from);
        }
        let idle = self.channels.begin_frame(bearers.count()) as u64;
        let has_bearers = bearers.count() > 0;
        let Direction { before, dlc, frames, channels, errors, lost, .. } = self;
        match dlc {
            Dlc::Lu2(lu2) => {
                lu2.begin_frame(frame);
                let new = match before {
                    None => lu2.next_fragments(frames, idle, start, || None),
                    Some(before) => before.next_fragments(frames, start, lost, |frames, packet| {
                        lu2.next_fragments(frames, idle, start, packet)
                    }),
                };
                let used = channels.busy_bearers() + (new.end - new.start);
                if used > 0 {
                    channels.send(new, bearers, a_fields, errors, lu2);
                }
                lu2.end_frame(frames, frame, has_bearers, |packet| lost.push((Stage::Ending, packet)));
                let waiting = before.as_ref().is_some_and(|before| before.fragments > 0);
                self.busy = lu2.has_pending(has_bearers)
                    || has_bearers && (lu2.has_fragment(frames, waiting) || channels.has_unfinished());
                used
            }
            Dlc::Lu1(_) => self.run_frame_unprotected(idle, start, bearers, a_fields),
        }
    }

    /// The same over LU1, which sends fragments, one on each bearer.
    #[inline(never)]
    fn run_frame_unprotected(
        &mut self,
        idle: u64,
        start: Time,
        bearers: &Bearers,
        a_fields: &[AFields],
    ) -> u64 {
        let Direction { before, dlc: Dlc::Lu1(lu1), frames, errors, lost, .. } = self else { return 0 };
        let fragments = match before {
            None => lu1.next_fragments(frames, idle, start, || None),
            Some(before) => before.next_fragments(frames, start, lost, |frames, packet| {
                lu1.next_fragments(frames, idle, start, packet)
            }),
        };
        let used = fragments.end - fragments.start;
        for (place, fragment) in fragments.enumerate() {
            let a_field_arrives = a_fields.get(place).is_none_or(|a_fields| a_fields.forward);
            let correct = a_field_arrives && errors.failed(bearers.quality(place), 1) == 0;
            lu1.arrive(frames, fragment, correct, |packet| lost.push((Stage::Beginning, packet)));
        }
        let waiting = before.as_ref().is_some_and(|before| before.fragments > 0);
        self.busy = bearers.count() > 0 && (waiting || lu1.has_fragment(frames));
        used
    }

    /// What has come by `start` joins the queue before the DLC; when the first came that does not.
    #[inline(never)]
    fn join_queue(&mut self, start: Time) -> Option<Time> {
        let before = self.before.as_mut()?;
        let frames = &self.frames;
        let mut lost = |lost| self.lost.push((Stage::Joining, lost));
        while let Some((at, packet)) = before.arrivals.pop_front_if(|(at, _)| *at <= start) {
            let fragments = frames.fragments_of(packet.size_bytes);
            match before.queue.enqueue(at, SENDER, packet, false) {
                Ok(()) => before.fragments += fragments,
                Err(dropped) => lost(dropped),
            }
            before.take_drops(at, frames, &mut lost);
        }
        before.arrivals.front().map(|(at, _)| *at)
    }

    /// The next packet that has arrived.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        let packet = self.frames.take()?;
        self.link.delivered_packets += 1;
        Some(packet)
    }

    /// Takes it out of its place, where it has been looked at.
    #[inline(always)]
    pub fn clear_first(&mut self) {
        self.frames.clear_first();
        self.link.delivered_packets += 1;
    }

    /// It, where it lies.
    #[inline]
    pub fn first_arrived(&self) -> Option<&Packet> {
        self.frames.first_complete()
    }

    /// Whether one has.
    #[inline]
    pub fn has_arrived(&self) -> bool {
        self.frames.has_complete()
    }

    /// The bearer at a place is gone, and those behind it move up.
    pub fn bearer_lost(&mut self, place: usize) {
        self.channels.bearer_lost(place);
    }

    /// Packets that have not begun to be sent.
    #[inline]
    pub fn waiting_packets(&self) -> usize {
        match &self.before {
            None => self.frames.waiting_packets(),
            Some(before) => before.queue.length().packets + before.arrivals.len(),
        }
    }

    /// Packets inside.
    pub fn packets_inside(&self) -> u64 {
        let before = self.before.as_ref();
        let before = before.map_or(0, |before| before.queue.length().packets + before.arrivals.len());
        (self.frames.count() + before) as u64
    }

    /// The queue before the DLC, if it has one.
    pub fn queue(&self) -> Option<&Queue> {
        self.before.as_ref().map(|before| &before.queue)
    }

    /// The most that ever waited, and how long packets waited, are kept anew from now on.
    pub fn forget_longest(&mut self) {
        self.link.max_waiting_packets = self.waiting_packets() as u64;
        self.before.iter_mut().for_each(|before| before.queue.forget_longest());
    }

    /// What was sent so far; waits count up to `now`.
    pub fn link_stats(&self, now: Time) -> LinkStats {
        let frames = &self.frames;
        let (waiting, marked_packets) = match &self.before {
            None => (frames.waited(now), 0),
            Some(before) => {
                let waited = before.queue.waited(SENDER, now);
                let waited = before.arrivals.iter().fold(waited, |sum, (at, _)| sum + now.since(*at));
                (waited, before.queue.marked_packets(SENDER))
            }
        };
        let (sent_packets, sent_bytes) = (frames.sent_packets, frames.sent_bytes);
        LinkStats { sent_packets, sent_bytes, waiting, marked_packets, ..self.link }
    }

    /// Fragments in the DLC's queue and on the air: those not yet received in order, and over LU1 those not
    /// sent.
    pub fn backlog_fragments(&self) -> u64 {
        let in_dlc = match &self.dlc {
            Dlc::Lu2(lu2) => lu2.backlog_fragments(&self.frames),
            Dlc::Lu1(lu1) => lu1.backlog_fragments(&self.frames),
        };
        in_dlc + self.before.as_ref().map_or(0, |before| before.fragments)
    }

    /// The counts since the measurement began.
    pub fn stats(&self) -> DirectionStats {
        let dlc = match &self.dlc {
            Dlc::Lu2(lu2) => DlcStats::Lu2(lu2.stats),
            Dlc::Lu1(lu1) => DlcStats::Lu1(lu1.stats),
        };
        DirectionStats { ip: self.channels.stats, dlc }
    }

    /// What has come at the receiver since the run began: attempts of the Ip channels, B fields over LU1.
    pub fn receptions(&self) -> Receptions {
        let (frames, in_error) = match &self.dlc {
            Dlc::Lu2(_) => (self.channels.stats.attempts, self.channels.stats.in_error),
            Dlc::Lu1(lu1) => (lu1.stats.fragments, lu1.stats.fragments_lost),
        };
        let Receptions { frames: frames_before, in_error: in_error_before } = self.before_measurement;
        Receptions { frames: frames_before + frames, in_error: in_error_before + in_error }
    }

    /// The measurement begins anew; the link's own counts go on.
    pub fn restart_measurement(&mut self) {
        self.before_measurement = self.receptions();
        self.channels.stats = IpStats::default();
        match &mut self.dlc {
            Dlc::Lu2(lu2) => lu2.stats = Lu2Stats::default(),
            Dlc::Lu1(lu1) => lu1.stats = Lu1Stats::default(),
        }
    }
}

impl Before {
    /// The next fragments, of packets that leave the queue: `of_dlc` is given them.
    #[inline(never)]
    fn next_fragments(
        &mut self,
        frames: &mut FrameQueue,
        start: Time,
        lost: &mut Vec<(Stage, Lost)>,
        of_dlc: impl FnOnce(&mut FrameQueue, &mut dyn FnMut() -> Option<Packet>) -> Range<u64>,
    ) -> Range<u64> {
        let written = frames.written();
        let waiting = self.fragments > 0;
        let queue = &mut self.queue;
        let packet = &mut || if waiting { queue.dequeue(start).map(|waiting| waiting.packet) } else { None };
        let fragments = of_dlc(frames, packet);
        if waiting {
            self.fragments -= frames.written() - written;
            self.take_drops(start, frames, &mut |packet| lost.push((Stage::Beginning, packet)));
        }
        fragments
    }

    /// Takes what the queue has dropped of those that it had taken.
    #[inline]
    fn take_drops(&mut self, now: Time, frames: &FrameQueue, lost: &mut impl FnMut(Lost)) {
        while let Some((Waiting { packet, .. }, reason)) = self.queue.poll_drop(now) {
            self.fragments -= frames.fragments_of(packet.size_bytes);
            lost((packet, reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::errors::Burst;
    use super::super::mac::Quality;
    use super::*;
    use crate::drops::DropReason;
    use crate::packet::PacketId;
    use crate::queue::drop_tail::DropTail;
    use crate::queue::{Discipline, Length, QueueLimit};
    use crate::testing::datagram;
    use roamsim_engine::Span;

    /// One frame over so many good bearers, none of whose bits arrives: bearers used, and who carries what.
    fn frame(direction: &mut Direction, bearers: usize) -> (u64, Vec<(usize, u64)>) {
        let used = direction.run_frame(0, Time::ZERO, &Bearers::good(bearers), &[]);
        assert!(direction.lost.is_empty() && !direction.has_arrived());
        (used, direction.channels.carried())
    }

    #[test]
    fn packets_stay_on_their_bearers_when_one_is_lost() {
        for unfinished in [UnfinishedPackets::Lost, UnfinishedPackets::Kept] {
            let errors = ErrorConfig { ber_good: 1.0, ..ErrorConfig::default() };
            let config = IpConfig { max_attempts: 10, unfinished };
            let service = Service::Lu2(Lu2Config::default());
            let mut direction = Direction::new(&service, None, config, &errors, Stream::new(1, 0, "errors"));
            // Two fragments each.
            (0..2).for_each(|_| direction.arrive(Time::ZERO, datagram(40)));
            assert_eq!(frame(&mut direction, 3), (3, vec![(0, 0), (1, 1), (2, 2)]));
            direction.bearer_lost(1);
            assert_eq!(frame(&mut direction, 2), (2, vec![(0, 0), (1, 2)]));
            // Two more bearers: what has lost its bearer comes before what is new.
            let kept = unfinished == UnfinishedPackets::Kept;
            let carried = match kept {
                true => vec![(0, 0), (1, 2), (2, 1), (3, 3)],
                false => vec![(0, 0), (1, 2), (2, 3)],
            };
            assert_eq!(frame(&mut direction, 4), (carried.len() as u64, carried.clone()));
            let ip = direction.stats().ip;
            assert_eq!((ip.packets, ip.attempts, ip.received), (4, 5 + carried.len() as u64, 0));
            assert_eq!(ip.lost_with_bearer, u64::from(!kept));
            // None of them came without errors, and the receiver goes on counting when the measurement begins
            // anew.
            let all = Receptions { frames: ip.attempts, in_error: ip.attempts };
            assert_eq!(direction.receptions(), all);
            direction.restart_measurement();
            assert_eq!((direction.stats().ip.attempts, direction.receptions()), (0, all));
        }
    }

    /// With A fields that all arrive bearers are looked at one by one, without them together: up to the last
    /// field of both ends and of what is drawn, also with bearers of both halves, more failures than not,
    /// packets given up, and bearers that come and go.
    #[test]
    fn bearers_looked_at_together_and_one_by_one_come_to_the_same() {
        let mut random = Stream::new(3, 0, "frames");
        for run in 0..30 {
            let burst = Burst { from_frame: 100, until_frame: 150, factor: 10.0 };
            let errors = ErrorConfig { ber_good: 5e-4, bursts: vec![burst], ..ErrorConfig::default() };
            let unfinished = [UnfinishedPackets::Lost, UnfinishedPackets::Kept][run as usize % 2];
            let config = IpConfig { max_attempts: 4, unfinished };
            let service = Service::Lu2(Lu2Config { window_fragments: 127, ..Lu2Config::default() });
            let direction = || Direction::new(&service, None, config, &errors, Stream::new(run, 0, "errors"));
            let (mut together, mut singly) = (direction(), direction());
            let mut bearers = Bearers::good(4 * run as usize);
            for frame in 0..200 {
                let start = Time::ZERO + FRAME * frame;
                let place = random.below(bearers.count() as u64) as usize;
                match random.below(8) {
                    0 if bearers.count() < 120 => bearers.add(Quality::Bad),
                    1 if bearers.count() > 1 => {
                        bearers.remove(place);
                        together.bearer_lost(place);
                        singly.bearer_lost(place);
                    }
                    2..=5 if bearers.count() > 0 => {
                        bearers.change(place, [Quality::Good, Quality::Bad][random.below(2) as usize]);
                    }
                    _ => {}
                }
                while together.waiting_packets() < 6 {
                    let packet = datagram(20 + random.below(1200) as u32);
                    together.arrive(start, packet.clone());
                    singly.arrive(start, packet);
                }
                together.advance(frame);
                singly.advance(frame);
                let a_fields = vec![AFields::CORRECT; bearers.count()];
                let used = together.run_frame(frame, start, &bearers, &[]);
                assert_eq!(used, singly.run_frame(frame, start, &bearers, &a_fields));
                assert_eq!(format!("{together:?}"), format!("{singly:?}"), "{run} {frame}");
                while together.take().is_some() {}
                while singly.take().is_some() {}
            }
            let stats = together.stats().ip;
            assert!(run < 2 || stats.discarded > 0 && stats.received > 0, "{stats:?}");
        }
    }

    /// Drops at the head who has waited for longer than 15 ms.
    #[derive(Debug)]
    struct Impatient {
        waiting: DropTail,
        dropped: VecDeque<Waiting>,
    }

    impl Discipline for Impatient {
        fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
            self.waiting.enqueue(waiting, idle)
        }

        fn dequeue(&mut self, now: Time) -> Option<Waiting> {
            loop {
                let next = self.waiting.dequeue(now)?;
                if now - next.since <= Span::from_ms(15) {
                    return Some(next);
                }
                self.dropped.push_back(next);
            }
        }

        fn poll_drop(&mut self) -> Option<(Waiting, DropReason)> {
            Some((self.dropped.pop_front()?, DropReason::QueueFull))
        }

        fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Waiting> {
            self.waiting.withdraw(now, from)
        }

        fn length(&self) -> Length {
            self.waiting.length()
        }
    }

    #[test]
    fn what_the_queue_drops_has_an_end_and_leaves_no_fragments_behind() {
        let waiting = DropTail::new(Some(QueueLimit::Packets(3)));
        let queue = AnyDiscipline::Managing(Box::new(Impatient { waiting, dropped: VecDeque::new() }));
        let (errors, service) = (ErrorConfig { ber_good: 0.0, ..ErrorConfig::default() }, Service::Lu1);
        let config = IpConfig { max_attempts: 10, unfinished: UnfinishedPackets::Lost };
        let mut direction =
            Direction::new(&service, Some(queue), config, &errors, Stream::new(1, 0, "errors"));
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        // Fragments of 40 octets: 14 of the first, 2 each of the others.
        for (id, ms, bytes) in [(0, 1, 552), (1, 2, 40), (2, 3, 40), (3, 4, 40), (4, 12, 40)] {
            direction.arrive(at(ms), Packet { id: PacketId(id), ..datagram(bytes) });
        }
        assert_eq!((direction.waiting_packets(), direction.next_arrival_frame()), (5, 1));
        let mut ends = Vec::new();
        let mut left = Vec::new();
        for frame in 1..=3 {
            direction.run_frame(frame, at(10 * frame), &Bearers::good(7), &[]);
            let arrived = std::iter::from_fn(|| direction.take()).map(|packet| (frame, packet.id.0, None));
            ends.extend(arrived);
            let lost =
                direction.lost.drain(..).map(|(_, (packet, reason))| (frame, packet.id.0, Some(reason)));
            ends.extend(lost);
            left.push((direction.waiting_packets(), direction.backlog_fragments(), direction.is_busy()));
        }
        // Frame 1: the fourth finds the queue full, though the first is about to leave it; the first begins.
        // Frame 2: the first ends, the fifth joins the queue. Frame 3, at 30 ms: all three have waited for
        // longer than 15 ms.
        let full = Some(DropReason::QueueFull);
        assert_eq!(ends, [(1, 3, full), (2, 0, None), (3, 1, full), (3, 2, full), (3, 4, full)]);
        assert_eq!(left, [(3, 7 + 4, true), (3, 6, true), (0, 0, false)]);
        assert_eq!(direction.packets_inside(), 0);
        // 9 ms of the first, 28 + 27 + 18 of those that were dropped at the head.
        assert_eq!(direction.link_stats(at(99)).waiting, Span::from_ms(9 + 28 + 27 + 18));
    }
}
