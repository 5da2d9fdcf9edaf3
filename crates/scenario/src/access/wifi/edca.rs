//! Enhanced distributed channel access: the parameters of the access categories.

use roamsim_engine::Span;
use roamsim_network::link::wifi::{CATEGORIES, Category as NetworkCategory, Edca as NetworkEdca};
use schemars::JsonSchema;
use serde::Deserialize;

use super::model::{Wifi, WifiStandard};
use crate::report::{Report, Step, join};
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

/// The longest limit of a transmission opportunity, and its unit (IEEE 802.11-2007 section 7.3.2.29).
const TXOP_UNIT: Span = Span::from_us(32);
const MOST_TXOP_UNITS: u64 = 65_535;

/// ECWmin and ECWmax have four bits (IEEE 802.11-2007 section 7.3.2.29).
const LARGEST_WINDOW: u32 = 32_767;

impl EdcaCategories {
    fn all(&self) -> [EdcaCategory; 4] {
        let &EdcaCategories { ac_bk, ac_be, ac_vi, ac_vo } = self;
        [ac_bk, ac_be, ac_vi, ac_vo]
    }
}

impl EdcaCategory {
    /// What is written, and the defaults of the category of this number.
    fn config(self, number: usize, access_point: bool, cell: &Wifi) -> NetworkCategory {
        let EdcaCategory { aifsn, cw_min, cw_max, txop_limit } = self;
        let (least, most) = (cell.first_cw(), cell.cw_max);
        let part = |parts: u32| ((least + 1) / parts).max(1) - 1;
        let txop = |dsss_us, ofdm_us| match cell.standard {
            WifiStandard::Ieee80211b => Span::from_us(dsss_us),
            WifiStandard::Ieee80211g => Span::from_us(ofdm_us),
        };
        let (first, last, slots, limit) = match (number, access_point) {
            (0, _) => (least, most, 7, Span::ZERO),
            (1, false) => (least, most, 3, Span::ZERO),
            (1, true) => (least, (4 * (least + 1) - 1).min(most), 3, Span::ZERO),
            (2, _) => (part(2), least, if access_point { 1 } else { 2 }, txop(6016, 3008)),
            _ => (part(4), part(2), if access_point { 1 } else { 2 }, txop(3264, 1504)),
        };
        let cw_min = cw_min.unwrap_or(first);
        NetworkCategory {
            aifsn: aifsn.unwrap_or(slots),
            cw_min,
            cw_max: cw_max.unwrap_or(last.max(cw_min)),
            txop_limit: txop_limit.unwrap_or(limit),
        }
    }
}

impl Edca {
    /// The settings of the machine.
    pub(super) fn config(&self, cell: &Wifi) -> NetworkEdca {
        let of = |categories: &EdcaCategories, access_point| {
            let all = categories.all();
            [0, 1, 2, 3].map(|number| all[number].config(number, access_point, cell))
        };
        let Edca { stations, access_point } = self;
        NetworkEdca { access_point: of(access_point, true), stations: of(stations, false) }
    }
}

/// Checks the categories of a cell whose keys are under `at`.
pub(super) fn check(cell: &Wifi, at: &[Step], report: &mut Report<'_>) {
    let Some(edca) = &cell.edca else { return };
    let config = edca.config(cell);
    for (whose, categories, least_aifsn) in
        [("stations", config.stations, 2), ("access_point", config.access_point, 1)]
    {
        let keys = ["ac_bk", "ac_be", "ac_vi", "ac_vo"];
        for ((key, name), category) in keys.into_iter().zip(CATEGORIES).zip(categories) {
            let steps = join(at, ["edca", whose, key]);
            let mut refuse =
                |of: &'static str, message: &str, help: &str| report.add(&join(&steps, [of]), message, help);
            if !(least_aifsn..=15).contains(&category.aifsn) {
                let message = format!(
                    "AIFSN of {name} is from {least_aifsn} to 15 here (IEEE 802.11-2007 section 7.3.2.29)"
                );
                refuse("aifsn", &message, "write a number of slots in between; 2, 3 and 7 are usual");
            }
            for (of, window) in [("cw_min", category.cw_min), ("cw_max", category.cw_max)] {
                if !window.wrapping_add(1).is_power_of_two() || window > LARGEST_WINDOW {
                    let message = "a contention window is a power of two less one, up to 32767";
                    refuse(of, message, "write 3, 7, 15, 31, ...");
                    return;
                }
            }
            if category.cw_max < category.cw_min {
                let message = format!("`cw_max` of {name} is smaller than its `cw_min`, {}", category.cw_min);
                refuse("cw_max", &message, "write the same for a window that does not grow");
            }
            let limit = category.txop_limit;
            if limit.as_ns() % TXOP_UNIT.as_ns() != 0 || limit > TXOP_UNIT * MOST_TXOP_UNITS {
                let message = "a limit of transmission opportunities is a multiple of 32us, up to 2.09712s";
                refuse("txop_limit", message, "write \"0s\" for one packet, or a time such as \"3.264ms\"");
            }
        }
    }
}
