//! Frames on the air.

use crate::link::wifi::capture::record::AirFrame;
use crate::link::wifi::index::RadioIndex;
use roamsim_engine::Time;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rts,
    Cts,
    /// A CTS of a sender to itself.
    CtsToSelf,
    Data,
    Ack,
    Management,
}

/// A frame on the air.
#[derive(Clone, Debug)]
pub struct Frame {
    pub number: u64,
    pub kind: Kind,
    pub from: RadioIndex,
    pub to: RadioIndex,
    pub rate_bps: u64,
    pub begin: Time,
    pub end: Time,
    /// Radios that do not understand it, where that is drawn.
    pub failed: Vec<RadioIndex>,
    /// Until when its duration field reserves the medium.
    pub reserved: Time,
    /// What a capture tells of it.
    pub record: Option<Box<AirFrame>>,
    /// Who hears it; nobody is named where all share one ear.
    pub heard_by: Vec<Heard>,
}

/// How a frame arrives: its shadowing, and where sender and receiver stand, what arrives without it.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub shadowing_db: f64,
    pub standing_dbm: Option<f64>,
}

/// A radio that hears a frame, and how it arrives there.
pub type Heard = (RadioIndex, Signal);
