//! Handovers by MIH in the world: it passes link events and messages to the users of a handover entry, and
//! performs their requests.

use super::{Work, World};
use crate::alarm::Moment;
use crate::ends::Onward;
use crate::handover::Action;
use crate::handover::record::Handover;
use crate::link::indication::{LinkEvent, Quality};
use crate::mih_handover::{MihHandover, Notice};
use crate::packet::{Message, RedirectionMessage};
use crate::signalling::{MihNode, heard_by_mihf};
use crate::socket::SocketId;
use roamsim_engine::Time;
use roamsim_protocols::mih::handover::{CandidateCue, Command, GivenUp, Initiation, LinkCue, Milestone};
use roamsim_protocols::mih::wire::link::{EventList, LinkDownReason, LinkTupleId};
use roamsim_protocols::mih::{self, Mihf};
use roamsim_protocols::tcp::segment;
use roamsim_protocols::{Address, Context};
use std::collections::{BTreeSet, VecDeque};

/// An MIHF that is about to be called, which is then to be served.
pub(super) fn called<'a>(
    nodes: &'a mut [MihNode],
    work: &mut VecDeque<Work>,
    mihf: u32,
    now: Time,
) -> (Context<'a>, &'a mut Mihf) {
    work.push_back(Work::Mihf(mihf));
    let node = &mut nodes[mihf as usize];
    (Context { now, random: &mut node.random }, &mut node.mihf)
}

/// What the mobile node's user hears of the link to the network that it leaves.
fn cue_of(event: LinkEvent) -> Option<LinkCue> {
    match event {
        LinkEvent::Up => Some(LinkCue::Up),
        LinkEvent::GoingDown { within, .. } | LinkEvent::GoingDownAgain { within, .. } => {
            Some(LinkCue::GoingDown { within })
        }
        LinkEvent::Rollback => Some(LinkCue::Rollback),
        LinkEvent::Down(_) => Some(LinkCue::Down),
        LinkEvent::Detected { .. }
        | LinkEvent::ParametersReport { .. }
        | LinkEvent::ErrorReport { .. }
        | LinkEvent::Lost
        | LinkEvent::ScanBegun
        | LinkEvent::ScanEnded => None,
    }
}

