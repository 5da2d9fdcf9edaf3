//! Reno's fast recovery: RFC 5681 3.2 as it stands.
//!
//! The segment at `snd_una` is retransmitted; the window is ssthresh + 3 SMSS and grows by SMSS with every further
//! duplicate ACK; the first ACK for new data ends the repair with cwnd = ssthresh. A second loss in the same window
//! needs three duplicates of its own, and mostly a timeout. The guard against several fast retransmits for one
//! window (`recover` of RFC 6582) is not part of RFC 5681 and not of this.

use super::{Outstanding, Progress, Response};

/// The state of Reno's recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno {
    recovering: bool,
    /// The octet at which the lost segment starts, until it is sent.
    retransmit: Option<u64>,
    inflation_bytes: u64,
}

impl Reno {
    #[inline]
    pub(super) fn is_recovering(&self) -> bool {
        self.recovering
    }

    pub(super) fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        if self.recovering {
            return Response::None;
        }
        self.recovering = true;
        self.retransmit = Some(at.snd_una);
        self.inflation_bytes = u64::from(duplicates) * at.smss_bytes;
        Response::Repair
    }

    #[inline]
    pub(super) fn on_duplicate(&mut self, at: &Outstanding) {
        if self.recovering {
            self.inflation_bytes += at.smss_bytes;
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ssthresh_bytes: u64) -> Progress {
        if !self.recovering {
            return Progress::Normal;
        }
        *self = Reno::default();
        Progress::Recovered { cwnd_bytes: ssthresh_bytes }
    }

    pub(super) fn on_timeout(&mut self) {
        *self = Reno::default();
    }

    #[inline]
    pub(super) fn next_retransmission(&self) -> Option<u64> {
        self.retransmit
    }

    pub(super) fn on_retransmitted(&mut self) {
        self.retransmit = None;
    }

    #[inline]
    pub(super) fn send_window(&self, cwnd_bytes: u64) -> u64 {
        cwnd_bytes + self.inflation_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflates_and_ends_at_the_first_new_ack() {
        let at = Outstanding { snd_una: 1, snd_nxt: 8001, snd_max: 8001, smss_bytes: 1000 };
        let mut part = Reno::default();
        assert_eq!(part.send_window(8000), 8000);
        assert_eq!(part.on_loss(&at, 3), Response::Repair);
        assert_eq!(part.next_retransmission(), Some(1));
        part.on_retransmitted();
        assert_eq!(part.next_retransmission(), None);
        // 4000 + 3 x 1000, and 1000 more a duplicate.
        assert_eq!(part.send_window(4000), 7000);
        part.on_duplicate(&at);
        assert_eq!(part.send_window(4000), 8000);
        assert_eq!(part.on_loss(&at, 3), Response::None);
        assert_eq!(part.on_ack(4000), Progress::Recovered { cwnd_bytes: 4000 });
        assert_eq!(part.on_ack(4000), Progress::Normal);
        assert_eq!(part.send_window(4000), 4000);
    }
}
