//! Properties of the MIH wire format: whatever can be said comes back as it was said, and no octets are
//! fatal.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::collection::vec;
use proptest::prelude::*;
use roamsim_protocols::mih::wire::handover::*;
use roamsim_protocols::mih::wire::link::*;
use roamsim_protocols::mih::wire::message_id::CATALOGUE;
use roamsim_protocols::mih::wire::tlv::VendorSpecific;
use roamsim_protocols::mih::wire::value::OctetString;
use roamsim_protocols::mih::wire::{Deframer, Header};
use roamsim_protocols::mih::{Message, MihfId, Tlv, Tlvs};

fn octet_string() -> impl Strategy<Value = OctetString> {
    vec(any::<u8>(), 0..200).prop_map(|octets| OctetString::from(octets.as_slice()))
}

fn link_address() -> impl Strategy<Value = LinkAddress> {
    prop_oneof![
        any::<[u8; 6]>().prop_map(LinkAddress::Mac),
        any::<([u8; 3], u32)>().prop_map(|(plmn, cell)| LinkAddress::Cell3g { plmn, cell }),
        any::<([u8; 3], u16, u16)>().prop_map(|(plmn, location_area, cell)| LinkAddress::Cell2g {
            plmn,
            location_area,
            cell
        }),
        octet_string().prop_map(LinkAddress::ThreeGpp),
        octet_string().prop_map(LinkAddress::ThreeGpp2),
        octet_string().prop_map(LinkAddress::Other),
    ]
}

fn link_id() -> impl Strategy<Value = LinkId> {
    (any::<u8>(), link_address())
        .prop_map(|(link_type, address)| LinkId { link_type: LinkType(link_type), address })
}

fn link_tuple_id() -> impl Strategy<Value = LinkTupleId> {
    (link_id(), proptest::option::of(link_address()))
        .prop_map(|(link, point_of_attachment)| LinkTupleId { link, point_of_attachment })
}

fn link_poa_list() -> impl Strategy<Value = LinkPoaList> {
    (link_id(), vec(link_address(), 0..4))
        .prop_map(|(link, points_of_attachment)| LinkPoaList { link, points_of_attachment })
}

fn ip_address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::V4(Ipv4Addr::from(bits))),
        any::<u128>().prop_map(|bits| IpAddr::V6(Ipv6Addr::from(bits))),
    ]
}

fn null_or<A: std::fmt::Debug + Clone, B: std::fmt::Debug + Clone>(
    first: impl Strategy<Value = A>,
    second: impl Strategy<Value = B>,
) -> impl Strategy<Value = NullOr<A, B>> {
    prop_oneof![Just(NullOr::Null), first.prop_map(NullOr::First), second.prop_map(NullOr::Second)]
}

fn values() -> impl Strategy<Value = Vec<ClassOfServiceValue>> {
    vec(any::<(u8, u16)>().prop_map(|(class, value)| ClassOfServiceValue { class, value }), 0..5)
}

fn qos() -> impl Strategy<Value = QosList> {
    (any::<u8>(), values(), values(), values(), values(), values()).prop_map(
        |(classes, min_delay, avg_delay, max_delay, jitter, loss)| QosList {
            classes,
            min_delay,
            avg_delay,
            max_delay,
            jitter,
            loss,
        },
    )
}

fn query_result() -> impl Strategy<Value = QueryResult> {
    (
        link_poa_list(),
        qos(),
        null_or(any::<bool>(), any::<u32>().prop_map(IpConfigurationMethods)),
        null_or(any::<bool>(), ip_address()),
        null_or(any::<bool>(), ip_address()),
        null_or(any::<bool>(), ip_address()),
    )
        .prop_map(|(link, qos, ip_configuration, dhcp_server, foreign_agent, access_router)| {
            QueryResult { link, qos, ip_configuration, dhcp_server, foreign_agent, access_router }
        })
}

fn action_request() -> impl Strategy<Value = LinkActionRequest> {
    (link_id(), proptest::option::of(link_address()), any::<(u8, u8, u16)>()).prop_map(
        |(link, point_of_attachment, (action, attributes, execution_delay_ms))| LinkActionRequest {
            link,
            point_of_attachment,
            action: LinkActionType(action),
            attributes: LinkActionAttributes(attributes),
            execution_delay_ms,
        },
    )
}

