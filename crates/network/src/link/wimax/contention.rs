//! Bandwidth requests of a station by contention (IEEE Std 802.16-2004 clause 6.3.8): truncated binary
//! back-off in request opportunities, and T16, by which a grant has to come.

use roamsim_engine::{Span, Stream, Time};

/// How stations contend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentionConfig {
    /// Request back-off start: the first window has two to the power of this opportunities.
    pub backoff_start: u32,
    /// Request back-off end: the exponent of the last window, at least that of the first.
    pub backoff_end: u32,
    /// Request retries: after so many the packet is given up.
    pub retries: u32,
    /// T16: how long a station waits for a grant.
    pub timeout: Span,
}

/// What a station does about its backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has none.
    Idle,
    /// It lets opportunities pass until its own, counted from the first of the run.
    Deferring { opportunity: u64 },
    /// It has asked, and waits until then.
    Waiting { until: Time },
    /// A map has told it of a burst, which has not begun.
    Granted,
}

/// Contention of one station. How it is done is told each time: it is the same for all, and there are many.
#[derive(Clone, Debug)]
pub(super) struct Contention {
    state: State,
    /// What the base station was asked for and has not granted, as far as the station knows.
    asked_bytes: u64,
    /// Requests since the last grant.
    requests: u32,
}

/// What to do when T16 has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// It has not, or nobody waits any more.
    None,
    /// Ask again, at that opportunity.
    Retry(u64),
    /// Give the packet up.
    GiveUp,
}

impl Contention {
    pub fn new() -> Contention {
        Contention { state: State::Idle, asked_bytes: 0, requests: 0 }
    }

    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Begins to contend; `next` is the first opportunity that has not begun. Returns its own.
    pub fn begin(&mut self, config: &ContentionConfig, next: u64, draws: &mut Stream) -> u64 {
        self.requests = 0;
        self.defer(config, next, draws)
    }

    fn defer(&mut self, config: &ContentionConfig, next: u64, draws: &mut Stream) -> u64 {
        let exponent = (config.backoff_start + self.requests).min(config.backoff_end);
        let opportunity = next + draws.below(1 << exponent);
        self.state = State::Deferring { opportunity };
        opportunity
    }

    /// Whether it uses this opportunity.
    pub fn uses(&self, opportunity: u64) -> bool {
        self.state == State::Deferring { opportunity }
    }

    /// It has not heard of its opportunity: it takes one so many later. Returns it.
    pub fn postpone(&mut self, by: u64) -> Option<u64> {
        let State::Deferring { opportunity } = &mut self.state else { return None };
        *opportunity += by;
        Some(*opportunity)
    }

    /// It has asked for all of its backlog, heard or not.
    pub fn asked(&mut self, config: &ContentionConfig, now: Time, backlog_bytes: u64) {
        self.requests += 1;
        self.asked_bytes = backlog_bytes;
        self.state = State::Waiting { until: now + config.timeout };
    }

    /// The same in answer to a poll, where nobody contends.
    pub fn asked_when_polled(&mut self, config: &ContentionConfig, now: Time, backlog_bytes: u64) {
        self.asked(config, now, backlog_bytes);
        self.requests = 0;
    }

    /// A map tells it of a burst: it neither contends nor asks again before it (clause 6.3.8).
    pub fn told_of_burst(&mut self) {
        self.state = State::Granted;
    }

    /// The burst passes it by. Whether T16 runs anew, as it was told of one.
    pub fn misses_burst(&mut self, config: &ContentionConfig, now: Time) -> bool {
        let told = self.state == State::Granted;
        if told {
            self.state = State::Waiting { until: now + config.timeout };
        }
        told
    }

    /// Whether it has asked, and the answer may still come.
    pub fn has_asked(&self) -> bool {
        matches!(self.state, State::Waiting { .. } | State::Granted)
    }

    /// The burst begins, which ends all contention. Returns what is still due to it of what it has asked for.
    pub fn granted(&mut self, bytes: u64) -> u64 {
        self.requests = 0;
        self.asked_bytes = self.asked_bytes.saturating_sub(bytes);
        self.asked_bytes
    }

