//! Checks of a node as a station: place and motion, addresses, and when it changes its cell or its primary
//! address.

use std::collections::{BTreeMap, BTreeSet};

use roamsim_engine::{Span, Time};
use roamsim_network::mobility::last_within;

use crate::access::stations::THAT_COME_AND_GO;
use crate::access::{Attached, Compares, Context, Entry, Network, Pair, Role, wifi};
use crate::handover::schemes::Schemes;
use crate::mih_handover::model::MihHandover;
use crate::node::model::{Node, PrimaryChange};
use crate::report::{At, Key, Report, Step, join};
use crate::units::{length_text, time_text};

/// Cells that are told of a station that reaches none; chosen.
const TOLD: usize = 3;

/// The technology whose cells a node compares by their signals.
fn compared_by_signal(node: &Node, network: &Network<'_>) -> Option<&'static str> {
    let is_station = |pair: Pair<'_>| pair.has_station() && node.name == *pair.nodes[1];
    let mut found = network.accesses().filter(|entry| entry.access.signal_hysteresis_db(node).is_some());
    found.find(|entry| entry.access.pairs().into_iter().any(is_station)).map(|entry| entry.access.section())
}

pub(super) fn check(
    context: &Context<'_>,
    schemes: &Schemes<'_>,
    handovers: &[MihHandover],
    report: &mut Report<'_>,
) {
    let &Context { network, attached, .. } = context;
    let asked = network.accesses().filter(|entry| entry.access.asks_for_places());
    let placed: BTreeSet<&str> =
        asked.flat_map(|entry| entry.access.pairs()).flat_map(|pair| pair.nodes).collect();
    for (i, node) in network.nodes.iter().enumerate() {
        let station = attached.is(&node.name, Role::Station);
        if node.motion.is_some() && !placed.contains(node.name.as_str()) {
            let message =
                format!("\"{}\" moves, but it is in no cell: nothing depends on its place", node.name);
            let help = format!(
                "name it in the `stations` of {THAT_COME_AND_GO}, or of one with a `radio`, or leave `motion` out"
            );
            report.add(&[Key("node"), At(i), Key("motion")], message, help);
        }
        let follows = node.multihomed && !node.selects && schemes.follows(&node.name);
        let at = [Key("node"), At(i)];
        if node.multihomed && !node.selects && !station && attached.of(&node.name).len() == 1 {
            let message = format!("\"{}\" has one link, and so one address", node.name);
            let help = "leave `multihomed` out, or give the node a second link";
            report.add(&join(&at, ["multihomed"]), message, help);
        }
        wifi::station::check(node, &at, network.of(), report);
        let by_signal = if node.hysteresis_m > 0.0 { compared_by_signal(node, network) } else { None };
        if let Some(section) = by_signal {
            let message = format!(
                "\"{}\" compares cells of [[{section}]] by their signals, not by distances",
                node.name
            );
            let help = format!("leave `hysteresis` out, or write {section} = {{ hysteresis_db = 5 }}");
            report.add(&join(&at, ["hysteresis"]), message, help);
        } else if node.hysteresis_m > 0.0 && !(station && (!node.multihomed || follows)) {
            let message = match station {
                false => format!("\"{}\" is not a station of any cell", node.name),
                true => format!("\"{}\" keeps an address in each cell, and changes none", node.name),
            };
            report.add(&join(&at, ["hysteresis"]), message, "leave `hysteresis` out");
        } else if node.hysteresis_m > 0.0
            // A cell that names nobody rightly was reported.
            && report.count() == 0
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
        // Of one that selects, the selection says what is wrong.
        if report.is_set(&steps) && !node.selects {
            check_primary_change(&steps, &node.name, station && follows, attached, report);
        }
    }
    check_compared(context, schemes, report);
    // What is wrong with a place or a cell was reported.
    if report.count() == 0 {
        check_reach(context, handovers, report);
    }
}

/// Refuses a station that would have to compare a signal with a distance, or with a signal of another
/// technology: of one that keeps an address in each cell, or listens to all agents of Mobile IP, nothing is
/// compared.
fn check_compared(context: &Context<'_>, schemes: &Schemes<'_>, report: &mut Report<'_>) {
    let mut first: BTreeMap<&str, Entry<'_>> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for entry in context.network.accesses() {
        for (number, pair) in entry.access.pairs().into_iter().enumerate() {
            let station = pair.nodes[1];
            let multihomed =
                context.names.node(station).is_none_or(|node| context.network.nodes[node].multihomed);
            if pair.roles[1] != Role::Station || multihomed {
                continue;
            }
            let before = *first.entry(station).or_insert(entry);
            let (own, other) = (entry.access.compares(), before.access.compares());
            if own == other || schemes.listens_to_each(context.network, station) || !told.insert(station) {
                continue;
            }
            let why = match (other, own) {
                (Compares::Signals(_), Compares::Signals(_)) => {
                    "whose signal cannot be compared with that of another technology"
                }
                (Compares::Distances, _) => "which it compares by distance; this cell is compared by signal",
                (Compares::Signals(_), _) => "which it compares by signal; this cell is compared by distance",
            };
            let message = format!(
                "\"{station}\" is also a station of [[{}]] \"{}\", {why}",
                before.access.section(),
                before.access.name(),
            );
            let help = match schemes.mobile_ip(station) {
                Some(_) => {
                    "of each technology a mobile node of Mobile IP may be in one cell, or in cells of one technology alone"
                }
                None => {
                    "add a [[selection]] with this `node`, which selects one of its interfaces; make both of one kind; or \
                     give one of them to another node"
                }
            };
            let steps = [&entry.at()[..], &[Key("stations"), At(number)]].concat();
            report.add(&steps, message, help);
        }
    }
}

