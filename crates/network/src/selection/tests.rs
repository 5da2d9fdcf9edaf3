use super::account::Reason;
use super::*;
use crate::link::indication::{LinkDownReason, LinkGoingDownReason};

const DOWN: LinkEvent = LinkEvent::Down(LinkDownReason::NO_BROADCAST);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn report(signal_dbm: f64) -> LinkEvent {
    LinkEvent::ParametersReport { quality: Quality::Signal(signal_dbm) }
}

/// A node with interfaces 0, 1, ... of these ranks and prices, which has chosen at 0 s among none.
fn node(policy: Policy, interfaces: &[(usize, Option<f64>)]) -> Selection {
    let config = SelectionConfig {
        name: String::new(),
        node: NodeId(0),
        of_one_flow: false,
        policy,
        policy_name: String::new(),
        scheme: Scheme::None,
        hysteresis_db: 5.0,
        threshold_dbm: None,
        dwell_time: Span::ZERO,
        hold_time: Span::ZERO,
        leave_when_going_down: false,
        ping_pong_time: Span::from_secs(1),
    };
    let candidates = (0..).zip(interfaces);
    let candidates = candidates.map(|(number, &(rank, cost))| Candidate::new(Address(number), rank, cost));
    let mut selection = Selection::new(config, candidates.collect());
    assert!(!selection.begin(Time::ZERO));
    selection
}

/// Events of interfaces, each with its millisecond: which is selected after each.
fn after(selection: &mut Selection, events: &[(u64, usize, LinkEvent)]) -> Vec<Option<u32>> {
    let selected = events.iter().map(|&(ms, interface, event)| {
        selection.on_link_event(at(ms), interface, event);
        selection.decide(at(ms));
        selection.selected().map(|address| address.0)
    });
    selected.collect()
}

#[test]
fn the_preferred_one_is_taken_while_it_is_up_and_others_only_then() {
    let mut selection = node(Policy::Preference, &[(1, None), (0, None)]);
    let events = [
        (0, 0, LinkEvent::Up),
        (1000, 1, LinkEvent::Up),
        (3000, 1, DOWN),
        (3500, 1, LinkEvent::Up),
        (4600, 0, DOWN),
        (5000, 1, DOWN),
        (6000, 1, LinkEvent::Up),
    ];
    let expected = [Some(0), Some(1), Some(0), Some(1), Some(1), None, Some(1)];
    assert_eq!(after(&mut selection, &events), expected);
    let switches = selection.switches.iter();
    let told: Vec<_> =
        switches.map(|one| (one.reason, one.ping_pong, one.stay.as_ns() / 1_000_000)).collect();
    // Away from interface 1 for 0.5 s. Without any from 5 s to 6 s, which is no way back.
    assert_eq!(
        told,
        [
            (Reason::First, false, 0),
            (Reason::Preferred, false, 1000),
            (Reason::Lost, false, 2000),
            (Reason::Preferred, true, 500),
            (Reason::Lost, false, 1500),
            (Reason::Regained, false, 1000),
        ]
    );
    selection.finish(at(10_000));
    let seconds = |span: Span| span.as_secs_f64();
    let stays = [0, 1].map(|at| selection.candidates[at].stay);
    // Interface 0: 0 to 1 s and 3 to 3.5 s; interface 1: 1 to 3, 3.5 to 5 and 6 to 10 s.
    assert_eq!(stays.map(|stay| seconds(stay.selected)), [1.5, 7.5]);
    assert_eq!(seconds(selection.without), 1.0);
    assert_eq!(stays.map(|stay| seconds(stay.up)), [4.6, 7.5]);
    assert_eq!(stays.map(|stay| stay.selections), [2, 3]);
    // None was held while it was down.
    assert_eq!(stays.map(|stay| seconds(stay.active)), [1.5, 7.5]);
}

