//! Applications: they decide what the transport carries, and when.
//!
//! An application is a machine. Time comes with the context, and `poll_action` takes its actions. Its first
//! action, at its start, opens the connection, if there is one.

mod bulk;
pub mod completions;
mod drawing;
mod measure;
mod messages;
mod reader;
mod request_response;
mod transfers;
pub mod video;

pub use bulk::{Bulk, Transfer};
pub use drawing::Drawing;
pub use measure::{DelayStatistics, Mark, Measurement, delay_percentile_s, delay_statistics};
pub use messages::{Messages, OnOff};
pub use reader::{Pace, Pause, Reader};
pub use request_response::{Client, Server};
pub use transfers::{Arrivals, Transfers};
pub use video::Video;

use crate::packet::AppMessage;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Machine;

/// After which time a message is late whose application has no playout delay of its own: what does not
/// disturb a conversation (ITU-T G.114).
pub const LATE_AFTER: Span = Span::from_ms(150);

/// What an application asks of its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open the connection (nothing to do over UDP).
    Open,
    /// Append octets to the stream, without message boundaries.
    Stream {
        /// How many.
        bytes: u64,
    },
    /// Send a message.
    Send {
        /// Its length.
        bytes: u32,
    },
    /// Send a message over a new connection.
    Begin {
        /// Its length.
        bytes: u32,
    },
    /// Close the connection when everything written has been sent.
    Close,
    /// Drop the connection and what was not yet delivered.
    Abort,
}

/// When an application is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Its first instant.
    pub start: Time,
    /// It generates while the time is before this; [`Time::MAX`] when it goes on to the end of the run.
    pub stop: Time,
}

/// The sending side of a flow.
pub enum Source {
    /// Greedy transfer.
    Bulk(Bulk),
    /// Transfer of a given size.
    Transfer(Transfer),
    /// Messages at intervals.
    Messages(Box<Drawing<Messages>>),
    /// Messages at a rate, in bursts.
    OnOff(Box<Drawing<OnOff>>),
    /// Requests that wait for their responses.
    Client(Box<Drawing<Client>>),
    /// Frames of a film.
    Video(Box<Drawing<Video>>),
    /// Transfers that arrive.
    Transfers(Box<Drawing<Transfers>>),
}

macro_rules! each_source {
    ($self:expr, $source:ident => $call:expr) => {
        match $self {
            Source::Bulk($source) => $call,
            Source::Transfer($source) => $call,
            Source::Messages($source) => $call,
            Source::OnOff($source) => $call,
            Source::Client($source) => $call,
            Source::Video($source) => $call,
            Source::Transfers($source) => $call,
        }
    };
}

impl Source {
    /// When it is active.
    pub fn activity(&self) -> Activity {
        each_source!(self, source => source.activity())
    }

    /// From which time on its way on a message of it is late; `None` where it sends no messages that anybody
    /// waits for one by one.
    pub fn late_after(&self) -> Option<Span> {
        match self {
            Source::Messages(_) | Source::OnOff(_) | Source::Client(_) => Some(LATE_AFTER),
            Source::Video(video) => Some(video.playout_delay()),
            Source::Bulk(_) | Source::Transfer(_) | Source::Transfers(_) => None,
        }
    }

    /// When something is due next.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        each_source!(self, source => source.poll_timeout())
    }

    /// Does what is due.
    #[inline]
    pub(crate) fn handle_timeout_at(&mut self, now: Time) {
        each_source!(self, source => source.handle_timeout_at(now));
    }

    /// What it wants done next.
    pub fn poll_action(&mut self) -> Option<Action> {
        each_source!(self, source => source.poll_action())
    }

    /// A message for it has arrived (only requests are answered).
    pub fn on_message(&mut self, now: Time, message: AppMessage) -> Option<Span> {
        let Source::Client(client) = self else { return None };
        let (client, mut cx) = client.at(now);
        client.on_response(&mut cx, message)
    }

    /// A message of it has arrived where its flow ends; false where its delay is kept here.
    #[inline]
    pub fn on_delivery(&mut self, now: Time, message: &AppMessage) -> bool {
        match self {
            Source::Video(video) => video.arrived(now, message.sequence),
            Source::Transfers(transfers) => {
                transfers.completions.complete(message.sequence, now - message.generated);
                return false;
            }
            _ => {}
        }
        true
    }
}

/// Sources lie in flows side by side: one that is larger than a greedy one is behind a box.
const _: () = assert!(size_of::<Source>() <= size_of::<Bulk>() + 8);
