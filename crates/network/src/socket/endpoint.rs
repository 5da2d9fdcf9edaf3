//! Endpoints of other crates: transports that the world knows by a trait alone.
//!
//! An [`Endpoint`] is one end of a reliable stream, and a state machine without I/O, clock and randomness of
//! its own. The world tells it the time, hands it datagrams, wakes it at its deadline, and takes what it has
//! to send. It runs over UDP, as a transport that is no part of an operating system does (RFC 8085). Its
//! packets are real octets with real headers: captures show them, and queues, losses and handovers treat them
//! like any others.
//!
//! Applications write octets without content. Messages keep their place in the stream, and are delivered when
//! the octets up to their end have arrived; or the endpoint numbers them, and tells which have arrived.

use super::Counts;
use crate::traffic_class::Ecn;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use std::io::Write;

/// A datagram that has come.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Where it comes from.
    pub source: Address,
    /// The port that it comes from.
    pub source_port: u16,
    /// The address of this node that it came to.
    pub destination: Address,
    /// What it says of ECN (RFC 3168).
    pub ecn: Ecn,
    /// What UDP carries.
    pub payload: &'a [u8],
}

/// A datagram to be sent.
#[derive(Clone, Debug, Default)]
pub struct Transmit {
    /// The address of this node that it leaves from; `None`: the one by which the peer knew the node at
    /// first.
    pub source: Option<Address>,
    /// Where it goes; `None`: to where the peer was at first.
    pub destination: Option<Address>,
    /// The port that it goes to; `None`: the peer's.
    pub destination_port: Option<u16>,
    /// Whether it has data of the application, and not acknowledgements or the like alone: losses are counted
    /// by that.
    pub has_data: bool,
    /// Whether queues may mark it; not capable unless the endpoint says so.
    pub ecn: Ecn,
    /// What UDP carries. Links drop what is larger than their MTU; what is longer than UDP allows is not
    /// sent.
    pub payload: Vec<u8>,
}

/// What has happened at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointEvent {
    /// Both ends are ready.
    Established,
    /// The stream has arrived in order up to this offset.
    Received {
        /// Octets from the beginning of the stream.
        up_to: u64,
    },
    /// A message that the peer numbered has arrived.
    Message {
        /// Its number.
        number: u64,
        /// Whether it is repeated until it arrives. Of others, those before one that has arrived count as
        /// lost until they arrive too.
        is_reliable: bool,
    },
    /// The peer sends nothing more.
    RemoteClosed,
    /// It has given up.
    TimedOut,
    /// The peer has given up, or refused.
    Reset,
}

/// Where an endpoint writes a log of its own.
pub type LogFile = Box<dyn Write + Send + Sync>;

/// One end of a transport of another crate.
///
/// Calls come in this order: `handle`, `handle_timeout`, `on_addresses` and those of the application as
/// things happen, then `poll_transmit` until it returns `None`, then `poll_event` until it returns `None`,
/// then `poll_timeout`.
pub trait Endpoint: Send {
    /// The protocol's name in results.
    fn protocol(&self) -> &'static str {
        "endpoint"
    }

    /// Lines of a key log with secrets that nobody has taken yet. Captures hold them.
    fn take_secrets(&mut self) -> Option<String> {
        None
    }

    /// How files of its log end, if it writes one.
    fn log_ending(&self) -> Option<&'static str> {
        None
    }

    /// It is to write its log there, under this title. Said before everything else, where it is wanted.
    fn log_to(&mut self, _title: String, _file: LogFile) {}

    /// So many octets of payload fit into a packet on every path between the two ends. Said once, before
    /// everything else.
    fn on_path(&mut self, _payload_bytes: u32) {}

    /// The end that has data is to open the connection. The other one waits for it.
    fn open(&mut self);

    /// The application writes so many octets.
    fn write(&mut self, bytes: u64);

    /// The application writes a message of so many octets. Its number, counted from 0, if the peer tells by
    /// that when it has arrived; `None` if it is a part of the stream.
    fn write_message(&mut self, bytes: u64) -> Option<u64> {
        self.write(bytes);
        None
    }

    /// The application writes nothing more: closes when everything has been delivered.
    fn close(&mut self);

    /// Gives the connection up, with what was to be sent.
    fn abort(&mut self);

    /// Takes a datagram.
    fn handle(&mut self, now: Time, arrival: &Arrival<'_>);

    /// The next datagram that is to leave now.
    fn poll_transmit(&mut self, now: Time) -> Option<Transmit>;

    /// The next thing that has happened.
    fn poll_event(&mut self) -> Option<EndpointEvent>;

    /// When it is to be woken, if nothing comes before.
    fn poll_timeout(&self) -> Option<Time>;

    /// Does what is due by now.
    fn handle_timeout(&mut self, now: Time);

    /// The addresses of this node that can be used have changed; the preferred one comes first. It may be
    /// that there is none. Told at a station whose scheme tells transports of its addresses
    /// ([`MobileSctp`](crate::handover::Scheme::MobileSctp),
    /// [`Migration`](crate::handover::Scheme::Migration), [`Mih`](crate::handover::Scheme::Mih), and a
    /// selection's).
    fn on_addresses(&mut self, _now: Time, _usable: &[Address]) {}

    /// How often a NAT before the node has given it another port by then, which it does not see itself. The
    /// NAT passes on nothing to the port before.
    fn rebindings(&self, _now: Time) -> u64 {
        0
    }

    /// Whether its peer sends to this address, or there is no connection: a handover is complete then.
    fn is_settled(&self, _preferred: Address) -> bool {
        true
    }

    /// Whether nothing is left of the connection at this end.
    fn is_gone(&self) -> bool;

    /// What it has sent so far, for tables.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Its congestion window, if it has one.
    fn cwnd_bytes(&self) -> Option<u64> {
        None
    }

    /// Its slow-start threshold, if it has one.
    fn ssthresh_bytes(&self) -> Option<u64> {
        None
    }

    /// Octets in flight, if it knows.
    fn in_flight_bytes(&self) -> Option<u64> {
        None
    }

    /// Bits a second at which it sends at most, if it paces.
    fn pacing_bps(&self) -> Option<u64> {
        None
    }

    /// Its smoothed round-trip time, if it has measured one.
    fn srtt(&self) -> Option<Span> {
        None
    }
}
