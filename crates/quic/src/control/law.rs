//! A window law of the simulator's TCP behind the library's congestion control trait.
//!
//! It adds two rules of RFC 9002 that the library's own controls have:
//! - The window does not grow while packets sent before the last reduction are acknowledged (section 7.3.2).
//! - The window has at least two datagrams (7.2), and persistent congestion reduces it to two (7.6.2).
//!
//! Datagrams replace TCP's segments. A loss reduces from the window, not from the flight (section 7.3.2). A
//! law that uses samples of the delivery rate gets them from [`Packets`]. A law that counts marks takes all
//! octets of an acknowledgement with a mark as marked. These are two packets at most, because a receiver
//! acknowledges a marked packet at once (RFC 9000 section 13.2.1).

use super::Meter;
use super::packets::Packets;
use crate::clock;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::congestion::{Ack, Cause, CongestionControl, Settings};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A law, and what it needs to know of the path.
#[derive(Clone)]
pub(super) struct Law<L> {
    law: L,
    initial_window_bytes: u64,
    mtu_bytes: u64,
    /// The last reduction: losses of packets sent before it cause no further one (RFC 9002 section 7.3.2).
    recovery_start: Option<Instant>,
    /// The reduction was for a loss, and no packet sent after it has been acknowledged.
    is_repairing: bool,
    /// Persistent congestion holds the window at two datagrams until a packet sent after it is acknowledged.
    is_collapsed: bool,
    /// Only for laws that follow packets.
    packets: Option<Packets>,
    last_sent: Time,
    /// Octets and instant of the last acknowledgement, until it is known whether it has marks.
    untold_bytes: u64,
    untold_at: Option<Instant>,
    meter: Arc<Meter>,
}

impl<L: CongestionControl> Law<L> {
    /// For a path that begins at `now`: earlier packets took another path (RFC 9000 section 9.4).
    pub(super) fn new(
        (initial_window_bytes, mtu): (u64, u16),
        now: Instant,
        random: &Stream,
        settings: &Settings,
        meter: Arc<Meter>,
    ) -> Law<L> {
        let mut law = L::new(settings);
        law.start(u64::from(mtu), initial_window_bytes);
        law.set_random(random);
        law.on_handshake(clock::simulated(now), None);
        let packets = L::FOLLOWS_PACKETS.then(Packets::default);
        let law = Law {
            law,
            initial_window_bytes,
            mtu_bytes: u64::from(mtu),
            recovery_start: Some(now),
            is_repairing: false,
            is_collapsed: false,
            packets,
            last_sent: Time::ZERO,
            untold_bytes: 0,
            untold_at: None,
            meter,
        };
        law.tell();
        law
    }

    fn is_from_before(&self, sent: Instant) -> bool {
        self.recovery_start.is_some_and(|start| sent <= start)
    }

    fn min_window_bytes(&self) -> u64 {
        2 * self.mtu_bytes
    }

    fn window_bytes(&self) -> u64 {
        match self.is_collapsed {
            true => self.min_window_bytes(),
            false => self.law.cwnd_bytes().max(self.min_window_bytes()),
        }
    }

    fn tell(&self) {
        let rate = self.law.pacing_rate_bytes_per_s().unwrap_or(0);
        self.meter.pacing_rate_bytes_per_s.store(rate, Ordering::Relaxed);
    }

    /// The flight that a law reduces from: the window (RFC 9002 section 7.3.2).
    fn flight_bytes(&self) -> u64 {
        self.law.cwnd_bytes()
    }

    /// Passes the held-back acknowledgement to the law, as marked or not.
    fn settle(&mut self, marked: bool) {
        let bytes = std::mem::take(&mut self.untold_bytes);
        if let Some(packets) = self.packets.as_ref().filter(|_| bytes > 0) {
            self.law.on_acked_marks(bytes, marked, packets.acked_to, packets.sent_bytes);
        }
    }

