//! Link events: what a link tells those above it, in the words of IEEE Std 802.21-2008 (the events of
//! MIH_LINK_SAP).
//!
//! A link of any technology gives them by [`Link::poll_indication`](super::Link::poll_indication), each with
//! the end whose node it is for. Who hears them: association and handover schemes (`handover/`), the users of
//! MIH functions (`world/link_events.rs`), the trace `link_events`.
//!
//! Beside the standard's: [`LinkEvent::Rollback`], which drafts of it had, and [`LinkEvent::Lost`], since a
//! station of several cells chooses among those that it hears, and the scan intervals of a station whose
//! other cells share its radio. Not modelled: Link_Handover_Imminent and Link_Handover_Complete of the link
//! layer, Link_PDU_Transmit_Status.

use super::Attachment;
use roamsim_engine::Span;

pub use roamsim_protocols::mih::wire::link::{LinkDownReason, LinkGoingDownReason, SignalStrength};

/// How good a base station is that a station hears. Those of one technology can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// How far away it is, in metres, where that stands for the strength of its signal: the nearer the
    /// better.
    Distance(f64),
    /// The strength of its signal, in dBm.
    Signal(f64),
}

impl Quality {
    /// As messages of IEEE 802.21 tell it: in dBm; or, where a distance stands for it, in percent of the
    /// best: 100 at the base station, 0 at the end of its reach.
    pub fn signal_strength(self, reach_m: f64) -> SignalStrength {
        match self {
            Quality::Signal(signal_dbm) => SignalStrength::Dbm(signal_dbm.round() as i8),
            Quality::Distance(distance_m) => {
                SignalStrength::Percent((100.0 * (1.0 - distance_m / reach_m)).round().clamp(0.0, 100.0) as u8)
            }
        }
    }

    /// Whether a distance stands for the signal.
    pub fn is_distance(self) -> bool {
        matches!(self, Quality::Distance(_))
    }

    /// The larger the better: dBm, or metres below zero.
    pub fn score(self) -> f64 {
        match self {
            Quality::Distance(distance_m) => -distance_m,
            Quality::Signal(signal_dbm) => signal_dbm,
        }
    }
}

/// What happened to a link, seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEvent {
    /// Link_Detected: a base station is heard that was not.
    Detected {
        /// How well.
        quality: Quality,
    },
    /// Link_Up: packets can be sent over it.
    Up,
    /// Link_Parameters_Report: a base station is heard again.
    ParametersReport {
        /// How well.
        quality: Quality,
    },
    /// Link_Parameters_Report: how many frames came in error in a time that a user asked for.
    ErrorReport {
        /// Of all that came.
        packet_error_rate: f64,
    },
    /// Link_Going_Down.
    GoingDown {
        /// When it will be down, unless something changes.
        within: Span,
        /// How probable that is, in percent.
        confidence_percent: u8,
        /// Why.
        reason: LinkGoingDownReason,
    },
    /// Link_Going_Down again: its confidence has come to one that a user waits for. For others it is nothing
    /// new.
    GoingDownAgain {
        /// As of the first.
        within: Span,
        /// As of the first.
        confidence_percent: u8,
        /// What was told before.
        before_percent: u8,
        /// Why.
        reason: LinkGoingDownReason,
    },
    /// Link_Event_Rollback: it is not going down any more.
    Rollback,
    /// Link_Down.
    Down(LinkDownReason),
    /// A base station that was detected, and over which no link was up, is heard no more.
    Lost,
    /// Its station listens on other channels, for a while.
    ScanBegun,
    /// And is back.
    ScanEnded,
}

impl LinkEvent {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            LinkEvent::Detected { .. } => "link_detected",
            LinkEvent::Up => "link_up",
            LinkEvent::ParametersReport { .. } | LinkEvent::ErrorReport { .. } => "link_parameters_report",
            LinkEvent::GoingDown { .. } | LinkEvent::GoingDownAgain { .. } => "link_going_down",
            LinkEvent::Rollback => "link_event_rollback",
            LinkEvent::Down(_) => "link_down",
            LinkEvent::Lost => "link_lost",
            LinkEvent::ScanBegun => "scan_begun",
            LinkEvent::ScanEnded => "scan_ended",
        }
    }

    /// Whether it is for a user who hears of Link_Going_Down from this confidence on, and of everything else.
    pub fn is_for(self, least_percent: u8) -> bool {
        match self {
            LinkEvent::GoingDown { confidence_percent, .. } => confidence_percent >= least_percent,
            LinkEvent::GoingDownAgain { confidence_percent, before_percent, .. } => {
                before_percent < least_percent && least_percent <= confidence_percent
            }
            _ => true,
        }
    }

    /// Why, in words, where it says so.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            LinkEvent::GoingDown { reason, .. } | LinkEvent::GoingDownAgain { reason, .. } => {
                Some(match reason {
                    LinkGoingDownReason::EXPLICIT_DISCONNECT => "explicit disconnect",
                    LinkGoingDownReason::LOW_POWER => "low power",
                    LinkGoingDownReason::NO_RESOURCE => "no resource",
                    _ => "link parameter degrading",
                })
            }
            LinkEvent::Down(reason) => Some(match reason {
                LinkDownReason::EXPLICIT_DISCONNECT => "explicit disconnect",
                LinkDownReason::PACKET_TIMEOUT => "packet timeout",
                LinkDownReason::NO_RESOURCE => "no resource",
                LinkDownReason::NO_BROADCAST => "no broadcast",
                LinkDownReason::AUTHENTICATION_FAILURE => "authentication failure",
                _ => "billing failure",
            }),
            _ => None,
        }
    }
}

/// A link event at one end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Indication {
    /// The end.
    pub at: Attachment,
    /// What happened.
    pub event: LinkEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_told_in_dbm_and_a_distance_in_percent() {
        let told = |quality: Quality| quality.signal_strength(200.0);
        assert_eq!(told(Quality::Signal(-70.4)), SignalStrength::Dbm(-70));
        // An octet has no room for less.
        assert_eq!(told(Quality::Signal(-200.0)), SignalStrength::Dbm(-128));
        // 1 - 50 / 200.
        assert_eq!(told(Quality::Distance(50.0)), SignalStrength::Percent(75));
        assert_eq!(told(Quality::Distance(250.0)), SignalStrength::Percent(0));
    }
}
