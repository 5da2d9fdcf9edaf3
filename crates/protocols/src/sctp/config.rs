//! The settings of an association, each default with its source.

use roamsim_engine::Span;

use super::chunk::{COMMON_HEADER_BYTES, DATA_HEADER_BYTES};

/// Which RFC's rules for loss and congestion hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Third missing report, fast recovery, RTO.Initial 1 s, initial window of 7.2.1.
    Rfc9260,
    /// Fourth missing report, no fast recovery, RTO.Initial 3 s, initial window of two units.
    Rfc2960,
}

/// The settings of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The RFC followed. Default RFC 9260.
    pub rules: Rules,
    /// The largest packet, common header included. Default 1460: Ethernet's 1500 less 40 of IPv6.
    pub packet_bytes: u32,
    /// Streams to send on. Default 10 (chosen, as Linux).
    pub outbound_streams: u16,
    /// The most streams taken from the peer. Default 65535 (chosen: no limit of its own).
    pub inbound_streams: u16,
    /// Size of the receive buffer, hence the largest window offered. Default 6 MiB (chosen, as for TCP here).
    pub receive_window_bytes: u32,
    /// RTO.Initial. Default `None`: 1 s by RFC 9260 section 16, 3 s by RFC 2960 section 14.
    pub rto_initial: Option<Span>,
    /// RTO.Min. Default 1 s (RFC 9260 section 16).
    pub rto_min: Span,
    /// RTO.Max. Default 60 s (RFC 9260 section 16).
    pub rto_max: Span,
    /// Tick of the clock that measures round-trip times. Default 1 ms (chosen, as for TCP here).
    pub clock_granularity: Span,
    /// The window of a new path in units of PMDCS. Default `None`: by RFC 9260 7.2.1 or RFC 2960 7.2.1.
    pub initial_window: Option<u32>,
    /// Missing reports that tell of a loss. Default `None`: 3 by RFC 9260 7.2.4, 4 by RFC 2960 7.2.4.
    pub missing_reports: Option<u32>,
    /// Packets with DATA that one SACK acknowledges, if it is not delayed longer than allowed. Default 2 (RFC 9260
    /// 6.2).
    pub sack_frequency: u32,
    /// How long a SACK may be delayed; `None` sends one for every packet. Default 200 ms (RFC 9260 6.2).
    pub delayed_ack: Option<Span>,
    /// Packets with DATA in answer to one event. Default 4 (Max.Burst, RFC 9260 section 16).
    pub max_burst: u32,
    /// Association.Max.Retrans: consecutive timeouts survived. Default 10 (RFC 9260 section 16).
    pub max_retransmissions: u32,
    /// Max.Init.Retransmits. Default 8 (RFC 9260 section 16).
    pub max_init_retransmissions: u32,
    /// Valid.Cookie.Life. Default 60 s (RFC 9260 section 16).
    pub cookie_life: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            rules: Rules::Rfc9260,
            packet_bytes: 1460,
            outbound_streams: 10,
            inbound_streams: 65_535,
            receive_window_bytes: 6 * 1024 * 1024,
            rto_initial: None,
            rto_min: Span::from_secs(1),
            rto_max: Span::from_secs(60),
            clock_granularity: Span::from_ms(1),
            initial_window: None,
            missing_reports: None,
            sack_frequency: 2,
            delayed_ack: Some(Span::from_ms(200)),
            max_burst: 4,
            max_retransmissions: 10,
            max_init_retransmissions: 8,
            cookie_life: Span::from_secs(60),
        }
    }
}

impl Config {
    /// RTO.Initial in force.
    pub fn initial_rto(&self) -> Span {
        let by_rules = match self.rules {
            Rules::Rfc9260 => Span::from_secs(1),
            Rules::Rfc2960 => Span::from_secs(3),
        };
        self.rto_initial.unwrap_or(by_rules).min(self.rto_max)
    }

    /// The most user data in one DATA chunk: whole words, so that no chunk but a message's last one is padded.
    pub fn fragment_bytes(&self) -> u32 {
        self.packet_bytes.saturating_sub(COMMON_HEADER_BYTES + DATA_HEADER_BYTES) / 4 * 4
    }

    /// Missing reports that tell of a loss (RFC 9260 7.2.4; RFC 2960 7.2.4).
    pub fn missing_reports(&self) -> u32 {
        self.missing_reports.unwrap_or(match self.rules {
            Rules::Rfc9260 => 3,
            Rules::Rfc2960 => 4,
        })
    }
}
