//! A TCP segment as the simulator carries it: the header's fields and the payload's length, without bytes.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use super::fast_open::Cookie;
use super::user_timeout::UserTimeout;

/// The control bits (RFC 9293 3.1), in the positions of the header's octets 12 and 13.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// No bit set.
    pub const NONE: Flags = Flags(0);
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push: the sender's queue is empty behind this segment.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer is valid.
    pub const URG: Flags = Flags(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768).
    pub const AE: Flags = Flags(0x100);

    /// Whether every bit of `other` is set.
    #[inline]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    #[inline]
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    #[inline]
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Flags {
    /// The letters of tcpdump: S F R P U E W e, and a dot for ACK.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: [(Flags, &str); 9] = [
            (Flags::FIN, "F"),
            (Flags::SYN, "S"),
            (Flags::RST, "R"),
            (Flags::PSH, "P"),
            (Flags::ACK, "."),
            (Flags::URG, "U"),
            (Flags::ECE, "E"),
            (Flags::CWR, "W"),
            (Flags::AE, "e"),
        ];
        if *self == Flags::NONE {
            return f.write_str("none");
        }
        for (flag, letter) in LETTERS {
            if self.contains(flag) {
                f.write_str(letter)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

/// The timestamps option (RFC 7323 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// The sender's timestamp clock.
    pub value: u32,
    /// The echo of the peer's timestamp.
    pub echo_reply: u32,
}

/// The blocks of a SACK option (RFC 2018 section 3): pairs of left and right edge, sequence numbers as on the
/// wire.
///
/// They are kept aside, since most segments carry none and all segments are moved often. So are the options
/// of AccECN, Fast Open and the user timeout, in the same place.
#[derive(Clone, PartialEq, Eq, Default, Hash)]
pub struct SackBlocks(Option<Box<Listed>>);

/// The octets that an end has received in packets of each kind, modulo 2^24 (RFC 9768 3.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccurateOption {
    /// In packets with CE.
    pub marked: u32,
    /// In packets with ECT(0).
    pub capable0: u32,
    /// In packets with ECT(1).
    pub capable1: u32,
}

impl AccurateOption {
    /// What it takes in the header, with padding.
    pub const BYTES: u32 = 12;
}

/// Blocks, and the other options that few segments have.
#[derive(Clone, PartialEq, Eq, Default, Hash)]
struct Listed {
    /// Zero from `count` on.
    blocks: [(u32, u32); SackBlocks::MOST],
    count: u8,
    accurate: Option<AccurateOption>,
    fast_open: Option<Cookie>,
    user_timeout: Option<UserTimeout>,
}

impl Listed {
    /// Octets of what is no block, with padding.
    #[cold]
    fn bytes_without_blocks(&self) -> u32 {
        let accurate = if self.accurate.is_some() { AccurateOption::BYTES } else { 0 };
        let user_timeout = if self.user_timeout.is_some() { UserTimeout::BYTES } else { 0 };
        accurate + self.fast_open.map_or(0, Cookie::option_bytes) + user_timeout
    }
}

impl SackBlocks {
    /// The most blocks that an option takes: 40 octets of options hold no more.
    pub const MOST: usize = 4;

    /// How many there is room for beside `bytes` of other options: 4, or 3 beside timestamps.
    pub const fn that_fit(bytes: u32) -> usize {
        (OPTIONS_BYTES.saturating_sub(bytes).saturating_sub(4) / 8) as usize
    }

    /// Adds a block behind the others; a fifth is left out.
    pub fn push(&mut self, left: u32, right: u32) {
        let listed = self.0.get_or_insert_default();
        if let Some(place) = listed.blocks.get_mut(usize::from(listed.count)) {
            *place = (left, right);
            listed.count += 1;
        }
    }

    /// Leaves out all blocks.
    pub(super) fn clear(&mut self) {
        if let Some(listed) = &mut self.0 {
            (listed.blocks, listed.count) = Default::default();
        }
    }

