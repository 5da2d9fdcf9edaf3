//! Runs the scripts of `mobile_ip_scripts/` on a mobile node, a home agent or a foreign agent: one behaviour
//! a file, in a notation after packetdrill's.
//!
//! The script is everything around the machine. A line is a time and an action; `//` starts a comment. Times
//! are in seconds: `0.3` from the start, `+0.1` after the line before. Every packet that the machine sends
//! and every event must be named, at its instant and in its order: the events of an instant before its
//! packets.
//!
//! ```text
//! mobile_node detection=lifetime|prefix|eager lifetime=S retransmission=T max=T clock=T nonces solicit
//!             reverse_tunnel
//! home_agent max_lifetime=S nonces reverse_tunnel
//! foreign_agent max_lifetime=S max_visitors=N reverse_tunnel
//!                                     the first line: what is tested; all keys are optional
//! > PACKET                            the machine sends it
//! < PACKET                            it comes
//! < octets HEX                        these octets come, as UDP payload; `< icmp HEX` as ICMP
//! event NAME ...                      the machine tells
//! stat NAME N                         a counter's value: `rejected.REASON`, `refused.CODE`, or a name
//! timeout TIME | timeout none         the deadline that the machine has
//! ```
//! Addresses: `mn` (home address), `mn2`, `ha`, `ha2`, `fa1`, `fa2` and `fa3` (on the prefix of `fa2`).
//! Packets:
//! ```text
//! advertisement from AGENT lifetime S seq N [reg S] [prefix N] [H] [F] [B] [T]     on the agent's link
//! solicitation
//! request FROM to TO lifetime S coa X id ID [of X] [home X] [T] [S] [M] [G] [x] [unsigned] [forged]
//! reply FROM to TO code N lifetime S id ID [of X] [home X] [unsigned] [forged]
//! ```
//! `of` is the mobile node where it is not `mn`, `home` the home agent where it is not `ha`. ID is `@T`, the
//! timestamp of the instant T (of a mobile node's request but for its lowest 22 bits, which are random: RFC
//! 5944 section 5.7.1); `last`, that of the last request; `@T/last`, the seconds of T with the low half of
//! the last; `new`, in a packet sent: another than the last request's.

#[path = "script/folder.rs"]
mod folder;

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use folder::scripts;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mobile_ip::mobile_node::Retransmission;
use roamsim_protocols::mobile_ip::wire::{AgentFlags, Extensions, RequestFlags, RouterAddress};
use roamsim_protocols::mobile_ip::{
    AgentAdvertisement, Arrival, Code, ForeignAgent, ForeignAgentConfig, HomeAgent, HomeAgentConfig,
    Interface, Message, MobileNode, MobileNodeConfig, MobileNodeEvent, MoveDetection, PORT, Pdu, Rejection,
    ReplayProtection, Reply, Request, SecurityAssociation, SolicitationConfig, Transmit,
};
use roamsim_protocols::{Context, Machine};

const NTP_AT_START: i64 = 2_208_988_800;

/// Name, address, link.
const NAMES: [(&str, Ipv4Addr, u32); 7] = [
    ("mn", Ipv4Addr::new(10, 0, 0, 100), 0),
    ("mn2", Ipv4Addr::new(10, 0, 0, 101), 0),
    ("ha", Ipv4Addr::new(10, 0, 0, 1), 0),
    ("ha2", Ipv4Addr::new(10, 9, 0, 1), 9),
    ("fa1", Ipv4Addr::new(10, 1, 0, 1), 1),
    ("fa2", Ipv4Addr::new(10, 2, 0, 1), 2),
    ("fa3", Ipv4Addr::new(10, 2, 0, 3), 3),
];

fn address(name: &str) -> Result<Ipv4Addr, String> {
    let found = NAMES.iter().find(|(known, ..)| *known == name).map(|&(_, address, _)| address);
    found.ok_or_else(|| format!("{name:?} is no address"))
}

fn interface_of(address: Ipv4Addr) -> Interface {
    Interface(NAMES.iter().find(|(_, known, _)| *known == address).map_or(99, |&(.., link)| link))
}

