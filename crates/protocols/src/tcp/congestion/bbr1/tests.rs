use super::super::bbr::tests::of_a_round;
use super::*;

const SMSS: u64 = 1000;
const RTT: Span = Span::from_ms(100);

/// Rounds of 100 ms, of one acknowledgement each, behind a handshake of 100 ms at 0 s.
struct Path {
    bbr: Bbr1,
    now: Time,
    delivered: u64,
}

impl Path {
    fn new() -> Path {
        let mut bbr = Bbr1::new(&Settings::default());
        bbr.start(SMSS, 10 * SMSS);
        bbr.on_handshake(Time::ZERO, Some(RTT));
        Path { bbr, now: Time::ZERO, delivered: 0 }
    }

    /// The acknowledgement of a round that delivers `bytes` and leaves `in_flight`; `edit` changes the rest.
    fn round_with(&mut self, bytes: u64, in_flight: u64, edit: impl FnOnce(&mut Delivery)) -> bool {
        let prior_delivered = self.delivered;
        self.now += RTT;
        self.delivered += bytes;
        let mut delivery = of_a_round(self.now, bytes, prior_delivered, in_flight);
        edit(&mut delivery);
        self.bbr.on_delivery(&delivery)
    }

    fn round(&mut self, bytes: u64, in_flight: u64) {
        self.round_with(bytes, in_flight, |_| {});
    }

    /// One that also tells of a loss, which is being repaired.
    fn lossy_round(&mut self, bytes: u64, in_flight: u64, lost: u64) {
        let one = Lost { start: 0, end: lost, ..Lost::default() };
        self.bbr.on_losses(&[one], in_flight, self.delivered + bytes, self.now + RTT);
        if self.bbr.model.repair == Repair::None {
            self.bbr.on_congestion(Cause::FastRetransmit { flight_bytes: in_flight });
        }
        self.round_with(bytes, in_flight, |delivery| delivery.recovering = true);
    }

    /// So many octets are lost: the retransmission timer expires a second behind the last acknowledgement.
    fn time_out(&mut self, lost: u64) {
        self.now += Span::from_secs(1);
        self.bbr.on_losses(&[Lost { end: lost, ..Lost::default() }], 0, self.delivered, self.now);
        self.bbr.on_congestion_at(
            Cause::Timeout { flight_bytes: lost, repeated: false, repairing: false },
            self.now,
        );
    }

    /// Rounds of 100,000 octets until ProbeBW has begun, in its third phase.
    fn probing() -> Path {
        let mut path = Path::new();
        while path.bbr.model.state != State::ProbeBw {
            path.round(100_000, 90_000);
        }
        (path.bbr.model.cycle_index, path.bbr.model.cycle_stamp) = (2, path.now);
        path
    }

    fn pacing_rate(&self) -> u64 {
        self.bbr.model.pacing_rate
    }
}

#[test]
fn the_first_rate_is_that_of_the_initial_window() {
    // 10,000 octets in 100 ms, times 739 / 256, less 1 %.
    assert_eq!(Path::new().pacing_rate(), 285_784);
    let mut bbr = Bbr1::new(&Settings::default());
    bbr.start(SMSS, 10 * SMSS);
    // Without a round trip it takes a millisecond.
    assert_eq!(bbr.pacing_rate_bytes_per_s(), Some(28_578_515));
    bbr.on_handshake(Time::ZERO, None);
    let mut path = Path { bbr, ..Path::new() };
    // The first one sets it: 10,000 octets in 100 ms are more than the 1000 that have arrived.
    path.round(1000, 9000);
    assert_eq!((path.pacing_rate(), path.bbr.model.min_rtt), (285_784, RTT));
}

#[test]
fn startup_ends_behind_three_rounds_without_a_quarter_more_and_drain_with_the_product() {
    let mut path = Path::new();
    path.round(50_000, 90_000);
    // A quarter more, then 24 % and less.
    for bytes in [62_500, 77_000, 77_000] {
        path.round(bytes, 300_000);
        assert_eq!(path.bbr.model.state, State::Startup);
        assert_eq!(path.bbr.ssthresh_bytes(), u64::MAX);
    }
    path.round(77_000, 300_000);
    assert_eq!(path.bbr.state_name(), Some("drain"));
    // 770,000 octets a second, times 88 / 256, less 1 %.
    assert_eq!(path.pacing_rate(), 262_040);
    // 77 segments, three bursts of two, and one to be even.
    assert_eq!(path.bbr.ssthresh_bytes(), 84_000);
    path.round(77_000, 84_001);
    assert_eq!(path.bbr.model.state, State::Drain);
    path.round(77_000, 84_000);
    assert_eq!(path.bbr.model.state, State::ProbeBw);
}

