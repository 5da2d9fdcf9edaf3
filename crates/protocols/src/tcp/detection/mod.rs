//! Loss detection: when arriving acknowledgements tell of a loss before the timer does.
//!
//! To add one: a file here with its state and hooks, a variant of [`Detection`], an arm in each hook.

mod duplicate_acks;
mod rack;
mod vegas;

pub use duplicate_acks::DuplicateAcks;
pub(super) use rack::{Conditions, Rack as RackDetection};
pub use vegas::Vegas;

use roamsim_engine::{Span, Time};

use super::rtt::Bounds;

/// The detections by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A settable number of duplicate ACKs.
    DuplicateAcks,
    /// Duplicate ACKs, and fine-grained timers that ACKs are compared with.
    Vegas,
}

/// The detection of a connection.
#[derive(Clone, Debug)]
pub enum Detection {
    /// A settable number of duplicate ACKs.
    DuplicateAcks(DuplicateAcks),
    /// Duplicate ACKs, and fine-grained timers that ACKs are compared with.
    Vegas(Box<Vegas>),
}

/// What an ACK for new data tells beside what it acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// The round trip of the last segment it covers, to the nanosecond, where send times are kept.
    pub(super) rtt: Option<Span>,
    /// The segment that is now at `snd_una` is taken as lost.
    pub(super) overdue: bool,
}

impl Detection {
    pub(super) fn new(kind: Kind, dup_ack_threshold: u32, bounds: Bounds) -> Detection {
        let duplicates = DuplicateAcks::new(dup_ack_threshold);
        match kind {
            Kind::DuplicateAcks => Detection::DuplicateAcks(duplicates),
            Kind::Vegas => Detection::Vegas(Box::new(Vegas::new(duplicates, bounds))),
        }
    }

    /// The octets from `start` to `end` go out now; `repeated` if any of them had been sent before.
    #[inline]
    pub(super) fn on_sent(&mut self, start: u64, end: u64, now: Time, repeated: bool) {
        if let Detection::Vegas(part) = self {
            part.on_sent(start, end, now, repeated);
        }
    }

    /// A duplicate ACK arrived while nothing is being repaired. True when the segment at `snd_una` is now
    /// taken as lost.
    #[inline]
    pub(super) fn on_duplicate(&mut self, now: Time) -> bool {
        match self {
            Detection::DuplicateAcks(part) => part.on_duplicate(),
            Detection::Vegas(part) => part.on_duplicate(now),
        }
    }

    /// A duplicate ACK arrived while repairing. True when the segment at `snd_una` is taken as lost again.
    #[inline]
    pub(super) fn is_lost_again(&self, now: Time) -> bool {
        match self {
            Detection::DuplicateAcks(_) => false,
            Detection::Vegas(part) => part.is_overdue(now),
        }
    }

    /// An ACK for new data arrived: everything below `snd_una` is acknowledged.
    #[inline]
    pub(super) fn on_new_ack(&mut self, snd_una: u64, now: Time) -> Heard {
        match self {
            Detection::DuplicateAcks(part) => {
                part.clear();
                Heard::default()
            }
            Detection::Vegas(part) => {
                // Written anew, so that the other arm needs no place in memory for it.
                let Heard { rtt, overdue } = part.on_new_ack(snd_una, now);
                Heard { rtt, overdue }
            }
        }
    }

    /// Whether no duplicate ACK has arrived since the last one for new data.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        self.counter().count() == 0
    }

    /// The loss that was detected is about to be repaired. True when the window is to be made smaller for it.
    pub(super) fn on_repair(&mut self, now: Time) -> bool {
        match self {
            Detection::DuplicateAcks(_) => true,
            Detection::Vegas(part) => part.on_repair(now),
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self, now: Time) {
        match self {
            Detection::DuplicateAcks(part) => part.clear(),
            Detection::Vegas(part) => part.on_timeout(now),
        }
    }

    /// Duplicate ACKs since the last one for new data, as far as they are counted while nothing is being
    /// repaired.
    pub(super) fn duplicates(&self) -> u32 {
        self.counter().count()
    }

    /// Segments beyond the congestion window that limited transmit may have sent by now (RFC 3042): one for
    /// each of the first two duplicates before the threshold.
    #[inline]
    pub(super) fn limited_transmit_segments(&self) -> u64 {
        self.counter().limited_transmit_segments()
    }

    #[inline]
    fn counter(&self) -> &DuplicateAcks {
        match self {
            Detection::DuplicateAcks(part) => part,
            Detection::Vegas(part) => part.duplicates(),
        }
    }
}
