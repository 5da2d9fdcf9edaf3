//! Flows in the world: their applications at work.

use super::World;
use crate::alarm::Moment;
use crate::application::{Action, Source};
use crate::event::Event;
use crate::flow::Association;
use crate::link::stations::account::Toward;
use crate::packet::{AppMessage, Message};
use crate::recorder::MessageRow;
use crate::socket::SocketId;
use crate::subject::Subject;
use roamsim_engine::{Span, Time};

impl World {
    pub(super) fn handle_source(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let (now, measured_from) = (moment.now, self.measured_from());
        let flow = &mut self.flows[number as usize];
        if !flow.source_alarm.fires(now) {
            return false;
        }
        if let Source::Messages(messages) = &mut flow.source
            && let (messages, mut cx) = messages.at(now)
            && let Some(bytes) = messages.take_alone(&mut cx)
        {
            self.send_of_flow(moment, number, bytes);
            self.arm_source(moment, number);
            return true;
        }
        let worked = flow.source.poll_timeout().is_some_and(|due| due <= now);
        let asked = match &flow.source {
            Source::Client(client) => client.waits_since(),
            _ => None,
        };
        flow.source.handle_timeout_at(now);
        if let (Source::Client(client), Some(asked)) = (&flow.source, asked)
            && client.given_up() > flow.measurement.lost_messages
        {
            flow.measurement.on_loss(asked, measured_from);
        }
        self.serve_source(moment, number);
        worked
    }

    pub(super) fn handle_server(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let server = &mut self.flows[number as usize].server;
        if !server.as_mut().is_some_and(|server| server.alarm.fires(now)) {
            return false;
        }
        self.serve_server(moment, number);
        true
    }

    pub(super) fn handle_reader(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let flow = &mut self.flows[number as usize];
        flow.reader_alarm.fires(now) && self.serve_reader(moment, number)
    }

    /// Has a flow's reader do what is due; false if that is nothing.
    pub(super) fn serve_reader(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let flow = &mut self.flows[number as usize];
        let sink = flow.association.sink;
        let Some(reader) = &mut flow.reader else { return false };
        let stops = reader.stops(now);
        let read = reader.read(now);
        let closes = reader.has_read_all();
        flow.reader_alarm.arm(reader.poll_timeout(), Event::Reader(number), moment);
        if let Some(up_to) = read {
            self.read(now, sink, up_to);
            if closes {
                self.close(sink);
            }
        }
        if stops {
            self.abandon(sink);
        }
        read.is_some() || stops
    }

    #[inline]
    pub(super) fn deliver_stream(&mut self, now: Time, number: u32, bytes: u64) {
        self.delivered_bytes += bytes;
        let flow = &mut self.flows[number as usize];
        flow.measurement.delivered_bytes += bytes;
        if let Source::Transfer(transfer) = &flow.source
            && flow.measurement.delivered_bytes >= transfer.size_bytes()
        {
            flow.measurement.completed_at = Some(now);
            let sink = flow.association.sink;
            self.close_after_transfer(sink);
        }
        self.sample_delivered(now, number);
    }

    /// The sinks of bulk flows count for them what they deliver, unless that is recorded as it comes: a flow
    /// lies elsewhere than what a segment that arrives has touched anyway.
    pub(super) fn let_sinks_count(&mut self) {
        for flow in &self.flows {
            if let SocketId::Tcp(sink) = flow.association.sink
                && matches!(flow.source, Source::Bulk(_))
                && flow.reader.is_none()
                && !self.trace.throughput
            {
                self.tcp[sink as usize].keeps_account = true;
            }
        }
    }

    /// Octets that a flow has delivered by now.
    pub fn delivered_by_now(&self, flow: usize) -> u64 {
        let flow = &self.flows[flow];
        match flow.association.sink {
            SocketId::Tcp(sink) if self.tcp[sink as usize].keeps_account => {
                self.tcp[sink as usize].delivered_bytes
            }
            _ => flow.measurement.delivered_bytes,
        }
    }

    /// Reads what their sinks have counted for the first flows.
    pub(super) fn read_sinks(&mut self, flows: usize) {
        for flow in &mut self.flows[..flows] {
            if let SocketId::Tcp(sink) = flow.association.sink
                && let sink = &self.tcp[sink as usize]
                && sink.keeps_account
            {
                flow.measurement.delivered_bytes = sink.delivered_bytes;
            }
        }
    }

