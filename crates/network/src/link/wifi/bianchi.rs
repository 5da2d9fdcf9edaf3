//! Saturated cells against G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE
//! Journal on Selected Areas in Communications 18(3), 2000: under his assumptions (section IV) the throughput is within 1 %
//! and the probability of a collision within 0.01 of his fixed point.

use super::phy::{ACK_BYTES, CTS_BYTES, FRAME_OVERHEAD_BYTES, Format, RTS_BYTES, Timing};
use super::*;
use crate::link::testing::{datagram, stream};
use roamsim_engine::Span;

/// What the model needs of a cell: the times of a successful exchange and of a collision, and of an empty slot.
pub(super) struct Model {
    pub slot_s: f64,
    pub success_s: f64,
    pub collision_s: f64,
    /// Contention windows: `w` slots at first, doubled `m` times.
    w: f64,
    m: i32,
}

impl Model {
    /// Equations (7) to (9): the probabilities of sending in a slot and of a collision.
    pub fn fixed_point(&self, n: f64) -> (f64, f64) {
        let tau = |p: f64| {
            // (7), with the sum of (2p)^i in place of its closed form, which is 0/0 at p = 1/2.
            let sum: f64 = (0..self.m).map(|i| libm::pow(2.0 * p, f64::from(i))).sum();
            2.0 / (1.0 + self.w + p * self.w * sum)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let p = f64::midpoint(low, high);
            // (9) falls short of p where p is too large.
            if 1.0 - libm::pow(1.0 - tau(p), n - 1.0) > p { low = p } else { high = p }
        }
        (tau(low), low)
    }

    /// (10), (13): successful exchanges a second.
    fn exchanges_a_second(&self, n: f64) -> f64 {
        let (tau, _) = self.fixed_point(n);
        let some = 1.0 - libm::pow(1.0 - tau, n);
        let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
        success
            / ((1.0 - some) * self.slot_s + success * self.success_s + (some - success) * self.collision_s)
    }
}

/// His assumptions: all resume at the same time after whatever was on the air, frames are repeated for ever, and a busy
/// period counts as a slot.
pub(super) fn assumptions(mut config: CellConfig, m: i32) -> CellConfig {
    config.timing.eifs = config.timing.difs;
    config.timing.response_timeout = Span::ZERO;
    config.freezing = Freezing::CountsBusyPeriods;
    config.short_retry_limit = u32::MAX;
    config.long_retry_limit = u32::MAX;
    config.cw_max = (config.cw_min + 1) * (1 << m) - 1;
    config
}

pub(super) fn model(config: &CellConfig, bytes: u32, m: i32) -> Model {
    let Timing { slot, sifs, difs, .. } = config.timing;
    let rate_bps = config.rates_bps[0];
    let control = |bytes| config.format.airtime(bytes, config.control_rate_bps(rate_bps));
    let data = config.format.airtime(bytes + FRAME_OVERHEAD_BYTES, rate_bps);
    let exchange = data + sifs + control(ACK_BYTES) + difs;
    let rts = bytes + FRAME_OVERHEAD_BYTES > config.rts_threshold_bytes;
    let (success, collision) = match rts {
        false => (exchange, data + difs),
        true => (control(RTS_BYTES) + sifs + control(CTS_BYTES) + sifs + exchange, control(RTS_BYTES) + difs),
    };
    Model {
        slot_s: slot.as_secs_f64(),
        success_s: success.as_secs_f64(),
        collision_s: collision.as_secs_f64(),
        w: f64::from(config.cw_min + 1),
        m,
    }
}

/// What a cell did in which every station always had something to send.
pub(super) struct Saturated {
    pub exchanges_a_second: f64,
    /// The share of attempts that failed.
    pub collisions: f64,
    /// The stations whose packets arrived, one after the other.
    pub order: Vec<usize>,
}

