//! The notation of scripts: reading and printing.

use roamsim_protocols::tcp::congestion::keys::Own;
use roamsim_protocols::tcp::congestion::{ALPHA, BETA, FAST_CONVERGENCE, GAMMA};
use roamsim_protocols::tcp::{
    AccurateOption, Codepoint, Config, Cookie, DelayedAckRules, Event, FirstCookie, Flags, GrowthRules,
    InitialWindow, KeepAlive, KnownServer, LossProbeRules, NagleRules, Options, RackRules, RtoRules, Segment,
    Timestamps, UndoRules, UserTimeout, UserTimeoutOption, WindowValidation,
};

use crate::script::{on_off, span, value};

/// What `--key=value` sets.
pub struct Settings {
    pub config: Config,
    pub iss: u32,
    pub irs: u32,
    /// Of Fast Open.
    pub own_cookie: Option<Cookie>,
    pub known_server: Option<KnownServer>,
}

/// What peer or application do.
pub enum Step {
    Connect,
    Listen,
    Write(u64),
    PathMss(u32),
    Close,
    CloseHalfDuplex,
    Abort,
    Read(u64),
    SetReading(bool),
    /// It arrives, in a packet that says this.
    Arrives(Segment, Codepoint),
}

/// A segment that a line expects; what is `None` is not looked at.
pub struct Expected {
    segment: Segment,
    window: Option<u16>,
    options: Option<Options>,
}

impl Expected {
    pub fn matches(&self, sent: &Segment) -> bool {
        let want = &self.segment;
        (want.seq, want.ack, want.flags, want.payload_bytes)
            == (sent.seq, sent.ack, sent.flags, sent.payload_bytes)
            && self.window.is_none_or(|window| window == sent.window)
            && self.options.as_ref().is_none_or(|options| *options == sent.options)
    }
}

/// `ALPHA,BETA,GAMMA`.
fn vegas(text: &str) -> Result<Own, String> {
    let numbers = text.split(',').map(value).collect::<Result<Vec<u32>, _>>()?;
    let [alpha, beta, gamma] = numbers[..] else {
        return Err(format!("`{text}` is not ALPHA,BETA,GAMMA"));
    };
    Ok(Own::default().with(&ALPHA, alpha).with(&BETA, beta).with(&GAMMA, gamma))
}

/// A cookie in hexadecimal digits.
fn cookie(text: &str) -> Result<Cookie, String> {
    let octets: Option<Vec<u8>> = (0..text.len() / 2)
        .map(|i| text.get(2 * i..2 * i + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()))
        .collect();
    octets.and_then(|octets| Cookie::new(&octets)).ok_or(format!("`{text}` is no cookie"))
}

