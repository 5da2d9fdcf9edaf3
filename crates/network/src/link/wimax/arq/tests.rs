//! Both machines under scripts, and connections in a cell beside arithmetic.
//!
//! Blocks of 100 octets, a window of 8, ARQ_RETRY_TIMEOUT 50 ms, ARQ_BLOCK_LIFETIME 200 ms,
//! ARQ_RX_PURGE_TIMEOUT 120 ms, ARQ_SYNC_LOSS_TIMEOUT 300 ms.

use super::{Acknowledgement, Arq, ArqConfig, Content, Element, Reset};
use crate::link::wimax::block_errors::BlockErrors;
use crate::link::wimax::phy::{BurstProfile, Unit};
use crate::link::wimax::tests::joining::{at, by_radio, go_on};
use crate::link::wimax::tests::{FAST, Work, config, us};
use crate::link::wimax::{CellConfig, Direction, StationConfig};
use crate::testing::datagram;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Machine;
use std::collections::VecDeque;

pub(in crate::link::wimax) const CONFIG: ArqConfig = ArqConfig {
    block_bytes: 100,
    window_blocks: 8,
    retry_timeout: Span::from_ms(50),
    block_lifetime: Some(Span::from_ms(200)),
    sync_loss_timeout: Some(Span::from_ms(300)),
    purge_timeout: Some(Span::from_ms(120)),
    deliver_in_order: true,
    acknowledgement: Acknowledgement::CumulativeSelective,
};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A connection whose PDUs go by hand, and the packets that wait for it.
struct Hand {
    arq: Arq,
    queue: VecDeque<u32>,
    packs: bool,
}

impl Hand {
    fn new(config: ArqConfig, sizes: &[u32]) -> Hand {
        Hand { arq: Arq::new(config), queue: sizes.iter().copied().collect(), packs: false }
    }

    /// The next PDU with its octets.
    fn says(&mut self, at_ms: u64, room_bytes: u32) -> Option<(u32, Content)> {
        let queue = &mut self.queue;
        let next = || queue.pop_front().map(datagram);
        self.arq.says(ms(at_ms), room_bytes, self.packs, next).map(|(bytes, content, _)| (bytes, content))
    }

    /// The octets of the next PDU, and its blocks: the first of each run, and how many.
    fn blocks(&mut self, at_ms: u64, room_bytes: u32) -> Option<(u32, Vec<(u64, u32)>)> {
        let (bytes, content) = self.says(at_ms, room_bytes)?;
        let Content::Blocks(chunks) = content else { panic!("{content:?}") };
        Some((bytes, chunks.iter().map(|chunk| (chunk.first, chunk.count)).collect()))
    }

    /// The next PDU arrives.
    fn passes(&mut self, at_ms: u64, room_bytes: u32) {
        let (_, content) = self.says(at_ms, room_bytes).expect("there is something");
        self.arq.comes(ms(at_ms), &content);
    }

    /// The receiver's feedback arrives.
    fn answers(&mut self, at_ms: u64) {
        let (_, content) = self.arq.answer(ms(at_ms), 500).expect("there is something");
        self.arq.comes(ms(at_ms), &content);
    }

    fn elements(&mut self, at_ms: u64) -> (u32, Vec<Element>) {
        match self.arq.answer(ms(at_ms), 500) {
            Some((bytes, Content::Feedback(elements, made))) => {
                assert_eq!(made, ms(at_ms));
                (bytes, elements)
            }
            other => panic!("{other:?}"),
        }
    }

    /// The lengths of the packets that were delivered since, and of those that were dropped.
    fn ended(&mut self) -> (Vec<u32>, Vec<u32>) {
        let sizes = |packets: &mut Vec<crate::packet::Packet>| {
            packets.drain(..).map(|packet| packet.size_bytes).collect()
        };
        (sizes(&mut self.arq.delivered), sizes(&mut self.arq.dropped))
    }
}

