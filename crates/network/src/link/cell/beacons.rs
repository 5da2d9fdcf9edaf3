//! The beacons that stations of a cell hear, and the link events that follow.
//!
//! The base station sends beacons at fixed instants. A station hears a beacon unless the cell's error model
//! loses it or the station is out of reach. Beacons are not packets and take no time on the transmitter.
//!
//! - The first beacon heard is a Link_Detected, each further one a Link_Parameters_Report.
//! - The first beacon missed while the link is up is a Link_Going_Down. After `lifetime` missed in a row
//!   the link is down. The confidence is the probability of missing the rest of them too, on the station's
//!   coming walk. It is reported again at further missed beacons when it reaches the level that a user
//!   waits for. A beacon heard before then is a rollback.
//! - With `going_down_ahead`, Link_Going_Down comes before any beacon is missed: at a beacon after which
//!   the known walk leads out of reach within that time. It is rolled back when that no longer holds.

use super::Cell;
use crate::link::indication::{Indication, LinkDownReason, LinkEvent, LinkGoingDownReason, Quality};
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// For the confidence of Link_Going_Down no more beacons of a lifetime are looked at: with the rest it would
/// hardly be another one, and a lifetime without end would have no end here either (chosen).
const MOST_BEACONS_AHEAD: u32 = 1000;

/// How a base station makes itself known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeaconConfig {
    /// The time between two beacons, above zero.
    pub period: Span,
    /// When the first one comes.
    pub start: Time,
    /// After how many missed in a row a station has lost the cell, at least one.
    pub lifetime: u32,
    /// Octets of a beacon, which decide on its survival where errors are of bits.
    pub bytes: u32,
    /// How far ahead of it the end of a link is told; `None`: when a beacon is missed.
    pub going_down_ahead: Option<Span>,
}

/// What waits to be indicated, and when the next beacon comes.
#[derive(Clone, Debug)]
pub(super) struct Beacons {
    config: BeaconConfig,
    next: Time,
    indications: VecDeque<Indication>,
}

impl Beacons {
    pub fn new(config: BeaconConfig) -> Beacons {
        Beacons { config, next: config.start, indications: VecDeque::new() }
    }
}

/// What a station knows of the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hearing {
    /// Beacons missed in a row; `None` where it does not hear the cell.
    missed: Option<u32>,
    /// It uses the cell.
    up: bool,
    /// It has been told that the link is going down.
    going_down: bool,
}

impl Hearing {
    /// A beacon was due: what there is to indicate. `missed` is asked for the event of the first one that is
    /// missed; `leaving` is that of a walk out of reach.
    fn beacon(
        &mut self,
        heard_m: Option<f64>,
        lifetime: u32,
        leaving: Option<LinkEvent>,
        missed: impl FnOnce() -> LinkEvent,
    ) -> [Option<LinkEvent>; 2] {
        match (heard_m, self.missed) {
            (Some(distance_m), None) => {
                *self = Hearing { missed: Some(0), up: false, going_down: false };
                [Some(LinkEvent::Detected { quality: Quality::Distance(distance_m) }), None]
            }
            (Some(distance_m), Some(_)) => {
                self.missed = Some(0);
                let told = std::mem::replace(&mut self.going_down, self.up && leaving.is_some());
                let change = match (told, self.going_down) {
                    (false, true) => leaving,
                    (true, false) => Some(LinkEvent::Rollback),
                    _ => None,
                };
                [change, Some(LinkEvent::ParametersReport { quality: Quality::Distance(distance_m) })]
            }
            (None, None) => [None, None],
            (None, Some(before)) if before + 1 >= lifetime => {
                let up = std::mem::take(self).up;
                [Some(if up { LinkEvent::Down(LinkDownReason::NO_BROADCAST) } else { LinkEvent::Lost }), None]
            }
            (None, Some(before)) => {
                self.missed = Some(before + 1);
                let tells = self.up && !self.going_down;
                self.going_down |= tells;
                [tells.then(missed), None]
            }
        }
    }

