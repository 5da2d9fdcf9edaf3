//! Who hears whom: all, some, or those whom place and power let hear each other.

use super::config::{CaptureConfig, RadioConfig, SinrConfig};
use super::edge::Edge;
use super::frame::{Frame, Heard, Signal};
use super::reach::Reach;
use super::shadowing::{Pairs, Redrawn};
use crate::link::propagation::Propagation;
use crate::link::wifi::index::{ByRadio, RadioIndex};
use crate::link::wifi::watched::are_few;
use crate::mobility::{Point, Trajectory};
use roamsim_engine::{Stream, Time};

/// Who hears whom.
#[derive(Clone, Debug)]
pub enum Hearing {
    /// All hear each other.
    All,
    /// Radio `i` hears radio `j` where `[i][j]`.
    Given(Vec<Vec<bool>>),
    /// By place and power.
    Placed(Box<Air>),
}

/// Radios at places that are functions of time.
#[derive(Clone, Debug)]
pub struct Air {
    config: RadioConfig,
    places: ByRadio<Trajectory>,
    reach: Reach,
    /// How far frames make the medium busy; by rate, how far they are understood; and those of other rates.
    sensed: Edge,
    understood: Vec<(u64, Edge)>,
    understood_otherwise: Edge,
    /// Of each radio that stands and has sent, those that stand in its reach, and what arrives there without
    /// shadowing.
    standing: ByRadio<Option<Vec<(RadioIndex, f64)>>>,
    /// The shadowing of what each radio receives.
    draws: ByRadio<Stream>,
    /// By channel, how many frames have begun there; by radio, how many of them it has drawn for, or need
    /// not. Where shadowing is drawn for each frame: who is out of reach passes over its draws when it is the
    /// next time in reach.
    begun: Vec<u64>,
    drawn: ByRadio<u64>,
    /// The shadowing of pairs that keep theirs.
    pairs: Pairs,
    /// What decides whether each radio understands a frame, where that is random.
    receptions: ByRadio<Stream>,
}

impl Air {
    /// `stream(purpose, radio)` gives the random streams.
    pub fn new(
        config: RadioConfig,
        places: Vec<Trajectory>,
        stream: impl Fn(&str, RadioIndex) -> Stream,
    ) -> Air {
        let places = ByRadio::from(places);
        let draws = places.numbers().map(|radio| stream("shadowing", radio)).collect();
        let deciding = if config.sinr.is_some() { places.len() } else { 0 };
        let receptions = (0..deciding).map(|radio| stream("reception", RadioIndex(radio))).collect();
        let (standing, drawn) = (vec![None; places.len()].into(), vec![0; places.len()].into());
        let (reach, pairs, begun) = (Reach::new(&config, &places), Pairs::default(), Vec::new());
        let sensed = Edge::new(config.carrier_sense_threshold_dbm);
        let of_rate = |&(rate_bps, least_dbm): &(u64, f64)| (rate_bps, Edge::new(least_dbm));
        let understood = config.thresholds_by_rate.iter().map(of_rate).collect();
        let understood_otherwise = Edge::new(config.least_threshold_dbm());
        Air {
            config,
            places,
            reach,
            sensed,
            understood,
            understood_otherwise,
            standing,
            draws,
            begun,
            drawn,
            pairs,
            receptions,
        }
    }

    #[inline(always)]
    pub fn sinr(&self) -> Option<SinrConfig> {
        self.config.sinr
    }

    #[inline(always)]
    pub fn capture(&self) -> Option<CaptureConfig> {
        self.config.capture
    }

    /// What arrives without shadowing.
    #[inline(never)]
    fn work_out_dbm(&self, at: RadioIndex, from: RadioIndex, now: Time) -> f64 {
        let distance_m = self.places[at].distance_m(now, self.places[from].position(now));
        self.config.propagation.received_dbm(distance_m)
    }

    /// The power with which a frame arrives.
    #[inline(always)]
    fn power_dbm(&self, (at, signal): Heard, from: RadioIndex, now: Time) -> f64 {
        signal.standing_dbm.unwrap_or_else(|| self.work_out_dbm(at, from, now)) + signal.shadowing_db
    }

