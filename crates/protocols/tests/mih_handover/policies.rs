//! Policies: when to act, whom to choose, when to enter and to leave, what follows no answer.

use crate::net::{CANDIDATES, Coming, GOING_DOWN, Net, Settings, under};
use roamsim_engine::Span;
use roamsim_protocols::mih::handover::policy::{ActOn, Choice, Entry, NoAnswer, OldLink, Policy, Then};
use roamsim_protocols::mih::handover::{
    CandidateCue, Cause, Command, GivenUp, Initiation, LinkCue, Milestone, Resources, Trigger,
};
use roamsim_protocols::mih::{MessageId, MessageTimers};

#[test]
fn who_acts_ahead_waits_for_it_unless_the_link_recovers() {
    let policy = Policy { act_on: ActOn::GoingDown { ahead: Some(Span::from_ms(3000)) }, ..Policy::PLAIN };
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let milestones = under(initiation, policy, |_| {}).milestones_ms();
        assert_eq!(milestones[0], (6400, Milestone::Started(Trigger::GoingDown)), "{initiation:?}");
        let mut net = Net::with(Settings { policy, ..Settings::of(initiation) });
        net.at(0, GOING_DOWN);
        net.at(6000, LinkCue::Rollback);
        net.run();
        assert!(!net.milestones_ms().iter().any(|(_, milestone)| matches!(milestone, Milestone::Started(_))));
    }
}

#[test]
fn who_acts_on_link_down_prepares_nothing_and_who_acts_on_link_detected_waits_for_nothing() {
    let down = Policy { act_on: ActOn::Down, ..Policy::PLAIN };
    let net = under(Initiation::Mobile, down, |_| {});
    let begun = (9400, Milestone::RedirectBegun(0, Cause::LinkDown));
    assert_eq!(net.milestones_ms(), [begun, (9440, Milestone::Redirected)]);
    assert!(net.sent.is_empty());
    let detected = Policy { act_on: ActOn::Detected, ..Policy::PLAIN };
    let net = under(Initiation::Mobile, detected, |net| {
        net.after(Span::from_ms(500), Coming::Candidate(0, CandidateCue::Detected));
        // It begins upon the other one, and is not taken back by what the old link does.
        net.after(Span::from_ms(700), Coming::Candidate(1, CandidateCue::Detected));
        net.at(800, LinkCue::Rollback);
    });
    assert_eq!(net.milestones_ms()[0], (500, Milestone::Started(Trigger::Detected(0))));
    assert!(net.milestones_ms().contains(&(2060, Milestone::Committed(0))), "{:?}", net.milestones_ms());
}

#[test]
fn who_acts_on_thresholds_tries_anew_what_came_to_nothing_and_takes_nothing_back() {
    let policy = Policy { act_on: ActOn::Crossed, ..Policy::PLAIN };
    let started = |net: &Net| -> Vec<u64> {
        let all = net.milestones_ms().into_iter();
        let crossed = Milestone::Started(Trigger::Crossed);
        all.filter(|(_, milestone)| *milestone == crossed).map(|(at_ms, _)| at_ms).collect()
    };
    let net = under(Initiation::Mobile, policy, |net| {
        net.at(100, LinkCue::Crossed);
        net.at(300, LinkCue::Rollback);
        net.at(400, LinkCue::Crossed);
    });
    assert_eq!(started(&net), [100]);
    assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::Committed(0)));
    let net = under(Initiation::Mobile, policy, |net| {
        net.heard = Vec::new();
        net.at(100, LinkCue::Crossed);
        net.at(5000, LinkCue::Crossed);
    });
    assert_eq!(started(&net), [100, 5000]);
    let net = under(Initiation::Mobile, Policy::PLAIN, |net| net.at(100, LinkCue::Crossed));
    assert!(!started(&net).contains(&100));
}

#[test]
fn candidates_are_chosen_by_order_by_signal_or_by_room() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        for (choice, first) in [(Choice::Order, 0), (Choice::Signal, 1), (Choice::FreeCapacity, 1)] {
            let policy = Policy { choice, ..Policy::PLAIN };
            let net = under(initiation, policy, |net| {
                // The second is heard better, and has more room.
                net.heard = vec![1, 0];
                net.resources = vec![Resources::new(Some(3)), Resources::new(None)];
            });
            let asked = net
                .milestones_ms()
                .into_iter()
                .find(|(_, milestone)| matches!(milestone, Milestone::CommitAsked(_)));
            let asked = asked.map(|(_, milestone)| milestone);
            assert_eq!(asked, Some(Milestone::CommitAsked(first)), "{initiation:?} {choice:?}");
        }
        // By room, whatever is heard better.
        let policy = Policy { choice: Choice::FreeCapacity, ..Policy::PLAIN };
        let net = under(initiation, policy, |net| {
            net.heard = vec![1, 0];
            net.resources = vec![Resources::new(Some(3)), Resources::new(Some(2))];
        });
        assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::CommitAsked(0)));
    }
}

