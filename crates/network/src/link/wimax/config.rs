//! What describes a cell.

use super::arq::ArqConfig;
use super::contention::ContentionConfig;
use super::entry::EntryConfig;
use super::layout::FrameLayout;
use super::management::{DOWNLINK_DESCRIPTOR_BYTES, LONGEST_FROM_STATION_BYTES, UPLINK_DESCRIPTOR_BYTES};
use super::pdu::{
    FRAGMENT_BYTES, HEADER_BYTES, PIGGYBACK_BYTES, SLOT_UPLINK_BURST_BYTES, UPLINK_BURST_BYTES, WHOLE_BYTES,
    downlink_map_bytes, slot_downlink_map_bytes, slot_uplink_map_bytes, uplink_map_bytes,
};
use super::phy::{BurstProfile, Unit};
use super::radio::RadioConfig;
use super::scanning::ScanConfig;
use crate::mobility::Trajectory;
use crate::queue::{QueueLimit, Rule};
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
    /// The discipline of the queues, but for what is for all, which waits by drop-tail.
    pub rule: Rule,
    /// The largest packet.
    pub mtu_bytes: u32,
    /// The stations.
    pub stations: Vec<StationConfig>,
    /// Service flows for classes of packets, beside the first one of each station.
    pub flows: Vec<FlowConfig>,
    /// How service flows send again what is lost, those that do.
    pub arq: Option<ArqConfig>,
    /// How they enter the network; `None`: they are connected from the beginning and for ever.
    pub entry: Option<CellEntry>,
}

/// What describes a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationConfig {
    /// The burst profile toward it.
    pub downlink: BurstProfile,
    /// The burst profile from it.
    pub uplink: BurstProfile,
    /// How its first service flow gets bursts, with which goes what no other is for.
    pub service: Service,
    /// Whether that packs several packets into a PDU.
    pub packing: bool,
    /// Whether what is lost of it is sent again.
    pub arq: bool,
}

/// What describes a service flow each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowConfig {
    /// The number of its station.
    pub station: u32,
    /// How it gets its bursts.
    pub service: Service,
    /// The packets that it is for: a bit a DSCP. Of a station's first one all, of which others may take some.
    pub dscps: u64,
    /// Whether it packs several of them into a PDU.
    pub packing: bool,
    /// Whether what is lost of it is sent again.
    pub arq: bool,
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
    /// rtPS: at each interval it gets a burst for a request. It does not contend for its data.
    RealTimePolling {
        /// The time between two polls, above zero.
        interval: Span,
    },
    /// nrtPS: it gets such bursts, and contends.
    NonRealTimePolling {
        /// The time between two polls, above zero.
        interval: Span,
    },
}

/// Ranks of services: who has a lower one goes first.
pub(super) const RANKS: usize = 4;

impl Service {
    /// Its rank: UGS, rtPS, nrtPS, BE.
    pub(super) fn rank(self) -> usize {
        match self {
            Service::UnsolicitedGrant { .. } => 0,
            Service::RealTimePolling { .. } => 1,
            Service::NonRealTimePolling { .. } => 2,
            Service::BestEffort => 3,
        }
    }

    /// The time between bursts that it gets without asking.
    pub(super) fn interval(self) -> Option<Span> {
        match self {
            Service::UnsolicitedGrant { interval, .. }
            | Service::RealTimePolling { interval }
            | Service::NonRealTimePolling { interval } => Some(interval),
            Service::BestEffort => None,
        }
    }

    /// Whether it contends for its data.
    pub(super) fn contends(self) -> bool {
        matches!(self, Service::BestEffort | Service::NonRealTimePolling { .. })
    }

    /// Units, preamble included, of a burst of a profile with so many unsolicited grants in it, or with a
    /// request for so many polls.
    pub(super) fn unsolicited_units(self, unit: Unit, profile: BurstProfile, grants: u32) -> u32 {
        let bytes = match self {
            _ if grants == 0 => return 0,
            Service::BestEffort => return 0,
            Service::UnsolicitedGrant { packet_bytes, .. } => grants * (packet_bytes + WHOLE_BYTES),
            Service::RealTimePolling { .. } | Service::NonRealTimePolling { .. } => HEADER_BYTES,
        };
        unit.preamble() + unit.burst_units(profile, bytes)
    }

