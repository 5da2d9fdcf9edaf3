//! An association: the public face of the machine and its states from handshake to shutdown (RFC 9260 section
//! 4).

mod arrival;
mod closing;
mod handshake;
mod heartbeat;
mod reconfiguration;
mod timers;
mod transmit;

use std::collections::VecDeque;

use roamsim_engine::{Span, Stream, Time};

use super::chunk::{Chunk, Chunks, Packet, Parameter};
use super::config::Config;
use super::event::Event;
use super::path::{Path, PathReport};
use super::paths::Paths;
use super::receiver::Receiver;
use super::reliability::Reliability;
use super::sender::{Loss, Sender};
use super::stats::Stats;
use crate::machine::Address;
use reconfiguration::Reconfiguration;

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

    /// Whether data or its acknowledgements may still go either way: from the handshake until both ends have
    /// shut down.
    pub fn is_up(self) -> bool {
        self.sends_data() || self.receives_data()
    }

    /// The states with a chunk that T1 or T2 repeats.
    fn repeats(self) -> bool {
        matches!(self, State::CookieWait | State::CookieEchoed | State::ShutdownSent | State::ShutdownAckSent)
    }
}

/// One end of an SCTP association. It lives once: what has ended is not opened again.
#[derive(Clone, Debug)]
pub struct Association {
    state: State,
    listening: bool,
    ended: bool,
    /// It ended in SHUTDOWN-ACK-SENT.
    shut_down: bool,
    local_port: u16,
    remote_port: u16,
    tag: u32,
    initial_tsn: u32,
    peer_tag: u32,
    cookie: Vec<u8>,
    /// Whether the peer has told that it takes ASCONF.
    peer_takes_asconf: bool,
    reconfiguration: Reconfiguration,
    peer_pinned: bool,
    paths: Paths,
    /// The path of the chunk that T1 or T2 repeats.
    control_path: usize,
    sender: Sender,
    receiver: Receiver,
    /// Where the next SACK goes: back where the last DATA came from (RFC 9260 6.4).
    sack_path: Option<Path>,
    /// Answers that leave before anything else.
    replies: VecDeque<(Path, Packet)>,
    /// INIT, COOKIE ECHO, SHUTDOWN or SHUTDOWN ACK, as the state says, is due.
    control_due: bool,
    /// T1-init, T1-cookie or T2-shutdown.
    control_at: Option<Time>,
    control_repeats: u32,
    /// Consecutive timeouts on all paths (RFC 9260 8.1).
    errors: u32,
    events: VecDeque<Event>,
    stats: Stats,
    config: Config,
}

impl Association {
    /// A closed association between the addresses of two ports; an end that listens need not know the peer's,
    /// which the INIT tells. `config` is not checked here. `tag` and `initial_tsn` should be drawn at random;
    /// a tag of 0, which RFC 9260 3.3.2 forbids, becomes 1.
    ///
    /// The first path, the first local with the first remote address, is tried first and becomes the primary
    /// one.
    pub fn new(
        config: &Config,
        local: &[Address],
        local_port: u16,
        remote: &[Address],
        remote_port: u16,
        tag: u32,
        initial_tsn: u32,
    ) -> Association {
        Association {
            state: State::Closed,
            listening: false,
            ended: false,
            shut_down: false,
            local_port,
            remote_port,
            tag: tag.max(1),
            initial_tsn,
            peer_tag: 0,
            cookie: Vec::new(),
            peer_takes_asconf: false,
            reconfiguration: Reconfiguration::new(initial_tsn),
            peer_pinned: false,
            paths: Paths::new(config, local, remote),
            control_path: 0,
            sender: Sender::new(config, initial_tsn),
            receiver: Receiver::new(config, 0),
            sack_path: None,
            replies: VecDeque::new(),
            control_due: false,
            control_at: None,
            control_repeats: 0,
            errors: 0,
            events: VecDeque::new(),
            stats: Stats::default(),
            config: *config,
        }
    }

    /// Answers INITs from now on.
    pub fn listen(&mut self) {
        self.listening = !self.ended;
    }

