//! Flows: their sockets and applications.

use super::Builder;
use super::distribution::{size_distribution, time_distribution};
use crate::model::application::{self, Application};
use crate::model::flow::{Flow as FlowModel, Pause, Reader as ReaderModel};
use crate::transport::Transport;
use roamsim_engine::Time;
use roamsim_network::application as network;
use roamsim_network::application::{
    Activity, Bulk, Client, Messages, OnOff, Pace, Reader, Server, Source, Transfer,
};
use roamsim_network::flow::Flow;
use roamsim_network::socket::User;
use roamsim_network::world::SocketEnd;
use roamsim_network::{Distribution, World};

/// The ports of flows start here (the dynamic range of RFC 6335 section 6), two a flow and node.
const FIRST_PORT: u16 = 49_152;

impl Builder<'_> {
    pub(super) fn flow(&self, world: &mut World, model: &FlowModel) {
        let number = world.flows.len() as u32;
        let stream = |purpose: &str| self.stream("flow", &model.name, &[purpose]);
        let (from, to) = (self.node(&model.from), self.node(&model.to));
        // Each flow has a pair of ports of its own; beyond the range they repeat. Packets find their sockets by number.
        let port = FIRST_PORT + (number % u32::from(u16::MAX - FIRST_PORT)) as u16;
        let users = match model.bidirectional {
            true => [(number, number + 1), (number + 1, number)]
                .map(|(sends, receives)| User::FlowBothWays { sends, receives }),
            false => [User::FlowSource(number), User::FlowSink(number)],
        };
        let a = SocketEnd { node: from, port, user: users[0] };
        let b = SocketEnd { node: to, port, user: users[1] };
        let random = |protocol: &str| ["source", "sink"].map(|end| stream(&format!("{protocol}/{end}")));
        let association = model.transport.connect(world, [a, b], random);
        let association = association.expect("validation refuses flows without a route");
        let reliable = !matches!(model.transport, Transport::Udp(_));
        let activity = Activity {
            start: self.start(&model.application.start(), stream("start")),
            stop: self.stop(model.application.stop()),
        };
        let (source, server) = application(&model.application, reliable, activity);
        let flow = Flow::new(
            &model.name,
            model.application.kind(),
            &model.transport.rules_name(),
            (source, stream("application")),
            (server, stream("server")),
            association,
        );
        let reverse = model.bidirectional.then(|| {
            let (source, _) = application(&model.application, reliable, activity);
            let source = (source, stream("reverse/application"));
            flow.reversed(source, stream("reverse/server"))
        });
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

fn application(model: &Application, reliable: bool, activity: Activity) -> (Source, Option<Server>) {
    let source = match model {
        Application::Bulk(bulk) => {
            // Without a stop the connection is not dropped at the end of the run.
            Source::Bulk(Bulk::new(Activity { stop: bulk.stop.unwrap_or(Time::MAX), ..activity }))
        }
        Application::Transfer(transfer) => {
            Source::Transfer(Transfer::new(activity.start, transfer.size_bytes))
        }
        Application::Cbr(cbr) => match cbr.pace() {
            application::Pace::Interval(interval) => {
                let interval = Distribution::Constant(interval.as_ns());
                Source::Messages(Messages::new(activity, interval, size_distribution(&cbr.packet_size)))
            }
            // A rate rarely gives whole nanoseconds: one "on" period without end derives every slot by itself.
            application::Pace::RateBps(rate_bps) => Source::OnOff(OnOff::new(
                activity,
                size_distribution(&cbr.packet_size),
                rate_bps,
                Distribution::Constant(u64::MAX),
                Distribution::Constant(0),
            )),
        },
        Application::Poisson(poisson) => {
            // The load stays what `mean_interval` says: batches are rarer the larger they are.
            let batch = poisson.mean_batch_packets;
            let interval = Distribution::Exponential { mean: poisson.mean_interval.as_ns() * batch };
            let size = size_distribution(&poisson.packet_size);
            let messages = Messages::new(activity, interval, size);
            Source::Messages(messages.in_batches(Distribution::Geometric { mean: batch }))
        }
        Application::OnOff(on_off) => Source::OnOff(OnOff::new(
            activity,
            size_distribution(&on_off.packet_size),
            on_off.rate_bps,
            time_distribution(&on_off.on),
            time_distribution(&on_off.off),
        )),
        Application::RequestResponse(model) => {
            let server = Server::new(
                size_distribution(&model.response_size),
                time_distribution(&model.processing_time),
            );
            // TCP and SCTP deliver in the end; a datagram may be lost, so its request is given up some time.
            let timeout = if reliable { model.timeout } else { Some(model.timeout()) };
            let request = size_distribution(&model.request_size);
            let client = Client::new(activity, request, time_distribution(&model.think_time), timeout);
            return (Source::Client(client), Some(server));
        }
    };
    (source, None)
}
