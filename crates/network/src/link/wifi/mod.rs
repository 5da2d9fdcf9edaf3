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

mod account;
mod air;
mod config;
mod contention;
mod exchange;
mod medium;
pub mod phy;
pub mod propagation;
mod radio;

pub use self::account::{MediumTime, RadioTime};
pub use self::air::RadioConfig;
use self::air::{Air, Hearing};
pub use self::config::{CellConfig, Freezing};
use self::exchange::Step;
use self::medium::{Ear, Frame};
use self::radio::{Attempt, Radio};
use super::cell::SPEED_OF_LIGHT_M_PER_S;
use super::{Attachment, DropReason, Dropped, Link, LinkStats, Sender};
use crate::mobility::Trajectory;
use crate::packet::Packet;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::mih::wire::link::LinkType;
use roamsim_protocols::{Context, Machine};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The access point's number among the radios; the stations follow.
const ACCESS_POINT: usize = 0;

/// A radio's name in those of random streams.
fn radio_name(number: usize) -> String {
    match number {
        ACCESS_POINT => "access point".to_owned(),
        1 => "station".to_owned(),
        more => format!("station/{}", more - 1),
    }
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    radios: Vec<Radio>,
    ears: Vec<Ear>,
    hearing: Hearing,
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
    /// By attachment, what was sent.
    stats: Vec<LinkStats>,
    medium: MediumTime,
    /// Radios that have a packet.
    contenders: usize,
}

impl Cell {
    /// A silent cell in which all hear each other; `stream(purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(&str) -> Stream) -> Cell {
        Cell::build(config, Hearing::All, stream)
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
        Cell::build(config, Hearing::Given(hears), stream)
    }

    /// A silent cell whose radios hear each other as their places let them: that of the access point is the first, those of the
    /// stations follow. What arrives decides about carrier sense when a frame begins, and about its reception when it ends.
    pub fn with_places(
        config: CellConfig,
        radio: RadioConfig,
        places: Vec<Trajectory>,
        stream: impl Fn(&str) -> Stream,
    ) -> Cell {
        let draws = (0..places.len()).map(|number| stream(&format!("{}/shadowing", radio_name(number))));
        let air = Air::new(radio, places, draws.collect());
        Cell::build(config, Hearing::Placed(air), stream)
    }

    fn build(config: CellConfig, hearing: Hearing, stream: impl Fn(&str) -> Stream) -> Cell {
        let stations = config.rates_bps.len();
        let shared = matches!(hearing, Hearing::All);
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
            let draws = stream(&format!("{}/backoff", radio_name(number)));
            let ear = if shared { 0 } else { number };
            let of = match number as u32 {
                0 => 0..stations as u32,
                station => stations as u32 + station - 1..stations as u32 + station,
            };
            Radio::new(ear, config.cw_min, of, config.queue, draws)
        };
        Cell {
            radios: (0..=stations).map(radio).collect(),
            ears: vec![ear; if shared { 1 } else { stations + 1 }],
            hearing,
            listed: Vec::new(),
            on_air: Vec::new(),
            frames: 0,
            agenda: BinaryHeap::new(),
            steps: 0,
            next_access: None,
            arrived: VecDeque::new(),
            dropped: VecDeque::new(),
            stats: vec![LinkStats::default(); 2 * stations],
            medium: MediumTime::default(),
            contenders: 0,
            config,
        }
    }

    /// How many stations the cell has.
    pub fn station_count(&self) -> usize {
        self.radios.len() - 1
    }

    /// The access point's sub-interface to a station, and the station's interface.
    pub fn attachments_of(&self, station: u32) -> (Attachment, Attachment) {
        let down = Attachment(station);
        (down, self.opposite(down))
    }

    /// What the medium was used for, as the access point heard it; up to the end once the run is over.
    pub fn medium_time(&self) -> MediumTime {
        self.medium
    }

    /// What a radio did: 0 is the access point, the stations follow.
    pub fn radio_time(&self, radio: usize) -> RadioTime {
        self.radios[radio].time
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
        let radio = &mut self.radios[number];
        let idle = radio.head.is_none();
        let taken = match bytes > self.config.mtu_bytes {
            true => Err(DropReason::TooLarge),
            false => radio.queue.enqueue(now, from, packet, idle).map_err(|(_, reason)| reason),
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        if idle {
            radio.next_head(now);
            self.first_packet(now, number);
            self.list(number);
            self.plan();
        }
        self.take_drops(now, number);
        Ok(())
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.pop_front()
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn finish(&mut self, end: Time) {
        self.medium_passes(end);
    }

    fn link_type(&self) -> LinkType {
        LinkType::IEEE_802_11
    }

    fn packets_inside(&self) -> u64 {
        let head = |radio: &Radio| radio.head.as_ref().is_some_and(|head| head.packet.is_some());
        let held = self.radios.iter().map(|radio| radio.queue.length().packets + usize::from(head(radio)));
        (held.sum::<usize>() + self.arrived.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let (number, _) = self.ends(from);
        let radio = &self.radios[number];
        let mut stats = self.stats[from.0 as usize];
        stats.waiting = radio.queue.waited(from, now);
        stats.max_waiting_packets = radio.queue.max_packets(from) as u64;
        if let (Attempt::Since(begin), Some(head)) = (radio.attempt, &radio.head)
            && head.from == from
        {
            stats.busy += now - begin;
        }
        stats
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        let (number, _) = self.ends(from);
        self.radios[number].queue.waiting_packets(from)
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
mod places;
#[cfg(test)]
mod tests;
