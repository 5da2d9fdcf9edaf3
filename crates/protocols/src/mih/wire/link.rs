//! Data types that name links and networks and tell their state (IEEE 802.21 annex F).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::DecodeError;
use super::octets::{Reader, Sink};
use super::value::{OctetString, Value, bitmap, enumerated, sequence};

enumerated! {
    /// LINK_TYPE.
    LinkType {
        /// GSM.
        GSM = 1,
        /// GPRS.
        GPRS = 2,
        /// EDGE.
        EDGE = 3,
        /// Ethernet.
        ETHERNET = 15,
        /// A wireless link of no other type.
        WIRELESS_OTHER = 18,
        /// IEEE 802.11.
        IEEE_802_11 = 19,
        /// CDMA2000.
        CDMA2000 = 22,
        /// UMTS.
        UMTS = 23,
        /// CDMA2000 HRPD.
        HRPD = 24,
        /// IEEE 802.16.
        IEEE_802_16 = 27,
        /// IEEE 802.20.
        IEEE_802_20 = 28,
        /// IEEE 802.22.
        IEEE_802_22 = 29,
    }
}

/// LINK_ADDR: a link-layer address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkAddress {
    /// MAC_ADDR: a 48-bit address.
    Mac([u8; 6]),
    /// 3GPP_3G_CELL_ID: PLMN and cell.
    Cell3g {
        /// Public land mobile network.
        plmn: [u8; 3],
        /// Cell identity.
        cell: u32,
    },
    /// 3GPP_2G_CELL_ID: PLMN, location area, cell.
    Cell2g {
        /// Public land mobile network.
        plmn: [u8; 3],
        /// Location area code.
        location_area: u16,
        /// Cell identity.
        cell: u16,
    },
    /// 3GPP_ADDR.
    ThreeGpp(OctetString),
    /// 3GPP2_ADDR.
    ThreeGpp2(OctetString),
    /// OTHER_L2_ADDR.
    Other(OctetString),
}

/// TRANSPORT_ADDR's family for all IEEE 802 addresses (IANA address family numbers).
const FAMILY_802: u16 = 6;
const FAMILY_IPV4: u16 = 1;
const FAMILY_IPV6: u16 = 2;

fn write_transport_address(sink: &mut impl Sink, family: u16, octets: &[u8]) {
    sink.put_u16(family);
    sink.put_length(octets.len());
    sink.put(octets);
}

fn array<const N: usize>(reader: &mut Reader<'_>) -> Result<[u8; N], DecodeError> {
    let octets = reader.take(N)?;
    octets.try_into().map_err(|_| reader.bad_value())
}

