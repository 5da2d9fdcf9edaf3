//! TCP sockets in the world.

use super::describe::tcp_detail;
use super::{SocketEnd, Work, World};
use crate::alarm::Alarm;
use crate::application::Reader;
use crate::ending::{Failure, Life};
use crate::event::Event as Wake;
use crate::flow::Association;
use crate::packet::Message;
use crate::segment_log::{SegmentEvent, StreamPart};
use crate::socket::{Record, SocketId, TcpSocket, Traffic, User};
use crate::subject::Subject;
use roamsim_engine::{EventQueue, Stream, Time};
use roamsim_protocols::Machine;
use roamsim_protocols::tcp::{Config, Connection, Event, Flags, Segment, State};
use std::collections::VecDeque;

impl World {
    /// Adds a TCP connection that `a` will open to `b`, which listens; `None` where no route joins the nodes.
    ///
    /// `random` gives the random stream of each end, which also draws its initial sequence number.
    pub fn add_tcp(
        &mut self,
        config: &Config,
        a: (SocketEnd, Stream),
        b: (SocketEnd, Stream),
    ) -> Option<Association> {
        let (a, a_random) = a;
        let (b, b_random) = b;
        let (local, remote) = self.addresses(a.node, b.node)?;
        let first = self.tcp.len() as u32;
        let socket = |end: SocketEnd, mut random: Stream, local, remote, remote_port, peer| {
            let iss = random.next_u64() as u32;
            TcpSocket {
                connection: Connection::new(config, end.port, remote_port, iss),
                node: end.node,
                local,
                remote,
                peer,
                user: end.user,
                traffic_class: end.traffic_class,
                traffic: Traffic::default(),
                alarm: Alarm::default(),
                random,
                written_bytes: 0,
                delivered_bytes: 0,
                highest_sent: 0,
                incoming: VecDeque::new(),
                unacknowledged: VecDeque::new(),
                close_when_established: false,
                life: Life::default(),
            }
        };
        self.tcp.push(socket(a, a_random, local, remote, b.port, first + 1));
        let mut listener = socket(b, b_random, remote, local, a.port, first);
        listener.connection.listen();
        self.tcp.push(listener);
        Some(Association { source: SocketId::Tcp(first), sink: SocketId::Tcp(first + 1) })
    }

    /// Appends a message to the stream of a socket.
    pub(super) fn write_message(&mut self, number: u32, message: Message) {
        let bytes = u64::from(message.bytes());
        let socket = &mut self.tcp[number as usize];
        if socket.connection.state() == State::Closed {
            self.refuse_message(SocketId::Tcp(number));
            return;
        }
        socket.connection.write(bytes);
        socket.written_bytes += bytes;
        let record = Record { end: socket.written_bytes, message };
        if self.details {
            socket.unacknowledged.push_back(record.clone());
        }
        let peer = socket.peer;
        self.tcp[peer as usize].incoming.push_back(record);
        self.work.push_back(Work::Tcp(number));
    }

    /// The user of a socket is done with it: it neither writes nor reads any more.
    pub(super) fn abandon_tcp(&mut self, number: u32) {
        self.tcp[number as usize].connection.close_half_duplex();
        self.work.push_back(Work::Tcp(number));
    }

    /// Sends what a connection has to send and tells its user what happened. A user that writes puts the socket on
    /// the work list again.
    pub(super) fn serve_tcp(&mut self, now: Time, number: u32, queue: &mut EventQueue<Wake>) {
        if self.sending_watched {
            self.transmit_watched(now, number, queue);
        }
        let (network, socket) = (&mut self.network, &mut self.tcp[number as usize]);
        while let Some(segment) = socket.poll_transmit(now) {
            let packet = socket.packet(network, segment);
            network.send(now, socket.node, packet, None, queue);
        }
        while let Some(event) = self.tcp[number as usize].connection.poll_event() {
            self.on_tcp_event(now, number, event);
        }
        if self.connections_sampled {
            self.sample_tcp(now, number);
        }
        let socket = &mut self.tcp[number as usize];
        socket.alarm.arm(socket.connection.poll_timeout(), Wake::Tcp(number), queue);
    }

