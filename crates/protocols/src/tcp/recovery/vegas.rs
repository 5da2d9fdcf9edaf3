//! Vegas' repair: the fast recovery that the authors' implementation has from Reno, with the retransmissions
//! of Brakmo and Peterson (1995) section III.A.
//!
//! The segment at `snd_una` is retransmitted and the window exceeds cwnd by SMSS for every duplicate ACK so
//! far and further. The first ACK for new data ends that, and the congestion control takes it as any other:
//! whether the segment that is then first is lost as well is for [`detection`](super::super::detection) to
//! say, which begins a new repair. So is a retransmission that is lost itself.
//!
//! After a timeout, duplicate ACKs of what is sent anew and had arrived tell of no loss: no repair begins
//! until an ACK covers more than was sent before (Floyd, "TCP and Successive Fast Retransmits", 1994; ns-2's
//! Vegas does the same).

use super::{Hole, LossRecovery, Outstanding, Progress, Response, Settings};

/// The state of Vegas' recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vegas {
    recovering: bool,
    /// One above the highest octet sent when the timer last expired; the SYN at first.
    recover: u64,
    /// The octet at which the lost segment starts, until it is sent.
    retransmit: Option<u64>,
    inflation_bytes: u64,
}

impl LossRecovery for Vegas {
    const NAME: &str = "vegas";

    fn new(_settings: &Settings) -> Vegas {
        Vegas::default()
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        if at.snd_una <= self.recover {
            return Response::None;
        }
        if !self.recovering {
            self.recovering = true;
            self.inflation_bytes = u64::from(duplicates) * at.smss_bytes;
        }
        self.retransmit = Some(at.snd_una);
        Response::Repair
    }

    #[inline]
    fn on_duplicate(&mut self, at: &Outstanding) {
        self.inflation_bytes += at.smss_bytes;
    }

    #[inline]
    fn on_ack(&mut self, _at: &Outstanding, _acked_bytes: u64, _ssthresh_bytes: u64) -> Progress {
        if self.recovering {
            *self = Vegas { recover: self.recover, ..Vegas::default() };
        }
        Progress::Normal
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        *self = Vegas { recover: at.snd_max, ..Vegas::default() };
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
        cwnd_bytes + self.inflation_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(snd_una: u64, snd_nxt: u64) -> Outstanding {
        Outstanding { snd_una, snd_nxt, snd_max: snd_nxt, smss_bytes: 1000 }
    }

    #[test]
    fn inflates_by_the_duplicates_that_came_and_repeats_what_is_lost_again() {
        let mut part = Vegas::default();
        assert_eq!(part.on_loss(&at(1, 8001), 1), Response::Repair);
        assert_eq!(part.next_retransmission(&at(1, 8001), 5000), Some(Hole::from(1)));
        part.on_retransmitted(1, 1001);
        assert_eq!(part.send_window(6000, 1000), 7000);
        part.on_duplicate(&at(1, 8001));
        assert_eq!(part.on_loss(&at(1, 8001), 1), Response::Repair);
        assert_eq!(
            (part.next_retransmission(&at(1, 8001), 6000), part.send_window(6000, 1000)),
            (Some(Hole::from(1)), 8000)
        );
        assert_eq!(part.on_ack(&at(1001, 8001), 1000, 4000), Progress::Normal);
        assert_eq!(
            (part.next_retransmission(&at(1, 8001), 6000), part.send_window(6000, 1000)),
            (None, 6000)
        );
        assert!(!part.is_recovering());
    }

    #[test]
    fn nothing_is_repaired_of_what_was_sent_before_a_timeout() {
        let mut part = Vegas::default();
        part.on_timeout(&at(1, 10_001));
        assert_eq!(part.on_loss(&at(10_001, 12_001), 3), Response::None);
        part.on_ack(&at(1001, 8001), 1000, 4000);
        assert_eq!(part.on_loss(&at(10_001, 12_001), 3), Response::None);
        assert_eq!(part.on_loss(&at(11_001, 12_001), 0), Response::Repair);
    }
}
