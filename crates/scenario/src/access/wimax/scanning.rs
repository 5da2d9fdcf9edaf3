//! Scanning by connected stations of an 802.16 cell.

use roamsim_engine::Span;
use roamsim_network::link::wimax::ScanConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::report::{Report, Step, join};
use crate::units;

/// Scanning by a connected station (IEEE Std 802.16e-2005 section 6.3.22.1.2). In scan intervals it listens
/// on the channels of the other `[[wimax]]` that it is a station of, and its packets wait.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scanning {
    /// How long a scan interval is, in whole frames, 255 at most (IEEE Std 802.16e-2005 section 6.3.2.3.48).
    /// Left out: 50 frames, as in NIST's simulations of its mobility package.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub duration: Option<Span>,
    /// The time between two scan intervals, in which packets go on, in whole frames, from 1 to 255 (IEEE Std
    /// 802.16e-2005 section 6.3.2.3.48). Left out: 50 frames, as there.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub interleaving_interval: Option<Span>,
    /// Scan intervals of a scan, from 1 to 255 (IEEE Std 802.16e-2005 section 6.3.2.3.48). Default: 2, as
    /// there.
    #[serde(default = "default_iterations")]
    #[schemars(range(min = 1, max = 255))]
    pub iterations: u32,
    /// From a Link_Up, or the end of a scan, to the next scan. Left out: a station scans when its link is
    /// going down.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub every: Option<Span>,
    /// T44: waits for MOB_SCN-RSP. Default: 100ms, as there; the standard has no value (IEEE Std 802.16e-2005
    /// table 342).
    #[serde(default = "default_t44", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t44: Span,
    /// Repetitions of MOB_SCN-REQ. Default: 3, as there.
    #[serde(default = "default_retries")]
    pub retries: u32,
    /// With `radio`: a station changes to a cell whose signal is stronger by more than that. Without, the
    /// `hysteresis` of the station says how much nearer. Default chosen: 5, as of stations of 802.11.
    #[serde(default = "default_hysteresis_db")]
    pub hysteresis_db: f64,
}

fn default_iterations() -> u32 {
    2
}

fn default_t44() -> Span {
    Span::from_ms(100)
}

fn default_retries() -> u32 {
    3
}

fn default_hysteresis_db() -> f64 {
    5.0
}

/// Intervals that are left out, in frames.
const USUAL_FRAMES: u64 = 50;

/// Frames of an interval have eight bits.
const MOST_FRAMES: u64 = 255;

/// Shorter intervals are more steps than packets.
const SHORTEST_EVERY: Span = Span::from_ms(10);

fn frames(time: Option<Span>, frame: Span) -> u64 {
    time.map_or(USUAL_FRAMES, |time| time.as_ns().div_ceil(frame.as_ns().max(1)))
}

impl Scanning {
    /// The settings of the machine, with frames of this duration.
    pub(super) fn config(&self, frame: Span) -> ScanConfig {
        let &Scanning { duration, interleaving_interval, iterations, every, t44, retries, hysteresis_db: _ } =
            self;
        ScanConfig {
            duration: frames(duration, frame),
            interleaving: frames(interleaving_interval, frame),
            iterations: u64::from(iterations),
            every,
            t44,
            retries,
        }
    }
}

/// Checks scanning whose keys are under `at`.
pub(super) fn check(at: &[Step], frame: Span, scanning: &Scanning, report: &mut Report<'_>) {
    let mut refuse =
        |key: &'static str, message: &str, help: &str| report.add(&join(at, [key]), message, help);
    let intervals =
        [("duration", scanning.duration), ("interleaving_interval", scanning.interleaving_interval)];
    for (key, time) in intervals {
        if !(1..=MOST_FRAMES).contains(&frames(time, frame)) {
            let message = format!(
                "MOB_SCN-REQ has eight bits for it (IEEE Std 802.16e-2005 section 6.3.2.3.48): 1 to 255 frames of {}",
                units::time_text(frame)
            );
            let help = format!(
                "write a time from \"{}\" to \"{}\"",
                units::time_text(frame),
                units::time_text(frame * MOST_FRAMES)
            );
            refuse(key, &message, &help);
        }
    }
    if !(1..=MOST_FRAMES).contains(&u64::from(scanning.iterations)) {
        let message = "MOB_SCN-REQ has eight bits for it (IEEE Std 802.16e-2005 section 6.3.2.3.48)";
        refuse("iterations", message, "write a number from 1 to 255; 2 is the default");
    }
    if scanning.every.is_some_and(|every| every < SHORTEST_EVERY) {
        let help = "write a longer time, such as \"2s\", or leave it out";
        refuse("every", "a station that does nothing but scan gets nothing done", help);
    }
    if scanning.t44 < frame + frame {
        let message = "a request and its answer take two frames";
        refuse("t44", message, "write a longer time, such as \"100ms\"");
    }
    if !(0.0..=100.0).contains(&scanning.hysteresis_db) {
        refuse(
            "hysteresis_db",
            "a signal is never so much stronger",
            "write a number from 0 to 100; 5 are usual",
        );
    }
}
