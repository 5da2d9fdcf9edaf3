//! Sockets of UDP.

use super::{Socket, SocketId, Traffic, User};
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_protocols::Address;

/// One end of a UDP association.
#[derive(Clone, Debug)]
pub struct UdpSocket {
    /// Where it lives.
    pub node: NodeId,
    /// Its address.
    pub local: Address,
    /// The peer's address.
    pub remote: Address,
    /// Its port.
    pub local_port: u16,
    /// The peer's port.
    pub remote_port: u16,
    /// The peer's socket.
    pub peer: u32,
    /// Who uses it.
    pub user: User,
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Its exchange with IP.
    pub traffic: Traffic,
}

impl Socket for UdpSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Udp(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}
