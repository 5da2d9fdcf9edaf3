//! The scenario as the rest of the program sees it: plain values in base units (`Span`, `Time`, bits per
//! second, bytes), names not yet resolved, defaults filled in.
//!
//! These types are also the grammar: a field is a key, its doc comment is what `roamsim schema` prints, and
//! its default is the default. Enumerations whose serde name is `tag:KEY` are tables in which KEY names the
//! variant (see `decode`).
//!
//! What is a concept of its own has its keys in a folder of its own, beside its checks and its building:
//! [`crate::access`], [`crate::application`], [`crate::flow`], [`crate::mobile_ip`], [`crate::motion`],
//! [`crate::signalling`], [`crate::transport`].

pub mod distribution;
pub mod dscp;
pub mod name;
pub mod node;
pub mod scenario;
