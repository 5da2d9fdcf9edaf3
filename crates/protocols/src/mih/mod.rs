//! IEEE 802.21 media independent handover: the MIH function (MIHF), its messages and its transactions.
//!
//! Modelled: the wire format of every message; the source, destination, ACK requestor and ACK responder
//! machines; registration, event subscription, capability discovery; indications, commands, information
//! queries as carried messages; flow control; thresholds of links' reports; the users that hand a mobile node
//! over ([`handover`]). Not modelled: fragmentation of MIH messages, security.

pub mod event;
pub mod handover;
pub mod limiter;
mod link_parameter;
pub mod link_sap;
pub mod management;
pub mod mihf;
pub mod number;
pub mod outbox;
pub mod session;
mod session_id;
pub mod stats;
pub mod wire;

mod destination;
mod destinations;
mod management_state;
mod source;
mod sources;
mod states;
mod thresholds;

pub use event::{Capabilities, Event, FailureReason};
pub use limiter::RateLimit;
pub use link_parameter::LinkParameter;
pub use link_sap::LinkEvent;
pub use mihf::{Mihf, SessionId};
pub use number::TransactionNumber;
pub use outbox::{Purpose, TpDataRequest};
pub use session::{Acknowledgement, AcknowledgementMode, MessageTimers, SessionConfig, Validity};
pub use states::Held;
pub use stats::{Packets, Rejection, Stats};
pub use thresholds::Thresholds;
pub use wire::{DecodeError, Message, MessageId, MihfId, Opcode, Service, Tlv, Tlvs};

/// The UDP and TCP port of MIH (`ieee-mih`, RFC 5677).
pub const PORT: u16 = 4551;
