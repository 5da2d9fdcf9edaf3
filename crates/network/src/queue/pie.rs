//! PIE, Proportional Integral controller Enhanced (RFC 8033): drops arrivals at random, with a probability
//! that follows the waiting time and its change.
//!
//! - The probability is updated every `update_interval`. Its gains shrink with it (section 4.2), and its
//!   steps are at most 0.02 while it is high (section 5.5).
//! - Drops are spread (section 5.4), and a burst after a quiet time passes (section 4.4).
//! - The waiting time is that of the last departure (section 4.3 allows time stamps), and zero for an empty
//!   queue.
//! - Updates that fall between packets are computed at the next arrival or departure, because the queue
//!   does not change in between.
//!
//! Not modelled: the estimate of the departure rate (section 5.2), turning off while the queue is short
//! (section 5.3).

use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::{Span, Stream, Time};

/// What PIE goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The waiting that is aimed at: QDELAY_REF.
    pub target: Span,
    /// The time between two updates of the probability: T_UPDATE.
    pub update_interval: Span,
    /// How long a burst passes after calm: MAX_BURST.
    pub max_burst: Span,
    /// The largest packet: where no more than two wait, none is dropped.
    pub mtu_bytes: u32,
    /// Whether packets are marked that may be, below a probability of `MARKS_BELOW`.
    pub ecn: bool,
}

/// From this probability on packets are dropped, not marked (section 5.1).
const MARKS_BELOW: f64 = 0.1;

/// Weights of the waiting time beyond the target, and of its change, per second (section 4.2).
const ALPHA_PER_S: f64 = 0.125;
const BETA_PER_S: f64 = 1.25;

/// Below each probability, the divisor of a change (section 4.2).
const SCALES: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// A queue under PIE.
#[derive(Debug)]
pub struct Pie {
    limit: QueueLimit,
    settings: Settings,
    queue: Fifo,
    random: Stream,
    next_update: Time,
    drop_probability: f64,
    /// Probabilities of the packets since the last drop, in sum.
    accumulated_probability: f64,
    burst_allowance: Span,
    /// The waiting time of the packet that left last, and what it was at the last update.
    waited: Span,
    waited_at_update: Span,
}

impl Pie {
    /// An empty queue.
    pub fn new(limit: QueueLimit, settings: Settings, random: Stream) -> Pie {
        Pie {
            limit,
            settings,
            queue: Fifo::default(),
            random,
            next_update: Time::ZERO + settings.update_interval,
            drop_probability: 0.0,
            accumulated_probability: 0.0,
            burst_allowance: settings.max_burst,
            waited: Span::ZERO,
            waited_at_update: Span::ZERO,
        }
    }

    /// Does the updates that were due by `now`.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            let before = self.controlled();
            self.update();
            self.next_update += self.settings.update_interval;
            if self.controlled() == before && self.next_update <= now {
                // Further updates change nothing.
                let missed = now.since(self.next_update).as_ns() / self.settings.update_interval.as_ns();
                self.next_update += self.settings.update_interval * (missed + 1);
            }
        }
    }

    /// What updates change.
    fn controlled(&self) -> (f64, Span, Span) {
        (self.drop_probability, self.burst_allowance, self.waited_at_update)
    }

    /// Section 4.2, and the burst allowance of section 4.4.
    fn update(&mut self) {
        let Settings { target, update_interval, max_burst, .. } = self.settings;
        let waited_s = self.waited.as_secs_f64();
        let waited_at_update_s = self.waited_at_update.as_secs_f64();
        let mut change =
            ALPHA_PER_S * (waited_s - target.as_secs_f64()) + BETA_PER_S * (waited_s - waited_at_update_s);
        if let Some((_, divisor)) = SCALES.iter().find(|(below, _)| self.drop_probability < *below) {
            change /= divisor;
        }
        if self.drop_probability >= 0.1 {
            change = change.min(0.02);
        }
        self.drop_probability += change;
        if self.waited == Span::ZERO && self.waited_at_update == Span::ZERO {
            self.drop_probability *= 1.0 - 1.0 / 64.0;
        }
        self.drop_probability = self.drop_probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(update_interval);
        let calm = |waited: Span| waited * 2 < target;
        if self.drop_probability == 0.0 && calm(self.waited) && calm(self.waited_at_update) {
            self.burst_allowance = max_burst;
        }
        self.waited_at_update = self.waited;
    }

    /// Sections 4.1 and 5.4.
    fn drops_early(&mut self) -> bool {
        let Settings { target, mtu_bytes, .. } = self.settings;
        let calm = self.waited_at_update * 2 < target && self.drop_probability < 0.2;
        if self.burst_allowance > Span::ZERO || calm || self.queue.length().bytes <= 2 * u64::from(mtu_bytes)
        {
            return false;
        }
        if self.drop_probability == 0.0 {
            self.accumulated_probability = 0.0;
        }
        self.accumulated_probability += self.drop_probability;
        if self.accumulated_probability < 0.85 {
            return false;
        }
        self.accumulated_probability >= 8.5 || self.random.bernoulli(self.drop_probability)
    }
}

