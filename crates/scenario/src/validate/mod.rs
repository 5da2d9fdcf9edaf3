//! What is wrong with a scenario although every key and value is well-formed: names that nobody has, numbers
//! that contradict each other, destinations without a route. All problems are reported.

mod addresses;
mod loss_list;
mod station;
mod unique;
mod unused;

use roamsim_engine::{Span, Time};

use crate::access::{Attached, Context};
use crate::application::model::Application;
use crate::diagnostics::Problems;
use crate::distribution::check::check_distribution;
use crate::names::Names;
use crate::node::motion;
use crate::printable::fault_of_name;
use crate::report::{At, Key, Report};
use crate::scenario::Scenario;
use crate::timing::check_warm_up;
use crate::topology::Topology;
use crate::tree::Node;
use crate::{flow, handover, mih_handover, mobile_ip, selection, signalling};

/// Reports everything that is wrong with the scenario, which was decoded from `root`.
pub(crate) fn validate(scenario: &Scenario, root: Node<'_>, problems: &mut Problems) {
    let mut report = Report::new(root, problems);
    unique::check(scenario, &mut report);
    let names = Names::new(scenario.nodes.iter().map(|node| node.name.as_str()));
    check_general(scenario, &mut report);
    let trajectories =
        motion::check::check(&scenario.nodes, scenario.general.area, scenario.general.duration, &mut report);
    let network = scenario.network();
    let attached = Attached::new(network.accesses().map(|entry| entry.access.pairs()));
    let context = Context {
        network: &network,
        traffic: scenario,
        names: &names,
        attached: &attached,
        trajectories: &trajectories,
    };
    for access in scenario.accesses() {
        access.check(&access.at(), &context, &mut report);
    }
    let schemes = scenario.schemes();
    station::check(&context, &schemes, &scenario.mih_handovers, &mut report);
    let is_mobile = |node: &str| schemes.mobile_ip(node).is_some();
    let topology = Topology::new(&network, &names, &attached, is_mobile);
    mobile_ip::check::check(&scenario.mobile_ip, &network, &names, &attached, &topology, &mut report);
    handover::check::check(&scenario.nodes, &schemes, &names, &attached, &topology, &mut report);
    flow::check::check(&scenario.flows, &network, &names, &topology, &mut report);
    signalling::check::check(&scenario.signalling, &network, &names, &topology, &mut report);
    let all = mih_handover::check::All {
        handovers: &scenario.mih_handovers,
        flows: &scenario.flows,
        followed: scenario.with_followed_addresses(),
    };
    mih_handover::check::check(&all, &network, &names, &topology, &mut report);
    let beside = selection::check::All {
        selections: &scenario.selections,
        flows: &scenario.flows,
        signalling: &scenario.signalling,
        mobile_ip: &scenario.mobile_ip,
        handovers: &scenario.mih_handovers,
    };
    selection::check::check(&beside, &network, (&names, &topology), &mut report);
    // What follows makes tables of its own.
    drop((names, trajectories, topology, schemes, all));
    unused::check(scenario, &attached, &mut report);
    if report.count() == 0 {
        addresses::check(scenario, &mut report);
        loss_list::check(scenario, &mut report);
    }
}

fn check_general(scenario: &Scenario, report: &mut Report<'_>) {
    if let Some(fault) = fault_of_name(&scenario.general.name) {
        let steps = [Key("scenario"), Key("name")];
        report.add(&steps, fault, "it heads results, reports and figures: write it in one line");
    }
    if scenario.general.duration == Span::ZERO {
        let steps = [Key("scenario"), Key("duration")];
        report.add(&steps, "a run must have a duration above zero", "write for example \"10s\"");
    }
    check_warm_up(&[Key("scenario")], scenario.general.warm_up, scenario.general.duration, report);
    warn_of_whole_tables(scenario, report);
    check_percentiles(&scenario.general.percentiles, report);
    for (i, node) in scenario.nodes.iter().enumerate() {
        let steps = [Key("node"), At(i), Key("packet_processing_time")];
        check_distribution(&steps, &node.packet_processing_time, None, report);
    }
}

/// Says which tables count from the beginning of the run on, warm-up or not.
fn warn_of_whole_tables(scenario: &Scenario, report: &mut Report<'_>) {
    let any = |kind: fn(&Application) -> bool| scenario.flows.iter().any(|flow| kind(&flow.application));
    let tables: Vec<_> = [
        ("wifi", !scenario.wifi.is_empty()),
        ("wimax", !scenario.wimax.is_empty()),
        ("transfers", any(|application| matches!(application, Application::Transfers(_)))),
        ("video", any(|application| matches!(application, Application::Video(_)))),
        ("mobile_ip", !scenario.mobile_ip.is_empty()),
        ("selection", !scenario.selections.is_empty()),
    ]
    .into_iter()
    .filter_map(|(table, there)| there.then_some(table))
    .collect();
    if scenario.general.warm_up > Time::ZERO && !tables.is_empty() {
        let message = format!("the tables of {} count from the beginning of the run on", tables.join(", "));
        let help = "read `flows`, `signalling`, `links`, `drops` and `queues`, which begin with the end of the warm-up";
        report.warn(&[Key("scenario"), Key("warm_up")], message, help);
    }
}

/// Percentiles that can be asked for (chosen: each is a row for every flow).
const MOST_PERCENTILES: usize = 100;

fn check_percentiles(percentiles: &[f64], report: &mut Report<'_>) {
    let steps = [Key("scenario"), Key("percentiles")];
    if percentiles.len() > MOST_PERCENTILES {
        let message = format!("these are {} percentiles", percentiles.len());
        report.add(&steps, message, format!("ask for {MOST_PERCENTILES} at most"));
        return;
    }
    for (i, &percent) in percentiles.iter().enumerate() {
        let steps = [steps[0], steps[1], At(i)];
        if !(percent > 0.0 && percent <= 100.0) {
            let message = format!("{percent} is not a percentile");
            report.add(&steps, message, "write a number above 0, up to 100, such as 99.9");
        } else if percentiles[..i].contains(&percent) {
            report.add(&steps, format!("the percentile {percent} is listed twice"), "write it once");
        }
    }
}