fn name(address: Ipv4Addr) -> String {
    let known = NAMES.iter().find(|(_, known, _)| *known == address);
    known.map_or_else(|| address.to_string(), |(name, ..)| (*name).to_owned())
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

/// The timestamp of an instant, in NTP's format.
fn timestamp(text: &str) -> Result<u64, String> {
    let ns = seconds(text)?.as_ns() as u128 + NTP_AT_START as u128 * 1_000_000_000;
    Ok(((ns << 32) / 1_000_000_000) as u64)
}

enum Tested {
    Node(Box<MobileNode>),
    Home(HomeAgent),
    Foreign(ForeignAgent),
}

fn tested(words: &[&str]) -> Result<Tested, String> {
    let keys: BTreeMap<&str, &str> =
        words[1..].iter().map(|word| word.split_once('=').unwrap_or((word, "yes"))).collect();
    let key = |name: &str, default: &'static str| keys.get(name).copied().unwrap_or(default);
    let on = |name: &str| keys.contains_key(name);
    let replay_protection = if on("nonces") { ReplayProtection::Nonces } else { ReplayProtection::default() };
    let known: &[&str] = match words[0] {
        "mobile_node" => &[
            "detection",
            "lifetime",
            "retransmission",
            "max",
            "clock",
            "nonces",
            "solicit",
            "reverse_tunnel",
        ],
        "home_agent" => &["max_lifetime", "nonces", "reverse_tunnel"],
        "foreign_agent" => &["max_lifetime", "max_visitors", "reverse_tunnel"],
        other => return Err(format!("{other:?} is no machine")),
    };
    if let Some(unknown) = keys.keys().find(|key| !known.contains(key)) {
        return Err(format!("{unknown:?} is no key"));
    }
    Ok(match words[0] {
        "mobile_node" => Tested::Node(Box::new(MobileNode::new(MobileNodeConfig {
            home_address: address("mn")?,
            home_agent: address("ha")?,
            interfaces: vec![Interface(0), Interface(1)],
            security: SecurityAssociation::default(),
            replay_protection,
            clock_offset_ns: match key("clock", "0") {
                text if text.starts_with('-') => -(seconds(&text[1..])?.as_ns() as i64),
                text => seconds(text)?.as_ns() as i64,
            },
            lifetime_s: number(key("lifetime", "300"))?,
            retransmission: Retransmission {
                initial: seconds(key("retransmission", "1"))?,
                maximum: seconds(key("max", "64"))?,
            },
            move_detection: match key("detection", "lifetime") {
                "lifetime" => MoveDetection::Lifetime,
                "prefix" => MoveDetection::Prefix,
                "eager" => MoveDetection::Eager,
                other => return Err(format!("{other:?} is no move detection")),
            },
            solicitation: on("solicit").then_some(SolicitationConfig {
                delay: Span::ZERO,
                jitter_percent: 0,
                ..SolicitationConfig::default()
            }),
            reverse_tunnel: on("reverse_tunnel"),
        }))),
        "home_agent" => Tested::Home(HomeAgent::new(HomeAgentConfig {
            address: address("ha")?,
            mobile_nodes: BTreeMap::from([(address("mn")?, SecurityAssociation::default())]),
            max_lifetime_s: number(key("max_lifetime", "65535"))?,
            replay_protection,
            reverse_tunnel: on("reverse_tunnel"),
        })),
        _ => Tested::Foreign(ForeignAgent::new(ForeignAgentConfig {
            care_of_address: address("fa1")?,
            max_lifetime_s: number(key("max_lifetime", "65535"))?,
            max_visitors: keys.get("max_visitors").map(|text| number(text)).transpose()?,
            reverse_tunnel: on("reverse_tunnel"),
            pending_timeout: Span::from_secs(7),
        })),
    })
}

/// A machine under a script.
struct Run {
    tested: Tested,
    now: Time,
    random: Stream,
    packets: VecDeque<(Time, Transmit)>,
    events: VecDeque<(Time, String)>,
    last_request: u64,
}

impl Run {
    fn new(mut tested: Tested) -> Run {
        let mut random = Stream::new(0, 0, "script");
        if let Tested::Node(node) = &mut tested {
            node.start(&mut Context { now: Time::ZERO, random: &mut random });
        }
        let (packets, events) = (VecDeque::new(), VecDeque::new());
        Run { tested, now: Time::ZERO, random, packets, events, last_request: 0 }
    }

    fn machine(&mut self) -> (&mut dyn Machine, Context<'_>) {
        let cx = Context { now: self.now, random: &mut self.random };
        let machine: &mut dyn Machine = match &mut self.tested {
            Tested::Node(node) => node.as_mut(),
            Tested::Home(agent) => agent,
            Tested::Foreign(agent) => agent,
        };
        (machine, cx)
    }

    fn collect(&mut self) {
        loop {
            let event = match &mut self.tested {
                Tested::Node(node) => node.poll_event().map(|event| describe_event(&event)),
                Tested::Home(agent) => agent.poll_event().map(|event| format!("{event:?}")),
                Tested::Foreign(agent) => agent.poll_event().map(|event| format!("{event:?}")),
            };
            let Some(event) = event else { break };
            self.events.push_back((self.now, with_names(&event)));
        }
        loop {
            let packet = match &mut self.tested {
                Tested::Node(node) => node.poll_transmit(),
                Tested::Home(agent) => agent.poll_transmit(),
                Tested::Foreign(agent) => agent.poll_transmit(),
            };
            let Some(packet) = packet else { break };
            self.packets.push_back((self.now, packet));
        }
    }

    /// Lets time pass; what is due at `until` is not done yet, so that the script acts first.
    fn advance(&mut self, until: Time) -> Result<(), String> {
        loop {
            self.collect();
            let Some(at) = self.machine().0.poll_timeout().filter(|&at| at < until) else { break };
            if at < self.now {
                return Err(format!("the deadline {at} is over"));
            }
            self.now = at;
            let (machine, mut cx) = self.machine();
            machine.handle_timeout(&mut cx);
        }
        self.now = until;
        Ok(())
    }

    fn settle(&mut self) {
        self.collect();
        while self.machine().0.poll_timeout().is_some_and(|at| at <= self.now) {
            let (machine, mut cx) = self.machine();
            machine.handle_timeout(&mut cx);
            self.collect();
        }
    }

    fn receive(&mut self, words: &[&str]) -> Result<(), String> {
        let now = self.now;
        let mut cx = Context { now, random: &mut self.random };
        if let ["octets" | "icmp", rest @ ..] = words {
            let hex: String = rest.concat();
            let octets: Vec<u8> = (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).map_err(|error| error.to_string()))
                .collect::<Result<_, _>>()?;
            let mn = address("mn")?;
            let arrival =
                Arrival { interface: interface_of(mn), source: mn, source_port: PORT, destination: mn };
            match &mut self.tested {
                Tested::Node(node) if words[0] == "icmp" => {
                    node.handle_icmp_octets(&mut cx, arrival, &octets)
                }
                Tested::Node(node) => node.handle_octets(&mut cx, &octets),
                Tested::Home(agent) => agent.handle_octets(&mut cx, arrival, &octets),
                Tested::Foreign(agent) => agent.handle_octets(&mut cx, arrival, &octets),
            }
            return Ok(());
        }
        let packet = Words::new(words);
        match words[0] {
            "advertisement" => {
                let Tested::Node(node) = &mut self.tested else {
                    return Err("only a mobile node listens to it".into());
                };
                let (arrival, advertisement) = packet.advertisement()?;
                // Through its octets: what comes is what was encoded.
                node.handle_icmp_octets(&mut cx, arrival, &advertisement.encode());
            }
            "request" | "reply" => {
                let (source, destination, message) = packet.registration(self.last_request)?;
                if let Message::Request(request) = &message {
                    self.last_request = request.identification;
                }
                let octets = message.encode();
                let arrival =
                    Arrival { interface: interface_of(source), source, source_port: 1434, destination };
                match &mut self.tested {
                    Tested::Node(node) => node.handle_octets(&mut cx, &octets),
                    Tested::Home(agent) => agent.handle_octets(&mut cx, arrival, &octets),
                    Tested::Foreign(agent) => agent.handle_octets(&mut cx, arrival, &octets),
                }
            }
            other => return Err(format!("{other:?} is no packet that can come")),
        }
        Ok(())
    }

    fn expect_packet(&mut self, words: &[&str]) -> Result<(), String> {
        self.settle();
        let Some((at, transmit)) = self.packets.pop_front() else { return Err("nothing is sent".into()) };
        let found = describe(&transmit);
        if at != self.now {
            return Err(format!("instead, at {at}: {found}"));
        }
        if transmit.pdu == Pdu::Solicitation {
            return if words == ["solicitation"] { Ok(()) } else { Err(format!("instead: {found}")) };
        }
        let Pdu::Registration { message, .. } = &transmit.pdu else { return Err(found) };
        let new = words.windows(2).any(|pair| pair == ["id", "new"]);
        let text: Vec<&str> = words.iter().map(|&word| if word == "new" { "last" } else { word }).collect();
        let (source, destination, mut expected) = Words::new(&text).registration(self.last_request)?;
        let identification = match message {
            Message::Request(request) => request.identification,
            Message::Reply(reply) => reply.identification,
        };
        if new {
            if identification == self.last_request {
                return Err("the identification is that of the last request".into());
            }
            expected = Words::new(&text).registration(identification)?.2;
        }
        // What a mobile node's clock does not give is random.
        let time =
            Words::new(&text).value("id").and_then(|id| id.strip_prefix('@')).filter(|id| !id.contains('/'));
        if let (Tested::Node(_), Message::Request(_), Some(time)) = (&self.tested, message, time)
            && timestamp(time)? >> RANDOM_BITS == identification >> RANDOM_BITS
        {
            let given = format!("@{time}");
            let text: Vec<&str> =
                text.iter().map(|&word| if word == given { "last" } else { word }).collect();
            expected = Words::new(&text).registration(identification)?.2;
        }
        if let Message::Request(request) = message {
            self.last_request = request.identification;
        }
        if (source, destination, &expected) != (transmit.source, transmit.destination, message) {
            return Err(format!("instead: {found}"));
        }
        Ok(())
    }

    fn act(&mut self, words: &[&str]) -> Result<(), String> {
        match words {
            ["<", rest @ ..] => self.receive(rest)?,
            [">", rest @ ..] => self.expect_packet(rest)?,
            ["event", rest @ ..] => {
                self.settle();
                let found = self.events.pop_front();
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
                let found = self.machine().0.poll_timeout();
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
        let (rejections, refused) = match &self.tested {
            Tested::Node(node) => (&node.stats().rejections, &node.stats().refused),
            Tested::Home(agent) => (&agent.stats().rejections, &agent.stats().refused),
            Tested::Foreign(agent) => (&agent.stats().rejections, &agent.stats().refused),
        };
        if let Some(reason) = name.strip_prefix("rejected.") {
            let reason = Rejection::ALL.into_iter().find(|rejection| rejection.name() == reason);
            return Ok(rejections.count(reason.ok_or_else(|| format!("{name:?} is no reason"))?));
        }
        if let Some(code) = name.strip_prefix("refused.") {
            return Ok(refused.get(&Code(number(code)?)).copied().unwrap_or(0));
        }
        match (&self.tested, name) {
            (Tested::Node(node), "requests") => Ok(node.stats().requests),
            (Tested::Node(node), "retransmissions") => Ok(node.stats().retransmissions),
            (Tested::Node(node), "solicitations") => Ok(node.stats().solicitations),
            (Tested::Node(node), "moves") => Ok(node.stats().moves),
            (Tested::Node(node), "expired") => Ok(node.stats().expired),
            (Tested::Home(agent), "accepted") => Ok(agent.stats().accepted),
            (Tested::Home(agent), "bindings") => Ok(u64::from(agent.binding(address("mn")?).is_some())),
            (Tested::Home(agent), "expired") => Ok(agent.stats().expired),
            (Tested::Foreign(agent), "visitors") => {
                let visitors =
                    ["mn", "mn2"].map(|name| address(name).map(|home| agent.visitor(home).is_some()));
                visitors.into_iter().map(|visitor| visitor.map(u64::from)).sum()
            }
            (Tested::Foreign(agent), "busy") => Ok(u64::from(agent.is_busy())),
            _ => Err(format!("{name:?} is no counter")),
        }
    }

    fn nothing_left_before(&mut self, instant: Time) -> Result<(), String> {
        if let Some((at, transmit)) = self.packets.front().filter(|(at, _)| *at < instant) {
            return Err(format!("before this, at {at}: > {}", describe(transmit)));
        }
        if let Some((at, event)) = self.events.front().filter(|(at, _)| *at < instant) {
            return Err(format!("before this, at {at}: event {event}"));
        }
        Ok(())
    }
}

/// The words of a packet.
struct Words<'a>(&'a [&'a str]);

/// The bits of a mobile node's timestamp that its clock does not give, as in `mobile_ip::identification`.
const RANDOM_BITS: u32 = 22;

impl<'a> Words<'a> {
    fn new(words: &'a [&'a str]) -> Words<'a> {
        Words(words)
    }

    fn value(&self, key: &str) -> Option<&'a str> {
        self.0.windows(2).find(|pair| pair[0] == key).map(|pair| pair[1])
    }

    fn needed(&self, key: &str) -> Result<&'a str, String> {
        self.value(key).ok_or_else(|| format!("{key:?} is missing"))
    }

    fn flag(&self, flag: &str) -> bool {
        self.0.contains(&flag)
    }

    fn address_or(&self, key: &str, default: &str) -> Result<Ipv4Addr, String> {
        address(self.value(key).unwrap_or(default))
    }

    fn advertisement(&self) -> Result<(Arrival, AgentAdvertisement), String> {
        let source = address(self.needed("from")?)?;
        let arrival = Arrival {
            interface: interface_of(source),
            source,
            source_port: 0,
            destination: Ipv4Addr::BROADCAST,
        };
        let advertisement = AgentAdvertisement {
            common_traffic: true,
            lifetime_s: number(self.needed("lifetime")?)?,
            router_addresses: vec![RouterAddress { address: source, preference: 0 }],
            sequence: number(self.needed("seq")?)?,
            registration_lifetime_s: number(self.value("reg").unwrap_or("65535"))?,
            flags: AgentFlags::default()
                .with(AgentFlags::HOME_AGENT, self.flag("H"))
                .with(AgentFlags::FOREIGN_AGENT, self.flag("F"))
                .with(AgentFlags::BUSY, self.flag("B"))
                .with(AgentFlags::REVERSE_TUNNEL, self.flag("T")),
            care_of_addresses: if self.flag("F") { vec![source] } else { Vec::new() },
            prefix_lengths: self.value("prefix").map(number).transpose()?.into_iter().collect(),
        };
        Ok((arrival, advertisement))
    }

    fn registration(&self, last: u64) -> Result<(Ipv4Addr, Ipv4Addr, Message), String> {
        let source = address(self.0.get(1).ok_or("a source is missing")?)?;
        let destination = address(self.needed("to")?)?;
        let identification = match self.needed("id")? {
            "last" => last,
            id => {
                let (time, low) = id.split_once('/').unwrap_or((id, ""));
                let time = timestamp(time.strip_prefix('@').ok_or_else(|| format!("{id:?} is no ID"))?)?;
                if low == "last" { time >> 32 << 32 | last & 0xffff_ffff } else { time }
            }
        };
        let lifetime_s = number(self.needed("lifetime")?)?;
        let (home_address, home_agent) = (self.address_or("of", "mn")?, self.address_or("home", "ha")?);
        let mut message = if self.0[0] == "request" {
            let bits = [("S", 0x80), ("M", 0x10), ("G", 0x08), ("T", 0x02), ("x", 0x01)];
            let flags = bits.iter().filter(|(flag, _)| self.flag(flag)).map(|(_, bit)| bit).sum();
            Message::Request(Request {
                flags: RequestFlags(flags),
                lifetime_s,
                home_address,
                home_agent,
                care_of_address: address(self.needed("coa")?)?,
                identification,
                extensions: Extensions::default(),
            })
        } else {
            let code = Code(number(self.needed("code")?)?);
            let extensions = Extensions::default();
            Message::Reply(Reply { code, lifetime_s, home_address, home_agent, identification, extensions })
        };
        let association = SecurityAssociation::default();
        if self.flag("forged") {
            SecurityAssociation { key: [7; 16], ..association }.authenticate(&mut message);
        } else if !self.flag("unsigned") {
            association.authenticate(&mut message);
        }
        Ok((source, destination, message))
    }
}

