//! Handovers by MIH commands: a mobile node, the point of service that it leaves, and two that it may come to, joined by
//! paths that take constant times and lose what a test says. Every instant is worked out by hand.

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::handover::policy::{ActOn, Choice, Entry, NoAnswer, OldLink, Policy, Then};
use roamsim_protocols::mih::handover::{
    Candidate, CandidateCue, CandidatePos, CandidatePosConfig, Cause, Command, GivenUp, Initiation, LinkCue,
    Milestone, MobileNode, MobileNodeConfig, Resources, ServingPos, ServingPosConfig, Trigger,
};
use roamsim_protocols::mih::wire::link::{LinkGoingDownReason, LinkTupleId, LinkType};
use roamsim_protocols::mih::{
    Acknowledgement, AcknowledgementMode, Message, MessageId, MessageTimers, Mihf, MihfId, Opcode,
    SessionConfig, SessionId, Tlv, Validity,
};
use roamsim_protocols::{Address, Context, Machine, PeerAddress};
use std::collections::BTreeMap;
use std::sync::Arc;

const MOBILE_NODE: usize = 0;
const SERVING: usize = 1;
/// The points of service of two candidates.
const CANDIDATES: [usize; 2] = [2, 3];
const NAMES: [&str; 4] = ["mn", "pos1", "pos2", "pos3"];

/// One way between the mobile node and any PoS, and between two of these.
const ACCESS: Span = Span::from_ms(20);
const BETWEEN: Span = Span::from_ms(20);
const PROCESSING: Span = Span::from_ms(200);
/// How long a place is kept.
const RESERVATION: Span = Span::from_secs(5);
const SCAN: Span = Span::from_ms(600);
/// From taking a link up to its being up.
const ENTRY: Span = Span::from_ms(300);
/// A link that will be down in 9.4 s.
const GOING_DOWN: LinkCue = LinkCue::GoingDown { within: Span::from_ms(9400) };
/// From the redirect to its acknowledgement.
const REDIRECT: Span = Span::from_ms(40);

fn id(node: usize) -> MihfId {
    MihfId::new(NAMES[node]).expect("short")
}

fn serving_link() -> LinkTupleId {
    LinkTupleId::of_macs(LinkType::IEEE_802_11, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 9])
}

fn candidate_link(candidate: usize) -> LinkTupleId {
    LinkTupleId::of_macs(LinkType::IEEE_802_16, [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 1, candidate as u8])
}

/// What comes next, in the order of the instants.
enum Coming {
    Pdu { to: usize, from: usize, pdu: Arc<Message> },
    Scanned,
    Redirected,
    Link(LinkCue),
    Candidate(usize, CandidateCue),
}

/// What a test chooses.
struct Settings {
    initiation: Initiation,
    policy: Policy,
    acknowledgement: bool,
    validity: Validity,
    timers: Vec<MessageTimers>,
}

impl Settings {
    fn of(initiation: Initiation) -> Settings {
        let validity = Validity::Acked;
        Settings { initiation, policy: Policy::PLAIN, acknowledgement: true, validity, timers: Vec::new() }
    }
}

struct Net {
    now: Time,
    mihfs: Vec<Mihf>,
    random: Stream,
    mobile_node: MobileNode,
    serving: ServingPos,
    candidates: Vec<CandidatePos>,
    resources: Vec<Resources>,
    coming: BTreeMap<(Time, u32), Coming>,
    next: u32,
    heard: Vec<usize>,
    /// Messages that are lost, by what they are and how many of them come first.
    lost: Vec<(MessageId, bool, u32)>,
    /// What reached whom: the message, and whether it was an acknowledgement.
    sent: Vec<(Time, MessageId, bool)>,
    milestones: Vec<(Time, Milestone)>,
    /// Whether what is sent must be read back as it was.
    well_formed: bool,
    /// What the user asked of links, and when.
    acts: Vec<(u64, Command)>,
}

/// The session of `node` with `peer`: they are made in the order of the nodes.
fn session(node: usize, peer: usize) -> SessionId {
    SessionId((if peer < node { peer } else { peer - 1 }) as u32)
}

impl Net {
    fn new(initiation: Initiation, acknowledgement: bool) -> Net {
        Net::accepting(initiation, acknowledgement, Validity::Acked)
    }

    fn accepting(initiation: Initiation, acknowledgement: bool, validity: Validity) -> Net {
        Net::with(Settings { acknowledgement, validity, ..Settings::of(initiation) })
    }

    fn with(settings: Settings) -> Net {
        let Settings { initiation, policy, acknowledgement, validity, timers } = settings;
        let mihf = |node: usize| {
            let mut mihf = Mihf::new(id(node));
            for peer in (0..NAMES.len()).filter(|&peer| peer != node) {
                let made = mihf.add_session(SessionConfig {
                    peer: id(peer),
                    remote: PeerAddress { address: Address(peer as u32), port: 4551 },
                    reliable: false,
                    acknowledgement: acknowledgement.then_some(Acknowledgement {
                        timeout: Span::from_ms(100),
                        retransmissions: 2,
                        mode: AcknowledgementMode::Separate,
                    }),
                    validity,
                    lifetime: None,
                    timers: Arc::from(timers.as_slice()),
                    rate_limit: None,
                });
                assert_eq!(made, session(node, peer));
            }
            mihf
        };
        let candidates = |node: usize| {
            let candidate = |(at, peer): (usize, &usize)| Candidate {
                link: candidate_link(at),
                session: session(node, *peer),
            };
            CANDIDATES.iter().enumerate().map(candidate).collect::<Vec<_>>()
        };
        let mut net = Net {
            now: Time::ZERO,
            mihfs: (0..NAMES.len()).map(mihf).collect(),
            random: Stream::new(1, 0, "test"),
            mobile_node: MobileNode::new(MobileNodeConfig {
                initiation,
                policy,
                serving: session(MOBILE_NODE, SERVING),
                serving_link: serving_link(),
                candidates: candidates(MOBILE_NODE),
                processing_time: PROCESSING,
                message_bytes: Some(200),
            }),
            serving: ServingPos::new(ServingPosConfig {
                initiation,
                policy,
                mobile_node: session(SERVING, MOBILE_NODE),
                mobile_node_id: id(MOBILE_NODE),
                serving_link: serving_link(),
                candidates: candidates(SERVING),
                processing_time: PROCESSING,
                message_bytes: Some(200),
            }),
            candidates: CANDIDATES
                .iter()
                .enumerate()
                .map(|(at, &node)| {
                    CandidatePos::new(CandidatePosConfig {
                        serving: session(node, SERVING),
                        mobile_node: session(node, MOBILE_NODE),
                        mobile_node_id: id(MOBILE_NODE),
                        link: candidate_link(at),
                        tells_places: policy.choice == Choice::FreeCapacity,
                        processing_time: PROCESSING,
                        reservation_time: RESERVATION,
                        message_bytes: Some(200),
                    })
                })
                .collect(),
            resources: vec![Resources::new(None), Resources::new(None)],
            coming: BTreeMap::new(),
            next: 0,
            heard: vec![0, 1],
            lost: Vec::new(),
            sent: Vec::new(),
            milestones: Vec::new(),
            well_formed: true,
            acts: Vec::new(),
        };
        // All links are up, but for those that are entered when it is agreed.
        net.at(0, LinkCue::Up);
        for candidate in 0..CANDIDATES.len() {
            if policy.entry == Entry::Before {
                net.mobile_node.handle_candidate_event(candidate, CandidateCue::Up);
            }
        }
        net
    }

