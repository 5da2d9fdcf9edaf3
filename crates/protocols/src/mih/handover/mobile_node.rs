//! The MIH user at the mobile node.

use super::messages::{
    mn_candidate_query, mn_commit, mn_complete, named, net_candidate_query_response, net_commit_response,
    succeeded,
};
use super::{Candidate, Cause, Command, GivenUp, Initiation, LinkCue, Milestone, Processing};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::number::TransactionNumber;
use crate::mih::wire::link::{LinkTupleId, Status};
use crate::mih::wire::{Message, MessageId};
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// A mobile node's settings.
#[derive(Clone, Debug)]
pub struct MobileNodeConfig {
    /// Who decides.
    pub initiation: Initiation,
    /// The session with the PoS of the network that it uses.
    pub serving: SessionId,
    /// Its link there.
    pub serving_link: LinkTupleId,
    /// The networks that it may go to, the first choice first.
    pub candidates: Vec<Candidate>,
    /// From a request's arrival to its answer, or to the scan that it asks for; a commitment of the network's redirects at once.
    pub processing_time: Span,
    /// Octets of a whole message; `None`: as long as it is.
    pub message_bytes: Option<u32>,
}

/// Where a handover stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is going on.
    Connected,
    /// The interfaces scan; `asked`: for this request of the network's.
    Scanning { asked: Option<TransactionNumber> },
    /// The PoS has been asked for resources.
    Querying(TransactionNumber),
    /// The PoS has been asked for a commitment; `others` come after it.
    Committing { candidate: usize, others: Vec<usize>, transaction: TransactionNumber },
    /// The network knows what was heard, and decides.
    Answered,
    /// There is nothing left but to wait for the link to go down; a commitment for this candidate was given up.
    Waiting { asked_for: Option<usize> },
    /// Traffic is being redirected.
    Redirecting { candidate: usize, cause: Cause },
    /// The new PoS has been told.
    Completing(TransactionNumber),
    /// The new network is in use.
    Done,
}

/// What a request of the network's is answered by, after its processing.
#[derive(Debug)]
enum Work {
    Scan(TransactionNumber),
    AnswerCommit(TransactionNumber, Status),
}

/// The MIH user at the mobile node.
#[derive(Debug)]
pub struct MobileNode {
    config: MobileNodeConfig,
    state: State,
    /// Candidates that the last scan found, by preference.
    heard: Vec<usize>,
    processing: Processing<Work>,
    commands: VecDeque<Command>,
    milestones: VecDeque<Milestone>,
    /// Messages that did not fit to what was going on.
    unexpected: u64,
}