#[test]
fn a_packet_is_cut_at_its_blocks_alone() {
    let mut one = Hand::new(CONFIG, &[250, 60]);
    // Header, CRC and subheader are 12 octets: 211 hold one block, 212 two. The last one has 50.
    assert_eq!(one.blocks(0, 111), None);
    assert_eq!(one.blocks(0, 211), Some((112, vec![(0, 1)])));
    assert_eq!(one.blocks(0, 161), Some((112, vec![(1, 1)])));
    assert_eq!(one.blocks(0, 500), Some((62, vec![(2, 1)])));
    assert_eq!(one.blocks(0, 500), Some((72, vec![(3, 1)])));
    assert_eq!(one.blocks(0, 500), None);
    assert_eq!(one.arq.held(), 2);
    // Whole packets are several blocks in a PDU.
    let mut whole = Hand::new(CONFIG, &[250]);
    assert_eq!(whole.arq.backlog_bytes(1, 250), 262);
    assert_eq!(whole.blocks(0, 500), Some((262, vec![(0, 3)])));
    assert_eq!(whole.arq.backlog_bytes(0, 0), 0);
}

#[test]
fn runs_of_blocks_are_packed_behind_a_subheader_of_three_octets_each() {
    let mut one = Hand { packs: true, ..Hand::new(CONFIG, &[150, 40, 300]) };
    // 10 around all; 3 + 150, 3 + 40, and of the third one block: 3 + 100. Two more octets would be no block.
    assert_eq!(one.blocks(0, 311), Some((309, vec![(0, 2), (2, 1), (3, 1)])));
    // Alone it is a fragment: 12 octets around two blocks.
    assert_eq!(one.blocks(0, 500), Some((212, vec![(4, 2)])));
    // What is sent again is packed with what was never sent: blocks 0 and 3.
    let mut again = Hand { packs: true, ..Hand::new(CONFIG, &[100, 100, 100]) };
    for at_ms in 0..3 {
        let (_, content) = again.says(at_ms, 112).expect("three");
        if at_ms == 1 {
            again.arq.comes(ms(at_ms), &content);
        }
    }
    again.queue.push_back(100);
    again.answers(10);
    assert_eq!(again.blocks(10, 500), Some((10 + 103 + 103, vec![(0, 1), (3, 1)])));
}

/// Blocks 0, 1, 3 and 4 have come, and 2 has not.
fn with_a_hole(acknowledgement: Acknowledgement) -> Hand {
    let mut one = Hand::new(ArqConfig { acknowledgement, ..CONFIG }, &[100; 6]);
    for block in 0..5 {
        let (_, content) = one.says(block, 112).expect("six packets");
        if block != 2 {
            one.arq.comes(ms(block), &content);
        }
    }
    one
}

#[test]
fn feedback_tells_by_its_type_what_has_come() {
    // Header and CRC 10, packing subheader 3, element 4 and 2 a map.
    let mut selective = with_a_hole(Acknowledgement::Selective);
    let element = Element { block: 0, cumulative: false, maps: 1, bits: 0b11011 };
    assert_eq!(selective.elements(5), (19, vec![element]));
    let mut cumulative = with_a_hole(Acknowledgement::Cumulative);
    let element = Element { block: 1, cumulative: true, maps: 0, bits: 0 };
    assert_eq!(cumulative.elements(5), (17, vec![element]));
    // The first bit is that of the cumulative block itself.
    let mut both = with_a_hole(Acknowledgement::CumulativeSelective);
    let element = Element { block: 1, cumulative: true, maps: 1, bits: 0b1101 };
    assert_eq!(both.elements(5), (19, vec![element]));
    // It is told once.
    assert_eq!(both.arq.answer_bytes(), 0);
    assert_eq!(both.arq.answer(ms(6), 500), None);
}

#[test]
fn what_is_missing_before_what_has_come_goes_first() {
    for (acknowledgement, goes) in [
        (Acknowledgement::Selective, 2),
        // Without a map the sender does not know.
        (Acknowledgement::Cumulative, 5),
        (Acknowledgement::CumulativeSelective, 2),
    ] {
        let mut one = with_a_hole(acknowledgement);
        assert_eq!(one.ended(), (vec![100, 100], vec![]));
        one.answers(5);
        assert_eq!(one.blocks(6, 112), Some((112, vec![(goes, 1)])), "{acknowledgement:?}");
    }
    let mut one = with_a_hole(Acknowledgement::CumulativeSelective);
    one.answers(5);
    one.passes(6, 112);
    // 2 fills the hole: 3 and 4 are delivered behind it; 0 and 1 were.
    assert_eq!(one.ended(), (vec![100; 5], vec![]));
    assert_eq!((one.arq.stats.sent_blocks, one.arq.stats.repeated_blocks), (5, 1));
    assert_eq!(one.arq.stats.timed_out_blocks, 0);
    one.answers(7);
    assert_eq!(one.blocks(7, 112), Some((112, vec![(5, 1)])));
    assert_eq!(one.arq.held(), 1);
}

