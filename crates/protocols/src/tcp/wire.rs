//! The TCP header on the wire (RFC 9293 3.1, options 3.2; RFC 7323 for window scale and timestamps, RFC 2018
//! for SACK, RFC 9768 for AccECN with all three counters, RFC 7413 for Fast Open, RFC 5482 for the user
//! timeout).
//!
//! The urgent pointer is sent as zero and not read. Options other than these, MSS, end of list and
//! no-operation are passed over by their length, as are those of a wrong length for their kind.

use std::fmt;

use super::fast_open::Cookie;
use super::segment::{self, AccurateOption, Flags, Options, Segment, Timestamps};
use super::user_timeout::UserTimeout;
use crate::checksum::Sum;

const KIND_END: u8 = 0;
const KIND_NO_OPERATION: u8 = 1;
const KIND_MSS: u8 = 2;
const KIND_WINDOW_SCALE: u8 = 3;
const KIND_SACK_PERMITTED: u8 = 4;
const KIND_SACK: u8 = 5;
const KIND_TIMESTAMPS: u8 = 8;
const KIND_USER_TIMEOUT: u8 = 28;
const KIND_FAST_OPEN: u8 = 34;
/// AccECN in the orders ECT(0), CE, ECT(1) and ECT(1), CE, ECT(0).
const KIND_ACCURATE_0: u8 = 172;
const KIND_ACCURATE_1: u8 = 174;

const HEADER_BYTES: usize = segment::HEADER_BYTES as usize;

