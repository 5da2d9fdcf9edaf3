//! Wi-Fi cells: IEEE 802.11b and g with any number of stations.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::edca::Edca;
use super::loss::{Loss, LossTable};
use super::radio::Radio;
use super::rates::RateControl;
use super::standard::{Preamble, WifiStandard};
use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::decode::OneOrMany;
use crate::units;

/// A `[[wifi]]`: an access point and the stations of its cell, which contend for the medium. With `beacons`,
/// stations roam between several.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wifi {
    /// The cell's name in results.
    pub name: String,
    /// The node that is the access point.
    pub access_point: String,
    /// The stations. They send to the access point, and through it to each other.
    pub stations: Vec<String>,
    /// The physical layer. Default: the older one, which every station understands.
    #[serde(default)]
    pub standard: WifiStandard,
    /// Rate of data frames. 802.11b: 1, 2, 5.5 or 11 Mb/s (IEEE 802.11-2007 clause 18). 802.11g: 6, 9, 12,
    /// 18, 24, 36, 48 or 54 Mb/s (clause 19). Left out: the highest.
    #[serde(rename = "rate", default, with = "units::rate")]
    #[schemars(with = "Option<units::Rate>")]
    pub rate_bps: Option<u64>,
    /// Rate of ACK, RTS and CTS frames, up to `rate`. Left out: the highest mandatory rate up to `rate` (IEEE
    /// 802.11-2007 section 9.6): 1 and 2 Mb/s in 802.11b (clause 15), 6, 12 and 24 Mb/s in 802.11g (clause
    /// 17.3.2.1).
    #[serde(rename = "basic_rate", default, with = "units::rate")]
    #[schemars(with = "Option<units::Rate>")]
    pub basic_rate_bps: Option<u64>,
    /// Stations with another data rate, both ways. Default: none.
    #[serde(default)]
    pub station_rates: Vec<StationRate>,
    /// How the rate of data frames adapts. Left out: it is fixed.
    #[serde(default)]
    pub rate_control: Option<RateControl>,
    /// The PLCP preamble of 802.11b. Default: long, which every station understands (IEEE 802.11-2007 section
    /// 18.2.2).
    #[serde(default)]
    pub preamble: Preamble,
    /// The slot time of 802.11g. Left out: short; long with `protection`, for stations of 802.11b (IEEE
    /// 802.11-2007 sections 7.3.1.4 and 19.4.4).
    #[serde(default)]
    pub slot_time: Option<SlotTime>,
    /// The first contention window in slots: a power of two less one. Left out: aCWmin, 31 in 802.11b, 15 in
    /// 802.11g (IEEE 802.11-2007 sections 18.3.3 and 19.8.4).
    #[serde(default)]
    pub cw_min: Option<u32>,
    /// The largest contention window. Default: aCWmax (IEEE 802.11-2007 sections 18.3.3 and 19.8.4).
    #[serde(default = "default_cw_max")]
    pub cw_max: u32,
    /// Attempts of an RTS frame, or of a data frame up to `rts_threshold`, before its packet is dropped; the
    /// first one counts. Default: dot11ShortRetryLimit (IEEE 802.11-2007 annex D).
    #[serde(default = "default_short_retry_limit")]
    #[schemars(range(min = 1))]
    pub short_retry_limit: u32,
    /// The same limit for longer data frames. Default: dot11LongRetryLimit (IEEE 802.11-2007 annex D).
    #[serde(default = "default_long_retry_limit")]
    #[schemars(range(min = 1))]
    pub long_retry_limit: u32,
    /// RTS and CTS precede longer data frames (MAC header and FCS included). Default: dot11RTSThreshold (IEEE
    /// 802.11-2007 annex D): no frame is longer.
    #[serde(rename = "rts_threshold", default = "default_rts_threshold_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub rts_threshold_bytes: u64,
    /// Longer unicast data frames (MAC header and FCS included) are sent in fragments of this length, an even
    /// number from 256. Default: dot11FragmentationThreshold (IEEE 802.11-2007 annex D): no frame is longer.
    #[serde(
        rename = "fragmentation_threshold",
        default = "default_fragmentation_threshold_bytes",
        with = "units::size"
    )]
    #[schemars(with = "units::Size")]
    pub fragmentation_threshold_bytes: u64,
    /// Protection of 802.11g frames from stations of 802.11b (IEEE 802.11-2007 section 9.13). Left out: none.
    #[serde(default)]
    pub protection: Option<Protection>,
    /// Access categories by packet class. Left out: none.
    #[serde(default)]
    pub edca: Option<Edca>,
    /// The channel, from 1 to 13. Cells with a `radio` on one channel share the medium; other channels do not
    /// interfere. Default: 1 (IEEE 802.11-2007 section 18.4.6.2).
    #[serde(default = "default_channel")]
    pub channel: u8,
    /// Beacons: stations scan, associate, and may be stations of several cells. The cell needs a `radio`.
    /// Left out: stations are associated all the time.
    #[serde(default)]
    pub beacons: Option<Beacons>,
    /// Radio range by the nodes' places: each needs a `position`. Left out: all hear each other.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// Losses of data in addition to the radio's: a table, or a list of tables. Default: none.
    #[serde(default, deserialize_with = "losses")]
    #[schemars(with = "OneOrMany<LossTable>")]
    pub loss: Vec<Loss>,
    /// The queue of the access point and of each station; with `edca`, of each category. Default chosen: as
    /// for a wired link.
    #[serde(default)]
    pub queue: Queue,
    /// The largest IP packet, up to 2296 bytes (IEEE 802.11-2007 section 7.1.2: 2304 less LLC and SNAP).
    /// Default: Ethernet's, because the access point bridges to it.
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub mtu_bytes: u64,
}

