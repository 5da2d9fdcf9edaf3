//! A transport of one's own: a reliable protocol that the simulator does not know, on a walk out of Wi-Fi and
//! back.
//!
//!     cargo run --release --example own_transport
//!
//! The protocol is go-back-N: a fixed window, cumulative acknowledgements, one retransmission timer. When the
//! walker's addresses change it goes on from the preferred one, and the other end answers where the last
//! packet came from. It implements [`Endpoint`], and nothing in the simulator changes for it.

use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::application::{Source, Transfer};
use roamsim_network::flow::Flow;
use roamsim_network::socket::endpoint::{Arrival, Endpoint, EndpointEvent, Transmit};
use roamsim_network::socket::{Counts, SocketEnd, User};
use roamsim_network::topology::NodeId;
use roamsim_network::traffic_class::TrafficClass;
use roamsim_protocols::Address;
use roamsim_scenario::run::{Options, Prepared, prepare};
use roamsim_scenario::{Folder, Format, Scenario};
use std::collections::VecDeque;
#[cfg(test)]
use std::net::{IpAddr, Ipv4Addr};

const SCENARIO: &str = include_str!("own_transport.toml");
/// Packets in flight at most.
const WINDOW: u64 = 8;
const HEADER_BYTES: u32 = 9;
const FIRST_RTO: Span = Span::from_ms(300);

/// Kinds of packets, which are the first octet. The next eight are an offset in the stream: of the first
/// octet of data, or the next one that is expected. A FIN takes the place of an octet.
const DATA: u8 = 0;
const FIN: u8 = 1;
const ACK: u8 = 2;

/// One end. It sends, or receives: a stream goes one way.
#[derive(Default)]
struct GoBackN {
    payload_bytes: u64,
    /// Octets written, and the FIN behind them.
    written: u64,
    closing: bool,
    snd_una: u64,
    snd_nxt: u64,
    snd_max: u64,
    rto: Option<Span>,
    deadline: Option<Time>,
    rcv_nxt: u64,
    acknowledges: bool,
    received_fin: bool,
    /// Where it sends from, and to, once that has changed.
    source: Option<Address>,
    destination: Option<(Address, u16)>,
    /// It does not listen to news of addresses.
    is_deaf: bool,
    counts: Counts,
    events: VecDeque<EndpointEvent>,
}

impl GoBackN {
    fn end(&self) -> u64 {
        self.written + u64::from(self.closing)
    }

    fn packet(&self, kind: u8, offset: u64, payload_bytes: u64) -> Transmit {
        let mut payload = vec![kind];
        payload.extend(offset.to_be_bytes());
        payload.resize(payload.len() + payload_bytes as usize, 0);
        Transmit {
            source: self.source,
            destination: self.destination.map(|(address, _)| address),
            destination_port: self.destination.map(|(_, port)| port),
            has_data: kind != ACK,
            payload,
            ..Transmit::default()
        }
    }
}

impl Endpoint for GoBackN {
    fn on_path(&mut self, payload_bytes: u32) {
        self.payload_bytes = u64::from(payload_bytes - HEADER_BYTES);
    }

    fn open(&mut self) {
        self.events.push_back(EndpointEvent::Established);
    }

    fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    fn close(&mut self) {
        self.closing = self.written > 0;
    }

    fn abort(&mut self) {
        (self.written, self.closing, self.deadline) = (self.snd_una, false, None);
    }

