//! Loss detection: when arriving acknowledgements tell of a loss before the timer does.
//!
//! To add one: a file here with its state and hooks, a variant of [`Detection`], an arm in each hook.

mod duplicate_acks;

pub use duplicate_acks::DuplicateAcks;

/// The detection of a connection.
#[derive(Clone, Copy, Debug)]
pub enum Detection {
    /// A settable number of duplicate ACKs.
    DuplicateAcks(DuplicateAcks),
}

impl Detection {
    /// A duplicate ACK arrived. True when the segment at `snd_una` is now taken as lost.
    #[inline]
    pub(super) fn on_duplicate(&mut self) -> bool {
        match self {
            Detection::DuplicateAcks(part) => part.on_duplicate(),
        }
    }

    /// An ACK for new data arrived.
    #[inline]
    pub(super) fn on_new_ack(&mut self) {
        match self {
            Detection::DuplicateAcks(part) => part.clear(),
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self) {
        match self {
            Detection::DuplicateAcks(part) => part.clear(),
        }
    }

    /// Segments beyond the congestion window that limited transmit may have sent by now (RFC 3042): one for each
    /// of the first two duplicates before the threshold.
    #[inline]
    pub(super) fn limited_transmit_segments(&self) -> u64 {
        match self {
            Detection::DuplicateAcks(part) => part.limited_transmit_segments(),
        }
    }
}