    /// How many beacons it has missed in a row, while the link is going down.
    fn going_down(&self) -> Option<u32> {
        self.missed.filter(|_| self.going_down)
    }

    /// The station takes the cell for its own.
    pub fn associate(&mut self) -> Option<LinkEvent> {
        let takes = self.missed.is_some() && !self.up;
        self.up |= takes;
        takes.then_some(LinkEvent::Up)
    }

    /// The station gives the cell up for another.
    pub fn leave(&mut self) -> Option<LinkEvent> {
        self.going_down = false;
        std::mem::take(&mut self.up).then_some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT))
    }
}

impl Cell {
    /// When the next beacon comes.
    pub(super) fn next_beacon(&self) -> Time {
        self.beacons.next
    }

    /// The next link event of beacons up to `now`.
    pub(super) fn poll_beacons(&mut self, now: Time) -> Option<Indication> {
        while self.beacons.indications.is_empty() && self.beacons.next <= now {
            let at = self.beacons.next;
            self.beacons.next = at + self.beacons.config.period;
            (0..self.station_count()).for_each(|station| self.beacon(station, at));
        }
        self.beacons.indications.pop_front()
    }

    /// The distance at which a station hears a beacon; `None` where it does not.
    pub(super) fn hears_m(&mut self, station: u32, now: Time) -> Option<f64> {
        let distance_m = self.distance_m(station, now);
        let lost = self.beacon_loss(distance_m);
        // The draw comes in any case, so that a stay out of reach does not shift the numbering of the
        // beacons.
        let misses = self.stations[station as usize].beacon_draws.bernoulli(lost.unwrap_or(1.0));
        (lost.is_some() && !misses).then_some(distance_m)
    }

    /// A beacon comes to a station, or does not.
    fn beacon(&mut self, station: u32, now: Time) {
        let heard_m = self.hears_m(station, now);
        let lifetime = self.beacons.config.lifetime;
        let mut hearing = self.stations[station as usize].hearing;
        let leaving = self.leaving(station, now);
        let mut events = hearing.beacon(heard_m, lifetime, leaving, || self.missed(station, now, 1));
        self.stations[station as usize].hearing = hearing;
        let is_new = events[0].is_some();
        let is_awaited = || self.stations[station as usize].confidence.is_awaited();
        if let Some(missed) = hearing.going_down().filter(|_| !is_new && is_awaited()) {
            events[0] = if heard_m.is_some() { leaving } else { Some(self.missed(station, now, missed)) };
        }
        let confidence = &mut self.stations[station as usize].confidence;
        events[0] = events[0].and_then(|event| confidence.tell(event, is_new));
        let at = self.station_interface(station);
        let events = events.into_iter().flatten();
        self.beacons.indications.extend(events.map(|event| Indication { at, event }));
    }

    /// The probability that a beacon is lost at a distance; `None` out of reach.
    fn beacon_loss(&self, distance_m: f64) -> Option<f64> {
        self.config.coverage.loss_probability(distance_m, self.beacons.config.bytes)
    }

    /// Whether the walk of a station will have led it out of reach in the time ahead that is looked at.
    fn leaving(&self, station: u32, now: Time) -> Option<LinkEvent> {
        let within = self.beacons.config.going_down_ahead?;
        let leaves = self.distance_m(station, now + within) > self.config.coverage.radius_m();
        leaves.then_some(LinkEvent::GoingDown {
            within,
            confidence_percent: 100,
            reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
        })
    }

