//! Films: frames with the statistics of published traces.
//!
//! - Sizes are lognormal with long memory, within the published least and largest frame. Long traces are
//!   nearly lognormal (Krunz and Tripathi, "On the characterization of VBR MPEG streams", ACM SIGMETRICS
//!   1997).
//! - An MPEG-4 film has groups of pictures. The level of a group has the memory, each frame adds its own
//!   noise, and I, P and B frames have sizes in a fixed ratio.
//! - Both deviations follow in closed form from mean and variance of frames and the variation of groups
//!   (`Film::deviations`). Without groups the memory is from frame to frame.
//! - Frames come in decoding order. A film shown as I B B P ... is sent as I P B B .... From the second
//!   group on, the two B frames of the group before follow the I frame, so the order of kinds is again I B
//!   B P ....
//!
//! Not modelled: scenes; the difference between a trace's distribution and the lognormal one (the least
//! frame is rarely that small).

use super::noise::{FractionalNoise, normal};
use roamsim_engine::{Span, Stream};

/// What a frame is decoded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Itself alone.
    I,
    /// The I or P frame before it, too.
    P,
    /// The two I or P frames before it, too, of which one is shown before it and one after it.
    B,
}

/// A frame, and the time until the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is decoded from.
    pub kind: FrameKind,
    /// Its length.
    pub bytes: u32,
    /// From its instant to that of the next frame.
    pub spacing: Span,
}

/// Statistics of a film.
#[derive(Clone, Debug)]
pub struct Film {
    /// The frames of a group of pictures, in the order in which they are sent.
    pub group: &'static [FrameKind],
    /// Sizes of I, P and B frames, as a ratio.
    pub ratio: [f64; 3],
    /// Mean length of a frame.
    pub mean_bytes: f64,
    /// Variance of the lengths of frames, in octets squared.
    pub variance_bytes2: f64,
    /// Coefficient of variation of the lengths of groups; of frames where a group is one frame.
    pub group_variation: f64,
    /// The least and the largest frame.
    pub bounds_bytes: (u32, u32),
    /// The Hurst parameter of groups.
    pub hurst: f64,
    /// Every so many frames one is decoded from itself alone, where a group is one frame.
    pub refresh: usize,
    /// Frames come at multiples of this.
    pub tick: Span,
    /// The mean of the multiple, and the largest.
    pub ticks: (f64, u64),
}

use FrameKind::{B, I, P};

/// "Star Wars IV", MPEG-4, high quality: Fitzek and Reisslein, "MPEG-4 and H.263 Video Traces for Network
/// Performance Evaluation", IEEE Network 15(6), 2001. Mean, variance, bounds, variation of groups and Hurst
/// parameter are theirs; the ratio of I, P and B frames is chosen: with the variance of all frames and of
/// groups given, larger ratios leave none for the frames of one kind.
pub static STAR_WARS_IV: Film = Film {
    group: &[I, B, B, P, B, B, P, B, B, P, B, B],
    ratio: [3.0, 1.7, 1.0],
    mean_bytes: 1400.0,
    variance_bytes2: 8.2e5,
    group_variation: 0.38,
    bounds_bytes: (26, 9370),
    hurst: 0.8,
    refresh: 12,
    tick: Span::from_ms(40),
    ticks: (1.0, 1),
};

/// "Lecture Room Cam", H.263 without a target rate, of the same traces. 45,459 frames in 3600 s are 79.19 ms,
/// or 1.98 ticks, a frame; that multiples are geometric up to 29 is chosen. The Hurst parameter is the middle
/// of what is published, 0.75 to 0.85. A frame needs the one before it, but for every 132nd: so often each
/// part of the picture is coded without reference to others at the least (ITU-T H.263, 4.4: forced updating),
/// which is taken to be at once.
pub static LECTURE_ROOM_CAM: Film = Film {
    group: &[P],
    ratio: [1.0, 1.0, 1.0],
    mean_bytes: 617.59,
    variance_bytes2: 136_854.0,
    group_variation: 0.599,
    bounds_bytes: (240, 5760),
    hurst: 0.8,
    refresh: 132,
    tick: Span::from_ms(40),
    ticks: (1.98, 29),
};

