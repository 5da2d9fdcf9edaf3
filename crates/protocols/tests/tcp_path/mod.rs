//! Two connections joined by a path that loses, delays, duplicates and reorders, driven to the nanosecond.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{Config, Connection, Event, Flags, Segment, State};
use roamsim_protocols::{Context, Machine};

/// What the path does to a segment.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub delay: Span,
    /// Up to so much more delay, drawn for each segment, which reorders.
    pub jitter: Span,
    /// Of what end 0 sends.
    pub loss: f64,
    /// Of what end 1 sends.
    pub loss_back: f64,
    pub duplication: f64,
    /// From here on nothing is lost, so that every run ends.
    pub calm_from: Time,
}

/// One end and what its application has been told.
pub struct End {
    pub tcp: Connection,
    pub received: u64,
    pub acknowledged: u64,
    pub events: Vec<Event>,
}

/// A segment on its way: arrival, order, receiving end.
type Flight = Reverse<(Time, u64, usize, usize)>;

pub struct Pair {
    pub now: Time,
    pub ends: [End; 2],
    pub sent: Vec<(Time, usize, Segment)>,
    steps: u64,
    path: Path,
    random: Stream,
    flights: BinaryHeap<Flight>,
}

impl Pair {
    /// End 0 opens, end 1 listens.
    pub fn new(configs: [Config; 2], iss: [u32; 2], path: Path, seed: u64) -> Pair {
        let end = |i: usize| End {
            tcp: Connection::new(&configs[i], 1000 + i as u16, 1001 - i as u16, iss[i]),
            received: 0,
            acknowledged: 0,
            events: Vec::new(),
        };
        let mut pair = Pair {
            now: Time::ZERO,
            ends: [end(0), end(1)],
            sent: Vec::new(),
            steps: 0,
            path,
            random: Stream::new(seed, 0, "path"),
            flights: BinaryHeap::new(),
        };
        pair.ends[1].tcp.listen();
        pair.ends[0].tcp.open();
        pair
    }

    /// Takes from an end whatever it has to send and to tell.
    pub fn drain(&mut self, i: usize) {
        let mut unused = Stream::new(0, 0, "");
        let mut burst = 0;
        loop {
            let mut cx = Context { now: self.now, random: &mut unused };
            let Some(segment) = self.ends[i].tcp.poll_transmit(&mut cx) else { break };
            burst += 1;
            assert!(burst < 100_000, "endless sending");
            self.check_sent(i, &segment);
            self.sent.push((self.now, i, segment));
            let calm = self.now >= self.path.calm_from;
            let copies = match () {
                () if calm => 1,
                () if self.random.bernoulli(if i == 0 { self.path.loss } else { self.path.loss_back }) => 0,
                () if self.random.bernoulli(self.path.duplication) => 2,
                () => 1,
            };
            for _ in 0..copies {
                let jitter = Span::from_ns(self.random.below(self.path.jitter.as_ns() + 1));
                let at = self.now + self.path.delay + jitter;
                let order = self.sent.len() as u64 * 2 + copies;
                self.flights.push(Reverse((at, order, 1 - i, self.sent.len() - 1)));
            }
        }
        while let Some(event) = self.ends[i].tcp.poll_event() {
            let written = self.ends[1 - i].tcp.written_bytes();
            let end = &mut self.ends[i];
            match event {
                Event::Received { up_to } => {
                    assert!(up_to > end.received && up_to <= written, "{up_to} after {}", end.received);
                    end.received = up_to;
                }
                Event::Acknowledged { up_to } => {
                    assert!(up_to >= end.acknowledged && up_to <= end.tcp.written_bytes());
                    end.acknowledged = up_to;
                }
                _ => end.events.push(event),
            }
        }
        self.check_end(i);
    }

    /// Lets the next thing happen; false when nothing is left to happen.
    pub fn step(&mut self) -> bool {
        self.steps += 1;
        assert!(self.steps < 2_000_000, "no end in sight: {:?} {:?}", self.ends[0].tcp, self.ends[1].tcp);
        let arrival = self.flights.peek().map(|&Reverse((at, ..))| at);
        let deadline = |i: usize| self.ends[i].tcp.poll_timeout();
        let next = [arrival, deadline(0), deadline(1)].into_iter().flatten().min();
        let Some(next) = next else { return false };
        assert!(next >= self.now, "a deadline in the past: {next} at {}", self.now);
        self.now = next;
        if arrival == Some(next) {
            let Some(Reverse((_, _, i, segment))) = self.flights.pop() else { return false };
            let segment = self.sent[segment].2.clone();
            let mut unused = Stream::new(0, 0, "");
            self.ends[i].tcp.handle_segment(&mut Context { now: next, random: &mut unused }, &segment);
            self.drain(i);
            return true;
        }
        for i in 0..2 {
            if self.ends[i].tcp.poll_timeout().is_some_and(|at| at <= next) {
                let mut unused = Stream::new(0, 0, "");
                self.ends[i].tcp.handle_timeout(&mut Context { now: next, random: &mut unused });
                self.drain(i);
                let again = self.ends[i].tcp.poll_timeout();
                assert!(again != Some(next), "the timeout at {next} does not go away");
            }
        }
        true
    }

    /// What holds for every segment sent.
    fn check_sent(&self, i: usize, segment: &Segment) {
        let tcp = &self.ends[i].tcp;
        assert!(u64::from(segment.payload_bytes) <= tcp.smss_bytes());
        if segment.payload_bytes > 0 {
            let end = tcp.payload_offset(segment) + u64::from(segment.payload_bytes);
            assert!(end <= tcp.written_bytes());
            // One octet beyond the window is a probe.
            let edge = tcp.snd_una_offset() + tcp.peer_window_bytes();
            let probe = segment.payload_bytes == 1;
            assert!(end <= edge.max(tcp.snd_max_offset()) || probe, "{end} beyond the window's edge {edge}");
        }
        if segment.flags.contains(Flags::RST) {
            assert_eq!(segment.payload_bytes, 0);
        }
    }

    /// What holds whenever an end has been polled until it is silent.
    fn check_end(&self, i: usize) {
        let tcp = &self.ends[i].tcp;
        assert!(tcp.flight_bytes() <= tcp.snd_max_offset() + 2 - tcp.snd_una_offset());
        if tcp.state() == State::Established {
            assert!(tcp.cwnd_bytes() >= tcp.smss_bytes(), "cwnd {}", tcp.cwnd_bytes());
            assert_eq!(tcp.flight_bytes(), tcp.snd_nxt_offset() - tcp.snd_una_offset());
        }
        let open = !matches!(tcp.state(), State::Closed | State::Listen);
        let waiting = tcp.snd_una_offset() < tcp.written_bytes();
        if open && (waiting || tcp.state() != State::Established && tcp.state() != State::CloseWait) {
            let idle = tcp.state() == State::FinWait2;
            assert!(idle || tcp.poll_timeout().is_some(), "{:?} without a deadline: {tcp:?}", tcp.state());
        }
        let stats = tcp.stats();
        assert_eq!(
            stats.segments_sent,
            stats.data_segments_sent + stats.pure_acks_sent + stats.control_segments_sent
        );
        assert_eq!(stats.bytes_acknowledged, tcp.snd_una_offset());
        assert_eq!(stats.bytes_received, tcp.received_offset());
        assert!(stats.bytes_sent - stats.bytes_retransmitted >= tcp.snd_una_offset());
    }
}
