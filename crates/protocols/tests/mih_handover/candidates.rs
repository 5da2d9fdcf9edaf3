//! Who is asked, in which order, and what follows a refusal.

use crate::net::{GOING_DOWN, Net};
use roamsim_protocols::mih::MessageId;
use roamsim_protocols::mih::handover::{Cause, GivenUp, Initiation, Milestone, Resources};

#[test]
fn a_candidate_without_resources_is_passed_over_and_one_that_refuses_is_followed_by_the_next() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = Net::new(initiation, true);
        net.resources[0] = Resources::new(Some(0));
        net.at(0, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        let redirects =
            |milestone: &(u64, Milestone)| milestone.1 == Milestone::RedirectBegun(1, Cause::Commit);
        assert!(milestones.iter().any(redirects), "{milestones:?}");
        assert!(!milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
        // None has any.
        let mut net = Net::new(initiation, true);
        net.resources = vec![Resources::new(Some(0)), Resources::new(Some(0))];
        net.at(0, GOING_DOWN);
        net.run();
        let last = net.milestones_ms().pop().map(|(_, milestone)| milestone);
        assert_eq!(last, Some(Milestone::GivenUp(GivenUp::NoCandidate)));
    }
}

#[test]
fn a_commitment_that_cannot_be_had_is_followed_by_the_next_candidate() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = Net::new(initiation, true);
        // The PoS of the first one never hears of it.
        net.lost.push((MessageId::N2N_HO_COMMIT_REQUEST, false, 3));
        net.at(0, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        let asked: Vec<usize> = milestones
            .iter()
            .filter_map(|(_, milestone)| {
                if let Milestone::CommitAsked(candidate) = milestone { Some(*candidate) } else { None }
            })
            .collect();
        assert_eq!(asked, [0, 1], "{milestones:?}");
    }
}

#[test]
fn candidates_come_in_the_order_of_preference_whoever_is_heard_or_answers_first() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = Net::new(initiation, true);
        net.heard = vec![1, 0];
        net.lost.push((MessageId::N2N_HO_QUERY_RESOURCES_REQUEST, false, 1));
        net.at(0, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
        assert!(!milestones.iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(1)));
    }
}
