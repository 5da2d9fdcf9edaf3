//! The notation of SCTP scripts: packetdrill's for chunks, reading and printing.

use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::sctp::{
    AddressForm, Asconf, AsconfAck, Change, Chunk, Config, Data, Event, ForwardTsn, Init, Packet, Parameter,
    Path, Reliability, Rules, Sack,
};

use crate::script::{on_off, span, value};

/// What `--key=value` sets.
pub struct Settings {
    pub config: Config,
    pub tag: u32,
    pub tsn: u32,
    pub local_addresses: u32,
    pub remote_addresses: u32,
}

impl Default for Settings {
    /// No HEARTBEATs and no list of extensions but where they are the subject; packets of round numbers.
    fn default() -> Settings {
        let config = Config {
            packet_bytes: 1028,
            heartbeat_interval: None,
            dynamic_addresses: false,
            ..Config::default()
        };
        Settings { config, tag: 1, tsn: 1, local_addresses: 1, remote_addresses: 1 }
    }
}

/// What peer or application do.
pub enum Step {
    Open,
    Listen,
    Send { stream: u16, bytes: u64, count: u64, unordered: bool, reliability: Reliability, accepted: bool },
    Close,
    Abort,
    SetPrimary(Path),
    Reconfigure { changes: Vec<Change>, source: Address, accepted: bool },
    RequestFrom { source: Address, accepted: bool },
    Readdress { local: Vec<Address>, remote: Vec<Address>, accepted: bool },
    Arrives { path: Option<Path>, tag: Option<u32>, chunks: Vec<Chunk> },
}

/// A packet that a line expects; what is `None` is not looked at.
pub struct Expected {
    pub path: Option<Path>,
    pub tag: Option<u32>,
    /// As [`packet_text`] writes it, `...` for anything.
    pub pattern: String,
}

/// Reads one of the settings.
pub fn set(settings: &mut Settings, key: &str, text: &str) -> Result<(), String> {
    let config = &mut settings.config;
    let span_or_off = |text: &str| if text == "off" { Ok(None) } else { span(text).map(Some) };
    match key {
        "rules" => {
            config.rules = match text {
                "9260" => Rules::Rfc9260,
                "2960" => Rules::Rfc2960,
                _ => return Err(format!("`{text}` is neither 9260 nor 2960")),
            }
        }
        "packet" => config.packet_bytes = value(text)?,
        "ip" => {
            config.address_form = match text {
                "4" => AddressForm::Ipv4,
                "6" => AddressForm::Ipv6,
                _ => return Err(format!("`{text}` is neither 4 nor 6")),
            }
        }
        "outbound_streams" => config.outbound_streams = value(text)?,
        "inbound_streams" => config.inbound_streams = value(text)?,
        "receive_window" => config.receive_window_bytes = value(text)?,
        "rto_initial" => config.rto_initial = Some(span(text)?),
        "rto_min" => config.rto_min = span(text)?,
        "rto_max" => config.rto_max = span(text)?,
        "delayed_ack" => config.delayed_ack = span_or_off(text)?,
        "max_burst" => config.max_burst = value(text)?,
        "fast_retransmit_in_recovery" => config.fast_retransmit_in_recovery = on_off(text)?,
        "max_gap_ack_blocks" => config.max_gap_ack_blocks = Some(value(text)?),
        "max_retransmissions" => config.max_retransmissions = value(text)?,
        "max_path_retransmissions" => config.max_path_retransmissions = value(text)?,
        "potentially_failed_retransmissions" => {
            config.potentially_failed_retransmissions = Some(value(text)?);
        }
        "primary_switchover_retransmissions" => {
            config.primary_switchover_retransmissions = Some(value(text)?);
        }
        "max_init_retransmissions" => config.max_init_retransmissions = value(text)?,
        "heartbeat_interval" => config.heartbeat_interval = span_or_off(text)?,
        "cookie_life" => config.cookie_life = span(text)?,
        "dynamic_addresses" => config.dynamic_addresses = on_off(text)?,
        "partial_reliability" => config.partial_reliability = on_off(text)?,
        "tag" => settings.tag = value(text)?,
        "tsn" => settings.tsn = value(text)?,
        "local_addresses" => settings.local_addresses = value(text)?,
        "remote_addresses" => settings.remote_addresses = value(text)?,
        _ => return Err(format!("unknown setting `{key}`")),
    }
    Ok(())
}

