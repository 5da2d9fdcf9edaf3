//! Sockets of TCP.
//!
//! A stream carries records: (end offset, message). A record is delivered when its last octet arrives in
//! order, so one segment can carry several messages, or a part of one. The messages themselves wait at the
//! receiving socket; the connection counts octets only.

use super::describe::tcp_detail;
use super::{
    Coming, Counts, EcnCounts, Envelope, FastOpenCounts, Repairs, SendBufferCounts, Socket, SocketEnd,
    SocketEvent, SocketId, Traffic, User, sample_rtt, sample_window,
};
use crate::alarm::{Moment, NestedAlarm};
use crate::ending::{Failure, Life};
use crate::ends::Onward;
use crate::event::Event;
use crate::link::flight::Blank;
use crate::packet::{Message, Packet, Pdu};
use crate::recorder::{Detail, Recorder};
use crate::segment_log::{SegmentEvent, StreamPart};
use crate::subject::Subject;
use crate::topology::NodeId;
use crate::traffic_class::{Ecn, TrafficClass};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{
    self, Codepoint, Config, Connection, Cookie, FirstCookie, Flags, GivenUp, KnownServer, Reason, Segment,
    State,
};
use roamsim_protocols::{Address, Machine};
use std::collections::VecDeque;
use std::sync::Arc;

/// One end of a TCP connection.
#[repr(C, align(64))] // what every segment needs comes first, the connection's part of it as well
pub struct TcpSocket {
    /// Where it lives.
    pub node: NodeId,
    /// Its address.
    pub local: Address,
    /// The peer's address.
    pub remote: Address,
    /// The peer's socket.
    pub peer: u32,
    /// Where its packets begin; not known when one of the addresses changes.
    pub(crate) onward: Onward,
    /// Who uses it.
    pub user: User,
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Whether messages sent are kept until they are acknowledged.
    described: bool,
    /// The user has closed before the handshake was complete.
    close_when_established: bool,
    /// It is the sink of a bulk flow that takes at once what arrives: `delivered_bytes` is the flow's
    /// account, which is read now and then.
    pub(crate) keeps_account: bool,
    alarm: NestedAlarm,
    /// Its exchange with IP.
    pub traffic: Traffic,
    /// Octets its user has got so far.
    pub(crate) delivered_bytes: u64,
    /// The machine.
    pub connection: Connection,
    /// Octets written to it so far.
    written_bytes: u64,
    /// Of its messages, where there are any.
    messages: Option<Box<Messages>>,
    /// How it went.
    life: Life,
}

/// The traffic class of a segment of a connection that is capable of ECN; apart, as most are not.
#[cold]
fn ecn_traffic_class(
    traffic_class: TrafficClass,
    segment: &Segment,
    connection: &Connection,
) -> TrafficClass {
    // RFC 8311 section 2.3 leaves ECT(1) to experiments, of which L4S is one (RFC 9331 section 4.1).
    let capable = if connection.is_l4s() { Ecn::Capable1 } else { Ecn::Capable0 };
    if segment.payload_bytes > 0 { traffic_class.with_ecn(capable) } else { traffic_class }
}

/// The cookie that a server gives to a client: nobody forges any here, so it needs no secret.
fn cookie([client, server]: [Address; 2]) -> Cookie {
    let octets = u64::from(server.0) << 32 | u64::from(client.0);
    // Any odd factor makes another number of each.
    let octets = octets.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Cookie::new(&octets.to_be_bytes()).unwrap_or(Cookie::REQUEST)
}

/// The ends of a connection with Fast Open, the client first, know what they do before the run.
#[cold]
fn prepare_fast_open(
    [client, server]: &mut [TcpSocket; 2],
    addresses: [Address; 2],
    first: FirstCookie,
    mss_bytes: u32,
) {
    let own = cookie(addresses);
    server.connection.set_own_cookie(own);
    let known = match first {
        FirstCookie::Requested => return,
        FirstCookie::Known => own,
        // A server has none for itself.
        FirstCookie::Stale => cookie([addresses[1]; 2]),
    };
    client.connection.set_known_server(KnownServer { cookie: known, mss_bytes });
}

/// Records the rates of a connection, as far as it has them.
fn sample_rates(now: Time, subject: Subject, recorder: &mut Recorder, connection: &Connection) {
    let delivered = connection.delivery_rate().filter(|sample| sample.interval > Span::ZERO);
    let rates = [
        ("pacing_rate", connection.paced_bytes_per_s()),
        ("delivery_rate", delivered.map(|sample| sample.rate_bytes_per_s())),
    ];
    for (quantity, rate) in rates {
        if let Some(rate) = rate {
            recorder.sample_change(now, subject, quantity, "bit/s", 8.0 * rate as f64);
        }
    }
}

