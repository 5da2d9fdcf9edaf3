//! What a cell's time was used for: by the medium, as the access point hears it, and by each radio.

use super::medium::Kind;
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
    /// Silence while some queue holds a packet: interframe spaces, back-off, and waiting for answers that do not come.
    pub backoff: Span,
    /// Silence while nobody has anything to send.
    pub idle: Span,
    until: Time,
}

/// What the medium does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Frame(Kind),
    Collision,
    Backoff,
    Idle,
}

impl MediumTime {
    /// The time since the last change went into this.
    pub(super) fn pass(&mut self, now: Time, used: Use) {
        let part = match used {
            Use::Frame(Kind::Data) => &mut self.data,
            Use::Frame(Kind::Rts | Kind::Cts | Kind::Ack) => &mut self.control,
            Use::Frame(Kind::Management) => &mut self.management,
            Use::Collision => &mut self.collisions,
            Use::Backoff => &mut self.backoff,
            Use::Idle => &mut self.idle,
        };
        *part += now.since(self.until);
        self.until = now;
    }
}

/// What a radio did. Frames count when they are over, attempts when they begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioTime {
    /// Frame exchanges begun.
    pub attempts: u64,
    /// Those of them to which no CTS or no ACK came.
    pub failed_attempts: u64,
    /// Airtime of its data frames that the receiver understood, and of its broadcasts.
    pub data: Span,
    /// Airtime of its RTS, CTS and ACK frames that the receiver understood.
    pub control: Span,
    /// Airtime of its beacons, which nobody acknowledges, and of its other management frames that the receiver understood.
    pub management: Span,
    /// Airtime of its frames that the receiver did not understand.
    pub lost: Span,
    /// Time that the heads of its queue contended for the medium, until the exchange began.
    pub contention: Span,
}

impl RadioTime {
    /// The sum of two accounts.
    pub(super) fn and(&self, more: &RadioTime) -> RadioTime {
        let RadioTime { attempts, failed_attempts, data, control, management, lost, contention } = *more;
        RadioTime {
            attempts: self.attempts + attempts,
            failed_attempts: self.failed_attempts + failed_attempts,
            data: self.data + data,
            control: self.control + control,
            management: self.management + management,
            lost: self.lost + lost,
            contention: self.contention + contention,
        }
    }

    pub(super) fn sent(&mut self, kind: Kind, airtime: Span, understood: bool) {
        let part = match (understood, kind) {
            (false, _) => &mut self.lost,
            (true, Kind::Data) => &mut self.data,
            (true, Kind::Rts | Kind::Cts | Kind::Ack) => &mut self.control,
            (true, Kind::Management) => &mut self.management,
        };
        *part += airtime;
    }
}
