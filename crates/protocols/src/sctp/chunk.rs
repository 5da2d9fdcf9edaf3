//! An SCTP packet as the simulator carries it: the common header and its chunks, user data by length alone.

use smallvec::SmallVec;

/// Octets of the common header (RFC 9260 3.1).
pub const COMMON_HEADER_BYTES: u32 = 12;

/// Octets of a DATA chunk in front of its user data (RFC 9260 3.3.1).
pub const DATA_HEADER_BYTES: u32 = 16;

/// `bytes` and the padding behind them: chunks and parameters end at multiples of 4 octets (RFC 9260 3.2).
pub const fn padded(bytes: u32) -> u32 {
    bytes.next_multiple_of(4)
}

/// The chunks of a packet: mostly one, which lies in the packet itself.
pub type Chunks = SmallVec<[Chunk; 1]>;

/// A packet: what one IP datagram carries (RFC 9260 section 3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// The tag that the receiver of the packet chose, 0 beside an INIT (RFC 9260 8.5).
    pub verification_tag: u32,
    /// The chunks in their order.
    pub chunks: Chunks,
}

impl Packet {
    /// Octets, headers, user data and padding included.
    pub fn total_bytes(&self) -> u32 {
        self.chunks.iter().fold(COMMON_HEADER_BYTES, |bytes, chunk| bytes + padded(chunk.bytes()))
    }

    /// Octets of user data in all DATA chunks.
    pub fn payload_bytes(&self) -> u32 {
        self.data().map(|data| u32::from(data.payload_bytes)).sum()
    }

    /// The DATA chunks in their order.
    pub fn data(&self) -> impl Iterator<Item = &Data> {
        self.chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(data),
            _ => None,
        })
    }
}

/// A chunk (RFC 9260 3.3). What makes one large and is rare is kept aside, since packets are moved often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Chunk {
    /// A message or a fragment of one.
    Data(Data),
    /// Asks for an association.
    Init(Box<Init>),
    /// Answers an INIT; its parameters hold the state cookie.
    InitAck(Box<Init>),
    /// Acknowledges DATA.
    Sack(Sack),
    /// Asks whether a path is alive; the information comes back as it is.
    Heartbeat(Vec<Parameter>),
    /// Answers a HEARTBEAT.
    HeartbeatAck(Vec<Parameter>),
    /// Ends the association at once.
    Abort {
        /// The verification tag is the one of the packet answered, not the receiver's: the sender has none (T
        /// bit).
        reflected_tag: bool,
        /// Error causes (RFC 9260 3.3.10): parameters in form.
        causes: Vec<Parameter>,
    },
    /// No more data; acknowledges as a SACK without gaps does.
    Shutdown {
        /// The last TSN received in sequence.
        cumulative_tsn_ack: u32,
    },
    /// Answers a SHUTDOWN.
    ShutdownAck,
    /// Tells of an error that does not end the association.
    Error(Vec<Parameter>),
    /// Hands a state cookie back.
    CookieEcho(Vec<u8>),
    /// The association is up.
    CookieAck,
    /// Answers a SHUTDOWN ACK.
    ShutdownComplete {
        /// As of [`Chunk::Abort`].
        reflected_tag: bool,
    },
    /// Asks for a change of the sender's addresses (RFC 5061 4.1.1).
    Asconf(Box<Asconf>),
    /// Answers an ASCONF (RFC 5061 4.1.2).
    AsconfAck(Box<AsconfAck>),
    /// Moves the receiver beyond messages that were given up (RFC 3758 3.2).
    ForwardTsn(Box<ForwardTsn>),
    /// A chunk of another type.
    Other {
        /// The type.
        kind: u8,
        /// The flags.
        flags: u8,
        /// What follows the length field, without padding.
        value: Vec<u8>,
    },
}

