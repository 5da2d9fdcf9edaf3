//! Network entry under scripts: what a station and its base station do, and what follows each expiry.

use crate::link::wimax::admission::{Admission, Invitation};
use crate::link::wimax::entry::{Action, Entry, EntryConfig, Failure, Timers};
use crate::link::wimax::management::{Direction, Message, Sfid};
use crate::testing::stream;
use roamsim_engine::{Span, Stream, Time};

/// The service flows of a station with one each way.
const DOWNLINK: Sfid = Sfid { number: 0, direction: Direction::Downlink };
const UPLINK: Sfid = Sfid { number: 0, direction: Direction::Uplink };

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

const CONFIG: EntryConfig = EntryConfig {
    timers: Timers {
        t1: Span::from_secs(50),
        t2: Span::from_secs(10),
        t3: Span::from_ms(200),
        t4: Span::from_secs(35),
        t6: Span::from_secs(3),
        t7: Span::from_secs(1),
        t8: Span::from_ms(300),
        t9: Span::from_ms(300),
        t12: Span::from_secs(40),
        t18: Span::from_ms(50),
        t20: Span::from_ms(10),
        t21: Span::from_secs(9),
        t27_idle: Span::from_secs(10),
        t27_active: Span::from_ms(500),
        lost_downlink_map: Span::from_ms(600),
        lost_uplink_map: Span::from_ms(500),
    },
    backoff_start: 1,
    backoff_end: 3,
    ranging_retries: 3,
    invited_ranging_retries: 2,
    capability_retries: 2,
    registration_retries: 2,
    flow_retries: 2,
    channels: 3,
    channel: 1,
    known_descriptors: false,
    search_interval: Span::from_ms(100),
};

/// A station at a point of its entry, and its draws. Maps are heard all the time.
fn synchronized(config: EntryConfig) -> (Entry, Stream) {
    let mut entry = Entry::new(config, 1);
    assert_eq!(entry.expire(ms(0)), [Action::Search]);
    assert_eq!(entry.expire(ms(10)), [Action::Search]);
    assert!(entry.listens());
    entry.preamble(ms(12));
    assert_eq!(entry.downlink_map(ms(13)), Some(Action::Detected));
    (entry, stream("entry"))
}

fn maps(entry: &mut Entry, now: Time) {
    entry.downlink_map(now);
    entry.uplink_map(now);
}

/// One that knows the descriptors, and has sent RNG-REQ at 20 ms.
fn ranged() -> (Entry, Stream) {
    let (mut entry, mut draws) = synchronized(EntryConfig { known_descriptors: true, ..CONFIG });
    assert_eq!(entry.join(ms(14)), Some(Action::Contend));
    let own = entry.choose(100, &mut draws);
    assert!(entry.ranges(own) && (100..102).contains(&own));
    entry.sent(ms(20), Message::RangingRequest);
    (entry, draws)
}

fn failed(actions: Vec<Action>) {
    let fails = Action::Fails { connected: false, failure: Failure::NoAnswer };
    assert_eq!(actions, [fails, Action::Search]);
}

#[test]
fn t20_leads_to_the_next_channel_and_a_search_in_vain_to_a_rest() {
    let mut entry = Entry::new(CONFIG, 1);
    for channel in 0..3 {
        assert_eq!(entry.expire(ms(10 * channel)), [Action::Search]);
        assert_eq!((entry.listens(), entry.deadline()), (channel == 1, Some(ms(10 * channel + 10))));
    }
    assert_eq!((entry.expire(ms(29)), entry.expire(ms(30))), (vec![], vec![]));
    assert_eq!(entry.deadline(), Some(ms(130)));
    assert_eq!(entry.expire(ms(130)), [Action::Search]);
}

#[test]
fn t21_leads_to_the_next_channel() {
    let mut entry = Entry::new(CONFIG, 1);
    entry.expire(ms(0));
    entry.expire(ms(10));
    entry.preamble(ms(12));
    assert_eq!((entry.listens(), entry.deadline()), (false, Some(ms(9012))));
    assert_eq!(entry.expire(ms(9012)), [Action::Search]);
    assert!(!entry.listens() && !entry.is_synchronized());
}

