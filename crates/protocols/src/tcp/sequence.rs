//! 32-bit sequence numbers on the wire, 64-bit offsets inside (RFC 9293 3.4: modulo 2^32).
//!
//! Inside, a direction counts from its initial sequence number: the SYN is 0, the first octet of data 1, the
//! FIN follows the last octet. Offsets never wrap, so that comparisons are plain and a flow may carry 2^63
//! octets.

/// The sequence number of `offset` on the wire.
#[inline]
pub(crate) const fn to_wire(initial: u32, offset: u64) -> u32 {
    initial.wrapping_add(offset as u32)
}

/// The offset nearest to `near` whose sequence number on the wire is `wire`; `None` before the initial one.
#[inline]
pub(crate) const fn from_wire(initial: u32, wire: u32, near: u64) -> Option<u64> {
    let difference = wire.wrapping_sub(to_wire(initial, near)) as i32;
    near.checked_add_signed(difference as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_on_the_wire_and_not_inside() {
        let initial = u32::MAX - 1;
        assert_eq!(to_wire(initial, 0), 0xFFFF_FFFE);
        assert_eq!(to_wire(initial, 2), 0);
        // 20 GB = 4 x 2^32 + 2820130816; the offset comes back from the wire as long as it is near.
        let offset = 20_000_000_000;
        assert_eq!(from_wire(initial, to_wire(initial, offset), offset - 1_000_000), Some(offset));
        assert_eq!(from_wire(initial, to_wire(initial, offset), offset + 1_000_000), Some(offset));
    }

    #[test]
    fn nothing_lies_before_the_initial_sequence_number() {
        assert_eq!(from_wire(100, 99, 0), None);
        assert_eq!(from_wire(100, 99, 1), None);
        assert_eq!(from_wire(100, 100, 1), Some(0));
    }
}
