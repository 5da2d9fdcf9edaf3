//! Threads that work off runs, and one that watches over them: their memory, and how far they are.

use crate::law::Laws;
use crate::memory;
use crate::result::Cost;
use cpu_time::ThreadTime;
use pyo3::Python;
use roamsim_scenario::Scenario;
use roamsim_scenario::run::{
    Captured, LogMaker, Options, Outcome, Prepared, RunError, Sink, Trace, Watch, prepare,
};
use roamsim_scenario::table::Table;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often memory and signals are looked at: soon enough for a person at the keyboard, and for a run that
/// takes some GB a second.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// Runs that are over and not yet taken, a thread: threads are ahead of who takes them by no more, or short
/// runs would fill the memory (chosen: enough that none waits where the taker is quicker in the mean).
const AHEAD: usize = 8;

/// How long the end of a crew waits for its threads to leave the interpreter.
const PATIENCE: Duration = Duration::from_secs(1);

/// A finished run and what it took, or why it failed.
pub(crate) type Finished = Result<(Outcome, Cost), String>;

/// What a run says, with its number before it.
pub(crate) enum Said {
    /// Rows of a trace; its next ones come when the sender has been told that these are dealt with.
    Rows(Table, SyncSender<()>),
    /// It is over.
    Finished(Box<Finished>),
}

/// A run to be made.
pub(crate) struct Job {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) seed: u64,
    pub(crate) replication: u64,
    pub(crate) trace: Trace,
    pub(crate) fingerprints: bool,
    pub(crate) capture: Mutex<Option<Box<dyn Write + Send>>>,
    pub(crate) captured: Captured,
    pub(crate) logs: Mutex<Option<LogMaker>>,
    /// Whether rows of traces are said while the run goes on.
    pub(crate) rows: bool,
    /// As of [`Options`].
    pub(crate) rows_at_once: Option<usize>,
    pub(crate) series: bool,
}

/// What the threads share.
struct Shared {
    jobs: Vec<Job>,
    next: AtomicUsize,
    /// Of each job that is at work.
    watches: Mutex<Vec<Option<Arc<Watch>>>>,
    /// Runs that are over.
    over: AtomicUsize,
    cancelled: Watch,
    /// The memory that was too much; zero if none was.
    too_much: AtomicU64,
    /// The memory that the process had before.
    had_bytes: u64,
    /// Whether runs call classes in Python.
    calls_python: bool,
}

/// Runs at work.
pub(crate) struct Crew {
    shared: Arc<Shared>,
    said: Mutex<Receiver<(usize, Said)>>,
    threads: Vec<JoinHandle<()>>,
    watched: Once,
}

