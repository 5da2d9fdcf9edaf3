//! Recovery: what a sender may send while it repairs losses.
//!
//! A recovery learns of data that is sent, acknowledged or timed out. It says what to retransmit next, how
//! many octets may be outstanding, and which window remains at its end. After a timeout every recovery here
//! stops: the connection returns to `snd_una` and retransmits in slow start (go-back-N). A recovery is a
//! file here that implements [`LossRecovery`], and a row of the table below. Its name, and what the variant
//! of that name is, stand in its file.

mod prr;

pub(super) use prr::Prr;
pub(super) use rack::{Answered, Frto, Probe, Repair, Undo};

use super::parts::{kinds, stored};
use super::repeat::Reason;

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
    /// Nothing is being repaired: the congestion control takes the ACK.
    Normal,
    /// The repair goes on.
    Partial {
        /// Whether the retransmission timer starts anew.
        restart_timer: bool,
    },
    /// The recovery answers once it knows all that the acknowledgement tells of.
    Deferred,
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
    /// The repair begins; the congestion control is told to slow down.
    Repair,
    /// Everything in flight is taken as lost and sent anew from one segment.
    GoBack,
}

/// The settings that a recovery may need; [`Config`](super::Config) says what each means.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Duplicate ACKs that tell of a loss.
    pub dup_ack_threshold: u32,
    /// Reno may begin another fast retransmit within a window that has been repaired.
    pub successive_fast_retransmits: bool,
    /// Proportional rate reduction (RFC 9937).
    pub prr: bool,
    /// The congestion control is told of each transmission that is lost.
    pub keeps_losses: bool,
}

/// A recovery. What a hook leaves out is what most of them do.
pub trait LossRecovery {
    /// Its name.
    const NAME: &'static str;

    /// What the variant of its name is, for users, if it brings one ([`Variant`](super::Variant)).
    const VARIANT: Option<&'static str> = None;

    /// Whether it learns from SACK blocks, and tells duplicate ACKs by them.
    const TAKES_BLOCKS: bool = false;

    /// Whether proportional rate reduction may say how much it sends.
    const TAKES_PRR: bool = false;

    /// One with nothing to repair.
    fn new(settings: &Settings) -> Self;

    /// Whether losses are being repaired.
    #[inline]
    fn is_recovering(&self) -> bool {
        false
    }

    /// Whether nothing is being repaired, and nothing is known that would be.
    #[inline]
    fn is_undisturbed(&self) -> bool {
        !self.is_recovering()
    }

    /// Whether something is to be sent though everything has been.
    #[inline]
    fn is_busy(&self) -> bool {
        self.is_recovering()
    }

    /// Octets are sent, new or again.
    #[inline]
    fn on_sent(&mut self, _bytes: u64) {}

    /// The same as [`LossRecovery::on_ack`], of one that is undisturbed.
    #[inline]
    fn on_undisturbed_ack(&mut self, _snd_una: u64) {}

    /// Octets of new data beyond the window that limited transmit may have sent by now (RFC 3042), where it
    /// counts `duplicates` duplicate ACKs and nothing is being repaired.
    #[inline]
    fn limited_transmit_bytes(&self, duplicates: u64, smss_bytes: u64) -> u64 {
        duplicates * smss_bytes
    }

    /// The peer has selectively acknowledged the octets from `start` to `end`, which lie above `snd_una`.
    /// True when any of them is new.
    fn on_block(&mut self, _start: u64, _end: u64) -> bool {
        false
    }

    /// Whether what has arrived tells of a loss before detection counts enough duplicate ACKs.
    fn tells_of_loss(&self, _at: &Outstanding) -> bool {
        false
    }

    /// Detection takes the segment at `snd_una` as lost, after `duplicates` duplicate ACKs.
    fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response;

    /// A duplicate ACK arrived while repairing: a segment has left the network.
    #[inline]
    fn on_duplicate(&mut self, _at: &Outstanding) {}

    /// An ACK for `acked_bytes` new octets arrived.
    #[inline]
    fn on_ack(&mut self, _at: &Outstanding, _acked_bytes: u64, _ssthresh_bytes: u64) -> Progress {
        Progress::Normal
    }

    /// The retransmission timer expired.
    fn on_timeout(&mut self, at: &Outstanding);