fn describe(transmit: &Transmit) -> String {
    let ends = format!("{} to {}", name(transmit.source), name(transmit.destination));
    match &transmit.pdu {
        Pdu::Solicitation => "solicitation".into(),
        Pdu::Advertisement(advertisement) => format!("{ends}: {advertisement:?}"),
        Pdu::Registration { message: Message::Request(request), .. } => format!(
            "request {ends} lifetime {} coa {} flags {:02x} id {:016x}, on link {:?}",
            request.lifetime_s,
            name(request.care_of_address),
            request.flags.0,
            request.identification,
            transmit.interface
        ),
        Pdu::Registration { message: Message::Reply(reply), .. } => format!(
            "reply {ends} code {} lifetime {} id {:016x}, {} extensions",
            reply.code.0,
            reply.lifetime_s,
            reply.identification,
            reply.extensions.0.len()
        ),
    }
}

fn describe_event(event: &MobileNodeEvent) -> String {
    match *event {
        MobileNodeEvent::AgentLost { agent } => format!("AgentLost {agent}"),
        MobileNodeEvent::Moved { agent, interface, home } => {
            assert_eq!(interface, interface_of(agent));
            format!("Moved {agent}{}", if home { " home" } else { "" })
        }
        MobileNodeEvent::RegistrationSent { deregistration, retransmission, renewal } => {
            let what = if deregistration { "DeregistrationSent" } else { "RegistrationSent" };
            let again = if retransmission { " again" } else { "" };
            format!("{what}{again}{}", if renewal { " renewal" } else { "" })
        }
        MobileNodeEvent::Registered { lifetime_s } => format!("Registered {lifetime_s}"),
        MobileNodeEvent::Deregistered => "Deregistered".into(),
        MobileNodeEvent::Refused { code } => format!("Refused {}", code.0),
        MobileNodeEvent::Expired => "Expired".into(),
    }
}

