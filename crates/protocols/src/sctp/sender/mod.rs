//! Messages to send: fragmentation, bundling, what is outstanding and what is sent again (RFC 9260 6.1, 6.3,
//! 6.9, 6.10).
//!
//! The window counts DATA chunks with their headers (RFC 9260 1.3: "total size of the DATA chunks"), the
//! peer's receive window counts user data (6.2.1). By both RFCs a chunk may leave while less than the window
//! is outstanding.

mod abandon;
mod acknowledge;

use std::collections::{BTreeSet, VecDeque};

use roamsim_engine::Time;

use super::chunk::{Chunk, Chunks, DATA_HEADER_BYTES, Data, padded};
use super::config::{Config, Rules};
use super::paths::Paths;
use super::reliability::Reliability;
use super::stats::Stats;
use crate::tcp::sequence::to_wire;

/// Messages of the application, all alike, or what is left of them.
#[derive(Clone, Debug)]
struct Waiting {
    stream: u16,
    protocol: u32,
    unordered: bool,
    reliability: Reliability,
    message_bytes: u64,
    /// Messages not sent whole.
    count: u64,
    /// Of the message that is next.
    bytes_left: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Sent, and neither acknowledged nor taken as lost.
    InFlight,
    /// Covered by a gap ack block.
    Acknowledged,
    /// To be sent again.
    Lost(Loss),
    /// Given up with its message.
    Abandoned,
}

/// Why a chunk is taken as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Missing reports (RFC 9260 7.2.4).
    Reports,
    /// T3-rtx (RFC 9260 6.3.3).
    Timeout,
    /// An address of its path was deleted, or is being deleted (RFC 5061).
    PathRemoved,
}

/// A chunk that has been sent and is not below the cumulative TSN.
#[derive(Clone, Debug)]
struct Sent {
    data: Data,
    /// The place of the path it was last sent on.
    path: u16,
    fate: Fate,
    /// Not to be taken as lost by missing reports again (RFC 9260 7.2.4).
    fast_retransmitted: bool,
    /// It has only been sent to probe a closed window.
    probe: bool,
    /// It was sent on several paths, so that nobody knows which one its acknowledgement tells of.
    several_paths: bool,
    missing_reports: u8,
    reliability: Reliability,
}

impl Sent {
    /// What it counts in the window.
    fn bytes(&self) -> u64 {
        u64::from(DATA_HEADER_BYTES) + u64::from(self.data.payload_bytes)
    }
}

/// The sending half. TSNs are counted from the initial one, which is 1.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    base: u32,
    /// The cumulative TSN acknowledged.
    acknowledged: u64,
    /// What follows `acknowledged`, in order.
    flight: VecDeque<Sent>,
    queue: VecDeque<Waiting>,
    next_ssn: Vec<u16>,
    /// User data in flight on all paths.
    pub(super) outstanding_bytes: u64,
    /// The gap ack blocks of the last SACK, counted from `acknowledged`: ascending, and apart from each
    /// other.
    gaps: Vec<(u16, u16)>,
    /// What is to be sent again.
    lost: BTreeSet<u64>,
    /// What is in flight below `reported_below` and may be reported missing.
    candidates: BTreeSet<u64>,
    /// Below this, whatever may be reported missing is in `candidates`.
    reported_below: u64,
    pub(super) peer_rwnd: u64,
    /// One packet of retransmissions may leave whatever the window says.
    one_packet_due: bool,
    /// T3-rtx has expired: one packet, then nothing before a SACK.
    probing: bool,
    /// Fast recovery ends when this TSN is acknowledged.
    recovery_exit: Option<u64>,
    /// Packets with DATA that may leave before the next event.
    burst_left: u32,
    fragment_bytes: u64,
    /// Messages may be given up: both ends know FORWARD TSN.
    pub(super) partial: bool,
    /// A FORWARD TSN is to leave.
    forward_due: bool,
    /// The path on which one has left, while the peer has not moved beyond everything given up.
    forward_under_way: Option<usize>,
    /// T3-rtx has expired on this path, and neither a FORWARD TSN has left nor a SACK come since.
    timed_out_on: Option<usize>,
    /// Messages given up before any of their octets were sent, and not yet told.
    pub(super) dropped: u64,
    /// The chunks sent again with the last packet, and why.
    pub(super) sent_again: Vec<(u32, Loss)>,
    /// The last packet probes a closed window.
    pub(super) sent_probe: bool,
    config: Config,
}

