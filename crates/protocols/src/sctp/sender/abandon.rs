//! Messages given up, and the FORWARD TSN that tells of them (RFC 3758 3.5).
//!
//! A message is given up as a whole. What has been sent of it stays in `flight`, as abandoned, until the
//! cumulative TSN has passed it. If its end was not sent, that gets a TSN that no packet bears, so that the
//! peer can be moved beyond the message.

use roamsim_engine::Time;

use super::{Fate, Sender, Sent};
use crate::sctp::chunk::{Data, ForwardTsn};
use crate::sctp::paths::Paths;
use crate::sctp::reliability::Reliability;
use crate::sctp::stats::Stats;
use crate::tcp::sequence::to_wire;

/// Octets of a FORWARD TSN chunk before its list of streams (RFC 3758 3.2).
const FORWARD_HEADER_BYTES: u32 = 8;

impl Sender {
    /// Gives up what would be sent next and is not worth it any more.
    pub(in crate::sctp) fn abandon_due(&mut self, now: Time, paths: &mut Paths, stats: &mut Stats) {
        if !self.partial {
            return;
        }
        while let Some(&tsn) = self.lost.first()
            && self.is_lost_for_good(now, tsn)
        {
            self.abandon(tsn, paths, stats);
        }
        while let Some(messages) = self.queue.front()
            && messages.reliability.is_over(now)
        {
            if messages.bytes_left < messages.message_bytes {
                self.end_unsent(paths.current());
                self.abandon(self.highest_sent(), paths, stats);
                continue;
            }
            stats.messages_abandoned += messages.count;
            self.dropped += messages.count;
            self.queue.pop_front();
        }
    }

    /// Whether the chunk of this TSN, which was lost, is not worth sending again. A probe of a closed window,
    /// which the peer need not have taken, is sent again without counting as a retransmission.
    pub(super) fn is_lost_for_good(&self, now: Time, tsn: u64) -> bool {
        let ends =
            |sent: &Sent| sent.reliability.is_over(now) || !sent.probe && sent.reliability.ends_with_a_loss();
        self.partial && ends(&self.flight[(tsn - self.acknowledged - 1) as usize])
    }

    /// Gives up the message of which this TSN is a chunk.
    fn abandon(&mut self, tsn: u64, paths: &mut Paths, stats: &mut Stats) {
        let mut first = (tsn - self.acknowledged - 1) as usize;
        let mut last = first;
        while first > 0 && !self.flight[first].data.beginning {
            first -= 1;
        }
        while last + 1 < self.flight.len() && !self.flight[last].data.ending {
            last += 1;
        }
        if !self.flight[last].data.ending {
            self.end_unsent(usize::from(self.flight[last].path));
            last += 1;
        }
        for place in first..=last {
            self.abandon_chunk(place, paths);
        }
        for path in 0..paths.all.len() {
            let from = paths.all[path].earliest;
            if from != u64::MAX {
                paths.all[path].earliest = self.earliest_on(path, from);
                if paths.all[path].earliest == u64::MAX {
                    paths.all[path].all_acknowledged();
                }
            }
        }
        self.one_packet_due &= !self.lost.is_empty();
        // After T3-rtx new data goes if nothing goes again (RFC 9260 6.1 B).
        self.probing &= !(self.lost.is_empty() && self.outstanding_bytes == 0);
        self.forward_due = self.has_abandoned();
        stats.messages_abandoned += 1;
    }

    fn abandon_chunk(&mut self, place: usize, paths: &mut Paths) {
        let tsn = self.acknowledged + 1 + place as u64;
        let sent = &mut self.flight[place];
        let (bytes, payload_bytes) = (sent.bytes(), u64::from(sent.data.payload_bytes));
        let state = &mut paths.all[usize::from(sent.path)];
        match std::mem::replace(&mut sent.fate, Fate::Abandoned) {
            Fate::InFlight => {
                self.outstanding_bytes -= payload_bytes;
                self.peer_rwnd += payload_bytes;
                state.outstanding_bytes -= bytes;
                self.candidates.remove(&tsn);
            }
            Fate::Lost(_) => {
                self.lost.remove(&tsn);
            }
            Fate::Acknowledged | Fate::Abandoned => {}
        }
        state.measured = state.measured.filter(|&(measured, _)| measured != tsn);
    }

