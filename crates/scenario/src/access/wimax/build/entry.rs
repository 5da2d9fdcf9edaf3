//! What the machine knows of stations that come and go.

use crate::access::wimax::entry::{Entry, Timers};
use crate::access::wimax::model::Wimax;
use roamsim_engine::Span;
use roamsim_network::link::wimax::{CellEntry, EntryConfig, Timers as NetworkTimers};
use roamsim_network::mobility::Trajectory;

impl Entry {
    /// How far the maps of a cell are heard.
    pub(crate) fn reach_m(&self, cell: &Wimax) -> Option<f64> {
        self.radius_m.or_else(|| self.radio.as_ref()?.reach_m(cell, cell.maps(), false))
    }

    /// The timers of the machine, with frames of this duration.
    pub(crate) fn timers(&self, frame: Span) -> NetworkTimers {
        let Timers {
            t1,
            t2,
            t3,
            t4,
            t6,
            t7,
            t8,
            t9,
            t12,
            t18,
            t20,
            t21,
            t27_idle,
            t27_active,
            lost_dl_map,
            lost_ul_map,
        } = self.timers;
        NetworkTimers {
            t1: t1.unwrap_or(self.dcd_interval.saturating_mul(5)),
            t2: t2.unwrap_or(self.ranging_interval.saturating_mul(5)),
            t3,
            t4,
            t6,
            t7,
            t8,
            t9,
            t12: t12.unwrap_or(self.ucd_interval.saturating_mul(5)),
            t18,
            t20: t20.unwrap_or(frame + frame),
            t21,
            t27_idle,
            t27_active,
            lost_downlink_map: lost_dl_map,
            lost_uplink_map: lost_ul_map,
        }
    }

    /// The settings of the machine, and everybody's place.
    pub(crate) fn config(
        &self,
        cell: &Wimax,
        base_station: Trajectory,
        stations: Vec<Trajectory>,
    ) -> CellEntry {
        let &Entry {
            radius_m: _,
            ref radio,
            known_descriptors,
            dcd_interval,
            ucd_interval,
            ucd_start,
            ranging_interval,
            ranging_opportunities,
            ranging_backoff_start,
            ranging_backoff_end,
            ranging_retries,
            invited_ranging_retries,
            capability_retries,
            registration_retries,
            flow_retries,
            channels,
            channel,
            search_interval,
            report_interval,
            going_down_ahead,
            ref scanning,
            timers: _,
            beyond_standard: _,
        } = self;
        let frame = cell.frame;
        // In whole frames, rounded up.
        let frames = |time: Span| time.as_ns().div_ceil(frame.as_ns().max(1));
        CellEntry {
            station: EntryConfig {
                timers: self.timers(frame),
                backoff_start: ranging_backoff_start,
                backoff_end: ranging_backoff_end,
                ranging_retries,
                invited_ranging_retries,
                capability_retries,
                registration_retries,
                flow_retries,
                channels,
                channel: channel.saturating_sub(1),
                known_descriptors,
                search_interval,
            },
            // One of the two was checked.
            radius_m: self.reach_m(cell).unwrap_or(0.0),
            radio: radio.as_ref().map(|radio| radio.config(cell)),
            base_station,
            stations,
            ranging_frames: frames(ranging_interval).max(1),
            ranging_opportunities,
            downlink_descriptor: (0, frames(dcd_interval).max(1)),
            uplink_descriptor: (frames(ucd_start), frames(ucd_interval).max(1)),
            report_interval,
            going_down_ahead,
            scanning: scanning.as_ref().map(|scanning| scanning.config(frame)),
        }
    }
}
