//! What describes a cell.

use super::medium::config::RadioConfig;
use super::medium::frame::Kind;
use super::phy::{ACK_BYTES, CTS_BYTES, FRAME_OVERHEAD_BYTES, Format, Preamble, RTS_BYTES, Timing};
use super::radios::edca::{Access, Category, Edca};
use super::radios::rate_control::{Backoff, RateControl};
use crate::mobility::Trajectory;
use crate::queue::{QueueLimit, Rule};
use roamsim_engine::{Span, Time};

/// What describes a cell.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// How frames are put on the air.
    pub format: Format,
    /// Slots and interframe spaces.
    pub timing: Timing,
    /// The rate of data frames to and from each station, in bits per second; where there are several access
    /// points, access point by access point. With `rate_control` the highest.
    pub rates_bps: Vec<u64>,
    /// What chooses the rate of each data frame, and the rates that there are, in ascending order; `None`:
    /// the rates are fixed.
    pub rate_control: Option<(RateControl, Vec<u64>)>,
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
    /// Frames to one receiver that are longer are sent in fragments of so many octets.
    pub fragmentation_threshold_bytes: u32,
    /// What goes before frames that stations of 802.11b do not understand.
    pub protection: Option<Protection>,
    /// What a busy medium does to countdowns.
    pub freezing: Freezing,
    /// The categories of EDCA; `None`: all frames are equal, by the distributed coordination function.
    pub edca: Option<Edca>,
    /// The queue of each radio, and of each category of EDCA: those waiting, not the one that contends.
    pub queue: QueueLimit,
    /// What they wait by.
    pub rule: Rule,
    /// The largest packet.
    pub mtu_bytes: u32,
}

/// Protection of frames in ERP-OFDM from stations of 802.11b (clause 9.13): what goes before them is in DSSS,
/// and reserves the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// What goes before.
    pub mechanism: Mechanism,
    /// Its rate, in bits per second, one of DSSS.
    pub rate_bps: u64,
    /// Its preamble.
    pub preamble: Preamble,
}

/// What goes before a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// A CTS frame of the sender to itself.
    CtsToSelf,
    /// RTS and CTS.
    RtsCts,
}

/// A medium of several access points.
pub struct Ess {
    /// The access points, each with its stations.
    pub bsses: Vec<Bss>,
    /// By station: how it finds its access point; `None` for one of a cell without beacons.
    pub stations: Vec<Option<StationConfig>>,
    /// What radios hear of each other.
    pub radio: RadioConfig,
    /// Where they are: access points, then stations.
    pub places: Vec<Trajectory>,
}

/// An access point and its stations.
#[derive(Clone, Debug)]
pub struct Bss {
    /// Its channel.
    pub channel: u8,
    /// The stations, in its order: numbers of stations of the whole medium.
    pub stations: Vec<usize>,
    /// How it makes itself known; `None`: its stations are associated with it from the beginning, and for
    /// ever.
    pub beacons: Option<BeaconConfig>,
}

/// Beacons of an access point (clause 11.1.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeaconConfig {
    /// The time between two beacons, above zero.
    pub period: Span,
    /// The first target beacon transmission time.
    pub first: Time,
}

/// How a station finds its access point, and when it gives it up.
#[derive(Clone, Debug, PartialEq)]
pub struct StationConfig {
    /// How it scans.
    pub scan: Scan,
    /// The channels that it looks at, in this order; never empty.
    pub channels: Vec<u8>,
    /// How long it listens on a channel: after a probe request that is followed by silence (active scanning
    /// alone).
    pub min_channel_time: Span,
    /// The same where the medium is busy after the probe request; in passive scanning always.
    pub max_channel_time: Span,
    /// How long it waits on a new channel before its probe request.
    pub probe_delay: Span,
    /// The time from the end of a scan to the next one.
    pub scan_interval: Span,
    /// After how many missed beacons in a row it has lost its access point, at least one.
    pub missed_beacons: u32,
    /// How long it waits for a response to a request for authentication or association.
    pub failure_timeout: Span,
    /// How often it asks in all.
    pub attempts: u32,
    /// The weight of the latest beacon in the mean of their powers.
    pub signal_weight: f64,
    /// Below that mean it gives its access point up, and takes no other one; `None`: only what it does not
    /// hear any more is lost.
    pub signal_threshold_dbm: Option<f64>,
    /// Where the mean falls below that power comes a Link_Going_Down, and it looks for another access point.
    pub going_down_dbm: f64,
    /// Below that power it hears nothing.
    pub lost_dbm: f64,
}

