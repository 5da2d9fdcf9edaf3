//! SACKs received: what they acknowledge, what they report missing (RFC 9260 6.2.1, 6.3.2, 7.2.4).
//!
//! The work for a SACK grows with what it changes and with its blocks, not with the window: blocks that the last SACK
//! had too are passed over, and a chunk is looked at for missing reports only while it may still be reported.

use roamsim_engine::Time;

use super::{Fate, Sender};
use crate::sctp::chunk::Sack;
use crate::sctp::config::Rules;
use crate::sctp::paths::Paths;
use crate::sctp::stats::Stats;
use crate::tcp::sequence::from_wire;

/// What a SACK has told.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::sctp) struct Progress {
    /// Octets of chunks that are acknowledged for the first time.
    newly: u64,
    /// The highest of their TSNs.
    highest_newly: u64,
}

impl Progress {
    pub(in crate::sctp) fn is_any(self) -> bool {
        self.newly > 0
    }
}

impl Sender {
    /// A SACK, or the cumulative TSN of a SHUTDOWN with the window as it was; `None` when it is of no use.
    pub(in crate::sctp) fn acknowledge(
        &mut self,
        now: Time,
        sack: &Sack,
        paths: &mut Paths,
        stats: &mut Stats,
    ) -> Option<Progress> {
        let cumulative = from_wire(self.base, sack.cumulative_tsn_ack, self.acknowledged)?;
        if cumulative < self.acknowledged || cumulative > self.highest_sent() {
            return None;
        }
        for state in &mut paths.all {
            (state.newly, state.before, state.earliest_acknowledged) = (0, state.outstanding_bytes, false);
        }
        let mut progress = Progress::default();
        let advanced = cumulative > self.acknowledged;
        while self.acknowledged < cumulative {
            let tsn = self.acknowledged + 1;
            self.settle(now, tsn, paths, stats, &mut progress);
            self.flight.pop_front();
            self.acknowledged = tsn;
        }
        if !(sack.gaps.is_empty() && self.gaps.is_empty()) {
            self.take_gaps(now, sack, paths, stats, &mut progress);
        }
        if advanced && self.recovery_exit.is_none() {
            paths.all.iter_mut().filter(|state| state.newly > 0).for_each(|state| state.grow());
        }
        if self.recovery_exit.is_some_and(|exit| cumulative >= exit) {
            self.recovery_exit = None;
        }
        // RFC 9260 7.2.4: highest TSN newly acknowledged; in fast recovery, with progress, all that are reported.
        let highest_gap = self.gaps.last().map_or(0, |&(_, last)| last);
        let reported_below = match self.config.rules {
            Rules::Rfc2960 => highest_gap,
            Rules::Rfc9260 if self.recovery_exit.is_some() && advanced => highest_gap,
            Rules::Rfc9260 => progress.highest_newly,
        };
        self.count_missing(reported_below, paths, stats);
        self.peer_rwnd = u64::from(sack.a_rwnd_bytes).saturating_sub(self.outstanding_bytes);
        self.probing = false;
        self.one_packet_due &= !self.lost.is_empty();
        for place in 0..paths.all.len() {
            self.restart_timer(now, place, paths);
        }
        Some(progress)
    }

    /// T3-rtx stops when nothing is outstanding, and starts anew with the earliest acknowledged (RFC 9260 6.3.2).
    fn restart_timer(&mut self, now: Time, place: usize, paths: &mut Paths) {
        let state = &mut paths.all[place];
        if state.earliest_acknowledged {
            let from = state.earliest;
            let earliest = self.earliest_on(place, from);
            let state = &mut paths.all[place];
            state.earliest = earliest;
            if earliest == u64::MAX {
                state.all_acknowledged();
            } else {
                state.t3_at = Some(now + state.rtt.rto());
            }
        }
    }

    /// The chunk of this TSN is acknowledged.
    fn settle(&mut self, now: Time, tsn: u64, paths: &mut Paths, stats: &mut Stats, progress: &mut Progress) {
        let Some(sent) = self.at(tsn) else { return };
        let fate = std::mem::replace(&mut sent.fate, Fate::Acknowledged);
        let (path, bytes, payload_bytes) =
            (usize::from(sent.path), sent.bytes(), u64::from(sent.data.payload_bytes));
        let state = &mut paths.all[path];
        state.earliest_acknowledged |= state.earliest == tsn;
        match fate {
            Fate::Acknowledged => return,
            Fate::InFlight => {
                self.outstanding_bytes -= payload_bytes;
                state.outstanding_bytes -= bytes;
                if !self.candidates.is_empty() {
                    self.candidates.remove(&tsn);
                }
            }
            Fate::Lost { .. } => {
                self.lost.remove(&tsn);
            }
        }
        if let Some((measured, at)) = state.measured
            && measured == tsn
        {
            state.rtt.sample(now.since(at), 1);
            state.measured = None;
        }
        state.newly += bytes;
        progress.newly += bytes;
        progress.highest_newly = progress.highest_newly.max(tsn);
        stats.bytes_acknowledged += payload_bytes;
    }

