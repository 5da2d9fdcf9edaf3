//! BonnMotion's native format (`.movements`; Aschenbruck et al., "BonnMotion: A Mobility Scenario Generation
//! and Analysis Tool", SIMUTools 2010): a line a node, of waypoints `time x y` in seconds and metres, times
//! rising. Between two waypoints the node moves straight at constant speed; before the first and after the
//! last it stays.
//!
//! Models in three dimensions write waypoints `time x y z` (INET's `BonnMotionMobility` reads both, by its
//! key `is3D`). Of these `x y` is taken. Nothing in a file says which of the two it is, so the numbers on its
//! lines do: three or four a waypoint, and then rising times. A file that fits both is refused unless
//! `dimensions` says which.

use super::content::{Fault, Walk, coordinate, instant};
use super::text::lines;
use roamsim_engine::Time;
use roamsim_network::mobility::{Leg, Point, Trajectory};
use std::ops::Range;

/// What the file says of the node of this number, counted from 0 over the lines that are neither empty nor
/// comments.
///
/// `dimensions`: of the places, 2 or 3; `None` where the file tells.
pub fn parse(text: &str, node: u32, dimensions: Option<u32>) -> Result<Walk, Fault> {
    let nodes = || lines(text).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let whole = |message: String, help: String| Fault { span: 0..0, message, help };
    let Some((place, line)) = nodes().nth(node as usize) else {
        let help = match nodes().count() {
            0 => "it should have a line a node, of waypoints `time x y`".to_owned(),
            1 => "it has one line, which is node 0".to_owned(),
            count => format!("its {count} lines are the nodes 0 to {}", count - 1),
        };
        return Err(whole(format!("this file has no node {node}"), help));
    };
    let numbers: Vec<Range<usize>> =
        words(line).map(|word| place.start + word.start..place.start + word.end).collect();
    let dimensions = match dimensions {
        Some(given @ (2 | 3)) => given as usize,
        Some(other) => {
            let help = "write 2 for waypoints `time x y`, or 3 for `time x y z`".to_owned();
            return Err(whole(format!("a place has no {other} dimensions"), help));
        }
        None => match dimensions_of(numbers.len(), || nodes().map(|(_, line)| line)) {
            Some(found) => found,
            None => {
                let message = "this file fits waypoints `time x y` and waypoints `time x y z`".to_owned();
                return Err(whole(
                    message,
                    "write `dimensions = 2` or `dimensions = 3` beside it".to_owned(),
                ));
            }
        },
    };
    if !numbers.len().is_multiple_of(dimensions + 1) {
        return Err(Fault {
            span: place,
            message: format!(
                "a line has {} numbers a waypoint, and this one has {}",
                if dimensions == 2 { "three" } else { "four" },
                numbers.len()
            ),
            help: "write `time x y`, or `time x y z`, for each waypoint".to_owned(),
        });
    }
    let mut points: Vec<(Time, Point)> = Vec::new();
    let mut flat = String::new();
    for waypoint in numbers.chunks_exact(dimensions + 1) {
        let [at, x, y] = [0, 1, 2].map(|word: usize| waypoint[word].clone());
        let time = instant(&text[at.clone()]).ok_or_else(|| wrong(text, &at, "a time in seconds"))?;
        let x_m = coordinate(&text[x.clone()]).ok_or_else(|| wrong(text, &x, "a coordinate in metres"))?;
        let y_m = coordinate(&text[y.clone()]).ok_or_else(|| wrong(text, &y, "a coordinate in metres"))?;
        if let Some(z) = waypoint.get(3)
            && coordinate(&text[z.clone()]).is_none()
        {
            return Err(wrong(text, z, "a coordinate in metres"));
        }
        if let Some(&(before, _)) = points.last()
            && time <= before
        {
            return Err(Fault {
                span: at,
                message: "this waypoint is not later than the one before it".to_owned(),
                help: "times must rise from waypoint to waypoint; write the later one last".to_owned(),
            });
        }
        points.push((time, Point::new(x_m, y_m)));
        if dimensions == 3 {
            flat +=
                &format!("{}{} {} {}", if flat.is_empty() { "" } else { " " }, &text[at], &text[x], &text[y]);
        }
    }
    let said = if dimensions == 3 { flat.as_str() } else { line };
    let moves = points.windows(2).find(|pair| pair[0].1 != pair[1].1);
    Ok(Walk {
        trajectory: trajectory(&points),
        lines: format!("{said}\n"),
        first_move: moves.map(|pair| pair[0].0),
    })
}

/// The dimensions of a file's places, by the count of numbers in a line. Where that fits both, the other
/// lines decide; `None` where all lines fit both.
fn dimensions_of<'a, L: Iterator<Item = &'a str>>(numbers: usize, lines: impl Fn() -> L) -> Option<usize> {
    let by_count = |numbers: usize| match (numbers.is_multiple_of(3), numbers.is_multiple_of(4)) {
        (true, true) => None,
        (false, true) => Some(3),
        // One that fits neither is refused as one of the plane.
        _ => Some(2),
    };
    let rising = |dimensions: usize| {
        lines().all(|line| {
            let times = line.split_ascii_whitespace().step_by(dimensions + 1).map(instant);
            times.is_sorted_by(|before, time| before.is_some() && before < time)
        })
    };
    by_count(numbers)
        .or_else(|| lines().find_map(|line| by_count(line.split_ascii_whitespace().count())))
        .or_else(|| match (rising(2), rising(3)) {
            (true, true) => None,
            (false, true) => Some(3),
            _ => Some(2),
        })
}

