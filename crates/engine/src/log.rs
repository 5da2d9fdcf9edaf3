//! Rows that a run records, some of them ahead of their time. They are taken out in order of time once they
//! are final.

use crate::time::Time;

/// What happened at a time.
pub trait Timed {
    /// When.
    fn time(&self) -> Time;
}

/// Rows that were recorded and not taken yet.
#[derive(Clone, Debug)]
pub struct Log<T> {
    rows: Vec<T>,
    /// Of the rows, those that were not final when rows were last taken.
    early: usize,
    taken: u64,
    taken_before: Time,
}

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log { rows: Vec::new(), early: 0, taken: 0, taken_before: Time::ZERO }
    }
}

impl<T: Timed> Log<T> {
    /// Records a row. Its time may lie ahead, and not before that up to which rows were taken.
    pub fn push(&mut self, row: T) {
        debug_assert!(row.time() >= self.taken_before, "{} was taken before", row.time());
        self.rows.push(row);
    }

    /// Those that were not taken, in order of recording.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.taken + self.rows.len() as u64
    }

    /// Whether rows should be taken: `least` wait, and twice those that had to stay last time, so that on
    /// average no row is looked at more than twice.
    pub fn due(&self, least: usize) -> bool {
        self.rows.len() >= least.max(2 * self.early).max(1)
    }

    /// Takes out the rows of before `line`, in order of time and then of recording.
    pub fn take(&mut self, line: Time) -> Vec<T> {
        let (ripe, early): (Vec<T>, Vec<T>) =
            std::mem::take(&mut self.rows).into_iter().partition(|row| row.time() < line);
        self.early = early.len();
        self.rows = early;
        self.taken_before = line;
        self.sorted(ripe)
    }

    /// Takes out all that is left.
    pub fn take_all(&mut self) -> Vec<T> {
        let rows = std::mem::take(&mut self.rows);
        self.sorted(rows)
    }

    fn sorted(&mut self, mut rows: Vec<T>) -> Vec<T> {
        self.taken += rows.len() as u64;
        rows.sort_by_key(Timed::time);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Timed for (u64, char) {
        fn time(&self) -> Time {
            Time::from_ns(self.0)
        }
    }

    fn log(rows: &[(u64, char)]) -> Log<(u64, char)> {
        let mut log = Log::default();
        rows.iter().for_each(|&row| log.push(row));
        log
    }

    #[test]
    fn rows_are_taken_in_order_of_time_and_then_of_recording_however_often() {
        let rows = [(1, 'a'), (5, 'b'), (2, 'c'), (3, 'd'), (5, 'e'), (5, 'f'), (4, 'g'), (9, 'h')];
        let sorted = log(&rows).take_all();
        assert_eq!(sorted.iter().map(|row| row.1).collect::<String>(), "acdgbefh");
        // Each row is recorded when rows from its time on may still come: b is recorded at 1, before it
        // happens.
        let mut log = log(&rows[..2]);
        let mut taken = log.take(Time::from_ns(2));
        assert_eq!(taken, [(1, 'a')]);
        log.push((2, 'c'));
        log.push((3, 'd'));
        log.push((5, 'e'));
        taken.extend(log.take(Time::from_ns(5)));
        assert_eq!(log.rows(), [(5, 'b'), (5, 'e')]);
        log.push((5, 'f'));
        taken.extend(log.take_all());
        assert_eq!(taken.iter().map(|row| row.1).collect::<String>(), "acdbef");
        assert_eq!(log.count(), 6);
    }

    #[test]
    fn what_has_to_stay_is_not_looked_at_again_for_every_row() {
        let mut log = log(&[(9, 'a'), (9, 'b'), (9, 'c'), (9, 'd'), (1, 'e')]);
        assert!(!log.due(6) && log.due(5));
        assert_eq!(log.take(Time::from_ns(2)), [(1, 'e')]);
        // Four rows stay: with less than eight nothing is due.
        (0..3).for_each(|_| log.push((2, 'f')));
        assert!(!log.due(5));
        log.push((2, 'g'));
        assert!(log.due(5));
        assert_eq!((log.take(Time::from_ns(3)).len(), log.rows().len()), (4, 4));
    }
}
