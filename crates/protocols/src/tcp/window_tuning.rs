//! Dynamic right-sizing: the receive window follows the octets that arrive in a round trip (Fisk and Feng
//! 2001).
//!
//! - Once per round trip the octets read since then are counted. If there are more than in any round trip
//!   before, the window becomes twice as many plus 16 segments. It also grows by twice the relative growth
//!   of the octets, so that it stays ahead of a sender in slow start. It never shrinks.
//! - The round trip comes from timestamps, smoothed by an eighth. Without timestamps it is the shortest
//!   time in which a window arrives.
//! - A window of less than two round trips' octets grows even if the octets have not grown. Otherwise it
//!   would limit what arrives and stay small, because the first expectation is ten segments, or all of a
//!   smaller window. Linux instead measures the share of a buffer that packets use, and offers more of the
//!   same buffer (`scaling_ratio`).
//!
//! Source: Linux 6.12, `tcp_rcv_space_adjust` and `tcp_rcv_rtt_update`. Other differences: the window opens
//! at once (Linux: by two segments per segment, `rcv_ssthresh`), and octets are counted when data arrives,
//! not when it is read.

use roamsim_engine::{Span, Time};

use super::config::Config;

/// The window to start with holds a first window of so many segments (TCP_INIT_CWND).
const FIRST_SEGMENTS: u64 = 10;

/// Segments beyond two round trips' worth.
const SPARE_SEGMENTS: u64 = 16;

/// The tuning of one connection's window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowTuning {
    most_bytes: u64,
    /// The most that was taken in a round trip; 0 before the first segment.
    space_bytes: u64,
    /// Where the round trip under way has begun, and when.
    begun_at_offset: u64,
    begun_at: Time,
    rtt: Option<Span>,
    /// The window that is timed without timestamps ends here.
    timed_end: u64,
    timed_at: Time,
    last_echo: u32,
}

impl WindowTuning {
    /// That of a connection with such settings, if it has any.
    pub(super) fn new(config: &Config) -> Option<WindowTuning> {
        config.initial_receive_window_bytes?;
        Some(WindowTuning {
            most_bytes: u64::from(config.receive_window_bytes),
            space_bytes: 0,
            begun_at_offset: 0,
            begun_at: Time::ZERO,
            rtt: None,
            timed_end: 0,
            timed_at: Time::ZERO,
            last_echo: 0,
        })
    }

    /// The round trip as the receiver measures it.
    pub(super) fn round_trip(&self) -> Option<Span> {
        self.rtt
    }

    /// Whether a timestamp is echoed for the first time: others say nothing of the round trip.
    pub(super) fn is_new_echo(&mut self, echo: u32) -> bool {
        echo != std::mem::replace(&mut self.last_echo, echo)
    }

