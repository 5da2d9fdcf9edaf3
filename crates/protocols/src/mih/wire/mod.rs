//! The wire format of IEEE 802.21: header, TLVs, data types, and the catalogue of messages.

pub mod error;
pub mod framing;
pub mod handover;
pub mod identity;
pub mod link;
pub mod message;
pub mod message_id;
pub mod octets;
pub mod tlv;
pub mod tlvs;
pub mod value;

pub use error::DecodeError;
pub use framing::Deframer;
pub use identity::{MihfId, MihfIdTooLong};
pub use message::{Header, Message};
pub use message_id::{MessageId, Opcode, Service};
pub use tlv::Tlv;
pub use tlvs::Tlvs;
