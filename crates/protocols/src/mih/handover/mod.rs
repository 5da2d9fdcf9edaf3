//! MIH users that hand a mobile node over from one network to another: at the mobile node, at the point of
//! service (PoS) of the old network, and at the PoS of each candidate (IEEE Std 802.21-2008 section 7.4,
//! the commands MIH_MN_HO_*, MIH_Net_HO_* and MIH_N2N_HO_*).
//!
//! - Mobile-initiated: after Link_Going_Down the mobile node scans. It asks its PoS which candidates have
//!   resources (MIH_MN_HO_Candidate_Query; the PoS asks them by MIH_N2N_HO_Query_Resources). It has the
//!   first of them reserved (MIH_MN_HO_Commit, MIH_N2N_HO_Commit), and redirects its traffic after the
//!   confirmation.
//! - Network-initiated: the PoS gets the link event, asks the candidates, and makes the mobile node scan
//!   (MIH_Net_HO_Candidate_Query). It reserves, and commands the mobile node (MIH_Net_HO_Commit), which
//!   redirects at once.
//! - Both end with MIH_MN_HO_Complete and MIH_N2N_HO_Complete. A mobile node without a commit redirects
//!   when its link is down.
//!
//! A user calls the MIH_SAP of its node's MIHF. Its requests to other parts are [`Command`]s; its results,
//! with their instants, are [`Milestone`]s.
//!
//! [`policy`] has the choices that the standard leaves to users. When the new network's link is down, the
//! mobile node returns to the old one, and its next handover begins there.
//!
//! A mobile node whose own policy selects a network has another user ([`SelectingNode`]), and users on both
//! sides of each handover at every PoS ([`PointOfService`]).
//!
//! Not modelled: MIIS (candidates are known), quality of service (a candidate has room for a node or not),
//! more than one handover of a mobile node at a time, a handover from one candidate to another.

mod candidate;
mod messages;
mod mobile_node;
mod point_of_service;
pub mod policy;
mod selecting;
mod serving;

pub use candidate::{CandidatePos, CandidatePosConfig, Resources};
pub use mobile_node::{MobileNode, MobileNodeConfig};
pub use point_of_service::{PointOfService, PointOfServiceConfig};
pub use selecting::{SelectingNode, SelectingNodeConfig};
pub use serving::{ServingPos, ServingPosConfig};

use super::session_id::SessionId;
use super::wire::link::LinkTupleId;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// Who decides on a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initiation {
    /// The mobile node, upon an event of its own link.
    Mobile,
    /// The PoS of the network that it uses.
    Network,
    /// Either, each upon its own event: where both begin, the mobile node's own preparation goes first, and
    /// it declines the network's.
    Both,
}

impl Initiation {
    /// Whether the mobile node decides.
    pub fn by_mobile_node(self) -> bool {
        self != Initiation::Network
    }

    /// Whether its PoS does.
    pub fn by_network(self) -> bool {
        self != Initiation::Mobile
    }
}

/// A network that a mobile node may be handed over to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The mobile node's link there.
    pub link: LinkTupleId,
    /// The session with the PoS there.
    pub session: SessionId,
}

/// What happens to a link, as a handover user hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkCue {
    /// Link_Up.
    Up,
    /// Link_Going_Down.
    GoingDown {
        /// After which time it is expected to be down.
        within: Span,
    },
    /// Link_Going_Down is taken back.
    Rollback,
    /// Link_Down.
    Down,
    /// Link_Parameters_Report: the signal has crossed a threshold that the user has configured.
    Crossed,
}

/// What happens to the link of a candidate, as the mobile node's user hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateCue {
    /// Link_Detected.
    Detected,
    /// Link_Up.
    Up,
    /// Link_Down, of a candidate that is heard all the same: its link was given up.
    Left,
    /// Link_Down, or the candidate is heard no more.
    Gone,
}

/// What a mobile node's user asks of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Scan for the candidates; [`MobileNode::handle_scan`] tells what was found.
    Scan,
    /// Take this candidate's link up, or that of [`MobileNode::home`], if it is not up already.
    Enter(usize),
    /// Lead the traffic through it; [`MobileNode::handle_redirected`] tells when that is done.
    Redirect(usize),
    /// Give this candidate's link up, or that of [`MobileNode::home`], and do not take it up before
    /// [`Command::Enter`].
    Leave(usize),
}

/// Why traffic is redirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The handover was committed.
    Commit,
    /// The link that was in use is down.
    LinkDown,
    /// Nobody answered.
    NoAnswer,
}

/// Why a handover is not prepared any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// A request was given up, or what redirects.
    Message,
    /// No answer came in the time that it was waited for.
    NoAnswer,
    /// The answer to a request was given up: it may have arrived all the same.
    Response,
    /// What was to tell the network that the link is going down was given up.
    Notice,
    /// No candidate was heard, or none has resources.
    NoCandidate,
    /// The link did not go down after all.
    Rollback,
}

/// The link event that a handover begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// Link_Going_Down of the network that the mobile node uses.
    #[default]
    GoingDown,
    /// Link_Detected of this candidate.
    Detected(usize),
    /// Link_Parameters_Report of the network that it uses: the signal has crossed a threshold.
    Crossed,
    /// Link_Down of the network that it uses: nothing was prepared.
    Down,
    /// The node's policy has selected another network.
    Selected,
}

/// What a handover came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// The user begins to prepare it, upon this event.
    Started(Trigger),
    /// The mobile node scans.
    ScanBegun,
    /// It has scanned.
    ScanDone,
    /// The candidates' resources are asked for.
    ResourcesAsked,
    /// They are known to who asked.
    ResourcesKnown,
    /// The handover to this candidate is asked for.
    CommitAsked(usize),
    /// It is agreed.
    Committed(usize),
    /// The link of this candidate is taken up, if it is not up already.
    EntryBegun(usize, Cause),
    /// Traffic is being redirected.
    RedirectBegun(usize, Cause),
    /// It goes through the new network.
    Redirected,
    /// The new PoS, and by it the old one, know that the handover is complete.
    Completed,
    /// It is prepared no further.
    GivenUp(GivenUp),
}

/// What a user is at work on: it takes the same time for each, so that they are done in their order.
#[derive(Debug)]
struct Processing<T> {
    time: Span,
    queue: VecDeque<(Time, T)>,
}

impl<T> Processing<T> {
    fn new(time: Span) -> Processing<T> {
        Processing { time, queue: VecDeque::new() }
    }

    fn begin(&mut self, now: Time, what: T) {
        self.queue.push_back((now + self.time, what));
    }

    fn next(&self) -> Option<Time> {
        self.queue.front().map(|&(due, _)| due)
    }

    fn done(&mut self, now: Time) -> Option<T> {
        self.queue.pop_front_if(|&mut (due, _)| due <= now).map(|(_, what)| what)
    }
}