impl Discipline for Pie {
    fn enqueue(&mut self, mut waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        self.catch_up(waiting.since);
        let Length { packets, bytes } = self.queue.length();
        if !idle && !self.limit.admits(packets, bytes, waiting.packet.size_bytes) {
            self.accumulated_probability = 0.0;
            return Err((waiting.packet, DropReason::QueueFull));
        }
        if self.drops_early() {
            self.accumulated_probability = 0.0;
            let marks = self.settings.ecn && self.drop_probability < MARKS_BELOW && waiting.mark();
            if !marks {
                return Err((waiting.packet, DropReason::QueueManagement));
            }
        }
        self.queue.push(waiting);
        Ok(())
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting> {
        self.catch_up(now);
        let next = self.queue.pop()?;
        let is_last = self.queue.length().packets == 0;
        self.waited = if is_last { Span::ZERO } else { now - next.since };
        Some(next)
    }

    fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Waiting> {
        self.catch_up(now);
        let gone = self.queue.withdraw(from);
        if self.queue.length().packets == 0 {
            self.waited = Span::ZERO;
        }
        gone
    }

    fn length(&self) -> Length {
        self.queue.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::{datagram, stream};

    const SETTINGS: Settings = Settings {
        target: Span::from_ms(15),
        update_interval: Span::from_ms(15),
        max_burst: Span::from_ms(150),
        mtu_bytes: 1500,
        ecn: false,
    };

    fn pie() -> Pie {
        Pie::new(QueueLimit::Packets(1000), SETTINGS, stream("pie"))
    }

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn waiting(ms: u64, id: u64) -> Waiting {
        let packet = Packet { id: PacketId(id), ..datagram(1000) };
        Waiting { since: at_ms(ms), from: Attachment(0), packet, marked: false }
    }

    /// The probability after an update.
    fn updated(probability: f64, waited_ms: u64, waited_at_update_ms: u64) -> f64 {
        let mut pie = Pie {
            drop_probability: probability,
            waited: Span::from_ms(waited_ms),
            waited_at_update: Span::from_ms(waited_at_update_ms),
            ..pie()
        };
        pie.update();
        pie.drop_probability
    }

    #[test]
    fn the_probability_follows_the_waiting_and_its_change() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} for {b}");
        // 0.125 x (0.035 - 0.015) + 1.25 x (0.035 - 0.031) = 0.0075, of it a part by the probability before.
        near(updated(0.05, 35, 31), 0.05 + 0.0075 / 2.0);
        near(updated(0.005, 35, 31), 0.005 + 0.0075 / 8.0);
        near(updated(0.000_5, 35, 31), 0.000_5 + 0.0075 / 32.0);
        near(updated(0.000_05, 35, 31), 0.000_05 + 0.0075 / 128.0);
        near(updated(0.000_005, 35, 31), 0.000_005 + 0.0075 / 512.0);
        near(updated(0.0, 35, 31), 0.0075 / 2048.0);
        near(updated(0.3, 35, 31), 0.3075);
        // 0.125 x 0.185 + 1.25 x 0.1 is more than 0.02 at once.
        near(updated(0.3, 200, 100), 0.32);
        // 0.125 x (0.010 - 0.015) - 1.25 x 0.005 = -0.006875.
        near(updated(0.3, 10, 15), 0.293_125);
        // Nothing waits: (0.3 - 0.125 x 0.015) x 63/64.
        near(updated(0.3, 0, 0), (0.3 - 0.001_875) * 63.0 / 64.0);
        near(updated(0.000_000_1, 0, 0), 0.0);
        near(updated(1.0, 300, 100), 1.0);
    }

