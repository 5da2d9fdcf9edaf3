//! DualPI2, a dual queue with coupled marking (RFC 9332), as in Linux 6.17 (`sch_dualpi2`).
//!
//! - Packets with ECT(1) or CE wait in the L4S queue, all others in the classic queue (RFC 9332 section
//!   2.3).
//! - A proportional-integral controller updates p' every `update_interval` by the longer waiting time of
//!   both first packets: alpha for its distance from `target`, beta for its change (appendix A.1).
//! - On departure, classic packets are dropped with probability p'^2, or marked if their transport has ECN.
//!   L4S packets are marked with probability k p' (section 2.1), and always after `step_threshold` while
//!   `step_min_packets` are queued behind them: a queue that one packet makes long is not marked (appendix
//!   A.2, `Th_len`; in Linux `min_qlen_step`, on arrival).
//! - If k p' exceeds 1, packets of both queues are dropped with probability p'^2, and all other L4S packets
//!   are marked (section 4.2.3).
//! - While less than two full packets wait, the probabilities do not apply.
//! - The queues take turns by octets. The classic one has `classic_share` while both wait (weighted round
//!   robin, section 4.2.2).
//!
//! Our choice where Linux differs from the appendix is Linux: a step instead of a ramp, random instead of
//! even marks. Updates that fall between packets are computed at the next arrival or departure. Not
//! modelled: shares of flows within a queue, drops on arrival, overload without drops.

use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use crate::traffic_class::Ecn;
use roamsim_engine::{Span, Stream, Time};
use std::collections::VecDeque;

/// What DualPI2 goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The waiting that the controller aims at.
    pub target: Span,
    /// The time between two updates of p'.
    pub update_interval: Span,
    /// The gain of the distance from the target, per second.
    pub alpha_per_s: f64,
    /// The gain of the change, per second.
    pub beta_per_s: f64,
    /// The coupling factor k.
    pub coupling: f64,
    /// An L4S packet that waits longer is marked.
    pub step_threshold: Span,
    /// It is not if fewer L4S packets are queued when it leaves.
    pub step_min_packets: u32,
    /// The share of the octets that the classic queue has while both wait.
    pub classic_share: f64,
    /// The largest packet.
    pub mtu_bytes: u32,
}

/// Two queues under DualPI2.
#[derive(Debug)]
pub struct DualPi2 {
    limit: QueueLimit,
    settings: Settings,
    classic: Fifo,
    l4s: Fifo,
    dropped: VecDeque<Waiting>,
    random: Stream,
    next_update: Time,
    /// p'.
    probability: f64,
    waited_at_update: Span,
    /// Octets by which the classic queue is behind its share; at most zero: the L4S queue is next.
    credit_bytes: f64,
}

impl DualPi2 {
    /// Empty queues.
    pub fn new(limit: QueueLimit, settings: Settings, random: Stream) -> DualPi2 {
        let mut queues = DualPi2 {
            limit,
            settings,
            classic: Fifo::default(),
            l4s: Fifo::default(),
            dropped: VecDeque::new(),
            random,
            next_update: Time::ZERO + settings.update_interval,
            probability: 0.0,
            waited_at_update: Span::ZERO,
            credit_bytes: 0.0,
        };
        queues.reset_credit();
        queues
    }

    /// A queue that was empty begins with its heavier side.
    fn reset_credit(&mut self) {
        let Settings { classic_share, mtu_bytes, .. } = self.settings;
        self.credit_bytes = f64::from(mtu_bytes) * (2.0 * classic_share - 1.0);
    }

