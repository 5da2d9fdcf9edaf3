//! 802.16 cells.

mod arq;
mod entry;
mod ofdma;
mod radio;

use std::collections::BTreeSet;

use roamsim_engine::Span;
use roamsim_network::link::wimax::pdu::{FRAGMENT_BYTES, LONGEST_PDU_BYTES, PIGGYBACK_BYTES};
use roamsim_network::link::wimax::phy::{BurstProfile, FRAME_DURATIONS};
use roamsim_network::link::wimax::pusc;
use roamsim_network::link::wimax::{
    CellConfig, LONGEST_FROM_STATION_BYTES, Service, StationConfig, longest_to_station_bytes,
};
use roamsim_network::mobility::{Point, Trajectory};

use super::build::{LEAST_T16, clock, config};
use super::model::{RequestLimit, Served, Wimax};
use crate::access::mtu::check_mtu;
use crate::access::queue::{SEND_SOME, check_queue};
use crate::access::{Context, Traffic};
use crate::report::{At, Key, Report, Step, join};

/// The widest channel of the standard's lists (IEEE Std 802.16-2004 annex B.2).
const WIDEST_HZ: u64 = 28_000_000;

/// A PDU can be so long, with all that may be around its data.
const MAX_MTU_BYTES: u64 = (LONGEST_PDU_BYTES - FRAGMENT_BYTES - PIGGYBACK_BYTES) as u64;

/// Back-off start and end have four bits (IEEE Std 802.16-2004 section 11.3).
const LARGEST_EXPONENT: u32 = 15;

/// The standard's least number of retries (IEEE Std 802.16-2004 table 342).
const LEAST_RETRIES: u32 = 16;

/// Grants more often than that are no service of the standard, and more steps than packets.
const SHORTEST_INTERVAL: Span = Span::from_ms(1);

pub(super) fn check(cell: &Wimax, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    match &cell.entry {
        Some(entry) => entry::check(cell, entry, at, context, report),
        None => check_members(at, cell, context, report),
    }
    let profiles = cell.station_profiles.iter().map(|entry| &entry.stations);
    check_profiles(at, profiles, cell, report);
    check_services(at, cell, context.traffic, report);
    check_requests(at, cell, report);
    check_queue(at, cell.queue, context.traffic, report);
    check_mtu(at, cell.mtu_bytes, MAX_MTU_BYTES, context.network.general.ip, report);
    let phy = check_channel(at, cell, report) & ofdma::check(at, cell, report);
    if phy && check_grants(at, cell, report) & arq::check(at, cell, report) {
        check_room(at, cell, report);
    }
}

/// Checks a base station and stations that are always connected.
fn check_members(at: &[Step], cell: &Wimax, context: &Context<'_>, report: &mut Report<'_>) {
    context.names.resolve(&cell.base_station, &join(at, ["base_station"]), report);
    let mut named = BTreeSet::new();
    for (j, station) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        context.names.resolve(station, &steps, report);
        if *station == cell.base_station {
            let message = format!("\"{station}\" is the base station of this cell");
            report.add(&steps, message, "name a node that is not the base station");
        } else if !named.insert(station) {
            report.add(&steps, format!("\"{station}\" is named twice"), "name each station once");
        }
    }
    if cell.stations.is_empty() {
        let help = "name the nodes that are stations here";
        report.add(&join(at, ["stations"]), "a cell without stations carries nothing", help);
    }
}

/// Refuses a name that is that of no station of a cell; whether it is one.
fn is_station(name: &String, place: &[Step], cell: &Wimax, report: &mut Report<'_>) -> bool {
    let known = cell.stations.contains(name);
    if !known {
        let help = format!("write it among the `stations` of \"{}\", or leave it out here", cell.name);
        report.add(place, format!("\"{name}\" is not a station of this cell"), help);
    }
    known
}

