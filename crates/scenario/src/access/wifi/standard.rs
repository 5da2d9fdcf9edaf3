//! The physical layers of 802.11b and g, and the preamble before their frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::rate_text;

/// A physical layer of IEEE 802.11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WifiStandard {
    /// High-rate direct sequence at 2.4 GHz (IEEE 802.11-2007 clause 18).
    #[default]
    #[serde(rename = "802.11b")]
    Ieee80211b,
    /// OFDM at 2.4 GHz (IEEE 802.11-2007 clause 19), without stations of 802.11b in the cell.
    #[serde(rename = "802.11g")]
    Ieee80211g,
}

impl WifiStandard {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            WifiStandard::Ieee80211b => "802.11b",
            WifiStandard::Ieee80211g => "802.11g",
        }
    }

    /// Its rates in bits per second, in ascending order.
    pub const fn rates_bps(self) -> &'static [u64] {
        match self {
            WifiStandard::Ieee80211b => &[1_000_000, 2_000_000, 5_500_000, 11_000_000],
            WifiStandard::Ieee80211g => &[
                6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000,
            ],
        }
    }

    /// The same in words, for who has written another one.
    pub(super) fn rates_text(self) -> String {
        let rates: Vec<_> = self.rates_bps().iter().map(|&bps| rate_text(bps)).collect();
        format!("{} has the rates {}", self.name(), rates.join(", "))
    }

    /// Those that every station has.
    pub(super) const fn mandatory_rates_bps(self) -> &'static [u64] {
        match self {
            WifiStandard::Ieee80211b => &[1_000_000, 2_000_000],
            WifiStandard::Ieee80211g => &[6_000_000, 12_000_000, 24_000_000],
        }
    }
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
