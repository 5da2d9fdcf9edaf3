//! Burst profiles.

use roamsim_network::link::wimax::phy::BurstProfile as NetworkProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Modulation and code rate (IEEE Std 802.16-2004 table 215; OFDMA: IEEE Std 802.16e-2005 table 324).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BurstProfile {
    /// 12 octets a symbol; not in OFDMA.
    #[serde(rename = "BPSK 1/2")]
    Bpsk12,
    /// 24 octets a symbol, or 6 a slot.
    #[serde(rename = "QPSK 1/2")]
    Qpsk12,
    /// 36 octets a symbol, or 9 a slot.
    #[serde(rename = "QPSK 3/4")]
    Qpsk34,
    /// 48 octets a symbol, or 12 a slot.
    #[serde(rename = "16-QAM 1/2")]
    Qam16R12,
    /// 72 octets a symbol, or 18 a slot.
    #[serde(rename = "16-QAM 3/4")]
    Qam16R34,
    /// 96 octets a symbol, or 24 a slot.
    #[serde(rename = "64-QAM 2/3")]
    Qam64R23,
    /// 108 octets a symbol, or 27 a slot.
    #[serde(rename = "64-QAM 3/4")]
    Qam64R34,
}

impl BurstProfile {
    /// As the machine has it.
    pub(super) fn network(self) -> NetworkProfile {
        match self {
            BurstProfile::Bpsk12 => NetworkProfile::Bpsk12,
            BurstProfile::Qpsk12 => NetworkProfile::Qpsk12,
            BurstProfile::Qpsk34 => NetworkProfile::Qpsk34,
            BurstProfile::Qam16R12 => NetworkProfile::Qam16R12,
            BurstProfile::Qam16R34 => NetworkProfile::Qam16R34,
            BurstProfile::Qam64R23 => NetworkProfile::Qam64R23,
            BurstProfile::Qam64R34 => NetworkProfile::Qam64R34,
        }
    }

    /// As scenarios and tables write it.
    pub(super) fn name(self) -> &'static str {
        match self {
            BurstProfile::Bpsk12 => "BPSK 1/2",
            BurstProfile::Qpsk12 => "QPSK 1/2",
            BurstProfile::Qpsk34 => "QPSK 3/4",
            BurstProfile::Qam16R12 => "16-QAM 1/2",
            BurstProfile::Qam16R34 => "16-QAM 3/4",
            BurstProfile::Qam64R23 => "64-QAM 2/3",
            BurstProfile::Qam64R34 => "64-QAM 3/4",
        }
    }
}

/// As scenarios and tables write it.
pub(super) fn burst_profile_name(profile: NetworkProfile) -> &'static str {
    let own = match profile {
        NetworkProfile::Bpsk12 => BurstProfile::Bpsk12,
        NetworkProfile::Qpsk12 => BurstProfile::Qpsk12,
        NetworkProfile::Qpsk34 => BurstProfile::Qpsk34,
        NetworkProfile::Qam16R12 => BurstProfile::Qam16R12,
        NetworkProfile::Qam16R34 => BurstProfile::Qam16R34,
        NetworkProfile::Qam64R23 => BurstProfile::Qam64R23,
        NetworkProfile::Qam64R34 => BurstProfile::Qam64R34,
    };
    own.name()
}
