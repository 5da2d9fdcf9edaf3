//! Ways over wires, looked up once for connections. Each is a row of wires in one list, and a packet
//! carries its index.

use crate::ends::Onward;
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// The node behind the last wire is where the packet is for: no link has this number.
pub(crate) const END: u32 = u32::MAX;

/// The ways that have been looked for, as long as they hold: once a packet no longer goes where it went none
/// does, and there are none any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    /// Numbers of wires, way after way, each with [`END`] behind it.
    steps: Vec<u32>,
    /// Where each begins, by the number of its first node and the addresses of its packets, also those that
    /// there are not: connections between the same ends share theirs.
    begins: BTreeMap<(u32, [Address; 2]), Onward>,
    are_over: bool,
}

impl Ways {
    /// The number of the next wire; one that no link has where the way ends. `None`: routes are to be asked.
    #[inline(always)]
    pub(crate) fn step(&self, onward: Onward) -> Option<u32> {
        self.steps.get(onward.number()).copied()
    }

    /// No way holds any more. Before any was looked for that means nothing.
    #[inline]
    pub(crate) fn end(&mut self) {
        if !self.begins.is_empty() {
            *self = Ways { are_over: true, ..Ways::default() };
        }
    }

    /// Where a way begins, of the first node of this number and of packets with these addresses: unless it is
    /// known, with the wires that `find` adds; [`Onward::BY_ROUTES`] where that says that there is none.
    pub(crate) fn look_up(
        &mut self,
        ends: (u32, [Address; 2]),
        find: impl FnOnce(&mut Vec<u32>) -> bool,
    ) -> Onward {
        let begin = self.steps.len();
        if self.are_over || begin > (u32::MAX / 2) as usize {
            return Onward::BY_ROUTES;
        }
        let steps = &mut self.steps;
        *self.begins.entry(ends).or_insert_with(|| {
            if find(steps) {
                steps.push(END);
                return Onward::new(begin as u32);
            }
            steps.truncate(begin);
            Onward::BY_ROUTES
        })
    }

    #[cfg(test)]
    pub(crate) fn steps(&self) -> &[u32] {
        &self.steps
    }
}
