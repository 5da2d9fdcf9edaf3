//! UDP sockets in the world.

use super::describe::{describe, octets};
use super::{SocketEnd, World};
use crate::event::Event;
use crate::flow::Association;
use crate::packet::{Message, Packet, Pdu};
use crate::recorder::Detail;
use crate::socket::{SocketId, Traffic, UdpSocket};
use roamsim_engine::{EventQueue, Time};
use roamsim_protocols::udp::Datagram;

impl World {
    /// Adds a UDP association between two nodes, `None` where no route joins them.
    pub fn add_udp(&mut self, a: SocketEnd, b: SocketEnd) -> Option<Association> {
        let (local, remote) = self.addresses(a.node, b.node)?;
        let first = self.udp.len() as u32;
        let socket = |end: SocketEnd, local, remote, remote_port, peer| UdpSocket {
            node: end.node,
            local,
            remote,
            local_port: end.port,
            remote_port,
            peer,
            user: end.user,
            traffic_class: end.traffic_class,
            traffic: Traffic::default(),
        };
        self.udp.push(socket(a, local, remote, b.port, first + 1));
        self.udp.push(socket(b, remote, local, a.port, first));
        Some(Association { source: SocketId::Udp(first), sink: SocketId::Udp(first + 1) })
    }

    pub(super) fn send_datagram(
        &mut self,
        now: Time,
        number: u32,
        message: Message,
        queue: &mut EventQueue<Event>,
    ) {
        let bytes = message.bytes();
        let socket = &mut self.udp[number as usize];
        let datagram = Datagram {
            source_port: socket.local_port,
            destination_port: socket.remote_port,
            payload_bytes: bytes,
        };
        let size_bytes = self.network.ip.header_bytes() + datagram.total_bytes();
        socket.traffic.sent(size_bytes);
        let detail = self.details.then(|| {
            Box::new(Detail {
                description: describe(&message),
                payload: match self.network.capturing() {
                    true => octets(&message, 0..u64::from(bytes)),
                    false => Vec::new(),
                },
                parts: Vec::new(),
            })
        });
        let packet = Packet {
            id: self.network.next_packet_id(),
            source: socket.local,
            destination: socket.remote,
            socket: socket.peer,
            size_bytes,
            traffic_class: socket.traffic_class,
            tunnel: None,
            pdu: Pdu::Udp(datagram, message),
        };
        let node = socket.node;
        self.network.send(now, node, packet, detail, queue);
    }
}
