//! What a node says of itself as a station of Wi-Fi cells.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// How a station of Wi-Fi cells with `beacons` finds its access point, and when it gives it up.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WifiStation {
    /// How it scans (IEEE 802.11-2007 section 11.1.3). Default chosen: actively, as nearly all stations do.
    #[serde(default)]
    pub scan: Scan,
    /// The channels that it scans, in this order. Left out: those of its cells, in ascending order, as of a
    /// station that knows its network; one that does not scans `[1, 2, ..., 13]`.
    #[serde(default)]
    pub channels: Option<Vec<u8>>,
    /// MinChannelTime: how long it waits on a channel where its probe request is followed by silence.
    /// Default: 1 time unit (Velayos and Karlsson, "Techniques to Reduce the IEEE 802.11b Handoff Time", ICC
    /// 2004).
    #[serde(default = "default_min_channel_time", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub min_channel_time: Span,
    /// MaxChannelTime: how long it stays on a channel that is in use; of a passive scan, on each. Left out:
    /// 10 time units (Velayos and Karlsson 2004); of a passive scan 110, one beacon and a tenth.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub max_channel_time: Option<Span>,
    /// ProbeDelay: how long it waits on a new channel before its probe request. Default chosen: 100us,
    /// several interframe spaces.
    #[serde(default = "default_probe_delay", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub probe_delay: Span,
    /// The time from the end of a scan to the begin of the next, while it has no access point or the signal
    /// of its own is low. Default chosen: 1s, so that scans take some percent of a station's time at most.
    #[serde(default = "default_scan_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub scan_interval: Span,
    /// After how many missed beacons in a row it has lost its access point. Default: 7, as Linux has it
    /// (mac80211's beacon_loss_count).
    #[serde(default = "default_missed_beacons")]
    #[schemars(range(min = 1))]
    pub missed_beacons: u32,
    /// AuthenticateFailureTimeout and AssociateFailureTimeout: how long it waits for a response. Default:
    /// 200ms, as Linux has it (mac80211).
    #[serde(default = "default_failure_timeout", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub failure_timeout: Span,
    /// How often it asks for authentication, and then for association, before it looks for another access
    /// point. Default: 3, as Linux has it (mac80211).
    #[serde(default = "default_attempts")]
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// The weight of the latest beacon in the mean of the signal, in dBm. Default: 0.25, as Linux has it
    /// (mac80211).
    #[serde(default = "default_signal_weight")]
    pub signal_weight: f64,
    /// The mean of the signal below which it gives its access point up, and takes no other one. Left out:
    /// none, an access point is lost by missed beacons alone.
    #[serde(rename = "signal_threshold", default, deserialize_with = "units::some_power")]
    #[schemars(with = "Option<units::Power>")]
    pub signal_threshold_dbm: Option<f64>,
    /// A signal is low below this factor times the reception threshold, or `signal_threshold`.
    /// Link_Going_Down then comes, and the station looks for another access point on its other channels.
    /// Default chosen: 4, 6 dB, which a walk away from the edge of a cell takes in seconds.
    #[serde(default = "default_going_down_factor")]
    pub going_down_factor: f64,
    /// It changes to an access point whose signal is stronger than that of its own by more than this. Default
    /// chosen: 5 dB, so that it does not change back and forth.
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
