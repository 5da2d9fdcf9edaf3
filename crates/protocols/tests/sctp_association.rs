//! What an association sends in answer to what, by hand: the other end is written out here.
//!
//! Packets of 1012 octets: DATA chunks hold up to 984, the unit of the window is 1000.

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{
    Association, Chunk, Config, Data, Event, Init, Packet, Parameter, Path, Rules, Sack, State,
};
use roamsim_protocols::{Address, Context, Machine};

const HERE: Address = Address(0);
const THERE: Address = Address(1);
const PATH: Path = Path { local: HERE, remote: THERE };

struct Script {
    end: Association,
    now: Time,
}

const CONFIG: fn(Rules) -> Config = |rules| Config {
    rules,
    packet_bytes: 1012,
    heartbeat_interval: None,
    dynamic_addresses: false,
    ..Config::default()
};

impl Script {
    /// Up: tags 7 (here) and 9 (there), TSNs from 1 on both sides, the peer's window 100000.
    fn established(rules: Rules) -> Script {
        let mut script =
            Script { end: Association::new(&CONFIG(rules), &[HERE], 1, &[THERE], 2, 7, 1), now: Time::ZERO };
        script.end.open();
        let [Chunk::Init(init)] = &script.sent()[..] else { panic!("no INIT") };
        assert_eq!((init.initiate_tag, init.initial_tsn), (7, 1));
        let init_ack = Init {
            initiate_tag: 9,
            a_rwnd_bytes: 100_000,
            outbound_streams: 4,
            inbound_streams: 4,
            initial_tsn: 1,
            parameters: vec![Parameter { kind: Parameter::STATE_COOKIE, value: vec![1, 2] }],
        };
        script.arrives(vec![Chunk::InitAck(init_ack)]);
        assert_eq!(script.sent(), [Chunk::CookieEcho(vec![1, 2])]);
        script.arrives(vec![Chunk::CookieAck]);
        assert_eq!(script.end.poll_event(), Some(Event::Established));
        assert_eq!(script.end.poll_timeout(), None);
        script
    }

    fn sent(&mut self) -> Vec<Chunk> {
        let mut unused = Stream::new(0, 0, "");
        let mut chunks = Vec::new();
        while let Some((_, packet)) =
            self.end.poll_transmit(&mut Context { now: self.now, random: &mut unused })
        {
            chunks.extend(packet.chunks);
        }
        chunks
    }

    /// The TSNs of the DATA chunks sent now.
    fn tsns(&mut self) -> Vec<u32> {
        let chunks = self.sent();
        let tsn = |chunk: &Chunk| match chunk {
            Chunk::Data(data) => data.tsn,
            other => panic!("{other:?}"),
        };
        chunks.iter().map(tsn).collect()
    }

    fn arrives(&mut self, chunks: Vec<Chunk>) {
        let mut unused = Stream::new(0, 0, "");
        let packet = Packet { source_port: 2, destination_port: 1, verification_tag: 7, chunks };
        self.end.handle_packet(&mut Context { now: self.now, random: &mut unused }, PATH, &packet);
    }

    fn sack(&mut self, cumulative_tsn_ack: u32, gaps: &[(u16, u16)]) {
        let gaps = gaps.to_vec();
        self.arrives(vec![Chunk::Sack(Sack {
            cumulative_tsn_ack,
            a_rwnd_bytes: 100_000,
            gaps,
            duplicates: vec![],
        })]);
    }

    fn wait(&mut self, ms: u64) {
        let mut unused = Stream::new(0, 0, "");
        self.now += Span::from_ms(ms);
        self.end.handle_timeout(&mut Context { now: self.now, random: &mut unused });
    }
}

fn data(tsn: u32, ssn: u16) -> Data {
    Data {
        tsn,
        stream: 1,
        ssn,
        protocol: 0,
        unordered: false,
        beginning: true,
        ending: true,
        immediate: false,
        payload_bytes: 100,
    }
}

fn sack_of(chunks: &[Chunk]) -> &Sack {
    match chunks {
        [Chunk::Sack(sack)] => sack,
        other => panic!("{other:?}"),
    }
}

