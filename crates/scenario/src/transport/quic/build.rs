//! QUIC connections of flows.

#[cfg(feature = "tls")]
use super::model::QuicCrypto;
use super::model::{End, Quic as Model, QuicCongestionControl, QuicEarlyData, QuicMessages};
use roamsim_engine::{Span, Stream};
use roamsim_network::World;
use roamsim_network::flow::Association;
use roamsim_network::socket::endpoint::Endpoint;
use roamsim_network::socket::{SocketEnd, User};
use roamsim_protocols::tcp::congestion::{Kind, LawMaker};
use roamsim_quic::{CongestionControl, Crypto, EarlyData, Messages, Quic, Settings};
#[cfg(feature = "tls")]
use std::sync::Arc;

/// Adds a connection from `a` to `b`, each end with its random stream, for an application with messages or
/// without.
pub(crate) fn add(
    world: &mut World,
    (model, has_messages): (&Model, bool),
    (a, of_a): (SocketEnd, Stream),
    (b, of_b): (SocketEnd, Stream),
) -> Option<Association> {
    let law = model.law().and_then(|name| world.laws.get(name)).cloned();
    let settings = settings(model, has_messages, law);
    let of_client = if model.client == End::From { &of_a } else { &of_b };
    let Session { crypto: [client, server], over } = session(model, &settings, of_client);
    let end = |user, crypto, random| -> Box<dyn Endpoint> {
        let end = over(Quic::new(&settings, crypto, random));
        Box::new(if matches!(user, User::FlowBothWays { .. }) { end.both_ways() } else { end })
    };
    match model.client {
        End::From => {
            let ends = [end(a.user, client, of_a), end(b.user, server, of_b)];
            let [of_a, of_b] = ends;
            world.add_endpoints((a, of_a), (b, of_b))
        }
        End::To => {
            let opened =
                world.add_endpoints((b, end(b.user, client, of_b)), (a, end(a.user, server, of_a)))?;
            Some(Association { source: opened.sink, sink: opened.source })
        }
    }
}

/// The number of the random stream of a handshake before the run.
#[cfg(feature = "tls")]
const MEETING: u64 = 6;

/// The cryptography of both ends, and what an end needs besides.
struct Session {
    crypto: [Crypto; 2],
    over: Box<dyn Fn(Quic) -> Quic>,
}

fn session(model: &Model, settings: &Settings, of_client: &Stream) -> Session {
    #[cfg(feature = "tls")]
    if model.crypto == QuicCrypto::Tls {
        // Others of the client's streams are those of its endpoint.
        let (crypto, secrets) = Crypto::tls(settings, of_client.child(MEETING));
        return Session { crypto, over: Box::new(move |end| end.over_tls(Arc::clone(&secrets))) };
    }
    // Validation refuses TLS in a build without it.
    let _ = (model.crypto, of_client);
    Session { crypto: Crypto::null(settings), over: Box::new(|end| end) }
}

/// Every key is taken apart and every field is written: one that is forgotten does not compile.
fn settings(model: &Model, has_messages: bool, law: Option<LawMaker>) -> Settings {
    let &Model {
        // By its name.
        congestion_control: _,
        ref own,
        initial_window_bytes,
        receive_window_bytes,
        max_idle_timeout,
        keep_alive,
        messages,
        // Of the flow.
        client: _,
        migration,
        rebinding_interval,
        retry,
        ecn,
        l4s,
        early_data,
        // Of the session.
        crypto: _,
        certificate_bytes,
    } = model;
    Settings {
        congestion_control: match model.control() {
            None => CongestionControl::Law(Kind::Given),
            Some(QuicCongestionControl::Newreno) => CongestionControl::NewReno,
            Some(QuicCongestionControl::Law(kind)) => CongestionControl::Law(kind.in_force(own)),
        },
        own: own.clone(),
        law,
        initial_window_bytes,
        receive_window_bytes,
        messages: match messages {
            _ if !has_messages => Messages::OneStream,
            QuicMessages::StreamEach => Messages::StreamEach,
            QuicMessages::OneStream => Messages::OneStream,
            QuicMessages::Datagrams => Messages::Datagrams,
        },
        max_idle_timeout: Some(max_idle_timeout).filter(|&timeout| timeout > Span::ZERO),
        keep_alive: Some(keep_alive).filter(|&interval| interval > Span::ZERO),
        migration,
        rebinding_interval: Some(rebinding_interval).filter(|&interval| interval > Span::ZERO),
        retry,
        ecn,
        l4s,
        certificate_bytes: certificate_bytes as u32,
        early_data: match early_data {
            QuicEarlyData::None => EarlyData::None,
            QuicEarlyData::Accepted => EarlyData::Accepted,
            QuicEarlyData::Refused => EarlyData::Refused,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_says_nothing_has_the_defaults_of_the_endpoint() {
        assert_eq!(settings(&Model::default(), false, None), Settings::default());
        assert_eq!(settings(&Model::default(), true, None).messages, Messages::StreamEach);
        assert_eq!(Model::MIN_DATAGRAM_FRAME_BYTES, roamsim_quic::messages::NUMBER_BYTES as u64);
        assert_eq!(Model::MIN_DATAGRAM_BYTES, u64::from(roamsim_quic::settings::MIN_DATAGRAM_BYTES));
        assert_eq!(Model::MAX_DATAGRAM_BYTES, u64::from(roamsim_quic::settings::MAX_DATAGRAM_BYTES));
    }
}
