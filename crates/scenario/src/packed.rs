//! A long text that is seldom asked for, held in less memory than its letters take.
//!
//! What repeats is told by where it stood before, as in Ziv and Lempel, "A universal algorithm for sequential data compression", IEEE
//! Transactions on Information Theory 23(3), 1977. Texts of scenarios take a fifth to a tenth.

use std::io::{self, Write};

/// So much is packed together, and what repeats is looked for in it; what is shorter is held as it is.
const BLOCK_BYTES: usize = 1 << 16;

/// The shortest repetition that is looked for.
const SHORTEST: usize = 4;

/// Of so many bits is the hash of what may repeat.
const HASH_BITS: u32 = 12;

/// A text, of which the beginning is packed. What is written to it is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PackedText {
    /// Pieces: how many octets come that stand here, they, how many that stood before, and if there are any, how far back.
    packed: Vec<u8>,
    /// How many octets the packed ones are.
    length: usize,
    rest: Vec<u8>,
}

impl Write for PackedText {
    #[inline]
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(text);
        if self.rest.len() >= BLOCK_BYTES {
            self.pack();
        }
        Ok(text.len())
    }

    #[inline]
    fn write_all(&mut self, text: &[u8]) -> io::Result<()> {
        self.write(text).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PackedText {
    /// Gives back what it has room for beyond what it has.
    pub fn shrink(&mut self) {
        self.packed.shrink_to_fit();
        self.rest.shrink_to_fit();
    }

    #[inline(never)]
    fn pack(&mut self) {
        let block = &self.rest;
        // Behind where four octets stood last, by their hash.
        let mut last = vec![0_usize; 1 << HASH_BITS];
        let (mut new, mut at) = (0, 0);
        while let Some(four) = block.get(at..at + SHORTEST) {
            let hash = u32::from_le_bytes([four[0], four[1], four[2], four[3]]).wrapping_mul(0x9E37_79B1);
            let slot = &mut last[(hash >> (u32::BITS - HASH_BITS)) as usize];
            let before = std::mem::replace(slot, at + 1).wrapping_sub(1);
            let repeated = block.get(before..).map_or(0, |before| {
                before.iter().zip(&block[at..]).take_while(|(before, here)| before == here).count()
            });
            if repeated >= SHORTEST {
                piece(&mut self.packed, &block[new..at], Some((repeated, at - before)));
                at += repeated;
                new = at;
            } else {
                at += 1;
            }
        }
        piece(&mut self.packed, &block[new..], None);
        self.length += block.len();
        self.rest.clear();
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = Vec::with_capacity(self.length + self.rest.len());
        let mut packed = &self.packed[..];
        while !packed.is_empty() {
            let new = number(&mut packed);
            let (new, behind) = packed.split_at(new);
            text.extend_from_slice(new);
            packed = behind;
            let mut repeated = number(&mut packed);
            if repeated > 0 {
                let start = text.len() - number(&mut packed);
                // What repeats itself is there again once it is written.
                while repeated > 0 {
                    let piece = start..text.len().min(start + repeated);
                    repeated -= piece.len();
                    text.extend_from_within(piece);
                }
            }
        }
        text.extend_from_slice(&self.rest);
        String::from_utf8(text).unwrap_or_default()
    }
}

/// Adds new octets, and how many stood how far back.
fn piece(packed: &mut Vec<u8>, new: &[u8], repeated: Option<(usize, usize)>) {
    put(packed, new.len());
    packed.extend_from_slice(new);
    let (length, back) = repeated.unwrap_or_default();
    put(packed, length);
    if length > 0 {
        put(packed, back);
    }
}

/// Adds a number, seven bits an octet, the lowest first.
fn put(packed: &mut Vec<u8>, mut number: usize) {
    while number >= 1 << 7 {
        packed.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    packed.push(number as u8);
}

/// Takes one.
fn number(packed: &mut &[u8]) -> usize {
    let (mut number, mut bits) = (0, 0);
    while let Some((&octet, behind)) = packed.split_first() {
        *packed = behind;
        number |= usize::from(octet & 0x7f) << bits;
        bits += 7;
        if octet < 1 << 7 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(text: &str, at_once: usize) -> PackedText {
        let mut packed = PackedText::default();
        for piece in text.as_bytes().chunks(at_once) {
            packed.write_all(piece).expect("memory takes all");
        }
        packed
    }

    #[test]
    fn a_long_text_comes_back_and_takes_a_fifth() {
        let text: String = (0..10_000)
            .map(|n| {
                format!(r#"{{"delay":"1ms","name":"up-{n}","queue":{{"packets":300}},"rate":"1Gb/s"}},"#)
            })
            .collect();
        let packed = packed(&text, 7);
        assert!(packed.text() == text, "it is another");
        // Blocks are full at the first write that reaches 65,536 octets; 70 octets an element without its number.
        assert!(packed.rest.len() < BLOCK_BYTES && text.len() > 10 * BLOCK_BYTES);
        assert!(packed.packed.len() < text.len() / 5, "{} of {}", packed.packed.len(), text.len());
    }

    #[test]
    fn one_octet_again_and_again_comes_back() {
        let text = "a".repeat(3 * BLOCK_BYTES);
        let packed = packed(&text, BLOCK_BYTES);
        // One that stands there, how many repeat it in three octets, how far back, and nothing that is left: 8 octets a block.
        assert_eq!((packed.text() == text, packed.packed.len()), (true, 3 * 8));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(words in prop::collection::vec("[ab]{1,6}|\\PC{0,9}", 1..40), times in 1_usize..2000, at_once in 1_usize..9000) {
            let text = words.concat().repeat(times);
            prop_assert!(packed(&text, at_once).text() == text);
        }
    }
}
