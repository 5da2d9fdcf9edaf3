//! Flows in the world: their applications at work.

use super::{Event, Work, World};
use crate::application::{Action, Source};
use crate::flow::Association;
use crate::packet::{AppMessage, Message};
use crate::recorder::MessageRow;
use roamsim_engine::{EventQueue, Time};
use roamsim_protocols::tcp::State;
use roamsim_protocols::{Context, Machine};

impl World {
    pub(super) fn handle_source(&mut self, now: Time, number: u32, queue: &mut EventQueue<Event>) -> bool {
        let flow = &mut self.flows[number as usize];
        if !flow.source_alarm.fires(now) {
            return false;
        }
        let worked = flow.source.poll_timeout().is_some_and(|due| due <= now);
        flow.source.handle_timeout(&mut Context { now, random: &mut flow.source_random });
        if let Source::Client(client) = &flow.source {
            flow.measurement.lost_messages = client.given_up();
        }
        self.serve_source(now, number, queue);
        worked
    }

    pub(super) fn handle_server(&mut self, now: Time, number: u32, queue: &mut EventQueue<Event>) -> bool {
        let flow = &mut self.flows[number as usize];
        if !flow.server_alarm.fires(now) {
            return false;
        }
        self.serve_server(now, number, queue);
        true
    }

    pub(super) fn deliver_stream(&mut self, now: Time, number: u32, bytes: u64) {
        let flow = &mut self.flows[number as usize];
        flow.measurement.delivered_bytes += bytes;
        if let Source::Transfer(transfer) = &flow.source
            && flow.measurement.delivered_bytes >= transfer.size_bytes()
        {
            flow.measurement.completed_at = Some(now);
        }
        self.sample_delivered(now, number);
    }

    /// Does what a flow's source wants done.
    pub(super) fn serve_source(&mut self, now: Time, number: u32, queue: &mut EventQueue<Event>) {
        while let Some(action) = self.flows[number as usize].source.poll_action() {
            let association = self.flows[number as usize].association;
            match (action, association) {
                (Action::Send { bytes }, _) => {
                    let measurement = &mut self.flows[number as usize].measurement;
                    let message = AppMessage { sequence: measurement.sent_messages, generated: now, bytes };
                    measurement.sent_messages += 1;
                    measurement.sent_bytes += u64::from(bytes);
                    let (Association::Tcp { source, .. } | Association::Udp { source, .. }) = association;
                    let tcp = matches!(association, Association::Tcp { .. });
                    self.send_message(now, tcp, source, Message::Application(message), queue);
                }
                (Action::Open, Association::Tcp { source, .. }) => self.open_tcp(source),
                (Action::Stream { bytes }, Association::Tcp { source, .. }) => {
                    let socket = &mut self.tcp[source as usize];
                    socket.written_bytes += bytes;
                    socket.connection.write(bytes);
                    self.work.push_back(Work::Tcp(source));
                }
                (Action::Close, Association::Tcp { source, .. }) => {
                    let socket = &mut self.tcp[source as usize];
                    match socket.connection.state() {
                        // RFC 9293 section 3.10.4: a close in SYN-SENT would end the attempt.
                        State::SynSent => socket.close_when_established = true,
                        _ => socket.connection.close(),
                    }
                    self.work.push_back(Work::Tcp(source));
                }
                (Action::Abort, Association::Tcp { source, sink }) => {
                    self.tcp[source as usize].connection.abort();
                    self.tcp[sink as usize].connection.abort();
                    self.work.extend([Work::Tcp(source), Work::Tcp(sink)]);
                }
                (_, Association::Udp { .. }) => {}
            }
        }
        let flow = &mut self.flows[number as usize];
        flow.source_alarm.arm(flow.source.poll_timeout(), Event::Source(number), queue);
    }

    /// Sends the responses that are ready.
    pub(super) fn serve_server(&mut self, now: Time, number: u32, queue: &mut EventQueue<Event>) {
        loop {
            let flow = &mut self.flows[number as usize];
            let Some(server) = &mut flow.server else { return };
            let mut cx = Context { now, random: &mut flow.server_random };
            let Some((sequence, bytes)) = server.poll_response(&mut cx) else { break };
            let (tcp, sink) = match flow.association {
                Association::Tcp { sink, .. } => (true, sink),
                Association::Udp { sink, .. } => (false, sink),
            };
            let response = Message::Application(AppMessage { sequence, generated: now, bytes });
            self.send_message(now, tcp, sink, response, queue);
        }
        let flow = &mut self.flows[number as usize];
        if let Some(server) = &flow.server {
            flow.server_alarm.arm(server.poll_timeout(), Event::Server(number), queue);
        }
    }

    /// Records how much a flow has delivered.
    pub(super) fn sample_delivered(&mut self, now: Time, number: u32) {
        if !self.wanted.throughput {
            return;
        }
        let flow = &self.flows[number as usize];
        if let Some(recorder) = &mut self.network.recorder {
            let name = format!("flow {}", flow.name);
            let delivered = flow.measurement.delivered_bytes as f64;
            // Flows and sockets number their series apart.
            recorder.sample(now, u32::MAX - number, "delivered", "B", delivered, &name);
        }
    }

    /// Records a message that a flow has delivered.
    pub(super) fn record_message(&mut self, now: Time, number: u32, message: &AppMessage) {
        if !self.wanted.messages {
            return;
        }
        if let Some(recorder) = &mut self.network.recorder {
            let &AppMessage { sequence, generated, bytes } = message;
            recorder.message(MessageRow { flow: number, sequence, generated, delivered: now, bytes });
        }
    }
}
