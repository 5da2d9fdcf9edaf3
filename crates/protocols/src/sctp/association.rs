//! An association: the public face of the machine, its states from handshake to shutdown (RFC 9260 sections 4, 5, 9).

use std::collections::VecDeque;

use roamsim_engine::{Span, Time};

use super::chunk::{COMMON_HEADER_BYTES, Chunk, Init, Packet, Parameter, Sack, padded};
use super::config::Config;
use super::cookie::Cookie;
use super::receiver::{Message, Receiver};
use super::sender::Sender;
use super::stats::Stats;
use crate::machine::{Context, Machine};

/// Error causes (RFC 9260 3.3.10).
const STALE_COOKIE: u16 = 3;
const NO_USER_DATA: u16 = 9;

/// The states of RFC 9260 section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// No association; answers an INIT if it listens.
    Closed,
    /// INIT sent.
    CookieWait,
    /// COOKIE ECHO sent.
    CookieEchoed,
    /// Open in both directions.
    Established,
    /// Closed by this end; data is still to be acknowledged.
    ShutdownPending,
    /// SHUTDOWN sent.
    ShutdownSent,
    /// The peer closed; data is still to be acknowledged.
    ShutdownReceived,
    /// SHUTDOWN ACK sent.
    ShutdownAckSent,
}

impl State {
    fn sends_data(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownReceived)
    }

    fn receives_data(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownSent)
    }

    /// The states with a chunk that T1 or T2 repeats.
    fn repeats(self) -> bool {
        matches!(self, State::CookieWait | State::CookieEchoed | State::ShutdownSent | State::ShutdownAckSent)
    }
}

/// What the application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// A message has arrived.
    Received(Message),
    /// The association was shut down; nothing is lost.
    Closed,
    /// The peer or the application ended it at once.
    Aborted,
    /// Too many timeouts in a row.
    TimedOut,
}

/// One end of an SCTP association with one path. It lives once: what has ended is not opened again.
#[derive(Clone, Debug)]
pub struct Association {
    state: State,
    listening: bool,
    ended: bool,
    local_port: u16,
    remote_port: u16,
    tag: u32,
    initial_tsn: u32,
    peer_tag: u32,
    cookie: Vec<u8>,
    sender: Sender,
    receiver: Receiver,
    /// Answers that leave before anything else.
    replies: VecDeque<Packet>,
    /// INIT, COOKIE ECHO, SHUTDOWN or SHUTDOWN ACK, as the state says, is due.
    control_due: bool,
    /// T1-init, T1-cookie or T2-shutdown.
    control_at: Option<Time>,
    control_repeats: u32,
    events: VecDeque<Event>,
    stats: Stats,
    config: Config,
}

impl Association {
    /// A closed association between two ports. `tag` and `initial_tsn` should be drawn at random; a tag of 0, which
    /// RFC 9260 3.3.2 forbids, becomes 1.
    pub fn new(
        config: &Config,
        local_port: u16,
        remote_port: u16,
        tag: u32,
        initial_tsn: u32,
    ) -> Association {
        // Smaller packets hold no INIT ACK with its cookie.
        let config = Config { packet_bytes: config.packet_bytes.clamp(128, 65_535), ..*config };
        Association {
            state: State::Closed,
            listening: false,
            ended: false,
            local_port,
            remote_port,
            tag: tag.max(1),
            initial_tsn,
            peer_tag: 0,
            cookie: Vec::new(),
            sender: Sender::new(&config, initial_tsn),
            receiver: Receiver::new(&config, 0),
            replies: VecDeque::new(),
            control_due: false,
            control_at: None,
            control_repeats: 0,
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        }
    }

    /// Answers INITs from now on.
    pub fn listen(&mut self) {
        self.listening = !self.ended;
    }

    /// Sends an INIT.
    pub fn open(&mut self) {
        if self.state == State::Closed && !self.ended {
            self.enter(State::CookieWait);
        }
    }

    /// Queues a message; allowed before the association is up. False, and nothing is queued, for a message of 0
    /// octets, on a stream that there is not, or after [`close`](Association::close).
    pub fn send(&mut self, stream: u16, bytes: u64, protocol: u32, unordered: bool) -> bool {
        let open = !self.ended
            && matches!(
                self.state,
                State::Closed | State::CookieWait | State::CookieEchoed | State::Established
            );
        self.sender.new_event();
        open && bytes > 0 && self.sender.write(stream, bytes, protocol, unordered)
    }

