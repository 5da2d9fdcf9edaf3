//! Queues: what waits before a transmitter.
//!
//! A queue is a part of its own, and its [`Discipline`] decides who is let in, who is next, and who is
//! dropped: at the tail when a packet comes, or later from anywhere in the queue. Every packet goes through
//! it: whoever transmits asks for the next one when it is free, at once where it is idle; a packet in service
//! does not wait any more. A discipline sees the time and the packet, with its traffic class; it has no clock
//! and no wake-up of its own. It may mark a packet instead of dropping it, where the transport knows of ECN
//! (RFC 3168).
//!
//! [`Queue`] keeps the accounts, the same for every discipline, of each attachment that shares the
//! transmitter. [`transmitter`] is drop-tail by arithmetic, for transmitters that serve in order at a fixed
//! rate: no packet costs it an event, and none is moved.

pub mod classes;
pub mod codel;
pub mod drop_tail;
pub mod drr;
pub mod dual_pi2;
mod fifo;
pub mod fq_codel;
pub mod pie;
pub mod priority;
pub mod red;
pub mod transmitter;

use self::drop_tail::DropTail;
use crate::drops::DropReason;
use crate::durations::Durations;
use crate::ends::SocketId;
use crate::packet::Packet;
use crate::topology::Attachment;
use crate::traffic_class::Ecn;
use roamsim_engine::{Span, Stream, Time};
use std::collections::BTreeMap;
use std::fmt;

/// The limit of a queue: those waiting, not the one in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// At most so many packets.
    Packets(u32),
    /// At most so many octets.
    Bytes(u64),
}

impl QueueLimit {
    /// Whether a packet of `bytes` fits behind those that wait.
    #[inline]
    pub(crate) fn admits(self, waiting_packets: usize, waiting_bytes: u64, bytes: u32) -> bool {
        match self {
            QueueLimit::Packets(limit) => waiting_packets < limit as usize,
            QueueLimit::Bytes(limit) => waiting_bytes + u64::from(bytes) <= limit,
        }
    }
}

/// A discipline, and what it goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// First come, first served.
    DropTail,
    /// CoDel.
    Codel(codel::Settings),
    /// FQ-CoDel.
    FqCodel(fq_codel::Settings),
    /// Deficit round robin by class.
    Drr(drr::Settings),
    /// DualPI2.
    DualPi2(dual_pi2::Settings),
    /// PIE.
    Pie(pie::Settings),
    /// Strict priority by class.
    Priority(classes::Classes),
    /// RED.
    Red(red::Settings),
}

impl Rule {
    /// Empty queues under it, with a stream of random numbers of their own.
    pub fn discipline(self, limit: QueueLimit, random: Stream) -> AnyDiscipline {
        AnyDiscipline::Managing(match self {
            Rule::DropTail => return DropTail::new(Some(limit)).into(),
            Rule::Codel(settings) => Box::new(codel::Codel::new(limit, settings)),
            Rule::FqCodel(settings) => Box::new(fq_codel::FqCodel::new(limit, settings, random)),
            Rule::Drr(settings) => Box::new(drr::Drr::new(limit, settings)),
            Rule::DualPi2(settings) => Box::new(dual_pi2::DualPi2::new(limit, settings, random)),
            Rule::Priority(classes) => Box::new(priority::Priority::new(limit, classes)),
            Rule::Pie(settings) => Box::new(pie::Pie::new(limit, settings, random)),
            Rule::Red(settings) => Box::new(red::Red::new(limit, settings, random)),
        })
    }
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Packets.
    pub packets: usize,
    /// Their octets.
    pub bytes: u64,
}

/// A packet that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// When it came.
    pub since: Time,
    /// From where, of the attachments that share the transmitter.
    pub from: Attachment,
    /// It.
    pub packet: Packet,
    /// Whether this queue has marked it.
    pub marked: bool,
}

impl Waiting {
    /// Marks the packet instead of dropping it (RFC 3168 section 5); false where its transport does not know
    /// of ECN.
    fn mark(&mut self) -> bool {
        let class = self.packet.traffic_class;
        if class.ecn() == Ecn::NotCapable {
            return false;
        }
        self.packet.traffic_class = class.with_ecn(Ecn::CongestionExperienced);
        self.marked = true;
        true
    }
}

