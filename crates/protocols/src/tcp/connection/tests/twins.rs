//! Every end of a connection twice, on the same segments and calls: once as it is, once without the short way
//! of [`steady`](crate::tcp::connection::steady). Both send the same and tell the same, and they are the same
//! in every field, looked at after every few steps.

use std::sync::Arc;

use roamsim_engine::{Span, Stream, Time};

use crate::machine::{Context, Machine};
use crate::tcp::config::{
    Config, DelayedAckRules, GrowthRules, HystartRules, InitialWindow, KeepAlive, LossProbeRules, NagleRules,
    RackRules, RtoRules, UndoRules, WindowValidation,
};
use crate::tcp::congestion::keys::Own;
use crate::tcp::congestion::{CUBIC_RULES, LINUX_RULES};
use crate::tcp::connection::{Connection, State, Steady};
use crate::tcp::fast_open::{Cookie, FirstCookie, KnownServer};
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::user_timeout::{UserTimeout, UserTimeoutOption};
use crate::tcp::variant::Variant;

/// One end, twice.
struct Twins {
    short: Connection,
    long: Connection,
    /// Segments that went the short way, and the second one, of those that arrived.
    predicted: u64,
    plain: u64,
    arrived: u64,
    /// What steady ends had to send, by [`Due`](crate::tcp::connection::steady::Due): plain ones, then
    /// extended ones.
    dues: [[u64; 4]; 2],
    /// Segments sent by other ends.
    sent_otherwise: u64,
    calls: u64,
}

impl Twins {
    fn new(config: &Config, ports: [u16; 2], iss: u32) -> Twins {
        let short = Connection::new(&Arc::new(config.clone()), ports[0], ports[1], iss);
        Twins {
            long: short.clone(),
            short,
            predicted: 0,
            plain: 0,
            arrived: 0,
            dues: [[0; 4]; 2],
            sent_otherwise: 0,
            calls: 0,
        }
    }

    fn both(&mut self, call: impl Fn(&mut Connection)) {
        call(&mut self.short);
        call(&mut self.long);
        self.compare();
    }

    fn arrive(&mut self, now: Time, segment: &Segment, marked: bool) {
        if marked {
            self.both(|connection| connection.note_mark(segment));
        }
        self.arrived += 1;
        self.short.stats.segments_received += 1;
        let short = &mut self.short;
        if short.arrive_steady(now, segment)
            || short.arrive_stamped(now, segment)
            || short.arrive_extended(now, segment)
        {
            self.predicted += 1;
        } else if self.short.arrive_plain(now, segment) {
            self.plain += 1;
        } else {
            self.short.arrive_by_state(now, segment);
        }
        self.long.stats.segments_received += 1;
        self.long.steady = Steady::No;
        self.long.arrive_by_state(now, segment);
        assert_eq!(self.short.steady, self.long.steady);
        self.compare();
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        let kind = self.short.steady;
        if kind != Steady::No {
            self.dues[usize::from(kind != Steady::Plain)][self.short.due_when_steady() as usize] += 1;
        }
        let unasked = (!self.short.may_transmit()).then(|| self.short.clone());
        let segment = self.short.poll_transmit(cx);
        self.sent_otherwise += u64::from(kind == Steady::No && segment.is_some());
        if let Some(unasked) = unasked {
            // It need not be asked: that it was makes no difference.
            assert_eq!((&segment, format!("{unasked:?}")), (&None, format!("{:?}", self.short)));
        }
        self.long.steady = Steady::No;
        assert_eq!(segment, self.long.poll_transmit(cx));
        // That a connection is steady again is found when a segment arrives.
        assert!(self.short.steady == Steady::No || self.long.is_steady());
        self.long.steady = self.short.steady;
        self.compare();
        while let Some(event) = self.short.poll_event() {
            assert_eq!(Some(event), self.long.poll_event());
        }
        segment
    }

    fn compare(&mut self) {
        assert_eq!(self.short.poll_timeout(), self.long.poll_timeout());
        self.calls += 1;
        if self.calls.is_multiple_of(10) {
            self.compare_all();
        }
    }

    fn compare_all(&self) {
        let (short, long) = (format!("{:?}", self.short), format!("{:?}", self.long));
        let differs = short.bytes().zip(long.bytes()).position(|(a, b)| a != b);
        let from = differs.unwrap_or(0).saturating_sub(200);
        assert!(short == long, "{}\n{}", &short[from..], &long[from..]);
    }
}

