//! Sockets: the ends of associations between nodes, a file a transport.

pub mod connections;
pub(crate) mod describe;
pub mod endpoint;
pub(crate) mod fragments;
pub mod open;
pub mod sctp;
pub mod tcp;
pub mod udp;

pub use self::open::OpenSocket;
pub use self::sctp::{SctpSocket, SctpUse};
pub use self::tcp::TcpSocket;
pub use self::udp::{UdpPath, UdpSocket};
pub use crate::ends::SocketId;

pub(crate) use self::sctp::Follows;

use self::sctp::ChunkLog;
use crate::alarm::{Moment, NestedAlarm};
use crate::ending::Life;
use crate::ends::Onward;
use crate::event::Event;
use crate::link::flight::Blank;
use crate::packet::{Message, Packet, PacketId};
use crate::recorder::{Detail, Recorder};
use crate::subject::Subject;
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use roamsim_protocols::tcp::Reason;

/// Where an association begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketEnd {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
    /// Who uses the socket.
    pub user: User,
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Its address; `None`: that by which the other end knows the node.
    pub address: Option<Address>,
}

/// Who uses a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The source of a flow.
    FlowSource(u32),
    /// The sink of a flow.
    FlowSink(u32),
    /// An end of a connection that carries a flow in each direction.
    FlowBothWays {
        /// The flow that begins here.
        sends: u32,
        /// The flow that ends here.
        receives: u32,
    },
    /// A program outside, which has this end of a flow over UDP.
    Program(u32),
    /// A session of a node's MIHF.
    Mih {
        /// The MIHF's number.
        mihf: u32,
        /// The session's number in it.
        session: u32,
    },
    /// A redirection of a handover entry.
    Redirection {
        /// The entry's number.
        handover: u32,
        /// The correspondent's number in it.
        correspondent: u32,
        /// The candidate's number in it.
        candidate: u32,
    },
    /// A redirection of a selection.
    SelectedRedirection {
        /// The selection's number in `World::selected_handovers`.
        selection: u32,
        /// The correspondent's number in it.
        correspondent: u32,
        /// The interface's number in it.
        interface: u32,
    },
}

impl User {
    /// The flow whose data it sends or receives; where it does both, the one that it sends.
    pub(crate) fn flow(self) -> Option<u32> {
        match self {
            User::FlowSource(flow) | User::FlowSink(flow) | User::FlowBothWays { sends: flow, .. } => {
                Some(flow)
            }
            User::Program(_)
            | User::Mih { .. }
            | User::Redirection { .. }
            | User::SelectedRedirection { .. } => None,
        }
    }

    /// The flow whose data is for this socket.
    #[inline]
    pub(crate) fn receives(self) -> Option<u32> {
        match self {
            User::FlowSink(flow) | User::FlowBothWays { receives: flow, .. } => Some(flow),
            User::FlowSource(_)
            | User::Program(_)
            | User::Mih { .. }
            | User::Redirection { .. }
            | User::SelectedRedirection { .. } => None,
        }
    }
}

/// What a socket exchanged with IP: packets and octets, transport and network headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // packets and octets apart: the compiler counts what lies side by side by vectors, which takes twice the instructions
pub struct Traffic {
    /// Packets handed to IP.
    pub sent_packets: u64,
    /// Packets taken from IP.
    pub received_packets: u64,
    /// Octets of those handed to IP.
    pub sent_bytes: u64,
    /// Octets of those taken from IP.
    pub received_bytes: u64,
}

impl Traffic {
    /// Counts a packet handed to IP.
    #[inline]
    pub fn sent(&mut self, bytes: u32) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(bytes);
    }

    /// Counts a packet taken from IP.
    #[inline]
    pub fn received(&mut self, bytes: u32) {
        self.received_packets += 1;
        self.received_bytes += u64::from(bytes);
    }

    /// What came after `earlier`.
    pub fn since(self, earlier: Traffic) -> Traffic {
        Traffic {
            sent_packets: self.sent_packets - earlier.sent_packets,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            received_packets: self.received_packets - earlier.received_packets,
            received_bytes: self.received_bytes - earlier.received_bytes,
        }
    }
}

