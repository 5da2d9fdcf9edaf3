//! RED, Random Early Detection (Floyd, Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993): packets are dropped at random when they come, by the mean length of the queue.
//!
//! After figure 2 of the paper: an exponentially weighted mean at every arrival, in packets; while nothing waits, which includes the
//! service of the last packet, it decays as if small packets had left. Between two drops the distance is uniform (section 7, method 2). `gentle` is
//! Floyd's "Recommendation on using the gentle variant of RED" (2000): from `max_threshold` to twice it the probability grows from
//! `max_probability` to one.
//!
//! With `ecn` packets are marked below `max_threshold`, and dropped from there on (RFC 3168 section 7).
//!
//! Not modelled: RED in octets, the adaptive variant.

use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::{Span, Stream, Time};

/// What RED goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Mean length from which packets are dropped, in packets: min_th.
    pub min_threshold: f64,
    /// And from which all are, or with `gentle` the probability grows faster: max_th.
    pub max_threshold: f64,
    /// The probability just below that: max_p.
    pub max_probability: f64,
    /// The weight of an arrival in the mean: w_q.
    pub weight: f64,
    /// Whether all are dropped only from twice `max_threshold` on.
    pub gentle: bool,
    /// How long a packet takes while the transmitter is idle: s.
    pub idle_transmission: Span,
    /// Whether packets are marked that may be.
    pub ecn: bool,
}

/// A queue under RED.
#[derive(Debug)]
pub struct Red {
    limit: QueueLimit,
    settings: Settings,
    queue: Fifo,
    random: Stream,
    /// The mean length: avg.
    mean_packets: f64,
    /// Packets since the last drop: count; -1 while the mean is below the threshold.
    count: i64,
    /// Since when nothing waits: q_time.
    empty_since: Option<Time>,
}

impl Red {
    /// An empty queue.
    pub fn new(limit: QueueLimit, settings: Settings, random: Stream) -> Red {
        // Of no time at all a mean would be of no number.
        let idle_transmission = settings.idle_transmission.max(Span::from_ns(1));
        let settings = Settings { idle_transmission, ..settings };
        let empty_since = Some(Time::ZERO);
        let queue = Fifo::default();
        Red { limit, settings, queue, random, mean_packets: 0.0, count: -1, empty_since }
    }

    /// A packet comes: the mean.
    fn average(&mut self, now: Time) {
        let Settings { weight, idle_transmission, .. } = self.settings;
        match self.empty_since {
            Some(since) => {
                let packets = now.since(since).as_secs_f64() / idle_transmission.as_secs_f64();
                self.mean_packets *= libm::pow(1.0 - weight, packets);
            }
            None => {
                self.mean_packets += weight * (self.queue.length().packets as f64 - self.mean_packets);
            }
        }
    }

    /// The probability by the mean: p_b.
    fn probability(&self) -> f64 {
        let Settings { min_threshold, max_threshold, max_probability, gentle, .. } = self.settings;
        let mean = self.mean_packets;
        if mean < max_threshold {
            max_probability * (mean - min_threshold) / (max_threshold - min_threshold)
        } else if gentle && mean < 2.0 * max_threshold {
            max_probability + (1.0 - max_probability) * (mean - max_threshold) / max_threshold
        } else {
            1.0
        }
    }

    fn drops_early(&mut self) -> bool {
        if self.mean_packets < self.settings.min_threshold {
            self.count = -1;
            return false;
        }
        self.count += 1;
        let probability = self.probability();
        let share = 1.0 - self.count as f64 * probability;
        // One draw a packet above the threshold, whatever comes of it.
        let drops = self.random.bernoulli(if share > probability { probability / share } else { 1.0 });
        if drops {
            self.count = 0;
        }
        drops
    }

