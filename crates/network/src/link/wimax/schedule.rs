//! Round robin on the uplink: symbols are dealt one by one among those that want some.

use super::phy::UPLINK_PREAMBLE_SYMBOLS;

/// A service flow that wants a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub flow: u32,
    /// Data symbols that it wants, not fewer than `least_symbols`.
    pub symbols: u32,
    /// What it can make use of at all.
    pub least_symbols: u32,
}

/// A burst that a service flow gets: data symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub flow: u32,
    pub symbols: u32,
    /// What it wanted.
    wanted_symbols: u32,
}

/// What is dealt in a frame.
#[derive(Debug, Default)]
pub(super) struct Deal {
    pub grants: Vec<Grant>,
}

impl Deal {
    /// Deals a room of symbols among the first of these, in at most so many bursts; each burst costs a preamble. Returns whose
    /// turn is next. It looks at one more than get a burst.
    pub fn deal(
        &mut self,
        demands: impl IntoIterator<Item = Demand>,
        room_symbols: u32,
        most_bursts: u32,
    ) -> Option<u32> {
        let (mut room, mut waiting) = (room_symbols, None);
        let grants = &mut self.grants;
        grants.clear();
        for Demand { flow, symbols: wanted_symbols, least_symbols: symbols } in demands {
            let cost = UPLINK_PREAMBLE_SYMBOLS + symbols;
            if cost > room || grants.len() >= most_bursts as usize {
                waiting = Some(flow);
                break;
            }
            room -= cost;
            grants.push(Grant { flow, symbols, wanted_symbols });
        }
        if let [grant] = &mut grants[..] {
            // Nobody to share with.
            grant.symbols += room.min(grant.wanted_symbols - grant.symbols);
            return Some(waiting.unwrap_or(grant.flow));
        }
        let mut last = None;
        let mut dealt = true;
        while dealt && room > 0 {
            dealt = false;
            for (number, grant) in grants.iter_mut().enumerate() {
                if room > 0 && grant.symbols < grant.wanted_symbols {
                    (grant.symbols, room, dealt) = (grant.symbols + 1, room - 1, true);
                    last = Some(number);
                }
            }
        }
        let behind = |last: usize| grants[(last + 1) % grants.len()].flow;
        waiting.or(last.map(behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn demand(flow: u32, symbols: u32) -> Demand {
        Demand { flow, symbols, least_symbols: 1 }
    }

    fn dealt(demands: &[Demand], room: u32, most: u32) -> (Vec<(u32, u32)>, Option<u32>) {
        let mut deal = Deal::default();
        let next = deal.deal(demands.iter().copied(), room, most);
        (deal.grants.into_iter().map(|grant| (grant.flow, grant.symbols)).collect(), next)
    }

    #[test]
    fn symbols_are_shared_and_the_turn_goes_round() {
        let three = [demand(4, 100), demand(7, 100), demand(9, 100)];
        // 20 less three preambles: 6, 6, 5. The next symbol would have been the third's.
        assert_eq!(dealt(&three, 20, 9), (vec![(4, 6), (7, 6), (9, 5)], Some(9)));
        // The second wants two; of 17 others get 8 and 7.
        let three = [demand(4, 100), demand(7, 2), demand(9, 100)];
        assert_eq!(dealt(&three, 20, 9), (vec![(4, 8), (7, 2), (9, 7)], Some(7)));
        assert_eq!(dealt(&[demand(4, 100)], 20, 9), (vec![(4, 19)], Some(4)));
        assert_eq!(dealt(&[demand(4, 3)], 20, 9), (vec![(4, 3)], Some(4)));
        assert_eq!(dealt(&[], 20, 9), (vec![], None));
    }

    #[test]
    fn who_finds_no_room_is_first_next_time() {
        let three = [demand(4, 100), demand(7, 100), demand(9, 100)];
        assert_eq!(dealt(&three, 5, 9), (vec![(4, 2), (7, 1)], Some(9)));
        assert_eq!(dealt(&three, 20, 2), (vec![(4, 9), (7, 9)], Some(9)));
        assert_eq!(dealt(&three, 20, 1), (vec![(4, 19)], Some(7)));
        assert_eq!(dealt(&three, 1, 9), (vec![], Some(4)));
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_wanted_and_nothing_is_left_that_somebody_wants(
            wants in prop::collection::vec((1u32..4, 0u32..60), 0..12),
            room in 0u32..120,
            most in 1u32..14,
        ) {
            let demands: Vec<_> = (0..).zip(&wants)
                .map(|(flow, &(least_symbols, more))| Demand { flow, symbols: least_symbols + more, least_symbols })
                .collect();
            let mut deal = Deal::default();
            let next = deal.deal(demands.iter().copied(), room, most);
            let grants = deal.grants;
            let used: u32 = grants.iter().map(|grant| grant.symbols + 1).sum();
            prop_assert!(used <= room && grants.len() <= most as usize);
            let mut hungry = false;
            for (grant, demand) in grants.iter().zip(&demands) {
                prop_assert_eq!(grant.flow, demand.flow);
                prop_assert!((demand.least_symbols..=demand.symbols).contains(&grant.symbols));
                hungry |= grant.symbols < demand.symbols;
            }
            prop_assert!(used == room || !hungry);
            prop_assert!(next.is_none_or(|next| (next as usize) < demands.len()));
        }
    }
}
