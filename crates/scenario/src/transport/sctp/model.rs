//! The settings of SCTP.

use roamsim_engine::Span;
use roamsim_protocols::sctp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// The settings of SCTP. Names are those of RFC 9260 section 16 where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sctp {
    /// The RFC whose rules hold for loss detection, the window and the first timeout. Default: the standard
    /// in force.
    pub rules: SctpRules,
    /// The largest IP packet that the association makes. Left out: the smallest MTU on the path (RFC 9260
    /// section 7.3).
    #[serde(rename = "mtu", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub mtu_bytes: Option<u64>,
    /// The size of messages that carry a stream (`bulk` and `transfer`). Left out: one full packet, so that
    /// nothing is fragmented or bundled (chosen).
    #[serde(rename = "message_size", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub message_size_bytes: Option<u64>,
    /// Streams that messages use in turn. Default chosen: 1, as TCP has.
    pub streams: u16,
    /// Whether messages keep their order within a stream (RFC 9260 section 6.6). Default: yes (RFC 9260
    /// section 11.1.5).
    pub ordered: bool,
    /// A message is abandoned this long after it was written (timed reliability, RFC 3758 section 4.1). Left
    /// out: until it arrives (RFC 9260). Not for `bulk` and `transfer`.
    #[serde(with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub max_lifetime: Option<Span>,
    /// Retransmissions of each chunk of a message before the message is abandoned (limited retransmissions,
    /// RFC 7496 section 3.1). Left out: until it arrives (RFC 9260). Not with `max_lifetime`, nor for `bulk`
    /// and `transfer`.
    pub max_retransmissions: Option<u32>,
    /// A path's first window, in units of the largest DATA chunk (PMDCS), or of the MTU by RFC 2960's rules.
    /// Left out: min(4 PMDCS, max(2 PMDCS, 4404 bytes)) (RFC 9260 section 7.2.1), or 2 MTU (RFC 2960 section
    /// 7.2.1).
    #[serde(rename = "initial_window")]
    pub initial_window_packets: Option<u32>,
    /// The receiver's buffer: the largest window that it offers. Default chosen: 6 MiB, as for TCP here.
    #[serde(rename = "receive_window", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub receive_window_bytes: u64,
    /// Missing reports of a chunk before its retransmission. Left out: 3 (RFC 9260 section 7.2.4), or 4 (RFC
    /// 2960 section 7.2.4).
    pub missing_reports: Option<u32>,
    /// Whether every SACK that completes missing reports in fast recovery releases a packet, as in RFC 4960
    /// (section 7.2.4, step 3), ns-2 and Linux. Default: no, as in RFC 9260 (section 7.2.4, step 3): only the
    /// first packet. Not with RFC 2960's rules.
    pub fast_retransmit_in_recovery: bool,
    /// Packets with data that one SACK acknowledges while nothing is missing; 1 is without delay. Default:
    /// RFC 9260 section 6.2.
    #[serde(rename = "sack_frequency")]
    pub sack_frequency_packets: u32,
    /// The most gap ack blocks in a SACK, the lowest ones. Left out: as many as a packet holds (RFC 9260
    /// section 6.2). TCP has 3 or 4 (RFC 2018 section 3).
    pub max_gap_ack_blocks: Option<u32>,
    /// The longest wait of a SACK, up to 500 ms. Default: RFC 9260 section 6.2.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub sack_delay: Span,
    /// The retransmission timeout before the first RTT measurement; `rto_max` bounds it. Left out: 1 s (RFC
    /// 9260 section 16), or 3 s (RFC 2960 section 14).
    #[serde(with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub rto_initial: Option<Span>,
    /// Lower bound of the retransmission timeout. Default: RFC 9260 section 16.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub rto_min: Span,
    /// Upper bound of the retransmission timeout. Default: RFC 9260 section 16.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub rto_max: Span,
    /// The granularity G of the clock for round-trip times. Default chosen: 1 ms, as for TCP here.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub clock_granularity: Span,
    /// Packets with data that may leave in answer to one event. Default: RFC 9260 section 16.
    #[serde(rename = "max_burst")]
    pub max_burst_packets: u32,
    /// Timeouts in a row on all paths before the association fails. Default: RFC 9260 section 16.
    pub association_max_retrans: u32,
    /// The link or cell whose address of a `multihomed` end is the primary path (RFC 9260 section 6.4; Set
    /// Primary, section 11.1.6). Left out: the address nearest to the peer; on a tie, that of the scenario's
    /// first link. Not with `dynamic_addresses`.
    pub primary_path: Option<String>,
    /// Timeouts in a row before a path counts as inactive. Default: RFC 9260 section 16.
    pub path_max_retrans: u32,
    /// Timeouts in a row before a path counts as potentially failed (PotentiallyFailed.Max.Retrans, RFC 7829
    /// section 3.2, which recommends 0). Then data takes another path until the peer answers on this one.
    /// Left out: there is no such state, as in RFC 9260.
    pub potentially_failed_max_retrans: Option<u32>,
    /// Timeouts in a row on the primary path before another path becomes primary for good
    /// (Primary.Switchover.Max.Retrans, RFC 7829 section 5). Left out: the primary path stays, as in RFC
    /// 9260. Not with `dynamic_addresses`.
    pub primary_switchover_max_retrans: Option<u32>,
    /// Repetitions of an INIT or a COOKIE ECHO before the association is given up. Default: RFC 9260 section
    /// 16.
    pub max_init_retransmits: u32,
    /// Whether HEARTBEATs probe idle paths. Default: yes (RFC 9260 section 8.3). A HEARTBEAT confirms
    /// additional paths in any case (section 5.4).
    pub heartbeats: bool,
    /// Time between two HEARTBEATs of an idle path, beyond its timeout. Default: RFC 9260 section 16.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub heartbeat_interval: Span,
    /// How long a state cookie is good. Default: RFC 9260 section 16.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub valid_cookie_life: Span,
    /// Whether the association follows the addresses of a `multihomed` station by ASCONF (RFC 5061; mobile
    /// SCTP). The node's `change_primary_at` chooses the preferred one. Default: no, as Linux
    /// (`net.sctp.addip_enable`): all addresses are known from the start.
    pub dynamic_addresses: bool,
}

