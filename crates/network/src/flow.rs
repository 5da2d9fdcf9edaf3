//! Flows: an application over an association, from one node to another.
//!
//! Data in both directions of an association is two flows over it, each with a source, random streams and measurements
//! of its own. The first one opens it.

pub use crate::ends::Association;

use crate::alarm::Alarm;
use crate::application::{Measurement, Reader, Server, Source};
use crate::socket::connections::Connections;
use roamsim_engine::Stream;

/// A flow.
pub struct Flow {
    /// Its name in the scenario.
    pub name: String,
    /// The kind of its application, in the scenario's word.
    pub application: &'static str,
    /// The variant of TCP or the rules of SCTP, empty over UDP.
    pub variant: String,
    /// Its application's sending side.
    pub source: Source,
    /// Its application's answering side, if it answers.
    pub server: Option<Box<Server>>,
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
    pub(crate) source_random: Stream,
    pub(crate) server_alarm: Alarm,
    pub(crate) server_random: Stream,
    pub(crate) reader_alarm: Alarm,
}

impl Flow {
    /// A flow that waits for its application's start. The source and the server each come with a random stream.
    pub fn new(
        name: &str,
        application: &'static str,
        variant: &str,
        source: (Source, Stream),
        server: (Option<Server>, Stream),
        association: Association,
    ) -> Flow {
        Flow {
            name: name.to_owned(),
            application,
            variant: variant.to_owned(),
            source: source.0,
            server: server.0.map(Box::new),
            reader: None,
            association,
            connections: None,
            reverse: false,
            measurement: Measurement::default(),
            source_alarm: Alarm::default(),
            source_random: source.1,
            server_alarm: Alarm::default(),
            server_random: server.1,
            reader_alarm: Alarm::default(),
        }
    }

    /// The other direction of a flow's association: from its sink to its source, with an application of its own.
    pub fn reversed(&self, source: (Source, Stream), server_random: Stream) -> Flow {
        let association = Association { source: self.association.sink, sink: self.association.source };
        let server = (None, server_random);
        Flow {
            reverse: true,
            ..Flow::new(&self.name, self.application, &self.variant, source, server, association)
        }
    }

    /// Its direction, in the word of result tables.
    pub fn direction(&self) -> &'static str {
        if self.reverse { "reverse" } else { "forward" }
    }

    /// A message is lost on its way, or cannot be sent. Of requests and responses, those that the client gave up are counted.
    pub(crate) fn lose_message(&mut self) {
        if self.server.is_none() {
            self.measurement.lost_messages += 1;
        }
    }

    /// Whether the flow is a stream of octets without messages.
    pub fn is_stream(&self) -> bool {
        matches!(self.source, Source::Bulk(_) | Source::Transfer(_))
    }
}
