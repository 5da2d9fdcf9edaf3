//! How much memory this process has, and how much it may have.
//!
//! Linux tells both. Elsewhere nothing is known, and there is no limit.

use pyo3::prelude::*;
use std::fs;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What was asked for; zero for the default.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// The share of the machine's memory that a process may have unless told otherwise. Chosen: the rest is for the tables
/// that a run ends with, and for others.
const SHARE: (u64, u64) = (3, 4);

/// Sets the limit, in octets; zero for the default.
pub(crate) fn limit(bytes: u64) {
    ASKED.store(bytes, Ordering::Relaxed);
}

/// The limit in octets, if there is one.
pub(crate) fn limit_bytes() -> Option<u64> {
    match ASKED.load(Ordering::Relaxed) {
        0 => MACHINE_BYTES.map(|bytes| bytes / SHARE.1 * SHARE.0),
        bytes => Some(bytes),
    }
}

/// What [`machine_bytes`] says, read once: a short run takes less than reading it.
static MACHINE_BYTES: LazyLock<Option<u64>> = LazyLock::new(machine_bytes);

/// Memory of the machine, or of the control group that this process is in, if that has less.
fn machine_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
    });
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok())
        .min();
    machine.into_iter().chain(group).min()
}

/// The octets that this process has in memory.
pub(crate) fn used_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Lets the allocator give back what it keeps of earlier runs, where that is much beside the limit: it would be taken for
/// what the next run has. Only the C library of GNU keeps that much, and can be asked.
pub(crate) fn give_back(py: Python<'_>) {
    if used_bytes().zip(limit_bytes()).is_some_and(|(used, limit)| used > limit / 2) {
        let trimmed = || -> PyResult<()> {
            let library = py.import("ctypes")?.call_method1("CDLL", (py.None(),))?;
            library.call_method1("malloc_trim", (0,)).map(drop)
        };
        // Where it cannot be asked, nothing is given back.
        drop(trimmed());
    }
}

/// Octets in words: "12.3 GB".
pub(crate) fn in_words(bytes: u64) -> String {
    let (unit, name) = match bytes {
        1_000_000_000.. => (1e9, "GB"),
        1_000_000.. => (1e6, "MB"),
        _ => (1e3, "kB"),
    };
    format!("{:.1} {name}", bytes as f64 / unit)
}
