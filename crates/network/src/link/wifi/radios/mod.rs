//! Radios: what each has to send, its countdown, and who gets the medium next.

pub(super) mod contention;
pub(super) mod countdowns;
pub(super) mod edca;
pub(super) mod radio;
pub mod rate_control;
pub(super) mod turns;
