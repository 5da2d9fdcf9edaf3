//! Sockets of SCTP. An association keeps messages apart by itself: they wait at the receiving socket under
//! the TSN of their first chunk. What an application writes as a stream goes over it in messages of one size.

use super::describe::{sctp_detail, user_data};
use super::{
    Coming, Counts, Envelope, Repairs, Socket, SocketEnd, SocketEvent, SocketId, Traffic, User, sample_rtt,
    sample_window,
};
use crate::alarm::{Moment, NestedAlarm};
use crate::ending::{Failure, Life};
use crate::event::Event;
use crate::packet::{Message, Packet, Pdu};
use crate::recorder::{Detail, Recorder};
use crate::segment_log::{SegmentEvent, StreamPart};
use crate::subject::Subject;
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{self, Association, Chunk, Config, Loss, Reliability, State};
use roamsim_protocols::tcp::Reason;
use roamsim_protocols::{Address, Context, Machine};
use std::collections::VecDeque;
use std::ops::Range;

/// Messages of a stream that wait in the association beyond those that it has sent, where they go on several
/// streams in turn: enough for what one event lets out, few enough to cost no memory (chosen).
const WRITES_AHEAD: usize = 64;

/// How an application's data becomes messages of an SCTP association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SctpUse {
    /// Messages go on this many streams in turn, from stream 0 on.
    pub streams: u16,
    /// Whether messages keep their order within a stream.
    pub ordered: bool,
    /// Octets of the messages that carry a stream without messages.
    pub message_bytes: u64,
    /// How long a message is sent, from its writing on; a stream is sent for ever.
    pub max_lifetime: Option<Span>,
    /// How often each chunk of a message is sent again, if it has no lifetime.
    pub max_retransmissions: Option<u32>,
}

impl SctpUse {
    fn reliability(&self, now: Time) -> Reliability {
        match (self.max_lifetime, self.max_retransmissions) {
            (Some(lifetime), _) => Reliability::Until(now + lifetime),
            (None, Some(most)) => Reliability::Retransmissions(most),
            (None, None) => Reliability::Full,
        }
    }
}

/// One end of an SCTP association.
pub struct SctpSocket {
    /// The machine.
    pub association: Association,
    /// Where it lives.
    pub node: NodeId,
    /// The peer's socket.
    pub peer: u32,
    /// Who uses it.
    pub user: User,
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Its exchange with IP.
    pub traffic: Traffic,
    alarm: NestedAlarm,
    pub(crate) random: Stream,
    how: SctpUse,
    /// The stream of the next message.
    next_stream: u16,
    /// Octets written as a stream and not yet made into messages.
    unwritten_bytes: u64,
    /// The user has closed; the association will be when it is up and everything is written.
    closing: bool,
    /// Messages written and not yet sent, in order; of a stream without messages there are none.
    waiting: VecDeque<Message>,
    /// Those that have begun to be sent, for the peer to expect.
    begun: VecDeque<Coming>,
    /// Messages on their way to this socket, by the TSN of their first chunk, in order.
    incoming: VecDeque<(u32, Option<Message>)>,
    /// The one that has arrived last, for its user to take.
    arrived: Option<Message>,
    /// Messages given up and not yet told: who sent them, and when each was written.
    lost: VecDeque<(SocketId, Time)>,
    /// The TSN of the next chunk that is sent for the first time.
    next_tsn: u32,
    /// What its chunks carry; kept only for captures, packet stories, the log of segments and programs.
    sent: Option<Box<ChunkLog>>,
    /// If it follows its node's addresses.
    pub(crate) follows: Option<Follows>,
    /// What was told last that concerns who follows the addresses of its node.
    pub(crate) address_event: Option<sctp::Event>,
    /// Requests to change addresses that have left and were not told yet.
    asked: u32,
    /// How it went.
    life: Life,
}

/// How an association follows the addresses of its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follows {
    /// The node's number among [`Handovers::stations`](crate::handover::Handovers::stations).
    pub(crate) station: u32,
    /// It is to be opened as soon as there is an address to open it from.
    pub(crate) opening: bool,
    /// The address that the peer sends to, as far as it was asked for.
    pub(crate) primary: Option<Address>,
}