/// The rule by which packets wait.
pub trait Discipline: fmt::Debug + Send {
    /// Takes a packet, or gives it back and says why. When the transmitter is idle nothing waits, and this
    /// packet will not either: it is taken out at once.
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)>;

    /// The next packet to be sent. Whom it drops on the way is taken with `poll_drop`.
    fn dequeue(&mut self, now: Time) -> Option<Waiting>;

    /// The next packet that was dropped after it had been taken, and why. Only disciplines that do that have
    /// any.
    fn poll_drop(&mut self) -> Option<(Waiting, DropReason)> {
        None
    }

    /// Takes out all that waits from an attachment: whom it would go to, or who would send it, is there no
    /// more.
    fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Waiting>;

    /// How much waits.
    fn length(&self) -> Length;
}

/// Any discipline, dispatched by its kind: drop-tail, which nearly every queue has, stands in line.
#[derive(Debug)]
pub enum AnyDiscipline {
    /// First come, first served.
    DropTail(DropTail),
    /// One that manages the queue, and does not just keep it: only that may drop what it has taken, and only
    /// then it is worth knowing how long whose packets wait.
    Managing(Box<dyn Discipline>),
}

macro_rules! each_discipline {
    ($self:expr, $discipline:ident => $call:expr) => {
        match $self {
            AnyDiscipline::DropTail($discipline) => $call,
            AnyDiscipline::Managing($discipline) => $call,
        }
    };
}

impl AnyDiscipline {
    /// Whether it manages the queue.
    pub(crate) fn manages(&self) -> bool {
        matches!(self, AnyDiscipline::Managing(_))
    }
}

impl From<DropTail> for AnyDiscipline {
    fn from(drop_tail: DropTail) -> AnyDiscipline {
        AnyDiscipline::DropTail(drop_tail)
    }
}

/// What waits of one attachment, and what has waited.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    packets: usize,
    max_packets: usize,
    /// Those that were marked and have left.
    marked_packets: u64,
    /// Sum of the waiting times of those that have left.
    waited: Span,
    /// Sum of the instants, in nanoseconds, since which those that wait do so.
    since_ns: u128,
}

/// How long packets have waited that were sent, by attachment and by the socket that they are for, if they
/// are for one.
type Waits = BTreeMap<(Attachment, Option<SocketId>), Durations>;

/// A queue before a transmitter: a discipline, and an account of each attachment that shares it.
#[derive(Debug)]
#[repr(C)] // what each packet needs comes first
pub struct Queue {
    discipline: AnyDiscipline,
    /// The first attachment: most queues are of one alone.
    first: u32,
    /// Its account.
    account: Account,
    /// Where the discipline manages it.
    waits: Option<Box<Waits>>,
    /// The other attachments, in ascending order, and their accounts.
    others: Vec<(u32, Account)>,
}

impl Queue {
    /// An empty queue of these attachments, which are in ascending order.
    pub fn new(discipline: impl Into<AnyDiscipline>, of: impl IntoIterator<Item = u32>) -> Queue {
        let discipline = discipline.into();
        let mut of = of.into_iter();
        let first = of.next().unwrap_or_default();
        let others = of.map(|at| (at, Account::default())).collect();
        let waits = discipline.manages().then(Box::default);
        Queue { discipline, first, account: Account::default(), waits, others }
    }

    /// The place of an attachment's account among the others. Most queues are of attachments that follow each
    /// other.
    #[inline]
    fn place(&self, from: u32) -> usize {
        let next = from.wrapping_sub(self.first).wrapping_sub(1) as usize;
        match self.others.get(next) {
            Some(&(at, _)) if at == from => next,
            _ => self.others.partition_point(|&(at, _)| at < from),
        }
    }

    #[inline]
    fn account(&self, Attachment(from): Attachment) -> &Account {
        if from == self.first { &self.account } else { &self.others[self.place(from)].1 }
    }

    #[inline]
    fn account_mut(&mut self, Attachment(from): Attachment) -> &mut Account {
        if from == self.first {
            return &mut self.account;
        }
        let place = self.place(from);
        &mut self.others[place].1
    }

