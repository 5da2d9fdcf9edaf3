//! Captures: the packets of each interface as a pcapng file, with octets that other tools can dissect.
//!
//! A packet is captured when a node hands it to an interface, before the interface's queue, and when a node
//! receives it. The hop limit is not decremented on the way. `air` captures frames on the air instead.

mod air;
pub(crate) mod encode;
mod pcapng;

use crate::drops::Dropped;
use crate::octets::set_class;
use crate::packet::{IpVersion, Packet};
use crate::topology::Topology;
use roamsim_engine::Time;
use roamsim_protocols::{Address, IpAddresses};
use std::borrow::Cow;
use std::io::{self, Write};

use air::Air;
pub use pcapng::Direction;

/// A capture of the interfaces of a network, or of all frames on the air, written as it happens.
pub struct Capture {
    writer: pcapng::Writer<Box<dyn Write + Send>>,
    ip: IpVersion,
    /// Of each address the number of its interface in the file, if it has one there.
    interfaces: Vec<Option<u32>>,
    failure: Option<io::Error>,
    /// Of a capture of frames.
    air: Option<Air>,
}

impl Capture {
    /// Begins a capture: writes the section header and one interface a node and device, of these nodes alone
    /// unless there are none.
    pub fn new(
        file: Box<dyn Write + Send>,
        ip: IpVersion,
        topology: &Topology,
        nodes: &[String],
    ) -> io::Result<Capture> {
        let link_type = match ip {
            IpVersion::V6 => pcapng::LINKTYPE_IPV6,
            IpVersion::V4 => pcapng::LINKTYPE_IPV4,
        };
        let mut writer = pcapng::Writer::new(file)?;
        let (mut interfaces, mut count) = (Vec::new(), 0);
        for at in topology.addresses() {
            let owner = topology.owner_name(at);
            let shown = nodes.is_empty() || nodes.iter().any(|node| node == owner);
            interfaces.push(shown.then_some(count));
            if shown {
                writer.interface(link_type, &format!("{owner}:{}", topology.interface(at).name))?;
                count += 1;
            }
        }
        Ok(Capture { writer, ip, interfaces, failure: None, air: None })
    }

    /// Begins a capture of the frames of Wi-Fi cells: of all on the air, or of those that the radio of a node
    /// sends or hears.
    pub fn of_frames(
        file: Box<dyn Write + Send>,
        ip: IpVersion,
        node: Option<String>,
    ) -> io::Result<Capture> {
        let writer = pcapng::Writer::new(file)?;
        Ok(Capture { writer, ip, interfaces: Vec::new(), failure: None, air: Some(Air::new(node)) })
    }

    /// Whether it is one of frames.
    pub fn is_of_frames(&self) -> bool {
        self.air.is_some()
    }

    /// The octets of a packet whose transport payload is `payload`.
    pub fn octets(&self, packet: &Packet, payload: &[u8], addresses: &IpAddresses) -> Vec<u8> {
        encode::packet((self.ip, addresses), packet, payload)
    }

    /// The octets of a packet as it is now: with what queues on its way have said of congestion, and with an
    /// outer header in front of its own, if it is in a tunnel. A mark in a tunnel stands in the outer header
    /// until its end (RFC 6040 section 4).
    pub fn on_the_way<'a>(
        &self,
        packet: &Packet,
        octets: &'a mut [u8],
        addresses: &IpAddresses,
    ) -> Cow<'a, [u8]> {
        match packet.tunnel {
            Some(_) => Cow::Owned(encode::outer_header(packet, addresses).encapsulate(octets)),
            None => {
                set_class(self.ip, octets, packet.traffic_class);
                Cow::Borrowed(octets)
            }
        }
    }

    /// Captures a packet at an interface, with a comment when it was dropped there.
    pub fn packet(
        &mut self,
        now: Time,
        at: Address,
        direction: Direction,
        octets: &[u8],
        dropped: Option<(Dropped, &str)>,
    ) {
        let Some(&Some(interface)) = self.interfaces.get(at.0 as usize) else { return };
        if self.failure.is_some() {
            return;
        }
        let comment = dropped.map(|(dropped, place)| match dropped.at > now {
            true => format!("dropped on {place} at {}: {}", dropped.at, dropped.reason),
            false => format!("dropped on {place}: {}", dropped.reason),
        });
        self.failure = self.writer.packet(now, interface, Some(direction), octets, comment.as_deref()).err();
    }

    /// Adds secrets, as lines of a key log: packets that follow can be decrypted by them.
    pub fn secrets(&mut self, lines: &str) {
        if self.failure.is_none() {
            self.failure = self.writer.secrets(lines).err();
        }
    }

    /// Ends the capture: the first error that writing met, if any.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.writer.flush(),
        }
    }
}
