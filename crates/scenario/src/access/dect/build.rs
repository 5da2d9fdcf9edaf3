//! DECT accesses: from the scenario's words to the configuration of MAC and DLC.

use super::model;
use crate::access::Making;
use crate::access::queue::queue_limit;
use roamsim_engine::{Span, Time};
use roamsim_network::link::AnyLink;
use roamsim_network::link::dect::FRAME;
use roamsim_network::link::dect::access::{Access, AccessConfig};
use roamsim_network::link::dect::direction::{IpConfig, Service, UnfinishedPackets};
use roamsim_network::link::dect::errors::{Burst, ErrorConfig};
use roamsim_network::link::dect::ip_channel::MAX_ATTEMPTS;
use roamsim_network::link::dect::lu2::{Acknowledgement, Lu2Config, TimersWithoutBearers};
use roamsim_network::link::dect::mac::MacConfig;
use roamsim_network::link::dect::mac::config::{
    AttemptLimits, BearerCounts, CallDuration, ChannelListConfig, ProcedureTimers, QualityChain, Selection,
    Traffic, Transceivers, UserAllocation,
};

pub(super) fn machine(model: &model::Dect, making: &Making<'_>) -> AnyLink {
    // The other keys are the MAC's, which takes the table apart.
    let model::Dect { name, errors, warm_up, mtu_bytes, queue, dlc: service, .. } = model;
    // The chain of good and bad is the MAC's.
    let &model::Errors {
        ber_good,
        ber_bad,
        ber_factor,
        good_to_bad: _,
        bad_to_good: _,
        a_field_errors,
        bursts: ref in_bursts,
    } = errors;
    let (service, ip) = dlc(service);
    let config = AccessConfig {
        mac: mac(model),
        errors: ErrorConfig {
            ber_good: (ber_good * ber_factor).min(1.0),
            ber_bad: (ber_bad * ber_factor).min(1.0),
            bursts: bursts(in_bursts),
            a_field_errors,
        },
        ip,
        service,
        queue: queue.map(|queue| (queue.rule(full_rate_bps(model), *mtu_bytes as u32), queue_limit(queue))),
        mtu_bytes: *mtu_bytes as u32,
        warm_up_frames: first_frame((*warm_up).max(making.builder.general.warm_up)),
    };
    let stream = |purpose: &str| making.builder.stream("dect", name, &[purpose]);
    let mut access = Access::new(config, stream);
    let trace = &making.trace;
    access.record(trace.bearers, trace.dlc_queue, trace.occupancy);
    AnyLink::Dect(Box::new(access))
}

/// What the bearers that the terminal wants carry, 320 bits of a B field a frame each (EN 300 175-3 clause
/// 6.2.1.1.2): by which RED has its mean decay while nothing waits.
fn full_rate_bps(model: &model::Dect) -> u64 {
    32_000 * u64::from(model.fixed_bearers.unwrap_or(model.connection.target_bearers)).max(1)
}

/// The first frame that begins at or after an instant.
pub(super) fn first_frame(at: Time) -> u64 {
    at.as_ns().div_ceil(FRAME.as_ns())
}

fn frames(span: Span) -> f64 {
    span.as_ns() as f64 / FRAME.as_ns() as f64
}

fn bursts(bursts: &[model::Burst]) -> Vec<Burst> {
    let mut bursts: Vec<Burst> = bursts
        .iter()
        .map(|burst| Burst {
            from_frame: first_frame(burst.start),
            until_frame: first_frame(burst.start + burst.duration),
            factor: burst.factor,
        })
        .collect();
    bursts.sort_by_key(|burst| burst.from_frame);
    bursts
}

fn dlc(model: &model::Dlc) -> (Service, IpConfig) {
    let model::Dlc::Lu2(lu2) = model else {
        return (Service::Lu1, IpConfig { max_attempts: MAX_ATTEMPTS, unfinished: UnfinishedPackets::Lost });
    };
    let &model::Lu2 {
        window_fragments,
        retransmission_timer_frames,
        discard_timer_frames,
        acknowledgement,
        acknowledgement_delay_frames,
        timers_without_bearers,
        max_attempts,
        unfinished_packets,
    } = lu2;
    let service = Service::Lu2(Lu2Config {
        window_fragments,
        retransmission_timer_frames,
        discard_timer_frames,
        acknowledgement: match acknowledgement {
            model::DlcAcknowledgement::Fragments => Acknowledgement::Fragments,
            model::DlcAcknowledgement::Frames => Acknowledgement::Frames,
        },
        acknowledgement_delay_frames,
        timers_without_bearers: match timers_without_bearers {
            model::TimersWithoutBearers::Stopped => TimersWithoutBearers::Stopped,
            model::TimersWithoutBearers::Running => TimersWithoutBearers::Running,
        },
    });
    let unfinished = match unfinished_packets {
        model::UnfinishedPackets::Lost => UnfinishedPackets::Lost,
        model::UnfinishedPackets::Kept => UnfinishedPackets::Kept,
    };
    (service, IpConfig { max_attempts, unfinished })
}

