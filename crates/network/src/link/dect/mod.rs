//! DECT (ETS 300 175): a radio interface clocked by frames of 10 ms.

pub mod mac;

use roamsim_engine::Span;

/// A TDMA frame: 24 slots, 12 each way (ETS 300 175-2 clause 4.2).
pub const FRAME: Span = Span::from_ms(10);
