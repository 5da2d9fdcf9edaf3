//! Why packets are dropped.

use roamsim_engine::Time;
use std::fmt;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue of the interface was full.
    QueueFull,
    /// The channel's loss model took it.
    Loss,
    /// The link was in an outage when its last bit was sent.
    Outage,
    /// It was larger than the link's MTU.
    TooLarge,
    /// No route leads to its destination.
    NoRoute,
    /// The link cut it in pieces, and not all of them could be brought over.
    Incomplete,
    /// The receiver was outside of the cell when its last bit was sent.
    OutOfReach,
    /// Its frame was sent as often as the retry limit allows, and never acknowledged.
    RetryLimit,
    /// It came out of a tunnel for, or from, a mobile node that is not registered there.
    NotRegistered,
    /// The station was not associated with that base station when its turn came.
    NotAssociated,
    /// Active queue management (RFC 7567) took it, though there was room.
    QueueManagement,
    /// It came from a program outside, and nobody takes such packets at its destination.
    NoSocket,
}

impl DropReason {
    /// Every reason, in the order of their declaration.
    pub const ALL: [DropReason; 12] = [
        DropReason::QueueFull,
        DropReason::Loss,
        DropReason::Outage,
        DropReason::TooLarge,
        DropReason::NoRoute,
        DropReason::Incomplete,
        DropReason::OutOfReach,
        DropReason::RetryLimit,
        DropReason::NotRegistered,
        DropReason::NotAssociated,
        DropReason::QueueManagement,
        DropReason::NoSocket,
    ];
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DropReason::QueueFull => "queue full",
            DropReason::Loss => "loss",
            DropReason::Outage => "outage",
            DropReason::TooLarge => "larger than the MTU",
            DropReason::NoRoute => "no route",
            DropReason::Incomplete => "incomplete",
            DropReason::OutOfReach => "out of reach",
            DropReason::RetryLimit => "retry limit",
            DropReason::NotRegistered => "not registered",
            DropReason::NotAssociated => "not associated",
            DropReason::QueueManagement => "queue management",
            DropReason::NoSocket => "no socket",
        })
    }
}

/// A packet that a link did not take, or will not deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Why.
    pub reason: DropReason,
    /// When: at once for a full queue, when the last bit is sent for a loss.
    pub at: Time,
}
