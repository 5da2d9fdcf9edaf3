//! Nodes that an access joins.

/// What a node is in an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An end that is there all the time, and forwards what is for others.
    Fixed,
    /// A base station: whom it serves depends on its place.
    BaseStation,
    /// A station of one: in reach or not, as its place says. It forwards nothing.
    Station,
}

/// Two nodes that an access joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair<'a> {
    pub nodes: [&'a str; 2],
    pub roles: [Role; 2],
}

impl<'a> Pair<'a> {
    /// Two ends that are there all the time.
    pub fn fixed(a: &'a str, b: &'a str) -> Pair<'a> {
        Pair { nodes: [a, b], roles: [Role::Fixed; 2] }
    }

    /// A base station and one of its stations.
    pub fn with_station(base_station: &'a str, station: &'a str) -> Pair<'a> {
        Pair { nodes: [base_station, station], roles: [Role::BaseStation, Role::Station] }
    }

    /// Whether the two find each other by a place, not by a wire.
    pub fn has_station(&self) -> bool {
        self.roles.contains(&Role::Station)
    }
}
