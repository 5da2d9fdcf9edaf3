//! What radios and their channel access functions did.

use crate::link::wifi::medium::frame::Kind;
use roamsim_engine::Span;

/// What a radio did. Frames count when they are over, attempts when they begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioTime {
    /// Frame exchanges begun; what is for all is none.
    pub attempts: u64,
    /// Those of them to which no CTS or no ACK came.
    pub failed_attempts: u64,
    /// Airtime of its data frames that the receiver understood, and of its broadcasts.
    pub data: Span,
    /// Airtime of its RTS, CTS and ACK frames that the receiver understood.
    pub control: Span,
    /// Airtime of its beacons, which nobody acknowledges, and of its other management frames that the
    /// receiver understood.
    pub management: Span,
    /// Airtime of its frames that the receiver did not understand.
    pub lost: Span,
    /// Time that it contended for the medium before each attempt.
    pub contention: Span,
}

/// What a channel access function of EDCA did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategoryTime {
    /// Frame exchanges begun; what is for all is none.
    pub attempts: u64,
    /// Those of them to which no CTS or no ACK came.
    pub failed_attempts: u64,
    /// How often another category of the same radio went first, though its countdown was over as well.
    pub internal_collisions: u64,
    /// Time that it contended for the medium before each attempt.
    pub contention: Span,
}

impl RadioTime {
    /// The sum of two accounts.
    pub(crate) fn and(&self, more: &RadioTime) -> RadioTime {
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

    pub(crate) fn sent(&mut self, kind: Kind, airtime: Span, understood: bool) {
        let part = match (understood, kind) {
            (false, _) => &mut self.lost,
            (true, Kind::Data) => &mut self.data,
            (true, Kind::Rts | Kind::Cts | Kind::CtsToSelf | Kind::Ack) => &mut self.control,
            (true, Kind::Management) => &mut self.management,
        };
        *part += airtime;
    }
}