/// Reads what follows `>`.
pub fn parse_expected(text: &str) -> Result<Expected, String> {
    let (path, tag, body) = parse_head(text)?;
    Ok(Expected { path, tag, pattern: body.split_whitespace().collect::<Vec<_>>().join(" ") })
}

/// Reads what peer or application do.
pub fn parse_step(text: &str) -> Result<Step, String> {
    if let Some(packet) = text.strip_prefix('<') {
        let (path, tag, body) = parse_head(packet)?;
        return Ok(Step::Arrives { path, tag, chunks: parse_chunks(body)? });
    }
    let unknown = || format!("unknown action `{text}`");
    let (call, accepted) = match text.split_once('=') {
        Some((call, "-1" | " -1")) => (call.trim(), false),
        _ => (text, true),
    };
    let (name, rest) = call.split_once('(').ok_or_else(unknown)?;
    let argument = rest.strip_suffix(')').ok_or_else(unknown)?;
    let words: Vec<&str> = argument.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    Ok(match name {
        "connect" => Step::Open,
        "listen" => Step::Listen,
        "close" => Step::Close,
        "abort" => Step::Abort,
        "set_primary" => Step::SetPrimary(parse_path(argument).ok_or_else(unknown)?),
        "send" => parse_send(&words, accepted)?,
        "reconfigure" => parse_reconfigure(&words, accepted)?,
        "request_from" => Step::RequestFrom { source: Address(value(argument)?), accepted },
        "readdress" => parse_readdress(&words, accepted)?,
        _ => return Err(unknown()),
    })
}

/// `BYTES [sid N] [count N] [unordered] [until TIME | rtx N]`.
fn parse_send(words: &[&str], accepted: bool) -> Result<Step, String> {
    let (bytes, mut rest) = words.split_first().ok_or("how many octets?")?;
    let (mut stream, mut count, mut unordered, mut reliability) = (0, 1, false, Reliability::Full);
    loop {
        rest = match rest {
            [] => break,
            ["unordered", rest @ ..] => {
                unordered = true;
                rest
            }
            ["until", time, rest @ ..] => {
                reliability = Reliability::Until(Time::ZERO + span(time)?);
                rest
            }
            ["rtx", number, rest @ ..] => {
                reliability = Reliability::Retransmissions(value(number)?);
                rest
            }
            ["sid", number, rest @ ..] => {
                stream = value(number)?;
                rest
            }
            ["count", number, rest @ ..] => {
                count = value(number)?;
                rest
            }
            _ => return Err(format!("`{}` is none of sid, count, unordered, until, rtx", rest.join(" "))),
        };
    }
    Ok(Step::Send { stream, bytes: value(bytes)?, count, unordered, reliability, accepted })
}

/// `from N [add N] [delete N] [primary N]`.
fn parse_reconfigure(words: &[&str], accepted: bool) -> Result<Step, String> {
    let ["from", source, changes @ ..] = words else { return Err("from which address?".to_owned()) };
    let changes = changes.chunks(2).map(|pair| {
        let [kind, number] = pair else { return Err("a change without an address".to_owned()) };
        let address = Address(value(number)?);
        match *kind {
            "add" => Ok(Change::Add(address)),
            "delete" => Ok(Change::Delete(address)),
            "primary" => Ok(Change::SetPrimary(address)),
            _ => Err(format!("`{kind}` is none of add, delete, primary")),
        }
    });
    let source = Address(value(source)?);
    Ok(Step::Reconfigure { changes: changes.collect::<Result<_, _>>()?, source, accepted })
}

/// `LOCAL ... to REMOTE ...`.
fn parse_readdress(words: &[&str], accepted: bool) -> Result<Step, String> {
    let addresses = |words: &[&str]| words.iter().map(|word| value(word).map(Address)).collect();
    let mut sides = words.split(|&word| word == "to");
    let (Some(local), Some(remote)) = (sides.next(), sides.next()) else {
        return Err("`to` separates the addresses of this end from those of the peer".to_owned());
    };
    let (local, remote): (Result<_, String>, Result<_, String>) = (addresses(local), addresses(remote));
    Ok(Step::Readdress { local: local?, remote: remote?, accepted })
}

