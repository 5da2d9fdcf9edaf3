//! A handshake without cryptography: the messages of TLS 1.3 (RFC 8446, RFC 9001) with their sizes, at the
//! instants at which they would be sent, and no secrets.
//!
//! - Messages have the header of TLS. ClientHello and EncryptedExtensions carry the transport parameters; all
//!   else is zeros.
//! - Sizes are those of rustls 0.23 with ring: X25519, AES-256-GCM with SHA-384, one certificate with a key
//!   on Edwards curve 25519, no ALPN, two session tickets. `tests/rustls.rs` compares every datagram.
//! - Packets have a tag of 16 octets, which tells the level of the keys, their phase and the packet's number.
//!   Headers and payloads are readable in captures.
//! - With early data a client knows a ticket of the server, and the transport parameters that went with it
//!   ([`Remembered`]). A server that takes the ticket shows no certificate (RFC 8446 section 2.2) and reads
//!   0-RTT packets. One that refuses it has forgotten the ticket: the handshake is whole, and what the client
//!   sent early is lost.
//! - Not modelled: resumption without early data, client certificates, compression of certificates, the time
//!   that a processor takes.

use crate::random::{NullKey, digest, mixed};
use quinn_proto::crypto::{
    ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;
use std::collections::VecDeque;
use std::io::Cursor;
use std::sync::Arc;

/// The only version (RFC 9000).
const VERSION: u32 = 1;

/// Types of messages (RFC 8446 section 4).
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const NEW_SESSION_TICKET: u8 = 4;
const ENCRYPTED_EXTENSIONS: u8 = 8;
const CERTIFICATE: u8 = 11;
const CERTIFICATE_VERIFY: u8 = 15;
const FINISHED: u8 = 20;

/// Octets of messages, their headers of four octets included. Those of the two with transport parameters and
/// of the certificate are without these; the server's name adds its length.
const CLIENT_HELLO_BYTES: usize = 174;
const SERVER_HELLO_BYTES: usize = 90;
const ENCRYPTED_EXTENSIONS_BYTES: usize = 14;
const CERTIFICATE_BYTES: usize = 13;
const CERTIFICATE_VERIFY_BYTES: usize = 72;
const FINISHED_BYTES: usize = 52;
const TICKET_BYTES: usize = 81;
const TICKETS: usize = 2;

const HEADER_BYTES: usize = 4;

/// What a ticket adds to ClientHello: `early_data` without content and `pre_shared_key` with one identity of
/// 32 octets and one binder of SHA-384 (RFC 8446 sections 4.2.10 and 4.2.11). To ServerHello: the identity
/// that is taken. To a ticket: how much early data it allows. In EncryptedExtensions `early_data` takes the
/// place of `server_name`, as long and without content too.
const OFFER_BYTES: usize = 4 + 95;
const CHOICE_BYTES: usize = 6;
const ALLOWANCE_BYTES: usize = 8;

/// The server's side.
pub struct NullServer {
    /// Octets of the certificate chain.
    pub certificate_bytes: u32,
    /// What it does with early data, if its tickets allow any.
    pub early_data: EarlyData,
}

/// The client's side.
#[derive(Default)]
pub struct NullClient {
    /// It has a ticket, which came with these transport parameters of the server.
    pub remembered: Option<Remembered>,
}

/// What becomes of data that a client sends with its first flight (RFC 9001 section 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyData {
    /// The client has no ticket, and sends none.
    None,
    /// The server reads it.
    Accepted,
    /// The server has forgotten the ticket.
    Refused,
}

/// Transport parameters of the server that a client keeps with a ticket (RFC 9000 section 7.4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered(Vec<u8>);

impl Remembered {
    /// Those of a server that takes so many octets, of a stream and altogether, and opens so many streams.
    pub(crate) fn new(window_bytes: u64, streams: u64, takes_datagrams: bool) -> Remembered {
        let mut octets = Vec::new();
        let mut put = |id: u64, value: u64| {
            let value = varint(value);
            octets.extend(varint(id).into_iter().chain(varint(value.len() as u64)).chain(value));
        };
        // RFC 9000 section 18.2: initial_max_data, the three of initial_max_stream_data, both of
        // initial_max_streams.
        put(4, window_bytes);
        (5..=7).for_each(|id| put(id, window_bytes));
        (8..=9).for_each(|id| put(id, streams));
        if takes_datagrams {
            // max_datagram_frame_size (RFC 9221 section 3), as the library tells it.
            put(0x20, u64::from(u16::MAX));
        }
        Remembered(octets)
    }

    /// As they are written.
    #[cfg(feature = "tls")]
    pub(crate) fn octets(&self) -> &[u8] {
        &self.0
    }
}

/// A number as QUIC writes it (RFC 9000 section 16).
fn varint(value: u64) -> Vec<u8> {
    let (bytes, prefix) = match value {
        0..=0x3F => (1, 0),
        0x40..=0x3FFF => (2, 1),
        0x4000..=0x3FFF_FFFF => (4, 2),
        _ => (8, 3),
    };
    let mut octets = value.to_be_bytes()[8 - bytes..].to_vec();
    octets[0] |= prefix << 6;
    octets
}

