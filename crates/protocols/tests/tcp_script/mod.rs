//! The runner of scripts.

mod notation;

use std::collections::VecDeque;

use notation::{Action, Expected, Line, Script, parse, print_segment};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{Connection, Event, Flags, Options, SackBlocks, Segment, State};
use roamsim_protocols::{Context, Machine};

/// Runs a script; the error says where, what was expected and what happened.
pub fn run(name: &str, text: &str) -> Result<(), String> {
    let script = parse(text).map_err(|(line, error)| {
        let source = text.lines().nth(line - 1).unwrap_or_default();
        format!("{name}:{line}: {source}\n  {error}")
    })?;
    script.config.check().map_err(|error| format!("{name}: {error}"))?;
    let mut runner = Runner {
        tcp: Connection::new(&script.config, 1000, 2000, script.iss),
        now: Time::ZERO,
        random: Stream::new(0, 0, ""),
        sent: VecDeque::new(),
        events: Vec::new(),
        trace: std::env::var_os("TCP_SCRIPT").is_some(),
        script: &script,
    };
    for line in &script.lines {
        runner.execute(line).map_err(|error| format!("{name}:{}: {}\n{error}", line.number, line.source))?;
    }
    let last = text.lines().count() + 1;
    runner.expect_silence().map_err(|error| format!("{name}:{last}: end of script\n{error}"))
}

