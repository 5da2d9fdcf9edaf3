//! NewReno's fast recovery with proportional rate reduction, for connections without SACK: RFC 9937 6.2.
//!
//! [`NewReno`] says what is repaired, and until when. How much goes follows from [`Prr`], by estimates:
//! - A duplicate ACK of the repair, the first of them included, delivers a segment. An ACK of new data
//!   delivers what it acknowledges, less what duplicate ACKs have told of.
//! - A repair delivers at most RecoverFS, the flight at its beginning: no receiver gains by more duplicate
//!   ACKs than segments.
//! - In flight is all that is outstanding, less what duplicate ACKs have told of, less the hole that is to be
//!   retransmitted.
//!
//! A partial ACK tells of a further loss, so that the slow-start bound never applies. Its retransmission goes
//! at once (RFC 6582 3.2, step 5), and counts as sent. The end leaves ssthresh (RFC 9937 6.4).
//!
//! Duplicate ACKs ahead of the repair are not of it: what they told of counts as in flight until SND.UNA
//! passes it. Linux counts them (`tcp_add_reno_sack`).

use super::{Hole, LossRecovery, NewReno, Outstanding, Progress, Prr, Response, Settings};

/// The state of the recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewRenoPrr {
    repair: NewReno,
    prr: Prr,
    /// Octets that duplicate ACKs of this repair have told of, less those acknowledged since.
    told_bytes: u64,
    /// What the acknowledgement under way delivers.
    delivered_bytes: u64,
    /// Octets that may be outstanding; a segment at least.
    window_bytes: u64,
}

impl LossRecovery for NewRenoPrr {
    const NAME: &str = "newreno-prr";
    const TAKES_PRR: bool = true;

    fn new(_settings: &Settings) -> NewRenoPrr {
        NewRenoPrr::default()
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.repair.is_recovering()
    }

    #[inline]
    fn on_sent(&mut self, bytes: u64) {
        if self.is_recovering() {
            self.prr.on_sent(bytes);
        }
    }

    fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        let response = self.repair.on_loss(at, duplicates);
        if response == Response::Repair {
            let flight_bytes = at.flight_bytes();
            self.prr = Prr::begin(flight_bytes, flight_bytes);
            (self.told_bytes, self.delivered_bytes, self.window_bytes) = (0, 0, flight_bytes);
            self.on_duplicate(at);
        }
        response
    }

    fn on_duplicate(&mut self, at: &Outstanding) {
        self.told_bytes = (self.told_bytes + at.smss_bytes).min(self.prr.recover_fs_bytes());
        self.delivered_bytes += at.smss_bytes;
    }

    fn on_ack(&mut self, at: &Outstanding, acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
        if !self.is_recovering() {
            return Progress::Normal;
        }
        self.delivered_bytes += acked_bytes.saturating_sub(self.told_bytes);
        self.told_bytes = self.told_bytes.saturating_sub(acked_bytes);
        match self.repair.on_ack(at, acked_bytes, ssthresh_bytes) {
            Progress::Recovered { .. } => {
                self.told_bytes = 0;
                Progress::Recovered { cwnd_bytes: ssthresh_bytes }
            }
            progress => progress,
        }
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        self.repair.on_timeout(at);
        self.told_bytes = 0;
    }

    fn next_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        self.repair.next_retransmission(at, cwnd_bytes)
    }

    fn on_retransmitted(&mut self, start: u64, end: u64) {
        self.repair.on_retransmitted(start, end);
        // It is in flight again, and was outstanding before.
        self.window_bytes = self.window_bytes.saturating_sub(end - start);
    }

    #[inline]
    fn send_window(&self, cwnd_bytes: u64, smss_bytes: u64) -> u64 {
        if self.is_recovering() { self.window_bytes.max(smss_bytes) } else { cwnd_bytes }
    }
}

impl NewRenoPrr {
    /// A repair has begun amid a reduction.
    pub(super) fn carry_on(&mut self, prr: Prr) {
        self.prr = prr;
    }

