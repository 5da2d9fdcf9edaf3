//! Why data is sent again.
//!
//! The reason is that by which the sender took the data as lost:
//!
//! - duplicate ACKs: their count, SACK blocks above a hole (RFC 6675), partial ACKs of the repair that they
//!   began, Vegas's timers, which ACKs are compared with, or a SYN-ACK that does not take the data of the SYN
//!   (RFC 7413);
//! - RACK: time, since later data arrived (RFC 8985 section 6.2);
//! - a loss probe: nothing yet, it asks for an ACK (RFC 8985 section 7); only probes that repeat data count;
//! - a timeout: RACK marks by it what is old enough (section 6.3), any other recovery sends everything anew.

/// Why data is sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Duplicate ACKs, SACK blocks, partial ACKs, or Vegas's timers.
    #[default]
    DuplicateAcks,
    /// Time, by RACK.
    Rack,
    /// A tail loss probe.
    LossProbe,
    /// The retransmission timer.
    Timeout,
}

impl Reason {
    /// All of them, in the order of their counts.
    pub const ALL: [Reason; 4] = [Reason::DuplicateAcks, Reason::Rack, Reason::LossProbe, Reason::Timeout];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::DuplicateAcks => "duplicate_acks",
            Reason::Rack => "rack",
            Reason::LossProbe => "loss_probe",
            Reason::Timeout => "timeout",
        }
    }
}

/// What proved that a reduction of the window was needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Data sent before the timeout arrived behind it (RFC 5682).
    Frto,
    /// An ACK echoed a timestamp from before the first retransmission (RFC 3522).
    Timestamp,
    /// Every retransmission was reported as a duplicate (RFC 3708).
    DuplicateReports,
}

impl Proof {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Proof::Frto => "frto",
            Proof::Timestamp => "timestamp",
            Proof::DuplicateReports => "dsack",
        }
    }
}
