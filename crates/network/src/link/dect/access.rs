//! The DECT access: the link between the mobile terminal (attachment 0) and the gateway behind the fixed part
//! (attachment 1).
//!
//! Frame F begins at F * 10 ms. In it, in this order: packets that have come by then enter the DLC, the
//! senders learn what has become known, the MAC does its work, bearers take fragments and carry them, the DLC
//! reassembles and moves its timers. What is complete in frame F reaches the node at its end, (F + 1) * 10
//! ms, so that an answer can leave in frame F + 1. A frame is therefore worked out at its end, in one
//! wake-up; frames in which nothing can happen are left out.
//!
//! Link events: the terminal's link is up while it has a bearer. Switched off, it has none.
//!
//! Not modelled: the delay of slots within a frame (a packet leaves and arrives at the bounds of frames),
//! traffic of the background terminals (they hold channels, that is all), the C plane.

use super::FRAME;
use super::bearers::Bearers;
use super::direction::{Direction, DirectionStats, IpConfig, Service};
use super::errors::{A_FIELD_BITS, ErrorConfig, ErrorProcess};
use super::ip_channel::AFields;
use super::mac::{BearerId, Mac, MacConfig, MacStats, Occupancy, Quality, UserEvent};
use crate::drops::{DropReason, Dropped};
use crate::link::indication::{Indication, LinkDownReason, LinkEvent};
use crate::link::{Attachment, Carrier, Link, LinkStats, Receptions, Sender};
use crate::packet::Packet;
use crate::queue::{Queue, QueueLimit, Rule};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

/// What describes an access.
#[derive(Clone, Debug)]
pub struct AccessConfig {
    /// The MAC.
    pub mac: MacConfig,
    /// Bit errors.
    pub errors: ErrorConfig,
    /// The Ip channels.
    pub ip: IpConfig,
    /// The DLC.
    pub service: Service,
    /// What waits for the DLC in each direction, and the most that does; `None`: whatever comes, first come,
    /// first served.
    pub queue: Option<(Rule, QueueLimit)>,
    /// The largest IP packet.
    pub mtu_bytes: u32,
    /// Statistics of the access begin with this frame.
    pub warm_up_frames: u64,
}

/// The A fields of each direction in the present frame, an entry a bearer.
struct AFieldErrors {
    process: ErrorProcess,
    present: [Vec<AFields>; 2],
}

impl AFieldErrors {
    /// Draws those of a frame.
    fn draw(&mut self, frame: u64, bearers: &Bearers) {
        self.process.advance(frame);
        self.present.iter_mut().for_each(Vec::clear);
        for place in 0..bearers.count() {
            let [up, down] = [(); 2].map(|()| self.process.failed(bearers.quality(place), 1) == 0);
            self.present[0].push(AFields { forward: up, reverse: down });
            self.present[1].push(AFields { forward: down, reverse: up });
        }
    }
}

/// What an access records when asked to: values from a frame on.
#[derive(Clone, Debug, Default)]
pub struct AccessLog {
    /// Bearers that can carry data.
    pub bearers: Option<Vec<(u64, u64)>>,
    /// Fragments in the DLC of each direction, at the end of the frame.
    pub dlc_queue: Option<[Vec<(u64, u64)>; 2]>,
}

/// What was counted from the warm-up to the end of the run.
#[derive(Clone, Debug)]
pub struct AccessStats {
    /// Of the MAC.
    pub mac: MacStats,
    /// Of the directions from the terminal and from the gateway.
    pub directions: [DirectionStats; 2],
    /// Which channel was in use by whom, when that was asked for.
    pub occupancy: Vec<Occupancy>,
}

