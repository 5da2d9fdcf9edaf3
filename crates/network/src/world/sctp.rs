//! SCTP sockets in the world.

use super::describe::sctp_detail;
use super::{SocketEnd, Work, World};
use crate::alarm::Alarm;
use crate::ending::{Failure, Life};
use crate::event::Event as Wake;
use crate::flow::Association;
use crate::packet::{Message, Packet};
use crate::recorder::Detail;
use crate::segment_log::{SegmentEvent, StreamPart};
use crate::socket::{ChunkLog, Follows, SctpSocket, SctpUse, SocketId, Traffic};
use crate::subject::Subject;
use roamsim_engine::{EventQueue, Stream, Time};
use roamsim_protocols::sctp::{self, Chunk, Config, Event, State};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

/// Messages of a stream that wait in the association beyond those that it has sent, where they go on several streams
/// in turn: enough for what one event lets out, few enough to cost no memory (chosen).
const WRITES_AHEAD: usize = 64;

impl World {
    /// Adds an SCTP association that `a` will open to `b`, which listens; `None` where no route joins the nodes. It has a
    /// path for each pair of the addresses of a multihomed node and those of its peer. With dynamic addresses an end on a
    /// station of [`Scheme::MobileSctp`](crate::handover::Scheme::MobileSctp) has those that can be used when it opens, and
    /// follows them from then on.
    ///
    /// `random` gives the random stream of each end, which also draws its verification tag and initial TSN.
    pub fn add_sctp(
        &mut self,
        config: &Config,
        how: SctpUse,
        a: (SocketEnd, Stream),
        b: (SocketEnd, Stream),
    ) -> Option<Association> {
        let (a, a_random) = a;
        let (b, b_random) = b;
        let topology = &self.network.topology;
        let (local, remote) =
            (topology.addresses_for(a.node, b.node), topology.addresses_for(b.node, a.node));
        if local.is_empty() || remote.is_empty() {
            return None;
        }
        let follows = |node| {
            let station = self.mobile_station(node).filter(|_| config.dynamic_addresses)?;
            Some(Follows { station, opening: false, primary: None })
        };
        let follow = [follows(a.node), follows(b.node)];
        let first = self.sctp.len() as u32;
        for (number, follows) in (first..).zip(&follow) {
            if let Some(follows) = follows {
                self.handovers.stations[follows.station as usize].followers.push(number);
            }
        }
        let logged = self.details || self.wanted.segments;
        let socket = |end: SocketEnd, mut random: Stream, local: &[_], remote: &[_], remote_port, peer| {
            let tag = random.next_u64() as u32;
            let initial_tsn = random.next_u64() as u32;
            let association =
                sctp::Association::new(config, local, end.port, remote, remote_port, tag, initial_tsn);
            SctpSocket {
                association,
                node: end.node,
                peer,
                user: end.user,
                traffic_class: end.traffic_class,
                traffic: Traffic::default(),
                alarm: Alarm::default(),
                random,
                how,
                next_stream: 0,
                unwritten_bytes: 0,
                closing: false,
                waiting: VecDeque::new(),
                incoming: VecDeque::new(),
                next_tsn: initial_tsn,
                sent: logged.then(|| Box::new(ChunkLog::new(initial_tsn))),
                follows: None,
                life: Life::default(),
            }
        };
        let mut opener = socket(a, a_random, &local, &remote, b.port, first + 1);
        let mut listener = socket(b, b_random, &remote, &local, a.port, first);
        [opener.follows, listener.follows] = follow;
        listener.association.listen();
        self.sctp.push(opener);
        self.sctp.push(listener);
        Some(Association { source: SocketId::Sctp(first), sink: SocketId::Sctp(first + 1) })
    }

    /// Sends a message on the socket's next stream.
    pub(super) fn write_sctp_message(&mut self, number: u32, message: Message) {
        let socket = &mut self.sctp[number as usize];
        if !socket.write(u64::from(message.bytes())) {
            self.refuse_message(SocketId::Sctp(number));
            return;
        }
        socket.waiting.push_back(message);
        self.work.push_back(Work::Sctp(number));
    }