#[test]
fn t1_and_t12_wait_for_one_descriptor_each() {
    for (heard, expires) in [(Some(0), 40_013), (Some(1), 50_013), (None, 40_013)] {
        let (mut entry, _) = synchronized(CONFIG);
        assert_eq!(entry.join(ms(14)), None, "it does not know how to range");
        match heard {
            Some(0) => assert_eq!(entry.downlink_descriptor(ms(15)), None),
            Some(_) => assert_eq!(entry.uplink_descriptor(ms(15)), None),
            None => {}
        }
        maps(&mut entry, ms(expires - 1));
        assert_eq!((entry.expire(ms(expires - 1)), entry.deadline()), (vec![], Some(ms(expires))));
        failed(entry.expire(ms(expires)));
        assert!(!entry.awaits_descriptors());
    }
    let (mut entry, _) = synchronized(CONFIG);
    assert_eq!(entry.join(ms(14)), None);
    assert_eq!(entry.uplink_descriptor(ms(15)), None);
    assert_eq!(entry.downlink_descriptor(ms(16)), Some(Action::Contend));
}

#[test]
fn t2_waits_for_an_opportunity() {
    let (mut entry, _) = synchronized(EntryConfig { known_descriptors: true, ..CONFIG });
    assert_eq!(entry.join(ms(14)), Some(Action::Contend));
    maps(&mut entry, ms(10_000));
    assert_eq!((entry.expire(ms(10_013)), entry.deadline()), (vec![], Some(ms(10_014))));
    failed(entry.expire(ms(10_014)));
}

#[test]
fn t3_repeats_ranging_in_doubled_windows() {
    let mut most = [0; 4];
    let mut draws = stream("windows");
    for _ in 0..200 {
        let (mut entry, _) = ranged();
        for (attempt, most) in most.iter_mut().enumerate() {
            let now_ms = 220 + 1000 * attempt as u64;
            let now = ms(now_ms);
            maps(&mut entry, now);
            entry.sent(ms(20 + 1000 * attempt as u64), Message::RangingRequest);
            if attempt == 3 {
                failed(entry.expire(now));
            } else {
                assert_eq!(entry.expire(ms(now_ms - 1)), []);
                assert_eq!(entry.expire(now), [Action::Contend]);
                *most = (*most).max(entry.choose(0, &mut draws));
            }
        }
    }
    // After the first window of 2: 4, 8, and 8 again.
    assert_eq!(most[..3], [3, 7, 7]);
}

#[test]
fn t18_and_t6_repeat_their_requests() {
    let cases = [
        (vec![Message::RangingResponse], Message::CapabilityRequest, 50),
        (vec![Message::RangingResponse, Message::CapabilityResponse], Message::RegistrationRequest, 3000),
    ];
    for (before, request, timeout) in cases {
        let (mut entry, _) = ranged();
        let last = before.into_iter().map(|message| entry.heard(ms(30), message)).last();
        assert_eq!(last, Some(Some(Action::Send(request))));
        entry.sent(ms(40), request);
        let mut now = 40;
        for _ in 0..2 {
            now += timeout;
            maps(&mut entry, ms(now));
            assert_eq!(entry.expire(ms(now)), [Action::Send(request)]);
            now += 7;
            entry.sent(ms(now), request);
        }
        maps(&mut entry, ms(now + timeout));
        assert_eq!(entry.expire(ms(now + timeout - 1)), []);
        failed(entry.expire(ms(now + timeout)));
    }
}

/// A station that is registered at 30 ms.
fn registered() -> Entry {
    let (mut entry, _) = ranged();
    let messages = [Message::RangingResponse, Message::CapabilityResponse, Message::RegistrationResponse];
    let last = messages.map(|message| entry.heard(ms(30), message)).last().copied();
    assert_eq!(last, Some(None));
    entry
}

#[test]
fn t8_repeats_the_answer_that_was_not_acknowledged() {
    let mut entry = registered();
    let answer = |flow| Some(Action::Send(Message::FlowResponse(flow)));
    assert_eq!(entry.heard(ms(31), Message::FlowRequest(DOWNLINK)), answer(DOWNLINK));
    assert_eq!(entry.heard(ms(32), Message::FlowRequest(UPLINK)), answer(UPLINK));
    entry.sent(ms(40), Message::FlowResponse(UPLINK));
    assert_eq!(entry.heard(ms(45), Message::FlowAcknowledgement(DOWNLINK)), None);
    for now in [340, 640] {
        maps(&mut entry, ms(now));
        assert_eq!(entry.expire(ms(now)), [Action::Send(Message::FlowResponse(UPLINK))]);
    }
    let mut heard = entry.clone();
    assert_eq!(heard.heard(ms(700), Message::FlowAcknowledgement(UPLINK)), Some(Action::Connected));
    assert!(heard.is_connected());
    maps(&mut entry, ms(940));
    failed(entry.expire(ms(940)));
}

