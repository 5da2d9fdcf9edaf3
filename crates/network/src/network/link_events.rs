//! Link events on their way up: from the links to those who hear them, and into the trace.

use super::Network;
use crate::alarm::Moment;
use crate::event::Event;
use crate::link::indication::{Indication, LinkEvent};
use crate::link::managed_wire::Change;
use crate::link::{AnyLink, Link, LinkStats, Receptions};
use crate::topology::{Attachment, LinkId};
use roamsim_engine::Time;
use roamsim_protocols::{Address, Machine};
use std::collections::BTreeMap;

/// By link, who sends to each attachment.
#[derive(Debug, Default)]
pub struct Senders(BTreeMap<LinkId, BTreeMap<Attachment, Attachment>>);

impl Network {
    /// Makes sure that a link is asked for its next link event in time.
    pub(crate) fn arm_indications(&mut self, moment: &mut Moment<'_>, number: u32) {
        let Some(due) = self.links[number as usize].link.next_indication() else { return };
        let due = due.max(moment.now);
        self.indications.entry(number).or_default().arm(Some(due), Event::Indication(number), moment);
    }

    /// Whether a wake-up for link events is still meant.
    pub(crate) fn indications_fire(&mut self, now: Time, number: u32) -> bool {
        self.indications.get_mut(&number).is_some_and(|alarm| alarm.fires(now))
    }

    /// What was done about a link event may have given its link something to do.
    pub(crate) fn rearm(&mut self, number: u32, moment: &mut Moment<'_>) {
        match &mut self.links[number as usize].link {
            // It is woken for what is on it.
            AnyLink::Wire(_) => {}
            link => {
                let deadline = link.poll_timeout();
                self.arm_link(moment, number, deadline);
            }
        }
    }

    /// A path changes.
    pub(crate) fn change_path(&mut self, moment: &mut Moment<'_>, LinkId(number): LinkId, change: Change) {
        self.links[number as usize].link.change(moment.now, change);
        self.rearm(number, moment);
        if matches!(change, Change::SignalDbm(_)) {
            self.arm_indications(moment, number);
        }
    }

    /// A link is switched off as a whole, both ways, or on again; whether it can be.
    pub(crate) fn switch(&mut self, moment: &mut Moment<'_>, link: LinkId, on: bool) -> bool {
        if !self.links[link.0 as usize].link.turn(moment.now, on) {
            return false;
        }
        let back = self.back_of(link);
        if back != link {
            self.links[back.0 as usize].link.turn(moment.now, on);
            self.rearm(back.0, moment);
            self.arm_indications(moment, back.0);
        }
        self.rearm(link.0, moment);
        self.arm_indications(moment, link.0);
        true
    }

    /// The link from the other end of one between two nodes: a wire is a link each way, others are one.
    fn back_of(&self, link: LinkId) -> LinkId {
        self.topology.attachment(self.address_of(link, Attachment(1))).0
    }

    /// Frames that have come in at an interface, where they can come in error.
    pub(crate) fn receptions(&self, now: Time, interface: Address) -> Option<Receptions> {
        let (link, at) = self.topology.attachment(interface);
        let back = self.back_of(link);
        let (link, at) = if back == link { (link, at) } else { (back, Attachment(1)) };
        self.links[link.0 as usize].link.receptions(at, now)
    }

    /// Statistics of what was sent by an interface, and to it over its link. `senders` keeps what was found
    /// for the next interface.
    pub fn sent_at(&self, now: Time, interface: Address, senders: &mut Senders) -> [LinkStats; 2] {
        let (number, at) = self.topology.attachment(interface);
        let (link, back) = (self.link(number), self.back_of(number));
        if back != number {
            return [link.stats(at, now), self.link(back).stats(Attachment(0), now)];
        }
        let toward = senders.0.entry(number).or_insert_with(|| {
            link.senders().into_iter().filter_map(|sender| Some((sender.to?, sender.from))).collect()
        });
        let sender = toward.get(&at).map(|&from| link.stats(from, now));
        [link.stats(at, now), sender.unwrap_or_default()]
    }

    /// The next link event of a link.
    pub(crate) fn poll_indication(&mut self, now: Time, number: u32) -> Option<Indication> {
        self.links[number as usize].link.poll_indication(now)
    }

    /// A link event at an interface is recorded.
    pub(crate) fn record_link_event(&mut self, now: Time, at: Address, event: LinkEvent) {
        if let Some(recorder) = &mut self.recorder {
            recorder.link_event(now, at, event);
        }
    }

    /// A link event has happened: it is recorded, and noted for those whom the world tells.
    pub(crate) fn indicate(&mut self, now: Time, link: LinkId, indication: Indication) {
        self.record_link_event(now, self.address_of(link, indication.at), indication.event);
        self.indicated.push_back((link, indication));
    }
}
