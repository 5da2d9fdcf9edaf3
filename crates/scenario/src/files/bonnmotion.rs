//! BonnMotion's native format (`.movements`; Aschenbruck et al., "BonnMotion: A Mobility Scenario Generation and
//! Analysis Tool", SIMUTools 2010): a line a node, of waypoints `time x y` in seconds and metres, times rising. Between
//! two waypoints the node moves straight at constant speed; before the first and after the last it stays.
//!
//! Not read: the variant with a third coordinate.

use super::{Fault, Walk, coordinate, instant, lines};
use roamsim_engine::Time;
use roamsim_network::mobility::{Leg, Point, Trajectory};
use std::ops::Range;

/// What the file says of the node of this number, counted from 0 over the lines that are neither empty nor comments.
pub fn parse(text: &str, node: u32) -> Result<Walk, Fault> {
    let nodes = || lines(text).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((place, line)) = nodes().nth(node as usize) else {
        return Err(Fault {
            span: 0..0,
            message: format!("this file has no node {node}"),
            help: match nodes().count() {
                0 => "it should have a line a node, of waypoints `time x y`".to_owned(),
                1 => "it has one line, which is node 0".to_owned(),
                count => format!("its {count} lines are the nodes 0 to {}", count - 1),
            },
        });
    };
    let words: Vec<Range<usize>> =
        words(line).map(|word| place.start + word.start..place.start + word.end).collect();
    if !words.len().is_multiple_of(3) {
        return Err(Fault {
            span: place,
            message: format!("a line has three numbers a waypoint, and this one has {}", words.len()),
            help: "write `time x y` for each waypoint; a third coordinate is not read".to_owned(),
        });
    }
    let mut points: Vec<(Time, Point)> = Vec::new();
    for waypoint in words.chunks_exact(3) {
        let [at, x, y] = [0, 1, 2].map(|word: usize| waypoint[word].clone());
        let time = instant(&text[at.clone()]).ok_or_else(|| wrong(text, &at, "a time in seconds"))?;
        let x = coordinate(&text[x.clone()]).ok_or_else(|| wrong(text, &x, "a coordinate in metres"))?;
        let y = coordinate(&text[y.clone()]).ok_or_else(|| wrong(text, &y, "a coordinate in metres"))?;
        if let Some(&(before, _)) = points.last()
            && time <= before
        {
            return Err(Fault {
                span: at,
                message: "this waypoint is not later than the one before it".to_owned(),
                help: "times rise from waypoint to waypoint; write the later one behind".to_owned(),
            });
        }
        points.push((time, Point::new(x, y)));
    }
    Ok(Walk { trajectory: trajectory(&points), lines: format!("{line}\n") })
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
        help: "each line is a list of waypoints `time x y`, in seconds and metres".to_owned(),
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
        let walk = parse(text, 1).expect("a walk");
        // It waits until 2 s; then 10 m/s to the right and 5 m/s up for 10 s; then 5 m/s down for 10 s.
        assert_eq!(at(&walk, 1), (0.0, 0.0));
        assert_eq!(at(&walk, 7), (50.0, 25.0));
        assert_eq!(at(&walk, 14), (100.0, 40.0));
        assert_eq!(at(&walk, 1000), (100.0, 0.0));
        assert_eq!(walk.lines, "2.0 0.0 0.0  12.0 100.0 50.0 22.0 100 0\n");
        assert_eq!(parse(&walk.lines, 0).expect("the same").trajectory, walk.trajectory);
        assert_eq!(at(&parse(text, 0).expect("a walk"), 9), (5.0, 5.0));
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, node, place, message) in [
            ("0 1 2\n", 1, "", "no node 1"),
            ("", 0, "", "no node 0"),
            ("0 1 2\n0 1 2 3\n", 1, "0 1 2 3", "this one has 4"),
            ("0 1 two\n", 0, "two", "not a coordinate"),
            ("-1 1 2\n", 0, "-1", "not a time"),
            ("0 nan 2\n", 0, "nan", "not a coordinate"),
            ("0 1 1e30\n", 0, "1e30", "not a coordinate"),
            ("1 0 0 1.0 5 5\n", 0, "1.0", "not later"),
        ] {
            let fault = parse(text, node).expect_err(text);
            assert_eq!(&text[fault.span.clone()], place, "{text}");
            assert!(fault.message.contains(message), "{text}: {}", fault.message);
        }
    }
}