impl Sender {
    pub(super) fn new(config: &Config, initial_tsn: u32) -> Sender {
        Sender {
            base: initial_tsn.wrapping_sub(1),
            acknowledged: 0,
            flight: VecDeque::new(),
            queue: VecDeque::new(),
            next_ssn: vec![0; usize::from(config.outbound_streams)],
            outstanding_bytes: 0,
            gaps: Vec::new(),
            lost: BTreeSet::new(),
            candidates: BTreeSet::new(),
            reported_below: 0,
            peer_rwnd: 0,
            one_packet_due: false,
            probing: false,
            recovery_exit: None,
            burst_left: config.max_burst,
            fragment_bytes: u64::from(config.fragment_bytes()),
            partial: false,
            forward_due: false,
            forward_under_way: None,
            timed_out_on: None,
            dropped: 0,
            sent_again: Vec::new(),
            sent_probe: false,
            config: *config,
        }
    }

    /// False for a stream that there is not.
    pub(super) fn write(
        &mut self,
        stream: u16,
        (bytes, count): (u64, u64),
        protocol: u32,
        unordered: bool,
        reliability: Reliability,
    ) -> bool {
        if usize::from(stream) >= self.next_ssn.len() {
            return false;
        }
        self.queue.push_back(Waiting {
            stream,
            protocol,
            unordered,
            reliability,
            message_bytes: bytes,
            count,
            bytes_left: bytes,
        });
        true
    }

    /// The peer takes so many streams; messages on others are dropped. How many were.
    pub(super) fn limit_streams(&mut self, streams: u16) -> u64 {
        self.next_ssn.truncate(usize::from(streams));
        let gone = self.queue.iter().filter(|messages| messages.stream >= streams);
        let dropped = gone.fold(0, |dropped: u64, messages| dropped.saturating_add(messages.count));
        self.queue.retain(|messages| messages.stream < streams);
        dropped
    }

