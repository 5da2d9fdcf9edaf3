//! Two MIHFs with a lossy pipe between them: what a network of one delay would show, from outside.

use std::collections::BTreeMap;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::{LinkGoingDownReason, LinkTupleId, LinkType};
use roamsim_protocols::mih::{
    Acknowledgement, AcknowledgementMode, Event, MessageId, Mihf, MihfId, SessionConfig, SessionId, Tlv,
    TpDataRequest, Validity,
};
use roamsim_protocols::{Address, Context, Machine, PeerAddress};
use std::sync::Arc;

/// Two ends, the packets between them, and the responses that the second end's user prepares.
struct Pair {
    now: Time,
    random: Stream,
    ends: [Mihf; 2],
    one_way: Span,
    processing: Span,
    loss: f64,
    /// (instant, order) -> (end, what comes).
    agenda: BTreeMap<(Time, u64), (usize, Arrival)>,
    order: u64,
    octets: bool,
    delivered: Vec<(Time, u64)>,
    answered: Vec<(Time, u64)>,
}

enum Arrival {
    Packet(TpDataRequest),
    Response(u64),
}

const SESSION: SessionId = SessionId(0);

fn going_down() -> Vec<Tlv> {
    vec![
        Tlv::LinkIdentifier(LinkTupleId::of_macs(
            LinkType::IEEE_802_11,
            [2, 0, 0, 0, 0, 1],
            [2, 0, 0, 0, 0, 2],
        )),
        Tlv::TimeInterval(9000),
        Tlv::LinkGoingDownReason(LinkGoingDownReason::LINK_PARAMETER_DEGRADING),
    ]
}

fn link_actions() -> Vec<Tlv> {
    vec![Tlv::Raw { tlv_type: 38, value: [0].as_slice().into() }]
}

fn config(peer: &str, acknowledgement: Option<Acknowledgement>, validity: Validity) -> SessionConfig {
    SessionConfig {
        peer: MihfId::new(peer).unwrap(),
        remote: PeerAddress { address: Address(1), port: 4551 },
        reliable: false,
        acknowledgement,
        validity,
        lifetime: None,
        timers: Arc::from([]),
        rate_limit: None,
    }
}

impl Pair {
    fn new(acknowledgement: Option<Acknowledgement>, validity: Validity, loss: f64, one_way: Span) -> Pair {
        let end = |own: &str, peer: &str| {
            let mut mihf = Mihf::new(MihfId::new(own).unwrap());
            mihf.add_session(config(peer, acknowledgement, validity));
            mihf
        };
        Pair {
            now: Time::ZERO,
            random: Stream::new(1, 0, "loss"),
            ends: [end("mn", "pos"), end("pos", "mn")],
            one_way,
            processing: Span::ZERO,
            loss,
            agenda: BTreeMap::new(),
            order: 0,
            octets: false,
            delivered: Vec::new(),
            answered: Vec::new(),
        }
    }

    fn push(&mut self, at: Time, end: usize, arrival: Arrival) {
        self.agenda.insert((at, self.order), (end, arrival));
        self.order += 1;
    }

    fn settle(&mut self) {
        for end in 0..2 {
            while let Some(event) = self.ends[end].poll_event() {
                match event {
                    Event::IndicationReceived { number, .. } => self.delivered.push((self.now, number.0)),
                    Event::ResponseReceived { number, .. } => self.answered.push((self.now, number.0)),
                    Event::RequestReceived { number, .. } => {
                        self.delivered.push((self.now, number.0));
                        if self.processing == Span::ZERO {
                            self.respond(end, number.0);
                        } else {
                            self.push(self.now + self.processing, end, Arrival::Response(number.0));
                        }
                    }
                    _ => {}
                }
            }
            loop {
                let mut cx = Context { now: self.now, random: &mut Stream::new(0, 0, "unused") };
                let Some(request) = self.ends[end].poll_transmit(&mut cx) else { break };
                if !self.random.bernoulli(self.loss) {
                    self.push(self.now + self.one_way, 1 - end, Arrival::Packet(request));
                }
            }
        }
    }

