//! A writer of pcapng files (draft-ietf-opsawg-pcapng): section header, interface descriptions, enhanced
//! packets. Little-endian, time stamps in nanoseconds.

use roamsim_engine::Time;
use std::io::{self, Write};

/// Raw IPv4 (LINKTYPE_IPV4).
pub const LINKTYPE_IPV4: u16 = 228;
/// Raw IPv6 (LINKTYPE_IPV6).
pub const LINKTYPE_IPV6: u16 = 229;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 10;
const TLS_KEY_LOG: u32 = 0x544C_534B;

const OPT_ENDOFOPT: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;

/// Which way a packet crossed an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the node.
    Inbound,
    /// Out of the node.
    Outbound,
}

/// A file that is being written.
pub struct Writer<W: Write> {
    file: W,
}

#[derive(Default)]
struct Options(Vec<u8>);

impl Options {
    fn add(&mut self, code: u16, value: &[u8]) {
        self.0.extend(code.to_le_bytes());
        self.0.extend((value.len() as u16).to_le_bytes());
        self.0.extend(value);
        pad(&mut self.0);
    }

    fn finish(mut self) -> Vec<u8> {
        if !self.0.is_empty() {
            self.add(OPT_ENDOFOPT, &[]);
        }
        self.0
    }
}

fn pad(octets: &mut Vec<u8>) {
    octets.resize(octets.len().next_multiple_of(4), 0);
}

impl<W: Write> Writer<W> {
    /// Begins a section.
    pub fn new(file: W) -> io::Result<Writer<W>> {
        let mut writer = Writer { file };
        let mut body = Vec::new();
        body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        body.extend(1u16.to_le_bytes());
        body.extend(0u16.to_le_bytes());
        body.extend((-1i64).to_le_bytes());
        let mut options = Options::default();
        options.add(SHB_USERAPPL, concat!("Roamsim ", env!("CARGO_PKG_VERSION")).as_bytes());
        body.extend(options.finish());
        writer.block(SECTION_HEADER, &body)?;
        Ok(writer)
    }

    /// Describes the next interface; interfaces are numbered from zero.
    pub fn interface(&mut self, link_type: u16, name: &str) -> io::Result<()> {
        let mut body = Vec::new();
        body.extend(link_type.to_le_bytes());
        body.extend(0u16.to_le_bytes());
        body.extend(0u32.to_le_bytes());
        let mut options = Options::default();
        options.add(IF_NAME, name.as_bytes());
        options.add(IF_TSRESOL, &[9]);
        body.extend(options.finish());
        self.block(INTERFACE_DESCRIPTION, &body)
    }

    /// Adds a packet.
    pub fn packet(
        &mut self,
        time: Time,
        interface: u32,
        direction: Option<Direction>,
        octets: &[u8],
        comment: Option<&str>,
    ) -> io::Result<()> {
        let mut body = Vec::with_capacity(octets.len() + 64);
        let length = (octets.len() as u32).to_le_bytes();
        body.extend(interface.to_le_bytes());
        body.extend(((time.as_ns() >> 32) as u32).to_le_bytes());
        body.extend((time.as_ns() as u32).to_le_bytes());
        body.extend(length);
        body.extend(length);
        body.extend(octets);
        pad(&mut body);
        let mut options = Options::default();
        if let Some(comment) = comment {
            options.add(OPT_COMMENT, comment.as_bytes());
        }
        if let Some(direction) = direction {
            let flags: u32 = match direction {
                Direction::Inbound => 1,
                Direction::Outbound => 2,
            };
            options.add(EPB_FLAGS, &flags.to_le_bytes());
        }
        body.extend(options.finish());
        self.block(ENHANCED_PACKET, &body)
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Secrets of TLS, as lines of a key log (section 4.7).
    pub fn secrets(&mut self, lines: &str) -> io::Result<()> {
        let mut body = TLS_KEY_LOG.to_le_bytes().to_vec();
        body.extend((lines.len() as u32).to_le_bytes());
        body.extend(lines.as_bytes());
        pad(&mut body);
        self.block(DECRYPTION_SECRETS, &body)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.file.write_all(&kind.to_le_bytes())?;
        self.file.write_all(&length)?;
        self.file.write_all(body)?;
        self.file.write_all(&length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_carry_their_length_twice() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file).expect("writing to memory");
        writer.interface(LINKTYPE_IPV6, "mn:path").expect("writing to memory");
        let time = Time::from_ns(0x1_0000_0005);
        writer
            .packet(time, 0, Some(Direction::Outbound), &[1, 2, 3, 4, 5], Some("x"))
            .expect("writing to memory");

        let mut at = 0;
        let mut kinds = Vec::new();
        while at < file.len() {
            let word = |offset: usize| u32::from_le_bytes(file[offset..offset + 4].try_into().unwrap());
            let length = word(at + 4) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(at + length - 4) as usize, length);
            kinds.push(word(at));
            if word(at) == ENHANCED_PACKET {
                assert_eq!((word(at + 12), word(at + 16), word(at + 20)), (1, 5, 5));
            }
            at += length;
        }
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE_DESCRIPTION, ENHANCED_PACKET]);
    }
}