impl Film {
    fn weight(&self, kind: FrameKind) -> f64 {
        self.ratio[kind as usize]
    }

    /// Deviations of the logarithms: of a group's level, and of a frame in its group.
    ///
    /// With a = exp(s_g^2), b = exp(s_f^2), q the mean of the squared weights over the square of their mean,
    /// c the squared variation of frames, v that of groups of n frames: q a b = 1 + c, and a (1 + q (b - 1) /
    /// n) = 1 + v.
    fn deviations(&self) -> (f64, f64) {
        let n = self.group.len() as f64;
        let weights = || self.group.iter().map(|&kind| self.weight(kind));
        let mean = weights().sum::<f64>() / n;
        let q = weights().map(|weight| weight * weight).sum::<f64>() / n / (mean * mean);
        let c = self.variance_bytes2 / (self.mean_bytes * self.mean_bytes);
        if self.group.len() == 1 {
            return (libm::sqrt(libm::log(1.0 + c)), 0.0);
        }
        let v = self.group_variation * self.group_variation;
        let a = (1.0 + v - (1.0 + c) / n) / (1.0 - q / n);
        let b = (1.0 + c) / (q * a);
        (libm::sqrt(libm::log(a.max(1.0))), libm::sqrt(libm::log(b.max(1.0))))
    }
}

/// A film as it goes on.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    film: &'static Film,
    noise: FractionalNoise,
    group_deviation: f64,
    frame_deviation: f64,
    /// Octets of a frame of weight one at level one.
    unit_bytes: f64,
    /// The level of the present group, and the next frame's place in it.
    level: f64,
    place: usize,
    /// Frames so far, modulo the film's refresh.
    since_refresh: usize,
}

impl Generator {
    pub(super) fn new(film: &'static Film) -> Generator {
        let (group_deviation, frame_deviation) = film.deviations();
        let weights: f64 = film.group.iter().map(|&kind| film.weight(kind)).sum();
        Generator {
            film,
            noise: FractionalNoise::new(film.hurst),
            group_deviation,
            frame_deviation,
            unit_bytes: film.mean_bytes * film.group.len() as f64 / weights,
            level: 1.0,
            place: 0,
            since_refresh: 0,
        }
    }

    pub(super) fn next_frame(&mut self, random: &mut Stream) -> Frame {
        if self.place == 0 {
            self.level = lognormal(self.group_deviation, self.noise.next(random));
        }
        let place = self.film.group[self.place];
        self.place = (self.place + 1) % self.film.group.len();
        let refreshed = self.since_refresh == 0;
        self.since_refresh = (self.since_refresh + 1) % self.film.refresh;
        let (kind, own) = match self.film.group.len() {
            1 => (if refreshed { FrameKind::I } else { place }, 1.0),
            _ => (place, lognormal(self.frame_deviation, normal(random))),
        };
        let (least, most) = self.film.bounds_bytes;
        let bytes = (self.unit_bytes * self.film.weight(place) * self.level * own + 0.5) as u32;
        Frame { kind, bytes: bytes.clamp(least, most), spacing: self.spacing(random) }
    }

    /// Geometric on 1, 2, ..., cut off at the largest multiple.
    fn spacing(&self, random: &mut Stream) -> Span {
        let (mean, most) = self.film.ticks;
        let ticks = match most {
            1 => 1,
            _ => 1 + (libm::log(1.0 - random.uniform()) / libm::log1p(-1.0 / mean)) as u64,
        };
        Span::from_ns(ticks.min(most) * self.film.tick.as_ns())
    }
}