fn words(line: &str) -> impl Iterator<Item = Range<usize>> {
    line.split_ascii_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        start..start + word.len()
    })
}

fn wrong(text: &str, at: &Range<usize>, what: &str) -> Fault {
    Fault {
        span: at.clone(),
        message: format!("\"{}\" is not {what}", crate::units::shortened(&text[at.clone()])),
        help: "each line is a list of waypoints `time x y`, or `time x y z`, in seconds and metres"
            .to_owned(),
    }
}

fn trajectory(points: &[(Time, Point)]) -> Trajectory {
    let mut legs = Vec::new();
    for (number, &(start, from)) in points.iter().enumerate() {
        let velocity_m_per_s = points.get(number + 1).map_or(Point::default(), |&(end, to)| {
            let duration_s = end.since(start).as_secs_f64();
            Point::new((to.x_m - from.x_m) / duration_s, (to.y_m - from.y_m) / duration_s)
        });
        legs.push(Leg { start, from, velocity_m_per_s });
    }
    Trajectory::of_legs(&legs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Span;

    fn at(walk: &Walk, s: u64) -> (f64, f64) {
        let place = walk.trajectory.position(Time::ZERO + Span::from_secs(s));
        (place.x_m, place.y_m)
    }

    #[test]
    fn a_line_is_a_walk() {
        let text = "# two nodes\n0.0 5 5\n2.0 0.0 0.0  12.0 100.0 50.0 22.0 100 0\n";
        let walk = parse(text, 1, None).expect("a walk");
        // It waits until 2 s; then 10 m/s to the right and 5 m/s up for 10 s; then 5 m/s down for 10 s.
        assert_eq!(at(&walk, 1), (0.0, 0.0));
        assert_eq!(at(&walk, 7), (50.0, 25.0));
        assert_eq!(at(&walk, 14), (100.0, 40.0));
        assert_eq!(at(&walk, 1000), (100.0, 0.0));
        assert_eq!(walk.lines, "2.0 0.0 0.0  12.0 100.0 50.0 22.0 100 0\n");
        assert_eq!(parse(&walk.lines, 0, None).expect("the same").trajectory, walk.trajectory);
        assert_eq!(at(&parse(text, 0, None).expect("a walk"), 9), (5.0, 5.0));
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, node, place, message) in [
            ("0 1 2\n", 1, "", "no node 1"),
            ("", 0, "", "no node 0"),
            ("0 1 2\n0 1 2 3 4\n", 1, "0 1 2 3 4", "this one has 5"),
            ("0 1 two\n", 0, "two", "not a coordinate"),
            ("-1 1 2\n", 0, "-1", "not a time"),
            ("0 nan 2\n", 0, "nan", "not a coordinate"),
            ("0 1 1e30\n", 0, "1e30", "not a coordinate"),
            ("1 0 0 1.0 5 5\n", 0, "1.0", "not later"),
        ] {
            let fault = parse(text, node, None).expect_err(text);
            assert_eq!(&text[fault.span.clone()], place, "{text}");
            assert!(fault.message.contains(message), "{text}: {}", fault.message);
        }
    }
    /// Three waypoints 1.5 m above ground; as four in the plane its times rise as well: 0, 1.5, 80, 100 s.
    const EITHER: &str = "0 10 20 1.5 10 50 80 1.5 20 100 140 1.5";

    #[test]
    fn heights_are_left_out() {
        for (text, dimensions) in [
            (format!("{EITHER}\n"), Some(3)),
            // Another line has eight numbers.
            (format!("{EITHER}\n0 0 0 1.5 9 9 9 1.5\n"), None),
            // Another line has times that do not rise by threes: 0, 2, 30.
            (format!("{EITHER}\n0 1 9 2 10 3 1 2 20 3 4 2\n"), None),
        ] {
            let walk = parse(&text, 0, dimensions).expect(&text);
            assert_eq!(walk.lines, "0 10 20 10 50 80 20 100 140\n");
            // Half of the way from (10, 20) to (50, 80).
            assert_eq!(at(&walk, 5), (30.0, 50.0));
            assert_eq!(parse(&walk.lines, 0, Some(2)).expect("the same").trajectory, walk.trajectory);
        }
        let fault = parse(EITHER, 0, None).expect_err("ambiguous");
        assert!(fault.message.contains("`time x y z`") && fault.help.contains("dimensions = 3"), "{fault:?}");
        // In the plane: (10, 50) at 1.5 s.
        assert_eq!(at(&parse(EITHER, 0, Some(2)).expect("a walk"), 0), (10.0, 20.0));
        // Times that rise by threes alone, 0, 10, 20, 30; by fours they are 0, 7, 1.
        let flat = "0 5 5 10 7 5 20 6 1 30 2 2";
        assert_eq!(parse(flat, 0, None).expect("a walk").lines, format!("{flat}\n"));
        assert!(parse(EITHER, 0, Some(4)).expect_err("four").message.contains("no 4 dimensions"));
        assert!(parse("0 1 2 x\n", 0, None).expect_err("no height").message.contains("\"x\""));
    }

    #[test]
    fn the_first_move_is_where_places_differ() {
        let first = |text: &str| parse(text, 0, None).expect(text).first_move;
        assert_eq!(first("5 1 1 9 1 1 20 2 2"), Some(Time::ZERO + Span::from_secs(9)));
        assert_eq!(first("5 1 1 9 1 1"), None);
    }
}
