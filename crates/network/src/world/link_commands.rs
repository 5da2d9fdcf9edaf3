//! Commands of a remote MIH user to the links of a node (IEEE Std 802.21-2008 section 7.4).
//!
//! - MIH_Link_Configure_Thresholds: its MIHF answers. For packet errors it also makes its links count them.
//! - MIH_Link_Actions: its links perform power up, power down, disconnect and scan. A link that is powered
//!   down or disconnected stays down until power up. Only stations that use all of their cells, and links
//!   that are not cells, can do that. Other stations choose their cell themselves and answer as incapable.

use super::World;
use crate::alarm::Moment;
use crate::link::indication::LinkEvent;
use crate::signalling::{End, ErrorMeter, LinkAction, SignallingConfig};
use crate::topology::LinkId;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use roamsim_protocols::mih::wire::handover::{
    LinkActionAttributes, LinkActionRequest, LinkActionResponse, LinkActionResult, LinkActionType,
    LinkConfigurationParameter, LinkParameterType,
};
use roamsim_protocols::mih::wire::link::{LinkId as MihLinkId, LinkTupleId, Status};
use roamsim_protocols::mih::{Message, MessageId, SessionId, Tlv, TransactionNumber};

/// What an answer says, in the words of the table of commands.
pub(super) fn result_of(pdu: &Message) -> &'static str {
    let of_action = |tlv: &Tlv| match tlv {
        Tlv::LinkActionsResultList(results) => results.first().map(|result| match result.result {
            LinkActionResult::SUCCESS => "success",
            LinkActionResult::REFUSED => "refused",
            LinkActionResult::INCAPABLE => "incapable",
            _ => "failure",
        }),
        _ => None,
    };
    let of_status = |tlv: &Tlv| match tlv {
        Tlv::Status(Status::SUCCESS) => Some("success"),
        Tlv::Status(_) => Some("refused"),
        _ => None,
    };
    let of = |pick: &dyn Fn(&Tlv) -> Option<&'static str>| pdu.tlvs.iter().find_map(pick);
    of(&of_action).or_else(|| of(&of_status)).unwrap_or("failure")
}

/// What a command is called in the table.
fn name_of(action: &LinkAction) -> &'static str {
    match action.action {
        LinkActionType::POWER_UP => "power_up",
        LinkActionType::POWER_DOWN => "power_down",
        LinkActionType::DISCONNECT => "disconnect",
        _ => "scan",
    }
}

impl World {
    /// The responder's user configures the thresholds of a link that has been registered.
    pub(super) fn configure_thresholds(&mut self, now: Time, number: u32, tuple: LinkTupleId) {
        let signalling = &self.signalling[number as usize];
        let found = signalling.config.thresholds.iter().find(|one| self.mih_link(one.link) == tuple.link);
        let Some(configured) = found.cloned() else { return };
        let responder = signalling.responder;
        let tlvs = vec![Tlv::LinkIdentifier(tuple), Tlv::ConfigureRequestList(configured.parameters)];
        let mid = MessageId::LINK_CONFIGURE_THRESHOLDS_REQUEST;
        let made =
            self.on_mihf(now, responder, |mihf, cx, session| mihf.request(cx, session, mid, tlvs, None));
        self.signalling[number as usize].commanded(now, made, configured.link, "configure_thresholds");
    }

    /// Thresholds of a link of the origin have been configured: those of packet errors want these counted, or
    /// not any more.
    pub(super) fn count_errors(
        &mut self,
        now: Time,
        number: u32,
        link: &MihLinkId,
        parameters: &[LinkConfigurationParameter],
    ) {
        const ERRORS: LinkParameterType = LinkParameterType::PACKET_ERROR_RATE;
        let Some(interface) = self.interface_of(number, link) else { return };
        let End { mihf, session } = self.signalling[number as usize].origin;
        let wanted = self.mih_nodes[mihf as usize].mihf.has_thresholds(SessionId(session), link, ERRORS);
        let intervals =
            parameters.iter().filter(|one| one.parameter == ERRORS).map(|one| one.report_interval_ms);
        let came = self.network.receptions(now, interface);
        let meters = &mut self.signalling[number as usize].error_meters;
        if !wanted {
            meters.retain(|meter| meter.link != interface);
        } else if let Some((interval_ms, before)) = intervals.flatten().last().zip(came) {
            meters.retain(|meter| meter.link != interface);
            let interval = Span::from_ms(u64::from(interval_ms));
            meters.push(ErrorMeter { link: interface, interval, next: now + interval, before });
        }
    }

    /// Reports of packet errors that are due are made: of an interval in which nothing came, none.
    pub(super) fn report_errors(&mut self, now: Time, number: u32) {
        for at in 0..self.signalling[number as usize].error_meters.len() {
            let meter = self.signalling[number as usize].error_meters[at];
            if meter.next > now {
                continue;
            }
            let came = self.network.receptions(now, meter.link).unwrap_or(meter.before);
            self.signalling[number as usize].error_meters[at] =
                ErrorMeter { next: now + meter.interval, before: came, ..meter };
            let SignallingConfig { start, stop, .. } = self.signalling[number as usize].config;
            let errors = came.since(meter.before).packet_error_rate().filter(|_| start <= now && now < stop);
            let Some(packet_error_rate) = errors else { continue };
            let event = LinkEvent::ErrorReport { packet_error_rate };
            self.network.record_link_event(now, meter.link, event);
            self.tell_peer(now, number, meter.link, event);
        }
    }

