//! The bearers of the user: their states good and bad, and what the user plane is told of them.

use super::bearer::{BearerId, BearerQuality, Quality};
use super::config::QualityChain;
use super::resource::Channel;
use super::state::Bearer;
use crate::link::dect::geometric::Geometric;
use roamsim_engine::Ahead;
use std::collections::VecDeque;

/// A bearer of the user that can carry data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserBearer {
    /// Which.
    pub id: BearerId,
    /// The bearer whose place it took in a handover; none if it was set up as a further one.
    pub replaces: Option<BearerId>,
    /// Its state in the present frame.
    pub quality: Quality,
    /// RFP, carrier and slot pair.
    pub channel: Channel,
}

/// What happened to the bearers that can carry data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// It can carry data from this frame on.
    Established(BearerId),
    /// It can no longer.
    Released(BearerId),
    /// Its state is another from this frame on.
    QualityChanged(BearerId, Quality),
}

/// How the chain goes on in one state.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// Given that it moves or a need arises in a frame, the probability that it moves: moves / (moves + (1 -
    /// moves) need).
    moves_of_either: f64,
    /// Probability that a need arises in the frame of the move.
    need_after_move: f64,
    /// Frames until either, or until a move alone when there is a need already.
    until_either: Geometric,
    until_move: Geometric,
}

/// The law of the chains of all bearers: each frame it first moves, and then a need is drawn in the new state
/// if there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct QualityLaw {
    good: Leaving,
    bad: Leaving,
}

impl QualityLaw {
    pub fn new(chain: QualityChain, handover_need_factor: f64) -> QualityLaw {
        let needs = [chain.handover_need_good, chain.handover_need_bad]
            .map(|need| (need * handover_need_factor).clamp(0.0, 1.0));
        let leaving = |moves: f64, need: f64, need_after_move: f64| {
            let either = moves + (1.0 - moves) * need;
            Leaving {
                moves_of_either: moves / either,
                need_after_move,
                until_either: Geometric::new(either),
                until_move: Geometric::new(moves),
            }
        };
        QualityLaw {
            good: leaving(chain.good_to_bad, needs[0], needs[1]),
            bad: leaving(chain.bad_to_good, needs[1], needs[0]),
        }
    }

    fn leaving(&self, quality: Quality) -> &Leaving {
        match quality {
            Quality::Good => &self.good,
            Quality::Bad => &self.bad,
        }
    }

    /// The chain of a bearer that comes into being in `frame`: good, and first moved in the next.
    pub fn start(&self, frame: u64, random: &mut Ahead) -> BearerQuality {
        BearerQuality { now: Quality::Good, next_at: self.next_at(Quality::Good, false, frame, random) }
    }

    #[inline]
    fn next_at(&self, quality: Quality, needs_handover: bool, frame: u64, random: &mut Ahead) -> u64 {
        let leaving = self.leaving(quality);
        let law = if needs_handover { leaving.until_move } else { leaving.until_either };
        (frame + 1).saturating_add(law.trials_without(random))
    }

    /// What is due in `frame`: a move, a need, or both. True when the state changed.
    pub fn advance(&self, bearer: &mut Bearer, frame: u64, random: &mut Ahead) -> bool {
        let needed = bearer.needs_handover_at <= frame;
        let leaving = self.leaving(bearer.quality.now);
        let moved = needed || random.bernoulli(leaving.moves_of_either);
        let need = !needed && (!moved || random.bernoulli(leaving.need_after_move));
        if need {
            bearer.needs_handover_at = frame;
        }
        if moved {
            bearer.quality.now = match bearer.quality.now {
                Quality::Good => Quality::Bad,
                Quality::Bad => Quality::Good,
            };
        }
        bearer.quality.next_at = self.next_at(bearer.quality.now, needed || need, frame, random);
        moved
    }
}

/// What the user plane sees.
#[derive(Debug, Default)]
pub(super) struct UserView {
    pub carrying: Vec<UserBearer>,
    pub events: VecDeque<UserEvent>,
}

impl UserView {
    /// The state of the bearer at this place among the terminal's changed; those that carry data are all of
    /// them, or none.
    #[inline]
    pub fn quality_changed(&mut self, place: usize, quality: Quality) {
        if let Some(bearer) = self.carrying.get_mut(place) {
            bearer.quality = quality;
            self.events.push_back(UserEvent::QualityChanged(bearer.id, quality));
        }
    }

