//! Losses of a cell in addition to its radio: of packets, after all attempts of the MAC, or of single
//! attempts, which the MAC repeats.
//!
//! - Packets: a packet that the receiver has acknowledged does not arrive. Nothing repeats it.
//! - Attempts: the receiver does not decode the data frame, whatever its power, and does not answer.
//!
//! A loss is valid from an instant on ([`Loss`]). It may be restricted to the time in which a station's
//! link is going down: from Link_Going_Down until the rollback, or until the station is associated again.
//!
//! Not modelled: losses of ACK, RTS, CTS and management frames, and of broadcasts; EIFS after an attempt
//! that was lost in this way; losses of repetitions that the receiver already has.

use std::ops::{Index, IndexMut};

use super::stations::layout::MemberIndex;
use crate::link::Attachment;
use crate::link::indication::LinkEvent;
use crate::link::loss::Loss;
use crate::packet::Packet;
use roamsim_engine::Time;

/// What is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Packets that the MAC has brought over.
    Packets,
    /// Data frames, repetitions included.
    Attempts,
}

/// A loss in one direction of a station.
#[derive(Clone, Debug)]
pub struct CellLoss {
    /// The end that sends.
    pub from: Attachment,
    /// What is lost.
    pub of: Of,
    /// Whether it holds only while the station's link is going down.
    pub while_going_down: bool,
    /// Which of them are lost.
    pub loss: Loss,
}

/// The losses of a medium.
#[derive(Debug, Default)]
pub(super) struct Losses {
    all: Vec<CellLoss>,
    by_sender: BySender,
    going_down: GoingDown,
}

/// By attachment, places among the losses.
#[derive(Debug, Default)]
struct BySender(Vec<Vec<usize>>);

impl Index<Attachment> for BySender {
    type Output = Vec<usize>;

    #[inline]
    fn index(&self, attachment: Attachment) -> &Vec<usize> {
        &self.0[attachment.0 as usize]
    }
}

impl IndexMut<Attachment> for BySender {
    fn index_mut(&mut self, attachment: Attachment) -> &mut Vec<usize> {
        &mut self.0[attachment.0 as usize]
    }
}

/// By member, whether its link is going down.
#[derive(Debug, Default)]
struct GoingDown(Vec<bool>);

impl Index<MemberIndex> for GoingDown {
    type Output = bool;

    #[inline]
    fn index(&self, member: MemberIndex) -> &bool {
        &self.0[member.0 as usize]
    }
}

impl IndexMut<MemberIndex> for GoingDown {
    fn index_mut(&mut self, member: MemberIndex) -> &mut bool {
        &mut self.0[member.0 as usize]
    }
}

impl Losses {
    /// Of a medium with so many attachments and members.
    pub(super) fn new(all: Vec<CellLoss>, attachments: usize, members: usize) -> Losses {
        let mut by_sender = BySender(vec![Vec::new(); attachments]);
        for (place, loss) in all.iter().enumerate() {
            by_sender[loss.from].push(place);
        }
        Losses { all, by_sender, going_down: GoingDown(vec![false; members]) }
    }

    /// From now on one of its losses, whose probability changes, has this one.
    pub(super) fn change(&mut self, now: Time, number: usize, probability: f64) {
        if let Some(changes) = self.all.get_mut(number) {
            changes.loss.begin(now, probability);
        }
    }

    /// Whether a packet from an attachment, or an attempt at it, is lost on its way between a member and its
    /// access point.
    #[inline(never)]
    pub(super) fn take(
        &mut self,
        now: Time,
        from: Attachment,
        member: MemberIndex,
        packet: &Packet,
        of: Of,
    ) -> bool {
        let Losses { all, by_sender, going_down } = self;
        let mut lost = false;
        for &place in &by_sender[from] {
            let loss = &mut all[place];
            if loss.of == of && (!loss.while_going_down || going_down[member]) {
                lost |= loss.loss.takes(now, packet);
            }
        }
        lost
    }

