//! What draws, with its random stream.

use roamsim_engine::{Stream, Time};
use roamsim_protocols::{Context, Machine};
use std::ops::{Deref, DerefMut};

/// A machine of an application, and the random stream that it draws from.
#[derive(Clone, Debug)]
pub struct Drawing<M> {
    machine: M,
    random: Stream,
}

impl<M: Machine> Drawing<M> {
    /// A machine with its random stream.
    pub fn new(machine: M, random: Stream) -> Drawing<M> {
        Drawing { machine, random }
    }

    /// The machine, and the context in which it works at an instant.
    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> (&mut M, Context<'_>) {
        (&mut self.machine, Context { now, random: &mut self.random })
    }

    #[inline]
    pub(super) fn handle_timeout_at(&mut self, now: Time) {
        let (machine, mut cx) = self.at(now);
        machine.handle_timeout(&mut cx);
    }
}

impl<M> Deref for Drawing<M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.machine
    }
}

impl<M> DerefMut for Drawing<M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut M {
        &mut self.machine
    }
}