fn any_config(random: &mut Stream) -> Config {
    let mut one_of = |n: u64| random.below(n);
    let mss_bytes = [20, 536, 1000, 1001][one_of(4) as usize];
    // Mostly all of the rules of Linux or none, as extras of any kind end the shortest way.
    let linux = one_of(4) == 0;
    let mut rules = || linux && one_of(4) > 0;
    let of_linux = Config {
        rto_rules: if rules() { RtoRules::Linux } else { RtoRules::Rfc6298 },
        quick_acks: if rules() { 16 } else { 0 },
        delayed_ack_adapts: rules(),
        compressed_acks: rules(),
        delayed_ack_rules: if rules() { DelayedAckRules::Linux } else { DelayedAckRules::Rfc },
        initial_receive_window_bytes: rules().then_some(3 * mss_bytes),
        hystart_rules: if rules() { HystartRules::Linux } else { HystartRules::PlusPlus },
        window_validation: match (rules(), rules()) {
            (true, true) => WindowValidation::Rfc7661,
            (true, false) => WindowValidation::Linux,
            _ => WindowValidation::Half,
        },
        own: Own::default().with(&CUBIC_RULES, if rules() { LINUX_RULES } else { 0 }),
        nagle_rules: if rules() { NagleRules::Minshall } else { NagleRules::Rfc },
        keep_alive: rules().then_some(KeepAlive {
            idle: Span::from_ms(300),
            interval: Span::from_ms(200),
            probes: 2,
        }),
        accurate_ecn: rules(),
        loss_probe_rules: if rules() { LossProbeRules::Linux } else { LossProbeRules::Rfc8985 },
        undo_rules: if rules() { UndoRules::Linux } else { UndoRules::Rfc3522 },
        rack_rules: if rules() { RackRules::Linux } else { RackRules::Rfc8985 },
        growth_rules: if rules() { GrowthRules::Linux } else { GrowthRules::Rfc5681 },
        send_buffer_bytes: rules().then_some(u64::from(7 * mss_bytes)),
        initial_send_buffer_bytes: rules().then_some(u64::from(3 * mss_bytes)),
        user_timeout: rules().then_some(Span::from_secs(3)),
        user_timeout_option: rules().then_some(UserTimeoutOption {
            advertised: Span::from_secs(4),
            changeable: rules(),
            lower_limit: Span::from_secs(2),
            upper_limit: Span::from_secs(6),
        }),
        fast_open: rules().then_some(FirstCookie::Known),
        ..Config::default()
    };
    Config {
        variant: Variant::ALL[one_of(6) as usize],
        mss_bytes,
        initial_window: InitialWindow::Segments(1 + one_of(12) as u32),
        receive_window_bytes: [2 * mss_bytes, 5000, 30_000, 1 << 20][one_of(4) as usize],
        window_scaling: one_of(4) > 0,
        min_rto: Span::from_ms(200),
        delayed_ack: (one_of(2) == 0).then_some(Span::from_ms(100)),
        delayed_ack_count: 1 + one_of(3) as u32,
        piggyback_acks: one_of(4) > 0,
        nagle: one_of(2) == 0,
        dup_ack_threshold: 1 + one_of(4) as u32,
        limited_transmit: one_of(2) == 0,
        sack: [None, None, Some(true), Some(false)][one_of(4) as usize],
        timestamps: one_of(5) == 0,
        byte_counting_limit: 1 + one_of(2) as u32,
        initial_ssthresh_bytes: (one_of(2) == 0).then_some(4000),
        restart_after_idle: one_of(2) == 0,
        ecn: one_of(2) == 0,
        rack: one_of(4) == 0,
        tail_loss_probe: one_of(2) == 0,
        prr: one_of(4) == 0,
        frto: one_of(2) == 0,
        prr_for_ecn: one_of(2) == 0,
        ecn_min_window: 1 + one_of(2) as u32,
        reduce_after_lost_retransmission: one_of(2) == 0,
        undo: one_of(2) == 0,
        hystart: one_of(8) == 0,
        pacing: one_of(8) == 0,
        msl: Span::from_secs(1),
        one_way_connections: one_of(12) == 0,
        ..of_linux
    }
}

