//! The network of a scenario: its nodes and its accesses, whoever sends over them.

use std::any::Any;
use std::ops::Deref;

use roamsim_engine::Span;

use super::technology::Access;
use crate::general::General;
use crate::node::model::Node;
use crate::report::{At, Key, Step};

/// An access and its place in the list of its technology.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub number: usize,
    pub access: &'a dyn Access,
}

impl Entry<'_> {
    /// Where it stands in the scenario.
    pub fn at(&self) -> [Step; 2] {
        [Key(self.access.section()), At(self.number)]
    }
}

impl<'a> Deref for Entry<'a> {
    type Target = dyn Access + 'a;

    fn deref(&self) -> &Self::Target {
        self.access
    }
}

/// All entries of one technology.
pub(crate) trait Entries: Any {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them.
    fn access(&self, number: usize) -> &dyn Access;
}

impl<A: Access + 'static> Entries for Vec<A> {
    fn count(&self) -> usize {
        self.len()
    }

    fn access(&self, number: usize) -> &dyn Access {
        &self[number]
    }
}

impl dyn Entries {
    /// They, in the order of the scenario.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.count()).map(|number| Entry { number, access: self.access(number) })
    }
}

/// What a scenario says of its network.
pub(crate) struct Network<'a> {
    pub general: &'a General,
    pub nodes: &'a [Node],
    /// By technology, in the order in which their links join the topology.
    pub entries: Vec<&'a (dyn Entries + 'static)>,
}

impl<'a> Network<'a> {
    /// Every access.
    pub fn accesses(&self) -> impl Iterator<Item = Entry<'a>> {
        self.entries.iter().flat_map(|entries| entries.iter())
    }

    /// The access of this name.
    pub fn access(&self, name: &str) -> Option<Entry<'a>> {
        self.accesses().find(|entry| entry.name() == name)
    }

    /// The accesses of one technology.
    pub fn of<A: Access + 'static>(&self) -> &'a [A] {
        let found = self.entries.iter().find_map(|&entries| (entries as &dyn Any).downcast_ref::<Vec<A>>());
        found.map_or(&[], Vec::as_slice)
    }

    /// How long the run is.
    pub fn duration(&self) -> Span {
        self.general.duration
    }
}
