//! Reno's fast recovery: RFC 5681 3.2 as it stands.
//!
//! The segment at `snd_una` is retransmitted; the window is ssthresh + 3 SMSS and grows by SMSS with every
//! further duplicate ACK; the first ACK for new data ends the repair with cwnd = ssthresh. A second loss in
//! the same window needs three duplicates of its own, and mostly a timeout.
//!
//! RFC 5681 has no guard against several fast retransmits for one window. As an option there is that of
//! Floyd, "TCP and Successive Fast Retransmits" (1994), which RFC 6582 has for NewReno (`recover`, the
//! careful variant): after a repair or a timeout, duplicate ACKs begin none until an ACK covers more than was
//! sent before.

use super::{Hole, LossRecovery, Outstanding, Progress, Response, Settings};

/// The state of Reno's recovery.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    /// A window that has been repaired may be repaired again.
    successive: bool,
    /// One above the highest octet sent when the last repair began or the timer last expired; the SYN at
    /// first.
    recover: u64,
    recovering: bool,
    /// The octet at which the lost segment starts, until it is sent.
    retransmit: Option<u64>,
    inflation_bytes: u64,
}

impl LossRecovery for Reno {
    const NAME: &str = "reno";
    const VARIANT: Option<&str> =
        Some("Fast retransmit and fast recovery that ends with the first new acknowledgement (RFC 5681).");

    fn new(settings: &Settings) -> Reno {
        Reno::with(settings.successive_fast_retransmits)
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        if self.recovering || (!self.successive && at.snd_una <= self.recover) {
            return Response::None;
        }
        self.recovering = true;
        self.recover = at.snd_max;
        self.retransmit = Some(at.snd_una);
        self.inflation_bytes = u64::from(duplicates) * at.smss_bytes;
        Response::Repair
    }

    #[inline]
    fn on_duplicate(&mut self, at: &Outstanding) {
        if self.recovering {
            self.inflation_bytes += at.smss_bytes;
        }
    }

    #[inline]
    fn on_ack(&mut self, _at: &Outstanding, _acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
        if !self.recovering {
            return Progress::Normal;
        }
        *self = Reno { recover: self.recover, ..Reno::with(self.successive) };
        Progress::Recovered { cwnd_bytes: ssthresh_bytes }
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        *self = Reno { recover: at.snd_max, ..Reno::with(self.successive) };
    }

    #[inline]
    fn next_retransmission(&self, _at: &Outstanding, _cwnd_bytes: u64) -> Option<Hole> {
        self.retransmit.map(Hole::from)
    }

    fn on_retransmitted(&mut self, _start: u64, _end: u64) {
        self.retransmit = None;
    }

    #[inline]
    fn send_window(&self, cwnd_bytes: u64, _smss_bytes: u64) -> u64 {
        cwnd_bytes.saturating_add(self.inflation_bytes)
    }
}

impl Reno {
    /// A recovery that repairs a window more than once if `successive`.
    pub fn with(successive: bool) -> Reno {
        Reno { successive, recover: 0, recovering: false, retransmit: None, inflation_bytes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflates_and_ends_at_the_first_new_ack() {
        let at = Outstanding { snd_una: 1, snd_nxt: 8001, snd_max: 8001, smss_bytes: 1000 };
        let mut part = Reno::with(true);
        assert_eq!(part.send_window(8000, 1000), 8000);
        assert_eq!(part.on_loss(&at, 3), Response::Repair);
        assert_eq!(part.next_retransmission(&at, 5000), Some(Hole::from(1)));
        part.on_retransmitted(1, 1001);
        assert_eq!(part.next_retransmission(&at, 5000), None);
        // 4000 + 3 x 1000, and 1000 more a duplicate.
        assert_eq!(part.send_window(4000, 1000), 7000);
        part.on_duplicate(&at);
        assert_eq!(part.send_window(4000, 1000), 8000);
        assert_eq!(part.on_loss(&at, 3), Response::None);
        assert_eq!(part.on_ack(&at, 1000, 4000), Progress::Recovered { cwnd_bytes: 4000 });
        assert_eq!(part.on_ack(&at, 1000, 4000), Progress::Normal);
        assert_eq!(part.send_window(4000, 1000), 4000);
    }

    #[test]
    fn with_the_guard_a_window_is_repaired_once() {
        let at = |snd_una, snd_max| Outstanding { snd_una, snd_nxt: snd_max, snd_max, smss_bytes: 1000 };
        for successive in [true, false] {
            let again = if successive { Response::Repair } else { Response::None };
            let mut part = Reno::with(successive);
            assert_eq!(part.on_loss(&at(1, 10_001), 3), Response::Repair);
            part.on_ack(&at(1001, 10_001), 1000, 5000);
            assert_eq!(part.on_loss(&at(2001, 13_001), 3), again);
            // The timer has everything sent anew, up to what was sent by then.
            part.on_timeout(&at(2001, 13_001));
            assert_eq!(part.on_loss(&at(13_001, 15_001), 3), again);
            part.on_timeout(&at(13_001, 15_001));
            assert_eq!(part.on_loss(&at(15_002, 18_001), 3), Response::Repair);
        }
    }
}