    /// A link event of a member.
    #[inline(never)]
    pub(super) fn hear(&mut self, member: MemberIndex, event: LinkEvent) {
        let going_down = &mut self.going_down[member];
        match event {
            LinkEvent::GoingDown { .. } => *going_down = true,
            LinkEvent::Rollback | LinkEvent::Up => *going_down = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::capture::record::Content;
    use super::super::tests::bianchi::b;
    use super::{CellLoss, LinkEvent, MemberIndex, Of};
    use crate::link::indication::{LinkDownReason, LinkGoingDownReason};
    use crate::link::loss::{Loss, LossModel};
    use crate::link::series::Series;
    use crate::link::testing::{datagram, stream};
    use crate::link::wifi::tests::prelude::*;
    use roamsim_engine::Span;

    const GOING_DOWN: LinkEvent = LinkEvent::GoingDown {
        within: Span::ZERO,
        confidence_percent: 0,
        reason: LinkGoingDownReason::LOW_POWER,
    };

    /// A cell of one station, which loses of what it sends with that probability.
    fn cell(of: Of, probability: f64, while_going_down: bool) -> Cell {
        let mut cell = Cell::new(b(1, 2347), stream);
        let (_, from) = cell.attachments_of(0);
        let loss = Loss::new(LossModel::Bernoulli { probability }, Time::ZERO, stream);
        cell.add_losses(vec![CellLoss { from, of, while_going_down, loss }]);
        cell
    }

    /// Sends packets, one each 100 ms from then on, from one end: how many arrive, and why the others were
    /// dropped.
    fn send(cell: &mut Cell, from: Attachment, packets: u64, start_s: u64) -> (usize, Vec<DropReason>) {
        for packet in 0..packets {
            let now = Time::ZERO + Span::from_secs(start_s) + Span::from_ms(100) * packet;
            let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, from, datagram(248));
            assert_eq!(taken, Ok(()));
            while let Some(now) = cell.poll_timeout() {
                cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
            }
        }
        let arrived = std::iter::from_fn(|| cell.poll_delivery(Time::ZERO)).count();
        (arrived, std::iter::from_fn(|| cell.poll_drop()).map(|(.., dropped)| dropped.reason).collect())
    }

    #[test]
    fn a_packet_is_lost_behind_its_acknowledgement() {
        let mut cell = cell(Of::Packets, 1.0, false);
        let (down, up) = cell.attachments_of(0);
        assert_eq!(send(&mut cell, up, 10, 1), (0, vec![DropReason::Loss; 10]));
        // Each was answered; and the other way is as it was.
        assert_eq!((cell.radio_time(1).attempts, cell.radio_time(1).failed_attempts), (10, 0));
        assert_eq!(send(&mut cell, down, 10, 10), (10, Vec::new()));
    }

    #[test]
    fn an_attempt_is_repeated_until_the_retry_limit() {
        let mut all = cell(Of::Attempts, 1.0, false);
        let (_, up) = all.attachments_of(0);
        assert_eq!(send(&mut all, up, 10, 1), (0, vec![DropReason::RetryLimit; 10]));
        assert_eq!((all.radio_time(1).attempts, all.radio_time(1).failed_attempts), (70, 70));

        // Of seven attempts at one half all fail with 1/128: 7.8 of 1000 packets, standard deviation 2.8. A
        // packet takes (1 - 2^-7) / (1 - 1/2) = 1.984 attempts, with a variance below that of the geometric
        // distribution, 2: 1984 of 1000 packets, standard deviation below 45.
        let mut half = cell(Of::Attempts, 0.5, false);
        let (arrived, dropped) = send(&mut half, up, 1000, 1);
        assert_eq!(arrived + dropped.len(), 1000);
        assert!((1..=19).contains(&dropped.len()), "{}", dropped.len());
        assert!((half.radio_time(1).attempts as f64 - 1984.0).abs() < 150.0);
    }

    #[test]
    fn one_of_several_losses_changes() {
        let mut cell = Cell::new(b(1, 2347), stream);
        let (down, up) = cell.attachments_of(0);
        let losses = [down, up].map(|from| {
            let probability = Series::constant(0.0);
            let loss = Loss::new(LossModel::Series { probability }, Time::ZERO, stream);
            CellLoss { from, of: Of::Packets, while_going_down: false, loss }
        });
        cell.add_losses(losses.to_vec());
        cell.change_loss(Time::ZERO + Span::from_secs(1), 1, 1.0);
        assert_eq!((send(&mut cell, down, 3, 2).0, send(&mut cell, up, 3, 3).0), (3, 0));
        // There is no third.
        cell.change_loss(Time::ZERO + Span::from_secs(4), 2, 1.0);
        assert_eq!(send(&mut cell, down, 3, 5).0, 3);
    }

    #[test]
    fn a_capture_shows_that_a_lost_attempt_was_not_understood() {
        for (of, understood) in [(Of::Attempts, false), (Of::Packets, true)] {
            let mut cell = cell(of, 1.0, false);
            cell.record_frames();
            let (down, up) = cell.attachments_of(0);
            send(&mut cell, up, 1, 1);
            send(&mut cell, down, 1, 10);
            let frames: Vec<_> = std::iter::from_fn(|| cell.poll_frame()).collect();
            let data = frames.iter().filter(|frame| matches!(frame.content, Content::Data(_)));
            let by_receiver = data.map(|frame| {
                let to = frame.heard.iter().find(|hearer| Some(hearer.radio) == frame.to);
                (frame.from.0, to.expect("the receiver hears it").understood)
            });
            let by_receiver: Vec<_> = by_receiver.collect();
            let uploads = if understood { 1 } else { 7 };
            assert_eq!(by_receiver, [vec![(1, understood); uploads], vec![(0, true)]].concat());
        }
    }

    #[test]
    fn some_losses_hold_while_the_link_is_going_down() {
        let mut cell = cell(Of::Packets, 1.0, true);
        let (_, up) = cell.attachments_of(0);
        assert_eq!(send(&mut cell, up, 3, 1).0, 3);
        cell.associations.losses.as_mut().expect("it has some").hear(MemberIndex(0), GOING_DOWN);
        assert_eq!(send(&mut cell, up, 3, 2).0, 0);
        cell.associations.losses.as_mut().expect("it has some").hear(MemberIndex(0), LinkEvent::Rollback);
        assert_eq!(send(&mut cell, up, 3, 3).0, 3);
        cell.associations.losses.as_mut().expect("it has some").hear(MemberIndex(0), GOING_DOWN);
        cell.associations
            .losses
            .as_mut()
            .expect("it has some")
            .hear(MemberIndex(0), LinkEvent::Down(LinkDownReason::NO_BROADCAST));
        assert_eq!(send(&mut cell, up, 3, 4).0, 0);
        cell.associations.losses.as_mut().expect("it has some").hear(MemberIndex(0), LinkEvent::Up);
        assert_eq!(send(&mut cell, up, 3, 5).0, 3);
    }
}