impl Chunk {
    /// Octets without the padding behind it: the chunk's length field.
    pub fn bytes(&self) -> u32 {
        4 + match self {
            Chunk::Data(data) => DATA_HEADER_BYTES - 4 + u32::from(data.payload_bytes),
            Chunk::Init(init) | Chunk::InitAck(init) => 16 + parameters_bytes(&init.parameters),
            Chunk::Sack(sack) => 12 + 4 * (sack.gaps().len() + sack.duplicates().len()) as u32,
            Chunk::Heartbeat(parameters)
            | Chunk::HeartbeatAck(parameters)
            | Chunk::Error(parameters)
            | Chunk::Abort { causes: parameters, .. } => parameters_bytes(parameters),
            Chunk::Shutdown { .. } => 4,
            Chunk::ShutdownAck | Chunk::CookieAck | Chunk::ShutdownComplete { .. } => 0,
            Chunk::Asconf(asconf) => {
                4 + padded(asconf.address.bytes()) + parameters_bytes(&asconf.parameters)
            }
            Chunk::AsconfAck(ack) => 4 + parameters_bytes(&ack.parameters),
            Chunk::ForwardTsn(forward) => 4 + 4 * forward.streams.len() as u32,
            Chunk::CookieEcho(value) | Chunk::Other { value, .. } => value.len() as u32,
        }
    }
}

/// The padding behind the last parameter belongs to the chunk, not to its length (RFC 9260 3.2).
fn parameters_bytes(parameters: &[Parameter]) -> u32 {
    let Some((last, others)) = parameters.split_last() else { return 0 };
    others.iter().map(|parameter| padded(parameter.bytes())).sum::<u32>() + last.bytes()
}

/// A DATA chunk (RFC 9260 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Data {
    /// Transmission sequence number.
    pub tsn: u32,
    /// The stream.
    pub stream: u16,
    /// Stream sequence number; without meaning on an unordered chunk.
    pub ssn: u16,
    /// Payload protocol identifier, the application's.
    pub protocol: u32,
    /// The receiver need not keep the message in its stream's order (U bit).
    pub unordered: bool,
    /// The first fragment of its message (B bit).
    pub beginning: bool,
    /// The last fragment of its message (E bit).
    pub ending: bool,
    /// The receiver should not delay its SACK (I bit).
    pub immediate: bool,
    /// Octets of user data: at most 65519, what the length field leaves.
    pub payload_bytes: u16,
}

/// What INIT and INIT ACK hold alike (RFC 9260 3.3.2, 3.3.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Init {
    /// The tag that packets to the sender of this chunk must bear; not 0.
    pub initiate_tag: u32,
    /// The sender's receive window, in octets.
    pub a_rwnd_bytes: u32,
    /// Streams the sender wants to send on.
    pub outbound_streams: u16,
    /// The most streams the sender takes.
    pub inbound_streams: u16,
    /// The TSN of its first DATA chunk.
    pub initial_tsn: u32,
    /// What follows the fixed part.
    pub parameters: Vec<Parameter>,
}

/// A SACK chunk (RFC 9260 3.3.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sack {
    /// The last TSN received in sequence.
    pub cumulative_tsn_ack: u32,
    /// The receive window that is left, in octets.
    pub a_rwnd_bytes: u32,
    /// What has arrived beyond that, if anything.
    listed: Option<Box<Listed>>,
}

/// The lists of a SACK, of which at least one is not empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Listed {
    gaps: SmallVec<[(u16, u16); 8]>,
    duplicates: Vec<u32>,
}

impl Sack {
    /// With these gap ack blocks and duplicates, either of which may be empty.
    pub fn new(
        cumulative_tsn_ack: u32,
        a_rwnd_bytes: u32,
        gaps: &[(u16, u16)],
        duplicates: Vec<u32>,
    ) -> Sack {
        let listed = (!gaps.is_empty() || !duplicates.is_empty())
            .then(|| Box::new(Listed { gaps: SmallVec::from_slice(gaps), duplicates }));
        Sack { cumulative_tsn_ack, a_rwnd_bytes, listed }
    }

    /// Gap ack blocks: first and last TSN received, counted from `cumulative_tsn_ack`.
    #[inline]
    pub fn gaps(&self) -> &[(u16, u16)] {
        self.listed.as_deref().map_or(&[], |listed| &listed.gaps)
    }

    /// TSNs received more than once since the last SACK.
    #[inline]
    pub fn duplicates(&self) -> &[u32] {
        self.listed.as_deref().map_or(&[], |listed| &listed.duplicates)
    }
}

