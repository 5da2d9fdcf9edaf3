//! The interface that costs the least. One without a price costs nothing. Of equally cheap ones the selected
//! one stays; else the one that is named first is taken.

use super::Candidate;

/// The cheapest of these places among the candidates.
pub(super) fn best(among: &[usize], candidates: &[Candidate], current: Option<usize>) -> Option<usize> {
    let cost = |at: usize| candidates[at].cost_per_mb.unwrap_or(0.0);
    let order = |&a: &usize, &b: &usize| {
        let stays = (Some(a) != current).cmp(&(Some(b) != current));
        cost(a).total_cmp(&cost(b)).then(stays).then(candidates[a].rank.cmp(&candidates[b].rank))
    };
    among.iter().copied().min_by(order)
}
