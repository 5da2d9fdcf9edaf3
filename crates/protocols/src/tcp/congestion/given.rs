//! A congestion control from outside of this crate: a [`Law`] that decides, and here what the connection
//! asks.
//!
//! The law is called for acknowledgements, losses, marks and timeouts, and changes its [`Orders`]: window,
//! slow-start threshold and rate. What the connection does to the window without it (the end of a repair,
//! an idle time) it finds in its orders at the next call.

use std::fmt;
use std::sync::Arc;

use roamsim_engine::{Span, Time};

use super::{Ack, Cause, CongestionControl, Delivery, Settings};
use crate::tcp::sent::RateSample;

/// What a law decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// The congestion window. At least one segment applies.
    pub window_bytes: u64,
    /// The slow-start threshold, `u64::MAX` while it is arbitrarily high.
    pub ssthresh_bytes: u64,
    /// Octets a second at which data goes; `None` leaves it to the connection's settings.
    pub pacing_rate_bytes_per_s: Option<u64>,
    /// The segment size, which is given.
    pub segment_bytes: u64,
}

/// What happened, to a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The handshake is complete: the orders hold the initial window.
    Start,
    /// New data was acknowledged.
    Ack,
    /// Arriving acknowledgements told of a loss.
    Loss,
    /// A queue has marked packets.
    EcnEcho,
    /// The retransmission timer expired.
    Timeout {
        /// The same octets had been repeated by the timer already.
        repeated: bool,
        /// A loss was being repaired.
        repairing: bool,
    },
}

/// What is known when it happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// When.
    pub now: Time,
    /// Octets that are acknowledged for the first time.
    pub acked_bytes: u64,
    /// Octets in flight: before a reduction, and after an acknowledgement.
    pub in_flight_bytes: u64,
    /// The largest flight in this and the last round trip.
    pub in_use_bytes: u64,
    /// Whether the window may grow: nothing is being repaired, and the peer does not tell of marks.
    pub may_grow: bool,
    /// The round-trip time measured last to the nanosecond, where send times are kept.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time.
    pub srtt: Option<Span>,
    /// The sample of the rate of delivery, where transmissions are kept.
    pub rate: Option<RateSample>,
    /// Octets delivered so far, where transmissions are kept.
    pub delivered_bytes: Option<u64>,
}

/// A congestion control of another crate.
pub trait Law: fmt::Debug + Send + Sync {
    /// Something happened; the orders are those in force, and may be changed.
    fn decide(&mut self, occasion: Occasion, sample: &Sample, orders: &mut Orders);

    /// The same law in the same state: kept at a reduction that may prove needless.
    fn boxed_clone(&self) -> Box<dyn Law>;
}

/// What makes the law of each connection. Makers of one name are equal.
#[derive(Clone)]
pub struct LawMaker {
    name: Arc<str>,
    make: Arc<dyn Fn() -> Box<dyn Law> + Send + Sync>,
}

impl LawMaker {
    /// One by this name.
    pub fn new(name: &str, make: impl Fn() -> Box<dyn Law> + Send + Sync + 'static) -> LawMaker {
        LawMaker { name: name.into(), make: Arc::new(make) }
    }
}

impl fmt::Debug for LawMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LawMaker").field(&self.name).finish()
    }
}

impl PartialEq for LawMaker {
    fn eq(&self, other: &LawMaker) -> bool {
        self.name == other.name
    }
}

impl Eq for LawMaker {}

/// A law, and the state that the connection sees.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct Given {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    smss_bytes: u64,
    pacing_rate_bytes_per_s: Option<u64>,
    /// As known at the last acknowledgement.
    sample: Sample,
    /// `None` only where a configuration asks for a law and has none.
    law: Option<Box<dyn Law>>,
}

impl Clone for Inner {
    fn clone(&self) -> Inner {
        Inner { law: self.law.as_ref().map(|law| law.boxed_clone()), ..*self }
    }
}

impl Given {
    fn decide(&mut self, occasion: Occasion) {
        let Inner { smss_bytes, pacing_rate_bytes_per_s, sample, law } = &mut *self.inner;
        let Some(law) = law else { return };
        let mut orders = Orders {
            window_bytes: self.cwnd_bytes,
            ssthresh_bytes: self.ssthresh_bytes,
            pacing_rate_bytes_per_s: *pacing_rate_bytes_per_s,
            segment_bytes: *smss_bytes,
        };
        law.decide(occasion, sample, &mut orders);
        self.cwnd_bytes = orders.window_bytes.max(*smss_bytes);
        self.ssthresh_bytes = orders.ssthresh_bytes;
        *pacing_rate_bytes_per_s = orders.pacing_rate_bytes_per_s;
    }
}

impl CongestionControl for Given {
    const NAME: &str = "given";
    const ABOUT: Option<&str> = None;

    fn new(settings: &Settings) -> Given {
        Given {
            cwnd_bytes: 1,
            ssthresh_bytes: settings.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            inner: Box::new(Inner {
                smss_bytes: 1,
                pacing_rate_bytes_per_s: None,
                sample: Sample::default(),
                law: settings.law.as_ref().map(|maker| (maker.make)()),
            }),
        }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.inner.smss_bytes = smss_bytes;
        self.cwnd_bytes = initial_window_bytes.max(smss_bytes);
        self.decide(Occasion::Start);
    }

    fn set_smss(&mut self, bytes: u64) {
        self.inner.smss_bytes = bytes;
    }