/// What a socket has of messages.
#[derive(Default)]
struct Messages {
    /// On their way to this socket.
    incoming: VecDeque<Coming>,
    /// Sent and not yet acknowledged; kept only for captures and packet stories.
    unacknowledged: VecDeque<Coming>,
    /// The highest stream offset sent, to tell retransmissions in traces; kept only there.
    highest_sent: u64,
    /// Of transfers that have a connection each, the number of the one that the connection is of; only where
    /// packets are described.
    transfer: Option<u64>,
}

impl TcpSocket {
    /// Two of which the first will open a connection to the second, which listens, from this number of a TCP
    /// socket on.
    ///
    /// The random stream of each end draws its initial sequence number, and nothing else is drawn. What is
    /// sent is kept until it is acknowledged where it is to be `described`.
    pub(crate) fn pair(
        first: u32,
        config: &Arc<Config>,
        ends: [SocketEnd; 2],
        addresses: [Address; 2],
        random: [Stream; 2],
        described: bool,
    ) -> [TcpSocket; 2] {
        let mut at = 0;
        let mut pair = random.map(|mut random| {
            let (here, there) = (ends[at], ends[1 - at]);
            let iss = random.next_u64() as u32;
            let mut connection = Connection::new(config, here.port, there.port, iss);
            connection.set_random(&random.child(1));
            let socket = TcpSocket {
                connection,
                node: here.node,
                local: addresses[at],
                remote: addresses[1 - at],
                peer: first + 1 - at as u32,
                onward: Onward::UNKNOWN,
                user: here.user,
                traffic_class: here.traffic_class,
                traffic: Traffic::default(),
                alarm: NestedAlarm::default(),
                written_bytes: 0,
                delivered_bytes: 0,
                messages: None,
                described,
                close_when_established: false,
                keeps_account: false,
                life: Life::default(),
            };
            at += 1;
            socket
        });
        if let Some(first) = config.fast_open {
            prepare_fast_open(&mut pair, addresses, first, config.mss_bytes);
        }
        pair[1].connection.listen();
        pair
    }

    /// Has the next packet written, if there is one: `reserve` is asked then for what IP adds and for the
    /// place to which `write` brings it.
    #[inline(always)]
    fn transmit_to<Place, T>(
        &mut self,
        now: Time,
        reserve: impl FnOnce() -> (Envelope, Place),
        write: impl FnOnce(Place, Packet) -> T,
    ) -> Option<T> {
        let TcpSocket { local, remote, peer, connection, traffic, traffic_class, .. } = self;
        connection.transmit_to(
            now,
            #[inline(always)]
            |segment, connection| {
                let (envelope, place) = reserve();
                let size_bytes = envelope.header_bytes + segment.total_bytes();
                traffic.sent(size_bytes);
                let mut traffic_class = *traffic_class;
                if connection.is_ecn_capable() {
                    traffic_class = ecn_traffic_class(traffic_class, &segment, connection);
                }
                let packet = Packet {
                    id: envelope.id,
                    source: *local,
                    destination: *remote,
                    socket: *peer,
                    size_bytes,
                    traffic_class,
                    tunnel: None,
                    pdu: Pdu::Tcp(segment),
                };
                write(place, packet)
            },
        )
    }

    /// Takes a packet and the segment that is in it.
    #[inline(always)]
    pub(crate) fn take_in(&mut self, now: Time, packet: &Packet, segment: &Segment) {
        self.traffic.received(packet.size_bytes);
        let ecn = packet.traffic_class.ecn();
        if ecn != Ecn::NotCapable {
            self.note_ecn(ecn, segment);
        }
        self.connection.handle_segment_at(now, segment);
    }

    /// A packet has come that is ECN-capable, or was marked.
    #[inline(never)]
    fn note_ecn(&mut self, ecn: Ecn, segment: &Segment) {
        match ecn {
            Ecn::CongestionExperienced => self.connection.note_mark(segment),
            _ if !self.connection.takes_codepoints() => {}
            Ecn::Capable1 => self.connection.note_codepoint(Codepoint::Capable1),
            _ => self.connection.note_codepoint(Codepoint::Capable0),
        }
    }

    /// Takes a message, and returns it for the peer's socket to expect; `None` where there is nobody to send
    /// it.
    #[inline]
    pub(crate) fn write(&mut self, message: Message) -> Option<Coming> {
        if self.is_gone() {
            return None;
        }
        let bytes = u64::from(message.bytes());
        self.connection.write(bytes);
        self.written_bytes += bytes;
        let written = Coming { at: self.written_bytes, message };
        if self.described {
            self.messages_mut().unacknowledged.push_back(written.clone());
        }
        Some(written)
    }