    fn after(&mut self, span: Span, what: Coming) {
        self.next += 1;
        self.coming.insert((self.now + span, self.next), what);
    }

    fn at(&mut self, at_ms: u64, cue: LinkCue) {
        self.next += 1;
        self.coming.insert((Time::ZERO + Span::from_ms(at_ms), self.next), Coming::Link(cue));
    }

    /// Whether a message is lost: the next one of its kind that a test has named.
    fn loses(&mut self, mid: MessageId, ack: bool) -> bool {
        let of = |lost: &&mut (MessageId, bool, u32)| (lost.0, lost.1) == (mid, ack) && lost.2 > 0;
        self.lost.iter_mut().find(of).map(|lost| lost.2 -= 1).is_some()
    }

    /// Serves all users and all MIHFs until nothing is left to do at this instant.
    fn serve(&mut self) {
        loop {
            let mut worked = false;
            for node in 0..NAMES.len() {
                let mut cx = Context { now: self.now, random: &mut self.random };
                while let Some(event) = self.mihfs[node].poll_event() {
                    worked = true;
                    let mihf = &mut self.mihfs[node];
                    match node {
                        MOBILE_NODE => self.mobile_node.handle_event(&mut cx, mihf, &event),
                        SERVING => self.serving.handle_event(&mut cx, mihf, &event),
                        _ => self.candidates[node - 2].handle_event(&mut cx, mihf, &event),
                    }
                }
                let mut leaving = Vec::new();
                while let Some(request) = self.mihfs[node].poll_transmit(&mut cx) {
                    leaving.push(request);
                }
                for request in leaving {
                    worked = true;
                    let to = request.destination.address.0 as usize;
                    if self.well_formed {
                        let octets = request.pdu.encode();
                        assert_eq!(
                            Message::decode(&octets).as_ref(),
                            Ok(&*request.pdu),
                            "{}",
                            request.pdu.mid
                        );
                    }
                    let ack = request.pdu.ack_rsp;
                    self.sent.push((self.now, request.pdu.mid, ack));
                    if !self.loses(request.pdu.mid, ack) {
                        let way = if [node, to].contains(&MOBILE_NODE) { ACCESS } else { BETWEEN };
                        self.after(way, Coming::Pdu { to, from: node, pdu: request.pdu });
                    }
                }
            }
            while let Some(command) = self.mobile_node.poll_command() {
                worked = true;
                self.acts.push((self.now.as_ns() / 1_000_000, command));
                match command {
                    Command::Scan => self.after(SCAN, Coming::Scanned),
                    Command::Redirect(_) => self.after(REDIRECT, Coming::Redirected),
                    Command::Enter(candidate) if candidate < CANDIDATES.len() => {
                        self.after(ENTRY, Coming::Candidate(candidate, CandidateCue::Up));
                    }
                    Command::Enter(_) => {}
                    Command::Leave(candidate) if candidate < CANDIDATES.len() => {
                        self.after(Span::ZERO, Coming::Candidate(candidate, CandidateCue::Left));
                    }
                    Command::Leave(_) => self.after(Span::ZERO, Coming::Link(LinkCue::Down)),
                }
            }
            let of_mobile_node = std::iter::from_fn(|| self.mobile_node.poll_milestone());
            let tells = |milestone: &Milestone| !matches!(milestone, Milestone::EntryBegun(..));
            self.milestones.extend(of_mobile_node.filter(tells).map(|milestone| (self.now, milestone)));
            let of_serving = std::iter::from_fn(|| self.serving.poll_milestone());
            self.milestones.extend(of_serving.map(|milestone| (self.now, milestone)));
            if !worked {
                return;
            }
        }
    }

    fn run(&mut self) {
        loop {
            self.serve();
            let timers = self.mihfs.iter().map(Machine::poll_timeout);
            let users = [self.mobile_node.poll_timeout(), self.serving.poll_timeout()];
            let candidates = self.candidates.iter().map(CandidatePos::poll_timeout);
            let timer = timers.chain(users).chain(candidates).flatten().min();
            let arrival = self.coming.keys().next().map(|&(at, _)| at);
            let Some(now) = [timer, arrival].into_iter().flatten().min() else { return };
            assert!(now >= self.now, "work that is due was left");
            self.now = now;
            let mut cx = Context { now, random: &mut self.random };
            for mihf in &mut self.mihfs {
                mihf.handle_timeout(&mut cx);
            }
            self.mobile_node.handle_timeout(&mut cx, &mut self.mihfs[MOBILE_NODE]);
            self.serving.handle_timeout(&mut cx, &mut self.mihfs[SERVING]);
            for (at, candidate) in self.candidates.iter_mut().enumerate() {
                candidate.handle_timeout(&mut cx, &mut self.mihfs[CANDIDATES[at]], &mut self.resources[at]);
            }
            self.serve();
            while let Some(entry) = self.coming.first_entry().filter(|entry| entry.key().0 <= now) {
                let coming = entry.remove();
                let mut cx = Context { now, random: &mut self.random };
                let mihf = &mut self.mihfs[MOBILE_NODE];
                match coming {
                    Coming::Pdu { to, from, pdu } => {
                        self.mihfs[to].tp_data_indication(&mut cx, session(to, from), &pdu);
                    }
                    Coming::Scanned => self.mobile_node.handle_scan(&mut cx, mihf, &self.heard),
                    Coming::Redirected => self.mobile_node.handle_redirected(&mut cx, mihf),
                    Coming::Link(cue) => {
                        self.mobile_node.handle_link_event(now, cue);
                        let mihf = &mut self.mihfs[SERVING];
                        match cue {
                            LinkCue::GoingDown { within } => {
                                self.serving.handle_link_going_down(&mut cx, mihf, within);
                            }
                            LinkCue::Rollback => self.serving.handle_rollback(),
                            LinkCue::Up | LinkCue::Down | LinkCue::Crossed => {}
                        }
                    }
                    Coming::Candidate(candidate, cue) => {
                        if cue == CandidateCue::Up {
                            self.resources[candidate].arrive(&id(MOBILE_NODE));
                            self.candidates[candidate].handle_arrival();
                        }
                        self.mobile_node.handle_candidate_event(candidate, cue);
                    }
                }
                self.serve();
            }
        }
    }

    /// The milestones with their instants in milliseconds.
    fn milestones_ms(&self) -> Vec<(u64, Milestone)> {
        self.milestones.iter().map(|&(at, milestone)| (at.as_ns() / 1_000_000, milestone)).collect()
    }

    /// The messages that were sent, without acknowledgements and repetitions.
    fn messages(&self) -> Vec<MessageId> {
        let mut seen = Vec::new();
        for &(_, mid, ack) in &self.sent {
            if !ack && !seen.contains(&mid) {
                seen.push(mid);
            }
        }
        seen
    }
}

