//! Sockets of endpoints of other crates.
//!
//! Messages wait at the receiving socket by the offset of their end in the stream, as those of TCP do, or by
//! the number that their endpoint gives them.

use super::endpoint::{Arrival, Endpoint, EndpointEvent};
use super::{Coming, Counts, Envelope, Socket, SocketEnd, SocketEvent, SocketId, Traffic, User};
use crate::alarm::{Moment, NestedAlarm};
use crate::capture::encode;
use crate::ending::{Failure, Life};
use crate::event::Event;
use crate::octets::Octets;
use crate::packet::{IpVersion, Message, Packet, Pdu};
use crate::recorder::{Detail, Recorder};
use crate::subject::Subject;
use crate::topology::NodeId;
use crate::traffic_class::{Ecn, TrafficClass};
use roamsim_engine::Time;
use roamsim_protocols::udp::{Datagram, HEADER_BYTES};
use roamsim_protocols::{Address, IpAddresses};
use std::collections::VecDeque;
use std::sync::Arc;

/// One end of an association between endpoints of another crate.
pub struct OpenSocket {
    /// Where it lives.
    pub node: NodeId,
    /// Its address at first.
    pub local: Address,
    /// The peer's address at first.
    pub remote: Address,
    /// Its port.
    pub local_port: u16,
    /// The peer's port.
    pub remote_port: u16,
    /// The peer's socket.
    pub peer: u32,
    /// Who uses it.
    pub user: User,
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Its exchange with IP.
    pub traffic: Traffic,
    /// The port by which others know it, where a NAT before the node has given it another one; and how often
    /// it has.
    outer_port: Option<u16>,
    rebindings: u64,
    ip: IpVersion,
    written: Arc<IpAddresses>,
    endpoint: Box<dyn Endpoint>,
    alarm: NestedAlarm,
    written_bytes: u64,
    delivered_bytes: u64,
    /// On their way to this socket.
    incoming: VecDeque<Coming>,
    /// A numbered one that has just arrived, and the latest of those that are not repeated.
    arrived: Option<Message>,
    latest: Option<u64>,
    /// The station whose addresses it is told of.
    station: Option<u32>,
    life: Life,
}

impl OpenSocket {
    /// Two of which the first will open the connection to the second, from this number of an open socket on.
    pub(crate) fn pair(
        first: u32,
        (ip, written, path_mtu_bytes): (IpVersion, &Arc<IpAddresses>, u32),
        ends: [(SocketEnd, Box<dyn Endpoint>); 2],
        addresses: [Address; 2],
        stations: [Option<u32>; 2],
    ) -> [OpenSocket; 2] {
        let ports = [ends[0].0.port, ends[1].0.port];
        let mut at = 0;
        let payload_bytes = path_mtu_bytes.saturating_sub(ip.header_bytes() + HEADER_BYTES);
        ends.map(|(here, mut endpoint)| {
            endpoint.on_path(payload_bytes);
            let socket = OpenSocket {
                node: here.node,
                local: addresses[at],
                remote: addresses[1 - at],
                local_port: ports[at],
                remote_port: ports[1 - at],
                peer: first + 1 - at as u32,
                user: here.user,
                traffic_class: here.traffic_class,
                traffic: Traffic::default(),
                outer_port: None,
                rebindings: 0,
                ip,
                written: Arc::clone(written),
                endpoint,
                alarm: NestedAlarm::default(),
                written_bytes: 0,
                delivered_bytes: 0,
                incoming: VecDeque::new(),
                arrived: None,
                latest: None,
                station: stations[at],
                life: Life::default(),
            };
            at += 1;
            socket
        })
    }

    /// Writes a message; returned is what the peer's socket has to expect. `None` where the connection is
    /// gone.
    pub(crate) fn write(&mut self, message: Message) -> Option<Coming> {
        if self.endpoint.is_gone() {
            return None;
        }
        let bytes = u64::from(message.bytes());
        let at = self.endpoint.write_message(bytes).unwrap_or_else(|| {
            self.written_bytes += bytes;
            self.written_bytes
        });
        Some(Coming { at, message })
    }

    /// Whether a NAT before the node gives it another port by now: [`OpenSocket::rebind`] says which.
    pub(crate) fn is_to_rebind(&self, now: Time) -> bool {
        self.endpoint.rebindings(now) > self.rebindings
    }

