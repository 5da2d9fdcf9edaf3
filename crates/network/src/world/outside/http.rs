//! HTTP/1.1 (RFC 9112) in the octets of a program. It finds where each request and response ends, and
//! whether the connection continues after it.
//!
//! The octets are untrusted. The start line, `Content-Length`, `Transfer-Encoding: chunked`, `Connection`
//! and the lengths of chunks are read; everything else is skipped. Responses to HEAD are not expected.

use std::collections::BTreeMap;

/// Octets of a head, at most. Chosen: eight times what common servers take.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// Octets that wait for others before them, at most. Chosen: more than a window of a kernel, usually.
const MOST_AHEAD_BYTES: usize = 8 << 20;

/// What a program sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    Requests,
    Responses,
}

/// A message of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is whole.
    Whole {
        /// The offset behind its last octet.
        end: u64,
        /// How many octets it has.
        bytes: u64,
        /// Its answer has no body.
        is_head: bool,
        /// The connection ends with its answer.
        is_last: bool,
    },
    /// This is no HTTP. Nothing more is read.
    Malformed {
        /// The offset behind the octets that show it.
        end: u64,
    },
}

/// A stream of requests or responses.
#[derive(Debug)]
pub(super) struct Messages {
    reads: Reads,
    state: State,
    /// The offset of the next octet, and that of the first of the message.
    at: u64,
    begun: u64,
    line: Vec<u8>,
    head: Head,
    /// Octets that have overtaken others, by offset.
    ahead: BTreeMap<u64, Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Fields,
    /// So many octets to go.
    Body(u64),
    ChunkSize,
    /// So many octets of a chunk to go, and the end of its line.
    Chunk(u64),
    Trailer,
    /// To the end of the connection.
    UntilClose,
    /// Nothing more is read: what came was malformed, or a request was the last.
    Over,
}

/// What the head of a message says.
#[derive(Debug, Default)]
struct Head {
    bytes: usize,
    /// Of a response.
    status: u16,
    /// Of a request.
    is_head: bool,
    /// The connection ends behind it unless it says `keep-alive`.
    is_old: bool,
    closes: bool,
    keeps_alive: bool,
    length: Option<u64>,
    is_chunked: bool,
}

impl Messages {
    pub(super) fn new(reads: Reads) -> Messages {
        Messages {
            reads,
            state: State::Start,
            at: 0,
            begun: 0,
            line: Vec::new(),
            head: Head::default(),
            ahead: BTreeMap::new(),
        }
    }

    pub(super) fn reads(&self) -> Reads {
        self.reads
    }

    /// The offset of the octet that is read next.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Takes octets of the stream from this offset on, some of which may have come before; what they
    /// complete.
    pub(super) fn take(&mut self, from: u64, octets: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        if from + octets.len() as u64 <= self.at || self.state == State::Over {
            return found;
        }
        if from > self.at {
            let waiting: usize = self.ahead.values().map(Vec::len).sum();
            if waiting + octets.len() > MOST_AHEAD_BYTES {
                self.fail(&mut found);
            } else if self.ahead.get(&from).is_none_or(|waiting| waiting.len() < octets.len()) {
                self.ahead.insert(from, octets.to_vec());
            }
            return found;
        }
        self.read(&octets[(self.at - from) as usize..], &mut found);
        while let Some(entry) = self.ahead.first_entry()
            && *entry.key() <= self.at
        {
            let (from, octets) = entry.remove_entry();
            if let Some(rest) = octets.get((self.at - from) as usize..) {
                self.read(rest, &mut found);
            }
        }
        found
    }

    /// The program sends nothing more.
    pub(super) fn end(&mut self) -> Option<Found> {
        (self.state == State::UntilClose).then(|| self.whole())
    }

