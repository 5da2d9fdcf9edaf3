//! The user plane as a whole, held against the closed forms of docs/models/dect.md.

use super::access::{Access, AccessConfig, AccessStats};
use super::direction::{DlcStats, IpConfig, Service, UnfinishedPackets};
use super::errors::ErrorConfig;
use super::lu2::Lu2Config;
use super::mac::MacConfig;
use super::mac::config::{QualityChain, UserAllocation};
use crate::drops::DropReason;
use crate::link::{Attachment, Carrier, Link};
use crate::queue::{QueueLimit, Rule};
use crate::testing::datagram;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::{Context, Machine};

const TERMINAL: Attachment = Attachment(0);
const GATEWAY: Attachment = Attachment(1);

/// So many bearers for ever, without background.
fn fixed(bearers: u32) -> AccessConfig {
    let mut mac =
        MacConfig { user: UserAllocation::Fixed { bearers }, load_factor: 0.0, ..MacConfig::default() };
    mac.traffic.iter_mut().for_each(|traffic| traffic.offered_erlang = 0.0);
    AccessConfig {
        mac,
        errors: ErrorConfig::default(),
        ip: IpConfig { max_attempts: 10, unfinished: UnfinishedPackets::Lost },
        service: Service::Lu2(Lu2Config::default()),
        queue: None,
        mtu_bytes: 1500,
        warm_up_frames: 0,
    }
}

/// `config` without errors.
fn error_free(config: AccessConfig) -> AccessConfig {
    let errors = ErrorConfig { ber_good: 0.0, ber_bad: 0.0, ..ErrorConfig::default() };
    AccessConfig { errors, ..config }
}

/// `config` with all bearers in the good state for ever.
fn always_good(config: AccessConfig) -> AccessConfig {
    let quality = QualityChain { good_to_bad: 0.0, ..config.mac.quality };
    AccessConfig { mac: MacConfig { quality, ..config.mac }, ..config }
}

struct Rig {
    access: Access,
    random: Stream,
    /// When, at which end, how large.
    delivered: Vec<(u64, Attachment, u32)>,
    dropped: Vec<(u64, Attachment, DropReason)>,
}

