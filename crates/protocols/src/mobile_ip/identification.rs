//! The Identification of requests and replies: it matches them, and protects against replay (RFC 5944 section
//! 5.7).

use roamsim_engine::{Span, Stream, Time};

/// Seconds from the start of NTP's time, 1900, to that of the simulation's, which is 1970 in captures (RFC
/// 5905 figure 4).
const NTP_SECONDS_AT_START: u64 = 2_208_988_800;
const NS_PER_S: i128 = 1_000_000_000;

/// The style of replay protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayProtection {
    /// Timestamps in the format of NTP (section 5.7.1).
    Timestamps {
        /// How far the timestamp of a request may be from the home agent's time of day.
        tolerance: Span,
    },
    /// Nonces (section 5.7.2).
    Nonces,
}

impl Default for ReplayProtection {
    /// Timestamps, which every implementation must support, within 7 s (section 5.7.1).
    fn default() -> ReplayProtection {
        ReplayProtection::Timestamps { tolerance: Span::from_secs(7) }
    }
}

/// The time of day of a clock that is `offset_ns` ahead, as NTP writes it: seconds, and 32 bits of fraction.
fn ntp_time(now: Time, offset_ns: i64) -> u64 {
    let ns = i128::from(NTP_SECONDS_AT_START) * NS_PER_S + i128::from(now.as_ns()) + i128::from(offset_ns);
    ((ns << 32) / NS_PER_S) as u64
}

/// The low-order bits of the fraction that no clock of a mobile node gives, and that are random therefore
/// (section 5.7.1): with 22, its clock has a tick of 2^-10 s. Chosen: about the millisecond of a system's
/// timer. A reply is matched by the low-order 32 bits alone, which repeat after whole seconds where the clock
/// gives all of them.
const RANDOM_BITS: u32 = 22;

/// The Identification of a request: the time of day, filled up at random.
fn timestamp(now: Time, offset_ns: i64, random: &mut Stream) -> u64 {
    let filled = (1 << RANDOM_BITS) - 1;
    ntp_time(now, offset_ns) & !filled | random.next_u64() & filled
}

fn high(identification: u64) -> u32 {
    (identification >> 32) as u32
}

/// The mobile node's side: a clock, or nonces.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    style: ReplayProtection,
    clock_offset_ns: i64,
    /// That of the last request.
    last: u64,
    /// A timestamp is above this one: that of the last request since the clock was corrected.
    floor: u64,
    nonce: u32,
}

impl Requester {
    pub(super) fn new(style: ReplayProtection, clock_offset_ns: i64) -> Requester {
        Requester { style, clock_offset_ns, last: 0, floor: 0, nonce: 0 }
    }

    /// The Identification of a new request.
    pub(super) fn fresh(&mut self, now: Time, random: &mut Stream) -> u64 {
        let last = self.last;
        while self.matches(last) {
            self.last = match self.style {
                // Greater than any that was used before, since the last correction of the clock.
                ReplayProtection::Timestamps { .. } => {
                    timestamp(now, self.clock_offset_ns, random).max(self.floor + 1)
                }
                ReplayProtection::Nonces => u64::from(self.nonce) << 32 | (random.next_u64() & 0xffff_ffff),
            };
        }
        self.floor = self.last;
        self.last
    }

    /// The Identification of the same request sent again (section 3.6.3): new with timestamps, the same with
    /// nonces.
    pub(super) fn again(&mut self, now: Time, random: &mut Stream) -> u64 {
        match self.style {
            ReplayProtection::Timestamps { .. } => self.fresh(now, random),
            ReplayProtection::Nonces => self.last,
        }
    }

    /// Whether a reply answers the last request.
    pub(super) fn matches(&self, reply: u64) -> bool {
        reply as u32 == self.last as u32
    }

    /// An authentic reply has come: the next nonce is in it.
    pub(super) fn on_reply(&mut self, reply: u64) {
        self.nonce = high(reply);
    }