#[test]
fn the_phases_of_probe_bw_have_their_gains_and_lengths() {
    let mut path = Path::probing();
    while path.bbr.model.cycle_index != 0 {
        path.round(100_000, 90_000);
    }
    // 1,000,000 octets a second, times 1.25, less 1 %; two products, the product that comes at once, three
    // bursts, and two segments.
    assert_eq!((path.pacing_rate(), path.bbr.state_name()), (1_237_500, Some("probe_bw_up")));
    assert_eq!(path.bbr.cwnd_bytes(), 308_000);
    // A round trip to the nanosecond is not longer than `min_rtt`, and 125 segments with their room are not
    // in flight before the acknowledgement.
    path.bbr.model.cycle_stamp += Span::from_ns(1);
    path.round(100_000, 34_000);
    path.round(100_000, 33_999);
    assert_eq!(path.bbr.model.cycle_index, 0);
    path.round(100_000, 34_000);
    assert_eq!((path.pacing_rate(), path.bbr.state_name()), (742_500, Some("probe_bw_down")));
    // Above the product the second phase takes a round trip, and one of 106 segments at most ends it.
    path.bbr.model.cycle_stamp += Span::from_ns(1);
    path.round(100_000, 6001);
    assert_eq!(path.bbr.model.cycle_index, 1);
    path.bbr.model.cycle_stamp = path.now + Span::from_ns(1);
    path.round(100_000, 6000);
    assert_eq!((path.pacing_rate(), path.bbr.state_name()), (990_000, Some("probe_bw_cruise")));
    // A loss ends the first phase where the flight does not reach its aim.
    path.bbr.model.cycle_index = 0;
    path.bbr.model.cycle_stamp = Time::ZERO;
    path.lossy_round(100_000, 0, 1000);
    assert_eq!(path.bbr.model.cycle_index, 1);
}

#[test]
fn probe_bw_begins_with_every_phase_but_the_second() {
    let mut model = *Path::probing().bbr.model;
    let mut begun = [0; 8];
    for _ in 0..700 {
        model.start_probe_bw(Time::ZERO);
        begun[model.cycle_index] += 1;
    }
    assert_eq!(begun[1], 0);
    assert!([0, 2, 3, 4, 5, 6, 7].iter().all(|&phase| (60..140).contains(&begun[phase])), "{begun:?}");
}

#[test]
fn the_highest_rate_counts_for_ten_rounds_behind_its_own() {
    let mut path = Path::probing();
    path.round(200_000, 90_000);
    for _ in 0..10 {
        path.round(100_000, 90_000);
        assert_eq!(path.bbr.model.max_bw(), 2_000_000);
    }
    path.round(100_000, 90_000);
    assert_eq!(path.bbr.model.max_bw(), 1_000_000);
    // What the application limits counts if it is no less.
    let app_limited = |delivery: &mut Delivery| delivery.sample.app_limited = true;
    for _ in 0..20 {
        path.round_with(50_000, 0, app_limited);
    }
    assert_eq!(path.bbr.model.max_bw(), 1_000_000);
    path.round_with(150_000, 0, app_limited);
    assert_eq!(path.bbr.model.max_bw(), 1_500_000);
}

#[test]
fn a_fast_repair_conserves_packets_for_a_round_and_gives_the_window_back() {
    let mut path = Path::probing();
    path.round(100_000, 90_000);
    // Two products, the product that comes at once, and three bursts.
    let cwnd_bytes = path.bbr.cwnd_bytes();
    assert_eq!(cwnd_bytes, 306_000);
    // As much goes as arrives.
    path.lossy_round(2000, 150_000, 3000);
    assert_eq!(path.bbr.cwnd_bytes(), 152_000);
    // The round ends when its own data arrives. Then each arrival widens the window, and each loss narrows
    // it.
    let in_round = |delivery: &mut Delivery| {
        (delivery.recovering, delivery.sample.prior_delivered) = (true, 0);
    };
    path.round_with(2000, 149_000, in_round);
    assert_eq!(path.bbr.cwnd_bytes(), 152_000);
    path.lossy_round(2000, 149_000, 1000);
    assert_eq!(path.bbr.cwnd_bytes(), 153_000);
    path.round(2000, 149_000);
    assert_eq!(path.bbr.cwnd_bytes(), cwnd_bytes);
}

