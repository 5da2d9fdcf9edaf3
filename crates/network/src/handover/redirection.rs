//! Redirection: a mobile node with an address in each network tells its correspondents its present address.
//! It repeats each message until it is acknowledged.
//!
//! The correspondent uses the new address when the message arrives, the mobile node when the
//! acknowledgement arrives. This is the binding update of RFC 6275 without return routability and home
//! agent. Sockets keep their state and do not notice.

use roamsim_engine::{Span, Time};

/// INITIAL_BINDACK_TIMEOUT (RFC 6275 section 12).
const INITIAL_TIMEOUT: Span = Span::from_secs(1);
/// MAX_BINDACK_TIMEOUT (RFC 6275 section 12).
const LONGEST_TIMEOUT: Span = Span::from_secs(32);

/// Who has been told, and who has acknowledged it.
#[derive(Clone, Debug)]
pub(crate) struct Redirection {
    acknowledged: Vec<bool>,
    /// How many there were: the number of the one under way (RFC 6275 section 6.1.7; it has 16 bits there,
    /// and comes round).
    sequence: u32,
    /// When those that have not are told again, and after which time.
    again: Option<(Time, Span)>,
}

impl Redirection {
    /// Nobody has been told anything.
    pub fn new(correspondents: usize) -> Redirection {
        Redirection { acknowledged: vec![true; correspondents], sequence: 0, again: None }
    }

    /// All are to be told.
    pub fn begin(&mut self, now: Time) {
        self.acknowledged.fill(false);
        self.sequence += 1;
        self.again = (!self.is_done()).then(|| (now + INITIAL_TIMEOUT, INITIAL_TIMEOUT));
    }

    /// The number of the redirection under way.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Whom to tell, or to tell again.
    pub fn untold(&self) -> Vec<usize> {
        (0..self.acknowledged.len()).filter(|&at| !self.acknowledged[at]).collect()
    }

    /// Whether all have acknowledged it.
    pub fn is_done(&self) -> bool {
        self.acknowledged.iter().all(|&acknowledged| acknowledged)
    }

    /// One has acknowledged the redirection of this number; whether it is the one under way, and it is the
    /// first time.
    pub fn acknowledge(&mut self, correspondent: usize, sequence: u32) -> bool {
        let first =
            sequence == self.sequence && !std::mem::replace(&mut self.acknowledged[correspondent], true);
        if self.is_done() {
            self.again = None;
        }
        first
    }

    pub fn poll_timeout(&self) -> Option<Time> {
        self.again.map(|(at, _)| at)
    }

    /// Whether it is time to tell again.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        let Some((_, last)) = self.again.filter(|&(at, _)| at <= now) else { return false };
        let next = (last * 2).min(LONGEST_TIMEOUT);
        self.again = Some((now + next, next));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_not_acknowledged_is_told_again_after_1_2_4_and_at_most_32_s() {
        let mut redirection = Redirection::new(2);
        assert!(redirection.is_done());
        redirection.begin(Time::ZERO);
        assert_eq!(redirection.untold(), [0, 1]);
        assert!(!redirection.acknowledge(0, 0), "of one before");
        assert!(redirection.acknowledge(0, 1) && !redirection.acknowledge(0, 1));
        let mut told_s = Vec::new();
        while told_s.len() < 8 {
            let Some(at) = redirection.poll_timeout() else { panic!("it waits") };
            assert!(redirection.handle_timeout(at) && !redirection.handle_timeout(at));
            assert_eq!(redirection.untold(), [1]);
            told_s.push(at.as_secs_f64());
        }
        assert_eq!(told_s, [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 95.0, 127.0]);
        redirection.acknowledge(1, 1);
        assert_eq!((redirection.poll_timeout(), redirection.is_done()), (None, true));
    }
}
