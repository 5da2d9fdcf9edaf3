//! A transport connection: its queue, and the PDUs that are made of the packets in it (IEEE Std 802.16-2004 clauses 6.3.3.3 and
//! 6.3.3.5: fragmentation without ARQ). A packet is a PDU of its own, or several where a burst has no room for all of it.

use super::pdu::{FRAGMENT_BYTES, WHOLE_BYTES};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::queue::{Discipline, Queue, Waiting};
use crate::topology::Attachment;
use roamsim_engine::Time;

/// The least that a burst needs to have room for: a fragment of one octet.
pub(super) const LEAST_PDU_BYTES: u32 = FRAGMENT_BYTES + 1;

/// One direction between the base station and a station.
#[derive(Debug)]
pub(super) struct Connection {
    queue: Queue,
    /// Its discipline manages the queue: it sees every packet, and may drop what it has taken.
    manages: bool,
    /// The packet in service, and how many of its octets have been sent.
    head: Option<(Packet, u32)>,
    /// Why a fragment of it was lost.
    lost: Option<DropReason>,
}

/// A packet that has been sent; and why it was lost, if any of its fragments was.
pub(super) type Ended = (Packet, Option<DropReason>);

/// A PDU that a burst takes.
#[derive(Debug)]
pub(super) struct Pdu {
    /// Its length.
    pub bytes: u32,
    /// The length of the packet that it carries, or a part of.
    pub packet_bytes: u32,
    /// The packet, where this ends it.
    pub ends: Option<Ended>,
    /// Whether it begins one.
    pub begins: bool,
    /// Whether it has a part of one only.
    pub fragment: bool,
    /// Whether it is lost.
    pub lost: bool,
}

impl Connection {
    /// An empty one, of the packets from an attachment.
    pub fn new(from: Attachment, discipline: Box<dyn Discipline>) -> Connection {
        let manages = discipline.manages();
        Connection { queue: Queue::under(discipline, from.0..from.0 + 1), manages, head: None, lost: None }
    }

    /// The packets that wait, and their account.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Takes a packet; says why not.
    pub fn enqueue(&mut self, now: Time, from: Attachment, packet: Packet) -> Result<(), DropReason> {
        let idle = self.head.is_none();
        if idle && !self.manages {
            // It would leave the queue at once, and no trace there.
            self.head = Some((packet, 0));
            return Ok(());
        }
        self.queue.enqueue(now, from, packet, idle).map_err(|(_, reason)| reason)?;
        if idle {
            self.next(now);
        }
        Ok(())
    }

    fn next(&mut self, now: Time) {
        self.head = self.queue.dequeue(now).map(|waiting| (waiting.packet, 0));
    }

    /// The next packet that was dropped by `now` after it had been taken, and why.
    pub fn poll_drop(&mut self, now: Time) -> Option<(Waiting, DropReason)> {
        if self.manages { self.queue.poll_drop(now) } else { None }
    }

    /// Whether it has nothing to send.
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Packets that it holds.
    pub fn packets(&self) -> usize {
        self.queue.length().packets + usize::from(self.head.is_some())
    }

    /// The octets of the PDUs that it would send: what is asked for.
    pub fn backlog_bytes(&self) -> u64 {
        let Some((packet, sent_bytes)) = &self.head else { return 0 };
        let around = if *sent_bytes > 0 { FRAGMENT_BYTES } else { WHOLE_BYTES };
        let waiting = self.queue.length();
        u64::from(packet.size_bytes - sent_bytes + around)
            + waiting.bytes
            + waiting.packets as u64 * u64::from(WHOLE_BYTES)
    }

