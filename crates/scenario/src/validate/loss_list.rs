//! Lists of packets to lose, in directions in which no data passes: they would lose nothing.

use std::collections::BTreeMap;

use crate::access::wire::model::LossModel;
use crate::access::{Access, Pair};
use crate::application::model::Application;
use crate::build;
use crate::names::name::Name;
use crate::report::{At, Key, Report, Step, join};
use crate::scenario::Scenario;

/// Whose data pass a direction of a link, by the link's name and the node that sends there; a signalling
/// source has no name here, since lists name flows alone.
type Passing<'a> = BTreeMap<(String, String), Vec<Option<&'a str>>>;

/// A loss: where it stands, in what, who sends there, whose frames it is of, and what decides.
type Found<'a> = (Vec<Step>, &'a str, Vec<&'a str>, Option<&'a str>, &'a LossModel);

/// The losses of wires and of cells of 802.11.
fn losses(scenario: &Scenario) -> Vec<Found<'_>> {
    let at = |section, number, place| vec![Key(section), At(number), Key("loss"), At(place)];
    let mut found = Vec::new();
    for (i, link) in scenario.links.iter().enumerate() {
        found.extend(link.loss.iter().enumerate().map(|(j, loss)| -> Found<'_> {
            let senders = link.between.iter().map(Name::as_str).collect();
            (at("link", i, j), &link.name, senders, loss.from.as_deref(), &loss.model)
        }));
    }
    for (i, cell) in scenario.wifi.iter().enumerate() {
        found.extend(cell.loss.iter().enumerate().map(|(j, loss)| -> Found<'_> {
            let senders =
                std::iter::once(&cell.access_point).chain(&cell.stations).map(String::as_str).collect();
            (at("wifi", i, j), &cell.name, senders, loss.from.as_deref(), &loss.model)
        }));
    }
    found
}

/// Refuses lists that lose nothing. Stations and nodes with an address on each link may take other ways
/// later, and are left out of it. Called for a scenario in which nothing else is wrong, since routes can be
/// made of no other.
pub(super) fn check(scenario: &Scenario, report: &mut Report<'_>) {
    let losses = losses(scenario);
    let moves = |access: &dyn Access| access.pairs().iter().any(Pair::has_station);
    let fixed = !scenario.accesses().any(|entry| moves(entry.access))
        && scenario.nodes.iter().all(|node| !node.multihomed);
    if !fixed || !losses.iter().any(|(.., model)| matches!(model, LossModel::List { .. })) {
        return;
    }
    let passing = passing(scenario);
    let has_programs = scenario.nodes.iter().any(|node| node.external);
    for (at, name, senders, only, model) in losses {
        let LossModel::List { segments, flow } = model else { continue };
        let passes = |from: &str| {
            let data = passing.get(&(name.to_owned(), from.to_owned()));
            let named = |name: &Option<&str>| flow.is_none() || *name == flow.as_deref();
            data.is_some_and(|data| data.iter().any(named))
        };
        let covers = |from: &&&str| only.is_none_or(|only| only == **from);
        // An empty list loses nothing, and says so. A program may send anything.
        let may_lose = has_programs && flow.is_none();
        if segments.is_empty() || may_lose || senders.iter().filter(covers).any(|from| passes(from)) {
            continue;
        }
        let other_way = senders.into_iter().find(|from| passes(from));
        report_unused(&at, only, flow.as_deref(), other_way, report);
    }
}

fn report_unused(
    at: &[Step],
    from: Option<&str>,
    flow: Option<&str>,
    other_way: Option<&str>,
    report: &mut Report<'_>,
) {
    let whose = flow.map_or_else(|| "no data".to_owned(), |flow| format!("no data of \"{flow}\""));
    let side = from.map_or_else(String::new, |from| format!(" from \"{from}\""));
    let message = format!("{whose} passes this link{side}: the list loses nothing");
    let help = match (other_way, flow) {
        (Some(end), _) => format!("it passes from \"{end}\": write that, or leave `from` out"),
        (None, Some(_)) => "name a flow whose data pass here, or leave the loss out".to_owned(),
        (None, None) => "leave the loss out, or move it to a link that data pass".to_owned(),
    };
    let key = if flow.is_some() && other_way.is_none() { "flow" } else { "from" };
    let steps = join(at, [key]);
    report.add(if report.is_set(&steps) { &steps } else { at }, message, help);
}

fn passing(scenario: &Scenario) -> Passing<'_> {
    let (topology, nodes, _) = build::topology(scenario);
    let mut passing = Passing::new();
    let mut pass = |from: &str, to: &str, name| {
        for at in topology.path(nodes[from], nodes[to]) {
            let node = topology.owner_name(at).to_string();
            passing.entry((topology.interface(at).name.to_string(), node)).or_default().push(name);
        }
    };
    for flow in &scenario.flows {
        pass(&flow.from, &flow.to, Some(flow.name.as_str()));
        if flow.bidirectional || matches!(flow.application, Application::RequestResponse(_)) {
            pass(&flow.to, &flow.from, Some(flow.name.as_str()));
        }
    }
    for source in &scenario.signalling {
        pass(&source.from, &source.to, None);
        pass(&source.to, &source.from, None);
    }
    passing
}
