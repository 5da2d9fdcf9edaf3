//! Who gets how much: stations of different rates, and over short times.

use super::bianchi::{Saturated, assumptions, b, model, saturated};
use crate::link::wifi::phy::{ACK_BYTES, FRAME_OVERHEAD_BYTES};

/// M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance Anomaly of 802.11b", IEEE INFOCOM 2003:
/// a station of 1 Mb/s takes all others down to its own throughput, since all get the medium equally often.
///
/// The closed form is Bianchi's with two lengths of exchanges, and collisions as long as their longest frame.
#[test]
fn one_slow_station_takes_all_down_to_its_throughput() {
    let n = 5;
    let mut config = assumptions(b(n, 2347), 5);
    config.rates_bps[n - 1] = 1_000_000;
    let fast = model(&config, 1500, 5);
    let airtime = |bytes, rate_bps| config.format.airtime(bytes, rate_bps);
    let slow_data = airtime(1500 + FRAME_OVERHEAD_BYTES, 1_000_000);
    let slow_success = slow_data + config.timing.sifs + airtime(ACK_BYTES, 1_000_000) + config.timing.difs;
    let slow_collision_s = (slow_data + config.timing.difs).as_secs_f64();

    let (tau, p) = fast.fixed_point(n as f64);
    let silent = |others: usize| libm::pow(1.0 - tau, others as f64);
    let alone = tau * silent(n - 1);
    let slot_s = silent(n) * fast.slot_s
        + (n - 1) as f64 * alone * fast.success_s
        + alone * slow_success.as_secs_f64()
        + tau * (1.0 - silent(n - 1)) * slow_collision_s
        + ((1.0 - tau) * (1.0 - silent(n - 1)) - (n - 1) as f64 * alone) * fast.collision_s;
    let expected = n as f64 * alone / slot_s;

    let Saturated { exchanges_a_second, collisions, order, .. } = saturated(config, 1500, 200_000);
    assert!((exchanges_a_second / expected - 1.0).abs() < 0.01, "{exchanges_a_second} for {expected}");
    assert!((collisions - p).abs() < 0.01, "{collisions} for {p}");
    for station in 0..n {
        let share = order.iter().filter(|&&who| who == station).count() as f64 / order.len() as f64;
        // The standard deviation of a station in 20,000 exchanges is 90, measured (a fair draw would have 57,
        // but who has collided has the larger window for a while): 0.0014 in 200,000.
        assert!((share - 0.2).abs() < 0.006, "station {station} has {share}");
    }
    // Alone the four would have about 1500 octets * 8 in 1.9 ms, 6 Mb/s together; here each has below 0.6
    // Mb/s.
    let each_bps = exchanges_a_second / n as f64 * 1500.0 * 8.0;
    assert!((500_000.0..600_000.0).contains(&each_bps), "{each_bps}");
}

/// Between two frames of one of two stations the other sends K: countdowns share the silent slots, so each is
/// a renewal process in them with uniform gaps U, independent of the other but for collisions. At a frame of
/// the first the residual R of the second has the density 2 (1 - r), and
///
/// - P(K >= 1) = P(R <= U) = 1 - 1/3,
/// - P(K >= 2) = P(R + U' <= U) = E(U^2 - U^3 / 3) = 1/3 - 1/12 = 1/4,
/// - P(K >= 3) = P(R + U' + U'' <= U) = E((1 - U) U^3 / 3 + U^4 / 4) = 1/12 - 1/15 + 1/20 = 1/15.
///
/// Windows of 1024 slots make collisions rare (2 in 1024) and the gaps nearly continuous.
#[test]
fn two_stations_alternate_as_two_countdowns_do() {
    let mut config = b(2, 2347);
    (config.cw_min, config.cw_max) = (1023, 1023);
    let Saturated { order, .. } = saturated(config, 500, 60_000);
    let runs: Vec<usize> = order.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    // A run of k frames of one lies in a gap of the other; within a run of k frames of one lie k - 1 gaps of
    // its own without any of the other.
    let gaps = order.len() as f64;
    let at_least = |k: usize| runs.iter().filter(|&&run| run >= k).count() as f64 / gaps;
    for (k, expected) in [(1, 2.0 / 3.0), (2, 1.0 / 4.0), (3, 1.0 / 15.0)] {
        // 60,000 gaps: a standard error of 0.002 at most.
        assert!((at_least(k) - expected).abs() < 0.008, "P(K >= {k}): {} for {expected}", at_least(k));
    }
}
