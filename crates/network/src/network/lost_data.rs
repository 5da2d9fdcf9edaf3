//! Packets with data that were dropped on their way, by the socket that they were for: coarse series of flows ask for them.

use crate::ends::{Association, SocketId};
use crate::packet::Packet;

/// How many packets with data to each socket were dropped so far, by its number among those of its protocol.
#[derive(Debug, Default)]
pub(crate) struct LostData {
    tcp: Vec<u64>,
    udp: Vec<u64>,
    sctp: Vec<u64>,
}

impl LostData {
    /// The socket that a packet with data is for.
    #[inline]
    pub fn receiver(packet: &Packet) -> Option<SocketId> {
        packet.socket_id().filter(|_| packet.carries_data() && !packet.is_broadcast())
    }

    /// One to this socket was dropped.
    pub fn count(&mut self, to: SocketId) {
        let (counts, number) = match to {
            SocketId::Tcp(number) => (&mut self.tcp, number as usize),
            SocketId::Udp(number) => (&mut self.udp, number as usize),
            SocketId::Sctp(number) => (&mut self.sctp, number as usize),
        };
        if counts.len() <= number {
            counts.resize(number + 1, 0);
        }
        counts[number] += 1;
    }

    /// Those to one socket.
    pub fn to(&self, socket: SocketId) -> u64 {
        let (counts, number) = match socket {
            SocketId::Tcp(number) => (&self.tcp, number),
            SocketId::Udp(number) => (&self.udp, number),
            SocketId::Sctp(number) => (&self.sctp, number),
        };
        counts.get(number as usize).copied().unwrap_or(0)
    }

    /// Those to the sink of an association, and where it answers also those to the source.
    pub fn of(&self, Association { source, sink }: Association, answers: bool) -> u64 {
        self.to(sink) + if answers { self.to(source) } else { 0 }
    }
}