impl ClientConfig for NullClient {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        if version != VERSION {
            return Err(ConnectError::UnsupportedVersion);
        }
        let mut session = NullSession::new(Side::Client, params, 0, EarlyData::None);
        session.remembered = self.remembered.clone();
        let offer_bytes = if self.remembered.is_some() { OFFER_BYTES } else { 0 };
        let hello_bytes = CLIENT_HELLO_BYTES + server_name.len() + session.own.len() + offer_bytes;
        session.queue(Level::Initial, CLIENT_HELLO, hello_bytes, true);
        Ok(Box::new(session))
    }
}

impl ServerConfig for NullServer {
    fn initial_keys(&self, version: u32, to: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        if version == VERSION { Ok(initial_keys(to, Side::Server)) } else { Err(UnsupportedVersion) }
    }

    fn retry_tag(&self, _version: u32, _to: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        RETRY_TAG
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        let certificate_bytes = self.certificate_bytes as usize;
        Box::new(NullSession::new(Side::Server, params, certificate_bytes, self.early_data))
    }
}

/// In the place of the integrity tag of a Retry packet (RFC 9001 section 5.8).
const RETRY_TAG: [u8; 16] = [0; 16];

/// The levels of keys, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Initial,
    Handshake,
    Data,
}

/// A level of its own for the keys of 0-RTT packets.
const EARLY: u64 = 3;

struct NullSession {
    side: Side,
    /// The transport parameters of this end, as they are written, and the peer's, once they are known.
    own: Vec<u8>,
    peer: Option<Vec<u8>>,
    certificate_bytes: usize,
    /// What a client knows from before; what a server does about it; whether both go by the ticket.
    remembered: Option<Remembered>,
    early_data: EarlyData,
    is_resumed: bool,
    /// Octets of messages that have come, of which the last may be a part.
    incoming: Vec<u8>,
    /// Messages to be sent, by level.
    outgoing: VecDeque<(Level, Vec<u8>)>,
    /// The level that messages are written at.
    level: Level,
    /// The level up to which keys may be given.
    keys_to: Level,
    is_complete: bool,
    told_of_data: bool,
    phase: u64,
}

impl NullSession {
    fn new(
        side: Side,
        params: &TransportParameters,
        certificate_bytes: usize,
        early_data: EarlyData,
    ) -> NullSession {
        let mut own = Vec::new();
        params.write(&mut own);
        NullSession {
            side,
            own,
            peer: None,
            certificate_bytes,
            remembered: None,
            early_data,
            is_resumed: false,
            incoming: Vec::new(),
            outgoing: VecDeque::new(),
            level: Level::Initial,
            keys_to: Level::Initial,
            is_complete: false,
            told_of_data: false,
            phase: 0,
        }
    }

    /// A message of so many octets is to be sent, with or without the transport parameters.
    fn queue(&mut self, level: Level, kind: u8, bytes: usize, has_parameters: bool) {
        let mut message = vec![kind];
        message.extend(&((bytes - HEADER_BYTES) as u32).to_be_bytes()[1..]);
        if has_parameters {
            message.extend((self.own.len() as u16).to_be_bytes());
            message.extend(&self.own);
            message.push(u8::from(self.remembered.is_some()));
        }
        message.resize(bytes, 0);
        self.outgoing.push_back((level, message));
    }

    /// The next whole message that has come: its type and its content.
    fn next_message(&mut self) -> Option<(u8, Vec<u8>)> {
        let (&[kind, a, b, c], rest) = self.incoming.split_first_chunk()?;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let content = rest.get(..length)?.to_vec();
        self.incoming.drain(..HEADER_BYTES + length);
        Some((kind, content))
    }

