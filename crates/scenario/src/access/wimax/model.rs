//! 802.16 cells: WirelessMAN-OFDM, a base station and its stations.

use roamsim_engine::Span;
use roamsim_network::link::wimax::Service;
use roamsim_network::link::wimax::phy::CyclicPrefix as NetworkPrefix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arq::Arq;
use super::burst_profile::BurstProfile;
use super::entry::Entry;
use super::ofdma::Ofdma;
use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::dscp::Dscp;
use crate::units;

/// A `[[wimax]]`: a base station and its stations by IEEE Std 802.16-2004, WirelessMAN-OFDM or OFDMA, with
/// time division duplex.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wimax {
    /// The cell's name in results.
    pub name: String,
    /// The node that is the base station.
    pub base_station: String,
    /// The stations. They send to the base station, and through it to each other.
    pub stations: Vec<String>,
    /// OFDMA with PUSC in place of OFDM, `{}` for the defaults. Left out: OFDM.
    #[serde(default)]
    pub ofdma: Option<Ofdma>,
    /// The channel's bandwidth, up to 28 MHz: a multiple of 1.75, 1.5, 1.25, 2.75 or 2 MHz, which sets the
    /// sampling factor (IEEE Std 802.16-2004 table 213). Default chosen: 5 MHz.
    #[serde(rename = "bandwidth", default = "default_bandwidth_hz", with = "units::frequency")]
    #[schemars(with = "units::Frequency")]
    pub bandwidth_hz: u64,
    /// The cyclic prefix as a part of the useful symbol (IEEE Std 802.16-2004 table 213). Default chosen:
    /// 1/8, with symbols of 50 us at 5 MHz.
    #[serde(default)]
    pub cyclic_prefix: CyclicPrefix,
    /// The duration of a frame: 2.5, 4, 5, 8, 10, 12.5 or 20 ms (IEEE Std 802.16-2004 table 230). Default
    /// chosen: as in profiles of the WiMAX Forum.
    #[serde(default = "default_frame", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub frame: Span,
    /// The downlink's share of a frame's symbols, with preamble, header and maps; rounded down. Default
    /// chosen: 0.5.
    #[serde(default = "default_downlink_share")]
    pub downlink_share: f64,
    /// TTG: the gap between downlink and uplink. Default chosen: two symbols of 5 MHz.
    #[serde(default = "default_gap", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub transmit_gap: Span,
    /// RTG: the gap between uplink and the next frame; the rest of a symbol is added. Default chosen: as TTG.
    #[serde(default = "default_gap", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub receive_gap: Span,
    /// The burst profile to and from stations. Default chosen: the fastest.
    #[serde(default = "default_burst_profile")]
    pub burst_profile: BurstProfile,
    /// Stations with other burst profiles. Default: none.
    #[serde(default)]
    pub station_profiles: Vec<StationProfile>,
    /// The burst profile of the maps. Default chosen: the most robust, which every station understands; OFDMA
    /// has always QPSK 1/2.
    #[serde(default)]
    pub map_profile: Option<BurstProfile>,
    /// Stations with unsolicited grants (UGS, IEEE Std 802.16-2004 section 6.3.5.2.1). UGS goes before rtPS,
    /// nrtPS and best effort, both ways; stations in no list get best effort. An entry with `dscp` is an
    /// additional service flow for these classes. Default: none.
    #[serde(default)]
    pub unsolicited_grants: Vec<UnsolicitedGrants>,
    /// Stations that are polled at each interval and never contend (rtPS, IEEE Std 802.16-2004 section
    /// 6.3.5.2.2). Default: none.
    #[serde(default)]
    pub real_time_polling: Vec<Polling>,
    /// Stations that are polled and may also contend (nrtPS, IEEE Std 802.16-2004 section 6.3.5.2.3).
    /// Default: none.
    #[serde(default)]
    pub non_real_time_polling: Vec<Polling>,
    /// Whether a PDU may carry several packets of a service flow, with 3 octets each (IEEE Std 802.16-2004
    /// section 6.3.3.4). An entry of a service may differ. Default chosen: false.
    #[serde(default)]
    pub packing: bool,
    /// ARQ, `{}` for the defaults: for all service flows but UGS; a polled entry may differ. Left out: losses
    /// are not repaired.
    #[serde(default)]
    pub arq: Option<Arq>,
    /// Bandwidth requests by contention.
    #[serde(default)]
    pub requests: Requests,
    /// Network entry, by the nodes' places. Left out: stations are connected all the time.
    #[serde(default)]
    pub entry: Option<Entry>,
    /// The queue of each connection: one to and one from each station or service flow. Default chosen: as for
    /// a wired link.
    #[serde(default)]
    pub queue: Queue,
    /// The largest IP packet, up to 2033 bytes: a PDU has 2047 (IEEE Std 802.16-2004 section 6.3.2.1.1).
    /// Default: Ethernet's, as for a wired link.
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub mtu_bytes: u64,
}

