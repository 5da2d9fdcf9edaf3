//! Request and response: a client that asks, waits for the answer, thinks, and asks again; a server that
//! answers after a processing time.

use super::{Action, Activity};
use crate::distribution::Distribution;
use crate::packet::AppMessage;
use roamsim_engine::{Span, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::{BTreeMap, VecDeque};

/// The client. A request that is not answered within `timeout` is given up and the client thinks before the
/// next; a response that comes later is ignored.
#[derive(Clone, Debug)]
pub struct Client {
    activity: Activity,
    request: Distribution,
    think: Distribution,
    /// `None`: waits for ever (over TCP).
    timeout: Option<Span>,
    /// The fewest octets of a request.
    least_bytes: u32,
    /// What it asks a program for.
    path: Box<str>,
    /// Where a program outside asks, and decides when and how long it waits: its requests without a response,
    /// by number, when they were sent, and over UDP the port that a response goes to. They may overlap.
    outside: Option<BTreeMap<u64, (Time, Option<u16>)>>,
    state: State,
    sent: u64,
    given_up: u64,
    actions: VecDeque<Action>,
}

/// Requests of a program that wait for a response: of more the oldest are lost. Chosen: more than any server
/// answers at once.
const MOST_WAITING: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
enum State {
    /// The next request goes at this time.
    Thinking(Time),
    /// The request of this time waits for its response.
    Waiting(Time),
    Stopped,
}

impl Client {
    /// A client that is silent until its start; `request` in octets, `think` in nanoseconds.
    pub fn new(
        activity: Activity,
        request: Distribution,
        think: Distribution,
        timeout: Option<Span>,
    ) -> Client {
        let state = State::Thinking(activity.start);
        Client {
            activity,
            request,
            think,
            timeout,
            least_bytes: 1,
            path: "/".into(),
            outside: None,
            state,
            sent: 0,
            given_up: 0,
            actions: VecDeque::new(),
        }
    }

    /// A program outside asks in its place, from now on.
    pub(crate) fn leave_to_program(&mut self) {
        (self.outside, self.state) = (Some(BTreeMap::new()), State::Stopped);
    }

    /// The program has sent the request with this number, over UDP from this port.
    pub(crate) fn on_request_outside(&mut self, now: Time, sequence: u64, port: Option<u16>) {
        let Some(waiting) = &mut self.outside else { return };
        waiting.insert(sequence, (now, port));
        if waiting.len() > MOST_WAITING {
            waiting.pop_first();
        }
    }

    /// The port of a program that the response to this request goes to.
    pub(crate) fn port_of(&self, sequence: u64) -> Option<u16> {
        self.outside.as_ref()?.get(&sequence)?.1
    }

    /// What it asks a program for, with no fewer octets than that takes.
    pub fn ask_for(&mut self, path: &str) {
        self.path = path.into();
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// No request has fewer octets.
    pub(crate) fn ask_with_at_least(&mut self, bytes: u32) {
        self.least_bytes = bytes;
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Requests given up so far.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// When it sent the request that it waits for the response to.
    pub(crate) fn waits_since(&self) -> Option<Time> {
        match self.state {
            State::Waiting(since) => Some(since),
            State::Thinking(_) | State::Stopped => None,
        }
    }

    fn think(&mut self, cx: &mut Context<'_>) {
        let next = cx.now + self.think.sample_span(cx.random);
        self.state = if next < self.activity.stop { State::Thinking(next) } else { State::Stopped };
    }

    /// The response to request `message.sequence` has arrived. Returns the response time, `None` when it came
    /// too late to count.
    pub(super) fn on_response(&mut self, cx: &mut Context<'_>, message: AppMessage) -> Option<Span> {
        if let Some(waiting) = &mut self.outside {
            return waiting.remove(&message.sequence).map(|(since, _)| cx.now - since);
        }
        match self.state {
            State::Waiting(since) if message.sequence + 1 == self.sent => {
                self.think(cx);
                Some(cx.now - since)
            }
            _ => None,
        }
    }
}

impl Machine for Client {
    fn poll_timeout(&self) -> Option<Time> {
        match self.state {
            State::Thinking(until) => Some(until),
            State::Waiting(since) => self.timeout.map(|timeout| since + timeout),
            State::Stopped => None,
        }
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        if self.poll_timeout().is_none_or(|due| cx.now < due) {
            return;
        }
        match self.state {
            State::Thinking(_) => {
                if self.sent == 0 {
                    self.actions.push_back(Action::Open);
                }
                self.sent += 1;
                let bytes = self.request.sample(cx.random) as u32;
                self.actions.push_back(Action::Send { bytes: bytes.max(self.least_bytes) });
                self.state = State::Waiting(cx.now);
            }
            State::Waiting(_) => {
                self.given_up += 1;
                self.think(cx);
            }
            State::Stopped => {}
        }
    }
}

/// The server: answers each request after a processing time of its own, several at once if need be.
#[derive(Clone, Debug)]
pub struct Server {
    response: Distribution,
    processing: Distribution,
    /// Whether it answers in the order of the requests, whatever each takes.
    in_order: bool,
    /// Due time and sequence number of requests in work, in order of due time.
    working: VecDeque<(Time, u64)>,
}

impl Server {
    /// An idle server; `response` in octets, `processing` in nanoseconds.
    pub fn new(response: Distribution, processing: Distribution) -> Server {
        Server { response, processing, in_order: false, working: VecDeque::new() }
    }

    /// From now on no answer overtakes another.
    pub(crate) fn answer_in_order(&mut self) {
        self.in_order = true;
    }

    /// A request has arrived.
    pub fn on_request(&mut self, cx: &mut Context<'_>, message: AppMessage) {
        let mut due = cx.now + self.processing.sample_span(cx.random);
        if self.in_order
            && let Some(&(last, _)) = self.working.back()
        {
            due = due.max(last);
        }
        let at = self.working.partition_point(|&(other, _)| other <= due);
        self.working.insert(at, (due, message.sequence));
    }

    /// The next response that is ready: the request's number and the response's length.
    pub fn poll_response(&mut self, cx: &mut Context<'_>) -> Option<(u64, u32)> {
        let &(due, sequence) = self.working.front()?;
        if due > cx.now {
            return None;
        }
        self.working.pop_front();
        Some((sequence, self.response.sample(cx.random).max(1) as u32))
    }
}

impl Machine for Server {
    fn poll_timeout(&self) -> Option<Time> {
        self.working.front().map(|&(due, _)| due)
    }

    /// Nothing to do: responses are taken with `poll_response`.
    fn handle_timeout(&mut self, _cx: &mut Context<'_>) {}
}
