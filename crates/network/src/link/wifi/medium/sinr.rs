//! Reception by the ratio of signal to interference and noise.
//!
//! The first frame that is sensed is received, also amid others that were there before. The powers of all
//! others that a radio senses are added up, from the begin of each to its end, on top of the thermal noise
//! with the receiver's noise figure; in each part of a frame in which they stay the same its bits survive by
//! the error model of its rate, those of the preamble by that of the lowest rate. One draw a frame and
//! receiver decides.
//!
//! Not modelled: powers that change between the begin of a frame and its end, which counts; synchronisation
//! on the preamble; a stronger frame that is received instead of the first.

use super::Medium;
use super::config::SinrConfig;
use super::ear::Reception;
use super::error_model::{noise_mw, success};
use super::frame::{Frame, Heard, Kind};
use super::interference::milliwatts;
use crate::link::wifi::config::CellConfig;
use crate::link::wifi::phy::Format;
use roamsim_engine::{Span, Time};

/// The power of one that interferes, from when to when.
type Interferer = (Time, Time, f64);

/// The probability that a frame is received, of which this power arrives, amid others: by part, those who are
/// on the air in it.
fn survival(
    (begin, preamble_ends, end): (Time, Time, Time),
    (signal_mw, noise_mw): (f64, f64),
    interferers: &[Interferer],
    success: impl Fn(bool, Span, f64) -> f64,
) -> f64 {
    let mut instants = vec![begin, preamble_ends.min(end), end];
    instants.extend(interferers.iter().flat_map(|&(from, until, _)| [from.max(begin), until.min(end)]));
    instants.retain(|&instant| (begin..=end).contains(&instant));
    instants.sort_unstable();
    instants.dedup();
    let parts = instants.iter().zip(&instants[1..]);
    parts
        .map(|(&from, &until)| {
            let covers = |&&(begins, ends, _): &&Interferer| begins <= from && until <= ends;
            let interference_mw: f64 = interferers.iter().filter(covers).map(|(.., power_mw)| power_mw).sum();
            success(from < preamble_ends, until - from, signal_mw / (noise_mw + interference_mw))
        })
        .product()
}

impl Medium {
    /// What those receive who hear a new frame amid others: what they received before, or the new one.
    #[inline(never)]
    pub fn locked(&self, number: u64, kind: Kind, heard_by: &[Heard]) -> Vec<Reception> {
        let amid_others = heard_by.iter().filter(|&&(radio, _)| self.ear(radio).heard > 0);
        amid_others
            .map(|&(radio, _)| {
                let ear = self.ear(radio);
                (radio, ear.receiving.or(Some((number, kind))), ear.disturbed)
            })
            .collect()
    }

    /// A frame ends: who does not understand it, of those who receive it.
    #[inline(never)]
    pub fn decide(&mut self, now: Time, config: &CellConfig, frame: &mut Frame, sinr: SinrConfig) {
        // What protects frames of OFDM is sent as DSSS.
        let (format, lowest_bps) = match config.protection {
            Some(protection) if matches!(frame.kind, Kind::Rts | Kind::Cts | Kind::CtsToSelf) => {
                (Format::Dsss(protection.preamble), 1_000_000)
            }
            _ => (config.format, config.lowest_rate_bps()),
        };
        let format = format.at_rate(frame.rate_bps);
        let noise_mw = noise_mw(format, sinr.noise_figure_db);
        let success = |preamble: bool, lasts: Span, ratio: f64| {
            success(format, if preamble { lowest_bps } else { frame.rate_bps }, lasts, ratio)
        };
        let mut failed = Vec::new();
        for &heard in &frame.heard_by {
            let (radio, _) = heard;
            let receives = self.ear(radio).receiving.is_some_and(|(number, _)| number == frame.number);
            if radio == frame.from || !receives {
                continue;
            }
            let signal_mw = self.hearing.signal_dbm(heard, frame.from, now).map_or(0.0, milliwatts);
            let others = self.on_air.iter().chain(&self.past);
            let others: Vec<Interferer> = others
                .filter(|other| other.end > frame.begin)
                .map(|other| (other.begin, other.end, self.power_mw(radio, other, now)))
                .collect();
            let times = (frame.begin, frame.begin + format.preamble(), now);
            let survives = survival(times, (signal_mw, noise_mw), &others, success);
            if !self.hearing.draw_reception(radio, survives) {
                failed.push(radio);
            }
        }
        frame.failed = failed;
        // Those that may still interfere with one on the air are kept.
        let begun = self.on_air.iter().map(|frame| frame.begin).min();
        self.past.retain(|past| begun.is_some_and(|begun| past.end > begun));
        if begun.is_some() {
            self.past.push(Frame { record: None, ..frame.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_the_interference_of_those_on_the_air() {
        let us = |us: u64| Time::ZERO + Span::from_us(us);
        // From 100 to 200, the preamble until 120; one interferer of 3 mW from 50 to 150, one of 4 mW from
        // 140 on.
        let others = [(us(50), us(150), 3.0), (us(140), us(300), 4.0)];
        let parts = std::cell::RefCell::new(Vec::new());
        let success = |preamble: bool, lasts: Span, ratio: f64| {
            parts.borrow_mut().push((preamble, lasts.as_ns() / 1000, ratio));
            0.5
        };
        let survives = survival((us(100), us(120), us(200)), (8.0, 1.0), &others, success);
        // 8 / (1 + 3), the same, 8 / (1 + 3 + 4), 8 / (1 + 4).
        assert_eq!(
            parts.into_inner(),
            [(true, 20, 2.0), (false, 20, 2.0), (false, 10, 1.0), (false, 50, 1.6)]
        );
        assert_eq!(survives, 0.0625);
    }
}
