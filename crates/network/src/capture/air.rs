//! What was on the air of Wi-Fi cells: frames with radiotap headers, when each was over. Repetitions, acknowledgements, RTS and CTS,
//! beacons and other management frames are among them, and frames that collided.
//!
//! Of one node: the frames that its radio sends, and those that it hears, with their power, and marked as broken where it did not
//! understand them. Of the whole air: each frame once, as it was sent.

use super::frames::{Reception, Surroundings, encode};
use super::{Capture, Direction, pcapng};
use crate::link::wifi::Cell;
use crate::link::wifi::management::Management;
use crate::link::wifi::record::{AirFrame, Content};
use std::collections::BTreeMap;

/// A capture of frames.
pub(super) struct Air {
    /// The node whose radios capture; `None`: all.
    node: Option<String>,
    media: Vec<Medium>,
}

/// A medium.
struct Medium {
    link: u32,
    /// By cell, its name.
    names: Vec<String>,
    /// The radio that captures, if it is one.
    radio: Option<usize>,
    /// By radio and access category, the packet that it sent last: of a repetition for want of the acknowledgement nothing else
    /// has it.
    packets: BTreeMap<(usize, usize), Vec<u8>>,
    /// By radio, whether it asked for reassociation the last time.
    again: Vec<bool>,
}

impl Air {
    pub fn new(node: Option<String>) -> Air {
        Air { node, media: Vec::new() }
    }

    fn takes(&self, link: u32) -> bool {
        self.media.iter().any(|medium| medium.link == link)
    }
}

impl Capture {
    /// Adds the medium of a link: the names of its cells, and of the nodes of its radios.
    pub(crate) fn add_medium(&mut self, link: u32, names: Vec<String>, nodes: &[String]) {
        let Some(air) = &mut self.air else { return };
        let radio = air.node.as_ref().map(|name| nodes.iter().position(|node| node == name));
        let Some(name) = names.first().filter(|_| radio != Some(None)) else { return };
        let name = match &air.node {
            Some(node) => format!("{node}:{name}"),
            None => name.clone(),
        };
        if let Err(error) = self.writer.interface(pcapng::LINKTYPE_RADIOTAP, &name) {
            self.failure.get_or_insert(error);
        }
        air.media.push(Medium {
            link,
            names,
            radio: radio.flatten(),
            packets: BTreeMap::new(),
            again: vec![false; nodes.len()],
        });
    }

    /// Whether it has anything to capture from; otherwise why not.
    pub(crate) fn has_media(&self) -> Result<(), String> {
        let Some(air) = &self.air else { return Ok(()) };
        match &air.node {
            _ if !air.media.is_empty() => Ok(()),
            Some(node) => {
                Err(format!("\"{node}\" is in no [[wifi]]: a capture of its frames would be empty"))
            }
            None => Err("the scenario has no [[wifi]]: a capture of frames would be empty".to_owned()),
        }
    }

    /// Whether it wants the frames of a link.
    pub(crate) fn takes_frames(&self, link: u32) -> bool {
        self.air.as_ref().is_some_and(|air| air.takes(link))
    }

    /// Captures a frame; `packet` has the octets of what it carries, if they are still known.
    pub(crate) fn frame(&mut self, link: u32, cell: &Cell, frame: &AirFrame, packet: Option<Vec<u8>>) {
        let Some(air) = &mut self.air else { return };
        let found = air.media.iter_mut().zip(0..).find(|(medium, _)| medium.link == link);
        let (Some((medium, number)), None) = (found, &self.failure) else { return };
        let sender = (frame.from, frame.category);
        if let Some(packet) = packet {
            medium.packets.insert(sender, packet);
        }
        let station = match &frame.content {
            Content::Management(Management::AssociationRequest { again }) => {
                medium.again[frame.from] = *again;
                frame.from
            }
            _ => frame.to.unwrap_or(frame.from),
        };
        let (reception, direction) = match medium.radio {
            None => (None, None),
            Some(radio) if radio == frame.from => (None, Some(Direction::Outbound)),
            Some(radio) => {
                let Some(heard) = frame.heard.iter().find(|heard| heard.radio == radio) else { return };
                let reception = Reception { signal_dbm: heard.signal_dbm, understood: heard.understood };
                (Some(reception), Some(Direction::Inbound))
            }
        };
        let around = Surroundings {
            cell,
            medium: number as u8,
            names: &medium.names,
            ip: self.ip,
            packet: medium.packets.get(&sender).map_or(&[], Vec::as_slice),
            again: medium.again[station],
        };
        let octets = encode(frame, &around, reception);
        self.failure = self.writer.packet(frame.end, number, direction, &octets, None).err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::wifi::phy::{Format, Preamble};
    use crate::packet::IpVersion;
    use crate::testing::{datagram, stream};
    use roamsim_engine::{Span, Time};
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    /// What was written.
    #[derive(Clone, Default)]
    struct File(Arc<Mutex<Vec<u8>>>);

    impl Write for File {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("one thread").extend(octets);
            Ok(octets.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_repetition_has_the_octets_of_its_own_category() {
        let format = Format::Dsss(Preamble::Long);
        let cell = Cell::new(crate::link::wifi::tests::config(1), stream);
        let file = File::default();
        let mut capture = Capture::of_frames(Box::new(file.clone()), IpVersion::V4, None).expect("a section");
        capture.add_medium(7, vec!["air".to_owned()], &["access point".to_owned(), "station".to_owned()]);
        let frame = |category, sequence, packet: bool| AirFrame {
            begin: Time::ZERO,
            end: Time::ZERO + Span::from_us(399),
            from: 1,
            to: Some(0),
            category,
            content: Content::Data(packet.then(|| Box::new(datagram(16)))),
            rate_bps: 11_000_000,
            duration: Span::ZERO,
            retry: !packet,
            sequence,
            format,
            fragment: None,
            channel: 1,
            heard: Vec::new(),
        };
        let count = |octets: &[u8]| {
            let file = file.0.lock().expect("one thread");
            file.windows(octets.len()).filter(|part| *part == octets).count()
        };
        let (best_effort, voice) = (b"best effort, 16 o", b"voice, of 16 octs");
        capture.frame(7, &cell, &frame(1, 10, true), Some(best_effort.to_vec()));
        capture.frame(7, &cell, &frame(3, 11, true), Some(voice.to_vec()));
        assert_eq!((count(best_effort), count(voice)), (1, 1));
        // The receiver has it, and its acknowledgement was lost.
        capture.frame(7, &cell, &frame(1, 10, false), None);
        assert_eq!((count(best_effort), count(voice)), (2, 1));
    }
}
