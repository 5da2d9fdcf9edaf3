//! tshark, another implementation, reads the same fields from the octets of every message.
//!
//! What tshark 4.0 reads wrongly is kept out of the messages here: IP_ADDR (it takes the length octet into
//! the address, and calls the message malformed), alone in TLVs 35 to 37 and inside RQ_RESULT; lists of
//! schemata with an element; a network without auxiliary identifier. It reads TLV 29's thresholds without the
//! LIST around them, and a report interval an octet early, names TLV 6's bits differently, and shows lengths
//! above 128 less 128.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use roamsim_protocols::mih::wire::handover::*;
use roamsim_protocols::mih::wire::link::*;
use roamsim_protocols::mih::wire::message::padding;
use roamsim_protocols::mih::wire::message_id::CATALOGUE;
use roamsim_protocols::mih::wire::value::OctetString;
use roamsim_protocols::mih::{Message, MessageId, MihfId, Tlv, Tlvs};

const MN_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 0x01];
const AP_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 0x09];

fn mac(octets: [u8; 6]) -> LinkAddress {
    LinkAddress::Mac(octets)
}

fn link() -> LinkId {
    LinkId { link_type: LinkType::IEEE_802_11, address: mac(MN_MAC) }
}

fn qos() -> QosList {
    let value = |value| vec![ClassOfServiceValue { class: 1, value }];
    QosList {
        classes: 1,
        min_delay: value(10),
        avg_delay: value(20),
        max_delay: value(40),
        jitter: value(5),
        loss: value(2),
    }
}

/// TLVs that tshark cannot read: the access router's, DHCP server's and foreign agent's addresses.
const NOT_READ: [u8; 3] = [35, 36, 37];