#[test]
fn who_is_not_asked_for_its_connections_searches_again() {
    // T7 of 1 s, and two repetitions: the base station asks for the last time 2 s after the registration, and
    // waits one more.
    let mut entry = registered();
    maps(&mut entry, ms(3029));
    assert_eq!((entry.expire(ms(3029)), entry.deadline()), (vec![], Some(ms(3030))));
    failed(entry.expire(ms(3030)));
    // The same where only one of them was asked for; its T8 is over with the acknowledgement.
    let mut entry = registered();
    entry.heard(ms(31), Message::FlowRequest(DOWNLINK));
    entry.heard(ms(45), Message::FlowAcknowledgement(DOWNLINK));
    maps(&mut entry, ms(2999));
    assert_eq!(entry.deadline(), Some(ms(3030)));
    maps(&mut entry, ms(3029));
    failed(entry.expire(ms(3030)));
    // Not where it was asked for both.
    let mut entry = registered();
    for flow in [DOWNLINK, UPLINK] {
        entry.heard(ms(31), Message::FlowRequest(flow));
    }
    assert_eq!(entry.deadline(), Some(ms(331)));
}

#[test]
fn synchronization_is_lost_with_either_map() {
    let connected = || {
        let mut entry = registered();
        for flow in [DOWNLINK, UPLINK] {
            entry.heard(ms(31), Message::FlowRequest(flow));
            entry.heard(ms(40), Message::FlowAcknowledgement(flow));
        }
        assert!(entry.is_connected());
        maps(&mut entry, ms(1000));
        entry
    };
    let lost = [Action::Fails { connected: true, failure: Failure::NoMap }, Action::Search];
    let mut entry = connected();
    // 500 ms without a UL-MAP.
    entry.downlink_map(ms(1400));
    assert_eq!((entry.expire(ms(1499)), entry.deadline()), (vec![], Some(ms(1500))));
    assert_eq!(entry.expire(ms(1500)), lost);
    let mut entry = connected();
    // 600 ms without a DL-MAP.
    entry.uplink_map(ms(1400));
    assert_eq!((entry.expire(ms(1599)), entry.deadline()), (vec![], Some(ms(1600))));
    assert_eq!(entry.expire(ms(1600)), lost);
}

#[test]
fn who_leaves_stays_synchronized_and_may_join_again() {
    let mut entry = registered();
    assert!(!entry.leave());
    assert_eq!(entry.heard(ms(35), Message::FlowRequest(UPLINK)), None);
    assert!(entry.is_synchronized());
    assert_eq!(entry.join(ms(36)), Some(Action::Contend));
}

#[test]
fn the_base_station_answers_and_gives_up() {
    let mut admission = Admission::new(CONFIG, 1);
    assert_eq!(admission.heard(ms(0), Message::CapabilityRequest), [], "of nobody whom it knows");
    assert_eq!(admission.heard(ms(0), Message::RangingRequest), [Message::RangingResponse]);
    // T9.
    assert_eq!(admission.deadline(), Some(ms(300)));
    assert_eq!(admission.expire(ms(300)), []);
    assert_eq!(admission.heard(ms(301), Message::CapabilityRequest), []);
    admission.heard(ms(400), Message::RangingRequest);
    for now in [410, 420] {
        assert_eq!(admission.heard(ms(now), Message::CapabilityRequest), [Message::CapabilityResponse]);
    }
    assert_eq!(admission.deadline(), None);
    let requests = [DOWNLINK, UPLINK].map(Message::FlowRequest);
    let answer = admission.heard(ms(500), Message::RegistrationRequest);
    assert_eq!(answer, [Message::RegistrationResponse, requests[0], requests[1]]);
    let uplink = Message::FlowResponse(UPLINK);
    assert_eq!(admission.heard(ms(510), uplink), [Message::FlowAcknowledgement(UPLINK)]);
    // T7, of the one that has not been answered.
    for now in [1500, 2500] {
        assert_eq!(admission.deadline(), Some(ms(now)));
        assert_eq!(admission.expire(ms(now)), [requests[0]]);
    }
    let mut served = admission.clone();
    served.heard(ms(2600), Message::FlowResponse(DOWNLINK));
    // T7 waits no more; T27 runs from the registration on.
    let t27 = Some(ms(10_500));
    assert_eq!((served.has(DOWNLINK), served.has(UPLINK), served.deadline()), (true, true, t27));
    assert_eq!(admission.expire(ms(3500)), []);
    assert!(!admission.has(UPLINK) && admission.deadline().is_none());
}

