//! The MIH user at the point of service of the network that a mobile node leaves.

use super::messages::{
    are_available, links, mn_candidate_query_response, mn_commit_response, n2n_commit, n2n_complete_response,
    named, net_candidate_query, net_commit, query_resources, succeeded,
};
use super::{Candidate, GivenUp, Initiation, Milestone, Processing};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::number::TransactionNumber;
use crate::mih::wire::link::{LinkTupleId, Status};
use crate::mih::wire::{Message, MessageId, MihfId, Tlv};
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// A serving PoS's settings, for one mobile node.
#[derive(Clone, Debug)]
pub struct ServingPosConfig {
    /// Who decides.
    pub initiation: Initiation,
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

/// What another PoS has been asked for, or the mobile node.
#[derive(Debug)]
enum Asked {
    /// Resources, for the mobile node's request or for a decision of its own.
    Resources {
        open: Vec<(SessionId, TransactionNumber)>,
        available: Vec<usize>,
        request: Option<TransactionNumber>,
    },
    /// To scan these.
    Scan { transaction: TransactionNumber, available: Vec<usize> },
    /// A commitment; `others` come after it.
    Commit {
        session: SessionId,
        transaction: TransactionNumber,
        candidate: usize,
        others: Vec<usize>,
        request: Option<TransactionNumber>,
    },
    /// To go there.
    Go { transaction: TransactionNumber },
}

impl Asked {
    fn waits_for(&self, of: (SessionId, TransactionNumber), mobile_node: SessionId) -> bool {
        match self {
            Asked::Resources { open, .. } => open.contains(&of),
            Asked::Commit { session, transaction, .. } => (*session, *transaction) == of,
            Asked::Scan { transaction, .. } | Asked::Go { transaction } => (mobile_node, *transaction) == of,
        }
    }
}

/// The MIH user at the PoS of the network that the mobile node uses.
#[derive(Debug)]
pub struct ServingPos {
    config: ServingPosConfig,
    processing: Processing<Work>,
    asked: Vec<Asked>,
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
            config,
            asked: Vec::new(),
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

    /// When a request's processing is done.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.processing.next()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        self.unexpected
    }

    fn links_of(&self, candidates: &[usize]) -> Vec<&LinkTupleId> {
        candidates.iter().map(|&at| &self.config.candidates[at].link).collect()
    }

    fn ask_mobile_node(
        &self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        mid: MessageId,
        tlvs: Arc<[Tlv]>,
    ) -> TransactionNumber {
        mihf.request(cx, self.config.mobile_node, mid, tlvs, self.config.message_bytes)
    }

    fn answer_mobile_node(
        &self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        request: TransactionNumber,
        tlvs: Arc<[Tlv]>,
    ) {
        mihf.respond(cx, self.config.mobile_node, request, tlvs, self.config.message_bytes);
    }

    /// The mobile node's link is going down, by what the PoS sees itself or was told: it decides, once.
    pub fn handle_link_going_down(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        if self.config.initiation != Initiation::Network || std::mem::replace(&mut self.decided, true) {
            return;
        }
        self.milestones.push_back(Milestone::Started);
        self.milestones.push_back(Milestone::ResourcesAsked);
        let all = (0..self.config.candidates.len()).collect();
        self.ask_for_resources(cx, mihf, all, None);
    }

