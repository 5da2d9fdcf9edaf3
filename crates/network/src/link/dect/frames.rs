//! DLC frames: IP packets with a frame checksum, cut into fragments that are numbered consecutively.

use crate::link::clear_first;
use crate::packet::Packet;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// Octets of the frame checksum behind each IP packet (ETS 300 175-4 clause 12.11.1.3: two octets).
pub const CHECKSUM_BYTES: u32 = 2;

/// An IP packet on its way through the DLC.
#[derive(Clone, Debug)]
struct DlcFrame {
    /// When the packet came.
    since: Time,
    /// The first fragment after it.
    end: u64,
    packet: Packet,
}

/// The DLC frames that have begun to be sent, and behind them the packets that wait to begin, first come,
/// first served: a packet lies in one place from one node to the other. Packets with a queue of their own
/// before the DLC come here when they begin.
#[derive(Clone, Debug)]
pub struct FrameQueue {
    fragment_bytes: u32,
    frames: VecDeque<DlcFrame>,
    /// How many of the frames are over and to be delivered, how many have begun, and how many may: those
    /// behind wait for the beginning of a frame. Each with those before it.
    over: usize,
    begun: usize,
    joined: usize,
    /// The end of the oldest frame that has begun and is not over; `u64::MAX` when there is none.
    oldest_end: u64,
    /// The number of fragments of all frames that are over, that have begun, that may, and of all.
    passed: u64,
    written: u64,
    available: u64,
    all: u64,
    /// The packets that have begun.
    pub sent_packets: u64,
    /// Their octets.
    pub sent_bytes: u64,
    /// Sum of the waiting times of those that have begun.
    waited: Span,
}

impl FrameQueue {
    /// No frames yet; they are cut into fragments of so many octets.
    pub fn new(fragment_bytes: u32) -> FrameQueue {
        FrameQueue {
            fragment_bytes,
            frames: VecDeque::new(),
            over: 0,
            begun: 0,
            joined: 0,
            oldest_end: u64::MAX,
            passed: 0,
            written: 0,
            available: 0,
            all: 0,
            sent_packets: 0,
            sent_bytes: 0,
            waited: Span::ZERO,
        }
    }

    /// How many fragments an IP packet of so many octets makes.
    #[inline]
    pub fn fragments_of(&self, bytes: u32) -> u64 {
        u64::from((bytes + CHECKSUM_BYTES).div_ceil(self.fragment_bytes))
    }