    /// A message, or a response, has come after `delay`: the handovers of stations at the flow's ends count
    /// late ones.
    #[inline]
    pub(super) fn note_delay(&mut self, now: Time, number: u32, delay: Span) {
        if !self.handovers.records.is_empty() {
            self.note_delay_amid_handovers(now, number, delay);
        }
    }

    #[inline(never)]
    fn note_delay_amid_handovers(&mut self, now: Time, number: u32, delay: Span) {
        let flow = &self.flows[number as usize];
        if flow.source.late_after().is_none_or(|limit| delay <= limit) {
            return;
        }
        let Association { source, sink } = flow.association;
        // A response goes the other way.
        let (from, to) =
            if matches!(flow.source, Source::Client(_)) { (sink, source) } else { (source, sink) };
        let written = Time::from_ns(now.as_ns() - delay.as_ns());
        for (socket, toward) in [(from, Toward::BaseStation), (to, Toward::Station)] {
            let node = self.node(socket);
            self.handovers.come_late(&self.network, node, toward, number, written);
        }
    }

    #[cold]
    fn close_after_transfer(&mut self, sink: SocketId) {
        if self.closes_both_ways(sink) {
            self.close(sink);
        }
    }

    /// Does what a flow's source wants done.
    pub(super) fn serve_source(&mut self, moment: &mut Moment<'_>, number: u32) {
        let now = moment.now;
        while let Some(action) = self.flows[number as usize].source.poll_action() {
            let Association { source, sink } = self.flows[number as usize].association;
            match action {
                Action::Send { bytes } if self.sockets_watched => self.send_watched(moment, number, bytes),
                Action::Send { bytes } => self.send_of_flow(moment, number, bytes),
                Action::Begin { bytes } => self.begin_transfer(moment, number, bytes),
                // The listening end of a connection is opened by its peer.
                Action::Open if self.flows[number as usize].reverse => {}
                Action::Open => self.open(source),
                Action::Stream { bytes } => self.write_stream(source, bytes),
                Action::Close if self.closes_both_ways(source) => {}
                Action::Close => self.close(source),
                Action::Abort => {
                    if let Some(reader) = &mut self.flows[number as usize].reader {
                        reader.drop_unread();
                    }
                    self.abort(now, source);
                    self.abort(now, sink);
                }
            }
        }
        self.arm_source(moment, number);
    }

    /// Sends a message of a flow.
    #[inline]
    pub(super) fn send_of_flow(&mut self, moment: &mut Moment<'_>, number: u32, bytes: u32) {
        let flow = &mut self.flows[number as usize];
        let measurement = &mut flow.measurement;
        let message = AppMessage { sequence: measurement.sent_messages, generated: moment.now, bytes };
        measurement.on_write(moment.now, u64::from(bytes));
        let socket = flow.association.source;
        self.send_message(moment, socket, Message::Application(message));
    }

    #[inline]
    fn arm_source(&mut self, moment: &mut Moment<'_>, number: u32) {
        let flow = &mut self.flows[number as usize];
        flow.source_alarm.arm(flow.source.poll_timeout(), Event::Source(number), moment);
    }

    /// Sends the responses that are ready.
    pub(super) fn serve_server(&mut self, moment: &mut Moment<'_>, number: u32) {
        let now = moment.now;
        loop {
            let flow = &mut self.flows[number as usize];
            let Some(server) = &mut flow.server else { return };
            let Some((sequence, bytes)) = server.poll_response(now) else { break };
            let sink = flow.association.sink;
            let response = AppMessage { sequence, generated: now, bytes };
            if self.answers_program(sink) {
                self.answer_program(moment, sink, response);
                continue;
            }
            if let SocketId::Udp(socket) = sink
                && let Some(port) = self.flows[number as usize].port_of_request(sequence)
            {
                self.udp[socket as usize].remote_port = port;
            }
            self.send_message(moment, sink, Message::Application(response));
        }
        let sink = self.flows[number as usize].association.sink;
        if self.answers_program(sink) {
            self.refuse_program(moment, sink);
        }
        if let Some(server) = &mut self.flows[number as usize].server {
            server.arm(Event::Server(number), moment);
        }
    }

    /// Records how much a flow has delivered.
    #[inline]
    pub(super) fn sample_delivered(&mut self, now: Time, number: u32) {
        if self.trace.throughput {
            self.record_delivered(now, number);
        }
    }

