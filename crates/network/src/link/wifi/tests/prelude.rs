//! What tests of the medium use.

pub use crate::drops::{DropReason, Dropped};
pub use crate::link::indication::Indication;
pub use crate::link::stations::Stations;
pub use crate::link::wifi::index::{CellIndex, RadioIndex};
pub use crate::link::wifi::radios::radio::Attempt;
pub use crate::link::wifi::*;
pub use crate::link::{Attachment, Carrier, Link};
pub use crate::mobility::Trajectory;
pub use crate::packet::{Packet, PacketId};
pub use roamsim_engine::{Span, Stream, Time};
pub use roamsim_protocols::{Context, Machine};
pub use std::collections::BTreeMap;
