//! Handovers by IEEE 802.21's commands of nodes that select: each switch of a selection is told to the node's
//! MIH user, which prepares the handover with its points of service and then redirects the flows.
//!
//! Flows over UDP and TCP are redirected as those of a handover entry (`handover/redirection.rs`). All others
//! keep their addresses.

use super::mih_handover::called;
use super::{Work, World};
use crate::alarm::Moment;
use crate::flow::Association;
use crate::packet::{Message, RedirectionMessage};
use crate::selected_handover::SelectedHandover;
use crate::socket::SocketId;
use crate::topology::NodeId;
use roamsim_engine::Time;
use roamsim_protocols::mih;
use roamsim_protocols::mih::handover::Command;

impl World {
    /// Adds the users that hand a node over; its selection is there already.
    pub fn add_selected_handover(&mut self, handover: SelectedHandover) {
        let number = self.selected_handovers.len() as u32;
        self.selections.all[handover.selection as usize].handover = Some(number);
        self.selected_handovers.push(handover);
    }

    /// Sessions over TCP and SCTP open their connections.
    pub(super) fn open_selected_sessions(&mut self) {
        let opens = self.selected_handovers.iter().flat_map(|handover| handover.opens.iter().copied());
        for socket in opens.collect::<Vec<_>>() {
            self.open(socket);
        }
    }

    /// A selection has chosen, or one of its interfaces has come or gone: the node's user hears of it.
    pub(super) fn tell_selecting_node(&mut self, now: Time, number: u32) {
        let World { selected_handovers, selections, mih_nodes, work, .. } = self;
        let handover = &mut selected_handovers[number as usize];
        let selection = &selections.all[handover.selection as usize];
        let (mut cx, mihf) = called(mih_nodes, work, handover.mobile_node.mihf, now);
        let user = &mut handover.mobile_node.user;
        user.follow(&mut cx, mihf, selection.current(), &selection.states());
        handover.at = handover.at.or(user.at());
        work.push_back(Work::SelectedHandover(number));
    }

    /// Something may be due.
    pub(super) fn handle_selected_handover(&mut self, moment: &mut Moment<'_>, number: u32) {
        let World { selected_handovers, mih_nodes, work, .. } = self;
        let handover = &mut selected_handovers[number as usize];
        for point in &mut handover.points_of_service {
            let (mut cx, mihf) = called(mih_nodes, work, point.mihf, moment.now);
            point.user.handle_timeout(&mut cx, mihf);
        }
        if handover.redirection.handle_timeout(moment.now) {
            self.send_selected_updates(moment, number);
        }
        self.work.push_back(Work::SelectedHandover(number));
    }

    /// The MIHF of a node tells something to the user whose session it is about.
    pub(super) fn on_selected_event(&mut self, now: Time, mihf: u32, number: u32, event: &mih::Event) {
        let World { selected_handovers, mih_nodes, work, .. } = self;
        let handover = &mut selected_handovers[number as usize];
        let (mut cx, function) = called(mih_nodes, work, mihf, now);
        if mihf == handover.mobile_node.mihf {
            handover.mobile_node.user.handle_event(&mut cx, function, event);
        } else if let Some(point) = handover.points_of_service.iter_mut().find(|point| point.mihf == mihf) {
            point.user.handle_event(&mut cx, function, event);
            // An answer that needs no time is ready before the request is acknowledged.
            point.user.handle_timeout(&mut cx, function);
        }
        work.push_back(Work::SelectedHandover(number));
    }

    /// Does what the node's user asks for, and notes what it has come to.
    pub(super) fn serve_selected_handover(&mut self, moment: &mut Moment<'_>, number: u32) {
        loop {
            let handover = &mut self.selected_handovers[number as usize];
            while let Some(milestone) = handover.mobile_node.user.poll_milestone() {
                handover.reach(moment.now, milestone);
            }
            match handover.mobile_node.user.poll_command() {
                Some(Command::Redirect(to)) => {
                    handover.target = Some(to);
                    handover.redirection.begin(moment.now);
                    self.send_selected_updates(moment, number);
                }
                // Its links are as the selection finds them.
                Some(Command::Scan | Command::Enter(_) | Command::Leave(_)) => {}
                None if self.tell_selected_redirected(moment.now, number) => {}
                None => break,
            }
        }
        let handover = &self.selected_handovers[number as usize];
        let selection = &mut self.selections.all[handover.selection as usize];
        selection.handover_due = handover.deadline();
        selection.arm(handover.selection, moment);
    }

