//! The exchanges of a radio that nobody disturbs: no other one has anything to send, or a countdown left. Its
//! next exchange is arithmetic: interframe space, countdown, data, SIFS, ACK. The instants at which something
//! happens are those of the general exchange, and so is what any result sees at each; what only others could
//! hear (ears, frames on the air, the agenda) is written down when they are there to hear it.
//!
//! So it goes where all share one ear, under the distributed coordination function, for data to one receiver
//! without RTS, protection and fragments, at a fixed rate, without captures, losses beside the radio, and
//! stations that find their access points. [`Cell::disturb`] goes back to the general exchange, in the state
//! that it would have.

use super::agenda::Step;
use super::cell::Cell;
use super::index::{CellIndex, RadioIndex};
use super::medium::SHARED_EAR;
use super::medium::account::Use;
use super::medium::air::Hearing;
use super::medium::frame::{Frame, Kind};
use super::radios::airtime::FrameTime;
use super::radios::radio::{ALL, AT_WORK, Attempt, Head, Job};
use super::radios::undisturbed::{Stage, Undisturbed};
use crate::link::Attachment;
use roamsim_engine::Time;

/// The cell, where all share one ear.
const ONLY: CellIndex = CellIndex(0);

impl Cell {
    /// Whether a radio is.
    #[cfg(test)]
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.undisturbed.is_some()
    }

    /// Whether a cell is one in which a radio may be undisturbed at times.
    pub(super) fn has_undisturbed(&self) -> bool {
        let plain = self.config.protection.is_none() && self.rates.is_none() && !self.associations.has_paths;
        plain && self.radios.countdowns.is_some() && matches!(self.medium.hearing, Hearing::All)
    }

    /// An exchange may be over, after which a radio is undisturbed: nothing is on the air or on the agenda,
    /// and of all radios this one alone is listed.
    #[inline(never)]
    pub(super) fn find_undisturbed(&mut self, now: Time) {
        let (&[number], Some(until)) = (&self.radios.listed[..], self.radios.next_access) else { return };
        let (ear, radio) = (self.medium.at(SHARED_EAR), &self.radios[number]);
        let silent = self.medium.on_air.is_empty() && self.agenda.is_empty() && ear.heard == 0;
        let told = self.log.is_some() || self.associations.losses.is_some();
        let Some(head) = radio.own.head.as_ref().filter(|head| self.goes_undisturbed(head)) else { return };
        let Some(from) = head.from() else { return };
        // Not where EIFS, a reservation or a timeout was waited for.
        let plain =
            ear.idle_since == now && ear.nav <= now && !ear.undecided && radio.attempt == Attempt::None;
        let countdown = self.config.timing.difs + radio.own.countdown(self.config.timing.slot);
        if !silent || told || !plain || now + countdown != until {
            return;
        }
        let (to, of) = (head.to, (head.bytes, head.rate_bps));
        let data = self.frame_time(Kind::Data, number);
        let ack = self.frame_time(Kind::Ack, number);
        let stage = Stage::Countdown;
        let (last_ack, begin) = ((self.medium.at(SHARED_EAR).busy_since, now), now);
        self.undisturbed =
            Some(Undisturbed { number, to, from, stage, until, data, ack, of, last_ack, begin });
    }

    /// Whether a frame is of those that need nothing but data and ACK.
    #[inline]
    fn goes_undisturbed(&self, head: &Head) -> bool {
        head.to != ALL && head.rest_bytes == 0 && head.bytes <= self.config.rts_threshold_bytes
    }

    /// A stage of an undisturbed exchange may be over.
    #[inline(never)]
    pub(super) fn go_on_undisturbed(&mut self, now: Time) {
        match &self.undisturbed {
            Some(at) if at.until <= now => match at.stage {
                Stage::Countdown => self.begin_undisturbed(now),
                Stage::Data => self.deliver_undisturbed(now),
                Stage::Ack => self.succeed_undisturbed(now),
            },
            _ => {}
        }
    }

    /// The countdown is over, and the data begins.
    #[inline(always)]
    fn begin_undisturbed(&mut self, now: Time) {
        let Cell { undisturbed: Some(at), radios, stats, medium, .. } = self else { return };
        medium.frames += 1;
        let until = now + at.data.airtime;
        (at.stage, at.begin, at.until) = (Stage::Data, now, until);
        let radio = &mut radios[at.number];
        if let Some(head) = &mut radio.own.head
            && !std::mem::replace(&mut head.begun, true)
            && let Job::Packet { packet: Some(packet), .. } = &head.job
        {
            let stats = &mut stats[at.from.0 as usize];
            stats.sent_packets += 1;
            stats.sent_bytes += u64::from(packet.size_bytes);
        }
        let contended = now - radio.own.contends_since;
        radio.time.attempts += 1;
        radio.time.contention += contended;
        radio.own.time.attempts += 1;
        radio.own.time.contention += contended;
        radio.attempt = Attempt::Since(now);
        radio.own.backoff_slots = None;
        radio.txop_until = now;
        (radio.sent, radio.sent_data) = ((now, until), true);
        medium.times[ONLY].pass(now, Use::Backoff);
    }

    /// The data is over, and the ACK follows after SIFS.
    #[inline(always)]
    fn deliver_undisturbed(&mut self, now: Time) {
        let Cell { undisturbed: Some(at), radios, medium, config, .. } = self else { return };
        medium.frames += 1;
        let number = at.number;
        let begins = now + config.timing.sifs;
        (at.stage, at.until) = (Stage::Ack, begins + at.ack.airtime);
        radios[number].time.data += at.data.airtime;
        let receiver = &mut radios[at.to];
        (receiver.sent, receiver.sent_data) = ((begins, at.until), false);
        let ear = medium.at_mut(SHARED_EAR);
        (ear.nav, ear.reserved_by) = (at.until, [number, at.to]);
        let time = &mut medium.times[ONLY];
        time.pass(now, Use::Frame(Kind::Data));
        time.pass(begins, Use::Backoff);
        self.deliver(now, number);
    }

    /// The ACK is over, and the next packet contends.
    #[inline(always)]
    fn succeed_undisturbed(&mut self, now: Time) {
        let Cell { undisturbed: Some(at), radios, stats, medium, .. } = self else { return };
        let (number, to, of) = (at.number, at.to, at.of);
        (at.stage, at.last_ack) = (Stage::Countdown, radios[to].sent);
        medium.times[ONLY].pass(now, Use::Frame(Kind::Ack));
        radios[to].time.control += at.ack.airtime;
        stats[at.from.0 as usize].busy += now - at.begin;
        let radio = &mut radios[number];
        radio.attempt = Attempt::None;
        radio.own.cw = radio.own.access.cw_min;
        self.next_head(now, number, AT_WORK);
        let next = self.radios[number].own.head.as_ref().filter(|head| self.goes_undisturbed(head));
        let next = next.and_then(|head| Some((head.to, (head.bytes, head.rate_bps), head.from()?)));
        let Some((to, new, from)) = next else { return self.end_undisturbed(now, number) };
        if new != of {
            self.change_frame(number, new);
        }
        let Cell { undisturbed: Some(at), radios, config, .. } = self else { return };
        let radio = &mut radios[number];
        radio.own.contends_since = now;
        radio.draw_backoff(AT_WORK);
        (at.to, at.from) = (to, from);
        at.until = now + config.timing.difs + radio.own.countdown(config.timing.slot);
    }

    /// The next frame is of another length, or goes at another rate.
    #[inline(never)]
    fn change_frame(&mut self, number: RadioIndex, of: (u32, u64)) {
        let (data, ack) = (self.frame_time(Kind::Data, number), self.frame_time(Kind::Ack, number));
        if let Some(at) = &mut self.undisturbed {
            (at.data, at.ack, at.of) = (data, ack, of);
        }
    }

    /// What follows is no exchange of this kind, or nothing.
    #[inline(never)]
    fn end_undisturbed(&mut self, now: Time, number: RadioIndex) {
        self.disturb();
        if self.radios[number].own.head.is_none() {
            self.medium.contender(now, number, false);
        }
        self.back_off(now, number);
        self.plan();
    }

    /// A packet comes to a radio: another one than the undisturbed, whose packets wait behind the one in
    /// hand, disturbs it.
    #[inline(always)]
    pub(super) fn disturb_from(&mut self, from: Attachment) {
        if let Some(at) = &self.undisturbed
            && self.associations.way(from).from != at.number
        {
            self.disturb();
        }
    }

    /// Somebody comes who hears, or is heard: what is on the air is put there.
    #[inline(never)]
    pub(super) fn disturb(&mut self) {
        let Some(at) = self.undisturbed.take() else { return };
        let Undisturbed { number: sender, to, stage, until, data, ack, last_ack, begin, .. } = at;
        let ear = self.medium.at_mut(SHARED_EAR);
        ear.ifs = self.config.timing.difs;
        (ear.busy_since, ear.idle_since) = last_ack;
        self.radios.next_access = (stage == Stage::Countdown).then_some(until);
        // It is counted already.
        let number = self.medium.frames.saturating_sub(1);
        let ear = self.medium.at_mut(SHARED_EAR);
        let frame = |kind, from, to, FrameTime { rate_bps, reserves, .. }, begin| Frame {
            number,
            kind,
            from,
            to,
            rate_bps,
            begin,
            end: until,
            failed: Vec::new(),
            reserved: until + reserves,
            record: None,
            heard_by: Vec::new(),
        };
        let frame = match stage {
            Stage::Countdown => return,
            Stage::Data => frame(Kind::Data, sender, to, data, begin),
            Stage::Ack => {
                ear.idle_since = begin + data.airtime;
                frame(Kind::Ack, to, sender, ack, self.radios[to].sent.0)
            }
        };
        (ear.heard, ear.busy_since, ear.receiving) = (1, frame.begin, Some((number, frame.kind)));
        self.medium.on_air.push(frame);
        self.agenda.put(until, Step::End(number));
    }
}

