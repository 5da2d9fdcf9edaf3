//! Round robin on the uplink: units are dealt one by one among those that want some.

/// A service flow that wants a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub flow: u32,
    /// Data units that it wants, not fewer than `least_units`.
    pub units: u32,
    /// What it can make use of at all.
    pub least_units: u32,
    /// What comes before its data.
    pub preamble_units: u32,
}

/// A burst that a service flow gets: data units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub flow: u32,
    pub units: u32,
    /// What it wanted.
    wanted_units: u32,
}

/// What is dealt in a frame.
#[derive(Debug, Default)]
pub(super) struct Deal {
    pub grants: Vec<Grant>,
}

impl Deal {
    /// Deals a room of units among the first of these, in at most so many bursts; each burst costs a
    /// preamble. Returns whose turn is next. It looks at one more than get a burst.
    pub fn deal(
        &mut self,
        demands: impl IntoIterator<Item = Demand>,
        room_units: u32,
        most_bursts: u32,
    ) -> Option<u32> {
        let (mut room, mut waiting) = (room_units, None);
        let grants = &mut self.grants;
        grants.clear();
        for Demand { flow, units: wanted_units, least_units: units, preamble_units } in demands {
            let cost = preamble_units + units;
            if cost > room || grants.len() >= most_bursts as usize {
                waiting = Some(flow);
                break;
            }
            room -= cost;
            grants.push(Grant { flow, units, wanted_units });
        }
        if let [grant] = &mut grants[..] {
            // Nobody to share with.
            grant.units += room.min(grant.wanted_units - grant.units);
            return Some(waiting.unwrap_or(grant.flow));
        }
        let mut last = None;
        let mut dealt = true;
        while dealt && room > 0 {
            dealt = false;
            for (number, grant) in grants.iter_mut().enumerate() {
                if room > 0 && grant.units < grant.wanted_units {
                    (grant.units, room, dealt) = (grant.units + 1, room - 1, true);
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

    fn demand(flow: u32, units: u32) -> Demand {
        Demand { flow, units, least_units: 1, preamble_units: 1 }
    }

    fn dealt(demands: &[Demand], room: u32, most: u32) -> (Vec<(u32, u32)>, Option<u32>) {
        let mut deal = Deal::default();
        let next = deal.deal(demands.iter().copied(), room, most);
        (deal.grants.into_iter().map(|grant| (grant.flow, grant.units)).collect(), next)
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
                .map(|(flow, &(least_units, more))| Demand { flow, units: least_units + more, least_units, preamble_units: 1 })
                .collect();
            let mut deal = Deal::default();
            let next = deal.deal(demands.iter().copied(), room, most);
            let grants = deal.grants;
            let used: u32 = grants.iter().map(|grant| grant.units + 1).sum();
            prop_assert!(used <= room && grants.len() <= most as usize);
            let mut hungry = false;
            for (grant, demand) in grants.iter().zip(&demands) {
                prop_assert_eq!(grant.flow, demand.flow);
                prop_assert!((demand.least_units..=demand.units).contains(&grant.units));
                hungry |= grant.units < demand.units;
            }
            prop_assert!(used == room || !hungry);
            prop_assert!(next.is_none_or(|next| (next as usize) < demands.len()));
        }
    }
}
