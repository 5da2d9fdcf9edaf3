//! When a link is cut, and the link events of that: where an outage begins the link is down, where it ends it
//! is up again. A user of links may switch it off as well, and on again (Link_Action.request of IEEE Std
//! 802.21-2008): it is up where neither is.

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
    /// Beginnings and ends that have come.
    passed: usize,
    off: bool,
    /// That it was switched off or on, and what that means for it, until it is indicated.
    switched: Option<(Time, LinkEvent)>,
}

impl Outages {
    pub fn new(outages: Vec<Outage>) -> Outages {
        Outages { outages, passed: 0, off: false, switched: None }
    }

    /// Whether the link is cut at an instant.
    #[inline(always)]
    pub fn cover(&self, at: Time) -> bool {
        self.off || self.outages.iter().any(|outage| outage.start <= at && at < outage.end)
    }

    /// The link is switched off, or on.
    pub fn switch(&mut self, now: Time, on: bool) {
        let in_an_outage = self.passed % 2 == 1;
        if std::mem::replace(&mut self.off, !on) == on && !in_an_outage {
            let event = if on { LinkEvent::Up } else { LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT) };
            // Off and on at one instant is nothing.
            self.switched = if self.switched.is_some() { None } else { Some((now, event)) };
        }
    }

    /// The next instant at which something comes, and what it means for the link where nothing else has it
    /// down.
    pub fn next(&self) -> Option<(Time, LinkEvent)> {
        self.switched.or_else(|| {
            let outage = self.outages.get(self.passed / 2)?;
            Some(match self.passed % 2 {
                0 => (outage.start, LinkEvent::Down(LinkDownReason::PACKET_TIMEOUT)),
                _ => (outage.end, LinkEvent::Up),
            })
        })
    }

    /// The next link event up to `now`. It is for the sender: a node sends by the first attachment of its own
    /// direction, and an outage is of both.
    pub fn poll(&mut self, now: Time) -> Option<Indication> {
        loop {
            let (_, event) = self.next().filter(|&(at, _)| at <= now)?;
            let by_switch = self.switched.take().is_some();
            self.passed += usize::from(!by_switch);
            if by_switch || !self.off {
                return Some(Indication { at: Attachment(0), event });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Span;

    #[test]
    fn a_link_is_up_where_it_is_switched_on_and_in_no_outage() {
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let mut outages =
            Outages::new(vec![Outage { start: at(10), end: at(20) }, Outage { start: at(30), end: at(40) }]);
        let mut told = Vec::new();
        // Off before the first outage and on in it; off in the second, and on behind it; off and on at one
        // instant.
        let switches: [(u64, &[bool]); 6] =
            [(5, &[false]), (15, &[true]), (32, &[false]), (45, &[true]), (50, &[false, true]), (60, &[])];
        for (ms, switched) in switches {
            told.extend(std::iter::from_fn(|| outages.poll(at(ms))).map(|told| (ms, told.event)));
            switched.iter().for_each(|&on| outages.switch(at(ms), on));
            assert_eq!(outages.cover(at(ms)), [5, 15, 32].contains(&ms), "{ms}");
        }
        let off = LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT);
        let cut = LinkEvent::Down(LinkDownReason::PACKET_TIMEOUT);
        // Each is asked for when the next switch comes.
        assert_eq!(told, [(15, off), (32, LinkEvent::Up), (32, cut), (50, LinkEvent::Up)]);
    }
}