    /// The blocks in their order.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        self.0.as_deref().map_or(&[], |listed| &listed.blocks[..usize::from(listed.count)])
    }

    /// Whether there is none: no option then.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|listed| listed.count == 0)
    }

    /// Whether nothing is kept aside, neither blocks nor other options.
    #[inline]
    pub const fn holds_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// The option of AccECN.
    #[inline]
    pub fn accurate(&self) -> Option<AccurateOption> {
        self.0.as_ref()?.accurate
    }

    /// Sets the option of AccECN.
    pub fn set_accurate(&mut self, option: AccurateOption) {
        self.0.get_or_insert_default().accurate = Some(option);
    }

    /// The option of Fast Open.
    #[inline]
    pub fn fast_open(&self) -> Option<Cookie> {
        self.0.as_ref()?.fast_open
    }

    /// Sets the option of Fast Open.
    pub fn set_fast_open(&mut self, cookie: Cookie) {
        self.0.get_or_insert_default().fast_open = Some(cookie);
    }

    /// The option of the user timeout.
    #[inline]
    pub fn user_timeout(&self) -> Option<UserTimeout> {
        self.0.as_ref()?.user_timeout
    }

    /// Sets the option of the user timeout.
    pub fn set_user_timeout(&mut self, option: UserTimeout) {
        self.0.get_or_insert_default().user_timeout = Some(option);
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// Octets that a header has for options (RFC 9293 3.1: 15 words less 5).
pub(super) const OPTIONS_BYTES: u32 = 40;

/// The options a segment carries.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Options {
    /// Maximum segment size, on a SYN (RFC 9293 3.7.1).
    pub mss: Option<u16>,
    /// Window scale, on a SYN (RFC 7323 section 2).
    pub window_scale: Option<u8>,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: Option<Timestamps>,
    /// SACK-permitted, on a SYN (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// SACK (RFC 2018 section 3).
    pub sack: SackBlocks,
}

impl Options {
    /// Octets the options take in the header, padded to whole words as they are encoded: MSS 4, window scale
    /// 3 and a no-operation, AccECN 11 and a no-operation, timestamps 10, SACK-permitted 2 and SACK 2 + 8 a
    /// block with two no-operations each, Fast Open 2 and the cookie with no-operations, user
    /// timeout 4.
    #[inline(always)]
    pub fn bytes(&self) -> u32 {
        let bytes = self.bytes_without_sack();
        if self.sack.is_empty() {
            return bytes;
        }
        let blocks = self.sack.as_slice().len().min(self.sack_blocks_that_fit());
        if blocks == 0 { bytes } else { bytes + 4 + 8 * blocks as u32 }
    }

    /// How many SACK blocks there is room for beside the other options.
    #[inline]
    pub fn sack_blocks_that_fit(&self) -> usize {
        SackBlocks::that_fit(self.bytes_without_sack())
    }

    #[inline]
    fn bytes_without_sack(&self) -> u32 {
        let mut bytes = self.sack.0.as_ref().map_or(0, |listed| listed.bytes_without_blocks());
        if self.sack_permitted {
            bytes += 4;
        }
        if self.mss.is_some() {
            bytes += 4;
        }
        if self.window_scale.is_some() {
            bytes += 4;
        }
        if self.timestamps.is_some() {
            bytes += 12;
        }
        bytes
    }
}

/// Octets of a header without options (RFC 9293 section 3.1).
pub const HEADER_BYTES: u32 = 20;

/// A segment: header fields and the length of its payload.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Sequence number of the first octet (of the SYN, if there is one).
    pub seq: u32,
    /// The next sequence number expected, valid with ACK.
    pub ack: u32,
    /// The control bits.
    pub flags: Flags,
    /// The window field as it stands in the header, scaled.
    pub window: u16,
    /// Octets of payload.
    pub payload_bytes: u32,
    /// The options.
    pub options: Options,
}

impl Segment {
    /// Octets of the header with its options.
    #[inline]
    pub fn header_bytes(&self) -> u32 {
        HEADER_BYTES + self.options.bytes()
    }

    /// Octets of header and payload.
    #[inline]
    pub fn total_bytes(&self) -> u32 {
        self.header_bytes() + self.payload_bytes
    }

