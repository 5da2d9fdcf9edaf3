//! Messages that are given up, and answers that come late or never.

use crate::net::{GOING_DOWN, Net};
use roamsim_protocols::mih::handover::{Cause, GivenUp, Initiation, LinkCue, Milestone, Resources, Trigger};
use roamsim_protocols::mih::{MessageId, Validity};

#[test]
fn a_message_that_is_given_up_ends_the_preparation_and_the_link_down_redirects() {
    for (initiation, mid, given_up_ms) in [
        (Initiation::Mobile, MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, 600 + 300),
        (Initiation::Mobile, MessageId::MN_HO_COMMIT_REQUEST, 1080 + 300),
        (Initiation::Network, MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, 240 + 300),
        (Initiation::Network, MessageId::NET_HO_COMMIT_REQUEST, 1320 + 300),
    ] {
        let mut net = Net::new(initiation, true);
        net.lost.push((mid, false, 3));
        net.at(0, GOING_DOWN);
        net.at(9400, LinkCue::Down);
        net.run();
        let milestones = net.milestones_ms();
        assert!(milestones.contains(&(given_up_ms, Milestone::GivenUp(GivenUp::Message))), "{milestones:?}");
        let end = &milestones[milestones.len() - 2..];
        let begun = (9400, Milestone::RedirectBegun(0, Cause::LinkDown));
        assert_eq!(end, [begun, (9440, Milestone::Redirected)]);
        assert!(!net.messages().contains(&MessageId::MN_HO_COMPLETE_REQUEST), "nobody was asked");
    }
}

#[test]
fn an_answer_that_is_given_up_is_told_by_who_gave_it() {
    for (initiation, mid) in [
        (Initiation::Mobile, MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE),
        (Initiation::Network, MessageId::NET_HO_CANDIDATE_QUERY_RESPONSE),
    ] {
        let mut net = Net::new(initiation, true);
        net.lost.push((mid, false, 3));
        net.at(0, GOING_DOWN);
        net.at(9400, LinkCue::Down);
        net.run();
        let milestones = net.milestones_ms();
        // Both answer at 1060 ms.
        assert!(milestones.contains(&(1360, Milestone::GivenUp(GivenUp::Response))), "{milestones:?}");
        assert!(milestones.contains(&(9400, Milestone::RedirectBegun(0, Cause::LinkDown))), "{milestones:?}");
    }
}

#[test]
fn an_answer_after_its_request_was_given_up_counts_under_open_alone() {
    // No acknowledgement of the request comes; the answer does, after it was given up.
    for (initiation, mid, given_up_ms) in [
        (Initiation::Mobile, MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, 600 + 300),
        (Initiation::Mobile, MessageId::MN_HO_COMMIT_REQUEST, 1080 + 300),
        (Initiation::Network, MessageId::NET_HO_CANDIDATE_QUERY_REQUEST, 240 + 300),
    ] {
        for validity in [Validity::Open, Validity::Acked] {
            let mut net = Net::accepting(initiation, true, validity);
            net.lost.push((mid, true, 3));
            net.at(0, GOING_DOWN);
            net.at(9400, LinkCue::Down);
            net.run();
            let milestones = net.milestones_ms();
            let given_up = (given_up_ms, Milestone::GivenUp(GivenUp::Message));
            assert!(milestones.contains(&given_up), "{milestones:?}");
            // As if it had not been given up; or when the link is down.
            let (at_ms, cause) = match (validity, initiation) {
                (Validity::Open, Initiation::Mobile) => (1560, Cause::Commit),
                (Validity::Open, Initiation::Network) => (1340, Cause::Commit),
                _ => (9400, Cause::LinkDown),
            };
            let begun = (at_ms, Milestone::RedirectBegun(0, cause));
            assert!(milestones.contains(&begun), "{validity:?} {milestones:?}");
        }
    }
}