    #[cold]
    fn record_delivered(&mut self, now: Time, number: u32) {
        let flow = &self.flows[number as usize];
        if let Some(recorder) = &mut self.network.recorder {
            let delivered = flow.measurement.delivered_bytes as f64;
            recorder.sample(now, Subject::Flow(number), "delivered", "B", delivered);
        }
    }

    /// Records a message that a flow has delivered.
    pub(super) fn record_message(&mut self, now: Time, number: u32, message: &AppMessage) {
        if !self.trace.messages {
            return;
        }
        if let Some(recorder) = &mut self.network.recorder {
            let &AppMessage { sequence, generated, bytes } = message;
            recorder.message(MessageRow { flow: number, sequence, generated, delivered: now, bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::{Activity, Bulk};
    use crate::flow::Flow;
    use crate::link::wired::{Wire, WireConfig};
    use crate::link::{AnyLink, QueueLimit};
    use crate::network::Network;
    use crate::packet::IpVersion;
    use crate::socket::{SocketEnd, User};
    use crate::testing::stream;
    use crate::topology::{NodeId, Topology};
    use crate::traffic_class::TrafficClass;
    use roamsim_engine::run::Watch;
    use roamsim_protocols::{Address, tcp};

    /// A bulk flow over TCP, by a wire of this rate and 10 ms, after 2 s of which the first is a warm-up.
    fn bulk(rate_bps: u64, throughput_recorded: bool) -> World {
        let mut topology = Topology::default();
        let nodes = ["a", "b"].map(|name| topology.add_node(name));
        topology.add_on_wire(nodes[0], nodes[1], 0, "");
        topology.add_on_wire(nodes[1], nodes[0], 1, "");
        topology.make_routes();
        let mut network = Network::new(topology, IpVersion::V4);
        for number in 0..2u32 {
            let config = WireConfig {
                rate_bps,
                delay: Span::from_ms(10),
                queue: QueueLimit::Packets(20),
                mtu_bytes: 1500,
                outages: Vec::new(),
            };
            let addresses = [Address(number), Address(number ^ 1)];
            network.add_link(AnyLink::Wire(Wire::new(config, None)), "", &addresses, stream(""));
        }
        let mut world = World::new(network);
        world.trace.throughput = throughput_recorded;
        let end = |node: NodeId, user| {
            let traffic_class = TrafficClass::default();
            (SocketEnd { node, port: 1, user, traffic_class, address: None }, stream("end"))
        };
        let ends = (end(nodes[0], User::FlowSource(0)), end(nodes[1], User::FlowSink(0)));
        let association = world.add_tcp(&tcp::Config::default(), ends.0, ends.1).expect("a route joins them");
        let source = Source::Bulk(Bulk::new(Activity { start: Time::ZERO, stop: Time::MAX }));
        world.flows.push(Flow::new("flow".into(), "bulk", "".into(), source, None, association));
        world.keep_series(&[]);
        world.cut_warm_up(Time::ZERO + Span::from_secs(1));
        world.run(Time::ZERO + Span::from_secs(2), &Watch::default(), &mut |_, _| true).expect("a run");
        world
    }

    #[test]
    fn packets_that_come_over_a_wire_at_one_instant_are_all_taken_then() {
        let world = bulk(u64::MAX, false);
        assert_eq!(world.network.check_conservation(), Ok(()));
        // The receiver's window, 6 MiB, each 20 ms once slow start has opened it: more than 50 times.
        let delivered_bytes = world.flows[0].measurement.delivered_bytes;
        assert!((50 * (6 << 20)..100 * (6 << 20)).contains(&delivered_bytes), "{delivered_bytes}");
    }

    #[test]
    fn a_sink_that_counts_for_its_flow_counts_what_the_flow_would() {
        let (counted, recorded) = (bulk(8_000_000, false), bulk(8_000_000, true));
        assert_eq!([&counted, &recorded].map(|world| world.tcp[1].keeps_account), [true, false]);
        let whole = [&counted, &recorded].map(|world| world.flows[0].measurement.delivered_bytes);
        // At 8 Mb/s less than a million octets a second, and more than half.
        assert!(whole[0] == whole[1] && (1_000_000..2_000_000).contains(&whole[0]), "{whole:?}");
        for world in [&counted, &recorded] {
            let parts = &world.series.as_ref().expect("series").flows[0].parts;
            let of = |from: usize| parts[from..].iter().map(|part| part.delivered_bytes).sum::<u64>();
            assert_eq!((of(0), of(100)), (whole[0], world.flow_measurement(0).delivered_bytes));
        }
    }
}
