//! How a transport connection ended, as its two ends saw it.
//!
//! The first thing that went wrong at either end is the end of the connection: what the other end sees later,
//! such as a reset from a peer that has timed out, follows from it.

use roamsim_engine::Time;

/// How a connection, TCP's or SCTP's, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Closed or shut down from both ends; everything was delivered.
    Completed,
    /// It had not ended when the run did.
    StillOpen,
    /// Its application dropped it at its stop.
    Stopped,
    /// An end gave up after too many retransmissions (RFC 9293 section 3.8.3, RFC 9260 section 8.1).
    TimedOut,
    /// An end gave up as its data made no progress within the user timeout (RFC 9293 section 3.10.8).
    UserTimeout,
    /// An end gave up as nothing answered its keep-alive probes (RFC 9293 section 3.8.4).
    KeepAlive,
    /// An end got a reset (RFC 9293 section 3.5.2) or an ABORT (RFC 9260 section 9.1), or sent a reset since
    /// its application had closed and did not take all data (RFC 9293 section 3.6.1).
    Reset,
    /// The peer answered the attempt to open it with a reset or an ABORT.
    Refused,
    /// Its handshake was not complete when its end gave up or the run ended.
    NeverEstablished,
}

impl Ending {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Completed => "completed",
            Ending::StillOpen => "still open",
            Ending::Stopped => "stopped",
            Ending::TimedOut => "timed out",
            Ending::UserTimeout => "user timeout",
            Ending::KeepAlive => "keep-alive unanswered",
            Ending::Reset => "reset",
            Ending::Refused => "refused",
            Ending::NeverEstablished => "never established",
        }
    }
}

/// What ended a connection before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Its application dropped it.
    Stopped,
    /// It gave up after too many retransmissions.
    TimedOut,
    /// It gave up at its user timeout.
    UserTimeout,
    /// It gave up, as its keep-alive probes went unanswered.
    KeepAlive,
    /// The peer ended it, or it did so itself for data that its application does not take.
    Reset,
}

/// What an end saw of its connection's life.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Life {
    /// Its handshake was complete.
    pub(crate) established: bool,
    /// The first thing that ended it before its time.
    pub(crate) failure: Option<(Time, Failure)>,
    /// It gave up when everything had been delivered in both directions, and only the end of the shutdown was
    /// missing.
    pub(crate) delivered: bool,
}

impl Life {
    /// Something has ended it; what follows from that is not counted.
    pub(crate) fn fails(&mut self, now: Time, failure: Failure) {
        self.failure.get_or_insert((now, failure));
    }
}

/// The end of a connection of two lives; `closed`: whether each of its ends is.
pub(crate) fn ending(lives: [Life; 2], closed: [bool; 2]) -> Ending {
    let established = lives.iter().any(|life| life.established);
    if established && lives.iter().any(|life| life.delivered) {
        return Ending::Completed;
    }
    let first = lives.iter().filter_map(|life| life.failure).min_by_key(|&(time, _)| time);
    match first.map(|(_, failure)| failure) {
        Some(Failure::Stopped) if established => Ending::Stopped,
        Some(Failure::TimedOut) if established => Ending::TimedOut,
        Some(Failure::UserTimeout) if established => Ending::UserTimeout,
        Some(Failure::KeepAlive) if established => Ending::KeepAlive,
        Some(Failure::Reset) => {
            if established {
                Ending::Reset
            } else {
                Ending::Refused
            }
        }
        None if established => {
            if closed == [true, true] {
                Ending::Completed
            } else {
                Ending::StillOpen
            }
        }
        _ => Ending::NeverEstablished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Span;

    fn up() -> Life {
        Life { established: true, ..Life::default() }
    }

    fn at(ms: u64, failure: Failure) -> Life {
        Life { failure: Some((Time::ZERO + Span::from_ms(ms), failure)), ..up() }
    }

    #[test]
    fn the_first_failure_is_the_end() {
        // The one that times out sends a reset, which its peer gets 50 ms later.
        let lives = [at(1000, Failure::TimedOut), at(1050, Failure::Reset)];
        assert_eq!(ending(lives, [true, true]), Ending::TimedOut);
        assert_eq!(ending([lives[1], lives[0]], [true, true]), Ending::TimedOut);
        assert_eq!(ending([lives[1], at(900, Failure::KeepAlive)], [true, true]), Ending::KeepAlive);
        assert_eq!(ending([lives[1], at(900, Failure::UserTimeout)], [true, true]), Ending::UserTimeout);
        let mut life = lives[0];
        life.fails(Time::ZERO + Span::from_ms(2000), Failure::Reset);
        assert_eq!(life.failure, lives[0].failure);
    }

    #[test]
    fn without_a_failure_it_is_open_until_both_ends_are_closed() {
        let up = up();
        assert_eq!(ending([up, up], [true, true]), Ending::Completed);
        assert_eq!(ending([up, up], [true, false]), Ending::StillOpen);
        // The last step of the handshake is on its way: the end that opened it may send.
        assert_eq!(ending([up, Life::default()], [false, false]), Ending::StillOpen);
    }

    #[test]
    fn what_was_delivered_whole_is_completed_though_nobody_heard_the_end_of_the_shutdown() {
        let lives = [at(1000, Failure::TimedOut), Life { delivered: true, ..up() }];
        assert_eq!(ending(lives, [true, true]), Ending::Completed);
    }

    #[test]
    fn what_was_never_up_is_refused_or_never_established() {
        let none = Life::default();
        let failed = |failure| Life { established: false, ..at(1, failure) };
        assert_eq!(ending([none, none], [true, true]), Ending::NeverEstablished);
        assert_eq!(ending([failed(Failure::TimedOut), none], [true, false]), Ending::NeverEstablished);
        assert_eq!(ending([failed(Failure::Stopped), none], [true, false]), Ending::NeverEstablished);
        assert_eq!(ending([failed(Failure::Reset), none], [true, false]), Ending::Refused);
    }
}
