//! A radio that nobody disturbs, and where its exchange is.

use super::airtime::FrameTime;
use crate::link::Attachment;
use crate::link::wifi::index::RadioIndex;
use roamsim_engine::Time;

/// A radio that nobody disturbs, and its exchange.
#[derive(Clone, Copy, Debug)]
pub struct Undisturbed {
    pub number: RadioIndex,
    pub to: RadioIndex,
    pub from: Attachment,
    pub stage: Stage,
    /// When that is over.
    pub until: Time,
    /// The data frame, and the ACK to it; and what their airtimes follow from.
    pub data: FrameTime,
    pub ack: FrameTime,
    pub of: (u32, u64),
    /// Begin and end of the last ACK, and the begin of the present exchange.
    pub last_ack: (Time, Time),
    pub begin: Time,
}

/// What the medium is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Countdown,
    Data,
    Ack,
}
