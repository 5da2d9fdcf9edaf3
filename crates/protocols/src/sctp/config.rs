//! The settings of an association, each default with its source.

use roamsim_engine::Span;

use super::chunk::{COMMON_HEADER_BYTES, DATA_HEADER_BYTES};

/// Which RFC's rules for loss and congestion hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Third missing report, fast recovery, RTO.Initial 1 s, a window in units of PMDCS with the start of
    /// 7.2.1.
    Rfc9260,
    /// Fourth missing report, no fast recovery, RTO.Initial 3 s, a window in units of the path MTU that
    /// starts at two.
    Rfc2960,
}

/// How addresses are written in parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressForm {
    /// Type 5, by [`ipv4_octets`](crate::Address::ipv4_octets).
    Ipv4,
    /// Type 6, by [`ipv6_octets`](crate::Address::ipv6_octets).
    Ipv6,
}

impl AddressForm {
    /// Octets of the IP header in front of a packet (RFC 791 3.1, RFC 8200 section 3).
    pub fn ip_header_bytes(self) -> u32 {
        match self {
            AddressForm::Ipv4 => 20,
            AddressForm::Ipv6 => 40,
        }
    }
}

/// The settings of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The RFC followed. Default RFC 9260.
    pub rules: Rules,
    /// The largest packet, common header included. Default 1460: Ethernet's 1500 less 40 of IPv6.
    pub packet_bytes: u32,
    /// The IP version: how addresses are written, and what RFC 2960's path MTU holds beside the packet.
    /// Default IPv6 (as `packet_bytes`).
    pub address_form: AddressForm,
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
    /// The window of a new path, in the units in which it moves. Default `None`: by 7.2.1 of the RFC
    /// followed.
    pub initial_window: Option<u32>,
    /// Missing reports that tell of a loss. Default `None`: 3 by RFC 9260 7.2.4, 4 by RFC 2960 7.2.4.
    pub missing_reports: Option<u32>,
    /// Whether a packet of what a SACK finds lost goes at once, whatever cwnd is, in fast recovery too (RFC
    /// 4960 7.2.4, step 3). Default false: when fast recovery begins (RFC 9260 7.2.4, step 3). RFC 2960 knows
    /// no fast recovery.
    pub fast_retransmit_in_recovery: bool,
    /// Packets with DATA that one SACK acknowledges, where nothing is missing. Default 2 (RFC 9260 6.2).
    pub sack_frequency: u32,
    /// The most gap ack blocks of a SACK. Default `None`: as many as a packet holds (RFC 9260 6.2, 3.3.4).
    pub max_gap_ack_blocks: Option<u32>,
    /// How long a SACK may be delayed; `None` sends one for every packet. Default 200 ms (RFC 9260 6.2).
    pub delayed_ack: Option<Span>,
    /// Packets with DATA in answer to one event. Default 4 (Max.Burst, RFC 9260 section 16).
    pub max_burst: u32,
    /// Association.Max.Retrans: consecutive timeouts on all paths together survived. Default 10 (RFC 9260
    /// section 16).
    pub max_retransmissions: u32,
    /// Path.Max.Retrans: consecutive timeouts on a path before it counts as inactive. Default 5 (RFC 9260
    /// section 16).
    pub max_path_retransmissions: u32,
    /// PotentiallyFailed.Max.Retrans: consecutive timeouts on a path before it is potentially failed (RFC
    /// 7829 section 3.2; it recommends 0). Default `None`: there is no such state, as in RFC 9260.
    pub potentially_failed_retransmissions: Option<u32>,
    /// Primary.Switchover.Max.Retrans: consecutive timeouts on the primary path before another one becomes
    /// the primary path for good (RFC 7829 section 5). Default `None`: never, as in RFC 9260.
    pub primary_switchover_retransmissions: Option<u32>,
    /// Max.Init.Retransmits. Default 8 (RFC 9260 section 16).
    pub max_init_retransmissions: u32,
    /// HB.interval; `None` sends HEARTBEATs only to confirm paths. Default 30 s (RFC 9260 section 16).
    pub heartbeat_interval: Option<Span>,
    /// Valid.Cookie.Life. Default 60 s (RFC 9260 section 16).
    pub cookie_life: Span,
    /// Whether ASCONF is offered and taken (RFC 5061). Default true (chosen: it costs 8 octets of an INIT).
    pub dynamic_addresses: bool,
    /// Whether FORWARD TSN is offered and taken (RFC 3758). Default false: it costs 12 octets of an INIT.
    pub partial_reliability: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            rules: Rules::Rfc9260,
            packet_bytes: 1460,
            address_form: AddressForm::Ipv6,
            outbound_streams: 10,
            inbound_streams: 65_535,
            receive_window_bytes: 6 * 1024 * 1024,
            rto_initial: None,
            rto_min: Span::from_secs(1),
            rto_max: Span::from_secs(60),
            clock_granularity: Span::from_ms(1),
            initial_window: None,
            missing_reports: None,
            fast_retransmit_in_recovery: false,
            sack_frequency: 2,
            max_gap_ack_blocks: None,
            delayed_ack: Some(Span::from_ms(200)),
            max_burst: 4,
            max_retransmissions: 10,
            max_path_retransmissions: 5,
            potentially_failed_retransmissions: None,
            primary_switchover_retransmissions: None,
            max_init_retransmissions: 8,
            heartbeat_interval: Some(Span::from_secs(30)),
            cookie_life: Span::from_secs(60),
            dynamic_addresses: true,
            partial_reliability: false,
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

    /// Missing reports that tell of a loss (RFC 9260 7.2.4; RFC 2960 7.2.4).
    pub fn missing_reports(&self) -> u32 {
        self.missing_reports.unwrap_or(match self.rules {
            Rules::Rfc9260 => 3,
            Rules::Rfc2960 => 4,
        })
    }

    /// The most user data in one DATA chunk: whole words, so that no chunk but a message's last one is
    /// padded.
    pub fn fragment_bytes(&self) -> u32 {
        self.packet_bytes.saturating_sub(COMMON_HEADER_BYTES + DATA_HEADER_BYTES).max(4) / 4 * 4
    }

    /// In what the window moves: PMDCS, the largest DATA chunk with its header (RFC 9260 7.2), or the path
    /// MTU with the IP header (RFC 2960 7.2).
    pub fn window_unit_bytes(&self) -> u64 {
        u64::from(match self.rules {
            Rules::Rfc9260 => self.packet_bytes.saturating_sub(COMMON_HEADER_BYTES),
            Rules::Rfc2960 => self.packet_bytes.saturating_add(self.address_form.ip_header_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_the_window() {
        // RFC 9260: 1460 - 12. RFC 2960: 1460 + 40 of IPv6, 1480 + 20 of IPv4.
        assert_eq!(Config::default().window_unit_bytes(), 1448);
        let older = Config { rules: Rules::Rfc2960, ..Config::default() };
        assert_eq!(older.window_unit_bytes(), 1500);
        let ipv4 = Config { packet_bytes: 1480, address_form: AddressForm::Ipv4, ..older };
        assert_eq!(ipv4.window_unit_bytes(), 1500);
    }
}