    /// Hands a packet to its association, and serves what that touches.
    pub(super) fn receive_sctp(
        &mut self,
        now: Time,
        packet: &Packet,
        pdu: &sctp::Packet,
        queue: &mut EventQueue<Wake>,
    ) {
        if self.wanted.segments {
            self.watch_sack(now, packet.socket, pdu);
        }
        let socket = &mut self.sctp[packet.socket as usize];
        socket.traffic.received(packet.size_bytes);
        let path = sctp::Path { local: packet.destination, remote: packet.source };
        socket.association.handle_packet(&mut Context { now, random: &mut socket.random }, path, pdu);
        self.serve_sctp(now, packet.socket, queue);
    }

    /// Sends what an association has to send and tells its user what happened. A user that writes puts the socket
    /// on the work list again.
    pub(super) fn serve_sctp(&mut self, now: Time, number: u32, queue: &mut EventQueue<Wake>) {
        self.sctp[number as usize].write_ahead();
        let watched = self.sending_watched;
        while let Some((path, packet)) = self.sctp[number as usize].poll_transmit(now) {
            self.number_messages(number, &packet);
            self.count_request(number, &packet);
            let detail = if watched { self.watch_packet(now, number, &packet) } else { None };
            let (network, socket) = (&mut self.network, &mut self.sctp[number as usize]);
            let packet = socket.packet(network, path, packet);
            network.send(now, socket.node, packet, detail, queue);
            socket.write_ahead();
        }
        while let Some(event) = self.sctp[number as usize].association.poll_event() {
            self.on_sctp_event(now, number, event);
        }
        if self.wanted.cwnd || self.wanted.rtt {
            self.sample_sctp(now, number);
        }
        let socket = &mut self.sctp[number as usize];
        socket.alarm.arm(socket.association.poll_timeout(), Wake::Sctp(number), queue);
    }

    /// Gives the messages that a packet begins the TSNs by which the peer will tell them.
    fn number_messages(&mut self, number: u32, packet: &sctp::Packet) {
        for data in packet.data() {
            let socket = &mut self.sctp[number as usize];
            if data.tsn != socket.next_tsn {
                continue;
            }
            socket.next_tsn = data.tsn.wrapping_add(1);
            let message = if data.beginning { socket.waiting.pop_front() } else { None };
            if let Some(log) = &mut socket.sent {
                log.push(data.payload_bytes, message.clone());
            }
            if message.is_some() {
                let peer = socket.peer;
                self.sctp[peer as usize].incoming.push_back((data.tsn, message));
            }
        }
    }

    fn on_sctp_event(&mut self, now: Time, number: u32, event: Event) {
        let SctpSocket { life, association, .. } = &mut self.sctp[number as usize];
        match event {
            Event::Established => life.established = true,
            Event::TimedOut if association.was_shut_down() => life.delivered = true,
            Event::TimedOut => life.fails(now, Failure::TimedOut),
            Event::Aborted => life.fails(now, Failure::Reset),
            _ => {}
        }
        match event {
            Event::Received(message) => {
                let user = self.sctp[number as usize].user;
                if let Some(flow) = user.receives()
                    && self.flows[flow as usize].is_stream()
                {
                    self.deliver_stream(now, flow, message.bytes);
                } else if let Some(message) = self.sctp[number as usize].take_incoming(message.tsn) {
                    self.deliver(now, user, message);
                }
            }
            Event::Established | Event::PathUp(_) | Event::Reconfigured { .. } => {
                if event == Event::Established {
                    self.work.push_back(Work::Sctp(number));
                }
                self.on_address_event(number, event);
            }
            // An end leaves nothing to do here, and of its paths the association takes care by itself.
            _ => {}
        }
    }

    /// Records what a packet carries before it leaves; what the recorder wants to know of it.
    #[cold]
    fn watch_packet(&mut self, now: Time, number: u32, packet: &sctp::Packet) -> Option<Box<Detail>> {
        let (network, socket) = (&mut self.network, &mut self.sctp[number as usize]);
        let log = socket.sent.as_deref_mut()?;
        let mut detail = Box::new(match self.details {
            true => sctp_detail(log, packet, network.capturing()),
            false => Detail::default(),
        });
        if self.wanted.segments {
            for data in packet.data() {
                let (octets, again) = log.record(data.tsn)?;
                let part = StreamPart { sender: SocketId::Sctp(number), octets };
                detail.parts.push(part.clone());
                if let Some(recorder) = &mut network.recorder {
                    let event = if again { SegmentEvent::Retransmitted } else { SegmentEvent::Sent };
                    recorder.segment(now, event, part);
                }
            }
        }
        Some(detail)
    }

