//! Accurate feedback of ECN marks (AccECN, RFC 9768): counts of the packets and octets with each codepoint.
//!
//! - A receiver counts packets with CE (r.cep), and payload octets by ECT(0), CE and ECT(1) (3.2).
//! - Its segments carry the last three bits of r.cep in AE, CWR and ECE (the ACE field, 3.2.2). Segments
//!   with room carry the octets in an option (3.2.3).
//! - A sender follows both counts (3.2.2.5, 3.2.3.3, appendix A). Its congestion control takes an
//!   acknowledgement with new marks as one with ECE.
//!
//! Not modelled: options with fewer than three counters are neither sent nor read; ECT on control packets;
//! tests for mangled fields beyond a zeroed ACE (3.2.2.4).

use super::segment::{AccurateOption, Flags};

/// The ECN field of a packet (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codepoint {
    /// Not-ECT.
    #[default]
    NotCapable,
    /// ECT(1).
    Capable1,
    /// ECT(0).
    Capable0,
    /// CE.
    Marked,
}

/// Counters of three octets wrap here (RFC 9768 3.2.3).
const WRAP: u32 = 1 << 24;

/// Marked packets after which an acknowledgement leaves at once (3.2.2.5.1: 2 to 6; chosen, as Linux: 2).
const MARKS_AN_ACK: u32 = 2;

/// The kinds of ECN that the flags of a SYN or SYN-ACK select (table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Accurate,
    Classic,
    Without,
}

/// The offer of a SYN. Undefined flags count as AccECN (3.1.3).
pub(super) fn read_syn(flags: Flags) -> Answer {
    match ace(flags) {
        0 => Answer::Without,
        0b011 => Answer::Classic,
        _ => Answer::Accurate,
    }
}

/// The answer of a SYN-ACK to AccECN: 0b101 is a nonce of RFC 3540, 0b111 a reflected SYN.
pub(super) fn read_syn_ack(flags: Flags) -> Answer {
    match ace(flags) {
        0b010 | 0b011 | 0b100 | 0b110 => Answer::Accurate,
        0b001 | 0b101 => Answer::Classic,
        _ => Answer::Without,
    }
}

/// AE, CWR and ECE as a number.
pub(super) fn ace(flags: Flags) -> u32 {
    u32::from(flags.contains(Flags::AE)) << 2
        | u32::from(flags.contains(Flags::CWR)) << 1
        | u32::from(flags.contains(Flags::ECE))
}

/// A number as AE, CWR and ECE.
fn flags_of(ace: u32) -> Flags {
    let flag = |bit: u32, flag| if ace >> bit & 1 == 1 { flag } else { Flags::NONE };
    flag(2, Flags::AE) | flag(1, Flags::CWR) | flag(0, Flags::ECE)
}

/// Both directions of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccurateEcn {
    /// Packets with CE: r.cep.
    marked_packets: u32,
    /// Octets in packets with CE, ECT(0) and ECT(1): r.ceb, r.e0b, r.e1b.
    octets: AccurateOption,
    /// The codepoint of the previous packet.
    before: Codepoint,
    /// The octets have changed since the last option.
    tells: bool,
    /// Marked packets since the last acknowledgement left.
    untold: u32,
    /// The codepoint of the peer's SYN, until this end has acknowledged it.
    handshake: Option<Codepoint>,
    /// The peer's counts as this end knows them: s.cep and s.ceb.
    peer_marked_packets: u32,
    peer_marked_octets: u32,
    /// Marked octets that the peer has reported and not yet acknowledged.
    ahead_bytes: u64,
    /// Octets estimated without an option; a later option reports them again.
    estimated_bytes: u64,
    /// Only the handshake has arrived.
    is_first: bool,
    /// The path carries the field.
    pub(super) carries: bool,
}

/// The marks that an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Marked packets since the last acknowledgement.
    pub(super) packets: u32,
    /// Marked octets, reported now or before, that this segment acknowledges.
    pub(super) bytes: u64,
    /// It reports new marks.
    pub(super) is_new: bool,
}

impl AccurateEcn {
    /// The initial counters (3.2.1), if the peer's SYN or SYN-ACK had this codepoint.
    pub(super) fn new(handshake: Codepoint) -> AccurateEcn {
        AccurateEcn {
            marked_packets: 5,
            octets: AccurateOption { marked: 0, capable0: 1, capable1: 1 },
            before: Codepoint::NotCapable,
            tells: true,
            untold: 0,
            handshake: Some(handshake),
            peer_marked_packets: 5,
            peer_marked_octets: 0,
            ahead_bytes: 0,
            estimated_bytes: 0,
            is_first: true,
            carries: true,
        }
    }

