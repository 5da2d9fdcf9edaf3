//! The MIH user at the mobile node.

use super::messages::{
    mn_candidate_query, mn_commit, mn_complete, named, net_candidate_query_response, net_commit_response,
    succeeded,
};
use super::policy::{ActOn, Choice, Entry, OldLink, Policy, Repeated, Then};
use super::{
    Candidate, CandidateCue, Cause, Command, GivenUp, Initiation, LinkCue, Milestone, Processing, Trigger,
};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::number::TransactionNumber;
use crate::mih::wire::handover::HandoverStatus;
use crate::mih::wire::link::{LinkTupleId, Status};
use crate::mih::wire::{Message, MessageId};
use roamsim_engine::{Span, Time};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// How long after its last message the link to the old network is given up where it is not kept until traffic
/// is redirected (chosen: the acknowledgement of the commitment leaves in that time).
pub const DISCONNECT_DELAY: Span = Span::from_ms(10);

/// A mobile node's settings.
#[derive(Clone, Debug)]
pub struct MobileNodeConfig {
    /// Who decides.
    pub initiation: Initiation,
    /// What is left to it.
    pub policy: Policy,
    /// The session with the PoS of the network that it uses.
    pub serving: SessionId,
    /// Its link there.
    pub serving_link: LinkTupleId,
    /// The networks that it may go to, the first choice first.
    pub candidates: Vec<Candidate>,
    /// From a request's arrival to its answer, or to the scan that it asks for; a commitment of the network's
    /// redirects at once.
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
    /// There is nothing left but to wait for the link to go down; a commitment for this candidate was given
    /// up. `heeds`: where it stood when its request was given up, to which an answer may still come.
    Waiting { asked_for: Option<usize>, heeds: Option<Box<State>> },
    /// The old link is given up before the new one is used; `at` is when, once the network has its answer.
    Breaking { candidate: usize, at: Option<Time> },
    /// The link of the new network comes up.
    Entering { candidate: usize, cause: Cause },
    /// Traffic is being redirected.
    Redirecting { candidate: usize, cause: Cause },
    /// The new PoS has been told.
    Completing { candidate: usize, transaction: TransactionNumber },
    /// The new network is in use.
    Done { candidate: usize },
}

impl State {
    /// The request to the PoS that it waits for.
    fn waits_for(&self) -> Option<TransactionNumber> {
        match self {
            State::Querying(transaction) | State::Committing { transaction, .. } => Some(*transaction),
            _ => None,
        }
    }
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
    /// Candidates that its links have detected.
    detected: BTreeSet<usize>,
    /// Those whose links are up, and [`MobileNode::home`] while that of the network is that it leaves.
    up: BTreeSet<usize>,
    /// When it acts upon Link_Going_Down.
    acts_at: Option<Time>,
    processing: Processing<Work>,
    /// Requests whose answers are not waited for without end.
    unanswered: Processing<TransactionNumber>,
    repeated: Repeated<TransactionNumber>,
    /// By which the network is told that the link is going down.
    notice: Option<TransactionNumber>,
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
            unanswered: Processing::new(config.policy.no_answer.map_or(Span::ZERO, |policy| policy.after)),
            config,
            state: State::Connected,
            heard: Vec::new(),
            detected: BTreeSet::new(),
            up: BTreeSet::new(),
            acts_at: None,
            repeated: Repeated::default(),
            notice: None,
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

    /// When it has something to do by itself: a request's processing is done, an answer has not come, a link
    /// is to be acted upon.
    pub fn poll_timeout(&self) -> Option<Time> {
        let breaks = if let State::Breaking { at, .. } = self.state { at } else { None };
        [self.processing.next(), self.unanswered.next(), self.acts_at, breaks].into_iter().flatten().min()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        self.unexpected
    }

    /// The network that it has left, as the target of a redirection: behind the candidates.
    pub fn home(&self) -> usize {
        self.config.candidates.len()
    }

    fn reach(&mut self, milestone: Milestone) {
        self.milestones.push_back(milestone);
    }