/// What a sender of data counts; a DATA chunk of SCTP is a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments with data, sent again ones included.
    pub segments: u64,
    /// Those that were sent again, window probes not counted.
    pub retransmissions: u64,
    /// Those that probed a closed window.
    pub window_probes: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Why there were retransmissions, of a transport that tells.
    pub repairs: Option<Repairs>,
    /// Of a transport that was told to use ECN.
    pub ecn: Option<EcnCounts>,
    /// Of a sender whose buffer has a limit.
    pub send_buffer: Option<SendBufferCounts>,
    /// Of ends with TCP Fast Open.
    pub fast_open: Option<FastOpenCounts>,
}

/// What a sender counts of its buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendBufferCounts {
    /// Its size in octets.
    pub size_bytes: u64,
    /// How long it was what limited the sender.
    pub limited: Span,
}

impl SendBufferCounts {
    /// Counted since it was that much; the size is that of now.
    #[must_use]
    fn since(self, earlier: SendBufferCounts) -> SendBufferCounts {
        SendBufferCounts { limited: self.limited.saturating_sub(earlier.limited), ..self }
    }

    /// The time of both, and the size of the second.
    fn plus(self, other: SendBufferCounts) -> SendBufferCounts {
        SendBufferCounts { limited: self.limited + other.limited, ..other }
    }
}

impl EcnCounts {
    /// Counted since it was that many; agreed is what is agreed now.
    #[must_use]
    pub fn since(self, earlier: EcnCounts) -> EcnCounts {
        EcnCounts {
            agreed: self.agreed,
            accurate: self.accurate,
            marked_packets: self.marked_packets.saturating_sub(earlier.marked_packets),
            reductions: self.reductions.saturating_sub(earlier.reductions),
        }
    }

    /// The counts of both together; agreed is what either has agreed on.
    fn plus(self, other: EcnCounts) -> EcnCounts {
        EcnCounts {
            agreed: self.agreed || other.agreed,
            accurate: self.accurate || other.accurate,
            marked_packets: self.marked_packets + other.marked_packets,
            reductions: self.reductions + other.reductions,
        }
    }
}

/// What both ends count, or the one that does.
fn of_both<T>(one: Option<T>, other: Option<T>, plus: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(plus(one, other)),
        (one, other) => one.or(other),
    }
}

impl Counts {
    /// Counted since it was that many.
    #[must_use]
    pub fn since(self, earlier: Counts) -> Counts {
        Counts {
            segments: self.segments.saturating_sub(earlier.segments),
            retransmissions: self.retransmissions.saturating_sub(earlier.retransmissions),
            window_probes: self.window_probes.saturating_sub(earlier.window_probes),
            timeouts: self.timeouts.saturating_sub(earlier.timeouts),
            fast_retransmits: self.fast_retransmits.saturating_sub(earlier.fast_retransmits),
            repairs: self.repairs.map(|now| now.since(earlier.repairs.unwrap_or_default())),
            ecn: self.ecn.map(|now| now.since(earlier.ecn.unwrap_or_default())),
            send_buffer: self.send_buffer.map(|now| now.since(earlier.send_buffer.unwrap_or_default())),
            fast_open: self.fast_open.map(|now| now.since(earlier.fast_open.unwrap_or_default())),
        }
    }

    /// The counts of both together.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            segments: self.segments + other.segments,
            retransmissions: self.retransmissions + other.retransmissions,
            window_probes: self.window_probes + other.window_probes,
            timeouts: self.timeouts + other.timeouts,
            fast_retransmits: self.fast_retransmits + other.fast_retransmits,
            repairs: of_both(self.repairs, other.repairs, Repairs::plus),
            ecn: of_both(self.ecn, other.ecn, EcnCounts::plus),
            send_buffer: of_both(self.send_buffer, other.send_buffer, SendBufferCounts::plus),
            fast_open: of_both(self.fast_open, other.fast_open, FastOpenCounts::plus),
        }
    }
}

