//! The random streams of the MAC, one a purpose.

use roamsim_engine::{Ahead, Stream};

/// One stream a purpose.
pub(super) struct Streams {
    pub duration: Stream,
    pub cell: Stream,
    pub handover_need: Stream,
    pub permission: Ahead,
    pub perception: Ahead,
    pub choice: Stream,
    pub quality: Ahead,
}

impl Streams {
    pub fn new(stream: &impl Fn(&str) -> Stream) -> Streams {
        Streams {
            duration: stream("call duration"),
            cell: stream("cell"),
            handover_need: stream("handover need"),
            permission: Ahead::new(stream("attempt permission")),
            perception: Ahead::new(stream("channel list")),
            choice: stream("channel choice"),
            quality: Ahead::new(stream("bearer quality")),
        }
    }
}

/// Exponential with the given mean; an infinite mean is never.
#[inline]
pub(super) fn exponential(mean: f64, random: &mut Stream) -> f64 {
    if mean.is_finite() { random.exponential(mean) } else { f64::INFINITY }
}
