//! A long text that is seldom asked for, held in less memory than its letters take: by LZ4, in blocks. Texts
//! of scenarios take a fifth to a tenth.

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use std::io::{self, Write};

/// So much is packed together, and what repeats is looked for in it; what is shorter is held as it is.
const BLOCK_BYTES: usize = 1 << 16;

/// A text, of which the beginning is packed. What is written to it is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PackedText {
    blocks: Vec<Box<[u8]>>,
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
        self.blocks.shrink_to_fit();
        self.rest.shrink_to_fit();
    }

    #[inline(never)]
    fn pack(&mut self) {
        let pieces = self.rest.chunks(BLOCK_BYTES);
        self.blocks.extend(pieces.map(|piece| compress_prepend_size(piece).into_boxed_slice()));
        self.rest.clear();
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        for block in &self.blocks {
            // What has been packed here can be unpacked.
            text.extend(decompress_size_prepended(block).unwrap_or_default());
        }
        text.extend_from_slice(&self.rest);
        String::from_utf8(text).unwrap_or_default()
    }
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
        // Blocks are full at the first write that reaches 65,536 octets; 70 octets an element without its
        // number.
        assert!(packed.rest.len() < BLOCK_BYTES && text.len() > 10 * BLOCK_BYTES);
        let bytes: usize = packed.blocks.iter().map(|block| block.len()).sum();
        assert!(bytes < text.len() / 5, "{bytes} of {}", text.len());
    }

    #[test]
    fn what_is_written_at_once_is_packed_in_blocks_that_have_a_bound() {
        let text = "abcdefg".repeat(BLOCK_BYTES / 2);
        let packed = packed(&text, text.len());
        assert_eq!((packed.text() == text, packed.blocks.len()), (true, 4));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(words in prop::collection::vec("[ab]{1,6}|\\PC{0,9}", 1..40), times in 1_usize..2000, at_once in 1_usize..9000) {
            let text = words.concat().repeat(times);
            prop_assert!(packed(&text, at_once).text() == text);
        }
    }
}
