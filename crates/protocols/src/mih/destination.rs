//! Transactions that the peer starts: the destination machine, the ACK responder machine, and for the
//! response the ACK requestor machine of IEEE 802.21 section 8.2.3.

use std::sync::Arc;

use roamsim_engine::Time;

use super::destinations::{Answering, Seen};
use super::event::Event;
use super::number::{REACH, TRANSACTION_IDS, TransactionNumber};
use super::outbox::{Due, Outbox, Purpose};
use super::session::{AcknowledgementMode, Session};
use super::states::State;
use super::stats::Rejection;
use super::wire::{Message, MessageId, Opcode, Tlvs};

impl Session {
    /// An indication or a request of the peer's: new, or a copy.
    pub(super) fn handle_message(&mut self, now: Time, outbox: &mut Outbox, pdu: Arc<Message>) {
        let copies_within = (!self.config.reliable).then(|| self.config.copies_within());
        let Some(number) = self.destinations.expand(now, pdu.tid, copies_within) else {
            self.stats.reject(Rejection::BadTransactionId);
            return;
        };
        let asks = pdu.ack_req && !pdu.destination.is_multicast();
        let lifetime = self.config.lifetime;
        let remembered = self.destinations.seen(number);
        let known = remembered.filter(|seen| lifetime.is_none_or(|lifetime| now < seen.at + lifetime));
        if let Some(seen) = known
            && seen.mid == pdu.mid
        {
            // A copy: acknowledged again (RETURN_ACK, RETURN_DUPLICATE), and not delivered again.
            let response = seen.duplicate.clone();
            self.stats_of(pdu.mid).duplicates += 1;
            match response {
                Some(response) if asks => {
                    self.send(now, outbox, response, number, Purpose::Retransmission);
                }
                None if asks => self.acknowledge(now, outbox, &pdu, number),
                _ => {}
            }
            return;
        }
        // Another message with the ID of a live transaction takes its place.
        let reused = known.is_some();
        let is_copy = !reused && remembered.is_some_and(|seen| seen.mid == pdu.mid);
        self.stats_of(pdu.mid).id_reuses += u64::from(reused);
        self.stats_of(pdu.mid).redelivered += u64::from(is_copy);
        let oldest = self.destinations.oldest();
        let seen = Seen { at: now, mid: pdu.mid, asks, duplicate: None, response_given_up: false };
        self.destinations.remember(number, seen);
        let is_request = pdu.mid.opcode() == Opcode::Request;
        if asks || is_request {
            for forgotten in oldest..self.destinations.oldest() {
                self.settle_destination(now, TransactionNumber(forgotten));
            }
            self.begin_state(now, pdu.mid, State::Destination(number));
        }
        if is_request {
            let user = Answering::User { mid: pdu.mid, since: now, ack_req: asks };
            self.destinations.answering.insert(number, user);
            self.close_unanswered(now);
        }
        if asks && is_request && self.mode() == AcknowledgementMode::Piggyback {
            outbox.unreturned_acks.push((self.id, number, pdu.clone()));
        } else if asks {
            self.acknowledge(now, outbox, &pdu, number);
        }
        if pdu.mid.is_management() {
            self.handle_management_request(now, outbox, number, &pdu);
        } else if pdu.mid == MessageId::LINK_CONFIGURE_THRESHOLDS_REQUEST {
            self.configure_thresholds(now, outbox, number, &pdu);
        } else if is_request {
            outbox.events.push_back(Event::RequestReceived { session: self.id, number, pdu });
        } else {
            outbox.events.push_back(Event::IndicationReceived { session: self.id, number, pdu });
        }
    }

    /// Over datagrams the reuse of its ID closes a request that is still to be answered. (Over a reliable
    /// transport answers find their way in order, however many requests came since.)
    fn close_unanswered(&mut self, now: Time) {
        let highest = self.destinations.highest;
        while !self.config.reliable
            && let Some(oldest) = self.destinations.answering.first_entry()
            && oldest.key().0 + TRANSACTION_IDS <= highest
        {
            let number = *oldest.key();
            oldest.remove();
            self.stats.id_reuses += 1;
            self.settle_destination(now, number);
        }
    }

    /// Ends the transaction's state if nothing more has to be known of it.
    fn settle_destination(&mut self, now: Time, number: TransactionNumber) {
        if !self.destinations.is_held(number) {
            self.states.end(now, State::Destination(number));
        }
    }

    /// Acknowledges a request by a packet of its own if its response did not come first.
    pub(super) fn return_ack(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        pdu: &Message,
        number: TransactionNumber,
    ) {
        if let Some(Answering::User { .. }) = self.destinations.answering.get(&number) {
            self.acknowledge(now, outbox, pdu, number);
        }
    }

