//! Result tables: named columns with units.

pub(crate) mod sample;
pub(crate) mod traced;

use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Index;

/// The values of a column, one a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers; NaN where there is none.
    Float(Vec<f64>),
    /// Counts.
    Integer(Vec<u64>),
    /// Names and words.
    Text(Texts),
}

/// Names and words, of which equal ones among some thousand rows are held once: a row costs four octets.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    codes: Vec<u32>,
    different: Different,
}

/// Texts by their places, one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Different {
    letters: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Different {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// They, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|place| &self[place])
    }

    fn push(&mut self, text: &str) {
        self.letters += text;
        self.ends.push(self.letters.len());
    }

    fn append(&mut self, others: &Different) {
        let before = self.letters.len();
        self.letters += &others.letters;
        self.ends.extend(others.ends.iter().map(|end| before + end));
    }
}

impl Index<usize> for Different {
    type Output = str;

    fn index(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[place]]
    }
}

impl Texts {
    /// Rows of texts; equal ones are held once.
    pub fn of<'a>(rows: impl Iterator<Item = &'a str>) -> Texts {
        Texts::by_key(rows, |&text| text)
    }

    /// Rows that are given by the places of their texts among the different ones.
    ///
    /// # Panics
    /// A place is beyond them.
    pub fn coded(codes: Vec<u32>, different: Different) -> Texts {
        assert!(codes.iter().all(|&code| (code as usize) < different.len()), "a row has a text of its own");
        Texts { codes, different }
    }

    /// Of each row, the place of its text among the different ones.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The different texts, in order of their first rows. A text stands here once for each part that the rows
    /// came in.
    pub fn different(&self) -> &Different {
        &self.different
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The rows' texts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.codes.iter().map(|&code| &self.different[code as usize])
    }

    /// The rows' texts, each by itself.
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }

    /// Adds the rows of others below.
    pub fn append(&mut self, other: Texts) {
        let before = self.different.len() as u32;
        self.codes.extend(other.codes.iter().map(|code| before + code));
        self.different.append(&other.different);
    }

    /// A text a row; `text` is asked once for each different key.
    fn by_key<K: Hash + Eq, T: AsRef<str>>(keys: impl Iterator<Item = K>, text: impl Fn(&K) -> T) -> Texts {
        let mut texts = Texts::default();
        texts.codes.reserve(keys.size_hint().0);
        let mut known: HashMap<K, u32, FixedState> = HashMap::default();
        for key in keys {
            let code = match known.get(&key) {
                Some(&code) => code,
                None => {
                    let code = texts.different.len() as u32;
                    texts.different.push(text(&key).as_ref());
                    known.insert(key, code);
                    code
                }
            };
            texts.codes.push(code);
        }
        texts.different.letters.shrink_to_fit();
        texts.different.ends.shrink_to_fit();
        texts
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Texts) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Index<usize> for Texts {
    type Output = str;

    fn index(&self, row: usize) -> &str {
        &self.different[self.codes[row] as usize]
    }
}

impl<const ROWS: usize> PartialEq<[&str; ROWS]> for &Texts {
    fn eq(&self, other: &[&str; ROWS]) -> bool {
        **self == *other
    }
}

impl<const ROWS: usize> PartialEq<[&str; ROWS]> for Texts {
    fn eq(&self, other: &[&str; ROWS]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const TEXTS: usize> PartialEq<[&str; TEXTS]> for &Different {
    fn eq(&self, other: &[&str; TEXTS]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The unit of its values, empty for names and ratios.
    pub unit: &'static str,
    /// Its values.
    pub values: Values,
}

/// A table: columns of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

impl Table {
    /// How many rows it has.
    pub fn height(&self) -> usize {
        self.columns.first().map_or(0, |column| match &column.values {
            Values::Float(values) => values.len(),
            Values::Integer(values) => values.len(),
            Values::Text(values) => values.len(),
        })
    }

    /// Adds the rows of a table of the same columns below.
    pub(crate) fn append(&mut self, other: Table) {
        for (mine, others) in self.columns.iter_mut().zip(other.columns) {
            match (&mut mine.values, others.values) {
                (Values::Float(mine), Values::Float(others)) => mine.extend(others),
                (Values::Integer(mine), Values::Integer(others)) => mine.extend(others),
                (Values::Text(mine), Values::Text(others)) => mine.append(others),
                (_, _) => debug_assert!(false, "{} has columns of another type", other.name),
            }
        }
    }
}

/// A column of numbers.
pub(crate) fn float(name: &'static str, unit: &'static str, values: impl Iterator<Item = f64>) -> Column {
    Column { name, unit, values: Values::Float(values.collect()) }
}

/// A column of counts.
pub(crate) fn integer(name: &'static str, unit: &'static str, values: impl Iterator<Item = u64>) -> Column {
    Column { name, unit, values: Values::Integer(values.collect()) }
}

/// A column of text.
pub(crate) fn text<T: AsRef<str> + Hash + Eq>(name: &'static str, values: impl Iterator<Item = T>) -> Column {
    named(name, values, |text| text.as_ref().to_owned())
}

/// A column of text, which `words` gives for each key. Rows with equal keys share theirs.
pub(crate) fn named<K: Hash + Eq>(
    name: &'static str,
    keys: impl Iterator<Item = K>,
    words: impl Fn(&K) -> String,
) -> Column {
    Column { name, unit: "", values: Values::Text(Texts::by_key(keys, words)) }
}

/// A column of text: each of `texts` in so many rows, one after the other.
pub(crate) fn repeated<'a>(name: &'static str, texts: impl Iterator<Item = &'a str>, rows: usize) -> Column {
    let once = Texts::of(texts);
    let mut codes = Vec::with_capacity(once.len() * rows);
    for code in once.codes {
        codes.resize(codes.len() + rows, code);
    }
    Column { name, unit: "", values: Values::Text(Texts { codes, different: once.different }) }
}

/// `numerator / denominator`, NaN when the denominator is zero.
pub(crate) fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator == 0.0 { f64::NAN } else { numerator / denominator }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_held_once() {
        let texts = Texts::by_key([7, 3, 7, 7].into_iter(), |key| format!("node {key}"));
        assert_eq!((texts.codes(), texts.different().len()), (&[0, 1, 0, 0][..], 2));
        assert_eq!(&texts, ["node 7", "node 3", "node 7", "node 7"]);
        assert_eq!(&texts[1], "node 3");
    }

    #[test]
    fn rows_that_came_in_parts_are_those_of_the_whole() {
        let table = |rows: std::ops::Range<u64>| Table {
            name: "t",
            columns: vec![
                integer("n", "", rows.clone()),
                float("half", "", rows.clone().map(|n| n as f64 / 2.0)),
                named("even", rows.map(|n| n % 2 == 0), |even| even.to_string()),
            ],
        };
        let mut parts = table(0..3);
        parts.append(table(3..3));
        parts.append(table(3..7));
        assert_eq!((&parts, parts.height()), (&table(0..7), 7));
        assert_ne!(parts, table(1..8));
    }
}
