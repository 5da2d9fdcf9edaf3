//! Files of motion: ns-2 `setdest` and BonnMotion.
//!
//! They come from outside, so every line is doubted. What is wrong is told with the file, the line and what to do.

pub mod bonnmotion;
pub mod setdest;

use roamsim_engine::{Span, Time};
use roamsim_network::mobility::Trajectory;
use std::ops::Range;

/// What a file says of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// Where the node is at each time.
    pub trajectory: Trajectory,
    /// The lines of the file that are about the node, and no others.
    pub lines: String,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The octets of the file that it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// The longest run is 292 years; a file's times stay below a tenth of that.
const LATEST_S: f64 = 9e8;
/// No coordinate of a file is further out, in metres: the circumference of the Earth.
const FURTHEST_M: f64 = 4.1e7;

/// An instant of a file, in seconds; `None` when it is none.
fn instant(text: &str) -> Option<Time> {
    let s: f64 = text.parse().ok()?;
    (0.0..=LATEST_S).contains(&s).then(|| Time::ZERO + Span::from_secs_f64(s))
}

/// A coordinate of a file, in metres; `None` when it is none.
fn coordinate(text: &str) -> Option<f64> {
    let m: f64 = text.parse().ok()?;
    (-FURTHEST_M..=FURTHEST_M).contains(&m).then_some(m)
}

/// The lines of a text with the place of each, without what ends them.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let place = start..start + line.trim_end().len();
        start += line.len();
        (place, line.trim_end())
    })
}
