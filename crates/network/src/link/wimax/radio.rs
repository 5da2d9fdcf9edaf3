//! What of a signal arrives, and which burst profiles are understood (IEEE Std 802.16-2004 clauses 8.3.11.1,
//! 6.3.2.3.44).
//!
//! The signal falls with distance; noise is the thermal one of the used subcarriers, with the noise figure of
//! a receiver and the loss of its implementation. A burst profile is understood where signal over noise has
//! its threshold. As nothing of it is drawn, each profile reaches so far, and no further: distances are what
//! is compared.
//!
//! Where profiles adapt, the fastest is taken whose threshold is passed by a margin; a faster one than the
//! present has to pass it by the hysteresis as well.
//!
//! Where there is a table of block errors of a profile it stands in place of its threshold
//! ([`super::block_errors`]).
//!
//! Not modelled: shadowing and fading, power control, interference between cells.

use super::block_errors::BlockErrors;
use super::layout::FrameLayout;
use super::phy::{BurstProfile, PROFILES, SymbolClock, Unit};
use crate::link::propagation::{Propagation, thermal_noise_dbm};

/// The radio of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// How power falls with distance, and the base station's. Without shadowing.
    pub propagation: Propagation,
    /// The power of each station.
    pub station_power_dbm: f64,
    /// What a receiver adds to the thermal noise, in dB.
    pub noise_figure_db: f64,
    /// What a receiver loses beside, in dB.
    pub implementation_margin_db: f64,
    /// By burst profile, the least signal over noise, in dB.
    pub thresholds_db: [f64; PROFILES],
    /// Block errors, of burst profiles that do not go by their threshold.
    pub block_errors: BlockErrors,
    /// By what factor above the least power for maps a falling signal is low.
    pub going_down_factor: f64,
    /// How burst profiles adapt; `None`: they stay.
    pub adaptation: Option<Adaptation>,
}

/// How burst profiles follow the signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// How far above its threshold a profile is left for a more robust one, in dB.
    pub margin_db: f64,
    /// How much further above it is entered, in dB.
    pub hysteresis_db: f64,
}

/// The thresholds that the standard has receivers meet: of OFDM (IEEE Std 802.16-2004 table 266), and of
/// OFDMA, which has no BPSK (IEEE Std 802.16e-2005 table 338).
pub fn thresholds_db(unit: Unit) -> [f64; PROFILES] {
    match unit {
        Unit::Symbol => [6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4],
        Unit::Slot => [f64::INFINITY, 5.0, 8.0, 10.5, 14.0, 18.0, 20.0],
    }
}

impl RadioConfig {
    /// The power of noise, in dBm, with what a receiver adds and loses.
    pub fn noise_dbm(&self, clock: SymbolClock) -> f64 {
        thermal_noise_dbm(clock.sampling_hz() as f64 * clock.used_part())
            + self.noise_figure_db
            + self.implementation_margin_db
    }

    /// Signal over noise at a distance, at stations or at the base station, in dB.
    pub fn signal_to_noise_db(&self, clock: SymbolClock, distance_m: f64, uplink: bool) -> f64 {
        self.sent(uplink).received_dbm(distance_m) - self.noise_dbm(clock)
    }

    /// How the power of the base station, or of stations, falls with distance.
    fn sent(&self, uplink: bool) -> Propagation {
        let power_dbm = if uplink { self.station_power_dbm } else { self.propagation.transmit_power_dbm };
        Propagation { transmit_power_dbm: power_dbm, ..self.propagation }
    }

    /// The least power that a profile needs, in dBm.
    pub fn least_dbm(&self, clock: SymbolClock, profile: BurstProfile) -> f64 {
        self.noise_dbm(clock) + self.thresholds_db[profile as usize]
    }

    /// How far a profile is understood, by stations or by the base station, where it has so many decibels to
    /// spare.
    pub fn reach_m(&self, clock: SymbolClock, profile: BurstProfile, uplink: bool, spare_db: f64) -> f64 {
        self.sent(uplink).reach_m(self.least_dbm(clock, profile) + spare_db)
    }
}

/// How far each profile reaches in one direction, in metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaches {
    /// Those of the cell, the most robust first.
    profiles: &'static [BurstProfile],
    understood: [f64; PROFILES],
    /// Where one that is used is left, and where one that is not is entered.
    left: [f64; PROFILES],
    entered: [f64; PROFILES],
}

