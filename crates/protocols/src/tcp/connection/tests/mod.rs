//! A connection as a whole.

mod twins;

use super::Connection;

#[test]
fn a_connection_is_small() {
    assert!(size_of::<Connection>() <= 728, "{} bytes", size_of::<Connection>());
}