#[test]
fn without_order_each_packet_is_delivered_when_it_is_whole() {
    let mut one = Hand::new(ArqConfig { deliver_in_order: false, ..CONFIG }, &[100, 250]);
    let first = one.says(0, 112).expect("two packets").1;
    one.passes(0, 212);
    assert_eq!(one.ended(), (vec![], vec![]));
    one.passes(0, 212);
    assert_eq!(one.ended(), (vec![250], vec![]));
    one.arq.comes(ms(1), &first);
    assert_eq!((one.ended(), one.arq.held()), ((vec![100], vec![]), 0));
}

#[test]
fn a_block_that_has_gone_since_the_feedback_was_made_is_not_sent_again_for_it() {
    let mut one = with_a_hole(Acknowledgement::CumulativeSelective);
    // Made at 5 ms; the retransmission goes at 60 ms, by ARQ_RETRY_TIMEOUT, before the feedback comes.
    let (_, feedback) = one.arq.answer(ms(5), 500).expect("news");
    one.arq.expire(ms(52));
    assert_eq!(one.blocks(60, 112), Some((112, vec![(0, 1)])));
    assert_eq!(one.blocks(60, 112), Some((112, vec![(1, 1)])));
    assert_eq!(one.blocks(60, 112), Some((112, vec![(2, 1)])));
    one.arq.comes(ms(61), &feedback);
    assert_eq!(one.blocks(61, 112), Some((112, vec![(5, 1)])), "2 is on its way");
}

#[test]
fn what_nobody_tells_of_is_sent_again_after_the_timeout_and_comes_twice() {
    let mut one = Hand::new(CONFIG, &[100]);
    one.passes(0, 112);
    assert_eq!(one.ended(), (vec![100], vec![]));
    // Feedback is lost.
    assert!(one.arq.answer(ms(1), 500).is_some());
    assert_eq!(one.arq.deadline(), Some(ms(50)));
    one.arq.expire(ms(49));
    assert!(one.arq.is_empty());
    one.arq.expire(ms(50));
    assert_eq!(one.arq.backlog_bytes(0, 0), 112);
    one.passes(50, 112);
    assert_eq!(one.ended(), (vec![], vec![]));
    let stats = one.arq.stats;
    assert_eq!((stats.repeated_blocks, stats.timed_out_blocks, stats.duplicate_blocks), (1, 1, 1));
    // It is told of again.
    one.answers(51);
    assert_eq!((one.arq.held(), one.arq.deadline()), (0, None));
}

#[test]
fn the_window_closes_behind_so_many_blocks_and_moves_with_the_first() {
    let mut one = Hand::new(CONFIG, &[100; 12]);
    let contents: Vec<Content> = (0..8).map(|_| one.says(0, 112).expect("eight").1).collect();
    assert_eq!((one.blocks(0, 112), one.arq.is_empty(), one.queue.len()), (None, true, 4));
    // 1 to 4 have come: it stands still for 0.
    contents[1..5].iter().for_each(|content| one.arq.comes(ms(1), content));
    one.answers(2);
    assert_eq!(one.blocks(2, 112), Some((112, vec![(0, 1)])));
    assert_eq!(one.blocks(2, 112), None);
    one.arq.comes(ms(3), &contents[0]);
    one.answers(3);
    // Now 5 is the first: five more are let in, of which there are four.
    assert_eq!(
        (8..12).map(|_| one.blocks(3, 112)).collect::<Vec<_>>(),
        (8..12).map(|n| Some((112, vec![(n, 1)]))).collect::<Vec<_>>()
    );
}

