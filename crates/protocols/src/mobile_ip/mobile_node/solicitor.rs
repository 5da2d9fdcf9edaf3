//! When a mobile node that hears no agent asks for one (RFC 5944 section 2.4).

use roamsim_engine::{Span, Stream, Time};

/// How agents are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolicitationConfig {
    /// The first comes after a time drawn uniformly up to this (RFC 1256's MAX_SOLICITATION_DELAY).
    pub delay: Span,
    /// The least time between the first three.
    pub interval: Span,
    /// What the time between them grows to, by doubling.
    pub max_interval: Span,
    /// By how much of it each interval is lengthened at most, uniformly, in percent.
    pub jitter_percent: u8,
}

impl Default for SolicitationConfig {
    /// 1 s (RFC 1256 section 6); 1 s and 60 s (section 2.4); 25 %, chosen: the share by which RFC 1256 varies
    /// advertisements.
    fn default() -> SolicitationConfig {
        SolicitationConfig {
            delay: Span::from_secs(1),
            interval: Span::from_secs(1),
            max_interval: Span::from_secs(60),
            jitter_percent: 25,
        }
    }
}

/// Solicitations at the highest rate (section 2.4).
const AT_HIGHEST_RATE: u32 = 3;

/// The times of solicitations.
#[derive(Clone, Debug)]
pub(super) struct Solicitor {
    config: SolicitationConfig,
    pub(super) next: Option<Time>,
    sent: u32,
    interval: Span,
}

impl Solicitor {
    pub(super) fn new(config: SolicitationConfig) -> Solicitor {
        Solicitor { config, next: None, sent: 0, interval: config.interval }
    }

    /// An agent is wanted: the highest rate again, after a positive indication of a move.
    pub(super) fn start(&mut self, now: Time, random: &mut Stream) {
        self.sent = 0;
        self.interval = self.config.interval;
        self.next = Some(now + Span::from_ns(random.below(self.config.delay.as_ns() + 1)));
    }

    /// An agent was found.
    pub(super) fn stop(&mut self) {
        self.next = None;
    }

    /// Whether one is due; the next is set.
    pub(super) fn is_due(&mut self, now: Time, random: &mut Stream) -> bool {
        if self.next.is_none_or(|next| next > now) {
            return false;
        }
        self.sent += 1;
        if self.sent >= AT_HIGHEST_RATE {
            self.interval = (self.interval * 2).min(self.config.max_interval);
        }
        let most = self.interval.as_ns() / 100 * u64::from(self.config.jitter_percent);
        // An interval of zero is refused by whoever configures; here it must not stop the time.
        let interval = self.interval.max(Span::from_ns(1));
        self.next = Some(now + interval + Span::from_ns(random.below(most + 1)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_at_a_second_then_doubling_up_to_the_maximum() {
        let config =
            SolicitationConfig { delay: Span::ZERO, jitter_percent: 0, ..SolicitationConfig::default() };
        let mut random = Stream::new(0, 0, "");
        let mut solicitor = Solicitor::new(config);
        solicitor.start(Time::ZERO, &mut random);
        let mut instants = Vec::new();
        for _ in 0..11 {
            let now = solicitor.next.expect("it goes on");
            assert!(solicitor.is_due(now, &mut random));
            instants.push(now.as_ns() / 1_000_000_000);
        }
        // 0, 1, 2; then after 2, 4, 8, 16, 32, 60, 60, 60.
        assert_eq!(instants, [0, 1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }

    #[test]
    fn intervals_are_never_shorter_than_nominal_nor_longer_by_more_than_the_jitter() {
        let mut random = Stream::new(0, 0, "");
        for _ in 0..200 {
            let mut solicitor = Solicitor::new(SolicitationConfig::default());
            solicitor.start(Time::ZERO, &mut random);
            let first = solicitor.next.expect("it is wanted");
            assert!(first <= Time::ZERO + Span::from_secs(1));
            assert!(solicitor.is_due(first, &mut random));
            let interval = solicitor.next.expect("it goes on") - first;
            assert!(interval >= Span::from_secs(1) && interval <= Span::from_ms(1250), "{interval}");
        }
    }
}
