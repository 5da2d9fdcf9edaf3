//! Connections of TCP between a socket of the simulation and a program outside.
//!
//! Both ends have a socket, as those of any flow. That of the program stands for it and does nothing: what
//! comes to it leaves as octets, and what the program sends comes in its name. A program says by its
//! acknowledgements what it has taken.
//!
//! Not modelled: what a program writes is counted, and its octets go into captures alone. It reads octet `n`
//! of a stream as `n` modulo 256.

use super::World;
use crate::network::edge::{Joined, TakenSegment};
use crate::packet::{Packet, Pdu};
use crate::socket::describe::pattern;
use crate::socket::{SocketEvent, SocketId};
use roamsim_engine::Time;

impl World {
    /// Gives the ends of flows of TCP that lie on external nodes to the programs there.
    pub fn join_programs(&mut self) {
        for flow in &self.flows {
            let association = flow.association;
            let (SocketId::Tcp(source), SocketId::Tcp(sink)) = (association.source, association.sink) else {
                continue;
            };
            for (outside, here) in [(source, sink), (sink, source)] {
                let [program, socket] = [outside, here].map(|number| &self.tcp[number as usize]);
                if !self.network.edge.is_external(program.node) {
                    continue;
                }
                // Whoever opens the connection knows the port of the other end.
                let port = socket.connection.local_port();
                let is_passive = here == sink;
                let joined = Joined {
                    socket: here,
                    local: socket.local,
                    remote: program.local,
                    remote_port: (!is_passive).then_some(port),
                    is_passive,
                };
                self.network.edge.join(socket.node, port, joined);
                self.outside.insert(outside);
                self.sockets_watched = true;
            }
        }
    }

    /// Whether a program stands in the place of a socket.
    pub(super) fn is_outside(&self, id: SocketId) -> bool {
        matches!(id, SocketId::Tcp(number) if self.outside.contains(&number))
    }

    /// A segment has come for a program.
    pub(super) fn hand_out(&mut self, now: Time, id: SocketId, packet: &Packet) {
        let (SocketId::Tcp(number), Pdu::Tcp(segment)) = (id, &packet.pdu) else { return };
        let program = &mut self.tcp[number as usize];
        program.traffic.received(packet.size_bytes);
        let (node, peer) = (program.node, program.peer);
        let start = self.tcp[peer as usize].connection.payload_offset(segment);
        let payload = pattern(start..start + u64::from(segment.payload_bytes));
        self.network.hand_out(now, node, packet, &payload);
    }

    /// A program has sent a segment: what it acknowledges it has taken.
    pub(super) fn count_segment(&mut self, now: Time, segment: TakenSegment) {
        let connection = &self.tcp[segment.socket as usize].connection;
        let outside = self.tcp[segment.socket as usize].peer;
        // It is untrusted, and may acknowledge what was never sent. A FIN is an octet behind the last.
        let sent = connection.snd_max_offset();
        let taken = segment.ack.map(|ack| connection.sent_offset(ack)).filter(|&offset| offset <= sent + 1);
        let taken = taken.map(|offset| offset.min(sent));
        let program = &mut self.tcp[outside as usize];
        program.traffic.sent(segment.size_bytes);
        if let Some(up_to) = taken.filter(|&up_to| up_to > program.delivered_bytes) {
            self.on_socket_event(now, SocketId::Tcp(outside), SocketEvent::Stream { up_to });
        }
    }
}
