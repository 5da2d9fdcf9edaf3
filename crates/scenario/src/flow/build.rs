//! Flows: their sockets and applications.

use super::model::{Flow as FlowModel, Pause, Reader as ReaderModel};
use super::programs;
use crate::application::build::application;
use crate::application::model::Application;
use crate::builder::Builder;
use crate::transport::Transport;
use roamsim_network::World;
use roamsim_network::application as network;
use roamsim_network::application::{Activity, Pace, Reader};
use roamsim_network::flow::{Answering, Flow};
use roamsim_network::names::shared;
use roamsim_network::socket::connections::Connections;
use roamsim_network::socket::{SocketEnd, User};

impl Builder<'_> {
    pub(crate) fn flow(&self, world: &mut World, model: &FlowModel) {
        let number = world.flows.len() as u32;
        let stream = |purpose: &str| self.stream("flow", &model.name, &[purpose]);
        let (from, to) = (self.node(&model.from), self.node(&model.to));
        let [a_port, b_port] = [programs::first_port(number), programs::port(model, number)];
        let users = match model.bidirectional {
            true => [(number, number + 1), (number + 1, number)]
                .map(|(sends, receives)| User::FlowBothWays { sends, receives }),
            false => [User::FlowSource(number), User::FlowSink(number)],
        };
        let traffic_class = model.dscp.traffic_class();
        // With Mobile IP, transports know the home address alone.
        let home = |node| world.mobile_ip.home_of(node);
        let a = SocketEnd { node: from, port: a_port, user: users[0], traffic_class, address: home(from) };
        let b = SocketEnd { node: to, port: b_port, user: users[1], traffic_class, address: home(to) };
        let random = |protocol: &str| ["source", "sink"].map(|end| stream(&format!("{protocol}/{end}")));
        // The first of the connections of transfers.
        let first = |protocol: &str| match &model.application {
            Application::Transfers(_) => random(protocol).map(|stream| stream.child(0)),
            _ => random(protocol),
        };
        let has_messages = !matches!(model.application, Application::Bulk(_) | Application::Transfer(_));
        let association = model.transport.connect(world, [a, b], has_messages, first);
        let association = association.expect("validation refuses flows without a route");
        let reliable = match *model.transport {
            Transport::Udp(_) => false,
            _ => !has_messages || !model.transport.sends_datagrams(),
        };
        let activity = Activity {
            start: self.start(&model.application.start(), stream("start")),
            stop: self.stop(model.application.stop()),
        };
        let build = |random| application(&model.application, reliable, activity, random);
        let (source, server) = build(stream("application"));
        let flow = Flow::new(
            (&model.name).into(),
            model.application.kind(),
            shared(model.transport.rules_name(), world.flows.last().map(|before| &before.variant)),
            source,
            server.map(|server| Answering::new(server, stream("server"))),
            association,
        );
        let mut reverse = model.bidirectional.then(|| flow.reversed(build(stream("reverse/application")).0));
        let mut flow = flow;
        if let Some(deadline) = model.application.deadline() {
            for flow in std::iter::once(&mut flow).chain(&mut reverse) {
                flow.measurement.expect_within(deadline, self.general.warm_up, self.stop(None));
            }
        }
        if let (Application::Transfers(transfers), Transport::Tcp(settings)) =
            (&model.application, &*model.transport)
        {
            let config = settings.machine(world, [from, to]);
            let streams = random("tcp");
            let limit = transfers.max_connections;
            flow.connections = Some(Box::new(Connections::new(config, [a, b], streams, limit, association)));
        }
        world.flows.push(flow);
        world.flows.extend(reverse);
        for (flow, model) in [(number, &model.reader), (number + 1, &model.reverse_reader)] {
            if let Some(model) = model {
                world.add_reader(flow, reader(model));
            }
        }
    }
}

fn reader(model: &ReaderModel) -> Reader {
    let pace = model.rate_bps.map(|rate_bps| Pace { rate_bps, read_bytes: model.read_size_bytes() });
    Reader::new(
        pace,
        model.pauses.iter().map(|&Pause { start, stop }| network::Pause { start, stop }).collect(),
        model.stop,
    )
}