fn signal() -> impl Strategy<Value = SignalStrength> {
    prop_oneof![any::<i8>().prop_map(SignalStrength::Dbm), any::<u8>().prop_map(SignalStrength::Percent)]
}

fn action_response() -> impl Strategy<Value = LinkActionResponse> {
    let scan =
        (link_address(), octet_string(), signal()).prop_map(|(point_of_attachment, network, signal)| {
            LinkScanResponse { point_of_attachment, network, signal }
        });
    (link_id(), any::<u8>(), vec(scan, 0..3)).prop_map(|(link, result, scan)| LinkActionResponse {
        link,
        result: LinkActionResult(result),
        scan,
    })
}

fn threshold() -> impl Strategy<Value = Threshold> {
    any::<(u16, u8)>()
        .prop_map(|(value, direction)| Threshold { value, direction: ThresholdDirection(direction) })
}

fn parameter() -> impl Strategy<Value = LinkParameterType> {
    (0..LINK_PARAMETER_KINDS, any::<u8>())
        .prop_map(|(kind, parameter)| LinkParameterType::new(kind, parameter).unwrap())
}

fn report() -> impl Strategy<Value = LinkParameterReport> {
    let value = prop_oneof![
        any::<u16>().prop_map(LinkParameterValue::Link),
        any::<u8>().prop_map(|classes| LinkParameterValue::Qos(QosParameterValue::Classes(classes))),
        (1..=5u8, values())
            .prop_map(|(what, values)| LinkParameterValue::Qos(QosParameterValue::ByClass(what, values))),
    ];
    (parameter(), value, proptest::option::of(threshold()))
        .prop_map(|(parameter, value, threshold)| LinkParameterReport { parameter, value, threshold })
}

fn detected() -> impl Strategy<Value = LinkDetectedInfo> {
    (link_tuple_id(), octet_string(), octet_string(), signal(), any::<(u16, u32, u8, u32)>()).prop_map(
        |(
            link,
            network,
            auxiliary,
            signal,
            (sinr, data_rate_kbps, mih_capabilities, network_capabilities),
        )| {
            LinkDetectedInfo {
                link,
                network,
                auxiliary,
                signal,
                sinr,
                data_rate_kbps,
                mih_capabilities,
                network_capabilities,
            }
        },
    )
}

fn configuration() -> impl Strategy<Value = LinkConfigurationParameter> {
    (parameter(), any::<Option<u16>>(), any::<u8>(), vec(threshold(), 0..4)).prop_map(
        |(parameter, report_interval_ms, action, thresholds)| LinkConfigurationParameter {
            parameter,
            report_interval_ms,
            action: ThresholdAction(action),
            thresholds,
        },
    )
}

fn target() -> impl Strategy<Value = TargetNetworkInfo> {
    prop_oneof![
        (octet_string(), proptest::option::of(octet_string()))
            .prop_map(|(network, auxiliary)| TargetNetworkInfo::Network { network, auxiliary }),
        link_address().prop_map(TargetNetworkInfo::PointOfAttachment),
    ]
}

fn traffic() -> impl Strategy<Value = TspContainer> {
    null_or(any::<i8>(), octet_string())
}

/// MIHF names, short mostly, up to the longest.
fn mihf_id() -> impl Strategy<Value = MihfId> {
    prop_oneof![4 => "[a-z0-9@.]{0,20}", 1 => "[a-z]{120,253}"].prop_map(|name| MihfId::new(&name).unwrap())
}