    /// Messages that are on their way to this socket, from that on which ends behind this offset of the
    /// stream.
    pub(crate) fn coming_from(&self, start: u64) -> impl Iterator<Item = &Coming> {
        self.messages.iter().flat_map(move |messages| {
            // They are in the order of their ends.
            let first = messages.incoming.partition_point(|coming| coming.at <= start);
            messages.incoming.range(first..)
        })
    }

    /// Expects a message from the peer.
    pub(crate) fn expect(&mut self, coming: Coming) {
        self.messages_mut().incoming.push_back(coming);
    }

    fn messages_mut(&mut self) -> &mut Messages {
        self.messages.get_or_insert_default()
    }

    /// Of transfers that have a connection each, it is that of the one with this number.
    pub(crate) fn describe_transfer(&mut self, number: u64) {
        self.messages_mut().transfer = Some(number);
    }

    /// The number that it was told to be of.
    pub(super) fn transfer(&self) -> Option<u64> {
        self.messages.as_ref()?.transfer
    }

    /// Its messages that are sent and not acknowledged, from that on which ends behind this offset of its
    /// stream.
    pub(super) fn unacknowledged_from(&self, start: u64) -> impl Iterator<Item = &Coming> {
        self.messages.iter().flat_map(move |messages| {
            // They are in the order of their ends.
            let first = messages.unacknowledged.partition_point(|record| record.at <= start);
            messages.unacknowledged.range(first..)
        })
    }

    fn id(&self) -> SocketId {
        // The ends of a connection have an even number and the one behind it.
        SocketId::Tcp(self.peer ^ 1)
    }

