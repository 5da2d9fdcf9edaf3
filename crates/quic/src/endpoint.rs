//! One end of a connection.
//!
//! Each end has an endpoint of the library with one connection. Data without messages goes in one
//! unidirectional stream (RFC 9000 section 2.1) a direction, messages as [`Messages`] says. An end that has
//! closed, and whose streams are acknowledged to their ends, ends the connection by CONNECTION_CLOSE with
//! error code 0; one that gives up does so with error code 1. Where data goes both ways, an end waits for the
//! end of the peer's stream as well.

use crate::control::Meter;
use crate::messages::{self, Messages, Outbox};
use crate::null::{EarlyData, NullClient, NullServer};
use crate::qlog::Mended;
use crate::random::{ConnectionIds, ResetKey, TokenKey, first_destination, octets};
use crate::settings::{MAX_DATAGRAM_BYTES, Settings};
use crate::{LIBRARY, SERVER_NAME, clock};
use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::{ClientConfig as ClientCrypto, ServerConfig as ServerCrypto};
use quinn_proto::{
    ApplicationClose, ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir,
    EcnCodepoint, Endpoint as Library, EndpointConfig, Event, QlogConfig, QlogStream, ReadError,
    ServerConfig, Side, StreamEvent, StreamId, TimeSource, Transmit, VarInt,
};
use roamsim_engine::{Span, Stream, Time};
use roamsim_network::socket::endpoint::{self, Arrival, Endpoint, EndpointEvent, LogFile};
use roamsim_network::socket::{Counts, EcnCounts};
use roamsim_network::traffic_class::Ecn;
use roamsim_protocols::Address;
use std::any::Any;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

/// Octets that applications write, as many as are handed over at a time. The library keeps references to
/// them.
static ZEROS: LazyLock<Bytes> = LazyLock::new(|| vec![0; 1 << 20].into());

/// The server's port, for its client. Servers do not move, and the library refuses zero.
const PORT: u16 = 1;

/// Which side an end is of, with its cryptography.
#[derive(Clone)]
pub enum Crypto {
    /// It opens the connection.
    Client(Arc<dyn ClientCrypto>),
    /// It waits for the client.
    Server(Arc<dyn ServerCrypto>),
}

impl Crypto {
    /// A client and a server without cryptography ([`null`](crate::null)).
    pub fn null(settings: &Settings) -> [Crypto; 2] {
        let &Settings { certificate_bytes, early_data, .. } = settings;
        let remembered = (early_data != EarlyData::None).then(|| settings.remembered());
        [
            Crypto::Client(Arc::new(NullClient { remembered })),
            Crypto::Server(Arc::new(NullServer { certificate_bytes, early_data })),
        ]
    }

    /// A client and a server over TLS, and where their secrets are. If they have met before, that drew from
    /// `random`.
    #[cfg(feature = "tls")]
    pub fn tls(settings: &Settings, random: Stream) -> ([Crypto; 2], Arc<crate::tls::Secrets>) {
        let &Settings { certificate_bytes, early_data, .. } = settings;
        let (client, server, secrets) =
            crate::tls::ends(certificate_bytes, early_data, &settings.remembered(), random);
        ([Crypto::Client(client), Crypto::Server(server)], secrets)
    }
}

/// One end of a QUIC connection.
pub struct Quic {
    settings: Settings,
    crypto: Crypto,
    random: Stream,
    payload_bytes: u32,
    /// Title and file of its qlog, until the connection has it.
    log: Option<(String, LogFile)>,
    /// What TLS draws from, and where its secrets are.
    #[cfg(feature = "tls")]
    tls: Option<(Option<Stream>, Arc<crate::tls::Secrets>)>,
    /// Made when the first thing happens.
    library: Option<Library>,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The application's wishes, served when time is known.
    wants_open: bool,
    wants_abort: bool,
    is_closing: bool,
    /// Octets written by the application, and handed to the library.
    written_bytes: u64,
    handed_bytes: u64,
    sends: Option<StreamId>,
    /// The end of the stream is handed over, and acknowledged.
    is_finished: bool,
    is_acknowledged: bool,
    receives: Option<StreamId>,
    received_bytes: u64,
    outbox: Outbox,
    /// The peer's stream has ended; whether this end waits for that before it ends the connection.
    has_received: bool,
    goes_both_ways: bool,
    is_established: bool,
    is_gone: bool,
    /// Answers that belong to no connection.
    answers: VecDeque<endpoint::Transmit>,
    events: VecDeque<EndpointEvent>,
    deadline: Option<Time>,
    /// Where it sends from, once that is known; where it should; and where the last datagram came to.
    source: Option<Address>,
    preferred: Option<Address>,
    reached: Option<Address>,
    data_packets: u64,
    /// Datagrams that came with a mark, and whether the last one sent could be marked.
    marked_datagrams: u64,
    is_ecn_capable: bool,
    meter: Arc<Meter>,
    /// Frames with data of the application that the library has sent.
    sent_frames: u64,
    /// When data may go, where the control has a rate of its own.
    next_send: Time,
    /// Something has happened after which the library may have to answer at once, held or not.
    owes_answer: bool,
    /// When the connection was dropped.
    last_counts: Counts,
    buffer: Vec<u8>,
}

