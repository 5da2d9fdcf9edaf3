//! How connections ended.

use super::World;
use crate::ending::{Ending, ending};
use crate::ends::{Association, SocketId};
use roamsim_protocols::{sctp, tcp};

impl World {
    /// How the connection under a flow or a signalling entry ended; `None` over UDP, which has none.
    pub fn ending(&self, association: Association) -> Option<Ending> {
        let ends = [association.source, association.sink];
        let seen = |socket| match socket {
            SocketId::Tcp(number) => {
                let socket = &self.tcp[number as usize];
                let [state, peer] = [number, socket.peer].map(|n| self.tcp[n as usize].connection.state());
                // RFC 9293 section 3.6: in TIME-WAIT both directions are closed; and in FIN-WAIT-2, too, where the peer
                // has closed and gave up its FIN.
                let closed = match state {
                    tcp::State::Closed | tcp::State::TimeWait => true,
                    tcp::State::FinWait2 => peer == tcp::State::Closed,
                    _ => false,
                };
                Some((socket.life, closed))
            }
            SocketId::Sctp(number) => {
                let socket = &self.sctp[number as usize];
                Some((socket.life, socket.association.state() == sctp::State::Closed))
            }
            SocketId::Udp(_) => None,
        };
        let [source, sink] = ends.map(seen);
        let ((a, a_closed), (b, b_closed)) = (source?, sink?);
        Some(ending([a, b], [a_closed, b_closed]))
    }
}
