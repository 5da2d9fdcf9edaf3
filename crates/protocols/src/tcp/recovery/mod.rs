//! Recovery: the send rule while losses are repaired.
//!
//! A recovery learns what is sent, acknowledged and timed out, says what to retransmit next, how many octets may
//! be outstanding meanwhile, and what window it leaves behind. After a timeout every recovery here steps aside:
//! the connection goes back to `snd_una` and sends anew under the window law (go-back-N in slow start).
//! To add one: a file here with its state and hooks, a variant of [`Recovery`], an arm in each hook.

mod newreno;
mod reno;
mod sack;
mod tahoe;
mod vegas;

pub use newreno::NewReno;
pub use reno::Reno;
pub use sack::Sack;
pub use tahoe::Tahoe;
pub use vegas::Vegas;

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

/// Octets to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The first of them.
    pub start: u64,
    /// One above the last that is known to be missing; `u64::MAX` when nothing is known of it.
    pub end: u64,
}

impl Hole {
    /// Nothing is known but that the octet at `start` is missing.
    const fn from(start: u64) -> Hole {
        Hole { start, end: u64::MAX }
    }
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
#[derive(Clone, Debug)]
pub enum Recovery {
    /// Going back and slow start: no repair beside the regular order of sending.
    Tahoe(Tahoe),
    /// Fast recovery of RFC 5681.
    Reno(Reno),
    /// Fast recovery of RFC 6582.
    NewReno(NewReno),
    /// Recovery over selective acknowledgements of RFC 6675.
    Sack(Box<Sack>),
    /// Fast recovery as Reno's, that may begin at any ACK.
    Vegas(Vegas),
}

impl Recovery {
    /// Whether losses are being repaired.
    #[inline]
    pub fn is_recovering(&self) -> bool {
        match self {
            Recovery::Tahoe(_) => false,
            Recovery::Reno(part) => part.is_recovering(),
            Recovery::NewReno(part) => part.is_recovering(),
            Recovery::Sack(part) => part.is_recovering(),
            Recovery::Vegas(part) => part.is_recovering(),
        }
    }

