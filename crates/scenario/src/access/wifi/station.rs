//! How a station of Wi-Fi cells finds its access point, and when it gives it up.

use std::collections::BTreeSet;

use roamsim_engine::Span;
use roamsim_network::link::propagation::dbm_of_milliwatts;
use roamsim_network::link::wifi::{Scan as NetworkScan, StationConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::CHANNELS;
use super::model::Wifi;
use crate::node::model::Node;
use crate::report::{Report, Step, join};
use crate::scenario::Scenario;
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

/// Checks what a node says under `at` about itself as a station.
pub(crate) fn check(node: &Node, at: &[Step], scenario: &Scenario, report: &mut Report<'_>) {
    let Some(settings) = &node.wifi else { return };
    let at = &join(at, ["wifi"])[..];
    let cells: Vec<&Wifi> = scenario
        .wifi
        .iter()
        .filter(|cell| cell.beacons.is_some() && cell.stations.iter().any(|station| node.name == **station))
        .collect();
    if cells.is_empty() {
        let message =
            format!("\"{}\" is a station of no [[wifi]] with `beacons`, and scans nowhere", node.name);
        report.add(at, message, "leave `wifi` out, or name it in the `stations` of one");
        return;
    }
    let mut refuse =
        |key: &'static str, message: &str, help: &str| report.add(&join(at, [key]), message, help);
    let own = |channel: &u8| cells.iter().any(|cell| cell.channel == *channel);
    if let Some(channels) = &settings.channels {
        let distinct: BTreeSet<u8> = channels.iter().copied().collect();
        if !channels.iter().all(|channel| CHANNELS.contains(channel)) {
            refuse("channels", "2.4 GHz has the channels 1 to 13", "write some of them");
        } else if distinct.len() < channels.len() {
            refuse("channels", "a channel is named twice", "name each once");
        } else if !channels.iter().any(own) {
            let message = "none of its access points is on any of these channels: it would never find one";
            refuse("channels", message, "name theirs as well, or leave `channels` out");
        }
    }
    if settings.min_channel_time == Span::ZERO {
        refuse("min_channel_time", "no answer comes in no time", "write a time such as \"1.024ms\"");
    }
    if settings.max_channel_time.is_some_and(|max| max < settings.min_channel_time) {
        let message = "`max_channel_time` is shorter than `min_channel_time`";
        refuse("max_channel_time", message, "write a longer time, such as \"10.24ms\"");
    }
    if settings.scan_interval == Span::ZERO {
        let help = "write a time such as \"1s\"";
        refuse("scan_interval", "a station that does nothing but scan gets nothing done", help);
    }
    if settings.missed_beacons == 0 {
        refuse(
            "missed_beacons",
            "no association survives zero missed beacons",
            "write 1 or more; 7 is usual",
        );
    }
    if settings.failure_timeout == Span::ZERO {
        refuse("failure_timeout", "no answer comes in no time", "write a time such as \"200ms\"");
    }
    if settings.attempts == 0 {
        refuse("attempts", "who never asks is never associated", "write 1 or more; 3 is usual");
    }
    if !(settings.signal_weight > 0.0 && settings.signal_weight <= 1.0) {
        let help = "write a number above 0, up to 1, which takes the latest beacon alone";
        refuse("signal_weight", "this is no weight of a mean", help);
    }
    let least_dbm =
        cells.iter().filter_map(|cell| Some(cell.radio.as_ref()?.config(cell).least_threshold_dbm()));
    if let (Some(threshold_dbm), Some(least_dbm)) =
        (settings.signal_threshold_dbm, least_dbm.min_by(f64::total_cmp))
        && threshold_dbm <= least_dbm
    {
        let message =
            format!("nothing is heard that is weaker than the reception threshold, {least_dbm:.1}dBm");
        let help = "write a larger power, or leave it out: an access point is lost by missed beacons as well";
        refuse("signal_threshold", &message, help);
    }
    if !(1.0..=1e6).contains(&settings.going_down_factor) {
        let help = "write a factor from 1, where the link breaks, to 1000000; 4 are 6 dB";
        refuse("going_down_factor", "a signal below the reception threshold is not heard any more", help);
    }
    if !(0.0..=100.0).contains(&settings.hysteresis_db) {
        refuse("hysteresis_db", "this is no hysteresis", "write decibels from 0 to 100; 5 are usual");
    }
}

impl WifiStation {
    /// The settings of the machine, of a station of these cells whose reception threshold is this.
    pub(super) fn config(&self, cells: &[&Wifi], reception_threshold_dbm: f64) -> StationConfig {
        let &WifiStation {
            scan,
            ref channels,
            min_channel_time,
            max_channel_time,
            probe_delay,
            scan_interval,
            missed_beacons,
            failure_timeout,
            attempts,
            signal_weight,
            signal_threshold_dbm,
            going_down_factor,
            hysteresis_db: _,
        } = self;
        let channels = channels.clone().unwrap_or_else(|| {
            let mut own: Vec<u8> = cells.iter().map(|cell| cell.channel).collect();
            own.sort_unstable();
            own.dedup();
            own
        });
        let (scan, usual_max) = match scan {
            Scan::Active => (NetworkScan::Active, Span::from_us(10 * 1024)),
            Scan::Passive => (NetworkScan::Passive, Span::from_us(110 * 1024)),
        };
        StationConfig {
            scan,
            channels,
            min_channel_time,
            max_channel_time: max_channel_time.unwrap_or(usual_max),
            probe_delay,
            scan_interval,
            missed_beacons,
            failure_timeout,
            attempts,
            signal_weight,
            signal_threshold_dbm,
            going_down_dbm: signal_threshold_dbm.unwrap_or(reception_threshold_dbm)
                + dbm_of_milliwatts(going_down_factor),
            lost_dbm: reception_threshold_dbm,
        }
    }
}