/// A value for every other type that a message of the catalogue may carry.
fn sample(tlv_type: u8) -> Tlv {
    let raw = |octets: &[u8]| Tlv::Raw { tlv_type, value: OctetString::from(octets) };
    let tuple = |link_type| LinkTupleId::of_macs(link_type, MN_MAC, AP_MAC);
    let poa_list = || LinkPoaList { link: link(), points_of_attachment: vec![mac(AP_MAC)] };
    match tlv_type {
        3 => Tlv::Status(Status::REJECTED),
        4 => Tlv::LinkType(LinkType::IEEE_802_16),
        5 => Tlv::EventList(
            EventList::LINK_DETECTED
                .union(EventList::LINK_UP)
                .union(EventList::LINK_DOWN)
                .union(EventList::LINK_GOING_DOWN),
        ),
        6 => Tlv::CommandList(CommandList::LINK_ACTIONS),
        // RDF data and RDF schema: bits 1 and 3 of 64.
        7 => raw(&[0x50, 0, 0, 0, 0, 0, 0, 0]),
        8 => Tlv::TransportList(TransportList::UDP.union(TransportList::TCP)),
        // Empty lists.
        9 | 10 | 46 | 50 | 58 => raw(&[0]),
        11 => Tlv::RegisterRequestCode(RegisterRequestCode::RE_REGISTRATION),
        12 => Tlv::ValidTimeInterval(3600),
        13 => Tlv::LinkIdentifier(tuple(LinkType::IEEE_802_11)),
        14 => Tlv::NewLinkIdentifier(tuple(LinkType::IEEE_802_16)),
        15 => Tlv::OldAccessRouter(mac(AP_MAC)),
        16 => Tlv::NewAccessRouter(mac(MN_MAC)),
        17 => Tlv::IpRenewalFlag(true),
        // Mobile IPv6: bit 2 of 16.
        18 => raw(&[0x20, 0]),
        19 => Tlv::IpConfigurationMethods(IpConfigurationMethods::IPV4_DYNAMIC),
        20 => Tlv::LinkDownReason(LinkDownReason::PACKET_TIMEOUT),
        21 => Tlv::TimeInterval(9000),
        22 => Tlv::LinkGoingDownReason(LinkGoingDownReason::LOW_POWER),
        // One report: 802.11's RSSI, value 1234, no threshold.
        23 => raw(&[1, 5, 0, 0, 0x04, 0xd2, 0]),
        // Battery level.
        24 => raw(&[0x40, 0]),
        25 => Tlv::LinkIdentifierList(vec![link()]),
        // A battery level of 80 %.
        26 => raw(&[1, 1, 80]),
        // Channel; no parameters; number of queues.
        27 => raw(&[0, 1, 0, 6, 0, 0, 1, 4]),
        // No states, no parameters, no descriptors of one link.
        28 => raw(&[1, 19, 0, 0, 6, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0]),
        29 => Tlv::ConfigureRequestList(vec![LinkConfigurationParameter {
            parameter: LinkParameterType::IEEE_802_11_RSSI,
            report_interval_ms: None,
            action: ThresholdAction::CANCEL,
            thresholds: vec![Threshold { value: 70, direction: ThresholdDirection::BELOW }],
        }]),
        // RSSI, threshold 70 going below, success.
        30 => raw(&[1, 5, 0, 0, 70, 1, 1]),
        31 => Tlv::LinkPoaList(vec![poa_list()]),
        32 => Tlv::PreferredLinkList(vec![QueryResult {
            link: poa_list(),
            qos: qos(),
            ip_configuration: NullOr::First(true),
            dhcp_server: NullOr::First(false),
            foreign_agent: NullOr::Null,
            access_router: NullOr::First(true),
        }]),
        33 => Tlv::HandoverResourceQuery(qos()),
        34 => Tlv::HandoverStatus(HandoverStatus::DECLINED),
        38 => Tlv::LinkActionsList(vec![LinkActionRequest {
            link: link(),
            point_of_attachment: Some(mac(AP_MAC)),
            action: LinkActionType::POWER_UP,
            attributes: LinkActionAttributes::SCAN,
            execution_delay_ms: 300,
        }]),
        39 => Tlv::LinkActionsResultList(vec![LinkActionResponse {
            link: link(),
            result: LinkActionResult::REFUSED,
            scan: Vec::new(),
        }]),
        40 => Tlv::HandoverResult(HandoverResult::FAILURE),
        41 => Tlv::ResourceStatus(true),
        42 => Tlv::ResourceRetentionStatus(true),
        43 => raw(b"\x01\x03abc"),
        44 | 49 | 51 => raw(b"\x01\x00\x03abc"),
        45 => raw(&[1]),
        47 => Tlv::MaxResponseSize(1452),
        48 => raw(b"\x01\x03abc"),
        52 => Tlv::MobileNodeMihfId(MihfId::new("mn2.example.org").unwrap()),
        53 => Tlv::QueryResourceReportFlag(true),
        // No detection configuration, no parameters.
        54 => raw(&[1, 0, 0]),
        55 => Tlv::TargetNetworkInfo(TargetNetworkInfo::PointOfAttachment(mac(AP_MAC))),
        56 => Tlv::TargetNetworkInfoList(vec![TargetNetworkInfo::PointOfAttachment(mac(AP_MAC))]),
        57 => Tlv::AssignedResourceSet(AssignedResourceSet { qos: qos(), traffic: NullOr::First(-3) }),
        59 => Tlv::MnLinkId(link()),
        60 => Tlv::PointOfAttachment(LinkAddress::Cell3g { plmn: [2, 0x62, 1], cell: 77 }),
        61 => Tlv::UnauthenticatedInformationRequest(true),
        // Link type 802.11, no subtype, no extension.
        62 => raw(&[0, 19, 1, 1]),
        63 => Tlv::RequestedResourceSet(RequestedResourceSet {
            qos: qos(),
            traffic: NullOr::Second(OctetString::from("abc")),
            cause: HandoverCause(2),
        }),
        _ => panic!("the catalogue has a TLV of type {tlv_type}, and there is no sample of it"),
    }
}

/// Every message, with all its TLVs; then one of each size around the steps of the length encoding; then
/// ACKs.
fn messages() -> Vec<Message> {
    let message = |at: usize, mid: MessageId, tlvs: Vec<Tlv>| Message {
        mid,
        tid: (at * 97 % 4096) as u16,
        ack_req: at.is_multiple_of(2),
        ack_rsp: at.is_multiple_of(3) && mid.0 & 0x0c00 == 0x0800,
        uir: tlvs.contains(&Tlv::UnauthenticatedInformationRequest(true)),
        source: MihfId::new("mn1.example.org").unwrap(),
        destination: MihfId::new("pos1.example.org").unwrap(),
        tlvs: Tlvs::from(tlvs),
    };
    let mut messages: Vec<Message> = CATALOGUE
        .iter()
        .enumerate()
        .map(|(at, description)| {
            let types = description.mandatory.iter().chain(description.optional);
            let types = types.filter(|tlv_type| !NOT_READ.contains(tlv_type));
            message(at, description.id, types.map(|&tlv_type| sample(tlv_type)).collect())
        })
        .collect();
    for filler in [5, 129, 130, 131, 132, 386, 387, 388, 700] {
        let mut tlvs = vec![sample(3)];
        tlvs.extend(padding(filler));
        messages.push(message(messages.len(), MessageId::LINK_ACTIONS_RESPONSE, tlvs));
    }
    for mid in [MessageId::LINK_GOING_DOWN_INDICATION, MessageId::MN_HO_COMMIT_RESPONSE] {
        let ack = message(messages.len(), mid, Vec::new());
        messages.push(Message { ack_req: false, ack_rsp: true, ..ack });
    }
    messages
}

