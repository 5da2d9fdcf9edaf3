//! Transfers without message boundaries: greedy, and of a given size.

use super::{Action, Activity};
use roamsim_engine::Time;
use roamsim_protocols::{Context, Machine};

/// More than any run can carry: a greedy source writes it once.
const GREEDY_BYTES: u64 = 1 << 60;

/// A source that always has something to send, from its start to its stop; at the stop the connection is
/// dropped, so that nothing is delivered afterwards.
#[derive(Clone, Debug)]
pub struct Bulk {
    activity: Activity,
    /// When it begins or stops; never, where that is over.
    deadline: Time,
    next: Next,
}

/// What a greedy source wants done next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Nothing,
    Open,
    Stream,
    Abort,
}

impl Bulk {
    /// A source that is silent until its start.
    pub fn new(activity: Activity) -> Bulk {
        Bulk { activity, deadline: activity.start, next: Next::Nothing }
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        let (action, next) = match self.next {
            Next::Nothing => return None,
            Next::Open => (Action::Open, Next::Stream),
            Next::Stream => (Action::Stream { bytes: GREEDY_BYTES }, Next::Nothing),
            Next::Abort => (Action::Abort, Next::Nothing),
        };
        self.next = next;
        Some(action)
    }

    /// Does what is due, for which nothing is drawn.
    pub(super) fn handle_timeout_at(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        if now >= self.activity.stop {
            self.next = Next::Abort;
            self.deadline = Time::MAX;
        } else {
            self.next = Next::Open;
            self.deadline = self.activity.stop;
        }
    }
}

impl Machine for Bulk {
    fn poll_timeout(&self) -> Option<Time> {
        (self.deadline < Time::MAX).then_some(self.deadline)
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.handle_timeout_at(cx.now);
    }
}

/// A source that sends a given number of octets, then closes.
#[derive(Clone, Debug)]
pub struct Transfer {
    start: Time,
    size_bytes: u64,
    stage: Stage,
}

/// How far a transfer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Opening,
    Writing,
    Closing,
    Over,
}

impl Transfer {
    /// A source that is silent until its start.
    pub fn new(start: Time, size_bytes: u64) -> Transfer {
        Transfer { start, size_bytes, stage: Stage::Waiting }
    }

    pub(super) fn activity(&self) -> Activity {
        Activity { start: self.start, stop: Time::MAX }
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        let (action, next) = match self.stage {
            Stage::Waiting | Stage::Over => return None,
            Stage::Opening => (Action::Open, Stage::Writing),
            Stage::Writing => (Action::Stream { bytes: self.size_bytes }, Stage::Closing),
            Stage::Closing => (Action::Close, Stage::Over),
        };
        self.stage = next;
        Some(action)
    }

    /// Does what is due, for which nothing is drawn.
    pub(super) fn handle_timeout_at(&mut self, now: Time) {
        if self.stage == Stage::Waiting && now >= self.start {
            self.stage = Stage::Opening;
        }
    }

    /// How many octets it sends.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

impl Machine for Transfer {
    fn poll_timeout(&self) -> Option<Time> {
        (self.stage == Stage::Waiting).then_some(self.start)
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.handle_timeout_at(cx.now);
    }
}
