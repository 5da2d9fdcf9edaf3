//! Octet-level coding: the sink that values are written to, the reader they are read from, and 802.21's
//! length encoding, which TLVs, LISTs and OCTET_STRINGs share.
//!
//! Lengths: n < 128 is one octet; 128 is the octet 0x80; above, one
//! octet 0x80 | k, then k octets, big-endian, holding n - 128. It looks like BER, but is not.

use super::error::DecodeError;

/// Where encoded octets go: into a buffer, or only into a count.
pub trait Sink {
    /// Takes octets.
    fn put(&mut self, octets: &[u8]);

    /// Takes `count` octets of value zero.
    fn put_zeros(&mut self, count: usize);

    /// Takes one octet.
    fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    /// Takes a 16-bit number, big-endian.
    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    /// Takes a 32-bit number, big-endian.
    fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    /// Takes a length in 802.21's encoding.
    fn put_length(&mut self, length: usize) {
        if length <= 128 {
            // 128 itself is 0x80: a first octet that announces no further one.
            self.put_u8(length as u8);
            return;
        }
        let rest = (length - 128) as u64;
        let octets = 8 - (rest.leading_zeros() / 8) as usize;
        self.put_u8(0x80 | octets as u8);
        self.put(&rest.to_be_bytes()[8 - octets..]);
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, octets: &[u8]) {
        self.extend_from_slice(octets);
    }

    fn put_zeros(&mut self, count: usize) {
        self.resize(self.len() + count, 0);
    }
}

/// A sink that only counts.
#[derive(Default)]
pub struct Count(pub usize);

impl Sink for Count {
    fn put(&mut self, octets: &[u8]) {
        self.0 += octets.len();
    }

    fn put_zeros(&mut self, count: usize) {
        self.0 += count;
    }
}

/// How many octets the length encoding of `length` takes.
#[inline]
pub fn length_octets(length: usize) -> usize {
    if length <= 128 {
        return 1;
    }
    let mut count = Count::default();
    count.put_length(length);
    count.0
}

/// Reads octets from the front of a slice; never beyond its end.
#[derive(Clone)]
pub struct Reader<'a> {
    octets: &'a [u8],
    tlv_type: u8,
}

impl<'a> Reader<'a> {
    /// A reader of `octets`; its errors name the TLV type `tlv_type`.
    pub fn new(octets: &'a [u8], tlv_type: u8) -> Reader<'a> {
        Reader { octets, tlv_type }
    }

    /// The error for a value that its data type does not allow.
    pub fn bad_value(&self) -> DecodeError {
        DecodeError::BadValue { tlv_type: self.tlv_type }
    }

    /// Octets left.
    pub fn remaining(&self) -> usize {
        self.octets.len()
    }

    /// The next `count` octets.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        if count > self.octets.len() {
            return Err(self.bad_value());
        }
        let (taken, rest) = self.octets.split_at(count);
        self.octets = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// One octet.
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take_array::<1>()?[0])
    }

    /// Two octets, big-endian.
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_be_bytes(self.take_array()?))
    }

    /// Four octets, big-endian.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.take_array()?))
    }

    /// A length in 802.21's encoding. Lengths beyond 32 bits are refused: no message is that long.
    pub fn length(&mut self) -> Result<usize, DecodeError> {
        let first = self.u8()?;
        if first <= 128 {
            return Ok(usize::from(first));
        }
        let mut rest: usize = 0;
        for &octet in self.take(usize::from(first & 0x7f))? {
            if rest > usize::from(u16::MAX) {
                return Err(self.bad_value());
            }
            rest = rest << 8 | usize::from(octet);
        }
        Ok(rest + 128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(length: usize) -> Vec<u8> {
        let mut octets = Vec::new();
        octets.put_length(length);
        octets
    }

    #[test]
    fn lengths_hold_n_minus_128_behind_the_first_octet() {
        // 129 - 128 = 1; 300 - 128 = 172 = 0xAC; 383 - 128 = 255; 384 - 128 = 256 = 0x0100.
        let cases: [(usize, &[u8]); 8] = [
            (0, &[0x00]),
            (127, &[0x7f]),
            (128, &[0x80]),
            (129, &[0x81, 0x01]),
            (300, &[0x81, 0xac]),
            (383, &[0x81, 0xff]),
            (384, &[0x82, 0x01, 0x00]),
            (65663, &[0x82, 0xff, 0xff]),
        ];
        for (length, octets) in cases {
            assert_eq!(encoded(length), octets, "{length}");
            assert_eq!(length_octets(length), octets.len());
            let mut reader = Reader::new(octets, 0);
            assert_eq!(reader.length(), Ok(length));
            assert_eq!(reader.remaining(), 0);
        }
    }

    #[test]
    fn a_length_may_be_written_longer_than_needed_but_not_without_end() {
        // 00 05 + 128 = 133 in two octets where one would do.
        assert_eq!(Reader::new(&[0x82, 0x00, 0x05], 0).length(), Ok(133));
        assert_eq!(Reader::new(&[0x82, 0x00], 9).length(), Err(DecodeError::BadValue { tlv_type: 9 }));
        let mut long = vec![0xff];
        long.extend([0xff; 127]);
        assert!(Reader::new(&long, 0).length().is_err());
    }
}
