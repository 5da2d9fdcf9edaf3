//! TOML, of which each key and value knows where it stands.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::arena::{MAX_DEPTH, New, TOO_DEEP, Tree};
use super::brackets::Brackets;
use super::mistakes;
use crate::diagnostics::{Place, Problem, Problems};

/// What the parser says of nesting that is beyond its own limits, which are behind ours.
const RECURSION: [&str; 2] = ["cannot recurse further; max recursion depth met", "recursion limit"];

/// Reads TOML. All syntax errors are reported; `None` if there is one.
pub(crate) fn from_toml(text: &str, source: u32, problems: &mut Problems) -> Option<Tree> {
    let mut tree = Tree::default();
    let root = tree.read_toml(text, source, problems)?;
    tree.set(Tree::ROOT, root);
    Some(tree)
}

impl Tree {
    /// Reads TOML as a table of this tree.
    pub fn read_toml(&mut self, text: &str, source: u32, problems: &mut Problems) -> Option<New> {
        let before = problems.count();
        let (table, mut errors) = DeTable::parse_recoverable(text);
        let begins = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        let unclosed = errors.iter().filter(|error| error.message().contains("unclosed")).map(begins).min();
        errors.sort_by_key(begins);
        let mut reported: Option<usize> = None;
        let mut brackets = Brackets::new(text);
        for error in errors {
            // Further errors of a line follow from the first.
            let begin = begins(&error).min(text.len());
            let same_line = |last: usize| !text.as_bytes()[last.min(begin)..last.max(begin)].contains(&b'\n');
            if reported.is_some_and(same_line) {
                continue;
            }
            // Names behind what is not closed are taken for parts of something else, and so for the same.
            if error.message() == "duplicate key"
                && unclosed.is_some_and(|unclosed| unclosed < begins(&error))
            {
                continue;
            }
            reported = Some(begin);
            if problems.full() {
                problems.leave_out();
                continue;
            }
            // Where the text ends too early, its last line with something on it is shown.
            let written = text.trim_end().len();
            let span = error.span().unwrap_or(0..0);
            let span = span.start.min(written)..span.end.min(written);
            if RECURSION.contains(&error.message().trim()) {
                problems.add(Problem::new(TOO_DEEP).at(Place::new(source, span)));
                continue;
            }
            let mistake = mistakes::explain(text, error.message(), span, &mut brackets);
            let swallows = mistake.swallows;
            problems.add(mistake.into_problem(source, 0));
            if swallows {
                break;
            }
        }
        if problems.count() > before {
            return None;
        }
        let span = table.span();
        let root = Reader { source, shift: 0, tree: self }
            .table(table.get_ref(), 0, problems)
            .map(|table| table.at(Place::new(source, span.start..span.start)));
        if problems.count() > before { None } else { root }
    }

    /// Reads one TOML value that starts at byte `shift` of its source; `None` if it is no TOML value. A table
    /// or a list that is not closed is a problem.
    pub fn read_toml_value(
        &mut self,
        text: &str,
        source: u32,
        shift: usize,
        problems: &mut Problems,
    ) -> Option<New> {
        let value = match DeValue::parse(text) {
            Ok(value) => value,
            Err(error) => {
                if error.message().contains("unclosed") {
                    let span = error.span().unwrap_or(0..text.len());
                    let mut brackets = Brackets::of_a_value(text);
                    let mistake = mistakes::explain(text, error.message(), span, &mut brackets);
                    problems.add(mistake.into_problem(source, shift));
                }
                return None;
            }
        };
        Reader { source, shift, tree: self }.value(&value, 0, problems)
    }
}

struct Reader<'t> {
    source: u32,
    shift: usize,
    tree: &'t mut Tree,
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>) -> Option<Place> {
        Place::new(self.source, span.start + self.shift..span.end + self.shift)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, depth: usize, problems: &mut Problems) -> Option<New> {
        let place = self.place(value.span());
        if depth > MAX_DEPTH {
            problems.add(Problem::new(TOO_DEEP).at(place));
            return None;
        }
        let new = match value.get_ref() {
            DeValue::String(text) => self.tree.text(text),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => New::integer(number),
                Err(_) => New::float(beyond_integers(number.as_str(), number.radix())),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => New::float(number),
                Err(_) => {
                    problems.add(Problem::new("this is not a number").at(place));
                    return None;
                }
            },
            DeValue::Boolean(yes) => New::boolean(*yes),
            DeValue::Datetime(date) => self.tree.date(&date.to_string()),
            DeValue::Array(list) => {
                let mut elements = Vec::with_capacity(list.len());
                for value in list.iter() {
                    elements.push(self.value(value, depth + 1, problems)?);
                }
                self.tree.list(elements)
            }
            DeValue::Table(table) => self.table(table, depth, problems)?,
        };
        Some(new.at(place))
    }

    fn table(&mut self, table: &DeTable<'_>, depth: usize, problems: &mut Problems) -> Option<New> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table.iter() {
            let new = self.value(value, depth + 1, problems)?;
            let key_place = self.place(key.span());
            entries.push(self.tree.under(key.get_ref(), key_place, new));
        }
        Some(self.tree.table(entries))
    }
}

/// A whole number that is too large for one. As a float it comes to the key that it stands for, which refuses
/// it by name.
fn beyond_integers(text: &str, radix: u32) -> f64 {
    if radix == 10
        && let Ok(value) = text.parse()
    {
        return value;
    }
    let digits = text.chars().filter_map(|digit| digit.to_digit(radix));
    let value = digits.fold(0.0, |value, digit| value * f64::from(radix) + f64::from(digit));
    if text.starts_with('-') { -value } else { value }
}
