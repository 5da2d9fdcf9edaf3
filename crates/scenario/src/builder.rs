//! The nodes by name, and the random streams of one run: parts of a world are built with them.

use crate::distribution::build::time_distribution;
use crate::distribution::model::TimeDistribution;
use crate::general::General;
use crate::node::by_name::NodesByName;
use crate::node::model::Node;
use crate::node::motion::build::trajectory;
use roamsim_engine::{Stream, Time};
use roamsim_network::mobility::{Point, Trajectory};
use roamsim_network::topology::NodeId;
use std::borrow::Cow;

/// Builds the parts of one world; each room adds its own functions.
pub(crate) struct Builder<'a> {
    pub(crate) general: &'a General,
    pub(crate) nodes: &'a [Node],
    pub(crate) by_name: NodesByName<'a>,
    seed: u64,
    replication: u64,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(general: &'a General, nodes: &'a [Node], seed: u64, replication: u64) -> Builder<'a> {
        Builder { general, nodes, by_name: NodesByName::new(nodes), seed, replication }
    }
}

impl Builder<'_> {
    /// The random stream of a purpose. Names of the scenario are escaped as in RFC 6901, so that no two
    /// purposes share a stream.
    pub(crate) fn stream(&self, kind: &str, name: &str, purpose: &[&str]) -> Stream {
        let name = escaped(name);
        let mut path = String::with_capacity(
            kind.len() + 1 + name.len() + purpose.iter().map(|part| 1 + part.len()).sum::<usize>(),
        );
        path += kind;
        path.push(' ');
        path += &name;
        for part in purpose {
            path.push('/');
            path += part;
        }
        Stream::new(self.seed, self.replication, &path)
    }

    /// When something starts, drawn from a stream of its own.
    pub(crate) fn start(&self, start: &TimeDistribution, mut random: Stream) -> Time {
        Time::ZERO + time_distribution(start).sample_span(&mut random)
    }

    /// What is generated is generated before its stop, and before the end of the run.
    pub(crate) fn stop(&self, stop: Option<Time>) -> Time {
        let end = Time::ZERO + self.general.duration;
        stop.map_or(end, |stop| stop.min(end))
    }

    /// Where the node of this name is at each time.
    pub(crate) fn trajectory(&self, name: &str) -> Trajectory {
        let node = &self.nodes[self.node(name).0 as usize];
        // Validation refuses members of a cell without a place.
        trajectory(node).unwrap_or_else(|| Trajectory::fixed(Point::default()))
    }

    pub(crate) fn node(&self, name: &str) -> NodeId {
        self.by_name[name]
    }
}

/// A name without slashes.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}
