//! Traces of video, one frame per line, from the libraries of the Telecommunication Networks Group of TU
//! Berlin (TKN) and of Arizona State University (ASU), verbose:
//!
//! ```text
//! 1 I 0 534            number, type, time in ms, octets (MPEG-4)
//! 0 P 617              time in ms, type, octets (H.263)
//! 0 0.000 I 4272 38.2  number, time in s, type, bits, and what follows (ASU: qualities)
//! ```
//!
//! and terse: a line is the octets of a frame, at equal intervals. Types are I, P, B, PB (as P) and IDR (as
//! I). Empty lines, lines that begin with `#` or `%`, and a heading with the names of the columns are
//! skipped.
//!
//! Times are those at which frames are shown. MPEG-4's verbose traces list frames in decoding order: a B
//! frame comes after the I or P frame that is shown after it, so its time goes back. Other traces list
//! frames as they are shown. Frames are read in decoding order in both cases, and frame k leaves at the
//! k-th time in ascending order. An encoder sends them so, with a constant delay, in which it waits for the
//! frames that B frames need.
//!
//! Not read: a terse trace with a second column, which is a time or a quality in different libraries.

use super::content::Fault;
use super::text::{columns as words_of, is_heading, lines};
use roamsim_engine::{Span, Time};
use roamsim_network::application::video::{Frame, FrameKind};
use std::ops::Range;

/// Words of a line that are looked at; none of the formats has as many.
const MOST_WORDS: usize = 16;

/// No frame of a trace is larger (chosen: at 25 frames a second, 3.4 Gb/s).
const MAX_FRAME_BYTES: u64 = 16 << 20;
/// No trace is longer (chosen: 46 hours at 25 frames a second).
const MAX_FRAMES: usize = 1 << 22;
/// Between the frames of a trace that has no times: 25 frames a second, as the libraries' films have (TKN,
/// ASU).
pub const FRAME_INTERVAL: Span = Span::from_ms(40);

const LINES: &str = "lines are `1 I 0 534` (number, type, time in ms, octets), `0 I 534` (time in ms, type, octets), \
                     `1 0.04 I 4272 38.1` (number, time in s, type, bits, qualities), or `534` (octets)";

/// A trace that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The frames in the order in which they are decoded. Without times, spacings are [`FRAME_INTERVAL`];
    /// without types, all are I.
    pub frames: Vec<Frame>,
    /// The lines have times and types.
    pub verbose: bool,
    /// The lines that are frames, and no others.
    pub lines: String,
}

/// What the columns are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// `size`
    Size,
    /// `number type ms octets`
    NumberTypeTime,
    /// `ms type octets`
    TimeType,
    /// `number s type bits ...`
    NumberTimeType,
}

/// A line.
struct Record {
    span: Range<usize>,
    kind: FrameKind,
    time: Time,
    bytes: u32,
}

/// What the file says.
pub fn parse(text: &str) -> Result<Trace, Fault> {
    let mut columns = None;
    let mut records: Vec<Record> = Vec::new();
    let (mut about, mut headed) = (String::new(), false);
    for (span, line) in lines(text) {
        // More than any line has: a hostile one has millions.
        let words: Vec<&str> = words_of(line).take(MOST_WORDS).collect();
        let Some(first) = words.first() else { continue };
        if first.starts_with(['#', '%']) {
            continue;
        }
        if columns.is_none() && !headed && is_heading(line, words.len()) {
            headed = true;
            continue;
        }
        let expected = match columns {
            Some(columns) => columns,
            None => *columns.insert(recognised(&words, &span)?),
        };
        records.push(record(&words, expected, span)?);
        if records.len() > MAX_FRAMES {
            let message = format!("this file has more than {MAX_FRAMES} frames");
            return Err(Fault { span: 0..0, message, help: "cut it: no run is that long".to_owned() });
        }
        about.push_str(line);
        about.push('\n');
    }
    if records.iter().all(|record| record.bytes == 0) {
        let message = match records.is_empty() {
            true => "this file has no frames",
            false => "no frame of this file has any octets",
        };
        return Err(Fault { span: 0..0, message: message.to_owned(), help: LINES.to_owned() });
    }
    let verbose = columns != Some(Columns::Size);
    let frames = match verbose {
        true => in_order(records)?,
        false => records.iter().map(|record| frame(record, FRAME_INTERVAL)).collect(),
    };
    Ok(Trace { frames, verbose, lines: about })
}

/// The columns of the first line.
fn recognised(words: &[&str], span: &Range<usize>) -> Result<Columns, Fault> {
    let fault = |message: &str, help: &str| Fault {
        span: span.clone(),
        message: message.to_owned(),
        help: help.to_owned(),
    };
    match words {
        [_] => Ok(Columns::Size),
        [_, kind, _] if self::kind(kind).is_some() => Ok(Columns::TimeType),
        [_, kind, _, _] if self::kind(kind).is_some() => Ok(Columns::NumberTypeTime),
        [_, _, kind, _, ..] if self::kind(kind).is_some() => Ok(Columns::NumberTimeType),
        [_, _] => {
            let help = "a terse trace has one column, the octets of a frame: remove the other one";
            Err(fault("no trace has lines of two columns", help))
        }
        _ => Err(fault("this line is not a frame of a trace", LINES)),
    }
}

