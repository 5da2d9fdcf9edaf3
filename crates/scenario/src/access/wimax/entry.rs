//! Network entry of the stations of an 802.16 cell.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::radio::Radio;
use super::scanning::Scanning;
use crate::units;

/// Network entry (IEEE Std 802.16-2004 section 6.3.9): stations search, range, register, and stay connected
/// while they hear the base station. All need a `position`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The reach of base station and stations. This, or `radio`.
    #[serde(rename = "radius", default, with = "units::length")]
    #[schemars(with = "Option<units::Length>")]
    pub radius_m: Option<f64>,
    /// Path loss and thresholds of reception. This, or `radius`.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// Whether stations already know DCD and UCD. Default chosen: false.
    #[serde(default)]
    pub known_descriptors: bool,
    /// Time between two DCDs, in whole frames, up to 10 s (IEEE Std 802.16-2004 table 342). Default chosen:
    /// half of that.
    #[serde(default = "default_descriptor_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub dcd_interval: Span,
    /// The same of the UCD. Default chosen: half of 10 s (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_descriptor_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ucd_interval: Span,
    /// The first UCD. The first DCD comes at 0 s. Default chosen: together.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ucd_start: Span,
    /// Time between two regions of initial ranging, in whole frames, up to 2 s (IEEE Std 802.16-2004 table
    /// 342). Default chosen: a fortieth of the symbols of 5 MHz.
    #[serde(default = "default_ranging_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ranging_interval: Span,
    /// Opportunities a region, of five symbols each; in OFDMA two symbols and six subchannels. Default
    /// chosen: 2.
    #[serde(default = "default_ranging_opportunities")]
    #[schemars(range(min = 1))]
    pub ranging_opportunities: u32,
    /// The exponent of two of the first ranging back-off window, 0 to 15 (IEEE Std 802.16-2004 section 11.3).
    /// Default chosen: as in NIST's simulations of its mobility package.
    #[serde(default = "default_ranging_backoff_start")]
    pub ranging_backoff_start: u32,
    /// The same of the last window. Default chosen: as in NIST's simulations.
    #[serde(default = "default_ranging_backoff_end")]
    pub ranging_backoff_end: u32,
    /// Contention ranging retries. Default: the standard's least (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_ranging_retries")]
    pub ranging_retries: u32,
    /// Unheard invited ranging bursts before the base station sends the station away. Default: the standard's
    /// least (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_ranging_retries")]
    pub invited_ranging_retries: u32,
    /// Repetitions of SBC-REQ. Default: the standard's least (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_retries")]
    pub capability_retries: u32,
    /// Repetitions of REG-REQ. Default: the standard's least (IEEE Std 802.16-2004 table 342).
    #[serde(default = "default_retries")]
    pub registration_retries: u32,
    /// Repetitions of DSA-REQ and DSA-RSP. Default: IEEE Std 802.16-2004 table 342.
    #[serde(default = "default_retries")]
    pub flow_retries: u32,
    /// Channels that a station searches, T20 each. Default chosen: 1, a station that knows its network.
    #[serde(default = "default_channels")]
    #[schemars(range(min = 1))]
    pub channels: u32,
    /// The base station's place among them, from 1. Default chosen: the first.
    #[serde(default = "default_channels")]
    #[schemars(range(min = 1))]
    pub channel: u32,
    /// A station's rest after a search of all channels without success. Default chosen: 100 ms.
    #[serde(default = "default_search_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub search_interval: Span,
    /// Time between two Link_Parameters_Reports. Default chosen: about a beacon interval of 802.11.
    #[serde(default = "default_report_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub report_interval: Span,
    /// Link_Going_Down comes this long before the station leaves the cell's reach. Left out: when it loses
    /// the maps.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub going_down_ahead: Option<Span>,
    /// Scan intervals of connected stations. Left out: none.
    #[serde(default)]
    pub scanning: Option<Scanning>,
    /// Timers.
    #[serde(default)]
    pub timers: Timers,
    /// Keys of `timers`, and intervals, that may exceed the standard's limits. Default: none.
    #[serde(default)]
    pub beyond_standard: Vec<Limit>,
}

/// Timers of network entry. Defaults are the standard's limits (IEEE Std 802.16-2004 table 342).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timers {
    /// T1: waits for a DCD. Left out: five times `dcd_interval`.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t1: Option<Span>,
    /// T2: waits for a ranging opportunity. Left out: five times `ranging_interval`.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t2: Option<Span>,
    /// T3: waits for RNG-RSP. Default: table 342.
    #[serde(default = "default_t3", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t3: Span,
    /// T4: waits for a burst granted to it alone, which ranges it again; without one it enters the network
    /// again. Default: table 342.
    #[serde(default = "default_t4", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t4: Span,
    /// T6: waits for REG-RSP. Default: table 342.
    #[serde(default = "default_t6", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t6: Span,
    /// T7: the base station waits for DSA-RSP. Default: table 342.
    #[serde(default = "default_t7", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t7: Span,
    /// T8: waits for DSA-ACK. Default: table 342.
    #[serde(default = "default_t8", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t8: Span,
    /// T9: the base station waits for SBC-REQ. Default: the least of table 342.
    #[serde(default = "default_t8", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t9: Span,
    /// T12: waits for a UCD. Left out: five times `ucd_interval`.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t12: Option<Span>,
    /// T18: waits for SBC-RSP, no longer than T9 (IEEE Std 802.16f-2005, wmanIfSsT18Timeout). Default: table
    /// 342.
    #[serde(default = "default_t18", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t18: Span,
    /// T20: looks for preambles on a channel. Left out: two frames, the least.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t20: Option<Span>,
    /// T21: looks for a DL-MAP on a channel with a preamble. Default: table 342.
    #[serde(default = "default_t21", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t21: Span,
    /// T27 idle: a station is ranged by a burst after this time without one. Default chosen: three within T4.
    #[serde(default = "default_t27_idle", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t27_idle: Span,
    /// T27 active: the same for a station whose last burst was not heard. Default chosen: 16 repetitions
    /// within T4.
    #[serde(default = "default_t27_active", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t27_active: Span,
    /// How long a station without a DL-MAP stays synchronized. Default: table 342.
    #[serde(default = "default_lost_map", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub lost_dl_map: Span,
    /// How long a station without a UL-MAP stays synchronized. Default: table 342.
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
