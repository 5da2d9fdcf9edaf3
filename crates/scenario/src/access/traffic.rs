//! What accesses ask of the traffic over them.

use std::collections::BTreeSet;

/// Who sends in a scenario, and who watches its links.
pub(crate) trait Traffic {
    /// The classes of packets, by codepoint, that anything sends; best effort always, which is what no key
    /// sets.
    fn sent_dscps(&self) -> BTreeSet<u8>;

    /// The names of its flows, in their order.
    fn flows(&self) -> Vec<&str>;

    /// Whether a flow has a connection for each of its transfers.
    fn has_transfers(&self, flow: &str) -> bool;

    /// Whether some user has a link of this name do something.
    fn is_commanded(&self, link: &str) -> bool;

    /// Whether some user wants to know how many of a link's frames come in error.
    fn has_errors_counted(&self, link: &str) -> bool;
}
