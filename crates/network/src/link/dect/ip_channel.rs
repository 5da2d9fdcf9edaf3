//! The Ip channel of one bearer and direction: a packet of four protected subfields, repeated until all are
//! correct (ETS 300 175-3 clause 10.8.2, the MAC's error correction by repetition).
//!
//! In every frame the subfields still missing are sent, those that arrive are kept, and with the last one the
//! packet is the receiver's in that frame. After so many attempts it is discarded. The acknowledgement
//! travels in the A field of the other direction; with A-field errors it can be missed, and the packet is
//! repeated.
//!
//! Not modelled: the packet number's single bit, and that a repeated packet carries new data in subfields
//! already acknowledged.

use super::errors::{ErrorProcess, SUBFIELDS};
use super::mac::Quality;

/// Attempts before a packet is discarded: the paper.
pub const MAX_ATTEMPTS: u32 = 10;

/// A packet on a bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket {
    /// The fragment of the DLC that it carries.
    pub fragment: u64,
    /// Subfields that the receiver does not have.
    missing: u32,
    attempts: u32,
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Not complete: goes on.
    Incomplete,
    /// Complete with this frame.
    Received {
        /// The sender knows, and the bearer is free in the next frame.
        acknowledged: bool,
    },
    /// Complete before, acknowledged with this frame.
    Acknowledged,
    /// The attempts are used up, and the receiver does not have it.
    Discarded,
}

/// Whether the A fields of a frame arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AFields {
    /// Of the packet's direction: without it nothing of the packet is received.
    pub forward: bool,
    /// Of the other direction, which carries the acknowledgement.
    pub reverse: bool,
}

impl AFields {
    /// Without A-field errors.
    pub const CORRECT: AFields = AFields { forward: true, reverse: true };
}

impl IpPacket {
    /// A packet that has not been sent.
    pub fn new(fragment: u64) -> IpPacket {
        IpPacket { fragment, missing: SUBFIELDS, attempts: 0 }
    }

    /// Whether the receiver has it, and only the sender does not know.
    #[inline]
    pub fn is_received(&self) -> bool {
        self.missing == 0
    }

    /// Subfields that the receiver does not have: those of the next attempt.
    #[inline]
    pub fn missing(&self) -> u32 {
        self.missing
    }

    /// Sends the missing subfields once, on a bearer of this state; `subfields` tells which fail.
    #[inline]
    pub fn attempt(
        &mut self,
        subfields: &mut ErrorProcess,
        quality: Quality,
        a_fields: AFields,
        max_attempts: u32,
    ) -> Attempt {
        self.attempts += 1;
        let missing_before = self.missing;
        if missing_before > 0 && a_fields.forward {
            self.missing = subfields.failed(quality, missing_before);
        }
        let last = self.attempts >= max_attempts;
        match (self.missing, missing_before) {
            (0, 0) if a_fields.reverse || last => Attempt::Acknowledged,
            (0, 0) => Attempt::Incomplete,
            (0, _) => Attempt::Received { acknowledged: a_fields.reverse || last },
            _ if last => Attempt::Discarded,
            _ => Attempt::Incomplete,
        }
    }

    /// The same where all A fields arrive and so many of the missing subfields, which is not none, fail:
    /// whether the packet is discarded.
    #[inline]
    pub fn fail(&mut self, failing: u32, max_attempts: u32) -> bool {
        self.attempts += 1;
        self.missing = failing;
        self.attempts >= max_attempts
    }
}

/// Counts of the Ip channels of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpStats {
    /// Packets begun.
    pub packets: u64,
    /// Attempts: frames in which a bearer sent a packet or what is missing of it.
    pub attempts: u64,
    /// Those that left something of their packet missing.
    pub in_error: u64,
    /// Packets received completely.
    pub received: u64,
    /// Packets discarded after the last attempt.
    pub discarded: u64,
    /// Unfinished packets lost because their bearer was released or handed over.
    pub lost_with_bearer: u64,
}

#[cfg(test)]
mod tests {
    use super::super::errors::{ErrorConfig, SUBFIELD_BITS};
    use super::*;
    use roamsim_engine::Stream;

    /// Subfields with this bit error ratio in the good state.
    fn subfields(ber_good: f64) -> ErrorProcess {
        let config = ErrorConfig { ber_good, ..ErrorConfig::default() };
        ErrorProcess::new(&config, SUBFIELD_BITS, Stream::new(1, 0, "ip"))
    }

    /// Attempts until it is over, and whether it was received.
    fn send(errors: &mut ErrorProcess) -> (u32, bool) {
        let mut packet = IpPacket::new(0);
        loop {
            match packet.attempt(errors, Quality::Good, AFields::CORRECT, MAX_ATTEMPTS) {
                Attempt::Received { .. } => return (packet.attempts, true),
                Attempt::Discarded => return (packet.attempts, false),
                _ => {}
            }
        }
    }

    #[test]
    fn correct_subfields_are_kept() {
        let mut errors = subfields(3e-2);
        let n = 100_000;
        let sent: Vec<_> = (0..n).map(|_| send(&mut errors)).collect();
        // A subfield is missing after k attempts with s^k, s = 1 - 0.97^80 = 0.91255; the packet is complete
        // after ten with (1 - s^10)^4 = (1 - 0.40049)^4 = 0.12918. Standard error sqrt(0.1292 * 0.8708 /
        // 1e5) = 0.00106.
        let received = sent.iter().filter(|s| s.1).count() as f64 / f64::from(n);
        assert!((received - 0.12918).abs() < 0.0032, "{received}");
        // Without memory hardly any would be: 10 (1 - s)^4 = 0.0006. Mean attempts: the sum over k = 0..9 of
        // 1 - (1 - s^k)^4, by term 1, 0.99994, 0.99922, 0.99668, 0.99117, 0.98183, 0.96814, 0.94995, 0.92740,
        // 0.90085: 9.7152. They vary by less than 1: 3 standard errors 0.0095.
        let attempts = sent.iter().map(|s| f64::from(s.0)).sum::<f64>() / f64::from(n);
        assert!((attempts - 9.7152).abs() < 0.0095, "{attempts}");
    }

    #[test]
    fn without_errors_every_packet_takes_one_frame() {
        assert_eq!(send(&mut subfields(0.0)), (1, true));
        assert_eq!(send(&mut subfields(1.0)), (10, false));
    }

    #[test]
    fn a_missed_acknowledgement_repeats_the_packet_and_delivers_it_once() {
        let mut errors = subfields(0.0);
        let mut packet = IpPacket::new(7);
        let mut attempt = |forward, reverse| {
            packet.attempt(&mut errors, Quality::Good, AFields { forward, reverse }, MAX_ATTEMPTS)
        };
        assert_eq!(attempt(false, true), Attempt::Incomplete);
        assert_eq!(attempt(true, false), Attempt::Received { acknowledged: false });
        assert_eq!(attempt(true, false), Attempt::Incomplete);
        assert_eq!(attempt(false, true), Attempt::Acknowledged);
    }
}
