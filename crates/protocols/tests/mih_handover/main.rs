//! Handovers by MIH commands: a mobile node, the point of service that it leaves, and two that it may come
//! to, joined by paths that take constant times and lose what a test says. Every instant is worked out by
//! hand.

mod answers;
mod candidates;
mod coming_back;
mod link_events;
mod net;
mod places;
mod policies;
mod procedures;
