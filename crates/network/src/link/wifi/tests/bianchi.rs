//! Saturated cells against G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination
//! Function", IEEE Journal on Selected Areas in Communications 18(3), 2000: under his assumptions (section
//! IV) the throughput is within 1 % and the probability of a collision within 0.01 of his fixed point: at the
//! parameters of his table II, and at those of 802.11b and g.
//!
//! The model page has what they do under the standard's rules beside it. Where that moves:
//!
//!     ROAMSIM_WRITE_TABLES=1 cargo test -p roamsim-network bianchi -- --test-threads=1

use super::*;
use crate::link::testing::{datagram, stream};
use crate::link::wifi::phy::{
    ACK_BYTES, CTS_BYTES, FRAME_OVERHEAD_BYTES, Format, Preamble, RTS_BYTES, Timing,
};
use roamsim_engine::Span;
use std::fmt::Write;

/// What the model needs of a cell: the times of a successful exchange and of a collision, and of an empty
/// slot.
pub(in crate::link::wifi) struct Model {
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

/// His assumptions: all resume at the same time after whatever was on the air, frames are repeated for ever,
/// and a busy period counts as a slot.
pub(in crate::link::wifi) fn assumptions(mut config: CellConfig, m: i32) -> CellConfig {
    config.timing.eifs = config.timing.difs;
    config.timing.response_timeout = Span::ZERO;
    config.freezing = Freezing::CountsBusyPeriods;
    config.short_retry_limit = u32::MAX;
    config.long_retry_limit = u32::MAX;
    config.cw_max = (config.cw_min + 1) * (1 << m) - 1;
    config
}

pub(in crate::link::wifi) fn model(config: &CellConfig, bytes: u32, m: i32) -> Model {
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
pub(in crate::link::wifi) struct Saturated {
    pub exchanges_a_second: f64,
    /// The share of attempts that failed.
    pub collisions: f64,
    /// The share of packets that came to their retry limit.
    pub given_up: f64,
    /// The stations whose packets arrived, one after the other.
    pub order: Vec<usize>,
}

/// Lets all stations of a cell send packets of `bytes` until so many have arrived.
pub(in crate::link::wifi) fn saturated(config: CellConfig, bytes: u32, exchanges: usize) -> Saturated {
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
    let (mut order, mut dropped) = (Vec::new(), 0);
    let mut now = Time::ZERO;
    while order.len() < exchanges {
        now = cell.poll_timeout().expect("a saturated cell has something to do");
        cell.handle_timeout(&mut Context { now, random: &mut stream("unused") });
        while let Some((to, _)) = cell.poll_delivery(now) {
            order.push(to.0 as usize);
            top_up(&mut cell, now, to.0 as usize);
        }
        while let Some((from, ..)) = cell.poll_drop() {
            dropped += 1;
            top_up(&mut cell, now, from.0 as usize - stations);
        }
    }
    let times = (1..=stations).map(|radio| cell.radio_time(radio));
    let (begun, failed) =
        times.fold((0, 0), |(begun, failed), time| (begun + time.attempts, failed + time.failed_attempts));
    Saturated {
        exchanges_a_second: order.len() as f64 / now.as_secs_f64(),
        collisions: failed as f64 / begun as f64,
        given_up: f64::from(dropped) / (order.len() as f64 + f64::from(dropped)),
        order,
    }
}

pub(in crate::link::wifi) fn b(stations: usize, rts_threshold_bytes: u32) -> CellConfig {
    CellConfig { rts_threshold_bytes, mtu_bytes: 2296, ..super::config(stations) }
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

/// Table II of the paper: FHSS at 1 Mb/s. The propagation delay of 1 us, which is in his times behind each
/// frame, is in the spaces here.
fn fhss(stations: usize, rts_threshold_bytes: u32) -> CellConfig {
    let us = Span::from_us;
    // EIFS: the ACK, of 128 + 112 us, with SIFS before it and DIFS behind it.
    let timing =
        Timing { slot: us(50), sifs: us(29), difs: us(129), eifs: us(398), response_timeout: us(300) };
    CellConfig {
        format: Format::Dsss(Preamble::Fhss),
        timing,
        rates_bps: vec![1_000_000; stations],
        basic_rates_bps: vec![1_000_000],
        ..b(stations, rts_threshold_bytes)
    }
}

/// With 36 octets around it a frame of 34 octets of header and 1023 of payload.
const FHSS_PACKET_BYTES: u32 = 1021;

#[test]
fn the_fixed_point_is_the_published_one() {
    // W = 32, m = 3, n = 10. At p = 0.298884 the terms of (7) are 0.402232 * 33 + p * 32 * (1 - (2 p)^3) =
    // 13.2737 + 7.5213, and tau = 2 * 0.402232 / 20.7950 = 0.038685; (1 - tau)^9 = 0.701116 by (9).
    let published = |rts_threshold_bytes| {
        let config = assumptions(fhss(10, rts_threshold_bytes), 3);
        model(&config, FHSS_PACKET_BYTES, 3)
    };
    let model = published(2347);
    let (tau, p) = model.fixed_point(10.0);
    assert!((tau - 0.038_685).abs() < 1e-6 && (p - 0.298_884).abs() < 1e-6, "{tau} {p}");
    // (14): 400 us of headers, 8184 of payload, 28 + 1 + 240 + 128 + 1; and 400 + 8184 + 128 + 1.
    assert_eq!((model.success_s, model.collision_s), (8982e-6, 8713e-6));
    // (17): 288 + 28 + 1 + 240 + 28 + 1 before that; and 288 + 128 + 1.
    let model = published(0);
    assert_eq!((model.success_s, model.collision_s), (9568e-6, 417e-6));
    // One station never collides, and sends every (W + 1) / 2 slots.
    let (tau, p) = model.fixed_point(1.0);
    assert!(p < 1e-9 && (tau - 2.0 / 33.0).abs() < 1e-9);
}

/// A physical layer, as it is held against the model.
struct Layer {
    /// Of so many stations, with RTS above so many octets.
    cell: fn(usize, u32) -> CellConfig,
    /// How often the window doubles.
    m: i32,
    packet_bytes: u32,
    /// Bits that count as throughput.
    payload_bits: u32,
}

/// So many exchanges are looked at of each cell.
const EXCHANGES: usize = 40_000;

impl Layer {
    /// Fixed point and cell under his assumptions, which are close to each other: megabits a second and the
    /// probability of a collision.
    fn held(&self, n: usize, rts_threshold_bytes: u32) -> [(f64, f64); 2] {
        let config = assumptions((self.cell)(n, rts_threshold_bytes), self.m);
        let model = model(&config, self.packet_bytes, self.m);
        let (_, p) = model.fixed_point(n as f64);
        let expected = model.exchanges_a_second(n as f64);
        let Saturated { exchanges_a_second: rate, collisions, .. } =
            saturated(config, self.packet_bytes, EXCHANGES);
        let what = format!(
            "{n} stations, RTS above {rts_threshold_bytes}: {rate:.1} exchanges/s for {expected:.1}, \
             collisions {collisions:.4} for {p:.4}"
        );
        assert!((rate / expected - 1.0).abs() < 0.01, "{what}");
        assert!((collisions - p).abs() < 0.01, "{what}");
        [(self.mbps(expected), p), (self.mbps(rate), collisions)]
    }

    fn mbps(&self, exchanges_a_second: f64) -> f64 {
        exchanges_a_second * f64::from(self.payload_bits) / 1e6
    }

    /// The table of the model page: his fixed point, a cell under his assumptions, and one by the standard's
    /// rules.
    fn table(&self) -> String {
        let mut table = "| access | n | fixed point: Mb/s | p | his assumptions: Mb/s | p | the standard: Mb/s | p | given up |\n\
            |---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
        for (access, rts_threshold_bytes) in [("basic", 2347), ("RTS/CTS", 0)] {
            for n in [1, 2, 3, 5, 10, 20, 50] {
                let [(fixed_mbps, fixed_p), (mbps, p)] = self.held(n, rts_threshold_bytes);
                let standard = saturated((self.cell)(n, rts_threshold_bytes), self.packet_bytes, EXCHANGES);
                let Saturated { exchanges_a_second, collisions, given_up, .. } = standard;
                if !SHOWN.contains(&n) {
                    continue;
                }
                let _ = writeln!(
                    table,
                    "| {access} | {n} | {fixed_mbps:.3} | {fixed_p:.3} | {mbps:.3} | {p:.3} | {:.3} | {collisions:.3} | {given_up:.4} |",
                    self.mbps(exchanges_a_second)
                );
            }
        }
        table
    }
}

/// Numbers of stations that the model page shows.
const SHOWN: [usize; 4] = [1, 5, 20, 50];

/// A table of the model page, between markers of its name, is this one.
fn stands_on_the_model_page(name: &str, table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models/wifi.md");
    let page = std::fs::read_to_string(path).expect("the model page");
    let (begin, end) = (format!("<!-- {name}:start -->\n"), format!("<!-- {name}:end -->"));
    let (before, rest) = page.split_once(&begin).expect("the begin of the table");
    let (written, after) = rest.split_once(&end).expect("its end");
    if std::env::var_os("ROAMSIM_WRITE_TABLES").is_some() {
        std::fs::write(path, format!("{before}{begin}{table}{end}{after}")).expect("the page is written");
    } else {
        assert_eq!(written, table, "docs/models/wifi.md; the head of bianchi.rs says how to write it again");
    }
}

#[test]
fn cells_follow_bianchi_at_his_parameters() {
    let payload_bits = 8184;
    let layer = Layer { cell: fhss, m: 5, packet_bytes: FHSS_PACKET_BYTES, payload_bits };
    stands_on_the_model_page("bianchi", &layer.table());
}

#[test]
fn cells_follow_bianchi_at_his_other_windows() {
    // W = 32 and m = 3, W = 128 and m = 3, the others of his figures 6 and 7.
    let wide =
        |stations, rts_threshold_bytes| CellConfig { cw_min: 127, ..fhss(stations, rts_threshold_bytes) };
    for cell in [fhss as fn(usize, u32) -> CellConfig, wide] {
        let layer = Layer { cell, m: 3, packet_bytes: FHSS_PACKET_BYTES, payload_bits: 8184 };
        for (n, rts_threshold_bytes) in [(5, 2347), (5, 0), (50, 2347), (50, 0)] {
            layer.held(n, rts_threshold_bytes);
        }
    }
}

#[test]
fn cells_follow_bianchi_at_802_11b() {
    let layer = Layer { cell: b, m: 5, packet_bytes: 1000, payload_bits: 8000 };
    stands_on_the_model_page("bianchi-b", &layer.table());
}

#[test]
fn cells_follow_bianchi_at_802_11g() {
    let layer = Layer { cell: g, m: 6, packet_bytes: 1000, payload_bits: 8000 };
    stands_on_the_model_page("bianchi-g", &layer.table());
}
