//! The channel list of a terminal: what it takes the channels of an RFP for, and which it tries next.
//!
//! Every channel is quiet, interfered or busy in it, by the occupancy at the moment when the list is made and by
//! chance. A channel that was tried leaves the list until the next one is made. The chance is drawn when the
//! first channel is picked: many a list is made and never used.

use super::config::{ChannelListConfig, Selection};
use super::resource::UnitSet;
use roamsim_engine::Stream;

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
pub(super) fn thin(set: UnitSet, probability: f64, random: &mut Stream) -> UnitSet {
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
        perception: &mut Stream,
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
    fn draw(channels: UnitSet, reserved: UnitSet, config: &ChannelListConfig, random: &mut Stream) -> Left {
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
