//! ns-2's movement files, as its tool `setdest` writes them (The ns Manual, chapter 16), and as scripts have
//! the same lines:
//!
//! ```text
//! set opt(x) 500                                        a variable, read as $opt(x)
//! $node_(0) set X_ 83.36
//! $node_(0) set Y_ 239.43
//! $ns_ at 50.0 "$node_(0) setdest 369.46 170.51 3.37"   ;# a comment
//! $ns_ at 90.0 "$node_(0) set X_ $opt(x)"
//! ```
//!
//! From each instant on the node heads for the place at the speed, from wherever it is then, and stays when
//! it has arrived; a later line interrupts it. The simulator's variable may have any name. A timed `set X_`
//! puts a node that rests to another place; one that moves is refused, since ns-2 would change the way that
//! is left. A node without a place is at that of its first timed ones from the beginning on. `Z_`, lines of
//! the connectivity oracle (`$god_ ...`), comments and variables that no line uses are passed over; anything
//! else is refused, because it might have been meant for the node. Values that Tcl has to work out
//! (`[expr ...]`) are refused where they are used.

use super::content::{Fault, Walk, coordinate, instant};
use super::text::lines;
use roamsim_engine::{Span, Time};
use roamsim_network::mobility::{Leg, Point, Trajectory};
use std::collections::BTreeMap;
use std::ops::Range;

/// What a node has to do.
struct Order {
    place: Range<usize>,
    at: Time,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// To go somewhere.
    Go { to: Point, speed_m_per_s: f64 },
    /// To be there: on one axis, or on both.
    Be { x_m: Option<f64>, y_m: Option<f64> },
}

const FORMS: &str = "lines are `$node_(0) set X_ 10.0` or `$ns_ at 2.0 \"$node_(0) setdest 50.0 60.0 5.0\"`";

/// What the file says of the node of this number.
pub fn parse(text: &str, node: u32) -> Result<Walk, Fault> {
    let (mut x, mut y) = (None, None);
    let mut orders: Vec<Order> = Vec::new();
    let mut about = String::new();
    let mut variables: BTreeMap<&str, &str> = BTreeMap::new();
    for (place, line) in lines(text) {
        let said = line.split(";#").next().unwrap_or_default().trim_end_matches([';', ' ', '\t']);
        let words: Vec<&str> = said.split_ascii_whitespace().collect();
        let value = |word: &str| -> Result<String, Fault> {
            match word.strip_prefix('$') {
                None => Ok(word.to_owned()),
                Some(name) => variables.get(name).map(|&value| value.to_owned()).ok_or_else(|| Fault {
                    span: place.clone(),
                    message: format!("nothing sets {} before this line", crate::units::shortened(word)),
                    help: format!(
                        "write `set {} 10.0` before it, or the number",
                        crate::units::shortened(name)
                    ),
                }),
            }
        };
        let metres = |word: &str| {
            let word = value(word)?;
            coordinate(&word).ok_or_else(|| wrong(&place, &word, "a coordinate in metres"))
        };
        let seconds = |word: &str| {
            let word = value(word)?;
            instant(&word).ok_or_else(|| wrong(&place, &word, "a time in seconds"))
        };
        let about_node = match words.as_slice() {
            [] => continue,
            [first, ..] if first.starts_with('#') || first.starts_with("$god_") => continue,
            // Of more words only the first is kept, which is no number.
            ["set", name, is, ..] => {
                let is = is.trim_matches('"');
                let known = is.strip_prefix('$').and_then(|name| variables.get(name).copied());
                variables.insert(name, known.unwrap_or(is));
                continue;
            }
            [name, "set", axis, to] => {
                let mine = number(name, &place)? == node;
                if mine {
                    match *axis {
                        "X_" => x = Some(metres(to)?),
                        "Y_" => y = Some(metres(to)?),
                        "Z_" => {}
                        _ => return Err(wrong(&place, axis, "a coordinate's name: X_, Y_ or Z_")),
                    }
                }
                mine
            }
            // An order to god, at a time.
            [simulator, "at", _, name, ..] if simulator.starts_with('$') && name.starts_with("\"$god_") => {
                continue;
            }
            [simulator, "at", at, name, order @ ..]
                if simulator.starts_with('$') && name.starts_with('"') =>
            {
                let last = |word: &str| word.strip_suffix('"').unwrap_or(word).to_owned();
                let what = match order {
                    ["setdest", _, _, _] | ["set", _, _] if number(&name[1..], &place)? != node => continue,
                    ["setdest", to_x, to_y, speed] => {
                        let speed = value(&last(speed))?;
                        let speed_m_per_s =
                            speed.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed >= 0.0);
                        What::Go {
                            to: Point::new(metres(to_x)?, metres(to_y)?),
                            speed_m_per_s: speed_m_per_s
                                .ok_or_else(|| wrong(&place, &speed, "a speed in metres a second"))?,
                        }
                    }
                    ["set", axis, to] => {
                        let to_m = metres(&last(to))?;
                        match *axis {
                            "X_" => What::Be { x_m: Some(to_m), y_m: None },
                            "Y_" => What::Be { x_m: None, y_m: Some(to_m) },
                            "Z_" => continue,
                            _ => return Err(wrong(&place, axis, "a coordinate's name: X_, Y_ or Z_")),
                        }
                    }
                    _ => return Err(unknown(place)),
                };
                let at = seconds(at)?;
                if orders.last().is_some_and(|before| at < before.at) {
                    return Err(Fault {
                        span: place,
                        message: format!("this order to node {node} is earlier than the one before it"),
                        help: "the lines of a node are in order of time".to_owned(),
                    });
                }
                orders.push(Order { place: place.clone(), at, what });
                true
            }
            _ => return Err(unknown(place)),
        };
        if about_node {
            // With the values of variables, whose lines are not kept.
            for (number, word) in said.split(' ').enumerate() {
                let (word, end) = word.strip_suffix('"').map_or((word, ""), |word| (word, "\""));
                let variable = word.strip_prefix('$').and_then(|name| variables.get(name).copied());
                about += if number == 0 { "" } else { " " };
                about += variable.unwrap_or(word);
                about += end;
            }
            about.push('\n');
        }
    }
    let first = |axis: fn(&What) -> Option<f64>| orders.iter().find_map(|order| axis(&order.what));
    let x = x.or_else(|| first(|what| if let What::Be { x_m, .. } = what { *x_m } else { None }));
    let y = y.or_else(|| first(|what| if let What::Be { y_m, .. } = what { *y_m } else { None }));
    let (Some(x), Some(y)) = (x, y) else {
        return Err(Fault {
            span: 0..0,
            message: format!("this file does not place node {node}"),
            help: format!("it should have lines `$node_({node}) set X_ ...` and `$node_({node}) set Y_ ...`"),
        });
    };
    let (trajectory, first_move) = trajectory(Point::new(x, y), orders)?;
    Ok(Walk { trajectory, lines: about, first_move })
}

