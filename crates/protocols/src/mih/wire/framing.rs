//! Messages in a byte stream (MIH over TCP): there is no framing but the header's length field.

use super::message::{HEADER_BYTES, Header};

/// Cuts a byte stream into messages. A stream's segment may hold several messages, or a part of one.
///
/// Only the length field is looked at: a message that is malformed otherwise is handed out, and refused when
/// it is decoded, while the stream goes on behind it.
#[derive(Debug, Default)]
pub struct Deframer {
    buffer: Vec<u8>,
    taken: usize,
}

impl Deframer {
    /// An empty one.
    pub fn new() -> Deframer {
        Deframer::default()
    }

    /// Takes the stream's next octets.
    pub fn push(&mut self, octets: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
        self.buffer.extend_from_slice(octets);
    }

    /// The octets of the next message, once they are all there.
    pub fn next_message(&mut self) -> Option<&[u8]> {
        let rest = &self.buffer[self.taken..];
        if rest.len() < HEADER_BYTES {
            return None;
        }
        let message_bytes = Header::decode(rest).ok()?.message_bytes();
        if rest.len() < message_bytes {
            return None;
        }
        let start = self.taken;
        self.taken += message_bytes;
        Some(&self.buffer[start..self.taken])
    }

    /// How many octets wait for the rest of their message.
    pub fn buffered_bytes(&self) -> usize {
        self.buffer.len() - self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_however_the_stream_is_cut() {
        // Two messages: 8 + 3 octets, 8 + 0 octets.
        let stream = [0x10, 0, 0x14, 1, 0, 1, 0, 3, 7, 8, 9, 0x10, 0, 0x14, 3, 0, 2, 0, 0];
        for cut in 0..=stream.len() {
            let mut deframer = Deframer::new();
            let mut messages = Vec::new();
            for part in [&stream[..cut], &stream[cut..]] {
                deframer.push(part);
                while let Some(message) = deframer.next_message() {
                    messages.push(message.to_vec());
                }
            }
            assert_eq!(messages, [stream[..11].to_vec(), stream[11..].to_vec()], "cut at {cut}");
            assert_eq!(deframer.buffered_bytes(), 0);
        }
    }

    #[test]
    fn a_part_of_a_message_waits() {
        let mut deframer = Deframer::new();
        deframer.push(&[0x10, 0, 0x14, 1, 0, 1, 0, 1]);
        assert_eq!(deframer.next_message(), None);
        assert_eq!(deframer.buffered_bytes(), 8);
    }
}