struct Runner<'a> {
    tcp: Connection,
    now: Time,
    random: Stream,
    /// Sent and not yet expected by a line.
    sent: VecDeque<(Time, Segment)>,
    events: Vec<Event>,
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
            return self.expect_sent(at, expected);
        }
        let looks_only = matches!(line.action, Action::Event(_) | Action::Assert(_));
        if !(looks_only && at == self.now) {
            self.advance(at);
            self.expect_silence()?;
        }
        match &line.action {
            Action::Connect => self.tcp.open(),
            Action::Listen => self.tcp.listen(),
            Action::Write(bytes) => self.tcp.write(*bytes),
            Action::Close => self.tcp.close(),
            Action::Abort => self.tcp.abort(),
            Action::Read(bytes) => self.tcp.read(*bytes),
            Action::SetReading(reading) => self.tcp.set_reading(*reading),
            Action::Arrives(segment) => {
                let segment = Segment {
                    options: shift_blocks(&segment.options, self.script.iss),
                    seq: segment.seq.wrapping_add(self.script.irs),
                    ack: segment.ack.wrapping_add(self.script.iss),
                    ..segment.clone()
                };
                self.tcp.handle_segment(&mut Context { now: self.now, random: &mut self.random }, &segment);
            }
            Action::Event(event) => {
                let told = std::mem::take(&mut self.events);
                if !told.contains(event) {
                    return Err(format!("  expected  {event:?}\n  got       {told:?}"));
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

    fn expect_sent(&mut self, at: Time, expected: &Expected) -> Result<(), String> {
        let wanted = || format!("  expected  {at} > {}", expected.text);
        if self.sent.is_empty() {
            self.advance(at);
        }
        let Some((sent_at, segment)) = self.sent.pop_front() else {
            return Err(format!("{}\n  got       nothing until then", wanted()));
        };
        self.now = self.now.max(sent_at);
        let relative = self.relative(&segment);
        if sent_at != at || !expected.matches(&relative) {
            return Err(format!("{}\n  got       {sent_at} > {}", wanted(), print_segment(&relative)));
        }
        Ok(())
    }

    fn expect_silence(&self) -> Result<(), String> {
        match self.sent.front() {
            None => Ok(()),
            Some((at, segment)) => Err(format!(
                "  expected  nothing\n  got       {at} > {}",
                print_segment(&self.relative(segment))
            )),
        }
    }

    /// Lets time pass until `at`, or until something is sent.
    fn advance(&mut self, at: Time) {
        while let Some(due) = self.tcp.poll_timeout().filter(|&due| due <= at) {
            self.now = self.now.max(due);
            self.tcp.handle_timeout(&mut Context { now: self.now, random: &mut self.random });
            self.poll();
            if !self.sent.is_empty() {
                return;
            }
        }
        self.now = at;
    }

    fn poll(&mut self) {
        while let Some(segment) =
            self.tcp.poll_transmit(&mut Context { now: self.now, random: &mut self.random })
        {
            if self.trace {
                #[allow(clippy::print_stdout)] // asked for
                {
                    println!("{} > {}", self.now, print_segment(&self.relative(&segment)));
                }
            }
            self.sent.push_back((self.now, segment));
            assert!(self.sent.len() < 10_000, "endless sending");
        }
        while let Some(event) = self.tcp.poll_event() {
            self.events.push(event);
        }
    }

    fn relative(&self, segment: &Segment) -> Segment {
        let acknowledges = segment.flags.contains(Flags::ACK);
        Segment {
            options: shift_blocks(&segment.options, self.script.irs.wrapping_neg()),
            seq: segment.seq.wrapping_sub(self.script.iss),
            ack: if acknowledges { segment.ack.wrapping_sub(self.script.irs) } else { 0 },
            ..segment.clone()
        }
    }

    fn value_of(&self, name: &str) -> Result<String, String> {
        let tcp = &self.tcp;
        let stats = tcp.stats();
        let span = |span: Span| format!("{}s", span.as_secs_f64());
        Ok(match name {
            "state" => match tcp.state() {
                State::Closed => "CLOSED",
                State::Listen => "LISTEN",
                State::SynSent => "SYN_SENT",
                State::SynReceived => "SYN_RECEIVED",
                State::Established => "ESTABLISHED",
                State::FinWait1 => "FIN_WAIT_1",
                State::FinWait2 => "FIN_WAIT_2",
                State::CloseWait => "CLOSE_WAIT",
                State::Closing => "CLOSING",
                State::LastAck => "LAST_ACK",
                State::TimeWait => "TIME_WAIT",
            }
            .to_owned(),
            "cwnd" => tcp.cwnd_bytes().to_string(),
            "ssthresh" => tcp.ssthresh_bytes().to_string(),
            "flight" => tcp.flight_bytes().to_string(),
            "smss" => tcp.smss_bytes().to_string(),
            "recovering" => tcp.is_recovering().to_string(),
            "rto" => span(tcp.rto()),
            "srtt" => tcp.srtt().map_or("none".to_owned(), span),
            "received" => tcp.received_offset().to_string(),
            "acknowledged" => tcp.snd_una_offset().to_string(),
            "segments_sent" => stats.segments_sent.to_string(),
            "data_segments_sent" => stats.data_segments_sent.to_string(),
            "pure_acks_sent" => stats.pure_acks_sent.to_string(),
            "control_segments_sent" => stats.control_segments_sent.to_string(),
            "retransmissions" => stats.retransmissions.to_string(),
            "timeouts" => stats.timeouts.to_string(),
            "fast_retransmits" => stats.fast_retransmits.to_string(),
            "window_probes_sent" => stats.window_probes_sent.to_string(),
            "rtt_samples" => stats.rtt_samples.to_string(),
            "duplicate_acks_received" => stats.duplicate_acks_received.to_string(),
            "duplicate_segments_received" => stats.duplicate_segments_received.to_string(),
            "out_of_order_segments_received" => stats.out_of_order_segments_received.to_string(),
            "segments_refused" => stats.segments_refused.to_string(),
            _ => return Err(format!("  unknown name `{name}`")),
        })
    }
}

/// The options with the edges of SACK blocks moved by `by`.
fn shift_blocks(options: &Options, by: u32) -> Options {
    let mut sack = SackBlocks::default();
    for (left, right) in options.sack.as_slice() {
        sack.push(left.wrapping_add(by), right.wrapping_add(by));
    }
    Options { sack, ..options.clone() }
}
