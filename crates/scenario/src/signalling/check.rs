//! IEEE 802.21 signalling.

use roamsim_engine::Span;
use roamsim_protocols::mih::wire::octets::length_octets;

use super::build::USABILITY;
use crate::access::stations::THAT_COME_AND_GO;
use crate::access::{Access, Compares, Network};
use crate::distribution::check::{check_distribution, check_size};
use crate::names::Names;
use crate::report::{At, Key, Report, Step, join};
use crate::signalling::model::{
    Acknowledgement, AcknowledgementMode, Crossing, LinkActionKind, LinkThreshold, RateLimit, Signalling,
    SignallingKind, SubscribedEvent,
};
use crate::timing::check_times;
use crate::topology::Topology;
use crate::transport::quic::model::QuicMessages;
use crate::transport::udp::check_datagram;
use crate::transport::{Transport, check as transport};

/// The fixed header (IEEE 802.21-2008 section 8.4.1).
pub(crate) const HEADER_BYTES: u64 = 8;

/// LINK_ID of a MAC address: link type, selector, family, length and six octets (IEEE 802.21-2008 annex F).
const LINK_ID_BYTES: u64 = 11;

/// The TLV of REG_REQUEST_CODE: type, length, one octet.
const REGISTER_CODE_TLV_BYTES: u64 = 3;

/// The largest message: the header and what its 16-bit length can say.
const MAX_MESSAGE_BYTES: u64 = HEADER_BYTES + 65_535;

pub(crate) fn check(
    sources: &[Signalling],
    network: &Network<'_>,
    names: &Names<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    for (i, source) in sources.iter().enumerate() {
        let at = [Key("signalling"), At(i)];
        let ends = names
            .resolve_ends(&at, &source.from, &source.to, report)
            .filter(|&ends| topology.check_route(&at, ends, network.nodes, report));
        let at_transport = join(&at, ["transport"]);
        transport::check(&at_transport, &source.transport, ends, network, topology, report);
        transport::check_messages(&at_transport, &source.transport, report);
        if let Transport::Quic(quic) = &source.transport
            && quic.messages == QuicMessages::Datagrams
        {
            let message = "MIH messages over QUIC go on streams, because they have any size";
            report.add(&join(&at_transport, ["messages"]), message, "leave `messages` out");
        }
        check_times(&at, &source.start, source.stop, network.duration(), report);
        check_sizes(&at, source, report);
        if matches!(source.transport, Transport::Udp(_)) {
            let steps = join(&at, ["message_size"]);
            if let Some(size) = &source.message_size {
                check_datagram(&steps, size.max_bytes(), network, report);
            }
        }
        if let Some(interval) = &source.interval {
            let zero = Some("messages without time between them never end");
            check_distribution(&join(&at, ["interval"]), interval, zero, report);
        }
        check_pace(&at, source, report);
        check_events(&at, source, report);
        check_confidence(&at, source, report);
        check_commands(&at, source, network, report);
        if source.kind == SignallingKind::LinkEvents && matches!(source.transport, Transport::Udp(_)) {
            check_registration(&at, source, network, report);
        }
        check_distribution(&join(&at, ["processing_time"]), &source.processing_time, None, report);
        check_exchange(&at, source, report);
    }
}

/// Bytes of an MIHF ID as a TLV: type, length, and an octet string with a length of its own.
pub(crate) fn id_tlv_bytes(id: &str) -> u64 {
    let string_bytes = id.len() as u64 + length_bytes(id.len() as u64);
    1 + length_bytes(string_bytes) + string_bytes
}

/// Bytes of a length field for a value of `n` bytes.
fn length_bytes(n: u64) -> u64 {
    length_octets(n as usize) as u64
}

