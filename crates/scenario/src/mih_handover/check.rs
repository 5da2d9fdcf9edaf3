//! Handovers by MIH users: the mobile node, its networks, and the nodes that serve them.

use roamsim_engine::Span;
use std::collections::{BTreeMap, BTreeSet};

use super::model::{ActOn, CandidateNetwork, Initiator, MihHandover, Notice, Then};
use crate::access::stations::THAT_COME_AND_GO;
use crate::access::wimax::model::Wimax;
use crate::access::{Network, Pair};
use crate::application::model::Application;
use crate::distribution::check::check_distribution;
use crate::flow::model::Flow;
use crate::names::Names;
use crate::report::{At, Key, Report, Step, join};
use crate::signalling::check::{
    HEADER_BYTES, check_threshold, check_timers, check_transactions, id_tlv_bytes,
};
use crate::topology::Topology;
use crate::transport::udp::check_datagram;
use crate::transport::{Transport, check as transport};

/// What handovers are checked against: each other, and the flows that they redirect.
pub(crate) struct All<'a> {
    pub handovers: &'a [MihHandover],
    pub flows: &'a [Flow],
    /// The nodes whose addresses an SCTP association follows.
    pub followed: BTreeSet<&'a str>,
}

pub(crate) fn check(
    all: &All<'_>,
    network: &Network<'_>,
    names: &Names<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    let mut handed_over: BTreeMap<&str, usize> = BTreeMap::new();
    let mut capacities: BTreeMap<&str, Option<u32>> = BTreeMap::new();
    for (i, entry) in all.handovers.iter().enumerate() {
        let at = [Key("handover"), At(i)];
        if let Some(node) = names.resolve(&entry.mobile_node, &join(&at, ["mobile_node"]), report) {
            check_networks(&at, entry, network, report);
            check_mobile_node(&at, entry, node, (all, network), report);
            if let Some(other) = handed_over.insert(&entry.mobile_node, i) {
                let other = &all.handovers[other].name;
                let message =
                    format!("\"{}\" is handed over by [[handover]] \"{other}\" already", entry.mobile_node);
                let help = "name all networks that it may go to in the `to` of one";
                report.add(&join(&at, ["mobile_node"]), message, help);
            }
        }
        for (j, target) in entry.to.iter().enumerate() {
            let first = *capacities.entry(&target.access).or_insert(target.capacity);
            if first != target.capacity {
                let message = format!("another [[handover]] says another capacity of \"{}\"", target.access);
                let steps = [Key("handover"), At(i), Key("to"), At(j)];
                report.add(&steps, message, "a cell has one `capacity`: write the same in all of them");
            }
        }
        check_points_of_service(&at, entry, network, names, topology, report);
        check_distribution(&join(&at, ["scan_time"]), &entry.scan_time, None, report);
        check_policies(&at, entry, network, report);
        check_transactions(&at, (entry.acknowledgement, entry.lifetime, entry.rate_limit), report);
    }
}