/// A capture (pcap, raw IP) with each message in an IPv6/UDP datagram.
fn capture(messages: &[Message]) -> Vec<u8> {
    let mut octets = Vec::new();
    // Magic of microsecond captures, version 2.4, snapshot length 65535, link type 101: raw IP.
    octets.extend(0xa1b2_c3d4u32.to_le_bytes());
    octets.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0]);
    for (at, message) in messages.iter().enumerate() {
        let pdu = message.encode();
        let udp_bytes = (8 + pdu.len()) as u16;
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend(udp_bytes.to_be_bytes());
        packet.extend([17, 64]);
        for host in [1, 2] {
            packet.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
        packet.extend(4551u16.to_be_bytes());
        packet.extend(4551u16.to_be_bytes());
        packet.extend(udp_bytes.to_be_bytes());
        // tshark does not check UDP's checksum by default; any but the forbidden 0 will do.
        packet.extend([0xff, 0xff]);
        packet.extend(pdu);
        octets.extend((at as u32).to_le_bytes());
        octets.extend([0; 4]);
        octets.extend((packet.len() as u32).to_le_bytes());
        octets.extend((packet.len() as u32).to_le_bytes());
        octets.extend(packet);
    }
    octets
}

fn tshark_is_there() -> bool {
    Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// One row a packet, one string a field; several values of a field are joined by commas.
fn read_fields(path: &PathBuf, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .expect("tshark writes UTF-8")
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

fn numbers(list: &str) -> Vec<u64> {
    list.split(',')
        .filter(|item| !item.is_empty())
        .map(|item| match item.strip_prefix("0x") {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).unwrap(),
            None if item == "True" => 1,
            None if item == "False" => 0,
            None => item.parse().unwrap(),
        })
        .collect()
}

/// What tshark shows of a TLV's length: in which of its two fields, and how.
fn shown_length(tlv: &Tlv) -> (Option<u64>, Option<u64>) {
    match tlv.value_bytes() as u64 {
        short @ 0..=128 => (Some(short), None),
        long => (None, Some(long - 128)),
    }
}

#[test]
fn tshark_reads_the_same_fields() {
    if !tshark_is_there() {
        let required = std::env::var("ROAMSIM_REQUIRE_TOOLS").is_ok_and(|value| value == "1");
        assert!(!required, "tshark is required, and is not installed");
        // Not by a macro, whose output the test harness would hold back.
        let notice = "
*** LEFT OUT: tshark is not installed; MIH messages were not compared with it ***

";
        std::io::stderr().write_all(notice.as_bytes()).expect("stderr can be written");
        return;
    }
    let messages = messages();
    let path = std::env::temp_dir().join(format!("roamsim-mih-{}.pcap", std::process::id()));
    std::fs::write(&path, capture(&messages)).expect("the directory for temporary files can be written");
    let fields = [
        "mih.version",
        "mih.acq_req",
        "mih.acq_resp",
        "mih.uir",
        "mih.more_frag",
        "mih.frag_no",
        "mih.mid",
        "mih.tid",
        "mih.pay_len",
        "mih.tlv_type",
        "mih.tlv_length",
        "mih.tlv_length_ext",
        "mih.mihf_id",
        "_ws.malformed",
        "_ws.expert.message",
    ];
    let rows = read_fields(&path, &fields);
    assert_eq!(rows.len(), messages.len());
    for (message, row) in messages.iter().zip(&rows) {
        let field = |name: &str| row[fields.iter().position(|field| *field == name).unwrap()].as_str();
        // The version's field appears twice: above the flags, and among them.
        assert_eq!(numbers(field("mih.version")).first(), Some(&1), "{}", message.mid);
        assert_eq!(numbers(field("mih.acq_req")), [u64::from(message.ack_req)], "{}", message.mid);
        assert_eq!(numbers(field("mih.acq_resp")), [u64::from(message.ack_rsp)], "{}", message.mid);
        assert_eq!(numbers(field("mih.uir")), [u64::from(message.uir)], "{}", message.mid);
        assert_eq!(numbers(field("mih.more_frag")), [0], "{}", message.mid);
        assert_eq!(numbers(field("mih.frag_no")), [0], "{}", message.mid);
        assert_eq!(numbers(field("mih.mid")), [u64::from(message.mid.0)], "{}", message.mid);
        assert_eq!(numbers(field("mih.tid")), [u64::from(message.tid)], "{}", message.mid);
        let payload_bytes = message.encoded_bytes() as u64 - 8;
        assert_eq!(numbers(field("mih.pay_len")), [payload_bytes], "{}", message.mid);
        let types = [1, 2].into_iter().chain(message.tlvs.iter().map(|tlv| u64::from(tlv.tlv_type())));
        assert_eq!(numbers(field("mih.tlv_type")), types.collect::<Vec<_>>(), "{}", message.mid);
        let shown = message.tlvs.iter().map(shown_length);
        let (short, long): (Vec<_>, Vec<_>) = shown.unzip();
        // Source and destination: 15 and 16 characters, and the string's length.
        let short: Vec<u64> = [16, 17].into_iter().chain(short.into_iter().flatten()).collect();
        assert_eq!(numbers(field("mih.tlv_length")), short, "{}", message.mid);
        let long: Vec<u64> = long.into_iter().flatten().collect();
        assert_eq!(numbers(field("mih.tlv_length_ext")), long, "{}", message.mid);
        assert!(field("mih.mihf_id").starts_with("mn1.example.org,pos1.example.org"), "{}", message.mid);
        assert_eq!(field("_ws.malformed"), "", "{}", message.mid);
        assert!(!field("_ws.expert.message").contains("Malformed"), "{}: {}", message.mid, row.join(" "));
    }
    // Values, each in the first message of its kind.
    let expectations = [
        ("mih.event_list", 0x1401, "0xe8000000"),
        ("mih.event_list.link_gd", 0x1401, "1"),
        ("mih.event_list.link_param_rpt", 0x1401, "0"),
        ("mih.command_list", 0x1401, "0x20000000"),
        ("mih.iq_type_list", 0x1401, "0x50000000"),
        ("mih.trans_list", 0x1401, "0xc000"),
        ("mih.trans_list.tcp", 0x1401, "1"),
        ("mih.reg_request_code", 0x1402, "1"),
        ("mih.link_type", 0x1402, "19"),
        ("mih.mac_addr", 0x1402, "02:00:00:00:00:01"),
        ("mih.status", 0x1802, "2"),
        ("mih.valid_time_interval", 0x1802, "3600"),
        ("mih.ip_renewal", 0x2c02, "1"),
        ("mih.mob_list.mip6", 0x2c02, "1"),
        ("mih.link_dn_reason", 0x2c03, "1"),
        ("mih.link_param_value", 0x2c05, "1234"),
        ("mih.time_interval", 0x2c06, "9000"),
        ("mih.link_gdn_reason", 0x2c06, "2"),
        ("mih.threshold_action", 0x3402, "2"),
        ("mih.link_ac_type", 0x3403, "4"),
        ("mih.link_ac_attr.link_scan", 0x3403, "1"),
        ("mih.link_ac_ext_time", 0x3403, "300"),
        ("mih.mac_addr", 0x3404, "02:00:00:00:00:01,02:00:00:00:00:09"),
        ("mih.res_rpt_flag", 0x3404, "1"),
        ("mih.cos_value", 0x3405, "10,20,40,5,2"),
        ("mih.ip_cfg_mthds.dhcp4", 0x3405, "1"),
        ("mih.mac_addr", 0x3407, "02:00:00:00:00:09"),
        ("mih.predef_cfg_id", 0x3408, "-3"),
        ("mih.mihf_id", 0x3409, "mn1.example.org,pos1.example.org,mn2.example.org"),
        // 0x026201 = 156161.
        ("mih.plmn_id", 0x3409, "156161"),
        ("mih.cell_id", 0x3409, "77"),
        ("mih.tsp_carrier", 0x3409, "abc"),
        ("mih.ho_reason", 0x3409, "2"),
        ("mih.link_ac_result", 0x3803, "2"),
        ("mih.ho_status", 0x3804, "1"),
        ("mih.cos_value", 0x3804, "10,20,40,5,2"),
        ("mih.status", 0x340a, "1"),
        ("mih.res_status", 0x3806, "1"),
        ("mih.res_retention_status", 0x380b, "1"),
        ("mih.max_resp_size", 0x4401, "1452"),
        ("mih.unauth_info_req", 0x4401, "1"),
    ];
    let names: Vec<&str> = BTreeSet::from(expectations.map(|(name, ..)| name)).into_iter().collect();
    let values = read_fields(&path, &names);
    for (name, mid, expected) in expectations {
        let at = names.iter().position(|known| *known == name).expect("all names are there");
        let row = messages.iter().position(|message| message.mid.0 == mid).expect("the message is there");
        assert_eq!(values[row][at], expected, "{name} of {}", MessageId(mid));
    }
    std::fs::remove_file(&path).expect("the capture was there");
}
