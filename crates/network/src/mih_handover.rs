//! Handovers by MIH: the users, sessions, links, sockets and counters of each entry.
//!
//! The users are machines of `protocols::mih::handover`. A scan takes the time that the scenario sets, and
//! finds the networks that the mobile node hears at its end. The station's association performs the users'
//! requests to links (Link_Action.request).

use crate::alarm::{Alarm, Moment};
use crate::distribution::Distribution;
use crate::event::Event;
use crate::handover::redirection::Redirection;
use crate::signalling::End;
use crate::socket::SocketId;
use crate::topology::NodeId;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::Address;
use roamsim_protocols::mih::Thresholds;
use roamsim_protocols::mih::handover::{
    CandidatePos, Cause, GivenUp, Initiation, Milestone, MobileNode, ServingPos, Trigger,
};
use roamsim_protocols::mih::wire::link::LinkTupleId;

/// A user, and the number of its node's MIHF.
#[derive(Debug)]
pub struct Party<U> {
    /// The MIHF.
    pub mihf: u32,
    /// The user.
    pub user: U,
}

/// How the serving PoS finds out that the mobile node's link is going down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// By its own access.
    Local,
    /// By MIH_Link_Going_Down.indication of the mobile node's MIHF, to which it subscribes.
    Remote,
}

/// A network that the mobile node may come to.
#[derive(Debug)]
pub struct CandidateNetwork {
    /// The user at its PoS.
    pub pos: Party<CandidatePos>,
    /// The mobile node's interface there.
    pub interface: Address,
    /// The cell among the mobile node's.
    pub place: usize,
    /// Its number in `Handovers::cells`, and in `World::resources`.
    pub cell: u32,
}

/// A node with which the mobile node has flows.
#[derive(Clone, Debug)]
pub struct Correspondent {
    /// It.
    pub node: NodeId,
    /// By candidate, and behind them for the network that is left, the sockets that a redirect goes through:
    /// the mobile node's and the correspondent's.
    pub sockets: Vec<[SocketId; 2]>,
    /// The sockets of its flows with the mobile node: there and here.
    pub moved: Vec<[SocketId; 2]>,
    /// The sequence number of the last redirection that it has heeded; 0: of none.
    pub sequence: u32,
}

/// One handover.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The link event that it began with.
    pub begun_by: Trigger,
    /// When the link of the first network told the mobile node that it is going down; `None`: it had not.
    pub going_down: Option<Time>,
    /// When the user acted upon Link_Going_Down; `None`: it never came.
    pub started: Option<Time>,
    /// When the scan began.
    pub scan_begun: Option<Time>,
    /// When it ended.
    pub scan_done: Option<Time>,
    /// When resources were asked for.
    pub resources_asked: Option<Time>,
    /// When it was known who has some.
    pub resources_known: Option<Time>,
    /// When the last commitment was asked for.
    pub commit_asked: Option<Time>,
    /// When it was agreed on.
    pub committed: Option<Time>,
    /// When the link of the new network was taken up.
    pub entry_begun: Option<Time>,
    /// When the redirection began.
    pub redirect_begun: Option<Time>,
    /// When all correspondents had acknowledged it.
    pub redirected: Option<Time>,
    /// When both PoS knew.
    pub completed: Option<Time>,
    /// Where to: a candidate, or behind them the network that was left.
    pub to: Option<usize>,
    /// By what the redirection was caused.
    pub cause: Option<Cause>,
    /// When and why it was prepared no further.
    pub given_up: Option<(Time, GivenUp)>,
    /// Whether the link recovered before anything came of it.
    pub taken_back: bool,
    /// Whether it led traffic elsewhere, or lost it: the account of handovers has that.
    pub(crate) moved: bool,
}

impl Account {
    /// A milestone is reached.
    pub(crate) fn note(&mut self, now: Time, milestone: Milestone) {
        match milestone {
            Milestone::Started(_) => self.started = Some(now),
            Milestone::ScanBegun => self.scan_begun = Some(now),
            Milestone::ScanDone => self.scan_done = Some(now),
            Milestone::ResourcesAsked => self.resources_asked = Some(now),
            Milestone::ResourcesKnown => self.resources_known = Some(now),
            Milestone::CommitAsked(_) => self.commit_asked = Some(now),
            Milestone::Committed(_) => self.committed = Some(now),
            Milestone::EntryBegun(to, cause) => {
                self.entry_begun = Some(now);
                (self.to, self.cause) = (Some(to), Some(cause));
            }
            Milestone::RedirectBegun(..) => self.redirect_begun = Some(now),
            Milestone::Redirected => self.redirected = Some(now),
            Milestone::Completed => self.completed = Some(now),
            Milestone::GivenUp(why) => {
                self.given_up.get_or_insert((now, why));
                self.taken_back = why == GivenUp::Rollback;
            }
        }
    }

    /// The first that was done, or given up, in it.
    pub(crate) fn begun(&self) -> Option<Time> {
        let given_up = self.given_up.map(|(at, _)| at);
        [self.started, given_up, self.entry_begun].into_iter().flatten().min()
    }
}