    fn respond(&mut self, end: usize, number: u64) {
        let mut cx = Context { now: self.now, random: &mut Stream::new(0, 0, "unused") };
        let tlvs = vec![Tlv::Status(roamsim_protocols::mih::wire::link::Status::SUCCESS)];
        let number = roamsim_protocols::mih::TransactionNumber(number);
        assert!(self.ends[end].respond(&mut cx, SESSION, number, tlvs, None));
    }

    /// Runs everything that happens before `until`, timers after arrivals of the same instant where the
    /// caller is late: the machine itself must put them in order.
    fn run(&mut self, until: Time) {
        loop {
            self.settle();
            let timer = self.ends.iter().filter_map(Machine::poll_timeout).min();
            let arrival = self.agenda.keys().next().map(|&(at, _)| at);
            let Some(next) = timer.into_iter().chain(arrival).min().filter(|&at| at < until) else { break };
            assert!(next >= self.now);
            self.now = next;
            if arrival == Some(next) {
                let (_, (end, arrival)) = self.agenda.pop_first().unwrap();
                match arrival {
                    Arrival::Response(number) => self.respond(end, number),
                    Arrival::Packet(request) => {
                        let mut cx = Context { now: self.now, random: &mut Stream::new(0, 0, "unused") };
                        if self.octets {
                            self.ends[end].tp_data_octets(&mut cx, SESSION, &request.pdu.encode());
                        } else {
                            self.ends[end].tp_data_indication(&mut cx, SESSION, request.pdu);
                        }
                    }
                }
            } else {
                for end in &mut self.ends {
                    let mut cx = Context { now: self.now, random: &mut Stream::new(0, 0, "unused") };
                    end.handle_timeout(&mut cx);
                }
            }
        }
        self.now = until;
    }

    fn indicate(&mut self) -> u64 {
        let mut cx = Context { now: self.now, random: &mut Stream::new(0, 0, "unused") };
        let mid = MessageId::LINK_GOING_DOWN_INDICATION;
        let number = self.ends[0].indicate(&mut cx, SESSION, mid, going_down(), Some(200));
        self.settle();
        number.0
    }

    fn request(&mut self) -> u64 {
        let mut cx = Context { now: self.now, random: &mut Stream::new(0, 0, "unused") };
        let mid = MessageId::LINK_ACTIONS_REQUEST;
        let number = self.ends[0].request(&mut cx, SESSION, mid, link_actions(), Some(200));
        self.settle();
        number.0
    }

    fn packets(&self) -> u64 {
        self.ends.iter().map(|end| end.stats(SESSION).packets.total()).sum()
    }

    fn information_messages(&self) -> u64 {
        self.ends.iter().map(|end| end.stats(SESSION).information_messages()).sum()
    }
}

fn acknowledgement(timeout: Span, mode: AcknowledgementMode) -> Option<Acknowledgement> {
    Some(Acknowledgement { timeout, retransmissions: 2, mode })
}

const T: Span = Span::from_ms(100);

/// Runs `count` isolated transactions; (success rate, mean delay of successes in s, overhead).
fn isolated(
    validity: Validity,
    loss: f64,
    one_way: Span,
    processing: Span,
    requests: bool,
    count: u64,
) -> (f64, f64, f64) {
    let mut pair = Pair::new(acknowledgement(T, AcknowledgementMode::Separate), validity, loss, one_way);
    pair.processing = processing;
    let mut starts = BTreeMap::new();
    for _ in 0..count {
        let number = if requests { pair.request() } else { pair.indicate() };
        starts.insert(number, pair.now);
        let next = pair.now + Span::from_secs(5);
        pair.run(next);
    }
    let successes = if requests { &pair.answered } else { &pair.delivered };
    let mut seen = std::collections::BTreeSet::new();
    assert!(successes.iter().all(|(_, number)| seen.insert(*number)), "delivered twice");
    let delay: f64 = successes.iter().map(|(at, number)| at.since(starts[number]).as_secs_f64()).sum();
    (
        successes.len() as f64 / count as f64,
        delay / successes.len() as f64,
        pair.packets() as f64 / pair.information_messages() as f64,
    )
}

