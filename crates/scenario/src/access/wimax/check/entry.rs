//! Checks of network entry in an 802.16 cell.

use roamsim_engine::{Span, Time};
use roamsim_network::link::wimax::Timers;
use roamsim_network::mobility::ever_within;

use super::radio;
use crate::access::stations::one_radio_help;
use crate::access::wimax::entry::{Entry, Limit};
use crate::access::wimax::model::Wimax;
use crate::access::wimax::scanning;
use crate::access::{Context, stations};
use crate::report::{At, Report, Step, join};
use crate::units::{self, length_text};

/// Checks the entry of a cell whose keys are under `at`.
pub(super) fn check(
    cell: &Wimax,
    entry: &Entry,
    at: &[Step],
    context: &Context<'_>,
    report: &mut Report<'_>,
) {
    stations::check_members(at, &cell.base_station, &cell.stations, context, report);
    check_one_radio(cell, at, context, report);
    let steps = join(at, ["entry"]);
    check_limits(cell, entry, &steps, report);
    if let Some(scanning) = &entry.scanning {
        scanning::check(&join(&steps, ["scanning"]), cell.frame, scanning, report);
    }
    let mut refuse =
        |key: &'static str, message: &str, help: &str| report.add(&join(&steps, [key]), message, help);
    if entry.ranging_opportunities == 0 {
        refuse(
            "ranging_opportunities",
            "without an opportunity nobody can enter",
            "write 1 or more; 2 is the default",
        );
    }
    for (key, exponent) in [
        ("ranging_backoff_start", entry.ranging_backoff_start),
        ("ranging_backoff_end", entry.ranging_backoff_end),
    ] {
        if exponent > 15 {
            let message = "an exponent of the back-off has four bits (IEEE Std 802.16-2004 section 11.3)";
            refuse(key, message, "write a number from 0 to 15");
        }
    }
    if entry.ranging_backoff_start > entry.ranging_backoff_end {
        let message =
            format!("`ranging_backoff_start` is above `ranging_backoff_end`, {}", entry.ranging_backoff_end);
        refuse("ranging_backoff_start", &message, "write the same for a window that does not grow");
    }
    if !(1..=1000).contains(&entry.channels) {
        refuse(
            "channels",
            "a station searches 1 to 1000 channels",
            "write how many it knows of; 1 is the default",
        );
    } else if !(1..=entry.channels).contains(&entry.channel) {
        let message = format!("the station searches {} channels, and never this one", entry.channels);
        refuse("channel", &message, "write its place among them, from 1");
    }
    for (key, time) in
        [("search_interval", entry.search_interval), ("report_interval", entry.report_interval)]
    {
        if time < Span::from_ms(1) {
            refuse(key, "at most once a millisecond", "write a longer time, such as \"100ms\"");
        }
    }
    if entry.going_down_ahead == Some(Span::ZERO) {
        let help = "write a time above zero, such as \"2s\", or leave it out";
        refuse("going_down_ahead", "with no time ahead Link_Going_Down comes when the link is down", help);
    }
    let reach_m = match (entry.radius_m, &entry.radio) {
        (None, None) => {
            let message = "the reach of the cell is missing";
            report.add(&steps, message, "write a `radius`, such as \"500m\", or a `radio`");
            return;
        }
        (Some(_), Some(_)) => {
            let message = "`radius` and `radio` both set how far signals reach";
            refuse("radius", message, "leave one of them out");
            return;
        }
        (Some(radius_m), None) if radius_m <= 0.0 => {
            let help = "write a radius above zero, such as \"500m\"";
            refuse("radius", "a cell of no radius reaches nobody", help);
            return;
        }
        (Some(radius_m), None) => radius_m,
        (None, Some(radio)) => {
            if !radio::check(&join(&steps, ["radio"]), cell, radio, report) {
                return;
            }
            let Some(reach_m) = entry.reach_m(cell) else { return };
            reach_m
        }
    };
    let trajectory =
        |name: &str| context.names.node(name).and_then(|node| context.trajectories[node].as_ref());
    let Some(base_station) = trajectory(&cell.base_station) else { return };
    let stations: Option<Vec<_>> = cell.stations.iter().map(|name| trajectory(name)).collect();
    // What is wrong with a station was reported.
    let Some(stations) = stations.filter(|stations| !stations.is_empty()) else { return };
    let end = Time::ZERO + context.network.duration();
    if !stations.iter().any(|station| ever_within(station, base_station, reach_m, end)) {
        let (key, what) = match entry.radio {
            Some(_) => ("radio", "give it more power"),
            None => ("radius", "make its radius larger"),
        };
        let message = format!("nobody ever comes into this cell: it reaches {}", length_text(reach_m));
        let help = format!("{what}, move the base station, or lead a station there before the run ends");
        report.add(&join(&steps, [key]), message, help);
        return;
    }
    let Some(radio) = &entry.radio else { return };
    for (number, (name, walk)) in cell.stations.iter().zip(&stations).enumerate() {
        let within = |reach_m| ever_within(walk, base_station, reach_m, end);
        if !within(reach_m) {
            continue;
        }
        let place = [&join(at, ["stations"])[..], &[At(number)]].concat();
        let ranging_m = radio.reach_m(cell, cell.most_robust(), true).filter(|&far_m| !within(far_m));
        if let Some(ranging_m) = ranging_m {
            let message = format!(
                "\"{name}\" hears maps here, but its RNG-REQ is never heard: in {} it reaches {}",
                cell.most_robust().name(),
                length_text(ranging_m)
            );
            let help = "write a higher `station_transmit_power` in `radio`, or lead the station nearer";
            report.add(&place, message, help);
            continue;
        }
        if radio.adaptation.is_some() {
            continue;
        }
        for (way, profile, uplink) in
            [("to", cell.profiles(name).0, false), ("from", cell.profiles(name).1, true)]
        {
            let Some(profile_m) = radio.reach_m(cell, profile, uplink).filter(|&far_m| !within(far_m)) else {
                continue;
            };
            let message = format!(
                "\"{name}\" hears maps here, but bursts {way} it are never understood: {} reaches {}",
                profile.name(),
                length_text(profile_m)
            );
            let help = "write `adaptation = {}` in `radio`, or a more robust profile in `station_profiles`";
            report.add(&place, message, help);
            break;
        }
    }
}

