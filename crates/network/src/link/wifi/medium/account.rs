//! What the medium was used for, as an access point hears it.

use super::frame::Kind;
use roamsim_engine::{Span, Time};

/// What the medium was used for, in parts that add up to the time that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediumTime {
    /// Data frames alone on the air.
    pub data: Span,
    /// RTS, CTS and ACK frames alone on the air.
    pub control: Span,
    /// Beacons and other management frames alone on the air.
    pub management: Span,
    /// From the begin of the first to the end of the last of frames that overlap.
    pub collisions: Span,
    /// Silence while some queue holds a packet: interframe spaces, back-off, and waiting for answers that do
    /// not come.
    pub backoff: Span,
    /// Silence while nobody has anything to send.
    pub idle: Span,
    until: Time,
}

/// What the medium does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Frame(Kind),
    Collision,
    Backoff,
    Idle,
}

impl MediumTime {
    /// The time since the last change went into this.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, used: Use) {
        let part = match used {
            Use::Frame(Kind::Data) => &mut self.data,
            Use::Frame(Kind::Rts | Kind::Cts | Kind::CtsToSelf | Kind::Ack) => &mut self.control,
            Use::Frame(Kind::Management) => &mut self.management,
            Use::Collision => &mut self.collisions,
            Use::Backoff => &mut self.backoff,
            Use::Idle => &mut self.idle,
        };
        *part += now.since(self.until);
        self.until = now;
    }

    /// The run ends before an ACK begins that was put on the air ahead: silence up to it was told of already.
    pub fn take_back(&mut self, end: Time) {
        self.backoff = self.backoff.saturating_sub(self.until.since(end));
        self.until = self.until.min(end);
    }
}
