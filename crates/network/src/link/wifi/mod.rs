//! An 802.11 cell: the distributed coordination function (IEEE Std 802.11-2007 clause 9.2) between an access point and
//! any number of stations.
//!
//! Attachments of a cell of n stations: 0 to n-1 are the access point's sub-interfaces, one a station; n to 2n-1 are the
//! stations. Stations talk with the access point alone. The access point has one queue and one countdown for all.
//!
//! Modelled: physical and virtual carrier sense (NAV); DIFS, EIFS, SIFS; back-off in slots that freezes while the medium is
//! busy, before frames and after them; collisions; ACK, RTS and CTS; the contention window, and the short and the long retry
//! limit; duplicates, which are acknowledged and dropped; stations that do not hear each other.
//!
//! A file a subject: [`phy`] has the airtimes, `medium` what is on the air and who hears it, `contention` who gets the medium
//! next, `exchange` the frames about a packet, `radio` the queue and the countdown of each.
//!
//! A radio hears what its [`Ear`] hears. Where all hear each other, one ear serves all: its cost is that of what is on the
//! air, not of those who listen. A countdown is arithmetic; stations that have nothing to send are not looked at.
//!
//! Not modelled: propagation (50 m take 0.17 us) and the time that carrier sense takes, so that a slot is one only if two
//! begin at the same nanosecond; capture; bit errors; fragmentation; beacons, scanning, association; rate adaptation; EDCA;
//! power saving.

mod config;
mod contention;
mod exchange;
mod medium;
pub mod phy;
mod radio;

pub use self::config::{CellConfig, Freezing};
use self::exchange::Step;
use self::medium::{Ear, Frame};
use self::radio::{Attempt, Radio, Waiting};
use super::{Attachment, DropReason, Dropped, Link, LinkStats, Sender};
use crate::packet::Packet;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::{Context, Machine};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The access point's number among the radios; the stations follow.
const ACCESS_POINT: usize = 0;

/// The cell.
#[derive(Clone, Debug)]
pub struct Cell {
    config: CellConfig,
    radios: Vec<Radio>,
    ears: Vec<Ear>,
    /// Which radios an ear hears; empty where there is one ear for all.
    hears: Vec<Vec<bool>>,
    /// Radios that count down, or have something to send.
    listed: Vec<usize>,
    on_air: Vec<Frame>,
    frames: u64,
    agenda: BinaryHeap<Reverse<(Time, u64, Step)>>,
    steps: u64,
    /// When the next radio gets the medium, unless the agenda comes first.
    next_access: Option<Time>,
    arrived: VecDeque<(Attachment, Packet)>,
    dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// By attachment: what was sent, and packets in queues.
    stats: Vec<LinkStats>,
    queued: Vec<usize>,
    /// Frame exchanges that failed, by radio: no CTS or no ACK came.
    failures: Vec<u64>,
    /// Frame exchanges that were begun, by radio.
    attempts: Vec<u64>,
}

