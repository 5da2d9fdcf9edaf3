//! Enhanced distributed channel access: the parameters of the access categories.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::units;

/// The access categories of EDCA (IEEE 802.11-2007 section 9.9.1), chosen by `dscp` as in RFC 8325. `edca =
/// {}` takes the standard's defaults, which follow from `cw_min` (aCWmin) and `cw_max` (aCWmax).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edca {
    /// Those of stations. Default: IEEE 802.11-2007 table 7-37.
    #[serde(default)]
    pub stations: EdcaCategories,
    /// Those of the access point. Default: dot11QAPEDCATable (IEEE 802.11-2007 annex D).
    #[serde(default)]
    pub access_point: EdcaCategories,
}

/// The four access categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdcaCategories {
    /// Background: packets of class cs1.
    #[serde(default)]
    pub ac_bk: EdcaCategory,
    /// Best effort: no class, af1x, af2x, cs2, and classes that RFC 8325 does not name.
    #[serde(default)]
    pub ac_be: EdcaCategory,
    /// Video: af3x, af4x, cs3 to cs5.
    #[serde(default)]
    pub ac_vi: EdcaCategory,
    /// Voice: ef, voice-admit, cs6 and cs7, and the MAC's management frames.
    #[serde(default)]
    pub ac_vo: EdcaCategory,
}

/// An access category (IEEE 802.11-2007 section 7.3.2.29). Defaults are the standard's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdcaCategory {
    /// AIFS in slots beyond SIFS, from 2, at access points from 1. Left out: 7 for background, 3 for best
    /// effort, 2 for video and voice (1 at access points).
    #[serde(default)]
    pub aifsn: Option<u32>,
    /// The first contention window in slots: a power of two less one. Left out: aCWmin for background and
    /// best effort, (aCWmin + 1) / 2 - 1 for video, (aCWmin + 1) / 4 - 1 for voice.
    #[serde(default)]
    pub cw_min: Option<u32>,
    /// The largest contention window. Left out: aCWmax for background and best effort (4 (aCWmin + 1) - 1 at
    /// access points), aCWmin for video, (aCWmin + 1) / 2 - 1 for voice.
    #[serde(default)]
    pub cw_max: Option<u32>,
    /// How long it may send after winning the medium, in units of 32 us; `"0s"`: one packet. Left out: `"0s"`
    /// for background and best effort; for video and voice 6.016 and 3.264 ms in 802.11b, 3.008 and 1.504 ms
    /// in 802.11g.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub txop_limit: Option<Span>,
}
