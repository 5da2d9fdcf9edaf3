//! MIH_LINK_SAP: what the links of a node tell its MIHF (IEEE Std 802.21-2008 section 7.3), and the remote
//! MIH users that subscribed to it hear by MIH_Link_*.indication (section 7.4).
//!
//! A subscription is to events of a link, through whichever point of attachment it leads. A report of
//! parameters has one: the signal's strength, as often as the link finds it out, or, where the peer has
//! configured thresholds, when it crosses one; the packet error rate where the peer has configured thresholds
//! of it alone (`thresholds`). Of what Link_Detected tells, the network's names are empty, SINR,
//! data rate and capabilities 0: the links here do not tell them.

use super::link_parameter::LinkParameter;
use super::mihf::{Mihf, SessionId};
use super::number::TransactionNumber;
use super::wire::handover::{LinkParameterReport, LinkParameterValue, Threshold};
use super::wire::link::{
    EventList, LinkDetectedInfo, LinkDownReason, LinkGoingDownReason, LinkTupleId, SignalStrength,
};
use super::wire::value::OctetString;
use super::wire::{MessageId, Tlv, Tlvs};
use crate::Context;
use roamsim_engine::Span;

/// A time interval that does not fit into its 16 bits of milliseconds; all ones are an unknown one.
const LONGEST_TIME_INTERVAL_MS: u16 = u16::MAX - 1;

/// An event of a link of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Link_Detected.indication.
    Detected(SignalStrength),
    /// Link_Parameters_Report.indication.
    ParametersReport(LinkParameter),
    /// Link_Up.indication.
    Up,
    /// Link_Down.indication.
    Down(LinkDownReason),
    /// Link_Going_Down.indication.
    GoingDown {
        /// After which time the link will be down.
        within: Span,
        /// Why.
        reason: LinkGoingDownReason,
    },
}

impl LinkEvent {
    fn kind(self) -> (EventList, MessageId) {
        match self {
            LinkEvent::Detected(_) => (EventList::LINK_DETECTED, MessageId::LINK_DETECTED_INDICATION),
            LinkEvent::ParametersReport(_) => {
                (EventList::LINK_PARAMETERS_REPORT, MessageId::LINK_PARAMETERS_REPORT_INDICATION)
            }
            LinkEvent::Up => (EventList::LINK_UP, MessageId::LINK_UP_INDICATION),
            LinkEvent::Down(_) => (EventList::LINK_DOWN, MessageId::LINK_DOWN_INDICATION),
            LinkEvent::GoingDown { .. } => {
                (EventList::LINK_GOING_DOWN, MessageId::LINK_GOING_DOWN_INDICATION)
            }
        }
    }

    fn tlvs(self, link: &LinkTupleId, crossed: Vec<Threshold>) -> Tlvs {
        if let LinkEvent::Detected(signal) = self {
            return Tlvs::from([Tlv::LinkDetectedInfoList(vec![LinkDetectedInfo {
                link: link.clone(),
                network: OctetString::default(),
                auxiliary: OctetString::default(),
                signal,
                sinr: 0,
                data_rate_kbps: 0,
                mih_capabilities: 0,
                network_capabilities: 0,
            }])]);
        }
        let link = Tlv::LinkIdentifier(link.clone());
        match self {
            LinkEvent::Detected(_) => Tlvs::from([]),
            LinkEvent::ParametersReport(parameter) => {
                let report = |threshold| LinkParameterReport {
                    parameter: parameter.parameter(),
                    // In two's complement.
                    value: LinkParameterValue::Link(parameter.value() as u16),
                    threshold,
                };
                let reports = match crossed.is_empty() {
                    true => vec![report(None)],
                    false => crossed.into_iter().map(|threshold| report(Some(threshold))).collect(),
                };
                Tlvs::from([link, Tlv::LinkParameterReportList(reports)])
            }
            LinkEvent::Up => Tlvs::from([link]),
            LinkEvent::Down(reason) => Tlvs::from([link, Tlv::LinkDownReason(reason)]),
            LinkEvent::GoingDown { within, reason } => {
                let interval_ms =
                    u16::try_from(within.as_ns() / 1_000_000).unwrap_or(LONGEST_TIME_INTERVAL_MS);
                let interval_ms = interval_ms.min(LONGEST_TIME_INTERVAL_MS);
                Tlvs::from([link, Tlv::TimeInterval(interval_ms), Tlv::LinkGoingDownReason(reason)])
            }
        }
    }
}