    fn take(&mut self, kind: u8, content: &[u8]) -> Result<(), TransportError> {
        match (self.side, kind) {
            (Side::Server, CLIENT_HELLO) if self.peer.is_none() => {
                let has_ticket = self.take_parameters(content)?;
                self.is_resumed = has_ticket && self.early_data == EarlyData::Accepted;
                let choice_bytes = if self.is_resumed { CHOICE_BYTES } else { 0 };
                self.queue(Level::Initial, SERVER_HELLO, SERVER_HELLO_BYTES + choice_bytes, false);
                let extensions_bytes = ENCRYPTED_EXTENSIONS_BYTES + self.own.len();
                self.queue(Level::Handshake, ENCRYPTED_EXTENSIONS, extensions_bytes, true);
                if !self.is_resumed {
                    let certificate_bytes = CERTIFICATE_BYTES + self.certificate_bytes;
                    self.queue(Level::Handshake, CERTIFICATE, certificate_bytes, false);
                    self.queue(Level::Handshake, CERTIFICATE_VERIFY, CERTIFICATE_VERIFY_BYTES, false);
                }
                self.queue(Level::Handshake, FINISHED, FINISHED_BYTES, false);
                self.keys_to = Level::Data;
            }
            (Side::Client, SERVER_HELLO) if self.keys_to == Level::Initial => {
                self.is_resumed = HEADER_BYTES + content.len() > SERVER_HELLO_BYTES;
                self.keys_to = Level::Handshake;
            }
            (Side::Client, ENCRYPTED_EXTENSIONS) if self.peer.is_none() => {
                self.take_parameters(content)?;
            }
            (Side::Client, CERTIFICATE | CERTIFICATE_VERIFY) if self.peer.is_some() => {}
            (Side::Client, FINISHED) if self.peer.is_some() && !self.is_complete => {
                self.queue(Level::Handshake, FINISHED, FINISHED_BYTES, false);
                self.keys_to = Level::Data;
                self.is_complete = true;
            }
            (Side::Server, FINISHED) if self.peer.is_some() && !self.is_complete => {
                self.is_complete = true;
                let allowance_bytes = if self.early_data == EarlyData::None { 0 } else { ALLOWANCE_BYTES };
                for _ in 0..TICKETS {
                    self.queue(Level::Data, NEW_SESSION_TICKET, TICKET_BYTES + allowance_bytes, false);
                }
            }
            (Side::Client, NEW_SESSION_TICKET) if self.is_complete => {}
            _ => return Err(violation("unexpected handshake message")),
        }
        Ok(())
    }

    /// Takes the peer's transport parameters; returns whether it has a ticket.
    fn take_parameters(&mut self, content: &[u8]) -> Result<bool, TransportError> {
        let missing = || violation("no transport parameters");
        let (length, rest) = content.split_first_chunk().ok_or_else(missing)?;
        let (octets, rest) =
            rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or_else(missing)?;
        self.peer = Some(octets.to_vec());
        Ok(rest.first() == Some(&1))
    }
}

impl Session for NullSession {
    fn initial_keys(&self, to: &ConnectionId, side: Side) -> Keys {
        initial_keys(to, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let has_keys = match self.side {
            Side::Client => self.remembered.is_some(),
            Side::Server => self.is_resumed,
        };
        has_keys.then(|| {
            // The client alone sends 0-RTT packets: its direction.
            let keys = keys(mixed(EARLY), Side::Client).packet;
            let early: (Box<dyn HeaderKey>, _) = (Box::new(NullHeader), keys.local);
            early
        })
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.side.is_client().then_some(self.is_resumed)
    }

    fn is_handshaking(&self) -> bool {
        !self.is_complete
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.incoming.extend_from_slice(buf);
        while let Some((kind, content)) = self.next_message() {
            self.take(kind, &content)?;
        }
        // A server knows the name that it was asked for, a client that the handshake is complete.
        let knows = match self.side {
            Side::Server => self.peer.is_some(),
            Side::Client => self.is_complete,
        };
        Ok(knows && !std::mem::replace(&mut self.told_of_data, knows))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let remembered = self.remembered.as_ref().map(|remembered| &remembered.0);
        let Some(octets) = self.peer.as_ref().or(remembered) else { return Ok(None) };
        Ok(Some(TransportParameters::read(self.side, &mut Cursor::new(octets))?))
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        while let Some((_, message)) = self.outgoing.pop_front_if(|(level, _)| *level == self.level) {
            buf.extend(message);
        }
        self.level = match self.level {
            Level::Initial if self.keys_to > Level::Initial => Level::Handshake,
            Level::Handshake if self.keys_to > Level::Handshake => Level::Data,
            _ => return None,
        };
        Some(keys(mixed(self.level as u64), self.side))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.phase += 1;
        Some(keys(mixed(Level::Data as u64).wrapping_add(self.phase), self.side).packet)
    }

    fn is_valid_retry(&self, _to: &ConnectionId, _header: &[u8], payload: &[u8]) -> bool {
        payload.last_chunk() == Some(&RETRY_TAG)
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

/// The peer breaks the protocol.
fn violation(reason: &str) -> TransportError {
    TransportError { code: TransportErrorCode::PROTOCOL_VIOLATION, frame: None, reason: reason.to_owned() }
}

/// Headers stay as they are.
struct NullHeader;

impl HeaderKey for NullHeader {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    /// Of header protection by AES (RFC 9001 section 5.4.3): short packets are padded for it.
    fn sample_size(&self) -> usize {
        16
    }
}

/// Keys of the first packets, which know the identifier that they are for (RFC 9001 section 5.2).
fn initial_keys(to: &ConnectionId, side: Side) -> Keys {
    keys(digest(0, to), side)
}

/// Keys of one level and phase, different for the two directions.
fn keys(seed: u64, side: Side) -> Keys {
    let [client, server] = [1, 2].map(|direction| mixed(seed ^ direction << 56));
    let (local, remote) = if side.is_client() { (client, server) } else { (server, client) };
    Keys {
        header: KeyPair { local: Box::new(NullHeader), remote: Box::new(NullHeader) },
        packet: KeyPair { local: Box::new(NullKey(local)), remote: Box::new(NullKey(remote)) },
    }
}
