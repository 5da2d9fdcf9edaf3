//! The TLVs behind source and destination: typed where the data type is modelled, raw octets otherwise.

use std::net::IpAddr;

use super::error::DecodeError;
use super::handover::{
    AssignedResourceSet, HandoverResult, HandoverStatus, IpConfigurationMethods, LinkActionRequest,
    LinkActionResponse, LinkConfigurationParameter, LinkParameterReport, QosList, QueryResult,
    RequestedResourceSet,
};
use super::identity::MihfId;
use super::link::{
    CommandList, EventList, LinkAddress, LinkDetectedInfo, LinkDownReason, LinkGoingDownReason, LinkId,
    LinkPoaList, LinkTupleId, LinkType, RegisterRequestCode, Status, TargetNetworkInfo, TransportList,
};
use super::octets::{Count, Reader, Sink, length_octets};
use super::value::{OctetString, Value};

impl Value for MihfId {
    fn write(&self, sink: &mut impl Sink) {
        MihfId::write(self, sink);
    }
    fn read(reader: &mut Reader<'_>) -> Result<MihfId, DecodeError> {
        MihfId::read(reader)
    }
}

/// The TLV type of the source MIHF ID.
pub const SOURCE_MIHF_ID: u8 = 1;
/// The TLV type of the destination MIHF ID.
pub const DESTINATION_MIHF_ID: u8 = 2;
/// The TLV type that vendors use as they like, an OUI first.
pub const VENDOR_SPECIFIC: u8 = 100;

/// The content of a vendor's TLV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorSpecific {
    /// The vendor's organizationally unique identifier.
    pub oui: [u8; 3],
    content: VendorContent,
}

/// Octets, or so many zeros: padding is not held in memory. All-zero content has only the second form.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VendorContent {
    Zeros(u32),
    Octets(OctetString),
}

impl VendorSpecific {
    /// Content of `count` octets of value zero.
    pub fn zeros(oui: [u8; 3], count: u32) -> VendorSpecific {
        VendorSpecific { oui, content: VendorContent::Zeros(count) }
    }

    /// Content as given.
    pub fn new(oui: [u8; 3], octets: &[u8]) -> VendorSpecific {
        match u32::try_from(octets.len()) {
            Ok(count) if octets.iter().all(|&octet| octet == 0) => VendorSpecific::zeros(oui, count),
            _ => VendorSpecific { oui, content: VendorContent::Octets(OctetString::from(octets)) },
        }
    }
}

impl VendorSpecific {
    /// What a vendor says by it, unless that is nothing but zeros; `None` of another vendor's.
    pub fn octets_of(&self, oui: [u8; 3]) -> Option<&[u8]> {
        match &self.content {
            VendorContent::Octets(octets) if self.oui == oui => Some(octets.as_bytes()),
            _ => None,
        }
    }
}

