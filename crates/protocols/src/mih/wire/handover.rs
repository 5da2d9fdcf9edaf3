//! Data types of the handover commands: quality of service, resources, query results, link actions (IEEE
//! 802.21 annex F).

use std::net::IpAddr;

use super::error::DecodeError;
use super::link::{LinkAddress, LinkId, LinkPoaList, SignalStrength};
use super::octets::{Reader, Sink};
use super::value::{OctetString, Value, bitmap, enumerated, sequence};

sequence! {
    /// One class of service's value: a delay or jitter in milliseconds, or a loss rate.
    ClassOfServiceValue {
        /// The class of service.
        class: u8,
        /// The value.
        value: u16,
    }
}

sequence! {
    /// QOS_LIST: what each class of service gives or wants.
    QosList {
        /// The number of classes of service.
        classes: u8,
        /// Minimum packet transfer delay.
        min_delay: Vec<ClassOfServiceValue>,
        /// Average packet transfer delay.
        avg_delay: Vec<ClassOfServiceValue>,
        /// Maximum packet transfer delay.
        max_delay: Vec<ClassOfServiceValue>,
        /// Packet delay jitter.
        jitter: Vec<ClassOfServiceValue>,
        /// Packet loss rate.
        loss: Vec<ClassOfServiceValue>,
    }
}

impl QosList {
    /// A list that says nothing.
    pub const EMPTY: QosList = QosList {
        classes: 0,
        min_delay: Vec::new(),
        avg_delay: Vec::new(),
        max_delay: Vec::new(),
        jitter: Vec::new(),
        loss: Vec::new(),
    };
}

/// A CHOICE of NULL, one type, or another: selectors 0, 1 and 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NullOr<A, B> {
    /// 0: nothing.
    Null,
    /// 1.
    First(A),
    /// 2.
    Second(B),
}

