//! What was on the air, frame by frame, for captures. Nothing is kept unless it is asked for.
//!
//! A frame is told when it is over: who heard it, how strong, and who understood it. Sequence numbers (clause
//! 7.1.3.4) and the retry bit (clause 7.1.3.1.6) are of captures alone; the medium itself knows its
//! repetitions.

use crate::link::wifi::management::Management;
use crate::link::wifi::medium::{Frame, Kind};
use crate::link::wifi::phy::{Format, HEADER_BYTES};
use crate::link::wifi::radios::radio::{ALL, Job};
use crate::link::wifi::{Cell, Protection};
use crate::packet::Packet;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// A frame that was on the air.
#[derive(Clone, Debug)]
pub struct AirFrame {
    /// From when.
    pub begin: Time,
    /// Until when.
    pub end: Time,
    /// The radio that sent it: access points, in the order of the cells, and then stations.
    pub from: usize,
    /// The one that it was for; `None`: all.
    pub to: Option<usize>,
    /// The access category at work, from the lowest on; 0 where there is no EDCA.
    pub category: usize,
    /// What it was.
    pub content: Content,
    /// Its rate.
    pub rate_bps: u64,
    /// Its duration field: how long the medium is reserved after it.
    pub duration: Span,
    /// Whether it repeats an earlier one.
    pub retry: bool,
    /// The sequence number of data and management frames, below 4096.
    pub sequence: u16,
    /// How it was put on the air.
    pub format: Format,
    /// Of a data frame with a part of a packet: which.
    pub fragment: Option<Fragment>,
    /// The channel.
    pub channel: u8,
    /// Who heard it, the sender among them.
    pub heard: Vec<Hearer>,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its number, from 0.
    pub number: u8,
    /// Whether more follow.
    pub more: bool,
    /// Its octets of LLC, SNAP and packet.
    pub bytes: Range<usize>,
}

/// What a frame was.
#[derive(Clone, Debug)]
pub enum Content {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Data: the packet, as long as the receiver does not have it; a repetition for want of the
    /// acknowledgement has none.
    Data(Option<Box<Packet>>),
    /// A management frame.
    Management(Management),
}

/// A radio that heard a frame.
#[derive(Clone, Copy, Debug)]
pub struct Hearer {
    /// The radio.
    pub radio: usize,
    /// At which power it ended there; `None` where all hear each other.
    pub signal_dbm: Option<f64>,
    /// Whether it was understood.
    pub understood: bool,
}

/// What is kept for captures.
#[derive(Debug, Default)]
pub(in crate::link::wifi) struct AirLog {
    frames: VecDeque<AirFrame>,
    /// By radio: the last sequence number.
    numbers: Vec<u16>,
}

impl Cell {
    /// Keeps frames from now on.
    pub fn record_frames(&mut self) {
        let numbers = vec![0; self.radios.len()];
        self.log = Some(Box::new(AirLog { frames: VecDeque::new(), numbers }));
    }

    /// The next frame that is over.
    pub fn poll_frame(&mut self) -> Option<AirFrame> {
        self.log.as_mut()?.frames.pop_front()
    }

    /// How its frames are put on the air.
    pub fn format(&self) -> Format {
        self.config.format
    }

    /// The slot time.
    pub fn slot(&self) -> Span {
        self.config.timing.slot
    }

    /// What goes before frames that stations of 802.11b do not understand.
    pub fn protection(&self) -> Option<Protection> {
        self.config.protection
    }

    /// The rates of its control frames, in ascending order.
    pub fn basic_rates_bps(&self) -> &[u64] {
        &self.config.basic_rates_bps
    }

    /// The time between two beacons of a cell.
    pub fn beacon_period(&self, cell: usize) -> Option<Span> {
        self.cells.get(cell)?.beacons.map(|beacons| beacons.period)
    }

    /// A radio begins an exchange: what it has not tried yet gets the next number.
    #[inline(never)]
    pub(in crate::link::wifi) fn number_frame(&mut self, radio: usize) {
        let Some(head) = &mut self.radios[radio].own.head else { return };
        if let (Some(log), None) = (&mut self.log, head.numbered) {
            let sequence = &mut log.numbers[radio];
            *sequence = (*sequence + 1) % 4096;
            head.numbered = Some((*sequence, false));
        }
    }

