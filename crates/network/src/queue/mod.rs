//! Queues: what waits before a transmitter.
//!
//! A queue is a part of its own, and its [`Discipline`] decides who is let in, who is next, and who is dropped: at the
//! tail when a packet comes, or later from anywhere in the queue. Whoever transmits asks for the next packet when it is
//! free for one; a packet in service does not wait any more. A discipline sees the time and the packet, with its traffic
//! class; it has no clock and no wake-up of its own.
//!
//! [`Queue`] keeps the accounts, the same for every discipline. [`transmitter`] is drop-tail by arithmetic, for
//! transmitters that serve in order at a fixed rate: no packet costs it an event, and none is moved.

pub mod drop_tail;
pub mod transmitter;

use crate::drops::DropReason;
use crate::packet::Packet;
use roamsim_engine::{Span, Time};
use std::fmt;

/// The limit of a queue: those waiting, not the one in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// At most so many packets.
    Packets(u32),
    /// At most so many octets.
    Bytes(u64),
}

impl QueueLimit {
    /// Whether a packet of `bytes` fits behind those that wait.
    #[inline]
    pub(crate) fn admits(self, waiting_packets: usize, waiting_bytes: u64, bytes: u32) -> bool {
        match self {
            QueueLimit::Packets(limit) => waiting_packets < limit as usize,
            QueueLimit::Bytes(limit) => waiting_bytes + u64::from(bytes) <= limit,
        }
    }
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Packets.
    pub packets: usize,
    /// Their octets.
    pub bytes: u64,
}

/// A packet that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// When it came.
    pub since: Time,
    /// It.
    pub packet: Packet,
}

/// The rule by which packets wait.
pub trait Discipline: fmt::Debug + Send {
    /// Takes a packet, or gives it back and says why.
    fn enqueue(&mut self, waiting: Waiting) -> Result<(), (Waiting, DropReason)>;

    /// The next packet to be sent. Whom it drops on the way is taken with `poll_drop`.
    fn dequeue(&mut self, now: Time) -> Option<Waiting>;

    /// The next packet that was dropped after it had been taken, and why. Only disciplines that do that have any.
    fn poll_drop(&mut self) -> Option<(Waiting, DropReason)> {
        None
    }

    /// How much waits.
    fn length(&self) -> Length;
}

/// A queue before a transmitter: a discipline and its account.
#[derive(Debug)]
pub struct Queue {
    discipline: Box<dyn Discipline>,
    /// Sum of the waiting times of those that have left.
    waited: Span,
    /// Sum of the instants, in nanoseconds, since which those that wait do so.
    since_ns: u128,
    max_packets: usize,
}

impl Queue {
    /// An empty queue.
    pub fn new(discipline: impl Discipline + 'static) -> Queue {
        Queue { discipline: Box::new(discipline), waited: Span::ZERO, since_ns: 0, max_packets: 0 }
    }

    /// Takes a packet that has come at `now`, or gives it back and says why.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: Packet) -> Result<(), (Packet, DropReason)> {
        let waiting = Waiting { since: now, packet };
        self.discipline.enqueue(waiting).map_err(|(waiting, reason)| (waiting.packet, reason))?;
        self.since_ns += u128::from(now.as_ns());
        self.max_packets = self.max_packets.max(self.length().packets);
        Ok(())
    }

    /// The next packet to be sent; at `now` it waits no longer. What the discipline drops is taken with
    /// [`Queue::poll_drop`].
    #[inline]
    pub fn dequeue(&mut self, now: Time) -> Option<Packet> {
        let waiting = self.discipline.dequeue(now)?;
        self.left(now, waiting.since);
        Some(waiting.packet)
    }

    /// The next packet that was dropped by `now` after it had been taken, and why.
    #[inline]
    pub fn poll_drop(&mut self, now: Time) -> Option<(Packet, DropReason)> {
        let (waiting, reason) = self.discipline.poll_drop()?;
        self.left(now, waiting.since);
        Some((waiting.packet, reason))
    }

    #[inline]
    fn left(&mut self, now: Time, since: Time) {
        self.waited += now - since;
        self.since_ns -= u128::from(since.as_ns());
    }

    /// How much waits.
    #[inline]
    pub fn length(&self) -> Length {
        self.discipline.length()
    }

    /// Sum of all waiting times up to `now`: of those that have left, and of those that wait.
    pub fn waited(&self, now: Time) -> Span {
        let still_ns = u128::from(now.as_ns()) * self.length().packets as u128;
        let still_ns = still_ns.saturating_sub(self.since_ns);
        self.waited + Span::from_ns(u64::try_from(still_ns).unwrap_or(u64::MAX))
    }

    /// The most packets that ever waited.
    pub fn max_packets(&self) -> usize {
        self.max_packets
    }
}
