//! Flows: their ends, their transport and their application.

use crate::Scenario;
use crate::application::check as application;
use crate::application::model::Application;
use crate::flow::reader;
use crate::transport::{Transport, check as transport};
use crate::validate::names::Names;
use crate::validate::topology::Topology;
use crate::validate::{At, Key, Report, check_size, check_times, join};

pub(crate) fn check(scenario: &Scenario, names: &Names<'_>, topology: &Topology, report: &mut Report<'_>) {
    for (i, flow) in scenario.flows.iter().enumerate() {
        let at = [Key("flow"), At(i)];
        let ends = names
            .resolve_ends(&at, &flow.from, &flow.to, report)
            .filter(|&ends| topology.check_route(&at, ends, scenario, report));
        let at_transport = join(&at, ["transport"]);
        transport::check(&at_transport, &flow.transport, ends, scenario, topology, report);
        let over_udp = matches!(flow.transport, Transport::Udp(_));
        let steps = join(&at, ["application"]);
        check_times(&steps, &flow.application.start(), flow.application.stop(), scenario, report);
        application::check(&steps, &flow.application, over_udp, report);
        check_both_ways(i, scenario, report);
        reader::check(i, scenario, report);
        if !matches!(flow.application, Application::Bulk(_) | Application::Transfer(_)) {
            transport::check_messages(&at_transport, &flow.transport, report);
        }
        for (key, size) in application::sizes(&flow.application) {
            let steps = join(&steps, [key]);
            if check_size(&steps, &size, report) && over_udp {
                transport::check_datagram(&steps, size.max_bytes(), ends, scenario, topology, report);
            }
        }
    }
}

/// Checks the application of a flow with data in both directions.
fn check_both_ways(i: usize, scenario: &Scenario, report: &mut Report<'_>) {
    let flow = &scenario.flows[i];
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
