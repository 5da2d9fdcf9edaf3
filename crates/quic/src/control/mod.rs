//! Congestion controls behind the library's trait: its own NewReno, and the laws that TCP has here.
//!
//! A law is written once, in `roamsim_protocols::tcp::congestion`; `law` hands it what the library tells.
//! Each row of the table there is a law here, and no list names them again.

mod law;
mod packets;

use law::Law;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, NewRenoConfig};
use roamsim_engine::Stream;
use roamsim_protocols::tcp::congestion::{self, CongestionControl, Visitor};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The rule for the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// NewReno by RFC 9002 section 7: the library's.
    NewReno,
    /// One of the simulator's. [`Settings::law`](crate::Settings::law) makes the law of another crate.
    Law(congestion::Kind),
}

/// What the control of a path tells the end of the connection.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Periods of persistent congestion.
    pub(crate) timeouts: AtomicU64,
    /// Octets in flight as of the last acknowledgement.
    pub(crate) in_flight_bytes: AtomicU64,
    /// Acknowledgements that told of marks, and those for which a control reduced its window. Prague's falls
    /// with later acknowledgements.
    pub(crate) mark_events: AtomicU64,
    pub(crate) mark_reductions: AtomicU64,
    /// The rate of a law that has one of its own; 0 without.
    pub(crate) pacing_rate_bytes_per_s: AtomicU64,
    /// Paths so far.
    paths: AtomicU64,
}

/// Makes the control of each path.
pub(crate) struct Factory {
    pub(crate) kind: Kind,
    /// Those of a law.
    pub(crate) settings: congestion::Settings,
    pub(crate) initial_window_bytes: u64,
    /// What laws draw comes from children of it, one a path.
    pub(crate) random: Stream,
    pub(crate) meter: Arc<Meter>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let path = self.meter.paths.fetch_add(1, Ordering::Relaxed);
        let control: Box<dyn Controller> = match self.kind {
            Kind::NewReno => {
                let mut config = NewRenoConfig::default();
                config.initial_window(self.initial_window_bytes);
                Arc::new(config).build(now, current_mtu)
            }
            Kind::Law(kind) => {
                let random = self.random.child(path);
                kind.visit(Path { factory: &self, now, mtu: current_mtu, random })
            }
        };
        let is_librarys = self.kind == Kind::NewReno;
        Box::new(Metered { control, is_librarys, meter: Arc::clone(&self.meter) })
    }
}

/// A path that a law is made for.
struct Path<'f> {
    factory: &'f Factory,
    now: Instant,
    mtu: u16,
    random: Stream,
}

impl Visitor for Path<'_> {
    type Output = Box<dyn Controller>;

    fn visit<L: CongestionControl + Clone + Send + Sync + 'static>(self) -> Box<dyn Controller> {
        let Factory { initial_window_bytes, settings, meter, .. } = self.factory;
        let (window, meter) = ((*initial_window_bytes, self.mtu), Arc::clone(meter));
        Box::new(Law::<L>::new(window, self.now, &self.random, settings, meter))
    }
}

/// A control that keeps the meter.
struct Metered {
    control: Box<dyn Controller>,
    /// The library's, which tells of a reduction by its window alone. A [`Law`] counts its own.
    is_librarys: bool,
    meter: Arc<Meter>,
}

impl Controller for Metered {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.control.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.control.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.meter.in_flight_bytes.store(in_flight, Ordering::Relaxed);
        self.control.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        let before_bytes = self.control.window();
        self.control.on_congestion_event(now, sent, is_persistent, lost_bytes);
        self.meter.timeouts.fetch_add(u64::from(is_persistent), Ordering::Relaxed);
        // The library tells of no octets where a queue has marked.
        if lost_bytes == 0 {
            self.meter.mark_events.fetch_add(1, Ordering::Relaxed);
            let has_reduced = self.is_librarys && self.control.window() < before_bytes;
            self.meter.mark_reductions.fetch_add(u64::from(has_reduced), Ordering::Relaxed);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.control.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.control.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.control.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let (control, meter) = (self.control.clone_box(), Arc::clone(&self.meter));
        Box::new(Metered { control, is_librarys: self.is_librarys, meter })
    }

