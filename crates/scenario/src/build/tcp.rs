//! The configuration of TCP connections.

use crate::model::transport::{Tcp, TcpVariant};
use roamsim_network::packet::IpVersion;
use roamsim_protocols::tcp;

pub(crate) fn variant(settings: &Tcp) -> tcp::Variant {
    match settings.variant {
        TcpVariant::Tahoe => tcp::Variant::Tahoe,
        TcpVariant::Reno => tcp::Variant::Reno,
        TcpVariant::NewReno => tcp::Variant::NewReno,
        TcpVariant::Sack => tcp::Variant::Sack,
        TcpVariant::Vegas => tcp::Variant::Vegas,
        TcpVariant::Cubic => tcp::Variant::Cubic,
    }
}

/// The machine's configuration; `path_mss_bytes` applies where the scenario sets no MSS.
pub(super) fn tcp_config(settings: &Tcp, path_mss_bytes: u32, ip: IpVersion) -> tcp::Config {
    tcp::Config {
        variant: variant(settings),
        default_mss_bytes: match ip {
            IpVersion::V4 => tcp::DEFAULT_MSS_IPV4_BYTES,
            IpVersion::V6 => tcp::DEFAULT_MSS_IPV6_BYTES,
        },
        mss_bytes: settings.mss_bytes.map_or(path_mss_bytes, |bytes| bytes as u32),
        initial_window: match settings.initial_window_segments {
            Some(segments) => tcp::InitialWindow::Segments(segments),
            None => tcp::InitialWindow::Rfc6928,
        },
        receive_window_bytes: settings.receive_window_bytes() as u32,
        window_scaling: settings.window_scaling,
        min_rto: settings.min_rto,
        max_rto: settings.max_rto,
        initial_rto: settings.initial_rto,
        clock_granularity: settings.clock_granularity,
        delayed_ack: settings.delayed_ack.then_some(settings.delayed_ack_timeout),
        delayed_ack_count: settings.delayed_ack_count,
        piggyback_acks: settings.piggyback_acks,
        nagle: settings.nagle,
        dup_ack_threshold: settings.dup_ack_threshold,
        successive_fast_retransmits: settings.successive_fast_retransmits,
        limited_transmit: settings.limited_transmit,
        sack: settings.sack,
        max_sack_blocks: settings.max_sack_blocks,
        timestamps: settings.timestamps,
        max_retransmissions: settings.max_retransmissions,
        byte_counting_limit: settings.byte_counting_limit,
        initial_ssthresh_bytes: settings.initial_ssthresh_bytes,
        vegas: settings.vegas.map_or_else(tcp::VegasThresholds::default, |vegas| tcp::VegasThresholds {
            alpha: vegas.alpha_segments,
            beta: vegas.beta_segments,
            gamma: vegas.gamma_segments,
        }),
        fast_convergence: settings.fast_convergence,
        restart_after_idle: settings.restart_after_idle,
        ..tcp::Config::default()
    }
}
