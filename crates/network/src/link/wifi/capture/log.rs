//! What was on the air, frame by frame, for captures. Nothing is kept unless it is asked for.

use super::record::{AirFrame, Content, Fragment, Hearer};
use crate::link::wifi::config::CellConfig;
use crate::link::wifi::index::{ByRadio, RadioIndex};
use crate::link::wifi::medium::Medium;
use crate::link::wifi::medium::frame::{Frame, Kind};
use crate::link::wifi::phy::{Format, HEADER_BYTES};
use crate::link::wifi::radios::radio::{ALL, Head, Job, Radio};
use roamsim_engine::Time;
use std::collections::VecDeque;

/// What is kept for captures.
#[derive(Debug)]
pub struct AirLog {
    frames: VecDeque<AirFrame>,
    /// By radio: the last sequence number.
    numbers: ByRadio<u16>,
}

impl AirLog {
    /// Of so many radios.
    pub fn new(radios: usize) -> AirLog {
        AirLog { frames: VecDeque::new(), numbers: vec![0; radios].into() }
    }

    /// The next frame that is over.
    pub fn poll_frame(&mut self) -> Option<AirFrame> {
        self.frames.pop_front()
    }

    /// A radio begins an exchange: what it has not tried yet gets the next number.
    #[inline(never)]
    pub fn number_frame(&mut self, radio: RadioIndex, head: Option<&mut Head>) {
        if let Some(head) = head.filter(|head| head.numbered.is_none()) {
            let sequence = &mut self.numbers[radio];
            *sequence = (*sequence + 1) % 4096;
            head.numbered = Some((*sequence, false));
        }
    }

    /// A frame has ended. Who it was for may have missed it by a loss beside the radio.
    #[inline(never)]
    pub fn end(&mut self, mut record: AirFrame, understood: bool) {
        let to = record.to;
        for hearer in record.heard.iter_mut().filter(|hearer| Some(hearer.radio) == to) {
            hearer.understood &= understood;
        }
        self.frames.push_back(record);
    }
}

/// What is to be told of a frame that its sender begins on a channel.
#[inline(never)]
pub fn begin_record(
    config: &CellConfig,
    sender: &mut Radio,
    channel: u8,
    frame: &Frame,
) -> Option<Box<AirFrame>> {
    let &Frame { kind, from, to, rate_bps, begin, end, reserved, .. } = frame;
    let job = sender.own.head.as_ref().map(|head| &head.job);
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
    let in_dsss = config.protection.filter(|_| protects);
    let format = in_dsss.map_or(config.format, |protection| Format::Dsss(protection.preamble));
    let format = format.at_rate(rate_bps);
    let most_bytes = config.fragmentation_threshold_bytes - HEADER_BYTES;
    let head = sender.own.head.as_mut().filter(|_| numbered);
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
        category: sender.own.category,
        content,
        rate_bps,
        duration: reserved - end,
        retry,
        sequence,
        format,
        fragment,
        channel,
        heard: Vec::new(),
    }))
}

/// A frame is about to end: who of so many radios has heard it, and who will have understood it.
#[inline(never)]
pub fn hearers(now: Time, medium: &Medium, radios: usize, frame: &Frame) -> Vec<Hearer> {
    let receives = |radio: RadioIndex| {
        let ear = medium.ear(radio);
        !ear.disturbed && ear.receiving.is_some_and(|(receiving, _)| receiving == frame.number)
    };
    if frame.heard_by.is_empty() {
        let hearer = |radio| Hearer { radio, signal_dbm: None, understood: receives(radio) };
        return (0..radios).map(RadioIndex).map(hearer).collect();
    }
    let hearers = frame.heard_by.iter().map(|&heard| Hearer {
        radio: heard.0,
        signal_dbm: medium.hearing.signal_dbm(heard, frame.from, now),
        understood: receives(heard.0) && medium.hearing.is_strong(heard, frame, now),
    });
    hearers.collect()
}