#[test]
fn init_is_repeated_with_doubled_timeouts_and_given_up() {
    for (rules, initial) in [(Rules::Rfc9260, 1), (Rules::Rfc2960, 3)] {
        let config = Config { max_init_retransmissions: 2, ..CONFIG(rules) };
        let mut script =
            Script { end: Association::new(&config, &[HERE], 1, &[THERE], 2, 7, 1), now: Time::ZERO };
        script.end.open();
        assert_eq!(script.sent().len(), 1);
        for timeout in [initial, 2 * initial] {
            script.wait(timeout * 1000 - 1);
            assert_eq!(script.sent(), []);
            script.wait(1);
            assert!(matches!(script.sent()[..], [Chunk::Init(_)]));
        }
        script.wait(4 * initial * 1000);
        assert_eq!(script.sent(), []);
        assert_eq!(script.end.poll_event(), Some(Event::TimedOut));
    }
}

#[test]
fn slow_start_fast_retransmit_and_fast_recovery() {
    let mut script = Script::established(Rules::Rfc9260);
    assert!(script.end.send(0, 20 * 984, 0, false));
    // min(4 x 1000, 4404) = 4000: 4 chunks of 1000.
    assert_eq!(script.tsns(), [1, 2, 3, 4]);
    script.wait(100);
    // They filled the window: min(2000, 1000) more. 2000 outstanding, so three more.
    script.sack(2, &[]);
    assert_eq!(script.end.cwnd_bytes(), 5000);
    assert_eq!(script.tsns(), [5, 6, 7]);
    script.sack(4, &[]);
    assert_eq!(script.end.cwnd_bytes(), 6000);
    assert_eq!(script.tsns(), [8, 9, 10]);
    // 5 is missing. Each report lets one leave.
    script.sack(4, &[(2, 2)]);
    assert_eq!(script.tsns(), [11]);
    script.sack(4, &[(2, 3)]);
    assert_eq!(script.tsns(), [12]);
    // The third report: ssthresh = max(6000 / 2, 4 x 1000). Outstanding: 9 to 12, 4000; 5 leaves all the same.
    script.sack(4, &[(2, 4)]);
    assert_eq!((script.end.cwnd_bytes(), script.end.ssthresh_bytes()), (4000, 4000));
    assert!(script.end.is_recovering());
    assert_eq!(script.tsns(), [5]);
    assert_eq!(script.end.stats().fast_retransmits, 1);
    // Within fast recovery the window does not grow; it ends with 12.
    script.sack(11, &[]);
    assert!(script.end.is_recovering());
    assert_eq!(script.end.cwnd_bytes(), 4000);
    script.sack(12, &[]);
    assert!(!script.end.is_recovering());
}

#[test]
fn rfc_2960_waits_for_the_fourth_report_and_knows_no_fast_recovery() {
    let mut script = Script::established(Rules::Rfc2960);
    script.end.send(0, 20 * 984, 0, false);
    // The unit is 1012 + 40 of IPv6. 2 x 1052: three chunks of 1000, for 2000 is below.
    assert_eq!(script.tsns(), [1, 2, 3]);
    // They filled the window: min(1000, 1052) more. 2000, then 3000 are below 3104.
    script.sack(1, &[]);
    assert_eq!(script.end.cwnd_bytes(), 3104);
    assert_eq!(script.tsns(), [4, 5]);
    // min(2000, 1052) more.
    script.sack(3, &[]);
    assert_eq!(script.end.cwnd_bytes(), 4156);
    assert_eq!(script.tsns(), [6, 7, 8]);
    // 4 is missing; three reports do not suffice.
    for (last, next) in [(2, 9), (3, 10), (4, 11)] {
        script.sack(3, &[(2, last)]);
        assert_eq!(script.tsns(), [next]);
    }
    assert_eq!(script.end.cwnd_bytes(), 4156);
    script.sack(3, &[(2, 5)]);
    // max(4156 / 2, 2 x 1052). Outstanding: 9 to 11, 3000, above the window; 4 leaves all the same.
    assert_eq!((script.end.cwnd_bytes(), script.end.ssthresh_bytes()), (2104, 2104));
    assert_eq!(script.tsns(), [4]);
    assert!(!script.end.is_recovering());
}

