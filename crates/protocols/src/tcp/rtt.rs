//! Round-trip time and retransmission timeout: RFC 6298, in whole nanoseconds.
//!
//! SRTT and RTTVAR by the RFC's gains (1/8, 1/4); RTO = SRTT + max(G, 4 RTTVAR), not below the minimum nor
//! above the maximum. Backing off doubles the RTO up to the maximum; the doubled value stays until a valid
//! measurement arrives (Karn's algorithm). With timestamps, several samples a round trip are weighted by RFC
//! 7323 4.2. Linux weights every sample alike and has a variation of its own ([`LinuxVariation`]).

use roamsim_engine::Span;

/// What an estimator is told: settings, which connections share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The timeout before the first measurement.
    pub initial: Span,
    /// The least timeout.
    pub min_rto: Span,
    /// The least that the variation adds to SRTT: G of RFC 6298, or Linux's smallest timeout.
    pub min_margin: Span,
    /// The largest one.
    pub max_rto: Span,
    /// The clock's tick.
    pub granularity: Span,
}

/// No measurement.
const NONE: Span = Span::from_ns(u64::MAX);

fn measured(span: Span) -> Option<Span> {
    (span != NONE).then_some(span)
}

/// The estimator of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    /// The timeout in force.
    rto: Span,
    /// `NONE` before the first measurement.
    srtt: Span,
    rttvar: Span,
    /// The last measurement, until it is taken.
    latest: Span,
}

impl RttEstimator {
    pub(crate) fn new(bounds: &Bounds) -> RttEstimator {
        RttEstimator { rto: bounds.initial, srtt: NONE, rttvar: Span::ZERO, latest: NONE }
    }

    #[inline]
    pub(crate) fn srtt(&self) -> Option<Span> {
        measured(self.srtt)
    }

    #[inline]
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// The last measurement, in whole ticks, unless it was taken before.
    pub(crate) fn take_latest(&mut self) -> Option<Span> {
        measured(std::mem::replace(&mut self.latest, NONE))
    }

    /// The timeout after `doublings` of the one in force, for probes of a closed window.
    pub(crate) fn backed_off(&self, bounds: &Bounds, doublings: u32) -> Span {
        self.rto.saturating_mul(1 << doublings.min(40)).min(bounds.max_rto)
    }

    /// A measurement of one segment that was sent once, one of `samples_per_rtt` a round trip.
    #[inline]
    pub(crate) fn sample(&mut self, bounds: &Bounds, elapsed: Span, samples_per_rtt: u64) {
        self.sample_of_ticks(bounds, whole_ticks(elapsed, bounds.granularity), samples_per_rtt);
    }

    /// The same of a time in whole ticks.
    #[inline]
    pub(crate) fn sample_of_ticks(&mut self, bounds: &Bounds, elapsed: Span, samples_per_rtt: u64) {
        let r = elapsed.as_ns();
        self.latest = elapsed;
        let samples = samples_per_rtt.max(1);
        let (srtt, rttvar) = match self.srtt() {
            None => (r, r / 2),
            Some(srtt) => {
                let srtt = srtt.as_ns();
                // RTTVAR first, with the SRTT before this sample (RFC 6298 2.3).
                let rttvar = weighted(self.rttvar.as_ns(), r.abs_diff(srtt), 4 * samples);
                (weighted(srtt, r, 8 * samples), rttvar)
            }
        };
        self.srtt = Span::from_ns(srtt);
        self.rttvar = Span::from_ns(rttvar);
        let margin = bounds.min_margin.max(self.rttvar.saturating_mul(4));
        self.rto = (self.srtt + margin).max(bounds.min_rto).min(bounds.max_rto);
    }

    /// A measurement by Linux's rules, on an acknowledgement up to `ack` with data sent up to `snd_nxt`.
    pub(crate) fn sample_as_linux(
        &mut self,
        bounds: &Bounds,
        variation: &mut LinuxVariation,
        elapsed: Span,
        (ack, snd_nxt): (u64, u64),
    ) {
        let r = whole_ticks(elapsed, bounds.granularity).as_ns();
        self.latest = Span::from_ns(r);
        let srtt = self.srtt().map(Span::as_ns);
        self.srtt = Span::from_ns(srtt.map_or(r, |srtt| weighted(srtt, r, 8)));
        let rttvar =
            variation.after(self.rttvar.as_ns(), bounds.min_margin.as_ns(), (r, srtt), (ack, snd_nxt));
        self.rttvar = Span::from_ns(rttvar);
        self.rto = (self.srtt + self.rttvar).min(bounds.max_rto);
    }

    /// The timer expired: the timeout doubles (RFC 6298 5.5).
    pub(crate) fn back_off(&mut self, bounds: &Bounds) {
        self.rto = self.rto.saturating_mul(2).min(bounds.max_rto);
    }

