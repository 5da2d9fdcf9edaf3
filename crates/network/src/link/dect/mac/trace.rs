//! A readable account of a run: one line a transition and an attempt.

use super::resource::Channel;
use super::state::Terminal;
use std::fmt::{self, Write};

/// The account; off, it costs a test.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub text: Option<String>,
}

impl Trace {
    /// Whether it is on.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.text.is_some()
    }

    /// Adds a line on a terminal, if the trace is on.
    #[cold]
    pub fn line(&mut self, frame: u64, terminal: &Terminal, what: fmt::Arguments<'_>) {
        if let Some(text) = &mut self.text {
            let who = format!("{} {}", terminal.kind.name(), terminal.call);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{frame:>8}  {who:<10} {what}");
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RFP {} carrier {} slot pair {}", self.rfp, self.carrier(), self.slot_pair())?;
        if self.format == super::resource::SlotFormat::Half {
            write!(f, " half {}", self.first_unit % 2)?;
        }
        Ok(())
    }
}