impl Quic {
    /// An end that draws from `random`.
    pub fn new(settings: &Settings, crypto: Crypto, random: Stream) -> Quic {
        Quic {
            settings: settings.clone(),
            crypto,
            random,
            payload_bytes: MAX_DATAGRAM_BYTES,
            log: None,
            #[cfg(feature = "tls")]
            tls: None,
            library: None,
            connection: None,
            wants_open: false,
            wants_abort: false,
            is_closing: false,
            written_bytes: 0,
            handed_bytes: 0,
            sends: None,
            is_finished: false,
            is_acknowledged: false,
            receives: None,
            received_bytes: 0,
            outbox: Outbox::default(),
            has_received: false,
            goes_both_ways: false,
            is_established: false,
            is_gone: false,
            answers: VecDeque::new(),
            events: VecDeque::new(),
            deadline: None,
            source: None,
            preferred: None,
            reached: None,
            data_packets: 0,
            marked_datagrams: 0,
            is_ecn_capable: false,
            meter: Arc::default(),
            sent_frames: 0,
            next_send: Time::ZERO,
            owes_answer: false,
            last_counts: Counts::default(),
            buffer: Vec::new(),
        }
    }

    /// The same over TLS, whose secrets are there.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn over_tls(mut self, secrets: Arc<crate::tls::Secrets>) -> Quic {
        self.tls = Some((Some(self.random.child(5)), secrets));
        self
    }

    /// The same where the peer has a stream of its own.
    #[must_use]
    pub fn both_ways(mut self) -> Quic {
        self.goes_both_ways = true;
        self
    }

    /// Changes keys (RFC 9001 section 6), which it does by itself only after 8 million packets.
    pub fn update_keys(&mut self) {
        if let Some((_, connection)) = self.connection.as_mut().filter(|_| self.is_established) {
            connection.force_key_update();
        }
    }

    /// A server cannot (RFC 9000 section 9).
    fn migrates(&self) -> bool {
        self.settings.migration && matches!(self.crypto, Crypto::Client(_))
    }

    /// Runs a call of the library. A panic in it goes on with words that name it.
    fn guarded<T>(&mut self, now: Time, call: impl FnOnce(&mut Quic) -> T) -> T {
        self.lend_random();
        let called = catch_unwind(AssertUnwindSafe(|| call(self)));
        self.lend_random();
        match called {
            Ok(result) => result,
            Err(panic) => resume_unwind(Box::new(named(now, &*panic))),
        }
    }

    /// Lends TLS what it draws from, or takes it back.
    #[cfg(feature = "tls")]
    fn lend_random(&mut self) {
        if let Some((random, _)) = &mut self.tls {
            crate::tls::lend(random);
        }
    }

    #[cfg(not(feature = "tls"))]
    fn lend_random(&mut self) {}

    fn library(&mut self) -> &mut Library {
        let Quic { settings, crypto, random, payload_bytes, meter, log, library, .. } = self;
        library.get_or_insert_with(|| {
            let [mut keys, ids, mut seed] = [0, 1, 2].map(|number| random.child(number));
            let reset_key = ResetKey([keys.next_u64(), keys.next_u64()]);
            let mut config = EndpointConfig::new(Arc::new(reset_key));
            config
                .rng_seed(Some(octets(&mut seed)))
                .supported_versions(vec![1])
                .cid_generator(move || Box::new(ConnectionIds(ids.clone())));
            let server = match crypto {
                Crypto::Client(_) => None,
                Crypto::Server(crypto) => {
                    let mut server =
                        ServerConfig::new(Arc::clone(crypto), Arc::new(TokenKey(keys.next_u64())));
                    server.transport_config(Arc::new(settings.transport(
                        *payload_bytes,
                        &random.child(4),
                        meter,
                        log.take().and_then(|log| qlog(log, Side::Server)),
                    )));
                    server.time_source(Arc::new(NoClock));
                    Some(Arc::new(server))
                }
            };
            Library::new(Arc::new(config), server, true, None)
        })
    }

    /// The client's first packet.
    fn connect(&mut self, now: Time) {
        let Crypto::Client(crypto) = &self.crypto else { return };
        let mut config = ClientConfig::new(Arc::clone(crypto));
        let first = first_destination(&mut self.random.child(3));
        config.initial_dst_cid_provider(Arc::new(move || first));
        let random = self.random.child(4);
        config.transport_config(Arc::new(self.settings.transport(
            self.payload_bytes,
            &random,
            &self.meter,
            self.log.take().and_then(|log| qlog(log, Side::Client)),
        )));
        let server = socket_address(SERVER, PORT);
        match self.library().connect(clock::instant(now), config, server, SERVER_NAME) {
            Ok(connection) => self.connection = Some(connection),
            Err(_) => self.fail(EndpointEvent::Reset),
        }
    }

    fn fail(&mut self, event: EndpointEvent) {
        self.is_gone = true;
        self.events.push_back(event);
    }

    fn take_datagram(&mut self, now: Time, arrival: &Arrival<'_>) {
        let from = match self.crypto {
            Crypto::Client(_) => {
                self.source.get_or_insert(arrival.destination);
                self.reached = Some(arrival.destination);
                socket_address(SERVER, PORT)
            }
            Crypto::Server(_) => socket_address(arrival.source, arrival.source_port),
        };
        let instant = clock::instant(now);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let payload = BytesMut::from(arrival.payload);
        let ecn = self.codepoint(arrival.ecn);
        self.marked_datagrams += u64::from(arrival.ecn == Ecn::CongestionExperienced);
        match self.library().handle(instant, from, None, ecn, payload, &mut buffer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.connection.is_some() || self.is_gone {
                    self.library().ignore(incoming);
                } else if self.settings.retry && incoming.may_retry() {
                    if let Ok(answer) = self.library().retry(incoming, &mut buffer) {
                        let answer = self.datagram(&answer, buffer.clone());
                        self.answers.push_back(answer);
                    }
                } else {
                    match self.library().accept(incoming, instant, &mut buffer, None) {
                        Ok(connection) => self.connection = Some(connection),
                        Err(error) => self
                            .answers
                            .extend(error.response.map(|answer| self.datagram(&answer, buffer.clone()))),
                    }
                }
            }
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((own, connection)) = &mut self.connection
                    && *own == handle
                {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(answer)) => {
                let answer = self.datagram(&answer, buffer.clone());
                self.answers.push_back(answer);
            }
            None => {}
        }
        self.buffer = buffer;
    }

    /// What the library is told of a datagram's mark. It sends ECT(0) alone and takes ECT(1) for damage, so
    /// that an L4S packet counts as ECT(0) at both ends.
    fn codepoint(&self, ecn: Ecn) -> Option<EcnCodepoint> {
        match ecn {
            _ if !self.settings.ecn => None,
            Ecn::NotCapable => None,
            Ecn::Capable1 if !self.settings.l4s => Some(EcnCodepoint::Ect1),
            Ecn::Capable0 | Ecn::Capable1 => Some(EcnCodepoint::Ect0),
            Ecn::CongestionExperienced => Some(EcnCodepoint::Ce),
        }
    }

    /// A datagram of the library's, as the world sends it.
    fn datagram(&self, transmit: &Transmit, mut octets: Vec<u8>) -> endpoint::Transmit {
        octets.truncate(transmit.size);
        let is_server = matches!(self.crypto, Crypto::Server(_));
        endpoint::Transmit {
            source: self.source,
            destination: address(transmit.destination).filter(|_| is_server),
            destination_port: is_server.then_some(transmit.destination.port()),
            has_data: false,
            ecn: match transmit.ecn {
                Some(_) if self.settings.l4s => Ecn::Capable1,
                Some(_) if self.settings.ecn => Ecn::Capable0,
                _ => Ecn::NotCapable,
            },
            payload: octets,
        }
    }

    /// Serves the application, the connection and the library's endpoint, until nothing is left to do.
    fn serve(&mut self, now: Time) {
        if std::mem::take(&mut self.wants_open) && self.connection.is_none() && !self.is_gone {
            self.connect(now);
        }
        while let Some((handle, connection)) = &mut self.connection {
            let handle = *handle;
            // Its events come first: the library's endpoint may say that nothing is left of it.
            if let Some(event) = connection.poll() {
                self.on_event(event);
            } else if let Some(event) = connection.poll_endpoint_events() {
                let is_drained = event.is_drained();
                let answer = self.library().handle_event(handle, event);
                if let (Some(answer), Some((_, connection))) = (answer, &mut self.connection) {
                    connection.handle_event(answer);
                }
                if is_drained {
                    self.is_gone = true;
                    self.last_counts = self.counts();
                    self.connection = None;
                }
            } else {
                break;
            }
        }
        self.migrate(now);
        self.write(now);
    }

    /// Goes on from the preferred address (RFC 9000 section 9.2), with another connection identifier (9.5)
    /// and a congestion window and round-trip time as at first (9.4). Not before the handshake is confirmed
    /// (9), which a client learns by HANDSHAKE_DONE (RFC 9001 section 4.1.2).
    fn migrate(&mut self, now: Time) {
        let Some((_, connection)) = self.connection.as_mut().filter(|_| self.is_established) else { return };
        let Some(preferred) = self.preferred.filter(|&preferred| self.source != Some(preferred)) else {
            return;
        };
        if connection.stats().frame_rx.handshake_done == 0 {
            return;
        }
        self.source = Some(preferred);
        connection.local_address_changed();
        connection.path_changed(clock::instant(now));
    }

    /// Something has happened to the connection.
    fn on_event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                self.is_established = true;
                let refused = matches!(self.crypto, Crypto::Client(_))
                    && self.connection.as_ref().is_some_and(|(_, of)| of.has_0rtt() && !of.accepted_0rtt());
                self.outbox.on_handshake(refused);
                if refused {
                    // The library has forgotten the stream (RFC 9001 section 4.6.2).
                    (self.sends, self.handed_bytes, self.is_finished) = (None, 0, false);
                }
                self.events.push_back(EndpointEvent::Established);
            }
            Event::ConnectionLost { reason } => self.on_end(reason),
            Event::Stream(StreamEvent::Opened { .. }) => {
                while let Some((_, connection)) = &mut self.connection
                    && let Some(stream) = connection.streams().accept(Dir::Uni)
                {
                    self.read(stream);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(id),
            Event::Stream(StreamEvent::Finished { id }) if self.sends == Some(id) => {
                self.is_acknowledged = true;
            }
            Event::Stream(StreamEvent::Finished { .. }) => self.outbox.on_acknowledged(),
            Event::DatagramReceived => self.read_datagrams(),
            Event::Stream(
                StreamEvent::Writable { .. } | StreamEvent::Stopped { .. } | StreamEvent::Available { .. },
            )
            | Event::HandshakeDataReady
            | Event::DatagramsUnblocked => {}
        }
    }

    fn on_end(&mut self, reason: ConnectionError) {
        self.is_gone = true;
        let complete = VarInt::from_u32(0);
        match reason {
            // The peer has everything that it wants, or this end has closed.
            ConnectionError::ApplicationClosed(ApplicationClose { error_code, .. })
                if error_code == complete => {}
            ConnectionError::LocallyClosed => {}
            // Nothing was left to be delivered: it is closed silently (RFC 9000 section 10.1).
            ConnectionError::TimedOut if self.is_established && self.has_sent() => {}
            ConnectionError::TimedOut => self.events.push_back(EndpointEvent::TimedOut),
            _ => self.events.push_back(EndpointEvent::Reset),
        }
    }

    /// Takes whatever has arrived of a stream, in order.
    fn read(&mut self, id: StreamId) {
        let Some((_, connection)) = &mut self.connection else { return };
        let mut stream = connection.recv_stream(id);
        if self.settings.messages == Messages::StreamEach {
            let Ok(mut chunks) = stream.read(true) else { return };
            let is_whole = loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(_)) => {}
                    end => break matches!(end, Ok(None)),
                }
            };
            let _ = chunks.finalize();
            if is_whole {
                self.events.push_back(EndpointEvent::Message { number: id.index(), is_reliable: true });
            }
            return;
        }
        if *self.receives.get_or_insert(id) != id {
            return;
        }
        let Ok(mut chunks) = stream.read(true) else { return };
        let before = self.received_bytes;
        let end = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.received_bytes += chunk.bytes.len() as u64,
                Ok(None) => break Some(EndpointEvent::RemoteClosed),
                Err(ReadError::Blocked) => break None,
                Err(ReadError::Reset(_)) => break Some(EndpointEvent::Reset),
            }
        };
        // What the window needs is asked for by `poll_transmit`, which follows in any case.
        let _ = chunks.finalize();
        if self.received_bytes > before {
            self.events.push_back(EndpointEvent::Received { up_to: self.received_bytes });
        }
        self.has_received |= end == Some(EndpointEvent::RemoteClosed);
        self.events.extend(end);
    }

    fn read_datagrams(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(datagram) = connection.datagrams().recv() {
            if let Some(number) = messages::number_of(&datagram) {
                self.events.push_back(EndpointEvent::Message { number, is_reliable: false });
            }
        }
    }

    /// Whether everything written has been acknowledged; of datagrams, sent.
    fn has_sent(&mut self) -> bool {
        let Some((_, connection)) = &mut self.connection else { return false };
        (self.is_acknowledged || self.written_bytes == 0) && self.outbox.is_done(connection)
    }

    /// Hands over what the application has written, and its wish to close.
    fn write(&mut self, now: Time) {
        let Some((_, connection)) = &mut self.connection else { return };
        if std::mem::take(&mut self.wants_abort) {
            (self.is_gone, self.owes_answer) = (true, true);
            return connection.close(clock::instant(now), VarInt::from_u32(1), Bytes::new());
        }
        // Early data, and the server's before the client has finished (RFC 9001 sections 4.6 and 5.7).
        let is_early = !self.is_established;
        if self.is_gone || is_early && !connection.has_0rtt() {
            return;
        }
        if self.handed_bytes < self.written_bytes && self.sends.is_none() {
            self.sends = connection.streams().open(Dir::Uni);
        }
        if let Some(stream) = self.sends {
            let mut stream = connection.send_stream(stream);
            while self.handed_bytes < self.written_bytes {
                let bytes = (self.written_bytes - self.handed_bytes).min(ZEROS.len() as u64) as usize;
                match stream.write_chunks(&mut [ZEROS.slice(..bytes)]) {
                    Ok(written) => self.handed_bytes += written.bytes as u64,
                    Err(_) => break,
                }
            }
            if self.is_closing && !self.is_finished && self.handed_bytes == self.written_bytes {
                self.is_finished = true;
                let _ = stream.finish();
            }
        }
        self.outbox.write(connection, self.settings.messages, is_early, &ZEROS);
        // CONNECTION_CLOSE must not overtake the client's end of the handshake, which early data may (RFC
        // 9000 section 10.2.3): it waits for HANDSHAKE_DONE.
        let is_client = matches!(self.crypto, Crypto::Client(_));
        let is_over =
            !is_early && self.is_closing && (self.has_received || !self.goes_both_ways) && self.has_sent();
        if let Some((_, connection)) = self.connection.as_mut().filter(|_| is_over)
            && (!is_client || !connection.has_0rtt() || connection.stats().frame_rx.handshake_done > 0)
        {
            (self.is_gone, self.owes_answer) = (true, true);
            connection.close(clock::instant(now), VarInt::from_u32(0), Bytes::new());
        }
    }

    fn next_datagram(&mut self, now: Time) -> Option<endpoint::Transmit> {
        self.serve(now);
        if let Some(answer) = self.answers.pop_front() {
            return Some(answer);
        }
        let Some((_, connection)) = &mut self.connection else {
            self.deadline = None;
            return None;
        };
        let rate = self.meter.pacing_rate_bytes_per_s.load(Ordering::Relaxed);
        // Acknowledgements, probes and the end of the connection are not held back (RFC 9002 sections 7.5 and
        // 7.7, RFC 9000 section 13.2.1). If data goes in their place, what follows waits the longer.
        let owes_answer = std::mem::take(&mut self.owes_answer);
        let is_held = rate > 0 && now < self.next_send && self.is_established && !owes_answer;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let transmit = match is_held {
            true => None,
            false => connection.poll_transmit(clock::instant(now), 1, &mut buffer),
        };
        let Some(transmit) = transmit else {
            self.buffer = buffer;
            // An acknowledgement that makes the timeout of a probe shorter may leave its time in the past.
            let deadline = connection.poll_timeout().map(|at| clock::simulated(at).max(now));
            self.deadline = deadline.into_iter().chain(is_held.then_some(self.next_send)).min();
            return None;
        };
        // The library copies all its counts for it.
        let frames = connection.stats().frame_tx;
        let frames = frames.stream + frames.datagram;
        let has_data = std::mem::replace(&mut self.sent_frames, frames) < frames;
        // The library's octets are handed on as they are: it makes room for a datagram each time.
        let datagram = endpoint::Transmit { has_data, ..self.datagram(&transmit, buffer) };
        self.is_ecn_capable = datagram.ecn != Ecn::NotCapable;
        if has_data {
            self.data_packets += 1;
            let bytes = transmit.size as u64;
            self.meter.in_flight_bytes.fetch_add(bytes, Ordering::Relaxed);
            if let Some(ns) = bytes.saturating_mul(1_000_000_000).checked_div(rate) {
                self.next_send = self.next_send.max(now) + Span::from_ns(ns);
            }
        }
        Some(datagram)
    }
}