    /// Does the updates that were due by `now`.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            let before = (self.probability, self.waited_at_update);
            self.update();
            self.next_update += self.settings.update_interval;
            let is_idle = self.classic.first().is_none() && self.l4s.first().is_none();
            if is_idle && before == (self.probability, self.waited_at_update) && self.next_update <= now {
                // Further updates change nothing.
                let missed = now.since(self.next_update).as_ns() / self.settings.update_interval.as_ns();
                self.next_update += self.settings.update_interval * (missed + 1);
            }
        }
    }

    /// One update, at the instant at which it was due.
    fn update(&mut self) {
        let Settings { target, alpha_per_s, beta_per_s, .. } = self.settings;
        let waited_of =
            |queue: &Fifo| queue.first().map_or(Span::ZERO, |first| self.next_update - first.since);
        let waited = waited_of(&self.classic).max(waited_of(&self.l4s));
        let (waited_s, before_s) = (waited.as_secs_f64(), self.waited_at_update.as_secs_f64());
        let change = alpha_per_s * (waited_s - target.as_secs_f64()) + beta_per_s * (waited_s - before_s);
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.waited_at_update = waited;
    }

    /// The next packet, whether it is of the L4S queue, and what that does to the credit.
    fn take(&mut self) -> Option<(Waiting, bool, f64)> {
        let share = self.settings.classic_share;
        let classic_waits = self.classic.first().is_some();
        if self.l4s.first().is_some() && (!classic_waits || self.credit_bytes <= 0.0) {
            let next = self.l4s.pop()?;
            let change = if classic_waits { share * f64::from(next.packet.size_bytes) } else { 0.0 };
            return Some((next, true, change));
        }
        let next = self.classic.pop()?;
        let l4s_waits = self.l4s.first().is_some();
        let change = if l4s_waits { (share - 1.0) * f64::from(next.packet.size_bytes) } else { 0.0 };
        Some((next, false, change))
    }

    /// Whether a packet that leaves is dropped; it may be marked instead.
    fn drops(&mut self, next: &mut Waiting, is_l4s: bool) -> bool {
        if self.classic.length().bytes + self.l4s.length().bytes < 2 * u64::from(self.settings.mtu_bytes) {
            return false;
        }
        let coupled = self.probability * self.settings.coupling;
        let overloaded = coupled > 1.0;
        let probability = self.probability;
        let mut twice = || self.random.bernoulli(probability) && self.random.bernoulli(probability);
        match (is_l4s, overloaded) {
            (false, _) => twice() && (overloaded || !next.mark()),
            (true, true) => twice() || !next.mark(),
            (true, false) => self.random.bernoulli(coupled) && !next.mark(),
        }
    }

    /// Whether the L4S queue's own rule marks a packet that leaves it.
    fn is_behind_step(&self, now: Time, next: &Waiting) -> bool {
        let Settings { step_threshold, step_min_packets, .. } = self.settings;
        now - next.since > step_threshold && self.l4s.length().packets >= step_min_packets as usize
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        self.catch_up(waiting.since);
        let Length { packets, bytes } = self.length();
        if !idle && !self.limit.admits(packets, bytes, waiting.packet.size_bytes) {
            return Err((waiting.packet, DropReason::QueueFull));
        }
        match waiting.packet.traffic_class.ecn() {
            Ecn::Capable1 | Ecn::CongestionExperienced => self.l4s.push(waiting),
            Ecn::NotCapable | Ecn::Capable0 => self.classic.push(waiting),
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting> {
        self.catch_up(now);
        while let Some((mut next, is_l4s, change)) = self.take() {
            if self.drops(&mut next, is_l4s) {
                self.dropped.push_back(next);
                continue;
            }
            if is_l4s && self.is_behind_step(now, &next) {
                next.mark();
            }
            self.credit_bytes += change;
            return Some(next);
        }
        self.reset_credit();
        None
    }

    fn poll_drop(&mut self) -> Option<(Waiting, DropReason)> {
        self.dropped.pop_front().map(|waiting| (waiting, DropReason::QueueManagement))
    }

    fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Waiting> {
        self.catch_up(now);
        let mut gone = self.classic.withdraw(from);
        gone.extend(self.l4s.withdraw(from));
        gone
    }

    fn length(&self) -> Length {
        let (classic, l4s) = (self.classic.length(), self.l4s.length());
        let dropped_bytes: u64 =
            self.dropped.iter().map(|waiting| u64::from(waiting.packet.size_bytes)).sum();
        Length {
            packets: classic.packets + l4s.packets + self.dropped.len(),
            bytes: classic.bytes + l4s.bytes + dropped_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::datagram;

    const SETTINGS: Settings = Settings {
        target: Span::from_ms(15),
        update_interval: Span::from_ms(16),
        alpha_per_s: 0.16,
        beta_per_s: 3.2,
        coupling: 2.0,
        step_threshold: Span::from_ms(1),
        step_min_packets: 2,
        classic_share: 0.1,
        mtu_bytes: 1500,
    };

    fn queues(settings: Settings) -> DualPi2 {
        DualPi2::new(QueueLimit::Packets(1000), settings, Stream::new(1, 0, "dual pi2"))
    }

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn come(queues: &mut DualPi2, us: u64, id: u64, ecn: Ecn) {
        let plain = datagram(1000);
        let packet = Packet { id: PacketId(id), traffic_class: plain.traffic_class.with_ecn(ecn), ..plain };
        let waiting = Waiting { since: at_us(us), from: Attachment(0), packet, marked: false };
        queues.enqueue(waiting, false).map_err(|(_, reason)| reason).expect("room");
    }

    #[test]
    fn the_probability_follows_the_longer_wait() {
        let mut queues = queues(SETTINGS);
        // A classic packet has waited 36 ms at the update at 48 ms, an L4S one 20 ms. Before, at 16 and 32
        // ms, the waits were 4 and 20 ms: p' is 0 + 0.16 (4 - 15) ms + 3.2 x 4 ms = 11.04e-3, then + 0.16 x 5
        // ms + 3.2 x 16 ms = 63.04e-3, then + 0.16 x 21 ms + 3.2 x 16 ms = 117.6e-3.
        come(&mut queues, 12_000, 0, Ecn::NotCapable);
        come(&mut queues, 28_000, 1, Ecn::Capable1);
        for (us, expected) in [(16_000, 11.04e-3), (32_000, 63.04e-3), (48_000, 117.6e-3)] {
            queues.catch_up(at_us(us));
            assert!((queues.probability - expected).abs() < 1e-12, "{us}: {}", queues.probability);
        }
        // Empty, it falls by 0.16 x 15 ms an update, and once by 3.2 x 36 ms.
        (0..2).for_each(|_| drop(queues.dequeue(at_us(49_000))));
        queues.catch_up(at_us(64_000));
        assert!(queues.probability < 1e-12);
        // Hours without a packet are one step.
        queues.catch_up(at_us(36_000_000_000));
        assert_eq!((queues.probability, queues.next_update), (0.0, at_us(36_000_000_000 + 16_000)));
    }

    #[test]
    fn the_classic_queue_has_its_share_of_the_octets() {
        let mut queues = queues(SETTINGS);
        for id in 0..100 {
            come(&mut queues, 0, id, Ecn::Capable1);
            come(&mut queues, 0, 100 + id, Ecn::Capable0);
        }
        // Ten percent. The L4S queue begins with 0.8 x 1500 = 1200 octets, and pays 100 a packet: 12 packets
        // reach zero, one more is above it. Then a classic packet pays 900 back, nine packets.
        let order: Vec<bool> =
            (0..50).map(|_| queues.dequeue(at_us(10)).expect("a packet").packet.id.0 >= 100).collect();
        let classic: Vec<usize> = (0..50).filter(|at| order[*at]).collect();
        assert_eq!(classic, [13, 23, 33, 43]);
    }

    #[test]
    fn an_l4s_packet_is_marked_behind_a_step() {
        let mut queues = queues(SETTINGS);
        for (id, us) in [0, 1000, 2000, 2100, 2200].into_iter().enumerate() {
            come(&mut queues, us, id as u64, Ecn::Capable1);
        }
        // The first has waited for a millisecond, no longer; the second for 1.5 ms; the third for 0.5 ms.
        let marks = [1000, 2500, 2500].map(|us| queues.dequeue(at_us(us)).expect("a packet").marked);
        assert_eq!(marks, [false, true, false]);
    }

    /// RFC 9332 appendix A.2, lines 5a to 5d: with more than `Th_len` = 1 packet queued behind it. Classic
    /// packets do not count.
    #[test]
    fn the_step_spares_a_short_l4s_queue() {
        let marks = |step_min_packets| {
            let mut queues = queues(Settings { step_min_packets, ..SETTINGS });
            (0..4).for_each(|id| come(&mut queues, 0, id, Ecn::Capable1));
            let first = [0; 4].map(|_| queues.dequeue(at_us(5000)).expect("a packet").marked);
            (4..7).for_each(|id| come(&mut queues, 5000, id, Ecn::Capable0));
            come(&mut queues, 5000, 7, Ecn::Capable1);
            let mut left = std::iter::from_fn(|| queues.dequeue(at_us(10_000)));
            (first, left.find(|next| next.packet.id.0 == 7).expect("a packet").marked)
        };
        assert_eq!(marks(2), ([true, true, false, false], false));
        // Linux's default.
        assert_eq!(marks(0), ([true; 4], true));
    }

    /// Of 20,000 packets of a kind that leave at such a p', the shares that are marked and dropped.
    fn shares(ecn: Ecn, probability: f64) -> (f64, f64) {
        let mut queues = queues(Settings { update_interval: Span::from_secs(1000), ..SETTINGS });
        queues.probability = probability;
        let (mut marked, mut dropped) = (0, 0);
        for id in 0..20_010 {
            come(&mut queues, id, id, ecn);
            if id >= 10 {
                marked += u32::from(queues.dequeue(at_us(id)).is_some_and(|next| next.marked));
                while queues.poll_drop().is_some() {
                    dropped += 1;
                    come(&mut queues, id, id, ecn);
                }
            }
        }
        let sent = f64::from(20_000 + dropped);
        (f64::from(marked) / sent, f64::from(dropped) / sent)
    }

    #[test]
    fn l4s_is_marked_by_twice_the_probability_and_classic_by_its_square() {
        // Standard errors are at most 0.0035; four of them.
        let near = |(marked, dropped): (f64, f64), expected: (f64, f64)| {
            assert!(
                (marked - expected.0).abs() < 0.014 && (dropped - expected.1).abs() < 0.014,
                "{marked} {dropped}, expected {expected:?}"
            );
        };
        near(shares(Ecn::Capable1, 0.3), (0.6, 0.0));
        near(shares(Ecn::Capable0, 0.3), (0.09, 0.0));
        near(shares(Ecn::NotCapable, 0.3), (0.0, 0.09));
        // Overload, 2 p' = 1.2: both lose 36 %, and all L4S packets that are left are marked.
        near(shares(Ecn::Capable0, 0.6), (0.0, 0.36));
        near(shares(Ecn::Capable1, 0.6), (0.64, 0.36));
    }

    #[test]
    fn two_full_packets_are_spared() {
        let mut queues = queues(SETTINGS);
        queues.probability = 1.0;
        (0..3).for_each(|id| come(&mut queues, 0, id, Ecn::NotCapable));
        // Behind the first 2000 octets wait, less than two packets of 1500.
        assert_eq!(queues.dequeue(at_us(10)).map(|next| next.packet.id.0), Some(0));
        assert!(queues.poll_drop().is_none());
    }
}
