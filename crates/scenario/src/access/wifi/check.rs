//! Wi-Fi cells.

mod edca;
mod loss;
mod radio;
mod rates;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use roamsim_engine::Span;

use super::model::Wifi;
use super::standard::{Preamble, WifiStandard};
use crate::access::mtu::check_mtu;
use crate::access::queue::check_queue;
use crate::access::stations::{one_radio_help, several_accesses_help};
use crate::access::{Context, Role};
use crate::report::{At, Key, Report, Step, join};
use crate::timing::check_start;
use crate::units::rate_text;

/// IEEE 802.11-2007 section 7.1.2: an MSDU has 2304 bytes at most, of which LLC and SNAP take 8.
const MAX_MTU_BYTES: u64 = 2296;

/// dot11RTSThreshold (IEEE 802.11-2007 annex D).
const MAX_RTS_THRESHOLD_BYTES: u64 = 2347;

pub(super) fn check(cell: &Wifi, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    context.names.resolve(&cell.access_point, &join(at, ["access_point"]), report);
    let mut named = BTreeSet::new();
    for (j, station) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        context.names.resolve(station, &steps, report);
        if *station == cell.access_point {
            let message = format!("\"{station}\" is the access point of this cell");
            report.add(&steps, message, "name a node that is not the access point");
        } else if !named.insert(station) {
            report.add(&steps, format!("\"{station}\" is named twice"), "name each station once");
        }
    }
    if cell.stations.is_empty() {
        let help = "name the nodes that are stations here";
        report.add(&join(at, ["stations"]), "a cell without stations carries nothing", help);
    }
    check_rates(at, cell, report);
    check_windows(at, cell, report);
    check_beacons(at, cell, context, report);
    check_medium(at, cell, context, report);
    for (key, limit) in
        [("short_retry_limit", cell.short_retry_limit), ("long_retry_limit", cell.long_retry_limit)]
    {
        if limit == 0 {
            let message = "a frame is sent at least once";
            report.add(&join(at, [key]), message, "write 1 for no repetition; the standard has 7 and 4");
        }
    }
    if cell.rts_threshold_bytes > MAX_RTS_THRESHOLD_BYTES {
        let message = "no frame is longer than 2347 bytes";
        report.add(
            &join(at, ["rts_threshold"]),
            message,
            "write \"2347B\" for no RTS at all, \"0B\" for one before every frame",
        );
    }
    let threshold_bytes = cell.fragmentation_threshold_bytes;
    if !(256..=2346).contains(&threshold_bytes) || !threshold_bytes.is_multiple_of(2) {
        let message = "fragments have an even number of bytes, from 256 to 2346 (IEEE 802.11-2007 annex D)";
        let help = "write \"2346B\" for no fragments at all, \"256B\" for the shortest";
        report.add(&join(at, ["fragmentation_threshold"]), message, help);
    }
    check_protection(at, cell, report);
    check_queue(at, cell.queue, context.traffic, report);
    check_mtu(at, cell.mtu_bytes, MAX_MTU_BYTES, context.network.general.ip, report);
    rates::check(cell, at, report);
    loss::check(cell, at, context, report);
    radio::check(cell, at, context, report);
    edca::check(cell, at, report);
}

fn check_protection(at: &[Step], cell: &Wifi, report: &mut Report<'_>) {
    let Some(protection) = cell.protection else { return };
    let steps = join(at, ["protection"]);
    if cell.standard == WifiStandard::Ieee80211b {
        let help = "leave it out, or write standard = \"802.11g\"";
        report.add(&steps, "frames of 802.11b need no protection from its stations", help);
        return;
    }
    let rates_bps = WifiStandard::Ieee80211b.rates_bps();
    if !rates_bps.contains(&protection.rate_bps) {
        let rates: Vec<_> = rates_bps.iter().map(|&bps| rate_text(bps)).collect();
        let message = format!("stations of 802.11b do not understand {}", rate_text(protection.rate_bps));
        report.add(&join(&steps, ["rate"]), message, format!("802.11b has the rates {}", rates.join(", ")));
    } else if protection.preamble == Preamble::Short && protection.rate_bps == 1_000_000 {
        let message = "frames at 1Mb/s have no short preamble (IEEE 802.11-2007 section 18.2.2.2)";
        report.add(&join(&steps, ["preamble"]), message, "use the long preamble, or 2Mb/s and more");
    }
}

/// The longest beacon interval, which has sixteen bits (IEEE 802.11-2007 section 7.3.1.3), and the time unit.
const TIME_UNIT: Span = Span::from_us(1024);
const MOST_TIME_UNITS: u64 = 65_535;

/// The channels of 2.4 GHz in most of the world (IEEE 802.11-2007 table 18-9).
pub(super) const CHANNELS: RangeInclusive<u8> = 1..=13;