#[test]
fn a_mobile_node_asks_has_reserved_redirects_and_completes() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.run();
    // An exchange with the PoS: there and back 40 ms, its processing 200 ms, and in it the same once more: 480 ms.
    assert_eq!(
        net.milestones_ms(),
        [
            (0, Milestone::Started(Trigger::GoingDown)),
            (0, Milestone::ScanBegun),
            (600, Milestone::ScanDone),
            (600, Milestone::ResourcesAsked),
            (1080, Milestone::ResourcesKnown),
            (1080, Milestone::CommitAsked(0)),
            (1560, Milestone::Committed(0)),
            (1560, Milestone::RedirectBegun(0, Cause::Commit)),
            (1600, Milestone::Redirected),
            // To the new PoS, from there to the old one and back.
            (2080, Milestone::Completed),
        ]
    );
    assert_eq!(
        net.messages(),
        [
            MessageId::MN_HO_CANDIDATE_QUERY_REQUEST,
            MessageId::N2N_HO_QUERY_RESOURCES_REQUEST,
            MessageId::N2N_HO_QUERY_RESOURCES_RESPONSE,
            MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE,
            MessageId::MN_HO_COMMIT_REQUEST,
            MessageId::N2N_HO_COMMIT_REQUEST,
            MessageId::N2N_HO_COMMIT_RESPONSE,
            MessageId::MN_HO_COMMIT_RESPONSE,
            MessageId::MN_HO_COMPLETE_REQUEST,
            MessageId::N2N_HO_COMPLETE_REQUEST,
            MessageId::N2N_HO_COMPLETE_RESPONSE,
            MessageId::MN_HO_COMPLETE_RESPONSE,
        ]
    );
    let requests = net.sent.iter().filter(|(_, mid, ack)| mid.opcode() == Opcode::Request && !ack).count();
    // Both candidates are asked for resources.
    assert_eq!(requests, 7);
    assert_eq!((net.mobile_node.unexpected(), net.serving.unexpected()), (0, 0));
}

#[test]
fn a_network_asks_has_scanned_reserves_and_tells() {
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, GOING_DOWN);
    net.run();
    assert_eq!(
        net.milestones_ms(),
        [
            (0, Milestone::Started(Trigger::GoingDown)),
            (0, Milestone::ResourcesAsked),
            (240, Milestone::ResourcesKnown),
            // 20 ms to the mobile node, and its processing.
            (460, Milestone::ScanBegun),
            (1060, Milestone::ScanDone),
            (1080, Milestone::CommitAsked(0)),
            // The commitment 240 ms, its announcement 20 ms: redirected upon the request.
            (1340, Milestone::Committed(0)),
            (1340, Milestone::RedirectBegun(0, Cause::Commit)),
            (1380, Milestone::Redirected),
            (1860, Milestone::Completed),
        ]
    );
    let response = net.sent.iter().find(|(_, mid, _)| *mid == MessageId::NET_HO_COMMIT_RESPONSE);
    assert_eq!(response.map(|&(at, ..)| at), Some(Time::ZERO + Span::from_ms(1540)));
}

#[test]
fn a_message_that_is_given_up_ends_the_preparation_and_the_link_down_redirects() {
    for (initiation, mid, given_up_ms) in [
        (Initiation::Mobile, MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, 600 + 300),
        (Initiation::Mobile, MessageId::MN_HO_COMMIT_REQUEST, 1080 + 300),
        (Initiation::Network, MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, 240 + 300),
        (Initiation::Network, MessageId::NET_HO_COMMIT_REQUEST, 1320 + 300),
    ] {
        let mut net = Net::new(initiation, true);
        net.lost.push((mid, false, 3));
        net.at(0, GOING_DOWN);
        net.at(9400, LinkCue::Down);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(given_up_ms, Milestone::GivenUp(GivenUp::Message))), "{milestones:?}");
        let end = &milestones[milestones.len() - 2..];
        let begun = (9400, Milestone::RedirectBegun(0, Cause::LinkDown));
        assert_eq!(end, [begun, (9440, Milestone::Redirected)]);
        assert!(!net.messages().contains(&MessageId::MN_HO_COMPLETE_REQUEST), "nobody was asked");
    }
}

#[test]
fn an_answer_that_is_given_up_is_told_by_who_gave_it() {
    for (initiation, mid) in [
        (Initiation::Mobile, MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE),
        (Initiation::Network, MessageId::NET_HO_CANDIDATE_QUERY_RESPONSE),
    ] {
        let mut net = Net::new(initiation, true);
        net.lost.push((mid, false, 3));
        net.at(0, GOING_DOWN);
        net.at(9400, LinkCue::Down);
        net.run();
        let milestones = net.milestones_ms();
        // Both answer at 1060 ms.
        assert!(milestones.contains(&(1360, Milestone::GivenUp(GivenUp::Response))), "{milestones:?}");
        assert!(milestones.contains(&(9400, Milestone::RedirectBegun(0, Cause::LinkDown))), "{milestones:?}");
    }
}

#[test]
fn an_answer_after_its_request_was_given_up_counts_under_open_alone() {
    // No acknowledgement of the request comes; the answer does, after it was given up.
    for (initiation, mid, given_up_ms) in [
        (Initiation::Mobile, MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, 600 + 300),
        (Initiation::Mobile, MessageId::MN_HO_COMMIT_REQUEST, 1080 + 300),
        (Initiation::Network, MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, 240 + 300),
    ] {
        for validity in [Validity::Open, Validity::Acked] {
            let mut net = Net::accepting(initiation, true, validity);
            net.lost.push((mid, true, 3));
            net.at(0, GOING_DOWN);
            net.at(9400, LinkCue::Down);
            net.run();
            let milestones = net.milestones_ms();
            let given_up = (given_up_ms, Milestone::GivenUp(GivenUp::Message));
            assert!(milestones.contains(&given_up), "{milestones:?}");
            // As if it had not been given up; or when the link is down.
            let (at_ms, cause) = match (validity, initiation) {
                (Validity::Open, Initiation::Mobile) => (1560, Cause::Commit),
                (Validity::Open, Initiation::Network) => (1340, Cause::Commit),
                _ => (9400, Cause::LinkDown),
            };
            let begun = (at_ms, Milestone::RedirectBegun(0, cause));
            assert!(milestones.contains(&begun), "{validity:?} {milestones:?}");
        }
    }
}

#[test]
fn points_of_service_heed_late_answers_of_each_other_where_they_have_nothing_else() {
    // No acknowledgement comes, nor the first two copies of the answer: the third 20 ms after 220 + 200 ms.
    let late = |net: &mut Net, request: MessageId, response: MessageId, copies: u32| {
        net.lost.push((request, true, 3 * copies));
        net.lost.push((response, false, 2 * copies));
        net.at(0, GOING_DOWN);
        net.run();
        net.milestones_ms()
    };
    let query = (MessageId::N2N_HO_QUERY_RESOURCES_REQUEST, MessageId::N2N_HO_QUERY_RESOURCES_RESPONSE);
    let commit = (MessageId::N2N_HO_COMMIT_REQUEST, MessageId::N2N_HO_COMMIT_RESPONSE);
    let given_up = Milestone::GivenUp(GivenUp::Message);
    let mut net = Net::accepting(Initiation::Network, true, Validity::Open);
    let milestones = late(&mut net, query.0, query.1, 2);
    assert!(milestones.contains(&(300, given_up)) && milestones.contains(&(440, Milestone::ResourcesKnown)));
    assert!(milestones.iter().any(|(_, milestone)| *milestone == Milestone::Completed), "{milestones:?}");
    // Asked at 1080 ms for the only one that was heard.
    let mut net = Net::accepting(Initiation::Network, true, Validity::Open);
    net.heard = vec![0];
    let milestones = late(&mut net, commit.0, commit.1, 1);
    assert!(milestones.contains(&(1380, given_up)), "{milestones:?}");
    // 440 ms later the PoS knows, 20 ms later the mobile node.
    assert!(milestones.contains(&(1540, Milestone::Committed(0))), "{milestones:?}");
    // With another one, that is asked instead; and who answers too late is counted.
    let mut net = Net::accepting(Initiation::Network, true, Validity::Open);
    let milestones = late(&mut net, commit.0, commit.1, 1);
    assert!(milestones.contains(&(1380, Milestone::CommitAsked(1))), "{milestones:?}");
    assert_eq!(net.serving.unexpected(), 1);
}

