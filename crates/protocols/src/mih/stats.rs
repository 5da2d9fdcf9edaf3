//! What an MIHF counts in a session.

use super::wire::DecodeError;

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// Fewer octets than a header.
    Truncated,
    /// Not version 1.
    UnknownVersion,
    /// The length field announces more than there is.
    LengthBeyondPacket,
    /// Octets behind the end.
    TrailingOctets,
    /// Unknown message ID.
    UnknownMessage,
    /// A fragment.
    Fragment,
    /// A TLV reaches beyond the message.
    BadTlvLength,
    /// A TLV's value is malformed.
    BadValue,
    /// A mandatory TLV is missing.
    MissingTlv,
    /// A transaction ID of 0.
    BadTransactionId,
    /// The source is not the session's peer.
    UnknownPeer,
    /// The destination is another MIHF.
    NotAddressed,
    /// A response or an ACK to nothing that was sent.
    Unsolicited,
}

impl Rejection {
    /// All reasons.
    pub const ALL: [Rejection; 13] = [
        Rejection::Truncated,
        Rejection::UnknownVersion,
        Rejection::LengthBeyondPacket,
        Rejection::TrailingOctets,
        Rejection::UnknownMessage,
        Rejection::Fragment,
        Rejection::BadTlvLength,
        Rejection::BadValue,
        Rejection::MissingTlv,
        Rejection::BadTransactionId,
        Rejection::UnknownPeer,
        Rejection::NotAddressed,
        Rejection::Unsolicited,
    ];

    /// The reason's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Rejection::Truncated => "truncated",
            Rejection::UnknownVersion => "unknown_version",
            Rejection::LengthBeyondPacket => "length_beyond_packet",
            Rejection::TrailingOctets => "trailing_octets",
            Rejection::UnknownMessage => "unknown_message",
            Rejection::Fragment => "fragment",
            Rejection::BadTlvLength => "bad_tlv_length",
            Rejection::BadValue => "bad_value",
            Rejection::MissingTlv => "missing_tlv",
            Rejection::BadTransactionId => "bad_transaction_id",
            Rejection::UnknownPeer => "unknown_peer",
            Rejection::NotAddressed => "not_addressed",
            Rejection::Unsolicited => "unsolicited",
        }
    }
}

impl From<&DecodeError> for Rejection {
    fn from(error: &DecodeError) -> Rejection {
        match error {
            DecodeError::Truncated { .. } => Rejection::Truncated,
            DecodeError::UnknownVersion(_) => Rejection::UnknownVersion,
            DecodeError::LengthBeyondPacket { .. } => Rejection::LengthBeyondPacket,
            DecodeError::TrailingOctets { .. } => Rejection::TrailingOctets,
            DecodeError::UnknownMessage(_) => Rejection::UnknownMessage,
            DecodeError::Fragment { .. } => Rejection::Fragment,
            DecodeError::BadTlvLength { .. } => Rejection::BadTlvLength,
            DecodeError::BadValue { .. } => Rejection::BadValue,
            DecodeError::MissingTlv { .. } => Rejection::MissingTlv,
        }
    }
}

/// Packets passed to the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// First transmissions.
    pub first_transmissions: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Acknowledgements without content.
    pub acks: u64,
}

impl Packets {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.first_transmissions + self.retransmissions + self.acks
    }
}

/// Counters of one MIHF in one session. Service management (registration, subscription, discovery) has a set
/// of its own, so that it is part of no overhead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Indications of this MIHF's user, each once.
    pub indications: u64,
    /// Requests of this MIHF's user, each once.
    pub requests: u64,
    /// Responses of this MIHF's user, each once.
    pub responses: u64,
    /// Packets passed to the transport for them, and the ACKs of the peer's.
    pub packets: Packets,
    /// Transactions given up: no ACK in time (under `strict`: no response in time), and no response accepted.
    pub given_up: u64,
    /// Responses of this MIHF for which no ACK came in time.
    pub responses_given_up: u64,
    /// Transactions whose lifetime ended before they did.
    pub lifetimes_over: u64,
    /// Responses that came when their transaction accepted none any more: ignored, not acknowledged.
    pub late_responses: u64,
    /// ACKs that came when their message had been given up: ignored.
    pub late_acks: u64,
    /// ACKs of messages that had one already.
    pub duplicate_acks: u64,
    /// Copies of messages that had been delivered: acknowledged, not delivered again.
    pub duplicates: u64,
    /// Copies that came when the lifetime of their transaction was over: taken for new, and delivered again.
    pub redelivered: u64,
    /// Packets that found the rate limiter's queue full, and were not sent.
    pub rate_limited: u64,
    /// Times that the reuse of transaction IDs cost something: a transaction ended before its time, or a
    /// retransmission was withheld because half of the IDs were used since.
    pub id_reuses: u64,
    /// Packets that the transport did not take (MIH_TP_Data.confirm without success).
    pub transport_refusals: u64,
    pub(super) rejections: [u64; Rejection::ALL.len()],
}

impl Packets {
    /// Passed on since it was that many.
    #[must_use]
    pub fn since(self, earlier: Packets) -> Packets {
        Packets {
            first_transmissions: self.first_transmissions - earlier.first_transmissions,
            retransmissions: self.retransmissions - earlier.retransmissions,
            acks: self.acks - earlier.acks,
        }
    }
}

impl Stats {
    /// Counted since it was that much.
    #[must_use]
    pub fn since(&self, earlier: &Stats) -> Stats {
        let mut rejections = self.rejections;
        rejections.iter_mut().zip(earlier.rejections).for_each(|(now, before)| *now -= before);
        Stats {
            indications: self.indications - earlier.indications,
            requests: self.requests - earlier.requests,
            responses: self.responses - earlier.responses,
            packets: self.packets.since(earlier.packets),
            given_up: self.given_up - earlier.given_up,
            responses_given_up: self.responses_given_up - earlier.responses_given_up,
            lifetimes_over: self.lifetimes_over - earlier.lifetimes_over,
            late_responses: self.late_responses - earlier.late_responses,
            late_acks: self.late_acks - earlier.late_acks,
            duplicate_acks: self.duplicate_acks - earlier.duplicate_acks,
            duplicates: self.duplicates - earlier.duplicates,
            redelivered: self.redelivered - earlier.redelivered,
            rate_limited: self.rate_limited - earlier.rate_limited,
            id_reuses: self.id_reuses - earlier.id_reuses,
            transport_refusals: self.transport_refusals - earlier.transport_refusals,
            rejections,
        }
    }

    /// Indications, requests and responses of this MIHF, each once.
    pub fn information_messages(&self) -> u64 {
        self.indications + self.requests + self.responses
    }

    /// How many messages were refused for this reason.
    pub fn rejected(&self, reason: Rejection) -> u64 {
        self.rejections[reason as usize]
    }

    pub(super) fn reject(&mut self, reason: Rejection) {
        self.rejections[reason as usize] += 1;
    }
}
