//! What an MIHF tells its MIH users (the MIH_SAP's indications and confirms).

use std::sync::Arc;

use super::number::TransactionNumber;
use super::session_id::SessionId;
use super::wire::handover::LinkConfigurationParameter;
use super::wire::link::{CommandList, EventList, LinkId, LinkTupleId, Status, TransportList};
use super::wire::{Message, MihfId};

/// Why a transaction ended without its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureReason {
    /// No ACK came within (retransmissions + 1) timeouts. Under `open` a request's response is still
    /// accepted.
    NotAcknowledged,
    /// Under `strict`: acknowledged, but no response came within (retransmissions + 1) timeouts.
    NoResponse,
    /// The transaction's lifetime is over.
    Lifetime,
    /// The transaction's ID was used again.
    IdReused,
}

/// What an MIHF can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Events that it indicates.
    pub events: EventList,
    /// Commands that it carries out.
    pub commands: CommandList,
    /// Transports that it speaks.
    pub transports: TransportList,
}

/// Something for the MIH user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An indication came, for the first time.
    IndicationReceived {
        /// The session.
        session: SessionId,
        /// The peer's number of the transaction.
        number: TransactionNumber,
        /// The message.
        pdu: Arc<Message>,
    },
    /// A request came, for the first time; [`super::Mihf::respond`] answers it.
    RequestReceived {
        /// The session.
        session: SessionId,
        /// The peer's number of the transaction.
        number: TransactionNumber,
        /// The message.
        pdu: Arc<Message>,
    },
    /// The first valid response came.
    ResponseReceived {
        /// The session.
        session: SessionId,
        /// The request's number.
        number: TransactionNumber,
        /// The message.
        pdu: Arc<Message>,
    },
    /// An indication or a request was acknowledged in time.
    Acknowledged {
        /// The session.
        session: SessionId,
        /// Its number.
        number: TransactionNumber,
    },
    /// A response was acknowledged in time.
    ResponseAcknowledged {
        /// The session.
        session: SessionId,
        /// The peer's number of the transaction.
        number: TransactionNumber,
    },
    /// An indication or a request failed.
    TransactionFailed {
        /// The session.
        session: SessionId,
        /// Its number.
        number: TransactionNumber,
        /// Why.
        reason: FailureReason,
    },
    /// A response was not acknowledged in time.
    ResponseFailed {
        /// The session.
        session: SessionId,
        /// The peer's number of the transaction.
        number: TransactionNumber,
    },
    /// MIH_Register.confirm: the peer answered this MIHF's registration.
    Registered {
        /// The session.
        session: SessionId,
        /// The peer's answer.
        status: Status,
        /// How long the registration holds, in seconds; 0 without end.
        valid_time_s: u32,
    },
    /// MIH_DeRegister.confirm.
    Deregistered {
        /// The session.
        session: SessionId,
        /// The peer's answer.
        status: Status,
    },
    /// MIH_Event_Subscribe.confirm.
    Subscribed {
        /// The session.
        session: SessionId,
        /// The peer's answer.
        status: Status,
        /// The events that the peer will indicate.
        events: EventList,
    },
    /// MIH_Event_Unsubscribe.confirm.
    Unsubscribed {
        /// The session.
        session: SessionId,
        /// The peer's answer.
        status: Status,
        /// The events that the peer will no longer indicate.
        events: EventList,
    },
    /// MIH_Capability_Discover.confirm.
    CapabilitiesDiscovered {
        /// The session.
        session: SessionId,
        /// Who answered.
        peer: MihfId,
        /// The peer's answer.
        status: Status,
        /// What the peer can do.
        capabilities: Capabilities,
    },
    /// MIH_Register.indication: the peer registered, or registered again.
    PeerRegistered {
        /// The session.
        session: SessionId,
        /// It says that it is registered already (request code 1).
        again: bool,
        /// The peer's links.
        links: Vec<LinkId>,
    },
    /// Link_Configure_Thresholds.request, for a link of this node: the peer has configured thresholds,
    /// successfully.
    PeerConfigured {
        /// The session.
        session: SessionId,
        /// The link.
        link: LinkTupleId,
        /// What.
        parameters: Vec<LinkConfigurationParameter>,
    },
    /// MIH_DeRegister.indication: the peer's registration ended.
    PeerDeregistered {
        /// The session.
        session: SessionId,
    },
    /// MIH_Event_Subscribe.indication: the peer subscribed to events.
    PeerSubscribed {
        /// The session.
        session: SessionId,
        /// The link whose events are meant.
        link: LinkTupleId,
        /// The events granted.
        events: EventList,
    },
    /// MIH_Event_Unsubscribe.indication: the peer's subscription to events ended.
    PeerUnsubscribed {
        /// The session.
        session: SessionId,
        /// The link whose events are meant.
        link: LinkTupleId,
        /// The events.
        events: EventList,
    },
}

impl Event {
    /// The session that it is about.
    pub fn session(&self) -> SessionId {
        match self {
            Event::IndicationReceived { session, .. }
            | Event::RequestReceived { session, .. }
            | Event::ResponseReceived { session, .. }
            | Event::Acknowledged { session, .. }
            | Event::ResponseAcknowledged { session, .. }
            | Event::TransactionFailed { session, .. }
            | Event::ResponseFailed { session, .. }
            | Event::Registered { session, .. }
            | Event::Deregistered { session, .. }
            | Event::Subscribed { session, .. }
            | Event::Unsubscribed { session, .. }
            | Event::CapabilitiesDiscovered { session, .. }
            | Event::PeerRegistered { session, .. }
            | Event::PeerConfigured { session, .. }
            | Event::PeerDeregistered { session }
            | Event::PeerSubscribed { session, .. }
            | Event::PeerUnsubscribed { session, .. } => *session,
        }
    }
}