impl MobileNode {
    /// A user of a mobile node that uses its first network.
    pub fn new(config: MobileNodeConfig) -> MobileNode {
        MobileNode {
            processing: Processing::new(config.processing_time),
            config,
            state: State::Connected,
            heard: Vec::new(),
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

    /// When a request's processing is done.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.processing.next()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        self.unexpected
    }

    fn reach(&mut self, milestone: Milestone) {
        self.milestones.push_back(milestone);
    }

    fn give_up(&mut self, why: GivenUp) {
        self.reach(Milestone::GivenUp(why));
        let asked_for = match (why, &self.state) {
            (GivenUp::Message, State::Committing { candidate, .. }) => Some(*candidate),
            _ => None,
        };
        self.state = State::Waiting { asked_for };
    }

    /// Whether the network may have it scan: a decision before may have been taken back.
    fn may_scan(&self) -> bool {
        matches!(self.state, State::Connected | State::Answered | State::Scanning { asked: Some(_) })
    }

    fn link(&self, candidate: usize) -> &LinkTupleId {
        &self.config.candidates[candidate].link
    }

    fn scan(&mut self, asked: Option<TransactionNumber>) {
        self.reach(Milestone::ScanBegun);
        self.state = State::Scanning { asked };
        self.commands.push_back(Command::Scan);
    }

    fn redirect(&mut self, candidate: usize, cause: Cause) {
        self.reach(Milestone::RedirectBegun(candidate, cause));
        self.state = State::Redirecting { candidate, cause };
        self.commands.push_back(Command::Redirect(candidate));
    }

    /// Something happens to the link that is in use.
    pub fn handle_link_event(&mut self, cue: LinkCue) {
        match (cue, &self.state) {
            (LinkCue::GoingDown, State::Connected) if self.config.initiation == Initiation::Mobile => {
                self.reach(Milestone::Started);
                self.scan(None);
            }
            (LinkCue::GoingDown, _) => {}
            // What is being agreed on is kept to. A decision of the network's is the network's to take back.
            (
                LinkCue::Rollback,
                State::Scanning { asked: None } | State::Querying(_) | State::Waiting { .. },
            ) if self.config.initiation == Initiation::Mobile => {
                self.reach(Milestone::GivenUp(GivenUp::Rollback));
                self.state = State::Connected;
            }
            (LinkCue::Rollback, _) => {}
            (LinkCue::Down, State::Redirecting { .. } | State::Completing(_) | State::Done) => {}
            (LinkCue::Down, state) => {
                let agreed = match state {
                    State::Committing { candidate, .. } => Some(*candidate),
                    State::Waiting { asked_for } => *asked_for,
                    _ => None,
                };
                let candidate = agreed.or(self.heard.first().copied()).unwrap_or(0);
                self.redirect(candidate, Cause::LinkDown);
            }
        }
    }

    /// The interfaces have scanned, and found these candidates; those that the scenario names first are preferred.
    pub fn handle_scan(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, heard: &[usize]) {
        let State::Scanning { asked } = self.state else { return };
        self.heard = heard.to_vec();
        self.heard.sort_unstable();
        self.reach(Milestone::ScanDone);
        let links = self.heard.iter().map(|&at| self.link(at));
        let (session, bytes) = (self.config.serving, self.config.message_bytes);
        if let Some(request) = asked {
            let tlvs = net_candidate_query_response(&self.config.serving_link, links);
            mihf.respond(cx, session, request, tlvs, bytes);
            self.state = State::Answered;
        } else if heard.is_empty() {
            self.give_up(GivenUp::NoCandidate);
        } else {
            let tlvs = mn_candidate_query(&self.config.serving_link, links);
            let mid = MessageId::MN_HO_CANDIDATE_QUERY_REQUEST;
            let transaction = mihf.request(cx, session, mid, tlvs, bytes);
            self.state = State::Querying(transaction);
            self.reach(Milestone::ResourcesAsked);
        }
    }

    /// The PoS is asked for the first of these candidates.
    fn commit(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, mut candidates: Vec<usize>) {
        if candidates.is_empty() {
            return self.give_up(GivenUp::NoCandidate);
        }
        let candidate = candidates.remove(0);
        let tlvs = mn_commit(self.link(candidate));
        let (session, bytes) = (self.config.serving, self.config.message_bytes);
        let transaction = mihf.request(cx, session, MessageId::MN_HO_COMMIT_REQUEST, tlvs, bytes);
        self.state = State::Committing { candidate, others: candidates, transaction };
        self.reach(Milestone::CommitAsked(candidate));
    }

    /// Traffic goes through the new network now.
    pub fn handle_redirected(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        let State::Redirecting { candidate, cause } = self.state else { return };
        self.reach(Milestone::Redirected);
        self.state = State::Done;
        // Nobody waits to hear of a handover that was not agreed on.
        if cause == Cause::Commit {
            let tlvs = mn_complete(&self.config.serving_link, self.link(candidate));
            let (session, bytes) = (self.config.candidates[candidate].session, self.config.message_bytes);
            let transaction = mihf.request(cx, session, MessageId::MN_HO_COMPLETE_REQUEST, tlvs, bytes);
            self.state = State::Completing(transaction);
        }
    }

    /// The node's MIHF tells something of one of its sessions.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, event: &Event) {
        match event {
            Event::RequestReceived { session, number, pdu } if *session == self.config.serving => {
                self.handle_request(cx, *number, pdu);
            }
            Event::ResponseReceived { session, number, pdu } => {
                self.handle_response(cx, mihf, *session, *number, pdu);
            }
            Event::TransactionFailed { session, number, .. } => {
                let waits = match self.state {
                    State::Querying(transaction) | State::Committing { transaction, .. } => {
                        (self.config.serving, transaction) == (*session, *number)
                    }
                    _ => false,
                };
                if waits {
                    self.give_up(GivenUp::Message);
                } else if *session == self.config.serving
                    && self.state == State::Connected
                    && self.config.initiation == Initiation::Network
                {
                    self.reach(Milestone::GivenUp(GivenUp::Notice));
                }
            }
            Event::ResponseFailed { session, .. }
                if *session == self.config.serving && self.state == State::Answered =>
            {
                self.reach(Milestone::GivenUp(GivenUp::Response));
            }
            Event::RequestReceived { .. } => self.unexpected += 1,
            _ => {}
        }
    }