fn cookie(number: u8) -> Cookie {
    Cookie::new(&[number; 8]).unwrap_or(Cookie::REQUEST)
}

/// A segment that is nearly as expected.
fn disturb(random: &mut Stream, segment: &mut Segment) {
    let near = [1, 2, 1000, 1001, u32::MAX, 1 << 31][random.below(6) as usize];
    match random.below(10) {
        0 => segment.seq = segment.seq.wrapping_add(near),
        1 => segment.ack = segment.ack.wrapping_add(near),
        2 => segment.window = random.next_u64() as u16,
        3 => segment.window = 0,
        4 => segment.payload_bytes = random.below(3000) as u32,
        5 => segment.flags = Flags(segment.flags.0 ^ 1 << random.below(8)),
        6 => segment.options.sack.set_fast_open(cookie(random.below(3) as u8)),
        7 => {
            segment.options.sack.set_user_timeout(UserTimeout::of(Span::from_secs(1 + random.below(9))));
        }
        8 => segment
            .options
            .sack
            .push(segment.ack.wrapping_add(near), segment.ack.wrapping_add(near.wrapping_mul(2))),
        _ => segment.payload_bytes = 0,
    }
}

/// What may happen on the way of a segment, each in so many of 1000.
struct Path {
    lost: u64,
    doubled: u64,
    marked: u64,
    disturbed: u64,
    jitter: Span,
}

/// Two ends, each twice, which write, read and close at random over such a path; so many steps.
fn run(seed: u64, configs: [Config; 2], path: &Path, steps: u32, acts: bool) -> [Twins; 2] {
    let mut random = Stream::new(seed, 0, "twins");
    let iss = [random.next_u64() as u32, u32::MAX - 2000];
    let mut ends = [0, 1].map(|i| Twins::new(&configs[i], [i as u16, 1 - i as u16], iss[i]));
    // The cookie is known, unknown or another.
    let known = random.below(3) as u8;
    ends[1].both(|end| end.set_own_cookie(cookie(1)));
    if known > 0 {
        let known = KnownServer { cookie: cookie(known), mss_bytes: 900 };
        ends[0].both(|end| end.set_known_server(known));
    }
    if random.below(2) == 0 {
        ends[0].both(|end| end.write(700));
    }
    ends[1].both(Connection::listen);
    ends[0].both(Connection::open);
    let mut now = Time::ZERO;
    let mut flight: Vec<(Time, usize, Segment, bool)> = Vec::new();
    let mut unused = Stream::new(0, 0, "");
    for _ in 0..steps {
        for (i, end) in ends.iter_mut().enumerate() {
            // Mostly until nothing is left to send.
            while random.below(50) > 0
                && let Some(segment) = end.poll(&mut Context { now, random: &mut unused })
            {
                let of_thousand = |random: &mut Stream, n: u64| random.below(1000) < n;
                let copies = match () {
                    () if of_thousand(&mut random, path.lost) => 0,
                    () => 1 + u64::from(of_thousand(&mut random, path.doubled)),
                };
                for _ in 0..copies {
                    let mut segment = segment.clone();
                    while of_thousand(&mut random, path.disturbed) {
                        disturb(&mut random, &mut segment);
                    }
                    let at = now + Span::from_ms(50) + Span::from_ns(random.below(path.jitter.as_ns() + 1));
                    let marked = of_thousand(&mut random, path.marked);
                    let place = flight.partition_point(|(other, ..)| *other <= at);
                    flight.insert(place, (at, 1 - i, segment, marked));
                }
            }
        }
        let i = random.below(2) as usize;
        match random.below(if acts { 1000 } else { 200 }) {
            0..100 => {
                let bytes = [1, 500, 1000, 20_000][random.below(4) as usize];
                ends[i].both(|end| end.write(bytes));
            }
            200..210 => {
                let reading = random.below(3) > 0;
                ends[i].both(|end| end.set_reading(reading));
            }
            210..230 => {
                let bytes = random.below(5000);
                ends[i].both(|end| end.read(bytes));
            }
            230..233 => ends[i].both(|end| end.set_path_mss(800)),
            233..236 => ends[i].both(Connection::close),
            236 => ends[i].both(Connection::close_half_duplex),
            237 if random.below(4) == 0 => ends[i].both(Connection::abort),
            _ => {}
        }
        if ends.iter().all(|end| end.short.state() == State::Closed) {
            break;
        }
        let deadline = ends.iter().filter_map(|end| end.short.poll_timeout()).min();
        let arrives = flight.first().is_some_and(|(at, ..)| deadline.is_none_or(|deadline| *at <= deadline));
        if arrives {
            let (at, i, segment, marked) = flight.remove(0);
            now = at;
            ends[i].arrive(now, &segment, marked);
        } else if let Some(deadline) = deadline {
            now = deadline.max(now);
            for end in &mut ends {
                end.short.handle_timeout(&mut Context { now, random: &mut unused });
                end.long.handle_timeout(&mut Context { now, random: &mut unused });
                end.compare();
            }
        }
    }
    ends.iter().for_each(Twins::compare_all);
    ends
}

