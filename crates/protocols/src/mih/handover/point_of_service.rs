//! The MIH users at a point of service (PoS) whose network a mobile node may both leave and come to: the one
//! that serves it ([`ServingPos`]), and for each other network the one that expects it from there
//! ([`CandidatePos`]). Messages go to the user that they are for.
//!
//! Not modelled: networks without room. Every request for resources and for a place is granted.

use super::messages::links;
use super::policy::Policy;
use super::{
    Candidate, CandidatePos, CandidatePosConfig, Initiation, Resources, ServingPos, ServingPosConfig,
};
use crate::Context;
use crate::mih::event::Event;
use crate::mih::mihf::{Mihf, SessionId};
use crate::mih::wire::link::LinkTupleId;
use crate::mih::wire::{MessageId, MihfId};
use roamsim_engine::{Span, Time};

/// A PoS's settings, for one mobile node.
#[derive(Clone, Debug)]
pub struct PointOfServiceConfig {
    /// The session with the mobile node.
    pub mobile_node: SessionId,
    /// The mobile node's name.
    pub mobile_node_id: MihfId,
    /// The mobile node's link here.
    pub link: LinkTupleId,
    /// Its other networks, with the sessions with their PoS.
    pub others: Vec<Candidate>,
    /// From a request's arrival to what is done about it.
    pub processing_time: Span,
    /// Octets of a whole message; `None`: as long as it is.
    pub message_bytes: Option<u32>,
}

/// The MIH users at a PoS.
#[derive(Debug)]
pub struct PointOfService {
    serving: ServingPos,
    /// The other networks, and who expects the mobile node from there.
    expecting: Vec<(Candidate, CandidatePos)>,
    resources: Resources,
}

impl PointOfService {
    /// Users that have heard nothing yet.
    pub fn new(config: &PointOfServiceConfig) -> PointOfService {
        let PointOfServiceConfig {
            mobile_node,
            mobile_node_id,
            link,
            others,
            processing_time,
            message_bytes,
        } = config;
        let expecting = |other: &Candidate| {
            let user = CandidatePos::new(CandidatePosConfig {
                serving: other.session,
                mobile_node: *mobile_node,
                mobile_node_id: mobile_node_id.clone(),
                link: link.clone(),
                tells_places: false,
                processing_time: *processing_time,
                // Who has room for all keeps no place for anybody.
                reservation_time: Span::ZERO,
                message_bytes: *message_bytes,
            });
            (other.clone(), user)
        };
        PointOfService {
            serving: ServingPos::new(ServingPosConfig {
                initiation: Initiation::Mobile,
                policy: Policy::PLAIN,
                mobile_node: *mobile_node,
                mobile_node_id: mobile_node_id.clone(),
                serving_link: link.clone(),
                candidates: others.clone(),
                processing_time: *processing_time,
                message_bytes: *message_bytes,
            }),
            expecting: others.iter().map(expecting).collect(),
            resources: Resources::default(),
        }
    }

    /// When a request's processing is done.
    pub fn poll_timeout(&self) -> Option<Time> {
        let expecting = self.expecting.iter().filter_map(|(_, user)| user.poll_timeout());
        expecting.chain(self.serving.poll_timeout()).min()
    }

    /// How many messages did not fit to what was going on.
    pub fn unexpected(&self) -> u64 {
        let expecting = self.expecting.iter().map(|(_, user)| user.unexpected());
        expecting.sum::<u64>() + self.serving.unexpected()
    }

    /// The node's MIHF tells something of one of its sessions.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf, event: &Event) {
        let session = event.session();
        let of_session = |other: &Candidate| other.session == session;
        let expects: Option<&dyn Fn(&Candidate) -> bool> = match event {
            Event::RequestReceived { pdu, .. } => match pdu.mid {
                MessageId::N2N_HO_QUERY_RESOURCES_REQUEST | MessageId::N2N_HO_COMMIT_REQUEST => {
                    Some(&of_session)
                }
                // It names the network that the mobile node has left.
                MessageId::MN_HO_COMPLETE_REQUEST => {
                    let old = links(pdu).map(|(old, _)| old);
                    let left = |other: &Candidate| old.as_ref() == Some(&other.link);
                    if let Some((_, user)) = self.expecting.iter_mut().find(|(other, _)| left(other)) {
                        user.handle_event(cx, mihf, event);
                    }
                    return;
                }
                _ => None,
            },
            Event::ResponseReceived { pdu, .. } if pdu.mid == MessageId::N2N_HO_COMPLETE_RESPONSE => {
                Some(&of_session)
            }
            // Each user knows its own transactions.
            Event::TransactionFailed { .. } => {
                self.serving.handle_event(cx, mihf, event);
                Some(&of_session)
            }
            _ => None,
        };
        match expects {
            Some(is_meant) => {
                if let Some((_, user)) = self.expecting.iter_mut().find(|(other, _)| is_meant(other)) {
                    user.handle_event(cx, mihf, event);
                }
            }
            None => self.serving.handle_event(cx, mihf, event),
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>, mihf: &mut Mihf) {
        self.serving.handle_timeout(cx, mihf);
        for (_, user) in &mut self.expecting {
            user.handle_timeout(cx, mihf, &mut self.resources);
        }
        // Who it is that decides keeps the account of it.
        while self.serving.poll_milestone().is_some() {}
    }
}
