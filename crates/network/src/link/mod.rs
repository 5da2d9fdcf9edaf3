//! The links between nodes: a wire, or a cell that several attachments share.
//!
//! A link is a machine: packets come in through `enqueue`, go out through `poll_delivery`, and time comes in
//! with the context; those on wires lie together, and wires keep their order (`flight`). A node knows its
//! place on a link as an [`Attachment`].

pub mod cell;
pub mod dect;
pub mod delay;
pub(crate) mod flight;
pub mod frames;
pub mod indication;
pub mod loss;
pub mod managed_wire;
mod outages;
pub mod pace;
pub mod phase;
pub mod propagation;
pub mod series;
pub mod stations;
pub mod wifi;
pub mod wimax;
pub mod wired;

pub use crate::drops::{DropReason, Dropped};
pub use crate::queue::QueueLimit;
pub use crate::topology::Attachment;

#[cfg(test)]
pub(crate) use crate::testing;

use self::frames::Frames;
use self::indication::Indication;
use self::phase::PhaseRow;
use self::stations::Stations;
use crate::alarm::Moment;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::queue::transmitter::{Ahead, Service};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

/// What one attachment sent over a link, up to now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets whose transmission was begun or is certain to begin.
    pub sent_packets: u64,
    /// Their octets.
    pub sent_bytes: u64,
    /// Packets delivered at the other end.
    pub delivered_packets: u64,
    /// Packets dropped, for any reason.
    pub dropped_packets: u64,
    /// Sum of transmission times.
    pub busy: Span,
    /// Sum of waiting times: divided by the time observed, the mean number of packets waiting (Little's law).
    pub waiting: Span,
    /// The most packets that ever waited.
    pub max_waiting_packets: u64,
    /// Packets that its queue marked (RFC 3168).
    pub marked_packets: u64,
}

impl LinkStats {
    /// A packet has its time on a transmitter; if it waits for it, so many packets do now.
    #[inline(always)]
    fn booked(&mut self, now: Time, service: Service, bytes: u32, waiting_packets: impl FnOnce() -> usize) {
        if service.start > now {
            self.waits(service.start - now, waiting_packets());
        }
        self.busy += service.transmission;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(bytes);
    }

    /// A packet waits so long, and so many do now.
    #[inline(always)]
    fn waits(&mut self, waiting: Span, waiting_packets: usize) {
        self.waiting += waiting;
        self.max_waiting_packets = self.max_waiting_packets.max(waiting_packets as u64);
    }

    /// Sent, dropped, waited since it was that much; the most that waited is what it is.
    #[must_use]
    pub fn since(self, earlier: LinkStats) -> LinkStats {
        LinkStats {
            sent_packets: self.sent_packets.saturating_sub(earlier.sent_packets),
            sent_bytes: self.sent_bytes.saturating_sub(earlier.sent_bytes),
            delivered_packets: self.delivered_packets.saturating_sub(earlier.delivered_packets),
            dropped_packets: self.dropped_packets.saturating_sub(earlier.dropped_packets),
            busy: self.busy.saturating_sub(earlier.busy),
            waiting: self.waiting.saturating_sub(earlier.waiting),
            max_waiting_packets: self.max_waiting_packets,
            marked_packets: self.marked_packets.saturating_sub(earlier.marked_packets),
        }
    }

    /// Waiting and transmission were booked ahead: the same without what still lies ahead.
    fn up_to_now(self, ahead: Ahead) -> LinkStats {
        LinkStats {
            busy: self.busy.saturating_sub(ahead.busy),
            waiting: self.waiting.saturating_sub(ahead.waiting),
            ..self
        }
    }
}

/// Frames that have come in at an attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receptions {
    /// All of them.
    pub frames: u64,
    /// Those in error.
    pub in_error: u64,
}

impl Receptions {
    /// Those since it was that many.
    #[must_use]
    pub fn since(self, earlier: Receptions) -> Receptions {
        Receptions { frames: self.frames - earlier.frames, in_error: self.in_error - earlier.in_error }
    }

    /// The ratio of those in error; `None` where nothing came.
    pub fn packet_error_rate(self) -> Option<f64> {
        (self.frames > 0).then(|| self.in_error as f64 / self.frames as f64)
    }
}

/// An attachment that sends, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// It.
    pub from: Attachment,
    /// Who gets what it sends; `None`: all who hear it.
    pub to: Option<Attachment>,
}

