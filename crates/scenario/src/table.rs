//! Result tables: named columns with units.

/// The values of a column, one a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers; NaN where there is none.
    Float(Vec<f64>),
    /// Counts.
    Integer(Vec<u64>),
    /// Names and words.
    Text(Vec<String>),
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

/// A column of numbers.
pub(crate) fn float(name: &'static str, unit: &'static str, values: impl Iterator<Item = f64>) -> Column {
    Column { name, unit, values: Values::Float(values.collect()) }
}

/// A column of counts.
pub(crate) fn integer(name: &'static str, unit: &'static str, values: impl Iterator<Item = u64>) -> Column {
    Column { name, unit, values: Values::Integer(values.collect()) }
}

/// A column of text.
pub(crate) fn text(name: &'static str, values: impl Iterator<Item = String>) -> Column {
    Column { name, unit: "", values: Values::Text(values.collect()) }
}

/// `numerator / denominator`, NaN when the denominator is zero.
pub(crate) fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator == 0.0 { f64::NAN } else { numerator / denominator }
}
