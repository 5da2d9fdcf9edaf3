//! Video: frames at their instants, each cut into packets.
//!
//! The frames come from a film of published statistics ([`film`]) or from a trace ([`Trace`]), in the order
//! in which they are decoded. A packet is as large as allowed, the last one of a frame has what is left. All
//! packets of a frame leave at its instant, or spread evenly over the time until the next frame. Which frames
//! can be decoded in time is counted where they arrive ([`Account`]). Not modelled: headers of RTP, rate
//! control, encoders that react to losses.

mod account;
pub mod film;
mod noise;

pub use account::{Account, FrameCounts};
pub use film::{Film, Frame, FrameKind};

use self::film::Generator;
use super::{Action, Activity};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames that were recorded.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The frames, in the order in which they are sent.
    pub frames: Arc<[Frame]>,
    /// Whether it begins again when it is over.
    pub repeat: bool,
}

/// Where frames come from.
#[derive(Clone, Debug)]
pub enum Frames {
    /// Drawn with the statistics of a film.
    Film(&'static Film),
    /// Recorded.
    Trace(Trace),
}

/// How frames are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// No packet has more octets of a frame.
    pub packet_bytes: u32,
    /// Packets of a frame leave spread evenly over the time until the next frame, not all at its instant.
    pub spread: bool,
    /// A frame that is complete this long after its instant is in time.
    pub playout_delay: Span,
}

#[derive(Clone, Debug)]
enum Supply {
    Film(Box<Generator>),
    Trace(Trace, usize),
}

impl Supply {
    fn next_frame(&mut self, random: &mut Stream) -> Option<Frame> {
        match self {
            Supply::Film(film) => Some(film.next_frame(random)),
            Supply::Trace(trace, next) => {
                if *next == trace.frames.len() && trace.repeat {
                    *next = 0;
                }
                let frame = trace.frames.get(*next).copied();
                *next += 1;
                frame
            }
        }
    }
}

/// The frame that is being sent.
#[derive(Clone, Copy, Debug)]
struct Present {
    start: Time,
    spacing: Span,
    bytes: u32,
    packets: u32,
    /// Packets that have left.
    left: u32,
}

impl Present {
    /// The octets of the next packet.
    fn packet(&mut self, packet_bytes: u32) -> u32 {
        let before = self.left * packet_bytes;
        self.left += 1;
        packet_bytes.min(self.bytes - before)
    }

    /// When its next packet leaves, where they are spread.
    fn next_packet(&self) -> Option<Time> {
        let share =
            u128::from(self.spacing.as_ns()) * u128::from(self.left) / u128::from(self.packets.max(1));
        (self.left < self.packets).then(|| self.start + Span::from_ns(share as u64))
    }
}

/// The sending side of a video, with the account of what arrives.
#[derive(Clone, Debug)]
pub struct Video {
    activity: Activity,
    supply: Supply,
    sending: Sending,
    present: Option<Present>,
    next: Option<Time>,
    account: Account,
    actions: VecDeque<Action>,
}

impl Video {
    /// A video whose first frame comes with the begin of its activity.
    pub fn new(activity: Activity, frames: Frames, sending: Sending) -> Video {
        let supply = match frames {
            Frames::Film(film) => Supply::Film(Box::new(Generator::new(film))),
            Frames::Trace(trace) => Supply::Trace(trace, 0),
        };
        Video {
            activity,
            supply,
            sending: Sending { packet_bytes: sending.packet_bytes.max(1), ..sending },
            present: None,
            next: Some(activity.start),
            account: Account::new(sending.playout_delay),
            actions: VecDeque::new(),
        }
    }

    /// What became of the frames whose deadline is not after `now`.
    pub fn counts(&self, now: Time) -> FrameCounts {
        self.account.counts(now)
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity
    }

    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// How late a frame may be shown: what comes later is late.
    pub(super) fn playout_delay(&self) -> Span {
        self.sending.playout_delay
    }

    /// A message has arrived; they are numbered in the order of [`Action::Send`].
    pub(super) fn arrived(&mut self, now: Time, message: u64) {
        self.account.arrived(now, message);
    }

    /// Begins the next frame, if there is one.
    fn begin_frame(&mut self, due: Time, random: &mut Stream) {
        self.present = self.supply.next_frame(random).map(|Frame { kind, bytes, spacing }| {
            let packets = bytes.div_ceil(self.sending.packet_bytes);
            // The encoder left out a frame of no octets; nobody misses it.
            if packets > 0 {
                self.account.sent(due, kind, packets);
            }
            Present { start: due, spacing, bytes, packets, left: 0 }
        });
    }
}