impl Mihf {
    /// A link of this node indicates an event: the peer of a session gets an indication if it has subscribed
    /// to it. Returns the transaction's number. `size_bytes` as for [`Mihf::indicate`].
    pub fn link_event(
        &mut self,
        cx: &mut Context<'_>,
        session: SessionId,
        link: &LinkTupleId,
        event: LinkEvent,
        size_bytes: Option<u32>,
    ) -> Option<TransactionNumber> {
        let (list, mid) = event.kind();
        let crossed = match event {
            LinkEvent::ParametersReport(parameter) => self.thresholds_mut(session).told(link, parameter)?,
            _ => Vec::new(),
        };
        if !self.is_subscribed(session, link, list) {
            return None;
        }
        let tlvs = event.tlvs(link, crossed);
        Some(self.indicate(cx, session, mid, tlvs, size_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mih::wire::link::{LinkId, LinkType};
    use crate::mih::wire::message_id::Opcode;
    use crate::mih::{Message, MihfId, SessionConfig, TpDataRequest, Validity};
    use crate::{Address, PeerAddress};
    use roamsim_engine::{Stream, Time};

    const LINK: [u8; 6] = [2, 1, 0, 0, 0, 7];

    fn mihf(own: &str, peer: &str) -> Mihf {
        let mut mihf = Mihf::new(MihfId::new(own).expect("short"));
        mihf.add_session(SessionConfig {
            peer: MihfId::new(peer).expect("short"),
            remote: PeerAddress { address: Address(0), port: super::super::PORT },
            reliable: true,
            acknowledgement: None,
            validity: Validity::default(),
            lifetime: None,
            timers: std::sync::Arc::from([]),
            rate_limit: None,
        });
        mihf
    }

    #[test]
    fn only_who_has_subscribed_to_an_event_of_the_link_hears_it() {
        let mut random = Stream::new(1, 0, "test");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let (mut terminal, mut network) = (mihf("terminal", "network"), mihf("network", "terminal"));
        let session = SessionId(0);
        let link = LinkTupleId::of_macs(LinkType::WIRELESS_OTHER, LINK, [2, 1, 0, 0, 0, 1]);
        let up = |terminal: &mut Mihf, cx: &mut Context<'_>| {
            terminal.link_event(cx, session, &link, LinkEvent::Up, None)
        };
        assert_eq!(up(&mut terminal, &mut cx), None);
        // Of the link, whatever its point of attachment.
        let asked = LinkTupleId { link: link.link.clone(), point_of_attachment: None };
        let events = EventList::LINK_UP.union(EventList::LINK_GOING_DOWN);
        network.subscribe(&mut cx, session, asked, events);
        while let Some(TpDataRequest { pdu, .. }) = network.poll_transmit(&mut cx) {
            terminal.tp_data_indication(&mut cx, session, pdu);
        }
        while terminal.poll_transmit(&mut cx).is_some() {}
        assert!(up(&mut terminal, &mut cx).is_some());
        let down = LinkEvent::Down(LinkDownReason::NO_BROADCAST);
        assert_eq!(terminal.link_event(&mut cx, session, &link, down, None), None);
        let other = LinkTupleId {
            link: LinkId { link_type: LinkType::ETHERNET, ..link.link.clone() },
            point_of_attachment: None,
        };
        assert_eq!(terminal.link_event(&mut cx, session, &other, LinkEvent::Up, None), None);
        let going_down = LinkEvent::GoingDown {
            within: Span::from_secs(100),
            reason: LinkGoingDownReason::LINK_PARAMETER_DEGRADING,
        };
        assert!(terminal.link_event(&mut cx, session, &link, going_down, None).is_some());
        let seen = EventList::LINK_DETECTED.union(EventList::LINK_PARAMETERS_REPORT);
        let asked = LinkTupleId { link: link.link.clone(), point_of_attachment: None };
        let signal = SignalStrength::Dbm(-70);
        assert_eq!(terminal.link_event(&mut cx, session, &link, LinkEvent::Detected(signal), None), None);
        network.subscribe(&mut cx, session, asked, seen);
        while let Some(TpDataRequest { pdu, .. }) = network.poll_transmit(&mut cx) {
            terminal.tp_data_indication(&mut cx, session, pdu);
        }
        for event in [LinkEvent::Detected(signal), LinkEvent::ParametersReport(LinkParameter::Signal(signal))]
        {
            assert!(terminal.link_event(&mut cx, session, &link, event, None).is_some());
        }
        let sent: Vec<Message> = std::iter::from_fn(|| terminal.poll_transmit(&mut cx))
            .map(|request| Message::decode(&request.pdu.encode()).expect("its own encoding"))
            .collect();
        assert_eq!(sent[0].mid, MessageId::LINK_UP_INDICATION);
        assert_eq!(sent[0].tlvs[..], [Tlv::LinkIdentifier(link.clone())]);
        // 100 s are more than 16 bits of milliseconds.
        assert_eq!(sent[1].tlvs[1], Tlv::TimeInterval(65_534));
        let indications: Vec<_> =
            sent.iter().map(|message| message.mid).filter(|mid| mid.opcode() == Opcode::Indication).collect();
        let [.., detected, report] = indications[..] else { panic!("{indications:?}") };
        assert_eq!(
            (detected, report),
            (MessageId::LINK_DETECTED_INDICATION, MessageId::LINK_PARAMETERS_REPORT_INDICATION)
        );
        let last = &sent[sent.len() - 1].tlvs;
        // Generic parameter 1 with the value -70, which is 65,466 in two's complement, and no threshold.
        let mut octets = Vec::new();
        last[1].write(&mut octets);
        assert_eq!(octets, [23, 7, 1, 0, 1, 0, 0xff, 0xba, 0]);
    }
}
