//! A window law of the simulator's TCP behind the library's trait.
//!
//! The law keeps the rules of RFC 9002 that the library's controls have:
//! - It halts while packets from before the last reduction are acknowledged (section 7.3.2).
//! - It has two datagrams at least (7.2), and goes down to them in persistent congestion (7.6.2).
//!
//! Octets of whole datagrams take the place of TCP's segments, and the window at a loss that of its flight
//! (RFC 9002 section 7.3.2). A law that takes samples of the rate of delivery gets them from [`Packets`]. One
//! that counts marks is told of every acknowledgement with a mark that all of it was marked: a receiver
//! acknowledges a marked packet at once (RFC 9000 section 13.2.1), so that it covers two packets at most.

use super::Meter;
use super::packets::Packets;
use crate::clock;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::VegasThresholds;
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
    /// Packets from before then say nothing new of the path (RFC 9002 section 7.3.2).
    recovery_start: Option<Instant>,
    /// That reduction was for a loss, and no packet sent after it has been acknowledged.
    is_repairing: bool,
    /// Persistent congestion holds the window at two datagrams until a packet sent after it is acknowledged.
    is_collapsed: bool,
    /// Where the law asks for them.
    packets: Option<Packets>,
    last_sent: Time,
    /// Octets of the last acknowledgement, of which it is open whether it told of marks; and when it came.
    untold_bytes: u64,
    untold_at: Option<Instant>,
    meter: Arc<Meter>,
}

impl<L: CongestionControl> Law<L> {
    /// That of a path which begins at `now`: packets from before went over another (RFC 9000 section 9.4).
    pub(super) fn new(
        (initial_window_bytes, mtu): (u64, u16),
        (now, counts_round_trips): (Instant, bool),
        random: &Stream,
        meter: Arc<Meter>,
    ) -> Law<L> {
        let mut law = L::new(&Settings {
            initial_ssthresh_bytes: None,
            vegas: VegasThresholds::default(),
            fast_convergence: true,
            abe: false,
            law: None,
        });
        law.start(u64::from(mtu), initial_window_bytes);
        law.set_random(random);
        law.on_handshake(clock::simulated(now), None);
        let packets = (L::TAKES_SAMPLES || L::COUNTS_MARKS || counts_round_trips).then(Packets::default);
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

    /// Octets in flight as the law sees them at a reduction: the window (RFC 9002 section 7.3.2).
    fn flight_bytes(&self) -> u64 {
        self.law.cwnd_bytes()
    }

    /// The octets that are open were marked, or were not.
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
        if self.is_from_before(sent) {
            return;
        }
        self.is_collapsed = false;
        self.law.on_ack(&Ack {
            bytes,
            // Slow start counts every octet (RFC 9002 section 7.3.1).
            most_segments: bytes.div_ceil(self.mtu_bytes),
            // The time of the curve stops while the application limits the flight (RFC 9438 section 5.8).
            in_use_bytes: if app_limited { 0 } else { self.law.cwnd_bytes() },
            now: clock::simulated(now),
            srtt: Some(srtt),
            rtt: Some(Span::from_ns(now.saturating_duration_since(sent).as_nanos() as u64)),
            snd_una,
            snd_nxt,
            ..Ack::default()
        });
    }
}

impl<L: CongestionControl + Clone + Send + Sync + 'static> Controller for Law<L> {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let Some(packets) = &mut self.packets else { return };
        let now = clock::simulated(now);
        // The library tells of acknowledgements that it sends, too, which never leave the flight. Beside them
        // the meter has data alone.
        if packets.delivered_bytes() > 0 && self.meter.in_flight_bytes.load(Ordering::Relaxed) == 0 {
            packets.in_flight = 0;
        }
        if L::TAKES_SAMPLES && packets.in_flight == 0 && self.last_sent > Time::ZERO {
            self.law.on_idle_end(now, self.last_sent);
        }
        self.last_sent = now;
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
        if L::TAKES_SAMPLES {
            let is_recovering = |sent| recovery_start.is_some_and(|start| sent <= start);
            if let Some(delivery) = packets.delivery(clock::simulated(now), is_recovering) {
                self.is_repairing = delivery.recovering;
                if self.law.on_delivery(&delivery) {
                    packets.on_app_limited();
                }
            }
            self.tell();
        }
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
    use roamsim_protocols::tcp::congestion::Bbr;

    /// Counts the ends of idle times.
    #[derive(Clone)]
    struct Idle(usize);

    impl CongestionControl for Idle {
        const TAKES_SAMPLES: bool = true;

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

    /// The library holds a datagram back if the flight with it is not below what it is told.
    #[test]
    fn a_datagram_may_fill_the_window() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::default());
        let law = Law::<Bbr>::new((12_000, 1200), (at(0), true), &random, meter);
        assert_eq!([9, 10].map(|in_flight| in_flight * 1200 + 1200 < law.window()), [true, false]);
    }

    /// 50 datagrams are in flight, more than two when 40 are lost: BBR's own window is what is left.
    #[test]
    fn after_persistent_congestion_the_window_waits_for_what_is_sent_then() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::default());
        let mut law = Law::<Bbr>::new((100_000, 1200), (at(0), true), &random, meter);
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

    /// All data is acknowledged at 40 ms. Acknowledgements of the peer's response leave then, and are in
    /// flight for ever as the library tells it; the next request at 500 ms ends an idle time none the less.
    #[test]
    fn acknowledgements_that_it_sends_do_not_hide_an_idle_time() {
        let (random, meter) = (Stream::new(1, 0, "law"), Arc::<Meter>::default());
        let mut law = Law::<Idle>::new((12_000, 1200), (at(0), true), &random, Arc::clone(&meter));
        // As the library and the end of the connection tell of data.
        let send = |law: &mut Law<Idle>, ms| {
            law.on_sent(at(ms), 1200, 0);
            meter.in_flight_bytes.fetch_add(1200, Ordering::Relaxed);
        };
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
