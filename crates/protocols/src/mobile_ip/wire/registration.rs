//! Registration request and reply (RFC 5944 sections 3.3, 3.4), as UDP carries them.

use std::net::Ipv4Addr;

use super::{Code, DecodeError, Extension, Extensions, Reader};

const TYPE_REQUEST: u8 = 1;
const TYPE_REPLY: u8 = 3;
const REQUEST_BYTES: usize = 24;
const REPLY_BYTES: usize = 20;

/// The flags of a request (section 3.3; T: RFC 3024 section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestFlags(pub u8);

impl RequestFlags {
    /// S: keep the earlier bindings.
    pub const SIMULTANEOUS_BINDINGS: RequestFlags = RequestFlags(0x80);
    /// D: the mobile node decapsulates by itself.
    pub const DECAPSULATION_BY_MOBILE_NODE: RequestFlags = RequestFlags(0x20);
    /// M: minimal encapsulation.
    pub const MINIMAL_ENCAPSULATION: RequestFlags = RequestFlags(0x10);
    /// G: GRE encapsulation.
    pub const GRE: RequestFlags = RequestFlags(0x08);
    /// r and x: sent as zero.
    pub const RESERVED: RequestFlags = RequestFlags(0x05);
    /// T: reverse tunnel.
    pub const REVERSE_TUNNEL: RequestFlags = RequestFlags(0x02);

    /// Whether any flag of `other` is set.
    pub const fn intersects(self, other: RequestFlags) -> bool {
        self.0 & other.0 != 0
    }
}

/// A registration request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flags.
    pub flags: RequestFlags,
    /// The registration's lifetime in seconds: 0 deregisters, 0xffff is without end.
    pub lifetime_s: u16,
    /// The mobile node's home address.
    pub home_address: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// The end of the tunnel.
    pub care_of_address: Ipv4Addr,
    /// Matches replies, and protects against replay.
    pub identification: u64,
    /// Extensions.
    pub extensions: Extensions,
}

/// A registration reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Accepted or refused, and why.
    pub code: Code,
    /// The lifetime granted, in seconds.
    pub lifetime_s: u16,
    /// The mobile node's home address.
    pub home_address: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// Of the request, as the style of replay protection has it.
    pub identification: u64,
    /// Extensions.
    pub extensions: Extensions,
}

/// What UDP port 434 carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A registration request.
    Request(Request),
    /// A registration reply.
    Reply(Reply),
}

impl Message {
    /// Its octets, without those of UDP.
    pub fn encoded_bytes(&self) -> usize {
        match self {
            Message::Request(request) => REQUEST_BYTES + request.extensions.encoded_bytes(),
            Message::Reply(reply) => REPLY_BYTES + reply.extensions.encoded_bytes(),
        }
    }

    /// The UDP payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(self.encoded_bytes());
        self.encode_fixed(&mut octets);
        self.extensions().encode(&mut octets);
        octets
    }

    /// The octets before the extensions.
    fn encode_fixed(&self, octets: &mut Vec<u8>) {
        match self {
            Message::Request(request) => {
                octets.extend([TYPE_REQUEST, request.flags.0]);
                octets.extend(request.lifetime_s.to_be_bytes());
                octets.extend(request.home_address.octets());
                octets.extend(request.home_agent.octets());
                octets.extend(request.care_of_address.octets());
                octets.extend(request.identification.to_be_bytes());
            }
            Message::Reply(reply) => {
                octets.extend([TYPE_REPLY, reply.code.0]);
                octets.extend(reply.lifetime_s.to_be_bytes());
                octets.extend(reply.home_address.octets());
                octets.extend(reply.home_agent.octets());
                octets.extend(reply.identification.to_be_bytes());
            }
        }
    }

    /// The octets before an extension that follows `before`.
    pub(crate) fn encode_until(&self, before: &[Extension]) -> Vec<u8> {
        let mut octets = Vec::with_capacity(self.encoded_bytes());
        self.encode_fixed(&mut octets);
        before.iter().for_each(|extension| extension.encode(&mut octets));
        octets
    }

    /// Its extensions.
    pub fn extensions(&self) -> &Extensions {
        match self {
            Message::Request(request) => &request.extensions,
            Message::Reply(reply) => &reply.extensions,
        }
    }

    /// Its extensions, to add to them.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        match self {
            Message::Request(request) => &mut request.extensions,
            Message::Reply(reply) => &mut reply.extensions,
        }
    }

    /// Reads a UDP payload.
    pub fn decode(octets: &[u8]) -> Result<Message, DecodeError> {
        let (fixed_bytes, is_request) = match octets.first() {
            None => return Err(DecodeError::Truncated { available: 0 }),
            Some(&TYPE_REQUEST) => (REQUEST_BYTES, true),
            Some(&TYPE_REPLY) => (REPLY_BYTES, false),
            Some(&kind) => return Err(DecodeError::UnknownType(kind)),
        };
        let truncated = DecodeError::Truncated { available: octets.len() };
        let (fixed, rest) = octets.split_at_checked(fixed_bytes).ok_or(truncated)?;
        let extensions = Extensions::decode(rest)?;
        let mut reader = Reader(&fixed[1..]);
        let message =
            if is_request { request(&mut reader, extensions) } else { reply(&mut reader, extensions) };
        message.ok_or(truncated)
    }
}

fn request(reader: &mut Reader<'_>, extensions: Extensions) -> Option<Message> {
    Some(Message::Request(Request {
        flags: RequestFlags(reader.u8()?),
        lifetime_s: reader.u16()?,
        home_address: reader.address()?,
        home_agent: reader.address()?,
        care_of_address: reader.address()?,
        identification: reader.u64()?,
        extensions,
    }))
}

fn reply(reader: &mut Reader<'_>, extensions: Extensions) -> Option<Message> {
    Some(Message::Reply(Reply {
        code: Code(reader.u8()?),
        lifetime_s: reader.u16()?,
        home_address: reader.address()?,
        home_agent: reader.address()?,
        identification: reader.u64()?,
        extensions,
    }))
}
