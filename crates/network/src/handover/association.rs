//! A station's association by beacons: it associates with the nearest base station that it hears.
//!
//! Base stations beacon at fixed instants; a beacon is heard, or lost by the cell's error model, or out of reach. The
//! station knows the distance from the beacon that it heard last (a real one would know the signal strength, which
//! here is a function of the distance). The rules:
//! - A station without association takes the first cell that it hears.
//! - It changes to a cell whose base station is nearer than its own by more than the hysteresis.
//! - The first beacon of a cell that it misses is an indication that the link there is going down; after `lifetime`
//!   missed in a row the cell is lost. If it was its own, the link is down, and it takes the nearest cell of which it has
//!   not missed as many, if any.
//!
//! A station with an interface in each cell hears them one by one: for it a cell that is heard is a link that is up, and
//! the association is with the one that it would choose by distance.
//!
//! Everything happens at the instant of a beacon, so that the machine has no deadline of its own. Not modelled:
//! scanning, authentication and the exchange of association frames, which take time in real networks.

/// What the link layer tells those above. Cells are numbered as the station's list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indication {
    /// A cell is heard that was not (Link_Detected.indication of IEEE 802.21).
    Detected(usize),
    /// Associated with this cell (Link_Up.indication).
    Up(usize),
    /// A beacon of a cell that is heard was missed, the first since one was heard (Link_Going_Down.indication).
    GoingDown(usize),
    /// A cell is heard no more.
    Lost(usize),
    /// No longer associated with this cell (Link_Down.indication).
    Down(usize),
}

/// What a station has heard of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Heard {
    distance_m: f64,
    /// Beacons missed since, in a row.
    missed: u32,
}

/// A station's association.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    cells: Vec<Option<Heard>>,
    current: Option<usize>,
    hysteresis_m: f64,
    lifetimes: Vec<u32>,
}

impl Association {
    /// A station that has heard nothing yet. It has the lifetime of every cell that it may be in, in beacons, at least
    /// one.
    pub fn new(lifetimes: Vec<u32>, hysteresis_m: f64) -> Association {
        Association { cells: vec![None; lifetimes.len()], current: None, hysteresis_m, lifetimes }
    }

    /// The cell that the station is associated with.
    pub fn current(&self) -> Option<usize> {
        self.current
    }

    /// A beacon of `cell` was due: it was heard at a distance, in metres, or not at all.
    pub fn beacon(&mut self, cell: usize, heard: Option<f64>) -> Vec<Indication> {
        let mut indications = Vec::new();
        match (heard, &mut self.cells[cell]) {
            (Some(distance_m), known) => {
                if known.replace(Heard { distance_m, missed: 0 }).is_none() {
                    indications.push(Indication::Detected(cell));
                }
            }
            (None, None) => return indications,
            (None, Some(known)) => {
                known.missed += 1;
                let missed = known.missed;
                if missed >= self.lifetimes[cell] {
                    self.cells[cell] = None;
                    indications.push(Indication::Lost(cell));
                } else if missed == 1 {
                    indications.push(Indication::GoingDown(cell));
                }
            }
        }
        let wanted = self.wanted();
        if wanted != self.current {
            indications.extend(self.current.map(Indication::Down));
            indications.extend(wanted.map(Indication::Up));
            self.current = wanted;
        }
        indications
    }

    /// Beacons of a cell missed in a row; `None` where it is not heard.
    pub fn missed(&self, cell: usize) -> Option<u32> {
        self.cells[cell].map(|heard| heard.missed)
    }

    /// The nearest of the cells that are heard and fulfil a condition.
    pub fn nearest(&self, condition: impl Fn(usize) -> bool) -> Option<usize> {
        let heard = self.cells.iter().enumerate().filter_map(|(cell, heard)| Some((cell, (*heard)?)));
        let nearest = heard
            .filter(|&(cell, _)| condition(cell))
            .min_by(|(_, a), (_, b)| a.distance_m.total_cmp(&b.distance_m));
        nearest.map(|(cell, _)| cell)
    }

