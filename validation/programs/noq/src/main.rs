//! BBR version 3 of `noq-proto`, a QUIC stack, and ours over TCP, each over the same bottleneck in virtual time.
//! Prints a Markdown table: goodput, waits and the share of time in each state.
//!
//! The stack draws the times between its probes from the system and has no setting for it, so each path has
//! several runs. TCP segments carry 1460 octets in packets of 1500; the stack's datagrams have up to 1472 in
//! packets of 1500.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::congestion::Bbr3Config;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection as Quic, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, FourTuple,
    MtuDiscoveryConfig, PathId, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{Config, Connection, Segment, Variant};
use roamsim_protocols::{Context, Machine};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Signed by itself with the key beside it.
const CERTIFICATE: &[u8] = include_bytes!("../../../../crates/quic/src/tls/server.der");
const KEY: &[u8] = include_bytes!("../../../../crates/quic/src/tls/key.der");

const SECONDS: u64 = 60;
const RUNS: u64 = 5;
/// Behind Startup.
const WARM_UP: Span = Span::from_secs(5);
const ONE_WAY: Span = Span::from_ms(20);
/// Octets of IP and TCP, and of IP and UDP.
const TCP_HEADERS: u64 = 40;
const UDP_HEADERS: u64 = 28;
const STATES: [&str; 7] =
    ["startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt"];

/// A path: megabits a second from these seconds on, a queue in octets, and the share of packets lost.
struct Path {
    name: &'static str,
    rates: &'static [(u64, f64)],
    queue_bytes: u64,
    loss: f64,
}

const PATHS: [Path; 4] = [
    Path { name: "queue of four products", rates: &[(0, 10.0)], queue_bytes: 200_000, loss: 0.0 },
    Path { name: "queue of half a product", rates: &[(0, 10.0)], queue_bytes: 25_000, loss: 0.0 },
    Path { name: "1 % of losses", rates: &[(0, 10.0)], queue_bytes: 200_000, loss: 0.01 },
    Path {
        name: "2 Mb/s from 20 s to 40 s",
        rates: &[(0, 10.0), (20, 2.0), (40, 10.0)],
        queue_bytes: 200_000,
        loss: 0.0,
    },
];

/// The bottleneck in one direction.
struct Bottleneck<'a> {
    path: &'a Path,
    free_at: Time,
    random: Stream,
    waits_s: f64,
    packets: u64,
    lost: u64,
}