#[test]
fn a_timeout_leaves_a_segment_beside_the_flight_and_its_end_gives_the_window_back() {
    let mut path = Path::probing();
    path.round(100_000, 90_000);
    let cwnd_bytes = path.bbr.cwnd_bytes();
    path.time_out(90_000);
    assert_eq!((path.bbr.cwnd_bytes(), path.bbr.model.full_bw), (1000, 0));
    // What the timer took as lost is no loss of the acknowledgement, and does not end the first phase. The
    // window is four segments at least.
    path.bbr.model.cycle_index = 0;
    path.round_with(1000, 1000, |delivery| delivery.recovering = true);
    assert_eq!((path.bbr.cwnd_bytes(), path.bbr.model.cycle_index), (4000, 0));
    path.bbr.model.cycle_index = 2;
    path.round_with(4000, 4000, |delivery| delivery.recovering = true);
    assert_eq!(path.bbr.cwnd_bytes(), 8000);
    path.round(4000, 0);
    assert_eq!(path.bbr.cwnd_bytes(), cwnd_bytes);
}

#[test]
fn probe_rtt_holds_four_segments_for_200_ms_and_a_round_every_ten_seconds() {
    let mut path = Path::probing();
    path.bbr.model.min_rtt = Span::from_ms(99);
    path.bbr.model.min_rtt_stamp = path.now;
    for _ in 0..100 {
        assert!(!path.round_with(100_000, 90_000, |_| {}));
    }
    let cwnd_bytes = path.bbr.cwnd_bytes();
    // Ten seconds and more without a smaller one: the next is the smallest.
    assert!(path.round_with(100_000, 90_000, |_| {}));
    assert_eq!((path.bbr.cwnd_bytes(), path.bbr.state_name()), (4000, Some("probe_rtt")));
    assert_eq!((path.bbr.model.min_rtt, path.pacing_rate()), (RTT, 990_000));
    path.round(100_000, 4001);
    assert_eq!(path.bbr.model.probe_rtt_done_stamp, None);
    path.round(4000, 4000);
    let done = path.now + Span::from_ms(200);
    assert_eq!(path.bbr.model.probe_rtt_done_stamp, Some(done));
    path.round(4000, 4000);
    path.round(4000, 4000);
    assert_eq!((path.now, path.bbr.model.state), (done, State::ProbeRtt));
    // With its last acknowledgement, too, what is in flight says nothing of the rate.
    assert!(path.round_with(4000, 4000, |_| {}));
    assert_eq!((path.bbr.model.state, path.bbr.model.min_rtt_stamp), (State::ProbeBw, path.now));
    // Two segments more in the first phase.
    let most = if path.bbr.model.cycle_index == 0 { 308_000 } else { 306_000 };
    assert_eq!(path.bbr.cwnd_bytes(), most.min(cwnd_bytes + 4000));
    assert!(!path.round_with(4000, 4000, |_| {}));
}

#[test]
fn the_window_behind_probe_rtt_is_the_widest_that_was_kept() {
    let mut path = Path::probing();
    path.bbr.model.min_rtt_stamp = Time::ZERO;
    path.now = Time::ZERO + Span::from_secs(11);
    // Losses have taken the window down since it was kept.
    (path.bbr.cwnd_bytes, path.bbr.model.prior_cwnd) = (100_000, 250_000);
    path.round(1000, 4000);
    assert_eq!((path.bbr.model.state, path.bbr.cwnd_bytes()), (State::ProbeRtt, 4000));
    while path.bbr.model.state == State::ProbeRtt {
        path.round(4000, 4000);
    }
    assert_eq!(path.bbr.cwnd_bytes(), 254_000);
}

