//! Enhanced distributed channel access: the parameters of the access categories.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::units;

/// The access categories of EDCA (IEEE 802.11-2007 section 9.9.1): packets have one by their `dscp`, as RFC
/// 8325 recommends, and categories contend with each other, also inside of a node. `edca = {}` takes the
/// defaults of the standard, which follow from `cw_min` and `cw_max` (aCWmin and aCWmax).
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
    /// Best effort: packets without class, af1x, af2x, cs2, and those that RFC 8325 does not name.
    #[serde(default)]
    pub ac_be: EdcaCategory,
    /// Video: af3x, af4x, cs3 to cs5.
    #[serde(default)]
    pub ac_vi: EdcaCategory,
    /// Voice: ef, voice-admit, cs6 and cs7, and the MAC's management frames.
    #[serde(default)]
    pub ac_vo: EdcaCategory,
}

/// An access category (IEEE 802.11-2007 section 7.3.2.29). Keys that are left out have the standard's
/// defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdcaCategory {
    /// Its interframe space, AIFS, is SIFS and so many slots: from 2 on, at access points from 1 on. Left
    /// out: 7 of background, 3 of best effort, 2 of video and voice; at access points 1 of these two.
    #[serde(default)]
    pub aifsn: Option<u32>,
    /// The contention window at first, in slots: a power of two less one. Left out: aCWmin of background and
    /// best effort, (aCWmin + 1) / 2 - 1 of video, (aCWmin + 1) / 4 - 1 of voice.
    #[serde(default)]
    pub cw_min: Option<u32>,
    /// The largest contention window. Left out: aCWmax of background and best effort, aCWmin of video,
    /// (aCWmin + 1) / 2 - 1 of voice; of best effort at access points 4 (aCWmin + 1) - 1.
    #[serde(default)]
    pub cw_max: Option<u32>,
    /// How long it may send when it has won the medium, in units of 32us; `"0s"`: one packet. Left out: one
    /// packet of background and best effort, 6.016ms of video and 3.264ms of voice in 802.11b, 3.008ms and
    /// 1.504ms in 802.11g.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub txop_limit: Option<Span>,
}
