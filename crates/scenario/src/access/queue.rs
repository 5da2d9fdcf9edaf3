//! The queue before a transmitter: its key, its check, its limit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;
use crate::validate::{Report, Step, join};
use roamsim_network::queue::QueueLimit;

/// The capacity of a drop-tail queue; the packet in service does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "one key", rename_all = "snake_case")]
#[schemars(rename = "Queue")]
pub enum Queue {
    /// The most packets that wait.
    Packets(u32),
    /// The most bytes of IP packets that wait.
    Bytes(
        #[serde(with = "units::size")]
        #[schemars(with = "units::Size")]
        u64,
    ),
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::Packets(100)
    }
}

/// Checks that something can wait in a queue.
pub(crate) fn check_queue(at: &[Step], queue: Queue, report: &mut Report<'_>) {
    if matches!(queue, Queue::Packets(0) | Queue::Bytes(0)) {
        let help = "give the queue room for one packet or more; the packet in service does not count";
        report.add(&join(at, ["queue"]), "a queue of zero drops every packet that has to wait", help);
    }
}

/// The limit of the machine.
pub(crate) fn queue_limit(queue: Queue) -> QueueLimit {
    match queue {
        Queue::Packets(packets) => QueueLimit::Packets(packets),
        Queue::Bytes(bytes) => QueueLimit::Bytes(bytes),
    }
}
