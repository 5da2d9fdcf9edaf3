//! One direction of the user's data: packets that arrive, the service of the DLC, and the packets on the bearers.

use super::FRAME;
use super::errors::SlotErrors;
use super::frames::FrameQueue;
use super::ip_channel::{AFields, Attempt, IpPacket, IpStats};
use super::lu1::{Lu1, Lu1Stats};
use super::lu2::{Ended, Lu2, Lu2Config, Lu2Stats};
use crate::link::LinkStats;
use crate::packet::Packet;
use roamsim_engine::{Span, Stream, Time};
use std::collections::VecDeque;

/// What carries IP packets over the bearers.
#[derive(Clone, Debug)]
pub enum Service {
    /// LU2 over the Ip channel.
    Lu2(Lu2Config),
    /// LU1 over the In channel.
    Lu1,
}

/// What becomes of an unfinished packet of the Ip channel whose bearer is released or handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedPackets {
    /// It is lost.
    Lost,
    /// The next idle bearer goes on with it.
    Kept,
}

/// The settings of the Ip channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpConfig {
    /// Attempts before a packet is discarded. 10: the paper.
    pub max_attempts: u32,
    /// Lost: chosen, because the standard's MAC begins anew on a new bearer.
    pub unfinished: UnfinishedPackets,
}

#[derive(Clone, Debug)]
enum Dlc {
    Lu2(Lu2),
    Lu1(Lu1),
}

/// Counts of one direction of the user plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionStats {
    /// Of the Ip channels; nothing over LU1.
    pub ip: IpStats,
    /// Of the DLC.
    pub dlc: DlcStats,
}

/// Counts of the DLC's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DlcStats {
    /// Of LU2.
    Lu2(Lu2Stats),
    /// Of LU1.
    Lu1(Lu1Stats),
}

/// One direction.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    /// What has come and waits for the beginning of a frame.
    arrivals: VecDeque<(Time, Packet)>,
    dlc: Dlc,
    ip_config: IpConfig,
    /// Unfinished packets that look for a bearer.
    orphans: VecDeque<IpPacket>,
    ip: IpStats,
    pub link: LinkStats,
    random: Stream,
}

impl Direction {
    pub fn new(service: &Service, ip_config: IpConfig, random: Stream) -> Direction {
        Direction {
            arrivals: VecDeque::new(),
            dlc: match service {
                Service::Lu2(config) => Dlc::Lu2(Lu2::new(*config)),
                Service::Lu1 => Dlc::Lu1(Lu1::new()),
            },
            ip_config,
            orphans: VecDeque::new(),
            ip: IpStats::default(),
            link: LinkStats::default(),
            random,
        }
    }

