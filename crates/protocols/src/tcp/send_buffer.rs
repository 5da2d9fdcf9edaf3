//! The size of a send buffer: fixed, or one that follows the congestion window as Linux's does
//! (net/ipv4/tcp_input.c, `tcp_sndbuf_expand`). The memory of a segment is that of x86-64.

use roamsim_engine::{Span, Time};

use super::config::Config;

/// `TCP_INIT_CWND`, the fewest segments that a buffer has room for.
const LEAST_SEGMENTS: u64 = 10;
/// `MAX_TCP_HEADER` and `struct skb_shared_info` beside the data of a segment.
const HEAD_BYTES: u64 = 640;
/// `struct sk_buff`, aligned.
const RECORD_BYTES: u64 = 256;

/// The send buffer of a connection.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    /// What the application has written, or would have without a limit.
    pub(super) written: u64,
    pub(super) size_bytes: u64,
    /// Up to which it grows.
    pub(super) most_bytes: u64,
    /// The application closes once everything is in the buffer.
    pub(super) closes: bool,
    /// How long the buffer was the limit, and since when it is; `Time::MAX` when it is not.
    pub(super) limited: Span,
    pub(super) limited_since: Time,
}

impl SendBuffer {
    /// That of a connection which has a limit.
    pub(super) fn new(config: &Config) -> Option<Box<SendBuffer>> {
        let most_bytes = config.send_buffer_bytes?;
        Some(Box::new(SendBuffer {
            written: 0,
            size_bytes: config.initial_send_buffer_bytes.unwrap_or(most_bytes),
            most_bytes,
            closes: false,
            limited: Span::ZERO,
            limited_since: Time::MAX,
        }))
    }

    /// Follows a window of so many segments of `mss_bytes`.
    pub(super) fn follow(&mut self, segments: u64, mss_bytes: u64) {
        let segment_bytes = (mss_bytes + HEAD_BYTES).next_power_of_two() + RECORD_BYTES;
        let wanted = 2 * segments.max(LEAST_SEGMENTS) * segment_bytes;
        self.size_bytes = self.size_bytes.max(wanted.min(self.most_bytes));
    }
}