/// The access.
pub struct Access {
    mac: Mac,
    mtu_bytes: u32,
    warm_up_frames: u64,
    /// In order of their age, and how they are.
    ids: Vec<BearerId>,
    bearers: Bearers,
    directions: [Direction; 2],
    /// None when all A fields arrive.
    a_field_errors: Option<AFieldErrors>,
    /// The first frame that has not been worked out or left out.
    frame: u64,
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// Link events of the terminal.
    indications: VecDeque<LinkEvent>,
    /// The terminal's radio is switched off.
    off: bool,
    log: AccessLog,
    stats: Option<AccessStats>,
}

/// When a frame begins.
fn start_of(frame: u64) -> Time {
    Time::ZERO + FRAME * frame
}

impl Access {
    /// An access before its first frame; `stream(purpose)` gives the random streams.
    pub fn new(config: AccessConfig, stream: impl Fn(&str) -> Stream) -> Access {
        let direction = |end: &str| {
            let queue =
                config.queue.map(|(rule, limit)| rule.discipline(limit, stream(&format!("queue of {end}"))));
            let draws = stream(&format!("errors from {end}"));
            Direction::new(&config.service, queue, config.ip, &config.errors, draws)
        };
        let a_fields = || ErrorProcess::new(&config.errors, A_FIELD_BITS, stream("errors of A fields"));
        let mut access = Access {
            directions: [direction("terminal"), direction("gateway")],
            mac: Mac::new(config.mac, |purpose| stream(&format!("mac/{purpose}"))),
            a_field_errors: config
                .errors
                .a_field_errors
                .then(|| AFieldErrors { process: a_fields(), present: Default::default() }),
            mtu_bytes: config.mtu_bytes,
            warm_up_frames: config.warm_up_frames,
            ids: Vec::new(),
            bearers: Bearers::default(),
            frame: 0,
            dropped: VecDeque::new(),
            indications: VecDeque::new(),
            off: false,
            log: AccessLog::default(),
            stats: None,
        };
        access.take_user_events(0);
        access
    }

    /// Records the number of bearers, the DLC's queues, which channel is in use by whom.
    pub fn record(&mut self, bearers: bool, dlc_queue: bool, occupancy: bool) {
        self.log.bearers = bearers.then(|| vec![(0, self.bearers.count() as u64)]);
        self.log.dlc_queue = dlc_queue.then(Default::default);
        if occupancy {
            self.mac.keep_occupancy();
        }
    }

    /// What was recorded.
    pub fn log(&self) -> &AccessLog {
        &self.log
    }

    /// What was counted, after the end of the run.
    pub fn access_stats(&self) -> Option<&AccessStats> {
        self.stats.as_ref()
    }

    /// The first frame at or after `self.frame` with something to do.
    #[inline]
    fn next_frame(&self) -> u64 {
        let [up, down] = &self.directions;
        if up.is_busy() || down.is_busy() {
            return self.frame;
        }
        let arrival = up.next_arrival_frame().min(down.next_arrival_frame());
        self.mac.next_frame().min(arrival).max(self.frame)
    }

    /// What has arrived next, and where.
    #[inline]
    pub(in crate::link) fn first_arrived(&self) -> Option<(Attachment, &Packet)> {
        let [up, down] = &self.directions;
        match up.first_arrived() {
            Some(packet) => Some((Attachment(1), packet)),
            None => down.first_arrived().map(|packet| (Attachment(0), packet)),
        }
    }

    /// Takes it out of its place, where it has been looked at.
    #[inline(always)]
    pub(in crate::link) fn clear_arrived(&mut self) {
        let [up, down] = &mut self.directions;
        if up.has_arrived() {
            up.clear_first();
        } else if down.has_arrived() {
            down.clear_first();
        }
    }

    /// Takes it.
    #[inline]
    pub(in crate::link) fn take_arrived(&mut self) -> Option<(Attachment, Packet)> {
        let [up, down] = &mut self.directions;
        match up.take() {
            Some(packet) => Some((Attachment(1), packet)),
            None => down.take().map(|packet| (Attachment(0), packet)),
        }
    }

