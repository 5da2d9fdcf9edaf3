//! An SCTP association under a script.

mod notation;

use notation::{Expected, Settings, Step, event_text, matches, packet_text, parse_expected, parse_step, set};
use roamsim_engine::Span;
use roamsim_protocols::sctp::{Association, Chunk, Packet, Parameter, Path, State};
use roamsim_protocols::{Address, Context, Machine};

use crate::script::Subject;

/// Runs a script; the error says where, what was expected and what happened.
pub fn run(name: &str, text: &str) -> Result<(), String> {
    crate::script::run::<Sctp>(name, text)
}

/// The association, and what the peer remembers of what it sent.
struct Sctp {
    association: Association,
    tag: u32,
    /// What the HEARTBEATs sent hold, by the address they went to.
    heartbeats: Vec<(Path, Vec<Parameter>)>,
    /// The cookie of the last INIT ACK sent.
    cookie: Vec<u8>,
}

impl Subject for Sctp {
    type Settings = Settings;
    type Step = Step;
    type Expected = Expected;
    type Sent = (Path, Packet);

    const TRACE: &'static str = "SCTP_SCRIPT";

    fn settings() -> Settings {
        Settings::default()
    }

    fn set(settings: &mut Settings, key: &str, text: &str) -> Result<(), String> {
        set(settings, key, text)
    }

    fn new(settings: Settings) -> Result<Sctp, String> {
        let addresses = |first: u32, count: u32| (first..first + count).map(Address).collect::<Vec<_>>();
        let association = Association::new(
            &settings.config,
            &addresses(0, settings.local_addresses),
            1000,
            &addresses(10, settings.remote_addresses),
            2000,
            settings.tag,
            settings.tsn,
        );
        Ok(Sctp { association, tag: settings.tag, heartbeats: Vec::new(), cookie: Vec::new() })
    }

    fn parse_step(text: &str) -> Result<Step, String> {
        parse_step(text)
    }

    fn parse_expected(text: &str) -> Result<Expected, String> {
        parse_expected(text)
    }

    fn step(&mut self, cx: &mut Context<'_>, step: &Step) -> Result<(), String> {
        let sctp = &mut self.association;
        match step {
            Step::Open => {
                sctp.open();
            }
            Step::Listen => sctp.listen(),
            Step::Send { stream, bytes, unordered, reliability, accepted, count: 1 } => {
                let sent = sctp.send_partially(*stream, *bytes, 0, *unordered, *reliability);
                expect_bool(sent, *accepted)?;
            }
            Step::Send { stream, bytes, count, unordered, accepted, .. } => {
                expect_bool(sctp.send_repeated(*stream, *bytes, *count, 0, *unordered), *accepted)?;
            }
            Step::Close => sctp.close(),
            Step::Abort => sctp.abort(),
            Step::SetPrimary(path) => {
                if !sctp.set_primary(*path) {
                    return Err("  there is no such path".to_owned());
                }
            }
            Step::Reconfigure { changes, source, accepted } => {
                expect_bool(sctp.reconfigure(changes, *source), *accepted)?;
            }
            Step::RequestFrom { source, accepted } => {
                expect_bool(sctp.request_from(*source), *accepted)?;
            }
            Step::Readdress { local, remote, accepted } => {
                expect_bool(sctp.readdress(cx.random, local, remote), *accepted)?;
            }
            Step::Arrives { path, tag, chunks } => self.arrives(cx, *path, *tag, chunks)?,
        }
        Ok(())
    }

    fn machine(&mut self) -> &mut impl Machine {
        &mut self.association
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Option<(Path, Packet)> {
        let (path, packet) = self.association.poll_transmit(cx)?;
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
        Some((path, packet))
    }

    fn poll_event(&mut self) -> Option<String> {
        self.association.poll_event().map(|event| event_text(&event))
    }

    fn text(&self, (path, packet): &(Path, Packet)) -> String {
        let (local, remote, tag) = (path.local.0, path.remote.0, packet.verification_tag);
        format!("{local}-{remote} sctp({tag}): {}", packet_text(packet))
    }

    fn fits(&self, expected: &Expected, (path, packet): &(Path, Packet)) -> bool {
        expected.path.is_none_or(|wanted| wanted == *path)
            && expected.tag.is_none_or(|tag| tag == packet.verification_tag)
            && matches(&expected.pattern, &packet_text(packet))
    }

    fn value_of(&self, name: &str) -> Result<String, String> {
        let sctp = &self.association;
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
                "potentially_failed" => report.potentially_failed.to_string(),
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
            "window_probes" => stats.window_probes_sent.to_string(),
            "retransmissions" => stats.data_chunks_retransmitted.to_string(),
            "retransmissions_for_reports" => stats.data_chunks_retransmitted_by_reports.to_string(),
            "acknowledged" => stats.bytes_acknowledged.to_string(),
            "packets_refused" => stats.refused.total().to_string(),
            "heartbeats_sent" => stats.heartbeats_sent.to_string(),
            "messages_abandoned" => stats.messages_abandoned.to_string(),
            "forward_tsns_sent" => stats.forward_tsns_sent.to_string(),
            "messages_dropped" => stats.messages_dropped.to_string(),
            _ => return Err(format!("  unknown name `{name}`")),
        })
    }
}

impl Sctp {
    fn arrives(
        &mut self,
        cx: &mut Context<'_>,
        path: Option<Path>,
        tag: Option<u32>,
        chunks: &[Chunk],
    ) -> Result<(), String> {
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
            verification_tag: tag.unwrap_or(if is_init { 0 } else { self.tag }),
            chunks: chunks.into(),
        };
        self.association.handle_packet(cx, path, &packet);
        Ok(())
    }
}

fn expect_bool(did: bool, expected: bool) -> Result<(), String> {
    if did == expected { Ok(()) } else { Err(format!("  expected  {expected}\n  got       {did}")) }
}