    /// The cell that the station should be in.
    fn wanted(&self) -> Option<usize> {
        let distance_m = |cell: usize| self.cells[cell].map(|heard| heard.distance_m);
        let nearest = self.nearest(|_| true).and_then(|cell| Some((distance_m(cell)?, cell)))?;
        match self.current.and_then(|current| Some((distance_m(current)?, current))) {
            Some((own_m, own)) if nearest.0 + self.hysteresis_m >= own_m => Some(own),
            _ => Some(nearest.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Indication::{Detected, Down, GoingDown, Lost, Up};
    use super::*;

    #[test]
    fn the_first_heard_is_taken_and_left_for_one_that_is_nearer_by_more_than_the_hysteresis() {
        let mut station = Association::new(vec![3, 3], 10.0);
        assert_eq!(station.beacon(1, None), []);
        assert_eq!(station.beacon(0, Some(80.0)), [Detected(0), Up(0)]);
        assert_eq!(station.beacon(1, Some(75.0)), [Detected(1)]);
        assert_eq!(station.beacon(1, Some(70.0)), []);
        assert_eq!(station.beacon(1, Some(69.0)), [Down(0), Up(1)]);
        // Back only when cell 0 is nearer than 59 m.
        assert_eq!(station.beacon(0, Some(60.0)), []);
        assert_eq!(station.current(), Some(1));
        // The own cell may also move away: 60 + 10 < 71.
        assert_eq!(station.beacon(1, Some(71.0)), [Down(1), Up(0)]);
    }

    #[test]
    fn a_cell_that_is_missed_as_often_as_its_lifetime_is_lost() {
        let mut station = Association::new(vec![3, 3], 0.0);
        assert_eq!(station.beacon(0, Some(50.0)), [Detected(0), Up(0)]);
        assert_eq!(station.beacon(0, None), [GoingDown(0)]);
        assert_eq!(station.beacon(0, Some(55.0)), []);
        assert_eq!(station.beacon(0, None), [GoingDown(0)]);
        assert_eq!(station.beacon(0, None), []);
        assert_eq!(station.beacon(0, None), [Lost(0), Down(0)]);
        assert_eq!(station.current(), None);
        assert_eq!(station.beacon(1, Some(90.0)), [Detected(1), Up(1)]);
    }

    #[test]
    fn another_cell_that_is_still_heard_takes_over() {
        let mut station = Association::new(vec![1, 1], 0.0);
        assert_eq!(station.beacon(0, Some(50.0)), [Detected(0), Up(0)]);
        assert_eq!(station.beacon(1, Some(60.0)), [Detected(1)]);
        // With a lifetime of one beacon there is nothing between up and down.
        assert_eq!(station.beacon(0, None), [Lost(0), Down(0), Up(1)]);
    }

    #[test]
    fn cells_beside_the_own_one_are_heard_and_lost_too() {
        let mut station = Association::new(vec![2, 3], 0.0);
        assert_eq!(station.beacon(0, Some(50.0)), [Detected(0), Up(0)]);
        assert_eq!(station.beacon(1, Some(60.0)), [Detected(1)]);
        assert_eq!(station.beacon(1, None), [GoingDown(1)]);
        assert_eq!((station.missed(0), station.missed(1)), (Some(0), Some(1)));
        assert_eq!(station.nearest(|cell| cell != 0), Some(1));
        assert_eq!(station.beacon(1, Some(61.0)), []);
        assert_eq!(station.missed(1), Some(0));
        assert_eq!(station.beacon(1, None), [GoingDown(1)]);
        assert_eq!(station.beacon(1, None), []);
        assert_eq!(station.beacon(1, None), [Lost(1)]);
        assert_eq!((station.missed(1), station.nearest(|cell| cell != 0)), (None, None));
    }
}