/// Reads one of the settings.
pub fn set(settings: &mut Settings, key: &str, text: &str) -> Result<(), String> {
    let config = &mut settings.config;
    match key {
        "variant" => config.variant = text.parse().map_err(|error| format!("{error}"))?,
        "mss" => config.mss_bytes = value(text)?,
        "default_mss" => config.default_mss_bytes = value(text)?,
        "byte_counting_limit" => config.byte_counting_limit = value(text)?,
        "challenge_ack_limit" => config.challenge_ack_limit = value(text)?,
        "challenge_ack_interval" => config.challenge_ack_interval = span(text)?,
        "initial_window" if text == "rfc5681" => config.initial_window = InitialWindow::Rfc5681,
        "initial_window" => config.initial_window = InitialWindow::Segments(value(text)?),
        "send_buffer" => config.send_buffer_bytes = Some(value(text)?),
        "initial_send_buffer" => config.initial_send_buffer_bytes = Some(value(text)?),
        "receive_window" => config.receive_window_bytes = value(text)?,
        "window_scaling" => config.window_scaling = on_off(text)?,
        "min_rto" => config.min_rto = span(text)?,
        "rto_rules" => config.rto_rules = if text == "linux" { RtoRules::Linux } else { RtoRules::Rfc6298 },
        "window_validation" => {
            config.window_validation = match text {
                "linux" => WindowValidation::Linux,
                "rfc7661" => WindowValidation::Rfc7661,
                _ => WindowValidation::Half,
            }
        }
        "quick_acks" => config.quick_acks = value(text)?,
        "compressed_acks" => config.compressed_acks = on_off(text)?,
        "delayed_ack_adapts" => config.delayed_ack_adapts = on_off(text)?,
        "max_rto" => config.max_rto = span(text)?,
        "initial_rto" => config.initial_rto = span(text)?,
        "clock_granularity" => config.clock_granularity = span(text)?,
        "delayed_ack" => config.delayed_ack = if text == "off" { None } else { Some(span(text)?) },
        "delayed_ack_count" => config.delayed_ack_count = value(text)?,
        "delayed_ack_rules" => {
            config.delayed_ack_rules =
                if text == "linux" { DelayedAckRules::Linux } else { DelayedAckRules::Rfc }
        }
        "one_way_connections" => config.one_way_connections = on_off(text)?,
        "piggyback_acks" => config.piggyback_acks = on_off(text)?,
        "nagle" => config.nagle = on_off(text)?,
        "nagle_rules" => {
            config.nagle_rules = if text == "minshall" { NagleRules::Minshall } else { NagleRules::Rfc }
        }
        "dup_ack_threshold" => config.dup_ack_threshold = value(text)?,
        "limited_transmit" => config.limited_transmit = on_off(text)?,
        "sack" => config.sack = Some(on_off(text)?),
        "max_sack_blocks" => config.max_sack_blocks = Some(value(text)?),
        "timestamps" => config.timestamps = on_off(text)?,
        "max_retransmissions" => config.max_retransmissions = Some(value(text)?),
        "user_timeout" => config.user_timeout = Some(span(text)?),
        // TIME,INTERVAL,PROBES
        "keep_alive" => {
            let [idle, interval, probes] = text.split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("`{text}` is not TIME,INTERVAL,PROBES"));
            };
            let (idle, interval, probes) = (span(idle)?, span(interval)?, value(probes)?);
            config.keep_alive = Some(KeepAlive { idle, interval, probes });
        }
        "initial_ssthresh" => config.initial_ssthresh_bytes = Some(value(text)?),
        "restart_after_idle" => config.restart_after_idle = on_off(text)?,
        "successive_fast_retransmits" => config.successive_fast_retransmits = on_off(text)?,
        "rack" => config.rack = on_off(text)?,
        "tail_loss_probe" => config.tail_loss_probe = on_off(text)?,
        "loss_probe_rules" => {
            config.loss_probe_rules =
                if text == "linux" { LossProbeRules::Linux } else { LossProbeRules::Rfc8985 }
        }
        "undo_rules" => {
            config.undo_rules = if text == "linux" { UndoRules::Linux } else { UndoRules::Rfc3522 }
        }
        "rack_rules" => {
            config.rack_rules = if text == "linux" { RackRules::Linux } else { RackRules::Rfc8985 }
        }
        "growth_rules" => {
            config.growth_rules = if text == "linux" { GrowthRules::Linux } else { GrowthRules::Rfc5681 }
        }
        "prr" => config.prr = on_off(text)?,
        "frto" => config.frto = on_off(text)?,
        "reduce_after_lost_retransmission" => config.reduce_after_lost_retransmission = on_off(text)?,
        "hystart" => config.hystart = on_off(text)?,
        "pacing" => config.pacing = on_off(text)?,
        "undo" => config.undo = on_off(text)?,
        "ecn" => config.ecn = on_off(text)?,
        "ecn_min_window" => config.ecn_min_window = value(text)?,
        "prr_for_ecn" => config.prr_for_ecn = on_off(text)?,
        "accurate_ecn" => config.accurate_ecn = on_off(text)?,
        "abe" => config.abe = on_off(text)?,
        "fast_convergence" => config.own.set(&FAST_CONVERGENCE, u32::from(on_off(text)?)),
        "msl" => config.msl = span(text)?,
        "vegas" => config.own = vegas(text)?,
        // ADVERTISED,CHANGEABLE,L_LIMIT,U_LIMIT
        "user_timeout_option" => {
            let [advertised, changeable, lower, upper] = text.split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("`{text}` is not ADVERTISED,CHANGEABLE,L_LIMIT,U_LIMIT"));
            };
            config.user_timeout_option = Some(UserTimeoutOption {
                advertised: span(advertised)?,
                changeable: on_off(changeable)?,
                lower_limit: span(lower)?,
                upper_limit: span(upper)?,
            });
        }
        "fast_open" => config.fast_open = on_off(text)?.then_some(FirstCookie::Requested),
        "own_cookie" => settings.own_cookie = Some(cookie(text)?),
        // COOKIE,MSS
        "known_server" => {
            let (octets, mss) = text.split_once(',').ok_or(format!("`{text}` is not COOKIE,MSS"))?;
            settings.known_server = Some(KnownServer { cookie: cookie(octets)?, mss_bytes: value(mss)? });
        }
        "iss" => settings.iss = value(text)?,
        "irs" => settings.irs = value(text)?,
        _ => return Err(format!("unknown setting `{key}`")),
    }
    Ok(())
}

