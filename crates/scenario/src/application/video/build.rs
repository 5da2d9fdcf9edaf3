//! From the keys of a video to its source.

use super::model::{FilmName, Video};
use roamsim_network::application as network;
use roamsim_network::application::Activity;
use roamsim_network::application::video::film::{Film, LECTURE_ROOM_CAM, STAR_WARS_IV};
use roamsim_network::application::video::{Frame, FrameKind, Frames, Sending, Trace};
use std::sync::Arc;

pub(crate) fn film(name: FilmName) -> &'static Film {
    match name {
        FilmName::StarWarsIvHigh => &STAR_WARS_IV,
        FilmName::LectureRoomCam => &LECTURE_ROOM_CAM,
    }
}

/// The types of a group of pictures; `None` for a text that is none.
pub(crate) fn group(text: &str) -> Option<Vec<FrameKind>> {
    let kind = |letter| match letter {
        'I' => Some(FrameKind::I),
        'P' => Some(FrameKind::P),
        'B' => Some(FrameKind::B),
        _ => None,
    };
    text.chars().map(kind).collect::<Option<Vec<_>>>().filter(|group| group.first() == Some(&FrameKind::I))
}

/// The frames of a trace, with what the keys say of a terse one.
fn recorded(model: &Video) -> Option<Arc<[Frame]>> {
    let trace = model.recorded()?.ok()?;
    let group = model.group_of_pictures.as_deref().and_then(group).unwrap_or_else(|| vec![FrameKind::I]);
    let spacing = |frame: &Frame| model.frame_interval.unwrap_or(frame.spacing);
    let kinds = group.into_iter().cycle();
    Some(match trace.verbose {
        true => trace.frames.as_slice().into(),
        false => {
            let frames = trace.frames.iter().zip(kinds);
            frames.map(|(frame, kind)| Frame { kind, spacing: spacing(frame), ..*frame }).collect()
        }
    })
}

pub(crate) fn source(model: &Video, activity: Activity) -> network::Video {
    let Video {
        film: name,
        trace: _,
        content: _,
        repeat,
        frame_interval: _,
        group_of_pictures: _,
        packet_size_bytes,
        spread,
        playout_delay,
        start: _,
        stop: _,
        deadline: _,
    } = model;
    let sending =
        Sending { packet_bytes: *packet_size_bytes as u32, spread: *spread, playout_delay: *playout_delay };
    let frames = match name {
        Some(name) => Frames::Film(film(*name)),
        // Validation refuses what cannot be read.
        None => Frames::Trace(Trace { frames: recorded(model).unwrap_or_default(), repeat: *repeat }),
    };
    network::Video::new(activity, frames, sending)
}

/// Packets a second and their payload in octets, in the mean; of a trace, until its end.
pub(crate) fn packets(model: &Video) -> Option<(f64, f64)> {
    let packet_bytes = model.packet_size_bytes.max(1);
    if let Some(name) = model.film {
        let film = film(name);
        let frames_per_s = 1.0 / (film.tick.as_secs_f64() * film.ticks.0);
        // The last packet of a frame is half full in the mean.
        let packets = (film.mean_bytes / packet_bytes as f64 + 0.5).max(1.0);
        return Some((frames_per_s * packets, film.mean_bytes / packets));
    }
    let frames = recorded(model)?;
    let sum = |of: &dyn Fn(&Frame) -> f64| frames.iter().map(of).sum::<f64>();
    let packets = sum(&|frame| u64::from(frame.bytes).div_ceil(packet_bytes) as f64);
    let (bytes, seconds) = (sum(&|frame| f64::from(frame.bytes)), sum(&|frame| frame.spacing.as_secs_f64()));
    (packets > 0.0 && seconds > 0.0).then(|| (packets / seconds, bytes / packets))
}
