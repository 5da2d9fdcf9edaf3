//! Flows: their ends, their transport and their application.

use super::model::Flow;
use crate::access::Network;
use crate::application::check as application;
use crate::application::model::{Application, RequestResponse};
use crate::application::transfers::model::MAX_CONNECTIONS;
use crate::distribution::check::check_size;
use crate::distribution::model::TimeDistribution;
use crate::flow::reader;
use crate::names::Names;
use crate::node::model::Node;
use crate::report::{At, Key, Report, join};
use crate::timing::check_times;
use crate::topology::Topology;
use crate::transport::quic::model::QuicMessages;
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
        let [from_program, _] = with_programs(flow, network.nodes);
        let is_stream = matches!(flow.application, Application::Bulk(_) | Application::Transfer(_));
        let datagrams = over_udp || (flow.transport.sends_datagrams() && !is_stream);
        application::check(&steps, &flow.application, datagrams, from_program, network.duration(), report);
        check_both_ways(i, flow, report);
        check_transfers(i, flow, report);
        if matches!(*flow.transport, Transport::Quic(_)) && i >= usize::from(u16::MAX - FIRST_PORT) / 2 {
            let message = "ports for QUIC are for the first 8191 flows of a scenario";
            report.add(&at_transport, message, "write its flows first");
        }
        reader::check(i, flow, network.duration(), report);
        match is_stream {
            true => transport::check_stream(&at_transport, &flow.transport, report),
            false => transport::check_messages(&at_transport, &flow.transport, report),
        }
        for (key, size) in application::sizes(&flow.application) {
            let steps = join(&steps, [key]);
            if check_size(&steps, &size, report) {
                transport::check_message_size(&steps, &size, &flow.transport, network, report);
            }
        }
    }
}

/// Whether a program outside has an end of a flow: the source, the sink.
fn with_programs(flow: &Flow, nodes: &[Node]) -> [bool; 2] {
    [&flow.from, &flow.to].map(|name| nodes.iter().any(|node| node.external && node.name == **name))
}