    /// These, and no others, can carry data now.
    pub fn set(&mut self, bearers: &[Bearer]) {
        for old in &self.carrying {
            if !bearers.iter().any(|bearer| bearer.id == old.id) {
                self.events.push_back(UserEvent::Released(old.id));
            }
        }
        for new in bearers {
            if !self.carrying.iter().any(|bearer| bearer.id == new.id) {
                self.events.push_back(UserEvent::Established(new.id));
            }
        }
        self.carrying.clear();
        self.carrying.extend(bearers.iter().map(|bearer| UserBearer {
            id: bearer.id,
            replaces: bearer.replaces,
            quality: bearer.quality.now,
            channel: bearer.channel,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::resource::SlotFormat;
    use super::*;
    use roamsim_engine::Stream;

    fn bearer(quality: BearerQuality) -> Bearer {
        Bearer {
            id: BearerId(1),
            replaces: None,
            channel: Channel { rfp: 0, first_unit: 0, format: SlotFormat::Full },
            since: 0,
            needs_handover_at: u64::MAX,
            quality,
        }
    }

    fn law() -> QualityLaw {
        QualityLaw::new(super::super::MacConfig::default().quality, 1.0)
    }

    #[test]
    fn a_bearer_is_bad_for_one_eleventh_of_the_time() {
        let (law, mut random) = (law(), Ahead::new(Stream::new(31, 0, "quality")));
        let mut bearer = bearer(law.start(0, &mut random));
        let (end, mut bad, mut since) = (20_000_000, 0, 0);
        let mut stays = 0u32;
        while bearer.quality.next_at < end {
            let at = bearer.quality.next_at;
            if law.advance(&mut bearer, at, &mut random) {
                if bearer.quality.now == Quality::Good {
                    bad += at - since;
                    stays += 1;
                }
                since = at;
            }
        }
        // Sojourns 50 and 5 frames: 363,636 cycles of 55. A bad sojourn has standard deviation sqrt(0.8) /
        // 0.2 = 4.47 frames, a good one 49.5; relative error of the share about sqrt((4.47/5)^2 +
        // (49.5/50)^2) * 10/11 / sqrt(363636) = 0.2 %.
        let share = bad as f64 / end as f64;
        assert!((share - 1.0 / 11.0).abs() < 3.0 * 0.002 / 11.0, "{share}");
        let mean = bad as f64 / f64::from(stays);
        assert!((mean - 5.0).abs() < 3.0 * 4.47 / f64::from(stays).sqrt(), "{mean}");
    }

    #[test]
    fn a_handover_need_arises_after_its_mean_time() {
        let (law, mut random) = (law(), Ahead::new(Stream::new(32, 0, "quality")));
        let n = 100_000;
        let mut sum = 0;
        for _ in 0..n {
            let mut bearer = bearer(law.start(0, &mut random));
            while bearer.needs_handover_at == u64::MAX {
                let at = bearer.quality.next_at;
                law.advance(&mut bearer, at, &mut random);
            }
            sum += bearer.needs_handover_at;
        }
        // Frames until a need from good and from bad, the chain moving first:
        //   g = 1 + 0.98 * 0.9999 g + 0.02 * 0.999 b,  b = 1 + 0.8 * 0.999 b + 0.2 * 0.9999 g.
        // b = (1 + 0.19998 g) / 0.2008;  g (0.020098 - 0.019898408) = 1.0995020;  g = 5508.7.
        // Nearly exponential: standard error 5508.7 / sqrt(100000) = 17.4.
        let mean = sum as f64 / f64::from(n);
        assert!((mean - 5508.7).abs() < 52.0, "{mean}");
    }

    #[test]
    fn a_need_outlasts_the_moves_of_the_chain() {
        let (law, mut random) = (law(), Ahead::new(Stream::new(33, 0, "quality")));
        let mut bearer = Bearer { needs_handover_at: 7, ..bearer(law.start(7, &mut random)) };
        for _ in 0..1000 {
            let at = bearer.quality.next_at;
            assert!(law.advance(&mut bearer, at, &mut random), "with a need, only moves are left");
            assert_eq!(bearer.needs_handover_at, 7);
        }
    }
}