/// What is left to the users fits together.
fn check_policies(at: &[Step], entry: &MihHandover, network: &Network<'_>, report: &mut Report<'_>) {
    let network_alone = entry.initiated_by == Initiator::Network;
    if entry.act_on != ActOn::LinkGoingDown && entry.initiated_by != Initiator::MobileNode {
        let message =
            "of the events of the mobile node's links, a point of service gets only Link_Going_Down";
        let help = "leave `act_on` out, or write initiated_by = \"mobile_node\"";
        report.add(&join(at, ["act_on"]), message, help);
    }
    if entry.act_on != ActOn::LinkGoingDown && entry.act_ahead.is_some() {
        let message = "only Link_Going_Down tells ahead when a link will be down";
        let help = "leave `act_ahead` out, or write act_on = \"link_going_down\"";
        report.add(&join(at, ["act_ahead"]), message, help);
    }
    if entry.act_on != ActOn::LinkGoingDown && entry.confidence.is_some() {
        let message = "only Link_Going_Down has a confidence";
        let help = "leave `confidence` out, or write act_on = \"link_going_down\"";
        report.add(&join(at, ["confidence"]), message, help);
    }
    let by_reports = entry.act_on == ActOn::LinkParametersReport;
    if by_reports && entry.thresholds.is_empty() {
        let message = "no threshold says upon which report to act";
        let help = "write for example thresholds = [{ dbm = -75, direction = \"below\" }]";
        report.add(&join(at, ["act_on"]), message, help);
    } else if !by_reports && !entry.thresholds.is_empty() {
        let message = "no report of the signal is acted upon";
        let help = "leave `thresholds` out, or write act_on = \"link_parameters_report\"";
        report.add(&join(at, ["thresholds"]), message, help);
    }
    if let Some(found) = network.access(&entry.from.access) {
        for (j, one) in entry.thresholds.iter().enumerate() {
            let place = [&join(at, ["thresholds"])[..], &[At(j)]].concat();
            check_threshold(&place, found.access, (one.dbm, one.percent, one.direction), report);
        }
    }
    if entry.notice == Notice::Remote && entry.initiated_by == Initiator::MobileNode {
        let message = "the mobile node decides, and tells nobody before that its link is going down";
        let help = "leave `notice` out, or write initiated_by = \"network\"";
        report.add(&join(at, ["notice"]), message, help);
    }
    let reservation = join(at, ["reservation_time"]);
    if entry.reservation_time == Span::ZERO {
        let message = "this time must be above zero";
        report.add(&reservation, message, "write a time that entering the network takes, such as \"30s\"");
    } else if report.is_set(&reservation) && !entry.to.iter().any(|target| is_limited(target, entry, network))
    {
        let message = "every network of `to` has room for all that come, and keeps no place for anybody";
        report.add(&reservation, message, "leave it out, or give one of them a `capacity`");
    }
    if let Some(no_answer) = entry.no_answer {
        if no_answer.after == Span::ZERO {
            let help = "write a time above zero, or leave `no_answer` out";
            report.add(&join(at, ["no_answer", "after"]), "this time must be above zero", help);
        }
        if no_answer.then == Then::OtherInterface && network_alone {
            let message = "a point of service has no other interface to the mobile node";
            let help = "write then = \"repeat\" or \"abort\", or initiated_by = \"mobile_node\"";
            report.add(&join(at, ["no_answer", "then"]), message, help);
        }
    }
    let timers = entry.messages.iter().map(|timers| (timers.message, timers.timeout));
    check_timers(at, timers, entry.acknowledgement, report);
}

/// Whether a network may have no room for the mobile node.
fn is_limited(target: &CandidateNetwork, entry: &MihHandover, network: &Network<'_>) -> bool {
    let admits = |cell: &Wimax| cell.name == target.access && cell.admits_flows_of(&entry.mobile_node);
    target.capacity.is_some() || network.of().iter().any(admits)
}

/// The networks are cells, each another one, and the mobile node a station of each.
fn check_networks(at: &[Step], entry: &MihHandover, network: &Network<'_>, report: &mut Report<'_>) {
    if entry.to.is_empty() {
        let help = "write for example to = [{ access = \"wide\", pos = \"router\" }]";
        report.add(&join(at, ["to"]), "a handover needs a network to go to", help);
    }
    let mut steps = vec![join(at, ["from", "access"])];
    for j in 0..entry.to.len() {
        steps.push([at, &[Key("to"), At(j), Key("access")]].concat());
    }
    let accesses: Vec<&str> = std::iter::once(&entry.from.access)
        .chain(entry.to.iter().map(|to| &to.access))
        .map(String::as_str)
        .collect();
    for (j, (&access, steps)) in accesses.iter().zip(&steps).enumerate() {
        if accesses[..j].contains(&access) {
            let message = format!("\"{access}\" is named twice");
            report.add(steps, message, "a handover leads from one cell to another: name each once");
            continue;
        }
        let Some(found) = network.access(access) else {
            let known: Vec<&str> = network
                .accesses()
                .filter(|entry| entry.access.beacon_period().is_some())
                .map(|entry| entry.access.name())
                .collect();
            let message = format!("there is no cell \"{access}\"");
            let help = match known.as_slice() {
                [] => format!("describe it in {THAT_COME_AND_GO}"),
                names => format!("there are: {}", names.join(", ")),
            };
            report.add(steps, message, help);
            continue;
        };
        if found.access.beacon_period().is_none() {
            let message = format!("\"{access}\" has no beacons, by which a mobile node finds it");
            report.add(steps, message, format!("name {THAT_COME_AND_GO}"));
            continue;
        }
        let joins = found.access.pairs();
        let is_station = |pair: &Pair<'_>| pair.has_station() && pair.nodes[1] == entry.mobile_node;
        if !joins.iter().any(is_station) {
            let message = format!("\"{}\" is not a station of \"{access}\"", entry.mobile_node);
            report.add(steps, message, format!("name it in the `stations` of \"{access}\""));
        }
    }
}

