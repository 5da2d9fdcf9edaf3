//! The bridged network: all base stations are one link-layer network, and a station's addresses follow it at once.
//!
//! It is the ideal link-layer handover: no signalling, no tunnel, every router knows the new place in the instant of
//! the association. What is on the way to the old base station is lost there. Other schemes are measured against it.
//! A station without association sends nothing; packets to it go to its last cell, at first to that of its primary
//! address.

use super::Handovers;
use super::association::Indication;
use crate::network::Network;
use roamsim_engine::Time;

pub(super) fn indication(
    handovers: &mut Handovers,
    network: &mut Network,
    now: Time,
    station: u32,
    indication: Indication,
) {
    let place = &handovers.stations[station as usize];
    match indication {
        Indication::Up(cell) => {
            let (node, interface) = (place.node, place.cells[cell].interface);
            for membership in &place.cells {
                network.topology.redirect(membership.interface, interface);
            }
            network.topology.set_egress(node, Some(interface));
            handovers.begin(network, now, station, cell);
            handovers.complete(now, station);
        }
        Indication::Down(_) => {
            network.topology.set_egress(place.node, None);
            handovers.left(now, station);
        }
        Indication::Detected(_) | Indication::GoingDown(_) | Indication::Lost(_) => {}
    }
}
