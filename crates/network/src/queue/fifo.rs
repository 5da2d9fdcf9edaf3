//! Packets in the order in which they came, and their octets.

use super::{Length, Waiting};
use crate::topology::Attachment;
use std::collections::VecDeque;

/// First come, first served.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl Fifo {
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.packet.size_bytes);
        self.waiting.push_back(waiting);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.bytes -= u64::from(next.packet.size_bytes);
        Some(next)
    }

    pub fn first(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// Takes out what waits from an attachment.
    pub fn withdraw(&mut self, from: Attachment) -> Vec<Waiting> {
        let mut gone = Vec::new();
        for waiting in std::mem::take(&mut self.waiting) {
            if waiting.from == from {
                self.bytes -= u64::from(waiting.packet.size_bytes);
                gone.push(waiting);
            } else {
                self.waiting.push_back(waiting);
            }
        }
        gone
    }

    #[inline]
    pub fn length(&self) -> Length {
        Length { packets: self.waiting.len(), bytes: self.bytes }
    }
}
