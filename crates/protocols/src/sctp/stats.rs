//! What an association counts.

/// Counters of one end, from its creation on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets handed to the network layer.
    pub packets_sent: u64,
    /// DATA chunks sent, repeated ones included.
    pub data_chunks_sent: u64,
    /// DATA chunks sent again.
    pub data_chunks_retransmitted: u64,
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
    /// Packets refused: a wrong verification tag, an address that is none of the peer's, or an INIT beside other chunks.
    pub packets_refused: u64,
    /// Messages dropped since the peer takes fewer streams than asked for.
    pub messages_dropped: u64,
}
