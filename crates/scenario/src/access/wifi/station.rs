//! How a station of Wi-Fi cells finds its access point, and when it gives it up.

use std::collections::BTreeSet;

use roamsim_engine::Span;
use roamsim_network::link::propagation::dbm_of_milliwatts;
use roamsim_network::link::wifi::{Scan as NetworkScan, StationConfig};

use super::check::CHANNELS;
use super::model::Wifi;
use crate::node::model::Node;
use crate::node::wifi::{Scan, WifiStation};
use crate::report::{Report, Step, join};

/// Checks what a node says under `at` about itself as a station.
pub(crate) fn check(node: &Node, at: &[Step], all: &[Wifi], report: &mut Report<'_>) {
    let Some(settings) = &node.wifi else { return };
    let at = &join(at, ["wifi"])[..];
    let cells: Vec<&Wifi> = all
        .iter()
        .filter(|cell| cell.beacons.is_some() && cell.stations.iter().any(|station| node.name == **station))
        .collect();
    if cells.is_empty() {
        let message =
            format!("\"{}\" is not a station of a [[wifi]] with `beacons`, so it never scans", node.name);
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
        refuse("min_channel_time", "this time must be above zero", "write a time such as \"1.024ms\"");
    }
    if settings.max_channel_time.is_some_and(|max| max < settings.min_channel_time) {
        let message = "`max_channel_time` is shorter than `min_channel_time`";
        refuse("max_channel_time", message, "write a longer time, such as \"10.24ms\"");
    }
    if settings.scan_interval == Span::ZERO {
        let help = "write a time such as \"1s\"";
        refuse("scan_interval", "a station that always scans has no time for data", help);
    }
    if settings.missed_beacons == 0 {
        refuse(
            "missed_beacons",
            "an association needs at least 1 missed beacon before it is lost",
            "write 1 or more; 7 is usual",
        );
    }
    if settings.failure_timeout == Span::ZERO {
        refuse("failure_timeout", "this time must be above zero", "write a time such as \"200ms\"");
    }
    if settings.attempts == 0 {
        refuse("attempts", "without an attempt a station is never associated", "write 1 or more; 3 is usual");
    }
    if !(settings.signal_weight > 0.0 && settings.signal_weight <= 1.0) {
        let help = "write a number above 0, up to 1, which takes the latest beacon alone";
        refuse("signal_weight", "this is not the weight of a mean", help);
    }
    let least_dbm =
        cells.iter().filter_map(|cell| Some(cell.radio.as_ref()?.config(cell).least_threshold_dbm()));
    if let (Some(threshold_dbm), Some(least_dbm)) =
        (settings.signal_threshold_dbm, least_dbm.min_by(f64::total_cmp))
        && threshold_dbm <= least_dbm
    {
        let message = format!("signals below the reception threshold, {least_dbm:.1}dBm, are not heard");
        let help = "write a larger power, or leave it out: an access point is lost by missed beacons as well";
        refuse("signal_threshold", &message, help);
    }
    if !(1.0..=1e6).contains(&settings.going_down_factor) {
        let help = "write a factor from 1, where the link breaks, to 1000000; 4 is 6 dB";
        refuse("going_down_factor", "a signal below the reception threshold is not heard any more", help);
    }
    if !(0.0..=100.0).contains(&settings.hysteresis_db) {
        refuse(
            "hysteresis_db",
            &format!("{} dB is out of range", settings.hysteresis_db),
            "write decibels from 0 to 100; 5 is usual",
        );
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
