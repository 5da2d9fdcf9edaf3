//! OFDMA in place of OFDM.

use roamsim_network::link::wimax::pusc::Pusc;
use schemars::JsonSchema;
use serde::Deserialize;

/// WirelessMAN-OFDMA with PUSC (IEEE Std 802.16e-2005 section 8.4): slots replace symbols, and codes replace
/// messages in contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxOfdma")]
pub struct Ofdma {
    /// Subcarriers, 512 or 1024: 15 downlink and 17 uplink subchannels, or 30 and 35. Left out: 512 up to 5
    /// MHz, 1024 above, as in profiles of the WiMAX Forum.
    #[serde(default)]
    pub subcarriers: Option<u32>,
    /// Repetitions of the map burst in QPSK 1/2: 1, 2, 4 or 6 (section 8.4.9). Default chosen: 4, as for the
    /// frame control header.
    #[serde(default = "default_map_repetition")]
    pub map_repetition: u32,
    /// Codes for bandwidth requests; with those for ranging at most 256 (section 8.4.7.3). Default chosen:
    /// 32.
    #[serde(default = "default_codes")]
    pub request_codes: u32,
    /// Codes for initial ranging. Default chosen: 32.
    #[serde(default = "default_codes")]
    pub ranging_codes: u32,
}

fn default_map_repetition() -> u32 {
    4
}

fn default_codes() -> u32 {
    32
}

/// The widest channel with 512 subcarriers, unless it says otherwise.
const NARROW_HZ: u64 = 5_000_000;

impl Ofdma {
    /// The subcarriers of a channel.
    pub(super) fn subcarriers_of(&self, bandwidth_hz: u64) -> u32 {
        self.subcarriers.unwrap_or(if bandwidth_hz <= NARROW_HZ { 512 } else { 1024 })
    }

    /// Its slots; `None` where it has no such number of subcarriers.
    pub(super) fn pusc(&self, bandwidth_hz: u64) -> Option<Pusc> {
        let codes = [self.request_codes, self.ranging_codes];
        Pusc::of(self.subcarriers_of(bandwidth_hz), self.map_repetition, codes)
    }
}
