//! Sizes of MAC PDUs and of the messages that maps are (IEEE Std 802.16-2004 clause 6.3.2), in octets.

/// The generic MAC header (clause 6.3.2.1.1), which a bandwidth request consists of (6.3.2.1.2).
pub const HEADER_BYTES: u32 = 6;
/// The CRC: of every management message (clause 6.3.2.3), and here of every PDU.
pub const CRC_BYTES: u32 = 4;
/// What a PDU with a whole packet adds to it.
pub const WHOLE_BYTES: u32 = HEADER_BYTES + CRC_BYTES;
/// What a PDU with a fragment adds: the fragmentation subheader with its sequence number of 11 bits as well,
/// which is the default (clauses 6.3.2.2.1 and 11.13.22).
pub const FRAGMENT_BYTES: u32 = WHOLE_BYTES + 2;
/// What each packet, or part of one, adds in a PDU that packs several: the packing subheader, with the same
/// sequence number and a length of 11 bits (clauses 6.3.2.2.3 and 6.3.3.4.2).
pub const PACKING_BYTES: u32 = 3;
/// The grant management subheader, with a request in it (clause 6.3.2.2.2).
pub const PIGGYBACK_BYTES: u32 = 2;
/// The longest PDU: its length has 11 bits (clause 6.3.2.1.1).
pub const LONGEST_PDU_BYTES: u32 = 2047;
/// The longest that packs several: a grant management subheader may be in it as well.
pub const LONGEST_PACKED_BYTES: u32 = LONGEST_PDU_BYTES - PIGGYBACK_BYTES;
/// The most that a bandwidth request asks for: 19 bits (clause 6.3.2.1.2).
pub const MOST_REQUESTED_BYTES: u64 = (1 << 19) - 1;
/// The most that a piggybacked request asks for: 16 bits (clause 6.3.2.2.2).
pub const MOST_PIGGYBACKED_BYTES: u64 = (1 << 16) - 1;

/// The DL-MAP with its PDU: type 1, PHY synchronization 4, DCD count 1, base station 6; 4 a burst and for the
/// end of the map (clauses 6.3.2.3.2, 8.3.6.2).
pub const fn downlink_map_bytes(bursts: u32) -> u32 {
    WHOLE_BYTES + 12 + 4 * (bursts + 1)
}

/// What the UL-MAP of OFDM has of a region or burst, and for its end.
pub const UPLINK_BURST_BYTES: u32 = 6;

/// What the UL-MAP of OFDMA has of a burst: CID 16 bits, UIUC 4, duration 10, repetition 2 (IEEE Std
/// 802.16e-2005 clause 8.4.5.4). CDMA_Allocation_IE has 60 bits, those of two.
pub const SLOT_UPLINK_BURST_BYTES: u32 = 4;

/// The DL-MAP of OFDMA with its PDU: type 1, PHY synchronization 4, DCD count 1, base station 6, symbols 1;
/// 36 bits a burst, without CIDs (IEEE Std 802.16e-2005 clauses 6.3.2.3.2, 8.4.5.3).
pub const fn slot_downlink_map_bytes(bursts: u32) -> u32 {
    WHOLE_BYTES + 13 + (9 * bursts).div_ceil(2)
}

/// The UL-MAP of OFDMA with its PDU: type 1, reserved 1, UCD count 1, allocation start time 4, symbols 1; 52
/// bits a region of codes (IEEE Std 802.16e-2005 clauses 6.3.2.3.4, 8.4.5.4.2).
pub const fn slot_uplink_map_bytes(regions: u32, bursts: u32) -> u32 {
    WHOLE_BYTES + 8 + (13 * regions).div_ceil(2) + SLOT_UPLINK_BURST_BYTES * bursts
}

/// The UL-MAP with its PDU: type 1, channel 1, UCD count 1, allocation start time 4; 6 a region or burst and
/// for the end of the map (clauses 6.3.2.3.4, 8.3.6.3).
pub const fn uplink_map_bytes(regions_and_bursts: u32) -> u32 {
    WHOLE_BYTES + 7 + UPLINK_BURST_BYTES * (regions_and_bursts + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_the_octets_of_their_fields() {
        // 6 + 4, 1 + 4 + 1 + 6, and 4 for the end.
        assert_eq!((downlink_map_bytes(0), downlink_map_bytes(2)), (26, 34));
        // 6 + 4, 1 + 1 + 1 + 4, and 6 for the end.
        assert_eq!((uplink_map_bytes(0), uplink_map_bytes(3)), (23, 41));
        // 10 + 13, and 4.5 a burst; 10 + 8, 6.5 a region and 4 a burst.
        assert_eq!([0, 1, 2].map(slot_downlink_map_bytes), [23, 28, 32]);
        assert_eq!((slot_uplink_map_bytes(1, 0), slot_uplink_map_bytes(2, 3)), (25, 43));
    }
}