/// `LOCAL-REMOTE`.
pub fn parse_path(text: &str) -> Option<Path> {
    let (local, remote) = text.trim().split_once('-')?;
    Some(Path { local: Address(local.parse().ok()?), remote: Address(remote.parse().ok()?) })
}

/// `[LOCAL-REMOTE] sctp[(TAG)]:` and what follows.
fn parse_head(text: &str) -> Result<(Option<Path>, Option<u32>, &str), String> {
    let (head, body) = text.split_once(':').ok_or("a packet is `sctp: CHUNK[...]; ...`")?;
    let (path, word) = match head.trim().rsplit_once(' ') {
        None => (None, head.trim()),
        Some((path, word)) => (Some(parse_path(path).ok_or(format!("`{path}` is no path"))?), word),
    };
    let rest = word.strip_prefix("sctp").ok_or(format!("`{word}` is not `sctp`"))?;
    let tag = match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(tag) => Some(value(tag)?),
        None if rest.is_empty() => None,
        None => return Err(format!("`{word}` is not `sctp` or `sctp(TAG)`")),
    };
    Ok((path, tag, body.trim()))
}

/// At `separator`, but not within brackets.
fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if letter == separator && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// `NAME[a=1, INNER[...]]`.
struct Item<'a> {
    name: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    inner: Vec<Item<'a>>,
}

impl<'a> Item<'a> {
    fn parse(text: &'a str) -> Result<Item<'a>, String> {
        let wrong = || format!("`{text}` is not `NAME[...]`");
        let (name, body) = text.split_once('[').ok_or_else(wrong)?;
        let body = body.strip_suffix(']').ok_or_else(wrong)?;
        let mut item = Item { name: name.trim(), fields: Vec::new(), inner: Vec::new() };
        for part in split_outside(body, ',').into_iter().filter(|part| *part != "...") {
            match part.split_once(['=', '[']) {
                Some((key, _)) if part[key.len()..].starts_with('=') => {
                    item.fields.push((key.trim(), part[key.len() + 1..].trim()));
                }
                _ => item.inner.push(Item::parse(part)?),
            }
        }
        Ok(item)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().find(|(name, text)| *name == key && *text != "...").map(|(_, text)| *text)
    }

    fn number<T: std::str::FromStr>(&self, key: &str, otherwise: T) -> Result<T, String> {
        self.text(key).map_or(Ok(otherwise), value)
    }

    /// `[a, b]`.
    fn list(&self, key: &str) -> Result<Vec<&'a str>, String> {
        let Some(text) = self.text(key) else { return Ok(Vec::new()) };
        let body = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        Ok(split_outside(body.ok_or(format!("`{text}` is no list"))?, ','))
    }
}

fn parse_chunks(text: &str) -> Result<Vec<Chunk>, String> {
    split_outside(text, ';').into_iter().map(|chunk| parse_chunk(&Item::parse(chunk)?)).collect()
}