    /// The most unsolicited grants, or polls, in one frame of this duration.
    fn most_unsolicited(self, frame: Span) -> u32 {
        self.interval().map_or(0, |interval| {
            u32::try_from(frame.as_ns().div_ceil(interval.as_ns().max(1))).unwrap_or(u32::MAX)
        })
    }

    /// Units, preamble included, of the longest burst of a profile that it gets without asking in a frame of
    /// this layout.
    pub fn most_unsolicited_units(self, layout: &FrameLayout, profile: BurstProfile) -> u32 {
        self.unsolicited_units(layout.unit(), profile, self.most_unsolicited(layout.duration))
    }
}

impl StationConfig {
    /// Data units of its smallest burst, which has room for a request and a fragment of one octet.
    pub fn least_units(&self, unit: Unit) -> u32 {
        unit.burst_units(self.uplink, FRAGMENT_BYTES + 1 + PIGGYBACK_BYTES)
    }

    /// Units, preamble included, of a burst for the longest message of network entry.
    pub fn message_units(&self, unit: Unit) -> u32 {
        unit.preamble() + unit.burst_units(self.uplink, LONGEST_FROM_STATION_BYTES + PIGGYBACK_BYTES)
    }
}

/// Network entry of the stations of a cell.
#[derive(Clone, Debug)]
pub struct CellEntry {
    /// What stations and base station do.
    pub station: EntryConfig,
    /// Within that distance stations hear the maps of the base station.
    pub radius_m: f64,
    /// What of a signal arrives, by which `radius_m` goes; `None`: all is understood within the radius, both
    /// ways.
    pub radio: Option<RadioConfig>,
    /// Where the base station is.
    pub base_station: Trajectory,
    /// Where the stations are.
    pub stations: Vec<Trajectory>,
    /// Every so many frames there are opportunities for initial ranging, from the first frame on; at least
    /// one.
    pub ranging_frames: u64,
    /// So many.
    pub ranging_opportunities: u32,
    /// The first frame with a DCD, and how many frames later the next one follows, at least one.
    pub downlink_descriptor: (u64, u64),
    /// The same of the UCD.
    pub uplink_descriptor: (u64, u64),
    /// The time from one report of its link to the next, above zero.
    pub report_interval: Span,
    /// A link is going down when the walk of its station will have led it out of reach after this time.
    pub going_down_ahead: Option<Span>,
    /// How connected stations scan; `None`: they do not.
    pub scanning: Option<ScanConfig>,
}

/// What of network entry is in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extra {
    /// Octets behind the maps.
    pub map_bytes: u32,
    /// Regions of initial ranging.
    pub regions: u32,
    /// Units and symbols of their opportunities.
    pub ranging_units: u32,
    /// See `ranging_units`.
    pub ranging_symbols: u32,
}

/// Whether a frame is one of those from a first one on, so many apart.
pub(super) fn is_due((first, every): (u64, u64), frame: u64) -> bool {
    frame >= first && (frame - first).is_multiple_of(every)
}

impl CellEntry {
    fn extra(&self, layout: &FrameLayout, frame: u64) -> Extra {
        let ranging = u32::from(is_due((0, self.ranging_frames), frame));
        let dcd = u32::from(is_due(self.downlink_descriptor, frame));
        let ucd = u32::from(is_due(self.uplink_descriptor, frame));
        self.extra_of(layout, ranging, dcd, ucd)
    }

    fn extra_of(&self, layout: &FrameLayout, ranging: u32, dcd: u32, ucd: u32) -> Extra {
        let ranging_opportunities = ranging * self.ranging_opportunities;
        Extra {
            map_bytes: dcd * DOWNLINK_DESCRIPTOR_BYTES + ucd * UPLINK_DESCRIPTOR_BYTES,
            regions: ranging,
            ranging_units: layout.ranging_units(ranging_opportunities),
            ranging_symbols: ranging_opportunities.saturating_mul(layout.ranging_symbols()),
        }
    }
}

impl CellConfig {
    /// A service flow by its number: the first of each station, in their order, and then the others.
    pub fn flow(&self, number: u32) -> FlowConfig {
        let number = number as usize;
        match number.checked_sub(self.stations.len()) {
            Some(other) => self.flows[other],
            None => {
                let StationConfig { service, packing, arq, .. } = self.stations[number];
                FlowConfig { station: number as u32, service, dscps: !0, packing, arq }
            }
        }
    }

