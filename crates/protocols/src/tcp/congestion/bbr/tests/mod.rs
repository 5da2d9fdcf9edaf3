mod cases;

use super::*;
use crate::tcp::sent::RateSample;

const SMSS: u64 = 1000;
const RTT: Span = Span::from_ms(100);

/// A control of segments of 1000 octets that has seen a handshake of 100 ms at 0 s.
fn control() -> Bbr {
    let mut bbr = Bbr::new(&Settings::default());
    bbr.start(SMSS, 10 * SMSS);
    bbr.on_handshake(Time::ZERO, Some(RTT));
    bbr
}

/// The acknowledgement of a round of 100 ms that delivers `bytes`.
pub(in super::super) fn of_a_round(
    now: Time,
    bytes: u64,
    prior_delivered: u64,
    in_flight_bytes: u64,
) -> Delivery {
    let sample = RateSample {
        delivered_bytes: bytes,
        interval: RTT,
        prior_delivered,
        in_flight_at_sent: bytes,
        ..RateSample::default()
    };
    Delivery {
        now,
        sample,
        rtt: Some(RTT),
        newly_acked_bytes: bytes,
        delivered_bytes: prior_delivered + bytes,
        in_flight_bytes,
        recovering: false,
    }
}

/// Rounds of 100 ms, of one acknowledgement each.
struct Path {
    bbr: Bbr,
    now: Time,
    delivered: u64,
}

impl Path {
    fn new() -> Path {
        Path { bbr: control(), now: Time::ZERO, delivered: 0 }
    }

    /// A round that delivers so many octets, and leaves so many in flight; `edit` changes the rest.
    fn round_with(&mut self, bytes: u64, in_flight: u64, edit: impl FnOnce(&mut Delivery)) {
        let prior_delivered = self.delivered;
        self.now += RTT;
        self.delivered += bytes;
        let mut delivery = of_a_round(self.now, bytes, prior_delivered, in_flight);
        edit(&mut delivery);
        self.bbr.on_delivery(&delivery);
    }

    fn round(&mut self, bytes: u64, in_flight: u64) {
        self.round_with(bytes, in_flight, |_| {});
    }

    fn state(&self) -> State {
        self.bbr.model.state
    }

    /// Rounds of 100,000 octets until a state begins; their number.
    fn until(&mut self, state: State, in_flight: u64) -> usize {
        let mut rounds = 0;
        while self.state() != state {
            self.round(100_000, in_flight);
            rounds += 1;
            assert!(rounds < 100, "{:?} in place of {state:?}", self.state());
        }
        rounds
    }

    /// In ProbeBW_CRUISE with 100,000 octets in a round: 1 MB/s.
    fn cruising() -> Path {
        let mut path = Path::new();
        [10_000, 20_000, 40_000, 80_000, 100_000].iter().for_each(|bytes| path.round(*bytes, 2 * bytes));
        (0..4).for_each(|_| path.round(100_000, 200_000));
        assert_eq!(path.state(), State::Drain);
        path.round(100_000, 90_000);
        assert_eq!(path.state(), State::ProbeBwCruise);
        path
    }

    /// Behind as many rounds as it takes, in ProbeBW_UP.
    fn probing() -> Path {
        let mut path = Path::cruising();
        path.until(State::ProbeBwUp, 100_000);
        path
    }
}

#[test]
fn startup_doubles_and_ends_after_three_rounds_without_a_quarter_more() {
    let mut path = Path::new();
    // 10,000 octets in 100 ms, times 2.77.
    assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(277_000));
    // 100,000 octets a second: 2.77 of 0.99 of it are less than that, which stays until the pipe is full.
    path.round(10_000, 20_000);
    assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(277_000));
    path.round(20_000, 40_000);
    assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(548_460));
    // 1.25 of it is growth; 1.24 is not, and counts against the last that was.
    path.round(25_000, 50_000);
    path.round(31_000, 60_000);
    path.round(31_000, 60_000);
    assert_eq!((path.state(), path.bbr.model.full_bw_count), (State::Startup, 2));
    assert_eq!(path.bbr.ssthresh_bytes(), u64::MAX);
    path.round(31_000, 60_000);
    assert_eq!(path.state(), State::Drain);
    // 310,000 * 0.99, halved.
    assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(153_450));
    assert_eq!(path.bbr.ssthresh_bytes(), path.bbr.cwnd_bytes());
}