fn parse_chunk(item: &Item<'_>) -> Result<Chunk, String> {
    let flags = item.text("flgs").unwrap_or("0");
    let parameters = || item.inner.iter().map(parse_parameter).collect::<Result<Vec<_>, _>>();
    let init = || -> Result<Init, String> {
        Ok(Init {
            initiate_tag: item.number("tag", 2)?,
            a_rwnd_bytes: item.number("a_rwnd", 100_000)?,
            outbound_streams: item.number("os", 10)?,
            inbound_streams: item.number("is", 10)?,
            initial_tsn: item.number("tsn", 1)?,
            parameters: parameters()?,
        })
    };
    Ok(match item.name {
        "INIT" => Chunk::Init(Box::new(init()?)),
        "INIT_ACK" => Chunk::InitAck(Box::new(init()?)),
        "COOKIE_ECHO" => Chunk::CookieEcho(Vec::new()),
        "COOKIE_ACK" => Chunk::CookieAck,
        "DATA" => {
            let length: u16 = item.number("len", 1016)?;
            Chunk::Data(Data {
                tsn: item.number("tsn", 1)?,
                stream: item.number("sid", 0)?,
                ssn: item.number("ssn", 0)?,
                protocol: item.number("ppid", 0)?,
                unordered: flags.contains('U'),
                beginning: flags.contains('B'),
                ending: flags.contains('E'),
                immediate: flags.contains('I'),
                payload_bytes: length.checked_sub(16).ok_or("a DATA chunk has 16 octets of header")?,
            })
        }
        "SACK" => {
            let block = |text: &&str| {
                let (first, last) = text.split_once(':').ok_or(format!("`{text}` is not FIRST:LAST"))?;
                Ok::<_, String>((value(first)?, value(last)?))
            };
            let gaps = item.list("gaps")?.iter().map(block).collect::<Result<Vec<_>, _>>()?;
            let duplicates = item.list("dups")?.iter().map(|tsn| value(tsn)).collect::<Result<_, _>>()?;
            Chunk::Sack(Sack::new(
                item.number("cum_tsn", 0)?,
                item.number("a_rwnd", 100_000)?,
                &gaps,
                duplicates,
            ))
        }
        "HEARTBEAT" => Chunk::Heartbeat(parameters()?),
        "HEARTBEAT_ACK" => Chunk::HeartbeatAck(parameters()?),
        "ABORT" => Chunk::Abort { reflected_tag: flags == "T", causes: parameters()? },
        "ERROR" => Chunk::Error(parameters()?),
        "SHUTDOWN" => Chunk::Shutdown { cumulative_tsn_ack: item.number("cum_tsn", 0)? },
        "SHUTDOWN_ACK" => Chunk::ShutdownAck,
        "SHUTDOWN_COMPLETE" => Chunk::ShutdownComplete { reflected_tag: flags == "T" },
        "ASCONF" => {
            let mut parameters = parameters()?;
            if parameters.is_empty() {
                return Err("an ASCONF starts with an address".to_owned());
            }
            let address = parameters.remove(0);
            Chunk::Asconf(Box::new(Asconf { serial: item.number("seq", 1)?, address, parameters }))
        }
        "ASCONF_ACK" => {
            let serial = item.number("seq", 1)?;
            Chunk::AsconfAck(Box::new(AsconfAck { serial, parameters: parameters()? }))
        }
        "FORWARD_TSN" => {
            let pair = |text: &&str| {
                let (stream, ssn) = text.split_once(':').ok_or(format!("`{text}` is not SID:SSN"))?;
                Ok::<_, String>((value(stream)?, value(ssn)?))
            };
            let streams = item.list("streams")?.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
            Chunk::ForwardTsn(Box::new(ForwardTsn { cumulative_tsn: item.number("cum_tsn", 0)?, streams }))
        }
        name => return Err(format!("unknown chunk `{name}`")),
    })
}

/// Those that packets which arrive may have.
fn parse_parameter(item: &Item<'_>) -> Result<Parameter, String> {
    let address = |text: Option<&str>| -> Result<Parameter, String> {
        let address = Address(value(text.ok_or("which address?")?)?);
        Ok(Parameter { kind: Parameter::IPV6_ADDRESS, value: address.ipv6_octets().to_vec() })
    };
    let number = || item.number::<u32>("id", 0);
    let change = |kind: u16| -> Result<Parameter, String> {
        let inner = address(item.text("addr"))?;
        let mut value = number()?.to_be_bytes().to_vec();
        value.extend(inner.kind.to_be_bytes());
        value.extend((4 + inner.value.len() as u16).to_be_bytes());
        value.extend(inner.value);
        Ok(Parameter { kind, value })
    };
    Ok(match item.name {
        "STATE_COOKIE" => Parameter { kind: Parameter::STATE_COOKIE, value: vec![1, 2, 3, 4] },
        "HEARTBEAT_INFORMATION" => Parameter { kind: Parameter::HEARTBEAT_INFO, value: vec![7; 8] },
        "ADDRESS" => address(item.text("addr"))?,
        "SUPPORTED_EXTENSIONS" => {
            Parameter { kind: Parameter::SUPPORTED_EXTENSIONS, value: vec![0xC1, 0x80] }
        }
        "FORWARD_TSN_SUPPORTED" => Parameter { kind: Parameter::FORWARD_TSN_SUPPORTED, value: Vec::new() },
        "STALE_COOKIE" => Parameter { kind: 3, value: vec![0; 4] },
        "ADD_IP_ADDRESS" => change(Parameter::ADD_ADDRESS)?,
        "DEL_IP_ADDRESS" => change(Parameter::DELETE_ADDRESS)?,
        "SET_PRIMARY" => change(Parameter::SET_PRIMARY)?,
        "SUCCESS" => {
            Parameter { kind: Parameter::SUCCESS_INDICATION, value: number()?.to_be_bytes().to_vec() }
        }
        "REFUSED" => {
            let mut value = number()?.to_be_bytes().to_vec();
            value.extend([0, 0xA4, 0, 4]);
            Parameter { kind: Parameter::ERROR_CAUSE_INDICATION, value }
        }
        name => return Err(format!("unknown parameter `{name}`")),
    })
}

