//! UDP (RFC 768).
