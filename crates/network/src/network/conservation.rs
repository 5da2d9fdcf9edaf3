//! The law of the network: every packet that was sent was delivered, was dropped, or is in a node or on a
//! link.

use super::Network;
use crate::link::Link;
use std::fmt;

/// Packets do not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConservationViolation {
    /// Packets that sockets handed to the network.
    pub created: u64,
    /// Packets handed to sockets.
    pub delivered: u64,
    /// Packets dropped with a reason.
    pub dropped: u64,
    /// Packets still in nodes or on links.
    pub in_flight: u64,
}

impl fmt::Display for ConservationViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} packets were sent, but {} delivered + {} dropped + {} in flight make {}",
            self.created,
            self.delivered,
            self.dropped,
            self.in_flight,
            self.delivered + self.dropped + self.in_flight
        )
    }
}

impl Network {
    /// Checks that every packet was delivered, dropped, or is in a node or on a link.
    pub fn check_conservation(&self) -> Result<(), ConservationViolation> {
        let on_links: u64 = self.links.iter().map(|slot| slot.link.packets_inside()).sum();
        let in_flight = on_links + self.packets_in_processing();
        let violation = ConservationViolation {
            created: self.created,
            delivered: self.delivered,
            dropped: self.dropped,
            in_flight,
        };
        if violation.created == violation.delivered + violation.dropped + violation.in_flight {
            Ok(())
        } else {
            Err(violation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::IpVersion;
    use crate::topology::Topology;

    #[test]
    fn packets_that_do_not_add_up_are_a_violation() {
        let mut network = Network::new(Topology::default(), IpVersion::V6);
        assert_eq!(network.check_conservation(), Ok(()));
        network.created = 3;
        network.delivered = 1;
        network.dropped = 1;
        let violation = network.check_conservation().expect_err("one is missing");
        assert!(
            violation.to_string().contains("3 packets were sent, but 1 delivered + 1 dropped"),
            "{violation}"
        );
    }
}
