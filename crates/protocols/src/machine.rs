//! The grammar that every machine speaks.
//!
//! Time and the random stream come in with the context. What arrives comes in through `handle_*`; what leaves is
//! taken with `poll_*`, until it returns `None`; `on_*` is a notification. After any `handle_*` or mutator the
//! caller polls `poll_transmit` and `poll_event` until both are empty, then asks `poll_timeout`.

use roamsim_engine::{Stream, Time};

/// What a machine knows of the world while it works.
pub struct Context<'a> {
    /// The present instant.
    pub now: Time,
    /// The machine's own random stream.
    pub random: &'a mut Stream,
}

/// A network-layer address, opaque to the machines: they compare it and hand it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

/// A transport-layer address: network address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerAddress {
    /// The network address.
    pub address: Address,
    /// The UDP or TCP port.
    pub port: u16,
}

/// What every machine has: one soft deadline.
pub trait Machine {
    /// The earliest instant with work to do, `None` when nothing is pending.
    fn poll_timeout(&self) -> Option<Time>;

    /// Does the work that is due at `cx.now`. Calling it early is a no-op.
    fn handle_timeout(&mut self, cx: &mut Context<'_>);
}