    /// What to retransmit now, ahead of new data.
    #[inline]
    fn next_retransmission(&self, _at: &Outstanding, _cwnd_bytes: u64) -> Option<Hole> {
        None
    }

    /// What to retransmit now that no new data goes.
    #[inline]
    fn last_retransmission(&self, _at: &Outstanding, _cwnd_bytes: u64) -> Option<Hole> {
        None
    }

    /// What one of the two asked for has been sent: the octets from `start` to `end`.
    fn on_retransmitted(&mut self, _start: u64, _end: u64) {}

    /// Octets that may be outstanding, from the congestion control's `cwnd_bytes`: inflated by duplicate ACKs
    /// while repairing, the same otherwise.
    #[inline]
    fn send_window(&self, cwnd_bytes: u64, _smss_bytes: u64) -> u64 {
        cwnd_bytes
    }

    /// Octets that count against that window: those in flight, or the pipe of RFC 6675.
    #[inline]
    fn pipe_bytes(&self, at: &Outstanding) -> u64 {
        at.flight_bytes()
    }

    /// What goes next, from `snd_nxt` on, while everything is sent anew.
    #[inline]
    fn next_to_send_anew(&mut self, at: &Outstanding) -> Hole {
        Hole::from(at.snd_nxt)
    }

    /// Octets up to `end` have been sent anew, in the regular order.
    #[inline]
    fn on_sent_anew(&mut self, _end: u64) {}
}

/// The table: from each row the module, a place in both enums, and the arms of every hook. A large part is
/// boxed, so that connections without it stay small.
macro_rules! recoveries {
    ($($file:ident::$name:ident $(in $box:ident)?,)*) => {
        $(
            mod $file;
            pub use $file::$name;
        )*

        kinds! {
            /// The recoveries by name.
            $($name,)*
        }

        impl Kind {
            /// Whether it learns from SACK blocks.
            pub(super) const fn takes_blocks(self) -> bool {
                match self {
                    $(Kind::$name => $name::TAKES_BLOCKS,)*
                }
            }

            /// Whether proportional rate reduction may say how much it sends.
            pub(super) const fn takes_prr(self) -> bool {
                match self {
                    $(Kind::$name => $name::TAKES_PRR,)*
                }
            }
        }

        /// The recovery of a connection.
        #[derive(Clone, Debug)]
        pub enum Recovery {
            $(
                #[doc = concat!("[`", stringify!($name), "`](struct@", stringify!($name), ").")]
                $name(stored!($name $($box)?)),
            )*
        }

        impl Recovery {
            pub(super) fn new(kind: Kind, settings: &Settings) -> Recovery {
                match kind {
                    $(Kind::$name => Recovery::$name($name::new(settings).into()),)*
                }
            }

            /// Whether it learns from SACK blocks, and tells duplicate ACKs by them.
            #[inline]
            pub(super) fn takes_blocks(&self) -> bool {
                match self {
                    $(Recovery::$name(_) => $name::TAKES_BLOCKS,)*
                }
            }

            /// Whether losses are being repaired.
            #[inline]
            pub fn is_recovering(&self) -> bool {
                match self {
                    $(Recovery::$name(part) => part.is_recovering(),)*
                }
            }

            #[inline]
            pub(super) fn is_undisturbed(&self) -> bool {
                match self {
                    $(Recovery::$name(part) => part.is_undisturbed(),)*
                }
            }

            #[inline]
            pub(super) fn is_busy(&self) -> bool {
                match self {
                    $(Recovery::$name(part) => part.is_busy(),)*
                }
            }

            #[inline]
            pub(super) fn on_sent(&mut self, bytes: u64) {
                match self {
                    $(Recovery::$name(part) => part.on_sent(bytes),)*
                }
            }

            #[inline]
            pub(super) fn on_undisturbed_ack(&mut self, snd_una: u64) {
                match self {
                    $(Recovery::$name(part) => part.on_undisturbed_ack(snd_una),)*
                }
            }

            #[inline]
            fn limited_transmit(&self, duplicates: u64, smss_bytes: u64) -> u64 {
                match self {
                    $(Recovery::$name(part) => part.limited_transmit_bytes(duplicates, smss_bytes),)*
                }
            }

            pub(super) fn on_block(&mut self, start: u64, end: u64) -> bool {
                match self {
                    $(Recovery::$name(part) => part.on_block(start, end),)*
                }
            }

            pub(super) fn tells_of_loss(&self, at: &Outstanding) -> bool {
                match self {
                    $(Recovery::$name(part) => part.tells_of_loss(at),)*
                }
            }

            pub(super) fn on_loss(&mut self, at: &Outstanding, duplicates: u32) -> Response {
                match self {
                    $(Recovery::$name(part) => part.on_loss(at, duplicates),)*
                }
            }

            #[inline]
            pub(super) fn on_duplicate(&mut self, at: &Outstanding) {
                match self {
                    $(Recovery::$name(part) => part.on_duplicate(at),)*
                }
            }

            #[inline]
            pub(super) fn on_ack(&mut self, at: &Outstanding, acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
                match self {
                    $(Recovery::$name(part) => part.on_ack(at, acked_bytes, ssthresh_bytes),)*
                }
            }

            pub(super) fn on_timeout(&mut self, at: &Outstanding) {
                match self {
                    $(Recovery::$name(part) => part.on_timeout(at),)*
                }
            }

            #[inline(always)]
            pub(super) fn next_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
                match self {
                    $(Recovery::$name(part) => part.next_retransmission(at, cwnd_bytes),)*
                }
            }

            #[inline]
            pub(super) fn last_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
                match self {
                    $(Recovery::$name(part) => part.last_retransmission(at, cwnd_bytes),)*
                }
            }

            pub(super) fn on_retransmitted(&mut self, start: u64, end: u64) {
                match self {
                    $(Recovery::$name(part) => part.on_retransmitted(start, end),)*
                }
            }

            #[inline(always)]
            pub(super) fn send_window(&self, cwnd_bytes: u64, smss_bytes: u64) -> u64 {
                match self {
                    $(Recovery::$name(part) => part.send_window(cwnd_bytes, smss_bytes),)*
                }
            }

            #[inline]
            pub(super) fn pipe_bytes(&self, at: &Outstanding) -> u64 {
                match self {
                    $(Recovery::$name(part) => part.pipe_bytes(at),)*
                }
            }

            #[inline]
            pub(super) fn next_to_send_anew(&mut self, at: &Outstanding) -> Hole {
                match self {
                    $(Recovery::$name(part) => part.next_to_send_anew(at),)*
                }
            }

            #[inline]
            pub(super) fn on_sent_anew(&mut self, end: u64) {
                match self {
                    $(Recovery::$name(part) => part.on_sent_anew(end),)*
                }
            }
        }
    };
}

