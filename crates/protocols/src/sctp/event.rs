//! Events of an association for its application, and changes of addresses that it can ask for.

use super::chunk::Parameter;
use super::path::Path;
use crate::machine::Address;

/// A message that has arrived whole and may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The TSN of its first chunk.
    pub tsn: u32,
    /// The stream.
    pub stream: u16,
    /// Stream sequence number; without meaning for an unordered message.
    pub ssn: u16,
    /// Its octets.
    pub bytes: u64,
    /// Payload protocol identifier.
    pub protocol: u32,
    /// Whether it was sent outside of its stream's order.
    pub unordered: bool,
}

/// A change of the addresses of this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The peer may send to this address of this end, too.
    Add(Address),
    /// The peer must not send to this address any more; it must not be the one the request leaves from.
    Delete(Address),
    /// The peer should send to this address as long as that works.
    SetPrimary(Address),
}

impl Change {
    pub(super) fn address(self) -> Address {
        match self {
            Change::Add(address) | Change::Delete(address) | Change::SetPrimary(address) => address,
        }
    }

    pub(super) fn kind(self) -> u16 {
        match self {
            Change::Add(_) => Parameter::ADD_ADDRESS,
            Change::Delete(_) => Parameter::DELETE_ADDRESS,
            Change::SetPrimary(_) => Parameter::SET_PRIMARY,
        }
    }
}

/// What the application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// A message has arrived.
    Received(Message),
    /// The peer has given messages up: of those that began up to this TSN no more will arrive (RFC 3758).
    Forwarded(u32),
    /// More than Path.Max.Retrans timeouts in a row: no more data goes here until a HEARTBEAT is answered.
    PathDown(Path),
    /// More than PotentiallyFailed.Max.Retrans timeouts in a row: data goes elsewhere until the peer answers
    /// here (RFC 7829 3.2).
    PathPotentiallyFailed(Path),
    /// A path may carry data: confirmed for the first time, or active again.
    PathUp(Path),
    /// New data goes here from now on, as long as the path is active: asked for by
    /// this end or by the peer, or by Primary.Switchover.Max.Retrans.
    PrimaryChanged(Path),
    /// The peer has answered a change asked for by [`reconfigure`](crate::sctp::Association::reconfigure).
    Reconfigured {
        /// What was asked for.
        change: Change,
        /// Whether it has been made.
        accepted: bool,
    },
    /// The peer has got one more address.
    PeerAddressAdded(Address),
    /// The peer has lost an address.
    PeerAddressDeleted(Address),
    /// The association was shut down; nothing is lost.
    Closed,
    /// The peer or the application ended it at once.
    Aborted,
    /// Too many timeouts in a row.
    TimedOut,
}
