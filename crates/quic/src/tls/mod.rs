//! TLS 1.3 for a connection (RFC 8446, RFC 9001): rustls, with a certificate that is part of this crate.
//!
//! Runs repeat to the octet, and their captures can be decrypted:
//! - rustls takes its random numbers from a stream that the endpoint lends for each call ([`lend`]).
//! - *ring* always takes the key of a key exchange from the system. So X25519 (RFC 7748) is that of
//!   `x25519-dalek`, with a scalar from the lent stream. Signatures of Ed25519 use no random numbers (RFC
//!   8032).
//! - Certificates are checked against a fixed time of day.
//! - Secrets are kept as lines of a key log ([`Secrets`]) and written into captures.
//! - With early data (RFC 8446 section 2.3) the two ends have met before the run. A first handshake leaves
//!   the client two tickets and the server's transport parameters. It takes no simulated time, draws from a
//!   stream of its own, and is in no key log. Servers keep sessions in memory, so a ticket is a random name
//!   for one; a server that refuses early data has another memory.
//!
//! The server repeats its certificate until the chain has the wanted size. The client checks the first one.
//! Not modelled: resumption without early data.

use crate::SERVER_NAME;
use crate::null::{EarlyData, Remembered};
use crate::random::octets;
use quinn_proto::Side;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{ClientConfig, ServerConfig};
use quinn_proto::transport_parameters::TransportParameters;
use roamsim_engine::Stream;
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SecureRandom, SharedSecret, SupportedKxGroup, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{Error, KeyLog, NamedGroup, PeerMisbehaved};
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

/// Self-signed with [`KEY`] (Ed25519), for the name `server`.
const CERTIFICATE: &[u8] = include_bytes!("server.der");
const KEY: &[u8] = include_bytes!("key.der");

/// A day on which the certificate is valid: 1 January 2027.
const TODAY: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(1_798_761_600));

thread_local! {
    /// The random stream of the endpoint whose call is under way.
    static LENT: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// Swaps the lent stream with this one. Called before and after each call of the library.
pub(crate) fn lend(random: &mut Option<Stream>) {
    LENT.with_borrow_mut(|lent| std::mem::swap(lent, random));
}

fn drawn<const N: usize>() -> Option<[u8; N]> {
    LENT.with_borrow_mut(|lent| lent.as_mut().map(octets))
}

/// Random octets of rustls.
#[derive(Debug)]
struct Lent;

impl SecureRandom for Lent {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), rustls::crypto::GetRandomFailed> {
        for chunk in buffer.chunks_mut(8) {
            let octets = drawn::<8>().ok_or(rustls::crypto::GetRandomFailed)?;
            chunk.copy_from_slice(&octets[..chunk.len()]);
        }
        Ok(())
    }
}