    fn handle_request(&mut self, cx: &Context<'_>, number: TransactionNumber, pdu: &Arc<Message>) {
        match pdu.mid {
            MessageId::NET_HO_CANDIDATE_QUERY_REQUEST if self.may_scan() => {
                self.processing.begin(cx.now, Work::Scan(number));
            }
            MessageId::NET_HO_COMMIT_REQUEST => {
                let target = named(pdu, &self.config.candidates).first().copied();
                let free = matches!(self.state, State::Connected | State::Answered | State::Waiting { .. });
                let status = match target.filter(|_| free) {
                    Some(candidate) => {
                        self.reach(Milestone::Committed(candidate));
                        self.redirect(candidate, Cause::Commit);
                        Status::SUCCESS
                    }
                    None => Status::REJECTED,
                };
                self.processing.begin(cx.now, Work::AnswerCommit(number, status));
            }
            _ => self.unexpected += 1,
        }
    }

    fn handle_response(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        session: SessionId,
        number: TransactionNumber,
        pdu: &Arc<Message>,
    ) {
        let serves = session == self.config.serving;
        match &mut self.state {
            State::Querying(transaction) if serves && *transaction == number => {
                self.reach(Milestone::ResourcesKnown);
                let available = if succeeded(pdu) { named(pdu, &self.config.candidates) } else { Vec::new() };
                self.commit(cx, mihf, available);
            }
            State::Committing { candidate, others, transaction } if serves && *transaction == number => {
                let (candidate, others) = (*candidate, std::mem::take(others));
                if succeeded(pdu) {
                    self.reach(Milestone::Committed(candidate));
                    self.redirect(candidate, Cause::Commit);
                } else {
                    self.commit(cx, mihf, others);
                }
            }
            State::Completing(transaction) if *transaction == number => {
                self.state = State::Done;
                self.reach(Milestone::Completed);
            }
            _ => self.unexpected += 1,
        }
    }

    /// Does what is due: the processing of requests.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        while let Some(work) = self.processing.done(cx.now) {
            match work {
                // It scans already, for a decision that was taken back.
                Work::Scan(request) if matches!(self.state, State::Scanning { .. }) => {
                    self.state = State::Scanning { asked: Some(request) };
                }
                // The link may have gone down meanwhile.
                Work::Scan(request) if self.may_scan() => self.scan(Some(request)),
                Work::Scan(_) => self.unexpected += 1,
                Work::AnswerCommit(request, status) => {
                    let (session, bytes) = (self.config.serving, self.config.message_bytes);
                    mihf.respond(cx, session, request, net_commit_response(status), bytes);
                }
            }
        }
    }
}
