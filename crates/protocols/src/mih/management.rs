//! Service management: registration, capability discovery, event subscription. The answering side works by
//! itself; the asking side repeats a request that was not answered, where the transport may lose it.
//!
//! Not modelled: access control. Who asks for a registration gets it; the events granted to a subscriber are
//! those asked for that this MIHF indicates.

use roamsim_engine::{Span, Time};

use super::event::{Capabilities, Event};
use super::management_state::{Asking, CAPABILITIES};
use super::number::TransactionNumber;
use super::outbox::{Due, Outbox};
use super::session::Session;
use super::thresholds::Thresholds;
use super::wire::link::{EventList, LinkId, LinkTupleId, RegisterRequestCode, Status};
use super::wire::{Message, MessageId, Tlv, Tlvs};

/// How long a service management request waits for its answer before it is made again, as a new transaction
/// (over a reliable transport without MIH acknowledgements it is made once): the initial retransmission
/// timeout of RFC 5677 section 6.2, which is also its pace for messages while no RTT is known.
pub const MANAGEMENT_RETRY_INTERVAL: Span = Span::from_secs(3);

/// The valid time interval granted to who registers: 0, without end; scenarios register once.
pub const REGISTRATION_VALID_TIME_S: u32 = 0;

/// The first TLV that `pick` picks.
fn find<T>(tlvs: &[Tlv], pick: impl Fn(&Tlv) -> Option<T>) -> Option<T> {
    tlvs.iter().find_map(pick)
}

fn link_of(tlvs: &[Tlv]) -> Option<LinkTupleId> {
    find(tlvs, |tlv| if let Tlv::LinkIdentifier(link) = tlv { Some(link.clone()) } else { None })
}

fn events_of(tlvs: &[Tlv]) -> Option<EventList> {
    find(tlvs, |tlv| if let Tlv::EventList(events) = tlv { Some(*events) } else { None })
}

fn capability_tlvs() -> [Tlv; 3] {
    [
        Tlv::EventList(CAPABILITIES.events),
        Tlv::CommandList(CAPABILITIES.commands),
        Tlv::TransportList(CAPABILITIES.transports),
    ]
}

impl Session {
    /// Makes a service management request, again and again where it may be lost, until it is answered.
    pub(super) fn ask(&mut self, now: Time, outbox: &mut Outbox, mid: MessageId, tlvs: Vec<Tlv>) {
        let tlvs = Tlvs::from(tlvs);
        let number = self.start(now, outbox, mid, (&tlvs, None), false);
        let retry_at = now + self.management_retry_interval();
        self.management.asking.push(Asking { mid, tlvs, attempts: vec![number], retry_at });
        self.rearm_management(outbox);
    }

    fn management_retry_interval(&self) -> Span {
        match self.config.acknowledgement {
            // MIH's own retransmissions have their time first.
            Some(acknowledgement) => MANAGEMENT_RETRY_INTERVAL.max(acknowledgement.give_up_after()),
            None if self.config.reliable => Span::MAX,
            None => MANAGEMENT_RETRY_INTERVAL,
        }
    }

    pub(super) fn ask_capabilities(&mut self, now: Time, outbox: &mut Outbox) {
        let tlvs = capability_tlvs().to_vec();
        self.ask(now, outbox, MessageId::CAPABILITY_DISCOVER_REQUEST, tlvs);
    }

    pub(super) fn ask_registration(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        links: Vec<LinkId>,
        again: bool,
    ) {
        let code =
            if again { RegisterRequestCode::RE_REGISTRATION } else { RegisterRequestCode::REGISTRATION };
        self.management.own_links.clone_from(&links);
        let tlvs = vec![Tlv::LinkIdentifierList(links), Tlv::RegisterRequestCode(code)];
        self.ask(now, outbox, MessageId::REGISTER_REQUEST, tlvs);
    }

    fn rearm_management(&mut self, outbox: &mut Outbox) {
        let management = &mut self.management;
        let retries = management.asking.iter().map(|asking| asking.retry_at);
        let next = retries.chain(management.renew_at).min().filter(|&at| at < Time::MAX);
        if next != management.timer {
            management.timer = next;
            if let Some(at) = next {
                outbox.arm(at, self.id, Due::Management);
            }
        }
    }

    /// Asks again what was not answered, and renews the registration at half of its time.
    pub(super) fn handle_management_timer(&mut self, now: Time, outbox: &mut Outbox) {
        self.management.timer = None;
        let retry_at = now + self.management_retry_interval();
        let due: Vec<usize> = (0..self.management.asking.len())
            .filter(|&at| self.management.asking[at].retry_at <= now)
            .collect();
        for at in due {
            let (mid, tlvs) = (self.management.asking[at].mid, self.management.asking[at].tlvs.clone());
            let number = self.start(now, outbox, mid, (&tlvs, None), false);
            let asking = &mut self.management.asking[at];
            asking.attempts.push(number);
            asking.retry_at = retry_at;
        }
        if self.management.renew_at.is_some_and(|at| at <= now) {
            self.management.renew_at = None;
            let links = self.management.own_links.clone();
            self.ask_registration(now, outbox, links, true);
        }
        self.rearm_management(outbox);
    }

