//! Rate control: at which rate a transmitter sends its next data frame to a receiver.
//!
//! Each transmitter decides for each of its receivers by what it knows itself: which of its exchanges were
//! answered, and how strong the frames of the receiver arrived. A rate is chosen where an exchange begins and
//! holds for all of it; the rates of RTS, CTS and ACK follow from it (clause 9.6). The standard leaves the
//! choice open (clause 9.6).
//!
//! An exchange failed where no ACK came, or no CTS: the rate of RTS frames follows that of data.
//!
//! A file an algorithm: [`arf`], [`by_signal`], [`minstrel`].
//!
//! Not modelled: rates of broadcasts and of management frames, which stay the lowest basic one.

pub mod arf;
pub mod by_signal;
pub mod minstrel;

use self::arf::{Arf, ArfConfig};
use self::by_signal::{BySignal, BySignalConfig};
pub(crate) use self::minstrel::{Backoff, Chain};
use self::minstrel::{Minstrel, MinstrelConfig};
use crate::link::Attachment;
use crate::link::wifi::index::{ByRadio, RadioIndex};
use roamsim_engine::{Span, Stream, Time};
use std::collections::BTreeMap;

/// How transmitters choose the rates of their data frames.
#[derive(Clone, Debug, PartialEq)]
pub enum RateControl {
    /// By the power of what the receiver sent.
    BySignal(BySignalConfig),
    /// By acknowledgements that come, and those that do not: ARF and AARF.
    Arf(ArfConfig),
    /// By how many exchanges at each rate were answered: Minstrel.
    Minstrel(MinstrelConfig),
}

/// Attempts of one transmitter to one receiver at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateAttempts {
    /// The rate.
    pub rate_bps: u64,
    /// Exchanges begun whose outcome is known.
    pub attempts: u64,
    /// Those of them to which no ACK or no CTS came.
    pub failed_attempts: u64,
}

/// The rates of all transmitters of a medium.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    /// In ascending order.
    rates_bps: Vec<u64>,
    access_points: usize,
    stations: usize,
    /// By access point and station: first the access point's to the station, then the station's.
    pairs: Vec<Pair>,
    /// By transmitter.
    random: ByRadio<Stream>,
    log: Option<RateLog>,
}

/// The rates of data frames over time: what changed.
#[derive(Clone, Debug, Default)]
struct RateLog {
    /// By attachment, the last rate.
    last_bps: BTreeMap<u32, u64>,
    changes: Vec<RateChange>,
}

/// A packet's attachment sends at another rate from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// The instant.
    pub at: Time,
    /// The attachment.
    pub from: Attachment,
    /// The rate.
    pub rate_bps: u64,
}

/// A transmitter and one of its receivers.
#[derive(Clone, Debug)]
struct Pair {
    state: State,
    /// By rate: attempts, and those that failed.
    tried: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
enum State {
    BySignal(BySignal),
    Arf(Arf),
    Minstrel(Minstrel),
}

impl Rates {
    /// All begin at the lowest of the rates, which are in ascending order, each with what an exchange takes
    /// at it; between attempts at a frame there is back-off. So many transmitters are access points; each has
    /// a random stream.
    pub fn new(
        control: &RateControl,
        rates: &[(u64, Span)],
        backoff: Backoff,
        access_points: usize,
        random: ByRadio<Stream>,
    ) -> Rates {
        let (rates_bps, exchanges): (Vec<u64>, Vec<Span>) = rates.iter().copied().unzip();
        let state = match control {
            RateControl::BySignal(config) => State::BySignal(BySignal::new(config, &rates_bps)),
            RateControl::Arf(config) => State::Arf(Arf::new(*config)),
            RateControl::Minstrel(config) => State::Minstrel(Minstrel::new(*config, &exchanges, backoff)),
        };
        let pair = Pair { state, tried: vec![(0, 0); rates_bps.len()] };
        let stations = random.len() - access_points;
        Rates {
            rates_bps,
            access_points,
            stations,
            pairs: vec![pair; 2 * access_points * stations],
            random,
            log: None,
        }
    }