impl Sender {
    /// Those of a link between two ends that both send.
    fn both() -> Vec<Sender> {
        [(0, 1), (1, 0)]
            .map(|(from, to)| Sender { from: Attachment(from), to: Some(Attachment(to)) })
            .to_vec()
    }
}

/// What a link has done at its deadline, and at those to which it went on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// For how many events that stands.
    pub events: u64,
    /// Whether [`Carrier::poll_drop`] may have something.
    pub dropped: bool,
    /// Whether [`Carrier::poll_delivery`] may have something.
    pub arrived: bool,
    /// When it may next have a link event.
    pub indication: Option<Time>,
    /// Its next deadline, if nothing is taken before.
    pub timeout: Option<Time>,
}

/// What has come next over a link.
pub(crate) enum First<'a> {
    /// This packet, at this attachment.
    Packet(Attachment, &'a Packet),
    Nothing,
    /// It has to be taken to be looked at.
    Unknown,
}

/// A link that keeps the packets on it by itself: every one but a wire, whose packets lie with those of all
/// wires (`flight`).
pub trait Carrier: Link {
    /// Takes a packet from the node at `from`. A drop that is decided already is returned: the packet is
    /// gone.
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped>;

    /// The next packet that has arrived by `now`, and where.
    fn poll_delivery(&mut self, now: Time) -> Option<(Attachment, Packet)>;

    /// The next packet that was dropped after it had been taken: where it came from, and why. Only links that
    /// do not know at once have any.
    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        None
    }

    /// Whether [`Carrier::poll_drop`] may have something.
    fn may_have_dropped(&self) -> bool {
        true
    }

    /// Whether [`Carrier::poll_delivery`] may have something.
    fn may_have_arrived(&self, _now: Time) -> bool {
        true
    }
}

/// What every link does.
pub trait Link: Machine {
    /// When it may next have a link event, beside its deadline as a machine; what lies in the past is due at
    /// once. Whoever handles that deadline asks again.
    fn next_indication(&self) -> Option<Time> {
        None
    }

    /// The next link event up to `now`, and whose.
    fn poll_indication(&mut self, _now: Time) -> Option<Indication> {
        None
    }

    /// A user of links switches the link off as a whole, or on again (Link_Action.request of IEEE Std
    /// 802.21-2008); whether it can be. What follows it indicates.
    fn turn(&mut self, _now: Time, _on: bool) -> bool {
        false
    }

    /// What its stations' radios did on their way into the network so far.
    fn phases(&self) -> &[PhaseRow] {
        &[]
    }

    /// Its technology, as messages of IEEE 802.21 name it.
    fn link_type(&self) -> LinkType;

    /// The run has ended: what is summed up over time is summed up to the end.
    fn finish(&mut self, _end: Time) {}

    /// Packets inside: waiting, in transmission, or propagating.
    fn packets_inside(&self) -> u64;

    /// What the node at `from` has sent so far; transmissions and waits count up to `now`.
    fn stats(&self, from: Attachment, now: Time) -> LinkStats;

    /// A warm-up is over: the most that ever waited, and how long packets waited, are kept anew from now on.
    /// Counts go on.
    fn forget_longest(&mut self, now: Time);

    /// The same as `stats`, but where waiting and transmission are booked ahead nothing is taken off: the
    /// waiting is that of the packets that have come, and costs nothing to ask for.
    fn booked_stats(&self, from: Attachment, now: Time) -> LinkStats {
        self.stats(from, now)
    }

    /// Packets of `from` that wait for transmission at `now`.
    fn waiting_packets(&self, from: Attachment, now: Time) -> usize;

    /// The queues that packets of `from` wait in, where it has any but those of an arithmetic of its own.
    fn queues(&self, _from: Attachment) -> Vec<&Queue> {
        Vec::new()
    }

    /// Frames that have come in at an attachment up to `now`, where they can come in error.
    fn receptions(&self, _at: Attachment, _now: Time) -> Option<Receptions> {
        None
    }

    /// The attachments that send, in the order of result tables. One that sends to all who hear it is among
    /// them only once it has.
    fn senders(&self) -> Vec<Sender>;

    /// Whether what an attachment sends is for all who hear it. That nobody does is no loss.
    fn is_broadcast(&self, _from: Attachment) -> bool {
        false
    }

    /// The link as one with a base station and stations, if it is one.
    fn stations(&self) -> Option<&dyn Stations> {
        None
    }

