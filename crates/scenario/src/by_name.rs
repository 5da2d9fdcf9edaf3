//! What is asked for by its name, and never gone through: the order would be that of a hash.

use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};

/// Things by name.
pub(crate) type ByName<'a, T> = HashMap<&'a str, T, FixedState>;

/// Names, each once.
pub(crate) type NameSet<'a> = HashSet<&'a str, FixedState>;
