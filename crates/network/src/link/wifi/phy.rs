//! What the physical layers of IEEE 802.11 take: slots, interframe spaces, and the airtime of frames.
//!
//! Clauses are those of IEEE Std 802.11-2007: 15 and 18 for DSSS and HR/DSSS (802.11b), 19 for ERP-OFDM
//! (802.11g, whose frames are those of clause 17 with a signal extension).

use roamsim_engine::Span;

/// Octets of an RTS frame (clause 7.2.1.1).
pub const RTS_BYTES: u32 = 20;
/// Octets of a CTS frame (clause 7.2.1.2).
pub const CTS_BYTES: u32 = 14;
/// Octets of an ACK frame (clause 7.2.1.3).
pub const ACK_BYTES: u32 = 14;
/// What a data frame has beside the packet: 24 octets of MAC header, 4 of FCS (clause 7.1.2), 8 of LLC/SNAP
/// (RFC 1042).
pub const FRAME_OVERHEAD_BYTES: u32 = 36;

/// What a data frame has beside its part of the packet: 24 octets of MAC header and 4 of FCS.
pub const HEADER_BYTES: u32 = 28;

/// PLCP preamble and header of DSSS and HR/DSSS (clause 18.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 144 us of preamble and 48 us of header, at 1 Mb/s.
    Long,
    /// 72 us of preamble at 1 Mb/s and 24 us of header at 2 Mb/s.
    Short,
    /// Of FHSS (clause 14), 96 us and 32 us at 1 Mb/s: the layer of Bianchi's paper, against which tests hold
    /// cells.
    #[cfg(test)]
    Fhss,
}

impl Preamble {
    const fn duration(self) -> Span {
        match self {
            Preamble::Long => Span::from_us(192),
            Preamble::Short => Span::from_us(96),
            #[cfg(test)]
            Preamble::Fhss => Span::from_us(128),
        }
    }
}

/// How frames are put on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// DSSS and HR/DSSS (clauses 15, 18).
    Dsss(Preamble),
    /// ERP-OFDM (clause 19.3.2.3).
    ErpOfdm,
}

impl Format {
    /// The format of its frames at a rate: the short preamble is of 2 Mb/s and more (clause 18.2.2.2).
    pub const fn at_rate(self, rate_bps: u64) -> Format {
        match self {
            Format::Dsss(Preamble::Short) if rate_bps < 2_000_000 => Format::Dsss(Preamble::Long),
            format => format,
        }
    }

    /// Airtime of a frame. HR/DSSS: whole microseconds (TXTIME, clause 18.3.4). ERP-OFDM: 16 us of preamble,
    /// 4 us of SIGNAL, symbols of 4 us that carry 16 bits of SERVICE, the octets and 6 tail bits (clause
    /// 17.4.3), and 6 us of signal extension (clause 19.8.3.1).
    pub fn airtime(self, bytes: u32, rate_bps: u64) -> Span {
        let bits = 8 * u64::from(bytes);
        match self.at_rate(rate_bps) {
            Format::Dsss(preamble) => {
                preamble.duration() + Span::from_us((bits * 1_000_000).div_ceil(rate_bps))
            }
            Format::ErpOfdm => {
                let bits_a_symbol = rate_bps / 250_000;
                Span::from_us(16 + 4 + 4 * (16 + bits + 6).div_ceil(bits_a_symbol) + 6)
            }
        }
    }

    /// The part of a frame before its octets: of OFDM preamble and SIGNAL.
    pub const fn preamble(self) -> Span {
        match self {
            Format::Dsss(preamble) => preamble.duration(),
            Format::ErpOfdm => Span::from_us(20),
        }
    }

    /// How long after a frame's begin a receiver knows of it (aPHY-RX-START-Delay, tables 18-3 and 19-8).
    pub(super) const fn rx_start_delay(self) -> Span {
        match self {
            Format::Dsss(preamble) => preamble.duration(),
            Format::ErpOfdm => Span::from_us(24),
        }
    }

    /// The lowest mandatory rate, and the format of a frame at it.
    const fn lowest(self) -> (Format, u64) {
        // Clause 19.1.2: 1 Mb/s is mandatory beside the rates of OFDM, and the lowest.
        (Format::Dsss(Preamble::Long), 1_000_000)
    }
}

/// The times of the distributed coordination function (clause 9.2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot: Span,
    /// Short interframe space: before a CTS, an ACK, and the data that a CTS allows.
    pub sifs: Span,
    /// The interframe space before contention.
    pub difs: Span,
    /// The same after a frame that was not understood.
    pub eifs: Span,
    /// From the end of a frame to the time when no answer to it will come any more (ACKTimeout, CTSTimeout:
    /// clauses 9.2.5.7, 9.2.8).
    pub response_timeout: Span,
}

impl Timing {
    /// Those of a format of frames and a slot time; all three layers have a SIFS of 10 us.
    pub fn new(format: Format, slot: Span) -> Timing {
        let sifs = Span::from_us(10);
        let difs = sifs + slot * 2;
        let (lowest, rate_bps) = format.lowest();
        Timing {
            slot,
            sifs,
            difs,
            eifs: sifs + lowest.airtime(ACK_BYTES, rate_bps) + difs,
            response_timeout: sifs + slot + format.rx_start_delay(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn airtimes_of_dsss_are_whole_microseconds() {
        // 192 us and 284 octets at 11 Mb/s: 2272 bits, 206.5 us.
        assert_eq!(Format::Dsss(Preamble::Long).airtime(284, 11_000_000), Span::from_us(192 + 207));
        assert_eq!(Format::Dsss(Preamble::Short).airtime(14, 2_000_000), Span::from_us(96 + 56));
        assert_eq!(Format::Dsss(Preamble::Long).airtime(1536, 5_500_000), Span::from_us(192 + 2235));
        // At 1 Mb/s there is the long preamble alone: a beacon of 65 octets.
        assert_eq!(Format::Dsss(Preamble::Short).airtime(65, 1_000_000), Span::from_us(192 + 520));
    }

    #[test]
    fn airtimes_of_ofdm_are_whole_symbols() {
        // 22 + 8 * 1536 = 12,310 bits, 216 a symbol at 54 Mb/s: 57 symbols; 26 us beside them.
        assert_eq!(Format::ErpOfdm.airtime(1536, 54_000_000), Span::from_us(26 + 4 * 57));
        // An ACK at 24 Mb/s: 134 bits, 96 a symbol, 2 symbols. At 6 Mb/s: 24 a symbol, 6 symbols.
        assert_eq!(Format::ErpOfdm.airtime(14, 24_000_000), Span::from_us(34));
        assert_eq!(Format::ErpOfdm.airtime(14, 6_000_000), Span::from_us(50));
    }

    #[test]
    fn interframe_spaces_of_802_11b_and_g() {
        let b = Timing::new(Format::Dsss(Preamble::Long), Span::from_us(20));
        // EIFS: 10 + (192 + 112) + 50. The answer begins within 10 + 20 + 192.
        assert_eq!((b.difs, b.eifs), (Span::from_us(50), Span::from_us(364)));
        assert_eq!(b.response_timeout, Span::from_us(222));
        let g = Timing::new(Format::ErpOfdm, Span::from_us(9));
        // DIFS: 10 + 18. EIFS: 10 + (192 + 112) + 28. The answer begins within 10 + 9 + 24.
        assert_eq!((g.difs, g.eifs), (Span::from_us(28), Span::from_us(342)));
        assert_eq!(g.response_timeout, Span::from_us(43));
    }
}
