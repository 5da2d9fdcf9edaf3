//! From the keys of a video to its source.

use super::model::{FilmName, Video};
use roamsim_network::application as network;
use roamsim_network::application::Activity;
use roamsim_network::application::video::film::{Film, LECTURE_ROOM_CAM, STAR_WARS_IV};
use roamsim_network::application::video::{Frames, Sending};

pub(crate) fn film(name: FilmName) -> &'static Film {
    match name {
        FilmName::StarWarsIvHigh => &STAR_WARS_IV,
        FilmName::LectureRoomCam => &LECTURE_ROOM_CAM,
    }
}

pub(crate) fn source(model: &Video, activity: Activity) -> network::Video {
    let &Video { film: name, packet_size_bytes, spread, playout_delay, start: _, stop: _ } = model;
    let sending = Sending { packet_bytes: packet_size_bytes as u32, spread, playout_delay };
    network::Video::new(activity, Frames::Film(film(name)), sending)
}

/// Packets a second and their payload in octets, in the mean.
pub(crate) fn packets(model: &Video) -> (f64, f64) {
    let film = film(model.film);
    let frames_per_s = 1.0 / (film.tick.as_secs_f64() * film.ticks.0);
    // The last packet of a frame is half full in the mean.
    let packets = (film.mean_bytes / model.packet_size_bytes.max(1) as f64 + 0.5).max(1.0);
    (frames_per_s * packets, film.mean_bytes / packets)
}