    /// Works out a frame.
    fn run_frame(&mut self, frame: u64) {
        if self.warm_up_frames > 0 && frame >= self.warm_up_frames {
            self.restart_measurement();
        }
        let has_work = |direction: &Direction| direction.is_busy() || direction.next_arrival_frame() <= frame;
        let mut work = [has_work(&self.directions[0]), has_work(&self.directions[1])];
        self.directions.iter_mut().for_each(|direction| direction.advance(frame));
        if self.mac.next_frame() <= frame {
            self.mac.run_frame(frame);
            // With other bearers either direction may be able to go on.
            if self.take_user_events(frame) {
                work = [true; 2];
            }
        }
        self.frame = frame + 1;
        if work != [false; 2] {
            self.run_user_plane(frame, work);
        }
    }

    /// The part of a frame after the MAC's: one frame of every bearer, in the directions with work.
    #[inline]
    fn run_user_plane(&mut self, frame: u64, work: [bool; 2]) {
        let start = start_of(frame);
        if let Some(a_field_errors) = &mut self.a_field_errors {
            a_field_errors.draw(frame, &self.bearers);
        }
        let bearers = self.bearers.count().max(1) as u64;
        let mut lost = false;
        for (from, direction) in self.directions.iter_mut().enumerate() {
            if !work[from] {
                continue;
            }
            let a_fields = self.a_field_errors.as_ref().map_or(&[][..], |errors| &errors.present[from]);
            let used = direction.run_frame(frame, start, &self.bearers, a_fields);
            if used > 0 {
                direction.link.busy += Span::from_ns(FRAME.as_ns() * used / bearers);
            }
            lost |= !direction.lost.is_empty();
        }
        if lost {
            self.take_lost(start);
        }
        if let Some(log) = &mut self.log.dlc_queue {
            for (log, direction) in log.iter_mut().zip(&self.directions) {
                let fragments = direction.backlog_fragments();
                if log.last().is_none_or(|&(_, last)| last != fragments) {
                    log.push((frame + 1, fragments));
                }
            }
        }
    }

    /// Packets were dropped in the frame that begins at `start`: of both directions first those of the same
    /// stage.
    #[cold]
    fn take_lost(&mut self, start: Time) {
        let at = start + FRAME;
        let mut lost = Vec::new();
        for (direction, from) in self.directions.iter_mut().zip(0..) {
            lost.extend(direction.lost.drain(..).map(|(stage, lost)| (stage, Attachment(from), lost)));
        }
        lost.sort_by_key(|&(stage, ..)| stage);
        let gone = lost.into_iter();
        self.dropped.extend(gone.map(|(_, from, (packet, reason))| (from, packet, Dropped { reason, at })));
    }

    /// Learns which bearers came, went and changed: whether any did.
    fn take_user_events(&mut self, frame: u64) -> bool {
        let before = self.bearers.count();
        let mut next = self.mac.poll_user_event();
        if next.is_none() {
            return false;
        }
        while let Some(event) = next {
            match event {
                UserEvent::Established(id) => {
                    let quality = self.mac.user_bearers().iter().find(|bearer| bearer.id == id);
                    let quality = quality.map_or(Quality::Good, |bearer| bearer.quality);
                    self.ids.push(id);
                    self.bearers.add(quality);
                }
                UserEvent::Released(id) => {
                    if let Some(place) = self.place(id) {
                        self.ids.remove(place);
                        self.bearers.remove(place);
                        self.directions.iter_mut().for_each(|direction| direction.bearer_lost(place));
                    }
                }
                UserEvent::QualityChanged(id, quality) => {
                    if let Some(place) = self.place(id) {
                        self.bearers.change(place, quality);
                    }
                }
            }
            next = self.mac.poll_user_event();
        }
        if let Some(log) = &mut self.log.bearers
            && self.bearers.count() != before
        {
            log.push((frame, self.bearers.count() as u64));
        }
        // With its first bearer the terminal can send, with its last one it cannot any more.
        match (before, self.bearers.count()) {
            (0, 1..) => self.indications.push_back(LinkEvent::Up),
            (1.., 0) => self.indications.push_back(LinkEvent::Down(match self.off {
                true => LinkDownReason::EXPLICIT_DISCONNECT,
                false => LinkDownReason::NO_RESOURCE,
            })),
            _ => {}
        }
        true
    }

