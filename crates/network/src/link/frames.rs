//! Frames on the air, for captures: what is asked of a link that can tell of them.

use super::Attachment;
use crate::packet::{IpVersion, Packet};
use roamsim_engine::Time;

/// Who captures, and what octets of frames have beside the frames themselves.
#[derive(Clone, Debug)]
pub struct Listening {
    /// The number of the medium in the capture.
    pub medium: u8,
    /// By cell, its name.
    pub names: Vec<String>,
    /// The radio that captures; `None`: each frame is told once, as it was sent.
    pub radio: Option<usize>,
    /// What packets are.
    pub ip: IpVersion,
}

/// A frame that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Since when.
    pub end: Time,
    /// Whether the radio that captures sent it; `None` where none does.
    pub sent: Option<bool>,
    /// Its octets.
    pub octets: Vec<u8>,
}

/// The octets of a packet, as long as they are known.
pub type OctetsOf<'a> = &'a mut dyn FnMut(&Packet) -> Option<Vec<u8>>;

/// A link whose frames can be captured.
pub trait Frames {
    /// What its octets are: a LINKTYPE of capture files.
    fn capture_link_type(&self) -> u16;

    /// By cell, its radios, and an attachment from which each sends; the base station's is the first.
    fn radios(&self) -> Vec<Vec<(usize, Attachment)>>;

    /// Keeps frames from now on.
    fn listen(&mut self, listening: Listening);

    /// The next frame that is over, of those that are heard.
    fn poll_captured(&mut self, octets_of: OctetsOf<'_>) -> Option<CapturedFrame>;
}