impl Cell {
    /// A silent cell in which all hear each other; `stream(purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(&str) -> Stream) -> Cell {
        Cell::build(config, Vec::new(), stream)
    }

    /// A silent cell in which radio `i` hears radio `j` where `hears[i][j]`: the access point is the first, the stations
    /// follow.
    pub fn with_hidden(
        config: CellConfig,
        mut hears: Vec<Vec<bool>>,
        stream: impl Fn(&str) -> Stream,
    ) -> Cell {
        for (radio, heard) in hears.iter_mut().enumerate() {
            // Its own frames keep a radio as busy as those of others.
            heard[radio] = true;
        }
        Cell::build(config, hears, stream)
    }

    fn build(config: CellConfig, hears: Vec<Vec<bool>>, stream: impl Fn(&str) -> Stream) -> Cell {
        let stations = config.rates_bps.len();
        let ear = Ear {
            heard: 0,
            busy_since: Time::ZERO,
            idle_since: Time::ZERO,
            ifs: config.timing.difs,
            receiving: None,
            disturbed: false,
            nav: Time::ZERO,
            reserved_by: [0, 0],
        };
        let radio = |number: usize| {
            let name = match number {
                ACCESS_POINT => "access point/backoff".to_owned(),
                1 => "station/backoff".to_owned(),
                more => format!("station/{}/backoff", more - 1),
            };
            Radio::new(if hears.is_empty() { 0 } else { number }, config.cw_min, stream(&name))
        };
        Cell {
            radios: (0..=stations).map(radio).collect(),
            ears: vec![ear; hears.len().max(1)],
            hears,
            listed: Vec::new(),
            on_air: Vec::new(),
            frames: 0,
            agenda: BinaryHeap::new(),
            steps: 0,
            next_access: None,
            arrived: VecDeque::new(),
            dropped: VecDeque::new(),
            stats: vec![LinkStats::default(); 2 * stations],
            queued: vec![0; 2 * stations],
            failures: vec![0; stations + 1],
            attempts: vec![0; stations + 1],
            config,
        }
    }

    /// How many stations the cell has.
    pub fn station_count(&self) -> usize {
        self.radios.len() - 1
    }

    /// Frame exchanges that a radio began, and those of them that failed; 0 is the access point, the stations follow.
    pub fn attempts(&self, radio: usize) -> (u64, u64) {
        (self.attempts[radio], self.failures[radio])
    }

    /// The radio that sends what comes from an attachment, and the one that gets it.
    fn ends(&self, from: Attachment) -> (usize, usize) {
        let from = from.0 as usize;
        match from.checked_sub(self.station_count()) {
            None => (ACCESS_POINT, from + 1),
            Some(station) => (station + 1, ACCESS_POINT),
        }
    }

    /// The attachment at which a packet from another one arrives.
    fn opposite(&self, from: Attachment) -> Attachment {
        let stations = self.station_count() as u32;
        Attachment(if from.0 < stations { from.0 + stations } else { from.0 - stations })
    }

    fn at(&mut self, time: Time, step: Step) {
        self.agenda.push(Reverse((time, self.steps, step)));
        self.steps += 1;
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        let agenda = self.agenda.peek().map(|Reverse((time, ..))| *time);
        [agenda, self.next_access].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        let winners = self.winners(now);
        while let Some(&Reverse((time, _, step))) = self.agenda.peek()
            && time <= now
        {
            self.agenda.pop();
            self.take(now, step);
        }
        for &number in &winners {
            self.begin(now, number);
        }
        self.plan();
    }
}

impl Link for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        let bytes = packet.size_bytes;
        let (number, _) = self.ends(from);
        let reason = if bytes > self.config.mtu_bytes {
            Some(DropReason::TooLarge)
        } else if !self.radios[number].admits(self.config.queue, bytes) {
            Some(DropReason::QueueFull)
        } else {
            None
        };
        if let Some(reason) = reason {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        let first = self.radios[number].queue.is_empty();
        if first {
            self.first_in_queue(now, number);
        }
        let radio = &mut self.radios[number];
        radio.push(Waiting { since: now, from, bytes, packet: Some(packet) });
        self.queued[from.0 as usize] += 1;
        if first {
            self.list(number);
            self.plan();
        }
        let waiting = self.waiting_packets(from, now) as u64;
        let stats = &mut self.stats[from.0 as usize];
        stats.max_waiting_packets = stats.max_waiting_packets.max(waiting);
        Ok(())
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.pop_front()
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn packets_inside(&self) -> u64 {
        let queued =
            self.radios.iter().flat_map(|radio| &radio.queue).filter(|waiting| waiting.packet.is_some());
        (queued.count() + self.arrived.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let (number, _) = self.ends(from);
        let radio = &self.radios[number];
        let mut stats = self.stats[from.0 as usize];
        for (place, waiting) in radio.queue.iter().enumerate().filter(|(_, waiting)| waiting.from == from) {
            // The first of the queue waits no longer once it contends.
            let until = if place == 0 { radio.contends_since } else { now };
            if place > 0
                || (radio.short_retries == 0 && radio.long_retries == 0 && radio.attempt == Attempt::None)
            {
                stats.waiting += until - waiting.since;
            }
        }
        if let (Attempt::Since(begin), Some(head)) = (radio.attempt, radio.queue.front())
            && head.from == from
        {
            stats.busy += now - begin;
        }
        stats
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        let (number, _) = self.ends(from);
        let in_service = self.radios[number].queue.front().is_some_and(|head| head.from == from);
        self.queued[from.0 as usize] - usize::from(in_service)
    }

    fn senders(&self) -> Vec<Sender> {
        let down = (0..self.station_count() as u32).map(Attachment);
        down.flat_map(|down| [down, self.opposite(down)])
            .map(|from| Sender { from, to: Some(self.opposite(from)) })
            .collect()
    }
}

#[cfg(test)]
mod bianchi;
#[cfg(test)]
mod closed_forms;
#[cfg(test)]
mod fairness;
#[cfg(test)]
mod tests;
