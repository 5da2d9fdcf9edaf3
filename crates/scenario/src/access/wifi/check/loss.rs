//! Losses beside the radio.

use crate::access::Context;
use crate::access::wifi::loss::{During, Loss};
use crate::access::wifi::model::Wifi;
use crate::access::wire::check_loss_model;
use crate::report::{At, Report, Step, join};
use crate::timing::check_start;

/// Checks the losses of a cell whose keys are under `at`.
pub(super) fn check(cell: &Wifi, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    for (place, loss) in cell.loss.iter().enumerate() {
        let mut steps = join(at, ["loss"]);
        steps.push(At(place));
        let Loss { from, start, during, of: _, model } = loss;
        if let Some(from) = from
            && *from != cell.access_point
            && !cell.stations.contains(from)
        {
            let message = format!("\"{from}\" is not in \"{}\"", cell.name);
            let help = "name its access point or one of its stations, or leave `from` out for all of them";
            report.add(&join(&steps, ["from"]), message, help);
        }
        check_start(&join(&steps, ["start"]), *start, context.network.duration(), report);
        check_loss_model(&steps, model, context, report);
        if *during == During::LinkGoingDown && cell.beacons.is_none() {
            let message = "no link goes down in a cell without `beacons`: nothing would be lost";
            let help = "write beacons = {}, or during = \"always\" with a `start`";
            report.add(&join(&steps, ["during"]), message, help);
        }
    }
}
