//! Capture: a frame that is stronger than all others together is received, although they overlap.
//!
//! - Whenever another frame begins, the power of the received frame must be a given number of dB above the
//!   sum of the others'.
//! - With later frames, a frame that begins amid others is also received if it is that much stronger. The
//!   frame received before is lost (J. Lee et al., "An Experimental Study on the Capture Effect in 802.11a
//!   Networks", WinTECH 2007: receivers of some makers do so after the first preamble).
//! - If the received frame is over and others are still on the air, a new frame is received in either case
//!   if it is strong enough.
//!
//! Not modelled: powers that change between the begins of frames, such as those of moving radios; frames
//! too weak to be sensed.

use super::Medium;
use super::config::CaptureConfig;
use super::ear::Reception;
use super::frame::{Frame, Heard, Kind};
use crate::link::wifi::index::RadioIndex;
use roamsim_engine::Time;

pub fn milliwatts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

impl Medium {
    /// The power at which a frame on the air arrives at a radio; nothing where it is not heard.
    pub fn power_mw(&self, radio: RadioIndex, frame: &Frame, now: Time) -> f64 {
        let heard = frame.heard_by.iter().find(|&&(hearer, _)| hearer == radio);
        heard.and_then(|&heard| self.hearing.signal_dbm(heard, frame.from, now)).map_or(0.0, milliwatts)
    }

    /// What those receive who hear a new frame amid others: by ear, the frame, and whether it is disturbed.
    #[inline(never)]
    pub fn captured(
        &self,
        now: Time,
        capture: CaptureConfig,
        (number, kind, from): (u64, Kind, RadioIndex),
        heard_by: &[Heard],
    ) -> Vec<Reception> {
        let factor = milliwatts(capture.threshold_db);
        let amid_others = heard_by.iter().filter(|&&(radio, _)| self.ear(radio).heard > 0);
        amid_others
            .map(|&heard| {
                let (radio, _) = heard;
                let ear = self.ear(radio);
                let new_mw = self.hearing.signal_dbm(heard, from, now).map_or(0.0, milliwatts);
                let powers = self.on_air.iter().map(|frame| (frame.number, self.power_mw(radio, frame, now)));
                let powers: Vec<(u64, f64)> = powers.collect();
                let all_mw: f64 = powers.iter().map(|(_, power_mw)| power_mw).sum();
                let received = ear.receiving.filter(|_| !ear.disturbed);
                let own_mw = received.and_then(|(received, _)| {
                    powers.iter().find(|(number, _)| *number == received).map(|(_, power_mw)| *power_mw)
                });
                let stands = own_mw.is_some_and(|own_mw| own_mw >= factor * (all_mw - own_mw + new_mw));
                let free = ear.receiving.is_none() || capture.later_frames;
                match (stands, free && new_mw >= factor * all_mw) {
                    (true, _) => (radio, ear.receiving, false),
                    (false, true) => (radio, Some((number, kind)), false),
                    (false, false) => (radio, ear.receiving, true),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::CaptureConfig;
    use crate::link::testing::{datagram, stream};
    use crate::link::wifi::tests::bianchi::b;
    use crate::link::wifi::tests::places::radio;
    use crate::link::wifi::tests::prelude::*;
    use crate::mobility::Point;
    use roamsim_engine::Span;

    /// Two stations hidden from each other at 20 and 80 m from the access point: 12 dB between them, 20
    /// log10(4).
    fn cell(capture: Option<CaptureConfig>) -> Cell {
        let radio = RadioConfig { capture, carrier_sense_threshold_dbm: -59.5, ..radio(-61.0, 0.0) };
        let places = [0.0, 20.0, -80.0].map(|x_m| Trajectory::fixed(Point::new(x_m, 0.0)));
        Cell::with_places(
            b(2, 2347),
            RadioConfig { reception_threshold_dbm: -59.5, ..radio },
            places.to_vec(),
            stream,
        )
    }

    /// Packets of 248 octets from these stations at these times; whose first attempts were answered.
    fn answered(capture: Option<CaptureConfig>, uploads: [(u32, u64); 2]) -> Vec<u32> {
        let mut cell = cell(capture);
        for (station, at_us) in uploads {
            let now = Time::ZERO + Span::from_us(at_us);
            while let Some(due) = cell.poll_timeout().filter(|&due| due <= now) {
                cell.handle_timeout(&mut Context { now: due, random: &mut stream("cell") });
            }
            let (_, up) = cell.attachments_of(station - 1);
            let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, up, datagram(248));
            assert_eq!(taken, Ok(()));
        }
        // The second frame is over at 1599, and the time for an answer at 1821.
        while let Some(due) = cell.poll_timeout().filter(|due| due.as_ns() <= 1_821_000) {
            cell.handle_timeout(&mut Context { now: due, random: &mut stream("cell") });
        }
        (1..=2).filter(|&station| cell.radio_time(station as usize).failed_attempts == 0).collect()
    }

    #[test]
    fn a_frame_that_is_stronger_by_the_threshold_is_received() {
        let near_first = [(1, 1000), (2, 1200)];
        let far_first = [(2, 1000), (1, 1200)];
        let capture = |threshold_db, later_frames| Some(CaptureConfig { threshold_db, later_frames });
        assert_eq!(answered(None, near_first), [0; 0]);
        // 12.04 dB.
        assert_eq!(answered(capture(12.0, false), near_first), [1]);
        assert_eq!(answered(capture(12.1, false), near_first), [0; 0]);
        // The stronger one comes later.
        assert_eq!(answered(capture(12.0, false), far_first), [0; 0]);
        assert_eq!(answered(capture(12.0, true), far_first), [1]);
        assert_eq!(answered(capture(12.1, true), far_first), [0; 0]);
    }
}