#[test]
fn points_of_service_heed_late_answers_of_each_other_where_they_have_nothing_else() {
    // No acknowledgement comes, nor the first two copies of the answer: the third 20 ms after 220 + 200 ms.
    let late = |net: &mut Net, request: MessageId, response: MessageId, copies: u32| {
        net.lost.push((request, true, 3 * copies));
        net.lost.push((response, false, 2 * copies));
        net.at(0, GOING_DOWN);
        net.run();
        net.milestones_ms()
    };
    let query = (MessageId::N2N_HO_QUERY_RESOURCES_REQUEST, MessageId::N2N_HO_QUERY_RESOURCES_RESPONSE);
    let commit = (MessageId::N2N_HO_COMMIT_REQUEST, MessageId::N2N_HO_COMMIT_RESPONSE);
    let given_up = Milestone::GivenUp(GivenUp::Message);
    let mut net = Net::accepting(Initiation::Network, true, Validity::Open);
    let milestones = late(&mut net, query.0, query.1, 2);
    assert!(milestones.contains(&(300, given_up)) && milestones.contains(&(440, Milestone::ResourcesKnown)));
    assert!(milestones.iter().any(|(_, milestone)| *milestone == Milestone::Completed), "{milestones:?}");
    // Asked at 1080 ms for the only one that was heard.
    let mut net = Net::accepting(Initiation::Network, true, Validity::Open);
    net.heard = vec![0];
    let milestones = late(&mut net, commit.0, commit.1, 1);
    assert!(milestones.contains(&(1380, given_up)), "{milestones:?}");
    // 440 ms later the PoS knows, 20 ms later the mobile node.
    assert!(milestones.contains(&(1540, Milestone::Committed(0))), "{milestones:?}");
    // With another one, that is asked instead; and who answers too late is counted.
    let mut net = Net::accepting(Initiation::Network, true, Validity::Open);
    let milestones = late(&mut net, commit.0, commit.1, 1);
    assert!(milestones.contains(&(1380, Milestone::CommitAsked(1))), "{milestones:?}");
    assert_eq!(net.serving.unexpected(), 1);
}

#[test]
fn a_mobile_node_gets_what_another_pos_answers_late() {
    // Between the points of service, as above: no acknowledgement comes, nor the first two copies of the
    // answer.
    let query = (MessageId::N2N_HO_QUERY_RESOURCES_REQUEST, MessageId::N2N_HO_QUERY_RESOURCES_RESPONSE, 2);
    let commit = (MessageId::N2N_HO_COMMIT_REQUEST, MessageId::N2N_HO_COMMIT_RESPONSE, 1);
    for (request, response, copies) in [query, commit] {
        for validity in [Validity::Open, Validity::Acked] {
            let mut net = Net::accepting(Initiation::Mobile, true, validity);
            net.lost.push((request, true, 3 * copies));
            net.lost.push((response, false, 2 * copies));
            net.at(0, GOING_DOWN);
            net.at(9400, LinkCue::Down);
            net.run();
            let milestones = net.milestones_ms();
            let committed = milestones.iter().any(|(_, milestone)| *milestone == Milestone::Committed(0));
            assert_eq!(committed, validity == Validity::Open, "{request:?} {validity:?} {milestones:?}");
            // The mobile node is told the milestones of its own handover alone.
            let given_up = milestones.contains(&(300, Milestone::GivenUp(GivenUp::Message)));
            assert!(!given_up, "{milestones:?}");
        }
    }
}

#[test]
fn who_waits_in_vain_redirects_when_the_link_is_down() {
    // Without acknowledgements nothing tells that the request is lost.
    let mut net = Net::new(Initiation::Mobile, false);
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE, false, 1));
    net.heard = vec![1];
    net.at(0, GOING_DOWN);
    net.at(9400, LinkCue::Down);
    net.run();
    // To the one that was heard.
    let begun = (9400, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert_eq!(net.milestones_ms()[4..], [begun, (9440, Milestone::Redirected)]);
}

#[test]
fn a_network_that_found_no_room_asks_again_when_the_link_goes_down_again() {
    let mut net = Net::new(Initiation::Network, true);
    net.heard = Vec::new();
    net.at(0, GOING_DOWN);
    net.at(3000, LinkCue::Rollback);
    net.at(5000, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(1080, Milestone::GivenUp(GivenUp::NoCandidate))), "{milestones:?}");
    assert!(milestones.contains(&(5000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
}

#[test]
fn a_commitment_that_is_given_up_is_where_the_traffic_goes() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.resources[0] = Resources::new(Some(0));
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 3));
    net.at(0, GOING_DOWN);
    net.at(9400, LinkCue::Down);
    net.run();
    let begun = (9400, Milestone::RedirectBegun(1, Cause::LinkDown));
    assert!(net.milestones_ms().contains(&begun), "{:?}", net.milestones_ms());
}

#[test]
fn who_has_given_up_himself_scans_for_the_network() {
    let mut net = Net::new(Initiation::Both, true);
    net.lost.push((MessageId::MN_HO_CANDIDATE_QUERY_REQUEST, false, 3));
    net.at(0, GOING_DOWN);
    // It gives up at 900 ms; the network, which was declined at 260 ms, begins anew.
    net.at(1000, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(900, Milestone::GivenUp(GivenUp::Message))), "{milestones:?}");
    // As ever: 1340 ms after it began.
    assert!(milestones.contains(&(2340, Milestone::Committed(0))), "{milestones:?}");
}
