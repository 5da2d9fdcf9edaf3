//! What is wrong with a video by itself.

use roamsim_engine::Span;

use super::build;
use super::model::Video;
use crate::files::Fault;
use crate::files::frames::Trace;
use crate::report::{Report, Step, join};

/// What leaves at one instant is in memory at one instant.
const MAX_PACKETS_OF_A_FRAME: u64 = 10_000;

pub(crate) fn check(at: &[Step], video: &Video, report: &mut Report<'_>) {
    let largest_bytes = match (video.film, &video.trace, video.recorded()) {
        (Some(name), None, None) => {
            check_no_trace(at, video, report);
            Some(u64::from(build::film(name).bounds_bytes.1))
        }
        (None, None, Some(recorded)) => check_trace(at, video, recorded, report),
        (None, None, None) => {
            let help = "write `film = \"star_wars_iv_high\"`, or `trace = \"film.txt\"` for a file of frames";
            report.add(at, "a video needs a `film` or a `trace`", help);
            None
        }
        (Some(_), ..) => {
            report.add(&join(at, ["film"]), "`film` and `trace` exclude each other", "write one of them");
            None
        }
        // The file of a scenario that came without a folder.
        (None, Some(_), _) => {
            let help = "write `content`, the lines of the file, or read the scenario from a file beside it";
            report.add(&join(at, ["trace"]), "this file was not read", help);
            None
        }
    };
    let packet_bytes = video.packet_size_bytes;
    if let Some(largest_bytes) = largest_bytes
        && packet_bytes > 0
        && largest_bytes.div_ceil(packet_bytes) > MAX_PACKETS_OF_A_FRAME
    {
        let message = format!(
            "the largest frame, of {largest_bytes} B, would be more than {MAX_PACKETS_OF_A_FRAME} packets"
        );
        report.add(&join(at, ["packet_size"]), message, "write a larger size, such as \"1000B\"");
    }
    if video.playout_delay == Span::ZERO {
        let help = "write a time above zero; whoever watches a film waits for a second or more";
        report.add(&join(at, ["playout_delay"]), "this time must be above zero", help);
    }
}

/// Refuses the keys of a trace beside a film.
fn check_no_trace(at: &[Step], video: &Video, report: &mut Report<'_>) {
    let keys = [
        ("repeat", video.repeat, "a film that is drawn has no end"),
        ("frame_interval", video.frame_interval.is_some(), "a film has its own"),
        ("group_of_pictures", video.group_of_pictures.is_some(), "a film has its own"),
    ];
    for (key, written, why) in keys {
        if written {
            let message = format!("`{key}` is for a trace: {why}");
            report.add(&join(at, [key]), message, "leave it out, or write `trace` instead of `film`");
        }
    }
}

/// Checks a trace; returns the octets of its largest frame.
fn check_trace(
    at: &[Step],
    video: &Video,
    recorded: Result<&Trace, &Fault>,
    report: &mut Report<'_>,
) -> Option<u64> {
    let trace = match recorded {
        Ok(trace) => trace,
        Err(Fault { message, help, .. }) => {
            report.add(&join(at, ["content"]), message, help);
            return None;
        }
    };
    if let Some(group) = &video.group_of_pictures {
        let steps = join(at, ["group_of_pictures"]);
        if trace.verbose {
            report.add(
                &steps,
                "this trace already has the type of each frame",
                "leave `group_of_pictures` out",
            );
        } else if build::group(group).is_none() {
            let message = "a group of pictures begins with I, and goes on with I, P and B";
            report.add(&steps, message, "write letters without spaces, such as \"IBBPBBPBBPBB\"");
        }
    }
    if let Some(interval) = video.frame_interval {
        let steps = join(at, ["frame_interval"]);
        if trace.verbose {
            report.add(&steps, "this trace already has the time of each frame", "leave `frame_interval` out");
        } else if interval == Span::ZERO {
            report.add(&steps, "frames without time between them never end", "write a time above zero");
        }
    }
    trace.frames.iter().map(|frame| u64::from(frame.bytes)).max()
}
