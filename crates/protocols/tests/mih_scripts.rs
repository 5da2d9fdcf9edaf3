//! Runs the scripts of `mih_scripts/` on an MIHF: one behaviour a file, in a notation after packetdrill's.
//!
//! The script is the MIHF's transport, its peer and its user. A line is a time and an action; `//` starts a
//! comment. Times are in seconds: `0.3` from the start, `+0.1` after the line before. Every packet that the
//! MIHF sends and every event must be named, at its instant and in its order.
//!
//! ```text
//! config ack=100ms retransmissions=2 mode=separate validity=acked lifetime=1s rate=10 bucket=1 queue=5
//!        reliable                     first line; all keys are optional, without `ack` there are no ACKs
//! indicate [size N]                   the user sends an indication (MIH_Link_Going_Down)
//! request [size N]                    the user sends a request (MIH_Link_Actions)
//! respond N [size N]                  the user answers request N with a status
//! respond N refused                   ... and there is nothing to answer any more
//! register | deregister | subscribe | unsubscribe | discover
//! repeat N indicate                   N times, packets and events not looked at
//! > MESSAGE                           the MIHF sends it
//! < MESSAGE                           the peer sends it
//! < octets HEX                        the peer sends these octets
//! event NAME N                        the MIHF tells its user
//! stat NAME N                         a counter's value, or `rejected.REASON`, or of transaction states
//!                                     `states` (held now), `most_states`, `state_ms` (number over time)
//! timeout TIME | timeout none         the deadline that the MIHF has
//! ```
//! A MESSAGE is `Indication`, `Request`, `Response` or a name of the catalogue, or `Ack(...)` of one of them,
//! then `tid N`, then the flags that are set: `A` for ACK-Req, `R` for ACK-Rsp (an `Ack` has it always), and
//! `size N` where the size matters.

#[path = "script/folder.rs"]
mod folder;

use std::collections::VecDeque;
use std::sync::Arc;

use folder::scripts;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::wire::link::{
    EventList, LinkAddress, LinkGoingDownReason, LinkId, LinkTupleId, LinkType, RegisterRequestCode, Status,
};
use roamsim_protocols::mih::wire::message_id::CATALOGUE;
use roamsim_protocols::mih::{
    Acknowledgement, AcknowledgementMode, Event, Message, MessageId, Mihf, MihfId, RateLimit, Rejection,
    SessionConfig, SessionId, Tlv, Tlvs, TransactionNumber, Validity,
};
use roamsim_protocols::{Address, Context, Machine, PeerAddress};

const SESSION: SessionId = SessionId(0);
const REQUEST: MessageId = MessageId::LINK_ACTIONS_REQUEST;
const INDICATION: MessageId = MessageId::LINK_GOING_DOWN_INDICATION;

fn link_tuple() -> LinkTupleId {
    LinkTupleId::of_macs(LinkType::IEEE_802_11, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 9])
}

fn link() -> LinkId {
    LinkId { link_type: LinkType::IEEE_802_11, address: LinkAddress::Mac([2, 0, 0, 0, 0, 1]) }
}

/// The TLVs with which either side sends a message of the scripts.
fn content(mid: MessageId) -> Vec<Tlv> {
    let events = EventList::LINK_GOING_DOWN;
    match mid {
        INDICATION => vec![
            Tlv::LinkIdentifier(link_tuple()),
            Tlv::TimeInterval(9000),
            Tlv::LinkGoingDownReason(LinkGoingDownReason::LINK_PARAMETER_DEGRADING),
        ],
        REQUEST => vec![Tlv::LinkActionsList(Vec::new())],
        MessageId::REGISTER_REQUEST => vec![
            Tlv::LinkIdentifierList(vec![link()]),
            Tlv::RegisterRequestCode(RegisterRequestCode::REGISTRATION),
        ],
        MessageId::REGISTER_RESPONSE => vec![Tlv::Status(Status::SUCCESS), Tlv::ValidTimeInterval(60)],
        MessageId::EVENT_SUBSCRIBE_REQUEST | MessageId::EVENT_UNSUBSCRIBE_REQUEST => {
            vec![Tlv::LinkIdentifier(link_tuple()), Tlv::EventList(events)]
        }
        MessageId::EVENT_SUBSCRIBE_RESPONSE | MessageId::EVENT_UNSUBSCRIBE_RESPONSE => {
            vec![Tlv::Status(Status::SUCCESS), Tlv::LinkIdentifier(link_tuple()), Tlv::EventList(events)]
        }
        MessageId::CAPABILITY_DISCOVER_REQUEST => vec![Tlv::EventList(events)],
        MessageId::DEREGISTER_REQUEST => Vec::new(),
        _ => vec![Tlv::Status(Status::SUCCESS)],
    }
}