    /// Something has left: nothing may wait from now on.
    fn note_empty(&mut self, now: Time) {
        if self.queue.length().packets == 0 {
            self.empty_since.get_or_insert(now);
        }
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, mut waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        self.average(waiting.since);
        if self.empty_since.is_some() {
            self.empty_since = Some(waiting.since);
        }
        let Settings { max_threshold, ecn, .. } = self.settings;
        if self.drops_early() && !(ecn && self.mean_packets < max_threshold && waiting.mark()) {
            return Err((waiting.packet, DropReason::QueueManagement));
        }
        let Length { packets, bytes } = self.queue.length();
        if !idle && !self.limit.admits(packets, bytes, waiting.packet.size_bytes) {
            self.count = 0;
            return Err((waiting.packet, DropReason::QueueFull));
        }
        self.queue.push(waiting);
        self.empty_since = None;
        Ok(())
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting> {
        let next = self.queue.pop()?;
        self.note_empty(now);
        Some(next)
    }

    fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Waiting> {
        let gone = self.queue.withdraw(from);
        self.note_empty(now);
        gone
    }

    fn length(&self) -> Length {
        self.queue.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{datagram, stream};

    const SETTINGS: Settings = Settings {
        min_threshold: 5.0,
        max_threshold: 15.0,
        max_probability: 0.1,
        weight: 0.002,
        gentle: true,
        idle_transmission: Span::from_ms(1),
        ecn: false,
    };

    fn red(settings: Settings) -> Red {
        Red::new(QueueLimit::Packets(1000), settings, stream("red"))
    }

    fn waiting(ms: u64) -> Waiting {
        Waiting {
            since: Time::ZERO + Span::from_ms(ms),
            from: Attachment(0),
            packet: datagram(1000),
            marked: false,
        }
    }

    #[test]
    fn the_mean_follows_the_length_and_decays_while_nothing_waits() {
        let mut red = red(SETTINGS);
        for _ in 0..4 {
            red.enqueue(waiting(0), false).map_err(|(_, reason)| reason).expect("room");
        }
        // Of 0 (idle), 1, 2, 3 packets that wait: 0.002 x 1; 0.002 x 0.998 + 0.004; that x 0.998 + 0.006.
        let mean = (0.002 * 0.998 + 0.004) * 0.998 + 0.006;
        assert!((red.mean_packets - mean).abs() < 1e-15, "{}", red.mean_packets);
        (0..4).for_each(|_| assert!(red.dequeue(Time::ZERO + Span::from_ms(10)).is_some()));
        // Ten milliseconds of a packet each.
        red.enqueue(waiting(20), true).map_err(|(_, reason)| reason).expect("room");
        let decayed = mean * libm::pow(0.998, 10.0);
        assert!((red.mean_packets - decayed).abs() < 1e-15, "{}", red.mean_packets);
    }

    #[test]
    fn packets_that_take_no_time_leave_the_mean_a_number() {
        let mut red = red(Settings { idle_transmission: Span::ZERO, ..SETTINGS });
        red.enqueue(waiting(0), true).map_err(|(_, reason)| reason).expect("nothing waits");
        assert!(red.dequeue(Time::ZERO).is_some());
        red.enqueue(waiting(0), false).map_err(|(_, reason)| reason).expect("nothing waits");
        assert!(red.mean_packets.abs() < 1e-15, "{}", red.mean_packets);
    }

    #[test]
    fn the_probability_grows_with_the_mean() {
        let at =
            |mean_packets, gentle| Red { mean_packets, ..red(Settings { gentle, ..SETTINGS }) }.probability();
        // 0.1 x (10 - 5) / 10; then 0.1 + 0.9 x (22.5 - 15) / 15.
        assert_eq!([5.0, 10.0].map(|mean| at(mean, true)), [0.0, 0.05]);
        assert!((at(22.5, true) - 0.55).abs() < 1e-15);
        assert_eq!([15.0, 22.5].map(|mean| at(mean, false)), [1.0, 1.0]);
        assert_eq!(at(30.0, true), 1.0);
    }

    #[test]
    fn distances_between_drops_are_uniform() {
        // p_b = 0.05, behind a drop: p_a is 1/19, 1/18, ... 1/1, so that each distance from 1 to 19 is as likely.
        let mut red = Red { mean_packets: 10.0, ..red(SETTINGS) };
        red.count = 0;
        let (mut since, mut distances) = (0usize, [0u32; 20]);
        for _ in 0..190_000 {
            since += 1;
            if red.drops_early() {
                distances[since] += 1;
                since = 0;
            }
        }
        let drops: u32 = distances.iter().sum();
        // 19,000 expected, and 1000 of each: five standard deviations of a thousand are some 160.
        assert!((18_800..19_200).contains(&drops), "{drops}");
        assert!(distances[1..].iter().all(|of| (840..1160).contains(of)), "{distances:?}");
    }

    #[test]
    fn below_the_threshold_only_the_limit_drops() {
        let mut red = Red::new(QueueLimit::Packets(3), SETTINGS, stream("red"));
        let taken: Vec<_> =
            (0..5).map(|_| red.enqueue(waiting(0), false).map_err(|(_, reason)| reason)).collect();
        let full = Err(DropReason::QueueFull);
        assert_eq!(taken, [Ok(()), Ok(()), Ok(()), full, full]);
    }
}
