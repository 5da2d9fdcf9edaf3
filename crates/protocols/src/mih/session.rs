//! A session: an association of this MIHF with one peer over one transport, its settings and its counters.

use std::sync::Arc;

use roamsim_engine::{Span, Time};

use super::destinations::Destinations;
use super::limiter::{Limiter, Offered, RateLimit};
use super::management_state::Management;
use super::number::TransactionNumber;
use super::outbox::{Due, Outbox, Purpose, TpDataRequest};
use super::session_id::SessionId;
use super::sources::Sources;
use super::states::{State, States};
use super::stats::Stats;
use super::wire::message::padded;
use super::wire::{Message, MessageId, MihfId, Tlvs};
use crate::PeerAddress;

/// How a message that asks for it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AcknowledgementMode {
    /// By a packet of its own, at once. A response says nothing about the request's arrival.
    #[default]
    Separate,
    /// By the response where it is ready when the request comes, and again by the response for every copy of
    /// the request that comes after it; by a packet of its own otherwise. A response acknowledges its
    /// request.
    Piggyback,
}

/// MIH acknowledgements: asked for with every message of the session, service management included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// RetransmissionInterval: fixed, without back-off.
    pub timeout: Span,
    /// MaxRetransmissions.
    pub retransmissions: u32,
    /// How messages are acknowledged.
    pub mode: AcknowledgementMode,
}

impl Acknowledgement {
    /// When a message is given up, counted from its first transmission.
    pub fn give_up_after(&self) -> Span {
        self.timeout * (u64::from(self.retransmissions) + 1)
    }
}

/// Acknowledgement of one kind of message, where it is another than that of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageTimers {
    /// The message.
    pub mid: MessageId,
    /// RetransmissionInterval.
    pub timeout: Span,
    /// MaxRetransmissions.
    pub retransmissions: u32,
}

/// Until when a requester accepts a response. Without MIH acknowledgements every response is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Validity {
    /// Always.
    Open,
    /// Before (retransmissions + 1) timeouts from the first transmission; always, if the request was
    /// acknowledged before that.
    #[default]
    Acked,
    /// Before (retransmissions + 1) timeouts from the first transmission.
    Strict,
}

/// A session's settings; both ends are meant to have the same.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionConfig {
    /// The peer's name.
    pub peer: MihfId,
    /// The peer's transport address.
    pub remote: PeerAddress,
    /// ReliableDeliveryFlag: true for TCP, false for UDP.
    pub reliable: bool,
    /// MIH acknowledgements; `None`: not asked for (but given to a peer that asks).
    pub acknowledgement: Option<Acknowledgement>,
    /// Kinds of messages with timers of their own, where there are acknowledgements.
    pub timers: Arc<[MessageTimers]>,
    /// Until when a response is accepted.
    pub validity: Validity,
    /// TransactionLifeTime; `None`: until the ID is used again.
    pub lifetime: Option<Span>,
    /// The token bucket; `None`: no limit.
    pub rate_limit: Option<RateLimit>,
}

impl SessionConfig {
    /// The acknowledgement of a kind of message.
    pub(super) fn acknowledgement_of(&self, mid: MessageId) -> Option<Acknowledgement> {
        let settings = self.acknowledgement?;
        Some(match self.timers.iter().find(|timers| timers.mid == mid) {
            None => settings,
            Some(&MessageTimers { timeout, retransmissions, .. }) => {
                Acknowledgement { timeout, retransmissions, ..settings }
            }
        })
    }

    /// How long after its first transmission a message may be sent again, whatever its kind.
    pub(super) fn copies_within(&self) -> Span {
        let Some(settings) = self.acknowledgement else { return Span::ZERO };
        let others = self.timers.iter().map(|timers| timers.timeout * u64::from(timers.retransmissions));
        others.fold(settings.timeout * u64::from(settings.retransmissions), Span::max)
    }
}

/// A packet on its way to the transport.
#[derive(Debug)]
struct Outgoing {
    pdu: Arc<Message>,
    number: TransactionNumber,
    purpose: Purpose,
}

/// Pads content to the size of its message. What was padded last is kept: a user that sends the same again
/// and again shares it.
#[derive(Debug, Default)]
pub(super) struct Padding {
    last: Option<Padded>,
}

#[derive(Debug)]
struct Padded {
    content: Tlvs,
    size_bytes: u32,
    tlvs: Tlvs,
}

impl Padding {
    /// The TLVs of a message with this content: padded such that it takes `size_bytes`, or the content as it
    /// is without a size.
    #[inline]
    pub(super) fn of<'a>(
        &'a mut self,
        (content, size_bytes): (&'a Tlvs, Option<u32>),
        source: &MihfId,
        destination: &MihfId,
    ) -> &'a Tlvs {
        let Some(size_bytes) = size_bytes else { return content };
        let is_last = |last: &Padded| last.size_bytes == size_bytes && last.content.shares(content);
        if !self.last.as_ref().is_some_and(is_last) {
            self.pad(content, size_bytes, source, destination);
        }
        self.last.as_ref().map_or(content, |last| &last.tlvs)
    }

    #[inline(never)]
    fn pad(&mut self, content: &Tlvs, size_bytes: u32, source: &MihfId, destination: &MihfId) {
        let tlvs = padded(content.clone(), source, destination, size_bytes);
        self.last = Some(Padded { content: content.clone(), size_bytes, tlvs });
    }
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) config: SessionConfig,
    pub(super) own_id: MihfId,
    pub(super) stats: Stats,
    /// Those of service management.
    pub(super) management_stats: Stats,
    pub(super) sources: Sources,
    pub(super) destinations: Destinations,
    /// Those of service management left out.
    pub(super) states: States,
    pub(super) management: Management,
    limiter: Option<Limiter<Outgoing>>,
    /// When the limiter's armed deadline is.
    token_at: Option<Time>,
    no_tlvs: Tlvs,
    pub(super) padding: Padding,
}