    /// The peer has the one address that its packets come from: others that it tells, in INIT, INIT ACK,
    /// COOKIE ECHO or ASCONF, are not taken. For a peer that is not trusted, and may tell addresses which
    /// nobody has; where its packets come from the caller checks.
    pub fn pin_peer(&mut self) {
        self.peer_pinned = true;
    }

    /// Sends an INIT. False, and nothing happens, without an address on either side or when it is not closed.
    pub fn open(&mut self) -> bool {
        let possible = self.state == State::Closed && !self.ended && !self.paths.all.is_empty();
        if possible {
            self.control_path = self.paths.primary();
            self.enter(State::CookieWait);
        }
        possible
    }

    /// Other addresses for an association that is not up: of this end, as by [`new`](Association::new), and
    /// of the peer. If its INIT is under way, it begins anew with another tag. False, and nothing changes,
    /// once the INIT is answered, or without an address on either side.
    pub fn readdress(&mut self, random: &mut Stream, local: &[Address], remote: &[Address]) -> bool {
        let begun = self.state == State::CookieWait;
        if !(begun || self.state == State::Closed && !self.ended) || local.is_empty() || remote.is_empty() {
            return false;
        }
        self.paths = Paths::new(&self.config, local, remote);
        self.control_path = self.paths.primary();
        if begun {
            self.tag = (random.next_u64() as u32).max(1);
            self.enter(State::CookieWait);
        }
        true
    }

    /// Queues a message; allowed before the association is up. False, and nothing is queued, for a message of
    /// 0 octets, on a stream that there is not, or after [`close`](Association::close).
    pub fn send(&mut self, stream: u16, bytes: u64, protocol: u32, unordered: bool) -> bool {
        self.send_repeated(stream, bytes, 1, protocol, unordered)
    }

    /// The same for a message that may be given up, where both ends have partial reliability; else it is as
    /// reliable as others.
    pub fn send_partially(
        &mut self,
        stream: u16,
        bytes: u64,
        protocol: u32,
        unordered: bool,
        reliability: Reliability,
    ) -> bool {
        self.queue_messages(stream, (bytes, 1), protocol, unordered, reliability)
    }

    /// Queues so many messages alike, at the cost of one; `u64::MAX` of them are an endless source. Refused
    /// as by [`send`](Association::send), and if there are 0 of them.
    pub fn send_repeated(
        &mut self,
        stream: u16,
        message_bytes: u64,
        count: u64,
        protocol: u32,
        unordered: bool,
    ) -> bool {
        self.queue_messages(stream, (message_bytes, count), protocol, unordered, Reliability::Full)
    }