/// What the ends that open count of TCP Fast Open (RFC 7413), in connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenCounts {
    /// Their SYN asked for a cookie.
    pub cookie_requests: u64,
    /// Their SYN carried data.
    pub data_on_syn: u64,
    /// The server took data of their SYN.
    pub data_taken: u64,
}

impl FastOpenCounts {
    /// Counted since it was that many.
    #[must_use]
    fn since(self, earlier: FastOpenCounts) -> FastOpenCounts {
        FastOpenCounts {
            cookie_requests: self.cookie_requests.saturating_sub(earlier.cookie_requests),
            data_on_syn: self.data_on_syn.saturating_sub(earlier.data_on_syn),
            data_taken: self.data_taken.saturating_sub(earlier.data_taken),
        }
    }

    /// The counts of both together.
    #[must_use]
    fn plus(self, other: FastOpenCounts) -> FastOpenCounts {
        FastOpenCounts {
            cookie_requests: self.cookie_requests + other.cookie_requests,
            data_on_syn: self.data_on_syn + other.data_on_syn,
            data_taken: self.data_taken + other.data_taken,
        }
    }
}

/// Why an end sent again what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Retransmissions, in the order of [`Reason::ALL`].
    pub retransmissions: [u64; 4],
    /// Further ones, as an address of their path was deleted.
    pub path_removed: u64,
    /// Reductions of the window that were taken back as needless.
    pub undone: u64,
}

impl Repairs {
    /// Counted since it was that many.
    #[must_use]
    pub fn since(self, earlier: Repairs) -> Repairs {
        let since = |place: usize| self.retransmissions[place].saturating_sub(earlier.retransmissions[place]);
        Repairs {
            retransmissions: [0, 1, 2, 3].map(since),
            path_removed: self.path_removed.saturating_sub(earlier.path_removed),
            undone: self.undone.saturating_sub(earlier.undone),
        }
    }

    /// The counts of both together.
    #[must_use]
    pub fn plus(self, other: Repairs) -> Repairs {
        let plus = |place: usize| self.retransmissions[place] + other.retransmissions[place];
        Repairs {
            retransmissions: [0, 1, 2, 3].map(plus),
            path_removed: self.path_removed + other.path_removed,
            undone: self.undone + other.undone,
        }
    }

    /// How many retransmissions went for a reason.
    pub fn of(self, reason: Reason) -> u64 {
        self.retransmissions[reason as usize]
    }
}

/// What an end counts of Explicit Congestion Notification (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Whether both ends have agreed on it.
    pub agreed: bool,
    /// Whether that is AccECN (RFC 9768).
    pub accurate: bool,
    /// Packets that came marked.
    pub marked_packets: u64,
    /// Reductions of the window because the peer told of marks.
    pub reductions: u64,
}

/// The timer of a connection's machine fires; `handle_timeout` does what is due by `poll_timeout`.
fn wake<M>(
    (alarm, machine): (&mut NestedAlarm, &mut M),
    moment: &mut Moment<'_>,
    event: Event,
    poll_timeout: impl FnOnce(&M) -> Option<Time>,
    handle_timeout: impl FnOnce(&mut M, Time),
) -> bool {
    if !alarm.fires(event, moment) {
        return false;
    }
    let now = moment.now;
    let due = poll_timeout(machine);
    if due.is_none_or(|due| due > now) {
        alarm.arm(due, event, moment);
        return false;
    }
    handle_timeout(machine, now);
    true
}

/// Records the window of a connection, and its threshold where it has one: at first there is none.
fn sample_window(now: Time, subject: Subject, recorder: &mut Recorder, cwnd_bytes: u64, ssthresh_bytes: u64) {
    recorder.sample_change(now, subject, "cwnd", "B", cwnd_bytes as f64);
    if ssthresh_bytes < u64::MAX {
        recorder.sample_change(now, subject, "ssthresh", "B", ssthresh_bytes as f64);
    }
}