fn unknown(place: Range<usize>) -> Fault {
    Fault {
        span: place,
        message: "this line is not in the format of setdest".to_owned(),
        help: FORMS.to_owned(),
    }
}

/// The number in `$node_(7)`.
fn number(name: &str, place: &Range<usize>) -> Result<u32, Fault> {
    let number =
        name.strip_prefix("$node_(").and_then(|rest| rest.strip_suffix(')')).and_then(|n| n.parse().ok());
    number.ok_or_else(|| wrong(place, name, "a node such as `$node_(0)`"))
}

fn wrong(place: &Range<usize>, word: &str, what: &str) -> Fault {
    Fault {
        span: place.clone(),
        message: format!("\"{}\" is not {what}", crate::units::shortened(word)),
        help: FORMS.to_owned(),
    }
}

/// Where the node is at each time, and when it leaves its first place.
fn trajectory(from: Point, orders: Vec<Order>) -> Result<(Trajectory, Option<Time>), Fault> {
    let mut walk = Trajectory::fixed(from);
    let mut first_move = None;
    let mut arrives = Time::ZERO;
    for Order { place, at, what } in orders {
        let here = walk.position(at);
        let rest = |start, from| Leg { start, from, velocity_m_per_s: Point::default() };
        match what {
            What::Be { .. } if at < arrives => {
                return Err(Fault {
                    span: place,
                    message: "this node is on its way at this instant".to_owned(),
                    help: "set X_ and Y_ where it rests, or send it there by `setdest`".to_owned(),
                });
            }
            What::Be { x_m, y_m } => {
                let there = Point::new(x_m.unwrap_or(here.x_m), y_m.unwrap_or(here.y_m));
                if there != here {
                    first_move.get_or_insert(at);
                    walk.interrupt(rest(at, there));
                }
            }
            What::Go { to, speed_m_per_s } => {
                let length_m = here.distance_m(to);
                // A speed of zero is an order to stop.
                if length_m == 0.0 || speed_m_per_s == 0.0 {
                    walk.interrupt(rest(at, here));
                    arrives = at;
                    continue;
                }
                first_move.get_or_insert(at);
                let share = speed_m_per_s / length_m;
                let velocity_m_per_s = Point::new((to.x_m - here.x_m) * share, (to.y_m - here.y_m) * share);
                arrives = at + Span::from_secs_f64(length_m / speed_m_per_s);
                walk.interrupt(Leg { start: at, from: here, velocity_m_per_s });
                walk.interrupt(rest(arrives, to));
            }
        }
    }
    Ok((walk, first_move))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(walk: &Walk, s: u64) -> (f64, f64) {
        let place = walk.trajectory.position(Time::ZERO + Span::from_secs(s));
        (place.x_m, place.y_m)
    }

    const FILE: &str = r#"# nodes: 2
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 0
$node_(1) set Y_ 0
$god_ set-dist 0 1 1
$ns_ at 1.0 "$node_(1) setdest 30.0 40.0 5.0"
$ns_ at 5.0 "$node_(0) setdest 10.0 120.0 10.0"
$ns_ at 6.0 "$god_ set-dist 0 1 2"
$ns_ at 9.0 "$node_(0) setdest 40.0 60.0 3.0"
"#;

    #[test]
    fn a_node_goes_where_it_is_told_and_can_be_interrupted() {
        let walk = parse(FILE, 0).expect("a walk");
        assert_eq!(at(&walk, 5), (10.0, 20.0));
        // 10 m/s up for 4 s, to (10, 60); then 3 m/s to the right for 10 s.
        assert_eq!(at(&walk, 8), (10.0, 50.0));
        assert_eq!(at(&walk, 14), (25.0, 60.0));
        assert_eq!(at(&walk, 30), (40.0, 60.0));
        // 50 m at 5 m/s: 10 s.
        let walk = parse(FILE, 1).expect("a walk");
        assert_eq!(at(&walk, 6), (15.0, 20.0));
        assert_eq!(at(&walk, 11), (30.0, 40.0));
        assert_eq!(walk.lines.lines().count(), 3);
        assert_eq!(parse(&walk.lines, 1).expect("the same").trajectory, walk.trajectory);
    }

    #[test]
    fn mistakes_are_placed() {
        for (line, message) in [
            ("$node_(0) set X_ left", "\"left\" is not a coordinate"),
            ("$node_(0) set W_ 1.0", "not a coordinate's name"),
            ("$node_[0] set X_ 1.0", "not a node"),
            ("$node_(0) move", "not in the format of setdest"),
            ("$ns_ at soon \"$node_(0) setdest 1 2 3\"", "\"soon\" is not a time"),
            ("$ns_ at 1.0 \"$node_(0) setdest 1 2 -3\"", "\"-3\" is not a speed"),
            ("$ns_ at 1.0 \"$node_(0) setdest 1 2\"", "not in the format of setdest"),
            ("$ns_ at 1.0 \"$node_(0) setdest $opt(x) 2 3\"", "nothing sets $opt(x)"),
            ("$ns_ at 1.0 \"$node_(0) set W_ 2\"", "not a coordinate's name"),
            ("ns_ at 1.0 \"$node_(0) setdest 1 2 3\"", "not in the format of setdest"),
        ] {
            let text = format!("$node_(0) set X_ 10.0\n$node_(0) set Y_ 20.0\n{line}\n");
            let fault = parse(&text, 0).expect_err(line);
            assert_eq!(&text[fault.span.clone()], line);
            assert!(fault.message.contains(message), "{line}: {}", fault.message);
        }
        let backwards = "$ns_ at 2 \"$node_(0) setdest 1 2 3\"\n$ns_ at 1 \"$node_(0) setdest 1 2 3\"\n";
        assert!(parse(backwards, 0).expect_err("backwards").message.contains("earlier"));
        assert!(parse(FILE, 7).expect_err("no such node").message.contains("does not place node 7"));
    }

    /// The same walk as a script has it.
    const SCRIPT: &str = r#"set opt(x) 10.0 ;# metres
set val(chan) Channel/WirelessChannel
set up $opt(x)
set far [expr 10 * 10]
$node_(0) set X_ $opt(x); # where it begins
$node_(0) set Y_ 20.0
$ns at 5.0 "$node_(0) setdest $up 120.0 10.0" ;# up
$simulator at 9.0 "$node_(0) setdest 40.0 60.0 3.0"
"#;

    #[test]
    fn a_script_is_read_like_a_file() {
        let script = SCRIPT.replace("; #", ";#");
        let walk = parse(&script, 0).expect("a walk");
        assert_eq!(walk.trajectory, parse(FILE, 0).expect("a walk").trajectory);
        assert_eq!(walk.first_move, Some(Time::ZERO + Span::from_secs(5)));
        assert_eq!(parse(&walk.lines, 0).expect("the same").trajectory, walk.trajectory);
        let used = script.replace("setdest $up", "setdest $far");
        assert!(
            parse(&used, 0).expect_err("worked out by Tcl").message.contains("\"[expr\" is not a coordinate")
        );
    }

    #[test]
    fn a_timed_place_is_a_jump() {
        let text = "$ns_ at 2.0 \"$node_(0) set X_ 30.0\"\n$ns_ at 2.0 \"$node_(0) set Y_ 40.0\"\n\
                    $ns_ at 4.0 \"$node_(0) setdest 30.0 50.0 5.0\"\n$ns_ at 7.0 \"$node_(0) set X_ 0.0\"\n";
        let walk = parse(text, 0).expect("a walk");
        // There from the beginning on; 10 m at 5 m/s from 4 to 6 s; a jump at 7 s.
        assert_eq!(
            [0, 3, 5, 6, 7].map(|s| at(&walk, s)),
            [(30.0, 40.0), (30.0, 40.0), (30.0, 45.0), (30.0, 50.0), (0.0, 50.0)]
        );
        assert_eq!(walk.first_move, Some(Time::ZERO + Span::from_secs(4)));
        let under_way = text.replace("at 7.0", "at 5.0");
        assert!(parse(&under_way, 0).expect_err("under way").message.contains("on its way"));
        let placed = format!("$node_(0) set X_ 1\n$node_(0) set Y_ 2\n{text}");
        assert_eq!([1, 2].map(|s| at(&parse(&placed, 0).expect("a walk"), s)), [(1.0, 2.0), (30.0, 40.0)]);
    }
}