impl Endpoint for Quic {
    fn protocol(&self) -> &'static str {
        "quic"
    }

    #[cfg(feature = "tls")]
    fn take_secrets(&mut self) -> Option<String> {
        self.tls.as_ref().map(|(_, secrets)| secrets.take()).filter(|lines| !lines.is_empty())
    }

    fn log_ending(&self) -> Option<&'static str> {
        Some("sqlog")
    }

    fn log_to(&mut self, title: String, file: LogFile) {
        self.log = Some((title, file));
    }

    fn on_path(&mut self, payload_bytes: u32) {
        self.payload_bytes = payload_bytes;
    }

    fn open(&mut self) {
        self.wants_open = true;
    }

    fn write(&mut self, bytes: u64) {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }

    fn write_message(&mut self, bytes: u64) -> Option<u64> {
        if self.settings.messages == Messages::OneStream {
            Endpoint::write(self, bytes);
            return None;
        }
        Some(self.outbox.push(bytes))
    }

    fn close(&mut self) {
        self.is_closing = true;
    }

    fn abort(&mut self) {
        self.wants_abort = true;
    }

    fn handle(&mut self, now: Time, arrival: &Arrival<'_>) {
        self.guarded(now, |end| {
            end.take_datagram(now, arrival);
            end.owes_answer = true;
            end.serve(now);
        });
    }

    fn poll_transmit(&mut self, now: Time) -> Option<endpoint::Transmit> {
        self.guarded(now, |end| end.next_datagram(now))
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Time) {
        self.guarded(now, |end| {
            if let Some((_, connection)) = &mut end.connection {
                connection.handle_timeout(clock::instant(now));
            }
            end.owes_answer = true;
            end.serve(now);
        });
    }

    fn on_addresses(&mut self, now: Time, usable: &[Address]) {
        let Some(&preferred) = usable.first().filter(|_| self.migrates()) else { return };
        self.preferred = Some(preferred);
        // A server that has never answered knows no address of this end.
        if self.connection.is_none() || self.reached.is_none() {
            self.source = Some(preferred);
        }
        self.guarded(now, |end| end.migrate(now));
    }

    fn rebindings(&self, now: Time) -> u64 {
        let is_client = matches!(self.crypto, Crypto::Client(_));
        let interval = self.settings.rebinding_interval.filter(|_| is_client);
        interval.and_then(|interval| now.as_ns().checked_div(interval.as_ns())).unwrap_or(0)
    }

    fn is_settled(&self, preferred: Address) -> bool {
        self.connection.is_none() || self.is_gone || self.reached == Some(preferred) || !self.migrates()
    }

    fn is_gone(&self) -> bool {
        self.is_gone
    }

    fn counts(&self) -> Counts {
        let Some((_, connection)) = &self.connection else { return self.last_counts };
        let path = connection.stats().path;
        Counts {
            segments: self.data_packets,
            retransmissions: path.lost_packets,
            timeouts: self.meter.timeouts.load(Ordering::Relaxed),
            fast_retransmits: path
                .congestion_events
                .saturating_sub(self.meter.mark_events.load(Ordering::Relaxed)),
            ecn: self.settings.ecn.then(|| EcnCounts {
                agreed: self.is_ecn_capable,
                accurate: true,
                marked_packets: self.marked_datagrams,
                reductions: self.meter.mark_reductions.load(Ordering::Relaxed),
            }),
            ..Counts::default()
        }
    }

    fn cwnd_bytes(&self) -> Option<u64> {
        let (_, connection) = self.connection.as_ref()?;
        Some(connection.congestion_state().metrics().congestion_window)
    }

    fn ssthresh_bytes(&self) -> Option<u64> {
        let (_, connection) = self.connection.as_ref()?;
        connection.congestion_state().metrics().ssthresh.filter(|&bytes| bytes < u64::MAX)
    }

    fn in_flight_bytes(&self) -> Option<u64> {
        self.connection.as_ref()?;
        Some(self.meter.in_flight_bytes.load(Ordering::Relaxed))
    }

    /// Without a rate of the law's: 1.25 windows a round trip (RFC 9002 section 7.7), as the library's pacer.
    fn pacing_bps(&self) -> Option<u64> {
        let own = self.meter.pacing_rate_bytes_per_s.load(Ordering::Relaxed);
        if own > 0 {
            return Some(own.saturating_mul(8));
        }
        let (window_bits, srtt_ns) = (u128::from(self.cwnd_bytes()?) * 8, u128::from(self.srtt()?.as_ns()));
        let bps = (window_bits * 1_250_000_000).checked_div(srtt_ns)?;
        Some(u64::try_from(bps).unwrap_or(u64::MAX))
    }

    fn srtt(&self) -> Option<Span> {
        let (_, connection) = self.connection.as_ref().filter(|_| self.is_established)?;
        Some(Span::from_ns(connection.rtt().as_nanos() as u64))
    }
}

