//! The settings of QUIC.

use std::borrow::Cow;
use std::iter;
use std::sync::OnceLock;

use roamsim_engine::Span;
use roamsim_protocols::tcp::congestion::Kind;
use roamsim_protocols::tcp::congestion::keys::{Choice, Own};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use crate::transport::own::{self, WithOwn};
use crate::{digested, units};

/// The settings of QUIC, which both ends have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, remote = "Self")]
#[schemars(transform = own::add_keys)]
pub struct Quic {
    /// The rule for the congestion window, or a class in Python by `FILE.py:CLASS`, which only `--set`,
    /// `--vary` and the API may name. Default: RFC 9002 section 7.
    #[schemars(with = "QuicCongestionControl")]
    pub congestion_control: String,
    /// Keys of single congestion controls, which their files declare.
    #[serde(skip)]
    pub own: Own,
    /// The congestion window at first, and after a change of path. Default: ten datagrams of 1200 bytes (RFC
    /// 9002 section 7.2).
    #[serde(rename = "initial_window", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub initial_window_bytes: u64,
    /// The receiver's buffer: octets beyond those that its application has read (RFC 9000 section 4.1).
    /// Default: 1.25 MB, as quinn-proto 0.11.19: 100 Mb/s over 100 ms.
    #[serde(rename = "receive_window", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub receive_window_bytes: u64,
    /// The connection fails after this time without packets from the peer, in whole milliseconds (RFC 9000
    /// section 10.1); 0 s: never. Default: as quinn-proto 0.11.19.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub max_idle_timeout: Span,
    /// An end that has sent nothing for this time sends a PING (RFC 9000 section 10.1.2); 0 s: never.
    /// Default: never, as quinn-proto 0.11.19.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub keep_alive: Span,
    /// How the messages of an application travel. Default chosen: each on a stream of its own, as requests of
    /// HTTP/3 (RFC 9114 section 6).
    pub messages: QuicMessages,
    /// The end that opens the connection; `to` for downloads. Default: `from`, as for every transport.
    pub client: End,
    /// Whether the client migrates to the address that its `multihomed` station prefers (RFC 9000 section 9):
    /// by the node's `change_primary_at`, a `[[handover]]`, or a `[[selection]]` with the scheme `migration`.
    /// Default chosen: yes.
    pub migration: bool,
    /// How often a NAT changes the client's port, unseen by the client; 0 s: never. Datagrams to the previous
    /// port are lost. Default: never.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub rebinding_interval: Span,
    /// Whether the server answers a client's first packet by Retry, with a token that proves its address. It
    /// costs a round trip (RFC 9000 section 8.1.2). Default chosen: no, as a server that is not under attack.
    pub retry: bool,
    /// Explicit Congestion Notification (RFC 9000 section 13.4): packets may be marked by queues with `ecn =
    /// true`, and acknowledgements count the marks. Default chosen: off, as for TCP.
    pub ecn: bool,
    /// Whether packets go as ECT(1), the identifier of L4S (RFC 9331 section 4.1), for queues such as
    /// `dualpi2`. It needs a control that marks reduce by their share (section 4.3), such as `prague`.
    /// Default: no, quinn-proto sends ECT(0).
    pub l4s: bool,
    /// Data with the client's first flight (RFC 9001 section 4.6). Default chosen: none, as for ends that
    /// have not met before.
    pub early_data: QuicEarlyData,
    /// The cryptography. Default chosen: none, with the messages and sizes of TLS, so that runs spend no time
    /// on it.
    pub crypto: QuicCrypto,
    /// The size of the server's certificate chain, most of its first flight; with `crypto = "tls"` the next
    /// multiple of 332 bytes. Default chosen: 1500 bytes, two certificates with keys on elliptic curves.
    #[serde(rename = "certificate_size", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub certificate_bytes: u64,
}

impl<'de> Deserialize<'de> for Quic {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Quic, D::Error> {
        static NAMES: OnceLock<Vec<&str>> = OnceLock::new();
        let mut own = Own::default();
        // The derived function.
        let quic = Quic::deserialize(WithOwn { inner: from, own: &mut own, names: &NAMES })?;
        Ok(Quic { own, ..quic })
    }
}

impl Default for Quic {
    // The values are those of `roamsim_quic::Settings`, which a build without QUIC does not have; a test
    // compares them.
    fn default() -> Quic {
        Quic {
            congestion_control: QuicCongestionControl::Newreno.name().to_owned(),
            own: Own::default(),
            initial_window_bytes: 12_000,
            receive_window_bytes: 1_250_000,
            max_idle_timeout: Span::from_secs(30),
            keep_alive: Span::ZERO,
            messages: QuicMessages::StreamEach,
            client: End::From,
            migration: true,
            rebinding_interval: Span::ZERO,
            retry: false,
            ecn: false,
            l4s: false,
            early_data: QuicEarlyData::None,
            crypto: QuicCrypto::Null,
            certificate_bytes: 1500,
        }
    }
}

