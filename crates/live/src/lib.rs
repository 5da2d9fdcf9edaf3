//! A world by the clock: events are due by a monotonic clock, and packets of programs outside come in and go
//! out through devices.
//!
//! A device gives and takes one IP packet with each read and write, as a TUN device does. A packet comes in
//! at the instant at which the loop reads it, and goes out as soon as the clock has reached the instant at
//! which the simulation emits it. How much later than that it is written is its lateness, of which
//! [`Lateness`] keeps a histogram. Another one keeps how long a packet may have waited in its device: since
//! that was last known to be empty. Nothing is left out when the loop is late. Simulated time may go faster
//! or slower than the clock, for programs that allow it.
//!
//! Not measured: how long the kernel takes to wake the loop for a packet.

mod lateness;
mod snapshot;
mod wait;

pub use lateness::Lateness;
pub use snapshot::{LinkNow, Snapshot, StationNow};

use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::topology::NodeId;
use roamsim_scenario::Scenario;
use roamsim_scenario::run::{Prepared, RunError};
use snapshot::Watcher;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wait::Waiting;

/// Packets that are read from one device before the others have their turn. Chosen: some 50 us of work.
const READ_AT_ONCE: usize = 16;

/// How long before an event the loop no longer sleeps, but looks at its devices again and again: somewhat
/// longer than the kernel lately overslept.
#[derive(Debug)]
struct Margin(Duration);

impl Margin {
    /// Chosen: a processor at work wakes a thread faster.
    const LEAST: Duration = Duration::from_micros(60);
    /// Chosen: 2 % of the time at a hundred events a second. Lateness tells what a busy machine oversleeps
    /// beyond that.
    const MOST: Duration = Duration::from_micros(200);

    /// A sleep has ended, so long after it should have.
    fn overslept(&mut self, by: Duration) {
        // It falls by a sixteenth, so that some tens of sleeps in time are needed to forget one that was not.
        self.0 = (by + by / 4).max(self.0 - self.0 / 16).clamp(Margin::LEAST, Margin::MOST);
    }
}

/// The device of an external node.
#[derive(Debug)]
pub struct Gate {
    /// The node.
    pub node: NodeId,
    /// The device, which does not block.
    pub device: File,
}

/// Where packets come in.
struct Entry<'a> {
    gate: &'a Gate,
    /// When its device was last known to be empty, and whether it was emptied then.
    empty_at: Time,
    is_empty: bool,
}

/// Why the loop gives up.
#[derive(Debug)]
pub enum Failure {
    /// The run failed.
    Run(RunError),
    /// Waiting for devices failed.
    Wait(io::Error),
}

/// What ended the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The end of the scenario.
    Duration,
    /// Somebody has something to say.
    Woken,
}

/// How often a world is looked at. Chosen: twice a second is as fast as one reads.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A run by the clock.
#[derive(Debug)]
pub struct Clock {
    /// When the run began.
    origin: Option<Instant>,
    /// Simulated seconds in a second of the clock.
    speed: f64,
    /// Where what the world does is shown, and when next.
    board: Option<Arc<Mutex<Snapshot>>>,
    watcher: Watcher,
    shown_at: Option<Instant>,
    margin: Margin,
    /// How late packets went out.
    pub lateness: Lateness,
    /// How long packets may have waited before they were read.
    pub waits: Lateness,
    /// Packets that a device refused.
    pub unwritten: u64,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock {
            origin: None,
            speed: 1.0,
            board: None,
            watcher: Watcher::default(),
            shown_at: None,
            margin: Margin(Margin::LEAST),
            lateness: Lateness::default(),
            waits: Lateness::default(),
            unwritten: 0,
        }
    }
}

impl Clock {
    /// Simulated time goes this many times as fast as the clock: a number above zero.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// What the world does is shown here from now on, every half second.
    pub fn show_on(&mut self, board: Arc<Mutex<Snapshot>>) {
        self.board = Some(board);
    }

    fn now(&self) -> Time {
        let since = self.origin.map_or(Duration::ZERO, |origin| origin.elapsed());
        let since_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        // Whole nanoseconds stay what they are.
        Time::from_ns(if self.speed == 1.0 { since_ns } else { (since_ns as f64 * self.speed) as u64 })
    }

