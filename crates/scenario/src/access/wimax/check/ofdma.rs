//! OFDMA in place of OFDM.

use crate::access::wimax::burst_profile::BurstProfile;
use crate::access::wimax::model::Wimax;
use crate::report::{At, Key, Report, Step, join};

/// Ranging codes that a base station has (section 8.4.7.3).
const MOST_CODES: u32 = 256;

/// Checks what it has beside OFDM, and that no burst profile is OFDM's alone; whether a machine can be made
/// of it.
pub(super) fn check(at: &[Step], cell: &Wimax, report: &mut Report<'_>) -> bool {
    let Some(ofdma) = &cell.ofdma else { return true };
    let mut good = true;
    let mut refuse = |steps: Vec<Step>, message: String, help: &str| {
        report.add(&steps, message, help);
        good = false;
    };
    let own = |key| join(at, ["ofdma", key]);
    if ofdma.pusc(cell.bandwidth_hz).is_none() {
        refuse(
            own("subcarriers"),
            "PUSC has 512 or 1024 subcarriers here".to_owned(),
            "write 512 or 1024, or leave it out",
        );
    }
    if ![1, 2, 4, 6].contains(&ofdma.map_repetition) {
        let message = "a burst is sent 1, 2, 4 or 6 times (IEEE Std 802.16e-2005 section 8.4.9)".to_owned();
        refuse(own("map_repetition"), message, "write 1, 2, 4 or 6");
    }
    for (key, codes) in [("request_codes", ofdma.request_codes), ("ranging_codes", ofdma.ranging_codes)] {
        if codes == 0 {
            refuse(
                own(key),
                "without a code nobody is heard".to_owned(),
                "write 1 or more; 32 is the default",
            );
        }
    }
    if ofdma.request_codes.saturating_add(ofdma.ranging_codes) > MOST_CODES {
        let message =
            "a base station has 256 codes in all (IEEE Std 802.16e-2005 section 8.4.7.3)".to_owned();
        refuse(own("request_codes"), message, "write fewer of them, or fewer `ranging_codes`");
    }
    let robust =
        "OFDMA has no BPSK: QPSK 1/2 is its most robust burst profile (IEEE Std 802.16e-2005 section 8.4.9)";
    let mut profiles = vec![(join(at, ["burst_profile"]), cell.burst_profile)];
    for (number, entry) in cell.station_profiles.iter().enumerate() {
        for (key, profile) in [("downlink", entry.downlink), ("uplink", entry.uplink)] {
            let place = [&join(at, ["station_profiles"])[..], &[At(number), Key(key)]].concat();
            profiles.extend(profile.map(|profile| (place, profile)));
        }
    }
    if let Some(radio) = cell.entry.as_ref().and_then(|entry| entry.radio.as_ref()) {
        let steps = join(at, ["entry", "radio"]);
        let place = |keys: &[Step]| [&steps[..], keys].concat();
        let thresholds = radio.thresholds.iter().enumerate();
        profiles.extend(thresholds.map(|(number, threshold)| {
            (place(&[Key("thresholds"), At(number), Key("profile")]), threshold.profile)
        }));
        let errors = radio.block_errors.iter().flat_map(|errors| errors.profiles.iter().enumerate());
        profiles.extend(errors.map(|(number, errors)| {
            (place(&[Key("block_errors"), Key("profiles"), At(number), Key("profile")]), errors.profile)
        }));
    }
    for (place, _) in profiles.into_iter().filter(|(_, profile)| *profile == BurstProfile::Bpsk12) {
        refuse(place, robust.to_owned(), "write \"QPSK 1/2\", or leave `ofdma` out");
    }
    if cell.map_profile.is_some_and(|profile| profile != BurstProfile::Qpsk12) {
        let message = "maps of OFDMA are in QPSK 1/2 (IEEE Std 802.16e-2005 section 8.4.4.3)".to_owned();
        refuse(join(at, ["map_profile"]), message, "leave it out, and write a `map_repetition` in `ofdma`");
    }
    good
}

/// Checks that the opportunities for codes have room beside each other in time.
pub(super) fn check_opportunities(
    at: &[Step],
    cell: &Wimax,
    uplink_symbols: u32,
    report: &mut Report<'_>,
) -> bool {
    let ranging = cell.entry.as_ref().map_or(0, |entry| entry.ranging_opportunities);
    let symbols = ranging.saturating_mul(2).saturating_add(cell.requests.opportunities);
    if cell.ofdma.is_none() || symbols <= uplink_symbols {
        return true;
    }
    let message = format!(
        "opportunities take {symbols} symbols behind each other, one each and two each for ranging, and the uplink has {uplink_symbols}"
    );
    let help = "write fewer `opportunities`; several stations can use one by different codes";
    report.add(&join(at, ["requests", "opportunities"]), message, help);
    false
}
