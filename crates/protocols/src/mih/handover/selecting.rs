//! The MIH user at a mobile node whose own policy selects a network among several, each with a point of
//! service (PoS): the mobile-initiated commands, from any network to any other (IEEE Std 802.21-2008 section
//! 7.4, MIH_MN_HO_*).
//!
//! - The policy selects another network: the node asks the PoS of the network that carries its traffic for
//!   resources there, then for a commitment, and redirects its traffic after the confirmation. Then it tells
//!   the new PoS that the handover is complete.
//! - The network that carries its traffic is down: the node redirects to the selected one without messages.
//! - The policy takes its choice back: the preparation ends.
//!
//! A preparation that comes to nothing is not repeated. The traffic stays until its network is down, or until
//! the policy selects again.
//!
//! Not modelled: a scan, because a policy knows its links; commands of the network.

use super::messages::{mn_candidate_query, mn_commit, mn_complete, named, succeeded};
use super::{Candidate, Cause, Command, GivenUp, Milestone, Trigger};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::number::TransactionNumber;
use crate::mih::wire::{Message, MessageId};
use std::collections::VecDeque;

/// A selecting node's settings.
#[derive(Clone, Debug)]
pub struct SelectingNodeConfig {
    /// Its networks, with the sessions with their PoS.
    pub networks: Vec<Candidate>,
    /// Octets of a whole message; `None`: as long as it is.
    pub message_bytes: Option<u32>,
}

/// Where a handover stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Traffic goes where it is to go.
    Settled,
    /// The PoS of the present network has been asked for resources of this one.
    Querying { to: usize, transaction: TransactionNumber },
    /// It has been asked for a commitment.
    Committing { to: usize, transaction: TransactionNumber },
    /// The preparation for this network has come to nothing.
    Waiting { to: usize },
    /// Traffic is being redirected to the present network; `from` is the one that it leaves.
    Redirecting { from: usize, cause: Cause },
}

/// The MIH user at a mobile node that selects.
#[derive(Debug)]
pub struct SelectingNode {
    config: SelectingNodeConfig,
    /// The network that carries its traffic, or to which it is being redirected.
    at: Option<usize>,
    state: State,
    /// What tells the PoS of this network that a handover is complete.
    completing: Option<(usize, TransactionNumber)>,
    commands: VecDeque<Command>,
    milestones: VecDeque<Milestone>,
    unexpected: u64,
}

impl SelectingNode {
    /// A user whose policy has not selected yet.
    pub fn new(config: SelectingNodeConfig) -> SelectingNode {
        SelectingNode {
            config,
            at: None,
            state: State::Settled,
            completing: None,
            commands: VecDeque::new(),
            milestones: VecDeque::new(),
            unexpected: 0,
        }
    }

    /// What the node is to do next.
    pub fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// What the handover has come to, at this instant.
    pub fn poll_milestone(&mut self) -> Option<Milestone> {
        self.milestones.pop_front()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        self.unexpected
    }

    /// The network that carries its traffic, or to which it is being redirected.
    pub fn at(&self) -> Option<usize> {
        self.at
    }

    /// The policy has selected a network, or a link has come up or gone down. `up` tells of each network
    /// whether its link is up. The first selection needs no handover.
    pub fn follow(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, selected: Option<usize>, up: &[bool]) {
        let Some(at) = self.at else {
            self.at = selected;
            return;
        };
        match selected {
            Some(to) if to != at && !up[at] => {
                if up[to] {
                    self.redirect(to, Cause::LinkDown);
                }
            }
            Some(to) if to != at => {
                if self.target() != Some(to) {
                    self.prepare(cx, mihf, at, to);
                }
            }
            _ => self.take_back(),
        }
    }

    /// The network that a handover is prepared for, or was in vain.
    fn target(&self) -> Option<usize> {
        match self.state {
            State::Querying { to, .. } | State::Committing { to, .. } | State::Waiting { to } => Some(to),
            State::Settled | State::Redirecting { .. } => None,
        }
    }

    /// The handover that is prepared is not wanted any more.
    fn take_back(&mut self) {
        if matches!(self.state, State::Querying { .. } | State::Committing { .. }) {
            self.milestones.push_back(Milestone::GivenUp(GivenUp::Rollback));
        }
        if self.target().is_some() {
            self.state = State::Settled;
        }
    }

