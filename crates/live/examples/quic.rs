//! A program of QUIC over sockets: quinn-proto with TLS, the library that `crates/quic` runs in simulated
//! time. `python -m validation.quic` compares the two.
//!
//!     quic server
//!     quic client HOST OCTETS
//!
//! The client writes octets on a stream. Each end prints an instant, in seconds since the machine began,
//! which nobody sets: the client's first datagram, and the arrival of the last octet at the server.

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::NewRenoConfig;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    MtuDiscoveryConfig, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PORT: u16 = 4433;
const CERTIFICATE: &[u8] = include_bytes!("../../quic/src/tls/server.der");
const KEY: &[u8] = include_bytes!("../../quic/src/tls/key.der");

type Outcome<T> = Result<T, Box<dyn Error>>;

/// As `crates/quic` sets it by default.
fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(1_250_000);
    config.stream_receive_window(window);
    config.receive_window(window);
    config.send_window(8 * 1_250_000);
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(1452);
    config.mtu_discovery_config(Some(discovery));
    config.enable_segmentation_offload(false);
    config.datagram_receive_buffer_size(None);
    let mut control = NewRenoConfig::default();
    control.initial_window(12_000);
    config.congestion_controller_factory(Arc::new(control));
    Arc::new(config)
}

fn server() -> Outcome<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider);
    let config = config.with_protocol_versions(&[&rustls::version::TLS13])?.with_no_client_auth();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY.to_vec()));
    let config = config.with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config)?));
    config.transport_config(transport());
    Ok(config)
}

fn client() -> Outcome<ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_protocol_versions(&[&rustls::version::TLS13])?;
    let config = QuicClientConfig::try_from(config.with_root_certificates(roots).with_no_client_auth())?;
    let mut config = ClientConfig::new(Arc::new(config));
    config.transport_config(transport());
    Ok(config)
}

/// An end with its socket and its only connection.
struct Program {
    socket: UdpSocket,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Octets that are still to be written.
    left: u64,
    sends: Option<StreamId>,
    is_done: bool,
}

impl Program {
    fn new(port: u16, server: Option<ServerConfig>) -> Outcome<Program> {
        let socket = UdpSocket::bind(("0.0.0.0", port))?;
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), server.map(Arc::new), true, None);
        Ok(Program { socket, endpoint, connection: None, left: 0, sends: None, is_done: false })
    }

    fn run(&mut self) -> Outcome<()> {
        let mut datagram = [0; 2000];
        loop {
            self.serve()?;
            // At once: the peer may have nothing more to send, and then the next thing to happen is a timer.
            if self.is_done {
                return Ok(());
            }
            let now = Instant::now();
            let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
            let wait = due.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(now));
            if !wait.is_zero() {
                self.socket.set_read_timeout(Some(wait))?;
                match self.socket.recv_from(&mut datagram) {
                    Ok((length, from)) => self.take(from, &datagram[..length])?,
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if let Some((_, connection)) = &mut self.connection
                && connection.poll_timeout().is_some_and(|due| due <= Instant::now())
            {
                connection.handle_timeout(Instant::now());
            }
        }
    }

    /// Tells the peer that nothing follows.
    fn close(&mut self) -> Outcome<()> {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(Instant::now(), VarInt::from_u32(0), Bytes::new());
        }
        self.serve()
    }

    fn take(&mut self, from: SocketAddr, datagram: &[u8]) -> Outcome<()> {
        let (now, mut answer) = (Instant::now(), Vec::new());
        match self.endpoint.handle(now, from, None, None, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => return Err(error.cause.into()),
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.socket.send_to(&answer[..transmit.size], transmit.destination)?;
            }
            None => {}
        }
        Ok(())
    }

    fn serve(&mut self) -> Outcome<()> {
        let Some((handle, connection)) = &mut self.connection else { return Ok(()) };
        loop {
            if let Some(event) = connection.poll() {
                match event {
                    Event::Connected if self.left > 0 => self.sends = connection.streams().open(Dir::Uni),
                    Event::Stream(StreamEvent::Opened { dir }) => {
                        if let Some(id) = connection.streams().accept(dir) {
                            self.is_done |= read(connection, id);
                        }
                    }
                    Event::Stream(StreamEvent::Readable { id }) => self.is_done |= read(connection, id),
                    Event::Stream(StreamEvent::Finished { .. }) => self.is_done = true,
                    Event::ConnectionLost { reason } => return Err(reason.into()),
                    _ => {}
                }
            } else if let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            } else {
                break;
            }
        }
        if let Some(id) = self.sends {
            let mut stream = connection.send_stream(id);
            while self.left > 0 {
                let part = self.left.min(65_536) as usize;
                match stream.write(&[0; 65_536][..part]) {
                    Ok(written) => self.left -= written as u64,
                    Err(_) => break,
                }
            }
            if self.left == 0 && stream.finish().is_ok() {
                self.sends = None;
            }
        }
        let mut octets = Vec::new();
        while let Some(transmit) = connection.poll_transmit(Instant::now(), 1, &mut octets) {
            self.socket.send_to(&octets[..transmit.size], transmit.destination)?;
            octets.clear();
        }
        Ok(())
    }
}

/// Reads what has come on a stream; whether that was its end.
fn read(connection: &mut Connection, id: StreamId) -> bool {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else { return false };
    let is_over = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(_)) => {}
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    let _ = chunks.finalize();
    is_over
}

fn say(what: &str) -> Outcome<()> {
    let uptime = std::fs::read_to_string("/proc/uptime")?;
    println!("{what} {}", uptime.split(' ').next().unwrap_or_default());
    Ok(())
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server"] => {
            let mut program = Program::new(PORT, Some(server()?))?;
            program.run()?;
            say("received")?;
            // The acknowledgement of the last octets.
            program.is_done = false;
            match program.run() {
                Ok(()) | Err(_) => Ok(()),
            }
        }
        ["client", host, octets] => {
            let mut program = Program::new(0, None)?;
            program.left = octets.parse()?;
            let remote = (*host, PORT).to_socket_addrs()?.next().ok_or("no address")?;
            say("connects")?;
            let connection = program.endpoint.connect(Instant::now(), client()?, remote, "server")?;
            program.connection = Some(connection);
            program.run()?;
            program.close()
        }
        _ => Err("quic server, or quic client HOST OCTETS".into()),
    }
}
