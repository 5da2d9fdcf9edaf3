//! Signalling: the MIH users of a scenario's signalling entry, at both ends of a session, and the nodes'
//! MIHFs.
//!
//! The origin's user makes an indication or a request at start, start + interval, ... while the time is
//! before the stop; the responder's user answers a request after its processing time. Or it makes none
//! itself, and the responder's user has subscribed to the link events of the origin's node
//! ([`Kind::LinkEvents`]): then the origin's MIHF sends each, as it happens. Before that, at the start of the
//! run, the ends set the session up: connection (over TCP and SCTP, opened by the origin), registration,
//! event subscription.

use crate::alarm::{Alarm, Moment};
use crate::distribution::Distribution;
use crate::event::Event;
use crate::link::Receptions;
use crate::link::indication::LinkEvent;
use crate::socket::{SocketId, Traffic};
use crate::topology::NodeId;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::Address;
use roamsim_protocols::mih::wire::handover::{LinkActionType, LinkConfigurationParameter};
use roamsim_protocols::mih::wire::link::{
    EventList, LinkAddress, LinkGoingDownReason, LinkId, LinkTupleId, LinkType, Status,
};
use roamsim_protocols::mih::wire::value::OctetString;
use roamsim_protocols::mih::{self, Held, MessageId, Mihf, Tlv, Tlvs, TransactionNumber};
use std::collections::VecDeque;

/// A node's MIHF and the sockets of its sessions.
pub struct MihNode {
    /// The function.
    pub mihf: Mihf,
    /// Where it lives.
    pub node: NodeId,
    /// By session number: whose it is, and over what.
    pub sessions: Vec<SessionSocket>,
    pub(crate) alarm: Alarm,
    pub(crate) random: Stream,
}

impl MihNode {
    /// A function without sessions.
    pub fn new(mihf: Mihf, node: NodeId, random: Stream) -> MihNode {
        MihNode { mihf, node, sessions: Vec::new(), alarm: Alarm::default(), random }
    }
}

/// Whose users a session serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionUser {
    /// Those of a signalling entry.
    Signalling(u32),
    /// Those of a handover entry.
    MihHandover(u32),
    /// Those of a selection, by its number in `World::selected_handovers`.
    Selection(u32),
}

/// The transport of a session: MIH_NET_SAP's lower side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSocket {
    /// Whose session it is.
    pub user: SessionUser,
    /// The socket.
    pub socket: SocketId,
}

/// What the origin's user does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Event indications.
    Indication,
    /// Commands that are answered.
    Request,
    /// Indications of what happens to the links of the origin's node.
    LinkEvents,
}

/// What the messages of a signalling entry say, before they are padded to their size.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// The link that they are about: of the end that reports events or carries commands out.
    pub(crate) link: LinkTupleId,
    /// Of MIH_Link_Going_Down.indication.
    pub(crate) indication: Tlvs,
    /// Of MIH_Link_Get_Parameters.request.
    pub(crate) request: Tlvs,
    /// Of MIH_Link_Get_Parameters.response.
    pub(crate) response: Tlvs,
}

/// The time interval of MIH_Link_Going_Down: unknown.
const UNKNOWN_TIME_INTERVAL_MS: u16 = u16::MAX;

/// TLV 27, Get status request set: no link states, no link parameters, no descriptors.
const GET_STATUS_REQUEST_SET: u8 = 27;
const EMPTY_STATUS_REQUEST: [u8; 5] = [0; 5];