    /// Sends what a connection has to send, with what the recorder wants to know of it.
    #[cold]
    fn transmit_watched(&mut self, now: Time, number: u32, queue: &mut EventQueue<Wake>) {
        loop {
            let (network, socket) = (&mut self.network, &mut self.tcp[number as usize]);
            let Some(segment) = socket.poll_transmit(now) else { return };
            let mut detail =
                self.details.then(|| Box::new(tcp_detail(socket, &segment, network.capturing())));
            if self.wanted.segments && segment.payload_bytes > 0 {
                let start = socket.connection.payload_offset(&segment);
                let octets = start..start + u64::from(segment.payload_bytes);
                let again = start < socket.highest_sent;
                socket.highest_sent = socket.highest_sent.max(octets.end);
                let part = StreamPart { sender: SocketId::Tcp(number), octets };
                detail.get_or_insert_default().parts = vec![part.clone()];
                if let Some(recorder) = &mut network.recorder {
                    let event = if again { SegmentEvent::Retransmitted } else { SegmentEvent::Sent };
                    recorder.segment(now, event, part);
                }
            }
            let packet = socket.packet(network, segment);
            network.send(now, socket.node, packet, detail, queue);
        }
    }

    /// Records what a segment that has reached a sender of data acknowledges, before the sender takes it in.
    #[cold]
    pub(super) fn watch_acknowledgement(&mut self, now: Time, number: u32, segment: &Segment) {
        let socket = &self.tcp[number as usize];
        let Some(recorder) = &mut self.network.recorder else { return };
        if socket.highest_sent == 0 || !segment.flags.contains(Flags::ACK) {
            return;
        }
        let connection = &socket.connection;
        // The ACK of a FIN counts one more than there are octets.
        let acknowledged = connection.sent_offset(segment.ack).min(connection.snd_max_offset());
        let before = connection.snd_una_offset().min(acknowledged);
        let sender = SocketId::Tcp(number);
        let mut record = |event, octets| recorder.segment(now, event, StreamPart { sender, octets });
        // Data of the other direction that tells nothing new is no duplicate ACK (RFC 5681 section 2).
        if acknowledged > before || segment.payload_bytes == 0 {
            record(SegmentEvent::Acknowledged, before..acknowledged);
        }
        for &(left, right) in segment.options.sack.as_slice() {
            record(SegmentEvent::Sacked, connection.sent_offset(left)..connection.sent_offset(right));
        }
    }

    #[inline]
    fn on_tcp_event(&mut self, now: Time, number: u32, event: Event) {
        match event {
            Event::Received { up_to } => match self.reader(number) {
                None => self.take_stream(now, number, up_to),
                Some((flow, reader)) => {
                    reader.on_arrival(now, up_to);
                    self.work.push_back(Work::Reader(flow));
                }
            },
            Event::Acknowledged { up_to } => {
                let socket = &mut self.tcp[number as usize];
                while socket.unacknowledged.pop_front_if(|record| record.end <= up_to).is_some() {}
            }
            Event::Established
            | Event::RemoteClosed
            | Event::Closed
            | Event::Reset
            | Event::TimedOut
            | Event::DataLost => self.on_tcp_change(now, number, event),
        }
    }

    /// A connection has come about, or comes to its end.
    #[cold]
    fn on_tcp_change(&mut self, now: Time, number: u32, event: Event) {
        let socket = &mut self.tcp[number as usize];
        match event {
            Event::Established => {
                socket.life.established = true;
                if socket.close_when_established {
                    socket.connection.close();
                    self.work.push_back(Work::Tcp(number));
                }
            }
            // It goes on, and learns by the reset that answers its data that nobody reads any more.
            Event::RemoteClosed if self.has_more_to_send(number) => {}
            Event::RemoteClosed => {
                // Nothing more will come: close this side too (no application here goes on after its peer), when
                // everything has been read.
                if self.reader(number).is_none_or(|(_, reader)| reader.on_close()) {
                    self.tcp[number as usize].connection.close();
                    self.work.push_back(Work::Tcp(number));
                }
            }
            Event::TimedOut | Event::Reset | Event::DataLost => {
                let failure = if event == Event::TimedOut { Failure::TimedOut } else { Failure::Reset };
                self.tcp[number as usize].life.fails(now, failure);
                // The connection's buffers are gone with it (RFC 9293 3.10.7.4, second).
                if let Some((_, reader)) = self.reader(number) {
                    reader.drop_unread();
                }
            }
            Event::Closed | Event::Received { .. } | Event::Acknowledged { .. } => {}
        }
    }

