//! Phases of a station's radio on its way into a network: what it does, from when to when.
//!
//! A link logs them by itself ([`Link::phases`](super::Link::phases)); an abstract cell, which is entered at
//! once, has none.

use super::Attachment;
use roamsim_engine::Time;

/// What a radio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It looks for base stations: scanning (IEEE Std 802.11-2007 clause 11.1.3), channel search and
    /// synchronization (IEEE Std 802.16-2004 clause 6.3.9.1), up to the descriptors of its channel.
    Scanning,
    /// Authentication (802.11 clause 11.3.1).
    Authentication,
    /// Association (802.11 clause 11.3.2).
    Association,
    /// Initial ranging (802.16 clause 6.3.9.5).
    Ranging,
    /// Negotiation of basic capabilities (802.16 clause 6.3.9.7).
    Capabilities,
    /// Registration (802.16 clause 6.3.9.9).
    Registration,
    /// Its service flows are set up (802.16 clause 6.3.9.12).
    ServiceFlows,
}

impl Phase {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Scanning => "scanning",
            Phase::Authentication => "authentication",
            Phase::Association => "association",
            Phase::Ranging => "ranging",
            Phase::Capabilities => "capabilities",
            Phase::Registration => "registration",
            Phase::ServiceFlows => "service_flows",
        }
    }
}

/// A phase of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    /// Its end of the link, with one of its base stations where it is about all.
    pub at: Attachment,
    /// It is about all base stations of the link.
    pub of_all: bool,
    /// Which.
    pub phase: Phase,
    /// Since when.
    pub begin: Time,
    /// Until when; `None`: it lasts.
    pub end: Option<Time>,
}

/// The phases of the stations of a link, in order of their beginnings.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    log: Vec<PhaseRow>,
    /// By station, the one that lasts: a place in the log.
    open: Vec<Option<usize>>,
}

impl Phases {
    /// A station is in this phase from now on, if it was not; `None`: in none.
    pub fn enter(&mut self, now: Time, station: usize, phase: Option<(Phase, Attachment, bool)>) {
        if self.open.len() <= station {
            self.open.resize(station + 1, None);
        }
        let open = &mut self.open[station];
        if let Some(row) = open.map(|at| &mut self.log[at]) {
            if phase == Some((row.phase, row.at, row.of_all)) {
                return;
            }
            row.end = Some(now);
        }
        *open = phase.map(|_| self.log.len());
        let row = |(phase, at, of_all)| PhaseRow { at, of_all, phase, begin: now, end: None };
        self.log.extend(phase.map(row));
    }

    /// All of them so far.
    pub fn rows(&self) -> &[PhaseRow] {
        &self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_where_another_begins_and_lasts_where_it_is_told_again() {
        let mut phases = Phases::default();
        let at = Time::from_ns;
        let scanning = Some((Phase::Scanning, Attachment(3), false));
        phases.enter(at(1), 1, None);
        phases.enter(at(2), 1, scanning);
        phases.enter(at(3), 1, scanning);
        phases.enter(at(4), 0, scanning);
        phases.enter(at(5), 1, Some((Phase::Ranging, Attachment(3), false)));
        phases.enter(at(9), 1, None);
        let found: Vec<_> = phases.rows().iter().map(|row| (row.phase, row.begin, row.end)).collect();
        assert_eq!(
            found,
            [
                (Phase::Scanning, at(2), Some(at(5))),
                (Phase::Scanning, at(4), None),
                (Phase::Ranging, at(5), Some(at(9))),
            ]
        );
    }
}