#[test]
fn acknowledgements_that_come_together_widen_the_window() {
    let mut path = Path::probing();
    let model = &mut *path.bbr.model;
    (model.extra_acked, model.ack_epoch_bytes, model.ack_epoch_stamp) = ([0, 0], 0, path.now);
    path.bbr.model.extra_acked_turn = 0;
    path.bbr.model.extra_acked_rounds = 0;
    // 100 ms bring what the rate says, and 30,000 octets more of the same round.
    path.round(100_000, 90_000);
    let together = |delivery: &mut Delivery| {
        delivery.now = Time::from_ns(delivery.now.as_ns() - RTT.as_ns());
        delivery.sample.prior_delivered = 0;
        delivery.sample.interval = Span::from_secs(1);
    };
    path.round_with(30_000, 60_000, together);
    // 100,000 octets at the beginning of an interval, and these.
    assert_eq!(path.bbr.model.extra_acked, [130_000, 0]);
    // The window has room for those of 100 ms at most: two products and one, and three bursts.
    path.bbr.cwnd_bytes = 400_000;
    path.round_with(1000, 60_000, together);
    assert_eq!(path.bbr.cwnd_bytes(), 306_000);
    // They are forgotten in the fifth round behind the next five.
    for _ in 0..10 {
        path.bbr.model.ack_epoch_bytes = 0;
        path.round(1000, 60_000);
    }
    assert!(
        path.bbr.model.extra_acked.iter().all(|&bytes| bytes < 100_000),
        "{:?}",
        path.bbr.model.extra_acked
    );
}

#[test]
fn behind_a_policer_the_rate_is_what_it_lets_through() {
    let mut path = Path::probing();
    // A quarter of what arrives is lost, round by round: two intervals of four rounds tell.
    for _ in 0..8 {
        assert_eq!(path.bbr.model.policer.bw(), None);
        path.lossy_round(80_000, 90_000, 20_000);
    }
    assert_eq!(path.bbr.model.policer.bw(), Some(800_000));
    path.bbr.model.cycle_index = 0;
    assert_eq!((path.bbr.model.pacing_gain(), path.pacing_rate()), (UNIT, 792_000));
    // A reduction that was needless tells of none.
    let before = path.bbr.clone();
    path.bbr.undo(before);
    assert_eq!((path.bbr.model.policer.bw(), path.bbr.model.full_bw), (None, 0));
}

#[test]
fn a_timeout_tells_the_search_for_a_policer_of_the_time_of_the_last_delivery() {
    let mut path = Path::probing();
    // The interval begins a second before the timer expires, whose round is its first.
    path.time_out(90_000);
    for _ in 0..3 {
        path.lossy_round(80_000, 90_000, 20_000);
    }
    // 240,000 octets in 1.3 s are 184,615 a second. The second interval has its last delivery behind 300 ms,
    // and its fourth round with the timer.
    for _ in 0..3 {
        path.lossy_round(18_500, 90_000, 5000);
    }
    assert_eq!(path.bbr.model.policer.bw(), None);
    path.time_out(90_000);
    assert_eq!(path.bbr.model.policer.bw(), Some(184_807));
}

#[test]
fn behind_a_silence_it_goes_on_at_the_rate_of_the_path() {
    let mut path = Path::probing();
    path.bbr.model.cycle_index = 0;
    path.round_with(100_000, 0, |delivery| delivery.sample.app_limited = true);
    path.bbr.on_idle_end(path.now + Span::from_secs(20), path.now);
    assert_eq!(path.pacing_rate(), 990_000);
    path.now += Span::from_secs(20);
    // Ten seconds have passed, but the silence has emptied the path: the round trip counts, without a probe.
    path.round_with(10_000, 0, |delivery| delivery.sample.app_limited = true);
    assert_eq!(path.bbr.model.state, State::ProbeBw);
    assert!(!path.bbr.model.idle_restart);
}

#[test]
fn a_burst_is_a_1024th_of_a_second_within_bounds() {
    let mut model = *Path::new().bbr.model;
    let mut burst = |rate, smss_bytes| {
        (model.pacing_rate, model.smss_bytes) = (rate, smss_bytes);
        model.burst_segments()
    };
    // From 1.2 Mb/s on at least two segments.
    assert_eq!((burst(149_999, 1000), burst(150_000, 1000)), (1, 2));
    assert_eq!((burst(3_071_999, 1000), burst(3_072_000, 1000)), (2, 3));
    // 65,215 octets, or 127 segments.
    assert_eq!((burst(u64::MAX, 1000), burst(u64::MAX, 500)), (65, 127));
}

#[test]
fn a_repair_of_short_segments_leaves_a_window_of_one_segment() {
    let mut path = Path::probing();
    path.lossy_round(300, 222, 1000);
    assert_eq!(path.bbr.cwnd_bytes(), 1000);
}
