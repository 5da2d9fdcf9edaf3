//! The calls of the background: one Poisson process a type, and their durations.

use super::config::{CallDuration, MacConfig, TerminalType};
use super::random::exponential;
use super::state::first_frame_at;
use roamsim_engine::Stream;

/// One process a type, in the order of [`TerminalType::BACKGROUND`].
pub(super) struct Arrivals {
    processes: [Process; 4],
    next_at: u64,
}

struct Process {
    /// Infinite when the type has no traffic.
    mean_interval_frames: f64,
    random: Stream,
    /// In frames, not rounded.
    next_time: f64,
}

impl Arrivals {
    pub fn new(config: &MacConfig, stream: &impl Fn(&str) -> Stream) -> Arrivals {
        let processes = std::array::from_fn(|place| {
            let traffic = &config.traffic[place];
            // Offered traffic is arrival rate times mean duration.
            let erlang = traffic.offered_erlang * config.load_factor;
            let mean_interval_frames = traffic.duration.mean_frames() / erlang;
            let mut random = stream(&format!("arrivals {}", TerminalType::BACKGROUND[place].name()));
            let next_time = exponential(mean_interval_frames, &mut random);
            Process { mean_interval_frames, random, next_time }
        });
        let mut arrivals = Arrivals { processes, next_at: 0 };
        arrivals.find_next();
        arrivals
    }

    /// The frame of the next call.
    #[inline]
    pub fn next_at(&self) -> u64 {
        self.next_at
    }

    /// The next call that has come by `frame`, and its time in frames.
    pub fn take(&mut self, frame: u64) -> Option<(TerminalType, f64)> {
        if frame < self.next_at {
            return None;
        }
        let place = (0..4).find(|&place| self.processes[place].next_time <= frame as f64)?;
        let process = &mut self.processes[place];
        let time = process.next_time;
        process.next_time += exponential(process.mean_interval_frames, &mut process.random);
        self.find_next();
        Some((TerminalType::BACKGROUND[place], time))
    }

    fn find_next(&mut self) {
        let next = self.processes.iter().map(|process| process.next_time).fold(f64::INFINITY, f64::min);
        self.next_at = first_frame_at(next);
    }
}

impl CallDuration {
    /// One call's, in frames.
    pub(super) fn sample(&self, random: &mut Stream) -> f64 {
        match self {
            CallDuration::Exponential { mean_frames } => random.exponential(*mean_frames),
            CallDuration::OneOf(lengths) => {
                let weights: f64 = lengths.iter().map(|(weight, _)| weight).sum();
                let mut left = random.uniform() * weights;
                for &(weight, frames) in lengths {
                    if left < weight {
                        return frames;
                    }
                    left -= weight;
                }
                lengths.last().map_or(0.0, |&(_, frames)| frames)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_their_means() {
        let mut random = Stream::new(9, 0, "durations");
        let config = MacConfig::default();
        let mean = |traffic: usize, random: &mut Stream| {
            let n = 400_000;
            (0..n).map(|_| config.traffic[traffic].duration.sample(random)).sum::<f64>() / f64::from(n)
        };
        // P32: 12,000 frames, standard error 12000 / sqrt(400000) = 19.
        let speech = mean(1, &mut random);
        assert!((speech - 12_000.0).abs() < 57.0, "{speech}");
        // Data: mean 121.68 s; second moment 0.333 (60^2 + 120^2 + 180^2) + 0.001 * 1800^2 = 16783.2 + 3240 =
        // 20023.2 s^2, variance 20023.2 - 14806.0 = 5217.2: standard error 72.2 s / 632 = 0.114 s = 11.4
        // frames.
        let data = mean(3, &mut random);
        assert!((data - 12_168.0).abs() < 34.3, "{data}");
    }

    #[test]
    fn calls_come_at_the_offered_rate() {
        let streams = |purpose: &str| Stream::new(9, 0, purpose);
        let mut arrivals = Arrivals::new(&MacConfig { load_factor: 2.0, ..MacConfig::default() }, &streams);
        let mut calls = [0u32; 5];
        let frames = 20_000_000;
        while let Some((kind, time)) = arrivals.take(frames) {
            assert!(time <= frames as f64);
            calls[kind as usize] += 1;
        }
        // P32: 210 E / 12000 frames * 2e7 = 350,000; standard deviation 592.
        assert!((f64::from(calls[1]) - 350_000.0).abs() < 1775.0, "{calls:?}");
        // Data: 36 E / 12168 * 2e7 = 59,172; standard deviation 243.
        assert!((f64::from(calls[3]) - 59_172.0).abs() < 730.0, "{calls:?}");
        assert_eq!(calls[4], 0);
    }
}
