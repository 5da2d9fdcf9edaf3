//! CoDel, Controlled Delay (RFC 8289): packets are dropped when they leave, once every packet has waited
//! longer than a target for a whole interval, and then the more often the longer that lasts.
//!
//! After the pseudocode of section 5. The control law takes the square root in whole nanoseconds, rounded
//! down. A packet that is taken out at once has not waited.
//!
//! With `ecn` what would be dropped is marked where its transport knows of ECN, as RFC 8290 section 5.2.6 and
//! Linux have it: the packet goes, and the control law moves on.

use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::topology::Attachment;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// What CoDel goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The waiting that is acceptable for ever.
    pub target: Span,
    /// How long it may be longer than that.
    pub interval: Span,
    /// The largest packet: where no more than one waits, none is dropped.
    pub mtu_bytes: u32,
    /// Whether packets are marked that may be.
    pub ecn: bool,
}

/// The state of the control law (section 5.3).
#[derive(Clone, Debug)]
pub(super) struct Control {
    settings: Settings,
    /// When waiting that is above the target now will have been so for an interval; `None`: it is below.
    first_above_time: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Packets dropped since it began to drop, and as it was when it did.
    count: u32,
    lastcount: u32,
}

impl Control {
    pub fn new(settings: Settings) -> Control {
        Control {
            settings,
            first_above_time: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            lastcount: 0,
        }
    }

