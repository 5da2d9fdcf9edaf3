//! Transaction numbers: unbounded inside, 12 bits on the wire.
//!
//! An MIHF numbers the transactions that it starts in a session 1, 2, 3, ...; the wire carries the number
//! modulo 4095, plus one, so that the IDs run 1 to 4095 and again, and 0 is never used (as in ODTONE; the
//! start at 1 is chosen: a random start would only change captures). Either end expands an ID to the number:
//!
//! - *A message of the peer's* gets the number nearest to the highest number seen from the peer. Up to 2047
//!   ahead is new, anything else is behind: serial number arithmetic as in RFC 1982. A number behind that was
//!   seen already is a copy; one that was not seen is a message overtaken by later ones, and new. For this to
//!   hold the sender retransmits a transaction only until 2047 later ones were started.
//! - *Over a datagram transport* more than 2047 messages may be lost in a row (an outage). So a copy must
//!   also be plausible: its last transmission is at most retransmissions x timeout after the first one, so
//!   that between the first sight of the transaction and the first sight of the highest number no more than
//!   that time and [`COPY_SPREAD`] can lie; and a datagram lives for [`DATAGRAM_LIFETIME`]. Otherwise the ID
//!   was used again, and the message is new. Over a reliable transport everything comes in the order of
//!   sending, and the first rule is exact.
//! - *A response or an ACK* belongs to the latest transaction with its ID (datagrams: delays are far below
//!   4095 transactions), or, over a reliable transport, where thousands of messages may wait in the stream,
//!   to the oldest one that is still to be answered: answers come in order there, too.
//!
//! So the reuse of an ID delays no message, drops none, and takes no new one for a copy; the older
//! transaction is closed, and counted when that came before its end.

use roamsim_engine::Span;

/// How many IDs there are: 12 bits without 0.
pub const TRANSACTION_IDS: u64 = 4095;

/// How far ahead of the highest number seen a message may be, and how far behind: half of the IDs.
pub const REACH: u64 = TRANSACTION_IDS / 2;

/// How much longer than the spread of their transmissions the spread of two copies' arrivals may be.
///
/// Chosen: 1 s, a queueing delay that signalling over datagrams does not meet between two copies.
pub const COPY_SPREAD: Span = Span::from_secs(1);

/// How long a datagram may be under way: the maximum segment lifetime of RFC 9293 section 3.4.1.
pub const DATAGRAM_LIFETIME: Span = Span::from_secs(120);

/// The number of a transaction, within a session and a direction: 1, 2, 3, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionNumber(pub u64);

impl TransactionNumber {
    /// The transaction ID on the wire: 1 to 4095.
    pub const fn tid(self) -> u16 {
        (self.0.saturating_sub(1) % TRANSACTION_IDS + 1) as u16
    }

    /// The first number above this one whose ID is `tid`, at most 4095 above; `None` when `tid` is no ID.
    fn next_with(self, tid: u16) -> Option<TransactionNumber> {
        let tid = u64::from(tid);
        if tid == 0 || tid > TRANSACTION_IDS {
            return None;
        }
        let ahead = (tid + TRANSACTION_IDS - self.0 % TRANSACTION_IDS) % TRANSACTION_IDS;
        Some(TransactionNumber(self.0 + if ahead == 0 { TRANSACTION_IDS } else { ahead }))
    }

    /// The number with the ID `tid` that is nearest to this one: at most 2047 ahead or behind, and at
    /// least 1.
    pub(super) fn nearest_with(self, tid: u16) -> Option<TransactionNumber> {
        // Mostly the next one.
        let next = TransactionNumber(self.0 + 1);
        if next.tid() == tid {
            return Some(next);
        }
        let ahead = self.next_with(tid)?;
        match ahead.0.checked_sub(TRANSACTION_IDS) {
            Some(behind) if behind > 0 && ahead.0 - self.0 > REACH => Some(TransactionNumber(behind)),
            _ => Some(ahead),
        }
    }

    /// The number one round of IDs above this one: the next with the same ID.
    pub(super) fn reused(self) -> TransactionNumber {
        TransactionNumber(self.0 + TRANSACTION_IDS)
    }

    /// The highest number with the ID `tid` that is not above this one.
    pub(super) fn latest_with(self, tid: u16) -> Option<TransactionNumber> {
        let above = self.next_with(tid)?;
        above.0.checked_sub(TRANSACTION_IDS).filter(|&number| number > 0).map(TransactionNumber)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_run_from_1_to_4095_and_again() {
        assert_eq!(TransactionNumber(1).tid(), 1);
        assert_eq!(TransactionNumber(4095).tid(), 4095);
        assert_eq!(TransactionNumber(4096).tid(), 1);
        // 8190 = 2 x 4095.
        assert_eq!(TransactionNumber(8190).tid(), 4095);
        assert_eq!(TransactionNumber(8191).tid(), 1);
    }

    #[test]
    fn an_id_expands_to_the_nearest_number() {
        let nearest = |from, tid| TransactionNumber(from).nearest_with(tid).map(|number| number.0);
        // Nothing seen yet: the ID is the number, however many were lost before it.
        assert_eq!(nearest(0, 1), Some(1));
        assert_eq!(nearest(0, 4000), Some(4000));
        assert_eq!(nearest(4095, 4095), Some(4095));
        assert_eq!(nearest(4095, 1), Some(4096));
        // From 5000 (ID 905): 2047 ahead is 7047 (ID 2952), one further is 7048 - 4095 = 2953 (ID 2953).
        assert_eq!(nearest(5000, 2952), Some(7047));
        assert_eq!(nearest(5000, 2953), Some(2953));
        assert_eq!(nearest(5000, 904), Some(4999));
        assert_eq!(nearest(5000, 0), None);
        assert_eq!(nearest(5000, 4096), None);
    }

    #[test]
    fn an_answer_belongs_to_the_latest_transaction_with_its_id() {
        let latest = |from, tid| TransactionNumber(from).latest_with(tid).map(|number| number.0);
        assert_eq!(latest(5000, 905), Some(5000));
        assert_eq!(latest(5000, 906), Some(906));
        assert_eq!(latest(3, 4), None);
        assert_eq!(latest(0, 1), None);
    }
}
