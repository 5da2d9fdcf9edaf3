//! Waiting for devices: by `poll` of Linux. No device exists elsewhere, so waiting fails there.

use std::fs::File;
use std::io;
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The files that one waits for, and which of them are readable.
#[cfg(target_os = "linux")]
pub(crate) struct Waiting<'a>(Vec<PollFd<'a>>);

#[cfg(target_os = "linux")]
impl<'a> Waiting<'a> {
    pub(crate) fn new(files: impl Iterator<Item = &'a File>) -> Waiting<'a> {
        // The kernel wakes a thread up to 50 us late otherwise. If it refuses, lateness shows it.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        Waiting(files.map(|file| PollFd::new(file, PollFlags::IN)).collect())
    }

    /// Whether the last wait found this file readable, or its other end gone.
    pub(crate) fn is_ready(&self, file: usize) -> bool {
        !self.0[file].revents().is_empty()
    }

    /// Waits until a file is readable, but no longer than this: how many are. A signal is an error of kind
    /// `Interrupted`.
    pub(crate) fn wait(&mut self, most: Duration) -> io::Result<usize> {
        let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos() as _ };
        Ok(poll(&mut self.0, Some(&timeout))?)
    }
}

/// No files.
#[cfg(not(target_os = "linux"))]
pub(crate) struct Waiting;

#[cfg(not(target_os = "linux"))]
impl Waiting {
    pub(crate) fn new<'a>(_: impl Iterator<Item = &'a File>) -> Waiting {
        Waiting
    }

    pub(crate) fn is_ready(&self, _: usize) -> bool {
        false
    }

    pub(crate) fn wait(&mut self, _: Duration) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a run by the clock needs Linux"))
    }
}