#[test]
fn a_packet_is_given_up_when_a_block_of_it_has_lived_and_the_receiver_is_told_until_it_knows() {
    let mut one = Hand::new(CONFIG, &[250, 100]);
    // Of the first packet the last two blocks come, the third one of it and the second packet 10 ms later.
    let _ = one.says(0, 112).expect("block 0");
    one.passes(10, 500);
    one.passes(10, 500);
    assert_eq!(one.ended(), (vec![], vec![]));
    // Nothing of the feedback and of the retransmissions arrives.
    for at_ms in [50, 100] {
        one.arq.expire(ms(at_ms));
        while one.says(at_ms, 500).is_some() {}
    }
    // ARQ_RX_PURGE_TIMEOUT ends the wait before: 10 + 120.
    assert_eq!((one.arq.deadline(), one.arq.stats.discarded_blocks), (Some(ms(130)), 0));
    one.arq.expire(ms(130));
    assert_eq!(one.ended(), (vec![100], vec![250]));
    assert_eq!(one.arq.stats.purged_blocks, 1);

    let mut one = Hand::new(ArqConfig { purge_timeout: None, ..CONFIG }, &[250, 100]);
    let _ = one.says(0, 112).expect("block 0");
    one.passes(10, 500);
    one.passes(10, 500);
    one.arq.expire(ms(199));
    assert_eq!(one.ended(), (vec![], vec![]));
    one.arq.expire(ms(200));
    // The first packet is dropped as a whole; the second, which has come, waits for the receiver to hear of
    // it.
    assert_eq!(one.ended(), (vec![], vec![250]));
    assert_eq!(one.arq.stats.discarded_blocks, 3);
    // Type, CID and block: 5 octets and 10. It is lost.
    assert_eq!(one.says(200, 14), None);
    assert_eq!(one.says(200, 500), Some((15, Content::Discard(2))));
    // The second packet goes again, as nobody has told of it, and is given up 200 ms after it was first sent:
    // one message is for both.
    one.arq.expire(ms(209));
    assert_eq!(one.blocks(209, 500), Some((112, vec![(3, 1)])));
    one.arq.expire(ms(210));
    assert_eq!(one.ended(), (vec![], vec![]), "it has come whole");
    assert_eq!((one.says(210, 500), one.arq.stats.discarded_blocks), (Some((15, Content::Discard(3))), 4));
    // That is lost as well, and repeated 50 ms later.
    one.arq.expire(ms(259));
    assert_eq!(one.says(259, 500), None);
    one.arq.expire(ms(260));
    one.passes(260, 15);
    assert_eq!(one.ended(), (vec![100], vec![]));
    one.answers(261);
    assert_eq!((one.arq.is_empty(), one.arq.held(), one.arq.deadline()), (true, 0, None));
}

#[test]
fn a_burst_without_room_for_all_feedback_has_a_part_of_it() {
    for acknowledgement in [Acknowledgement::Selective, Acknowledgement::CumulativeSelective] {
        let config = ArqConfig { window_blocks: 100, acknowledgement, ..CONFIG };
        let mut one = Hand::new(config, &[100; 80]);
        for block in 0..62 {
            let (_, content) = one.says(0, 112).expect("80 packets");
            if block != 1 {
                one.arq.comes(ms(0), &content);
            }
        }
        // Blocks 0 to 61: four maps. Around them 13 octets, 4 in front.
        assert_eq!(one.arq.answer_bytes(), 13 + 4 + 8, "{acknowledgement:?}");
        // A burst of 24 octets, as two slots of 16-QAM 1/2 are, has room for three; the fourth goes with the
        // next one.
        let (bytes, first) = one.arq.answer(ms(1), 24).expect("news");
        assert_eq!((bytes, one.arq.answer_bytes()), (23, 13 + 6), "{acknowledgement:?}");
        let (bytes, second) = one.arq.answer(ms(1), 24).expect("the rest");
        let Content::Feedback(elements, _) = &second else { panic!("{second:?}") };
        assert_eq!((bytes, one.arq.answer_bytes()), (19, 0), "{acknowledgement:?}");
        assert_eq!(elements[..], [Element { block: 48, cumulative: false, maps: 1, bits: (1 << 14) - 1 }]);
        one.arq.comes(ms(2), &first);
        one.arq.comes(ms(2), &second);
        // 1 goes again, and nothing else but what never went.
        assert_eq!(one.blocks(2, 112), Some((112, vec![(1, 1)])));
        assert_eq!(one.blocks(2, 112), Some((112, vec![(62, 1)])));
        one.arq.expire(ms(51));
        assert_eq!((one.blocks(51, 112), one.arq.stats.timed_out_blocks), (Some((112, vec![(63, 1)])), 0));
    }
}