impl SctpSocket {
    /// Two of which the first will open an association to the second, which listens, from this number of an
    /// SCTP socket on; each end has these addresses, and may follow those of its node. The random stream of
    /// each also draws its verification tag and initial TSN. What chunks carry is kept where it is to be
    /// `logged`.
    pub(crate) fn pair(
        first: u32,
        (config, how): (&Config, SctpUse),
        ends: [SocketEnd; 2],
        (addresses, follows): ([Vec<Address>; 2], [Option<Follows>; 2]),
        random: [Stream; 2],
        logged: bool,
    ) -> [SctpSocket; 2] {
        let mut at = 0;
        let mut pair = random.map(|mut random| {
            let (here, there) = (ends[at], ends[1 - at]);
            let tag = random.next_u64() as u32;
            let initial_tsn = random.next_u64() as u32;
            let (local, remote) = (&addresses[at], &addresses[1 - at]);
            let association =
                Association::new(config, local, here.port, remote, there.port, tag, initial_tsn);
            let socket = SctpSocket {
                association,
                node: here.node,
                peer: first + 1 - at as u32,
                user: here.user,
                traffic_class: here.traffic_class,
                traffic: Traffic::default(),
                alarm: NestedAlarm::default(),
                random,
                how,
                next_stream: 0,
                unwritten_bytes: 0,
                closing: false,
                waiting: VecDeque::new(),
                begun: VecDeque::new(),
                incoming: VecDeque::new(),
                arrived: None,
                lost: VecDeque::new(),
                next_tsn: initial_tsn,
                sent: logged.then(|| Box::new(ChunkLog::new(initial_tsn))),
                follows: follows[at],
                address_event: None,
                asked: 0,
                life: Life::default(),
            };
            at += 1;
            socket
        });
        pair[1].association.listen();
        pair
    }

    fn id(&self) -> SocketId {
        // The ends of an association have an even number and the one behind it.
        SocketId::Sctp(self.peer ^ 1)
    }

    /// Takes a message; false where there is nobody to send it.
    pub(crate) fn write(&mut self, now: Time, message: Message) -> bool {
        let (bytes, unordered, reliability) =
            (u64::from(message.bytes()), !self.how.ordered, self.how.reliability(now));
        let stream = self.turn();
        let taken = self.association.send_partially(stream, bytes, 0, unordered, reliability);
        if taken {
            self.waiting.push_back(message);
        }
        taken
    }

    /// A program outside is its peer. Keeps what its chunks carry, before the first is sent: the program gets
    /// their octets.
    pub(crate) fn talk_to_program(&mut self) {
        self.association.pin_peer();
        let log = ChunkLog { forgets: true, ..ChunkLog::new(self.next_tsn) };
        self.sent.get_or_insert_with(|| Box::new(log));
    }

    /// The user data of the chunks of a packet that it has sent.
    pub(crate) fn user_data(&self, packet: &sctp::Packet) -> Vec<u8> {
        self.sent.as_ref().map_or_else(Vec::new, |log| user_data(log, packet))
    }

    /// Its program has taken all chunks up to this TSN: how many octets of user data that were; 0 of a TSN
    /// that was not sent, or acknowledged long before.
    pub(crate) fn take_acknowledged(&mut self, tsn: u32) -> u64 {
        self.sent.as_mut().map_or(0, |log| log.acknowledge(tsn))
    }

    /// The next message that has begun to be sent, for the peer's socket to expect.
    pub(crate) fn poll_coming(&mut self) -> Option<Coming> {
        self.begun.pop_front()
    }

    /// Expects a message from the peer.
    pub(crate) fn expect(&mut self, coming: Coming) {
        self.incoming.push_back((coming.at as u32, Some(coming.message)));
    }

    /// Gives the messages that a packet begins the TSNs by which the peer will tell them.
    fn number_messages(&mut self, packet: &sctp::Packet) {
        for data in packet.data() {
            let unsent = data.tsn.wrapping_sub(self.next_tsn);
            if unsent >= 1 << 31 {
                continue;
            }
            // What was given up before its end was sent has TSNs that no packet bears.
            if let Some(log) = &mut self.sent {
                (0..unsent).for_each(|_| log.push(0, None));
            }
            self.next_tsn = data.tsn.wrapping_add(1);
            let message = if data.beginning { self.waiting.pop_front() } else { None };
            if let Some(log) = &mut self.sent {
                log.push(data.payload_bytes, message.clone());
            }
            if let Some(message) = message {
                self.begun.push_back(Coming { at: u64::from(data.tsn), message });
            }
        }
    }

    /// Hands messages alike to the association, on the next stream; false when that is gone.
    fn write_repeated(&mut self, bytes: u64, count: u64) -> bool {
        let stream = self.turn();
        self.association.send_repeated(stream, bytes, count, 0, !self.how.ordered)
    }

    /// The stream of the next message.
    fn turn(&mut self) -> u16 {
        let stream = self.next_stream;
        self.next_stream = if stream + 1 < self.how.streams { stream + 1 } else { 0 };
        stream
    }

