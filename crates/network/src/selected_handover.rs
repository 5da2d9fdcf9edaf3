//! Handovers of a node that selects by itself, by the commands of IEEE 802.21: the users at the node and at
//! the points of service (PoS) of its networks, its correspondents, and what came of each handover.
//!
//! The users are machines of `protocols::mih::handover`. A network is an interface that the node's selection
//! may choose, by the same number. `world/selected_handover.rs` delivers events and messages.

use crate::handover::redirection::Redirection;
use crate::mih_handover::{Account, Correspondent, Party};
use crate::socket::SocketId;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::mih::handover::{Cause, Milestone, PointOfService, SelectingNode, Trigger};

/// One handover, and the network that it leaves.
#[derive(Clone, Debug)]
pub struct FromNetwork {
    /// The network.
    pub from: Option<usize>,
    /// The handover.
    pub account: Account,
}

/// A node that selects, its PoS, and its handovers so far.
pub struct SelectedHandover {
    /// The number of its selection.
    pub selection: u32,
    /// The user at the node.
    pub mobile_node: Party<SelectingNode>,
    /// The node's interface of each network.
    pub interfaces: Vec<Address>,
    /// The users at the PoS of each network.
    pub points_of_service: Vec<Party<PointOfService>>,
    /// With whom the node has flows over UDP and TCP; `moved` is empty, because connections come and go.
    pub correspondents: Vec<Correspondent>,
    /// The sockets of its sessions that open a connection.
    pub opens: Vec<SocketId>,
    /// Its handovers so far.
    pub accounts: Vec<FromNetwork>,
    /// The network that carries the node's traffic.
    pub(crate) at: Option<usize>,
    /// The network that traffic is redirected to.
    pub(crate) target: Option<usize>,
    pub(crate) redirection: Redirection,
}

impl SelectedHandover {
    /// Users that have heard nothing yet.
    pub fn new(
        selection: u32,
        (mobile_node, interfaces): (Party<SelectingNode>, Vec<Address>),
        points_of_service: Vec<Party<PointOfService>>,
        correspondents: Vec<Correspondent>,
        opens: Vec<SocketId>,
    ) -> SelectedHandover {
        SelectedHandover {
            selection,
            mobile_node,
            interfaces,
            points_of_service,
            redirection: Redirection::new(correspondents.len()),
            correspondents,
            opens,
            accounts: Vec::new(),
            at: None,
            target: None,
        }
    }

    /// The earliest instant with work to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let points = self.points_of_service.iter().filter_map(|point| point.user.poll_timeout());
        points.chain(self.redirection.poll_timeout()).min()
    }

    /// A milestone goes into the account.
    pub(crate) fn reach(&mut self, now: Time, milestone: Milestone) {
        let is_open = |one: &FromNetwork| one.account.redirect_begun.is_none() && !one.account.taken_back;
        let begun_by = match milestone {
            Milestone::Started(trigger) => Some(trigger),
            // What was prepared, in vain or not yet to its end, ends so.
            Milestone::EntryBegun(_, Cause::LinkDown) if !self.accounts.last().is_some_and(is_open) => {
                Some(Trigger::Down)
            }
            _ => None,
        };
        if let Some(begun_by) = begun_by {
            self.accounts
                .push(FromNetwork { from: self.at, account: Account { begun_by, ..Account::default() } });
        }
        let completes = milestone == Milestone::Completed;
        // A handover may be complete after the next one has begun.
        let waits = |one: &&mut FromNetwork| {
            !completes || one.account.redirected.is_some() && one.account.completed.is_none()
        };
        let Some(FromNetwork { account, .. }) = self.accounts.iter_mut().rev().find(waits) else { return };
        account.note(now, milestone);
        if let Milestone::RedirectBegun(to, _) = milestone {
            self.at = Some(to);
        }
    }
}
