//! ns-2's movement files, as its tool `setdest` writes them (The ns Manual, chapter 16):
//!
//! ```text
//! $node_(0) set X_ 83.36
//! $node_(0) set Y_ 239.43
//! $ns_ at 50.0 "$node_(0) setdest 369.46 170.51 3.37"
//! ```
//!
//! From each instant on the node heads for the place at the speed, from wherever it is then, and stays when it has
//! arrived; a later line interrupts it. `Z_`, lines of the connectivity oracle (`$god_ ...`) and comments are passed
//! over; anything else is refused, because it might have been meant for the node.

use super::{Fault, Walk, coordinate, instant, lines};
use roamsim_engine::{Span, Time};
use roamsim_network::mobility::{Leg, Point, Trajectory};
use std::ops::Range;

/// An order to go somewhere.
struct Order {
    at: Time,
    to: Point,
    speed_m_per_s: f64,
}

/// What the file says of the node of this number.
pub fn parse(text: &str, node: u32) -> Result<Walk, Fault> {
    let (mut x, mut y) = (None, None);
    let mut orders: Vec<Order> = Vec::new();
    let mut about = String::new();
    for (place, line) in lines(text) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            [] => continue,
            [first, ..] if first.starts_with('#') || first.starts_with("$god_") => continue,
            [name, "set", axis, value] => {
                if number(name, &place)? != node {
                    continue;
                }
                let value =
                    coordinate(value).ok_or_else(|| wrong(&place, value, "a coordinate in metres"))?;
                match *axis {
                    "X_" => x = Some(value),
                    "Y_" => y = Some(value),
                    "Z_" => {}
                    _ => return Err(wrong(&place, axis, "a coordinate's name: X_, Y_ or Z_")),
                }
            }
            ["$ns_", "at", at, name, "setdest", to_x, to_y, speed] if name.starts_with('"') => {
                if number(&name[1..], &place)? != node {
                    continue;
                }
                let speed = speed.strip_suffix('"').unwrap_or(speed);
                let order = Order {
                    at: instant(at).ok_or_else(|| wrong(&place, at, "a time in seconds"))?,
                    to: Point::new(
                        coordinate(to_x).ok_or_else(|| wrong(&place, to_x, "a coordinate in metres"))?,
                        coordinate(to_y).ok_or_else(|| wrong(&place, to_y, "a coordinate in metres"))?,
                    ),
                    speed_m_per_s: speed
                        .parse()
                        .ok()
                        .filter(|speed: &f64| speed.is_finite() && *speed >= 0.0)
                        .ok_or_else(|| wrong(&place, speed, "a speed in metres a second"))?,
                };
                if orders.last().is_some_and(|before| order.at < before.at) {
                    return Err(Fault {
                        span: place,
                        message: format!("this order to node {node} is earlier than the one before it"),
                        help: "the lines of a node are in order of time".to_owned(),
                    });
                }
                orders.push(order);
            }
            // An order to god, at a time.
            ["$ns_", "at", _, name, ..] if name.starts_with("\"$god_") => continue,
            _ => {
                return Err(Fault {
                    span: place,
                    message: "this line is none that setdest writes".to_owned(),
                    help: "lines are `$node_(0) set X_ 10.0` or `$ns_ at 2.0 \"$node_(0) setdest 50.0 60.0 5.0\"`"
                        .to_owned(),
                });
            }
        }
        about.push_str(line);
        about.push('\n');
    }
    let (Some(x), Some(y)) = (x, y) else {
        return Err(Fault {
            span: 0..0,
            message: format!("this file does not place node {node}"),
            help: format!("it should have lines `$node_({node}) set X_ ...` and `$node_({node}) set Y_ ...`"),
        });
    };
    Ok(Walk { trajectory: trajectory(Point::new(x, y), &orders), lines: about })
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
        help: "lines are `$node_(0) set X_ 10.0` or `$ns_ at 2.0 \"$node_(0) setdest 50.0 60.0 5.0\"`"
            .to_owned(),
    }
}

fn trajectory(from: Point, orders: &[Order]) -> Trajectory {
    let mut walk = Trajectory::fixed(from);
    for order in orders {
        let here = walk.position(order.at);
        let length_m = here.distance_m(order.to);
        let rest = |start| Leg { start, from: order.to, velocity_m_per_s: Point::default() };
        // A speed of zero is an order to stop.
        if length_m == 0.0 || order.speed_m_per_s == 0.0 {
            walk.interrupt(Leg { from: here, ..rest(order.at) });
            continue;
        }
        let share = order.speed_m_per_s / length_m;
        let velocity_m_per_s =
            Point::new((order.to.x_m - here.x_m) * share, (order.to.y_m - here.y_m) * share);
        walk.interrupt(Leg { start: order.at, from: here, velocity_m_per_s });
        walk.interrupt(rest(order.at + Span::from_secs_f64(length_m / order.speed_m_per_s)));
    }
    walk
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
            ("$node_(0) move", "none that setdest writes"),
            ("$ns_ at soon \"$node_(0) setdest 1 2 3\"", "\"soon\" is not a time"),
            ("$ns_ at 1.0 \"$node_(0) setdest 1 2 -3\"", "\"-3\" is not a speed"),
            ("$ns_ at 1.0 \"$node_(0) setdest 1 2\"", "none that setdest writes"),
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
}
