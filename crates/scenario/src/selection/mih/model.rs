//! How the MIH users of a selection exchange their messages.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signalling::model::Acknowledgement;
use crate::transport::{Transport, Udp};
use crate::units;

/// RFC 8085 section 3.1.1: while nothing is known of the round trip.
const DEFAULT_TIMEOUT: Span = Span::from_secs(1);

/// The messages of `scheme = "mih"`. Each interface has a point of service, which exchanges them with the
/// node over that interface, and with the others.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SelectionMih")]
pub struct Mih {
    /// Points of service by interface. Default: the base station or access point of a cell, and the node at
    /// the other end of a link.
    #[serde(default)]
    pub points_of_service: Vec<PointOfService>,
    /// The transport of all sessions. Default chosen: UDP, which RFC 5677 has beside TCP.
    #[serde(default = "default_transport")]
    #[schemars(extend("default" = { "protocol": "udp" }))]
    pub transport: Transport,
    /// The size of an MIH message, header and MIHF IDs included; longer content makes it longer. Left out:
    /// the size of the content.
    #[serde(rename = "message_size", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub message_bytes: Option<u64>,
    /// Time from a request to the reaction of a point of service. Default: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub processing_time: Span,
    /// MIH acknowledgement of every message. Left out: over UDP after 1 s (RFC 8085 section 3.1.1) and with 2
    /// retransmissions, as in the published 802.21 study; over TCP and SCTP none (RFC 5677 section 5).
    #[serde(default)]
    pub acknowledgement: Option<Acknowledgement>,
}

/// The point of service of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointOfService {
    /// The link or cell.
    pub access: String,
    /// The node.
    pub pos: String,
}

impl Default for Mih {
    fn default() -> Mih {
        Mih {
            points_of_service: Vec::new(),
            transport: default_transport(),
            message_bytes: None,
            processing_time: Span::ZERO,
            acknowledgement: None,
        }
    }
}

fn default_transport() -> Transport {
    Transport::Udp(Udp::default())
}

impl Mih {
    /// How messages are acknowledged: over UDP they always are.
    pub(crate) fn acknowledgement(&self) -> Option<Acknowledgement> {
        let over_udp = matches!(self.transport, Transport::Udp(_));
        self.acknowledgement.or_else(|| over_udp.then(|| Acknowledgement::of(DEFAULT_TIMEOUT)))
    }
}
