//! Logs that endpoints write of themselves. Their libraries keep no errors of writing, so these files do.

use roamsim_network::socket::endpoint::LogFile;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The logs of a run, by their names.
#[derive(Default)]
pub(crate) struct Logs(Vec<(String, Log)>);

impl Logs {
    /// Hands out a file under this name, or says which one could not be made.
    pub(crate) fn keep(&mut self, name: &str, file: io::Result<LogFile>) -> io::Result<LogFile> {
        let file = file.map_err(|error| of_log(name, &error))?;
        let log = Log(Arc::new(Mutex::new(File { file, failure: None })));
        self.0.push((name.to_owned(), log.clone()));
        Ok(Box::new(log))
    }

    /// Ends the logs: the first error that writing met, if any.
    pub(crate) fn finish(self) -> io::Result<()> {
        for (name, log) in self.0 {
            let mut log = log.lock();
            let ended = match log.failure.take() {
                Some(error) => Err(error),
                None => log.file.flush(),
            };
            ended.map_err(|error| of_log(&name, &error))?;
        }
        Ok(())
    }
}

fn of_log(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}

struct File {
    file: LogFile,
    failure: Option<io::Error>,
}

/// Shared between the library, which writes, and the run, which ends it.
#[derive(Clone)]
struct Log(Arc<Mutex<File>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, File> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Log {
    /// Takes everything; nothing is written after an error.
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let mut log = self.lock();
        if log.failure.is_none() {
            log.failure = log.file.write_all(octets).err();
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut log = self.lock();
        if log.failure.is_none() {
            log.failure = log.file.flush().err();
        }
        Ok(())
    }
}