    /// The mobile node's link is not going down any more: unless a commitment is being asked for, or the mobile node has been
    /// told to go, the next event decides anew.
    pub fn handle_rollback(&mut self) {
        let commits = |asked: &Asked| matches!(asked, Asked::Commit { request: None, .. });
        if self.decided && !self.told && !self.asked.iter().any(commits) {
            self.asked.retain(|asked| {
                !matches!(asked, Asked::Resources { request: None, .. } | Asked::Scan { .. })
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
            let Candidate { link, session } = &self.config.candidates[candidate];
            let mid = MessageId::N2N_HO_QUERY_RESOURCES_REQUEST;
            let transaction =
                mihf.request(cx, *session, mid, query_resources(link), self.config.message_bytes);
            open.push((*session, transaction));
        }
        let none = open.is_empty();
        self.asked.push(Asked::Resources { open, available: Vec::new(), request });
        if none {
            self.close_resources(cx, mihf, self.asked.len() - 1);
        }
    }

    /// All that were asked for resources have answered, or never will.
    fn close_resources(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, at: usize) {
        let Asked::Resources { mut available, request, .. } = self.asked.remove(at) else { return };
        available.sort_unstable();
        if let Some(request) = request {
            let tlvs = mn_candidate_query_response(&self.config.serving_link, self.links_of(&available));
            return self.answer_mobile_node(cx, mihf, request, tlvs);
        }
        self.milestones.push_back(Milestone::ResourcesKnown);
        if available.is_empty() {
            self.milestones.push_back(Milestone::GivenUp(GivenUp::NoCandidate));
            return;
        }
        let tlvs = net_candidate_query(self.links_of(&available));
        let mid = MessageId::NET_HO_CANDIDATE_QUERY_REQUEST;
        let transaction = self.ask_mobile_node(cx, mihf, mid, tlvs);
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
        let Candidate { link, session } = &self.config.candidates[candidate];
        let tlvs = n2n_commit(&self.config.mobile_node_id, link);
        let session = *session;
        let transaction =
            mihf.request(cx, session, MessageId::N2N_HO_COMMIT_REQUEST, tlvs, self.config.message_bytes);
        if request.is_none() {
            self.milestones.push_back(Milestone::CommitAsked(candidate));
        }
        self.asked.push(Asked::Commit { session, transaction, candidate, others: candidates, request });
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
                self.handle_link_going_down(cx, mihf);
            }
            Event::ResponseReceived { session, number, pdu } => {
                self.handle_end(cx, mihf, (*session, *number), Some(pdu));
            }
            Event::TransactionFailed { session, number, .. } => {
                self.handle_end(cx, mihf, (*session, *number), None);
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

    /// A transaction of its own has ended: by a response, or given up.
    fn handle_end(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        of: (SessionId, TransactionNumber),
        response: Option<&Arc<Message>>,
    ) {
        let mobile_node = self.config.mobile_node;
        let Some(at) = self.asked.iter().position(|asked| asked.waits_for(of, mobile_node)) else {
            self.unexpected += u64::from(response.is_some());
            return;
        };
        if let Asked::Resources { open, available, .. } = &mut self.asked[at] {
            open.retain(|other| *other != of);
            if response.is_some_and(|pdu| are_available(pdu)) {
                let found = self.config.candidates.iter().position(|candidate| candidate.session == of.0);
                available.extend(found);
            }
            if open.is_empty() {
                self.close_resources(cx, mihf, at);
            }
            return;
        }
        match (self.asked.remove(at), response) {
            (Asked::Scan { available, .. }, Some(pdu)) => {
                let heard = named(pdu, &self.config.candidates);
                let both = heard.into_iter().filter(|candidate| available.contains(candidate)).collect();
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
                    let tlvs = net_commit(&self.config.candidates[candidate].link);
                    let mid = MessageId::NET_HO_COMMIT_REQUEST;
                    let transaction = self.ask_mobile_node(cx, mihf, mid, tlvs);
                    self.told = true;
                    self.asked.push(Asked::Go { transaction });
                } else {
                    self.ask_for_commitment(cx, mihf, others, None);
                }
            }
            (Asked::Scan { .. } | Asked::Go { .. }, None) => {
                self.milestones.push_back(Milestone::GivenUp(GivenUp::Message));
            }
            (Asked::Go { .. }, Some(_)) | (Asked::Resources { .. }, _) => {}
        }
    }

    /// Does what is due: the processing of requests.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
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