    /// What of network entry is in a frame.
    pub(super) fn extra(&self, frame: u64) -> Extra {
        self.entry.as_ref().map_or(Extra::default(), |entry| entry.extra(&self.layout, frame))
    }

    /// The same where all of it comes together.
    fn most_extra(&self) -> Extra {
        self.entry.as_ref().map_or(Extra::default(), |entry| entry.extra_of(&self.layout, 1, 1, 1))
    }

    /// Octets of both maps, with so many other bursts each way.
    fn maps_bytes(&self, extra: Extra, downlink_bursts: u32, uplink_bursts: u32) -> u32 {
        let regions = 1 + extra.regions;
        match self.layout.pusc {
            None => downlink_map_bytes(downlink_bursts) + uplink_map_bytes(regions + uplink_bursts),
            Some(_) => {
                slot_downlink_map_bytes(downlink_bursts) + slot_uplink_map_bytes(regions, uplink_bursts)
            }
        }
    }

    /// Units of the burst with both maps, with so many other bursts each way.
    pub(super) fn map_units(&self, extra: Extra, downlink_bursts: u32, uplink_bursts: u32) -> u32 {
        let bytes = self.maps_bytes(extra, downlink_bursts, uplink_bursts);
        match self.layout.pusc {
            None => Unit::Symbol.burst_units(self.map_profile, bytes + extra.map_bytes),
            // The maps alone are repeated.
            Some(pusc) => pusc.map_slots(bytes) + Unit::Slot.burst_units(self.map_profile, extra.map_bytes),
        }
    }

    /// Units of the downlink subframe that are left beside maps of so many bursts.
    pub(super) fn downlink_room(&self, extra: Extra, downlink_bursts: u32, uplink_bursts: u32) -> u32 {
        let maps = self.map_units(extra, downlink_bursts, uplink_bursts);
        self.layout.downlink_units().saturating_sub(self.layout.header_units() + maps)
    }

    /// The same in a frame in which all comes together.
    pub fn least_downlink_room(&self, downlink_bursts: u32, uplink_bursts: u32) -> u32 {
        self.downlink_room(self.most_extra(), downlink_bursts, uplink_bursts)
    }

    /// Units that a burst of messages has at most, in a frame without uplink bursts.
    pub fn most_message_room(&self) -> u32 {
        let descriptors = |entry: &CellEntry| [entry.downlink_descriptor.0, entry.uplink_descriptor.0];
        let first = self.entry.as_ref().map(descriptors).into_iter().flatten().max().unwrap_or(0);
        // Descriptors and ranging come at intervals that repeat within so many frames, or leave one of them
        // free.
        let rooms = (first..first + 64).map(|frame| self.downlink_room(self.extra(frame), 1, 0));
        rooms.max().unwrap_or(0)
    }

    /// Units of the uplink subframe behind all opportunities.
    pub fn least_uplink_room(&self) -> u32 {
        let around = self.request_units().saturating_add(self.most_extra().ranging_units);
        self.layout.uplink_units().saturating_sub(around)
    }

    /// The same in frames that have most of them: those without ranging, if there are any.
    pub fn most_uplink_room(&self) -> u32 {
        match &self.entry {
            Some(entry) if entry.ranging_frames > 1 => {
                self.layout.uplink_units().saturating_sub(self.request_units())
            }
            _ => self.least_uplink_room(),
        }
    }

    /// Units of the request opportunities.
    pub fn request_units(&self) -> u32 {
        self.layout.request_units(self.request_opportunities)
    }

    /// The most uplink bursts whose maps leave so many units to the downlink.
    pub(super) fn most_uplink_bursts(&self, extra: Extra, downlink_bursts: u32, left_units: u32) -> u32 {
        let units = self.layout.downlink_units().saturating_sub(self.layout.header_units() + left_units);
        let (bytes, of_burst) = match self.layout.pusc {
            None => {
                let bytes = Unit::Symbol.burst_bytes(self.map_profile, units);
                (bytes.saturating_sub(extra.map_bytes), UPLINK_BURST_BYTES)
            }
            Some(pusc) => {
                let descriptors = Unit::Slot.burst_units(self.map_profile, extra.map_bytes);
                let units = units.saturating_sub(descriptors);
                (pusc.map_bytes(units), SLOT_UPLINK_BURST_BYTES)
            }
        };
        bytes.saturating_sub(self.maps_bytes(extra, downlink_bursts, 0)) / of_burst
    }
}