    /// Shuts down when everything is acknowledged; before the association is up, gives it up.
    pub fn close(&mut self) {
        match self.state {
            State::Established => self.state = State::ShutdownPending,
            State::Closed if self.ended => {}
            State::Closed | State::CookieWait | State::CookieEchoed => self.end(Event::Closed),
            _ => {}
        }
    }

    /// Ends the association at once and tells the peer.
    pub fn abort(&mut self) {
        if self.state != State::Closed {
            self.abort_for(Vec::new());
        }
    }

    fn abort_for(&mut self, causes: Vec<Parameter>) {
        if self.peer_tag != 0 {
            self.reply(self.peer_tag, Chunk::Abort { reflected_tag: false, causes });
        }
        self.end(Event::Aborted);
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The congestion window in octets.
    pub fn cwnd_bytes(&self) -> u64 {
        self.sender.path.cwnd
    }

    /// The slow-start threshold in octets, `u64::MAX` while it is arbitrarily high.
    pub fn ssthresh_bytes(&self) -> u64 {
        self.sender.path.ssthresh
    }

    /// Octets of user data sent and neither acknowledged nor taken as lost.
    pub fn outstanding_bytes(&self) -> u64 {
        self.sender.outstanding_bytes
    }

    /// Whether everything queued has been acknowledged.
    pub fn is_drained(&self) -> bool {
        self.sender.is_empty()
    }

    /// Whether fast recovery is going on.
    pub fn is_recovering(&self) -> bool {
        self.sender.is_recovering()
    }

    /// Messages that wait behind what was sent, the one that is partly sent included.
    pub fn queued_messages(&self) -> usize {
        self.sender.queued_messages()
    }

    /// The smoothed round-trip time, once one was measured.
    pub fn srtt(&self) -> Option<Span> {
        self.sender.path.rtt.srtt()
    }

    /// The round-trip time measured last, unless it was taken before.
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.path.rtt.take_latest()
    }

    /// The retransmission timeout in force.
    pub fn rto(&self) -> Span {
        self.sender.path.rtt.rto()
    }

    /// The next event the application has not been told of.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next packet to send, if there is one now.
    pub fn poll_transmit(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let now = cx.now;
        if let Some(packet) = self.replies.pop_front() {
            self.stats.packets_sent += 1;
            return Some(packet);
        }
        self.finish_shutdown();
        let mut chunks = Vec::new();
        if self.receiver.sack_due && self.state.receives_data() {
            chunks.push(Chunk::Sack(self.receiver.sack(self.config.packet_bytes)));
        }
        if self.control_due {
            self.control_due = false;
            self.control_at = Some(now + self.sender.path.rtt.rto());
            let control = match self.state {
                State::CookieWait => Chunk::Init(self.init(Vec::new())),
                State::CookieEchoed => Chunk::CookieEcho(self.cookie.clone()),
                State::ShutdownSent => Chunk::Shutdown { cumulative_tsn_ack: self.receiver.cumulative_tsn() },
                _ => Chunk::ShutdownAck,
            };
            chunks.push(control);
        } else if self.state.sends_data() {
            let used: u32 = chunks.iter().map(|chunk: &Chunk| padded(chunk.bytes())).sum();
            let room = self.config.packet_bytes.saturating_sub(COMMON_HEADER_BYTES + used);
            self.sender.fill(now, room, &mut chunks, &mut self.stats);
        }
        if chunks.is_empty() {
            return None;
        }
        self.stats.packets_sent += 1;
        let tag = if self.state == State::CookieWait { 0 } else { self.peer_tag };
        Some(self.packet(tag, chunks))
    }

    /// What a packet says that came in.
    pub fn handle_packet(&mut self, cx: &mut Context<'_>, packet: &Packet) {
        let now = cx.now;
        self.stats.packets_received += 1;
        self.sender.new_event();
        if !self.admits(packet) {
            self.stats.packets_refused += 1;
            return;
        }
        let mut with_data = false;
        for chunk in &packet.chunks {
            match chunk {
                Chunk::Data(data) if self.state.receives_data() => {
                    if data.payload_bytes == 0 {
                        let value = data.tsn.to_be_bytes().to_vec();
                        self.abort_for(vec![Parameter { kind: NO_USER_DATA, value }]);
                        return;
                    }
                    with_data = true;
                    self.receiver.take(data, data.stream < self.config.inbound_streams);
                }
                _ => self.handle_control(now, chunk),
            }
        }
        while let Some(message) = self.receiver.messages.pop_front() {
            self.events.push_back(Event::Received(message));
        }
        if with_data && self.state.receives_data() {
            self.receiver.packet_ends(now);
            if self.state == State::ShutdownSent {
                // RFC 9260 9.2: data still arrives; SACK and SHUTDOWN at once.
                self.receiver.sack_due = true;
                self.control_due = true;
            }
        }
        self.finish_shutdown();
    }

