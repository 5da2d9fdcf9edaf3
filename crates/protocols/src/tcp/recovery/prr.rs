//! Proportional rate reduction: RFC 9937.
//!
//! During fast recovery the window follows what arrives: while more than ssthresh is in flight, so much is
//! sent for each octet delivered that the flight comes down to ssthresh as all of it has been replaced; below
//! ssthresh as much as is delivered (the conservative bound, CRB), and a segment more where the
//! acknowledgement moves SND.UNA and tells of no further loss (the slow-start bound, SSRB). At the end the
//! congestion control leaves ssthresh.
//!
//! Chosen: the window is a segment at least, as every congestion window is.

/// The state of a repair.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Prr {
    /// RecoverFS: what was in flight when the repair began.
    recover_fs_bytes: u64,
    /// prr_delivered and prr_out.
    delivered_bytes: u64,
    out_bytes: u64,
    cwnd_bytes: u64,
}

impl Prr {
    /// A repair begins with so many octets in flight, those included of which the acknowledgement under way
    /// has told; with `first_bytes` in the window, which hold the first retransmission.
    pub(in crate::tcp) fn begin(flight_bytes: u64, first_bytes: u64) -> Prr {
        Prr { recover_fs_bytes: flight_bytes.max(1), cwnd_bytes: first_bytes, ..Prr::default() }
    }

    /// An acknowledgement tells of `delivered_bytes` in either way; `pipe_bytes` are in flight. `safe` if it
    /// moves SND.UNA and tells of no further loss.
    pub(in crate::tcp) fn on_ack(
        &mut self,
        delivered_bytes: u64,
        pipe_bytes: u64,
        ssthresh_bytes: u64,
        smss_bytes: u64,
        safe: bool,
    ) {
        if delivered_bytes == 0 {
            return;
        }
        self.delivered_bytes += delivered_bytes;
        let mut count = if pipe_bytes > ssthresh_bytes {
            let share = u128::from(self.delivered_bytes) * u128::from(ssthresh_bytes);
            let share = share.div_ceil(u128::from(self.recover_fs_bytes));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(self.out_bytes)
        } else {
            let behind = self.delivered_bytes.saturating_sub(self.out_bytes).max(delivered_bytes);
            let more = if safe { smss_bytes } else { 0 };
            (behind + more).min(ssthresh_bytes - pipe_bytes)
        };
        // The repair begins with a retransmission in any case.
        if self.out_bytes == 0 && count == 0 {
            count = smss_bytes;
        }
        self.cwnd_bytes = (pipe_bytes + count).max(smss_bytes);
    }

    /// Octets are sent, new or again.
    pub(in crate::tcp) fn on_sent(&mut self, bytes: u64) {
        self.out_bytes += bytes;
    }

    /// These counts with the window of another reduction.
    pub(in crate::tcp) fn with_window_of(self, other: &Prr) -> Prr {
        Prr { cwnd_bytes: other.cwnd_bytes, ..self }
    }

    /// So many octets have been sent, new or again.
    pub(in crate::tcp) fn set_out(&mut self, bytes: u64) {
        self.out_bytes = bytes;
    }

    /// RecoverFS.
    pub(in crate::tcp) fn recover_fs_bytes(&self) -> u64 {
        self.recover_fs_bytes
    }

    /// What RecoverFS exceeds the delivered octets by.
    pub(in crate::tcp) fn left_bytes(&self) -> u64 {
        self.recover_fs_bytes.saturating_sub(self.delivered_bytes)
    }

    /// What may be in flight.
    #[inline]
    pub(in crate::tcp) fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty segments of which one is lost, halved: RFC 9937's first case, with a duplicate ACK for each
    /// arrival.
    #[test]
    fn every_other_arrival_sends_until_the_flight_has_been_halved() {
        let mut prr = Prr::begin(20_000, 1000);
        let mut pipe = 19_000;
        let mut sent = Vec::new();
        // The first three arrive together in the ACK that begins the repair: three arrived, one lost.
        pipe -= 3000;
        prr.on_ack(3000, pipe, 10_000, 1000, false);
        let mut send = |prr: &mut Prr, pipe: &mut u64| {
            let mut count = 0;
            while *pipe + 1000 <= prr.cwnd_bytes() {
                *pipe += 1000;
                prr.on_sent(1000);
                count += 1;
            }
            sent.push(count);
        };
        send(&mut prr, &mut pipe);
        for _ in 0..16 {
            pipe -= 1000;
            prr.on_ack(1000, pipe, 10_000, 1000, false);
            send(&mut prr, &mut pipe);
        }
        // 3000 / 2 is 1500: one. Then 2000, 2500, 3000, ...: every other arrival, until the flight is
        // ssthresh.
        assert_eq!(sent, [1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert_eq!(pipe, 10_000);
    }

    #[test]
    fn the_share_of_what_arrives_is_rounded_up() {
        // 1000 x 2000 / 2001 is 999.5.
        let mut prr = Prr::begin(2001, 1000);
        prr.on_ack(1000, 3000, 2000, 1000, false);
        assert_eq!(prr.cwnd_bytes(), 4000);
    }

    #[test]
    fn below_ssthresh_as_much_goes_as_arrives_and_a_segment_more_when_it_is_safe() {
        // Of twenty, fifteen are lost: four in flight behind the ACK that tells of the last of them, ssthresh
        // ten.
        let mut prr = Prr::begin(20_000, 1000);
        prr.on_ack(1000, 4000, 10_000, 1000, false);
        assert_eq!(prr.cwnd_bytes(), 5000);
        prr.on_sent(1000);
        prr.on_ack(1000, 4000, 10_000, 1000, false);
        assert_eq!(prr.cwnd_bytes(), 5000);
        prr.on_sent(1000);
        prr.on_ack(1000, 4000, 10_000, 1000, true);
        assert_eq!(prr.cwnd_bytes(), 6000);
        // Never beyond ssthresh.
        prr.on_sent(2000);
        prr.on_ack(1000, 9500, 10_000, 1000, true);
        assert_eq!(prr.cwnd_bytes(), 10_000);
    }

    #[test]
    fn an_ack_that_delivers_nothing_moves_nothing_and_the_first_retransmission_always_goes() {
        let mut prr = Prr::begin(20_000, 1000);
        prr.on_ack(1, 30_000, 0, 1000, false);
        assert_eq!(prr.cwnd_bytes(), 31_000);
        prr.on_sent(1000);
        prr.on_ack(0, 1000, 10_000, 1000, true);
        assert_eq!(prr.cwnd_bytes(), 31_000);
    }
}
