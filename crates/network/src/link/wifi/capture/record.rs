//! What captures tell of frames that were on the air; `log` keeps it.
//!
//! A frame is told when it is over: who heard it, how strong, and who understood it. Sequence numbers (clause
//! 7.1.3.4) and the retry bit (clause 7.1.3.1.6) are of captures alone; the medium itself knows its
//! repetitions.

use crate::link::wifi::index::RadioIndex;
use crate::link::wifi::management::Management;
use crate::link::wifi::phy::Format;
use crate::packet::Packet;
use roamsim_engine::{Span, Time};
use std::ops::Range;

/// A frame that was on the air.
#[derive(Clone, Debug)]
pub struct AirFrame {
    /// From when.
    pub begin: Time,
    /// Until when.
    pub end: Time,
    /// The radio that sent it: access points, in the order of the cells, and then stations.
    pub from: RadioIndex,
    /// The one that it was for; `None`: all.
    pub to: Option<RadioIndex>,
    /// The access category at work, from the lowest on; 0 where there is no EDCA.
    pub category: usize,
    /// What it was.
    pub content: Content,
    /// Its rate.
    pub rate_bps: u64,
    /// Its duration field: how long the medium is reserved after it.
    pub duration: Span,
    /// Whether it repeats an earlier one.
    pub retry: bool,
    /// The sequence number of data and management frames, below 4096.
    pub sequence: u16,
    /// How it was put on the air.
    pub format: Format,
    /// Of a data frame with a part of a packet: which.
    pub fragment: Option<Fragment>,
    /// The channel.
    pub channel: u8,
    /// Who heard it, the sender among them.
    pub heard: Vec<Hearer>,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its number, from 0.
    pub number: u8,
    /// Whether more follow.
    pub more: bool,
    /// Its octets of LLC, SNAP and packet.
    pub bytes: Range<usize>,
}

/// What a frame was.
#[derive(Clone, Debug)]
pub enum Content {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Data: the packet, as long as the receiver does not have it; a repetition for want of the
    /// acknowledgement has none.
    Data(Option<Box<Packet>>),
    /// A management frame.
    Management(Management),
}

/// A radio that heard a frame.
#[derive(Clone, Copy, Debug)]
pub struct Hearer {
    /// The radio.
    pub radio: RadioIndex,
    /// At which power it ended there; `None` where all hear each other.
    pub signal_dbm: Option<f64>,
    /// Whether it was understood.
    pub understood: bool,
}
