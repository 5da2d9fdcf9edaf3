//! Two associations back to back, over more messages than scripts could write down.

use std::collections::VecDeque;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{Association, Config, Event, Packet, Path, State};
use roamsim_protocols::{Address, Context, Machine};

/// Two ends whose packets arrive after 10 ms.
struct Pair {
    ends: [Association; 2],
    flights: [VecDeque<(Time, Path, Packet)>; 2],
    now: Time,
    random: Stream,
}

impl Pair {
    fn established(config: &Config) -> Pair {
        let end = |here: u32, there: u32| {
            Association::new(config, &[Address(here)], 1, &[Address(there)], 1, 7 + here, 1000)
        };
        let mut pair = Pair {
            ends: [end(0, 1), end(1, 0)],
            flights: [VecDeque::new(), VecDeque::new()],
            now: Time::ZERO,
            random: Stream::new(0, 0, ""),
        };
        pair.ends[1].listen();
        assert!(pair.ends[0].open());
        while pair.ends.iter().any(|end| end.state() != State::Established) {
            pair.step();
        }
        pair
    }

    /// Everything that leaves now, then the next arrival or deadline.
    fn step(&mut self) -> Vec<Event> {
        for i in 0..2 {
            let mut cx = Context { now: self.now, random: &mut self.random };
            while let Some((path, packet)) = self.ends[i].poll_transmit(&mut cx) {
                let arrives = Path { local: path.remote, remote: path.local };
                self.flights[1 - i].push_back((cx.now + Span::from_ms(10), arrives, packet));
            }
        }
        let arrivals = self.flights.iter().filter_map(|flight| flight.front()).map(|(at, ..)| *at);
        let deadlines = self.ends.iter().filter_map(|end| end.poll_timeout());
        let Some(next) = arrivals.chain(deadlines).min() else { return Vec::new() };
        self.now = next;
        let mut cx = Context { now: self.now, random: &mut self.random };
        let arrives =
            |flight: &VecDeque<(Time, Path, Packet)>| flight.front().is_some_and(|(at, ..)| *at == next);
        match self.flights.iter().position(arrives) {
            Some(i) => {
                if let Some((_, path, packet)) = self.flights[i].pop_front() {
                    self.ends[i].handle_packet(&mut cx, path, &packet);
                }
            }
            None => self.ends.iter_mut().for_each(|end| end.handle_timeout(&mut cx)),
        }
        self.ends
            .iter_mut()
            .flat_map(|end| std::iter::from_fn(|| end.poll_event()).collect::<Vec<_>>())
            .collect()
    }
}

#[test]
fn the_stream_sequence_number_wraps() {
    let config = Config { heartbeat_interval: None, ..Config::default() };
    let mut pair = Pair::established(&config);
    assert!(pair.ends[0].send_repeated(3, 100, 140_000, 0, false));
    let mut received = 0u32;
    while received < 140_000 {
        for event in pair.step() {
            let Event::Received(message) = event else { panic!("{event:?}") };
            // 140000 is more than twice 65536.
            assert_eq!((message.stream, message.ssn, message.bytes), (3, received as u16, 100));
            received += 1;
        }
    }
    assert!(pair.ends[0].is_drained() || pair.step().is_empty());
}

#[test]
fn an_endless_source_ends_with_an_abort() {
    let mut pair = Pair::established(&Config::default());
    assert!(pair.ends[0].send_repeated(0, 1432, u64::MAX, 0, true));
    let mut received = 0;
    while pair.now < Time::from_ns(1_000_000_000) {
        received += pair.step().len();
    }
    // 6 MiB of window are 4392 messages a round trip of 20 ms, 50 of which are in 1 s; slow start takes a
    // dozen of them.
    assert!(received > 100_000, "only {received}");
    assert!(!pair.ends[0].is_drained());
    pair.ends[0].abort();
    while pair.ends[1].state() != State::Closed {
        pair.step();
    }
}

#[test]
fn retransmissions_are_told_apart() {
    let config = Config { heartbeat_interval: None, ..Config::default() };
    let mut pair = Pair::established(&config);
    let end = &mut pair.ends[0];
    let mut cx = Context { now: pair.now, random: &mut pair.random };
    assert!(end.send(0, 10, 0, false));
    assert!(end.poll_transmit(&mut cx).is_some());
    assert_eq!((end.retransmitted_tsns(), end.highest_tsn_sent()), (&[][..], 1000));
    assert!(end.poll_transmit(&mut cx).is_none());
    cx.now += Span::from_secs(1);
    end.handle_timeout(&mut cx);
    assert!(end.poll_transmit(&mut cx).is_some());
    assert_eq!((end.retransmitted_tsns(), end.highest_tsn_sent()), (&[1000][..], 1000));
}