impl<'a> Bottleneck<'a> {
    fn new(path: &'a Path, seed: u64) -> Bottleneck<'a> {
        let random = Stream::new(seed, 0, "losses");
        Bottleneck { path, free_at: Time::ZERO, random, waits_s: 0.0, packets: 0, lost: 0 }
    }

    /// When a packet arrives behind it, unless it is lost.
    fn pass(&mut self, now: Time, bytes: u64) -> Option<Time> {
        let second = now.as_ns() / 1_000_000_000;
        let rate = self.path.rates.iter().rev().find(|(from, _)| *from <= second).map_or(10.0, |(_, rate)| *rate);
        let bytes_per_s = rate * 1e6 / 8.0;
        let begin = self.free_at.max(now);
        let wait_s = begin.since(now).as_secs_f64();
        if wait_s * bytes_per_s + bytes as f64 > self.path.queue_bytes as f64
            || self.random.bernoulli(self.path.loss)
        {
            self.lost += 1;
            return None;
        }
        self.free_at = begin + Span::from_secs_f64(bytes as f64 / bytes_per_s);
        if now >= Time::ZERO + WARM_UP {
            self.waits_s += wait_s;
            self.packets += 1;
        }
        Some(self.free_at + ONE_WAY)
    }
}

/// What a run has measured.
#[derive(Clone, Copy, Default)]
struct Outcome {
    goodput_mbps: f64,
    wait_ms: f64,
    lost: f64,
    states: [f64; 7],
}

impl Outcome {
    fn new(received: u64, bottleneck: &Bottleneck<'_>, samples: [u64; 7]) -> Outcome {
        let seconds = Span::from_secs(SECONDS).saturating_sub(WARM_UP).as_secs_f64();
        let all = samples.iter().sum::<u64>() as f64;
        Outcome {
            goodput_mbps: received as f64 * 8e-6 / seconds,
            wait_ms: bottleneck.waits_s * 1e3 / bottleneck.packets as f64,
            lost: bottleneck.lost as f64,
            states: samples.map(|count| count as f64 / all),
        }
    }
}

fn mean(outcomes: &[Outcome]) -> Outcome {
    let of = |value: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(value).sum::<f64>() / outcomes.len() as f64;
    Outcome {
        goodput_mbps: of(&|outcome| outcome.goodput_mbps),
        wait_ms: of(&|outcome| outcome.wait_ms),
        lost: of(&|outcome| outcome.lost),
        states: std::array::from_fn(|state| of(&|outcome| outcome.states[state])),
    }
}

/// Ours over TCP.
fn ours(path: &Path, seed: u64) -> Outcome {
    let config = Arc::new(Config {
        variant: Variant::Bbr,
        mss_bytes: 1460,
        min_rto: Span::from_ms(200),
        tail_loss_probe: true,
        ..Config::default()
    });
    let mut ends = [Connection::new(&config, 1, 2, 7), Connection::new(&config, 2, 1, 9)];
    ends[0].set_random(&Stream::new(seed, 0, "ours"));
    ends[1].listen();
    ends[0].open();
    ends[0].write(u64::MAX);
    let mut bottleneck = Bottleneck::new(path, seed);
    let mut flights: BinaryHeap<Reverse<(Time, u64, usize)>> = BinaryHeap::new();
    let mut sent: Vec<Segment> = Vec::new();
    let (mut now, mut sample_at) = (Time::ZERO, Time::ZERO + WARM_UP);
    let (mut before, mut samples) = (0, [0; 7]);
    let end = Time::ZERO + Span::from_secs(SECONDS);
    loop {
        for i in 0..2 {
            loop {
                let mut unused = Stream::new(0, 0, "");
                let mut cx = Context { now, random: &mut unused };
                let Some(segment) = ends[i].poll_transmit(&mut cx) else { break };
                let arrival = match i {
                    0 => bottleneck.pass(now, u64::from(segment.payload_bytes) + TCP_HEADERS),
                    _ => Some(now + ONE_WAY),
                };
                let Some(at) = arrival else { continue };
                sent.push(segment);
                flights.push(Reverse((at, sent.len() as u64, 1 - i)));
            }
            while ends[i].poll_event().is_some() {}
        }
        let flight = flights.peek().map(|Reverse((at, ..))| *at);
        let timeout = ends.iter().filter_map(Machine::poll_timeout).min();
        let Some(at) = [flight, timeout].into_iter().flatten().min().filter(|at| *at < end) else { break };
        while sample_at <= at {
            if sample_at == Time::ZERO + WARM_UP {
                before = ends[1].received_offset();
            }
            let state = ends[0].congestion_state().unwrap_or("");
            samples[STATES.iter().position(|name| *name == state).expect("a state")] += 1;
            sample_at += Span::from_ms(5);
        }
        now = now.max(at);
        if flight == Some(at) {
            let Some(Reverse((_, number, to))) = flights.pop() else { break };
            let segment = sent[number as usize - 1].clone();
            ends[to].handle_segment_at(now, &segment);
        } else {
            ends.iter_mut().for_each(|end| end.handle_timeout_at(now));
        }
    }
    Outcome::new(ends[1].received_offset() - before, &bottleneck, samples)
}

/// One end of the stack.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Quic)>,
    peer: SocketAddr,
    received: u64,
    sends: Option<StreamId>,
}

