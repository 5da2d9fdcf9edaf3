//! When a link is cut, and the link events of that: where an outage begins the link is down, where it ends it is up again.

use super::Attachment;
use super::indication::{Indication, LinkDownReason, LinkEvent};
use roamsim_engine::Time;

/// A half-open interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its first instant.
    pub start: Time,
    /// The first instant after it.
    pub end: Time,
}

/// The outages of a link, in order of time and without overlap.
#[derive(Clone, Debug)]
pub(super) struct Outages {
    outages: Vec<Outage>,
    /// Beginnings and ends that have been indicated.
    indicated: usize,
}

impl Outages {
    pub fn new(outages: Vec<Outage>) -> Outages {
        Outages { outages, indicated: 0 }
    }

    /// Whether the link is cut at an instant.
    #[inline(always)]
    pub fn cover(&self, at: Time) -> bool {
        self.outages.iter().any(|outage| outage.start <= at && at < outage.end)
    }

    /// The next beginning or end: when, and what it means for the link.
    pub fn next(&self) -> Option<(Time, LinkEvent)> {
        let outage = self.outages.get(self.indicated / 2)?;
        Some(match self.indicated % 2 {
            0 => (outage.start, LinkEvent::Down(LinkDownReason::PACKET_TIMEOUT)),
            _ => (outage.end, LinkEvent::Up),
        })
    }

    /// The next link event up to `now`. It is for the sender: a node sends by the first attachment of its own direction,
    /// and an outage is of both.
    pub fn poll(&mut self, now: Time) -> Option<Indication> {
        let (_, event) = self.next().filter(|&(at, _)| at <= now)?;
        self.indicated += 1;
        Some(Indication { at: Attachment(0), event })
    }
}
