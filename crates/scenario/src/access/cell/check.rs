//! Abstract radio cells.

use roamsim_engine::{Span, Time};
use roamsim_network::mobility::{Trajectory, ever_within};

use super::build::radius_m;
use super::model::{Cell, Coverage, ErrorTable};
use crate::Scenario;
use crate::access::mtu::{MAX_MTU_BYTES, check_mtu};
use crate::access::queue::check_queue;
use crate::units::length_text;
use crate::validate::names::Names;
use crate::validate::{At, Key, Report, Step, check_start, join};

/// Beacons at a shorter period are more events than packets.
const SHORTEST_PERIOD: Span = Span::from_ms(1);

/// A larger exponent is no law of nature, and its powers are zero.
const LARGEST_EXPONENT: f64 = 100.0;

pub(crate) fn check(
    scenario: &Scenario,
    names: &Names<'_>,
    trajectories: &[Option<Trajectory>],
    report: &mut Report<'_>,
) {
    for (i, cell) in scenario.cells.iter().enumerate() {
        let at = [Key("cell"), At(i)];
        check_members(&at, cell, scenario, names, report);
        if cell.rate_bps == 0 {
            report.add(&join(&at, ["rate"]), "a rate of zero carries nothing", "write a rate above zero");
        }
        // A header of IPv4 must take at least a nanosecond, or time stands still.
        if Span::of_transmission(20, cell.rate_bps) == Span::ZERO {
            let message = "a packet takes no time in this cell: its rate is too high";
            report.add(&join(&at, ["rate"]), message, "write a rate below 320 Gb/s");
        }
        check_queue(&at, cell.queue, report);
        check_mtu(&at, cell.mtu_bytes, MAX_MTU_BYTES, scenario.general.ip, report);
        let advertisement = &cell.advertisement;
        let steps = join(&at, ["advertisement"]);
        check_start(&join(&steps, ["start"]), advertisement.start, scenario, report);
        if advertisement.period < SHORTEST_PERIOD {
            let message = "a base station beacons once a millisecond at most";
            report.add(&join(&steps, ["period"]), message, "write a longer time, such as \"100ms\"");
        }
        if advertisement.lifetime == 0 {
            let help = "write 1 or more; 3 is usual";
            report.add(&join(&steps, ["lifetime"]), "no cell survives zero missed beacons", help);
        }
        if !(1..=MAX_MTU_BYTES).contains(&advertisement.size_bytes) {
            let help = format!("write a size from \"1B\" to \"{MAX_MTU_BYTES}B\"");
            report.add(&join(&steps, ["size"]), "a beacon has a size", help);
        }
        if check_coverage(&at, &cell.coverage, report) {
            check_reach(&at, cell, scenario, names, trajectories, report);
        }
    }
}

fn check_members(at: &[Step], cell: &Cell, scenario: &Scenario, names: &Names<'_>, report: &mut Report<'_>) {
    let place = |name: &str, steps: &[Step], report: &mut Report<'_>| {
        let Some(node) = names.resolve(name, steps, report) else { return };
        let node = &scenario.nodes[node];
        if node.position.is_none() && node.motion.is_none() {
            let help = format!("write in [[node]] \"{name}\": position = {{ x = \"0m\", y = \"0m\" }}");
            report.add(steps, format!("\"{name}\" is in a cell, but it has no position"), help);
        }
    };
    place(&cell.base_station, &join(at, ["base_station"]), report);
    if scenario.cells.iter().any(|other| other.stations.contains(&cell.base_station))
        && !cell.stations.contains(&cell.base_station)
    {
        let message = format!("\"{}\" is a station of another cell", cell.base_station);
        let help = "a station forwards nothing; give the cell a base station of its own";
        report.add(&join(at, ["base_station"]), message, help);
    }
    if cell.stations.is_empty() {
        let help = "name the nodes that may be stations here";
        report.add(&join(at, ["stations"]), "a cell without stations carries nothing", help);
    }
    for (j, station) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        place(station, &steps, report);
        if *station == cell.base_station {
            let message = format!("\"{station}\" is the base station of this cell");
            report.add(&steps, message, "a station is another node than the base station");
            continue;
        } else if cell.stations[..j].contains(station) {
            report.add(&steps, format!("\"{station}\" is named twice"), "name each station once");
        }
        let wired = scenario.links.iter().any(|link| link.between.contains(station));
        let wifi =
            scenario.wifi.iter().any(|wifi| wifi.access_point == *station || wifi.stations.contains(station));
        let multihomed = names.node(station).is_some_and(|node| scenario.nodes[node].multihomed);
        if (wired || wifi) && !multihomed {
            let message = format!("\"{station}\" is a station, and has another link as well");
            let help =
                "with `multihomed = true` it keeps an address on each; without, a station is in cells alone";
            report.add(&steps, message, help);
        }
    }
}

/// Checks the error model; whether it has a radius.
fn check_coverage(at: &[Step], coverage: &Coverage, report: &mut Report<'_>) -> bool {
    let steps = join(at, ["coverage"]);
    let radius = |radius_m: f64, report: &mut Report<'_>| {
        if radius_m <= 0.0 {
            let help = "write a radius above zero, such as \"250m\"";
            report.add(&join(&steps, ["radius"]), "a cell of no radius reaches nobody", help);
        }
        radius_m > 0.0
    };
    match coverage {
        Coverage::Disc(disc) => radius(disc.radius_m, report),
        Coverage::DistancePower(law) => {
            if !(0.0..=LARGEST_EXPONENT).contains(&law.exponent) {
                let help = "write a number from 0 to 100: 2 is free space, 4 flat ground";
                report.add(&join(&steps, ["exponent"]), "this is no exponent of a path loss", help);
            }
            radius(law.radius_m, report)
        }
        Coverage::Table(table) => check_table(&steps, table, report),
    }
}

fn check_table(at: &[Step], table: &ErrorTable, report: &mut Report<'_>) -> bool {
    if table.points.is_empty() {
        let help = "write `points = [{ distance = \"0m\", error = 0.0 }, ...]`, or a `file` of them";
        report.add(at, "a table without points says nothing", help);
        return false;
    }
    let mut good = true;
    for (j, pair) in table.points.windows(2).enumerate() {
        if pair[1].distance_m <= pair[0].distance_m {
            let mut steps = join(at, ["points"]);
            steps.push(At(j + 1));
            let message = format!(
                "this point is no further than the one before it, {}",
                length_text(pair[0].distance_m)
            );
            report.add(&steps, message, "write the points in order of distance, each once");
            good = false;
        }
    }
    good
}

/// Refuses a cell into which no station ever comes.
fn check_reach(
    at: &[Step],
    cell: &Cell,
    scenario: &Scenario,
    names: &Names<'_>,
    trajectories: &[Option<Trajectory>],
    report: &mut Report<'_>,
) {
    let trajectory = |name: &str| names.node(name).and_then(|node| trajectories[node].as_ref());
    let Some(base_station) = trajectory(&cell.base_station) else { return };
    let stations: Option<Vec<_>> = cell.stations.iter().map(|name| trajectory(name)).collect();
    // What is wrong with a station was reported.
    let Some(stations) = stations.filter(|stations| !stations.is_empty()) else { return };
    let radius_m = radius_m(&cell.coverage);
    let end = Time::ZERO + scenario.general.duration;
    if !stations.iter().any(|station| ever_within(station, base_station, radius_m, end)) {
        let message = format!("nobody ever comes into this cell: it reaches {}", length_text(radius_m));
        let help =
            "make its radius larger, move the base station, or lead a station there before the run ends";
        report.add(&join(at, ["coverage"]), message, help);
    }
}
