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
use roamsim_protocols::{Context, Machine};

impl World {
    pub(super) fn handle_source(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let flow = &mut self.flows[number as usize];
        if !flow.source_alarm.fires(now) {
            return false;
        }
        if let Source::Messages(messages) = &mut flow.source
            && let Some(bytes) = messages.take_alone(&mut Context { now, random: &mut flow.source_random })
        {
            self.send_of_flow(moment, number, bytes);
            self.arm_source(moment, number);
            return true;
        }
        let worked = flow.source.poll_timeout().is_some_and(|due| due <= now);
        flow.source.handle_timeout(&mut Context { now, random: &mut flow.source_random });
        if let Source::Client(client) = &flow.source {
            flow.measurement.lost_messages = client.given_up();
        }
        self.serve_source(moment, number);
        worked
    }

    pub(super) fn handle_server(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let flow = &mut self.flows[number as usize];
        if !flow.server_alarm.fires(now) {
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

    /// A message, or a response, has come after `delay`: the handovers of stations at the flow's ends count late ones.
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
        let (from, to) = if flow.server.is_some() { (sink, source) } else { (source, sink) };
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
    fn send_of_flow(&mut self, moment: &mut Moment<'_>, number: u32, bytes: u32) {
        let flow = &mut self.flows[number as usize];
        let measurement = &mut flow.measurement;
        let message = AppMessage { sequence: measurement.sent_messages, generated: moment.now, bytes };
        measurement.sent_messages += 1;
        measurement.sent_bytes += u64::from(bytes);
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
            let mut cx = Context { now, random: &mut flow.server_random };
            let Some((sequence, bytes)) = server.poll_response(&mut cx) else { break };
            let sink = flow.association.sink;
            let response = Message::Application(AppMessage { sequence, generated: now, bytes });
            self.send_message(moment, sink, response);
        }
        let flow = &mut self.flows[number as usize];
        if let Some(server) = &flow.server {
            flow.server_alarm.arm(server.poll_timeout(), Event::Server(number), moment);
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