    /// Others know it by this port from now on.
    pub(crate) fn rebind(&mut self, now: Time, port: u16) {
        self.rebindings = self.endpoint.rebindings(now);
        self.outer_port = Some(port);
    }

    /// How many messages that are not repeated are missing before the latest that has arrived, and how many
    /// of them were written before an instant; `None` if none of them has.
    pub(crate) fn missing(&self, instant: Time) -> Option<[u64; 2]> {
        let latest = self.latest?;
        let missing = self.incoming.partition_point(|coming| coming.at < latest);
        let before = self.incoming.partition_point(|coming| coming.message.written() < instant);
        Some([missing, before.min(missing)].map(|messages| messages as u64))
    }

    /// Takes a numbered message that has arrived.
    fn arrive(&mut self, number: u64, is_reliable: bool) -> Option<SocketEvent> {
        if !is_reliable {
            self.latest = self.latest.max(Some(number));
        }
        let at = self.incoming.binary_search_by_key(&number, |coming| coming.at).ok()?;
        let message = self.incoming.remove(at)?.message;
        let bytes = u64::from(message.bytes());
        self.arrived = Some(message);
        Some(SocketEvent::Message { bytes })
    }

    /// Expects a message from the peer.
    pub(crate) fn expect(&mut self, coming: Coming) {
        self.incoming.push_back(coming);
    }

    /// The protocol's name in results.
    pub(crate) fn protocol(&self) -> &'static str {
        self.endpoint.protocol()
    }

    /// The machine itself.
    pub(crate) fn endpoint(&mut self) -> &mut dyn Endpoint {
        &mut *self.endpoint
    }

    /// Its own number.
    fn id(&self) -> SocketId {
        SocketId::Open(self.peer ^ 1)
    }
}

