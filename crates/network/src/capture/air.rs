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
    /// By radio, the packet that it sent last: of a repetition for want of the acknowledgement nothing else has it.
    packets: Vec<Vec<u8>>,
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
            packets: vec![Vec::new(); nodes.len()],
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
        if let Some(packet) = packet {
            medium.packets[frame.from] = packet;
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
            packet: &medium.packets[frame.from],
            again: medium.again[station],
        };
        let octets = encode(frame, &around, reception);
        self.failure = self.writer.packet(frame.end, number, direction, &octets, None).err();
    }
}