impl Default for Sctp {
    // The values are the machine's but for the last ones, each with its source there; the fields'
    // documentation, where users read it, says the source as well.
    fn default() -> Sctp {
        let machine = sctp::Config::default();
        Sctp {
            rules: SctpRules::Rfc9260,
            mtu_bytes: None,
            message_size_bytes: None,
            max_lifetime: None,
            max_retransmissions: None,
            initial_window_packets: machine.initial_window,
            receive_window_bytes: u64::from(machine.receive_window_bytes),
            missing_reports: machine.missing_reports,
            fast_retransmit_in_recovery: machine.fast_retransmit_in_recovery,
            sack_frequency_packets: machine.sack_frequency,
            max_gap_ack_blocks: machine.max_gap_ack_blocks,
            sack_delay: machine.delayed_ack.unwrap_or_default(),
            rto_initial: machine.rto_initial,
            rto_min: machine.rto_min,
            rto_max: machine.rto_max,
            clock_granularity: machine.clock_granularity,
            max_burst_packets: machine.max_burst,
            association_max_retrans: machine.max_retransmissions,
            path_max_retrans: machine.max_path_retransmissions,
            potentially_failed_max_retrans: machine.potentially_failed_retransmissions,
            primary_switchover_max_retrans: machine.primary_switchover_retransmissions,
            max_init_retransmits: machine.max_init_retransmissions,
            heartbeats: true,
            heartbeat_interval: machine.heartbeat_interval.unwrap_or_default(),
            valid_cookie_life: machine.cookie_life,
            primary_path: None,
            streams: 1,
            ordered: true,
            dynamic_addresses: false,
        }
    }
}

impl Sctp {
    /// Bytes of the common header (RFC 9260 section 3.1).
    pub const HEADER_BYTES: u64 = 12;

    /// Bytes of a DATA chunk in front of its user data (RFC 9260 section 3.3.1).
    pub const DATA_HEADER_BYTES: u64 = 16;
}

/// An RFC's rules for loss and congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SctpRules {
    /// Fast retransmit on the third missing report, fast recovery, a first window of about 4404 bytes, a
    /// first timeout of 1 s. RFC 4960 differs: 3 s, a window in MTUs, and `fast_retransmit_in_recovery`.
    Rfc9260,
    /// Fast retransmit on the fourth missing report, no fast recovery, a window from 2 MTU that grows by
    /// MTUs, a first timeout of 3 s.
    Rfc2960,
}