/// Whether `text` is the pattern, in which `...` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split("...");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (i, part) in parts.iter().enumerate() {
        if i + 1 == parts.len() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// A packet in the notation of scripts.
pub fn packet_text(packet: &Packet) -> String {
    packet.chunks.iter().map(chunk_text).collect::<Vec<_>>().join("; ")
}

fn chunk_text(chunk: &Chunk) -> String {
    let with = |name: &str, parameters: &[Parameter]| {
        let inner = parameters.iter().map(|parameter| format!(", {}", parameter_text(parameter)));
        format!("{name}[flgs=0{}]", inner.collect::<String>())
    };
    let init = |name: &str, init: &Init| {
        let inner = init.parameters.iter().map(|parameter| format!(", {}", parameter_text(parameter)));
        format!(
            "{name}[flgs=0, tag={}, a_rwnd={}, os={}, is={}, tsn={}{}]",
            init.initiate_tag,
            init.a_rwnd_bytes,
            init.outbound_streams,
            init.inbound_streams,
            init.initial_tsn,
            inner.collect::<String>()
        )
    };
    let reflected =
        |name: &str, reflected: bool| format!("{name}[flgs={}]", if reflected { "T" } else { "0" });
    match chunk {
        Chunk::Data(data) => {
            let letters =
                [(data.immediate, 'I'), (data.unordered, 'U'), (data.beginning, 'B'), (data.ending, 'E')];
            let flags: String = letters.iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect();
            format!(
                "DATA[flgs={}, len={}, tsn={}, sid={}, ssn={}]",
                if flags.is_empty() { "0" } else { &flags },
                chunk.bytes(),
                data.tsn,
                data.stream,
                data.ssn
            )
        }
        Chunk::Init(body) => init("INIT", body),
        Chunk::InitAck(body) => init("INIT_ACK", body),
        Chunk::Sack(sack) => {
            let gaps: Vec<String> =
                sack.gaps().iter().map(|(first, last)| format!("{first}:{last}")).collect();
            let duplicates: Vec<String> = sack.duplicates().iter().map(u32::to_string).collect();
            format!(
                "SACK[flgs=0, cum_tsn={}, a_rwnd={}, gaps=[{}], dups=[{}]]",
                sack.cumulative_tsn_ack,
                sack.a_rwnd_bytes,
                gaps.join(","),
                duplicates.join(",")
            )
        }
        Chunk::Heartbeat(parameters) => with("HEARTBEAT", parameters),
        Chunk::HeartbeatAck(parameters) => with("HEARTBEAT_ACK", parameters),
        Chunk::Error(causes) => with("ERROR", causes),
        Chunk::Abort { reflected_tag: false, causes } => with("ABORT", causes),
        Chunk::Abort { reflected_tag, .. } => reflected("ABORT", *reflected_tag),
        Chunk::Shutdown { cumulative_tsn_ack } => format!("SHUTDOWN[flgs=0, cum_tsn={cumulative_tsn_ack}]"),
        Chunk::ShutdownAck => "SHUTDOWN_ACK[flgs=0]".to_owned(),
        Chunk::CookieEcho(cookie) => format!("COOKIE_ECHO[flgs=0, len={}]", 4 + cookie.len()),
        Chunk::CookieAck => "COOKIE_ACK[flgs=0]".to_owned(),
        Chunk::ShutdownComplete { reflected_tag } => reflected("SHUTDOWN_COMPLETE", *reflected_tag),
        Chunk::Asconf(asconf) => {
            let mut all = vec![asconf.address.clone()];
            all.extend(asconf.parameters.clone());
            with("ASCONF", &all).replace("flgs=0", &format!("flgs=0, seq={}", asconf.serial))
        }
        Chunk::AsconfAck(ack) => {
            with("ASCONF_ACK", &ack.parameters).replace("flgs=0", &format!("flgs=0, seq={}", ack.serial))
        }
        Chunk::ForwardTsn(forward) => {
            let streams: Vec<String> =
                forward.streams.iter().map(|(stream, ssn)| format!("{stream}:{ssn}")).collect();
            format!(
                "FORWARD_TSN[flgs=0, cum_tsn={}, streams=[{}]]",
                forward.cumulative_tsn,
                streams.join(",")
            )
        }
        Chunk::Other { kind, .. } => format!("CHUNK[type={kind}]"),
    }
}