/// What writes the library's events by time zero of the simulation (qlog, as JSON text sequences).
fn qlog((title, file): (String, LogFile), side: Side) -> Option<QlogStream> {
    let mut config = QlogConfig::default();
    config
        .writer(Box::new(Mended::new(file, side)))
        .title(Some(title))
        .start_time(clock::instant(Time::ZERO));
    config.into_stream()
}

/// What a client calls its server, wherever that is: a server's address does not change (RFC 9000 section 9).
const SERVER: Address = Address(0);

/// What the library calls an address. It sends none, and tells paths apart by them.
fn socket_address(address: Address, port: u16) -> SocketAddr {
    // 0.0.0.0 is no address.
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(address.0.wrapping_add(1))), port)
}

fn address(address: SocketAddr) -> Option<Address> {
    match address.ip() {
        IpAddr::V4(ip) => Some(Address(u32::from(ip).wrapping_sub(1))),
        IpAddr::V6(_) => None,
    }
}

/// The library asks for the time of day only for the tokens of Retry packets, which do not expire here.
struct NoClock;

impl TimeSource for NoClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(0)
    }
}

/// What a panic of the library says, with its name.
fn named(now: Time, panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
    format!("the QUIC library {LIBRARY} panicked at {now}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_library_names_it() {
        let settings = Settings::default();
        let [client, _] = Crypto::null(&settings);
        let mut end = Quic::new(&settings, client, Stream::new(1, 0, "end"));
        let now = Time::from_ns(5_000_000);
        let panicked = catch_unwind(AssertUnwindSafe(|| end.guarded(now, |_| panic!("no such state"))));
        let words = panicked.expect_err("it goes on").downcast::<String>().expect("words");
        assert_eq!(*words, format!("the QUIC library {LIBRARY} panicked at {now}: no such state"));
    }

    #[test]
    fn addresses_come_back() {
        for number in [0, 1, 77, u32::MAX - 1] {
            assert_eq!(address(socket_address(Address(number), PORT)), Some(Address(number)));
        }
    }
}