#[test]
fn ping_pong_is_a_way_back_in_less_than_its_time() {
    for (back_ms, ping_pong) in [(1999, true), (2000, false)] {
        let mut selection = node(Policy::Preference, &[(0, None), (1, None)]);
        let up = [(0, 1, LinkEvent::Up), (0, 0, LinkEvent::Up)];
        after(&mut selection, &up);
        after(&mut selection, &[(1000, 0, DOWN), (back_ms, 0, LinkEvent::Up)]);
        assert_eq!(selection.switches.last().map(|last| last.ping_pong), Some(ping_pong), "{back_ms}");
    }
}

#[test]
fn another_one_has_to_stay_preferred_for_the_dwell_time_unless_the_selected_one_is_lost() {
    let mut selection = node(Policy::Preference, &[(1, None), (0, None)]);
    selection.config.dwell_time = Span::from_ms(500);
    let events = [(0, 0, LinkEvent::Up), (1000, 1, LinkEvent::Up), (1400, 1, DOWN), (1450, 1, LinkEvent::Up)];
    // Regained after 450 ms, so that the time begins anew: it is over at 1.95 s.
    assert_eq!(after(&mut selection, &events), [Some(0); 4]);
    assert_eq!(selection.deadline(), Some(at(1950)));
    assert!(!selection.decide(at(1949)) && selection.decide(at(1950)));
    assert_eq!(selection.selected(), Some(Address(1)));
    assert_eq!(after(&mut selection, &[(2000, 1, DOWN)]), [Some(0)]);
}

#[test]
fn the_strongest_is_left_for_one_that_is_stronger_by_more_than_the_hysteresis() {
    let mut selection = node(Policy::Strongest, &[(0, None), (0, None), (0, None)]);
    let events = [
        // Without a signal, in the absence of another.
        (0, 2, LinkEvent::Up),
        (1, 0, report(-70.0)),
        (1, 0, LinkEvent::Up),
        (2, 1, report(-65.0)),
        // Stronger by 5 dB, and by 5.5 dB.
        (2, 1, LinkEvent::Up),
        (3, 1, report(-64.5)),
        (4, 0, report(-59.5)),
        (5, 1, DOWN),
        (6, 0, DOWN),
    ];
    let expected = [2, 2, 0, 0, 0, 1, 1, 0, 2].map(Some);
    assert_eq!(after(&mut selection, &events), expected);
}

#[test]
fn the_cheapest_is_taken_and_of_equals_the_selected_one_stays() {
    let mut selection = node(Policy::Cheapest, &[(0, Some(0.5)), (1, Some(0.1)), (2, Some(0.1)), (3, None)]);
    let ups = [0, 1, 2, 3].map(|interface| (interface as u64, interface, LinkEvent::Up));
    assert_eq!(after(&mut selection, &ups), [0, 1, 1, 3].map(Some));
    let downs = [(5, 3, DOWN), (6, 1, DOWN), (7, 1, LinkEvent::Up), (8, 2, DOWN)];
    assert_eq!(after(&mut selection, &downs), [1, 2, 2, 1].map(Some));
}

#[test]
fn a_signal_below_the_threshold_is_used_if_no_other_is_up_and_needs_the_hysteresis_to_come_back() {
    let mut selection = node(Policy::Preference, &[(1, None), (0, None)]);
    selection.config.threshold_dbm = Some(-75.0);
    let events = [
        (0, 1, report(-80.0)),
        (0, 1, LinkEvent::Up),
        (1, 0, LinkEvent::Up),
        (2, 1, report(-71.0)),
        (3, 1, report(-70.0)),
        (4, 1, report(-75.0)),
        (5, 1, report(-75.5)),
    ];
    assert_eq!(after(&mut selection, &events), [None, Some(1), Some(0), Some(0), Some(1), Some(1), Some(0)]);
}

