//! The network layer: packets, nodes, routing, links, sockets, applications, and the world that they make.

pub mod alarm;
pub mod application;
pub mod capture;
pub mod distribution;
pub mod drops;
pub mod durations;
pub mod ending;
pub mod ends;
pub mod event;
pub mod flow;
pub mod handover;
pub mod link;
pub mod mih_handover;
pub mod mobility;
pub mod names;
pub mod network;
pub mod octets;
pub mod packet;
pub mod queue;
pub mod recorder;
pub mod segment_log;
pub mod selected_handover;
pub mod selection;
pub mod signalling;
pub mod socket;
pub mod subject;
#[cfg(test)]
mod testing;
pub mod topology;
pub mod trace;
pub mod traffic_class;
mod ways;
pub mod world;

pub use distribution::Distribution;
pub use network::Network;
pub use world::World;