#[test]
fn feedback_to_a_discard_that_is_lost_is_repeated_with_the_discard() {
    for acknowledgement in
        [Acknowledgement::Selective, Acknowledgement::Cumulative, Acknowledgement::CumulativeSelective]
    {
        let config = ArqConfig { acknowledgement, purge_timeout: None, sync_loss_timeout: None, ..CONFIG };
        let mut one = Hand::new(config, &[250, 100]);
        // Blocks 0 to 2 are lost.
        assert!(one.says(0, 500).is_some());
        one.passes(10, 500);
        let _ = one.arq.answer(ms(11), 500);
        one.arq.expire(ms(200));
        assert_eq!(one.says(200, 500), Some((15, Content::Discard(2))), "{acknowledgement:?}");
        one.arq.comes(ms(200), &Content::Discard(2));
        assert_eq!(one.ended(), (vec![100], vec![250]));
        // The receiver knows, and its feedback is lost.
        assert!(one.arq.answer(ms(201), 500).is_some());
        one.arq.expire(ms(250));
        one.passes(250, 15);
        one.answers(251);
        assert_eq!((one.arq.held(), one.arq.deadline()), (0, None), "{acknowledgement:?}");
        // The window is behind all of it.
        one.queue.push_back(60);
        assert_eq!(one.blocks(251, 500), Some((72, vec![(4, 1)])));
    }
}

#[test]
fn a_packet_of_which_nothing_has_come_is_passed_by_the_receiver() {
    let mut one = Hand::new(ArqConfig { acknowledgement: Acknowledgement::Selective, ..CONFIG }, &[100; 2]);
    let _ = one.says(0, 112).expect("block 0");
    one.passes(20, 112);
    one.answers(21);
    // 20 + 120; the sender is told that it can go on, though 0 never came.
    one.arq.expire(ms(139));
    assert_eq!(one.ended(), (vec![], vec![]));
    one.arq.expire(ms(140));
    assert_eq!(one.ended(), (vec![100], vec![100]));
    one.answers(141);
    assert_eq!((one.arq.held(), one.arq.deadline()), (0, None));
}

#[test]
fn a_window_that_stands_still_for_too_long_is_reset_by_three_messages() {
    let mut one = Hand::new(ArqConfig { block_lifetime: None, ..CONFIG }, &[100, 100, 100]);
    let _ = one.says(0, 112).expect("block 0");
    one.passes(0, 112);
    one.arq.expire(ms(299));
    assert_eq!(one.ended(), (vec![100], vec![100]), "passed by the receiver");
    let lost = one.arq.answer(ms(299), 500);
    assert!(lost.is_some());
    one.arq.expire(ms(300));
    // Type, CID, step: 4 octets and 10. T22 later it is asked again.
    assert_eq!(one.says(300, 500), Some((14, Content::Reset(Reset::Original))));
    assert_eq!((one.says(300, 500), one.arq.deadline()), (None, Some(ms(800))));
    one.arq.expire(ms(800));
    one.passes(800, 14);
    assert_eq!(one.arq.answer_bytes(), 14);
    assert!(one.says(801, 500).is_none(), "nothing goes before the answer");
    one.answers(801);
    assert_eq!(one.arq.stats.resets, 1);
    assert_eq!(one.says(802, 500), Some((14, Content::Reset(Reset::Confirmation))));
    // Numbers begin anew.
    assert_eq!(one.blocks(802, 500), Some((112, vec![(0, 1)])));
    assert_eq!(one.arq.held(), 1);
}

#[test]
fn a_connection_that_is_gone_gives_all_back_and_begins_anew() {
    let mut one = Hand::new(CONFIG, &[100, 250]);
    one.passes(0, 112);
    let _ = one.says(0, 112);
    let mut left: Vec<u32> = one.arq.release().iter().map(|packet| packet.size_bytes).collect();
    left.sort_unstable();
    assert_eq!(left, [100, 250]);
    one.queue.push_back(90);
    assert_eq!((one.blocks(1, 500), one.arq.held()), (Some((102, vec![(0, 1)])), 1));
}