    fn read(&mut self, mut octets: &[u8], found: &mut Vec<Found>) {
        while !octets.is_empty() {
            match self.state {
                State::Body(left) | State::Chunk(left) => {
                    let taken = left.min(octets.len() as u64);
                    self.at += taken;
                    octets = &octets[taken as usize..];
                    let is_body = matches!(self.state, State::Body(_));
                    match (left - taken, is_body) {
                        (0, true) => found.push(self.whole()),
                        (0, false) => self.state = State::ChunkSize,
                        (left, true) => self.state = State::Body(left),
                        (left, false) => self.state = State::Chunk(left),
                    }
                }
                State::UntilClose | State::Over => {
                    self.at += octets.len() as u64;
                    return;
                }
                State::Start if self.line.is_empty() && !may_begin(self.reads, octets[0]) => {
                    self.at += 1;
                    return self.fail(found);
                }
                State::Start | State::Fields | State::ChunkSize | State::Trailer => {
                    let end = octets.iter().position(|&octet| octet == b'\n').map(|at| at + 1);
                    let (line, rest) = octets.split_at(end.unwrap_or(octets.len()));
                    self.at += line.len() as u64;
                    self.head.bytes += line.len();
                    self.line.extend(line);
                    octets = rest;
                    if self.head.bytes > MOST_HEAD_BYTES {
                        return self.fail(found);
                    }
                    if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        let line = String::from_utf8_lossy(&line);
                        if self.read_line(line.trim_end_matches(['\r', '\n']), found).is_none() {
                            return self.fail(found);
                        }
                    }
                }
            }
        }
    }

    /// Reads a line; `None` where it is malformed.
    fn read_line(&mut self, line: &str, found: &mut Vec<Found>) -> Option<()> {
        match self.state {
            // An empty line before a message is skipped (RFC 9112 section 2.2).
            State::Start if line.is_empty() => {}
            State::Start => {
                self.read_start(line)?;
                self.state = State::Fields;
            }
            State::Fields if line.is_empty() => self.end_head(found),
            State::Fields => self.read_field(line)?,
            State::ChunkSize => {
                let size = line.split(';').next()?.trim();
                let size = digits(size, 16).filter(|&size| size < u64::MAX - 2)?;
                // Behind the octets of a chunk its line ends.
                self.state = if size == 0 { State::Trailer } else { State::Chunk(size + 2) };
                self.head.bytes = 0;
            }
            State::Trailer if line.is_empty() => found.push(self.whole()),
            _ => {}
        }
        Some(())
    }

    fn read_start(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let (first, second) = (words.next()?, words.next()?);
        let version = match self.reads {
            Reads::Requests => {
                self.head.is_head = first == "HEAD";
                words.next()?
            }
            Reads::Responses => {
                self.head.status = second.parse().ok()?;
                first
            }
        };
        self.head.is_old = version == "HTTP/1.0";
        version.starts_with("HTTP/1.").then_some(())
    }

    fn read_field(&mut self, line: &str) -> Option<()> {
        let (name, value) = line.split_once(':')?;
        // Of a request that is refused, of a response it is skipped (RFC 9112 section 5.1).
        if self.reads == Reads::Requests && name.ends_with([' ', '\t']) {
            return None;
        }
        let (name, value) = (name.trim_end(), value.trim());
        let has = |word: &str| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word));
        if name.eq_ignore_ascii_case("Content-Length") {
            let length = digits(value, 10)?;
            // Of several that differ none can be right (RFC 9112 section 6.3).
            if self.head.length.replace(length).is_some_and(|before| before != length) {
                return None;
            }
        } else if name.eq_ignore_ascii_case("Transfer-Encoding") {
            self.head.is_chunked |= has("chunked");
        } else if name.eq_ignore_ascii_case("Connection") {
            self.head.closes |= has("close");
            self.head.keeps_alive |= has("keep-alive");
        }
        Some(())
    }

    /// RFC 9112 section 6.3: how long the body is.
    fn end_head(&mut self, found: &mut Vec<Found>) {
        let is_response = self.reads == Reads::Responses;
        let status = self.head.status;
        if is_response && (100..200).contains(&status) {
            // The response itself is still to come.
            self.head = Head::default();
            self.state = State::Start;
        } else if is_response && matches!(status, 204 | 304) {
            found.push(self.whole());
        } else if self.head.is_chunked {
            self.state = State::ChunkSize;
        } else if let Some(length @ 1..) = self.head.length {
            self.state = State::Body(length);
        } else if is_response && self.head.length.is_none() {
            self.state = State::UntilClose;
        } else {
            found.push(self.whole());
        }
    }

    /// The message is whole, and the next one begins.
    fn whole(&mut self) -> Found {
        let head = std::mem::take(&mut self.head);
        let bytes = self.at - self.begun;
        (self.state, self.begun) = (State::Start, self.at);
        // Section 9.3: `close` wins.
        let is_last = head.closes || head.is_old && !head.keeps_alive;
        if is_last && self.reads == Reads::Requests {
            // Section 9.6: no further request is processed.
            self.state = State::Over;
        }
        Found::Whole { end: self.at, bytes, is_head: head.is_head, is_last }
    }

    fn fail(&mut self, found: &mut Vec<Found>) {
        self.state = State::Over;
        self.ahead.clear();
        found.push(Found::Malformed { end: self.at });
    }
}

