//! The text of a file: what its octets say, its lines, the columns of a line, and which lines name columns.
//!
//! A file may be compressed by gzip (RFC 1952), whatever its name. It is UTF-8, or UTF-16 behind a byte order
//! mark.

use std::io::Read;
use std::ops::Range;

use flate2::read::MultiGzDecoder;

/// Larger files are refused, compressed or not: a node's motion takes a line a move.
pub const MAX_BYTES: u64 = 256 << 20;

/// The character U+FEFF at the beginning of a text, which editors and spreadsheets write there.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file's octets.
///
/// # Errors
/// What is wrong, as the end of a sentence about the file, and what to do.
pub fn decode(octets: Vec<u8>) -> Result<String, (String, &'static str)> {
    let octets = match octets.starts_with(&[0x1f, 0x8b]) {
        true => unpacked(&octets, MAX_BYTES)?,
        false => octets,
    };
    match octets.as_slice() {
        [0xff, 0xfe, ..] => utf_16(&octets, u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf_16(&octets, u16::from_be_bytes),
        _ => String::from_utf8(octets).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            no_text("UTF-8", error.as_bytes(), place)
        }),
    }
}

fn utf_16(octets: &[u8], of_unit: fn([u8; 2]) -> u16) -> Result<String, (String, &'static str)> {
    let (pairs, rest) = octets.as_chunks::<2>();
    let mut text = String::with_capacity(octets.len());
    let mut place = 0;
    for character in char::decode_utf16(pairs.iter().map(|&pair| of_unit(pair))) {
        let character = character.map_err(|_| no_text("UTF-16", octets, place))?;
        place += 2 * character.len_utf16();
        text.push(character);
    }
    if rest.is_empty() { Ok(text) } else { Err(no_text("UTF-16", octets, place)) }
}

fn no_text(encoding: &str, octets: &[u8], place: usize) -> (String, &'static str) {
    let octet = octets[place];
    let what = format!("is not a text file: byte {octet:#04x} at offset {place} is not {encoding}");
    (what, "save it as text in UTF-8")
}

fn unpacked(octets: &[u8], most_bytes: u64) -> Result<Vec<u8>, (String, &'static str)> {
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(octets).take(most_bytes + 1).read_to_end(&mut unpacked);
    read.map_err(|error| (format!("cannot be unpacked: {error}"), "compress it again with gzip"))?;
    if unpacked.len() as u64 > most_bytes {
        return Err(("is too large when it is unpacked".to_owned(), "split it: a file has 256 MiB at most"));
    }
    Ok(unpacked)
}

/// The lines of a text with the place of each, without line ends and without a byte order mark.
pub fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let marked = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut start = text.len() - marked.len();
    marked.split_inclusive('\n').map(move |line| {
        let place = start..start + line.trim_end().len();
        start += line.len();
        (place, line.trim_end())
    })
}

/// The columns of a line: between commas, semicolons or white space, each as it stands or in quotation marks.
pub fn columns(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| c == ',' || c == ';' || c.is_ascii_whitespace());
    words
        .filter(|word| !word.is_empty())
        .map(|word| word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word))
}

/// Whether a line names `count` columns, as `time_s,rate_mbps`: each begins with a letter, and no word is a
/// number. Between spaces alone a name may have several words.
pub fn is_heading(line: &str, count: usize) -> bool {
    let mut words = columns(line);
    if words.any(|word| word.parse::<f64>().is_ok()) {
        return false;
    }
    let separator = |c: char| matches!(c, ',' | ';' | '\t');
    let names: Vec<&str> = line.split(separator).collect();
    let letter = |name: &&str| name.trim_matches([' ', '"']).starts_with(char::is_alphabetic);
    names.iter().all(letter) && (names.len() == count || !line.contains(separator))
}

/// What is wrong with a heading that names another unit for a column, as `ms` in `time_ms` and in
/// `Time (ms)`.
///
/// `column` counts from 0, `others` are units that its values do not have, and `right` is the one they have.
/// Between spaces alone, where a name may have several words, only a heading of two words is looked at.
pub fn another_unit(heading: &str, column: usize, others: &[&str], right: &str) -> Option<(String, String)> {
    let separator = |c: char| matches!(c, ',' | ';' | '\t');
    let name = match heading.contains(separator) {
        true => heading.split(separator).nth(column)?,
        false if columns(heading).count() == 2 => columns(heading).nth(column)?,
        false => return None,
    };
    let ends = |c: char| matches!(c, '"' | ' ' | ')' | ']');
    let unit = name.trim_end_matches(ends).rsplit(['_', ' ', '(', '[']).next()?;
    others.contains(&unit).then(|| {
        (
            format!("this heading has {unit:?}, and the values are {right}"),
            "convert the values, and name that unit in the heading".to_owned(),
        )
    })
}

