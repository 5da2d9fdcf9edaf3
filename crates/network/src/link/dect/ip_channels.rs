//! The Ip channels of all bearers in one direction: what each carries, and one frame of all of them.
//!
//! The bearers of a frame work side by side, and of most frames nothing is to be found out but that no
//! subfield fails. So all subfields of one state are looked at together first, and bearers one by one only in
//! a state in which any fails.

use super::bearers::{Bearers, Places, for_each, half_and_bit};
use super::errors::{ErrorProcess, SUBFIELDS};
use super::ip_channel::{AFields, Attempt, IpPacket, IpStats};
use super::lu2::Lu2;
use super::mac::Quality;
use std::collections::VecDeque;
use std::ops::Range;

/// What becomes of an unfinished packet of the Ip channel whose bearer is released or handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedPackets {
    /// It is lost.
    Lost,
    /// The next idle bearer goes on with it.
    Kept,
}

/// The settings of the Ip channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpConfig {
    /// Attempts before a packet is discarded. 10: the paper.
    pub max_attempts: u32,
    /// Lost: chosen, because the standard's MAC begins anew on a new bearer.
    pub unfinished: UnfinishedPackets,
}

/// Those of one direction.
#[derive(Debug)]
pub(super) struct IpChannels {
    config: IpConfig,
    /// By place, the unfinished packet of a bearer; of an idle one, a packet that has not been sent.
    packets: Vec<IpPacket>,
    /// The bearers with unfinished packets, how many these are, and how many of their subfields have arrived.
    busy: Places,
    unfinished: usize,
    arrived_subfields: u64,
    /// Unfinished packets that look for a bearer.
    orphans: VecDeque<IpPacket>,
    pub stats: IpStats,
}

impl IpChannels {
    /// All idle.
    pub fn new(config: IpConfig) -> IpChannels {
        IpChannels {
            config,
            packets: Vec::new(),
            busy: Places::default(),
            unfinished: 0,
            arrived_subfields: 0,
            orphans: VecDeque::new(),
            stats: IpStats::default(),
        }
    }

    /// A frame begins with so many bearers: idle ones go on with orphans. How many stay idle.
    #[inline]
    pub fn begin_frame(&mut self, bearers: usize) -> usize {
        if self.packets.len() < bearers {
            self.packets.resize(bearers, IpPacket::new(0));
        }
        if !self.orphans.is_empty() {
            self.resume(bearers);
        }
        bearers - self.unfinished
    }

    #[cold]
    fn resume(&mut self, bearers: usize) {
        for place in 0..bearers {
            if !self.busy.has(place)
                && let Some(orphan) = self.orphans.pop_front()
            {
                self.packets[place] = orphan;
                self.keep(place);
            }
        }
    }

    /// The packet at a place is unfinished.
    #[inline]
    fn keep(&mut self, place: usize) {
        let (half, bit) = half_and_bit(place);
        self.busy.0[half] |= bit;
        self.unfinished += 1;
        self.arrived_subfields += u64::from(SUBFIELDS - self.packets[place].missing());
    }

    /// Whether any packet is to be repeated.
    #[inline]
    pub fn has_unfinished(&self) -> bool {
        self.unfinished > 0 || !self.orphans.is_empty()
    }

    /// So many bearers are busy.
    #[inline]
    pub fn busy_bearers(&self) -> u64 {
        self.unfinished as u64
    }