/// Names in place of addresses.
fn with_names(text: &str) -> String {
    let mut text = text.to_owned();
    // Long addresses first: some are the beginning of others.
    let mut names = NAMES;
    names.sort_by_key(|(_, address, _)| std::cmp::Reverse(address.to_string().len()));
    for (name, address, _) in names {
        text = text.replace(&address.to_string(), name);
    }
    text
}

fn run_script(script: &str) -> Result<(), String> {
    let mut run = None;
    for (index, line) in script.lines().enumerate() {
        let text = line.split("//").next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let at_line = |error: String| format!("line {}: {text}\n    {error}", index + 1);
        let Some(run) = &mut run else {
            run = Some(Run::new(tested(&words).map_err(at_line)?));
            continue;
        };
        let step = |run: &mut Run| {
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
        step(run).map_err(at_line)?;
    }
    let mut run = run.ok_or("nothing is tested")?;
    run.settle();
    run.nothing_left_before(Time::MAX).map_err(|error| format!("at the end: {error}"))
}

#[test]
fn every_script_passes() {
    let scripts = scripts("mobile_ip_scripts");
    assert!(scripts.len() >= 15, "only {} scripts were found", scripts.len());
    let failures: Vec<String> = scripts
        .iter()
        .filter_map(|(name, script)| Some(format!("{name}.pkt, {}", run_script(script).err()?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_script_that_expects_something_else_fails() {
    let good = "mobile_node\n0.5 < advertisement from fa1 lifetime 3 seq 0 F\n+0 event Moved fa1\n\
                +0 event RegistrationSent\n+0 > request mn to fa1 lifetime 300 coa fa1 id @0.5\n+0 timeout 1.5";
    assert_eq!(run_script(good), Ok(()));
    for (right, wrong) in [
        ("+0 event Moved fa1", "+0 event Moved fa2"),
        ("+0 event Moved fa1", "+0.1 event Moved fa1"),
        ("> request mn to fa1 lifetime 300", "> request mn to fa1 lifetime 299"),
        ("coa fa1 id @0.5", "coa fa1 id @0.6"),
        ("coa fa1 id @0.5", "coa fa1 id @0.5 unsigned"),
        ("+0 timeout 1.5", "+0 timeout none"),
        ("\n+0 > request mn to fa1 lifetime 300 coa fa1 id @0.5", ""),
    ] {
        let bad = good.replace(right, wrong);
        assert_ne!(bad, good);
        assert!(run_script(&bad).is_err(), "passes: {bad}");
    }
}