    /// Verification tags (RFC 9260 8.5) and what is answered without an association (8.4).
    fn admits(&mut self, packet: &Packet) -> bool {
        let tag = packet.verification_tag;
        match &packet.chunks[..] {
            [] => false,
            [Chunk::Init(init)] => tag == 0 && init.initiate_tag != 0,
            chunks if chunks.iter().any(|chunk| matches!(chunk, Chunk::Init(_))) => false,
            [
                Chunk::Abort { reflected_tag: true, .. } | Chunk::ShutdownComplete { reflected_tag: true },
                ..,
            ] => self.peer_tag != 0 && tag == self.peer_tag,
            [Chunk::ShutdownAck, ..] if self.state == State::Closed => {
                self.reply(tag, Chunk::ShutdownComplete { reflected_tag: true });
                false
            }
            _ => tag == self.tag,
        }
    }

    fn handle_control(&mut self, now: Time, chunk: &Chunk) {
        match (chunk, self.state) {
            (Chunk::Init(init), State::Closed | State::CookieWait | State::CookieEchoed) => {
                self.answer_init(now, init);
            }
            (Chunk::InitAck(init), State::CookieWait) => {
                let cookie = init.parameters.iter().find(|p| p.kind == Parameter::STATE_COOKIE);
                let Some(cookie) = cookie.filter(|_| init.initiate_tag != 0) else { return };
                self.cookie = cookie.value.clone();
                self.peer_tag = init.initiate_tag;
                self.take_init(init.initial_tsn, init.a_rwnd_bytes, init.inbound_streams);
                self.enter(State::CookieEchoed);
            }
            (Chunk::CookieEcho(octets), _) => self.take_cookie(now, octets),
            (Chunk::CookieAck, State::CookieEchoed) => self.establish(),
            (Chunk::Error(causes), State::CookieEchoed) if causes.iter().any(|c| c.kind == STALE_COOKIE) => {
                self.enter(State::CookieWait);
            }
            (Chunk::Sack(sack), state) if state.sends_data() => {
                self.sender.acknowledge(now, sack, &mut self.stats);
            }
            (Chunk::Heartbeat(info), state) if state != State::Closed && self.peer_tag != 0 => {
                self.reply(self.peer_tag, Chunk::HeartbeatAck(info.clone()));
            }
            (Chunk::Shutdown { cumulative_tsn_ack }, state) => {
                if state.sends_data() {
                    let sack = Sack {
                        cumulative_tsn_ack: *cumulative_tsn_ack,
                        a_rwnd_bytes: (self.sender.peer_rwnd + self.sender.outstanding_bytes)
                            .min(u64::from(u32::MAX)) as u32,
                        gaps: Vec::new(),
                        duplicates: Vec::new(),
                    };
                    self.sender.acknowledge(now, &sack, &mut self.stats);
                    self.state = State::ShutdownReceived;
                } else if matches!(state, State::ShutdownSent | State::ShutdownAckSent) {
                    self.enter(State::ShutdownAckSent);
                }
            }
            (Chunk::ShutdownAck, State::ShutdownSent | State::ShutdownAckSent) => {
                self.reply(self.peer_tag, Chunk::ShutdownComplete { reflected_tag: false });
                self.end(Event::Closed);
            }
            (Chunk::ShutdownComplete { .. }, State::ShutdownAckSent) => self.end(Event::Closed),
            (Chunk::Abort { .. }, state) if state != State::Closed => self.end(Event::Aborted),
            // Closed, and no COOKIE ECHO: what comes late is not answered. In other states: out of place.
            _ => {}
        }
    }

    /// INIT ACK with a cookie that holds all that is known: nothing is kept (RFC 9260 5.1.3, 5.2.1).
    fn answer_init(&mut self, now: Time, init: &Init) {
        if self.state == State::Closed && !self.listening {
            self.reply(init.initiate_tag, Chunk::Abort { reflected_tag: false, causes: Vec::new() });
            return;
        }
        let cookie = Cookie {
            tag: self.tag,
            peer_tag: init.initiate_tag,
            peer_initial_tsn: init.initial_tsn,
            peer_rwnd_bytes: init.a_rwnd_bytes,
            peer_inbound_streams: init.inbound_streams,
            made_at: now,
        };
        let parameter = Parameter { kind: Parameter::STATE_COOKIE, value: cookie.encode() };
        let init_ack = Chunk::InitAck(self.init(vec![parameter]));
        self.reply(init.initiate_tag, init_ack);
    }

