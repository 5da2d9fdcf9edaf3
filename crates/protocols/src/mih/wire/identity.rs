//! MIHF_ID: the name of an MIH function, an FQDN or a NAI (`user@realm`), at most 253 octets.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::error::DecodeError;
use super::octets::{Reader, Sink};

/// The name of an MIH function. The empty name is the multicast MIHF ID. Cloning is cheap, and so is
/// comparing clones.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct MihfId(Arc<str>);

impl PartialEq for MihfId {
    fn eq(&self, other: &MihfId) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Hash for MihfId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The name has more than 253 octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MihfIdTooLong;

impl fmt::Display for MihfIdTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an MIHF ID has at most {} octets", MihfId::MAX_BYTES)
    }
}

impl std::error::Error for MihfIdTooLong {}

impl MihfId {
    /// The longest name: an MIHF_ID is an OCTET_STRING of at most 253 octets (IEEE 802.21 annex F).
    pub const MAX_BYTES: usize = 253;

    /// The MIHF named `name`; the empty name stands for all of them.
    pub fn new(name: &str) -> Result<MihfId, MihfIdTooLong> {
        if name.len() > MihfId::MAX_BYTES {
            return Err(MihfIdTooLong);
        }
        Ok(MihfId(Arc::from(name)))
    }

    /// The multicast MIHF ID.
    pub fn multicast() -> MihfId {
        MihfId(Arc::from(""))
    }

    /// Whether this is the multicast MIHF ID. Acknowledgements are never asked of it.
    pub fn is_multicast(&self) -> bool {
        self.0.is_empty()
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) {
        sink.put_length(self.0.len());
        sink.put(self.0.as_bytes());
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<MihfId, DecodeError> {
        let length = reader.length()?;
        let octets = reader.take(length)?;
        let name = std::str::from_utf8(octets).map_err(|_| reader.bad_value())?;
        MihfId::new(name).map_err(|_| reader.bad_value())
    }
}

impl fmt::Display for MihfId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MihfId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &self.0)
    }
}
