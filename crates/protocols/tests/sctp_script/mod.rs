//! The runner of SCTP scripts.

mod notation;

use std::collections::VecDeque;

use notation::{Action, Expected, Line, Script, event_text, matches, packet_text, parse};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{Association, Chunk, Packet, Parameter, Path, State};
use roamsim_protocols::{Address, Context, Machine};

/// Runs a script; the error says where, what was expected and what happened.
pub fn run(name: &str, text: &str) -> Result<(), String> {
    let script = parse(text).map_err(|(line, error)| {
        let source = text.lines().nth(line - 1).unwrap_or_default();
        format!("{name}:{line}: {source}\n  {error}")
    })?;
    script.config.check().map_err(|error| format!("{name}: {error}"))?;
    let addresses = |first: u32, count: u32| (first..first + count).map(Address).collect::<Vec<_>>();
    let mut runner = Runner {
        sctp: Association::new(
            &script.config,
            &addresses(0, script.local_addresses),
            1000,
            &addresses(10, script.remote_addresses),
            2000,
            script.tag,
            script.tsn,
        ),
        now: Time::ZERO,
        random: Stream::new(0, 0, ""),
        sent: VecDeque::new(),
        heartbeats: Vec::new(),
        cookie: Vec::new(),
        events: Vec::new(),
        trace: std::env::var_os("SCTP_SCRIPT").is_some(),
        script: &script,
    };
    for line in &script.lines {
        runner.execute(line).map_err(|error| format!("{name}:{}: {}\n{error}", line.number, line.source))?;
    }
    let last = text.lines().count() + 1;
    runner.expect_silence().map_err(|error| format!("{name}:{last}: end of script\n{error}"))
}

fn expect_bool(did: bool, expected: bool) -> Result<(), String> {
    if did == expected { Ok(()) } else { Err(format!("  expected  {expected}\n  got       {did}")) }
}

struct Runner<'a> {
    sctp: Association,
    now: Time,
    random: Stream,
    /// Sent and not yet expected by a line.
    sent: VecDeque<(Time, Path, Packet)>,
    /// What the HEARTBEATs sent hold, by the address they went to.
    heartbeats: Vec<(Path, Vec<Parameter>)>,
    /// The cookie of the last INIT ACK sent.
    cookie: Vec<u8>,
    events: Vec<String>,
    trace: bool,
    script: &'a Script,
}

