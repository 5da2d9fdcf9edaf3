//! What an association counts.

use super::wire::DecodeError;

/// Counters of one end, from its creation on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets handed to the network layer.
    pub packets_sent: u64,
    /// DATA chunks sent, repeated ones included.
    pub data_chunks_sent: u64,
    /// DATA chunks sent again, window probes not counted.
    pub data_chunks_retransmitted: u64,
    /// Those of them that missing reports told of.
    pub data_chunks_retransmitted_by_reports: u64,
    /// Those of them that were in flight on a path whose address was deleted. T3-rtx found the others.
    pub data_chunks_retransmitted_from_removed_paths: u64,
    /// DATA chunks that probed a closed window, for the first time or again (RFC 9260 6.1 A).
    pub window_probes_sent: u64,
    /// Octets of user data the peer has acknowledged, in sequence or by gap ack blocks.
    pub bytes_acknowledged: u64,
    /// Expiries of T3-rtx.
    pub timeouts: u64,
    /// Losses found by missing reports that reduced the window.
    pub fast_retransmits: u64,
    /// HEARTBEATs sent.
    pub heartbeats_sent: u64,
    /// Packets that arrived.
    pub packets_received: u64,
    /// Of them, those that were refused, by reason.
    pub refused: Refused,
    /// Messages dropped since the peer takes fewer streams than asked for.
    pub messages_dropped: u64,
    /// Messages given up, sent in part or not at all (RFC 3758).
    pub messages_abandoned: u64,
    /// FORWARD TSNs sent.
    pub forward_tsns_sent: u64,
}

/// Packets that were refused, by reason: first those that are no SCTP packet, then those that are none of the
/// association's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Fewer octets than the common header has.
    pub truncated: u64,
    /// The checksum does not fit (RFC 9260 6.8).
    pub checksum: u64,
    /// A chunk of an impossible length (3.2).
    pub chunk_length: u64,
    /// A parameter of an impossible length (3.2.1).
    pub parameter_length: u64,
    /// No chunk at all.
    pub empty: u64,
    /// An INIT with a tag, without an initiate tag, or beside other chunks (8.5.1, 3.3.2, 6.10).
    pub init: u64,
    /// Another verification tag than the association's (8.5).
    pub verification_tag: u64,
    /// From an address that is none of the peer's.
    pub address: u64,
    /// For an association that is over (8.4).
    pub closed: u64,
}

impl Refused {
    /// All of them.
    pub fn total(&self) -> u64 {
        let malformed = self.truncated + self.checksum + self.chunk_length + self.parameter_length;
        malformed + self.empty + self.init + self.verification_tag + self.address + self.closed
    }

    pub(super) fn count(&mut self, error: DecodeError) {
        match error {
            DecodeError::Truncated { .. } => self.truncated += 1,
            DecodeError::Checksum { .. } => self.checksum += 1,
            DecodeError::ChunkLength { .. } => self.chunk_length += 1,
            DecodeError::ParameterLength { .. } => self.parameter_length += 1,
        }
    }
}