    fn handle(&mut self, now: Time, arrival: &Arrival<'_>) {
        let Some((&[kind, ref offset @ ..], data)) = arrival.payload.split_first_chunk::<9>() else { return };
        let offset = u64::from_be_bytes(*offset);
        if kind == ACK {
            if offset > self.snd_una && offset <= self.snd_max {
                self.snd_una = offset;
                self.snd_nxt = self.snd_nxt.max(offset);
                self.rto = None;
                self.deadline = (self.snd_una < self.snd_max).then(|| now + FIRST_RTO);
            }
            return;
        }
        self.destination = Some((arrival.source, arrival.source_port));
        self.acknowledges = true;
        if offset == self.rcv_nxt && kind == DATA {
            self.rcv_nxt += data.len() as u64;
            self.events.push_back(EndpointEvent::Received { up_to: self.rcv_nxt });
        } else if offset == self.rcv_nxt && kind == FIN && !self.received_fin {
            self.rcv_nxt += 1;
            self.received_fin = true;
            self.events.push_back(EndpointEvent::RemoteClosed);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if std::mem::take(&mut self.acknowledges) {
            return Some(self.packet(ACK, self.rcv_nxt, 0));
        }
        if self.snd_nxt >= self.end() || self.snd_nxt - self.snd_una >= WINDOW * self.payload_bytes {
            return None;
        }
        let start = self.snd_nxt;
        let (kind, bytes) = match self.payload_bytes.min(self.written - start.min(self.written)) {
            0 => (FIN, 0),
            bytes => (DATA, bytes),
        };
        self.counts.segments += 1;
        self.counts.retransmissions += u64::from(start < self.snd_max);
        self.snd_nxt += bytes.max(1);
        self.snd_max = self.snd_max.max(self.snd_nxt);
        self.deadline.get_or_insert(now + self.rto.unwrap_or(FIRST_RTO));
        Some(self.packet(kind, start, bytes))
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Time) {
        self.counts.timeouts += 1;
        let rto = (self.rto.unwrap_or(FIRST_RTO) * 2).min(Span::from_secs(5));
        (self.snd_nxt, self.rto, self.deadline) = (self.snd_una, Some(rto), Some(now + rto));
    }

    fn on_addresses(&mut self, now: Time, usable: &[Address]) {
        let Some(&preferred) = usable.first().filter(|_| !self.is_deaf) else { return };
        if self.source.replace(preferred) != Some(preferred) && self.snd_una < self.snd_max {
            // What was in flight may never come: no need to wait for the timer.
            (self.snd_nxt, self.rto, self.deadline) = (self.snd_una, None, Some(now + FIRST_RTO));
        }
    }

    fn is_gone(&self) -> bool {
        self.received_fin || self.closing && self.snd_una == self.end()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

fn end(node: NodeId, user: User) -> SocketEnd {
    SocketEnd { node, port: 4000, user, traffic_class: TrafficClass::default(), address: None }
}

/// Adds an upload over the protocol, as a flow like any other.
fn add_upload(world: &mut World, [from, to]: [NodeId; 2], [a, b]: [GoBackN; 2], bytes: u64) {
    let flow = world.flows.len() as u32;
    let a: (SocketEnd, Box<dyn Endpoint>) = (end(from, User::FlowSource(flow)), Box::new(a));
    let b: (SocketEnd, Box<dyn Endpoint>) = (end(to, User::FlowSink(flow)), Box::new(b));
    let association = world.add_endpoints(a, b).expect("a route joins them, and the port is free");
    let source = Source::Transfer(Transfer::new(Time::ZERO, bytes));
    world.flows.push(Flow::new("upload".into(), "transfer", "go-back-n".into(), source, None, association));
}

/// The scenario, with the upload.
fn walk(ends: [GoBackN; 2]) -> Prepared<Box<Scenario>> {
    walk_with(ends, Options::default())
}

fn walk_with(ends: [GoBackN; 2], options: Options) -> Prepared<Box<Scenario>> {
    let folder = Folder::default();
    let scenario = Scenario::parse_in(&folder, SCENARIO, "own_transport.toml", Format::Toml, &[]);
    let scenario = Box::new(scenario.expect("a valid scenario"));
    let mut prepared = prepare(scenario, options).expect("a world");
    let nodes = ["walker", "server"].map(|name| prepared.node(name).expect("a node of the scenario"));
    add_upload(prepared.world(), nodes, ends, 10_000_000);
    prepared
}

/// What the upload has delivered, when it was complete, and what its source has sent.
fn outcome(prepared: &mut Prepared<Box<Scenario>>) -> (u64, Option<Time>, Counts) {
    let world = prepared.world();
    let number = world.flows.len() - 1;
    let measured = world.flow_measurement(number);
    (measured.delivered_bytes, measured.completed_at, world.measured_counts(number)[0])
}

#[allow(clippy::print_stdout)] // This is a program.
fn main() {
    let mut prepared = walk(Default::default());
    prepared.run().expect("a run");
    let (delivered_bytes, completed_at, counts) = outcome(&mut prepared);
    let seconds = completed_at.map_or(f64::NAN, |at| at.since(Time::ZERO).as_secs_f64());
    let Counts { segments, retransmissions, timeouts, .. } = counts;
    println!("{delivered_bytes} octets in {seconds:.3} s");
    println!("{segments} packets, {retransmissions} of them retransmissions, {timeouts} timeouts");
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_network::octets;
    use roamsim_network::packet::{Carried, IpVersion};
    use roamsim_network::recorder::PacketEvent;
    use roamsim_network::socket::SocketId;
    use roamsim_network::trace::Trace;

    #[test]
    fn delivers_everything_across_handovers_and_the_same_each_time() {
        let run = || {
            let mut prepared = walk(Default::default());
            prepared.run().expect("a run");
            outcome(&mut prepared)
        };
        let (delivered_bytes, completed_at, counts) = run();
        assert_eq!(delivered_bytes, 10_000_000);
        assert!(completed_at.is_some() && counts.retransmissions > 0);
        assert_eq!(run(), (delivered_bytes, completed_at, counts));
    }

    #[test]
    fn hears_of_addresses_and_stalls_without() {
        let completed = |is_deaf| {
            let mut prepared = walk([GoBackN { is_deaf, ..GoBackN::default() }, GoBackN::default()]);
            prepared.run().expect("a run");
            outcome(&mut prepared).1.unwrap_or(Time::MAX)
        };
        // Wi-Fi reaches 30 m of 50: half of the time, and what goes there meanwhile is lost.
        assert!(completed(true) > completed(false) + Span::from_secs(5));
    }

    #[test]
    fn answers_a_program_outside() {
        let trace = Trace { packets: true, ..Trace::default() };
        let mut prepared = walk_with(Default::default(), Options { trace, ..Options::default() });
        let router = prepared.node("router").expect("a node");
        let server = prepared.node("server").expect("a node");
        let world = prepared.world();
        world.network.edge.open(router);
        let of = |node| match world.network.outside_addresses(node).0[0] {
            IpAddr::V4(ip) => ip,
            IpAddr::V6(_) => unreachable!("the scenario has IPv4"),
        };
        let (from, to): (Ipv4Addr, Ipv4Addr) = (of(router), of(server));
        prepared.begin();
        // DATA from offset 0: refused by nobody, and acknowledged to the program's port.
        let datagram = ipv4_udp(from, to, [7, 4000], &[&[DATA][..], &0u64.to_be_bytes(), b"hello"].concat());
        prepared.world().inject(router, &datagram);
        prepared.step(Time::ZERO + Span::from_ms(100)).expect("a step");
        let answer = prepared.world().poll_emitted().expect("an acknowledgement");
        let answer = octets::read(IpVersion::V4, &answer.octets).expect("a packet");
        assert_eq!(answer.octets.ports(), (4000, 7));
        assert_eq!(answer.octets.udp_payload(), Some(&[&[ACK][..], &5u64.to_be_bytes()].concat()[..]));
        // Both packets are counted to the flow from where they set out.
        let world = prepared.world();
        let upload = world.flows.len() as u32 - 1;
        let recorder = world.network.recorder.as_ref().expect("a recorder");
        let of_endpoints =
            recorder.packets.rows().iter().filter(|row| matches!(row.socket, Some(SocketId::Open(_))));
        let between = |from, to| {
            let sent = of_endpoints.clone().filter(|row| row.event == PacketEvent::Sent && row.node == from);
            let to =
                sent.filter(|row| row.destination.is_some_and(|at| world.network.topology.owner(at) == to));
            to.map(|row| world.flow_of(Carried { socket: row.socket.expect("filtered"), data: false }))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (between(router, server), between(server, router)),
            (vec![Some(upload)], vec![Some(upload)])
        );
    }

    /// A datagram in IPv4 (RFC 791, RFC 768), without UDP's checksum.
    fn ipv4_udp(from: Ipv4Addr, to: Ipv4Addr, ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
        let length = 8 + payload.len() as u16;
        let mut octets = vec![0x45, 0];
        octets.extend((20 + length).to_be_bytes());
        octets.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        octets.extend(from.octets());
        octets.extend(to.octets());
        octets::set_class(IpVersion::V4, &mut octets, TrafficClass::default());
        ports.iter().for_each(|port| octets.extend(port.to_be_bytes()));
        octets.extend(length.to_be_bytes());
        octets.extend([0, 0]);
        octets.extend(payload);
        octets
    }
}