    /// What is to be told of a frame that begins.
    #[inline(never)]
    pub(in crate::link::wifi) fn begin_record(
        &mut self,
        begin: Time,
        end: Time,
        frame: &Frame,
    ) -> Option<Box<AirFrame>> {
        let &Frame { kind, from, to, rate_bps, reserved, .. } = frame;
        let job = self.radios[from].own.head.as_ref().map(|head| &head.job);
        let content = match (kind, job) {
            (Kind::Rts, _) => Content::Rts,
            (Kind::Cts | Kind::CtsToSelf, _) => Content::Cts,
            (Kind::Ack, _) => Content::Ack,
            (Kind::Data, Some(Job::Packet { packet, .. })) => Content::Data(packet.clone().map(Box::new)),
            (Kind::Management, Some(Job::Management(what, _))) => Content::Management(*what),
            (Kind::Data | Kind::Management, _) => return None,
        };
        let numbered = matches!(content, Content::Data(_) | Content::Management(_));
        let protects = matches!(kind, Kind::Rts | Kind::Cts | Kind::CtsToSelf);
        let in_dsss = self.config.protection.filter(|_| protects);
        let format = in_dsss.map_or(self.config.format, |protection| Format::Dsss(protection.preamble));
        let format = format.at_rate(rate_bps);
        let most_bytes = self.config.fragmentation_threshold_bytes - HEADER_BYTES;
        let head = self.radios[from].own.head.as_mut().filter(|_| numbered);
        let (mut sequence, mut retry, mut fragment) = (0, false, None);
        if let Some(head) = head {
            if let Some((number, sent)) = &mut head.numbered {
                (sequence, retry) = (*number, std::mem::replace(sent, true));
            }
            let first_byte = u32::from(head.fragment) * most_bytes;
            fragment = (head.fragment > 0 || head.rest_bytes > 0).then(|| Fragment {
                number: head.fragment,
                more: head.rest_bytes > 0,
                bytes: first_byte as usize..(first_byte + head.bytes - HEADER_BYTES) as usize,
            });
        }
        Some(Box::new(AirFrame {
            begin,
            end,
            from,
            to: (to != ALL).then_some(to),
            category: self.radios[from].own.category,
            content,
            rate_bps,
            duration: reserved - end,
            retry,
            sequence,
            format,
            fragment,
            channel: self.channels[from],
            heard: Vec::new(),
        }))
    }

    /// A frame is about to end: who has heard it, and who will have understood it.
    #[inline(never)]
    pub(in crate::link::wifi) fn record_hearers(
        &self,
        now: Time,
        mut record: Box<AirFrame>,
        frame: &Frame,
    ) -> Option<Box<AirFrame>> {
        let receives = |ear: usize| {
            let ear = &self.ears[ear];
            !ear.disturbed && ear.receiving.is_some_and(|(receiving, _)| receiving == frame.number)
        };
        if frame.heard_by.is_empty() {
            let understood = receives(0);
            let all = 0..self.radios.len();
            record.heard.extend(all.map(|radio| Hearer { radio, signal_dbm: None, understood }));
        }
        record.heard.extend(frame.heard_by.iter().map(|&heard| Hearer {
            radio: heard.0,
            signal_dbm: self.hearing.signal_dbm(heard, frame.from, now),
            understood: receives(heard.0) && self.hearing.is_strong(heard, frame, now),
        }));
        self.log.is_some().then_some(record)
    }

    /// A frame has ended. Who it was for may have missed it by a loss beside the radio.
    #[inline(never)]
    pub(in crate::link::wifi) fn record_end(&mut self, mut record: AirFrame, understood: bool) {
        let to = record.to;
        for hearer in record.heard.iter_mut().filter(|hearer| Some(hearer.radio) == to) {
            hearer.understood &= understood;
        }
        if let Some(log) = &mut self.log {
            log.frames.push_back(record);
        }
    }
}
