//! An estimate of a run's size before it starts, from rates, sizes, delays and durations in its scenario.
//!
//! Sources that send at their own rate are counted (`cbr`, `poisson`, `on_off`, signalling). Greedy streams
//! are counted over accesses with a constant capacity (`Access::capacity`: wires), as fast as the slowest
//! access on their way and their receive window allow. A source over TCP or SCTP is counted in full
//! packets, and at most as fast as a greedy stream. If an access gets more than it can carry, each source
//! has its share: a source over TCP or SCTP sends no more than that, and the excess of others is dropped.
//!
//! The estimate is low, because it leaves out cells, Wi-Fi and DECT accesses, losses and outages for TCP
//! and SCTP, the opposite direction (ACKs, answers), `transfer`, requests and responses, beacons,
//! retransmissions and timers.

use crate::access::Access;
use crate::access::queue::{Limit, Queue};
use crate::application::model::{Application, Pace};
use crate::application::{transfers, video};
use crate::build;
use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::general::IpVersion;
use crate::node::by_name::NodesByName;
use crate::scenario::Scenario;
use crate::transport::quic::model::Quic;
use crate::transport::sctp::model::Sctp;
use crate::transport::tcp::model::Tcp;
use crate::transport::{Transport, Udp};
use roamsim_engine::{Span, Time};
use roamsim_network::distribution::bounded_pareto_mean;
use roamsim_network::packet::Fragment;
use roamsim_network::topology::Topology;
use roamsim_network::trace::Trace;
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// What a run will take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Events that do something.
    pub events: f64,
    /// Packets that are in queues and on links at one time, at the most.
    pub packets_under_way: f64,
    /// Rows of the traces `packets`, `messages` and `queue`, of those that are asked for.
    pub rows: f64,
}

/// Packets that go one way at a rate, while they go.
struct Stream {
    /// By the number of the interface.
    way: Vec<u32>,
    packets_per_s: f64,
    /// With all headers.
    bytes: f64,
    /// Messages that its source generates, each by an event.
    messages_per_s: f64,
    active_s: f64,
    /// Whether it sends no faster than the accesses on its way let it: over TCP and SCTP.
    elastic: bool,
}

/// What comes to an interface.
#[derive(Clone, Copy, Default)]
struct Load {
    /// The share of its time that it would send, as if all before it carried everything.
    busy: f64,
    /// Packets more than it can carry, over the whole run, and their octets.
    surplus_packets: f64,
    surplus_bytes: f64,
}

impl Load {
    /// The part of what comes that is carried.
    fn share(&self) -> f64 {
        (1.0 / self.busy).min(1.0)
    }

    /// Packets that wait at the most.
    fn waiting(&self, queue: Queue) -> f64 {
        match queue.limit() {
            Limit::Packets(packets) => self.surplus_packets.min(f64::from(packets)),
            Limit::Bytes(bytes) => self.surplus_packets * (bytes as f64 / self.surplus_bytes).min(1.0),
        }
    }
}

/// The ways that packets take.
struct Ways<'a> {
    topology: Topology,
    nodes: NodesByName<'a>,
    links: Vec<&'a dyn Access>,
}

impl Ways<'_> {
    fn way(&self, from: &str, to: &str) -> Vec<u32> {
        self.topology.path(self.nodes[from], self.nodes[to]).into_iter().map(|address| address.0).collect()
    }

    /// What comes to each interface that carries the same at all times.
    fn loads(&self, streams: &[Stream]) -> BTreeMap<u32, Load> {
        let mut loads: BTreeMap<u32, Load> = BTreeMap::new();
        for stream in streams {
            for &interface in &stream.way {
                if let Some(capacity) = self.access(interface).capacity() {
                    let sends_s = Span::of_transmission(stream.bytes.round() as u64, capacity.rate_bps);
                    loads.entry(interface).or_default().busy += stream.packets_per_s * sends_s.as_secs_f64();
                }
            }
        }
        loads
    }

    /// The access that an interface sends on.
    fn access(&self, interface: u32) -> &dyn Access {
        self.links[self.topology.attachment(Address(interface)).0.0 as usize]
    }
}