    /// The place of a pair; two stations, or two access points, are none.
    fn place(&self, from: RadioIndex, to: RadioIndex) -> Option<usize> {
        let (access_point, station, up) = if from < to { (from, to, 0) } else { (to, from, 1) };
        let station = station.0.checked_sub(self.access_points)?;
        let is_pair = access_point.0 < self.access_points && station < self.stations;
        is_pair.then_some(2 * (access_point.0 * self.stations + station) + up)
    }

    /// The place of the highest rate that is not above `most_bps`.
    fn top(&self, most_bps: u64) -> usize {
        self.rates_bps.iter().rposition(|&bps| bps <= most_bps).unwrap_or_default()
    }

    /// The rate of the next attempt at a data frame at which so many have failed, of as many as there may be;
    /// none above `most_bps`. The frame keeps what is decided at its first attempt about the further ones.
    pub fn choose_bps(
        &mut self,
        now: Time,
        (from, to): (RadioIndex, RadioIndex),
        (failed, limit): (u32, u32),
        most_bps: u64,
        chain: &mut Option<Chain>,
    ) -> u64 {
        let Some(place) = self.place(from, to) else { return most_bps };
        let top = self.top(most_bps);
        let rate = match &mut self.pairs[place].state {
            State::BySignal(state) => state.rate(),
            State::Arf(state) => state.rate(),
            State::Minstrel(state) => {
                let random = &mut self.random[from];
                chain.get_or_insert_with(|| state.chain(now, random, limit, top)).rate(failed)
            }
        };
        self.rates_bps[rate].min(most_bps)
    }

    /// An exchange at a rate, of those between two that have no rate above `most_bps`, was answered, or was
    /// not.
    pub fn ends(&mut self, from: RadioIndex, to: RadioIndex, rates_bps: (u64, u64), answered: bool) {
        let (rate_bps, most_bps) = rates_bps;
        let Some(place) = self.place(from, to) else { return };
        let top = self.top(most_bps);
        let rate = self.rates_bps.iter().position(|&bps| bps == rate_bps).unwrap_or_default();
        let Pair { state, tried } = &mut self.pairs[place];
        tried[rate].0 += 1;
        tried[rate].1 += u64::from(!answered);
        match state {
            State::BySignal(state) => state.ends(answered),
            State::Arf(state) => state.ends(answered, top),
            State::Minstrel(state) => state.ends(rate, answered),
        }
    }

    /// Keeps what changes from now on.
    pub fn keep_changes(&mut self) {
        self.log = Some(RateLog::default());
    }

    /// A data frame of an attachment goes at this rate.
    pub fn goes(&mut self, at: Time, from: Attachment, rate_bps: u64) {
        if let Some(log) = &mut self.log
            && log.last_bps.insert(from.0, rate_bps) != Some(rate_bps)
        {
            log.changes.push(RateChange { at, from, rate_bps });
        }
    }

    /// What has changed, in order; nothing unless it is kept.
    pub fn changes(&self) -> &[RateChange] {
        self.log.as_ref().map_or(&[], |log| &log.changes)
    }

    /// A radio has understood a frame of another one, which arrived with this power.
    pub fn hears(&mut self, radio: RadioIndex, from: RadioIndex, signal_dbm: f64) {
        if let Some(place) = self.place(radio, from)
            && let State::BySignal(state) = &mut self.pairs[place].state
        {
            state.hears(signal_dbm);
        }
    }