/// Checks the stations of burst profiles: each is one of this cell, and in one entry of them all.
fn check_profiles<'a>(
    at: &[Step],
    entries: impl Iterator<Item = &'a Vec<String>>,
    cell: &Wimax,
    report: &mut Report<'_>,
) {
    let mut named = BTreeSet::new();
    for (number, stations) in entries.enumerate() {
        for (j, name) in stations.iter().enumerate() {
            let steps = join(at, ["station_profiles"]);
            let place = [&steps[..], &[At(number), Key("stations"), At(j)]].concat();
            if is_station(name, &place, cell, report) && !named.insert(name) {
                report.add(&place, format!("\"{name}\" is named twice"), "name each station once");
            }
        }
    }
}

/// Checks the stations of services: each is one of this cell, and has one service for what no other is for,
/// and one for each class. Warns of services for classes of which nothing is sent.
fn check_services(at: &[Step], cell: &Wimax, traffic: &dyn Traffic, report: &mut Report<'_>) {
    let (mut named, mut classes) = (BTreeSet::new(), BTreeSet::new());
    let sent = traffic.sent_dscps();
    for Served { place: (key, number), stations, dscp, .. } in cell.served() {
        let entry = [&join(at, [key])[..], &[At(number)]].concat();
        if dscp.is_some_and(<[_]>::is_empty) {
            let help = "write classes, such as [\"ef\"]; or leave `dscp` out, for all packets";
            report.add(&join(&entry, ["dscp"]), "no packet would get this service", help);
        } else if dscp.is_some_and(|dscp| !dscp.iter().any(|class| sent.contains(&class.codepoint()))) {
            report.warn(&join(&entry, ["dscp"]), "nothing here sends packets of this class", SEND_SOME);
        }
        for (j, name) in stations.iter().enumerate() {
            let place = [&entry[..], &[Key("stations"), At(j)]].concat();
            if !is_station(name, &place, cell, report) {
                continue;
            }
            let Some(dscp) = dscp else {
                if !named.insert(name) {
                    let help = "name each station once; or give one of the entries a `dscp`, for the packets that it is for";
                    report.add(&place, format!("\"{name}\" is named twice"), help);
                }
                continue;
            };
            for (k, class) in dscp.iter().enumerate() {
                if !classes.insert((name, class.codepoint())) {
                    let place = [&entry[..], &[Key("dscp"), At(k)]].concat();
                    let message =
                        format!("packets of DSCP {} of \"{name}\" have a service already", class.codepoint());
                    report.add(&place, message, "name each class of a station once");
                }
            }
        }
    }
}

/// Checks bandwidth, frame and split; whether they are of the standard.
fn check_channel(at: &[Step], cell: &Wimax, report: &mut Report<'_>) -> bool {
    let mut good = true;
    let mut refuse = |key: &'static str, message: &str, help: &str| {
        report.add(&join(at, [key]), message, help);
        good = false;
    };
    let (message, durations, frames) = match &cell.ofdma {
        None => (
            "no channel of this bandwidth is modelled (IEEE Std 802.16-2004 table 213)",
            &FRAME_DURATIONS[..],
            "WirelessMAN-OFDM has no frame of this duration (IEEE Std 802.16-2004 table 230)",
        ),
        Some(_) => (
            "no channel of this bandwidth is modelled (IEEE Std 802.16e-2005 section 8.4.2.3)",
            &pusc::FRAME_DURATIONS[..],
            "WirelessMAN-OFDMA has no frame of this duration (IEEE Std 802.16e-2005 table 274)",
        ),
    };
    if clock(cell).is_none() || cell.bandwidth_hz > WIDEST_HZ {
        let help = "write a multiple of 1.75, 1.5, 1.25, 2.75 or 2 MHz, up to \"28MHz\", such as \"5MHz\" or \"7MHz\"";
        refuse("bandwidth", message, help);
    }
    if !durations.contains(&cell.frame) {
        let message = frames;
        let shortest = if cell.ofdma.is_some() { "\"2ms\", " } else { "" };
        let help =
            format!("write {shortest}\"2.5ms\", \"4ms\", \"5ms\", \"8ms\", \"10ms\", \"12.5ms\" or \"20ms\"");
        refuse("frame", message, &help);
    }
    if !(cell.downlink_share > 0.0 && cell.downlink_share < 1.0) {
        let help = "write a number between 0 and 1, such as 0.5";
        refuse("downlink_share", "both directions need a share of the frame", help);
    }
    good
}

