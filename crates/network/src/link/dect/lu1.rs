//! LU1, the transparent service of the DLC's user plane (ETS 300 175-4 clause 11.2), over the In channel, one
//! direction: a packet is cut into the B fields of successive slots, each sent once and without protection, and
//! nothing repairs. A packet with an error is found by its checksum and dropped.
//!
//! Modelled so that TCP alone can be compared with the recovery of MAC and DLC. The whole B field carries data (40
//! octets, FU1 has no header), which favours LU1.
//!
//! Not modelled: how the receiver finds where a packet begins and ends.

use super::frames::FrameQueue;
use super::lu2::Ended;
use crate::drops::DropReason;
use crate::packet::Packet;
use std::ops::Range;

/// Octets in a B field of 320 bits.
pub const FRAGMENT_BYTES: u32 = 40;

/// Counts of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lu1Stats {
    /// Fragments sent.
    pub fragments: u64,
    /// Fragments with an error.
    pub fragments_lost: u64,
    /// Packets delivered.
    pub frames_delivered: u64,
    /// Packets dropped for an error.
    pub frames_dropped: u64,
}

/// One direction of LU1.
#[derive(Clone, Debug)]
pub struct Lu1 {
    pub(super) queue: FrameQueue,
    next: u64,
    /// The packet whose fragments are on their way has lost one.
    damaged: bool,
    pub(super) stats: Lu1Stats,
}

impl Lu1 {
    /// Nothing sent yet.
    pub fn new() -> Lu1 {
        Lu1 { queue: FrameQueue::new(FRAGMENT_BYTES), next: 0, damaged: false, stats: Lu1Stats::default() }
    }

    /// Whether there is a fragment of a packet that has begun.
    #[inline]
    pub fn has_fragment(&self) -> bool {
        self.next < self.queue.written()
    }

    /// The next fragments for so many bearers; `packet` gives the packets that wait.
    #[inline]
    pub fn next_fragments(&mut self, bearers: u64, packet: impl FnMut() -> Option<Packet>) -> Range<u64> {
        let first = self.next;
        self.next = self.queue.fill(first + bearers, packet);
        self.stats.fragments += self.next - first;
        first..self.next
    }

    /// What became of the next of the fragments that were sent.
    #[inline]
    pub fn arrive(&mut self, fragment: u64, correct: bool, mut ended: impl FnMut(Ended)) {
        self.damaged |= !correct;
        self.stats.fragments_lost += u64::from(!correct);
        if self.queue.front().is_none_or(|frame| fragment + 1 < frame.end) {
            return;
        }
        let damaged = std::mem::take(&mut self.damaged);
        if let Some(frame) = self.queue.pop() {
            self.stats.frames_dropped += u64::from(damaged);
            self.stats.frames_delivered += u64::from(!damaged);
            ended(if damaged { Err((frame.packet, DropReason::Incomplete)) } else { Ok(frame.packet) });
        }
    }

    /// Fragments of packets that have begun, and not sent.
    pub fn backlog_fragments(&self) -> u64 {
        self.queue.written() - self.next
    }
}

impl Default for Lu1 {
    fn default() -> Lu1 {
        Lu1::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::datagram;

    #[test]
    fn one_fragment_with_an_error_costs_its_packet_alone() {
        let mut lu1 = Lu1::new();
        let mut waiting = [552, 40, 40].map(datagram).into_iter();
        let mut ended = Vec::new();
        // Fragments 0 to 13, 14 and 15, 16 and 17.
        assert_eq!(lu1.next_fragments(20, || waiting.next()), 0..18);
        for fragment in 0..18 {
            lu1.arrive(fragment, fragment != 15, |end| ended.push(end.is_ok()));
        }
        assert_eq!(ended, [true, false, true]);
        assert_eq!(lu1.stats.fragments, 18);
        assert_eq!(lu1.backlog_fragments(), 0);
    }
}