fn parameter_text(parameter: &Parameter) -> String {
    let value = &parameter.value[..];
    let address_of = |value: &[u8]| {
        let octets = value.try_into().ok();
        octets.and_then(Address::from_ipv6_octets).map_or("?".to_owned(), |address| address.0.to_string())
    };
    let id = value.first_chunk::<4>().map_or(0, |id| u32::from_be_bytes(*id));
    let change =
        |name: &str| format!("{name}[id={id}, addr={}]", address_of(value.get(8..).unwrap_or_default()));
    match parameter.kind {
        Parameter::STATE_COOKIE => format!("STATE_COOKIE[len={}]", parameter.bytes()),
        Parameter::HEARTBEAT_INFO => format!("HEARTBEAT_INFORMATION[len={}]", parameter.bytes()),
        Parameter::IPV6_ADDRESS => format!("ADDRESS[addr={}]", address_of(value)),
        Parameter::FORWARD_TSN_SUPPORTED => "FORWARD_TSN_SUPPORTED[]".to_owned(),
        Parameter::SUPPORTED_EXTENSIONS => "SUPPORTED_EXTENSIONS[]".to_owned(),
        Parameter::ADD_ADDRESS => change("ADD_IP_ADDRESS"),
        Parameter::DELETE_ADDRESS => change("DEL_IP_ADDRESS"),
        Parameter::SET_PRIMARY => change("SET_PRIMARY"),
        Parameter::SUCCESS_INDICATION => format!("SUCCESS[id={id}]"),
        Parameter::ERROR_CAUSE_INDICATION => {
            let cause = value.get(4..6).map_or(0, |cause| u16::from_be_bytes([cause[0], cause[1]]));
            format!("REFUSED[id={id}, cause={cause:#06x}]")
        }
        // Error causes.
        3 => format!("STALE_COOKIE[us={id}]"),
        9 => format!("NO_USER_DATA[tsn={id}]"),
        kind => format!("PARAMETER[type={kind:#06x}]"),
    }
}

/// An event in the notation of scripts.
pub fn event_text(event: &Event) -> String {
    let path = |path: Path| format!("{}-{}", path.local.0, path.remote.0);
    match event {
        Event::Established => "established".to_owned(),
        Event::Received(message) if message.unordered => {
            format!("received sid {} unordered {}", message.stream, message.bytes)
        }
        Event::Received(message) => {
            format!("received sid {} ssn {} {}", message.stream, message.ssn, message.bytes)
        }
        Event::Forwarded(tsn) => format!("forwarded {tsn}"),
        Event::PathDown(at) => format!("path_down {}", path(*at)),
        Event::PathPotentiallyFailed(at) => format!("path_potentially_failed {}", path(*at)),
        Event::PathUp(at) => format!("path_up {}", path(*at)),
        Event::PrimaryChanged(at) => format!("primary {}", path(*at)),
        Event::Reconfigured { change, accepted } => {
            let (what, address) = match change {
                Change::Add(address) => ("add", address),
                Change::Delete(address) => ("delete", address),
                Change::SetPrimary(address) => ("primary", address),
            };
            format!("{what} {} {}", address.0, if *accepted { "accepted" } else { "refused" })
        }
        Event::PeerAddressAdded(address) => format!("peer_address_added {}", address.0),
        Event::PeerAddressDeleted(address) => format!("peer_address_deleted {}", address.0),
        Event::Closed => "closed".to_owned(),
        Event::Aborted => "aborted".to_owned(),
        Event::TimedOut => "timed_out".to_owned(),
    }
}
