//! NewReno's fast recovery: RFC 6582 3.2.
//!
//! The repair lasts until everything sent before it began is acknowledged. A partial ACK retransmits the next
//! hole at once, deflates the window by what it acknowledges and adds back one SMSS (step 5); only the first
//! one restarts the timer (the "Impatient" variant that the RFC specifies). The full ACK leaves min(ssthresh,
//! max(FlightSize, SMSS) + SMSS) (step 3, first option, which lets no burst go). After a repair or a timeout,
//! duplicate ACKs start no new one until an ACK covers more than was sent before (`recover`, the careful
//! variant); the heuristics of section 4 that would tell a lost segment from an unnecessary retransmission
//! are not used.

use super::{Hole, LossRecovery, Outstanding, Progress, Response, Settings};

/// The state of NewReno's recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno {
    recovering: bool,
    partial_ack_seen: bool,
    /// One above the highest octet sent when the last repair began or the timer last expired; the SYN at
    /// first.
    recover: u64,
    /// The octet at which the next hole starts, until it is sent.
    retransmit: Option<u64>,
    /// By how much the window exceeds cwnd; a partial ACK may take it below zero.
    inflation_bytes: i64,
}

impl LossRecovery for NewReno {
    const NAME: &str = "newreno";
    const VARIANT: Option<&str> =
        Some("Recovery that ends when all data outstanding at its start is acknowledged (RFC 6582).");
    /// By [`NewRenoPrr`](super::NewRenoPrr).
    const TAKES_PRR: bool = true;

    fn new(_settings: &Settings) -> NewReno {
        NewReno::default()
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        if self.recovering || at.snd_una <= self.recover {
            return Response::None;
        }
        *self = NewReno {
            recovering: true,
            partial_ack_seen: false,
            recover: at.snd_max,
            retransmit: Some(at.snd_una),
            inflation_bytes: signed(u64::from(duplicates) * at.smss_bytes),
        };
        Response::Repair
    }

    #[inline]
    fn on_duplicate(&mut self, at: &Outstanding) {
        if self.recovering {
            self.inflation_bytes += signed(at.smss_bytes);
        }
    }

    #[inline]
    fn on_ack(&mut self, at: &Outstanding, acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
        if !self.recovering {
            return Progress::Normal;
        }
        if at.snd_una >= self.recover {
            self.recovering = false;
            self.retransmit = None;
            self.inflation_bytes = 0;
            let flight = at.flight_bytes().max(at.smss_bytes);
            return Progress::Recovered { cwnd_bytes: ssthresh_bytes.min(flight + at.smss_bytes) };
        }
        self.retransmit = Some(at.snd_una);
        self.inflation_bytes -= signed(acked_bytes);
        if acked_bytes >= at.smss_bytes {
            self.inflation_bytes += signed(at.smss_bytes);
        }
        let restart_timer = !self.partial_ack_seen;
        self.partial_ack_seen = true;
        Progress::Partial { restart_timer }
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        *self = NewReno { recover: at.snd_max, ..NewReno::default() };
    }

    #[inline]
    fn next_retransmission(&self, _at: &Outstanding, _cwnd_bytes: u64) -> Option<Hole> {
        self.retransmit.map(Hole::from)
    }

    fn on_retransmitted(&mut self, _start: u64, _end: u64) {
        self.retransmit = None;
    }

    #[inline]
    fn send_window(&self, cwnd_bytes: u64, smss_bytes: u64) -> u64 {
        if self.inflation_bytes == 0 {
            return cwnd_bytes;
        }
        cwnd_bytes.saturating_add_signed(self.inflation_bytes).max(smss_bytes)
    }
}

/// Window arithmetic stays far below 2^63; the bound keeps a hostile peer from a wrapped sign.
#[inline]
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(snd_una: u64, snd_nxt: u64) -> Outstanding {
        Outstanding { snd_una, snd_nxt, snd_max: snd_nxt, smss_bytes: 1000 }
    }

    #[test]
    fn a_partial_ack_deflates_and_retransmits_the_next_hole() {
        let mut part = NewReno::default();
        assert_eq!(part.on_loss(&at(1, 10_001), 3), Response::Repair);
        part.on_retransmitted(1, 1001);
        for _ in 0..4 {
            part.on_duplicate(&at(1, 10_001));
        }
        // 5000 + (3 + 4) x 1000.
        assert_eq!(part.send_window(5000, 1000), 12_000);
        assert_eq!(part.on_ack(&at(3001, 12_001), 3000, 5000), Progress::Partial { restart_timer: true });
        assert_eq!(part.next_retransmission(&at(1, 10_001), 5000), Some(Hole::from(3001)));
        // 12000 - 3000 + 1000.
        assert_eq!(part.send_window(5000, 1000), 10_000);
        part.on_retransmitted(1, 1001);
        assert_eq!(part.on_ack(&at(3501, 12_001), 500, 5000), Progress::Partial { restart_timer: false });
        // 10000 - 500; less than a segment adds nothing back.
        assert_eq!(part.send_window(5000, 1000), 9500);
        // Everything sent before the repair is acknowledged; 2000 remain in flight: min(5000, 2000 + 1000).
        assert_eq!(part.on_ack(&at(10_001, 12_001), 6500, 5000), Progress::Recovered { cwnd_bytes: 3000 });
        assert_eq!(part.send_window(3000, 1000), 3000);
    }

    #[test]
    fn the_window_never_falls_below_a_segment() {
        let mut part = NewReno::default();
        assert_eq!(part.on_loss(&at(1, 100_001), 3), Response::Repair);
        part.on_ack(&at(90_001, 100_001), 90_000, 50_000);
        assert_eq!(part.send_window(50_000, 1000), 1000);
    }

    #[test]
    fn the_careful_variant_waits_for_an_ack_beyond_recover() {
        let mut part = NewReno::default();
        part.on_timeout(&at(1, 10_001));
        assert_eq!(part.on_loss(&at(4001, 12_001), 3), Response::None);
        assert_eq!(part.on_loss(&at(10_001, 12_001), 3), Response::None);
        assert_eq!(part.on_loss(&at(10_002, 12_001), 3), Response::Repair);
    }
}
