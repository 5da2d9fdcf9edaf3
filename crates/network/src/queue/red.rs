//! RED, Random Early Detection: drops arrivals at random, by the mean length of the queue (Floyd, Jacobson,
//! "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on Networking 1(4),
//! 1993).
//!
//! - The model follows figure 2 of the paper: every arrival updates an exponentially weighted mean, in
//!   packets. While the queue is empty, also during the service of the last packet, the mean decays as if
//!   small packets left. The distance between two drops is uniform (section 7, method 2).
//! - `gentle` is Floyd's "Recommendation on using the gentle variant of RED" (2000): from `max_threshold`
//!   to twice `max_threshold` the probability grows from `max_probability` to one.
//! - `adaptive` is figure 1 of Floyd, Gummadi and Shenker, "Adaptive RED: An Algorithm for Increasing the
//!   Robustness of RED's Active Queue Management" (2001). Every half a second max_p grows if the mean is
//!   above its target, and shrinks if it is below. Updates that fall between packets are computed at the
//!   next arrival or departure; only the decay of the mean goes on in between.
//! - `spare_single_packet` follows ns-2 and ns-3. They spare an arrival while at most one packet waits,
//!   however high the mean is (`qlen > 1` in `REDQueue::drop_early`, `nQueued > 1` in
//!   `RedQueueDisc::DoEnqueue`), and restart the count after it.
//! - With `ecn` packets are marked below `max_threshold`, and dropped from there on (RFC 3168 section 7).
//!
//! Not modelled: RED in octets; weight and thresholds by the rate of the transmitter, which the authors of
//! the adaptive variant add.

use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::{Span, Stream, Time};

/// The time between two updates of max_p (2001, figure 1).
const UPDATE_INTERVAL: Span = Span::from_ms(500);
/// The target of the mean: this part of the way from min_th to max_th, and up to that one.
const TARGET: [f64; 2] = [0.4, 0.6];
/// The bounds of max_p.
const BOUNDS: [f64; 2] = [0.01, 0.5];
/// How much max_p grows at most, in itself and in shares of it: alpha.
const MOST_INCREMENT: f64 = 0.01;
const MOST_INCREMENT_SHARE: f64 = 0.25;
/// What it shrinks to: beta.
const DECREASE: f64 = 0.9;

