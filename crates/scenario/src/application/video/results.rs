//! `video`: one row per flow of video, and one per direction if it goes both ways. The table exists only if
//! there is video.

use crate::table::{Table, float, integer, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::application::Source;
use roamsim_network::subject::Subject;

pub(crate) fn table(world: &World, end: Time) -> Option<Table> {
    let videos: Vec<_> = world
        .flows
        .iter()
        .enumerate()
        .filter_map(|(number, flow)| match &flow.source {
            Source::Video(video) => {
                Some((flow, world.named(Subject::Flow(number as u32)), video.counts(end)))
            }
            _ => None,
        })
        .collect();
    if videos.is_empty() {
        return None;
    }
    Some(Table {
        name: "video",
        columns: vec![
            text("name", videos.iter().map(|(_, named, _)| named.name.to_owned())),
            text("direction", videos.iter().map(|(flow, ..)| flow.direction().to_owned())),
            text("from", videos.iter().map(|(_, named, _)| named.from.to_owned())),
            text("to", videos.iter().map(|(_, named, _)| named.to.to_owned())),
            integer("frames", "frames", videos.iter().map(|(.., counts)| counts.frames)),
            integer("complete_frames", "frames", videos.iter().map(|(.., counts)| counts.complete)),
            integer(
                "lost_frames",
                "frames",
                videos.iter().map(|(.., counts)| counts.frames - counts.complete),
            ),
            integer("frames_in_time", "frames", videos.iter().map(|(.., counts)| counts.in_time)),
            integer("decodable_frames", "frames", videos.iter().map(|(.., counts)| counts.decodable)),
            float(
                "decodable_share",
                "",
                videos.iter().map(|(.., counts)| ratio(counts.decodable as f64, counts.frames as f64)),
            ),
            float("mean_frame_delay_s", "s", videos.iter().map(|(.., counts)| counts.mean_delay_s)),
        ],
    })
}