const COUNT: u64 = 20_000;

fn near(measured: f64, exact: f64, standard_error: f64) {
    assert!(
        (measured - exact).abs() < 4.0 * standard_error,
        "{measured} against {exact} +- {standard_error}"
    );
}

fn near_probability(measured: f64, exact: f64) {
    near(measured, exact, (exact * (1.0 - exact) / COUNT as f64).sqrt());
}

#[test]
fn indications_agree_with_the_closed_forms_in_every_regime() {
    let p: f64 = 0.3;
    let f = p * (2.0 - p);
    // Overheads of section 6.2 for RTT < T, T < RTT < 2T, 2T < RTT < 3T.
    let regimes = [
        (Span::from_ms(20), (2.0 - p) * (1.0 + f + f * f)),
        (Span::from_ms(70), (2.0 - p) * (2.0 + f)),
        (Span::from_ms(130), 3.0 * (2.0 - p)),
    ];
    for (one_way, overhead) in regimes {
        let (success, delay, measured) = isolated(Validity::Acked, p, one_way, Span::ZERO, false, COUNT);
        near_probability(success, 1.0 - p * p * p);
        let steps = (p + 2.0 * p * p) / (1.0 + p + p * p);
        // The number of copies before the first to arrive varies by less than 1: its deviation is below 0.7.
        near(delay, one_way.as_secs_f64() + 0.1 * steps, 0.07 / (COUNT as f64).sqrt());
        near(measured, overhead, 2.0 / (COUNT as f64).sqrt());
    }
}

/// Success, and delay beyond RTT + P in timeouts, of requests under `open` and `strict` (section 6.3).
#[test]
fn requests_agree_with_the_closed_forms_of_open_and_strict() {
    let p: f64 = 0.3;
    let q = 1.0 - p;
    let f = p * (2.0 - p);
    let open = (1.0 - p * p * p) * (1.0 - p * p * p);
    let open_steps = 2.0 * (p + 2.0 * p * p) / (1.0 + p + p * p);
    let strict = [
        (q * q * (1.0 + 2.0 * p + 3.0 * p * p), (2.0 * p + 6.0 * p * p) / (1.0 + 2.0 * p + 3.0 * p * p)),
        (q * q * (1.0 + 2.0 * p), 2.0 * p / (1.0 + 2.0 * p)),
        (q * q, 0.0),
    ];
    let overheads = [(2.0 - p) * (1.0 + f + f * f), (2.0 - p) * (2.0 + f), 3.0 * (2.0 - p)];
    for (regime, one_way) in [20, 70, 130].into_iter().map(Span::from_ms).enumerate() {
        let rtt = one_way.as_secs_f64() * 2.0;
        let (success, delay, overhead) = isolated(Validity::Open, p, one_way, Span::ZERO, true, COUNT);
        near_probability(success, open);
        near(delay, rtt + 0.1 * open_steps, 0.1 / (COUNT as f64).sqrt());
        near(overhead, overheads[regime], 2.0 / (COUNT as f64).sqrt());
        let (success, delay, _) = isolated(Validity::Strict, p, one_way, Span::ZERO, true, COUNT);
        near_probability(success, strict[regime].0);
        near(delay, rtt + 0.1 * strict[regime].1, 0.1 / (COUNT as f64).sqrt() + 1e-9);
    }
    // A response that comes exactly at 3 T is too late: RTT 40 ms + P 260 ms = 3 T, so that nothing succeeds;
    // one nanosecond less, and what needs no retransmission does: (1-p)^2.
    let one_way = Span::from_ms(20);
    let (success, ..) = isolated(Validity::Strict, p, one_way, Span::from_ms(260), true, 500);
    assert!(success == 0.0);
    let (success, ..) = isolated(Validity::Strict, p, one_way, Span::from_ns(259_999_999), true, COUNT);
    near_probability(success, q * q);
}

