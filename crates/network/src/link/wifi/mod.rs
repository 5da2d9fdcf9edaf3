//! The 802.11 medium: the distributed coordination function (IEEE Std 802.11-2007 clause 9.2) between
//! access points and any number of stations.
//!
//! One machine is one access point and its stations, or several access points that share a channel or a
//! station; `layout` says who is attached where. Stations communicate only with access points. An access
//! point has one queue and one countdown for all of its stations.
//!
//! Modelled: physical and virtual carrier sense (NAV); DIFS, EIFS, SIFS; back-off in slots, before and
//! after frames, which freezes while the medium is busy; collisions; ACK, RTS and CTS; the contention
//! window; the short and the long retry limit; the four access categories of EDCA; fragments; protection of
//! 802.11g; duplicates, which are acknowledged and dropped; stations that do not hear each other;
//! broadcasts; channels; beacons, scanning, authentication and association, as frames on the medium.
//!
//! `cell` joins three parts:
//!
//! - `medium`: frames on the air and who hears them, by place and power; capture; interference.
//! - `radios`: queues, countdowns, who gets the medium next; categories of packets; airtimes;
//!   [`rate_control`].
//! - `stations`: how they find and join access points, and their associations.
//!
//! `exchange` has the frames of one packet, `undisturbed` the short path of a radio that has the medium for
//! itself, `traffic` the next packet of each radio and its outcome, `link` the interface to other code.
//! [`phy`] has the times of physical layers, [`management`] the MAC's own frames, `capture` the captures of
//! frames ([`record`]).
//!
//! A radio hears through an ear. If all radios hear each other, one ear serves all, so cost depends on the
//! frames on the air and not on the number of listeners. A countdown is arithmetic; stations with nothing
//! to send cost nothing.
//!
//! Not modelled: propagation (50 m take 0.17 us) and carrier-sense time, so two frames share a slot only if
//! they begin at the same nanosecond; bit errors; power saving; interference between channels.

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
