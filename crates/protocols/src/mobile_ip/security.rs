//! The security association between a mobile node and its home agent: HMAC-MD5 with a 128-bit key, which
//! every implementation must support (RFC 5944 sections 3.5.1 and 5.1, RFC 2104).

use hmac::{Hmac, Mac};
use md5::Md5;

use super::wire::{Authentication, Extension, Message};

/// The lowest security parameter index that is not reserved (section 1.6).
const DEFAULT_SPI: u32 = 256;

/// A key and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityAssociation {
    /// Security parameter index.
    pub spi: u32,
    /// The shared key.
    pub key: [u8; 16],
}

impl Default for SecurityAssociation {
    /// The key of the simulator, chosen so that a capture's authenticators can be checked by hand.
    fn default() -> SecurityAssociation {
        SecurityAssociation { spi: DEFAULT_SPI, key: *b"roamsim-mobileip" }
    }
}

impl SecurityAssociation {
    fn mac(&self, octets: &[u8]) -> Hmac<Md5> {
        let mut mac: Hmac<Md5> =
            Mac::new_from_slice(&self.key).unwrap_or_else(|_| unreachable!("any length"));
        mac.update(octets);
        mac
    }

    /// Adds the Mobile-Home Authentication extension to a message.
    pub fn authenticate(&self, message: &mut Message) {
        let mut authentication = Authentication { spi: self.spi, authenticator: vec![0; 16] };
        let mut covered = message.encode_until(&message.extensions().0);
        authentication.encode_mobile_home_head(&mut covered);
        authentication.authenticator = self.mac(&covered).finalize().into_bytes().to_vec();
        message.extensions_mut().0.push(Extension::MobileHome(authentication));
    }

    /// Whether a message carries a Mobile-Home Authentication extension of this association that is right.
    pub fn verify(&self, message: &Message) -> bool {
        let Some((before, authentication)) = message.extensions().mobile_home() else { return false };
        let mut covered = message.encode_until(before);
        authentication.encode_mobile_home_head(&mut covered);
        authentication.spi == self.spi
            && self.mac(&covered).verify_slice(&authentication.authenticator).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::{Code, Extensions, Reply};
    use super::*;

    #[test]
    fn hmac_md5_known_answer() {
        // RFC 2202 section 2, test case 1: key 16 times 0b, data "Hi There".
        let association = SecurityAssociation { spi: 256, key: [0x0b; 16] };
        let digest = association.mac(b"Hi There").finalize().into_bytes();
        let expected =
            [0x92, 0x94, 0x72, 0x7a, 0x36, 0x38, 0xbb, 0x1c, 0x13, 0xf4, 0x8e, 0xf8, 0x15, 0x8b, 0xfc, 0x9d];
        assert_eq!(digest.as_slice(), expected);
    }

    #[test]
    fn what_was_changed_or_signed_with_another_key_is_refused() {
        let association = SecurityAssociation::default();
        let mut message = Message::Reply(Reply {
            code: Code::ACCEPTED,
            lifetime_s: 10,
            home_address: [10, 0, 0, 1].into(),
            home_agent: [10, 0, 0, 2].into(),
            identification: 3,
            extensions: Extensions::default(),
        });
        assert!(!association.verify(&message), "nothing is signed yet");
        association.authenticate(&mut message);
        assert!(association.verify(&message));
        assert_eq!(message.encode().len(), message.encoded_bytes());
        assert!(!SecurityAssociation { key: [1; 16], ..association }.verify(&message));
        assert!(!SecurityAssociation { spi: 257, ..association }.verify(&message));
        let Message::Reply(reply) = &mut message else { unreachable!() };
        reply.lifetime_s = 11;
        assert!(!association.verify(&message));
    }
}
