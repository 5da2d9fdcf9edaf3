//! Two connections joined by a path that loses, delays, duplicates and reorders, driven to the nanosecond.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{
    Config, Connection, Cookie, Event, FirstCookie, Flags, KnownServer, Segment, State, Variant,
};
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
    /// Of the segments in which end 0 sends new data, the `.0`-th is lost, and each `.1`-th from there.
    pub lost_in_turn: Option<(u64, u64)>,
    /// Whether a loss takes with it what end 0 sends behind it at the same instant. On a path without a queue
    /// what is sent at one instant is the window of a round trip.
    pub rest_of_round: bool,
    /// From here on nothing is lost, so that every run ends.
    pub calm_from: Time,
}

/// One end and what its application has been told.
pub struct End {
    pub tcp: Connection,
    pub received: u64,
    pub acknowledged: u64,
    pub events: Vec<Event>,
    /// Where the last octet ends that has been sent since everything in flight was last taken as lost.
    sent_end: u64,
    /// How often it was.
    went_back: u64,
}

/// A segment on its way: arrival, order, receiving end.
type Flight = Reverse<(Time, u64, usize, usize)>;

pub struct Pair {
    pub now: Time,
    pub ends: [End; 2],
    pub sent: Vec<(Time, usize, Segment)>,
    /// Whether an end is asked again for what it has not, at each so many steps.
    pub asked_again_each: u64,
    steps: u64,
    /// Segments in which end 0 has sent new data, and where the last of them ends.
    new_segments: u64,
    new_data_end: u64,
    path: Path,
    random: Stream,
    /// For the ends, which draw nothing.
    unused: Stream,
    /// When end 0 last lost a segment.
    last_loss: Option<Time>,
    flights: BinaryHeap<Flight>,
}

impl Pair {
    /// End 0 opens, end 1 listens.
    pub fn new(configs: [Config; 2], iss: [u32; 2], path: Path, seed: u64) -> Pair {
        let end = |i: usize| End {
            tcp: Connection::new(&Arc::new(configs[i].clone()), 1000 + i as u16, 1001 - i as u16, iss[i]),
            received: 0,
            acknowledged: 0,
            events: Vec::new(),
            sent_end: 0,
            went_back: 0,
        };
        let mut pair = Pair {
            now: Time::ZERO,
            ends: [end(0), end(1)],
            sent: Vec::new(),
            asked_again_each: 32,
            steps: 0,
            new_segments: 0,
            new_data_end: 0,
            path,
            random: Stream::new(seed, 0, "path"),
            unused: Stream::new(0, 0, ""),
            last_loss: None,
            flights: BinaryHeap::new(),
        };
        let cookies = [1, 2].map(|octet| Cookie::new(&[octet; 8]).unwrap_or(Cookie::REQUEST));
        pair.ends[1].tcp.set_own_cookie(cookies[0]);
        let known = |cookie| KnownServer { cookie, mss_bytes: configs[1].mss_bytes };
        match configs[0].fast_open {
            None | Some(FirstCookie::Requested) => {}
            Some(FirstCookie::Known) => pair.ends[0].tcp.set_known_server(known(cookies[0])),
            Some(FirstCookie::Stale) => pair.ends[0].tcp.set_known_server(known(cookies[1])),
        }
        pair.ends[1].tcp.listen();
        pair.ends[0].tcp.open();
        pair
    }

