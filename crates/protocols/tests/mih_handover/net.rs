//! A mobile node, the point of service that it leaves, and two that it may come to, joined by paths that take
//! constant times and lose what a test says.

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::handover::policy::{Choice, Entry, Policy};
use roamsim_protocols::mih::handover::{
    Candidate, CandidateCue, CandidatePos, CandidatePosConfig, Command, Initiation, LinkCue, Milestone,
    MobileNode, MobileNodeConfig, Resources, ServingPos, ServingPosConfig,
};
use roamsim_protocols::mih::wire::link::{LinkTupleId, LinkType};
use roamsim_protocols::mih::{
    Acknowledgement, AcknowledgementMode, Message, MessageId, MessageTimers, Mihf, MihfId, SessionConfig,
    SessionId, Validity,
};
use roamsim_protocols::{Address, Context, Machine, PeerAddress};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const MOBILE_NODE: usize = 0;
pub const SERVING: usize = 1;
/// The points of service of two candidates.
pub const CANDIDATES: [usize; 2] = [2, 3];
pub const NAMES: [&str; 4] = ["mn", "pos1", "pos2", "pos3"];

/// One way between the mobile node and any PoS, and between two of these.
pub const ACCESS: Span = Span::from_ms(20);
pub const BETWEEN: Span = Span::from_ms(20);
pub const PROCESSING: Span = Span::from_ms(200);
/// How long a place is kept.
pub const RESERVATION: Span = Span::from_secs(5);
pub const SCAN: Span = Span::from_ms(600);
/// From taking a link up to its being up.
pub const ENTRY: Span = Span::from_ms(300);
/// A link that will be down in 9.4 s.
pub const GOING_DOWN: LinkCue = LinkCue::GoingDown { within: Span::from_ms(9400) };
/// From the redirect to its acknowledgement.
pub const REDIRECT: Span = Span::from_ms(40);

pub fn id(node: usize) -> MihfId {
    MihfId::new(NAMES[node]).expect("short")
}

pub fn serving_link() -> LinkTupleId {
    LinkTupleId::of_macs(LinkType::IEEE_802_11, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 9])
}

pub fn candidate_link(candidate: usize) -> LinkTupleId {
    LinkTupleId::of_macs(LinkType::IEEE_802_16, [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 1, candidate as u8])
}

/// What comes next, in the order of the instants.
pub enum Coming {
    Pdu { to: usize, from: usize, pdu: Arc<Message> },
    Scanned,
    Redirected,
    Link(LinkCue),
    Candidate(usize, CandidateCue),
}

/// What a test chooses.
pub struct Settings {
    pub initiation: Initiation,
    pub policy: Policy,
    pub acknowledgement: bool,
    pub validity: Validity,
    pub timers: Vec<MessageTimers>,
}

impl Settings {
    pub fn of(initiation: Initiation) -> Settings {
        let validity = Validity::Acked;
        Settings { initiation, policy: Policy::PLAIN, acknowledgement: true, validity, timers: Vec::new() }
    }
}

pub struct Net {
    pub now: Time,
    pub mihfs: Vec<Mihf>,
    pub random: Stream,
    pub mobile_node: MobileNode,
    pub serving: ServingPos,
    pub candidates: Vec<CandidatePos>,
    pub resources: Vec<Resources>,
    pub coming: BTreeMap<(Time, u32), Coming>,
    pub next: u32,
    pub heard: Vec<usize>,
    /// Messages that are lost, by what they are and how many of them come first.
    pub lost: Vec<(MessageId, bool, u32)>,
    /// What reached whom: the message, and whether it was an acknowledgement.
    pub sent: Vec<(Time, MessageId, bool)>,
    pub milestones: Vec<(Time, Milestone)>,
    /// Whether what is sent must be read back as it was.
    pub well_formed: bool,
    /// What the user asked of links, and when.
    pub acts: Vec<(u64, Command)>,
}

/// The session of `node` with `peer`: they are made in the order of the nodes.
pub fn session(node: usize, peer: usize) -> SessionId {
    SessionId((if peer < node { peer } else { peer - 1 }) as u32)
}

impl Net {
    pub fn new(initiation: Initiation, acknowledgement: bool) -> Net {
        Net::accepting(initiation, acknowledgement, Validity::Acked)
    }

    pub fn accepting(initiation: Initiation, acknowledgement: bool, validity: Validity) -> Net {
        Net::with(Settings { acknowledgement, validity, ..Settings::of(initiation) })
    }

    pub fn with(settings: Settings) -> Net {
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

    pub fn after(&mut self, span: Span, what: Coming) {
        self.next += 1;
        self.coming.insert((self.now + span, self.next), what);
    }

    pub fn at(&mut self, at_ms: u64, cue: LinkCue) {
        self.next += 1;
        self.coming.insert((Time::ZERO + Span::from_ms(at_ms), self.next), Coming::Link(cue));
    }

    /// Whether a message is lost: the next one of its kind that a test has named.
    pub fn loses(&mut self, mid: MessageId, ack: bool) -> bool {
        let of = |lost: &&mut (MessageId, bool, u32)| (lost.0, lost.1) == (mid, ack) && lost.2 > 0;
        self.lost.iter_mut().find(of).map(|lost| lost.2 -= 1).is_some()
    }

    /// Serves all users and all MIHFs until nothing is left to do at this instant.
    pub fn serve(&mut self) {
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

    pub fn run(&mut self) {
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
                        self.mihfs[to].tp_data_indication(&mut cx, session(to, from), pdu);
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
    pub fn milestones_ms(&self) -> Vec<(u64, Milestone)> {
        self.milestones.iter().map(|&(at, milestone)| (at.as_ns() / 1_000_000, milestone)).collect()
    }

    /// The messages that were sent, without acknowledgements and repetitions.
    pub fn messages(&self) -> Vec<MessageId> {
        let mut seen = Vec::new();
        for &(_, mid, ack) in &self.sent {
            if !ack && !seen.contains(&mid) {
                seen.push(mid);
            }
        }
        seen
    }
}

/// The milestones of a handover under a policy, begun at 0, with the link down at 9.4 s.
pub fn under(initiation: Initiation, policy: Policy, prepare: impl Fn(&mut Net)) -> Net {
    let mut net = Net::with(Settings { policy, ..Settings::of(initiation) });
    prepare(&mut net);
    net.at(0, GOING_DOWN);
    net.at(9400, LinkCue::Down);
    net.run();
    net
}