    /// Whether a source that is the only one of its connection will write more.
    fn has_more_to_send(&self, number: u32) -> bool {
        let User::FlowSource(flow) = self.tcp[number as usize].user else { return false };
        self.flows[flow as usize].source.poll_timeout().is_some()
    }

    /// What reads at a socket, with its flow; `None` where whatever arrives is taken at once.
    #[inline]
    fn reader(&mut self, number: u32) -> Option<(u32, &mut Reader)> {
        let flow = self.tcp[number as usize].user.receives()?;
        Some((flow, self.flows[flow as usize].reader.as_mut()?))
    }

    /// An application reads, up to this offset.
    pub(super) fn read_tcp(&mut self, now: Time, number: u32, up_to: u64) {
        let socket = &mut self.tcp[number as usize];
        socket.connection.read(up_to - socket.delivered_bytes);
        self.work.push_back(Work::Tcp(number));
        self.take_stream(now, number, up_to);
    }

    /// The user of a socket takes the stream up to this offset.
    #[inline]
    fn take_stream(&mut self, now: Time, number: u32, up_to: u64) {
        let socket = &mut self.tcp[number as usize];
        let bytes = up_to - socket.delivered_bytes;
        socket.delivered_bytes = up_to;
        let user = socket.user;
        if let Some(flow) = user.receives()
            && self.flows[flow as usize].is_stream()
        {
            self.deliver_stream(now, flow, bytes);
            return;
        }
        self.take_messages(now, number, up_to);
    }

    /// The user of a socket takes the messages that end up to this offset.
    fn take_messages(&mut self, now: Time, number: u32, up_to: u64) {
        let user = self.tcp[number as usize].user;
        while let Some(record) = self.tcp[number as usize].incoming.pop_front_if(|r| r.end <= up_to) {
            self.deliver(now, user, record.message);
        }
    }

    /// A flow's sink reads at a pace of its own from now on.
    pub fn add_reader(&mut self, flow: u32, reader: Reader) {
        let flow = &mut self.flows[flow as usize];
        // Over the others whatever arrives is taken at once: UDP has no window, SCTP's is not modelled for readers.
        if let SocketId::Tcp(number) = flow.association.sink {
            flow.reader = Some(reader);
            self.tcp[number as usize].connection.set_reading(false);
        }
    }

    fn sample_tcp(&mut self, now: Time, number: u32) {
        let subject = Subject::Socket(SocketId::Tcp(number));
        let wanted = self.wanted;
        let socket = &mut self.tcp[number as usize];
        let written_bytes = socket.written_bytes;
        let connection = &mut socket.connection;
        let Some(recorder) = &mut self.network.recorder else { return };
        // Before the handshake is complete there is no window, and at first no threshold either.
        let open = !matches!(
            connection.state(),
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        );
        if wanted.cwnd && open {
            recorder.sample_change(now, subject, "cwnd", "B", connection.cwnd_bytes() as f64);
            if connection.ssthresh_bytes() < u64::MAX {
                recorder.sample_change(now, subject, "ssthresh", "B", connection.ssthresh_bytes() as f64);
            }
        }
        if wanted.backlog && written_bytes > 0 {
            let backlog_bytes = written_bytes - connection.snd_una_offset();
            recorder.sample_change(now, subject, "backlog", "B", backlog_bytes as f64);
        }
        if wanted.rtt {
            if let Some(measured) = connection.take_rtt_sample() {
                recorder.sample(now, subject, "rtt", "s", measured.as_secs_f64());
            }
            if let Some(srtt) = connection.srtt() {
                recorder.sample_change(now, subject, "srtt", "s", srtt.as_secs_f64());
            }
            recorder.sample_change(now, subject, "rto", "s", connection.rto().as_secs_f64());
        }
    }
}