    /// Kinds of messages alike that wait, the one that is partly sent included.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flight.is_empty() && self.queue.is_empty()
    }

    pub(super) fn new_event(&mut self) {
        self.burst_left = self.config.max_burst;
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.recovery_exit.is_some()
    }

    fn highest_sent(&self) -> u64 {
        self.acknowledged + self.flight.len() as u64
    }

    /// The highest TSN sent so far; one below the initial one without.
    pub(super) fn highest_tsn(&self) -> u32 {
        to_wire(self.base, self.highest_sent())
    }

    /// The chunk of this TSN, which has been sent and is not below the cumulative TSN.
    fn at(&mut self, tsn: u64) -> Option<&mut Sent> {
        self.flight.get_mut(tsn.checked_sub(self.acknowledged + 1)? as usize)
    }

    /// The lowest TSN from `from` on that is not acknowledged and was last sent on the path.
    fn earliest_on(&self, path: usize, from: u64) -> u64 {
        let from = from.max(self.acknowledged + 1);
        let skipped = (from - self.acknowledged - 1) as usize;
        let settled = |sent: &Sent| matches!(sent.fate, Fate::Acknowledged | Fate::Abandoned);
        let there = |sent: &Sent| usize::from(sent.path) == path && !settled(sent);
        match (skipped..self.flight.len()).find(|&place| there(&self.flight[place])) {
            Some(place) => self.acknowledged + 1 + place as u64,
            None => u64::MAX,
        }
    }

    /// T3-rtx of a path has expired: everything outstanding there is taken as lost (RFC 9260 6.3.3). Fast
    /// recovery ends with its exit point alone, and until then the window does not grow (7.2.4, 7.2.1).
    pub(super) fn expire(&mut self, path: usize, paths: &mut Paths, stats: &mut Stats) {
        paths.all[path].collapse();
        stats.timeouts += 1;
        self.lose_path(path, paths, Loss::Timeout);
        // Without: a FORWARD TSN alone was under way.
        self.one_packet_due = !self.lost.is_empty();
        self.probing = !self.lost.is_empty();
        self.forward_due |= self.has_abandoned();
        self.timed_out_on = Some(path);
    }

    /// What is in flight on a path is taken as lost.
    fn lose_path(&mut self, path: usize, paths: &mut Paths, loss: Loss) {
        for (i, sent) in self.flight.iter_mut().enumerate() {
            if sent.fate == Fate::InFlight && usize::from(sent.path) == path {
                sent.fate = Fate::Lost(loss);
                let tsn = self.acknowledged + 1 + i as u64;
                self.lost.insert(tsn);
                self.candidates.remove(&tsn);
                self.outstanding_bytes -= u64::from(sent.data.payload_bytes);
                self.peer_rwnd += u64::from(sent.data.payload_bytes);
            }
        }
        paths.all[path].outstanding_bytes = 0;
        paths.all[path].t3_at = None;
    }

    /// A path is no more: what is in flight there is to be sent again at once.
    pub(super) fn leave_path(&mut self, path: usize, paths: &mut Paths) {
        self.lose_path(path, paths, Loss::PathRemoved);
        self.probing = false;
        if self.forward_under_way == Some(path) {
            self.forward_due |= self.has_abandoned();
        }
    }

    /// Where what was lost goes: elsewhere after a timeout; after missing reports to the same path (RFC 9260
    /// 6.4.1), by RFC 2960 6.4 elsewhere. From a path that is the primary one no more, to the one that new
    /// data takes (RFC 9260 6.4: MAY).
    fn path_again(&self, sent: &Sent, paths: &Paths) -> usize {
        let last = usize::from(sent.path);
        let stays = sent.fate == Fate::Lost(Loss::Reports) && self.config.rules == Rules::Rfc9260;
        match &paths.all[last] {
            state if stays && state.usable() && (!state.deposed || paths.current() == last) => last,
            state if state.deposed && paths.current() != last => paths.current(),
            _ => paths.alternate(last),
        }
    }

    fn window_open(&self, path: usize, paths: &Paths) -> bool {
        let state = &paths.all[path];
        !self.probing && self.burst_left > 0 && state.carries() && state.outstanding_bytes < state.cwnd
    }

    /// Octets of user data in the next new chunk. With nothing outstanding one probes the closed window (RFC
    /// 9260 6.1 A).
    fn next_bytes(&self) -> Option<u64> {
        let bytes = self.queue.front()?.bytes_left.min(self.fragment_bytes);
        (bytes <= self.peer_rwnd || self.flight.is_empty()).then_some(bytes)
    }

    /// The path on which a packet with DATA may leave now.
    pub(super) fn next_path(&self, paths: &Paths) -> Option<usize> {
        // RFC 9260 6.1 C: first what is to be sent again.
        if !self.lost.is_empty() {
            return self.next_path_again(paths);
        }
        self.next_bytes()?;
        let path = paths.current();
        self.window_open(path, paths).then_some(path)
    }

    /// The same while chunks are to be sent again.
    #[inline(never)]
    fn next_path_again(&self, paths: &Paths) -> Option<usize> {
        let &tsn = self.lost.first()?;
        let path = self.path_again(&self.flight[(tsn - self.acknowledged - 1) as usize], paths);
        let carries = paths.all[path].carries();
        (carries && (self.one_packet_due || self.window_open(path, paths))).then_some(path)
    }

    /// Octets of the DATA chunk that would leave next, 0 without.
    pub(super) fn next_chunk_bytes(&self) -> u32 {
        match self.lost.first() {
            Some(&tsn) => padded(self.flight[(tsn - self.acknowledged - 1) as usize].bytes() as u32),
            None => self.next_bytes().map_or(0, |bytes| padded(DATA_HEADER_BYTES + bytes as u32)),
        }
    }

    /// Appends the DATA chunks that may leave now on a path and fit into `room` octets.
    pub(super) fn fill(
        &mut self,
        now: Time,
        path: usize,
        mut room: u32,
        paths: &mut Paths,
        chunks: &mut Chunks,
        stats: &mut Stats,
    ) {
        let before = chunks.len();
        if paths.all[path].outstanding_bytes == 0 {
            paths.all[path].decay(now);
        }
        if !self.lost.is_empty() {
            self.fill_again(now, path, &mut room, paths, chunks, stats);
        }
        while room > DATA_HEADER_BYTES
            && self.lost.is_empty()
            && let Some(bytes) = self.next_bytes()
        {
            let size = padded(DATA_HEADER_BYTES + bytes as u32);
            let over =
                self.partial && self.queue.front().is_some_and(|messages| messages.reliability.is_over(now));
            if over || size > room || path != paths.current() || !self.window_open(path, paths) {
                break;
            }
            room -= size;
            chunks.push(Chunk::Data(self.send_new(now, path, bytes, paths)));
            stats.data_chunks_sent += 1;
            stats.window_probes_sent += u64::from(self.sent_probe);
        }
        if chunks.len() > before {
            self.burst_left = self.burst_left.saturating_sub(1);
            paths.all[path].last_data_at = Some(now);
        }
    }

    fn send_new(&mut self, now: Time, path: usize, bytes: u64, paths: &mut Paths) -> Data {
        let tsn = self.highest_sent() + 1;
        let messages = &mut self.queue[0];
        let ssn = &mut self.next_ssn[usize::from(messages.stream)];
        let data = Data {
            tsn: to_wire(self.base, tsn),
            stream: messages.stream,
            ssn: if messages.unordered { 0 } else { *ssn },
            protocol: messages.protocol,
            unordered: messages.unordered,
            beginning: messages.bytes_left == messages.message_bytes,
            ending: bytes == messages.bytes_left,
            immediate: false,
            payload_bytes: bytes as u16,
        };
        let reliability = messages.reliability;
        messages.bytes_left -= bytes;
        if data.ending {
            if !messages.unordered {
                *ssn = ssn.wrapping_add(1);
            }
            messages.bytes_left = messages.message_bytes;
            messages.count -= 1;
            if messages.count == 0 {
                self.queue.pop_front();
            }
        }
        self.sent_probe = bytes > self.peer_rwnd;
        let sent = Sent {
            data,
            path: path as u16,
            fate: Fate::InFlight,
            fast_retransmitted: false,
            probe: self.sent_probe,
            several_paths: false,
            missing_reports: 0,
            reliability,
        };
        self.outstanding_bytes += bytes;
        self.peer_rwnd = self.peer_rwnd.saturating_sub(bytes);
        let state = &mut paths.all[path];
        state.outstanding_bytes += sent.bytes();
        state.measured.get_or_insert((tsn, now));
        state.earliest = state.earliest.min(tsn);
        if state.t3_at.is_none() {
            state.t3_at = Some(now + state.rtt.rto());
        }
        self.flight.push_back(sent);
        data
    }

    fn fill_again(
        &mut self,
        now: Time,
        path: usize,
        room: &mut u32,
        paths: &mut Paths,
        chunks: &mut Chunks,
        stats: &mut Stats,
    ) {
        let whatever_the_window = self.one_packet_due;
        while let Some(&tsn) = self.lost.first() {
            let place = (tsn - self.acknowledged - 1) as usize;
            let sent = &self.flight[place];
            let size = padded(sent.bytes() as u32);
            let allowed = whatever_the_window || self.window_open(path, paths);
            let for_good = self.is_lost_for_good(now, tsn);
            if for_good || size > *room || !allowed || self.path_again(sent, paths) != path {
                break;
            }
            *room -= size;
            self.one_packet_due = false;
            self.lost.pop_first();
            let sent = &mut self.flight[place];
            let last = std::mem::replace(&mut sent.path, path as u16);
            let Fate::Lost(loss) = std::mem::replace(&mut sent.fate, Fate::InFlight) else { continue };
            sent.several_paths |= usize::from(last) != path;
            sent.missing_reports = 0;
            let (data, bytes) = (sent.data, sent.bytes());
            // The peer need not have taken a probe of its window, so sending it again is a probe, no
            // retransmission. Marking it lost gave its octets back to the known window (RFC 9260 6.2.1): the
            // window is still closed if it has no others.
            let probed = sent.probe;
            sent.probe = probed && u64::from(data.payload_bytes) >= self.peer_rwnd;
            if !probed {
                sent.reliability.count_retransmission();
            }
            self.sent_probe = sent.probe;
            if tsn < self.reported_below && !sent.fast_retransmitted {
                self.candidates.insert(tsn);
            }
            self.outstanding_bytes += u64::from(data.payload_bytes);
            self.peer_rwnd = self.peer_rwnd.saturating_sub(u64::from(data.payload_bytes));
            let last = usize::from(last);
            // Karn: what was sent twice measures nothing.
            paths.all[last].measured = paths.all[last].measured.filter(|&(measured, _)| measured != tsn);
            if last != path && paths.all[last].earliest == tsn {
                paths.all[last].earliest = self.earliest_on(last, tsn + 1);
                if paths.all[last].earliest == u64::MAX {
                    paths.all[last].all_acknowledged();
                }
            }
            let state = &mut paths.all[path];
            state.outstanding_bytes += bytes;
            state.earliest = state.earliest.min(tsn);
            // RFC 9260 7.2.4: the timer starts anew with the lowest outstanding TSN.
            if state.earliest == tsn || state.t3_at.is_none() {
                state.t3_at = Some(now + state.rtt.rto());
            }
            stats.data_chunks_sent += 1;
            stats.window_probes_sent += u64::from(self.sent_probe);
            stats.data_chunks_retransmitted += u64::from(!probed);
            match loss {
                Loss::Reports => stats.data_chunks_retransmitted_by_reports += u64::from(!probed),
                Loss::PathRemoved => stats.data_chunks_retransmitted_from_removed_paths += u64::from(!probed),
                Loss::Timeout => {}
            }
            self.sent_again.push((data.tsn, loss));
            chunks.push(Chunk::Data(data));
        }
    }
}
