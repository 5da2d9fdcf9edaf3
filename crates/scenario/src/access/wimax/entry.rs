//! Network entry of the stations of an 802.16 cell.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::radio::Radio;
use super::scanning::Scanning;
use crate::units;

/// Network entry (IEEE Std 802.16-2004 section 6.3.9): stations search the base station, range, register, and
/// are connected while they hear it. They and the base station need a `position`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Within this distance a station and the base station hear each other, beyond it nothing. This, or
    /// `radio`.
    #[serde(rename = "radius", default, with = "units::length")]
    #[schemars(with = "Option<units::Length>")]
    pub radius_m: Option<f64>,
    /// Path loss and thresholds of reception. This, or `radius`.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// Whether stations know DCD and UCD before they hear them, as from an earlier scan. Default chosen:
    /// false.
    #[serde(default)]
    pub known_descriptors: bool,
    /// The time from one DCD to the next, in whole frames, at most 10 s (IEEE Std 802.16-2004 table 342).
    /// Default chosen: 5s, half of that.
    #[serde(default = "default_descriptor_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub dcd_interval: Span,
    /// The same of the UCD. Default chosen: 5s, half of the standard's 10 s (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_descriptor_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ucd_interval: Span,
    /// The first UCD. The first DCD comes at time zero. Default chosen: 0s, so that they come together.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ucd_start: Span,
    /// The time from one region of initial ranging to the next, in whole frames, at most 2 s (IEEE Std
    /// 802.16-2004 table 342). Default chosen: 20ms, which costs a fortieth of the symbols of 5 MHz.
    #[serde(default = "default_ranging_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ranging_interval: Span,
    /// Opportunities in a region, of five symbols each; in OFDMA of two symbols and six subchannels each.
    /// Default chosen: 2.
    #[serde(default = "default_ranging_opportunities")]
    #[schemars(range(min = 1))]
    pub ranging_opportunities: u32,
    /// Ranging back-off start: the first window has two to the power of this opportunities, from 0 to 15
    /// (IEEE Std 802.16-2004 section 11.3). Default chosen: 2, as in NIST's simulations of its mobility
    /// package.
    #[serde(default = "default_ranging_backoff_start")]
    pub ranging_backoff_start: u32,
    /// Ranging back-off end: the same of the last window. Default chosen: 6, as there.
    #[serde(default = "default_ranging_backoff_end")]
    pub ranging_backoff_end: u32,
    /// Contention ranging retries. Default: the standard's least, 16 (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_ranging_retries")]
    pub ranging_retries: u32,
    /// Invited ranging retries: after so many bursts more in which a station was not heard the base station
    /// sends it away. Default: the standard's least, 16 (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_ranging_retries")]
    pub invited_ranging_retries: u32,
    /// Repetitions of SBC-REQ. Default: the standard's least, 3 (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_retries")]
    pub capability_retries: u32,
    /// Repetitions of REG-REQ. Default: the standard's least, 3 (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_retries")]
    pub registration_retries: u32,
    /// Repetitions of DSA-REQ and DSA-RSP. Default: the standard's, 3 (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_retries")]
    pub flow_retries: u32,
    /// How many channels a station searches, one after the other, T20 each. Default chosen: 1, as of a
    /// station that knows its network.
    #[serde(default = "default_channels")]
    #[schemars(range(min = 1))]
    pub channels: u32,
    /// The place of the base station's channel among them, from 1. Default chosen: the first.
    #[serde(default = "default_channels")]
    #[schemars(range(min = 1))]
    pub channel: u32,
    /// How long a station rests when it has searched all channels and found none. Default chosen: 100ms.
    #[serde(default = "default_search_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub search_interval: Span,
    /// The time from one Link_Parameters_Report to the next. Default chosen: 100ms, about the beacon interval
    /// of 802.11.
    #[serde(default = "default_report_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub report_interval: Span,
    /// A station gets Link_Going_Down this long before its walk leads it out of reach. Left out: when it
    /// hears no maps any more.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub going_down_ahead: Option<Span>,
    /// Scan intervals, in which a connected station listens on other channels. Left out: it never does.
    #[serde(default)]
    pub scanning: Option<Scanning>,
    /// Timers.
    #[serde(default)]
    pub timers: Timers,
    /// Keys of `timers`, and intervals, that may be beyond the standard's limits. Default: none.
    #[serde(default)]
    pub beyond_standard: Vec<Limit>,
}