#[test]
fn what_may_still_be_answered_is_taken_back_with_the_rest_when_the_link_recovers() {
    for (initiation, request) in [
        (Initiation::Mobile, MessageId::MN_HO_COMMIT_REQUEST),
        (Initiation::Network, MessageId::N2N_HO_COMMIT_REQUEST),
        (Initiation::Network, MessageId::NET_HO_COMMIT_REQUEST),
    ] {
        let mut net = Net::accepting(initiation, true, Validity::Open);
        net.heard = vec![0];
        // The first time it is never heard.
        net.lost.push((request, false, 3));
        net.at(0, GOING_DOWN);
        net.at(4000, LinkCue::Rollback);
        net.at(5000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(4000, Milestone::GivenUp(GivenUp::Rollback))), "{milestones:?}");
        assert!(milestones.contains(&(5000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
        assert!(
            milestones
                .iter()
                .any(|(at_ms, milestone)| *at_ms > 5000 && matches!(milestone, Milestone::CommitAsked(0)))
        );
    }
}

#[test]
fn a_network_that_is_told_hears_of_the_recovery_as_well() {
    let mut net = Net::new(Initiation::Network, true);
    let mut cx = Context { now: Time::ZERO, random: &mut net.random };
    let link = || Tlv::LinkIdentifier(serving_link());
    let tlvs = [link(), Tlv::TimeInterval(9000), Tlv::LinkGoingDownReason(LinkGoingDownReason::LOW_POWER)];
    let (mobile_node, serving) = (MOBILE_NODE, session(MOBILE_NODE, SERVING));
    net.mihfs[mobile_node].indicate(&mut cx, serving, MessageId::LINK_GOING_DOWN_INDICATION, tlvs, None);
    let mid = MessageId::LINK_PARAMETERS_REPORT_INDICATION;
    net.mihfs[mobile_node].indicate(
        &mut cx,
        serving,
        mid,
        [link(), Tlv::LinkParameterReportList(vec![])],
        None,
    );
    net.run();
    let [.., asked, back] = net.milestones_ms()[..] else { panic!("{:?}", net.milestones) };
    // Both take 20 ms.
    assert_eq!(asked, (20, Milestone::ResourcesAsked));
    assert_eq!(back, (20, Milestone::GivenUp(GivenUp::Rollback)));
}

#[test]
fn a_lost_message_costs_its_retransmission() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 2));
    net.at(0, GOING_DOWN);
    net.run();
    assert!(net.milestones_ms().contains(&(1560 + 200, Milestone::Committed(0))));
}

#[test]
fn who_waits_in_vain_redirects_when_the_link_is_down() {
    // Without acknowledgements nothing tells that the request is lost.
    let mut net = Net::new(Initiation::Mobile, false);
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE, false, 1));
    net.heard = vec![1];
    net.at(0, GOING_DOWN);
    net.at(9400, LinkCue::Down);
    net.run();
    // To the one that was heard.
    let begun = (9400, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert_eq!(net.milestones_ms()[4..], [begun, (9440, Milestone::Redirected)]);
}

#[test]
fn a_candidate_without_resources_is_passed_over_and_one_that_refuses_is_followed_by_the_next() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = Net::new(initiation, true);
        net.resources[0] = Resources::new(Some(0));
        net.at(0, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        let redirects =
            |milestone: &(u64, Milestone)| milestone.1 == Milestone::RedirectBegun(1, Cause::Commit);
        assert!(milestones.iter().any(redirects), "{milestones:?}");
        assert!(!milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
        // None has any.
        let mut net = Net::new(initiation, true);
        net.resources = vec![Resources::new(Some(0)), Resources::new(Some(0))];
        net.at(0, GOING_DOWN);
        net.run();
        let last = net.milestones_ms().pop().map(|(_, milestone)| milestone);
        assert_eq!(last, Some(Milestone::GivenUp(GivenUp::NoCandidate)));
    }
}

#[test]
fn a_commitment_that_cannot_be_had_is_followed_by_the_next_candidate() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = Net::new(initiation, true);
        // The PoS of the first one never hears of it.
        net.lost.push((MessageId::N2N_HO_COMMIT_REQUEST, false, 3));
        net.at(0, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        let asked: Vec<usize> = milestones
            .iter()
            .filter_map(|(_, milestone)| {
                if let Milestone::CommitAsked(candidate) = milestone { Some(*candidate) } else { None }
            })
            .collect();
        assert_eq!(asked, [0, 1], "{milestones:?}");
    }
}

#[test]
fn a_link_that_recovers_ends_the_preparation_and_the_next_event_begins_anew() {
    // The network asks for resources, then for a scan, which goes on.
    for (initiation, rollback_ms) in [
        (Initiation::Mobile, 300),
        (Initiation::Network, 100),
        (Initiation::Network, 300),
        (Initiation::Network, 700),
    ] {
        let mut net = Net::new(initiation, true);
        net.at(0, GOING_DOWN);
        net.at(rollback_ms, LinkCue::Rollback);
        net.at(5000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(rollback_ms, Milestone::GivenUp(GivenUp::Rollback))), "{milestones:?}");
        assert!(milestones.contains(&(5000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
    }
}

#[test]
fn further_events_of_a_link_amid_a_handover_change_nothing() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.at(100, GOING_DOWN);
    net.at(1200, LinkCue::Rollback);
    net.at(1590, LinkCue::Down);
    net.run();
    let began = net
        .milestones_ms()
        .iter()
        .filter(|(_, milestone)| matches!(milestone, Milestone::Started(_)))
        .count();
    assert_eq!(began, 1);
    assert!(net.milestones_ms().contains(&(1600, Milestone::Redirected)));
    // The network has asked for a commitment at 1080 ms.
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, GOING_DOWN);
    net.at(1200, LinkCue::Rollback);
    net.run();
    assert!(net.milestones_ms().contains(&(1380, Milestone::Redirected)));
    assert!(!net.milestones_ms().contains(&(1200, Milestone::GivenUp(GivenUp::Rollback))));
}

#[test]
fn candidates_come_in_the_order_of_preference_whoever_is_heard_or_answers_first() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = Net::new(initiation, true);
        net.heard = vec![1, 0];
        net.lost.push((MessageId::N2N_HO_QUERY_RESOURCES_REQUEST, false, 1));
        net.at(0, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
        assert!(!milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(1)));
    }
}

#[test]
fn a_link_that_goes_down_amid_a_commitment_redirects_to_the_candidate_that_was_asked_for() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.resources[0] = Resources::new(Some(0));
    net.at(0, GOING_DOWN);
    net.at(1200, LinkCue::Down);
    net.run();
    let begun = (1200, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
}

