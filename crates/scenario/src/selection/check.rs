//! Selections: their nodes, what they may select, and whether their schemes can serve the flows.

use std::collections::BTreeMap;

use roamsim_engine::Span;

use super::build::{Interfaces, Own};
use super::mih;
use super::model::{Policy, Scheme, Selection};
use crate::access::{Network, Pair, Role};
use crate::digested;
use crate::flow::model::Flow;
use crate::general::IpVersion;
use crate::mih_handover::model::MihHandover;
use crate::mobile_ip::model::MobileIp;
use crate::names::{Names, report_unknown};
use crate::node::model::Node;
use crate::report::{At, Key, Report, Step, join};
use crate::signalling::model::Signalling;
use crate::suggest::{alternatives, nearest};
use crate::topology::Topology;
use crate::transport::Transport;

/// What checks of selections look at beside the network.
pub(crate) struct All<'a> {
    pub selections: &'a [Selection],
    pub flows: &'a [Flow],
    pub signalling: &'a [Signalling],
    pub mobile_ip: &'a [MobileIp],
    pub handovers: &'a [MihHandover],
}

pub(crate) fn check(
    all: &All<'_>,
    network: &Network<'_>,
    (names, topology): (&Names<'_>, &Topology),
    report: &mut Report<'_>,
) {
    check_ends_of_policies(all, report);
    let interfaces = Interfaces::new(all.selections, network);
    let mut managed: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, entry) in all.selections.iter().enumerate() {
        let at = [Key("selection"), At(i)];
        let Some(node) = names.resolve(&entry.node, &join(&at, ["node"]), report) else { continue };
        if let Some(&first) = managed.get(entry.node.as_str()) {
            let message = format!("two entries select an interface of \"{}\"", entry.node);
            let first = [Key("selection"), At(first), Key("node")];
            let help = "a node has one selection; leave one of them out";
            report.add_related(&join(&at, ["node"]), message, help, (&first, "the first"));
            continue;
        }
        managed.insert(&entry.node, i);
        check_managers(&at, entry, (node, &network.nodes[node]), all, report);
        let own = interfaces.of(&entry.node);
        if !check_own(&at, entry, own, report) || !check_prefer(&at, entry, &interfaces, report) {
            continue;
        }
        check_prices(&at, entry, &interfaces, report);
        check_power(&at, entry, &interfaces, report);
        let points: Vec<_> = entry.mih.points_of_service.iter().map(|one| one.access.as_str()).collect();
        let steps = join(&at, ["mih", "points_of_service"]);
        check_accesses(&steps, (entry, "point of service"), &points, &interfaces, report);
        check_signals(&at, entry, &interfaces, report);
        check_class(&at, entry, report);
        check_mobile_ip(&at, entry, (&interfaces, network), report);
        let beside = mih::check::Beside { selections: all.selections, flows: all.flows, names, topology };
        mih::check::check(&at, entry, (&interfaces, network), &beside, report);
        if report.count() == 0 {
            warn_of_never_selected(&at, entry, (&interfaces, all.flows), report);
            warn_of_flows_that_stay(&at, entry, all.flows, report);
        }
        for (j, flow) in all.flows.iter().enumerate() {
            if flow.is_at(&entry.node) {
                if flow.policy.is_some() {
                    check_policy((entry, &interfaces), (j, flow), report);
                }
                check_flow((i, entry), (j, flow), report);
                let other = if *flow.from == *entry.node { &flow.to } else { &flow.from };
                if network.nodes.iter().any(|node| node.external && *node.name == **other) {
                    let message = format!(
                        "programs at \"{other}\" know only one address of \"{}\", which selects among several",
                        entry.node
                    );
                    let help = "give the flow another end, or leave the selection out";
                    report.add(&[Key("flow"), At(j)], message, help);
                }
            }
        }
    }
}