    /// The SYN was lost, so data starts with 3 s unless a measurement is there (RFC 6298 5.7).
    pub(crate) fn restart_after_lost_syn(&mut self, bounds: &Bounds) {
        if self.srtt().is_none() {
            self.rto = bounds.initial.max(Span::from_secs(3)).min(bounds.max_rto);
        }
    }
}

/// What Linux adds to SRTT (net/ipv4/tcp_input.c, tcp_rtt_estimator): four deviations, the largest of a round
/// trip. It rises at once and falls by a quarter a round trip. Shorter round trips count an eighth. In
/// nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinuxVariation {
    /// Four times the mean deviation, and the largest of this round trip.
    mdev: u64,
    mdev_max: u64,
    /// The round trip ends when more than this is acknowledged.
    rtt_seq: u64,
}

impl LinuxVariation {
    /// What is added after the measurement `r` beside the SRTT before it.
    fn after(
        &mut self,
        rttvar: u64,
        min: u64,
        (r, srtt): (u64, Option<u64>),
        (ack, snd_nxt): (u64, u64),
    ) -> u64 {
        let Some(srtt) = srtt else {
            let first = r.saturating_mul(2).max(min);
            *self = LinuxVariation { mdev: r.saturating_mul(2), mdev_max: first, rtt_seq: snd_nxt };
            return first;
        };
        let (deviation, known) = (r.abs_diff(srtt), self.mdev / 4);
        if deviation < known {
            self.mdev -= known - deviation;
        } else {
            self.mdev += if r < srtt { (deviation - known) / 8 } else { deviation - known };
        }
        let mut rttvar = rttvar;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            rttvar = rttvar.max(self.mdev_max);
        }
        if ack > self.rtt_seq {
            rttvar -= rttvar.saturating_sub(self.mdev_max) / 4;
            (self.rtt_seq, self.mdev_max) = (snd_nxt, min);
        }
        rttvar
    }
}

fn whole_ticks(elapsed: Span, granularity: Span) -> Span {
    let tick = granularity.as_ns();
    if tick <= 1 { elapsed } else { Span::from_ns(elapsed.as_ns().div_ceil(tick).saturating_mul(tick)) }
}

/// An estimator that keeps its bounds, where nobody else has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedEstimator {
    estimator: RttEstimator,
    bounds: Bounds,
}

impl BoundedEstimator {
    pub(crate) fn new(bounds: Bounds) -> BoundedEstimator {
        BoundedEstimator { estimator: RttEstimator::new(&bounds), bounds }
    }

    /// Of exact times, with neither a tick nor a lower bound.
    pub(super) fn fine_grained(bounds: Bounds) -> BoundedEstimator {
        BoundedEstimator::new(Bounds {
            min_rto: Span::ZERO,
            min_margin: Span::ZERO,
            granularity: Span::ZERO,
            ..bounds
        })
    }

    #[inline]
    pub(crate) fn srtt(&self) -> Option<Span> {
        self.estimator.srtt()
    }

    #[inline]
    pub(crate) fn rto(&self) -> Span {
        self.estimator.rto()
    }

    /// The last measurement, in whole ticks, unless it was taken before.
    pub(crate) fn take_latest(&mut self) -> Option<Span> {
        self.estimator.take_latest()
    }

    /// A measurement of one segment that was sent once, one of `samples_per_rtt` a round trip.
    #[inline]
    pub(crate) fn sample(&mut self, elapsed: Span, samples_per_rtt: u64) {
        self.estimator.sample(&self.bounds, elapsed, samples_per_rtt);
    }

    /// The timer expired: the timeout doubles.
    pub(crate) fn back_off(&mut self) {
        self.estimator.back_off(&self.bounds);
    }
}