/// Lets all stations of a cell send packets of `bytes` until so many have arrived.
pub(super) fn saturated(config: CellConfig, bytes: u32, exchanges: usize) -> Saturated {
    let stations = config.rates_bps.len();
    let mut cell = Cell::new(config, stream);
    let mut random = stream("cell");
    let mut top_up = |cell: &mut Cell, now, station| {
        let from = Attachment((stations + station) as u32);
        let taken = cell.enqueue(&mut Context { now, random: &mut random }, from, datagram(bytes));
        assert_eq!(taken, Ok(()));
    };
    for station in 0..stations {
        (0..2).for_each(|_| top_up(&mut cell, Time::ZERO, station));
    }
    let mut order = Vec::new();
    let mut now = Time::ZERO;
    while order.len() < exchanges {
        now = cell.poll_timeout().expect("a saturated cell has something to do");
        cell.handle_timeout(&mut Context { now, random: &mut stream("unused") });
        while let Some((to, _)) = cell.poll_delivery(now) {
            order.push(to.0 as usize);
            top_up(&mut cell, now, to.0 as usize);
        }
        while let Some((from, ..)) = cell.poll_drop() {
            top_up(&mut cell, now, from.0 as usize - stations);
        }
    }
    let times = (1..=stations).map(|radio| cell.radio_time(radio));
    let (begun, failed) =
        times.fold((0, 0), |(begun, failed), time| (begun + time.attempts, failed + time.failed_attempts));
    Saturated {
        exchanges_a_second: order.len() as f64 / now.as_secs_f64(),
        collisions: failed as f64 / begun as f64,
        order,
    }
}

pub(super) fn b(stations: usize, rts_threshold_bytes: u32) -> CellConfig {
    CellConfig { rts_threshold_bytes, mtu_bytes: 2296, ..super::tests::config(stations) }
}

fn g(stations: usize, rts_threshold_bytes: u32) -> CellConfig {
    let format = Format::ErpOfdm;
    CellConfig {
        format,
        timing: Timing::new(format, Span::from_us(9)),
        rates_bps: vec![54_000_000; stations],
        rate_control: None,
        basic_rates_bps: vec![6_000_000, 12_000_000, 24_000_000],
        cw_min: 15,
        ..b(stations, rts_threshold_bytes)
    }
}

#[test]
fn the_fixed_point_is_the_published_one() {
    // W = 32, m = 3, n = 10. At p = 0.298884 the terms of (7) are 0.402232 * 33 + p * 32 * (1 - (2 p)^3) = 13.2737 + 7.5213,
    // and tau = 2 * 0.402232 / 20.7950 = 0.038685; (1 - tau)^9 = 0.701116 by (9).
    let model = Model { slot_s: 50e-6, success_s: 8982e-6, collision_s: 8713e-6, w: 32.0, m: 3 };
    let (tau, p) = model.fixed_point(10.0);
    assert!((tau - 0.038_685).abs() < 1e-6 && (p - 0.298_884).abs() < 1e-6, "{tau} {p}");
    // One station never collides, and sends every (W + 1) / 2 slots.
    let (tau, p) = model.fixed_point(1.0);
    assert!(p < 1e-9 && (tau - 2.0 / 33.0).abs() < 1e-9);
}

#[test]
fn saturated_cells_follow_bianchi_under_his_assumptions() {
    for (name, cell) in [("b", b as fn(usize, u32) -> CellConfig), ("g", g)] {
        for rts_threshold_bytes in [2347, 0] {
            for n in [1, 2, 5, 10, 20, 50] {
                let m = if name == "b" { 5 } else { 6 };
                let config = assumptions(cell(n, rts_threshold_bytes), m);
                let model = model(&config, 1000, m);
                let Saturated { exchanges_a_second: rate, collisions, .. } = saturated(config, 1000, 40_000);
                let (_, p) = model.fixed_point(n as f64);
                let expected = model.exchanges_a_second(n as f64);
                let what = format!(
                    "802.11{name}, {n} stations, RTS above {rts_threshold_bytes}: {rate:.1} exchanges/s for {expected:.1}, \
                     collisions {collisions:.4} for {p:.4}"
                );
                assert!((rate / expected - 1.0).abs() < 0.01, "{what}");
                assert!((collisions - p).abs() < 0.01, "{what}");
            }
        }
    }
}
