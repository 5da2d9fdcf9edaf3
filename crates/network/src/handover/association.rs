//! A station's association, by the link events of its possible cells.
//!
//! The last heard beacon of a cell says how good the cell is: by its distance (which stands for signal
//! strength in an abstract cell) or by its signal. The rules:
//! - A station without association takes the first cell that it hears.
//! - It changes to a cell that is better than its own (nearer or stronger) by more than the hysteresis.
//! - When its own cell is lost, it takes the best one that it hears, if any.
//!
//! These rules are for a station with one interface, [`Uses::One`]. A station with an interface in each
//! cell, [`Uses::All`], uses every cell while it hears it; the rules then say which cell it would choose by
//! distance.
//!
//! Every decision falls at the instant of a link event, so the machine has no deadline. The link carries
//! the decision out: an abstract cell needs no time, 802.11 exchanges frames.

use crate::link::indication::{LinkEvent, Quality};

/// Which cells a station uses at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// The one that it is associated with.
    One,
    /// All that it hears.
    All,
}

/// What follows for the station. Cells are numbered as the station's list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It gives this cell up.
    Leave(usize),
    /// It takes this one for its own.
    Associate(usize),
    /// Of those that it uses, this one is the nearest now.
    Nearest(usize),
}

/// What a station has heard of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Heard {
    quality: Quality,
    going_down: bool,
}

/// A station's association.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    cells: Vec<Option<Heard>>,
    /// The best of them.
    best: Option<usize>,
    current: Option<usize>,
    hysteresis: f64,
    uses: Uses,
    /// Cells that a user of links keeps it from (Link_Action.request of IEEE Std 802.21-2008).
    barred: Vec<bool>,
}

impl Association {
    /// A station of so many cells that has heard nothing yet.
    pub fn new(cells: usize, hysteresis: f64, uses: Uses) -> Association {
        let (heard, barred) = (vec![None; cells], vec![false; cells]);
        Association { cells: heard, best: None, current: None, hysteresis, uses, barred }
    }

    /// Whether it uses one cell at a time.
    pub fn uses_one(&self) -> bool {
        self.uses == Uses::One
    }

    /// The cell that the station is associated with; of one that uses all, the one that it would choose.
    pub fn current(&self) -> Option<usize> {
        self.current
    }

    /// A link event of a cell: what follows, in order.
    pub fn on_link_event(&mut self, cell: usize, event: LinkEvent) -> Vec<Change> {
        let mut changes = Vec::new();
        match event {
            LinkEvent::Detected { quality } => {
                self.hear(cell, Some(Heard { quality, going_down: false }));
                if self.uses == Uses::All && !self.barred[cell] {
                    changes.push(Change::Associate(cell));
                }
            }
            LinkEvent::ParametersReport { quality } => {
                let heard = self.cells[cell].map(|heard| Heard { quality, ..heard });
                self.hear(cell, heard);
            }
            LinkEvent::GoingDown { .. } | LinkEvent::Rollback => {
                if let Some(heard) = &mut self.cells[cell] {
                    heard.going_down = event != LinkEvent::Rollback;
                }
                return changes;
            }
            LinkEvent::Down(_) | LinkEvent::Lost => self.hear(cell, None),
            LinkEvent::GoingDownAgain { .. }
            | LinkEvent::Up
            | LinkEvent::ErrorReport { .. }
            | LinkEvent::ScanBegun
            | LinkEvent::ScanEnded => return changes,
        }
        let wanted = self.wanted();
        if wanted == self.current {
            return changes;
        }
        match self.uses {
            Uses::One => {
                // One that is lost cannot be given up.
                let left = self.current.filter(|&left| self.hears(left));
                changes.extend(left.map(Change::Leave));
                changes.extend(wanted.map(Change::Associate));
            }
            Uses::All => changes.extend(wanted.map(Change::Nearest)),
        }
        self.current = wanted;
        changes
    }

    /// A user of links says whether a station of all cells takes this one: what follows, where it hears it.
    pub fn permit(&mut self, cell: usize, permitted: bool) -> Option<Change> {
        let changes = std::mem::replace(&mut self.barred[cell], !permitted) == permitted;
        let change = if permitted { Change::Associate(cell) } else { Change::Leave(cell) };
        (changes && self.hears(cell)).then_some(change)
    }

    /// Whether a cell is heard.
    pub fn hears(&self, cell: usize) -> bool {
        self.cells[cell].is_some()
    }

    /// How good a cell is that is heard, by what was heard of it last.
    pub fn quality(&self, cell: usize) -> Option<Quality> {
        self.cells[cell].map(|heard| heard.quality)
    }

    /// Whether a cell is heard, and its link is going down.
    pub fn is_going_down(&self, cell: usize) -> bool {
        self.cells[cell].is_some_and(|heard| heard.going_down)
    }

    /// The best of the cells that are heard and fulfil a condition.
    pub fn best(&self, condition: impl Fn(usize) -> bool) -> Option<usize> {
        let heard = self.cells.iter().enumerate().filter_map(|(cell, heard)| Some((cell, (*heard)?)));
        let best = heard
            .filter(|&(cell, _)| condition(cell))
            .min_by(|(_, a), (_, b)| b.quality.score().total_cmp(&a.quality.score()));
        best.map(|(cell, _)| cell)
    }