#[test]
fn the_short_way_and_the_long_come_to_the_same() {
    let (mut predicted, mut plain, mut arrived, mut dues, mut otherwise) = (0, 0, 0, [[0; 4]; 2], 0);
    for seed in 0..900 {
        let mut random = Stream::new(seed, 0, "configs");
        let configs = [any_config(&mut random), any_config(&mut random)];
        let mut of = |choices: [u64; 4]| choices[random.below(4) as usize];
        let path = Path {
            lost: of([0, 0, 20, 100]),
            doubled: of([0, 0, 10, 100]),
            marked: of([0, 0, 10, 200]),
            disturbed: of([0, 0, 20, 200]),
            jitter: Span::from_ms(of([0, 0, 2, 60])),
        };
        let ends = run(seed, configs, &path, 400, true);
        predicted += ends.iter().map(|end| end.predicted).sum::<u64>();
        plain += ends.iter().map(|end| end.plain).sum::<u64>();
        arrived += ends.iter().map(|end| end.arrived).sum::<u64>();
        otherwise += ends.iter().map(|end| end.sent_otherwise).sum::<u64>();
        for end in &ends {
            for (all, of_end) in dues.iter_mut().flatten().zip(end.dues.iter().flatten()) {
                *all += of_end;
            }
        }
    }
    // None of the ways is a rare one here.
    assert!((arrived / 10..arrived / 2).contains(&predicted), "{predicted} of {arrived}");
    assert!((arrived / 10..arrived / 2).contains(&plain), "{plain} of {arrived}");
    assert!(dues.iter().flatten().all(|&due| due > 500), "{dues:?}");
    assert!(otherwise > arrived / 10, "{otherwise} for {arrived}");
}

/// Rare at random: a FIN without data comes before the last data, and counts when that has come.
#[test]
fn data_up_to_a_fin_that_came_first_goes_the_long_way() {
    let mut ends = [0, 1].map(|i| Twins::new(&Config::default(), [i, 1 - i], 0));
    let mut unused = Stream::new(0, 0, "");
    let mut cx = Context { now: Time::ZERO, random: &mut unused };
    ends[1].both(Connection::listen);
    ends[0].both(Connection::open);
    for i in [0, 1, 0] {
        let segment = ends[i].poll(&mut cx).expect("the handshake");
        ends[1 - i].arrive(cx.now, &segment, false);
    }
    ends[0].both(|end| end.write(1000));
    let data = ends[0].poll(&mut cx).expect("data");
    ends[0].both(Connection::close);
    let fin = ends[0].poll(&mut cx).expect("FIN");
    assert_eq!((fin.payload_bytes, fin.flags), (0, Flags::FIN | Flags::ACK));
    for segment in [fin, data] {
        ends[1].arrive(cx.now, &segment, false);
        ends[1].poll(&mut cx).expect("an acknowledgement");
    }
    assert_eq!(ends[1].short.state(), State::CloseWait);
    ends[1].compare_all();
}

#[test]
fn nearly_every_segment_goes_the_short_way() {
    let path = Path { lost: 0, doubled: 0, marked: 0, disturbed: 0, jitter: Span::ZERO };
    for variant in Variant::ALL {
        let timestamps = variant == Variant::CUBIC;
        let config = Config { variant, delayed_ack: None, timestamps, ..Config::default() };
        let ends = run(1, [config.clone(), config], &path, 2000, false);
        for end in &ends {
            assert_eq!(end.short.state(), State::Established);
            assert!(end.predicted * 20 > end.arrived * 19, "{variant}: {} of {}", end.predicted, end.arrived);
        }
    }
}
