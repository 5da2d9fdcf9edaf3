//! The scenario as the rest of the program sees it: plain values in base units (`Span`, `Time`, bits per second,
//! bytes), names not yet resolved, defaults filled in.
//!
//! These types are also the grammar: a field is a key, its doc comment is what `roamsim schema` prints, and its
//! default is the default. Enumerations whose serde name is `tag:KEY` are tables in which KEY names the variant
//! (see `decode`).
//!
//! Those of access technologies and transports lie in the folders of [`crate::access`] and [`crate::transport`].

pub mod application;
pub mod distribution;
pub mod flow;
pub mod mobile_ip;
pub mod motion;
pub mod node;
pub mod scenario;
pub mod signalling;