/// Checks a flow with an end whose programs run outside.
fn check_external(i: usize, flow: &Flow, nodes: &[Node], report: &mut Report<'_>) {
    let [from, to] = with_programs(flow, nodes);
    if let Application::RequestResponse(asking) = &flow.application {
        check_request_response(i, asking, [from, to], !matches!(*flow.transport, Transport::Tcp(_)), report);
    }
    let (key, end) = if from { ("from", &flow.from) } else { ("to", &flow.to) };
    let over_udp = matches!(*flow.transport, Transport::Udp(_));
    let asks = matches!(flow.application, Application::RequestResponse(_));
    let streams = matches!(flow.application, Application::Bulk(_) | Application::Transfer(_));
    let why = if from && to {
        Some("programs run at both of its ends")
    } else if !from && !to {
        None
    } else if matches!(*flow.transport, Transport::Quic(_)) {
        Some("a flow between a program and the simulation is one of TCP, SCTP or UDP")
    } else if matches!(*flow.transport, Transport::Sctp(_)) && !streams {
        Some("over SCTP a program sends or gets kind = \"bulk\" or \"transfer\"")
    } else if from && !asks && !matches!(flow.application, Application::Bulk(_)) {
        Some("the program decides what it sends: kind = \"bulk\" counts it, \"request_response\" answers it")
    } else if from
        && (flow.application.start() != TimeDistribution::default() || flow.application.stop().is_some())
    {
        Some("the program decides when it sends: leave `start` and `stop` out")
    } else if i >= usize::from(u16::MAX - FIRST_PORT) / 2 {
        Some("ports are for the first 8191 flows of a scenario")
    } else if !over_udp && !asks && !streams {
        Some("a program gets a stream: kind = \"bulk\", \"transfer\" or \"request_response\"")
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

/// What fits into a field of a head that Apache (`LimitRequestFieldSize`, 8190 octets) and nginx
/// (`large_client_header_buffers`, 8 KiB) take. Chosen: a round number below.
const MOST_HEAD_BYTES: u64 = 8000;

/// Checks who decides how requests and responses look: a key, or a program.
fn check_request_response(
    i: usize,
    asking: &RequestResponse,
    [from, to]: [bool; 2],
    over_udp: bool,
    report: &mut Report<'_>,
) {
    let at = [Key("flow"), At(i), Key("application")];
    for (key, written, program, role) in [
        ("request_size", asking.request_size.is_some(), from, "asks"),
        ("response_size", asking.response_size.is_some(), to, "answers"),
    ] {
        match (written, program) {
            (false, false) => {
                let message = format!("`request_response` needs `{key}`");
                report.add(&at, message, "write a size such as \"1kB\"");
            }
            (true, true) => {
                let message = format!("`{key}` has no effect: the program that {role} decides it");
                report.add(&join(&at, [key]), message, "leave it out");
            }
            _ => {}
        }
    }
    if let Some(size) = &asking.request_size
        && to
        && !over_udp
        && size.max_bytes() > MOST_HEAD_BYTES
    {
        let message = "a program that answers over TCP gets a request of 8000 B at most";
        let help = "write \"8000B\" or less: web servers refuse longer heads";
        report.add(&join(&at, ["request_size"]), message, help);
    }
    let no_time = TimeDistribution::default();
    for (key, written, program) in [
        ("think_time", asking.think_time != no_time, from),
        ("timeout", asking.timeout.is_some(), from),
        ("processing_time", asking.processing_time != no_time, to),
    ] {
        if written && program {
            let message = format!("`{key}` has no effect: the program decides it");
            report.add(&join(&at, [key]), message, "leave it out");
        }
    }
    let Some(path) = &asking.path else { return };
    let at_path = join(&at, ["path"]);
    if !to || over_udp {
        let message = "`path` is what a program that answers over TCP is asked for";
        report.add(&at_path, message, "leave it out; or make `to` external");
    } else if !path.starts_with('/') || !path.bytes().all(|octet| octet.is_ascii_graphic()) {
        let message = "a path begins with / and has visible letters of ASCII";
        report.add(&at_path, message, "write one such as \"/big\", others with %");
    }
}

/// Checks what a flow of transfers that arrive needs.
fn check_transfers(i: usize, flow: &Flow, report: &mut Report<'_>) {
    let Application::Transfers(transfers) = &flow.application else { return };
    let at = [Key("flow"), At(i)];
    match &*flow.transport {
        Transport::Tcp(_) => {}
        Transport::Quic(quic) => {
            if quic.messages == QuicMessages::Datagrams {
                let message = "a transfer is longer than a datagram, and needs a stream";
                let help = "leave `messages` out: each transfer has a stream of its own";
                report.add(&join(&at, ["transport", "messages"]), message, help);
            }
            let steps = join(&at, ["application", "max_connections"]);
            if transfers.max_connections != MAX_CONNECTIONS {
                let message = "over QUIC all transfers share one connection";
                report.add(&steps, message, "leave it out: QUIC begins 100 streams at a time");
            }
        }
        Transport::Udp(_) | Transport::Sctp(_) => {
            let message = "`transfers` need TCP or QUIC: each has a connection or a stream of its own";
            let help = "write protocol = \"tcp\" or \"quic\"";
            report.add(&join(&at, ["transport"]), message, help);
        }
    }
    if flow.bidirectional {
        let message = "transfers go one way: nothing comes the other way";
        report.add(&join(&at, ["bidirectional"]), message, "leave it out, or write a second flow");
    }
    for (key, written) in
        [("reader", flow.reader.is_some()), ("reverse_reader", flow.reverse_reader.is_some())]
    {
        if written {
            let message = "a reader reads one stream, and each transfer has its own";
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
