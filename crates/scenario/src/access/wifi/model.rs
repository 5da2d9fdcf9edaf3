//! Wi-Fi cells: IEEE 802.11b with one station alone in the cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::units;

/// A `[[wifi]]`: an access point and the station in its cell.
///
/// Contention between stations is not modelled yet, so a cell has exactly one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wifi {
    /// The cell's name in results.
    pub name: String,
    /// The node that is the access point.
    pub access_point: String,
    /// The nodes that are stations: exactly one, because contention is not modelled yet.
    pub stations: Vec<String>,
    /// The physical layer. Default: the only one there is.
    #[serde(default)]
    pub standard: WifiStandard,
    /// Rate of data frames: 1, 2, 5.5 or 11 Mb/s (IEEE 802.11-2007 clause 18). Default: the highest.
    #[serde(rename = "rate", default = "default_rate_bps", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
    /// Rate of acknowledgement frames, one of the data rates and not above `rate`. Left out: 2 Mb/s, or 1 Mb/s
    /// where `rate` is that; control frames use the highest basic rate that is not above the data rate
    /// (IEEE 802.11-2007 section 9.6), and every DSSS station has 1 and 2 Mb/s (clause 15).
    #[serde(rename = "basic_rate", default, with = "units::rate")]
    #[schemars(with = "Option<units::Rate>")]
    pub basic_rate_bps: Option<u64>,
    /// The PLCP preamble. Default: the long one, which every station understands (IEEE 802.11-2007 section 18.2.2).
    #[serde(default)]
    pub preamble: Preamble,
    /// The contention window of the backoff, in slots: a power of two less one. Default: aCWmin of the
    /// high-rate PHY (IEEE 802.11-2007 section 18.3.3).
    #[serde(default = "default_cw_min")]
    pub cw_min: u32,
    /// The drop-tail queue at each end. Default chosen: as for a wired link.
    #[serde(default)]
    pub queue: Queue,
    /// The largest IP packet; at most 2296 bytes (IEEE 802.11-2007 section 7.1.2: 2304 less LLC and SNAP).
    /// Default: Ethernet's 1500 bytes, because the access point bridges to it.
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub mtu_bytes: u64,
}

fn default_rate_bps() -> u64 {
    11_000_000
}

fn default_cw_min() -> u32 {
    31
}

impl Wifi {
    /// The rates of 802.11b in bits per second.
    pub const RATES_BPS: [u64; 4] = [1_000_000, 2_000_000, 5_500_000, 11_000_000];

    /// The rate of acknowledgement frames: as set, or the highest mandatory rate not above the data rate.
    pub fn acknowledgement_rate_bps(&self) -> u64 {
        self.basic_rate_bps.unwrap_or(self.rate_bps.min(2_000_000))
    }
}

/// A physical layer of IEEE 802.11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WifiStandard {
    /// High-rate direct sequence at 2.4 GHz (IEEE 802.11-2007 clause 18).
    #[default]
    #[serde(rename = "802.11b")]
    Ieee80211b,
}

/// The preamble and header that precede every frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preamble {
    /// 192 us: 144 bits and 48 bits at 1 Mb/s.
    #[default]
    Long,
    /// 96 us: 72 bits at 1 Mb/s and 48 bits at 2 Mb/s; not for frames at 1 Mb/s.
    Short,
}