impl Reaches {
    pub fn new(radio: &RadioConfig, layout: &FrameLayout, uplink: bool) -> Reaches {
        let (profiles, clock) = (layout.profiles(), layout.clock);
        let by = |spare_db| BurstProfile::ALL.map(|profile| radio.reach_m(clock, profile, uplink, spare_db));
        let Adaptation { margin_db, hysteresis_db } =
            radio.adaptation.unwrap_or(Adaptation { margin_db: 0.0, hysteresis_db: 0.0 });
        Reaches { profiles, understood: by(0.0), left: by(margin_db), entered: by(margin_db + hysteresis_db) }
    }

    /// Whether a burst is understood at a distance.
    pub fn is_understood(&self, profile: BurstProfile, distance_m: f64) -> bool {
        distance_m <= self.understood[profile as usize]
    }

    /// The profile for a distance, where this one is used.
    pub fn adapted(&self, present: BurstProfile, distance_m: f64) -> BurstProfile {
        let fits = |profile: &BurstProfile| {
            let reach_m = if *profile > present { &self.entered } else { &self.left };
            distance_m <= reach_m[*profile as usize]
        };
        self.profiles.iter().copied().rev().find(fits).unwrap_or(self.profiles[0])
    }
}

#[cfg(test)]
mod tests {
    use super::super::phy::CyclicPrefix;
    use super::*;
    use crate::link::propagation::PathLoss;

    /// 30 dBm at 3.5 GHz, 5 MHz, open space.
    fn radio() -> (RadioConfig, SymbolClock) {
        let clock = SymbolClock::new(5_000_000, CyclicPrefix::Eighth).expect("a bandwidth of the standard");
        let propagation = Propagation {
            transmit_power_dbm: 30.0,
            frequency_hz: 3.5e9,
            path_loss: PathLoss::FreeSpace,
            shadowing_deviation_db: 0.0,
        };
        let radio = RadioConfig {
            propagation,
            station_power_dbm: 20.0,
            noise_figure_db: 7.0,
            implementation_margin_db: 5.0,
            thresholds_db: thresholds_db(Unit::Symbol),
            block_errors: BlockErrors::default(),
            going_down_factor: 1.0,
            adaptation: Some(Adaptation { margin_db: 1.0, hysteresis_db: 2.0 }),
        };
        (radio, clock)
    }

    #[test]
    fn the_least_power_is_the_sensitivity_of_the_standard() {
        let (radio, clock) = radio();
        // -102 + SNR + 10 log10(Fs 200 / 256), Fs in MHz (clause 8.3.11.1): 5.76 MHz make 4.5, 6.532 dB. -102
        // is -113.975 + 12 rounded.
        for (profile, expected) in
            [(BurstProfile::Bpsk12, -102.0 + 6.4 + 6.532), (BurstProfile::Qam64R34, -102.0 + 24.4 + 6.532)]
        {
            let found = radio.least_dbm(clock, profile);
            assert!((found - expected).abs() < 0.03, "{found} for {expected}");
        }
    }

    #[test]
    fn a_profile_reaches_as_far_as_its_threshold_lets_it() {
        let (radio, clock) = radio();
        // 30 + 71.043 dB: 0.085655 m / 4 pi * 10^(101.043 / 20) = 0.0068162 * 112,759 = 768.6 m. Ten times
        // less power: 10^0.5 less far.
        let reach_m = |uplink| radio.reach_m(clock, BurstProfile::Qam64R34, uplink, 0.0);
        assert!((reach_m(false) - 768.6).abs() < 1.0, "{}", reach_m(false));
        assert!((reach_m(false) / reach_m(true) - 10f64.sqrt()).abs() < 1e-6);
        let reaches = Reaches::new(&radio, &super::super::tests::layout(), false);
        assert!(reaches.is_understood(BurstProfile::Qam64R34, 768.0));
        assert!(!reaches.is_understood(BurstProfile::Qam64R34, 770.0));
    }

    #[test]
    fn a_profile_is_left_at_its_margin_and_entered_behind_the_hysteresis() {
        let (radio, clock) = radio();
        let reaches = Reaches::new(&radio, &super::super::tests::layout(), false);
        let at = |present, spare_db| {
            reaches.adapted(present, radio.reach_m(clock, BurstProfile::Qam64R34, false, spare_db))
        };
        let (slower, fastest) = (BurstProfile::Qam64R23, BurstProfile::Qam64R34);
        assert_eq!((at(fastest, 1.01), at(fastest, 0.99)), (fastest, slower));
        assert_eq!((at(slower, 2.99), at(slower, 3.01)), (slower, fastest));
        // Several steps at once; and nothing is more robust than BPSK 1/2.
        assert_eq!(reaches.adapted(BurstProfile::Bpsk12, 1.0), fastest);
        assert_eq!(reaches.adapted(fastest, 1e6), BurstProfile::Bpsk12);
    }
}
