//! Nodes and their interfaces.

use std::ops::Deref;
use std::slice;
use std::sync::Arc;

/// A node's place on a link: 0, 1, ... in the order in which the link was described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attachment(pub u32);

/// A node's number, in the order of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A link's number. A point-to-point link is two: one a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// A node's end of a link. Its node, the link that it sends on and its place there are asked for by its
/// address (`Topology::owner`, `Topology::attachment`).
#[derive(Clone, Debug)]
pub struct Interface {
    /// By which its own end and the others know each other: the link, of a point-to-point link the first of
    /// the two, and the first of the attachments of which that is so.
    pub joins: (LinkId, Attachment),
    /// The node that the link leads to.
    pub neighbour: NodeId,
    /// The largest packet that the link takes, in octets; that of IP has 16 bits.
    pub mtu_bytes: u16,
    /// What the link costs on a route (RFC 2328 appendix C.3, interface output cost: 16 bits).
    pub cost: u16,
    /// Its name, for captures: the link's.
    pub name: Arc<str>,
}

const _: () = assert!(size_of::<Interface>() <= 32);

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// Numbers of its interfaces. An interface's number is its address; `Topology::ip` writes it as IP.
    pub interfaces: Interfaces,
}

/// The interfaces of a node: mostly one, which needs no memory elsewhere.
#[derive(Clone, Debug)]
pub enum Interfaces {
    /// One.
    One(u32),
    /// None, or several.
    Several(Vec<u32>),
}

impl Interfaces {
    pub(super) fn push(&mut self, number: u32) {
        match self {
            Interfaces::One(first) => *self = Interfaces::Several(vec![*first, number]),
            Interfaces::Several(none) if none.is_empty() => *self = Interfaces::One(number),
            Interfaces::Several(all) => all.push(number),
        }
    }
}

impl Deref for Interfaces {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Interfaces::One(only) => slice::from_ref(only),
            Interfaces::Several(all) => all,
        }
    }
}
