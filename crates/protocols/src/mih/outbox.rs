//! What the transaction machines leave behind while they work: packets for the transport, events for the MIH
//! user, deadlines.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use roamsim_engine::Time;

use super::event::Event;
use super::number::TransactionNumber;
use super::session_id::SessionId;
use super::wire::Message;
use crate::PeerAddress;

/// Why a packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A message for the first time.
    First,
    /// A message again.
    Retransmission,
    /// An acknowledgement without content.
    Acknowledgement,
}

/// MIH_TP_Data.request: a message for the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TpDataRequest {
    /// The session it belongs to.
    pub session: SessionId,
    /// The peer's transport address.
    pub destination: PeerAddress,
    /// ReliableDeliveryFlag: a reliable transport (TCP) is wanted.
    pub reliable: bool,
    /// The message. A retransmission is the same message in the same memory.
    pub pdu: Arc<Message>,
    /// The transaction: one of this MIHF's for indications, requests and their ACKs' receivers, one of the
    /// peer's for responses to it and ACKs of what it sent.
    pub number: TransactionNumber,
    /// Why it is sent.
    pub purpose: Purpose,
}

/// What is due at a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The rate limiter has a token for the first packet that waits.
    Token,
    /// A transaction of this MIHF's: retransmission, or its end.
    Source(TransactionNumber),
    /// A response of this MIHF's: retransmission, or its end.
    Response(TransactionNumber),
    /// Service management: a request again.
    Management,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deadline {
    pub(super) at: Time,
    /// Deadlines of one instant come in the order of their setting.
    order: u64,
    pub(super) session: SessionId,
    pub(super) due: Due,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub(super) requests: VecDeque<TpDataRequest>,
    pub(super) events: VecDeque<Event>,
    /// `piggyback`: requests that came just now; their response may be ready before anything is sent.
    pub(super) unreturned_acks: Vec<(SessionId, TransactionNumber, Arc<Message>)>,
    deadlines: BinaryHeap<Reverse<Deadline>>,
    armed: u64,
}

impl Outbox {
    /// Sets a deadline. One that is superseded stays, and is found to be so when it is looked at.
    pub(super) fn arm(&mut self, at: Time, session: SessionId, due: Due) {
        self.deadlines.push(Reverse(Deadline { at, order: self.armed, session, due }));
        self.armed += 1;
    }

    pub(super) fn first_deadline(&self) -> Option<&Deadline> {
        self.deadlines.peek().map(|Reverse(deadline)| deadline)
    }

    pub(super) fn pop_deadline(&mut self) -> Option<Deadline> {
        self.deadlines.pop().map(|Reverse(deadline)| deadline)
    }
}
