//! DECT (ETS 300 175): a radio interface clocked by frames of 10 ms.
//!
//! | file | what it models |
//! |---|---|
//! | [`mac`] | the competition for channels: terminals, procedures, handovers, the user's bearers |
//! | `geometric` | draws in proportion to what happens |
//! | [`errors`] | bit errors on a bearer by its state, bursts |
//! | [`ip_channel`] | the MAC's error correction on one bearer |
//! | `ip_channels` | the same on all bearers in a direction |
//! | `bearers` | how many bearers there are, and which are bad |
//! | [`frames`] | IP packets in fragments |
//! | [`lu2`] | window, reassembly, go-back-N |
//! | [`lu1`] | the service without any of it |
//! | [`direction`] | one direction of the user's data over all bearers |
//! | [`access`] | the link between the mobile terminal and the gateway |

pub mod access;
mod bearers;
pub mod direction;
pub mod errors;
pub mod frames;
mod geometric;
pub mod ip_channel;
mod ip_channels;
pub mod lu1;
pub mod lu2;
pub mod mac;
#[cfg(test)]
mod tests;

use roamsim_engine::Span;

/// A TDMA frame: 24 slots, 12 each way (ETS 300 175-2 clause 4.2).
pub const FRAME: Span = Span::from_ms(10);