fn cell(station: StationConfig, arq: ArqConfig) -> CellConfig {
    CellConfig { arq: Some(arq), ..config(&[StationConfig { arq: true, ..station }]) }
}

#[test]
fn feedback_asks_for_bandwidth_as_data_do() {
    let mut work = Work::new(cell(FAST, CONFIG));
    let (_, up) = work.cell.attachments_of(0);
    work.down(us(0), 0, 250);
    // A timer looks at 50 ms whether anything is to be sent again.
    work.until(us(60_000));
    // Preamble, FCH, five symbols of maps; 262 octets and the tail end in the third symbol.
    assert_eq!(work.delivered, [(50 * (3 + 5 + 3), up, 0)]);
    // The request at 2.5 ms; the burst in the next frame. Nothing is sent again.
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.grants, stats.uplink_pdus, stats.padding_bytes), (1, 1, 1, 107 - 19));
    let arq = work.cell.arq_stats(0, Direction::Downlink).expect("it has ARQ");
    assert_eq!((arq.sent_blocks, arq.repeated_blocks, arq.feedback_pdus), (3, 0, 1));
    assert_eq!(work.cell.poll_timeout(), None);
    // The other way the base station answers in the next frame.
    work.up(us(60_000), 0, 250);
    work.until(us(200_000));
    let arq = work.cell.arq_stats(0, Direction::Uplink).expect("it has ARQ");
    assert_eq!((arq.sent_blocks, arq.repeated_blocks, arq.feedback_pdus), (3, 0, 1));
    assert_eq!(work.delivered.len(), 2);
    assert_eq!(work.cell.poll_timeout(), None);
}

/// Packets that are complete behind bursts of these octets, where PDUs have 12 octets around, and cuts are at
/// blocks.
fn complete(capacities: impl IntoIterator<Item = u32>, packet_bytes: u32, block_bytes: u32) -> u64 {
    let (mut packets, mut left) = (0, packet_bytes);
    for capacity in capacities {
        let mut room = capacity;
        while left + 12 <= room {
            room -= left + 12;
            (left, packets) = (packet_bytes, packets + 1);
        }
        left -= room.saturating_sub(12) / block_bytes * block_bytes;
    }
    packets
}

#[test]
fn a_saturated_cell_with_arq_equals_the_closed_form() {
    let arq = ArqConfig { window_blocks: 1024, ..CONFIG };
    for profile in BurstProfile::ALL {
        for bytes in [40, 100, 576, 1000, 1500] {
            let mut work = Work::new(cell(StationConfig { downlink: profile, ..FAST }, arq));
            for frame in 0..41 {
                work.until(us(5000 * frame));
                // What comes as a frame begins is for the next one.
                let more = (48 * Unit::Symbol.bytes(profile) / bytes + 1) * if frame == 0 { 2 } else { 1 };
                (0..more).for_each(|_| work.down(us(5000 * frame), 0, bytes));
            }
            work.until(us(204_999));
            // Feedback has a burst in each second frame: the request goes in one, and what comes in the next
            // is told with it. Maps of such a frame have a symbol more.
            let capacities = (0..41).map(|frame| (40 - frame % 2) * Unit::Symbol.bytes(profile) - 1);
            let found = work.count(work.cell.attachments_of(0).1);
            assert_eq!(found, complete(capacities, bytes, 100), "{profile:?} {bytes}");
            let stats = work.cell.arq_stats(0, Direction::Downlink).expect("it has ARQ");
            assert_eq!(stats.repeated_blocks, 0);
        }
    }
}

/// A cell whose downlink loses a part of its symbols, and which tells of them without loss.
fn lossy(ratio: f64, arq: Option<ArqConfig>) -> Work {
    let mut with = config(&[StationConfig { uplink: BurstProfile::Qam64R23, arq: arq.is_some(), ..FAST }]);
    let mut near = by_radio(vec![at(5.0)], None);
    if let Some(radio) = &mut near.radio {
        let mut errors = BlockErrors { source: "a test".to_owned(), ..BlockErrors::default() };
        errors.points[BurstProfile::Qam64R34 as usize] = vec![(0.0, 1.0), (1.0, ratio), (200.0, ratio)];
        radio.block_errors = errors;
    }
    near.station.known_descriptors = true;
    (near.downlink_descriptor, near.uplink_descriptor) = ((0, 1_000_000), (0, 1_000_000));
    (with.arq, with.entry) = (arq, Some(near));
    let mut work = Work::new(with);
    go_on(&mut work, 999_999);
    assert!(work.cell.is_served(0));
    work
}

