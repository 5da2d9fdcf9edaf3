//! The runner of scripts: time, what is sent, what the application is told, assertions.

use std::collections::VecDeque;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::{Context, Machine};

use super::{Assertion, ScriptLine, assertions, lines};

/// A machine under a script, with what its peer and its application know.
pub trait Subject: Sized {
    /// What `--key=value` sets.
    type Settings;
    /// What peer or application do in a line.
    type Step;
    /// A packet that a line expects.
    type Expected;
    /// A packet that the machine sends.
    type Sent;

    /// The variable of the environment that has everything printed that is sent.
    const TRACE: &'static str;

    /// Settings that no line has changed.
    fn settings() -> Self::Settings;
    /// Reads one of them.
    fn set(settings: &mut Self::Settings, key: &str, text: &str) -> Result<(), String>;
    /// The machine, if the settings go together.
    fn new(settings: Self::Settings) -> Result<Self, String>;

    /// Reads what peer or application do.
    fn parse_step(text: &str) -> Result<Self::Step, String>;
    /// Reads what follows `>`.
    fn parse_expected(text: &str) -> Result<Self::Expected, String>;

    /// Does it.
    fn step(&mut self, cx: &mut Context<'_>, step: &Self::Step) -> Result<(), String>;
    /// The machine's deadline.
    fn machine(&mut self) -> &mut impl Machine;
    /// The next packet that leaves.
    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Option<Self::Sent>;
    /// The next thing that the application is told, in the notation of scripts.
    fn poll_event(&mut self) -> Option<String>;

    /// A packet in the notation of scripts.
    fn text(&self, sent: &Self::Sent) -> String;
    /// Whether it is what a line expects.
    fn fits(&self, expected: &Self::Expected, sent: &Self::Sent) -> bool;
    /// What an assertion compares.
    fn value_of(&self, name: &str) -> Result<String, String>;
}

struct Script<S: Subject> {
    settings: S::Settings,
    lines: Vec<Line<S>>,
}

struct Line<S: Subject> {
    number: usize,
    source: String,
    relative: bool,
    offset: Span,
    margin: Span,
    action: Action<S>,
}

enum Action<S: Subject> {
    Step(S::Step),
    /// With what stands in the script.
    Sent(S::Expected, String),
    Event(String),
    Assert(Vec<Assertion>),
}

/// Runs a script; the error says where, what was expected and what happened.
pub fn run<S: Subject>(name: &str, text: &str) -> Result<(), String> {
    let script = parse::<S>(text).map_err(|(line, error)| {
        let source = text.lines().nth(line - 1).unwrap_or_default();
        format!("{name}:{line}: {source}\n  {error}")
    })?;
    let mut runner = Runner {
        subject: S::new(script.settings).map_err(|error| format!("{name}: {error}"))?,
        now: Time::ZERO,
        random: Stream::new(0, 0, ""),
        sent: VecDeque::new(),
        events: Vec::new(),
        trace: std::env::var_os(S::TRACE).is_some(),
    };
    for line in &script.lines {
        runner.execute(line).map_err(|error| format!("{name}:{}: {}\n{error}", line.number, line.source))?;
    }
    let last = text.lines().count() + 1;
    runner.expect_silence().map_err(|error| format!("{name}:{last}: end of script\n{error}"))
}

/// Reads a script; the error comes with its line.
fn parse<S: Subject>(text: &str) -> Result<Script<S>, (usize, String)> {
    let mut script = Script { settings: S::settings(), lines: Vec::new() };
    for line in lines(text)? {
        match line {
            ScriptLine::Setting { number, key, value } => {
                S::set(&mut script.settings, &key, &value).map_err(|error| (number, error))?;
            }
            ScriptLine::Action { number, source, relative, offset, margin, text } => {
                let action = parse_action(&text).map_err(|error| (number, error))?;
                script.lines.push(Line { number, source, relative, offset, margin, action });
            }
        }
    }
    Ok(script)
}

fn parse_action<S: Subject>(text: &str) -> Result<Action<S>, String> {
    if let Some(packet) = text.strip_prefix('>') {
        let packet = packet.trim();
        return Ok(Action::Sent(S::parse_expected(packet)?, packet.to_owned()));
    }
    if let Some(rest) = text.strip_prefix("%{") {
        return assertions(rest).map(Action::Assert);
    }
    if let Some(event) = text.strip_prefix("event ") {
        return Ok(Action::Event(event.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    S::parse_step(text).map(Action::Step)
}

struct Runner<S: Subject> {
    subject: S,
    now: Time,
    random: Stream,
    /// Sent and not yet expected by a line.
    sent: VecDeque<(Time, S::Sent)>,
    events: Vec<String>,
    trace: bool,
}

impl<S: Subject> Runner<S> {
    fn execute(&mut self, line: &Line<S>) -> Result<(), String> {
        let at = if line.relative { self.now + line.offset } else { Time::ZERO + line.offset };
        if at < self.now {
            return Err(format!("  the time lies before {}", self.now));
        }
        match &line.action {
            Action::Sent(expected, text) => return self.expect_sent(at, line.margin, expected, text),
            Action::Event(_) | Action::Assert(_) if at == self.now => {}
            _ => {
                self.advance(at);
                self.expect_silence()?;
            }
        }
        match &line.action {
            Action::Step(step) => {
                self.subject.step(&mut Context { now: self.now, random: &mut self.random }, step)?;
            }
            Action::Event(event) => {
                let told = std::mem::take(&mut self.events);
                if !told.contains(event) {
                    return Err(format!("  expected  {event}\n  got       {}", told.join(", ")));
                }
            }
            Action::Assert(assertions) => {
                for assertion in assertions {
                    let name = &assertion.name;
                    let value = self.subject.value_of(name)?;
                    if !assertion.holds(&value) {
                        return Err(format!("  expected  {assertion}\n  got       {name} == {value}"));
                    }
                }
            }
            Action::Sent(..) => {}
        }
        self.poll();
        Ok(())
    }

    fn expect_sent(
        &mut self,
        at: Time,
        margin: Span,
        expected: &S::Expected,
        text: &str,
    ) -> Result<(), String> {
        if self.sent.is_empty() {
            self.advance(at + margin);
        }
        let Some((sent_at, sent)) = self.sent.pop_front() else {
            return Err(format!("  expected  {at} > {text}\n  got       nothing until then"));
        };
        self.now = self.now.max(sent_at);
        let in_time = (at..=at + margin).contains(&sent_at);
        if !in_time || !self.subject.fits(expected, &sent) {
            let got = self.subject.text(&sent);
            return Err(format!("  expected  {at} > {text}\n  got       {sent_at} > {got}"));
        }
        Ok(())
    }

    fn expect_silence(&self) -> Result<(), String> {
        match self.sent.front() {
            None => Ok(()),
            Some((at, sent)) => {
                Err(format!("  expected  nothing\n  got       {at} > {}", self.subject.text(sent)))
            }
        }
    }

    /// Lets time pass until `at`, or until something is sent.
    fn advance(&mut self, at: Time) {
        while let Some(due) = self.subject.machine().poll_timeout().filter(|&due| due <= at) {
            self.now = self.now.max(due);
            let cx = &mut Context { now: self.now, random: &mut self.random };
            self.subject.machine().handle_timeout(cx);
            self.poll();
            if !self.sent.is_empty() {
                return;
            }
        }
        self.now = at;
    }

    fn poll(&mut self) {
        while let Some(sent) =
            self.subject.poll_sent(&mut Context { now: self.now, random: &mut self.random })
        {
            if self.trace {
                #[allow(clippy::print_stdout)] // asked for
                {
                    println!("{} > {}", self.now, self.subject.text(&sent));
                }
            }
            self.sent.push_back((self.now, sent));
            assert!(self.sent.len() < 10_000, "endless sending");
        }
        self.events.extend(std::iter::from_fn(|| self.subject.poll_event()));
    }
}
