//! What each side does in turn, whoever decides, and what fits to nothing.

use crate::net::{GOING_DOWN, MOBILE_NODE, Net, SERVING, Settings, id, session};
use roamsim_engine::{Span, Time};
use roamsim_protocols::Context;
use roamsim_protocols::mih::handover::policy::{NoAnswer, Policy, Then};
use roamsim_protocols::mih::handover::{Cause, Initiation, Milestone, Resources, Trigger};
use roamsim_protocols::mih::{MessageId, Opcode, Tlv};

#[test]
fn a_mobile_node_asks_has_reserved_redirects_and_completes() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.at(0, GOING_DOWN);
    net.run();
    // An exchange with the PoS: there and back 40 ms, its processing 200 ms, and in it the same once more:
    // 480 ms.
    assert_eq!(
        net.milestones_ms(),
        [
            (0, Milestone::Started(Trigger::GoingDown)),
            (0, Milestone::ScanBegun),
            (600, Milestone::ScanDone),
            (600, Milestone::ResourcesAsked),
            (1080, Milestone::ResourcesKnown),
            (1080, Milestone::CommitAsked(0)),
            (1560, Milestone::Committed(0)),
            (1560, Milestone::RedirectBegun(0, Cause::Commit)),
            (1600, Milestone::Redirected),
            // To the new PoS, from there to the old one and back.
            (2080, Milestone::Completed),
        ]
    );
    assert_eq!(
        net.messages(),
        [
            MessageId::MN_HO_CANDIDATE_QUERY_REQUEST,
            MessageId::N2N_HO_QUERY_RESOURCES_REQUEST,
            MessageId::N2N_HO_QUERY_RESOURCES_RESPONSE,
            MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE,
            MessageId::MN_HO_COMMIT_REQUEST,
            MessageId::N2N_HO_COMMIT_REQUEST,
            MessageId::N2N_HO_COMMIT_RESPONSE,
            MessageId::MN_HO_COMMIT_RESPONSE,
            MessageId::MN_HO_COMPLETE_REQUEST,
            MessageId::N2N_HO_COMPLETE_REQUEST,
            MessageId::N2N_HO_COMPLETE_RESPONSE,
            MessageId::MN_HO_COMPLETE_RESPONSE,
        ]
    );
    let requests = net.sent.iter().filter(|(_, mid, ack)| mid.opcode() == Opcode::Request && !ack).count();
    // Both candidates are asked for resources.
    assert_eq!(requests, 7);
    assert_eq!((net.mobile_node.unexpected(), net.serving.unexpected()), (0, 0));
}

#[test]
fn a_network_asks_has_scanned_reserves_and_tells() {
    let mut net = Net::new(Initiation::Network, true);
    net.at(0, GOING_DOWN);
    net.run();
    assert_eq!(
        net.milestones_ms(),
        [
            (0, Milestone::Started(Trigger::GoingDown)),
            (0, Milestone::ResourcesAsked),
            (240, Milestone::ResourcesKnown),
            // 20 ms to the mobile node, and its processing.
            (460, Milestone::ScanBegun),
            (1060, Milestone::ScanDone),
            (1080, Milestone::CommitAsked(0)),
            // The commitment 240 ms, its announcement 20 ms: redirected upon the request.
            (1340, Milestone::Committed(0)),
            (1340, Milestone::RedirectBegun(0, Cause::Commit)),
            (1380, Milestone::Redirected),
            (1860, Milestone::Completed),
        ]
    );
    let response = net.sent.iter().find(|(_, mid, _)| *mid == MessageId::NET_HO_COMMIT_RESPONSE);
    assert_eq!(response.map(|&(at, ..)| at), Some(Time::ZERO + Span::from_ms(1540)));
}

#[test]
fn a_lost_message_costs_its_retransmission() {
    let mut net = Net::new(Initiation::Mobile, true);
    net.lost.push((MessageId::MN_HO_COMMIT_REQUEST, false, 2));
    net.at(0, GOING_DOWN);
    net.run();
    assert!(net.milestones_ms().contains(&(1560 + 200, Milestone::Committed(0))));
}

#[test]
fn messages_of_the_wrong_peer_or_at_the_wrong_time_are_counted_and_do_nothing() {
    let mut net = Net::new(Initiation::Network, true);
    let mut cx = Context { now: Time::ZERO, random: &mut net.random };
    let tlvs: Vec<Tlv> = Vec::new();
    // A candidate's PoS asks what only the mobile node may ask, the mobile node what only a PoS may.
    for (from, to, mid) in [
        (2, SERVING, MessageId::MN_HO_CANDIDATE_QUERY_REQUEST),
        (MOBILE_NODE, 2, MessageId::N2N_HO_COMMIT_REQUEST),
        (MOBILE_NODE, SERVING, MessageId::N2N_HO_COMPLETE_REQUEST),
        (2, MOBILE_NODE, MessageId::NET_HO_COMMIT_REQUEST),
        (SERVING, MOBILE_NODE, MessageId::N2N_HO_COMMIT_REQUEST),
    ] {
        net.mihfs[from].request(&mut cx, session(from, to), mid, tlvs.clone(), None);
    }
    net.well_formed = false;
    net.run();
    assert_eq!(net.milestones, []);
    assert_eq!(net.serving.unexpected(), 2);
    assert_eq!(net.candidates[0].unexpected(), 1);
    assert_eq!(net.mobile_node.unexpected(), 2);
}

#[test]
fn where_both_begin_at_once_the_mobile_node_declines_what_the_network_prepares() {
    let mut net = Net::new(Initiation::Both, true);
    net.at(0, GOING_DOWN);
    net.run();
    // As if the network had not begun.
    let committed = net
        .milestones_ms()
        .into_iter()
        .filter(|(_, milestone)| matches!(milestone, Milestone::Committed(_) | Milestone::RedirectBegun(..)));
    assert_eq!(
        committed.collect::<Vec<_>>(),
        [(1560, Milestone::Committed(0)), (1560, Milestone::RedirectBegun(0, Cause::Commit))]
    );
    // Asked at 240 ms, it answers at 260 ms, and hears no more of it.
    assert!(net.messages().contains(&MessageId::NET_HO_CANDIDATE_QUERY_RESPONSE));
    assert!(!net.messages().contains(&MessageId::NET_HO_COMMIT_REQUEST));
    assert_eq!((net.mobile_node.unexpected(), net.serving.unexpected()), (0, 0));
}

#[test]
fn a_commitment_of_the_network_that_comes_again_is_answered_as_before() {
    let no_answer = Some(NoAnswer { after: Span::from_ms(900), then: Then::Repeat });
    let mut net = Net::with(Settings {
        policy: Policy { no_answer, ..Policy::PLAIN },
        acknowledgement: false,
        ..Settings::of(Initiation::Network)
    });
    net.resources[0] = Resources::new(Some(1));
    net.lost.push((MessageId::NET_HO_COMMIT_RESPONSE, false, 1));
    net.at(0, GOING_DOWN);
    net.run();
    let sent = |mid: MessageId| net.sent.iter().filter(|(_, other, _)| *other == mid).count();
    assert_eq!((sent(MessageId::NET_HO_COMMIT_REQUEST), sent(MessageId::NET_HO_COMMIT_RESPONSE)), (2, 2));
    // Told by the new PoS alone; the place is kept.
    assert_eq!(sent(MessageId::N2N_HO_COMPLETE_REQUEST), 1);
    assert!(!net.resources[0].has_room_for(&id(SERVING)));
}
