//! Readers: applications that read at their own pace, so that the receiver's buffer fills and its window
//! closes.
//!
//! A read takes up to a number of octets at once and keeps the application busy for their time at its rate.
//! Then the next read begins, except in a pause. Without a rate everything is read at once. At its stop the
//! application closes: data that is unread then, or arrives later, is lost.

use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// A time without reading, from `start` to just before `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Its first instant.
    pub start: Time,
    /// When reading goes on.
    pub stop: Time,
}

/// How fast an application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bits a second, above zero.
    pub rate_bps: u64,
    /// The most octets that a read takes, above zero.
    pub read_bytes: u64,
}

/// The reading application at the sink of a flow.
#[derive(Clone, Debug)]
pub struct Reader {
    pace: Option<Pace>,
    /// Those that are not over, in order and apart.
    pauses: VecDeque<Pause>,
    /// Stream offset up to which there is something to read.
    arrived: u64,
    /// Stream offset up to which it has been read.
    taken: u64,
    /// The next read comes now, unless in a pause.
    next: Time,
    /// Since when reads have followed each other, and their octets: the end of each is derived from both, so
    /// that rounding does not accumulate.
    busy_since: Time,
    busy_bytes: u64,
    /// The peer has closed: nothing follows what has arrived.
    closes: bool,
    /// When the application closes, unless its peer has and everything has been read.
    stop: Option<Time>,
}

impl Reader {
    /// A reader that has read nothing yet; `pauses` in any order, none within another. Without a `pace` it
    /// takes at once what has arrived; without a `stop` it reads to the end of the run.
    pub fn new(pace: Option<Pace>, mut pauses: Vec<Pause>, stop: Option<Time>) -> Reader {
        pauses.sort_by_key(|pause| pause.start);
        Reader {
            pace,
            pauses: pauses.into(),
            arrived: 0,
            taken: 0,
            next: Time::ZERO,
            busy_since: Time::ZERO,
            busy_bytes: 0,
            closes: false,
            stop,
        }
    }

    /// The stream has arrived up to this offset.
    pub(crate) fn on_arrival(&mut self, now: Time, up_to: u64) {
        self.arrived = up_to;
        self.not_before(now);
    }

    /// The peer has closed. True when everything has been read.
    pub(crate) fn on_close(&mut self) -> bool {
        self.closes = true;
        self.has_read_all()
    }

    /// What has arrived and was not read is gone with its connection.
    pub(crate) fn drop_unread(&mut self) {
        self.arrived = self.taken;
    }

    /// Whether the stream is over and everything has been read.
    pub(crate) fn has_read_all(&self) -> bool {
        self.closes && self.arrived == self.taken
    }

    /// Whether the application closes now: it has read for the last time.
    pub(crate) fn stops(&mut self, now: Time) -> bool {
        let stops = self.due_stop().is_some_and(|stop| stop <= now);
        if stops {
            self.stop = None;
            self.drop_unread();
        }
        stops
    }

    fn due_stop(&self) -> Option<Time> {
        self.stop.filter(|_| !self.has_read_all())
    }

