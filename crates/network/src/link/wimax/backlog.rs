//! Who waits for what, so that a frame costs what is in it, however many stations there are.

use super::config::RANKS;
use super::phy::{BurstProfile, PROFILES};
use std::ops::Range;

/// A set of stations by their numbers.
#[derive(Debug)]
pub(super) struct Members {
    words: Vec<u64>,
    count: u32,
}

impl Members {
    pub fn new(most: usize) -> Members {
        Members { words: vec![0; most.div_ceil(64)], count: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn set(&mut self, station: u32, is_in: bool) {
        let (word, bit) = (&mut self.words[station as usize / 64], 1 << (station % 64));
        if (*word & bit != 0) != is_in {
            *word ^= bit;
            self.count = if is_in { self.count + 1 } else { self.count - 1 };
        }
    }

    /// The first of a range of numbers.
    pub fn first_of(&self, range: Range<u32>) -> Option<u32> {
        if self.is_empty() || range.is_empty() {
            return None;
        }
        let first_word = range.start as usize / 64;
        let mut mask = !0 << (range.start % 64);
        for (number, word) in self.words.iter().enumerate().skip(first_word) {
            let found = word & mask;
            if found != 0 {
                let station = number as u32 * 64 + found.trailing_zeros();
                return (station < range.end).then_some(station);
            }
            mask = !0;
        }
        None
    }

    /// All, by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.round_from(0)
    }

    /// All, beginning with whose turn it is.
    pub fn round_from(&self, turn: u32) -> impl Iterator<Item = u32> {
        let mut round = Round::from(turn);
        std::iter::from_fn(move || round.next(self))
    }
}

/// A round of a set from whose turn it is: those that it has come by may be taken out meanwhile.
#[derive(Debug)]
pub(super) struct Round {
    /// What of the numbers is left: up to the end, and then up to the first turn.
    left: [Range<u32>; 2],
}

impl Round {
    pub fn from(turn: u32) -> Round {
        Round { left: [turn..u32::MAX, 0..turn] }
    }

    pub fn next(&mut self, members: &Members) -> Option<u32> {
        for range in &mut self.left {
            if let Some(station) = members.first_of(range.clone()) {
                range.start = station + 1;
                return Some(station);
            }
            range.start = range.end;
        }
        None
    }
}

/// What a station waits for: of a hundred it is little, and asked for all the time.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// Packets wait for it: its rank, and its burst profile.
    downlink: Option<(u8, BurstProfile)>,
    /// It has asked for bandwidth: its rank.
    uplink: Option<u8>,
}

/// Stations that wait.
#[derive(Debug)]
pub(super) struct Backlog {
    /// By rank, for whom there are packets.
    pub downlink: [Members; RANKS],
    /// By rank, who has asked for bandwidth.
    pub uplink: [Members; RANKS],
    /// For whom there are messages.
    pub messages: Members,
    /// By burst profile, for how many there are packets.
    profiles: [u32; PROFILES],
    /// Those for which there are any: a bit each.
    waiting: u16,
    waits: Vec<Wait>,
}

impl Backlog {
    pub fn new(stations: usize) -> Backlog {
        let members = || std::array::from_fn(|_| Members::new(stations));
        Backlog {
            downlink: members(),
            uplink: members(),
            messages: Members::new(stations),
            profiles: [0; PROFILES],
            waiting: 0,
            waits: vec![Wait::default(); stations],
        }
    }

    /// Whether nobody waits for anything.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.downlink.iter().chain(&self.uplink).all(Members::is_empty)
    }

    /// Whether packets wait for a burst of a profile.
    pub fn has_profile(&self, profile: BurstProfile) -> bool {
        self.waiting & 1 << profile as u16 != 0
    }

    /// For how many profiles packets wait.
    pub fn profiles(&self) -> u32 {
        self.waiting.count_ones()
    }

    /// One more waits for bursts of a profile, or one less.
    fn wants(&mut self, profile: BurstProfile, more: bool) {
        let count = &mut self.profiles[profile as usize];
        *count = if more { *count + 1 } else { *count - 1 };
        let bit = 1 << profile as u16;
        self.waiting = if *count > 0 { self.waiting | bit } else { self.waiting & !bit };
    }

    /// Notes that packets wait for a station, with its rank and burst profile, or that none do.
    pub fn note_downlink(&mut self, station: u32, wait: Option<(usize, BurstProfile)>) {
        let wait = wait.map(|(rank, profile)| (rank as u8, profile));
        let before = std::mem::replace(&mut self.waits[station as usize].downlink, wait);
        if before != wait {
            if let Some((rank, profile)) = before {
                self.downlink[usize::from(rank)].set(station, false);
                self.wants(profile, false);
            }
            if let Some((rank, profile)) = wait {
                self.downlink[usize::from(rank)].set(station, true);
                self.wants(profile, true);
            }
        }
    }

    /// Notes that a station of a rank has asked for bandwidth, or that it has not.
    pub fn note_uplink(&mut self, station: u32, rank: Option<usize>) {
        let wait = rank.map(|rank| rank as u8);
        let before = std::mem::replace(&mut self.waits[station as usize].uplink, wait);
        if before != wait {
            if let Some(rank) = before {
                self.uplink[usize::from(rank)].set(station, false);
            }
            if let Some(rank) = wait {
                self.uplink[usize::from(rank)].set(station, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounds_come_by_each_member_once_from_whose_turn_it_is(
            changes in prop::collection::vec((0u32..200, any::<bool>()), 0..100),
            turn in 0u32..200,
        ) {
            let mut members = Members::new(200);
            let mut plain = std::collections::BTreeSet::new();
            for (station, is_in) in changes {
                members.set(station, is_in);
                if is_in { plain.insert(station); } else { plain.remove(&station); }
            }
            let expected: Vec<u32> = plain.range(turn..).chain(plain.range(..turn)).copied().collect();
            prop_assert_eq!(members.is_empty(), plain.is_empty());
            prop_assert_eq!(members.round_from(turn).collect::<Vec<_>>(), expected.clone());
            // Also when each is taken out as the round comes by it.
            let mut round = Round::from(turn);
            let mut found = Vec::new();
            while let Some(station) = round.next(&members) {
                members.set(station, false);
                found.push(station);
            }
            prop_assert_eq!(found, expected);
            prop_assert!(members.is_empty());
        }
    }

    #[test]
    fn who_waits_is_in_the_sets_of_its_rank_and_profile_alone() {
        let mut backlog = Backlog::new(3);
        let note = |backlog: &mut Backlog, station, wait: Option<(usize, BurstProfile)>| {
            backlog.note_downlink(station, wait);
            backlog.note_uplink(station, wait.map(|(rank, _)| rank));
        };
        note(&mut backlog, 1, Some((3, BurstProfile::Qpsk12)));
        note(&mut backlog, 2, Some((3, BurstProfile::Qpsk12)));
        note(&mut backlog, 1, Some((0, BurstProfile::Bpsk12)));
        let sets =
            |sets: &[Members; RANKS]| sets.each_ref().map(|members| members.iter().collect::<Vec<_>>());
        assert_eq!(sets(&backlog.downlink), [vec![1], vec![], vec![], vec![2]]);
        assert_eq!(sets(&backlog.uplink), [vec![1], vec![], vec![], vec![2]]);
        assert!(backlog.has_profile(BurstProfile::Bpsk12) && backlog.has_profile(BurstProfile::Qpsk12));
        note(&mut backlog, 2, None);
        assert!(!backlog.has_profile(BurstProfile::Qpsk12) && !backlog.is_empty());
        note(&mut backlog, 1, None);
        assert!(backlog.is_empty());
    }
}
