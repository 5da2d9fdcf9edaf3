//! Tables of results on their way to Python.

use crate::arrow;
use crate::column::{Column, Values};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyType};
use roamsim_scenario::table::{self, Texts};
use std::borrow::Cow;
use std::iter::repeat_n;
use std::sync::Arc;

/// A table: columns of one length, whose numbers are handed on without copying them.
#[pyclass(module = "roamsim._roamsim", frozen, mapping)]
pub struct Table {
    height: usize,
    columns: Vec<Arc<Column>>,
}

impl From<table::Table> for Table {
    fn from(table: table::Table) -> Table {
        let height = table.height();
        Table { height, columns: table.columns.into_iter().map(|column| Arc::new(column.into())).collect() }
    }
}

#[pymethods]
impl Table {
    #[new]
    fn new(columns: &Bound<'_, PyDict>) -> PyResult<Table> {
        let column = |(name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let name = Cow::Owned(name.extract::<String>()?);
            PyResult::Ok(Arc::new(Column { name, unit: "", values: Values::read(&values)? }))
        };
        let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
        let height = columns.first().map_or(0, |column| column.values.len());
        match columns.iter().find(|column| column.values.len() != height) {
            None => Ok(Table { height, columns }),
            Some(other) => Err(PyValueError::new_err(format!(
                "the columns {} and {} have {height} and {} rows",
                columns[0].name,
                other.name,
                other.values.len()
            ))),
        }
    }

    /// The columns that say which run rows are of, for runs of one scenario by itself: a row for each.
    #[staticmethod]
    fn of_runs(scenario: &str, seed: u64, replications: Vec<i64>) -> Table {
        let height = replications.len();
        let column = |name, values| Arc::new(Column { name: Cow::Borrowed(name), unit: "", values });
        let columns = vec![
            column("scenario", Values::Text(Texts::of(repeat_n(scenario, height)))),
            column("point", Values::Signed(vec![0; height])),
            column("replication", Values::Signed(replications)),
            column("seed", Values::Unsigned(vec![seed; height])),
        ];
        Table { height, columns }
    }

    /// The tables of several runs below each other. Before their own columns stand those of `runs`, which has
    /// a row for each.
    #[staticmethod]
    fn stack(tables: Vec<PyRef<'_, Table>>, runs: &Table) -> PyResult<Table> {
        let Some(first) = tables.first() else {
            return Err(PyValueError::new_err("there is no table to stack"));
        };
        if runs.height != tables.len() {
            return Err(PyValueError::new_err(format!(
                "there are {} tables of {} runs",
                tables.len(),
                runs.height
            )));
        }
        let heights: Vec<usize> = tables.iter().map(|table| table.height).collect();
        let mut columns = Vec::with_capacity(runs.columns.len() + first.columns.len());
        for column in &runs.columns {
            let values = column.values.repeated(&heights);
            columns.push(Arc::new(Column { name: column.name.clone(), unit: column.unit, values }));
        }
        if let [table] = &tables[..] {
            columns.extend(table.columns.iter().map(Arc::clone));
        } else {
            let alike = |table: &PyRef<'_, Table>| {
                table
                    .columns
                    .iter()
                    .map(|column| &column.name)
                    .eq(first.columns.iter().map(|column| &column.name))
            };
            let unlike = || PyValueError::new_err("the tables have different columns");
            if !tables.iter().all(alike) {
                return Err(unlike());
            }
            for (place, column) in first.columns.iter().enumerate() {
                let all = tables.iter().map(|table| &table.columns[place].values);
                let values = Values::below(all).ok_or_else(unlike)?;
                columns.push(Arc::new(Column { name: column.name.clone(), unit: column.unit, values }));
            }
        }
        Ok(Table { height: heights.iter().sum(), columns })
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(|column| &*column.name).collect()
    }

    /// The unit of each column; an empty text where there is none.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        for column in &self.columns {
            units.set_item(&*column.name, column.unit)?;
        }
        Ok(units)
    }

    /// How many rows there are.
    #[getter]
    fn height(&self) -> usize {
        self.height
    }

    /// A list of the values of a column; NaN where there is no number.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match self.columns.iter().find(|column| column.name == name) {
            Some(column) => column.values.list(py),
            None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    /// Capsules of the Arrow C data interface. A number that is missing is null.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // Another schema than its own may be asked for, and need not be given.
        let _ = requested_schema;
        arrow::capsules(py, self.height, &self.columns)
    }

    /// What is sent to another process.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyDict>,))> {
        let columns = PyDict::new(py);
        for column in &self.columns {
            columns.set_item(&*column.name, column.values.packed(py)?)?;
        }
        Ok((py.get_type::<Table>(), (columns,)))
    }
}
