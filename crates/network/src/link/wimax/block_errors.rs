//! Blocks that arrive with errors, by a table of signal over noise.
//!
//! A block of the code is what a symbol of a burst carries (IEEE Std 802.16-2004 table 215), in OFDMA a slot:
//! that the code takes several slots together there (IEEE Std 802.16e-2005 clause 8.4.9.2, concatenation) is
//! not modelled. Each is lost for itself, with the ratio that the table has for the burst's profile at the
//! receiver's signal over noise; a PDU is lost with any block that it has a part of, by its CRC, and PDUs
//! that share a block share its fate.
//!
//! Not modelled: errors of one block after the other, as fading makes them.

use super::phy::{BurstProfile, PROFILES};
use crate::drops::DropReason;
use roamsim_engine::{Stream, Time};

/// Block error ratios by signal over noise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockErrors {
    /// Where the numbers come from.
    pub source: String,
    /// By burst profile, points of rising signal over noise, in dB, and falling ratio; empty where the
    /// profile goes by its threshold.
    pub points: [Vec<(f64, f64)>; PROFILES],
}

impl BlockErrors {
    /// Whether there is a table of a profile.
    pub fn has(&self, profile: BurstProfile) -> bool {
        !self.points[profile as usize].is_empty()
    }

    /// The ratio of a profile: 1 below its first point, 0 above its last, on straight lines between.
    pub fn ratio(&self, profile: BurstProfile, snr_db: f64) -> f64 {
        let points = &self.points[profile as usize];
        let behind = points.partition_point(|(at_db, _)| *at_db < snr_db);
        match (behind.checked_sub(1).map(|before| points[before]), points.get(behind)) {
            (Some((from_db, from)), Some(&(to_db, to))) => {
                from + (to - from) * (snr_db - from_db) / (to_db - from_db)
            }
            (None, Some(&(first_db, first))) if first_db == snr_db => first,
            (None, _) => 1.0,
            (Some(_), None) => 0.0,
        }
    }
}

/// What a receiver gets of the blocks of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reception {
    /// All.
    All,
    /// Nothing, for a reason.
    Nothing(DropReason),
    /// All but this part.
    Blocks(f64),
}

/// The blocks of a burst that octets of it are in, a unit each.
pub(super) fn blocks_of(unit_bytes: u32, first_byte: u32, bytes: u32) -> (u32, u32) {
    (first_byte / unit_bytes, (first_byte + bytes.max(1) - 1) / unit_bytes)
}

/// Which blocks of the bursts of a frame, of one station and direction, are lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates {
    /// The begin of the burst that this is about, and the next block of it that is lost.
    next: Option<(Time, u32)>,
}

impl Fates {
    /// Why a PDU is lost that has a part of these blocks of a burst, which begins at an instant. PDUs come in
    /// their order.
    pub fn lost(
        &mut self,
        burst: Time,
        blocks: (u32, u32),
        reception: Reception,
        draws: &mut Stream,
    ) -> Option<DropReason> {
        match reception {
            Reception::All => None,
            Reception::Nothing(reason) => Some(reason),
            Reception::Blocks(ratio) => self.loses(burst, blocks, ratio, draws).then_some(DropReason::Loss),
        }
    }

    fn loses(&mut self, burst: Time, (first, last): (u32, u32), ratio: f64, draws: &mut Stream) -> bool {
        let next = match self.next {
            Some((of, next)) if of == burst && next >= first => next,
            _ => first.saturating_add(good_blocks(ratio, draws)),
        };
        self.next = Some((burst, next));
        next <= last
    }
}

/// How many blocks arrive before the next one that does not.
fn good_blocks(ratio: f64, draws: &mut Stream) -> u32 {
    if ratio >= 1.0 {
        return 0;
    }
    if ratio <= 0.0 {
        return u32::MAX;
    }
    // A geometric distribution by inversion; the cast ends at the largest number.
    (libm::log(1.0 - draws.uniform()) / libm::log1p(-ratio)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::stream;
    use roamsim_engine::Span;

    #[test]
    fn ratios_are_on_straight_lines_between_the_points_of_the_table() {
        let mut errors = BlockErrors::default();
        errors.points[BurstProfile::Qpsk12 as usize] = vec![(6.0, 0.9), (8.0, 0.5), (9.0, 0.1)];
        let ratio = |snr_db| (errors.ratio(BurstProfile::Qpsk12, snr_db) * 1e9).round() / 1e9;
        assert_eq!(ratio(5.9), 1.0);
        // 0.9 less a quarter of 0.4; 0.5 less a half of it.
        assert_eq!([6.0, 6.5, 8.0, 8.5, 9.0].map(ratio), [0.9, 0.8, 0.5, 0.3, 0.1]);
        assert_eq!(
            (ratio(9.1), errors.has(BurstProfile::Qpsk12), errors.has(BurstProfile::Bpsk12)),
            (0.0, true, false)
        );
    }

    #[test]
    fn a_pdu_is_lost_with_any_of_its_blocks_and_neighbours_share_a_block() {
        let mut draws = stream("blocks");
        let (mut first, mut second, mut both, bursts) = (0, 0, 0, 20_000u64);
        for burst in 0..bursts {
            let mut fates = Fates::default();
            let at = Time::ZERO + Span::from_ms(burst);
            let one = fates.loses(at, (3, 5), 0.1, &mut draws);
            let other = fates.loses(at, (5, 5), 0.1, &mut draws);
            (first, second) = (first + u64::from(one), second + u64::from(other));
            both += u64::from(one && other);
        }
        let near = |count: u64, expected: f64| {
            let found = count as f64 / bursts as f64;
            // Five standard errors, of at most sqrt(0.27 * 0.73 / 20000).
            assert!((found - expected).abs() < 0.016, "{found} for {expected}");
        };
        // 1 - 0.9^3; the shared block alone, with which the first is always lost.
        near(first, 0.271);
        near(second, 0.1);
        assert_eq!(both, second);
    }

    #[test]
    fn blocks_are_those_of_the_symbols_of_a_burst() {
        // 108 octets a symbol: the 109th is in the second.
        let blocks = |first, bytes| blocks_of(108, first, bytes);
        assert_eq!(
            [blocks(0, 108), blocks(0, 109), blocks(107, 2), blocks(216, 1)],
            [(0, 0), (0, 1), (0, 1), (2, 2)]
        );
    }

    #[test]
    fn nothing_is_drawn_where_all_or_nothing_arrives() {
        let (mut draws, untouched) = (stream("blocks"), stream("blocks"));
        let mut fates = Fates::default();
        assert!(!fates.loses(Time::ZERO, (0, 1000), 0.0, &mut draws));
        assert!(fates.loses(Time::from_ns(1), (7, 7), 1.0, &mut draws));
        assert_eq!(draws.next_u64(), untouched.clone().next_u64());
    }
}
