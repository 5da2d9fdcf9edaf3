//! The traffic class of a packet: what its application asks of queues, and what queues tell its transport.
//!
//! The octet that IPv6 calls traffic class (RFC 8200 section 7) and that was IPv4's type of service: six bits
//! of the Differentiated Services field (RFC 2474 section 3) and two of Explicit Congestion Notification (RFC
//! 3168 section 5).

/// Explicit Congestion Notification (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Its transport does not know of ECN.
    #[default]
    NotCapable,
    /// Its transport does, and sent this one: ECT(1).
    Capable1,
    /// The same, ECT(0).
    Capable0,
    /// A queue on its way was congested.
    CongestionExperienced,
}

/// The octet. Best effort, without ECN, unless somebody asks for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// The class of a DSCP; of a larger number, its lower six bits.
    pub const fn of_dscp(dscp: u8) -> TrafficClass {
        TrafficClass(dscp << 2)
    }

    /// The class that an octet in an IP header says.
    pub const fn of_octet(octet: u8) -> TrafficClass {
        TrafficClass(octet)
    }

    /// The same class with other bits of ECN.
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> TrafficClass {
        TrafficClass(self.0 & !0b11 | ecn as u8)
    }

    /// Differentiated Services Codepoint: 0 to 63.
    pub const fn dscp(self) -> u8 {
        self.0 >> 2
    }

    /// What it says of congestion.
    pub const fn ecn(self) -> Ecn {
        match self.0 & 0b11 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::CongestionExperienced,
        }
    }

    /// The octet in an IP header.
    pub const fn octet(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_octet_is_six_bits_of_class_and_two_of_congestion() {
        // EF is 101110 (RFC 3246 section 2.7): 1011 1000 without ECN; CE is 11 (RFC 3168 section 5, figure
        // 1).
        let expedited = TrafficClass::of_dscp(46);
        assert_eq!((expedited.octet(), expedited.dscp(), expedited.ecn()), (0xB8, 46, Ecn::NotCapable));
        let marked = expedited.with_ecn(Ecn::Capable0).with_ecn(Ecn::CongestionExperienced);
        assert_eq!((marked.octet(), marked.dscp(), marked.ecn()), (0xBB, 46, Ecn::CongestionExperienced));
        assert_eq!(marked.with_ecn(Ecn::NotCapable), expedited);
        assert_eq!(TrafficClass::default().with_ecn(Ecn::Capable1).octet(), 0b01);
        assert_eq!(TrafficClass::default().with_ecn(Ecn::Capable0).octet(), 0b10);
        for ecn in [Ecn::NotCapable, Ecn::Capable1, Ecn::Capable0, Ecn::CongestionExperienced] {
            assert_eq!(TrafficClass::of_dscp(63).with_ecn(ecn).ecn(), ecn);
        }
    }
}
