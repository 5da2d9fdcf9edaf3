//! Flows: an application over an association, from one node to another.
//!
//! Data in both directions of an association is two flows over it, each with a source, random streams and
//! measurements of its own. The first one opens it.

pub use crate::ends::Association;

use crate::alarm::{Alarm, Moment};
use crate::application::{Drawing, Measurement, Reader, Server, Source};
use crate::event::Event;
use crate::packet::AppMessage;
use crate::socket::connections::Connections;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::Machine;
use std::sync::Arc;

/// A flow.
pub struct Flow {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// The kind of its application, in the scenario's word.
    pub application: &'static str,
    /// The variant of TCP or the rules of SCTP, empty over UDP.
    pub variant: Arc<str>,
    /// Its application's sending side.
    pub source: Source,
    /// Its application's answering side, if it answers.
    pub server: Option<Box<Answering>>,
    /// What reads at its sink; without one, whatever arrives is taken at once. Over TCP alone.
    pub reader: Option<Box<Reader>>,
    /// Its sockets.
    pub association: Association,
    /// Where each of its transfers has a connection of its own: those. The sockets above are of the first.
    pub connections: Option<Box<Connections>>,
    /// Its association is another flow's, which opens it.
    pub reverse: bool,
    /// What was measured.
    pub measurement: Measurement,
    pub(crate) source_alarm: Alarm,
    pub(crate) reader_alarm: Alarm,
}

/// The answering side of a flow's application.
pub struct Answering {
    server: Drawing<Server>,
    pub(crate) alarm: Alarm,
}

impl Answering {
    /// One that waits for a request.
    pub fn new(server: Server, random: Stream) -> Answering {
        Answering { server: Drawing::new(server, random), alarm: Alarm::default() }
    }

    /// From now on no answer overtakes another.
    pub(crate) fn answer_in_order(&mut self) {
        self.server.at(Time::ZERO).0.answer_in_order();
    }

    pub(crate) fn on_request(&mut self, now: Time, request: AppMessage) {
        let (server, mut cx) = self.server.at(now);
        server.on_request(&mut cx, request);
    }

    pub(crate) fn poll_response(&mut self, now: Time) -> Option<(u64, u32)> {
        let (server, mut cx) = self.server.at(now);
        server.poll_response(&mut cx)
    }

    pub(crate) fn arm(&mut self, event: Event, moment: &mut Moment<'_>) {
        self.alarm.arm(self.server.poll_timeout(), event, moment);
    }
}

impl Flow {
    /// A flow that waits for its application's start.
    pub fn new(
        name: Arc<str>,
        application: &'static str,
        variant: Arc<str>,
        source: Source,
        server: Option<Answering>,
        association: Association,
    ) -> Flow {
        Flow {
            name,
            application,
            variant,
            source,
            server: server.map(Box::new),
            reader: None,
            association,
            connections: None,
            reverse: false,
            measurement: Measurement::default(),
            source_alarm: Alarm::default(),
            reader_alarm: Alarm::default(),
        }
    }

    /// The other direction of a flow's association: from its sink to its source, with an application of its
    /// own.
    pub fn reversed(&self, source: Source) -> Flow {
        let association = Association { source: self.association.sink, sink: self.association.source };
        Flow {
            reverse: true,
            ..Flow::new(
                Arc::clone(&self.name),
                self.application,
                Arc::clone(&self.variant),
                source,
                None,
                association,
            )
        }
    }

    /// Its direction, in the word of result tables.
    pub fn direction(&self) -> &'static str {
        if self.reverse { "reverse" } else { "forward" }
    }

    /// A message that was written then is lost on its way, or cannot be sent, in a run that is measured from
    /// an instant on. Of requests and responses, those that the client gave up are counted.
    pub(crate) fn lose_message(&mut self, written: Time, measured_from: Time) {
        if self.server.is_none() {
            self.measurement.on_loss(written, measured_from);
        }
    }

    /// The port of a program outside that sent this request, over UDP.
    pub(crate) fn port_of_request(&self, sequence: u64) -> Option<u16> {
        match &self.source {
            Source::Client(client) => client.port_of(sequence),
            _ => None,
        }
    }

    /// Whether the flow is a stream of octets without messages.
    pub fn is_stream(&self) -> bool {
        matches!(self.source, Source::Bulk(_) | Source::Transfer(_))
    }
}