    /// So many beacons have been missed, the last at `now`: the link is down after the rest of those of a
    /// lifetime.
    fn missed(&self, station: u32, now: Time, missed: u32) -> LinkEvent {
        let BeaconConfig { period, lifetime, .. } = self.beacons.config;
        let rest = lifetime.saturating_sub(missed);
        let due = |beacon: u32| now + period * u64::from(beacon);
        let lost = |beacon| self.beacon_loss(self.distance_m(station, due(beacon))).unwrap_or(1.0);
        let mut confidence = 1.0;
        for beacon in 1..=rest.min(MOST_BEACONS_AHEAD - 1) {
            confidence *= lost(beacon);
            if confidence < 0.005 {
                break;
            }
        }
        LinkEvent::GoingDown {
            within: due(rest) - now,
            confidence_percent: (100.0 * confidence).round() as u8,
            reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cell_with, disc};
    use super::*;
    use crate::link::cell::coverage::{Coverage, ErrorUnit};
    use crate::link::stations::Stations;
    use crate::link::{Attachment, Link};
    use crate::mobility::{Point, Trajectory};

    const BEACONS: BeaconConfig = BeaconConfig {
        period: Span::from_ms(100),
        start: Time::ZERO,
        lifetime: 3,
        bytes: 100,
        going_down_ahead: None,
    };

    /// Events of the only station by beacon number; it associates as soon as it hears the cell.
    fn events(cell: &mut Cell, beacons: u64) -> Vec<(u64, LinkEvent)> {
        let mut found = Vec::new();
        for number in 0..beacons {
            let now = Time::ZERO + BEACONS.period * number;
            assert_eq!(cell.next_indication(), Some(now));
            while let Some(Indication { at, event }) = cell.poll_indication(now) {
                assert_eq!(at, Attachment(2));
                found.push((number, event));
                if matches!(event, LinkEvent::Detected { .. }) {
                    found.extend(cell.associate(now, 0).map(|event| (number, event)));
                }
            }
        }
        found
    }

    #[test]
    fn a_walk_out_of_the_cell_is_told_step_by_step() {
        // From 70 m at 100 m/s: 70, 80, 90, 100 m are in reach of 100 m; 110, 120, 130 m are not. At 110 m
        // the first is missed; two more follow in 200 ms, both out of reach for certain.
        let walk = Trajectory::waypoints(
            Point::new(70.0, 0.0),
            Time::ZERO,
            &[(Point::new(1000.0, 0.0), 100.0, Span::ZERO)],
        );
        let mut cell = cell_with(disc(100.0), BEACONS, walk);
        let found = events(&mut cell, 9);
        let names: Vec<_> = found.iter().map(|(number, event)| (*number, event.name())).collect();
        assert_eq!(
            names,
            [
                (0, "link_detected"),
                (0, "link_up"),
                (1, "link_parameters_report"),
                (2, "link_parameters_report"),
                (3, "link_parameters_report"),
                (4, "link_going_down"),
                (6, "link_down"),
            ]
        );
        assert_eq!(
            found[5].1,
            LinkEvent::GoingDown {
                within: Span::from_ms(200),
                confidence_percent: 100,
                reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
            }
        );
        assert_eq!(found[6].1, LinkEvent::Down(LinkDownReason::NO_BROADCAST));
    }

    #[test]
    fn a_walk_out_of_reach_is_told_ahead_and_taken_back_when_it_turns() {
        // From 70 m out at 100 m/s to 105 m (0.35 s) and back, with a reach of 100 m, looked at 150 ms ahead:
        // at 0.1 s it will be at 95 m, at 0.2 s at 105 m, out of reach, at 0.3 s at 95 m again (0.45 s).
        let walk = Trajectory::waypoints(
            Point::new(70.0, 0.0),
            Time::ZERO,
            &[(Point::new(105.0, 0.0), 100.0, Span::ZERO), (Point::new(0.0, 0.0), 100.0, Span::ZERO)],
        );
        let ahead = BeaconConfig { going_down_ahead: Some(Span::from_ms(150)), ..BEACONS };
        let mut cell = cell_with(disc(100.0), ahead, walk);
        let found = events(&mut cell, 5);
        let names: Vec<_> = found.iter().map(|(number, event)| (*number, event.name())).collect();
        assert_eq!(
            names,
            [
                (0, "link_detected"),
                (0, "link_up"),
                (1, "link_parameters_report"),
                (2, "link_going_down"),
                (2, "link_parameters_report"),
                (3, "link_event_rollback"),
                (3, "link_parameters_report"),
                (4, "link_parameters_report"),
            ]
        );
        assert_eq!(
            found[3].1,
            LinkEvent::GoingDown {
                within: Span::from_ms(150),
                confidence_percent: 100,
                reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
            }
        );
    }

    #[test]
    fn a_beacon_heard_in_time_takes_going_down_back_and_confidence_is_the_chance_of_missing_the_rest() {
        // Standing where a beacon is lost with 0.3: the two that remain are both lost with 0.09.
        let law = Coverage::DistancePower {
            radius_m: 100.0,
            error_at_edge: 0.3,
            exponent: 0.0,
            unit: ErrorUnit::Packet,
        };
        let mut cell = cell_with(law, BEACONS, Trajectory::fixed(Point::new(50.0, 0.0)));
        let found = events(&mut cell, 2000);
        let mut going_down = false;
        for pair in found.windows(2) {
            let ((_, before), (_, after)) = (pair[0], pair[1]);
            if let LinkEvent::GoingDown { confidence_percent, .. } = before {
                assert_eq!(confidence_percent, 9);
                let expected = [LinkEvent::Rollback, LinkEvent::Down(LinkDownReason::NO_BROADCAST)];
                assert!(expected.contains(&after), "{after:?}");
                going_down = true;
            }
            if before == LinkEvent::Rollback {
                assert_eq!(after, LinkEvent::ParametersReport { quality: Quality::Distance(50.0) });
            }
        }
        assert!(going_down);
        // Of some 420 first misses (0.3 * 0.7 * 2000) about 9 % end in a loss.
        let count = |name| found.iter().filter(|(_, event)| event.name() == name).count();
        let (first, lost) = (count("link_going_down"), count("link_down"));
        assert!((330..500).contains(&first) && (15..65).contains(&lost), "{first}, {lost}");
    }

    #[test]
    fn a_lifetime_without_end_takes_no_time_to_look_at() {
        // Heard at 0, then out of reach for ever: the probability of each of the rest is one.
        let walk = Trajectory::waypoints(
            Point::new(90.0, 0.0),
            Time::ZERO,
            &[(Point::new(900.0, 0.0), 900.0, Span::ZERO)],
        );
        let mut cell = cell_with(disc(100.0), BeaconConfig { lifetime: u32::MAX, ..BEACONS }, walk);
        let found = events(&mut cell, 3);
        let certain =
            |event: &LinkEvent| matches!(event, LinkEvent::GoingDown { confidence_percent: 100, .. });
        assert!(found.iter().any(|(_, event)| certain(event)), "{found:?}");
    }

    #[test]
    fn a_cell_that_is_not_used_is_lost_without_going_down() {
        let mut hearing = Hearing::default();
        let never = || unreachable!("no link is up");
        assert_eq!(hearing.leave(), None);
        assert_eq!(
            hearing.beacon(Some(5.0), 2, None, never)[0],
            Some(LinkEvent::Detected { quality: Quality::Distance(5.0) })
        );
        assert_eq!(hearing.beacon(None, 2, None, never), [None, None]);
        assert_eq!(
            hearing.beacon(Some(6.0), 2, None, never),
            [None, Some(LinkEvent::ParametersReport { quality: Quality::Distance(6.0) })]
        );
        assert_eq!((hearing.associate(), hearing.associate()), (Some(LinkEvent::Up), None));
        assert_eq!(hearing.leave(), Some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT)));
        assert_eq!(hearing.beacon(None, 2, None, never), [None, None]);
        assert_eq!(hearing.beacon(None, 2, None, never), [Some(LinkEvent::Lost), None]);
        assert_eq!(hearing.associate(), None, "what is not heard cannot be taken");
    }
}