/// Why octets are no TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer octets than the header needs.
    Truncated {
        /// Octets there are.
        have: usize,
        /// Octets the header needs.
        need: usize,
    },
    /// The data offset is below the 5 words of a header without options.
    DataOffset {
        /// The field, in 32-bit words.
        words: u8,
    },
    /// An option's length is below 2 or runs past the header.
    OptionLength {
        /// The option's kind.
        kind: u8,
        /// Where the option starts, in octets from the segment's start.
        at: usize,
    },
    /// The checksum does not fit.
    Checksum {
        /// The field in the header.
        found: u16,
        /// What it should be.
        expected: u16,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated { have, need } => {
                write!(f, "TCP header truncated: {have} octets of {need}")
            }
            DecodeError::DataOffset { words } => write!(f, "TCP data offset {words} is below 5 words"),
            DecodeError::OptionLength { kind, at } => {
                write!(f, "TCP option of kind {kind} at octet {at} has an impossible length")
            }
            DecodeError::Checksum { found, expected } => {
                write!(f, "TCP checksum {found:#06x}, expected {expected:#06x}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Appends the segment's header and `payload` to `out`. SACK blocks that the header has no room for are left
/// out.
///
/// `pseudo_header_sum` is the sum of the 16-bit words of the pseudo-header (RFC 9293 3.1, RFC 8200 8.1), its
/// length field included, without folding or complement. The payload's length is that of `payload`, whatever
/// `segment.payload_bytes` says.
pub fn encode(segment: &Segment, payload: &[u8], pseudo_header_sum: u32, out: &mut Vec<u8>) {
    let start = out.len();
    let header_bytes = segment.header_bytes();
    out.extend_from_slice(&segment.source_port.to_be_bytes());
    out.extend_from_slice(&segment.destination_port.to_be_bytes());
    out.extend_from_slice(&segment.seq.to_be_bytes());
    out.extend_from_slice(&segment.ack.to_be_bytes());
    // Data offset in words: at most 15 (see `Options::bytes`).
    out.push(((header_bytes / 4) as u8) << 4 | (segment.flags.0 >> 8) as u8 & 1);
    out.push(segment.flags.0 as u8);
    out.extend_from_slice(&segment.window.to_be_bytes());
    out.extend_from_slice(&[0; 4]); // checksum and urgent pointer
    if let Some(mss) = segment.options.mss {
        out.extend_from_slice(&[KIND_MSS, 4]);
        out.extend_from_slice(&mss.to_be_bytes());
    }
    if let Some(shift) = segment.options.window_scale {
        out.extend_from_slice(&[KIND_NO_OPERATION, KIND_WINDOW_SCALE, 3, shift]);
    }
    if let Some(timestamps) = segment.options.timestamps {
        // The layout that RFC 7323 appendix A recommends.
        out.extend_from_slice(&[KIND_NO_OPERATION, KIND_NO_OPERATION, KIND_TIMESTAMPS, 10]);
        out.extend_from_slice(&timestamps.value.to_be_bytes());
        out.extend_from_slice(&timestamps.echo_reply.to_be_bytes());
    }
    if segment.options.sack_permitted {
        out.extend_from_slice(&[KIND_NO_OPERATION, KIND_NO_OPERATION, KIND_SACK_PERMITTED, 2]);
    }
    if let Some(AccurateOption { marked, capable0, capable1 }) = segment.options.sack.accurate() {
        out.extend_from_slice(&[KIND_NO_OPERATION, KIND_ACCURATE_0, 11]);
        for counter in [capable0, marked, capable1] {
            out.extend_from_slice(&counter.to_be_bytes()[1..]);
        }
    }
    if let Some(cookie) = segment.options.sack.fast_open() {
        let octets = cookie.octets();
        let no_operations = cookie.option_bytes() as usize - 2 - octets.len();
        out.extend(std::iter::repeat_n(KIND_NO_OPERATION, no_operations));
        out.extend_from_slice(&[KIND_FAST_OPEN, 2 + octets.len() as u8]);
        out.extend_from_slice(octets);
    }
    if let Some(option) = segment.options.sack.user_timeout() {
        out.extend_from_slice(&[KIND_USER_TIMEOUT, 4]);
        out.extend_from_slice(&option.field().to_be_bytes());
    }
    let blocks = segment.options.sack.as_slice();
    let blocks = &blocks[..blocks.len().min(segment.options.sack_blocks_that_fit())];
    if !blocks.is_empty() {
        let length = 2 + 8 * blocks.len() as u8;
        out.extend_from_slice(&[KIND_NO_OPERATION, KIND_NO_OPERATION, KIND_SACK, length]);
        for (left, right) in blocks {
            out.extend_from_slice(&left.to_be_bytes());
            out.extend_from_slice(&right.to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    let checksum = checksum(&out[start..], pseudo_header_sum);
    out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// The segment at the start of `octets`, and its payload, which reaches to their end.
///
/// With `pseudo_header_sum` (see [`encode`]) the checksum is verified; without it is not looked at.
pub fn decode(octets: &[u8], pseudo_header_sum: Option<u32>) -> Result<(Segment, &[u8]), DecodeError> {
    let Some((header, _)) = octets.split_first_chunk::<HEADER_BYTES>() else {
        return Err(DecodeError::Truncated { have: octets.len(), need: HEADER_BYTES });
    };
    let words = header[12] >> 4;
    if words < 5 {
        return Err(DecodeError::DataOffset { words });
    }
    let header_bytes = usize::from(words) * 4;
    let Some((whole_header, payload)) = octets.split_at_checked(header_bytes) else {
        return Err(DecodeError::Truncated { have: octets.len(), need: header_bytes });
    };
    if let Some(sum) = pseudo_header_sum {
        let found = u16_at(header, 16);
        // The sum over the segment with its field in place is zero; without it, what the field should be.
        if checksum(octets, sum) != 0 {
            let mut cleared = octets.to_vec();
            cleared[16..18].fill(0);
            return Err(DecodeError::Checksum { found, expected: checksum(&cleared, sum) });
        }
    }
    let segment = Segment {
        source_port: u16_at(header, 0),
        destination_port: u16_at(header, 2),
        seq: u32_at(header, 4),
        ack: u32_at(header, 8),
        flags: Flags(u16::from(header[12] & 1) << 8 | u16::from(header[13])),
        window: u16_at(header, 14),
        payload_bytes: u32::try_from(payload.len()).unwrap_or(u32::MAX),
        options: decode_options(whole_header)?,
    };
    Ok((segment, payload))
}

fn decode_options(header: &[u8]) -> Result<Options, DecodeError> {
    let mut options = Options::default();
    let mut at = HEADER_BYTES;
    while at < header.len() {
        let kind = header[at];
        match kind {
            KIND_END => break,
            KIND_NO_OPERATION => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let length = header.get(at + 1).map_or(0, |&length| usize::from(length));
        let Some(option) = header.get(at..at + length).filter(|_| length >= 2) else {
            return Err(DecodeError::OptionLength { kind, at });
        };
        match (kind, option) {
            (KIND_MSS, &[_, _, high, low]) => options.mss = Some(u16::from_be_bytes([high, low])),
            (KIND_WINDOW_SCALE, &[_, _, shift]) => options.window_scale = Some(shift),
            (KIND_TIMESTAMPS, option) if length == 10 => {
                options.timestamps =
                    Some(Timestamps { value: u32_at(option, 2), echo_reply: u32_at(option, 6) });
            }
            (KIND_SACK_PERMITTED, &[_, _]) => options.sack_permitted = true,
            (KIND_SACK, option) if length % 8 == 2 => {
                options.sack.clear();
                for block in option[2..].chunks_exact(8) {
                    options.sack.push(u32_at(block, 0), u32_at(block, 4));
                }
            }
            (KIND_ACCURATE_0 | KIND_ACCURATE_1, option) if length == 11 => {
                let counter = |at: usize| u32_at(option, at) >> 8;
                // The last counter has no octet behind it.
                let (first, marked, last) = (counter(2), counter(5), u32_at(option, 7) & 0x00FF_FFFF);
                let (capable0, capable1) =
                    if kind == KIND_ACCURATE_0 { (first, last) } else { (last, first) };
                options.sack.set_accurate(AccurateOption { marked, capable0, capable1 });
            }
            (KIND_USER_TIMEOUT, &[_, _, high, low]) => {
                if let Some(option) = UserTimeout::from_field(u16::from_be_bytes([high, low])) {
                    options.sack.set_user_timeout(option);
                }
            }
            (KIND_FAST_OPEN, &[_, _]) => options.sack.set_fast_open(Cookie::REQUEST),
            (KIND_FAST_OPEN, option) => {
                if let Some(cookie) = Cookie::new(&option[2..]) {
                    options.sack.set_fast_open(cookie);
                }
            }
            _ => {}
        }
        at += length;
    }
    Ok(options)
}

fn checksum(octets: &[u8], pseudo_header_sum: u32) -> u16 {
    Sum::from(pseudo_header_sum).with(octets).finish()
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roamsim_engine::Span;

    fn syn() -> Segment {
        Segment {
            source_port: 0x1234,
            destination_port: 0x0050,
            seq: 0x0102_0304,
            ack: 0,
            flags: Flags::SYN,
            window: 0xFFFF,
            payload_bytes: 0,
            options: Options { mss: Some(1460), window_scale: Some(7), ..Options::default() },
        }
    }

    #[test]
    fn a_syn_octet_by_octet() {
        let mut octets = Vec::new();
        encode(&syn(), &[], 0x001C + 6, &mut octets);
        // Words: 1234 0050 0102 0304 0000 0000 7002 FFFF 0000 0000 0204 05B4 0103 0307, and 0022 of the
        // pseudo-header. Their sum is 1926F, folded 9270, complement 6D8F.
        assert_eq!(
            octets,
            [
                0x12, 0x34, 0x00, 0x50, 0x01, 0x02, 0x03, 0x04, 0, 0, 0, 0, 0x70, 0x02, 0xFF, 0xFF, 0x6D,
                0x8F, 0, 0, 2, 4, 0x05, 0xB4, 1, 3, 3, 7
            ]
        );
        assert_eq!(decode(&octets, Some(0x22)), Ok((syn(), &[][..])));
        assert_eq!(
            decode(&octets, Some(0x23)),
            Err(DecodeError::Checksum { found: 0x6D8F, expected: 0x6D8E })
        );
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let mut octets = Vec::new();
        encode(&syn(), &[], 0, &mut octets);
        assert_eq!(decode(&octets[..19], None), Err(DecodeError::Truncated { have: 19, need: 20 }));
        assert_eq!(decode(&octets[..24], None), Err(DecodeError::Truncated { have: 24, need: 28 }));
        let with = |at: usize, value: u8| {
            let mut changed = octets.clone();
            changed[at] = value;
            decode(&changed, None).map(|(segment, _)| segment.options)
        };
        assert_eq!(with(12, 0x40), Err(DecodeError::DataOffset { words: 4 }));
        assert_eq!(with(21, 1), Err(DecodeError::OptionLength { kind: 2, at: 20 }));
        assert_eq!(with(26, 4), Err(DecodeError::OptionLength { kind: 3, at: 25 }));
        // A kind that is not known, and MSS with another kind's length, are passed over.
        assert_eq!(with(20, 99).map(|o| (o.mss, o.window_scale)), Ok((None, Some(7))));
        assert_eq!(with(20, 3).map(|o| (o.mss, o.window_scale)), Ok((None, Some(7))));
        // The end of the list ends it.
        assert_eq!(with(24, 0).map(|o| o.window_scale), Ok(None));
    }

    #[test]
    fn sack_octet_by_octet() {
        let mut segment = Segment { flags: Flags::ACK, options: Options::default(), ..syn() };
        segment.options.sack.push(0x0102_0304, 0x0506_0708);
        let mut octets = Vec::new();
        encode(&segment, &[], 0, &mut octets);
        // 20 + 2 no-operations + 2 + 8 = 32 octets: 8 words.
        assert_eq!(octets[12], 0x80);
        assert_eq!(octets[20..], [1, 1, 5, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        let permitted = Options { sack_permitted: true, ..Options::default() };
        octets.clear();
        encode(&Segment { options: permitted, ..segment }, &[], 0, &mut octets);
        assert_eq!(octets[20..], [1, 1, 4, 2]);
    }

    /// 40 octets of options: 12 for timestamps leave 28, of which 4 + 3 x 8 = 28 are three blocks.
    #[test]
    fn the_fourth_block_has_no_room_beside_timestamps() {
        let mut segment = syn();
        segment.options = Options::default();
        for i in 0..5 {
            segment.options.sack.push(i, i + 1);
        }
        assert_eq!(segment.header_bytes(), 20 + 4 + 4 * 8);
        segment.options.timestamps = Some(Timestamps { value: 1, echo_reply: 2 });
        assert_eq!(segment.header_bytes(), 60);
        let mut octets = Vec::new();
        encode(&segment, &[], 0, &mut octets);
        let (decoded, _) = decode(&octets, None).expect("it is well formed");
        assert_eq!(decoded.options.sack.as_slice(), [(0, 1), (1, 2), (2, 3)]);
    }

    /// MSS 4, SACK permitted 2 and four blocks 34: 40 octets, read whole. Written with no-operations before
    /// them the options need 4 + 4 + 4 + 32, so the fourth block has no room.
    #[test]
    fn options_that_stood_closer_lose_a_block_when_they_are_written() {
        let mut octets = Vec::new();
        encode(&Segment { options: Options::default(), ..syn() }, &[], 0, &mut octets);
        octets[12] = 15 << 4;
        octets.extend([KIND_MSS, 4, 12, 4, KIND_SACK_PERMITTED, 2, KIND_SACK, 34]);
        octets.extend([7; 32]);
        let (segment, _) = decode(&octets, None).expect("it is well formed");
        assert_eq!(segment.options.sack.as_slice().len(), 4);
        let mut written = Vec::new();
        encode(&segment, &[], 0, &mut written);
        let (again, _) = decode(&written, Some(0)).expect("it was written here");
        assert_eq!(again.options.mss, Some(12 << 8 | 4));
        assert_eq!(again.options.sack.as_slice(), &segment.options.sack.as_slice()[..3]);
    }

    /// A request has 2 octets and as many no-operations, a cookie of 8 octets 2 + 8 with 2 no-operations.
    #[test]
    fn fast_open_octet_by_octet() {
        let mut segment = Segment { options: Options::default(), ..syn() };
        segment.options.sack.set_fast_open(Cookie::REQUEST);
        let mut octets = Vec::new();
        encode(&segment, &[], 0, &mut octets);
        assert_eq!(octets[20..], [1, 1, 34, 2]);
        assert_eq!(decode(&octets, Some(0)), Ok((segment.clone(), &[][..])));
        let cookie = [1, 2, 3, 4, 5, 6, 7, 8];
        segment.options.sack.set_fast_open(Cookie::new(&cookie).expect("8 octets"));
        octets.clear();
        encode(&segment, &[9], 0, &mut octets);
        assert_eq!(octets[20..], [1, 1, 34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(octets[12], 0x80);
        // Lengths that no cookie has are passed over.
        for length in [3, 4, 5, 7, 9] {
            octets[23] = length;
            octets[20 + 2 + usize::from(length)..32].fill(1);
            let (decoded, _) = decode(&octets, None).expect("it is well formed");
            assert_eq!(decoded.options, Options::default(), "{length}");
        }
    }

    /// 90 s are 0x005A; 600 minutes 0x8258. No time, in seconds or minutes, is reserved and passed over.
    #[test]
    fn the_user_timeout_octet_by_octet() {
        let mut segment = Segment { options: Options::default(), ..syn() };
        for (seconds, field) in [(90, [0x00, 0x5A]), (36_000, [0x82, 0x58])] {
            segment.options.sack.set_user_timeout(UserTimeout::of(Span::from_secs(seconds)));
            let mut octets = Vec::new();
            encode(&segment, &[], 0, &mut octets);
            assert_eq!(octets[20..], [28, 4, field[0], field[1]]);
            assert_eq!(decode(&octets, Some(0)), Ok((segment.clone(), &[][..])));
            octets[23] = 0;
            octets[22] &= 0x80;
            let (decoded, _) = decode(&octets, None).expect("it is well formed");
            assert_eq!(decoded.options, Options::default());
        }
    }

    prop_compose! {
        fn any_segment()(
            ports in any::<(u16, u16)>(),
            numbers in any::<(u32, u32)>(),
            flags in any::<u16>(),
            window in any::<u16>(),
            mss in any::<Option<u16>>(),
            window_scale in any::<Option<u8>>(),
            timestamps in any::<Option<(u32, u32)>>(),
            sack_permitted in any::<bool>(),
            accurate in any::<Option<[u32; 3]>>(),
            user_timeout in any::<Option<u16>>(),
            fast_open in prop::option::of(prop::sample::select(vec![0_usize, 4, 6, 8, 16])),
            blocks in prop::collection::vec(any::<(u32, u32)>(), 0..5),
        ) -> Segment {
            let mut options = Options {
                mss,
                window_scale,
                timestamps: timestamps.map(|(value, echo_reply)| Timestamps { value, echo_reply }),
                sack_permitted,
                ..Options::default()
            };
            if let Some(option) = user_timeout.and_then(UserTimeout::from_field) {
                options.sack.set_user_timeout(option);
            }
            if let Some(cookie) = fast_open.and_then(|length| match length {
                0 => Some(Cookie::REQUEST),
                _ => Cookie::new(&[7; 16][..length]),
            }) && options.bytes() + cookie.option_bytes() <= 40
            {
                options.sack.set_fast_open(cookie);
            }
            if let Some([marked, capable0, capable1]) = accurate.map(|three| three.map(|counter| counter >> 8))
                && options.bytes() + AccurateOption::BYTES <= 40
            {
                options.sack.set_accurate(AccurateOption { marked, capable0, capable1 });
            }
            for (left, right) in blocks.into_iter().take(options.sack_blocks_that_fit()) {
                options.sack.push(left, right);
            }
            Segment {
                source_port: ports.0,
                destination_port: ports.1,
                seq: numbers.0,
                ack: numbers.1,
                flags: Flags(flags % 512),
                window,
                payload_bytes: 0,
                options,
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            segment in any_segment(),
            payload in prop::collection::vec(any::<u8>(), 0..100),
            sum in any::<u32>(),
            before in prop::collection::vec(any::<u8>(), 0..7),
        ) {
            let segment = Segment { payload_bytes: payload.len() as u32, ..segment };
            let mut octets = before.clone();
            encode(&segment, &payload, sum, &mut octets);
            prop_assert_eq!(octets.len() - before.len(), segment.total_bytes() as usize);
            prop_assert_eq!(decode(&octets[before.len()..], Some(sum)), Ok((segment, &payload[..])));
        }

        #[test]
        fn any_octets_are_survived(octets in prop::collection::vec(any::<u8>(), 0..80), sum in any::<Option<u32>>()) {
            let _ = decode(&octets, sum);
        }

        /// A valid offset makes the option parser run on arbitrary options.
        #[test]
        fn any_options_are_survived(mut octets in prop::collection::vec(any::<u8>(), 60..80), words in 5u8..16) {
            octets[12] = words << 4;
            if let Ok((segment, payload)) = decode(&octets, None) {
                prop_assert_eq!(payload.len(), octets.len() - usize::from(words) * 4);
                prop_assert_eq!(segment.payload_bytes as usize, payload.len());
            }
        }
    }
}
