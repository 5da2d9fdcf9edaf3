//! What the machine knows of signals.

use super::clock;
use crate::access::wimax::burst_profile::BurstProfile;
use crate::access::wimax::model::Wimax;
use crate::access::wimax::radio::{Adaptation, BlockErrors, ProfileErrors, Radio, Threshold};
use roamsim_network::link::propagation::Propagation;
use roamsim_network::link::wimax::phy::Unit;
use roamsim_network::link::wimax::{
    Adaptation as NetworkAdaptation, BlockErrors as NetworkBlockErrors, RadioConfig, thresholds_db,
};

/// What the bursts of a cell are made of.
pub(crate) fn unit(cell: &Wimax) -> Unit {
    if cell.ofdma.is_some() { Unit::Slot } else { Unit::Symbol }
}

fn network_errors(table: Option<&BlockErrors>) -> NetworkBlockErrors {
    let mut errors = NetworkBlockErrors::default();
    let Some(BlockErrors { source, profiles }) = table else { return errors };
    errors.source.clone_from(source);
    for ProfileErrors { profile, points } in profiles {
        errors.points[profile.network() as usize].clone_from(points);
    }
    errors
}

impl Radio {
    /// The settings of the machine.
    pub(crate) fn config(&self, cell: &Wimax) -> RadioConfig {
        let &Radio {
            transmit_power_dbm,
            station_power_dbm,
            frequency_hz,
            path_loss,
            noise_figure_db,
            implementation_margin_db,
            ref thresholds,
            ref block_errors,
            going_down_factor,
            adaptation,
        } = self;
        let mut thresholds_db = thresholds_db(unit(cell));
        for &Threshold { profile, snr_db } in thresholds {
            thresholds_db[profile.network() as usize] = snr_db;
        }
        RadioConfig {
            propagation: Propagation {
                transmit_power_dbm,
                frequency_hz: frequency_hz as f64,
                path_loss: path_loss.network(),
                shadowing_deviation_db: 0.0,
            },
            station_power_dbm,
            noise_figure_db: noise_figure_db.unwrap_or(if cell.ofdma.is_some() { 8.0 } else { 7.0 }),
            implementation_margin_db,
            thresholds_db,
            block_errors: network_errors(block_errors.as_ref()),
            going_down_factor,
            adaptation: adaptation.map(|Adaptation { margin_db, hysteresis_db }| NetworkAdaptation {
                margin_db,
                hysteresis_db,
            }),
        }
    }

    /// How far bursts of a profile, to stations or from them, are understood in a cell; `None` in a channel
    /// of no standard.
    pub(crate) fn reach_m(&self, cell: &Wimax, profile: BurstProfile, uplink: bool) -> Option<f64> {
        Some(self.config(cell).reach_m(clock(cell)?, profile.network(), uplink, 0.0))
    }
}