    /// The home agent refused the Identification: its time of day is in the reply.
    pub(super) fn resynchronise(&mut self, now: Time, reply: u64) {
        if let ReplayProtection::Timestamps { .. } = self.style {
            let seconds = i128::from(high(reply)) - i128::from(NTP_SECONDS_AT_START);
            self.clock_offset_ns = (seconds * NS_PER_S - i128::from(now.as_ns())) as i64;
            self.floor = 0;
        }
    }
}

/// The home agent's side for one mobile node.
#[derive(Clone, Debug)]
pub(super) struct Responder {
    style: ReplayProtection,
    /// Timestamps: the last accepted. Nonces: the one expected, `None` before the first.
    last: u64,
    nonce: Option<u32>,
}

impl Responder {
    pub(super) fn new(style: ReplayProtection) -> Responder {
        Responder { style, last: 0, nonce: None }
    }

    /// Judges a request's Identification; returns whether it is accepted, and the reply's.
    pub(super) fn judge(&mut self, now: Time, random: &mut Stream, request: u64) -> (bool, u64) {
        match self.style {
            ReplayProtection::Timestamps { tolerance } => {
                let own = ntp_time(now, 0);
                // A span in NTP's units; spans of years would not fit, and allow everything.
                let allowed =
                    u64::try_from((i128::from(tolerance.as_ns()) << 32) / NS_PER_S).unwrap_or(u64::MAX);
                if own.abs_diff(request) <= allowed && request > self.last {
                    self.last = request;
                    (true, request)
                } else {
                    (false, u64::from(high(own)) << 32 | u64::from(request as u32))
                }
            }
            ReplayProtection::Nonces => {
                let accepted = self.nonce == Some(high(request));
                let nonce = (random.next_u64() >> 32) as u32;
                self.nonce = Some(nonce);
                (accepted, u64::from(nonce) << 32 | u64::from(request as u32))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_by_hand() {
        // 1.5 s behind 1970: 2208988800 + 1 seconds, half of 2^32 as fraction.
        assert_eq!(ntp_time(Time::from_ns(1_500_000_000), 0), 2_208_988_801 << 32 | 0x8000_0000);
        // A clock that is half a second behind.
        assert_eq!(ntp_time(Time::from_ns(1_500_000_000), -500_000_000), 2_208_988_801 << 32);
    }

    #[test]
    fn requests_of_whole_seconds_apart_differ_in_what_replies_are_matched_by() {
        let mut random = Stream::new(0, 0, "");
        let mut requester = Requester::new(ReplayProtection::default(), 0);
        let mut seen = std::collections::BTreeSet::new();
        let mut before = 0;
        for s in 0..1000 {
            let identification = requester.fresh(Time::ZERO + Span::from_secs(s), &mut random);
            // The seconds, and no tick of 2^-10 s: what is below is random.
            assert_eq!(identification >> RANDOM_BITS, (2_208_988_800 + s) << 10);
            assert!(identification > before && requester.matches(identification));
            assert!(seen.insert(identification as u32), "{s} s: {identification:x} again");
            before = identification;
        }
        // Twice at an instant: greater all the same.
        let again = requester.again(Time::ZERO + Span::from_secs(999), &mut random);
        assert!(again > before && !requester.matches(before));
    }

    #[test]
    fn a_timestamp_is_good_once_and_near_the_home_agents_time() {
        let mut random = Stream::new(0, 0, "");
        let mut responder = Responder::new(ReplayProtection::default());
        let at = |s| Time::ZERO + Span::from_secs(s);
        let stamp = ntp_time(at(100), 0);
        // Seven seconds later it is still good; then never again.
        assert_eq!(responder.judge(at(107), &mut random, stamp), (true, stamp));
        assert!(!responder.judge(at(107), &mut random, stamp).0);
        assert!(responder.judge(at(107), &mut random, stamp + 1).0);
        assert!(!responder.judge(at(108), &mut random, stamp + 2).0);
        // A refusal holds the home agent's seconds, and the request's low half.
        let (accepted, reply) = responder.judge(at(200), &mut random, 0x0102_0304_0506_0708);
        assert!(!accepted);
        assert_eq!(reply, (2_208_988_800 + 200) << 32 | 0x0506_0708);
    }
}
