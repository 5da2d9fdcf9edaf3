//! The MIH function of one node: the MIH_SAP towards its users, the MIH_NET_SAP towards the transport.
//!
//! Grammar: what comes goes in by [`Mihf::tp_data_indication`] (or as octets), packets for the transport are
//! taken with [`Mihf::poll_transmit`], events for the users with [`Mihf::poll_event`]. In `piggyback` mode a
//! response that is ready at once must be given before the next `poll_transmit`, that is, while the events
//! are taken; otherwise an ACK of its own goes out first.

use std::sync::Arc;

use roamsim_engine::Time;

use super::event::{Event, FailureReason};
use super::number::TransactionNumber;
use super::outbox::{Outbox, TpDataRequest};
use super::session::{Session, SessionConfig, Validity};
use super::states::Held;
use super::stats::{Rejection, Stats};
use super::thresholds::Thresholds;
use super::wire::handover::LinkParameterType;
use super::wire::link::{EventList, LinkId, LinkTupleId};
use super::wire::{Message, MessageId, MihfId, Opcode, Tlv, Tlvs};
use crate::{Context, Machine};

pub use super::session_id::SessionId;

/// An MIH function.
#[derive(Debug)]
pub struct Mihf {
    id: MihfId,
    sessions: Vec<Session>,
    outbox: Outbox,
    no_tlvs: Tlvs,
}

impl Mihf {
    /// An MIHF without sessions.
    pub fn new(id: MihfId) -> Mihf {
        Mihf { id, sessions: Vec::new(), outbox: Outbox::default(), no_tlvs: Tlvs::from([]) }
    }

    /// The MIHF's name.
    pub fn id(&self) -> &MihfId {
        &self.id
    }

    /// Adds a session with a peer.
    pub fn add_session(&mut self, config: SessionConfig) -> SessionId {
        let id = SessionId(self.sessions.len() as u32);
        self.sessions.push(Session::new(id, self.id.clone(), config, self.no_tlvs.clone()));
        id
    }

    /// A session's settings.
    pub fn config(&self, session: SessionId) -> &SessionConfig {
        &self.session(session).config
    }

    /// A session's counters.
    pub fn stats(&self, session: SessionId) -> &Stats {
        &self.session(session).stats
    }

    /// A session's counters of service management.
    pub fn management_stats(&self, session: SessionId) -> &Stats {
        &self.session(session).management_stats
    }

    /// The transaction states that a session has held up to `at`, which is not before its last change.
    pub fn states(&self, session: SessionId, at: Time) -> Held {
        self.session(session).states.held(at)
    }

    /// The most states at once of a session count from now on.
    pub fn forget_most_states(&mut self, session: SessionId, now: Time) {
        self.session_mut(session).states.forget_most(now);
    }

    /// How many packets wait at a session's rate limiter.
    pub fn queued_packets(&self, session: SessionId) -> usize {
        self.session(session).queued()
    }

    pub(super) fn session(&self, session: SessionId) -> &Session {
        &self.sessions[session.0 as usize]
    }

    /// Whether the response to a request of a session is accepted though its transaction has failed for this
    /// reason.
    pub fn still_accepts(&self, session: SessionId, reason: FailureReason) -> bool {
        reason == FailureReason::NotAcknowledged && self.session(session).config.validity == Validity::Open
    }

    /// The thresholds that the peer of a session has configured.
    pub(super) fn thresholds_mut(&mut self, session: SessionId) -> &mut Thresholds {
        &mut self.session_mut(session).management.thresholds
    }

    /// Whether the peer of a session has thresholds of a parameter of a link.
    pub fn has_thresholds(&self, session: SessionId, link: &LinkId, parameter: LinkParameterType) -> bool {
        self.session(session).management.thresholds.has(link, parameter)
    }

    /// Whether the peer of a session has subscribed to an event of a link.
    pub(super) fn is_subscribed(&self, session: SessionId, link: &LinkTupleId, event: EventList) -> bool {
        self.session(session).management.is_subscribed(link, event)
    }

    fn session_mut(&mut self, session: SessionId) -> &mut Session {
        &mut self.sessions[session.0 as usize]
    }

    /// Does what is due, then hands out the session and the outbox: timers go before anything else of the
    /// instant.
    #[inline]
    fn at_work(&mut self, cx: &Context<'_>, session: SessionId) -> (&mut Session, &mut Outbox) {
        self.run_due(cx.now);
        (&mut self.sessions[session.0 as usize], &mut self.outbox)
    }