#[cfg(test)]
mod tests {
    use super::super::loss::{CellLoss, Of};
    use super::super::phy::Preamble;
    use super::super::radios::rate_control::RateControl;
    use super::super::radios::rate_control::arf::ArfConfig;
    use super::super::tests::config;
    use crate::link::loss::{Loss, LossModel};
    use crate::link::testing::{datagram, stream};
    use crate::link::wifi::tests::prelude::*;
    use crate::queue::{QueueLimit, Rule, codel};
    use proptest::prelude::*;

    /// What else a cell has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum With {
        Nothing,
        Hidden,
        Edca,
        Rates,
        Protection,
        Losses,
        Capture,
    }

    fn cell(mut config: CellConfig, with: With) -> Cell {
        let stations = config.rates_bps.len();
        match with {
            With::Edca => {
                let best_effort = Category { aifsn: 3, cw_min: 15, cw_max: 63, txop_limit: Span::ZERO };
                config.edca = Some(Edca { access_point: [best_effort; 4], stations: [best_effort; 4] });
            }
            With::Rates => {
                let rates = vec![1_000_000, 2_000_000, 5_500_000, 11_000_000];
                config.rate_control = Some((RateControl::Arf(ArfConfig::ARF), rates));
            }
            With::Protection => {
                let (mechanism, preamble) = (Mechanism::CtsToSelf, Preamble::Long);
                config.protection = Some(Protection { mechanism, rate_bps: 2_000_000, preamble });
            }
            _ => {}
        }
        let mut cell = match with {
            // The last station and the first do not hear each other.
            With::Hidden => {
                let mut hears = vec![vec![true; stations + 1]; stations + 1];
                (hears[1][stations], hears[stations][1]) = (false, false);
                Cell::with_hidden(config, hears, stream)
            }
            _ => Cell::new(config, stream),
        };
        match with {
            With::Losses => {
                let loss = Loss::new(LossModel::Bernoulli { probability: 0.3 }, Time::ZERO, stream);
                let from = Attachment(stations as u32);
                let lost = CellLoss { from, of: Of::Attempts, while_going_down: false, loss };
                cell.add_losses(vec![lost]);
            }
            With::Capture => cell.record_frames(),
            _ => {}
        }
        cell
    }

    /// What a result may ask at an instant.
    fn seen(cell: &Cell, now: Time) -> String {
        let stats: Vec<_> = (0..cell.associations.ways.len() as u32)
            .map(|from| (cell.stats(Attachment(from), now), cell.waiting_packets(Attachment(from), now)))
            .collect();
        let radios: Vec<_> = (0..cell.radios.len()).map(|radio| cell.radio_time(radio)).collect();
        format!("{now} {stats:?} {:?} {radios:?} {}", cell.medium_time(0), cell.packets_inside())
    }

    /// What is inside, where nothing is written down as undisturbed.
    fn inside(cell: &Cell) -> String {
        let slots: Vec<_> = cell.radios.numbers().map(|radio| cell.radios.slots(radio)).collect();
        let apart = cell.radios.countdowns.as_ref().map(|countdowns| &countdowns.apart);
        let radios: Vec<_> = cell.radios.iter().map(|radio| format!("{radio:?}")).collect();
        format!(
            "{:?} {:?} {radios:?} {slots:?} {apart:?} {:?} {:?} {:?} {:?}",
            cell.medium.all_ears(),
            cell.medium.on_air,
            cell.radios.listed,
            cell.medium.contenders,
            cell.agenda.next(),
            cell.radios.next_access
        )
    }

    /// All that is seen of a cell to which packets come (when, from where, how many, octets) until an
    /// instant, and how often it worked undisturbed. After each so many wake-ups it is disturbed.
    fn run(
        mut cell: Cell,
        packets: &[(u64, u32, u32, u32)],
        each: usize,
        until: Time,
    ) -> (Vec<String>, usize) {
        let (mut lines, mut wakes, mut undisturbed) = (Vec::new(), 0, 0);
        let mut packets = packets.to_vec();
        packets.sort_unstable();
        let mut packets = packets.into_iter().peekable();
        loop {
            let due = cell.poll_timeout();
            let comes = packets.peek().map(|&(at_us, ..)| Time::ZERO + Span::from_us(at_us));
            let Some(now) = due.into_iter().chain(comes).min().filter(|&now| now <= until) else { break };
            let mut unused = stream("cell");
            let cx = &mut Context { now, random: &mut unused };
            if comes == Some(now) {
                let (_, from, count, bytes) = packets.next().expect("one comes");
                let from = Attachment(from % cell.associations.ways.len() as u32);
                for _ in 0..count {
                    lines.push(format!("{:?}", cell.enqueue(cx, from, datagram(bytes))));
                }
            } else {
                cell.handle_timeout(cx);
                // A wake-up that was superseded finds nothing to do.
                cell.handle_timeout(cx);
                wakes += 1;
            }
            undisturbed += usize::from(cell.undisturbed.is_some());
            if wakes % each == each - 1 {
                cell.disturb();
                lines.push(inside(&cell));
            }
            lines.extend(std::iter::from_fn(|| cell.poll_delivery(now)).map(|(to, _)| format!("{to:?}")));
            lines.extend(
                std::iter::from_fn(|| cell.poll_drop()).map(|(from, _, why)| format!("{from:?} {why:?}")),
            );
            lines.push(seen(&cell, now));
        }
        cell.finish(until);
        lines.push(seen(&cell, until));
        lines.push(inside(&cell));
        (lines, undisturbed)
    }

    fn general(mut cell: Cell) -> Cell {
        cell.may_be_undisturbed = false;
        cell
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn an_undisturbed_exchange_is_the_general_one(
            stations in 1_usize..4,
            cw_min in prop::sample::select(vec![0_u32, 3, 31]),
            (rts, fragments) in prop::sample::select(vec![(2347_u32, 2346_u32), (600, 2346), (2347, 700)]),
            counts_busy_periods in any::<bool>(),
            managed in any::<bool>(),
            limit in prop::sample::select(vec![2_u32, 100]),
            with in prop::sample::select(vec![
                With::Nothing, With::Nothing, With::Nothing, With::Nothing, With::Nothing, With::Hidden, With::Edca,
                With::Rates, With::Protection, With::Losses, With::Capture,
            ]),
            packets in prop::collection::vec((0_u64..100_000, 0_u32..6, 1_u32..10, 40_u32..1500), 0..25),
            each in 1_usize..12,
            until_us in 1_000_u64..200_000,
        ) {
            let freezing = if counts_busy_periods { Freezing::CountsBusyPeriods } else { Freezing::Standard };
            let (target, interval) = (Span::from_us(500), Span::from_ms(5));
            let codel = codel::Settings { target, interval, mtu_bytes: 1500, ecn: false };
            let config = CellConfig {
                cw_min,
                cw_max: 63,
                rts_threshold_bytes: rts,
                fragmentation_threshold_bytes: fragments,
                freezing,
                queue: QueueLimit::Packets(limit),
                rule: if managed { Rule::Codel(codel) } else { Rule::DropTail },
                ..config(stations)
            };
            let until = Time::ZERO + Span::from_us(until_us);
            let made = || cell(config.clone(), with);
            for each in [each, usize::MAX] {
                let (lines, undisturbed) = run(made(), &packets, each, until);
                let (expected, none) = run(general(made()), &packets, each, until);
                prop_assert_eq!(none, 0);
                prop_assert!(with == With::Nothing || undisturbed == 0);
                prop_assert_eq!(lines.len(), expected.len());
                for (line, expected) in lines.iter().zip(&expected) {
                    prop_assert_eq!(line, expected);
                }
            }
        }
    }

    /// A hundred packets at once: of three wake-ups each, all but those of the first exchange are
    /// undisturbed, and of the last one that of its ACK is not. So it is again after a packet the other way.
    #[test]
    fn a_busy_station_is_undisturbed_and_one_that_another_disturbs_is_not() {
        let until = Time::ZERO + Span::from_secs(9);
        let (_, undisturbed) =
            run(cell(config(1), With::Nothing), &[(1000, 1, 100, 1000)], usize::MAX, until);
        assert_eq!(undisturbed, 3 * 99);
        let two = [(1000, 1, 100, 1000), (1000, 0, 100, 1000)];
        let (_, undisturbed) = run(cell(config(1), With::Nothing), &two, usize::MAX, until);
        assert!(undisturbed < 3 * 99, "{undisturbed}");
        let short = [(1000, 1, 50, 1000), (30_000, 0, 1, 1000)];
        let (_, undisturbed) = run(cell(config(1), With::Nothing), &short, usize::MAX, until);
        assert!((3 * 44..3 * 49).contains(&undisturbed), "{undisturbed}");
    }
}
