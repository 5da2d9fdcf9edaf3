//! What a selection counts.

use roamsim_engine::{Span, Time};

/// Why another interface was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the first one.
    First,
    /// None was up before.
    Regained,
    /// The one before has gone down.
    Lost,
    /// The policy prefers it.
    Preferred,
}

impl Reason {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Reason::First => "first",
            Reason::Regained => "regained",
            Reason::Lost => "lost",
            Reason::Preferred => "preferred",
        }
    }
}

/// A change of the selected interface; interfaces are places among the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// When.
    pub time: Time,
    /// The one that was selected.
    pub from: Option<usize>,
    /// The one that is.
    pub to: Option<usize>,
    /// Why.
    pub reason: Reason,
    /// Whether the node comes back too soon to where it was before.
    pub ping_pong: bool,
    /// How long the one before was selected, or none was.
    pub stay: Span,
}

impl Switch {
    /// Whether it leads from one interface to another.
    pub fn is_between_interfaces(&self) -> bool {
        self.from.is_some() && self.to.is_some()
    }
}

/// Times of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// How often it was selected.
    pub selections: u64,
    /// How long, all together.
    pub selected: Span,
    /// How long it was up.
    pub up: Span,
    /// How long it was both.
    pub active: Span,
}

/// What a radio draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Watts while it is up and not selected.
    pub up_w: f64,
    /// Watts while it is up and selected.
    pub selected_w: f64,
    /// Joules for 10^6 octets of IP either way, on top of that.
    pub j_per_mb: f64,
}
