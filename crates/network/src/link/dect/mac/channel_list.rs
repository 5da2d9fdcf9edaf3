//! The channel list of a terminal: what it takes the channels of an RFP for, and which it tries next.
//!
//! Every channel is quiet, interfered or busy in it, by the occupancy at the moment when the list is made and
//! by chance. A channel that was tried leaves the list until the next one is made. The chance is drawn when
//! the first channel is picked: many a list is made and never used.

use super::config::{ChannelListConfig, Selection};
use super::resource::UnitSet;
use roamsim_engine::{Ahead, Stream};

/// A list; channels are named by their first units.
#[derive(Clone, Debug)]
pub(super) struct ChannelList {
    made_at: u64,
    /// All channels, and those reserved, when the list was made.
    channels: UnitSet,
    reserved: UnitSet,
    /// What is left to try; `None` until the first pick.
    left: Option<Left>,
}

/// Tried in this order.
#[derive(Clone, Copy, Debug)]
struct Left {
    first_choice: UnitSet,
    second_choice: UnitSet,
}

/// The members of `set` that are drawn, each with `probability` by itself.
pub(super) fn thin(set: UnitSet, probability: f64, random: &mut Ahead) -> UnitSet {
    // 53 bits, as `Stream::uniform` has them, from the top of the word.
    const ONE: f64 = (1u64 << 53) as f64;
    if probability >= 1.0 {
        return set;
    }
    let threshold = (probability * ONE) as u64;
    set.map_words(|members| {
        // A uniform number for each member, all 64 at a time, bit by bit from the highest: it is below the
        // threshold if it has a zero where they first differ.
        let (mut equal, mut below, mut bits) = (members, 0, threshold << 11);
        while equal != 0 && bits != 0 {
            let random_bits = random.next_u64();
            if bits >> 63 == 1 {
                below |= equal & !random_bits;
                equal &= random_bits;
            } else {
                equal &= !random_bits;
            }
            bits <<= 1;
        }
        below
    })
}

impl ChannelList {
    /// A list of nothing.
    pub fn empty() -> ChannelList {
        ChannelList { made_at: 0, channels: UnitSet::EMPTY, reserved: UnitSet::EMPTY, left: None }
    }

    /// Makes it anew.
    #[inline]
    pub fn make(&mut self, frame: u64, channels: UnitSet, reserved: UnitSet) {
        *self = ChannelList { made_at: frame, channels, reserved, left: None };
    }

    /// The frame when the list was or will be made from which an attempt at `attempt_at` chooses, if no other
    /// cause makes it anew before: the refreshes in between matter to nobody.
    #[inline]
    pub fn last_made_before(&self, attempt_at: u64, refresh_frames: u64) -> u64 {
        attempt_at - (attempt_at - self.made_at) % refresh_frames
    }

    /// When it was made.
    #[inline]
    pub fn made_at(&self) -> u64 {
        self.made_at
    }

    /// Picks a channel outside of `forbidden` and strikes it off; none if all are busy, tried or forbidden.
    pub fn pick(
        &mut self,
        config: &ChannelListConfig,
        forbidden: UnitSet,
        perception: &mut Ahead,
        choice: &mut Stream,
    ) -> Option<u32> {
        let (channels, reserved) = (self.channels, self.reserved);
        let left = self.left.get_or_insert_with(|| Left::draw(channels, reserved, config, perception));
        let first = left.first_choice.without(forbidden);
        let tried = if first.is_empty() { left.second_choice.without(forbidden) } else { first };
        let count = tried.len();
        if count == 0 {
            return None;
        }
        let picked = tried.nth(choice.below(u64::from(count)) as u32);
        let struck = super::resource::SlotFormat::Half.units(picked);
        left.first_choice = left.first_choice.without(struck);
        left.second_choice = left.second_choice.without(struck);
        Some(picked)
    }
}