    #[inline]
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    #[inline]
    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }

    fn on_ack(&mut self, ack: &Ack) {
        let sample = &mut self.inner.sample;
        sample.now = ack.now;
        sample.acked_bytes = ack.bytes;
        sample.may_grow = ack.may_grow;
        sample.in_use_bytes = ack.in_use_bytes;
        sample.rtt = ack.rtt.or(sample.rtt);
        sample.srtt = ack.srtt;
        if sample.delivered_bytes.is_none() {
            sample.in_flight_bytes = ack.snd_nxt - ack.snd_una;
        }
        self.decide(Occasion::Ack);
    }

    fn on_delivery(&mut self, delivery: &Delivery) -> bool {
        let sample = &mut self.inner.sample;
        sample.rate = Some(delivery.sample);
        sample.delivered_bytes = Some(delivery.delivered_bytes);
        sample.in_flight_bytes = delivery.in_flight_bytes;
        false
    }

    /// Without a time of its own it happened with the last acknowledgement.
    fn on_congestion(&mut self, cause: Cause) {
        self.on_congestion_at(cause, self.inner.sample.now);
    }

    fn on_congestion_at(&mut self, cause: Cause, now: Time) {
        let (occasion, flight_bytes) = match cause {
            Cause::FastRetransmit { flight_bytes } | Cause::GoBack { flight_bytes } => {
                (Occasion::Loss, flight_bytes)
            }
            Cause::EcnEcho { flight_bytes } => (Occasion::EcnEcho, flight_bytes),
            Cause::Timeout { flight_bytes, repeated, repairing } => {
                (Occasion::Timeout { repeated, repairing }, flight_bytes)
            }
            Cause::Idle { restart_window_bytes, .. } => {
                self.cwnd_bytes = self.cwnd_bytes.min(restart_window_bytes).max(self.inner.smss_bytes);
                return;
            }
        };
        let sample = &mut self.inner.sample;
        (sample.now, sample.acked_bytes, sample.may_grow) = (now, 0, false);
        sample.in_flight_bytes = flight_bytes;
        self.decide(occasion);
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        // Recoveries end with a window of ssthresh, and a law need not have one: then its window stays.
        if self.ssthresh_bytes != u64::MAX {
            self.cwnd_bytes = cwnd_bytes.max(self.inner.smss_bytes);
        }
    }

    fn leave_slow_start(&mut self) {
        self.ssthresh_bytes = self.cwnd_bytes;
    }

    fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
        self.inner.pacing_rate_bytes_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::Config;

    /// Opens by what is acknowledged, halves at everything else, and paces at ten windows a second.
    #[derive(Clone, Debug, Default)]
    struct Halving {
        occasions: Vec<Occasion>,
    }

    impl Law for Halving {
        fn decide(&mut self, occasion: Occasion, sample: &Sample, orders: &mut Orders) {
            self.occasions.push(occasion);
            match occasion {
                Occasion::Start => {}
                Occasion::Ack => orders.window_bytes += sample.acked_bytes,
                Occasion::Loss | Occasion::EcnEcho | Occasion::Timeout { .. } => {
                    orders.window_bytes = sample.in_flight_bytes / 2;
                    orders.ssthresh_bytes = orders.window_bytes;
                }
            }
            orders.pacing_rate_bytes_per_s = Some(10 * orders.window_bytes);
        }

        fn boxed_clone(&self) -> Box<dyn Law> {
            Box::new(self.clone())
        }
    }

    fn started() -> Given {
        let maker = LawMaker::new("halving", || Box::new(Halving::default()));
        let mut given = Given::new(&Config { law: Some(maker), ..Config::default() }.congestion_settings());
        given.start(1000, 10_000);
        given
    }

    #[test]
    fn orders_are_followed() {
        let mut given = started();
        given.on_ack(&Ack { bytes: 2000, ..Ack::default() });
        assert_eq!((given.cwnd_bytes(), given.ssthresh_bytes()), (12_000, u64::MAX));
        assert_eq!(given.pacing_rate_bytes_per_s(), Some(120_000));
        given.on_congestion(Cause::FastRetransmit { flight_bytes: 8000 });
        assert_eq!((given.cwnd_bytes(), given.ssthresh_bytes()), (4000, 4000));
        given.on_recovered(3000);
        given.on_ack(&Ack { bytes: 500, ..Ack::default() });
        assert_eq!(given.cwnd_bytes(), 3500);
    }

    #[test]
    fn a_window_without_a_threshold_stays_after_a_repair() {
        let mut given = started();
        given.on_recovered(u64::MAX);
        assert_eq!((given.cwnd_bytes(), given.ssthresh_bytes()), (10_000, u64::MAX));
    }

    #[test]
    fn a_window_holds_a_segment() {
        let mut given = started();
        given.on_congestion(Cause::EcnEcho { flight_bytes: 1000 });
        assert_eq!((given.cwnd_bytes(), given.ssthresh_bytes()), (1000, 500));
    }

    #[test]
    fn an_idle_time_lowers_the_window_without_its_law() {
        let mut given = started();
        given.on_congestion(Cause::Idle { restart_window_bytes: 4000, least_ssthresh_bytes: 0 });
        assert_eq!(given.cwnd_bytes(), 4000);
        given.on_congestion(Cause::Idle { restart_window_bytes: 9000, least_ssthresh_bytes: 0 });
        assert_eq!(given.cwnd_bytes(), 4000);
    }

    #[test]
    fn a_needless_reduction_is_taken_back_with_the_state_of_the_law() {
        let mut given = started();
        let before = given.clone();
        given.on_congestion(Cause::Timeout { flight_bytes: 10_000, repeated: false, repairing: false });
        assert_eq!(given.cwnd_bytes(), 5000);
        given.undo(before);
        assert_eq!((given.cwnd_bytes(), given.ssthresh_bytes()), (10_000, u64::MAX));
        assert!(!format!("{given:?}").contains("Timeout"));
    }
}
