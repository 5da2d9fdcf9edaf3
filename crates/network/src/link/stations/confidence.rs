//! How sure a link is that it is going down, told again as it comes to a confidence that a user waits for.
//! The standard's Link_Going_Down has none (IEEE Std 802.21-2008 section 7.3); drafts of it had.

use crate::link::indication::LinkEvent;

/// What is told of it at one station.
#[derive(Clone, Debug, Default)]
pub struct Confidence {
    /// What users wait for, in percent.
    awaited: Vec<u8>,
    /// The greatest that was told since the link began to go down.
    told: u8,
}

impl Confidence {
    /// A user waits for so many percent.
    pub fn await_percent(&mut self, percent: u8) {
        self.awaited.push(percent);
    }

    /// Whether anybody waits.
    pub fn is_awaited(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// What there is to tell of a link that is going down: an event that is new as it is, another one where
    /// it comes to what a user waits for.
    pub fn tell(&mut self, event: LinkEvent, is_new: bool) -> Option<LinkEvent> {
        let LinkEvent::GoingDown { within, confidence_percent, reason } = event else {
            return is_new.then_some(event);
        };
        let before_percent = self.told;
        let comes_to = |&&awaited: &&u8| (before_percent + 1..=confidence_percent).contains(&awaited);
        if is_new {
            self.told = confidence_percent;
            return Some(event);
        }
        self.awaited.iter().find(comes_to)?;
        self.told = confidence_percent;
        Some(LinkEvent::GoingDownAgain { within, confidence_percent, before_percent, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::indication::LinkGoingDownReason;
    use roamsim_engine::Span;

    const fn going_down(confidence_percent: u8) -> LinkEvent {
        let reason = LinkGoingDownReason::LOW_POWER;
        LinkEvent::GoingDown { within: Span::ZERO, confidence_percent, reason }
    }

    #[test]
    fn it_is_told_again_where_it_comes_to_what_somebody_waits_for() {
        let mut own = Confidence::default();
        own.await_percent(50);
        own.await_percent(80);
        let mut told = |percent: u8, is_new: bool| {
            let event = own.tell(going_down(percent), is_new)?;
            Some([0, 50, 60, 80].map(|least| event.is_for(least)))
        };
        assert_eq!(told(10, true), Some([true, false, false, false]));
        assert_eq!(told(49, false), None);
        // Who waits for 60 is no user here, and would be told as well where it is reached.
        assert_eq!(told(55, false), Some([false, true, false, false]));
        // It falls, and is no news when it rises again.
        assert_eq!((told(20, false), told(79, false)), (None, None));
        assert_eq!(told(100, false), Some([false, false, true, true]));
        assert_eq!(told(100, false), None);
        // After a rollback all begins anew.
        assert_eq!(told(60, true), Some([true, true, true, false]));
    }

    #[test]
    fn nobody_waits_for_what_is_told_at_once() {
        let mut own = Confidence::default();
        assert!(!own.is_awaited());
        assert_eq!(own.tell(going_down(0), true), Some(going_down(0)));
        assert_eq!(own.tell(going_down(100), false), None);
    }
}