/// What describes a handover entry.
#[derive(Clone, Debug)]
pub struct MihHandoverConfig {
    /// Its name in the scenario.
    pub name: String,
    /// Who decides.
    pub initiation: Initiation,
    /// How the serving PoS hears of the link.
    pub notice: Notice,
    /// From which confidence on both hear of Link_Going_Down, in percent.
    pub confidence_percent: u8,
    /// How long a scan takes, in nanoseconds.
    pub scan_time: Distribution,
    /// Octets of a whole message; `None`: as long as it is.
    pub message_bytes: Option<u32>,
}

/// Who takes part in a handover entry.
pub struct Parties {
    /// The mobile node: a number of `Handovers::stations`.
    pub station: u32,
    /// The user there.
    pub mobile_node: Party<MobileNode>,
    /// The user at the PoS of the network that it leaves.
    pub serving: Party<ServingPos>,
    /// The mobile node's interface there.
    pub serving_interface: Address,
    /// That cell among the mobile node's.
    pub serving_place: usize,
    /// The link of that, in the words of messages.
    pub serving_link: LinkTupleId,
    /// The ends of the session between those two, the mobile node's first.
    pub session: [End; 2],
    /// Where it may go.
    pub candidates: Vec<CandidateNetwork>,
    /// With whom it has flows.
    pub correspondents: Vec<Correspondent>,
    /// The sockets of its sessions that open a connection.
    pub opens: Vec<SocketId>,
}

/// A handover entry at work, and what came of it.
pub struct MihHandover {
    /// What describes it.
    pub config: MihHandoverConfig,
    /// Who takes part.
    pub parties: Parties,
    /// Its handovers so far.
    pub accounts: Vec<Account>,
    /// The thresholds of the first network's signal that the mobile node's user has configured.
    pub(crate) thresholds: Thresholds,
    pub(crate) redirection: Redirection,
    /// Since when the link of the first network is going down.
    pub(crate) going_down: Option<Time>,
    /// The candidate, or behind them the network that was left, that traffic is redirected to.
    pub(crate) target: Option<usize>,
    pub(crate) set_up: bool,
    pub(crate) scanned_at: Option<Time>,
    pub(crate) alarm: Alarm,
    pub(crate) random: Stream,
}

impl MihHandover {
    /// Users that have heard nothing yet.
    pub fn new(
        config: MihHandoverConfig,
        parties: Parties,
        thresholds: Thresholds,
        random: Stream,
    ) -> MihHandover {
        MihHandover {
            redirection: Redirection::new(parties.correspondents.len()),
            config,
            parties,
            accounts: Vec::new(),
            thresholds,
            going_down: None,
            target: None,
            set_up: false,
            scanned_at: None,
            alarm: Alarm::default(),
            random,
        }
    }

    /// The cell among the mobile node's, and its interface there, of a candidate, or of the network that was
    /// left.
    pub fn target(&self, to: usize) -> (usize, Address) {
        let Parties { candidates, serving_place, serving_interface, .. } = &self.parties;
        candidates
            .get(to)
            .map_or((*serving_place, *serving_interface), |candidate| (candidate.place, candidate.interface))
    }

    /// The cell among the mobile node's that it used as its handover of this number began: who comes back has
    /// been in another one.
    pub fn left(&self, number: usize) -> usize {
        let came_to = |account: &Account| account.to.filter(|_| account.redirected.is_some());
        let last = self.accounts[..number].iter().rev().find_map(came_to);
        self.target(last.unwrap_or(self.parties.candidates.len())).0
    }

    /// The earliest instant with work to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        if !self.set_up {
            return Some(Time::ZERO);
        }
        let Parties { mobile_node, serving, candidates, .. } = &self.parties;
        let users = [mobile_node.user.poll_timeout(), serving.user.poll_timeout()];
        let candidates = candidates.iter().map(|candidate| candidate.pos.user.poll_timeout());
        let own = [self.scanned_at, self.redirection.poll_timeout()];
        users.into_iter().chain(candidates).chain(own).flatten().min()
    }

    pub(crate) fn arm(&mut self, number: u32, moment: &mut Moment<'_>) {
        let deadline = self.deadline();
        self.alarm.arm(deadline, Event::MihHandover(number), moment);
    }

    /// A milestone goes into the account. What comes of a handover that was taken back is nobody's.
    pub(crate) fn reach(&mut self, now: Time, milestone: Milestone) {
        let last = self.accounts.last();
        let over = last.is_none_or(|account| account.taken_back || account.redirected.is_some());
        let begun_by = match milestone {
            Milestone::Started(trigger) => trigger,
            Milestone::EntryBegun(..) => Trigger::Down,
            _ => Trigger::GoingDown,
        };
        let begins = match milestone {
            // The link may be down already when the network hears of it.
            Milestone::Started(_) => over || last.is_some_and(|account| account.entry_begun.is_none()),
            // The link went down, and nobody had seen it coming.
            Milestone::EntryBegun(..) => over,
            // The network never heard of it.
            Milestone::GivenUp(GivenUp::Notice) => over,
            Milestone::Completed => false,
            _ if over => return,
            _ => false,
        };
        if begins {
            self.accounts.push(Account { begun_by, going_down: self.going_down, ..Account::default() });
        } else if matches!(milestone, Milestone::Started(_)) {
            return;
        }
        if let Some(account) = self.accounts.last_mut() {
            account.note(now, milestone);
        }
    }
}
