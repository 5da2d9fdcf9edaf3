//! LU1, the transparent service of the DLC's user plane (ETS 300 175-4 clause 11.2), over the In channel, one
//! direction: a packet is cut into the B fields of successive slots, each sent once and without protection,
//! and nothing repairs. A packet with an error is found by its checksum and dropped.
//!
//! Modelled so that TCP alone can be compared with the recovery of MAC and DLC. The whole B field carries
//! data (40 octets, FU1 has no header), which favours LU1.
//!
//! Not modelled: how the receiver finds where a packet begins and ends.

use super::frames::FrameQueue;
use super::lu2::Lost;
use crate::drops::DropReason;
use crate::packet::Packet;
use roamsim_engine::Time;
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
    next: u64,
    /// The packet whose fragments are on their way has lost one.
    damaged: bool,
    pub(super) stats: Lu1Stats,
}

impl Lu1 {
    /// Nothing sent yet.
    pub fn new() -> Lu1 {
        Lu1 { next: 0, damaged: false, stats: Lu1Stats::default() }
    }

    /// Whether there is a fragment of a packet that has begun, or may.
    #[inline]
    pub fn has_fragment(&self, queue: &FrameQueue) -> bool {
        self.next < queue.available()
    }

    /// The next fragments for so many bearers at `now`; `packet` gives the packets that wait elsewhere.
    #[inline]
    pub fn next_fragments(
        &mut self,
        queue: &mut FrameQueue,
        bearers: u64,
        now: Time,
        packet: impl FnMut() -> Option<Packet>,
    ) -> Range<u64> {
        let first = self.next;
        self.next = queue.fill(first + bearers, now, packet);
        self.stats.fragments += self.next - first;
        first..self.next
    }

    /// What became of the next of the fragments that were sent.
    #[inline]
    pub fn arrive(
        &mut self,
        queue: &mut FrameQueue,
        fragment: u64,
        correct: bool,
        mut lost: impl FnMut(Lost),
    ) {
        self.damaged |= !correct;
        self.stats.fragments_lost += u64::from(!correct);
        if fragment + 1 < queue.oldest_end() {
            return;
        }
        if std::mem::take(&mut self.damaged) {
            self.stats.frames_dropped += 1;
            if let Some(packet) = queue.give_up() {
                lost((packet, DropReason::Incomplete));
            }
        } else {
            self.stats.frames_delivered += 1;
            queue.complete();
        }
    }

    /// Fragments of packets that have begun, or may, and not sent.
    pub fn backlog_fragments(&self, queue: &FrameQueue) -> u64 {
        queue.available() - self.next
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
        let (mut lu1, mut queue) = (Lu1::new(), FrameQueue::new(FRAGMENT_BYTES));
        let mut waiting = [552, 40, 41].map(datagram).into_iter();
        let mut lost = Vec::new();
        // Fragments 0 to 13, 14 and 15, 16 and 17.
        assert_eq!(lu1.next_fragments(&mut queue, 20, Time::ZERO, || waiting.next()), 0..18);
        for fragment in 0..18 {
            lu1.arrive(&mut queue, fragment, fragment != 15, |(packet, _)| lost.push(packet.size_bytes));
        }
        let delivered: Vec<u32> =
            std::iter::from_fn(|| queue.take()).map(|packet| packet.size_bytes).collect();
        assert_eq!((delivered, lost), (vec![552, 41], vec![40]));
        assert_eq!(lu1.stats.fragments, 18);
        assert_eq!(lu1.backlog_fragments(&queue), 0);
    }
}
