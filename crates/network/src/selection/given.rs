//! Policies of another crate: what they are told of a node's interfaces, and what makes them.

use roamsim_engine::Time;
use std::fmt;
use std::sync::Arc;

/// What an interface is from the beginning to the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its link or cell.
    pub name: Arc<str>,
    /// The section of the scenario that it is in, such as `wifi`.
    pub technology: &'static str,
    /// The nominal rate to the node, if there is one.
    pub rate_bps: Option<u64>,
    /// Its price per 10^6 octets of IP, if it has one.
    pub cost_per_mb: Option<f64>,
}

/// What an interface is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Whether it is up.
    pub up: bool,
    /// Since when it is, or is not.
    pub since: Time,
    /// Whether it is the selected one.
    pub selected: bool,
    /// Its signal as it was reported last, if it was.
    pub signal_dbm: Option<f64>,
    /// Its link has announced its end.
    pub going_down: bool,
}

/// A policy of another crate.
pub trait Chooser: fmt::Debug + Send + Sync {
    /// The interface that it prefers now, of those that are up; `None`: the selected one stays.
    fn choose(&mut self, now: Time, interfaces: &[State]) -> Option<usize>;
}

/// Makes the policy of a node that has these interfaces.
pub type Make = dyn Fn(&[Described]) -> Box<dyn Chooser> + Send + Sync;

/// What makes the policy of each node.
#[derive(Clone)]
pub struct ChooserMaker(Arc<Make>);

impl ChooserMaker {
    /// One that calls this.
    pub fn new(make: impl Fn(&[Described]) -> Box<dyn Chooser> + Send + Sync + 'static) -> ChooserMaker {
        ChooserMaker(Arc::new(make))
    }

    /// The policy of a node that has these interfaces.
    pub fn make(&self, interfaces: &[Described]) -> Box<dyn Chooser> {
        (self.0)(interfaces)
    }
}

impl fmt::Debug for ChooserMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChooserMaker").finish()
    }
}
