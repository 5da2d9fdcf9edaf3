//! Service management in a session: requests that are not answered, the peer's registration and
//! subscriptions.

use roamsim_engine::Time;

use super::event::Capabilities;
use super::number::TransactionNumber;
use super::thresholds::Thresholds;
use super::wire::link::{CommandList, EventList, LinkId, LinkTupleId, TransportList};
use super::wire::{MessageId, Tlvs};

/// What an MIHF can do: every event and command of the catalogue, over UDP and TCP.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    events: EventList(0xff00_0000),
    commands: CommandList(0xf800_0000),
    transports: TransportList(0xc000),
};

/// A request of this MIHF's that is not answered yet.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) mid: MessageId,
    pub(super) tlvs: Tlvs,
    /// The numbers of its attempts.
    pub(super) attempts: Vec<TransactionNumber>,
    pub(super) retry_at: Time,
}

/// What the peer subscribed to.
#[derive(Debug)]
pub(super) struct Subscription {
    /// The link whose events are meant.
    pub(super) link: LinkTupleId,
    pub(super) events: EventList,
}

/// Service management in one session.
#[derive(Debug, Default)]
pub(super) struct Management {
    pub(super) asking: Vec<Asking>,
    /// The links of this MIHF's registration, and when it is made again.
    pub(super) own_links: Vec<LinkId>,
    pub(super) renew_at: Option<Time>,
    /// When the armed deadline is.
    pub(super) timer: Option<Time>,
    /// Whether the peer is registered here.
    pub(super) peer_registered: bool,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) thresholds: Thresholds,
}

impl Management {
    pub(super) fn timer(&self) -> Option<Time> {
        self.timer
    }

    /// Grants the events that this MIHF indicates; adds them to what the link's subscription holds.
    pub(super) fn subscribe(&mut self, link: &LinkTupleId, events: EventList) -> EventList {
        let granted = events.intersection(CAPABILITIES.events);
        if granted == EventList::NONE {
            return granted;
        }
        match self.subscriptions.iter_mut().find(|subscription| subscription.link == *link) {
            Some(subscription) => subscription.events = subscription.events.union(granted),
            None => self.subscriptions.push(Subscription { link: link.clone(), events: granted }),
        }
        granted
    }

    /// Whether the peer has subscribed to an event of a link, through whichever point of attachment.
    pub(super) fn is_subscribed(&self, link: &LinkTupleId, event: EventList) -> bool {
        self.subscriptions.iter().any(|subscription| {
            let there = &subscription.link.point_of_attachment;
            subscription.link.link == link.link
                && (there.is_none() || *there == link.point_of_attachment)
                && subscription.events.contains(event)
        })
    }

    /// Ends the subscription of those of the events that it holds.
    pub(super) fn unsubscribe(&mut self, link: &LinkTupleId, events: EventList) -> EventList {
        let Some(subscription) =
            self.subscriptions.iter_mut().find(|subscription| subscription.link == *link)
        else {
            return EventList::NONE;
        };
        let ended = subscription.events.intersection(events);
        subscription.events = subscription.events.difference(ended);
        self.subscriptions.retain(|subscription| subscription.events != EventList::NONE);
        ended
    }
}