#[test]
fn t4_waits_for_a_burst_by_which_a_station_is_ranged() {
    let connected = || {
        let mut entry = registered();
        for flow in [DOWNLINK, UPLINK] {
            entry.heard(ms(31), Message::FlowRequest(flow));
            entry.heard(ms(40), Message::FlowAcknowledgement(flow));
        }
        assert!(entry.is_connected());
        entry
    };
    // Ranged at 30 ms: T4 of 35 s ends at 35.03 s; a burst at 20 s makes that 55 s.
    for (granted, expires) in [(None, 35_030), (Some(20_000), 55_000)] {
        let mut entry = connected();
        if let Some(granted) = granted {
            entry.granted(ms(granted));
        }
        maps(&mut entry, ms(expires - 1));
        assert_eq!((entry.expire(ms(expires - 1)), entry.deadline()), (vec![], Some(ms(expires))));
        let fails = Action::Fails { connected: true, failure: Failure::NoAnswer };
        assert_eq!(entry.expire(ms(expires)), [fails, Action::Search]);
        // Nobody who searches is ranged.
        entry.granted(ms(expires + 1));
        assert_eq!(entry.deadline(), Some(ms(expires + 10)));
    }
}

#[test]
fn who_is_sent_away_begins_anew_and_who_does_not_know_the_network_is_not() {
    let mut entry = registered();
    let fails = Action::Fails { connected: false, failure: Failure::NoAnswer };
    assert_eq!(entry.sent_away(ms(50)), [fails, Action::Search]);
    assert_eq!(entry.sent_away(ms(51)), []);
}

/// The base station of a station that registers at 500 ms.
fn admitted() -> Admission {
    let mut admission = Admission::new(CONFIG, 1);
    for request in [Message::RangingRequest, Message::CapabilityRequest, Message::RegistrationRequest] {
        admission.heard(ms(500), request);
    }
    for flow in [DOWNLINK, UPLINK] {
        admission.heard(ms(510), Message::FlowResponse(flow));
    }
    assert!(admission.is_complete());
    admission
}

#[test]
fn t27_idle_leads_to_a_burst_for_who_was_heard_last() {
    let mut admission = admitted();
    assert_eq!((admission.deadline(), admission.invite(ms(10_499))), (Some(ms(10_500)), None));
    admission.ranged(ms(4000), true);
    assert_eq!(admission.deadline(), Some(ms(14_000)));
    assert_eq!(admission.invite(ms(14_000)), Some(Invitation::Grant));
    assert_eq!(admission.invite(ms(14_001)), None);
    admission.ranged(ms(14_010), true);
    assert_eq!(admission.deadline(), Some(ms(24_010)));
}

#[test]
fn t27_active_repeats_the_burst_and_who_is_not_heard_is_sent_away() {
    let mut admission = admitted();
    // Not heard in one, nor in two more: after the last T27 of 500 ms it is sent away.
    let mut now = 10_500;
    for _ in 0..3 {
        assert_eq!(admission.invite(ms(now)), Some(Invitation::Grant));
        admission.ranged(ms(now + 7), false);
        now += 500;
        assert_eq!((admission.deadline(), admission.invite(ms(now - 1))), (Some(ms(now)), None));
    }
    let mut heard = admission.clone();
    heard.ranged(ms(now - 1), true);
    assert_eq!(heard.deadline(), Some(ms(now + 9999)));
    assert_eq!(admission.invite(ms(now)), Some(Invitation::Abort));
    assert!(!admission.is_registered() && admission.deadline().is_none());
}

#[test]
fn bursts_in_which_a_station_is_not_heard_do_not_put_t27_off() {
    let mut admission = admitted();
    admission.ranged(ms(1000), true);
    // Every 20 ms from 1020 ms on: T27 ends 500 ms behind the first, when more than two retries were in vain.
    for burst in 1..=25 {
        admission.ranged(ms(1000 + 20 * burst), false);
        assert_eq!((admission.deadline(), admission.invite(ms(1519))), (Some(ms(1520)), None));
    }
    assert_eq!(admission.invite(ms(1520)), Some(Invitation::Abort));
}
