//! What a connection counts.

use roamsim_engine::Span;

/// Counters of one end of a connection, from its creation on.
///
/// Those that every segment moves come first. Every segment sent is counted once in `segments_sent`, and in
/// exactly one of `data_segments_sent`, `pure_acks_sent` and `control_segments_sent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments with payload, window probes and retransmissions among them.
    pub data_segments_sent: u64,
    /// Octets of payload sent, repeated ones included.
    pub bytes_sent: u64,
    /// Segments with neither payload nor SYN, FIN or RST: acknowledgements and window updates.
    pub pure_acks_sent: u64,
    /// Segments that arrived.
    pub segments_received: u64,
    /// Segments with payload that arrived and were in the window, new or not.
    pub data_segments_received: u64,
    /// Segments handed to the network layer.
    pub segments_sent: u64,
    /// SYN and FIN without payload, and RST.
    pub control_segments_sent: u64,
    /// Segments sent that hold at least one sequence number sent before (data, SYN or FIN), window probes not
    /// counted.
    pub retransmissions: u64,
    /// Those of them with data: without repeated SYN and FIN.
    pub data_retransmissions: u64,
    /// The same by why they went, in the order of [`Reason::ALL`](super::Reason::ALL).
    pub data_retransmissions_for: [u64; 4],
    /// Octets of payload sent that had been sent before.
    pub bytes_retransmitted: u64,
    /// Octets of payload the peer has acknowledged.
    pub bytes_acknowledged: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Loss probes (RFC 8985 section 7).
    pub tail_loss_probes: u64,
    /// Reductions of the window that were taken back as needless.
    pub undone_reductions: u64,
    /// Packets that arrived marked by a queue (RFC 3168).
    pub ecn_marks_received: u64,
    /// Reductions of the window because the peer told of marks.
    pub ecn_reductions: u64,
    /// Probes of a closed window: an octet, or a FIN, beyond it (RFC 9293 3.8.6.1).
    pub window_probes_sent: u64,
    /// The SYN asked for a cookie of Fast Open (RFC 7413).
    pub cookie_requested: bool,
    /// It carried data.
    pub syn_data_sent: bool,
    /// The peer took some of it.
    pub syn_data_taken: bool,
    /// Keep-alive probes (RFC 9293 3.8.4); they count in `pure_acks_sent` too.
    pub keep_alive_probes_sent: u64,
    /// How long the congestion window had room and all data of the send buffer had gone, while more waited
    /// in the application; up to the last acknowledgement.
    pub send_buffer_limited: Span,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// Segments with payload that arrived without any new octet.
    pub duplicate_segments_received: u64,
    /// Segments with payload that arrived beyond a gap.
    pub out_of_order_segments_received: u64,
    /// Octets of payload that arrived in order, each once.
    pub bytes_received: u64,
    /// Duplicate acknowledgements that arrived (RFC 5681 section 2).
    pub duplicate_acks_received: u64,
    /// Segments refused: outside the window, by PAWS, by state, or acknowledging what was never sent.
    pub segments_refused: u64,
}

/// What of them a connection counts by itself; the others follow from that and from where its streams are.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // what is counted at once apart: the compiler counts what lies side by side by vectors, which takes twice the instructions
pub(super) struct Counters {
    pub data_segments_sent: u64,
    pub segments_received: u64,
    pub bytes_sent: u64,
    pub data_segments_received: u64,
    pub pure_acks_sent: u64,
    pub rtt_samples: u64,
    pub out_of_order_segments_received: u64,
    pub control_segments_sent: u64,
    pub retransmissions: u64,
    /// With data, in the order of `Reason::ALL`.
    pub data_retransmissions_for: [u32; 4],
    pub bytes_retransmitted: u64,
    pub timeouts: u32,
    pub fast_retransmits: u32,
    pub ecn_marks_received: u64,
    pub ecn_reductions: u64,
    pub duplicate_segments_received: u64,
    pub duplicate_acks_received: u64,
    pub window_probes_sent: u32,
    pub segments_refused: u32,
}

impl Counters {
    /// The counters of a connection whose streams are so far.
    pub fn told(self, bytes_acknowledged: u64, bytes_received: u64) -> Stats {
        let Counters {
            data_segments_sent,
            bytes_sent,
            pure_acks_sent,
            segments_received,
            data_segments_received,
            control_segments_sent,
            retransmissions,
            data_retransmissions_for,
            bytes_retransmitted,
            timeouts,
            fast_retransmits,
            ecn_marks_received,
            ecn_reductions,
            window_probes_sent,
            rtt_samples,
            duplicate_segments_received,
            out_of_order_segments_received,
            duplicate_acks_received,
            segments_refused,
        } = self;
        let data_retransmissions_for = data_retransmissions_for.map(u64::from);
        Stats {
            segments_sent: data_segments_sent + pure_acks_sent + control_segments_sent,
            bytes_acknowledged,
            bytes_received,
            data_segments_sent,
            bytes_sent,
            pure_acks_sent,
            segments_received,
            data_segments_received,
            control_segments_sent,
            retransmissions,
            data_retransmissions: data_retransmissions_for.iter().sum(),
            data_retransmissions_for,
            bytes_retransmitted,
            timeouts: u64::from(timeouts),
            fast_retransmits: u64::from(fast_retransmits),
            tail_loss_probes: 0,
            undone_reductions: 0,
            send_buffer_limited: Span::ZERO,
            keep_alive_probes_sent: 0,
            cookie_requested: false,
            syn_data_sent: false,
            syn_data_taken: false,
            ecn_marks_received,
            ecn_reductions,
            window_probes_sent: u64::from(window_probes_sent),
            rtt_samples,
            duplicate_segments_received,
            out_of_order_segments_received,
            duplicate_acks_received,
            segments_refused: u64::from(segments_refused),
        }
    }
}