    /// Nothing more is done; with `heeds`, unless the answer to the last request comes.
    fn give_up(&mut self, why: GivenUp, heeds: bool) {
        self.reach(Milestone::GivenUp(why));
        let asked_for = match (why, &self.state) {
            (GivenUp::Message | GivenUp::NoAnswer, State::Committing { candidate, .. }) => Some(*candidate),
            _ => None,
        };
        let before = std::mem::replace(&mut self.state, State::Connected);
        self.state = State::Waiting { asked_for, heeds: heeds.then(|| Box::new(before)) };
    }

    /// The network is told by this indication that the link is going down.
    pub fn handle_notice(&mut self, indication: TransactionNumber) {
        self.notice = Some(indication);
    }

    /// Whether the network may have it scan: a decision before may have been taken back, or its own come to
    /// nothing.
    fn may_scan(&self) -> bool {
        matches!(
            self.state,
            State::Connected | State::Answered | State::Waiting { .. } | State::Scanning { asked: Some(_) }
        )
    }

    /// Whether it prepares a handover by itself.
    fn prepares(&self) -> bool {
        matches!(self.state, State::Scanning { asked: None } | State::Querying(_) | State::Committing { .. })
    }

    fn link(&self, candidate: usize) -> &LinkTupleId {
        self.config.candidates.get(candidate).map_or(&self.config.serving_link, |candidate| &candidate.link)
    }

    /// It decides to prepare a handover.
    fn act(&mut self, upon: Trigger) {
        self.acts_at = None;
        if self.state == State::Connected {
            self.reach(Milestone::Started(upon));
            self.scan(None);
        }
    }

    fn act_on_candidates(&mut self) {
        let detects = self.config.policy.act_on == ActOn::Detected && self.config.initiation.by_mobile_node();
        if let Some(&first) = self.detected.first()
            && detects
            && self.up.contains(&self.home())
        {
            self.act(Trigger::Detected(first));
        }
    }

    fn scan(&mut self, asked: Option<TransactionNumber>) {
        self.reach(Milestone::ScanBegun);
        self.state = State::Scanning { asked };
        self.commands.push_back(Command::Scan);
    }

    /// Traffic is to go through this network: once its link is up.
    fn redirect(&mut self, candidate: usize, cause: Cause) {
        self.acts_at = None;
        self.reach(Milestone::EntryBegun(candidate, cause));
        self.state = State::Entering { candidate, cause };
        self.commands.push_back(Command::Enter(candidate));
        self.enter();
    }

    /// Traffic is led through the network that it enters if its link is up.
    fn enter(&mut self) {
        let State::Entering { candidate, cause } = self.state else { return };
        if self.up.contains(&candidate) {
            self.reach(Milestone::RedirectBegun(candidate, cause));
            self.state = State::Redirecting { candidate, cause };
            self.commands.push_back(Command::Redirect(candidate));
        }
    }

    /// The handover is agreed on. Who breaks before he makes has left the old network when the network has
    /// its answer.
    fn agree(&mut self, now: Time, candidate: usize, answered: bool) {
        self.reach(Milestone::Committed(candidate));
        if self.config.policy.old_link == OldLink::UntilCommitted {
            let at = answered.then(|| now + DISCONNECT_DELAY);
            self.state = State::Breaking { candidate, at };
        } else {
            self.redirect(candidate, Cause::Commit);
        }
    }

    /// The old link is given up if it is kept until now, or no longer.
    fn part(&mut self, kept: &[OldLink]) {
        if kept.contains(&self.config.policy.old_link) {
            self.commands.push_back(Command::Leave(self.home()));
        }
    }

    /// Whether a network is there: its link is up, or it is heard.
    fn reaches(&self, network: usize) -> bool {
        self.up.contains(&network) || self.detected.contains(&network)
    }

    fn other_up(&self) -> Option<usize> {
        self.up.iter().copied().find(|&other| other != self.home())
    }