    fn take_cookie(&mut self, now: Time, octets: &[u8]) {
        let Some(cookie) = Cookie::decode(octets).filter(|cookie| cookie.tag == self.tag) else { return };
        match self.state {
            State::Closed if !self.listening => {}
            State::Closed | State::CookieWait | State::CookieEchoed => {
                if now.since(cookie.made_at) > self.config.cookie_life {
                    let value = 0u32.to_be_bytes().to_vec();
                    let causes = vec![Parameter { kind: STALE_COOKIE, value }];
                    self.reply(cookie.peer_tag, Chunk::Error(causes));
                    return;
                }
                self.peer_tag = cookie.peer_tag;
                self.take_init(cookie.peer_initial_tsn, cookie.peer_rwnd_bytes, cookie.peer_inbound_streams);
                self.reply(self.peer_tag, Chunk::CookieAck);
                self.establish();
            }
            // Its COOKIE ACK was lost (RFC 9260 5.2.4 D).
            _ if cookie.peer_tag == self.peer_tag => self.reply(self.peer_tag, Chunk::CookieAck),
            _ => {}
        }
    }

    fn take_init(&mut self, initial_tsn: u32, rwnd_bytes: u32, streams: u16) {
        self.receiver = Receiver::new(&self.config, initial_tsn);
        self.sender.peer_rwnd = u64::from(rwnd_bytes);
        self.sender.path.ssthresh = u64::from(rwnd_bytes);
        self.stats.messages_dropped += self.sender.limit_streams(streams);
    }

    fn establish(&mut self) {
        self.state = State::Established;
        self.listening = false;
        self.control_due = false;
        self.control_at = None;
        self.control_repeats = 0;
        self.events.push_back(Event::Established);
    }

    /// A state whose chunk T1 or T2 repeats.
    fn enter(&mut self, state: State) {
        self.state = state;
        self.control_due = true;
        self.control_repeats = 0;
    }

    /// Once everything is acknowledged the shutdown goes on (RFC 9260 9.2).
    fn finish_shutdown(&mut self) {
        if self.sender.is_empty() {
            match self.state {
                State::ShutdownPending => self.enter(State::ShutdownSent),
                State::ShutdownReceived => self.enter(State::ShutdownAckSent),
                _ => {}
            }
        }
    }

    fn end(&mut self, event: Event) {
        self.state = State::Closed;
        self.ended = true;
        self.listening = false;
        self.control_due = false;
        self.control_at = None;
        self.sender.t3_at = None;
        self.receiver.sack_at = None;
        self.receiver.sack_due = false;
        self.events.push_back(event);
    }

    fn init(&self, parameters: Vec<Parameter>) -> Init {
        Init {
            initiate_tag: self.tag,
            a_rwnd_bytes: self.config.receive_window_bytes,
            outbound_streams: self.config.outbound_streams,
            inbound_streams: self.config.inbound_streams,
            initial_tsn: self.initial_tsn,
            parameters,
        }
    }

    fn packet(&self, verification_tag: u32, chunks: Vec<Chunk>) -> Packet {
        Packet { source_port: self.local_port, destination_port: self.remote_port, verification_tag, chunks }
    }

    fn reply(&mut self, tag: u32, chunk: Chunk) {
        self.replies.push_back(self.packet(tag, vec![chunk]));
    }

    /// T1 or T2 has expired.
    fn repeat_control(&mut self) {
        self.control_at = None;
        if !self.state.repeats() {
            return;
        }
        let most = match self.state {
            State::CookieWait | State::CookieEchoed => self.config.max_init_retransmissions,
            _ => self.config.max_retransmissions,
        };
        self.control_repeats += 1;
        if self.control_repeats > most {
            self.end(Event::TimedOut);
            return;
        }
        self.sender.path.rtt.back_off();
        self.control_due = true;
    }
}

impl Machine for Association {
    fn poll_timeout(&self) -> Option<Time> {
        [self.control_at, self.sender.t3_at, self.receiver.sack_at].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= cx.now);
        if due(self.control_at) {
            self.repeat_control();
        }
        if due(self.sender.t3_at) {
            self.sender.new_event();
            self.sender.expire(&mut self.stats);
            if self.sender.path.errors > self.config.max_retransmissions {
                self.end(Event::TimedOut);
            }
        }
        if due(self.receiver.sack_at) {
            self.receiver.sack_at = None;
            self.receiver.sack_due = true;
        }
    }
}
