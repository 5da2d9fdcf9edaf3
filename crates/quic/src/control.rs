//! Congestion controls behind the library's trait: its own NewReno, and the simulator's CUBIC (RFC 9438),
//! whose law is the one that TCP has here.
//!
//! CUBIC keeps the rules of RFC 9002 that the library's controls have:
//! - It halts while packets from before the last reduction are acknowledged (section 7.3.2).
//! - It has two datagrams at least (7.2), and goes down to them in persistent congestion (7.6.2).

use crate::clock;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, NewRenoConfig};
use roamsim_engine::Span;
use roamsim_protocols::tcp::congestion::{self, Ack, Cause, CongestionControl, VegasThresholds};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The rule for the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// NewReno by RFC 9002 section 7: the library's.
    NewReno,
    /// CUBIC by RFC 9438: the simulator's.
    Cubic,
}

/// Makes the control of each path.
pub(crate) struct Factory {
    pub(crate) kind: Kind,
    pub(crate) initial_window_bytes: u64,
    pub(crate) timeouts: Arc<AtomicU64>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let control = match self.kind {
            Kind::NewReno => {
                let mut config = NewRenoConfig::default();
                config.initial_window(self.initial_window_bytes);
                Arc::new(config).build(now, current_mtu)
            }
            Kind::Cubic => Box::new(Cubic::new(self.initial_window_bytes, current_mtu, now)),
        };
        Box::new(Counted { control, timeouts: Arc::clone(&self.timeouts) })
    }
}

/// A control, with a count of its periods of persistent congestion.
struct Counted {
    control: Box<dyn Controller>,
    timeouts: Arc<AtomicU64>,
}

impl Controller for Counted {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.control.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.control.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.control.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.timeouts.fetch_add(u64::from(is_persistent), Ordering::Relaxed);
        self.control.on_congestion_event(now, sent, is_persistent, lost_bytes);
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
        Box::new(Counted { control: self.control.clone_box(), timeouts: Arc::clone(&self.timeouts) })
    }

    fn initial_window(&self) -> u64 {
        self.control.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.control.into_any()
    }
}

/// The simulator's CUBIC.
#[derive(Clone)]
struct Cubic {
    law: congestion::Cubic,
    initial_window_bytes: u64,
    mtu_bytes: u64,
    /// Packets from before then say nothing new of the path (RFC 9002 section 7.3.2).
    recovery_start: Option<Instant>,
}

impl Cubic {
    /// That of a path which begins at `now`: packets from before went over another (RFC 9000 section 9.4).
    fn new(initial_window_bytes: u64, mtu: u16, now: Instant) -> Cubic {
        let mut law = congestion::Cubic::new(&congestion::Settings {
            initial_ssthresh_bytes: None,
            vegas: VegasThresholds::default(),
            fast_convergence: true,
            abe: false,
            law: None,
        });
        law.start(u64::from(mtu), initial_window_bytes);
        Cubic { law, initial_window_bytes, mtu_bytes: u64::from(mtu), recovery_start: Some(now) }
    }

    fn is_from_before(&self, sent: Instant) -> bool {
        self.recovery_start.is_some_and(|start| sent <= start)
    }

    fn min_window_bytes(&self) -> u64 {
        2 * self.mtu_bytes
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if self.is_from_before(sent) {
            return;
        }
        self.law.on_ack(&Ack {
            bytes,
            // Slow start counts every octet (RFC 9002 section 7.3.1).
            most_segments: bytes.div_ceil(self.mtu_bytes),
            // The time of the curve stops while the application limits the flight (RFC 9438 section 5.8).
            in_use_bytes: if app_limited { 0 } else { self.law.cwnd_bytes() },
            now: clock::simulated(now),
            srtt: Some(Span::from_ns(rtt.get().as_nanos() as u64)),
            ..Ack::default()
        });
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, _lost_bytes: u64) {
        if self.is_from_before(sent) {
            return;
        }
        self.recovery_start = Some(now);
        self.law.on_congestion(Cause::FastRetransmit { flight_bytes: self.law.cwnd_bytes() });
        if is_persistent {
            let flight_bytes = self.law.cwnd_bytes();
            self.law.on_congestion(Cause::Timeout { flight_bytes, repeated: true, repairing: false });
            self.law.on_recovered(self.min_window_bytes());
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu_bytes = u64::from(new_mtu);
        self.law.set_smss(self.mtu_bytes);
        if self.law.cwnd_bytes() < self.min_window_bytes() {
            self.law.on_recovered(self.min_window_bytes());
        }
    }

    fn window(&self) -> u64 {
        self.law.cwnd_bytes()
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
    use roamsim_engine::Time;

    fn at(ms: u64) -> Instant {
        clock::instant(Time::ZERO + Span::from_ms(ms))
    }

    /// 0.7 of the window after a loss; two datagrams in persistent congestion (RFC 9002 section 7.6.2), which
    /// is counted. A loss from before the last reduction changes nothing (section 7.3.2).
    #[test]
    fn cubic_falls_by_three_tenths_and_in_persistent_congestion_to_two_datagrams() {
        let timeouts = Arc::default();
        let factory =
            Factory { kind: Kind::Cubic, initial_window_bytes: 100_000, timeouts: Arc::clone(&timeouts) };
        let mut control = Arc::new(factory).build(at(0), 1200);
        control.on_congestion_event(at(50), at(10), false, 1200);
        assert_eq!(control.window(), 70_000);
        control.on_congestion_event(at(60), at(50), false, 1200);
        assert_eq!(control.window(), 70_000);
        control.on_congestion_event(at(99), at(90), true, 1200);
        assert_eq!((control.window(), timeouts.load(Ordering::Relaxed)), (2400, 1));
    }

    #[test]
    fn a_loss_on_the_path_before_does_not_count_for_the_new_one() {
        let factory = Factory { kind: Kind::Cubic, initial_window_bytes: 12_000, timeouts: Arc::default() };
        let mut control = Arc::new(factory).build(at(100), 1200);
        control.on_congestion_event(at(150), at(50), false, 1200);
        assert_eq!(control.window(), 12_000);
        control.on_congestion_event(at(250), at(120), false, 1200);
        assert_eq!(control.window(), 8400);
    }
}