    /// The gap ack blocks, against those of the last SACK.
    fn take_gaps(
        &mut self,
        now: Time,
        sack: &Sack,
        paths: &mut Paths,
        stats: &mut Stats,
        progress: &mut Progress,
    ) {
        self.reach_gaps();
        let mut same = common_prefix(&self.blocks, &sack.gaps);
        let mut after = std::mem::take(&mut self.scratch);
        let mut orderly = self.read_blocks(&sack.gaps[same..], &mut after);
        if let (Some(last), Some(next)) = (same.checked_sub(1), after.first())
            && self.gaps[last].1 >= next.0
        {
            // Out of order: all anew.
            same = 0;
            after.clear();
            orderly = self.read_blocks(&sack.gaps, &mut after);
        }
        let before = self.gaps.split_off(same);
        for_each_beyond(&after, &before, |tsn| self.settle(now, tsn, paths, stats, progress));
        for_each_beyond(&before, &after, |tsn| self.take_back(now, tsn, paths, stats));
        self.gaps.append(&mut after);
        self.scratch = after;
        self.blocks.truncate(same);
        if orderly {
            self.blocks.extend_from_slice(&sack.gaps[same..]);
        } else {
            self.blocks.clear();
        }
    }

    /// What the cumulative TSN has reached is no gap any more, and the blocks of the last SACK count from it.
    fn reach_gaps(&mut self) {
        let reached = self.acknowledged - std::mem::replace(&mut self.blocks_from, self.acknowledged);
        if reached == 0 {
            return;
        }
        let gone = self.gaps.partition_point(|&(_, last)| last <= self.acknowledged);
        self.gaps.drain(..gone);
        self.blocks.drain(..gone.min(self.blocks.len()));
        let next = self.acknowledged + 1;
        match self.gaps.first_mut() {
            Some((first, _)) if *first < next => {
                *first = next;
                self.blocks.clear();
            }
            _ => {
                // All of them lie above what was reached.
                for (first, last) in &mut self.blocks {
                    *first -= reached as u16;
                    *last -= reached as u16;
                }
            }
        }
    }

    /// The blocks by TSN, ascending and apart from each other, those that cannot be left out. Whether they were so.
    fn read_blocks(&self, blocks: &[(u16, u16)], gaps: &mut Vec<(u64, u64)>) -> bool {
        let mut ascending = true;
        for &(first, last) in blocks {
            // No block reaches beyond the last chunk sent, nor to the one behind the cumulative TSN: that is missing.
            if first < 2 || first > last || usize::from(last) > self.flight.len() {
                continue;
            }
            let block = (self.acknowledged + u64::from(first), self.acknowledged + u64::from(last));
            ascending &= gaps.last().is_none_or(|&(_, last)| block.0 > last);
            gaps.push(block);
        }
        let orderly = ascending && gaps.len() == blocks.len();
        if !ascending {
            gaps.sort_unstable();
            gaps.dedup_by(|next, kept| {
                let overlap = next.0 <= kept.1;
                if overlap {
                    kept.1 = kept.1.max(next.1);
                }
                overlap
            });
        }
        orderly
    }

    /// The peer takes its word back (RFC 9260 6.2.1): as if just sent.
    fn take_back(&mut self, now: Time, tsn: u64, paths: &mut Paths, stats: &mut Stats) {
        let reported_below = self.reported_below;
        let Some(sent) = self.at(tsn) else { return };
        let (path, bytes, payload_bytes) =
            (usize::from(sent.path), sent.bytes(), u64::from(sent.data.payload_bytes));
        stats.bytes_acknowledged -= payload_bytes;
        let state = &mut paths.all[path];
        if state.removed {
            sent.fate = Fate::Lost { by_reports: false };
            self.lost.insert(tsn);
            return;
        }
        sent.fate = Fate::InFlight;
        if tsn < reported_below && !sent.fast_retransmitted {
            self.candidates.insert(tsn);
        }
        self.outstanding_bytes += payload_bytes;
        state.outstanding_bytes += bytes;
        if tsn <= state.earliest {
            state.earliest = tsn;
            state.t3_at = Some(now + state.rtt.rto());
        }
    }