impl Session {
    pub(super) fn new(id: SessionId, own_id: MihfId, config: SessionConfig, no_tlvs: Tlvs) -> Session {
        Session {
            id,
            own_id,
            limiter: config.rate_limit.as_ref().map(Limiter::new),
            stats: Stats::default(),
            management_stats: Stats::default(),
            padding: Padding::default(),
            sources: Sources::default(),
            destinations: Destinations::default(),
            states: States::default(),
            management: Management::default(),
            token_at: None,
            no_tlvs,
            config,
        }
    }

    /// The counters that a message of this kind belongs to.
    pub(super) fn stats_of(&mut self, mid: MessageId) -> &mut Stats {
        if mid.is_management() { &mut self.management_stats } else { &mut self.stats }
    }

    /// A transaction has come to this end: it takes a state up to its end, or that of its lifetime.
    pub(super) fn begin_state(&mut self, now: Time, mid: MessageId, state: State) {
        if !mid.is_management() {
            self.states.begin(now, state, self.config.lifetime.map(|lifetime| now + lifetime));
        }
    }

    /// The mode of acknowledgement; a session that asks for none gives separate ones.
    pub(super) fn mode(&self) -> AcknowledgementMode {
        self.config.acknowledgement.map(|acknowledgement| acknowledgement.mode).unwrap_or_default()
    }

    /// Whether messages of this session ask for an acknowledgement: never of the multicast MIHF ID.
    pub(super) fn asks_for_ack(&self) -> bool {
        self.config.acknowledgement.is_some() && !self.config.peer.is_multicast()
    }

    /// Hands a packet to the transport, through the rate limiter if there is one.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        pdu: Arc<Message>,
        number: TransactionNumber,
        purpose: Purpose,
    ) {
        let mid = pdu.mid;
        let outgoing = Outgoing { pdu, number, purpose };
        match &mut self.limiter {
            None => self.pass(outbox, outgoing),
            Some(limiter) => {
                let offered = limiter.offer(now, outgoing);
                self.take_offered(outbox, mid, offered);
            }
        }
    }

    /// What became of a packet at the rate limiter.
    #[inline(never)]
    fn take_offered(&mut self, outbox: &mut Outbox, mid: MessageId, offered: Offered<Outgoing>) {
        match offered {
            Offered::Sent(outgoing) => self.pass(outbox, outgoing),
            Offered::Queued => self.arm_token(outbox),
            Offered::Dropped => self.stats_of(mid).rate_limited += 1,
        }
    }

    #[inline]
    fn pass(&mut self, outbox: &mut Outbox, Outgoing { pdu, number, purpose }: Outgoing) {
        let packets = &mut self.stats_of(pdu.mid).packets;
        match purpose {
            Purpose::First => packets.first_transmissions += 1,
            Purpose::Retransmission => packets.retransmissions += 1,
            Purpose::Acknowledgement => packets.acks += 1,
        }
        outbox.requests.push_back(TpDataRequest {
            session: self.id,
            destination: self.config.remote,
            reliable: self.config.reliable,
            pdu,
            number,
            purpose,
        });
    }

    fn arm_token(&mut self, outbox: &mut Outbox) {
        let next = self.limiter.as_ref().and_then(Limiter::next_release);
        if next != self.token_at {
            self.token_at = next;
            if let Some(at) = next {
                outbox.arm(at, self.id, Due::Token);
            }
        }
    }

    fn release_tokens(&mut self, now: Time, outbox: &mut Outbox) {
        while let Some(outgoing) = self.limiter.as_mut().and_then(|limiter| limiter.release(now)) {
            self.pass(outbox, outgoing);
        }
        self.token_at = None;
        self.arm_token(outbox);
    }

    /// How many packets wait for a token.
    pub(super) fn queued(&self) -> usize {
        self.limiter.as_ref().map_or(0, Limiter::queued)
    }

    /// Acknowledges `pdu` by a packet of its own: the same MID and transaction ID, the names swapped.
    pub(super) fn acknowledge(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        pdu: &Message,
        number: TransactionNumber,
    ) {
        let ack = Message {
            mid: pdu.mid,
            tid: pdu.tid,
            ack_req: false,
            ack_rsp: true,
            uir: false,
            source: self.own_id.clone(),
            destination: self.config.peer.clone(),
            tlvs: self.no_tlvs.clone(),
        };
        self.send(now, outbox, Arc::new(ack), number, Purpose::Acknowledgement);
    }

    /// Does what is due.
    pub(super) fn handle_due(&mut self, now: Time, outbox: &mut Outbox, due: Due) {
        match due {
            Due::Token => self.release_tokens(now, outbox),
            Due::Source(number) => self.handle_source_timer(now, outbox, number),
            Due::Response(number) => self.handle_response_timer(now, outbox, number),
            Due::Management => self.handle_management_timer(now, outbox),
        }
    }

    /// Whether a deadline still means something.
    pub(super) fn is_due_at(&self, at: Time, due: Due) -> bool {
        match due {
            Due::Token => self.token_at == Some(at),
            Due::Source(number) => self.sources.timer(number) == Some(at),
            Due::Response(number) => self.destinations.timer(number) == Some(at),
            Due::Management => self.management.timer() == Some(at),
        }
    }
}
