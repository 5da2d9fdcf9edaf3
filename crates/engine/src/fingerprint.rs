//! Fingerprints: a 64-bit digest of a sequence of numbers, to tell whether two runs did the same.
//!
//! Not a cryptographic hash. The algorithm is part of the recorded fingerprints: changing it changes them
//! all.

/// A running digest. Order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0xCBF2_9CE4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds one number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        // Multiply-xorshift, as in the finaliser of MurmurHash3; one multiplication a number.
        let mixed = (self.0 ^ value).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        self.0 = mixed ^ (mixed >> 32);
    }

    /// Adds text: its octets in blocks of eight, then its length.
    pub fn add_text(&mut self, text: &str) {
        for chunk in text.as_bytes().chunks(8) {
            let mut octets = [0; 8];
            octets[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(octets));
        }
        self.add(text.len() as u64);
    }

    /// The digest of everything added so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> u64 {
        let mut fingerprint = Fingerprint::default();
        values.iter().for_each(|&v| fingerprint.add(v));
        fingerprint.value()
    }

    #[test]
    fn order_and_values_matter() {
        assert_eq!(of(&[1, 2]), of(&[1, 2]));
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        let text = |t: &str| {
            let mut f = Fingerprint::default();
            f.add_text(t);
            f.value()
        };
        assert_ne!(text("ab"), text("ab\0"));
    }
}