#[test]
fn goodput_under_independent_losses_is_what_arrives_the_first_time() {
    // A PDU of 528 octets and 12 is five symbols; each frame has room for seven, and none is cut. Each
    // arrives with (1 - p)^5.
    let arq = ArqConfig {
        block_bytes: 528,
        window_blocks: 1024,
        block_lifetime: None,
        sync_loss_timeout: None,
        purge_timeout: None,
        ..CONFIG
    };
    for ratio in [0.02, 0.1, 0.2] {
        let mut work = lossy(ratio, Some(arq));
        let frames = 2000;
        for frame in 0..frames {
            let now = us(1_000_000 + 5000 * frame);
            go_on(&mut work, 1_000_000 + 5000 * frame);
            // What comes as a frame begins is for the next one.
            (0..if frame == 0 { 14 } else { 7 }).for_each(|_| work.down(now, 0, 528));
        }
        let stats = work.cell.arq_stats(0, Direction::Downlink).expect("it has ARQ");
        let sent = stats.sent_blocks + stats.repeated_blocks;
        // What is lost is told of by what comes behind it, unless nothing does for 50 ms.
        assert!(stats.timed_out_blocks * 200 < stats.repeated_blocks, "{ratio}: {stats:?}");
        assert_eq!(stats.duplicate_blocks, 0, "{ratio}");
        assert_eq!(sent, 7 * frames, "{ratio}");
        let good = libm::pow(1.0 - ratio, 5.0);
        // Delivered in order: at the end some wait for others.
        let found = work.delivered.len() as f64 / sent as f64;
        let deviation = (good * (1.0 - good) / sent as f64).sqrt();
        assert!((found - good).abs() < 4.0 * deviation + 0.005, "{ratio}: {found} for {good}");
        // Nothing is lost: what is left arrives.
        go_on(&mut work, 60_000_000);
        assert_eq!((work.delivered.len() as u64, work.dropped.len()), (7 * (frames + 1), 0));
        let stats = work.cell.arq_stats(0, Direction::Downlink).expect("it has ARQ");
        // How often a block goes is geometric: 1 / good in the mean, and sqrt(1 - good) / good its deviation.
        let mean = (stats.sent_blocks + stats.repeated_blocks) as f64 / stats.sent_blocks as f64;
        let deviation = (1.0 - good).sqrt() / good / (stats.sent_blocks as f64).sqrt();
        assert!((mean - 1.0 / good).abs() < 4.0 * deviation, "{ratio}: {mean} for {}", 1.0 / good);
    }
}

#[test]
fn a_lifetime_bounds_how_often_a_packet_goes() {
    // Each 250 ms one packet of one PDU of five symbols. What is lost is told by nobody, as nothing comes
    // behind it: it goes again 50, 100 and 150 ms later, and is given up after 190 ms: four times in all.
    let arq = ArqConfig { block_bytes: 528, block_lifetime: Some(Span::from_ms(190)), ..CONFIG };
    let mut work = lossy(0.2, Some(ArqConfig { deliver_in_order: false, window_blocks: 1, ..arq }));
    let packets = 3000;
    for number in 0..packets {
        go_on(&mut work, 1_000_000 + 250_000 * number);
        work.down(us(1_000_000 + 250_000 * number), 0, 528);
    }
    go_on(&mut work, 900_000_000);
    let good = libm::pow(0.8, 5.0);
    let lost = libm::pow(1.0 - good, 4.0);
    let found = work.dropped.len() as f64 / packets as f64;
    let deviation = (lost * (1.0 - lost) / packets as f64).sqrt();
    assert!((found - lost).abs() < 4.0 * deviation, "{found} for {lost}");
    assert_eq!(work.delivered.len() + work.dropped.len(), packets as usize);
}