    /// Whether a frame that ends now is strong enough for its rate.
    fn understands(&self, heard: Heard, frame: &Frame, now: Time) -> bool {
        let (at, signal) = heard;
        if signal.standing_dbm.is_some() || !self.is_plain() {
            return self.power_dbm(heard, frame.from, now) >= self.config.threshold_dbm(frame.rate_bps);
        }
        let square_m2 = self.places[at].position(now).square_m2(self.places[frame.from].position(now));
        let own = self.understood.iter().find(|(of_bps, _)| *of_bps == frame.rate_bps);
        let edge = own.map_or(&self.understood_otherwise, |(_, edge)| edge);
        edge.is_within(square_m2, &self.config.propagation)
    }

    /// A radio that stands sends for the first time.
    #[inline(never)]
    fn know_standing(&mut self, from: RadioIndex, now: Time) {
        let around = self.reach.standing(self.places[from].position(now));
        self.standing[from] = Some(around.iter().map(|&at| (at, self.work_out_dbm(at, from, now))).collect());
    }

    /// Who hears a frame that begins now, in order.
    #[inline(never)]
    fn heard_by(&mut self, from: RadioIndex, now: Time, channels: &ByRadio<u8>) -> Vec<Heard> {
        let channel = channels[from];
        let mut heard = Vec::new();
        let stands = self.places[from].is_fixed();
        if stands && self.standing[from].is_none() {
            self.know_standing(from, now);
        }
        let origin = self.places[from].position(now);
        let mut hear = |air: &mut Air, radio: RadioIndex, standing_dbm: Option<f64>| {
            if radio == from {
                heard.push((radio, Signal { shadowing_db: 0.0, standing_dbm }));
            } else if channels[radio] == channel {
                heard.extend(air.senses(radio, (from, origin, channel), now, standing_dbm));
            }
        };
        let around = self.standing[from].take();
        let mut known = around.iter().flatten().map(|&(radio, dbm)| (radio, Some(dbm))).peekable();
        if are_few(self.places.len()) {
            for radio in self.places.numbers() {
                let dbm = known.next_if(|&(at, _)| at == radio).and_then(|(_, dbm)| dbm);
                hear(self, radio, dbm);
            }
        } else {
            let mut moving = self.reach.moving(origin, &self.places, now).into_iter().peekable();
            let unknown = match around {
                Some(_) => Vec::new(),
                None => self.reach.standing(origin),
            };
            for (radio, standing_dbm) in known.chain(unknown.into_iter().map(|radio| (radio, None))) {
                while let Some(before) = moving.next_if(|&before| before < radio) {
                    hear(self, before, None);
                }
                hear(self, radio, standing_dbm);
            }
            moving.for_each(|radio| hear(self, radio, None));
        }
        self.standing[from] = around;
        self.begins(from, channel);
        heard
    }

    /// Whether shadowing is drawn for each frame and receiver.
    fn draws_per_frame(&self) -> bool {
        self.config.shadowing == Redrawn::PerFrame && self.config.propagation.shadowing_deviation_db != 0.0
    }

    /// A frame has begun, for which its sender draws nothing.
    fn begins(&mut self, from: RadioIndex, channel: u8) {
        if self.draws_per_frame() {
            self.catch_up(from, channel);
            self.drawn[from] += 1;
            self.begun[usize::from(channel)] += 1;
        }
    }

    /// A radio passes over what it would have drawn for frames of its channel that were out of its reach.
    fn catch_up(&mut self, radio: RadioIndex, channel: u8) {
        let channel = usize::from(channel);
        if self.begun.len() <= channel {
            self.begun.resize(channel + 1, 0);
        }
        let missed = self.begun[channel] - self.drawn[radio];
        self.draws[radio].skip(missed * Propagation::DRAWS);
        self.drawn[radio] = self.begun[channel];
    }

