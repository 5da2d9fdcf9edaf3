//! What a node says of itself as a station of Wi-Fi cells.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// How a station of Wi-Fi cells with `beacons` finds and leaves access points.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WifiStation {
    /// How it scans (IEEE 802.11-2007 section 11.1.3). Default chosen: actively, as nearly all stations do.
    #[serde(default)]
    pub scan: Scan,
    /// The channels that it scans, in this order. Left out: those of its cells, in ascending order.
    #[serde(default)]
    pub channels: Option<Vec<u8>>,
    /// MinChannelTime: its wait on a channel where nobody answers the probe request. Default: Velayos and
    /// Karlsson, "Techniques to Reduce the IEEE 802.11b Handoff Time", ICC 2004.
    #[serde(default = "default_min_channel_time", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub min_channel_time: Span,
    /// MaxChannelTime: its wait on a channel in use; in a passive scan, on each. Left out: 10 time units
    /// (Velayos and Karlsson 2004); 110 in a passive scan, a beacon and a tenth.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub max_channel_time: Option<Span>,
    /// ProbeDelay: its wait on a new channel before the probe request. Default chosen: several interframe
    /// spaces.
    #[serde(default = "default_probe_delay", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub probe_delay: Span,
    /// The time between scans while it has no access point or a low signal. Default chosen: 1 s, so that
    /// scans take a few percent of its time.
    #[serde(default = "default_scan_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub scan_interval: Span,
    /// Missed beacons in a row after which it has lost its access point. Default: Linux's (mac80211's
    /// beacon_loss_count).
    #[serde(default = "default_missed_beacons")]
    #[schemars(range(min = 1))]
    pub missed_beacons: u32,
    /// AuthenticateFailureTimeout and AssociateFailureTimeout: its wait for a response. Default: Linux's
    /// (mac80211).
    #[serde(default = "default_failure_timeout", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub failure_timeout: Span,
    /// Tries of authentication, and then of association, with one access point. Default: Linux's (mac80211).
    #[serde(default = "default_attempts")]
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// The weight of the latest beacon in the mean signal. Default: Linux's (mac80211).
    #[serde(default = "default_signal_weight")]
    pub signal_weight: f64,
    /// The mean signal below which it leaves its access point, and takes no other. Left out: it leaves by
    /// missed beacons alone.
    #[serde(rename = "signal_threshold", default, deserialize_with = "units::some_power")]
    #[schemars(with = "Option<units::Power>")]
    pub signal_threshold_dbm: Option<f64>,
    /// A signal below this factor times the reception threshold, or `signal_threshold`, is low. A low signal
    /// raises Link_Going_Down and starts scans of the other channels. Default chosen: 6 dB, seconds of a
    /// walk.
    #[serde(default = "default_going_down_factor")]
    pub going_down_factor: f64,
    /// How much stronger another access point must be before it changes, in dB. Default chosen: 5 dB, against
    /// changing back and forth.
    #[serde(default = "default_hysteresis_db")]
    pub hysteresis_db: f64,
}

impl Default for WifiStation {
    fn default() -> WifiStation {
        WifiStation {
            scan: Scan::default(),
            channels: None,
            min_channel_time: default_min_channel_time(),
            max_channel_time: None,
            probe_delay: default_probe_delay(),
            scan_interval: default_scan_interval(),
            missed_beacons: default_missed_beacons(),
            failure_timeout: default_failure_timeout(),
            attempts: default_attempts(),
            signal_weight: default_signal_weight(),
            signal_threshold_dbm: None,
            going_down_factor: default_going_down_factor(),
            hysteresis_db: default_hysteresis_db(),
        }
    }
}

/// A way of scanning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scan {
    /// By probe requests.
    #[default]
    Active,
    /// By listening for beacons.
    Passive,
}

fn default_min_channel_time() -> Span {
    Span::from_us(1024)
}

fn default_probe_delay() -> Span {
    Span::from_us(100)
}

fn default_scan_interval() -> Span {
    Span::from_secs(1)
}

fn default_missed_beacons() -> u32 {
    7
}

fn default_failure_timeout() -> Span {
    Span::from_ms(200)
}

fn default_attempts() -> u32 {
    3
}

fn default_signal_weight() -> f64 {
    0.25
}

fn default_going_down_factor() -> f64 {
    4.0
}

fn default_hysteresis_db() -> f64 {
    5.0
}
