//! Flows of transfers that arrive. Each transfer has its own connection, or is a message in one connection
//! if the transport separates messages.

use super::World;
use crate::alarm::Moment;
use crate::application::Source;
use crate::ends::Association;
use crate::packet::{AppMessage, Message};
use crate::socket::connections::{Connections, FIRST_PORT, Place, QUIET};
use crate::socket::{Counts, SocketId, TcpSocket};
use roamsim_engine::Time;

impl World {
    /// A transfer has arrived: it is begun over a connection of its own, unless there are too many.
    pub(super) fn begin_transfer(&mut self, moment: &mut Moment<'_>, number: u32, bytes: u32) {
        let now = moment.now;
        let flow = number as usize;
        let Some(mut connections) = self.flows[flow].connections.take() else {
            return self.begin_on_connection(moment, number, bytes);
        };
        let transfer = self.flows[flow].measurement.sent_messages;
        let association = self.connect_for(now, &mut connections, transfer);
        self.flows[flow].connections = Some(connections);
        if let Source::Transfers(transfers) = &mut self.flows[flow].source {
            match association {
                Some(_) => transfers.completions.begin(transfer, bytes),
                None => transfers.completions.refused += 1,
            }
        }
        let Some(Association { source, .. }) = association else { return };
        let measurement = &mut self.flows[flow].measurement;
        let message = AppMessage { sequence: transfer, generated: now, bytes };
        measurement.on_write(now, u64::from(bytes));
        self.open(source);
        self.send_message(moment, source, Message::Application(message));
        self.close(source);
    }

    /// The same over the connection of the flow, which the first one opens.
    fn begin_on_connection(&mut self, moment: &mut Moment<'_>, number: u32, bytes: u32) {
        let flow = &mut self.flows[number as usize];
        let (transfer, source) = (flow.measurement.sent_messages, flow.association.source);
        if let Source::Transfers(transfers) = &mut flow.source {
            transfers.completions.begin(transfer, bytes);
        }
        if transfer == 0 {
            self.open(source);
        }
        let is_gone = self.socket(source).is_gone();
        self.send_of_flow(moment, number, bytes);
        if is_gone && let Source::Transfers(transfers) = &mut self.flows[number as usize].source {
            transfers.completions.fail(transfer);
        }
    }

    /// Sockets for the next connection.
    fn connect_for(
        &mut self,
        now: Time,
        connections: &mut Connections,
        transfer: u64,
    ) -> Option<Association> {
        let place = connections.place(|pair, closed_since| self.is_free(now, pair, closed_since))?;
        let mut retired = [Counts::default(); 2];
        let association = match place {
            Place::First(association) => {
                for end in [association.source, association.sink] {
                    self.network.dropped_segments.watch(end);
                }
                association
            }
            Place::Again(association) => {
                retired = [association.source, association.sink].map(|end| self.counts(end));
                self.make_pair(connections, association.source)?
            }
            Place::New => self.make_pair(connections, SocketId::Tcp(self.tcp.len() as u32))?,
        };
        connections.begin(place, association, transfer, retired);
        if self.details {
            for end in [association.source, association.sink] {
                if let SocketId::Tcp(number) = end {
                    self.tcp[number as usize].describe_transfer(transfer);
                }
            }
        }
        Some(association)
    }

    /// Makes the sockets of the next connection, from this one on.
    fn make_pair(&mut self, connections: &Connections, source: SocketId) -> Option<Association> {
        let SocketId::Tcp(first) = source else { return None };
        let [mut a, b] = connections.ends;
        let begun = connections.begun();
        let ports = u64::from(u16::MAX - FIRST_PORT);
        a.port = FIRST_PORT + ((u64::from(a.port - FIRST_PORT) + begun) % ports) as u16;
        let addresses = self.addresses(&a, &b)?;
        let random = [0, 1].map(|end: usize| connections.random[end].child(begun));
        let pair = TcpSocket::pair(first, &connections.config, [a, b], addresses, random, self.details);
        for (number, socket) in (first as usize..).zip(pair) {
            self.network.dropped_segments.watch(SocketId::Tcp(number as u32));
            match self.tcp.get_mut(number) {
                Some(place) => *place = socket,
                None => self.tcp.push(socket),
            }
        }
        Some(Association { source, sink: SocketId::Tcp(first + 1) })
    }

    /// Whether the sockets of a connection can be used again.
    fn is_free(&self, now: Time, pair: Association, closed_since: &mut Option<Time>) -> bool {
        let [source, sink] = [pair.source, pair.sink].map(|end| self.socket(end));
        let closed = source.is_closed(sink.is_gone());
        if !closed {
            return false;
        }
        let since = *closed_since.get_or_insert(now);
        let (sent, received) = [source.traffic(), sink.traffic()]
            .into_iter()
            .fold((0, 0), |(sent, received), of| (sent + of.sent_packets, received + of.received_packets));
        let dropped = self.network.dropped_segments.of(pair);
        (sink.is_closed(source.is_gone()) && sent as i64 == received as i64 + dropped)
            || now.since(since) >= QUIET
    }

    /// The connection of a transfer is gone with what was in it.
    pub(super) fn fail_transfer(&mut self, source: SocketId, flow: u32) {
        let flow = &mut self.flows[flow as usize];
        let Source::Transfers(transfers) = &mut flow.source else { return };
        match &flow.connections {
            None => transfers.completions.fail_all(),
            Some(connections) => {
                if let Some(transfer) = connections.transfer_of(source) {
                    transfers.completions.fail(transfer);
                }
            }
        }
    }

    /// What the source and the sink of a flow have counted, over all its connections.
    pub fn flow_counts(&self, flow: u32) -> [Counts; 2] {
        let flow = &self.flows[flow as usize];
        let of = |Association { source, sink }| [source, sink].map(|end| self.counts(end));
        match &flow.connections {
            None => of(flow.association),
            Some(connections) => connections
                .associations()
                .map(of)
                .fold(connections.retired(), |[a, b], [c, d]| [a.plus(c), b.plus(d)]),
        }
    }
}