fn address(end: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + end)), 4433)
}

fn transport() -> Arc<TransportConfig> {
    let mut bbr = Bbr3Config::default();
    // As TCP's (RFC 6928).
    bbr.initial_window(14_480);
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(1472);
    let window = VarInt::from_u32(16_000_000);
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(Arc::new(bbr))
        .mtu_discovery_config(Some(discovery))
        .enable_segmentation_offload(false)
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(16_000_000);
    Arc::new(config)
}

fn ends() -> [End; 2] {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = [&rustls::version::TLS13];
    let certificate = CertificateDer::from(CERTIFICATE);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider));
    let client = client.with_protocol_versions(&versions).expect("TLS 1.3");
    let client = QuicClientConfig::try_from(client.with_root_certificates(roots).with_no_client_auth());
    let server = rustls::ServerConfig::builder_with_provider(provider);
    let server = server.with_protocol_versions(&versions).expect("TLS 1.3").with_no_client_auth();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY.to_vec()));
    let server = server.with_single_cert(vec![certificate], key).expect("a key");
    let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(server).expect("a suite")));
    server.transport_config(transport());
    let mut client = ClientConfig::new(Arc::new(client.expect("a suite")));
    client.transport_config(transport());
    let end = |server: Option<Arc<ServerConfig>>, peer| End {
        endpoint: Endpoint::new(Arc::new(EndpointConfig::default()), server, true),
        connection: None,
        peer: address(peer),
        received: 0,
        sends: None,
    };
    let mut ends = [end(None, 1), end(Some(Arc::new(server)), 0)];
    let peer = ends[0].peer;
    ends[0].connection = Some(ends[0].endpoint.connect(instant(Time::ZERO), client, peer, "server").expect("a client"));
    ends
}

/// Instants of the stack count from one that is taken once.
fn instant(at: Time) -> Instant {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    *START + Duration::from_nanos(at.as_ns())
}

fn time(at: Instant) -> Time {
    Time::from_ns(at.saturating_duration_since(instant(Time::ZERO)).as_nanos() as u64)
}

impl End {
    /// Serves events and the application, which writes as much as fits and reads at once.
    fn serve(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        loop {
            if let Some(event) = connection.poll_endpoint_events() {
                if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(answer);
                }
            } else if let Some(event) = connection.poll() {
                match event {
                    Event::Connected if self.peer == address(1) => self.sends = connection.streams().open(Dir::Uni),
                    Event::Stream(StreamEvent::Opened { .. } | StreamEvent::Readable { .. }) => {
                        let accepted = connection.streams().accept(Dir::Uni);
                        self.sends = self.sends.or(accepted);
                        if let Some(stream) = self.sends {
                            let mut receiver = connection.recv_stream(stream);
                            if let Ok(mut chunks) = receiver.read(true) {
                                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                                    self.received += chunk.bytes.len() as u64;
                                }
                                let _ = chunks.finalize();
                            }
                        }
                    }
                    _ => {}
                }
            } else {
                break;
            }
        }
        if self.peer == address(1)
            && let Some(stream) = self.sends
        {
            static ZEROS: [u8; 65_536] = [0; 65_536];
            let mut chunks = [Bytes::from_static(&ZEROS)];
            while connection.send_stream(stream).write_chunks(&mut &mut chunks[..]).is_ok() {
                chunks = [Bytes::from_static(&ZEROS)];
            }
        }
    }

    fn take(&mut self, now: Time, octets: &[u8]) {
        let mut answer = Vec::new();
        let ways = FourTuple::new(self.peer, None);
        match self.endpoint.handle(instant(now), ways, None, BytesMut::from(octets), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, instant(now), &mut answer, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            _ => {}
        }
    }

    /// The state of its BBR, by ours' names.
    fn state(&self) -> Option<usize> {
        let (_, connection) = self.connection.as_ref()?;
        let text = format!("{:?}", connection.congestion_state(PathId::ZERO)?);
        let name = text.split(" state: ").nth(1)?.split(", undo_state").next()?;
        let ours = match name {
            "Startup" => "startup",
            "Drain" => "drain",
            "ProbeBw(Down)" => "probe_bw_down",
            "ProbeBw(Cruise)" => "probe_bw_cruise",
            "ProbeBw(Refill)" => "probe_bw_refill",
            "ProbeBw(Up)" => "probe_bw_up",
            "ProbeRtt" => "probe_rtt",
            _ => return None,
        };
        STATES.iter().position(|state| *state == ours)
    }
}