/// A TLV of the type asked for.
fn tlv_of(tlv_type: u8) -> BoxedStrategy<Tlv> {
    match tlv_type {
        3 => any::<u8>().prop_map(|code| Tlv::Status(Status(code))).boxed(),
        4 => any::<u8>().prop_map(|code| Tlv::LinkType(LinkType(code))).boxed(),
        5 => any::<u32>().prop_map(|bits| Tlv::EventList(EventList(bits))).boxed(),
        6 => any::<u32>().prop_map(|bits| Tlv::CommandList(CommandList(bits))).boxed(),
        8 => any::<u16>().prop_map(|bits| Tlv::TransportList(TransportList(bits))).boxed(),
        11 => any::<u8>().prop_map(|code| Tlv::RegisterRequestCode(RegisterRequestCode(code))).boxed(),
        12 => any::<u32>().prop_map(Tlv::ValidTimeInterval).boxed(),
        13 => link_tuple_id().prop_map(Tlv::LinkIdentifier).boxed(),
        14 => link_tuple_id().prop_map(Tlv::NewLinkIdentifier).boxed(),
        15 => link_address().prop_map(Tlv::OldAccessRouter).boxed(),
        16 => link_address().prop_map(Tlv::NewAccessRouter).boxed(),
        17 => any::<bool>().prop_map(Tlv::IpRenewalFlag).boxed(),
        19 => any::<u32>().prop_map(|bits| Tlv::IpConfigurationMethods(IpConfigurationMethods(bits))).boxed(),
        20 => any::<u8>().prop_map(|code| Tlv::LinkDownReason(LinkDownReason(code))).boxed(),
        21 => any::<u16>().prop_map(Tlv::TimeInterval).boxed(),
        22 => any::<u8>().prop_map(|code| Tlv::LinkGoingDownReason(LinkGoingDownReason(code))).boxed(),
        23 => vec(report(), 0..4).prop_map(Tlv::LinkParameterReportList).boxed(),
        25 => vec(link_id(), 0..5).prop_map(Tlv::LinkIdentifierList).boxed(),
        29 => vec(configuration(), 0..4).prop_map(Tlv::ConfigureRequestList).boxed(),
        31 => vec(link_poa_list(), 0..4).prop_map(Tlv::LinkPoaList).boxed(),
        32 => vec(query_result(), 0..3).prop_map(Tlv::PreferredLinkList).boxed(),
        33 => qos().prop_map(Tlv::HandoverResourceQuery).boxed(),
        34 => any::<u8>().prop_map(|code| Tlv::HandoverStatus(HandoverStatus(code))).boxed(),
        35 => ip_address().prop_map(Tlv::AccessRouterAddress).boxed(),
        36 => ip_address().prop_map(Tlv::DhcpServerAddress).boxed(),
        37 => ip_address().prop_map(Tlv::FaAddress).boxed(),
        38 => vec(action_request(), 0..4).prop_map(Tlv::LinkActionsList).boxed(),
        39 => vec(action_response(), 0..3).prop_map(Tlv::LinkActionsResultList).boxed(),
        40 => any::<u8>().prop_map(|code| Tlv::HandoverResult(HandoverResult(code))).boxed(),
        41 => any::<bool>().prop_map(Tlv::ResourceStatus).boxed(),
        42 => any::<bool>().prop_map(Tlv::ResourceRetentionStatus).boxed(),
        47 => any::<u16>().prop_map(Tlv::MaxResponseSize).boxed(),
        52 => mihf_id().prop_map(Tlv::MobileNodeMihfId).boxed(),
        53 => any::<bool>().prop_map(Tlv::QueryResourceReportFlag).boxed(),
        55 => target().prop_map(Tlv::TargetNetworkInfo).boxed(),
        56 => vec(target(), 0..4).prop_map(Tlv::TargetNetworkInfoList).boxed(),
        57 => (qos(), traffic())
            .prop_map(|(qos, traffic)| Tlv::AssignedResourceSet(AssignedResourceSet { qos, traffic }))
            .boxed(),
        58 => vec(detected(), 0..3).prop_map(Tlv::LinkDetectedInfoList).boxed(),
        59 => link_id().prop_map(Tlv::MnLinkId).boxed(),
        60 => link_address().prop_map(Tlv::PointOfAttachment).boxed(),
        61 => any::<bool>().prop_map(Tlv::UnauthenticatedInformationRequest).boxed(),
        63 => (qos(), traffic(), any::<u8>())
            .prop_map(|(qos, traffic, cause)| {
                let cause = HandoverCause(cause);
                Tlv::RequestedResourceSet(RequestedResourceSet { qos, traffic, cause })
            })
            .boxed(),
        100 => (any::<[u8; 3]>(), vec(0..2u8, 0..400))
            .prop_map(|(oui, octets)| Tlv::VendorSpecific(VendorSpecific::new(oui, &octets)))
            .boxed(),
        _ => octet_string().prop_map(move |value| Tlv::Raw { tlv_type, value }).boxed(),
    }
}

