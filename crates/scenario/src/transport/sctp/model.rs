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
    /// Whose rules hold for the detection of losses, the window and the first retransmission timeout.
    /// Default: the standard in force.
    pub rules: SctpRules,
    /// The largest IP packet that the association makes. Left out: the smallest MTU on the path (RFC 9260
    /// section 7.3).
    #[serde(rename = "mtu", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub mtu_bytes: Option<u64>,
    /// The size of the messages that carry a stream without messages, `bulk` and `transfer`. Left out: the
    /// user data of one full packet, so that nothing is fragmented or bundled (chosen).
    #[serde(rename = "message_size", with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub message_size_bytes: Option<u64>,
    /// Messages go on this many streams in turn. Default chosen: 1, as TCP has.
    pub streams: u16,
    /// Whether messages keep their order within a stream (RFC 9260 section 6.6). Default: yes, as messages
    /// are unless the user asks otherwise (RFC 9260 section 11.1.5).
    pub ordered: bool,
    /// The window that a path starts with, in the units in which it grows: the largest DATA chunk, PMDCS, or
    /// by RFC 2960's rules the MTU. Left out: min(4 PMDCS, max(2 PMDCS, 4404 bytes)) (RFC 9260 section
    /// 7.2.1), or 2 MTU (RFC 2960 section 7.2.1).
    #[serde(rename = "initial_window")]
    pub initial_window_packets: Option<u32>,
    /// The receiver's buffer, and so the largest window that it offers. Default chosen: 6 MiB, as for TCP
    /// here.
    #[serde(rename = "receive_window", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub receive_window_bytes: u64,
    /// How many times a chunk is reported missing before it is sent again. Left out: 3 (RFC 9260 section
    /// 7.2.4), or 4 (RFC 2960 section 7.2.4).
    pub missing_reports: Option<u32>,
    /// In fast recovery, a SACK may bring chunks their last missing report. Whether it then always lets one
    /// packet of them go at once, whatever the window is, as in RFC 4960 (section 7.2.4, step 3), ns-2 and
    /// Linux. Default: no, as RFC 9260 has it: the first packet goes at once, the others as the window allows
    /// ("If not in Fast Recovery", section 7.2.4, step 3). Not with RFC 2960's rules, which know no fast
    /// recovery.
    pub fast_retransmit_in_recovery: bool,
    /// How many packets with data one SACK acknowledges, where nothing is missing. Default: RFC 9260 section
    /// 6.2. 1 is without delay.
    #[serde(rename = "sack_frequency")]
    pub sack_frequency_packets: u32,
    /// The most gap ack blocks that a SACK holds, the lowest ones. Left out: as many as a packet holds (RFC
    /// 9260 section 6.2). TCP has room for 3 or 4 (RFC 2018 section 3): this shows what more of them are
    /// worth.
    pub max_gap_ack_blocks: Option<u32>,
    /// How long a SACK waits for the packets that it is to acknowledge, at most 500 ms. Default: RFC 9260
    /// section 6.2.
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
    /// The granularity G of the clock that measures round-trip times. Default chosen: 1 ms, as for TCP here.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub clock_granularity: Span,
    /// How many packets with data may leave in answer to one event. Default: RFC 9260 section 16.
    #[serde(rename = "max_burst")]
    pub max_burst_packets: u32,
    /// How many timeouts in a row on all paths the association survives. Default: RFC 9260 section 16.
    pub association_max_retrans: u32,
    /// The link or cell whose address of a `multihomed` end makes the primary path, on which data goes while
    /// it is active (RFC 9260 section 6.4; Set Primary, section 11.1.6). Left out: the address that is
    /// nearest to the peer, of equally near ones that of the first link of the scenario. Not with
    /// `dynamic_addresses`, where a station says which address it prefers.
    pub primary_path: Option<String>,
    /// How many timeouts in a row a path survives before it counts as inactive. Default: RFC 9260 section 16.
    pub path_max_retrans: u32,
    /// How often an INIT or a COOKIE ECHO is repeated before the association is given up. Default: RFC 9260
    /// section 16.
    pub max_init_retransmits: u32,
    /// Whether idle paths are watched by HEARTBEATs. Default: yes (RFC 9260 section 8.3). Paths other than
    /// that of the handshake are confirmed by a HEARTBEAT in any case (section 5.4).
    pub heartbeats: bool,
    /// Time between two HEARTBEATs of an idle path, beyond its retransmission timeout. Default: RFC 9260
    /// section 16.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub heartbeat_interval: Span,
    /// How long a state cookie is good. Default: RFC 9260 section 16.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub valid_cookie_life: Span,
    /// Whether the association follows the addresses of a `multihomed` station at one of its ends, by ASCONF
    /// (RFC 5061; mobile SCTP). It begins with the addresses of the cells that the station hears. It adds the
    /// address of each newly heard cell, and deletes that of a lost one. It asks for data at the address that
    /// the station prefers (`change_primary_at` of the node). Default: no, as Linux
    /// (`net.sctp.addip_enable`); all addresses are then known from the start.
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
    /// Fast retransmit on the third missing report, fast recovery, an initial window of about 4404 bytes, a
    /// first timeout of 1 s. RFC 4960 differs in the timeout, 3 s, in a window that moves in MTUs, and in
    /// what fast recovery sends at once (`fast_retransmit_in_recovery`).
    Rfc9260,
    /// Fast retransmit on the fourth missing report, no fast recovery, a window that starts at 2 MTU and
    /// grows by MTUs, a first timeout of 3 s.
    Rfc2960,
}