fn default_bandwidth_hz() -> u64 {
    5_000_000
}

fn default_frame() -> Span {
    Span::from_ms(5)
}

fn default_downlink_share() -> f64 {
    0.5
}

fn default_gap() -> Span {
    Span::from_us(100)
}

fn default_burst_profile() -> BurstProfile {
    BurstProfile::Qam64R34
}

/// The cyclic prefix of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CyclicPrefix {
    /// A quarter of the useful symbol.
    #[serde(rename = "1/4")]
    Quarter,
    /// An eighth.
    #[default]
    #[serde(rename = "1/8")]
    Eighth,
    /// A sixteenth.
    #[serde(rename = "1/16")]
    Sixteenth,
    /// A thirty-second.
    #[serde(rename = "1/32")]
    ThirtySecond,
}

impl CyclicPrefix {
    pub(super) fn network(self) -> NetworkPrefix {
        match self {
            CyclicPrefix::Quarter => NetworkPrefix::Quarter,
            CyclicPrefix::Eighth => NetworkPrefix::Eighth,
            CyclicPrefix::Sixteenth => NetworkPrefix::Sixteenth,
            CyclicPrefix::ThirtySecond => NetworkPrefix::ThirtySecond,
        }
    }
}

/// An entry of one of the lists of services.
pub(super) struct Served<'a> {
    /// The key of its list, and its number there.
    pub place: (&'static str, usize),
    pub stations: &'a [String],
    pub dscp: Option<&'a [Dscp]>,
    pub service: Service,
    pub packing: bool,
    pub arq: bool,
}

impl Wimax {
    /// The entries of all services.
    pub(super) fn served<'a>(&'a self) -> Vec<Served<'a>> {
        let grants = self.unsolicited_grants.iter().enumerate().map(|(number, entry)| {
            let &UnsolicitedGrants { ref stations, ref dscp, packet_bytes, interval, packing } = entry;
            let service = Service::UnsolicitedGrant { packet_bytes: packet_bytes as u32, interval };
            let packing = packing.unwrap_or(self.packing);
            Served {
                place: ("unsolicited_grants", number),
                stations,
                dscp: dscp.as_deref(),
                service,
                packing,
                arq: false,
            }
        });
        let polls = |(key, list): (&'static str, &'a [Polling]), service: fn(Span) -> Service| {
            list.iter().enumerate().map(move |(number, entry)| {
                let &Polling { ref stations, ref dscp, interval, packing, arq } = entry;
                let (dscp, service) = (dscp.as_deref(), service(interval));
                Served {
                    place: (key, number),
                    stations,
                    dscp,
                    service,
                    packing: packing.unwrap_or(self.packing),
                    arq: arq.unwrap_or(self.arq.is_some()),
                }
            })
        };
        let real_time = polls(("real_time_polling", &self.real_time_polling), |interval| {
            Service::RealTimePolling { interval }
        });
        let other = polls(("non_real_time_polling", &self.non_real_time_polling), |interval| {
            Service::NonRealTimePolling { interval }
        });
        grants.chain(real_time).chain(other).collect()
    }

    /// Whether it has to admit service flows of a station: those with bursts that are not asked for.
    pub(crate) fn admits_flows_of(&self, station: &str) -> bool {
        self.served().iter().any(|served| served.stations.iter().any(|other| other == station))
    }

    /// The most robust burst profile.
    pub(super) fn most_robust(&self) -> BurstProfile {
        if self.ofdma.is_some() { BurstProfile::Qpsk12 } else { BurstProfile::Bpsk12 }
    }

    /// The burst profile of the maps.
    pub(super) fn maps(&self) -> BurstProfile {
        self.map_profile.unwrap_or(self.most_robust())
    }

    /// The burst profiles to a station, and from it.
    pub(super) fn profiles(&self, station: &str) -> (BurstProfile, BurstProfile) {
        let of = |entry: &&StationProfile| entry.stations.iter().any(|own| own == station);
        let own = self.station_profiles.iter().find(of);
        let given = |profile: Option<BurstProfile>| profile.unwrap_or(self.burst_profile);
        (given(own.and_then(|own| own.downlink)), given(own.and_then(|own| own.uplink)))
    }
}

