//! Drives two associations, one at each end of a path, with whatever an input says; for the fuzzer and for a
//! property test.
//!
//! The input's first octet chooses the settings; then come steps: an octet that says what happens, an octet
//! for how many hundredths of a second later, and what the step needs. Some steps hand octets in as they are,
//! some damage a packet of the peer or make up chunks, and give it the verification tag and the checksum that
//! belong to it, so that not everything is refused at the door.

use std::collections::VecDeque;

use crc::{CRC_32_ISCSI, Crc};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::wire::encode;
use roamsim_protocols::sctp::{Association, Change, Config, Packet, Path, Rules, State, Stats};
use roamsim_protocols::{Address, Context, Machine};

const PORT: u16 = 5000;
const TAGS: [u32; 2] = [7, 8];
/// Packets in flight to an end beyond which the path loses them.
const MOST_IN_FLIGHT: usize = 64;

fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(count)?;
    *input = rest;
    Some(taken)
}

/// The packet as octets.
fn written(packet: &Packet) -> Vec<u8> {
    let mut octets = Vec::new();
    encode(packet, &[], &mut octets);
    octets
}

/// The same octets with the checksum that belongs to them, where there is a header to hold it.
fn sealed(mut octets: Vec<u8>) -> Vec<u8> {
    if octets.len() >= 12 {
        octets[8..12].fill(0);
        let checksum = Crc::<u32>::new(&CRC_32_ISCSI).checksum(&octets);
        octets[8..12].copy_from_slice(&checksum.to_le_bytes());
    }
    octets
}

struct Pair {
    ends: [Association; 2],
    /// What is on its way to each end, and the path that it is on as that end sees it.
    in_flight: [VecDeque<(Path, Packet)>; 2],
    now: Time,
    random: Stream,
}

impl Pair {
    fn new(config: &Config) -> Pair {
        let addresses = [[Address(0), Address(2)], [Address(1), Address(3)]];
        let end = |here: usize, initial_tsn: u32| {
            let (locals, remotes) = (&addresses[here], &addresses[1 - here]);
            Association::new(config, locals, PORT, remotes, PORT, TAGS[here], initial_tsn)
        };
        let mut ends = [end(0, u32::MAX - 2), end(1, 1)];
        ends[1].listen();
        ends[0].open();
        let in_flight = [VecDeque::new(), VecDeque::new()];
        let mut pair = Pair { ends, in_flight, now: Time::ZERO, random: Stream::new(1, 0, "octets") };
        pair.settle();
        pair
    }

    fn arrive(&mut self, at: usize, path: Path, octets: &[u8]) {
        let mut cx = Context { now: self.now, random: &mut self.random };
        self.ends[at].handle_octets(&mut cx, path, octets);
    }

    /// Everything that is in flight to an end arrives.
    fn deliver(&mut self, at: usize) {
        for (path, packet) in std::mem::take(&mut self.in_flight[at]) {
            self.arrive(at, path, &written(&packet));
        }
    }

    /// Both ends do what is due, and send what they have to send.
    fn settle(&mut self) {
        for from in 0..2 {
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.ends[from].handle_timeout(&mut cx);
            let mut sent = 0;
            while let Some((path, packet)) = self.ends[from].poll_transmit(&mut cx) {
                sent += 1;
                assert!(sent < 100_000, "endless sending: {:?}", self.ends[from]);
                if self.in_flight[1 - from].len() < MOST_IN_FLIGHT {
                    let seen = Path { local: path.remote, remote: path.local };
                    self.in_flight[1 - from].push_back((seen, packet));
                }
            }
            while self.ends[from].poll_event().is_some() {}
            let end = &self.ends[from];
            assert!(end.poll_timeout().is_none_or(|at| at > self.now), "a deadline stays: {end:?}");
            if end.outstanding_bytes() > 0 && end.state() != State::Closed {
                assert!(end.poll_timeout().is_some(), "data is out and no timer runs: {end:?}");
            }
        }
    }
}

