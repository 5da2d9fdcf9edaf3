//! The access categories of the machine.

use crate::access::wifi::edca::{Edca, EdcaCategories, EdcaCategory};
use crate::access::wifi::model::Wifi;
use crate::access::wifi::standard::WifiStandard;
use roamsim_engine::Span;
use roamsim_network::link::wifi::{Category as NetworkCategory, Edca as NetworkEdca};

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
    pub(crate) fn config(&self, cell: &Wifi) -> NetworkEdca {
        let of = |categories: &EdcaCategories, access_point| {
            let all = categories.all();
            [0, 1, 2, 3].map(|number| all[number].config(number, access_point, cell))
        };
        let Edca { stations, access_point } = self;
        NetworkEdca { access_point: of(access_point, true), stations: of(stations, false) }
    }
}