    fn acknowledge(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, srtt: Span) {
        let (mut snd_una, mut snd_nxt) = (0, 0);
        if let Some(packets) = &mut self.packets {
            packets.on_ack(clock::simulated(now), clock::simulated(sent), bytes);
            (snd_una, snd_nxt) = (packets.acked_to, packets.sent_bytes);
        }
        if L::COUNTS_MARKS {
            if self.untold_at != Some(now) {
                self.settle(false);
                self.untold_at = Some(now);
            }
            self.untold_bytes += bytes;
        }
        let may_grow = !self.is_from_before(sent);
        self.is_collapsed &= !may_grow;
        self.law.on_ack(&Ack {
            bytes,
            may_grow,
            // Slow start counts every octet (RFC 9002 section 7.3.1).
            most_segments: bytes.div_ceil(self.mtu_bytes),
            // The time of the curve stops while the application limits the flight (RFC 9438 section 5.8).
            in_use_bytes: if app_limited { 0 } else { self.law.cwnd_bytes() },
            now: clock::simulated(now),
            srtt: Some(srtt),
            rtt: Some(Span::from_ns(now.saturating_duration_since(sent).as_nanos() as u64)),
            snd_una,
            snd_nxt,
        });
    }
}

impl<L: CongestionControl + Clone + Send + Sync + 'static> Controller for Law<L> {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let now = clock::simulated(now);
        // The library tells of acknowledgements that it sends, too, which never leave the flight. Beside them
        // the meter has data alone.
        let mut has_no_flight = self.meter.in_flight_bytes.load(Ordering::Relaxed) == 0;
        if let Some(packets) = &mut self.packets {
            if packets.delivered_bytes() > 0 && has_no_flight {
                packets.in_flight = 0;
            }
            has_no_flight = packets.in_flight == 0;
        }
        if has_no_flight && self.last_sent > Time::ZERO {
            self.law.on_idle_end(now, self.last_sent);
        }
        self.last_sent = now;
        let Some(packets) = &mut self.packets else { return };
        packets.on_sent(now, bytes, self.law.cwnd_bytes());
        self.law.on_sent(packets.in_flight);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.acknowledge(now, sent, bytes, app_limited, Span::from_ns(rtt.get().as_nanos() as u64));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        let recovery_start = self.recovery_start.filter(|_| self.is_repairing).map(clock::simulated);
        let Some(packets) = &mut self.packets else { return };
        packets.in_flight = in_flight;
        if app_limited {
            packets.on_app_limited();
        }
        let is_recovering = |sent| recovery_start.is_some_and(|start| sent <= start);
        if let Some(delivery) = packets.delivery(clock::simulated(now), is_recovering) {
            self.is_repairing = delivery.recovering;
            if self.law.on_delivery(&delivery) {
                packets.on_app_limited();
            }
        }
        self.tell();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        // The library tells of no octets where a queue has marked.
        let is_marked = lost_bytes == 0;
        if L::COUNTS_MARKS && is_marked {
            self.settle(true);
        }
        if let Some(packets) = self.packets.as_mut().filter(|_| !is_marked) {
            let lost = packets.on_loss(clock::simulated(sent), lost_bytes);
            self.law.on_losses(&[lost], packets.in_flight, packets.delivered_bytes(), clock::simulated(now));
        }
        if self.is_from_before(sent) {
            return;
        }
        self.recovery_start = Some(now);
        self.is_repairing = !is_marked;
        let flight_bytes = self.flight_bytes();
        let cause = match is_marked {
            true => Cause::EcnEcho { flight_bytes },
            false => Cause::FastRetransmit { flight_bytes },
        };
        self.law.on_congestion_at(cause, clock::simulated(now));
        self.meter.mark_reductions.fetch_add(u64::from(is_marked), Ordering::Relaxed);
        if is_persistent {
            let flight_bytes = self.flight_bytes();
            let cause = Cause::Timeout { flight_bytes, repeated: true, repairing: false };
            self.law.on_congestion_at(cause, clock::simulated(now));
            self.law.on_recovered(self.min_window_bytes());
            // BBR takes no window from outside: its own is what is in flight.
            self.is_collapsed = true;
        }
        self.tell();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu_bytes = u64::from(new_mtu);
        self.law.set_smss(self.mtu_bytes);
        if self.law.cwnd_bytes() < self.min_window_bytes() {
            self.law.on_recovered(self.min_window_bytes());
        }
    }

    /// A datagram may fill the window (RFC 9002 section 7), for which the library wants an octet more.
    fn window(&self) -> u64 {
        self.window_bytes().saturating_add(1)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window_bytes();
        metrics.ssthresh = Some(self.law.ssthresh_bytes()).filter(|&bytes| bytes < u64::MAX);
        metrics.pacing_rate = self.law.pacing_rate_bytes_per_s().map(|rate| rate.saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window_bytes
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_protocols::tcp::congestion::{Bbr, Cubic, CubicLinux, Reno};

    /// Counts the ends of idle times.
    #[derive(Clone)]
    struct Idle(usize);

    impl CongestionControl for Idle {
        const NAME: &str = "idle";
        const ABOUT: Option<&str> = None;

        fn new(_settings: &Settings) -> Idle {
            Idle(0)
        }

        fn start(&mut self, _smss_bytes: u64, _initial_window_bytes: u64) {}

        fn set_smss(&mut self, _bytes: u64) {}

        fn cwnd_bytes(&self) -> u64 {
            12_000
        }

        fn ssthresh_bytes(&self) -> u64 {
            u64::MAX
        }

        fn on_ack(&mut self, _ack: &Ack) {}

        fn on_congestion(&mut self, _cause: Cause) {}

        fn on_recovered(&mut self, _cwnd_bytes: u64) {}

        fn on_idle_end(&mut self, _now: Time, _last_sent_at: Time) {
            self.0 += 1;
        }
    }

    fn at(ms: u64) -> Instant {
        clock::instant(Time::ZERO + Span::from_ms(ms))
    }

    /// The calls by which the library and the endpoint report data.
    fn send<L: CongestionControl + Clone + Send + Sync + 'static>(law: &mut Law<L>, ms: u64) {
        law.on_sent(at(ms), 1200, 0);
        law.meter.in_flight_bytes.fetch_add(1200, Ordering::Relaxed);
    }

    /// All that is in flight, sent then, is acknowledged.
    fn acknowledge_all<L: CongestionControl + Clone + Send + Sync + 'static>(
        law: &mut Law<L>,
        ms: u64,
        sent_ms: u64,
    ) {
        let bytes = law.meter.in_flight_bytes.swap(0, Ordering::Relaxed);
        law.acknowledge(at(ms), at(sent_ms), bytes, false, Span::from_ms(100));
        law.on_end_acks(at(ms), 0, false, None);
    }

    /// The window in datagrams after a loss from 100, a pause of 5 s, and a full window of data behind it.
    fn datagrams_after_a_pause<L: CongestionControl + Clone + Send + Sync + 'static>() -> f64 {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::<Meter>::default());
        let mut law = Law::<L>::new((120_000, 1200), at(0), &random, &Settings::default(), meter);
        law.on_congestion_event(at(500), at(400), false, 1200);
        assert_eq!(law.window_bytes(), 70 * 1200);
        // The stage begins at 1 s.
        send(&mut law, 900);
        acknowledge_all(&mut law, 1000, 900);
        (0..70).for_each(|_| send(&mut law, 6000));
        acknowledge_all(&mut law, 6100, 6000);
        law.window_bytes() as f64 / 1200.0
    }

    /// RFC 9438 section 5.8: 0.1 s of the stage have passed, not 5.1 s. K = cbrt((100 - 70) / 0.4) = 4.217 s.
    /// A round trip of 70 datagrams leads to W_cubic(0.1 s + 0.1 s) = 100 - 0.4 x 4.017^3 = 74.07. With the
    /// pause it would lead to 100.4. The first datagram had added 0.03.
    #[test]
    fn a_pause_is_not_part_of_the_time_of_cubic() {
        let datagrams = datagrams_after_a_pause::<Cubic>();
        assert!((74.0..74.2).contains(&datagrams), "{datagrams}");
    }

    /// Whole segments: 100 - 25 = 75 are the target, so each 70 / 5 = 14 of 71 acknowledged add one. With the
    /// pause the target would be 100, and 35 would be added.
    #[test]
    fn a_pause_is_not_part_of_the_time_of_linux_cubic() {
        assert_eq!(datagrams_after_a_pause::<CubicLinux>(), 75.0);
    }

    /// Linux's CUBIC aims at the window one smallest round trip ahead, and measures it during repairs, too.
    /// At 20 ms that is 100 - 29 = 71 datagrams when the epoch begins, at 100 ms it is 100 - 27 = 73.
    #[test]
    fn round_trips_during_a_repair_count_for_linux_cubic() {
        for (rtt_ms, datagrams) in [(20, 71), (100, 73)] {
            let (random, meter) = (Stream::new(1, 0, "law"), Arc::<Meter>::default());
            let mut law =
                Law::<CubicLinux>::new((120_000, 1200), at(0), &random, &Settings::default(), meter);
            law.acknowledge(at(101), at(1), 1200, true, Span::from_ms(100));
            law.on_congestion_event(at(500), at(400), false, 1200);
            law.acknowledge(at(500 + rtt_ms), at(500), 1200, false, Span::from_ms(100));
            (0..70).for_each(|_| send(&mut law, 600 + rtt_ms));
            acknowledge_all(&mut law, 700 + rtt_ms, 600 + rtt_ms);
            assert_eq!(law.window_bytes(), datagrams * 1200);
        }
    }

    /// RFC 9438 section 4.6 asks this of a law that reduces from its window and not from the flight.
    #[test]
    fn a_window_that_the_application_limits_does_not_grow() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::<Meter>::default());
        let mut law = Law::<CubicLinux>::new((12_000, 1200), at(0), &random, &Settings::default(), meter);
        for (ms, app_limited, bytes) in [(200, true, 12_000), (300, false, 24_000)] {
            law.acknowledge(at(ms), at(ms - 100), 12_000, app_limited, Span::from_ms(100));
            assert_eq!(law.window_bytes(), bytes);
        }
    }

    /// The library holds a datagram back unless the flight with it is below the window that it gets.
    #[test]
    fn a_datagram_may_fill_the_window() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::default());
        let law = Law::<Bbr>::new((12_000, 1200), at(0), &random, &Settings::default(), meter);
        assert_eq!([9, 10].map(|in_flight| in_flight * 1200 + 1200 < law.window()), [true, false]);
    }

    /// 40 of 50 datagrams in flight are lost. BBR's own window is then the rest, more than two datagrams.
    #[test]
    fn after_persistent_congestion_the_window_waits_for_what_is_sent_then() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::default());
        let mut law = Law::<Bbr>::new((100_000, 1200), at(0), &random, &Settings::default(), meter);
        (1..=50).for_each(|ms| law.on_sent(at(ms), 1200, ms));
        law.on_congestion_event(at(999), at(40), true, 40 * 1200);
        assert_eq!((law.window_bytes(), law.law.cwnd_bytes()), (2400, 11 * 1200));
        law.acknowledge(at(1000), at(50), 1200, false, Span::from_ms(40));
        law.on_end_acks(at(1000), 9 * 1200, false, None);
        assert_eq!(law.window_bytes(), 2400);
        law.on_sent(at(1001), 1200, 51);
        law.acknowledge(at(1041), at(1001), 1200, false, Span::from_ms(40));
        law.on_end_acks(at(1041), 9 * 1200, false, None);
        assert!(law.window_bytes() > 2400, "{}", law.window_bytes());
    }

    /// Slow start goes on from two datagrams (RFC 9002 section 7.6.2), where TCP's begins at one segment.
    #[test]
    fn after_persistent_congestion_the_window_grows_from_two_datagrams() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::default());
        let mut law = Law::<Reno>::new((100_000, 1200), at(0), &random, &Settings::default(), meter);
        law.on_congestion_event(at(999), at(40), true, 1200);
        law.acknowledge(at(1041), at(1001), 1200, false, Span::from_ms(40));
        assert_eq!(law.window_bytes(), 3 * 1200);
    }

    /// All data is acknowledged at 40 ms. Acknowledgements of the peer's response leave then, and the library
    /// counts them in flight for ever. The next request at 500 ms still ends an idle time.
    #[test]
    fn acknowledgements_that_it_sends_do_not_hide_an_idle_time() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::<Meter>::default());
        let mut law =
            Law::<Idle>::new((12_000, 1200), at(0), &random, &Settings::default(), Arc::clone(&meter));
        send(&mut law, 1);
        send(&mut law, 2);
        assert_eq!(law.law.0, 0);
        for sent_ms in [1, 2] {
            law.acknowledge(at(40), at(sent_ms), 1200, true, Span::from_ms(40));
        }
        meter.in_flight_bytes.store(0, Ordering::Relaxed);
        law.on_end_acks(at(40), 0, true, None);
        (41..60).for_each(|ms| law.on_sent(at(ms), 40, 0));
        let before = law.law.0;
        send(&mut law, 500);
        assert_eq!(law.law.0, before + 1);
        send(&mut law, 501);
        assert_eq!(law.law.0, before + 1);
    }
}
