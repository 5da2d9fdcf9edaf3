//! Transactions that this MIHF starts: the source machine and, for its message, the ACK requestor machine of
//! IEEE 802.21 section 8.2.3.
//!
//! Both share one record a transaction. At an instant at which a timer ends and a packet comes, the timer
//! goes first: a response that comes exactly when the transaction is given up is too late.

use std::sync::Arc;

use roamsim_engine::Time;

use super::event::{Event, FailureReason};
use super::number::{REACH, TransactionNumber};
use super::outbox::{Due, Outbox, Purpose};
use super::session::{Session, Validity};
use super::sources::Source;
use super::states::State;
use super::stats::Rejection;
use super::wire::{Message, MessageId, Opcode, Tlvs};

impl Session {
    /// Starts a transaction: numbers it, sends the message, and waits for what it asks for.
    #[inline]
    pub(super) fn start(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        mid: MessageId,
        content: (&Tlvs, Option<u32>),
        uir: bool,
    ) -> TransactionNumber {
        let number = TransactionNumber(self.sources.started + 1);
        let pdu = self.begun(mid, number.tid(), uir, content);
        let ack_req = pdu.ack_req;
        let is_request = mid.opcode() == Opcode::Request;
        let source = (ack_req || is_request).then(|| Source {
            mid,
            first_sent: now,
            timer: None,
            pdu: ack_req.then(|| pdu.clone()),
            timeouts: 0,
            acked: false,
            answered: false,
            closed: false,
            unacknowledged: false,
        });
        self.sources.started = number.0;
        if let Some(source) = source {
            self.begin_state(now, mid, State::Source(number));
            self.sources.keep(source);
            self.close_reused(now, outbox);
            self.rearm_source(outbox, number);
        } else if !self.config.reliable {
            // Over a reliable transport none is obsolete before an answer has come.
            self.close_reused(now, outbox);
        }
        self.send(now, outbox, pdu, number, Purpose::First);
        number
    }

    /// The message that starts a transaction: the one before it in the same memory, where nobody has that any
    /// more.
    #[inline]
    fn begun(&mut self, mid: MessageId, tid: u16, uir: bool, content: (&Tlvs, Option<u32>)) -> Arc<Message> {
        let ack_req = self.asks_for_ack();
        let tlvs = self.padding.of(content, &self.own_id, &self.config.peer);
        if let Some(last) = &mut self.sources.last
            && let Some(message) = Arc::get_mut(last)
        {
            // All that is not of the session itself, as its two MIHFs are.
            (message.mid, message.tid, message.uir) = (mid, tid, uir);
            (message.ack_req, message.ack_rsp) = (ack_req, false);
            if !message.tlvs.shares(tlvs) {
                message.tlvs = tlvs.clone();
            }
            return Arc::clone(last);
        }
        let tlvs = tlvs.clone();
        let (source, destination) = (self.own_id.clone(), self.config.peer.clone());
        let message = Message { mid, tid, ack_req, ack_rsp: false, uir, source, destination, tlvs };
        Arc::clone(self.sources.last.insert(Arc::new(message)))
    }

    fn close_reused(&mut self, now: Time, outbox: &mut Outbox) {
        while let Some((number, source)) = self.sources.take_obsolete(self.config.reliable) {
            self.states.end(now, State::Source(number));
            if let Some(source) = source.filter(Source::is_open) {
                self.stats_of(source.mid).id_reuses += 1;
                self.fail_source(outbox, source.mid, number, FailureReason::IdReused);
            }
        }
    }

    /// Tells the user; service management has events of its own.
    fn fail_source(
        &mut self,
        outbox: &mut Outbox,
        mid: MessageId,
        number: TransactionNumber,
        reason: FailureReason,
    ) {
        if !mid.is_management() {
            outbox.events.push_back(Event::TransactionFailed { session: self.id, number, reason });
        }
    }

    fn acknowledged_source(&mut self, outbox: &mut Outbox, mid: MessageId, number: TransactionNumber) {
        if !mid.is_management() {
            outbox.events.push_back(Event::Acknowledged { session: self.id, number });
        }
    }

    /// Ends the transaction's state if nothing more has to be known of it.
    fn settle_source(&mut self, now: Time, number: TransactionNumber) {
        let answers_ask = self.asks_for_ack();
        if !self.sources.get(number).is_some_and(|source| source.is_held(answers_ask)) {
            self.states.end(now, State::Source(number));
        }
    }

