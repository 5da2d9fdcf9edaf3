//! What nodes say of themselves as stations: motion, and when they change their cell or their primary address.

use super::{At, Key, Report, Step, join};
use crate::Scenario;
use crate::access::{Attached, Role};
use crate::model::node::PrimaryChange;

pub(super) fn check(scenario: &Scenario, attached: &Attached<'_>, report: &mut Report<'_>) {
    for (i, node) in scenario.nodes.iter().enumerate() {
        let station = attached.is(&node.name, Role::Station);
        let base = attached.is(&node.name, Role::BaseStation);
        if node.motion.is_some() && !station && !base {
            let message =
                format!("\"{}\" moves, but it is in no cell: nothing depends on its place", node.name);
            let help = "name it in the `stations` of a [[cell]], or leave `motion` out";
            report.add(&[Key("node"), At(i), Key("motion")], message, help);
        }
        let follows = node.multihomed && scenario.has_followed_addresses(&node.name);
        let at = [Key("node"), At(i)];
        if node.hysteresis_m > 0.0 && !(station && (!node.multihomed || follows)) {
            let message = match station {
                false => format!("\"{}\" is a station of no cell, and changes none", node.name),
                true => format!("\"{}\" keeps an address in each cell, and changes none", node.name),
            };
            report.add(&join(&at, ["hysteresis"]), message, "leave `hysteresis` out");
        } else if node.hysteresis_m > 0.0
            // A cell that names nobody rightly was reported.
            && report.problems.count() == 0
            && attached.count(&node.name, Role::Station) < 2
        {
            let message = format!("\"{}\" is a station of one cell, and changes to no other", node.name);
            let help = "leave `hysteresis` out, or put the node into a second cell";
            report.add(&join(&at, ["hysteresis"]), message, help);
        } else if node.hysteresis_m > 0.0 && follows && node.change_primary_at != PrimaryChange::Nearer {
            let message = format!("\"{}\" changes its primary address whatever the distances", node.name);
            let help = "leave `hysteresis` out, or write change_primary_at = \"nearer\"";
            report.add(&join(&at, ["hysteresis"]), message, help);
        }
        let steps = join(&at, ["change_primary_at"]);
        if report.is_set(&steps) {
            check_primary_change(&steps, &node.name, station && follows, attached, report);
        }
    }
}

/// Checks that a rule for the primary address, at `steps`, has something to decide.
fn check_primary_change(
    steps: &[Step],
    name: &str,
    follows: bool,
    attached: &Attached<'_>,
    report: &mut Report<'_>,
) {
    if !follows {
        let message = format!(
            "\"{name}\" is no multihomed station with an SCTP association that follows its addresses"
        );
        let help =
            "leave it out, or write `multihomed = true` here and `dynamic_addresses = true` in the transport";
        report.add(steps, message, help);
    } else if attached.count(name, Role::Station) < 2 {
        let message =
            format!("\"{name}\" is a station of one cell, and prefers its address there while it hears it");
        report.add(steps, message, "leave it out, or put the node into a second cell");
    }
}