    /// Octets of sequence space: payload, SYN and FIN (SEG.LEN of RFC 9293 3.3.1).
    #[inline]
    pub const fn sequence_length(&self) -> u64 {
        // SYN is bit 1, FIN bit 0.
        self.payload_bytes as u64 + (self.flags.0 >> 1 & 1) as u64 + (self.flags.0 & 1) as u64
    }
}

impl fmt::Display for Segment {
    /// As tcpdump prints it: `Flags [P.], seq 1:1001, ack 1, win 65535, length 1000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags [{}], seq {}", self.flags, self.seq)?;
        if self.payload_bytes > 0 {
            write!(f, ":{}", self.seq.wrapping_add(self.payload_bytes))?;
        }
        if self.flags.contains(Flags::ACK) {
            write!(f, ", ack {}", self.ack)?;
        }
        write!(f, ", win {}", self.window)?;
        if self.options != Options::default() {
            f.write_str(", options [")?;
            let mut separator = "";
            if let Some(mss) = self.options.mss {
                write!(f, "mss {mss}")?;
                separator = ",";
            }
            if let Some(shift) = self.options.window_scale {
                write!(f, "{separator}wscale {shift}")?;
                separator = ",";
            }
            if let Some(ts) = self.options.timestamps {
                write!(f, "{separator}TS val {} ecr {}", ts.value, ts.echo_reply)?;
                separator = ",";
            }
            if self.options.sack_permitted {
                write!(f, "{separator}sackOK")?;
                separator = ",";
            }
            for (i, (left, right)) in self.options.sack.as_slice().iter().enumerate() {
                let before = if i == 0 { separator } else { "" };
                let name = if i == 0 { "sack " } else { " " };
                write!(f, "{before}{name}{left}:{right}")?;
            }
            if let Some(AccurateOption { marked, capable0, capable1 }) = self.options.sack.accurate() {
                let before = if separator.is_empty() && self.options.sack.is_empty() { "" } else { "," };
                write!(f, "{before}accecn e0b {capable0} ceb {marked} e1b {capable1}")?;
                separator = ",";
            }
            if let Some(cookie) = self.options.sack.fast_open() {
                let before = if separator.is_empty() && self.options.sack.is_empty() { "" } else { "," };
                write!(f, "{before}tfo {cookie}")?;
                separator = ",";
            }
            if let Some(option) = self.options.sack.user_timeout() {
                let before = if separator.is_empty() && self.options.sack.is_empty() { "" } else { "," };
                write!(f, "{before}{option}")?;
            }
            f.write_str("]")?;
        }
        write!(f, ", length {}", self.payload_bytes)
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}: {self}", self.source_port, self.destination_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 56, "{} bytes", size_of::<Segment>());
    }

    #[test]
    fn prints_as_tcpdump_does() {
        let mut segment = Segment {
            source_port: 4551,
            destination_port: 80,
            seq: u32::MAX,
            ack: 7,
            flags: Flags::ACK | Flags::PSH,
            window: 512,
            payload_bytes: 10,
            options: Options::default(),
        };
        assert_eq!(segment.to_string(), "Flags [P.], seq 4294967295:9, ack 7, win 512, length 10");
        assert_eq!((segment.header_bytes(), segment.total_bytes(), segment.sequence_length()), (20, 30, 10));
        segment.flags = Flags::SYN;
        segment.payload_bytes = 0;
        segment.options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            timestamps: Some(Timestamps { value: 5, echo_reply: 0 }),
            sack_permitted: true,
            ..Options::default()
        };
        assert_eq!(
            format!("{segment:?}"),
            "4551 > 80: Flags [S], seq 4294967295, win 512, options [mss 1460,wscale 7,TS val 5 ecr 0,sackOK], length 0"
        );
        // 20 + 4 + 4 + 12 + 4 octets; the SYN takes one sequence number.
        assert_eq!((segment.header_bytes(), segment.sequence_length()), (44, 1));
        segment.options = Options::default();
        segment.options.sack.push(5, 6);
        segment.options.sack.push(1, 3);
        assert!(segment.to_string().ends_with("options [sack 5:6 1:3], length 0"));
    }
}
