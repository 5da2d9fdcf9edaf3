//! A mobile node that comes back, and its next handover.

use crate::net::{
    CANDIDATES, Coming, GOING_DOWN, MOBILE_NODE, Net, SERVING, Settings, serving_link, session,
};
use roamsim_engine::{Span, Time};
use roamsim_protocols::Context;
use roamsim_protocols::mih::MessageId;
use roamsim_protocols::mih::handover::policy::{Entry, Policy};
use roamsim_protocols::mih::handover::{
    CandidateCue, Cause, Command, Initiation, LinkCue, Milestone, Trigger,
};

#[test]
fn a_mobile_node_comes_back_when_the_new_link_is_down_and_its_next_handover_begins_anew() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let home = CANDIDATES.len();
        let mut net = Net::new(initiation, true);
        net.at(0, GOING_DOWN);
        net.at(3000, LinkCue::Rollback);
        net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
        net.after(Span::from_ms(5000), Coming::Candidate(0, CandidateCue::Up));
        net.at(6000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        let back = (4000, Milestone::RedirectBegun(home, Cause::LinkDown));
        assert!(milestones.contains(&back), "{initiation:?} {milestones:?}");
        assert!(
            milestones.contains(&(6000, Milestone::Started(Trigger::GoingDown))),
            "{initiation:?} {milestones:?}"
        );
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
        // Where the old link is not up, it waits for whichever comes first.
        for (first, to) in [(LinkCue::Up, home), (LinkCue::Down, 1)] {
            let mut net = Net::new(initiation, true);
            net.mobile_node.handle_candidate_event(1, CandidateCue::Gone);
            net.at(0, GOING_DOWN);
            net.at(3000, LinkCue::Down);
            net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
            net.at(5000, first);
            net.after(Span::from_ms(5500), Coming::Candidate(1, CandidateCue::Up));
            net.run();
            let begun = Milestone::RedirectBegun(to, Cause::LinkDown);
            assert!(
                net.milestones_ms().iter().any(|(_, milestone)| *milestone == begun),
                "{initiation:?} {to}"
            );
        }
    }
}

#[test]
fn a_network_whose_question_nobody_will_answer_decides_anew_once_the_mobile_node_is_back() {
    // The link is down amid the scan; amid a commitment whose request is lost.
    for (down_ms, acknowledgement) in [(700, true), (1500, false)] {
        let mut net = Net::new(Initiation::Network, acknowledgement);
        if !acknowledgement {
            net.lost.push((MessageId::N2N_HO_COMMIT_REQUEST, false, 1));
        }
        net.at(0, GOING_DOWN);
        net.at(down_ms, LinkCue::Down);
        net.at(2500, LinkCue::Up);
        net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
        net.after(Span::from_ms(5000), Coming::Candidate(0, CandidateCue::Up));
        net.at(6000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(down_ms, Milestone::RedirectBegun(0, Cause::LinkDown))));
        assert!(
            milestones.contains(&(6000, Milestone::Started(Trigger::GoingDown))),
            "{down_ms} {milestones:?}"
        );
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
    }
}

#[test]
fn a_first_registration_amid_a_handover_says_nothing() {
    let mut net = Net::new(Initiation::Network, true);
    let mut cx = Context { now: Time::ZERO, random: &mut net.random };
    let links = vec![serving_link().link];
    net.mihfs[MOBILE_NODE].register(&mut cx, session(MOBILE_NODE, SERVING), links);
    net.at(0, GOING_DOWN);
    net.run();
    // As without it, but for the answer that goes before.
    assert!(net.milestones_ms().contains(&(1340, Milestone::Committed(0))), "{:?}", net.milestones_ms());
}

#[test]
fn candidates_are_left_again_by_who_is_back_where_they_are_entered_when_it_is_agreed() {
    for (entry, left) in [(Entry::AfterCommitment, vec![0, 1]), (Entry::Before, Vec::new())] {
        let mut net = Net::with(Settings {
            policy: Policy { entry, ..Policy::PLAIN },
            ..Settings::of(Initiation::Mobile)
        });
        net.at(0, GOING_DOWN);
        net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
        net.run();
        let left: Vec<(u64, Command)> = left.into_iter().map(|at| (4040, Command::Leave(at))).collect();
        let found: Vec<(u64, Command)> =
            net.acts.iter().copied().filter(|(_, command)| matches!(command, Command::Leave(_))).collect();
        assert_eq!(found, left, "{entry:?}");
    }
}
