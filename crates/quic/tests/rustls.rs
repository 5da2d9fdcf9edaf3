//! The null session beside TLS: flights of the same octets, and datagrams of the same sizes at the same
//! instants, whichever of them is lost.

mod path;

use path::{Path, Sent};
use quinn_proto::Side;
use quinn_proto::crypto::Session;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::transport_parameters::TransportParameters;
use roamsim_engine::Stream;
use roamsim_network::socket::endpoint::{Endpoint, EndpointEvent};
use roamsim_quic::{Crypto, EarlyData, Settings};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::collections::VecDeque;
use std::sync::Arc;

/// Signed by itself with the key beside it, on Edwards curve 25519.
const CERTIFICATE: &[u8] = include_bytes!("../src/tls/server.der");
const KEY: &[u8] = include_bytes!("../src/tls/key.der");

/// Both sides over TLS; the chain has so many certificates, of which the first counts.
fn tls(certificates: usize) -> [Crypto; 2] {
    tls_with(certificates, false)
}

/// The same; tickets may allow early data.
fn tls_with(certificates: usize, allows_early_data: bool) -> [Crypto; 2] {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = [&rustls::version::TLS13];
    let certificate = CertificateDer::from(CERTIFICATE);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider));
    let client = client.with_protocol_versions(&versions).expect("TLS 1.3");
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.enable_early_data = allows_early_data;
    let client = QuicClientConfig::try_from(client);
    let server = rustls::ServerConfig::builder_with_provider(provider);
    let server = server.with_protocol_versions(&versions).expect("TLS 1.3").with_no_client_auth();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY.to_vec()));
    let mut server = server.with_single_cert(vec![certificate; certificates], key).expect("a key");
    // All or nothing (RFC 9001 section 4.6.1).
    server.max_early_data_size = if allows_early_data { u32::MAX } else { 0 };
    let server = QuicServerConfig::try_from(server);
    [Crypto::Client(Arc::new(client.expect("a suite"))), Crypto::Server(Arc::new(server.expect("a suite")))]
}

/// The same without cryptography: each certificate has a length of three octets and no extensions, of two,
/// and those of the first are counted by the session.
fn null(certificates: usize) -> [Crypto; 2] {
    Crypto::null(&settings(certificates, EarlyData::None))
}

fn settings(certificates: usize, early_data: EarlyData) -> Settings {
    let chain_bytes = certificates * (CERTIFICATE.len() + 5) - 5;
    Settings { certificate_bytes: chain_bytes as u32, early_data, ..Settings::default() }
}

/// What a session writes until it has nothing to say: the octets, and whether new keys came with them.
fn flights(session: &mut dyn Session) -> Vec<(Vec<u8>, bool)> {
    let mut flights = Vec::new();
    loop {
        let mut octets = Vec::new();
        let has_keys = session.write_handshake(&mut octets).is_some();
        if octets.is_empty() && !has_keys {
            return flights;
        }
        flights.push((octets, has_keys));
    }
}

/// Everything that the two sides write. Each says what it has to as soon as it has read something, as in the
/// library.
fn handshake([client, server]: [Crypto; 2]) -> Vec<(usize, usize, bool)> {
    let params = TransportParameters::read(Side::Server, &mut b"".as_slice()).expect("defaults");
    let (Crypto::Client(client), Crypto::Server(server)) = (client, server) else { unreachable!("by order") };
    let client = client.start_session(1, "server", &params).expect("a session");
    let mut sessions = [client, server.start_session(1, &params)];
    let mut written = Vec::new();
    let mut unread = VecDeque::from([(0, flights(&mut *sessions[0]))]);
    while let Some((from, flight)) = unread.pop_front() {
        for (octets, has_keys) in flight {
            written.push((from, octets.len(), has_keys));
            if !octets.is_empty() {
                let reader = &mut *sessions[1 - from];
                reader.read_handshake(&octets).expect("a message that is understood");
                unread.push_back((1 - from, flights(reader)));
            }
        }
    }
    assert!(sessions.iter().all(|session| !session.is_handshaking()));
    written
}

#[test]
fn flights_have_the_octets_of_tls() {
    for certificates in [1, 4] {
        assert_eq!(
            handshake(null(certificates)),
            handshake(tls(certificates)),
            "{certificates} certificates"
        );
    }
}

fn sent(crypto: [Crypto; 2], bytes: u64, lost: &[usize]) -> Vec<Sent> {
    let mut path = Path::new(crypto, &Settings::default());
    path.send(bytes);
    path.run(lost);
    assert_eq!(path.delivered_bytes, bytes, "lost: {lost:?}");
    path.sent
}

/// 24 cases: each of the first datagrams is lost in one of them. 40,000 octets take 44 datagrams.
#[test]
fn datagrams_are_those_of_tls_whichever_is_lost() {
    for lost in 0..24 {
        let (null, tls) = (sent(null(1), 40_000, &[lost]), sent(tls(1), 40_000, &[lost]));
        assert_eq!(null, tls, "datagram {lost} is lost");
    }
}

/// Two ends over the TLS that scenarios have. The first one has the secrets.
fn over_tls(settings: &Settings, seed: u64) -> Path {
    let (crypto, secrets) = Crypto::tls(settings, Stream::new(seed, 0, "meeting"));
    let mut path = Path::with_seed(crypto, settings, seed);
    path.ends = path.ends.map(|end| end.over_tls(Arc::clone(&secrets)));
    path
}

