//! Automatic repeat request (IEEE Std 802.16-2004 clause 6.3.4): a connection whose packets are cut in
//! blocks, each with a number, which are sent again until the receiver tells that it has them.
//!
//! [`sender`] and [`receiver`] are the two machines, without I/O; [`exchange`] has both of a connection, and
//! its packets.
//!
//! Feedback goes in PDUs of the opposite connection of the service flow, as ARQ Feedback Payload (clause
//! 6.3.3.4.3). The receiver tells of what has come, new or not, with the first PDU that the opposite
//! connection sends behind it. A zero in a map before a block that has come is the request to send that one
//! again, unless it has gone since the map was made.
//!
//! Block sequence numbers have 11 bits, and windows at most half of them: here they just count on.
//!
//! Not modelled: feedback by block sequences (type 3), a reset that the receiver begins, encodings of these
//! parameters in DSA-REQ.

mod exchange;
mod in_cell;
mod receiver;
mod sender;
#[cfg(test)]
pub(super) mod tests;

pub(super) use self::exchange::Arq;

use super::management::Direction;
use super::pdu::{PACKING_BYTES, WHOLE_BYTES};
use roamsim_engine::{Span, Time};

/// The largest ARQ_WINDOW_SIZE: half of the 2048 numbers (clause 11.13.18.2).
pub const MOST_WINDOW_BLOCKS: u32 = 1024;
/// The largest ARQ_BLOCK_SIZE (clause 11.13.18.8).
pub const MOST_BLOCK_BYTES: u32 = 2040;

/// T22: waits for the answer to a reset (table 342).
pub const T22: Span = Span::from_ms(500);

/// What describes ARQ of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArqConfig {
    /// ARQ_BLOCK_SIZE: octets of each block of a packet but its last.
    pub block_bytes: u32,
    /// ARQ_WINDOW_SIZE: the most blocks from the first one that is not acknowledged on.
    pub window_blocks: u32,
    /// ARQ_RETRY_TIMEOUT: how long a block waits for its acknowledgement before it is sent again, at least.
    pub retry_timeout: Span,
    /// ARQ_BLOCK_LIFETIME: how long a block is tried after it was first sent; `None`: for ever.
    pub block_lifetime: Option<Span>,
    /// ARQ_SYNC_LOSS_TIMEOUT: how long the window may stand still while something is sent; `None`: for ever.
    pub sync_loss_timeout: Option<Span>,
    /// ARQ_RX_PURGE_TIMEOUT: how long a block waits at the receiver for those before it; `None`: for ever.
    pub purge_timeout: Option<Span>,
    /// ARQ_DELIVER_IN_ORDER.
    pub deliver_in_order: bool,
    /// What the receiver tells of blocks.
    pub acknowledgement: Acknowledgement,
}

/// Types of ARQ Feedback information elements (clause 6.3.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// Type 0: of each block of a map by itself.
    Selective,
    /// Type 1: of all up to one.
    Cumulative,
    /// Type 2: of all up to one, and of each of a map behind it.
    CumulativeSelective,
}

/// Blocks of one packet that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub first: u64,
    pub count: u32,
    pub bytes: u32,
}

/// Blocks that a map tells of: 16 bits each, four at most.
const MAP_BLOCKS: u64 = 16;
const MOST_MAPS: u64 = 4;

/// An ARQ Feedback information element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// That block, and for a cumulative one all before it; the first of the maps.
    pub block: u64,
    pub cumulative: bool,
    /// How many maps there are.
    pub maps: u64,
    /// Their bits, the lowest that of `block`.
    pub bits: u64,
}

/// Those of an element: CID 2; last, type, number and maps' count 2; 2 a map.
const fn element_bytes(maps: u64) -> u32 {
    4 + 2 * maps as u32
}

impl Element {
    const fn bytes(&self) -> u32 {
        element_bytes(self.maps)
    }
}

/// A step of a reset (clause 6.3.4.6.2): the sender asks, the receiver answers, the sender confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    Original,
    Acknowledgement,
    Confirmation,
}

/// What a PDU carries of a connection with ARQ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Blocks, and the octets of its subheaders with them.
    Blocks(Vec<Chunk>),
    /// ARQ feedback, and when it was made.
    Feedback(Vec<Element>, Time),
    /// ARQ_Discard: all up to this block are given up.
    Discard(u64),
    /// ARQ_Reset.
    Reset(Reset),
}

impl Content {
    /// Whether it is of the receiver, and goes with the opposite connection.
    fn is_answer(&self) -> bool {
        matches!(self, Content::Feedback(..) | Content::Reset(Reset::Acknowledgement))
    }

    /// The direction of the connection that it is about, in a PDU of this one.
    pub fn about(&self, direction: Direction) -> Direction {
        if self.is_answer() { direction.opposite() } else { direction }
    }
}

/// ARQ_Discard with its PDU: type 1, CID 2, block 2 (clause 6.3.2.3.31).
const DISCARD_BYTES: u32 = WHOLE_BYTES + 5;
/// ARQ_Reset with its PDU: type 1, CID 2, step 1 (clause 6.3.2.3.32).
const RESET_BYTES: u32 = WHOLE_BYTES + 4;
/// What is around the elements of feedback: it is packed.
const AROUND_FEEDBACK_BYTES: u32 = WHOLE_BYTES + PACKING_BYTES;

/// What ARQ of a connection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArqStats {
    /// Blocks that were sent for the first time.
    pub sent_blocks: u64,
    /// Blocks that were sent again, each time.
    pub repeated_blocks: u64,
    /// Those of these times because ARQ_RETRY_TIMEOUT had expired.
    pub timed_out_blocks: u64,
    /// Blocks that the sender gave up, sent or not.
    pub discarded_blocks: u64,
    /// Blocks that the receiver did without.
    pub purged_blocks: u64,
    /// Blocks that came when they were there.
    pub duplicate_blocks: u64,
    /// PDUs of feedback, sent by the receiver.
    pub feedback_pdus: u64,
    /// Resets that were completed.
    pub resets: u64,
}