impl<A: Value, B: Value> Value for NullOr<A, B> {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            NullOr::Null => sink.put_u8(0),
            NullOr::First(value) => {
                sink.put_u8(1);
                value.write(sink);
            }
            NullOr::Second(value) => {
                sink.put_u8(2);
                value.write(sink);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<NullOr<A, B>, DecodeError> {
        match reader.u8()? {
            0 => Ok(NullOr::Null),
            1 => Ok(NullOr::First(A::read(reader)?)),
            2 => Ok(NullOr::Second(B::read(reader)?)),
            _ => Err(reader.bad_value()),
        }
    }
}

/// TSP_CONTAINER: traffic stream parameters: nothing, a predefined configuration, or a carrier.
pub type TspContainer = NullOr<i8, OctetString>;

enumerated! {
    /// HO_CAUSE: why a handover takes place; the codes are those of the link reasons.
    HandoverCause {
        /// The user asked for it.
        EXPLICIT_DISCONNECT = 0,
    }
}

sequence! {
    /// REQ_RES_SET: resources that are asked for.
    RequestedResourceSet {
        /// Quality of service.
        qos: QosList,
        /// Traffic stream parameters.
        traffic: TspContainer,
        /// Why.
        cause: HandoverCause,
    }
}

sequence! {
    /// ASGN_RES_SET: resources that are assigned.
    AssignedResourceSet {
        /// Quality of service.
        qos: QosList,
        /// Traffic stream parameters.
        traffic: TspContainer,
    }
}

bitmap! {
    /// IP_CFG_MTHDS: methods of IP configuration.
    IpConfigurationMethods(u32, 4) {
        /// IPv4, static.
        IPV4_STATIC = 0,
        /// IPv4, dynamic.
        IPV4_DYNAMIC = 1,
    }
}

sequence! {
    /// RQ_RESULT: what a candidate network offers.
    QueryResult {
        /// A link and its points of attachment.
        link: LinkPoaList,
        /// Quality of service.
        qos: QosList,
        /// Whether the terminal's way to configure IP is there, or which ones are.
        ip_configuration: NullOr<bool, IpConfigurationMethods>,
        /// Whether the DHCP server is the same, or which it is.
        dhcp_server: NullOr<bool, IpAddr>,
        /// Whether the foreign agent is the same, or which it is.
        foreign_agent: NullOr<bool, IpAddr>,
        /// Whether the access router is the same, or which it is.
        access_router: NullOr<bool, IpAddr>,
    }
}

enumerated! {
    /// HO_STATUS.
    HandoverStatus {
        /// The handover is permitted.
        PERMITTED = 0,
        /// The handover is declined.
        DECLINED = 1,
    }
}

enumerated! {
    /// HO_RESULT.
    HandoverResult {
        /// Success.
        SUCCESS = 0,
        /// Failure.
        FAILURE = 1,
        /// Rejected.
        REJECTED = 2,
    }
}

enumerated! {
    /// LINK_AC_TYPE: what a link is told to do.
    LinkActionType {
        /// Nothing.
        NONE = 0,
        /// Disconnect.
        DISCONNECT = 1,
        /// Go to low power.
        LOW_POWER = 2,
        /// Power down.
        POWER_DOWN = 3,
        /// Power up.
        POWER_UP = 4,
    }
}

bitmap! {
    /// LINK_AC_ATTR: how a link action is carried out.
    LinkActionAttributes(u8, 1) {
        /// Scan.
        SCAN = 0,
        /// Retain resources.
        RESOURCE_RETAIN = 1,
        /// Forward data.
        DATA_FORWARD = 2,
    }
}

sequence! {
    /// LINK_ACTION_REQ.
    LinkActionRequest {
        /// The link.
        link: LinkId,
        /// The point of attachment, where one is meant.
        point_of_attachment: Option<LinkAddress>,
        /// What to do.
        action: LinkActionType,
        /// How.
        attributes: LinkActionAttributes,
        /// After how many milliseconds.
        execution_delay_ms: u16,
    }
}

enumerated! {
    /// LINK_AC_RESULT.
    LinkActionResult {
        /// Success.
        SUCCESS = 0,
        /// Failure.
        FAILURE = 1,
        /// Refused.
        REFUSED = 2,
        /// The link is not able to.
        INCAPABLE = 3,
    }
}

sequence! {
    /// LINK_SCAN_RSP: a network that a scan found.
    LinkScanResponse {
        /// The point of attachment.
        point_of_attachment: LinkAddress,
        /// NETWORK_ID.
        network: OctetString,
        /// Its signal.
        signal: SignalStrength,
    }
}

sequence! {
    /// LINK_ACTION_RSP.
    LinkActionResponse {
        /// The link.
        link: LinkId,
        /// What became of the action.
        result: LinkActionResult,
        /// What a scan found.
        scan: Vec<LinkScanResponse>,
    }
}

/// The technology, or the kind, that a link parameter belongs to: LINK_PARAM_TYPE's selectors 0 to 11.
pub const LINK_PARAMETER_KINDS: u8 = 12;

/// LINK_PARAM_TYPE: which parameter of a link is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkParameterType {
    kind: u8,
    parameter: u8,
}

impl LinkParameterType {
    /// Generic: the data rate.
    pub const DATA_RATE: LinkParameterType = LinkParameterType { kind: 0, parameter: 0 };
    /// Generic: the signal's strength.
    pub const SIGNAL_STRENGTH: LinkParameterType = LinkParameterType { kind: 0, parameter: 1 };
    /// Generic: signal over interference and noise.
    pub const SINR: LinkParameterType = LinkParameterType { kind: 0, parameter: 2 };
    /// Generic: throughput.
    pub const THROUGHPUT: LinkParameterType = LinkParameterType { kind: 0, parameter: 3 };
    /// Generic: packet error rate.
    pub const PACKET_ERROR_RATE: LinkParameterType = LinkParameterType { kind: 0, parameter: 4 };
    /// 802.11: RSSI of the beacon channel.
    pub const IEEE_802_11_RSSI: LinkParameterType = LinkParameterType { kind: 5, parameter: 0 };

    /// Parameter `parameter` of kind `kind`: 0 generic, 1 QoS, 2 GSM and GPRS, 3 EDGE, 4 Ethernet, 5 802.11,
    /// 6 CDMA2000, 7 UMTS, 8 HRPD, 9 802.16, 10 802.20, 11 802.22; `None` for other kinds.
    pub fn new(kind: u8, parameter: u8) -> Option<LinkParameterType> {
        (kind < LINK_PARAMETER_KINDS).then_some(LinkParameterType { kind, parameter })
    }
}