    /// Takes a packet that has come at `now`, or gives it back and says why. Who transmits says whether it is
    /// idle, and then takes the packet out at once.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Time,
        from: Attachment,
        packet: Packet,
        idle: bool,
    ) -> Result<(), (Packet, DropReason)> {
        let waiting = Waiting { since: now, from, packet, marked: false };
        each_discipline!(&mut self.discipline, discipline => discipline.enqueue(waiting, idle))?;
        let account = self.account_mut(from);
        account.since_ns += u128::from(now.as_ns());
        account.packets += 1;
        if !idle {
            account.max_packets = account.max_packets.max(account.packets);
        }
        Ok(())
    }

    /// The next packet to be sent; at `now` it waits no longer. What the discipline drops is taken with
    /// [`Queue::poll_drop`].
    #[inline]
    pub fn dequeue(&mut self, now: Time) -> Option<Waiting> {
        let waiting = each_discipline!(&mut self.discipline, discipline => discipline.dequeue(now))?;
        self.left(now, &waiting);
        if let Some(waits) = &mut self.waits {
            let of = waits.entry((waiting.from, waiting.packet.socket_id())).or_default();
            of.add(now - waiting.since);
        }
        Some(waiting)
    }

    /// Whether [`Queue::poll_drop`] may have something: a discipline that does not manage the queue drops
    /// nothing of it.
    #[inline]
    pub(crate) fn may_have_dropped(&self) -> bool {
        self.waits.is_some()
    }

    /// The next packet that was dropped by `now` after it had been taken, and why.
    #[inline]
    pub fn poll_drop(&mut self, now: Time) -> Option<(Waiting, DropReason)> {
        if !self.may_have_dropped() {
            return None;
        }
        let (waiting, reason) = each_discipline!(&mut self.discipline, discipline => discipline.poll_drop())?;
        self.left(now, &waiting);
        Some((waiting, reason))
    }

    /// Takes out all that waits from an attachment.
    pub fn withdraw(&mut self, now: Time, from: Attachment) -> Vec<Packet> {
        let gone = each_discipline!(&mut self.discipline, discipline => discipline.withdraw(now, from));
        gone.iter().for_each(|waiting| self.left(now, waiting));
        gone.into_iter().map(|waiting| waiting.packet).collect()
    }

    #[inline]
    fn left(&mut self, now: Time, waiting: &Waiting) {
        let account = self.account_mut(waiting.from);
        account.packets -= 1;
        account.marked_packets += u64::from(waiting.marked);
        account.waited += now - waiting.since;
        account.since_ns -= u128::from(waiting.since.as_ns());
    }

    /// How much waits.
    #[inline]
    pub fn length(&self) -> Length {
        each_discipline!(&self.discipline, discipline => discipline.length())
    }

    /// How long packets of an attachment have waited that were sent, by the socket that they are for; nothing
    /// under drop-tail.
    pub fn delays(&self, from: Attachment) -> impl Iterator<Item = (Option<SocketId>, &Durations)> {
        let all = self.waits.iter().flat_map(move |waits| waits.range((from, None)..));
        all.take_while(move |((of, _), _)| *of == from).map(|(&(_, socket), delays)| (socket, delays))
    }

    /// How many packets of an attachment wait.
    pub fn waiting_packets(&self, from: Attachment) -> usize {
        self.account(from).packets
    }

    /// The most that ever waited, and how long packets waited, are kept anew from now on.
    pub fn forget_longest(&mut self) {
        let others = self.others.iter_mut().map(|(_, account)| account);
        others.chain([&mut self.account]).for_each(|account| account.max_packets = account.packets);
        self.waits.iter_mut().for_each(|waits| waits.clear());
    }

    /// The most packets of an attachment that ever waited.
    pub fn max_packets(&self, from: Attachment) -> usize {
        self.account(from).max_packets
    }

    /// How many packets of an attachment have left with a mark of this queue.
    pub fn marked_packets(&self, from: Attachment) -> u64 {
        self.account(from).marked_packets
    }

    /// Sum of all waiting times of an attachment's packets up to `now`: of those that have left, and of those
    /// that wait.
    pub fn waited(&self, from: Attachment, now: Time) -> Span {
        let account = self.account(from);
        let still_ns = (u128::from(now.as_ns()) * account.packets as u128).saturating_sub(account.since_ns);
        account.waited + Span::from_ns(u64::try_from(still_ns).unwrap_or(u64::MAX))
    }
}