#[test]
fn a_link_is_entered_when_it_is_agreed_and_traffic_waits_for_it() {
    let policy = Policy { entry: Entry::AfterCommitment, ..Policy::PLAIN };
    for (initiation, committed_ms) in [(Initiation::Mobile, 1560), (Initiation::Network, 1340)] {
        let net = under(initiation, policy, |_| {});
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(committed_ms, Milestone::Committed(0))), "{milestones:?}");
        let begun = (committed_ms + 300, Milestone::RedirectBegun(0, Cause::Commit));
        assert!(milestones.contains(&begun), "{milestones:?}");
        assert!(milestones.iter().any(|(_, milestone)| *milestone == Milestone::Completed));
        assert!(net.acts.contains(&(committed_ms, Command::Enter(0))));
    }
    // Also where the old link is down before it is up.
    let mut net = Net::with(Settings { policy, ..Settings::of(Initiation::Mobile) });
    net.at(0, GOING_DOWN);
    net.at(1700, LinkCue::Down);
    net.run();
    assert!(net.milestones_ms().contains(&(1860, Milestone::RedirectBegun(0, Cause::Commit))));
}

#[test]
fn a_commitment_for_a_link_that_is_lost_takes_another_that_is_up() {
    let net = under(Initiation::Mobile, Policy::PLAIN, |net| {
        net.mobile_node.handle_candidate_event(0, CandidateCue::Gone);
        net.after(Span::from_ms(1700), Coming::Candidate(0, CandidateCue::Gone));
    });
    // Agreed on at 1560 ms; lost 160 ms before it would be up.
    let begun = (1700, Milestone::RedirectBegun(1, Cause::Commit));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
    assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::Completed));
}

#[test]
fn the_old_link_is_kept_or_given_up_when_it_is_committed_redirected_or_complete() {
    for (initiation, committed_ms) in [(Initiation::Mobile, 1560), (Initiation::Network, 1340)] {
        // Redirected 40 ms later, completed 480 ms after that. Who breaks first has answered before: the
        // network waits for the processing of its request.
        let answered_ms = if initiation == Initiation::Mobile { 0 } else { 200 };
        for (old_link, left_ms) in [
            (OldLink::Kept, None),
            (OldLink::UntilCompleted, Some(committed_ms + 40 + 480)),
            (OldLink::UntilRedirected, Some(committed_ms + 40)),
            (OldLink::UntilCommitted, Some(committed_ms + answered_ms + 10)),
        ] {
            let net = under(initiation, Policy { old_link, ..Policy::PLAIN }, |_| {});
            let left = net.acts.iter().find(|(_, command)| *command == Command::Leave(CANDIDATES.len()));
            assert_eq!(left.map(|&(at_ms, _)| at_ms), left_ms, "{initiation:?} {old_link:?}");
            let begun_ms = if old_link == OldLink::UntilCommitted { left_ms } else { Some(committed_ms) };
            let begun = net
                .milestones_ms()
                .into_iter()
                .find(|(_, milestone)| matches!(milestone, Milestone::RedirectBegun(0, Cause::Commit)));
            assert_eq!(begun.map(|(at_ms, _)| at_ms), begun_ms, "{initiation:?} {old_link:?}");
            assert!(net.milestones_ms().iter().any(|(_, milestone)| *milestone == Milestone::Completed));
        }
    }
}

#[test]
fn an_answer_that_does_not_come_is_waited_for_asked_for_again_given_up_or_done_without() {
    let after = Span::from_ms(700);
    // Without acknowledgements nothing else tells of the loss. Asked at 1080 ms.
    let lost = |then: Option<Then>| {
        let policy = Policy { no_answer: then.map(|then| NoAnswer { after, then }), ..Policy::PLAIN };
        let settings = Settings { policy, acknowledgement: false, ..Settings::of(Initiation::Mobile) };
        let mut net = Net::with(settings);
        net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 1));
        net.at(0, GOING_DOWN);
        net.at(9400, LinkCue::Down);
        net.run();
        net.milestones_ms()
    };
    let begun = |milestones: &[(u64, Milestone)]| {
        let is = |milestone: &&(u64, Milestone)| matches!(milestone.1, Milestone::RedirectBegun(..));
        milestones.iter().find(is).copied()
    };
    assert_eq!(begun(&lost(None)), Some((9400, Milestone::RedirectBegun(0, Cause::LinkDown))));
    let repeated = Some((1780 + 480, Milestone::RedirectBegun(0, Cause::Commit)));
    assert_eq!(begun(&lost(Some(Then::Repeat))), repeated);
    let aborted = lost(Some(Then::Abort));
    assert!(aborted.contains(&(1780, Milestone::GivenUp(GivenUp::NoAnswer))));
    assert_eq!(begun(&aborted), Some((9400, Milestone::RedirectBegun(0, Cause::LinkDown))));
    let other = Some((1780, Milestone::RedirectBegun(0, Cause::NoAnswer)));
    assert_eq!(begun(&lost(Some(Then::OtherInterface))), other);
}

