//! ARF: A. Kamerman, L. Monteban, "WaveLAN-II: A High-Performance Wireless LAN for the Unlicensed Band", Bell
//! Labs Technical Journal 2(3), 1997. AARF: M. Lacage, M. H. Manshaei, T. Turletti, "IEEE 802.11 Rate
//! Adaptation: A Practical Approach", MSWiM 2004.
//!
//! Ten exchanges in a row that were answered, or a timer, lead to the next higher rate. The first exchange
//! there is on probation: if it fails, the old rate is back at once. Otherwise two failures in a row lead to
//! the next lower rate.
//!
//! AARF: each failed probation doubles the exchanges that the next one takes, up to fifty, and the timer; two
//! failures in a row bring ten and the first timer back.
//!
//! Kamerman and Monteban do not say how long the timer runs. Here it counts attempts, fifteen, as in the
//! implementation of Lacage et al.

/// Its constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArfConfig {
    /// Answered exchanges in a row that lead to a higher rate.
    pub successes: u32,
    /// Failed ones in a row that lead to a lower rate.
    pub failures: u32,
    /// Attempts at one rate that lead to a higher one, whatever came of them.
    pub timer_attempts: u32,
    /// By what a failed probation multiplies `successes` and `timer_attempts`; 1 in ARF.
    pub factor: u32,
    /// The most that `successes` become.
    pub most_successes: u32,
}

impl ArfConfig {
    /// ARF as published, with the timer of Lacage et al.
    pub const ARF: ArfConfig =
        ArfConfig { successes: 10, failures: 2, timer_attempts: 15, factor: 1, most_successes: 10 };
    /// AARF as published.
    pub const AARF: ArfConfig = ArfConfig { factor: 2, most_successes: 50, ..ArfConfig::ARF };
}

/// One transmitter's choice for one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arf {
    config: ArfConfig,
    /// Its place among the rates.
    rate: usize,
    /// In a row.
    successes: u32,
    failures: u32,
    /// At this rate, since the timer was set.
    attempts: u32,
    /// Whether nothing was sent yet at a rate that was raised.
    probation: bool,
    /// What `successes` and `attempts` have to come to.
    successes_needed: u32,
    timer_attempts: u32,
}

impl Arf {
    pub fn new(config: ArfConfig) -> Arf {
        Arf {
            config,
            rate: 0,
            successes: 0,
            failures: 0,
            attempts: 0,
            probation: false,
            successes_needed: config.successes,
            timer_attempts: config.timer_attempts,
        }
    }

    pub fn rate(&self) -> usize {
        self.rate
    }

    /// An exchange was answered, or was not; no rate is above `top`.
    pub fn ends(&mut self, answered: bool, top: usize) {
        self.attempts = self.attempts.saturating_add(1);
        if answered {
            self.failures = 0;
            self.probation = false;
            self.successes = self.successes.saturating_add(1);
            let due = self.successes >= self.successes_needed || self.attempts >= self.timer_attempts;
            if due && self.rate < top {
                self.change(self.rate + 1);
                self.probation = true;
            }
            return;
        }
        self.successes = 0;
        self.failures += 1;
        let ArfConfig { successes, failures, timer_attempts, factor, most_successes } = self.config;
        if self.probation {
            self.successes_needed = self.successes_needed.saturating_mul(factor).min(most_successes);
            self.timer_attempts = self.timer_attempts.saturating_mul(factor);
            self.change(self.rate.saturating_sub(1));
        } else if self.failures >= failures {
            (self.successes_needed, self.timer_attempts) = (successes, timer_attempts);
            self.change(self.rate.saturating_sub(1));
        }
    }

    fn change(&mut self, rate: usize) {
        self.rate = rate;
        self.successes = 0;
        self.failures = 0;
        self.attempts = 0;
        self.probation = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates after each of these exchanges: `+` was answered, `-` was not. Four rates.
    fn rates(config: ArfConfig, exchanges: &str) -> (String, Arf) {
        let mut arf = Arf::new(config);
        let mut rates = String::new();
        for exchange in exchanges.chars() {
            arf.ends(exchange == '+', 3);
            rates.push_str(&arf.rate().to_string());
        }
        (rates, arf)
    }

    #[test]
    fn ten_answers_lead_up_and_two_failures_down() {
        let (got, _) = rates(ArfConfig::ARF, "+++++++++++-+---");
        // The tenth answer raises it. An answer clears one failure; two lower it, and the lowest stays.
        assert_eq!(got, "0000000001111100");
        let (got, _) = rates(ArfConfig::ARF, &"+".repeat(45));
        // Ten at each rate, and the highest is kept.
        assert_eq!(got, format!("{}{}{}{}", "0".repeat(9), "1".repeat(10), "2".repeat(10), "3".repeat(16)));
    }

    #[test]
    fn the_first_failure_on_probation_leads_back() {
        let (got, _) = rates(ArfConfig::ARF, "++++++++++-++++++++++-");
        // Down at once; then ten again, and down at once.
        assert_eq!(got, "0000000001000000000010");
    }

    #[test]
    fn the_timer_leads_up_without_ten_answers_in_a_row() {
        // Each fifth exchange fails; the fifteenth attempt is a failure, the sixteenth is answered and raises
        // the rate.
        let (got, _) = rates(ArfConfig::ARF, "++++-++++-++++-+");
        assert_eq!(got, "0000000000000001");
    }

    #[test]
    fn failed_probations_double_what_the_next_one_takes() {
        let up = |answers: usize| "+".repeat(answers) + "-";
        for (config, needed) in [(ArfConfig::AARF, [10, 20, 40, 50, 50]), (ArfConfig::ARF, [10; 5])] {
            let mut exchanges = String::new();
            let mut expected = String::new();
            for (n, answers) in needed.into_iter().enumerate() {
                // The timer, 15, 30, 60, 120, 240 attempts, comes later than that.
                exchanges += &up(answers);
                expected += &("0".repeat(answers - 1) + "10");
                assert_eq!(rates(config, &exchanges).0, expected, "{n}");
            }
        }
    }

    #[test]
    fn two_failures_in_a_row_bring_the_first_thresholds_back() {
        // Raised by 10 answers, back by a failed probation: 20 are needed. Two failures: 10 again.
        let (_, arf) = rates(ArfConfig::AARF, "++++++++++-");
        assert_eq!((arf.successes_needed, arf.timer_attempts), (20, 30));
        let (_, arf) = rates(ArfConfig::AARF, "++++++++++---");
        assert_eq!((arf.successes_needed, arf.timer_attempts), (10, 15));
    }
}