    /// Whether nothing is being repaired, and nothing is known that would be.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        match self {
            Recovery::Sack(part) => part.is_undisturbed(),
            _ => !self.is_recovering(),
        }
    }

    /// The same as [`Recovery::on_ack`], of one that is undisturbed.
    #[inline]
    pub(super) fn on_undisturbed_ack(&mut self, snd_una: u64) {
        if let Recovery::Sack(part) = self {
            part.on_undisturbed_ack(snd_una);
        }
    }

    /// Octets of new data beyond the window that limited transmit may have sent by now (RFC 3042), where it counts
    /// `duplicates` duplicate ACKs.
    #[inline]
    pub(super) fn limited_transmit_bytes(&self, duplicates: u64, smss_bytes: u64) -> u64 {
        match self {
            _ if self.is_recovering() => 0,
            Recovery::Tahoe(_) => 0,
            Recovery::Reno(_) | Recovery::NewReno(_) | Recovery::Vegas(_) => duplicates * smss_bytes,
            Recovery::Sack(part) => part.limited_transmit_bytes(),
        }
    }

    /// Whether it learns from SACK blocks, and tells duplicate ACKs by them.
    #[inline]
    pub(super) fn takes_blocks(&self) -> bool {
        matches!(self, Recovery::Sack(_))
    }

    /// The peer has selectively acknowledged the octets from `start` to `end`, which lie above `snd_una`. True when
    /// any of them is new.
    pub(super) fn on_block(&mut self, start: u64, end: u64) -> bool {
        match self {
            Recovery::Sack(part) => part.on_block(start, end),
            _ => false,
        }
    }

    /// Whether what has arrived tells of a loss before detection counts enough duplicate ACKs.
    pub(super) fn tells_of_loss(&self, at: &Outstanding) -> bool {
        match self {
            Recovery::Sack(part) => part.tells_of_loss(at),
            _ => false,
        }
    }

    /// Detection takes the segment at `snd_una` as lost, after `duplicates` duplicate ACKs.
    pub(super) fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
        match self {
            Recovery::Tahoe(part) => part.on_loss(at),
            Recovery::Reno(part) => part.on_loss(at, duplicates),
            Recovery::NewReno(part) => part.on_loss(at, duplicates),
            Recovery::Sack(part) => part.on_loss(at),
            Recovery::Vegas(part) => part.on_loss(at, duplicates),
        }
    }

    /// A duplicate ACK arrived while repairing: a segment has left the network.
    #[inline]
    pub(super) fn on_duplicate(&mut self, at: &Outstanding) {
        match self {
            Recovery::Tahoe(_) | Recovery::Sack(_) => {}
            Recovery::Reno(part) => part.on_duplicate(at),
            Recovery::NewReno(part) => part.on_duplicate(at),
            Recovery::Vegas(part) => part.on_duplicate(at),
        }
    }

    /// An ACK for `acked_bytes` new octets arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, at: &Outstanding, acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
        match self {
            Recovery::Tahoe(_) => Progress::Normal,
            Recovery::Reno(part) => part.on_ack(ssthresh_bytes),
            Recovery::NewReno(part) => part.on_ack(at, acked_bytes, ssthresh_bytes),
            Recovery::Sack(part) => part.on_ack(at, ssthresh_bytes),
            Recovery::Vegas(part) => part.on_ack(),
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self, at: &Outstanding) {
        match self {
            Recovery::Tahoe(part) => part.on_timeout(at),
            Recovery::Reno(part) => part.on_timeout(at),
            Recovery::NewReno(part) => part.on_timeout(at),
            Recovery::Sack(part) => part.on_timeout(at),
            Recovery::Vegas(part) => part.on_timeout(at),
        }
    }

    /// What to retransmit now, ahead of new data.
    #[inline]
    pub(super) fn next_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        match self {
            Recovery::Tahoe(_) => None,
            Recovery::Reno(part) => part.next_retransmission().map(Hole::from),
            Recovery::NewReno(part) => part.next_retransmission().map(Hole::from),
            Recovery::Sack(part) => part.next_retransmission(at, cwnd_bytes),
            Recovery::Vegas(part) => part.next_retransmission().map(Hole::from),
        }
    }

    /// Whether there is something to retransmit now, of one that does not learn from SACK blocks.
    #[inline]
    pub(super) fn retransmits(&self) -> bool {
        match self {
            Recovery::Reno(part) => part.next_retransmission().is_some(),
            Recovery::NewReno(part) => part.next_retransmission().is_some(),
            Recovery::Vegas(part) => part.next_retransmission().is_some(),
            Recovery::Tahoe(_) | Recovery::Sack(_) => false,
        }
    }

    /// What to retransmit now that no new data goes.
    #[inline]
    pub(super) fn last_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        match self {
            Recovery::Sack(part) => part.last_retransmission(at, cwnd_bytes),
            _ => None,
        }
    }

    /// What one of the two asked for has been sent: the octets from `start` to `end`.
    pub(super) fn on_retransmitted(&mut self, start: u64, end: u64) {
        match self {
            Recovery::Tahoe(_) => {}
            Recovery::Reno(part) => part.on_retransmitted(),
            Recovery::NewReno(part) => part.on_retransmitted(),
            Recovery::Sack(part) => part.on_retransmitted(start, end),
            Recovery::Vegas(part) => part.on_retransmitted(),
        }
    }

    /// Octets that may be outstanding, from the window law's `cwnd_bytes`: inflated by duplicate ACKs while
    /// repairing, the same otherwise.
    #[inline]
    pub(super) fn send_window(&self, cwnd_bytes: u64, smss_bytes: u64) -> u64 {
        match self {
            Recovery::Tahoe(_) | Recovery::Sack(_) => cwnd_bytes,
            Recovery::Reno(part) => part.send_window(cwnd_bytes),
            Recovery::NewReno(part) => part.send_window(cwnd_bytes, smss_bytes),
            Recovery::Vegas(part) => part.send_window(cwnd_bytes),
        }
    }

    /// Octets that count against that window: those in flight, or the pipe of RFC 6675.
    #[inline]
    pub(super) fn pipe_bytes(&self, at: &Outstanding) -> u64 {
        match self {
            Recovery::Sack(part) => part.pipe_bytes(at),
            _ => at.flight_bytes(),
        }
    }

    /// What goes next, from `snd_nxt` on, while everything is sent anew.
    #[inline]
    pub(super) fn next_to_send_anew(&mut self, at: &Outstanding) -> Hole {
        match self {
            Recovery::Sack(part) => part.next_to_send_anew(at),
            _ => Hole::from(at.snd_nxt),
        }
    }

    /// Octets up to `end` have been sent anew, in the regular order.
    #[inline]
    pub(super) fn on_sent_anew(&mut self, end: u64) {
        if let Recovery::Sack(part) = self {
            part.on_sent_anew(end);
        }
    }
}
