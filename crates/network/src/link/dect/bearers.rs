//! The user's bearers as the user plane sees them: in order of their age, so that each has a place.

use super::mac::Quality;

/// Some of the bearers: bit i of half h is the one at place 64 h + i. A terminal has no more of them than an
/// RFP has channels, 120.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places(pub [u64; 2]);

/// The half of a place, and its bit there.
#[inline]
pub(super) fn half_and_bit(place: usize) -> (usize, u64) {
    (place / 64, 1 << (place % 64))
}

/// Does something for each of the bits in a half, in order.
#[inline(always)]
pub(super) fn for_each(mut half: u64, mut work: impl FnMut(usize, u64)) {
    while half != 0 {
        let bit = half & half.wrapping_neg();
        work(half.trailing_zeros() as usize, bit);
        half ^= bit;
    }
}

impl Places {
    /// Those before a place.
    #[inline]
    pub fn before(place: usize) -> Places {
        let of_half = |places: usize| if places < 64 { (1 << places) - 1 } else { u64::MAX };
        Places([of_half(place), of_half(place.saturating_sub(64))])
    }

    /// Whether one is among them.
    #[inline]
    pub fn has(self, place: usize) -> bool {
        let (half, bit) = half_and_bit(place);
        self.0[half] & bit != 0
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// Those that are so by `of_half`, half by half.
    #[inline(always)]
    pub fn map(self, other: Places, of_half: impl Fn(u64, u64) -> u64) -> Places {
        Places([of_half(self.0[0], other.0[0]), of_half(self.0[1], other.0[1])])
    }

    /// The same places when the bearer at one of them is gone, and those behind it have moved up.
    pub fn without(self, gone: usize) -> Places {
        let moved = Places([self.0[0] >> 1 | self.0[1] << 63, self.0[1] >> 1]);
        let kept = Places::before(gone);
        self.map(kept, |places, kept| places & kept)
            .map(moved.map(kept, |moved, kept| moved & !kept), |before, behind| before | behind)
    }
}

/// How they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bearers {
    states: Vec<Quality>,
    pub all: Places,
    /// Those in the bad state.
    pub bad: Places,
}

impl Bearers {
    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// The state of the one at a place.
    #[inline]
    pub fn quality(&self, place: usize) -> Quality {
        self.states[place]
    }

    /// There is one more, in this state.
    pub fn add(&mut self, quality: Quality) {
        self.states.push(quality);
        self.all = Places::before(self.states.len());
        self.change(self.states.len() - 1, quality);
    }

    /// The one at a place is gone, and those behind it have moved up.
    pub fn remove(&mut self, place: usize) {
        self.states.remove(place);
        self.all = Places::before(self.states.len());
        self.bad = self.bad.without(place);
    }

    /// The one at a place is in this state now.
    #[inline]
    pub fn change(&mut self, place: usize, quality: Quality) {
        self.states[place] = quality;
        let (half, bit) = half_and_bit(place);
        let bad = &mut self.bad.0[half];
        *bad = *bad & !bit | if quality == Quality::Bad { bit } else { 0 };
    }

    /// So many in the good state.
    #[cfg(test)]
    pub fn good(count: usize) -> Bearers {
        Bearers { states: vec![Quality::Good; count], all: Places::before(count), bad: Places::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_up_when_a_bearer_is_gone() {
        let mut bearers = Bearers::default();
        (0..120).for_each(|n| bearers.add(if n % 3 == 0 { Quality::Bad } else { Quality::Good }));
        let bad = |bearers: &Bearers| {
            let mut bad = Vec::new();
            for_each(bearers.bad.0[0], |place, bit| {
                assert_eq!(half_and_bit(place), (0, bit));
                bad.push(place);
            });
            for_each(bearers.bad.0[1], |place, _| bad.push(64 + place));
            assert!((0..bearers.count()).all(|n| bearers.bad.has(n) == (bearers.quality(n) == Quality::Bad)));
            bad
        };
        assert_eq!(bad(&bearers), (0..40).map(|n| 3 * n).collect::<Vec<_>>());
        // It moves from one half into the other.
        bearers.change(64, Quality::Bad);
        bearers.remove(60);
        bearers.change(64, Quality::Bad);
        bearers.change(0, Quality::Good);
        let expected: Vec<usize> =
            (1..20).map(|n| 3 * n).chain([62, 63, 64]).chain((22..40).map(|n| 3 * n - 1)).collect();
        assert_eq!((bad(&bearers), bearers.count()), (expected, 119));
        assert!((0..128).all(|place| bearers.all.has(place) == (place < 119)));
    }
}
