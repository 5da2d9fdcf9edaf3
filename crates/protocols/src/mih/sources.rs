//! The transactions that this MIHF started: what is kept of each, and which of them a transaction ID means.

use std::collections::VecDeque;
use std::sync::Arc;

use roamsim_engine::Time;

use super::number::{REACH, TRANSACTION_IDS, TransactionNumber};
use super::wire::{Message, MessageId, Opcode};

/// One transaction of this MIHF's.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) mid: MessageId,
    pub(super) first_sent: Time,
    /// The one deadline: next retransmission, or end of the transaction.
    pub(super) timer: Option<Time>,
    /// The message, while the ACK requestor may send it again.
    pub(super) pdu: Option<Arc<Message>>,
    /// Retransmission timeouts so far.
    pub(super) timeouts: u32,
    pub(super) acked: bool,
    pub(super) answered: bool,
    /// Given up: nothing is accepted any more.
    pub(super) closed: bool,
    /// The ACK requestor failed; under `open` the transaction goes on.
    pub(super) unacknowledged: bool,
}

impl Source {
    /// Whether it has not come to its end yet.
    pub(super) fn is_open(&self) -> bool {
        !self.closed
            && (self.pdu.is_some()
                || self.mid.opcode() == Opcode::Request && !self.answered && !self.unacknowledged)
    }

    /// Whether anything more has to be known of it. `answers_ask`: whether responses ask for an ACK.
    pub(super) fn is_held(&self, answers_ask: bool) -> bool {
        let is_request = self.mid.opcode() == Opcode::Request;
        !self.closed && (self.pdu.is_some() || is_request && (!self.answered || answers_ask))
    }
}

/// The transactions that this MIHF started, from the oldest one that is still known.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// How many were started.
    pub(super) started: u64,
    /// The number of the first that is kept, where any is.
    pub(super) first: u64,
    /// Those that are kept, in order, up to the newest that leaves something to wait for; `None` for those
    /// that do not.
    pub(super) known: VecDeque<Option<Source>>,
    /// The highest number to which an ACK or a response came.
    pub(super) highest_echo: u64,
    /// The message that started the newest.
    pub(super) last: Option<Arc<Message>>,
}

impl Sources {
    /// The number of the newest transaction, 0 when there is none.
    pub(super) fn newest(&self) -> TransactionNumber {
        TransactionNumber(self.started)
    }

    pub(super) fn first_known(&self) -> u64 {
        if self.known.is_empty() { self.started + 1 } else { self.first }
    }

    /// Keeps the newest.
    pub(super) fn keep(&mut self, source: Source) {
        if self.known.is_empty() {
            self.first = self.started;
        }
        let place = (self.started - self.first) as usize;
        self.known.resize_with(place, || None);
        self.known.push_back(Some(source));
    }

    pub(super) fn get(&self, number: TransactionNumber) -> Option<&Source> {
        let at = number.0.checked_sub(self.first_known())?;
        self.known.get(usize::try_from(at).ok()?)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: TransactionNumber) -> Option<&mut Source> {
        let at = number.0.checked_sub(self.first_known())?;
        self.known.get_mut(usize::try_from(at).ok()?)?.as_mut()
    }

    pub(super) fn timer(&self, number: TransactionNumber) -> Option<Time> {
        self.get(number)?.timer
    }

    /// The transaction that an ACK or a response with this ID belongs to (the rule stands in
    /// [`super::number`]).
    pub(super) fn of_echo(&self, tid: u16, reliable: bool) -> Option<TransactionNumber> {
        let latest = self.newest().latest_with(tid)?;
        if !reliable {
            return Some(latest);
        }
        let oldest = self.first_known().max(self.highest_echo.saturating_sub(REACH));
        let mut found = latest;
        let mut candidate = latest;
        while let Some(older) = candidate.0.checked_sub(TRANSACTION_IDS).filter(|&older| older >= oldest) {
            candidate = TransactionNumber(older);
            if self.get(candidate).is_some() {
                found = candidate;
            }
        }
        Some(found)
    }

    /// Takes the transactions off whose IDs were used again, or that left nothing to wait for.
    pub(super) fn take_obsolete(&mut self, reliable: bool) -> Option<(TransactionNumber, Option<Source>)> {
        let first = self.first_known();
        let reused = if reliable {
            // Answers come in order: none can come any more for one so far behind.
            first + REACH < self.highest_echo
        } else {
            first + TRANSACTION_IDS <= self.started
        };
        if reused || matches!(self.known.front(), Some(None)) {
            self.first += 1;
            return Some((TransactionNumber(first), self.known.pop_front()?));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_nothing_to_wait_for_takes_a_place_only_before_what_does() {
        let mut sources = Sources::default();
        let kept = |sources: &Sources| sources.known.iter().map(Option::is_some).collect::<Vec<_>>();
        let source = || Source {
            mid: MessageId::LINK_ACTIONS_REQUEST,
            first_sent: Time::ZERO,
            timer: None,
            pdu: None,
            timeouts: 0,
            acked: false,
            answered: false,
            closed: false,
            unacknowledged: false,
        };
        // 1 and 4 wait, 2, 3 and 5 do not.
        for number in 1..=5 {
            sources.started = number;
            if number == 1 || number == 4 {
                sources.keep(source());
            }
        }
        assert_eq!(kept(&sources), [true, false, false, true]);
        let known = |sources: &Sources, number| sources.get(TransactionNumber(number)).is_some();
        assert!((1..=6).map(|number| known(&sources, number)).eq([true, false, false, true, false, false]));
        // Over datagrams, when the ID of 1 is used again: it goes, and 2 and 3 with it.
        sources.started = 1 + TRANSACTION_IDS;
        let obsolete = std::iter::from_fn(|| sources.take_obsolete(false));
        assert!(obsolete.map(|(number, source)| (number.0, source.is_some())).eq([
            (1, true),
            (2, false),
            (3, false)
        ]));
        assert_eq!((sources.first_known(), known(&sources, 4)), (4, true));
        sources.started = 4 + TRANSACTION_IDS;
        assert!(
            sources.take_obsolete(false).is_some_and(|(number, source)| number.0 == 4 && source.is_some())
        );
        assert_eq!(sources.first_known(), 5 + TRANSACTION_IDS);
    }
}