/// The mobile node has an address in each network, and flows that can follow it.
fn check_mobile_node(
    at: &[Step],
    entry: &MihHandover,
    node: usize,
    (all, network): (&All<'_>, &Network<'_>),
    report: &mut Report<'_>,
) {
    let steps = join(at, ["mobile_node"]);
    let name = &entry.mobile_node;
    if !network.nodes[node].multihomed {
        let message = format!("\"{name}\" has one address for all of its networks");
        report.add(&steps, message, format!("write `multihomed = true` in [[node]] \"{name}\""));
    }
    if all.followed.contains(name.as_str()) {
        let message = format!(
            "an SCTP association follows the addresses of \"{name}\" (`dynamic_addresses = true`), which MIH users are to redirect"
        );
        report.add(&steps, message, "leave `dynamic_addresses` out there, or leave this [[handover]] out");
    }
    let handed_over = |node: &str| all.handovers.iter().any(|other| other.mobile_node == node);
    let both = |flow: &&Flow| {
        [&flow.from, &flow.to].iter().any(|end| ***end == **name)
            && handed_over(&flow.from)
            && handed_over(&flow.to)
    };
    if let Some(flow) = all.flows.iter().find(both) {
        let message =
            format!("both ends of flow \"{}\" are handed over, and neither would find the other", flow.name);
        report.add(&steps, message, "let the flow end at a node that stays");
    }
    let of_transfers = |flow: &&Flow| {
        [&flow.from, &flow.to].iter().any(|end| ***end == **name)
            && matches!(flow.application, Application::Transfers(_))
            && !matches!(*flow.transport, Transport::Quic(_))
    };
    if let Some(flow) = all.flows.iter().find(of_transfers) {
        let message = format!(
            "flow \"{}\" has a connection for each transfer, and only connections that last are redirected",
            flow.name
        );
        let help = "write application = { kind = \"bulk\" } or \"transfer\" there, or let the transfers end at a node that stays";
        report.add(&steps, message, help);
    }
    let mut flows = all.flows.iter().filter(|flow| flow.from == **name || flow.to == **name).peekable();
    let nothing = flows.peek().is_none();
    let stays = |flow: &Flow| match *flow.transport {
        Transport::Sctp(_) => true,
        Transport::Quic(_) => flow.migrating_client() != Some(name),
        Transport::Udp(_) | Transport::Tcp(_) => false,
    };
    if flows.all(stays) {
        let message = match nothing {
            true => format!("\"{name}\" has no flow that could be redirected"),
            false => {
                format!(
                    "the flows of \"{name}\" run over SCTP or QUIC, whose addresses stay: no QUIC client migrates there"
                )
            }
        };
        let help = "add a [[flow]] from or to it, over UDP or TCP, or one over QUIC whose `client` it is";
        report.add(&steps, message, help);
    }
}

