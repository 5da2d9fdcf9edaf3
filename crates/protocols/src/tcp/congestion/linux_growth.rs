//! How windows grow in Linux, whatever the law (Linux 6.12, `net/ipv4/tcp_cong.c`).

use super::Ack;

/// Slow start up to ssthresh (`tcp_slow_start`). Octets of the acknowledgement that congestion avoidance has,
/// or `None` where slow start has taken all.
#[inline]
pub(super) fn slow_start(
    cwnd_bytes: &mut u64,
    ssthresh_bytes: u64,
    smss_bytes: u64,
    ack: &Ack,
) -> Option<u64> {
    if *cwnd_bytes >= ssthresh_bytes {
        return Some(ack.bytes);
    }
    let counted_bytes = ack.bytes.min(ack.most_segments.saturating_mul(smss_bytes));
    let grown_bytes = counted_bytes.min(ssthresh_bytes - *cwnd_bytes);
    *cwnd_bytes += grown_bytes;
    Some(counted_bytes - grown_bytes).filter(|left_bytes| *left_bytes > 0)
}

/// cwnd grows by a segment for each `count` segments acknowledged (`tcp_cong_avoid_ai`). `credit_bytes` have
/// been acknowledged since it last did.
#[inline]
pub(super) fn avoid_congestion(
    cwnd_bytes: &mut u64,
    credit_bytes: &mut u64,
    smss_bytes: u64,
    count: u64,
    acked_bytes: u64,
) {
    let needed_bytes = count.saturating_mul(smss_bytes);
    // What was gathered for a larger count makes one segment.
    if *credit_bytes >= needed_bytes {
        *credit_bytes = 0;
        *cwnd_bytes += smss_bytes;
    }
    *credit_bytes = credit_bytes.saturating_add(acked_bytes);
    let segments = *credit_bytes / needed_bytes;
    *credit_bytes -= segments * needed_bytes;
    *cwnd_bytes = cwnd_bytes.saturating_add(segments * smss_bytes);
}