    #[test]
    fn a_burst_out_of_calm_passes() {
        let mut pie = pie();
        // Packets that wait 100 ms and more from 15 ms on: ten updates use the allowance up.
        for id in 0..300 {
            pie.enqueue(waiting(0, id), id == 0).map_err(|(_, reason)| reason).expect("room");
        }
        pie.dequeue(at_ms(1));
        assert_eq!(pie.waited, Span::from_ms(1));
        pie.dequeue(at_ms(14));
        // The first update, at 15 ms: 0.125 x -0.001 + 1.25 x 0.014 = 0.017375, of it a part.
        pie.dequeue(at_ms(29));
        assert_eq!((pie.burst_allowance, pie.drop_probability), (Span::from_ms(135), 0.017_375 / 2048.0));
        pie.dequeue(at_ms(150));
        assert_eq!(pie.burst_allowance, Span::ZERO);
        assert!(pie.drop_probability > 0.0);
    }

    #[test]
    fn drops_are_spread() {
        // With 0.1 none of the first eight of them goes, and one of 86 does for certain; the mean distance is
        // that of a geometric distribution behind the eight.
        let mut pie = Pie {
            drop_probability: 0.1,
            burst_allowance: Span::ZERO,
            waited: Span::from_ms(20),
            waited_at_update: Span::from_ms(20),
            next_update: Time::MAX,
            ..pie()
        };
        for id in 0..4 {
            pie.queue.push(waiting(0, id));
        }
        let (mut since, mut distances) = (0, Vec::new());
        for _ in 0..100_000 {
            since += 1;
            if pie.drops_early() {
                pie.accumulated_probability = 0.0;
                distances.push(since);
                since = 0;
            }
        }
        assert!(distances.iter().all(|&distance| (9..=86).contains(&distance)));
        let mean = f64::from(distances.iter().sum::<i32>()) / distances.len() as f64;
        // 8 + 1 / 0.1, with a standard deviation of 9.5 over some 5500 drops.
        assert!((mean - 18.0).abs() < 0.6, "{mean}");
    }

    #[test]
    fn little_that_waits_is_let_in() {
        let mut pie = Pie { drop_probability: 1.0, burst_allowance: Span::ZERO, ..pie() };
        pie.next_update = Time::MAX;
        // Up to three packets of 1000 octets, two of the largest.
        let taken: Vec<_> = (0..5).map(|id| pie.enqueue(waiting(0, id), false).is_ok()).collect();
        assert_eq!(taken, [true, true, true, true, false]);
    }

    #[test]
    fn a_long_pause_is_caught_up_with_at_once() {
        let mut pie = Pie { drop_probability: 0.5, waited: Span::from_ms(50), ..pie() };
        // The last that leaves has the waiting be zero; half a year of updates follows.
        pie.queue.push(waiting(0, 0));
        pie.dequeue(at_ms(10));
        pie.catch_up(at_ms(15_000_000_007));
        assert_eq!((pie.drop_probability, pie.burst_allowance), (0.0, Span::from_ms(150)));
        assert_eq!(pie.next_update, at_ms(15_000_000_015));
    }
}
