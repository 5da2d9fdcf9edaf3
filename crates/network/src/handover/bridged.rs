//! The bridged network: all base stations are one link-layer network, and a station's addresses follow it
//! at once.
//!
//! This is the ideal link-layer handover, the baseline for other schemes: no signalling, no tunnel, and
//! every router knows the new cell at the instant of the association. Packets on the way to the old base
//! station are lost there if the station is out of its reach. A station without association sends nothing.
//! Packets to it go to its last cell, at first to the cell of its primary address.

use super::{Action, Cue, StationPlace};
use crate::link::indication::LinkEvent;

/// What the scheme does.
pub(super) fn react(place: &StationPlace, cue: Cue) -> Vec<Action> {
    match cue {
        Cue::Link(cell, LinkEvent::Up) => {
            let to = place.cells[cell].interface;
            let addresses = place.cells.iter().map(|membership| membership.interface);
            let redirects = addresses.map(|address| Action::Redirect { address, to });
            redirects.chain([Action::Egress(Some(to)), Action::Begin(cell), Action::Complete]).collect()
        }
        Cue::Link(_, LinkEvent::Down(_)) => vec![Action::Egress(None), Action::Left],
        _ => Vec::new(),
    }
}
