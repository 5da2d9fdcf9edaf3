//! One direction of the user's data: packets that arrive, the service of the DLC, and the packets on the bearers.

use super::FRAME;
use super::errors::{B_FIELD_BITS, ErrorConfig, ErrorProcess, SUBFIELD_BITS, SUBFIELDS};
use super::frames::FrameQueue;
use super::ip_channel::{AFields, Attempt, IpPacket, IpStats};
use super::lu1::{Lu1, Lu1Stats};
use super::lu2::{Ended, Lu2, Lu2Config, Lu2Stats};
use super::mac::Quality;
use crate::link::LinkStats;
use crate::packet::Packet;
use crate::queue::{Discipline, Queue, Waiting};
use crate::topology::Attachment;
use roamsim_engine::{Span, Stream, Time};
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

/// What becomes of an unfinished packet of the Ip channel whose bearer is released or handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedPackets {
    /// It is lost.
    Lost,
    /// The next idle bearer goes on with it.
    Kept,
}

/// The settings of the Ip channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpConfig {
    /// Attempts before a packet is discarded. 10: the paper.
    pub max_attempts: u32,
    /// Lost: chosen, because the standard's MAC begins anew on a new bearer.
    pub unfinished: UnfinishedPackets,
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

/// Bearers in succession, in order of their age, that are in one state: those before `end` that are in no run before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub quality: Quality,
    pub end: usize,
}

/// Whose packets a direction's queue holds: one end's alone, whichever that is.
const SENDER: Attachment = Attachment(0);

/// One direction.
#[derive(Debug)]
pub(super) struct Direction {
    /// What has come and waits for the beginning of a frame, when it joins the queue: a frame is worked out at its end,
    /// and what comes in it meets the queue as the frame leaves it.
    arrivals: VecDeque<(Time, Packet)>,
    queue: Queue,
    /// The fragments that the packets in the queue will make.
    queued_fragments: u64,
    dlc: Dlc,
    ip_config: IpConfig,
    /// Of the subfields, or over LU1 of the B fields.
    errors: ErrorProcess,
    /// Packets that are not finished, and the places of their bearers, in ascending order.
    unfinished: Vec<(usize, IpPacket)>,
    /// Those of the frame before, kept for their memory.
    to_repeat: Vec<(usize, IpPacket)>,
    /// Unfinished packets that look for a bearer.
    orphans: VecDeque<IpPacket>,
    ip: IpStats,
    pub link: LinkStats,
}

impl Direction {
    pub fn new(
        service: &Service,
        queue: Box<dyn Discipline>,
        ip_config: IpConfig,
        errors: &ErrorConfig,
        random: Stream,
    ) -> Direction {
        let (dlc, unit_bits) = match service {
            Service::Lu2(config) => (Dlc::Lu2(Lu2::new(*config)), SUBFIELD_BITS),
            Service::Lu1 => (Dlc::Lu1(Lu1::new()), B_FIELD_BITS),
        };
        Direction {
            arrivals: VecDeque::new(),
            queue: Queue::under(queue, SENDER.0..SENDER.0 + 1),
            queued_fragments: 0,
            dlc,
            ip_config,
            errors: ErrorProcess::new(errors, unit_bits, random),
            unfinished: Vec::new(),
            to_repeat: Vec::new(),
            orphans: VecDeque::new(),
            ip: IpStats::default(),
            link: LinkStats::default(),
        }
    }