impl Content {
    fn new(node: NodeId) -> Content {
        // A locally administered address, made of the node's number.
        let [a, b, c, d] = node.0.to_be_bytes();
        let address = LinkAddress::Mac([0x02, 0, a, b, c, d]);
        let link = LinkId { link_type: LinkType::IEEE_802_11, address };
        let tuple = LinkTupleId { link: link.clone(), point_of_attachment: None };
        Content {
            indication: Tlvs::from([
                Tlv::LinkIdentifier(tuple.clone()),
                Tlv::TimeInterval(UNKNOWN_TIME_INTERVAL_MS),
                Tlv::LinkGoingDownReason(LinkGoingDownReason::LINK_PARAMETER_DEGRADING),
            ]),
            request: Tlvs::from([
                Tlv::LinkIdentifierList(vec![link]),
                Tlv::Raw {
                    tlv_type: GET_STATUS_REQUEST_SET,
                    value: OctetString::from(&EMPTY_STATUS_REQUEST[..]),
                },
            ]),
            response: Tlvs::from([Tlv::Status(Status::SUCCESS)]),
            link: tuple,
        }
    }

    /// The events that the receiver of indications subscribes to.
    pub(crate) fn events(&self) -> EventList {
        EventList::LINK_GOING_DOWN
    }
}

/// What messages call an end of a link: a locally administered address, made of that of the interface.
pub(crate) fn link_address(interface: Address) -> LinkAddress {
    let [a, b, c, d] = interface.0.to_be_bytes();
    LinkAddress::Mac([0x02, 1, a, b, c, d])
}

/// What the MIHF of a node hears of a link event, where base stations reach so far; `None`: nothing.
pub(crate) fn heard_by_mihf(event: LinkEvent, reach_m: f64) -> Option<mih::LinkEvent> {
    match event {
        LinkEvent::Detected { quality } => Some(mih::LinkEvent::Detected(quality.signal_strength(reach_m))),
        LinkEvent::ParametersReport { quality } => {
            let signal = mih::LinkParameter::Signal(quality.signal_strength(reach_m));
            Some(mih::LinkEvent::ParametersReport(signal))
        }
        LinkEvent::ErrorReport { packet_error_rate } => {
            let percent = (100.0 * packet_error_rate).round() as u8;
            Some(mih::LinkEvent::ParametersReport(mih::LinkParameter::PacketErrorPercent(percent)))
        }
        LinkEvent::Up => Some(mih::LinkEvent::Up),
        LinkEvent::Down(reason) => Some(mih::LinkEvent::Down(reason)),
        LinkEvent::GoingDown { within, reason, .. } | LinkEvent::GoingDownAgain { within, reason, .. } => {
            Some(mih::LinkEvent::GoingDown { within, reason })
        }
        LinkEvent::Rollback | LinkEvent::Lost | LinkEvent::ScanBegun | LinkEvent::ScanEnded => None,
    }
}

/// One end of a signalling entry: a session of a node's MIHF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The MIHF's number.
    pub mihf: u32,
    /// The session's number in it.
    pub session: u32,
}

/// How a transaction ended, seen from the user at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Neither delivered nor given up by the end of the run.
    Pending,
    /// The indication was delivered; a valid response was accepted.
    Success,
    /// Given up, and (an indication) not delivered.
    Failure,
}

/// A transaction of the origin's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number in the session.
    pub number: TransactionNumber,
    /// The user's call.
    pub generated: Time,
    /// First delivery of the indication, or of the valid response.
    pub completed: Option<Time>,
    /// The origin's MIHF has given it up.
    pub given_up: bool,
}

impl Transaction {
    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        match (self.completed, self.given_up) {
            (Some(_), _) => Outcome::Success,
            (None, true) => Outcome::Failure,
            (None, false) => Outcome::Pending,
        }
    }
}

/// What the responder's user has the origin's links do when they tell an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAction {
    /// The link: the origin's interface.
    pub link: Address,
    /// What.
    pub action: LinkActionType,
    /// Whether it scans.
    pub scans: bool,
    /// Upon which event.
    pub upon: MessageId,
    /// Of this link; `None`: of any.
    pub of: Option<Address>,
}

/// Thresholds that the responder's user configures at the origin's link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredThresholds {
    /// The link: the origin's interface.
    pub link: Address,
    /// What is configured.
    pub parameters: Vec<LinkConfigurationParameter>,
}