/// An ASCONF chunk (RFC 5061 4.1.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asconf {
    /// Serial number: one more than the last one's.
    pub serial: u32,
    /// An address of the sender that the receiver knows: by it, it finds the association.
    pub address: Parameter,
    /// The changes asked for.
    pub parameters: Vec<Parameter>,
}

/// An ASCONF ACK chunk (RFC 5061 4.1.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AsconfAck {
    /// The serial number of the ASCONF answered.
    pub serial: u32,
    /// What became of the changes; those of which nothing is said were made.
    pub parameters: Vec<Parameter>,
}

/// A FORWARD TSN chunk (RFC 3758 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForwardTsn {
    /// Everything up to here is to count as received.
    pub cumulative_tsn: u32,
    /// Streams with ordered messages that were given up, and the highest stream sequence number of them.
    pub streams: Vec<(u16, u16)>,
}

/// A parameter of variable length, or an error cause (RFC 9260 3.2.1, 3.3.10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The type; the cause code of an error cause.
    pub kind: u16,
    /// What follows the length field, without padding.
    pub value: Vec<u8>,
}

impl Parameter {
    /// Heartbeat information (RFC 9260 3.3.5).
    pub const HEARTBEAT_INFO: u16 = 1;
    /// An IPv4 address of the sender (RFC 9260 3.3.2.1).
    pub const IPV4_ADDRESS: u16 = 5;
    /// An IPv6 address of the sender (RFC 9260 3.3.2.1).
    pub const IPV6_ADDRESS: u16 = 6;
    /// The state cookie (RFC 9260 3.3.3.1).
    pub const STATE_COOKIE: u16 = 7;
    /// The types of chunks beyond RFC 9260 that the sender takes (RFC 5061 4.2.7).
    pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
    /// The sender takes FORWARD TSN (RFC 3758 3.1).
    pub const FORWARD_TSN_SUPPORTED: u16 = 0xC000;
    /// Asks to add an address (RFC 5061 4.2.1).
    pub const ADD_ADDRESS: u16 = 0xC001;
    /// Asks to delete an address (RFC 5061 4.2.2).
    pub const DELETE_ADDRESS: u16 = 0xC002;
    /// Tells why a change was not made (RFC 5061 4.2.3).
    pub const ERROR_CAUSE_INDICATION: u16 = 0xC003;
    /// Asks to make an address the primary one (RFC 5061 4.2.4).
    pub const SET_PRIMARY: u16 = 0xC004;
    /// Tells that a change was made (RFC 5061 4.2.5).
    pub const SUCCESS_INDICATION: u16 = 0xC005;

    /// Octets without the padding behind it: the parameter's length field.
    pub fn bytes(&self) -> u32 {
        4 + self.value.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(payload_bytes: u16) -> Chunk {
        Chunk::Data(Data {
            tsn: 1,
            stream: 0,
            ssn: 0,
            protocol: 0,
            unordered: false,
            beginning: true,
            ending: true,
            immediate: false,
            payload_bytes,
        })
    }

    #[test]
    fn chunks_are_padded_and_parameters_but_the_last_counted_with_padding() {
        let chunks = [data(5), data(1000)].into_iter().collect();
        let packet = Packet { source_port: 1, destination_port: 2, verification_tag: 3, chunks };
        // 12 + (16 + 5 + 3) + (16 + 1000).
        assert_eq!(packet.total_bytes(), 1052);
        assert_eq!(packet.payload_bytes(), 1005);
        let five = Parameter { kind: 7, value: vec![0] };
        // 4 + (5 + 3) + 5.
        assert_eq!(Chunk::Heartbeat(vec![five.clone(), five]).bytes(), 17);
    }

    #[test]
    fn a_sack_grows_by_four_octets_a_block_and_a_duplicate() {
        let sack = Sack::new(1, 0, &[(2, 3), (5, 5)], vec![9]);
        // 16 + 2 x 4 + 4.
        assert_eq!(Chunk::Sack(sack).bytes(), 28);
    }

    #[test]
    fn a_packet_is_not_large() {
        // It is moved several times a hop, so one that grows slows all runs down.
        assert!(size_of::<Packet>() <= 48, "{} bytes", size_of::<Packet>());
    }
}