impl Value for LinkAddress {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            LinkAddress::Mac(octets) => {
                sink.put_u8(0);
                write_transport_address(sink, FAMILY_802, octets);
            }
            LinkAddress::Cell3g { plmn, cell } => {
                sink.put_u8(1);
                sink.put(plmn);
                sink.put_u32(*cell);
            }
            LinkAddress::Cell2g { plmn, location_area, cell } => {
                sink.put_u8(2);
                sink.put(plmn);
                sink.put_u16(*location_area);
                sink.put_u16(*cell);
            }
            LinkAddress::ThreeGpp(octets) => {
                sink.put_u8(3);
                octets.write(sink);
            }
            LinkAddress::ThreeGpp2(octets) => {
                sink.put_u8(4);
                octets.write(sink);
            }
            LinkAddress::Other(octets) => {
                sink.put_u8(5);
                octets.write(sink);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<LinkAddress, DecodeError> {
        Ok(match reader.u8()? {
            0 => {
                if reader.u16()? != FAMILY_802 || reader.length()? != 6 {
                    return Err(reader.bad_value());
                }
                LinkAddress::Mac(array(reader)?)
            }
            1 => LinkAddress::Cell3g { plmn: array(reader)?, cell: reader.u32()? },
            2 => LinkAddress::Cell2g {
                plmn: array(reader)?,
                location_area: reader.u16()?,
                cell: reader.u16()?,
            },
            3 => LinkAddress::ThreeGpp(OctetString::read(reader)?),
            4 => LinkAddress::ThreeGpp2(OctetString::read(reader)?),
            5 => LinkAddress::Other(OctetString::read(reader)?),
            _ => return Err(reader.bad_value()),
        })
    }
}

/// IP_ADDR: a TRANSPORT_ADDR of family 1 (IPv4) or 2 (IPv6).
impl Value for IpAddr {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            IpAddr::V4(address) => write_transport_address(sink, FAMILY_IPV4, &address.octets()),
            IpAddr::V6(address) => write_transport_address(sink, FAMILY_IPV6, &address.octets()),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<IpAddr, DecodeError> {
        match (reader.u16()?, reader.length()?) {
            (FAMILY_IPV4, 4) => Ok(IpAddr::V4(Ipv4Addr::from(array::<4>(reader)?))),
            (FAMILY_IPV6, 16) => Ok(IpAddr::V6(Ipv6Addr::from(array::<16>(reader)?))),
            _ => Err(reader.bad_value()),
        }
    }
}

sequence! {
    /// LINK_ID: one end of a link.
    LinkId {
        /// The technology.
        link_type: LinkType,
        /// The end's address.
        address: LinkAddress,
    }
}

sequence! {
    /// LINK_TUPLE_ID: a link, and its point of attachment where known.
    LinkTupleId {
        /// The terminal's end.
        link: LinkId,
        /// The point of attachment's address.
        point_of_attachment: Option<LinkAddress>,
    }
}

impl LinkTupleId {
    /// A link of type `link_type` between two 48-bit addresses.
    pub fn of_macs(link_type: LinkType, terminal: [u8; 6], point_of_attachment: [u8; 6]) -> LinkTupleId {
        LinkTupleId {
            link: LinkId { link_type, address: LinkAddress::Mac(terminal) },
            point_of_attachment: Some(LinkAddress::Mac(point_of_attachment)),
        }
    }
}

sequence! {
    /// LINK_POA_LIST: a link and the points of attachment that it could use.
    LinkPoaList {
        /// The link.
        link: LinkId,
        /// The points of attachment.
        points_of_attachment: Vec<LinkAddress>,
    }
}

sequence! {
    /// LINK_DET_INFO: a link that was detected.
    LinkDetectedInfo {
        /// It, and its point of attachment.
        link: LinkTupleId,
        /// NETWORK_ID.
        network: OctetString,
        /// NET_AUX_ID.
        auxiliary: OctetString,
        /// The signal's strength.
        signal: SignalStrength,
        /// Signal over interference and noise.
        sinr: u16,
        /// The highest data rate.
        data_rate_kbps: u32,
        /// LINK_MIHCAP_FLAG: the services of IEEE 802.21 that the network has, a bitmap.
        mih_capabilities: u8,
        /// NET_CAPS: what else it offers, a bitmap.
        network_capabilities: u32,
    }
}

bitmap! {
    /// MIH_EVT_LIST: the events of the event service.
    EventList(u32, 4) {
        /// MIH_Link_Detected.
        LINK_DETECTED = 0,
        /// MIH_Link_Up.
        LINK_UP = 1,
        /// MIH_Link_Down.
        LINK_DOWN = 2,
        /// MIH_Link_Parameters_Report.
        LINK_PARAMETERS_REPORT = 3,
        /// MIH_Link_Going_Down.
        LINK_GOING_DOWN = 4,
        /// MIH_Link_Handover_Imminent.
        LINK_HANDOVER_IMMINENT = 5,
        /// MIH_Link_Handover_Complete.
        LINK_HANDOVER_COMPLETE = 6,
        /// MIH_Link_PDU_Transmit_Status.
        LINK_PDU_TRANSMIT_STATUS = 7,
    }
}

bitmap! {
    /// MIH_CMD_LIST: the commands of the command service.
    CommandList(u32, 4) {
        /// MIH_Link_Get_Parameters.
        LINK_GET_PARAMETERS = 0,
        /// MIH_Link_Configure_Thresholds.
        LINK_CONFIGURE_THRESHOLDS = 1,
        /// MIH_Link_Actions.
        LINK_ACTIONS = 2,
        /// All MIH_Net_HO_* and MIH_N2N_HO_* commands.
        NET_HO = 3,
        /// All MIH_MN_HO_* commands.
        MN_HO = 4,
    }
}

bitmap! {
    /// MIH_TRANS_LIST: the transports.
    TransportList(u16, 2) {
        /// UDP.
        UDP = 0,
        /// TCP.
        TCP = 1,
    }
}

enumerated! {
    /// LINK_DN_REASON: why a link went down.
    LinkDownReason {
        /// The user asked for it.
        EXPLICIT_DISCONNECT = 0,
        /// No acknowledgements came.
        PACKET_TIMEOUT = 1,
        /// No resources to keep it.
        NO_RESOURCE = 2,
        /// The broadcast messages stopped.
        NO_BROADCAST = 3,
        /// Authentication failed.
        AUTHENTICATION_FAILURE = 4,
        /// Billing failed.
        BILLING_FAILURE = 5,
    }
}

enumerated! {
    /// LINK_GD_REASON: why a link is going down.
    LinkGoingDownReason {
        /// The user asked for it.
        EXPLICIT_DISCONNECT = 0,
        /// The link's parameters degrade.
        LINK_PARAMETER_DEGRADING = 1,
        /// Low power.
        LOW_POWER = 2,
        /// No resources.
        NO_RESOURCE = 3,
    }
}

enumerated! {
    /// STATUS: how a request was met.
    Status {
        /// Success.
        SUCCESS = 0,
        /// A failure without a more exact reason.
        UNSPECIFIED_FAILURE = 1,
        /// Rejected.
        REJECTED = 2,
        /// Authorization failed.
        AUTHORIZATION_FAILURE = 3,
        /// Network error.
        NETWORK_ERROR = 4,
    }
}

enumerated! {
    /// REG_REQUEST_CODE.
    RegisterRequestCode {
        /// A first registration.
        REGISTRATION = 0,
        /// A registration again, before the first one ends.
        RE_REGISTRATION = 1,
    }
}

/// SIG_STRENGTH: a signal's strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalStrength {
    /// In dBm.
    Dbm(i8),
    /// In percent of the best.
    Percent(u8),
}