/// The stack's.
fn theirs(path: &Path, seed: u64) -> Outcome {
    let mut ends = ends();
    let mut bottleneck = Bottleneck::new(path, seed);
    let mut flights: BinaryHeap<Reverse<(Time, usize, usize)>> = BinaryHeap::new();
    let mut sent: Vec<Vec<u8>> = Vec::new();
    let (mut now, mut sample_at) = (Time::ZERO, Time::ZERO + WARM_UP);
    let (mut before, mut samples) = (0, [0; 7]);
    let end = Time::ZERO + Span::from_secs(SECONDS);
    loop {
        for i in 0..2 {
            ends[i].serve();
            let Some((_, connection)) = &mut ends[i].connection else { continue };
            loop {
                let mut octets = Vec::new();
                let Some(transmit) = connection.poll_transmit(instant(now), NonZeroUsize::MIN, &mut octets) else { break };
                octets.truncate(transmit.size);
                let arrival = match i {
                    0 => bottleneck.pass(now, octets.len() as u64 + UDP_HEADERS),
                    _ => Some(now + ONE_WAY),
                };
                let Some(at) = arrival else { continue };
                sent.push(octets);
                flights.push(Reverse((at, sent.len() - 1, 1 - i)));
            }
        }
        let flight = flights.peek().map(|Reverse((at, ..))| *at);
        let timeouts = ends.iter().filter_map(|end| end.connection.as_ref()?.1.poll_timeout());
        let timeout = timeouts.min().map(time);
        let Some(at) = [flight, timeout].into_iter().flatten().min().filter(|at| *at < end) else { break };
        while sample_at <= at {
            if sample_at == Time::ZERO + WARM_UP {
                before = ends[1].received;
            }
            samples[ends[0].state().expect("a state")] += 1;
            sample_at += Span::from_ms(5);
        }
        now = now.max(at);
        if flight == Some(at) {
            let Some(Reverse((_, number, to))) = flights.pop() else { break };
            let octets = std::mem::take(&mut sent[number]);
            ends[to].take(now, &octets);
        } else {
            for end in &mut ends {
                if let Some((_, connection)) = &mut end.connection
                    && connection.poll_timeout().is_some_and(|at| time(at) <= now)
                {
                    connection.handle_timeout(instant(now));
                }
            }
        }
    }
    Outcome::new(ends[1].received - before, &bottleneck, samples)
}

fn main() {
    println!("| path | BBR | goodput, Mb/s | mean wait, ms | packets lost | Down | Cruise | Refill | Up | ProbeRTT |");
    println!("|{}", " --- |".repeat(10));
    for path in &PATHS {
        for (name, run) in [("ours", ours as fn(&Path, u64) -> Outcome), ("noq", theirs)] {
            let outcomes: Vec<_> = (1..=RUNS).map(|seed| run(path, seed)).collect();
            let Outcome { goodput_mbps, wait_ms, lost, states } = mean(&outcomes);
            let states: Vec<_> = states[2..].iter().map(|share| format!("{:.1} %", share * 100.0)).collect();
            println!(
                "| {} | {name} | {goodput_mbps:.2} | {wait_ms:.1} | {lost:.0} | {} |",
                path.name,
                states.join(" | ")
            );
        }
    }
}