impl Quic {
    /// Payload of UDP that every path of QUIC carries (RFC 9000 section 14).
    pub const MIN_DATAGRAM_BYTES: u64 = 1200;

    /// The congestion control that it names, if it is a built-in one.
    pub(crate) fn control(&self) -> Option<QuicCongestionControl> {
        QuicCongestionControl::all().find(|control| control.name() == self.congestion_control)
    }

    /// The class in Python that it names, with its digest.
    pub(crate) fn law(&self) -> Option<&str> {
        Some(self.congestion_control.as_str()).filter(|named| digested::class(named).is_some())
    }

    /// Payload of UDP that path MTU discovery tries at most, as quinn-proto 0.11.19.
    pub const MAX_DATAGRAM_BYTES: u64 = 1452;

    /// The shortest message in a DATAGRAM frame: the simulator's number for it.
    pub const MIN_DATAGRAM_FRAME_BYTES: u64 = 4;

    /// The longest message in a DATAGRAM frame (RFC 9221 section 5) that every path of QUIC carries: without
    /// header, packet number of 4 octets, tag, and type and length of the frame, as quinn-proto counts.
    pub const MAX_DATAGRAM_FRAME_BYTES: u64 = Quic::MIN_DATAGRAM_BYTES - (1 + 8 + 4 + 16) - (1 + 8);

    /// Octets of a full packet that are not the application's: short header with a connection ID of 8 and a
    /// packet number of 2 octets, the header of a STREAM frame, and the tag (RFC 9000 sections 17.3.1 and
    /// 19.8, RFC 9001 section 5.3).
    pub const OVERHEAD_BYTES: u64 = 1 + 8 + 2 + 8 + 16;
}

/// The cryptography of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuicCrypto {
    /// The messages of TLS 1.3 by their sizes, and tags by packet number.
    Null,
    /// TLS 1.3 (RFC 9001) by rustls. Captures hold its secrets.
    Tls,
}

/// What becomes of data that a client sends with its first flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuicEarlyData {
    /// The client has never met the server, and sends none.
    None,
    /// The client has a ticket of the server (RFC 8446 section 4.6.1), which accepts it: 0-RTT.
    Accepted,
    /// The server has forgotten the ticket. The client sends the data again after the handshake.
    Refused,
}

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuicMessages {
    /// Each on a stream of its own (RFC 9000 section 2): a lost packet delays only its own messages.
    StreamEach,
    /// All on one stream, in order: a lost packet delays all that follow.
    OneStream,
    /// Each in a DATAGRAM frame (RFC 9221), which is not retransmitted.
    Datagrams,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The sender.
    From,
    /// The receiver.
    To,
}

/// A congestion control of QUIC: the library's NewReno, or a row of the table that TCP has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicCongestionControl {
    /// NewReno of RFC 9002 section 7.
    Newreno,
    /// A law that users name.
    Law(Kind),
}

impl QuicCongestionControl {
    /// Every one.
    pub fn all() -> impl Iterator<Item = QuicCongestionControl> {
        let laws = Kind::ALL.iter().copied().filter(|kind| kind.about().is_some());
        iter::once(QuicCongestionControl::Newreno).chain(laws.map(QuicCongestionControl::Law))
    }

    /// Its name in scenarios and results.
    pub fn name(self) -> &'static str {
        match self {
            QuicCongestionControl::Newreno => "newreno",
            QuicCongestionControl::Law(kind) => kind.name(),
        }
    }

    /// The row of the table.
    pub(super) fn kind(self) -> Option<Kind> {
        match self {
            QuicCongestionControl::Newreno => None,
            QuicCongestionControl::Law(kind) => Some(kind),
        }
    }

    /// Whether its window falls by the share of marked octets. It needs ECN then.
    pub(super) fn counts_marks(self) -> bool {
        self.kind().is_some_and(Kind::counts_marks)
    }

    /// What it is, for users.
    fn describe(self) -> String {
        let QuicCongestionControl::Law(kind) = self else {
            return "NewReno of RFC 9002 section 7, as quinn-proto has it.".to_owned();
        };
        let about = kind.about().unwrap_or_default();
        if let Some(Choice { instead_of, key, value }) = kind.chosen_by() {
            return format!("{about}: `{instead_of}` with `{} = {}`.", key.name, key.text(value));
        }
        let needs = if kind.counts_marks() { ", with `ecn`" } else { "" };
        format!("{about}{needs}, shared with TCP.")
    }
}

/// The schema of a congestion control: what the table says.
impl JsonSchema for QuicCongestionControl {
    fn schema_name() -> Cow<'static, str> {
        "QuicCongestionControl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one_of: Vec<_> = QuicCongestionControl::all()
            .map(|control| {
                json!({ "type": "string", "const": control.name(), "description": control.describe() })
            })
            .collect();
        json_schema!({ "oneOf": one_of, "description": "A congestion control of QUIC." })
    }
}
