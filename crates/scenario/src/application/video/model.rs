//! Video as a scenario says it.

use roamsim_engine::{Span, Time};
use roamsim_network::application::LATE_AFTER;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::distribution::model::TimeDistribution;
use crate::files::frames::{self, Trace};
use crate::files::{Fault, Lines};
use crate::units;

/// Frames at their instants, each cut into packets: full ones, and what is left in the last.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// The film whose published statistics the frames have. Either this or `trace`.
    #[serde(default)]
    pub film: Option<FilmName>,
    /// A file of recorded frames, verbose or terse, from the libraries of TU Berlin (TKN) or Arizona State
    /// University. Either this or `film`.
    #[serde(default)]
    pub trace: Option<String>,
    /// The file's lines, in place of `trace`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub content: Option<Lines<Trace>>,
    /// Whether a trace begins again; its last frame lasts as long as the one before. Default: no (chosen: the
    /// film is over).
    #[serde(default)]
    pub repeat: bool,
    /// Time between two frames of a terse trace. Default: 40 ms, 25 frames a second, as in the libraries.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub frame_interval: Option<Span>,
    /// Frame types of a terse trace, in decoding order, repeated: "IBBPBBPBBPBB". Left out: no frame needs
    /// another.
    #[serde(default)]
    pub group_of_pictures: Option<String>,
    /// The most payload of a packet, without headers; over TCP, of a write.
    #[serde(rename = "packet_size", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub packet_size_bytes: u64,
    /// Whether a frame's packets are spread over the frame interval. Default: no (chosen: an encoder emits
    /// whole frames, and queues must hold these bursts).
    #[serde(default)]
    pub spread: bool,
    /// A frame is in time if all its packets arrive within this time of its instant. Default: ITU-T G.114,
    /// for conversation; viewers can wait longer.
    #[serde(default = "default_playout_delay", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub playout_delay: Span,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
    /// The longest delay of a packet that counts for `in_time_share` of `flows`. Frames have `playout_delay`.
    /// Left out: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub deadline: Option<Span>,
}

impl Video {
    /// The frames of a trace.
    pub(super) fn recorded(&self) -> Option<Result<&Trace, &Fault>> {
        self.content.as_ref().map(|lines| lines.say(frames::parse))
    }
}

fn default_playout_delay() -> Span {
    LATE_AFTER
}

/// A film with published statistics (F. Fitzek and M. Reisslein, "MPEG-4 and H.263 Video Traces for Network
/// Performance Evaluation", IEEE Network 15(6), 2001).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilmName {
    /// "Star Wars IV", MPEG-4 at high quality: 25 frames a second in groups IBBPBBPBBPBB, mean 1400 B a
    /// frame.
    StarWarsIvHigh,
    /// "Lecture Room Cam", H.263 without a target rate: mean 617.59 B a frame, at multiples of 40 ms, mean
    /// 79.2 ms.
    LectureRoomCam,
}
