//! Syntax errors of TOML. The parser says which token it expected. This file looks at the text around the
//! error, and says what the author most likely meant.

use std::ops::Range;

use super::brackets::{Brackets, Open, is_header, is_of_a_key, key_before_equals};
use crate::diagnostics::{Place, Problem};

/// A syntax error for a person.
#[derive(Debug)]
pub(super) struct Mistake {
    pub message: String,
    pub span: Range<usize>,
    pub help: Option<String>,
    /// A second place, and what is there.
    pub related: Option<(Range<usize>, String)>,
    /// Whether the parser takes what follows for a part of something else, so that its further errors mean
    /// nothing.
    pub swallows: bool,
}

impl Mistake {
    fn new(message: impl Into<String>, span: Range<usize>) -> Mistake {
        Mistake { message: message.into(), span, help: None, related: None, swallows: false }
    }

    fn help(mut self, help: impl Into<String>) -> Mistake {
        self.help = Some(help.into());
        self
    }

    fn related(mut self, span: Option<Range<usize>>, label: &str) -> Mistake {
        self.related = span.map(|span| (span, label.to_owned()));
        self
    }

    /// As a problem of a source in which the text begins at byte `shift`.
    pub fn into_problem(self, source: u32, shift: usize) -> Problem {
        let place = |span: Range<usize>| Place::new(source, span.start + shift..span.end + shift);
        let problem = Problem::new(self.message).at(place(self.span)).help_if(self.help);
        match self.related {
            Some((span, label)) => problem.related(place(span), label),
            None => problem,
        }
    }
}

const KEYS_HAVE: &str = "a key has letters (a to z), digits, `_` and `-`";
const HEADERS: &str = "write `[name]` for a table, `[[name]]` for an element of a list";
const COMMENTS: &str = "begin a comment with `#`";

/// Explains an error that the parser describes in these words.
pub(super) fn explain(text: &str, words: &str, span: Range<usize>, brackets: &mut Brackets<'_>) -> Mistake {
    let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let span = floor(span.start)..floor(span.end);
    let at = span.start;
    let (open, string) = brackets.before(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let line = Line { text, start, end: start + text[start..end].trim_end().len(), at, open };
    let is = |described: &[&str]| described.iter().any(|described| words.contains(described));
    let found = line
        .unclosed(words)
        .filter(|_| string.is_none())
        .or_else(|| line.foreign())
        .or_else(|| line.decimal_comma(at))
        .or_else(|| if is(&["carriage return"]) { Some(lone_carriage_return(span.clone())) } else { None })
        .or_else(|| line.control_character(&span))
        .or_else(|| string.and_then(|opening| line.unclosed_text(opening, is(&["escape", "unicode"]))))
        .or_else(|| if is(&["duplicate key"]) { Some(line.twice(&span)) } else { None })
        .or_else(|| if is(&["cannot extend"]) { Some(line.no_table(&span)) } else { None })
        .or_else(|| if is(&["opening"]) { line.closes_nothing(at) } else { None })
        .or_else(|| if is(&["unexpected key or value", "content"]) { line.behind() } else { None })
        .or_else(|| line.header())
        .or_else(|| if is(&["comma"]) { line.commas() } else { None })
        .or_else(|| if is(&["key", "assignment"]) { line.key(&span) } else { line.value() });
    found.unwrap_or_else(|| Mistake::new(format!("invalid TOML: {}", words.trim()), span))
}

/// The line of an error.
struct Line<'t> {
    text: &'t str,
    start: usize,
    /// Without white space behind it.
    end: usize,
    /// The error.
    at: usize,
    /// The brackets that are open at the error.
    open: Vec<Open>,
}