fn mac(model: &model::Dect) -> MacConfig {
    let &model::Dect {
        name: _,
        terminal: _,
        gateway: _,
        mtu_bytes: _,
        queue: _,
        warm_up: _,
        radio_fixed_parts,
        carriers,
        fixed_bearers,
        connection,
        terminals: _,
        load_factor,
        data_terminals,
        ref errors,
        handovers,
        procedures,
        channel_list,
        dlc: _,
    } = model;
    let model::DataTerminals { target_bearers, minimum_bearers } = data_terminals;
    let data_bearers = BearerCounts { target: target_bearers, minimum: minimum_bearers };
    let model::Connection { target_bearers, minimum_bearers, modification_threshold } = connection;
    let model::Handovers { need_good, need_bad, other_terminals_interval, need_factor, cell_time } =
        handovers;
    let model::Procedures {
        call_setup_timer_frames,
        bearer_handover_timer_frames,
        connection_handover_timer_frames,
        connection_modification_timer_frames,
        attempt_permission,
        setup_attempts,
        multibearer_handover_attempts,
        single_bearer_handover_attempts,
        data_during_setup,
        transceivers,
    } = procedures;
    let model::ChannelList { refresh_frames, idle_seen_quiet, reserved_seen_interfered, selection } =
        channel_list;
    MacConfig {
        rfps: radio_fixed_parts,
        carriers,
        traffic: [
            model::TerminalType::P08j,
            model::TerminalType::P32,
            model::TerminalType::P80,
            model::TerminalType::Data,
        ]
        .map(|terminal_type| traffic(model, terminal_type)),
        load_factor,
        data_bearers,
        user: match fixed_bearers {
            Some(bearers) => UserAllocation::Fixed { bearers },
            None => UserAllocation::Procedures {
                bearers: BearerCounts { target: target_bearers, minimum: minimum_bearers },
                modification_threshold,
            },
        },
        quality: QualityChain {
            good_to_bad: errors.good_to_bad,
            bad_to_good: errors.bad_to_good,
            handover_need_good: need_good,
            handover_need_bad: need_bad,
        },
        handover_need_mean_frames: frames(other_terminals_interval),
        handover_need_factor: need_factor,
        timers: ProcedureTimers {
            call_setup_frames: call_setup_timer_frames,
            bearer_handover_frames: bearer_handover_timer_frames,
            connection_handover_frames: connection_handover_timer_frames,
            connection_modification_frames: connection_modification_timer_frames,
        },
        channel_list: ChannelListConfig {
            refresh_frames,
            idle_seen_quiet,
            reserved_seen_interfered,
            selection: match selection {
                model::Selection::Uniform => Selection::Uniform,
                model::Selection::QuietFirst => Selection::QuietFirst,
            },
        },
        attempt_permission,
        attempts: AttemptLimits {
            setup: setup_attempts,
            handover_multibearer: multibearer_handover_attempts,
            handover_single_bearer: single_bearer_handover_attempts,
        },
        cell_dwell_mean_frames: frames(cell_time),
        carry_data_in_setup: data_during_setup,
        transceivers: match transceivers {
            model::Transceivers::Unlimited => Transceivers::Unlimited,
            model::Transceivers::OnePerSlotPair => Transceivers::OnePerSlotPair,
        },
    }
}

/// The calls of the other terminals of one type; none where the scenario has no entry for it.
fn traffic(model: &model::Dect, terminal_type: model::TerminalType) -> Traffic {
    let reference = MacConfig::default().traffic[terminal_type as usize].duration.clone();
    let Some(terminals) = model.terminals.iter().find(|entry| entry.terminal_type == terminal_type) else {
        return Traffic { offered_erlang: 0.0, duration: reference };
    };
    let duration = match terminals.mean_duration {
        Some(mean) => CallDuration::Exponential { mean_frames: frames(mean) },
        None if terminals.durations.is_empty() => reference,
        None => CallDuration::OneOf(
            terminals.durations.iter().map(|length| (length.weight, frames(length.duration))).collect(),
        ),
    };
    Traffic { offered_erlang: terminals.offered_erlang, duration }
}