    /// A packet has come from the node.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: Packet) {
        self.arrivals.push_back((now, packet));
        self.link.max_waiting_packets = self.link.max_waiting_packets.max(self.waiting_packets() as u64);
    }

    /// The first frame that begins when the oldest arrival is there.
    #[inline]
    pub fn next_arrival_frame(&self) -> u64 {
        self.arrivals.front().map_or(u64::MAX, |(at, _)| at.as_ns().div_ceil(FRAME.as_ns()))
    }

    /// A frame begins at `start`: arrivals join the queue, and the sender learns what has become known.
    #[inline]
    pub fn begin_frame(&mut self, frame: u64, start: Time, mut ended: impl FnMut(Ended)) {
        self.errors.advance(frame);
        while let Some((at, packet)) = self.arrivals.pop_front_if(|(at, _)| *at <= start) {
            let fragments = self.frames().fragments_of(packet.size_bytes);
            match self.queue.enqueue(at, SENDER, packet, false) {
                Ok(()) => self.queued_fragments += fragments,
                Err(dropped) => ended(Err(dropped)),
            }
            self.take_drops(at, &mut ended);
        }
        if let Dlc::Lu2(lu2) = &mut self.dlc {
            lu2.begin_frame(frame);
        }
    }

    /// The packets that have begun to be sent.
    #[inline]
    fn frames(&self) -> &FrameQueue {
        match &self.dlc {
            Dlc::Lu2(lu2) => &lu2.queue,
            Dlc::Lu1(lu1) => &lu1.queue,
        }
    }

    /// Takes what the queue has dropped of those that it had taken.
    #[inline]
    fn take_drops(&mut self, now: Time, ended: &mut impl FnMut(Ended)) {
        while let Some((Waiting { packet, .. }, reason)) = self.queue.poll_drop(now) {
            self.queued_fragments -= self.frames().fragments_of(packet.size_bytes);
            ended(Err((packet, reason)));
        }
    }

    /// One frame of all bearers, in the frame that begins at `start`: how many were used. `a_fields` has an entry a
    /// bearer, or none if all A fields arrive.
    #[inline]
    pub fn use_bearers(
        &mut self,
        runs: &[Run],
        start: Time,
        a_fields: &[AFields],
        mut ended: impl FnMut(Ended),
    ) -> u64 {
        let bearers = runs.last().map_or(0, |run| run.end);
        let idle = bearers - self.unfinished.len();
        let resumed = self.orphans.len().min(idle);
        let new = self.begin((idle - resumed) as u64, start, &mut ended);
        let used = (self.unfinished.len() + resumed) as u64 + (new.end - new.start);
        if used > 0 {
            match &mut self.dlc {
                Dlc::Lu1(lu1) => carry_unprotected(lu1, &mut self.errors, new, runs, a_fields, ended),
                Dlc::Lu2(_) => {
                    self.ip.attempts += used;
                    self.attempt_all(new, runs, a_fields);
                }
            }
        }
        used
    }

    /// Takes fragments for so many idle bearers, as far as there are any.
    #[inline]
    fn begin(&mut self, idle: u64, start: Time, ended: &mut impl FnMut(Ended)) -> Range<u64> {
        let waiting = self.queued_fragments > 0;
        let written = self.frames().written();
        let (queue, link) = (&mut self.queue, &mut self.link);
        let packet = || {
            let Waiting { packet, .. } = if waiting { queue.dequeue(start)? } else { return None };
            link.sent_packets += 1;
            link.sent_bytes += u64::from(packet.size_bytes);
            Some(packet)
        };
        let fragments = match &mut self.dlc {
            Dlc::Lu2(lu2) => {
                let fragments = lu2.next_fragments(idle, packet);
                self.ip.packets += fragments.end - fragments.start;
                fragments
            }
            Dlc::Lu1(lu1) => lu1.next_fragments(idle, packet),
        };
        if waiting {
            self.queued_fragments -= self.frames().written() - written;
            self.take_drops(start, ended);
        }
        fragments
    }

    /// One frame of all Ip channels: unfinished packets are repeated, and idle bearers take orphans and then `new`.
    #[inline]
    fn attempt_all(&mut self, mut new: Range<u64>, runs: &[Run], a_fields: &[AFields]) {
        std::mem::swap(&mut self.unfinished, &mut self.to_repeat);
        self.unfinished.clear();
        let (mut place, mut repeated) = (0, 0);
        let (first, count) = (new.start, new.end - new.start);
        // Bit i: not all of fragment first + i has arrived. The window is narrower than 128.
        let mut missing = 0u128;
        for &Run { quality, end } in runs {
            while place < end {
                let next_to_repeat = self.to_repeat.get(repeated).copied();
                if let Some((at, packet)) = next_to_repeat
                    && at == place
                {
                    self.attempt_again(place, quality, packet, a_fields);
                    repeated += 1;
                    place += 1;
                    continue;
                }
                let idle_end = next_to_repeat.map_or(end, |(at, _)| at.min(end));
                while place < idle_end
                    && let Some(orphan) = self.orphans.pop_front()
                {
                    self.attempt_again(place, quality, orphan, a_fields);
                    place += 1;
                }
                while place < idle_end && !new.is_empty() {
                    if a_fields.is_empty() {
                        let most = (new.end - new.start).min((idle_end - place) as u64);
                        let intact = self.errors.intact_blocks(quality, most, SUBFIELDS);
                        self.ip.received += intact;
                        new.start += intact;
                        place += intact as usize;
                        if intact == most {
                            break;
                        }
                    }
                    let packet = IpPacket::new(new.start);
                    if !self.attempt(place, quality, packet, a_fields) {
                        missing |= 1 << (new.start - first);
                    }
                    new.start += 1;
                    place += 1;
                }
                place = idle_end;
            }
        }
        if let Dlc::Lu2(lu2) = &mut self.dlc {
            lu2.receive(first, !(u128::MAX << count) & !missing);
        }
    }

    /// A further attempt for a packet of the Ip channel.
    fn attempt_again(&mut self, place: usize, quality: Quality, packet: IpPacket, a_fields: &[AFields]) {
        if self.attempt(place, quality, packet, a_fields)
            && let Dlc::Lu2(lu2) = &mut self.dlc
        {
            lu2.receive(packet.fragment, 1);
        }
    }

    /// An attempt for a packet of the Ip channel: whether it is received with it.
    fn attempt(
        &mut self,
        place: usize,
        quality: Quality,
        mut packet: IpPacket,
        a_fields: &[AFields],
    ) -> bool {
        let a_fields = a_fields.get(place).copied().unwrap_or(AFields::CORRECT);
        let attempt = packet.attempt(&mut self.errors, quality, a_fields, self.ip_config.max_attempts);
        match attempt {
            Attempt::Incomplete | Attempt::Received { acknowledged: false } => {
                self.unfinished.push((place, packet));
            }
            Attempt::Discarded => self.ip.discarded += 1,
            Attempt::Received { acknowledged: true } | Attempt::Acknowledged => {}
        }
        let received = matches!(attempt, Attempt::Received { .. });
        self.ip.received += u64::from(received);
        received
    }

    /// The bearer at a place is gone, and those behind it move up.
    pub fn bearer_lost(&mut self, place: usize) {
        let at = self.unfinished.partition_point(|&(bearer, _)| bearer < place);
        let carried = self.unfinished.get(at).is_some_and(|&(bearer, _)| bearer == place);
        let packet = carried.then(|| self.unfinished.remove(at).1);
        self.unfinished[at..].iter_mut().for_each(|(bearer, _)| *bearer -= 1);
        let Some(packet) = packet.filter(|packet| !packet.is_received()) else { return };
        match self.ip_config.unfinished {
            UnfinishedPackets::Lost => self.ip.lost_with_bearer += 1,
            UnfinishedPackets::Kept => self.orphans.push_back(packet),
        }
    }

    /// The frame ends; `bearers` tells whether there is any.
    #[inline]
    pub fn end_frame(&mut self, frame: u64, bearers: bool, ended: impl FnMut(Ended)) {
        if let Dlc::Lu2(lu2) = &mut self.dlc {
            lu2.end_frame(frame, bearers, ended);
        }
    }

    /// Whether the next frame has anything to do, arrivals apart.
    #[inline]
    pub fn has_work(&self, bearers: bool) -> bool {
        let waiting = self.queued_fragments > 0;
        let to_send = match &self.dlc {
            Dlc::Lu2(lu2) if lu2.has_pending(bearers) => return true,
            Dlc::Lu2(lu2) => lu2.has_fragment(waiting),
            Dlc::Lu1(lu1) => waiting || lu1.has_fragment(),
        };
        bearers && (to_send || !self.unfinished.is_empty() || !self.orphans.is_empty())
    }

    /// Packets that have not begun to be sent.
    #[inline]
    pub fn waiting_packets(&self) -> usize {
        self.queue.length().packets + self.arrivals.len()
    }

    /// Packets inside.
    pub fn packets_inside(&self) -> u64 {
        (self.frames().count() + self.waiting_packets()) as u64
    }

    /// Sum of all waiting times up to `now`.
    pub fn waited(&self, now: Time) -> Span {
        self.arrivals.iter().fold(self.queue.waited(SENDER, now), |sum, (at, _)| sum + now.since(*at))
    }

    /// Packets that the DLC has not begun to send.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The most that ever waited, and how long packets waited, are kept anew from now on.
    pub fn forget_longest(&mut self) {
        self.link.max_waiting_packets = self.waiting_packets() as u64;
        self.queue.forget_longest();
    }

    /// Packets that left the queue with a mark of its own.
    pub fn marked_packets(&self) -> u64 {
        self.queue.marked_packets(SENDER)
    }

    /// Fragments in the DLC's queue and on the air: those not yet received in order, and over LU1 those not sent.
    pub fn backlog_fragments(&self) -> u64 {
        let begun = match &self.dlc {
            Dlc::Lu2(lu2) => lu2.backlog_fragments(),
            Dlc::Lu1(lu1) => lu1.backlog_fragments(),
        };
        begun + self.queued_fragments
    }

    /// The counts since the measurement began.
    pub fn stats(&self) -> DirectionStats {
        let dlc = match &self.dlc {
            Dlc::Lu2(lu2) => DlcStats::Lu2(lu2.stats),
            Dlc::Lu1(lu1) => DlcStats::Lu1(lu1.stats),
        };
        DirectionStats { ip: self.ip, dlc }
    }

    /// The measurement begins anew; the link's own counts go on.
    pub fn restart_measurement(&mut self) {
        self.ip = IpStats::default();
        match &mut self.dlc {
            Dlc::Lu2(lu2) => lu2.stats = Lu2Stats::default(),
            Dlc::Lu1(lu1) => lu1.stats = Lu1Stats::default(),
        }
    }
}