    /// A radio goes from one channel to another.
    fn tunes(&mut self, radio: RadioIndex, [before, after]: [u8; 2]) {
        if self.draws_per_frame() {
            self.catch_up(radio, before);
            self.drawn[radio] = self.begun.get(usize::from(after)).copied().unwrap_or_default();
        }
    }

    /// The shadowing of a pair that keeps it for a while.
    #[inline(never)]
    fn shadowing_of(&mut self, radio: RadioIndex, from: RadioIndex, now: Time) -> f64 {
        let (a, b) = (radio.min(from), radio.max(from));
        let RadioConfig { propagation, shadowing, .. } = &self.config;
        let walks = (&self.places[a], &self.places[b]);
        self.pairs.db(propagation, *shadowing, &self.draws[a], ((a, b), now), walks)
    }

    /// Whether power depends on distance alone.
    fn is_plain(&self) -> bool {
        self.config.shadowing == Redrawn::PerFrame && self.config.propagation.shadowing_deviation_db == 0.0
    }

    /// Whether a frame that begins now at a place makes the medium busy at a radio of its channel.
    #[inline]
    fn senses(
        &mut self,
        radio: RadioIndex,
        (from, origin, channel): (RadioIndex, Point, u8),
        now: Time,
        standing_dbm: Option<f64>,
    ) -> Option<Heard> {
        if standing_dbm.is_none() {
            let square_m2 = self.places[radio].position(now).square_m2(origin);
            if self.is_plain() {
                let senses = self.sensed.is_within(square_m2, &self.config.propagation);
                return senses.then_some((radio, Signal { shadowing_db: 0.0, standing_dbm }));
            }
            if !self.reach.covers(square_m2.sqrt()) {
                return None;
            }
        }
        if self.draws_per_frame() {
            self.catch_up(radio, channel);
            self.drawn[radio] += 1;
        }
        self.draws_shadowing(radio, from, now, standing_dbm)
    }

    /// Whether a radio senses a frame, with the shadowing that is drawn now.
    #[inline]
    fn draws_shadowing(
        &mut self,
        radio: RadioIndex,
        from: RadioIndex,
        now: Time,
        standing_dbm: Option<f64>,
    ) -> Option<Heard> {
        let shadowing_db = match self.config.shadowing {
            Redrawn::PerFrame => self.config.propagation.shadowing_db(&mut self.draws[radio]),
            Redrawn::PerCoherenceTime(_) | Redrawn::ByDistance { .. } => self.shadowing_of(radio, from, now),
        };
        let heard = (radio, Signal { shadowing_db, standing_dbm });
        (self.power_dbm(heard, from, now) >= self.config.carrier_sense_threshold_dbm).then_some(heard)
    }
}

impl Hearing {
    /// Whether and how frames are captured.
    #[inline(always)]
    pub fn capture(&self) -> Option<CaptureConfig> {
        match self {
            Hearing::All | Hearing::Given(_) => None,
            Hearing::Placed(air) => air.capture(),
        }
    }

    /// Whether frames are received by signal, interference and noise.
    #[inline(always)]
    pub fn sinr(&self) -> Option<SinrConfig> {
        match self {
            Hearing::All | Hearing::Given(_) => None,
            Hearing::Placed(air) => air.sinr(),
        }
    }

    /// Who hears a frame that begins now. A radio hears itself, which keeps it as busy as others do. Nobody
    /// is named where all hear it: they share one ear.
    pub fn heard_by(&mut self, from: RadioIndex, now: Time, channels: &ByRadio<u8>) -> Vec<Heard> {
        match self {
            Hearing::All => Vec::new(),
            Hearing::Given(hears) => {
                let plain = Signal { shadowing_db: 0.0, standing_dbm: None };
                let radios = (0..hears.len()).map(RadioIndex);
                radios.filter(|radio| hears[radio.0][from.0]).map(|radio| (radio, plain)).collect()
            }
            Hearing::Placed(air) => air.heard_by(from, now, channels),
        }
    }

    /// A radio goes from one channel to another.
    pub fn tunes(&mut self, radio: RadioIndex, channels: [u8; 2]) {
        if let Hearing::Placed(air) = self {
            air.tunes(radio, channels);
        }
    }

