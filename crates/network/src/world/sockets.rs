//! Sockets of all transports: where the world looks one up by what it is, and what it has it do for its user.

use super::{Work, World};
use crate::ending::Failure;
use crate::event::Event;
use crate::packet::Message;
use crate::socket::{Counts, Socket, SocketId, Traffic, User};
use crate::topology::NodeId;
use roamsim_engine::{EventQueue, Time};
use roamsim_protocols::mih::SessionId;

impl World {
    pub(super) fn socket(&self, id: SocketId) -> &dyn Socket {
        match id {
            SocketId::Tcp(number) => &self.tcp[number as usize],
            SocketId::Udp(number) => &self.udp[number as usize],
            SocketId::Sctp(number) => &self.sctp[number as usize],
        }
    }

    fn socket_mut(&mut self, id: SocketId) -> &mut dyn Socket {
        match id {
            SocketId::Tcp(number) => &mut self.tcp[number as usize],
            SocketId::Udp(number) => &mut self.udp[number as usize],
            SocketId::Sctp(number) => &mut self.sctp[number as usize],
        }
    }

    /// Has a connection do something for its user, and serves it afterwards.
    fn on_socket(&mut self, id: SocketId, call: impl FnOnce(&mut dyn Socket)) {
        call(self.socket_mut(id));
        self.work.extend(match id {
            SocketId::Tcp(number) => Some(Work::Tcp(number)),
            SocketId::Sctp(number) => Some(Work::Sctp(number)),
            SocketId::Udp(_) => None,
        });
    }

    /// A socket's timer fires; false where that was superseded, or comes too early.
    pub(super) fn wake_socket(
        &mut self,
        now: Time,
        id: SocketId,
        event: Event,
        queue: &mut EventQueue<Event>,
    ) -> bool {
        let worked = self.socket_mut(id).wake(now, event, queue);
        if worked {
            self.on_socket(id, |_| {});
        }
        worked
    }

    /// The node of a socket.
    pub fn node(&self, socket: SocketId) -> NodeId {
        self.socket(socket).node()
    }

    /// The socket at the other end.
    pub(crate) fn peer(&self, socket: SocketId) -> SocketId {
        self.socket(socket).peer()
    }

    /// The user of a socket.
    pub(crate) fn user(&self, socket: SocketId) -> User {
        self.socket(socket).user()
    }

    /// What a socket has exchanged with IP so far.
    pub fn traffic(&self, socket: SocketId) -> Traffic {
        self.socket(socket).traffic()
    }

    /// What a socket has sent; over UDP nothing is counted.
    pub fn counts(&self, socket: SocketId) -> Counts {
        self.socket(socket).counts()
    }

    /// Opens a connection; an association that has no address yet does so when it has one.
    pub(super) fn open(&mut self, id: SocketId) {
        let opens = match id {
            SocketId::Sctp(number) => self.find_addresses(number),
            _ => true,
        };
        self.on_socket(id, |socket| {
            if opens {
                socket.open();
            }
        });
    }

    /// Writes octets without message boundaries.
    pub(super) fn write_stream(&mut self, id: SocketId, bytes: u64) {
        self.on_socket(id, |socket| socket.write_stream(bytes));
    }

    /// Closes a connection when everything written has been sent.
    pub(super) fn close(&mut self, id: SocketId) {
        self.on_socket(id, |socket| socket.close());
    }

    /// Whether closing this end would cut off the other direction, which carries data as well: such ends close when they
    /// have got everything.
    pub(super) fn closes_both_ways(&self, id: SocketId) -> bool {
        let socket = self.socket(id);
        !socket.closes_by_direction() && matches!(socket.user(), User::FlowBothWays { .. })
    }

    /// Drops a connection.
    pub(super) fn abort(&mut self, now: Time, id: SocketId) {
        self.on_socket(id, |socket| {
            if let Some(life) = socket.life_mut() {
                life.fails(now, Failure::Stopped);
            }
            socket.abort();
        });
    }

    /// A message was written to a connection that is gone.
    #[cold]
    pub(super) fn refuse_message(&mut self, socket: SocketId) {
        match self.user(socket) {
            User::FlowSource(flow) | User::FlowSink(flow) | User::FlowBothWays { sends: flow, .. } => {
                self.flows[flow as usize].measurement.lost_messages += 1;
            }
            User::Mih { mihf, session } => {
                self.mih_nodes[mihf as usize].mihf.tp_data_confirm(SessionId(session), false);
            }
        }
    }

    /// Sends a message over a socket: in the stream of TCP, as a datagram of UDP, as a message of SCTP.
    pub(crate) fn send_message(
        &mut self,
        now: Time,
        socket: SocketId,
        message: Message,
        queue: &mut EventQueue<Event>,
    ) {
        match socket {
            SocketId::Tcp(number) => self.write_message(number, message),
            SocketId::Udp(number) => self.send_datagram(now, number, message, queue),
            SocketId::Sctp(number) => self.write_sctp_message(number, message),
        }
    }
}