/// And of that of a candidate.
fn candidate_cue(event: LinkEvent) -> Option<CandidateCue> {
    match event {
        LinkEvent::Detected { .. } => Some(CandidateCue::Detected),
        LinkEvent::Up => Some(CandidateCue::Up),
        LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT) => Some(CandidateCue::Left),
        LinkEvent::Down(_) | LinkEvent::Lost => Some(CandidateCue::Gone),
        LinkEvent::ParametersReport { .. }
        | LinkEvent::ErrorReport { .. }
        | LinkEvent::GoingDown { .. }
        | LinkEvent::GoingDownAgain { .. }
        | LinkEvent::Rollback
        | LinkEvent::ScanBegun
        | LinkEvent::ScanEnded => None,
    }
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
        let World { mih_handovers, mih_nodes, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        let (mut cx, mihf) = called(mih_nodes, work, handover.parties.mobile_node.mihf, now);
        handover.parties.mobile_node.user.handle_timeout(&mut cx, mihf);
        let (mut cx, mihf) = called(mih_nodes, work, handover.parties.serving.mihf, now);
        handover.parties.serving.user.handle_timeout(&mut cx, mihf);
        for candidate in 0..handover.parties.candidates.len() {
            self.serve_candidate(now, number, candidate);
        }
        if self.mih_handovers[number as usize].redirection.handle_timeout(now) {
            self.send_updates(moment, number);
        }
        self.serve_mih_handover(moment, number);
        worked
    }

    /// The PoS of a candidate does what is due, and answers by what its cell has now.
    fn serve_candidate(&mut self, now: Time, number: u32, candidate: usize) {
        let there = &self.mih_handovers[number as usize].parties.candidates[candidate];
        let cell = there.cell as usize;
        if there.pos.user.poll_timeout().is_some_and(|due| due <= now) {
            let (others, link_places) = self.observed(now, number, candidate);
            self.resources[cell].observe(others, link_places);
        }
        let World { mih_handovers, mih_nodes, resources, work, .. } = self;
        let pos = &mut mih_handovers[number as usize].parties.candidates[candidate].pos;
        let (mut cx, mihf) = called(mih_nodes, work, pos.mihf, now);
        pos.user.handle_timeout(&mut cx, mihf, &mut resources[cell]);
    }

    /// How many stations use a candidate's cell beside the mobile node that no place is reserved for, and for
    /// how many like that the link has room beside them and those with a place; `None`: for all that come.
    fn observed(&self, now: Time, number: u32, candidate: usize) -> (u32, Option<u32>) {
        let World { mih_handovers, mih_nodes, handovers, network, resources, .. } = self;
        let parties = &mih_handovers[number as usize].parties;
        let cell = parties.candidates[candidate].cell;
        let with_place: BTreeSet<u32> = mih_handovers
            .iter()
            .filter(|other| {
                let name = mih_nodes[other.parties.mobile_node.mihf as usize].mihf.id();
                resources[cell as usize].has_place(name)
            })
            .map(|other| other.parties.station)
            .collect();
        let (mut others, mut reserved, mut own) = (0, Vec::new(), None);
        for (station, place) in (0..).zip(&handovers.stations) {
            let Some(at) = place.cells.iter().position(|member| member.cell == cell) else { continue };
            let on_link = place.cells[at].number;
            if station == parties.station {
                own = Some(on_link);
            } else if with_place.contains(&station) {
                reserved.push(on_link);
            } else {
                others += u32::from(place.uses(at));
            }
        }
        let stations = network.stations(handovers.cells[cell as usize].link);
        (others, stations.zip(own).and_then(|(stations, own)| stations.places_for(now, own, &reserved)))
    }

    /// Opens connections; the mobile node registers its link, to whose event the PoS subscribes where it has
    /// to be told.
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
        let World { mih_handovers, mih_nodes, work, .. } = self;
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
                let events = EventList::LINK_GOING_DOWN.union(EventList::LINK_PARAMETERS_REPORT);
                function.subscribe(&mut cx, event.session(), link, events);
            }
            handover.parties.serving.user.handle_event(&mut cx, function, event);
            handover.parties.serving.user.handle_timeout(&mut cx, function);
        } else if let Some(candidate) =
            handover.parties.candidates.iter().position(|candidate| candidate.pos.mihf == mihf)
        {
            handover.parties.candidates[candidate].pos.user.handle_event(&mut cx, function, event);
            self.serve_candidate(now, number, candidate);
        }
        self.work.push_back(Work::MihHandover(number));
    }

    /// A link of a mobile node has indicated something: its user hears it, and where it is that of the
    /// network that it leaves its PoS, by itself or by an indication.
    pub(super) fn tell_handover_users(&mut self, now: Time, interface: Address, event: LinkEvent) {
        if let LinkEvent::ParametersReport { quality } = event {
            return self.tell_crossings(now, interface, quality);
        }
        let told = self.told_to_network(interface, event);
        let World { mih_handovers, mih_nodes, resources, work, .. } = self;
        for (number, handover) in (0..).zip(mih_handovers) {
            let parties = &mut handover.parties;
            let user = &mut parties.mobile_node.user;
            let at = parties.candidates.iter().position(|candidate| candidate.interface == interface);
            if let Some(candidate) = at
                && let Some(cue) = candidate_cue(event)
            {
                let name = mih_nodes[parties.mobile_node.mihf as usize].mihf.id();
                let there = &mut parties.candidates[candidate];
                match event {
                    LinkEvent::Up => {
                        resources[there.cell as usize].arrive(name);
                        there.pos.user.handle_arrival();
                    }
                    LinkEvent::Down(_) => resources[there.cell as usize].release(name),
                    _ => {}
                }
                user.handle_candidate_event(candidate, cue);
                work.push_back(Work::MihHandover(number));
            }
            let Some(cue) = cue_of(event).filter(|_| parties.serving_interface == interface) else {
                continue;
            };
            let least_percent = handover.config.confidence_percent;
            // Of what it was not told it does not hear that it is taken back.
            let unheard = cue == LinkCue::Rollback && least_percent > 0 && handover.going_down.is_none();
            if unheard || !event.is_for(least_percent) {
                continue;
            }
            if cue != LinkCue::Down {
                handover.going_down = matches!(cue, LinkCue::GoingDown { .. }).then_some(now);
            }
            user.handle_link_event(now, cue);
            match (cue, handover.config.notice) {
                (LinkCue::GoingDown { within }, Notice::Local) => {
                    let (mut cx, mihf) = called(mih_nodes, work, parties.serving.mihf, now);
                    parties.serving.user.handle_link_going_down(&mut cx, mihf, within);
                }
                (LinkCue::Rollback, Notice::Local) => parties.serving.user.handle_rollback(),
                (LinkCue::GoingDown { .. } | LinkCue::Rollback, Notice::Remote) => {
                    let [of_mobile_node, _] = parties.session;
                    let (mut cx, mihf) = called(mih_nodes, work, of_mobile_node.mihf, now);
                    let (session, link) = (mih::SessionId(of_mobile_node.session), &parties.serving_link);
                    let bytes = handover.config.message_bytes;
                    let sent = told.and_then(|event| mihf.link_event(&mut cx, session, link, event, bytes));
                    if let Some(indication) = sent.filter(|_| cue != LinkCue::Rollback) {
                        user.handle_notice(indication);
                    }
                }
                (LinkCue::Up | LinkCue::Down | LinkCue::Crossed, _) => {}
            }
            work.push_back(Work::MihHandover(number));
        }
    }

    /// Reports of the network that a mobile node leaves cross thresholds that its user has configured.
    fn tell_crossings(&mut self, now: Time, interface: Address, quality: Quality) {
        let (link, _) = self.network.topology.attachment(interface);
        let reach_m = self.network.stations(link).and_then(|stations| stations.reach_m());
        let signal = quality.signal_strength(reach_m.unwrap_or(f64::INFINITY));
        for (number, handover) in (0..).zip(&mut self.mih_handovers) {
            let parties = &mut handover.parties;
            let crossed = (parties.serving_interface == interface)
                .then(|| handover.thresholds.told(&parties.serving_link, mih::LinkParameter::Signal(signal)));
            if crossed.flatten().is_some_and(|crossed| !crossed.is_empty()) {
                parties.mobile_node.user.handle_link_event(now, LinkCue::Crossed);
                self.work.push_back(Work::MihHandover(number));
            }
        }
    }

    /// What the mobile node's MIHF tells a subscriber of an event: that the link is going down; that it is
    /// not any more, by a report of its signal, which has crossed the threshold of the former upward, as it
    /// was heard last.
    fn told_to_network(&self, interface: Address, event: LinkEvent) -> Option<mih::LinkEvent> {
        if event != LinkEvent::Rollback {
            return heard_by_mihf(event, f64::INFINITY);
        }
        let (link, _) = self.network.topology.attachment(interface);
        let reach_m = self.network.stations(link).and_then(|stations| stations.reach_m());
        let quality = self.handovers.quality_at(interface)?;
        heard_by_mihf(LinkEvent::ParametersReport { quality }, reach_m.unwrap_or(f64::INFINITY))
    }

    /// The mobile node has scanned: it has found the networks that it hears now.
    fn finish_scan(&mut self, now: Time, number: u32) {
        let World { mih_handovers, mih_nodes, handovers, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        handover.scanned_at = None;
        let association = &handovers.stations[handover.parties.station as usize].association;
        let quality = |&candidate: &usize| association.quality(handover.parties.candidates[candidate].place);
        let mut heard: Vec<(usize, Quality)> = (0..handover.parties.candidates.len())
            .filter_map(|candidate| Some((candidate, quality(&candidate)?)))
            .collect();
        // Signals in dBm come before distances that stand for them.
        let rank = |&(_, quality): &(usize, Quality)| (quality.is_distance(), quality.score());
        heard.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
        });
        let heard: Vec<usize> = heard.into_iter().map(|(candidate, _)| candidate).collect();
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
                Some(Command::Enter(candidate)) => {
                    let (place, _) = handover.target(candidate);
                    self.act_on_link(moment, number, place, true);
                }
                Some(Command::Leave(network)) => {
                    let (place, _) = handover.target(network);
                    self.act_on_link(moment, number, place, false);
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

    /// Link_Action.request at a link of the mobile node.
    fn act_on_link(&mut self, moment: &mut Moment<'_>, number: u32, place: usize, permitted: bool) {
        let station = self.mih_handovers[number as usize].parties.station;
        let World { handovers, network, .. } = self;
        if let Some(link) = handovers.permit(network, moment.now, station, place, permitted) {
            network.rearm(link.0, moment);
            network.arm_indications(moment, link.0);
        }
        self.tell_listeners(moment);
    }

    /// Where both sides may decide the account is the mobile node's; of its PoS, what it could not answer.
    fn poll_milestone(&mut self, number: u32) -> Option<Milestone> {
        let handover = &mut self.mih_handovers[number as usize];
        let both = handover.config.initiation == Initiation::Both;
        let serving = &mut handover.parties.serving.user;
        let counts = |milestone: &Milestone| !both || *milestone == Milestone::GivenUp(GivenUp::Response);
        std::iter::from_fn(|| serving.poll_milestone())
            .find(counts)
            .or_else(|| handover.parties.mobile_node.user.poll_milestone())
    }

    fn reach_milestone(&mut self, now: Time, number: u32, milestone: Milestone) {
        let World { mih_handovers, handovers, network, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        handover.reach(now, milestone);
        match milestone {
            Milestone::RedirectBegun(candidate, _) => {
                let (place, _) = handover.target(candidate);
                let before = handovers.records.len();
                handovers.perform(network, now, handover.parties.station, Action::Begin(place));
                if let Some(account) = handover.accounts.last_mut() {
                    account.moved |= handovers.records.len() > before;
                }
                // Transports with addresses of their own follow by themselves.
                handovers.announce(handover.parties.station);
                self.announce_addresses();
            }
            Milestone::Redirected => {
                handovers.perform(network, now, handover.parties.station, Action::Complete)
            }
            _ => {}
        }
    }

    /// The account of handovers is closed. It gets those of MIH users as well that led traffic nowhere and
    /// did not lose it; the last one of who has lost his link is in there.
    pub(super) fn finish_handovers(&mut self) {
        let World { mih_handovers, handovers, network, .. } = self;
        for entry in mih_handovers {
            let place = &handovers.stations[entry.parties.station as usize];
            let others = entry.accounts.len().saturating_sub(usize::from(place.failed_at().is_some()));
            for (number, account) in entry.accounts[..others].iter().enumerate() {
                let to = account.redirect_begun.and(account.to).map(|to| entry.target(to).0);
                if let Some(begun) = account.begun().filter(|_| !account.moved) {
                    handovers.records.push(Handover::new(place, entry.left(number), to, begun));
                }
            }
        }
        handovers.finish(network);
    }

    /// The mobile node tells its correspondents, those that have not acknowledged it yet, where it is.
    fn send_updates(&mut self, moment: &mut Moment<'_>, number: u32) {
        let handover = &self.mih_handovers[number as usize];
        let Some(candidate) = handover.target else { return };
        for correspondent in handover.redirection.untold() {
            let handover = &self.mih_handovers[number as usize];
            let [socket, _] = handover.parties.correspondents[correspondent].sockets[candidate];
            let sequence = handover.redirection.sequence();
            let message = Message::Redirection(RedirectionMessage::Update { sequence });
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
        let (_, interface) = handover.target(candidate as usize);
        let with = &mut handover.parties.correspondents[correspondent as usize];
        match message {
            // It was overtaken by a newer one (RFC 6275 section 9.5.1).
            RedirectionMessage::Update { sequence } if sequence < with.sequence => {}
            RedirectionMessage::Update { sequence } => {
                with.sequence = sequence;
                let [_, socket] = with.sockets[candidate as usize];
                for [_, theirs] in with.moved.clone() {
                    self.set_peer_address(theirs, interface);
                    self.fit_to_path(theirs);
                }
                self.work.push_back(Work::AcknowledgeRedirection(socket, sequence));
            }
            RedirectionMessage::Acknowledgement { sequence } => {
                if handover.redirection.acknowledge(correspondent as usize, sequence) {
                    for [ours, _] in with.moved.clone() {
                        self.set_own_address(ours, interface);
                        self.fit_to_path(ours);
                    }
                    self.work.push_back(Work::MihHandover(number));
                }
            }
        }
    }

    /// Once all correspondents have acknowledged it, the mobile node's user hears that its traffic is
    /// redirected; whether it did.
    fn tell_redirected(&mut self, now: Time, number: u32) -> bool {
        let handover = &self.mih_handovers[number as usize];
        let station = handover.parties.station;
        let done = handover.target.is_some()
            && handover.redirection.is_done()
            && (self.handovers.stations[station as usize].followers.is_empty() || self.are_settled(station));
        let World { mih_handovers, mih_nodes, work, .. } = self;
        let handover = &mut mih_handovers[number as usize];
        if done {
            handover.target = None;
            let (mut cx, mihf) = called(mih_nodes, work, handover.parties.mobile_node.mihf, now);
            handover.parties.mobile_node.user.handle_redirected(&mut cx, mihf);
        }
        done
    }

    /// A transport has settled on an address of a station that MIH users hand over.
    pub(super) fn complete_mih_handover(&mut self, station: u32) {
        let waits = |entry: &MihHandover| entry.parties.station == station && entry.target.is_some();
        if let Some(number) = self.mih_handovers.iter().position(waits) {
            self.work.push_back(Work::MihHandover(number as u32));
        }
    }

    /// The segments of a connection, or the datagrams of a socket of UDP, fit to the path between its present
    /// addresses.
    pub(super) fn fit_to_path(&mut self, socket: SocketId) {
        let topology = &self.network.topology;
        match socket {
            SocketId::Tcp(number) => {
                let socket = &mut self.tcp[number as usize];
                if let Some(mtu_bytes) = topology.path_mtu(socket.local, socket.remote) {
                    let headers = self.network.ip.header_bytes() + segment::HEADER_BYTES;
                    socket.connection.set_path_mss(mtu_bytes.saturating_sub(headers));
                }
            }
            SocketId::Udp(number) => {
                let socket = &mut self.udp[number as usize];
                if let Some(mtu_bytes) = topology.path_mtu(socket.local, socket.remote) {
                    socket.set_path_mtu(mtu_bytes);
                }
            }
            SocketId::Sctp(_) | SocketId::Open(_) => {}
        }
    }

    /// What a socket sends goes to this address from now on.
    pub fn set_peer_address(&mut self, socket: SocketId, address: Address) {
        match socket {
            SocketId::Udp(number) => self.udp[number as usize].remote = address,
            SocketId::Tcp(number) => {
                let socket = &mut self.tcp[number as usize];
                (socket.remote, socket.onward) = (address, Onward::UNKNOWN);
            }
            // Before it opens; from then on its addresses are its own matter.
            SocketId::Open(number) => self.open[number as usize].remote = address,
            SocketId::Sctp(_) => {}
        }
    }

    /// What a socket sends comes from this address from now on.
    pub fn set_own_address(&mut self, socket: SocketId, address: Address) {
        match socket {
            SocketId::Udp(number) => self.udp[number as usize].local = address,
            SocketId::Tcp(number) => {
                let socket = &mut self.tcp[number as usize];
                (socket.local, socket.onward) = (address, Onward::UNKNOWN);
            }
            SocketId::Open(number) => self.open[number as usize].local = address,
            SocketId::Sctp(_) => {}
        }
    }
}