impl Line<'_> {
    fn whole(&self) -> &str {
        &self.text[self.start..self.end]
    }

    /// From the error to the end of the line.
    fn rest(&self) -> &str {
        &self.text[self.at.min(self.end)..self.end]
    }

    /// The line up to the error.
    fn before(&self) -> &str {
        &self.text[self.start..self.at.min(self.end)]
    }

    fn to_the_end(&self, from: usize) -> Range<usize> {
        from..self.end.max(from)
    }

    /// A list or an inline table that is still open where the next key, table or nothing follows.
    fn unclosed(&self, words: &str) -> Option<Mistake> {
        let opened = self.open.last()?;
        let (what, closing) = if opened.mark == '[' { ("list", ']') } else { ("table", '}') };
        let opening = opened.at..opened.at + 1;
        let ends = words.contains("unclosed");
        let begins_line = self.before().trim().is_empty() && opened.at < self.start;
        let next = begins_line
            && (is_header(self.whole())
                || key_before_equals(self.whole()).is_some()
                    && (opened.mark == '[' || words.contains("comma")));
        if !ends && !next {
            return None;
        }
        let message = format!("this {what} has no closing `{closing}`");
        let mistake = Mistake::new(message, opening);
        let mut mistake = if ends {
            mistake.help(format!("write `{closing}` behind the last element"))
        } else {
            let help = if opened.mark == '{' && !is_header(self.whole()) {
                "write `}` before this line, or `,` if the table goes on".to_owned()
            } else {
                format!("write `{closing}` before this line")
            };
            mistake.help(help).related(Some(self.to_the_end(self.at)), "the next key begins here")
        };
        mistake.swallows = true;
        Some(mistake)
    }

    /// Marks of other languages, programs and keyboards.
    fn foreign(&self) -> Option<Mistake> {
        let line = self.whole();
        let first = self.start + line.len() - line.trim_start().len();
        let word = self.text[first..self.end].split_whitespace().next().unwrap_or_default();
        let here = first..first + word.len();
        let begins = |marks: &[&str]| marks.iter().any(|mark| word.starts_with(mark));
        if begins(&["<<<<<<<", "=======", ">>>>>>>", "|||||||"]) {
            let mistake = Mistake::new("this is the mark of a merge conflict", here);
            return Some(mistake.help("keep one of the two versions, and remove the marks"));
        }
        if begins(&["```", "~~~"]) {
            return Some(Mistake::new("this is a mark of Markdown", here).help("remove the line"));
        }
        if begins(&["//", "/*", "*/", ";", "--", "%"]) && word != "---" && self.open.is_empty() {
            return Some(Mistake::new("this line is no comment of TOML", here).help(COMMENTS));
        }
        if first == self.text.len() - self.text.trim_start().len() && begins(&["{"]) {
            let mistake = Mistake::new("this is JSON, not TOML", here);
            return Some(mistake.help("give the file a name that ends in `.json`"));
        }
        let (at, found, meant) = self.similar()?;
        let code = u32::from(found);
        let here = at..at + found.len_utf8();
        Some(match meant {
            "\"" => Mistake::new(format!("`{found}` is a typographic quotation mark"), here)
                .help("write `\"` before and behind the text"),
            " " => Mistake::new(format!("this is the character U+{code:04X}, not a space"), here)
                .help("remove it, or write a space"),
            meant => Mistake::new(format!("`{found}` is the character U+{code:04X}, not `{meant}`"), here)
                .help(format!("write `{meant}`")),
        })
    }

    /// The first character outside of texts and comments that looks like another one, or the typographic
    /// quotation mark that a text ends with.
    fn similar(&self) -> Option<(usize, char, &'static str)> {
        let (mut quote, mut last) = (None, None);
        for (at, c) in self.whole().char_indices() {
            let found = meant(c).map(|meant| (self.start + at, c, meant));
            match (quote, c) {
                (Some(open), c) if open == c => (quote, last) = (None, None),
                (Some(_), c) if !c.is_whitespace() => last = found.filter(|(.., meant)| *meant == "\""),
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '#') => return None,
                (None, _) if found.is_some() => return found,
                (None, _) => {}
            }
        }
        last
    }

    /// A number with a comma, at whose end or within which the error is.
    fn decimal_comma(&self, at: usize) -> Option<Mistake> {
        let part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
        // The parser takes what is behind the comma for a key, and misses its value.
        let before = self.text[self.start..at.min(self.end)].trim_end();
        let begin = before.trim_end_matches(part).len();
        let sign = before[..begin].ends_with(['-', '+']);
        let from = self.start + begin - usize::from(sign);
        let length = self.text[from + usize::from(sign)..self.end].find(|c| !part(c));
        let to = length.map_or(self.end, |length| from + usize::from(sign) + length);
        let number = &self.text[from..to];
        let groups: Vec<&str> = number.trim_start_matches(['-', '+']).split(',').collect();
        let behind_a_value = self.text[self.start..from].trim_end().ends_with('=');
        if groups.len() < 2 || groups.iter().any(|group| group.is_empty()) || !behind_a_value {
            return None;
        }
        let unit = self.text[to..self.end].trim_start();
        let unit = &unit[..unit.find([' ', ',', '}', ']', '#', '"', '\'']).unwrap_or(unit.len())];
        let quoted = |number: &str| match unit {
            "" => number.to_owned(),
            unit => format!("\"{number} {unit}\""),
        };
        let (point, whole) = (number.replace(',', "."), number.replace(',', ""));
        let thousands = groups[1..].iter().all(|group| group.len() == 3) && groups[0] != "0";
        let help = match (groups.len(), thousands) {
            (2, false) => format!("a decimal has a point: write {}", quoted(&point)),
            (2, true) => format!("write {} for thousands, {} for a decimal", quoted(&whole), quoted(&point)),
            (_, true) => format!("write {}", quoted(&whole)),
            _ => "a decimal has a point, as in 0.5; a list has square brackets, as in [1, 2]".to_owned(),
        };
        Some(Mistake::new("this number has a comma", from..to).help(help))
    }

    fn control_character(&self, span: &Range<usize>) -> Option<Mistake> {
        let reach = span.end.max(span.start + 1).min(self.end);
        let (at, found) = self.text[span.start..]
            .char_indices()
            .map(|(at, c)| (span.start + at, c))
            .take_while(|(at, _)| *at < reach)
            .find(|(_, c)| c.is_control() && !c.is_whitespace())?;
        let message = format!("this is the control character U+{:04X}", u32::from(found));
        Some(Mistake::new(message, at..at + found.len_utf8()).help("remove it"))
    }

    /// A text that begins at `opening`, and does not end, or has a backslash that begins nothing.
    fn unclosed_text(&self, opening: usize, escape: bool) -> Option<Mistake> {
        if escape {
            return Some(self.escape(opening));
        }
        let mark = &self.text[opening..opening + 1];
        let triple = mark.repeat(3);
        if self.text[opening..].starts_with(&triple) {
            let mistake = Mistake::new(format!("this text has no closing `{triple}`"), opening..opening + 3);
            return Some(mistake.help(format!("write `{triple}` behind the last line of the text")));
        }
        let inside = &self.text[opening + 1..self.end.max(opening + 1)];
        let mistake = Mistake::new(format!("this text has no closing `{mark}`"), self.to_the_end(opening));
        let other = if mark == "\"" { "'" } else { "\"" };
        if inside.ends_with(other) {
            return Some(
                mistake.help(format!("it begins with `{mark}`: end it with `{mark}`, not with `{other}`")),
            );
        }
        if inside.contains("\\\"") {
            return Some(mistake.help("`\\\"` does not end a text: write `/` in a path, or `\\\\`"));
        }
        let content = inside.split(" #").next().unwrap_or_default();
        // In brackets the text ends before the next comma, as far as one can know.
        let content =
            if self.open.is_empty() { content } else { content.split(',').next().unwrap_or_default() };
        let content = content.trim_end().trim_end_matches([',', ']', '}', ' ']);
        let write = if content.is_empty() || content.contains(other) { "" } else { content };
        Some(mistake.help(if write.is_empty() {
            format!("write `{mark}` behind the text")
        } else {
            format!("write {mark}{write}{mark}")
        }))
    }

    /// A backslash within a text in double quotation marks.
    fn escape(&self, opening: usize) -> Mistake {
        let at = self.text[opening..self.at.min(self.end)].rfind('\\').map_or(self.at, |at| opening + at);
        let next = self.text[at..].chars().nth(1).filter(|c| !c.is_control());
        let length = 1 + next.map_or(0, char::len_utf8);
        let sequence = &self.text[at..(at + length).min(self.text.len())];
        let message = match next {
            Some('u' | 'U' | 'x') => format!("`{sequence}` needs hexadecimal digits behind it"),
            _ => format!("`{sequence}` is no escape sequence"),
        };
        let inside = self.text[opening + 1..self.end].split('"').next().unwrap_or_default();
        let path = inside.replace("\\\\", "/").replace('\\', "/");
        let help = if inside.len() > length + 1 && !inside.contains('\n') {
            format!("in a path write `/`: \"{path}\"; elsewhere write `\\\\` for a backslash")
        } else {
            "write `\\\\` for a backslash".to_owned()
        };
        Mistake::new(message, at..(at + length).min(self.text.len())).help(help)
    }

    /// A key, or a table, that is defined already.
    fn twice(&self, span: &Range<usize>) -> Mistake {
        let name = &self.text[span.clone()];
        let header = self.open.is_empty() && self.whole().trim_start().starts_with('[');
        let mut above = self.text[..self.start].lines().rev();
        let place = |line: &str| {
            let start = line.as_ptr() as usize - self.text.as_ptr() as usize;
            let start = start + line.len() - line.trim_start().len();
            start..start + line.trim().len()
        };
        if header {
            let path = header_name(self.whole());
            let list = self.whole().trim_start().starts_with("[[");
            let Some(first) = above.find(|line| is_header(line) && header_name(line) == path) else {
                return Mistake::new(format!("`{path}` is defined twice"), span.clone())
                    .help("write all its keys in one place");
            };
            let other = first.trim_start().starts_with("[[");
            let mistake = if list == other {
                Mistake::new(format!("the table `{path}` is defined twice"), span.clone()).help(format!(
                    "write its keys under one header; each element of a list begins with `[[{path}]]`"
                ))
            } else {
                Mistake::new(format!("`{path}` is a table and a list"), span.clone())
                    .help(format!("begin each element of the list with `[[{path}]]`"))
            };
            return mistake.related(Some(place(first)), "the first is here");
        }
        let mistake = Mistake::new(format!("the key `{name}` is set twice"), span.clone())
            .help("remove one of the two");
        let first = match self.open.last() {
            Some(open) => key_within(self.text, open.at..span.start, name),
            None => above
                .take_while(|line| !is_header(line))
                .find(|line| key_before_equals(line) == Some(name))
                .map(|line| place(line).start..place(line).start + name.len()),
        };
        mistake.related(first, "the first is here")
    }

    /// Keys of what is no table.
    fn no_table(&self, span: &Range<usize>) -> Mistake {
        let name = &self.text[span.clone()];
        Mistake::new(format!("`{name}` is a value, not a table with keys"), span.clone())
            .help(format!("remove the value of `{name}`, or this key"))
    }

    fn closes_nothing(&self, at: usize) -> Option<Mistake> {
        let bracket = self.text[at..].chars().next().filter(|c| matches!(c, ']' | '}' | ')'))?;
        Some(Mistake::new(format!("this `{bracket}` closes nothing"), at..at + 1).help("remove it"))
    }

    /// What stands behind a value, or behind a header.
    fn behind(&self) -> Option<Mistake> {
        let (rest, at) = (self.rest(), self.at);
        let here = self.to_the_end(at);
        if let Some(mistake) = self.closes_nothing(at) {
            return Some(mistake);
        }
        if let Some(mistake) = comment(rest, at) {
            return Some(mistake);
        }
        let header = self.whole().trim_start().starts_with('[');
        if let Some(key) = key_before_equals(rest) {
            let (message, help) = if header {
                (format!("the key `{key}` is in the line of a header"), "begin a new line behind the header")
            } else {
                (format!("the key `{key}` is in the line of another key"), "begin a new line before it")
            };
            return Some(Mistake::new(message, at..at + key.len()).help(help));
        }
        if header {
            return Some(
                Mistake::new("only a comment can follow a header in its line", here)
                    .help(format!("remove it, or {COMMENTS}")),
            );
        }
        if let Some(mark @ (',' | ';')) = rest.chars().next() {
            let further = rest[1..].trim_start();
            if further.is_empty() || further.starts_with('#') {
                let mistake = Mistake::new(format!("this line ends with `{mark}`"), at..at + 1);
                return Some(mistake.help("remove it"));
            }
            let mistake = Mistake::new("a key has one value", here);
            return Some(mistake.help("write several values as a list, as in [1, 2]"));
        }
        if self.before().trim_end().ends_with(['"', '\'']) {
            let mistake = Mistake::new("the text ends before this", here);
            return Some(if rest.starts_with(['"', '\'']) {
                mistake.help("write several texts as a list, as in [\"a\", \"b\"]")
            } else if rest.contains('"') {
                mistake.help("write the whole text between `'`, or `\\\"` for each `\"` within it")
            } else {
                mistake.help(format!("write the closing quotation mark behind it, or {COMMENTS}"))
            });
        }
        Some(
            Mistake::new("only a comment can follow a value in its line", here)
                .help(format!("remove it, or {COMMENTS}")),
        )
    }

    /// The header of a table.
    fn header(&self) -> Option<Mistake> {
        let line = self.whole();
        if !self.open.is_empty() || !line.trim_start().starts_with('[') {
            return None;
        }
        let first = self.start + line.len() - line.trim_start().len();
        let line = line.split('#').next().unwrap_or_default().trim();
        let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let inside = line.trim_matches(|c: char| matches!(c, '[' | ']' | '"' | '\'') || c.is_whitespace());
        let name = inside.split(|c| !bare(c)).next().unwrap_or_default();
        let count = |bracket: char| line.chars().filter(|c| *c == bracket).count();
        let (opening, closing) = (count('['), count(']'));
        let message = match opening.saturating_sub(closing) {
            0 => "this is no header of a table".to_owned(),
            missing => format!("this header has no closing `{}`", "]".repeat(missing)),
        };
        let mistake = Mistake::new(message, self.to_the_end(first));
        if name.is_empty() || name.starts_with('.') || name.ends_with('.') || name.contains("..") {
            return Some(mistake.help(HEADERS));
        }
        if inside != name && closing > 0 {
            return Some(mistake.help(format!("{KEYS_HAVE}, no space")));
        }
        Some(if opening == 1 {
            mistake.help(format!("write `[{name}]`"))
        } else {
            mistake.help(format!("write `[[{name}]]`"))
        })
    }

    /// Elements of lists and tables.
    fn commas(&self) -> Option<Mistake> {
        let opened = self.open.last()?;
        let rest = self.rest();
        let here = self.at..self.at + rest.chars().next().map_or(0, char::len_utf8);
        if rest.starts_with(',') {
            return Some(Mistake::new("this comma follows no element", here).help("remove it"));
        }
        if rest.starts_with(';') {
            return Some(Mistake::new("elements have commas between them", here).help("write `,`"));
        }
        comment(rest, self.at).or_else(|| {
            let what = if opened.mark == '[' { "elements of the list" } else { "keys of the table" };
            let mistake = Mistake::new(format!("between two {what} is no comma"), self.to_the_end(self.at));
            Some(mistake.help("write `,` before this"))
        })
    }

    /// A key, and what stands in place of `=`.
    fn key(&self, span: &Range<usize>) -> Option<Mistake> {
        // Within an inline table the key begins behind a bracket or a comma.
        let before = self.before();
        let begin = if self.open.is_empty() { 0 } else { before.rfind(['{', ',']).map_or(0, |at| at + 1) };
        let begin = self.start + begin;
        let begin = begin + self.text[begin..self.end].len() - self.text[begin..self.end].trim_start().len();
        let entry = self.text[begin..self.end].trim_end();
        let length = entry.find(|c| !is_of_a_key(c)).unwrap_or(entry.len());
        let (key, behind) = (&entry[..length], entry[length..].trim_start());
        if key.is_empty() {
            if behind.starts_with('=') {
                let mistake = Mistake::new("this `=` has no key before it", begin..begin + 1);
                return Some(mistake.help("write the name of the key before it"));
            }
        } else if let Some(value) = behind.strip_prefix('=') {
            if value.starts_with('=') {
                let at = begin + entry.len() - value.len();
                return Some(Mistake::new("`=` stands twice", at..at + 1).help("remove one of the two"));
            }
            return self.value();
        } else if let Some(value) = behind.strip_prefix(':') {
            let at = begin + entry.len() - behind.len();
            let value = value.trim_start_matches('=').trim();
            let mistake = Mistake::new("a colon stands in place of `=`", at..at + 1);
            return Some(if value.is_empty() {
                // As in YAML, where all further lines would have the same mistake.
                let help = format!("write `{key} =` and a value, or `[{key}]` for a table");
                Mistake { swallows: true, ..mistake.help(help) }
            } else if self.open.is_empty() {
                mistake.help(format!("write `{key} = {}`", value_of(value)))
            } else {
                mistake.help(format!("write `{key} =`"))
            });
        } else if key == "-" {
            let mistake = Mistake::new("this is no list of TOML", self.to_the_end(begin));
            return Some(mistake.help("write a list in square brackets, as in [\"a\", \"b\"]"));
        } else if behind.is_empty() || behind.starts_with('#') {
            let mistake = Mistake::new(format!("the key `{key}` has no value"), begin..begin + length);
            return Some(mistake.help(format!("write `{key} =` and a value, or remove the line")));
        } else if let Some((words, _)) = behind.split_once('=')
            && !words.contains(['"', '\''])
            && words.trim().chars().all(|c| is_of_a_key(c) || c.is_whitespace())
        {
            let joined = entry[..entry.len() - behind.len() + words.len()].split_whitespace();
            let joined = joined.collect::<Vec<_>>().join("_");
            let to = begin + entry.len() - behind.len() + words.trim_end().len();
            return Some(Mistake::new("this key has a space", begin..to).help(format!("write `{joined}`")));
        } else if entry[length..].starts_with(char::is_whitespace) && self.open.is_empty() {
            let mistake = Mistake::new(format!("behind the key `{key}` is no `=`"), begin..begin + length);
            return Some(mistake.help(format!("write `{key} = {}`", value_of(behind))));
        }
        let found = self.text[span.start..].chars().next().filter(|c| !c.is_whitespace())?;
        let here = span.start..span.start + found.len_utf8();
        Some(Mistake::new(format!("a key has no `{found}`"), here).help(KEYS_HAVE))
    }

    /// A value that is none.
    fn value(&self) -> Option<Mistake> {
        let begin = self.start + value_begin(self.before());
        let end = value_end(&self.text[begin..self.end], !self.open.is_empty());
        let line = &self.text[begin..begin + end];
        let from = begin + line.len() - line.trim_start().len();
        let value = line.trim();
        let here = from..from + value.len();
        if value.is_empty() {
            let key = self.text[self.start..begin].trim_end().trim_end_matches('=').trim();
            let mistake = Mistake::new("a value is missing", from..from);
            return Some(match key_before_equals(self.whole()) {
                Some(_) if self.open.is_empty() => {
                    Mistake::new(format!("the key `{key}` has no value"), self.start..begin)
                        .help("write a value behind `=`, or remove the line")
                }
                _ => mistake.help("write a value here"),
            });
        }
        if let Some(further) = value.strip_prefix('=') {
            let mistake = Mistake::new("`=` stands twice", from..from + 1);
            return Some(mistake.help(format!("write one `=`, then {}", value_of(further.trim()))));
        }
        let comment_at = ["//", "/*", "; "].iter().filter_map(|mark| value.find(mark)).min();
        if let Some(at) = comment_at.filter(|at| *at == 0 || value[..*at].ends_with(' ')) {
            // In a list the parser takes the words of the comment for elements.
            let mistake = comment(&value[at..], from + at)?;
            return Some(Mistake { swallows: !self.open.is_empty(), ..mistake });
        }
        if let Some((key, at)) = second_key(value) {
            let message = format!("the key `{key}` is in the line of another key");
            let help =
                if self.open.is_empty() { "begin a new line before it" } else { "write `,` before it" };
            return Some(Mistake::new(message, from + at..from + at + key.len()).help(help));
        }
        if let Some(bare) = value.strip_suffix(';').filter(|bare| !bare.contains(';')) {
            let at = from + bare.len();
            return Some(Mistake::new("this line ends with `;`", at..at + 1).help("remove it"));
        }
        if value.contains(';') && self.open.last().is_some_and(|open| open.mark == '[') {
            let at = from + value.find(';').unwrap_or_default();
            let mistake = Mistake::new("elements have commas between them", at..at + 1);
            return Some(mistake.help("write `,` between elements, and a point in a decimal, as in 0.5"));
        }
        if value.starts_with('(') {
            let mistake = Mistake::new("a list has square brackets", here);
            return Some(mistake.help("write `[` and `]`, as in [1, 2]"));
        }
        word(value)
            .or_else(|| number(value))
            .map(|(message, help)| Mistake::new(message, here.clone()).help(help))
            .or_else(|| {
                let quoted = value.strip_suffix(['"', '\'']).filter(|inner| !inner.contains(['"', '\'']));
                let value = quoted.unwrap_or(value);
                let message = if quoted.is_some() {
                    "this text has no opening quotation mark"
                } else {
                    "a text needs quotation marks"
                };
                let mistake = Mistake::new(message, here);
                Some(if value.contains(['"', '\'']) {
                    mistake.help("write `\"` before and behind the text")
                } else {
                    mistake.help(format!("write \"{}\"", value.replace('\\', "/")))
                })
            })
    }
}

