//! Transport protocols: a folder each, with its keys, its checks, and what its machines are built from.

pub(crate) mod check;
pub(crate) mod own;
mod path;
pub mod quic;
pub mod sctp;
pub mod tcp;
pub mod udp;

use roamsim_engine::Stream;
use roamsim_network::World;
use roamsim_network::flow::Association;
use roamsim_network::socket::SocketEnd;
use roamsim_network::topology::NodeId;
use roamsim_protocols::tcp::Config;
use schemars::JsonSchema;
use serde::Deserialize;

use self::quic::model::{End, Quic, QuicMessages};
use self::sctp::model::Sctp;
use self::tcp::model::Tcp;
pub use self::udp::Udp;

/// A transport protocol with its settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "tag:protocol", rename_all = "snake_case")]
#[schemars(rename = "Transport", tag = "protocol")]
pub enum Transport {
    /// The User Datagram Protocol (RFC 768).
    Udp(Udp),
    /// The Transmission Control Protocol (RFC 9293).
    Tcp(Tcp),
    /// The Stream Control Transmission Protocol (RFC 9260).
    Sctp(Sctp),
    /// QUIC (RFC 9000), by the library quinn-proto.
    Quic(Box<Quic>),
}

impl Tcp {
    /// The settings of the machines of its connections between two nodes.
    pub(crate) fn machine(&self, world: &World, [a, b]: [NodeId; 2]) -> Config {
        let law = tcp::control::law(self).and_then(|name| world.laws.get(name)).cloned();
        tcp::build::config(self, path::path_mss(world, a, b), world.network.ip, law)
    }
}

impl Transport {
    /// The name of the congestion control that it has from outside.
    pub(crate) fn law(&self) -> Option<&str> {
        match self {
            Transport::Tcp(settings) => tcp::control::law(settings),
            Transport::Quic(settings) => settings.law(),
            Transport::Udp(_) | Transport::Sctp(_) => None,
        }
    }

    /// What its results call the rules that it follows: the variant of TCP or the class of its congestion
    /// control, the RFC of SCTP, the congestion control of QUIC or its class.
    pub(crate) fn rules_name(&self) -> String {
        match self {
            Transport::Udp(_) => String::new(),
            Transport::Tcp(settings) => match tcp::control::law(settings) {
                Some(law) => tcp::control::class(law).to_owned(),
                None => settings.variant.to_string(),
            },
            Transport::Sctp(settings) => sctp::build::rules_name(settings).to_owned(),
            Transport::Quic(settings) => tcp::control::class(&settings.congestion_control).to_owned(),
        }
    }

    /// The node of its QUIC client, if that migrates, of its sender and its receiver.
    pub(crate) fn migrating_client<'n>(&self, [from, to]: [&'n str; 2]) -> Option<&'n str> {
        let Transport::Quic(quic) = self else { return None };
        let client = match quic.client {
            End::From => from,
            End::To => to,
        };
        quic.migration.then_some(client)
    }

    /// Whether each message goes in one packet that is not repeated.
    pub(crate) fn sends_datagrams(&self) -> bool {
        match self {
            Transport::Udp(_) => true,
            Transport::Quic(quic) => quic.messages == QuicMessages::Datagrams,
            Transport::Tcp(_) | Transport::Sctp(_) => false,
        }
    }

    /// Adds a connection between two ends, for an application that writes messages or a stream without;
    /// `random` gives their streams, by the protocol's word.
    pub(crate) fn connect(
        &self,
        world: &mut World,
        [a, b]: [SocketEnd; 2],
        has_messages: bool,
        random: impl Fn(&str) -> [Stream; 2],
    ) -> Option<Association> {
        match self {
            Transport::Udp(settings) => world.add_udp(a, b, settings.reassembly_timeout),
            Transport::Tcp(settings) => {
                let config = settings.machine(world, [a.node, b.node]);
                let [of_a, of_b] = random("tcp");
                world.add_tcp(&config, (a, of_a), (b, of_b))
            }
            Transport::Sctp(settings) => {
                let [of_a, of_b] = random("sctp");
                sctp::build::add(world, settings, (a, of_a), (b, of_b))
            }
            #[cfg(feature = "quic")]
            Transport::Quic(settings) => {
                let [of_a, of_b] = random("quic");
                quic::build::add(world, (settings, has_messages), (a, of_a), (b, of_b))
            }
            // Validation refuses it.
            #[cfg(not(feature = "quic"))]
            Transport::Quic(_) => {
                let _ = has_messages;
                None
            }
        }
    }
}