/// `old` moved towards `new` by one part in `parts`.
#[inline]
fn weighted(old: u64, new: u64, parts: u64) -> u64 {
    let step = new.abs_diff(old) / parts;
    if new >= old { old + step } else { old - step }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of RFC 6298, with a tick of 1 ms.
    const RFC_6298: Bounds = Bounds {
        initial: Span::from_secs(1),
        min_rto: Span::from_secs(1),
        min_margin: Span::from_ms(1),
        max_rto: Span::from_secs(60),
        granularity: Span::from_ms(1),
    };

    fn estimator(min_rto: Span) -> BoundedEstimator {
        BoundedEstimator::new(Bounds { min_rto, ..RFC_6298 })
    }

    const LINUX: Bounds = Bounds { min_rto: Span::ZERO, min_margin: Span::from_ms(200), ..RFC_6298 };

    /// The timeouts after such measurements in ms, each on an acknowledgement up to `ack` with data up to
    /// `nxt`.
    fn as_linux(samples: &[(u64, u64, u64)]) -> Vec<Span> {
        let (mut rtt, mut variation) = (RttEstimator::new(&LINUX), LinuxVariation::default());
        let of = |&(ms, ack, nxt): &(u64, u64, u64)| {
            rtt.sample_as_linux(&LINUX, &mut variation, Span::from_ms(ms), (ack, nxt));
            rtt.rto()
        };
        samples.iter().map(of).collect()
    }

    #[test]
    fn the_variation_of_linux_rises_at_once_and_falls_by_a_quarter_a_round_trip() {
        // 40: SRTT 40, mdev 80, added max(80, 200).
        // 440: SRTT 90; mdev 80 + (400 - 20) = 460, added at once. A round trip begins.
        // 440: SRTT 133.75; mdev 460 + (350 - 115) = 695.
        // 440: SRTT 172.03125; mdev 695 + (306.25 - 173.75) = 827.5, the largest of this round trip.
        // 172, and the next one begins: mdev 827.5 - (206.875 - 0.03125) = 620.65625.
        // 172, and the next: mdev 620.65625 - (155.1640625 - 0.02734375) = 465.51953125 was the largest of
        // the last, so 827.5 falls by (827.5 - 465.51953125) / 4 = 90.4951171875.
        let samples = [(40, 1, 1), (440, 2, 9), (440, 3, 9), (440, 4, 9), (172, 10, 20), (172, 21, 30)];
        let ns = [240_000_000, 550_000_000, 828_750_000, 999_531_250, 999_527_344, 909_028_809];
        assert_eq!(as_linux(&samples), ns.map(Span::from_ns));
    }

    #[test]
    fn a_shorter_round_trip_adds_an_eighth_of_its_deviation() {
        // 400: SRTT 400, mdev 800. 0 ms is below by 400, 200 more than mdev / 4: mdev 800 + 200 / 8 = 825.
        // SRTT 350.
        assert_eq!(as_linux(&[(400, 1, 1), (0, 1, 9)]), [Span::from_ms(1200), Span::from_ms(350 + 825)]);
    }

    #[test]
    fn first_and_second_measurement() {
        let mut rtt = estimator(Span::ZERO);
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.sample(Span::from_ms(100), 1);
        // SRTT 100, RTTVAR 50, RTO 100 + 4 x 50.
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Span::from_ms(100)), Span::from_ms(300)));
        rtt.sample(Span::from_ms(180), 1);
        // RTTVAR = 3/4 x 50 + 1/4 x 80 = 57.5; SRTT = 7/8 x 100 + 1/8 x 180 = 110; RTO = 110 + 230.
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Span::from_ms(110)), Span::from_ms(340)));
    }

    #[test]
    fn the_tick_rounds_up_and_bounds_the_variance() {
        let mut rtt = estimator(Span::ZERO);
        rtt.sample(Span::from_us(20_001), 1);
        assert_eq!(rtt.srtt(), Some(Span::from_ms(21)));
        // A measurement is told once, as it counts.
        assert_eq!((rtt.take_latest(), rtt.take_latest()), (Some(Span::from_ms(21)), None));
        for _ in 0..200 {
            rtt.sample(Span::from_ms(21), 1);
        }
        // RTTVAR has gone to almost nothing: RTO = SRTT + G.
        assert_eq!(rtt.rto(), Span::from_ms(22));
    }

    #[test]
    fn backing_off_stays_until_a_measurement() {
        let mut rtt = estimator(Span::from_ms(200));
        rtt.sample(Span::from_ms(10), 1);
        assert_eq!(rtt.rto(), Span::from_ms(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_ms(800));
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.sample(Span::from_ms(10), 1);
        assert_eq!(rtt.rto(), Span::from_ms(200));
    }

    #[test]
    fn a_lost_syn_makes_three_seconds() {
        let after = |bounds: Bounds| {
            let mut rtt = RttEstimator::new(&bounds);
            let before = rtt.rto();
            rtt.back_off(&bounds);
            rtt.restart_after_lost_syn(&bounds);
            (before, rtt.rto())
        };
        assert_eq!(after(RFC_6298), (Span::from_secs(1), Span::from_secs(3)));
        let most = Span::from_ms(500);
        assert_eq!(after(Bounds { initial: most, max_rto: most, ..RFC_6298 }), (most, most));
    }

    #[test]
    fn many_samples_a_round_trip_weigh_less() {
        let mut rtt = estimator(Span::ZERO);
        rtt.sample(Span::from_ms(100), 1);
        rtt.sample(Span::from_ms(180), 5);
        // One part in 8 x 5 of 80 ms: 2 ms.
        assert_eq!(rtt.srtt(), Some(Span::from_ms(102)));
    }
}