    /// One frame: unfinished packets are repeated, and the oldest idle bearers take `new`, of which there are
    /// no more than these. `a_fields` has an entry a bearer, or none if all A fields arrive.
    #[inline]
    pub fn send(
        &mut self,
        new: Range<u64>,
        bearers: &Bearers,
        a_fields: &[AFields],
        errors: &mut ErrorProcess,
        lu2: &mut Lu2,
    ) {
        let count = new.end - new.start;
        let used = self.unfinished as u64 + count;
        self.stats.packets += count;
        self.stats.attempts += used;
        self.stats.received += used;
        let places = match used == bearers.count() as u64 {
            true => bearers.all,
            false => self.busy.map(self.first_idle(count as usize), |busy, idle| busy | idle),
        };
        let missing = if a_fields.is_empty() {
            let bad = places.map(bearers.bad, |places, bad| places & bad);
            let in_bad = self.subfields(bad);
            let in_good = used * u64::from(SUBFIELDS) - self.arrived_subfields - in_bad;
            let good_at_risk = errors.may_fail(Quality::Good, in_good);
            let bad_at_risk = errors.may_fail(Quality::Bad, in_bad);
            // Those in the good state where any of these may fail, and so of those in the bad one.
            let at_risk = places.map(bad, |places, bad| (places ^ bad) & good_at_risk | bad & bad_at_risk);
            self.attempt(at_risk, new.start, bearers, errors, lu2)
        } else {
            self.attempt_amid_a_field_errors(places, new.start, (bearers, a_fields), errors, lu2)
        };
        if count > 0 {
            match missing {
                0 => lu2.receive_all(new.start, count),
                _ => lu2.receive(new.start, !(u128::MAX << count) & !missing),
            }
        }
    }

    /// The subfields that some bearers send.
    #[inline(always)]
    fn subfields(&self, places: Places) -> u64 {
        let mut subfields = 0;
        for_each(places.0[0], |place, _| subfields += u64::from(self.packets[place].missing()));
        for_each(places.0[1], |place, _| subfields += u64::from(self.packets[64 + place].missing()));
        subfields
    }

    /// So many idle bearers, the oldest.
    #[inline]
    fn first_idle(&self, count: usize) -> Places {
        let mut end = count;
        for_each(self.busy.0[0], |place, _| end += usize::from(place < end));
        for_each(self.busy.0[1], |place, _| end += usize::from(64 + place < end));
        Places::before(end).map(self.busy, |before, busy| before & !busy)
    }

    /// Attempts of those bearers of which any may fail, and what becomes of the unfinished packets of the
    /// others, which arrive. `first` is the first new fragment. Returns which of the new ones, counted from
    /// it, have not arrived: the window is narrower than 128.
    #[inline]
    fn attempt(
        &mut self,
        at_risk: Places,
        first: u64,
        bearers: &Bearers,
        errors: &mut ErrorProcess,
        lu2: &mut Lu2,
    ) -> u128 {
        let repeated = self.busy;
        if at_risk.map(repeated, |at_risk, repeated| at_risk | repeated).is_empty() {
            return 0;
        }
        (self.unfinished, self.arrived_subfields) = (0, 0);
        let half = Half { number: 0, at_risk: at_risk.0[0], repeated: repeated.0[0], bad: bearers.bad.0[0] };
        let missing = u128::from(self.attempt_half(half, first, errors, lu2));
        if at_risk.0[1] | repeated.0[1] == 0 {
            return missing;
        }
        let half = Half { number: 1, at_risk: at_risk.0[1], repeated: repeated.0[1], bad: bearers.bad.0[1] };
        let new_before = 64 - repeated.0[0].count_ones();
        missing
            | u128::from(self.attempt_half(half, first + u64::from(new_before), errors, lu2)) << new_before
    }

