//! How much memory this process has, and how much it may have.
//!
//! Linux tells both. Elsewhere nothing is known, and there is no limit.

use pyo3::prelude::*;
use std::fs::{self, File};
use std::io::Read;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What was asked for; zero for the default.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// The share of the machine's memory that a process may have unless told otherwise. Chosen: the rest is for
/// the tables that a run ends with, and for others.
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
    let machine = told_bytes("/proc/meminfo", "MemTotal:");
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok())
        .min();
    machine.into_iter().chain(group).min()
}

/// The octets that this process has in memory.
pub(crate) fn used_bytes() -> Option<u64> {
    // Who may not read how large a page is reads of kilobytes.
    PAGE_BYTES.and_then(pages_bytes).or_else(|| told_bytes("/proc/self/status", "VmRSS:"))
}

/// Octets of a line of a file of the system, which has them in "kB".
fn told_bytes(file: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The same by `statm`, which has it in pages (proc_pid_statm(5)), and is read several times sooner than
/// `status`, which has much else to say.
fn pages_bytes(page_bytes: u64) -> Option<u64> {
    // Seven numbers; one call reads them all.
    let mut text = [0; 256];
    let length = File::open("/proc/self/statm").ok()?.read(&mut text).ok()?;
    let pages = str::from_utf8(&text[..length]).ok()?.split(' ').nth(1)?;
    Some(pages.parse::<u64>().ok()? * page_bytes)
}

/// Octets of a page of memory: the entry AT_PAGESZ (6) of what the system told the process as it began
/// (proc_pid_auxv(5)).
static PAGE_BYTES: LazyLock<Option<u64>> = LazyLock::new(|| {
    const AT_PAGESZ: usize = 6;
    let octets = fs::read("/proc/self/auxv").ok()?;
    let word = |octets: &[u8]| octets.try_into().ok().map(usize::from_ne_bytes);
    let mut entries =
        octets.chunks_exact(2 * size_of::<usize>()).map(|entry| entry.split_at(size_of::<usize>()));
    entries
        .find(|&(kind, _)| word(kind) == Some(AT_PAGESZ))
        .and_then(|(_, value)| word(value))
        .map(|bytes| bytes as u64)
});

/// Lets the allocator give back what it keeps of earlier runs, where that is much beside the limit: it would
/// be taken for what the next run has. Only the C library of GNU keeps that much, and can be asked. Gives
/// what the process has then.
pub(crate) fn give_back(py: Python<'_>) -> u64 {
    let used = used_bytes();
    if used.zip(limit_bytes()).is_some_and(|(used, limit)| used > limit / 2) {
        let trimmed = || -> PyResult<()> {
            let library = py.import("ctypes")?.call_method1("CDLL", (py.None(),))?;
            library.call_method1("malloc_trim", (0,)).map(drop)
        };
        // Where it cannot be asked, nothing is given back.
        drop(trimmed());
        return used_bytes().unwrap_or(0);
    }
    used.unwrap_or(0)
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
