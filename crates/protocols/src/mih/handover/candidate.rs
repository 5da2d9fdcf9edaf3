//! The MIH user at the point of service of a network that a mobile node may come to.

use super::Processing;
use super::messages::{
    has_failed, links, mn_complete_response, n2n_commit_response, n2n_complete, n2n_complete_response,
    query_resources_response,
};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::number::TransactionNumber;
use crate::mih::wire::handover::HandoverResult;
use crate::mih::wire::link::{LinkTupleId, Status};
use crate::mih::wire::{MessageId, MihfId};
use roamsim_engine::{Span, Time};
use std::collections::BTreeSet;

/// What a network has left for mobile nodes that are handed over to it.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// For how many mobile nodes there is room; `None`: for all.
    capacity: Option<u32>,
    reserved: BTreeSet<MihfId>,
    /// Those whose links are up here.
    present: BTreeSet<MihfId>,
    /// How many stations are here that no place was reserved for.
    others: u32,
    /// For how many mobile nodes like the one that asks the link has room; `None`: for all.
    link_places: Option<u32>,
}

impl Resources {
    /// Room for so many mobile nodes; `None`: for all that come.
    pub fn new(capacity: Option<u32>) -> Resources {
        Resources { capacity, ..Resources::default() }
    }

    /// How the network is, for the mobile node that asks next: how many stations are here beside it that no
    /// place was reserved for, and for how many like it the link has room, `None`: for all.
    pub fn observe(&mut self, others: u32, link_places: Option<u32>) {
        (self.others, self.link_places) = (others, link_places);
    }

    /// Whether a place is reserved for a mobile node.
    pub fn has_place(&self, mobile_node: &MihfId) -> bool {
        self.reserved.contains(mobile_node)
    }

    /// For how many mobile nodes there is room; one that has some already finds what it has.
    fn places_for(&self, mobile_node: &MihfId) -> u32 {
        let reserved = self.reserved.iter().filter(|other| *other != mobile_node).count() as u64;
        let taken = reserved + u64::from(self.others);
        let left = self.capacity.map_or(u32::MAX, |capacity| {
            u32::try_from(u64::from(capacity).saturating_sub(taken)).unwrap_or(u32::MAX)
        });
        left.min(self.link_places.unwrap_or(u32::MAX)).max(u32::from(self.has_place(mobile_node)))
    }

    /// Whether there is room for a mobile node; for one that has some already there is.
    pub fn has_room_for(&self, mobile_node: &MihfId) -> bool {
        self.places_for(mobile_node) > 0
    }

    fn reserve(&mut self, mobile_node: &MihfId) -> bool {
        let room = self.has_room_for(mobile_node);
        if room {
            self.reserved.insert(mobile_node.clone());
        }
        room
    }

    /// The link of a mobile node is up here: the place that it may have is taken.
    pub fn arrive(&mut self, mobile_node: &MihfId) {
        self.present.insert(mobile_node.clone());
    }

    /// A mobile node does not come: its place is free.
    fn give_back(&mut self, mobile_node: &MihfId) {
        self.reserved.remove(mobile_node);
    }

    /// A mobile node has left the network: its place is free.
    pub fn release(&mut self, mobile_node: &MihfId) {
        self.reserved.remove(mobile_node);
        self.present.remove(mobile_node);
    }

    /// Whether a place that is reserved for a mobile node is free again if that does not come: who is here
    /// already has taken it, and where there is room for all nothing is reserved.
    fn waits_for(&self, mobile_node: &MihfId) -> bool {
        let limited = self.capacity.is_some() || self.link_places.is_some();
        limited && self.has_place(mobile_node) && !self.present.contains(mobile_node)
    }
}

/// A candidate's settings, for one mobile node.
#[derive(Clone, Debug)]
pub struct CandidatePosConfig {
    /// The session with the PoS of the network that the mobile node uses.
    pub serving: SessionId,
    /// The session with the mobile node, once it is here.
    pub mobile_node: SessionId,
    /// The mobile node's name.
    pub mobile_node_id: MihfId,
    /// The mobile node's link here.
    pub link: LinkTupleId,
    /// Whether it tells for how many mobile nodes there is room.
    pub tells_places: bool,
    /// From a request's arrival to what is done about it.
    pub processing_time: Span,
    /// How long a place is kept for a mobile node whose link is not up here.
    pub reservation_time: Span,
    /// Octets of a whole message; `None`: as long as it is.
    pub message_bytes: Option<u32>,
}

/// A request whose processing takes its time.
#[derive(Debug)]
enum Work {
    Query(TransactionNumber),
    Commit(TransactionNumber),
    Complete(Completion),
    /// The mobile node does not come.
    GiveBack(Completion),
}

