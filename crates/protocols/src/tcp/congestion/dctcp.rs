//! DCTCP (RFC 8257): marks reduce the window by the share of octets that were marked.
//!
//! - DCTCP.Alpha estimates that share. At the end of each window of data it becomes (1 - g) Alpha + g M,
//!   where M is the marked share of the octets acknowledged in it (section 3.3). It begins at 1; g is 1/16
//!   (section 4.2).
//! - A mark, once in a window of data: cwnd = ssthresh = (1 - Alpha / 2) cwnd (section 3.3), at least two
//!   segments (chosen, as after a loss). With PRR for marks cwnd comes down over a round trip.
//! - Growth, losses and timeouts: as [`Reno`] (sections 3.3 and 3.4).
//!
//! The receiver's part, an echo that says which octets were marked, is in
//! [`ecn`](crate::tcp::connection).

use super::{Ack, Cause, CongestionControl, Reno, Settings};

/// The weight of the last window in DCTCP.Alpha (RFC 8257 section 4.2).
const ESTIMATION_GAIN: f64 = 1.0 / 16.0;

/// The state of the law.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct Dctcp {
    reno: Reno,
    /// Boxed so that connections with other laws stay small.
    marks: Box<Marks>,
}

/// The share of marked octets.
#[derive(Clone, Copy, Debug)]
struct Marks {
    /// DCTCP.Alpha.
    alpha: f64,
    /// Octets acknowledged in this window of data, and those of them that were marked.
    acked_bytes: u64,
    marked_bytes: u64,
    /// DCTCP.WindowEnd: an acknowledgement beyond it ends the window.
    window_end: u64,
}

impl CongestionControl for Dctcp {
    const NAME: &str = "dctcp";
    const ABOUT: Option<&str> = Some("DCTCP of RFC 8257");
    const VARIANT: Option<&str> = Some(
        "The recovery of SACK with a window that falls by the share of marked octets (DCTCP, RFC 8257). It needs `ecn`.",
    );
    const COUNTS_MARKS: bool = true;

    fn new(settings: &Settings) -> Dctcp {
        let marks = Marks { alpha: 1.0, acked_bytes: 0, marked_bytes: 0, window_end: 0 };
        Dctcp { reno: Reno::new(settings), marks: Box::new(marks) }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.reno.start(smss_bytes, initial_window_bytes);
    }

    fn set_smss(&mut self, bytes: u64) {
        self.reno.set_smss(bytes);
    }

    #[inline]
    fn cwnd_bytes(&self) -> u64 {
        self.reno.cwnd_bytes()
    }

    #[inline]
    fn ssthresh_bytes(&self) -> u64 {
        self.reno.ssthresh_bytes()
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.reno.on_ack(ack);
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            Cause::EcnEcho { .. } => {
                let left = self.cwnd_bytes() as f64 * (1.0 - self.marks.alpha / 2.0);
                self.reno.reduce_to(left as u64);
            }
            other => self.reno.on_congestion(other),
        }
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        self.reno.on_recovered(cwnd_bytes);
    }

    /// The share of marks stays: it was measured.
    fn undo(&mut self, before: Dctcp) {
        self.reno.undo(before.reno);
    }

    fn leave_slow_start(&mut self) {
        self.reno.leave_slow_start();
    }

    fn on_acked_marks(&mut self, acked_bytes: u64, marked: bool, snd_una: u64, snd_nxt: u64) {
        let marks = &mut *self.marks;
        marks.acked_bytes += acked_bytes;
        marks.marked_bytes += if marked { acked_bytes } else { 0 };
        if snd_una <= marks.window_end || marks.acked_bytes == 0 {
            return;
        }
        let share = marks.marked_bytes as f64 / marks.acked_bytes as f64;
        marks.alpha = (1.0 - ESTIMATION_GAIN) * marks.alpha + ESTIMATION_GAIN * share;
        marks.window_end = snd_nxt;
        (marks.acked_bytes, marks.marked_bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(cwnd_bytes: u64) -> Dctcp {
        let mut law = Dctcp::new(&Settings::default());
        law.start(1000, cwnd_bytes);
        law
    }

    #[test]
    fn alpha_follows_the_marked_share_of_each_window() {
        let mut law = law(10_000);
        // The first acknowledgement ends the first window: none of 1000 octets marked, 15/16.
        law.on_acked_marks(1000, false, 1001, 10_001);
        assert_eq!(law.marks.alpha, 0.9375);
        // 2000 of 10,000 are marked; the acknowledgement of 10,001 does not pass the window's end, that of
        // 11,001 does: 15/16 of 0.9375 and 1/16 of 2000 / 10,000.
        for (at, marked) in [(2001, true), (3001, true), (10_001, false)] {
            law.on_acked_marks(if at == 10_001 { 7000 } else { 1000 }, marked, at, 15_001);
        }
        assert_eq!(law.marks.alpha, 0.9375);
        law.on_acked_marks(1000, false, 11_001, 20_001);
        assert_eq!(law.marks.alpha, 0.9375 * 15.0 / 16.0 + 0.2 / 16.0);
        assert_eq!((law.marks.acked_bytes, law.marks.window_end), (0, 20_001));
    }

    #[test]
    fn a_mark_takes_half_of_the_share() {
        // Alpha 1: half, as a loss. Alpha 0.1: a twentieth.
        let mut law = law(20_000);
        law.on_congestion(Cause::EcnEcho { flight_bytes: 5000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (10_000, 10_000));
        law.marks.alpha = 0.1;
        law.on_congestion(Cause::EcnEcho { flight_bytes: 5000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (9500, 9500));
        // Never below two segments.
        law.marks.alpha = 1.0;
        (0..5).for_each(|_| law.on_congestion(Cause::EcnEcho { flight_bytes: 5000 }));
        assert_eq!(law.cwnd_bytes(), 2000);
        // A loss takes half of what is in flight, whatever the share.
        law.marks.alpha = 0.0;
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 8000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (4000, 4000));
    }

    #[test]
    fn an_undone_reduction_keeps_the_share() {
        let mut law = law(10_000);
        let before = law.clone();
        law.marks.alpha = 0.25;
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 10_000 });
        law.undo(before);
        assert_eq!((law.cwnd_bytes(), law.marks.alpha), (10_000, 0.25));
    }
}