fn lone_carriage_return(span: Range<usize>) -> Mistake {
    Mistake::new("this line ends with a carriage return alone", span)
        .help("save the file with line ends of Unix (LF) or of Windows (CR LF)")
}

/// The character that a similar one stands for.
fn meant(c: char) -> Option<&'static str> {
    Some(match c {
        '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '‛' | '«' | '»' | '‹' | '›' | '″' | '＂' => {
            "\""
        }
        '\u{a0}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{3000}' | '\u{feff}' => " ",
        '−' | '–' | '—' | '‐' | '‑' => "-",
        '＝' => "=",
        '，' => ",",
        _ => return None,
    })
}

/// A comment of another language, at this place.
fn comment(rest: &str, at: usize) -> Option<Mistake> {
    let mark = ["//", "/*", "--", "; "].into_iter().find(|mark| rest.starts_with(mark))?;
    let mark = mark.trim_end();
    Some(Mistake::new(format!("`{mark}` begins no comment of TOML"), at..at + mark.len()).help(COMMENTS))
}

/// A key with `=` behind a first word, and where it begins.
fn second_key(value: &str) -> Option<(&str, usize)> {
    let equals = value.find('=')?;
    let key = value[..equals].trim_end();
    let at = key.trim_end_matches(is_of_a_key).len();
    let begins = key[..at].ends_with([' ', '\t', ';', ',']);
    (at > 0 && at < key.len() && begins && !key.contains(['"', '\''])).then(|| (&key[at..], at))
}

