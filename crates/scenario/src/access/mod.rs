//! Access technologies: a folder each, behind one boundary.
//!
//! A technology's folder has its keys (`model`), its checks, what its machines are built from and, where it
//! has any, its result tables; its `mod.rs` implements `Access`. Names, topology, reachability, MTU,
//! building and results know accesses by that trait alone. The one list of technologies is in
//! `scenario.rs`: the keys of a scenario, and `Scenario::entries` below them.
//!
//! Building takes a table of keys apart by naming every one of them, and writes every field of a machine's
//! settings: a key that is forgotten on the way does not compile.
//!
//! What several technologies share: `mtu`, [`queue`], [`path_loss`], [`stations`] for those with a base
//! station and stations that come and go, `places` for how links join the topology.

mod attached;
pub mod cell;
pub mod dect;
pub(crate) mod mtu;
mod pair;
pub mod path_loss;
pub(crate) mod places;
pub mod queue;
pub mod stations;
mod technology;
mod traffic;
pub mod wifi;
pub mod wimax;
pub mod wire;

pub(crate) use self::attached::Attached;
pub(crate) use self::pair::{Pair, Role};
pub(crate) use self::technology::{
    Access, Capacity, Compares, Context, DEFAULT_COST, Entries, Entry, Logged, Making, Network,
};
pub(crate) use self::traffic::Traffic;