impl Recovery {
    /// A repair has begun with the acknowledgement under way, amid a reduction by PRR: that goes on. It has
    /// counted what was delivered before.
    #[cold]
    pub(super) fn carry_on(&mut self, prr: Prr) {
        match self {
            Recovery::Sack(sack) => sack.carry_on(prr),
            Recovery::Rack(rack) => rack.carry_on(prr),
            Recovery::NewRenoPrr(repair) => repair.carry_on(prr),
            _ => {}
        }
    }

    /// Octets above SND.UNA that SACK has told of.
    pub(super) fn sacked_bytes(&self) -> u64 {
        match self {
            Recovery::Sack(sack) => sack.sacked_bytes(),
            Recovery::Rack(rack) => rack.sent.sacked_bytes(),
            _ => 0,
        }
    }

    /// Why what it has repaired next is taken as lost.
    pub(super) fn why_lost(&self) -> Reason {
        match self {
            Recovery::Rack(rack) => rack.why_lost(),
            _ => Reason::DuplicateAcks,
        }
    }

    /// Octets of new data beyond the window that limited transmit may have sent by now (RFC 3042), where it
    /// counts `duplicates` duplicate ACKs.
    #[inline]
    pub(super) fn limited_transmit_bytes(&self, duplicates: u64, smss_bytes: u64) -> u64 {
        if self.is_recovering() { 0 } else { self.limited_transmit(duplicates, smss_bytes) }
    }
}

// `cargo fmt` does not see these modules; `make lint` names their files to rustfmt.
recoveries! {
    tahoe::Tahoe,
    reno::Reno,
    newreno::NewReno,
    newreno_prr::NewRenoPrr in Box,
    sack::Sack in Box,
    rack::Rack in Box,
    vegas::Vegas,
}
