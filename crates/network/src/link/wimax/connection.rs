//! A transport connection: its queue, and the PDUs that are made of the packets in it (IEEE Std 802.16-2004
//! clauses 6.3.3.3 and 6.3.3.4: fragmentation and packing without ARQ). A packet is a PDU of its own, or
//! several where a burst has no room for all of it. Where the connection packs, a PDU has as many packets as
//! it has room for, and at the end of a burst a part of one more. With ARQ packets are cut in blocks
//! ([`super::arq`]).

use super::arq::{Arq, ArqConfig, Content};
use super::pdu::{FRAGMENT_BYTES, LONGEST_PACKED_BYTES, PACKING_BYTES, WHOLE_BYTES};
use crate::drops::DropReason;
use crate::packet::Packet;
use crate::queue::{AnyDiscipline, Queue, Waiting};
use crate::topology::Attachment;
use roamsim_engine::Time;

/// The least that a burst needs to have room for: a fragment of one octet.
pub(super) const LEAST_PDU_BYTES: u32 = FRAGMENT_BYTES + 1;

/// One direction between the base station and a station.
#[derive(Debug)]
#[repr(C, align(64))] // what is asked of who sends fragments, and for bandwidth, is in the first line of the cache
pub(super) struct Connection {
    /// How what is lost is sent again, if it is.
    pub arq: Option<Box<Arq>>,
    /// Its discipline manages the queue: it sees every packet, and may drop what it has taken.
    manages: bool,
    /// Whether a PDU may have several packets.
    packs: bool,
    /// Why a fragment of the packet in service was lost.
    lost: Option<DropReason>,
    /// Whether octets of the packet in service have been sent.
    is_begun: bool,
    /// Octets of the packet in service that have not been sent: above zero as long as there is one.
    left_bytes: u32,
    queue: Queue,
    /// Packets that end in the last PDU, behind the first, until they are taken out: they share its fate.
    pub packed: Vec<Packet>,
    /// The packet in service.
    head: Option<Packet>,
}

/// A packet that has been sent; and why it was lost, if any of its fragments was.
pub(super) type Ended = (Packet, Option<DropReason>);

/// A PDU that a burst takes.
#[derive(Debug)]
pub(super) struct Pdu {
    /// Its length.
    pub bytes: u32,
    /// How many packets it begins, and their octets.
    pub begun: (u32, u32),
    /// Whether it has a part of one.
    pub fragment: bool,
    /// Why it is lost.
    pub lost: Option<DropReason>,
    pub carries: Carried,
}

/// What a PDU carries.
#[derive(Debug)]
pub(super) enum Carried {
    /// Packets, or parts of them.
    Packets {
        /// The first one, where this ends it.
        ends: Option<Ended>,
        /// Whether others behind it end in it as well: see [`Connection::packed`].
        packs: bool,
        /// Whether the last one goes on in another PDU.
        cut: bool,
    },
    /// What a connection with ARQ sends, which ends no packet by itself.
    Arq(Box<Content>),
}

impl Pdu {
    /// One of a connection with ARQ.
    fn with(content: Content, bytes: u32, begun: (u32, u32), lost: Option<DropReason>) -> Pdu {
        let fragment = matches!(content, Content::Blocks(_));
        Pdu { bytes, begun, fragment, lost, carries: Carried::Arq(Box::new(content)) }
    }
}

fn begun(begins: bool, packet_bytes: u32) -> (u32, u32) {
    if begins { (1, packet_bytes) } else { (0, 0) }
}

/// The octets of the PDUs of so many packets with so many octets, all of one length, where two or more fit
/// into one.
fn packed_bytes(packets: u64, bytes: u64) -> Option<u64> {
    let [whole, packing] = [WHOLE_BYTES, PACKING_BYTES].map(u64::from);
    let of_pdu = (u64::from(LONGEST_PACKED_BYTES) - whole) / (bytes.div_ceil(packets) + packing);
    (packets > 1 && of_pdu > 1).then(|| bytes + packets * packing + packets.div_ceil(of_pdu) * whole)
}