/// Where a key stands before `=` in a part of the text.
fn key_within(text: &str, part: Range<usize>, name: &str) -> Option<Range<usize>> {
    let places = text[part.clone()].match_indices(name).map(|(at, _)| part.start + at);
    let is_key = |at: &usize| {
        !text[..*at].ends_with(is_of_a_key) && text[at + name.len()..].trim_start().starts_with('=')
    };
    places.filter(is_key).last().map(|at| at..at + name.len())
}

fn header_name(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or_default();
    line.trim_matches(|c: char| matches!(c, '[' | ']') || c.is_whitespace())
}

/// Where the value begins in which a line breaks off: behind the last `=`, bracket or comma that is in no
/// text.
fn value_begin(before: &str) -> usize {
    let mut quote = None;
    let mut begin = 0;
    let mut equals = false;
    for (at, c) in before.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '=') if !equals => (begin, equals) = (at + 1, true),
            (None, '[' | '{' | ',') => (begin, equals) = (at + 1, false),
            _ => {}
        }
    }
    begin
}

/// How long a value is, which begins here: to a comment, or within brackets to the next comma or bracket.
fn value_end(value: &str, within: bool) -> usize {
    let ends = |(at, c): &(usize, char)| match c {
        '#' => value[..*at].is_empty() || value[..*at].ends_with(char::is_whitespace),
        ',' | ']' | '}' => within,
        _ => false,
    };
    value.char_indices().find(ends).map_or(value.len(), |(at, _)| at)
}