#[test]
fn an_answer_to_an_earlier_request_counts_as_one_to_its_repetition() {
    // The answer takes 480 ms, and is asked for again after 400 ms.
    let no_answer = Some(NoAnswer { after: Span::from_ms(400), then: Then::Repeat });
    let policy = Policy { no_answer, ..Policy::PLAIN };
    let net = under(Initiation::Mobile, policy, |_| {});
    assert!(net.milestones_ms().contains(&(1560, Milestone::Committed(0))), "{:?}", net.milestones_ms());
    // The answers to both repetitions come when nobody waits for them any more.
    assert_eq!(net.mobile_node.unexpected(), 2);
    let net = under(Initiation::Network, policy, |_| {});
    // The scan is asked for at 240 ms and answered at 1080 ms, twice repeated.
    assert!(net.milestones_ms().contains(&(1080, Milestone::CommitAsked(0))), "{:?}", net.milestones_ms());
}

#[test]
fn a_network_asks_again_or_gives_up_what_is_not_answered() {
    for (mid, given_up_ms) in [
        (MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, 240 + 900),
        (MessageId::NET_HO_COMMIT_REQUEST, 1320 + 900),
    ] {
        for then in [Then::Repeat, Then::Abort] {
            let no_answer = Some(NoAnswer { after: Span::from_ms(900), then });
            let policy = Policy { no_answer, ..Policy::PLAIN };
            let settings = Settings { policy, acknowledgement: false, ..Settings::of(Initiation::Network) };
            let mut net = Net::with(settings);
            net.lost.push((mid, false, 1));
            net.at(0, GOING_DOWN);
            net.at(9400, LinkCue::Down);
            net.run();
            let milestones = net.milestones_ms();
            let commits = milestones
                .iter()
                .any(|(_, milestone)| matches!(milestone, Milestone::RedirectBegun(0, Cause::Commit)));
            assert_eq!(commits, then == Then::Repeat, "{mid} {milestones:?}");
            let given_up = milestones.contains(&(given_up_ms, Milestone::GivenUp(GivenUp::Message)));
            assert_eq!(given_up, then == Then::Abort, "{mid} {milestones:?}");
        }
    }
}

#[test]
fn a_message_has_timers_of_its_own_beside_those_of_the_rest() {
    let timers = |mid, timeout_ms, retransmissions| MessageTimers {
        mid,
        timeout: Span::from_ms(timeout_ms),
        retransmissions,
    };
    let mut net = Net::with(Settings {
        timers: vec![
            timers(MessageId::MN_HO_COMMIT_REQUEST, 50, 4),
            timers(MessageId::MN_HO_COMMIT_RESPONSE, 30, 9),
        ],
        ..Settings::of(Initiation::Mobile)
    });
    // Others are repeated after 100 ms.
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, false, 1));
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 4));
    net.lost.push((MessageId::MN_HO_COMMIT_RESPONSE, false, 5));
    net.at(0, GOING_DOWN);
    net.run();
    let sent = |mid: MessageId| -> Vec<u64> {
        let of = net.sent.iter().filter(|(_, other, ack)| (*other, *ack) == (mid, false));
        of.map(|(at, ..)| at.as_ns() / 1_000_000).collect()
    };
    assert_eq!(sent(MessageId::MN_HO_CANDIDATE_QUERY_REQUEST), [600, 700]);
    assert_eq!(sent(MessageId::MN_HO_COMMIT_REQUEST), [1180, 1230, 1280, 1330, 1380]);
    // Answered at 1380 + 20 + 200 + 240 ms; five are lost, and the ACK of the sixth takes 40 ms.
    assert_eq!(sent(MessageId::MN_HO_COMMIT_RESPONSE), [1840, 1870, 1900, 1930, 1960, 1990, 2020]);
}