#[test]
fn t3_expires_and_sends_one_packet_before_the_next_sack() {
    let mut script = Script::established(Rules::Rfc9260);
    script.end.send(0, 4 * 984, 0, false);
    assert_eq!(script.tsns(), [1, 2, 3, 4]);
    script.wait(999);
    assert_eq!(script.tsns(), []);
    script.wait(1);
    assert_eq!(script.tsns(), [1]);
    assert_eq!((script.end.cwnd_bytes(), script.end.ssthresh_bytes()), (1000, 4000));
    assert_eq!(script.end.rto(), Span::from_secs(2));
    script.wait(1999);
    assert_eq!(script.tsns(), []);
    script.wait(1);
    assert_eq!(script.tsns(), [1]);
    // 1000 outstanding filled the window of 1000: it is 2000 now.
    script.sack(1, &[]);
    assert_eq!(script.tsns(), [2, 3]);
}

/// Its TSN is missing by the cumulative TSN itself: a block that says otherwise would leave it without a timer.
#[test]
fn a_gap_ack_block_right_behind_the_cumulative_tsn_is_none() {
    let mut script = Script::established(Rules::Rfc9260);
    script.end.send(0, 984, 0, false);
    assert_eq!(script.tsns(), [1]);
    script.sack(0, &[(1, 1)]);
    assert_eq!(script.end.outstanding_bytes(), 984);
    script.wait(1000);
    assert_eq!(script.tsns(), [1]);
}

#[test]
fn sacks_every_second_packet_or_after_200_ms_and_at_once_at_a_gap() {
    let mut script = Script::established(Rules::Rfc9260);
    script.arrives(vec![Chunk::Data(data(1, 0))]);
    assert_eq!(script.sent(), []);
    script.wait(199);
    assert_eq!(script.sent(), []);
    script.wait(1);
    assert_eq!(sack_of(&script.sent()).cumulative_tsn_ack, 1);
    script.arrives(vec![Chunk::Data(data(2, 1))]);
    script.arrives(vec![Chunk::Data(data(3, 2))]);
    assert_eq!(sack_of(&script.sent()).cumulative_tsn_ack, 3);
    // 5, then 8 and 7: blocks count from 3; two messages wait for 4, of 100 octets each, one more at last.
    script.arrives(vec![Chunk::Data(data(5, 4))]);
    assert_eq!(sack_of(&script.sent()).gaps, [(2, 2)]);
    script.arrives(vec![Chunk::Data(data(8, 7))]);
    script.arrives(vec![Chunk::Data(data(7, 6)), Chunk::Data(data(5, 4))]);
    let sent = script.sent();
    let sack = sack_of(&sent);
    assert_eq!((&sack.gaps[..], &sack.duplicates[..]), (&[(2, 2), (4, 5)][..], &[5][..]));
    assert_eq!(sack.a_rwnd_bytes, 6 * 1024 * 1024 - 300);
    script.arrives(vec![Chunk::Data(data(4, 3))]);
    let sent = script.sent();
    assert_eq!((sack_of(&sent).cumulative_tsn_ack, &sack_of(&sent).gaps[..]), (5, &[(2, 3)][..]));
    let mut received = 0;
    while script.end.poll_event().is_some() {
        received += 1;
    }
    assert_eq!(received, 5);
}

#[test]
fn messages_are_bundled_and_fragmented() {
    let mut script = Script::established(Rules::Rfc9260);
    for _ in 0..3 {
        script.end.send(2, 100, 0, false);
    }
    script.end.send(3, 2000, 0, true);
    let mut unused = Stream::new(0, 0, "");
    let mut poll = || {
        let (_, packet) =
            script.end.poll_transmit(&mut Context { now: Time::ZERO, random: &mut unused }).unwrap();
        packet.data().map(|d| (d.ssn, d.beginning, d.ending, d.payload_bytes)).collect::<Vec<_>>()
    };
    // 12 + 3 x 116 = 360 octets; the next chunk of 1000 does not fit.
    assert_eq!(poll(), [(0, true, true, 100), (1, true, true, 100), (2, true, true, 100)]);
    // 2000 = 2 x 984 + 32.
    assert_eq!(poll(), [(0, true, false, 984)]);
    assert_eq!(poll(), [(0, false, false, 984)]);
    assert_eq!(poll(), [(0, false, true, 32)]);
}