/// A value as one would write it in TOML.
fn value_of(value: &str) -> String {
    let value = value[..value_end(value, false)].trim().trim_end_matches(',');
    let is_written = value.starts_with(['"', '\'', '[', '{'])
        || value.parse::<f64>().is_ok()
        || matches!(value, "true" | "false");
    if is_written || value.is_empty() { value.to_owned() } else { format!("\"{value}\"") }
}

/// Words that other languages have for values.
fn word(value: &str) -> Option<(&'static str, String)> {
    let (message, help) = match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => ("this is no value of TOML", "write `true`"),
        "false" | "no" | "off" => ("this is no value of TOML", "write `false`"),
        "null" | "none" | "nil" | "nan" => ("this is no value of TOML", "remove the key to have its default"),
        "inf" | "infinity" | "+infinity" => ("this is no value of TOML", "write `inf`"),
        _ => return None,
    };
    Some((message, help.to_owned()))
}

/// What looks like a number.
fn number(value: &str) -> Option<(&'static str, String)> {
    let digits = value.trim_start_matches(['+', '-']).trim_start();
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let sign = if value.starts_with('-') { "-" } else { "" };
    let length = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (whole, behind) = (&digits[..length], &digits[length..]);
    let is_number = whole.parse::<f64>().is_ok();
    if behind.is_empty() && is_number {
        let plain = whole.trim_start_matches('0');
        let plain =
            if plain.is_empty() || plain.starts_with('.') { format!("0{plain}") } else { plain.into() };
        let plain = if plain.ends_with('.') { plain + "0" } else { plain };
        let message =
            if value.get(1..).is_some_and(|behind| behind.starts_with(' ')) && !whole.starts_with('0') {
                "a sign has no space behind it"
            } else if whole.starts_with('.') || whole.ends_with('.') {
                "a decimal point has digits on both sides"
            } else {
                "this number begins with a zero"
            };
        return Some((message, format!("write {sign}{plain}")));
    }
    let separator = |c: char| c.is_whitespace() || matches!(c, '\'' | '_' | '´' | '`');
    if is_number && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || separator(c)) {
        let number: String = digits.chars().filter(|c| !separator(*c)).collect();
        let message = match behind.chars().next() {
            Some('_') => "`_` is not between two digits",
            Some('\t') => "this number has a tab within it",
            Some(c) if c.is_whitespace() => "this number has a space within it",
            _ => "this number has an apostrophe within it",
        };
        return Some((message, format!("write {sign}{number}")));
    }
    let lower = digits.to_ascii_lowercase();
    if ["0x", "0o", "0b"].iter().any(|prefix| lower.starts_with(prefix)) {
        return Some(
            match digits.starts_with("0X") || digits.starts_with("0O") || digits.starts_with("0B") {
                true => ("the letter behind the 0 is small", format!("write {sign}{lower}")),
                false => ("this is no number", "write digits behind it, as in 0x1f, 0o17 or 0b11".to_owned()),
            },
        );
    }
    if !is_number {
        return None;
    }
    if lower.trim_end_matches(['+', '-']).ends_with('e') && behind.trim_end_matches(['+', '-']).len() == 1 {
        return Some((
            "this number has no exponent behind `e`",
            format!("write {sign}{whole}e3, for instance"),
        ));
    }
    let unit = behind.trim_start();
    if unit == "%" {
        let share = whole.parse::<f64>().unwrap_or_default() / 100.0;
        return Some(("TOML has no percentages", format!("write {sign}{share}")));
    }
    if unit.starts_with(['^', '*', '+']) || unit.starts_with('/') && unit[1..].trim().parse::<f64>().is_ok() {
        return Some(("TOML does not calculate", "write the result, as in 1e6".to_owned()));
    }
    let is_unit = unit.starts_with(char::is_alphabetic) && !unit.contains(['"', '\'', '\\']);
    let exponent = unit.starts_with(['e', 'E']) && unit[1..].starts_with(|c: char| c.is_ascii_digit());
    (is_unit || exponent).then(|| ("a value with a unit needs quotation marks", format!("write \"{value}\"")))
}
