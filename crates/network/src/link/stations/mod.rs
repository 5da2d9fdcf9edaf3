//! Links with a base station, and stations that may be in reach of it or not.
//!
//! What handovers, broadcasts and Mobile IP ask of such a link, whatever its technology; `link/mod.rs` says
//! which link is one ([`Link::stations`](super::Link::stations)). Who is heard where, they tell by link
//! events ([`super::indication`]). Stations have numbers, in the order in which the link was described. A
//! link may have several base stations; then a station has a number with each that it may be with.
//!
//! Attachments of a base station with n stations, from the first on: its broadcast interface; n
//! sub-interfaces, one a station; the n stations. Those of the next base station follow.

pub mod account;
pub mod confidence;

use self::account::Path;
use super::Attachment;
use super::indication::LinkEvent;
use crate::drops::Dropped;
use crate::packet::{Packet, PacketId};
use roamsim_engine::Time;
use roamsim_protocols::mih::wire::handover::LinkActionResult;

/// A copy of a broadcast: its number, and how it was lost if it was.
pub type BroadcastCopy = (PacketId, Option<Dropped>);

/// What a link with stations does beside carrying packets.
pub trait Stations {
    /// The base station's sub-interface to a station.
    fn sub_interface(&self, station: u32) -> Attachment;

    /// The broadcast interface of its base station: what messages call the point of attachment.
    fn broadcast_interface(&self, station: u32) -> Attachment;

    /// A station is to take a base station for its own, as the association decides: what it indicates at
    /// once, a Link_Up. `None` where that takes time: then a Link_Up comes when it is done, or a Lost when it
    /// fails.
    fn associate(&mut self, now: Time, station: u32) -> Option<LinkEvent>;

    /// A station gives it up: what it indicates at once, a Link_Down.
    fn leave(&mut self, now: Time, station: u32) -> Option<LinkEvent>;

    /// A station's radio is switched on or off here, where packets would reach it otherwise whether it has
    /// associated or not. Its association comes, or has gone, by itself.
    fn switch(&mut self, _now: Time, _station: u32, _on: bool) {}

    /// The radio of a station, which is in another cell of the same kind as well, listens to this base
    /// station, or is on another channel; whether that is new. Where cells share no radio nothing follows.
    fn listen(&mut self, _now: Time, _station: u32, _listens: bool) -> bool {
        false
    }

    /// A user waits for Link_Going_Down of a station with this confidence, in percent: it is told again when
    /// it comes to that.
    fn await_confidence(&mut self, station: u32, percent: u8);

    /// A station is to scan (Link_Action.request with scan): what comes of it.
    fn scan(&mut self, _now: Time, _station: u32) -> LinkActionResult {
        LinkActionResult::INCAPABLE
    }

    /// For how many stations like this one it has room by its own admission, beside those that are connected
    /// and those that are to come. `None`: for all, or there is none.
    fn places_for(&self, _now: Time, _station: u32, _to_come: &[u32]) -> Option<u32> {
        None
    }

    /// Takes a packet from a broadcast interface for every station in reach, each of which gets a copy. The
    /// first copy keeps the packet's number, the others have numbers from `next_id` on. What reaches nobody
    /// is dropped. A copy that is taken may still be lost
    /// ([`Carrier::poll_drop`](super::Carrier::poll_drop)).
    ///
    /// Broadcasts do not come through [`Carrier::enqueue`](super::Carrier::enqueue), because their copies
    /// have to enter the network's account: use `Network::broadcast`.
    fn broadcast(
        &mut self,
        now: Time,
        from: Attachment,
        packet: &Packet,
        next_id: u64,
    ) -> Result<Vec<BroadcastCopy>, Dropped>;

    /// Within what distance of a base station a station is in it, where stations know each other by distance
    /// alone.
    fn reach_m(&self) -> Option<f64> {
        None
    }

    /// The path between the base station and a station, for the account of handovers.
    fn path(&self, station: u32) -> &Path;

    /// The same, to mark that it was taken.
    fn path_mut(&mut self, station: u32) -> &mut Path;
}