    fn prepare(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, at: usize, to: usize) {
        self.take_back();
        self.milestones.push_back(Milestone::Started(Trigger::Selected));
        self.milestones.push_back(Milestone::ResourcesAsked);
        let tlvs = mn_candidate_query(&self.config.networks[at].link, [&self.config.networks[to].link]);
        let mid = MessageId::MN_HO_CANDIDATE_QUERY_REQUEST;
        let (session, bytes) = (self.config.networks[at].session, self.config.message_bytes);
        let transaction = mihf.request(cx, session, mid, tlvs, bytes);
        self.state = State::Querying { to, transaction };
    }

    /// Traffic is to go through this network from now on.
    fn redirect(&mut self, to: usize, cause: Cause) {
        let Some(from) = self.at.replace(to) else { return };
        self.state = State::Redirecting { from, cause };
        self.milestones.push_back(Milestone::EntryBegun(to, cause));
        self.milestones.push_back(Milestone::RedirectBegun(to, cause));
        self.commands.push_back(Command::Redirect(to));
    }

    fn give_up(&mut self, to: usize, why: GivenUp) {
        self.milestones.push_back(Milestone::GivenUp(why));
        self.state = State::Waiting { to };
    }

    /// Traffic goes through the new network now.
    pub fn handle_redirected(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        let (State::Redirecting { from, cause }, Some(at)) = (self.state, self.at) else { return };
        self.milestones.push_back(Milestone::Redirected);
        self.state = State::Settled;
        // Nobody waits to hear of a handover that was not agreed on.
        if cause == Cause::Commit {
            let Candidate { link, session } = &self.config.networks[at];
            let tlvs = mn_complete(&self.config.networks[from].link, link);
            let mid = MessageId::MN_HO_COMPLETE_REQUEST;
            let transaction = mihf.request(cx, *session, mid, tlvs, self.config.message_bytes);
            self.completing = Some((at, transaction));
        }
    }

    /// The node's MIHF tells something of one of its sessions.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, event: &Event) {
        match event {
            Event::ResponseReceived { session, number, pdu } => {
                self.handle_response(cx, mihf, *session, *number, pdu);
            }
            Event::TransactionFailed { session, number, reason } => {
                if mihf.still_accepts(*session, *reason) {
                    return;
                }
                match self.state {
                    State::Querying { to, transaction } | State::Committing { to, transaction }
                        if self.serves(*session) && transaction == *number =>
                    {
                        self.give_up(to, GivenUp::Message);
                    }
                    _ => {
                        self.completing.take_if(|&mut (to, transaction)| {
                            self.config.networks[to].session == *session && transaction == *number
                        });
                    }
                }
            }
            Event::RequestReceived { .. } => self.unexpected += 1,
            _ => {}
        }
    }

    /// Whether a session is that with the PoS of the present network.
    fn serves(&self, session: SessionId) -> bool {
        self.at.is_some_and(|at| self.config.networks[at].session == session)
    }

    fn handle_response(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        session: SessionId,
        number: TransactionNumber,
        pdu: &Message,
    ) {
        let completes = |&mut (to, transaction): &mut (usize, TransactionNumber)| {
            self.config.networks[to].session == session && transaction == number
        };
        if self.completing.take_if(completes).is_some() {
            self.milestones.push_back(Milestone::Completed);
            return;
        }
        match self.state {
            State::Querying { to, transaction } if self.serves(session) && transaction == number => {
                self.milestones.push_back(Milestone::ResourcesKnown);
                if !succeeded(pdu) || !named(pdu, &self.config.networks).contains(&to) {
                    return self.give_up(to, GivenUp::NoCandidate);
                }
                self.milestones.push_back(Milestone::CommitAsked(to));
                let tlvs = mn_commit(&self.config.networks[to].link);
                let (mid, bytes) = (MessageId::MN_HO_COMMIT_REQUEST, self.config.message_bytes);
                let transaction = mihf.request(cx, session, mid, tlvs, bytes);
                self.state = State::Committing { to, transaction };
            }
            State::Committing { to, transaction } if self.serves(session) && transaction == number => {
                if succeeded(pdu) {
                    self.milestones.push_back(Milestone::Committed(to));
                    self.redirect(to, Cause::Commit);
                } else {
                    self.give_up(to, GivenUp::NoCandidate);
                }
            }
            _ => self.unexpected += 1,
        }
    }
}
