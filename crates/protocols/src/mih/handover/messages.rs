//! What the handover commands say: the TLVs of each, those that it must carry and those that its receiver
//! acts upon (IEEE Std 802.21-2008 section 8.6).
//!
//! Quality of service is left empty, and resources are asked for as such.

use super::super::wire::handover::{
    AssignedResourceSet, HandoverCause, HandoverResult, HandoverStatus, NullOr, QosList, QueryResult,
    RequestedResourceSet,
};
use super::super::wire::link::{LinkAddress, LinkPoaList, LinkTupleId, Status, TargetNetworkInfo};
use super::super::wire::tlv::VendorSpecific;
use super::super::wire::{Message, MihfId, Tlv, Tlvs};
use super::Candidate;
use roamsim_engine::Span;

/// Whose TLV tells how many places are left: a locally administered one (IEEE Std 802-2014 section 8.2.2),
/// nobody's.
const PLACES_OUI: [u8; 3] = [0x02, 0x00, 0x01];

fn poa_list(link: &LinkTupleId) -> LinkPoaList {
    LinkPoaList {
        link: link.link.clone(),
        points_of_attachment: link.point_of_attachment.iter().cloned().collect(),
    }
}

fn poa_lists<'a>(links: impl IntoIterator<Item = &'a LinkTupleId>) -> Tlv {
    Tlv::LinkPoaList(links.into_iter().map(poa_list).collect())
}

fn preferred<'a>(links: impl IntoIterator<Item = &'a LinkTupleId>) -> Tlv {
    let result = |link| QueryResult {
        link: poa_list(link),
        qos: QosList::EMPTY,
        ip_configuration: NullOr::Null,
        dhcp_server: NullOr::Null,
        foreign_agent: NullOr::Null,
        access_router: NullOr::Null,
    };
    Tlv::PreferredLinkList(links.into_iter().map(result).collect())
}

fn target(link: &LinkTupleId) -> Option<TargetNetworkInfo> {
    link.point_of_attachment.clone().map(TargetNetworkInfo::PointOfAttachment)
}

pub(super) fn mn_candidate_query<'a>(
    serving: &LinkTupleId,
    candidates: impl IntoIterator<Item = &'a LinkTupleId>,
) -> Tlvs {
    let link = Tlv::LinkIdentifier(serving.clone());
    Tlvs::from([link, poa_lists(candidates), Tlv::HandoverResourceQuery(QosList::EMPTY)])
}

pub(super) fn mn_candidate_query_response<'a>(
    serving: &LinkTupleId,
    available: impl IntoIterator<Item = &'a LinkTupleId>,
) -> Tlvs {
    Tlvs::from([Tlv::Status(Status::SUCCESS), Tlv::LinkIdentifier(serving.clone()), preferred(available)])
}

pub(super) fn query_resources(candidate: &LinkTupleId) -> Tlvs {
    let links = Tlv::LinkIdentifierList(vec![candidate.link.clone()]);
    Tlvs::from([Tlv::HandoverResourceQuery(QosList::EMPTY), links])
}

/// Of how many places are left the standard has no TLV: a vendor's says it, where that is asked for.
pub(super) fn query_resources_response(places: u32, tells_places: bool) -> Tlvs {
    let told =
        tells_places.then(|| Tlv::VendorSpecific(VendorSpecific::new(PLACES_OUI, &places.to_be_bytes())));
    [Tlv::Status(Status::SUCCESS), Tlv::ResourceStatus(places > 0)].into_iter().chain(told).collect()
}

pub(super) fn mn_commit(target_link: &LinkTupleId) -> Tlvs {
    let network = target(target_link).map(Tlv::TargetNetworkInfo);
    [Tlv::LinkType(target_link.link.link_type)].into_iter().chain(network).collect()
}

pub(super) fn mn_commit_response(status: Status, target_link: &LinkTupleId) -> Tlvs {
    [Tlv::Status(status)].into_iter().chain(mn_commit(target_link).iter().cloned()).collect()
}

pub(super) fn n2n_commit(mobile_node: &MihfId, candidate: &LinkTupleId) -> Tlvs {
    let resources = RequestedResourceSet {
        qos: QosList::EMPTY,
        traffic: NullOr::Null,
        cause: HandoverCause::EXPLICIT_DISCONNECT,
    };
    let place = candidate.point_of_attachment.clone().map(Tlv::PointOfAttachment);
    let who = [Tlv::MobileNodeMihfId(mobile_node.clone()), Tlv::MnLinkId(candidate.link.clone())];
    who.into_iter().chain(place).chain([Tlv::RequestedResourceSet(resources)]).collect()
}

pub(super) fn n2n_commit_response(status: Status, mobile_node: &MihfId, link: &LinkTupleId) -> Tlvs {
    let who =
        [Tlv::Status(status), Tlv::MobileNodeMihfId(mobile_node.clone()), Tlv::LinkIdentifier(link.clone())];
    let granted = (status == Status::SUCCESS).then(|| Tlv::AssignedResourceSet(assigned()));
    who.into_iter().chain(granted).collect()
}

fn assigned() -> AssignedResourceSet {
    AssignedResourceSet { qos: QosList::EMPTY, traffic: NullOr::Null }
}

pub(super) fn net_candidate_query<'a>(candidates: impl IntoIterator<Item = &'a LinkTupleId>) -> Tlvs {
    Tlvs::from([poa_lists(candidates), Tlv::QueryResourceReportFlag(false)])
}

pub(super) fn net_candidate_query_response<'a>(
    serving: &LinkTupleId,
    status: HandoverStatus,
    heard: impl IntoIterator<Item = &'a LinkTupleId>,
) -> Tlvs {
    Tlvs::from([
        Tlv::Status(Status::SUCCESS),
        Tlv::LinkIdentifier(serving.clone()),
        Tlv::HandoverStatus(status),
        preferred(heard),
    ])
}