impl Rig {
    fn new(config: AccessConfig, seed: u64) -> Rig {
        Rig {
            access: Access::new(config, |purpose| Stream::new(seed, 0, purpose)),
            random: Stream::new(seed, 0, "unused"),
            delivered: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn send(&mut self, now_ms: u64, from: Attachment, bytes: u32) {
        let mut cx = Context { now: Time::ZERO + Span::from_ms(now_ms), random: &mut self.random };
        self.access.enqueue(&mut cx, from, datagram(bytes)).expect("the access takes it");
    }

    /// Runs all wake-ups up to an instant; returns how many there were.
    fn run(&mut self, until_ms: u64) -> u64 {
        let until = Time::ZERO + Span::from_ms(until_ms);
        let mut wake_ups = 0;
        while let Some(now) = self.access.poll_timeout().filter(|&now| now <= until) {
            wake_ups += 1;
            self.access.handle_timeout(&mut Context { now, random: &mut self.random });
            let now_ms = now.as_ns() / 1_000_000;
            while let Some((to, packet)) = self.access.poll_delivery(now) {
                self.delivered.push((now_ms, to, packet.size_bytes));
            }
            while let Some((from, _, dropped)) = self.access.poll_drop() {
                assert_eq!(dropped.at, now);
                self.dropped.push((now_ms, from, dropped.reason));
            }
        }
        wake_ups
    }

    fn finish(&mut self, end_ms: u64) -> AccessStats {
        self.access.finish(Time::ZERO + Span::from_ms(end_ms));
        self.access.access_stats().expect("the run has ended").clone()
    }
}

#[test]
fn a_packet_leaves_with_the_next_frame_and_arrives_at_a_frames_end() {
    let mut rig = Rig::new(error_free(fixed(10)), 1);
    // 20 fragments over 10 bearers: frames 0 and 1, there at 20 ms. One that comes at 13 ms leaves in
    // frame 2. The other direction does not mind.
    rig.send(0, TERMINAL, 552);
    rig.send(0, GATEWAY, 40);
    rig.run(10);
    rig.send(13, TERMINAL, 40);
    rig.run(1000);
    assert_eq!(rig.delivered, [(10, TERMINAL, 40), (20, GATEWAY, 552), (30, GATEWAY, 40)]);
    // At 1000 ms sharp frame 100 begins: it takes what comes at that instant.
    rig.send(1000, GATEWAY, 40);
    rig.run(2000);
    assert_eq!(rig.delivered.last(), Some(&(1010, TERMINAL, 40)));
    assert_eq!(rig.access.packets_inside(), 0);
    let stats = rig.access.stats(TERMINAL, Time::ZERO + Span::from_secs(2));
    assert_eq!((stats.sent_packets, stats.sent_bytes, stats.delivered_packets), (2, 592, 2));
    // Frames 0 and 1 with all ten bearers, frame 2 with two: 22 ms. The second waited from 13 to 20 ms.
    assert_eq!((stats.busy, stats.waiting), (Span::from_ms(22), Span::from_ms(7)));
}

#[test]
fn an_access_at_rest_sleeps() {
    let mut rig = Rig::new(always_good(error_free(fixed(10))), 1);
    assert_eq!(rig.access.poll_timeout(), None);
    rig.send(0, TERMINAL, 552);
    // Two frames to carry it, and one in which the sender learns of it.
    assert_eq!(rig.run(100_000), 3);
    assert_eq!(rig.access.poll_timeout(), None);
}

#[test]
fn packets_a_bearer_and_frame_over_the_chain() {
    // roamsim.theory.dect.ip_channel at 1, 2 and 10 times the reference: received a frame, mean attempts.
    let expected = [(1.0, 0.910_440, 1.098_370), (2.0, 0.853_626, 1.171_472), (10.0, 0.611_728, 1.627_965)];
    for (factor, packets_per_frame, mean_attempts) in expected {
        let mut config = fixed(2);
        config.errors.ber_good *= factor;
        config.errors.ber_bad *= factor;
        let mut rig = Rig::new(config, 7);
        // Two bearers never wait for a window of 63. 200 batches of 2000 frames give the standard error.
        let mut batches = Vec::new();
        let mut before = (0, 0, 0);
        for batch in 0..200 {
            (0..300).for_each(|_| rig.send(batch * 20_000, TERMINAL, 552));
            rig.run((batch + 1) * 20_000);
            let ip = rig.finish((batch + 1) * 20_000).directions[0].ip;
            let total = (ip.received, ip.packets, ip.attempts);
            batches.push([
                (total.0 - before.0) as f64 / 4000.0,
                (total.2 - before.2) as f64 / (total.1 - before.1) as f64,
            ]);
            assert_eq!(total.2, (batch + 1) * 4000, "every bearer has a packet in every frame");
            before = total;
        }
        for (quantity, expected) in [(0, packets_per_frame), (1, mean_attempts)] {
            let n = batches.len() as f64;
            let mean = batches.iter().map(|batch| batch[quantity]).sum::<f64>() / n;
            let variance =
                batches.iter().map(|batch| libm::pow(batch[quantity] - mean, 2.0)).sum::<f64>() / (n - 1.0);
            let error = (variance / n).sqrt();
            assert!(error < 0.002, "{error}");
            assert!((mean - expected).abs() < 3.0 * error, "{factor}: {mean} {expected} +- {error}");
        }
    }
}

#[test]
fn without_arq_a_packet_survives_if_all_its_bits_do() {
    let mut config = always_good(fixed(10));
    config.service = Service::Lu1;
    let mut rig = Rig::new(config, 3);
    let n = 20_000;
    (0..n).for_each(|_| rig.send(0, GATEWAY, 552));
    // 14 fragments each, 10 a frame.
    rig.run(n * 14);
    let stats = rig.finish(n * 14).directions[1];
    let DlcStats::Lu1(lu1) = stats.dlc else { panic!("LU1") };
    assert_eq!((lu1.fragments, lu1.frames_delivered + lu1.frames_dropped), (n * 14, n));
    assert_eq!(rig.dropped.len() as u64, lu1.frames_dropped);
    assert!(rig.dropped.iter().all(|drop| (drop.1, drop.2) == (GATEWAY, DropReason::Incomplete)));
    // (1 - 1.7e-4)^(320 * 14) = exp(-4480 * 1.700145e-4) = 0.46686; standard error sqrt(p (1 - p) / 20000) =
    // 0.0035.
    let share = lu1.frames_delivered as f64 / n as f64;
    assert!((share - 0.46686).abs() < 0.0106, "{share}");
}

#[test]
fn a_field_errors_keep_packets_from_arriving() {
    let mut config = always_good(fixed(2));
    config.errors.a_field_errors = true;
    config.errors.ber_good = 3e-3;
    config.ip.max_attempts = 1;
    let mut rig = Rig::new(config, 3);
    (0..5000).for_each(|_| rig.send(0, TERMINAL, 552));
    rig.run(200_000);
    let ip = rig.finish(200_000).directions[0].ip;
    assert_eq!(ip.attempts, 40_000);
    // One attempt: (1 - 3e-3)^64 for the A field times (1 - 3e-3)^320 for the subfields, 0.997^384 = 0.31546;
    // standard error sqrt(0.31546 * 0.68454 / 40000) = 0.00232.
    let share = ip.received as f64 / ip.attempts as f64;
    assert!((share - 0.31546).abs() < 0.007, "{share}");
    assert_eq!(ip.discarded, ip.packets - ip.received);
}

#[test]
fn a_field_errors_repeat_what_is_not_acknowledged() {
    let mut config = always_good(fixed(2));
    config.errors.a_field_errors = true;
    config.errors.ber_good = 3e-3;
    let mut rig = Rig::new(config, 4);
    (0..1000).for_each(|_| rig.send(0, TERMINAL, 552));
    rig.run(200_000);
    let ip = rig.finish(200_000).directions[0].ip;
    assert_eq!(ip.attempts, 40_000);
    // An A field arrives with a = 0.997^64 = 0.82507, and then a subfield fails with s = 1 - 0.997^80 =
    // 0.21366. Attempts until all four are there: (4 / (1 - s) - 6 / (1 - s^2) + 4 / (1 - s^3) - 1 / (1 -
    // s^4)) / a = 1.83716 / a = 2.22668. Then those whose acknowledgement is missed: (1 - a) / a = 0.21202.
    // Together 2.43870, of which the limit of ten takes less than 0.001. They vary by less than 1.4: standard
    // error 1.4 / sqrt(40000 / 2.4387) = 0.0109.
    let mean = ip.attempts as f64 / ip.packets as f64;
    assert!((mean - 2.4387).abs() < 0.033, "{mean}");
}

#[test]
fn what_cannot_be_brought_over_is_dropped_with_its_reason() {
    let mut config = fixed(10);
    (config.errors.ber_good, config.errors.ber_bad) = (0.5, 0.5);
    let mut rig = Rig::new(config, 1);
    rig.send(0, TERMINAL, 552);
    rig.send(0, TERMINAL, 552);
    rig.run(100_000);
    assert!(rig.delivered.is_empty());
    // Nothing arrives at all, so the receiver knows of no packet: both stay inside.
    assert_eq!((rig.dropped.len(), rig.access.packets_inside()), (0, 2));
    assert_eq!(rig.finish(100_000).directions[0].ip.discarded, 40);
}

#[test]
fn the_measurement_begins_after_the_warm_up() {
    let mut config = error_free(fixed(10));
    config.warm_up_frames = 100;
    let mut rig = Rig::new(config, 1);
    rig.send(0, TERMINAL, 552);
    rig.run(900);
    rig.send(1000, TERMINAL, 40);
    rig.run(10_000);
    let stats = rig.finish(10_000);
    assert_eq!(stats.directions[0].ip.received, 2);
    assert_eq!((stats.mac.from_frame, stats.mac.until_frame), (100, 1000));
    assert_eq!(stats.mac.mean_user_bearers(), 10.0);
}

#[test]
fn the_terminal_of_the_study_gets_bearers_and_loses_packets_in_handovers() {
    let run = |unfinished| {
        let mut config = fixed(10);
        config.mac = MacConfig::default();
        config.ip.unfinished = unfinished;
        let mut rig = Rig::new(config, 5);
        for second in 0..2000 {
            (0..20).for_each(|_| rig.send(second * 1000, GATEWAY, 552));
            rig.run(second * 1000 + 1000);
        }
        let inside = rig.access.packets_inside();
        assert_eq!(rig.delivered.len() as u64 + rig.dropped.len() as u64 + inside, 40_000);
        let stats = rig.finish(2_000_000);
        let mean = stats.mac.mean_user_bearers();
        assert!(mean > 4.0 && mean < 10.0, "{mean}");
        let DlcStats::Lu2(lu2) = stats.directions[1].dlc else { panic!("LU2") };
        (stats.directions[1].ip.lost_with_bearer, lu2.retransmission_requests)
    };
    let (lost, requests) = run(UnfinishedPackets::Lost);
    assert!(lost > 0 && requests > 0, "{lost} {requests}");
    assert_eq!(run(UnfinishedPackets::Kept), (0, 0));
}

#[test]
fn of_packets_dropped_in_one_frame_those_that_never_joined_a_queue_come_first() {
    let errors = ErrorConfig { ber_good: 1.0, ..ErrorConfig::default() };
    let queue = Some((Rule::DropTail, QueueLimit::Packets(1)));
    let config = AccessConfig { service: Service::Lu1, errors, queue, ..always_good(fixed(2)) };
    let mut rig = Rig::new(config, 1);
    // 38 octets and 2 of checksum: one fragment each, and every fragment has an error. The gateway's queue
    // takes one.
    [TERMINAL, GATEWAY, GATEWAY].into_iter().for_each(|from| rig.send(1, from, 38));
    rig.run(100);
    let (full, incomplete) = (DropReason::QueueFull, DropReason::Incomplete);
    assert_eq!(rig.dropped, [(20, GATEWAY, full), (20, TERMINAL, incomplete), (20, GATEWAY, incomplete)]);
}
