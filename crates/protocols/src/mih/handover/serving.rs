//! The MIH user at the point of service of the network that a mobile node leaves.

use super::messages::{
    declines, free_places, links, mn_candidate_query_response, mn_commit_response, n2n_commit, n2n_complete,
    n2n_complete_response, named, net_candidate_query, net_commit, query_resources, succeeded, time_interval,
};
use super::policy::{Choice, Policy, Repeated, Then};
use super::{Candidate, GivenUp, Initiation, Milestone, Processing, Trigger};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::number::TransactionNumber;
use crate::mih::wire::handover::HandoverResult;
use crate::mih::wire::link::{LinkTupleId, Status};
use crate::mih::wire::{Message, MessageId, MihfId, Tlvs};
use roamsim_engine::{Span, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

/// A serving PoS's settings, for one mobile node.
#[derive(Clone, Debug)]
pub struct ServingPosConfig {
    /// Who decides.
    pub initiation: Initiation,
    /// What is left to it.
    pub policy: Policy,
    /// The session with the mobile node.
    pub mobile_node: SessionId,
    /// The mobile node's name.
    pub mobile_node_id: MihfId,
    /// The mobile node's link here.
    pub serving_link: LinkTupleId,
    /// The networks that it may go to, the first choice first, with the sessions with their PoS.
    pub candidates: Vec<Candidate>,
    /// From a request's arrival to what is done about it.
    pub processing_time: Span,
    /// Octets of a whole message; `None`: as long as it is.
    pub message_bytes: Option<u32>,
}

/// A request whose processing takes its time.
#[derive(Debug)]
enum Work {
    /// The mobile node asks for the resources of these candidates.
    Query { request: TransactionNumber, candidates: Vec<usize> },
    /// The mobile node asks for this candidate; `None`: for one that nobody knows.
    Commit { request: TransactionNumber, candidate: Option<usize> },
    /// The PoS of this session tells that the handover is complete.
    Complete { session: SessionId, request: TransactionNumber, old: LinkTupleId, new: LinkTupleId },
}

/// A candidate that has resources.
#[derive(Clone, Copy, Debug)]
struct Available {
    candidate: usize,
    /// For how many mobile nodes.
    places: u32,
}

/// A transaction of one of its sessions.
type Request = (SessionId, TransactionNumber);

/// What another PoS has been asked for, or the mobile node.
#[derive(Debug)]
enum Asked {
    /// Resources, for the mobile node's request or for a decision of its own.
    Resources {
        open: Vec<Request>,
        /// Those that were given up, and may still be answered.
        late: Vec<Request>,
        available: Vec<Available>,
        request: Option<TransactionNumber>,
    },
    /// To scan these.
    Scan { transaction: TransactionNumber, available: Vec<Available> },
    /// A commitment; `others` come after it. `late`: it was given up, and may still be answered.
    Commit {
        session: SessionId,
        transaction: TransactionNumber,
        candidate: usize,
        others: Vec<usize>,
        request: Option<TransactionNumber>,
        late: bool,
    },
    /// To go there.
    Go { transaction: TransactionNumber, candidate: usize },
    /// To take a place back, as the mobile node does not come.
    TakeBack { session: SessionId, transaction: TransactionNumber },
}

impl Asked {
    fn waits_for(&self, of: Request, mobile_node: SessionId) -> bool {
        match self {
            Asked::Resources { open, late, .. } => open.contains(&of) || late.contains(&of),
            Asked::Commit { session, transaction, .. } | Asked::TakeBack { session, transaction } => {
                (*session, *transaction) == of
            }
            Asked::Scan { transaction, .. } | Asked::Go { transaction, .. } => {
                (mobile_node, *transaction) == of
            }
        }
    }
}

/// The MIH user at the PoS of the network that the mobile node uses.
#[derive(Debug)]
pub struct ServingPos {
    config: ServingPosConfig,
    processing: Processing<Work>,
    asked: Vec<Asked>,
    /// When it acts upon Link_Going_Down.
    acts_at: Option<Time>,
    /// Requests whose answers are not waited for without end.
    unanswered: Processing<Request>,
    repeated: Repeated<Request>,
    /// A decision of its own is being carried out, or has been.
    decided: bool,
    /// The mobile node has been told to go.
    told: bool,
    milestones: VecDeque<Milestone>,
    unexpected: u64,
}

impl ServingPos {
    /// A user that has heard nothing yet.
    pub fn new(config: ServingPosConfig) -> ServingPos {
        ServingPos {
            processing: Processing::new(config.processing_time),
            unanswered: Processing::new(config.policy.no_answer.map_or(Span::ZERO, |policy| policy.after)),
            config,
            asked: Vec::new(),
            acts_at: None,
            repeated: Repeated::default(),
            decided: false,
            told: false,
            milestones: VecDeque::new(),
            unexpected: 0,
        }
    }

    /// What a handover that it decided on has come to, at this instant.
    pub fn poll_milestone(&mut self) -> Option<Milestone> {
        self.milestones.pop_front()
    }

    /// When it has something to do by itself: a request's processing is done, an answer has not come, a link
    /// is to be acted upon.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.processing.next(), self.unanswered.next(), self.acts_at].into_iter().flatten().min()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        self.unexpected
    }

    fn links_of(&self, candidates: &[usize]) -> Vec<&LinkTupleId> {
        candidates.iter().map(|&at| &self.config.candidates[at].link).collect()
    }

    /// Makes a request.
    fn ask(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        session: SessionId,
        mid: MessageId,
        tlvs: Tlvs,
    ) -> TransactionNumber {
        let transaction = mihf.request(cx, session, mid, tlvs, self.config.message_bytes);
        if self.config.policy.no_answer.is_some() {
            self.unanswered.begin(cx.now, (session, transaction));
        }
        transaction
    }

    fn ask_to_scan(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        available: &[Available],
    ) -> TransactionNumber {
        let candidates: Vec<usize> = available.iter().map(|available| available.candidate).collect();
        let tlvs = net_candidate_query(self.links_of(&candidates));
        self.ask(cx, mihf, self.config.mobile_node, MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, tlvs)
    }

    fn ask_to_go(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, candidate: usize) -> TransactionNumber {
        let tlvs = net_commit(&self.config.candidates[candidate].link);
        self.ask(cx, mihf, self.config.mobile_node, MessageId::NET_HO_COMMIT_REQUEST, tlvs)
    }

    fn ask_for_resources_of(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, candidate: usize) -> Request {
        let Candidate { link, session } = &self.config.candidates[candidate];
        let (session, tlvs) = (*session, query_resources(link));
        (session, self.ask(cx, mihf, session, MessageId::N2N_HO_QUERY_RESOURCES_REQUEST, tlvs))
    }

    fn ask_for(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, candidate: usize) -> Request {
        let Candidate { link, session } = &self.config.candidates[candidate];
        let (session, tlvs) = (*session, n2n_commit(&self.config.mobile_node_id, link));
        (session, self.ask(cx, mihf, session, MessageId::N2N_HO_COMMIT_REQUEST, tlvs))
    }

    /// The mobile node does not go there.
    fn give_back(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, candidate: usize) {
        let Candidate { link, session } = &self.config.candidates[candidate];
        let ServingPosConfig { mobile_node_id, serving_link, message_bytes, .. } = &self.config;
        let tlvs = n2n_complete(mobile_node_id, serving_link, link, HandoverResult::REJECTED);
        let session = *session;
        let mid = MessageId::N2N_HO_COMPLETE_REQUEST;
        let transaction = mihf.request(cx, session, mid, tlvs, *message_bytes);
        self.asked.push(Asked::TakeBack { session, transaction });
    }

    fn candidate_of(&self, session: SessionId) -> Option<usize> {
        self.config.candidates.iter().position(|candidate| candidate.session == session)
    }

    fn answer_mobile_node(
        &self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        request: TransactionNumber,
        tlvs: Tlvs,
    ) {
        mihf.respond(cx, self.config.mobile_node, request, tlvs, self.config.message_bytes);
    }

    /// The mobile node's link is going down, within a time, by what the PoS sees itself or was told: it
    /// decides, once.
    pub fn handle_link_going_down(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, within: Span) {
        if self.config.initiation.by_network() && !self.decided {
            self.acts_at = self.config.policy.act_on.due(cx.now, within);
            if self.acts_at == Some(cx.now) {
                self.act(cx, mihf);
            }
        }
    }

    fn act(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        self.acts_at = None;
        self.decided = true;
        self.milestones.push_back(Milestone::Started(Trigger::GoingDown));
        self.milestones.push_back(Milestone::ResourcesAsked);
        let all = (0..self.config.candidates.len()).collect();
        self.ask_for_resources(cx, mihf, all, None);
    }

    /// The mobile node's link is not going down any more, by what the PoS sees itself or was told: unless a
    /// commitment is being asked for, or the mobile node has been told to go, the next event decides anew.
    pub fn handle_rollback(&mut self) {
        self.acts_at = None;
        let commits = |asked: &Asked| matches!(asked, Asked::Commit { request: None, late: false, .. });
        if self.decided && !self.told && !self.asked.iter().any(commits) {
            self.asked.retain(|asked| {
                !matches!(
                    asked,
                    Asked::Resources { request: None, .. }
                        | Asked::Scan { .. }
                        | Asked::Commit { request: None, .. }
                        | Asked::Go { .. }
                )
            });
            self.decided = false;
            self.milestones.push_back(Milestone::GivenUp(GivenUp::Rollback));
        }
    }

    fn ask_for_resources(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        candidates: Vec<usize>,
        request: Option<TransactionNumber>,
    ) {
        let mut open = Vec::new();
        for candidate in candidates {
            open.push(self.ask_for_resources_of(cx, mihf, candidate));
        }
        let none = open.is_empty();
        self.asked.push(Asked::Resources { open, late: Vec::new(), available: Vec::new(), request });
        if none {
            self.close_resources(cx, mihf, self.asked.len() - 1);
        }
    }

    /// All that were asked for resources have answered, or were given up. Where none has any, those that may
    /// still answer are waited for.
    fn close_resources(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, at: usize) {
        if let Asked::Resources { late, available, request, .. } = &self.asked[at]
            && available.is_empty()
            && !late.is_empty()
        {
            if request.is_none() {
                self.milestones.push_back(Milestone::GivenUp(GivenUp::Message));
            }
            return;
        }
        let Asked::Resources { mut available, request, .. } = self.asked.remove(at) else { return };
        available.sort_unstable_by_key(|available| available.candidate);
        if self.config.policy.choice == Choice::FreeCapacity {
            available.sort_by_key(|available| Reverse(available.places));
        }
        if let Some(request) = request {
            let candidates: Vec<usize> = available.iter().map(|available| available.candidate).collect();
            let tlvs = mn_candidate_query_response(&self.config.serving_link, self.links_of(&candidates));
            return self.answer_mobile_node(cx, mihf, request, tlvs);
        }
        self.milestones.push_back(Milestone::ResourcesKnown);
        if available.is_empty() {
            self.milestones.push_back(Milestone::GivenUp(GivenUp::NoCandidate));
            return;
        }
        let transaction = self.ask_to_scan(cx, mihf, &available);
        self.asked.push(Asked::Scan { transaction, available });
    }

    /// The PoS of the first of these candidates is asked for a commitment.
    fn ask_for_commitment(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        mut candidates: Vec<usize>,
        request: Option<TransactionNumber>,
    ) {
        if candidates.is_empty() {
            self.milestones.push_back(Milestone::GivenUp(GivenUp::NoCandidate));
            return;
        }
        let candidate = candidates.remove(0);
        let (session, transaction) = self.ask_for(cx, mihf, candidate);
        if request.is_none() {
            self.milestones.push_back(Milestone::CommitAsked(candidate));
        }
        let others = candidates;
        self.asked.push(Asked::Commit { session, transaction, candidate, others, request, late: false });
    }

    /// The node's MIHF tells something of one of its sessions.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, event: &Event) {
        match event {
            Event::RequestReceived { session, number, pdu } => {
                self.handle_request(cx.now, *session, *number, pdu);
            }
            Event::IndicationReceived { session, pdu, .. }
                if *session == self.config.mobile_node
                    && pdu.mid == MessageId::LINK_GOING_DOWN_INDICATION =>
            {
                self.handle_link_going_down(cx, mihf, time_interval(pdu));
            }
            // It has come back: whatever was decided before is over, and nobody answers what is still open.
            // Its first registration, which may be repeated amid a handover, says nothing.
            Event::PeerRegistered { session, again: true, .. } if *session == self.config.mobile_node => {
                (self.decided, self.told, self.acts_at) = (false, false, None);
                self.asked.clear();
            }
            // It reports upon one crossing alone: that of the threshold of Link_Going_Down, upward.
            Event::IndicationReceived { session, pdu, .. }
                if *session == self.config.mobile_node
                    && pdu.mid == MessageId::LINK_PARAMETERS_REPORT_INDICATION =>
            {
                self.handle_rollback();
            }
            Event::ResponseReceived { session, number, pdu } => {
                self.handle_end(cx, mihf, (*session, *number), Some(pdu), false);
            }
            Event::TransactionFailed { session, number, reason } => {
                let late = mihf.still_accepts(*session, *reason);
                self.handle_end(cx, mihf, (*session, *number), None, late);
            }
            Event::ResponseFailed { session, .. } if *session == self.config.mobile_node => {
                self.milestones.push_back(Milestone::GivenUp(GivenUp::Response));
            }
            _ => {}
        }
    }

    fn handle_request(&mut self, now: Time, session: SessionId, request: TransactionNumber, pdu: &Message) {
        let from_mobile_node = session == self.config.mobile_node;
        let candidates = named(pdu, &self.config.candidates);
        let work = match pdu.mid {
            MessageId::MN_HO_CANDIDATE_QUERY_REQUEST if from_mobile_node => {
                Some(Work::Query { request, candidates })
            }
            MessageId::MN_HO_COMMIT_REQUEST if from_mobile_node => {
                Some(Work::Commit { request, candidate: candidates.first().copied() })
            }
            MessageId::N2N_HO_COMPLETE_REQUEST if !from_mobile_node => {
                links(pdu).map(|(old, new)| Work::Complete { session, request, old, new })
            }
            _ => None,
        };
        match work {
            Some(work) => self.processing.begin(now, work),
            None => self.unexpected += 1,
        }
    }

    /// A transaction of its own has ended: by a response, or given up; `late`: a response to it is still
    /// accepted. With another candidate it goes on without it.
    fn handle_end(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        of: Request,
        response: Option<&Arc<Message>>,
        late: bool,
    ) {
        if response.is_none() && self.repeated.was(of) {
            return;
        }
        let of = self.repeated.last(of);
        let mobile_node = self.config.mobile_node;
        let Some(at) = self.asked.iter().position(|asked| asked.waits_for(of, mobile_node)) else {
            self.unexpected += u64::from(response.is_some());
            return;
        };
        if let Asked::Resources { open, late: given_up, available, .. } = &mut self.asked[at] {
            open.retain(|other| *other != of);
            given_up.retain(|other| *other != of);
            given_up.extend(late.then_some(of));
            let found = self.config.candidates.iter().position(|candidate| candidate.session == of.0);
            let places = response.map_or(0, |pdu| free_places(pdu));
            available.extend(found.filter(|_| places > 0).map(|candidate| Available { candidate, places }));
            if open.is_empty() {
                self.close_resources(cx, mihf, at);
            }
            return;
        }
        // Of what the mobile node waits for, the mobile node has the milestones.
        let mut by_itself = true;
        let stays = late
            && match &mut self.asked[at] {
                Asked::Scan { .. } => true,
                Asked::Go { .. } => {
                    self.told = false;
                    true
                }
                Asked::Commit { others, request, late, .. } if others.is_empty() => {
                    by_itself = request.is_none();
                    *late = true;
                    true
                }
                Asked::Commit { .. } | Asked::Resources { .. } | Asked::TakeBack { .. } => false,
            };
        if stays {
            if by_itself {
                self.milestones.push_back(Milestone::GivenUp(GivenUp::Message));
            }
            return;
        }
        match (self.asked.remove(at), response) {
            // It prepares a handover itself.
            (Asked::Scan { .. }, Some(pdu)) if declines(pdu) => self.decided = false,
            (Asked::Scan { available, .. }, Some(pdu)) => {
                // In the order in which the mobile node prefers them, or of those with room.
                let heard = named(pdu, &self.config.candidates);
                let available: Vec<usize> = available.iter().map(|available| available.candidate).collect();
                let (first, second) = match self.config.policy.choice {
                    Choice::FreeCapacity => (available, heard),
                    Choice::Order | Choice::Signal => (heard, available),
                };
                let both = first.into_iter().filter(|candidate| second.contains(candidate)).collect();
                self.ask_for_commitment(cx, mihf, both, None);
            }
            (Asked::Commit { candidate, request: Some(request), .. }, response) => {
                let agreed = response.is_some_and(|pdu| succeeded(pdu));
                let status = if agreed { Status::SUCCESS } else { Status::REJECTED };
                let tlvs = mn_commit_response(status, &self.config.candidates[candidate].link);
                self.answer_mobile_node(cx, mihf, request, tlvs);
            }
            (Asked::Commit { candidate, others, request: None, .. }, response) => {
                if response.is_some_and(|pdu| succeeded(pdu)) {
                    let transaction = self.ask_to_go(cx, mihf, candidate);
                    self.told = true;
                    self.asked.push(Asked::Go { transaction, candidate });
                } else {
                    self.ask_for_commitment(cx, mihf, others, None);
                }
            }
            (Asked::Scan { .. } | Asked::Go { .. }, None) => {
                self.told = false;
                self.milestones.push_back(Milestone::GivenUp(GivenUp::Message));
            }
            (Asked::Go { candidate, .. }, Some(pdu)) if !succeeded(pdu) => {
                (self.decided, self.told) = (false, false);
                self.give_back(cx, mihf, candidate);
            }
            (Asked::Go { .. }, Some(_)) | (Asked::Resources { .. } | Asked::TakeBack { .. }, _) => {}
        }
    }

    /// A request was not answered in the time that its answer is waited for.
    fn handle_no_answer(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, of: Request) {
        let mobile_node = self.config.mobile_node;
        let Some(policy) = self.config.policy.no_answer else { return };
        let Some(at) = self.asked.iter().position(|asked| asked.waits_for(of, mobile_node)) else { return };
        if policy.then != Then::Repeat {
            return self.handle_end(cx, mihf, of, None, false);
        }
        let last = match &self.asked[at] {
            Asked::Resources { .. } => match self.candidate_of(of.0) {
                Some(candidate) => self.ask_for_resources_of(cx, mihf, candidate),
                None => return,
            },
            Asked::Scan { available, .. } => {
                let available = available.clone();
                (mobile_node, self.ask_to_scan(cx, mihf, &available))
            }
            &Asked::Commit { candidate, .. } => self.ask_for(cx, mihf, candidate),
            &Asked::Go { candidate, .. } => (mobile_node, self.ask_to_go(cx, mihf, candidate)),
            Asked::TakeBack { .. } => return,
        };
        self.repeated.anew(of, last);
        match &mut self.asked[at] {
            Asked::Resources { open, late, .. } => {
                open.iter_mut().chain(late).filter(|open| **open == of).for_each(|open| *open = last);
            }
            Asked::Scan { transaction, .. }
            | Asked::Commit { transaction, .. }
            | Asked::Go { transaction, .. }
            | Asked::TakeBack { transaction, .. } => *transaction = last.1,
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        if self.acts_at.is_some_and(|at| at <= cx.now) {
            self.act(cx, mihf);
        }
        while let Some(request) = self.unanswered.done(cx.now) {
            self.handle_no_answer(cx, mihf, request);
        }
        while let Some(work) = self.processing.done(cx.now) {
            match work {
                Work::Query { request, candidates } => {
                    self.ask_for_resources(cx, mihf, candidates, Some(request));
                }
                Work::Commit { request, candidate: Some(candidate) } => {
                    self.ask_for_commitment(cx, mihf, vec![candidate], Some(request));
                }
                Work::Commit { request, candidate: None } => {
                    let tlvs = mn_commit_response(Status::REJECTED, &self.config.serving_link);
                    self.answer_mobile_node(cx, mihf, request, tlvs);
                }
                Work::Complete { session, request, old, new } => {
                    let tlvs = n2n_complete_response(&self.config.mobile_node_id, &old, &new);
                    mihf.respond(cx, session, request, tlvs, self.config.message_bytes);
                }
            }
        }
    }
}