impl Scenario {
    /// What a run with these traces will take.
    pub fn estimate(&self, trace: &Trace) -> Estimate {
        let (topology, nodes, links) = build::topology(self);
        let ways = Ways { topology, nodes, links };
        let mut streams = self.streams(&ways);
        let crowded = ways.loads(&streams);
        for stream in streams.iter_mut().filter(|stream| stream.elastic) {
            let shares = stream.way.iter().filter_map(|interface| crowded.get(interface)).map(Load::share);
            stream.packets_per_s *= shares.fold(1.0, f64::min);
        }
        let mut loads = ways.loads(&streams);
        let mut estimate = Estimate::default();
        for stream in &streams {
            let sent = stream.packets_per_s * stream.active_s;
            let generated = stream.messages_per_s * stream.active_s;
            let mut passed = 1.0_f64;
            let mut arrivals = 0.0;
            for &interface in &stream.way {
                if let (Some(load), Some(capacity)) =
                    (loads.get_mut(&interface), ways.access(interface).capacity())
                {
                    let comes = passed;
                    passed = passed.min(load.share());
                    let delay_s = capacity.delay.as_secs_f64().min(stream.active_s);
                    estimate.packets_under_way += passed * stream.packets_per_s * delay_s;
                    load.surplus_packets += (comes - passed) * sent;
                    load.surplus_bytes += (comes - passed) * sent * stream.bytes;
                }
                arrivals += passed * sent;
            }
            estimate.events += arrivals + generated;
            let hops = arrivals + (1.0 - passed) * sent;
            if trace.packets {
                estimate.rows += sent + hops + passed * sent;
            }
            if trace.messages {
                estimate.rows += passed * generated;
            }
            if trace.queue {
                estimate.rows += hops;
            }
        }
        for access in self.accesses().filter(|_| trace.link_events) {
            if let Some(period) = access.beacon_period() {
                // A report at each beacon.
                let beacons = self.general.duration.as_secs_f64() / period.as_secs_f64();
                estimate.rows += beacons * access.pairs().len() as f64;
            }
        }
        for (interface, load) in loads {
            if let Some(capacity) = ways.access(interface).capacity() {
                estimate.packets_under_way += load.waiting(capacity.queue);
            }
        }
        estimate
    }

    fn streams(&self, ways: &Ways<'_>) -> Vec<Stream> {
        let end = Time::ZERO + self.general.duration;
        let active_s = |start: &TimeDistribution, stop: Option<Time>| {
            let stop = stop.map_or(end, |stop| stop.min(end));
            stop.since(Time::ZERO + mean_span(start)).as_secs_f64()
        };
        let mut streams = Vec::new();
        for flow in &self.flows {
            let directions = [(&flow.from, &flow.to), (&flow.to, &flow.from)];
            for (from, to) in &directions[..1 + usize::from(flow.bidirectional)] {
                let way = ways.way(from, to);
                let active_s = active_s(&flow.application.start(), flow.application.stop());
                let paced = paced(&flow.application);
                let over_udp = matches!(&*flow.transport, Transport::Udp(_));
                // Over UDP a program sends, nobody knows how much.
                let greedy = matches!(flow.application, Application::Bulk(_)) && !over_udp;
                let (packets_per_s, bytes) = match (&*flow.transport, paced) {
                    (Transport::Udp(_), Some((messages_per_s, payload_bytes))) => {
                        let (packets, bytes) = self.datagram(ways, &way, payload_bytes);
                        (packets * messages_per_s, bytes)
                    }
                    (transport, paced) if greedy || paced.is_some() => {
                        let Some(full) = self.full_speed(ways, &way, transport) else { continue };
                        let bps = paced.map_or(f64::INFINITY, |(rate, bytes)| 8.0 * rate * bytes);
                        (full.packets_per_s.min(bps / (8.0 * full.payload_bytes)), full.bytes)
                    }
                    _ => continue,
                };
                let messages_per_s = paced.map_or(0.0, |(messages_per_s, _)| messages_per_s);
                let elastic = !matches!(*flow.transport, Transport::Udp(_));
                streams.push(Stream { way, packets_per_s, bytes, messages_per_s, active_s, elastic });
            }
        }
        for entry in &self.signalling {
            // Link events, which come in no interval, are few.
            let (Some(interval), Some(size)) = (&entry.interval, &entry.message_size) else { continue };
            let interval_s = mean_span(interval).as_secs_f64();
            if interval_s > 0.0 {
                let way = ways.way(&entry.from, &entry.to);
                let (packets, bytes) = self.datagram(ways, &way, mean_bytes(size));
                streams.push(Stream {
                    way,
                    packets_per_s: packets / interval_s,
                    bytes,
                    messages_per_s: 1.0 / interval_s,
                    active_s: active_s(&entry.start, entry.stop),
                    elastic: false,
                });
            }
        }
        streams
    }