    /// The next packet of a queue; those that are dropped come to `dropped` (section 5.6).
    pub fn dequeue(
        &mut self,
        now: Time,
        queue: &mut Fifo,
        dropped: &mut VecDeque<Waiting>,
    ) -> Option<Waiting> {
        let (mut next, ok_to_drop) = self.take(now, queue);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.marks(&mut next) {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                dropped.extend(next);
                (next, self.dropping) = self.take(now, queue);
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            if !self.marks(&mut next) {
                dropped.extend(next);
                (next, _) = self.take(now, queue);
            }
            self.dropping = true;
            // What controlled the queue a short while ago is where it begins again.
            let delta = self.count - self.lastcount;
            let lately = now.since(self.drop_next) < self.settings.interval * 16;
            self.count = if delta > 1 && lately { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        next
    }

    /// Packets were dropped without being asked: that counts as if it had dropped them (RFC 8290 section
    /// 4.1).
    pub fn dropped(&mut self, packets: u32) {
        self.count += packets;
    }

    fn marks(&self, next: &mut Option<Waiting>) -> bool {
        self.settings.ecn && next.as_mut().is_some_and(Waiting::mark)
    }

    /// The next packet, and whether it may be dropped.
    fn take(&mut self, now: Time, queue: &mut Fifo) -> (Option<Waiting>, bool) {
        let next = queue.pop();
        let waited = next.as_ref().map_or(Span::ZERO, |next| now - next.since);
        let Settings { target, interval, mtu_bytes, ecn: _ } = self.settings;
        if next.is_none() || waited < target || queue.length().bytes <= u64::from(mtu_bytes) {
            self.first_above_time = None;
            return (next, false);
        }
        let first_above_time = *self.first_above_time.get_or_insert(now + interval);
        (next, now >= first_above_time)
    }

    /// interval / sqrt(count) after an instant.
    fn control_law(&self, after: Time) -> Time {
        let interval_ns = u128::from(self.settings.interval.as_ns());
        let squared = interval_ns * interval_ns / u128::from(self.count.max(1));
        after + Span::from_ns(squared.isqrt() as u64)
    }
}

/// A queue under CoDel.
#[derive(Debug)]
pub struct Codel {
    limit: QueueLimit,
    control: Control,
    queue: Fifo,
    dropped: VecDeque<Waiting>,
}

impl Codel {
    /// An empty queue.
    pub fn new(limit: QueueLimit, settings: Settings) -> Codel {
        Codel { limit, control: Control::new(settings), queue: Fifo::default(), dropped: VecDeque::new() }
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        let Length { packets, bytes } = self.queue.length();
        if !idle && !self.limit.admits(packets, bytes, waiting.packet.size_bytes) {
            return Err((waiting.packet, DropReason::QueueFull));
        }
        self.queue.push(waiting);
        Ok(())
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting> {
        self.control.dequeue(now, &mut self.queue, &mut self.dropped)
    }

    fn poll_drop(&mut self) -> Option<(Waiting, DropReason)> {
        self.dropped.pop_front().map(|waiting| (waiting, DropReason::QueueManagement))
    }

    fn withdraw(&mut self, _now: Time, from: Attachment) -> Vec<Waiting> {
        self.queue.withdraw(from)
    }

    fn length(&self) -> Length {
        let Length { packets, bytes } = self.queue.length();
        let dropped_bytes: u64 =
            self.dropped.iter().map(|waiting| u64::from(waiting.packet.size_bytes)).sum();
        Length { packets: packets + self.dropped.len(), bytes: bytes + dropped_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::datagram;

    const SETTINGS: Settings =
        Settings { target: Span::from_ms(5), interval: Span::from_ms(100), mtu_bytes: 1500, ecn: false };

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Packets of 1000 octets, a millisecond apart, that leave every two milliseconds from 2 ms on: which one
    /// is dropped when, in milliseconds.
    fn drops(mut codel: Codel, until_ms: u64) -> Vec<(u64, u64)> {
        let mut drops = Vec::new();
        for ms in 0..until_ms {
            let packet = Packet { id: PacketId(ms), ..datagram(1000) };
            let waiting = Waiting { since: at_us(1000 * ms), from: Attachment(0), packet, marked: false };
            codel.enqueue(waiting, false).map_err(|(_, reason)| reason).expect("room");
            if ms >= 2 && ms % 2 == 0 {
                codel.dequeue(at_us(1000 * ms)).expect("a packet");
                while let Some((Waiting { packet, .. }, reason)) = codel.poll_drop() {
                    assert_eq!(reason, DropReason::QueueManagement);
                    drops.push((ms, packet.id.0));
                }
            }
        }
        drops
    }

    #[test]
    fn what_waits_too_long_for_an_interval_is_dropped_ever_more_often() {
        // The n-th to leave does so at 2n ms and came at n - 1 ms: it has waited n + 1 ms, 5 for the first
        // time at 8 ms. An interval later, at 108 ms, the 54th to leave (number 53) is the first that is
        // dropped; the next drop is due at 208 ms, then after 100 ms / sqrt 2, sqrt 3, ...: 278.71, 336.45,
        // 386.45, 431.17, 471.99. A packet leaves at the first even millisecond from then on; each drop
        // before has moved the numbers of those who leave by one.
        let expected = [(108, 53), (208, 104), (280, 141), (338, 171), (388, 197), (432, 220), (472, 241)];
        assert_eq!(drops(Codel::new(QueueLimit::Packets(1000), SETTINGS), 473), expected);
    }

    #[test]
    fn the_control_law_is_in_whole_nanoseconds() {
        let after = |count| {
            let control = Control { count, ..Control::new(SETTINGS) };
            control.control_law(Time::ZERO).as_ns()
        };
        // 100 ms / sqrt(count).
        assert_eq!([1, 2, 3, 4].map(after), [100_000_000, 70_710_678, 57_735_026, 50_000_000]);
    }

    fn queue_of(packets: u64, bytes: u32) -> Fifo {
        let mut queue = Fifo::default();
        for id in 0..packets {
            let packet = Packet { id: PacketId(id), ..datagram(bytes) };
            queue.push(Waiting { since: Time::ZERO, from: Attachment(0), packet, marked: false });
        }
        queue
    }

    #[test]
    fn the_last_packet_is_never_dropped_however_long_it_waited() {
        let (mut control, mut dropped) = (Control::new(SETTINGS), VecDeque::new());
        let mut queue = queue_of(3, 1000);
        // Behind the first 2000 octets are left, more than one packet's; behind the second 1000.
        assert!(control.dequeue(at_us(50_000), &mut queue, &mut dropped).is_some());
        assert_eq!(control.first_above_time, Some(at_us(150_000)));
        let second = control.dequeue(at_us(200_000), &mut queue, &mut dropped);
        assert_eq!((second.map(|next| next.packet.id.0), control.first_above_time), (Some(1), None));
        assert!(dropped.is_empty());
    }

    #[test]
    fn drops_that_are_overdue_come_at_once_and_waiting_below_the_target_ends_them() {
        let (mut control, mut dropped) = (Control::new(SETTINGS), VecDeque::new());
        let mut queue = queue_of(10, 1000);
        let mut next = |control: &mut Control, ms: u64| {
            let next = control.dequeue(at_us(1000 * ms), &mut queue, &mut dropped);
            (
                next.map(|next| next.packet.id.0),
                dropped.drain(..).map(|next| next.packet.id.0).collect::<Vec<_>>(),
            )
        };
        assert_eq!(next(&mut control, 10), (Some(0), vec![]));
        // Above the target since 10 ms.
        assert_eq!(next(&mut control, 110), (Some(2), vec![1]));
        // Due at 210 and at 210 + 70.7 = 280.7 ms, and then at 338.4.
        assert_eq!(next(&mut control, 300), (Some(5), vec![3, 4]));
        assert_eq!(control.drop_next, Time::from_ns(280_710_678 + 57_735_026));
        // Six have left, four wait; the queue does not refill, and the last two are let go.
        assert_eq!(next(&mut control, 338), (Some(6), vec![]));
        assert_eq!(next(&mut control, 339), (Some(8), vec![7]));
        assert!(!control.dropping);
    }

    #[test]
    fn it_begins_again_where_it_was_if_that_was_lately() {
        let begin = |now_ms: u64| {
            let mut control = Control {
                first_above_time: Some(at_us(1)),
                drop_next: at_us(1_000_000),
                count: 7,
                lastcount: 2,
                ..Control::new(SETTINGS)
            };
            let mut dropped = VecDeque::new();
            assert!(control.dequeue(at_us(1000 * now_ms), &mut queue_of(9, 1000), &mut dropped).is_some());
            (dropped.len(), control.count, control.lastcount, control.drop_next.as_ns() - now_ms * 1_000_000)
        };
        // Five drops last time: 100 ms / sqrt 5. Sixteen intervals after the drop that was due are too long.
        assert_eq!(begin(2599), (1, 5, 5, 44_721_359));
        assert_eq!(begin(2600), (1, 1, 1, 100_000_000));
    }

    #[test]
    fn the_limit_is_that_of_drop_tail() {
        let mut codel = Codel::new(QueueLimit::Packets(1), SETTINGS);
        let waiting =
            || Waiting { since: Time::ZERO, from: Attachment(0), packet: datagram(1000), marked: false };
        assert!(codel.enqueue(waiting(), false).is_ok());
        let refused = codel.enqueue(waiting(), false).map_err(|(_, reason)| reason);
        assert_eq!(refused, Err(DropReason::QueueFull));
        assert_eq!(codel.length(), Length { packets: 1, bytes: 1000 });
    }
}