    /// What is heard of a cell has changed. All are looked at only where the best has become worse.
    fn hear(&mut self, cell: usize, heard: Option<Heard>) {
        let score = |heard: Option<Heard>| heard.map(|heard| heard.quality.score());
        let before = std::mem::replace(&mut self.cells[cell], heard);
        let order = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.is_some().cmp(&b.is_some()),
        };
        match self.best {
            Some(best) if best == cell => {
                if order(score(heard), score(before)).is_lt() {
                    self.best = self.best(|_| true);
                }
            }
            // Of equally good ones the first.
            best => {
                let other = best.and_then(|best| score(self.cells[best]));
                let order = order(score(heard), other).then(best.cmp(&Some(cell)));
                if heard.is_some() && order.is_gt() {
                    self.best = Some(cell);
                }
            }
        }
    }

    /// The cell that the station should be in.
    fn wanted(&self) -> Option<usize> {
        let score = |cell: usize| self.quality(cell).map(Quality::score);
        let best = self.best.and_then(|cell| Some((score(cell)?, cell)))?;
        match self.current.and_then(|current| Some((score(current)?, current))) {
            Some((own_score, own)) if best.0 - self.hysteresis <= own_score => Some(own),
            _ => Some(best.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Change::{Associate, Leave, Nearest};
    use super::*;
    use crate::link::indication::{LinkDownReason, LinkGoingDownReason, Quality};
    use roamsim_engine::Span;

    fn first(distance_m: f64) -> LinkEvent {
        LinkEvent::Detected { quality: Quality::Distance(distance_m) }
    }

    fn again(distance_m: f64) -> LinkEvent {
        LinkEvent::ParametersReport { quality: Quality::Distance(distance_m) }
    }

    const LOST: LinkEvent = LinkEvent::Down(LinkDownReason::NO_BROADCAST);

    const MISSED: LinkEvent = LinkEvent::GoingDown {
        within: Span::from_ms(200),
        confidence_percent: 50,
        reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
    };

    #[test]
    fn the_first_heard_is_taken_and_left_for_one_that_is_nearer_by_more_than_the_hysteresis() {
        let mut station = Association::new(2, 10.0, Uses::One);
        assert_eq!(station.on_link_event(0, first(80.0)), [Associate(0)]);
        assert_eq!(station.on_link_event(1, first(75.0)), []);
        assert_eq!(station.on_link_event(1, again(70.0)), []);
        assert_eq!(station.on_link_event(1, again(69.0)), [Leave(0), Associate(1)]);
        // Back only when cell 0 is nearer than 59 m.
        assert_eq!(station.on_link_event(0, again(60.0)), []);
        assert_eq!(station.current(), Some(1));
        // The own cell may also move away: 60 + 10 < 71.
        assert_eq!(station.on_link_event(1, again(71.0)), [Leave(1), Associate(0)]);
    }

    #[test]
    fn another_cell_that_is_still_heard_takes_over() {
        let mut station = Association::new(2, 0.0, Uses::One);
        assert_eq!(station.on_link_event(0, first(50.0)), [Associate(0)]);
        assert_eq!(station.on_link_event(1, first(60.0)), []);
        assert_eq!(station.on_link_event(0, MISSED), []);
        assert_eq!(station.on_link_event(0, LOST), [Associate(1)]);
        assert_eq!(station.on_link_event(1, LOST), []);
        assert_eq!(station.current(), None);
        assert_eq!(station.on_link_event(0, first(90.0)), [Associate(0)]);
    }

    #[test]
    fn a_station_of_all_cells_takes_each_that_it_hears_and_knows_the_nearest() {
        let mut station = Association::new(2, 0.0, Uses::All);
        assert_eq!(station.on_link_event(0, first(50.0)), [Associate(0), Nearest(0)]);
        assert_eq!(station.on_link_event(1, first(60.0)), [Associate(1)]);
        assert_eq!(station.on_link_event(1, MISSED), []);
        assert!(station.is_going_down(1) && !station.is_going_down(0));
        assert_eq!(station.best(|cell| cell != 0), Some(1));
        assert_eq!(station.on_link_event(1, again(40.0)), [Nearest(1)]);
        assert!(station.is_going_down(1), "only a rollback takes that back");
        assert_eq!(station.on_link_event(1, LinkEvent::Rollback), []);
        assert!(!station.is_going_down(1));
        assert_eq!(station.on_link_event(1, LOST), [Nearest(0)]);
        // Kept from it, it hears it all the same.
        assert_eq!(station.permit(1, false), None);
        assert_eq!(station.on_link_event(1, first(90.0)), []);
        assert_eq!((station.permit(1, true), station.permit(1, true)), (Some(Associate(1)), None));
        assert_eq!((station.permit(1, false), station.permit(1, false)), (Some(Leave(1)), None));
        assert_eq!(station.on_link_event(1, LOST), []);
        assert_eq!((station.hears(1), station.best(|cell| cell != 0)), (false, None));
    }
}
