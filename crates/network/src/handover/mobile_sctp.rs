//! Mobile SCTP: a station with an address in each cell says which addresses are usable and which one it
//! prefers.
//!
//! - An address is usable from the first heard beacon of its cell until the cell is lost. So addresses are
//!   added as early and deleted as late as possible (Koh, Chang and Lee, "mSCTP for soft handover in
//!   transport layer", IEEE Communications Letters 8(3), 2004: aggressive Add-IP).
//! - [`PrimaryChange`] decides when the preferred address changes. A preferred address that is lost is
//!   always replaced by that of the nearest heard cell.
//! - Requests to the peer are made by the transports (RFC 5061), which the world notifies. The handover is
//!   complete when the peers of all associations have accepted the new primary address.
//!
//! Not modelled: the time in which a real station gets its address (DHCP, IPv6 address autoconfiguration
//! and duplicate address detection).

use super::{Action, Cue, StationPlace};
use crate::link::indication::LinkEvent;

/// At which indication of the link layer a station prefers another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimaryChange {
    /// When another cell is nearer than its own by more than the hysteresis: the association's choice.
    Nearer,
    /// When a cell is newly heard: that one.
    Up,
    /// When a beacon of its cell is missed and another cell is heard without a miss; in its absence, when one
    /// is newly heard before a beacon of its own is again.
    GoingDown,
    /// When its cell is lost.
    Down,
}

impl PrimaryChange {
    /// The cell to prefer after something has happened; `None` while none is heard.
    fn choose(self, place: &StationPlace, cue: Cue) -> Option<usize> {
        let association = &place.association;
        let Some(own) = place.current.filter(|&own| association.hears(own)) else {
            return association.best(|_| true);
        };
        let other = match (self, cue) {
            (PrimaryChange::Nearer, _) => association.current(),
            (PrimaryChange::Up, Cue::Link(cell, LinkEvent::Detected { .. })) => Some(cell),
            (PrimaryChange::GoingDown, _) if association.is_going_down(own) => {
                association.best(|cell| !association.is_going_down(cell))
            }
            (PrimaryChange::Up | PrimaryChange::GoingDown | PrimaryChange::Down, _) => None,
        };
        other.or(Some(own))
    }
}

/// What the scheme does. Cells that come, go or are about to go, and another one that is the nearest, concern
/// it.
pub(super) fn react(rule: PrimaryChange, place: &StationPlace, cue: Cue) -> Vec<Action> {
    let (comes, goes) = match cue {
        Cue::Link(cell, LinkEvent::Detected { .. }) => (Some(cell), None),
        // One that was heard and could not be joined is lost without having been up.
        Cue::Link(cell, LinkEvent::Down(_) | LinkEvent::Lost) => (None, Some(cell)),
        Cue::Link(_, LinkEvent::GoingDown { .. }) | Cue::Nearest(_) => (None, None),
        Cue::Link(..) => return Vec::new(),
    };
    let leaves = goes.is_some() && goes == place.current;
    let chosen = rule.choose(place, cue);
    let changes = |&cell: &usize| place.current != Some(cell) || place.left_at.is_some() || leaves;
    let begins = chosen.filter(changes);
    let announces = begins.is_some() || comes.is_some() || goes.is_some();
    let all = [
        leaves.then_some(Action::Left),
        comes.map(Action::CloseOldPath),
        begins.map(Action::Begin),
        announces.then_some(Action::Announce),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::PrimaryChange::{Down, GoingDown, Nearer, Up};
    use super::*;
    use crate::handover::association::{Association, Change, Uses};
    use crate::handover::{Handovers, Membership, Scheme};
    use crate::link::indication::{LinkDownReason, LinkGoingDownReason, Quality};
    use crate::network::Network;
    use crate::packet::IpVersion;
    use crate::topology::{NodeId, Topology};
    use roamsim_engine::{Span, Time};
    use roamsim_protocols::Address;

    /// A station of two cells, which lives three and two beacons, with addresses 10 and 11.
    struct Walk {
        handovers: Handovers,
        network: Network,
        /// Beacons missed in a row.
        missed: [Option<u32>; 2],
    }

    impl Walk {
        fn new(rule: PrimaryChange) -> Walk {
            let cells = [0, 1].map(|cell| Membership { cell, number: 0, interface: Address(10 + cell) });
            let association = Association::new(2, 5.0, Uses::All);
            let place = StationPlace::new(NodeId(0), Scheme::MobileSctp(rule), cells.to_vec(), association);
            let mut handovers = Handovers::default();
            handovers.add_station(place);
            // The scheme marks the paths of cells, of which there are none here: see `begin`.
            Walk { handovers, network: Network::new(Topology::default(), IpVersion::V4), missed: [None; 2] }
        }

        /// The usable addresses after a beacon, the preferred one first.
        fn beacon(&mut self, cell: usize, heard: Option<f64>) -> Vec<u32> {
            let event = match (heard, self.missed[cell]) {
                (Some(distance_m), None) => LinkEvent::Detected { quality: Quality::Distance(distance_m) },
                (Some(distance_m), Some(missed)) => {
                    if missed > 0 {
                        let association = &mut self.handovers.stations[0].association;
                        association.on_link_event(cell, LinkEvent::Rollback);
                    }
                    LinkEvent::ParametersReport { quality: Quality::Distance(distance_m) }
                }
                (None, missed) if missed == Some([2, 1][cell]) => {
                    LinkEvent::Down(LinkDownReason::NO_BROADCAST)
                }
                (None, Some(0)) => LinkEvent::GoingDown {
                    within: Span::ZERO,
                    confidence_percent: 0,
                    reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
                },
                (None, _) => LinkEvent::Up,
            };
            self.missed[cell] = match event {
                LinkEvent::Down(_) => None,
                _ => Some(if heard.is_some() { 0 } else { self.missed[cell].map_or(0, |missed| missed + 1) }),
            };
            let changes = self.handovers.stations[0].association.on_link_event(cell, event);
            self.handovers.react(&mut self.network, Time::ZERO, 0, Cue::Link(cell, event));
            for change in changes {
                if let Change::Nearest(nearest) = change {
                    self.handovers.react(&mut self.network, Time::ZERO, 0, Cue::Nearest(nearest));
                }
            }
            self.handovers.stations[0].usable().map(|address| address.0).collect()
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

    #[test]
    fn a_cell_that_was_heard_and_could_not_be_joined_has_no_address_any_more() {
        let mut walk = Walk::new(Down);
        walk.beacon(0, Some(10.0));
        walk.beacon(1, Some(20.0));
        let place = &mut walk.handovers.stations[0];
        place.current = Some(0);
        place.association.on_link_event(0, LinkEvent::Lost);
        let actions = react(Down, place, Cue::Link(0, LinkEvent::Lost));
        assert_eq!(actions, [Action::Left, Action::Begin(1), Action::Announce]);
    }
}
