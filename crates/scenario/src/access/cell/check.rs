//! Abstract radio cells.

use roamsim_engine::{Span, Time};
use roamsim_network::mobility::ever_within;

use super::build::radius_m;
use super::model::{Cell, Coverage, ErrorTable};
use crate::access::Context;
use crate::access::mtu::{MAX_MTU_BYTES, check_mtu};
use crate::access::queue::check_queue;
use crate::access::stations;
use crate::report::{At, Report, Step, join};
use crate::units::length_text;

/// A larger exponent is no law of nature, and its powers are zero.
const LARGEST_EXPONENT: f64 = 100.0;

pub(super) fn check(cell: &Cell, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    stations::check_members(at, &cell.base_station, &cell.stations, context, report);
    if cell.rate_bps == 0 {
        report.add(&join(at, ["rate"]), "a rate of zero carries nothing", "write a rate above zero");
    }
    // A header of IPv4 must take at least a nanosecond, or time stands still.
    if Span::of_transmission(20, cell.rate_bps) == Span::ZERO {
        let message = "a packet takes no time in this cell: its rate is too high";
        report.add(&join(at, ["rate"]), message, "write a rate below 320 Gb/s");
    }
    check_queue(at, cell.queue, context.traffic, report);
    check_mtu(at, cell.mtu_bytes, MAX_MTU_BYTES, context.network.general.ip, report);
    stations::check_advertisement(at, &cell.advertisement, context, report);
    if check_coverage(at, &cell.coverage, report) {
        check_reach(at, cell, context, report);
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
                report.add(&join(&steps, ["exponent"]), format!("{} is out of range", law.exponent), help);
            }
            radius(law.radius_m, report)
        }
        Coverage::Table(table) => check_table(&steps, table, report),
    }
}

fn check_table(at: &[Step], table: &ErrorTable, report: &mut Report<'_>) -> bool {
    if table.points.is_empty() {
        let help = "write `points = [{ distance = \"0m\", error = 0.0 }, ...]`, or a `file` of them";
        report.add(at, "a table needs points", help);
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
fn check_reach(at: &[Step], cell: &Cell, context: &Context<'_>, report: &mut Report<'_>) {
    let trajectory =
        |name: &str| context.names.node(name).and_then(|node| context.trajectories[node].as_ref());
    let Some(base_station) = trajectory(&cell.base_station) else { return };
    let stations: Option<Vec<_>> = cell.stations.iter().map(|name| trajectory(name)).collect();
    // What is wrong with a station was reported.
    let Some(stations) = stations.filter(|stations| !stations.is_empty()) else { return };
    let radius_m = radius_m(&cell.coverage);
    let end = Time::ZERO + context.network.duration();
    if !stations.iter().any(|station| ever_within(station, base_station, radius_m, end)) {
        let message = format!("nobody ever comes into this cell: it reaches {}", length_text(radius_m));
        let help =
            "make its radius larger, move the base station, or lead a station there before the run ends";
        report.add(&join(at, ["coverage"]), message, help);
    }
}
