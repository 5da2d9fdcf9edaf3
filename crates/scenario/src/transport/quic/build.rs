//! QUIC connections of flows.

use super::model::{Quic as Model, QuicCongestionControl};
use roamsim_engine::{Span, Stream};
use roamsim_network::World;
use roamsim_network::flow::Association;
use roamsim_network::socket::endpoint::Endpoint;
use roamsim_network::socket::{SocketEnd, User};
use roamsim_quic::{CongestionControl, Crypto, Quic, Settings};

/// Adds a connection, each end with its random stream. `a` is the client, which opens it.
pub(crate) fn add(
    world: &mut World,
    model: &Model,
    (a, of_a): (SocketEnd, Stream),
    (b, of_b): (SocketEnd, Stream),
) -> Option<Association> {
    let settings = settings(model);
    let end = |user, crypto, random| -> Box<dyn Endpoint> {
        let end = Quic::new(&settings, crypto, random);
        Box::new(if matches!(user, User::FlowBothWays { .. }) { end.both_ways() } else { end })
    };
    let client = end(a.user, Crypto::null_client(), of_a);
    let server = end(b.user, Crypto::null_server(settings.certificate_bytes), of_b);
    world.add_endpoints((a, client), (b, server))
}

/// Every key is taken apart and every field is written: one that is forgotten does not compile.
fn settings(model: &Model) -> Settings {
    let &Model {
        congestion_control,
        initial_window_bytes,
        receive_window_bytes,
        max_idle_timeout,
        migration,
        certificate_bytes,
    } = model;
    Settings {
        congestion_control: match congestion_control {
            QuicCongestionControl::Newreno => CongestionControl::NewReno,
            QuicCongestionControl::Cubic => CongestionControl::Cubic,
        },
        initial_window_bytes,
        receive_window_bytes,
        max_idle_timeout: Some(max_idle_timeout).filter(|&timeout| timeout > Span::ZERO),
        migration,
        certificate_bytes: certificate_bytes as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_says_nothing_has_the_defaults_of_the_endpoint() {
        assert_eq!(settings(&Model::default()), Settings::default());
        assert_eq!(Model::MIN_DATAGRAM_BYTES, u64::from(roamsim_quic::settings::MIN_DATAGRAM_BYTES));
        assert_eq!(Model::MAX_DATAGRAM_BYTES, u64::from(roamsim_quic::settings::MAX_DATAGRAM_BYTES));
    }
}
