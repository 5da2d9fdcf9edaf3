//! What describes a cell.

use super::phy::{Format, Timing};
use crate::link::QueueLimit;

/// What describes a cell.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// How frames are put on the air.
    pub format: Format,
    /// Slots and interframe spaces.
    pub timing: Timing,
    /// The rate of data frames to and from each station, in bits per second.
    pub rates_bps: Vec<u64>,
    /// The rates of control frames, in ascending order.
    pub basic_rates_bps: Vec<u64>,
    /// The smallest contention window, in slots.
    pub cw_min: u32,
    /// The largest.
    pub cw_max: u32,
    /// Attempts at a frame no longer than `rts_threshold_bytes`, and at RTS frames.
    pub short_retry_limit: u32,
    /// Attempts at a longer one.
    pub long_retry_limit: u32,
    /// Data frames longer than that are preceded by RTS and CTS.
    pub rts_threshold_bytes: u32,
    /// What a busy medium does to countdowns.
    pub freezing: Freezing,
    /// The queue of each radio: those waiting, not the one that contends.
    pub queue: QueueLimit,
    /// The largest packet.
    pub mtu_bytes: u32,
}

/// What a busy medium does to countdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freezing {
    /// They go on where they stopped (clause 9.2.5.2).
    Standard,
    /// Each busy period counts as a slot: Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination
    /// Function", IEEE Journal on Selected Areas in Communications 18(3), 2000, section IV.
    CountsBusyPeriods,
}

impl CellConfig {
    /// The rate of the control frames of an exchange: the highest basic one that is not above the data's, or the lowest
    /// (clause 9.6).
    pub(super) fn control_rate_bps(&self, data_rate_bps: u64) -> u64 {
        let below = self.basic_rates_bps.iter().rfind(|&&rate_bps| rate_bps <= data_rate_bps);
        below.or(self.basic_rates_bps.first()).copied().unwrap_or(data_rate_bps)
    }
}
