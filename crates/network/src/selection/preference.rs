//! The interface that the user names first, as the network lists and metered flags of phones do. Of those
//! that share a place, the selected one stays; else the stronger one is taken.

use super::Candidate;

/// The preferred one of these places among the candidates.
pub(super) fn best(among: &[usize], candidates: &[Candidate], current: Option<usize>) -> Option<usize> {
    let signal_dbm = |at: usize| candidates[at].signal_dbm.unwrap_or(f64::NEG_INFINITY);
    let order = |&a: &usize, &b: &usize| {
        let rank = candidates[a].rank.cmp(&candidates[b].rank);
        let stays = (Some(a) != current).cmp(&(Some(b) != current));
        rank.then(stays).then(signal_dbm(b).total_cmp(&signal_dbm(a)))
    };
    among.iter().copied().min_by(order)
}