/// What counts, for the reports that the responder's user has configured, the frames that come in error over
/// a link of the origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorMeter {
    /// The link: the origin's interface.
    pub(crate) link: Address,
    /// Between reports.
    pub(crate) interval: Span,
    /// The next.
    pub(crate) next: Time,
    /// What had come at the last.
    pub(crate) before: Receptions,
}

/// A command of the responder's user to the origin's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkCommand {
    number: TransactionNumber,
    /// The link: the origin's interface.
    pub link: Address,
    /// In the words of the table of commands.
    pub command: &'static str,
    /// When it was made.
    pub asked: Time,
    /// When its answer came.
    pub answered: Option<Time>,
    /// What that says; nothing before, or where the command was given up.
    pub result: &'static str,
}

/// What describes a signalling entry.
#[derive(Clone, Debug)]
pub struct SignallingConfig {
    /// Its name in the scenario.
    pub name: String,
    /// What the origin's user does.
    pub kind: Kind,
    /// When a requester stops accepting, in the scenario's word; "none" without MIH acknowledgements.
    pub validity: String,
    /// Length of a whole MIH message, in octets; `None`: as long as it is.
    pub message_size: Option<Distribution>,
    /// Between messages, in nanoseconds; `None`: links say when.
    pub interval: Option<Distribution>,
    /// Of a request at the responder, in nanoseconds.
    pub processing_time: Distribution,
    /// Of link events, those that the responder's user subscribes to.
    pub events: EventList,
    /// From which confidence on Link_Going_Down is told, in percent.
    pub confidence_percent: u8,
    /// Of link events, the thresholds that user configures.
    pub thresholds: Vec<ConfiguredThresholds>,
    /// And the commands that it makes upon events.
    pub actions: Vec<LinkAction>,
    /// The first message.
    pub start: Time,
    /// Messages are made while the time is before this.
    pub stop: Time,
}

/// Room is made for so many transactions at most before there are any. Chosen: a third of a megabyte, which
/// many entries may have.
const MOST_AHEAD: u64 = 1 << 13;

/// The users of a signalling entry, and what they saw.
pub struct Signalling {
    /// What describes it.
    pub config: SignallingConfig,
    /// The end whose user makes indications or requests.
    pub origin: End,
    /// The other end.
    pub responder: End,
    /// All transactions so far, in order.
    pub transactions: Vec<Transaction>,
    /// Commands to the origin's links so far, in order.
    pub commands: Vec<LinkCommand>,
    /// Both sockets' exchange with IP until the start (origin, responder), and until the stop.
    pub traffic_at_start: Option<[Traffic; 2]>,
    /// See `traffic_at_start`.
    pub traffic_at_stop: Option<[Traffic; 2]>,
    /// Transaction states that both MIHFs held until the stop: origin, responder.
    pub states_at_stop: Option<[Held; 2]>,
    pub(crate) content: Content,
    pub(crate) set_up: bool,
    /// Links to whose events the responder's user has subscribed.
    pub(crate) subscribed: Vec<LinkId>,
    pub(crate) next: Option<Time>,
    pub(crate) error_meters: Vec<ErrorMeter>,
    /// Requests in work at the responder, in order of their due time.
    pub(crate) working: VecDeque<(Time, TransactionNumber)>,
    pub(crate) alarm: Alarm,
    pub(crate) origin_random: Stream,
    pub(crate) responder_random: Stream,
}

