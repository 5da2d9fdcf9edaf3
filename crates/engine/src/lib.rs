//! The simulation engine: time, the event queue, random streams, probes and fingerprints.
//!
//! It knows nothing of networks. Everything here is deterministic to the bit: the same calls give the same
//! results on any machine.

pub mod fingerprint;
pub mod log;
pub mod probe;
pub mod queue;
pub mod random;
pub mod run;
pub mod time;

pub use fingerprint::Fingerprint;
pub use queue::{Event, EventQueue};
pub use random::{Ahead, Stream};
pub use time::{Span, Time};