/// Checks unsolicited grants one by one; whether they can be counted.
fn check_grants(at: &[Step], cell: &Wimax, report: &mut Report<'_>) -> bool {
    let mut good = true;
    for (number, entry) in cell.unsolicited_grants.iter().enumerate() {
        let steps = [&join(at, ["unsolicited_grants"])[..], &[At(number)]].concat();
        if !(1..=cell.mtu_bytes).contains(&entry.packet_bytes) {
            let help = "write the length of the packets that the application makes, with their headers";
            let message = format!("a packet has 1 B to {} B, the MTU", cell.mtu_bytes);
            report.add(&join(&steps, ["packet_size"]), message, help);
            good = false;
        }
        if entry.interval < SHORTEST_INTERVAL {
            let message = "grants come at most once a millisecond";
            report.add(&join(&steps, ["interval"]), message, "write a longer time, such as \"20ms\"");
            good = false;
        }
    }
    let polls = [
        ("real_time_polling", &cell.real_time_polling),
        ("non_real_time_polling", &cell.non_real_time_polling),
    ];
    for (key, list) in polls {
        for (number, _) in list.iter().enumerate().filter(|(_, entry)| entry.interval < SHORTEST_INTERVAL) {
            let steps = [&join(at, [key])[..], &[At(number), Key("interval")]].concat();
            report.add(
                &steps,
                "polls come at most once a millisecond",
                "write a longer time, such as \"20ms\"",
            );
            good = false;
        }
    }
    good
}

fn check_requests(at: &[Step], cell: &Wimax, report: &mut Report<'_>) {
    let requests = &cell.requests;
    let at = &join(at, ["requests"])[..];
    if requests.opportunities == 0 {
        let help = "write 1 or more; 4 is the default";
        let message = "without an opportunity nobody can ask for bandwidth";
        report.add(&join(at, ["opportunities"]), message, help);
    }
    for (key, exponent) in [("backoff_start", requests.backoff_start), ("backoff_end", requests.backoff_end)]
    {
        if exponent > LARGEST_EXPONENT {
            let message = "an exponent of the back-off has four bits (IEEE Std 802.16-2004 section 11.3)";
            report.add(&join(at, [key]), message, "write a number from 0 to 15");
        }
    }
    if requests.backoff_start > requests.backoff_end {
        let message = format!("`backoff_start` is above `backoff_end`, {}", requests.backoff_end);
        let help = "write the same for a window that does not grow";
        report.add(&join(at, ["backoff_start"]), message, help);
    }
    let beyond = |limit| requests.beyond_standard.contains(&limit);
    if requests.retries < LEAST_RETRIES && !beyond(RequestLimit::Retries) {
        let message = "the standard has 16 retries at least (IEEE Std 802.16-2004 table 342)";
        let help = "write 16 or more, or beyond_standard = [\"retries\"] beside it";
        report.add(&join(at, ["retries"]), message, help);
    }
    if requests.t16.is_some_and(|t16| t16 < LEAST_T16) && !beyond(RequestLimit::T16) {
        let message = "the standard has a T16 of 10 ms at least (IEEE Std 802.16-2004 table 342)";
        let help = "write a longer time, or beyond_standard = [\"t16\"] beside it";
        report.add(&join(at, ["t16"]), message, help);
    }
    if requests.t16 == Some(Span::ZERO) {
        report.add(&join(at, ["t16"]), "this time must be above zero", "write a time such as \"10ms\"");
    }
}

/// A station as it is where its burst profiles have adapted to the least signal.
fn robust(station: &StationConfig, adapts: bool, most: BurstProfile) -> StationConfig {
    match adapts {
        true => StationConfig { downlink: most, uplink: most, ..*station },
        false => *station,
    }
}

