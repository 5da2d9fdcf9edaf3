//! Texts of scenarios that may come from a stranger, made safe for terminals.

/// Whether a character moves a terminal, changes the order of the text around it, or cannot be seen:
/// controls; controls of direction (Unicode 16, UAX #9, table 1: ALM, LRM, RLM, LRE to RLO, LRI to PDI);
/// characters without width that no script needs (ZWSP, word joiner and its kin, BOM); separators of lines
/// and paragraphs. The joiners U+200C and U+200D stay, which Persian, Indic scripts and emoji need.
/// `python/roamsim/cli/streams.py` has the same list.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        )
}

/// What is wrong with a name that holds such a character.
pub(crate) fn fault_of_name(name: &str) -> Option<&'static str> {
    let found = name.chars().find(|&c| is_unsafe(c))?;
    Some(if found.is_control() {
        "a name may not hold control characters"
    } else {
        "a name may not hold characters that cannot be seen or that change the direction of text"
    })
}

/// The same text with such characters replaced octet by octet, so that it moves neither places nor terminals.
pub(crate) fn printable(text: &str) -> String {
    // A large scenario seldom has any, and is looked through at once, without stopping. They begin with these
    // octets, as do others.
    let suspect = |octet: u8| {
        octet.is_ascii_control() & (octet != b'\n') & (octet != b'\t')
            | matches!(octet, 0xc2 | 0xd8 | 0xe2 | 0xef)
    };
    if !text.bytes().fold(false, |found, octet| found | suspect(octet)) {
        return text.to_owned();
    }
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => printable.push(c),
            '\r' => printable.push(' '),
            c if is_unsafe(c) => printable.extend(std::iter::repeat_n('?', c.len_utf8())),
            c => printable.push(c),
        }
    }
    printable
}