    #[inline]
    fn run_due(&mut self, now: Time) {
        if self.outbox.first_deadline().is_some() {
            self.run_deadlines(now);
        }
    }

    /// The same where there are deadlines; apart, as there are none where nothing is acknowledged.
    #[inline(never)]
    fn run_deadlines(&mut self, now: Time) {
        while let Some(deadline) = self.outbox.first_deadline().copied() {
            let session = &mut self.sessions[deadline.session.0 as usize];
            let still = session.is_due_at(deadline.at, deadline.due);
            if still && deadline.at > now {
                return;
            }
            self.outbox.pop_deadline();
            if still {
                session.handle_due(now, &mut self.outbox, deadline.due);
            }
        }
    }

    /// Drops superseded deadlines from the front, so that `poll_timeout` names one with work to do.
    #[inline]
    fn prune(&mut self) {
        self.run_due(Time::ZERO);
    }

    /// Sends an indication. Returns the transaction's number.
    ///
    /// `size_bytes`: the size of the whole message, reached with padding; a message that is larger by itself
    /// stays as it is, and one that is 1 to 4 octets smaller becomes up to 4 octets larger than asked.
    pub fn indicate(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        mid: MessageId,
        tlvs: impl Into<Tlvs>,
        size_bytes: Option<u32>,
    ) -> TransactionNumber {
        self.indicate_shared(cx, session, mid, &tlvs.into(), size_bytes)
    }

    /// The same with content that its user sends again and again.
    #[inline]
    pub fn indicate_shared(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        mid: MessageId,
        content: &Tlvs,
        size_bytes: Option<u32>,
    ) -> TransactionNumber {
        debug_assert_eq!(mid.opcode(), Opcode::Indication, "{mid} is no indication");
        let (session, outbox) = self.at_work(cx, session);
        session.stats.indications += 1;
        let number = session.start(cx.now, outbox, mid, (content, size_bytes), false);
        self.prune();
        number
    }

    /// Sends a request. Returns the transaction's number. `size_bytes` as for [`Mihf::indicate`].
    pub fn request(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        mid: MessageId,
        tlvs: impl Into<Tlvs>,
        size_bytes: Option<u32>,
    ) -> TransactionNumber {
        debug_assert_eq!(mid.opcode(), Opcode::Request, "{mid} is no request");
        let tlvs = tlvs.into();
        let (session, outbox) = self.at_work(cx, session);
        session.stats.requests += 1;
        // UIR mirrors the request's TLV 61.
        let uir = tlvs.contains(&Tlv::UnauthenticatedInformationRequest(true));
        let number = session.start(cx.now, outbox, mid, (&tlvs, size_bytes), uir);
        self.prune();
        number
    }

    /// Answers a request of the peer's. `size_bytes` as for [`Mihf::indicate`]. False, and nothing is sent,
    /// when no answer is due: it was given already, or the transaction's lifetime is over.
    pub fn respond(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        request: TransactionNumber,
        tlvs: impl Into<Tlvs>,
        size_bytes: Option<u32>,
    ) -> bool {
        let (session, outbox) = self.at_work(cx, session);
        let content = (&tlvs.into(), size_bytes);
        let tlvs = session.padding.of(content, &session.own_id, &session.config.peer).clone();
        let sent = session.respond(cx.now, outbox, request, tlvs);
        session.stats.responses += u64::from(sent);
        self.prune();
        sent
    }

    /// Registers with the peer; ends with [`Event::Registered`].
    pub fn register(&mut self, cx: &mut Context<'_>, session: SessionId, links: Vec<LinkId>) {
        let (session, outbox) = self.at_work(cx, session);
        session.ask_registration(cx.now, outbox, links, false);
        self.prune();
    }

    /// Registers with a peer that it has registered with before, and tells it so; ends with
    /// [`Event::Registered`].
    pub fn register_again(&mut self, cx: &mut Context<'_>, session: SessionId, links: Vec<LinkId>) {
        let (session, outbox) = self.at_work(cx, session);
        session.ask_registration(cx.now, outbox, links, true);
        self.prune();
    }

    /// Ends the registration with the peer; ends with [`Event::Deregistered`].
    pub fn deregister(&mut self, cx: &mut Context<'_>, session: SessionId) {
        let (session, outbox) = self.at_work(cx, session);
        session.ask(cx.now, outbox, MessageId::DEREGISTER_REQUEST, Vec::new());
        self.prune();
    }

