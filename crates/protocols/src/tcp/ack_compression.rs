//! Compressed acknowledgements of Linux: a receiver answers out-of-order data with fewer duplicate ACKs, one
//! for several segments that arrive close together, as over links that aggregate frames.
//!
//! - Behind each acknowledgement that moves RCV.NXT, three duplicate ACKs go at once, as many as start a fast
//!   retransmit. Quick ACKs go at once and count as none of them.
//! - A further one waits for 5 % of the smaller of SRTT and the receiver's round trip, 1 ms at most, and for
//!   the timer's slack of 100 us. It answers all segments until then.
//! - It goes before that with the 45th such segment. It also goes where the SACK block of the segment is not
//!   among the two reported last: so each block stands in front of one ACK. Any segment that leaves has it.
//!
//! Source: Linux 6.12, `__tcp_ack_snd_check`, `tcp_sack_new_ofo_skb`, `tcp_comp_sack_delay_ns`,
//! `tcp_comp_sack_slack_ns` and `tcp_comp_sack_nr`. RFC 5681 4.2 wants each duplicate ACK at once (SHOULD).
//! Chosen: the timer uses all of its slack, as on a processor that is idle otherwise. Differs: where a third
//! block is the reason, the kernel tells of those before and lets the segment wait; here one ACK has both.

use roamsim_engine::Span;

/// TCP_FASTRETRANS_THRESH: so many duplicate ACKs are not compressed.
const FIRST_AT_ONCE: u8 = 3;

/// tcp_comp_sack_nr.
const MOST_COMPRESSED: u8 = 44;

/// tcp_comp_sack_delay_ns.
const MOST_DELAY: Span = Span::from_ms(1);

/// tcp_comp_sack_slack_ns.
const SLACK: Span = Span::from_us(100);

/// TCP_SACK_BLOCKS_EXPECTED: as many blocks are taken to fit any ACK.
const BLOCKS_EXPECTED: usize = 2;

/// The compression of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckCompression {
    /// RCV.NXT of the duplicate ACKs that are counted.
    rcv_nxt: u64,
    /// How many have gone at once.
    at_once: u8,
    /// Segments whose acknowledgement waits, unless one has gone since.
    compressed: u8,
}

impl AckCompression {
    /// A segment arrives beyond a gap, in the SACK block at `place` of those reported. True when its
    /// acknowledgement waits; `waits` says whether one does already.
    pub(super) fn on_out_of_order(&mut self, rcv_nxt: u64, place: usize, waits: bool) -> bool {
        if self.rcv_nxt != rcv_nxt {
            *self = AckCompression { rcv_nxt, ..AckCompression::default() };
        }
        if !waits {
            self.compressed = 0;
        }
        let is_full = self.compressed >= MOST_COMPRESSED;
        let drops_block = self.compressed > 0 && place >= BLOCKS_EXPECTED;
        if is_full || drops_block {
            return false;
        }
        if self.at_once < FIRST_AT_ONCE {
            self.at_once += 1;
            return false;
        }
        self.compressed += 1;
        true
    }

    /// Whether the acknowledgement that waits, if one does, is compressed.
    pub(super) fn is_waiting(&self, rcv_nxt: u64) -> bool {
        self.compressed > 0 && self.rcv_nxt == rcv_nxt
    }

    /// How long an acknowledgement waits over this round trip.
    pub(super) fn delay(round_trip: Option<Span>) -> Span {
        Span::from_ns(round_trip.unwrap_or_default().as_ns() / 20).min(MOST_DELAY) + SLACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_go_at_once_and_the_next_44_wait() {
        let mut part = AckCompression::default();
        let mut waits = false;
        let mut at_once = Vec::new();
        for n in 1..=100 {
            waits = part.on_out_of_order(1000, 0, waits);
            if !waits {
                at_once.push(n);
            }
        }
        // 1 to 3; 44 wait, and the 45th takes them along; 44 more wait.
        assert_eq!(at_once, [1, 2, 3, 48, 93]);
        // An acknowledgement that has gone meanwhile begins them anew, and one that moves RCV.NXT all.
        assert!(part.on_out_of_order(1000, 0, false) && part.compressed == 1);
        assert!(!part.on_out_of_order(2000, 0, true) && !part.is_waiting(2000));
    }

    #[test]
    fn a_block_that_is_not_among_the_last_two_is_told_of_at_once() {
        let mut part = AckCompression::default();
        (0..3).for_each(|_| assert!(!part.on_out_of_order(1, 0, false)));
        // Nothing waits that could be lost from the report.
        assert!(part.on_out_of_order(1, 2, false));
        assert!(part.on_out_of_order(1, 1, true));
        assert!(!part.on_out_of_order(1, 2, true));
    }

    #[test]
    fn the_delay_is_a_twentieth_of_the_round_trip_up_to_a_millisecond_and_slack() {
        let of = |ms| AckCompression::delay(Some(Span::from_ms(ms))).as_ns() / 1000;
        assert_eq!((of(2), of(20), of(200)), (200, 1100, 1100));
        assert_eq!(AckCompression::delay(None), SLACK);
    }
}
