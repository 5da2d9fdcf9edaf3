//! Handovers by MIH commands: a mobile node, the point of service that it leaves, and two that it may come to, joined by
//! paths that take constant times and lose what a test says. Every instant is worked out by hand.

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::handover::{
    Candidate, CandidatePos, CandidatePosConfig, Cause, Command, GivenUp, Initiation, LinkCue, Milestone,
    MobileNode, MobileNodeConfig, Resources, ServingPos, ServingPosConfig,
};
use roamsim_protocols::mih::wire::link::{LinkTupleId, LinkType};
use roamsim_protocols::mih::{
    Acknowledgement, AcknowledgementMode, Message, MessageId, Mihf, MihfId, Opcode, SessionConfig, SessionId,
    Tlv, Validity,
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
const SCAN: Span = Span::from_ms(600);
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
}

/// The session of `node` with `peer`: they are made in the order of the nodes.
fn session(node: usize, peer: usize) -> SessionId {
    SessionId((if peer < node { peer } else { peer - 1 }) as u32)
}

impl Net {
    fn new(initiation: Initiation, acknowledgement: bool) -> Net {
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
                    validity: Validity::Acked,
                    lifetime: None,
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
        Net {
            now: Time::ZERO,
            mihfs: (0..NAMES.len()).map(mihf).collect(),
            random: Stream::new(1, 0, "test"),
            mobile_node: MobileNode::new(MobileNodeConfig {
                initiation,
                serving: session(MOBILE_NODE, SERVING),
                serving_link: serving_link(),
                candidates: candidates(MOBILE_NODE),
                processing_time: PROCESSING,
                message_bytes: Some(200),
            }),
            serving: ServingPos::new(ServingPosConfig {
                initiation,
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
                        processing_time: PROCESSING,
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
        }
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
                match command {
                    Command::Scan => self.after(SCAN, Coming::Scanned),
                    Command::Redirect(_) => self.after(REDIRECT, Coming::Redirected),
                }
            }
            let of_mobile_node = std::iter::from_fn(|| self.mobile_node.poll_milestone());
            self.milestones.extend(of_mobile_node.map(|milestone| (self.now, milestone)));
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
                        self.mobile_node.handle_link_event(cue);
                        let mihf = &mut self.mihfs[SERVING];
                        match cue {
                            LinkCue::GoingDown => self.serving.handle_link_going_down(&mut cx, mihf),
                            LinkCue::Rollback => self.serving.handle_rollback(),
                            LinkCue::Down => {}
                        }
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
    net.at(0, LinkCue::GoingDown);
    net.run();
    // An exchange with the PoS: there and back 40 ms, its processing 200 ms, and in it the same once more: 480 ms.
    assert_eq!(
        net.milestones_ms(),
        [
            (0, Milestone::Started),
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
    net.at(0, LinkCue::GoingDown);
    net.run();
    assert_eq!(
        net.milestones_ms(),
        [
            (0, Milestone::Started),
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
        net.at(0, LinkCue::GoingDown);
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
        net.at(0, LinkCue::GoingDown);
        net.at(9400, LinkCue::Down);
        net.run();
        let milestones = net.milestones_ms();
        // Both answer at 1060 ms.
        assert!(milestones.contains(&(1360, Milestone::GivenUp(GivenUp::Response))), "{milestones:?}");
        assert!(milestones.contains(&(9400, Milestone::RedirectBegun(0, Cause::LinkDown))), "{milestones:?}");
    }
}

#[test]
fn a_lost_message_costs_its_retransmission() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 2));
    net.at(0, LinkCue::GoingDown);
    net.run();
    assert!(net.milestones_ms().contains(&(1560 + 200, Milestone::Committed(0))));
}

#[test]
fn who_waits_in_vain_redirects_when_the_link_is_down() {
    // Without acknowledgements nothing tells that the request is lost.
    let mut net = Net::new(Initiation::Mobile, false);
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE, false, 1));
    net.heard = vec![1];
    net.at(0, LinkCue::GoingDown);
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
        net.at(0, LinkCue::GoingDown);
        net.run();
        let milestones = net.milestones_ms();
        let redirects =
            |milestone: &(u64, Milestone)| milestone.1 == Milestone::RedirectBegun(1, Cause::Commit);
        assert!(milestones.iter().any(redirects), "{milestones:?}");
        assert!(!milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
        // None has any.
        let mut net = Net::new(initiation, true);
        net.resources = vec![Resources::new(Some(0)), Resources::new(Some(0))];
        net.at(0, LinkCue::GoingDown);
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
        net.at(0, LinkCue::GoingDown);
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
        net.at(0, LinkCue::GoingDown);
        net.at(rollback_ms, LinkCue::Rollback);
        net.at(5000, LinkCue::GoingDown);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(rollback_ms, Milestone::GivenUp(GivenUp::Rollback))), "{milestones:?}");
        assert!(milestones.contains(&(5000, Milestone::Started)), "{milestones:?}");
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
    }
}

#[test]
fn further_events_of_a_link_amid_a_handover_change_nothing() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, LinkCue::GoingDown);
    net.at(100, LinkCue::GoingDown);
    net.at(1200, LinkCue::Rollback);
    net.at(1590, LinkCue::Down);
    net.run();
    let began = net.milestones_ms().iter().filter(|(_, milestone)| *milestone == Milestone::Started).count();
    assert_eq!(began, 1);
    assert!(net.milestones_ms().contains(&(1600, Milestone::Redirected)));
    // The network has asked for a commitment at 1080 ms.
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, LinkCue::GoingDown);
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
        net.at(0, LinkCue::GoingDown);
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
    net.at(0, LinkCue::GoingDown);
    net.at(1200, LinkCue::Down);
    net.run();
    let begun = (1200, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
}

#[test]
fn a_decision_that_is_taken_back_amid_a_scan_and_made_again_uses_that_scan() {
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, LinkCue::GoingDown);
    net.at(500, LinkCue::Rollback);
    net.at(510, LinkCue::GoingDown);
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
    net.at(0, LinkCue::GoingDown);
    net.at(3000, LinkCue::Rollback);
    net.at(5000, LinkCue::GoingDown);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(1080, Milestone::GivenUp(GivenUp::NoCandidate))), "{milestones:?}");
    assert!(milestones.contains(&(5000, Milestone::Started)), "{milestones:?}");
}

#[test]
fn a_commitment_that_is_given_up_is_where_the_traffic_goes() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.resources[0] = Resources::new(Some(0));
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 3));
    net.at(0, LinkCue::GoingDown);
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