    /// Those of the next messages that are not sent any more.
    fn forget_dropped(&mut self) {
        let dropped = self.association.take_dropped();
        if dropped > 0 {
            let sender = self.id();
            let gone = self.waiting.drain(..self.waiting.len().min(dropped as usize));
            self.lost.extend(gone.map(|message| (sender, message.written())));
        }
    }

    /// The peer has given up what began up to this TSN; those messages do not arrive any more.
    fn forget_incoming(&mut self, tsn: u32) {
        let sender = self.peer();
        let is_behind = |&mut (first, _): &mut (u32, Option<Message>)| tsn.wrapping_sub(first) < 1 << 31;
        while let Some((_, message)) = self.incoming.pop_front_if(is_behind) {
            self.lost.extend(message.map(|message| (sender, message.written())));
        }
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

    /// Whether the association is up: before there is no window of the peer's.
    fn is_open(&self) -> bool {
        !matches!(self.association.state(), State::Closed | State::CookieWait | State::CookieEchoed)
    }
}

/// Why the chunk of this TSN, of the packet polled last, was sent again.
fn reason_for(association: &Association, tsn: u32) -> &'static str {
    let again = association.retransmitted_tsns().iter().find(|(other, _)| *other == tsn);
    match again {
        Some((_, Loss::Reports)) => Reason::DuplicateAcks.name(),
        Some((_, Loss::PathRemoved)) => "path_removed",
        Some((_, Loss::Timeout)) | None => Reason::Timeout.name(),
    }
}

/// What the chunks of an association carry, by TSN.
#[derive(Clone, Debug)]
pub(crate) struct ChunkLog {
    /// The TSN of the first of `chunks`.
    first_tsn: u32,
    chunks: VecDeque<SentChunk>,
    /// It serves a program alone, which needs no chunk that it has acknowledged.
    forgets: bool,
    /// Octets acknowledged in sequence.
    pub(crate) acknowledged: u64,
}

/// What a chunk carries.
#[derive(Clone, Debug)]
pub(crate) struct SentChunk {
    /// Its place in the user data of all chunks.
    pub(crate) octets: Range<u64>,
    /// Its message, and its first octet's place in it; of a stream without messages there is none.
    pub(crate) message: Option<(Message, u64)>,
    /// Recorded as sent, so that the next time it is sent again.
    pub(crate) recorded: bool,
}

impl ChunkLog {
    pub(crate) fn new(initial_tsn: u32) -> ChunkLog {
        ChunkLog { first_tsn: initial_tsn, chunks: VecDeque::new(), forgets: false, acknowledged: 0 }
    }

    /// A chunk that was sent and is not forgotten.
    pub(crate) fn get(&self, tsn: u32) -> Option<&SentChunk> {
        self.chunks.get(tsn.wrapping_sub(self.first_tsn) as usize)
    }

    /// The place of a chunk that is sent, and whether it was sent before other than to probe a window.
    pub(crate) fn record(&mut self, tsn: u32, is_probe: bool) -> Option<(Range<u64>, bool)> {
        let chunk = self.chunks.get_mut(tsn.wrapping_sub(self.first_tsn) as usize)?;
        let before = chunk.recorded;
        chunk.recorded |= !is_probe;
        Some((chunk.octets.clone(), before))
    }

    /// Octets in all chunks up to this one, 0 for one that was not sent.
    pub(crate) fn end(&self, tsn: u32) -> u64 {
        self.get(tsn).map_or(0, |chunk| chunk.octets.end)
    }

    /// The same, where a program has these chunks: those before the last one are forgotten. With that one the
    /// next begins.
    fn acknowledge(&mut self, tsn: u32) -> u64 {
        let end = self.end(tsn);
        let behind = tsn.wrapping_sub(self.first_tsn) as usize;
        if self.forgets && behind < self.chunks.len() {
            self.chunks.drain(..behind);
            self.first_tsn = tsn;
        }
        end
    }

    /// A chunk is sent for the first time; `message` if it is the first of one.
    pub(crate) fn push(&mut self, bytes: u16, message: Option<Message>) {
        let last = self.chunks.back();
        let start = last.map_or(0, |last| last.octets.end);
        let message = match message {
            Some(message) => Some((message, 0)),
            // One more of the last one's, if that has more.
            None => last.and_then(|last| {
                let (message, from) = last.message.as_ref()?;
                Some((message.clone(), from + (last.octets.end - last.octets.start)))
            }),
        };
        self.chunks.push_back(SentChunk {
            octets: start..start + u64::from(bytes),
            message,
            recorded: false,
        });
    }
}