/// LU1 sends fragments, one on each bearer.
fn carry_unprotected(
    lu1: &mut Lu1,
    b_fields: &mut ErrorProcess,
    mut fragments: Range<u64>,
    runs: &[Run],
    a_fields: &[AFields],
    mut ended: impl FnMut(Ended),
) {
    let mut place = 0;
    for &Run { quality, end } in runs {
        for fragment in fragments.by_ref().take(end - place) {
            let a_field_arrives = a_fields.get(place).is_none_or(|a_fields| a_fields.forward);
            let correct = a_field_arrives && b_fields.failed(quality, 1) == 0;
            lu1.arrive(fragment, correct, &mut ended);
            place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drops::DropReason;
    use crate::packet::PacketId;
    use crate::queue::drop_tail::DropTail;
    use crate::queue::{Length, QueueLimit};
    use crate::testing::datagram;

    /// One frame over so many good bearers, none of whose bits arrives: bearers used, and who carries what.
    fn frame(direction: &mut Direction, bearers: usize) -> (u64, Vec<(usize, u64)>) {
        let runs = [Run { quality: Quality::Good, end: bearers }];
        direction.begin_frame(0, Time::ZERO, |_| unreachable!("nothing is dropped"));
        let used = direction.use_bearers(&runs, Time::ZERO, &[], |_| unreachable!("nothing arrives"));
        (used, direction.unfinished.iter().map(|(place, packet)| (*place, packet.fragment)).collect())
    }

    #[test]
    fn packets_stay_on_their_bearers_when_one_is_lost() {
        for unfinished in [UnfinishedPackets::Lost, UnfinishedPackets::Kept] {
            let errors = ErrorConfig { ber_good: 1.0, ..ErrorConfig::default() };
            let config = IpConfig { max_attempts: 10, unfinished };
            let service = Service::Lu2(Lu2Config::default());
            let (queue, draws) = (Box::new(DropTail::new(None)), Stream::new(1, 0, "errors"));
            let mut direction = Direction::new(&service, queue, config, &errors, draws);
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
        let queue = Box::new(Impatient { waiting, dropped: VecDeque::new() });
        let (errors, service) = (ErrorConfig { ber_good: 0.0, ..ErrorConfig::default() }, Service::Lu1);
        let config = IpConfig { max_attempts: 10, unfinished: UnfinishedPackets::Lost };
        let mut direction = Direction::new(&service, queue, config, &errors, Stream::new(1, 0, "errors"));
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        // Fragments of 40 octets: 14 of the first, 2 each of the others.
        for (id, ms, bytes) in [(0, 1, 552), (1, 2, 40), (2, 3, 40), (3, 4, 40), (4, 12, 40)] {
            direction.arrive(at(ms), Packet { id: PacketId(id), ..datagram(bytes) });
        }
        assert_eq!((direction.waiting_packets(), direction.next_arrival_frame()), (5, 1));
        let mut ends = Vec::new();
        let mut left = Vec::new();
        for frame in 1..=3 {
            let mut ended = |ended: Ended| {
                ends.push(match ended {
                    Ok(packet) => (frame, packet.id.0, None),
                    Err((packet, reason)) => (frame, packet.id.0, Some(reason)),
                });
            };
            let start = at(10 * frame);
            direction.begin_frame(frame, start, &mut ended);
            let runs = [Run { quality: Quality::Good, end: 7 }];
            direction.use_bearers(&runs, start, &[], &mut ended);
            left.push((direction.waiting_packets(), direction.backlog_fragments(), direction.has_work(true)));
        }
        // Frame 1: the fourth finds the queue full, though the first is about to leave it; the first begins. Frame 2: the
        // first ends, the fifth joins the queue. Frame 3, at 30 ms: all three have waited for longer than 15 ms.
        let full = Some(DropReason::QueueFull);
        assert_eq!(ends, [(1, 3, full), (2, 0, None), (3, 1, full), (3, 2, full), (3, 4, full)]);
        assert_eq!(left, [(3, 7 + 4, true), (3, 6, true), (0, 0, false)]);
        assert_eq!(direction.packets_inside(), 0);
        // 9 ms of the first, 28 + 27 + 18 of those that were dropped at the head.
        assert_eq!(direction.waited(at(99)), Span::from_ms(9 + 28 + 27 + 18));
    }
}