/// Whether a message, or an empty line before it, may begin with this octet: the first one of a method is of
/// a token (RFC 9110 section 5.6.2). A TLS handshake is known by that.
fn may_begin(reads: Reads, octet: u8) -> bool {
    let begins = match reads {
        Reads::Requests => octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet),
        Reads::Responses => octet == b'H',
    };
    begins || matches!(octet, b'\r' | b'\n')
}

/// A number of digits alone.
fn digits(text: &str, radix: u32) -> Option<u64> {
    let is_number = text.chars().all(|letter| letter.is_digit(radix));
    u64::from_str_radix(text, radix).ok().filter(|_| is_number)
}

/// The head of a request of at least so many octets.
pub(super) fn request(host: &str, path: &str, bytes: u32) -> Vec<u8> {
    let head = |padding: usize| {
        let padding = "-".repeat(padding);
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: roamsim{padding}\r\n\r\n").into_bytes()
    };
    head((bytes as usize).saturating_sub(head(0).len()))
}

/// The head of a response whose body has so many octets.
pub(super) fn response(body_bytes: u32) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {body_bytes}\r\n\r\n"
    )
    .into_bytes()
}

/// The answer to what is no request; the connection ends behind it.
pub(super) fn refusal() -> Vec<u8> {
    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(end: u64, bytes: u64) -> Found {
        Found::Whole { end, bytes, is_head: false, is_last: false }
    }

    #[test]
    fn requests_end_where_their_heads_and_bodies_do() {
        let text = b"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nPOST /a HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcHEAD / HTTP/1.0\r\n\r\n";
        // 2 octets of an empty line, 27 of a head; 39 of a head and 3 of a body; 19 of a head.
        let last = Found::Whole { end: 90, bytes: 19, is_head: true, is_last: true };
        let expected = vec![whole(29, 29), whole(71, 42), last];
        assert_eq!(Messages::new(Reads::Requests).take(0, text), expected);
        // Octet by octet, from the last to the first, and each twice.
        let mut stream = Messages::new(Reads::Requests);
        let mut found = Vec::new();
        for at in (0..text.len()).rev() {
            found.extend(stream.take(at as u64, &text[at..=at]));
            found.extend(stream.take(at as u64, &text[at..=at]));
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn responses_end_by_length_by_chunks_and_with_the_connection() {
        let mut stream = Messages::new(Reads::Responses);
        let text = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
        // 25 octets, then 17 + 19 + 2 of a head and 2 of a body.
        assert_eq!(stream.take(0, text), [whole(65, 65)]);
        let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n";
        let bytes = text.len() as u64;
        assert_eq!(stream.take(65, text), [whole(65 + bytes, bytes)]);
        let at = 65 + bytes;
        assert_eq!(stream.take(at, b"HTTP/1.1 204 No Content\r\n\r\n"), [whole(at + 27, 27)]);
        assert_eq!(stream.end(), None);
        assert_eq!(stream.take(at + 27, b"HTTP/1.0 200 OK\r\n\r\nabc"), []);
        let last = Found::Whole { end: at + 49, bytes: 22, is_head: false, is_last: true };
        assert_eq!(stream.end(), Some(last));
    }

    #[test]
    fn what_is_no_http_is_malformed_once() {
        let long = [b"GET / HTTP/1.1\r\nA: ".to_vec(), vec![b'x'; 70_000]].concat();
        // Each up to the octet that shows it: of a handshake of TLS the first, of a head that is too long all
        // of the piece.
        let texts: [(&[u8], usize); 10] = [
            (b"\x16\x03\x01\x02", 1),
            (b"\r\n(GET / HTTP/1.1\r\n", 3),
            (b"GET /\r\nHost: x\r\n", 7),
            (b"GET / HTTP/2\r\n\r\n", 14),
            (b"GET / HTTP/1.1\r\nno colon\r\nHost: x\r\n\r\n", 26),
            (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n", 36),
            (b"GET / HTTP/1.1\r\nContent-Length: +1\r\n", 36),
            (b"GET / HTTP/1.1\r\nContent-Length : 1\r\n", 36),
            (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 54),
            (&long, long.len()),
        ];
        for (text, shown) in texts {
            let mut stream = Messages::new(Reads::Requests);
            let malformed = [Found::Malformed { end: shown as u64 }];
            assert_eq!(stream.take(0, text), malformed, "{:?}", String::from_utf8_lossy(text));
            assert_eq!(stream.take(shown as u64, b"GET / HTTP/1.1\r\n\r\n"), []);
        }
        assert_eq!(Messages::new(Reads::Responses).take(0, b"GET /"), [Found::Malformed { end: 1 }]);
        for size in ["ffffffffffffffff", "+3"] {
            let chunk = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n");
            let malformed = [Found::Malformed { end: chunk.len() as u64 }];
            assert_eq!(Messages::new(Reads::Responses).take(0, chunk.as_bytes()), malformed);
        }
    }

    #[test]
    fn a_blank_before_the_colon_of_a_response_is_skipped() {
        // 17 + 20 + 2 octets of a head, and 1 of a body.
        let text = b"HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\na";
        assert_eq!(Messages::new(Reads::Responses).take(0, text), [whole(40, 40)]);
    }

    #[test]
    fn close_wins_over_keep_alive() {
        for (version, fields, closes) in [
            ("1.1", "Connection: close\r\nConnection: keep-alive\r\n", true),
            ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", true),
            ("1.0", "Connection: keep-alive\r\nConnection: x\r\n", false),
            ("1.0", "", true),
            ("1.1", "", false),
        ] {
            let text = format!("GET / HTTP/{version}\r\n{fields}\r\n");
            let found = Messages::new(Reads::Requests).take(0, text.as_bytes());
            assert!(
                matches!(found[..], [Found::Whole { is_last, .. }] if is_last == closes),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn behind_the_last_request_nothing_is_read() {
        // 16 + 19 + 2 octets.
        let last = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
        let found = Messages::new(Reads::Requests).take(0, &[last, &b"GET / HTTP/1.1\r\n\r\n"[..]].concat());
        assert_eq!(found, [Found::Whole { end: 37, bytes: 37, is_head: false, is_last: true }]);
    }

    #[test]
    fn of_pieces_that_wait_at_one_offset_the_longer_is_kept() {
        let text = b"GET / HTTP/1.1\r\n\r\n";
        let mut stream = Messages::new(Reads::Requests);
        assert_eq!(stream.take(4, &text[4..]), []);
        assert_eq!(stream.take(4, &text[4..8]), []);
        // 16 octets of a line and 2 of an empty one.
        assert_eq!(stream.take(0, &text[..4]), [whole(18, 18)]);
    }

    #[test]
    fn a_request_has_the_size_that_is_asked_for_or_the_least_there_is() {
        let least = request("server", "/", 1);
        assert_eq!(least, b"GET / HTTP/1.1\r\nHost: server\r\nUser-Agent: roamsim\r\n\r\n");
        assert_eq!(request("server", "/", 500).len(), 500);
        let read = Messages::new(Reads::Requests).take(0, &request("server", "/", 500));
        assert_eq!(read, [whole(500, 500)]);
    }
}
