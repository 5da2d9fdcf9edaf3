//! What clients keep of servers from one connection of TCP Fast Open to the next (RFC 7413 4.1.3).
//!
//! By the addresses of both, as a cookie is a server's for a client's address (4.1.2). So connections of all
//! flows between two addresses share it. A cookie stays valid for the whole run.

use super::World;
use crate::socket::SocketId;
use roamsim_protocols::Address;
use roamsim_protocols::tcp::KnownServer;
use std::collections::BTreeMap;

/// Servers by the addresses of client and server.
pub(super) type KnownServers = BTreeMap<[Address; 2], KnownServer>;

impl World {
    /// A connection is about to be opened: it is told what connections before have learned.
    pub(super) fn tell_known_server(&mut self, id: SocketId) {
        let SocketId::Tcp(number) = id else { return };
        let client = &mut self.tcp[number as usize];
        if let Some(known) = self.known_servers.get(&[client.local, client.remote]) {
            client.connection.set_known_server(*known);
        }
    }

    /// A connection with Fast Open is open, and may have learned something.
    #[cold]
    pub(super) fn keep_known_server(&mut self, id: SocketId) {
        let SocketId::Tcp(number) = id else { return };
        let client = &mut self.tcp[number as usize];
        if let Some(known) = client.connection.take_learned_server() {
            self.known_servers.insert([client.local, client.remote], known);
        }
    }
}