    /// Takes the message that is partly sent out of the queue, and gives its end a TSN.
    fn end_unsent(&mut self, path: usize) {
        let tsn = to_wire(self.base, self.highest_sent() + 1);
        let Some(messages) = self.queue.front_mut() else { return };
        let ssn = &mut self.next_ssn[usize::from(messages.stream)];
        let data = Data {
            tsn,
            stream: messages.stream,
            ssn: if messages.unordered { 0 } else { *ssn },
            protocol: messages.protocol,
            unordered: messages.unordered,
            beginning: false,
            ending: true,
            immediate: false,
            payload_bytes: 0,
        };
        if !messages.unordered {
            *ssn = ssn.wrapping_add(1);
        }
        messages.bytes_left = messages.message_bytes;
        messages.count -= 1;
        if messages.count == 0 {
            self.queue.pop_front();
        }
        self.flight.push_back(Sent {
            data,
            path: path as u16,
            fate: Fate::Abandoned,
            fast_retransmitted: true,
            probe: false,
            several_paths: false,
            missing_reports: 0,
            reliability: Reliability::Full,
        });
    }

    /// Whether the peer can be moved beyond chunks that were given up.
    pub(super) fn has_abandoned(&self) -> bool {
        self.flight.front().is_some_and(|sent| sent.fate == Fate::Abandoned)
    }

    /// Where the FORWARD TSN goes, if one is due: the way of new data; after T3-rtx, of what was lost. It
    /// waits for a path that carries data, because there T3-rtx repeats it.
    pub(in crate::sctp) fn forward_path(&self, paths: &Paths) -> Option<usize> {
        let place = || self.timed_out_on.map_or_else(|| paths.current(), |path| paths.alternate(path));
        self.forward_due.then(place).filter(|&place| paths.all[place].carries())
    }

    /// The FORWARD TSN that is due, which hereby leaves on this path: up to the last of the abandoned chunks
    /// behind the cumulative TSN, or as far as its streams find `room`.
    pub(in crate::sctp) fn forward(
        &mut self,
        now: Time,
        path: usize,
        room: u32,
        paths: &mut Paths,
        stats: &mut Stats,
    ) -> ForwardTsn {
        let mut streams: Vec<(u16, u16)> = Vec::new();
        let mut last = self.acknowledged;
        for sent in self.flight.iter().take_while(|sent| sent.fate == Fate::Abandoned) {
            let Data { stream, ssn, unordered, .. } = sent.data;
            if !unordered {
                match streams.iter().position(|&(known, _)| known == stream) {
                    Some(at) => streams[at].1 = ssn,
                    None if FORWARD_HEADER_BYTES + 4 * (streams.len() as u32 + 1) > room => break,
                    None => streams.push((stream, ssn)),
                }
            }
            last += 1;
        }
        self.forward_due = false;
        self.forward_under_way = Some(path);
        self.timed_out_on = None;
        stats.forward_tsns_sent += 1;
        // RFC 3758 3.5 F2: T3-rtx runs until it is acknowledged.
        let state = &mut paths.all[path];
        if state.t3_at.is_none() {
            state.t3_at = Some(now + state.rtt.rto());
        }
        ForwardTsn { cumulative_tsn: to_wire(self.base, last), streams }
    }

    /// A SACK has been read: the FORWARD TSN has arrived, or goes once more (RFC 3758 3.5 C3).
    pub(super) fn forward_again(&mut self, paths: &mut Paths) {
        self.forward_due = self.has_abandoned();
        self.timed_out_on = self.timed_out_on.filter(|_| self.forward_due);
        if self.forward_under_way.is_some() && !self.forward_due {
            self.forward_under_way = None;
            let idle = paths.all.iter_mut().filter(|state| state.earliest == u64::MAX);
            idle.for_each(|state| state.all_acknowledged());
        }
    }
}