/// Runs the input; what the ends have counted then.
pub fn run(mut input: &[u8]) -> [Stats; 2] {
    let settings = take(&mut input, 1).map_or(0, |octets| octets[0]);
    let mut pair = Pair::new(&Config {
        rules: if settings & 1 == 0 { Rules::Rfc9260 } else { Rules::Rfc2960 },
        fast_retransmit_in_recovery: settings & 32 != 0,
        dynamic_addresses: settings & 2 == 0,
        receive_window_bytes: if settings & 4 == 0 { 100_000 } else { 3000 },
        packet_bytes: if settings & 8 == 0 { 1452 } else { 200 },
        ..Config::default()
    });
    for _ in 0..if settings & 16 == 0 { 4 } else { 0 } {
        pair.deliver(1);
        pair.settle();
        pair.deliver(0);
        pair.settle();
    }
    while step(&mut pair, &mut input).is_some() {
        pair.settle();
        for end in &pair.ends {
            assert!(end.stats().refused.total() <= end.stats().packets_received);
        }
    }
    pair.ends.map(|end| *end.stats())
}

/// One step; `None` when the input is at its end.
fn step(pair: &mut Pair, input: &mut &[u8]) -> Option<()> {
    let &[what, pause] = take(input, 2)? else { return None };
    pair.now += Span::from_ms(10 * u64::from(pause));
    let at = usize::from(what >> 7);
    match what & 15 {
        0..=3 => pair.deliver(at),
        4 => {
            pair.in_flight[at].pop_front();
        }
        5 => {
            if let Some((path, packet)) = pair.in_flight[at].front().cloned() {
                pair.arrive(at, path, &written(&packet));
            }
        }
        6 | 7 => {
            let &[place, flip] = take(input, 2)? else { return None };
            if let Some((path, packet)) = pair.in_flight[at].pop_front() {
                let mut octets = written(&packet);
                let place = usize::from(place) % octets.len();
                octets[place] ^= flip;
                pair.arrive(at, path, &sealed(octets));
            }
        }
        8..=10 => {
            let &[count] = take(input, 1)? else { return None };
            let chunks = take(input, usize::from(count))?;
            let mut octets = [PORT.to_be_bytes(), PORT.to_be_bytes()].concat();
            octets.extend(TAGS[at].to_be_bytes());
            octets.extend([0; 4]);
            octets.extend(chunks);
            let from = 1 - at as u32;
            let path =
                Path { local: Address(at as u32), remote: Address(from + 2 * u32::from(what >> 6 & 1)) };
            pair.arrive(at, path, &sealed(octets));
        }
        11 => {
            let &[count] = take(input, 1)? else { return None };
            let octets = take(input, usize::from(count))?.to_vec();
            let path = Path { local: Address(at as u32), remote: Address(1 - at as u32) };
            pair.arrive(at, path, &octets);
        }
        12 => {
            let &[stream, size] = take(input, 2)? else { return None };
            let bytes = 1 + 40 * u64::from(size);
            pair.ends[at].send(u16::from(stream >> 1), bytes, 0, stream & 1 == 1);
        }
        13 => {
            let &[first, second] = take(input, 2)? else { return None };
            let changes = [first, second].map(|octet| {
                let address = Address(u32::from(octet & 7));
                match octet >> 6 {
                    0 => Change::Add(address),
                    1 => Change::Delete(address),
                    _ => Change::SetPrimary(address),
                }
            });
            pair.ends[at].reconfigure(&changes, Address(u32::from(first >> 3 & 7)));
        }
        14 => match what >> 4 & 3 {
            0 => pair.ends[at].close(),
            1 => pair.ends[at].abort(),
            2 => {
                pair.ends[at].open();
            }
            _ => {
                let path = Path { local: Address(at as u32), remote: Address(3 - at as u32) };
                pair.ends[at].set_primary(path);
            }
        },
        _ => {
            if let Some(next) = pair.ends[at].poll_timeout() {
                pair.now = pair.now.max(next);
            }
        }
    }
    Some(())
}
