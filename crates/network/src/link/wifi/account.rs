//! What a cell's time was used for: by the medium, as the access point hears it, and by each radio.

use super::medium::Kind;
use super::stations::layout::Member;
use super::{Cell, RateAttempts, RateChange};
use crate::link::Attachment;
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
pub(super) enum Use {
    Frame(Kind),
    Collision,
    Backoff,
    Idle,
}

impl MediumTime {
    /// The time since the last change went into this.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Time, used: Use) {
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
    pub(super) fn take_back(&mut self, end: Time) {
        self.backoff = self.backoff.saturating_sub(self.until.since(end));
        self.until = self.until.min(end);
    }
}

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
            (true, Kind::Rts | Kind::Cts | Kind::CtsToSelf | Kind::Ack) => &mut self.control,
            (true, Kind::Management) => &mut self.management,
        };
        *part += airtime;
    }
}

impl Cell {
    /// The members of a cell: of each its number, the access point's sub-interface to it, and its own
    /// interface.
    pub fn members_of(&self, cell: usize) -> impl Iterator<Item = (u32, Attachment, Attachment)> + '_ {
        self.cells[cell].members.clone().map(|member| {
            let Member { down, up, .. } = &self.members[member as usize];
            (member, *down, *up)
        })
    }

    /// The radio of a member.
    pub fn radio_of(&self, member: u32) -> usize {
        self.members[member as usize].radio
    }

    /// What a station did as this member: from one association to the next; before the first, as the member
    /// of that.
    pub fn member_time(&self, member: u32) -> RadioTime {
        let Member { radio, time, .. } = &self.members[member as usize];
        let now = self.radio_time(*radio);
        match self.stations[*radio].as_ref().map(|station| (station.registered, station.first_member())) {
            Some((Some(registered), _)) if registered != member => *time,
            Some((None, first)) if first != Some(member) => *time,
            _ => time.and(&now),
        }
    }

    /// What the medium was used for, as the access point of a cell heard it; up to the end once the run is
    /// over.
    pub fn medium_time(&self, cell: usize) -> MediumTime {
        self.cells[cell].medium
    }

    /// What a radio did: access points, in the order of the cells, and then stations.
    pub fn radio_time(&self, radio: usize) -> RadioTime {
        self.radios[radio].time
    }

    /// What was sent from an attachment, rate by rate; nothing where rates are fixed.
    pub fn rate_attempts(&self, from: Attachment) -> Vec<RateAttempts> {
        let way = self.ways[from.0 as usize];
        self.rates.as_ref().map_or(Vec::new(), |rates| rates.tried(way.from, way.to))
    }

    /// Keeps the rates of data frames over time from now on, where they adapt.
    pub fn record_rates(&mut self) {
        if let Some(rates) = &mut self.rates {
            rates.keep_changes();
        }
    }

    /// Each change of the rate of an attachment's data frames, in order; nothing unless that is recorded.
    pub fn rate_changes(&self) -> &[RateChange] {
        self.rates.as_ref().map_or(&[], |rates| rates.changes())
    }

    /// What the channel access functions of a radio did, by category: access points, in the order of the
    /// cells, and then stations. None without EDCA.
    pub fn category_times(&self, radio: usize) -> Vec<CategoryTime> {
        let mut of: Vec<_> = self.radios[radio].functions().collect();
        of.sort_by_key(|function| function.category);
        of.into_iter().filter(|function| function.access.is_edca).map(|function| function.time).collect()
    }
}