    /// Counts an arrived packet and its octets. True if it must be acknowledged at once: at every second
    /// mark, and when the codepoint of data changes (3.2.2.5.1 and 3.2.3.3).
    pub(super) fn on_packet(&mut self, codepoint: Codepoint, bytes: u32) -> bool {
        let counter = match codepoint {
            Codepoint::NotCapable => None,
            Codepoint::Capable1 => Some(&mut self.octets.capable1),
            Codepoint::Capable0 => Some(&mut self.octets.capable0),
            Codepoint::Marked => Some(&mut self.octets.marked),
        };
        if let Some(counter) = counter.filter(|_| bytes > 0) {
            *counter = counter.wrapping_add(bytes) % WRAP;
            self.tells = true;
        }
        let is_marked = codepoint == Codepoint::Marked;
        self.marked_packets += u32::from(is_marked);
        self.untold += u32::from(is_marked);
        let changes = bytes > 0 && std::mem::replace(&mut self.before, codepoint) != codepoint;
        bytes > 0 && (changes || self.untold >= MARKS_AN_ACK)
    }

    /// The flags of a segment: on a SYN-ACK and its acknowledgement the codepoint of the SYN (tables 2 and
    /// 3), otherwise the count.
    pub(super) fn flags(&mut self, is_syn_ack: bool) -> Flags {
        let said = if is_syn_ack { self.handshake } else { self.handshake.take() };
        self.untold = 0;
        flags_of(match said {
            Some(Codepoint::NotCapable) => 0b010,
            Some(Codepoint::Capable1) => 0b011,
            Some(Codepoint::Capable0) => 0b100,
            Some(Codepoint::Marked) => 0b110,
            None => self.marked_packets % 8,
        })
    }

    /// A SYN-ACK has left with the SYN's codepoint; later segments carry the count.
    pub(super) fn end_handshake(&mut self) {
        self.handshake = None;
    }

    /// The option, for a segment with room for it.
    pub(super) fn option(&mut self) -> Option<AccurateOption> {
        std::mem::take(&mut self.tells).then_some(self.octets)
    }

    /// Reads the codepoint of the SYN-ACK from its acknowledgement (table 3). If it was marked, the peer has
    /// counted it. Zero means that the path erases the field.
    pub(super) fn on_handshake_ack(&mut self, flags: Flags) {
        let ace = ace(flags);
        self.carries &= ace != 0;
        if ace == 0b110 {
            self.peer_marked_packets = 6;
        }
    }

