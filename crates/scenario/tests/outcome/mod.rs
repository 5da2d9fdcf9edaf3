//! Columns of an outcome's tables.

#![allow(dead_code, reason = "no file of tests uses all of them")]

use roamsim_scenario::run::Outcome;
use roamsim_scenario::table::{Table, Texts, Values};

/// A table.
pub fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("no table {name}"))
}

fn values<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a Values {
    &table(outcome, of).columns.iter().find(|column| column.name == name).expect(name).values
}

/// A column of floats of the table `of`.
pub fn floats<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a [f64] {
    match values(outcome, of, name) {
        Values::Float(values) => values,
        _ => panic!("{name} is not of floats"),
    }
}

/// A column of integers.
pub fn integers<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a [u64] {
    match values(outcome, of, name) {
        Values::Integer(values) => values,
        _ => panic!("{name} is not of integers"),
    }
}

/// A column of texts.
pub fn texts<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a Texts {
    match values(outcome, of, name) {
        Values::Text(values) => values,
        _ => panic!("{name} is not of texts"),
    }
}