    /// A segment arrives, with which the stream is there up to `arrived` and taken up to `taken`; its
    /// timestamp measures `rtt`. The window is `window_bytes`; returns what it is from now on.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        (arrived, taken): (u64, u64),
        rtt: Option<Span>,
        mss_bytes: u64,
        window_bytes: u64,
    ) -> u64 {
        if self.space_bytes == 0 {
            self.space_bytes = window_bytes.min(FIRST_SEGMENTS * mss_bytes).max(1);
            (self.begun_at_offset, self.begun_at) = (taken, now);
            (self.timed_end, self.timed_at) = (arrived + window_bytes, now);
        }
        self.measure(now, arrived, rtt, window_bytes);
        let Some(rtt) = self.rtt else { return window_bytes };
        if now.since(self.begun_at) < rtt {
            return window_bytes;
        }
        let bytes = taken - self.begun_at_offset;
        (self.begun_at_offset, self.begun_at) = (taken, now);
        if bytes <= self.space_bytes && 2 * bytes <= window_bytes {
            return window_bytes;
        }
        let twice = 2 * bytes + SPARE_SEGMENTS * mss_bytes;
        let more = bytes.saturating_sub(self.space_bytes);
        let growth = u128::from(twice) * u128::from(more) / u128::from(self.space_bytes);
        self.space_bytes = self.space_bytes.max(bytes);
        let wanted = u64::try_from(u128::from(twice) + 2 * growth).unwrap_or(u64::MAX);
        wanted.min(self.most_bytes).max(window_bytes)
    }

    fn measure(&mut self, now: Time, arrived: u64, rtt: Option<Span>, window_bytes: u64) {
        if let Some(sample) = rtt {
            let smoothed = |old: Span| {
                Span::from_ns((old.as_ns() / 8).saturating_mul(7).saturating_add(sample.as_ns() / 8))
            };
            self.rtt = Some(self.rtt.map_or(sample, smoothed));
        } else if arrived >= self.timed_end {
            let sample = now.since(self.timed_at);
            self.rtt = Some(self.rtt.map_or(sample, |old| old.min(sample)));
            (self.timed_end, self.timed_at) = (arrived + window_bytes, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_ms(100);

    fn part() -> WindowTuning {
        let config = Config {
            initial_receive_window_bytes: Some(65_536),
            receive_window_bytes: 1 << 20,
            ..Config::default()
        };
        WindowTuning::new(&config).expect("it is asked for")
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_window_is_twice_what_arrives_in_a_round_trip_and_more_while_that_grows() {
        let mut part = part();
        let mut window = 65_536;
        // Ten segments of 1000 are expected of the first round trip; they come, and the window stays.
        window = part.on_data(at(0), (1000, 1000), Some(RTT), 1000, window);
        window = part.on_data(at(100), (11_000, 11_000), Some(RTT), 1000, window);
        assert_eq!((window, part.space_bytes), (65_536, 10_000));
        // 20000 in the next: 2 x 20000 + 16000 = 56000; it has doubled: 56000 + 2 x 56000 x 10000 / 10000.
        window = part.on_data(at(150), (21_000, 21_000), Some(RTT), 1000, window);
        assert_eq!(window, 65_536, "the round trip is not over");
        window = part.on_data(at(200), (31_000, 31_000), Some(RTT), 1000, window);
        assert_eq!(window, 168_000);
        // As much again: no growth.
        window = part.on_data(at(300), (51_000, 51_000), Some(RTT), 1000, window);
        assert_eq!(window, 168_000);
        // 25000: 66000 + 2 x 66000 x 5000 / 20000 = 99000, which is less than there is.
        window = part.on_data(at(400), (76_000, 76_000), Some(RTT), 1000, window);
        assert_eq!((window, part.space_bytes), (168_000, 25_000));
        // 250000: 516000 + 2 x 516000 x 9, beyond the setting.
        window = part.on_data(at(500), (326_000, 326_000), Some(RTT), 1000, window);
        assert_eq!(window, 1 << 20);
    }

    #[test]
    fn a_window_below_two_round_trips_of_data_grows() {
        // Segments of 9000: seven of them are in a window of 65536, and 63000 octets are no more than the
        // window that the first round trip is expected to fill.
        let mut part = part();
        let mut window = part.on_data(at(0), (9000, 9000), Some(RTT), 9000, 65_536);
        window = part.on_data(at(100), (72_000, 72_000), Some(RTT), 9000, window);
        // 2 x 63000 + 16 x 9000.
        assert_eq!((window, part.space_bytes), (270_000, 65_536));
        // As much again: 126000 are within it.
        window = part.on_data(at(200), (135_000, 135_000), Some(RTT), 9000, window);
        assert_eq!(window, 270_000);
        // Less than half of a window: no growth.
        let mut part = self::part();
        window = part.on_data(at(0), (1000, 1000), Some(RTT), 1000, 3000);
        assert_eq!(part.on_data(at(100), (2500, 2500), Some(RTT), 1000, window), 3000);
        // 1501 are more: 2 x 1501 + 16000.
        assert_eq!(part.on_data(at(200), (4001, 4001), Some(RTT), 1000, window), 19_002);
    }

    #[test]
    fn without_timestamps_the_shortest_time_of_a_window_is_the_round_trip() {
        let mut part = part();
        let mut window = part.on_data(at(0), (1000, 1000), None, 1000, 65_536);
        // The window of 65536 is full at 80 ms, and 1 MiB wide from there. The next 65536 take longer, and
        // the 1 MiB behind them 50 ms.
        let arrivals = [
            (60, 60_000, None),
            (80, 66_536, Some(80)),
            (200, 132_072, Some(80)),
            (250, 1_180_648, Some(50)),
        ];
        for (ms, arrived, rtt) in arrivals {
            window = part.on_data(at(ms), (arrived, arrived), None, 1000, window);
            assert_eq!(part.rtt, rtt.map(Span::from_ms), "{ms}");
        }
    }

    #[test]
    fn what_is_not_taken_does_not_widen_the_window() {
        let mut part = part();
        let window = part.on_data(at(0), (1000, 0), Some(RTT), 1000, 65_536);
        assert_eq!(part.on_data(at(100), (60_000, 9000), Some(RTT), 1000, window), 65_536);
    }
}