fn check_sizes(at: &[Step], source: &Signalling, report: &mut Report<'_>) {
    let steps = join(at, ["message_size"]);
    let Some(size) = &source.message_size else { return };
    if !check_size(&steps, size, report) {
        return;
    }
    let least_bytes = HEADER_BYTES + id_tlv_bytes(&source.from) + id_tlv_bytes(&source.to);
    if size.min_bytes() < least_bytes {
        let message = format!("an MIH message between these two has at least {least_bytes} B");
        let help = format!(
            "the header takes 8 B, and the MIHF IDs \"{}\" and \"{}\" the rest; write \"{least_bytes}B\" or more",
            source.from, source.to
        );
        report.add(&steps, message, help);
    }
    if size.max_bytes() > MAX_MESSAGE_BYTES {
        let message =
            format!("an MIH message has {MAX_MESSAGE_BYTES} B at most: its length field has 16 bits");
        report.add(&steps, message, format!("write \"{MAX_MESSAGE_BYTES}B\" or less"));
    }
}

/// Checks who says when there is a message, and how long it is.
fn check_pace(at: &[Step], source: &Signalling, report: &mut Report<'_>) {
    if source.kind == SignallingKind::LinkEvents {
        if source.interval.is_some() {
            let message = "link events have no interval: each comes when a link changes";
            let help = "leave `interval` out, or write kind = \"indication\"";
            report.add(&join(at, ["interval"]), message, help);
        }
        return;
    }
    if source.message_size.is_none() {
        let help = "write for example message_size = \"200B\", or kind = \"link_events\"";
        report.add(at, format!("the messages of \"{}\" need a `message_size`", source.name), help);
    }
    if source.interval.is_none() {
        let help = "write for example interval = \"500ms\", or kind = \"link_events\"";
        report.add(at, format!("the messages of \"{}\" need an `interval`", source.name), help);
    }
}

/// Checks the events that are subscribed to.
fn check_events(at: &[Step], source: &Signalling, report: &mut Report<'_>) {
    let Some(events) = &source.events else { return };
    let steps = join(at, ["events"]);
    if source.kind != SignallingKind::LinkEvents {
        let message = "only the links of a node have events to subscribe to";
        report.add(&steps, message, "leave `events` out, or write kind = \"link_events\"");
    }
    if events.is_empty() {
        let help = "name events, such as [\"link_up\", \"link_down\"], or leave `events` out";
        report.add(&steps, "without events nothing is sent", help);
    }
    for (j, event) in events.iter().enumerate() {
        if events[..j].contains(event) {
            let mut steps = steps.clone();
            steps.push(At(j));
            report.add(&steps, "this event is named twice", "name each event once");
        }
    }
}

/// Checks who waits for a confidence: he is told of Link_Going_Down.
fn check_confidence(at: &[Step], source: &Signalling, report: &mut Report<'_>) {
    if source.confidence.is_none() {
        return;
    }
    let steps = join(at, ["confidence"]);
    let told = source.events.as_deref().unwrap_or(&USABILITY).contains(&SubscribedEvent::LinkGoingDown);
    if source.kind != SignallingKind::LinkEvents {
        let message = "only link events have a confidence";
        report.add(&steps, message, "leave `confidence` out, or write kind = \"link_events\"");
    } else if !told {
        let message = format!("\"{}\" does not get Link_Going_Down, which has the confidence", source.to);
        report.add(&steps, message, "add \"link_going_down\" to `events`, or leave `confidence` out");
    }
}

/// Checks a value of a threshold of a cell's signal: one, of the unit in which that tells it.
pub(crate) fn check_threshold(
    place: &[Step],
    access: &dyn Access,
    (dbm, percent, direction): (Option<i8>, Option<u8>, Crossing),
    report: &mut Report<'_>,
) {
    let by_distance = access.compares() == Compares::Distances;
    let name = access.name();
    match (dbm, percent) {
        (Some(_), None) if by_distance => {
            let message = format!("in \"{name}\" a distance stands for the signal, in percent");
            report.add(&join(place, ["dbm"]), message, "write `percent`, such as percent = 30");
        }
        (None, Some(_)) if !by_distance => {
            let message = format!("\"{name}\" tells its signal in dBm");
            report.add(&join(place, ["percent"]), message, "write `dbm`, such as dbm = -75");
        }
        (None, Some(percent)) => check_percent(place, "percent", percent, direction, report),
        (Some(_), None) => {}
        _ => {
            let message = "a threshold is either `dbm` or `percent`";
            report.add(place, message, "write `dbm` or `percent`, such as dbm = -75");
        }
    }
}