    /// Works out the transaction's next deadline, and sets it.
    fn rearm_source(&mut self, outbox: &mut Outbox, number: TransactionNumber) {
        let (validity, lifetime) = (self.config.validity, self.config.lifetime);
        let session = self.id;
        let Some(source) = self.sources.get_mut(number) else { return };
        let acknowledgement = self.config.acknowledgement_of(source.mid);
        let retransmission = acknowledgement
            .filter(|_| source.pdu.is_some())
            .map(|ack| source.first_sent + ack.timeout * (u64::from(source.timeouts) + 1));
        let give_up = acknowledgement
            .filter(|_| validity == Validity::Strict && source.is_open())
            .map(|ack| source.first_sent + ack.give_up_after());
        let end = lifetime.filter(|_| source.is_open()).map(|lifetime| source.first_sent + lifetime);
        let next = [retransmission, give_up, end].into_iter().flatten().min();
        if next != source.timer {
            source.timer = next;
            if let Some(at) = next {
                outbox.arm(at, session, Due::Source(number));
            }
        }
    }

    /// A timer of a transaction ended: send again, give up, or end it.
    pub(super) fn handle_source_timer(&mut self, now: Time, outbox: &mut Outbox, number: TransactionNumber) {
        let (validity, lifetime) = (self.config.validity, self.config.lifetime);
        let newest = self.sources.newest();
        let Some(source) = self.sources.get_mut(number) else { return };
        let mid = source.mid;
        let acknowledgement = self.config.acknowledgement_of(mid);
        source.timer = None;
        if lifetime.is_some_and(|lifetime| now >= source.first_sent + lifetime) {
            source.pdu = None;
            source.closed = true;
            if !source.answered {
                self.stats_of(mid).lifetimes_over += 1;
                self.fail_source(outbox, mid, number, FailureReason::Lifetime);
            }
            return;
        }
        let Some(acknowledgement) = acknowledgement else { return };
        let given_up_at = source.first_sent + acknowledgement.give_up_after();
        let mut failure = None;
        if now >= given_up_at {
            let unacknowledged = source.pdu.take().is_some();
            if !source.answered {
                // An indication is over; a request goes on only under `open`.
                source.unacknowledged = unacknowledged;
                source.closed = source.mid.opcode() != Opcode::Request || validity != Validity::Open;
                failure = Some(if unacknowledged {
                    FailureReason::NotAcknowledged
                } else {
                    FailureReason::NoResponse
                });
            }
        } else if let Some(pdu) = source.pdu.clone() {
            source.timeouts += 1;
            if newest.0 - number.0 > REACH {
                // Half of the IDs were used since: the copy could be taken for a new message.
                self.stats_of(mid).id_reuses += 1;
            } else {
                self.send(now, outbox, pdu, number, Purpose::Retransmission);
            }
        }
        if let Some(reason) = failure {
            self.stats_of(mid).given_up += 1;
            self.fail_source(outbox, mid, number, reason);
        }
        self.rearm_source(outbox, number);
        self.settle_source(now, number);
    }

    /// An ACK without content for an indication or a request of this MIHF's.
    pub(super) fn handle_ack(&mut self, now: Time, outbox: &mut Outbox, pdu: &Message) {
        let Some(number) = self.find_echo(now, pdu, pdu.mid) else { return };
        let Some(source) = self.sources.get_mut(number) else { return };
        if source.closed || source.unacknowledged {
            self.stats_of(pdu.mid).late_acks += 1;
        } else if source.acked {
            self.stats_of(pdu.mid).duplicate_acks += 1;
        } else {
            source.acked = true;
            source.pdu = None;
            self.acknowledged_source(outbox, pdu.mid, number);
            self.rearm_source(outbox, number);
            self.settle_source(now, number);
        }
        self.close_reused(now, outbox);
    }

    /// A response to a request of this MIHF's.
    pub(super) fn handle_response(&mut self, now: Time, outbox: &mut Outbox, pdu: Arc<Message>) {
        let request = pdu.mid.request();
        let Some(number) = self.find_echo(now, &pdu, request) else { return };
        let Some(source) = self.sources.get_mut(number) else { return };
        if source.closed {
            self.stats_of(pdu.mid).late_responses += 1;
            self.close_reused(now, outbox);
            return;
        }
        // The multicast MIHF ID has many answers, each from another MIHF.
        let first = !source.answered || self.config.peer.is_multicast();
        source.answered = true;
        if pdu.ack_rsp && !source.acked && !source.unacknowledged {
            source.acked = true;
            source.pdu = None;
            self.acknowledged_source(outbox, pdu.mid, number);
        }
        self.rearm_source(outbox, number);
        self.settle_source(now, number);
        if pdu.ack_req {
            self.acknowledge(now, outbox, &pdu, number);
        }
        if !first {
            self.stats_of(pdu.mid).duplicates += 1;
        } else if pdu.mid.is_management() {
            self.handle_management_response(now, outbox, number, &pdu);
        } else {
            outbox.events.push_back(Event::ResponseReceived { session: self.id, number, pdu });
        }
        self.close_reused(now, outbox);
    }

