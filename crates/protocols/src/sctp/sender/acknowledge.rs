//! SACKs received: what they acknowledge, what they report missing (RFC 9260 6.2.1, 6.3.2, 7.2.4).
//!
//! The work for a SACK grows with what it changes and with its blocks, not with the window: blocks that the
//! last SACK had too are passed over, and a chunk is looked at for missing reports only while it may still be
//! reported.

use roamsim_engine::Time;

use super::{Fate, Loss, Sender};
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
    /// The cumulative TSN has moved.
    advanced: bool,
}

impl Progress {
    pub(in crate::sctp) fn is_any(self) -> bool {
        self.newly > 0 || self.advanced
    }
}

impl Sender {
    /// The cumulative TSN of a SACK or of a SHUTDOWN, which tells of nothing else: its lack of gap ack blocks
    /// takes none back (RFC 9260 3.3.8), and the window stays as it was. `None` when it is of no use.
    pub(in crate::sctp) fn acknowledge(
        &mut self,
        now: Time,
        (cumulative_tsn_ack, sack): (u32, Option<&Sack>),
        paths: &mut Paths,
        stats: &mut Stats,
    ) -> Option<Progress> {
        let cumulative = from_wire(self.base, cumulative_tsn_ack, self.acknowledged)?;
        if cumulative < self.acknowledged || cumulative > self.highest_sent() {
            return None;
        }
        let window_bytes = match sack {
            Some(sack) => u64::from(sack.a_rwnd_bytes),
            None => self.peer_rwnd.saturating_add(self.outstanding_bytes),
        };
        for state in &mut paths.all {
            (state.newly, state.before) = (0, state.outstanding_bytes);
            (state.newly_here_alone, state.earliest_acknowledged) = (false, false);
        }
        let mut progress = Progress::default();
        let reached = cumulative - self.acknowledged;
        let advanced = reached > 0;
        while self.acknowledged < cumulative {
            let tsn = self.acknowledged + 1;
            self.settle(now, tsn, paths, stats, &mut progress);
            self.flight.pop_front();
            self.acknowledged = tsn;
        }
        match sack {
            Some(sack) if sack.gaps().is_empty() && self.gaps.is_empty() => {}
            Some(sack) => self.take_gaps(now, sack.gaps(), reached, paths, stats, &mut progress),
            None => count_from(&mut self.gaps, reached),
        }
        if advanced && self.recovery_exit.is_none() {
            paths.all.iter_mut().filter(|state| state.newly > 0).for_each(|state| state.grow());
        }
        if self.recovery_exit.is_some_and(|exit| cumulative >= exit) {
            self.recovery_exit = None;
        }
        // RFC 9260 7.2.4: highest TSN newly acknowledged; in fast recovery, with progress, all that are
        // reported. A SHUTDOWN reports none.
        let highest_gap = self.gaps.last().map_or(0, |&(_, last)| cumulative + u64::from(last));
        let reported_below = match self.config.rules {
            _ if sack.is_none() => 0,
            Rules::Rfc2960 => highest_gap,
            Rules::Rfc9260 if self.recovery_exit.is_some() && advanced => highest_gap,
            Rules::Rfc9260 => progress.highest_newly,
        };
        self.count_missing(reported_below, paths, stats);
        self.peer_rwnd = window_bytes.saturating_sub(self.outstanding_bytes);
        self.probing = false;
        self.one_packet_due &= !self.lost.is_empty();
        for place in 0..paths.all.len() {
            self.restart_timer(now, place, paths);
        }
        if self.partial {
            self.forward_again(paths);
        }
        progress.advanced = advanced;
        Some(progress)
    }