impl Runner<'_> {
    fn execute(&mut self, line: &Line) -> Result<(), String> {
        let at = if line.relative { self.now + line.offset } else { Time::ZERO + line.offset };
        if at < self.now {
            return Err(format!("  the time lies before {}", self.now));
        }
        if let Action::Sent(expected) = &line.action {
            return self.expect_sent(at, line.margin, expected);
        }
        let looks_only = matches!(line.action, Action::Event(_) | Action::Assert(_));
        if !(looks_only && at == self.now) {
            self.advance(at);
            self.expect_silence()?;
        }
        match &line.action {
            Action::Open => {
                self.sctp.open();
            }
            Action::Listen => self.sctp.listen(),
            Action::Send { stream, bytes, count, unordered, accepted } => {
                expect_bool(self.sctp.send_repeated(*stream, *bytes, *count, 0, *unordered), *accepted)?;
            }
            Action::Close => self.sctp.close(),
            Action::Abort => self.sctp.abort(),
            Action::SetPrimary(path) => {
                if !self.sctp.set_primary(*path) {
                    return Err("  there is no such path".to_owned());
                }
            }
            Action::Reconfigure { changes, source, accepted } => {
                expect_bool(self.sctp.reconfigure(changes, *source), *accepted)?;
            }
            Action::RequestFrom { source, accepted } => {
                expect_bool(self.sctp.request_from(*source), *accepted)?;
            }
            Action::Readdress { local, remote, accepted } => {
                expect_bool(self.sctp.readdress(&mut self.random, local, remote), *accepted)?;
            }
            Action::Arrives { path, tag, chunks } => self.arrives(*path, *tag, chunks)?,
            Action::Event(event) => {
                let told = std::mem::take(&mut self.events);
                if !told.contains(event) {
                    return Err(format!("  expected  {event}\n  got       {}", told.join(", ")));
                }
            }
            Action::Assert(assertions) => {
                for assertion in assertions {
                    let value = self.value_of(&assertion.name)?;
                    if !assertion.holds(&value) {
                        return Err(format!(
                            "  expected  {assertion}\n  got       {} == {value}",
                            assertion.name
                        ));
                    }
                }
            }
            Action::Sent(_) => {}
        }
        self.poll();
        Ok(())
    }

    fn arrives(&mut self, path: Option<Path>, tag: Option<u32>, chunks: &[Chunk]) -> Result<(), String> {
        let path = path.unwrap_or(Path { local: Address(0), remote: Address(10) });
        let mut chunks = chunks.to_vec();
        for chunk in &mut chunks {
            match chunk {
                // What stands in the place of information and cookies is what was sent.
                Chunk::HeartbeatAck(information) if information.is_empty() => {
                    let sent = self.heartbeats.iter().rev().find(|(to, _)| *to == path);
                    *information = sent.ok_or("  no HEARTBEAT was sent there")?.1.clone();
                }
                Chunk::CookieEcho(cookie) if cookie.is_empty() => cookie.clone_from(&self.cookie),
                _ => {}
            }
        }
        let is_init = matches!(chunks[..], [Chunk::Init(_)]);
        let packet = Packet {
            source_port: 2000,
            destination_port: 1000,
            verification_tag: tag.unwrap_or(if is_init { 0 } else { self.script.tag }),
            chunks: chunks.into(),
        };
        self.sctp.handle_packet(&mut Context { now: self.now, random: &mut self.random }, path, &packet);
        Ok(())
    }

    fn expect_sent(&mut self, at: Time, margin: Span, expected: &Expected) -> Result<(), String> {
        let wanted = || format!("  expected  {at} > {}", expected.text);
        if self.sent.is_empty() {
            self.advance(at + margin);
        }
        let Some((sent_at, path, packet)) = self.sent.pop_front() else {
            return Err(format!("{}\n  got       nothing until then", wanted()));
        };
        self.now = self.now.max(sent_at);
        let got = packet_text(&packet);
        let in_time = (at..=at + margin).contains(&sent_at);
        let on_path = expected.path.is_none_or(|wanted| wanted == path);
        let tag_fits = expected.tag.is_none_or(|tag| tag == packet.verification_tag);
        if !in_time || !on_path || !tag_fits || !matches(&expected.pattern, &got) {
            return Err(format!(
                "{}\n  got       {sent_at} > {}-{} sctp({}): {got}",
                wanted(),
                path.local.0,
                path.remote.0,
                packet.verification_tag
            ));
        }
        Ok(())
    }

    fn expect_silence(&self) -> Result<(), String> {
        match self.sent.front() {
            None => Ok(()),
            Some((at, path, packet)) => Err(format!(
                "  expected  nothing\n  got       {at} > {}-{} sctp: {}",
                path.local.0,
                path.remote.0,
                packet_text(packet)
            )),
        }
    }

    /// Lets time pass until `at`, or until something is sent.
    fn advance(&mut self, at: Time) {
        while let Some(due) = self.sctp.poll_timeout().filter(|&due| due <= at) {
            self.now = self.now.max(due);
            self.sctp.handle_timeout(&mut Context { now: self.now, random: &mut self.random });
            self.poll();
            if !self.sent.is_empty() {
                return;
            }
        }
        self.now = at;
    }

    fn poll(&mut self) {
        while let Some((path, packet)) =
            self.sctp.poll_transmit(&mut Context { now: self.now, random: &mut self.random })
        {
            if self.trace {
                #[allow(clippy::print_stdout)] // asked for
                {
                    println!("{} > {}-{} {}", self.now, path.local.0, path.remote.0, packet_text(&packet));
                }
            }
            for chunk in &packet.chunks {
                match chunk {
                    Chunk::Heartbeat(information) => self.heartbeats.push((path, information.clone())),
                    Chunk::InitAck(init) => {
                        let cookie = init.parameters.iter().find(|p| p.kind == Parameter::STATE_COOKIE);
                        self.cookie = cookie.map(|cookie| cookie.value.clone()).unwrap_or_default();
                    }
                    _ => {}
                }
            }
            self.sent.push_back((self.now, path, packet));
            assert!(self.sent.len() < 10_000, "endless sending");
        }
        while let Some(event) = self.sctp.poll_event() {
            self.events.push(event_text(&event));
        }
    }

    fn value_of(&self, name: &str) -> Result<String, String> {
        let sctp = &self.sctp;
        let stats = sctp.stats();
        let span = |span: Span| format!("{}s", span.as_secs_f64());
        // `cwnd[0-11]` is that of one path.
        if let Some((name, path)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            let path = notation::parse_path(path).ok_or(format!("  `{path}` is no path"))?;
            let report = sctp.paths().find(|report| report.path == path);
            let report = report.ok_or_else(|| format!("  there is no path {name}"))?;
            return Ok(match name {
                "cwnd" => report.cwnd_bytes.to_string(),
                "ssthresh" => report.ssthresh_bytes.to_string(),
                "outstanding" => report.outstanding_bytes.to_string(),
                "errors" => report.errors.to_string(),
                "active" => report.active.to_string(),
                "confirmed" => report.confirmed.to_string(),
                "rto" => span(report.rto),
                "srtt" => report.srtt.map_or("none".to_owned(), span),
                _ => return Err(format!("  unknown name `{name}` of a path")),
            });
        }
        Ok(match name {
            "state" => match sctp.state() {
                State::Closed => "CLOSED",
                State::CookieWait => "COOKIE_WAIT",
                State::CookieEchoed => "COOKIE_ECHOED",
                State::Established => "ESTABLISHED",
                State::ShutdownPending => "SHUTDOWN_PENDING",
                State::ShutdownSent => "SHUTDOWN_SENT",
                State::ShutdownReceived => "SHUTDOWN_RECEIVED",
                State::ShutdownAckSent => "SHUTDOWN_ACK_SENT",
            }
            .to_owned(),
            "cwnd" => sctp.cwnd_bytes().to_string(),
            "ssthresh" => sctp.ssthresh_bytes().to_string(),
            "outstanding" => sctp.outstanding_bytes().to_string(),
            "recovering" => sctp.is_recovering().to_string(),
            "drained" => sctp.is_drained().to_string(),
            "rto" => span(sctp.rto()),
            "srtt" => sctp.srtt().map_or("none".to_owned(), span),
            "paths" => sctp.paths().count().to_string(),
            "timeouts" => stats.timeouts.to_string(),
            "fast_retransmits" => stats.fast_retransmits.to_string(),
            "retransmissions" => stats.data_chunks_retransmitted.to_string(),
            "acknowledged" => stats.bytes_acknowledged.to_string(),
            "packets_refused" => stats.refused.total().to_string(),
            "heartbeats_sent" => stats.heartbeats_sent.to_string(),
            "messages_dropped" => stats.messages_dropped.to_string(),
            _ => return Err(format!("  unknown name `{name}`")),
        })
    }
}
