//! Connections with ARQ in a cell: what comes, what ends, and when timers are looked at.

use super::{ArqStats, Content};
use crate::drops::DropReason;
use crate::link::wimax::connection::{Connection, Pdu};
use crate::link::wimax::management::Direction;
use crate::link::wimax::pdu::PIGGYBACK_BYTES;
use crate::link::wimax::service_flow::ServiceFlow;
use crate::link::wimax::{Cell, Step};
use roamsim_engine::Time;

impl ServiceFlow {
    fn connection(&mut self, direction: Direction) -> &mut Connection {
        match direction {
            Direction::Downlink => &mut self.downlink,
            Direction::Uplink => &mut self.uplink,
        }
    }

    /// The next PDU to the station where it sends with ARQ: what the base station answers goes before what it
    /// sends.
    #[cold]
    pub fn take_downlink(
        &mut self,
        now: Time,
        room_bytes: u32,
        lost: &mut impl FnMut(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        if let Some(answer) = self.uplink.answer(now, room_bytes, &mut *lost) {
            return Some(answer);
        }
        self.downlink.take(now, room_bytes, lost)
    }

    /// The same from the station.
    #[cold]
    pub fn take_uplink(
        &mut self,
        now: Time,
        room_bytes: u32,
        lost: &mut impl FnMut(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        if let Some(answer) = self.downlink.answer(now, room_bytes, &mut *lost) {
            return Some(answer);
        }
        self.uplink.take(now, room_bytes, lost)
    }

    /// Whether the base station has nothing to send.
    pub fn downlink_is_empty(&self) -> bool {
        self.downlink.is_empty() && (!self.arq || self.uplink.answer_bytes() == 0)
    }

    /// What a burst from the station needs to have room for, as blocks are not cut; 0 without ARQ.
    pub fn least_block_bytes(&self) -> u32 {
        if self.arq { self.uplink.least_pdu_bytes() + PIGGYBACK_BYTES } else { 0 }
    }
}

impl Cell {
    /// What ARQ of a service flow did with what goes in a direction; `None`: it has none.
    pub fn arq_stats(&self, flow: u32, direction: Direction) -> Option<ArqStats> {
        let own = &self.flows[flow as usize];
        let connection = if direction == Direction::Downlink { &own.downlink } else { &own.uplink };
        connection.arq.as_ref().map(|arq| arq.stats)
    }

    /// A PDU of a direction is on its way until then.
    #[cold]
    pub(in crate::link::wimax) fn transfer(
        &mut self,
        until: Time,
        flow: u32,
        direction: Direction,
        content: Box<Content>,
    ) {
        let number = self.transfers_begun;
        self.transfers_begun += 1;
        self.transfers.insert(number, (flow, content.about(direction), content));
        self.at(until, Step::Transfer(number));
    }

    /// It has come.
    pub(in crate::link::wimax) fn transfer_ends(&mut self, now: Time, number: u64) {
        let Some((flow, about, content)) = self.transfers.remove(&number) else { return };
        // What was left of a station that is gone is forgotten.
        if self.is_served(self.flows[flow as usize].station)
            && let Some(arq) = &mut self.flows[flow as usize].connection(about).arq
        {
            arq.comes(now, &content);
            self.go_on(now, flow);
        }
    }

    /// Timers of ARQ may have expired.
    pub(in crate::link::wimax) fn arq_timer(&mut self, now: Time, flow: u32) {
        let own = &mut self.flows[flow as usize];
        if own.arq_timer != Some(now) {
            return;
        }
        own.arq_timer = None;
        for direction in Direction::ALL {
            if let Some(arq) = &mut own.connection(direction).arq {
                arq.expire(now);
            }
        }
        self.go_on(now, flow);
    }

    /// Packets may have ended, and both ends may have something to send.
    fn go_on(&mut self, now: Time, flow: u32) {
        self.end_packets(now, flow);
        self.note(flow);
        if !self.flows[flow as usize].downlink_is_empty() {
            self.want_frame(now);
        }
        if self.backlog_bytes(flow) > 0 {
            self.wants_to_send(now, flow);
        }
        self.arm_arq(flow);
    }

    /// What ARQ of a service flow has delivered or dropped ends.
    pub(in crate::link::wimax) fn end_packets(&mut self, now: Time, flow: u32) {
        let (down, up) = self.attachments_of(self.flows[flow as usize].station);
        for (direction, from, to) in [(Direction::Downlink, down, up), (Direction::Uplink, up, down)] {
            let connection = self.flows[flow as usize].connection(direction);
            let Some(arq) = &mut connection.arq else { continue };
            let (delivered, dropped) = (std::mem::take(&mut arq.delivered), std::mem::take(&mut arq.dropped));
            for packet in delivered {
                self.arrives(now, to, packet, None);
            }
            for packet in dropped {
                self.drop_packet(now, from, packet, DropReason::RetryLimit);
            }
        }
    }

    /// A step looks at the timers of ARQ when one expires, or before.
    pub(in crate::link::wimax) fn arm_arq(&mut self, flow: u32) {
        let own = &mut self.flows[flow as usize];
        let mut deadlines = Direction::ALL
            .into_iter()
            .filter_map(|direction| own.connection(direction).arq.as_ref()?.deadline())
            .collect::<Vec<_>>();
        deadlines.sort_unstable();
        let Some(&deadline) = deadlines.first() else { return };
        if own.arq_timer.is_none_or(|timer| timer > deadline) {
            own.arq_timer = Some(deadline);
            self.at(deadline, Step::Arq(flow));
        }
    }
}
