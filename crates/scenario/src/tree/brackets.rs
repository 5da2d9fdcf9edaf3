//! Which brackets and texts of a TOML text are open at a place. Read only where the text has an error.

/// A `[` of a list, or a `{`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub mark: char,
    pub at: usize,
}

/// Reads a text once, from its beginning.
#[derive(Debug)]
pub(super) struct Brackets<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open>,
    /// Whether it is a value alone, which has no headers.
    value: bool,
}

impl<'t> Brackets<'t> {
    pub fn new(text: &'t str) -> Brackets<'t> {
        Brackets { text, at: 0, open: Vec::new(), value: false }
    }

    pub fn of_a_value(text: &'t str) -> Brackets<'t> {
        Brackets { value: true, ..Brackets::new(text) }
    }

    /// The brackets that are open at a place, and where the text begins that the place is in. No place may be
    /// before an earlier one.
    pub fn before(&mut self, place: usize) -> (Vec<Open>, Option<usize>) {
        let octets = self.text.as_bytes();
        while self.at < place {
            let begins_line = self.at == 0 || octets[self.at - 1] == b'\n';
            if begins_line && !self.value {
                let line = self.text[self.at..].lines().next().unwrap_or_default();
                let indent = line.len() - line.trim_start().len();
                let in_a_list = self.open.last().is_some_and(|open| open.mark == '[');
                let ends = is_header(line) || in_a_list && key_before_equals(line).is_some();
                // An error at the first character of the line is in what the line ends.
                if ends && self.at + indent < place {
                    self.open.clear();
                }
                if self.open.is_empty() && line.trim_start().starts_with('[') {
                    self.at += line.len().max(1);
                    continue;
                }
            }
            match octets[self.at] {
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                b'"' | b'\'' => {
                    let (end, closed) = end_of_text(self.text, self.at);
                    if place < end || !closed && place <= end {
                        return (self.open.clone(), Some(self.at));
                    }
                    self.at = end;
                    continue;
                }
                mark @ (b'[' | b'{') => self.open.push(Open { mark: mark.into(), at: self.at }),
                b']' | b'}' => drop(self.open.pop()),
                _ => {}
            }
            self.at += 1;
        }
        (self.open.clone(), None)
    }
}

/// Where a text ends that begins with the quotation mark here, and whether it has a closing one.
fn end_of_text(text: &str, begin: usize) -> (usize, bool) {
    let octets = text.as_bytes();
    let mark = octets[begin];
    let triple = [mark; 3];
    let long = octets[begin..].starts_with(&triple);
    let mut at = begin + if long { 3 } else { 1 };
    while at < octets.len() {
        match octets[at] {
            b'\n' if !long => return (at, false),
            b'\\' if mark == b'"' && (long || octets.get(at + 1) != Some(&b'\n')) => at += 2,
            octet if octet == mark && !long => return (at + 1, true),
            octet if octet == mark && octets[at..].starts_with(&triple) => return (at + 3, true),
            _ => at += 1,
        }
    }
    (octets.len(), false)
}

/// Whether a line is the header of a table. Elements of lists look alike, and have quotes or commas.
pub(super) fn is_header(line: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default().trim();
    let Some(name) = line.strip_prefix('[') else { return false };
    let name = name.trim_matches(|c: char| matches!(c, '[' | ']') || c.is_whitespace());
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name && name.chars().all(is_of_a_key) && !matches!(name, "true" | "false" | "inf" | "nan")
}

pub(super) fn is_of_a_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The key that an entry begins with, if `=` follows.
pub(super) fn key_before_equals(entry: &str) -> Option<&str> {
    let entry = entry.trim_start();
    let key = &entry[..entry.find(|c| !is_of_a_key(c)).unwrap_or(entry.len())];
    let equals = entry[key.len()..].trim_start().starts_with('=');
    (!key.is_empty() && equals).then_some(key)
}