/// Beacons of an access point. They contend at the lowest basic rate, ahead of queued frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beacons {
    /// Time between two beacons (dot11BeaconPeriod). Default: 100 time units of 1024 us, the common value
    /// (IEEE 802.11-2007 section 3.162 defines the unit).
    #[serde(default = "default_beacon_period", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub period: Span,
    /// The first beacon. Left out: drawn within a period, as clocks of access points are independent.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub start: Option<Time>,
}

fn losses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Loss>, D::Error> {
    Ok(OneOrMany::<LossTable>::deserialize(deserializer)?.0.into_iter().map(Loss::from).collect())
}

fn default_channel() -> u8 {
    1
}

fn default_beacon_period() -> Span {
    Span::from_us(102_400)
}

fn default_cw_max() -> u32 {
    1023
}

fn default_short_retry_limit() -> u32 {
    7
}

fn default_long_retry_limit() -> u32 {
    4
}

fn default_rts_threshold_bytes() -> u64 {
    2347
}

fn default_fragmentation_threshold_bytes() -> u64 {
    2346
}

/// Protection of 802.11g frames: frames that 802.11b stations understand reserve the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Protection {
    /// The frames before a protected frame.
    pub mechanism: Mechanism,
    /// The rate of protection frames, one of 802.11b. Default chosen: the highest of every DSSS station (IEEE
    /// 802.11-2007 clause 15).
    #[serde(rename = "rate", default = "default_protection_rate_bps", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
    /// Their preamble. Default: long, which every station understands (IEEE 802.11-2007 section 18.2.2).
    #[serde(default)]
    pub preamble: Preamble,
}

/// A mechanism of protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// A CTS frame of the sender to itself.
    CtsToSelf,
    /// RTS and CTS.
    RtsCts,
}

fn default_protection_rate_bps() -> u64 {
    2_000_000
}

impl Wifi {
    /// The rate of data frames: as set, or the highest.
    pub fn data_rate_bps(&self) -> u64 {
        self.rate_bps.or(self.standard.rates_bps().last().copied()).unwrap_or_default()
    }

    /// The rate of data frames to and from a station.
    pub fn rate_of_bps(&self, station: &str) -> u64 {
        let own = self.station_rates.iter().find(|entry| entry.stations.iter().any(|name| name == station));
        own.map_or(self.data_rate_bps(), |entry| entry.rate_bps)
    }

    /// The rates of control frames: the one that is set, or the mandatory ones.
    pub fn control_rates_bps(&self) -> Vec<u64> {
        match self.basic_rate_bps {
            Some(rate_bps) => vec![rate_bps],
            None => self.standard.mandatory_rates_bps().to_vec(),
        }
    }

    /// The first contention window: as set, or aCWmin.
    pub fn first_cw(&self) -> u32 {
        self.cw_min.unwrap_or(match self.standard {
            WifiStandard::Ieee80211b => 31,
            WifiStandard::Ieee80211g => 15,
        })
    }
}

/// The rate of some stations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationRate {
    /// The stations, each of this cell.
    pub stations: Vec<String>,
    /// Their rate, one of the standard's.
    #[serde(rename = "rate", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
}

/// A slot time of 802.11g.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotTime {
    /// 9 us.
    Short,
    /// 20 us, as stations of 802.11b have it.
    Long,
}
