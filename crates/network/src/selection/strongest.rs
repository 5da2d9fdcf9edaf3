//! The interface with the strongest signal, with a hysteresis: the received signal strength policy of
//! horizontal handovers. An interface without a signal is taken only if none with one can be. Signals of
//! different technologies are compared as they are, in dBm.

use super::Candidate;

/// The strongest of these places among the candidates. The selected one stays unless another is stronger by
/// more than the hysteresis.
pub(super) fn best(
    among: &[usize],
    candidates: &[Candidate],
    current: Option<usize>,
    hysteresis_db: f64,
) -> Option<usize> {
    let signal_dbm = |at: usize| candidates[at].signal_dbm;
    let of = |at: usize| signal_dbm(at).unwrap_or(f64::NEG_INFINITY);
    let order =
        |&a: &usize, &b: &usize| of(b).total_cmp(&of(a)).then(candidates[a].rank.cmp(&candidates[b].rank));
    let best = among.iter().copied().min_by(order)?;
    let own = current.filter(|current| among.contains(current));
    let stays = own.filter(|&own| match (signal_dbm(own), signal_dbm(best)) {
        (Some(own_dbm), Some(best_dbm)) => best_dbm - own_dbm <= hysteresis_db,
        (own_dbm, best_dbm) => own_dbm.is_some() == best_dbm.is_some(),
    });
    stays.or(Some(best))
}