#[test]
fn the_stream_sequence_number_wraps() {
    let mut script = Script::established(Rules::Rfc9260);
    let mut received = 0;
    for number in 0..70_000u32 {
        script.arrives(vec![Chunk::Data(data(number + 1, number as u16))]);
        script.sent();
        while let Some(Event::Received(_)) = script.end.poll_event() {
            received += 1;
        }
    }
    assert_eq!(received, 70_000);
}

#[test]
fn shutdown_waits_for_the_data_and_is_repeated() {
    let mut script = Script::established(Rules::Rfc9260);
    script.end.send(0, 100, 0, false);
    script.end.close();
    assert!(!script.end.send(0, 100, 0, false));
    assert_eq!(script.tsns(), [1]);
    script.sack(1, &[]);
    let shutdown = [Chunk::Shutdown { cumulative_tsn_ack: 0 }];
    assert_eq!(script.sent(), shutdown);
    script.wait(1000);
    assert_eq!(script.sent(), shutdown);
    script.arrives(vec![Chunk::ShutdownAck]);
    assert_eq!(script.sent(), [Chunk::ShutdownComplete { reflected_tag: false }]);
    assert_eq!((script.end.state(), script.end.poll_event()), (State::Closed, Some(Event::Closed)));
    // It was lost: the SHUTDOWN ACK comes again.
    script.arrives(vec![Chunk::ShutdownAck]);
    assert_eq!(script.sent(), [Chunk::ShutdownComplete { reflected_tag: true }]);
}

#[test]
fn a_wrong_tag_and_a_stale_cookie_are_refused() {
    let mut script = Script::established(Rules::Rfc9260);
    let mut unused = Stream::new(0, 0, "");
    let chunks = vec![Chunk::Abort { reflected_tag: false, causes: vec![] }];
    let packet = Packet { source_port: 2, destination_port: 1, verification_tag: 8, chunks };
    script.end.handle_packet(&mut Context { now: Time::ZERO, random: &mut unused }, PATH, &packet);
    assert_eq!((script.end.state(), script.end.stats().packets_refused), (State::Established, 1));

    let mut script = Script {
        end: Association::new(&CONFIG(Rules::Rfc9260), &[HERE], 1, &[THERE], 2, 7, 1),
        now: Time::ZERO,
    };
    script.end.listen();
    let init = Init {
        initiate_tag: 9,
        a_rwnd_bytes: 1500,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: 1,
        parameters: vec![],
    };
    let packet =
        Packet { source_port: 2, destination_port: 1, verification_tag: 0, chunks: vec![Chunk::Init(init)] };
    script.end.handle_packet(&mut Context { now: Time::ZERO, random: &mut unused }, PATH, &packet);
    let sent = script.sent();
    let [Chunk::InitAck(init_ack)] = &sent[..] else { panic!("{sent:?}") };
    let cookie = init_ack.parameters[0].value.clone();
    assert_eq!(script.end.state(), State::Closed);
    // Valid.Cookie.Life is 60 s: 1000 us too late.
    script.wait(60_001);
    script.arrives(vec![Chunk::CookieEcho(cookie.clone())]);
    assert_eq!(script.sent(), [Chunk::Error(vec![Parameter { kind: 3, value: vec![0, 0, 3, 232] }])]);
    script.now = Time::from_ns(60_000_000_000);
    script.arrives(vec![Chunk::CookieEcho(cookie.clone())]);
    assert_eq!(script.sent(), [Chunk::CookieAck]);
    assert_eq!(script.end.state(), State::Established);
    // The COOKIE ACK was lost.
    script.arrives(vec![Chunk::CookieEcho(cookie)]);
    assert_eq!(script.sent(), [Chunk::CookieAck]);
}
