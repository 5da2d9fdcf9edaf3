//! Links with a base station, and stations that may be in reach of it or not.
//!
//! What handovers, broadcasts and Mobile IP ask of such a link, whatever its technology; `link/mod.rs` says which link is
//! one ([`Link::stations`](super::Link::stations)). Who is heard where, they tell by link events ([`super::indication`]). Stations have numbers, in the order in which the link was described.
//! Attachments of a link of n stations: 0 is the base station's broadcast interface; 1 to n are the base station's
//! sub-interfaces, one a station; n+1 to 2n are the stations.

pub mod account;

use self::account::Path;
use super::Attachment;
use super::indication::LinkEvent;
use crate::drops::Dropped;
use crate::packet::{Packet, PacketId};
use roamsim_engine::Time;

/// A copy of a broadcast: its number, and how it was lost if it was.
pub type BroadcastCopy = (PacketId, Option<Dropped>);

/// What a link with stations does beside carrying packets.
pub trait Stations {
    /// The base station's sub-interface to a station.
    fn sub_interface(&self, station: u32) -> Attachment;

    /// A station takes this link for its own, as the association decides: what it indicates at once, a Link_Up.
    fn associate(&mut self, station: u32) -> Option<LinkEvent>;

    /// A station gives it up: what it indicates at once, a Link_Down.
    fn leave(&mut self, station: u32) -> Option<LinkEvent>;

    /// Takes a packet for every station in reach, each of which gets a copy. The first copy keeps the packet's number,
    /// the others have numbers from `next_id` on. What reaches nobody is dropped as out of reach.
    ///
    /// Broadcasts do not come through [`Link::enqueue`](super::Link::enqueue), because their copies have to enter the
    /// network's account: use `Network::broadcast`.
    fn broadcast(&mut self, now: Time, packet: &Packet, next_id: u64) -> Result<Vec<BroadcastCopy>, Dropped>;

    /// The path between the base station and a station, for the account of handovers.
    fn path(&self, station: u32) -> &Path;

    /// The same, to mark that it was taken.
    fn path_mut(&mut self, station: u32) -> &mut Path;
}
