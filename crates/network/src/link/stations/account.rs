//! What a station's path through a cell has carried and lost, as far as a handover asks: the last packet
//! before it is left, the first after it is taken, and the losses between.

use crate::drops::{DropReason, Dropped};
use crate::packet::Carried;
use roamsim_engine::Time;

/// The direction of a packet on a station's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// Downlink: from the base station.
    Station,
    /// Uplink.
    BaseStation,
}

/// A packet that a path has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When its last bit was sent, or when the queue refused it.
    pub at: Time,
    /// Why.
    pub reason: DropReason,
    /// Which way it went.
    pub toward: Toward,
    /// What it carried.
    pub carried: Carried,
}

/// One direction of the path between a base station and one of its stations. Only packets of flows count.
#[derive(Clone, Debug, Default)]
pub struct OneWay {
    /// The last packet that arrived since the path was taken.
    pub last_arrival: Option<Time>,
    /// The first packet that arrived since the path was taken.
    pub first_arrival: Option<Time>,
    /// Lost since the last arrival.
    since_last: Vec<Lost>,
    /// Lost from the moment the path was taken until its first arrival.
    before_first: Vec<Lost>,
}

impl OneWay {
    fn take(&mut self) {
        *self = OneWay::default();
    }

    fn arrived(&mut self, now: Time) {
        self.last_arrival = Some(now);
        self.since_last.retain(|lost| lost.at > now);
        if self.first_arrival.is_none() {
            self.first_arrival = Some(now);
            self.before_first.retain(|lost| lost.at <= now);
        }
    }

    fn lost(&mut self, lost: Lost) {
        self.since_last.push(lost);
        if self.first_arrival.is_none() {
            self.before_first.push(lost);
        }
    }

    /// What was lost after the last arrival.
    pub fn lost_since_last(&self) -> &[Lost] {
        &self.since_last
    }

    /// Takes what was lost between taking the path and its first arrival. Before that all of it is lost since
    /// the last one as well, and no longer is.
    pub fn take_lost_before_first(&mut self) -> Vec<Lost> {
        if self.first_arrival.is_none() {
            self.since_last.clear();
        }
        std::mem::take(&mut self.before_first)
    }
}

/// The path between a base station and one of its stations: each direction by itself, because a scheme may
/// move one before the other.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// From the station.
    pub uplink: OneWay,
    /// To the station.
    pub downlink: OneWay,
}

impl Path {
    /// A handover has begun: the next arrival is the first on this path.
    pub fn take(&mut self) {
        self.uplink.take();
        self.downlink.take();
    }

    /// One direction.
    pub fn toward(&self, toward: Toward) -> &OneWay {
        match toward {
            Toward::Station => &self.downlink,
            Toward::BaseStation => &self.uplink,
        }
    }

    /// The same, to take from.
    pub fn toward_mut(&mut self, toward: Toward) -> &mut OneWay {
        match toward {
            Toward::Station => &mut self.downlink,
            Toward::BaseStation => &mut self.uplink,
        }
    }

    pub(in crate::link) fn arrived(&mut self, now: Time, toward: Toward) {
        self.toward_mut(toward).arrived(now);
    }

    /// A packet is dropped; `carried`: `None` for one that does not count.
    pub(in crate::link) fn lost(&mut self, dropped: Dropped, toward: Toward, carried: Option<Carried>) {
        let Dropped { reason, at } = dropped;
        if let Some(carried) = carried {
            self.toward_mut(toward).lost(Lost { at, reason, toward, carried });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::SocketId;

    fn lost(ns: u64) -> Lost {
        let carried = Carried { socket: SocketId::Udp(1), data: true };
        Lost { at: Time::from_ns(ns), reason: DropReason::OutOfReach, toward: Toward::Station, carried }
    }

    #[test]
    fn losses_count_after_the_last_arrival_and_before_the_first() {
        let mut path = OneWay::default();
        path.arrived(Time::from_ns(5));
        path.lost(lost(6));
        path.arrived(Time::from_ns(10));
        // A link knows a loss before it happens: this one comes after the arrival.
        path.lost(lost(30));
        path.arrived(Time::from_ns(20));
        assert_eq!(path.lost_since_last(), [lost(30)]);
        assert_eq!(path.take_lost_before_first(), []);

        path.take();
        assert_eq!((path.last_arrival, path.lost_since_last()), (None, &[][..]), "that was another time");
        path.lost(lost(40));
        path.lost(lost(60));
        path.arrived(Time::from_ns(50));
        assert_eq!(path.take_lost_before_first(), [lost(40)]);
        assert_eq!(
            (path.first_arrival, path.last_arrival),
            (Some(Time::from_ns(50)), Some(Time::from_ns(50)))
        );
        path.arrived(Time::from_ns(70));
        assert_eq!(path.first_arrival, Some(Time::from_ns(50)));
    }

    #[test]
    fn what_a_path_lost_that_brought_nothing_counts_once() {
        let mut path = OneWay::default();
        path.lost(lost(10));
        assert_eq!(path.take_lost_before_first(), [lost(10)]);
        assert_eq!(path.lost_since_last(), []);
        path.lost(lost(20));
        assert_eq!(path.lost_since_last(), [lost(20)], "lost after it was left");
    }
}
