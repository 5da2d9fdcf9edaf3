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
    next: Option<Time>,
    actions: VecDeque<Action>,
}

impl Messages {
    /// A source that is silent until its start; `interval` in nanoseconds, `size` in octets.
    pub fn new(activity: Activity, interval: Distribution, size: Distribution) -> Messages {
        Messages { activity, interval, size, next: Some(activity.start), actions: VecDeque::new() }
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
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
        self.actions.push_back(Action::Send { bytes: self.size.sample(cx.random).max(1) as u32 });
        // The next instant follows from the last, not from the wake-up.
        let next = due + self.interval.sample_span(cx.random);
        self.next = (next < self.activity.stop).then_some(next);
    }
}

/// A source that sends messages of one size at a constant rate in "on" periods and is silent in "off" periods.
/// It starts with an "on" period. A message is sent at the start of each of its slots that lies wholly or partly in
/// the period.
#[derive(Clone, Debug)]
pub struct OnOff {
    activity: Activity,
    size_bytes: u32,
    rate_bps: u64,
    on: Distribution,
    off: Distribution,
    /// The start of the present "on" period and its end; no period before the start.
    period: Option<(Time, Time)>,
    sent_in_period: u64,
    next: Option<Time>,
    actions: VecDeque<Action>,
}

impl OnOff {
    /// A source that is silent until its start; `on` and `off` in nanoseconds.
    pub fn new(
        activity: Activity,
        size_bytes: u32,
        rate_bps: u64,
        on: Distribution,
        off: Distribution,
    ) -> OnOff {
        OnOff {
            activity,
            size_bytes,
            rate_bps,
            on,
            off,
            period: None,
            sent_in_period: 0,
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

    /// The length of k slots, derived by multiplication so that rounding does not accumulate.
    fn slots(&self, k: u64) -> Span {
        Span::of_transmission(u64::from(self.size_bytes) * k, self.rate_bps)
    }
}

impl Machine for OnOff {
    fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(due) = self.next.filter(|&due| due <= cx.now) else { return };
        if self.period.is_none() {
            self.actions.push_back(Action::Open);
        }
        let (start, end) = match self.period {
            Some((start, end)) if due < end => (start, end),
            // A period begins; an empty one is a nanosecond, so that time always passes.
            _ => {
                self.sent_in_period = 0;
                (due, due + self.on.sample_span(cx.random).max(Span::from_ns(1)))
            }
        };
        self.period = Some((start, end));
        self.actions.push_back(Action::Send { bytes: self.size_bytes });
        self.sent_in_period += 1;
        let mut next = start + self.slots(self.sent_in_period);
        if next >= end {
            next = end + self.off.sample_span(cx.random);
        }
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
    fn on_off_sends_in_whole_slots_of_its_on_periods() {
        // 1250 B at 1 Mb/s: a slot of 10 ms. On for 25 ms: messages at 0, 10, 20; then off for 75 ms.
        let (on, off) = (Distribution::Constant(25_000_000), Distribution::Constant(75_000_000));
        let source = OnOff::new(seconds(0, 1), 1250, 1_000_000, on, off);
        let times = drive(source, OnOff::poll_action, Time::from_ns(299_000_000));
        assert_eq!(times, [0, 10, 20, 100, 110, 120, 200, 210, 220]);
    }
}