/// Checks the channel, the beacons, and the members of a cell with beacons.
fn check_beacons(at: &[Step], cell: &Wifi, context: &Context<'_>, report: &mut Report<'_>) {
    let steps = join(at, ["channel"]);
    if !CHANNELS.contains(&cell.channel) {
        report.add(&steps, "2.4 GHz has the channels 1 to 13", "write one of them");
    } else if cell.radio.is_none() && report.is_set(&steps) {
        let message = "without a `radio` the nodes of this cell hear each other and no other cell";
        report.add(&steps, message, "leave `channel` out, or give the cell a `radio`");
    }
    let Some(beacons) = cell.beacons else { return };
    let steps = join(at, ["beacons"]);
    if cell.radio.is_none() {
        let message = "stations find an access point by its signal, which only a `radio` has";
        let help = "write radio = { path_loss = { model = \"free_space\" } }, or leave `beacons` out";
        report.add(&steps, message, help);
    }
    if !(TIME_UNIT..=TIME_UNIT * MOST_TIME_UNITS).contains(&beacons.period) {
        let help = "write a time from \"1.024ms\" to \"67.10784s\"; \"102.4ms\" is usual";
        report.add(&join(&steps, ["period"]), "beacons come every 1 to 65535 time units of 1024 us", help);
    }
    if let Some(start) = beacons.start {
        check_start(&join(&steps, ["start"]), start, context.network.duration(), report);
    }
    let is_station = |name: &String| context.attached.is(name, Role::Station);
    if is_station(&cell.access_point) && !cell.stations.contains(&cell.access_point) {
        let message = format!("\"{}\" is a station of another cell", cell.access_point);
        let help = "a station forwards nothing; give the cell an access point of its own";
        report.add(&join(at, ["access_point"]), message, help);
    }
    let with_beacons = |name: &String| {
        let own = |cell: &&Wifi| cell.beacons.is_some() && cell.stations.contains(name);
        context.network.of::<Wifi>().iter().filter(own).count()
    };
    for (j, station) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        let Some(node) = context.names.node(station).map(|node| &context.network.nodes[node]) else {
            continue;
        };
        if context.attached.is(station, Role::Fixed) && !node.multihomed {
            let message = format!("\"{station}\" is a station of this cell and has another link");
            report.add(&steps, message, several_accesses_help(context, station, with_beacons(station)));
        } else if node.multihomed && !node.selects && with_beacons(station) > 1 {
            let message = format!(
                "\"{station}\" keeps an address in each cell (`multihomed = true`), but has one radio, which is with one access \
                 point at a time"
            );
            report.add(&steps, message, one_radio_help(context, station, with_beacons(station)));
        }
    }
}

/// Checks that cells of one medium, or with a station in common, agree.
fn check_medium(at: &[Step], cell: &Wifi, context: &Context<'_>, report: &mut Report<'_>) {
    // Pairs of cells without either are nothing to look at, and may be many.
    let has_shared = cell.stations.iter().any(|station| context.attached.of(station).len() > 1);
    if cell.radio.is_none() && !has_shared {
        return;
    }
    let mut before = context.network.of::<Wifi>().iter().take_while(|other| other.name != cell.name);
    for other in before.clone().filter(|_| has_shared) {
        let Some(station) = cell.shared_station(other) else { continue };
        let node = context.names.node(station).map(|node| &context.network.nodes[node]);
        let both = cell.beacons.is_some() && other.beacons.is_some();
        let neither = cell.beacons.is_none() && other.beacons.is_none();
        let apart = neither && (cell.radio.is_none() || other.radio.is_none());
        // With `multihomed` it has a radio in each.
        if both || (apart && node.is_none_or(|node| node.multihomed)) {
            continue;
        }
        let mut steps = join(at, ["stations"]);
        steps.extend(cell.stations.iter().position(|own| own == station).map(At));
        let message = format!(
            "\"{station}\" is a station of \"{}\" as well, and cannot choose between the two",
            other.name
        );
        let help = "write `beacons = {}` and a `radio` in both, by which it finds the stronger access point; or leave it one";
        report.add(&steps, message, help);
        return;
    }
    let Some(other) = before.find(|other| cell.shares(other)) else { return };
    let differs = [
        ("standard", cell.standard != other.standard),
        ("rate", cell.data_rate_bps() != other.data_rate_bps()),
        ("rate_control", cell.rate_control != other.rate_control),
        ("basic_rate", cell.basic_rate_bps != other.basic_rate_bps),
        ("preamble", cell.preamble != other.preamble),
        ("slot_time", cell.slot_time != other.slot_time),
        ("cw_min", cell.first_cw() != other.first_cw()),
        ("cw_max", cell.cw_max != other.cw_max),
        ("short_retry_limit", cell.short_retry_limit != other.short_retry_limit),
        ("long_retry_limit", cell.long_retry_limit != other.long_retry_limit),
        ("rts_threshold", cell.rts_threshold_bytes != other.rts_threshold_bytes),
        (
            "fragmentation_threshold",
            cell.fragmentation_threshold_bytes != other.fragmentation_threshold_bytes,
        ),
        ("protection", cell.protection != other.protection),
        ("edca", cell.edca != other.edca),
        ("radio", cell.radio != other.radio),
        ("queue", cell.queue != other.queue),
        ("mtu", cell.mtu_bytes != other.mtu_bytes),
    ];
    if let Some((key, _)) = differs.into_iter().find(|(_, differs)| *differs) {
        let what = if cell.channel == other.channel { "a channel" } else { "a station" };
        let message =
            format!("`{key}` differs from that of \"{}\", which shares {what} with this cell", other.name);
        let help = match key {
            "rate" => "write the same in both; `station_rates` has those of single stations",
            _ => "write the same in both: they are one medium, and one kind of radio",
        };
        report.add(&join(at, [key]), message, help);
    }
}

