//! TCP sockets in the world.

use super::describe::tcp_detail;
use super::{Event as Wake, SocketEnd, Work, World};
use crate::network::Alarm;
use crate::socket::{TcpSocket, Traffic, User};
use roamsim_engine::{EventQueue, Stream, Time};
use roamsim_protocols::tcp::{Config, Connection, Event, Segment, State};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;

impl World {
    /// Adds a TCP connection that `a` will open to `b`, which listens; returns the two sockets' numbers.
    ///
    /// `random` gives the random stream of each end, which also draws its initial sequence number.
    pub fn add_tcp(
        &mut self,
        config: &Config,
        a: (SocketEnd, Stream),
        b: (SocketEnd, Stream),
    ) -> Option<(u32, u32)> {
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
                traffic: Traffic::default(),
                alarm: Alarm::default(),
                random,
                written_bytes: 0,
                delivered_bytes: 0,
                highest_sent: 0,
                incoming: VecDeque::new(),
                unacknowledged: VecDeque::new(),
                close_when_established: false,
            }
        };
        self.tcp.push(socket(a, a_random, local, remote, b.port, first + 1));
        let mut listener = socket(b, b_random, remote, local, a.port, first);
        listener.connection.listen();
        self.tcp.push(listener);
        Some((first, first + 1))
    }

    /// Opens a connection.
    pub(crate) fn open_tcp(&mut self, number: u32) {
        let socket = &mut self.tcp[number as usize];
        socket.connection.open();
        self.work.push_back(Work::Tcp(number));
    }

    pub(super) fn handle_tcp_timeout(
        &mut self,
        now: Time,
        number: u32,
        queue: &mut EventQueue<Wake>,
    ) -> bool {
        let socket = &mut self.tcp[number as usize];
        if !socket.alarm.fires(now) {
            return false;
        }
        if socket.connection.poll_timeout().is_none_or(|due| due > now) {
            socket.alarm.arm(socket.connection.poll_timeout(), Wake::Tcp(number), queue);
            return false;
        }
        socket.connection.handle_timeout(&mut Context { now, random: &mut socket.random });
        self.work.push_back(Work::Tcp(number));
        true
    }

    /// Sends what a connection has to send and tells its user what happened. A user that writes puts the socket on
    /// the work list again.
    pub(super) fn serve_tcp(&mut self, now: Time, number: u32, queue: &mut EventQueue<Wake>) {
        if self.details || self.wanted.segments {
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
        if self.wanted.cwnd || self.wanted.rtt || self.wanted.segments {
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
            let detail = self.details.then(|| tcp_detail(socket, &segment, network.capturing()));
            let packet = socket.packet(network, segment.clone());
            network.send(now, socket.node, packet, detail, queue);
            if self.wanted.segments && segment.payload_bytes > 0 {
                self.sample_segment(now, number, &segment);
            }
        }
    }

    /// Records a data segment's place in the stream.
    fn sample_segment(&mut self, now: Time, number: u32, segment: &Segment) {
        let socket = &mut self.tcp[number as usize];
        let offset = socket.connection.payload_offset(segment);
        let what = if offset < socket.highest_sent { "retransmitted" } else { "sent" };
        socket.highest_sent = socket.highest_sent.max(offset + u64::from(segment.payload_bytes));
        let name = self.socket_name(number);
        if let Some(recorder) = &mut self.network.recorder {
            recorder.sample(now, number, what, "B", offset as f64, &name);
        }
    }

    fn on_tcp_event(&mut self, now: Time, number: u32, event: Event) {
        let socket = &mut self.tcp[number as usize];
        match event {
            Event::Received { up_to } => {
                let bytes = up_to - socket.delivered_bytes;
                socket.delivered_bytes = up_to;
                let user = socket.user;
                if let User::FlowSink(flow) = user
                    && self.flows[flow as usize].is_stream()
                {
                    self.deliver_stream(now, flow, bytes);
                    return;
                }
                while let Some(record) = self.tcp[number as usize].incoming.pop_front_if(|r| r.end <= up_to) {
                    self.deliver(now, user, record.message);
                }
            }
            Event::Acknowledged { up_to } => {
                while socket.unacknowledged.pop_front_if(|record| record.end <= up_to).is_some() {}
            }
            Event::RemoteClosed => {
                // Nothing more will come: close this side too (no application here goes on after its peer).
                socket.connection.close();
                self.work.push_back(Work::Tcp(number));
            }
            Event::Established if socket.close_when_established => {
                socket.connection.close();
                self.work.push_back(Work::Tcp(number));
            }
            Event::Established | Event::Closed | Event::Reset | Event::TimedOut => {}
        }
    }

    /// The name of what uses a TCP socket, for time series.
    fn socket_name(&self, number: u32) -> String {
        match self.tcp[number as usize].user {
            User::FlowSource(flow) => format!("flow {}", self.flows[flow as usize].name),
            User::FlowSink(flow) => format!("flow {} (sink)", self.flows[flow as usize].name),
            User::Mih { mihf, session } => {
                let node = &self.mih_nodes[mihf as usize];
                let signalling = node.sessions[session as usize].signalling;
                let name = &self.signalling[signalling as usize].config.name;
                format!("signalling {name} at {}", self.network.topology.node(node.node).name)
            }
        }
    }

    fn sample_tcp(&mut self, now: Time, number: u32) {
        let name = self.socket_name(number);
        let wanted = self.wanted;
        let connection = &self.tcp[number as usize].connection;
        let Some(recorder) = &mut self.network.recorder else { return };
        // Before the handshake is complete there is no window, and at first no threshold either.
        let open = !matches!(
            connection.state(),
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        );
        if wanted.cwnd && open {
            recorder.sample_change(now, number, "cwnd", "B", connection.cwnd_bytes() as f64, &name);
            if connection.ssthresh_bytes() < u64::MAX {
                recorder.sample_change(
                    now,
                    number,
                    "ssthresh",
                    "B",
                    connection.ssthresh_bytes() as f64,
                    &name,
                );
            }
        }
        if wanted.rtt {
            if let Some(srtt) = connection.srtt() {
                recorder.sample_change(now, number, "srtt", "s", srtt.as_secs_f64(), &name);
            }
            recorder.sample_change(now, number, "rto", "s", connection.rto().as_secs_f64(), &name);
        }
        if wanted.segments {
            let acknowledged = connection.snd_una_offset() as f64;
            recorder.sample_change(now, number, "acknowledged", "B", acknowledged, &name);
        }
    }
}