/// Checks a value of 0 to 100 percent, which can be crossed.
fn check_percent(
    place: &[Step],
    key: &'static str,
    percent: u8,
    direction: Crossing,
    report: &mut Report<'_>,
) {
    let (message, help) = match (direction, percent) {
        (_, 101..) => ("there are 100 percent", "write a number from 0 to 100"),
        (Crossing::Above, 100) => ("no value is above 100 percent", "write 99 or less"),
        (Crossing::Below, 0) => ("no value is below 0 percent", "write 1 or more"),
        _ => return,
    };
    report.add(&join(place, [key]), message, help);
}

/// Checks thresholds and actions: of which links, and whether these can.
fn check_commands(at: &[Step], source: &Signalling, network: &Network<'_>, report: &mut Report<'_>) {
    for (key, some) in
        [("thresholds", !source.thresholds.is_empty()), ("actions", !source.actions.is_empty())]
    {
        if some && source.kind != SignallingKind::LinkEvents {
            let message = "only a user that gets link events commands links";
            let help = format!("leave `{key}` out, or write kind = \"link_events\"");
            report.add(&join(at, [key]), message, help);
            return;
        }
    }
    let member = |name: &str| {
        let cells = network.accesses().map(|entry| entry.access);
        let mut stations = cells.filter(|cell| cell.name() == name && cell.beacon_period().is_some());
        stations.find(|cell| cell.pairs().iter().any(|pair| pair.nodes[1] == source.from))
    };
    let unknown = |name: &str| {
        let message = format!("\"{}\" is not a station of \"{name}\"", source.from);
        (message, format!("name {THAT_COME_AND_GO} that it is a station of"))
    };
    let is = |name: &str, what: fn(&dyn Access, &str) -> bool| {
        network.accesses().any(|entry| entry.access.name() == name && what(entry.access, &source.from))
    };
    let counts_errors = |name: &str| is(name, |access, node| access.counts_errors_at(node));
    let is_switched = |name: &str| is(name, |access, node| access.is_switched_at(node));
    for (j, threshold) in source.thresholds.iter().enumerate() {
        let place = [&join(at, ["thresholds"])[..], &[At(j)]].concat();
        let counted = counts_errors(&threshold.link);
        if threshold.packet_error_percent.is_some() || counted {
            check_error_threshold(&place, (source, threshold), counted, report);
            continue;
        }
        if threshold.report_interval.is_some() {
            let message = format!("\"{}\" reports its signal at its own interval", threshold.link);
            report.add(&join(&place, ["report_interval"]), message, "leave `report_interval` out");
        }
        let Some(access) = member(&threshold.link) else {
            let (message, help) = unknown(&threshold.link);
            report.add(&join(&place, ["link"]), message, help);
            continue;
        };
        check_threshold(&place, access, (threshold.dbm, threshold.percent, threshold.direction), report);
    }
    let events = source.events.as_deref().unwrap_or(&USABILITY);
    for (j, action) in source.actions.iter().enumerate() {
        let place = [&join(at, ["actions"])[..], &[At(j)]].concat();
        let reports = action.upon == SubscribedEvent::LinkParametersReport;
        for (key, name) in [("link", Some(&action.link)), ("of", action.of.as_ref())] {
            if let Some(name) = name
                && member(name).is_none()
                && !is_switched(name)
                && !(key == "of" && reports && counts_errors(name))
            {
                let message = format!("\"{name}\" is not a link of \"{}\" that obeys commands", source.from);
                let help = format!(
                    "name {THAT_COME_AND_GO} that it is a station of, a [[link]] of it, or a [[dect]] without `fixed_bearers` whose \
                     terminal it is"
                );
                report.add(&join(&place, [key]), message, help);
            }
        }
        let is_of = |link: &str| action.of.as_deref().is_none_or(|of| of == link);
        let told = events.contains(&action.upon)
            || reports && source.thresholds.iter().any(|threshold| is_of(&threshold.link));
        if !told {
            let message = format!("\"{}\" does not get this event", source.to);
            report.add(&join(&place, ["upon"]), message, "add it to `events`, or name one of them");
        }
        let cell = member(&action.link);
        let keeps_all = network.nodes.iter().any(|node| node.name == *source.from && node.multihomed);
        if action.action == LinkActionKind::Scan && !cell.is_some_and(|cell| cell.scans_when_told()) {
            let message = format!("the link of \"{}\" cannot scan on command", action.link);
            let help = "name a [[wifi]] with `beacons`, or a [[wimax]] with `scanning` in its `entry`";
            report.add(&join(&place, ["action"]), message, help);
        } else if action.action != LinkActionKind::Scan && cell.is_some() && !keeps_all {
            let message = format!("\"{}\" is in one cell at a time, and chooses that by itself", source.from);
            let help = format!("write multihomed = true in [[node]] \"{}\"", source.from);
            report.add(&join(&place, ["action"]), message, help);
        }
    }
}