    /// Finds the transaction that an ACK or a response belongs to; counts it when there is none.
    fn find_echo(&mut self, now: Time, pdu: &Message, mid: MessageId) -> Option<TransactionNumber> {
        let Some(number) = self.sources.of_echo(pdu.tid, self.config.reliable) else {
            self.stats.reject(Rejection::Unsolicited);
            return None;
        };
        let lifetime = self.config.lifetime;
        match self.sources.get_mut(number) {
            Some(source) if source.mid == mid => {
                if lifetime.is_some_and(|lifetime| now >= source.first_sent + lifetime) {
                    source.closed = true;
                }
                self.sources.highest_echo = self.sources.highest_echo.max(number.0);
                Some(number)
            }
            Some(_) => {
                self.stats.reject(Rejection::Unsolicited);
                None
            }
            None => {
                // It was known once, or asked for nothing.
                if number.0 < self.sources.first_known() && pdu.is_acknowledgement() {
                    self.stats_of(pdu.mid).late_acks += 1;
                } else if number.0 < self.sources.first_known() {
                    self.stats_of(pdu.mid).late_responses += 1;
                } else {
                    self.stats.reject(Rejection::Unsolicited);
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mih::mihf::{Mihf, SessionId};
    use crate::mih::session::SessionConfig;
    use crate::mih::wire::{MihfId, Tlv};
    use crate::{Address, Context, PeerAddress};
    use roamsim_engine::Stream;

    fn name(name: &str) -> MihfId {
        MihfId::new(name).expect("short")
    }

    fn mihf() -> Mihf {
        let mut mihf = Mihf::new(name("mn"));
        mihf.add_session(SessionConfig {
            peer: name("pos"),
            remote: PeerAddress { address: Address(0), port: crate::mih::PORT },
            reliable: true,
            acknowledgement: None,
            timers: Arc::from([]),
            validity: Validity::default(),
            lifetime: None,
            rate_limit: None,
        });
        mihf
    }

    #[test]
    fn indications_behind_a_registration_that_is_not_answered_take_no_places() {
        let mut mihf = mihf();
        let cx = &mut Context { now: Time::ZERO, random: &mut Stream::new(0, 0, "unused") };
        mihf.register(cx, SessionId(0), Vec::new());
        for _ in 0..100 {
            mihf.indicate(cx, SessionId(0), MessageId::LINK_UP_INDICATION, Vec::new(), None);
        }
        assert_eq!(mihf.session(SessionId(0)).sources.known.len(), 1);
    }

    #[test]
    fn a_message_lies_where_the_one_before_it_lay_once_nobody_has_that_any_more() {
        let mut mihf = mihf();
        let cx = &mut Context { now: Time::ZERO, random: &mut Stream::new(0, 0, "unused") };
        let mut send = |mid, tlvs: Vec<Tlv>| {
            mihf.indicate(cx, SessionId(0), mid, tlvs, None);
            mihf.poll_transmit(cx).expect("sent at once").pdu
        };
        let up = send(MessageId::LINK_UP_INDICATION, Vec::new());
        let down = send(MessageId::LINK_DOWN_INDICATION, vec![Tlv::IpRenewalFlag(true)]);
        assert_eq!((up.mid, up.tid, up.tlvs.len()), (MessageId::LINK_UP_INDICATION, 1, 0));
        assert_eq!((down.mid, down.tid, down.tlvs.len()), (MessageId::LINK_DOWN_INDICATION, 2, 1));
        let place = Arc::as_ptr(&down);
        drop(down);
        let up = send(MessageId::LINK_UP_INDICATION, Vec::new());
        assert_eq!((up.mid, up.tid, up.tlvs.len()), (MessageId::LINK_UP_INDICATION, 3, 0));
        assert_eq!(Arc::as_ptr(&up), place);
    }
}