    /// The place of a bearer.
    #[inline]
    fn place(&self, id: BearerId) -> Option<usize> {
        self.ids.iter().position(|&other| other == id)
    }

    /// The warm-up is over.
    #[cold]
    fn restart_measurement(&mut self) {
        self.mac.restart_measurement(self.warm_up_frames);
        self.directions.iter_mut().for_each(Direction::restart_measurement);
        self.warm_up_frames = 0;
    }
}

impl Machine for Access {
    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        let frame = self.next_frame();
        (frame < u64::MAX).then(|| start_of(frame + 1))
    }

    #[inline]
    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        // No frame ends before the next that may be worked out.
        while start_of(self.frame + 1) <= cx.now {
            let frame = self.next_frame();
            if frame == u64::MAX || start_of(frame + 1) > cx.now {
                return;
            }
            self.run_frame(frame);
        }
    }
}

impl Carrier for Access {
    #[inline(never)]
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let direction = &mut self.directions[from.0 as usize];
        if packet.size_bytes > self.mtu_bytes {
            direction.link.dropped_packets += 1;
            return Err(Dropped { reason: DropReason::TooLarge, at: cx.now });
        }
        direction.arrive(cx.now, packet);
        Ok(())
    }

    #[inline]
    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.take_arrived()
    }

    #[inline]
    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        let dropped = self.dropped.pop_front()?;
        self.directions[dropped.0.0 as usize].link.dropped_packets += 1;
        Some(dropped)
    }

    fn may_have_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn may_have_arrived(&self, _now: Time) -> bool {
        self.directions.iter().any(Direction::has_arrived)
    }
}

impl Link for Access {
    fn turn(&mut self, now: Time, on: bool) -> bool {
        let frame = (now.as_ns() / FRAME.as_ns()).max(self.frame);
        let can = self.mac.switch(frame, on);
        self.off = can && !on;
        can
    }

    fn next_indication(&self) -> Option<Time> {
        (!self.indications.is_empty()).then_some(Time::ZERO)
    }

    fn poll_indication(&mut self, _now: Time) -> Option<Indication> {
        self.indications.pop_front().map(|event| Indication { at: Attachment(0), event })
    }

    fn link_type(&self) -> LinkType {
        LinkType::WIRELESS_OTHER
    }

    fn packets_inside(&self) -> u64 {
        self.directions.iter().map(Direction::packets_inside).sum()
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        self.directions[from.0 as usize].link_stats(now)
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        self.directions[from.0 as usize].waiting_packets()
    }

    fn forget_longest(&mut self, _now: Time) {
        self.directions.iter_mut().for_each(Direction::forget_longest);
    }

    fn queues(&self, from: Attachment) -> Vec<&Queue> {
        self.directions[from.0 as usize].queue().into_iter().collect()
    }

    fn receptions(&self, Attachment(at): Attachment, _now: Time) -> Option<Receptions> {
        self.directions.get(1 - usize::from(at > 0)).map(Direction::receptions)
    }

    fn senders(&self) -> Vec<Sender> {
        Sender::both()
    }

    /// Works out the MAC to the end and closes the accounts.
    fn finish(&mut self, end: Time) {
        let end_frame = end.as_ns() / FRAME.as_ns();
        if self.warm_up_frames > 0 && self.warm_up_frames <= end_frame {
            self.restart_measurement();
        }
        self.stats = Some(AccessStats {
            mac: self.mac.stats(end_frame.max(self.frame)),
            directions: self.directions.each_ref().map(Direction::stats),
            occupancy: self.mac.occupancy(end_frame.max(self.frame)),
        });
    }
}