/// A flow with a policy of its own has one end that selects.
fn check_ends_of_policies(all: &All<'_>, report: &mut Report<'_>) {
    for (j, flow) in all.flows.iter().enumerate().filter(|(_, flow)| flow.policy.is_some()) {
        let steps = [Key("flow"), At(j), Key("policy")];
        let mut selecting = all.selections.iter().filter(|entry| flow.is_at(&entry.node));
        match (selecting.next(), selecting.next()) {
            (None, _) => {
                let message = "neither end of this flow selects an interface";
                let help = "add a [[selection]] for the end that does, or leave `policy` out";
                report.add(&steps, message, help);
            }
            (Some(_), Some(_)) => {
                let message = "both ends of this flow select an interface, and `policy` is that of one end";
                report.add(&steps, message, "leave `policy` out, or one [[selection]]");
            }
            (Some(_), None) => {}
        }
    }
}

/// The interfaces that a flow prefers are such as its node may select.
fn check_policy(
    (entry, interfaces): (&Selection, &Interfaces<'_>),
    (j, flow): (usize, &Flow),
    report: &mut Report<'_>,
) {
    let steps = [Key("flow"), At(j), Key("policy")];
    let candidates = interfaces.candidates(entry);
    let all = || candidates.iter().map(|(own, _)| own.entry.access.name());
    let one_at_a_time = match entry.scheme {
        Scheme::MobileIp => {
            Some("with Mobile IP a flow keeps the home address, which is reached by one interface at a time")
        }
        Scheme::Mih => Some("IEEE 802.21 hands a node over with all of its flows"),
        Scheme::None | Scheme::Redirect | Scheme::MobileSctp | Scheme::Migration => None,
    };
    if let Some(message) = one_at_a_time {
        report.add(&steps, message, "leave `policy` out, or choose another `scheme` in the [[selection]]");
    }
    if flow.policy().is_empty() {
        let message = "an empty `policy` leaves the flow no interface";
        let help = format!("name {}, preferred ones first, or leave `policy` out", alternatives(all()));
        report.add(&steps, message, help);
    }
    for (k, name) in flow.policy().iter().enumerate() {
        let steps = [steps[0], steps[1], steps[2], At(k)];
        let names_some =
            |(own, _): &(Own<'_>, usize)| interfaces.rank(std::slice::from_ref(name), own).is_some();
        if flow.policy()[..k].contains(name) {
            report.add(&steps, format!("\"{name}\" is named twice"), "name each once, preferred ones first");
        } else if !candidates.iter().any(names_some) {
            let message = format!("\"{name}\" is not an interface that \"{}\" may select", entry.node);
            let help = format!("\"{}\" selects among {}", entry.node, alternatives(all()));
            report.add(&steps, message, help);
        }
    }
}

/// Refuses whoever else says which interface or address the node uses.
fn check_managers(
    at: &[Step],
    entry: &Selection,
    (node, model): (usize, &Node),
    all: &All<'_>,
    report: &mut Report<'_>,
) {
    let name = &entry.node;
    let of_node = [Key("node"), At(node)];
    let steps = join(at, ["node"]);
    let mobile_ip = all.mobile_ip.iter().position(|one| one.mobile_nodes.contains(name));
    let handover = all.handovers.iter().position(|one| one.mobile_node == *name);
    let signalling = all.signalling.iter().position(|one| *one.from == **name || *one.to == **name);
    let other = if let Some(i) = mobile_ip {
        Some((vec![Key("mobile_ip"), At(i), Key("mobile_nodes")], "Mobile IP moves its flows"))
    } else if let Some(i) = handover {
        Some((vec![Key("handover"), At(i), Key("mobile_node")], "MIH users hand it over"))
    } else if model.handover.is_some() {
        Some((join(&of_node, ["handover"]), "this names another handover scheme"))
    } else {
        None
    };
    if let Some((place, why)) = other {
        let message = format!("\"{name}\" is moved by this selection and by something else");
        let help = "leave one of them out: the `scheme` of a selection says what moves the flows";
        report.add_related(&steps, message, help, (&place, why));
    }
    if let Some(i) = signalling {
        let message = format!("\"{name}\" has MIH signalling, which does not follow a selection");
        let help = "leave the [[signalling]] out, or give it another node";
        let place = [Key("signalling"), At(i), Key("name")];
        report.add_related(&steps, message, help, (&place, "its signalling"));
    }
    if model.external {
        let message = format!("\"{name}\" is external: its programs choose their addresses themselves");
        report.add(&steps, message, "leave `external` out in its [[node]], or the selection");
    }
    if report.is_false(&join(&of_node, ["multihomed"])) {
        let message = format!("\"{name}\" selects an interface, and each of these has an address");
        let help = "leave `multihomed` out: a [[selection]] implies it";
        report.add(&join(&of_node, ["multihomed"]), message, help);
    }
    let rule = join(&of_node, ["change_primary_at"]);
    if report.is_set(&rule) {
        let message = format!("the primary address of \"{name}\" is that of its selected interface");
        report.add(&rule, message, "leave `change_primary_at` out: the selection's `policy` decides");
    }
}

/// Whether there is something to select.
fn check_own(at: &[Step], entry: &Selection, own: &[Own<'_>], report: &mut Report<'_>) -> bool {
    let steps = join(at, ["node"]);
    if let Some(cell) = own.iter().find(|own| own.role == Role::BaseStation) {
        let message = format!("\"{}\" is the base station of \"{}\"", entry.node, cell.entry.access.name());
        report.add(&steps, message, "only hosts and stations select an interface: name another node");
        return false;
    }
    if own.len() < 2 {
        let message = match own {
            [] => format!("\"{}\" has no link and no cell", entry.node),
            _ => format!("\"{}\" has one interface, and nothing to select", entry.node),
        };
        report.add(&steps, message, "give the node a second link or cell, or leave the selection out");
    }
    own.len() >= 2
}

fn check_prefer(
    at: &[Step],
    entry: &Selection,
    interfaces: &Interfaces<'_>,
    report: &mut Report<'_>,
) -> bool {
    let own = interfaces.of(&entry.node);
    let before = report.count();
    let steps = join(at, ["prefer"]);
    let sections = own.iter().map(|own| own.entry.access.section());
    let all: Vec<&str> = own.iter().map(|own| own.entry.access.name()).collect();
    for (j, name) in entry.prefer.iter().enumerate() {
        let steps = [&steps[..], &[At(j)]].concat();
        let is_own = all.contains(&name.as_str());
        let known = interfaces.is_access(name);
        if entry.prefer[..j].contains(name) {
            report.add(&steps, format!("\"{name}\" is named twice"), "name each once, preferred ones first");
        } else if known && !is_own {
            let message = format!("\"{name}\" is not an interface of \"{}\"", entry.node);
            let help = format!("\"{}\" is on {}", entry.node, alternatives(all.iter().copied()));
            report.add(&steps, message, help);
        } else if !known && !sections.clone().any(|section| section == name) {
            report_unknown("link", name, all.iter().copied(), &steps, report);
        }
    }
    if entry.prefer.is_empty() && entry.policy == Policy::Preference {
        let message = "policy = \"preference\" needs `prefer`";
        let help = format!(
            "name links and cells, or technologies, preferred ones first: \"{}\" is on {}",
            entry.node,
            alternatives(all.iter().copied())
        );
        report.add(&steps, message, help);
    }
    report.count() == before
}

/// Checks that what is said of interfaces, under a key, is said of those that may be selected, each once.
fn check_accesses(
    steps: &[Step],
    (entry, what): (&Selection, &str),
    accesses: &[&str],
    interfaces: &Interfaces<'_>,
    report: &mut Report<'_>,
) {
    let candidates = interfaces.candidates(entry);
    let all = || candidates.iter().map(|(own, _)| own.entry.access.name());
    for (j, &access) in accesses.iter().enumerate() {
        let steps = [steps, &[At(j), Key("access")]].concat();
        if !all().any(|name| name == access) {
            let message = format!("\"{}\" never selects \"{access}\"", entry.node);
            report.add(&steps, message, format!("it selects among {}", alternatives(all())));
        } else if accesses[..j].contains(&access) {
            report.add(&steps, format!("\"{access}\" has a {what} already"), "leave one of them out");
        }
    }
}

fn check_power(at: &[Step], entry: &Selection, interfaces: &Interfaces<'_>, report: &mut Report<'_>) {
    let steps = join(at, ["power"]);
    let accesses: Vec<&str> = entry.power.iter().map(|power| power.access.as_str()).collect();
    check_accesses(&steps, (entry, "power"), &accesses, interfaces, report);
    for (j, power) in entry.power.iter().enumerate() {
        let values = [("up_w", power.up_w), ("selected_w", power.selected_w), ("j_per_mb", power.j_per_mb)];
        for (key, _) in values.into_iter().filter(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
            let help = "write a number, such as 0.8; without an entry the energy is not counted";
            report.add(&[&steps[..], &[At(j), Key(key)]].concat(), "a radio draws zero or more", help);
        }
    }
}

fn check_prices(at: &[Step], entry: &Selection, interfaces: &Interfaces<'_>, report: &mut Report<'_>) {
    let steps = join(at, ["prices"]);
    let accesses: Vec<&str> = entry.prices.iter().map(|price| price.access.as_str()).collect();
    check_accesses(&steps, (entry, "price"), &accesses, interfaces, report);
    for (j, price) in entry.prices.iter().enumerate() {
        let steps = [&steps[..], &[At(j)]].concat();
        if !(price.cost_per_mb.is_finite() && price.cost_per_mb >= 0.0) {
            let help = "write a number, such as 0.01; without a price an interface costs nothing";
            report.add(&join(&steps, ["cost_per_mb"]), "a price is zero or more", help);
        }
    }
    if entry.policy == Policy::Cheapest && entry.prices.is_empty() {
        let help = "write for example prices = [{ access = \"lte\", cost_per_mb = 0.01 }]";
        report.add(&join(at, ["policy"]), "without `prices` every interface is as cheap as the others", help);
    }
}

/// Checks what asks for signals.
fn check_signals(at: &[Step], entry: &Selection, interfaces: &Interfaces<'_>, report: &mut Report<'_>) {
    let candidates = interfaces.candidates(entry);
    let has_signal = |own: &Own<'_>| own.entry.access.has_signal_at(&entry.node);
    let stations = || candidates.iter().map(|(own, _)| own).filter(|own| own.role == Role::Station);
    let any = candidates.iter().any(|(own, _)| has_signal(own));
    let steps = join(at, ["policy"]);
    if entry.policy == Policy::Strongest {
        if let Some(cell) = stations().find(|own| !has_signal(own)) {
            let (section, name) = (cell.entry.access.section(), cell.entry.access.name());
            let message = format!("[[{section}]] \"{name}\" has a distance and no signal to compare");
            let help = "write policy = \"preference\", or leave it out of `prefer`";
            report.add(&steps, message, help);
        } else if !any {
            let message = format!("no interface of \"{}\" has a signal", entry.node);
            let help = "write policy = \"preference\"; [[wifi]] with `beacons` and [[link]] with `signal` have signals";
            report.add(&steps, message, help);
        }
    }
    if entry.threshold_dbm.is_some() && !any {
        let message = format!("no interface of \"{}\" that may be selected has a signal", entry.node);
        report.add(&join(at, ["threshold"]), message, "leave `threshold` out");
    }
    let steps = join(at, ["hysteresis_db"]);
    if !(entry.hysteresis_db.is_finite() && entry.hysteresis_db >= 0.0) {
        report.add(&steps, "a hysteresis is zero or more", "write a number of dB, such as 5");
    } else if report.is_set(&steps) && entry.policy != Policy::Strongest && entry.threshold_dbm.is_none() {
        let message = "nothing is compared: the policy asks for no signal";
        let help = "leave it out, write a `threshold`, or policy = \"strongest\"";
        report.add(&steps, message, help);
    }
}

/// Checks what Mobile IP needs: IPv4, and a home agent that other links lead to.
fn check_mobile_ip(
    at: &[Step],
    entry: &Selection,
    (interfaces, network): (&Interfaces<'_>, &Network<'_>),
    report: &mut Report<'_>,
) {
    let candidates = interfaces.candidates(entry);
    let all = || candidates.iter().map(|(own, _)| own.entry.access.name());
    let steps = join(at, ["home"]);
    if let Some(home) = entry.home.as_deref().filter(|home| !all().any(|name| name == *home)) {
        let message = format!("\"{}\" never selects \"{home}\"", entry.node);
        report.add(&steps, message, format!("it selects among {}", alternatives(all())));
        return;
    }
    if entry.scheme != Scheme::MobileIp {
        return;
    }
    if network.general.ip != IpVersion::Ipv4 {
        let message = "Mobile IP here is Mobile IPv4 (RFC 5944), and the scenario has IPv6";
        report.add(&join(at, ["scheme"]), message, "write ip = \"ipv4\" in [scenario]");
    }
    let is_home = |own: &Own<'_>| entry.home.as_deref().is_none_or(|home| home == own.entry.access.name());
    let home = candidates.iter().filter(|(own, _)| is_home(own)).min_by_key(|(_, rank)| rank);
    let Some((home, _)) = home else { return };
    let own_link =
        home.entry.access.pairs().into_iter().find(|pair| pair.nodes.contains(&entry.node.as_str()));
    let agent =
        own_link.and_then(|Pair { nodes: [a, b], .. }| [a, b].into_iter().find(|end| *end != entry.node));
    let Some(agent) = agent else { return };
    let links =
        network.accesses().filter(|one| one.access.pairs().iter().any(|pair| pair.nodes.contains(&agent)));
    if links.count() < 2 {
        let name = home.entry.access.name();
        let message =
            format!("\"{agent}\" is the home agent, at the other end of \"{name}\", and has no other link");
        let help = "name another `home`, or give the home agent a link to the rest of the network";
        report.add(&join(at, ["scheme"]), message, help);
    }
}

/// Checks the name of a policy that is not built in, and what has no effect on a class.
fn check_class(at: &[Step], entry: &Selection, report: &mut Report<'_>) {
    let Policy::Other(name) = &entry.policy else { return };
    let steps = join(at, ["policy"]);
    if entry.policy.class().is_some() {
        for (key, set) in [
            ("hold_time", entry.hold_time > Span::ZERO),
            ("leave_when_going_down", entry.leave_when_going_down),
            ("threshold", entry.threshold_dbm.is_some()),
        ] {
            if set {
                let message = format!("`{key}` has no effect: the class decides, in `select`");
                report.add(&join(at, [key]), message, "leave it out");
            }
        }
    } else if digested::is_file(name) {
        let message = "a scenario alone runs no program, and this one names a class in Python";
        let help = format!(
            "write a policy that is built in, and name the class when you run it: --set selection.{}.policy={name}, or in \
             Python set={{\"selection.{}.policy\": CLASS}}",
            entry.name, entry.name
        );
        report.add(&steps, message, help);
    } else {
        let names = || Policy::BUILT_IN.iter().map(|(name, ..)| *name);
        let meant =
            nearest(name, names()).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        let all = "There are `preference`, `strongest`, `cheapest`, and classes in Python by FILE.py:CLASS";
        report.add(&steps, format!("there is no policy `{name}`"), format!("{meant}{all}"));
    }
}

/// Warns of interfaces that are never selected: left out of `prefer`, or behind one that is always up.
fn warn_of_never_selected(
    at: &[Step],
    entry: &Selection,
    (interfaces, flows): (&Interfaces<'_>, &[Flow]),
    report: &mut Report<'_>,
) {
    let steps = join(at, ["prefer"]);
    for own in interfaces.of(&entry.node).iter().filter(|own| interfaces.rank(&entry.prefer, own).is_none()) {
        let message = format!("\"{}\" never selects \"{}\"", entry.node, own.entry.access.name());
        let help = format!("name it in `prefer`, or take \"{}\" off that link or cell", entry.node);
        report.warn(&steps, message, help);
    }
    let cost = |own: &Own<'_>| {
        let price = entry.prices.iter().find(|price| price.access == *own.entry.access.name());
        price.map_or(0.0, |price| price.cost_per_mb)
    };
    let is_always_up =
        |own: &Own<'_>| own.role == Role::Fixed && own.entry.access.link_events(&entry.node).is_empty();
    let precedes = |(one, rank): &(Own<'_>, usize), (other, behind): &(Own<'_>, usize)| match entry.policy {
        Policy::Preference => rank < behind,
        Policy::Cheapest => cost(one) < cost(other),
        Policy::Strongest | Policy::Other(_) => false,
    };
    let candidates = interfaces.candidates(entry);
    let always: Vec<_> = candidates.iter().filter(|(own, _)| is_always_up(own)).collect();
    let with_policy = flows.iter().filter(|flow| flow.is_at(&entry.node) && !flow.policy().is_empty());
    let of_flows: Vec<&str> = with_policy
        .flat_map(|flow| {
            let own = interfaces.of_flow(entry, flow);
            let first_always = own.iter().filter(|(own, _)| is_always_up(own)).map(|&(_, rank)| rank).min();
            own.into_iter().filter(move |(_, rank)| first_always.is_none_or(|first| *rank <= first))
        })
        .map(|(own, _)| own.entry.access.name())
        .collect();
    let of_node_alone = |candidate: &&(Own<'_>, usize)| !of_flows.contains(&candidate.0.entry.access.name());
    for candidate in candidates.iter().filter(of_node_alone) {
        if let Some((before, _)) = always.iter().find(|before| precedes(before, candidate)) {
            let (name, before) = (candidate.0.entry.access.name(), before.entry.access.name());
            let message = format!(
                "\"{}\" never selects \"{name}\": \"{before}\" comes first and is always up",
                entry.node
            );
            let help = format!("put \"{name}\" first, or give \"{before}\" `outages`");
            report.warn(&steps, message, help);
        }
    }
}

/// Refuses a transport that asks for another scheme.
fn check_flow((i, entry): (usize, &Selection), (j, flow): (usize, &Flow), report: &mut Report<'_>) {
    let dynamic = matches!(&*flow.transport, Transport::Sctp(sctp) if sctp.dynamic_addresses);
    if dynamic && entry.scheme != Scheme::MobileSctp {
        let message = "this flow has dynamic addresses, but the scheme of the selection moves no association";
        let help = "leave `dynamic_addresses` out, or write scheme = \"mobile_sctp\" in the [[selection]]";
        let steps = [Key("flow"), At(j), Key("transport")];
        report.add_related(&steps, message, help, (&[Key("selection"), At(i), Key("scheme")], "the scheme"));
    }
}

/// Why the scheme does not move a flow of the node, and the scheme that does, if any does.
fn why_it_stays(entry: &Selection, flow: &Flow) -> Option<(&'static str, Option<&'static str>)> {
    let migrates = flow.migrating_client() == Some(&*entry.node);
    let of_transport = match &*flow.transport {
        Transport::Udp(_) | Transport::Tcp(_) => Some(Scheme::Redirect),
        Transport::Sctp(_) => Some(Scheme::MobileSctp),
        Transport::Quic(_) => migrates.then_some(Scheme::Migration),
    };
    let why = match entry.scheme {
        Scheme::None | Scheme::MobileIp => return None,
        Scheme::Mih if of_transport == Some(Scheme::Redirect) => return None,
        scheme if of_transport == Some(scheme) => return None,
        Scheme::Migration if of_transport.is_none() => {
            "only a QUIC client migrates (RFC 9000 section 9), without `migration = false`"
        }
        Scheme::Migration => "migration moves QUIC clients alone",
        Scheme::Redirect => "redirection moves UDP and TCP alone",
        Scheme::Mih => "MIH users redirect UDP and TCP alone",
        Scheme::MobileSctp => "mobile SCTP moves SCTP associations alone",
    };
    let moves = of_transport.map(|scheme| match scheme {
        Scheme::MobileSctp => "mobile_sctp",
        Scheme::Migration => "migration",
        Scheme::None | Scheme::Redirect | Scheme::MobileIp | Scheme::Mih => "redirect",
    });
    Some((why, moves))
}

/// Warns of flows that the scheme does not move: of the first one, with the number of others.
fn warn_of_flows_that_stay(at: &[Step], entry: &Selection, flows: &[Flow], report: &mut Report<'_>) {
    let own = flows.iter().filter(|flow| flow.is_at(&entry.node));
    let mut staying = own.filter_map(|flow| Some((flow, why_it_stays(entry, flow)?)));
    let Some((flow, (why, moves))) = staying.next() else { return };
    let others = match staying.count() {
        0 => String::new(),
        1 => "; one more flow stays".to_owned(),
        others => format!("; {others} more flows stay"),
    };
    let message = format!("flow \"{}\" stays at its address: {why}{others}", flow.name);
    let help = match moves {
        None => format!("make \"{}\" the `client` in the transport of the flow", entry.node),
        Some(moves) => {
            format!("write scheme = \"{moves}\", or give the flow a transport that the scheme moves")
        }
    };
    report.warn(&join(at, ["scheme"]), message, help);
}
