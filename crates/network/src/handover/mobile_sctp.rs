//! Mobile SCTP: a station with an address in each cell says which of them can be used, and which it prefers.
//!
//! An address can be used from the first beacon of its cell that is heard until the cell is lost: addresses are added as
//! early and deleted as late as possible (Koh, Chang and Lee, "mSCTP for soft handover in transport layer", IEEE
//! Communications Letters 8(3), 2004: aggressive Add-IP). When the preferred one changes is a rule of its own,
//! [`PrimaryChange`]; a preferred address that is lost is always replaced by that of the nearest cell that is heard.
//!
//! Nothing here asks a peer for anything: that is the transports' part (RFC 5061), which the world tells. The handover is
//! complete when the peers of all associations have accepted the new primary address. Not modelled: the time in which a
//! real station gets its address (DHCP, IPv6 address autoconfiguration and duplicate address detection).

use super::association::Indication;
use super::{Handovers, StationPlace};
use crate::network::Network;
use roamsim_engine::Time;

/// At which indication of the link layer a station prefers another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimaryChange {
    /// When another cell is nearer than its own by more than the hysteresis: the association's choice.
    Nearer,
    /// When a cell is newly heard: that one.
    Up,
    /// When a beacon of its cell is missed and another cell is heard without a miss; in its absence, when one is newly
    /// heard before a beacon of its own is again.
    GoingDown,
    /// When its cell is lost.
    Down,
}

impl PrimaryChange {
    /// The cell to prefer after an indication; `None` while none is heard.
    fn choose(self, place: &StationPlace, indication: Indication) -> Option<usize> {
        let association = &place.association;
        let Some(own) = place.current.filter(|&own| association.missed(own).is_some()) else {
            return association.nearest(|_| true);
        };
        let other = match (self, indication) {
            (PrimaryChange::Nearer, _) => association.current(),
            (PrimaryChange::Up, Indication::Detected(cell)) => Some(cell),
            (PrimaryChange::GoingDown, _) if association.missed(own) > Some(0) => {
                association.nearest(|cell| association.missed(cell) == Some(0))
            }
            (PrimaryChange::Up | PrimaryChange::GoingDown | PrimaryChange::Down, _) => None,
        };
        other.or(Some(own))
    }
}

pub(super) fn indication(
    handovers: &mut Handovers,
    network: &mut Network,
    now: Time,
    station: u32,
    rule: PrimaryChange,
    indication: Indication,
) {
    let place = &handovers.stations[station as usize];
    let chosen = rule.choose(place, indication);
    match indication {
        Indication::Lost(cell) if place.current == Some(cell) => handovers.left(now, station),
        Indication::Detected(cell) => handovers.close_old_path(network, station, cell),
        _ => {}
    }
    let place = &handovers.stations[station as usize];
    let changes = chosen.is_some_and(|cell| place.current != Some(cell) || place.left_at.is_some());
    if let Some(cell) = chosen.filter(|_| changes) {
        handovers.begin(network, now, station, cell);
    }
    if changes || matches!(indication, Indication::Detected(_) | Indication::Lost(_)) {
        handovers.announce(station);
    }
}

#[cfg(test)]
mod tests {
    use super::PrimaryChange::{Down, GoingDown, Nearer, Up};
    use super::*;
    use crate::handover::association::Association;
    use crate::handover::{Membership, Scheme};
    use crate::packet::IpVersion;
    use crate::topology::{NodeId, Topology};
    use roamsim_protocols::Address;

    /// A station of two cells, which lives three and two beacons, with addresses 10 and 11.
    struct Walk {
        handovers: Handovers,
        network: Network,
        rule: PrimaryChange,
    }

    impl Walk {
        fn new(rule: PrimaryChange) -> Walk {
            let cells = [0, 1].map(|cell| Membership { cell, number: 0, interface: Address(10 + cell) });
            let association = Association::new(vec![3, 2], 5.0);
            let place = StationPlace::new(NodeId(0), Scheme::MobileSctp(rule), cells.to_vec(), association);
            let mut handovers = Handovers::default();
            handovers.add_station(place);
            // The scheme marks the paths of cells, of which there are none here: see `begin`.
            Walk { handovers, network: Network::new(Topology::default(), IpVersion::V4), rule }
        }

        /// The usable addresses after a beacon, the preferred one first.
        fn beacon(&mut self, cell: usize, heard: Option<f64>) -> Vec<u32> {
            let indications = self.handovers.stations[0].association.beacon(cell, heard);
            for indication in indications {
                super::indication(
                    &mut self.handovers,
                    &mut self.network,
                    Time::ZERO,
                    0,
                    self.rule,
                    indication,
                );
            }
            self.handovers.stations[0].usable().iter().map(|address| address.0).collect()
        }
    }

    #[test]
    fn each_rule_changes_the_preferred_address_at_its_indication() {
        // Heard with 60 m, as cell 0 is at 50 m; nearer by more than 5 m; a miss of cell 0, the third one.
        for (rule, after) in [
            (Up, [11, 11, 11, 11]),
            (Nearer, [10, 11, 11, 11]),
            (GoingDown, [10, 10, 11, 11]),
            (Down, [10, 10, 10, 11]),
        ] {
            let mut walk = Walk::new(rule);
            assert_eq!(walk.beacon(0, Some(50.0)), [10]);
            assert_eq!(walk.beacon(1, Some(60.0))[0], after[0], "{rule:?}");
            walk.beacon(0, Some(70.0));
            assert_eq!(walk.beacon(1, Some(40.0))[0], after[1], "{rule:?}");
            assert_eq!(walk.beacon(0, None)[0], after[2], "{rule:?}");
            walk.beacon(1, Some(39.0));
            walk.beacon(0, None);
            assert_eq!(walk.beacon(0, None), [after[3]], "{rule:?}");
        }
    }

    #[test]
    fn going_down_waits_for_a_cell_that_is_heard_without_a_miss() {
        let mut walk = Walk::new(GoingDown);
        walk.beacon(0, Some(50.0));
        walk.beacon(1, Some(60.0));
        walk.beacon(1, None);
        // Both are going down; the nearer one of those that are not is none.
        assert_eq!(walk.beacon(0, None), [10, 11]);
        assert_eq!(walk.beacon(1, None), [10]);
        // The first one has not come back when the second one is heard again.
        assert_eq!(walk.beacon(1, Some(55.0)), [11, 10]);
    }

    #[test]
    fn without_a_cell_there_is_no_usable_address() {
        let mut walk = Walk::new(Down);
        walk.beacon(0, Some(50.0));
        while walk.handovers.take_announced().is_some() {}
        walk.beacon(0, None);
        walk.beacon(0, None);
        assert_eq!(walk.handovers.take_announced(), None, "nothing has changed yet");
        assert_eq!(walk.beacon(0, None), [0u32; 0]);
        assert_eq!(walk.handovers.take_announced(), Some(0));
        assert_eq!(walk.beacon(1, Some(90.0)), [11]);
    }
}
