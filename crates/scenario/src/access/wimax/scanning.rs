//! Scanning by connected stations of an 802.16 cell.

use roamsim_engine::Span;
use roamsim_network::link::wimax::ScanConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::report::{Report, Step, join};
use crate::units;

/// Scanning by a connected station (IEEE Std 802.16e-2005 section 6.3.22.1.2). It listens on the channels of
/// its other `[[wimax]]`, and its packets wait.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scanning {
    /// A scan interval, up to 255 whole frames (IEEE Std 802.16e-2005 section 6.3.2.3.48). Left out: 50
    /// frames, as in NIST's simulations of its mobility package.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub duration: Option<Span>,
    /// Time between two scan intervals, 1 to 255 whole frames. Left out: 50 frames, as in NIST's simulations.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub interleaving_interval: Option<Span>,
    /// Scan intervals of a scan, 1 to 255. Default: as in NIST's simulations.
    #[serde(default = "default_iterations")]
    #[schemars(range(min = 1, max = 255))]
    pub iterations: u32,
    /// Time from Link_Up, or the end of a scan, to the next. Left out: a station scans when its link is going
    /// down.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub every: Option<Span>,
    /// T44: waits for MOB_SCN-RSP. Default: as in NIST's simulations; the standard has no value (IEEE Std
    /// 802.16e-2005 table 342).
    #[serde(default = "default_t44", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub t44: Span,
    /// Repetitions of MOB_SCN-REQ. Default: 3, as there.
    #[serde(default = "default_retries")]
    pub retries: u32,
    /// With `radio`: how much stronger another cell must be, in dB. Without: the station's `hysteresis`.
    /// Default chosen: as for stations of 802.11.
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
                "this is 1 to 255 frames of {}: MOB_SCN-REQ has eight bits (IEEE Std 802.16e-2005 section 6.3.2.3.48)",
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
        let message =
            "this is 1 to 255: MOB_SCN-REQ has eight bits (IEEE Std 802.16e-2005 section 6.3.2.3.48)";
        refuse("iterations", message, "write a number from 1 to 255; 2 is the default");
    }
    if scanning.every.is_some_and(|every| every < SHORTEST_EVERY) {
        let help = "write a longer time, such as \"2s\", or leave it out";
        refuse("every", "a station that always scans has no time for data", help);
    }
    if scanning.t44 < frame + frame {
        let message = "a request and its answer take two frames";
        refuse("t44", message, "write a longer time, such as \"100ms\"");
    }
    if !(0.0..=100.0).contains(&scanning.hysteresis_db) {
        refuse(
            "hysteresis_db",
            "a signal is never so much stronger",
            "write a number from 0 to 100; 5 is usual",
        );
    }
}
