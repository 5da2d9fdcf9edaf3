//! What describes a cell.

use super::contention::ContentionConfig;
use super::pdu::{FRAGMENT_BYTES, PIGGYBACK_BYTES, WHOLE_BYTES, downlink_map_bytes, uplink_map_bytes};
use super::phy::{
    BurstProfile, FrameLayout, PREAMBLE_AND_FCH_SYMBOLS, REQUEST_SYMBOLS, UPLINK_PREAMBLE_SYMBOLS,
};
use crate::link::QueueLimit;
use roamsim_engine::Span;

/// What describes a cell.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// Its frames.
    pub layout: FrameLayout,
    /// The burst profile of the maps.
    pub map_profile: BurstProfile,
    /// Opportunities for bandwidth requests in each frame, one at least.
    pub request_opportunities: u32,
    /// How stations contend for them.
    pub contention: ContentionConfig,
    /// The queue of each connection: those waiting, not the one in service.
    pub queue: QueueLimit,
    /// The largest packet.
    pub mtu_bytes: u32,
    /// The stations.
    pub stations: Vec<StationConfig>,
}

/// What describes a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationConfig {
    /// The burst profile toward it.
    pub downlink: BurstProfile,
    /// The burst profile from it.
    pub uplink: BurstProfile,
    /// How it gets its bursts.
    pub service: Service,
}

/// A scheduling service of an uplink connection (clause 6.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// BE: it asks by contention, and then with its data.
    BestEffort,
    /// UGS: it gets a burst at each interval, whether it has something to send or not.
    UnsolicitedGrant {
        /// The longest packet that a grant has room for.
        packet_bytes: u32,
        /// The time between two grants, above zero.
        interval: Span,
    },
}

impl StationConfig {
    /// Data symbols of its smallest burst, which has room for a request and a fragment of one octet.
    pub fn least_symbols(&self) -> u32 {
        self.uplink.burst_symbols(FRAGMENT_BYTES + 1 + PIGGYBACK_BYTES)
    }

    /// Symbols, preamble included, of a burst with so many unsolicited grants in it.
    pub fn unsolicited_symbols(&self, grants: u32) -> u32 {
        match self.service {
            Service::UnsolicitedGrant { packet_bytes, .. } if grants > 0 => {
                UPLINK_PREAMBLE_SYMBOLS + self.uplink.burst_symbols(grants * (packet_bytes + WHOLE_BYTES))
            }
            _ => 0,
        }
    }

    /// The most unsolicited grants in one frame of this duration.
    pub fn most_unsolicited(&self, frame: Span) -> u32 {
        match self.service {
            Service::UnsolicitedGrant { interval, .. } => {
                u32::try_from(frame.as_ns().div_ceil(interval.as_ns().max(1))).unwrap_or(u32::MAX)
            }
            Service::BestEffort => 0,
        }
    }
}

impl CellConfig {
    /// Symbols of the burst with both maps, with so many other bursts each way.
    pub fn map_symbols(&self, downlink_bursts: u32, uplink_bursts: u32) -> u32 {
        let bytes = downlink_map_bytes(downlink_bursts) + uplink_map_bytes(1 + uplink_bursts);
        self.map_profile.burst_symbols(bytes)
    }

    /// Symbols of the downlink subframe that are left beside maps of so many bursts.
    pub fn downlink_room(&self, downlink_bursts: u32, uplink_bursts: u32) -> u32 {
        let around = PREAMBLE_AND_FCH_SYMBOLS + self.map_symbols(downlink_bursts, uplink_bursts);
        self.layout.downlink_symbols.saturating_sub(around)
    }

    /// Symbols of the uplink subframe behind the request opportunities.
    pub fn uplink_room(&self) -> u32 {
        self.layout.uplink_symbols.saturating_sub(self.request_symbols())
    }

    /// Symbols of the request opportunities.
    pub fn request_symbols(&self) -> u32 {
        self.request_opportunities.saturating_mul(REQUEST_SYMBOLS)
    }

    /// The most uplink bursts whose maps leave so many symbols to the downlink.
    pub(super) fn most_uplink_bursts(&self, downlink_bursts: u32, left_symbols: u32) -> u32 {
        let around = PREAMBLE_AND_FCH_SYMBOLS + left_symbols;
        let symbols = self.layout.downlink_symbols.saturating_sub(around);
        let around_bytes = downlink_map_bytes(downlink_bursts) + uplink_map_bytes(1);
        self.map_profile.burst_bytes(symbols).saturating_sub(around_bytes) / 6
    }
}
