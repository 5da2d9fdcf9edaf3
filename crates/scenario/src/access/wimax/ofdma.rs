//! OFDMA in place of OFDM.

use roamsim_network::link::wimax::pusc::Pusc;
use schemars::JsonSchema;
use serde::Deserialize;

/// WirelessMAN-OFDMA with PUSC in place of WirelessMAN-OFDM (IEEE Std 802.16e-2005 section 8.4): slots in
/// place of symbols, codes in place of messages in contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxOfdma")]
pub struct Ofdma {
    /// Subcarriers, 512 or 1024: 15 and 17 subchannels of downlink and uplink, or 30 and 35. Left out: 512 up
    /// to a bandwidth of 5 MHz, 1024 above, as in the profiles of the WiMAX Forum.
    #[serde(default)]
    pub subcarriers: Option<u32>,
    /// How often the burst of the maps is there, in QPSK 1/2: 1, 2, 4 or 6 times (section 8.4.9). Default
    /// chosen: 4, as of the frame control header.
    #[serde(default = "default_map_repetition")]
    pub map_repetition: u32,
    /// Codes for bandwidth requests; with those for ranging 256 at most (section 8.4.7.3). Default
    /// chosen: 32.
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
