//! Names that many have.

use std::sync::Arc;

/// The name, held together with one that is the same, if that is.
pub fn shared(name: impl AsRef<str> + Into<Arc<str>>, before: Option<&Arc<str>>) -> Arc<str> {
    match before {
        Some(before) if **before == *name.as_ref() => Arc::clone(before),
        _ => name.into(),
    }
}