#[test]
fn a_decision_that_is_taken_back_amid_a_scan_and_made_again_uses_that_scan() {
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, GOING_DOWN);
    net.at(500, LinkCue::Rollback);
    net.at(510, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    let scans = milestones.iter().filter(|(_, milestone)| *milestone == Milestone::ScanBegun).count();
    assert_eq!(scans, 1);
    // Begun at 460 ms; answered 20 ms after its end, and then as ever.
    assert!(milestones.contains(&(1080, Milestone::CommitAsked(0))), "{milestones:?}");
    assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
}

#[test]
fn a_network_that_found_no_room_asks_again_when_the_link_goes_down_again() {
    let mut net = Net::new(Initiation::Network, true);
    net.heard = Vec::new();
    net.at(0, GOING_DOWN);
    net.at(3000, LinkCue::Rollback);
    net.at(5000, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(1080, Milestone::GivenUp(GivenUp::NoCandidate))), "{milestones:?}");
    assert!(milestones.contains(&(5000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
}

#[test]
fn a_commitment_that_is_given_up_is_where_the_traffic_goes() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.resources[0] = Resources::new(Some(0));
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 3));
    net.at(0, GOING_DOWN);
    net.at(9400, LinkCue::Down);
    net.run();
    let begun = (9400, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
}

#[test]
fn messages_of_the_wrong_peer_or_at_the_wrong_time_are_counted_and_do_nothing() {
    let mut net = Net::new(Initiation::Network, true);
    let mut cx = Context { now: Time::ZERO, random: &mut net.random };
    let tlvs: Vec<Tlv> = Vec::new();
    // A candidate's PoS asks what only the mobile node may ask, the mobile node what only a PoS may.
    for (from, to, mid) in [
        (2, SERVING, MessageId::MN_HO_CANDIDATE_QUERY_REQUEST),
        (MOBILE_NODE, 2, MessageId::N2N_HO_COMMIT_REQUEST),
        (MOBILE_NODE, SERVING, MessageId::N2N_HO_COMPLETE_REQUEST),
        (2, MOBILE_NODE, MessageId::NET_HO_COMMIT_REQUEST),
        (SERVING, MOBILE_NODE, MessageId::N2N_HO_COMMIT_REQUEST),
    ] {
        net.mihfs[from].request(&mut cx, session(from, to), mid, tlvs.clone(), None);
    }
    net.well_formed = false;
    net.run();
    assert_eq!(net.milestones, []);
    assert_eq!(net.serving.unexpected(), 2);
    assert_eq!(net.candidates[0].unexpected(), 1);
    assert_eq!(net.mobile_node.unexpected(), 2);
}

/// The milestones of a handover under a policy, begun at 0, with the link down at 9.4 s.
fn under(initiation: Initiation, policy: Policy, prepare: impl Fn(&mut Net)) -> Net {
    let mut net = Net::with(Settings { policy, ..Settings::of(initiation) });
    prepare(&mut net);
    net.at(0, GOING_DOWN);
    net.at(9400, LinkCue::Down);
    net.run();
    net
}

#[test]
fn who_acts_ahead_waits_for_it_unless_the_link_recovers() {
    let policy = Policy { act_on: ActOn::GoingDown { ahead: Some(Span::from_ms(3000)) }, ..Policy::PLAIN };
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let milestones = under(initiation, policy, |_| {}).milestones_ms();
        assert_eq!(milestones[0], (6400, Milestone::Started(Trigger::GoingDown)), "{initiation:?}");
        let mut net = Net::with(Settings { policy, ..Settings::of(initiation) });
        net.at(0, GOING_DOWN);
        net.at(6000, LinkCue::Rollback);
        net.run();
        assert!(!net.milestones_ms().iter().any(|(_, milestone)| matches!(milestone, Milestone::Started(_))));
    }
}

#[test]
fn who_acts_on_link_down_prepares_nothing_and_who_acts_on_link_detected_waits_for_nothing() {
    let down = Policy { act_on: ActOn::Down, ..Policy::PLAIN };
    let net = under(Initiation::Mobile, down, |_| {});
    let begun = (9400, Milestone::RedirectBegun(0, Cause::LinkDown));
    assert_eq!(net.milestones_ms(), [begun, (9440, Milestone::Redirected)]);
    assert!(net.sent.is_empty());
    let detected = Policy { act_on: ActOn::Detected, ..Policy::PLAIN };
    let net = under(Initiation::Mobile, detected, |net| {
        net.after(Span::from_ms(500), Coming::Candidate(0, CandidateCue::Detected));
        // It begins upon the other one, and is not taken back by what the old link does.
        net.after(Span::from_ms(700), Coming::Candidate(1, CandidateCue::Detected));
        net.at(800, LinkCue::Rollback);
    });
    assert_eq!(net.milestones_ms()[0], (500, Milestone::Started(Trigger::Detected(0))));
    assert!(net.milestones_ms().contains(&(2060, Milestone::Committed(0))), "{:?}", net.milestones_ms());
}

#[test]
fn who_acts_on_thresholds_tries_anew_what_came_to_nothing_and_takes_nothing_back() {
    let policy = Policy { act_on: ActOn::Crossed, ..Policy::PLAIN };
    let started = |net: &Net| -> Vec<u64> {
        let all = net.milestones_ms().into_iter();
        let crossed = Milestone::Started(Trigger::Crossed);
        all.filter(|(_, milestone)| *milestone == crossed).map(|(at_ms, _)| at_ms).collect()
    };
    let net = under(Initiation::Mobile, policy, |net| {
        net.at(100, LinkCue::Crossed);
        net.at(300, LinkCue::Rollback);
        net.at(400, LinkCue::Crossed);
    });
    assert_eq!(started(&net), [100]);
    assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::Committed(0)));
    let net = under(Initiation::Mobile, policy, |net| {
        net.heard = Vec::new();
        net.at(100, LinkCue::Crossed);
        net.at(5000, LinkCue::Crossed);
    });
    assert_eq!(started(&net), [100, 5000]);
    let net = under(Initiation::Mobile, Policy::PLAIN, |net| net.at(100, LinkCue::Crossed));
    assert!(!started(&net).contains(&100));
}

#[test]
fn candidates_are_chosen_by_order_by_signal_or_by_room() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        for (choice, first) in [(Choice::Order, 0), (Choice::Signal, 1), (Choice::FreeCapacity, 1)] {
            let policy = Policy { choice, ..Policy::PLAIN };
            let net = under(initiation, policy, |net| {
                // The second is heard better, and has more room.
                net.heard = vec![1, 0];
                net.resources = vec![Resources::new(Some(3)), Resources::new(None)];
            });
            let asked = net
                .milestones_ms()
                .into_iter()
                .find(|(_, milestone)| matches!(milestone, Milestone::CommitAsked(_)));
            let asked = asked.map(|(_, milestone)| milestone);
            assert_eq!(asked, Some(Milestone::CommitAsked(first)), "{initiation:?} {choice:?}");
        }
        // By room, whatever is heard better.
        let policy = Policy { choice: Choice::FreeCapacity, ..Policy::PLAIN };
        let net = under(initiation, policy, |net| {
            net.heard = vec![1, 0];
            net.resources = vec![Resources::new(Some(3)), Resources::new(Some(2))];
        });
        assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
    }
}