/// Timers of network entry. Defaults are the standard's limits (IEEE Std 802.16-2004 table 342).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timers {
    /// T1: waits for a DCD. Left out: five times `dcd_interval` (IEEE Std 802.16-2004 table 342).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t1: Option<Span>,
    /// T2: waits for a ranging opportunity. Left out: five times `ranging_interval` (IEEE Std 802.16-2004
    /// table 342).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t2: Option<Span>,
    /// T3: waits for RNG-RSP. Default: 200ms (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t3", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t3: Span,
    /// T4: waits for a burst that is granted to it alone, by which it is ranged again; without one it begins
    /// network entry again. Default: 35s (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t4", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t4: Span,
    /// T6: waits for REG-RSP. Default: 3s (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t6", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t6: Span,
    /// T7: the base station waits for DSA-RSP. Default: 1s (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t7", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t7: Span,
    /// T8: waits for DSA-ACK. Default: 300ms (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t8", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t8: Span,
    /// T9: the base station waits for SBC-REQ. Default: 300ms, the least (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t8", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t9: Span,
    /// T12: waits for a UCD. Left out: five times `ucd_interval` (IEEE Std 802.16-2004 table 342).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t12: Option<Span>,
    /// T18: waits for SBC-RSP, no longer than T9 (IEEE Std 802.16f-2005, wmanIfSsT18Timeout). Default: 50ms
    /// (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t18", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t18: Span,
    /// T20: looks for preambles on a channel. Left out: two frames, the least (IEEE Std 802.16-2004 table
    /// 342).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t20: Option<Span>,
    /// T21: looks for a DL-MAP on a channel with a preamble. Default: 10s (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_t21", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t21: Span,
    /// T27 idle: after so long without a burst of a station the base station grants it one, to range it.
    /// Default chosen: 10s, so that three come within T4.
    #[serde(default = "default_t27_idle", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t27_idle: Span,
    /// T27 active: the same of a station whose last burst it has not heard. Default chosen: 500ms, so that 16
    /// repetitions end before T4.
    #[serde(default = "default_t27_active", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t27_active: Span,
    /// How long a station without a DL-MAP is synchronized. Default: 600ms (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_lost_map", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub lost_dl_map: Span,
    /// How long one without a UL-MAP is. Default: 600ms (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_lost_map", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub lost_ul_map: Span,
}

/// The standard's limits of network entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At most 10 s.
    DcdInterval,
    /// At most 10 s.
    UcdInterval,
    /// At most 2 s.
    RangingInterval,
    /// At most 50 s.
    T1,
    /// At most 10 s.
    T2,
    /// At most 200 ms.
    T3,
    /// At most 35 s.
    T4,
    /// At most 3 s.
    T6,
    /// At most 1 s.
    T7,
    /// At most 300 ms.
    T8,
    /// At least 300 ms.
    T9,
    /// At most 50 s.
    T12,
    /// At most T9.
    T18,
    /// At least two frames.
    T20,
    /// At most 10 s.
    T21,
    /// At most 600 ms.
    LostDlMap,
    /// At most 600 ms.
    LostUlMap,
}

fn default_descriptor_interval() -> Span {
    Span::from_secs(5)
}

fn default_ranging_interval() -> Span {
    Span::from_ms(20)
}

fn default_ranging_opportunities() -> u32 {
    2
}

fn default_ranging_backoff_start() -> u32 {
    2
}

fn default_ranging_backoff_end() -> u32 {
    6
}

fn default_ranging_retries() -> u32 {
    16
}

fn default_retries() -> u32 {
    3
}

fn default_channels() -> u32 {
    1
}

fn default_search_interval() -> Span {
    Span::from_ms(100)
}

fn default_report_interval() -> Span {
    Span::from_ms(100)
}

fn default_t3() -> Span {
    Span::from_ms(200)
}

fn default_t4() -> Span {
    Span::from_secs(35)
}

fn default_t27_idle() -> Span {
    Span::from_secs(10)
}

fn default_t27_active() -> Span {
    Span::from_ms(500)
}

fn default_t6() -> Span {
    Span::from_secs(3)
}

fn default_t7() -> Span {
    Span::from_secs(1)
}

fn default_t8() -> Span {
    Span::from_ms(300)
}

fn default_t18() -> Span {
    Span::from_ms(50)
}

fn default_t21() -> Span {
    Span::from_secs(10)
}

fn default_lost_map() -> Span {
    Span::from_ms(600)
}

impl Default for Timers {
    fn default() -> Timers {
        Timers {
            t1: None,
            t2: None,
            t3: default_t3(),
            t4: default_t4(),
            t6: default_t6(),
            t7: default_t7(),
            t8: default_t8(),
            t9: default_t8(),
            t12: None,
            t18: default_t18(),
            t20: None,
            t21: default_t21(),
            t27_idle: default_t27_idle(),
            t27_active: default_t27_active(),
            lost_dl_map: default_lost_map(),
            lost_ul_map: default_lost_map(),
        }
    }
}
