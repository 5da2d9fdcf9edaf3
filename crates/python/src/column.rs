//! Columns of tables, between a run, Python's arrays and Arrow.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use roamsim_scenario::table::{self, Texts};
use std::borrow::Cow;
use std::iter::repeat_n;

/// The values of a column, one a row.
#[derive(Debug)]
pub(crate) enum Values {
    /// Numbers; NaN where there is none.
    Float(Vec<f64>),
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    Text(Texts),
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Float(values) => values.len(),
            Values::Signed(values) => values.len(),
            Values::Unsigned(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }

    /// As Python has them: arrays of the type `array` by their type code, or a list of text.
    pub(crate) fn read(values: &Bound<'_, PyAny>) -> PyResult<Values> {
        /// An array without values lies anywhere, and is refused as no whole number of octets away from what
        /// it should be.
        fn numbers<T: Element>(values: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
            if values.is_empty()? { Ok(Vec::new()) } else { PyBuffer::get(values)?.to_vec(values.py()) }
        }
        let code: Option<char> = values.getattr("typecode").and_then(|code| code.extract()).ok();
        match code {
            Some('d') => Ok(Values::Float(numbers(values)?)),
            Some('q') => Ok(Values::Signed(numbers(values)?)),
            Some('Q') => Ok(Values::Unsigned(numbers(values)?)),
            _ => match values.extract::<Vec<String>>() {
                Ok(texts) => Ok(Values::Text(Texts::of(texts.iter().map(String::as_str)))),
                Err(_) => Err(PyTypeError::new_err(
                    "the values of a column are an array of the type code d, q or Q, or a list of text",
                )),
            },
        }
    }

    /// The values of several, one below the other; nothing where they are not of one type.
    pub(crate) fn below<'a>(all: impl Iterator<Item = &'a Values> + Clone) -> Option<Values> {
        macro_rules! numbers {
            ($kind:ident) => {{
                let mut below = Vec::with_capacity(all.clone().map(Values::len).sum());
                for values in all {
                    let Values::$kind(values) = values else { return None };
                    below.extend_from_slice(values);
                }
                Values::$kind(below)
            }};
        }
        Some(match all.clone().next()? {
            Values::Float(_) => numbers!(Float),
            Values::Signed(_) => numbers!(Signed),
            Values::Unsigned(_) => numbers!(Unsigned),
            Values::Text(_) => {
                let mut below = Texts::default();
                for values in all {
                    let Values::Text(texts) = values else { return None };
                    below.append(texts.clone());
                }
                Values::Text(below)
            }
        })
    }

    /// Each value as often as the number beside it says.
    pub(crate) fn repeated(&self, times: &[usize]) -> Values {
        fn each<T: Copy>(values: &[T], times: &[usize]) -> Vec<T> {
            values.iter().zip(times).flat_map(|(&value, &times)| repeat_n(value, times)).collect()
        }
        match self {
            Values::Float(values) => Values::Float(each(values, times)),
            Values::Signed(values) => Values::Signed(each(values, times)),
            Values::Unsigned(values) => Values::Unsigned(each(values, times)),
            Values::Text(texts) => {
                Values::Text(Texts::coded(each(texts.codes(), times), texts.different().clone()))
            }
        }
    }

    /// A list of all.
    pub(crate) fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self {
            Values::Float(values) => PyList::new(py, values),
            Values::Signed(values) => PyList::new(py, values),
            Values::Unsigned(values) => PyList::new(py, values),
            Values::Text(texts) => {
                // Rows with the same text share one object.
                let different: Vec<_> =
                    texts.different().iter().map(|text| PyString::new(py, text)).collect();
                PyList::new(py, texts.codes().iter().map(|&code| &different[code as usize]))
            }
        }
    }

    /// What [`Values::read`] takes and is soon sent elsewhere.
    pub(crate) fn packed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = |code: &str, octets: Vec<u8>| {
            py.import("array")?.call_method1("array", (code, PyBytes::new(py, &octets)))
        };
        match self {
            Values::Float(values) => {
                array("d", values.iter().flat_map(|value| value.to_ne_bytes()).collect())
            }
            Values::Signed(values) => {
                array("q", values.iter().flat_map(|value| value.to_ne_bytes()).collect())
            }
            Values::Unsigned(values) => {
                array("Q", values.iter().flat_map(|value| value.to_ne_bytes()).collect())
            }
            Values::Text(_) => Ok(self.list(py)?.into_any()),
        }
    }
}

/// A column.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) values: Values,
}

impl From<table::Column> for Column {
    fn from(column: table::Column) -> Column {
        let values = match column.values {
            table::Values::Float(floats) => Values::Float(floats),
            table::Values::Integer(integers) => Values::Unsigned(integers),
            table::Values::Text(texts) => Values::Text(texts),
        };
        Column { name: Cow::Borrowed(column.name), unit: column.unit, values }
    }
}