    /// The same, to let the base station speak.
    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        None
    }

    /// The link as one whose frames can be captured, if it is one.
    fn frames_mut(&mut self) -> Option<&mut dyn Frames> {
        None
    }
}

/// Any link, dispatched by its kind.
pub enum AnyLink {
    /// One direction of a point-to-point link.
    Wire(wired::Wire),
    /// An 802.11 cell.
    Wifi(Box<wifi::Cell>),
    /// A DECT access of one terminal.
    Dect(Box<dect::access::Access>),
    /// An abstract radio cell.
    Cell(Box<cell::Cell>),
    /// An 802.16 cell.
    Wimax(Box<wimax::Cell>),
    /// One direction of a point-to-point link whose queue is managed, whose rate or delay changes, that makes
    /// copies, or is switched.
    ManagedWire(Box<managed_wire::ManagedWire>),
}

/// What a wire does stands in line, since nearly every link is one; what the others do stands apart, out of
/// its way.
macro_rules! each_link {
    ($self:expr, $link:ident => $call:expr) => {
        if let AnyLink::Wire($link) = $self {
            $call
        } else {
            apart(move || each_carrier!($self, $link => $call, $link => $call))
        }
    };
}

/// What a wire does, and what every other link does, a [`Carrier`].
macro_rules! each_carrier {
    ($self:expr, $wire:ident => $of_wire:expr, $link:ident => $call:expr) => {
        match $self {
            AnyLink::Wire($wire) => $of_wire,
            AnyLink::Wifi($link) => $call,
            AnyLink::Dect($link) => $call,
            AnyLink::Cell($link) => $call,
            AnyLink::Wimax($link) => $call,
            AnyLink::ManagedWire($link) => $call,
        }
    };
}

/// Takes the first, in which there is a packet, out of its place.
#[inline(always)]
fn clear_first<T>(places: &mut VecDeque<T>, packet: impl Fn(&T) -> &Packet) {
    if places.front().is_some_and(|first| packet(first).is_plain_segment()) {
        // To ask it what it owns costs more than to say it.
        std::mem::forget(places.pop_front());
    } else {
        drop(places.pop_front());
    }
}

#[inline(never)]
fn apart<T>(call: impl FnOnce() -> T) -> T {
    call()
}

impl AnyLink {
    /// Takes a packet from the node at `from`, as [`Carrier::enqueue`] does, and says when the link is due
    /// next. What every packet on a wire does stands in line where packets are sent and forwarded, and not
    /// here.
    #[inline(always)]
    pub(crate) fn enqueue(
        &mut self,
        cx: &mut Context<'_>,
        from: Attachment,
        packet: Packet,
    ) -> (Result<(), Dropped>, Option<Time>) {
        each_carrier!(
            self,
            _wire => {
                debug_assert!(false, "wires take places");
                (Ok(()), None)
            },
            link => (link.enqueue(cx, from, packet), link.poll_timeout())
        )
    }

    /// Has a link do what is due, and asks it at once what has come of that: to look each time which link it
    /// is costs as much as what most of them do. As long as nothing comes of it for others, and nothing else
    /// happens before its next deadline, it goes on there, up to so many events: none of them needs to be put
    /// into the queue from where it would come next.
    #[inline(never)]
    pub(crate) fn work(&mut self, moment: &mut Moment<'_>, random: &mut Stream, most_events: u64) -> Work {
        fn work(
            link: &mut impl Carrier,
            moment: &mut Moment<'_>,
            random: &mut Stream,
            most_events: u64,
        ) -> Work {
            let mut events = 0;
            loop {
                events += 1;
                let now = moment.now;
                link.handle_timeout(&mut Context { now, random });
                let (dropped, arrived) = (link.may_have_dropped(), link.may_have_arrived(now));
                let (indication, timeout) = (link.next_indication(), link.poll_timeout());
                let ends = dropped || arrived || indication.is_some() || events >= most_events;
                if ends || !timeout.is_some_and(|at| moment.advance(at)) {
                    return Work { events, dropped, arrived, indication, timeout };
                }
            }
        }
        // A wire has nothing to do, and is not asked.
        each_carrier!(self, _wire => Work::default(), link => work(&mut **link, moment, random, most_events))
    }