    /// The node tells its correspondents, those that have not acknowledged it yet, where it is.
    fn send_selected_updates(&mut self, moment: &mut Moment<'_>, number: u32) {
        let handover = &self.selected_handovers[number as usize];
        let Some(target) = handover.target else { return };
        let sequence = handover.redirection.sequence();
        for correspondent in handover.redirection.untold() {
            let handover = &self.selected_handovers[number as usize];
            let [socket, _] = handover.correspondents[correspondent].sockets[target];
            let message = Message::Redirection(RedirectionMessage::Update { sequence });
            self.send_message(moment, socket, message);
        }
    }

    /// A message of a redirection has arrived.
    pub(super) fn deliver_selected_redirection(
        &mut self,
        number: u32,
        (correspondent, network): (u32, u32),
        message: RedirectionMessage,
    ) {
        let handover = &mut self.selected_handovers[number as usize];
        let (interface, selection) = (handover.interfaces[network as usize], handover.selection);
        let with = &mut handover.correspondents[correspondent as usize];
        let node = with.node;
        match message {
            // It was overtaken by a newer one (RFC 6275 section 9.5.1).
            RedirectionMessage::Update { sequence } if sequence < with.sequence => {}
            RedirectionMessage::Update { sequence } => {
                with.sequence = sequence;
                let [_, socket] = with.sockets[network as usize];
                for [_, theirs] in self.redirected_sockets(selection, node) {
                    self.set_peer_address(theirs, interface);
                    self.fit_to_path(theirs);
                }
                self.work.push_back(Work::AcknowledgeRedirection(socket, sequence));
            }
            RedirectionMessage::Acknowledgement { sequence } => {
                if handover.redirection.acknowledge(correspondent as usize, sequence) {
                    for [ours, _] in self.redirected_sockets(selection, node) {
                        self.set_own_address(ours, interface);
                        self.fit_to_path(ours);
                    }
                    self.work.push_back(Work::SelectedHandover(number));
                }
            }
        }
    }

    /// The sockets of a selection's flows over UDP and TCP with a node: here and there.
    fn redirected_sockets(&self, selection: u32, with: NodeId) -> Vec<[SocketId; 2]> {
        let selection = &self.selections.all[selection as usize];
        let is_moved = |&[own, peer]: &[SocketId; 2]| {
            matches!(own, SocketId::Udp(_) | SocketId::Tcp(_))
                && (self.node(own), self.node(peer)) == (selection.config.node, with)
        };
        let mut moved = Vec::new();
        for &flow in &selection.flows {
            let flow = &self.flows[flow as usize];
            let associations: Vec<Association> = match &flow.connections {
                Some(connections) => connections.associations().collect(),
                None => vec![flow.association],
            };
            let pairs = associations.into_iter();
            moved.extend(
                pairs.flat_map(|one| [[one.source, one.sink], [one.sink, one.source]]).filter(is_moved),
            );
        }
        moved
    }

    /// Once all correspondents have acknowledged it, the node's user hears that its traffic is redirected;
    /// whether it did.
    fn tell_selected_redirected(&mut self, now: Time, number: u32) -> bool {
        let World { selected_handovers, mih_nodes, work, .. } = self;
        let handover = &mut selected_handovers[number as usize];
        let done = handover.target.is_some() && handover.redirection.is_done();
        if done {
            handover.target = None;
            let (mut cx, mihf) = called(mih_nodes, work, handover.mobile_node.mihf, now);
            handover.mobile_node.user.handle_redirected(&mut cx, mihf);
        }
        done
    }
}