/// Records the round trip time of a connection: what was measured since the last time, the smoothed one, the
/// timeout.
fn sample_rtt(
    now: Time,
    subject: Subject,
    recorder: &mut Recorder,
    (measured, srtt, rto): (Option<Span>, Option<Span>, Span),
) {
    if let Some(measured) = measured {
        recorder.sample(now, subject, "rtt", "s", measured.as_secs_f64());
    }
    if let Some(srtt) = srtt {
        recorder.sample_change(now, subject, "srtt", "s", srtt.as_secs_f64());
    }
    recorder.sample_change(now, subject, "rto", "s", rto.as_secs_f64());
}

/// What IP gives a packet that a socket makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    /// The packet's number in the run.
    pub id: PacketId,
    /// Octets of the network header.
    pub header_bytes: u32,
}

/// A message that has been handed to a connection: only octets travel, and the peer's socket keeps the
/// message until they have arrived.
#[derive(Clone, Debug)]
pub(crate) struct Coming {
    /// What it will be told by: in TCP the stream offset behind its last octet, in SCTP the TSN of its first
    /// chunk.
    pub at: u64,
    /// It.
    pub message: Message,
}

/// What a socket tells those above it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SocketEvent {
    /// The stream has arrived up to this offset; it is taken with [`Socket::take_stream`].
    Stream { up_to: u64 },
    /// A message of so many octets has arrived, or a part of a stream without messages; it is taken with
    /// [`Socket::poll_message`].
    Message { bytes: u64 },
    /// A message of a socket, this one or its peer, which was written then, was given up and will not arrive.
    Lost { sender: SocketId, written: Time },
    /// Messages have begun to be sent that the peer's socket has to expect.
    Begun,
    /// The peer sends nothing more.
    RemoteClosed,
    /// The connection is gone with what was in it.
    Failed,
    /// There is more to be served.
    Again,
    /// The same of a connection with TCP Fast Open that has just come about.
    FastOpened,
    /// A request to the peer to change addresses has left.
    AddressesAsked,
    /// Something that concerns who follows the addresses of its node.
    Addresses,
}

/// A socket, whatever its transport: the world knows it by this alone, and finds it by its [`SocketId`] in
/// one place.
///
/// Packets come in with [`Socket::handle`], messages by the `write` of its own type; then what is to leave is
/// taken with [`Socket::poll_transmit`] and what has happened with [`Socket::poll_event`], until there is
/// nothing more. What stands here is what a transport without connections does. What every packet does is
/// called by the socket's own type (`Self: Sized`), so that it stands in line.
pub(crate) trait Socket {
    /// Where it lives.
    fn node(&self) -> NodeId;

    /// The socket at the other end.
    fn peer(&self) -> SocketId;

    /// Who uses it.
    fn user(&self) -> User;

    /// Its exchange with IP so far.
    fn traffic(&self) -> Traffic;

    /// What it has sent.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Its congestion window, where it has one and the connection has come about.
    fn cwnd_bytes(&self) -> Option<u64> {
        None
    }

    /// The station whose addresses it is told of.
    fn station(&self) -> Option<u32> {
        None
    }

    /// The addresses of its node that can be used have changed; the preferred one comes first.
    fn on_addresses(&mut self, _now: Time, _usable: &[Address]) {}

    /// Whether its peer sends to this address. True without a connection, and of a socket that makes no
    /// requests.
    fn is_settled(&self, _preferred: Address) -> bool {
        true
    }

    /// Takes a packet from IP.
    fn handle(&mut self, now: Time, packet: Packet)
    where
        Self: Sized;

    /// Whether it may have a packet for IP.
    fn may_transmit(&self) -> bool {
        true
    }

    /// The next packet that it has for IP.
    fn poll_transmit(&mut self, now: Time, envelope: Envelope) -> Option<Packet>
    where
        Self: Sized;