#[test]
fn usable_addresses_begin_with_the_selected_one() {
    let mut selection = node(Policy::Preference, &[(2, None), (1, None), (0, None)]);
    let ups = [0, 1].map(|interface| (1, interface, LinkEvent::Up));
    after(&mut selection, &ups);
    assert_eq!(selection.usable().map(|address| address.0).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_lost_one_is_held_for_one_as_good() {
    // Interfaces 0 and 1 share a place; 2 is behind them.
    let mut selection = node(Policy::Preference, &[(0, None), (0, None), (1, None)]);
    selection.config.hold_time = Span::from_ms(500);
    let events = [
        (0, 0, LinkEvent::Up),
        (0, 2, LinkEvent::Up),
        (1000, 0, DOWN),
        // As good as what was lost.
        (1200, 1, LinkEvent::Up),
        (2000, 1, DOWN),
        // The same comes back.
        (2499, 1, LinkEvent::Up),
        (3000, 1, DOWN),
        (3499, 0, DOWN),
        (3500, 0, DOWN),
        (4000, 2, DOWN),
    ];
    let expected = [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1), Some(1), Some(1), Some(2), Some(2)];
    assert_eq!(after(&mut selection, &events), expected);
    assert_eq!(selection.deadline(), Some(at(4500)));
    selection.decide(at(4500));
    assert_eq!(selection.selected(), None);
    let reasons: Vec<_> = selection.switches.iter().map(|one| one.reason).collect();
    assert_eq!(reasons, [Reason::First, Reason::Lost, Reason::Lost, Reason::Lost]);
    // Interface 1: selected from 1.2 s to 3.5 s, and up until 2 s and from 2.499 s to 3 s.
    let stay = selection.candidates[1].stay;
    assert_eq!((stay.selected.as_ns(), stay.active.as_ns()), (2_300_000_000, 1_301_000_000));
}

#[test]
fn one_that_is_going_down_is_left_and_taken_again_when_it_is_not() {
    let going_down = LinkEvent::GoingDown {
        within: Span::from_secs(1),
        confidence_percent: 100,
        reason: LinkGoingDownReason::EXPLICIT_DISCONNECT,
    };
    let events = [
        (0, 0, LinkEvent::Up),
        (0, 1, LinkEvent::Up),
        (1000, 0, going_down),
        (1500, 0, LinkEvent::Rollback),
        (2000, 0, going_down),
        // Nothing else is left.
        (3000, 1, DOWN),
        (4000, 0, DOWN),
    ];
    let mut selection = node(Policy::Preference, &[(0, None), (1, None)]);
    selection.config.leave_when_going_down = true;
    let expected = [Some(0), Some(0), Some(1), Some(0), Some(1), Some(0), None];
    assert_eq!(after(&mut selection, &events), expected);
    let mut selection = node(Policy::Preference, &[(0, None), (1, None)]);
    let expected = [Some(0), Some(0), Some(0), Some(0), Some(0), Some(0), None];
    assert_eq!(after(&mut selection, &events), expected);
}

/// Prefers the interface with this number, and stays where it is while that is down.
#[derive(Debug)]
struct Prefers(usize);

impl Chooser for Prefers {
    fn choose(&mut self, _now: Time, interfaces: &[State]) -> Option<usize> {
        interfaces[self.0].up.then_some(self.0)
    }
}

#[test]
fn a_policy_of_another_crate_decides_and_says_nothing_to_stay() {
    let mut selection = node(Policy::Given, &[(0, None), (0, None)]).with_chooser(Box::new(Prefers(1)));
    let events =
        [(0, 0, LinkEvent::Up), (1, 1, LinkEvent::Up), (2, 1, DOWN), (3, 1, LinkEvent::Up), (4, 0, DOWN)];
    // Without an answer the first one is not taken, nor is another for one that is lost.
    assert_eq!(after(&mut selection, &events), [None, Some(1), None, Some(1), Some(1)]);
    selection.config.dwell_time = Span::from_ms(500);
    selection.chooser = Some(Box::new(Prefers(0)));
    assert_eq!(after(&mut selection, &[(10, 0, LinkEvent::Up)]), [Some(1)]);
    assert!(selection.decide(at(510)));
    assert_eq!(selection.selected(), Some(Address(0)));
}