    /// Each chunk in flight below this TSN has been reported missing once more (RFC 9260 7.2.4).
    fn count_missing(&mut self, below: u64, paths: &mut Paths, stats: &mut Stats) {
        let from = self.reported_below.max(self.acknowledged + 1);
        for tsn in from..below {
            let sent = &self.flight[(tsn - self.acknowledged - 1) as usize];
            if sent.fate == Fate::InFlight && !sent.fast_retransmitted {
                self.candidates.insert(tsn);
            }
        }
        self.reported_below = self.reported_below.max(below);
        if self.candidates.is_empty() {
            return;
        }
        let mut halved: Vec<usize> = Vec::new();
        let mut lost = Vec::new();
        for &tsn in self.candidates.range(..below) {
            let sent = &mut self.flight[(tsn - self.acknowledged - 1) as usize];
            sent.missing_reports += 1;
            if u32::from(sent.missing_reports) >= self.config.missing_reports() {
                sent.fate = Fate::Lost { by_reports: true };
                sent.fast_retransmitted = true;
                self.outstanding_bytes -= u64::from(sent.data.payload_bytes);
                let path = usize::from(sent.path);
                paths.all[path].outstanding_bytes -= sent.bytes();
                lost.push(tsn);
                if !halved.contains(&path) {
                    halved.push(path);
                }
            }
        }
        if lost.is_empty() {
            return;
        }
        for tsn in lost {
            self.candidates.remove(&tsn);
            self.lost.insert(tsn);
        }
        if self.recovery_exit.is_none() {
            halved.into_iter().for_each(|path| paths.all[path].halve());
            stats.fast_retransmits += 1;
            self.one_packet_due = true;
            if self.config.rules == Rules::Rfc9260 {
                self.recovery_exit = Some(self.highest_sent());
            }
        }
    }
}

/// How many blocks both begin with.
fn common_prefix(these: &[(u16, u16)], those: &[(u16, u16)]) -> usize {
    // Many at once, as octets.
    const MANY: usize = 16;
    let many = these.chunks_exact(MANY).zip(those.chunks_exact(MANY));
    let same = MANY * many.take_while(|(these, those)| equal(these, those)).count();
    same + these[same..].iter().zip(&those[same..]).take_while(|(this, that)| this == that).count()
}

/// Without a branch for each block.
fn equal(these: &[(u16, u16)], those: &[(u16, u16)]) -> bool {
    these.iter().zip(those).fold(0, |differing, (a, b)| differing | (a.0 ^ b.0) | (a.1 ^ b.1)) == 0
}

/// The numbers in the ranges of `these` that no range of `those` holds; both are ascending and apart.
fn for_each_beyond(these: &[(u64, u64)], those: &[(u64, u64)], mut act: impl FnMut(u64)) {
    let mut those = those.iter().peekable();
    for &(first, last) in these {
        let mut at = first;
        while at <= last {
            while those.next_if(|&&(_, end)| end < at).is_some() {}
            match those.peek() {
                Some(&&(start, end)) if start <= at => at = end + 1,
                Some(&&(start, _)) => {
                    (at..start.min(last + 1)).for_each(&mut act);
                    at = start.min(last + 1);
                }
                None => {
                    (at..=last).for_each(&mut act);
                    at = last + 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::for_each_beyond;

    #[test]
    fn what_one_list_of_ranges_has_beyond_another() {
        let beyond = |these: &[(u64, u64)], those: &[(u64, u64)]| {
            let mut numbers = Vec::new();
            for_each_beyond(these, those, |number| numbers.push(number));
            numbers
        };
        assert_eq!(beyond(&[(2, 4), (7, 9)], &[]), [2, 3, 4, 7, 8, 9]);
        assert_eq!(beyond(&[(2, 9)], &[(1, 2), (4, 5), (9, 12)]), [3, 6, 7, 8]);
        assert_eq!(beyond(&[(2, 3), (5, 6)], &[(1, 9)]), [0u64; 0]);
        assert_eq!(beyond(&[(2, 3), (8, 8)], &[(5, 6)]), [2, 3, 8]);
    }
}