impl Value for LinkParameterType {
    fn write(&self, sink: &mut impl Sink) {
        sink.put(&[self.kind, self.parameter]);
    }

    fn read(reader: &mut Reader<'_>) -> Result<LinkParameterType, DecodeError> {
        let (kind, parameter) = (reader.u8()?, reader.u8()?);
        LinkParameterType::new(kind, parameter).ok_or_else(|| reader.bad_value())
    }
}

enumerated! {
    /// TH_ACTION: what to do with thresholds.
    ThresholdAction {
        /// Set them.
        NORMAL = 0,
        /// Set them for one crossing.
        ONE_SHOT = 1,
        /// Cancel them.
        CANCEL = 2,
    }
}

enumerated! {
    /// THRESHOLD_XDIR: which crossing of a threshold counts.
    ThresholdDirection {
        /// Going above.
        ABOVE = 0,
        /// Going below.
        BELOW = 1,
    }
}

sequence! {
    /// THRESHOLD.
    Threshold {
        /// The value, in the parameter's unit.
        value: u16,
        /// The direction.
        direction: ThresholdDirection,
    }
}

/// QOS_PARAM_VAL: a parameter of quality of service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QosParameterValue {
    /// NUM_COS_TYPES: the number of classes of service.
    Classes(u8),
    /// By class of service: 1 minimum, 2 average, 3 maximum delay, 4 jitter, 5 loss.
    ByClass(u8, Vec<ClassOfServiceValue>),
}

impl Value for QosParameterValue {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            QosParameterValue::Classes(classes) => sink.put(&[0, *classes]),
            QosParameterValue::ByClass(what, values) => {
                sink.put_u8(*what);
                values.write(sink);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<QosParameterValue, DecodeError> {
        match reader.u8()? {
            0 => Ok(QosParameterValue::Classes(reader.u8()?)),
            what @ 1..=5 => Ok(QosParameterValue::ByClass(what, Vec::read(reader)?)),
            _ => Err(reader.bad_value()),
        }
    }
}

/// The value in a LINK_PARAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkParameterValue {
    /// LINK_PARAM_VAL, in the parameter's unit.
    Link(u16),
    /// QOS_PARAM_VAL.
    Qos(QosParameterValue),
}

