//! Flows: their ends, their transport and their application.

use super::model::Flow;
use crate::access::Network;
use crate::application::check as application;
use crate::application::model::Application;
use crate::distribution::check::check_size;
use crate::distribution::model::TimeDistribution;
use crate::flow::reader;
use crate::names::Names;
use crate::node::model::Node;
use crate::report::{At, Key, Report, join};
use crate::timing::check_times;
use crate::topology::Topology;
use crate::transport::{Transport, check as transport};
use roamsim_network::socket::connections::FIRST_PORT;

pub(crate) fn check(
    flows: &[Flow],
    network: &Network<'_>,
    names: &Names<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    for (i, flow) in flows.iter().enumerate() {
        let at = [Key("flow"), At(i)];
        let ends = names
            .resolve_ends(&at, &flow.from, &flow.to, report)
            .filter(|&ends| topology.check_route(&at, ends, network.nodes, report));
        check_external(i, flow, network.nodes, report);
        let at_transport = join(&at, ["transport"]);
        transport::check(&at_transport, &flow.transport, ends, network, topology, report);
        let over_udp = matches!(*flow.transport, Transport::Udp(_));
        let steps = join(&at, ["application"]);
        check_times(&steps, &flow.application.start(), flow.application.stop(), network.duration(), report);
        application::check(&steps, &flow.application, over_udp, network.duration(), report);
        check_both_ways(i, flow, report);
        check_transfers(i, flow, report);
        if matches!(*flow.transport, Transport::Quic(_)) && i >= usize::from(u16::MAX - FIRST_PORT) / 2 {
            let message = "ports for QUIC are for the first 8191 flows of a scenario";
            report.add(&at_transport, message, "write its flows first");
        }
        reader::check(i, flow, network.duration(), report);
        if !matches!(flow.application, Application::Bulk(_) | Application::Transfer(_)) {
            transport::check_messages(&at_transport, &flow.transport, report);
        }
        for (key, size) in application::sizes(&flow.application) {
            let steps = join(&steps, [key]);
            if check_size(&steps, &size, report) && over_udp {
                transport::check_datagram(&steps, size.max_bytes(), ends, network, topology, report);
            }
        }
    }
}

/// Checks a flow with an end whose programs run outside: it is a connection of TCP that carries a stream.
fn check_external(i: usize, flow: &Flow, nodes: &[Node], report: &mut Report<'_>) {
    let is_external = |name: &str| nodes.iter().any(|node| node.external && node.name == *name);
    let (from, to) = (is_external(&flow.from), is_external(&flow.to));
    let (key, end) = if from { ("from", &flow.from) } else { ("to", &flow.to) };
    let why = if from && to {
        Some("programs run at both of its ends")
    } else if !from && !to {
        None
    } else if !matches!(*flow.transport, Transport::Tcp(_)) {
        Some("a flow between a program and the simulation is one of TCP")
    } else if from && !matches!(flow.application, Application::Bulk(_)) {
        Some("the program decides what it sends: kind = \"bulk\" counts it")
    } else if from
        && (flow.application.start() != TimeDistribution::default() || flow.application.stop().is_some())
    {
        Some("the program decides when it sends: leave `start` and `stop` out")
    } else if i >= usize::from(u16::MAX - FIRST_PORT) / 2 {
        Some("ports are for the first 8191 flows of a scenario")
    } else if !matches!(flow.application, Application::Bulk(_) | Application::Transfer(_)) {
        Some("a program gets a stream: kind = \"bulk\" or \"transfer\"")
    } else if flow.bidirectional {
        Some("such a flow goes one way")
    } else if flow.reader.is_some() && to {
        Some("the program decides when it reads, so `reader` has no effect")
    } else {
        None
    };
    if let Some(why) = why {
        let message = format!("an end of this flow is \"{end}\", whose programs run outside: {why}");
        let help = "or leave all flows out by `roamsim live --without-flows`";
        report.add(&[Key("flow"), At(i), Key(key)], message, help);
    }
}

/// Checks what a flow of transfers that arrive needs.
fn check_transfers(i: usize, flow: &Flow, report: &mut Report<'_>) {
    if !matches!(flow.application, Application::Transfers(_)) {
        return;
    }
    let at = [Key("flow"), At(i)];
    if !matches!(*flow.transport, Transport::Tcp(_)) {
        let message = "`transfers` need TCP: each has a connection of its own";
        report.add(&join(&at, ["transport"]), message, "write protocol = \"tcp\"");
    }
    if flow.bidirectional {
        let message = "the connection of a transfer ends with it: nothing comes the other way";
        report.add(&join(&at, ["bidirectional"]), message, "leave it out, or write a second flow");
    }
    for (key, written) in
        [("reader", flow.reader.is_some()), ("reverse_reader", flow.reverse_reader.is_some())]
    {
        if written {
            let message = "a reader is of one connection, and each transfer has its own";
            report.add(&join(&at, [key]), message, "leave it out");
        }
    }
}

/// Checks the application of a flow with data in both directions.
fn check_both_ways(i: usize, flow: &Flow, report: &mut Report<'_>) {
    if !flow.bidirectional {
        return;
    }
    let at = [Key("flow"), At(i)];
    if matches!(flow.application, Application::RequestResponse(_)) {
        report.add(
            &join(&at, ["bidirectional"]),
            "`request_response` has two directions by itself: requests and responses",
            "leave `bidirectional` out, or use an application that generates data, such as \"poisson\" or \"bulk\"",
        );
    }
}
