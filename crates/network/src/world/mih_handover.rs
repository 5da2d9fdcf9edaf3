//! Handovers by MIH in the world: link events and messages reach the users of a handover entry, and what they ask for is
//! done.

use super::{Work, World};
use crate::alarm::Moment;
use crate::handover::Action;
use crate::link::indication::LinkEvent;
use crate::mih_handover::Notice;
use crate::packet::{Message, RedirectionMessage};
use crate::signalling::{MihNode, heard_by_mihf};
use crate::socket::SocketId;
use roamsim_engine::Time;
use roamsim_protocols::mih::handover::{Command, LinkCue, Milestone};
use roamsim_protocols::mih::wire::link::{EventList, LinkTupleId};
use roamsim_protocols::mih::{self, Mihf};
use roamsim_protocols::{Address, Context};
use std::collections::VecDeque;

/// An MIHF that is about to be called, which is then to be served.
fn called<'a>(
    nodes: &'a mut [MihNode],
    work: &mut VecDeque<Work>,
    mihf: u32,
    now: Time,
) -> (Context<'a>, &'a mut Mihf) {
    work.push_back(Work::Mihf(mihf));
    let node = &mut nodes[mihf as usize];
    (Context { now, random: &mut node.random }, &mut node.mihf)
}

impl World {
    pub(super) fn handle_mih_handover(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let handover = &mut self.mih_handovers[number as usize];
        if !handover.alarm.fires(now) {
            return false;
        }
        let worked = handover.deadline().is_some_and(|due| due <= now);
        if !std::mem::replace(&mut handover.set_up, true) {
            self.set_up_handover(now, number);
        }
        if self.mih_handovers[number as usize].scanned_at.is_some_and(|at| at <= now) {
            self.finish_scan(now, number);
        }
        let World { mih_handovers, mih_nodes, resources, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        let (mut cx, mihf) = called(mih_nodes, work, handover.parties.mobile_node.mihf, now);
        handover.parties.mobile_node.user.handle_timeout(&mut cx, mihf);
        let (mut cx, mihf) = called(mih_nodes, work, handover.parties.serving.mihf, now);
        handover.parties.serving.user.handle_timeout(&mut cx, mihf);
        for candidate in &mut handover.parties.candidates {
            let (mut cx, mihf) = called(mih_nodes, work, candidate.pos.mihf, now);
            let resources = &mut resources[candidate.cell as usize];
            candidate.pos.user.handle_timeout(&mut cx, mihf, resources);
        }
        if handover.redirection.handle_timeout(now) {
            self.send_updates(moment, number);
        }
        self.serve_mih_handover(moment, number);
        worked
    }

    /// Opens connections; the mobile node registers its link, to whose event the PoS subscribes where it has to be told.
    fn set_up_handover(&mut self, now: Time, number: u32) {
        let handover = &self.mih_handovers[number as usize];
        let links = vec![handover.parties.serving_link.link.clone()];
        let mobile_node = handover.parties.session[0];
        for socket in handover.parties.opens.clone() {
            self.open(socket);
        }
        self.on_mihf(now, mobile_node, |mihf, cx, session| mihf.register(cx, session, links));
    }

    /// The MIHF of a node tells something to the user whose session it is about.
    pub(super) fn on_handover_event(&mut self, now: Time, mihf: u32, number: u32, event: &mih::Event) {
        let World { mih_handovers, mih_nodes, resources, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        let (mut cx, function) = called(mih_nodes, work, mihf, now);
        // An answer that needs no time is ready before the request is acknowledged.
        if mihf == handover.parties.mobile_node.mihf {
            handover.parties.mobile_node.user.handle_event(&mut cx, function, event);
            handover.parties.mobile_node.user.handle_timeout(&mut cx, function);
        } else if mihf == handover.parties.serving.mihf {
            if handover.config.notice == Notice::Remote && matches!(event, mih::Event::PeerRegistered { .. })
            {
                let link = LinkTupleId { point_of_attachment: None, ..handover.parties.serving_link.clone() };
                function.subscribe(&mut cx, event.session(), link, EventList::LINK_GOING_DOWN);
            }
            handover.parties.serving.user.handle_event(&mut cx, function, event);
            handover.parties.serving.user.handle_timeout(&mut cx, function);
        } else if let Some(candidate) =
            handover.parties.candidates.iter_mut().find(|candidate| candidate.pos.mihf == mihf)
        {
            candidate.pos.user.handle_event(&mut cx, function, event);
            let resources = &mut resources[candidate.cell as usize];
            candidate.pos.user.handle_timeout(&mut cx, function, resources);
        }
        work.push_back(Work::MihHandover(number));
    }

    /// A link of a mobile node has indicated something: its user hears it, and its PoS, by itself or by an indication.
    pub(super) fn tell_handover_users(&mut self, now: Time, interface: Address, event: LinkEvent) {
        let cue = match event {
            LinkEvent::GoingDown { .. } => Some(LinkCue::GoingDown),
            LinkEvent::Rollback => Some(LinkCue::Rollback),
            LinkEvent::Down(_) => Some(LinkCue::Down),
            LinkEvent::Up => None,
            _ => return,
        };
        let World { mih_handovers, mih_nodes, work, .. } = self;
        for (number, handover) in (0..).zip(mih_handovers) {
            if handover.parties.serving_interface != interface {
                continue;
            }
            if cue != Some(LinkCue::Down) {
                handover.going_down = (cue == Some(LinkCue::GoingDown)).then_some(now);
            }
            let Some(cue) = cue else { continue };
            handover.parties.mobile_node.user.handle_link_event(cue);
            match (cue, handover.config.notice) {
                (LinkCue::GoingDown, Notice::Local) => {
                    let (mut cx, mihf) = called(mih_nodes, work, handover.parties.serving.mihf, now);
                    handover.parties.serving.user.handle_link_going_down(&mut cx, mihf);
                }
                (LinkCue::GoingDown, Notice::Remote) => {
                    let [of_mobile_node, _] = handover.parties.session;
                    let (mut cx, mihf) = called(mih_nodes, work, of_mobile_node.mihf, now);
                    if let Some(event) = heard_by_mihf(event, f64::INFINITY) {
                        let session = mih::SessionId(of_mobile_node.session);
                        mihf.link_event(
                            &mut cx,
                            session,
                            &handover.parties.serving_link,
                            event,
                            handover.config.message_bytes,
                        );
                    }
                }
                (LinkCue::Rollback, Notice::Local) => handover.parties.serving.user.handle_rollback(),
                (LinkCue::Rollback | LinkCue::Down, _) => {}
            }
            work.push_back(Work::MihHandover(number));
        }
    }

    /// The mobile node has scanned: it has found the networks that it hears now.
    fn finish_scan(&mut self, now: Time, number: u32) {
        let World { mih_handovers, mih_nodes, handovers, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        handover.scanned_at = None;
        let association = &handovers.stations[handover.parties.station as usize].association;
        let heard: Vec<usize> = (0..handover.parties.candidates.len())
            .filter(|&candidate| association.hears(handover.parties.candidates[candidate].place))
            .collect();
        let (mut cx, mihf) = called(mih_nodes, work, handover.parties.mobile_node.mihf, now);
        handover.parties.mobile_node.user.handle_scan(&mut cx, mihf, &heard);
    }

    /// Does what the users of a handover entry ask for, and notes what they have come to.
    pub(super) fn serve_mih_handover(&mut self, moment: &mut Moment<'_>, number: u32) {
        let now = moment.now;
        loop {
            while let Some(milestone) = self.poll_milestone(number) {
                self.reach_milestone(now, number, milestone);
            }
            let handover = &mut self.mih_handovers[number as usize];
            match handover.parties.mobile_node.user.poll_command() {
                Some(Command::Scan) => {
                    let time = handover.config.scan_time.sample_span(&mut handover.random);
                    handover.scanned_at = Some(now + time);
                }
                Some(Command::Redirect(candidate)) => {
                    handover.target = Some(candidate);
                    handover.redirection.begin(now);
                    self.send_updates(moment, number);
                }
                None if self.tell_redirected(now, number) => {}
                None => break,
            }
        }
        self.mih_handovers[number as usize].arm(number, moment);
    }

    fn poll_milestone(&mut self, number: u32) -> Option<Milestone> {
        let handover = &mut self.mih_handovers[number as usize];
        handover
            .parties
            .serving
            .user
            .poll_milestone()
            .or_else(|| handover.parties.mobile_node.user.poll_milestone())
    }

    fn reach_milestone(&mut self, now: Time, number: u32, milestone: Milestone) {
        let World { mih_handovers, handovers, network, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        handover.reach(now, milestone);
        match milestone {
            Milestone::RedirectBegun(candidate, _) => {
                let place = handover.parties.candidates[candidate].place;
                handovers.perform(network, now, handover.parties.station, Action::Begin(place));
            }
            Milestone::Redirected => {
                handovers.perform(network, now, handover.parties.station, Action::Complete)
            }
            _ => {}
        }
    }

    /// The mobile node tells its correspondents, those that have not acknowledged it yet, where it is.
    fn send_updates(&mut self, moment: &mut Moment<'_>, number: u32) {
        let handover = &self.mih_handovers[number as usize];
        let Some(candidate) = handover.target else { return };
        for correspondent in handover.redirection.untold() {
            let handover = &self.mih_handovers[number as usize];
            let [socket, _] = handover.parties.correspondents[correspondent].sockets[candidate];
            let message = Message::Redirection(RedirectionMessage::Update);
            self.send_message(moment, socket, message);
        }
    }

    /// A message of a redirection has arrived.
    pub(super) fn deliver_redirection(
        &mut self,
        number: u32,
        (correspondent, candidate): (u32, u32),
        message: RedirectionMessage,
    ) {
        let handover = &mut self.mih_handovers[number as usize];
        let interface = handover.parties.candidates[candidate as usize].interface;
        let with = &handover.parties.correspondents[correspondent as usize];
        match message {
            RedirectionMessage::Update => {
                let [_, socket] = with.sockets[candidate as usize];
                for [_, theirs] in with.moved.clone() {
                    self.set_peer_address(theirs, interface);
                }
                self.work.push_back(Work::AcknowledgeRedirection(socket));
            }
            RedirectionMessage::Acknowledgement => {
                let current = handover.target == Some(candidate as usize);
                if current && handover.redirection.acknowledge(correspondent as usize) {
                    for [ours, _] in with.moved.clone() {
                        self.set_own_address(ours, interface);
                    }
                    self.work.push_back(Work::MihHandover(number));
                }
            }
        }
    }

    /// Once all correspondents have acknowledged it, the mobile node's user hears that its traffic is redirected; whether it did.
    fn tell_redirected(&mut self, now: Time, number: u32) -> bool {
        let World { mih_handovers, mih_nodes, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        let done = handover.target.is_some() && handover.redirection.is_done();
        if done {
            handover.target = None;
            let (mut cx, mihf) = called(mih_nodes, work, handover.parties.mobile_node.mihf, now);
            handover.parties.mobile_node.user.handle_redirected(&mut cx, mihf);
        }
        done
    }

    /// What a socket sends goes to this address from now on.
    pub fn set_peer_address(&mut self, socket: SocketId, address: Address) {
        match socket {
            SocketId::Udp(number) => self.udp[number as usize].remote = address,
            SocketId::Tcp(number) => self.tcp[number as usize].remote = address,
            // Its addresses are its own matter; no handover moves it.
            SocketId::Sctp(_) => {}
        }
    }

    /// What a socket sends comes from this address from now on.
    pub fn set_own_address(&mut self, socket: SocketId, address: Address) {
        match socket {
            SocketId::Udp(number) => self.udp[number as usize].local = address,
            SocketId::Tcp(number) => self.tcp[number as usize].local = address,
            SocketId::Sctp(_) => {}
        }
    }
}
