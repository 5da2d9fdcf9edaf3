//! Extensions of registration messages (RFC 5944 sections 1.8, 3.5).

use super::{DecodeError, Reader};

const MOBILE_HOME: u8 = 32;
const MOBILE_FOREIGN: u8 = 33;
const FOREIGN_HOME: u8 = 34;

/// An authentication extension (sections 3.5.2 to 3.5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// Security parameter index.
    pub spi: u32,
    /// The authenticator: over everything before it.
    pub authenticator: Vec<u8>,
}

/// An extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extension {
    /// Mobile-Home Authentication.
    MobileHome(Authentication),
    /// Mobile-Foreign Authentication: carried, not used.
    MobileForeign(Authentication),
    /// Foreign-Home Authentication: carried, not used.
    ForeignHome(Authentication),
    /// One from 128 to 255 that is not known: skipped, and handed on as it is.
    Skipped {
        /// Its type.
        kind: u8,
        /// Its value.
        value: Vec<u8>,
    },
}

/// The extensions of a message, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extensions(pub Vec<Extension>);

impl Extensions {
    /// The first Mobile-Home Authentication and the extensions before it, which it covers.
    pub fn mobile_home(&self) -> Option<(&[Extension], &Authentication)> {
        self.0.iter().enumerate().find_map(|(at, extension)| match extension {
            Extension::MobileHome(authentication) => Some((&self.0[..at], authentication)),
            _ => None,
        })
    }

    pub(super) fn encoded_bytes(&self) -> usize {
        self.0.iter().map(Extension::encoded_bytes).sum()
    }

    pub(super) fn encode(&self, octets: &mut Vec<u8>) {
        self.0.iter().for_each(|extension| extension.encode(octets));
    }

    pub(super) fn decode(octets: &[u8]) -> Result<Extensions, DecodeError> {
        let mut reader = Reader(octets);
        let mut extensions = Vec::new();
        while let Some(kind) = reader.u8() {
            let bad = DecodeError::BadExtension(kind);
            let length = reader.u8().ok_or(bad)?;
            let value = reader.take(usize::from(length)).ok_or(bad)?;
            let authentication = || {
                let mut value = Reader(value);
                let spi = value.u32().ok_or(bad)?;
                Ok(Authentication { spi, authenticator: value.0.to_vec() })
            };
            extensions.push(match kind {
                MOBILE_HOME => Extension::MobileHome(authentication()?),
                MOBILE_FOREIGN => Extension::MobileForeign(authentication()?),
                FOREIGN_HOME => Extension::ForeignHome(authentication()?),
                128.. => Extension::Skipped { kind, value: value.to_vec() },
                _ => return Err(DecodeError::UnrecognizedExtension(kind)),
            });
        }
        Ok(Extensions(extensions))
    }
}

impl Extension {
    fn encoded_bytes(&self) -> usize {
        match self {
            Extension::MobileHome(authentication)
            | Extension::MobileForeign(authentication)
            | Extension::ForeignHome(authentication) => 6 + authentication.authenticator.len(),
            Extension::Skipped { value, .. } => 2 + value.len(),
        }
    }

    pub(crate) fn encode(&self, octets: &mut Vec<u8>) {
        let (kind, authentication) = match self {
            Extension::MobileHome(authentication) => (MOBILE_HOME, authentication),
            Extension::MobileForeign(authentication) => (MOBILE_FOREIGN, authentication),
            Extension::ForeignHome(authentication) => (FOREIGN_HOME, authentication),
            Extension::Skipped { kind, value } => {
                octets.extend([*kind, value.len() as u8]);
                octets.extend(value);
                return;
            }
        };
        mobile_home_head(kind, authentication, octets);
        octets.extend(&authentication.authenticator);
    }
}

fn mobile_home_head(kind: u8, authentication: &Authentication, octets: &mut Vec<u8>) {
    octets.extend([kind, (4 + authentication.authenticator.len()) as u8]);
    octets.extend(authentication.spi.to_be_bytes());
}

impl Authentication {
    /// The octets of a Mobile-Home Authentication before its authenticator: type, length, SPI. The
    /// authenticator covers them too (section 3.5.1).
    pub(crate) fn encode_mobile_home_head(&self, octets: &mut Vec<u8>) {
        mobile_home_head(MOBILE_HOME, self, octets);
    }
}