    fn queue_messages(
        &mut self,
        stream: u16,
        (message_bytes, count): (u64, u64),
        protocol: u32,
        unordered: bool,
        reliability: Reliability,
    ) -> bool {
        let open = !self.ended
            && matches!(
                self.state,
                State::Closed | State::CookieWait | State::CookieEchoed | State::Established
            );
        self.sender.new_event();
        open && message_bytes > 0
            && count > 0
            && self.sender.write(stream, (message_bytes, count), protocol, unordered, reliability)
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

    /// Sends new data on this path from now on, as long as it is active (RFC 9260 11.1.6). False if there is
    /// no such path or it is not confirmed.
    pub fn set_primary(&mut self, path: Path) -> bool {
        let place = self.paths.place_of(path).filter(|&place| self.paths.all[place].confirmed);
        if let Some(place) = place {
            self.sender.new_event();
            self.change_primary(place);
        }
        place.is_some()
    }

    fn change_primary(&mut self, place: usize) {
        if self.paths.primary() != place {
            self.paths.set_primary(place);
            self.events.push_back(Event::PrimaryChanged(self.paths.all[place].path));
        }
    }

    /// Whether it has ended when both ends had shut down and everything was acknowledged, so that nothing but
    /// SHUTDOWN COMPLETE was missing (RFC 9260 9.2).
    pub fn was_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Its port.
    pub fn local_port(&self) -> u16 {
        self.local_port
    }

    /// The verification tag that packets to it bear.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// How long its cookies are valid.
    pub fn cookie_life(&self) -> Span {
        self.config.cookie_life
    }

    /// The peer sends from this port: for one that listens, and does not know it before.
    pub fn set_remote_port(&mut self, port: u16) {
        self.remote_port = port;
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Its local addresses; one that is being added (RFC 5061) is not yet among them.
    pub fn local_addresses(&self) -> &[Address] {
        &self.paths.locals
    }

    /// The peer's addresses, as far as they are known.
    pub fn remote_addresses(&self) -> &[Address] {
        &self.paths.remotes
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = PathReport> {
        self.paths.present().map(|(_, state)| state.report())
    }

    /// The primary path; `None` while no address of the peer is known.
    pub fn primary(&self) -> Option<PathReport> {
        self.paths.all.get(self.paths.primary()).map(|state| state.report())
    }

    /// Where new data goes now: the primary path, or another while that is inactive.
    pub fn sending_path(&self) -> Option<Path> {
        self.paths.all.get(self.paths.current()).map(|state| state.path)
    }

    /// The congestion window of the path that new data takes, in octets of DATA chunks; 0 while there is no
    /// path.
    pub fn cwnd_bytes(&self) -> u64 {
        self.paths.all.get(self.paths.current()).map_or(0, |state| state.cwnd)
    }

    /// The slow-start threshold of that path in octets, `u64::MAX` while it is arbitrarily high.
    pub fn ssthresh_bytes(&self) -> u64 {
        self.paths.all.get(self.paths.current()).map_or(u64::MAX, |state| state.ssthresh)
    }

    /// The smoothed round-trip time of that path, once measured.
    pub fn srtt(&self) -> Option<Span> {
        self.paths.all.get(self.paths.current()).and_then(|state| state.rtt.srtt())
    }

    /// The retransmission timeout in force on that path.
    pub fn rto(&self) -> Span {
        self.paths.all.get(self.paths.current()).map_or(self.config.initial_rto(), |state| state.rtt.rto())
    }

    /// What [`send`](Association::send) and [`send_repeated`](Association::send_repeated) have queued and is
    /// not yet sent whole: calls, not messages.
    pub fn queued(&self) -> usize {
        self.sender.queued()
    }

    /// Messages given up before any of their octets were sent, the next ones to send: how many since this
    /// was asked last.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.sender.dropped)
    }

    /// The round-trip time measured last on that path, unless it was taken before.
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        let current = self.paths.current();
        self.paths.all.get_mut(current).and_then(|state| state.rtt.take_latest())
    }

    /// Octets of user data sent and neither acknowledged nor taken as lost, on all paths.
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

    /// The TSNs in the packet polled last that had been sent before, and why they were sent again; those not
    /// in here were sent for the first time.
    pub fn retransmitted_tsns(&self) -> &[(u32, Loss)] {
        &self.sender.sent_again
    }

    /// Whether the DATA chunk of the packet polled last probes a closed window (RFC 9260 6.1 A).
    pub fn is_window_probe(&self) -> bool {
        self.sender.sent_probe
    }

    /// The highest TSN sent so far; one below the initial TSN before any.
    pub fn highest_tsn_sent(&self) -> u32 {
        self.sender.highest_tsn()
    }

    /// The last TSN up to which everything has arrived; meaningless before the association is up.
    pub fn cumulative_tsn_received(&self) -> u32 {
        self.receiver.cumulative_tsn()
    }

    /// The next event the application has not been told of.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn packet(&self, verification_tag: u32, chunks: Chunks) -> Packet {
        Packet { source_port: self.local_port, destination_port: self.remote_port, verification_tag, chunks }
    }

    fn reply(&mut self, path: Path, tag: u32, chunk: Chunk) {
        self.replies.push_back((path, self.packet(tag, Chunks::from_buf([chunk]))));
    }

    fn cause(kind: u16, value: Vec<u8>) -> Vec<Parameter> {
        vec![Parameter { kind, value }]
    }
}
