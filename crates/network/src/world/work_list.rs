//! What is to be served before the next event.

use super::Work;

/// Work in the order in which it came. What is taken stays in its place until the list is empty, as it soon is.
#[derive(Debug, Default)]
pub(crate) struct WorkList {
    places: Vec<Work>,
    /// How many of them are taken.
    taken: usize,
}

impl WorkList {
    #[inline]
    pub(crate) fn push_back(&mut self, work: Work) {
        self.places.push(work);
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<Work> {
        let &work = self.places.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.places.len() {
            self.places.clear();
            self.taken = 0;
        }
        Some(work)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_is_served_first_and_room_is_used_again() {
        let mut list = WorkList::default();
        for round in 0..100 {
            list.push_back(Work::Mihf(round));
            list.push_back(Work::Server(round));
            assert_eq!(list.pop_front(), Some(Work::Mihf(round)));
            assert!(!list.is_empty());
            list.push_back(Work::Source(round));
            assert_eq!(list.pop_front(), Some(Work::Server(round)));
            assert_eq!(list.pop_front(), Some(Work::Source(round)));
            assert!(list.is_empty());
            assert_eq!(list.pop_front(), None);
        }
        assert!(list.places.capacity() < 100);
    }
}
