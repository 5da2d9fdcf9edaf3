//! From the keys of transfers that arrive to their source.

use super::model::Transfers;
use crate::distribution::build::size_distribution;
use roamsim_network::Distribution;
use roamsim_network::application as network;
use roamsim_network::application::{Activity, Arrivals};

pub(crate) fn source(model: &Transfers, activity: Activity) -> network::Transfers {
    let Transfers { rate_per_s, size, trace: _, content: _, max_connections: _, start: _, stop: _ } = model;
    // Validation refuses what says nothing of its arrivals.
    let arrivals = match (rate_per_s, size) {
        (Some(rate_per_s), Some(size)) => Arrivals::Drawn {
            interval: Distribution::Exponential { mean: (1e9 / rate_per_s).round() as u64 },
            size: size_distribution(size),
        },
        _ => Arrivals::Listed(model.listed().and_then(Result::ok).cloned().unwrap_or_default()),
    };
    network::Transfers::new(activity, arrivals)
}

/// Transfers a second, and their mean size in octets, over so many seconds.
pub(crate) fn mean(
    model: &Transfers,
    mean_bytes: impl FnOnce(&crate::distribution::model::SizeDistribution) -> f64,
) -> Option<(f64, f64)> {
    if let (Some(rate_per_s), Some(size)) = (model.rate_per_s, &model.size) {
        return Some((rate_per_s, mean_bytes(size)));
    }
    let list = model.listed()?.ok()?;
    let sum: f64 = list.iter().map(|&(_, bytes)| f64::from(bytes)).sum();
    let lasts_s = list.last()?.0.as_secs_f64().max(1.0);
    Some((list.len() as f64 / lasts_s, sum / list.len() as f64))
}