/// The TLS that scenarios have draws from the stream of its end: one seed, the same octets. Its certificate
/// is 332 octets long, so that a chain of 1500 has five of them. The server's secrets are told: two of the
/// handshake, two of the data, and that of exporters.
#[test]
fn tls_of_one_seed_has_the_same_octets_and_the_datagrams_of_the_null_session() {
    let run = |seed| {
        let mut path = over_tls(&Settings::default(), seed);
        path.send(40_000);
        path.run(&[5]);
        assert_eq!(path.delivered_bytes, 40_000);
        let lines = path.ends[0].take_secrets().expect("secrets");
        assert!(path.ends[1].take_secrets().is_none());
        let labels = ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"];
        assert!(labels.iter().all(|label| lines.contains(label)), "{lines}");
        (path.sent, path.octets, lines)
    };
    let (sent_over_tls, octets, secrets) = run(7);
    assert_eq!((&octets, &secrets), (&run(7).1, &run(7).2));
    assert_ne!(octets, run(8).1);
    assert_eq!(sent_over_tls, sent(null(5), 40_000, &[5]));
}

/// 12 certificates, 4044 octets, do not fit into three times the client's first datagram (RFC 9000 section
/// 8.1).
// quinn-proto: server_can_send_3_inital_packets, large_initial.
#[test]
fn a_long_chain_waits_for_the_client_as_with_tls() {
    let (null, tls) = (sent(null(12), 10_000, &[]), sent(tls(12), 10_000, &[]));
    assert_eq!(null, tls);
    let first_flight =
        null.iter().filter(|sent| sent.end == 1 && sent.at == path::ms(20)).map(|sent| sent.bytes);
    assert_eq!(first_flight.sum::<usize>(), 3600);
}

/// Two sides over TLS, after a first connection. Which of them has forgotten it is another one.
fn met(forgets: bool) -> [Crypto; 2] {
    let [client, server] = tls_with(2, true);
    sent([client.clone(), server.clone()], 1000, &[]);
    let [_, other] = tls_with(2, true);
    [client, if forgets { other } else { server }]
}

/// What a client that has met the server sends early is read, or it is not and the server shows its
/// certificate again.
#[test]
fn flights_with_early_data_have_the_octets_of_tls() {
    for (early_data, forgets) in [(EarlyData::Accepted, false), (EarlyData::Refused, true)] {
        let null = handshake(Crypto::null(&settings(2, early_data)));
        assert_eq!(null, handshake(met(forgets)), "{early_data:?}");
    }
}

/// 16 cases of each: one of the first datagrams is lost, and one none.
// quinn-proto: zero_rtt_happypath.
#[test]
fn datagrams_with_early_data_are_those_of_tls_whichever_is_lost() {
    for (early_data, forgets) in [(EarlyData::Accepted, false), (EarlyData::Refused, true)] {
        for lost in 0..16 {
            let null = sent(Crypto::null(&settings(2, early_data)), 20_000, &[lost]);
            assert_eq!(null, sent(met(forgets), 20_000, &[lost]), "{early_data:?}, datagram {lost} is lost");
        }
    }
}

/// The TLS that scenarios have, with early data: one seed, the same octets, in the datagrams of the null
/// session, whichever is lost. 1000 octets are there after one way of 20 ms, or three where the server has
/// forgotten the client. The secret of early data is told once, and none of the connection before.
#[test]
fn early_data_over_tls_of_one_seed_has_the_same_octets_and_the_datagrams_of_the_null_session() {
    for (early_data, arrives_ms) in [(EarlyData::Accepted, 20), (EarlyData::Refused, 60)] {
        // A chain of two certificates, as that of the null session.
        let settings =
            Settings { certificate_bytes: 2 * CERTIFICATE.len() as u32, ..settings(2, early_data) };
        let run = |seed, lost| {
            let mut path = over_tls(&settings, seed);
            path.send(20_000);
            path.run(&[lost]);
            assert_eq!(path.delivered_bytes, 20_000, "{early_data:?}");
            let lines = path.ends[0].take_secrets().expect("secrets");
            (path.sent, path.octets, lines)
        };
        let none = usize::MAX;
        let (_, octets, lines) = run(7, none);
        assert_eq!((&octets, &lines), (&run(7, none).1, &run(7, none).2));
        assert_ne!(octets, run(8, none).1);
        // One of early data, and six of the handshake and of what follows.
        let labels: Vec<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
        let early = labels.iter().filter(|label| **label == "CLIENT_EARLY_TRAFFIC_SECRET").count();
        let servers = labels.iter().filter(|label| **label == "SERVER_TRAFFIC_SECRET_0").count();
        assert_eq!((early, servers), (1, 1), "{labels:?}");
        for lost in 0..16 {
            let null = sent(Crypto::null(&self::settings(2, early_data)), 20_000, &[lost]);
            assert_eq!(run(7, lost).0, null, "{early_data:?}, datagram {lost} is lost");
        }
        let mut path = over_tls(&settings, 7);
        path.send(1000);
        path.run(&[]);
        let arrived = path.when(1, EndpointEvent::Received { up_to: 1000 });
        assert_eq!(arrived, Some(path::ms(arrives_ms)), "{early_data:?}");
    }
}
