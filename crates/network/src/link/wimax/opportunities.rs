//! Who uses which opportunity for a request: those of one in the order in which they have chosen it.

use std::collections::VecDeque;

/// Users of opportunities that are to come.
#[derive(Debug, Default)]
pub(super) struct Opportunities {
    /// The opportunity of the first list.
    first: u64,
    /// By opportunity from there on, who uses it.
    users: VecDeque<Vec<u32>>,
    /// How many users there are.
    count: usize,
    /// Empty lists, kept for their memory.
    spare: Vec<Vec<u32>>,
}

impl Opportunities {
    /// Who uses an opportunity.
    pub fn users(&self, opportunity: u64) -> &[u32] {
        let place = opportunity.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.users.get(place)).map_or(&[], Vec::as_slice)
    }

    /// One uses an opportunity, which it may have chosen before; whether it is the first.
    pub fn add(&mut self, opportunity: u64, flow: u32) -> bool {
        let place = usize::try_from(opportunity.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        if let Some(users) = self.users.get_mut(place)
            && !users.is_empty()
        {
            if !users.contains(&flow) {
                users.push(flow);
                self.count += 1;
            }
            return false;
        }
        self.add_first(opportunity, flow);
        true
    }

    fn add_first(&mut self, opportunity: u64, flow: u32) {
        if self.count == 0 {
            self.spare.extend(self.users.drain(..));
            self.first = opportunity;
        }
        while opportunity < self.first {
            self.first -= 1;
            self.users.push_front(self.spare.pop().unwrap_or_default());
        }
        let place = (opportunity - self.first) as usize;
        while self.users.len() <= place {
            self.users.push_back(self.spare.pop().unwrap_or_default());
        }
        self.count += 1;
        self.users[place].push(flow);
    }

    /// An opportunity begins: takes out who uses it. Nobody uses an earlier one.
    pub fn take(&mut self, opportunity: u64) -> Vec<u32> {
        while self.first < opportunity
            && let Some(none) = self.users.pop_front()
        {
            self.spare.push(none);
            self.first += 1;
        }
        let next = self.spare.pop().unwrap_or_default();
        let taken = self.users.front_mut().map_or(Vec::new(), |users| std::mem::replace(users, next));
        self.count -= taken.len();
        taken
    }

    /// A list that was taken is not needed any more.
    pub fn give_back(&mut self, mut users: Vec<u32>) {
        users.clear();
        self.spare.push(users);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn users_of_an_opportunity_come_in_the_order_in_which_they_chose_it(
            // By turns: one chooses an opportunity so far ahead, perhaps once more, or the next one that is
            // used begins.
            turns in prop::collection::vec((0u64..40, any::<bool>(), 0u32..8), 0..200),
        ) {
            let mut opportunities = Opportunities::default();
            let mut plain: Vec<(u64, u32)> = Vec::new();
            let mut now = 1000;
            for (ahead, begins, flow) in turns {
                if begins {
                    let Some(next) = plain.iter().map(|&(at, _)| at).min() else { continue };
                    now = next;
                    let expected: Vec<u32> =
                        plain.extract_if(.., |(at, _)| *at == next).map(|(_, flow)| flow).collect();
                    let taken = opportunities.take(next);
                    prop_assert_eq!(&taken, &expected);
                    opportunities.give_back(taken);
                } else {
                    let own = now + ahead;
                    let is_first = !plain.iter().any(|&(at, _)| at == own);
                    prop_assert_eq!(opportunities.add(own, flow), is_first);
                    if !plain.contains(&(own, flow)) {
                        plain.push((own, flow));
                    }
                }
                for at in now..now + 45 {
                    let expected: Vec<u32> =
                        plain.iter().filter(|(of, _)| *of == at).map(|(_, flow)| *flow).collect();
                    prop_assert_eq!(opportunities.users(at), expected);
                }
            }
        }
    }
}
