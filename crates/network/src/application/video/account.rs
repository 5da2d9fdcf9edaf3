//! Counts the frames that could be decoded in time at the receiver.
//!
//! Frames are sent in decoding order. A frame is complete when all its packets have arrived, and in time if
//! the last of them has by its deadline. It is decodable if it is in time and its references are decodable.
//! A P frame refers to the I or P frame before it. A B frame refers to the two before it, which are shown
//! before and after it. Not modelled: decoders that conceal losses.

use super::FrameKind;
use roamsim_engine::{Span, Time};

#[derive(Clone, Copy, Debug)]
struct Expected {
    kind: FrameKind,
    /// The number of the message with which it begins.
    first: u64,
    missing: u32,
    sent: Time,
    /// When the last of its packets so far arrived.
    last: Time,
}

/// The account of a video's receiver.
#[derive(Clone, Debug)]
pub struct Account {
    playout_delay: Span,
    frames: Vec<Expected>,
    messages: u64,
    /// By message, whether it has arrived.
    arrived: Vec<bool>,
}

/// How many frames had their deadline, and what became of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameCounts {
    /// Sent, with a deadline that has come.
    pub frames: u64,
    /// All packets arrived.
    pub complete: u64,
    /// All packets arrived by the deadline.
    pub in_time: u64,
    /// In time, and what they are decoded from as well.
    pub decodable: u64,
    /// From the instant of a frame to the arrival of its last packet, over complete frames; NaN without any.
    pub mean_delay_s: f64,
}

impl Account {
    pub(super) fn new(playout_delay: Span) -> Account {
        Account { playout_delay, frames: Vec::new(), messages: 0, arrived: Vec::new() }
    }

    /// A frame is sent, from `now` on, in so many messages.
    pub(super) fn sent(&mut self, now: Time, kind: FrameKind, packets: u32) {
        self.frames.push(Expected { kind, first: self.messages, missing: packets, sent: now, last: now });
        self.messages += u64::from(packets);
        self.arrived.resize(self.messages as usize, false);
    }

    /// The message of this number has arrived. A copy of it counts for nothing.
    pub(super) fn arrived(&mut self, now: Time, message: u64) {
        let Some(arrived) = self.arrived.get_mut(message as usize) else { return };
        if std::mem::replace(arrived, true) {
            return;
        }
        let behind = self.frames.partition_point(|frame| frame.first <= message);
        let Some(frame) = behind.checked_sub(1).and_then(|at| self.frames.get_mut(at)) else { return };
        frame.missing = frame.missing.saturating_sub(1);
        frame.last = frame.last.max(now);
    }

    /// What became of the frames whose deadline is not after `now`.
    pub(super) fn counts(&self, now: Time) -> FrameCounts {
        let mut counts = FrameCounts { frames: 0, complete: 0, in_time: 0, decodable: 0, mean_delay_s: 0.0 };
        // Whether the last I or P frame can be decoded, and the one before it. B frames behind the very first
        // I frame have that alone.
        let mut references = [None, None];
        let mut delays_ns = 0_u128;
        for frame in self.frames.iter().take_while(|frame| frame.sent + self.playout_delay <= now) {
            let complete = frame.missing == 0;
            let in_time = complete && frame.last <= frame.sent + self.playout_delay;
            let decodable = in_time
                && match frame.kind {
                    FrameKind::I => true,
                    FrameKind::P => references[0] == Some(true),
                    FrameKind::B => references[0] == Some(true) && references[1] != Some(false),
                };
            match frame.kind {
                FrameKind::I | FrameKind::P => references = [Some(decodable), references[0]],
                FrameKind::B => {}
            }
            counts.frames += 1;
            counts.complete += u64::from(complete);
            counts.in_time += u64::from(in_time);
            counts.decodable += u64::from(decodable);
            delays_ns += if complete { u128::from(frame.last.since(frame.sent).as_ns()) } else { 0 };
        }
        counts.mean_delay_s = delays_ns as f64 / counts.complete as f64 / 1e9;
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::FrameKind::{B, I, P};
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Frames of two messages each, 40 ms apart, with 150 ms to the deadline; `lost` and `late` name frames.
    fn counts(kinds: &[FrameKind], lost: &[usize], late: &[usize]) -> [u64; 4] {
        let mut account = Account::new(Span::from_ms(150));
        for (at, &kind) in kinds.iter().enumerate() {
            account.sent(ms(40 * at as u64), kind, 2);
        }
        for at in 0..kinds.len() {
            let sent = 40 * at as u64;
            account.arrived(ms(sent + if late.contains(&at) { 151 } else { 150 }), 2 * at as u64 + 1);
            if !lost.contains(&at) {
                account.arrived(ms(sent + 10), 2 * at as u64);
            }
        }
        let counts = account.counts(ms(10_000));
        [counts.frames, counts.complete, counts.in_time, counts.decodable]
    }

    #[test]
    fn frames_need_what_they_are_decoded_from() {
        // Shown as I B P B I B P: each B is sent behind the later one of the two that it is decoded from.
        let kinds = [I, P, B, I, B, P, B];
        assert_eq!(counts(&kinds, &[], &[]), [7, 7, 7, 7]);
        // Without the first P: the Bs on both sides of it, but nothing behind the next I.
        assert_eq!(counts(&kinds, &[1], &[]), [7, 6, 6, 4]);
        // A B frame is missed by nobody.
        assert_eq!(counts(&kinds, &[2], &[]), [7, 6, 6, 6]);
        // Late is as bad as lost: the B before the second I, the P behind it, and its B.
        assert_eq!(counts(&kinds, &[], &[3]), [7, 7, 6, 3]);
        // The first I: all up to the next, and the B between the two.
        assert_eq!(counts(&kinds, &[0], &[]), [7, 6, 6, 3]);
        // The first B frames have one reference alone; nothing is decoded from nothing.
        assert_eq!(counts(&[I, B, P], &[], &[]), [3, 3, 3, 3]);
        assert_eq!(counts(&[P, B, I], &[], &[]), [3, 3, 3, 1]);
    }

    #[test]
    fn frames_are_judged_at_their_deadline() {
        let mut account = Account::new(Span::from_ms(100));
        account.sent(ms(0), I, 1);
        account.sent(ms(40), P, 2);
        account.arrived(ms(30), 0);
        account.arrived(ms(60), 1);
        account.arrived(ms(90), 2);
        // A link has made two of it.
        account.arrived(ms(91), 1);
        assert_eq!(account.counts(ms(99)).frames, 0);
        assert!(account.counts(ms(99)).mean_delay_s.is_nan());
        assert_eq!(account.counts(ms(139)).decodable, 1);
        let both = account.counts(ms(140));
        // 30 ms, and 90 - 40 = 50 ms.
        assert_eq!((both.frames, both.decodable, both.mean_delay_s), (2, 2, 0.04));
    }
}