fn kind_of(name: &str) -> Result<MessageId, String> {
    match name {
        "Indication" => Ok(INDICATION),
        "Request" => Ok(REQUEST),
        "Response" => Ok(REQUEST.response()),
        _ => CATALOGUE
            .iter()
            .find(|description| description.name == name)
            .map(|description| description.id)
            .ok_or_else(|| format!("no message is called {name:?}")),
    }
}

fn name_of(mid: MessageId) -> String {
    match mid {
        INDICATION => "Indication".into(),
        REQUEST => "Request".into(),
        _ if mid == REQUEST.response() => "Response".into(),
        _ => mid.to_string(),
    }
}

/// A message in the notation, with its size where `sized`.
fn describe(message: &Message, sized: bool) -> String {
    let name = name_of(message.mid);
    let mut text = if message.is_acknowledgement() { format!("Ack({name})") } else { name };
    text += &format!(" tid {}", message.tid);
    if message.ack_req {
        text += " A";
    }
    if message.ack_rsp && !message.is_acknowledgement() {
        text += " R";
    }
    if sized {
        text += &format!(" size {}", message.encoded_bytes());
    }
    text
}

fn parse_message(text: &str) -> Result<Message, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [kind, "tid", tid, flags @ ..] = words.as_slice() else {
        return Err(format!("{text:?} is not `KIND tid N FLAGS`"));
    };
    let (kind, acknowledges) = match kind.strip_prefix("Ack(").and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => (inner, true),
        None => (*kind, false),
    };
    let mid = kind_of(kind)?;
    let mut ack_req = false;
    let mut ack_rsp = acknowledges;
    for flag in flags {
        match *flag {
            "A" => ack_req = true,
            "R" => ack_rsp = true,
            _ => return Err(format!("{flag:?} is no flag")),
        }
    }
    Ok(Message {
        mid,
        tid: tid.parse().map_err(|_| format!("{tid:?} is no transaction ID"))?,
        ack_req,
        ack_rsp,
        uir: false,
        source: MihfId::new("pos").unwrap(),
        destination: MihfId::new("mn").unwrap(),
        tlvs: if acknowledges { Tlvs::from([]) } else { Tlvs::from(content(mid)) },
    })
}

fn describe_event(event: &Event) -> String {
    match event {
        Event::IndicationReceived { number, .. } => format!("IndicationReceived {}", number.0),
        Event::RequestReceived { number, .. } => format!("RequestReceived {}", number.0),
        Event::ResponseReceived { number, .. } => format!("ResponseReceived {}", number.0),
        Event::Acknowledged { number, .. } => format!("Acknowledged {}", number.0),
        Event::ResponseAcknowledged { number, .. } => format!("ResponseAcknowledged {}", number.0),
        Event::TransactionFailed { number, reason, .. } => {
            format!("TransactionFailed {} {reason:?}", number.0)
        }
        Event::ResponseFailed { number, .. } => format!("ResponseFailed {}", number.0),
        Event::Registered { status, valid_time_s, .. } => format!("Registered {} {valid_time_s}", status.0),
        Event::Deregistered { status, .. } => format!("Deregistered {}", status.0),
        Event::Subscribed { status, events, .. } => format!("Subscribed {} {:08x}", status.0, events.0),
        Event::Unsubscribed { status, events, .. } => format!("Unsubscribed {} {:08x}", status.0, events.0),
        Event::CapabilitiesDiscovered { peer, status, .. } => {
            format!("CapabilitiesDiscovered {peer} {}", status.0)
        }
        Event::PeerRegistered { links, .. } => format!("PeerRegistered {}", links.len()),
        Event::PeerConfigured { parameters, .. } => format!("PeerConfigured {}", parameters.len()),
        Event::PeerDeregistered { .. } => "PeerDeregistered".into(),
        Event::PeerSubscribed { events, .. } => format!("PeerSubscribed {:08x}", events.0),
        Event::PeerUnsubscribed { events, .. } => format!("PeerUnsubscribed {:08x}", events.0),
    }
}