/// A lognormal value of mean one, from a normal one.
fn lognormal(deviation: f64, normal: f64) -> f64 {
    libm::exp(deviation * normal - deviation * deviation / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(film: &'static Film, seed: u64, count: usize) -> Vec<Frame> {
        let mut random = Stream::new(seed, 0, "film");
        let mut generator = Generator::new(film);
        (0..count).map(|_| generator.next_frame(&mut random)).collect()
    }

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64)
    }

    /// By the variance of means over m values, which falls as m^(2H - 2): from m = 10 to 320, slope by least
    /// squares.
    fn hurst(values: &[f64]) -> f64 {
        let points: Vec<(f64, f64)> = (0..6)
            .map(|step| {
                let m = 10 << step;
                let means: Vec<f64> =
                    values.chunks_exact(m).map(|chunk| chunk.iter().sum::<f64>() / m as f64).collect();
                (libm::log(m as f64), libm::log(mean_and_variance(&means).1))
            })
            .collect();
        let n = points.len() as f64;
        let (x, y) =
            (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
            / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
        1.0 + slope / 2.0
    }

    /// q = (9 + 3 * 2.89 + 8) / 12 / (16.1 / 12)^2 = 1.1884; c = 0.41837; a = (1.1444 - 0.11820) / 0.90097 =
    /// 1.1390, b = 1.41837 / (1.1884 * 1.1390) = 1.0479: deviations 0.3608 and 0.2163.
    #[test]
    fn deviations_by_hand() {
        let (group, frame) = STAR_WARS_IV.deviations();
        assert!((group - 0.3608).abs() < 2e-4 && (frame - 0.2163).abs() < 2e-4, "{group} {frame}");
    }

    /// What is published of a film, measured.
    #[derive(Clone, Copy, Debug)]
    struct Statistics {
        mean: f64,
        variance: f64,
        least: f64,
        most: f64,
        group_variation: f64,
        least_group: f64,
        most_group: f64,
        hurst: f64,
        spacing_ms: f64,
    }

    fn bounds(values: &[f64]) -> (f64, f64) {
        values.iter().fold((f64::INFINITY, 0.0), |(least, most), &value| (value.min(least), value.max(most)))
    }

    fn statistics(frames: &[Frame], group: usize) -> Statistics {
        let sizes: Vec<f64> = frames.iter().map(|frame| f64::from(frame.bytes)).collect();
        let groups: Vec<f64> = sizes.chunks_exact(group).map(|group| group.iter().sum()).collect();
        let (mean, variance) = mean_and_variance(&sizes);
        let (group_mean, group_variance) = mean_and_variance(&groups);
        let (least, most) = bounds(&sizes);
        let (least_group, most_group) = bounds(&groups);
        Statistics {
            mean,
            variance,
            least,
            most,
            group_variation: group_variance.sqrt() / group_mean,
            least_group,
            most_group,
            hurst: hurst(&groups),
            spacing_ms: frames.iter().map(|frame| frame.spacing.as_secs_f64() * 1e3).sum::<f64>()
                / frames.len() as f64,
        }
    }

    /// The statistics of films of a length, each of a seed of its own.
    fn films(film: &'static Film, count: u64, length: usize) -> Vec<Statistics> {
        (1..=count).map(|seed| statistics(&frames(film, seed, length), film.group.len())).collect()
    }

    fn mean(films: &[Statistics], of: fn(&Statistics) -> f64) -> f64 {
        films.iter().map(of).sum::<f64>() / films.len() as f64
    }

    /// Long memory makes films differ. Of ten films of 7500 groups, the mean has a standard error of 0.38 *
    /// 7500^(0.8 - 1) / sqrt(10) = 2.0 %; the variances of these ten differ by 13 %, their mean by 4.2 %. A
    /// film's own mean takes 7500^(2 * 0.8 - 2) = 2.8 % of the variance of its groups, 1.4 % of their
    /// variation. Estimates of the Hurst parameter by variances with unknown means are too low by some 0.03,
    /// and differ by 0.034, their mean by 0.011. Three standard errors are allowed.
    #[test]
    fn star_wars_has_the_published_statistics() {
        let films = films(&STAR_WARS_IV, 10, 89_998);
        let mean = |of| mean(&films, of);
        assert!((mean(|film| film.mean) / 1400.0 - 1.0).abs() < 0.06, "{films:?}");
        assert!((mean(|film| film.variance) / 8.2e5 - 1.0).abs() < 0.126, "{films:?}");
        assert!((mean(|film| film.group_variation) / (0.38 * 0.986) - 1.0).abs() < 0.015, "{films:?}");
        assert!((mean(|film| film.hurst) - 0.77).abs() < 0.033, "{films:?}");
        // The largest frame is as large as published; the least frame and the groups lie within.
        assert!(films.iter().all(|film| film.most == 9370.0 && film.least >= 26.0), "{films:?}");
        assert!(
            mean(|film| film.least_group) >= 900.0 && mean(|film| film.most_group) <= 70_850.0,
            "{films:?}"
        );
        assert!(films.iter().all(|film| film.spacing_ms == 40.0));
        let kinds: Vec<FrameKind> = frames(&STAR_WARS_IV, 1, 24).iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [I, B, B, P, B, B, P, B, B, P, B, B].repeat(2));
    }

    /// As above: of five films of 45,459 frames the mean has a standard error of 0.599 * 45459^-0.2 /
    /// sqrt(5) = 3.1 %; their variances differ by 7 %, their mean by 3.1 %; the Hurst parameter's estimates
    /// by 0.018, their mean by 0.008, and are too low by 0.02. 3600 s / 45,459 frames = 79.19 ms; multiples
    /// of a mean of 1.98 deviate by sqrt(1.98 * 0.98) * 40 ms = 55.7 ms, their mean over 227,295 frames by
    /// 0.117 ms.
    #[test]
    fn the_lecture_room_has_the_published_statistics() {
        let films = films(&LECTURE_ROOM_CAM, 5, 45_459);
        let mean = |of| mean(&films, of);
        assert!((mean(|film| film.mean) / 617.59 - 1.0).abs() < 0.093, "{films:?}");
        assert!((mean(|film| film.variance) / 136_854.0 - 1.0).abs() < 0.093, "{films:?}");
        assert!((mean(|film| film.hurst) - 0.78).abs() < 0.024, "{films:?}");
        assert!((mean(|film| film.spacing_ms) - 79.19).abs() < 0.35, "{films:?}");
        assert!(films.iter().all(|film| film.least == 240.0 && film.most <= 5760.0), "{films:?}");
        let frames = frames(&LECTURE_ROOM_CAM, 1, 10_000);
        let ms = |frame: &Frame| frame.spacing.as_ns() / 1_000_000;
        assert!(frames.iter().all(|frame| ms(frame) % 40 == 0 && (40..=1160).contains(&ms(frame))));
        let alone = frames.iter().enumerate().filter(|(_, frame)| frame.kind == I).map(|(at, _)| at);
        assert!(alone.eq((0..10_000).step_by(132)));
    }

    /// The estimator tells a series without memory from one with: of a white one 0.5, of the noise behind
    /// films 0.8.
    #[test]
    fn the_estimator_of_the_hurst_parameter_finds_what_is_there() {
        let estimate = |parameter: f64| {
            let of_seed = |seed| {
                let mut random = Stream::new(seed, 0, "noise");
                let mut noise = FractionalNoise::new(parameter);
                hurst(&(0..20_000).map(|_| noise.next(&mut random)).collect::<Vec<_>>())
            };
            (1..=4).map(of_seed).sum::<f64>() / 4.0
        };
        let (white, long) = (estimate(0.5), estimate(0.8));
        assert!((white - 0.5).abs() < 0.03 && (long - 0.78).abs() < 0.04, "{white} {long}");
    }
}