/// Reads what peer or application do.
pub fn parse_step(text: &str) -> Result<Step, String> {
    if let Some(segment) = text.strip_prefix('<') {
        let segment = segment.trim();
        let said = [
            ("[ce] ", Codepoint::Marked),
            ("[ect0] ", Codepoint::Capable0),
            ("[ect1] ", Codepoint::Capable1),
        ];
        let found = said.iter().find_map(|(word, said)| Some((segment.strip_prefix(word)?, *said)));
        let (segment, codepoint) = found.unwrap_or((segment, Codepoint::NotCapable));
        let expected = parse_segment(segment)?;
        let window = expected.window.unwrap_or(u16::MAX);
        let options = expected.options.ok_or("<any> cannot arrive".to_owned())?;
        return Ok(Step::Arrives(Segment { window, options, ..expected.segment }, codepoint));
    }
    let unknown = || format!("unknown action `{text}`");
    let (name, rest) = text.split_once('(').ok_or_else(unknown)?;
    let argument = rest.strip_suffix(')').ok_or_else(unknown)?;
    Ok(match name {
        "connect" => Step::Connect,
        "listen" => Step::Listen,
        "close" => Step::Close,
        "close_half_duplex" => Step::CloseHalfDuplex,
        "abort" => Step::Abort,
        "write" => Step::Write(value(argument)?),
        "path_mss" => Step::PathMss(value(argument)?),
        "read" => Step::Read(value(argument)?),
        "set_reading" => Step::SetReading(on_off(argument)?),
        _ => return Err(unknown()),
    })
}

/// An event in the notation of scripts.
pub fn event_text(event: Event) -> String {
    match event {
        Event::Established => "established".to_owned(),
        Event::Received { up_to } => format!("received {up_to}"),
        Event::Acknowledged { up_to } => format!("acknowledged {up_to}"),
        Event::RemoteClosed => "remote_closed".to_owned(),
        Event::Closed => "closed".to_owned(),
        Event::Reset => "reset".to_owned(),
        Event::TimedOut => "timed_out".to_owned(),
        Event::DataLost => "data_lost".to_owned(),
    }
}

/// Reads a segment.
pub fn parse_segment(text: &str) -> Result<Expected, String> {
    let (before, options) = match text.split_once('<') {
        None => (text, Some(Options::default())),
        Some((before, options)) => {
            let options = options.strip_suffix('>').ok_or("options without `>`".to_owned())?;
            (before, if options == "any" { None } else { Some(parse_options(options)?) })
        }
    };
    let words: Vec<&str> = before.split_whitespace().collect();
    let [flags, range, rest @ ..] = &words[..] else {
        return Err("a segment is FLAGS SEQ:END(LENGTH) ...".to_owned());
    };
    let (seq, payload_bytes) = parse_range(range)?;
    let mut segment = Segment {
        source_port: 2000,
        destination_port: 1000,
        seq,
        ack: 0,
        flags: parse_flags(flags)?,
        window: 0,
        payload_bytes,
        options: Options::default(),
    };
    let mut window = None;
    for pair in rest.chunks(2) {
        match pair {
            ["ack", ack] => segment.ack = value(ack)?,
            ["win", field] => window = Some(value(field)?),
            _ => return Err(format!("`{}` is neither `ack N` nor `win N`", pair.join(" "))),
        }
    }
    Ok(Expected { segment, window, options })
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let error = || format!("`{text}` is not SEQ:END(LENGTH) with END = SEQ + LENGTH");
    let (seq, rest) = text.split_once(':').ok_or_else(error)?;
    let (end, length) = rest.split_once('(').ok_or_else(error)?;
    let (seq, end): (u32, u32) = (value(seq)?, value(end)?);
    let length: u32 = value(length.strip_suffix(')').ok_or_else(error)?)?;
    if seq.wrapping_add(length) == end { Ok((seq, length)) } else { Err(error()) }
}