#[test]
fn a_place_is_free_again_when_its_mobile_node_has_left() {
    let mut net = under(Initiation::Mobile, Policy::PLAIN, |net| net.resources[0] = Resources::new(Some(1)));
    let resources = &mut net.resources[0];
    // The one that has the place finds it; another one does not.
    assert!(resources.has_room_for(&id(MOBILE_NODE)) && !resources.has_room_for(&id(SERVING)));
    resources.release(&id(MOBILE_NODE));
    assert!(resources.has_room_for(&id(SERVING)));
}

#[test]
fn a_link_is_entered_when_it_is_agreed_and_traffic_waits_for_it() {
    let policy = Policy { entry: Entry::AfterCommitment, ..Policy::PLAIN };
    for (initiation, committed_ms) in [(Initiation::Mobile, 1560), (Initiation::Network, 1340)] {
        let net = under(initiation, policy, |_| {});
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(committed_ms, Milestone::Committed(0))), "{milestones:?}");
        let begun = (committed_ms + 300, Milestone::RedirectBegun(0, Cause::Commit));
        assert!(milestones.contains(&begun), "{milestones:?}");
        assert!(milestones.iter().any(|(_, milestone)| *milestone == Milestone::Completed));
        assert!(net.acts.contains(&(committed_ms, Command::Enter(0))));
    }
    // Also where the old link is down before it is up.
    let mut net = Net::with(Settings { policy, ..Settings::of(Initiation::Mobile) });
    net.at(0, GOING_DOWN);
    net.at(1700, LinkCue::Down);
    net.run();
    assert!(net.milestones_ms().contains(&(1860, Milestone::RedirectBegun(0, Cause::Commit))));
}

#[test]
fn a_commitment_for_a_link_that_is_lost_takes_another_that_is_up() {
    let net = under(Initiation::Mobile, Policy::PLAIN, |net| {
        net.mobile_node.handle_candidate_event(0, CandidateCue::Gone);
        net.after(Span::from_ms(1700), Coming::Candidate(0, CandidateCue::Gone));
    });
    // Agreed on at 1560 ms; lost 160 ms before it would be up.
    let begun = (1700, Milestone::RedirectBegun(1, Cause::Commit));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
    assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::Completed));
}

#[test]
fn the_old_link_is_kept_or_given_up_when_it_is_committed_redirected_or_complete() {
    for (initiation, committed_ms) in [(Initiation::Mobile, 1560), (Initiation::Network, 1340)] {
        // Redirected 40 ms later, completed 480 ms after that. Who breaks first has answered before: the network waits
        // for the processing of its request.
        let answered_ms = if initiation == Initiation::Mobile { 0 } else { 200 };
        for (old_link, left_ms) in [
            (OldLink::Kept, None),
            (OldLink::UntilCompleted, Some(committed_ms + 40 + 480)),
            (OldLink::UntilRedirected, Some(committed_ms + 40)),
            (OldLink::UntilCommitted, Some(committed_ms + answered_ms + 10)),
        ] {
            let net = under(initiation, Policy { old_link, ..Policy::PLAIN }, |_| {});
            let left = net.acts.iter().find(|(_, command)| *command == Command::Leave(CANDIDATES.len()));
            assert_eq!(left.map(|&(at_ms, _)| at_ms), left_ms, "{initiation:?} {old_link:?}");
            let begun_ms = if old_link == OldLink::UntilCommitted { left_ms } else { Some(committed_ms) };
            let begun = net
                .milestones_ms()
                .into_iter()
                .find(|(_, milestone)| matches!(milestone, Milestone::RedirectBegun(0, Cause::Commit)));
            assert_eq!(begun.map(|(at_ms, _)| at_ms), begun_ms, "{initiation:?} {old_link:?}");
            assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::Completed));
        }
    }
}

#[test]
fn an_answer_that_does_not_come_is_waited_for_asked_for_again_given_up_or_done_without() {
    let after = Span::from_ms(700);
    // Without acknowledgements nothing else tells of the loss. Asked at 1080 ms.
    let lost = |then: Option<Then>| {
        let policy = Policy { no_answer: then.map(|then| NoAnswer { after, then }), ..Policy::PLAIN };
        let settings = Settings { policy, acknowledgement: false, ..Settings::of(Initiation::Mobile) };
        let mut net = Net::with(settings);
        net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 1));
        net.at(0, GOING_DOWN);
        net.at(9400, LinkCue::Down);
        net.run();
        net.milestones_ms()
    };
    let begun = |milestones: &[(u64, Milestone)]| {
        let is = |milestone: &&(u64, Milestone)| matches!(milestone.1, Milestone::RedirectBegun(..));
        milestones.iter().find(is).copied()
    };
    assert_eq!(begun(&lost(None)), Some((9400, Milestone::RedirectBegun(0, Cause::LinkDown))));
    let repeated = Some((1780 + 480, Milestone::RedirectBegun(0, Cause::Commit)));
    assert_eq!(begun(&lost(Some(Then::Repeat))), repeated);
    let aborted = lost(Some(Then::Abort));
    assert!(aborted.contains(&(1780, Milestone::GivenUp(GivenUp::NoAnswer))));
    assert_eq!(begun(&aborted), Some((9400, Milestone::RedirectBegun(0, Cause::LinkDown))));
    let other = Some((1780, Milestone::RedirectBegun(0, Cause::NoAnswer)));
    assert_eq!(begun(&lost(Some(Then::OtherInterface))), other);
}

#[test]
fn an_answer_to_an_earlier_request_counts_as_one_to_its_repetition() {
    // The answer takes 480 ms, and is asked for again after 400 ms.
    let no_answer = Some(NoAnswer { after: Span::from_ms(400), then: Then::Repeat });
    let policy = Policy { no_answer, ..Policy::PLAIN };
    let net = under(Initiation::Mobile, policy, |_| {});
    assert!(net.milestones_ms().contains(&(1560, Milestone::Committed(0))), "{:?}", net.milestones_ms());
    // The answers to both repetitions come when nobody waits for them any more.
    assert_eq!(net.mobile_node.unexpected(), 2);
    let net = under(Initiation::Network, policy, |_| {});
    // The scan is asked for at 240 ms and answered at 1080 ms, twice repeated.
    assert!(net.milestones_ms().contains(&(1080, Milestone::CommitAsked(0))), "{:?}", net.milestones_ms());
}

#[test]
fn a_network_asks_again_or_gives_up_what_is_not_answered() {
    for (mid, given_up_ms) in [
        (MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, 240 + 900),
        (MessageId::NET_HO_COMMIT_REQUEST, 1320 + 900),
    ] {
        for then in [Then::Repeat, Then::Abort] {
            let no_answer = Some(NoAnswer { after: Span::from_ms(900), then });
            let policy = Policy { no_answer, ..Policy::PLAIN };
            let settings = Settings { policy, acknowledgement: false, ..Settings::of(Initiation::Network) };
            let mut net = Net::with(settings);
            net.lost.push((mid, false, 1));
            net.at(0, GOING_DOWN);
            net.at(9400, LinkCue::Down);
            net.run();
            let milestones = net.milestones_ms();
            let commits = milestones
                .iter()
                .any(|(_, milestone)| matches!(milestone, Milestone::RedirectBegun(0, Cause::Commit)));
            assert_eq!(commits, then == Then::Repeat, "{mid} {milestones:?}");
            let given_up = milestones.contains(&(given_up_ms, Milestone::GivenUp(GivenUp::Message)));
            assert_eq!(given_up, then == Then::Abort, "{mid} {milestones:?}");
        }
    }
}

