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
//! Three rooms, which `cell` puts together:
//!
//! - `medium`: what is on the air and who hears it, by place and power; capture; interference.
//! - `radios`: queues, countdowns, who gets the medium next; categories of packets; airtimes;
//!   [`rate_control`].
//! - `stations`: how they find and join access points, and who is associated with whom.
//!
//! `exchange` has the frames about a packet, `undisturbed` the short way of a radio that has the medium for
//! itself, `traffic` what radios send next and what becomes of it, `link` what others ask. [`phy`] has the
//! times of physical layers, [`management`] the frames of the MAC's own, `capture` the captures of frames
//! ([`record`]).
//!
//! A radio hears what its ear hears. Where all hear each other, one ear serves all: its cost is that of what
//! is on the air, not of those who listen. A countdown is arithmetic; stations that have nothing to send are
//! not looked at.
//!
//! Not modelled: propagation (50 m take 0.17 us) and the time that carrier sense takes, so that a slot is one
//! only if two begin at the same nanosecond; bit errors; power saving; interference between channels.

mod agenda;
mod capture;
mod cell;
mod config;
mod exchange;
mod index;
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