    /// T3-rtx stops when nothing is outstanding, and starts anew with the earliest acknowledged (RFC 9260
    /// 6.3.2). What is lost and not yet sent again is not outstanding: its timer starts where it goes.
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
                let runs = state.outstanding_bytes > 0 && state.carries();
                state.t3_at = runs.then(|| now + state.rtt.rto());
            }
        }
    }

    /// The chunk of this TSN is acknowledged.
    fn settle(&mut self, now: Time, tsn: u64, paths: &mut Paths, stats: &mut Stats, progress: &mut Progress) {
        let Some(sent) = self.at(tsn).filter(|sent| sent.fate != Fate::Abandoned) else { return };
        let fate = std::mem::replace(&mut sent.fate, Fate::Acknowledged);
        let (path, bytes, payload_bytes) =
            (usize::from(sent.path), sent.bytes(), u64::from(sent.data.payload_bytes));
        let here_alone = !sent.several_paths;
        let state = &mut paths.all[path];
        state.earliest_acknowledged |= state.earliest == tsn;
        match fate {
            Fate::Acknowledged | Fate::Abandoned => return,
            Fate::InFlight => {
                self.outstanding_bytes -= payload_bytes;
                state.outstanding_bytes -= bytes;
                if !self.candidates.is_empty() {
                    self.candidates.remove(&tsn);
                }
            }
            Fate::Lost(_) => {
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
        state.newly_here_alone |= here_alone;
        progress.newly += bytes;
        progress.highest_newly = progress.highest_newly.max(tsn);
        stats.bytes_acknowledged += payload_bytes;
    }

    /// The gap ack blocks, against those of the last SACK, since which the cumulative TSN has moved by
    /// `reached`.
    fn take_gaps(
        &mut self,
        now: Time,
        told: &[(u16, u16)],
        reached: u64,
        paths: &mut Paths,
        stats: &mut Stats,
        progress: &mut Progress,
    ) {
        let mut before = std::mem::take(&mut self.gaps);
        if reached > 0 {
            count_from(&mut before, reached);
        }
        let same = common_prefix(&before, told);
        let put_right;
        let (same, after) = if self.are_orderly(told, same) {
            (same, told)
        } else {
            put_right = self.put_in_order(told);
            (0, &put_right[..])
        };
        let acknowledged = self.acknowledged;
        let mut gone = Vec::new();
        for_each_difference(
            &before[same..],
            &after[same..],
            |place| self.settle(now, acknowledged + place, paths, stats, progress),
            |place| gone.push(acknowledged + place),
        );
        gone.into_iter().for_each(|tsn| self.take_back(now, tsn, paths, stats));
        before.truncate(same);
        before.extend_from_slice(&after[same..]);
        self.gaps = before;
    }

    /// Whether the blocks ascend, apart from each other, and tell of nothing that cannot be: no block reaches
    /// beyond the last chunk sent, nor to the one behind the cumulative TSN, for that is missing. The first
    /// `known` of them were so in the last SACK.
    fn are_orderly(&self, blocks: &[(u16, u16)], known: usize) -> bool {
        let (Some(lowest), Some(highest)) = (blocks.first(), blocks.last()) else { return true };
        lowest.0 >= 2
            && usize::from(highest.1) <= self.flight.len()
            && lowest.0 <= lowest.1
            && ascend(&blocks[known.saturating_sub(1)..])
    }

    /// The blocks so, those that cannot be left out.
    fn put_in_order(&self, blocks: &[(u16, u16)]) -> Vec<(u16, u16)> {
        let possible = |&(first, last): &(u16, u16)| {
            first >= 2 && first <= last && usize::from(last) <= self.flight.len()
        };
        let mut blocks: Vec<(u16, u16)> = blocks.iter().copied().filter(possible).collect();
        blocks.sort_unstable();
        blocks.dedup_by(|next, kept| {
            let overlap = next.0 <= kept.1;
            if overlap {
                kept.1 = kept.1.max(next.1);
            }
            overlap
        });
        blocks
    }

    /// The peer takes its word back (RFC 9260 6.2.1): as if just sent.
    fn take_back(&mut self, now: Time, tsn: u64, paths: &mut Paths, stats: &mut Stats) {
        let reported_below = self.reported_below;
        let Some(sent) = self.at(tsn).filter(|sent| sent.fate != Fate::Abandoned) else { return };
        let (path, bytes, payload_bytes) =
            (usize::from(sent.path), sent.bytes(), u64::from(sent.data.payload_bytes));
        stats.bytes_acknowledged -= payload_bytes;
        let state = &mut paths.all[path];
        if !state.carries() {
            sent.fate = Fate::Lost(Loss::PathRemoved);
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
                sent.fate = Fate::Lost(Loss::Reports);
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
        // Step 3 of 7.2.4: "If not in Fast Recovery" by RFC 9260, each time by RFC 4960.
        self.one_packet_due |= self.recovery_exit.is_none() || self.config.fast_retransmit_in_recovery;
        if self.recovery_exit.is_none() {
            halved.into_iter().for_each(|path| paths.all[path].halve());
            stats.fast_retransmits += 1;
            if self.config.rules == Rules::Rfc9260 {
                self.recovery_exit = Some(self.highest_sent());
            }
        }
    }
}

/// The blocks counted from a cumulative TSN that is higher by `reached`; what that has reached is no gap any
/// more.
fn count_from(blocks: &mut Vec<(u16, u16)>, reached: u64) {
    let gone = blocks.partition_point(|&(_, last)| u64::from(last) <= reached);
    blocks.drain(..gone);
    for (first, last) in blocks {
        // One that is left lies above, at least with its end.
        *first = first.saturating_sub(reached as u16).max(1);
        *last -= reached as u16;
    }
}

/// The numbers in the blocks of `after` that no block of `before` holds, and those the other way about. Both
/// are ascending and apart. What both have alike is passed over, many blocks at once.
fn for_each_difference(
    before: &[(u16, u16)],
    after: &[(u16, u16)],
    mut new: impl FnMut(u64),
    mut gone: impl FnMut(u64),
) {
    let (mut before, mut after) = (before, after);
    loop {
        let same = common_prefix(before, after);
        (before, after) = (&before[same..], &after[same..]);
        if before.is_empty() && after.is_empty() {
            return;
        }
        // Up to where both have the same block again, beyond all of these.
        let (mut of_before, mut of_after) = (0, 0);
        loop {
            match (before.get(of_before), after.get(of_after)) {
                (Some(this), Some(that)) if this == that => break,
                (Some(this), Some(that)) => {
                    of_before += usize::from(this.1 <= that.1);
                    of_after += usize::from(that.1 <= this.1);
                }
                _ => {
                    (of_before, of_after) = (before.len(), after.len());
                    break;
                }
            }
        }
        let (differing_before, differing_after);
        (differing_before, before) = before.split_at(of_before);
        (differing_after, after) = after.split_at(of_after);
        for_each_beyond(differing_after, differing_before, &mut new);
        for_each_beyond(differing_before, differing_after, &mut gone);
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

/// Whether each block begins behind the end of the one before and does not end before it begins; the first is
/// not looked at alone. Without a branch for each block: of a number below zero the sign stays.
fn ascend(blocks: &[(u16, u16)]) -> bool {
    let steps = blocks.iter().zip(&blocks[1..]).map(|(this, next)| {
        let (last, first, end) = (i32::from(this.1), i32::from(next.0), i32::from(next.1));
        (first - last - 1) | (end - first)
    });
    steps.fold(0, |signs, step| signs | step) >= 0
}

/// Without a branch for each block.
fn equal(these: &[(u16, u16)], those: &[(u16, u16)]) -> bool {
    these.iter().zip(those).fold(0, |differing, (a, b)| differing | (a.0 ^ b.0) | (a.1 ^ b.1)) == 0
}

/// The numbers in the blocks of `these` that no block of `those` holds.
fn for_each_beyond(these: &[(u16, u16)], those: &[(u16, u16)], mut act: impl FnMut(u64)) {
    let numbers = |&(first, last): &(u16, u16)| (u64::from(first), u64::from(last));
    let mut those = those.iter().map(numbers).peekable();
    for (first, last) in these.iter().map(numbers) {
        let mut at = first;
        while at <= last {
            while those.next_if(|&(_, end)| end < at).is_some() {}
            match those.peek() {
                Some(&(start, end)) if start <= at => at = end + 1,
                Some(&(start, _)) => {
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
    use super::{count_from, for_each_difference};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What `after` has beyond `before`, and what it lacks of it.
    fn differences(before: &[(u16, u16)], after: &[(u16, u16)]) -> (Vec<u64>, Vec<u64>) {
        let (mut new, mut gone) = (Vec::new(), Vec::new());
        for_each_difference(before, after, |number| new.push(number), |number| gone.push(number));
        (new, gone)
    }

    #[test]
    fn what_one_list_of_blocks_has_beyond_another() {
        assert_eq!(differences(&[], &[(2, 4), (7, 9)]), (vec![2, 3, 4, 7, 8, 9], vec![]));
        assert_eq!(
            differences(&[(1, 2), (4, 5), (9, 12)], &[(2, 9)]),
            (vec![3, 6, 7, 8], vec![1, 10, 11, 12])
        );
        assert_eq!(differences(&[(1, 9)], &[(2, 3), (5, 6)]), (vec![], vec![1, 4, 7, 8, 9]));
        assert_eq!(differences(&[(5, 6)], &[(2, 3), (8, 8)]), (vec![2, 3, 8], vec![5, 6]));
        // A block between others, two that have become one, and one that found no room any more.
        assert_eq!(
            differences(
                &[(2, 3), (7, 8), (10, 11), (14, 14), (16, 17)],
                &[(2, 3), (5, 5), (7, 11), (14, 14)]
            ),
            (vec![5, 9], vec![16, 17])
        );
        assert_eq!(differences(&[], &[(65_535, 65_535)]), (vec![65_535], vec![]));
    }

    #[test]
    fn blocks_count_from_the_cumulative_tsn() {
        let from = |reached| {
            let mut blocks = vec![(3, 4), (6, 9), (65_535, 65_535)];
            count_from(&mut blocks, reached);
            blocks
        };
        assert_eq!(from(1), [(2, 3), (5, 8), (65_534, 65_534)]);
        assert_eq!(from(4), [(2, 5), (65_531, 65_531)]);
        assert_eq!(from(7), [(1, 2), (65_528, 65_528)]);
        assert_eq!(from(70_000), []);
    }

    /// Ascending and apart.
    fn blocks() -> impl Strategy<Value = Vec<(u16, u16)>> {
        prop::collection::vec((1u16..4, 0u16..3), 0..60).prop_map(|steps| {
            let mut end = 0;
            let block = |(gap, more)| {
                let first = end + gap;
                end = first + more;
                (first, end)
            };
            steps.into_iter().map(block).collect()
        })
    }

    proptest! {
        /// Against sets of single numbers; some of the blocks of one list come from the other, as in a flow.
        #[test]
        fn the_differences_are_those_of_the_sets(
            before in blocks(), other in blocks(), from in 0usize..60, to in 0usize..60,
        ) {
            let kept = before.iter().skip(from).take(to).copied();
            let after: Vec<_> = match kept.clone().next() {
                Some((first, _)) => {
                    let beyond = before.iter().skip(from).take(to).map(|block| block.1).max().unwrap_or(first);
                    let below = other.iter().copied().filter(|block| block.1 < first);
                    below.chain(kept).chain(other.iter().copied().filter(|block| block.0 > beyond)).collect()
                }
                None => other,
            };
            let set = |blocks: &[(u16, u16)]| {
                blocks.iter().flat_map(|&(first, last)| u64::from(first)..=u64::from(last)).collect::<BTreeSet<_>>()
            };
            let (was, is) = (set(&before), set(&after));
            let (new, gone) = differences(&before, &after);
            prop_assert!(new.into_iter().eq(is.difference(&was).copied()));
            prop_assert!(gone.into_iter().eq(was.difference(&is).copied()));
        }
    }
}