#[test]
fn a_message_has_timers_of_its_own_beside_those_of_the_rest() {
    let timers = |mid, timeout_ms, retransmissions| MessageTimers {
        mid,
        timeout: Span::from_ms(timeout_ms),
        retransmissions,
    };
    let mut net = Net::with(Settings {
        timers: vec![
            timers(MessageId::MN_HO_COMMIT_REQUEST, 50, 4),
            timers(MessageId::MN_HO_COMMIT_RESPONSE, 30, 9),
        ],
        ..Settings::of(Initiation::Mobile)
    });
    // Others are repeated after 100 ms.
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, false, 1));
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 4));
    net.lost.push((MessageId::MN_HO_COMMIT_RESPONSE, false, 5));
    net.at(0, GOING_DOWN);
    net.run();
    let sent = |mid: MessageId| -> Vec<u64> {
        let of = net.sent.iter().filter(|(_, other, ack)| (*other, *ack) == (mid, false));
        of.map(|(at, ..)| at.as_ns() / 1_000_000).collect()
    };
    assert_eq!(sent(MessageId::MN_HO_CANDIDATE_QUERY_REQUEST), [600, 700]);
    assert_eq!(sent(MessageId::MN_HO_COMMIT_REQUEST), [1180, 1230, 1280, 1330, 1380]);
    // Answered at 1380 + 20 + 200 + 240 ms; five are lost, and the ACK of the sixth takes 40 ms.
    assert_eq!(sent(MessageId::MN_HO_COMMIT_RESPONSE), [1840, 1870, 1900, 1930, 1960, 1990, 2020]);
}

#[test]
fn where_both_begin_at_once_the_mobile_node_declines_what_the_network_prepares() {
    let mut net = Net::new(Initiation::Both, true);
    net.at(0, GOING_DOWN);
    net.run();
    // As if the network had not begun.
    let committed = net
        .milestones_ms()
        .into_iter()
        .filter(|(_, milestone)| matches!(milestone, Milestone::Committed(_) | Milestone::RedirectBegun(..)));
    assert_eq!(
        committed.collect::<Vec<_>>(),
        [(1560, Milestone::Committed(0)), (1560, Milestone::RedirectBegun(0, Cause::Commit))]
    );
    // Asked at 240 ms, it answers at 260 ms, and hears no more of it.
    assert!(net.messages().contains(&MessageId::NET_HO_CANDIDATE_QUERY_RESPONSE));
    assert!(!net.messages().contains(&MessageId::NET_HO_COMMIT_REQUEST));
    assert_eq!((net.mobile_node.unexpected(), net.serving.unexpected()), (0, 0));
}

#[test]
fn a_mobile_node_comes_back_when_the_new_link_is_down_and_its_next_handover_begins_anew() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let home = CANDIDATES.len();
        let mut net = Net::new(initiation, true);
        net.at(0, GOING_DOWN);
        net.at(3000, LinkCue::Rollback);
        net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
        net.after(Span::from_ms(5000), Coming::Candidate(0, CandidateCue::Up));
        net.at(6000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        let back = (4000, Milestone::RedirectBegun(home, Cause::LinkDown));
        assert!(milestones.contains(&back), "{initiation:?} {milestones:?}");
        assert!(
            milestones.contains(&(6000, Milestone::Started(Trigger::GoingDown))),
            "{initiation:?} {milestones:?}"
        );
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
        // Where the old link is not up, it waits for whichever comes first.
        for (first, to) in [(LinkCue::Up, home), (LinkCue::Down, 1)] {
            let mut net = Net::new(initiation, true);
            net.mobile_node.handle_candidate_event(1, CandidateCue::Gone);
            net.at(0, GOING_DOWN);
            net.at(3000, LinkCue::Down);
            net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
            net.at(5000, first);
            net.after(Span::from_ms(5500), Coming::Candidate(1, CandidateCue::Up));
            net.run();
            let begun = Milestone::RedirectBegun(to, Cause::LinkDown);
            assert!(
                net.milestones_ms().iter().any(|(_, milestone)| *milestone == begun),
                "{initiation:?} {to}"
            );
        }
    }
}

#[test]
fn a_network_whose_question_nobody_will_answer_decides_anew_once_the_mobile_node_is_back() {
    // The link is down amid the scan; amid a commitment whose request is lost.
    for (down_ms, acknowledgement) in [(700, true), (1500, false)] {
        let mut net = Net::new(Initiation::Network, acknowledgement);
        if !acknowledgement {
            net.lost.push((MessageId::N2N_HO_COMMIT_REQUEST, false, 1));
        }
        net.at(0, GOING_DOWN);
        net.at(down_ms, LinkCue::Down);
        net.at(2500, LinkCue::Up);
        net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
        net.after(Span::from_ms(5000), Coming::Candidate(0, CandidateCue::Up));
        net.at(6000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(down_ms, Milestone::RedirectBegun(0, Cause::LinkDown))));
        assert!(
            milestones.contains(&(6000, Milestone::Started(Trigger::GoingDown))),
            "{down_ms} {milestones:?}"
        );
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
    }
}

#[test]
fn a_first_registration_amid_a_handover_says_nothing() {
    let mut net = Net::new(Initiation::Network, true);
    let mut cx = Context { now: Time::ZERO, random: &mut net.random };
    let links = vec![serving_link().link];
    net.mihfs[MOBILE_NODE].register(&mut cx, session(MOBILE_NODE, SERVING), links);
    net.at(0, GOING_DOWN);
    net.run();
    // As without it, but for the answer that goes before.
    assert!(net.milestones_ms().contains(&(1340, Milestone::Committed(0))), "{:?}", net.milestones_ms());
}

#[test]
fn without_an_agreement_traffic_goes_to_who_is_there() {
    let down = Policy { act_on: ActOn::Down, ..Policy::PLAIN };
    let gone = |net: &mut Net, candidates: &[usize]| {
        for &candidate in candidates {
            net.mobile_node.handle_candidate_event(candidate, CandidateCue::Gone);
        }
    };
    let begun = |net: &Net, at_ms, to, cause| {
        let begun = (at_ms, Milestone::RedirectBegun(to, cause));
        assert!(net.milestones_ms().contains(&begun), "{begun:?} {:?}", net.milestones_ms());
    };
    // The first is out of reach.
    let net = under(Initiation::Mobile, down, |net| gone(net, &[0]));
    begun(&net, 9400, 1, Cause::LinkDown);
    // Both are; the first would be up 300 ms later.
    let net = under(Initiation::Mobile, down, |net| {
        gone(net, &[0, 1]);
        net.after(Span::from_ms(9500), Coming::Candidate(1, CandidateCue::Up));
    });
    begun(&net, 9500, 1, Cause::LinkDown);
    // The old network is back before any.
    let net = under(Initiation::Mobile, down, |net| {
        gone(net, &[0, 1]);
        net.at(9600, LinkCue::Up);
    });
    begun(&net, 9600, CANDIDATES.len(), Cause::LinkDown);
    // One that is heard meanwhile is entered.
    let after_commitment = Policy { entry: Entry::AfterCommitment, ..down };
    let net = under(Initiation::Mobile, after_commitment, |net| {
        net.after(Span::from_ms(9500), Coming::Candidate(1, CandidateCue::Detected));
    });
    assert!(net.acts.contains(&(9500, Command::Enter(1))), "{:?}", net.acts);
    // The one that was agreed on is lost 160 ms before it would be up, and no other is there: the old one is, still.
    let net = under(Initiation::Mobile, Policy::PLAIN, |net| {
        gone(net, &[0, 1]);
        net.after(Span::from_ms(1700), Coming::Candidate(0, CandidateCue::Gone));
    });
    begun(&net, 1700, CANDIDATES.len(), Cause::LinkDown);
    // It is lost in use: the old one is down, another is up.
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.at(3000, LinkCue::Down);
    net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
    net.run();
    begun(&net, 4000, 1, Cause::LinkDown);
    // The old one is down again amid the way back.
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
    net.at(4010, LinkCue::Down);
    net.run();
    begun(&net, 4000, CANDIDATES.len(), Cause::LinkDown);
    begun(&net, 4010, 1, Cause::LinkDown);
}

