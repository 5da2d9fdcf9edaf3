//! What became of the stream of each TCP and SCTP sender: the rows of a time-sequence chart.
//!
//! Everything is told in offsets of the sender's stream, from 0, and as the sender sees it, except for
//! losses, which the path tells: a segment that a link dropped, when it did.
//!
//! The stream of an SCTP sender is the user data of its DATA chunks in the order of their TSNs; a chunk is a
//! segment.

use crate::ends::SocketId;
use roamsim_engine::Time;
use roamsim_engine::log::Timed;
use std::ops::Range;

/// What happened to a part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentEvent {
    /// Sent for the first time.
    Sent,
    /// Sent again.
    Retransmitted,
    /// From there on to SND.MAX, a reduction of the window has proved needless and is undone.
    Undone,
    /// Sent to probe a closed window, for the first time or again (RFC 9293 3.8.6.1, RFC 9260 6.1 A).
    WindowProbe,
    /// Dropped on the path.
    Lost,
    /// An ACK has reached the sender: from what was acknowledged before up to what it acknowledges. Empty for
    /// one that acknowledges nothing new and comes without data.
    Acknowledged,
    /// A block of a SACK option (RFC 2018, RFC 2883), or a gap ack block (RFC 9260 3.3.4), has reached the
    /// sender.
    Sacked,
}

impl SegmentEvent {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            SegmentEvent::Sent => "sent",
            SegmentEvent::Retransmitted => "retransmitted",
            SegmentEvent::Undone => "undone",
            SegmentEvent::WindowProbe => "window_probe",
            SegmentEvent::Lost => "lost",
            SegmentEvent::Acknowledged => "acknowledged",
            SegmentEvent::Sacked => "sacked",
        }
    }
}

/// A part of the stream that a socket sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPart {
    /// The socket.
    pub sender: SocketId,
    /// Offsets, the end excluded.
    pub octets: Range<u64>,
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// When.
    pub time: Time,
    /// What.
    pub event: SegmentEvent,
    /// Why, if there is more to say than what.
    pub reason: &'static str,
    /// To what.
    pub part: StreamPart,
}

impl Timed for SegmentRow {
    fn time(&self) -> Time {
        self.time
    }
}