/// The points of service exist, are different nodes, and reach whom they talk with: the mobile node through
/// their own networks.
fn check_points_of_service(
    at: &[Step],
    entry: &MihHandover,
    network: &Network<'_>,
    names: &Names<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    let mut all = vec![(&entry.from.access, entry.from.pos.as_str(), join(at, ["from", "pos"]))];
    for (j, target) in entry.to.iter().enumerate() {
        all.push((&target.access, &target.pos, [at, &[Key("to"), At(j), Key("pos")]].concat()));
    }
    let mut with_mobile_node = Vec::new();
    let mut between = Vec::new();
    for (j, (access, pos, steps)) in all.iter().enumerate() {
        let Some(of_pos) = names.resolve(pos, steps, report) else { continue };
        if *pos == entry.mobile_node {
            report.add(steps, format!("\"{pos}\" is the mobile node"), "name a node of the network");
            continue;
        }
        if all[..j].iter().any(|(_, other, _)| other == pos) {
            let message = format!("\"{pos}\" serves another of these networks");
            report.add(steps, message, "each network has a point of service of its own");
            continue;
        }
        let Some(mobile_node) = names.node(&entry.mobile_node) else { continue };
        let Some(base_station) = base_station(network, access, &entry.mobile_node) else { continue };
        if !names.node(base_station).is_some_and(|node| topology.connected(node, of_pos)) {
            let message =
                format!("nothing joins \"{base_station}\", the base station of \"{access}\", and \"{pos}\"");
            report.add(
                steps,
                message,
                "join them by a [[link]]: each cell has its point of service behind it",
            );
            continue;
        }
        with_mobile_node.push(Session { names: [&entry.mobile_node, pos], ends: (mobile_node, of_pos) });
        let (_, first_name, _) = all[0];
        let Some(first) = names.node(first_name).filter(|_| j > 0) else { continue };
        if !topology.connected(first, of_pos) {
            let message = format!("nothing joins the points of service \"{first_name}\" and \"{pos}\"");
            report.add(steps, message, "they ask each other for resources: join them by a [[link]]");
            continue;
        }
        between.push(Session { names: [first_name, pos], ends: (first, of_pos) });
    }
    let mut groups = vec![("transport", &entry.transport, with_mobile_node)];
    match &entry.transport_between_pos {
        Some(transport) => groups.push(("transport_between_pos", transport, between)),
        None => groups[0].2.extend(between),
    }
    for (key, transport, sessions) in groups {
        check_sessions(&join(at, [key]), transport, &sessions, network, topology, report);
        check_messages(at, (entry.message_bytes, transport), &sessions, network, report);
    }
}

/// The base station by which a node is in a cell.
fn base_station<'a>(network: &Network<'a>, access: &str, node: &str) -> Option<&'a str> {
    let found = network.access(access)?;
    let pairs = found.access.pairs();
    pairs.iter().find(|pair| pair.has_station() && pair.nodes[1] == node).map(|pair| pair.nodes[0])
}

/// A session of a handover.
pub(crate) struct Session<'a> {
    pub names: [&'a str; 2],
    pub ends: (usize, usize),
}

/// The transport at `at` carries these sessions; what is wrong is told of the first for which it is.
pub(crate) fn check_sessions(
    at: &[Step],
    transport: &Transport,
    sessions: &[Session<'_>],
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    if let Transport::Sctp(sctp) = transport
        && sctp.dynamic_addresses
    {
        let message = "each session of a handover stays at one address of the mobile node";
        return report.add(&join(at, ["dynamic_addresses"]), message, "leave `dynamic_addresses` out");
    }
    if matches!(transport, Transport::Quic(_)) {
        let message = "the sessions of a handover keep their addresses, but QUIC clients change theirs";
        return report.add(at, message, "write protocol = \"udp\", \"tcp\" or \"sctp\"");
    }
    let before = report.count();
    transport::check_messages(at, transport, report);
    for session in sessions {
        if report.count() == before {
            transport::check(at, transport, Some(session.ends), network, topology, report);
        }
    }
}

/// The messages of these sessions have room for the names of both ends, and over UDP for themselves in a
/// datagram; what is wrong is told of the first for which it is.
pub(crate) fn check_messages(
    at: &[Step],
    (message_bytes, transport): (Option<u64>, &Transport),
    sessions: &[Session<'_>],
    network: &Network<'_>,
    report: &mut Report<'_>,
) {
    let Some(bytes) = message_bytes else { return };
    let steps = join(at, ["message_size"]);
    let before = report.count();
    for Session { names, .. } in sessions {
        let least_bytes = HEADER_BYTES + names.map(id_tlv_bytes).iter().sum::<u64>();
        if bytes < least_bytes {
            let [a, b] = names;
            let message = format!("an MIH message between \"{a}\" and \"{b}\" has at least {least_bytes} B");
            report.add(&steps, message, "write more, or leave `message_size` out");
        } else if matches!(transport, Transport::Udp(_)) {
            check_datagram(&steps, bytes, network, report);
        }
        if report.count() > before {
            return;
        }
    }
}