fn check_windows(at: &[Step], cell: &Wifi, report: &mut Report<'_>) {
    let windows = [("cw_min", cell.first_cw()), ("cw_max", cell.cw_max)];
    for (key, window) in windows {
        if !window.wrapping_add(1).is_power_of_two() || window > 1023 {
            let message = "a contention window is a power of two less one, up to 1023";
            let help = "IEEE 802.11 begins with 31 in 802.11b, 15 in 802.11g, and ends with 1023";
            report.add(&join(at, [key]), message, help);
            return;
        }
    }
    if cell.cw_max < cell.first_cw() {
        let message = format!("`cw_max` is smaller than `cw_min`, {}", cell.first_cw());
        report.add(&join(at, ["cw_max"]), message, "write the same for a window that does not grow");
    }
}

fn check_rates(at: &[Step], cell: &Wifi, report: &mut Report<'_>) {
    let standard = cell.standard.name();
    let known = |bps: u64| cell.standard.rates_bps().contains(&bps);
    let list = cell.standard.rates_text();
    let mut rates = vec![(join(at, ["rate"]), cell.data_rate_bps())];
    rates.extend(cell.basic_rate_bps.map(|bps| (join(at, ["basic_rate"]), bps)));
    for (number, entry) in cell.station_rates.iter().enumerate() {
        let place = [&join(at, ["station_rates"])[..], &[At(number), Key("rate")]].concat();
        rates.push((place, entry.rate_bps));
    }
    for (place, bps) in rates {
        if !known(bps) {
            report.add(&place, format!("{standard} has no rate of {}", rate_text(bps)), &list);
            return;
        }
    }
    check_station_rates(at, cell, report);
    let Some(lowest_bps) = cell.lowest_rate_bps() else { return };
    if cell.basic_rate_bps.is_some_and(|bps| bps > lowest_bps) {
        let lowest = rate_text(lowest_bps);
        let message = match cell.rate_control {
            Some(_) => {
                format!("`basic_rate` is above the lowest rate that `rate_control` may choose, {lowest}")
            }
            None => format!("`basic_rate` is above the rate of a station, {lowest}"),
        };
        let help = "acknowledgements are sent no faster than data; lower it or leave it out";
        report.add(&join(at, ["basic_rate"]), message, help);
    }
    match cell.standard {
        WifiStandard::Ieee80211b => {
            let slow = lowest_bps == 1_000_000 || cell.basic_rate_bps == Some(1_000_000);
            if cell.preamble == Preamble::Short && slow {
                let message = "frames at 1Mb/s have no short preamble (IEEE 802.11-2007 section 18.2.2.2)";
                let help = "use the long preamble, or 2Mb/s and more for data and acknowledgements";
                report.add(&join(at, ["preamble"]), message, help);
            }
            refuse_of_the_other(at, "slot_time", "802.11g", report);
        }
        WifiStandard::Ieee80211g => refuse_of_the_other(at, "preamble", "802.11b", report),
    }
}

fn check_station_rates(at: &[Step], cell: &Wifi, report: &mut Report<'_>) {
    let stations: BTreeSet<_> = cell.stations.iter().collect();
    let mut named = BTreeSet::new();
    for (number, entry) in cell.station_rates.iter().enumerate() {
        for (j, name) in entry.stations.iter().enumerate() {
            let place = [&join(at, ["station_rates"])[..], &[At(number), Key("stations"), At(j)]].concat();
            if !stations.contains(name) {
                let help =
                    format!("write it among the `stations` of \"{}\", or leave it out here", cell.name);
                report.add(&place, format!("\"{name}\" is not a station of this cell"), help);
            } else if !named.insert(name) {
                report.add(&place, format!("\"{name}\" has a rate already"), "name each station once");
            }
        }
    }
}

/// Refuses a key that has no effect on this physical layer.
fn refuse_of_the_other(at: &[Step], key: &'static str, other: &str, report: &mut Report<'_>) {
    let steps = join(at, [key]);
    if report.is_set(&steps) {
        let message = format!("`{key}` is of {other}");
        report.add(&steps, message, format!("leave it out, or write standard = \"{other}\""));
    }
}
