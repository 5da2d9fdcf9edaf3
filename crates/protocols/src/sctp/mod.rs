//! SCTP (RFC 9260): packets, their chunks, and both on the wire.
//!
//! Modelled: the common header with its CRC32c, the chunks of RFC 9260 3.3 and their parameters, bundling and
//! padding. User data is a length in the structures and octets on the wire.
//!
//! Not modelled: the association that exchanges them. Chunks of extensions (RFC 3758, RFC 4895, RFC 5061,
//! RFC 8260) are carried as octets.

pub mod chunk;
pub mod wire;

pub use chunk::{Chunk, Data, Init, Packet, Parameter, Sack};
