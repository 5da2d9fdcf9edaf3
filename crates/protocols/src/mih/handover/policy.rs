//! What a handover user does where the standard leaves it to him: when to act, whom to choose, which link is
//! used until when, and what follows a request that is not answered.

use roamsim_engine::{Span, Time};

/// Policies of the users of a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Upon what a handover is prepared.
    pub act_on: ActOn,
    /// Which of several candidates is asked for first.
    pub choice: Choice,
    /// When the mobile node enters the new network.
    pub entry: Entry,
    /// How long the mobile node keeps the link to the old one.
    pub old_link: OldLink,
    /// What follows a request without answer; `None`: it is waited for.
    pub no_answer: Option<NoAnswer>,
}

impl Policy {
    /// Acts upon Link_Going_Down at once, in the order of the candidates, over links that are all in use;
    /// waits for answers.
    pub const PLAIN: Policy = Policy {
        act_on: ActOn::GoingDown { ahead: None },
        choice: Choice::Order,
        entry: Entry::Before,
        old_link: OldLink::Kept,
        no_answer: None,
    };
}

/// Upon what a handover is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActOn {
    /// Link_Detected of a candidate.
    Detected,
    /// Link_Going_Down; once the link is expected to be down within `ahead`, or at once.
    GoingDown {
        /// How long before the expected end.
        ahead: Option<Span>,
    },
    /// Link_Parameters_Report: a threshold of the signal is crossed.
    Crossed,
    /// Link_Down: nothing is prepared.
    Down,
}

impl ActOn {
    /// When to act upon Link_Going_Down, which tells when the link is expected to be down.
    pub(super) fn due(self, now: Time, within: Span) -> Option<Time> {
        match self {
            ActOn::GoingDown { ahead: None } => Some(now),
            ActOn::GoingDown { ahead: Some(ahead) } => Some(now + within.saturating_sub(ahead)),
            ActOn::Detected | ActOn::Crossed | ActOn::Down => None,
        }
    }
}

/// Which of several candidates is asked for first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first of the list.
    Order,
    /// The one that is heard best.
    Signal,
    /// The one with most room.
    FreeCapacity,
}

/// When the mobile node enters the new network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// As soon as it hears it.
    Before,
    /// When the handover is committed, or its old link is down.
    AfterCommitment,
}

/// How long the mobile node keeps the link to the old network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldLink {
    /// For as long as it is there.
    Kept,
    /// Until the handover is complete.
    UntilCompleted,
    /// Until traffic is redirected.
    UntilRedirected,
    /// Until the handover is committed: break before make.
    UntilCommitted,
}

/// What follows a request without answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// How long the answer is waited for, from when the request was made.
    pub after: Span,
    /// What is done then.
    pub then: Then,
}

/// What is done about a request without answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is made anew, in a transaction of its own, again and again.
    Repeat,
    /// It is given up.
    Abort,
    /// The mobile node takes the other network without it.
    OtherInterface,
}

/// Requests that were made anew: an answer to an earlier one counts as one to the last.
#[derive(Debug)]
pub(super) struct Repeated<T>(Vec<(T, T)>);

impl<T> Default for Repeated<T> {
    fn default() -> Repeated<T> {
        Repeated(Vec::new())
    }
}

impl<T: Copy + PartialEq> Repeated<T> {
    /// `earlier` was made anew as `last`.
    pub fn anew(&mut self, earlier: T, last: T) {
        self.0.iter_mut().filter(|(_, before)| *before == earlier).for_each(|(_, before)| *before = last);
        self.0.push((earlier, last));
    }

    /// Whether a request was made anew.
    pub fn was(&self, request: T) -> bool {
        self.0.iter().any(|&(earlier, _)| earlier == request)
    }

    /// The last request that stands for this one.
    pub fn last(&self, request: T) -> T {
        self.0.iter().find(|&&(earlier, _)| earlier == request).map_or(request, |&(_, last)| last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_acts_ahead_waits_until_the_link_is_expected_to_be_down_in_that_time() {
        let now = Time::from_ns(5_000_000_000);
        let due = |act_on: ActOn| act_on.due(now, Span::from_secs(9)).map(Time::as_secs_f64);
        assert_eq!(due(ActOn::GoingDown { ahead: None }), Some(5.0));
        assert_eq!(due(ActOn::GoingDown { ahead: Some(Span::from_secs(2)) }), Some(12.0));
        // It is nearer than that.
        assert_eq!(due(ActOn::GoingDown { ahead: Some(Span::from_secs(10)) }), Some(5.0));
        assert_eq!((due(ActOn::Down), due(ActOn::Detected)), (None, None));
    }

    #[test]
    fn an_answer_to_any_of_the_repetitions_is_one_to_the_last() {
        let mut repeated = Repeated::default();
        repeated.anew(1, 2);
        repeated.anew(2, 5);
        assert_eq!((repeated.last(1), repeated.last(2), repeated.last(5), repeated.last(3)), (5, 5, 5, 3));
        assert!(repeated.was(1) && repeated.was(2) && !repeated.was(5));
    }
}