    /// Where to go without an agreement: where it was `agreed`, or to the first that the scan found, of those
    /// that are there; else to whoever is there; else to whom it would have gone, in case he comes back.
    fn refuge(&self, agreed: Option<usize>) -> usize {
        let mut preferred = agreed.into_iter().chain(self.heard.iter().copied());
        preferred
            .clone()
            .find(|&candidate| self.reaches(candidate))
            .or_else(|| self.other_up())
            .or_else(|| self.detected.first().copied())
            .or_else(|| preferred.next())
            .unwrap_or(0)
    }

    /// Something happens to the link to the network that it leaves.
    pub fn handle_link_event(&mut self, now: Time, cue: LinkCue) {
        match cue {
            LinkCue::Up => {
                self.handle_up(self.home());
                self.act_on_candidates();
            }
            LinkCue::GoingDown { within } => {
                if self.config.initiation.by_mobile_node() && self.state == State::Connected {
                    self.acts_at = self.config.policy.act_on.due(now, within);
                    if self.acts_at == Some(now) {
                        self.act(Trigger::GoingDown);
                    }
                }
            }
            LinkCue::Rollback => {
                self.acts_at = None;
                // What is being agreed on is kept to. A decision of the network's is the network's to take
                // back.
                let may = matches!(
                    self.state,
                    State::Scanning { asked: None } | State::Querying(_) | State::Waiting { .. }
                );
                let upon_going_down = matches!(self.config.policy.act_on, ActOn::GoingDown { .. });
                if may && upon_going_down && self.config.initiation.by_mobile_node() {
                    self.reach(Milestone::GivenUp(GivenUp::Rollback));
                    self.state = State::Connected;
                }
            }
            LinkCue::Crossed => {
                let acts =
                    self.config.policy.act_on == ActOn::Crossed && self.config.initiation.by_mobile_node();
                // What came to nothing before is tried anew.
                if acts && matches!(self.state, State::Waiting { .. }) {
                    self.state = State::Connected;
                }
                if acts {
                    self.act(Trigger::Crossed);
                }
            }
            LinkCue::Down => {
                self.up.remove(&self.home());
                self.acts_at = None;
                self.handle_old_link_down();
            }
        }
    }

    fn handle_old_link_down(&mut self) {
        let agreed = match &self.state {
            // Who is out of reach may never come up; who comes back waits for whoever is there first.
            State::Entering { candidate, .. } => {
                if *candidate == self.home() || self.refuge(Some(*candidate)) == *candidate {
                    return;
                }
                Some(*candidate)
            }
            State::Redirecting { candidate, .. } if *candidate == self.home() => None,
            State::Redirecting { .. } | State::Completing { .. } | State::Done { .. } => return,
            // It breaks by itself.
            State::Breaking { candidate, .. } => return self.redirect(*candidate, Cause::Commit),
            State::Committing { candidate, .. } => Some(*candidate),
            State::Waiting { asked_for, .. } => *asked_for,
            _ => None,
        };
        self.redirect(self.refuge(agreed), Cause::LinkDown);
    }

    /// A link is up: traffic that waits for it is led through it, and so is what waits without an agreement,
    /// or for a network that is not there.
    fn handle_up(&mut self, network: usize) {
        self.up.insert(network);
        match self.state {
            State::Entering { candidate, cause }
                if candidate != network && (cause != Cause::Commit || !self.reaches(candidate)) =>
            {
                self.redirect(network, if network == self.home() { Cause::LinkDown } else { cause });
            }
            _ => self.enter(),
        }
    }

    /// Something happens to the link of a candidate.
    pub fn handle_candidate_event(&mut self, candidate: usize, cue: CandidateCue) {
        match cue {
            CandidateCue::Detected => {
                self.detected.insert(candidate);
                if matches!(self.state, State::Entering { cause: Cause::LinkDown | Cause::NoAnswer, .. }) {
                    self.commands.push_back(Command::Enter(candidate));
                }
                self.act_on_candidates();
            }
            CandidateCue::Up => self.handle_up(candidate),
            CandidateCue::Left => {
                self.up.remove(&candidate);
                self.handle_candidate_gone(candidate);
            }
            CandidateCue::Gone => {
                self.detected.remove(&candidate);
                self.up.remove(&candidate);
                self.handle_candidate_gone(candidate);
            }
        }
    }

