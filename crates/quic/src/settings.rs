//! Settings of a connection.

pub use crate::control::Kind as CongestionControl;
use crate::control::{self, Meter};
use crate::messages::Messages;
pub use crate::null::EarlyData;
use crate::null::Remembered;
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{MtuDiscoveryConfig, QlogStream, TransportConfig, VarInt};
use roamsim_engine::{Span, Stream};
use roamsim_protocols::tcp::congestion::keys::Own;
use roamsim_protocols::tcp::congestion::{self, LawMaker};
use std::sync::Arc;
use std::time::Duration;

/// The smallest datagram that a path of QUIC must carry: payload of UDP (RFC 9000 section 14).
pub const MIN_DATAGRAM_BYTES: u32 = 1200;

/// The most that path MTU discovery tries: the library's bound, which fits into Ethernet under IPv6 and UDP.
pub const MAX_DATAGRAM_BYTES: u32 = 1452;

/// Settings of both ends of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The congestion control.
    pub congestion_control: CongestionControl,
    /// Makes the laws of another crate, for [`Given`](roamsim_protocols::tcp::congestion::Given).
    pub law: Option<LawMaker>,
    /// Keys of the congestion control itself.
    pub own: Own,
    /// The congestion window at first, and after a change of path.
    pub initial_window_bytes: u64,
    /// The most that a receiver takes beyond what its application has read, of a stream and altogether.
    pub receive_window_bytes: u64,
    /// The longest time without packets from the peer; `None`: without limit.
    pub max_idle_timeout: Option<Span>,
    /// The longest time without sending anything: a PING goes then. `None`: no bound.
    pub keep_alive: Option<Span>,
    /// How messages travel.
    pub messages: Messages,
    /// Whether the client goes on from the address that its node prefers.
    pub migration: bool,
    /// How often a NAT before the client gives it another port, by the clock of the run. It passes on nothing
    /// to the port before. `None`: never.
    pub rebinding_interval: Option<Span>,
    /// Whether the server has a client repeat its first packet, which proves its address (RFC 9000 section
    /// 8.1.2).
    pub retry: bool,
    /// Whether packets are sent as capable of ECN, and marks are read (RFC 9000 section 13.4).
    pub ecn: bool,
    /// Whether they are sent as ECT(1), for L4S queues (RFC 9331).
    pub l4s: bool,
    /// Octets of the certificate chain that the server shows.
    pub certificate_bytes: u32,
    /// What becomes of data in the client's first flight.
    pub early_data: EarlyData,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            // The default of RFC 9002, appendix B.
            congestion_control: CongestionControl::NewReno,
            law: None,
            own: Own::default(),
            // RFC 9002 section 7.2: ten datagrams of 1200 octets.
            initial_window_bytes: 12_000,
            // The library's: 100 Mb/s over 100 ms.
            receive_window_bytes: 1_250_000,
            // The library's.
            max_idle_timeout: Some(Span::from_secs(30)),
            // The library's.
            keep_alive: None,
            // Of data without messages.
            messages: Messages::OneStream,
            // Chosen: RFC 9000 section 9 leaves it to the client.
            migration: true,
            rebinding_interval: None,
            // Chosen: servers do so under attack (RFC 9000 section 8.1.2).
            retry: false,
            // Chosen: as of TCP here.
            ecn: false,
            l4s: false,
            // Chosen: two certificates with keys on elliptic curves; the first flight stays within the
            // three-fold of the client's first datagram (RFC 9000 section 8.1).
            certificate_bytes: 1500,
            // Chosen: two ends that meet for the first time.
            early_data: EarlyData::None,
        }
    }
}

/// Streams of each kind that a peer may open, the library's default.
const STREAMS: u32 = 100;

impl Settings {
    /// What a client remembers of a server with these settings.
    pub(crate) fn remembered(&self) -> Remembered {
        let takes_datagrams = self.messages == Messages::Datagrams;
        Remembered::new(self.receive_window_bytes, u64::from(STREAMS), takes_datagrams)
    }

    /// The library's settings for a path that carries so many octets of UDP's payload; controls draw from
    /// `random`, and keep the meter; the library writes events to `log`.
    pub(crate) fn transport(
        &self,
        payload_bytes: u32,
        random: &Stream,
        meter: &Arc<Meter>,
        log: Option<QlogStream>,
    ) -> TransportConfig {
        let mut config = TransportConfig::default();
        config.qlog_stream(log);
        let varint = |value: u64| VarInt::from_u64(value).unwrap_or(VarInt::MAX);
        let window = varint(self.receive_window_bytes);
        config.stream_receive_window(window);
        config.receive_window(window);
        config.max_concurrent_uni_streams(STREAMS.into());
        config.max_concurrent_bidi_streams(STREAMS.into());
        config.send_window(self.receive_window_bytes.saturating_mul(8));
        let idle = self.max_idle_timeout.map(|timeout| varint(timeout.as_ns().div_ceil(1_000_000)));
        config.max_idle_timeout(idle.map(Into::into));
        config.keep_alive_interval(self.keep_alive.map(|interval| Duration::from_nanos(interval.as_ns())));
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(payload_bytes.clamp(MIN_DATAGRAM_BYTES, MAX_DATAGRAM_BYTES) as u16);
        config.mtu_discovery_config(Some(discovery));
        // One datagram at a time: a packet is a packet here.
        config.enable_segmentation_offload(false);
        // Without datagrams the transport parameter is not sent. What arrives is read at once.
        config.datagram_receive_buffer_size((self.messages == Messages::Datagrams).then_some(1 << 16));
        let factory: Arc<dyn ControllerFactory + Send + Sync> = Arc::new(control::Factory {
            kind: self.congestion_control,
            settings: congestion::Settings {
                law: self.law.clone(),
                own: self.own.clone(),
                ..congestion::Settings::default()
            },
            initial_window_bytes: self.initial_window_bytes,
            random: random.clone(),
            meter: Arc::clone(meter),
        });
        config.congestion_controller_factory(factory);
        config
    }
}