    /// How long the clock takes for a span of simulated time; a bit more rather than less.
    fn real(&self, span: Span) -> Duration {
        if self.speed == 1.0 {
            return Duration::from_nanos(span.as_ns());
        }
        Duration::from_nanos((span.as_ns() as f64 / self.speed).ceil() as u64)
    }

    fn real_ns(&self, span: Span) -> u64 {
        u64::try_from(self.real(span).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Shows what the world does, where somebody watches and the time has come; how long until then.
    fn show(&mut self, world: &World) -> Duration {
        let Some(board) = &self.board else { return Duration::MAX };
        let left = self.shown_at.map_or(Duration::ZERO, |shown| LOOK_EVERY.saturating_sub(shown.elapsed()));
        if left > Duration::ZERO {
            return left;
        }
        let snapshot = self.watcher.look(world, self.now());
        *board.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
        self.shown_at = Some(Instant::now());
        LOOK_EVERY
    }

    /// Goes on with a run that has begun, until its end or until one of `wakes` is readable.
    pub fn go<S: Deref<Target = Scenario>>(
        &mut self,
        prepared: &mut Prepared<S>,
        gates: &[Gate],
        wakes: &[File],
    ) -> Result<Ended, Failure> {
        if self.origin.is_none() {
            self.origin = Some(Instant::now());
        }
        let mut buffer = vec![0; 1 << 16];
        let empty_at = self.now();
        let mut entries: Vec<_> = gates.iter().map(|gate| Entry { gate, empty_at, is_empty: true }).collect();
        let files = wakes.iter().chain(gates.iter().map(|gate| &gate.device));
        let mut waiting = Waiting::new(files);
        loop {
            for (file, entry) in (wakes.len()..).zip(&mut entries) {
                if waiting.is_ready(file) {
                    self.read(prepared, gates, entry, &mut buffer).map_err(Failure::Run)?;
                }
            }
            self.step(prepared, gates, self.now()).map_err(Failure::Run)?;
            if prepared.world().now() >= prepared.end() {
                return Ok(Ended::Duration);
            }
            let next = prepared.world().next_deadline().unwrap_or(Time::MAX).min(prepared.end());
            let until_shown = self.show(prepared.world());
            let wait = self.real(next.since(self.now())).min(until_shown).saturating_sub(self.margin.0);
            let asleep = Instant::now();
            match waiting.wait(wait) {
                Ok(0) if !wait.is_zero() => self.margin.overslept(asleep.elapsed().saturating_sub(wait)),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Wait(error)),
            }
            if (0..wakes.len()).any(|file| waiting.is_ready(file)) {
                return Ok(Ended::Woken);
            }
            let now = self.now();
            for (file, entry) in (wakes.len()..).zip(&mut entries) {
                // A packet that ends a sleep has just come.
                if !waiting.is_ready(file) || !wait.is_zero() && entry.is_empty {
                    entry.empty_at = now;
                }
            }
        }
    }

    /// Puts in what has come to a device.
    fn read<S: Deref<Target = Scenario>>(
        &mut self,
        prepared: &mut Prepared<S>,
        gates: &[Gate],
        entry: &mut Entry<'_>,
        buffer: &mut [u8],
    ) -> Result<(), RunError> {
        entry.is_empty = false;
        for _ in 0..READ_AT_ONCE {
            match (&entry.gate.device).read(buffer) {
                Ok(length @ 1..) => {
                    let now = self.now();
                    self.waits.add(self.real_ns(now.since(entry.empty_at)));
                    self.step(prepared, gates, now)?;
                    prepared.world().inject(entry.gate.node, &buffer[..length]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Nothing more, or the device is gone: then its program has ended, which somebody else tells.
                Ok(0) | Err(_) => {
                    (entry.empty_at, entry.is_empty) = (self.now(), true);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Does what is due, and writes what leaves.
    fn step<S: Deref<Target = Scenario>>(
        &mut self,
        prepared: &mut Prepared<S>,
        gates: &[Gate],
        to: Time,
    ) -> Result<(), RunError> {
        prepared.step(to)?;
        while let Some(emitted) = prepared.world().poll_emitted() {
            let Some(gate) = gates.iter().find(|gate| gate.node == emitted.node) else { continue };
            match (&gate.device).write(&emitted.octets) {
                Ok(length) if length == emitted.octets.len() => {
                    self.lateness.add(self.real_ns(self.now().since(emitted.at)));
                }
                Ok(_) | Err(_) => self.unwritten += 1,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