    /// Whether the connection has come about and is not over: before and after there is no window.
    fn is_open(&self) -> bool {
        !matches!(
            self.connection.state(),
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }

    /// A connection has come about, or comes to its end.
    #[cold]
    fn on_change(&mut self, now: Time, event: tcp::Event) -> Option<SocketEvent> {
        match event {
            tcp::Event::Established => {
                self.life.established = true;
                if self.close_when_established {
                    self.connection.close();
                }
                match self.connection.config().fast_open {
                    Some(_) => Some(SocketEvent::FastOpened),
                    None => self.close_when_established.then_some(SocketEvent::Again),
                }
            }
            tcp::Event::RemoteClosed => Some(SocketEvent::RemoteClosed),
            tcp::Event::TimedOut | tcp::Event::Reset | tcp::Event::DataLost => {
                let failure = match self.connection.given_up() {
                    _ if event != tcp::Event::TimedOut => Failure::Reset,
                    Some(GivenUp::KeepAlive) => Failure::KeepAlive,
                    Some(GivenUp::UserTimeout) => Failure::UserTimeout,
                    None => Failure::TimedOut,
                };
                self.life.fails(now, failure);
                // The connection's buffers are gone with it (RFC 9293 3.10.7.4, second).
                Some(SocketEvent::Failed)
            }
            tcp::Event::Closed | tcp::Event::Received { .. } | tcp::Event::Acknowledged { .. } => None,
        }
    }
}

impl Socket for TcpSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Tcp(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn counts(&self) -> Counts {
        let stats = self.connection.stats();
        Counts {
            segments: stats.data_segments_sent,
            retransmissions: stats.data_retransmissions,
            window_probes: stats.window_probes_sent,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
            repairs: Some(Repairs {
                retransmissions: stats.data_retransmissions_for,
                path_removed: 0,
                undone: stats.undone_reductions,
            }),
            ecn: self.connection.config().ecn.then(|| EcnCounts {
                agreed: self.connection.has_ecn(),
                accurate: self.connection.ecn_is_accurate(),
                marked_packets: stats.ecn_marks_received,
                reductions: stats.ecn_reductions,
            }),
            send_buffer: self
                .connection
                .send_buffer_bytes()
                .map(|size_bytes| SendBufferCounts { size_bytes, limited: stats.send_buffer_limited }),
            fast_open: self.connection.config().fast_open.map(|_| FastOpenCounts {
                cookie_requests: stats.cookie_requested.into(),
                data_on_syn: stats.syn_data_sent.into(),
                data_taken: stats.syn_data_taken.into(),
            }),
        }
    }

    fn cwnd_bytes(&self) -> Option<u64> {
        self.is_open().then(|| self.connection.cwnd_bytes())
    }

    #[inline(always)]
    fn handle(&mut self, now: Time, packet: Packet) {
        let Pdu::Tcp(segment) = &packet.pdu else { return };
        self.take_in(now, &packet, segment);
        // To ask every packet what it owns costs more than to say it.
        if packet.is_plain_segment() {
            std::mem::forget(packet);
        }
    }

    #[inline(always)]
    fn may_transmit(&self) -> bool {
        self.connection.may_transmit()
    }

    #[inline(always)]
    fn poll_transmit(&mut self, now: Time, envelope: Envelope) -> Option<Packet> {
        self.transmit_to(now, || (envelope, ()), |(), packet| packet)
    }

    #[inline(always)]
    fn transmit_packet(&mut self, now: Time, envelope: Envelope, send: impl FnOnce(Packet)) -> bool {
        self.transmit_to(now, || (envelope, ()), |(), packet| send(packet)).is_some()
    }

    #[inline(always)]
    fn way(&mut self) -> Option<([Address; 2], &mut Onward)> {
        Some(([self.local, self.remote], &mut self.onward))
    }

    #[inline(always)]
    fn write_packet<'a, Place>(
        &mut self,
        now: Time,
        reserve: impl FnOnce() -> (Envelope, Place, Blank<'a>),
    ) -> Option<Place> {
        self.transmit_to(
            now,
            #[inline(always)]
            || {
                let (envelope, place, blank) = reserve();
                (envelope, (place, blank))
            },
            #[inline(always)]
            |(place, blank), packet| {
                blank.write(packet);
                place
            },
        )
    }

    #[inline(always)]
    fn poll_counted(&mut self) -> Option<u64> {
        let counts = self.keeps_account;
        let is_all = self.connection.passes_over(counts, !self.described);
        is_all.then(|| if counts { self.take_stream(self.connection.received_offset()) } else { 0 })
    }

    #[inline(always)]
    fn poll_event(&mut self, now: Time) -> Option<SocketEvent> {
        loop {
            match self.connection.poll_event()? {
                tcp::Event::Received { up_to } => return Some(SocketEvent::Stream { up_to }),
                tcp::Event::Acknowledged { up_to } => {
                    if self.described {
                        let sent = &mut self.messages_mut().unacknowledged;
                        while sent.pop_front_if(|sent| sent.at <= up_to).is_some() {}
                    }
                }
                change => {
                    if let Some(event) = self.on_change(now, change) {
                        return Some(event);
                    }
                }
            }
        }
    }

    fn open(&mut self) {
        self.connection.open();
    }

    fn write_stream(&mut self, bytes: u64) {
        self.written_bytes += bytes;
        self.connection.write(bytes);
    }

    fn hold_for_reader(&mut self) -> bool {
        self.connection.set_reading(false);
        true
    }

    fn read(&mut self, up_to: u64) {
        self.connection.read(up_to - self.delivered_bytes);
    }

    #[inline(always)]
    fn keeps_account(&self) -> bool {
        self.keeps_account
    }

    #[inline(always)]
    fn take_stream(&mut self, up_to: u64) -> u64 {
        up_to - std::mem::replace(&mut self.delivered_bytes, up_to)
    }

    #[inline]
    fn poll_message(&mut self) -> Option<Message> {
        let arrived = self.delivered_bytes;
        let incoming = &mut self.messages.as_mut()?.incoming;
        incoming.pop_front_if(|coming| coming.at <= arrived).map(|coming| coming.message)
    }

    fn close(&mut self) {
        match self.connection.state() {
            // RFC 9293 section 3.10.4: a close in SYN-SENT would end the attempt, and one in LISTEN the
            // listening.
            State::Listen | State::SynSent => self.close_when_established = true,
            _ => self.connection.close(),
        }
    }

    fn abandon(&mut self) {
        self.connection.close_half_duplex();
    }

    fn abort(&mut self) {
        self.connection.abort();
    }

    #[inline(always)]
    fn arm(&mut self, event: Event, moment: &mut Moment<'_>) {
        self.alarm.arm(self.connection.poll_timeout(), event, moment);
    }

    fn wake(&mut self, moment: &mut Moment<'_>, event: Event) -> bool {
        let machine = (&mut self.alarm, &mut self.connection);
        super::wake(machine, moment, event, Machine::poll_timeout, Connection::handle_timeout_at)
    }

    fn life(&self) -> Option<&Life> {
        Some(&self.life)
    }

    fn life_mut(&mut self) -> Option<&mut Life> {
        Some(&mut self.life)
    }

    fn is_gone(&self) -> bool {
        self.connection.state() == State::Closed
    }

    /// RFC 9293 section 3.6: in TIME-WAIT both directions are closed; and in FIN-WAIT-2, too, where the peer
    /// has closed and gave up its FIN.
    fn is_closed(&self, peer_is_gone: bool) -> bool {
        match self.connection.state() {
            State::Closed | State::TimeWait => true,
            State::FinWait2 => peer_is_gone,
            _ => false,
        }
    }

    #[cold]
    fn watch_sent(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) -> Option<Box<Detail>> {
        let Pdu::Tcp(segment) = &packet.pdu else { return None };
        let capturing = recorder.capture.is_some();
        let mut detail = recorder.wants_details().then(|| Box::new(tcp_detail(self, segment, capturing)));
        if recorder.trace.segments && segment.payload_bytes > 0 {
            let start = self.connection.payload_offset(segment);
            let octets = start..start + u64::from(segment.payload_bytes);
            let is_probe = self.connection.is_window_probe(segment);
            let highest_sent = &mut self.messages_mut().highest_sent;
            let event = match start < *highest_sent {
                _ if is_probe => SegmentEvent::WindowProbe,
                true => SegmentEvent::Retransmitted,
                false => SegmentEvent::Sent,
            };
            if !is_probe {
                *highest_sent = octets.end.max(*highest_sent);
            }
            let reason = match event {
                SegmentEvent::Retransmitted => self.connection.last_repeated_for().name(),
                SegmentEvent::Sent if self.connection.is_loss_probe(segment) => Reason::LossProbe.name(),
                _ => "",
            };
            let part = StreamPart { sender: self.id(), octets };
            detail.get_or_insert_default().parts = vec![part.clone()];
            recorder.segment_for(now, event, reason, part);
        }
        detail
    }

    #[cold]
    fn watch_received(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        let Pdu::Tcp(segment) = &packet.pdu else { return };
        let sends = self.messages.as_ref().is_some_and(|messages| messages.highest_sent > 0);
        let (sender, connection) = (self.id(), &self.connection);
        if !sends || !segment.flags.contains(Flags::ACK) || !connection.heeds_acknowledgement(segment) {
            return;
        }
        // The ACK of a FIN counts one more than there are octets.
        let acknowledged = connection.sent_offset(segment.ack).min(connection.snd_max_offset());
        let before = connection.snd_una_offset().min(acknowledged);
        let mut record = |event, octets| recorder.segment(now, event, StreamPart { sender, octets });
        // Data of the other direction that tells nothing new is no duplicate ACK (RFC 5681 section 2).
        if acknowledged > before || segment.payload_bytes == 0 {
            record(SegmentEvent::Acknowledged, before..acknowledged);
        }
        for &(left, right) in segment.options.sack.as_slice() {
            record(SegmentEvent::Sacked, connection.sent_offset(left)..connection.sent_offset(right));
        }
    }

    #[cold]
    fn sample(&mut self, now: Time, recorder: &mut Recorder) {
        let (sender, trace, open) = (self.id(), recorder.trace, self.is_open());
        let subject = Subject::Socket(sender);
        let connection = &mut self.connection;
        if trace.cwnd && open {
            sample_window(now, subject, recorder, connection.cwnd_bytes(), connection.ssthresh_bytes());
        }
        if trace.segments
            && let Some((proof, from)) = connection.take_undone()
        {
            let octets = from..connection.snd_max_offset();
            let part = StreamPart { sender, octets };
            recorder.segment_for(now, SegmentEvent::Undone, proof.name(), part);
        }
        if trace.in_flight && open {
            recorder.sample_change(now, subject, "in_flight", "B", connection.in_flight_bytes() as f64);
        }
        if trace.pacing && open {
            sample_rates(now, subject, recorder, connection);
        }
        if trace.states && open && self.written_bytes > 0 {
            let law = if connection.is_in_slow_start() { "slow_start" } else { "congestion_avoidance" };
            let repair = match connection.repair() {
                None => "",
                Some(Reason::Timeout) => "timeout",
                Some(_) => "fast_recovery",
            };
            recorder.state(now, sender, connection.congestion_state().unwrap_or(law), repair);
        }
        if trace.backlog && self.written_bytes > 0 {
            let backlog_bytes = self.written_bytes - connection.snd_una_offset();
            recorder.sample_change(now, subject, "backlog", "B", backlog_bytes as f64);
        }
        if trace.rtt {
            let (srtt, rto) = (connection.srtt(), connection.rto());
            sample_rtt(now, subject, recorder, (connection.take_rtt_sample(), srtt, rto));
            if let Some(window) = connection.reordering_window() {
                recorder.sample_change(now, subject, "reordering_window", "s", window.as_secs_f64());
            }
        }
    }
}
