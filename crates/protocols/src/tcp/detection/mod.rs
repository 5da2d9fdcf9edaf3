//! Loss detection: when arriving acknowledgements tell of a loss before the timer does.
//!
//! A detection is a file here that implements `LossDetection`, and a row of the table below. Its name, and
//! what the variant of that name is, stand in its file. RACK is part of the recovery that goes with it.

mod rack;

pub(super) use rack::{Conditions, MinRtt, Rack as RackDetection};

use roamsim_engine::{Span, Time};

use super::parts::{kinds, stored};
use super::rtt::Bounds;

/// What an ACK for new data tells beside what it acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// The round trip of the last segment it covers, to the nanosecond, where send times are kept.
    pub(super) rtt: Option<Span>,
    /// The segment that is now at `snd_una` is taken as lost.
    pub(super) overdue: bool,
}

/// The settings that a detection may need; [`Config`](super::Config) says what each means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Duplicate ACKs that tell of a loss.
    pub(super) dup_ack_threshold: u32,
    /// What bounds a timeout.
    pub(super) bounds: Bounds,
}

/// A detection. What a hook leaves out is what counting duplicate ACKs does.
pub(super) trait LossDetection {
    /// Its name.
    const NAME: &'static str;

    /// What the variant of its name is, for users, if it brings one ([`Variant`](super::Variant)).
    const VARIANT: Option<&'static str> = None;

    /// One that has heard nothing.
    fn new(settings: &Settings) -> Self;

    /// The count of duplicate ACKs.
    fn counter(&self) -> &DuplicateAcks;

    /// The same, to change it.
    fn counter_mut(&mut self) -> &mut DuplicateAcks;

    /// The octets from `start` to `end` go out now; `repeated` if any of them had been sent before.
    #[inline]
    fn on_sent(&mut self, _start: u64, _end: u64, _now: Time, _repeated: bool) {}

    /// A duplicate ACK arrived while nothing is being repaired. True when the segment at `snd_una` is now
    /// taken as lost.
    #[inline]
    fn on_duplicate(&mut self, _now: Time) -> bool {
        self.counter_mut().add()
    }

    /// A duplicate ACK arrived while repairing. True when the segment at `snd_una` is taken as lost again.
    #[inline]
    fn is_lost_again(&self, _now: Time) -> bool {
        false
    }

    /// An ACK for new data arrived: everything below `snd_una` is acknowledged.
    #[inline]
    fn on_new_ack(&mut self, _snd_una: u64, _now: Time) -> Heard {
        self.counter_mut().clear();
        Heard::default()
    }

    /// The loss that was detected is about to be repaired. True when the window is to be made smaller for it.
    fn on_repair(&mut self, _now: Time) -> bool {
        true
    }

    /// The retransmission timer expired.
    fn on_timeout(&mut self, _now: Time) {
        self.counter_mut().clear();
    }
}

/// The table: from each row the module, a place in both enums, and the arms of every hook. A large part is
/// boxed, so that connections without it stay small.
macro_rules! detections {
    ($($file:ident::$name:ident $(in $box:ident)?,)*) => {
        $(
            mod $file;
            pub use $file::$name;
        )*

        kinds! {
            /// The detections by name.
            $($name,)*
        }

        /// The detection of a connection.
        #[derive(Clone, Debug)]
        pub enum Detection {
            $(
                #[doc = concat!("[`", stringify!($name), "`](struct@", stringify!($name), ").")]
                $name(stored!($name $($box)?)),
            )*
        }

        impl Detection {
            pub(super) fn new(kind: Kind, settings: &Settings) -> Detection {
                match kind {
                    $(Kind::$name => Detection::$name(<$name as LossDetection>::new(settings).into()),)*
                }
            }

            #[inline]
            pub(super) fn on_sent(&mut self, start: u64, end: u64, now: Time, repeated: bool) {
                match self {
                    $(Detection::$name(part) => part.on_sent(start, end, now, repeated),)*
                }
            }

            #[inline]
            pub(super) fn on_duplicate(&mut self, now: Time) -> bool {
                match self {
                    $(Detection::$name(part) => part.on_duplicate(now),)*
                }
            }

            #[inline]
            pub(super) fn is_lost_again(&self, now: Time) -> bool {
                match self {
                    $(Detection::$name(part) => part.is_lost_again(now),)*
                }
            }

            #[inline]
            pub(super) fn on_new_ack(&mut self, snd_una: u64, now: Time) -> Heard {
                match self {
                    $(Detection::$name(part) => {
                        // Written anew, so that other arms need no place in memory for it.
                        let Heard { rtt, overdue } = part.on_new_ack(snd_una, now);
                        Heard { rtt, overdue }
                    })*
                }
            }

            pub(super) fn on_repair(&mut self, now: Time) -> bool {
                match self {
                    $(Detection::$name(part) => part.on_repair(now),)*
                }
            }

            pub(super) fn on_timeout(&mut self, now: Time) {
                match self {
                    $(Detection::$name(part) => part.on_timeout(now),)*
                }
            }

            #[inline]
            fn counter(&self) -> &DuplicateAcks {
                match self {
                    $(Detection::$name(part) => part.counter(),)*
                }
            }
        }
    };
}

impl Detection {
    /// Whether no duplicate ACK has arrived since the last one for new data.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        self.counter().count() == 0
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
}

// `cargo fmt` does not see these modules; `make lint` names their files to rustfmt.
detections! {
    duplicate_acks::DuplicateAcks,
    vegas::Vegas in Box,
}