#[test]
fn aggregation_counts_for_ten_rounds_and_for_one_before_the_pipe_is_full() {
    let lasts = |mut path: Path, bytes: u64| {
        let round = |path: &mut Path, acked| {
            path.round_with(bytes, bytes, |delivery| delivery.newly_acked_bytes = acked);
            path.bbr.model.extra_acked
        };
        let burst = round(&mut path, bytes + bytes / 2);
        assert_eq!(burst, bytes + bytes / 2);
        (0..20).take_while(|_| round(&mut path, bytes / 4) == burst).count()
    };
    assert_eq!(lasts(Path::cruising(), 100_000), 10);
    let mut filling = Path::new();
    filling.round(20_000, 20_000);
    assert_eq!(lasts(filling, 10_000), 1);
}

#[test]
fn rounds_that_the_application_limits_do_not_end_startup() {
    let mut path = Path::new();
    for _ in 0..10 {
        path.round_with(10_000, 10_000, |delivery| delivery.sample.app_limited = true);
    }
    assert_eq!(path.state(), State::Startup);
}

#[test]
fn drain_ends_with_the_product_in_flight_or_in_the_fourth_round() {
    let drained = |in_flight: u64| {
        let mut path = Path::new();
        (0..4).for_each(|_| path.round(100_000, 200_000));
        assert_eq!(path.state(), State::Drain);
        (1..10)
            .find(|_| {
                path.round(100_000, in_flight);
                path.state() != State::Drain
            })
            .map(|rounds| (rounds, path.state()))
    };
    // What is in flight lets DOWN end at once as well.
    assert_eq!(drained(100_000), Some((1, State::ProbeBwCruise)));
    assert_eq!(drained(100_001), Some((4, State::ProbeBwDown)));
}

#[test]
fn a_startup_with_six_lost_ranges_above_two_per_cent_ends() {
    let lossy = |ranges: u64, lost: u64| {
        let mut path = Path::new();
        path.round(50_000, 100_000);
        let losses: Vec<Lost> = (0..ranges)
            .map(|i| Lost { start: 4000 * i + 1, end: 4000 * i + 1001, ..Lost::default() })
            .collect();
        path.bbr.on_losses(&losses, 80_000, path.delivered, path.now);
        path.round_with(100_000, 80_000, |delivery| {
            delivery.recovering = true;
            delivery.sample.lost_since_sent = lost;
        });
        (path.state(), path.bbr.model.inflight_longterm)
    };
    assert_eq!(lossy(6, 2001).0, State::Drain);
    // The larger of the product, 50,000 before this round, and what was delivered.
    assert_eq!(lossy(6, 2001).1, 100_000);
    assert_eq!(lossy(5, 2001).0, State::Startup);
    assert_eq!(lossy(6, 2000).0, State::Startup);
}

#[test]
fn a_loss_while_cruising_takes_the_rate_down_to_what_arrives_but_not_below_seven_tenths() {
    for (arrives, bw) in [(95_000, 950_000), (60_000, 700_000)] {
        let mut path = Path::cruising();
        // The rates of the round before count until a loss round has ended.
        path.round(arrives, 90_000);
        let lost = Lost { start: 1, end: 1001, ..Lost::default() };
        path.bbr.on_losses(&[lost], 90_000, path.delivered, path.now);
        path.round(arrives, 90_000);
        assert_eq!(path.bbr.model.bw, bw);
        assert_eq!(path.bbr.model.inflight_longterm, NONE);
    }
}

#[test]
fn probing_raises_rate_and_window_and_ends_where_the_rate_does_not_grow() {
    let mut path = Path::probing();
    // 1,000,000 * 1.25 * 0.99; 2.25 products, aggregation of a round, and two segments.
    assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(1_237_500));
    let gained = path.bbr.model.quantized(225_000 + path.bbr.model.extra_acked);
    assert_eq!(gained, 227_000 + path.bbr.model.extra_acked);
    for _ in 0..2 {
        path.round(100_000, 125_000);
        assert_eq!(path.state(), State::ProbeBwUp);
    }
    path.round(100_000, 125_000);
    assert_eq!(path.state(), State::ProbeBwDown);
    assert_eq!(path.bbr.pacing_rate_bytes_per_s(), Some(891_000));
}

