//! Places at candidates: reserved, taken, given back.

use crate::net::{Coming, GOING_DOWN, MOBILE_NODE, Net, SERVING, Settings, id, under};
use roamsim_engine::Span;
use roamsim_protocols::mih::handover::policy::{Entry, Policy};
use roamsim_protocols::mih::handover::{
    CandidateCue, Cause, Initiation, LinkCue, Milestone, Resources, Trigger,
};
use roamsim_protocols::mih::{MessageId, Validity};

#[test]
fn a_place_is_free_again_when_its_mobile_node_has_left() {
    let mut net = under(Initiation::Mobile, Policy::PLAIN, |net| net.resources[0] = Resources::new(Some(1)));
    let resources = &mut net.resources[0];
    // The one that has the place finds it; another one does not.
    assert!(resources.has_room_for(&id(MOBILE_NODE)) && !resources.has_room_for(&id(SERVING)));
    resources.release(&id(MOBILE_NODE));
    assert!(resources.has_room_for(&id(SERVING)));
}

#[test]
fn a_commitment_of_the_network_that_is_rejected_gives_its_place_back() {
    let mut net = Net::new(Initiation::Network, true);
    net.resources[0] = Resources::new(Some(1));
    // The request leaves at 1320 ms and arrives at 1340 ms, when the mobile node is on its way to the other
    // one.
    net.after(Span::from_ms(1325), Coming::Candidate(0, CandidateCue::Gone));
    net.at(0, GOING_DOWN);
    net.at(1330, LinkCue::Down);
    net.at(6000, GOING_DOWN);
    net.run();
    let milestones = net.milestones_ms();
    assert!(milestones.contains(&(1330, Milestone::RedirectBegun(1, Cause::LinkDown))), "{milestones:?}");
    assert!(milestones.contains(&(6000, Milestone::Started(Trigger::GoingDown))), "{milestones:?}");
    assert_eq!((net.serving.unexpected(), net.candidates[0].unexpected()), (0, 0));
    let given_back = net.sent.iter().filter(|(_, mid, _)| *mid == MessageId::N2N_HO_COMPLETE_RESPONSE);
    assert!(given_back.count() > 0 && net.resources[0].has_room_for(&id(SERVING)));
}

/// A handover to networks that are entered when it is agreed, with one place each, in which all these
/// messages are lost.
fn with_places(initiation: Initiation, validity: Validity, lost: &[MessageId]) -> Net {
    let policy = Policy { entry: Entry::AfterCommitment, ..Policy::PLAIN };
    let mut net = Net::with(Settings { policy, validity, ..Settings::of(initiation) });
    net.resources = vec![Resources::new(Some(1)), Resources::new(Some(1))];
    net.lost = lost.iter().map(|&mid| (mid, false, u32::MAX)).collect();
    net.at(0, GOING_DOWN);
    net
}

/// Whether the first candidate has its place left, and when the last thing happened.
fn place_and_end(net: &mut Net) -> (bool, u64) {
    net.run();
    (net.resources[0].has_room_for(&id(SERVING)), net.now.as_ns() / 1_000_000)
}

#[test]
fn a_place_that_was_agreed_on_and_is_not_taken_is_free_again_after_its_time() {
    // Asked for at 1320 ms, reserved after its processing, for five seconds; the mobile node never hears of
    // it.
    let mut unheard = with_places(Initiation::Mobile, Validity::Acked, &[MessageId::MN_HO_COMMIT_RESPONSE]);
    assert_eq!(place_and_end(&mut unheard), (true, 1520 + 5000));
    // The serving PoS does not hear of it, and neither does it heed a late answer once the link has
    // recovered.
    let lost = [MessageId::N2N_HO_COMMIT_RESPONSE];
    let mut late = with_places(Initiation::Network, Validity::Open, &lost);
    late.heard = vec![0];
    late.at(4000, LinkCue::Rollback);
    assert_eq!(place_and_end(&mut late), (true, 1300 + 5000));
    // The mobile node is not told to go.
    let mut stays = with_places(Initiation::Network, Validity::Acked, &[MessageId::NET_HO_COMMIT_REQUEST]);
    assert_eq!(place_and_end(&mut stays), (true, 1300 + 5000));
}

#[test]
fn a_place_that_is_taken_is_kept() {
    for initiation in [Initiation::Mobile, Initiation::Network] {
        let mut net = with_places(initiation, Validity::Acked, &[]);
        let (free, end_ms) = place_and_end(&mut net);
        assert!(!free && end_ms < 6000, "{initiation:?}: {end_ms}");
        // It leaves.
        net.resources[0].release(&id(MOBILE_NODE));
        assert!(net.resources[0].has_room_for(&id(SERVING)));
    }
    // Who is there already has taken it as it is agreed on.
    let mut there = with_places(Initiation::Mobile, Validity::Acked, &[MessageId::MN_HO_COMMIT_RESPONSE]);
    there.resources[0].arrive(&id(MOBILE_NODE));
    let (free, end_ms) = place_and_end(&mut there);
    assert!(!free && end_ms < 6000, "{end_ms}");
}