/// What RED goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Mean length from which packets are dropped, in packets: min_th.
    pub min_threshold: f64,
    /// And from which all are, or with `gentle` the probability grows faster: max_th.
    pub max_threshold: f64,
    /// The probability just below that: max_p. Of the adaptive variant, what it begins with.
    pub max_probability: f64,
    /// Whether that adapts.
    pub adaptive: bool,
    /// The weight of an arrival in the mean: w_q.
    pub weight: f64,
    /// Whether all are dropped only from twice `max_threshold` on.
    pub gentle: bool,
    /// Whether none is dropped or marked by the mean while no more than one packet waits.
    pub spare_single_packet: bool,
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
    /// max_p as it is now.
    max_probability: f64,
    next_update: Time,
    /// The mean length: avg.
    mean_packets: f64,
    /// Packets since the last drop: count; -1 while the mean is below the threshold, or a packet is spared.
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
        Red {
            limit,
            settings,
            queue: Fifo::default(),
            random,
            max_probability: settings.max_probability,
            next_update: Time::ZERO + UPDATE_INTERVAL,
            mean_packets: 0.0,
            count: -1,
            empty_since,
        }
    }

    /// Does the updates of max_p that were due by `now`.
    fn catch_up(&mut self, now: Time) {
        if !self.settings.adaptive {
            return;
        }
        while self.next_update <= now {
            let before = (self.max_probability, self.mean_packets);
            if self.empty_since.is_some() {
                self.decay(self.next_update);
            }
            self.adapt();
            self.next_update += UPDATE_INTERVAL;
            if (self.max_probability, self.mean_packets) == before && self.next_update <= now {
                // Further updates change nothing.
                let missed = now.since(self.next_update).as_ns() / UPDATE_INTERVAL.as_ns();
                self.next_update += UPDATE_INTERVAL * (missed + 1);
            }
        }
    }

    /// An update of max_p.
    fn adapt(&mut self) {
        let Settings { min_threshold, max_threshold, .. } = self.settings;
        let [low, high] = TARGET.map(|part| min_threshold + part * (max_threshold - min_threshold));
        let [least, greatest] = BOUNDS;
        let max_p = self.max_probability;
        if self.mean_packets > high && max_p <= greatest {
            let increment = MOST_INCREMENT.min(max_p * MOST_INCREMENT_SHARE);
            self.max_probability = (max_p + increment).min(greatest);
        } else if self.mean_packets < low && max_p >= least {
            self.max_probability = (max_p * DECREASE).max(least);
        }
    }

    /// Nothing has waited up to `now`: the mean.
    fn decay(&mut self, now: Time) {
        let Settings { weight, idle_transmission, .. } = self.settings;
        if let Some(since) = self.empty_since.replace(now) {
            let packets = now.since(since).as_secs_f64() / idle_transmission.as_secs_f64();
            self.mean_packets *= libm::pow(1.0 - weight, packets);
        }
    }

    /// A packet comes: the mean.
    fn average(&mut self, now: Time) {
        let weight = self.settings.weight;
        match self.empty_since {
            Some(_) => self.decay(now),
            None => {
                self.mean_packets += weight * (self.queue.length().packets as f64 - self.mean_packets);
            }
        }
    }

    /// The probability by the mean: p_b.
    fn probability(&self) -> f64 {
        let Settings { min_threshold, max_threshold, gentle, .. } = self.settings;
        let (mean, max_probability) = (self.mean_packets, self.max_probability);
        if mean < max_threshold {
            max_probability * (mean - min_threshold) / (max_threshold - min_threshold)
        } else if gentle && mean < 2.0 * max_threshold {
            max_probability + (1.0 - max_probability) * (mean - max_threshold) / max_threshold
        } else {
            1.0
        }
    }

    fn drops_early(&mut self) -> bool {
        let Settings { min_threshold, spare_single_packet, .. } = self.settings;
        if self.mean_packets < min_threshold || spare_single_packet && self.queue.length().packets <= 1 {
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
        self.catch_up(waiting.since);
        self.average(waiting.since);
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
        self.catch_up(now);
        let next = self.queue.pop()?;
        self.note_empty(now);
        Some(next)
    }

    fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Waiting> {
        self.catch_up(now);
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
        adaptive: false,
        weight: 0.002,
        gentle: true,
        spare_single_packet: false,
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
        // p_b = 0.05, behind a drop: p_a is 1/19, 1/18, ... 1/1, so that each distance from 1 to 19 is as
        // likely.
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
    fn arrivals_are_spared_while_one_packet_waits() {
        let sure = Settings { max_probability: 1.0, gentle: false, ..SETTINGS };
        for spare_single_packet in [false, true] {
            // Above the upper threshold everything is dropped.
            let mut queue = Red { mean_packets: 1000.0, ..red(Settings { spare_single_packet, ..sure }) };
            queue.empty_since = None;
            let taken: Vec<_> = (0..3).map(|_| queue.enqueue(waiting(0), false).is_ok()).collect();
            let expected = if spare_single_packet { [true, true, false] } else { [false; 3] };
            assert_eq!(taken, expected);
        }
    }

    #[test]
    fn below_the_threshold_only_the_limit_drops() {
        let mut red = Red::new(QueueLimit::Packets(3), SETTINGS, stream("red"));
        let taken: Vec<_> =
            (0..5).map(|_| red.enqueue(waiting(0), false).map_err(|(_, reason)| reason)).collect();
        let full = Err(DropReason::QueueFull);
        assert_eq!(taken, [Ok(()), Ok(()), Ok(()), full, full]);
    }

    /// max_p after an update, where it was this and the mean that.
    fn adapted(max_probability: f64, mean_packets: f64) -> f64 {
        let mut queue = red(Settings { max_probability, adaptive: true, ..SETTINGS });
        queue.mean_packets = mean_packets;
        queue.empty_since = None;
        queue.catch_up(Time::ZERO + Span::from_ms(499));
        assert!((queue.max_probability - max_probability).abs() < 1e-15);
        queue.catch_up(Time::ZERO + Span::from_ms(500));
        queue.max_probability
    }

    #[test]
    fn the_adaptive_variant_leads_the_mean_into_the_middle_fifth_between_the_thresholds() {
        // From 5 + 0.4 * 10 to 5 + 0.6 * 10. Steps of 0.01, of a quarter below 0.04; nine tenths; bounds of
        // 0.01 and 0.5.
        let cases = [
            (0.1, 11.1, 0.11),
            (0.1, 10.9, 0.1),
            (0.1, 9.1, 0.1),
            (0.1, 8.9, 0.09),
            (0.02, 12.0, 0.025),
            (0.495, 20.0, 0.5),
            (0.5, 20.0, 0.5),
            (0.0105, 6.0, 0.01),
            (0.01, 6.0, 0.01),
            // What a scenario begins with beyond the bounds comes back from above and stays below.
            (0.8, 20.0, 0.8),
            (0.8, 6.0, 0.72),
            (0.005, 6.0, 0.005),
        ];
        for (max_p, mean, expected) in cases {
            let found = adapted(max_p, mean);
            assert!((found - expected).abs() < 1e-12, "{max_p} and {mean}: {found}");
        }
    }

    #[test]
    fn updates_while_nothing_waits_go_by_the_mean_as_it_decays() {
        // Small packets of 1 ms at a weight of 0.002. From 12 at 0.1 s the mean is 12 * 0.998^400 = 5.39 at
        // the first update, and below its target at all ten up to 5 s.
        let of = |adaptive| {
            let mut queue = red(Settings { adaptive, ..SETTINGS });
            queue.mean_packets = 12.0;
            queue.empty_since = Some(Time::ZERO + Span::from_ms(100));
            assert!(queue.enqueue(waiting(5000), false).is_ok());
            queue
        };
        let (adaptive, fixed) = (of(true), of(false));
        // 0.1 * 0.9^10.
        assert!((adaptive.max_probability - 0.034_867_844_01).abs() < 1e-12);
        assert!((fixed.max_probability - 0.1).abs() < 1e-15);
        assert!((adaptive.mean_packets / fixed.mean_packets - 1.0).abs() < 1e-9);
        // A packet waits, and nothing else happens for a year: max_p goes to its bound, and the updates
        // behind that cost nothing.
        let mut long = adaptive;
        long.catch_up(Time::ZERO + Span::from_secs(31_536_000));
        assert!((long.max_probability - 0.01).abs() < 1e-15);
    }
}