/// The time interval is 0: at once.
pub(super) fn net_commit(target_link: &LinkTupleId) -> Tlvs {
    Tlvs::from([
        Tlv::LinkType(target_link.link.link_type),
        Tlv::TargetNetworkInfoList(target(target_link).into_iter().collect()),
        Tlv::AssignedResourceSet(assigned()),
        Tlv::TimeInterval(0),
    ])
}

pub(super) fn net_commit_response(status: Status) -> Tlvs {
    Tlvs::from([Tlv::Status(status)])
}

pub(super) fn mn_complete(old: &LinkTupleId, new: &LinkTupleId) -> Tlvs {
    completion(old, new, HandoverResult::SUCCESS)
}

fn completion(old: &LinkTupleId, new: &LinkTupleId, result: HandoverResult) -> Tlvs {
    Tlvs::from([
        Tlv::LinkIdentifier(old.clone()),
        Tlv::NewLinkIdentifier(new.clone()),
        Tlv::HandoverResult(result),
    ])
}

pub(super) fn mn_complete_response(status: Status, old: &LinkTupleId, new: &LinkTupleId) -> Tlvs {
    Tlvs::from([Tlv::Status(status), Tlv::LinkIdentifier(old.clone()), Tlv::NewLinkIdentifier(new.clone())])
}

pub(super) fn n2n_complete(
    mobile_node: &MihfId,
    old: &LinkTupleId,
    new: &LinkTupleId,
    result: HandoverResult,
) -> Tlvs {
    let who = [Tlv::MobileNodeMihfId(mobile_node.clone())];
    who.into_iter().chain(completion(old, new, result).iter().cloned()).collect()
}

/// Whether a handover that is complete has failed.
pub(super) fn has_failed(pdu: &Message) -> bool {
    !pdu.tlvs.contains(&Tlv::HandoverResult(HandoverResult::SUCCESS))
}

pub(super) fn n2n_complete_response(mobile_node: &MihfId, old: &LinkTupleId, new: &LinkTupleId) -> Tlvs {
    Tlvs::from([
        Tlv::Status(Status::SUCCESS),
        Tlv::MobileNodeMihfId(mobile_node.clone()),
        Tlv::LinkIdentifier(old.clone()),
        Tlv::NewLinkIdentifier(new.clone()),
        Tlv::ResourceRetentionStatus(false),
    ])
}

/// Whether a response tells of success.
pub(super) fn succeeded(pdu: &Message) -> bool {
    pdu.tlvs.contains(&Tlv::Status(Status::SUCCESS))
}

/// For how many mobile nodes a response tells that resources are there; one that does not say how many has
/// some.
pub(super) fn free_places(pdu: &Message) -> u32 {
    if !succeeded(pdu) || !pdu.tlvs.contains(&Tlv::ResourceStatus(true)) {
        return 0;
    }
    let told = |tlv: &Tlv| match tlv {
        Tlv::VendorSpecific(told) => Some(u32::from_be_bytes(told.octets_of(PLACES_OUI)?.try_into().ok()?)),
        _ => None,
    };
    pdu.tlvs.iter().find_map(told).unwrap_or(1)
}

/// Whether a mobile node declines a handover.
pub(super) fn declines(pdu: &Message) -> bool {
    pdu.tlvs.contains(&Tlv::HandoverStatus(HandoverStatus::DECLINED))
}

/// Within which time a link is going down; one that nobody knows is none.
pub(super) fn time_interval(pdu: &Message) -> Span {
    let of = |tlv: &Tlv| match tlv {
        Tlv::TimeInterval(ms) if *ms < u16::MAX => Some(Span::from_ms(u64::from(*ms))),
        _ => None,
    };
    pdu.tlvs.iter().find_map(of).unwrap_or(Span::ZERO)
}

/// The points of attachment that a TLV names.
fn places(tlv: &Tlv) -> Vec<&LinkAddress> {
    fn of_target(info: &TargetNetworkInfo) -> Option<&LinkAddress> {
        match info {
            TargetNetworkInfo::PointOfAttachment(place) => Some(place),
            TargetNetworkInfo::Network { .. } => None,
        }
    }
    match tlv {
        Tlv::TargetNetworkInfo(info) => of_target(info).into_iter().collect(),
        Tlv::TargetNetworkInfoList(list) => list.iter().filter_map(of_target).collect(),
        Tlv::LinkPoaList(list) => list.iter().flat_map(|link| &link.points_of_attachment).collect(),
        Tlv::PreferredLinkList(list) => {
            list.iter().flat_map(|result| &result.link.points_of_attachment).collect()
        }
        _ => Vec::new(),
    }
}

/// The candidates that a message names, in its order; those that nobody knows are left out.
pub(super) fn named(pdu: &Message, candidates: &[Candidate]) -> Vec<usize> {
    let of = |place: &LinkAddress| {
        candidates.iter().position(|candidate| candidate.link.point_of_attachment.as_ref() == Some(place))
    };
    pdu.tlvs.iter().flat_map(places).filter_map(of).collect()
}

/// The old and the new link of a handover that is complete.
pub(super) fn links(pdu: &Message) -> Option<(LinkTupleId, LinkTupleId)> {
    let find = |pick: fn(&Tlv) -> Option<LinkTupleId>| pdu.tlvs.iter().find_map(pick);
    let old = find(|tlv| if let Tlv::LinkIdentifier(link) = tlv { Some(link.clone()) } else { None });
    let new = find(|tlv| if let Tlv::NewLinkIdentifier(link) = tlv { Some(link.clone()) } else { None });
    old.zip(new)
}