impl Value for VendorSpecific {
    fn write(&self, sink: &mut impl Sink) {
        sink.put(&self.oui);
        match &self.content {
            VendorContent::Zeros(count) => sink.put_zeros(*count as usize),
            VendorContent::Octets(octets) => sink.put(octets.as_bytes()),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<VendorSpecific, DecodeError> {
        let oui = [reader.u8()?, reader.u8()?, reader.u8()?];
        Ok(VendorSpecific::new(oui, reader.take(reader.remaining())?))
    }
}

macro_rules! tlvs {
    ($($(#[$attribute:meta])* $name:ident($type:ty) = $code:literal,)*) => {
        /// One TLV.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Tlv {
            $($(#[$attribute])* $name($type),)*
            /// A TLV whose data type is not modelled, or unknown.
            Raw {
                /// The type; one of the typed ones would not be read back as raw.
                tlv_type: u8,
                /// The value's octets.
                value: OctetString,
            },
        }

        impl Tlv {
            /// The type octet.
            pub fn tlv_type(&self) -> u8 {
                match self {
                    $(Tlv::$name(_) => $code,)*
                    Tlv::Raw { tlv_type, .. } => *tlv_type,
                }
            }

            fn write_value(&self, sink: &mut impl Sink) {
                match self {
                    $(Tlv::$name(value) => Value::write(value, sink),)*
                    Tlv::Raw { value, .. } => sink.put(value.as_bytes()),
                }
            }

            fn read_value(tlv_type: u8, reader: &mut Reader<'_>) -> Result<Tlv, DecodeError> {
                match tlv_type {
                    $($code => Ok(Tlv::$name(Value::read(reader)?)),)*
                    _ => Ok(Tlv::Raw {
                        tlv_type,
                        value: OctetString::from(reader.take(reader.remaining())?),
                    }),
                }
            }
        }
    };
}

tlvs! {
    /// 3.
    Status(Status) = 3,
    /// 4.
    LinkType(LinkType) = 4,
    /// 5.
    EventList(EventList) = 5,
    /// 6.
    CommandList(CommandList) = 6,
    /// 8.
    TransportList(TransportList) = 8,
    /// 11.
    RegisterRequestCode(RegisterRequestCode) = 11,
    /// 12, in seconds.
    ValidTimeInterval(u32) = 12,
    /// 13.
    LinkIdentifier(LinkTupleId) = 13,
    /// 14.
    NewLinkIdentifier(LinkTupleId) = 14,
    /// 15.
    OldAccessRouter(LinkAddress) = 15,
    /// 16.
    NewAccessRouter(LinkAddress) = 16,
    /// 17.
    IpRenewalFlag(bool) = 17,
    /// 19.
    IpConfigurationMethods(IpConfigurationMethods) = 19,
    /// 20.
    LinkDownReason(LinkDownReason) = 20,
    /// 21, in milliseconds.
    TimeInterval(u16) = 21,
    /// 22.
    LinkGoingDownReason(LinkGoingDownReason) = 22,
    /// 23.
    LinkParameterReportList(Vec<LinkParameterReport>) = 23,
    /// 25.
    LinkIdentifierList(Vec<LinkId>) = 25,
    /// 29.
    ConfigureRequestList(Vec<LinkConfigurationParameter>) = 29,
    /// 31.
    LinkPoaList(Vec<LinkPoaList>) = 31,
    /// 32.
    PreferredLinkList(Vec<QueryResult>) = 32,
    /// 33.
    HandoverResourceQuery(QosList) = 33,
    /// 34.
    HandoverStatus(HandoverStatus) = 34,
    /// 35.
    AccessRouterAddress(IpAddr) = 35,
    /// 36.
    DhcpServerAddress(IpAddr) = 36,
    /// 37.
    FaAddress(IpAddr) = 37,
    /// 38.
    LinkActionsList(Vec<LinkActionRequest>) = 38,
    /// 39.
    LinkActionsResultList(Vec<LinkActionResponse>) = 39,
    /// 40.
    HandoverResult(HandoverResult) = 40,
    /// 41: whether the resources asked for are there.
    ResourceStatus(bool) = 41,
    /// 42: whether the resources are kept.
    ResourceRetentionStatus(bool) = 42,
    /// 47, in octets.
    MaxResponseSize(u16) = 47,
    /// 52.
    MobileNodeMihfId(MihfId) = 52,
    /// 53.
    QueryResourceReportFlag(bool) = 53,
    /// 55.
    TargetNetworkInfo(TargetNetworkInfo) = 55,
    /// 56.
    TargetNetworkInfoList(Vec<TargetNetworkInfo>) = 56,
    /// 57.
    AssignedResourceSet(AssignedResourceSet) = 57,
    /// 58.
    LinkDetectedInfoList(Vec<LinkDetectedInfo>) = 58,
    /// 59.
    MnLinkId(LinkId) = 59,
    /// 60.
    PointOfAttachment(LinkAddress) = 60,
    /// 61.
    UnauthenticatedInformationRequest(bool) = 61,
    /// 63.
    RequestedResourceSet(RequestedResourceSet) = 63,
    /// 100.
    VendorSpecific(VendorSpecific) = 100,
}

impl Tlv {
    /// Writes type, length and value.
    pub fn write(&self, sink: &mut impl Sink) {
        sink.put_u8(self.tlv_type());
        sink.put_length(self.value_bytes());
        self.write_value(sink);
    }

    /// The octets of the value.
    pub fn value_bytes(&self) -> usize {
        let mut count = Count::default();
        self.write_value(&mut count);
        count.0
    }

    /// The octets of type, length and value.
    pub fn encoded_bytes(&self) -> usize {
        let value_bytes = self.value_bytes();
        1 + length_octets(value_bytes) + value_bytes
    }

    /// Reads the value of a TLV of type `tlv_type`; all its octets must belong to it.
    pub fn decode(tlv_type: u8, value: &[u8]) -> Result<Tlv, DecodeError> {
        let mut reader = Reader::new(value, tlv_type);
        let tlv = Tlv::read_value(tlv_type, &mut reader)?;
        if reader.remaining() > 0 {
            return Err(reader.bad_value());
        }
        Ok(tlv)
    }
}
