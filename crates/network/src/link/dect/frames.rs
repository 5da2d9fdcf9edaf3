//! DLC frames: IP packets with a frame checksum, cut into fragments that are numbered consecutively.

use crate::packet::Packet;
use std::collections::VecDeque;

/// Octets of the frame checksum behind each IP packet (ETS 300 175-4 clause 12.11.1.3: two octets).
pub const CHECKSUM_BYTES: u32 = 2;

/// An IP packet on its way through the DLC.
#[derive(Clone, Debug)]
pub struct DlcFrame {
    /// Its first fragment.
    pub first: u64,
    /// The first fragment after it.
    pub end: u64,
    /// What it carries.
    pub packet: Packet,
}

/// The DLC frames that have begun to be sent and are not delivered yet, in order.
#[derive(Clone, Debug)]
pub struct FrameQueue {
    fragment_bytes: u32,
    frames: VecDeque<DlcFrame>,
    /// The number of fragments of all frames.
    written: u64,
}

impl FrameQueue {
    /// No frames yet; they are cut into fragments of so many octets.
    pub fn new(fragment_bytes: u32) -> FrameQueue {
        FrameQueue { fragment_bytes, frames: VecDeque::new(), written: 0 }
    }

    /// How many fragments an IP packet of so many octets makes.
    #[inline]
    pub fn fragments_of(&self, bytes: u32) -> u64 {
        u64::from((bytes + CHECKSUM_BYTES).div_ceil(self.fragment_bytes))
    }

    /// Appends an IP packet.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        let first = self.written;
        self.written += self.fragments_of(packet.size_bytes);
        self.frames.push_back(DlcFrame { first, end: self.written, packet });
    }

    /// Appends packets until there are fragments before `end`, or `next` gives none; the end of those that there are.
    #[inline]
    pub fn fill(&mut self, end: u64, mut next: impl FnMut() -> Option<Packet>) -> u64 {
        while self.written < end
            && let Some(packet) = next()
        {
            self.push(packet);
        }
        end.min(self.written)
    }

    /// One above the last fragment's number.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The oldest frame.
    #[inline]
    pub fn front(&self) -> Option<&DlcFrame> {
        self.frames.front()
    }

    /// Takes the oldest frame.
    #[inline]
    pub fn pop(&mut self) -> Option<DlcFrame> {
        self.frames.pop_front()
    }

    /// How many frames there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.frames.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::datagram;

    #[test]
    fn fragments_of_the_study() {
        // ceil((L + 42) / 29) with 40 octets of headers and 2 of checksum: L = 512 makes 554 / 29 = 19.1, so 20;
        // a pure acknowledgement 42 / 29 = 1.4, so 2. In slots of 40 octets: 13.9 and 1.05, so 14 and 2.
        for (fragment_bytes, data, ack) in [(29, 20, 2), (40, 14, 2)] {
            let mut queue = FrameQueue::new(fragment_bytes);
            queue.push(datagram(552));
            assert_eq!(queue.written(), data);
            queue.push(datagram(40));
            assert_eq!(queue.written(), data + ack);
        }
    }

    #[test]
    fn a_frame_begins_when_the_first_of_its_fragments_is_wanted() {
        let mut queue = FrameQueue::new(29);
        let mut waiting = vec![datagram(40), datagram(552)];
        assert_eq!(queue.fill(0, || waiting.pop()), 0);
        assert_eq!((queue.count(), queue.fill(20, || waiting.pop())), (0, 20));
        assert_eq!((queue.count(), queue.fill(21, || waiting.pop())), (1, 21));
        assert_eq!((queue.count(), queue.fill(30, || waiting.pop())), (2, 22));
    }
}