    /// Records what a SACK that has reached a sender of data acknowledges, before the sender takes it in.
    #[cold]
    fn watch_sack(&mut self, now: Time, number: u32, packet: &sctp::Packet) {
        let socket = &mut self.sctp[number as usize];
        let Some(recorder) = &mut self.network.recorder else { return };
        let Some(log) = &mut socket.sent else { return };
        let sender = SocketId::Sctp(number);
        for chunk in &packet.chunks {
            let (cumulative, gaps) = match chunk {
                Chunk::Sack(sack) => (sack.cumulative_tsn_ack, sack.gaps()),
                Chunk::Shutdown { cumulative_tsn_ack } => (*cumulative_tsn_ack, &[][..]),
                _ => continue,
            };
            if log.chunks.is_empty() {
                continue;
            }
            let acknowledged = log.end(cumulative);
            let before = log.acknowledged.min(acknowledged);
            log.acknowledged = log.acknowledged.max(acknowledged);
            let mut record = |event, octets| recorder.segment(now, event, StreamPart { sender, octets });
            record(SegmentEvent::Acknowledged, before..acknowledged);
            for &(first, last) in gaps {
                let at = |offset: u16| log.get(cumulative.wrapping_add(u32::from(offset)));
                if let (Some(first), Some(last)) = (at(first), at(last)) {
                    record(SegmentEvent::Sacked, first.octets.start..last.octets.end);
                }
            }
        }
    }

    fn sample_sctp(&mut self, now: Time, number: u32) {
        let subject = Subject::Socket(SocketId::Sctp(number));
        let wanted = self.wanted;
        let association = &mut self.sctp[number as usize].association;
        let Some(recorder) = &mut self.network.recorder else { return };
        // Before the association is up there is no window of the peer's, and at first no threshold either.
        let open = !matches!(association.state(), State::Closed | State::CookieWait | State::CookieEchoed);
        if wanted.cwnd && open {
            let cwnd_bytes = association.cwnd_bytes() as f64;
            recorder.sample_change(now, subject, "cwnd", "B", cwnd_bytes);
            if association.ssthresh_bytes() < u64::MAX {
                let ssthresh_bytes = association.ssthresh_bytes() as f64;
                recorder.sample_change(now, subject, "ssthresh", "B", ssthresh_bytes);
            }
        }
        if wanted.rtt {
            if let Some(measured) = association.take_rtt_sample() {
                recorder.sample(now, subject, "rtt", "s", measured.as_secs_f64());
            }
            if let Some(srtt) = association.srtt() {
                recorder.sample_change(now, subject, "srtt", "s", srtt.as_secs_f64());
            }
            recorder.sample_change(now, subject, "rto", "s", association.rto().as_secs_f64());
        }
    }
}

impl SctpSocket {
    /// Hands a message to the association, on the next stream; false when that is gone.
    fn write(&mut self, bytes: u64) -> bool {
        self.write_repeated(bytes, 1)
    }

    /// The same for messages alike, all on one stream.
    fn write_repeated(&mut self, bytes: u64, count: u64) -> bool {
        let stream = self.next_stream;
        self.next_stream = if stream + 1 < self.how.streams { stream + 1 } else { 0 };
        self.association.send_repeated(stream, bytes, count, 0, !self.how.ordered)
    }

    /// Keeps the association in messages of a stream, and closes it behind the last one.
    fn write_ahead(&mut self) {
        while self.unwritten_bytes > 0 && self.association.queued() < WRITES_AHEAD {
            let bytes = self.unwritten_bytes.min(self.how.message_bytes);
            // With streams to take in turn, one message at a time.
            let count = if self.how.streams == 1 { self.unwritten_bytes / bytes } else { 1 };
            if !self.write_repeated(bytes, count) {
                self.unwritten_bytes = 0;
                return;
            }
            self.unwritten_bytes -= bytes * count;
        }
        if self.closing && self.unwritten_bytes == 0 && self.association.state() == State::Established {
            self.closing = false;
            self.association.close();
        }
    }

    /// The message whose first chunk has this TSN.
    fn take_incoming(&mut self, tsn: u32) -> Option<Message> {
        let first = self.incoming.front()?.0;
        let at =
            self.incoming.partition_point(|(other, _)| other.wrapping_sub(first) < tsn.wrapping_sub(first));
        let message = self.incoming.get_mut(at).filter(|(other, _)| *other == tsn)?.1.take();
        while self.incoming.pop_front_if(|(_, message)| message.is_none()).is_some() {}
        message
    }
}