    /// The grant is used: it has asked for so much more with it, and has more to send or not.
    pub fn used(&mut self, config: &ContentionConfig, now: Time, piggybacked_bytes: u64, has_more: bool) {
        self.asked_bytes += piggybacked_bytes;
        if has_more {
            self.state = State::Waiting { until: now + config.timeout };
        } else {
            self.reset();
        }
    }

    /// Nothing is left to ask for.
    pub fn reset(&mut self) {
        (self.state, self.requests, self.asked_bytes) = (State::Idle, 0, 0);
    }

    /// When T16 expires.
    pub fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Waiting { until } => Some(until),
            State::Idle | State::Deferring { .. } | State::Granted => None,
        }
    }

    /// T16 may have expired.
    pub fn expire(&mut self, config: &ContentionConfig, now: Time, next: u64, draws: &mut Stream) -> Expiry {
        if self.deadline().is_none_or(|until| until > now) {
            return Expiry::None;
        }
        if self.requests > config.retries {
            self.reset();
            return Expiry::GiveUp;
        }
        Expiry::Retry(self.defer(config, next, draws))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::stream;

    const CONFIG: ContentionConfig =
        ContentionConfig { backoff_start: 1, backoff_end: 3, retries: 4, timeout: Span::from_ms(10) };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn windows_double_up_to_the_end_and_the_packet_is_given_up_after_the_retries() {
        let mut draws = stream("windows");
        let mut most = [0; 5];
        for round in 0..2000 {
            let mut one = Contention::new();
            let mut own = one.begin(&CONFIG, 100, &mut draws);
            for (attempt, most) in most.iter_mut().enumerate() {
                *most = own.max(*most + 100) - 100;
                assert!(one.uses(own) && !one.uses(own + 1), "{round}");
                let now = at(100 * attempt as u64);
                one.asked(&CONFIG, now, 60);
                assert_eq!(
                    one.expire(&CONFIG, now + Span::from_ns(9_999_999), 100, &mut draws),
                    Expiry::None
                );
                match one.expire(&CONFIG, now + Span::from_ms(10), 100, &mut draws) {
                    Expiry::Retry(opportunity) if attempt < 4 => own = opportunity,
                    Expiry::GiveUp if attempt == 4 => assert!(one.is_idle()),
                    other => panic!("{attempt}: {other:?}"),
                }
            }
        }
        // Windows of 2, 4, 8, 8, 8 opportunities: the last of each was drawn.
        assert_eq!(most, [1, 3, 7, 7, 7]);
    }

    #[test]
    fn a_burst_that_passes_by_leaves_t16_behind() {
        let mut one = Contention::new();
        one.begin(&CONFIG, 0, &mut stream("passed by"));
        assert!(!one.has_asked() && !one.misses_burst(&CONFIG, at(0)), "nobody told it of one");
        one.told_of_burst();
        assert_eq!((one.has_asked(), one.is_idle(), one.deadline()), (true, false, None));
        assert!(one.misses_burst(&CONFIG, at(3)));
        assert_eq!((one.has_asked(), one.deadline()), (true, Some(at(13))));
    }

    #[test]
    fn a_grant_ends_contention_and_begins_the_count_anew() {
        let mut draws = stream("grants");
        let mut one = Contention::new();
        one.begin(&CONFIG, 0, &mut draws);
        one.asked(&CONFIG, at(0), 1000);
        one.granted(300);
        one.used(&CONFIG, at(5), 50, true);
        assert_eq!(one.deadline(), Some(at(15)));
        // 1000 - 300 + 50 are due to it.
        assert_eq!(one.granted(0), 750);
        assert!(
            matches!(one.expire(&CONFIG, at(15), 40, &mut draws), Expiry::Retry(40..=41)),
            "the first window again"
        );
        one.granted(750);
        one.used(&CONFIG, at(20), 0, false);
        assert_eq!((one.is_idle(), one.deadline()), (true, None));
    }
}