fn record(words: &[&str], columns: Columns, span: Range<usize>) -> Result<Record, Fault> {
    let (time, kind, size, bits) = match (columns, words) {
        (Columns::Size, &[size]) => (None, None, size, false),
        (Columns::NumberTypeTime, &[_, kind, ms, size]) => (Some((ms, 1e-3)), Some(kind), size, false),
        (Columns::TimeType, &[ms, kind, size]) => (Some((ms, 1e-3)), Some(kind), size, false),
        (Columns::NumberTimeType, &[_, s, kind, size, ..]) => (Some((s, 1.0)), Some(kind), size, true),
        _ => {
            let message = format!("this line has {} columns, those before have others", words.len());
            return Err(Fault { span, message, help: LINES.to_owned() });
        }
    };
    let wrong = |word: &str, what: &str| Fault {
        span: span.clone(),
        message: format!("\"{}\" is not {what}", crate::units::shortened(word)),
        help: LINES.to_owned(),
    };
    let numbered = matches!(columns, Columns::NumberTypeTime | Columns::NumberTimeType);
    if numbered && words[0].parse::<f64>().is_err() {
        return Err(wrong(words[0], "a frame's number"));
    }
    let kind = match kind {
        None => FrameKind::I,
        Some(word) => self::kind(word).ok_or_else(|| wrong(word, "a type of frame: I, P or B"))?,
    };
    let time = match time {
        None => Time::ZERO,
        Some((word, unit_s)) => word
            .parse()
            .ok()
            .map(|value: f64| value * unit_s)
            .filter(|s| (0.0..=super::content::LATEST_S).contains(s))
            .map(|s| Time::ZERO + Span::from_secs_f64(s))
            .ok_or_else(|| wrong(word, "a time, zero or more"))?,
    };
    let digits = size.bytes().all(|digit| digit.is_ascii_digit());
    if size.starts_with('-') {
        return Err(wrong(size, "a size: no frame is smaller than nothing"));
    }
    if !digits || size.is_empty() {
        return Err(wrong(size, "a size, a whole number"));
    }
    // Whatever does not fit into the number is too large, too.
    let size = size.parse().unwrap_or(u64::MAX);
    let bytes = if bits { size.div_ceil(8) } else { size };
    if bytes > MAX_FRAME_BYTES {
        let message = format!("this frame has more than {MAX_FRAME_BYTES} B");
        let help = "no frame is that large; are the columns in another order?".to_owned();
        return Err(Fault { span, message, help });
    }
    Ok(Record { span, kind, time, bytes: bytes as u32 })
}

fn kind(word: &str) -> Option<FrameKind> {
    match word.to_ascii_uppercase().as_str() {
        "I" | "IDR" => Some(FrameKind::I),
        "P" | "PB" => Some(FrameKind::P),
        "B" => Some(FrameKind::B),
        _ => None,
    }
}

fn frame(record: &Record, spacing: Span) -> Frame {
    Frame { kind: record.kind, bytes: record.bytes, spacing }
}

/// Frames in the order in which they are decoded, at their times in order.
fn in_order(records: Vec<Record>) -> Result<Vec<Frame>, Fault> {
    let goes_back = |record: &Record, than: &str| {
        Fault {
        span: record.span.clone(),
        message: format!("this frame is not later than {than}"),
        help:
            "write frames in order of their times; only a B frame may follow the I or P frame that is shown after it"
                .to_owned(),
    }
    };
    let mut times: Vec<(Time, usize)> = records.iter().enumerate().map(|(at, r)| (r.time, at)).collect();
    times.sort_unstable();
    // The last two I or P frames.
    let mut references: [Option<Time>; 2] = [None; 2];
    for record in &records {
        match record.kind {
            FrameKind::I | FrameKind::P => {
                if references[0].is_some_and(|before| record.time <= before) {
                    return Err(goes_back(record, "the I or P frame before it"));
                }
                references = [Some(record.time), references[0]];
            }
            FrameKind::B => {
                if references[1].is_some_and(|before| record.time <= before) {
                    return Err(goes_back(record, "both I or P frames before it"));
                }
            }
        }
    }
    for pair in times.windows(2) {
        if pair[0].0 == pair[1].0 {
            return Err(goes_back(&records[pair[1].1], "another one: two are shown at one time"));
        }
    }
    let mut order: Vec<&Record> = Vec::new();
    // B frames whose later reference is still to come.
    let mut waiting: Vec<&Record> = Vec::new();
    let mut reference = None;
    for record in &records {
        match record.kind {
            FrameKind::I | FrameKind::P => {
                reference = Some(record.time);
                order.push(record);
                order.append(&mut waiting);
            }
            FrameKind::B if reference.is_some_and(|shown| record.time < shown) => order.push(record),
            FrameKind::B => waiting.push(record),
        }
    }
    order.append(&mut waiting);
    let mut spacings: Vec<Span> = times.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    // The last frame takes as long as the one before it.
    spacings.push(spacings.last().copied().unwrap_or(FRAME_INTERVAL));
    Ok(order.into_iter().zip(spacings).map(|(record, spacing)| frame(record, spacing)).collect())
}

