//! Transfers that arrive, each over a connection of its own, as users fetch pages or files: a Poisson
//! process, or a recorded list.

use super::completions::Completions;
use super::{Action, Activity};
use crate::distribution::Distribution;
use roamsim_engine::{Span, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;
use std::sync::Arc;

/// When transfers arrive, and how large they are.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// After independent times in nanoseconds, each of so many octets.
    Drawn {
        /// From one to the next.
        interval: Distribution,
        /// Octets.
        size: Distribution,
    },
    /// Recorded: when, since the start of the source, in order, and how many octets.
    Listed(Arc<[(Span, u32)]>),
}

/// The source of the transfers of a flow, and the account of them.
#[derive(Clone, Debug)]
pub struct Transfers {
    activity: Activity,
    arrivals: Arrivals,
    /// How many have arrived.
    arrived: usize,
    /// When the next arrives; of drawn ones only known once the source has begun.
    next: Option<Time>,
    actions: VecDeque<Action>,
    /// What became of them.
    pub completions: Completions,
}

impl Transfers {
    /// A source that is silent until its start.
    pub fn new(activity: Activity, arrivals: Arrivals) -> Transfers {
        let next = match &arrivals {
            Arrivals::Drawn { .. } => Some(activity.start),
            Arrivals::Listed(list) => list.first().map(|&(after, _)| activity.start + after),
        };
        let size = |bytes: u64| bytes.clamp(1, u64::from(u32::MAX)) as u32;
        let completions = match &arrivals {
            Arrivals::Drawn { size: sizes, .. } => {
                let (least, greatest) = sizes.bounds();
                Completions::of_sizes([(size(least), size(greatest))])
            }
            Arrivals::Listed(list) => Completions::of_sizes(list.iter().map(|&(_, bytes)| (bytes, bytes))),
        };
        Transfers {
            activity,
            arrivals,
            arrived: 0,
            next: next.filter(|&next| next < activity.stop),
            actions: VecDeque::new(),
            completions,
        }
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }
}

impl Machine for Transfers {
    fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(now) = self.next.filter(|&next| next <= cx.now) else { return };
        let next = match &self.arrivals {
            Arrivals::Drawn { interval, size } => {
                // The process begins at the start; its first arrival comes after the first interval.
                if self.arrived > 0 {
                    let bytes = size.sample(cx.random).clamp(1, u64::from(u32::MAX)) as u32;
                    self.actions.push_back(Action::Begin { bytes });
                }
                Some(now + interval.sample_span(cx.random))
            }
            Arrivals::Listed(list) => {
                self.actions.push_back(Action::Begin { bytes: list[self.arrived].1 });
                list.get(self.arrived + 1).map(|&(after, _)| self.activity.start + after)
            }
        };
        self.arrived += 1;
        self.next = next.filter(|&next| next < self.activity.stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::stream;

    fn activity(stop_s: u64) -> Activity {
        Activity { start: Time::ZERO + Span::from_secs(1), stop: Time::ZERO + Span::from_secs(stop_s) }
    }

    /// When each arrives, in seconds, and its size.
    fn arrivals(mut source: Transfers) -> Vec<(f64, u32)> {
        let mut random = stream("transfers");
        let mut found = Vec::new();
        while let Some(now) = source.poll_timeout() {
            source.handle_timeout(&mut Context { now, random: &mut random });
            while let Some(Action::Begin { bytes }) = source.poll_action() {
                found.push((now.as_secs_f64(), bytes));
            }
        }
        found
    }

    #[test]
    fn listed_ones_arrive_at_their_times_behind_the_start_and_before_the_stop() {
        let list = [(0, 100), (500, 200), (500, 300), (9000, 400)];
        let list = list.map(|(ms, bytes)| (Span::from_ms(ms), bytes)).to_vec();
        let found = arrivals(Transfers::new(activity(10), Arrivals::Listed(list.into())));
        assert_eq!(found, [(1.0, 100), (1.5, 200), (1.5, 300)]);
    }

    #[test]
    fn drawn_ones_are_a_poisson_process() {
        let interval = Distribution::Exponential { mean: 10_000_000 };
        let size = Distribution::Uniform { min: 1000, max: 3000 };
        let found = arrivals(Transfers::new(activity(1001), Arrivals::Drawn { interval, size }));
        // 100 a second for 1000 s: 100,000, with a standard deviation of 316.
        assert!((found.len() as f64 - 100_000.0).abs() < 1300.0, "{}", found.len());
        // In halves of a second counts have the variance of their mean, 50; a standard error of the variance
        // of 50 x sqrt(2 / 2000).
        let mut counts = vec![0.0; 2000];
        found.iter().for_each(|&(at, _)| counts[((at - 1.0) * 2.0) as usize] += 1.0);
        let variance = counts.iter().map(|count| (count - 50.0_f64) * (count - 50.0)).sum::<f64>() / 2000.0;
        assert!((variance - 50.0).abs() < 6.5, "{variance}");
        let mean_bytes = found.iter().map(|&(_, bytes)| f64::from(bytes)).sum::<f64>() / found.len() as f64;
        assert!((mean_bytes - 2000.0).abs() < 8.0, "{mean_bytes}");
        assert!(found[0].0 > 1.0);
    }
}