/// Any message of the catalogue: its mandatory TLVs, some of its optional ones, some that do not belong to
/// it.
fn message() -> impl Strategy<Value = Message> {
    (0..CATALOGUE.len()).prop_flat_map(|at| {
        let description = &CATALOGUE[at];
        let mandatory: Vec<_> = description.mandatory.iter().map(|&tlv_type| tlv_of(tlv_type)).collect();
        let optional: Vec<_> =
            description.optional.iter().map(|&tlv_type| proptest::option::of(tlv_of(tlv_type))).collect();
        let foreign = vec((3..=255u8).prop_flat_map(tlv_of), 0..3);
        (mandatory, optional, foreign, mihf_id(), mihf_id(), 0..0x1000u16, any::<[bool; 3]>()).prop_map(
            |(mandatory, optional, foreign, source, destination, tid, [ack_req, ack_rsp, uir])| Message {
                mid: description.id,
                tid,
                ack_req,
                ack_rsp,
                uir,
                source,
                destination,
                tlvs: mandatory.into_iter().chain(optional.into_iter().flatten()).chain(foreign).collect(),
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn a_message_comes_back_as_it_was(message in message()) {
        let octets = message.encode();
        prop_assert_eq!(octets.len(), message.encoded_bytes());
        prop_assert_eq!(usize::from(Header::decode(&octets).unwrap().payload_bytes) + 8, octets.len());
        prop_assert_eq!(Message::decode(&octets), Ok(message));
    }

    #[test]
    fn octets_with_a_fault_never_panic(message in message(), at in any::<usize>(), octet: u8, cut: usize) {
        let mut octets = message.encode();
        let at = at % octets.len();
        octets[at] = octet;
        // What is read in spite of the fault is a message again, and stays one.
        if let Ok(read) = Message::decode(&octets) {
            prop_assert_eq!(Message::decode(&read.encode()), Ok(read));
        }
        octets.truncate(cut % octets.len());
        prop_assert!(Message::decode(&octets).is_err());
    }

    #[test]
    fn any_octets_are_read_or_refused(octets in vec(any::<u8>(), 0..300)) {
        let _ = Message::decode(&octets);
        let mut deframer = Deframer::new();
        deframer.push(&octets);
        let mut taken = 0;
        while let Some(message) = deframer.next_message() {
            taken += message.len();
        }
        prop_assert_eq!(taken + deframer.buffered_bytes(), octets.len());
    }

    #[test]
    fn any_value_of_any_type_is_read_or_refused(tlv_type: u8, value in vec(any::<u8>(), 0..80)) {
        if let Ok(tlv) = Tlv::decode(tlv_type, &value) {
            prop_assert_eq!(tlv.tlv_type(), tlv_type);
            let mut octets = Vec::new();
            tlv.write(&mut octets);
            prop_assert_eq!(octets.len(), tlv.encoded_bytes());
        }
    }

    #[test]
    fn a_stream_of_messages_is_cut_where_they_end(messages in vec(message(), 1..5), step in 1..200usize) {
        let stream: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
        let mut deframer = Deframer::new();
        let mut read = Vec::new();
        for part in stream.chunks(step) {
            deframer.push(part);
            while let Some(octets) = deframer.next_message() {
                read.push(Message::decode(octets).unwrap());
            }
        }
        prop_assert_eq!(read, messages);
    }
}

#[test]
fn the_empty_name_is_multicast() {
    assert!(MihfId::new("").unwrap().is_multicast());
    assert!(MihfId::new(&"x".repeat(254)).is_err());
    let message = Message {
        mid: CATALOGUE[0].id,
        tid: 1,
        ack_req: false,
        ack_rsp: false,
        uir: false,
        source: MihfId::new("a").unwrap(),
        destination: MihfId::multicast(),
        tlvs: Tlvs::from([]),
    };
    // Destination: type 2, one octet, a string of length 0.
    assert_eq!(message.encode()[12..], [2, 1, 0]);
}