    /// The peer answered a service management request.
    pub(super) fn handle_management_response(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        number: TransactionNumber,
        pdu: &Message,
    ) {
        let asking = &mut self.management.asking;
        let Some(at) = asking.iter().position(|asking| asking.attempts.contains(&number)) else {
            // Another attempt was answered before.
            return;
        };
        asking.remove(at);
        let session = self.id;
        let status = find(&pdu.tlvs, |tlv| if let Tlv::Status(status) = tlv { Some(*status) } else { None })
            .unwrap_or(Status::UNSPECIFIED_FAILURE);
        let events = events_of(&pdu.tlvs).unwrap_or_default();
        let event = match pdu.mid {
            MessageId::REGISTER_RESPONSE => {
                let valid_time_s = find(&pdu.tlvs, |tlv| match tlv {
                    Tlv::ValidTimeInterval(seconds) => Some(*seconds),
                    _ => None,
                })
                .unwrap_or(0);
                if status == Status::SUCCESS && valid_time_s > 0 {
                    // At half of the time: chosen, so that the renewal may be repeated before the end.
                    self.management.renew_at = Some(now + Span::from_ms(u64::from(valid_time_s) * 500));
                }
                Event::Registered { session, status, valid_time_s }
            }
            MessageId::DEREGISTER_RESPONSE => {
                self.management.renew_at = None;
                Event::Deregistered { session, status }
            }
            MessageId::EVENT_SUBSCRIBE_RESPONSE => Event::Subscribed { session, status, events },
            MessageId::EVENT_UNSUBSCRIBE_RESPONSE => Event::Unsubscribed { session, status, events },
            _ => Event::CapabilitiesDiscovered {
                session,
                peer: pdu.source.clone(),
                status,
                capabilities: Capabilities {
                    events,
                    commands: find(&pdu.tlvs, |tlv| {
                        if let Tlv::CommandList(commands) = tlv { Some(*commands) } else { None }
                    })
                    .unwrap_or_default(),
                    transports: find(&pdu.tlvs, |tlv| {
                        if let Tlv::TransportList(transports) = tlv { Some(*transports) } else { None }
                    })
                    .unwrap_or_default(),
                },
            },
        };
        outbox.events.push_back(event);
        self.rearm_management(outbox);
    }

    /// The peer configures thresholds of a link: answers at once.
    pub(super) fn configure_thresholds(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        number: TransactionNumber,
        pdu: &Message,
    ) {
        let parameters = find(&pdu.tlvs, |tlv| match tlv {
            Tlv::ConfigureRequestList(parameters) => Some(parameters.clone()),
            _ => None,
        });
        let answer = match (link_of(&pdu.tlvs), parameters) {
            (Some(link), Some(parameters)) => {
                let status = self.management.thresholds.configure(&link, &parameters);
                if status == Status::SUCCESS {
                    let (session, link) = (self.id, link.clone());
                    outbox.events.push_back(Event::PeerConfigured { session, link, parameters });
                }
                vec![Tlv::Status(status), Tlv::LinkIdentifier(link)]
            }
            // A structured message without its mandatory TLVs; octets are refused when they are read.
            _ => vec![Tlv::Status(Status::UNSPECIFIED_FAILURE)],
        };
        let sent = self.respond(now, outbox, number, Tlvs::from(answer));
        self.stats.responses += u64::from(sent);
    }

    /// The peer asks: answers at once.
    pub(super) fn handle_management_request(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        number: TransactionNumber,
        pdu: &Message,
    ) {
        let session = self.id;
        let management = &mut self.management;
        let answer = match pdu.mid {
            MessageId::REGISTER_REQUEST => {
                let links = find(&pdu.tlvs, |tlv| match tlv {
                    Tlv::LinkIdentifierList(links) => Some(links.clone()),
                    _ => None,
                })
                .unwrap_or_default();
                let code = find(&pdu.tlvs, |tlv| match tlv {
                    Tlv::RegisterRequestCode(code) => Some(*code),
                    _ => None,
                });
                let again = code == Some(RegisterRequestCode::RE_REGISTRATION);
                management.peer_registered = true;
                outbox.events.push_back(Event::PeerRegistered { session, again, links });
                vec![Tlv::Status(Status::SUCCESS), Tlv::ValidTimeInterval(REGISTRATION_VALID_TIME_S)]
            }
            MessageId::DEREGISTER_REQUEST => {
                let status = if management.peer_registered {
                    outbox.events.push_back(Event::PeerDeregistered { session });
                    Status::SUCCESS
                } else {
                    Status::REJECTED
                };
                management.peer_registered = false;
                management.subscriptions.clear();
                management.thresholds = Thresholds::default();
                vec![Tlv::Status(status)]
            }
            MessageId::EVENT_SUBSCRIBE_REQUEST | MessageId::EVENT_UNSUBSCRIBE_REQUEST => {
                let (Some(link), Some(events)) = (link_of(&pdu.tlvs), events_of(&pdu.tlvs)) else {
                    // A structured message without its mandatory TLVs; octets are refused when they are read.
                    self.respond(now, outbox, number, Tlvs::from([Tlv::Status(Status::UNSPECIFIED_FAILURE)]));
                    return;
                };
                let subscribes = pdu.mid == MessageId::EVENT_SUBSCRIBE_REQUEST;
                let events = if subscribes {
                    management.subscribe(&link, events)
                } else {
                    management.unsubscribe(&link, events)
                };
                let mut tlvs = vec![Tlv::Status(Status::REJECTED), Tlv::LinkIdentifier(link.clone())];
                if events != EventList::NONE {
                    tlvs[0] = Tlv::Status(Status::SUCCESS);
                    tlvs.push(Tlv::EventList(events));
                    outbox.events.push_back(if subscribes {
                        Event::PeerSubscribed { session, link, events }
                    } else {
                        Event::PeerUnsubscribed { session, link, events }
                    });
                }
                tlvs
            }
            _ => {
                let mut tlvs = vec![Tlv::Status(Status::SUCCESS)];
                tlvs.extend(capability_tlvs());
                tlvs
            }
        };
        self.respond(now, outbox, number, Tlvs::from(answer));
    }
}