#[test]
fn candidates_are_left_again_by_who_is_back_where_they_are_entered_when_it_is_agreed() {
    for (entry, left) in [(Entry::AfterCommitment, vec![0, 1]), (Entry::Before, Vec::new())] {
        let mut net = Net::with(Settings {
            policy: Policy { entry, ..Policy::PLAIN },
            ..Settings::of(Initiation::Mobile)
        });
        net.at(0, GOING_DOWN);
        net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
        net.run();
        let left: Vec<(u64, Command)> = left.into_iter().map(|at| (4040, Command::Leave(at))).collect();
        let found: Vec<(u64, Command)> =
            net.acts.iter().copied().filter(|(_, command)| matches!(command, Command::Leave(_))).collect();
        assert_eq!(found, left, "{entry:?}");
    }
}

#[test]
fn who_has_given_up_himself_scans_for_the_network() {
    let mut net = Net::new(Initiation::Both, true);
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, false, 3));
    net.at(0, GOING_DOWN);
    // It gives up at 900 ms; the network, which was declined at 260 ms, begins anew.
    net.at(1000, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(900, Milestone::GivenUp(GivenUp::Message))), "{milestones:?}");
    // As ever: 1340 ms after it began.
    assert!(milestones.contains(&(2340, Milestone::Committed(0))), "{milestones:?}");
}

#[test]
fn a_commitment_of_the_network_that_comes_again_is_answered_as_before() {
    let no_answer = Some(NoAnswer { after: Span::from_ms(900), then: Then::Repeat });
    let mut net = Net::with(Settings {
        policy: Policy { no_answer, ..Policy::PLAIN },
        acknowledgement: false,
        ..Settings::of(Initiation::Network)
    });
    net.resources[0] = Resources::new(Some(1));
    net.lost.push((MessageId::NET_HO_COMMIT_RESPONSE, false, 1));
    net.at(0, GOING_DOWN);
    net.run();
    let sent = |mid: MessageId| net.sent.iter().filter(|(_, other, _)| *other == mid).count();
    assert_eq!((sent(MessageId::NET_HO_COMMIT_REQUEST), sent(MessageId::NET_HO_COMMIT_RESPONSE)), (2, 2));
    // Told by the new PoS alone; the place is kept.
    assert_eq!(sent(MessageId::N2N_HO_COMPLETE_REQUEST), 1);
    assert!(!net.resources[0].has_room_for(&id(SERVING)));
}

#[test]
fn a_commitment_of_the_network_that_is_rejected_gives_its_place_back() {
    let mut net = Net::new(Initiation::Network, true);
    net.resources[0] = Resources::new(Some(1));
    // The request leaves at 1320 ms and arrives at 1340 ms, when the mobile node is on its way to the other one.
    net.after(Span::from_ms(1325), Coming::Candidate(0, CandidateCue::Gone));
    net.at(0, GOING_DOWN);
    net.at(1330, LinkCue::Down);
    net.at(6000, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(1330, Milestone::RedirectBegun(1, Cause::LinkDown))), "{milestones:?}");
    assert!(milestones.contains(&(6000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
    assert_eq!((net.serving.unexpected(), net.candidates[0].unexpected()), (0, 0));
    let given_back = net.sent.iter().filter(|(_, mid, _)| *mid == MessageId::N2N_HO_COMPLETE_RESPONSE);
    assert!(given_back.count() > 0 && net.resources[0].has_room_for(&id(SERVING)));
}

/// A handover to networks that are entered when it is agreed, with one place each, in which all these messages are lost.
fn with_places(initiation: Initiation, validity: Validity, lost: &[MessageId]) -> Net {
    let policy = Policy { entry: Entry::AfterCommitment, ..Policy::PLAIN };
    let mut net = Net::with(Settings { policy, validity, ..Settings::of(initiation) });
    net.resources = vec![Resources::new(Some(1)), Resources::new(Some(1))];
    net.lost = lost.iter().map(|&mid| (mid, false, u32::MAX)).collect();
    net.at(0, GOING_DOWN);
    net
}

/// Whether the first candidate has its place left, and when the last thing happened.
fn place_and_end(net: &mut Net) -> (bool, u64) {
    net.run();
    (net.resources[0].has_room_for(&id(SERVING)), net.now.as_ns() / 1_000_000)
}

#[test]
fn a_place_that_was_agreed_on_and_is_not_taken_is_free_again_after_its_time() {
    // Asked for at 1320 ms, reserved after its processing, for five seconds; the mobile node never hears of it.
    let mut unheard = with_places(Initiation::Mobile, Validity::Acked, &[MessageId::MN_HO_COMMIT_RESPONSE]);
    assert_eq!(place_and_end(&mut unheard), (true, 1520 + 5000));
    // The serving PoS does not hear of it, and neither does it heed a late answer once the link has recovered.
    let lost = [MessageId::N2N_HO_COMMIT_RESPONSE];
    let mut late = with_places(Initiation::Network, Validity::Open, &lost);
    late.heard = vec![0];
    late.at(4000, LinkCue::Rollback);
    assert_eq!(place_and_end(&mut late), (true, 1300 + 5000));
    // The mobile node is not told to go.
    let mut stays = with_places(Initiation::Network, Validity::Acked, &[MessageId::NET_HO_COMMIT_REQUEST]);
    assert_eq!(place_and_end(&mut stays), (true, 1300 + 5000));
}

#[test]
fn a_place_that_is_taken_is_kept() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = with_places(initiation, Validity::Acked, &[]);
        let (free, end_ms) = place_and_end(&mut net);
        assert!(!free && end_ms < 6000, "{initiation:?}: {end_ms}");
        // It leaves.
        net.resources[0].release(&id(MOBILE_NODE));
        assert!(net.resources[0].has_room_for(&id(SERVING)));
    }
    // Who is there already has taken it as it is agreed on.
    let mut there = with_places(Initiation::Mobile, Validity::Acked, &[MessageId::MN_HO_COMMIT_RESPONSE]);
    there.resources[0].arrive(&id(MOBILE_NODE));
    let (free, end_ms) = place_and_end(&mut there);
    assert!(!free && end_ms < 6000, "{end_ms}");
}
