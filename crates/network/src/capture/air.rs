//! Frames on the air, of links that report them, each written when it ends. A capture of one node has the
//! frames that its radios send or hear; one of all nodes has each frame once.

use super::{Capture, Direction};
use crate::link::frames::{CapturedFrame, Listening};

/// A capture of frames.
pub(super) struct Air {
    /// The node whose radios capture; `None`: all.
    node: Option<String>,
    /// The links whose frames it has, in the order of its interfaces.
    links: Vec<u32>,
}

impl Air {
    pub fn new(node: Option<String>) -> Air {
        Air { node, links: Vec::new() }
    }
}

impl Capture {
    /// Adds the medium of a link: the names of its cells, and of the nodes of its radios. Who is to listen
    /// there, if anybody is.
    pub(crate) fn add_medium(
        &mut self,
        link: u32,
        link_type: u16,
        names: Vec<String>,
        nodes: &[String],
    ) -> Option<Listening> {
        let air = self.air.as_mut()?;
        let radio = match &air.node {
            Some(name) => Some(nodes.iter().position(|node| node == name)?),
            None => None,
        };
        let name = match (&air.node, names.first()?) {
            (Some(node), name) => format!("{node}:{name}"),
            (None, name) => name.clone(),
        };
        if let Err(error) = self.writer.interface(link_type, &name) {
            self.failure.get_or_insert(error);
        }
        let medium = air.links.len() as u8;
        air.links.push(link);
        Some(Listening { medium, names, radio, ip: self.ip })
    }

    /// Whether it has anything to capture from; otherwise why not.
    pub(crate) fn has_media(&self) -> Result<(), String> {
        let Some(air) = &self.air else { return Ok(()) };
        match &air.node {
            _ if !air.links.is_empty() => Ok(()),
            Some(node) => {
                Err(format!("\"{node}\" has no radio whose frames can be captured: the file would be empty"))
            }
            None => {
                Err("the scenario has no radio whose frames can be captured: the file would be empty"
                    .to_owned())
            }
        }
    }

    /// Captures a frame of a link.
    pub(crate) fn frame(&mut self, link: u32, frame: &CapturedFrame) {
        let Some(air) = &self.air else { return };
        let number = (0..).zip(&air.links).find(|&(_, &of)| of == link).map(|(number, _)| number);
        let (Some(number), None) = (number, &self.failure) else { return };
        let direction = frame.sent.map(|sent| if sent { Direction::Outbound } else { Direction::Inbound });
        self.failure = self.writer.packet(frame.end, number, direction, &frame.octets, None).err();
    }
}
