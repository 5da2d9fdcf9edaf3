//! What is wrong with a video by itself.

use roamsim_engine::Span;

use super::build;
use super::model::Video;
use crate::validate::{Report, Step, join};

/// What leaves at one instant is in memory at one instant.
const MAX_PACKETS_OF_A_FRAME: u64 = 10_000;

pub(crate) fn check(at: &[Step], video: &Video, report: &mut Report<'_>) {
    let largest_bytes = u64::from(build::film(video.film).bounds_bytes.1);
    let packet_bytes = video.packet_size_bytes;
    if packet_bytes > 0 && largest_bytes.div_ceil(packet_bytes) > MAX_PACKETS_OF_A_FRAME {
        let message = format!(
            "the largest frame, of {largest_bytes} B, would be more than {MAX_PACKETS_OF_A_FRAME} packets"
        );
        report.add(&join(at, ["packet_size"]), message, "write a larger size, such as \"1000B\"");
    }
    if video.playout_delay == Span::ZERO {
        let help = "write a time above zero; whoever watches a film waits for a second or more";
        report.add(&join(at, ["playout_delay"]), "no frame arrives within no time", help);
    }
}