    /// An acknowledgement has been taken, with all that it tells of.
    pub(in crate::tcp) fn follow(&mut self, at: &Outstanding, ssthresh_bytes: u64) {
        let delivered_bytes = std::mem::take(&mut self.delivered_bytes).min(self.prr.left_bytes());
        if !self.is_recovering() {
            return;
        }
        let hole_bytes = match self.repair.next_retransmission(at, 0) {
            Some(hole) => at.smss_bytes.min(at.snd_max - hole.start),
            None => 0,
        };
        let left_bytes = (self.told_bytes + hole_bytes).min(at.flight_bytes());
        let pipe_bytes = at.flight_bytes() - left_bytes;
        self.prr.on_ack(delivered_bytes, pipe_bytes, ssthresh_bytes, at.smss_bytes, false);
        self.window_bytes = self.prr.cwnd_bytes() + left_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSTHRESH: u64 = 10_000;

    fn at(snd_una: u64, snd_max: u64) -> Outstanding {
        Outstanding { snd_una, snd_nxt: snd_max, snd_max, smss_bytes: 1000 }
    }

    /// Twenty segments of which the first is retransmitted.
    fn repairing() -> NewRenoPrr {
        let mut part = NewRenoPrr::default();
        assert_eq!(part.on_loss(&at(1, 20_001), 3), Response::Repair);
        part.follow(&at(1, 20_001), SSTHRESH);
        assert_eq!(part.next_retransmission(&at(1, 20_001), SSTHRESH), Some(Hole::from(1)));
        part.on_retransmitted(1, 1001);
        part.on_sent(1000);
        part
    }

    fn duplicates(part: &mut NewRenoPrr, count: u64, at: &Outstanding) {
        for _ in 0..count {
            part.on_duplicate(at);
            part.follow(at, SSTHRESH);
        }
    }

    #[test]
    fn an_ack_delivers_what_duplicates_have_not_told_of() {
        let mut part = repairing();
        duplicates(&mut part, 3, &at(1, 20_001));
        // Four told of, six acknowledged: ceil(6 / 2), less the one that has gone. The hole is lost: two of
        // 14 - 1 + 2 may be outstanding beside it.
        part.on_ack(&at(6001, 20_001), 6000, SSTHRESH);
        part.follow(&at(6001, 20_001), SSTHRESH);
        assert_eq!(part.send_window(SSTHRESH, 1000), 13_000 + 2000 + 1000);
        assert_eq!(part.next_retransmission(&at(6001, 20_001), SSTHRESH), Some(Hole::from(6001)));
        // Beside it one more: the hole was outstanding before.
        part.on_retransmitted(6001, 7001);
        assert_eq!(part.send_window(SSTHRESH, 1000), 15_000);
    }

    #[test]
    fn the_repair_delivers_no_more_than_was_in_flight() {
        let mut part = repairing();
        // More has been retransmitted than delivered: a segment for each one delivered.
        part.on_sent(30_000);
        duplicates(&mut part, 19, &at(1, 20_001));
        assert_eq!(part.send_window(SSTHRESH, 1000), 21_000);
        part.on_sent(1000);
        duplicates(&mut part, 9, &at(1, 21_001));
        assert_eq!(part.send_window(SSTHRESH, 1000), 21_000);
    }

    #[test]
    fn the_end_and_the_timer_leave_the_window_of_the_congestion_control() {
        let mut part = repairing();
        duplicates(&mut part, 4, &at(1, 20_001));
        let mut other = part;
        assert_eq!(
            part.on_ack(&at(20_001, 22_001), 20_000, SSTHRESH),
            Progress::Recovered { cwnd_bytes: SSTHRESH }
        );
        assert_eq!(part.send_window(7000, 1000), 7000);
        other.on_timeout(&at(1, 20_001));
        assert_eq!((other.is_recovering(), other.send_window(1000, 1000)), (false, 1000));
        assert_eq!(other.next_retransmission(&at(1, 20_001), 1000), None);
    }
}