    /// The same for half of the places; `first` is the first new fragment there.
    #[inline(never)]
    fn attempt_half(&mut self, half: Half, first: u64, errors: &mut ErrorProcess, lu2: &mut Lu2) -> u64 {
        let Half { number: half, at_risk, repeated, bad } = half;
        let packets = &mut self.packets[half * 64..];
        let (mut missing, mut arrived, mut busy) = (0, repeated, 0);
        let (mut failed, mut unfinished, mut arrived_subfields) = (0, 0, 0);
        for_each(at_risk, |place, bit| {
            let packet = &mut packets[place];
            let quality = if bad & bit == 0 { Quality::Good } else { Quality::Bad };
            let failing = errors.failed(quality, packet.missing());
            if failing == 0 {
                return;
            }
            failed += 1;
            arrived &= !bit;
            if repeated & bit == 0 {
                let number = place as u64 - repeated_before(repeated, bit);
                packet.fragment = first + number;
                missing |= 1 << number;
            }
            if packet.fail(failing, self.config.max_attempts) {
                *packet = IpPacket::new(0);
            } else {
                busy |= bit;
                unfinished += 1;
                arrived_subfields += u64::from(SUBFIELDS - failing);
            }
        });
        for_each(arrived, |place, _| {
            lu2.receive_one(packets[place].fragment);
            packets[place] = IpPacket::new(0);
        });
        self.busy.0[half] = busy;
        self.unfinished += unfinished;
        self.arrived_subfields += arrived_subfields;
        self.stats.received -= failed;
        self.stats.in_error += failed;
        self.stats.discarded += failed - unfinished as u64;
        missing
    }

    /// The same of all bearers that are used, where A fields can fail.
    #[cold]
    #[inline(never)]
    fn attempt_amid_a_field_errors(
        &mut self,
        places: Places,
        first: u64,
        (bearers, a_fields): (&Bearers, &[AFields]),
        errors: &mut ErrorProcess,
        lu2: &mut Lu2,
    ) -> u128 {
        let repeated = std::mem::take(&mut self.busy);
        (self.unfinished, self.arrived_subfields) = (0, 0);
        let (mut missing, mut number) = (0, 0);
        for place in (0..bearers.count()).filter(|&place| places.has(place)) {
            let packet = &mut self.packets[place];
            let was_received = packet.is_received();
            let a_fields = a_fields.get(place).copied().unwrap_or(AFields::CORRECT);
            let attempt = packet.attempt(errors, bearers.quality(place), a_fields, self.config.max_attempts);
            let received = matches!(attempt, Attempt::Received { .. });
            self.stats.received -= u64::from(!received);
            self.stats.in_error += u64::from(!received && !was_received);
            if !repeated.has(place) {
                packet.fragment = first + number;
                missing |= u128::from(!received) << number;
                number += 1;
            } else if received {
                lu2.receive_one(packet.fragment);
            }
            match attempt {
                Attempt::Incomplete | Attempt::Received { acknowledged: false } => self.keep(place),
                Attempt::Received { acknowledged: true } | Attempt::Acknowledged | Attempt::Discarded => {
                    self.stats.discarded += u64::from(attempt == Attempt::Discarded);
                    self.packets[place] = IpPacket::new(0);
                }
            }
        }
        missing
    }

    /// The bearer at a place is gone, and those behind it move up.
    pub fn bearer_lost(&mut self, place: usize) {
        if place >= self.packets.len() {
            return;
        }
        let packet = self.packets.remove(place);
        let was_busy = self.busy.has(place);
        self.busy = self.busy.without(place);
        if !was_busy {
            return;
        }
        self.unfinished -= 1;
        self.arrived_subfields -= u64::from(SUBFIELDS - packet.missing());
        if packet.is_received() {
            return;
        }
        match self.config.unfinished {
            UnfinishedPackets::Lost => self.stats.lost_with_bearer += 1,
            UnfinishedPackets::Kept => self.orphans.push_back(packet),
        }
    }

    /// The packets that are unfinished, with the places of their bearers.
    #[cfg(test)]
    pub fn carried(&self) -> Vec<(usize, u64)> {
        let mut carried = Vec::new();
        for (place, packet) in self.packets.iter().enumerate().filter(|&(place, _)| self.busy.has(place)) {
            carried.push((place, packet.fragment));
        }
        carried
    }
}

/// Half of the bearers: which may fail, which have an unfinished packet, and which are in the bad state.
struct Half {
    number: usize,
    at_risk: u64,
    repeated: u64,
    bad: u64,
}

/// How many of some places in a half are before that of a bit.
#[inline]
fn repeated_before(repeated: u64, bit: u64) -> u64 {
    if repeated == 0 { 0 } else { (repeated & (bit - 1)).count_ones().into() }
}
