//! The cell as a link: packets in and out, and what is asked of it.

use super::connection::Connection;
use super::{BROADCAST, Cell};
use crate::link::indication::Indication;
use crate::link::phase::PhaseRow;
use crate::link::stations::Stations;
use crate::link::stations::account::Toward;
use crate::link::{Attachment, Carrier, DropReason, Dropped, Link, LinkStats, Sender};
use crate::packet::Packet;
use crate::queue::Queue;
use roamsim_engine::Time;
use roamsim_protocols::Context;
use roamsim_protocols::mih::wire::link::LinkType;
use std::collections::VecDeque;

impl Cell {
    /// What has arrived next, and where.
    #[inline(always)]
    pub(in crate::link) fn first_arrived(&self) -> Option<(Attachment, &Packet)> {
        self.arrived.front().map(|(at, packet)| (*at, packet))
    }

    /// What has arrived, in order.
    #[inline(always)]
    pub(in crate::link) fn arrived(&mut self) -> &mut VecDeque<(Attachment, Packet)> {
        &mut self.arrived
    }
}

impl Carrier for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        let (station, of_station) = self.station_at(from);
        let served = self.is_served(station as u32);
        let toward = if of_station { Toward::BaseStation } else { Toward::Station };
        let carried = packet.carried();
        let flow = self.flow_for(station as u32, packet.traffic_class);
        let own = &mut self.flows[flow as usize];
        let connection = if of_station { &mut own.uplink } else { &mut own.downlink };
        let taken = match packet.size_bytes > self.config.mtu_bytes {
            true => Err(DropReason::TooLarge),
            false if !served => Err(DropReason::NotAssociated),
            false => connection.enqueue(now, from, packet),
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            let dropped = Dropped { reason, at: now };
            if let Some(path) = self.path_of(from) {
                path.lost(dropped, toward, carried);
            }
            return Err(dropped);
        }
        self.drop_by_queues(now, flow);
        if of_station {
            if !self.flows[flow as usize].arq || self.backlog_bytes(flow) > 0 {
                self.wants_to_send(now, flow);
            }
        } else {
            self.note(flow);
            self.want_frame(now);
        }
        Ok(())
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.pop_front()
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn may_have_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn may_have_arrived(&self, _now: Time) -> bool {
        !self.arrived.is_empty()
    }
}

impl Link for Cell {
    fn finish(&mut self, end: Time) {
        self.leave_out_until(self.frame_of(end) + 1);
    }

    fn phases(&self) -> &[PhaseRow] {
        self.phases.rows()
    }

    fn link_type(&self) -> LinkType {
        LinkType::IEEE_802_16
    }

    fn packets_inside(&self) -> u64 {
        let held: usize = self.flows.iter().map(|own| own.downlink.packets() + own.uplink.packets()).sum();
        // A broadcast is one packet in its queue, and on its way.
        let more: usize = self.copies.values().map(|copies| copies.len() - 1).sum();
        let on_way = self.flying.len() + self.arrived.len() + self.dropped.len();
        (held + self.broadcasts.packets() + more + on_way) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let mut stats = self.stats[from.0 as usize];
        for queue in self.connections(from).map(Connection::queue) {
            stats.waiting += queue.waited(from, now);
            stats.max_waiting_packets = stats.max_waiting_packets.max(queue.max_packets(from) as u64);
            stats.marked_packets += queue.marked_packets(from);
        }
        stats
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        self.connections(from).map(|own| own.queue().waiting_packets(from)).sum()
    }

    fn forget_longest(&mut self, _now: Time) {
        self.stats.iter_mut().for_each(|stats| stats.max_waiting_packets = 0);
        self.broadcasts.forget_longest();
        for own in &mut self.flows {
            own.uplink.forget_longest();
            own.downlink.forget_longest();
        }
    }

    fn queues(&self, from: Attachment) -> Vec<&Queue> {
        self.connections(from).map(Connection::queue).collect()
    }

    fn senders(&self) -> Vec<Sender> {
        let both = |(down, up)| [(down, up), (up, down)];
        let pairs = (0..self.station_count()).map(|station| self.attachments_of(station)).flat_map(both);
        let both = pairs.map(|(from, to)| Sender { from, to: Some(to) });
        let broadcasts = self.first > 0 && self.stats[BROADCAST.0 as usize].sent_packets > 0;
        both.chain(broadcasts.then_some(Sender { from: BROADCAST, to: None })).collect()
    }

    fn is_broadcast(&self, from: Attachment) -> bool {
        self.is_for_all(from)
    }

    fn next_indication(&self) -> Option<Time> {
        self.indications.front().map(|(at, _)| *at)
    }

    fn poll_indication(&mut self, _now: Time) -> Option<Indication> {
        self.indications.pop_front().map(|(_, indication)| indication)
    }

    fn stations(&self) -> Option<&dyn Stations> {
        self.config.entry.is_some().then_some(self as &dyn Stations)
    }

    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        if self.config.entry.is_some() { Some(self) } else { None }
    }
}
