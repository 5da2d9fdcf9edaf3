//! How connections ended.

use super::World;
use crate::ending::{Ending, ending};
use crate::ends::Association;

impl World {
    /// How the connection under a flow or a signalling entry ended; `None` over UDP, which has none.
    pub fn ending(&self, association: Association) -> Option<Ending> {
        // A program's end is known by its peer's alone.
        let ends = match [association.source, association.sink] {
            [source, sink] if self.is_outside(source) => [sink, sink],
            [source, sink] if self.is_outside(sink) => [source, source],
            ends => ends,
        };
        let seen = |id| {
            let socket = self.socket(id);
            let peer_is_gone = self.socket(socket.peer()).is_gone();
            Some((*socket.life()?, socket.is_closed(peer_is_gone)))
        };
        let [source, sink] = ends.map(seen);
        let ((a, a_closed), (b, b_closed)) = (source?, sink?);
        Some(ending([a, b], [a_closed, b_closed]))
    }
}