    /// Subscribes to events of a link at the peer; ends with [`Event::Subscribed`].
    pub fn subscribe(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        link: LinkTupleId,
        events: EventList,
    ) {
        let (session, outbox) = self.at_work(cx, session);
        let tlvs = vec![Tlv::LinkIdentifier(link), Tlv::EventList(events)];
        session.ask(cx.now, outbox, MessageId::EVENT_SUBSCRIBE_REQUEST, tlvs);
        self.prune();
    }

    /// Ends a subscription to events of a link; ends with [`Event::Unsubscribed`].
    pub fn unsubscribe(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        link: LinkTupleId,
        events: EventList,
    ) {
        let (session, outbox) = self.at_work(cx, session);
        let tlvs = vec![Tlv::LinkIdentifier(link), Tlv::EventList(events)];
        session.ask(cx.now, outbox, MessageId::EVENT_UNSUBSCRIBE_REQUEST, tlvs);
        self.prune();
    }

    /// Asks the peer what it can do; ends with [`Event::CapabilitiesDiscovered`], one for each MIHF that
    /// answers.
    pub fn discover(&mut self, cx: &mut Context<'_>, session: SessionId) {
        let (session, outbox) = self.at_work(cx, session);
        session.ask_capabilities(cx.now, outbox);
        self.prune();
    }

    /// MIH_TP_Data.indication: a message of the session came.
    pub fn tp_data_indication(&mut self, cx: &mut Context<'_>, session: SessionId, pdu: Arc<Message>) {
        let is_addressed = pdu.destination == self.id || pdu.destination.is_multicast();
        let (session, outbox) = self.at_work(cx, session);
        if !is_addressed {
            session.stats.reject(Rejection::NotAddressed);
        } else if pdu.source != session.config.peer && !session.config.peer.is_multicast() {
            session.stats.reject(Rejection::UnknownPeer);
        } else {
            // Where an arriving message belongs to: IEEE 802.21 section 8.2.3.
            match pdu.mid.opcode() {
                Opcode::Response if pdu.is_acknowledgement() => {
                    session.handle_response_ack(cx.now, outbox, &pdu)
                }
                Opcode::Response => session.handle_response(cx.now, outbox, pdu),
                Opcode::Request | Opcode::Indication if pdu.ack_rsp => {
                    session.handle_ack(cx.now, outbox, &pdu);
                }
                Opcode::Request | Opcode::Indication => session.handle_message(cx.now, outbox, pdu),
            }
        }
        self.prune();
    }

    /// MIH_TP_Data.indication with octets: what is no message is counted by its reason.
    pub fn tp_data_octets(&mut self, cx: &mut Context<'_>, session: SessionId, octets: &[u8]) {
        match Message::decode(octets) {
            Ok(message) => self.tp_data_indication(cx, session, Arc::new(message)),
            Err(error) => self.at_work(cx, session).0.stats.reject(Rejection::from(&error)),
        }
    }

    /// MIH_TP_Data.confirm: whether the transport took a packet. It says nothing about the packet's arrival,
    /// so that a refusal is only counted; the ACK requestor goes on.
    pub fn tp_data_confirm(&mut self, session: SessionId, taken: bool) {
        self.session_mut(session).stats.transport_refusals += u64::from(!taken);
    }

    /// Whether there is an event or a packet to be taken: asked in one, as mostly there is neither behind
    /// what was taken.
    #[inline]
    pub fn has_something_to_pass_on(&self) -> bool {
        let Outbox { events, requests, unreturned_acks, .. } = &self.outbox;
        events.len() | requests.len() | unreturned_acks.len() != 0
    }

    /// MIH_TP_Data.request: the next packet for the transport.
    #[inline]
    pub fn poll_transmit(&mut self, cx: &mut Context<'_>) -> Option<TpDataRequest> {
        if !self.outbox.unreturned_acks.is_empty() {
            self.return_acks(cx.now);
        }
        self.outbox.requests.pop_front()
    }

    /// Acknowledges the requests that came just now and have no response yet.
    #[inline(never)]
    fn return_acks(&mut self, now: Time) {
        for (session, number, pdu) in std::mem::take(&mut self.outbox.unreturned_acks) {
            let session = &mut self.sessions[session.0 as usize];
            session.return_ack(now, &mut self.outbox, &pdu, number);
        }
        self.prune();
    }

    /// The next event for the MIH users.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.outbox.events.pop_front()
    }
}

impl Machine for Mihf {
    fn poll_timeout(&self) -> Option<Time> {
        self.outbox.first_deadline().map(|deadline| deadline.at)
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.run_due(cx.now);
    }
}
