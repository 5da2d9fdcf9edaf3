//! The bridged network: all base stations are one link-layer network, and a station's addresses follow it at
//! once.
//!
//! It is the ideal link-layer handover: no signalling, no tunnel, every router knows the new place in the
//! instant of the association. What is on the way to the old base station is lost there. Other schemes are
//! measured against it. A station without association sends nothing; packets to it go to its last cell, at
//! first to that of its primary address.

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