    /// When it has something to do.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.due_read().into_iter().chain(self.due_stop()).min()
    }

    /// When the next read is due; `None` while there is nothing to read.
    fn due_read(&self) -> Option<Time> {
        let after_pauses =
            |at, pause: &Pause| if (pause.start..pause.stop).contains(&at) { pause.stop } else { at };
        (self.arrived > self.taken).then(|| self.pauses.iter().fold(self.next, after_pauses))
    }

    /// Reads what is due: the offset up to which everything has now been read.
    pub(crate) fn read(&mut self, now: Time) -> Option<u64> {
        self.due_read().filter(|&due| due <= now)?;
        self.not_before(now);
        while self.pauses.pop_front_if(|pause| pause.stop <= now).is_some() {}
        let unread = self.arrived - self.taken;
        let bytes = self.pace.map_or(unread, |pace| unread.min(pace.read_bytes));
        self.taken += bytes;
        if let Some(pace) = self.pace {
            self.busy_bytes += bytes;
            self.next = self.busy_since + Span::of_transmission(self.busy_bytes, pace.rate_bps);
        }
        Some(self.taken)
    }

    /// No read comes before this: whoever has waited starts anew.
    fn not_before(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.busy_since = now;
            self.busy_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn pause(start_ms: u64, stop_ms: u64) -> Pause {
        Pause { start: ms(start_ms), stop: ms(stop_ms) }
    }

    /// Reads until `until_ms`: when, and up to which offset.
    fn drive(reader: &mut Reader, until_ms: u64) -> Vec<(u64, u64)> {
        let mut reads = Vec::new();
        while let Some(now) = reader.poll_timeout().filter(|&due| due <= ms(until_ms)) {
            if let Some(up_to) = reader.read(now) {
                reads.push((now.as_ns() / 1_000_000, up_to));
            }
        }
        reads
    }

    #[test]
    fn a_read_keeps_busy_for_its_octets_at_the_rate() {
        // 1000 octets at 800 kb/s: 10 ms.
        let mut reader = Reader::new(Some(Pace { rate_bps: 800_000, read_bytes: 1000 }), vec![], None);
        reader.on_arrival(ms(5), 2500);
        assert_eq!(drive(&mut reader, 100), [(5, 1000), (15, 2000), (25, 2500)]);
        // The last 500 took until 30; what comes before then waits, what comes later is read at once.
        reader.on_arrival(ms(27), 2600);
        assert_eq!(drive(&mut reader, 100), [(30, 2600)]);
        reader.on_arrival(ms(50), 2700);
        assert_eq!(drive(&mut reader, 100), [(50, 2700)]);
    }

    #[test]
    fn no_read_begins_in_a_pause() {
        let pauses = vec![pause(40, 50), pause(12, 30), pause(30, 33)];
        let mut reader = Reader::new(Some(Pace { rate_bps: 800_000, read_bytes: 1000 }), pauses, None);
        reader.on_arrival(ms(0), 5000);
        // 10 is before the pause and busy until 20; from 33 on again, 43 lies in a pause.
        assert_eq!(drive(&mut reader, 100), [(0, 1000), (10, 2000), (33, 3000), (50, 4000), (60, 5000)]);
    }

    #[test]
    fn without_a_rate_all_is_taken_at_once() {
        let mut reader = Reader::new(None, vec![pause(10, 20)], None);
        reader.on_arrival(ms(5), 7);
        assert_eq!(drive(&mut reader, 100), [(5, 7)]);
        reader.on_arrival(ms(11), 8);
        reader.on_arrival(ms(12), 9);
        assert!(!reader.on_close());
        assert_eq!(drive(&mut reader, 100), [(20, 9)]);
        assert!(reader.has_read_all());
    }

    #[test]
    fn nothing_is_read_from_the_stop_on() {
        // Reads of 1000 octets at 0 and 10; the next one would come with the stop.
        let mut reader =
            Reader::new(Some(Pace { rate_bps: 800_000, read_bytes: 1000 }), vec![], Some(ms(20)));
        assert_eq!(reader.poll_timeout(), Some(ms(20)));
        reader.on_arrival(ms(0), 5000);
        assert_eq!(drive(&mut reader, 19), [(0, 1000), (10, 2000)]);
        assert!(!reader.stops(ms(19)) && reader.stops(ms(20)));
        assert_eq!((reader.read(ms(20)), reader.poll_timeout()), (None, None));
    }

    #[test]
    fn who_has_read_all_does_not_stop() {
        let mut reader = Reader::new(None, vec![], Some(ms(20)));
        reader.on_arrival(ms(5), 7);
        assert_eq!(drive(&mut reader, 10), [(5, 7)]);
        assert_eq!(reader.poll_timeout(), Some(ms(20)));
        assert!(reader.on_close());
        assert!(!reader.stops(ms(20)) && reader.poll_timeout().is_none());
    }

    #[test]
    fn what_is_dropped_is_not_read() {
        let mut reader = Reader::new(None, vec![pause(0, 20)], None);
        reader.on_arrival(ms(5), 7);
        reader.drop_unread();
        assert_eq!(reader.poll_timeout(), None);
    }
}
