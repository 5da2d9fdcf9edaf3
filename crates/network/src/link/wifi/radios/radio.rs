//! A station or an access point as the distributed coordination function sees it: its queue, its countdown,
//! its retries.

use super::account::{CategoryTime, RadioTime};
use super::edca::Access;
use super::rate_control::Chain;
use crate::link::Attachment;
use crate::link::wifi::index::RadioIndex;
use crate::link::wifi::management::Management;
use crate::link::wifi::medium::frame::Kind;
use crate::packet::Packet;
use crate::queue::Queue;
use roamsim_engine::{Span, Stream, Time};
use std::collections::VecDeque;

/// The frame that contends for the medium, or waits for its acknowledgement.
#[derive(Debug)]
pub struct Head {
    /// The radio that it is for, or [`ALL`].
    pub to: RadioIndex,
    /// Octets of the frame.
    pub bytes: u32,
    pub rate_bps: u64,
    /// The rates of its attempts, where they are decided at the first one.
    pub(crate) chain: Option<Chain>,
    pub job: Job,
    /// Whether it has been sent before.
    pub begun: bool,
    /// Which fragment of its packet it is, from 0, and octets of the packet that follow in further ones.
    pub fragment: u8,
    pub rest_bytes: u32,
    /// For captures: its sequence number, and whether it was on the air.
    pub numbered: Option<(u16, bool)>,
    /// Failed attempts: at its short frames, at its long one (clause 9.2.5.3).
    pub short_retries: u32,
    pub long_retries: u32,
}

/// What a frame brings.
#[derive(Debug)]
pub enum Job {
    /// A packet from an attachment; `None` once the receiver has it: what is left are repetitions for want of
    /// the acknowledgement.
    Packet { from: Attachment, packet: Option<Packet> },
    /// A frame of the MAC's own, and whether the receiver has it.
    Management(Management, bool),
}

impl Head {
    /// One that has not been sent yet.
    pub fn new(to: RadioIndex, bytes: u32, rate_bps: u64, job: Job) -> Head {
        Head {
            to,
            bytes,
            rate_bps,
            chain: None,
            job,
            begun: false,
            fragment: 0,
            rest_bytes: 0,
            numbered: None,
            short_retries: 0,
            long_retries: 0,
        }
    }

    /// The attachment that its packet comes from.
    pub fn from(&self) -> Option<Attachment> {
        match self.job {
            Job::Packet { from, .. } => Some(from),
            Job::Management(..) => None,
        }
    }

    pub fn kind(&self) -> Kind {
        match self.job {
            Job::Packet { .. } => Kind::Data,
            Job::Management(..) => Kind::Management,
        }
    }

    pub fn is_beacon(&self) -> bool {
        matches!(self.job, Job::Management(Management::Beacon, _))
    }

    /// Whether it has a packet that no receiver has yet.
    pub fn holds_packet(&self) -> bool {
        matches!(self.job, Job::Packet { packet: Some(_), .. })
    }
}

/// Whom a broadcast is for.
pub const ALL: RadioIndex = RadioIndex(usize::MAX);

/// What a radio does about its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Nothing, or it contends for the medium.
    None,
    /// Its frame exchange began at this instant, and is not over.
    Since(Time),
}

/// A channel access function: what waits, and how it contends. A radio of the distributed coordination
/// function has one, one of EDCA four.
#[derive(Debug)]
pub struct Function {
    /// The access category, from the lowest on; 0 where there is no EDCA.
    pub category: usize,
    pub access: Access,
    /// What waits behind the head.
    pub queue: Queue,
    /// What is taken out of the queue and dealt with; `None`: nothing waits either, or it may not leave.
    pub head: Option<Head>,
    /// The packet that it was dealing with when it left its channel.
    pub parked: Option<Head>,
    /// Since when the head contends.
    pub contends_since: Time,
    /// Slots still to count down; `None` where no back-off is pending. A drawn zero is pending until the
    /// medium has been idle for the interframe space. [`super::countdowns`] has those of
    /// radios that count together.
    pub backoff_slots: Option<u32>,
    /// Contention window, in slots.
    pub cw: u32,
    /// What it did so far.
    pub time: CategoryTime,
}

/// The number of a function among those of its radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionIndex(usize);

/// The function at work.
pub const AT_WORK: FunctionIndex = FunctionIndex(0);