    /// Sends the user's response. False when no answer is due: none was asked for, it was given, or the
    /// transaction's lifetime is over.
    pub(super) fn respond(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        number: TransactionNumber,
        tlvs: Tlvs,
    ) -> bool {
        let Some(&Answering::User { mid, since, ack_req: request_asked }) =
            self.destinations.answering.get(&number)
        else {
            return false;
        };
        self.destinations.answering.remove(&number);
        let ends = self.config.lifetime.map(|lifetime| since + lifetime);
        if ends.is_some_and(|ends| now >= ends) {
            self.stats_of(mid).lifetimes_over += 1;
            return false;
        }
        let piggyback = request_asked && self.mode() == AcknowledgementMode::Piggyback;
        let ack_req = self.asks_for_ack();
        let pdu = Arc::new(Message {
            mid: mid.response(),
            tid: number.tid(),
            ack_req,
            ack_rsp: piggyback,
            uir: false,
            source: self.own_id.clone(),
            destination: self.config.peer.clone(),
            tlvs,
        });
        if piggyback && let Some(seen) = self.destinations.seen_mut(number) {
            seen.duplicate = Some(pdu.clone());
        }
        if ack_req {
            let requestor =
                Answering::AckRequestor { pdu: pdu.clone(), first_sent: now, timer: None, timeouts: 0, ends };
            self.destinations.answering.insert(number, requestor);
            self.rearm_response(outbox, number);
        }
        self.settle_destination(now, number);
        self.send(now, outbox, pdu, number, Purpose::First);
        true
    }

    fn rearm_response(&mut self, outbox: &mut Outbox, number: TransactionNumber) {
        let Some(Answering::AckRequestor { pdu, first_sent, timer, timeouts, ends }) =
            self.destinations.answering.get_mut(&number)
        else {
            return;
        };
        let Some(acknowledgement) = self.config.acknowledgement_of(pdu.mid) else { return };
        let retransmission = *first_sent + acknowledgement.timeout * (u64::from(*timeouts) + 1);
        let next = ends.map_or(retransmission, |ends| retransmission.min(ends));
        *timer = Some(next);
        outbox.arm(next, self.id, Due::Response(number));
    }

    /// The retransmission timer of a response ended, or the transaction's lifetime.
    pub(super) fn handle_response_timer(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        number: TransactionNumber,
    ) {
        let highest = self.destinations.highest;
        let Some(Answering::AckRequestor { pdu, timeouts, ends, .. }) =
            self.destinations.answering.get_mut(&number)
        else {
            return;
        };
        let mid = pdu.mid;
        let Some(acknowledgement) = self.config.acknowledgement_of(mid) else { return };
        let over = ends.is_some_and(|ends| now >= ends);
        if over || *timeouts >= acknowledgement.retransmissions {
            self.destinations.answering.remove(&number);
            if let Some(seen) = self.destinations.seen_mut(number) {
                seen.response_given_up = true;
            }
            let stats = self.stats_of(mid);
            if over {
                stats.lifetimes_over += 1;
            } else {
                stats.responses_given_up += 1;
            }
            if !mid.is_management() {
                outbox.events.push_back(Event::ResponseFailed { session: self.id, number });
            }
            self.settle_destination(now, number);
            return;
        }
        *timeouts += 1;
        let pdu = pdu.clone();
        if highest.saturating_sub(number.0) > REACH {
            // Half of the IDs were used since: the requester could take the copy for another's response.
            self.stats_of(mid).id_reuses += 1;
        } else {
            self.send(now, outbox, pdu, number, Purpose::Retransmission);
        }
        self.rearm_response(outbox, number);
    }

    /// An ACK without content for a response of this MIHF's.
    pub(super) fn handle_response_ack(&mut self, now: Time, outbox: &mut Outbox, pdu: &Message) {
        let highest = TransactionNumber(self.destinations.highest);
        let Some(number) = self.acknowledged_response(pdu.tid, highest) else {
            self.stats.reject(Rejection::Unsolicited);
            return;
        };
        if let Some(Answering::AckRequestor { .. }) = self.destinations.answering.get(&number) {
            self.destinations.answering.remove(&number);
            if !pdu.mid.is_management() {
                outbox.events.push_back(Event::ResponseAcknowledged { session: self.id, number });
            }
            self.settle_destination(now, number);
            return;
        }
        match self.destinations.seen(number) {
            Some(seen) if seen.mid != pdu.mid.request() => self.stats.reject(Rejection::Unsolicited),
            Some(seen) if !seen.response_given_up => self.stats_of(pdu.mid).duplicate_acks += 1,
            _ => self.stats_of(pdu.mid).late_acks += 1,
        }
    }

    /// The response that an ACK with this ID belongs to: the latest, or on a reliable transport, where many
    /// may be on their way, the oldest that waits for one.
    fn acknowledged_response(&self, tid: u16, highest: TransactionNumber) -> Option<TransactionNumber> {
        if self.config.reliable {
            let waiting = self.destinations.answering.iter().find(|(number, answering)| {
                number.tid() == tid && matches!(answering, Answering::AckRequestor { .. })
            });
            if let Some((number, _)) = waiting {
                return Some(*number);
            }
        }
        highest.latest_with(tid)
    }
}
