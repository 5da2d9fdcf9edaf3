//! The wire formats: agent discovery over ICMP, registration over UDP, the IP-in-IP tunnel.

pub mod code;
pub mod discovery;
pub mod error;
pub mod extension;
pub mod registration;
pub mod tunnel;

pub use code::Code;
pub use discovery::{AgentAdvertisement, AgentFlags, AgentSolicitation, RouterAddress};
pub use error::DecodeError;
pub use extension::{Authentication, Extension, Extensions};
pub use registration::{Message, Reply, Request, RequestFlags};

use std::net::Ipv4Addr;

/// Takes octets from the front of a slice; never beyond its end.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[octet]| octet)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn address(&mut self) -> Option<Ipv4Addr> {
        self.array::<4>().map(Ipv4Addr::from)
    }
}