impl Left {
    fn draw(channels: UnitSet, reserved: UnitSet, config: &ChannelListConfig, random: &mut Ahead) -> Left {
        let idle = channels.without(reserved);
        let seen_interfered = thin(reserved.intersection(channels), config.reserved_seen_interfered, random);
        match config.selection {
            // Quiet or interfered makes no difference to an idle channel here, and is not drawn.
            Selection::Uniform => {
                Left { first_choice: idle.union(seen_interfered), second_choice: UnitSet::EMPTY }
            }
            Selection::QuietFirst => {
                let quiet = thin(idle, config.idle_seen_quiet, random);
                Left { first_choice: quiet, second_choice: idle.without(quiet).union(seen_interfered) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::resource::SlotFormat;
    use super::*;

    const CONFIG: ChannelListConfig = ChannelListConfig {
        refresh_frames: 30,
        idle_seen_quiet: 0.8,
        reserved_seen_interfered: 0.5,
        selection: Selection::QuietFirst,
    };

    fn stream(purpose: &str) -> Stream {
        Stream::new(21, 0, purpose)
    }

    /// The first 120 of 240 half slots.
    fn first_half() -> UnitSet {
        (0..120).fold(UnitSet::EMPTY, |set, unit| set.union(SlotFormat::Half.units(unit)))
    }

    /// All picks of a list until nothing is left.
    fn picks(list: &mut ChannelList, config: &ChannelListConfig, random: &mut (Ahead, Stream)) -> Vec<u32> {
        let (perception, choice) = random;
        std::iter::from_fn(|| list.pick(config, UnitSet::EMPTY, perception, choice)).collect()
    }

    #[test]
    fn channels_are_misperceived_as_often_as_stated() {
        let mut random = Ahead::new(stream("perception"));
        let all = SlotFormat::Half.channels(10);
        let (reserved, idle) = (first_half(), all.without(first_half()));
        let lists = 5000;
        let (mut quiet, mut interfered) = (0, 0);
        for _ in 0..lists {
            let left = Left::draw(all, reserved, &CONFIG, &mut random);
            assert!(!left.first_choice.intersects(reserved), "a reserved channel is never quiet");
            assert!(!left.first_choice.intersects(left.second_choice));
            quiet += left.first_choice.len();
            interfered += left.second_choice.intersection(reserved).len();
            assert!(idle.without(left.first_choice).without(left.second_choice).is_empty());
        }
        // 600,000 idle channels, 0.8 of them quiet: 480,000, standard deviation sqrt(96,000) = 310.
        assert!((f64::from(quiet) - 480_000.0).abs() < 930.0, "{quiet}");
        // 600,000 reserved channels, half of them interfered: 300,000, standard deviation 387.
        assert!((f64::from(interfered) - 300_000.0).abs() < 1162.0, "{interfered}");
    }

    #[test]
    fn any_probability_is_drawn() {
        let mut random = Ahead::new(stream("thin"));
        let all = SlotFormat::Half.channels(10);
        for probability in [0.0, 1e-3, 0.3, 0.5, 0.999, 1.0] {
            let n = 10_000;
            let count: u32 = (0..n).map(|_| thin(all, probability, &mut random).len()).sum();
            let (mean, total) = (probability * 2_400_000.0, f64::from(count));
            let deviation = (mean * (1.0 - probability)).sqrt();
            assert!((total - mean).abs() <= 3.0 * deviation, "{probability}: {total}");
        }
    }

    #[test]
    fn quiet_channels_are_tried_first_and_none_twice() {
        let mut random = (Ahead::new(stream("perception")), stream("choice"));
        let mut list = ChannelList::empty();
        list.make(0, SlotFormat::Half.channels(10), first_half());
        let picked = picks(&mut list, &CONFIG, &mut random);
        let mut sorted = picked.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), picked.len());
        // Idle ones all come: 120 of them; of the 120 reserved ones about 60 (standard deviation 5.5).
        let reserved = picked.iter().filter(|&&unit| unit < 120).count();
        assert_eq!(picked.len() - reserved, 120);
        assert!((43..=77).contains(&reserved), "{reserved}");
        // Quiet ones are idle: about 96 of 120 (standard deviation 4.4) come before the first reserved one.
        let quiet = picked.iter().position(|&unit| unit < 120).expect("a reserved one");
        assert!(quiet >= 80, "{quiet}");
    }

    #[test]
    fn without_preference_idle_and_interfered_channels_are_tried_alike() {
        let mut random = (Ahead::new(stream("perception")), stream("choice"));
        let config = ChannelListConfig { selection: Selection::Uniform, ..CONFIG };
        let lists = 60_000;
        let (mut idle, mut first_idle) = (0u32, 0u32);
        for _ in 0..lists {
            let mut list = ChannelList::empty();
            // Full slots of one carrier, 8 of the 12 reserved.
            let reserved = SlotFormat::Full
                .touched((0..16).fold(UnitSet::EMPTY, |set, unit| set.union(SlotFormat::Half.units(unit))));
            list.make(0, SlotFormat::Full.channels(1), reserved);
            let (perception, choice) = &mut random;
            let picked = list.pick(&config, UnitSet::EMPTY, perception, choice).expect("4 are idle");
            idle += u32::from(picked >= 16);
            first_idle += u32::from(picked == 16);
        }
        // 4 / (4 + K), K binomial(8, 1/2): sum over k of C(8,k)/256 * 4/(4+k) = (1 + 6.4 + 18.667 + 32 + 35
        // + 24.889 + 11.2 + 2.909 + 0.333) / 256 = 132.398 / 256 = 0.51718; standard error 0.00204.
        let share = f64::from(idle) / f64::from(lists);
        assert!((share - 0.51718).abs() < 0.0061, "{share}");
        // A quarter of it for each: 0.12929, standard error 0.00137.
        let one = f64::from(first_idle) / f64::from(lists);
        assert!((one - 0.12929).abs() < 0.0041, "{one}");
    }

    #[test]
    fn forbidden_channels_stay_on_the_list() {
        let mut random = (Ahead::new(stream("perception")), stream("choice"));
        let mut list = ChannelList::empty();
        list.make(0, SlotFormat::Full.channels(1), UnitSet::EMPTY);
        let all = SlotFormat::Full.channels(1);
        let (perception, choice) = &mut random;
        assert_eq!(list.pick(&CONFIG, all, perception, choice), None);
        assert_eq!(picks(&mut list, &CONFIG, &mut random).len(), 12);
    }

    #[test]
    fn of_several_refreshes_the_last_before_an_attempt_matters() {
        let mut list = ChannelList::empty();
        list.make(100, UnitSet::EMPTY, UnitSet::EMPTY);
        let made = [100, 129, 130, 159, 160, 205].map(|attempt_at| list.last_made_before(attempt_at, 30));
        assert_eq!(made, [100, 100, 130, 130, 160, 190]);
    }
}