    /// The interface of the origin that messages call so.
    fn interface_of(&self, number: u32, link: &MihLinkId) -> Option<Address> {
        let origin = self.signalling[number as usize].origin;
        let node = self.mih_nodes[origin.mihf as usize].node;
        let mut interfaces = self.network.topology.node(node).interfaces.iter().map(|&own| Address(own));
        interfaces.find(|&own| self.mih_link(own) == *link)
    }

    /// The responder's user has heard of an event: it makes the commands that are for it.
    pub(super) fn act_upon(&mut self, now: Time, number: u32, pdu: &Message) {
        let signalling = &self.signalling[number as usize];
        let responder = signalling.responder;
        let told = pdu.tlvs.iter().find_map(|tlv| match tlv {
            Tlv::LinkIdentifier(link) => Some(link.link.clone()),
            Tlv::LinkDetectedInfoList(found) => found.first().map(|found| found.link.link.clone()),
            _ => None,
        });
        for at in 0..signalling.config.actions.len() {
            let action = self.signalling[number as usize].config.actions[at];
            let of_it = action.of.is_none_or(|of| told.as_ref() == Some(&self.mih_link(of)));
            if action.upon != pdu.mid || !of_it {
                continue;
            }
            let attributes =
                if action.scans { LinkActionAttributes::SCAN } else { LinkActionAttributes::NONE };
            let request = LinkActionRequest {
                link: self.mih_link(action.link),
                point_of_attachment: None,
                action: action.action,
                attributes,
                execution_delay_ms: 0,
            };
            let tlvs = vec![Tlv::LinkActionsList(vec![request])];
            let mid = MessageId::LINK_ACTIONS_REQUEST;
            let made =
                self.on_mihf(now, responder, |mihf, cx, session| mihf.request(cx, session, mid, tlvs, None));
            self.signalling[number as usize].commanded(now, made, action.link, name_of(&action));
        }
    }

    /// The origin's MIHF is asked for actions of its links, which do them at once.
    pub(super) fn act_on_links(
        &mut self,
        moment: &mut Moment<'_>,
        number: u32,
        request: TransactionNumber,
        pdu: &Message,
    ) {
        let asked = pdu.tlvs.iter().find_map(|tlv| match tlv {
            Tlv::LinkActionsList(actions) => Some(actions.clone()),
            _ => None,
        });
        let origin = self.signalling[number as usize].origin;
        let mut results = Vec::new();
        for action in asked.unwrap_or_default() {
            let interface = self.interface_of(number, &action.link);
            let result =
                interface.map_or(LinkActionResult::FAILURE, |own| self.act_on_own_link(moment, own, &action));
            results.push(LinkActionResponse { link: action.link, result, scan: Vec::new() });
        }
        let tlvs = vec![Tlv::Status(Status::SUCCESS), Tlv::LinkActionsResultList(results)];
        self.on_mihf(moment.now, origin, |mihf, cx, session| {
            mihf.respond(cx, session, request, tlvs, None);
        });
    }

    fn act_on_own_link(
        &mut self,
        moment: &mut Moment<'_>,
        interface: Address,
        action: &LinkActionRequest,
    ) -> LinkActionResult {
        let on = match action.action {
            LinkActionType::NONE => None,
            LinkActionType::POWER_UP => Some(true),
            LinkActionType::POWER_DOWN | LinkActionType::DISCONNECT => Some(false),
            _ => return LinkActionResult::INCAPABLE,
        };
        // What is asked for after some time, and other ways to do it, links here have not.
        let scans = action.attributes.contains(LinkActionAttributes::SCAN);
        if action.execution_delay_ms > 0 || (on.is_none() && !scans) {
            return LinkActionResult::INCAPABLE;
        }
        match on {
            Some(on) if !self.switch_own_link(moment, interface, on) => LinkActionResult::INCAPABLE,
            _ if scans => self.scan_by_own_link(moment, interface),
            _ => LinkActionResult::SUCCESS,
        }
    }

    /// A link is powered down, or up; whether it can be.
    fn switch_own_link(&mut self, moment: &mut Moment<'_>, interface: Address, on: bool) -> bool {
        let World { handovers, network, .. } = self;
        let (link, _) = network.topology.attachment(interface);
        if handovers.number_of(interface).is_none() {
            return network.switch(moment, link, on);
        }
        let Some((station, place)) = handovers.member_of_all(interface) else { return false };
        if let Some(LinkId(link)) = handovers.permit(network, moment.now, station, place, on) {
            network.rearm(link, moment);
            network.arm_indications(moment, link);
        }
        self.tell_listeners(moment);
        true
    }

    fn scan_by_own_link(&mut self, moment: &mut Moment<'_>, interface: Address) -> LinkActionResult {
        let World { handovers, network, .. } = self;
        let (link, _) = network.topology.attachment(interface);
        let station = handovers.number_of(interface);
        let Some((station, stations)) = station.zip(network.stations_mut(link)) else {
            return LinkActionResult::INCAPABLE;
        };
        let result = stations.scan(moment.now, station);
        network.rearm(link.0, moment);
        network.arm_indications(moment, link.0);
        result
    }
}