    fn initial_window(&self) -> u64 {
        self.control.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.control.into_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use congestion::Kind as Tcp;
    use roamsim_engine::{Span, Time};

    fn at(ms: u64) -> Instant {
        clock::instant(Time::ZERO + Span::from_ms(ms))
    }

    fn window_bytes(control: &dyn Controller) -> u64 {
        control.metrics().congestion_window
    }

    fn control(kind: Kind, initial_window_bytes: u64, begin: Instant) -> (Box<dyn Controller>, Arc<Meter>) {
        let (random, meter) = (Stream::new(1, 0, "control"), Arc::<Meter>::default());
        let factory = Factory {
            kind,
            settings: congestion::Settings::default(),
            initial_window_bytes,
            random,
            meter: Arc::clone(&meter),
        };
        (Arc::new(factory).build(begin, 1200), meter)
    }

    /// 0.7 of the window after a loss; two datagrams in persistent congestion (RFC 9002 section 7.6.2), which
    /// is counted. A loss from before the last reduction changes nothing (section 7.3.2).
    #[test]
    fn cubic_falls_by_three_tenths_and_in_persistent_congestion_to_two_datagrams() {
        let (mut control, meter) = control(Kind::Law(Tcp::Cubic), 100_000, at(0));
        control.on_congestion_event(at(50), at(10), false, 1200);
        assert_eq!(window_bytes(&*control), 70_000);
        control.on_congestion_event(at(60), at(50), false, 1200);
        assert_eq!(window_bytes(&*control), 70_000);
        control.on_congestion_event(at(99), at(90), true, 1200);
        assert_eq!((window_bytes(&*control), meter.timeouts.load(Ordering::Relaxed)), (2400, 1));
    }

    /// RFC 9002 section 7.6.2, with more in flight than the minimum: BBR, whose window after a timeout of
    /// TCP is the flight, has no more.
    #[test]
    fn every_law_falls_to_two_datagrams_in_persistent_congestion() {
        let laws = Tcp::ALL.iter().map(|kind| Kind::Law(*kind));
        for kind in laws.chain([Kind::NewReno]) {
            let (mut control, meter) = control(kind, 100_000, at(0));
            (1..=50).for_each(|ms| control.on_sent(at(ms), 1200, ms));
            control.on_congestion_event(at(999), at(40), true, 1200);
            assert_eq!(
                (window_bytes(&*control), meter.timeouts.load(Ordering::Relaxed)),
                (2400, 1),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_loss_on_the_path_before_does_not_count_for_the_new_one() {
        let (mut control, _) = control(Kind::Law(Tcp::Cubic), 12_000, at(100));
        control.on_congestion_event(at(150), at(50), false, 1200);
        assert_eq!(window_bytes(&*control), 12_000);
        control.on_congestion_event(at(250), at(120), false, 1200);
        assert_eq!(window_bytes(&*control), 8400);
    }

    /// Each law by its own decrease: Reno half (RFC 5681), CUBIC three tenths (RFC 9438), Vegas a quarter
    /// (Hengartner et al. 2000), BBR none for a single loss.
    #[test]
    fn a_loss_reduces_the_window_as_the_law_says() {
        for (kind, left_bytes) in [
            (Kind::NewReno, 50_000),
            (Kind::Law(Tcp::Reno), 50_000),
            (Kind::Law(Tcp::Cubic), 70_000),
            (Kind::Law(Tcp::Vegas), 75_000),
            (Kind::Law(Tcp::Bbr), 100_000),
            (Kind::Law(Tcp::Dctcp), 50_000),
            (Kind::Law(Tcp::Prague), 50_000),
        ] {
            let (mut control, _) = control(kind, 100_000, at(0));
            control.on_sent(at(10), 1200, 1);
            control.on_congestion_event(at(50), at(10), false, 1200);
            assert_eq!(window_bytes(&*control), left_bytes, "{kind:?}");
        }
    }

    /// Linux counts in whole segments: 717/1024 of 83.
    #[test]
    fn the_cubic_of_linux_falls_in_whole_segments() {
        let (mut control, _) = control(Kind::Law(Tcp::CubicLinux), 83 * 1200, at(0));
        control.on_congestion_event(at(50), at(10), false, 1200);
        assert_eq!(window_bytes(&*control), 58 * 1200);
    }

    /// RFC 8257 section 3.3: with DCTCP.Alpha of 1, as at first, half. No octets are lost where a queue has
    /// marked. RFC 9438 section 4.6 leaves CUBIC 0.7.
    #[test]
    fn a_mark_reduces_the_window_as_the_law_says() {
        for (kind, left_bytes) in
            [(Kind::Law(Tcp::Dctcp), 50_000), (Kind::Law(Tcp::Cubic), 70_000), (Kind::Law(Tcp::Reno), 50_000)]
        {
            let (mut control, _) = control(kind, 100_000, at(0));
            control.on_congestion_event(at(50), at(10), false, 0);
            assert_eq!(window_bytes(&*control), left_bytes, "{kind:?}");
        }
    }

    /// A mark of a packet from before the last reduction reduces nothing (RFC 9002 section 7.3.2).
    #[test]
    fn every_control_counts_the_reductions_for_marks() {
        for kind in [
            Kind::NewReno,
            Kind::Law(Tcp::Reno),
            Kind::Law(Tcp::Cubic),
            Kind::Law(Tcp::Dctcp),
            Kind::Law(Tcp::Prague),
        ] {
            let (mut control, meter) = control(kind, 100_000, at(0));
            for (now_ms, sent_ms) in [(50, 10), (60, 20), (100, 70)] {
                control.on_congestion_event(at(now_ms), at(sent_ms), false, 0);
            }
            let counts = [&meter.mark_events, &meter.mark_reductions].map(|of| of.load(Ordering::Relaxed));
            assert_eq!(counts, [3, 2], "{kind:?}");
            // A loss is none.
            control.on_congestion_event(at(200), at(150), false, 1200);
            assert_eq!(meter.mark_reductions.load(Ordering::Relaxed), 2, "{kind:?}");
        }
    }

    #[test]
    fn only_bbr_has_a_rate_of_its_own() {
        for kind in [
            Kind::NewReno,
            Kind::Law(Tcp::Reno),
            Kind::Law(Tcp::Cubic),
            Kind::Law(Tcp::Vegas),
            Kind::Law(Tcp::Dctcp),
        ] {
            assert_eq!(control(kind, 12_000, at(0)).1.pacing_rate_bytes_per_s.load(Ordering::Relaxed), 0);
        }
        // InitPacingRate: the initial window in a millisecond, by 2.77.
        let (_, meter) = control(Kind::Law(Tcp::Bbr), 12_000, at(0));
        assert_eq!(meter.pacing_rate_bytes_per_s.load(Ordering::Relaxed), 12_000 * 277 * 10);
    }
}