#[test]
fn losses_above_two_per_cent_while_probing_bound_the_flight_and_caution_follows() {
    let mut path = Path::probing();
    let lost = |lost_since_sent| Lost {
        start: 1,
        end: 1001,
        in_flight_at_sent: 120_000,
        lost_since_sent,
        app_limited: false,
    };
    path.bbr.on_losses(&[lost(2400)], 110_000, path.delivered, path.now);
    assert_eq!((path.state(), path.bbr.model.inflight_longterm), (State::ProbeBwUp, NONE));
    path.bbr.on_losses(&[lost(2401)], 110_000, path.delivered, path.now);
    // 119,000 before it, of which 1401 were lost: (2380 - 1401) / 0.98 more cross the threshold.
    assert_eq!((path.state(), path.bbr.model.inflight_longterm), (State::ProbeBwDown, 119_998));
    assert!(path.bbr.model.prev_probe_too_high);
    // Headroom: 0.85 of it while cruising.
    path.round(100_000, 95_000);
    assert_eq!((path.state(), path.bbr.cwnd_bytes()), (State::ProbeBwCruise, 101_999));
    // The next probe stops where the flight reaches the bound, and another follows at once.
    path.bbr.model.probe_rtt_min_stamp = path.now;
    path.until(State::ProbeBwUp, 100_000);
    path.round(100_000, 119_998);
    assert_eq!(path.state(), State::ProbeBwDown);
    path.round(100_000, 119_998);
    assert_eq!(path.state(), State::ProbeBwRefill);
}

#[test]
fn the_bound_on_the_flight_is_raised_by_one_two_and_four_segments() {
    let mut path = Path::probing();
    path.bbr.model.inflight_longterm = 100_000;
    path.bbr.cwnd_bytes = 100_000;
    path.bbr.model.probe_up_acked_per_inc = 100_000;
    for bound in [101_000, 103_000, 107_000] {
        path.bbr.on_sent(path.bbr.cwnd_bytes);
        // The acknowledgements of a round that do not raise the bound tell that it limits the rate.
        path.bbr.model.full_bw_count = 0;
        let in_use = path.bbr.cwnd_bytes;
        // A window is acknowledged: as many octets as it takes for each segment of growth.
        path.round_with(100_000, in_use - 1, |delivery| delivery.newly_acked_bytes = in_use);
        assert_eq!((path.state(), path.bbr.model.inflight_longterm), (State::ProbeBwUp, bound));
    }
}

#[test]
fn a_needless_recovery_gives_window_and_probe_back() {
    let mut path = Path::probing();
    let (cwnd, before) = (path.bbr.cwnd_bytes(), path.bbr.clone());
    let lost =
        Lost { start: 1, end: 1001, in_flight_at_sent: 20_000, lost_since_sent: 1000, app_limited: false };
    path.bbr.on_losses(&[lost], 110_000, path.delivered, path.now);
    path.bbr.on_congestion(Cause::FastRetransmit { flight_bytes: 110_000 });
    path.round_with(50_000, 20_000, |delivery| delivery.recovering = true);
    assert!(path.bbr.cwnd_bytes() < cwnd && path.state() != State::ProbeBwUp);
    path.bbr.undo(before);
    assert_eq!((path.bbr.cwnd_bytes(), path.bbr.model.inflight_longterm), (cwnd, NONE));
    assert_eq!(path.state(), State::ProbeBwRefill);
}

#[test]
fn a_timeout_leaves_room_for_a_segment_and_its_end_gives_the_window_back() {
    let mut path = Path::cruising();
    let lost = Lost { start: 1, end: 80_001, ..Lost::default() };
    path.bbr.on_losses(&[lost], 10_000, path.delivered, path.now);
    path.bbr.on_congestion(Cause::Timeout { flight_bytes: 90_000, repeated: false, repairing: false });
    assert_eq!(path.bbr.cwnd_bytes(), 11_000);
    path.round_with(2000, 10_000, |delivery| delivery.recovering = true);
    assert_eq!(path.bbr.cwnd_bytes(), 13_000);
    path.round(2000, 10_000);
    // The window of before, bounded by what was delivered in the round of the loss: inflight_shortterm.
    assert_eq!(path.bbr.cwnd_bytes(), 100_000);
}

#[test]
fn the_smallest_round_trip_of_ten_seconds_counts() {
    let mut path = Path::cruising();
    path.round_with(100_000, 90_000, |delivery| delivery.rtt = Some(Span::from_ms(90)));
    assert_eq!(path.bbr.model.min_rtt, Span::from_ms(90));
    let since = path.now;
    for _ in 0..100 {
        assert!(path.now <= since + MIN_RTT_FILTER);
        assert_eq!(path.bbr.model.min_rtt, Span::from_ms(90));
        path.round(100_000, 90_000);
    }
    path.round(100_000, 90_000);
    assert_eq!(path.bbr.model.min_rtt, Span::from_ms(100));
}
