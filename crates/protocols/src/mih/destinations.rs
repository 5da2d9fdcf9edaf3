//! The transactions that the peer started: which messages were seen, and which requests are not finished.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use roamsim_engine::{Span, Time};

use super::number::{COPY_SPREAD, DATAGRAM_LIFETIME, REACH, TransactionNumber};
use super::wire::{Message, MessageId};

/// What is remembered of a message that was delivered, to know its copies.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) at: Time,
    pub(super) mid: MessageId,
    /// It asked for an ACK, so copies may come.
    pub(super) asks: bool,
    /// `piggyback`: the response, which every further copy of the request pulls out again.
    pub(super) duplicate: Option<Arc<Message>>,
    pub(super) response_given_up: bool,
}

/// A request that is not finished.
#[derive(Debug)]
pub(super) enum Answering {
    /// The user works on it.
    User { mid: MessageId, since: Time, ack_req: bool },
    /// The response waits for its ACK.
    AckRequestor {
        pdu: Arc<Message>,
        first_sent: Time,
        timer: Option<Time>,
        timeouts: u32,
        ends: Option<Time>,
    },
}

/// The transactions that the peer started, as far as a copy of their message may still come.
#[derive(Debug, Default)]
pub(super) struct Destinations {
    pub(super) highest: u64,
    /// The last numbers up to `highest`, the newest at the back; `None`: not seen.
    pub(super) seen: VecDeque<Option<Seen>>,
    pub(super) answering: BTreeMap<TransactionNumber, Answering>,
}

impl Destinations {
    pub(super) fn seen_mut(&mut self, number: TransactionNumber) -> Option<&mut Seen> {
        let behind = usize::try_from(self.highest.checked_sub(number.0)?).ok()?;
        let at = self.seen.len().checked_sub(behind + 1)?;
        self.seen[at].as_mut()
    }

    pub(super) fn seen(&self, number: TransactionNumber) -> Option<&Seen> {
        let behind = usize::try_from(self.highest.checked_sub(number.0)?).ok()?;
        let at = self.seen.len().checked_sub(behind + 1)?;
        self.seen[at].as_ref()
    }

    /// Whether a copy of its message may come, or it is not finished.
    pub(super) fn is_held(&self, number: TransactionNumber) -> bool {
        self.answering.contains_key(&number) || self.seen(number).is_some_and(|seen| seen.asks)
    }

    /// The oldest number that is remembered, or the next one to come.
    pub(super) fn oldest(&self) -> u64 {
        self.highest + 1 - self.seen.len() as u64
    }

    pub(super) fn timer(&self, number: TransactionNumber) -> Option<Time> {
        match self.answering.get(&number)? {
            Answering::AckRequestor { timer, .. } => *timer,
            Answering::User { .. } => None,
        }
    }

    /// The number of a message with this ID (the rule stands in [`super::number`]). `copies_within`: the
    /// longest time between the first and the last transmission of a message over datagrams, `None` on a
    /// reliable transport.
    pub(super) fn expand(
        &self,
        now: Time,
        tid: u16,
        copies_within: Option<Span>,
    ) -> Option<TransactionNumber> {
        let highest = TransactionNumber(self.highest);
        let nearest = highest.nearest_with(tid)?;
        let (Some(within), Some(seen)) = (copies_within, self.seen(nearest)) else {
            return Some(nearest);
        };
        let newest_seen = self.seen(highest).map_or(seen.at, |newest| newest.at);
        if newest_seen.since(seen.at) > within + COPY_SPREAD
            || now.since(seen.at) > within + DATAGRAM_LIFETIME
        {
            return Some(nearest.reused());
        }
        Some(nearest)
    }

    /// Remembers that the message was seen. A number too far behind is not remembered.
    pub(super) fn remember(&mut self, number: TransactionNumber, seen: Seen) {
        if number.0 > self.highest {
            let ahead = number.0 - self.highest;
            if ahead > REACH {
                self.seen.clear();
            } else if ahead > 1 {
                self.seen.extend((1..ahead).map(|_| None));
            }
            self.highest = number.0;
            while self.seen.len() as u64 > REACH {
                self.seen.pop_front();
            }
            self.seen.push_back(Some(seen));
            return;
        }
        let behind = (self.highest - number.0) as usize;
        while self.seen.len() <= behind && behind as u64 <= REACH {
            self.seen.push_front(None);
        }
        if let Some(at) = self.seen.len().checked_sub(behind + 1) {
            self.seen[at] = Some(seen);
        }
    }
}