    /// Whether a radio that has come to a channel senses a frame that is on the air there.
    pub fn senses(&mut self, radio: RadioIndex, from: RadioIndex, now: Time) -> Option<Heard> {
        match self {
            Hearing::All | Hearing::Given(_) => None,
            Hearing::Placed(air) => air.draws_shadowing(radio, from, now, None),
        }
    }

    /// The power of a frame that ends now at a radio, in dBm.
    pub fn signal_dbm(&self, heard: Heard, from: RadioIndex, now: Time) -> Option<f64> {
        match self {
            Hearing::All | Hearing::Given(_) => None,
            Hearing::Placed(air) => Some(air.power_dbm(heard, from, now)),
        }
    }

    /// Whether a frame that survives with this probability does, at a radio.
    pub fn draw_reception(&mut self, radio: RadioIndex, survives: f64) -> bool {
        match self {
            Hearing::Placed(air) => air.receptions[radio].uniform() < survives,
            Hearing::All | Hearing::Given(_) => true,
        }
    }

    /// Whether a frame that ends now is strong enough to be understood, or has been decided to be.
    pub fn is_strong(&self, heard: Heard, frame: &Frame, now: Time) -> bool {
        match self {
            Hearing::All | Hearing::Given(_) => true,
            Hearing::Placed(air) => {
                if air.config.sinr.is_some() {
                    return !frame.failed.contains(&heard.0);
                }
                air.understands(heard, frame, now)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::testing::stream;
    use crate::link::wifi::tests::places::radio;
    use crate::mobility::Point;
    use roamsim_engine::Span;

    #[test]
    fn who_was_out_of_reach_draws_what_it_would_have_drawn() {
        // Two that stand 10 m apart hear each other always; a third is 1 km away, beyond 8.6 deviations, and
        // comes near at 1000 m/s.
        let walk = |speed| {
            let stops = [(Point::new(10.0, 0.0), speed, Span::ZERO)];
            Trajectory::waypoints(Point::new(1010.0, 0.0), Time::ZERO, &stops)
        };
        let shadowing_at_last = |speed: f64, channels: [u8; 3]| {
            let places = [0.0, 10.0].map(|x_m| Trajectory::fixed(Point::new(x_m, 0.0)));
            let places = places.into_iter().chain([walk(speed)]).collect();
            let mut hearing = Hearing::Placed(Box::new(Air::new(radio(-61.0, 1.0), places, |_, of| {
                stream(&of.0.to_string())
            })));
            let mut last = Vec::new();
            for frame in 0..40 {
                let now = Time::ZERO + Span::from_ms(50 * frame);
                last = hearing.heard_by(RadioIndex(frame as usize % 2), now, &channels.to_vec().into());
            }
            last.iter().find(|(radio, _)| *radio == RadioIndex(2)).map(|(_, signal)| signal.shadowing_db)
        };
        // At 1e6 m/s it is near from the second frame on, and at 1000 m/s from one second on; the 40th draw
        // is the same.
        let near = shadowing_at_last(1e6, [1; 3]);
        assert!(near.is_some());
        assert_eq!(shadowing_at_last(1000.0, [1; 3]), near);
        let mut draws = stream("2");
        draws.skip(2 * 39);
        assert_eq!(near, Some(radio(-61.0, 1.0).propagation.shadowing_db(&mut draws)));
    }

    #[test]
    fn a_rate_without_a_threshold_of_its_own_has_the_least() {
        let one = radio(-70.0, 0.0);
        assert_eq!([1_000_000, 11_000_000].map(|bps| one.threshold_dbm(bps)), [-61.0; 2]);
        let by_rate = vec![(6_000_000, -82.0), (54_000_000, -65.0)];
        let many = RadioConfig { reception_threshold_dbm: -65.0, thresholds_by_rate: by_rate, ..one };
        // 2 Mb/s of DSSS, which protects.
        assert_eq!([2_000_000, 54_000_000].map(|bps| many.threshold_dbm(bps)), [-82.0, -65.0]);
    }
}
