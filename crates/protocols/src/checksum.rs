//! The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.

/// A running ones' complement sum, not yet folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl From<u32> for Sum {
    fn from(value: u32) -> Sum {
        Sum(u64::from(value))
    }
}

impl Sum {
    /// The sum with octets added as big-endian words, a zero octet behind an odd last one. Each call starts
    /// at a word.
    pub fn with(self, octets: &[u8]) -> Sum {
        // Words of 32 bits in the other order, turned at the end: the sum is the same (RFC 1071 section 2).
        let (words, rest) = octets.as_chunks::<4>();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().map(|&word| u64::from(u32::from_le_bytes(word)));
        let sum = Sum(words.sum::<u64>() + u64::from(u32::from_le_bytes(last)));
        Sum(self.0 + u64::from((!sum.finish()).swap_bytes()))
    }

    /// The sum folded to 16 bits, not complemented.
    pub fn folded(self) -> u32 {
        u32::from(!self.finish())
    }

    /// The checksum: folded to 16 bits, complemented.
    pub fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Word by word, as section 1 says it.
    #[test]
    fn the_sum_is_that_of_16_bit_words() {
        let octets: Vec<u8> = (0..1500_u32).map(|number| ((number * number) >> 3) as u8).collect();
        for bytes in [0, 1, 2, 3, 4, 5, 7, 8, 20, 1471, 1500] {
            let of_pair =
                |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u64::from(low));
            let plain = Sum(7 + octets[..bytes].chunks(2).map(of_pair).sum::<u64>());
            assert_eq!(Sum::from(7).with(&octets[..bytes]).finish(), plain.finish(), "{bytes}");
        }
        // All ones are the other zero, and stay it.
        assert_eq!(Sum::default().with(&[0xFF; 6]).finish(), 0);
        assert_eq!(Sum::default().with(&[0; 6]).finish(), 0xFFFF);
    }

    #[test]
    fn example_of_rfc_1071() {
        // Section 3: words 0001 f203 f4f5 f6f7 sum to 2ddf0, folded ddf2.
        let sum = Sum::default().with(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }
}