    /// Takes from an end whatever it has to send and to tell.
    pub fn drain(&mut self, i: usize) {
        let mut burst = 0;
        self.note_going_back(i);
        loop {
            let mut cx = Context { now: self.now, random: &mut self.unused };
            let Some(segment) = self.ends[i].tcp.poll_transmit(&mut cx) else {
                self.check_asked_again(i);
                break;
            };
            burst += 1;
            assert!(burst < 100_000, "endless sending");
            self.check_sent(i, &segment);
            // Data on a SYN counts once it is taken.
            if segment.payload_bytes > 0 && !segment.flags.contains(Flags::SYN) {
                let end = self.ends[i].tcp.payload_offset(&segment) + u64::from(segment.payload_bytes);
                self.ends[i].sent_end = self.ends[i].sent_end.max(end);
            }
            let its_turn = i == 0 && self.is_lost_in_turn(&segment);
            self.sent.push((self.now, i, segment));
            let calm = self.now >= self.path.calm_from;
            let copies = match () {
                () if calm => 1,
                () if its_turn => 0,
                () if i == 0 && self.path.rest_of_round && self.last_loss == Some(self.now) => 0,
                () if self.random.bernoulli(if i == 0 { self.path.loss } else { self.path.loss_back }) => {
                    self.last_loss = (i == 0).then_some(self.now);
                    0
                }
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

    /// After a timeout, or a fast retransmit of Tahoe, what was in flight is taken as lost.
    fn note_going_back(&mut self, i: usize) {
        let end = &mut self.ends[i];
        let stats = end.tcp.stats();
        let tahoe = end.tcp.config().variant == Variant::TAHOE;
        let went_back = stats.timeouts + if tahoe { stats.fast_retransmits } else { 0 };
        let went_back_now = went_back != std::mem::replace(&mut end.went_back, went_back);
        // A SYN-ACK is repeated without the data that was sent behind it.
        if went_back_now && end.tcp.state() != State::SynReceived {
            end.sent_end = 0;
        }
    }

    /// Counts what end 0 sends; true for the segment whose turn it is to be lost.
    fn is_lost_in_turn(&mut self, segment: &Segment) -> bool {
        let end = self.ends[0].tcp.payload_offset(segment) + u64::from(segment.payload_bytes);
        if segment.payload_bytes == 0 || end <= self.new_data_end {
            return false;
        }
        self.new_data_end = end;
        self.new_segments += 1;
        self.path.lost_in_turn.is_some_and(|(first, every)| {
            self.new_segments.checked_sub(first).is_some_and(|since| since % every == 0)
        })
    }

    /// Lets the next thing happen; false when nothing is left to happen.
    pub fn step(&mut self) -> bool {
        self.steps += 1;
        assert!(self.steps < 10_000_000, "no end in sight: {:?} {:?}", self.ends[0].tcp, self.ends[1].tcp);
        let arrival = self.flights.peek().map(|&Reverse((at, ..))| at);
        let deadline = |i: usize| self.ends[i].tcp.poll_timeout();
        let next = [arrival, deadline(0), deadline(1)].into_iter().flatten().min();
        let Some(next) = next else { return false };
        assert!(next >= self.now, "a deadline in the past: {next} at {}", self.now);
        self.now = next;
        if arrival == Some(next) {
            let Some(Reverse((_, _, i, segment))) = self.flights.pop() else { return false };
            let segment = self.sent[segment].2.clone();
            self.ends[i].tcp.handle_segment(&mut Context { now: next, random: &mut self.unused }, &segment);
            self.drain(i);
            return true;
        }
        for i in 0..2 {
            if self.ends[i].tcp.poll_timeout().is_some_and(|at| at <= next) {
                self.ends[i].tcp.handle_timeout(&mut Context { now: next, random: &mut self.unused });
                self.drain(i);
                let again = self.ends[i].tcp.poll_timeout();
                assert!(again != Some(next), "the timeout at {next} does not go away");
            }
        }
        true
    }

    /// One that has nothing to send has nothing to send when it is asked again, and is what it was.
    fn check_asked_again(&mut self, i: usize) {
        if !self.steps.is_multiple_of(self.asked_again_each) {
            return;
        }
        let before = format!("{:?}", self.ends[i].tcp);
        let again = self.ends[i].tcp.poll_transmit(&mut Context { now: self.now, random: &mut self.unused });
        assert!(again.is_none(), "{again:?} {before}");
        assert_eq!(before, format!("{:?}", self.ends[i].tcp));
    }

    /// What holds for every segment sent.
    fn check_sent(&self, i: usize, segment: &Segment) {
        let tcp = &self.ends[i].tcp;
        assert!(u64::from(segment.payload_bytes) <= tcp.smss_bytes());
        if segment.payload_bytes > 0 {
            let end = tcp.payload_offset(segment) + u64::from(segment.payload_bytes);
            assert!(end <= tcp.written_bytes());
            // The window is not known yet.
            if segment.flags.contains(Flags::SYN) {
                return;
            }
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
            // What was sent and is neither acknowledged nor taken as lost. A probe counts once it is
            // acknowledged; what SACK has told of since a timeout is passed over, not sent.
            let counts = tcp.stats().window_probes_sent == 0
                && !(tcp.config().permits_sack() && tcp.stats().timeouts > 0);
            if counts {
                let end = self.ends[i].sent_end.max(tcp.snd_una_offset());
                assert_eq!(tcp.flight_bytes(), end - tcp.snd_una_offset());
            }
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