/// Clause 11.1.3: how a station scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// It listens for beacons.
    Passive,
    /// It asks by probe requests.
    Active,
}

/// What a busy medium does to countdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freezing {
    /// They go on where they stopped (clause 9.2.5.2).
    Standard,
    /// Each busy period counts as a slot: Bianchi, "Performance Analysis of the IEEE 802.11 Distributed
    /// Coordination Function", IEEE Journal on Selected Areas in Communications 18(3), 2000, section IV.
    CountsBusyPeriods,
}

impl CellConfig {
    /// The channel access functions of an access point's radio, or of a station's.
    pub(super) fn accesses(&self, access_point: bool) -> Vec<Access> {
        let Some(edca) = &self.edca else {
            let &CellConfig { cw_min, cw_max, .. } = self;
            return vec![Access {
                ifs: self.timing.difs,
                cw_min,
                cw_max,
                txop_limit: Span::ZERO,
                is_edca: false,
            }];
        };
        let categories = if access_point { edca.access_point } else { edca.stations };
        categories
            .map(|Category { aifsn, cw_min, cw_max, txop_limit }| Access {
                ifs: self.timing.sifs + self.timing.slot * u64::from(aifsn),
                cw_min,
                cw_max,
                txop_limit,
                is_edca: true,
            })
            .to_vec()
    }

    /// The rate of beacons, probe requests, broadcasts and other management frames: the lowest basic one
    /// (clause 9.6 asks for some basic rate).
    pub(super) fn lowest_rate_bps(&self) -> u64 {
        self.basic_rates_bps.first().copied().unwrap_or_default()
    }

    /// What an RTS or a CTS takes where there is protection.
    pub(super) fn protection_time(&self, kind: Kind) -> Span {
        let bytes = if kind == Kind::Rts { RTS_BYTES } else { CTS_BYTES };
        self.protection.map_or(Span::ZERO, |Protection { rate_bps, preamble, .. }| {
            Format::Dsss(preamble).airtime(bytes, rate_bps)
        })
    }

    /// From the end of a frame to the time when no ACK will come any more (clause 9.2.8): one at 1 Mb/s has
    /// the long preamble.
    pub(super) fn ack_timeout(&self, data_rate_bps: u64) -> Span {
        let format = self.format.at_rate(self.control_rate_bps(data_rate_bps));
        self.timing.response_timeout + format.rx_start_delay().saturating_sub(self.format.rx_start_delay())
    }

    /// From the end of an RTS to the time when no CTS will come any more (clause 9.2.5.7): as for an ACK, or
    /// as protection says.
    pub(super) fn cts_timeout(&self, data_rate_bps: u64) -> Span {
        let Timing { sifs, slot, .. } = self.timing;
        self.protection.map_or(
            self.ack_timeout(data_rate_bps),
            |Protection { preamble, rate_bps, .. }| {
                sifs + slot + Format::Dsss(preamble).at_rate(rate_bps).rx_start_delay()
            },
        )
    }

    /// What a packet of 1200 octets, as mac80211 reckons with, takes with its ACK.
    pub(super) fn usual_exchange_time(&self, rate_bps: u64) -> Span {
        let ack = self.format.airtime(ACK_BYTES, self.control_rate_bps(rate_bps));
        self.format.airtime(1200 + FRAME_OVERHEAD_BYTES, rate_bps) + self.timing.sifs + ack
    }

    /// The windows between attempts at a frame, without EDCA.
    pub(super) fn backoff(&self) -> Backoff {
        Backoff { slot: self.timing.slot, cw_min: self.cw_min, cw_max: self.cw_max }
    }

    /// The rate of the control frames of an exchange: the highest basic one that is not above the data's, or
    /// the lowest (clause 9.6).
    pub(super) fn control_rate_bps(&self, data_rate_bps: u64) -> u64 {
        let below = self.basic_rates_bps.iter().rfind(|&&rate_bps| rate_bps <= data_rate_bps);
        below.or(self.basic_rates_bps.first()).copied().unwrap_or(data_rate_bps)
    }
}