impl Value for LinkParameterValue {
    fn write(&self, sink: &mut impl Sink) {
        match self {
            LinkParameterValue::Link(value) => {
                sink.put_u8(0);
                value.write(sink);
            }
            LinkParameterValue::Qos(value) => {
                sink.put_u8(1);
                value.write(sink);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<LinkParameterValue, DecodeError> {
        match reader.u8()? {
            0 => Ok(LinkParameterValue::Link(u16::read(reader)?)),
            1 => Ok(LinkParameterValue::Qos(QosParameterValue::read(reader)?)),
            _ => Err(reader.bad_value()),
        }
    }
}

sequence! {
    /// LINK_PARAM_RPT: a parameter, and the threshold that it has crossed if that is why it is told.
    LinkParameterReport {
        /// The parameter.
        parameter: LinkParameterType,
        /// Its value.
        value: LinkParameterValue,
        /// The threshold.
        threshold: Option<Threshold>,
    }
}

sequence! {
    /// LINK_CFG_PARAM: thresholds and reports to configure for one parameter.
    LinkConfigurationParameter {
        /// The parameter.
        parameter: LinkParameterType,
        /// Milliseconds between reports.
        report_interval_ms: Option<u16>,
        /// What to do.
        action: ThresholdAction,
        /// The thresholds.
        thresholds: Vec<Threshold>,
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::{LinkDetectedInfo, LinkTupleId, LinkType, TargetNetworkInfo};
    use super::super::tlv::Tlv;
    use super::*;

    fn encoded(value: &impl Value) -> Vec<u8> {
        let mut octets = Vec::new();
        value.write(&mut octets);
        octets
    }

    #[test]
    fn an_empty_qos_list_is_six_zeros() {
        assert_eq!(encoded(&QosList::EMPTY), [0; 6]);
        let mut qos = QosList::EMPTY;
        qos.classes = 1;
        qos.max_delay.push(ClassOfServiceValue { class: 3, value: 150 });
        // classes, min, avg, max (one element: class 3, 150 = 0x0096), jitter, loss.
        assert_eq!(encoded(&qos), [1, 0, 0, 1, 3, 0, 150, 0, 0]);
    }

    #[test]
    fn a_link_action_has_its_octets() {
        let link = LinkId { link_type: LinkType::IEEE_802_16, address: LinkAddress::Mac([1, 2, 3, 4, 5, 6]) };
        let action = LinkActionRequest {
            link,
            point_of_attachment: None,
            action: LinkActionType::POWER_UP,
            attributes: LinkActionAttributes::SCAN,
            execution_delay_ms: 300,
        };
        // Link type 27, selector 0, family 6, length 6, MAC; NULL; 4; bit 0 of an octet = 0x80; 300 = 0x012c.
        let octets = [27, 0, 0, 6, 6, 1, 2, 3, 4, 5, 6, 0, 4, 0x80, 1, 0x2c];
        assert_eq!(encoded(&action), octets);
        let mut tlv = Vec::new();
        Tlv::LinkActionsList(vec![action]).write(&mut tlv);
        // The list of one element takes 1 + 16 = 17 octets.
        assert_eq!(tlv, [&[38, 17, 1], octets.as_slice()].concat());
    }

    #[test]
    fn target_networks_and_parameters_have_their_octets() {
        let target = TargetNetworkInfo::Network { network: OctetString::from("wlan"), auxiliary: None };
        assert_eq!(encoded(&target), [0, 4, b'w', b'l', b'a', b'n', 0]);
        let parameter = LinkConfigurationParameter {
            parameter: LinkParameterType::IEEE_802_11_RSSI,
            report_interval_ms: Some(100),
            action: ThresholdAction::ONE_SHOT,
            thresholds: vec![Threshold { value: 0x1234, direction: ThresholdDirection::BELOW }],
        };
        assert_eq!(encoded(&parameter), [5, 0, 1, 0, 100, 1, 1, 0x12, 0x34, 1]);
        assert!(LinkParameterType::read(&mut Reader::new(&[12, 0], 29)).is_err());
    }

    #[test]
    fn reports_and_detected_links_have_their_octets() {
        let delay = QosParameterValue::ByClass(3, vec![ClassOfServiceValue { class: 2, value: 150 }]);
        let report = LinkParameterReport {
            parameter: LinkParameterType::new(1, 3).expect("quality of service is a kind"),
            value: LinkParameterValue::Qos(delay),
            threshold: Some(Threshold { value: 100, direction: ThresholdDirection::ABOVE }),
        };
        // Kind 1, parameter 3; QoS, maximum delay, one element: class 2, 150; a threshold of 100, above.
        let octets = [1, 3, 1, 3, 1, 2, 0, 150, 1, 0, 100, 0];
        assert_eq!(encoded(&report), octets);
        assert_eq!(LinkParameterReport::read(&mut Reader::new(&octets, 23)), Ok(report));
        for wrong in [[0, 1, 2, 0], [1, 3, 1, 6]] {
            assert!(LinkParameterReport::read(&mut Reader::new(&wrong, 23)).is_err());
        }
        let detected = LinkDetectedInfo {
            link: LinkTupleId::of_macs(LinkType::IEEE_802_11, [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]),
            network: OctetString::from("wlan"),
            auxiliary: OctetString::default(),
            signal: SignalStrength::Percent(40),
            sinr: 17,
            data_rate_kbps: 54_000,
            mih_capabilities: 0x80,
            network_capabilities: 1,
        };
        let link = [19, 0, 0, 6, 6, 1, 2, 3, 4, 5, 6, 1, 0, 0, 6, 6, 6, 5, 4, 3, 2, 1];
        // Percent is selector 1; 54,000 = 0xd2f0.
        let rest = [4, b'w', b'l', b'a', b'n', 0, 1, 40, 0, 17, 0, 0, 0xd2, 0xf0, 0x80, 0, 0, 0, 1];
        let octets = [&link[..], &rest].concat();
        assert_eq!(encoded(&detected), octets);
        assert_eq!(LinkDetectedInfo::read(&mut Reader::new(&octets, 58)), Ok(detected));
    }
}
