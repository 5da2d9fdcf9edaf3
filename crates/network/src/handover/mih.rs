//! Handover by the commands of IEEE 802.21: a station with an address in each network uses that of the
//! first network until its MIH user hands it over (`crate::mih_handover`).

use super::{Action, Cue, StationPlace};
use crate::link::indication::LinkEvent;

/// What the scheme does by itself: the station begins in the cell at this place of its list, and notices when
/// it has lost the one that it uses.
pub(super) fn react(first: u32, place: &StationPlace, cue: Cue) -> Vec<Action> {
    match cue {
        Cue::Link(cell, LinkEvent::Up) if cell == first as usize && place.current.is_none() => {
            vec![Action::Begin(cell), Action::Complete]
        }
        Cue::Link(cell, LinkEvent::Down(_)) if place.current == Some(cell) => vec![Action::Left],
        _ => Vec::new(),
    }
}