    /// Hands the next packet that it has for IP to `send`: whether it has one.
    #[inline(always)]
    fn transmit_packet(&mut self, now: Time, envelope: Envelope, send: impl FnOnce(Packet)) -> bool
    where
        Self: Sized,
    {
        self.poll_transmit(now, envelope).map(send).is_some()
    }

    /// Source and destination of all its packets, where they are the same for each, and where the network
    /// keeps the way between them.
    fn way(&mut self) -> Option<([Address; 2], &mut Onward)> {
        None
    }

    /// Writes the next packet that it has for IP, if it has one, into a place that is asked for then, and
    /// which is returned. Of a socket that has a [`way`](Socket::way).
    fn write_packet<'a, Place>(
        &mut self,
        _now: Time,
        _reserve: impl FnOnce() -> (Envelope, Place, Blank<'a>),
    ) -> Option<Place>
    where
        Self: Sized,
    {
        None
    }

    /// Where nothing else has happened than that octets have come which it counts itself for a flow, or
    /// progress of which nobody is to be told: takes that, and says how many octets have come. `None` where
    /// there is something for [`Socket::poll_event`].
    fn poll_counted(&mut self) -> Option<u64>
    where
        Self: Sized,
    {
        None
    }

    /// The next thing that has happened.
    fn poll_event(&mut self, now: Time) -> Option<SocketEvent>
    where
        Self: Sized;

    /// Opens the connection.
    fn open(&mut self) {}

    /// Takes octets without message boundaries; validation refuses that where there is no connection.
    fn write_stream(&mut self, _bytes: u64) {}

    /// Has its user read at a pace of its own, so that what has arrived takes up its buffer until then; false
    /// where whatever arrives is taken at once.
    fn hold_for_reader(&mut self) -> bool {
        false
    }

    /// Its user has read the stream up to this offset.
    fn read(&mut self, _up_to: u64) {}

    /// Whether what arrives is taken at once, and counted for a flow by the socket itself.
    fn keeps_account(&self) -> bool {
        false
    }

    /// The stream up to this offset is its user's: how many octets that is.
    fn take_stream(&mut self, _up_to: u64) -> u64
    where
        Self: Sized,
    {
        0
    }

    /// The next message that has arrived, or of a stream, that ends in what was taken of it.
    fn poll_message(&mut self) -> Option<Message>
    where
        Self: Sized;

    /// Closes the connection when everything written has been sent.
    fn close(&mut self) {}

    /// Its user is done with it: it neither writes nor reads any more.
    fn abandon(&mut self) {}

    /// Gives the connection up, with what was to be sent.
    fn abort(&mut self) {}

    /// Whether its direction can be closed while the other one goes on.
    fn closes_by_direction(&self) -> bool {
        true
    }

    /// Sets its timer to fire with this event when something is due.
    fn arm(&mut self, _event: Event, _moment: &mut Moment<'_>)
    where
        Self: Sized,
    {
    }

    /// Its timer fires with this event; false where that was superseded, or comes too early.
    fn wake(&mut self, _moment: &mut Moment<'_>, _event: Event) -> bool {
        false
    }

    /// What it saw of its connection's life.
    fn life(&self) -> Option<&Life> {
        None
    }

    /// The same, to note what happens.
    fn life_mut(&mut self) -> Option<&mut Life> {
        None
    }

    /// Whether nothing is left of its end of the connection.
    fn is_gone(&self) -> bool {
        true
    }

    /// Whether its end of the connection is closed, where of the other end something is left or not.
    fn is_closed(&self, _peer_is_gone: bool) -> bool {
        self.is_gone()
    }

    /// Records what a packet that it has just made carries, and what the recorder wants to know of it.
    fn watch_sent(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) -> Option<Box<Detail>>
    where
        Self: Sized;

    /// Records what a packet acknowledges that it is about to handle.
    fn watch_received(&mut self, _now: Time, _packet: &Packet, _recorder: &mut Recorder)
    where
        Self: Sized,
    {
    }

    /// Records the state of its connection.
    fn sample(&mut self, _now: Time, _recorder: &mut Recorder)
    where
        Self: Sized,
    {
    }
}
