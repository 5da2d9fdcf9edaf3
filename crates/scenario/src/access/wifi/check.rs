//! Wi-Fi cells.

use super::model::{Preamble, Wifi};
use crate::access::Context;
use crate::access::mtu::check_mtu;
use crate::access::queue::check_queue;
use crate::units::rate_text;
use crate::validate::{At, Report, Step, join};

/// IEEE 802.11-2007 section 7.1.2: an MSDU has 2304 bytes at most, of which LLC and SNAP take 8.
const MAX_MTU_BYTES: u64 = 2296;

pub(super) fn check(cell: &Wifi, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    context.names.resolve(&cell.access_point, &join(at, ["access_point"]), report);
    for (j, station) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        context.names.resolve(station, &steps, report);
        if *station == cell.access_point {
            let message = format!("\"{station}\" is the access point of this cell");
            report.add(&steps, message, "a station is another node than the access point");
        }
    }
    if cell.stations.len() != 1 {
        let message = format!("a cell has exactly one station, not {}", cell.stations.len());
        let help = "contention between stations is not modelled yet; give each station a cell of its own";
        report.add(&join(at, ["stations"]), message, help);
    }
    check_rates(at, cell, report);
    if !cell.cw_min.wrapping_add(1).is_power_of_two() || cell.cw_min > 1023 {
        let help = "IEEE 802.11 has 31 for 802.11b, and powers of two less one up to 1023";
        let message = "a contention window is a power of two less one, up to 1023";
        report.add(&join(at, ["cw_min"]), message, help);
    }
    check_queue(at, cell.queue, report);
    check_mtu(at, cell.mtu_bytes, MAX_MTU_BYTES, context.scenario.general.ip, report);
}

fn check_rates(at: &[Step], cell: &Wifi, report: &mut Report<'_>) {
    let known = |bps: u64| Wifi::RATES_BPS.contains(&bps);
    let list = "802.11b has the rates 1Mb/s, 2Mb/s, 5.5Mb/s and 11Mb/s";
    if !known(cell.rate_bps) {
        let message = format!("802.11b has no rate of {}", rate_text(cell.rate_bps));
        report.add(&join(at, ["rate"]), message, list);
        return;
    }
    if let Some(basic_bps) = cell.basic_rate_bps {
        let steps = join(at, ["basic_rate"]);
        if !known(basic_bps) {
            report.add(&steps, format!("802.11b has no rate of {}", rate_text(basic_bps)), list);
            return;
        }
        if basic_bps > cell.rate_bps {
            let message = format!("`basic_rate` is above `rate`, {}", rate_text(cell.rate_bps));
            report.add(
                &steps,
                message,
                "acknowledgements are sent no faster than data; lower it or leave it out",
            );
        }
    }
    if cell.preamble == Preamble::Short && cell.acknowledgement_rate_bps() == Wifi::RATES_BPS[0] {
        let message = "frames at 1Mb/s have no short preamble (IEEE 802.11-2007 section 18.2.2.2)";
        let help = "use the long preamble, or 2Mb/s and more for data and acknowledgements";
        report.add(&join(at, ["preamble"]), message, help);
    }
}