    /// The packets that a datagram with that payload makes on its way, and their mean size: more than one
    /// where it is cut into fragments.
    fn datagram(&self, ways: &Ways<'_>, way: &[u32], payload_bytes: f64) -> (f64, f64) {
        let ip_bytes = self.general.ip.header_bytes() as f64;
        let datagram_bytes = payload_bytes + Udp::HEADER_BYTES as f64;
        let mtu_bytes = way.iter().map(|&interface| ways.access(interface).mtu_bytes()).min();
        match mtu_bytes.map(|mtu_bytes| mtu_bytes as f64 - ip_bytes) {
            Some(room_bytes) if datagram_bytes > room_bytes => {
                let header_bytes = match self.general.ip {
                    IpVersion::Ipv4 => 0.0,
                    IpVersion::Ipv6 => Fragment::HEADER_BYTES.into(),
                };
                let packets = (datagram_bytes / (room_bytes - header_bytes).max(1.0)).ceil();
                (packets, datagram_bytes / packets + ip_bytes + header_bytes)
            }
            _ => (1.0, datagram_bytes + ip_bytes),
        }
    }

    /// A greedy stream at its fastest; `None` where an access on its way does not carry the same at all
    /// times, or loses packets.
    fn full_speed(&self, ways: &Ways<'_>, way: &[u32], transport: &Transport) -> Option<FullSpeed> {
        let (mut rate_bps, mut mtu_bytes, mut delay_s) = (u64::MAX, u64::MAX, 0.0);
        for &interface in way {
            let access = ways.access(interface);
            let capacity = access.capacity().filter(|capacity| capacity.lossless)?;
            rate_bps = rate_bps.min(capacity.rate_bps);
            mtu_bytes = mtu_bytes.min(access.mtu_bytes());
            delay_s += capacity.delay.as_secs_f64();
        }
        if way.is_empty() {
            return None;
        }
        let ip_bytes = self.general.ip.header_bytes();
        let (window_bytes, headers_bytes, bytes) = match transport {
            Transport::Tcp(tcp) => {
                let headers_bytes = ip_bytes + Tcp::HEADER_BYTES;
                let bytes = tcp.mss_bytes.map_or(mtu_bytes, |mss| (mss + headers_bytes).min(mtu_bytes));
                (tcp.receive_window_bytes() as f64, headers_bytes, bytes)
            }
            Transport::Sctp(sctp) => {
                let headers_bytes = ip_bytes + Sctp::HEADER_BYTES + Sctp::DATA_HEADER_BYTES;
                (sctp.receive_window_bytes as f64, headers_bytes, mtu_bytes)
            }
            Transport::Quic(quic) => {
                let udp_bytes = ip_bytes + Udp::HEADER_BYTES;
                let bytes = mtu_bytes.min(udp_bytes + Quic::MAX_DATAGRAM_BYTES);
                (quic.receive_window_bytes as f64, udp_bytes + Quic::OVERHEAD_BYTES, bytes)
            }
            Transport::Udp(_) => (f64::INFINITY, ip_bytes + Udp::HEADER_BYTES, mtu_bytes),
        };
        let window_bps = if delay_s > 0.0 { 8.0 * window_bytes / (2.0 * delay_s) } else { f64::INFINITY };
        Some(FullSpeed {
            packets_per_s: window_bps.min(rate_bps as f64) / (8.0 * bytes as f64),
            bytes: bytes as f64,
            payload_bytes: bytes.saturating_sub(headers_bytes).max(1) as f64,
        })
    }
}

/// A greedy stream at its fastest.
struct FullSpeed {
    packets_per_s: f64,
    /// With all headers.
    bytes: f64,
    payload_bytes: f64,
}

/// Packets a second and their payload in octets, of a source that has a pace of its own.
fn paced(application: &Application) -> Option<(f64, f64)> {
    let (packets_per_s, size) = match application {
        Application::Video(a) => return video::build::packets(a),
        Application::Transfers(a) => return transfers::build::mean(a, mean_bytes),
        Application::Cbr(a) => {
            let packets_per_s = match a.pace() {
                Pace::Interval(interval) => 1.0 / interval.as_secs_f64(),
                Pace::RateBps(rate_bps) => rate_bps as f64 / (8.0 * mean_bytes(&a.packet_size)),
            };
            (packets_per_s, &a.packet_size)
        }
        Application::Poisson(a) => (1.0 / a.mean_interval.as_secs_f64(), &a.packet_size),
        Application::OnOff(a) => {
            let (on_s, off_s) = (mean_span(&a.on).as_secs_f64(), mean_span(&a.off).as_secs_f64());
            let share = if on_s + off_s > 0.0 { on_s / (on_s + off_s) } else { 1.0 };
            (share * a.rate_bps as f64 / (8.0 * mean_bytes(&a.packet_size)), &a.packet_size)
        }
        Application::Bulk(_) | Application::Transfer(_) | Application::RequestResponse(_) => return None,
    };
    packets_per_s.is_finite().then(|| (packets_per_s, mean_bytes(size)))
}