    /// Who uses the candidate comes back to the network that he has left, or goes to another one that is up
    /// if that is not; who enters it takes another one that is up, or comes back.
    fn handle_candidate_gone(&mut self, gone: usize) {
        match self.state {
            State::Redirecting { candidate, .. }
            | State::Completing { candidate, .. }
            | State::Done { candidate }
                if candidate == gone =>
            {
                let home = self.home();
                let other = self.other_up().filter(|_| !self.up.contains(&home));
                self.redirect(other.unwrap_or(home), Cause::LinkDown);
            }
            State::Entering { candidate, cause } if candidate == gone => self.turn_from_lost(cause),
            State::Breaking { candidate, .. } if candidate == gone => self.turn_from_lost(Cause::Commit),
            _ => {}
        }
    }

    fn turn_from_lost(&mut self, cause: Cause) {
        match self.other_up() {
            Some(other) => self.redirect(other, cause),
            None => self.redirect(self.home(), Cause::LinkDown),
        }
    }

    /// The interfaces have scanned, and found these candidates, the one that is heard best first.
    pub fn handle_scan(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, heard: &[usize]) {
        let State::Scanning { asked } = self.state else { return };
        self.heard = heard.to_vec();
        if self.config.policy.choice != Choice::Signal {
            self.heard.sort_unstable();
        }
        self.reach(Milestone::ScanDone);
        let (session, bytes) = (self.config.serving, self.config.message_bytes);
        if let Some(request) = asked {
            let links = self.heard.iter().map(|&at| self.link(at));
            let tlvs =
                net_candidate_query_response(&self.config.serving_link, HandoverStatus::PERMITTED, links);
            mihf.respond(cx, session, request, tlvs, bytes);
            self.state = State::Answered;
        } else if heard.is_empty() {
            self.give_up(GivenUp::NoCandidate, false);
        } else {
            self.reach(Milestone::ResourcesAsked);
            self.query(cx, mihf);
        }
    }

    /// The PoS is asked who of those that are heard has resources.
    fn query(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) -> TransactionNumber {
        let links = self.heard.iter().map(|&at| self.link(at));
        let tlvs = mn_candidate_query(&self.config.serving_link, links);
        let mid = MessageId::MN_HO_CANDIDATE_QUERY_REQUEST;
        let transaction = mihf.request(cx, self.config.serving, mid, tlvs, self.config.message_bytes);
        self.state = State::Querying(transaction);
        self.wait_for(cx.now, transaction);
        transaction
    }

    /// The PoS is asked for the first of these candidates.
    fn commit(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, mut candidates: Vec<usize>) {
        if candidates.is_empty() {
            return self.give_up(GivenUp::NoCandidate, false);
        }
        let candidate = candidates.remove(0);
        self.reach(Milestone::CommitAsked(candidate));
        self.ask_for(cx, mihf, candidate, candidates);
    }

    fn ask_for(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        candidate: usize,
        others: Vec<usize>,
    ) -> TransactionNumber {
        let tlvs = mn_commit(self.link(candidate));
        let (session, bytes) = (self.config.serving, self.config.message_bytes);
        let transaction = mihf.request(cx, session, MessageId::MN_HO_COMMIT_REQUEST, tlvs, bytes);
        self.state = State::Committing { candidate, others, transaction };
        self.wait_for(cx.now, transaction);
        transaction
    }

