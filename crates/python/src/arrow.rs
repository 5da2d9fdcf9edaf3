//! Tables as others in this process read them without copying numbers: the [Arrow C data interface], handed
//! over in the capsules of its [PyCapsule interface]. A table is one array of structs with a child for each
//! column: numbers are where the run left them, texts are views of what is different among them
//! ("Variable-size Binary View Layout" of the [columnar format]). A number that is missing, which is NaN
//! here, is null there.
//!
//! [Arrow C data interface]: https://arrow.apache.org/docs/format/CDataInterface.html
//! [PyCapsule interface]: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
//! [columnar format]: https://arrow.apache.org/docs/format/Columnar.html
#![expect(
    unsafe_code,
    reason = "the interface is structs of pointers, which whoever takes them gives back by a call"
)]

use crate::column::{Column, Values};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use roamsim_scenario::table::Texts;
use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// What a column may be without: values.
const NULLABLE: i64 = 2;

/// Octets of texts after which a buffer is followed by another one: places in it are of 32 bits, with a sign.
const BUFFER_BYTES: usize = 1 << 30;

/// A text of so many octets stands in its view.
const IN_VIEW_BYTES: usize = 12;

/// What an array is of: `struct ArrowSchema` of the interface.
#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// Values: `struct ArrowArray` of the interface.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

// SAFETY: what the pointers lead to belongs to the struct, and nobody writes to it.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArray {}

/// What a schema's pointers lead to.
struct OfSchema {
    name: CString,
    children: Children<ArrowSchema>,
}

/// What an array's pointers lead to.
struct OfArray {
    buffers: Vec<*const c_void>,
    children: Children<ArrowArray>,
    _owner: Arc<dyn Any + Send + Sync>,
}

/// Children, and where each of them lies. One that was taken out is marked as such, and its place stays.
struct Children<T> {
    places: Vec<*mut T>,
    _all: Vec<T>,
}

impl<T> Children<T> {
    fn new(mut all: Vec<T>) -> Children<T> {
        Children { places: all.iter_mut().map(ptr::from_mut).collect(), _all: all }
    }
}

impl ArrowSchema {
    fn new(format: &'static CStr, name: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
        let name = CString::new(name).unwrap_or_default();
        let own = Box::leak(Box::new(OfSchema { name, children: Children::new(children) }));
        ArrowSchema {
            format: format.as_ptr(),
            name: own.name.as_ptr(),
            metadata: ptr::null(),
            flags: NULLABLE,
            n_children: own.children.places.len() as i64,
            children: own.children.places.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: ptr::from_mut(own).cast(),
        }
    }
}

impl ArrowArray {
    /// An array of so many values, of which some are null; `owner` has what the buffers point at.
    fn new(
        length: usize,
        nulls: usize,
        buffers: Vec<*const c_void>,
        children: Vec<ArrowArray>,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> ArrowArray {
        let own = Box::leak(Box::new(OfArray { buffers, children: Children::new(children), _owner: owner }));
        ArrowArray {
            length: length as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: own.buffers.len() as i64,
            n_children: own.children.places.len() as i64,
            buffers: own.buffers.as_mut_ptr(),
            children: own.children.places.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: ptr::from_mut(own).cast(),
        }
    }
}

/// Gives a schema back, with the children that were not taken out of it.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the interface calls this once, with a schema that `ArrowSchema::new` made or one that it was
    // moved to.
    drop(unsafe {
        (*schema).release = None;
        Box::from_raw((*schema).private_data.cast::<OfSchema>())
    });
}

/// Gives an array back, with the children that were not taken out of it.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    drop(unsafe {
        (*array).release = None;
        Box::from_raw((*array).private_data.cast::<OfArray>())
    });
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken it, or else it had no release.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken it, or else it had no release.
            unsafe { release(self) };
        }
    }
}