/// The mean, without the bounds of an exponential one.
fn mean_bytes(size: &SizeDistribution) -> f64 {
    let mean = match *size {
        SizeDistribution::Exponential { mean_bytes, .. } => mean_bytes as f64,
        SizeDistribution::Pareto { min_bytes, max_bytes, shape } => {
            bounded_pareto_mean(min_bytes as f64, max_bytes as f64, shape)
        }
        _ => (size.min_bytes() as f64 + size.max_bytes() as f64) / 2.0,
    };
    mean.max(1.0)
}

fn mean_span(time: &TimeDistribution) -> Span {
    match *time {
        TimeDistribution::Constant { value } => value,
        TimeDistribution::Exponential { mean } | TimeDistribution::Pareto { mean, .. } => mean,
        TimeDistribution::Uniform { min, max } => Span::from_ns(min.as_ns() / 2 + max.as_ns() / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::flow::model::Flow;
    use crate::run::{Options, run};
    use std::sync::Arc;

    /// A flow from a over r to b by two wires, of 8 Mb/s and a rate, 10 ms each.
    fn scenario(second: &str, transport: &str, application: &str) -> Scenario {
        let text = format!(
            r#"
            scenario = {{ name = "x", duration = "10s" }}
            node = [{{ name = "a" }}, {{ name = "r" }}, {{ name = "b" }}]
            link = [
                {{ name = "first", between = ["a", "r"], rate = "8Mb/s", delay = "10ms" }},
                {{ name = "second", between = ["r", "b"], rate = "{second}", delay = "10ms" }},
            ]
            flow = [{{ name = "f", from = "a", to = "b", transport = {{ protocol = "{transport}" }}, application = {application} }}]
            "#
        );
        Scenario::parse(&text, "x", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_source_with_a_rate_is_counted_packet_by_packet_and_wire_by_wire() {
        // 952 octets and 48 of headers, 8000 bits: 500 a second at 1 ms a packet on the first wire, for 10 s.
        let cbr = "{ kind = \"cbr\", packet_size = \"952B\", interval = \"2ms\" }";
        let trace = Trace { packets: true, ..Trace::default() };
        let free = scenario("8Mb/s", "udp", cbr);
        // 5000 generated, 5000 arrivals at each of two nodes; in 10 ms five are on each wire. Sent, two hops,
        // delivered.
        let expected = Estimate { events: 15_000.0, packets_under_way: 10.0, rows: 20_000.0 };
        assert_eq!(free.estimate(&trace), expected);
        // A run has these less what is under way at its end.
        let outcome = run(&free, Options { trace, ..Options::default() }).expect("the run succeeds");
        assert!((14_980..=15_000).contains(&outcome.events), "{}", outcome.events);
        // A quarter passes 1 Mb/s: 5000 + 5000 + 1250; of the rest 3750 are dropped, but for a queue of 100.
        let full = scenario("1Mb/s", "udp", cbr).estimate(&trace);
        assert_eq!((full.events, full.rows), (11_250.0, 5000.0 + 5000.0 + 5000.0 + 1250.0));
        assert_eq!(full.packets_under_way, 5.0 + 1.25 + 100.0);
    }

    #[test]
    fn flows_that_share_a_queue_fill_it_once() {
        // Three flows of 4 Mb/s in packets of 1000 octets, 500 a second, for 10 s: two thirds of them pass 8
        // Mb/s, of which an eighth pass 1 Mb/s. On the wires are 10 and 1.25 packets, and each queue has room
        // for 100 packets, whosever.
        let mut one =
            scenario("1Mb/s", "udp", "{ kind = \"cbr\", packet_size = \"952B\", interval = \"2ms\" }");
        for name in ["g", "h"] {
            let again = Flow { name: name.into(), ..one.flows[0].clone() };
            one.flows.push(again);
        }
        let estimate = one.estimate(&Trace::default());
        assert!((estimate.packets_under_way - (10.0 + 1.25 + 200.0)).abs() < 1e-9, "{estimate:?}");
        // 15,000 generated, 10,000 and 1250 arrivals.
        assert!((estimate.events - 26_250.0).abs() < 1e-6, "{estimate:?}");
        // In octets: 50 packets of 1000 each.
        for link in &mut one.links {
            Arc::make_mut(&mut link.kind).queue = Some(Queue::DropTail(Limit::Bytes(50_000)));
        }
        let estimate = one.estimate(&Trace::default());
        assert!((estimate.packets_under_way - (10.0 + 1.25 + 100.0)).abs() < 1e-9, "{estimate:?}");
    }

    #[test]
    fn a_source_with_a_rate_over_a_stream_is_counted_in_full_packets() {
        // 476,000 octets a second for 10 s are 5000 messages of 952, in packets of 1500 with 1440 of payload
        // (40 of IPv6, 20 of TCP; options are not counted), two arrivals each.
        let cbr = "{ kind = \"cbr\", packet_size = \"952B\", interval = \"2ms\" }";
        let tcp = scenario("8Mb/s", "tcp", cbr).estimate(&Trace::default());
        assert!((tcp.events - (5000.0 + 2.0 * 4_760_000.0 / 1440.0)).abs() < 1e-6, "{tcp:?}");
        // SCTP: 28 octets of headers, 1432 of payload.
        let sctp = scenario("8Mb/s", "sctp", cbr).estimate(&Trace::default());
        assert!((sctp.events - (5000.0 + 2.0 * 4_760_000.0 / 1432.0)).abs() < 1e-6, "{sctp:?}");
        // Over 1 Mb/s it goes no faster than that, and nothing is dropped: 10 Mb in packets of 1500 octets.
        let slow = scenario("1Mb/s", "tcp", cbr).estimate(&Trace::default());
        assert!((slow.events - (5000.0 + 2.0 * 10e6 / 12_000.0)).abs() < 1e-6, "{slow:?}");
    }

    #[test]
    fn a_greedy_stream_is_as_fast_as_the_slowest_wire_and_the_window() {
        let bulk = "{ kind = \"bulk\" }";
        // 4 Mb/s of 1500 octets for 10 s: 3333.3 packets, two arrivals each.
        let tcp = scenario("4Mb/s", "tcp", bulk).estimate(&Trace::default());
        assert!((tcp.events - 2.0 * 40e6 / 12_000.0).abs() < 1e-6, "{tcp:?}");
        // A window of 10 kB in 40 ms is 2 Mb/s: half of it.
        let small = |transport| {
            let window = [("flow.f.transport.receive_window".to_owned(), "10kB".to_owned())];
            let whole = scenario("4Mb/s", transport, bulk);
            let small = Scenario::parse(&whole.canonical_json(), "x", Format::Json, &window).expect("valid");
            small.estimate(&Trace::default()).events
        };
        assert!((small("tcp") - tcp.events / 2.0).abs() < 1e-6);
        assert!((small("sctp") - tcp.events / 2.0).abs() < 1e-6);
    }

    #[test]
    fn greedy_streams_that_share_a_wire_send_their_shares_and_nothing_more() {
        // Four at 8 Mb/s each over a wire of 8 Mb/s: 6666.7 packets of 1500 octets in 10 s, two arrivals
        // each; nothing waits.
        let mut shared = scenario("8Mb/s", "tcp", "{ kind = \"bulk\" }");
        for name in ["g", "h", "i"] {
            let again = Flow { name: name.into(), ..shared.flows[0].clone() };
            shared.flows.push(again);
        }
        let estimate = shared.estimate(&Trace::default());
        assert!((estimate.events - 2.0 * 80e6 / 12_000.0).abs() < 1e-6, "{estimate:?}");
        // 10 ms of 8 Mb/s on each of two wires: 6.67 packets each.
        assert!((estimate.packets_under_way - 2.0 * 80e3 / 12_000.0).abs() < 1e-6, "{estimate:?}");
    }

    #[test]
    fn what_a_stream_makes_of_losses_is_not_guessed() {
        let mut lossy = scenario("8Mb/s", "tcp", "{ kind = \"bulk\" }");
        let text = lossy.canonical_json().replace(
            "\"name\":\"second\"",
            "\"name\":\"second\",\"loss\":{\"model\":\"bernoulli\",\"probability\":0.1}",
        );
        lossy = Scenario::parse(&text, "x", Format::Json, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(lossy.links[1].loss.len(), 1);
        assert_eq!(lossy.estimate(&Trace::default()), Estimate::default());
    }
}