impl Connection {
    /// An empty one, of the packets from an attachment.
    pub fn new(
        from: Attachment,
        discipline: AnyDiscipline,
        packs: bool,
        arq: Option<ArqConfig>,
    ) -> Connection {
        let manages = discipline.manages();
        let queue = Queue::new(discipline, from.0..from.0 + 1);
        let arq = arq.map(|config| Box::new(Arq::new(config)));
        let (packed, head) = (Vec::new(), None);
        Connection { arq, manages, packs, lost: None, is_begun: false, left_bytes: 0, queue, packed, head }
    }

    /// The packets that wait, and their account.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// As of [`Queue::forget_longest`].
    pub fn forget_longest(&mut self) {
        self.queue.forget_longest();
    }

    /// Takes a packet; says why not.
    pub fn enqueue(&mut self, now: Time, from: Attachment, packet: Packet) -> Result<(), DropReason> {
        let idle = !self.serves();
        if idle && !self.manages {
            // It would leave the queue at once, and no trace there.
            self.serve(Some(packet));
            return Ok(());
        }
        self.queue.enqueue(now, from, packet, idle).map_err(|(_, reason)| reason)?;
        if idle {
            self.next(now);
        }
        Ok(())
    }

    /// Whether a packet is in service.
    fn serves(&self) -> bool {
        self.left_bytes > 0
    }

    fn serve(&mut self, packet: Option<Packet>) {
        self.is_begun = false;
        self.left_bytes = packet.as_ref().map_or(0, |packet| packet.size_bytes);
        self.head = packet;
    }

    fn next(&mut self, now: Time) {
        let next = self.queue.dequeue(now);
        self.serve(next.map(|waiting| waiting.packet));
    }

    /// Takes the packet in service out, and serves the next one.
    fn end(&mut self, now: Time) -> Option<Packet> {
        let packet = self.head.take();
        self.next(now);
        packet
    }

    /// The next packet that was dropped by `now` after it had been taken, and why.
    pub fn poll_drop(&mut self, now: Time) -> Option<(Waiting, DropReason)> {
        self.queue.poll_drop(now)
    }

    /// Whether it has nothing to send now.
    pub fn is_empty(&self) -> bool {
        match &self.arq {
            None => !self.serves(),
            Some(arq) => arq.is_empty() && !(arq.wants_packet() && self.serves()),
        }
    }

    /// Packets that it holds.
    pub fn packets(&self) -> usize {
        let held = self.arq.as_ref().map_or(0, |arq| arq.held());
        self.queue.length().packets + usize::from(self.serves()) + held
    }

    /// What a burst needs to have room for, so that it can send anything of a packet.
    pub fn least_pdu_bytes(&self) -> u32 {
        self.arq.as_ref().map_or(LEAST_PDU_BYTES, |arq| arq.least_pdu_bytes())
    }

