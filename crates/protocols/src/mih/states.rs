//! How many transaction states an MIHF holds in a session, over time.
//!
//! A transaction takes a state at either end (IEEE 802.21 section 8.2.3):
//!
//! - *At its source* from the first transmission on: an indication until it is acknowledged or given up; a
//!   request until it is given up or answered. If the response asks for an ACK, the state stays, because a
//!   copy of the response has to be acknowledged again.
//! - *At its destination* from the first arrival on: a request until it is answered and the response
//!   acknowledged or given up. If the message asks for an ACK, the state stays, because a copy must be known
//!   for one.
//!
//! A state that stays ends with the transaction's lifetime. Without a lifetime it ends when the transaction's
//! ID is used again (at the source), or is more than 2047 behind the newest (at the destination).
//!
//! An indication without an ACK takes no state. Service management is left out, as in overhead.

use std::collections::{BTreeSet, VecDeque};

use roamsim_engine::Time;

use super::number::TransactionNumber;

/// A transaction at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Of this MIHF.
    Source(TransactionNumber),
    /// Of the peer.
    Destination(TransactionNumber),
}

/// The states that were held up to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The integral of their number over time, in nanoseconds.
    pub area_ns: u128,
    /// The most at once.
    pub most: u64,
    /// Those held at that instant.
    pub now: u64,
}

/// The states of a session.
#[derive(Debug, Default)]
pub(super) struct States {
    held: BTreeSet<State>,
    /// When lifetimes end, in order; the state may have ended before.
    ends: VecDeque<(Time, State)>,
    area_ns: u128,
    /// Up to when `area_ns` goes.
    since: Time,
    most: usize,
}

impl States {
    /// A transaction's first message; `ends`: when its lifetime does.
    pub(super) fn begin(&mut self, now: Time, state: State, ends: Option<Time>) {
        self.pass(now);
        if !self.held.insert(state) {
            // Another message with the ID of a live transaction takes its place.
            self.ends.retain(|(_, other)| *other != state);
        }
        self.ends.extend(ends.map(|at| (at, state)));
        self.most = self.most.max(self.held.len());
    }

    /// Nothing more has to be known of a transaction. Does nothing if that has been so before.
    pub(super) fn end(&mut self, now: Time, state: State) {
        self.pass(now);
        self.held.remove(&state);
    }

    /// The most at once counts from now on.
    pub(super) fn forget_most(&mut self, now: Time) {
        self.pass(now);
        self.most = self.held.len();
    }

    /// What was held up to `at`, which is not before the last change.
    pub(super) fn held(&self, at: Time) -> Held {
        let over = self.ends.iter().filter(|(end, state)| *end <= at && self.held.contains(state));
        let (mut area_ns, mut now) = (self.area_to(at), self.held.len() as u64);
        for (end, _) in over {
            area_ns -= u128::from(at.since(*end).as_ns());
            now -= 1;
        }
        Held { area_ns, most: self.most as u64, now }
    }

    fn area_to(&self, at: Time) -> u128 {
        self.area_ns + self.held.len() as u128 * u128::from(at.since(self.since).as_ns())
    }

    /// Ends the states whose lifetime is over.
    fn pass(&mut self, now: Time) {
        while let Some((at, state)) = self.ends.pop_front_if(|(at, _)| *at <= now) {
            self.advance(at);
            self.held.remove(&state);
        }
        self.advance(now);
    }

    fn advance(&mut self, to: Time) {
        self.area_ns = self.area_to(to);
        self.since = to;
    }
}
