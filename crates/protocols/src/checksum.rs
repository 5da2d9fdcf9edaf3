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
        let words = octets
            .chunks(2)
            .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
        Sum(self.0 + words.sum::<u64>())
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

    #[test]
    fn example_of_rfc_1071() {
        // Section 3: words 0001 f203 f4f5 f6f7 sum to 2ddf0, folded ddf2.
        let sum = Sum::default().with(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }
}