/// A table as its `__arrow_c_array__` hands it over: capsules of its schema and of its values.
pub(crate) fn capsules<'py>(
    py: Python<'py>,
    height: usize,
    columns: &[Arc<Column>],
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = |column: &Arc<Column>| ArrowSchema::new(format(&column.values), &column.name, Vec::new());
    let schemas = columns.iter().map(schema).collect();
    let arrays = columns.iter().map(array).collect();
    let schema = ArrowSchema::new(c"+s", "", schemas);
    let array = ArrowArray::new(height, 0, vec![ptr::null()], arrays, Arc::new(()));
    Ok((
        PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
        PyCapsule::new_with_value(py, array, c"arrow_array")?,
    ))
}

/// The word of the interface for a type.
fn format(values: &Values) -> &'static CStr {
    match values {
        Values::Float(_) => c"g",
        Values::Signed(_) => c"l",
        Values::Unsigned(_) => c"L",
        Values::Text(_) => c"vu",
    }
}

fn array(column: &Arc<Column>) -> ArrowArray {
    let height = column.values.len();
    let numbers = |values: *const c_void| {
        let column = Arc::<Column>::clone(column);
        ArrowArray::new(height, 0, vec![ptr::null(), values], Vec::new(), column)
    };
    match &column.values {
        Values::Float(floats) => {
            let nulls = floats.iter().filter(|value| value.is_nan()).count();
            if nulls == 0 {
                return numbers(floats.as_ptr().cast());
            }
            let there = validity(floats);
            let buffers = vec![there.as_ptr().cast(), floats.as_ptr().cast()];
            ArrowArray::new(height, nulls, buffers, Vec::new(), Arc::new((Arc::clone(column), there)))
        }
        Values::Signed(values) => numbers(values.as_ptr().cast()),
        Values::Unsigned(values) => numbers(values.as_ptr().cast()),
        Values::Text(texts) => {
            let views = Views::new(texts, BUFFER_BYTES);
            let mut buffers: Vec<*const c_void> = vec![ptr::null(), views.views.as_ptr().cast()];
            buffers.extend(views.octets.iter().map(|octets| octets.as_ptr().cast::<c_void>()));
            buffers.push(views.sizes.as_ptr().cast());
            ArrowArray::new(height, 0, buffers, Vec::new(), Arc::new(views))
        }
    }
}

/// A bit for each number that is there, the lowest of an octet first.
fn validity(floats: &[f64]) -> Vec<u8> {
    let octet = |eight: &[f64]| {
        eight.iter().enumerate().fold(0, |bits, (place, value)| bits | u8::from(!value.is_nan()) << place)
    };
    floats.chunks(8).map(octet).collect()
}

/// Texts in the layout of views: sixteen octets a row, with the text or its place among the octets.
struct Views {
    views: Vec<u128>,
    octets: Vec<Vec<u8>>,
    sizes: Vec<i64>,
}

impl Views {
    fn new(texts: &Texts, buffer_bytes: usize) -> Views {
        let mut octets: Vec<Vec<u8>> = Vec::new();
        let mut view = |text: &str| {
            let text = text.as_bytes();
            let mut view = [0; 16];
            view[..4].copy_from_slice(&(text.len() as u32).to_ne_bytes());
            if text.len() <= IN_VIEW_BYTES {
                view[4..][..text.len()].copy_from_slice(text);
            } else {
                if octets.last().is_none_or(|last| last.len() + text.len() > buffer_bytes) {
                    octets.push(Vec::new());
                }
                let buffer = octets.len() - 1;
                let octets = &mut octets[buffer];
                view[4..8].copy_from_slice(&text[..4]);
                view[8..12].copy_from_slice(&(buffer as u32).to_ne_bytes());
                view[12..].copy_from_slice(&(octets.len() as u32).to_ne_bytes());
                octets.extend_from_slice(text);
            }
            u128::from_ne_bytes(view)
        };
        let different: Vec<u128> = texts.different().iter().map(&mut view).collect();
        let views = texts.codes().iter().map(|&code| different[code as usize]).collect();
        let sizes = octets.iter().map(|octets| octets.len() as i64).collect();
        Views { views, octets, sizes }
    }
}