impl Value for SignalStrength {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            SignalStrength::Dbm(dbm) => {
                sink.put_u8(0);
                dbm.write(sink);
            }
            SignalStrength::Percent(percent) => {
                sink.put_u8(1);
                percent.write(sink);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<SignalStrength, DecodeError> {
        match reader.u8()? {
            0 => Ok(SignalStrength::Dbm(i8::read(reader)?)),
            1 => Ok(SignalStrength::Percent(reader.u8()?)),
            _ => Err(reader.bad_value()),
        }
    }
}

/// TGT_NET_INFO: the network or the point of attachment that a handover goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetNetworkInfo {
    /// A network by its identifier, and an auxiliary identifier where needed.
    Network {
        /// NETWORK_ID, such as an SSID.
        network: OctetString,
        /// NET_AUX_ID, such as an HESSID.
        auxiliary: Option<OctetString>,
    },
    /// A point of attachment.
    PointOfAttachment(LinkAddress),
}

impl Value for TargetNetworkInfo {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            TargetNetworkInfo::Network { network, auxiliary } => {
                sink.put_u8(0);
                network.write(sink);
                auxiliary.write(sink);
            }
            TargetNetworkInfo::PointOfAttachment(address) => {
                sink.put_u8(1);
                address.write(sink);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<TargetNetworkInfo, DecodeError> {
        match reader.u8()? {
            0 => Ok(TargetNetworkInfo::Network {
                network: OctetString::read(reader)?,
                auxiliary: Option::read(reader)?,
            }),
            1 => Ok(TargetNetworkInfo::PointOfAttachment(LinkAddress::read(reader)?)),
            _ => Err(reader.bad_value()),
        }
    }
}