impl Signalling {
    /// Users that are silent until the start of the run; each has a random stream of its own. `reporter` is
    /// the node that events and commands are about.
    pub fn new(
        config: SignallingConfig,
        reporter: NodeId,
        origin: (End, Stream),
        responder: (End, Stream),
    ) -> Signalling {
        // Where messages come at even intervals it is known how many: what grows is copied again and again.
        let messages = match &config.interval {
            Some(Distribution::Constant(interval_ns)) => {
                config.stop.since(config.start).as_ns().div_ceil((*interval_ns).max(1)).min(MOST_AHEAD)
                    as usize
            }
            _ => 0,
        };
        Signalling {
            content: Content::new(reporter),
            next: config.interval.is_some().then_some(config.start),
            config,
            origin: origin.0,
            responder: responder.0,
            transactions: Vec::with_capacity(messages),
            commands: Vec::new(),
            traffic_at_start: None,
            traffic_at_stop: None,
            states_at_stop: None,
            set_up: false,
            subscribed: Vec::new(),
            error_meters: Vec::new(),
            working: VecDeque::new(),
            alarm: Alarm::default(),
            origin_random: origin.1,
            responder_random: responder.1,
        }
    }

    /// The earliest instant with work to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        if !self.set_up {
            return Some(Time::ZERO);
        }
        let mut earliest = self.next.unwrap_or(Time::MAX);
        if self.traffic_at_start.is_none() {
            earliest = earliest.min(self.config.start);
        }
        if self.traffic_at_stop.is_none() {
            earliest = earliest.min(self.config.stop);
        }
        if let Some(&(due, _)) = self.working.front() {
            earliest = earliest.min(due);
        }
        // After the stop nobody is told.
        let reports =
            self.error_meters.iter().map(|meter| meter.next).filter(|&next| next < self.config.stop);
        earliest = reports.fold(earliest, Time::min);
        (earliest < Time::MAX).then_some(earliest)
    }

    pub(crate) fn arm(&mut self, number: u32, moment: &mut Moment<'_>) {
        let deadline = self.deadline();
        self.alarm.arm(deadline, Event::Signalling(number), moment);
    }

    /// A request has reached the responder's user: it will be answered after its processing time.
    pub(crate) fn on_request(&mut self, now: Time, request: TransactionNumber) {
        let due = now + self.config.processing_time.sample_span(&mut self.responder_random);
        let at = self.working.partition_point(|&(other, _)| other <= due);
        self.working.insert(at, (due, request));
    }

    /// The length of the origin's next message.
    pub(crate) fn message_bytes(&mut self) -> Option<u32> {
        let size = self.config.message_size.as_ref();
        size.map(|size| size.sample(&mut self.origin_random) as u32)
    }

    /// The origin's user, or its links, have begun a transaction.
    pub(crate) fn begin(&mut self, now: Time, number: TransactionNumber) {
        self.transactions.push(Transaction { number, generated: now, completed: None, given_up: false });
    }

    /// The responder's user has made a command.
    pub(crate) fn commanded(
        &mut self,
        now: Time,
        number: TransactionNumber,
        link: Address,
        command: &'static str,
    ) {
        let (asked, answered, result) = (now, None, "");
        self.commands.push(LinkCommand { number, link, command, asked, answered, result });
    }

    /// And has its answer; `None`: it was given up.
    pub(crate) fn command_ended(
        &mut self,
        now: Time,
        number: TransactionNumber,
        result: Option<&'static str>,
    ) {
        if let Some(command) = self.commands.iter_mut().rfind(|command| command.number == number)
            && command.result.is_empty()
        {
            command.answered = result.map(|_| now);
            command.result = result.unwrap_or("given up");
        }
    }

    /// The user's record of a transaction. Management transactions have none.
    pub(crate) fn transaction(&mut self, number: TransactionNumber) -> Option<&mut Transaction> {
        // Numbers follow each other unless management has taken some.
        let behind = self.transactions.last()?.number.0.checked_sub(number.0)?;
        let near = self.transactions.len().checked_sub(1 + usize::try_from(behind).ok()?);
        let at = match near {
            Some(near) if self.transactions[near].number == number => near,
            _ => self.transactions.binary_search_by_key(&number, |transaction| transaction.number).ok()?,
        };
        self.transactions.get_mut(at)
    }
}
