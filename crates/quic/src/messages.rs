//! Messages: each on a stream of its own, or in a DATAGRAM frame (RFC 9221).
//!
//! A stream of its own is unidirectional and ends with its message (RFC 9000 section 2). A lost packet delays
//! the messages that it carried and no others. The peer allows 100 streams at a time, the library's default;
//! further messages wait.
//!
//! A DATAGRAM frame is sent once. Its first four octets are the message's number, by which the peer's socket
//! finds it. The library keeps about a megabyte of frames that wait to be sent, and drops the oldest.

use bytes::{Bytes, BytesMut};
use quinn_proto::{Connection, Dir, StreamId};
use std::collections::VecDeque;

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// Each on a stream of its own.
    StreamEach,
    /// One behind the other on one stream.
    OneStream,
    /// Each in a DATAGRAM frame, which is not repeated.
    Datagrams,
}

/// Octets of a datagram's number.
pub const NUMBER_BYTES: usize = 4;

/// A stream whose message is not yet handed over.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    stream: StreamId,
    left_bytes: u64,
}

/// Messages that an end sends.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    written: u64,
    /// Number and octets of each message; a datagram's octets include its number.
    waiting: VecDeque<(u64, u64)>,
    /// Open streams in order of their messages.
    open: Vec<Outgoing>,
    unacknowledged: u64,
    /// Before the handshake is complete: messages on streams that the server may refuse.
    early: Vec<(u64, u64)>,
    /// What the library's buffer of datagrams takes while it is empty; `None` before the first one.
    room_bytes: Option<usize>,
}

impl Outbox {
    /// Takes a message of so many octets; returns its number.
    pub fn push(&mut self, bytes: u64) -> u64 {
        let number = self.written;
        self.written += 1;
        self.waiting.push_back((number, bytes));
        number
    }

    /// Whether everything has been sent, and on streams acknowledged.
    pub fn is_done(&self, connection: &mut Connection) -> bool {
        self.waiting.is_empty()
            && self.open.is_empty()
            && self.unacknowledged == 0
            && self.room_bytes.is_none_or(|empty| connection.datagrams().send_buffer_space() == empty)
    }

    /// A stream is acknowledged to its end.
    pub fn on_acknowledged(&mut self) {
        self.unacknowledged = self.unacknowledged.saturating_sub(1);
    }

    /// The handshake is complete. Messages that were sent early and refused go again, on the same streams:
    /// the library begins to count anew.
    pub fn on_handshake(&mut self, refused: bool) {
        let early = std::mem::take(&mut self.early);
        if refused {
            early.into_iter().rev().for_each(|message| self.waiting.push_front(message));
            self.open.clear();
            self.unacknowledged = 0;
        }
    }

    /// Hands over what the connection takes, `early` before the handshake is complete; `zeros` are octets to
    /// write.
    pub fn write(&mut self, connection: &mut Connection, how: Messages, early: bool, zeros: &Bytes) {
        match how {
            Messages::StreamEach => self.write_streams(connection, early, zeros),
            Messages::Datagrams => self.write_datagrams(connection),
            Messages::OneStream => {}
        }
    }

    fn write_streams(&mut self, connection: &mut Connection, early: bool, zeros: &Bytes) {
        while !self.waiting.is_empty() {
            // The number of the stream is that of its message.
            let Some(stream) = connection.streams().open(Dir::Uni) else { break };
            let Some((number, left_bytes)) = self.waiting.pop_front() else { break };
            if early {
                self.early.push((number, left_bytes));
            }
            self.open.push(Outgoing { stream, left_bytes });
            self.unacknowledged += 1;
        }
        self.open.retain_mut(|outgoing| {
            let mut stream = connection.send_stream(outgoing.stream);
            while outgoing.left_bytes > 0 {
                let bytes = outgoing.left_bytes.min(zeros.len() as u64) as usize;
                match stream.write_chunks(&mut [zeros.slice(..bytes)]) {
                    Ok(written) => outgoing.left_bytes -= written.bytes as u64,
                    Err(_) => return true,
                }
            }
            let _ = stream.finish();
            false
        });
    }

    fn write_datagrams(&mut self, connection: &mut Connection) {
        if !self.waiting.is_empty() {
            self.room_bytes.get_or_insert(connection.datagrams().send_buffer_space());
        }
        for (number, bytes) in self.waiting.drain(..) {
            let mut payload = BytesMut::zeroed((bytes as usize).max(NUMBER_BYTES));
            payload[..NUMBER_BYTES].copy_from_slice(&(number as u32).to_be_bytes());
            // What does not fit is lost, as a datagram of UDP would be.
            let _ = connection.datagrams().send(payload.freeze(), true);
        }
    }
}

/// The number of the message in a DATAGRAM frame.
pub(crate) fn number_of(datagram: &[u8]) -> Option<u64> {
    let number = datagram.first_chunk::<NUMBER_BYTES>()?;
    Some(u64::from(u32::from_be_bytes(*number)))
}