impl Socket for SctpSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Sctp(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn station(&self) -> Option<u32> {
        self.follows.map(|follows| follows.station)
    }

    fn is_settled(&self, preferred: Address) -> bool {
        !self.association.state().is_up()
            || self.follows.is_some_and(|follows| follows.primary == Some(preferred))
    }

    fn counts(&self) -> Counts {
        let stats = self.association.stats();
        let by_reports = stats.data_chunks_retransmitted_by_reports;
        let from_removed_paths = stats.data_chunks_retransmitted_from_removed_paths;
        let by_timeouts = stats.data_chunks_retransmitted - by_reports - from_removed_paths;
        Counts {
            segments: stats.data_chunks_sent,
            retransmissions: stats.data_chunks_retransmitted,
            window_probes: stats.window_probes_sent,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
            repairs: Some(Repairs {
                retransmissions: [by_reports, 0, 0, by_timeouts],
                path_removed: from_removed_paths,
                undone: 0,
            }),
            ecn: None,
            send_buffer: None,
            fast_open: None,
        }
    }

    fn cwnd_bytes(&self) -> Option<u64> {
        self.is_open().then(|| self.association.cwnd_bytes())
    }

    fn handle(&mut self, now: Time, packet: Packet) {
        self.traffic.received(packet.size_bytes);
        if let Pdu::Sctp(pdu) = &packet.pdu {
            let path = sctp::Path { local: packet.destination, remote: packet.source };
            self.association.handle_packet(&mut Context { now, random: &mut self.random }, path, pdu);
        }
    }

    fn poll_transmit(&mut self, now: Time, envelope: Envelope) -> Option<Packet> {
        self.write_ahead();
        let mut cx = Context { now, random: &mut self.random };
        let next = self.association.poll_transmit(&mut cx);
        self.forget_dropped();
        let (path, packet) = next?;
        self.number_messages(&packet);
        let asks = matches!(packet.chunks.first(), Some(Chunk::Asconf(_)));
        self.asked += u32::from(asks && self.follows.is_some());
        let size_bytes = envelope.header_bytes + packet.total_bytes();
        self.traffic.sent(size_bytes);
        Some(Packet {
            id: envelope.id,
            source: path.local,
            destination: path.remote,
            socket: self.peer,
            size_bytes,
            traffic_class: self.traffic_class,
            tunnel: None,
            pdu: Pdu::Sctp(packet),
        })
    }

    fn poll_event(&mut self, now: Time) -> Option<SocketEvent> {
        if !self.begun.is_empty() {
            return Some(SocketEvent::Begun);
        }
        if self.asked > 0 {
            self.asked -= 1;
            return Some(SocketEvent::AddressesAsked);
        }
        loop {
            if let Some((sender, written)) = self.lost.pop_front() {
                return Some(SocketEvent::Lost { sender, written });
            }
            match self.association.poll_event()? {
                sctp::Event::Forwarded(tsn) => self.forget_incoming(tsn),
                sctp::Event::Received(message) => {
                    self.arrived = self.take_incoming(message.tsn);
                    return Some(SocketEvent::Message { bytes: message.bytes });
                }
                event @ (sctp::Event::Established
                | sctp::Event::PathUp(_)
                | sctp::Event::Reconfigured { .. }) => {
                    self.life.established |= event == sctp::Event::Established;
                    self.address_event = Some(event);
                    return Some(SocketEvent::Addresses);
                }
                sctp::Event::TimedOut if self.association.was_shut_down() => self.life.delivered = true,
                sctp::Event::TimedOut => self.life.fails(now, Failure::TimedOut),
                sctp::Event::Aborted => self.life.fails(now, Failure::Reset),
                // An end leaves nothing to do here, and of its paths the association takes care by itself.
                _ => {}
            }
        }
    }

    fn open(&mut self) {
        self.association.open();
    }

    fn poll_message(&mut self) -> Option<Message> {
        self.arrived.take()
    }

    fn write_stream(&mut self, bytes: u64) {
        self.unwritten_bytes += bytes;
    }

    /// When it is up and everything is written: before that, a close would give it up.
    fn close(&mut self) {
        self.closing = true;
    }

    /// One that waits for an address does not open any more.
    fn abort(&mut self) {
        self.association.abort();
        self.unwritten_bytes = 0;
        self.closing = false;
        if let Some(follows) = &mut self.follows {
            follows.opening = false;
        }
    }

    /// It has no half-closed state (RFC 9260 section 9).
    fn closes_by_direction(&self) -> bool {
        false
    }

    fn arm(&mut self, event: Event, moment: &mut Moment<'_>) {
        self.alarm.arm(self.association.poll_timeout(), event, moment);
    }

    fn wake(&mut self, moment: &mut Moment<'_>, event: Event) -> bool {
        let SctpSocket { alarm, association, random, .. } = self;
        super::wake((alarm, association), moment, event, Machine::poll_timeout, |association, now| {
            association.handle_timeout(&mut Context { now, random });
        })
    }

    fn life(&self) -> Option<&Life> {
        Some(&self.life)
    }

    fn life_mut(&mut self) -> Option<&mut Life> {
        Some(&mut self.life)
    }

    fn is_gone(&self) -> bool {
        self.association.state() == State::Closed
    }

    #[cold]
    fn watch_sent(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) -> Option<Box<Detail>> {
        let (sender, Pdu::Sctp(pdu)) = (self.id(), &packet.pdu) else { return None };
        let log = self.sent.as_deref_mut()?;
        let mut detail = Box::new(match recorder.wants_details() {
            true => sctp_detail(log, pdu, &recorder.addresses, recorder.capture.is_some()),
            false => Detail::default(),
        });
        if recorder.trace.segments {
            for data in pdu.data() {
                let is_probe = self.association.is_window_probe();
                // Of what a program has acknowledged long since, nothing is known any more.
                let Some((octets, again)) = log.record(data.tsn, is_probe) else { continue };
                let part = StreamPart { sender, octets };
                detail.parts.push(part.clone());
                let event = match again {
                    _ if is_probe => SegmentEvent::WindowProbe,
                    true => SegmentEvent::Retransmitted,
                    false => SegmentEvent::Sent,
                };
                let reason = match event {
                    SegmentEvent::Retransmitted => reason_for(&self.association, data.tsn),
                    _ => "",
                };
                recorder.segment_for(now, event, reason, part);
            }
        }
        Some(detail)
    }

    #[cold]
    fn watch_received(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        let (sender, Pdu::Sctp(pdu)) = (self.id(), &packet.pdu) else { return };
        let Some(log) = &mut self.sent else { return };
        for chunk in &pdu.chunks {
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

    #[cold]
    fn sample(&mut self, now: Time, recorder: &mut Recorder) {
        let (subject, trace, open) = (Subject::Socket(self.id()), recorder.trace, self.is_open());
        let association = &mut self.association;
        if trace.cwnd && open {
            sample_window(now, subject, recorder, association.cwnd_bytes(), association.ssthresh_bytes());
        }
        if trace.rtt {
            let (srtt, rto) = (association.srtt(), association.rto());
            sample_rtt(now, subject, recorder, (association.take_rtt_sample(), srtt, rto));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_has_acknowledged_is_forgotten() {
        let mut log = ChunkLog { forgets: true, ..ChunkLog::new(u32::MAX - 9) };
        let mut kept = 0;
        for number in 0..100_000u32 {
            log.push(10, None);
            let tsn = (u32::MAX - 9).wrapping_add(number);
            if number % 10 == 9 {
                assert_eq!(log.acknowledge(tsn), 10 * u64::from(number + 1));
            }
            kept = kept.max(log.chunks.len());
        }
        // The last one that was acknowledged, and nine more.
        assert_eq!(kept, 10);
        // Neither what is forgotten nor what was never sent says anything, or takes anything away.
        let last = log.first_tsn;
        assert_eq!([last.wrapping_sub(1), last.wrapping_add(1)].map(|tsn| log.acknowledge(tsn)), [0, 0]);
        assert_eq!((log.end(last), log.chunks.len()), (1_000_000, 1));
        // Captures and the log of segments keep all.
        let mut log = ChunkLog::new(7);
        (0..3).for_each(|_| log.push(10, None));
        assert_eq!((log.acknowledge(9), log.end(7)), (30, 10));
    }

    #[test]
    fn a_late_copy_of_what_is_forgotten_keeps_its_length() {
        let mut log = ChunkLog { forgets: true, ..ChunkLog::new(7) };
        (0..2).for_each(|_| log.push(3, None));
        log.acknowledge(8);
        let chunk = |tsn| {
            let (beginning, ending) = (true, true);
            let (stream, ssn, protocol) = (0, 0, 0);
            let (unordered, immediate, payload_bytes) = (false, false, 3);
            Chunk::Data(sctp::Data {
                tsn,
                stream,
                ssn,
                protocol,
                unordered,
                beginning,
                ending,
                immediate,
                payload_bytes,
            })
        };
        let chunks = [chunk(7), chunk(8)].into_iter().collect();
        let packet = sctp::Packet { source_port: 1, destination_port: 2, verification_tag: 3, chunks };
        assert_eq!(user_data(&log, &packet), [0, 0, 0, 3, 4, 5]);
    }
}