fn seconds(text: &str) -> Result<Span, String> {
    let (number, unit_ns) = match text {
        _ if text.ends_with("ms") => (&text[..text.len() - 2], 1e6),
        _ if text.ends_with('s') => (&text[..text.len() - 1], 1e9),
        _ => (text, 1e9),
    };
    let number: f64 = number.parse().map_err(|_| format!("{text:?} is no time"))?;
    Ok(Span::from_ns((number * unit_ns).round() as u64))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn configuration(keys: &[&str]) -> Result<SessionConfig, String> {
    let mut timeout = None;
    let mut retransmissions = 2;
    let mut mode = AcknowledgementMode::Separate;
    let mut config = SessionConfig {
        peer: MihfId::new("pos").unwrap(),
        remote: PeerAddress { address: Address(7), port: 4551 },
        reliable: false,
        acknowledgement: None,
        validity: Validity::Acked,
        lifetime: None,
        timers: Arc::from([]),
        rate_limit: None,
    };
    for key in keys {
        let (name, value) = key.split_once('=').unwrap_or((key, ""));
        let limit =
            config.rate_limit.unwrap_or(RateLimit { bucket_packets: 1, rate_per_s: 1.0, queue_packets: 0 });
        match name {
            "ack" => timeout = Some(seconds(value)?),
            "retransmissions" => retransmissions = number(value)?,
            "mode" => {
                mode = match value {
                    "separate" => AcknowledgementMode::Separate,
                    "piggyback" => AcknowledgementMode::Piggyback,
                    _ => return Err(format!("{value:?} is no mode")),
                }
            }
            "validity" => {
                config.validity = match value {
                    "open" => Validity::Open,
                    "acked" => Validity::Acked,
                    "strict" => Validity::Strict,
                    _ => return Err(format!("{value:?} is no validity")),
                }
            }
            "lifetime" => config.lifetime = Some(seconds(value)?),
            "rate" => config.rate_limit = Some(RateLimit { rate_per_s: number(value)?, ..limit }),
            "bucket" => config.rate_limit = Some(RateLimit { bucket_packets: number(value)?, ..limit }),
            "queue" => config.rate_limit = Some(RateLimit { queue_packets: number(value)?, ..limit }),
            "reliable" => config.reliable = true,
            "peer" => config.peer = MihfId::new(value).map_err(|error| error.to_string())?,
            _ => return Err(format!("{name:?} is no key")),
        }
    }
    config.acknowledgement = timeout.map(|timeout| Acknowledgement { timeout, retransmissions, mode });
    Ok(config)
}

/// An MIHF under a script.
struct Run {
    mihf: Mihf,
    now: Time,
    random: Stream,
    packets: VecDeque<(Time, Arc<Message>)>,
    events: VecDeque<(Time, Event)>,
}

impl Run {
    fn new(config: SessionConfig) -> Run {
        let mut mihf = Mihf::new(MihfId::new("mn").unwrap());
        mihf.add_session(config);
        Run {
            mihf,
            now: Time::ZERO,
            random: Stream::new(0, 0, "script"),
            packets: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Something with the MIHF and a context.
    fn with<T>(&mut self, act: impl FnOnce(&mut Mihf, &mut Context<'_>) -> T) -> T {
        let mut cx = Context { now: self.now, random: &mut self.random };
        act(&mut self.mihf, &mut cx)
    }

    fn collect(&mut self) {
        while let Some(event) = self.mihf.poll_event() {
            self.events.push_back((self.now, event));
        }
    }

    fn collect_packets(&mut self) {
        while let Some(request) = self.with(|mihf, cx| mihf.poll_transmit(cx)) {
            assert_eq!(request.session, SESSION);
            self.packets.push_back((self.now, request.pdu));
        }
        self.collect();
    }

    /// Lets time pass; what is due before `until` is done at its instant, what is due at `until` is not, so
    /// that the script acts before the timers where both come at once.
    fn advance(&mut self, until: Time) -> Result<(), String> {
        loop {
            // A user who answers at once does so before packets leave.
            self.collect();
            if until > self.now {
                self.collect_packets();
            }
            let Some(at) = self.mihf.poll_timeout().filter(|&at| at < until) else { break };
            if at < self.now {
                return Err(format!("the deadline {at} is over"));
            }
            self.now = at;
            self.with(|mihf, cx| mihf.handle_timeout(cx));
        }
        self.now = until;
        Ok(())
    }

    /// Does what is due now.
    fn settle(&mut self) {
        self.collect_packets();
        while self.mihf.poll_timeout().is_some_and(|at| at <= self.now) {
            self.with(|mihf, cx| mihf.handle_timeout(cx));
            self.collect_packets();
        }
    }

    fn act(&mut self, words: &[&str]) -> Result<(), String> {
        let size = |words: &[&str]| match words {
            ["size", size] => number(size).map(Some),
            [] => Ok(None),
            _ => Err(format!("{words:?} is not `size N`")),
        };
        match words {
            ["indicate", rest @ ..] => {
                let size = size(rest)?;
                self.with(|mihf, cx| mihf.indicate(cx, SESSION, INDICATION, content(INDICATION), size));
            }
            ["request", rest @ ..] => {
                let size = size(rest)?;
                self.with(|mihf, cx| mihf.request(cx, SESSION, REQUEST, content(REQUEST), size));
            }
            ["respond", request, rest @ ..] => {
                let request = TransactionNumber(number(request)?);
                let refused = rest == ["refused"];
                let size = if refused { None } else { size(rest)? };
                let tlvs = content(REQUEST.response());
                let sent = self.with(|mihf, cx| mihf.respond(cx, SESSION, request, tlvs, size));
                if sent == refused {
                    return Err(format!("the response was {}", if sent { "sent" } else { "refused" }));
                }
            }
            ["register"] => self.with(|mihf, cx| mihf.register(cx, SESSION, vec![link()])),
            ["deregister"] => self.with(|mihf, cx| mihf.deregister(cx, SESSION)),
            ["subscribe"] => {
                self.with(|mihf, cx| mihf.subscribe(cx, SESSION, link_tuple(), EventList::LINK_GOING_DOWN));
            }
            ["unsubscribe"] => {
                self.with(|mihf, cx| mihf.unsubscribe(cx, SESSION, link_tuple(), EventList::LINK_GOING_DOWN));
            }
            ["discover"] => self.with(|mihf, cx| mihf.discover(cx, SESSION)),
            ["repeat", times, rest @ ..] => {
                for _ in 0..number::<u32>(times)? {
                    self.act(rest)?;
                    self.collect_packets();
                    self.packets.clear();
                    self.events.clear();
                }
            }
            ["<", "octets", hexadecimal] => {
                let octets: Result<Vec<u8>, _> = (0..hexadecimal.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(hexadecimal.get(at..at + 2).unwrap_or("?"), 16))
                    .collect();
                let octets = octets.map_err(|_| format!("{hexadecimal:?} are no octets"))?;
                self.with(|mihf, cx| mihf.tp_data_octets(cx, SESSION, &octets));
            }
            ["<", "octets"] => self.with(|mihf, cx| mihf.tp_data_octets(cx, SESSION, &[])),
            ["<", rest @ ..] => {
                let message = Arc::new(parse_message(&rest.join(" "))?);
                self.with(|mihf, cx| mihf.tp_data_indication(cx, SESSION, message));
            }
            [">", rest @ ..] => {
                self.settle();
                let expected = rest.join(" ");
                let sized = rest.contains(&"size");
                let next = self.packets.pop_front();
                let found = next.map(|(at, message)| (at, describe(&message, sized)));
                if found != Some((self.now, expected)) {
                    return Err(match found {
                        Some((at, found)) => format!("instead, at {at}: > {found}"),
                        None => "the MIHF sends nothing".into(),
                    });
                }
            }
            ["event", rest @ ..] => {
                if self.events.is_empty() {
                    self.settle();
                }
                let found = self.events.pop_front().map(|(at, event)| (at, describe_event(&event)));
                if found != Some((self.now, rest.join(" "))) {
                    return Err(match found {
                        Some((at, found)) => format!("instead, at {at}: event {found}"),
                        None => "there is no event".into(),
                    });
                }
            }
            ["stat", name, value] => {
                self.settle();
                let found = self.stat(name)?;
                if found != number::<u64>(value)? {
                    return Err(format!("{name} is {found}"));
                }
            }
            ["timeout", value] => {
                self.settle();
                let expected = match *value {
                    "none" => None,
                    at => Some(Time::ZERO + seconds(at)?),
                };
                let found = self.mihf.poll_timeout();
                if found != expected {
                    return Err(format!("the deadline is {found:?}"));
                }
            }
            ["end"] => self.settle(),
            _ => return Err("this is no action".into()),
        }
        Ok(())
    }

    fn stat(&self, name: &str) -> Result<u64, String> {
        let stats = self.mihf.stats(SESSION);
        if let Some(reason) = name.strip_prefix("rejected.") {
            let reason = Rejection::ALL
                .into_iter()
                .find(|rejection| rejection.name() == reason)
                .ok_or_else(|| format!("{reason:?} is no reason"))?;
            return Ok(stats.rejected(reason));
        }
        let states = self.mihf.states(SESSION, self.now);
        Ok(match name {
            "states" => states.now,
            "most_states" => states.most,
            "state_ms" => (states.area_ns / 1_000_000) as u64,
            "indications" => stats.indications,
            "requests" => stats.requests,
            "responses" => stats.responses,
            "first_transmissions" => stats.packets.first_transmissions,
            "retransmissions" => stats.packets.retransmissions,
            "acks" => stats.packets.acks,
            "management" => self.mihf.management_stats(SESSION).packets.total(),
            "given_up" => stats.given_up,
            "responses_given_up" => stats.responses_given_up,
            "lifetimes_over" => stats.lifetimes_over,
            "late_responses" => stats.late_responses,
            "late_acks" => stats.late_acks,
            "duplicate_acks" => stats.duplicate_acks,
            "duplicates" => stats.duplicates,
            "rate_limited" => stats.rate_limited,
            "redelivered" => stats.redelivered,
            "id_reuses" => stats.id_reuses,
            "queued" => self.mihf.queued_packets(SESSION) as u64,
            _ => return Err(format!("{name:?} is no counter")),
        })
    }

    fn nothing_left_before(&mut self, instant: Time) -> Result<(), String> {
        if let Some((at, message)) = self.packets.front().filter(|(at, _)| *at < instant) {
            return Err(format!("before this, at {at}: > {}", describe(message, false)));
        }
        if let Some((at, event)) = self.events.front().filter(|(at, _)| *at < instant) {
            return Err(format!("before this, at {at}: event {}", describe_event(event)));
        }
        Ok(())
    }
}

fn run_script(script: &str) -> Result<(), String> {
    let mut run = Run::new(configuration(&[])?);
    for (index, line) in script.lines().enumerate() {
        let text = line.split("//").next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let at_line = |error: String| format!("line {}: {text}\n    {error}", index + 1);
        if words[0] == "config" {
            run = Run::new(configuration(&words[1..]).map_err(at_line)?);
            continue;
        }
        let mut step = || {
            let at = match words[0].strip_prefix('+') {
                Some(delta) => run.now + seconds(delta)?,
                None => Time::ZERO + seconds(words[0])?,
            };
            if at < run.now {
                return Err("the time is over".to_owned());
            }
            run.advance(at)?;
            run.nothing_left_before(at)?;
            run.act(&words[1..])
        };
        step().map_err(at_line)?;
    }
    run.settle();
    run.nothing_left_before(Time::MAX).map_err(|error| format!("at the end: {error}"))
}

#[test]
fn every_script_passes() {
    let scripts = scripts("mih_scripts");
    assert!(scripts.len() >= 20, "only {} scripts were found", scripts.len());
    let failures: Vec<String> = scripts
        .iter()
        .filter_map(|(name, script)| Some(format!("{name}.pkt, {}", run_script(script).err()?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_script_that_expects_something_else_fails() {
    let good = "config ack=100ms\n0 indicate\n+0 > Indication tid 1 A\n+0.02 < Ack(Indication) tid 1\n\
                +0 event Acknowledged 1";
    assert_eq!(run_script(good), Ok(()));
    for (right, wrong) in [
        ("+0 > Indication tid 1 A", "+0 > Indication tid 1"),
        ("+0 > Indication tid 1 A", "+0.01 > Indication tid 1 A"),
        ("+0 > Indication tid 1 A", "+0 timeout 0.1"),
        ("+0 event Acknowledged 1", "+0 event Acknowledged 2"),
        ("+0 event Acknowledged 1", "+0 timeout none"),
        ("+0.02 < Ack(Indication) tid 1", "+0.1 < Ack(Indication) tid 1"),
    ] {
        let bad = good.replace(right, wrong);
        assert_ne!(bad, good);
        assert!(run_script(&bad).is_err(), "passes: {bad}");
    }
}
