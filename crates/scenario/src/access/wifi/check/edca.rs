//! The parameters of the access categories.

use crate::access::wifi::model::Wifi;
use crate::report::{Report, Step, join};
use roamsim_engine::Span;
use roamsim_network::link::wifi::CATEGORIES;

/// The longest limit of a transmission opportunity, and its unit (IEEE 802.11-2007 section 7.3.2.29).
const TXOP_UNIT: Span = Span::from_us(32);
const MOST_TXOP_UNITS: u64 = 65_535;

/// ECWmin and ECWmax have four bits (IEEE 802.11-2007 section 7.3.2.29).
const LARGEST_WINDOW: u32 = 32_767;

/// Checks the categories of a cell whose keys are under `at`.
pub(super) fn check(cell: &Wifi, at: &[Step], report: &mut Report<'_>) {
    let Some(edca) = &cell.edca else { return };
    let config = edca.config(cell);
    for (whose, categories, least_aifsn) in
        [("stations", config.stations, 2), ("access_point", config.access_point, 1)]
    {
        let keys = ["ac_bk", "ac_be", "ac_vi", "ac_vo"];
        for ((key, name), category) in keys.into_iter().zip(CATEGORIES).zip(categories) {
            let steps = join(at, ["edca", whose, key]);
            let mut refuse =
                |of: &'static str, message: &str, help: &str| report.add(&join(&steps, [of]), message, help);
            if !(least_aifsn..=15).contains(&category.aifsn) {
                let message = format!(
                    "AIFSN of {name} is from {least_aifsn} to 15 here (IEEE 802.11-2007 section 7.3.2.29)"
                );
                refuse("aifsn", &message, "write a number of slots in between; 2, 3 and 7 are usual");
            }
            for (of, window) in [("cw_min", category.cw_min), ("cw_max", category.cw_max)] {
                if !window.wrapping_add(1).is_power_of_two() || window > LARGEST_WINDOW {
                    let message = "a contention window is a power of two less one, up to 32767";
                    refuse(of, message, "write 3, 7, 15, 31, ...");
                    return;
                }
            }
            if category.cw_max < category.cw_min {
                let message = format!("`cw_max` of {name} is smaller than its `cw_min`, {}", category.cw_min);
                refuse("cw_max", &message, "write the same for a window that does not grow");
            }
            let limit = category.txop_limit;
            if limit.as_ns() % TXOP_UNIT.as_ns() != 0 || limit > TXOP_UNIT * MOST_TXOP_UNITS {
                let message = "a limit of transmission opportunities is a multiple of 32us, up to 2.09712s";
                refuse("txop_limit", message, "write \"0s\" for one packet, or a time such as \"3.264ms\"");
            }
        }
    }
}
