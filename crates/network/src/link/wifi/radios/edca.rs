//! Enhanced distributed channel access (IEEE Std 802.11-2007 clause 9.9.1): four access categories, each with
//! a queue, an interframe space, windows and transmission opportunities of its own, which contend with each
//! other inside of a radio too.
//!
//! A packet's category follows from its Differentiated Services Codepoint, by RFC 8325 (section 4.3,
//! figure 1) to one of eight user priorities, and by table 9-1 to a category. Management frames are of the
//! highest (clause 9.9.1).
//!
//! Not modelled: the QoS field of data frames (2 octets), admission control, block acknowledgements,
//! lifetimes of packets, and HCCA.

use crate::traffic_class::TrafficClass;
use roamsim_engine::Span;

/// How a channel access function contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The interframe space before contention: DIFS, or the AIFS of a category.
    pub ifs: Span,
    pub cw_min: u32,
    pub cw_max: u32,
    /// How long a transmission opportunity lasts; zero: one frame exchange.
    pub txop_limit: Span,
    /// Whether slots are counted at their begin.
    pub is_edca: bool,
}

/// The parameters of an access category (clause 7.3.2.29).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    /// Its interframe space has so many slots behind SIFS.
    pub aifsn: u32,
    /// The smallest contention window, in slots.
    pub cw_min: u32,
    /// The largest.
    pub cw_max: u32,
    /// How long it may send when it has won the medium; zero: one frame exchange.
    pub txop_limit: Span,
}

/// The categories: background, best effort, video, voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edca {
    /// Of access points.
    pub access_point: [Category; 4],
    /// Of stations.
    pub stations: [Category; 4],
}

/// Their names (table 9-1).
pub const CATEGORIES: [&str; 4] = ["AC_BK", "AC_BE", "AC_VI", "AC_VO"];

/// The access category of a packet, from 0, background, to 3, voice.
pub fn category(class: TrafficClass) -> usize {
    // RFC 8325 section 4.3, by codepoint to user priority; what is not in its figure is sent as by default
    // (section 4).
    let user_priority = match class.dscp() {
        // CS7 and CS6.
        56 | 48 => 7,
        // EF and VOICE-ADMIT.
        46 | 44 => 6,
        // CS5.
        40 => 5,
        // AF4x, CS4, AF3x, CS3.
        34 | 36 | 38 | 32 | 26 | 28 | 30 | 24 => 4,
        // AF2x.
        18 | 20 | 22 => 3,
        // CS1.
        8 => 1,
        _ => 0,
    };
    // Table 9-1.
    match user_priority {
        1 | 2 => 0,
        4 | 5 => 2,
        6 | 7 => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_categories_of_rfc_8325() {
        let of = |dscp| CATEGORIES[category(TrafficClass::of_dscp(dscp))];
        assert_eq!([46, 44, 48, 56].map(of), ["AC_VO"; 4]);
        assert_eq!([40, 32, 24, 34, 38, 26, 30].map(of), ["AC_VI"; 7]);
        assert_eq!([0, 16, 10, 14, 18, 22, 1, 63].map(of), ["AC_BE"; 8]);
        assert_eq!(of(8), "AC_BK");
    }
}
