//! TCP connections that come and go: pairs of sockets, which are reused.
//!
//! A pair is reused when both ends are closed, TIME-WAIT included, and each packet of one end has reached
//! the other or was dropped. If packets are not counted, it is reused [`QUIET`] after its close.

use super::{Counts, SocketEnd, SocketId};
use crate::ends::Association;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp;
use std::sync::Arc;

/// How long a connection whose packets are not accounted for is kept: twice the maximum segment lifetime of
/// RFC 9293 section 3.4.2.
pub const QUIET: Span = Span::from_secs(240);

/// The ephemeral ports start here (RFC 6335 section 6).
pub const FIRST_PORT: u16 = 49_152;

/// How many pairs are looked at for one that can be used again, before another is made.
const LOOKED_AT: usize = 8;

/// A pair of sockets.
#[derive(Clone, Copy, Debug)]
struct Pair {
    association: Association,
    /// The number of the transfer that its connection carries; none before the first.
    transfer: Option<u64>,
    /// Since when its source is known to be closed.
    closed_since: Option<Time>,
}

/// The connections of a flow.
#[derive(Debug)]
pub struct Connections {
    /// What they are made with.
    pub config: Arc<tcp::Config>,
    /// Where they begin and end. The port of the source is that of the first; of each that follows it is the
    /// next.
    pub ends: [SocketEnd; 2],
    /// Random streams of the ends, by child streams of each connection.
    pub random: [Stream; 2],
    /// The most pairs.
    limit: usize,
    pairs: Vec<Pair>,
    looked_at: usize,
    begun: u64,
    /// What the ends of connections have counted whose sockets were used again.
    retired: [Counts; 2],
}

/// Where the next connection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To the sockets of the first, which were made with the flow.
    First(Association),
    /// To these sockets, whose connection is over.
    Again(Association),
    /// To sockets that are to be made.
    New,
}

impl Connections {
    /// None yet; the first has its sockets.
    pub fn new(
        config: tcp::Config,
        ends: [SocketEnd; 2],
        random: [Stream; 2],
        limit: u32,
        first: Association,
    ) -> Connections {
        Connections {
            config: Arc::new(config),
            ends,
            random,
            limit: limit as usize,
            pairs: vec![Pair { association: first, transfer: None, closed_since: None }],
            looked_at: 0,
            begun: 0,
            retired: [Counts::default(); 2],
        }
    }

    /// Where the next goes; `None` where there are as many as may be. `is_free` says of a pair, closed since
    /// then as far as was seen before, whether it can be used again, and notes since when it is closed.
    pub fn place(
        &mut self,
        mut is_free: impl FnMut(Association, &mut Option<Time>) -> bool,
    ) -> Option<Place> {
        let count = self.pairs.len();
        let looks = if count < self.limit { LOOKED_AT.min(count) } else { count };
        for _ in 0..looks {
            self.looked_at = (self.looked_at + 1) % count;
            let pair = &mut self.pairs[self.looked_at];
            if pair.transfer.is_none() {
                return Some(Place::First(pair.association));
            }
            if is_free(pair.association, &mut pair.closed_since) {
                return Some(Place::Again(pair.association));
            }
        }
        (count < self.limit).then_some(Place::New)
    }

    /// A connection for this transfer begins at the pair that was looked at last, or at a new one.
    pub fn begin(&mut self, place: Place, association: Association, transfer: u64, retired: [Counts; 2]) {
        let pair = Pair { association, transfer: Some(transfer), closed_since: None };
        match place {
            Place::New => self.pairs.push(pair),
            Place::First(_) | Place::Again(_) => self.pairs[self.looked_at] = pair,
        }
        for (sum, of) in self.retired.iter_mut().zip(retired) {
            *sum = sum.plus(of);
        }
        self.begun += 1;
    }

    /// How many have begun.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// How many pairs of sockets there are.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The number of the transfer that the connection of a source carries.
    pub fn transfer_of(&self, source: SocketId) -> Option<u64> {
        self.pairs.iter().find(|pair| pair.association.source == source)?.transfer
    }

    /// What the ends of the connections have counted, without those whose sockets are in use.
    pub fn retired(&self) -> [Counts; 2] {
        self.retired
    }

    /// The sockets: those of connections, and those that wait for the first.
    pub fn associations(&self) -> impl Iterator<Item = Association> {
        self.pairs.iter().map(|pair| pair.association)
    }
}