fn parse_flags(text: &str) -> Result<Flags, String> {
    let mut flags = Flags::NONE;
    for letter in text.chars() {
        flags |= match letter {
            'S' => Flags::SYN,
            'F' => Flags::FIN,
            'R' => Flags::RST,
            'P' => Flags::PSH,
            '.' => Flags::ACK,
            'E' => Flags::ECE,
            'W' => Flags::CWR,
            'A' => Flags::AE,
            '-' => Flags::NONE,
            _ => return Err(format!("unknown flag `{letter}`")),
        };
    }
    Ok(flags)
}

fn parse_options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for option in text.split(',') {
        let words: Vec<&str> = option.split_whitespace().collect();
        match words[..] {
            ["mss", mss] => options.mss = Some(value(mss)?),
            ["wscale", shift] => options.window_scale = Some(value(shift)?),
            ["TS", "val", val, "ecr", ecr] => {
                options.timestamps = Some(Timestamps { value: value(val)?, echo_reply: value(ecr)? });
            }
            ["accecn", "e0b", e0b, "ceb", ceb, "e1b", e1b] => {
                let (marked, capable0, capable1) = (value(ceb)?, value(e0b)?, value(e1b)?);
                options.sack.set_accurate(AccurateOption { marked, capable0, capable1 });
            }
            ["uto", time] => options.sack.set_user_timeout(UserTimeout::of(span(time)?)),
            ["FO"] => options.sack.set_fast_open(Cookie::REQUEST),
            ["FO", octets] => options.sack.set_fast_open(cookie(octets)?),
            ["sackOK"] => options.sack_permitted = true,
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let (left, right) =
                        block.split_once(':').ok_or(format!("`{block}` is not LEFT:RIGHT"))?;
                    options.sack.push(value(left)?, value(right)?);
                }
            }
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(options)
}

/// A segment with relative numbers in the notation of scripts.
pub fn print_segment(segment: &Segment) -> String {
    let letters = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, '.'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::AE, 'A'),
    ];
    let flags: String =
        letters.iter().filter(|(flag, _)| segment.flags.contains(*flag)).map(|(_, letter)| letter).collect();
    let end = segment.seq.wrapping_add(segment.payload_bytes);
    let mut text = format!("{flags} {}:{end}({})", segment.seq, segment.payload_bytes);
    if segment.flags.contains(Flags::ACK) {
        text += &format!(" ack {}", segment.ack);
    }
    text += &format!(" win {}", segment.window);
    let options = &segment.options;
    let mut parts = Vec::new();
    parts.extend(options.mss.map(|mss| format!("mss {mss}")));
    parts.extend(options.window_scale.map(|shift| format!("wscale {shift}")));
    parts.extend(options.timestamps.map(|ts| format!("TS val {} ecr {}", ts.value, ts.echo_reply)));
    parts.extend(options.sack_permitted.then(|| "sackOK".to_owned()));
    if !options.sack.is_empty() {
        let blocks = options.sack.as_slice().iter().map(|(left, right)| format!(" {left}:{right}"));
        parts.push(format!("sack{}", blocks.collect::<String>()));
    }
    if let Some(AccurateOption { marked, capable0, capable1 }) = options.sack.accurate() {
        parts.push(format!("accecn e0b {capable0} ceb {marked} e1b {capable1}"));
    }
    if let Some(cookie) = options.sack.fast_open() {
        let octets: String = cookie.octets().iter().map(|octet| format!("{octet:02x}")).collect();
        parts.push(format!("FO {octets}").trim_end().to_owned());
    }
    if let Some(option) = options.sack.user_timeout() {
        parts.push(format!("uto {}s", option.time().as_secs_f64()));
    }
    if !parts.is_empty() {
        text += &format!(" <{}>", parts.join(","));
    }
    text
}