/// Key exchange on curve 25519 (RFC 7748 section 6.1).
#[derive(Debug)]
struct X25519;

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let scalar = drawn::<32>().ok_or(Error::FailedToGetRandomBytes)?;
        Ok(Box::new(Exchange { scalar, public: x25519(scalar, X25519_BASEPOINT_BYTES) }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct Exchange {
    scalar: [u8; 32],
    public: [u8; 32],
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let point = peer.try_into().map_err(|_| Error::from(PeerMisbehaved::InvalidKeyShare))?;
        let shared = x25519(self.scalar, point);
        // A point of small order: the peer wants to know the secret beforehand (RFC 7748 section 6.1).
        if shared == [0; 32] {
            return Err(PeerMisbehaved::InvalidKeyShare.into());
        }
        Ok(SharedSecret::from(&shared[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// The time of day.
#[derive(Debug)]
struct Day;

impl TimeProvider for Day {
    fn current_time(&self) -> Option<UnixTime> {
        Some(TODAY)
    }
}

/// Secrets of a connection that no capture has taken yet, as lines of a key log (draft-ietf-tls-keylogfile).
#[derive(Debug, Default)]
pub struct Secrets(Mutex<String>);

impl Secrets {
    /// Takes the new secrets.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Secrets {
    fn add(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hex = |octets: &[u8]| {
            octets.iter().fold(String::new(), |mut text, octet| {
                let _ = write!(text, "{octet:02x}");
                text
            })
        };
        let _ = writeln!(lines, "{label} {} {}", hex(client_random), hex(secret));
    }
}

/// Only a client always has the secret of early data: a server that refuses it never learns it.
const OF_EARLY_DATA: &str = "CLIENT_EARLY_TRAFFIC_SECRET";

/// What a server logs. Both ends have the same secrets; the server has them first.
#[derive(Debug)]
struct OfServer(Arc<Secrets>);

impl KeyLog for OfServer {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if label != OF_EARLY_DATA {
            self.0.add(label, client_random, secret);
        }
    }
}

/// What a client logs.
#[derive(Debug)]
struct OfClient(Arc<Secrets>);

impl KeyLog for OfClient {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if label == OF_EARLY_DATA {
            self.0.add(label, client_random, secret);
        }
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        // The other two are offered, as by ring, and never used: both ends prefer the first.
        kx_groups: vec![&X25519, ring::kx_group::SECP256R1, ring::kx_group::SECP384R1],
        secure_random: &Lent,
        ..ring::default_provider()
    })
}

/// Of QUIC (RFC 9000).
const VERSION: u32 = 1;

/// The message of panics that only a wrong certificate, key or suite of this crate could cause.
const OURS: &str = "the certificate, the key and the suites of this crate";

/// Both ends of a connection over TLS, client and server, and their secrets. The server's chain has at least
/// so many octets. With early data they meet here, drawing from `random`, and the client remembers the
/// server's transport parameters.
pub(crate) fn ends(
    chain_bytes: u32,
    early_data: EarlyData,
    remembered: &Remembered,
    random: Stream,
) -> (Arc<QuicClientConfig>, Arc<QuicServerConfig>, Arc<Secrets>) {
    let versions = [&rustls::version::TLS13];
    let (certificate, secrets) = (CertificateDer::from(CERTIFICATE), Arc::<Secrets>::default());
    let has_early_data = early_data != EarlyData::None;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect(OURS);
    let client = rustls::ClientConfig::builder_with_details(provider(), Arc::new(Day));
    let client = client.with_protocol_versions(&versions).expect(OURS);
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.enable_early_data = has_early_data;
    client.key_log = Arc::new(OfClient(Arc::clone(&secrets)));
    let client = Arc::new(QuicClientConfig::try_from(client).expect(OURS));
    // Each has a memory of sessions of its own.
    let server = || {
        let server = rustls::ServerConfig::builder_with_details(provider(), Arc::new(Day));
        let server = server.with_protocol_versions(&versions).expect(OURS).with_no_client_auth();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY.to_vec()));
        let chain = vec![certificate.clone(); (chain_bytes as usize).div_ceil(CERTIFICATE.len()).max(1)];
        let mut server = server.with_single_cert(chain, key).expect(OURS);
        // All or nothing (RFC 9001 section 4.6.1).
        server.max_early_data_size = if has_early_data { u32::MAX } else { 0 };
        server.key_log = Arc::new(OfServer(Arc::clone(&secrets)));
        Arc::new(QuicServerConfig::try_from(server).expect(OURS))
    };
    let first = server();
    if has_early_data {
        meet(&client, &first, remembered, random);
        secrets.take();
    }
    let server = if early_data == EarlyData::Refused { server() } else { first };
    (client, server, secrets)
}

/// A first handshake, whose tickets the client keeps.
fn meet(
    client: &Arc<QuicClientConfig>,
    server: &Arc<QuicServerConfig>,
    remembered: &Remembered,
    random: Stream,
) {
    let mut lent = Some(random);
    lend(&mut lent);
    let of_client = TransportParameters::read(Side::Server, &mut [].as_slice()).expect(OURS);
    let of_server = TransportParameters::read(Side::Client, &mut remembered.octets()).expect(OURS);
    let client = Arc::clone(client).start_session(VERSION, SERVER_NAME, &of_client).expect(OURS);
    let mut sessions = [client, Arc::clone(server).start_session(VERSION, &of_server)];
    let (mut from, mut silent) = (0, 0);
    while silent < 2 {
        let mut octets = Vec::new();
        let has_keys = sessions[from].write_handshake(&mut octets).is_some();
        if !octets.is_empty() {
            sessions[1 - from].read_handshake(&octets).expect(OURS);
        }
        // Keys may come without octets, and octets without keys.
        let is_silent = octets.is_empty() && !has_keys;
        silent = if is_silent { silent + 1 } else { 0 };
        from = if is_silent { 1 - from } else { from };
    }
    lend(&mut lent);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7748 section 6.1: Bob's key, Alice's public key, and their secret.
    #[test]
    fn the_exchange_is_that_of_rfc_7748() {
        let octets = |hex: &str| -> [u8; 32] {
            std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
        };
        let scalar = octets("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        let public = x25519(scalar, X25519_BASEPOINT_BYTES);
        assert_eq!(public, octets("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
        let alice = octets("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        let secret = Box::new(Exchange { scalar, public }).complete(&alice).expect("a secret");
        let expected = octets("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        assert_eq!(secret.secret_bytes(), expected);
        assert!(Box::new(Exchange { scalar, public }).complete(&[0; 32]).is_err());
    }

    #[test]
    fn nothing_is_drawn_unless_a_stream_is_lent() {
        assert!(Lent.fill(&mut [0; 5]).is_err());
        let mut stream = Some(Stream::new(1, 0, "tls"));
        let mut drawn = [[0; 5]; 2];
        for octets in &mut drawn {
            lend(&mut stream);
            Lent.fill(octets).expect("octets");
            lend(&mut stream);
        }
        assert_ne!(drawn[0], drawn[1]);
        assert!(Lent.fill(&mut [0; 5]).is_err());
    }
}
