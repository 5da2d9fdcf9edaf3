//! What ends of TCP Fast Open (RFC 7413) know of each other: cookies, and the MSS that a client keeps.

use std::fmt;

/// A cookie of 4 to 16 octets, an even number of them, or the request for one, which has none (RFC 7413
/// 4.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cookie {
    /// Zero from `length` on.
    octets: [u8; Cookie::MOST],
    length: u8,
}

impl Cookie {
    const MOST: usize = 16;

    /// The request for a cookie.
    pub const REQUEST: Cookie = Cookie { octets: [0; Cookie::MOST], length: 0 };

    /// The cookie of these octets; `None` for a length that no cookie has.
    pub fn new(octets: &[u8]) -> Option<Cookie> {
        if !(4..=Cookie::MOST).contains(&octets.len()) || !octets.len().is_multiple_of(2) {
            return None;
        }
        let mut cookie = Cookie { length: octets.len() as u8, ..Cookie::REQUEST };
        cookie.octets[..octets.len()].copy_from_slice(octets);
        Some(cookie)
    }

    /// Its octets; none of a request.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }

    /// Whether it asks for one.
    pub const fn is_request(self) -> bool {
        self.length == 0
    }

    /// What its option takes in the header, with padding.
    pub(super) fn option_bytes(self) -> u32 {
        (2 + u32::from(self.length)).next_multiple_of(4)
    }
}

impl fmt::Display for Cookie {
    /// As tcpdump prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_request() {
            return f.write_str("cookiereq");
        }
        f.write_str("cookie ")?;
        self.octets().iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a client keeps of a server from one connection to the next (RFC 7413 4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownServer {
    /// Its cookie for this client.
    pub cookie: Cookie,
    /// Its MSS, or the default of one that announces none.
    pub mss_bytes: u32,
}

/// What a client knows of its server at first. The machine has no memory of earlier connections: whoever
/// makes connections tells it by [`set_known_server`](super::Connection::set_known_server).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstCookie {
    /// Nothing: the first connection requests a cookie.
    Requested,
    /// Cookie and MSS, from earlier connections.
    Known,
    /// The same, but the server takes the cookie no longer.
    Stale,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_has_an_even_number_of_octets_from_4_to_16() {
        for length in 0..20 {
            let cookie = Cookie::new(&vec![7; length]);
            assert_eq!(cookie.is_some(), (4..=16).contains(&length) && length.is_multiple_of(2), "{length}");
            assert!(cookie.is_none_or(|cookie| cookie.octets().len() == length && !cookie.is_request()));
        }
        // Two octets of kind and length: 2, 6, 10 and 18, padded to words.
        let bytes = |length: usize| Cookie::new(&vec![7; length]).map(Cookie::option_bytes);
        assert_eq!(
            (Cookie::REQUEST.option_bytes(), bytes(4), bytes(8), bytes(16)),
            (4, Some(8), Some(12), Some(20))
        );
    }
}