/// Checks a threshold of packet errors: of a link that tells them, with the interval in which they are
/// counted.
fn check_error_threshold(
    place: &[Step],
    (source, threshold): (&Signalling, &LinkThreshold),
    counted: bool,
    report: &mut Report<'_>,
) {
    let name = &threshold.link;
    if !counted {
        let message = format!("\"{name}\" is not a link of \"{}\" that reports its errors", source.from);
        let help =
            "name a [[link]] or a [[dect]] of it, or write a threshold of the signal, `dbm` or `percent`";
        return report.add(&join(place, ["link"]), message, help);
    }
    if threshold.dbm.is_some() || threshold.percent.is_some() {
        let key = if threshold.dbm.is_some() { "dbm" } else { "percent" };
        let message = format!("\"{name}\" has no signal");
        let help = "write a threshold of its packet errors, such as packet_error_percent = 5, report_interval = \"1s\"";
        return report.add(&join(place, [key]), message, help);
    }
    match threshold.packet_error_percent {
        None => {
            let help =
                "write packet_error_percent, such as packet_error_percent = 5, report_interval = \"1s\"";
            return report.add(place, format!("\"{name}\" reports only packet errors"), help);
        }
        Some(percent) => {
            check_percent(place, "packet_error_percent", percent, threshold.direction, report);
        }
    }
    let Some(interval) = threshold.report_interval else {
        let help = "write `report_interval`, such as report_interval = \"1s\"";
        return report.add(place, "packet errors are counted in an interval", help);
    };
    let fits = interval.as_ns() % 1_000_000 == 0
        && (1..=u64::from(u16::MAX)).contains(&(interval.as_ns() / 1_000_000));
    if !fits {
        let message = "the message has a report interval of whole milliseconds, in 16 bits";
        report.add(&join(place, ["report_interval"]), message, "write \"1ms\" to \"65535ms\"");
    }
    let mut of_it = source.thresholds.iter().filter(|other| other.link == *name);
    if of_it.any(|other| other.report_interval.is_some_and(|other| other < interval)) {
        let message = format!("packet errors of \"{name}\" are counted in two intervals");
        report.add(&join(place, ["report_interval"]), message, "write the same in all thresholds of a link");
    }
}

/// Checks that the links of the origin fit into the one message that registers them.
fn check_registration(at: &[Step], source: &Signalling, network: &Network<'_>, report: &mut Report<'_>) {
    let pairs = network.accesses().flat_map(|entry| entry.access.pairs().into_iter().map(|pair| pair.nodes));
    let links = pairs.filter(|nodes| nodes.contains(&source.from.as_str())).count() as u64;
    // Of MIH_Register.request (IEEE 802.21-2008 annex L): link identifiers of 11 B each in a list in a TLV,
    // and a code.
    let list_bytes = length_bytes(links) + links * LINK_ID_BYTES;
    let message_bytes = HEADER_BYTES
        + id_tlv_bytes(&source.from)
        + id_tlv_bytes(&source.to)
        + 1
        + length_bytes(list_bytes)
        + list_bytes
        + REGISTER_CODE_TLV_BYTES;
    check_datagram(&join(at, ["transport"]), message_bytes, network, report);
}

