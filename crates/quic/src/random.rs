//! What the library would draw from the system, drawn from a stream of the simulation.

use bytes::BytesMut;
use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HmacKey, PacketKey};
use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use roamsim_engine::Stream;
use std::time::Duration;

/// Octets of a connection identifier, as the library's own generator makes them.
const CONNECTION_ID_BYTES: usize = 8;

/// So many random octets.
pub(crate) fn octets<const N: usize>(stream: &mut Stream) -> [u8; N] {
    let mut octets = [0; N];
    for chunk in octets.chunks_mut(8) {
        chunk.copy_from_slice(&stream.next_u64().to_le_bytes()[..chunk.len()]);
    }
    octets
}

/// The identifier to which a client sends its first packet (RFC 9000 section 7.2).
pub(crate) fn first_destination(stream: &mut Stream) -> ConnectionId {
    ConnectionId::new(&octets::<20>(stream))
}

/// Makes connection identifiers.
pub(crate) struct ConnectionIds(pub(crate) Stream);

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&octets::<CONNECTION_ID_BYTES>(&mut self.0))
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A bijection of 64 bits that changes about half of them for one (SplitMix64's).
pub(crate) fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// A number that stands for octets.
pub(crate) fn digest(key: u64, octets: &[u8]) -> u64 {
    let begin = mixed(key ^ octets.len() as u64);
    octets.chunks(8).fold(begin, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mixed(sum ^ u64::from_le_bytes(word))
    })
}

/// Makes stateless reset tokens (RFC 9000 section 10.3.2).
pub(crate) struct ResetKey(pub(crate) [u64; 2]);

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        for (chunk, number) in signature.chunks_mut(8).zip(0..) {
            let word = digest(self.0[0] ^ mixed(self.0[1].wrapping_add(number)), data);
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = [0; 32];
        self.sign(data, &mut expected);
        if signature == expected { Ok(()) } else { Err(CryptoError) }
    }
}

/// The key of the tokens in Retry packets (RFC 9000 section 8.1.2). They are readable, and nobody makes one
/// without the key.
#[derive(Clone, Copy)]
pub(crate) struct TokenKey(pub(crate) u64);

impl TokenKey {
    fn tag(self, data: &[u8]) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag[..8].copy_from_slice(&digest(self.0, data).to_le_bytes());
        tag[8..].copy_from_slice(&digest(!self.0, data).to_le_bytes());
        tag
    }
}

impl HandshakeTokenKey for TokenKey {
    fn aead_from_hkdf(&self, random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(TokenKey(digest(self.0, random)))
    }
}

impl AeadKey for TokenKey {
    fn seal(&self, data: &mut Vec<u8>, _additional: &[u8]) -> Result<(), CryptoError> {
        data.extend(self.tag(data));
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let bytes = data.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        let (data, tag) = data.split_at_mut(bytes);
        if tag == self.tag(data) { Ok(data) } else { Err(CryptoError) }
    }
}

/// A packet is whole if its tag is this key's for its number.
pub(crate) struct NullKey(pub(crate) u64);

/// Octets of a tag of AES-128-GCM (RFC 9001 section 5.3).
const TAG_BYTES: usize = 16;

impl NullKey {
    fn tag(&self, packet: u64) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag[..8].copy_from_slice(&self.0.to_be_bytes());
        tag[8..].copy_from_slice(&packet.to_be_bytes());
        tag
    }
}

impl PacketKey for NullKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], _header_len: usize) {
        if let Some(tag) = buf.last_chunk_mut() {
            *tag = self.tag(packet);
        }
    }

    fn decrypt(&self, packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        if payload.last_chunk() != Some(&self.tag(packet)) {
            return Err(CryptoError);
        }
        payload.truncate(payload.len() - TAG_BYTES);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG_BYTES
    }

    /// Of AES-128-GCM (RFC 9001 section 6.6), as is the next one.
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}
