//! Tahoe: fast retransmit without fast recovery (Jacobson, "Congestion Avoidance and Control", 1988; as
//! compared by Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", 1996).
//!
//! Duplicate ACKs do what a timeout does, without backing off the RTO: ssthresh = max(FlightSize / 2, 2
//! SMSS), cwnd = 1 SMSS, and the connection goes back to `snd_una` and sends anew in slow start. Duplicate
//! ACKs neither inflate the window nor let new segments go; limited transmit (RFC 3042) is younger and not
//! used.
//!
//! What is sent anew has in part arrived, and its duplicate ACKs tell of no loss. After duplicate ACKs or a
//! timeout have made it go back, further ones do not until an ACK covers more than was sent before: the
//! remedy of Floyd, "TCP and Successive Fast Retransmits" (1994), chosen as the comparisons of 1996 are about
//! one loss event at a time, and without it a window that has lost several segments may be sent several
//! times.

use super::{LossRecovery, Outstanding, Response, Settings};

/// The state of Tahoe's recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tahoe {
    /// One above the highest octet sent when the connection last went back; the SYN at first.
    recover: u64,
}

impl LossRecovery for Tahoe {
    const NAME: &str = "tahoe";
    const VARIANT: Option<&str> = Some("Fast retransmit, then slow start from one segment (Jacobson 1988).");

    fn new(_settings: &Settings) -> Tahoe {
        Tahoe::default()
    }

    #[inline]
    fn limited_transmit_bytes(&self, _duplicates: u64, _smss_bytes: u64) -> u64 {
        0
    }

    fn on_loss(&mut self, at: &Outstanding, _duplicates: u32) -> Response {
        if at.snd_una <= self.recover {
            return Response::None;
        }
        self.recover = at.snd_max;
        Response::GoBack
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        self.recover = at.snd_max;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(snd_una: u64, snd_nxt: u64, snd_max: u64) -> Outstanding {
        Outstanding { snd_una, snd_nxt, snd_max, smss_bytes: 1000 }
    }

    #[test]
    fn goes_back_once_a_window() {
        let mut part = Tahoe::default();
        assert_eq!(part.on_loss(&at(1, 10_001, 10_001), 3), Response::GoBack);
        assert_eq!(part.on_loss(&at(5001, 7001, 10_001), 3), Response::None);
        assert_eq!(part.on_loss(&at(10_001, 12_001, 12_001), 3), Response::None);
        assert_eq!(part.on_loss(&at(11_001, 14_001, 14_001), 3), Response::GoBack);
    }

    #[test]
    fn a_timeout_guards_as_well() {
        let mut part = Tahoe::default();
        part.on_timeout(&at(1, 10_001, 10_001));
        assert_eq!(part.on_loss(&at(5001, 7001, 10_001), 3), Response::None);
    }
}
