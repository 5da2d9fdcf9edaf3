//! Names that many have.

use std::sync::Arc;

/// The name, held together with one that is the same, if that is.
pub fn shared(name: &str, before: Option<&Arc<str>>) -> Arc<str> {
    before.filter(|before| ***before == *name).map_or_else(|| name.into(), Arc::clone)
}
