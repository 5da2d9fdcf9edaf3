//! When what an agent keeps of its mobile nodes ends: by time, because an agent of many of them looks for the
//! next end whenever a message comes.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use roamsim_engine::Time;

/// Mobile nodes by the end of something that the agent keeps of them, then by home address.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends(BTreeSet<(Time, Ipv4Addr)>);

impl Ends {
    /// What is kept of a mobile node ends at another time than before; `None` where there is nothing, or no
    /// end.
    pub fn change(&mut self, home_address: Ipv4Addr, before: Option<Time>, now: Option<Time>) {
        if let Some(before) = before {
            self.0.remove(&(before, home_address));
        }
        if let Some(now) = now {
            self.0.insert((now, home_address));
        }
    }

    /// The next end.
    pub fn next(&self) -> Option<Time> {
        self.0.first().map(|&(end, _)| end)
    }

    /// Takes out the next mobile node for which something has ended by `now`.
    pub fn take_due(&mut self, now: Time) -> Option<Ipv4Addr> {
        let &(end, home_address) = self.0.first()?;
        if end > now {
            return None;
        }
        self.0.pop_first();
        Some(home_address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_in_order_of_time_and_once() {
        let at = |ns| Some(Time::from_ns(ns));
        let node = |last| Ipv4Addr::new(10, 0, 0, last);
        let mut ends = Ends::default();
        ends.change(node(1), None, at(30));
        ends.change(node(2), None, at(20));
        ends.change(node(3), None, None);
        ends.change(node(1), at(30), at(10));
        assert_eq!(ends.next(), at(10));
        assert_eq!(ends.take_due(Time::from_ns(9)), None);
        assert_eq!(ends.take_due(Time::from_ns(25)), Some(node(1)));
        assert_eq!(ends.take_due(Time::from_ns(25)), Some(node(2)));
        assert_eq!((ends.take_due(Time::from_ns(99)), ends.next()), (None, None));
    }
}