    /// The next packet that has come over a link, and where; or its next deadline.
    #[inline(never)]
    pub(crate) fn take(&mut self, now: Time) -> Result<(Attachment, Packet), Option<Time>> {
        fn take(link: &mut impl Carrier, now: Time) -> Result<(Attachment, Packet), Option<Time>> {
            link.poll_delivery(now).ok_or_else(|| link.poll_timeout())
        }
        each_carrier!(
            self,
            // A run takes what comes over a wire by itself.
            _wire => Err(None),
            link => take(&mut **link, now)
        )
    }

    /// What has come next over a link, if it can be looked at before it is taken.
    #[inline(always)]
    pub(crate) fn first_arrived(&self) -> First<'_> {
        let first = match self {
            AnyLink::Wifi(link) => link.first_arrived(),
            AnyLink::Wimax(link) => link.first_arrived(),
            AnyLink::Dect(link) => link.first_arrived(),
            _ => return First::Unknown,
        };
        first.map_or(First::Nothing, |(at, packet)| First::Packet(at, packet))
    }

    /// Takes what has come next, which has been looked at, out of its place.
    #[inline(always)]
    pub(crate) fn clear_arrived(&mut self) {
        match self {
            AnyLink::Wifi(link) => clear_first(link.arrived(), |(_, packet)| packet),
            AnyLink::Wimax(link) => clear_first(link.arrived(), |(_, packet)| packet),
            AnyLink::Dect(link) => link.clear_arrived(),
            _ => {}
        }
    }

    /// What has come over a link that keeps it in order until it is taken; `None`: it has to be asked for it.
    #[inline(always)]
    pub(crate) fn arrived(&mut self) -> Option<&mut VecDeque<(Attachment, Packet)>> {
        match self {
            AnyLink::Wifi(link) => Some(link.arrived()),
            AnyLink::Wimax(link) => Some(link.arrived()),
            _ => None,
        }
    }

    /// The next packet that the link dropped after it had taken it.
    pub(crate) fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        each_carrier!(self, _wire => None, link => link.poll_drop())
    }

    /// Has a path change. Validation lets only those change that can.
    pub fn change(&mut self, now: Time, change: managed_wire::Change) {
        match (self, change) {
            (AnyLink::ManagedWire(link), change) => link.change(now, change),
            (AnyLink::Wifi(link), managed_wire::Change::Loss { number, probability }) => {
                link.change_loss(now, number, probability);
            }
            _ => {}
        }
    }
}

impl Machine for AnyLink {
    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        each_link!(self, link => link.poll_timeout())
    }

    #[inline]
    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        each_link!(self, link => link.handle_timeout(cx));
    }
}

impl Link for AnyLink {
    fn next_indication(&self) -> Option<Time> {
        each_link!(self, link => link.next_indication())
    }

    fn poll_indication(&mut self, now: Time) -> Option<Indication> {
        each_link!(self, link => link.poll_indication(now))
    }

    fn turn(&mut self, now: Time, on: bool) -> bool {
        each_link!(self, link => link.turn(now, on))
    }

    fn phases(&self) -> &[PhaseRow] {
        each_link!(self, link => link.phases())
    }

    fn link_type(&self) -> LinkType {
        each_link!(self, link => link.link_type())
    }

    fn finish(&mut self, end: Time) {
        each_link!(self, link => link.finish(end));
    }

    fn packets_inside(&self) -> u64 {
        each_link!(self, link => link.packets_inside())
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        each_link!(self, link => link.stats(from, now))
    }

    fn forget_longest(&mut self, now: Time) {
        each_link!(self, link => link.forget_longest(now));
    }

    fn booked_stats(&self, from: Attachment, now: Time) -> LinkStats {
        each_link!(self, link => link.booked_stats(from, now))
    }

    fn waiting_packets(&self, from: Attachment, now: Time) -> usize {
        each_link!(self, link => link.waiting_packets(from, now))
    }

    fn queues(&self, from: Attachment) -> Vec<&Queue> {
        each_link!(self, link => link.queues(from))
    }

    fn receptions(&self, at: Attachment, now: Time) -> Option<Receptions> {
        each_link!(self, link => link.receptions(at, now))
    }

    fn senders(&self) -> Vec<Sender> {
        each_link!(self, link => link.senders())
    }

    fn is_broadcast(&self, from: Attachment) -> bool {
        each_link!(self, link => link.is_broadcast(from))
    }

    fn stations(&self) -> Option<&dyn Stations> {
        each_link!(self, link => link.stations())
    }

    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        each_link!(self, link => link.stations_mut())
    }

    fn frames_mut(&mut self) -> Option<&mut dyn Frames> {
        each_link!(self, link => link.frames_mut())
    }
}