#[cfg(test)]
mod tests {
    use super::FrameKind::{B, I, P};
    use super::*;

    /// Kinds, octets and milliseconds to the next.
    fn frames(text: &str) -> Vec<(FrameKind, u32, u64)> {
        let trace = parse(text).expect(text);
        trace.frames.iter().map(|f| (f.kind, f.bytes, f.spacing.as_ns() / 1_000_000)).collect()
    }

    #[test]
    fn a_verbose_trace_in_the_order_of_decoding() {
        let text = "# film\n# number type time size\n1 I 0 534\n2 P 120 1542\n3 B 40 134\n4 B 80 390\n5 P 240 765\n\
                    6 B 160 407\n7 B 200 504\n";
        // The third frame leaves at the third of the times 0, 40, 80, ...
        let expected = [
            (I, 534, 40),
            (P, 1542, 40),
            (B, 134, 40),
            (B, 390, 40),
            (P, 765, 40),
            (B, 407, 40),
            (B, 504, 40),
        ];
        assert_eq!(frames(text), expected);
        // As it is shown, it is the same film.
        let shown =
            "1 I 0 534\n2 B 40 134\n3 B 80 390\n4 P 120 1542\n5 B 160 407\n6 B 200 504\n7 P 240 765\n";
        assert_eq!(frames(shown), expected);
        let trace = parse(text).expect("a trace");
        assert!(trace.verbose && trace.lines.starts_with("1 I 0 534\n2 P 120"), "{}", trace.lines);
        assert_eq!(parse(&trace.lines).expect("the same").frames, trace.frames);
    }

    #[test]
    fn the_other_columns() {
        // H.263: variable times; PB is decoded as P.
        assert_eq!(frames("0 I 900\n40 PB 617\n1200 P 0\n"), [(I, 900, 40), (P, 617, 1160), (P, 0, 1160)]);
        // ASU: seconds, and bits: 4272 / 8 = 534, 12337 / 8 = 1542.1.
        let text =
            "# trace\n0 0.000000 IDR 4272 38.1 40 40\n1 0.120 P 12337 37 39 39\n2 0.04 B 1072 36 39 39\n";
        assert_eq!(frames(text), [(I, 534, 40), (P, 1543, 80), (B, 134, 80)]);
        // Terse.
        let terse = parse("Frame sizes\n534\n\n1542\r\n").expect("a trace");
        assert_eq!((terse.verbose, terse.lines.as_str()), (false, "534\n1542\n"));
        assert_eq!(frames("534\n1542\n"), [(I, 534, 40), (I, 1542, 40)]);
        assert_eq!(
            frames("\"time\",\"type\",\"octets\"\n\"0\",\"I\",\"534\"\n40,P,617\n"),
            [(I, 534, 40), (P, 617, 40)]
        );
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, place, message) in [
            ("", "", "no frames"),
            ("# nothing\n\0\0\0\n", "\0\0\0", "whole number"),
            ("frames\nof a film\n500\n", "of a film", "not a frame of a trace"),
            ("0\n0\n", "", "any octets"),
            ("500\n-500\n", "-500", "smaller than nothing"),
            ("-500\n", "-500", "smaller than nothing"),
            ("500\n5.5\n", "5.5", "whole number"),
            ("500\n\0\n", "\0", "whole number"),
            ("500\n99999999999999999999999\n", "99999999999999999999999", "more than 16777216 B"),
            ("500 40\n", "500 40", "two columns"),
            ("1 2 3 4\n", "1 2 3 4", "not a frame"),
            ("1 I 0 500\n2 P 40\n", "2 P 40", "has 3 columns"),
            ("1 I 0 500\n2 Q 40 500\n", "2 Q 40 500", "a type of frame"),
            ("1 I 0 500\n2 P -40 500\n", "2 P -40 500", "a time"),
            ("1 I 0 500\n2 P nan 500\n", "2 P nan 500", "a time"),
            ("1 I 0 500\n2 P 1e300 500\n", "2 P 1e300 500", "a time"),
            ("1 I 40 500\n2 P 0 500\n", "2 P 0 500", "the I or P frame before"),
            ("1 I 40 500\n2 P 80 500\n3 B 40 500\n", "3 B 40 500", "both I or P"),
            ("1 I 0 500\n2 P 80 500\n3 B 80 500\n", "3 B 80 500", "another one"),
        ] {
            let fault = parse(text).expect_err(text);
            assert_eq!(&text[fault.span.clone()], place, "{text}");
            assert!(fault.message.contains(message), "{text}: {}", fault.message);
        }
    }
}