/// The burst profiles of some stations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationProfile {
    /// The stations, each of this cell.
    pub stations: Vec<String>,
    /// Of bursts to them. Left out: `burst_profile` of the cell.
    #[serde(default)]
    pub downlink: Option<BurstProfile>,
    /// Of bursts from them. Left out: `burst_profile` of the cell.
    #[serde(default)]
    pub uplink: Option<BurstProfile>,
}

/// Unsolicited grants: each has room for one whole packet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnsolicitedGrants {
    /// The stations, each with grants of its own.
    pub stations: Vec<String>,
    /// The classes that it carries, both ways, by the `dscp` of flows: `["ef"]` (IEEE Std 802.16-2004 section
    /// 11.13.19.3.4.2). Left out: all without another entry.
    #[serde(default)]
    pub dscp: Option<Vec<Dscp>>,
    /// The longest packet of a grant, with its IP header. Longer packets are cut.
    #[serde(rename = "packet_size", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub packet_bytes: u64,
    /// Time between two grants; the first is due at 0 s. Each goes into the frame that begins then or next.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub interval: Span,
    /// Whether its PDUs may carry several packets. Left out: the cell's `packing`.
    #[serde(default)]
    pub packing: Option<bool>,
}

/// Polled stations: each gets a burst for a request, even without need.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polling {
    /// The stations, each with polls of its own.
    pub stations: Vec<String>,
    /// The classes that it carries, both ways, by the `dscp` of flows: `["af41", "af42"]`. Left out: all
    /// without another entry.
    #[serde(default)]
    pub dscp: Option<Vec<Dscp>>,
    /// Time between two polls; the first is due at 0 s. Each goes into the frame that begins then or next.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub interval: Span,
    /// Whether its PDUs may carry several packets. Left out: the cell's `packing`.
    #[serde(default)]
    pub packing: Option<bool>,
    /// Whether it has ARQ. Left out: as the cell.
    #[serde(default)]
    pub arq: Option<bool>,
}

/// Bandwidth requests by contention (IEEE Std 802.16-2004 section 6.3.8).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Opportunities a frame, of two symbols each; in OFDMA one symbol and six subchannels. Default chosen:
    /// 4.
    #[serde(default = "default_opportunities")]
    #[schemars(range(min = 1))]
    pub opportunities: u32,
    /// The exponent of two of the first back-off window, 0 to 15 (IEEE Std 802.16-2004 section 11.3). Default
    /// chosen: 2, the opportunities of a frame.
    #[serde(default = "default_backoff_start")]
    pub backoff_start: u32,
    /// The same of the last window. Default chosen: 6, 64 opportunities.
    #[serde(default = "default_backoff_end")]
    pub backoff_end: u32,
    /// Failed requests after which a packet is dropped. Default: the standard's least (IEEE Std 802.16-2004
    /// table 342).
    #[serde(default = "default_retries")]
    pub retries: u32,
    /// T16: a station's wait for a grant. Left out: the standard's least, 10 ms (IEEE Std 802.16-2004 table
    /// 342), or two longer frames.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub t16: Option<Span>,
    /// Keys here that may be below the standard's limits. Default: none.
    #[serde(default)]
    pub beyond_standard: Vec<RequestLimit>,
}

/// The standard's limits of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestLimit {
    /// At least 16.
    Retries,
    /// At least 10 ms.
    T16,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            opportunities: default_opportunities(),
            backoff_start: default_backoff_start(),
            backoff_end: default_backoff_end(),
            retries: default_retries(),
            t16: None,
            beyond_standard: Vec::new(),
        }
    }
}

fn default_opportunities() -> u32 {
    4
}

fn default_backoff_start() -> u32 {
    2
}

fn default_backoff_end() -> u32 {
    6
}

fn default_retries() -> u32 {
    16
}