/// Refuses a station into whose reach no cell ever comes, and warns of one that leaves them all for good. (Of
/// a cell that nobody comes into, that is reported.)
fn check_reach(context: &Context<'_>, handovers: &[MihHandover], report: &mut Report<'_>) {
    let end = Time::ZERO + context.network.duration();
    let mut cells: BTreeMap<&str, Vec<(Entry<'_>, &str, f64)>> = BTreeMap::new();
    let mut anywhere = BTreeSet::new();
    for entry in context.network.accesses() {
        for pair in entry.access.pairs() {
            let [base_station, station] = pair.nodes;
            match entry.access.reach_m() {
                Some(reach_m) => cells.entry(station).or_default().push((entry, base_station, reach_m)),
                None if pair.has_station() => drop(anywhere.insert(station)),
                None => {}
            }
        }
    }
    let trajectory =
        |name: &str| context.names.node(name).and_then(|node| context.trajectories[node].as_ref());
    for (station, cells) in cells {
        let (Some(number), Some(walk)) = (context.names.node(station), trajectory(station)) else { continue };
        let last = |&(_, base_station, reach_m): &(_, _, f64)| {
            trajectory(base_station).map_or(Some(end), |base| last_within(walk, base, reach_m, end))
        };
        if let Some(leaves) = cells.iter().filter_map(last).max() {
            let reached: BTreeSet<&str> = cells
                .iter()
                .filter(|cell| last(cell).is_some())
                .map(|(cell, ..)| cell.access.name())
                .collect();
            let missed: BTreeMap<&str, (&str, f64)> = (cells.iter())
                .map(|(cell, base_station, reach_m)| (cell.access.name(), (*base_station, *reach_m)))
                .filter(|(name, _)| !reached.contains(name))
                .collect();
            if handovers.iter().any(|entry| entry.mobile_node == station) {
                warn_of_missed_networks(handovers, station, &missed, report);
            } else if reached.len() == 1
                && context.network.nodes[number].motion.is_some()
                && !anywhere.contains(station)
            {
                warn_of_one_cell(station, number, &missed, report);
            }
            let selects = context.network.nodes[number].selects;
            let has_a_link = selects && context.attached.is(station, Role::Fixed);
            if leaves < end && !anywhere.contains(station) && !has_a_link {
                let message = format!(
                    "\"{station}\" is out of reach of all its cells from {}s until the run ends at {}",
                    to_ms(leaves).as_ns() as f64 / 1e9,
                    time_text(to_ms(end))
                );
                let help = "lead it back, make a cell larger, or end the run by then";
                report.warn(&[Key("node"), At(number), Key("motion")], message, help);
            }
            continue;
        }
        let mut told: Vec<_> = cells
            .iter()
            .take(TOLD)
            .map(|(cell, base_station, reach_m)| {
                format!(
                    "\"{}\" reaches {} around \"{base_station}\"",
                    cell.access.name(),
                    length_text(*reach_m)
                )
            })
            .collect();
        if cells.len() > TOLD {
            told.push(format!("and {} more", cells.len() - TOLD));
        }
        let message = format!("\"{station}\" is never in reach of its cells: {}", told.join(", "));
        let moves = context.network.nodes[number].motion.is_some();
        let key = if moves { "motion" } else { "position" };
        let help = "lead it into a cell, make a cell larger, or leave the node out of its `stations`";
        report.add(&[Key("node"), At(number), Key(key)], message, help);
    }
}

/// Warns of a walk that comes into one of its cells alone, of which there are others.
fn warn_of_one_cell(
    station: &str,
    number: usize,
    missed: &BTreeMap<&str, (&str, f64)>,
    report: &mut Report<'_>,
) {
    let mut told: Vec<String> = missed
        .iter()
        .take(TOLD)
        .map(|(cell, (base_station, reach_m))| {
            format!("\"{cell}\", which reaches {} around \"{base_station}\"", length_text(*reach_m))
        })
        .collect();
    if told.is_empty() {
        return;
    }
    if missed.len() > TOLD {
        told.push(format!("and {} more", missed.len() - TOLD));
    }
    let message = format!("\"{station}\" never comes into {}: it never changes its cell", told.join(", "));
    let help = "lead it there, make that cell larger, or leave the node out of its `stations`";
    report.warn(&[Key("node"), At(number), Key("motion")], message, help);
}

/// Warns of a handover from or to a cell that its mobile node never comes into; those cells, each with a base
/// station and how far it reaches.
fn warn_of_missed_networks(
    handovers: &[MihHandover],
    station: &str,
    missed: &BTreeMap<&str, (&str, f64)>,
    report: &mut Report<'_>,
) {
    let handovers = handovers.iter().enumerate();
    for (i, entry) in handovers.filter(|(_, entry)| entry.mobile_node == station) {
        let at = [Key("handover"), At(i)];
        let to = (entry.to.iter().enumerate()).map(|(j, target)| {
            (&target.access, [&at[..], &[Key("to"), At(j), Key("access")]].concat(), "to it")
        });
        let from = (&entry.from.access, join(&at, ["from", "access"]), "from it");
        for (access, steps, whence) in std::iter::once(from).chain(to) {
            let Some((base_station, reach_m)) = missed.get(access.as_str()) else { continue };
            let message = format!(
                "\"{station}\" never comes into \"{access}\", which reaches {} around \"{base_station}\": nothing is handed \
                 over {whence}",
                length_text(*reach_m)
            );
            let help = "lead it there, make that cell larger, or leave the cell out of this [[handover]]";
            report.warn(&steps, message, help);
        }
    }
}

/// The time since the start, to the millisecond, for messages.
fn to_ms(time: Time) -> Span {
    Span::from_ms(time.since(Time::ZERO).as_ns() / 1_000_000)
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
            "\"{name}\" is not a multihomed station with an SCTP association that follows its addresses"
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
