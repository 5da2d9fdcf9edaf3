//! Nodes that select an interface: link events reach their selections, and their flows follow by the
//! scheme.
//!
//! Every new connection begins at the selected interface. A connection that has sent nothing follows each
//! selection. Before the first selection UDP, TCP and SCTP follow too, because a node without an interface
//! has no address. For all other connections:
//! - [`Scheme::None`] moves none.
//! - [`Scheme::Redirect`] sets both ends of UDP and TCP at the instant of the switch. This is the last step
//!   of the redirection of MIH users (`handover/redirection.rs`), without its messages.
//! - [`Scheme::MobileSctp`] passes the usable addresses to associations (`reconfiguration.rs`).
//! - [`Scheme::Migration`] passes them to clients of QUIC (`addresses.rs`).
//! - [`Scheme::Mih`] tells the node's MIH user of each switch (`selected_handover.rs`).
//! - [`Scheme::MobileIp`] moves none: the home agent sends packets to the selected interface in a tunnel
//!   (`handover/mobile_ip/co_located.rs`).

use super::World;
use crate::alarm::Moment;
use crate::ends::Association;
use crate::link::indication::LinkEvent;
use crate::selection::account::Reason;
use crate::selection::{Scheme, Selection};
use crate::socket::SocketId;
use roamsim_engine::Time;
use roamsim_protocols::Address;

impl World {
    /// Adds a node that selects one of its interfaces.
    pub fn add_selection(&mut self, selection: Selection) {
        self.selections.add(selection);
    }

    /// Selections find their flows, and choose once links have told what there is at the beginning.
    pub(super) fn begin_selections(&mut self, moment: &mut Moment<'_>) {
        if self.selections.is_empty() {
            return;
        }
        for number in 0..self.flows.len() {
            let Association { source, sink } = self.flows[number].association;
            let ends = [source, sink].map(|end| self.node(end));
            self.selections.add_flow(number as u32, &self.flows[number].name, ends);
        }
        for (number, selection) in (0..).zip(&mut self.selections.all) {
            for at in 0..selection.candidates.len() {
                if self.handovers.number_of(selection.candidates[at].interface).is_none() {
                    selection.set_up(at);
                }
            }
            selection.arm(number, moment);
        }
    }

    /// A link has indicated something at an interface.
    pub(super) fn tell_selection(&mut self, moment: &mut Moment<'_>, interface: Address, event: LinkEvent) {
        for place in 0..self.selections.at(interface).len() {
            let (number, at) = self.selections.at(interface)[place];
            let selection = &mut self.selections.all[number as usize];
            if !selection.heeds(event) {
                continue;
            }
            let comes_or_goes = selection.on_link_event(moment.now, at, event);
            let switches = selection.decide(moment.now);
            self.follow_selection(moment, number, (comes_or_goes, switches));
        }
    }

    /// A selection has chosen for the first time, or another interface was preferred for long enough.
    pub(super) fn handle_selection(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let selection = &mut self.selections.all[number as usize];
        let (due, handover) = (selection.fires(now), selection.handover);
        let switches = due && selection.begin(now);
        if due && let Some(handover) = handover {
            // Known again once its users are served.
            self.selections.all[number as usize].handover_due = None;
            self.handle_selected_handover(moment, handover);
        }
        self.follow_selection(moment, number, (due, switches));
        self.announce_addresses();
        due
    }

    /// What is to be done once an interface has come or gone, or another is selected.
    fn follow_selection(
        &mut self,
        moment: &mut Moment<'_>,
        number: u32,
        (comes_or_goes, switches): (bool, bool),
    ) {
        let selection = &mut self.selections.all[number as usize];
        selection.arm(number, moment);
        let (node, scheme) = (selection.config.node, selection.config.scheme);
        if scheme == Scheme::MobileIp {
            if switches {
                let interface = selection.selected();
                self.mobile_ip().attach(moment, node, interface);
            }
            return;
        }
        if switches && let Some(interface) = selection.selected() {
            let is_first = selection.switches.last().is_some_and(|last| last.reason == Reason::First);
            if !selection.config.of_one_flow {
                self.network.topology.set_primary(interface);
            }
            self.move_flows(number, interface, is_first);
        }
        if let Some(handover) = self.selections.all[number as usize].handover
            && (comes_or_goes || switches)
        {
            self.tell_selecting_node(moment.now, handover);
        }
        if scheme.tells_transports()
            && (comes_or_goes || switches)
            && let Some(station) = self.handovers.station_of(node)
        {
            self.handovers.announce(station);
        }
    }

    /// The flows of a selection go by this interface: at first all of them, then those that the scheme
    /// redirects and those that have sent nothing yet.
    fn move_flows(&mut self, number: u32, interface: Address, is_first: bool) {
        let selection = &self.selections.all[number as usize];
        let (node, redirects) = (selection.config.node, selection.config.scheme == Scheme::Redirect);
        let of_one_flow = selection.config.of_one_flow;
        for flow in selection.flows.clone() {
            let flow = &mut self.flows[flow as usize];
            if of_one_flow && let Some(connections) = &mut flow.connections {
                // Those of others begin at the primary address of the node.
                let own = connections.ends.iter_mut().filter(|end| end.node == node);
                own.for_each(|end| end.address = Some(interface));
            }
            let associations: Vec<Association> = match &flow.connections {
                Some(connections) => connections.associations().collect(),
                None => vec![flow.association],
            };
            for Association { source, sink } in associations {
                let ends = [source, sink];
                let begun = ends.iter().any(|&end| self.socket(end).traffic().sent_packets > 0);
                let stays = match source {
                    SocketId::Udp(_) | SocketId::Tcp(_) => begun && !redirects && !is_first,
                    // One that is told of the addresses makes requests.
                    SocketId::Sctp(_) => {
                        begun && !is_first || ends.iter().any(|&end| self.socket(end).station().is_some())
                    }
                    SocketId::Open(_) => begun,
                };
                if stays {
                    continue;
                }
                for (own, peer) in [(source, sink), (sink, source)] {
                    if self.node(own) == node {
                        self.move_socket(own, peer, interface);
                    }
                }
            }
        }
    }

    /// A socket and its peer use this address of the socket's node.
    fn move_socket(&mut self, own: SocketId, peer: SocketId, interface: Address) {
        if let (SocketId::Sctp(own), SocketId::Sctp(peer)) = (own, peer) {
            // Not yet open: it begins at the selected one.
            let nodes = [own, peer].map(|end| self.sctp[end as usize].node);
            let topology = &self.network.topology;
            let mut local = topology.addresses_for(nodes[0], nodes[1]);
            local.sort_by_key(|&address| address != interface);
            let remote = topology.addresses_for(nodes[1], nodes[0]);
            self.readdress(own, &local, &remote);
            self.readdress(peer, &remote, &local);
            return;
        }
        self.set_own_address(own, interface);
        self.set_peer_address(peer, interface);
        self.fit_to_path(own);
        self.fit_to_path(peer);
    }

    /// The run has ended: what selections count is final.
    pub(super) fn finish_selections(&mut self, now: Time) {
        self.selections.all.iter_mut().for_each(|selection| selection.finish(now));
    }
}
