//! Paths that change at link events of other links.

use super::World;
use crate::alarm::Moment;
use crate::link::indication::{Indication, LinkEvent};
use crate::link::managed_wire::Change;
use crate::topology::{LinkId, NodeId};
use roamsim_protocols::Address;

/// What changes where, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct PathChange {
    /// The interfaces whose events these are: those of a link, or of one cell of a medium that is one link
    /// for several.
    pub of: Vec<Address>,
    /// The node for which it happens; `None`: any.
    pub node: Option<NodeId>,
    /// The name of the event.
    pub event: &'static str,
    /// The link that changes.
    pub target: LinkId,
    /// How.
    pub change: Change,
}

impl World {
    /// Has the links change that do so at this event.
    pub(super) fn change_paths(&mut self, moment: &mut Moment<'_>, link: LinkId, indication: Indication) {
        if self.path_changes.is_empty() || matches!(indication.event, LinkEvent::GoingDownAgain { .. }) {
            return;
        }
        let address = self.network.address_of(link, indication.at);
        let node = self.network.topology.owner(address);
        for path in &self.path_changes {
            let heard = path.of.contains(&address) && path.event == indication.event.name();
            if heard && path.node.is_none_or(|of| of == node) {
                self.network.change_path(moment, path.target, path.change);
            }
        }
    }
}