    /// The next PDU, of at most so many octets; `lost` says of its octets why they are lost.
    pub fn take(
        &mut self,
        now: Time,
        room_bytes: u32,
        lost: impl FnOnce(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        let (packet, sent_bytes) = self.head.as_mut()?;
        let (begins, packet_bytes) = (*sent_bytes == 0, packet.size_bytes);
        let rest_bytes = packet_bytes - *sent_bytes;
        let around = if begins { WHOLE_BYTES } else { FRAGMENT_BYTES };
        if rest_bytes + around <= room_bytes {
            let bytes = rest_bytes + around;
            let own = lost(bytes);
            let lost = self.lost.take().or(own);
            let ends = self.head.take().map(|(packet, _)| (packet, lost));
            self.next(now);
            return Some(Pdu { bytes, packet_bytes, ends, begins, fragment: !begins, lost: own.is_some() });
        }
        if room_bytes < LEAST_PDU_BYTES {
            return None;
        }
        *sent_bytes += room_bytes - FRAGMENT_BYTES;
        let own = lost(room_bytes);
        self.lost = self.lost.or(own);
        Some(Pdu { bytes: room_bytes, packet_bytes, ends: None, begins, fragment: true, lost: own.is_some() })
    }

    /// Gives the packet in service up.
    pub fn give_up(&mut self, now: Time) -> Option<Packet> {
        let packet = self.head.take().map(|(packet, _)| packet);
        self.lost = None;
        self.next(now);
        packet
    }

    /// Gives all up that it holds: the packet in service before those that wait.
    pub fn give_all_up(&mut self, now: Time, from: Attachment) -> Vec<Packet> {
        let waiting = self.queue.withdraw(now, from);
        self.give_up(now).into_iter().chain(waiting).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::drop_tail::DropTail;
    use crate::testing::datagram;

    fn connection(sizes: &[u32]) -> Connection {
        let mut connection = Connection::new(Attachment(3), Box::new(DropTail::new(None)));
        for &bytes in sizes {
            assert_eq!(connection.enqueue(Time::ZERO, Attachment(3), datagram(bytes)), Ok(()));
        }
        connection
    }

    /// Octets of the PDU, whether it begins a packet, and the length of the packet that it ends.
    fn taken(connection: &mut Connection, room_bytes: u32) -> Option<(u32, bool, Option<u32>)> {
        let pdu = connection.take(Time::ZERO, room_bytes, |_| None)?;
        Some((pdu.bytes, pdu.begins, pdu.ends.map(|(packet, _)| packet.size_bytes)))
    }

    #[test]
    fn a_packet_that_fits_is_a_pdu_and_one_that_does_not_is_cut() {
        let mut one = connection(&[100, 50]);
        // 110 + 60.
        assert_eq!((one.backlog_bytes(), one.packets()), (170, 2));
        // 12 of 62 are around the fragment: 50 of 100 are sent. The rest needs 50 + 12.
        assert_eq!(taken(&mut one, 62), Some((62, true, None)));
        assert_eq!(one.backlog_bytes(), 122);
        assert_eq!(taken(&mut one, 61), Some((61, false, None)));
        assert_eq!(taken(&mut one, 500), Some((13, false, Some(100))));
        assert_eq!(taken(&mut one, 60), Some((60, true, Some(50))));
        assert_eq!((taken(&mut one, 500), one.backlog_bytes(), one.packets()), (None, 0, 0));
    }

    #[test]
    fn no_fragment_is_without_an_octet_of_its_packet() {
        let mut one = connection(&[100]);
        assert_eq!(taken(&mut one, 12), None);
        assert_eq!(taken(&mut one, 13), Some((13, true, None)));
        // 109 octets do not hold the 99 that are left and 12.
        assert_eq!(taken(&mut one, 109), Some((109, false, None)));
        assert_eq!(taken(&mut one, 14), Some((14, false, Some(100))));
    }

    #[test]
    fn a_packet_is_lost_with_any_of_its_fragments() {
        let mut one = connection(&[100, 50]);
        let lost = Some(DropReason::Loss);
        assert!(one.take(Time::ZERO, 62, |_| lost).is_some());
        let mut ends = |room_bytes| one.take(Time::ZERO, room_bytes, |_| None).and_then(|pdu| pdu.ends);
        assert_eq!(ends(500).map(|(packet, lost)| (packet.size_bytes, lost)), Some((100, lost)));
        assert_eq!(ends(500).map(|(packet, lost)| (packet.size_bytes, lost)), Some((50, None)));
    }

    #[test]
    fn the_packet_in_service_can_be_given_up() {
        let mut one = connection(&[100, 50]);
        assert_eq!(taken(&mut one, 62), Some((62, true, None)));
        assert_eq!(one.give_up(Time::ZERO).map(|packet| packet.size_bytes), Some(100));
        assert_eq!(one.backlog_bytes(), 60);
    }
}