/// A station has one radio for 802.16: with an address in each cell it would have to be in several at once.
fn check_one_radio(cell: &Wimax, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    for (j, station) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        let others = context.network.of::<Wimax>().iter().filter(|other| other.name != cell.name);
        let keeps_all = context.names.node(station).is_some_and(|node| {
            let node = &context.network.nodes[node];
            node.multihomed && !node.selects
        });
        if !keeps_all {
            continue;
        }
        if let Some(other) = others.into_iter().find(|other| other.stations.contains(station)) {
            let message = format!(
                "\"{station}\" keeps an address in each cell (`multihomed = true`), and is a station of [[wimax]] \"{}\" as well",
                other.name
            );
            let cells =
                context.network.of::<Wimax>().iter().filter(|cell| cell.stations.contains(station)).count();
            let help = format!("it has one radio for 802.16: {}", one_radio_help(context, station, cells));
            report.add(&steps, message, help);
        }
    }
}

/// The keys of a time, the name by which it may be beyond the standard's limits, the time, and the limits.
type Limited = (&'static [&'static str], Limit, Span, (Span, Span));

/// Checks timers and intervals against the standard's limits.
fn check_limits(cell: &Wimax, entry: &Entry, at: &[Step], report: &mut Report<'_>) {
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
        lost_downlink_map,
        lost_uplink_map,
    } = entry.timers(cell.frame);
    let (ms, s) = (Span::from_ms, Span::from_secs);
    let frames = cell.frame + cell.frame;
    let most = |at_most: Span| (Span::from_ns(1), at_most);
    let limits: [Limited; 17] = [
        (&["dcd_interval"], Limit::DcdInterval, entry.dcd_interval, most(s(10))),
        (&["ucd_interval"], Limit::UcdInterval, entry.ucd_interval, most(s(10))),
        (&["ranging_interval"], Limit::RangingInterval, entry.ranging_interval, most(s(2))),
        (&["timers", "t1"], Limit::T1, t1, most(s(50))),
        (&["timers", "t2"], Limit::T2, t2, most(s(10))),
        (&["timers", "t3"], Limit::T3, t3, most(ms(200))),
        (&["timers", "t4"], Limit::T4, t4, most(s(35))),
        (&["timers", "t6"], Limit::T6, t6, most(s(3))),
        (&["timers", "t7"], Limit::T7, t7, most(s(1))),
        (&["timers", "t8"], Limit::T8, t8, most(ms(300))),
        (&["timers", "t9"], Limit::T9, t9, (ms(300), Span::MAX)),
        (&["timers", "t12"], Limit::T12, t12, most(s(50))),
        // From 0 to 300 ms, T9's least: the range of this object of the MIB.
        (&["timers", "t18"], Limit::T18, t18, most(t9)),
        (&["timers", "t20"], Limit::T20, t20, (frames, Span::MAX)),
        (&["timers", "t21"], Limit::T21, t21, most(s(10))),
        (&["timers", "lost_dl_map"], Limit::LostDlMap, lost_downlink_map, most(ms(600))),
        (&["timers", "lost_ul_map"], Limit::LostUlMap, lost_uplink_map, most(ms(600))),
    ];
    for (key, time) in [("t27_idle", t27_idle), ("t27_active", t27_active)] {
        if time < frames {
            let message = "a granted burst and its answer take two frames";
            report.add(&join(at, ["timers", key]), message, "write a longer time, such as \"500ms\"");
        }
    }
    if t27_idle >= t4 {
        let message =
            format!("every idle station would begin network entry again after T4, {}", units::time_text(t4));
        let help = "write a shorter time: T4 waits for the bursts that come by it";
        report.add(&join(at, ["timers", "t27_idle"]), message, help);
    }
    for (keys, limit, time, (least, most)) in limits {
        let steps = keys.iter().fold(at.to_vec(), |steps, key| join(&steps, [*key]));
        let key = keys.last().copied().unwrap_or_default();
        // What was left out follows from an interval, of which it is told.
        if !report.is_set(&steps) {
            continue;
        }
        if time == Span::ZERO {
            report.add(&steps, "this time must be above zero", "write a time above zero");
            continue;
        }
        if (least..=most).contains(&time) || entry.beyond_standard.contains(&limit) {
            continue;
        }
        let (word, bound) = if time < least { ("at least", least) } else { ("at most", most) };
        let source = match limit {
            Limit::T18 => "T9: IEEE Std 802.16f-2005, wmanIfSsT18Timeout",
            _ => "IEEE Std 802.16-2004 table 342",
        };
        let message = format!("the standard has {word} {} here ({source})", units::time_text(bound));
        let help = format!(
            "write {word} \"{}\", or beyond_standard = [\"{key}\"] in `entry`",
            units::time_text(bound)
        );
        report.add(&steps, message, help);
    }
}
