//! Segments dropped on their way. Transfers ask for them, because they reuse the sockets of a connection
//! only when none of its packets is left in the network.

use crate::ends::{Association, SocketId};

/// How many segments were dropped on their way to sockets that are used again, less those that a link made of
/// others, by the number of the socket since it was made last.
#[derive(Debug, Default)]
pub(crate) struct DroppedSegments(Vec<Option<i64>>);

impl DroppedSegments {
    /// From now on those to this socket of TCP are counted, from zero.
    pub fn watch(&mut self, socket: SocketId) {
        let SocketId::Tcp(number) = socket else { return };
        let socket = number as usize;
        if self.0.len() <= socket {
            self.0.resize(socket + 1, None);
        }
        self.0[socket] = Some(0);
    }

    pub fn count(&mut self, socket: u32) {
        self.add(socket, 1);
    }

    /// A link has made one of another.
    pub fn count_copy(&mut self, socket: u32) {
        self.add(socket, -1);
    }

    fn add(&mut self, socket: u32, more: i64) {
        if let Some(Some(count)) = self.0.get_mut(socket as usize) {
            *count += more;
        }
    }

    /// Those on their way between the ends of a connection.
    pub fn of(&self, Association { source, sink }: Association) -> i64 {
        let to = |socket| match socket {
            SocketId::Tcp(number) => self.0.get(number as usize).copied().flatten().unwrap_or(0),
            _ => 0,
        };
        to(source) + to(sink)
    }
}
