//! The 802.11 medium: the distributed coordination function (IEEE Std 802.11-2007 clause 9.2) between access
//! points and any number of stations.
//!
//! One machine is one access point and its stations, or several where they share a channel or a station;
//! `layout` says who is attached where. Stations talk with access points alone. An access point has one queue
//! and one countdown for all of its stations.
//!
//! Modelled: physical and virtual carrier sense (NAV); DIFS, EIFS, SIFS; back-off in slots that freezes while
//! the medium is busy, before frames and after them; collisions; ACK, RTS and CTS; the contention window, and
//! the short and the long retry limit; the four access categories of EDCA; fragments; protection of 802.11g;
//! duplicates, which are acknowledged and dropped; stations that do not hear each other; broadcasts;
//! channels; beacons, scanning, authentication and association, as frames on the medium.
//!
//! A file a subject: [`phy`] has the airtimes, `medium` what is on the air and who hears it, `contention` who
//! gets the medium next, `countdowns` those that count together, `undisturbed` who has the medium for
//! himself, `edca` the categories of packets, `exchange` the frames about a packet, [`rate_control`] their
//! rates, [`record`] what captures tell of them, `radio` the queue and the countdown of each, `management`
//! the frames of the MAC's own, `station` what a station hears of its cells, `scan` how it finds access
//! points, `joining` how it becomes associated, `association` what handovers ask.
//!
//! A radio hears what its [`Ear`] hears. Where all hear each other, one ear serves all: its cost is that of
//! what is on the air, not of those who listen. A countdown is arithmetic; stations that have nothing to send
//! are not looked at.
//!
//! Not modelled: propagation (50 m take 0.17 us) and the time that carrier sense takes, so that a slot is one
//! only if two begin at the same nanosecond; bit errors; power saving; interference between channels.

mod agenda;
mod capture;
mod cell;
mod config;
mod exchange;
mod link;
pub mod loss;
pub mod management;
mod medium;
pub mod phy;
mod radios;
mod stations;
mod traffic;
mod undisturbed;
mod watched;

pub use self::capture::record;
pub use self::cell::Cell;
pub use self::config::{
    BeaconConfig, Bss, CellConfig, Ess, Freezing, Mechanism, Protection, Scan, StationConfig,
};
pub use self::medium::account::MediumTime;
pub use self::medium::config::{CaptureConfig, RadioConfig, SinrConfig};
pub use self::medium::shadowing;
pub use self::radios::account::{CategoryTime, RadioTime};
pub use self::radios::edca::{CATEGORIES, Category, Edca};
pub use self::radios::rate_control;
pub use self::radios::rate_control::{RateAttempts, RateChange};

#[cfg(test)]
pub(crate) mod tests;
