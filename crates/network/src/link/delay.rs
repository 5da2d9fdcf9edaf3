//! The delay of a path behind its transmitter: constant or a series, with jitter drawn for each packet.

use super::series::Series;
use crate::distribution::Distribution;
use roamsim_engine::{Stream, Time};

/// How long packets take from when their last bits have left.
#[derive(Clone, Debug)]
pub struct Delay {
    /// The same for all packets of an instant.
    pub series: Series<roamsim_engine::Span>,
    /// What each packet takes longer, in nanoseconds.
    pub jitter: Option<(Distribution, Stream)>,
    /// Whether packets may overtake others. Where they may not, none arrives before the one that left before
    /// it.
    pub reordering: bool,
}

impl Delay {
    /// When a packet arrives that leaves at `departure`, where the latest arrival up to now is `latest`.
    pub fn arrival(&mut self, departure: Time, latest: Time) -> Time {
        let mut arrival = departure + self.series.at(departure);
        if let Some((distribution, random)) = &mut self.jitter {
            arrival += distribution.sample_span(random);
        }
        if self.reordering { arrival } else { arrival.max(latest) }
    }
}
