//! Names of classes in Python, as scenarios have them: `CLASS@DIGEST`, with a digest of the source.
//!
//! A class is a program of the user, which a scenario alone must not run. The package loads the class that
//! the command line or the API names by `FILE.py:CLASS`, and puts its name and digest in its place. So
//! results are filed under the source too, and a scenario that names a class runs only if the user has named
//! the same source.

/// Hexadecimal digits of a digest.
const DIGITS: usize = 32;

/// The class of a name with a digest.
pub(crate) fn class(name: &str) -> Option<&str> {
    let (class, digest) = name.split_once('@')?;
    let is_digest = digest.len() == DIGITS && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_digest && !class.is_empty()).then_some(class)
}

/// Whether it names a file of Python.
pub(crate) fn is_file(name: &str) -> bool {
    name.contains(".py:")
}
