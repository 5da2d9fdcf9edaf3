//! The configuration of TCP connections.

use super::model::{
    Tcp, TcpDelayedAckRules, TcpFastOpenCookie, TcpGrowthRules, TcpHystartRules, TcpInitialWindowRules,
    TcpLossProbeRules, TcpNagleRules, TcpRackRules, TcpRtoRules, TcpUndoRules, TcpWindowValidation,
};
use roamsim_network::packet::IpVersion;
use roamsim_protocols::tcp;
use roamsim_protocols::tcp::congestion::LawMaker;

/// The machine's configuration; `path_mss_bytes` applies where the scenario sets no MSS. Every key is taken
/// apart and every field is written: one that is forgotten does not compile.
pub(crate) fn config(
    settings: &Tcp,
    path_mss_bytes: u32,
    ip: IpVersion,
    law: Option<LawMaker>,
) -> tcp::Config {
    let &Tcp {
        // A stack has filled in the others.
        stack: _,
        variant,
        // The built-in ones have chosen the variant.
        congestion_control: _,
        mss_bytes,
        initial_window_segments,
        initial_window_rules,
        receive_window_bytes: _,
        initial_receive_window_bytes,
        send_buffer_bytes,
        initial_send_buffer_bytes,
        window_scaling,
        min_rto,
        rto_rules,
        max_rto,
        initial_rto,
        clock_granularity,
        delayed_ack,
        delayed_ack_timeout,
        delayed_ack_adapts,
        quick_acks,
        compressed_acks,
        delayed_ack_count,
        delayed_ack_rules,
        piggyback_acks,
        one_way_connections,
        nagle,
        nagle_rules,
        dup_ack_threshold,
        successive_fast_retransmits,
        limited_transmit,
        sack,
        max_sack_blocks,
        timestamps,
        window_validation,
        restart_after_idle,
        max_retransmissions,
        user_timeout,
        advertised_user_timeout,
        user_timeout_changeable,
        user_timeout_lower_limit,
        user_timeout_upper_limit,
        keep_alive,
        keep_alive_time,
        keep_alive_interval,
        keep_alive_probes,
        fast_open,
        fast_open_cookie,
        initial_ssthresh_bytes,
        byte_counting_limit,
        ref own,
        rack,
        rack_rules,
        tail_loss_probe,
        loss_probe_rules,
        prr,
        frto,
        reduce_after_lost_retransmission,
        undo,
        undo_rules,
        growth_rules,
        hystart,
        hystart_rules,
        pacing,
        ecn,
        ecn_min_window,
        prr_for_ecn,
        accurate_ecn,
        l4s,
        abe,
        msl,
        challenge_ack_interval,
        challenge_ack_limit,
    } = settings;
    tcp::Config {
        variant,
        law,
        default_mss_bytes: match ip {
            IpVersion::V4 => tcp::DEFAULT_MSS_IPV4_BYTES,
            IpVersion::V6 => tcp::DEFAULT_MSS_IPV6_BYTES,
        },
        mss_bytes: mss_bytes.map_or(path_mss_bytes, |bytes| bytes as u32),
        initial_window: match (initial_window_segments, initial_window_rules) {
            (Some(segments), _) => tcp::InitialWindow::Segments(segments),
            (None, TcpInitialWindowRules::Rfc6928) => tcp::InitialWindow::Rfc6928,
            (None, TcpInitialWindowRules::Rfc5681) => tcp::InitialWindow::Rfc5681,
        },
        receive_window_bytes: settings.receive_window_bytes() as u32,
        initial_receive_window_bytes: initial_receive_window_bytes.map(|bytes| bytes as u32),
        send_buffer_bytes,
        initial_send_buffer_bytes,
        window_scaling,
        min_rto,
        rto_rules: match rto_rules {
            TcpRtoRules::Rfc6298 => tcp::RtoRules::Rfc6298,
            TcpRtoRules::Linux => tcp::RtoRules::Linux,
        },
        max_rto,
        initial_rto,
        clock_granularity,
        delayed_ack: delayed_ack.then_some(delayed_ack_timeout),
        delayed_ack_adapts,
        quick_acks,
        compressed_acks,
        delayed_ack_count,
        delayed_ack_rules: match delayed_ack_rules {
            TcpDelayedAckRules::Rfc => tcp::DelayedAckRules::Rfc,
            TcpDelayedAckRules::Linux => tcp::DelayedAckRules::Linux,
        },
        piggyback_acks,
        one_way_connections,
        nagle,
        nagle_rules: match nagle_rules {
            TcpNagleRules::Rfc => tcp::NagleRules::Rfc,
            TcpNagleRules::Minshall => tcp::NagleRules::Minshall,
        },
        dup_ack_threshold,
        successive_fast_retransmits,
        limited_transmit,
        sack,
        max_sack_blocks,
        timestamps,
        max_retransmissions,
        user_timeout,
        user_timeout_option: advertised_user_timeout.map(|advertised| tcp::UserTimeoutOption {
            advertised,
            changeable: user_timeout_changeable,
            lower_limit: user_timeout_lower_limit,
            upper_limit: user_timeout_upper_limit,
        }),
        keep_alive: keep_alive.then_some(tcp::KeepAlive {
            idle: keep_alive_time,
            interval: keep_alive_interval,
            probes: keep_alive_probes,
        }),
        fast_open: fast_open.then_some(match fast_open_cookie {
            TcpFastOpenCookie::Requested => tcp::FirstCookie::Requested,
            TcpFastOpenCookie::Known => tcp::FirstCookie::Known,
            TcpFastOpenCookie::Stale => tcp::FirstCookie::Stale,
        }),
        byte_counting_limit,
        initial_ssthresh_bytes,
        own: own.clone(),
        rack: rack.unwrap_or(false),
        rack_rules: match rack_rules {
            TcpRackRules::Rfc8985 => tcp::RackRules::Rfc8985,
            TcpRackRules::Linux => tcp::RackRules::Linux,
        },
        tail_loss_probe,
        loss_probe_rules: match loss_probe_rules {
            TcpLossProbeRules::Rfc8985 => tcp::LossProbeRules::Rfc8985,
            TcpLossProbeRules::Linux => tcp::LossProbeRules::Linux,
        },
        prr,
        frto,
        reduce_after_lost_retransmission,
        undo,
        undo_rules: match undo_rules {
            TcpUndoRules::Rfc3522 => tcp::UndoRules::Rfc3522,
            TcpUndoRules::Linux => tcp::UndoRules::Linux,
        },
        growth_rules: match growth_rules {
            TcpGrowthRules::Rfc5681 => tcp::GrowthRules::Rfc5681,
            TcpGrowthRules::Linux => tcp::GrowthRules::Linux,
        },
        hystart,
        hystart_rules: match hystart_rules {
            TcpHystartRules::Rfc9406 => tcp::HystartRules::PlusPlus,
            TcpHystartRules::Linux => tcp::HystartRules::Linux,
        },
        pacing: pacing.unwrap_or(false),
        ecn,
        ecn_min_window,
        prr_for_ecn,
        accurate_ecn,
        l4s,
        abe,
        window_validation: match window_validation {
            TcpWindowValidation::Half => tcp::WindowValidation::Half,
            TcpWindowValidation::Rfc7661 => tcp::WindowValidation::Rfc7661,
            TcpWindowValidation::Linux => tcp::WindowValidation::Linux,
        },
        restart_after_idle,
        msl,
        challenge_ack_interval,
        challenge_ack_limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Span;

    #[test]
    fn a_scenario_that_says_nothing_has_the_defaults_of_the_machine() {
        // 1440: what Ethernet's 1500 bytes leave after 40 of IPv6 and 20 of TCP.
        assert_eq!(config(&Tcp::default(), 1440, IpVersion::V6, None), tcp::Config::default());
    }

    /// RFC 9293 3.7.1, MUST-15.
    #[test]
    fn a_peer_without_an_mss_has_that_of_its_version_of_ip() {
        let of = |ip| config(&Tcp::default(), 1440, ip, None).default_mss_bytes;
        assert_eq!((of(IpVersion::V4), of(IpVersion::V6)), (536, 1220));
    }

    #[test]
    fn times_that_no_run_of_a_minute_shows_reach_the_machine() {
        let (msl, challenge_ack_interval) = (Span::from_secs(30), Span::from_secs(7));
        let settings = Tcp { msl, challenge_ack_interval, challenge_ack_limit: 3, ..Tcp::default() };
        let machine = config(&settings, 1440, IpVersion::V6, None);
        assert_eq!(machine.msl, msl);
        assert_eq!(
            (machine.challenge_ack_interval, machine.challenge_ack_limit),
            (challenge_ack_interval, 3)
        );
    }
}
