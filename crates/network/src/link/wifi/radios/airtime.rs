//! What frames take: rate, airtime, and how long they reserve the medium (clauses 9.2.5.4, 9.2.5.6, 9.6). All
//! frames of an exchange follow from what its initiator has in hand.

use super::radio::{ALL, Head};
use crate::link::wifi::config::{CellConfig, Mechanism};
use crate::link::wifi::medium::frame::Kind;
use crate::link::wifi::phy::{ACK_BYTES, CTS_BYTES, HEADER_BYTES, RTS_BYTES};
use roamsim_engine::Span;

/// A frame in time.
#[derive(Clone, Copy, Debug)]
pub struct FrameTime {
    pub rate_bps: u64,
    pub airtime: Span,
    /// How long its duration field reserves the medium behind it.
    pub reserves: Span,
}

/// The last frame of each kind, with octets and rate of the frame of data that it is about: most frames of
/// data are of one length and one rate.
#[derive(Debug, Default)]
pub struct FrameTimes([Option<((u32, u64), FrameTime)>; 6]);

impl FrameTimes {
    /// The rate of a frame in the exchange of what a radio has in hand, its airtime, and how long it reserves
    /// the medium behind it.
    #[inline]
    pub fn of(&mut self, config: &CellConfig, kind: Kind, head: Option<&Head>) -> FrameTime {
        // What is for all, or follows in fragments, reserves another time.
        let Some(plain) = head.filter(|head| head.rest_bytes == 0 && head.to != ALL) else {
            return config.work_out_frame_time(kind, head);
        };
        let of = (plain.bytes, plain.rate_bps);
        if let Some((known, time)) = self.0[kind as usize]
            && known == of
        {
            return time;
        }
        let time = config.work_out_frame_time(kind, head);
        self.0[kind as usize] = Some((of, time));
        time
    }
}

impl CellConfig {
    #[inline(never)]
    fn work_out_frame_time(&self, kind: Kind, head: Option<&Head>) -> FrameTime {
        let sifs = self.timing.sifs;
        let then = |kind: Kind| sifs + self.airtime(kind, head);
        let for_all = head.is_some_and(|head| head.to == ALL);
        let reserves = match kind {
            Kind::Rts => then(Kind::Cts) + then(Kind::Data) + then(Kind::Ack),
            Kind::Cts => then(Kind::Data) + then(Kind::Ack),
            Kind::CtsToSelf if for_all => then(Kind::Data),
            Kind::CtsToSelf => then(Kind::Data) + then(Kind::Ack),
            Kind::Data | Kind::Management if !for_all => then(Kind::Ack) + self.next_fragment_time(head),
            Kind::Ack => self.next_fragment_time(head),
            Kind::Data | Kind::Management => Span::ZERO,
        };
        let rate_bps = self.frame_rate_bps(kind, head);
        FrameTime { rate_bps, airtime: self.airtime(kind, head), reserves }
    }

    /// The rate of a frame, in the exchange of what one of two radios has in hand.
    fn frame_rate_bps(&self, kind: Kind, head: Option<&Head>) -> u64 {
        let rate_bps = head.map_or(0, |head| head.rate_bps);
        match kind {
            Kind::Data | Kind::Management => rate_bps,
            Kind::CtsToSelf => self.protection.map_or(rate_bps, |protection| protection.rate_bps),
            Kind::Rts | Kind::Cts if self.protection.is_some() => self.frame_rate_bps(Kind::CtsToSelf, head),
            Kind::Rts | Kind::Cts | Kind::Ack => self.control_rate_bps(rate_bps),
        }
    }

    /// The airtime of a frame between two radios, in the exchange of what one of them has in hand.
    fn airtime(&self, kind: Kind, head: Option<&Head>) -> Span {
        let Some(head) = head else { return Span::ZERO };
        let control_rate_bps = self.control_rate_bps(head.rate_bps);
        match kind {
            Kind::Data | Kind::Management => self.format.airtime(head.bytes, head.rate_bps),
            Kind::Rts | Kind::Cts | Kind::CtsToSelf if self.protection.is_some() => {
                self.protection_time(kind)
            }
            Kind::CtsToSelf => Span::ZERO,
            Kind::Rts => self.format.airtime(RTS_BYTES, control_rate_bps),
            Kind::Cts => self.format.airtime(CTS_BYTES, control_rate_bps),
            Kind::Ack => self.format.airtime(ACK_BYTES, control_rate_bps),
        }
    }

    /// From the end of data to the time when no ACK to it will come any more.
    pub fn waits_for_ack(&self, head: Option<&Head>) -> Span {
        self.ack_timeout(self.frame_rate_bps(Kind::Data, head))
    }

    /// The same of an RTS and the CTS to it.
    pub fn waits_for_cts(&self, head: Option<&Head>) -> Span {
        self.cts_timeout(self.frame_rate_bps(Kind::Data, head))
    }

    /// What the next fragment takes of what a radio sends, with SIFS before it, behind it and its ACK: an
    /// ACK, and the fragment before it, reserve the medium for it too (clause 9.2.5.6).
    fn next_fragment_time(&self, head: Option<&Head>) -> Span {
        let Some(head) = head.filter(|head| head.rest_bytes > 0) else { return Span::ZERO };
        let most_bytes = self.fragmentation_threshold_bytes - HEADER_BYTES;
        let bytes = head.rest_bytes.min(most_bytes) + HEADER_BYTES;
        let sifs = self.timing.sifs;
        sifs + self.format.airtime(bytes, head.rate_bps) + sifs + self.airtime(Kind::Ack, Some(head))
    }

    /// How long the exchange takes of what a radio has in hand.
    pub fn exchange_time(&self, head: &Head) -> Span {
        let sifs = self.timing.sifs;
        let of = |kind: Kind| self.airtime(kind, Some(head));
        let with_rts = head.to != ALL && head.bytes > self.rts_threshold_bytes;
        let before = match self.protection.map(|protection| protection.mechanism) {
            Some(Mechanism::CtsToSelf) if !with_rts => of(Kind::CtsToSelf) + sifs,
            Some(Mechanism::RtsCts) if head.to == ALL => of(Kind::CtsToSelf) + sifs,
            None if !with_rts => Span::ZERO,
            _ => of(Kind::Rts) + sifs + of(Kind::Cts) + sifs,
        };
        let answer = if head.to == ALL { Span::ZERO } else { sifs + of(Kind::Ack) };
        let mut rest_bytes = head.rest_bytes;
        let mut fragments = Span::ZERO;
        while rest_bytes > 0 {
            let bytes = rest_bytes.min(self.fragmentation_threshold_bytes - HEADER_BYTES);
            fragments += sifs + self.format.airtime(bytes + HEADER_BYTES, head.rate_bps) + answer;
            rest_bytes -= bytes;
        }
        before + of(head.kind()) + answer + fragments
    }
}
