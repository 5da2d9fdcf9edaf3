//! Recovery: the send rule while losses are repaired.
//!
//! A recovery learns what is sent, acknowledged and timed out, says what to retransmit next, how many octets may
//! be outstanding meanwhile, and what window it leaves behind. After a timeout every recovery here steps aside:
//! the connection goes back to `snd_una` and sends anew under the window law (go-back-N in slow start).
//! To add one: a file here with its state and hooks, a variant of [`Recovery`], an arm in each hook.

mod newreno;
mod reno;
mod tahoe;

pub use newreno::NewReno;
pub use reno::Reno;
pub use tahoe::Tahoe;

/// The sender's sequence space at the moment of a hook, already updated by what the hook tells of.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// Oldest octet not acknowledged.
    pub snd_una: u64,
    /// Next octet to send; below `snd_max` while going back after a timeout.
    pub snd_nxt: u64,
    /// One above the highest octet ever sent.
    pub snd_max: u64,
    /// The sender's maximum segment size.
    pub smss_bytes: u64,
}

impl Outstanding {
    /// Octets sent and neither acknowledged nor, after a timeout, taken as lost.
    pub const fn flight_bytes(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }
}

/// What an ACK for new data means to the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is being repaired: the window law takes the ACK.
    Normal,
    /// The repair goes on.
    Partial {
        /// Whether the retransmission timer starts anew.
        restart_timer: bool,
    },
    /// The repair is over.
    Recovered {
        /// The congestion window from here on.
        cwnd_bytes: u64,
    },
}

/// What a recovery makes of a loss that arriving ACKs tell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Nothing: the loss belongs to one that has been answered.
    None,
    /// The repair begins; the window law is told to slow down.
    Repair,
    /// Everything in flight is taken as lost and sent anew from one segment.
    GoBack,
}

/// The recovery of a connection.
#[derive(Clone, Copy, Debug)]
pub enum Recovery {
    /// Going back and slow start: no repair beside the regular order of sending.
    Tahoe(Tahoe),
    /// Fast recovery of RFC 5681.
    Reno(Reno),
    /// Fast recovery of RFC 6582.
    NewReno(NewReno),
}

impl Recovery {
    /// Whether losses are being repaired.
    #[inline]
    pub fn is_recovering(&self) -> bool {
        match self {
            Recovery::Tahoe(_) => false,
            Recovery::Reno(part) => part.is_recovering(),
            Recovery::NewReno(part) => part.is_recovering(),
        }
    }

    /// Whether new segments may go for the first duplicate ACKs (RFC 3042).
    pub(super) fn takes_limited_transmit(&self) -> bool {
        match self {
            Recovery::Tahoe(_) => false,
            Recovery::Reno(part) => !part.is_recovering(),
            Recovery::NewReno(part) => !part.is_recovering(),
        }
    }

    /// Detection takes the segment at `snd_una` as lost, after `duplicates` duplicate ACKs.
    pub(super) fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        match self {
            Recovery::Tahoe(part) => part.on_loss(at),
            Recovery::Reno(part) => part.on_loss(at, duplicates),
            Recovery::NewReno(part) => part.on_loss(at, duplicates),
        }
    }

    /// A duplicate ACK arrived while repairing: a segment has left the network.
    #[inline]
    pub(super) fn on_duplicate(&mut self, at: &Outstanding) {
        match self {
            Recovery::Tahoe(_) => {}
            Recovery::Reno(part) => part.on_duplicate(at),
            Recovery::NewReno(part) => part.on_duplicate(at),
        }
    }

    /// An ACK for `acked_bytes` new octets arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, at: &Outstanding, acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
        match self {
            Recovery::Tahoe(_) => Progress::Normal,
            Recovery::Reno(part) => part.on_ack(ssthresh_bytes),
            Recovery::NewReno(part) => part.on_ack(at, acked_bytes, ssthresh_bytes),
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self, at: &Outstanding) {
        match self {
            Recovery::Tahoe(part) => part.on_timeout(at),
            Recovery::Reno(part) => part.on_timeout(),
            Recovery::NewReno(part) => part.on_timeout(at),
        }
    }

    /// The first octet to retransmit now, ahead of the regular order and regardless of the window.
    #[inline]
    pub(super) fn next_retransmission(&self) -> Option<u64> {
        match self {
            Recovery::Tahoe(_) => None,
            Recovery::Reno(part) => part.next_retransmission(),
            Recovery::NewReno(part) => part.next_retransmission(),
        }
    }

    /// What [`Recovery::next_retransmission`] asked for has been sent.
    pub(super) fn on_retransmitted(&mut self) {
        match self {
            Recovery::Tahoe(_) => {}
            Recovery::Reno(part) => part.on_retransmitted(),
            Recovery::NewReno(part) => part.on_retransmitted(),
        }
    }

    /// Octets that may be outstanding, from the window law's `cwnd_bytes`: inflated by duplicate ACKs while
    /// repairing, the same otherwise.
    #[inline]
    pub(super) fn send_window(&self, cwnd_bytes: u64, smss_bytes: u64) -> u64 {
        match self {
            Recovery::Tahoe(_) => cwnd_bytes,
            Recovery::Reno(part) => part.send_window(cwnd_bytes),
            Recovery::NewReno(part) => part.send_window(cwnd_bytes, smss_bytes),
        }
    }
}