    /// A packet has come from the node.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: Packet) {
        self.arrivals.push_back((now, packet));
        self.link.max_waiting_packets = self.link.max_waiting_packets.max(self.waiting_packets() as u64);
    }

    /// The first frame that begins when the oldest arrival is there.
    #[inline]
    pub fn next_arrival_frame(&self) -> u64 {
        self.arrivals.front().map_or(u64::MAX, |(at, _)| at.as_ns().div_ceil(FRAME.as_ns()))
    }

    /// A frame begins at `start`: arrivals enter the DLC, and the sender learns what has become known.
    #[inline]
    pub fn begin_frame(&mut self, frame: u64, start: Time) {
        while let Some((at, packet)) = self.arrivals.pop_front_if(|(at, _)| *at <= start) {
            match &mut self.dlc {
                Dlc::Lu2(lu2) => lu2.push(at, packet),
                Dlc::Lu1(lu1) => lu1.push(at, packet),
            }
        }
        if let Dlc::Lu2(lu2) = &mut self.dlc {
            lu2.begin_frame(frame);
        }
    }

    fn queue(&self) -> &FrameQueue {
        match &self.dlc {
            Dlc::Lu2(lu2) => &lu2.queue,
            Dlc::Lu1(lu1) => &lu1.queue,
        }
    }

    /// The packet for an idle bearer in the frame that begins at `start`.
    #[inline]
    fn next_packet(&mut self, start: Time) -> Option<IpPacket> {
        if let Some(orphan) = self.orphans.pop_front() {
            return Some(orphan);
        }
        let (fragment, queue) = match &mut self.dlc {
            Dlc::Lu2(lu2) => (lu2.next_fragment()?, &mut lu2.queue),
            Dlc::Lu1(lu1) => (lu1.next_fragment()?, &mut lu1.queue),
        };
        if let Some(begun) = queue.begin(fragment) {
            self.link.sent_packets += 1;
            self.link.sent_bytes += u64::from(begun.packet.size_bytes);
            self.link.waiting += start.since(begun.queued_at);
        }
        self.ip.packets += 1;
        Some(IpPacket::new(fragment))
    }

    /// One frame of a bearer, whose packet in this direction is `on_bearer`. True when it was used.
    #[inline]
    pub fn use_bearer(
        &mut self,
        on_bearer: &mut Option<IpPacket>,
        start: Time,
        errors: &SlotErrors,
        a_fields: AFields,
        ended: impl FnMut(Ended),
    ) -> bool {
        let Some(mut packet) = on_bearer.take().or_else(|| self.next_packet(start)) else { return false };
        match &mut self.dlc {
            Dlc::Lu1(lu1) => {
                let correct = a_fields.forward && !errors.b_field_fails(&mut self.random);
                lu1.arrive(packet.fragment, correct, ended);
            }
            Dlc::Lu2(lu2) => {
                self.ip.attempts += 1;
                match packet.attempt(errors, a_fields, self.ip_config.max_attempts, &mut self.random) {
                    Attempt::Incomplete => *on_bearer = Some(packet),
                    Attempt::Received { acknowledged } => {
                        self.ip.received += 1;
                        lu2.receive(packet.fragment);
                        if !acknowledged {
                            *on_bearer = Some(packet);
                        }
                    }
                    Attempt::Acknowledged => {}
                    Attempt::Discarded => self.ip.discarded += 1,
                }
            }
        }
        true
    }

    /// The bearer of an unfinished packet is gone.
    pub fn bearer_lost(&mut self, packet: Option<IpPacket>) {
        let Some(packet) = packet.filter(|packet| !packet.is_received()) else { return };
        match self.ip_config.unfinished {
            UnfinishedPackets::Lost => self.ip.lost_with_bearer += 1,
            UnfinishedPackets::Kept => self.orphans.push_back(packet),
        }
    }

    /// The frame ends; `bearers` tells whether there is any.
    #[inline]
    pub fn end_frame(&mut self, frame: u64, bearers: bool, ended: impl FnMut(Ended)) {
        if let Dlc::Lu2(lu2) = &mut self.dlc {
            lu2.end_frame(frame, bearers, ended);
        }
    }

    /// Whether the next frame has anything to do, arrivals and packets on bearers apart.
    #[inline]
    pub fn has_work(&self, bearers: bool) -> bool {
        let to_send = match &self.dlc {
            Dlc::Lu2(lu2) if lu2.has_pending(bearers) => return true,
            Dlc::Lu2(lu2) => lu2.has_fragment(),
            Dlc::Lu1(lu1) => lu1.has_fragment(),
        };
        bearers && (to_send || !self.orphans.is_empty())
    }

    /// Packets that have not begun to be sent.
    #[inline]
    pub fn waiting_packets(&self) -> usize {
        self.queue().len_and_waiting().1 + self.arrivals.len()
    }

    /// Packets inside.
    pub fn packets_inside(&self) -> u64 {
        (self.queue().len_and_waiting().0 + self.arrivals.len()) as u64
    }

    /// How long those that wait at `now` have waited.
    pub fn waited(&self, now: Time) -> Span {
        let inside = self.queue().waiting().map(|frame| frame.queued_at);
        let times = inside.chain(self.arrivals.iter().map(|(at, _)| *at));
        times.fold(Span::ZERO, |sum, at| sum + now.since(at))
    }

    /// Fragments in the DLC's queue and on the air: those not yet received in order, and over LU1 those not sent.
    pub fn backlog_fragments(&self) -> u64 {
        match &self.dlc {
            Dlc::Lu2(lu2) => lu2.backlog_fragments(),
            Dlc::Lu1(lu1) => lu1.backlog_fragments(),
        }
    }

    /// The counts since the measurement began.
    pub fn stats(&self) -> DirectionStats {
        let dlc = match &self.dlc {
            Dlc::Lu2(lu2) => DlcStats::Lu2(lu2.stats),
            Dlc::Lu1(lu1) => DlcStats::Lu1(lu1.stats),
        };
        DirectionStats { ip: self.ip, dlc }
    }

    /// The measurement begins anew; the link's own counts go on.
    pub fn restart_measurement(&mut self) {
        self.ip = IpStats::default();
        match &mut self.dlc {
            Dlc::Lu2(lu2) => lu2.stats = Lu2Stats::default(),
            Dlc::Lu1(lu1) => lu1.stats = Lu1Stats::default(),
        }
    }
}