fn check_exchange(at: &[Step], source: &Signalling, report: &mut Report<'_>) {
    let indication = source.kind != SignallingKind::Request;
    if indication && !source.processing_time.is_zero() {
        let help = "leave `processing_time` out, or write kind = \"request\"";
        report.add(&join(at, ["processing_time"]), "an indication has no response to process", help);
    }
    if indication
        && source.acknowledgement.is_some_and(|settings| settings.mode == AcknowledgementMode::Piggyback)
    {
        let steps = join(at, ["acknowledgement", "mode"]);
        let help = "write mode = \"separate\", or kind = \"request\"";
        report.add(&steps, "an indication has no response that could carry the acknowledgement", help);
    }
    if indication && !source.messages.is_empty() {
        let help = "write its timers as `acknowledgement`, or kind = \"request\"";
        report.add(&join(at, ["messages"]), "an indication is one message, without a response", help);
    }
    let timers = source.messages.iter().map(|timers| (timers.message, timers.timeout));
    check_timers(at, timers, source.acknowledgement, report);
    check_transactions(at, (source.acknowledgement, source.lifetime, source.rate_limit), report);
}

/// Checks the timers of messages that have their own: which message, and its timeout.
pub(crate) fn check_timers<M: PartialEq>(
    at: &[Step],
    timers: impl Iterator<Item = (M, Span)>,
    acknowledgement: Option<Acknowledgement>,
    report: &mut Report<'_>,
) {
    let mut named = Vec::new();
    for (j, (message, timeout)) in timers.enumerate() {
        let steps = |key| [at, &[Key("messages"), At(j), Key(key)]].concat();
        if timeout == Span::ZERO {
            let help = "write a time above zero; without retransmission, write retransmissions = 0";
            report.add(&steps("timeout"), "this time must be above zero", help);
        }
        if named.contains(&message) {
            report.add(&steps("message"), "this message is named twice", "name each message once");
        }
        named.push(message);
    }
    if !named.is_empty() && acknowledgement.is_none() {
        let message = "messages that are not acknowledged have no timers";
        let help = "write for example acknowledgement = { timeout = \"100ms\" }, or leave `messages` out";
        report.add(&join(at, ["messages"]), message, help);
    }
}

/// Checks how the messages of a session are acknowledged, how long a transaction lives, and how many may
/// leave.
pub(crate) fn check_transactions(
    at: &[Step],
    (acknowledgement, lifetime, rate_limit): (Option<Acknowledgement>, Option<Span>, Option<RateLimit>),
    report: &mut Report<'_>,
) {
    if acknowledgement.is_some_and(|acknowledgement| acknowledgement.timeout == Span::ZERO) {
        let steps = join(at, ["acknowledgement", "timeout"]);
        let help = "write a time above zero; without retransmission, write retransmissions = 0";
        report.add(&steps, "this time must be above zero", help);
    }
    if lifetime == Some(Span::ZERO) {
        let help = "write a time above zero, or leave `lifetime` out";
        report.add(&join(at, ["lifetime"]), "a transaction needs a lifetime above zero", help);
    }
    if let Some(limit) = rate_limit {
        if limit.bucket_packets == 0 {
            let steps = join(at, ["rate_limit", "bucket"]);
            report.add(&steps, "a bucket without tokens lets nothing pass", "write 1 or more");
        }
        if limit.rate_per_s <= 0.0 {
            let steps = join(at, ["rate_limit", "rate"]);
            report.add(
                &steps,
                "without new tokens nothing passes once the bucket is empty",
                "write a rate above \"0/s\"",
            );
        }
    }
}