    /// A packet has come, and waits for the beginning of a frame.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: Packet) {
        self.all += self.fragments_of(packet.size_bytes);
        self.frames.push_back(DlcFrame { since: now, end: self.all, packet });
    }

    /// Those that have come by `start` may begin; when the first came that may not.
    #[inline]
    pub fn join(&mut self, start: Time) -> Option<Time> {
        while let Some(frame) = self.frames.get(self.joined) {
            if frame.since > start {
                return Some(frame.since);
            }
            self.available = frame.end;
            self.joined += 1;
        }
        None
    }

    /// Begins packets until there are fragments before `end`, first those that wait here, then what `next`
    /// gives; the end of those that there are.
    #[inline]
    pub fn fill(&mut self, end: u64, now: Time, next: impl FnMut() -> Option<Packet>) -> u64 {
        if self.written < end {
            self.begin(end, now, next);
        }
        end.min(self.written)
    }

    #[inline]
    fn begin(&mut self, end: u64, now: Time, mut next: impl FnMut() -> Option<Packet>) {
        while self.written < end {
            if self.begun == self.joined {
                let Some(packet) = next() else { return };
                self.arrive_and_join(now, packet);
            }
            let frame = &self.frames[self.begun];
            self.written = frame.end;
            self.oldest_end = self.oldest_end.min(frame.end);
            self.sent_packets += 1;
            self.sent_bytes += u64::from(frame.packet.size_bytes);
            self.waited += now - frame.since;
            self.begun += 1;
        }
    }

    /// A packet that has waited elsewhere has come, and may begin.
    #[inline(never)]
    fn arrive_and_join(&mut self, now: Time, packet: Packet) {
        self.arrive(now, packet);
        self.available = self.all;
        self.joined += 1;
    }

    /// One above the last fragment's number of those that have begun.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The same of those that may begin.
    #[inline]
    pub fn available(&self) -> u64 {
        self.available
    }

    /// The first fragment of the oldest frame that is not over.
    #[inline]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// The end of the oldest frame that has begun and is not over; `u64::MAX` when there is none.
    #[inline]
    pub fn oldest_end(&self) -> u64 {
        self.oldest_end
    }

    /// The oldest is over, and another takes its place.
    #[inline]
    fn pass_oldest(&mut self) {
        self.passed = self.oldest_end;
        let next = if self.over < self.begun { self.frames.get(self.over) } else { None };
        self.oldest_end = next.map_or(u64::MAX, |frame| frame.end);
    }

    /// The oldest, which there is, is complete: it is to be delivered.
    #[inline]
    pub fn complete(&mut self) {
        self.over += 1;
        self.pass_oldest();
    }

    /// The oldest is given up.
    #[cold]
    pub fn give_up(&mut self) -> Option<Packet> {
        if self.over == self.begun {
            return None;
        }
        let frame = self.frames.remove(self.over)?;
        self.begun -= 1;
        self.joined -= 1;
        self.pass_oldest();
        Some(frame.packet)
    }

    /// Whether any is to be delivered.
    #[inline]
    pub fn has_complete(&self) -> bool {
        self.over > 0
    }

    /// The oldest packet that is to be delivered.
    #[inline]
    pub fn first_complete(&self) -> Option<&Packet> {
        if self.over == 0 { None } else { self.frames.front().map(|frame| &frame.packet) }
    }

    /// Takes it.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        self.over = self.over.checked_sub(1)?;
        self.begun -= 1;
        self.joined -= 1;
        self.frames.pop_front().map(|frame| frame.packet)
    }

    /// Takes it, which there is, out of its place, where it has been looked at.
    #[inline(always)]
    pub fn clear_first(&mut self) {
        self.over -= 1;
        self.begun -= 1;
        self.joined -= 1;
        clear_first(&mut self.frames, |frame| &frame.packet);
    }

    /// How many packets there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// How many wait.
    #[inline]
    pub fn waiting_packets(&self) -> usize {
        self.frames.len() - self.begun
    }

    /// Sum of all waiting times up to `now`.
    pub fn waited(&self, now: Time) -> Span {
        self.frames.range(self.begun..).fold(self.waited, |sum, frame| sum + now.since(frame.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::datagram;

    #[test]
    fn fragments_of_the_study() {
        // ceil((L + 42) / 29) with 40 octets of headers and 2 of checksum: L = 512 makes 554 / 29 = 19.1, so
        // 20; a pure acknowledgement 42 / 29 = 1.4, so 2. In slots of 40 octets: 13.9 and 1.05, so 14 and 2.
        for (fragment_bytes, data, ack) in [(29, 20, 2), (40, 14, 2)] {
            let mut queue = FrameQueue::new(fragment_bytes);
            assert_eq!(queue.fill(1, Time::ZERO, || Some(datagram(552))), 1);
            assert_eq!(queue.written(), data);
            assert_eq!(queue.fill(data + 1, Time::ZERO, || Some(datagram(40))), data + 1);
            assert_eq!(queue.written(), data + ack);
        }
    }

    #[test]
    fn a_frame_begins_when_the_first_of_its_fragments_is_wanted() {
        let mut queue = FrameQueue::new(29);
        let mut waiting = vec![datagram(40), datagram(552)];
        assert_eq!(queue.fill(0, Time::ZERO, || waiting.pop()), 0);
        assert_eq!((queue.count(), queue.fill(20, Time::ZERO, || waiting.pop())), (0, 20));
        assert_eq!((queue.count(), queue.fill(21, Time::ZERO, || waiting.pop())), (1, 21));
        assert_eq!((queue.count(), queue.fill(30, Time::ZERO, || waiting.pop())), (2, 22));
    }

    #[test]
    fn packets_wait_where_they_will_be_sent_from() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut queue = FrameQueue::new(29);
        [(3, 552), (10, 40), (12, 40)]
            .into_iter()
            .for_each(|(ms, bytes)| queue.arrive(at(ms), datagram(bytes)));
        // Two have come by 10 ms, with 20 and 2 fragments.
        assert_eq!((queue.join(at(10)), queue.available(), queue.waiting_packets()), (Some(at(12)), 22, 3));
        assert_eq!((queue.fill(20, at(10), || None), queue.waiting_packets()), (20, 2));
        assert_eq!((queue.oldest_end(), queue.sent_bytes), (20, 552));
        // 7 ms of the first, and 3 and 1 of the others by 13 ms.
        assert_eq!(queue.waited(at(13)), Span::from_ms(7 + 3 + 1));
        assert_eq!((queue.join(at(20)), queue.fill(30, at(20), || None)), (None, 24));
        assert_eq!(queue.waited(at(99)), Span::from_ms(7 + 10 + 8));
        // The second is given up, the others are complete.
        queue.complete();
        assert_eq!((queue.passed(), queue.oldest_end()), (20, 22));
        assert_eq!(queue.give_up().map(|packet| packet.size_bytes), Some(40));
        queue.complete();
        assert_eq!((queue.passed(), queue.oldest_end(), queue.has_complete()), (24, u64::MAX, true));
        let sizes: Vec<u32> = std::iter::from_fn(|| queue.take()).map(|packet| packet.size_bytes).collect();
        assert_eq!((sizes, queue.count(), queue.has_complete()), (vec![552, 40], 0, false));
    }
}