/// The run alone, which is what is timed: by the name of this function callgrind finds it
/// (`benches/counts.py`).
#[inline(never)]
fn counted_run(prepared: &mut Prepared<&Scenario>) -> Result<(), RunError> {
    prepared.run()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew {
    /// Begins the runs on so many threads. `had_bytes` is the memory that the process has before.
    pub(crate) fn begin(jobs: Vec<Job>, threads: usize, had_bytes: u64) -> Crew {
        let calls_python = jobs.iter().any(|job| job.scenario.calls_programs());
        let shared = Arc::new(Shared {
            calls_python,
            watches: Mutex::new(jobs.iter().map(|_| None).collect()),
            jobs,
            next: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
            cancelled: Watch::default(),
            too_much: AtomicU64::new(0),
            had_bytes,
        });
        let threads = threads.clamp(1, 256).min(shared.jobs.len());
        let (sender, said) = sync_channel(AHEAD * threads);
        let worker = |_| {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            thread::spawn(move || match shared.calls_python {
                // The thread is known to the interpreter from here on: each call would make it known anew.
                true => Python::attach(|py| py.detach(|| shared.work(&sender))),
                false => shared.work(&sender),
            })
        };
        let threads = (0..threads).map(worker).collect();
        let crew = Crew { shared, said: Mutex::new(said), threads, watched: Once::new() };
        if crew.count() > 1 {
            crew.watch_memory();
        }
        crew
    }

    /// Begins to watch over memory. A single run is watched when it has not ended soon: a thread costs as
    /// much as a short run.
    fn watch_memory(&self) {
        self.watched.call_once(|| {
            if let Some(limit_bytes) = memory::limit_bytes() {
                let shared = Arc::clone(&self.shared);
                thread::spawn(move || shared.watch_memory(limit_bytes));
            }
        });
    }

    /// How many runs there are.
    pub(crate) fn count(&self) -> usize {
        self.shared.jobs.len()
    }

    /// What a run says next, or why there is nothing yet.
    pub(crate) fn receive(&self) -> Result<(usize, Said), RecvTimeoutError> {
        let said = lock(&self.said).recv_timeout(INTERVAL);
        if !matches!(said, Ok((_, Said::Finished(_)))) {
            self.watch_memory();
        }
        said
    }

    /// The runs at work, each counted by the share of its simulated time that is over.
    pub(crate) fn under_way(&self) -> f64 {
        let watches = lock(&self.shared.watches);
        let share = |(watch, job): (&Option<Arc<Watch>>, &Job)| {
            let end_s = job.scenario.general.duration.as_secs_f64();
            Some((watch.as_ref()?.now().as_secs_f64() / end_s).min(1.0))
        };
        watches.iter().zip(&self.shared.jobs).filter_map(share).sum()
    }

    /// Begins no further run, and stops those at work.
    pub(crate) fn cancel(&self) {
        self.shared.stop();
    }
}

impl Shared {
    fn stop(&self) {
        self.cancelled.stop();
        lock(&self.watches).iter().flatten().for_each(|watch| watch.stop());
    }

    /// Works off runs. Those that are not begun because others took too much memory end with an error too.
    fn work(&self, sender: &SyncSender<(usize, Said)>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(number) else { break };
            let watch = Arc::new(Watch::default());
            lock(&self.watches)[number] = Some(Arc::clone(&watch));
            // It may have been cancelled before the watch was there.
            let finished = if self.cancelled.stopped() {
                Err(self.not_begun())
            } else {
                self.run(job, number, watch, sender)
            };
            lock(&self.watches)[number] = None;
            self.over.fetch_add(1, Ordering::Relaxed);
            if sender.send((number, Said::Finished(Box::new(finished)))).is_err() {
                break;
            }
        }
    }

    /// One run, timed. A fault of the simulator is reported, not passed on as a panic.
    fn run(
        &self,
        job: &Job,
        number: usize,
        watch: Arc<Watch>,
        sender: &SyncSender<(usize, Said)>,
    ) -> Finished {
        let laws = Laws::new(&watch);
        let options = Options {
            laws: laws.makers(&job.scenario),
            policies: laws.choosers(&job.scenario),
            seed: job.seed,
            replication: job.replication,
            trace: job.trace,
            fingerprints: job.fingerprints,
            capture: lock(&job.capture).take(),
            captured: job.captured.clone(),
            logs: lock(&job.logs).take(),
            sink: job.rows.then(|| say_rows(number, sender.clone(), Arc::clone(&watch))),
            rows_at_once: job.rows_at_once,
            series: job.series,
            watch,
        };
        let work = || -> Result<(Outcome, Cost), RunError> {
            let begun = Instant::now();
            let mut prepared = prepare(&*job.scenario, options)?;
            let (wall, cpu) = (Instant::now(), ThreadTime::now());
            counted_run(&mut prepared)?;
            let cost = Cost {
                build_s: wall.duration_since(begun).as_secs_f64(),
                wall_s: wall.elapsed().as_secs_f64(),
                cpu_s: cpu.elapsed().as_secs_f64(),
            };
            Ok((prepared.finish()?, cost))
        };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(finished) => match laws.failure() {
                Some(failure) => Err(failure),
                None => finished.map_err(|error| self.explain(&error)),
            },
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
                Err(format!("a fault of the simulator, please report it: {}", text.unwrap_or_default()))
            }
        }
    }

    fn explain(&self, error: &RunError) -> String {
        match (error, self.too_much.load(Ordering::Relaxed)) {
            (RunError::Stopped(reached), too_much @ 1..) => format!(
                "it takes too much memory: {} ({} before it began), where --max-memory allows {}; {reached}. Shorten it, \
                 trace less, bound queues, or raise the limit",
                memory::in_words(too_much),
                memory::in_words(self.had_bytes),
                memory::in_words(memory::limit_bytes().unwrap_or(0)),
            ),
            _ => error.to_string(),
        }
    }

    fn not_begun(&self) -> String {
        match self.too_much.load(Ordering::Relaxed) {
            0 => "it was not begun".to_owned(),
            too_much => format!(
                "it was not begun: those at work took too much memory, {} ({} before they began), where --max-memory \
                 allows {}. Run fewer at a time (--jobs), or raise the limit",
                memory::in_words(too_much),
                memory::in_words(self.had_bytes),
                memory::in_words(memory::limit_bytes().unwrap_or(0)),
            ),
        }
    }

    /// Stops all runs when the process has too much memory: which of them takes it is not known.
    fn watch_memory(&self, limit_bytes: u64) {
        while self.over.load(Ordering::Relaxed) < self.jobs.len() && !self.cancelled.stopped() {
            if let Some(used) = memory::used_bytes().filter(|used| *used > limit_bytes) {
                self.too_much.store(used, Ordering::Relaxed);
                return self.stop();
            }
            thread::sleep(INTERVAL);
        }
    }
}

/// Says rows of a trace, when the ones before are dealt with: two tables of a run are in memory at most, one
/// that waits and one at work.
fn say_rows(number: usize, sender: SyncSender<(usize, Said)>, watch: Arc<Watch>) -> Sink {
    let mut before: Option<Receiver<()>> = None;
    Box::new(move |table| {
        if let Some(before) = before.take() {
            loop {
                match before.recv_timeout(INTERVAL) {
                    Ok(()) => break,
                    Err(RecvTimeoutError::Timeout) if !watch.stopped() => {}
                    Err(_) => return false,
                }
            }
        }
        let (dealt_with, wait) = sync_channel(1);
        before = Some(wait);
        sender.send((number, Said::Rows(table, dealt_with))).is_ok()
    })
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.cancel();
        // Who waits for room to say something is told that nobody listens.
        self.said = Mutex::new(sync_channel(0).1);
        if self.shared.calls_python {
            // A thread must not come back to an interpreter that has ended. A class that never returns is not
            // waited for.
            let ended = || self.threads.iter().all(JoinHandle::is_finished);
            let begun = Instant::now();
            Python::attach(|py| {
                py.detach(|| {
                    while !ended() && begun.elapsed() < PATIENCE {
                        thread::sleep(Duration::from_millis(1));
                    }
                });
            });
        }
        if self.shared.too_much.load(Ordering::Relaxed) > 0 {
            // Whoever runs something next needs the memory.
            self.threads.drain(..).for_each(|thread| drop(thread.join()));
        }
    }
}
