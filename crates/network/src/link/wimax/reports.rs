//! Link events of 802.16 stations, and their reports.
//!
//! Link_Detected with the first DL-MAP, Link_Up with the last DSA-ACK, a Link_Parameters_Report every
//! `report_interval`; Link_Going_Down when the walk leads out of reach in `going_down_ahead`, or when the
//! maps of a report are missed: with the time until synchronization would be lost, and a confidence of 100 %
//! if none is heard until then; rolled back when that does not hold any more; told again where the confidence
//! comes to what a user waits for. Link_Down when maps were missed for too long, or nobody answered.

use super::{Cell, Step};
use crate::link::indication::{Indication, LinkEvent, LinkGoingDownReason};
use roamsim_engine::Time;

impl Cell {
    pub(super) fn indicate(&mut self, now: Time, station: u32, event: LinkEvent) {
        let (_, at) = self.attachments_of(station);
        self.indications.push_back((now, Indication { at, event }));
    }

    pub(super) fn report_later(&mut self, now: Time, station: u32) {
        let Some(interval) = self.config.entry.as_ref().map(|entry| entry.report_interval) else { return };
        if let Some(joining) = &mut self.stations[station as usize].joining
            && !joining.reports
        {
            joining.reports = true;
            self.at(now + interval, Step::Report(station));
        }
    }

    /// A report is due: what a station hears of its base station, and whether its link is going down.
    pub(super) fn report(&mut self, now: Time, station: u32) {
        self.look_at_maps(now, station);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        joining.reports = false;
        if !joining.entry.is_synchronized() {
            return;
        }
        if self.is_away(station, now) {
            return self.report_later(now, station);
        }
        self.report_later(now, station);
        self.report_now(now, station);
        self.arm_entry(now, station);
    }

    /// What a station that is synchronized hears now.
    pub(super) fn report_now(&mut self, now: Time, station: u32) {
        let hears = self.hears_frame_of(station, now);
        let going_down = self.going_down(now, station);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let connected = joining.entry.is_connected();
        let before = std::mem::replace(&mut joining.going_down, connected && going_down.is_some());
        match going_down {
            Some(event) if connected => {
                if let Some(event) = joining.confidence.tell(event, !before) {
                    self.indicate(now, station, event);
                }
                if !before {
                    self.scan_as_going_down(now, station);
                }
            }
            None if before => self.indicate(now, station, LinkEvent::Rollback),
            _ => {}
        }
        if hears {
            let quality = self.quality(station, now);
            self.indicate(now, station, LinkEvent::ParametersReport { quality });
            self.adapt(now, station);
        }
    }

    /// Whether the link of a connected station is going down.
    pub(super) fn going_down(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        let weak = self.weakens(now, station);
        let config = self.config.entry.as_ref()?;
        let joining = self.stations[station as usize].joining.as_ref()?;
        let reason = LinkGoingDownReason::LINK_PARAMETER_DEGRADING;
        if !self.hears_frame_of(station, now) {
            let end = joining.entry.maps_heard() + config.station.timers.lost_map();
            let frames = self.frame_of(now) + 1..=self.frame_of(end);
            let heard = frames.map(|frame| self.frame_start(frame)).any(|start| self.reaches(station, start));
            let within = end.since(now);
            return Some(LinkEvent::GoingDown {
                within,
                confidence_percent: if heard { 0 } else { 100 },
                reason,
            });
        }
        if weak.is_some() {
            return weak;
        }
        let within = config.going_down_ahead?;
        let leaves = !self.reaches(station, now + within);
        leaves.then_some(LinkEvent::GoingDown { within, confidence_percent: 100, reason })
    }
}
