//! SCTP associations of flows and signalling.

use super::model::{Sctp, SctpRules};
use crate::transport::path::path_payload;
use roamsim_engine::Stream;
use roamsim_network::World;
use roamsim_network::flow::Association;
use roamsim_network::packet::IpVersion;
use roamsim_network::socket::{SctpUse, SocketEnd};
use roamsim_network::topology::NodeId;
use roamsim_protocols::Address;
use roamsim_protocols::sctp::{AddressForm, Config, Rules};

/// Adds an association, each end with its random stream.
pub(crate) fn add(
    world: &mut World,
    settings: &Sctp,
    a: (SocketEnd, Stream),
    b: (SocketEnd, Stream),
) -> Option<Association> {
    let ip_header_bytes = world.network.ip.header_bytes();
    let packet_bytes = match settings.mtu_bytes {
        Some(mtu_bytes) => (mtu_bytes as u32).saturating_sub(ip_header_bytes),
        None => path_payload(world, a.0.node, b.0.node).min(all_paths_payload(world, a.0.node, b.0.node)),
    };
    let address_form = match world.network.ip {
        IpVersion::V4 => AddressForm::Ipv4,
        IpVersion::V6 => AddressForm::Ipv6,
    };
    let config = config(settings, packet_bytes, address_form);
    let how = SctpUse {
        streams: settings.streams,
        ordered: settings.ordered,
        message_bytes: settings.message_size_bytes.unwrap_or_else(|| u64::from(config.fragment_bytes())),
        max_lifetime: settings.max_lifetime,
        max_retransmissions: settings.max_retransmissions,
    };
    let topology = &world.network.topology;
    let primary = [a.0.node, b.0.node].map(|node| {
        let on = settings.primary_path.as_ref()?;
        let mut own = topology.node(node).interfaces.iter().copied().map(Address);
        own.find(|&address| *topology.interface(address).name == **on)
    });
    world.add_sctp(&config, how, a, b, primary)
}

/// What IP carries in a packet that fits everywhere, where an end has several addresses: its paths may use
/// any link.
fn all_paths_payload(world: &World, a: NodeId, b: NodeId) -> u32 {
    let topology = &world.network.topology;
    if topology.addresses_for(a, b).len() == 1 && topology.addresses_for(b, a).len() == 1 {
        return u32::MAX;
    }
    let mtu_bytes = topology.interfaces().iter().map(|interface| interface.mtu_bytes).min();
    u32::from(mtu_bytes.unwrap_or(0)).saturating_sub(world.network.ip.header_bytes())
}

/// The machine's configuration, with packets of `packet_bytes` without the IP header. Validation has
/// checked it. Every key is taken apart and every field is written: one that is
/// forgotten does not compile.
fn config(settings: &Sctp, packet_bytes: u32, address_form: AddressForm) -> Config {
    let &Sctp {
        rules,
        // What the packets' length follows from, and how messages are cut and sent.
        mtu_bytes: _,
        message_size_bytes: _,
        ordered: _,
        // An order of addresses.
        primary_path: _,
        max_lifetime,
        max_retransmissions,
        streams,
        initial_window_packets,
        receive_window_bytes,
        missing_reports,
        fast_retransmit_in_recovery,
        sack_frequency_packets,
        max_gap_ack_blocks,
        sack_delay,
        rto_initial,
        rto_min,
        rto_max,
        clock_granularity,
        max_burst_packets,
        association_max_retrans,
        path_max_retrans,
        potentially_failed_max_retrans,
        primary_switchover_max_retrans,
        max_init_retransmits,
        heartbeats,
        heartbeat_interval,
        valid_cookie_life,
        dynamic_addresses,
    } = settings;
    Config {
        rules: match rules {
            SctpRules::Rfc9260 => Rules::Rfc9260,
            SctpRules::Rfc2960 => Rules::Rfc2960,
        },
        packet_bytes,
        address_form,
        outbound_streams: streams,
        // An end takes as many streams as its peer has: `streams` is the limit.
        inbound_streams: u16::MAX,
        receive_window_bytes: receive_window_bytes as u32,
        rto_initial,
        rto_min,
        rto_max,
        clock_granularity,
        initial_window: initial_window_packets,
        missing_reports,
        fast_retransmit_in_recovery,
        sack_frequency: sack_frequency_packets,
        max_gap_ack_blocks,
        delayed_ack: Some(sack_delay),
        max_burst: max_burst_packets,
        max_retransmissions: association_max_retrans,
        max_path_retransmissions: path_max_retrans,
        potentially_failed_retransmissions: potentially_failed_max_retrans,
        primary_switchover_retransmissions: primary_switchover_max_retrans,
        max_init_retransmissions: max_init_retransmits,
        heartbeat_interval: heartbeats.then_some(heartbeat_interval),
        cookie_life: valid_cookie_life,
        dynamic_addresses,
        partial_reliability: max_lifetime.is_some() || max_retransmissions.is_some(),
    }
}

/// The rules, in the scenario's word.
pub(crate) fn rules_name(settings: &Sctp) -> &'static str {
    match settings.rules {
        SctpRules::Rfc9260 => "rfc9260",
        SctpRules::Rfc2960 => "rfc2960",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_says_nothing_has_the_defaults_of_the_machine() {
        // But for these: one stream as TCP has, and addresses that stay, as in Linux.
        let expected = Config { outbound_streams: 1, dynamic_addresses: false, ..Config::default() };
        assert_eq!(config(&Sctp::default(), 1460, AddressForm::Ipv6), expected);
    }
}
