//! Sources of messages: at intervals (constant: CBR; exponential: Poisson), and on-off.

use super::{Action, Activity};
use crate::distribution::Distribution;
use roamsim_engine::{Span, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

/// A source of messages at start, start + interval, ... while the time is before the stop.
#[derive(Clone, Debug)]
pub struct Messages {
    activity: Activity,
    interval: Distribution,
    size: Distribution,
    batch: Distribution,
    next: Option<Time>,
    actions: VecDeque<Action>,
}

impl Messages {
    /// A source that is silent until its start; `interval` in nanoseconds, `size` in octets.
    pub fn new(activity: Activity, interval: Distribution, size: Distribution) -> Messages {
        let batch = Distribution::Constant(1);
        Messages { activity, interval, size, batch, next: Some(activity.start), actions: VecDeque::new() }
    }

    /// A source in whose place a program outside sends: it sends nothing itself.
    pub fn outside(activity: Activity) -> Messages {
        let nothing = || Distribution::Constant(0);
        Messages { next: None, ..Messages::new(activity, nothing(), nothing()) }
    }

    /// The same with several messages at each instant.
    pub fn in_batches(self, batch: Distribution) -> Messages {
        // One message at a time is told by one form.
        let batch = match batch {
            Distribution::Geometric { mean: 0 | 1 } => Distribution::Constant(1),
            batch => batch,
        };
        Messages { batch, ..self }
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The length of the message that is due, where one is alone and the first has gone: what is to be done
    /// is that and no more.
    #[inline]
    pub(crate) fn take_alone(&mut self, cx: &mut Context<'_>) -> Option<u32> {
        let due = self.next.filter(|&due| due <= cx.now && due > self.activity.start)?;
        if self.batch != Distribution::Constant(1) {
            return None;
        }
        let bytes = self.size.sample(cx.random).max(1) as u32;
        self.go_on(due, cx);
        Some(bytes)
    }

    /// The next instant follows from the last, not from the wake-up.
    #[inline]
    fn go_on(&mut self, due: Time, cx: &mut Context<'_>) {
        let next = due + self.interval.sample_span(cx.random);
        self.next = (next < self.activity.stop).then_some(next);
    }
}

impl Machine for Messages {
    fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(due) = self.next.filter(|&due| due <= cx.now) else { return };
        if due == self.activity.start {
            self.actions.push_back(Action::Open);
        }
        for _ in 0..self.batch.sample(cx.random) {
            self.actions.push_back(Action::Send { bytes: self.size.sample(cx.random).max(1) as u32 });
        }
        self.go_on(due, cx);
    }
}

/// A source that sends messages at a constant rate in "on" periods and is silent in "off" periods. It starts
/// with an "on" period. A message is sent when the source has been "on" for the slots of all messages before
/// it, a slot being the time of a message at the rate: what is left of a slot at the end of a period goes on
/// in the next.
#[derive(Clone, Debug)]
pub struct OnOff {
    activity: Activity,
    size: Distribution,
    rate_bps: u64,
    on: Distribution,
    off: Distribution,
    /// The present "on" period, and the time spent "on" before it; no period before the start.
    period: Option<Period>,
    sent_bytes: u64,
    next: Option<Time>,
    actions: VecDeque<Action>,
}

#[derive(Clone, Copy, Debug)]
struct Period {
    start: Time,
    length: Span,
    on_before: Span,
}

impl OnOff {
    /// A source that is silent until its start; `size` in octets, `on` and `off` in nanoseconds.
    pub fn new(
        activity: Activity,
        size: Distribution,
        rate_bps: u64,
        on: Distribution,
        off: Distribution,
    ) -> OnOff {
        OnOff {
            activity,
            size,
            rate_bps,
            on,
            off,
            period: None,
            sent_bytes: 0,
            next: Some(activity.start),
            actions: VecDeque::new(),
        }
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn period(&mut self, cx: &mut Context<'_>, start: Time, on_before: Span) -> Period {
        // An empty period is a nanosecond, so that time always passes.
        Period { start, length: self.on.sample_span(cx.random).max(Span::from_ns(1)), on_before }
    }

    /// When the source has been "on" for all slots sent so far: in this period, or in a later one.
    fn next_slot(&mut self, cx: &mut Context<'_>, mut period: Period) -> (Time, Period) {
        // Derived by multiplication, so that rounding does not accumulate.
        let on_time = Span::of_transmission(self.sent_bytes, self.rate_bps);
        loop {
            let into = on_time.saturating_sub(period.on_before);
            if into < period.length || period.start >= self.activity.stop {
                return (period.start + into, period);
            }
            let start = period.start + period.length + self.off.sample_span(cx.random);
            period = self.period(cx, start, period.on_before + period.length);
        }
    }
}

impl Machine for OnOff {
    fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(due) = self.next.filter(|&due| due <= cx.now) else { return };
        let period = match self.period {
            Some(period) => period,
            None => {
                self.actions.push_back(Action::Open);
                self.period(cx, due, Span::ZERO)
            }
        };
        let bytes = self.size.sample(cx.random).max(1) as u32;
        self.actions.push_back(Action::Send { bytes });
        self.sent_bytes += u64::from(bytes);
        let (next, period) = self.next_slot(cx, period);
        self.period = Some(period);
        self.next = (next < self.activity.stop).then_some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Stream;

    fn drive<M: Machine>(mut source: M, poll: impl Fn(&mut M) -> Option<Action>, until: Time) -> Vec<u64> {
        let mut random = Stream::new(1, 0, "application");
        let mut times = Vec::new();
        while let Some(now) = source.poll_timeout().filter(|&now| now <= until) {
            source.handle_timeout(&mut Context { now, random: &mut random });
            while let Some(action) = poll(&mut source) {
                if matches!(action, Action::Send { .. }) {
                    times.push(now.as_ns() / 1_000_000);
                }
            }
        }
        times
    }

    fn seconds(start: u64, stop: u64) -> Activity {
        Activity { start: Time::ZERO + Span::from_secs(start), stop: Time::ZERO + Span::from_secs(stop) }
    }

    #[test]
    fn a_source_generates_while_the_time_is_before_the_stop() {
        let half_second = Distribution::Constant(500_000_000);
        let source = Messages::new(seconds(5, 7), half_second, Distribution::Constant(200));
        assert_eq!(drive(source, Messages::poll_action, Time::MAX), [5000, 5500, 6000, 6500]);
    }

    #[test]
    fn a_batch_comes_at_one_instant() {
        let second = Distribution::Constant(1_000_000_000);
        let source = Messages::new(seconds(0, 1000), second, Distribution::Constant(512));
        let times =
            drive(source.in_batches(Distribution::Geometric { mean: 5 }), Messages::poll_action, Time::MAX);
        assert!(times.iter().all(|ms| ms % 1000 == 0));
        // 1000 batches of 5 in the mean, deviation sqrt(5 * 4) each: 5000 +- 3 * 141.
        assert!((4576..=5424).contains(&times.len()), "{}", times.len());
        assert_eq!(times.iter().collect::<std::collections::BTreeSet<_>>().len(), 1000);
    }

    #[test]
    fn on_off_sends_at_its_rate_of_the_time_that_it_is_on() {
        // 1250 B at 1 Mb/s: a slot of 10 ms. On for 25 ms, off for 75 ms. Slots end after 10, 20, 30, ... ms
        // of "on" time; 30 ms is 5 ms into the second period, 50 ms is the start of the third.
        let (on, off) = (Distribution::Constant(25_000_000), Distribution::Constant(75_000_000));
        let size = Distribution::Constant(1250);
        let source = OnOff::new(seconds(0, 1), size, 1_000_000, on, off);
        let times = drive(source, OnOff::poll_action, Time::from_ns(299_000_000));
        assert_eq!(times, [0, 10, 20, 105, 115, 200, 210, 220]);
    }

    /// Bursts of a Pareto length: one of more than ten times the minimum, 100 ms * 0.5 / 1.5, comes with the
    /// probability 10^-1.5 = 3.16 %. A burst of l ms has a message at each of its ms, so that l = 333.3 or
    /// more are 334 messages.
    #[test]
    fn on_off_with_pareto_periods_has_long_bursts() {
        let on = Distribution::Pareto { mean: 100_000_000, shape: 1.5 };
        let off = Distribution::Constant(1_000_000_000);
        let source = OnOff::new(seconds(0, 11_000), Distribution::Constant(125), 1_000_000, on, off);
        let times = drive(source, OnOff::poll_action, Time::MAX);
        let mut bursts = vec![1];
        for pair in times.windows(2) {
            match pair[1] - pair[0] {
                0..=2 => *bursts.last_mut().expect("a burst") += 1,
                _ => bursts.push(1),
            }
        }
        // About 10,000 in 11,000 s; 316 long ones, deviation 17.5. A slot that a burst did not finish goes on
        // in the next.
        let long = bursts.iter().filter(|&&messages| messages >= 334).count() as f64 / bursts.len() as f64;
        assert!((long - 0.0316).abs() < 0.0053, "{long} of {}", bursts.len());
        assert!(bursts.iter().all(|&messages| messages >= 33));
    }

    #[test]
    fn on_off_without_a_pause_is_cbr_and_short_periods_keep_the_rate() {
        let on_off = |on_ns, off_ns| {
            let (on, off) = (Distribution::Constant(on_ns), Distribution::Constant(off_ns));
            let source = OnOff::new(seconds(0, 1), Distribution::Constant(1250), 1_000_000, on, off);
            drive(source, OnOff::poll_action, Time::MAX)
        };
        assert_eq!(on_off(100_000, 0), (0..100).map(|k| 10 * k).collect::<Vec<_>>());
        // Half of the time in periods of a microsecond: half of the messages.
        assert_eq!(on_off(1_000, 1_000).len(), 50);
    }
}