/// Checks that each subframe has symbols for data, and for messages of network entry.
fn check_room(at: &[Step], cell: &Wimax, report: &mut Report<'_>) {
    // Places do not matter here.
    let nowhere = |_: &str| Trajectory::fixed(Point::default());
    let Some(config) = config(cell, nowhere) else { return };
    let CellConfig { layout, stations, map_profile, .. } = &config;
    if !ofdma::check_opportunities(at, cell, layout.uplink_symbols, report) {
        return;
    }
    let adapts = config.entry.as_ref().and_then(|entry| entry.radio.as_ref()?.adaptation).is_some();
    // Where profiles adapt, the most robust one may be the one of all.
    let stations: Vec<StationConfig> =
        stations.iter().map(|station| robust(station, adapts, layout.profiles()[0])).collect();
    let enters = config.entry.is_some();
    let services = || {
        let own = stations.iter().map(|station| (station, station.service));
        own.chain(config.flows.iter().map(|flow| (&stations[flow.station as usize], flow.service)))
    };
    let asks = services().any(|(_, service)| !matches!(service, Service::UnsolicitedGrant { .. }));
    // Who enters is admitted when it does; others are all there at once.
    let unasked = services()
        .map(|(station, service)| service.most_unsolicited_units(layout, station.uplink))
        .filter(|&units| units > 0);
    let (most, sum, count) = unasked
        .fold((0, 0u64, 0), |(most, sum, count), units| (units.max(most), sum + u64::from(units), count + 1));
    let (grants, unasked) = if enters { (u64::from(most), count.min(1)) } else { (sum, count) };
    let bursts = unasked + u32::from(enters || asks);
    // A burst a profile, and the most robust one for messages.
    let all = layout.profiles().iter().copied().filter(|_| adapts);
    let profiles: BTreeSet<_> = stations
        .iter()
        .map(|station| station.downlink)
        .chain(enters.then_some(*map_profile))
        .chain(all)
        .collect();
    let profiles = profiles.len() as u32;
    // A fragment of one octet in the slowest profile.
    let unit = layout.unit();
    let least_downlink = stations
        .iter()
        .map(|station| unit.burst_units(station.downlink, FRAGMENT_BYTES + 1))
        .max()
        .unwrap_or(0);
    let asks = stations.iter().filter(|station| station.service == Service::BestEffort);
    let least_uplink = asks.map(|station| unit.preamble() + station.least_units(unit)).max().unwrap_or(0);
    // Blocks are not cut.
    let repeats = stations.iter().zip(0..).filter(|(station, number)| {
        station.arq || config.flows.iter().any(|flow| flow.station == *number && flow.arq)
    });
    let block_bytes = FRAGMENT_BYTES + config.arq.map_or(0, |arq| arq.block_bytes);
    let blocks = repeats.map(|(station, _)| {
        let up = unit.preamble() + unit.burst_units(station.uplink, block_bytes + PIGGYBACK_BYTES);
        (unit.burst_units(station.downlink, block_bytes), up)
    });
    let (block_down, block_up) =
        blocks.fold((0, 0), |(down, up), (own_down, own_up)| (own_down.max(down), own_up.max(up)));
    // Messages are not cut.
    let message =
        stations.iter().filter(|_| enters).map(|station| station.message_units(unit)).max().unwrap_or(0);
    let longest_bytes = longest_to_station_bytes(!config.flows.is_empty());
    let told = if enters { unit.burst_units(*map_profile, longest_bytes) } else { 0 };
    let (down, up) = (layout.downlink_units(), layout.uplink_units());
    let robust = match adapts {
        true => {
            format!("; bursts are reckoned in {}, to which `adaptation` may lead", cell.most_robust().name())
        }
        false => String::new(),
    };
    let units = if cell.ofdma.is_some() { "slots" } else { "symbols" };
    let help = "write a longer `frame`, a wider `bandwidth`, shorter gaps, or another `downlink_share`";
    let fewer = match adapts {
        true => {
            "give them to fewer stations, at a longer interval, widen the uplink, or leave `adaptation` out"
        }
        false => "give them to fewer stations, at a longer interval, or widen the uplink",
    };
    let requests_help = format!("write fewer `opportunities`; or {}", help.trim_start_matches("write "));
    if down + up == 0 {
        let message = "the gaps leave no symbol of a frame";
        report.add(&join(at, ["transmit_gap"]), message, "write shorter gaps, such as \"100us\"");
    } else if config.least_downlink_room(profiles, bursts.min(1)) < least_downlink {
        let message = format!(
            "the downlink of a frame has {down} {units}: preamble, header and maps leave no room for data{robust}"
        );
        report.add(&join(at, ["downlink_share"]), message, help);
    } else if config.least_downlink_room(profiles, bursts.min(1)) < block_down
        || config.least_uplink_room() < block_up
    {
        let message = format!(
            "a block takes up to {block_down} {units} of the downlink and {block_up} of the uplink, and is never cut: preamble, header and maps \
             leave {}, opportunities {}{robust}",
            config.least_downlink_room(profiles, bursts.min(1)),
            config.least_uplink_room()
        );
        let help = format!("write a smaller `block_size`; or {}", help.trim_start_matches("write "));
        report.add(&join(at, ["arq", "block_size"]), message, help);
    } else if config.most_message_room() < told {
        let message = format!(
            "no station could ever enter: a message of {longest_bytes} B takes {told} {units} of the downlink. It has \
             {down}; preamble, header, maps and descriptors leave {}",
            config.most_message_room()
        );
        let help = format!(
            "write a longer `dcd_interval` or `ucd_interval` in `entry`; or {}",
            help.trim_start_matches("write ")
        );
        report.add(&join(at, ["downlink_share"]), message, help);
    } else if config.least_uplink_room() < least_uplink {
        let message = format!(
            "the uplink of a frame has {up} {units}: {} opportunities for requests{} leave no room for data{robust}",
            config.request_opportunities,
            match (enters, cell.ofdma) {
                (true, None) => ", of 2 each, with those for ranging, of 5 each,",
                (false, None) => ", of 2 each,",
                (true, Some(_)) => ", with those for ranging,",
                (false, Some(_)) => "",
            }
        );
        report.add(&join(at, ["requests"]), message, requests_help);
    } else if config.most_uplink_room() < message {
        let message = format!(
            "no station could ever enter: a message of {LONGEST_FROM_STATION_BYTES} B takes {message} {units} of the uplink. \
             It has {up}; opportunities leave {}{robust}",
            config.most_uplink_room()
        );
        let help = format!(
            "write a longer `ranging_interval` in `entry`, or fewer `opportunities`; or {}",
            help.trim_start_matches("write ")
        );
        report.add(&join(at, ["requests"]), message, help);
    } else if u64::from(config.least_uplink_room()) < grants + u64::from(least_uplink.max(block_up)) {
        let message = format!(
            "unsolicited grants and polls take up to {grants} {units} of a frame, and the uplink has {} for data{robust}",
            config.least_uplink_room()
        );

        report.add(&join(at, ["unsolicited_grants"]), message, fewer);
    } else if u64::from(config.most_uplink_room()) < grants + u64::from(message) {
        let message = format!(
            "unsolicited grants and polls take up to {grants} {units} of a frame, and leave no room for messages of network entry, which \
             take {message}: the uplink has {}{robust}",
            config.most_uplink_room()
        );

        report.add(&join(at, ["unsolicited_grants"]), message, fewer);
    } else if config.least_downlink_room(profiles, bursts) < least_downlink.max(block_down) {
        let message = format!("the map of {bursts} uplink bursts leaves no room for data on the downlink");
        let help = "give unsolicited grants and polls to fewer stations, or widen the downlink";
        report.add(&join(at, ["unsolicited_grants"]), message, help);
    }
}