/// Units that times in seconds do not have.
pub const NOT_SECONDS: &[&str] =
    &["ms", "us", "ns", "\u{b5}s", "msec", "usec", "milliseconds", "microseconds", "minutes", "hours"];

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(text: &str) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text.as_bytes()).expect("memory");
        packer.finish().expect("memory")
    }

    #[test]
    fn a_text_is_the_same_however_it_is_stored() {
        let text = "0,1\n10,5 \u{b5}s\n";
        let marked = format!("\u{feff}{text}");
        let (two, one) = (packed("10,5 \u{b5}s\n"), packed("0,1\n"));
        for octets in [
            text.as_bytes().to_vec(),
            marked.as_bytes().to_vec(),
            marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            packed(&marked),
            // A file that was appended to has several parts.
            [one, two].concat(),
        ] {
            let read = decode(octets).expect("a text");
            let found: Vec<&str> = lines(&read)
                .map(|(place, line)| {
                    assert_eq!(&read[place], line);
                    line
                })
                .collect();
            assert_eq!(found, ["0,1", "10,5 \u{b5}s"]);
        }
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        let cut = &packed("0,1\n")[..12];
        for (octets, message) in [
            (&b"0,\xe4\xf6"[..], "byte 0xe4 at offset 2 is not UTF-8"),
            (b"\xff\xfe0\x000", "byte 0x30 at offset 4 is not UTF-16"),
            (b"\xff\xfe0\x00\x00\xd8", "byte 0x00 at offset 4 is not UTF-16"),
            (cut, "cannot be unpacked"),
        ] {
            assert!(decode(octets.to_vec()).expect_err(message).0.contains(message), "{message}");
        }
        let zeros = packed(&"0".repeat(1000));
        assert_eq!(unpacked(&zeros, 1000).map(|octets| octets.len()), Ok(1000));
        assert!(unpacked(&zeros, 999).expect_err("large").0.contains("too large"));
    }

    #[test]
    fn headings_name_columns() {
        for heading in [
            "time_s,rate_mbps",
            "Time (s); Rate (Mb/s)",
            "\"time\",\"rate\"",
            "time rate",
            "Zeit (s)\tRate",
            "\u{65f6}\u{95f4},\u{901f}\u{7387}",
        ] {
            assert!(is_heading(heading, 2), "{heading}");
        }
        for other in
            ["0,1", "x0,1", "a,b,c", "time,", "<html>", "nan,rate", "\u{feff}0,1", "time, 5", "%time,rate"]
        {
            assert!(!is_heading(other, 2), "{other}");
        }
        assert!(is_heading("Frame sizes", 1));
    }

    #[test]
    fn a_heading_may_say_another_unit() {
        for heading in ["time_ms,rate", "Time (ms); Rate", "\"t [ms]\",\"rate\"", "ms rate"] {
            let (message, _) = another_unit(heading, 0, NOT_SECONDS, "in seconds").expect(heading);
            assert_eq!(message, "this heading has \"ms\", and the values are in seconds");
        }
        for heading in [
            "time_s,rate_ms",
            "time, delay_ms",
            "items,rate",
            "Time (s); Rate",
            "time",
            "Time (ms) Rate (kb/s)",
        ] {
            assert_eq!(another_unit(heading, 0, NOT_SECONDS, "in seconds"), None, "{heading}");
        }
        assert!(another_unit("time_s,rate_kbps", 1, &["kbps"], "in Mb/s").is_some());
        assert_eq!(another_unit("time", 1, &["kbps"], "in Mb/s"), None);
        assert_eq!(another_unit("Time (s) Delay (ms)", 1, &["s"], "in milliseconds"), None);
    }

    #[test]
    fn columns_may_be_quoted() {
        assert_eq!(columns("\"0.5\",\"7\"").collect::<Vec<_>>(), ["0.5", "7"]);
        assert_eq!(columns(" 0.5 ;\t7 ").collect::<Vec<_>>(), ["0.5", "7"]);
        assert_eq!(columns("\"0.5,7").collect::<Vec<_>>(), ["\"0.5", "7"]);
    }
}
