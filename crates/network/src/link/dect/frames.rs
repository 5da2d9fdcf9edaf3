//! DLC frames: IP packets with a frame checksum, cut into fragments that are numbered consecutively.

use crate::packet::Packet;
use roamsim_engine::Time;
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
    /// When it came.
    pub queued_at: Time,
    /// What it carries.
    pub packet: Packet,
}

/// The DLC frames that are not delivered yet, in order. Infinite.
#[derive(Clone, Debug)]
pub struct FrameQueue {
    fragment_bytes: u32,
    frames: VecDeque<DlcFrame>,
    /// Of these, how many have begun to be sent.
    begun: usize,
    /// The number of fragments ever queued.
    written: u64,
}

impl FrameQueue {
    /// An empty queue of frames that are cut into fragments of so many octets.
    pub fn new(fragment_bytes: u32) -> FrameQueue {
        FrameQueue { fragment_bytes, frames: VecDeque::new(), begun: 0, written: 0 }
    }

    /// Appends an IP packet.
    #[inline]
    pub fn push(&mut self, queued_at: Time, packet: Packet) {
        let first = self.written;
        let fragments = (packet.size_bytes + CHECKSUM_BYTES).div_ceil(self.fragment_bytes);
        self.written += u64::from(fragments);
        self.frames.push_back(DlcFrame { first, end: self.written, queued_at, packet });
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
        self.begun = self.begun.saturating_sub(1);
        self.frames.pop_front()
    }

    /// All fragments before `end` are sent: the oldest frame that begins among them and has not begun before.
    #[inline]
    pub fn begin_before(&mut self, end: u64) -> Option<&DlcFrame> {
        let next = self.frames.get(self.begun).filter(|next| next.first < end)?;
        self.begun += 1;
        Some(next)
    }

    /// The frames that have not begun to be sent.
    pub fn waiting(&self) -> impl Iterator<Item = &DlcFrame> {
        self.frames.range(self.begun..)
    }

    /// Frames, and those of them that have not begun to be sent.
    #[inline]
    pub fn len_and_waiting(&self) -> (usize, usize) {
        (self.frames.len(), self.frames.len() - self.begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::testing::datagram;

    #[test]
    fn fragments_of_the_study() {
        // ceil((L + 42) / 29) with 40 octets of headers and 2 of checksum: L = 512 makes 554 / 29 = 19.1, so 20;
        // a pure acknowledgement 42 / 29 = 1.4, so 2. In slots of 40 octets: 13.9 and 1.05, so 14 and 2.
        for (fragment_bytes, data, ack) in [(29, 20, 2), (40, 14, 2)] {
            let mut queue = FrameQueue::new(fragment_bytes);
            queue.push(Time::ZERO, datagram(552));
            assert_eq!(queue.written(), data);
            queue.push(Time::ZERO, datagram(40));
            assert_eq!(queue.written(), data + ack);
        }
    }

    #[test]
    fn a_frame_begins_once() {
        let mut queue = FrameQueue::new(29);
        queue.push(Time::ZERO, datagram(552));
        queue.push(Time::ZERO, datagram(40));
        assert_eq!(queue.len_and_waiting(), (2, 2));
        assert!(queue.begin_before(1).is_some());
        assert!(queue.begin_before(1).is_none() && queue.begin_before(20).is_none());
        assert_eq!(queue.len_and_waiting(), (2, 1));
        queue.pop();
        assert_eq!(queue.begin_before(21).map(|frame| frame.end), Some(22));
        assert_eq!(queue.len_and_waiting(), (1, 0));
    }
}