    /// The octets of the PDUs that it would send: what is asked for. Where it packs, as if all packets had
    /// the mean length.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        if let Some(arq) = &self.arq {
            let waiting = self.queue.length();
            let packets = waiting.packets as u64 + u64::from(self.serves());
            return arq.backlog_bytes(packets, waiting.bytes + u64::from(self.left_bytes));
        }
        if !self.serves() {
            return 0;
        }
        let around = if self.is_begun { FRAGMENT_BYTES } else { WHOLE_BYTES };
        let waiting = self.queue.length();
        let bytes = u64::from(self.left_bytes) + waiting.bytes;
        if self.packs
            && let Some(packed) = packed_bytes(waiting.packets as u64 + 1, bytes)
        {
            return packed;
        }
        bytes + u64::from(around) + waiting.packets as u64 * u64::from(WHOLE_BYTES)
    }

    /// The next PDU, of at most so many octets; `lost` says of its octets why they are lost.
    pub fn take(
        &mut self,
        now: Time,
        room_bytes: u32,
        lost: impl FnOnce(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        if self.arq.is_some() {
            return self.take_blocks(now, room_bytes, lost);
        }
        if !self.serves() {
            return None;
        }
        let (begins, left_bytes) = (!self.is_begun, self.left_bytes);
        let around = if begins { WHOLE_BYTES } else { FRAGMENT_BYTES };
        // Of one that begins nothing has been sent.
        let begun = begun(begins, left_bytes);
        if left_bytes + around <= room_bytes {
            let bytes = left_bytes + around;
            if self.packs {
                return self.pack(now, (bytes, begun), room_bytes, lost);
            }
            let own = lost(bytes);
            let lost = self.lost.take().or(own);
            let ends = self.end(now).map(|packet| (packet, lost));
            let carries = Carried::Packets { ends, packs: false, cut: false };
            return Some(Pdu { bytes, begun, fragment: !begins, lost: own, carries });
        }
        if room_bytes < LEAST_PDU_BYTES {
            return None;
        }
        self.is_begun = true;
        self.left_bytes -= room_bytes - FRAGMENT_BYTES;
        let own = lost(room_bytes);
        self.lost = self.lost.or(own);
        Some(Pdu {
            bytes: room_bytes,
            begun,
            fragment: true,
            lost: own,
            carries: Carried::Packets { ends: None, packs: false, cut: true },
        })
    }

    /// A PDU with the rest of the packet in service, so many octets by itself, which begins it or not, and
    /// with what is next: whole packets, and, where the burst and not the PDU is at its end, a part.
    #[cold]
    fn pack(
        &mut self,
        now: Time,
        (alone_bytes, first_begun): (u32, (u32, u32)),
        room_bytes: u32,
        lost: impl FnOnce(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        let (is_begun, first_bytes) = (self.is_begun, self.left_bytes);
        let first = self.end(now)?;
        let before = self.lost.take();
        let mut pdu_bytes = alone_bytes;
        let mut begun = first_begun;
        let (mut cut, mut fragment) = (false, is_begun);
        let most_bytes = room_bytes.min(LONGEST_PACKED_BYTES);
        let mut bytes = WHOLE_BYTES + PACKING_BYTES + first_bytes;
        while self.serves() {
            let packet_bytes = self.left_bytes;
            let room_left = most_bytes.saturating_sub(bytes + PACKING_BYTES);
            let whole = packet_bytes <= room_left;
            if !whole && (room_left == 0 || most_bytes < room_bytes) {
                break;
            }
            begun = (begun.0 + 1, begun.1 + packet_bytes);
            bytes += PACKING_BYTES + packet_bytes.min(room_left);
            pdu_bytes = bytes;
            if !whole {
                (self.is_begun, self.left_bytes) = (true, packet_bytes - room_left);
                (cut, fragment) = (true, true);
                break;
            }
            let packet = self.end(now);
            self.packed.extend(packet);
        }
        let lost = lost(pdu_bytes);
        let ends = Some((first, before.or(lost)));
        if cut {
            self.lost = lost;
        }
        let carries = Carried::Packets { ends, packs: !self.packed.is_empty(), cut };
        Some(Pdu { bytes: pdu_bytes, begun, fragment, lost, carries })
    }

    /// A PDU of a connection with ARQ.
    #[cold]
    fn take_blocks(
        &mut self,
        now: Time,
        room_bytes: u32,
        lost: impl FnOnce(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        let mut arq = self.arq.take()?;
        let said = arq.says(now, room_bytes, self.packs, || self.end(now));
        self.arq = Some(arq);
        let (bytes, content, begun) = said?;
        Some(Pdu::with(content, bytes, begun, lost(bytes)))
    }

    /// A PDU, of at most so many octets, of what the receiver of this connection says to its sender, which
    /// goes with the opposite one.
    #[cold]
    pub fn answer(
        &mut self,
        now: Time,
        room_bytes: u32,
        lost: impl FnOnce(u32) -> Option<DropReason>,
    ) -> Option<Pdu> {
        let (bytes, content) = self.arq.as_mut()?.answer(now, room_bytes)?;
        Some(Pdu::with(content, bytes, (0, 0), lost(bytes)))
    }

    /// Whether its receiver has something to say, and the octets of that.
    pub fn answer_bytes(&self) -> u64 {
        self.arq.as_ref().map_or(0, |arq| arq.answer_bytes())
    }

    /// Gives the packet in service up, if it has anything to send: with ARQ the oldest whose blocks have
    /// numbers, which ends by itself. Whether there is one, and the packet that does not end by itself.
    pub fn give_up(&mut self, now: Time) -> (bool, Option<Packet>) {
        if let Some(arq) = self.arq.as_mut().filter(|arq| !arq.wants_packet()) {
            return (arq.give_up(now), None);
        }
        let packet = self.end(now);
        self.lost = None;
        (packet.is_some(), packet)
    }

    /// Gives all up that it holds: the packet in service before those that wait.
    pub fn give_all_up(&mut self, now: Time, from: Attachment) -> Vec<Packet> {
        let waiting = self.queue.withdraw(now, from);
        let mut held = self.arq.as_mut().map_or(Vec::new(), |arq| arq.release());
        held.extend(self.end(now));
        self.lost = None;
        held.into_iter().chain(waiting).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::drop_tail::DropTail;
    use crate::testing::datagram;

    fn connection(sizes: &[u32]) -> Connection {
        with(sizes, false)
    }

    fn with(sizes: &[u32], packs: bool) -> Connection {
        let mut connection = Connection::new(Attachment(3), DropTail::new(None).into(), packs, None);
        for &bytes in sizes {
            assert_eq!(connection.enqueue(Time::ZERO, Attachment(3), datagram(bytes)), Ok(()));
        }
        connection
    }

    /// The first packet that a PDU ends with its fate, whether it ends others, and whether it cuts its last.
    fn carried(pdu: Pdu) -> (Option<Ended>, bool, bool) {
        match pdu.carries {
            Carried::Packets { ends, packs, cut } => (ends, packs, cut),
            Carried::Arq(content) => panic!("{content:?}"),
        }
    }

    /// Octets of the PDU, whether it begins a packet, and the length of the packet that it ends.
    fn taken(connection: &mut Connection, room_bytes: u32) -> Option<(u32, bool, Option<u32>)> {
        let pdu = connection.take(Time::ZERO, room_bytes, |_| None)?;
        Some((pdu.bytes, pdu.begun.0 > 0, carried(pdu).0.map(|(packet, _)| packet.size_bytes)))
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
        let mut ends = |room_bytes| one.take(Time::ZERO, room_bytes, |_| None).and_then(|pdu| carried(pdu).0);
        assert_eq!(ends(500).map(|(packet, lost)| (packet.size_bytes, lost)), Some((100, lost)));
        assert_eq!(ends(500).map(|(packet, lost)| (packet.size_bytes, lost)), Some((50, None)));
    }

    /// Octets of the PDU, packets that it begins, the lengths of those that it ends, and whether it cuts its
    /// last.
    fn packed(connection: &mut Connection, room_bytes: u32) -> Option<(u32, u32, Vec<u32>, bool)> {
        let pdu = connection.take(Time::ZERO, room_bytes, |_| None)?;
        let (bytes, begun) = (pdu.bytes, pdu.begun.0);
        let (first, packs, cut) = carried(pdu);
        let first = first.map(|(packet, _)| packet);
        let ended: Vec<_> = first.into_iter().chain(connection.packed.drain(..)).collect();
        assert_eq!(packs, ended.len() > 1);
        Some((bytes, begun, ended.iter().map(|packet| packet.size_bytes).collect(), cut))
    }

    #[test]
    fn a_pdu_packs_what_it_has_room_for_and_the_end_of_a_burst_cuts() {
        let mut one = with(&[100, 50, 60, 70, 80], true);
        // 10 around all, 3 before each: 10 + 103 + 53 + 63 = 229, and of 245 are 13 left for a part of the
        // fourth.
        assert_eq!(packed(&mut one, 245), Some((245, 4, vec![100, 50, 60], true)));
        // 10 + 3 + 57 leave 3 octets, in which nothing is packed: the rest is a fragment of its own.
        assert_eq!(packed(&mut one, 73), Some((57 + 12, 0, vec![70], false)));
        // Alone it is as without packing.
        assert_eq!(packed(&mut one, 500), Some((90, 1, vec![80], false)));
        assert_eq!(packed(&mut one, 500), None);
        // 12 + 60 are room for all that is left of one, and no more.
        let mut one = with(&[100, 50], true);
        assert_eq!(packed(&mut one, 52), Some((52, 1, vec![], true)));
        assert_eq!(packed(&mut one, 10 + 63 + 53), Some((126, 1, vec![100, 50], false)));
    }

    #[test]
    fn a_pdu_is_no_longer_than_its_length_can_tell_and_nothing_is_cut_there() {
        let mut one = with(&[1000; 4], true);
        // 10 + 2 * 1003 are 2016; 29 octets are left of 2045.
        assert_eq!(one.backlog_bytes(), 2 * 2016);
        assert_eq!(packed(&mut one, 5000), Some((2016, 2, vec![1000, 1000], false)));
        assert_eq!(packed(&mut one, 2016), Some((2016, 2, vec![1000, 1000], false)));
        // Those of which two are longer go by themselves.
        let mut one = with(&[1100; 2], true);
        assert_eq!(one.backlog_bytes(), 2 * 1110);
        assert_eq!(packed(&mut one, 5000), Some((1110, 1, vec![1100], false)));
    }

    #[test]
    fn what_is_packed_is_lost_together() {
        let mut one = with(&[100, 50, 60], true);
        let lost = Some(DropReason::Loss);
        let pdu = one.take(Time::ZERO, 10 + 103 + 53 + 3 + 20, |_| lost).expect("there are some");
        assert_eq!((pdu.lost, carried(pdu).0.map(|(_, lost)| lost)), (lost, Some(lost)));
        assert_eq!(one.packed.drain(..).count(), 1);
        // The rest of the third arrives in vain.
        let rest = one.take(Time::ZERO, 500, |_| None).and_then(|pdu| carried(pdu).0);
        assert_eq!(rest.map(|(packet, lost)| (packet.size_bytes, lost)), Some((60, lost)));
    }

    #[test]
    fn with_arq_blocks_that_wait_are_given_up_and_not_those_on_their_way() {
        let queue = DropTail::new(None).into();
        let mut one =
            Connection::new(Attachment(3), queue, false, Some(crate::link::wimax::arq::tests::CONFIG));
        for bytes in [250, 250, 150] {
            assert_eq!(one.enqueue(Time::ZERO, Attachment(3), datagram(bytes)), Ok(()));
        }
        // Three blocks are on their way; of the second packet one is, and the window of eight has room for
        // the other four.
        assert!(one.take(Time::ZERO, 500, |_| None).is_some());
        assert!(one.take(Time::ZERO, 112, |_| None).is_some());
        let (is_given_up, packet) = one.give_up(Time::ZERO);
        assert!(is_given_up && packet.is_none());
        // The oldest ended by itself, which the receiver is told: of that nothing is given up, whoever else
        // speaks.
        let dropped =
            |one: &mut Connection| one.arq.as_mut().map(|arq| std::mem::take(&mut arq.dropped).len());
        assert_eq!(dropped(&mut one), Some(1));
        while one.take(Time::ZERO, 500, |_| None).is_some() {}
        let held = one.packets();
        let (is_given_up, packet) = one.give_up(Time::ZERO);
        assert!(!is_given_up && packet.is_none());
        assert_eq!((dropped(&mut one), one.packets(), held), (Some(0), 2, 2));
    }

    #[test]
    fn the_packet_in_service_can_be_given_up() {
        let mut one = connection(&[100, 50]);
        assert_eq!(taken(&mut one, 62), Some((62, true, None)));
        assert_eq!(one.give_up(Time::ZERO).1.map(|packet| packet.size_bytes), Some(100));
        assert_eq!(one.backlog_bytes(), 60);
    }
}