    /// Traffic goes through the new network now.
    pub fn handle_redirected(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        let State::Redirecting { candidate, cause } = self.state else { return };
        self.reach(Milestone::Redirected);
        if candidate == self.home() {
            // Its old PoS is to know that it is back: what it hears of the link from now on is a new matter.
            self.state = State::Connected;
            self.heard.clear();
            if self.config.policy.entry == Entry::AfterCommitment {
                self.commands.extend((0..self.home()).map(Command::Leave));
            }
            mihf.register_again(cx, self.config.serving, vec![self.config.serving_link.link.clone()]);
            return self.act_on_candidates();
        }
        self.state = State::Done { candidate };
        self.part(&[OldLink::UntilRedirected]);
        // Nobody waits to hear of a handover that was not agreed on.
        if cause == Cause::Commit {
            let tlvs = mn_complete(&self.config.serving_link, self.link(candidate));
            let (session, bytes) = (self.config.candidates[candidate].session, self.config.message_bytes);
            let transaction = mihf.request(cx, session, MessageId::MN_HO_COMPLETE_REQUEST, tlvs, bytes);
            self.state = State::Completing { candidate, transaction };
        } else {
            self.part(&[OldLink::UntilCompleted]);
        }
    }

    /// The node's MIHF tells something of one of its sessions.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, event: &Event) {
        match event {
            Event::RequestReceived { session, number, pdu } if *session == self.config.serving => {
                self.handle_request(cx, mihf, *number, pdu);
            }
            Event::ResponseReceived { session, number, pdu } => {
                self.handle_response(cx, mihf, *session, *number, pdu);
            }
            Event::TransactionFailed { session, number, reason } => {
                if *session == self.config.serving {
                    if self.state.waits_for() == Some(*number) {
                        self.give_up(GivenUp::Message, mihf.still_accepts(*session, *reason));
                    } else if self.state == State::Connected && self.notice == Some(*number) {
                        self.reach(Milestone::GivenUp(GivenUp::Notice));
                    }
                } else if let State::Completing { candidate, transaction } = self.state
                    && transaction == *number
                    && !mihf.still_accepts(*session, *reason)
                {
                    self.state = State::Done { candidate };
                    self.part(&[OldLink::UntilCompleted]);
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

    fn handle_request(
        &mut self,
        cx: &mut Context<'_>,
        mihf: &mut Mihf,
        number: TransactionNumber,
        pdu: &Arc<Message>,
    ) {
        match pdu.mid {
            MessageId::NET_HO_CANDIDATE_QUERY_REQUEST if self.may_scan() => {
                self.processing.begin(cx.now, Work::Scan(number));
            }
            // Both began at once: its own preparation goes first.
            MessageId::NET_HO_CANDIDATE_QUERY_REQUEST if self.prepares() => self.decline(cx, mihf, number),
            MessageId::NET_HO_COMMIT_REQUEST => {
                let target = named(pdu, &self.config.candidates).first().copied();
                let status = match target {
                    Some(candidate) if self.may_agree_on(candidate) => {
                        self.agree(cx.now, candidate, false);
                        Status::SUCCESS
                    }
                    // It is made anew.
                    Some(candidate) if self.goes_to() == Some(candidate) => Status::SUCCESS,
                    _ => Status::REJECTED,
                };
                self.processing.begin(cx.now, Work::AnswerCommit(number, status));
            }
            _ => self.unexpected += 1,
        }
    }

    fn decline(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, request: TransactionNumber) {
        let status = HandoverStatus::DECLINED;
        let tlvs = net_candidate_query_response(&self.config.serving_link, status, []);
        mihf.respond(cx, self.config.serving, request, tlvs, self.config.message_bytes);
    }

    /// Whether the network may send it to this candidate: it may itself have asked for the same.
    fn may_agree_on(&self, target: usize) -> bool {
        match self.state {
            State::Connected | State::Answered | State::Waiting { .. } => true,
            State::Committing { candidate, .. } => candidate == target,
            _ => false,
        }
    }

    /// The network that it is on its way to, or has come to.
    fn goes_to(&self) -> Option<usize> {
        match self.state {
            State::Breaking { candidate, .. }
            | State::Entering { candidate, .. }
            | State::Redirecting { candidate, .. }
            | State::Completing { candidate, .. }
            | State::Done { candidate } => Some(candidate),
            _ => None,
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
        let number = if serves { self.repeated.last(number) } else { number };
        if let State::Waiting { heeds, .. } = &mut self.state
            && serves
            && let Some(before) = heeds.take_if(|before| before.waits_for() == Some(number))
        {
            self.state = *before;
        }
        match &mut self.state {
            State::Querying(transaction) if serves && *transaction == number => {
                self.reach(Milestone::ResourcesKnown);
                let mut available =
                    if succeeded(pdu) { named(pdu, &self.config.candidates) } else { Vec::new() };
                if self.config.policy.choice == Choice::Signal {
                    let rank = |candidate: &usize| self.heard.iter().position(|heard| heard == candidate);
                    available.sort_by_key(rank);
                }
                self.commit(cx, mihf, available);
            }
            State::Committing { candidate, others, transaction } if serves && *transaction == number => {
                let (candidate, others) = (*candidate, std::mem::take(others));
                if succeeded(pdu) {
                    self.agree(cx.now, candidate, true);
                } else {
                    self.commit(cx, mihf, others);
                }
            }
            State::Completing { candidate, transaction } if !serves && *transaction == number => {
                self.state = State::Done { candidate: *candidate };
                self.reach(Milestone::Completed);
                self.part(&[OldLink::UntilCompleted]);
            }
            _ => self.unexpected += 1,
        }
    }

    fn wait_for(&mut self, now: Time, request: TransactionNumber) {
        if self.config.policy.no_answer.is_some() {
            self.unanswered.begin(now, request);
        }
    }

    /// A request was not answered in the time that its answer is waited for.
    fn handle_no_answer(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, request: TransactionNumber) {
        let Some(policy) = self.config.policy.no_answer else { return };
        if self.state.waits_for() != Some(request) {
            return;
        }
        match (policy.then, self.state.clone()) {
            (Then::Repeat, State::Committing { candidate, others, .. }) => {
                let last = self.ask_for(cx, mihf, candidate, others);
                self.repeated.anew(request, last);
            }
            (Then::Repeat, _) => {
                let last = self.query(cx, mihf);
                self.repeated.anew(request, last);
            }
            (Then::Abort, _) => self.give_up(GivenUp::NoAnswer, false),
            (Then::OtherInterface, state) => {
                let asked_for =
                    if let State::Committing { candidate, .. } = state { Some(candidate) } else { None };
                let candidate = self.refuge(asked_for);
                self.reach(Milestone::GivenUp(GivenUp::NoAnswer));
                self.redirect(candidate, Cause::NoAnswer);
            }
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        if self.acts_at.is_some_and(|at| at <= cx.now) {
            self.act(Trigger::GoingDown);
        }
        while let Some(work) = self.processing.done(cx.now) {
            match work {
                // It scans already, for a decision that was taken back.
                Work::Scan(request) if matches!(self.state, State::Scanning { .. }) => {
                    self.state = State::Scanning { asked: Some(request) };
                }
                // The link may have gone down meanwhile.
                Work::Scan(request) if self.may_scan() => self.scan(Some(request)),
                // It has begun to prepare a handover itself.
                Work::Scan(request) if self.prepares() => self.decline(cx, mihf, request),
                Work::Scan(_) => self.unexpected += 1,
                Work::AnswerCommit(request, status) => {
                    let (session, bytes) = (self.config.serving, self.config.message_bytes);
                    mihf.respond(cx, session, request, net_commit_response(status), bytes);
                    if let State::Breaking { at: at @ None, .. } = &mut self.state {
                        *at = Some(cx.now + DISCONNECT_DELAY);
                    }
                }
            }
        }
        if let State::Breaking { candidate, at: Some(at) } = self.state
            && at <= cx.now
        {
            self.commands.push_back(Command::Leave(self.home()));
            self.redirect(candidate, Cause::Commit);
        }
        while let Some(request) = self.unanswered.done(cx.now) {
            self.handle_no_answer(cx, mihf, request);
        }
    }
}