    /// What was sent from one radio to another, rate by rate.
    pub fn tried(&self, from: RadioIndex, to: RadioIndex) -> Vec<RateAttempts> {
        let Some(place) = self.place(from, to) else { return Vec::new() };
        let tried = self.rates_bps.iter().zip(&self.pairs[place].tried);
        tried
            .map(|(&rate_bps, &(attempts, failed_attempts))| RateAttempts {
                rate_bps,
                attempts,
                failed_attempts,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    mod cells;

    use super::*;

    const BACKOFF: Backoff = Backoff { slot: Span::from_us(20), cw_min: 31, cw_max: 1023 };

    /// Of so many access points and stations.
    fn arf(access_points: usize, stations: usize) -> Rates {
        let rates = [1_000_000, 2_000_000, 5_500_000, 11_000_000].map(|bps| (bps, Span::from_ms(1)));
        let random = vec![crate::link::testing::stream("rates"); access_points + stations];
        Rates::new(&RateControl::Arf(ArfConfig::ARF), &rates, BACKOFF, access_points, random.into())
    }

    #[test]
    fn each_transmitter_decides_for_each_receiver() {
        let mut rates = arf(2, 3);
        // Station 3 is the second of them: ten answers bring it to 2 Mb/s at access point 0, and nowhere
        // else.
        (0..10).for_each(|_| rates.ends(RadioIndex(3), RadioIndex(0), (1_000_000, 11_000_000), true));
        for from in 0..5 {
            for to in 0..5 {
                let expected = match (from, to) {
                    (3, 0) => 2_000_000,
                    // Access points do not send to each other, nor stations: their frames have the rate that
                    // they have.
                    (0 | 1, 0 | 1) | (2.., 2..) => 11_000_000,
                    _ => 1_000_000,
                };
                assert_eq!(
                    rates.choose_bps(
                        Time::ZERO,
                        (RadioIndex(from), RadioIndex(to)),
                        (0, 7),
                        11_000_000,
                        &mut None
                    ),
                    expected,
                    "{from} to {to}"
                );
            }
        }
        let attempts = |from, to| {
            rates
                .tried(RadioIndex(from), RadioIndex(to))
                .iter()
                .map(|tried| tried.attempts)
                .collect::<Vec<_>>()
        };
        assert_eq!(attempts(3, 0), [10, 0, 0, 0]);
        assert_eq!(attempts(0, 3), [0; 4]);
    }

    #[test]
    fn no_rate_is_above_the_highest_of_a_pair() {
        let mut rates = arf(1, 1);
        for _ in 0..100 {
            let rate_bps =
                rates.choose_bps(Time::ZERO, (RadioIndex(0), RadioIndex(1)), (0, 7), 5_500_000, &mut None);
            assert!(rate_bps <= 5_500_000);
            rates.ends(RadioIndex(0), RadioIndex(1), (rate_bps, 5_500_000), true);
        }
        // And one failure more than one is what leads down: it did not climb further than it sent.
        assert_eq!(
            rates.choose_bps(Time::ZERO, (RadioIndex(0), RadioIndex(1)), (0, 7), 11_000_000, &mut None),
            5_500_000
        );
    }

    #[test]
    fn two_frames_for_one_receiver_have_a_chain_each() {
        let config = MinstrelConfig { lookaround_percent: 100, ..MinstrelConfig::MAC80211 };
        let four = [1_000_000, 2_000_000, 5_500_000, 11_000_000].map(|bps| (bps, Span::from_ms(1)));
        let random = vec![crate::link::testing::stream("rates"); 2];
        let mut rates = Rates::new(&RateControl::Minstrel(config), &four, BACKOFF, 1, random.into());
        let (mut video, mut voice) = (None, None);
        let mut choose = |failed, chain: &mut Option<Chain>| {
            rates.choose_bps(Time::ZERO, (RadioIndex(1), RadioIndex(0)), (failed, 7), 11_000_000, chain)
        };
        // Nothing is known: one attempt at a rate that is drawn, and the lowest.
        let first = choose(0, &mut video);
        // Another category of the station comes between its attempts, until it draws something else.
        let other = (0..100).map(|_| (choose(0, &mut voice), voice.take())).find(|&(bps, _)| bps != first);
        let Some((other, mut voice)) = other else { panic!("one rate of three") };
        let mut further = |chain: &mut Option<Chain>| [0, 1, 6].map(|failed| choose(failed, chain));
        assert_eq!(further(&mut video), [first, 1_000_000, 1_000_000]);
        assert_eq!(further(&mut voice), [other, 1_000_000, 1_000_000]);
        assert_eq!(further(&mut video), [first, 1_000_000, 1_000_000]);
    }
}