/// A radio.
#[derive(Debug)]
pub struct Radio {
    /// The function that is at work: whose frame exchange it is while there is one.
    pub own: Function,
    /// Those of EDCA that are not.
    pub others: Vec<Function>,
    /// Frames of the MAC's own, which go before packets: what, and to whom.
    pub management: VecDeque<(Management, RadioIndex)>,
    /// It is away from its channel, or associated with nobody: packets wait.
    pub blocked: bool,
    pub attempt: Attempt,
    /// Until when its transmission opportunity lasts.
    pub txop_until: Time,
    /// The countdown does not go on before: the last answer was waited for until then.
    pub not_before: Time,
    /// Its last frame on the air: begin and end.
    pub sent: (Time, Time),
    /// Whether that carried data.
    pub sent_data: bool,
    /// What it did so far.
    pub time: RadioTime,
    /// Whether it is about to answer a frame.
    pub answers: bool,
    /// From then on the data that it has allowed by a CTS has begun, or does not come.
    pub invites_until: Time,
    /// Where it is in the cell's list of those that count down or have something to send, if it is.
    pub listed_at: Option<usize>,
    pub random: Stream,
}

impl Radio {
    /// One whose channel access functions have these parameters: those of DCF, or of the categories of EDCA;
    /// and queues.
    pub fn new(accesses: &[Access], queue: impl Fn(usize) -> Queue, random: Stream) -> Option<Radio> {
        let mut functions = accesses.iter().enumerate().map(|(category, &access)| Function {
            category,
            access,
            queue: queue(category),
            head: None,
            parked: None,
            contends_since: Time::ZERO,
            backoff_slots: None,
            cw: access.cw_min,
            time: CategoryTime::default(),
        });
        Some(Radio {
            own: functions.next()?,
            others: functions.collect(),
            management: VecDeque::new(),
            blocked: false,
            attempt: Attempt::None,
            txop_until: Time::ZERO,
            not_before: Time::ZERO,
            sent: (Time::ZERO, Time::ZERO),
            sent_data: false,
            time: RadioTime::default(),
            answers: false,
            invites_until: Time::ZERO,
            listed_at: None,
            random,
        })
    }

    /// Uniform on 0 to the contention window (clause 9.2.4), for one of its functions.
    #[inline]
    pub fn draw_backoff(&mut self, place: FunctionIndex) {
        let cw = self.function(place).cw;
        let slots = self.random.below(u64::from(cw) + 1) as u32;
        self.function_mut(place).backoff_slots = Some(slots);
    }

    /// Its functions: the first is at work.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        std::iter::once(&self.own).chain(&self.others)
    }

    /// The numbers of its functions, that of the one at work first.
    pub fn places(&self) -> impl Iterator<Item = FunctionIndex> + use<> {
        (0..=self.others.len()).map(FunctionIndex)
    }

    /// The number of a category's function.
    pub fn place_of(&self, category: usize) -> FunctionIndex {
        let place = self.functions().position(|function| function.category == category);
        place.map_or(AT_WORK, FunctionIndex)
    }

    #[inline(always)]
    pub fn function(&self, place: FunctionIndex) -> &Function {
        place.0.checked_sub(1).and_then(|place| self.others.get(place)).unwrap_or(&self.own)
    }

    #[inline(always)]
    pub fn function_mut(&mut self, place: FunctionIndex) -> &mut Function {
        match place.0.checked_sub(1) {
            Some(place) if place < self.others.len() => &mut self.others[place],
            _ => &mut self.own,
        }
    }

    /// Lets another function work from now on, and puts the one that did into its place.
    pub fn put_to_work(&mut self, place: FunctionIndex) {
        if let Some(other) = place.0.checked_sub(1).and_then(|place| self.others.get_mut(place)) {
            std::mem::swap(&mut self.own, other);
        }
    }
}

impl Function {
    /// Doubles the contention window, up to the largest (clause 9.2.4).
    pub fn widen(&mut self) {
        self.cw = (2 * self.cw + 1).min(self.access.cw_max);
    }

    /// The time that its countdown takes, from where it goes on.
    pub fn countdown(&self, slot: Span) -> Span {
        slot * u64::from(self.backoff_slots.unwrap_or(0))
    }

    /// Counts down the slots that have passed since `resumed` (clause 9.2.5.2); in EDCA at the begin of each
    /// slot, so that the one that becomes busy counts too (clause 9.9.1.3). A countdown that is over and has
    /// not led to a frame is no longer pending.
    pub fn count_down(&mut self, resumed: Time, now: Time, slot: Span) {
        if resumed + self.countdown(slot) <= now {
            self.backoff_slots = None;
        }
        let begun = u64::from(self.access.is_edca && now >= resumed);
        let passed = u32::try_from(now.since(resumed).as_ns() / slot.as_ns() + begun).unwrap_or(u32::MAX);
        self.backoff_slots = self.backoff_slots.map(|slots| slots.saturating_sub(passed));
    }
}