impl Socket for OpenSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Open(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn station(&self) -> Option<u32> {
        self.station
    }

    fn on_addresses(&mut self, now: Time, usable: &[Address]) {
        self.endpoint.on_addresses(now, usable);
    }

    fn is_settled(&self, preferred: Address) -> bool {
        self.endpoint.is_settled(preferred)
    }

    fn counts(&self) -> Counts {
        self.endpoint.counts()
    }

    fn cwnd_bytes(&self) -> Option<u64> {
        self.endpoint.cwnd_bytes()
    }

    fn handle(&mut self, now: Time, packet: Packet) {
        self.traffic.received(packet.size_bytes);
        // It came to the port before, which the NAT does not know any more.
        if self.is_to_rebind(now) {
            return;
        }
        if let Pdu::Octets(octets) = &packet.pdu
            && let Some(payload) = octets.udp_payload()
        {
            let arrival = Arrival {
                source: packet.source,
                source_port: octets.ports().0,
                destination: packet.destination,
                ecn: packet.traffic_class.ecn(),
                payload,
            };
            self.endpoint.handle(now, &arrival);
        }
    }

    fn poll_transmit(&mut self, now: Time, envelope: Envelope) -> Option<Packet> {
        loop {
            let transmit = self.endpoint.poll_transmit(now)?;
            let size_bytes = transmit.payload.len() + (envelope.header_bytes + HEADER_BYTES) as usize;
            if size_bytes > usize::from(u16::MAX) {
                continue;
            }
            let size_bytes = size_bytes as u32;
            let datagram = Datagram {
                source_port: self.outer_port.unwrap_or(self.local_port),
                destination_port: transmit.destination_port.unwrap_or(self.remote_port),
                payload_bytes: transmit.payload.len() as u32,
            };
            let traffic_class = match transmit.ecn {
                Ecn::NotCapable => self.traffic_class,
                ecn => self.traffic_class.with_ecn(ecn),
            };
            let addresses =
                (transmit.source.unwrap_or(self.local), transmit.destination.unwrap_or(self.remote));
            let whole = encode::datagram(
                (self.ip, &self.written),
                addresses,
                (envelope.id, traffic_class),
                datagram,
                &transmit.payload,
            );
            let ports = (datagram.source_port, datagram.destination_port);
            self.traffic.sent(size_bytes);
            return Some(Packet {
                id: envelope.id,
                source: addresses.0,
                destination: addresses.1,
                socket: self.peer,
                size_bytes,
                traffic_class,
                tunnel: None,
                pdu: Pdu::Octets(Octets::of_datagram(whole, ports, transmit.has_data)),
            });
        }
    }

    fn poll_event(&mut self, now: Time) -> Option<SocketEvent> {
        loop {
            match self.endpoint.poll_event()? {
                EndpointEvent::Established => self.life.established = true,
                EndpointEvent::Received { up_to } => return Some(SocketEvent::Stream { up_to }),
                EndpointEvent::Message { number, is_reliable } => {
                    if let Some(event) = self.arrive(number, is_reliable) {
                        return Some(event);
                    }
                }
                EndpointEvent::RemoteClosed => return Some(SocketEvent::RemoteClosed),
                EndpointEvent::TimedOut => self.life.fails(now, Failure::TimedOut),
                EndpointEvent::Reset => self.life.fails(now, Failure::Reset),
            }
            if self.life.failure.is_some() {
                return Some(SocketEvent::Failed);
            }
        }
    }

    fn open(&mut self) {
        self.endpoint.open();
    }

    fn write_stream(&mut self, bytes: u64) {
        self.written_bytes += bytes;
        self.endpoint.write(bytes);
    }

    fn take_stream(&mut self, up_to: u64) -> u64 {
        up_to.saturating_sub(std::mem::replace(&mut self.delivered_bytes, up_to))
    }

    fn poll_message(&mut self) -> Option<Message> {
        if let Some(message) = self.arrived.take() {
            return Some(message);
        }
        let arrived = self.delivered_bytes;
        self.incoming.pop_front_if(|coming| coming.at <= arrived).map(|coming| coming.message)
    }

    fn close(&mut self) {
        self.endpoint.close();
    }

    fn abort(&mut self) {
        self.endpoint.abort();
    }

    fn arm(&mut self, event: Event, moment: &mut Moment<'_>) {
        self.alarm.arm(self.endpoint.poll_timeout(), event, moment);
    }

    fn wake(&mut self, moment: &mut Moment<'_>, event: Event) -> bool {
        let OpenSocket { alarm, endpoint, .. } = self;
        super::wake(
            (alarm, endpoint),
            moment,
            event,
            |end| end.poll_timeout(),
            |end, now| end.handle_timeout(now),
        )
    }

    fn life(&self) -> Option<&Life> {
        Some(&self.life)
    }

    fn life_mut(&mut self) -> Option<&mut Life> {
        Some(&mut self.life)
    }

    fn is_gone(&self) -> bool {
        self.endpoint.is_gone()
    }

    #[cold]
    fn watch_sent(&mut self, _now: Time, packet: &Packet, recorder: &mut Recorder) -> Option<Box<Detail>> {
        if let Some(capture) = &mut recorder.capture
            && let Some(secrets) = self.endpoint.take_secrets()
        {
            capture.secrets(&secrets);
        }
        let Pdu::Octets(octets) = &packet.pdu else { return None };
        recorder.wants_details().then(|| {
            let what = if octets.has_data() { "data" } else { "no data" };
            Box::new(Detail { description: format!("endpoint, {what}"), ..Detail::default() })
        })
    }

    #[cold]
    fn sample(&mut self, now: Time, recorder: &mut Recorder) {
        let subject = Subject::Socket(self.id());
        let (trace, endpoint) = (recorder.trace, &self.endpoint);
        let values = [
            ("cwnd", "B", trace.cwnd.then(|| endpoint.cwnd_bytes())),
            ("ssthresh", "B", trace.cwnd.then(|| endpoint.ssthresh_bytes())),
            ("in_flight", "B", trace.in_flight.then(|| endpoint.in_flight_bytes())),
            ("pacing_rate", "bit/s", trace.pacing.then(|| endpoint.pacing_bps())),
        ];
        for (quantity, unit, value) in values {
            if let Some(value) = value.flatten() {
                recorder.sample_change(now, subject, quantity, unit, value as f64);
            }
        }
        if recorder.trace.rtt
            && let Some(srtt) = self.endpoint.srtt()
        {
            recorder.sample_change(now, subject, "srtt", "s", srtt.as_secs_f64());
        }
    }
}
