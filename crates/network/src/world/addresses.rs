//! Sockets that follow the addresses of their node, as in mobile SCTP.
//!
//! A handover scheme says which addresses of a station are usable and which one it prefers. The socket
//! decides what to do: an SCTP association sends requests to its peer (`reconfiguration.rs`), an endpoint
//! of another crate has its own rule.

use super::{Work, World};
use crate::handover::Scheme;
use crate::selection;
use crate::socket::SocketId;
use crate::topology::NodeId;
use roamsim_engine::Time;
use roamsim_protocols::Address;

impl World {
    /// The number of a node among the stations, if its transports are told of its addresses; on a node that
    /// selects, if its scheme is this one.
    pub(super) fn mobile_station(&self, node: NodeId, selected: selection::Scheme) -> Option<u32> {
        let station = self.handovers.station_of(node)?;
        let told = match self.handovers.stations[station as usize].scheme {
            Scheme::Selected => self.selections.of(node).is_some_and(|own| own.config.scheme == selected),
            ref scheme => scheme.tells_transports(),
        };
        told.then_some(station)
    }

    /// The number of a node among the stations, if MIH users hand it over.
    pub(super) fn handed_over_station(&self, node: NodeId) -> Option<u32> {
        let station = self.handovers.station_of(node)?;
        matches!(self.handovers.stations[station as usize].scheme, Scheme::Mih(_)).then_some(station)
    }

    /// The addresses of a socket's node that can be used now, the preferred one first: behind those in cells,
    /// those of other links that are not down.
    pub(super) fn usable_addresses(&self, id: SocketId) -> Vec<Address> {
        let socket = self.socket(id);
        if socket.station().is_some()
            && let Some(selection) = self.selections.of_flow(socket.node(), socket.user().flow())
        {
            return selection.usable().collect();
        }
        let mut all = self.network.topology.addresses_for(socket.node(), self.node(socket.peer()));
        if let Some(station) = socket.station() {
            let in_cell = |address| self.handovers.number_of(address).is_some();
            all.retain(|&address| !in_cell(address) && !self.handovers.is_down(address));
            all.splice(..0, self.handovers.stations[station as usize].usable());
        }
        all
    }

    /// Has the sockets told of all stations whose usable addresses have changed.
    pub(super) fn announce_addresses(&mut self) {
        while let Some(station) = self.handovers.take_announced() {
            let followers = &self.handovers.stations[station as usize].followers;
            self.work.extend(followers.iter().copied().map(Work::Addresses));
        }
    }

    /// Counts a request to the peer among those of a handover.
    pub(super) fn count_request(&mut self, id: SocketId) {
        if let Some(station) = self.socket(id).station() {
            self.handovers.requested(station);
        }
    }

    /// A handover is complete when all sockets that are told of the station's addresses have settled on the
    /// preferred one.
    pub(super) fn complete_handover(&mut self, now: Time, station: u32) {
        match self.handovers.stations[station as usize].scheme {
            Scheme::Selected => {}
            Scheme::Mih(_) => self.complete_mih_handover(station),
            _ => {
                if self.are_settled(station) {
                    self.handovers.complete(now, station);
                }
            }
        }
    }

    /// Whether all sockets that are told of a station's addresses have settled on the preferred one.
    pub(super) fn are_settled(&self, station: u32) -> bool {
        let place = &self.handovers.stations[station as usize];
        let Some(preferred) = place.usable().next() else { return false };
        place.followers.iter().all(|&id| self.socket(id).is_settled(preferred))
    }
}