#[test]
fn requests_agree_with_the_closed_form_of_acked() {
    let p: f64 = 0.3;
    let q = 1.0 - p;
    let f = p * (2.0 - p);
    let regimes = [
        (20, (1.0 - p * p * p) * (1.0 - p * p * p) - p * p * p * p * q * q * (1.0 + p + f)),
        (70, q * q * (1.0 + p - p * p) * (1.0 + p + 2.0 * p * p - p * p * p)),
        (130, q * q * (1.0 + p - p * p * p)),
    ];
    for (one_way_ms, exact) in regimes {
        let one_way = Span::from_ms(one_way_ms);
        let (success, ..) = isolated(Validity::Acked, p, one_way, Span::ZERO, true, COUNT);
        near_probability(success, exact);
    }
    // With processing time: weight p^(n+k) q^2, times 1 if (n+k) T + RTT + P < 3 T, else 1 - p f^(m-n), with
    // m the last copy whose ACK comes before 3 T. RTT 40 ms, P 200 ms: in time for n + k = 0 only; m = 2.
    let mut exact = 0.0;
    for n in 0..3 {
        for k in 0..3 {
            let power = |base: f64, exponent: usize| (0..exponent).fold(1.0, |product, _| product * base);
            let accepted = if n + k == 0 { 1.0 } else { 1.0 - p * power(f, 2 - n) };
            exact += power(p, n + k) * q * q * accepted;
        }
    }
    let (success, ..) = isolated(Validity::Acked, p, Span::from_ms(20), Span::from_ms(200), true, COUNT);
    near_probability(success, exact);
}

/// What both ends look like from outside after `count` transactions, one every `interval`.
fn many(mut pair: Pair, requests: bool, count: u64, interval: Span) -> Pair {
    for _ in 0..count {
        if requests {
            pair.request();
        } else {
            pair.indicate();
        }
        let next = pair.now + interval;
        pair.run(next);
    }
    let end = pair.now + Span::from_secs(1000);
    pair.run(end);
    pair
}

fn is_increasing(numbers: &[(Time, u64)]) -> bool {
    numbers.windows(2).all(|pair| pair[0].1 < pair[1].1)
}

#[test]
fn structured_messages_and_octets_give_the_same_run() {
    let run = |octets| {
        let ack = acknowledgement(T, AcknowledgementMode::Piggyback);
        let mut pair = Pair::new(ack, Validity::Acked, 0.4, Span::from_ms(30));
        pair.octets = octets;
        pair.processing = Span::from_ms(50);
        let pair = many(pair, true, 500, Span::from_ms(37));
        (pair.delivered.clone(), pair.answered.clone(), pair.ends.map(|end| end.stats(SESSION).clone()))
    };
    let structured = run(false);
    assert!(structured.1.len() > 200);
    assert_eq!(structured, run(true));
}

#[test]
fn a_long_lossy_run_uses_ids_again_without_a_trace() {
    // The first round's traffic, 12000 transactions at 2 a second, three times the IDs: every delivery has
    // its own number, none comes twice, and the successes are those of a run that never used an ID again.
    let p: f64 = 0.5;
    let ack = acknowledgement(T, AcknowledgementMode::Separate);
    let pair = many(Pair::new(ack, Validity::Acked, p, Span::from_ms(20)), false, 12_000, Span::from_ms(500));
    assert!(is_increasing(&pair.delivered));
    let success = pair.delivered.len() as f64 / 12_000.0;
    let exact = 1.0 - p * p * p;
    near(success, exact, (exact * (1.0 - exact) / 12_000.0).sqrt());
    assert_eq!(pair.ends[0].stats(SESSION).id_reuses, 0);
    // Every delivery is at 20 ms, 120 ms or 220 ms after the indication that bears its number.
    for (at, number) in &pair.delivered {
        let delay_ms = at.since(Time::from_ns((number - 1) * 500_000_000)).as_ns() / 1_000_000;
        assert!([20, 120, 220].contains(&delay_ms), "{number}: {delay_ms} ms");
    }
}

