//! What links do amid a handover: they recover, go down, or go down again.

use crate::net::{CANDIDATES, Coming, GOING_DOWN, MOBILE_NODE, Net, SERVING, serving_link, session, under};
use roamsim_engine::{Span, Time};
use roamsim_protocols::Context;
use roamsim_protocols::mih::handover::policy::{ActOn, Entry, Policy};
use roamsim_protocols::mih::handover::{
    CandidateCue, Cause, Command, GivenUp, Initiation, LinkCue, Milestone, Resources, Trigger,
};
use roamsim_protocols::mih::wire::link::LinkGoingDownReason;
use roamsim_protocols::mih::{MessageId, Tlv, Validity};

#[test]
fn what_may_still_be_answered_is_taken_back_with_the_rest_when_the_link_recovers() {
    for (initiation, request) in [
        (Initiation::Mobile, MessageId::MN_HO_COMMIT_REQUEST),
        (Initiation::Network, MessageId::N2N_HO_COMMIT_REQUEST),
        (Initiation::Network, MessageId::NET_HO_COMMIT_REQUEST),
    ] {
        let mut net = Net::accepting(initiation, true, Validity::Open);
        net.heard = vec![0];
        // The first time it is never heard.
        net.lost.push((request, false, 3));
        net.at(0, GOING_DOWN);
        net.at(4000, LinkCue::Rollback);
        net.at(5000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(4000, Milestone::GivenUp(GivenUp::Rollback))), "{milestones:?}");
        assert!(milestones.contains(&(5000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
        assert!(
            milestones
                .iter()
                .any(|(at_ms, milestone)| *at_ms > 5000 && matches!(milestone, Milestone::CommitAsked(0)))
        );
    }
}

#[test]
fn a_network_that_is_told_hears_of_the_recovery_as_well() {
    let mut net = Net::new(Initiation::Network, true);
    let mut cx = Context { now: Time::ZERO, random: &mut net.random };
    let link = || Tlv::LinkIdentifier(serving_link());
    let tlvs = [link(), Tlv::TimeInterval(9000), Tlv::LinkGoingDownReason(LinkGoingDownReason::LOW_POWER)];
    let (mobile_node, serving) = (MOBILE_NODE, session(MOBILE_NODE, SERVING));
    net.mihfs[mobile_node].indicate(&mut cx, serving, MessageId::LINK_GOING_DOWN_INDICATION, tlvs, None);
    let mid = MessageId::LINK_PARAMETERS_REPORT_INDICATION;
    net.mihfs[mobile_node].indicate(
        &mut cx,
        serving,
        mid,
        [link(), Tlv::LinkParameterReportList(vec![])],
        None,
    );
    net.run();
    let [.., asked, back] = net.milestones_ms()[..] else { panic!("{:?}", net.milestones) };
    // Both take 20 ms.
    assert_eq!(asked, (20, Milestone::ResourcesAsked));
    assert_eq!(back, (20, Milestone::GivenUp(GivenUp::Rollback)));
}

#[test]
fn a_link_that_recovers_ends_the_preparation_and_the_next_event_begins_anew() {
    // The network asks for resources, then for a scan, which goes on.
    for (initiation, rollback_ms) in [
        (Initiation::Mobile, 300),
        (Initiation::Network, 100),
        (Initiation::Network, 300),
        (Initiation::Network, 700),
    ] {
        let mut net = Net::new(initiation, true);
        net.at(0, GOING_DOWN);
        net.at(rollback_ms, LinkCue::Rollback);
        net.at(5000, GOING_DOWN);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(rollback_ms, Milestone::GivenUp(GivenUp::Rollback))), "{milestones:?}");
        assert!(milestones.contains(&(5000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
        assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
    }
}

#[test]
fn further_events_of_a_link_amid_a_handover_change_nothing() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.at(100, GOING_DOWN);
    net.at(1200, LinkCue::Rollback);
    net.at(1590, LinkCue::Down);
    net.run();
    let began = net
        .milestones_ms()
        .iter()
        .filter(|(_, milestone)| matches!(milestone, Milestone::Started(_)))
        .count();
    assert_eq!(began, 1);
    assert!(net.milestones_ms().contains(&(1600, Milestone::Redirected)));
    // The network has asked for a commitment at 1080 ms.
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, GOING_DOWN);
    net.at(1200, LinkCue::Rollback);
    net.run();
    assert!(net.milestones_ms().contains(&(1380, Milestone::Redirected)));
    assert!(!net.milestones_ms().contains(&(1200, Milestone::GivenUp(GivenUp::Rollback))));
}

#[test]
fn a_link_that_goes_down_amid_a_commitment_redirects_to_the_candidate_that_was_asked_for() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.resources[0] = Resources::new(Some(0));
    net.at(0, GOING_DOWN);
    net.at(1200, LinkCue::Down);
    net.run();
    let begun = (1200, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
}

#[test]
fn a_decision_that_is_taken_back_amid_a_scan_and_made_again_uses_that_scan() {
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, GOING_DOWN);
    net.at(500, LinkCue::Rollback);
    net.at(510, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    let scans = milestones.iter().filter(|(_, milestone)| *milestone == Milestone::ScanBegun).count();
    assert_eq!(scans, 1);
    // Begun at 460 ms; answered 20 ms after its end, and then as ever.
    assert!(milestones.contains(&(1080, Milestone::CommitAsked(0))), "{milestones:?}");
    assert_eq!(milestones.last().map(|&(_, milestone)| milestone), Some(Milestone::Completed));
}

#[test]
fn without_an_agreement_traffic_goes_to_who_is_there() {
    let down = Policy { act_on: ActOn::Down, ..Policy::PLAIN };
    let gone = |net: &mut Net, candidates: &[usize]| {
        for &candidate in candidates {
            net.mobile_node.handle_candidate_event(candidate, CandidateCue::Gone);
        }
    };
    let begun = |net: &Net, at_ms, to, cause| {
        let begun = (at_ms, Milestone::RedirectBegun(to, cause));
        assert!(net.milestones_ms().contains(&begun), "{begun:?} {:?}", net.milestones_ms());
    };
    // The first is out of reach.
    let net = under(Initiation::Mobile, down, |net| gone(net, &[0]));
    begun(&net, 9400, 1, Cause::LinkDown);
    // Both are; the first would be up 300 ms later.
    let net = under(Initiation::Mobile, down, |net| {
        gone(net, &[0, 1]);
        net.after(Span::from_ms(9500), Coming::Candidate(1, CandidateCue::Up));
    });
    begun(&net, 9500, 1, Cause::LinkDown);
    // The old network is back before any.
    let net = under(Initiation::Mobile, down, |net| {
        gone(net, &[0, 1]);
        net.at(9600, LinkCue::Up);
    });
    begun(&net, 9600, CANDIDATES.len(), Cause::LinkDown);
    // One that is heard meanwhile is entered.
    let after_commitment = Policy { entry: Entry::AfterCommitment, ..down };
    let net = under(Initiation::Mobile, after_commitment, |net| {
        net.after(Span::from_ms(9500), Coming::Candidate(1, CandidateCue::Detected));
    });
    assert!(net.acts.contains(&(9500, Command::Enter(1))), "{:?}", net.acts);
    // The one that was agreed on is lost 160 ms before it would be up, and no other is there: the old one is,
    // still.
    let net = under(Initiation::Mobile, Policy::PLAIN, |net| {
        gone(net, &[0, 1]);
        net.after(Span::from_ms(1700), Coming::Candidate(0, CandidateCue::Gone));
    });
    begun(&net, 1700, CANDIDATES.len(), Cause::LinkDown);
    // It is lost in use: the old one is down, another is up.
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.at(3000, LinkCue::Down);
    net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
    net.run();
    begun(&net, 4000, 1, Cause::LinkDown);
    // The old one is down again amid the way back.
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.after(Span::from_ms(4000), Coming::Candidate(0, CandidateCue::Gone));
    net.at(4010, LinkCue::Down);
    net.run();
    begun(&net, 4000, CANDIDATES.len(), Cause::LinkDown);
    begun(&net, 4010, 1, Cause::LinkDown);
}