/// A request to complete a handover.
#[derive(Debug)]
struct Completion {
    request: TransactionNumber,
    old: LinkTupleId,
    new: LinkTupleId,
}

/// The MIH user at the PoS of a network that the mobile node may come to.
#[derive(Debug)]
pub struct CandidatePos {
    config: CandidatePosConfig,
    processing: Processing<Work>,
    /// What the old PoS is being told, by this transaction.
    completing: Option<(TransactionNumber, Completion)>,
    /// Until when the place of the mobile node is kept, which has not come.
    reserved_until: Option<Time>,
    unexpected: u64,
}

impl CandidatePos {
    /// A user that has heard nothing yet.
    pub fn new(config: CandidatePosConfig) -> CandidatePos {
        CandidatePos {
            processing: Processing::new(config.processing_time),
            config,
            completing: None,
            reserved_until: None,
            unexpected: 0,
        }
    }

    /// When a request's processing is done, or a place is kept no longer.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.processing.next().into_iter().chain(self.reserved_until).min()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        self.unexpected
    }

    /// The node's MIHF tells something of one of its sessions.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, event: &Event) {
        let ended = match event {
            Event::RequestReceived { session, number, pdu } => {
                let work = match pdu.mid {
                    MessageId::N2N_HO_QUERY_RESOURCES_REQUEST if *session == self.config.serving => {
                        Some(Work::Query(*number))
                    }
                    MessageId::N2N_HO_COMMIT_REQUEST if *session == self.config.serving => {
                        Some(Work::Commit(*number))
                    }
                    MessageId::MN_HO_COMPLETE_REQUEST if *session == self.config.mobile_node => {
                        let links = links(pdu);
                        links.map(|(old, new)| Work::Complete(Completion { request: *number, old, new }))
                    }
                    MessageId::N2N_HO_COMPLETE_REQUEST
                        if *session == self.config.serving && has_failed(pdu) =>
                    {
                        let links = links(pdu);
                        links.map(|(old, new)| Work::GiveBack(Completion { request: *number, old, new }))
                    }
                    _ => None,
                };
                match work {
                    Some(work) => self.processing.begin(cx.now, work),
                    None => self.unexpected += 1,
                }
                return;
            }
            Event::ResponseReceived { session, number, .. } => (*session, *number, Status::SUCCESS),
            Event::TransactionFailed { session, number, .. } => (*session, *number, Status::NETWORK_ERROR),
            _ => return,
        };
        let (session, number, status) = ended;
        let told = |&mut (transaction, _): &mut (TransactionNumber, Completion)| {
            (session, number) == (self.config.serving, transaction)
        };
        let Some((_, Completion { request, old, new })) = self.completing.take_if(told) else {
            self.unexpected += u64::from(status == Status::SUCCESS);
            return;
        };
        let tlvs = mn_complete_response(status, &old, &new);
        mihf.respond(cx, self.config.mobile_node, request, tlvs, self.config.message_bytes);
    }

    /// The link of the mobile node is up here: its place is taken.
    pub fn handle_arrival(&mut self) {
        self.reserved_until = None;
    }

    /// Does what is due: the processing of requests, and the end of a reservation.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, resources: &mut Resources) {
        let (serving, bytes) = (self.config.serving, self.config.message_bytes);
        let who = self.config.mobile_node_id.clone();
        if self.reserved_until.take_if(|until| *until <= cx.now).is_some() {
            resources.give_back(&who);
        }
        while let Some(work) = self.processing.done(cx.now) {
            match work {
                Work::Query(request) => {
                    let tells_places = self.config.tells_places;
                    let tlvs = query_resources_response(resources.places_for(&who), tells_places);
                    mihf.respond(cx, serving, request, tlvs, bytes);
                }
                Work::Commit(request) => {
                    let status = if resources.reserve(&who) { Status::SUCCESS } else { Status::REJECTED };
                    if resources.waits_for(&who) {
                        self.reserved_until = Some(cx.now + self.config.reservation_time);
                    }
                    let tlvs = n2n_commit_response(status, &who, &self.config.link);
                    mihf.respond(cx, serving, request, tlvs, bytes);
                }
                Work::GiveBack(Completion { request, old, new }) => {
                    self.reserved_until = None;
                    resources.give_back(&who);
                    let tlvs = n2n_complete_response(&who, &old, &new);
                    mihf.respond(cx, serving, request, tlvs, bytes);
                }
                Work::Complete(completion) => {
                    let tlvs = n2n_complete(&who, &completion.old, &completion.new, HandoverResult::SUCCESS);
                    let mid = MessageId::N2N_HO_COMPLETE_REQUEST;
                    let told = mihf.request(cx, serving, mid, tlvs, bytes);
                    self.completing = Some((told, completion));
                }
            }
        }
    }
}