impl Machine for Video {
    fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(due) = self.next.filter(|&due| due <= cx.now) else { return };
        if due == self.activity.start && self.present.is_none() {
            self.actions.push_back(Action::Open);
        }
        if self.present.is_none_or(|present| present.left == present.packets) {
            self.begin_frame(due, cx.random);
        }
        let Some(present) = &mut self.present else {
            self.next = None;
            return;
        };
        while present.left < present.packets {
            self.actions.push_back(Action::Send { bytes: present.packet(self.sending.packet_bytes) });
            if self.sending.spread {
                break;
            }
        }
        let next_frame = present.start + present.spacing;
        self.next = present.next_packet().or_else(|| (next_frame < self.activity.stop).then_some(next_frame));
    }
}

#[cfg(test)]
mod tests {
    use super::film::STAR_WARS_IV;
    use super::*;

    fn seconds(stop: u64) -> Activity {
        Activity { start: Time::ZERO, stop: Time::ZERO + Span::from_secs(stop) }
    }

    /// When packets leave, in milliseconds, and their octets.
    fn packets(mut video: Video) -> Vec<(f64, u32)> {
        let mut random = Stream::new(1, 0, "video");
        let mut packets = Vec::new();
        while let Some(now) = video.poll_timeout() {
            video.handle_timeout(&mut Context { now, random: &mut random });
            while let Some(action) = video.poll_action() {
                if let Action::Send { bytes } = action {
                    packets.push((now.as_ns() as f64 / 1e6, bytes));
                }
            }
        }
        packets
    }

    fn trace(frames: &[(u32, u64)], repeat: bool) -> Frames {
        let frame = |&(bytes, ms)| Frame { kind: FrameKind::I, bytes, spacing: Span::from_ms(ms) };
        Frames::Trace(Trace { frames: frames.iter().map(frame).collect(), repeat })
    }

    const AT_ONCE: Sending = Sending { packet_bytes: 500, spread: false, playout_delay: Span::from_ms(150) };

    #[test]
    fn a_frame_leaves_at_its_instant_in_full_packets_and_a_rest() {
        let frames = [(1200, 40), (500, 80), (0, 40), (1, 40)];
        let video = Video::new(seconds(10), trace(&frames, false), AT_ONCE);
        // 1200 = 500 + 500 + 200; the frame of no octets has 160 - 120 = 40 ms, too.
        let expected = [(0.0, 500), (0.0, 500), (0.0, 200), (40.0, 500), (160.0, 1)];
        assert_eq!(packets(video), expected);
    }

    #[test]
    fn packets_may_be_spread_over_the_time_until_the_next_frame() {
        let video = Video::new(
            seconds(10),
            trace(&[(1200, 40), (600, 80)], false),
            Sending { spread: true, ..AT_ONCE },
        );
        // 40 ms / 3 = 13.333333 ms; 80 ms / 2.
        let expected = [(0.0, 500), (13.333_333, 500), (26.666_666, 200), (40.0, 500), (80.0, 100)];
        assert_eq!(packets(video), expected);
    }

    #[test]
    fn a_trace_ends_or_begins_again() {
        let frames = [(100, 400), (200, 300)];
        let times = |repeat| packets(Video::new(seconds(2), trace(&frames, repeat), AT_ONCE));
        assert_eq!(times(false), [(0.0, 100), (400.0, 200)]);
        assert_eq!(
            times(true),
            [(0.0, 100), (400.0, 200), (700.0, 100), (1100.0, 200), (1400.0, 100), (1800.0, 200)]
        );
    }

    #[test]
    fn a_film_has_its_frame_rate_and_no_packet_is_too_large() {
        let packets = packets(Video::new(seconds(2), Frames::Film(&STAR_WARS_IV), AT_ONCE));
        let instants: std::collections::BTreeSet<u64> = packets.iter().map(|&(ms, _)| ms as u64).collect();
        // 25 frames a second.
        assert_eq!(instants, (0..50).map(|frame| 40 * frame).collect());
        assert!(packets.iter().all(|&(_, bytes)| (1..=500).contains(&bytes)));
    }

    #[test]
    fn the_account_follows_the_messages() {
        let mut video = Video::new(seconds(10), trace(&[(1200, 40), (500, 40)], false), AT_ONCE);
        let mut random = Stream::new(1, 0, "video");
        for at_ms in [0, 40] {
            let now = Time::ZERO + Span::from_ms(at_ms);
            video.handle_timeout(&mut Context { now, random: &mut random });
        }
        // Messages 0 to 2 are the first frame, 3 the second.
        for message in [0, 2, 3] {
            video.arrived(Time::ZERO + Span::from_ms(50), message);
        }
        let counts = video.counts(Time::ZERO + Span::from_secs(1));
        assert_eq!((counts.frames, counts.complete, counts.decodable), (2, 1, 1));
    }
}
