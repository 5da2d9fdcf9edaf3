//! The size of a peer's full segments, as those that arrive tell it.
//!
//! It begins with 536 octets, half a window or the MSS, whichever is least. A segment of that size or more
//! sets it. A smaller one sets it if it repeats the size of the one before it, and both may be full: they
//! have 536 octets, or 88 without PSH and FIN. SACK blocks count as payload in that comparison.
//!
//! Source: Linux 6.12, `tcp_initialize_rcv_mss` and `tcp_measure_rcv_mss`. Differs: 88 octets are the least
//! to begin with, unless the MSS or the window is smaller.

use super::segment::{Flags, Segment};

/// TCP_MSS_DEFAULT.
const FIRST_BYTES: u64 = 536;

/// TCP_MIN_MSS.
const LEAST_BYTES: u64 = 88;

/// The estimate of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedMss {
    /// 0 before the first segment.
    bytes: u64,
    /// The size of the segment before, if it was smaller and may have been full; otherwise 0.
    short_bytes: u64,
}

impl ReceivedMss {
    /// A segment arrives whose header has `option_bytes` of options beside SACK blocks; `most_bytes` is the
    /// MSS. Returns the estimate.
    pub(super) fn on_data(
        &mut self,
        segment: &Segment,
        option_bytes: u32,
        most_bytes: u64,
        window_bytes: u64,
    ) -> u64 {
        if self.bytes == 0 {
            let first = FIRST_BYTES.min(window_bytes / 2).max(LEAST_BYTES);
            self.bytes = first.min(most_bytes).min(window_bytes).max(1);
        }
        let before = std::mem::take(&mut self.short_bytes);
        let payload = u64::from(segment.payload_bytes);
        if payload >= self.bytes {
            self.bytes = payload.min(most_bytes);
            return self.bytes;
        }
        let with_options = payload + u64::from(segment.options.bytes());
        let ends = segment.flags.intersects(Flags::PSH | Flags::FIN);
        if with_options >= FIRST_BYTES || with_options >= LEAST_BYTES && !ends {
            self.short_bytes = with_options.saturating_sub(u64::from(option_bytes));
            if self.short_bytes == before && before > 0 {
                self.bytes = before;
            }
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::segment::Options;

    fn segment(payload_bytes: u32, flags: Flags) -> Segment {
        Segment {
            source_port: 1,
            destination_port: 2,
            seq: 0,
            ack: 0,
            flags: flags | Flags::ACK,
            window: 0,
            payload_bytes,
            options: Options::default(),
        }
    }

    fn after(sizes: &[(u32, Flags)], window_bytes: u64) -> u64 {
        let mut part = ReceivedMss::default();
        let mut estimate = 0;
        for &(bytes, flags) in sizes {
            estimate = part.on_data(&segment(bytes, flags), 0, 1460, window_bytes);
        }
        estimate
    }

    #[test]
    fn it_begins_small_and_a_larger_segment_sets_it() {
        let psh = Flags::PSH;
        // 536; half of 600; 88; the whole window of 50.
        for (window, first) in [(65_535, 536), (600, 300), (120, 88), (50, 50)] {
            assert_eq!(after(&[(10, psh)], window), first, "{window}");
        }
        assert_eq!(after(&[(10, psh), (1000, psh)], 65_535), 1000);
        assert_eq!(after(&[(1460, psh), (1000, psh)], 65_535), 1460);
        // Never above the MSS.
        assert_eq!(after(&[(4000, psh)], 65_535), 1460);
    }

    #[test]
    fn two_equal_ones_that_may_be_full_lower_it() {
        let (none, psh) = (Flags::NONE, Flags::PSH);
        let large = (1460, psh);
        assert_eq!(after(&[large, (600, psh)], 65_535), 1460);
        assert_eq!(after(&[large, (600, psh), (600, psh)], 65_535), 600);
        assert_eq!(after(&[large, (600, psh), (601, psh), (600, psh)], 65_535), 1460);
        // Below 536 only without PSH, below 88 never.
        assert_eq!(after(&[large, (500, psh), (500, psh)], 65_535), 1460);
        assert_eq!(after(&[large, (500, none), (500, none)], 65_535), 500);
        assert_eq!(after(&[large, (87, none), (87, none)], 65_535), 1460);
    }

    #[test]
    fn sack_blocks_count_and_timestamps_do_not() {
        let mut part = ReceivedMss::default();
        let mut with_block = segment(588, Flags::PSH);
        // A block takes 4 + 8 octets.
        with_block.options.sack.push(1, 2);
        part.on_data(&segment(1448, Flags::PSH), 0, 1460, 65_535);
        for segment in [segment(600, Flags::PSH), with_block] {
            part.on_data(&segment, 0, 1460, 65_535);
        }
        assert_eq!(part.bytes, 600);
    }
}
