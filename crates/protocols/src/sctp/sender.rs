//! Messages to send: fragmentation, what is outstanding, SACKs received, loss detection (RFC 9260 6.1 to 6.3, 7.2).

use std::collections::VecDeque;

use roamsim_engine::Time;

use super::chunk::{Chunk, DATA_HEADER_BYTES, Data, Sack, padded};
use super::config::{Config, Rules};
use super::path::Path;
use super::stats::Stats;
use crate::tcp::sequence::{from_wire, to_wire};

/// A message of the application, or what is left of it.
#[derive(Clone, Debug)]
struct Waiting {
    stream: u16,
    ssn: u16,
    protocol: u32,
    unordered: bool,
    beginning: bool,
    bytes_left: u64,
}

/// A chunk that has been sent and is not below the cumulative TSN.
#[derive(Clone, Debug)]
struct Sent {
    data: Data,
    /// Sent and neither acknowledged nor taken as lost. With neither this nor `acknowledged` it is to be sent again.
    in_flight: bool,
    acknowledged: bool,
    fast_retransmitted: bool,
    missing_reports: u32,
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
    pub(super) outstanding_bytes: u64,
    /// How many chunks of `flight` are to be sent again.
    lost_chunks: usize,
    pub(super) peer_rwnd: u64,
    pub(super) path: Path,
    /// One packet of retransmissions may leave whatever the window says.
    fast_retransmit_due: bool,
    /// T3-rtx has expired: one packet, then nothing before a SACK.
    probing: bool,
    /// Fast recovery ends when this TSN is acknowledged.
    recovery_exit: Option<u64>,
    pub(super) t3_at: Option<Time>,
    /// Packets with DATA that may leave before the next event.
    burst_left: u32,
    fragment_bytes: u64,
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
            lost_chunks: 0,
            peer_rwnd: 0,
            path: Path::new(config),
            fast_retransmit_due: false,
            probing: false,
            recovery_exit: None,
            t3_at: None,
            burst_left: config.max_burst,
            fragment_bytes: u64::from(config.fragment_bytes()),
            config: *config,
        }
    }

    /// False for a stream that there is not.
    pub(super) fn write(&mut self, stream: u16, bytes: u64, protocol: u32, unordered: bool) -> bool {
        let Some(next) = self.next_ssn.get_mut(usize::from(stream)) else { return false };
        let ssn = *next;
        if !unordered {
            *next = next.wrapping_add(1);
        }
        let beginning = true;
        self.queue.push_back(Waiting { stream, ssn, protocol, unordered, beginning, bytes_left: bytes });
        true
    }

    /// The peer takes so many streams; messages on others are dropped. How many were.
    pub(super) fn limit_streams(&mut self, streams: u16) -> u64 {
        self.next_ssn.truncate(usize::from(streams));
        let before = self.queue.len();
        self.queue.retain(|message| message.stream < streams);
        (before - self.queue.len()) as u64
    }

    pub(super) fn queued_messages(&self) -> usize {
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

    /// A SACK, or the cumulative TSN of a SHUTDOWN with the window as it was. False when it is of no use.
    pub(super) fn acknowledge(&mut self, now: Time, sack: &Sack, stats: &mut Stats) -> bool {
        let highest_sent = self.acknowledged + self.flight.len() as u64;
        let Some(cumulative) = from_wire(self.base, sack.cumulative_tsn_ack, self.acknowledged) else {
            return false;
        };
        if cumulative < self.acknowledged || cumulative > highest_sent {
            return false;
        }
        let outstanding_before = self.outstanding_bytes;
        let advanced = cumulative > self.acknowledged;
        let mut newly = 0;
        let mut highest_newly = 0;
        while self.acknowledged < cumulative {
            let tsn = self.acknowledged + 1;
            newly += self.settle(0, tsn, now, stats, &mut highest_newly);
            self.flight.pop_front();
            self.acknowledged = tsn;
        }
        let highest_gap = self.take_gaps(now, sack, stats, &mut newly, &mut highest_newly);
        if advanced && self.recovery_exit.is_none() {
            self.path.grow(newly, outstanding_before);
        }
        if self.recovery_exit.is_some_and(|exit| cumulative >= exit) {
            self.recovery_exit = None;
        }
        // RFC 9260 7.2.4: highest TSN newly acknowledged; in fast recovery, with progress, all that are reported.
        let reported_below = match self.config.rules {
            Rules::Rfc2960 => highest_gap,
            Rules::Rfc9260 if self.recovery_exit.is_some() && advanced => highest_gap,
            Rules::Rfc9260 => highest_newly,
        };
        self.count_missing(reported_below, stats);
        self.peer_rwnd = u64::from(sack.a_rwnd_bytes).saturating_sub(self.outstanding_bytes);
        self.probing = false;
        if newly > 0 || sack.a_rwnd_bytes == 0 {
            self.path.errors = 0;
        }
        if self.flight.is_empty() {
            self.path.all_acknowledged();
            self.t3_at = None;
        } else if advanced {
            self.t3_at = Some(now + self.path.rtt.rto());
        }
        true
    }

    /// `flight[i]` is acknowledged; its octets if it was not before.
    fn settle(&mut self, i: usize, tsn: u64, now: Time, stats: &mut Stats, highest: &mut u64) -> u64 {
        let sent = &mut self.flight[i];
        if sent.acknowledged {
            return 0;
        }
        let bytes = u64::from(sent.data.payload_bytes);
        sent.acknowledged = true;
        if sent.in_flight {
            sent.in_flight = false;
            self.outstanding_bytes -= bytes;
        } else {
            self.lost_chunks -= 1;
        }
        if let Some((measured, at)) = self.path.measured
            && measured == tsn
        {
            self.path.rtt.sample(now.since(at), 1);
            self.path.measured = None;
        }
        *highest = (*highest).max(tsn);
        stats.bytes_acknowledged += bytes;
        bytes
    }

    /// The gap ack blocks; the highest TSN in them, 0 without.
    fn take_gaps(
        &mut self,
        now: Time,
        sack: &Sack,
        stats: &mut Stats,
        newly: &mut u64,
        highest_newly: &mut u64,
    ) -> u64 {
        let mut covered = vec![false; self.flight.len()];
        let mut highest = 0;
        for &(first, last) in &sack.gaps {
            let (first, last) = (usize::from(first), usize::from(last));
            // No block reaches beyond the last chunk sent, nor to the one behind the cumulative TSN: that is missing.
            if first < 2 || first > last || last > covered.len() {
                continue;
            }
            covered[first - 1..last].fill(true);
            highest = highest.max(self.acknowledged + last as u64);
        }
        for (i, covered) in covered.into_iter().enumerate() {
            if covered {
                *newly += self.settle(i, self.acknowledged + 1 + i as u64, now, stats, highest_newly);
            } else if self.flight[i].acknowledged {
                // The peer takes its word back (RFC 9260 6.2.1): as if just sent.
                let sent = &mut self.flight[i];
                let bytes = u64::from(sent.data.payload_bytes);
                sent.acknowledged = false;
                sent.in_flight = true;
                self.outstanding_bytes += bytes;
                stats.bytes_acknowledged -= bytes;
            }
        }
        highest
    }

    fn count_missing(&mut self, below: u64, stats: &mut Stats) {
        let mut lost = false;
        let count = below.saturating_sub(self.acknowledged + 1) as usize;
        for sent in self.flight.iter_mut().take(count) {
            if !sent.in_flight || sent.fast_retransmitted {
                continue;
            }
            sent.missing_reports += 1;
            if sent.missing_reports >= self.config.missing_reports() {
                sent.in_flight = false;
                sent.fast_retransmitted = true;
                self.outstanding_bytes -= u64::from(sent.data.payload_bytes);
                self.lost_chunks += 1;
                lost = true;
            }
        }
        if !lost {
            return;
        }
        if self.recovery_exit.is_none() {
            self.path.halve();
            stats.fast_retransmits += 1;
            self.fast_retransmit_due = true;
            if self.config.rules == Rules::Rfc9260 {
                self.recovery_exit = Some(self.acknowledged + self.flight.len() as u64);
            }
        }
    }

    /// T3-rtx has expired: everything outstanding is taken as lost (RFC 9260 6.3.3).
    pub(super) fn expire(&mut self, stats: &mut Stats) {
        self.t3_at = None;
        self.path.collapse();
        stats.timeouts += 1;
        for sent in self.flight.iter_mut().filter(|sent| sent.in_flight) {
            sent.in_flight = false;
            self.lost_chunks += 1;
        }
        self.peer_rwnd += self.outstanding_bytes;
        self.outstanding_bytes = 0;
        self.recovery_exit = None;
        self.fast_retransmit_due = true;
        self.probing = true;
    }

    /// Appends the DATA chunks that may leave now and fit into `room` octets.
    pub(super) fn fill(&mut self, now: Time, mut room: u32, chunks: &mut Vec<Chunk>, stats: &mut Stats) {
        let before = chunks.len();
        let window_open = !self.probing && self.outstanding_bytes < self.path.cwnd && self.burst_left > 0;
        if self.lost_chunks > 0 && (self.fast_retransmit_due || window_open) {
            self.fill_again(now, &mut room, chunks, stats);
        }
        // RFC 9260 6.1 C: first what is to be sent again.
        while self.lost_chunks == 0
            && !self.probing
            && self.burst_left > 0
            && self.outstanding_bytes < self.path.cwnd
        {
            let Some(message) = self.queue.front_mut() else { break };
            let bytes = message.bytes_left.min(self.fragment_bytes);
            let size = padded(DATA_HEADER_BYTES + bytes as u32);
            // With nothing outstanding one chunk probes the closed window (RFC 9260 6.1 A).
            if size > room || bytes > self.peer_rwnd && !self.flight.is_empty() {
                break;
            }
            let tsn = self.acknowledged + self.flight.len() as u64 + 1;
            let data = Data {
                tsn: to_wire(self.base, tsn),
                stream: message.stream,
                ssn: message.ssn,
                protocol: message.protocol,
                unordered: message.unordered,
                beginning: message.beginning,
                ending: bytes == message.bytes_left,
                immediate: false,
                payload_bytes: bytes as u16,
            };
            message.beginning = false;
            message.bytes_left -= bytes;
            if data.ending {
                self.queue.pop_front();
            }
            self.flight.push_back(Sent {
                data,
                in_flight: true,
                acknowledged: false,
                fast_retransmitted: false,
                missing_reports: 0,
            });
            self.outstanding_bytes += bytes;
            self.peer_rwnd = self.peer_rwnd.saturating_sub(bytes);
            self.path.measured.get_or_insert((tsn, now));
            self.t3_at.get_or_insert(now + self.path.rtt.rto());
            stats.data_chunks_sent += 1;
            room -= size;
            chunks.push(Chunk::Data(data));
        }
        if chunks.len() > before {
            self.burst_left = self.burst_left.saturating_sub(1);
        }
    }

    fn fill_again(&mut self, now: Time, room: &mut u32, chunks: &mut Vec<Chunk>, stats: &mut Stats) {
        for (i, sent) in self.flight.iter_mut().enumerate() {
            if sent.in_flight || sent.acknowledged {
                continue;
            }
            let bytes = u64::from(sent.data.payload_bytes);
            let size = padded(DATA_HEADER_BYTES + u32::from(sent.data.payload_bytes));
            if size > *room {
                break;
            }
            *room -= size;
            sent.in_flight = true;
            sent.missing_reports = 0;
            self.lost_chunks -= 1;
            self.outstanding_bytes += bytes;
            self.peer_rwnd = self.peer_rwnd.saturating_sub(bytes);
            self.fast_retransmit_due = false;
            let tsn = self.acknowledged + 1 + i as u64;
            // Karn: what was sent twice measures nothing.
            self.path.measured = self.path.measured.filter(|&(measured, _)| measured != tsn);
            // RFC 9260 7.2.4: the timer starts anew with the lowest outstanding TSN.
            if i == 0 || self.t3_at.is_none() {
                self.t3_at = Some(now + self.path.rtt.rto());
            }
            stats.data_chunks_sent += 1;
            stats.data_chunks_retransmitted += 1;
            chunks.push(Chunk::Data(sent.data));
        }
    }
}
