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
    /// A file of recorded frames, verbose or terse, as the libraries of TU Berlin (TKN) and Arizona State
    /// University have them; relative to the folder of the scenario. Either this or `film`.
    #[serde(default)]
    pub trace: Option<String>,
    /// The frames, in place of `trace`. Reading the scenario replaces a file by its lines, so results depend
    /// on the file's content, not on its name.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub content: Option<Lines<Trace>>,
    /// Of a trace: whether it begins again when it is over, its last frame lasting as long as the one before.
    /// Default: no, nothing more is sent (chosen: a film that is over is over).
    #[serde(default)]
    pub repeat: bool,
    /// Of a terse trace, which has no times: the time between two frames. Default: 40 ms (25 frames a second,
    /// as the libraries' films have).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub frame_interval: Option<Span>,
    /// Of a terse trace, which has no types: those of its frames, in the order in which they stand there and
    /// are decoded, again and again, such as "IBBPBBPBBPBB". Left out: no frame needs another.
    #[serde(default)]
    pub group_of_pictures: Option<String>,
    /// The most payload of a packet, without transport and IP headers; over TCP, of a write.
    #[serde(rename = "packet_size", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub packet_size_bytes: u64,
    /// Whether the packets of a frame leave spread evenly over the time until the next frame. Default: no,
    /// all at the frame's instant (chosen: an encoder gives out a whole frame, and that burst is what a queue
    /// has to hold).
    #[serde(default)]
    pub spread: bool,
    /// A frame is in time when all its packets have arrived this long after its instant. Default: 150 ms
    /// (ITU-T G.114: what does not disturb a conversation); who only watches can wait for longer.
    #[serde(default = "default_playout_delay", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub playout_delay: Span,
    /// When the first frame is sent; by a distribution it is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// No frame is sent at or after this instant. Left out: the end of the run, as also when this is later.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
    /// By when a packet is to arrive after it was sent: `in_time_share` of `flows` is the share that does,
    /// lost ones counted as late. Frames have `playout_delay`. Left out: none, and there is no share.
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

/// A film whose statistics were published (F. Fitzek and M. Reisslein, "MPEG-4 and H.263 Video Traces for
/// Network Performance Evaluation", IEEE Network 15(6), 2001).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilmName {
    /// "Star Wars IV", MPEG-4 at high quality: 25 frames a second in groups IBBPBBPBBPBB, 1400 B a frame in
    /// the mean.
    StarWarsIvHigh,
    /// "Lecture Room Cam", H.263 without a target rate: 617.59 B a frame in the mean, at multiples of 40 ms,
    /// 79.2 ms in the mean.
    LectureRoomCam,
}