#[test]
fn requests_without_ack_are_closed_when_their_id_is_used_again() {
    let pair =
        many(Pair::new(None, Validity::Acked, 0.5, Span::from_ms(20)), true, 9_000, Span::from_ms(500));
    assert!(is_increasing(&pair.answered));
    for (at, number) in &pair.answered {
        assert_eq!(at.since(Time::from_ns((number - 1) * 500_000_000)), Span::from_ms(40));
    }
    // (1 - p)^2 = 1/4 are answered; the others of the first 9000 - 4095 were closed by their ID's reuse.
    near(pair.answered.len() as f64 / 9_000.0, 0.25, (0.25 * 0.75 / 9_000.0_f64).sqrt());
    let unanswered = (1..=9_000 - 4095)
        .filter(|number| pair.answered.binary_search_by_key(number, |(_, number)| *number).is_err())
        .count();
    assert_eq!(pair.ends[0].stats(SESSION).id_reuses, unanswered as u64);
}

#[test]
fn an_outage_of_thousands_of_messages_drops_nothing_behind_it() {
    // 50 indications a second; 3000 in a row are lost, more than half of the IDs.
    let ack = acknowledgement(T, AcknowledgementMode::Separate);
    let mut pair = Pair::new(ack, Validity::Acked, 0.0, Span::from_ms(20));
    for n in 0..9_000 {
        pair.loss = if (3_000..6_000).contains(&n) { 1.0 } else { 0.0 };
        pair.indicate();
        let next = pair.now + Span::from_ms(20);
        pair.run(next);
    }
    let end = pair.now + Span::from_secs(10);
    pair.run(end);
    // The last of the outage are saved by their retransmissions, which come after it.
    let numbers: Vec<u64> = pair.delivered.iter().map(|(_, number)| *number).collect();
    assert!((1..=3_000).chain(6_001..=9_000).all(|number| numbers.contains(&number)));
    assert!(pair.ends[1].stats(SESSION).duplicates < 20);
}

#[test]
fn thousands_of_requests_may_wait_on_a_reliable_transport() {
    // 2000 requests a second, 30 s under way: 60000 are on their way, more than 14 times the IDs. With MIH
    // ACK the timeout of 20 s ends before any ACK can come; the copies are withheld.
    let patient = Acknowledgement {
        timeout: Span::from_secs(20),
        retransmissions: 2,
        mode: AcknowledgementMode::Separate,
    };
    for acknowledgement in [None, Some(patient)] {
        let mut pair = Pair::new(acknowledgement, Validity::Acked, 0.0, Span::from_secs(15));
        for (end, (own, peer)) in [("mn", "pos"), ("pos", "mn")].into_iter().enumerate() {
            pair.ends[end] = Mihf::new(MihfId::new(own).unwrap());
            let config = config(peer, acknowledgement, Validity::Acked);
            pair.ends[end].add_session(SessionConfig { reliable: true, ..config });
        }
        let pair = many(pair, true, 70_000, Span::from_us(500));
        assert_eq!(pair.delivered.len(), 70_000);
        assert_eq!(pair.answered.len(), 70_000);
        for (index, (at, number)) in pair.answered.iter().enumerate() {
            assert_eq!(*number, index as u64 + 1);
            let sent = Time::from_ns(index as u64 * 500_000);
            assert_eq!(at.since(sent), Span::from_secs(30));
        }
        let stats = pair.ends.each_ref().map(|end| end.stats(SESSION));
        for (end, stats) in stats.iter().enumerate() {
            assert_eq!((stats.given_up, stats.responses_given_up), (0, 0));
            assert_eq!((stats.late_responses, stats.late_acks), (0, 0));
            // Only the last 2048 are sent again, after which nothing new is started.
            assert_eq!(stats.duplicates, pair.ends[1 - end].stats(SESSION).packets.retransmissions);
            assert_eq!(stats.packets.retransmissions, if acknowledgement.is_some() { 2048 } else { 0 });
        }
    }
}