    /// Reads field and option of a segment that acknowledges `acked` new octets out of those outstanding, in
    /// segments of `smss`. A field that is zero in the first segment means that the path erases it (3.2.2.4).
    ///
    /// A segment that acknowledges nothing new may have been overtaken. Its field and option are then older,
    /// by less than half of the range.
    pub(super) fn on_ack(
        &mut self,
        flags: Flags,
        option: Option<AccurateOption>,
        (acked, unacknowledged): (u64, u64),
        smss: u64,
    ) -> Told {
        let ace = ace(flags);
        if std::mem::take(&mut self.is_first) && ace == 0 {
            self.carries = false;
        }
        let modulo = ace.wrapping_sub(self.peer_marked_packets) % 8;
        let more = option.map(|option| option.marked.wrapping_sub(self.peer_marked_octets) % WRAP);
        let is_overtaken = acked == 0 && modulo >= 4 || more.is_some_and(|more| more >= WRAP / 2);
        if !self.carries || is_overtaken {
            return Told::default();
        }
        let counted = more.map(|more| {
            self.peer_marked_octets = (self.peer_marked_octets + more) % WRAP;
            let known = self.estimated_bytes.min(u64::from(more));
            self.estimated_bytes -= known;
            u64::from(more) - known
        });
        // Appendix A.2: without the option, as many as may be where the field may have wrapped.
        let most = acked.div_ceil(smss.max(1)).min(1 << 20) as u32;
        let packets = match counted {
            Some(bytes) => {
                let by_bytes = bytes.div_ceil(smss.max(1)) as u32;
                modulo + by_bytes.saturating_sub(modulo) / 8 * 8
            }
            None if most > 7 => most - (most - modulo) % 8,
            None => modulo,
        };
        self.peer_marked_packets = self.peer_marked_packets.wrapping_add(packets);
        let new_bytes = counted.unwrap_or_else(|| {
            let estimate = (u64::from(packets) * smss).min(unacknowledged);
            self.estimated_bytes += estimate;
            estimate
        });
        self.ahead_bytes += new_bytes;
        let bytes = self.ahead_bytes.min(acked);
        self.ahead_bytes -= bytes;
        Told { packets, bytes, is_new: packets > 0 || new_bytes > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(marked: u32) -> Option<AccurateOption> {
        Some(AccurateOption { marked, capable0: 1, capable1: 1 })
    }

    #[test]
    fn syns_and_their_answers_are_read_by_table_2() {
        let syn = [0b000, 0b011, 0b111, 0b100].map(|ace| read_syn(flags_of(ace)));
        assert_eq!(syn, [Answer::Without, Answer::Classic, Answer::Accurate, Answer::Accurate]);
        let answers: Vec<_> = (0..8).map(|ace| read_syn_ack(flags_of(ace))).collect();
        let (a, c, w) = (Answer::Accurate, Answer::Classic, Answer::Without);
        assert_eq!(answers, [w, c, a, a, a, c, a, w]);
    }

    #[test]
    fn the_field_counts_from_five_and_wraps() {
        let mut end = AccurateEcn::new(Codepoint::Capable1);
        // The SYN-ACK and the acknowledgement of one say what the SYN did, then 5.
        assert_eq!(
            [ace(end.flags(true)), ace(end.flags(false)), ace(end.flags(false))],
            [0b011, 0b011, 0b101]
        );
        for _ in 0..4 {
            end.on_packet(Codepoint::Marked, 1000);
        }
        // 5 + 4 = 9.
        assert_eq!(ace(end.flags(false)), 1);
    }

    #[test]
    fn a_change_and_every_second_mark_are_acknowledged_at_once() {
        let mut end = AccurateEcn::new(Codepoint::NotCapable);
        use Codepoint::{Capable0, Marked};
        let said =
            [Capable0, Capable0, Marked, Marked, Marked, Capable0].map(|said| end.on_packet(said, 100));
        assert_eq!(said, [true, false, true, true, true, true]);
        end.flags(false);
        assert!(!end.on_packet(Capable0, 100));
        assert_eq!(end.octets, AccurateOption { marked: 300, capable0: 401, capable1: 1 });
    }

    fn told(packets: u32, bytes: u64, is_new: bool) -> Told {
        Told { packets, bytes, is_new }
    }

    #[test]
    fn a_sender_follows_the_field_and_the_octets() {
        let mut end = AccurateEcn::new(Codepoint::NotCapable);
        let sent = 20_000;
        // Two marks, by the field alone: octets are taken as whole segments.
        assert_eq!(end.on_ack(flags_of(7), None, (4000, sent), 1000), told(2, 2000, true));
        assert_eq!(end.on_ack(flags_of(7), None, (4000, sent), 1000), told(0, 0, false));
        // Ten segments are acknowledged, and the field stands: it may have gone around, 8 of 10.
        assert_eq!(end.on_ack(flags_of(7), None, (10_000, sent), 1000), told(8, 8000, true));
        // One more, and from here the option says octets: 10,500, of which 10,000 are known.
        assert_eq!(end.on_ack(flags_of(0), option(10_500), (10_000, sent), 1000), told(1, 500, true));
        // The field stands, and the option says nine segments: 8 is what the field can have gone around by.
        assert_eq!(end.on_ack(flags_of(0), option(19_500), (9000, sent), 1000), told(8, 9000, true));
        // An older option changes nothing, with the field that went with it.
        assert_eq!(end.on_ack(flags_of(7), option(10_000), (1000, sent), 1000), told(0, 0, false));
        assert_eq!((end.peer_marked_octets, end.peer_marked_packets % 8), (19_500, 0));
    }

    #[test]
    fn a_field_that_was_overtaken_counts_nothing() {
        let mut end = AccurateEcn::new(Codepoint::NotCapable);
        // 7 comes before 6: the latter is behind by one, not ahead by seven.
        assert_eq!(end.on_ack(flags_of(7), None, (0, 9000), 1000), told(2, 0, true));
        assert_eq!(end.on_ack(flags_of(6), None, (0, 9000), 1000), told(0, 0, false));
        assert_eq!(end.on_ack(flags_of(7), None, (3000, 9000), 1000), told(0, 2000, false));
    }

    #[test]
    fn a_mark_of_a_short_segment_is_no_longer_than_what_was_sent() {
        let mut end = AccurateEcn::new(Codepoint::NotCapable);
        assert_eq!(end.on_ack(flags_of(6), None, (100, 100), 1000), told(1, 100, true));
        assert_eq!(end.on_ack(flags_of(6), None, (100, 100), 1000), told(0, 0, false));
    }

    #[test]
    fn octets_told_ahead_of_their_acknowledgement_wait_for_it() {
        let mut end = AccurateEcn::new(Codepoint::NotCapable);
        assert_eq!(end.on_ack(flags_of(6), option(1000), (0, 3000), 1000), told(1, 0, true));
        assert_eq!(end.on_ack(flags_of(6), option(1000), (3000, 3000), 1000), told(0, 1000, false));
    }

    #[test]
    fn a_field_that_begins_at_zero_is_not_carried() {
        let mut end = AccurateEcn::new(Codepoint::NotCapable);
        assert_eq!(end.on_ack(Flags::NONE, None, (1000, 1000), 1000), Told::default());
        assert!(!end.carries);
    }
}
